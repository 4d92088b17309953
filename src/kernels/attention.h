/* Attention, softmax(q k^T) v, and its gradients, without storing the scores: they exist for a
 * block of queries at a time, in memory that stays in the cache. */
#ifndef EF_KERNELS_ATTENTION_H
#define EF_KERNELS_ATTENTION_H
#include "tensor/dtype.h"
#include "tensor/shape.h"

/* One matrix for each index of the batch; all strides are in elements. */
typedef struct ef_matrices {
    void *data; /* NULL: there are none */
    int64_t row, col;
    int64_t step[EF_MAX_RANK];
} ef_matrices;

/* The scores are q k^T, multiplied (or divided) by `scale`, plus `bias`; where `mask` is false,
 * `fill` instead. Of the strides of q, k, v, out and the gradients, row or col is 1; of bias and
 * mask col is 0 or 1. */
typedef struct ef_attention {
    ef_dtype dtype; /* EF_F32 or EF_F64 */
    int rank;       /* of the batch */
    int64_t dim[EF_MAX_RANK];
    int64_t queries, keys, width, depth;
    ef_matrices q, k, v; /* queries x width, keys x width, keys x depth */
    const void *scale;   /* or NULL */
    bool divides;
    ef_matrices bias, mask; /* queries x keys */
    const void *fill;
    ef_matrices out;        /* queries x depth: the result, or the gradient with respect to it */
    ef_matrices dq, dk, dv; /* gradients, as q, k and v; no data: not wanted */
} ef_attention;

/* How work is divided depends on the sizes only, so results do not depend on the number of threads.
 * False: no memory. */
bool ef_attention_run(const ef_attention *a);
bool ef_attention_gradient(const ef_attention *a);
#endif
