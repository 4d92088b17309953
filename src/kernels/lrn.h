/* Local response normalisation across neighbouring channels:
 * y[c] = x[c] / (bias + alpha * sum of x[k]^2, |k - c| <= radius) ^ beta. */
#ifndef EF_KERNELS_LRN_H
#define EF_KERNELS_LRN_H
#include "base/status.h"
#include "tensor/dtype.h"

typedef struct ef_lrn {
    int64_t pixels, channels, radius;
    float bias, alpha, beta;
} ef_lrn;

/* float; the caller widens 16-bit floats. */
void ef_lrn_run(const ef_lrn *l, const float *x, float *y);
ef_status *ef_lrn_grad(const ef_lrn *l, const float *dy, const float *x, const float *y, float *dx);
#endif
