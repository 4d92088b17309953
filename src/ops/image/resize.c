/* Ops that resize images, and their gradients. */
#include "kernels/resample.h"
#include "ops/build.h"
#include "ops/shapes.h"
#include <strings.h>

typedef struct resize_attrs {
    bool align_corners, half_pixel_centers;
} resize_attrs;

/* [batch, size..., channels] of a four-dimensional input and a pair of sizes. */
static ef_status *batch_of_size(ef_infer *i) {
    int64_t v[EF_MAX_RANK];
    int n = 0;
    bool known = false;
    EF_TRY(ef_need_rank(i, 0, 4));
    EF_TRY(ef_need_rank(i, 1, 1));
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
    y->dim[1] = v[0], y->dim[2] = v[1];
    return NULL;
}

/* Checks that input k, called `what`, has at least one row and one column. */
static ef_status *need_pixels(const ef_infer *i, int k, const char *what) {
    const ef_shape *x = &i->in[k].shape;
    if (x->rank != 4 || (x->dim[1] != 0 && x->dim[2] != 0)) return NULL;
    return ef_error(EF_INVALID, "%s: %s is %s; input image must be of non-zero size", i->op->name,
                    what, EF_SHAPE(x));
}

static ef_status *image_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    EF_TRY(batch_of_size(i));
    EF_TRY(need_pixels(i, 0, "images"));
    if (x->rank == 4 && x->dim[3] == 0)
        return ef_error(EF_INVALID, "%s: images is %s; image must have at least one channel",
                        i->op->name, EF_SHAPE(x));
    return NULL;
}

static ef_status *need_one_way(const ef_infer *i) {
    const resize_attrs *t = i->attrs;
    if (!t->align_corners || !t->half_pixel_centers) return NULL;
    return ef_error(EF_INVALID,
                    "%s: align_corners and half_pixel_centers are both true; if "
                    "half_pixel_centers is True, align_corners must be False",
                    i->op->name);
}

static ef_status *sized_shape(ef_infer *i) {
    EF_TRY(need_one_way(i));
    return image_shape(i);
}

/* The gradients have the shape of the original image. */
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
static ef_status *mixed_from_shape(ef_infer *i) {
    EF_TRY(need_one_way(i));
    EF_TRY(like_image_shape(i));
    EF_TRY(need_pixels(i, 0, "grads"));
    return need_pixels(i, 1, "original_image");
}

/* small: the image before resizing; large: the image after it. */
static ef_resize sizes(const ef_tensor *small, const ef_tensor *large) {
    return (ef_resize){.batch = small->dim[0],
                       .in_height = small->dim[1],
                       .in_width = small->dim[2],
                       .out_height = large->dim[1],
                       .out_width = large->dim[2],
                       .channels = small->dim[3]};
}
static ef_resize setup(const ef_call *c, const ef_tensor *small, const ef_tensor *large) {
    const resize_attrs *t = c->attrs;
    ef_resize r = sizes(small, large);
    r.align_corners = t->align_corners;
    r.half_pixel_centers = t->half_pixel_centers;
    return r;
}
static ef_status *bilinear_run(const ef_call *c) {
    ef_resize r = setup(c, c->in[0], c->out[0]);
    return ef_resize_bilinear(&r, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->out[0]->data);
}
static ef_status *bilinear_grad_run(const ef_call *c) {
    ef_resize r = setup(c, c->out[0], c->in[0]);
    return ef_resize_bilinear_grad(&r, (ef_dtype)c->out[0]->dtype, c->in[0]->data, c->out[0]->data);
}
static ef_status *bicubic_run(const ef_call *c) {
    ef_resize r = setup(c, c->in[0], c->out[0]);
    return ef_resize_bicubic(&r, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->out[0]->data);
}
static ef_status *bicubic_grad_run(const ef_call *c) {
    ef_resize r = setup(c, c->out[0], c->in[0]);
    return ef_resize_bicubic_grad(&r, (ef_dtype)c->out[0]->dtype, c->in[0]->data, c->out[0]->data);
}
static ef_status *area_run(const ef_call *c) {
    ef_resize r = setup(c, c->in[0], c->out[0]);
    return ef_resize_area(&r, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->out[0]->data);
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
static ef_status *bicubic_grad(ef_grad *g) {
    ef_dtype t = g->in[0]->fact.dtype;
    if (t == EF_F32 || t == EF_F64)
        g->din[0] = ef_emit_like(g, "ResizeBicubicGrad", NULL, 0, 2, g->dout[0], g->in[0]);
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
/* Attributes and shapes common to the ops that interpolate, and to their gradients. */
#define MIXING                                                                                    \
    .in = {"images: T", "size: int32"}, .out = {"resized_images: float"}, .types = IMAGE_TYPES,   \
    .attr = ATTRS, .attr_size = sizeof(resize_attrs), .traits = EF_HEAVY, .keeps = EF_KEEP_IN(0), \
    .shape = sized_shape
#define MIXED_EXAMPLES                                                              \
    "T[2,3,4,2] int32[2]{5,6}", "T[1,4,5,1] int32[2]{3,2} half_pixel_centers=true", \
        "T[1,3,3,2] int32[2]{5,7} align_corners=true"
#define GIVING_BACK                                                                                \
    .in = {"grads: float", "original_image: T"}, .out = {"output: T"}, .attr = ATTRS,              \
    .attr_size = sizeof(resize_attrs), .shape = mixed_from_shape,                                  \
    .examples = {"float[2,5,6,2] T[2,3,4,2]", "float[1,3,2,1] T[1,4,5,1] half_pixel_centers=true", \
                 "float[1,5,7,2] T[1,3,3,2] align_corners=true"}

const ef_op ef_op_ResizeBilinear = {
    EF_NAMED(ResizeBilinear),
    .doc = "Resizes images to `size` by bilinear interpolation of the four nearest pixels.",
    MIXING,
    .kernel = {{EF_CPU, EF_REALS, bilinear_run, NULL, NULL, NULL, NULL}},
    .grad = bilinear_grad,
    .examples = {MIXED_EXAMPLES, "T[1,3,3,2] int32[2]{1,1}"},
};

const ef_op ef_op_ResizeBilinearGrad = {
    EF_NAMED(ResizeBilinearGrad),
    .doc = "Gradient of ResizeBilinear: an output pixel's gradient goes to the four it was "
           "computed from.",
    GIVING_BACK,
    .types = "T: {float, bfloat16, half, double}",
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_NONE,
    .kernel = {{EF_CPU, EF_FLOATS, bilinear_grad_run, NULL, NULL, NULL, NULL}},
    .grad = bilinear_grad_grad,
};

const ef_op ef_op_ResizeBicubic = {
    EF_NAMED(ResizeBicubic),
    .doc = "Resizes images to `size` by bicubic interpolation of the sixteen nearest pixels.",
    MIXING,
    .kernel = {{EF_CPU, EF_REALS, bicubic_run, NULL, NULL, NULL, NULL}},
    .grad = bicubic_grad,
    .examples = {MIXED_EXAMPLES, "T[1,1,2,1] int32[2]{3,5}"},
};

const ef_op ef_op_ResizeBicubicGrad = {
    EF_NAMED(ResizeBicubicGrad),
    .doc =
        "Gradient of ResizeBicubic: an output pixel's gradient goes to those it was computed from.",
    GIVING_BACK,
    .types = "T: {float, double}",
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .kernel = {{EF_CPU, EF_REALS, bicubic_grad_run, NULL, NULL, NULL, NULL}},
};

const ef_op ef_op_ResizeArea = {
    EF_NAMED(ResizeArea),
    .doc = "Resizes images to `size`: each pixel is the mean of the area it covers.",
    .in = {"images: T", "size: int32"},
    .out = {"resized_images: float"},
    .types = IMAGE_TYPES,
    .attr = {EF_ATTR(resize_attrs, align_corners, "bool", "false")},
    .attr_size = sizeof(resize_attrs),
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .shape = sized_shape,
    .kernel = {{EF_CPU, EF_REALS, area_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,3,4,2] int32[2]{5,6}", "T[1,7,5,1] int32[2]{3,2}",
                 "T[1,3,3,2] int32[2]{5,7} align_corners=true", "T[1,1,4,1] int32[2]{3,2}"},
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
    .examples = {MIXED_EXAMPLES},
};

const ef_op ef_op_ResizeNearestNeighborGrad = {
    EF_NAMED(ResizeNearestNeighborGrad),
    .doc = "Gradient of ResizeNearestNeighbor: `grads` added up at the pixels that were read; "
           "`size` is the original image's.",
    .in = {"grads: T", "size: int32"},
    .out = {"output: T"},
    .types = "T: {uint8, int8, int32, half, float, double, bfloat16}",
    .attr = ATTRS,
    .attr_size = sizeof(resize_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_NONE,
    .shape = batch_of_size, /* accepts empty images, and both align_corners with
                             * half_pixel_centers */
    .kernel = {{EF_CPU, EF_REALS, nearest_grad_run, NULL, NULL, NULL, NULL}},
    .grad = nearest_grad_grad,
    .examples = {"T[2,5,6,2] int32[2]{3,4}", "T[1,3,2,1] int32[2]{4,5} half_pixel_centers=true",
                 "T[1,5,7,2] int32[2]{3,3} align_corners=true"},
};

/* ---- ScaleAndTranslate ----------------------------------------------------------------------- */

typedef struct scaling_attrs {
    ef_attr_text kernel_type;
    bool antialias;
} scaling_attrs;

static ef_status *filter_of(const ef_op *op, const ef_attr_text *name, ef_filter *out) {
    static const char *const names[EF_FILTERS] = {
        [EF_LANCZOS1] = "lanczos1",
        [EF_LANCZOS3] = "lanczos3",
        [EF_LANCZOS5] = "lanczos5",
        [EF_GAUSSIAN] = "gaussian",
        [EF_BOX] = "box",
        [EF_TRIANGLE] = "triangle",
        [EF_KEYS_CUBIC] = "keyscubic",
        [EF_MITCHELL_CUBIC] = "mitchellcubic",
    };
    for (int k = 0; k < EF_FILTERS; k++)
        if (strcasecmp(name->at, names[k]) == 0) {
            *out = (ef_filter)k;
            return NULL;
        }
    return ef_error(EF_INVALID,
                    "%s: Unrecognized kernel type: %s; there are lanczos1, lanczos3, lanczos5, "
                    "gaussian, box, triangle, keyscubic and mitchellcubic",
                    op->name, name->at);
}

/* Checks that input k holds two numbers, for rows and for columns. */
static ef_status *need_pair(const ef_infer *i, int k, const char *what) {
    const ef_shape *s = &i->in[k].shape;
    EF_TRY(ef_need_rank(i, k, 1));
    if (s->rank == 1 && s->dim[0] >= 0 && s->dim[0] != 2)
        return ef_error(EF_INVALID, "%s: %s is %s; it must have two elements", i->op->name, what,
                        EF_SHAPE(s));
    return NULL;
}

static ef_status *scaling_checks(const ef_infer *i) {
    const scaling_attrs *t = i->attrs;
    ef_filter filter;
    EF_TRY(filter_of(i->op, &t->kernel_type, &filter));
    EF_TRY(need_pair(i, 2, "scale"));
    return need_pair(i, 3, "translation");
}
static ef_status *scaled_shape(ef_infer *i) {
    EF_TRY(scaling_checks(i));
    return image_shape(i);
}
static ef_status *scaled_grad_shape(ef_infer *i) {
    EF_TRY(scaling_checks(i));
    return like_image_shape(i);
}

static ef_status *scaling_setup(const ef_call *c, ef_scaling *s) {
    const scaling_attrs *t = c->attrs;
    const float *scale = c->in[2]->data;
    EF_TRY(filter_of(c->op, &t->kernel_type, &s->filter));
    if (!(scale[0] > 0 && scale[1] > 0))
        return ef_error(EF_INVALID, "%s: scale is (%g, %g); Scale must be greater than zero.",
                        c->op->name, (double)scale[0], (double)scale[1]);
    s->antialias = t->antialias;
    memcpy(s->scale, scale, sizeof s->scale);
    memcpy(s->translation, c->in[3]->data, sizeof s->translation);
    return NULL;
}
static ef_status *scaled_run(const ef_call *c) {
    ef_scaling s;
    EF_TRY(scaling_setup(c, &s));
    ef_resize r = sizes(c->in[0], c->out[0]);
    return ef_scale_translate(&r, &s, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->out[0]->data);
}
static ef_status *scaled_grad_run(const ef_call *c) {
    ef_scaling s;
    EF_TRY(scaling_setup(c, &s));
    ef_resize r = sizes(c->out[0], c->in[0]);
    return ef_scale_translate_grad(&r, &s, c->in[0]->data, c->out[0]->data);
}
static ef_status *scaled_grad(ef_grad *g) {
    ef_dtype t = g->in[0]->fact.dtype;
    if (!ef_dtype_in(t, EF_FLOATS)) return NULL;
    g->din[0] = ef_cast(g->b,
                        ef_emit_like(g, "ScaleAndTranslateGrad", NULL, 0, 4, g->dout[0],
                                     ef_cast(g->b, g->in[0], EF_F32), g->in[2], g->in[3]),
                        t);
    return NULL;
}

#define SCALING_ATTRS                                                \
    {                                                                \
        EF_ATTR(scaling_attrs, kernel_type, "string", "'lanczos3'"), \
            EF_ATTR(scaling_attrs, antialias, "bool", "true"),       \
    }

const ef_op ef_op_ScaleAndTranslate = {
    EF_NAMED(ScaleAndTranslate),
    .doc = "Scales and then translates `images` to images of `size`, with the filter "
           "`kernel_type`.",
    .in = {"images: T", "size: int32", "scale: float", "translation: float"},
    .out = {"resized_images: float"},
    .types = "T: {int8, uint8, int16, uint16, int32, int64, bfloat16, half, float, double}",
    .attr = SCALING_ATTRS,
    .attr_size = sizeof(scaling_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(2) | EF_KEEP_IN(3),
    .no_grad_in = 1u << 2 | 1u << 3,
    .shape = scaled_shape,
    .kernel = {{EF_CPU, EF_REALS, scaled_run, NULL, NULL, NULL, NULL}},
    .grad = scaled_grad,
    .examples =
        {"T[2,3,4,2] int32[2]{5,6} float[2]{1.7,1.5} float[2]{0,0}",
         "T[1,7,8,1] int32[2]{3,4} float[2]{0.4,0.5} float[2]{0.5,-1} kernel_type='triangle'",
         "T[1,3,3,2] int32[2]{4,4} float[2]{1.5,0.5} float[2]{0,1} "
         "kernel_type='keyscubic' antialias=false"},
};

const ef_op ef_op_ScaleAndTranslateGrad = {
    EF_NAMED(ScaleAndTranslateGrad),
    .doc = "Gradient of ScaleAndTranslate: an output pixel's gradient goes to those it was "
           "computed from.",
    .in = {"grads: T", "original_image: T", "scale: float", "translation: float"},
    .out = {"output: T"},
    .types = "T: {float}",
    .attr = SCALING_ATTRS,
    .attr_size = sizeof(scaling_attrs),
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .shape = scaled_grad_shape,
    .kernel = {{EF_CPU, EF_REALS, scaled_grad_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,5,6,2] T[2,3,4,2] float[2]{1.7,1.5} float[2]{0,0}",
                 "T[1,3,4,1] T[1,7,8,1] float[2]{0.4,0.5} float[2]{0.5,-1} kernel_type='box'"},
};
