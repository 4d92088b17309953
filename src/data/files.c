/* Elements from files: lines, records, and names that match patterns. The files of a dataset are
 * read one after the other. A file that is damaged is left at the damage, so that a pipeline which
 * ignores errors goes on with the next file. */
#include "data/files.h"
#include "base/alloc.h"
#include "data/stage.h"
#include "file/reader.h"
#include "file/whole_file.h"
#include <string.h>

static ef_status *open_nothing(ef_stage *s) {
    (void)s;
    return NULL;
}

static int64_t unknown(const ef_dataset *d) {
    (void)d;
    return EF_COUNT_UNKNOWN;
}

ef_status *ef_string_element(const char *bytes, size_t n, ef_tensor *out) {
    ef_shape scalar = {.rank = 0};
    EF_TRY(ef_tensor_alloc(out, EF_STRING, &scalar));
    ef_status *s = ef_str_set(out->data, bytes, n);
    if (s != NULL) ef_tensor_release(out);
    return s;
}

ef_status *ef_dataset_compression(const ef_dataset *d, ef_compression *out) {
    const ef_tensor *t = ef_dataset_arg(d, "compression_type", NULL);
    const ef_str *name = t != NULL ? t->data : NULL;
    *out = EF_UNCOMPRESSED;
    return name != NULL ? ef_compression_named(name->at, name->n, out) : NULL;
}

const ef_str *ef_dataset_file(const ef_dataset *d, int64_t k) {
    const ef_tensor *names = ef_dataset_arg(d, "filenames", NULL);
    return k < ef_count(names) ? (const ef_str *)names->data + k : NULL;
}

/* ---- readers -----------------------------------------------------------------------------------
 */

typedef struct files {
    ef_stage base;
    ef_reader *reader; /* NULL: the next file is not opened yet */
    int64_t at;        /* which file is next */
} files;

typedef ef_status *open_fn(const ef_dataset *d, const ef_str *name, ef_compression how,
                           ef_reader **out);

static size_t buffer_of(const ef_dataset *d) { return (size_t)ef_dataset_int(d, "buffer_size", 0); }

static ef_status *open_lines(const ef_dataset *d, const ef_str *name, ef_compression how,
                             ef_reader **out) {
    return ef_lines_open(name->at, name->n, how, buffer_of(d), out);
}

static ef_status *open_records(const ef_dataset *d, const ef_str *name, ef_compression how,
                               ef_reader **out) {
    return ef_records_open(name->at, name->n, how, buffer_of(d), out);
}

static ef_status *open_fixed(const ef_dataset *d, const ef_str *name, ef_compression how,
                             ef_reader **out) {
    return ef_fixed_open(name->at, name->n, how, buffer_of(d),
                         (uint64_t)ef_dataset_int(d, "header_bytes", 0),
                         (uint64_t)ef_dataset_int(d, "record_bytes", 1),
                         (uint64_t)ef_dataset_int(d, "footer_bytes", 0), out);
}

static void files_close(ef_stage *s) { ef_reader_close(((files *)s)->reader); }

static ef_status *open_file(files *f, open_fn *open, const ef_str *name, int64_t k) {
    const ef_dataset *d = f->base.dataset;
    ef_compression how;
    EF_TRY(ef_dataset_compression(d, &how));
    EF_TRY(open(d, name, how, &f->reader));
    const ef_tensor *offsets = ef_dataset_arg(d, "byte_offsets", NULL);
    if (offsets == NULL || ef_count(offsets) == 0) return NULL;
    ef_status *s = ef_reader_seek(f->reader, (uint64_t)((const int64_t *)offsets->data)[k]);
    if (s == NULL) return NULL;
    ef_reader_close(f->reader);
    f->reader = NULL;
    return s;
}

static ef_status *next_of(files *f, open_fn *open, ef_tensor *out, bool *end) {
    const char *at = "";
    size_t n = 0;
    for (;;) {
        if (f->reader == NULL) {
            const ef_str *name = ef_dataset_file(f->base.dataset, f->at);
            *end = name == NULL;
            if (*end) return NULL;
            int64_t k = f->at++; /* one that cannot be opened is left behind */
            EF_TRY(open_file(f, open, name, k));
        }
        bool over = false;
        ef_status *bad = ef_reader_next(f->reader, &at, &n, &over);
        if (bad == NULL && !over) return ef_string_element(at, n, out);
        ef_reader_close(f->reader);
        f->reader = NULL;
        if (bad != NULL) return bad;
    }
}

static ef_status *files_save(ef_stage *s, ef_saver *w) {
    const files *f = (const files *)s;
    ef_save_int(w, f->at);
    ef_save_int(w, f->reader != NULL);
    if (f->reader != NULL) ef_save_int(w, (int64_t)ef_reader_offset(f->reader));
    return NULL;
}

/* The file that was being read is opened again at the next record. */
static ef_status *restore_files(files *f, open_fn *open, ef_loader *r) {
    int64_t offset;
    bool reads;
    ef_compression how;
    EF_TRY(ef_load_upto(r, INT64_MAX, &f->at));
    EF_TRY(ef_load_bool(r, &reads));
    if (!reads) return NULL;
    EF_TRY(ef_load_upto(r, INT64_MAX, &offset));
    const ef_str *name = f->at > 0 ? ef_dataset_file(f->base.dataset, f->at - 1) : NULL;
    if (name == NULL) return ef_load_broken("it is in a file that the dataset does not read");
    EF_TRY(ef_dataset_compression(f->base.dataset, &how));
    EF_TRY(open(f->base.dataset, name, how, &f->reader));
    return ef_reader_seek(f->reader, (uint64_t)offset);
}

#define READER(KIND, TITLE)                                                 \
    static ef_status *KIND##_next(ef_stage *s, ef_tensor *out, bool *end) { \
        return next_of((files *)s, open_##KIND, out, end);                  \
    }                                                                       \
    static ef_status *KIND##_restore(ef_stage *s, ef_loader *r) {           \
        return restore_files((files *)s, open_##KIND, r);                   \
    }                                                                       \
    const ef_stage_kind ef_stage_##KIND = {.name = TITLE,                   \
                                           .size = sizeof(files),           \
                                           .open = open_nothing,            \
                                           .next = KIND##_next,             \
                                           .close = files_close,            \
                                           .save = files_save,              \
                                           .restore = KIND##_restore,       \
                                           .count = unknown};
READER(lines, "TextLine")
READER(records, "TFRecord")
READER(fixed, "FixedLengthRecord")

/* ---- names that match --------------------------------------------------------------------------
 */

typedef struct matching {
    ef_stage base;
    ef_paths found;
    size_t at;
    bool looked;
} matching;

static void matching_close(ef_stage *s) { ef_paths_free(&((matching *)s)->found); }

static ef_status *look(matching *m) {
    const ef_tensor *patterns = ef_dataset_arg(m->base.dataset, "patterns", NULL);
    const ef_str *p = patterns->data;
    for (int64_t k = 0; k < ef_count(patterns); k++)
        EF_TRY(ef_file_match(p[k].at, p[k].n, &m->found));
    ef_paths_sort(&m->found);
    m->looked = true;
    return NULL;
}

static ef_status *matching_next(ef_stage *s, ef_tensor *out, bool *end) {
    matching *m = (matching *)s;
    if (!m->looked) EF_TRY(look(m));
    *end = m->at == m->found.n;
    if (*end) return NULL;
    const char *name = m->found.item[m->at++];
    return ef_string_element(name, strlen(name), out);
}

static ef_status *matching_save(ef_stage *s, ef_saver *w) {
    const matching *m = (const matching *)s;
    ef_save_int(w, m->looked);
    ef_save_int(w, (int64_t)m->at);
    ef_save_int(w, (int64_t)m->found.n);
    for (size_t k = 0; k < m->found.n; k++)
        ef_save_text(w, m->found.item[k], strlen(m->found.item[k]));
    return NULL;
}

/* The names are those that were found, though there may be other files now. */
static ef_status *matching_restore(ef_stage *s, ef_loader *r) {
    matching *m = (matching *)s;
    int64_t at, n;
    EF_TRY(ef_load_bool(r, &m->looked));
    EF_TRY(ef_load_upto(r, INT64_MAX, &at));
    EF_TRY(ef_load_count(r, &n));
    for (int64_t k = 0; k < n; k++) {
        const char *name;
        size_t length;
        EF_TRY(ef_load_text(r, &name, &length));
        EF_TRY(ef_paths_add(&m->found, name, length));
    }
    if ((uint64_t)at > m->found.n) return ef_load_broken("a number in it is out of range");
    m->at = (size_t)at;
    return NULL;
}

const ef_stage_kind ef_stage_matching_files = {.name = "FileNames",
                                               .size = sizeof(matching),
                                               .open = open_nothing,
                                               .next = matching_next,
                                               .close = matching_close,
                                               .count = unknown,
                                               .save = matching_save,
                                               .restore = matching_restore};
