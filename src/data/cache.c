/* Caches: elements that the first iteration makes and keeps, in memory or in files. A file cache is
 * `NAME.data-00000-of-00001`, the elements, and `NAME.index`, which exists once it is complete;
 * until then the elements are in a temporary file of the iteration. */
#include "base/alloc.h"
#include "data/rows.h"
#include "data/stage.h"
#include "data/stored.h"
#include "file/path.h"
#include "file/reader.h"
#include "file/snapshot.h"
#include "file/whole_file.h"
#include "ops/data/seeds.h"
#include <string.h>
#include <unistd.h>

typedef struct cache {
    ef_stage base;
    ef_memory_cache *memory; /* counted by the dataset's input; NULL: `kept` is never shared */
    bool reads;              /* from a cache that is complete */
    int64_t at, n;
    ef_tensor *kept; /* the elements of this iteration so far */
    char *file;      /* NULL: elements are kept in memory */
    ef_reader *reader;
    ef_record_writer *writer;
    bool saved;           /* a saved position needs `part` */
    ef_text record, part; /* part: the file that this iteration writes */
} cache;

static ef_status *join(const char *name, const char *end, ef_text *out) {
    ef_text_add(out, "%s%s", name, end);
    return out->failed ? ef_no_memory(strlen(name)) : NULL;
}

static ef_status *open_reader(cache *c) {
    ef_text name = {0};
    ef_status *s = join(c->file, ".data-00000-of-00001", &name);
    if (s == NULL) s = ef_records_open(name.at, name.n, EF_UNCOMPRESSED, 0, &c->reader);
    ef_text_free(&name);
    return s;
}

static ef_status *open_writer(cache *c) {
    char run[17];
    EF_TRY(ef_snapshot_new_run(run));
    EF_TRY(join(c->file, ".data-00000-of-00001.", &c->part));
    EF_TRY(join(run, ".tempstate", &c->part));
    char *slash = strrchr(c->part.at, '/');
    if (slash != NULL && slash != c->part.at)
        EF_TRY(ef_folder_make(c->part.at, (size_t)(slash - c->part.at)));
    return ef_stored_writer(c->part.at, "", &c->writer);
}

static ef_status *file_open(cache *c, const ef_str *name) {
    ef_text index = {0};
    EF_TRY(ef_path_make(name->at, name->n, &c->file));
    ef_status *s = join(c->file, ".index", &index);
    c->reads = s == NULL && access(index.at, F_OK) == 0;
    ef_text_free(&index);
    if (s != NULL) return s;
    EF_TRY(c->reads ? open_reader(c) : ef_stage_open_source(&c->base));
    return c->reads ? NULL : open_writer(c);
}

static ef_status *cache_open(ef_stage *s) {
    cache *c = (cache *)s;
    const ef_tensor *file = ef_dataset_arg(s->dataset, "filename", NULL);
    if (file != NULL && ((const ef_str *)file->data)->n > 0) return file_open(c, file->data);
    c->memory = ef_memory_cache_of(ef_dataset_arg(s->dataset, "cache", NULL));
    c->reads = c->memory != NULL && ef_memory_cache_whole(c->memory);
    return c->reads ? NULL : ef_stage_open_source(s);
}

/* An iteration that ends early leaves no file, unless its position was saved. */
static void cache_close(ef_stage *s) {
    cache *c = (cache *)s;
    for (int64_t k = 0; k < c->n * s->width && c->kept != NULL; k++) ef_tensor_release(&c->kept[k]);
    ef_free(c->kept);
    ef_reader_close(c->reader);
    if (c->writer != NULL) {
        ef_status_free(ef_record_writer_close(c->writer));
        if (!c->saved) unlink(c->part.at);
    }
    ef_text_free(&c->record);
    ef_text_free(&c->part);
    ef_free(c->file);
}

/* ---- in files ----------------------------------------------------------------------------------
 */

static ef_status *finish_file(cache *c) {
    ef_text data = {0}, index = {0}, text = {0};
    ef_status *s = ef_record_writer_close(c->writer);
    c->writer = NULL;
    if (s == NULL) s = join(c->file, ".data-00000-of-00001", &data);
    if (s == NULL) s = join(c->file, ".index", &index);
    ef_text_add(&text, "evenflow cache 1\nelements %lld\n", (long long)c->n);
    if (s == NULL && text.failed) s = ef_no_memory(64);
    if (s == NULL) s = ef_file_rename(c->part.at, data.at);
    if (s != NULL && !c->saved) unlink(c->part.at);
    if (s == NULL) s = ef_file_write(index.at, index.n, text.at, text.n);
    ef_text_free(&data);
    ef_text_free(&index);
    ef_text_free(&text);
    return s;
}

static ef_status *file_next(cache *c, ef_tensor *out, bool *end) {
    ef_stage *s = &c->base;
    if (c->reads) {
        c->at++;
        return ef_stored_next(c->reader, s->dataset, out, end);
    }
    EF_TRY(ef_stage_next(s->source, out, end));
    if (*end) return c->writer != NULL ? finish_file(c) : NULL;
    c->record.n = 0;
    ef_status *bad = ef_stored_put(&c->record, out, s->width);
    if (bad == NULL) bad = ef_record_writer_write(c->writer, c->record.at, c->record.n);
    if (bad != NULL) ef_element_release(out, s->width);
    c->n += bad == NULL;
    return bad;
}

/* ---- in memory ---------------------------------------------------------------------------------
 */

static ef_status *memory_next(cache *c, ef_tensor *out, bool *end) {
    ef_stage *s = &c->base;
    if (c->reads) {
        *end = c->at >= c->memory->n;
        for (int k = 0; k < s->width && !*end; k++)
            ef_tensor_copy(&out[k], &c->memory->item[c->at * s->width + k]);
        c->at += !*end;
        return NULL;
    }
    EF_TRY(ef_stage_next(s->source, out, end));
    if (*end) {
        if (c->memory != NULL && ef_memory_cache_fill(c->memory, c->kept, c->n, s->width)) {
            c->kept = NULL;
            c->n = 0;
        }
        return NULL;
    }
    EF_TRY(ef_elements_reserve(&c->kept, c->n, c->n + 1, s->width));
    for (int k = 0; k < s->width; k++) ef_tensor_copy(&c->kept[c->n * s->width + k], &out[k]);
    c->n++;
    return NULL;
}

/* ---- positions ---------------------------------------------------------------------------------
 * Elements in memory are saved with the position. Of a file that is still being written the name is
 * saved: the file stays, and its records are copied when the position is restored. */

static ef_status *memory_save(const cache *c, ef_saver *w) {
    const int64_t n = c->reads ? c->memory->n : c->n;
    ef_save_int(w, c->at);
    ef_save_int(w, n);
    return ef_save_tensors(w, c->reads ? c->memory->item : c->kept, n * c->base.width);
}

static ef_status *file_save(cache *c, ef_saver *w) {
    ef_save_int(w, c->reads ? c->at : c->n);
    ef_save_int(w, c->writer != NULL);
    if (c->writer == NULL) return NULL;
    ef_save_text(w, c->part.at, c->part.n);
    c->saved = true;
    return ef_record_writer_flush(c->writer);
}

static ef_status *cache_save(ef_stage *s, ef_saver *w) {
    cache *c = (cache *)s;
    ef_save_int(w, c->reads);
    return c->file != NULL ? file_save(c, w) : memory_save(c, w);
}

static ef_status *memory_restore(cache *c, bool read, ef_loader *r) {
    const int width = c->base.width;
    int64_t at, n;
    EF_TRY(ef_load_upto(r, INT64_MAX, &at));
    EF_TRY(ef_load_count(r, &n));
    for (; c->n < n; c->n++) {
        EF_TRY(ef_elements_reserve(&c->kept, c->n, c->n + 1, width));
        EF_TRY(ef_load_element(r, c->base.dataset, c->kept + c->n * width));
    }
    c->at = c->reads && !read ? n : at; /* another iteration may have filled the cache meanwhile */
    if (!read) return NULL;
    if (c->memory == NULL) return ef_load_broken("a cache is not shared between iterations");
    if (!c->reads && ef_memory_cache_fill(c->memory, c->kept, n, width)) {
        c->kept = NULL;
        c->n = 0;
    }
    c->reads = true;
    return NULL;
}

/* The elements that were given out before the position, in a file of this iteration's own. */
static ef_status *copy_part(cache *c, const char *name, size_t length, int64_t n) {
    ef_reader *from = NULL;
    EF_TRY(ef_records_open(name, length, EF_UNCOMPRESSED, 0, &from));
    ef_status *s = NULL;
    for (bool end = false; c->n < n && s == NULL; c->n++) {
        const char *at = "";
        size_t bytes = 0;
        s = ef_reader_next(from, &at, &bytes, &end);
        if (s == NULL && end) s = ef_load_broken("the file of a cache is too short");
        if (s == NULL) s = ef_record_writer_write(c->writer, at, bytes);
    }
    ef_reader_close(from);
    return s;
}

static ef_status *skip_read(cache *c, int64_t n) {
    for (bool end = false; c->at < n && !end; c->at += !end) {
        const char *at;
        size_t bytes;
        EF_TRY(ef_reader_next(c->reader, &at, &bytes, &end));
    }
    return NULL;
}

static ef_status *file_restore(cache *c, bool read, ef_loader *r) {
    int64_t n;
    bool writes;
    const char *name = "";
    size_t length = 0;
    EF_TRY(ef_load_upto(r, INT64_MAX, &n));
    EF_TRY(ef_load_bool(r, &writes));
    if (writes) EF_TRY(ef_load_text(r, &name, &length));
    if (c->reads) return skip_read(c, n);
    if (read || !writes)
        return ef_error(EF_NOT_FOUND, "%s: the file of the cache, %.800s, is not there any more",
                        c->base.dataset->op->name, c->file);
    return copy_part(c, name, length, n);
}

static ef_status *cache_restore(ef_stage *s, ef_loader *r) {
    cache *c = (cache *)s;
    bool read;
    EF_TRY(ef_load_bool(r, &read));
    return c->file != NULL ? file_restore(c, read, r) : memory_restore(c, read, r);
}

static ef_status *cache_next(ef_stage *s, ef_tensor *out, bool *end) {
    cache *c = (cache *)s;
    return c->file != NULL ? file_next(c, out, end) : memory_next(c, out, end);
}

const ef_stage_kind ef_stage_cache = {.name = "Cache",
                                      .size = sizeof(cache),
                                      .open = cache_open,
                                      .next = cache_next,
                                      .close = cache_close,
                                      .save = cache_save,
                                      .restore = cache_restore,
                                      .sourceless = true};
