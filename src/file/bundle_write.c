/* Writing checkpoints. Files are written under temporary names and renamed at the end, the index
 * last: a program that finds an index finds all of its data. */
#include "base/alloc.h"
#include "base/array.h"
#include "file/bundle.h"
#include "file/crc32c.h"
#include "file/path.h"
#include "file/snapshot.h"
#include "file/sorted.h"
#include "file/whole_file.h"
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

enum { BUFFER = 1 << 18 };

typedef struct row { /* an entry of one of the indices */
    char *name;
    size_t n;
    ef_bundle_entry e;
} row;
typedef struct rows {
    row *item;
    size_t n, cap;
} rows;

static int by_name(const void *a, const void *b) {
    const row *x = a, *y = b;
    const size_t n = x->n < y->n ? x->n : y->n;
    const int order = memcmp(x->name, y->name, n);
    return order != 0 ? order : (x->n > y->n) - (x->n < y->n);
}

static ef_status *add_row(rows *r, const char *name, size_t n, const ef_bundle_entry *e) {
    EF_TRY(EF_GROW(&r->item, &r->cap, r->n + 1));
    row *made = &r->item[r->n];
    *made = (row){.name = ef_malloc(n + 1), .n = n, .e = *e};
    if (made->name == NULL) return ef_no_memory(n);
    memcpy(made->name, name, n);
    r->n++;
    return NULL;
}

/* In order of name; a name that is there twice is an error. */
static ef_status *sort_rows(rows *r) {
    if (r->n > 1) qsort(r->item, r->n, sizeof *r->item, by_name);
    for (size_t k = 1; k < r->n; k++)
        if (by_name(&r->item[k - 1], &r->item[k]) == 0)
            return ef_error(EF_INVALID, "Adding duplicate key: %.*s",
                            (int)(r->item[k].n < 500 ? r->item[k].n : 500), r->item[k].name);
    return NULL;
}

static void free_rows(rows *r) {
    for (size_t k = 0; k < r->n; k++) ef_free(r->item[k].name);
    ef_free(r->item);
}

struct ef_bundle_writer {
    ef_text data, fresh, index; /* paths: of the data, its name until the end, and of the index */
    char run[17];
    int fd;
    rows rows;
    ef_text name;          /* of the entry whose bytes are being written */
    ef_bundle_entry entry; /* its place, and its checksum as it grows (not masked) */
    bool begun;
    uint64_t offset;
    size_t n;
    char *buffer;
};

static void put_header(ef_sorted_maker *t, int64_t shards) {
    ef_text m = {0};
    ef_wire_put_number(&m, 1, (uint64_t)shards);
    const size_t version = ef_wire_begin(&m, 3);
    ef_wire_put_number(&m, 1, 1);
    ef_wire_end(&m, version);
    ef_sorted_put(t, "", 0, m.at, m.n);
    t->file.failed |= m.failed;
    ef_text_free(&m);
}

static void put_entry(ef_sorted_maker *t, const char *name, size_t n, const ef_bundle_entry *e) {
    ef_text m = {0};
    if (e->dtype != 0) ef_wire_put_number(&m, 1, (uint64_t)e->dtype);
    const size_t shape = ef_wire_begin(&m, 2);
    for (int d = 0; d < e->rank; d++) {
        const size_t dim = ef_wire_begin(&m, 2);
        if (e->dim[d] != 0) ef_wire_put_number(&m, 1, (uint64_t)e->dim[d]);
        ef_wire_end(&m, dim);
    }
    ef_wire_end(&m, shape);
    if (e->shard != 0) ef_wire_put_number(&m, 3, (uint64_t)e->shard);
    if (e->offset != 0) ef_wire_put_number(&m, 4, e->offset);
    if (e->size != 0) ef_wire_put_number(&m, 5, e->size);
    if (e->crc != 0) ef_wire_put_fixed32(&m, 6, e->crc);
    ef_sorted_put(t, name, n, m.at, m.n);
    t->file.failed |= m.failed;
    ef_text_free(&m);
}

/* ---- one file of data ------------------------------------------------------------------------ */

static ef_status *flush(ef_bundle_writer *w) {
    for (size_t put = 0; put < w->n;) {
        ssize_t done = write(w->fd, w->buffer + put, w->n - put);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return ef_path_error(errno, w->fresh.at);
        put += (size_t)done;
    }
    w->n = 0;
    return NULL;
}

static ef_status *put_bytes(ef_bundle_writer *w, const char *bytes, size_t n) {
    w->entry.size += n;
    while (n > 0) {
        if (w->n == BUFFER) EF_TRY(flush(w));
        size_t piece = BUFFER - w->n < n ? BUFFER - w->n : n;
        memcpy(w->buffer + w->n, bytes, piece);
        w->n += piece;
        bytes += piece;
        n -= piece;
    }
    return NULL;
}

static ef_status *end_entry(ef_bundle_writer *w) {
    if (!w->begun) return NULL;
    w->begun = false;
    w->entry.crc = ef_crc32c_mask(w->entry.crc);
    w->offset += w->entry.size;
    return add_row(&w->rows, w->name.at, w->name.n, &w->entry);
}

static void drop(ef_bundle_writer *w) {
    if (w->fd >= 0) close(w->fd);
    free_rows(&w->rows);
    ef_text_free(&w->data);
    ef_text_free(&w->fresh);
    ef_text_free(&w->index);
    ef_text_free(&w->name);
    ef_free(w->buffer);
    ef_free(w);
}

static ef_status *open_data(ef_bundle_writer *w, const char *path) {
    const size_t n = strlen(path);
    ef_bundle_shard_name(&w->data, path, n, 0, 1);
    ef_text_add(&w->index, "%s.index", path);
    EF_TRY(ef_snapshot_new_run(w->run));
    ef_text_add(&w->fresh, "%s.tempstate%s", w->data.failed ? "" : w->data.at, w->run);
    w->buffer = ef_malloc(BUFFER);
    if (w->data.failed || w->index.failed || w->fresh.failed || w->buffer == NULL)
        return ef_no_memory(BUFFER);
    size_t folder = n;
    while (folder > 0 && path[folder - 1] != '/') folder--;
    if (folder > 1) EF_TRY(ef_folder_make(path, folder - 1));
    w->fd = open(w->fresh.at, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return w->fd < 0 ? ef_path_error(errno, w->data.at) : NULL;
}

ef_status *ef_bundle_writer_open(const char *prefix, size_t n, ef_bundle_writer **out) {
    ef_bundle_writer *w = ef_calloc(1, sizeof *w);
    if (w == NULL) return ef_no_memory(sizeof *w);
    w->fd = -1;
    char *path = NULL;
    ef_status *s = ef_path_make(prefix, n, &path);
    if (s == NULL) s = open_data(w, path);
    ef_free(path);
    if (s != NULL) {
        drop(w);
        return s;
    }
    *out = w;
    return NULL;
}

ef_status *ef_bundle_begin(ef_bundle_writer *w, const char *name, size_t n,
                           const ef_bundle_entry *e) {
    EF_TRY(end_entry(w));
    if (n == 0)
        return ef_error(EF_INVALID, "a tensor of a checkpoint needs a name; the empty name is that "
                                    "of the header");
    w->name.n = 0;
    ef_text_bytes(&w->name, name, n);
    if (w->name.failed) return ef_no_memory(n);
    w->entry = (ef_bundle_entry){.dtype = e->dtype, .rank = e->rank, .offset = w->offset};
    memcpy(w->entry.dim, e->dim, sizeof e->dim);
    w->begun = true;
    return NULL;
}

ef_status *ef_bundle_write(ef_bundle_writer *w, const void *bytes, size_t n) {
    w->entry.crc = ef_crc32c(w->entry.crc, bytes, n);
    return put_bytes(w, bytes, n);
}

ef_status *ef_bundle_write_strings(ef_bundle_writer *w, uint64_t count, ef_bundle_get *get,
                                   const void *user) {
    const char *at;
    unsigned char fixed[8];
    for (uint64_t k = 0; k < count; k++) {
        uint64_t length = get(user, k, &at);
        char varint[10];
        size_t n = 0;
        for (size_t j = 0; j < 8; j++) fixed[j] = (unsigned char)(length >> 8 * j);
        w->entry.crc = ef_crc32c(w->entry.crc, fixed, length <= UINT32_MAX ? 4 : 8);
        for (; length >= 0x80; length >>= 7) varint[n++] = (char)(length | 0x80);
        varint[n++] = (char)length;
        EF_TRY(put_bytes(w, varint, n));
    }
    const uint32_t sum = ef_crc32c_mask(w->entry.crc);
    for (size_t j = 0; j < 4; j++) fixed[j] = (unsigned char)(sum >> 8 * j);
    EF_TRY(ef_bundle_write(w, fixed, 4));
    for (uint64_t k = 0; k < count; k++) {
        size_t n = get(user, k, &at);
        EF_TRY(ef_bundle_write(w, at, n));
    }
    return NULL;
}

/* Writes an index under a temporary name and renames it. */
static ef_status *write_index(const rows *r, int64_t shards, const char *path, const char *run) {
    ef_sorted_maker t = {0};
    ef_text fresh = {0};
    put_header(&t, shards);
    for (size_t k = 0; k < r->n; k++) put_entry(&t, r->item[k].name, r->item[k].n, &r->item[k].e);
    ef_sorted_end(&t);
    ef_text_add(&fresh, "%s.tempstate%s", path, run);
    ef_status *s = t.file.failed || fresh.failed ? ef_no_memory(t.file.n) : NULL;
    if (s == NULL) s = ef_file_write(fresh.at, fresh.n, t.file.at, t.file.n);
    if (s == NULL) s = ef_file_rename(fresh.at, path);
    if (s != NULL && !fresh.failed) unlink(fresh.at);
    ef_text_free(&fresh);
    ef_sorted_maker_free(&t);
    return s;
}

ef_status *ef_bundle_writer_close(ef_bundle_writer *w, ef_status *s) {
    if (s == NULL) s = end_entry(w);
    if (s == NULL) s = sort_rows(&w->rows);
    if (s == NULL) s = flush(w);
    if (close(w->fd) < 0 && s == NULL) s = ef_path_error(errno, w->fresh.at);
    w->fd = -1;
    if (s == NULL) s = ef_file_rename(w->fresh.at, w->data.at);
    if (s == NULL)
        s = write_index(&w->rows, 1, w->index.at, w->run);
    else
        unlink(w->fresh.at);
    drop(w);
    return s;
}

/* ---- merging --------------------------------------------------------------------------------- */

static ef_status *add_rows(rows *r, ef_bundle *b, int64_t shards) {
    const char *name;
    size_t n;
    bool more = true;
    ef_bundle_entry e;
    for (;;) {
        EF_TRY(ef_bundle_next(b, &name, &n, &e, &more));
        if (!more) return NULL;
        if (e.sliced || e.large)
            return ef_error(EF_UNIMPLEMENTED,
                            "MergeV2Checkpoints: %.*s is stored in slices or has "
                            "more than %d axes",
                            (int)(n < 500 ? n : 500), name, EF_MAX_RANK);
        e.shard += shards;
        EF_TRY(add_row(r, name, n, &e));
    }
}

/* Reads all indices; counts[k] is the number of shards of the k-th, -1: it does not exist. */
static ef_status *gather(const ef_bundle_name *from, size_t n_from, bool missing_ok, rows *r,
                         int64_t *counts, int64_t *shards) {
    for (size_t k = 0; k < n_from; k++) {
        ef_bundle *b = NULL;
        ef_status *s = ef_bundle_open(from[k].at, from[k].n, &b);
        if (s != NULL && missing_ok && ef_status_code(s) == EF_NOT_FOUND) {
            ef_status_free(s);
            counts[k] = -1;
            continue;
        }
        if (s != NULL && ef_status_code(s) == EF_NOT_FOUND) s = ef_status_as(s, EF_INVALID);
        if (s == NULL) s = add_rows(r, b, *shards);
        counts[k] = b != NULL ? ef_bundle_shards(b) : 0;
        *shards += counts[k];
        ef_bundle_close(b);
        if (s != NULL) return s;
    }
    return NULL;
}

static ef_status *move_shards(const ef_bundle_name *from, size_t n_from, const int64_t *counts,
                              int64_t shards, const char *to, size_t n) {
    int64_t next = 0;
    for (size_t k = 0; k < n_from; k++) {
        for (int64_t j = 0; j < counts[k]; j++) {
            ef_text old = {0}, new = {0};
            ef_bundle_shard_name(&old, from[k].at, from[k].n, j, counts[k]);
            ef_bundle_shard_name(&new, to, n, next++, shards);
            ef_status *s = old.failed || new.failed ? ef_no_memory(n) : NULL;
            if (s == NULL) s = ef_file_rename(old.at, new.at);
            ef_text_free(&old);
            ef_text_free(&new);
            if (s != NULL) return s;
        }
    }
    return NULL;
}

static ef_status *write_merged(const rows *r, int64_t shards, const char *to, size_t n) {
    ef_text path = {0};
    char run[17];
    ef_status *s = ef_snapshot_new_run(run);
    ef_text_bytes(&path, to, n);
    ef_text_bytes(&path, ".index", 6);
    if (s == NULL && path.failed) s = ef_no_memory(n);
    if (s == NULL) s = write_index(r, shards, path.at, run);
    ef_text_free(&path);
    return s;
}

static void remove_indices(const ef_bundle_name *from, size_t n_from, const char *to, size_t n) {
    for (size_t k = 0; k < n_from; k++) {
        ef_text path = {0};
        if (from[k].n == n && memcmp(from[k].at, to, n) == 0) continue;
        ef_text_bytes(&path, from[k].at, from[k].n);
        ef_text_bytes(&path, ".index", 6);
        if (!path.failed) unlink(path.at);
        ef_text_free(&path);
    }
}

ef_status *ef_bundle_merge(const ef_bundle_name *from, size_t n_from, const char *to, size_t n,
                           bool missing_ok) {
    rows r = {0};
    int64_t shards = 0, *counts = ef_calloc(n_from + 1, sizeof *counts);
    if (counts == NULL) return ef_no_memory(n_from * sizeof *counts);
    ef_status *s = gather(from, n_from, missing_ok, &r, counts, &shards);
    if (s == NULL) s = sort_rows(&r);
    if (s == NULL) s = move_shards(from, n_from, counts, shards, to, n);
    if (s == NULL) s = write_merged(&r, shards, to, n);
    if (s == NULL) remove_indices(from, n_from, to, n);
    free_rows(&r);
    ef_free(counts);
    return s;
}
