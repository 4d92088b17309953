/* Index tensors whose last axis holds coordinates: how GatherNd and the scatter ops find slices. */
#ifndef EF_OPS_ND_INDEX_H
#define EF_OPS_ND_INDEX_H
#include "ops/op.h"

typedef struct {
    ef_attr_text bad_indices_policy;
} ef_nd_attrs;
#define EF_ND_ATTRS \
    { EF_ATTR(ef_nd_attrs, bad_indices_policy, "string", "''") }

typedef struct ef_nd {
    const ef_tensor *indices;
    ef_shape into;             /* the tensor indexed */
    int depth;                 /* coordinates per index */
    int64_t rows, slice;       /* number of indices; elements of the slice that each selects */
    int64_t step[EF_MAX_RANK]; /* stride of each coordinate in elements */
    bool ignore;               /* skip indices outside instead of failing */
} ef_nd;

/* indices has rank >= 1, and its last axis is not longer than the rank of `into`. */
ef_status *ef_nd_make(const ef_op *op, const ef_nd_attrs *a, const ef_tensor *indices,
                      const ef_shape *into, ef_nd *out);
/* Offset of slice k in elements; -1 if the index is out of range. */
static inline int64_t ef_nd_at(const ef_nd *n, int64_t k) {
    int64_t at = 0;
    for (int d = 0; d < n->depth; d++) {
        int64_t v = ef_element_int((ef_dtype)n->indices->dtype, n->indices->data, k * n->depth + d);
        if (v < 0 || v >= n->into.dim[d]) return -1;
        at += v * n->step[d];
    }
    return at;
}
ef_status *ef_nd_outside(const ef_op *op, const ef_nd *n, int64_t k); /* the error for index k */
/* Shape of the selected slices: indices.shape[:-1] + into.shape[depth:]. Unknown parts pass. */
ef_status *ef_nd_shape(const ef_op *op, const ef_shape *indices, const ef_shape *into,
                       ef_shape *out);
#endif
