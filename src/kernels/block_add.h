/* Adding a block to another: gradients of ops that repeat elements. */
#ifndef EF_KERNELS_BLOCK_ADD_H
#define EF_KERNELS_BLOCK_ADD_H
#include "kernels/block.h"

/* dst += src over the block; several positions may map to one element of dst (strides of 0, tiles).
 * Along a single axis whose stride in dst is not 0, different positions map to different elements.
 * Numbers only. For 16-bit floats dst is an array of float, so that long sums stay accurate. */
void ef_block_add(ef_dtype t, void *dst, const void *src, const ef_block *b);
/* The type ef_block_add sums in: float for 16-bit floats, else t itself. */
static inline ef_dtype ef_sum_dtype(ef_dtype t) { return t == EF_F16 || t == EF_BF16 ? EF_F32 : t; }
/* Rounds n sums of ef_sum_dtype(t) to t; dst may be src when both types are the same. */
void ef_round_sums(ef_dtype t, void *dst, const void *src, int64_t n);
#endif
