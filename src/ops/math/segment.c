/* Segment ops: rows of `data` that share an id become one row of the output. Sorted ids make runs;
 * the unsorted ops take ids in any order and ignore rows with negative ids. */
#include "kernels/segment.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/engine_nodes.h"
#include "ops/shapes.h"
#include <float.h>

/* ---- sorted -----------------------------------------------------------------------------------
 */

static ef_status *sorted_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape, *ids = &i->in[1].shape;
    const ef_tensor *value = i->in[1].value;
    int64_t rows;
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 1));
    if (x->rank > 0 && ids->rank == 1)
        EF_TRY(ef_need_same_dim(i, x->dim[0], ids->dim[0],
                                "segment_ids should be the same size as dimension 0 of input",
                                &rows));
    if (x->rank < 0) return NULL;
    i->out[0].shape = *x;
    i->out[0].shape.dim[0] = EF_DIM_UNKNOWN;
    if (value == NULL || value->data == NULL) return NULL;
    int64_t n = ef_count(value),
            last = n > 0 ? ef_element_int(value->dtype, value->data, n - 1) : -1;
    if (last < -1 || last == INT64_MAX)
        return ef_error(EF_INVALID, "%s: the last segment id is %lld; ids must not be negative",
                        i->op->name, (long long)last);
    i->out[0].shape.dim[0] = last + 1;
    return ef_need_size_held(i->op, &i->out[0].shape);
}

static ef_status *check_sorted(const ef_op *op, const ef_tensor *ids, int64_t segments) {
    int64_t n = ef_count(ids), before = 0;
    for (int64_t k = 0; k < n; k++) {
        int64_t id = ef_id_at((ef_dtype)ids->dtype, ids->data, k);
        if (id < 0 || id >= segments)
            return ef_error(
                EF_INVALID,
                "%s: Segment id %lld out of range [0, %lld), possibly because 'segment_ids' "
                "input is not sorted.",
                op->name, (long long)id, (long long)segments);
        if (id < before)
            return ef_error(
                EF_INVALID,
                "%s: segment ids are not increasing: %lld follows %lld; sort the rows, or use "
                "the unsorted op",
                op->name, (long long)id, (long long)before);
        before = id;
    }
    return NULL;
}

static int64_t width_of(const ef_tensor *x, int from) {
    ef_shape s = ef_shape_from(x);
    return ef_shape_span(&s, from, x->rank);
}

static ef_status *sorted(const ef_call *c, ef_reduce_kind kind) {
    const ef_tensor *x = c->in[0], *ids = c->in[1], *y = c->out[0];
    EF_TRY(check_sorted(c->op, ids, y->dim[0]));
    ef_segments s = {.kind = kind,
                     .dtype = (ef_dtype)x->dtype,
                     .id_type = (ef_dtype)ids->dtype,
                     .rows = x->dim[0],
                     .width = width_of(x, 1),
                     .segments = y->dim[0],
                     .data = x->data,
                     .ids = ids->data,
                     .out = y->data,
                     .gap = kind == EF_REDUCE_PROD};
    ef_segments_run(&s);
    return NULL;
}

static ef_value *rows_of(ef_build *b, ef_value *x, ef_value *ids) {
    return ef_emit(b, "GatherV2", 3, x, ids, ef_const_number(b, EF_I32, 0));
}

static ef_status *sum_grad(ef_grad *g) {
    g->din[0] = rows_of(g->b, g->dout[0], g->in[1]);
    return NULL;
}

/* v with axes of size 1 appended until its rank is that of x, so that it broadcasts. */
static ef_value *with_axes(ef_build *b, ef_value *v, ef_value *x) {
    if (v == NULL) return NULL;
    int have = v->fact.shape.rank, want = x->fact.shape.rank;
    for (; have >= 0 && have < want; have++)
        v = ef_emit(b, "ExpandDims", 2, v, ef_const_number(b, EF_I32, -1));
    if (have >= 0 && want >= 0) return v;
    ef_value *more = ef_sub(b, ef_emit(b, "Rank", 1, x), ef_emit(b, "Rank", 1, v));
    ef_value *ones =
        ef_emit(b, "Fill", 2, ef_emit(b, "ExpandDims", 2, more, ef_const_number(b, EF_I32, 0)),
                ef_const_number(b, EF_I32, 1));
    return ef_reshape(b, v, ef_shape_join(b, 2, ef_emit(b, "Shape", 1, v), ones));
}

static ef_status *mean_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *ones = ef_cast(b, ef_ones_like(b, g->in[1]), g->dout[0]->fact.dtype);
    ones = with_axes(b, ones, g->in[0]);
    ef_value *counts = ef_emit(b, "SegmentSum", 2, ones, g->in[1]);
    g->din[0] = rows_of(b, ef_div(b, g->dout[0], counts), g->in[1]);
    return NULL;
}

static ef_status *extreme_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *x = g->in[0], *ids = g->in[1];
    ef_value *hit = ef_emit(b, "Equal", 2, x, rows_of(b, g->out[0], ids));
    ef_value *hits = ef_emit(b, "SegmentSum", 2, ef_cast(b, hit, g->dout[0]->fact.dtype), ids);
    ef_value *each = rows_of(b, ef_div(b, g->dout[0], hits), ids);
    g->din[0] = ef_select(b, hit, each, ef_zeros_like(b, x));
    return NULL;
}

/* The product of the other elements of a segment is total / x, if no element is 0. In a segment
 * with one zero only that element gets a gradient; with more zeros none does. */
static ef_value *without_zeros(ef_build *b, ef_value *x, ef_value **is_zero) {
    *is_zero = ef_emit(b, "Equal", 2, x, ef_const_number(b, x->fact.dtype, 0));
    return ef_select(b, *is_zero, ef_ones_like(b, x), x);
}

static ef_value *zero_if_many(ef_build *b, ef_value *dy, ef_value *zeros) {
    ef_value *many = ef_emit(b, "Greater", 2, zeros, ef_const_number(b, EF_I32, 1));
    return ef_select(b, many, ef_zeros_like(b, dy), dy);
}

static ef_status *prod_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *x = g->in[0], *ids = g->in[1], *is_zero;
    ef_value *safe = without_zeros(b, x, &is_zero);
    ef_value *zeros = ef_emit(b, "SegmentSum", 2, ef_cast(b, is_zero, EF_I32), ids);
    ef_value *dy = zero_if_many(b, g->dout[0], zeros);
    ef_value *rest = rows_of(b, ef_emit(b, "SegmentProd", 2, safe, ids), ids);
    ef_value *others = ef_div(b, rows_of(b, g->out[0], ids), safe);
    g->din[0] = ef_mul(b, rows_of(b, dy, ids), ef_conj(b, ef_select(b, is_zero, rest, others)));
    return NULL;
}

#define REALS \
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"
#define NUMBERS REALS ", complex64, complex128}; "
#define IDS "Tindices: {int32, int64}"

#define SORTED(N, KIND, DOC, TYPES, KEEPS, GRAD)                                        \
    static ef_status *run_##N(const ef_call *c) { return sorted(c, EF_REDUCE_##KIND); } \
    const ef_op ef_op_##N = {                                                           \
        EF_NAMED(N),                                                                    \
        .doc = DOC,                                                                     \
        .in = {"data: T", "segment_ids: Tindices"},                                     \
        .out = {"output: T"},                                                           \
        .types = TYPES IDS,                                                             \
        .traits = EF_ROWS_AT_RUN,                                                       \
        .keeps = (KEEPS),                                                               \
        .shape = sorted_shape,                                                          \
        .kernel = {{EF_CPU, EF_NUMBERS, run_##N, NULL, NULL, NULL, NULL}},              \
        .grad = GRAD,                                                                   \
        .examples = {"T[4] int32[4]{0,0,1,2}", "T[5,2] int64[5]{0,0,0,2,2}",            \
                     "T[2,3,2] int32[2]{0,1}", "T[0,3] int32[0]"},                      \
    };
SORTED(SegmentSum, SUM,
       "Adds up the rows of each segment; ids are sorted. An id that does not occur gives 0.",
       NUMBERS, EF_KEEP_IN(1), sum_grad)
SORTED(SegmentMean, MEAN,
       "Averages the rows of each segment; ids are sorted. An id that does not occur gives 0.",
       NUMBERS, EF_KEEP_IN(1), mean_grad)
SORTED(SegmentProd, PROD,
       "Multiplies the rows of each segment; ids are sorted. An id that does not occur gives 1.",
       NUMBERS, EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_OUT(0), prod_grad)
SORTED(SegmentMax, MAX,
       "The largest elements of each segment; ids are sorted. An id that does not occur gives 0.",
       REALS "}; ", EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_OUT(0), extreme_grad)
SORTED(SegmentMin, MIN,
       "The smallest elements of each segment; ids are sorted. An id that does not occur gives 0.",
       REALS "}; ", EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_OUT(0), extreme_grad)

/* ---- unsorted ---------------------------------------------------------------------------------
 */

ef_status *ef_shape_unsorted_segments(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape, *ids = &i->in[1].shape;
    int64_t segments = EF_DIM_UNKNOWN;
    bool known;
    if (i->in[2].shape.rank > 0)
        return ef_error(EF_INVALID, "%s: num_segments should be a scalar, not shape %s",
                        i->op->name, EF_SHAPE(&i->in[2].shape));
    EF_TRY(ef_known_int(i, 2, &segments, &known));
    if (known && segments < 0)
        return ef_error(EF_INVALID, "%s: Input num_segments == %lld must not be negative.",
                        i->op->name, (long long)segments);
    if (!known) segments = EF_DIM_UNKNOWN;
    if (x->rank < 0 || ids->rank < 0) return NULL;
    bool starts = ids->rank <= x->rank;
    for (int d = 0; starts && d < ids->rank; d++) starts = ef_dim_may_equal(x->dim[d], ids->dim[d]);
    if (!starts)
        return ef_error(EF_INVALID,
                        "%s: data.shape = %s does not start with segment_ids.shape = %s",
                        i->op->name, EF_SHAPE(x), EF_SHAPE(ids));
    if (x->rank - ids->rank + 1 > EF_MAX_RANK)
        return ef_need_rank_held(i->op, x->rank - ids->rank + 1);
    ef_shape *y = &i->out[0].shape;
    y->rank = 1;
    y->dim[0] = segments;
    for (int d = ids->rank; d < x->rank; d++) y->dim[y->rank++] = x->dim[d];
    return ef_need_size_held(i->op, y);
}

static void set_lowest(ef_dtype t, void *p, bool highest) {
    switch (t) {
    case EF_F32: *(float *)p = highest ? FLT_MAX : -FLT_MAX; break;
    case EF_F64: *(double *)p = highest ? DBL_MAX : -DBL_MAX; break;
    case EF_F16: *(ef_f16 *)p = (ef_f16){highest ? 0x7BFF : 0xFBFF}; break;
    case EF_BF16: *(ef_bf16 *)p = (ef_bf16){highest ? 0x7F7F : 0xFF7F}; break;
    default: { /* integers: the identity of the reduction */
        const ef_reducer *r = ef_reducer_find(highest ? EF_REDUCE_MIN : EF_REDUCE_MAX, t);
        char acc[EF_REDUCE_ACC];
        r->begin(acc, 1);
        r->end(p, acc, 1, 0);
    }
    }
}

static ef_status *unsorted(const ef_call *c, ef_combine op) {
    const ef_tensor *x = c->in[0], *ids = c->in[1];
    ef_tensor *y = c->out[0];
    ef_dtype t = (ef_dtype)x->dtype;
    int64_t n = ef_count(ids), segments = y->dim[0];
    for (int64_t k = 0; k < n && ef_count(x) > 0; k++) { /* ids are not checked if data is empty */
        int64_t id = ef_id_at((ef_dtype)ids->dtype, ids->data, k);
        if (id >= segments)
            return ef_error(EF_INVALID, "%s: segment_ids[%lld] = %lld is out of range [0, %lld)",
                            c->op->name, (long long)k, (long long)id, (long long)segments);
    }
    if (op == EF_COMBINE_ADD) {
        EF_TRY(ef_zero_elements(t, y->data, ef_count(y)));
    } else {
        _Alignas(16) char start[16];
        if (op == EF_COMBINE_MUL)
            ef_element_set(t, start, 0, 1);
        else
            set_lowest(t, start, op == EF_COMBINE_MIN);
        EF_TRY(ef_fill_elements(t, y->data, start, ef_count(y)));
    }
    ef_scatter_rows s = {
        op, t, (ef_dtype)ids->dtype, n, width_of(x, ids->rank), x->data, ids->data, y->data};
    ef_scatter_rows_run(&s);
    return NULL;
}

/* Selects rows by id and gives zeros where the id is negative. */
typedef struct drop {
    ef_value *at, *there; /* at: ids with negative ones replaced by 0; there: whether each is
                           * non-negative, ready to broadcast */
} drop;

static drop dropping(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *ids = g->in[1], *zero = ef_const_number(b, ids->fact.dtype, 0);
    drop d = {ef_emit(b, "Maximum", 2, ids, zero), ef_emit(b, "GreaterEqual", 2, ids, zero)};
    d.there = with_axes(b, d.there, g->in[0]);
    return d;
}

static ef_value *kept_rows(ef_grad *g, const drop *d, ef_value *x) {
    ef_value *rows = rows_of(g->b, x, d->at);
    return ef_select(g->b, d->there, rows, ef_zeros_like(g->b, rows));
}

static ef_status *unsorted_sum_grad(ef_grad *g) {
    drop d = dropping(g);
    g->din[0] = kept_rows(g, &d, g->dout[0]);
    return NULL;
}

static ef_status *unsorted_extreme_grad(ef_grad *g) {
    ef_build *b = g->b;
    drop d = dropping(g);
    ef_value *hit = ef_emit(b, "Equal", 2, g->in[0], kept_rows(g, &d, g->out[0]));
    hit = ef_emit(b, "LogicalAnd", 2, hit, d.there);
    ef_value *hits = ef_emit(b, "UnsortedSegmentSum", 3, ef_cast(b, hit, g->dout[0]->fact.dtype),
                             g->in[1], g->in[2]);
    ef_value *each = kept_rows(g, &d, ef_div(b, g->dout[0], hits));
    g->din[0] = ef_select(b, hit, each, ef_zeros_like(b, each));
    return NULL;
}

static ef_status *unsorted_prod_grad(ef_grad *g) {
    ef_build *b = g->b;
    drop d = dropping(g);
    ef_value *x = g->in[0], *is_zero, *safe = without_zeros(b, x, &is_zero);
    ef_value *zeros =
        ef_emit(b, "UnsortedSegmentSum", 3, ef_cast(b, is_zero, EF_I32), g->in[1], g->in[2]);
    ef_value *dy = zero_if_many(b, g->dout[0], zeros);
    ef_value *rest =
        rows_of(b, ef_emit(b, "UnsortedSegmentProd", 3, safe, g->in[1], g->in[2]), d.at);
    /* May be NaN where it is not selected. */
    ef_value *others = ef_div(b, rows_of(b, g->out[0], d.at), x);
    g->din[0] = ef_mul(b, kept_rows(g, &d, dy), ef_conj(b, ef_select(b, is_zero, rest, others)));
    return NULL;
}

#define UNSORTED(N, OP, DOC, TYPES, TINDICES, KEEPS, GRAD)                                      \
    static ef_status *run_##N(const ef_call *c) { return unsorted(c, EF_COMBINE_##OP); }        \
    const ef_op ef_op_##N = {                                                                   \
        EF_NAMED(N),                                                                            \
        .doc = DOC " Ids come in any order; rows with negative ids are ignored.",               \
        .in = {"data: T", "segment_ids: Tindices", "num_segments: Tnumsegments"},               \
        .out = {"output: T"},                                                                   \
        .types = TYPES TINDICES "; Tnumsegments: {int32, int64} = int32",                       \
        .keeps = (KEEPS),                                                                       \
        .shape = ef_shape_unsorted_segments,                                                    \
        .kernel = {{EF_CPU, EF_NUMBERS, run_##N, NULL, NULL, NULL, NULL}},                      \
        .grad = GRAD,                                                                           \
        .examples = {"T[4] int32[4]{1,0,1,-1} int32[]{2}", "T[3,2] int64[3]{1,1,0} int32[]{2}", \
                     "T[2,2,3] int32[2,2]{0,1,1,2} int64[]{3}",                                 \
                     "T[2,0] int32[2]{0,0} int32[]{1}"},                                        \
    };
UNSORTED(UnsortedSegmentSum, ADD, "Adds up the rows of each segment; a segment without rows is 0.",
         NUMBERS, "Tindices: {int16, int32, int64}", EF_KEEP_IN(1), unsorted_sum_grad)
UNSORTED(UnsortedSegmentProd, MUL,
         "Multiplies the rows of each segment; a segment without rows is 1.", NUMBERS, IDS,
         EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_OUT(0), unsorted_prod_grad)
UNSORTED(UnsortedSegmentMax, MAX,
         "The largest elements of each segment; a segment without rows is the lowest number.",
         REALS "}; ", IDS, EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_OUT(0),
         unsorted_extreme_grad)
UNSORTED(UnsortedSegmentMin, MIN,
         "The smallest elements of each segment; a segment without rows is the highest number.",
         REALS "}; ", IDS, EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_OUT(0),
         unsorted_extreme_grad)

const ef_op *const ef_row_sum_op = &ef_op_UnsortedSegmentSum;
