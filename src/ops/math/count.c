/* Finding the bin or the position of a value: HistogramFixedWidth, Bucketize, LowerBound,
 * UpperBound. None has a gradient. */
#include "kernels/bin_count.h"
#include "kernels/search.h"
#include "ops/array/array.h"
#include "ops/shapes.h"
#include <math.h>

#define VALUE_TYPES "T: {int32, int64, float, double}"

/* ---- HistogramFixedWidth ----------------------------------------------------------------------
 */

typedef struct {
    ef_dtype dtype;
} histogram_attrs;

static ef_status *check_bins(const ef_op *op, int64_t n) {
    if (n > 0) return NULL;
    return ef_error(EF_INVALID, "%s: nbins should be a positive number, but got '%lld'", op->name,
                    (long long)n);
}

static ef_status *histogram_shape(ef_infer *i) {
    int64_t n = EF_DIM_UNKNOWN;
    bool known;
    const ef_shape *range = &i->in[1].shape;
    if (range->rank >= 0 && (range->rank != 1 || !ef_dim_may_equal(range->dim[0], 2)))
        return ef_error(EF_INVALID, "%s: value_range should be a vector of 2 elements, but is %s",
                        i->op->name, EF_SHAPE(range));
    EF_TRY(ef_need_rank(i, 2, 0));
    EF_TRY(ef_known_int(i, 2, &n, &known));
    if (known) EF_TRY(check_bins(i->op, n));
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {known ? n : EF_DIM_UNKNOWN}};
    return NULL;
}

typedef struct {
    ef_dtype dtype;
    const void *values;
    double lo, step, bins;
} histogram;

/* The bins of n values. Values are compared and divided as doubles, whatever their dtype. With one
 * bin, NaN is counted too; else it has no bin. */
#define BINS_OF(T)                                         \
    {                                                      \
        const T *x = (const T *)h->values + from;          \
        for (int64_t k = 0; k < n; k++) {                  \
            double v = (double)x[k];                       \
            double at = (v > lo ? v - lo : 0) / step;      \
            bad |= v != v;                                 \
            at = at < bins ? at : at == at ? bins - 1 : 0; \
            bin[k] = (int32_t)at;                          \
        }                                                  \
        break;                                             \
    }
static bool bins_of(const void *arg, int64_t from, int64_t n, int32_t *bin) {
    const histogram *h = arg;
    double lo = h->lo, step = h->step, bins = h->bins;
    bool bad = false;
    switch (h->dtype) {
    case EF_F32: BINS_OF(float)
    case EF_F64: BINS_OF(double)
    case EF_I32: BINS_OF(int32_t)
    default: BINS_OF(int64_t)
    }
    return !bad || bins == 1;
}

static ef_status *histogram_run(const ef_call *c) {
    const ef_tensor *x = c->in[0], *range = c->in[1], *y = c->out[0];
    ef_dtype t = (ef_dtype)x->dtype;
    int64_t bins = y->dim[0], n = ef_count(x);
    EF_TRY(check_bins(c->op, bins));
    double lo = ef_element_double(t, range->data, 0), hi = ef_element_double(t, range->data, 1);
    if (!(lo < hi))
        return ef_error(
            EF_INVALID,
            "%s: value_range should satisfy value_range[0] < value_range[1], but got '[%g, "
            "%g]'",
            c->op->name, lo, hi);
    histogram h = {t, x->data, lo, (hi - lo) / (double)bins, (double)bins};
    bool ok = true;
    ef_bin_count count = {
        .n = n, .bins = bins, .fn = bins_of, .arg = &h, .type = (ef_dtype)y->dtype, .out = y->data};
    EF_TRY(ef_bin_count_run(&count, &ok));
    for (int64_t k = 0; k < n && !ok; k++)
        if (isnan(ef_element_double(t, x->data, k)))
            return ef_error(EF_INVALID,
                            "%s: Histogram values must not contain NaN, but element %lld "
                            "is",
                            c->op->name, (long long)k);
    return NULL;
}

const ef_op ef_op_HistogramFixedWidth = {
    EF_NAMED(HistogramFixedWidth),
    .doc = "Counts values in `nbins` bins of equal width over `value_range`; values outside it "
           "count in the first or last bin.",
    .in = {"values: T", "value_range: T", "nbins: int32"},
    .out = {"out: dtype"},
    .types = VALUE_TYPES,
    .attr = {EF_ATTR(histogram_attrs, dtype, "{int32, int64}", "int32")},
    .attr_size = sizeof(histogram_attrs),
    .traits = EF_NO_GRAD,
    .shape = histogram_shape,
    .kernel = {{EF_CPU, EF_ANY, histogram_run, NULL, NULL, NULL, NULL}},
    .examples = {"float[2,5] float[2]{-1,1} int32[]{4}",
                 "int32[6]:0..9 int32[2]{0,8} int32[]{3} dtype=int64",
                 "double[0] double[2]{0,1} int32[]{2}"},
};

/* ---- Bucketize --------------------------------------------------------------------------------
 */

typedef struct {
    ef_floats boundaries;
} bucket_attrs;

static ef_status *bucket_shape(ef_infer *i) {
    const ef_floats *b = &((const bucket_attrs *)i->attrs)->boundaries;
    for (int k = 1; k < b->n; k++)
        if (b->at[k] < b->at[k - 1])
            return ef_error(EF_INVALID, "%s: Expected sorted boundaries, but %g follows %g",
                            i->op->name, (double)b->at[k], (double)b->at[k - 1]);
    return ef_shape_same(i);
}

static ef_status *bucket_run(const ef_call *c) {
    const ef_floats *b = &((const bucket_attrs *)c->attrs)->boundaries;
    const ef_tensor *x = c->in[0];
    int64_t n = ef_count(x);
    for (int64_t k = 0; k < n; k++) {
        double v = ef_element_double((ef_dtype)x->dtype, x->data, k);
        int lo = 0, hi = b->n; /* finds the first boundary above v; NaN is above all */
        while (lo < hi) {
            int mid = lo + (hi - lo) / 2;
            if (v < (double)b->at[mid])
                hi = mid;
            else
                lo = mid + 1;
        }
        ((int32_t *)c->out[0]->data)[k] = lo;
    }
    return NULL;
}

const ef_op ef_op_Bucketize = {
    EF_NAMED(Bucketize),
    .doc = "For each element, the number of sorted `boundaries` that are less than or equal to it.",
    .in = {"input: T"},
    .out = {"output: int32"},
    .types = VALUE_TYPES,
    .attr = {EF_ATTR(bucket_attrs, boundaries, "list(float)", NULL)},
    .attr_size = sizeof(bucket_attrs),
    .traits = EF_NO_GRAD,
    .shape = bucket_shape,
    .kernel = {{EF_CPU, EF_ANY, bucket_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,3] boundaries=[0, 1, 10]", "T[] boundaries=[0.5]", "T[4] boundaries=[]"},
};

/* ---- LowerBound, UpperBound -------------------------------------------------------------------
 */

typedef struct {
    ef_dtype out_type;
} bound_attrs;

static ef_status *bound_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape, *v = &i->in[1].shape;
    int64_t rows;
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 2));
    if (x->rank == 2 && v->rank == 2)
        EF_TRY(ef_need_same_dim(i, x->dim[0], v->dim[0],
                                "Leading dim_size of both tensors must match", &rows));
    i->out[0].shape = *v;
    return NULL;
}

static ef_status *bound(const ef_call *c, bool upper) {
    const ef_tensor *x = c->in[0], *v = c->in[1];
    ef_search s = {.dtype = (ef_dtype)x->dtype,
                   .index_type = (ef_dtype)c->out[0]->dtype,
                   .upper = upper,
                   .rows = v->dim[0],
                   .n = x->dim[1],
                   .m = v->dim[1],
                   .sorted = x->data,
                   .values = v->data,
                   .out = c->out[0]->data};
    ef_search_run(&s);
    return NULL;
}
static ef_status *run_lower(const ef_call *c) { return bound(c, false); }
static ef_status *run_upper(const ef_call *c) { return bound(c, true); }

#define BOUND(N, DOC, RUN)                                                                       \
    const ef_op ef_op_##N = {                                                                    \
        EF_NAMED(N),                                                                             \
        .doc = DOC,                                                                              \
        .in = {"sorted_inputs: T", "values: T"},                                                 \
        .out = {"output: out_type"},                                                             \
        .types = "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, " \
                 "uint32, uint64}",                                                              \
        .attr = {EF_ATTR(bound_attrs, out_type, "{int32, int64}", "int32")},                     \
        .attr_size = sizeof(bound_attrs),                                                        \
        .traits = EF_NO_GRAD,                                                                    \
        .shape = bound_shape,                                                                    \
        .kernel = {{EF_CPU, EF_REALS, RUN, NULL, NULL, NULL, NULL}},                             \
        .examples = {"T[2,3]{1,3,3,0,5,9} T[2,2]{3,4,5,1}", "T[1,0] T[1,3] out_type=int64",      \
                     "T[0,3] T[0,2]"},                                                           \
    };
BOUND(LowerBound,
      "For each value, the first index at which it can be inserted into its sorted row.", run_lower)
BOUND(UpperBound, "For each value, the last index at which it can be inserted into its sorted row.",
      run_upper)
