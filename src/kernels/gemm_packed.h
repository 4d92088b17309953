/* Large float64 products by our own kernel, which packs each operand once for all threads. */
#ifndef EF_KERNELS_GEMM_PACKED_H
#define EF_KERNELS_GEMM_PACKED_H
#include "kernels/gemm.h"

/* The whole product with its epilogue. False: a library does it better, or there is no memory for
 * the packed operands; nothing was written. */
bool ef_gemm_packed(const ef_gemm_args *g);
/* Test hook: leaves AVX-512 out; the bits are the same. */
void ef_gemm_packed_avx2(bool only);
#endif
