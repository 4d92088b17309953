/* A vector over the channels, added to a tensor; and its gradient, the sum over all other axes. The
 * tensor is treated as [outer, channels, inner]; inner is 1 when channels come last. */
#ifndef EF_KERNELS_BIAS_H
#define EF_KERNELS_BIAS_H
#include "base/status.h"
#include "tensor/dtype.h"

typedef struct ef_bias {
    int64_t outer, channels, inner;
} ef_bias;

/* Any number type; out may be x. */
void ef_bias_add(const ef_bias *b, ef_dtype t, const void *x, const void *bias, void *out);
/* Sums in a fixed order, whatever the number of threads; 16-bit floats are summed in float. */
ef_status *ef_bias_grad(const ef_bias *b, ef_dtype t, const void *dy, void *out);
#endif
