/* Reductions of row-major tensors over any set of axes.
 *
 * A reducer is the arithmetic of one kind and dtype: it has accumulators (wider than the elements
 * where accuracy needs it) and adds rows or columns of elements to them. The driver collapses the
 * shape and chooses the order of iteration; a fused program may also end in a reducer, tile by
 * tile. */
#ifndef EF_KERNELS_REDUCE_H
#define EF_KERNELS_REDUCE_H
#include "tensor/dtype.h"

typedef enum ef_reduce_kind {
    EF_REDUCE_SUM,
    EF_REDUCE_MEAN, /* integer division truncates; the mean of no elements is NaN, or 0 for
                     * integers */
    EF_REDUCE_PROD,
    EF_REDUCE_MAX, /* NaN if any element is NaN; of no elements: the lowest value (MIN: the
                    * highest) */
    EF_REDUCE_MIN,
    EF_REDUCE_ALL,
    EF_REDUCE_ANY,
    EF_REDUCE_NORM,    /* square root of the sum of squares */
    EF_REDUCE_L2_LOSS, /* half the sum of squares */
    EF_REDUCE_KINDS
} ef_reduce_kind;

enum {
    EF_REDUCE_WIDTH = 1024,
    EF_REDUCE_ACC = 16
}; /* columns processed together; bytes of an accumulator */

typedef struct ef_reducer {
    size_t acc_size; /* bytes of one accumulator, at most EF_REDUCE_ACC */
    void (*begin)(void *acc, int64_t n);
    /* Adds the n elements of row r to acc[r]; rows are `stride` elements apart. */
    void (*rows)(void *acc, const void *in, int64_t rows, int64_t stride, int64_t n);
    /* Adds column j to acc[j]; n <= EF_REDUCE_WIDTH. */
    void (*cols)(void *acc, const void *in, int64_t rows, int64_t stride, int64_t n);
    void (*merge)(void *acc, const void *other, int64_t n);
    /* Computes out[i] from acc[i], to which `count` elements were added. */
    void (*end)(void *out, const void *acc, int64_t n, int64_t count);
} ef_reducer;
const ef_reducer *ef_reducer_find(ef_reduce_kind kind, ef_dtype t); /* NULL: not defined for t */

/* Bit d of `axes`: axis d is reduced. out has the other axes, in order. The reducer must exist. */
void ef_reduce(ef_reduce_kind kind, ef_dtype t, int rank, const int64_t *dim, uint32_t axes,
               const void *in, void *out);
#endif
