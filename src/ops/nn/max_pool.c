/* MaxPool and its gradients in two dimensions. */
#include "ops/nn/pool.h"
#include "ops/shapes.h"

#define TYPES "T: {half, bfloat16, float, double, int32, int64, uint8, int16, int8, uint16} = float"
#define GRAD_TYPES \
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"

static ef_status *pool_shape(ef_infer *i) { return ef_pool_infer(i, 2, -1); }
static ef_status *pool_v2_shape(ef_infer *i) { return ef_pool_infer(i, 2, 1); }
static ef_status *grad_shape(ef_infer *i) {
    EF_TRY(ef_pool_infer_grad(i, 2, 0, 1, -1));
    return ef_pool_infer_grad(i, 2, 0, 2, -1);
}
static ef_status *grad_v2_shape(ef_infer *i) {
    EF_TRY(ef_pool_infer_grad(i, 2, 0, 1, 3));
    return ef_pool_infer_grad(i, 2, 0, 2, 3);
}
/* grad has the image's shape here, and the result has the pooled shape. */
static ef_status *grad_grad_infer(ef_infer *i, int sizes) {
    ef_shape x;
    EF_TRY(ef_need_rank(i, 2, 4));
    EF_TRY(ef_shape_merge(&i->in[0].shape, &i->in[2].shape, &x));
    EF_TRY(ef_pool_infer(i, 2, sizes));
    return ef_pool_check(i, &i->out[0].shape, 1);
}
static ef_status *grad_grad_shape(ef_infer *i) { return grad_grad_infer(i, -1); }
static ef_status *grad_grad_v2_shape(ef_infer *i) { return grad_grad_infer(i, 3); }

static ef_status *pool_any(const ef_call *c, int sizes) {
    ef_window_box b;
    EF_TRY(ef_pool_box(c, 2, c->in[0], c->out[0], sizes, &b));
    return ef_max_pool(&b, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->out[0]->data);
}
static ef_status *pool_run(const ef_call *c) { return pool_any(c, -1); }
static ef_status *pool_v2_run(const ef_call *c) { return pool_any(c, 1); }

static ef_status *grad_any(const ef_call *c, int sizes) {
    ef_window_box b;
    EF_TRY(ef_pool_box(c, 2, c->in[0], c->in[2], sizes, &b));
    return ef_max_pool_grad(&b, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->in[2]->data,
                            c->out[0]->data);
}
static ef_status *grad_run(const ef_call *c) { return grad_any(c, -1); }
static ef_status *grad_v2_run(const ef_call *c) { return grad_any(c, 3); }

static ef_status *grad_grad_any(const ef_call *c, int sizes) {
    ef_window_box b;
    EF_TRY(ef_pool_box(c, 2, c->in[0], c->out[0], sizes, &b));
    if (ef_count(c->in[2]) != ef_count(c->in[0]))
        return ef_error(EF_INVALID, "%s: orig_input is %s and grad is %s; they must be equal",
                        c->op->name, EF_TENSOR(c->in[0]), EF_TENSOR(c->in[2]));
    return ef_max_pool_pick(&b, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->in[2]->data,
                            c->out[0]->data);
}
static ef_status *grad_grad_run(const ef_call *c) { return grad_grad_any(c, -1); }
static ef_status *grad_grad_v2_run(const ef_call *c) { return grad_grad_any(c, 3); }

static ef_status *pool_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "MaxPoolGrad", NULL, 0, 3, g->in[0], g->out[0], g->dout[0]);
    return NULL;
}
static ef_status *pool_v2_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "MaxPoolGradV2", NULL, 0, 5, g->in[0], g->out[0], g->dout[0],
                             g->in[1], g->in[2]);
    return NULL;
}
/* The positions of the maxima are treated as constants. */
static ef_status *grad_grad(ef_grad *g) {
    g->din[0] = ef_zeros_like(g->b, g->in[0]);
    g->din[1] = ef_zeros_like(g->b, g->in[1]);
    g->din[2] = ef_emit_like(g, "MaxPoolGradGrad", NULL, 0, 3, g->in[0], g->in[1], g->dout[0]);
    return NULL;
}
static ef_status *grad_v2_grad(ef_grad *g) {
    g->din[0] = ef_zeros_like(g->b, g->in[0]);
    g->din[1] = ef_zeros_like(g->b, g->in[1]);
    g->din[2] = ef_emit_like(g, "MaxPoolGradGradV2", NULL, 0, 5, g->in[0], g->in[1], g->dout[0],
                             g->in[3], g->in[4]);
    return NULL;
}
static ef_status *grad_grad_grad(ef_grad *g) {
    g->din[0] = ef_zeros_like(g->b, g->in[0]);
    g->din[1] = ef_zeros_like(g->b, g->in[1]);
    g->din[2] = ef_emit_like(g, "MaxPoolGrad", NULL, 0, 3, g->in[0], g->in[1], g->dout[0]);
    return NULL;
}

const ef_op ef_op_MaxPool = {
    EF_NAMED(MaxPool),
    .doc = "The largest element of every window of `ksize`, for each channel.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = EF_POOL_ATTRS(EF_WINDOW_PADDING_EXPLICIT, EF_WINDOW_FORMAT2),
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(0),
    .images = {.in = 1, .out = true},
    .shape = pool_shape,
    .graph_check = ef_window_graph_check,
    .kernel = {{EF_CPU, EF_REALS, pool_run, NULL, NULL, NULL, NULL}},
    .grad = pool_grad,
    .examples = {"T[2,6,7,3] ksize=[1,2,3,1] strides=[1,2,2,1] padding='SAME'",
                 "T[1,5,5,2] ksize=[1,3,3,1] strides=[1,1,1,1] padding='VALID'",
                 "T[2,2,5,4] ksize=[1,1,2,2] strides=[1,1,2,2] padding='SAME' data_format='NCHW'",
                 "T[1,4,5,2] ksize=[1,3,3,1] strides=[1,2,1,1] padding='EXPLICIT' "
                 "explicit_paddings=[0,0,1,0,2,1,0,0]",
                 "T[0,4,4,2] ksize=[1,2,2,1] strides=[1,2,2,1] padding='VALID'"},
};

const ef_op ef_op_MaxPoolV2 = {
    EF_NAMED(MaxPoolV2),
    .doc = "MaxPool with the window's size and strides given as tensors.",
    .in = {"input: T", "ksize: int32", "strides: int32"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = {EF_WINDOW_PADDING, EF_WINDOW_FORMAT2},
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_OUT(0),
    .shape = pool_v2_shape,
    .graph_check = ef_window_graph_check,
    .kernel = {{EF_CPU, EF_REALS, pool_v2_run, NULL, NULL, NULL, NULL}},
    .grad = pool_v2_grad,
    .examples = {"T[2,6,7,3] int32[4]{1,2,3,1} int32[4]{1,2,2,1} padding='SAME'",
                 "T[1,2,5,5] int32[4]{1,1,3,3} int32[4]{1,1,1,2} padding='VALID' "
                 "data_format='NCHW'"},
};

const ef_op ef_op_MaxPoolGrad = {
    EF_NAMED(MaxPoolGrad),
    .doc = "Gradient of MaxPool: the gradient of a window goes to its first largest element.",
    .in = {"orig_input: T", "orig_output: T", "grad: T"},
    .out = {"output: T"},
    .types = GRAD_TYPES " = float",
    .attr = EF_POOL_ATTRS(EF_WINDOW_PADDING_EXPLICIT, EF_WINDOW_FORMAT2),
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .images = {.in = 1 | 2 | 4, .out = true},
    .shape = grad_shape,
    .kernel = {{EF_CPU, EF_REALS, grad_run, NULL, NULL, NULL, NULL}},
    .grad = grad_grad,
    .examples = {"T[2,6,7,3] T[2,3,4,3] T[2,3,4,3] ksize=[1,2,3,1] strides=[1,2,2,1] "
                 "padding='SAME'",
                 "T[1,2,5,5] T[1,2,3,3] T[1,2,3,3] ksize=[1,1,3,3] strides=[1,1,1,1] "
                 "padding='VALID' data_format='NCHW'"},
};

const ef_op ef_op_MaxPoolGradV2 = {
    EF_NAMED(MaxPoolGradV2),
    .doc = "MaxPoolGrad with the window's size and strides given as tensors.",
    .in = {"orig_input: T", "orig_output: T", "grad: T", "ksize: int32", "strides: int32"},
    .out = {"output: T"},
    .types = GRAD_TYPES " = float",
    .attr = {EF_WINDOW_PADDING, EF_WINDOW_FORMAT2},
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(3) | EF_KEEP_IN(4),
    .shape = grad_v2_shape,
    .kernel = {{EF_CPU, EF_REALS, grad_v2_run, NULL, NULL, NULL, NULL}},
    .grad = grad_v2_grad,
    .examples = {"T[2,6,7,3] T[2,3,4,3] T[2,3,4,3] int32[4]{1,2,3,1} int32[4]{1,2,2,1} "
                 "padding='SAME'"},
};

const ef_op ef_op_MaxPoolGradGrad = {
    EF_NAMED(MaxPoolGradGrad),
    .doc = "Gradient of MaxPoolGrad: the elements of `grad` at the positions where `orig_input` "
           "has the maxima of its windows.",
    .in = {"orig_input: T", "orig_output: T", "grad: T"},
    .out = {"output: T"},
    .types = GRAD_TYPES,
    .attr = EF_POOL_ATTRS(EF_WINDOW_PADDING, EF_WINDOW_FORMAT2),
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = grad_grad_shape,
    .kernel = {{EF_CPU, EF_REALS, grad_grad_run, NULL, NULL, NULL, NULL}},
    .grad = grad_grad_grad,
    .examples = {"T[2,6,7,3] T[2,3,4,3] T[2,6,7,3] ksize=[1,2,3,1] strides=[1,2,2,1] "
                 "padding='SAME'"},
};

const ef_op ef_op_MaxPoolGradGradV2 = {
    EF_NAMED(MaxPoolGradGradV2),
    .doc = "MaxPoolGradGrad with the window's size and strides given as tensors.",
    .in = {"orig_input: T", "orig_output: T", "grad: T", "ksize: int32", "strides: int32"},
    .out = {"output: T"},
    .types = GRAD_TYPES,
    .attr = {EF_WINDOW_PADDING, EF_WINDOW_FORMAT2},
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .shape = grad_grad_v2_shape,
    .kernel = {{EF_CPU, EF_REALS, grad_grad_v2_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,6,7,3] T[2,3,4,3] T[2,6,7,3] int32[4]{1,2,3,1} int32[4]{1,2,2,1} "
                 "padding='SAME'"},
};
