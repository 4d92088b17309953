/* CropAndResize - boxes cropped from images and resized to one size - and its gradients. */
#include "kernels/crop.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/shapes.h"
#include <math.h>

typedef struct {
    int method;
    float extrapolation_value;
    ef_dtype T; /* the dtype of the gradient with respect to the image */
} crop_attrs;
enum { BILINEAR, NEAREST };

/* Checks input k, the boxes (four numbers each), and input k + 1, the image of each box; *n: their
 * number. */
static ef_status *need_boxes(const ef_infer *i, int k, int64_t *n) {
    const ef_shape *boxes = &i->in[k].shape, *which = &i->in[k + 1].shape;
    *n = EF_DIM_UNKNOWN;
    EF_TRY(ef_need_rank(i, k, 2));
    EF_TRY(ef_need_rank(i, k + 1, 1));
    if (boxes->rank == 2 && !ef_dim_may_equal(boxes->dim[1], 4))
        return ef_error(EF_INVALID, "%s: boxes must have 4 columns, but boxes is %s", i->op->name,
                        EF_SHAPE(boxes));
    if (boxes->rank != 2 || which->rank != 1) return NULL;
    return ef_need_same_dim(i, boxes->dim[0], which->dim[0],
                            "box_index has incompatible shape: boxes and box_ind", n);
}

static ef_status *crop_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    int64_t v[EF_MAX_RANK], n = 0;
    int count = 0;
    bool known = false;
    EF_TRY(ef_need_rank(i, 0, 4));
    EF_TRY(need_boxes(i, 1, &n));
    EF_TRY(ef_need_rank(i, 3, 1));
    if (i->in[3].shape.rank == 1 && !ef_dim_may_equal(i->in[3].shape.dim[0], 2))
        return ef_error(EF_INVALID, "%s: crop_size must have two elements, but it is %s",
                        i->op->name, EF_SHAPE(&i->in[3].shape));
    i->out[0].shape = (ef_shape){.rank = 4, .dim = {n, -1, -1, x->rank == 4 ? x->dim[3] : -1}};
    if (x->rank == 4 && (x->dim[1] == 0 || x->dim[2] == 0))
        return ef_error(EF_INVALID, "%s: image dimensions must be positive, but image is %s",
                        i->op->name, EF_SHAPE(x));
    EF_TRY(ef_known_ints(i, 3, v, EF_MAX_RANK, &count, &known));
    if (!known) return NULL;
    if (v[0] <= 0 || v[1] <= 0)
        return ef_error(EF_INVALID, "%s: crop dimensions must be positive, got (%lld, %lld)",
                        i->op->name, (long long)v[0], (long long)v[1]);
    i->out[0].shape.dim[1] = v[0], i->out[0].shape.dim[2] = v[1];
    return ef_need_size_held(i->op, &i->out[0].shape);
}

static ef_status *setup(const ef_call *c, const ef_tensor *image, const ef_tensor *crops,
                        const ef_tensor *boxes, const ef_tensor *which, ef_crop *made) {
    const crop_attrs *t = c->attrs;
    *made = (ef_crop){.dtype = (ef_dtype)image->dtype,
                      .nearest = t->method == NEAREST,
                      .batch = image->dim[0],
                      .height = image->dim[1],
                      .width = image->dim[2],
                      .depth = image->dim[3],
                      .boxes = crops->dim[0],
                      .crop_height = crops->dim[1],
                      .crop_width = crops->dim[2],
                      .box = boxes->data,
                      .box_image = which->data,
                      .image = image->data};
    for (int64_t k = 0; k < made->boxes; k++)
        if (made->box_image[k] < 0 || made->box_image[k] >= made->batch)
            return ef_error(EF_OUT_OF_RANGE,
                            "%s: box_index has values outside [0, batch_size): box %lld refers to "
                            "image %d, and there are %lld",
                            c->op->name, (long long)k, (int)made->box_image[k],
                            (long long)made->batch);
    return NULL;
}

static ef_status *crop_run(const ef_call *c) {
    ef_crop crop;
    EF_TRY(setup(c, c->in[0], c->out[0], c->in[1], c->in[2], &crop));
    for (int64_t k = 0; k < 4 * crop.boxes; k++)
        if (!isfinite(crop.box[k]))
            return ef_error(EF_INVALID,
                            "%s: Boxes contains at least one element that is not finite: box %lld",
                            c->op->name, (long long)(k / 4));
    crop.outside = ((const crop_attrs *)c->attrs)->extrapolation_value;
    crop.crops = c->out[0]->data;
    ef_crop_run(&crop);
    return NULL;
}

static ef_status *crop_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_dtype t = g->in[0]->fact.dtype;
    ef_attr_value set[] = {EF_SET_TYPE("T", t)};
    if (t == EF_F16 || t == EF_F32 || t == EF_F64)
        g->din[0] = ef_emit_like(g, "CropAndResizeGradImage", set, 1, 4, g->dout[0], g->in[1],
                                 g->in[2], ef_shape_value(b, g->in[0], EF_I32));
    /* TensorFlow uses the bilinear formula also where the nearest pixel was taken. */
    g->din[1] = ef_emit(b, "CropAndResizeGradBoxes", 4, g->dout[0], g->in[0], g->in[1], g->in[2]);
    return NULL;
}

const ef_op ef_op_CropAndResize = {
    EF_NAMED(CropAndResize),
    .doc = "Crops boxes (y1, x1, y2, x2, where 1 is the last row or column) from images, each from "
           "the image given by `box_ind`, and resizes them to `crop_size`.",
    .in = {"image: T", "boxes: float", "box_ind: int32", "crop_size: int32"},
    .out = {"crops: float"},
    .types = "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}",
    .attr = {EF_ATTR(crop_attrs, method, "{'bilinear', 'nearest'}", "'bilinear'"),
             EF_ATTR(crop_attrs, extrapolation_value, "float", "0")},
    .attr_size = sizeof(crop_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .shape = crop_shape,
    .kernel = {{EF_CPU, EF_REALS, crop_run, NULL, NULL, NULL, NULL}},
    .grad = crop_grad,
    .examples =
        {"T[1,4,5,2] float[2,4]{0.1,0.15,0.8,0.9,0.2,0.3,0.7,0.6} int32[2]{0,0} int32[2]{3,2}",
         "T[2,3,3,1] float[1,4]{-0.2,0.1,1.3,0.9} int32[1]{1} int32[2]{4,4} method='nearest' "
         "extrapolation_value=2 grad=no",
         "T[1,3,3,1] float[1,4]{0.1,0.2,0.6,0.9} int32[1]{0} int32[2]{1,1}"},
};

static ef_status *grad_image_shape(ef_infer *i) {
    int64_t v[EF_MAX_RANK], boxes = 0;
    int n = 0;
    bool known = false;
    ef_dtype t = ((const crop_attrs *)i->attrs)->T;
    if (t != EF_F32 && t != EF_F16 && t != EF_F64)
        return ef_error(EF_INVALID, "%s: T is %s; it must be float, half or double", i->op->name,
                        ef_dtype_name(t));
    EF_TRY(ef_need_rank(i, 0, 4));
    EF_TRY(need_boxes(i, 1, &boxes));
    EF_TRY(ef_need_rank(i, 3, 1));
    EF_TRY(ef_known_ints(i, 3, v, EF_MAX_RANK, &n, &known));
    i->out[0].shape = ef_shape_of_rank(4);
    if (known && n != 4)
        return ef_error(EF_INVALID, "%s: image_size must have 4 elements, not %d", i->op->name, n);
    for (int d = 0; known && d < 4; d++) {
        if (v[d] < (d == 1 || d == 2))
            return ef_error(EF_INVALID, "%s: image dimensions must be positive, got %lld",
                            i->op->name, (long long)v[d]);
        i->out[0].shape.dim[d] = v[d];
    }
    return NULL;
}

static ef_status *grad_image_run(const ef_call *c) {
    ef_crop crop;
    ef_tensor *y = c->out[0];
    if (c->in[0]->dim[0] != c->in[1]->dim[0] || c->in[0]->dim[3] != y->dim[3])
        return ef_error(EF_INVALID, "%s: boxes and grads have incompatible shape", c->op->name);
    EF_TRY(setup(c, y, c->in[0], c->in[1], c->in[2], &crop));
    EF_TRY(ef_zero_elements((ef_dtype)y->dtype, y->data, ef_count(y)));
    ef_crop_grad_image(&crop, c->in[0]->data, y->data);
    return NULL;
}

const ef_op ef_op_CropAndResizeGradImage = {
    EF_NAMED(CropAndResizeGradImage),
    .doc = "Gradient of CropAndResize with respect to the image, whose shape is `image_size`.",
    .in = {"grads: float", "boxes: float", "box_ind: int32", "image_size: int32"},
    .out = {"output: T"},
    .attr = {EF_ATTR(crop_attrs, T, "type", NULL),
             EF_ATTR(crop_attrs, method, "{'bilinear', 'nearest'}", "'bilinear'")},
    .attr_size = sizeof(crop_attrs),
    .traits = EF_GRAD_UNDEFINED,
    .shape = grad_image_shape,
    .kernel = EF_ANY_KERNEL(grad_image_run),
    .examples =
        {"float[1,2,2,1] float[1,4]{0.1,0.2,0.8,0.9} int32[1]{0} int32[4]{1,3,3,1} T=float"},
};

static ef_status *grad_boxes_shape(ef_infer *i) {
    int64_t n = 0;
    EF_TRY(ef_need_rank(i, 0, 4));
    EF_TRY(ef_need_rank(i, 1, 4));
    EF_TRY(need_boxes(i, 2, &n));
    i->out[0].shape = (ef_shape){.rank = 2, .dim = {n, 4}};
    return NULL;
}

static ef_status *grad_boxes_run(const ef_call *c) {
    ef_crop crop;
    if (c->in[0]->dim[0] != c->in[2]->dim[0] || c->in[0]->dim[3] != c->in[1]->dim[3])
        return ef_error(EF_INVALID, "%s: boxes and grads have incompatible shape", c->op->name);
    EF_TRY(setup(c, c->in[1], c->in[0], c->in[2], c->in[3], &crop));
    ef_crop_grad_boxes(&crop, c->in[0]->data, c->out[0]->data);
    return NULL;
}

const ef_op ef_op_CropAndResizeGradBoxes = {
    EF_NAMED(CropAndResizeGradBoxes),
    .doc = "Gradient of CropAndResize with respect to the boxes.",
    .in = {"grads: float", "image: T", "boxes: float", "box_ind: int32"},
    .out = {"output: float"},
    .types = "T: {uint8, uint16, int8, int16, int32, int64, half, float, double}",
    .attr = {EF_ATTR(crop_attrs, method, "{'bilinear'}", "'bilinear'")},
    .attr_size = sizeof(crop_attrs),
    .traits = EF_GRAD_UNDEFINED,
    .shape = grad_boxes_shape,
    .kernel = {{EF_CPU, EF_REALS, grad_boxes_run, NULL, NULL, NULL, NULL}},
    .examples = {"float[1,2,2,1] T[1,3,3,1] float[1,4]{0.1,0.2,0.8,0.9} int32[1]{0}"},
};
