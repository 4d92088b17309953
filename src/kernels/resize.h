/* Resizing images [batch, height, width, channels] along height and width. */
#ifndef EF_KERNELS_RESIZE_H
#define EF_KERNELS_RESIZE_H
#include "base/status.h"
#include "tensor/dtype.h"

typedef struct ef_resize {
    int64_t batch, in_height, in_width, out_height, out_width, channels;
    bool align_corners, half_pixel_centers;
} ef_resize;

/* From any real type to float. */
ef_status *ef_resize_bilinear(const ef_resize *r, ef_dtype t, const void *x, float *y);
/* From the gradient (float, of the size of the output) to the input's size and type. */
ef_status *ef_resize_bilinear_grad(const ef_resize *r, ef_dtype t, const float *dy, void *dx);
/* Any plain type. */
ef_status *ef_resize_nearest(const ef_resize *r, ef_dtype t, const void *x, void *y);
ef_status *ef_resize_nearest_grad(const ef_resize *r, ef_dtype t, const void *dy, void *dx);

/* The distance in input pixels between neighbouring output pixels along an axis. */
float ef_resize_scale(const ef_resize *r, int64_t in, int64_t out);
bool ef_resize_empty(const ef_resize *r); /* no output pixels, or no input pixels */
void ef_reals_to_float(ef_dtype t, const void *x, float *out, int64_t n); /* any real type */
#endif
