/* BiasAdd and its gradient. */
#include "kernels/bias.h"
#include "ops/build.h"
#include "ops/searched_ops.h"
#include "ops/shapes.h"

typedef struct bias_attrs {
    int data_format;
} bias_attrs;
#define FORMAT \
    { EF_ATTR(bias_attrs, data_format, "{'NHWC', 'NCHW'}", "'NHWC'") }
#define TYPES                                                                            \
    "T: {float, double, int32, uint8, int16, int8, complex64, int64, bfloat16, uint16, " \
    "complex128, half, uint32, uint64}"

static int channel_axis(const void *attrs, int rank) {
    const bias_attrs *t = attrs;
    return t != NULL && t->data_format == 1 ? 1 : rank - 1;
}

static ef_status *add_infer(ef_infer *i, const void *attrs) {
    const ef_shape *x = &i->in[0].shape, *bias = &i->in[1].shape;
    EF_TRY(ef_need_rank_at_least(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 1));
    i->out[0].shape = *x;
    if (x->rank < 0 || bias->rank < 0) return NULL;
    int axis = channel_axis(attrs, x->rank);
    if (!ef_dim_may_equal(x->dim[axis], bias->dim[0]))
        return ef_error(EF_INVALID,
                        "%s: value is %s and bias is %s; the bias must provide exactly one element "
                        "for each of the channels, axis %d of value",
                        i->op->name, EF_SHAPE(x), EF_SHAPE(bias), axis);
    if (!ef_dim_known(x->dim[axis])) i->out[0].shape.dim[axis] = bias->dim[0];
    return NULL;
}
static ef_status *add_shape(ef_infer *i) { return add_infer(i, i->attrs); }
static ef_status *add_graph(ef_infer *i) {
    return channel_axis(i->attrs, 0) == 1 ? ef_need_rank_at_least(i, 0, 3) : NULL;
}
static ef_status *add_v1_shape(ef_infer *i) { return add_infer(i, NULL); }

static ef_status *grad_shape(ef_infer *i) {
    const ef_shape *x = &i->in[0].shape;
    EF_TRY(ef_need_rank_at_least(i, 0, 2));
    i->out[0].shape = (ef_shape){.rank = 1, .dim = {EF_DIM_UNKNOWN}};
    if (x->rank >= 0) i->out[0].shape.dim[0] = x->dim[channel_axis(i->attrs, x->rank)];
    return NULL;
}

static ef_bias view_of(const ef_tensor *x, int axis) {
    ef_shape s = ef_shape_from(x);
    return (ef_bias){ef_shape_span(&s, 0, axis), x->dim[axis],
                     ef_shape_span(&s, axis + 1, x->rank)};
}

static ef_status *add_any(const ef_call *c, const void *attrs) {
    const ef_tensor *x = c->in[0];
    ef_bias b = view_of(x, channel_axis(attrs, x->rank));
    ef_bias_add(&b, (ef_dtype)x->dtype, x->data, c->in[1]->data, c->out[0]->data);
    return NULL;
}
static ef_status *add_run(const ef_call *c) { return add_any(c, c->attrs); }
static ef_status *add_v1_run(const ef_call *c) { return add_any(c, NULL); }

static ef_status *grad_run(const ef_call *c) {
    const ef_tensor *dy = c->in[0];
    ef_bias b = view_of(dy, channel_axis(c->attrs, dy->rank));
    return ef_bias_grad(&b, (ef_dtype)dy->dtype, dy->data, c->out[0]->data);
}

static ef_status *add_grad(ef_grad *g) {
    g->din[0] = g->dout[0];
    g->din[1] = ef_emit_like(g, "BiasAddGrad", NULL, 0, 1, g->dout[0]);
    return NULL;
}
static ef_status *add_v1_grad(ef_grad *g) {
    g->din[0] = g->dout[0];
    g->din[1] = ef_emit(g->b, "BiasAddGrad", 1, g->dout[0]);
    return NULL;
}
/* The gradient of the bias is a sum over all positions, so its own gradient is a broadcast. */
static ef_status *grad_grad(ef_grad *g) {
    int rank = g->in[0]->fact.shape.rank;
    const int64_t tall[EF_MAX_RANK] = {-1, 1, 1, 1, 1, 1, 1, 1};
    ef_value *v = g->dout[0];
    if (rank < 0) {
        g->din[0] = ef_emit_like(g, "BiasAdd", NULL, 0, 2, ef_zeros_like(g->b, g->in[0]), v);
        return NULL;
    }
    int below = rank - 1 - channel_axis(g->attrs, rank);
    if (below > 0) v = ef_reshape(g->b, v, ef_const_ints(g->b, EF_I32, 1 + below, tall));
    g->din[0] = ef_broadcast_to_like(g->b, v, g->in[0]);
    return NULL;
}

const ef_op ef_op_BiasAdd = {
    EF_NAMED(BiasAdd),
    .doc = "Adds a vector to `value`, one element for each channel.",
    .in = {"value: T", "bias: T"},
    .out = {"output: T"},
    .types = TYPES,
    .declared = EF_QUANTIZED,
    .attr = FORMAT,
    .attr_size = sizeof(bias_attrs),
    .traits = EF_MAY_ALIAS_0 | EF_NEVER_FAILS,
    .keeps = EF_KEEP_NONE,
    .images = {.in = 1, .out = true},
    .shape = add_shape,
    .graph_check = add_graph,
    .kernel = {{EF_CPU | EF_TEST, EF_NUMBERS, add_run, NULL, NULL, NULL, NULL}},
    .grad = add_grad,
    .examples = {"T[2,3] T[3]", "T[2,3,2,4] T[4]", "T[2,3,2,4] T[3] data_format='NCHW'",
                 "T[2,3,1] T[3] data_format='NCHW'", "T[0,3] T[3]"},
};

const ef_op ef_op_BiasAddV1 = {
    EF_NAMED(BiasAddV1),
    .doc = "Adds a vector to `value` along its last axis.",
    .in = {"value: T", "bias: T"},
    .out = {"output: T"},
    .types = TYPES,
    .declared = EF_QUANTIZED,
    .traits = EF_MAY_ALIAS_0,
    .keeps = EF_KEEP_NONE,
    .shape = add_v1_shape,
    .kernel = {{EF_CPU | EF_TEST, EF_NUMBERS, add_v1_run, NULL, NULL, NULL, NULL}},
    .grad = add_v1_grad,
    .examples = {"T[2,3] T[3]", "T[2,2,4] T[4]"},
};

const ef_op ef_op_BiasAddGrad = {
    EF_NAMED(BiasAddGrad),
    .doc = "Gradient of BiasAdd for the bias: the sum over every axis but the channels'.",
    .in = {"out_backprop: T"},
    .out = {"output: T"},
    .types = TYPES,
    .declared = EF_QUANTIZED,
    .attr = FORMAT,
    .attr_size = sizeof(bias_attrs),
    .keeps = EF_KEEP_NONE,
    .images = {.in = 1},
    .shape = grad_shape,
    .kernel = {{EF_CPU | EF_TEST, EF_NUMBERS, grad_run, NULL, NULL, NULL, NULL}},
    .grad = grad_grad,
    .examples = {"T[2,3]", "T[2,3,2,4]", "T[2,3,2,4] data_format='NCHW'", "T[0,3]"},
};
const ef_op *const ef_column_sums_op = &ef_op_BiasAddGrad;
