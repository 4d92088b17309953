/* Boxes cropped from images and resized to one size. Boxes are (y1, x1, y2, x2), where 0 and 1 are
 * the centres of the first and the last row or column. */
#ifndef EF_KERNELS_CROP_H
#define EF_KERNELS_CROP_H
#include "tensor/dtype.h"

typedef struct ef_crop {
    ef_dtype dtype; /* of the image */
    bool nearest;   /* the nearest pixel; else bilinear interpolation */
    int64_t batch, height, width, depth;
    int64_t boxes, crop_height, crop_width;
    const float *box;         /* boxes x 4 */
    const int32_t *box_image; /* the image of each box, in range */
    float outside;            /* the value of points outside the image */
    const void *image;        /* batch x height x width x depth */
    float *crops;             /* boxes x crop_height x crop_width x depth */
} ef_crop;

void ef_crop_run(const ef_crop *c);
/* The gradient with respect to the image, of any float type: `grads` has the shape of crops; out
 * must be zeroed. */
void ef_crop_grad_image(const ef_crop *c, const float *grads, void *out);
/* The gradient with respect to the boxes, for bilinear interpolation; out is boxes x 4. */
void ef_crop_grad_boxes(const ef_crop *c, const float *grads, float *out);
#endif
