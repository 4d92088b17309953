/* Convolution and its two gradients. Filters have TensorFlow's layout: image axes, then input
 * channels of one group, then output channels. */
#ifndef EF_KERNELS_CONV_H
#define EF_KERNELS_CONV_H
#include "base/status.h"
#include "kernels/activation.h"
#include "kernels/window.h"

typedef enum ef_conv_kind {
    EF_CONV_FORWARD, /* a: input, b: filter, out: output */
    EF_CONV_INPUT,   /* a: gradient of the output, b: filter, out: gradient of the input */
    EF_CONV_FILTER   /* a: input, b: gradient of the output, out: gradient of the filter */
} ef_conv_kind;

/* The description of a convolution. Zero it before filling it in: it is hashed as bytes. */
typedef struct ef_conv {
    ef_window_box box;
    int32_t kind; /* ef_conv_kind */
    int32_t has_bias,
        has_add;        /* forward only: output + bias[channel], + a tensor like the output */
    int32_t activation; /* ef_activation, applied last */
    float alpha;        /* of EF_ACT_LEAKY_RELU */
    int32_t form;       /* implementation variant, used by conv.c only; 0 elsewhere */
} ef_conv;

typedef struct ef_conv_data {
    const void *a, *b, *bias, *add;
    void *out;
} ef_conv_data;

/* Whether oneDNN is faster than the loops below for a float convolution. */
bool ef_conv_pays(const ef_conv *c);
/* A handle holds what is costly to make. *handle may be set to NULL: there is nothing to hold. */
ef_status *ef_conv_prepare(const ef_conv *c, void **handle);
void ef_conv_release(void *handle);
/* By oneDNN: float, and half and bfloat16, which are computed in float. handle NULL: the primitive
 * is found in, or added to, a bounded cache. */
ef_status *ef_conv_dnnl(const ef_conv *c, ef_dtype t, const ef_conv_data *d, void *handle);
/* The same dtypes and double and int32, by our own loops. */
ef_status *ef_conv_direct(const ef_conv *c, ef_dtype t, const ef_conv_data *d);
/* Depthwise (as many groups as input channels, any number of outputs for each) by loops along the
 * channels; any float dtype. */
ef_status *ef_conv_depthwise(const ef_conv *c, ef_dtype t, const ef_conv_data *d);

/* Applies the epilogue to an output in place: bias, addend, activation. float or double. */
void ef_conv_epilogue(const ef_conv *c, ef_dtype t, const ef_conv_data *d);
/* Runs `run` on float copies of 16-bit floats; calls it directly for other dtypes. */
typedef ef_status *ef_conv_fn(const ef_conv *c, ef_dtype t, const ef_conv_data *d, void *handle);
ef_status *ef_conv_widened(const ef_conv *c, ef_dtype t, const ef_conv_data *d, void *handle,
                           ef_conv_fn *run);
#endif
