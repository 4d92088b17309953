/* Counting values into a sparse result: DenseCountSparseOutput, SparseCountSparseOutput and
 * RaggedCountSparseOutput. Each finds the row of every number; the rest is common to all: the
 * numbers are sorted by row and value, and runs of equal ones become one entry. None has a
 * gradient. */
#include "base/alloc.h"
#include "ops/array/array.h"
#include "ops/shapes.h"
#include <stdlib.h>

typedef struct {
    int64_t minlength, maxlength;
    bool binary_output;
} count_attrs;

typedef struct {
    int64_t row, value, k; /* k: its index among the numbers, and so among the weights */
} number;

typedef struct {
    const ef_call *c;
    const ef_tensor *values, *weights;
    number *item;
    int64_t n, rows, most; /* n: numbers kept; most: the largest value, -1 for none */
    int rank;              /* of the result: 1 without rows */
} counter;

static int by_row_and_value(const void *a, const void *b) {
    const number *x = a, *y = b;
    if (x->row != y->row) return x->row < y->row ? -1 : 1;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return (x->k > y->k) - (x->k < y->k);
}

static ef_status *open_counter(const ef_call *c, int values, int weights, counter *t) {
    *t = (counter){.c = c, .values = c->in[values], .weights = c->in[weights], .most = -1};
    int64_t n = ef_count(t->values), given = ef_count(t->weights);
    if (given != 0 && given != n)
        return ef_error(EF_INVALID,
                        "%s: Weights and data must have the same shape. Weight shape: %s; data "
                        "shape: %s",
                        c->op->name, EF_TENSOR(t->weights), EF_TENSOR(t->values));
    size_t bytes = (size_t)(n + 1) * sizeof *t->item;
    t->item = ef_malloc(bytes);
    return t->item == NULL ? ef_no_memory(bytes) : NULL;
}

/* Counts number k in `row`. */
static ef_status *count(counter *t, int64_t row, int64_t k) {
    const count_attrs *a = t->c->attrs;
    int64_t v = ef_element_int((ef_dtype)t->values->dtype, t->values->data, k);
    if (v < 0)
        return ef_error(EF_INVALID,
                        "%s: Input values must all be non-negative, but element %lld is %lld",
                        t->c->op->name, (long long)k, (long long)v);
    if (a->maxlength >= 0 && v >= a->maxlength) return NULL;
    if (v > t->most) t->most = v;
    t->item[t->n++] = (number){row, v, k};
    return NULL;
}

static int64_t runs(const counter *t) {
    int64_t n = 0;
    for (int64_t k = 0; k < t->n; k++)
        n += k == 0 || t->item[k].row != t->item[k - 1].row ||
             t->item[k].value != t->item[k - 1].value;
    return n;
}

static void add_one(const counter *t, ef_tensor *out, int64_t at, const number *x) {
    ef_dtype d = (ef_dtype)out->dtype;
    const void *w = ef_count(t->weights) > 0 ? t->weights->data : NULL;
    if (((const count_attrs *)t->c->attrs)->binary_output)
        ef_element_set(d, out->data, at, 1);
    else if (d == EF_I64)
        ((int64_t *)out->data)[at] += w ? ((const int64_t *)w)[x->k] : 1;
    else if (d == EF_F32)
        ((float *)out->data)[at] += w ? ((const float *)w)[x->k] : 1;
    else
        ef_element_set(d, out->data, at,
                       ef_element_double(d, out->data, at) +
                           (w ? ef_element_double(d, w, x->k) : 1));
}

static ef_status *write_counts(counter *t) {
    const ef_call *c = t->c;
    const count_attrs *a = c->attrs;
    qsort(t->item, (size_t)t->n, sizeof *t->item, by_row_and_value);
    int64_t n = runs(t), at = -1;
    ef_shape places = {.rank = 2, .dim = {n, t->rank}}, flat = {.rank = 1, .dim = {n}};
    ef_shape sizes = {.rank = 1, .dim = {t->rank}};
    EF_TRY(ef_out_alloc(c, 0, &places));
    EF_TRY(ef_out_alloc(c, 1, &flat));
    EF_TRY(ef_out_alloc(c, 2, &sizes));
    EF_TRY(ef_zero_elements((ef_dtype)c->out[1]->dtype, c->out[1]->data, n));
    int64_t *index = c->out[0]->data, *size = c->out[2]->data;
    for (int64_t k = 0; k < t->n; k++) {
        const number *x = &t->item[k];
        if (k == 0 || x->row != x[-1].row || x->value != x[-1].value) {
            at++;
            if (t->rank == 2) index[2 * at] = x->row;
            index[t->rank * at + t->rank - 1] = x->value;
        }
        add_one(t, c->out[1], at, x);
    }
    int64_t width = t->most < INT64_MAX ? t->most + 1 : INT64_MAX;
    if (width < a->minlength) width = a->minlength;
    if (t->rank == 2) size[0] = t->rows;
    size[t->rank - 1] = a->maxlength >= 0 ? a->maxlength : width;
    return NULL;
}

static ef_status *close_counter(counter *t, ef_status *s) {
    if (s == NULL) s = write_counts(t);
    ef_free(t->item);
    return s;
}

static ef_status *dense_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    counter t;
    EF_TRY(open_counter(c, 0, 1, &t));
    t.rank = x->rank;
    t.rows = x->rank == 2 ? x->dim[0] : 1;
    int64_t wide = x->rank == 2 ? x->dim[1] : ef_count(x);
    ef_status *s = NULL;
    for (int64_t k = 0, n = ef_count(x); k < n && s == NULL; k++) s = count(&t, k / wide, k);
    return close_counter(&t, s);
}

static ef_status *sparse_row(const ef_call *c, int64_t k, int64_t rank, int64_t *row) {
    const int64_t *at = (const int64_t *)c->in[0]->data + k * rank;
    for (int64_t d = 0; d < rank; d++)
        if (at[d] < 0 || at[d] >= ef_in_int(c, 2, d))
            return ef_error(
                EF_INVALID, "%s: index %lld of value %lld is out of bounds for size %lld",
                c->op->name, (long long)at[d], (long long)k, (long long)ef_in_int(c, 2, d));
    *row = rank == 2 ? at[0] : 0;
    return NULL;
}

static ef_status *sparse_run(const ef_call *c) {
    const ef_tensor *places = c->in[0];
    int64_t rank = ef_count(c->in[2]), n = ef_count(c->in[1]);
    if ((rank != 1 && rank != 2) || places->dim[0] != n || places->dim[1] != rank)
        return ef_error(
            EF_INVALID,
            "%s: indices have shape %s for %lld values of rank %lld; the rank must be 1 or 2",
            c->op->name, EF_TENSOR(places), (long long)n, (long long)rank);
    counter t;
    EF_TRY(open_counter(c, 1, 3, &t));
    t.rank = (int)rank;
    t.rows = ef_in_int(c, 2, 0);
    ef_status *s = NULL;
    for (int64_t k = 0; k < n && s == NULL; k++) {
        int64_t row = 0;
        s = sparse_row(c, k, rank, &row);
        if (s == NULL) s = count(&t, row, k);
    }
    return close_counter(&t, s);
}

static ef_status *ragged_run(const ef_call *c) {
    const int64_t *splits = c->in[0]->data;
    int64_t rows = ef_count(c->in[0]) - 1, n = ef_count(c->in[1]);
    if (rows < 0 || splits[0] != 0 || splits[rows] != n)
        return ef_error(EF_INVALID,
                        "%s: splits must start with 0 and end with the number of values, %lld",
                        c->op->name, (long long)n);
    for (int64_t row = 0; row < rows; row++)
        if (splits[row + 1] < splits[row])
            return ef_error(EF_INVALID, "%s: splits must not decrease: %lld follows %lld",
                            c->op->name, (long long)splits[row + 1], (long long)splits[row]);
    counter t;
    EF_TRY(open_counter(c, 1, 2, &t));
    t.rank = 2;
    t.rows = rows;
    ef_status *s = NULL;
    for (int64_t row = 0; row < rows && s == NULL; row++)
        for (int64_t k = splits[row]; k < splits[row + 1] && s == NULL; k++) s = count(&t, row, k);
    return close_counter(&t, s);
}

static ef_status *result_shape(ef_infer *i, int rank) {
    int64_t wide = rank > 0 ? rank : EF_DIM_UNKNOWN;
    i->out[0].shape = (ef_shape){.rank = 2, .dim = {EF_DIM_UNKNOWN, wide}};
    i->out[1].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    i->out[2].shape = (ef_shape){.rank = 1, .dim = {wide}};
    return NULL;
}

static ef_status *dense_shape(ef_infer *i) {
    int rank = i->in[0].shape.rank;
    if (rank == 0 || rank > 2)
        return ef_error(EF_INVALID, "%s: values is of rank %d; it must be 1 or 2", i->op->name,
                        rank);
    return result_shape(i, rank);
}

static ef_status *sparse_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 1));
    EF_TRY(ef_need_rank(i, 2, 1));
    int64_t rank = i->in[2].shape.rank == 1 ? i->in[2].shape.dim[0] : EF_DIM_UNKNOWN;
    return result_shape(i, rank == 1 || rank == 2 ? (int)rank : -1);
}

static ef_status *ragged_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 1));
    EF_TRY(ef_need_rank(i, 1, 1));
    return result_shape(i, 2);
}

#define OUTPUTS \
    { "output_indices: int64", "output_values: output_type", "output_dense_shape: int64" }
#define TYPES "T: {int32, int64}; output_type: {int32, int64, float, double}"
#define ATTRS                                                   \
    {                                                           \
        EF_ATTR(count_attrs, minlength, "int >= -1", "-1"),     \
            EF_ATTR(count_attrs, maxlength, "int >= -1", "-1"), \
            EF_ATTR(count_attrs, binary_output, "bool", NULL)   \
    }
#define COUNT(N, text, shapes, run, inputs, ...)  \
    const ef_op ef_op_##N = {                     \
        EF_NAMED(N),                              \
        .doc = text,                              \
        .in = inputs,                             \
        .out = OUTPUTS,                           \
        .types = TYPES,                           \
        .attr = ATTRS,                            \
        .attr_size = sizeof(count_attrs),         \
        .traits = EF_GRAD_UNDEFINED | EF_DYNAMIC, \
        .shape = shapes,                          \
        .kernel = EF_ANY_KERNEL(run),             \
        .examples = {__VA_ARGS__},                \
    };
#define LIST(...) \
    { __VA_ARGS__ }

COUNT(DenseCountSparseOutput,
      "Counts how often each number occurs in a vector or in each row of a matrix, or sums its "
      "weights, as a sparse tensor.",
      dense_shape, dense_run, LIST("values: T", "weights: output_type"),
      "int32[5]:0..4 float[5] binary_output=false",
      "int64[2,3]:0..4 int32[0] binary_output=true minlength=9")
COUNT(SparseCountSparseOutput,
      "Counts how often each number occurs in each row of a sparse tensor, or sums its weights, as "
      "a sparse tensor.",
      sparse_shape, sparse_run,
      LIST("indices: int64", "values: T", "dense_shape: int64", "weights: output_type"),
      "int64[2,2]{0,1,2,0} int64[2]{2,2} int64[2]{3,2} int64[0] binary_output=false",
      "int64[3,1]{0,2,4} int32[3]{1,0,1} int64[1]{6} double[3] binary_output=false maxlength=1")
COUNT(RaggedCountSparseOutput,
      "Counts how often each number occurs in each row of a ragged matrix, or sums its weights, as "
      "a sparse tensor.",
      ragged_shape, ragged_run, LIST("splits: int64", "values: T", "weights: output_type"),
      "int64[3]{0,1,3} int32[3]{1,0,1} float[3] binary_output=false",
      "int64[3]{0,0,2} int64[2]{2,2} int32[0] binary_output=true")
