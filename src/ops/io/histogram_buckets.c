/* _HistogramBuckets: the bucket counts for tf.summary.histogram, in one pass over the values. */
#include "ops/array/array.h"
#include <math.h>

static ef_status *buckets_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 1, 0));
    int64_t count = 0;
    int n = 0;
    bool known = false;
    EF_TRY(ef_known_ints(i, 1, &count, 1, &n, &known));
    i->out[0].shape = ef_shape_of_rank(2);
    i->out[0].shape.dim[1] = 3;
    if (known) i->out[0].shape.dim[0] = count > 0 ? count : 0;
    return NULL;
}

/* The range is NaN if any value is NaN. */
static void find_range(const ef_tensor *x, int64_t n, double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (int64_t k = 0; k < n; k++) {
        const double v = ef_element_double((ef_dtype)x->dtype, x->data, k);
        if (isnan(v)) {
            *low = *high = v;
            return;
        }
        *low = v < *low ? v : *low;
        *high = v > *high ? v : *high;
    }
}

/* Writes rows of left edge, right edge and count. If all values are equal, all edges are that value
 * and the last bucket counts them. */
static ef_status *buckets_run(const ef_call *c) {
    const ef_tensor *x = c->in[0];
    const int64_t n = ef_count(x), buckets = c->out[0]->dim[0];
    double(*row)[3] = c->out[0]->data, low, high;
    if (buckets == 0) return NULL;
    memset(row, 0, (size_t)buckets * sizeof *row);
    if (n == 0) return NULL;
    find_range(x, n, &low, &high);
    const double width = (high - low) / (double)buckets;
    const bool single = high - low == 0;
    for (int64_t k = 0; k < buckets; k++) {
        row[k][0] = single ? high : k == 0 ? low : low + width * (double)k;
        row[k][1] = single || k == buckets - 1 ? high : low + width * (double)(k + 1);
    }
    if (single) row[buckets - 1][2] = (double)n;
    for (int64_t k = 0; k < n && !single; k++) {
        const double v = ef_element_double((ef_dtype)x->dtype, x->data, k);
        const double at = floor((v - low) / width);
        if (at >= 0) row[at < (double)buckets ? (int64_t)at : buckets - 1][2]++;
    }
    return NULL;
}

const ef_op ef_op__HistogramBuckets = {
    EF_NAMED(_HistogramBuckets),
    .doc = "Counts the values in each of `count` buckets of equal width between the smallest and "
           "the largest value: rows of left edge, right edge and count.",
    .in = {"values: T", "count: int32"},
    .out = {"buckets: double"},
    .types = "T: " EF_COMPUTED_TYPES,
    .traits = EF_NO_GRAD,
    .data_in = 1,
    .shape = buckets_shape,
    .kernel = EF_ANY_KERNEL(buckets_run),
    .examples = {"T[2,5] int32[]{4}", "float[0] int32[]{3}", "float[3]{2,2,2} int32[]{3}"},
};
