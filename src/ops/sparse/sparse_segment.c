/* Sparse segment ops: reduce the rows of `data` that `indices` select, by segment, without
 * gathering them first; and the ops that are their gradients. */
#include "kernels/half.h"
#include "kernels/segment.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/shapes.h"
#include <math.h>
#include <stdlib.h>

typedef enum scaling { BY_ONE, BY_COUNT, BY_ROOT } scaling;
typedef struct {
    bool sparse_gradient;
} sparse_attrs;

/* ---- forward ----------------------------------------------------------------------------------
 */

static ef_status *sparse_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    const ef_fact *ids = &i->in[2];
    int64_t n, segments = EF_DIM_UNKNOWN;
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 1));
    EF_TRY(ef_need_rank(i, 2, 1));
    if (i->in[1].shape.rank == 1 && ids->shape.rank == 1)
        EF_TRY(ef_need_same_dim(i, i->in[1].shape.dim[0], ids->shape.dim[0],
                                "segment_ids and indices should have same size", &n));
    if (i->n_in == 4) {
        bool known;
        EF_TRY(ef_need_rank(i, 3, 0));
        EF_TRY(ef_known_int(i, 3, &segments, &known));
        if (known && segments < 0)
            return ef_error(EF_INVALID, "%s: num_segments is %lld; it must not be negative",
                            i->op->name, (long long)segments);
        if (!known) segments = EF_DIM_UNKNOWN;
    } else if (ids->value != NULL && ids->value->data != NULL) {
        int64_t count = ef_count(ids->value);
        int64_t last = count > 0 ? ef_element_int(ids->dtype, ids->value->data, count - 1) : -1;
        if (last < -1 || last == INT64_MAX)
            return ef_error(EF_INVALID, "%s: the last segment id is %lld; segment ids must be >= 0",
                            i->op->name, (long long)last);
        segments = last + 1;
    }
    if (x->rank < 0) return NULL;
    i->out[0].shape = *x;
    i->out[0].shape.dim[0] = segments;
    return ef_need_size_held(i->op, &i->out[0].shape);
}

static ef_status *check_ids(const ef_op *op, const ef_tensor *ids, int64_t segments) {
    int64_t before = 0;
    for (int64_t k = 0; k < ids->dim[0]; k++) {
        int64_t id = ef_id_at((ef_dtype)ids->dtype, ids->data, k);
        if (id < 0 || id >= segments)
            return ef_error(
                EF_INVALID,
                "%s: Segment id %lld out of range [0, %lld), possibly because 'segment_ids' "
                "input is not sorted; segment ids must be < num_segments",
                op->name, (long long)id, (long long)segments);
        if (id < before)
            return ef_error(EF_INVALID, "%s: segment ids are not increasing: %lld follows %lld",
                            op->name, (long long)id, (long long)before);
        before = id;
    }
    return NULL;
}

static ef_status *check_indices(const ef_op *op, const ef_tensor *indices, int64_t rows) {
    for (int64_t k = 0; k < indices->dim[0]; k++) {
        int64_t at = ef_id_at((ef_dtype)indices->dtype, indices->data, k);
        if (at < 0 || at >= rows)
            return ef_error(EF_INVALID, "%s: indices[%lld] == %lld out of range [0, %lld)",
                            op->name, (long long)k, (long long)at, (long long)rows);
    }
    return NULL;
}

static int64_t width_of(const ef_tensor *x) {
    ef_shape s = ef_shape_from(x);
    return ef_shape_span(&s, 1, x->rank);
}

static ef_status *sparse(const ef_call *c, scaling by) {
    const ef_tensor *x = c->in[0], *indices = c->in[1], *ids = c->in[2], *y = c->out[0];
    EF_TRY(check_ids(c->op, ids, y->dim[0]));
    EF_TRY(check_indices(c->op, indices, x->dim[0]));
    ef_segments s = {.kind = by == BY_COUNT ? EF_REDUCE_MEAN : EF_REDUCE_SUM,
                     .norm = by == BY_ROOT ? EF_SEGMENT_SQRT_N : EF_SEGMENT_PLAIN,
                     .dtype = (ef_dtype)x->dtype,
                     .id_type = (ef_dtype)ids->dtype,
                     .index_type = (ef_dtype)indices->dtype,
                     .rows = ids->dim[0],
                     .width = width_of(x),
                     .segments = y->dim[0],
                     .data = x->data,
                     .ids = ids->data,
                     .indices = indices->data,
                     .out = y->data};
    ef_segments_run(&s);
    return NULL;
}

static ef_status *sparse_grad(ef_grad *g, const char *dense_op, const char *slices_op) {
    const sparse_attrs *t = g->attrs;
    ef_build *b = g->b;
    ef_value *shape = ef_shape_value(b, g->in[0], EF_I32);
    ef_value *rows =
        ef_reshape(b, ef_shape_part(b, shape, 0, 1), ef_const_ints(b, EF_I32, 0, NULL));
    ef_value *in[] = {g->dout[0], g->in[1], g->in[2], rows}, *out[2] = {NULL, NULL};
    if (t->sparse_gradient) {
        ef_emit_many(b, slices_op, NULL, 0, in, 4, out, 2);
        g->din[0] = ef_slices(b, out[0], out[1], ef_shape_value(b, g->in[0], g->in[1]->fact.dtype));
    } else {
        ef_emit_many(b, dense_op, NULL, 0, in, 4, out, 1);
        g->din[0] = out[0];
    }
    return NULL;
}

#define TIDX "Tidx: {int32, int64} = int32; "
#define TNUM "Tnumsegments: {int32, int64} = int32; "
#define TSEG "Tsegmentids: {int32, int64} = int32"
#define ALL                                                                                 \
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, " \
    "uint64}; "
#define FLOATS "T: {bfloat16, half, float, double}; "

#define FORWARD(NAME, BY, DOC, TYPES)                                                           \
    static ef_status *run_##NAME(const ef_call *c) { return sparse(c, BY); }                    \
    static ef_status *grad_##NAME(ef_grad *g) {                                                 \
        return sparse_grad(g, #NAME "Grad", #NAME "GradV2");                                    \
    }                                                                                           \
    const ef_op ef_op_##NAME = {                                                                \
        EF_NAMED(NAME),                                                                         \
        .doc = DOC " Segment ids are sorted; an id that does not occur gives 0.",               \
        .in = {"data: T", "indices: Tidx", "segment_ids: Tsegmentids"},                         \
        .out = {"output: T"},                                                                   \
        .types = TYPES TIDX TSEG,                                                               \
        .attr = {EF_ATTR(sparse_attrs, sparse_gradient, "bool", "false")},                      \
        .attr_size = sizeof(sparse_attrs),                                                      \
        .traits = EF_ROWS_AT_RUN,                                                               \
        .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),                                                 \
        .shape = sparse_shape,                                                                  \
        .kernel = {{EF_CPU, EF_REALS, run_##NAME, NULL, NULL, NULL, NULL}},                     \
        .grad = grad_##NAME,                                                                    \
        .examples = {"T[4] int32[3]{3,0,3} int32[3]{0,0,1}",                                    \
                     "T[3,2] int64[4]{0,2,1,1} int32[4]{0,0,2,2}", "T[3,2] int32[0] int32[0]"}, \
    };                                                                                          \
    const ef_op ef_op_##NAME##WithNumSegments = {                                               \
        EF_NAMED(NAME##WithNumSegments),                                                        \
        .doc = DOC " Segment ids are sorted; the result has `num_segments` rows; segments "     \
                   "without rows are 0.",                                                       \
        .in = {"data: T", "indices: Tidx", "segment_ids: Tsegmentids",                          \
               "num_segments: Tnumsegments"},                                                   \
        .out = {"output: T"},                                                                   \
        .types = TYPES TIDX TNUM TSEG,                                                          \
        .attr = {EF_ATTR(sparse_attrs, sparse_gradient, "bool", "false")},                      \
        .attr_size = sizeof(sparse_attrs),                                                      \
        .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),                                                 \
        .shape = sparse_shape,                                                                  \
        .kernel = {{EF_CPU, EF_REALS, run_##NAME, NULL, NULL, NULL, NULL}},                     \
        .grad = grad_##NAME,                                                                    \
        .examples = {"T[4] int32[3]{3,0,3} int32[3]{0,0,1} int32[]{3}",                         \
                     "T[3,2] int64[4]{0,2,1,1} int32[4]{0,0,2,2} int64[]{4}"},                  \
    };
FORWARD(SparseSegmentSum, BY_ONE, "Adds up the rows of `data` that `indices` select, by segment.",
        ALL)
FORWARD(SparseSegmentMean, BY_COUNT,
        "Averages the rows of `data` that `indices` select, by segment.", FLOATS)
FORWARD(SparseSegmentSqrtN, BY_ROOT,
        "Adds up the rows of `data` that `indices` select, by segment, divided by the root of "
        "their number.",
        FLOATS)

/* ---- gradients --------------------------------------------------------------------------------
 */

static ef_status *grad_inputs(ef_infer *i) {
    int64_t n;
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 1));
    EF_TRY(ef_need_rank(i, 2, 1));
    EF_TRY(ef_need_rank(i, 3, 0));
    if (i->in[1].shape.rank == 1 && i->in[2].shape.rank == 1)
        EF_TRY(ef_need_same_dim(i, i->in[1].shape.dim[0], i->in[2].shape.dim[0],
                                "segment_ids and indices should have same size", &n));
    return NULL;
}

static ef_status *dense_shape(ef_infer *i) {
    int64_t rows;
    bool known;
    EF_TRY(grad_inputs(i));
    EF_TRY(ef_known_int(i, 3, &rows, &known));
    if (known && rows < 0)
        return ef_error(EF_INVALID, "%s: Expected a non-negative size, got %lld", i->op->name,
                        (long long)rows);
    if (i->in[0].shape.rank < 0) return NULL;
    i->out[0].shape = i->in[0].shape;
    i->out[0].shape.dim[0] = known ? rows : EF_DIM_UNKNOWN;
    return ef_need_size_held(i->op, &i->out[0].shape);
}

/* The factor of each segment's gradient; `scale` has space for all segments. */
static ef_status *scales(const ef_call *c, scaling by, double *scale) {
    const ef_tensor *dy = c->in[0], *ids = c->in[2];
    for (int64_t s = 0; s < dy->dim[0]; s++) scale[s] = 0;
    for (int64_t k = 0; k < ids->dim[0]; k++) {
        int64_t id = ef_id_at((ef_dtype)ids->dtype, ids->data, k);
        if (id < 0 || id >= dy->dim[0])
            return ef_error(EF_INVALID, "%s: segment_ids[%lld] == %lld out of range [0, %lld)",
                            c->op->name, (long long)k, (long long)id, (long long)dy->dim[0]);
        scale[id] += 1;
    }
    for (int64_t s = 0; s < dy->dim[0]; s++)
        scale[s] =
            by == BY_ONE || scale[s] == 0 ? 1 : 1 / (by == BY_COUNT ? scale[s] : sqrt(scale[s]));
    return NULL;
}

/* y += x * scale */
static void add_row(ef_dtype t, void *y, const void *x, double scale, int64_t n) {
    if (t == EF_F32) {
        float *a = y, s = (float)scale;
        const float *b = x;
        for (int64_t j = 0; j < n; j++) a[j] += b[j] * s;
    } else if (t == EF_F64) {
        double *a = y;
        const double *b = x;
        for (int64_t j = 0; j < n; j++) a[j] += b[j] * scale;
    } else {
        float a[64], b[64];
        for (int64_t at = 0; at < n; at += 64) {
            int64_t m = n - at < 64 ? n - at : 64;
            ef_widen(t, a, (ef_f16 *)y + at, m);
            ef_widen(t, b, (const ef_f16 *)x + at, m);
            for (int64_t j = 0; j < m; j++) a[j] += b[j] * (float)scale;
            ef_narrow(t, (ef_f16 *)y + at, a, m);
        }
    }
}

static const void *row_at(const ef_tensor *t, int64_t row, int64_t width) {
    return (const char *)t->data + (size_t)(row * width) * ef_dtype_size((ef_dtype)t->dtype);
}

static size_t scale_bytes(const ef_call *c) {
    return c->in[0]->rank > 0 ? (size_t)c->in[0]->dim[0] * sizeof(double) : 0;
}

static ef_status *dense(const ef_call *c, scaling by) {
    const ef_tensor *dy = c->in[0], *indices = c->in[1], *ids = c->in[2], *y = c->out[0];
    int64_t width = width_of(dy);
    double *scale = c->scratch;
    EF_TRY(scales(c, by, scale));
    EF_TRY(check_indices(c->op, indices, y->dim[0]));
    EF_TRY(ef_zero_elements((ef_dtype)y->dtype, y->data, ef_count(y)));
    for (int64_t k = 0; k < ids->dim[0]; k++) {
        int64_t to = ef_id_at((ef_dtype)indices->dtype, indices->data, k);
        int64_t id = ef_id_at((ef_dtype)ids->dtype, ids->data, k);
        add_row((ef_dtype)y->dtype, (void *)(uintptr_t)row_at(y, to, width), row_at(dy, id, width),
                scale[id], width);
    }
    return NULL;
}

static ef_status *slices_shape(ef_infer *i) {
    EF_TRY(grad_inputs(i));
    i->out[1].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    if (i->in[0].shape.rank < 0) return NULL;
    i->out[0].shape = i->in[0].shape;
    i->out[0].shape.dim[0] = EF_DIM_UNKNOWN;
    return NULL;
}

static int by_number(const void *a, const void *b) {
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Finds the distinct indices in order, then works as in the dense case; rows are found by binary
 * search. */
static ef_status *slices_into(const ef_call *c, scaling by, double *scale, int64_t *unique) {
    const ef_tensor *dy = c->in[0], *indices = c->in[1], *ids = c->in[2];
    int64_t n = ids->dim[0], width = width_of(dy), m = 0;
    EF_TRY(scales(c, by, scale));
    EF_TRY(check_indices(c->op, indices, ef_in_int(c, 3, 0)));
    for (int64_t k = 0; k < n; k++)
        unique[k] = ef_id_at((ef_dtype)indices->dtype, indices->data, k);
    if (n > 0) qsort(unique, (size_t)n, sizeof *unique, by_number);
    for (int64_t k = 0; k < n; k++)
        if (m == 0 || unique[m - 1] != unique[k]) unique[m++] = unique[k];
    ef_shape rows = ef_shape_from(dy), flat = {.rank = 1, .dim = {m}};
    rows.dim[0] = m;
    EF_TRY(ef_out_alloc(c, 0, &rows));
    EF_TRY(ef_out_alloc(c, 1, &flat));
    ef_dtype t = (ef_dtype)dy->dtype;
    EF_TRY(ef_zero_elements(t, c->out[0]->data, ef_count(c->out[0])));
    for (int64_t k = 0; k < m; k++) {
        if (indices->dtype == EF_I32)
            ((int32_t *)c->out[1]->data)[k] = (int32_t)unique[k];
        else
            ((int64_t *)c->out[1]->data)[k] = unique[k];
    }
    for (int64_t k = 0; k < n; k++) {
        int64_t key = ef_id_at((ef_dtype)indices->dtype, indices->data, k);
        int64_t id = ef_id_at((ef_dtype)ids->dtype, ids->data, k);
        const int64_t *at = bsearch(&key, unique, (size_t)m, sizeof *unique, by_number);
        add_row(t, (void *)(uintptr_t)row_at(c->out[0], at - unique, width), row_at(dy, id, width),
                scale[id], width);
    }
    return NULL;
}

static size_t slices_bytes(const ef_call *c) {
    return scale_bytes(c) + (size_t)c->in[2]->dim[0] * sizeof(int64_t);
}

static ef_status *slices(const ef_call *c, scaling by) {
    double *scale = c->scratch;
    return slices_into(c, by, scale, (int64_t *)(scale + c->in[0]->dim[0]));
}

#define GRADIENT(NAME, BY)                                                                         \
    static ef_status *run_##NAME##Grad(const ef_call *c) { return dense(c, BY); }                  \
    const ef_op ef_op_##NAME##Grad = {                                                             \
        EF_NAMED(NAME##Grad),                                                                      \
        .doc = "The gradient of " #NAME " with respect to its data, dense.",                       \
        .in = {"grad: T", "indices: Tidx", "segment_ids: Tsegmentids", "output_dim0: int32"},      \
        .out = {"output: T"},                                                                      \
        .types = FLOATS TIDX TSEG,                                                                 \
        .traits = EF_GRAD_UNDEFINED,                                                               \
        .shape = dense_shape,                                                                      \
        .kernel = {{EF_CPU, EF_FLOATS, run_##NAME##Grad, scale_bytes, NULL, NULL, NULL}},          \
        .examples = {"T[2,3] int32[3]{3,0,3} int32[3]{0,0,1} int32[]{4}",                          \
                     "T[3] int64[2]{1,0} int32[2]{0,2} int32[]{2}"},                               \
    };                                                                                             \
    static ef_status *run_##NAME##GradV2(const ef_call *c) { return slices(c, BY); }               \
    const ef_op ef_op_##NAME##GradV2 = {                                                           \
        EF_NAMED(NAME##GradV2),                                                                    \
        .doc =                                                                                     \
            "The gradient of " #NAME " with respect to its data: the rows that are not zero, and " \
            "their sorted indices.",                                                               \
        .in = {"grad: T", "indices: Tidx", "segment_ids: Tsegmentids",                             \
               "dense_output_dim0: int32"},                                                        \
        .out = {"output: T", "sorted_unique_indices: Tidx"},                                       \
        .types = FLOATS TIDX TSEG,                                                                 \
        .traits = EF_DYNAMIC | EF_GRAD_UNDEFINED,                                                  \
        .shape = slices_shape,                                                                     \
        .kernel = {{EF_CPU, EF_FLOATS, run_##NAME##GradV2, slices_bytes, NULL, NULL, NULL}},       \
        .examples = {"T[2,3] int32[3]{3,0,3} int32[3]{0,0,1} int32[]{4}",                          \
                     "T[3] int64[2]{1,0} int32[2]{0,2} int32[]{2}"},                               \
    };
GRADIENT(SparseSegmentSum, BY_ONE)
GRADIENT(SparseSegmentMean, BY_COUNT)
GRADIENT(SparseSegmentSqrtN, BY_ROOT)
