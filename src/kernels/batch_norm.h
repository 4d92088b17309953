/* Batch normalisation over all axes but the channels. Tensors are treated as [outer, channels,
 * inner]; inner is 1 when channels come last. x and y are float, half or bfloat16; everything per
 * channel is float. */
#ifndef EF_KERNELS_BATCH_NORM_H
#define EF_KERNELS_BATCH_NORM_H
#include "base/status.h"
#include "tensor/dtype.h"

typedef struct ef_norm {
    int64_t outer, channels, inner;
    float epsilon;
} ef_norm;

/* Mean and variance (population) of x for each channel; NaN if there are no elements. */
ef_status *ef_norm_moments(const ef_norm *n, ef_dtype t, const void *x, float *mean,
                           float *variance);
/* y = (x - mean) * scale / sqrt(variance + epsilon) + offset */
ef_status *ef_norm_apply(const ef_norm *n, ef_dtype t, const void *x, const float *scale,
                         const float *offset, const float *mean, const float *variance, void *y);
/* Gradients for x, scale and offset. `training`: mean and variance are computed from x and so
 * depend on it; else they are constants. */
ef_status *ef_norm_grad(const ef_norm *n, ef_dtype t, bool training, const void *dy, const void *x,
                        const float *scale, const float *mean, const float *variance, void *dx,
                        float *dscale, float *doffset);
#endif
