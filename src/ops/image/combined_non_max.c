/* CombinedNonMaxSuppression: each class of each image is suppressed alone, then the best boxes of
 * all classes are kept, best first. */
#include "base/alloc.h"
#include "kernels/suppress.h"
#include "ops/array/array.h"
#include "ops/shapes.h"
#include <stdlib.h>
#include <string.h>

typedef struct {
    bool pad_per_class, clip_boxes;
} combined_attrs;

/* ---- shapes ---------------------------------------------------------------------------------- */

/* How many boxes an image has in the output. */
static int64_t kept(const combined_attrs *t, int64_t per_class, int64_t total, int64_t classes) {
    if (!t->pad_per_class || (classes > 0 && per_class > total / classes)) return total;
    return per_class * classes;
}

static ef_status *need_positive(const ef_infer *i, int k, const char *name, int64_t *v,
                                bool *known) {
    EF_TRY(ef_known_int(i, k, v, known));
    if (!*known || *v > 0) return NULL;
    return ef_error(EF_INVALID, "%s: %s must be > 0, got %lld", i->op->name, name, (long long)*v);
}

static ef_status *combined_shape(ef_infer *i) {
    const ef_shape *boxes = &i->in[0].shape, *scores = &i->in[1].shape;
    int64_t batch = EF_DIM_UNKNOWN, n, each = 0, total = 0, most = EF_DIM_UNKNOWN;
    bool each_known = false, total_known = false;
    EF_TRY(ef_need_rank(i, 0, 4));
    EF_TRY(ef_need_rank(i, 1, 3));
    for (int k = 2; k < 6; k++) EF_TRY(ef_need_rank(i, k, 0));
    EF_TRY(need_positive(i, 2, "max_output_size_per_class", &each, &each_known));
    EF_TRY(need_positive(i, 3, "max_total_size", &total, &total_known));
    if (boxes->rank == 4 && !ef_dim_may_equal(boxes->dim[3], 4))
        return ef_error(EF_INVALID, "%s: boxes must have 4 columns, but boxes is %s", i->op->name,
                        EF_SHAPE(boxes));
    if (boxes->rank == 4 && scores->rank == 3) {
        EF_TRY(ef_need_same_dim(i, boxes->dim[0], scores->dim[0], "the batches of boxes and scores",
                                &batch));
        EF_TRY(ef_need_same_dim(i, boxes->dim[1], scores->dim[1], "the numbers of boxes and scores",
                                &n));
        if (!ef_dim_may_equal(boxes->dim[2], 1) && !ef_dim_may_equal(boxes->dim[2], scores->dim[2]))
            return ef_error(EF_INVALID,
                            "%s: third dimension of boxes must be either 1 or num classes, but "
                            "boxes is %s and scores %s",
                            i->op->name, EF_SHAPE(boxes), EF_SHAPE(scores));
    }
    const combined_attrs *t = i->attrs;
    if (total_known && !t->pad_per_class) most = total;
    if (total_known && each_known && scores->rank == 3 && scores->dim[2] >= 0)
        most = kept(t, each, total, scores->dim[2]);
    i->out[0].shape = (ef_shape){.rank = 3, .dim = {batch, most, 4}};
    i->out[1].shape = i->out[2].shape = (ef_shape){.rank = 2, .dim = {batch, most}};
    i->out[3].shape = (ef_shape){.rank = 1, .dim = {batch}};
    return NULL;
}

/* ---- running --------------------------------------------------------------------------------- */

typedef struct {
    float score;
    int32_t box, class;
} found;

/* Best first; among equal scores the lower class, then the lower box. */
static int better(const void *a, const void *b) {
    const found *x = a, *y = b;
    if (x->score != y->score) return x->score > y->score ? -1 : 1;
    if (x->class != y->class) return x->class < y->class ? -1 : 1;
    return (x->box > y->box) - (x->box < y->box);
}

typedef struct {
    int64_t n, classes, columns, each, total; /* columns: of boxes, 1 or one for each class */
    float threshold, least;
    bool clip;
    /* space for one image */
    float *boxes, *scores, *chosen_scores;
    int32_t *chosen;
    void *heap;
    found *all;
} work;

static const float *box_of(const work *w, const float *boxes, int64_t k, int64_t class) {
    return boxes + 4 * (k * w->columns + (w->columns == 1 ? 0 : class));
}

/* The boxes of one class that are left, behind the first `n` of w->all; returns the new number. */
static int64_t suppress_class(work *w, const float *boxes, const float *scores, int64_t class,
                              int64_t n) {
    for (int64_t k = 0; k < w->n; k++) {
        w->scores[k] = scores[k * w->classes + class];
        memcpy(w->boxes + 4 * k, box_of(w, boxes, k, class), 4 * sizeof(float));
    }
    ef_suppress s = {.n = w->n,
                     .most = w->each < w->n ? w->each : w->n,
                     .boxes = w->boxes,
                     .scores = w->scores,
                     .threshold = w->threshold,
                     .least = w->least};
    int64_t left = ef_suppress_run(&s, w->heap, w->chosen, w->chosen_scores);
    for (int64_t k = 0; k < left; k++)
        w->all[n + k] = (found){w->chosen_scores[k], w->chosen[k], (int32_t) class};
    return n + left;
}

static float within(float v) { return v < 0 ? 0 : v > 1 ? 1 : v; }

static void write_image(const ef_call *c, const work *w, const float *boxes, int64_t image,
                        int64_t n) {
    float *box = (float *)c->out[0]->data + image * w->total * 4;
    float *score = (float *)c->out[1]->data + image * w->total;
    float *class = (float *)c->out[2]->data + image * w->total;
    for (int64_t k = 0; k < w->total; k++) {
        const found *f = k < n ? &w->all[k] : NULL;
        const float *from = f != NULL ? box_of(w, boxes, f->box, f->class) : NULL;
        for (int j = 0; j < 4; j++)
            box[4 * k + j] = from == NULL ? 0 : w->clip ? within(from[j]) : from[j];
        score[k] = f != NULL ? f->score : 0;
        class[k] = f != NULL ? (float)f->class : 0;
    }
    ((int32_t *)c->out[3]->data)[image] = (int32_t)n;
}

static void suppress_image(const ef_call *c, work *w, int64_t image) {
    const float *boxes = (const float *)c->in[0]->data + image * w->n * w->columns * 4;
    const float *scores = (const float *)c->in[1]->data + image * w->n * w->classes;
    int64_t n = 0;
    for (int64_t class = 0; class < w->classes; class ++)
        n = suppress_class(w, boxes, scores, class, n);
    qsort(w->all, (size_t)n, sizeof *w->all, better);
    write_image(c, w, boxes, image, n < w->total ? n : w->total);
}

static ef_status *make_space(work *w, char **memory) {
    int64_t per_class = w->each < w->n ? w->each : w->n;
    size_t all = (size_t)(per_class * w->classes) * sizeof(found);
    size_t heap = (size_t)ef_suppress_bytes(w->n);
    size_t one = (size_t)w->n * sizeof(float);
    *memory = ef_malloc(heap + all + 7 * one);
    if (*memory == NULL) return ef_no_memory(heap + all + 7 * one);
    w->heap = *memory;
    w->all = (found *)(void *)(*memory + heap);
    w->boxes = (float *)(void *)(*memory + heap + all);
    w->scores = w->boxes + 4 * w->n;
    w->chosen_scores = w->scores + w->n;
    w->chosen = (int32_t *)(void *)(w->chosen_scores + w->n);
    return NULL;
}

static ef_status *check_numbers(const ef_call *c, const work *w) {
    if (w->each <= 0 || w->total <= 0)
        return ef_error(EF_INVALID,
                        "%s: max_output_size_per_class and max_total_size must be > 0, got %lld "
                        "and %lld",
                        c->op->name, (long long)w->each, (long long)w->total);
    if (!(w->threshold >= 0 && w->threshold <= 1))
        return ef_error(EF_INVALID, "%s: iou_threshold must be in [0, 1], got %g", c->op->name,
                        (double)w->threshold);
    if (w->columns != 1 && w->columns != w->classes)
        return ef_error(EF_INVALID,
                        "%s: third dimension of boxes must be either 1 or num classes (%lld), not "
                        "%lld",
                        c->op->name, (long long)w->classes, (long long)w->columns);
    return NULL;
}

static ef_status *combined_run(const ef_call *c) {
    const combined_attrs *t = c->attrs;
    const ef_tensor *boxes = c->in[0], *scores = c->in[1];
    work w = {.n = boxes->dim[1],
              .classes = scores->dim[2],
              .columns = boxes->dim[2],
              .each = ef_in_int(c, 2, 0),
              .total = ef_in_int(c, 3, 0),
              .threshold = *(const float *)c->in[4]->data,
              .least = *(const float *)c->in[5]->data,
              .clip = t->clip_boxes};
    EF_TRY(check_numbers(c, &w));
    w.total = kept(t, w.each, w.total, w.classes);
    int64_t batch = boxes->dim[0];
    EF_TRY(ef_out_alloc(c, 0, &(ef_shape){.rank = 3, .dim = {batch, w.total, 4}}));
    for (int k = 1; k < 3; k++)
        EF_TRY(ef_out_alloc(c, k, &(ef_shape){.rank = 2, .dim = {batch, w.total}}));
    EF_TRY(ef_out_alloc(c, 3, &(ef_shape){.rank = 1, .dim = {batch}}));
    char *memory;
    EF_TRY(make_space(&w, &memory));
    for (int64_t k = 0; k < batch; k++) suppress_image(c, &w, k);
    ef_free(memory);
    return NULL;
}

const ef_op ef_op_CombinedNonMaxSuppression = {
    EF_NAMED(CombinedNonMaxSuppression),
    .doc =
        "Suppresses boxes that overlap one of the same class with a higher score, then keeps the "
        "best of all classes: their boxes, scores and classes, and their number, for each image.",
    .in = {"boxes: float", "scores: float", "max_output_size_per_class: int32",
           "max_total_size: int32", "iou_threshold: float", "score_threshold: float"},
    .out = {"nmsed_boxes: float", "nmsed_scores: float", "nmsed_classes: float",
            "valid_detections: int32"},
    .attr = {EF_ATTR(combined_attrs, pad_per_class, "bool", "false"),
             EF_ATTR(combined_attrs, clip_boxes, "bool", "true")},
    .attr_size = sizeof(combined_attrs),
    .traits = EF_DYNAMIC | EF_NO_GRAD,
    .shape = combined_shape,
    .kernel = EF_ANY_KERNEL(combined_run),
    .examples = {"float[1,3,1,4]{0,0,1,1,0,0.1,1,1.1,0,0.2,0.3,0.9} "
                 "float[1,3,2]{0.9,0.1,0.75,0.8,0.6,0.2} int32[]{2} int32[]{3} float[]{0.5} "
                 "float[]{0.15}",
                 "float[2,1,2,4]:0..1 float[2,1,2]:0..1 int32[]{2} int32[]{9} float[]{0.5} "
                 "float[]{0} pad_per_class=true clip_boxes=false"},
};
