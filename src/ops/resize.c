/* ResizeBilinear, ResizeNearestNeighbor and their gradients. */
#include "kernels/resize.h"
#include "ops/build.h"
#include "ops/shapes.h"

typedef struct resize_attrs {
    bool align_corners, half_pixel_centers;
} resize_attrs;

/* [batch, size..., channels] of a four-dimensional input and a pair of sizes. */
static ef_status *sized_shape(ef_infer *i) {
    const resize_attrs *t = i->attrs;
    int64_t v[EF_MAX_RANK];
    int n = 0;
    bool known = false;
    EF_TRY(ef_need_rank(i, 0, 4));
    EF_TRY(ef_need_rank(i, 1, 1));
    if (t->align_corners && t->half_pixel_centers)
        return ef_error(EF_INVALID,
                        "%s: align_corners and half_pixel_centers are both true; if "
                        "half_pixel_centers is True, align_corners must be False",
                        i->op->name);
    const ef_shape *x = &i->in[0].shape;
    ef_shape *y = &i->out[0].shape;
    *y = (ef_shape){.rank = 4, .dim = {-1, -1, -1, -1}};
    if (x->rank == 4) y->dim[0] = x->dim[0], y->dim[3] = x->dim[3];
    EF_TRY(ef_known_ints(i, 1, v, EF_MAX_RANK, &n, &known));
    if (i->in[1].shape.rank == 1 && i->in[1].shape.dim[0] >= 0 && i->in[1].shape.dim[0] != 2)
        return ef_error(EF_INVALID, "%s: size is %s; size must be 1-dimensional with 2 elements",
                        i->op->name, EF_SHAPE(&i->in[1].shape));
    if (!known) return NULL;
    if (v[0] <= 0 || v[1] <= 0)
        return ef_error(EF_INVALID, "%s: size is (%lld, %lld); output dimensions must be positive",
                        i->op->name, (long long)v[0], (long long)v[1]);
    if (x->rank == 4 && (x->dim[1] == 0 || x->dim[2] == 0))
        return ef_error(EF_INVALID, "%s: images is %s; input image must be of non-zero size",
                        i->op->name, EF_SHAPE(x));
    y->dim[1] = v[0], y->dim[2] = v[1];
    return NULL;
}

/* ResizeBilinearGrad: like the original image. */
static ef_status *like_image_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 4));
    EF_TRY(ef_need_rank(i, 1, 4));
    const ef_shape *g = &i->in[0].shape, *x = &i->in[1].shape;
    if (g->rank == 4 && x->rank == 4 &&
        (!ef_dim_may_equal(g->dim[0], x->dim[0]) || !ef_dim_may_equal(g->dim[3], x->dim[3])))
        return ef_error(EF_INVALID,
                        "%s: grads is %s and original_image is %s; batch and channels "
                        "must be equal",
                        i->op->name, EF_SHAPE(g), EF_SHAPE(x));
    i->out[0].shape = *x;
    return NULL;
}

/* small: the image that was resized; large: what it became. */
static ef_resize setup(const ef_call *c, const ef_tensor *small, const ef_tensor *large) {
    const resize_attrs *t = c->attrs;
    return (ef_resize){small->dim[0], small->dim[1], small->dim[2],    large->dim[1],
                       large->dim[2], small->dim[3], t->align_corners, t->half_pixel_centers};
}
static ef_status *bilinear_run(const ef_call *c) {
    ef_resize r = setup(c, c->in[0], c->out[0]);
    return ef_resize_bilinear(&r, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->out[0]->data);
}
static ef_status *bilinear_grad_run(const ef_call *c) {
    ef_resize r = setup(c, c->out[0], c->in[0]);
    return ef_resize_bilinear_grad(&r, (ef_dtype)c->out[0]->dtype, c->in[0]->data, c->out[0]->data);
}
static ef_status *nearest_run(const ef_call *c) {
    ef_resize r = setup(c, c->in[0], c->out[0]);
    return ef_resize_nearest(&r, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->out[0]->data);
}
static ef_status *nearest_grad_run(const ef_call *c) {
    ef_resize r = setup(c, c->out[0], c->in[0]);
    return ef_resize_nearest_grad(&r, (ef_dtype)c->out[0]->dtype, c->in[0]->data, c->out[0]->data);
}

/* Height and width of an image as an int32 pair. */
static ef_value *image_size(ef_build *b, ef_value *x) {
    const int64_t from[1] = {1}, two[1] = {2};
    const ef_shape *s = &x->fact.shape;
    if (s->rank == 4 && s->dim[1] >= 0 && s->dim[2] >= 0)
        return ef_const_ints(b, EF_I32, 2, s->dim + 1);
    return ef_emit(b, "Slice", 3, ef_shape_value(b, x, EF_I32), ef_const_ints(b, EF_I32, 1, from),
                   ef_const_ints(b, EF_I32, 1, two));
}
static ef_status *bilinear_grad(ef_grad *g) {
    if (ef_dtype_in(g->in[0]->fact.dtype, EF_FLOATS))
        g->din[0] = ef_emit_like(g, "ResizeBilinearGrad", NULL, 0, 2, g->dout[0], g->in[0]);
    return NULL;
}
static ef_status *bilinear_grad_grad(ef_grad *g) {
    g->din[0] =
        ef_emit_like(g, "ResizeBilinear", NULL, 0, 2, g->dout[0], image_size(g->b, g->in[0]));
    return NULL;
}
static ef_status *nearest_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "ResizeNearestNeighborGrad", NULL, 0, 2, g->dout[0],
                             image_size(g->b, g->in[0]));
    return NULL;
}
static ef_status *nearest_grad_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "ResizeNearestNeighbor", NULL, 0, 2, g->dout[0],
                             image_size(g->b, g->in[0]));
    return NULL;
}

#define ATTRS                                                           \
    {                                                                   \
        EF_ATTR(resize_attrs, align_corners, "bool", "false"),          \
            EF_ATTR(resize_attrs, half_pixel_centers, "bool", "false"), \
    }
#define IMAGE_TYPES "T: {int8, uint8, int16, uint16, int32, int64, half, float, double, bfloat16}"

const ef_op ef_op_ResizeBilinear = {
    EF_NAMED(ResizeBilinear),
    .doc = "Resizes images to `size`, mixing the four nearest pixels.",
    .in = {"images: T", "size: int32"},
    .out = {"resized_images: float"},
    .types = IMAGE_TYPES,
    .attr = ATTRS,
    .attr_size = sizeof(resize_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0),
    .shape = sized_shape,
    .kernel = {{EF_CPU, EF_REALS, bilinear_run, NULL, NULL, NULL, NULL}},
    .grad = bilinear_grad,
    .examples = {"T[2,3,4,2] int32[2]{5,6}", "T[1,4,5,1] int32[2]{3,2} half_pixel_centers=true",
                 "T[1,3,3,2] int32[2]{5,7} align_corners=true", "T[1,3,3,2] int32[2]{1,1}"},
};

const ef_op ef_op_ResizeBilinearGrad = {
    EF_NAMED(ResizeBilinearGrad),
    .doc =
        "Gradient of ResizeBilinear: each output pixel gives back to the four it was mixed from.",
    .in = {"grads: float", "original_image: T"},
    .out = {"output: T"},
    .types = "T: {float, bfloat16, half, double}",
    .attr = ATTRS,
    .attr_size = sizeof(resize_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_NONE,
    .shape = like_image_shape,
    .kernel = {{EF_CPU, EF_FLOATS, bilinear_grad_run, NULL, NULL, NULL, NULL}},
    .grad = bilinear_grad_grad,
    .examples = {"float[2,5,6,2] T[2,3,4,2]", "float[1,3,2,1] T[1,4,5,1] half_pixel_centers=true",
                 "float[1,5,7,2] T[1,3,3,2] align_corners=true"},
};

const ef_op ef_op_ResizeNearestNeighbor = {
    EF_NAMED(ResizeNearestNeighbor),
    .doc = "Resizes images to `size`, taking the nearest pixel.",
    .in = {"images: T", "size: int32"},
    .out = {"resized_images: T"},
    .types = IMAGE_TYPES,
    .attr = ATTRS,
    .attr_size = sizeof(resize_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_NONE,
    .shape = sized_shape,
    .kernel = {{EF_CPU, EF_REALS, nearest_run, NULL, NULL, NULL, NULL}},
    .grad = nearest_grad,
    .examples = {"T[2,3,4,2] int32[2]{5,6}", "T[1,4,5,1] int32[2]{3,2} half_pixel_centers=true",
                 "T[1,3,3,2] int32[2]{5,7} align_corners=true"},
};

const ef_op ef_op_ResizeNearestNeighborGrad = {
    EF_NAMED(ResizeNearestNeighborGrad),
    .doc =
        "Gradient of ResizeNearestNeighbor: `grads` added up at the pixels they were taken from; "
        "`size` is the original image's.",
    .in = {"grads: T", "size: int32"},
    .out = {"output: T"},
    .types = "T: {uint8, int8, int32, half, float, double, bfloat16}",
    .attr = ATTRS,
    .attr_size = sizeof(resize_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_NONE,
    .shape = sized_shape,
    .kernel = {{EF_CPU, EF_REALS, nearest_grad_run, NULL, NULL, NULL, NULL}},
    .grad = nearest_grad_grad,
    .examples = {"T[2,5,6,2] int32[2]{3,4}", "T[1,3,2,1] int32[2]{4,5} half_pixel_centers=true",
                 "T[1,5,7,2] int32[2]{3,3} align_corners=true"},
};
