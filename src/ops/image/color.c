/* Colour spaces of images: RGBToHSV, HSVToRGB, AdjustHue and AdjustSaturation. */
#include "kernels/color.h"
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/shapes.h"

static ef_status *need_three(const ef_op *op, const ef_shape *x, ef_code code) {
    if (x->rank <= 0 || ef_dim_may_equal(x->dim[x->rank - 1], 3)) return NULL;
    return ef_error(code,
                    "%s: images is %s; input must have 3 channels, so its last dimension must be 3",
                    op->name, EF_SHAPE(x));
}

static ef_status *color_shape(ef_infer *i) {
    EF_TRY(ef_need_rank_at_least(i, 0, 1));
    i->out[0].shape = i->in[0].shape;
    return NULL;
}
static ef_status *color_check(ef_infer *i) {
    return need_three(i->op, &i->in[0].shape, EF_INVALID);
}

static ef_status *adjust_shape(ef_infer *i) {
    EF_TRY(ef_need_rank_at_least(i, 0, 3));
    EF_TRY(need_three(i->op, &i->in[0].shape, EF_INVALID));
    EF_TRY(ef_need_rank(i, 1, 0));
    i->out[0].shape = i->in[0].shape;
    return NULL;
}

static ef_status *run(const ef_call *c, ef_color_map map) {
    const ef_tensor *x = c->in[0];
    float amount =
        map == EF_ADJUST_HUE || map == EF_ADJUST_SATURATION ? *(const float *)c->in[1]->data : 0;
    ef_colors colors = {map, (ef_dtype)x->dtype, amount, ef_count(x) / 3, x->data, c->out[0]->data};
    ef_colors_run(&colors);
    return NULL;
}
/* Eagerly, TensorFlow reports a wrong number of channels only here. */
static ef_status *run_color(const ef_call *c, ef_color_map map) {
    ef_shape shape = ef_shape_from(c->in[0]);
    EF_TRY(need_three(c->op, &shape, EF_FAILED_PRECONDITION));
    return run(c, map);
}
static ef_status *to_hsv_run(const ef_call *c) { return run_color(c, EF_RGB_TO_HSV); }
static ef_status *to_rgb_run(const ef_call *c) { return run_color(c, EF_HSV_TO_RGB); }
static ef_status *hue_run(const ef_call *c) { return run(c, EF_ADJUST_HUE); }
static ef_status *saturation_run(const ef_call *c) { return run(c, EF_ADJUST_SATURATION); }

/* The three channels of x. */
static void channels(ef_build *b, ef_value *x, ef_value **out) {
    ef_attr_value set[] = {EF_SET_INT("num", 3), EF_SET_INT("axis", -1)};
    ef_emit_many(b, "Unpack", set, 2, &x, 1, out, 3);
}
static ef_value *both(ef_build *b, ef_value *x, ef_value *y) {
    return ef_emit(b, "LogicalAnd", 2, x, y);
}
static ef_value *where(ef_build *b, ef_value *cond, ef_value *x) {
    return ef_select(b, cond, x, ef_zeros_like(b, x));
}

/* With the largest channel v, the smallest m and their difference c: s = 1 - m / v, and h = n / 6c
 * plus a constant, where n is the difference of the two channels that are not the largest. */
static ef_status *to_hsv_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *x[3], *dy[3], *dx[3], *n = NULL;
    channels(b, g->in[0], x);
    channels(b, g->dout[0], dy);
    if (b->failed) return NULL;
    ef_value *v = ef_emit(b, "Maximum", 2, ef_emit(b, "Maximum", 2, x[0], x[1]), x[2]);
    ef_value *m = ef_emit(b, "Minimum", 2, ef_emit(b, "Minimum", 2, x[0], x[1]), x[2]);
    ef_value *c = ef_sub(b, v, m), *zero = ef_zeros_like(b, v), *one = ef_ones_like(b, v);
    ef_value *light = ef_emit(b, "Greater", 2, v, zero),
             *colored = ef_emit(b, "Greater", 2, c, zero);
    ef_value *safe_v = ef_select(b, light, v, one), *safe_c = ef_select(b, colored, c, one);
    ef_value *top[3], *low[3]; /* among equal channels the first counts as the largest, the last as
                                * the smallest */
    top[0] = both(b, ef_emit(b, "GreaterEqual", 2, x[0], x[1]),
                  ef_emit(b, "GreaterEqual", 2, x[0], x[2]));
    top[1] =
        both(b, ef_emit(b, "Greater", 2, x[1], x[0]), ef_emit(b, "GreaterEqual", 2, x[1], x[2]));
    top[2] = both(b, ef_emit(b, "Greater", 2, x[2], x[0]), ef_emit(b, "Greater", 2, x[2], x[1]));
    low[0] = both(b, ef_emit(b, "Less", 2, x[0], x[1]), ef_emit(b, "Less", 2, x[0], x[2]));
    low[1] = both(b, ef_emit(b, "LessEqual", 2, x[1], x[0]), ef_emit(b, "Less", 2, x[1], x[2]));
    low[2] =
        both(b, ef_emit(b, "LessEqual", 2, x[2], x[0]), ef_emit(b, "LessEqual", 2, x[2], x[1]));
    ef_value *ds = ef_div(b, where(b, light, dy[1]), safe_v);
    ef_value *dh = ef_div(b, where(b, colored, dy[0]), ef_scale(b, safe_c, 6));
    for (int k = 0; k < 3; k++) {
        ef_value *gap = where(b, top[k], ef_sub(b, x[(k + 1) % 3], x[(k + 2) % 3]));
        n = n == NULL ? gap : ef_add(b, n, gap);
    }
    ef_value *dc = ef_neg(b, ef_div(b, ef_mul(b, dh, n), safe_c));
    ef_value *dv = ef_add(b, ef_add(b, dy[2], dc), ef_mul(b, ds, ef_div(b, m, safe_v)));
    ef_value *dm = ef_neg(b, ef_add(b, dc, ds));
    for (int k = 0; k < 3; k++) {
        dx[k] = ef_add(b, where(b, top[k], dv), where(b, low[k], dm));
        dx[k] = ef_add(b, dx[k], where(b, top[(k + 2) % 3], dh));
        dx[k] = ef_sub(b, dx[k], where(b, top[(k + 1) % 3], dh));
    }
    ef_attr_value axis = EF_SET_INT("axis", -1);
    ef_emit_many(b, "Pack", &axis, 1, dx, 3, &g->din[0], 1);
    return NULL;
}

#define FLOATS "T: {half, bfloat16, float, double} = float"
const ef_op ef_op_RGBToHSV = {
    EF_NAMED(RGBToHSV),
    .doc = "Converts pixels from RGB to hue, saturation and value, all in [0, 1].",
    .in = {"images: T"},
    .out = {"output: T"},
    .types = FLOATS,
    .keeps = EF_KEEP_IN(0),
    .shape = color_shape,
    .graph_check = color_check,
    .kernel = {{EF_CPU, EF_FLOATS, to_hsv_run, NULL, NULL, NULL, NULL}},
    .grad = to_hsv_grad,
    .examples = {"T[2,3]", "T[2,2,3]", "T[0,3]"},
};
const ef_op ef_op_HSVToRGB = {
    EF_NAMED(HSVToRGB),
    .doc = "Converts pixels from hue, saturation and value to RGB.",
    .in = {"images: T"},
    .out = {"output: T"},
    .types = FLOATS,
    .traits = EF_NO_GRAD,
    .shape = color_shape,
    .graph_check = color_check,
    .kernel = {{EF_CPU, EF_FLOATS, to_rgb_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,3]", "T[2,2,3]", "T[0,3]"},
};
const ef_op ef_op_AdjustHue = {
    EF_NAMED(AdjustHue),
    .doc = "Rotates the hue of RGB pixels by `delta`, where 1 is a full turn.",
    .in = {"images: T", "delta: float"},
    .out = {"output: T"},
    .types = "T: {half, float} = float",
    .traits = EF_GRAD_UNDEFINED,
    .shape = adjust_shape,
    .kernel = {{EF_CPU, EF_FLOATS, hue_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,2,3] float[]{0.25}", "T[1,2,2,3] float[]{-0.5}", "T[0,2,3] float[]{0.5}"},
};
const ef_op ef_op_AdjustSaturation = {
    EF_NAMED(AdjustSaturation),
    .doc = "Multiplies the saturation of RGB pixels by `scale`.",
    .in = {"images: T", "scale: float"},
    .out = {"output: T"},
    .types = "T: {half, float} = float",
    .traits = EF_GRAD_UNDEFINED,
    .shape = adjust_shape,
    .kernel = {{EF_CPU, EF_FLOATS, saturation_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,2,3] float[]{0.5}", "T[1,2,2,3] float[]{2}", "T[0,2,3] float[]{0.5}"},
};
