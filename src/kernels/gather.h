/* Selecting rows by index. */
#ifndef EF_KERNELS_GATHER_H
#define EF_KERNELS_GATHER_H
#include "base/status.h"
#include "tensor/dtype.h"

/* out[b][o][i][:] = params[b][o][index[b][i]][:], for b < batches, o < outer, i < n; each row has
 * `inner` elements. Fails only for strings. All indices are in [0, rows). */
typedef struct ef_gather_job {
    ef_dtype dtype, index_dtype;
    int64_t batches, outer, n, rows, inner;
    const void *params, *index;
    void *out;
} ef_gather_job;
ef_status *ef_gather(const ef_gather_job *g);
/* The first of n indices that is not in [0, rows), or -1. */
int64_t ef_index_outside(ef_dtype t, const void *index, int64_t n, int64_t rows);
#endif
