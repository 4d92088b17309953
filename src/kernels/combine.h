/* In-place updates dst = dst (op) src over contiguous elements, for assignments and scatters into
 * variables. */
#ifndef EF_KERNELS_COMBINE_H
#define EF_KERNELS_COMBINE_H
#include "tensor/dtype.h"

typedef enum ef_combine {
    EF_COMBINE_SET,
    EF_COMBINE_ADD,
    EF_COMBINE_SUB,
    EF_COMBINE_MUL,
    EF_COMBINE_DIV, /* integers: towards zero; the caller has checked that no divisor is 0 */
    EF_COMBINE_MIN,
    EF_COMBINE_MAX,
    EF_COMBINES
} ef_combine;

/* dst[i] = dst[i] op src[i * step] for 0 <= i < n; step is 0 (one value for all) or 1. */
typedef void ef_combine_fn(void *dst, const void *src, int64_t n, int step);
/* Returns NULL if the op is not defined for t. Bool adds as "or", subtracts as "exclusive or". */
ef_combine_fn *ef_combine_pick(ef_combine op, ef_dtype t);
/* n elements with step 1, on several threads if that is faster. */
void ef_combine_all(ef_combine_fn *fn, ef_dtype t, void *dst, const void *src, int64_t n);
#endif
