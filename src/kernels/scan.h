/* Cumulative sums, products and log-sum-exps along the middle axis of [outer, n, inner]. */
#ifndef EF_KERNELS_SCAN_H
#define EF_KERNELS_SCAN_H
#include "tensor/dtype.h"

typedef enum ef_scan_kind { EF_SCAN_SUM, EF_SCAN_PROD, EF_SCAN_LOGSUMEXP } ef_scan_kind;

typedef struct ef_scan {
    ef_scan_kind kind;
    ef_dtype dtype; /* any number; LOGSUMEXP: floats */
    int64_t outer, n, inner;
    bool exclusive, reverse;
    const void *in;
    void *out; /* may be the same as in */
} ef_scan;
void ef_scan_run(const ef_scan *s);
#endif
