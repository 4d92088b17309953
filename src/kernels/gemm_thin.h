/* Thin f32 products: at most 16 columns (or at most 16 terms) beside thousands of rows, as the last
 * layer of a classifier and its gradients have them. They are as fast as memory, unless they are
 * packed and padded as large products are. */
#ifndef EF_KERNELS_GEMM_THIN_H
#define EF_KERNELS_GEMM_THIN_H
#include "kernels/gemm.h"

/* The bare product, with no epilogue. False: it is not thin, or there is no memory; nothing was
 * written. */
bool ef_gemm_thin(const ef_gemm_args *g);
#endif
