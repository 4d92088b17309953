/* Records of comma-separated values. A quoted field may hold delimiters and ends of lines, so
 * records are found while fields are read. A record with a fault is read to its end, so that the
 * next one is whole. */
#include "ops/io/csv.h"
#include "base/alloc.h"
#include "data/files.h"
#include "data/rows.h"
#include "data/stage.h"
#include <stdio.h>
#include <string.h>

enum { FIELD_MOST = INT32_MAX, NO_MORE = -1 };

typedef struct csv {
    ef_stage base;
    ef_input *in;    /* NULL: the next file is not opened yet */
    int64_t at;      /* which file is next */
    uint64_t record; /* offset of the current record */
    char delim;
    bool header, quotes;
    const ef_str *na;
    const ef_tensor *select, *exclude, *defaults;
    ef_text field;
} csv;

static ef_status *csv_open(ef_stage *s) {
    csv *c = (csv *)s;
    const ef_dataset *d = s->dataset;
    c->delim = *((const ef_str *)ef_dataset_arg(d, "field_delim", NULL)->data)->at;
    c->header = ef_dataset_int(d, "header", 0) != 0;
    c->quotes = ef_dataset_int(d, "use_quote_delim", 1) != 0;
    c->na = ef_dataset_arg(d, "na_value", NULL)->data;
    c->select = ef_dataset_arg(d, "select_cols", NULL);
    c->exclude = ef_dataset_arg(d, "exclude_cols", NULL);
    c->defaults = ef_dataset_arg(d, "record_defaults", NULL);
    return NULL;
}

static void close_file(csv *c) {
    ef_input_close(c->in);
    c->in = NULL;
}

static void csv_close(ef_stage *s) {
    close_file((csv *)s);
    ef_text_free(&((csv *)s)->field);
}

/* ---- characters --------------------------------------------------------------------------------
 */

/* The next character, without consuming it; NO_MORE at the end of the file. */
static ef_status *look(csv *c, int *ch) {
    const char *at;
    size_t n;
    EF_TRY(ef_input_peek(c->in, &at, &n));
    *ch = n > 0 ? (unsigned char)*at : NO_MORE;
    return NULL;
}

static ef_status *draw(csv *c, int *ch) {
    EF_TRY(look(c, ch));
    if (*ch != NO_MORE) ef_input_take(c->in, 1);
    return NULL;
}

static bool ends_field(const csv *c, int ch) {
    return ch == NO_MORE || ch == (unsigned char)c->delim || ch == '\n' || ch == '\r';
}

/* Whether `ch` ended the record too; "\r\n" is one end. */
static ef_status *ended(csv *c, int ch, bool *end) {
    int next = 0;
    *end = ch != (unsigned char)c->delim;
    if (ch != '\r') return NULL;
    EF_TRY(look(c, &next));
    if (next == '\n') ef_input_take(c->in, 1);
    return NULL;
}

static ef_status *wrong(const csv *c, const char *why) {
    return ef_error(EF_INVALID, "%s: %s; in the record at byte %llu of %.800s",
                    c->base.dataset->op->name, why, (unsigned long long)c->record,
                    ef_input_path(c->in));
}

/* The first of several faults is reported. */
static void note(ef_status **first, ef_status *bad) {
    if (*first == NULL)
        *first = bad;
    else
        ef_status_free(bad);
}

static ef_status *add(csv *c, const char *at, size_t n) {
    if (c->field.n + n > FIELD_MOST) return wrong(c, "a field is longer than 2147483647 bytes");
    ef_text_bytes(&c->field, at, n);
    return c->field.failed ? ef_no_memory(c->field.n + n) : NULL;
}

/* ---- fields ------------------------------------------------------------------------------------
 * A status that these return ends the file; a fault in the data is noted and the rest of the field
 * is read. */

static ef_status *read_plain(csv *c, bool *end, ef_status **fault) {
    const char *at;
    size_t n, k;
    int ch = NO_MORE;
    for (bool over = false; !over;) {
        EF_TRY(ef_input_peek(c->in, &at, &n));
        for (k = 0; k < n && !ends_field(c, (unsigned char)at[k]); k++)
            if (c->quotes && at[k] == '"' && *fault == NULL)
                note(fault, wrong(c, "Unquoted fields cannot have quotes inside"));
        over = k < n || n == 0;
        if (k < n) ch = (unsigned char)at[k];
        EF_TRY(add(c, at, k));
        ef_input_take(c->in, k + (k < n));
    }
    return ended(c, ch, end);
}

/* The opening quote is the next character. A quote inside is written twice. */
static ef_status *read_quoted(csv *c, bool *end, ef_status **fault) {
    int ch, next;
    ef_input_take(c->in, 1);
    for (;;) {
        EF_TRY(draw(c, &ch));
        if (ch == NO_MORE) {
            *end = true;
            note(fault, wrong(c, "Reached end of file without closing quoted field in record"));
            return NULL;
        }
        if (ch == '"') {
            EF_TRY(draw(c, &next));
            if (ends_field(c, next)) return ended(c, next, end);
            if (next != '"' && *fault == NULL)
                note(fault, wrong(c, "Quote inside a string has to be escaped by another quote"));
        }
        char one = (char)ch;
        EF_TRY(add(c, &one, 1));
    }
}

static bool is_missing(const csv *c) {
    return c->field.n == 0 || (c->field.n == c->na->n && c->na->n > 0 &&
                               memcmp(c->field.at, c->na->at, c->na->n) == 0);
}

static ef_status *put_field(csv *c, int column, ef_tensor *out) {
    const ef_dtype t = ef_dataset_type(c->base.dataset, column);
    ef_shape scalar = {.rank = 0};
    char why[160];
    if (is_missing(c)) {
        const ef_tensor *value = &c->defaults[column];
        if (ef_count(value) == 1) {
            ef_tensor_copy(out, value);
            out->rank = 0;
            return NULL;
        }
        snprintf(why, sizeof why, "Field %d is required but missing in record!", column);
        return wrong(c, why);
    }
    if (t == EF_STRING) return ef_string_element(c->field.at, c->field.n, out);
    EF_TRY(ef_tensor_alloc(out, t, &scalar));
    if (strlen(c->field.at) == c->field.n && ef_csv_number(t, c->field.at, out->data, 0))
        return NULL;
    ef_tensor_release(out);
    snprintf(why, sizeof why, "Field %d in record is not a valid %s: %.80s", column,
             ef_dtype_name(t), c->field.at);
    return wrong(c, why);
}

/* ---- records -----------------------------------------------------------------------------------
 */

static bool holds(const ef_tensor *columns, int64_t field) {
    for (int64_t k = 0; columns != NULL && k < ef_count(columns); k++)
        if (((const int64_t *)columns->data)[k] == field) return true;
    return false;
}

static bool is_wanted(const csv *c, int64_t field) {
    if (c->select != NULL && ef_count(c->select) > 0) return holds(c->select, field);
    return !holds(c->exclude, field);
}

/* A header has no output. */
static ef_status *read_record(csv *c, ef_tensor *out, ef_status **fault) {
    int column = 0, width = c->base.width, ch;
    char why[80];
    c->record = ef_input_offset(c->in);
    bool end = false;
    for (int64_t field = 0; !end; field++) {
        c->field.n = 0;
        EF_TRY(look(c, &ch));
        EF_TRY(c->quotes && ch == '"' ? read_quoted(c, &end, fault) : read_plain(c, &end, fault));
        if (out == NULL || !is_wanted(c, field)) continue;
        if (column < width && *fault == NULL) note(fault, put_field(c, column, &out[column]));
        column++;
    }
    if (out == NULL || column == width || *fault != NULL) return NULL;
    snprintf(why, sizeof why, "Expect %d fields but have %d in record", width, column);
    note(fault, wrong(c, why));
    return NULL;
}

static ef_status *open_file(csv *c, const ef_str *name) {
    const ef_dataset *d = c->base.dataset;
    ef_compression how;
    int ch;
    EF_TRY(ef_dataset_compression(d, &how));
    EF_TRY(
        ef_input_open(name->at, name->n, how, (size_t)ef_dataset_int(d, "buffer_size", 0), &c->in));
    if (!c->header) return NULL;
    ef_status *fault = NULL, *s = look(c, &ch);
    if (s == NULL && ch == NO_MORE) s = wrong(c, "Can't read header of file");
    if (s == NULL) s = read_record(c, NULL, &fault);
    ef_status_free(fault); /* names of columns are not checked */
    if (s != NULL) close_file(c);
    return s;
}

static ef_status *csv_next(ef_stage *s, ef_tensor *out, bool *end) {
    csv *c = (csv *)s;
    for (int ch;;) {
        if (c->in == NULL) {
            const ef_str *name = ef_dataset_file(s->dataset, c->at);
            *end = name == NULL;
            if (*end) return NULL;
            c->at++;
            EF_TRY(open_file(c, name));
        }
        ef_status *fault = NULL, *bad = look(c, &ch);
        if (bad == NULL && ch != NO_MORE) {
            bad = read_record(c, out, &fault);
            if (bad == NULL && fault == NULL) return NULL;
            ef_element_release(out, s->width);
        }
        if (bad == NULL && fault != NULL) return fault;
        ef_status_free(fault);
        close_file(c);
        if (bad != NULL) return bad;
    }
}

static ef_status *csv_save(ef_stage *s, ef_saver *w) {
    const csv *c = (const csv *)s;
    ef_save_int(w, c->at);
    ef_save_int(w, c->in != NULL);
    if (c->in != NULL) ef_save_int(w, (int64_t)ef_input_offset(c->in));
    return NULL;
}

static ef_status *csv_restore(ef_stage *s, ef_loader *r) {
    csv *c = (csv *)s;
    int64_t offset;
    bool reads;
    EF_TRY(ef_load_upto(r, INT64_MAX, &c->at));
    EF_TRY(ef_load_bool(r, &reads));
    if (!reads) return NULL;
    EF_TRY(ef_load_upto(r, INT64_MAX, &offset));
    const ef_str *name = c->at > 0 ? ef_dataset_file(s->dataset, c->at - 1) : NULL;
    if (name == NULL) return ef_load_broken("it is in a file that the dataset does not read");
    EF_TRY(open_file(c, name));
    return ef_input_seek(c->in, (uint64_t)offset);
}

static int64_t unknown(const ef_dataset *d) {
    (void)d;
    return EF_COUNT_UNKNOWN;
}

const ef_stage_kind ef_stage_csv = {.name = "CSV",
                                    .size = sizeof(csv),
                                    .open = csv_open,
                                    .next = csv_next,
                                    .close = csv_close,
                                    .count = unknown,
                                    .save = csv_save,
                                    .restore = csv_restore};
