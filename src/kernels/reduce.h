/* Reductions of row-major tensors over any set of axes.
 *
 * A reducer is the arithmetic of one kind and dtype: it keeps accumulators (wider than the elements
 * where that serves accuracy) and takes in rows or columns of elements. The driver collapses the
 * shape and picks the walk; a fused program may end in a reducer too, tile by tile. */
#ifndef EF_KERNELS_REDUCE_H
#define EF_KERNELS_REDUCE_H
#include "tensor/dtype.h"

typedef enum ef_reduce_kind {
    EF_REDUCE_SUM,
    EF_REDUCE_MEAN, /* integers divide as C does; the mean of nothing is NaN, or 0 for integers */
    EF_REDUCE_PROD,
    EF_REDUCE_MAX, /* NaN if any element is; of nothing: the lowest value, as for MIN the highest */
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
}; /* columns at a time; bytes of an accumulator */

typedef struct ef_reducer {
    size_t acc_size; /* bytes of one accumulator, at most EF_REDUCE_ACC */
    void (*begin)(void *acc, int64_t n);
    /* acc[r] takes in the n elements of row r; rows are `stride` elements apart. */
    void (*rows)(void *acc, const void *in, int64_t rows, int64_t stride, int64_t n);
    /* acc[j] takes in column j; n <= EF_REDUCE_WIDTH. */
    void (*cols)(void *acc, const void *in, int64_t rows, int64_t stride, int64_t n);
    void (*merge)(void *acc, const void *other, int64_t n);
    /* out[i] from acc[i], each of which took in `count` elements. */
    void (*end)(void *out, const void *acc, int64_t n, int64_t count);
} ef_reducer;
const ef_reducer *ef_reducer_find(ef_reduce_kind kind, ef_dtype t); /* NULL: no such reduction */

/* Bit d of `axes`: axis d is reduced. out has the other axes, in order. The reducer exists. */
void ef_reduce(ef_reduce_kind kind, ef_dtype t, int rank, const int64_t *dim, uint32_t axes,
               const void *in, void *out);
#endif
