/* Reductions over axes given as a tensor: Sum, Mean, Prod, Max, Min, All, Any, EuclideanNorm; and
 * L2Loss. The arithmetic is in kernels/reduce.c. */
#include "ops/math/reduce.h"
#include "kernels/reduce.h"
#include "ops/array/array.h"
#include "ops/shapes.h"

static ef_status *add_axis(const ef_op *op, int64_t axis, int rank, uint32_t *mask) {
    if (axis < -rank || axis >= rank)
        return ef_error(
            EF_INVALID,
            "%s: Invalid reduction dimension %lld for input with %d dimension(s); it must "
            "be in [%d, %d)",
            op->name, (long long)axis, rank, -rank, rank);
    uint32_t bit = 1u << (axis < 0 ? axis + rank : axis);
    if (*mask & bit)
        return ef_error(EF_INVALID,
                        "%s: Invalid reduction arguments: Axes contains duplicate dimension: %lld; "
                        "give each axis once",
                        op->name, (long long)(axis < 0 ? axis + rank : axis));
    *mask |= bit;
    return NULL;
}

ef_status *ef_reduce_mask(const ef_op *op, const ef_tensor *axes, int rank, uint32_t *mask) {
    int64_t n = ef_count(axes);
    *mask = 0;
    for (int64_t k = 0; k < n; k++)
        EF_TRY(add_axis(op, ef_element_int(axes->dtype, axes->data, k), rank, mask));
    return NULL;
}

ef_status *ef_reduce_shape(ef_infer *i) {
    const ef_reduce_attrs *t = i->attrs;
    const ef_shape *x = &i->in[0].shape, *axes = &i->in[1].shape;
    ef_shape *y = &i->out[0].shape;
    if (x->rank < 0) return NULL;
    if (i->in[1].value == NULL) {
        int64_t n = ef_shape_count(axes);
        if (!t->keep_dims && (n < 0 || n > x->rank)) return NULL;
        y->rank = t->keep_dims ? x->rank : x->rank - (int)n;
        for (int d = 0; d < y->rank; d++) y->dim[d] = n == 0 ? x->dim[d] : EF_DIM_UNKNOWN;
        return NULL;
    }
    uint32_t mask;
    EF_TRY(ef_reduce_mask(i->op, i->in[1].value, x->rank, &mask));
    y->rank = 0;
    for (int d = 0; d < x->rank; d++) {
        bool gone = (mask >> d) & 1u;
        if (!gone || t->keep_dims) y->dim[y->rank++] = gone ? 1 : x->dim[d];
    }
    return NULL;
}

static ef_status *reduce(const ef_call *c, ef_reduce_kind kind) {
    const ef_tensor *x = c->in[0];
    uint32_t mask;
    EF_TRY(ef_reduce_mask(c->op, c->in[1], x->rank, &mask));
    ef_reduce(kind, x->dtype, x->rank, x->dim, mask, x->data, c->out[0]->data);
    return NULL;
}

/* ---- gradients --------------------------------------------------------------------------------
 */

bool ef_reduce_known_mask(const ef_grad *g, uint32_t *mask) {
    int rank = g->in[0]->fact.shape.rank;
    const ef_tensor *axes = g->in[1]->fact.value;
    if (rank < 0 || axes == NULL) return false;
    ef_status *s = ef_reduce_mask(g->op, axes, rank, mask);
    ef_status_free(s); /* cannot fail: the forward op has accepted them */
    return s == NULL;
}

ef_value *ef_reduce_keep(ef_grad *g, ef_value *y) {
    const ef_reduce_attrs *t = g->attrs;
    const ef_shape *x = &g->in[0]->fact.shape;
    uint32_t mask;
    if (t->keep_dims) return y;
    if (!ef_reduce_known_mask(g, &mask)) {
        ef_value *shape = ef_shape_value(g->b, g->in[0], EF_I32);
        return ef_reshape(g->b, y, ef_emit(g->b, "_KeptShape", 2, shape, g->in[1]));
    }
    int64_t kept[EF_MAX_RANK];
    int unknown = 0;
    for (int d = 0; d < x->rank; d++) {
        kept[d] = (mask >> d) & 1u ? 1 : x->dim[d];
        if (kept[d] < 0) unknown++, kept[d] = -1;
    }
    if (unknown <= 1) return ef_reshape(g->b, y, ef_const_ints(g->b, EF_I64, x->rank, kept));
    for (int d = 0; d < x->rank; d++)
        if ((mask >> d) & 1u)
            y = ef_emit(g->b, "ExpandDims", 2, y, ef_const_number(g->b, EF_I32, d));
    return y;
}

static ef_status *sum_grad(ef_grad *g) {
    g->din[0] = ef_broadcast_to_like(g->b, ef_reduce_keep(g, g->dout[0]), g->in[0]);
    return NULL;
}

/* The number of elements that make one output element, as dtype t. */
static ef_value *elements(ef_grad *g, ef_dtype t) {
    const ef_shape *x = &g->in[0]->fact.shape;
    uint32_t mask;
    double n = 1;
    bool known = ef_reduce_known_mask(g, &mask);
    for (int d = 0; known && d < x->rank; d++) {
        if (!((mask >> d) & 1u)) continue;
        known = x->dim[d] >= 0;
        n *= (double)x->dim[d];
    }
    if (known) return ef_const_number(g->b, t, n);
    ef_value *zero = ef_const_number(g->b, EF_I32, 0), *one = ef_const_number(g->b, EF_I64, 1);
    ef_value *all = ef_emit(g->b, "Prod", 2, ef_shape_value(g->b, g->in[0], EF_I64), zero);
    ef_value *out = ef_emit(g->b, "Prod", 2, ef_shape_value(g->b, g->out[0], EF_I64), zero);
    ef_value *each = ef_emit(g->b, "FloorDiv", 2, all, ef_emit(g->b, "Maximum", 2, out, one));
    return ef_cast(g->b, each, t);
}

static ef_status *mean_grad(ef_grad *g) { /* divided before it is broadcast, while it is small */
    ef_value *dy = ef_div(g->b, g->dout[0], elements(g, g->dout[0]->fact.dtype));
    g->din[0] = ef_broadcast_to_like(g->b, ef_reduce_keep(g, dy), g->in[0]);
    return NULL;
}

/* Equal elements share the gradient evenly. */
static ef_status *extreme_grad(ef_grad *g) {
    ef_value *x = g->in[0], *y = ef_reduce_keep(g, g->out[0]), *dy = ef_reduce_keep(g, g->dout[0]);
    ef_value *hit = ef_cast(g->b, ef_emit(g->b, "Equal", 2, y, x), dy->fact.dtype);
    ef_value *hits = ef_sum_axes(g->b, hit, g->in[1], true);
    g->din[0] = ef_mul(g->b, ef_div(g->b, hit, hits), dy);
    return NULL;
}

/* The permutation and shapes that bring the reduced axes to the front and flatten x to [reduced,
 * others], and those that undo it. */
typedef struct fronting {
    ef_value *perm, *back, *flat;
} fronting;

static fronting front_known(ef_grad *g, uint32_t mask) {
    const ef_shape *x = &g->in[0]->fact.shape;
    int n = 0;
    int64_t perm[EF_MAX_RANK], back[EF_MAX_RANK], flat[2] = {1, 1};
    for (int want = 1; want >= 0; want--)
        for (int d = 0; d < x->rank; d++)
            if ((int)((mask >> d) & 1u) == want) perm[n++] = d;
    for (int k = 0; k < x->rank; k++) back[perm[k]] = k;
    for (int d = 0; d < x->rank; d++) {
        int64_t *side = &flat[!((mask >> d) & 1u)];
        *side = *side < 0 || x->dim[d] < 0 ? -1 : *side * x->dim[d];
    }
    ef_value *sizes = NULL;
    if (flat[0] >= 0 && flat[1] >= 0) sizes = ef_const_ints(g->b, EF_I64, 2, flat);
    return (fronting){ef_const_ints(g->b, EF_I32, x->rank, perm),
                      ef_const_ints(g->b, EF_I32, x->rank, back), sizes};
}

static fronting front_unknown(ef_grad *g) {
    ef_value *shape = ef_shape_value(g->b, g->in[0], EF_I32);
    ef_value *perm = ef_emit(g->b, "_ReducedFirst", 2, shape, g->in[1]);
    return (fronting){perm, ef_emit(g->b, "InvertPermutation", 1, perm), NULL};
}

/* The product of all other elements, without division: cumulative products from both ends. */
static ef_status *prod_grad(ef_grad *g) {
    ef_build *b = g->b;
    uint32_t mask;
    fronting f = ef_reduce_known_mask(g, &mask) ? front_known(g, mask) : front_unknown(g);
    if (f.flat == NULL) {
        const int64_t one[] = {1};
        ef_value *vector = ef_const_ints(b, EF_I32, 1, one);
        ef_value *deep = ef_reshape(b, elements(g, EF_I64), vector);
        ef_value *wide = ef_shape_product(b, ef_shape_value(b, g->out[0], EF_I64));
        f.flat = ef_shape_join(b, 2, deep, wide);
    }
    ef_value *front = ef_emit(b, "Transpose", 2, g->in[0], f.perm);
    ef_value *rows = ef_reshape(b, front, f.flat), *axis = ef_const_number(b, EF_I32, 0);
    const ef_attr_value down[] = {EF_SET_BOOL("exclusive", true), EF_SET_BOOL("reverse", false)};
    const ef_attr_value up[] = {EF_SET_BOOL("exclusive", true), EF_SET_BOOL("reverse", true)};
    ef_value *left = ef_conj(b, ef_emit_set(b, "Cumprod", down, 2, 2, rows, axis));
    ef_value *right = ef_conj(b, ef_emit_set(b, "Cumprod", up, 2, 2, rows, axis));
    ef_value *rest = ef_reshape_like(b, ef_mul(b, left, right), front);
    g->din[0] = ef_mul(b, ef_reduce_keep(g, g->dout[0]), ef_emit(b, "Transpose", 2, rest, f.back));
    return NULL;
}

static ef_status *norm_grad(ef_grad *g) {
    ef_value *y = ef_reduce_keep(g, g->out[0]), *dy = ef_reduce_keep(g, g->dout[0]);
    ef_dtype t = dy->fact.dtype;
    if (ef_dtype_in(t, EF_COMPLEX)) { /* a norm is real even if its dtype is complex */
        const ef_attr_value real[] = {EF_SET_TYPE("Tout", t == EF_C64 ? EF_F32 : EF_F64)};
        dy = ef_cast(g->b, ef_emit_set(g->b, "Real", real, 1, 1, dy), t);
    }
    g->din[0] = ef_div(g->b, g->in[0], ef_div(g->b, y, dy));
    return NULL;
}

/* ---- records ----------------------------------------------------------------------------------
 */

#define REALS \
    "float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64"
#define TIDX "Tidx: {int32, int64} = int32"
#define ALL_TYPES "T: {" REALS ", complex64, complex128}; " TIDX
#define REAL_TYPES "T: {" REALS "}; " TIDX

/* Eagerly, axes may have any shape. */
static ef_status *axes_graph(ef_infer *i) { return ef_need_rank_at_most(i, 1, 1); }

#define REDUCTION(N, KIND, DOC, IN, OUT, TYPES, TRAITS, KEEPS, GRAD)                      \
    static ef_status *run_##N(const ef_call *c) { return reduce(c, EF_REDUCE_##KIND); }   \
    const ef_op ef_op_##N = {                                                             \
        EF_NAMED(N),                                                                      \
        .doc = DOC,                                                                       \
        .in = {"input: " IN, "reduction_indices: Tidx"},                                  \
        .out = {"output: " OUT},                                                          \
        .types = TYPES,                                                                   \
        .declared = EF_QUANTIZED,                                                         \
        .attr = {EF_ATTR(ef_reduce_attrs, keep_dims, "bool", "false")},                   \
        .attr_size = sizeof(ef_reduce_attrs),                                             \
        .traits = (TRAITS),                                                               \
        .keeps = (KEEPS),                                                                 \
        .reduction = EF_REDUCE_##KIND,                                                    \
        .host_in = 2,                                                                     \
        .shape = ef_reduce_shape,                                                         \
        .graph_check = axes_graph,                                                        \
        .kernel = {{EF_CPU | EF_TEST, EF_ANY, run_##N, NULL, NULL, NULL, NULL}},          \
        .grad = GRAD,                                                                     \
        .examples = {IN "[2,3,4] int32[]{1}", IN "[2,3,4] int32[2]{0,-1} keep_dims=true", \
                     IN "[2,3,4] int64[2]{0,1}", IN "[3,2] int32[0]{}",                   \
                     IN "[2,1,3,2] int32[3]{3,1,0}", IN "[70,5] int32[1]{0}"},            \
    };

REDUCTION(Sum, SUM, "Adds up the elements along the given axes.", "T", "T", ALL_TYPES, EF_REDUCES,
          EF_KEEP_IN(1), sum_grad)
REDUCTION(Mean, MEAN,
          "Averages the elements along the given axes; integer quotients are truncated.", "T", "T",
          ALL_TYPES, EF_REDUCES, EF_KEEP_IN(1), mean_grad)
REDUCTION(Prod, PROD, "Multiplies the elements along the given axes.", "T", "T", ALL_TYPES,
          EF_REDUCES, EF_KEEP_IN(0) | EF_KEEP_IN(1), prod_grad)
REDUCTION(Max, MAX, "The largest element along the given axes; NaN if any element is NaN.", "T",
          "T", REAL_TYPES, EF_REDUCES, EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_OUT(0), extreme_grad)
REDUCTION(Min, MIN, "The smallest element along the given axes; NaN if any element is NaN.", "T",
          "T", REAL_TYPES, EF_REDUCES, EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_OUT(0), extreme_grad)
REDUCTION(All, ALL, "Whether all elements along the given axes are true.", "bool", "bool", TIDX,
          EF_REDUCES | EF_NO_GRAD, EF_KEEP_NONE, NULL)
REDUCTION(Any, ANY, "Whether any element along the given axes is true.", "bool", "bool", TIDX,
          EF_REDUCES | EF_NO_GRAD, EF_KEEP_NONE, NULL)
REDUCTION(EuclideanNorm, NORM,
          "The square root of the sum of squared magnitudes along the given axes.", "T", "T",
          ALL_TYPES, EF_REDUCES, EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_OUT(0), norm_grad)

/* ---- L2Loss -----------------------------------------------------------------------------------
 */

static ef_status *run_l2(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_reduce(EF_REDUCE_L2_LOSS, x->dtype, x->rank, x->dim, (1u << x->rank) - 1, x->data,
              c->out[0]->data);
    return NULL;
}

static ef_status *l2_grad(ef_grad *g) {
    g->din[0] = ef_mul(g->b, g->in[0], g->dout[0]);
    return NULL;
}

const ef_op ef_op_L2Loss = {
    EF_NAMED(L2Loss),
    .doc = "Half the sum of the squares of all elements.",
    .in = {"t: T"},
    .out = {"output: T"},
    .types = "T: {half, bfloat16, float, double}",
    .traits = EF_REDUCES,
    .keeps = EF_KEEP_IN(0),
    .reduction = EF_REDUCE_L2_LOSS,
    .shape = ef_shape_scalar,
    .kernel = {{EF_CPU, EF_FLOATS, run_l2, NULL, NULL, NULL, NULL}},
    .grad = l2_grad,
    .examples = {"T[2,3]", "T[]", "T[0]", "float[70,5]"},
};

/* ---- for gradients of axes known only at run time -------------------------------------------- */

static ef_status *vector_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 1));
    i->out[0].shape = i->in[0].shape;
    return NULL;
}

static ef_status *mask_of(const ef_call *c, uint32_t *mask) {
    int64_t rank = c->in[0]->dim[0];
    EF_TRY(ef_need_rank_held(c->op, rank));
    return ef_reduce_mask(c->op, c->in[1], (int)rank, mask);
}

static ef_status *run_kept(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    uint32_t mask;
    EF_TRY(mask_of(c, &mask));
    for (int64_t d = 0; d < x->dim[0]; d++) {
        bool one = (mask >> d) & 1u;
        ((int32_t *)c->out[0]->data)[d] = one ? 1 : ((const int32_t *)x->data)[d];
    }
    return NULL;
}

static ef_status *run_first(const ef_call *c) {
    uint32_t mask;
    int n = 0;
    EF_TRY(mask_of(c, &mask));
    for (uint32_t want = 2; want-- > 0;)
        for (int d = 0; d < c->in[0]->dim[0]; d++)
            if (((mask >> d) & 1u) == want) ((int32_t *)c->out[0]->data)[n++] = d;
    return NULL;
}

#define SHAPE_OP(N, OUT, DOC, RUN)                                                  \
    const ef_op ef_op_##N = {                                                       \
        EF_NAMED(N),                                                                \
        .doc = DOC,                                                                 \
        .in = {"shape: int32", "reduction_indices: Tidx"},                          \
        .out = {OUT ": int32"},                                                     \
        .types = TIDX,                                                              \
        .traits = EF_NO_GRAD,                                                       \
        .shape = vector_shape,                                                      \
        .kernel = {{EF_CPU, EF_ANY, RUN, NULL, NULL, NULL, NULL}},                  \
        .examples = {"int32[3]{2,3,4} int32[2]{0,-1}", "int32[2]{5,6} int64[]{1}"}, \
    };
SHAPE_OP(_KeptShape, "output",
         "A shape with the given axes set to 1: what a reduction that keeps its axes returns.",
         run_kept)
SHAPE_OP(_ReducedFirst, "perm", "The axes of a shape in an order that puts the given ones first.",
         run_first)
