/* Dilation2D and its gradients. */
#include "kernels/dilation.h"
#include "ops/build.h"
#include "ops/nn/window.h"
#include "ops/shapes.h"

/* The window of image [n, h, w, c] and filter [h, w, c]; `rates` are stored as dilations. */
static ef_status *fit(const ef_op *op, const ef_window_attrs *t, const int64_t *x, const int64_t *f,
                      ef_window_box *b) {
    EF_TRY(ef_window_setup(op, t, 2, b));
    if (t->dilations.n != 4 || t->dilations.at[0] != 1 || t->dilations.at[3] != 1)
        return ef_error(EF_INVALID,
                        "%s: rates must have 4 entries, 1 for batch and channels; there "
                        "are %d",
                        op->name, t->dilations.n);
    for (int d = 0; d < 2; d++) {
        int64_t rate = t->dilations.at[1 + d];
        if (rate < 1 || rate > INT32_MAX)
            return ef_error(EF_INVALID, "%s: rates must be positive and below 2^31 but one is %lld",
                            op->name, (long long)rate);
        b->dilation[1 + d] = rate;
        b->kernel[1 + d] = f[d];
    }
    if (!ef_dim_may_equal(x[3], f[2]))
        return ef_error(EF_INVALID,
                        "%s: input has %lld channels and filter %lld; input and filter "
                        "must have the same depth",
                        op->name, (long long)x[3], (long long)f[2]);
    b->batch = x[0];
    b->in_channels = b->out_channels = x[3] >= 0 ? x[3] : f[2];
    ef_window_read(b, x, b->in);
    return ef_window_fit(op, t, b);
}

static ef_status *infer(ef_infer *i, ef_window_box *b, ef_shape *made) {
    EF_TRY(ef_need_rank(i, 0, 4));
    EF_TRY(ef_need_rank(i, 1, 3));
    ef_shape x = ef_with_rank(&i->in[0].shape, 4), f = ef_with_rank(&i->in[1].shape, 3);
    EF_TRY(fit(i->op, i->attrs, x.dim, f.dim, b));
    *made = ef_window_image(b, b->batch, b->in_channels, b->out);
    return NULL;
}
static ef_status *forward_shape(ef_infer *i) {
    ef_window_box b;
    return infer(i, &b, &i->out[0].shape);
}
static ef_status *grad_infer(ef_infer *i, int like) {
    ef_window_box b;
    ef_shape made;
    EF_TRY(ef_need_rank(i, 2, 4));
    EF_TRY(infer(i, &b, &made));
    if (!ef_shape_may_equal(&made, &i->in[2].shape))
        return ef_error(EF_INVALID,
                        "%s: the window gives %s but out_backprop is %s; they must be "
                        "equal",
                        i->op->name, EF_SHAPE(&made), EF_SHAPE(&i->in[2].shape));
    i->out[0].shape = i->in[like].shape;
    return NULL;
}
static ef_status *input_shape(ef_infer *i) { return grad_infer(i, 0); }
static ef_status *filter_shape(ef_infer *i) { return grad_infer(i, 1); }

static ef_status *run(const ef_call *c, ef_dilation_kind kind) {
    ef_window_box b;
    EF_TRY(fit(c->op, c->attrs, c->in[0]->dim, c->in[1]->dim, &b));
    const ef_tensor *pooled = kind == EF_DILATION_FORWARD ? c->out[0] : c->in[2];
    if (ef_count(pooled) != b.batch * b.in_channels * ef_volume(b.out))
        return ef_error(EF_INVALID, "%s: %s does not fit the window", c->op->name,
                        EF_TENSOR(pooled));
    return ef_dilation(&b, (ef_dtype)c->in[0]->dtype, kind, c->in[0]->data, c->in[1]->data,
                       kind == EF_DILATION_FORWARD ? NULL : c->in[2]->data, c->out[0]->data);
}
static ef_status *forward_run(const ef_call *c) { return run(c, EF_DILATION_FORWARD); }
static ef_status *input_run(const ef_call *c) { return run(c, EF_DILATION_INPUT); }
static ef_status *filter_run(const ef_call *c) { return run(c, EF_DILATION_FILTER); }

static ef_status *forward_grad(ef_grad *g) {
    g->din[0] =
        ef_emit_like(g, "Dilation2DBackpropInput", NULL, 0, 3, g->in[0], g->in[1], g->dout[0]);
    g->din[1] =
        ef_emit_like(g, "Dilation2DBackpropFilter", NULL, 0, 3, g->in[0], g->in[1], g->dout[0]);
    return NULL;
}

#define TYPES \
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
#define ATTRS                                                                                      \
    {                                                                                              \
        EF_WINDOW_ATTR(strides, "list(int)", NULL),                                                \
            {"rates", "list(int)", NULL, offsetof(ef_window_attrs, dilations)}, EF_WINDOW_PADDING, \
    }

const ef_op ef_op_Dilation2D = {
    EF_NAMED(Dilation2D),
    .doc = "Grayscale dilation: for each window, the largest sum of input and filter elements.",
    .in = {"input: T", "filter: T"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = forward_shape,
    .kernel = {{EF_CPU, EF_REALS, forward_run, NULL, NULL, NULL, NULL}},
    .grad = forward_grad,
    .examples = {"T[2,5,6,3] T[2,3,3] strides=[1,1,1,1] rates=[1,1,1,1] padding='SAME'",
                 "T[1,7,6,2] T[2,2,2] strides=[1,2,1,1] rates=[1,2,1,1] padding='VALID'",
                 "T[0,4,4,2] T[2,2,2] strides=[1,1,1,1] rates=[1,1,1,1] padding='SAME'"},
};

const ef_op ef_op_Dilation2DBackpropInput = {
    EF_NAMED(Dilation2DBackpropInput),
    .doc = "Gradient of Dilation2D for its input.",
    .in = {"input: T", "filter: T", "out_backprop: T"},
    .out = {"in_backprop: T"},
    .types = TYPES,
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .shape = input_shape,
    .kernel = {{EF_CPU, EF_REALS, input_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,5,6,3] T[2,3,3] T[2,5,6,3] strides=[1,1,1,1] rates=[1,1,1,1] "
                 "padding='SAME'"},
};

const ef_op ef_op_Dilation2DBackpropFilter = {
    EF_NAMED(Dilation2DBackpropFilter),
    .doc = "Gradient of Dilation2D for its filter.",
    .in = {"input: T", "filter: T", "out_backprop: T"},
    .out = {"filter_backprop: T"},
    .types = TYPES,
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .shape = filter_shape,
    .kernel = {{EF_CPU, EF_REALS, filter_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,5,6,3] T[2,3,3] T[2,5,6,3] strides=[1,1,1,1] rates=[1,1,1,1] "
                 "padding='SAME'"},
};
