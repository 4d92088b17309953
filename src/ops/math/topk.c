/* The largest elements of rows: TopK, TopKV2, NthElement, InTopK. Sorting is TopK with k = n. */
#include "kernels/sort.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/shapes.h"
#include <math.h>

/* ---- TopK -------------------------------------------------------------------------------------
 */

typedef struct {
    int64_t k;
    bool sorted; /* whether true or not, the largest come first */
} topk_attrs;
typedef struct {
    bool sorted;
    ef_dtype index_type;
} topk2_attrs;

static ef_status *top_shape(ef_infer *i, int64_t k, bool known) {
    const ef_shape *x = &i->in[0].shape;
    if (x->rank == 0)
        return ef_error(EF_INVALID, "%s: input must be >= 1-D, got a scalar", i->op->name);
    if (known && k < 0)
        return ef_error(EF_INVALID, "%s: Need k >= 0, got %lld", i->op->name, (long long)k);
    if (x->rank < 1) return NULL;
    int64_t n = x->dim[x->rank - 1];
    if (known && n >= 0 && k > n)
        return ef_error(EF_INVALID, "%s: input must have at least k columns. Had %lld, needed %lld",
                        i->op->name, (long long)n, (long long)k);
    i->out[0].shape = *x;
    i->out[0].shape.dim[x->rank - 1] = known ? k : EF_DIM_UNKNOWN;
    i->out[1].shape = i->out[0].shape;
    return NULL;
}

static ef_status *topk_shape(ef_infer *i) {
    return top_shape(i, ((const topk_attrs *)i->attrs)->k, true);
}

static ef_status *topk2_shape(ef_infer *i) {
    int64_t k = 0;
    bool known;
    if (i->in[1].shape.rank > 0)
        return ef_error(EF_INVALID, "%s: k must be scalar, got shape %s", i->op->name,
                        EF_SHAPE(&i->in[1].shape));
    EF_TRY(ef_known_int(i, 1, &k, &known));
    return top_shape(i, k, known);
}

static ef_status *topk_run(const ef_call *c) {
    const ef_tensor *x = c->in[0], *values = c->out[0];
    int64_t n = x->dim[x->rank - 1];
    ef_top_k t = {.dtype = (ef_dtype)x->dtype,
                  .index_type = (ef_dtype)c->out[1]->dtype,
                  .rows = n == 0 ? 0 : ef_count(x) / n,
                  .n = n,
                  .k = values->dim[values->rank - 1],
                  .in = x->data,
                  .values = values->data,
                  .indices = c->out[1]->data};
    return ef_top_k_run(&t);
}

/* The size of the last axis as a vector of one element. */
static ef_value *row_length(ef_build *b, ef_value *x) {
    int rank = x->fact.shape.rank;
    ef_value *shape = ef_shape_value(b, x, EF_I64);
    if (rank > 0) return ef_shape_part(b, shape, rank - 1, rank);
    const int64_t one[] = {1};
    ef_value *last = ef_sub(b, ef_emit(b, "Size", 1, shape), ef_const_number(b, EF_I32, 1));
    last = ef_reshape(b, last, ef_const_ints(b, EF_I32, 1, one));
    return ef_emit(b, "GatherV2", 3, shape, last, ef_const_number(b, EF_I32, 0));
}

/* Each value's gradient goes to the index the value came from; all other elements get zero. */
static ef_status *topk_grad(ef_grad *g) {
    ef_build *b = g->b;
    const int64_t any[] = {-1}, column[] = {-1, 1};
    if (g->dout[0] == NULL) return NULL;
    ef_value *shape = ef_shape_value(b, g->in[0], EF_I64);
    ef_value *flat = ef_const_ints(b, EF_I32, 1, any), *size = ef_shape_product(b, shape);
    ef_value *n = row_length(b, g->in[0]);
    ef_value *rows =
        ef_emit(b, "FloorDiv", 2, size, ef_emit(b, "Maximum", 2, n, ef_const_number(b, EF_I64, 1)));
    ef_value *at = ef_cast(b, g->out[1], EF_I64);
    ef_value *scalar = ef_const_ints(b, EF_I32, 0, NULL);
    ef_value *count = ef_reshape(b, rows, scalar);
    ef_value *first =
        ef_emit(b, "Range", 3, ef_const_number(b, EF_I64, 0), count, ef_const_number(b, EF_I64, 1));
    first = ef_reshape(b, ef_mul(b, first, n), ef_const_ints(b, EF_I32, 2, column));
    ef_value *k = row_length(b, g->out[1]);
    at = ef_add(b, ef_reshape(b, at, ef_shape_join(b, 2, rows, k)), first);
    at = ef_reshape(b, at, ef_const_ints(b, EF_I32, 2, column));
    ef_value *dx = ef_emit(b, "ScatterNd", 3, at, ef_reshape(b, g->dout[0], flat), size);
    g->din[0] = ef_reshape(b, dx, shape);
    return NULL;
}

#define REALS \
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"

const ef_op ef_op_TopK = {
    EF_NAMED(TopK),
    .doc = "The `k` largest elements along the last axis and their indices, largest first; the "
           "earlier of equal elements comes first.",
    .in = {"input: T"},
    .out = {"values: T", "indices: int32"},
    .types = REALS,
    .attr = {EF_ATTR(topk_attrs, k, "int >= 0", NULL), EF_ATTR(topk_attrs, sorted, "bool", "true")},
    .attr_size = sizeof(topk_attrs),
    .keeps = EF_KEEP_OUT(1),
    .shape = topk_shape,
    .kernel = {{EF_CPU, EF_REALS, topk_run, NULL, NULL, NULL, NULL}},
    .grad = topk_grad,
    .examples = {"T[2,5] k=2", "T[3] k=3", "T[0,3] k=1", "T[2,2,40] k=2"},
};

const ef_op ef_op_TopKV2 = {
    EF_NAMED(TopKV2),
    .doc = "The `k` largest elements along the last axis and their indices, largest first; the "
           "earlier of equal elements comes first.",
    .in = {"input: T", "k: Tk"},
    .out = {"values: T", "indices: index_type"},
    .types = REALS "; Tk: {int16, int32, int64} = int32",
    .attr = {EF_ATTR(topk2_attrs, sorted, "bool", "true"),
             EF_ATTR(topk2_attrs, index_type, "{int16, int32, int64}", "int32")},
    .attr_size = sizeof(topk2_attrs),
    .keeps = EF_KEEP_OUT(1),
    .sized = {EF_SIZED_LAST, 1},
    .shape = topk2_shape,
    .kernel = {{EF_CPU, EF_REALS, topk_run, NULL, NULL, NULL, NULL}},
    .grad = topk_grad,
    .examples = {"T[2,5] int32[]{2}", "T[3] int64[]{3} index_type=int64", "T[2,3] int32[]{0}",
                 "T[2,2,70] int32[]{60}", "T[3,40] int16[]{2} sorted=false"},
};

/* ---- NthElement -------------------------------------------------------------------------------
 */

typedef struct {
    bool reverse;
} nth_attrs;

static ef_status *check_nth(const ef_op *op, int64_t n, int64_t last) {
    if (n < 0)
        return ef_error(EF_INVALID, "%s: n must be non-negative but is %lld", op->name,
                        (long long)n);
    if (last >= 0 && n >= last)
        return ef_error(EF_INVALID, "%s: Input must have last dimension > n = %lld, but it is %lld",
                        op->name, (long long)n, (long long)last);
    return NULL;
}

static ef_status *nth_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    int64_t n;
    bool known;
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 0));
    EF_TRY(ef_known_int(i, 1, &n, &known));
    if (known) EF_TRY(check_nth(i->op, n, x->rank > 0 ? x->dim[x->rank - 1] : -1));
    if (x->rank < 0) return NULL;
    i->out[0].shape = *x;
    i->out[0].shape.rank--;
    return NULL;
}

static ef_status *nth_run(const ef_call *c) {
    const nth_attrs *t = c->attrs;
    const ef_tensor *x = c->in[0];
    int64_t n = ef_in_int(c, 1, 0), last = x->dim[x->rank - 1];
    EF_TRY(check_nth(c->op, n, last));
    return ef_nth_element((ef_dtype)x->dtype, x->data, c->out[0]->data, ef_count(c->out[0]), last,
                          n, t->reverse);
}

static ef_value *with_last(ef_build *b, ef_value *x) {
    return ef_emit(b, "ExpandDims", 2, x, ef_const_number(b, EF_I32, -1));
}

static ef_status *nth_grad(ef_grad *g) { /* equal elements share it evenly */
    ef_build *b = g->b;
    const int64_t last[] = {-1};
    ef_value *dy = with_last(b, g->dout[0]);
    ef_value *hit = ef_emit(b, "Equal", 2, with_last(b, g->out[0]), g->in[0]);
    hit = ef_cast(b, hit, dy->fact.dtype);
    g->din[0] = ef_mul(b, ef_div(b, hit, ef_sum(b, hit, 1, last, true)), dy);
    return NULL;
}

const ef_op ef_op_NthElement = {
    EF_NAMED(NthElement),
    .doc = "The element at index `n` of each row in sorted order; with `reverse`, in descending "
           "order.",
    .in = {"input: T", "n: int32"},
    .out = {"values: T"},
    .types = REALS,
    .attr = {EF_ATTR(nth_attrs, reverse, "bool", "false")},
    .attr_size = sizeof(nth_attrs),
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(0),
    .shape = nth_shape,
    .kernel = {{EF_CPU, EF_REALS, nth_run, NULL, NULL, NULL, NULL}},
    .grad = nth_grad,
    .examples = {"T[2,5] int32[]{1}", "T[4] int32[]{0} reverse=true", "T[0,3] int32[]{2}"},
};

/* ---- InTopK -----------------------------------------------------------------------------------
 */

typedef struct {
    int64_t k;
} in_topk_attrs;

static ef_status *in_topk_shape(ef_infer *i) {
    const ef_shape *p = &i->in[0].shape, *t = &i->in[1].shape;
    int64_t rows = EF_DIM_UNKNOWN;
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 1));
    if (i->n_in == 3) EF_TRY(ef_need_rank(i, 2, 0));
    if (p->rank == 2 && t->rank == 1)
        EF_TRY(ef_need_same_dim(i, p->dim[0], t->dim[0],
                                "First dimension of predictions must match length of targets",
                                &rows));
    else if (p->rank == 2 || t->rank == 1)
        rows = p->rank == 2 ? p->dim[0] : t->dim[0];
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {rows}};
    return NULL;
}

/* Also false if a number that matters is not finite, or the target is not a class. */
static bool in_top(const float *p, int64_t n, int64_t target, int64_t k) {
    int64_t larger = 0;
    if (target < 0 || target >= n || !isfinite(p[target])) return false;
    for (int64_t j = 0; j < n; j++) {
        if (!isfinite(p[j])) return false;
        larger += p[j] > p[target];
    }
    return larger < k;
}

static ef_status *in_topk(const ef_call *c, int64_t k) {
    const ef_tensor *p = c->in[0];
    for (int64_t r = 0; r < p->dim[0]; r++)
        ((bool *)c->out[0]->data)[r] =
            in_top((const float *)p->data + r * p->dim[1], p->dim[1], ef_in_int(c, 1, r), k);
    return NULL;
}
static ef_status *run_in_topk(const ef_call *c) {
    return in_topk(c, ((const in_topk_attrs *)c->attrs)->k);
}
static ef_status *run_in_topk2(const ef_call *c) { return in_topk(c, ef_in_int(c, 2, 0)); }

const ef_op ef_op_InTopK = {
    EF_NAMED(InTopK),
    .doc =
        "Whether the prediction for the target class is among the `k` best of its row; ties count.",
    .in = {"predictions: float", "targets: T"},
    .out = {"precision: bool"},
    .types = "T: {int32, int64} = int32",
    .attr = {EF_ATTR(in_topk_attrs, k, "int", NULL)},
    .attr_size = sizeof(in_topk_attrs),
    .traits = EF_NO_GRAD,
    .shape = in_topk_shape,
    .kernel = {{EF_CPU, EF_ANY, run_in_topk, NULL, NULL, NULL, NULL}},
    .examples = {"float[3,4] int32[3]:0..4 k=2", "float[2,3] int64[2]{5,1} k=1"},
};

const ef_op ef_op_InTopKV2 = {
    EF_NAMED(InTopKV2),
    .doc =
        "Whether the prediction for the target class is among the `k` best of its row; ties count.",
    .in = {"predictions: float", "targets: T", "k: T"},
    .out = {"precision: bool"},
    .types = "T: {int32, int64} = int32",
    .traits = EF_NO_GRAD,
    .shape = in_topk_shape,
    .kernel = {{EF_CPU, EF_ANY, run_in_topk2, NULL, NULL, NULL, NULL}},
    .examples = {"float[3,4] int32[3]:0..4 int32[]{2}", "float[2,3] int64[2]{-1,1} int64[]{3}"},
};
