/* The products no library does for us: tiny f32 ones, where a call costs more than the arithmetic,
 * and integers of any size. */
#ifndef EF_KERNELS_GEMM_LOOP_H
#define EF_KERNELS_GEMM_LOOP_H
#include "kernels/gemm.h"

/* True if the product was small enough to be done here (f32). Takes neither memory nor threads. */
bool ef_gemm_tiny(const ef_gemm_args *g);
/* The same for many rows, not transposed: b, `ldb` apart, has whole vectors in every row. */
void ef_gemm_panels(const ef_gemm_args *g, const float *b, int64_t ldb);
/* Any dtype but the 16-bit floats; threads where it pays. */
void ef_gemm_loop(const ef_gemm_args *g);
#endif
