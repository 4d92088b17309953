/* Grayscale dilation: the largest sum of image and filter under a sliding window, for each channel.
 * Boxes are channels last and two-dimensional; pixels outside the image are ignored. */
#ifndef EF_KERNELS_DILATION_H
#define EF_KERNELS_DILATION_H
#include "base/status.h"
#include "kernels/window.h"

typedef enum ef_dilation_kind {
    EF_DILATION_FORWARD, /* out has the output's shape */
    EF_DILATION_INPUT,   /* the gradient dy goes to the image element of each maximum */
    EF_DILATION_FILTER   /* ... to the filter element of each maximum */
} ef_dilation_kind;

/* Any real type. dy is NULL in the forward direction. */
ef_status *ef_dilation(const ef_window_box *b, ef_dtype t, ef_dilation_kind kind, const void *x,
                       const void *filter, const void *dy, void *out);
#endif
