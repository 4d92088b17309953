/* FusedBatchNormGrad in its three versions, and their own gradient. */
#include "ops/build.h"
#include "ops/nn/batch_norm.h"
#include "ops/shapes.h"

static ef_status *grad_shape(ef_infer *i) {
    const norm_attrs *t = i->attrs;
    int64_t channels, other;
    EF_TRY(ef_norm_check(i, 0, t->data_format, &other));
    EF_TRY(ef_norm_check(i, 1, t->data_format, &channels));
    ef_shape x;
    if (!ef_shape_may_equal(&i->in[0].shape, &i->in[1].shape))
        return ef_error(EF_INVALID,
                        "%s: y_backprop is %s and x is %s; x and y_backprop must have "
                        "same shape",
                        i->op->name, EF_SHAPE(&i->in[0].shape), EF_SHAPE(&i->in[1].shape));
    EF_TRY(ef_shape_merge(&i->in[0].shape, &i->in[1].shape, &x));
    if (!ef_dim_known(channels)) channels = other;
    EF_TRY(ef_norm_check_vector(i, 2, "scale", &channels));
    EF_TRY(ef_norm_check_vector(i, 3, "reserve_space_1", &channels));
    EF_TRY(ef_norm_check_vector(i, 4, "reserve_space_2", &channels));
    i->out[0].shape = x;
    i->out[1].shape = i->out[2].shape = (ef_shape){.rank = 1, .dim = {channels}};
    i->out[3].shape = i->out[4].shape = (ef_shape){.rank = 1, .dim = {0}};
    return NULL;
}

static ef_status *grad_run(const ef_call *c) {
    const norm_attrs *t = c->attrs;
    const ef_tensor *x = c->in[1];
    ef_norm n = ef_norm_view(x, t->data_format, t->epsilon);
    return ef_norm_grad(&n, (ef_dtype)x->dtype, t->is_training, c->in[0]->data, x->data,
                        c->in[2]->data, c->in[3]->data, c->in[4]->data, c->out[0]->data,
                        c->out[1]->data, c->out[2]->data);
}

/* ---- the gradient's gradient ----------------------------------------------------------------
 * With g = y_backprop, h = (x - mean) * r, r = 1 / sqrt(variance + epsilon) and m() the mean over
 * all axes but the channels':
 *     dx = scale * r * (g - m(g) - h * P)      dscale = sum(g * h)      doffset = sum(g)
 * where P = m(g * h). Given a, b, c that arrive for dx, dscale, doffset, and Q = m(a * h):
 *     for g:      scale * r * (a - m(a) - h * Q) + b * h + c
 *     for scale:  sum(a * r * (g - m(g) - h * P))
 *     for x:     -scale * r^2 * (h * (m(a * (g - m(g))) - 3 P Q) + Q (g - m(g)) + P (a - m(a)))
 *                + b * r * (g - m(g) - h * P)
 * Outside training mean and variance are constants, and the terms with m() fall away. */

typedef struct second {
    ef_build *b;
    int64_t axes[4], tall[5];
    int n_axes, rank;
    ef_value *g, *x, *scale, *h, *r; /* in float; per-channel values broadcast against x */
    ef_value *da, *db, *dc;          /* upstream gradients of dx, dscale, doffset */
} second;

static ef_value *mean_of(const second *s, ef_value *v) {
    const ef_attr_value keep[1] = {EF_SET_BOOL("keep_dims", true)};
    return ef_emit_set(s->b, "Mean", keep, 1, 2, v,
                       ef_const_ints(s->b, EF_I32, s->n_axes, s->axes));
}
static ef_value *centred(const second *s, ef_value *v) { return ef_sub(s->b, v, mean_of(s, v)); }
static ef_value *as_channels(const second *s, ef_value *v) {
    return ef_reshape(s->b, v, ef_const_ints(s->b, EF_I32, s->rank, s->tall));
}
static ef_value *as_vector(const second *s, ef_value *v) {
    const int64_t flat[1] = {-1};
    return ef_reshape(s->b, v, ef_const_ints(s->b, EF_I32, 1, flat));
}

static void setup(ef_grad *g, second *s) {
    const norm_attrs *t = g->attrs;
    ef_build *b = g->b;
    *s = (second){.b = b, .rank = t->data_format >= 2 ? 5 : 4};
    int channel = ef_norm_axis(t->data_format, s->rank);
    for (int d = 0; d < s->rank; d++) {
        s->tall[d] = d == channel ? -1 : 1;
        if (d != channel) s->axes[s->n_axes++] = d;
    }
    s->g = ef_cast(b, g->in[0], EF_F32);
    s->x = ef_cast(b, g->in[1], EF_F32);
    s->scale = as_channels(s, g->in[2]);
    s->da = ef_cast(b, ef_dout(g, 0), EF_F32);
    s->db = as_channels(s, ef_dout(g, 1));
    s->dc = as_channels(s, ef_dout(g, 2));
    ef_value *variance = as_channels(s, g->in[4]);
    s->r = ef_emit(b, "Rsqrt", 1, ef_shift(b, variance, (double)t->epsilon));
    s->h = ef_mul(b, ef_sub(b, s->x, as_channels(s, g->in[3])), s->r);
}

static void finish(ef_grad *g, const second *s, ef_value *dg, ef_value *dx, ef_value *dscale) {
    ef_build *b = s->b;
    dg = ef_add(b, dg, ef_add(b, ef_mul(b, s->db, s->h), s->dc));
    g->din[0] = ef_cast(b, dg, g->in[0]->fact.dtype);
    g->din[1] = ef_cast(b, dx, g->in[1]->fact.dtype);
    g->din[2] = as_vector(s, ef_sum(b, dscale, s->n_axes, s->axes, false));
}

static ef_status *grad_grad(ef_grad *g) {
    const norm_attrs *t = g->attrs;
    second s;
    setup(g, &s);
    ef_build *b = s.b;
    ef_value *scale_r = ef_mul(b, s.scale, s.r);
    if (!t->is_training) {
        finish(g, &s, ef_mul(b, s.da, scale_r), ef_mul(b, s.db, ef_mul(b, s.g, s.r)),
               ef_mul(b, s.da, ef_mul(b, s.g, s.r)));
        return NULL;
    }
    ef_value *p = mean_of(&s, ef_mul(b, s.g, s.h)), *q = mean_of(&s, ef_mul(b, s.da, s.h));
    ef_value *g0 = centred(&s, s.g), *a0 = centred(&s, s.da);
    ef_value *g1 = ef_sub(b, g0, ef_mul(b, s.h, p)), *a1 = ef_sub(b, a0, ef_mul(b, s.h, q));
    ef_value *bend = ef_sub(b, mean_of(&s, ef_mul(b, s.da, g0)), ef_scale(b, ef_mul(b, p, q), 3));
    ef_value *inside =
        ef_add(b, ef_mul(b, s.h, bend), ef_add(b, ef_mul(b, q, g0), ef_mul(b, p, a0)));
    ef_value *dx =
        ef_sub(b, ef_mul(b, s.db, ef_mul(b, s.r, g1)), ef_mul(b, ef_mul(b, scale_r, s.r), inside));
    finish(g, &s, ef_mul(b, scale_r, a1), dx, ef_mul(b, s.da, ef_mul(b, s.r, g1)));
    return NULL;
}

#define ATTRS(FORMATS)                                           \
    {                                                            \
        EF_ATTR(norm_attrs, epsilon, "float", "0.0001"),         \
            EF_ATTR(norm_attrs, data_format, FORMATS, "'NHWC'"), \
            EF_ATTR(norm_attrs, is_training, "bool", "true"),    \
    }
#define DOC                                                                                      \
    "Gradients of batch normalisation for `x`, `scale` and `offset`, from the moments that the " \
    "forward op reserved (in training) or was given."
#define KEEPS EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_IN(3) | EF_KEEP_IN(4)

const ef_op ef_op_FusedBatchNormGrad = {
    EF_NAMED(FusedBatchNormGrad),
    .doc = DOC,
    .in = {"y_backprop: T", "x: T", "scale: T", "reserve_space_1: T", "reserve_space_2: T"},
    .out = {"x_backprop: T", "scale_backprop: T", "offset_backprop: T", "reserve_space_3: T",
            "reserve_space_4: T"},
    .types = "T: {float}",
    .attr = ATTRS("{'NHWC', 'NCHW'}"),
    .attr_size = sizeof(norm_attrs),
    .traits = EF_HEAVY,
    .keeps = KEEPS,
    .images = {.in = 1 | 2, .out = true},
    .shape = grad_shape,
    .kernel = {{EF_CPU, EF_BIT(F32), grad_run, NULL, NULL, NULL, NULL}},
    .grad = grad_grad,
    .examples = {"float[2,3,2,4] float[2,3,2,4] float[4] float[4] float[4]:0.5..2.0 "
                 "is_training=false grad=no"},
};

const ef_op ef_op_FusedBatchNormGradV2 = {
    EF_NAMED(FusedBatchNormGradV2),
    .doc = DOC,
    .in = {"y_backprop: T", "x: T", "scale: float", "reserve_space_1: U", "reserve_space_2: U"},
    .out = {"x_backprop: T", "scale_backprop: U", "offset_backprop: U", "reserve_space_3: U",
            "reserve_space_4: U"},
    .types = "T: {half, bfloat16, float}; U: {float}",
    .attr = ATTRS("{'NHWC', 'NCHW'}"),
    .attr_size = sizeof(norm_attrs),
    .traits = EF_HEAVY,
    .keeps = KEEPS,
    .images = {.in = 1 | 2, .out = true},
    .shape = grad_shape,
    .kernel = {{EF_CPU, EF_FLOATS, grad_run, NULL, NULL, NULL, NULL}},
    .grad = grad_grad,
    .examples = {"T[2,3,2,4] T[2,3,2,4] float[3] float[3] float[3]:0.5..2.0 is_training=false "
                 "data_format='NCHW' grad=no"},
};

const ef_op ef_op_FusedBatchNormGradV3 = {
    EF_NAMED(FusedBatchNormGradV3),
    .doc = DOC,
    .in = {"y_backprop: T", "x: T", "scale: float", "reserve_space_1: U", "reserve_space_2: U",
           "reserve_space_3: U"},
    .out = {"x_backprop: T", "scale_backprop: U", "offset_backprop: U", "reserve_space_4: U",
            "reserve_space_5: U"},
    .types = "T: {half, bfloat16, float}; U: {float}",
    .attr = ATTRS("{'NHWC', 'NCHW', 'NDHWC', 'NCDHW'}"),
    .attr_size = sizeof(norm_attrs),
    .traits = EF_HEAVY,
    .keeps = KEEPS,
    .images = {.in = 1 | 2, .out = true},
    .shape = grad_shape,
    .kernel = {{EF_CPU, EF_FLOATS, grad_run, NULL, NULL, NULL, NULL}},
    .grad = grad_grad,
    .examples = {"T[2,3,2,4] T[2,3,2,4] float[4] float[4] float[4]:0.5..2.0 float[] "
                 "is_training=false grad=no",
                 "float[2,3,2,2,2] float[2,3,2,2,2] float[3] float[3] float[3]:0.5..2.0 float[] "
                 "is_training=false data_format='NCDHW' grad=no",
                 "float[0,3,2,4] float[0,3,2,4] float[4] float[4] float[4]:0.5..2.0 float[] "
                 "grad=no",
                 "float[2,3,2,4] float[2,3,2,4] float[4] float[4] float[4]:0.5..2.0 float[] "
                 "grad=no"},
};
