/* AvgPool and its gradient in two and three dimensions. */
#include "ops/nn/pool.h"

#define TYPES "T: {half, bfloat16, float, double}"

static ef_status *pool2_shape(ef_infer *i) { return ef_pool_infer(i, 2, -1); }
static ef_status *pool3_shape(ef_infer *i) { return ef_pool_infer(i, 3, -1); }
static ef_status *grad2_shape(ef_infer *i) { return ef_pool_infer_sizes(i, 2); }
static ef_status *grad3_shape(ef_infer *i) { return ef_pool_infer_sizes(i, 3); }

static ef_status *pool_any(const ef_call *c, int rank) {
    ef_window_box b;
    EF_TRY(ef_pool_box(c, rank, c->in[0], c->out[0], -1, &b));
    return ef_avg_pool(&b, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->out[0]->data);
}
static ef_status *pool2_run(const ef_call *c) { return pool_any(c, 2); }
static ef_status *pool3_run(const ef_call *c) { return pool_any(c, 3); }

static ef_status *grad_any(const ef_call *c, int rank) {
    ef_window_box b;
    EF_TRY(ef_pool_box(c, rank, c->out[0], c->in[1], -1, &b));
    return ef_avg_pool_grad(&b, (ef_dtype)c->in[1]->dtype, c->in[1]->data, c->out[0]->data);
}
static ef_status *grad2_run(const ef_call *c) { return grad_any(c, 2); }
static ef_status *grad3_run(const ef_call *c) { return grad_any(c, 3); }

static ef_status *pool2_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "AvgPoolGrad", NULL, 0, 2, ef_shape_value(g->b, g->in[0], EF_I32),
                             g->dout[0]);
    return NULL;
}
static ef_status *pool3_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "AvgPool3DGrad", NULL, 0, 2, ef_shape_value(g->b, g->in[0], EF_I32),
                             g->dout[0]);
    return NULL;
}
static ef_status *grad2_grad(ef_grad *g) {
    g->din[1] = ef_emit_like(g, "AvgPool", NULL, 0, 1, g->dout[0]);
    return NULL;
}
static ef_status *grad3_grad(ef_grad *g) {
    g->din[1] = ef_emit_like(g, "AvgPool3D", NULL, 0, 1, g->dout[0]);
    return NULL;
}

const ef_op ef_op_AvgPool = {
    EF_NAMED(AvgPool),
    .doc = "The mean of every window of size `ksize`, for each channel; padding is not counted.",
    .in = {"value: T"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = EF_POOL_ATTRS(EF_WINDOW_PADDING, EF_WINDOW_FORMAT2),
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_NONE,
    .images = {.in = 1, .out = true},
    .shape = pool2_shape,
    .graph_check = ef_window_graph_check,
    .kernel = {{EF_CPU, EF_FLOATS, pool2_run, NULL, NULL, NULL, NULL}},
    .grad = pool2_grad,
    .examples = {"T[2,6,7,3] ksize=[1,2,3,1] strides=[1,2,2,1] padding='SAME'",
                 "T[1,5,5,2] ksize=[1,3,3,1] strides=[1,1,1,1] padding='VALID'",
                 "T[2,2,5,4] ksize=[1,1,2,2] strides=[1,1,2,2] padding='SAME' data_format='NCHW'",
                 "T[0,4,4,2] ksize=[1,2,2,1] strides=[1,2,2,1] padding='VALID'"},
};

const ef_op ef_op_AvgPoolGrad = {
    EF_NAMED(AvgPoolGrad),
    .doc = "Gradient of AvgPool: the gradient of a window is divided among its elements.",
    .in = {"orig_input_shape: int32", "grad: T"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = EF_POOL_ATTRS(EF_WINDOW_PADDING, EF_WINDOW_FORMAT2),
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_NONE,
    .images = {.in = 2, .sizes = 1, .out = true},
    .shape = grad2_shape,
    .kernel = {{EF_CPU, EF_FLOATS, grad2_run, NULL, NULL, NULL, NULL}},
    .grad = grad2_grad,
    .examples = {"int32[4]{2,6,7,3} T[2,3,4,3] ksize=[1,2,3,1] strides=[1,2,2,1] padding='SAME'",
                 "int32[4]{1,2,5,5} T[1,2,3,3] ksize=[1,1,3,3] strides=[1,1,1,1] padding='VALID' "
                 "data_format='NCHW'"},
};

const ef_op ef_op_AvgPool3D = {
    EF_NAMED(AvgPool3D),
    .doc = "The mean of every three-dimensional window of size `ksize`; padding is not counted.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = EF_POOL_ATTRS(EF_WINDOW_PADDING, EF_WINDOW_FORMAT3),
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_NONE,
    .shape = pool3_shape,
    .graph_check = ef_window_graph_check,
    .kernel = {{EF_CPU, EF_FLOATS, pool3_run, NULL, NULL, NULL, NULL}},
    .grad = pool3_grad,
    .examples = {"T[1,4,5,3,2] ksize=[1,2,3,2,1] strides=[1,2,2,1,1] padding='SAME'",
                 "T[1,2,3,4,3] ksize=[1,1,2,2,2] strides=[1,1,1,2,1] padding='VALID' "
                 "data_format='NCDHW'"},
};

const ef_op ef_op_AvgPool3DGrad = {
    EF_NAMED(AvgPool3DGrad),
    .doc = "Gradient of AvgPool3D: the gradient of a window is divided among its elements.",
    .in = {"orig_input_shape: int32", "grad: T"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = EF_POOL_ATTRS(EF_WINDOW_PADDING, EF_WINDOW_FORMAT3),
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_NONE,
    .shape = grad3_shape,
    .kernel = {{EF_CPU, EF_FLOATS, grad3_run, NULL, NULL, NULL, NULL}},
    .grad = grad3_grad,
    .examples = {"int32[5]{1,4,5,3,2} T[1,2,3,3,2] ksize=[1,2,3,2,1] strides=[1,2,2,1,1] "
                 "padding='SAME'"},
};
