/* Complex conjugation in place. */
#ifndef EF_KERNELS_CONJ_H
#define EF_KERNELS_CONJ_H
#include "tensor/dtype.h"
void ef_conj_in_place(ef_dtype t, void *p, int64_t n); /* does nothing unless t is complex */
#endif
