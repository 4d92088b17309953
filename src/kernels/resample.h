/* Resizing images by weighted sums of neighbouring pixels, first of rows, then of columns. */
#ifndef EF_KERNELS_RESAMPLE_H
#define EF_KERNELS_RESAMPLE_H
#include "kernels/resize.h"

typedef enum ef_filter {
    EF_LANCZOS1,
    EF_LANCZOS3,
    EF_LANCZOS5,
    EF_GAUSSIAN,
    EF_BOX,
    EF_TRIANGLE,
    EF_KEYS_CUBIC,
    EF_MITCHELL_CUBIC,
    EF_FILTERS
} ef_filter;

/* out(position) = in((position - translation) / scale), for rows and for columns; scale > 0. Pixels
 * outside the image are 0. */
typedef struct ef_scaling {
    ef_filter filter;
    bool antialias; /* the filter is widened when the image shrinks */
    float scale[2], translation[2];
} ef_scaling;

/* From any real type to float. */
ef_status *ef_resize_bicubic(const ef_resize *r, ef_dtype t, const void *x, float *y);
ef_status *ef_resize_area(const ef_resize *r, ef_dtype t, const void *x, float *y);
ef_status *ef_scale_translate(const ef_resize *r, const ef_scaling *s, ef_dtype t, const void *x,
                              float *y);
/* From the gradient (of the size of the output) to the input's size; t: float or double. */
ef_status *ef_resize_bicubic_grad(const ef_resize *r, ef_dtype t, const float *dy, void *dx);
ef_status *ef_scale_translate_grad(const ef_resize *r, const ef_scaling *s, const float *dy,
                                   float *dx);
#endif
