/* Large float64 products by our own kernel, which packs each operand once for all threads. */
#ifndef EF_KERNELS_GEMM_PACKED_H
#define EF_KERNELS_GEMM_PACKED_H
#include "kernels/gemm.h"

/* Computes the whole product with its epilogue. Returns false, having written nothing, if a library
 * is faster or there is no memory for the packed operands. */
bool ef_gemm_packed(const ef_gemm_args *g);
/* Test hook: does not use AVX-512; the results are bit-identical. */
void ef_gemm_packed_avx2(bool only);
#endif
