/* Reducers of complex numbers and booleans; NULL if there is no such reduction. */
#ifndef EF_KERNELS_REDUCERS_SPECIAL_H
#define EF_KERNELS_REDUCERS_SPECIAL_H
#include "kernels/reduce.h"

const ef_reducer *ef_reducer_special(ef_reduce_kind kind, ef_dtype t);
#endif
