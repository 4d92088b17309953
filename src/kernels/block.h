/* Moving blocks of elements: one n-dimensional strided copy used by slice, concat, transpose, pad,
 * tile, reverse, space-to-batch and similar ops. An op describes its block axis by axis; the copy
 * here chooses a fast loop. Elements are opaque: only their size matters, except that strings are
 * copied deeply. */
#ifndef EF_KERNELS_BLOCK_H
#define EF_KERNELS_BLOCK_H
#include "base/status.h"
#include "tensor/dtype.h"

enum { EF_BLOCK_RANK = 3 * EF_MAX_RANK };
typedef struct ef_block {
    int rank;
    int64_t dim[EF_BLOCK_RANK];
    int64_t from[EF_BLOCK_RANK],
        to[EF_BLOCK_RANK]; /* strides in elements; from may be 0 or negative */
} ef_block;                /* zero-initialised: one element */

/* Adds an axis inside those already added. */
static inline void ef_block_axis(ef_block *b, int64_t dim, int64_t from, int64_t to) {
    b->dim[b->rank] = dim;
    b->from[b->rank] = from;
    b->to[b->rank++] = to;
}
/* Copies the block; dst and src point to its first elements and do not overlap. Fails only for
 * strings, when memory runs out. Axes are listed in dst's order, outermost first. */
ef_status *ef_block_copy(ef_dtype t, void *dst, const void *src, const ef_block *b);
/* Copies n elements from src to dst, both dense. */
ef_status *ef_copy_elements(ef_dtype t, void *dst, const void *src, int64_t n);
/* Writes the element at `value` n times. */
ef_status *ef_fill_elements(ef_dtype t, void *dst, const void *value, int64_t n);
/* Writes n zeros (empty strings). */
ef_status *ef_zero_elements(ef_dtype t, void *dst, int64_t n);
/* Strides of a dense row-major array with these dims. */
static inline void ef_dense_steps(int rank, const int64_t *dim, int64_t *step) {
    int64_t n = 1;
    for (int d = rank - 1; d >= 0; d--) {
        step[d] = n;
        n *= dim[d];
    }
}
#endif
