/* Elements written to a folder and read from it: save, load, snapshot. A writer passes every
 * element on after it was written; the folder's metadata names the new run once all of its elements
 * are written, so an incomplete run is never read. */
#include "file/snapshot.h"
#include "base/alloc.h"
#include "data/function.h"
#include "data/rows.h"
#include "data/stage.h"
#include "data/stored.h"
#include "file/path.h"
#include "file/reader.h"
#include "file/whole_file.h"
#include "ops/data/shards.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHARDS_MOST = 512 }; /* files that are open at a time */

typedef struct writer {
    int64_t shard;
    ef_record_writer *to;
} writer;

typedef struct folder {
    ef_stage base;
    char *path;      /* of the metadata */
    ef_element_fn f; /* of the shard, or of the reader */
    ef_snapshot run;
    writer *out; /* by shard, ascending */
    int64_t n_out;
    bool reads, finished, sharded;
    bool silent; /* elements of the source are given on and not written */
    ef_text record;
} folder;

/* ---- the folder --------------------------------------------------------------------------------
 */

static ef_status *set_path(folder *f, bool hashed) {
    const ef_str *path = ef_dataset_arg(f->base.dataset, "path", NULL)->data;
    ef_text name = {0};
    ef_text_bytes(&name, path->at, path->n);
    if (hashed) {
        const ef_dataset_attrs *a = f->base.dataset->set;
        uint64_t hash = a->hash_valid ? (uint64_t)a->hash
                                      : ef_dataset_fingerprint(ef_dataset_source(f->base.dataset));
        ef_text_add(&name, "/%016" PRIx64, hash);
    }
    if (name.failed || path->n == 0) {
        ef_text_free(&name);
        return path->n == 0 ? ef_error(EF_INVALID, "%s: `path` is empty; name a folder",
                                       f->base.dataset->op->name)
                            : ef_no_memory(path->n);
    }
    ef_status *s = ef_path_make(name.at, name.n, &f->path);
    ef_text_free(&name);
    return s;
}

/* "AUTO" leaves the choice to us: no compression. */
static const char *compression_of(const ef_dataset *d) {
    const char *name = d->set->compression.at;
    return name == NULL || strcmp(name, "AUTO") == 0 ? "" : name;
}

static void folder_close(ef_stage *s) {
    folder *f = (folder *)s;
    for (int64_t k = 0; k < f->n_out; k++) ef_status_free(ef_record_writer_close(f->out[k].to));
    ef_free(f->out);
    ef_snapshot_free(&f->run);
    ef_text_free(&f->record);
    ef_element_fn_close(&f->f);
    ef_free(f->path);
}

/* ---- writing -----------------------------------------------------------------------------------
 */

static ef_status *open_writing(folder *f) {
    ef_stage *s = &f->base;
    const ef_dataset_attrs *a = s->dataset->set;
    EF_TRY(ef_stage_open_source(s));
    if (f->sharded) {
        const char *more = "shard_func_other_args";
        EF_TRY(ef_element_fn_open(&f->f, s->run, a->shard_func, s->dataset, more));
        EF_TRY(ef_element_fn_check(&f->f, s->dataset, s->source->width));
    }
    return ef_snapshot_new_run(f->run.run);
}

static ef_status *shard_of(folder *f, const ef_tensor *element, int64_t *shard) {
    ef_tensor t = {0};
    *shard = 0;
    if (!f->sharded) return NULL;
    EF_TRY(ef_element_fn_run(&f->f, element, &t));
    ef_status *s = NULL;
    if (f->f.n_out != 1 || t.dtype != EF_I64 || ef_count(&t) != 1 || *(int64_t *)t.data < 0)
        s = ef_error(EF_INVALID, "%s: `shard_func` must return a scalar int64 >= 0, not %s",
                     f->base.dataset->op->name, EF_TENSOR(&t));
    else
        *shard = *(const int64_t *)t.data;
    ef_tensor_release(&t);
    return s;
}

static ef_status *open_shard(folder *f, int64_t shard, ef_record_writer **out) {
    ef_text name = {0};
    ef_snapshot_shard(f->path, strlen(f->path), f->run.run, shard, &name);
    ef_status *s = name.failed ? ef_no_memory(name.n) : ef_folder_make(name.at, name.n);
    ef_text_add(&name, "/00000000.snapshot");
    if (s == NULL && name.failed) s = ef_no_memory(name.n);
    if (s == NULL) s = ef_stored_writer(name.at, compression_of(f->base.dataset), out);
    ef_text_free(&name);
    return s;
}

static ef_status *writer_for(folder *f, int64_t shard, ef_record_writer **out) {
    int64_t at = 0;
    while (at < f->n_out && f->out[at].shard < shard) at++;
    if (at == f->n_out || f->out[at].shard != shard) {
        writer fresh = {.shard = shard};
        if (f->n_out == SHARDS_MOST)
            return ef_error(EF_NO_MEMORY, "%s: more than %d shards", f->base.dataset->op->name,
                            SHARDS_MOST);
        if (f->out == NULL && (f->out = ef_calloc(SHARDS_MOST, sizeof *f->out)) == NULL)
            return ef_no_memory(SHARDS_MOST * sizeof *f->out);
        EF_TRY(open_shard(f, shard, &fresh.to));
        memmove(&f->out[at + 1], &f->out[at], (size_t)(f->n_out++ - at) * sizeof *f->out);
        f->out[at] = fresh;
    }
    *out = f->out[at].to;
    return NULL;
}

/* All elements were written: the metadata names the run. */
static ef_status *finish(folder *f) {
    ef_status *s = NULL;
    f->finished = true;
    f->run.shard = ef_calloc((size_t)f->n_out + 1, sizeof *f->run.shard);
    if (f->run.shard == NULL) return ef_no_memory((size_t)f->n_out * sizeof *f->run.shard);
    for (int64_t k = 0; k < f->n_out; k++) {
        f->run.shard[f->run.n_shards++] = f->out[k].shard;
        ef_status *bad = ef_record_writer_close(f->out[k].to);
        if (s == NULL)
            s = bad;
        else
            ef_status_free(bad);
    }
    f->n_out = 0;
    return s != NULL ? s : ef_snapshot_write(f->path, strlen(f->path), &f->run);
}

static ef_status *write_next(folder *f, ef_tensor *out, bool *end) {
    ef_record_writer *to = NULL;
    int64_t shard = 0;
    EF_TRY(ef_stage_next(f->base.source, out, end));
    if (*end) return f->finished ? NULL : finish(f);
    f->record.n = 0;
    ef_status *s = shard_of(f, out, &shard);
    if (s == NULL) s = writer_for(f, shard, &to);
    if (s == NULL) s = ef_stored_put(&f->record, out, f->base.width);
    if (s == NULL) s = ef_record_writer_write(to, f->record.at, f->record.n);
    if (s != NULL) ef_element_release(out, f->base.width);
    f->run.elements += s == NULL;
    return s;
}

static ef_status *save_open(ef_stage *s) {
    folder *f = (folder *)s;
    f->sharded = s->dataset->set->use_shard_func;
    EF_TRY(set_path(f, false));
    return open_writing(f);
}

static ef_status *folder_next(ef_stage *s, ef_tensor *out, bool *end) {
    folder *f = (folder *)s;
    return f->reads || f->silent ? ef_stage_next(s->source, out, end) : write_next(f, out, end);
}

/* Whoever saves needs all elements in one run. */
static ef_status *save_save(ef_stage *s, ef_saver *w) {
    (void)w;
    return ef_error(EF_UNIMPLEMENTED, "%s does not support checkpointing.", s->dataset->op->name);
}

static ef_status *save_restore(ef_stage *s, ef_loader *r) {
    (void)r;
    return ef_error(EF_UNIMPLEMENTED, "%s does not support checkpointing.", s->dataset->op->name);
}

const ef_stage_kind ef_stage_save = {.name = "Save",
                                     .size = sizeof(folder),
                                     .open = save_open,
                                     .next = folder_next,
                                     .close = folder_close,
                                     .save = save_save,
                                     .restore = save_restore};

/* ---- reading -----------------------------------------------------------------------------------
 */

/* The datasets of all shards, as one dataset of datasets. */
static ef_status *all_shards(const folder *f, ef_tensor *out) {
    const int64_t n = f->run.n_shards;
    ef_tensor *shard = ef_calloc((size_t)n + 1, sizeof *shard);
    if (shard == NULL) return ef_no_memory((size_t)n * sizeof *shard);
    ef_status *s = NULL;
    ef_text name = {0};
    for (int64_t k = 0; k < n && s == NULL; k++) {
        name.n = 0;
        ef_snapshot_shard(f->path, strlen(f->path), f->run.run, f->run.shard[k], &name);
        s = name.failed ? ef_no_memory(name.n)
                        : ef_dataset_of_shard(f->base.dataset, name.at, name.n,
                                              compression_of(f->base.dataset), &shard[k]);
    }
    if (s == NULL) s = ef_dataset_of_datasets(shard, (int)n, out);
    for (int64_t k = 0; k < n; k++) ef_tensor_release(&shard[k]);
    ef_text_free(&name);
    ef_free(shard);
    return s;
}

static ef_status *open_reading(folder *f) {
    ef_stage *s = &f->base;
    ef_tensor shards = {0}, made = {0};
    f->reads = true;
    const char *more = "reader_func_other_args";
    EF_TRY(ef_element_fn_open(&f->f, s->run, s->dataset->set->reader_func, s->dataset, more));
    EF_TRY(ef_element_fn_check(&f->f, s->dataset, 1));
    EF_TRY(all_shards(f, &shards));
    ef_status *bad = f->f.n_out == 1 ? ef_element_fn_run(&f->f, &shards, &made) : NULL;
    const ef_dataset *d = bad == NULL ? ef_dataset_of(&made) : NULL;
    if (bad == NULL && (d == NULL || ef_dataset_width(d) != s->width))
        bad = ef_error(EF_INVALID,
                       "%s: `reader_func` must return a dataset whose elements have %d tensors",
                       s->dataset->op->name, s->width);
    if (bad == NULL) bad = ef_stage_open(s->run, d, &s->source);
    ef_tensor_release(&shards);
    ef_tensor_release(&made);
    return bad;
}

static ef_status *load_open(ef_stage *s) {
    folder *f = (folder *)s;
    bool found = false;
    EF_TRY(set_path(f, false));
    EF_TRY(ef_snapshot_read(f->path, strlen(f->path), &f->run, &found));
    if (found) return open_reading(f);
    return ef_error(EF_NOT_FOUND, "%s: Could not find metadata file [%.800s/snapshot.metadata]",
                    s->dataset->op->name, f->path);
}

static int64_t load_count(const ef_dataset *d) {
    const ef_str *path = ef_dataset_arg(d, "path", NULL)->data;
    ef_snapshot run = {0};
    bool found = false;
    ef_status_free(ef_snapshot_read(path->at, path->n, &run, &found));
    int64_t n = found ? run.elements : EF_COUNT_UNKNOWN;
    ef_snapshot_free(&run);
    return n;
}

/* The folder names a run whose elements all came from one iteration, so an iteration that began in
 * the middle writes nothing. */
static ef_status *folder_save(ef_stage *s, ef_saver *w) {
    ef_save_int(w, ((folder *)s)->reads);
    return NULL;
}

static ef_status *folder_restore(ef_stage *s, ef_loader *r) {
    folder *f = (folder *)s;
    bool read;
    EF_TRY(ef_load_bool(r, &read));
    if (read == f->reads) {
        f->silent = !read;
        return NULL;
    }
    if (read || ef_dataset_source(s->dataset) == NULL)
        return ef_error(EF_NOT_FOUND, "%s: the elements at %.800s are not there any more",
                        s->dataset->op->name, f->path);
    ef_stage_close(s->source); /* they were not there yet: go on with the elements of the source */
    s->source = NULL;
    f->reads = false;
    f->silent = true;
    return ef_stage_open_source(s);
}

const ef_stage_kind ef_stage_load = {.name = "Load",
                                     .size = sizeof(folder),
                                     .open = load_open,
                                     .next = folder_next,
                                     .close = folder_close,
                                     .count = load_count,
                                     .save = folder_save,
                                     .restore = folder_restore};

static ef_status *snapshot_open(ef_stage *s) {
    folder *f = (folder *)s;
    bool found = false;
    f->sharded = true;
    EF_TRY(set_path(f, true));
    EF_TRY(ef_snapshot_read(f->path, strlen(f->path), &f->run, &found));
    return found ? open_reading(f) : open_writing(f);
}

const ef_stage_kind ef_stage_snapshot = {.name = "SnapshotFolder",
                                         .size = sizeof(folder),
                                         .open = snapshot_open,
                                         .next = folder_next,
                                         .close = folder_close,
                                         .save = folder_save,
                                         .restore = folder_restore};

/* ---- the elements of a shard -------------------------------------------------------------------
 */

typedef struct stored {
    ef_stage base;
    ef_reader *reader;
    int64_t skip;
} stored;

static ef_status *stored_open(ef_stage *s) {
    const ef_str *folder_name = ef_dataset_arg(s->dataset, "shard_dir", NULL)->data;
    const char *how_name = compression_of(s->dataset);
    ef_compression how;
    ef_text name = {0};
    ef_text_bytes(&name, folder_name->at, folder_name->n);
    ef_text_add(&name, "/00000000.snapshot");
    ef_status *bad = name.failed ? ef_no_memory(name.n) : NULL;
    if (bad == NULL) bad = ef_compression_named(how_name, strlen(how_name), &how);
    if (bad == NULL) bad = ef_records_open(name.at, name.n, how, 0, &((stored *)s)->reader);
    ((stored *)s)->skip = ef_dataset_int(s->dataset, "start_index", 0);
    ef_text_free(&name);
    return bad;
}

static void stored_close(ef_stage *s) { ef_reader_close(((stored *)s)->reader); }

static ef_status *stored_next(ef_stage *s, ef_tensor *out, bool *end) {
    stored *t = (stored *)s;
    for (; t->skip > 0; t->skip--) {
        EF_TRY(ef_stored_next(t->reader, s->dataset, out, end));
        if (*end) return NULL;
        ef_element_release(out, s->width);
    }
    return ef_stored_next(t->reader, s->dataset, out, end);
}

static ef_status *stored_save(ef_stage *s, ef_saver *w) {
    const stored *t = (const stored *)s;
    ef_save_int(w, t->skip);
    ef_save_int(w, (int64_t)ef_reader_offset(t->reader));
    return NULL;
}

static ef_status *stored_restore(ef_stage *s, ef_loader *r) {
    stored *t = (stored *)s;
    int64_t offset;
    EF_TRY(ef_load_upto(r, INT64_MAX, &t->skip));
    EF_TRY(ef_load_upto(r, INT64_MAX, &offset));
    return ef_reader_seek(t->reader, (uint64_t)offset);
}

static int64_t unknown(const ef_dataset *d) {
    (void)d;
    return EF_COUNT_UNKNOWN;
}

const ef_stage_kind ef_stage_stored = {.name = "SnapshotReader",
                                       .size = sizeof(stored),
                                       .open = stored_open,
                                       .next = stored_next,
                                       .close = stored_close,
                                       .count = unknown,
                                       .save = stored_save,
                                       .restore = stored_restore};
