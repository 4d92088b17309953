/* Ordering: the largest k of a row, the n-th smallest, and insertion positions in sorted rows.
 * Values are mapped to unsigned keys with the same order; NaN counts as larger than everything, -0
 * as 0. */
#ifndef EF_KERNELS_SORT_H
#define EF_KERNELS_SORT_H
#include "base/status.h"
#include "tensor/dtype.h"

/* Element i as a key. Reals only. */
uint64_t ef_sort_key(ef_dtype t, const void *p, int64_t i);

/* The k largest of each row, largest first; equal elements in their original order; 0 <= k <= n. */
typedef struct ef_top_k {
    ef_dtype dtype, index_type; /* any real; int16, int32 or int64 */
    int64_t rows, n, k;
    const void *in;
    void *values, *indices;
} ef_top_k;
ef_status *ef_top_k_run(const ef_top_k *t);

/* The element at index `nth` of each row in ascending (or, reversed, descending) order. */
ef_status *ef_nth_element(ef_dtype t, const void *in, void *out, int64_t rows, int64_t n,
                          int64_t nth, bool largest);
#endif
