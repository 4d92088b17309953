/* Sources: tensors, their rows, and ranges of numbers. */
#include "base/alloc.h"
#include "data/rows.h"
#include "data/stage.h"
#include <string.h>

static ef_status *open_nothing(ef_stage *s) {
    (void)s;
    return NULL;
}

/* ---- one element -------------------------------------------------------------------------------
 */

typedef struct tensors {
    ef_stage base;
    bool done;
} tensors;

static ef_status *tensors_next(ef_stage *s, ef_tensor *out, bool *end) {
    tensors *t = (tensors *)s;
    *end = t->done;
    t->done = true;
    if (*end) return NULL;
    for (int k = 0; k < s->width; k++) ef_tensor_copy(&out[k], &s->dataset->in[k]);
    return NULL;
}

static int64_t tensors_count(const ef_dataset *d) {
    (void)d;
    return 1;
}

static ef_status *tensors_save(ef_stage *s, ef_saver *w) {
    ef_save_int(w, ((tensors *)s)->done);
    return NULL;
}

static ef_status *tensors_restore(ef_stage *s, ef_loader *r) {
    return ef_load_bool(r, &((tensors *)s)->done);
}

const ef_stage_kind ef_stage_tensors = {.name = "Tensors",
                                        .size = sizeof(tensors),
                                        .open = open_nothing,
                                        .next = tensors_next,
                                        .count = tensors_count,
                                        .save = tensors_save,
                                        .restore = tensors_restore};

/* ---- several elements --------------------------------------------------------------------------
 */

typedef struct elements {
    ef_stage base;
    int64_t at;
} elements;

static int64_t elements_count(const ef_dataset *d) { return d->n_in / ef_dataset_width(d); }

static ef_status *elements_next(ef_stage *s, ef_tensor *out, bool *end) {
    elements *e = (elements *)s;
    *end = e->at >= elements_count(s->dataset);
    if (*end) return NULL;
    const ef_tensor *in = s->dataset->in + e->at++ * s->width;
    for (int k = 0; k < s->width; k++) ef_tensor_copy(&out[k], &in[k]);
    return NULL;
}

static ef_status *elements_save(ef_stage *s, ef_saver *w) {
    ef_save_int(w, ((elements *)s)->at);
    return NULL;
}

static ef_status *elements_restore(ef_stage *s, ef_loader *r) {
    return ef_load_upto(r, elements_count(s->dataset), &((elements *)s)->at);
}

const ef_stage_kind ef_stage_elements = {.name = "Elements",
                                         .size = sizeof(elements),
                                         .open = open_nothing,
                                         .next = elements_next,
                                         .count = elements_count,
                                         .save = elements_save,
                                         .restore = elements_restore};

/* ---- rows --------------------------------------------------------------------------------------
 */

typedef struct slices {
    ef_stage base;
    int64_t at, n;
} slices;

static int64_t slices_count(const ef_dataset *d) { return d->in[0].dim[0]; }

static ef_status *slices_open(ef_stage *s) {
    ((slices *)s)->n = slices_count(s->dataset);
    return NULL;
}

static ef_status *slices_cut(slices *s, int64_t n, bool row, ef_tensor *out) {
    for (int k = 0; k < s->base.width; k++) {
        ef_status *bad = ef_rows_cut(&s->base.dataset->in[k], s->at, n, row, &out[k]);
        if (bad == NULL) continue;
        ef_element_release(out, k);
        return bad;
    }
    s->at += n;
    return NULL;
}

static ef_status *slices_next(ef_stage *s, ef_tensor *out, bool *end) {
    slices *t = (slices *)s;
    *end = t->at >= t->n;
    return *end ? NULL : slices_cut(t, 1, true, out);
}

static ef_status *slices_rows(ef_stage *s, int64_t n, ef_tensor *out, int64_t *got) {
    slices *t = (slices *)s;
    *got = t->n - t->at < n ? t->n - t->at : n;
    return *got > 0 ? slices_cut(t, *got, false, out) : NULL;
}

static ef_status *slices_save(ef_stage *s, ef_saver *w) {
    ef_save_int(w, ((slices *)s)->at);
    return NULL;
}

static ef_status *slices_restore(ef_stage *s, ef_loader *r) {
    slices *t = (slices *)s;
    return ef_load_upto(r, t->n, &t->at);
}

const ef_stage_kind ef_stage_slices = {.name = "TensorSlices",
                                       .size = sizeof(slices),
                                       .open = slices_open,
                                       .next = slices_next,
                                       .rows = slices_rows,
                                       .count = slices_count,
                                       .save = slices_save,
                                       .restore = slices_restore};

/* ---- numbers -----------------------------------------------------------------------------------
 */

typedef struct numbers {
    ef_stage base;
    int64_t at, left, step;
    ef_dtype dtype;
} numbers;

static int64_t count_from(const ef_dataset *d, int64_t start) {
    int64_t stop = ef_dataset_int(d, "stop", 0), step = ef_dataset_int(d, "step", 1);
    if (step == 0 || (step > 0 ? start >= stop : start <= stop)) return 0;
    uint64_t length =
        step > 0 ? (uint64_t)stop - (uint64_t)start : (uint64_t)start - (uint64_t)stop;
    uint64_t size = step > 0 ? (uint64_t)step : -(uint64_t)step;
    uint64_t n = (length - 1) / size + 1;
    return n > INT64_MAX ? INT64_MAX : (int64_t)n;
}

static int64_t range_count(const ef_dataset *d) {
    return count_from(d, ef_dataset_int(d, "start", 0));
}

static ef_status *range_open(ef_stage *s) {
    numbers *r = (numbers *)s;
    r->at = ef_dataset_int(s->dataset, "start", 0);
    r->step = ef_dataset_int(s->dataset, "step", 1);
    r->left = range_count(s->dataset);
    r->dtype = ef_dataset_type(s->dataset, 0);
    return NULL;
}

/* n numbers of the range's dtype at `to`. */
static void write_numbers(numbers *r, void *to, int64_t n) {
    uint64_t at = (uint64_t)r->at, step = (uint64_t)r->step;
    if (r->dtype == EF_I64) {
        int64_t *p = to;
        for (int64_t k = 0; k < n; k++) p[k] = (int64_t)(at + (uint64_t)k * step);
    } else {
        for (int64_t k = 0; k < n; k++)
            ef_element_set(r->dtype, to, k, (double)(int64_t)(at + (uint64_t)k * step));
    }
    r->at = (int64_t)(at + (uint64_t)n * step);
    r->left -= n;
}

static ef_status *range_make(numbers *r, const ef_shape *shape, int64_t n, ef_tensor *out) {
    EF_TRY(ef_tensor_alloc(out, r->dtype, shape));
    write_numbers(r, out->data, n);
    return NULL;
}

static ef_status *range_next(ef_stage *s, ef_tensor *out, bool *end) {
    numbers *r = (numbers *)s;
    ef_shape scalar = {.rank = 0};
    *end = r->left <= 0;
    return *end ? NULL : range_make(r, &scalar, 1, out);
}

static ef_status *range_rows(ef_stage *s, int64_t n, ef_tensor *out, int64_t *got) {
    numbers *r = (numbers *)s;
    *got = r->left < n ? r->left : n;
    ef_shape shape = {.rank = 1, .dim = {*got}};
    return *got > 0 ? range_make(r, &shape, *got, out) : NULL;
}

static ef_status *range_save(ef_stage *s, ef_saver *w) {
    ef_save_int(w, ((numbers *)s)->at);
    ef_save_int(w, ((numbers *)s)->left > 0);
    return NULL;
}

/* The next number is the one that was next, also if the range was made longer meanwhile. */
static ef_status *range_restore(ef_stage *s, ef_loader *r) {
    numbers *n = (numbers *)s;
    bool more;
    EF_TRY(ef_load_int(r, &n->at));
    EF_TRY(ef_load_bool(r, &more));
    n->left = more ? count_from(s->dataset, n->at) : 0;
    return NULL;
}

const ef_stage_kind ef_stage_range = {.name = "Numbers",
                                      .size = sizeof(numbers),
                                      .open = range_open,
                                      .next = range_next,
                                      .rows = range_rows,
                                      .count = range_count,
                                      .save = range_save,
                                      .restore = range_restore};
