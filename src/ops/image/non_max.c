/* NonMaxSuppression in its five versions, and the version that takes the overlaps as an input. */
#include "base/alloc.h"
#include "kernels/suppress.h"
#include "ops/array/array.h"
#include "ops/shapes.h"
#include <math.h>

typedef struct {
    float iou_threshold;
    bool pad_to_max_output_size;
} nms_attrs;

/* ---- shapes ---------------------------------------------------------------------------------- */

/* The outputs are vectors of unknown length, or of the maximum length if they are padded. */
static ef_status *nms_shape(ef_infer *i, bool square, bool padded) {
    const ef_shape *boxes = &i->in[0].shape, *scores = &i->in[1].shape;
    int64_t most = 0, rows;
    bool known = false;
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 1));
    for (int k = 2; k < i->n_in; k++) EF_TRY(ef_need_rank(i, k, 0));
    if (boxes->rank == 2 && !square && !ef_dim_may_equal(boxes->dim[1], 4))
        return ef_error(EF_INVALID, "%s: boxes must have 4 columns, but boxes is %s", i->op->name,
                        EF_SHAPE(boxes));
    if (boxes->rank == 2 && square && !ef_dim_may_equal(boxes->dim[0], boxes->dim[1]))
        return ef_error(EF_INVALID, "%s: overlaps must be square, but overlaps is %s", i->op->name,
                        EF_SHAPE(boxes));
    if (boxes->rank == 2 && scores->rank == 1)
        EF_TRY(ef_need_same_dim(i, boxes->dim[0], scores->dim[0],
                                "scores has incompatible shape: boxes and scores", &rows));
    EF_TRY(ef_known_int(i, 2, &most, &known));
    if (known && most < 0)
        return ef_error(EF_INVALID, "%s: max_output_size must be non-negative, got %lld",
                        i->op->name, (long long)most);
    for (int k = 0; k < i->n_out; k++) {
        bool last = k > 0 && k == i->n_out - 1; /* the number of selected boxes */
        i->out[k].shape = last ? ef_scalar_shape() : (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
        if (!last && padded && known) i->out[k].shape.dim[0] = most;
    }
    return NULL;
}
static ef_status *plain_shape(ef_infer *i) { return nms_shape(i, false, false); }
static ef_status *square_shape(ef_infer *i) { return nms_shape(i, true, false); }
static ef_status *padded_shape(ef_infer *i) {
    return nms_shape(i, false, ((const nms_attrs *)i->attrs)->pad_to_max_output_size);
}

/* ---- running --------------------------------------------------------------------------------- */

static float number(const ef_call *c, int k) {
    return (float)ef_element_double((ef_dtype)c->in[k]->dtype, c->in[k]->data, 0);
}

static ef_status *need_share(const ef_op *op, float threshold) {
    if (threshold >= 0 && threshold <= 1) return NULL;
    return ef_error(EF_INVALID, "%s: iou_threshold must be in [0, 1], got %g", op->name,
                    (double)threshold);
}

/* Inputs as floats: halves are converted into *wide, which the caller frees. */
static ef_status *widen(const ef_tensor *x, const float **out, float **wide) {
    *wide = NULL;
    *out = x->data;
    if (x->dtype == EF_F32) return NULL;
    int64_t n = ef_count(x);
    *out = *wide = ef_malloc((size_t)n * sizeof(float));
    if (*wide == NULL) return ef_no_memory((size_t)n * sizeof(float));
    for (int64_t k = 0; k < n; k++)
        (*wide)[k] = (float)ef_element_double((ef_dtype)x->dtype, x->data, k);
    return NULL;
}

/* Writes the selected boxes to the outputs: indices, then (with three outputs) scores, then their
 * number. */
static ef_status *deliver(const ef_call *c, const int32_t *chosen, const float *scores, int64_t n,
                          int64_t size) {
    ef_shape shape = {.rank = 1, .dim = {size}}, one = ef_scalar_shape();
    EF_TRY(ef_out_alloc(c, 0, &shape));
    int32_t *at = c->out[0]->data;
    for (int64_t k = 0; k < size; k++) at[k] = k < n ? chosen[k] : 0;
    if (c->n_out == 3) {
        EF_TRY(ef_out_alloc(c, 1, &shape));
        for (int64_t k = 0; k < size; k++)
            ef_element_set((ef_dtype)c->out[1]->dtype, c->out[1]->data, k, k < n ? scores[k] : 0);
    }
    if (c->n_out == 1) return NULL;
    EF_TRY(ef_out_alloc(c, c->n_out - 1, &one));
    *(int32_t *)c->out[c->n_out - 1]->data = (int32_t)n;
    return NULL;
}

static ef_status *choose(const ef_call *c, ef_suppress *s, bool pad) {
    float *wide_boxes = NULL, *wide_scores = NULL;
    int64_t most = ef_in_int(c, 2, 0);
    if (most < 0)
        return ef_error(EF_INVALID, "%s: max_output_size must be non-negative, got %lld",
                        c->op->name, (long long)most);
    s->n = ef_count(c->in[1]);
    s->most = most < s->n ? most : s->n;
    int64_t bytes = ef_suppress_bytes(s->n),
            room = s->most * (int64_t)(sizeof(int32_t) + sizeof(float));
    char *memory = ef_malloc((size_t)(bytes + room));
    ef_status *status = memory == NULL ? ef_no_memory((size_t)(bytes + room)) : NULL;
    if (status == NULL) status = widen(c->in[0], &s->boxes, &wide_boxes);
    if (status == NULL) status = widen(c->in[1], &s->scores, &wide_scores);
    if (status == NULL) {
        int32_t *chosen = (int32_t *)(void *)(memory + bytes);
        float *scores = (float *)(void *)(chosen + s->most);
        int64_t n = ef_suppress_run(s, memory, chosen, scores);
        status = deliver(c, chosen, scores, n, pad ? most : n);
    }
    ef_free(memory);
    ef_free(wide_boxes);
    ef_free(wide_scores);
    return status;
}

static ef_status *first_run(const ef_call *c) {
    ef_suppress s = {.threshold = ((const nms_attrs *)c->attrs)->iou_threshold, .least = -INFINITY};
    EF_TRY(need_share(c->op, s.threshold));
    return choose(c, &s, false);
}
/* V2 to V5, each with one more input: an overlap threshold, a score threshold, and sigma. */
static ef_status *later_run(const ef_call *c) {
    const nms_attrs *t = c->attrs;
    ef_suppress s = {.threshold = number(c, 3),
                     .least = c->n_in > 4 ? number(c, 4) : -INFINITY,
                     .sigma = c->n_in > 5 ? number(c, 5) : 0};
    EF_TRY(need_share(c->op, s.threshold));
    if (!(s.sigma >= 0))
        return ef_error(EF_INVALID, "%s: soft_nms_sigma must be non-negative, got %g", c->op->name,
                        (double)s.sigma);
    return choose(c, &s, c->n_out > 1 && t->pad_to_max_output_size);
}
static ef_status *overlaps_run(const ef_call *c) {
    ef_suppress s = {.overlaps = true, .threshold = number(c, 3), .least = number(c, 4)};
    return choose(c, &s, false);
}

#define NMS(N, DOC, IN, OUT, TYPES, ATTRS, SHAPE, RUN, ...) \
    const ef_op ef_op_##N = {                               \
        EF_NAMED(N),                                        \
        .doc = DOC,                                         \
        .in = IN,                                           \
        .out = OUT,                                         \
        .types = TYPES,                                     \
        .attr = ATTRS,                                      \
        .attr_size = sizeof(nms_attrs),                     \
        .traits = EF_DYNAMIC | EF_NO_GRAD,                  \
        .shape = SHAPE,                                     \
        .kernel = EF_ANY_KERNEL(RUN),                       \
        .examples = {__VA_ARGS__},                          \
    };
#define SET(...) \
    { __VA_ARGS__ }
#define HALF_OR_FLOAT "T: {half, float} = float"
#define TWO_TYPES HALF_OR_FLOAT "; T_threshold: {half, float} = float"
#define BOXES "boxes: T", "scores: T", "max_output_size: int32"
#define PAD EF_ATTR(nms_attrs, pad_to_max_output_size, "bool", "false")
#define THREE "T[3,4]{0,0,1,1,0,0.1,1,1.1,0,2,1,3} T[3]{0.9,0.75,0.6} int32[]{3} "

NMS(NonMaxSuppression,
    "Selects boxes in order of descending score, without those that overlap a better one.",
    SET("boxes: float", "scores: float", "max_output_size: int32"), SET("selected_indices: int32"),
    NULL, SET(EF_ATTR(nms_attrs, iou_threshold, "float", "0.5")), plain_shape, first_run,
    "float[3,4]{0,0,1,1,0,0.1,1,1.1,0,2,1,3} float[3]{0.9,0.75,0.6} int32[]{3}")
NMS(NonMaxSuppressionV2, "Like NonMaxSuppression, with the threshold as an input.",
    SET(BOXES, "iou_threshold: T_threshold"), SET("selected_indices: int32"), TWO_TYPES, SET({0}),
    plain_shape, later_run, THREE "float[]{0.5}")
NMS(NonMaxSuppressionV3, "Like NonMaxSuppressionV2, but only boxes with scores above a threshold.",
    SET(BOXES, "iou_threshold: T_threshold", "score_threshold: T_threshold"),
    SET("selected_indices: int32"), TWO_TYPES, SET({0}), plain_shape, later_run,
    THREE "float[]{0.5} float[]{0.7}")
NMS(NonMaxSuppressionV4,
    "Like NonMaxSuppressionV3; also returns the number of boxes, and may pad the indices with 0.",
    SET(BOXES, "iou_threshold: T_threshold", "score_threshold: T_threshold"),
    SET("selected_indices: int32", "valid_outputs: int32"), TWO_TYPES, SET(PAD), padded_shape,
    later_run, THREE "float[]{0.5} float[]{0}",
    THREE "float[]{0.5} float[]{0} pad_to_max_output_size=true")
NMS(NonMaxSuppressionV5, "Like NonMaxSuppressionV4, but scores may decay with the overlap instead.",
    SET(BOXES, "iou_threshold: T", "score_threshold: T", "soft_nms_sigma: T"),
    SET("selected_indices: int32", "selected_scores: T", "valid_outputs: int32"), HALF_OR_FLOAT,
    SET(PAD), padded_shape, later_run, THREE "T[]{0.5} T[]{0} T[]{0.5}",
    THREE "T[]{0.5} T[]{0} T[]{0} pad_to_max_output_size=true")
NMS(NonMaxSuppressionWithOverlaps,
    "Like NonMaxSuppressionV3, with the overlaps of all pairs as an input.",
    SET("overlaps: float", "scores: float", "max_output_size: int32", "overlap_threshold: float",
        "score_threshold: float"),
    SET("selected_indices: int32"), NULL, SET({0}), square_shape, overlaps_run,
    "float[2,2]{1,0.6,0.6,1} float[2]{0.5,0.9} int32[]{2} float[]{0.5} float[]{0}")
