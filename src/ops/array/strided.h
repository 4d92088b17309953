/* The meaning of x[begin:end:stride, ..., newaxis, i], in one place for the ops that take,
 * differentiate, update and assign such slices. */
#ifndef EF_OPS_STRIDED_H
#define EF_OPS_STRIDED_H
#include "kernels/block.h"
#include "ops/op.h"

typedef struct {
    int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_axis_mask;
} ef_strided_attrs;
#define EF_STRIDED_ATTRS                                            \
    {                                                               \
        EF_ATTR(ef_strided_attrs, begin_mask, "int", "0"),          \
            EF_ATTR(ef_strided_attrs, end_mask, "int", "0"),        \
            EF_ATTR(ef_strided_attrs, ellipsis_mask, "int", "0"),   \
            EF_ATTR(ef_strided_attrs, new_axis_mask, "int", "0"),   \
            EF_ATTR(ef_strided_attrs, shrink_axis_mask, "int", "0") \
    }

typedef struct ef_strided {
    int rank; /* of x */
    int64_t begin[EF_MAX_RANK], stride[EF_MAX_RANK];
    int64_t count[EF_MAX_RANK]; /* elements selected along each axis of x; may be unknown or
                                 * symbolic */
    ef_shape out;               /* the slice's shape */
    int axis[EF_MAX_RANK];      /* for each axis of the slice: an axis of x, or -1: a new one */
} ef_strided;

/* begin, end, strides: vectors of n entries; begin and end may be NULL (not known), strides may
 * not. The rank of x is known. */
ef_status *ef_strided_read(const ef_op *op, const ef_strided_attrs *a, const ef_shape *x, int64_t n,
                           const ef_tensor *begin, const ef_tensor *end, const ef_tensor *strides,
                           ef_strided *out);
/* The copy that reads the slice from a tensor of x's shape into a dense one or, with `put`, writes
 * it from the dense one. *first: the index in x of the slice's first element. */
void ef_strided_block(const ef_strided *s, const int64_t *x_dim, bool put, ef_block *b,
                      int64_t *first);
/* Whether a value of that shape may be written into the slice: it has the slice's shape or
 * broadcasts to it; extra leading dims of 1 are allowed. If the slice is empty, any value may. Dims
 * may be unknown. */
ef_status *ef_strided_fits(const ef_op *op, const ef_strided *s, const ef_shape *value);
/* Writes a value that fits into the slice of x. */
ef_status *ef_strided_put(const ef_strided *s, ef_tensor *x, const ef_tensor *value);
#endif
