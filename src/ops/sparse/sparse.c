/* Sparse tensors: converted to dense, sorted, reshaped. */
#include "ops/sparse/sparse.h"
#include "base/alloc.h"
#include "kernels/block.h"
#include "kernels/gather.h"
#include "ops/build.h"
#include <inttypes.h>
#include <stdio.h>

ef_status *ef_sparse_facts(const ef_infer *i, int k, int64_t *rank) {
    int64_t n = EF_DIM_UNKNOWN, columns = EF_DIM_UNKNOWN, sizes = EF_DIM_UNKNOWN;
    EF_TRY(ef_need_rank(i, k, 2));
    EF_TRY(ef_need_rank(i, k + 1, 1));
    EF_TRY(ef_need_rank(i, k + 2, 1));
    const ef_shape *x = &i->in[k].shape, *v = &i->in[k + 1].shape, *s = &i->in[k + 2].shape;
    if (x->rank == 2) n = x->dim[0], columns = x->dim[1];
    if (v->rank == 1) EF_TRY(ef_need_same_dim(i, n, v->dim[0], "number of indices and values", &n));
    if (s->rank == 1) sizes = s->dim[0];
    return ef_need_same_dim(i, columns, sizes, "rank of indices and shape", rank);
}

ef_brief ef_index_brief(const int64_t *at, int rank) {
    ef_brief b;
    size_t n = (size_t)snprintf(b.text, sizeof b.text, "[");
    for (int d = 0; d < rank && n + 24 < sizeof b.text; d++)
        n +=
            (size_t)snprintf(b.text + n, sizeof b.text - n, "%s%" PRId64, d > 0 ? ", " : "", at[d]);
    snprintf(b.text + n, sizeof b.text - n, "]");
    return b;
}

ef_status *ef_sparse_in(const ef_call *c, int k, ef_sparse *out) {
    const ef_tensor *x = c->in[k], *v = c->in[k + 1], *s = c->in[k + 2];
    if (x->rank != 2 || v->rank != 1 || s->rank != 1 || x->dim[0] != v->dim[0] ||
        x->dim[1] != s->dim[0])
        return ef_error(EF_INVALID,
                        "%s: indices is %s, values is %s and shape is %s; they must be [n, rank], "
                        "[n] and [rank]",
                        c->op->name, EF_TENSOR(x), EF_TENSOR(v), EF_TENSOR(s));
    EF_TRY(ef_need_rank_held(c->op, x->dim[1]));
    *out = (ef_sparse){.n = x->dim[0], .rank = (int)x->dim[1], .index = x->data, .values = v};
    ef_shape whole = {.rank = out->rank};
    for (int d = 0; d < out->rank; d++) {
        whole.dim[d] = out->dim[d] = ((const int64_t *)s->data)[d];
        if (out->dim[d] < 0)
            return ef_error(EF_INVALID, "%s: shape[%d] is %" PRId64 "; sizes must not be negative",
                            c->op->name, d, out->dim[d]);
    }
    EF_TRY(ef_need_size_held(c->op, &whole));
    for (int64_t j = 0; j < out->n; j++)
        for (int d = 0; d < out->rank; d++) {
            int64_t at = out->index[j * out->rank + d];
            if (at < 0 || at >= out->dim[d])
                return ef_error(EF_INVALID,
                                "%s: indices[%" PRId64 "] = %s is out of bounds of shape %s",
                                c->op->name, j, EF_INDEX(out->index + j * out->rank, out->rank),
                                EF_SHAPE(&whole));
        }
    return NULL;
}

/* ---- SparseToDense --------------------------------------------------------------------------- */

typedef struct {
    bool validate_indices;
} dense_attrs;

static ef_status *dense_shape(ef_infer *i) {
    EF_TRY(ef_need_rank_at_most(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 1));
    EF_TRY(ef_need_rank_at_most(i, 2, 1));
    EF_TRY(ef_need_rank(i, 3, 0));
    return ef_shape_input(i, 1, false, &i->out[0].shape);
}

/* The error of the first row that is out of bounds or, if `ordered`, does not ascend. */
static ef_status *dense_error(const ef_call *c, const ef_shape *s, int64_t n, bool ordered) {
    for (int64_t j = 0, before = 0, at = 0; j < n; j++, before = at) {
        at = 0;
        for (int d = 0; d < s->rank; d++) {
            int64_t x = ef_in_int(c, 0, j * s->rank + d);
            if (x < 0 || x >= s->dim[d])
                return ef_error(EF_INVALID,
                                "SparseToDense: indices[%" PRId64
                                "] is out of bounds: coordinate %d "
                                "is %" PRId64 " and need 0 <= index < %" PRId64,
                                j, d, x, s->dim[d]);
            at = at * s->dim[d] + x;
        }
        if (ordered && j > 0 && at <= before)
            return ef_error(EF_INVALID,
                            "SparseToDense: indices[%" PRId64
                            "] is %s; indices must ascend and not repeat (validate_indices)",
                            j, at == before ? "repeated" : "out of order");
    }
    return NULL;
}

/* The offsets of rows [from, from + n) in the dense tensor. False: a row is out of bounds, or does
 * not ascend from the one before, whose offset is *before. */
#define PLACES(T)                                                                        \
    {                                                                                    \
        const T *x = (const T *)index + from * s->rank;                                  \
        for (int64_t j = 0; j < n; j++, x += s->rank) {                                  \
            int64_t flat = 0;                                                            \
            for (int d = 0; d < s->rank; d++) {                                          \
                bad |= (uint64_t)(int64_t)x[d] >= (uint64_t)s->dim[d];                   \
                flat = (int64_t)((uint64_t)flat * (uint64_t)s->dim[d] + (uint64_t)x[d]); \
            }                                                                            \
            bad |= ordered & (flat <= last);                                             \
            at[j] = last = flat;                                                         \
        }                                                                                \
    }
static bool dense_places(ef_dtype t, const void *index, const ef_shape *s, int64_t from, int64_t n,
                         bool ordered, int64_t *before, int64_t *at) {
    bool bad = false;
    int64_t last = *before;
    if (t == EF_I32)
        PLACES(int32_t)
    else
        PLACES(int64_t)
    *before = last;
    return !bad;
}

typedef struct {
    uint64_t a, b;
} two_words;
#define PUT(T)                                                                   \
    {                                                                            \
        const T *x = values;                                                     \
        for (int64_t j = 0; j < n; j++) ((T *)(void *)out)[at[j]] = x[j * step]; \
        return NULL;                                                             \
    }
/* Writes n values at the offsets `at`; step 0: the same value everywhere. */
static ef_status *put_at(ef_dtype t, char *out, const int64_t *at, const void *values, int64_t step,
                         int64_t n) {
    size_t size = ef_dtype_size(t);
    if (t != EF_STRING) switch (size) {
        case 1: PUT(uint8_t)
        case 2: PUT(uint16_t)
        case 4: PUT(uint32_t)
        case 8: PUT(uint64_t)
        case 16: PUT(two_words)
        }
    for (int64_t j = 0; j < n; j++)
        EF_TRY(ef_copy_elements(t, out + (size_t)at[j] * size,
                                (const char *)values + (size_t)(j * step) * size, 1));
    return NULL;
}

enum { PLACED = 256 }; /* rows whose offsets are computed together */
static ef_status *dense_run(const ef_call *c) {
    const dense_attrs *t = c->attrs;
    const ef_tensor *x = c->in[0], *v = c->in[2];
    ef_shape s = {.rank = (int)c->in[1]->dim[0]};
    EF_TRY(ef_need_rank_held(c->op, c->in[1]->dim[0]));
    for (int d = 0; d < s.rank; d++) s.dim[d] = ef_in_int(c, 1, d);
    EF_TRY(ef_need_size_held(c->op, &s));
    int64_t n = x->rank == 0 ? 1 : x->dim[0], width = x->rank == 2 ? x->dim[1] : 1;
    if (width != s.rank || (v->rank == 1 && v->dim[0] != n))
        return ef_error(EF_INVALID,
                        "SparseToDense: sparse_indices is %s, output_shape %s and sparse_values "
                        "%s; they must be [n, rank], [rank] and [n]",
                        EF_TENSOR(x), EF_SHAPE(&s), EF_TENSOR(v));
    EF_TRY(ef_out_alloc(c, 0, &s));
    ef_dtype type = (ef_dtype)v->dtype;
    size_t size = ef_dtype_size(type);
    char *out = c->out[0]->data;
    EF_TRY(ef_fill_elements(type, out, c->in[3]->data, ef_count(c->out[0])));
    int64_t at[PLACED], before = -1, step = v->rank == 0 ? 0 : 1;
    for (int64_t j = 0, count; j < n; j += count) {
        count = n - j < PLACED ? n - j : PLACED;
        if (!dense_places((ef_dtype)x->dtype, x->data, &s, j, count, t->validate_indices, &before,
                          at))
            return dense_error(c, &s, n, t->validate_indices);
        EF_TRY(
            put_at(type, out, at, (const char *)v->data + (size_t)(j * step) * size, step, count));
    }
    return NULL;
}

/* Each value gets the gradient of its element; the default gets the sum of all others. */
static ef_status *dense_grad(ef_grad *g) {
    ef_value *dy = g->dout[0], *x = g->in[0];
    if (g->in[2]->fact.shape.rank != 1 || g->in[0]->fact.shape.rank != 2)
        return ef_error(EF_UNIMPLEMENTED, "SparseToDense: the gradient is for indices [n, rank] "
                                          "and values [n] only");
    g->din[2] = ef_emit(g->b, "GatherNd", 2, dy, x);
    ef_value *all = ef_const_ints(g->b, EF_I32, 1, (int64_t[]){0});
    int64_t minus = -1;
    ef_value *flat = ef_reshape(g->b, dy, ef_const_ints(g->b, EF_I32, 1, &minus));
    g->din[3] =
        ef_sub(g->b, ef_sum_axes(g->b, flat, all, false), ef_sum_axes(g->b, g->din[2], all, false));
    return NULL;
}

const ef_op ef_op_SparseToDense = {
    EF_NAMED(SparseToDense),
    .doc = "A dense tensor with `sparse_values` at `sparse_indices` and `default_value` elsewhere.",
    .in = {"sparse_indices: Tindices", "output_shape: Tindices", "sparse_values: T",
           "default_value: T"},
    .out = {"dense: T"},
    .types =
        "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, int32, "
        "int64, complex64, complex128, bool, string, qint8, quint8, qint16, quint16}; "
        "Tindices: {int32, int64}",
    .declared = EF_STORED & ~(EF_QUANTIZED & ~EF_BIT(QI32)),
    .attr = {EF_ATTR(dense_attrs, validate_indices, "bool", "true")},
    .attr_size = sizeof(dense_attrs),
    .keeps = EF_KEEP_IN(0),
    .shape = dense_shape,
    .kernel = EF_MOVE_KERNEL_OF(dense_run, EF_QUANTIZED),
    .grad = dense_grad,
    .examples = {"int64[2,2]{0,1,1,0} int64[2]{2,3} T[2] T[]",
                 "int32[3,1]{0,2,3} int32[1]{4} float[3] float[]",
                 "int64[2,1]{1,0} int64[1]{3} float[2] float[] validate_indices=false",
                 "int64[0,2] int64[2]{2,2} float[0] float[]"},
};

/* ---- SparseReorder --------------------------------------------------------------------------- */

static ef_status *reorder_shape(ef_infer *i) {
    int64_t rank = 0;
    EF_TRY(ef_sparse_facts(i, 0, &rank));
    i->out[0].shape = i->in[0].shape;
    i->out[1].shape = i->in[1].shape;
    return NULL;
}

/* A row by its offset in the dense tensor, which fits into 63 bits. */
typedef struct {
    uint64_t at;
    int64_t row;
} keyed_row;

/* Fills in the offsets; returns whether they ascend already. */
static bool key_rows(const ef_sparse *x, keyed_row *rows) {
    bool sorted = true;
    uint64_t before = 0;
    for (int64_t k = 0; k < x->n; k++) {
        uint64_t at = 0;
        for (int d = 0; d < x->rank; d++)
            at = at * (uint64_t)x->dim[d] + (uint64_t)x->index[k * x->rank + d];
        rows[k] = (keyed_row){at, k};
        sorted &= before <= at;
        before = at;
    }
    return sorted;
}

/* A stable sort, by one digit of the offset after another, the lowest first. Both arrays have n
 * rows; returns the one that holds the result. */
enum { DIGIT = 11 };
static keyed_row *sort_rows(keyed_row *rows, keyed_row *other, int64_t n) {
    uint64_t any = 0;
    for (int64_t k = 0; k < n; k++) any |= rows[k].at;
    for (int shift = 0; shift < 64 && any >> shift != 0; shift += DIGIT) {
        int64_t start[1 << DIGIT] = {0}, sum = 0;
        for (int64_t k = 0; k < n; k++) start[(rows[k].at >> shift) & ((1 << DIGIT) - 1)]++;
        for (int d = 0; d < 1 << DIGIT; d++) {
            int64_t count = start[d];
            start[d] = sum;
            sum += count;
        }
        for (int64_t k = 0; k < n; k++)
            other[start[(rows[k].at >> shift) & ((1 << DIGIT) - 1)]++] = rows[k];
        keyed_row *swap = rows;
        rows = other, other = swap;
    }
    return rows;
}

/* The same for few rows, by insertion. */
enum { FEW_ROWS = 64 };
static void insert_rows(keyed_row *rows, int64_t n) {
    for (int64_t k = 1; k < n; k++) {
        keyed_row held = rows[k];
        int64_t to = k;
        for (; to > 0 && rows[to - 1].at > held.at; to--) rows[to] = rows[to - 1];
        rows[to] = held;
    }
}

static ef_status *copy_rows(const ef_call *c, const ef_sparse *x, const int64_t *order) {
    ef_gather_job g = {.dtype = (ef_dtype)x->values->dtype,
                       .index_dtype = EF_I64,
                       .batches = 1,
                       .outer = 1,
                       .n = x->n,
                       .rows = x->n,
                       .inner = 1,
                       .params = x->values->data,
                       .index = order,
                       .out = c->out[1]->data};
    EF_TRY(ef_gather(&g));
    g.dtype = EF_I64, g.inner = x->rank, g.params = x->index, g.out = c->out[0]->data;
    return ef_gather(&g);
}

static ef_status *reorder_run(const ef_call *c) {
    ef_sparse x = {0};
    EF_TRY(ef_sparse_in(c, 0, &x));
    EF_TRY(ef_out_memory(c, 0));
    EF_TRY(ef_out_memory(c, 1));
    if (x.n == 0) return NULL;
    size_t bytes = (size_t)x.n * 2 * sizeof(keyed_row);
    keyed_row *rows = ef_malloc(bytes), *sorted = rows;
    if (rows == NULL) return ef_no_memory(bytes);
    ef_status *s = NULL;
    if (key_rows(&x, rows)) {
        s = ef_copy_elements((ef_dtype)x.values->dtype, c->out[1]->data, x.values->data, x.n);
        if (s == NULL) s = ef_copy_elements(EF_I64, c->out[0]->data, x.index, x.n * x.rank);
    } else {
        if (x.n <= FEW_ROWS)
            insert_rows(rows, x.n);
        else
            sorted = sort_rows(rows, rows + x.n, x.n);
        int64_t *order = (int64_t *)(void *)(sorted == rows ? rows + x.n : rows);
        for (int64_t k = 0; k < x.n; k++) order[k] = sorted[k].row;
        s = copy_rows(c, &x, order);
    }
    ef_free(rows);
    return s;
}

/* Reordering the row numbers gives the permutation. */
static ef_status *reorder_grad(ef_grad *g) {
    if (g->dout[1] == NULL) return NULL;
    ef_value *zero = ef_const_number(g->b, EF_I64, 0), *one = ef_const_number(g->b, EF_I64, 1);
    ef_value *n = ef_emit_set(g->b, "Size", (ef_attr_value[]){EF_SET_TYPE("out_type", EF_I64)}, 1,
                              1, g->dout[1]);
    ef_value *rows = ef_emit(g->b, "Range", 3, zero, n, one);
    ef_value *in[] = {g->in[0], rows, g->in[2]}, *out[2] = {NULL, NULL};
    ef_emit_many(g->b, "SparseReorder", NULL, 0, in, 3, out, 2);
    ef_value *back = ef_emit(g->b, "InvertPermutation", 1, out[1]);
    g->din[1] = ef_emit(g->b, "GatherV2", 3, g->dout[1], back, ef_const_number(g->b, EF_I32, 0));
    return NULL;
}

const ef_op ef_op_SparseReorder = {
    EF_NAMED(SparseReorder),
    .doc = "The same sparse tensor with its indices in ascending order.",
    .in = {"input_indices: int64", "input_values: T", "input_shape: int64"},
    .out = {"output_indices: int64", "output_values: T"},
    .types = "T: " EF_MOVE_TYPES,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(2),
    .shape = reorder_shape,
    .kernel = EF_MOVE_KERNEL(reorder_run),
    .grad = reorder_grad,
    .examples = {"int64[3,2]{2,0,0,1,0,0} T[3] int64[2]{3,2}", "int64[0,2] float[0] int64[2]{3,2}",
                 "int64[5,1]{4,2,0,1,3} float[5] int64[1]{5}"},
};

/* ---- SparseReshape --------------------------------------------------------------------------- */

static ef_status *reshape_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 1));
    EF_TRY(ef_need_rank(i, 2, 1));
    int64_t rank = i->in[2].shape.rank == 1 ? i->in[2].shape.dim[0] : EF_DIM_UNKNOWN;
    i->out[0].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, rank}};
    if (i->in[0].shape.rank == 2) i->out[0].shape.dim[0] = i->in[0].shape.dim[0];
    i->out[1].shape = (ef_shape){.rank = 1, .dim = {rank}};
    return NULL;
}

/* Reads the new sizes and computes the one that is -1. */
static ef_status *reshape_sizes(const ef_call *c, int64_t count, ef_shape *out) {
    int wild = -1;
    int64_t rest = 1;
    for (int d = 0; d < out->rank; d++) {
        out->dim[d] = ((const int64_t *)c->in[2]->data)[d];
        if (out->dim[d] < -1 || (out->dim[d] == -1 && wild >= 0))
            return ef_error(EF_INVALID,
                            "SparseReshape: new_shape[%d] is %" PRId64
                            "; one size may be -1, the others must not be negative",
                            d, out->dim[d]);
        if (out->dim[d] == -1)
            wild = d;
        else if (__builtin_mul_overflow(rest, out->dim[d], &rest))
            return ef_error(EF_INVALID, "SparseReshape: new_shape has more elements than 2**63");
    }
    if (wild >= 0 && rest > 0 && count % rest == 0) {
        out->dim[wild] = count / rest;
        rest = count;
    }
    if (rest != count || (wild >= 0 && out->dim[wild] < 0))
        return ef_error(EF_INVALID,
                        "SparseReshape: a tensor of %" PRId64 " elements cannot have the shape %s",
                        count, EF_INDEX((const int64_t *)c->in[2]->data, out->rank));
    return NULL;
}

static ef_status *reshape_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    const int64_t *index = x->data, *sizes = c->in[1]->data;
    int64_t count = 1, rank = c->in[1]->dim[0];
    if (x->dim[1] != rank)
        return ef_error(EF_INVALID,
                        "SparseReshape: input_indices is %s and input_shape has %" PRId64
                        " sizes; indices must have one column for each",
                        EF_TENSOR(x), rank);
    for (int64_t d = 0; d < rank; d++)
        if (sizes[d] < 0 || __builtin_mul_overflow(count, sizes[d], &count))
            return ef_error(EF_INVALID,
                            "SparseReshape: input_shape is %s; sizes must not be "
                            "negative nor their product above 2**63",
                            EF_INDEX(sizes, (int)rank));
    EF_TRY(ef_need_rank_held(c->op, c->in[2]->dim[0]));
    ef_shape to = {.rank = (int)c->in[2]->dim[0]};
    EF_TRY(reshape_sizes(c, count, &to));
    int64_t *out = c->out[0]->data;
    for (int64_t j = 0; j < x->dim[0]; j++) {
        int64_t flat = 0;
        for (int64_t d = 0; d < rank; d++) {
            int64_t at = index[j * rank + d];
            if (at < 0 || at >= sizes[d])
                return ef_error(EF_INVALID,
                                "SparseReshape: input_indices[%" PRId64 "] is out of bounds", j);
            flat = flat * sizes[d] + at;
        }
        for (int d = to.rank - 1; d >= 0; flat /= to.dim[d], d--)
            out[j * to.rank + d] = flat % to.dim[d];
    }
    memcpy(c->out[1]->data, to.dim, (size_t)to.rank * sizeof *to.dim);
    return NULL;
}

const ef_op ef_op_SparseReshape = {
    EF_NAMED(SparseReshape),
    .doc = "The indices and shape of a sparse tensor after it is reshaped; one size may be -1.",
    .in = {"input_indices: int64", "input_shape: int64", "new_shape: int64"},
    .out = {"output_indices: int64", "output_shape: int64"},
    .traits = EF_NO_GRAD,
    .shape = reshape_shape,
    .kernel = EF_ANY_KERNEL(reshape_run),
    .examples = {"int64[3,2]{0,1,1,2,2,0} int64[2]{3,4} int64[2]{4,-1}",
                 "int64[2,1]{0,5} int64[1]{6} int64[3]{1,2,3}",
                 "int64[0,1] int64[1]{6} int64[1]{6}"},
};
