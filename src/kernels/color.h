/* Colours of pixels: red, green and blue to hue, saturation and value, and back. */
#ifndef EF_KERNELS_COLOR_H
#define EF_KERNELS_COLOR_H
#include "tensor/dtype.h"

typedef enum ef_color_map {
    EF_RGB_TO_HSV,
    EF_HSV_TO_RGB,
    EF_ADJUST_HUE,        /* amount is added to the hue, which wraps around */
    EF_ADJUST_SATURATION, /* the saturation is multiplied by amount and clamped to [0, 1] */
} ef_color_map;

/* `n` pixels of three floats of type t (half to double); y may be x. */
typedef struct ef_colors {
    ef_color_map map;
    ef_dtype dtype;
    float amount;
    int64_t n;
    const void *x;
    void *y;
} ef_colors;
void ef_colors_run(const ef_colors *c);
#endif
