/* FusedBatchNorm in its three versions. They differ in types, layouts and the number of reserved
 * outputs; what they compute is the same. */
#include "kernels/batch_norm.h"
#include "ops/build.h"
#include "ops/nn/batch_norm.h"
#include "ops/shapes.h"

int ef_norm_axis(int data_format, int rank) { return data_format % 2 == 1 ? 1 : rank - 1; }

/* NHWC and NCHW have rank 4, NDHWC and NCDHW 5. */
ef_status *ef_norm_check(const ef_infer *i, int k, int data_format, int64_t *channels) {
    int rank = data_format >= 2 ? 5 : 4;
    EF_TRY(ef_need_rank(i, k, rank));
    const ef_shape *x = &i->in[k].shape;
    *channels = x->rank < 0 ? EF_DIM_UNKNOWN : x->dim[ef_norm_axis(data_format, rank)];
    return NULL;
}

ef_status *ef_norm_check_vector(const ef_infer *i, int k, const char *name, int64_t *channels) {
    EF_TRY(ef_need_rank(i, k, 1));
    const ef_shape *v = &i->in[k].shape;
    if (v->rank < 0) return NULL;
    if (!ef_dim_may_equal(v->dim[0], *channels))
        return ef_error(EF_INVALID,
                        "%s: %s is %s and x has %lld channels; %s must have the same number of "
                        "elements as the channels of x",
                        i->op->name, name, EF_SHAPE(v), (long long)*channels, name);
    if (!ef_dim_known(*channels)) *channels = v->dim[0];
    return NULL;
}

static ef_status *norm_shape(ef_infer *i) {
    const norm_attrs *t = i->attrs;
    static const char *const name[5] = {"x", "scale", "offset", "mean", "variance"};
    int64_t channels;
    EF_TRY(ef_norm_check(i, 0, t->data_format, &channels));
    bool needs_moments = !t->is_training || t->exponential_avg_factor != 1.0F;
    for (int k = 1; k < 5; k++) {
        EF_TRY(ef_need_rank(i, k, 1));
        if (k < 3 || needs_moments) EF_TRY(ef_norm_check_vector(i, k, name[k], &channels));
    }
    ef_shape vector = {.rank = 1, .dim = {channels}};
    i->out[0].shape = i->in[0].shape;
    if (i->in[0].shape.rank >= 0)
        i->out[0].shape.dim[ef_norm_axis(t->data_format, i->in[0].shape.rank)] = channels;
    for (int k = 1; k < 5; k++) i->out[k].shape = vector;
    if (i->n_out == 6) i->out[5].shape = ef_scalar_shape();
    return NULL;
}

ef_norm ef_norm_view(const ef_tensor *x, int data_format, float epsilon) {
    int axis = ef_norm_axis(data_format, x->rank);
    ef_shape s = ef_shape_from(x);
    return (ef_norm){ef_shape_span(&s, 0, axis), x->dim[axis], ef_shape_span(&s, axis + 1, x->rank),
                     epsilon};
}

/* Writes the running averages into outputs 1 and 2; there the variance is the unbiased one. */
static void running(const ef_call *c, const ef_norm *n, const float *mean, const float *variance) {
    const norm_attrs *t = c->attrs;
    float f = t->exponential_avg_factor, *rm = c->out[1]->data, *rv = c->out[2]->data;
    const float *om = c->in[3]->data, *ov = c->in[4]->data;
    double per = (double)(n->outer * n->inner);
    float unbias = per > 1 ? (float)(per / (per - 1)) : 1.0F;
    for (int64_t k = 0; k < n->channels; k++) {
        float v = variance[k] * unbias;
        rm[k] = f == 1.0F ? mean[k] : (1 - f) * om[k] + f * mean[k];
        rv[k] = f == 1.0F ? v : (1 - f) * ov[k] + f * v;
    }
}

static ef_status *norm_run(const ef_call *c) {
    const norm_attrs *t = c->attrs;
    const ef_tensor *x = c->in[0];
    ef_dtype type = (ef_dtype)x->dtype;
    ef_norm n = ef_norm_view(x, t->data_format, t->epsilon);
    float *mean = c->out[3]->data, *variance = c->out[4]->data;
    size_t bytes = (size_t)n.channels * sizeof(float);
    if (c->n_out == 6) *(float *)c->out[5]->data = 0;
    if (t->is_training) {
        EF_TRY(ef_norm_moments(&n, type, x->data, mean, variance));
        running(c, &n, mean, variance);
    } else if (bytes > 0) {
        memcpy(mean, c->in[3]->data, bytes);
        memcpy(variance, c->in[4]->data, bytes);
        memcpy(c->out[1]->data, mean, bytes);
        memcpy(c->out[2]->data, variance, bytes);
    }
    return ef_norm_apply(&n, type, x->data, c->in[1]->data, c->in[2]->data, mean, variance,
                         c->out[0]->data);
}

/* The gradient op takes its attributes by name from the forward op. */
static ef_status *norm_grad(ef_grad *g, const char *op, int n_in) {
    const norm_attrs *t = g->attrs;
    if (g->dout[0] == NULL) return NULL;
    ef_value *in[6] = {g->dout[0], g->in[0], g->in[1], g->in[3], g->in[4], NULL}, *out[5];
    if (t->is_training) in[3] = g->out[3], in[4] = g->out[4];
    if (n_in == 6) in[5] = g->out[5];
    static const char *const format[4] = {"NHWC", "NCHW", "NDHWC", "NCDHW"};
    const ef_attr_value set[3] = {EF_SET_FLOAT("epsilon", (double)t->epsilon),
                                  EF_SET_STRING("data_format", format[t->data_format]),
                                  EF_SET_BOOL("is_training", t->is_training)};
    if (ef_emit_many(g->b, op, set, 3, in, n_in, out, 5) == 0) return NULL;
    for (int k = 0; k < 3; k++) g->din[k] = out[k];
    return NULL;
}
static ef_status *norm_v1_grad(ef_grad *g) { return norm_grad(g, "FusedBatchNormGrad", 5); }
static ef_status *norm_v2_grad(ef_grad *g) { return norm_grad(g, "FusedBatchNormGradV2", 5); }
static ef_status *norm_v3_grad(ef_grad *g) { return norm_grad(g, "FusedBatchNormGradV3", 6); }

#define ATTRS(FORMATS)                                                   \
    {                                                                    \
        EF_ATTR(norm_attrs, epsilon, "float", "0.0001"),                 \
            EF_ATTR(norm_attrs, exponential_avg_factor, "float", "1.0"), \
            EF_ATTR(norm_attrs, data_format, FORMATS, "'NHWC'"),         \
            EF_ATTR(norm_attrs, is_training, "bool", "true"),            \
    }
#define DOC                                                                                      \
    "Normalises each channel of `x` to zero mean and unit variance, then scales and shifts it; " \
    "in "                                                                                        \
    "in training with the moments of `x`, otherwise with the given ones."
#define KEEPS \
    EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(3) | EF_KEEP_IN(4) | EF_KEEP_OUT(3) | EF_KEEP_OUT(4)

const ef_op ef_op_FusedBatchNorm = {
    EF_NAMED(FusedBatchNorm),
    .doc = DOC,
    .in = {"x: T", "scale: T", "offset: T", "mean: T", "variance: T"},
    .out = {"y: T", "batch_mean: T", "batch_variance: T", "reserve_space_1: T",
            "reserve_space_2: T"},
    .types = "T: {float}",
    .attr = ATTRS("{'NHWC', 'NCHW'}"),
    .attr_size = sizeof(norm_attrs),
    .traits = EF_HEAVY,
    .keeps = KEEPS,
    .images = {.in = 1, .out = true},
    .shape = norm_shape,
    .kernel = {{EF_CPU, EF_BIT(F32), norm_run, NULL, NULL, NULL, NULL}},
    .grad = norm_v1_grad,
    .examples = {"float[2,3,2,4] float[4] float[4] float[0] float[0] grad=first",
                 "float[2,3,2,4] float[3] float[3] float[3] float[3]:0.5..2.0 is_training=false "
                 "data_format='NCHW' grad=no"},
};

const ef_op ef_op_FusedBatchNormV2 = {
    EF_NAMED(FusedBatchNormV2),
    .doc = DOC,
    .in = {"x: T", "scale: U", "offset: U", "mean: U", "variance: U"},
    .out = {"y: T", "batch_mean: U", "batch_variance: U", "reserve_space_1: U",
            "reserve_space_2: U"},
    .types = "T: {half, bfloat16, float}; U: {float}",
    .attr = ATTRS("{'NHWC', 'NCHW'}"),
    .attr_size = sizeof(norm_attrs),
    .traits = EF_HEAVY,
    .keeps = KEEPS,
    .images = {.in = 1, .out = true},
    .shape = norm_shape,
    .kernel = {{EF_CPU, EF_FLOATS, norm_run, NULL, NULL, NULL, NULL}},
    .grad = norm_v2_grad,
    .examples = {"T[2,3,2,4] float[4] float[4] float[0] float[0] grad=first",
                 "T[2,3,2,4] float[3] float[3] float[3] float[3]:0.5..2.0 is_training=false "
                 "data_format='NCHW' grad=no"},
};

const ef_op ef_op_FusedBatchNormV3 = {
    EF_NAMED(FusedBatchNormV3),
    .doc = DOC,
    .in = {"x: T", "scale: U", "offset: U", "mean: U", "variance: U"},
    .out = {"y: T", "batch_mean: U", "batch_variance: U", "reserve_space_1: U",
            "reserve_space_2: U", "reserve_space_3: U"},
    .types = "T: {half, bfloat16, float}; U: {float}",
    .attr = ATTRS("{'NHWC', 'NCHW', 'NDHWC', 'NCDHW'}"),
    .attr_size = sizeof(norm_attrs),
    .traits = EF_HEAVY,
    .keeps = KEEPS | EF_KEEP_OUT(5),
    .images = {.in = 1, .out = true},
    .shape = norm_shape,
    .kernel = {{EF_CPU, EF_FLOATS, norm_run, NULL, NULL, NULL, NULL}},
    .grad = norm_v3_grad,
    .examples = {"T[2,3,2,4] float[4] float[4] float[0] float[0] grad=first",
                 "float[3,2,2,4] float[2] float[2] float[2] float[2]:0.5..2.0 "
                 "exponential_avg_factor=0.25 data_format='NCHW' grad=first",
                 "T[2,3,2,2,2] float[3] float[3] float[3] float[3]:0.5..2.0 is_training=false "
                 "data_format='NCDHW' grad=no",
                 "float[0,3,2,4] float[4] float[4] float[4] float[4]:0.5..2.0 is_training=false "
                 "grad=no"},
};
