/* Products that no library computes well: tiny f32 ones, where a call costs more than the
 * arithmetic, and integers of any size. */
#ifndef EF_KERNELS_GEMM_LOOP_H
#define EF_KERNELS_GEMM_LOOP_H
#include "kernels/gemm.h"

/* Returns true if the product was small enough and was computed (f32). Uses neither heap memory nor
 * threads. */
bool ef_gemm_tiny(const ef_gemm_args *g);
/* The same for many rows, not transposed: the rows of b are `ldb` elements apart and padded to
 * whole vectors. */
void ef_gemm_panels(const ef_gemm_args *g, const float *b, int64_t ldb);
/* Any dtype but the 16-bit floats; uses threads if that is faster. */
void ef_gemm_loop(const ef_gemm_args *g);
#endif
