/* Called before each use of BLAS or LAPACK: keeps OpenBLAS on the calling thread and, the first
 * time, checks that it has selected kernels for this processor. */
#ifndef EF_KERNELS_BLAS_H
#define EF_KERNELS_BLAS_H
void ef_blas_begin(void);
#endif
