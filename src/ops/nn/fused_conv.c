/* _FusedConv2D: Conv2D with an epilogue: a bias, a tensor to add and an activation, applied
 * before the result is stored. Only the optimiser makes it, after differentiation, so it has no
 * gradient. */
#include "ops/nn/conv.h"
#include "ops/nn/fused_words.h"
#include "ops/shapes.h"

typedef struct fused_attrs {
    ef_window_attrs window; /* must be first: the convolution's functions read it */
    int64_t num_args, num_host_args;
    int filter_format;
    ef_texts fused_ops;
    float epsilon, leakyrelu_alpha;
} fused_attrs;

static const ef_conv_op what = {.rank = 2, .kind = EF_CONV_FORWARD};

static bool is_next(const ef_texts *list, int k, ef_fused_kind kind, ef_activation *act) {
    return k < list->n && ef_fused_kind_of(list->at[k].at, act) == kind;
}

/* Reads BiasAdd [Add] [activation] into the description. */
static ef_status *read_ops(const ef_op *op, const fused_attrs *t, ef_conv *c) {
    const ef_texts *list = &t->fused_ops;
    int k = 0;
    ef_activation act = EF_ACT_NONE;
    c->has_bias = is_next(list, k, EF_FUSED_BIAS, NULL);
    k += c->has_bias;
    c->has_add = c->has_bias && is_next(list, k, EF_FUSED_SUM, NULL);
    k += c->has_add;
    k += is_next(list, k, EF_FUSED_ACTIVATION, &act);
    c->activation = (int32_t)act;
    if (act == EF_ACT_LEAKY_RELU) c->alpha = t->leakyrelu_alpha;
    if (!c->has_bias || k < list->n)
        return ef_error(EF_INVALID,
                        "%s: fused_ops has \"%s\" at index %d; it must be BiasAdd, optionally Add, "
                        "then optionally an activation",
                        op->name, k < list->n ? list->at[k].at : "", k);
    return NULL;
}

static ef_status *fused_shape(ef_infer *i) {
    const fused_attrs *t = i->attrs;
    ef_conv c = {0};
    EF_TRY(read_ops(i->op, t, &c));
    int args = 1 + c.has_add;
    if (t->num_args != args || t->num_host_args != 0 || i->n_in != 2 + args)
        return ef_error(EF_INVALID,
                        "%s: %d tensors follow the filter and num_args is %lld; these "
                        "fused_ops need %d",
                        i->op->name, i->n_in - 2, (long long)t->num_args, args);
    if (t->filter_format != 0)
        return ef_error(EF_UNIMPLEMENTED, "%s: the filter must be in format HWIO on the CPU",
                        i->op->name);
    for (int k = 2; k < i->n_in; k++)
        if (i->in[k].dtype != i->in[0].dtype)
            return ef_error(EF_INVALID,
                            "%s: input is %s and argument %d is %s; they must be of one "
                            "dtype",
                            i->op->name, ef_dtype_name(i->in[0].dtype), k - 2,
                            ef_dtype_name(i->in[k].dtype));
    EF_TRY(ef_conv_infer(i, what));
    ef_shape *y = &i->out[0].shape;
    EF_TRY(ef_need_rank(i, 2, 1));
    if (i->in[2].shape.rank == 1 &&
        !ef_dim_may_equal(i->in[2].shape.dim[0], y->dim[t->window.data_format == 1 ? 1 : 3]))
        return ef_error(EF_INVALID,
                        "%s: bias is %s and the output is %s; there must be one element "
                        "for each channel",
                        i->op->name, EF_SHAPE(&i->in[2].shape), EF_SHAPE(y));
    if (c.has_add && !ef_shape_may_equal(&i->in[3].shape, y))
        return ef_error(EF_INVALID,
                        "%s: the tensor to add is %s and the output is %s; they must be "
                        "equal",
                        i->op->name, EF_SHAPE(&i->in[3].shape), EF_SHAPE(y));
    return NULL;
}

static ef_status *describe(const ef_call *c, ef_conv *d) {
    EF_TRY(ef_conv_describe(c, what, d));
    EF_TRY(read_ops(c->op, c->attrs, d));
    const ef_tensor *bias = c->in[2], *y = c->out[0];
    bool fits = ef_count(bias) == d->box.out_channels && c->n_in == 3 + d->has_add &&
                (!d->has_add || ef_count(c->in[3]) == ef_count(y));
    if (!fits)
        return ef_error(EF_INVALID, "%s: bias is %s and the output %s; the arguments do not fit",
                        c->op->name, EF_TENSOR(bias), EF_TENSOR(y));
    return NULL;
}

static ef_conv_data data_of(const ef_call *c, const ef_conv *d) {
    return (ef_conv_data){.a = c->in[0]->data,
                          .b = c->in[1]->data,
                          .bias = c->in[2]->data,
                          .add = d->has_add ? c->in[3]->data : NULL,
                          .out = c->out[0]->data};
}

static ef_status *fused_dnnl(const ef_call *c) {
    ef_conv d;
    EF_TRY(describe(c, &d));
    ef_conv_data data = data_of(c, &d);
    return ef_conv_dnnl(&d, (ef_dtype)c->out[0]->dtype, &data, c->state);
}
static ef_status *fused_direct(const ef_call *c) {
    ef_conv d;
    EF_TRY(describe(c, &d));
    ef_conv_data data = data_of(c, &d);
    return ef_conv_direct(&d, (ef_dtype)c->out[0]->dtype, &data);
}
static bool fused_pays(const ef_call *c) { return ef_conv_call_pays(c, what); }
static ef_status *fused_prepare(const ef_call *c, void **state) {
    ef_conv d;
    EF_TRY(describe(c, &d));
    return ef_conv_prepare(&d, state);
}

#define WINDOW(field, type, value) \
    { #field, type, value, offsetof(fused_attrs, window.field) }

const ef_op ef_op__FusedConv2D = {
    EF_NAMED(_FusedConv2D),
    .doc = "Conv2D followed by the ops in `fused_ops`: BiasAdd, optionally Add, optionally an "
           "activation. Made by the optimiser.",
    .in = {"input: T", "filter: T", "args: TArgs", "host_args: num_host_args * float"},
    .out = {"output: T"},
    .types = "T: {half, bfloat16, float, double}; TArgs: list(type)",
    .attr = {EF_ATTR(fused_attrs, num_args, "int >= 0", NULL),
             EF_ATTR(fused_attrs, num_host_args, "int >= 0", "0"),
             WINDOW(strides, "list(int)", NULL),
             WINDOW(padding, "{'SAME', 'VALID', 'EXPLICIT'}", NULL),
             WINDOW(explicit_paddings, "list(int)", "[]"),
             WINDOW(data_format, "{'NHWC', 'NCHW'}", "'NHWC'"),
             EF_ATTR(fused_attrs, filter_format, "{'HWIO', 'OIHW'}", "'HWIO'"),
             WINDOW(dilations, "list(int)", "[1, 1, 1, 1]"),
             WINDOW(use_cudnn_on_gpu, "bool", "true"),
             EF_ATTR(fused_attrs, fused_ops, "list(string)", "[]"),
             EF_ATTR(fused_attrs, epsilon, "float", "0.0001"),
             EF_ATTR(fused_attrs, leakyrelu_alpha, "float", "0.2")},
    .attr_size = sizeof(fused_attrs),
    .traits = EF_HEAVY | EF_NO_GRAD | EF_NEVER_FAILS,
    .images = {.in = 1 | 8, .out = true}, /* 8: the tensor to add, if any */
    .shape = fused_shape,
    .kernel = {{EF_CPU, EF_BIT(F32) | EF_BIT(F16) | EF_BIT(BF16), fused_dnnl, NULL, fused_pays,
                fused_prepare, ef_conv_release},
               {EF_CPU, EF_FLOATS, fused_direct, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,5,4,3] T[3,2,3,4] T[4] strides=[1,1,1,1] padding='SAME' num_args=1 "
                 "fused_ops=['BiasAdd','Relu']",
                 "T[1,6,7,4] T[3,3,4,6] T[6] T[1,2,3,6] strides=[1,2,2,1] padding='VALID' "
                 "num_args=2 fused_ops=['BiasAdd','Add','LeakyRelu'] leakyrelu_alpha=0.3",
                 "float[2,16,16,3] float[3,3,3,8] float[8] float[2,16,16,8] strides=[1,1,1,1] "
                 "padding='SAME' num_args=2 fused_ops=['BiasAdd','Add','Relu6']",
                 "float[2,3,16,16] float[3,3,3,8] float[8] strides=[1,1,1,1] "
                 "padding='SAME' num_args=1 fused_ops=['BiasAdd','Elu'] data_format='NCHW'"},
};
