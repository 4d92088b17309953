/* Counting how often each bin occurs. */
#ifndef EF_KERNELS_BIN_COUNT_H
#define EF_KERNELS_BIN_COUNT_H
#include "base/status.h"
#include "tensor/dtype.h"
#include <stdbool.h>
#include <stdint.h>

enum { EF_BIN_BLOCK = 512 };
/* Writes the bins of numbers [from, from + n), n <= EF_BIN_BLOCK, each at most `bins`; what is
 * put into bin number `bins` is not counted. False: a number among them has no bin. */
typedef bool ef_bin_fn(const void *arg, int64_t from, int64_t n, int32_t *bin);

typedef struct ef_bin_count {
    int64_t n, bins; /* bins < INT32_MAX */
    ef_bin_fn *fn;   /* called on several threads */
    const void *arg;
    bool binary;   /* 1 for each bin that occurs, instead of its count */
    ef_dtype type; /* of out: int32, int64, float or double; a float counts up to 2^24 */
    void *out;
} ef_bin_count;
/* *ok: whether all numbers had a bin; if not, the counts are not complete. */
ef_status *ef_bin_count_run(const ef_bin_count *t, bool *ok);
#endif
