/* Thin f32 products: at most 16 columns (or at most 16 terms) and thousands of rows, as in the last
 * layer of a classifier and its gradients. They run at memory speed, unless they are packed and
 * padded like large products. */
#ifndef EF_KERNELS_GEMM_THIN_H
#define EF_KERNELS_GEMM_THIN_H
#include "kernels/gemm.h"

/* Computes the product without its epilogue. Returns false, having written nothing, if it is not
 * thin or there is no memory. */
bool ef_gemm_thin(const ef_gemm_args *g);
#endif
