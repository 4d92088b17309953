/* Before each call of BLAS or LAPACK: keeps OpenBLAS on this thread and, at first, sees that it has
 * chosen kernels for this processor. */
#ifndef EF_KERNELS_BLAS_H
#define EF_KERNELS_BLAS_H
void ef_blas_begin(void);
#endif
