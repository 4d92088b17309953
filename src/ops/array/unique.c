/* Unique and its variants, ListDiff: distinct elements or slices, in the order of their first
 * occurrence. */
#include "kernels/distinct.h"
#include "kernels/gather.h"
#include "ops/array/array.h"
#include <string.h>

typedef struct {
    ef_dtype out_idx;
} idx_attrs;
#define OUT_IDX \
    { EF_ATTR(idx_attrs, out_idx, "{int32, int64}", "int32") }

static void put_index(ef_tensor *o, int64_t k, int64_t v) {
    if (o->dtype == EF_I64)
        ((int64_t *)o->data)[k] = v;
    else
        ((int32_t *)o->data)[k] = (int32_t)v;
}

/* The axis in `axis`, a vector of at most one number; -1 if it is empty. */
static ef_status *read_axis(const ef_op *op, const ef_tensor *axis, int rank, int *out) {
    int64_t n = ef_count(axis);
    *out = -1;
    if (axis->rank > 1 || n > 1)
        return ef_error(EF_INVALID,
                        "%s: axis does not support input tensors larger than 1 elements; it is %s",
                        op->name, EF_TENSOR(axis));
    return n == 0
               ? NULL
               : ef_need_axis(op, ef_element_int((ef_dtype)axis->dtype, axis->data, 0), rank, out);
}

static ef_status *unique_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    int axis = -1;
    bool known = i->n_in == 1 || i->in[1].value != NULL;
    for (int k = 1; k < i->n_out; k++) i->out[k].shape = ef_shape_of_rank(1);
    if (x->rank < 0) return NULL;
    if (i->n_in == 2 && known) EF_TRY(read_axis(i->op, i->in[1].value, x->rank, &axis));
    if (known && axis < 0 && x->rank != 1) { /* the kernel rejects it */
        i->out[0].shape = ef_shape_of_rank(1);
        return NULL;
    }
    ef_shape out = known ? *x : ef_shape_of_rank(x->rank);
    if (known) {
        i->out[1].shape.dim[0] = x->dim[axis < 0 ? 0 : axis];
        out.dim[axis < 0 ? 0 : axis] = EF_DIM_UNKNOWN;
    }
    i->out[0].shape = out;
    return NULL;
}

/* Whether the slices are single numbers, which have a faster hash table, in memory of its own. */
static bool numbers(const ef_tensor *x) {
    return x->rank == 1 && ef_distinct_plain((ef_dtype)x->dtype);
}

/* Space for the indices of the distinct slices, for the hash table, and for the number of each
 * slice among the distinct ones. */
static size_t unique_scratch(const ef_call *c) {
    int64_t n = 1;
    for (int d = 0; d < c->in[0]->rank; d++) n = c->in[0]->dim[d] > n ? c->in[0]->dim[d] : n;
    if (numbers(c->in[0])) return (size_t)n * sizeof(int64_t);
    return ef_distinct_bytes(n) + 2 * (size_t)n * sizeof(int64_t);
}

enum { BATCH = 1024 };
static ef_status *unique_numbers(const ef_call *c, int64_t *first, int64_t *found) {
    const ef_tensor *x = c->in[0];
    ef_distinct_numbers set = {.t = (ef_dtype)x->dtype};
    ef_status *s = NULL;
    int64_t index[BATCH];
    for (int64_t k = 0, count, n = ef_count(x); k < n && s == NULL; k += count) {
        count = n - k < BATCH ? n - k : BATCH;
        s = ef_distinct_number(&set, (const char *)x->data + (size_t)k * ef_dtype_size(set.t),
                               count, k, index, first + set.found);
        if (s != NULL) break;
        if (c->out[1]->dtype == EF_I64)
            memcpy((int64_t *)c->out[1]->data + k, index, (size_t)count * sizeof *index);
        else
            for (int64_t e = 0; e < count; e++)
                ((int32_t *)c->out[1]->data)[k + e] = (int32_t)index[e];
    }
    *found = set.found;
    ef_distinct_numbers_free(&set);
    return s;
}

static int64_t unique_slices(const ef_call *c, const ef_slices_of *all, int64_t *first) {
    int64_t found = 0, *rank_of = first + all->n;
    ef_distinct set;
    ef_distinct_init(&set, rank_of + all->n, all->n);
    for (int64_t k = 0; k < all->n; k++) {
        int64_t same = ef_distinct_add(&set, all, k);
        if (same < 0) first[found] = k;
        rank_of[k] = same < 0 ? found++ : rank_of[same];
        put_index(c->out[1], k, rank_of[k]);
    }
    return found;
}

static ef_status *unique_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    ef_shape s = ef_shape_from(x);
    int axis = -1;
    if (c->n_in > 1) EF_TRY(read_axis(c->op, c->in[1], x->rank, &axis));
    if (axis < 0 && x->rank != 1)
        return ef_error(EF_INVALID, "%s: unique expects a 1D vector, but x is %s; give an axis",
                        c->op->name, EF_SHAPE(&s));
    if (axis < 0) axis = 0;
    int64_t n = s.dim[axis], found = 0;
    ef_slices_of all = {(ef_dtype)x->dtype, x->data, ef_shape_span(&s, 0, axis), n,
                        ef_shape_span(&s, axis + 1, s.rank)};
    int64_t *first = c->scratch;
    ef_shape vector = {.rank = 1, .dim = {n}};
    EF_TRY(ef_out_alloc(c, 1, &vector));
    if (numbers(x))
        EF_TRY(unique_numbers(c, first, &found));
    else
        found = unique_slices(c, &all, first);
    s.dim[axis] = vector.dim[0] = found;
    if (c->n_out > 2) {
        EF_TRY(ef_out_alloc(c, 2, &vector));
        memset(c->out[2]->data, 0, (size_t)found * ef_dtype_size((ef_dtype)c->out[2]->dtype));
        if (c->out[2]->dtype == EF_I64)
            for (int64_t k = 0; k < n; k++)
                ((int64_t *)c->out[2]->data)[((const int64_t *)c->out[1]->data)[k]]++;
        else
            for (int64_t k = 0; k < n; k++)
                ((int32_t *)c->out[2]->data)[((const int32_t *)c->out[1]->data)[k]]++;
    }
    EF_TRY(ef_out_alloc(c, 0, &s));
    ef_gather_job g = {.dtype = all.t,
                       .index_dtype = EF_I64,
                       .batches = 1,
                       .outer = all.outer,
                       .n = found,
                       .rows = n,
                       .inner = all.inner,
                       .params = x->data,
                       .index = first,
                       .out = c->out[0]->data};
    return ef_gather(&g);
}

#define UNIQUE(N, words, vectors, ins, outs, more_types, ...)                                     \
    const ef_op ef_op_##N = {                                                                     \
        EF_NAMED(N),                                                                              \
        .doc = words,                                                                             \
        .in = ins,                                                                                \
        .out = outs,                                                                              \
        .types = "T: " EF_MOVE_TYPES more_types,                                                  \
        .attr = OUT_IDX,                                                                          \
        .attr_size = sizeof(idx_attrs),                                                           \
        .traits = EF_GRAD_UNDEFINED | EF_DYNAMIC,                                                 \
        .vector_in = (vectors),                                                                   \
        .shape = unique_shape,                                                                    \
        .kernel = {{EF_CPU, EF_COMPUTED | EF_BIT(STRING), unique_run, unique_scratch, NULL, NULL, \
                    NULL}},                                                                       \
        .examples = {__VA_ARGS__},                                                                \
    };
#define LIST(...) \
    { __VA_ARGS__ }
#define AXIS "; Taxis: {int32, int64} = int64"
UNIQUE(Unique, "The distinct elements of `x`, and for each element of `x` its index among them.", 1,
       LIST("x: T"), LIST("y: T", "idx: out_idx"), , "int32[5]{3,1,3,2,1}",
       "float[3]{0,1,0} out_idx=int64", "string[3]{a,b,a}", "int32[0]")
UNIQUE(UniqueWithCounts, "Like Unique, and also counts each distinct element.", 0, LIST("x: T"),
       LIST("y: T", "idx: out_idx", "count: out_idx"), , "int32[5]{3,1,3,2,1}",
       "float[3]{0,1,0} out_idx=int64", "string[3]{a,b,a}", "int32[0]")
UNIQUE(UniqueV2,
       "The distinct slices of `x` along `axis`, and for each slice its index among them.", 0,
       LIST("x: T", "axis: Taxis"), LIST("y: T", "idx: out_idx"), AXIS,
       "int32[3,2]{1,2,3,4,1,2} int64[1]{0}", "float[2,3]{1,2,1,4,5,4} int32[1]{-1} out_idx=int64",
       "string[3]{a,b,a} int64[0]", "int32[0,2] int64[1]{0}")
UNIQUE(UniqueWithCountsV2, "Like UniqueV2, and also counts each distinct slice.", 0,
       LIST("x: T", "axis: Taxis"), LIST("y: T", "idx: out_idx", "count: out_idx"), AXIS,
       "int32[3,2]{1,2,3,4,1,2} int64[1]{0}", "float[2,3]{1,2,1,4,5,4} int32[1]{-1} out_idx=int64",
       "string[3]{a,b,a} int64[0]")

/* ---- ListDiff ---------------------------------------------------------------------------------
 */

static ef_status *diff_shape(ef_infer *i) {
    for (int k = 0; k < 2; k++) {
        EF_TRY(ef_need_rank(i, k, 1));
        i->out[k].shape = ef_shape_of_rank(1);
    }
    return NULL;
}

static size_t diff_scratch(const ef_call *c) {
    return ef_distinct_bytes(ef_count(c->in[1])) + (size_t)ef_count(c->in[0]) * sizeof(int64_t);
}

static ef_status *diff_run(const ef_call *c) {
    ef_slices_of x = {(ef_dtype)c->in[0]->dtype, c->in[0]->data, 1, ef_count(c->in[0]), 1};
    ef_slices_of y = {x.t, c->in[1]->data, 1, ef_count(c->in[1]), 1};
    int64_t *kept = (int64_t *)((char *)c->scratch + ef_distinct_bytes(y.n)), n = 0;
    ef_distinct set;
    ef_distinct_init(&set, c->scratch, y.n);
    for (int64_t k = 0; k < y.n; k++) ef_distinct_add(&set, &y, k);
    for (int64_t k = 0; k < x.n; k++)
        if (ef_distinct_find(&set, &y, &x, k) < 0) kept[n++] = k;
    for (int k = 0; k < 2; k++) EF_TRY(ef_out_alloc(c, k, &(ef_shape){.rank = 1, .dim = {n}}));
    for (int64_t k = 0; k < n; k++) put_index(c->out[1], k, kept[k]);
    ef_gather_job g = {.dtype = x.t,
                       .index_dtype = EF_I64,
                       .batches = 1,
                       .outer = 1,
                       .n = n,
                       .rows = x.n,
                       .inner = 1,
                       .params = x.data,
                       .index = kept,
                       .out = c->out[0]->data};
    return ef_gather(&g);
}

const ef_op ef_op_ListDiff = {
    EF_NAMED(ListDiff),
    .doc = "The elements of `x` that are not in `y`, and their indices in `x`.",
    .in = {"x: T", "y: T"},
    .out = {"out: T", "idx: out_idx"},
    .types = "T: " EF_MOVE_TYPES,
    .attr = OUT_IDX,
    .attr_size = sizeof(idx_attrs),
    .traits = EF_GRAD_UNDEFINED | EF_DYNAMIC,
    .shape = diff_shape,
    .kernel = {{EF_CPU, EF_COMPUTED | EF_BIT(STRING), diff_run, diff_scratch, NULL, NULL, NULL}},
    .examples = {"int32[5]{1,2,3,2,5} int32[2]{2,9}", "string[2]{a,b} string[1]{a} out_idx=int64",
                 "float[2] float[0]"},
};
