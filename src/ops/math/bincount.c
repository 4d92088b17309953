/* Counting values in bins: Bincount, DenseBincount, SparseBincount, RaggedBincount. They differ in
 * how the values are given and how each value's row is found. None has a gradient. */
#include "kernels/bin_count.h"
#include "ops/array/array.h"
#include "ops/shapes.h"

typedef struct {
    bool binary_output;
} bin_attrs;

/* The bins of one call: rows of `size` bins, and the weights of the n numbers that are counted. */
typedef struct {
    const ef_call *c;
    const ef_tensor *values, *weights;
    ef_tensor *out;
    int64_t n, rows, size;
    bool binary, weighted;
} bins;

static ef_status *known_size(ef_infer *i, int k, int64_t *size) {
    bool known;
    EF_TRY(ef_need_rank(i, k, 0));
    EF_TRY(ef_known_int(i, k, size, &known));
    if (known && *size < 0)
        return ef_error(EF_INVALID, "%s: size (%lld) must be non-negative", i->op->name,
                        (long long)*size);
    if (!known) *size = EF_DIM_UNKNOWN;
    return NULL;
}

static void add_to(ef_dtype t, void *at, int64_t bin, const void *weights, int64_t k) {
    switch (t) {
    case EF_I32: {
        uint32_t w = weights ? (uint32_t)((const int32_t *)weights)[k] : 1;
        ((uint32_t *)at)[bin] += w;
        break;
    }
    case EF_I64: {
        uint64_t w = weights ? (uint64_t)((const int64_t *)weights)[k] : 1;
        ((uint64_t *)at)[bin] += w;
        break;
    }
    case EF_F32: ((float *)at)[bin] += weights ? ((const float *)weights)[k] : 1; break;
    default: ((double *)at)[bin] += weights ? ((const double *)weights)[k] : 1; break;
    }
}

/* Allocates zeroed bins for the numbers of input `values`, weighted by input `weights`. */
static ef_status *open_bins(const ef_call *c, int values, int weights, bins *b) {
    ef_tensor *y = c->out[0];
    *b = (bins){.c = c, .values = c->in[values], .weights = c->in[weights], .out = y};
    b->n = ef_count(b->values);
    b->size = y->dim[y->rank - 1];
    b->rows = y->rank == 2 ? y->dim[0] : 1;
    b->binary = c->attrs != NULL && ((const bin_attrs *)c->attrs)->binary_output;
    int64_t given = ef_count(b->weights);
    b->weighted = given != 0;
    if (given != 0 && given != b->n)
        return ef_error(
            EF_INVALID,
            "%s: `weights` must be the same shape as the input or a length-0 `Tensor`, in "
            "which case all weights are 1; they have %lld elements for %lld",
            c->op->name, (long long)given, (long long)b->n);
    return ef_zero_elements((ef_dtype)y->dtype, y->data, ef_count(y));
}

/* Counts number k in its bin of `row`. Numbers beyond the last bin are ignored. */
static ef_status *put(const bins *b, int64_t row, int64_t k) {
    int64_t v = ef_element_int((ef_dtype)b->values->dtype, b->values->data, k);
    if (v < 0)
        return ef_error(EF_INVALID, "%s: Input arr must be non-negative, but element %lld is %lld",
                        b->c->op->name, (long long)k, (long long)v);
    if (v >= b->size) return NULL;
    int64_t at = row * b->size + v;
    ef_dtype t = (ef_dtype)b->out->dtype;
    if (b->binary)
        ef_element_set(t, b->out->data, at, 1);
    else
        add_to(t, b->out->data, at, b->weighted ? b->weights->data : NULL, k);
    return NULL;
}

/* ---- dense numbers ----------------------------------------------------------------------------
 */

static ef_status *bincount_shape(ef_infer *i) {
    int64_t size;
    EF_TRY(known_size(i, 1, &size));
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {size}};
    return NULL;
}

static ef_status *dense_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    int64_t size;
    EF_TRY(ef_need_rank_at_most(i, 0, 2));
    EF_TRY(known_size(i, 1, &size));
    if (x->rank < 0) return NULL;
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {size}};
    if (x->rank == 2) i->out[0].shape = (ef_shape){.rank = 2, .dim = {x->dim[0], size}};
    return ef_need_size_held(i->op, &i->out[0].shape);
}

/* The bins of n numbers without weights; those beyond the last bin are put behind it. */
#define BINS_OF(T)                                                     \
    {                                                                  \
        const T *x = (const T *)b->values->data + from;                \
        for (int64_t k = 0; k < n; k++) {                              \
            bad |= x[k] < 0;                                           \
            bin[k] = (int32_t)(x[k] < (T)b->size ? x[k] : (T)b->size); \
        }                                                              \
        return !bad;                                                   \
    }
static bool bins_of(const void *arg, int64_t from, int64_t n, int32_t *bin) {
    const bins *b = arg;
    bool bad = false;
    if (b->values->dtype == EF_I32) BINS_OF(int32_t)
    BINS_OF(int64_t)
}

static ef_status *dense_run(const ef_call *c) {
    bins b;
    EF_TRY(open_bins(c, 0, 2, &b));
    if (!b.weighted && b.rows == 1 && b.size < INT32_MAX) {
        bool ok;
        ef_bin_count count = {.n = b.n,
                              .bins = b.size,
                              .fn = bins_of,
                              .arg = &b,
                              .binary = b.binary,
                              .type = (ef_dtype)b.out->dtype,
                              .out = b.out->data};
        EF_TRY(ef_bin_count_run(&count, &ok));
        if (ok) return NULL; /* else the loop below finds the negative number */
    }
    int64_t wide = b.rows > 0 ? b.n / b.rows : 0;
    for (int64_t k = 0; k < b.n; k++) EF_TRY(put(&b, b.rows > 1 ? k / wide : 0, k));
    return NULL;
}

/* ---- sparse and ragged numbers -----------------------------------------------------------------
 */

static ef_status *sparse_shape(ef_infer *i) {
    int64_t size, dim[EF_MAX_RANK];
    int rank = -1;
    bool known;
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 1));
    EF_TRY(ef_need_rank(i, 2, 1));
    EF_TRY(known_size(i, 3, &size));
    EF_TRY(ef_known_ints(i, 2, dim, EF_MAX_RANK, &rank, &known));
    const ef_shape *given = &i->in[2].shape;
    if (!known) rank = given->rank == 1 && given->dim[0] >= 0 ? (int)given->dim[0] : -1;
    if (rank < 0) return NULL;
    if (rank != 1 && rank != 2)
        return ef_error(EF_INVALID, "%s: dense_shape has %d sizes; it must have 1 or 2",
                        i->op->name, rank);
    if (known && rank == 2 && dim[0] < 0)
        return ef_error(EF_INVALID, "%s: dense_shape[0] is %lld; sizes must not be negative",
                        i->op->name, (long long)dim[0]);
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {size}};
    if (rank == 2)
        i->out[0].shape = (ef_shape){.rank = 2, .dim = {known ? dim[0] : EF_DIM_UNKNOWN, size}};
    return ef_need_size_held(i->op, &i->out[0].shape);
}

static ef_status *sparse_run(const ef_call *c) {
    const ef_tensor *places = c->in[0], *dense = c->in[2];
    int64_t rank = ef_count(dense);
    bins b;
    EF_TRY(open_bins(c, 1, 4, &b));
    if (places->dim[0] != b.n || places->dim[1] != rank)
        return ef_error(EF_INVALID,
                        "%s: indices have shape %s, but there are %lld values of rank %lld",
                        c->op->name, EF_TENSOR(places), (long long)b.n, (long long)rank);
    const int64_t *at = places->data;
    for (int64_t k = 0; k < b.n; k++) {
        for (int64_t d = 0; d < rank; d++) {
            int64_t p = at[k * rank + d], limit = ef_in_int(c, 2, d);
            if (p < 0 || p >= limit)
                return ef_error(EF_INVALID,
                                "%s: Index value at batch %lld is %lld along %lld: out of bounds "
                                "for size %lld",
                                c->op->name, (long long)k, (long long)p, (long long)d,
                                (long long)limit);
        }
        EF_TRY(put(&b, rank == 2 ? at[k * rank] : 0, k));
    }
    return NULL;
}

static ef_status *ragged_shape(ef_infer *i) {
    const ef_shape *splits = &i->in[0].shape;
    int64_t size;
    EF_TRY(ef_need_rank(i, 0, 1));
    EF_TRY(known_size(i, 2, &size));
    if (splits->rank == 1 && splits->dim[0] == 0)
        return ef_error(EF_INVALID, "%s: Splits must be non-empty", i->op->name);
    bool known = splits->rank == 1 && splits->dim[0] > 0;
    int64_t rows = known ? splits->dim[0] - 1 : EF_DIM_UNKNOWN;
    i->out[0].shape = (ef_shape){.rank = 2, .dim = {rows, size}};
    return ef_need_size_held(i->op, &i->out[0].shape);
}

static ef_status *ragged_run(const ef_call *c) {
    const int64_t *splits = c->in[0]->data;
    bins b;
    EF_TRY(open_bins(c, 1, 3, &b));
    if (splits[0] != 0 || splits[b.rows] != b.n)
        return ef_error(EF_INVALID,
                        "%s: Splits must start with 0 and end with the number of values, %lld; "
                        "they go from %lld to %lld",
                        c->op->name, (long long)b.n, (long long)splits[0],
                        (long long)splits[b.rows]);
    for (int64_t row = 0; row < b.rows; row++) {
        if (splits[row + 1] < splits[row] || splits[row + 1] > b.n)
            return ef_error(EF_INVALID, "%s: Splits must not decrease: %lld follows %lld",
                            c->op->name, (long long)splits[row + 1], (long long)splits[row]);
        for (int64_t k = splits[row]; k < splits[row + 1]; k++) EF_TRY(put(&b, row, k));
    }
    return NULL;
}

#define WEIGHTS "T: {int32, int64, float, double}"
#define BINARY \
    { EF_ATTR(bin_attrs, binary_output, "bool", "false") }

const ef_op ef_op_Bincount = {
    EF_NAMED(Bincount),
    .doc = "Counts how often each number below `size` occurs in `arr`, or sums its weights.",
    .in = {"arr: int32", "size: int32", "weights: T"},
    .out = {"bins: T"},
    .types = WEIGHTS,
    .traits = EF_GRAD_UNDEFINED,
    .shape = bincount_shape,
    .kernel = {{EF_CPU, EF_ANY, dense_run, NULL, NULL, NULL, NULL}},
    .examples = {"int32[5]:0..4 int32[]{3} T[5]", "int32[2,3]:0..4 int32[]{4} T[0]"},
};

const ef_op ef_op_DenseBincount = {
    EF_NAMED(DenseBincount),
    .doc = "Counts how often each number below `size` occurs in `input`, row by row if it has two "
           "axes, or sums its weights; with `binary_output`, tells only whether it occurs.",
    .in = {"input: Tidx", "size: Tidx", "weights: T"},
    .out = {"output: T"},
    .types = "Tidx: {int32, int64}; " WEIGHTS,
    .attr = BINARY,
    .attr_size = sizeof(bin_attrs),
    .traits = EF_GRAD_UNDEFINED,
    .shape = dense_shape,
    .kernel = {{EF_CPU, EF_ANY, dense_run, NULL, NULL, NULL, NULL}},
    .examples = {"int32[5]:0..4 int32[]{3} T[5]", "int64[2,3]:0..4 int64[]{4} T[0]",
                 "int32[2,3]:0..4 int32[]{4} float[0] binary_output=true",
                 "int32[]{2} int32[]{4} int64[0]"},
};

const ef_op ef_op_SparseBincount = {
    EF_NAMED(SparseBincount),
    .doc = "Counts how often each number below `size` occurs in a sparse tensor, row by row if it "
           "has two axes, or sums its weights; with `binary_output`, tells only whether it occurs.",
    .in = {"indices: int64", "values: Tidx", "dense_shape: int64", "size: Tidx", "weights: T"},
    .out = {"output: T"},
    .types = "Tidx: {int32, int64}; " WEIGHTS,
    .attr = BINARY,
    .attr_size = sizeof(bin_attrs),
    .traits = EF_GRAD_UNDEFINED,
    .shape = sparse_shape,
    .kernel = {{EF_CPU, EF_ANY, sparse_run, NULL, NULL, NULL, NULL}},
    .examples = {"int64[3,1]{0,2,4} int32[3]{1,0,1} int64[1]{6} int32[]{3} T[3]",
                 "int64[2,2]{0,1,2,0} int64[2]{2,2} int64[2]{3,2} int64[]{3} T[0]",
                 "int64[0,2] int32[0] int64[2]{2,2} int32[]{3} float[0] binary_output=true"},
};

const ef_op ef_op_RaggedBincount = {
    EF_NAMED(RaggedBincount),
    .doc = "Counts how often each number below `size` occurs in each row of a ragged matrix, or "
           "sums its weights; with `binary_output`, tells only whether it occurs.",
    .in = {"splits: int64", "values: Tidx", "size: Tidx", "weights: T"},
    .out = {"output: T"},
    .types = "Tidx: {int32, int64}; " WEIGHTS,
    .attr = BINARY,
    .attr_size = sizeof(bin_attrs),
    .traits = EF_GRAD_UNDEFINED,
    .shape = ragged_shape,
    .kernel = {{EF_CPU, EF_ANY, ragged_run, NULL, NULL, NULL, NULL}},
    .examples = {"int64[3]{0,1,3} int32[3]{1,0,1} int32[]{3} T[3]",
                 "int64[3]{0,0,2} int64[2]{2,2} int64[]{4} float[0] binary_output=true"},
};
