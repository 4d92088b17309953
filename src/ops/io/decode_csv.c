/* DecodeCSV: the fields of comma-separated records, a column per output. */
#include "base/interrupt.h"
#include "ops/io/csv.h"
#include "ops/string/strings.h"
#include <errno.h>
#include <stdlib.h>

typedef struct attrs {
    ef_attr_text field_delim, na_value;
    bool use_quote_delim;
    ef_ints select_cols;
} attrs;

typedef struct record { /* the record being parsed */
    const ef_op *op;
    const char *at;
    size_t n, next;
    int64_t index;
    char delim;
    bool quotes;
    ef_text field;
} record;

static ef_status *check_attrs(const ef_op *op, const attrs *t, int n_out) {
    if (t->field_delim.n != 1)
        return ef_error(EF_INVALID, "%s: field_delim should be only 1 char; it is '%s'", op->name,
                        t->field_delim.at);
    if (t->select_cols.n > 0 && t->select_cols.n != n_out)
        return ef_error(EF_INVALID,
                        "%s: select_cols (%d) and record_defaults (%d) must have equal lengths",
                        op->name, t->select_cols.n, n_out);
    for (int k = 0; k < t->select_cols.n; k++)
        if (t->select_cols.at[k] < 0 || (k > 0 && t->select_cols.at[k] <= t->select_cols.at[k - 1]))
            return ef_error(EF_INVALID,
                            "%s: select_cols should be strictly increasing indices from 0 on",
                            op->name);
    return NULL;
}

static ef_status *csv_shape(ef_infer *i) {
    EF_TRY(check_attrs(i->op, i->attrs, i->n_out));
    for (int k = 1; k < i->n_in; k++) {
        const ef_shape *s = &i->in[k].shape;
        if (s->rank > 1 || (s->rank == 1 && s->dim[0] > 1))
            return ef_error(
                EF_INVALID,
                "%s: Shape of a default must be a length-0 or length-1 vector, or a scalar; "
                "that of field %d is %s",
                i->op->name, k - 1, EF_SHAPE(s));
    }
    for (int k = 0; k < i->n_out; k++) i->out[k].shape = i->in[0].shape;
    return NULL;
}

static ef_status *wrong(const record *r, const char *why) {
    return ef_error(EF_INVALID, "%s: %s; it is wrong at byte %zu of record %lld", r->op->name, why,
                    r->next, (long long)r->index);
}

static ef_status *read_plain(record *r) {
    size_t from = r->next;
    for (; r->next < r->n && r->at[r->next] != r->delim; r->next++) {
        char ch = r->at[r->next];
        if ((r->quotes && ch == '"') || ch == '\n' || ch == '\r')
            return wrong(r, "Unquoted fields cannot have quotes/CRLFs inside");
    }
    ef_text_bytes(&r->field, r->at + from, r->next - from);
    r->next++;
    return NULL;
}

/* Starts after the opening quote. A quote inside is written twice. */
static ef_status *read_quoted(record *r) {
    for (r->next++; r->next < r->n; r->next++) {
        char ch = r->at[r->next];
        bool last = r->next + 1 == r->n;
        if (ch == '"' && (last || r->at[r->next + 1] == r->delim)) {
            r->next += 2;
            return NULL;
        }
        if (ch == '"' && r->at[++r->next] != '"')
            return wrong(r, "Quote inside a string has to be escaped by another quote");
        ef_text_bytes(&r->field, &ch, 1);
    }
    return wrong(r, "Quoted field has to end with quote followed by delim or end");
}

/* Reads the next field; *end: there is none. */
static ef_status *next_field(record *r, bool *end) {
    r->field.n = 0;
    while (r->next < r->n && (r->at[r->next] == '\n' || r->at[r->next] == '\r')) r->next++;
    *end = r->next >= r->n;
    if (*end) { /* after a delimiter at the end comes an empty field */
        *end = r->next > r->n || r->n == 0 || r->at[r->n - 1] != r->delim;
        r->next = r->n + 1;
        return NULL;
    }
    EF_TRY(r->quotes && r->at[r->next] == '"' ? read_quoted(r) : read_plain(r));
    return r->field.failed ? ef_no_memory(r->n) : NULL;
}

static bool read_int(const char *p, int64_t low, int64_t high, int64_t *v, char **end) {
    errno = 0;
    long long r = strtoll(p, end, 10);
    *v = r;
    return errno == 0 && r >= low && r <= high;
}

/* strtod alone accepts more than a number (hexadecimal, nan(...)). */
bool ef_csv_number(ef_dtype t, const char *p, void *out, int64_t k) {
    char *end = NULL;
    int64_t v = 0;
    bool good = true;
    switch (t) {
    case EF_F32: ((float *)out)[k] = strtof(p, &end); break;
    case EF_F64: ((double *)out)[k] = strtod(p, &end); break;
    case EF_I32:
        good = read_int(p, INT32_MIN, INT32_MAX, &v, &end);
        ((int32_t *)out)[k] = (int32_t)v;
        break;
    default:
        good = read_int(p, INT64_MIN, INT64_MAX, &v, &end);
        ((int64_t *)out)[k] = v;
        break;
    }
    if (!good || end == p || end[-1] == ')') return false;
    while (*end == ' ' || (*end >= '\t' && *end <= '\r')) end++;
    return *end == 0;
}

static ef_status *put_default(const ef_call *c, int column, const record *r) {
    const ef_tensor *value = c->in[1 + column];
    if (ef_count(value) == 0)
        return ef_error(EF_INVALID, "%s: Field %d is required but missing in record %lld!",
                        c->op->name, column, (long long)r->index);
    if (value->dtype == EF_STRING)
        return ef_str_set((ef_str *)c->out[column]->data + r->index, ef_strs(value)->at,
                          ef_strs(value)->n);
    size_t size = ef_dtype_size((ef_dtype)value->dtype);
    memcpy((char *)c->out[column]->data + (size_t)r->index * size, value->data, size);
    return NULL;
}

static ef_status *put_field(const ef_call *c, int column, record *r) {
    const attrs *t = c->attrs;
    const ef_dtype dtype = (ef_dtype)c->out[column]->dtype;
    const ef_text *f = &r->field;
    if (f->n == 0 || (f->n == t->na_value.n && memcmp(f->at, t->na_value.at, f->n) == 0))
        return put_default(c, column, r);
    if (dtype == EF_STRING)
        return ef_str_set((ef_str *)c->out[column]->data + r->index, f->at, f->n);
    if (strlen(f->at) == f->n && ef_csv_number(dtype, f->at, c->out[column]->data, r->index))
        return NULL;
    return ef_error(EF_INVALID, "%s: Field %d in record %lld is not a valid %s: %.80s", c->op->name,
                    column, (long long)r->index, ef_dtype_name(dtype), f->at);
}

static ef_status *read_record(const ef_call *c, record *r) {
    const attrs *t = c->attrs;
    const bool all = t->select_cols.n == 0;
    int column = 0;
    bool end = false;
    for (int64_t field = 0;; field++) {
        EF_TRY(next_field(r, &end));
        if (end) break;
        if (!all && (column == c->n_out || t->select_cols.at[column] != field)) continue;
        if (column < c->n_out) EF_TRY(put_field(c, column, r));
        column++;
    }
    if (column != c->n_out)
        return ef_error(EF_INVALID, "%s: Expect %d fields but have %d in record %lld", c->op->name,
                        c->n_out, column, (long long)r->index);
    return NULL;
}

static ef_status *csv_run(const ef_call *c) {
    const attrs *t = c->attrs;
    record r = {.op = c->op, .delim = t->field_delim.at[0], .quotes = t->use_quote_delim};
    ef_status *s = NULL;
    unsigned pulse = ef_interrupt_counter();
    for (int k = 0; k < c->n_out && s == NULL; k++) s = ef_out_memory(c, k);
    for (int64_t n = ef_count(c->in[0]); r.index < n && s == NULL; r.index++) {
        const ef_str *in = ef_strs(c->in[0]) + r.index;
        r.at = in->at;
        r.n = in->n;
        r.next = 0;
        s = read_record(c, &r);
        if (s == NULL) s = ef_interrupt_check(c->context, &pulse);
    }
    ef_text_free(&r.field);
    return s;
}

const ef_op ef_op_DecodeCSV = {
    EF_NAMED(DecodeCSV),
    .doc = "Parses records of comma-separated values into one output per field; an empty "
           "field gets its default.",
    .in = {"records: string", "record_defaults: OUT_TYPE"},
    .out = {"output: OUT_TYPE"},
    .types = "OUT_TYPE: list({float, double, int32, int64, string}) >= 1",
    .attr = {EF_ATTR(attrs, field_delim, "string", "','"),
             EF_ATTR(attrs, use_quote_delim, "bool", "true"),
             EF_ATTR(attrs, na_value, "string", "''"),
             EF_ATTR(attrs, select_cols, "list(int)", "[]")},
    .attr_size = sizeof(attrs),
    .traits = EF_NO_GRAD,
    .shape = csv_shape,
    .kernel = EF_ANY_KERNEL(csv_run),
    .examples = {"string[2]{1;a,2;b} int32[]{0} string[]{x} field_delim=';'",
                 "string[]{5;;x} float[1]{1} double[]{2} string[0] field_delim=';'",
                 "string[1]{1;2;3} int64[]{0} field_delim=';' select_cols=[2]"},
};
