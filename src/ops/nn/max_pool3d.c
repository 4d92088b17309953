/* MaxPool3D and its gradients. */
#include "ops/nn/pool.h"
#include "ops/shapes.h"

#define TYPES "{half, bfloat16, float}"

static ef_status *pool_shape(ef_infer *i) { return ef_pool_infer(i, 3, -1); }
static ef_status *grad_shape(ef_infer *i) {
    EF_TRY(ef_pool_infer_grad(i, 3, 0, 1, -1));
    return ef_pool_infer_grad(i, 3, 0, 2, -1);
}
static ef_status *grad_grad_shape(ef_infer *i) {
    ef_shape x;
    EF_TRY(ef_need_rank(i, 2, 5));
    EF_TRY(ef_shape_merge(&i->in[0].shape, &i->in[2].shape, &x));
    EF_TRY(ef_pool_infer(i, 3, -1));
    return ef_pool_check(i, &i->out[0].shape, 1);
}

static ef_status *pool_run(const ef_call *c) {
    ef_window_box b;
    EF_TRY(ef_pool_box(c, 3, c->in[0], c->out[0], -1, &b));
    return ef_max_pool(&b, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->out[0]->data);
}
static ef_status *grad_run(const ef_call *c) {
    ef_window_box b;
    EF_TRY(ef_pool_box(c, 3, c->in[0], c->in[2], -1, &b));
    if (c->in[0]->dtype != c->in[2]->dtype)
        return ef_error(EF_UNIMPLEMENTED,
                        "%s: orig_input is %s and grad is %s; they must be of one "
                        "dtype",
                        c->op->name, EF_TENSOR(c->in[0]), EF_TENSOR(c->in[2]));
    return ef_max_pool_grad(&b, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->in[2]->data,
                            c->out[0]->data);
}
static ef_status *grad_grad_run(const ef_call *c) {
    ef_window_box b;
    EF_TRY(ef_pool_box(c, 3, c->in[0], c->out[0], -1, &b));
    if (ef_count(c->in[2]) != ef_count(c->in[0]))
        return ef_error(EF_INVALID, "%s: orig_input is %s and grad is %s; they must be equal",
                        c->op->name, EF_TENSOR(c->in[0]), EF_TENSOR(c->in[2]));
    return ef_max_pool_pick(&b, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->in[2]->data,
                            c->out[0]->data);
}

static ef_status *pool_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "MaxPool3DGrad", NULL, 0, 3, g->in[0], g->out[0], g->dout[0]);
    return NULL;
}
/* The positions of the maxima are treated as constants. */
static ef_status *second_grad(ef_grad *g, const char *op) {
    g->din[0] = ef_zeros_like(g->b, g->in[0]);
    g->din[1] = ef_zeros_like(g->b, g->in[1]);
    g->din[2] = ef_emit_like(g, op, NULL, 0, 3, g->in[0], g->in[1], g->dout[0]);
    return NULL;
}
static ef_status *grad_grad(ef_grad *g) { return second_grad(g, "MaxPool3DGradGrad"); }
static ef_status *grad_grad_grad(ef_grad *g) { return second_grad(g, "MaxPool3DGrad"); }

const ef_op ef_op_MaxPool3D = {
    EF_NAMED(MaxPool3D),
    .doc = "The largest element of every three-dimensional window of `ksize`, for each channel.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: " TYPES,
    .attr = EF_POOL_ATTRS(EF_WINDOW_PADDING, EF_WINDOW_FORMAT3),
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(0),
    .shape = pool_shape,
    .graph_check = ef_window_graph_check,
    .kernel = {{EF_CPU, EF_FLOATS, pool_run, NULL, NULL, NULL, NULL}},
    .grad = pool_grad,
    .examples = {"T[1,4,5,3,2] ksize=[1,2,3,2,1] strides=[1,2,2,1,1] padding='SAME'",
                 "T[1,2,3,4,3] ksize=[1,1,2,2,2] strides=[1,1,1,2,1] padding='VALID' "
                 "data_format='NCDHW'"},
};

const ef_op ef_op_MaxPool3DGrad = {
    EF_NAMED(MaxPool3DGrad),
    .doc = "Gradient of MaxPool3D: the gradient of a window goes to each of its largest "
           "elements.",
    .in = {"orig_input: TInput", "orig_output: TInput", "grad: T"},
    .out = {"output: T"},
    .types = "T: " TYPES " = float; TInput: " TYPES " = float",
    .attr = EF_POOL_ATTRS(EF_WINDOW_PADDING, EF_WINDOW_FORMAT3),
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = grad_shape,
    .kernel = {{EF_CPU, EF_FLOATS, grad_run, NULL, NULL, NULL, NULL}},
    .grad = grad_grad,
    .examples = {"float[1,4,5,3,2] float[1,2,3,3,2] float[1,2,3,3,2] ksize=[1,2,3,2,1] "
                 "strides=[1,2,2,1,1] padding='SAME'",
                 "half[1,3,3,3,2] half[1,2,2,2,2] half[1,2,2,2,2] ksize=[1,2,2,2,1] "
                 "strides=[1,1,1,1,1] padding='VALID'"},
};

const ef_op ef_op_MaxPool3DGradGrad = {
    EF_NAMED(MaxPool3DGradGrad),
    .doc =
        "Gradient of MaxPool3DGrad: the elements of `grad` at the positions where `orig_input` has "
        "the maxima of its windows.",
    .in = {"orig_input: T", "orig_output: T", "grad: T"},
    .out = {"output: T"},
    .types = "T: " TYPES,
    .attr = EF_POOL_ATTRS(EF_WINDOW_PADDING, EF_WINDOW_FORMAT3),
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = grad_grad_shape,
    .kernel = {{EF_CPU, EF_REALS, grad_grad_run, NULL, NULL, NULL, NULL}},
    .grad = grad_grad_grad,
    .examples = {"T[1,4,5,3,2] T[1,2,3,3,2] T[1,4,5,3,2] ksize=[1,2,3,2,1] "
                 "strides=[1,2,2,1,1] padding='SAME'"},
};
