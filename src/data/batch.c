/* Batches: elements stacked, and batches taken apart. */
#include "base/alloc.h"
#include "data/read_ahead.h"
#include "data/rows.h"
#include <stddef.h>

typedef struct batch {
    ef_stage base;
    int64_t size;
    bool whole; /* an incomplete batch is dropped */
    bool over;
    bool parallel;       /* the program allows batches to be made in parallel */
    ef_read_ahead ahead; /* of `self`: the thread that makes batches calls batch_make */
    ef_stage self;
} batch;

static ef_status *batch_make(batch *b, ef_tensor *out, bool *end) {
    ef_stage *s = &b->base;
    int64_t got = 0;
    *end = b->over;
    if (b->over) return NULL;
    EF_TRY(ef_stage_rows(s->source, b->size, out, &got));
    b->over = got < b->size;
    *end = got == 0 || (b->over && b->whole);
    if (*end) ef_element_release(out, s->width);
    return NULL;
}

static ef_status *self_next(ef_stage *s, ef_tensor *out, bool *end) {
    return batch_make((batch *)(void *)((char *)s - offsetof(batch, self)), out, end);
}
static const ef_stage_kind self_kind = {.name = "Batch", .next = self_next};

static ef_status *batch_open(ef_stage *s) {
    batch *b = (batch *)s;
    b->size = ef_dataset_int(s->dataset, "batch_size", 1);
    b->whole = ef_dataset_int(s->dataset, "drop_remainder", 0) != 0;
    b->parallel = ef_dataset_int(s->dataset, "num_parallel_calls", 0) != 0;
    EF_TRY(ef_stage_open_source(s));
    if (!b->parallel) return NULL;
    b->self = (ef_stage){.kind = &self_kind,
                         .dataset = s->dataset,
                         .run = s->run,
                         .width = s->width,
                         .blocks = s->source->blocks};
    return ef_read_ahead_open(&b->ahead, &b->self, -1, s->note, NULL);
}

static void batch_close(ef_stage *s) { ef_read_ahead_close(&((batch *)s)->ahead); }

static ef_status *batch_next(ef_stage *s, ef_tensor *out, bool *end) {
    batch *b = (batch *)s;
    return b->parallel ? ef_read_ahead_next(&b->ahead, out, end) : batch_make(b, out, end);
}

static int64_t batch_count(const ef_dataset *d) {
    int64_t n = ef_stage_count(ef_dataset_source(d)), size = ef_dataset_int(d, "batch_size", 1);
    if (n < 0) return n;
    return n / size + (n % size != 0 && !ef_dataset_int(d, "drop_remainder", 0));
}

static ef_status *batch_save(ef_stage *s, ef_saver *w) {
    batch *b = (batch *)s;
    if (b->parallel) EF_TRY(ef_read_ahead_save(&b->ahead, w));
    ef_save_int(w, b->over);
    return NULL;
}

static ef_status *batch_restore(ef_stage *s, ef_loader *r) {
    batch *b = (batch *)s;
    if (b->parallel) EF_TRY(ef_read_ahead_restore(&b->ahead, r));
    return ef_load_bool(r, &b->over);
}

const ef_stage_kind ef_stage_batch = {.name = "Batch",
                                      .size = sizeof(batch),
                                      .open = batch_open,
                                      .next = batch_next,
                                      .close = batch_close,
                                      .count = batch_count,
                                      .save = batch_save,
                                      .restore = batch_restore};

/* ---- unbatch -----------------------------------------------------------------------------------
 */

typedef struct unbatch {
    ef_stage base;
    ef_tensor *whole; /* the batch being taken apart */
    int64_t at, n;
} unbatch;

static ef_status *unbatch_open(ef_stage *s) {
    unbatch *u = (unbatch *)s;
    u->whole = ef_calloc((size_t)s->width, sizeof *u->whole);
    if (u->whole == NULL) return ef_no_memory((size_t)s->width * sizeof *u->whole);
    return ef_stage_open_source(s);
}

static void unbatch_close(ef_stage *s) {
    unbatch *u = (unbatch *)s;
    if (u->whole != NULL) ef_element_release(u->whole, s->width);
    ef_free(u->whole);
}

/* The next batch; `whole` is empty. */
static ef_status *unbatch_fill(unbatch *u, bool *end) {
    EF_TRY(ef_stage_next(u->base.source, u->whole, end));
    if (*end) return NULL;
    u->at = 0;
    u->n = -1;
    for (int k = 0; k < u->base.width; k++) {
        const ef_tensor *t = &u->whole[k];
        if (t->dtype == EF_VARIANT) continue;
        if (t->rank < 1 || (u->n >= 0 && t->dim[0] != u->n)) {
            ef_status *bad =
                t->rank < 1
                    ? ef_error(EF_INVALID, "Unbatch: input %d must have a batch dimension", k)
                    : ef_error(EF_INVALID,
                               "Unbatch: Input %d has %lld rows, another %lld; all components "
                               "must have the same batch size",
                               k, (long long)t->dim[0], (long long)u->n);
            ef_element_release(u->whole, u->base.width);
            u->n = 0;
            return bad;
        }
        u->n = t->dim[0];
    }
    if (u->n < 0) u->n = 1;
    return NULL;
}

static ef_status *unbatch_next(ef_stage *s, ef_tensor *out, bool *end) {
    unbatch *u = (unbatch *)s;
    while (u->at >= u->n) {
        ef_element_release(u->whole, s->width);
        u->at = u->n = 0;
        EF_TRY(unbatch_fill(u, end));
        if (*end) return NULL;
    }
    for (int k = 0; k < s->width; k++) {
        ef_status *bad = ef_rows_cut(&u->whole[k], u->at, 1, true, &out[k]);
        if (bad == NULL) continue;
        ef_element_release(out, k);
        u->at++;
        return bad;
    }
    u->at++;
    return NULL;
}

/* TensorFlow reads the size of the batches from the static shape. */
static int64_t unbatch_count(const ef_dataset *d) {
    const ef_dataset *source = ef_dataset_source(d);
    int64_t n = ef_stage_count(source), all;
    const ef_shape *s = ef_dataset_shape(source, 0);
    if (n == EF_COUNT_INFINITE || n == 0) return n;
    if (n < 0 || s->rank < 1 || s->dim[0] < 0) return EF_COUNT_UNKNOWN;
    return __builtin_mul_overflow(n, s->dim[0], &all) ? EF_COUNT_INFINITE : all;
}

/* The batch that is being taken apart is saved whole. */
static ef_status *unbatch_save(ef_stage *s, ef_saver *w) {
    const unbatch *u = (const unbatch *)s;
    ef_save_int(w, u->at);
    ef_save_int(w, u->n);
    return u->at < u->n ? ef_save_tensors(w, u->whole, s->width) : NULL;
}

static ef_status *unbatch_restore(ef_stage *s, ef_loader *r) {
    unbatch *u = (unbatch *)s;
    int64_t at, n;
    EF_TRY(ef_load_upto(r, INT64_MAX, &at));
    EF_TRY(ef_load_upto(r, INT64_MAX, &n));
    if (at >= n) return NULL;
    EF_TRY(ef_load_element(r, s->source->dataset, u->whole));
    for (int k = 0; k < s->width; k++)
        if (u->whole[k].dtype != EF_VARIANT && (u->whole[k].rank < 1 || u->whole[k].dim[0] != n))
            return ef_load_broken("a batch in it has another number of rows");
    u->at = at;
    u->n = n;
    return NULL;
}

const ef_stage_kind ef_stage_unbatch = {.name = "Unbatch",
                                        .size = sizeof(unbatch),
                                        .open = unbatch_open,
                                        .next = unbatch_next,
                                        .close = unbatch_close,
                                        .count = unbatch_count,
                                        .save = unbatch_save,
                                        .restore = unbatch_restore};

/* ---- rebatch -----------------------------------------------------------------------------------
 */

typedef struct rebatch {
    unbatch rows; /* it draws rows as unbatch does */
    int64_t turn; /* which size is next */
    bool over;
} rebatch;

static ef_status *gather(ef_stage *s, ef_rows *rows, ef_tensor *row, bool *end) {
    while (rows->n < rows->most && !*end) {
        EF_TRY(unbatch_next(s, row, end));
        if (*end) return NULL;
        ef_status *bad = ef_rows_put(rows, row);
        ef_element_release(row, s->width);
        if (bad != NULL) return bad;
    }
    return NULL;
}

static ef_status *rebatch_next(ef_stage *s, ef_tensor *out, bool *end) {
    rebatch *r = (rebatch *)s;
    const ef_tensor *sizes = ef_dataset_arg(s->dataset, "batch_sizes", NULL);
    int64_t size = ef_element_int(EF_I64, sizes->data, r->turn++ % ef_count(sizes));
    *end = r->over;
    if (r->over) return NULL;
    ef_tensor *row = ef_calloc((size_t)s->width, sizeof *row);
    if (row == NULL) return ef_no_memory((size_t)s->width * sizeof *row);
    ef_rows rows = ef_rows_begin(out, s->width, size);
    ef_status *bad = gather(s, &rows, row, &r->over);
    ef_free(row);
    bool whole = ef_dataset_int(s->dataset, "drop_remainder", 0) != 0;
    *end = bad == NULL && (rows.n == 0 || (whole && rows.n < size));
    if (bad != NULL || *end)
        ef_rows_end(&rows);
    else
        ef_rows_finish(&rows);
    return bad;
}

static int64_t rebatch_count(const ef_dataset *d) {
    int64_t n = ef_stage_count(ef_dataset_source(d));
    return n == EF_COUNT_INFINITE || n == 0 ? n : EF_COUNT_UNKNOWN;
}

static ef_status *rebatch_save(ef_stage *s, ef_saver *w) {
    const rebatch *r = (const rebatch *)s;
    ef_save_int(w, r->turn);
    ef_save_int(w, r->over);
    return unbatch_save(s, w);
}

static ef_status *rebatch_restore(ef_stage *s, ef_loader *from) {
    rebatch *r = (rebatch *)s;
    EF_TRY(ef_load_upto(from, INT64_MAX, &r->turn));
    EF_TRY(ef_load_bool(from, &r->over));
    return unbatch_restore(s, from);
}

const ef_stage_kind ef_stage_rebatch = {.name = "Rebatch",
                                        .size = sizeof(rebatch),
                                        .open = unbatch_open,
                                        .next = rebatch_next,
                                        .close = unbatch_close,
                                        .count = rebatch_count,
                                        .save = rebatch_save,
                                        .restore = rebatch_restore};
