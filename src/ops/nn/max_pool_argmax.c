/* MaxPoolWithArgmax: the maxima and their indices; its gradients use the indices. */
#include "base/pool.h"
#include "ops/nn/pool.h"
#include "ops/shapes.h"

typedef struct argmax_attrs {
    ef_window_attrs window;
    ef_dtype Targmax;
    bool include_batch_in_index;
} argmax_attrs;

#define TYPES \
    "T: {float, double, int32, uint8, int16, int8, int64, bfloat16, uint16, half, uint32, uint64}"
#define WINDOW_ATTRS                                                         \
    {"ksize", "list(int)", NULL, offsetof(argmax_attrs, window.ksize)}, {    \
        "strides", "list(int)", NULL, offsetof(argmax_attrs, window.strides) \
    }
#define PADDING_ATTR \
    { "padding", "{'SAME', 'VALID'}", NULL, offsetof(argmax_attrs, window.padding) }
#define BATCH_ATTR EF_ATTR(argmax_attrs, include_batch_in_index, "bool", "false")

static ef_status *pool_shape(ef_infer *i) { return ef_pool_infer(i, 2, -1); }
static ef_status *grad_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 2, 4));
    EF_TRY(ef_pool_infer_grad(i, 2, 0, 1, -1));
    return ef_pool_infer_grad(i, 2, 0, 2, -1);
}
static ef_status *grad_grad_shape(ef_infer *i) {
    ef_shape x;
    EF_TRY(ef_need_rank(i, 1, 4));
    EF_TRY(ef_need_rank(i, 2, 4));
    EF_TRY(ef_shape_merge(&i->in[0].shape, &i->in[1].shape, &x));
    EF_TRY(ef_pool_infer(i, 2, -1));
    return ef_pool_check(i, &i->out[0].shape, 2);
}

static ef_status *pool_run(const ef_call *c) {
    const argmax_attrs *t = c->attrs;
    ef_window_box b;
    EF_TRY(ef_pool_box(c, 2, c->in[0], c->out[0], -1, &b));
    return ef_max_pool_index(&b, (ef_dtype)c->in[0]->dtype, c->in[0]->data, c->out[0]->data,
                             c->out[1]->data, c->out[1]->dtype == EF_I64,
                             t->include_batch_in_index);
}

/* The index in the image tensor from which pooled element k came; -1: the index is not valid. */
static int64_t place(const ef_call *c, const ef_tensor *argmax, int64_t k, int64_t per_image,
                     int64_t per_pooled) {
    const argmax_attrs *t = c->attrs;
    int64_t at = argmax->dtype == EF_I64 ? ((const int64_t *)argmax->data)[k]
                                         : ((const int32_t *)argmax->data)[k];
    int64_t n = k / per_pooled;
    if (!t->include_batch_in_index) {
        if (at < 0 || at >= per_image) return -1;
        return n * per_image + at;
    }
    return at >= n * per_image && at < (n + 1) * per_image ? at : -1;
}

static ef_status *bad_index(const ef_call *c, int64_t k) {
    return ef_error(EF_INVALID,
                    "%s: element %lld of argmax lies outside its image; indices must "
                    "come from MaxPoolWithArgmax with the same attributes",
                    c->op->name, (long long)k);
}

/* pick: reads image elements into pooled elements; else adds pooled elements to image elements. */
static ef_status *follow(const ef_call *c, const ef_tensor *from, const ef_tensor *argmax,
                         bool pick) {
    ef_tensor *to = c->out[0];
    const ef_tensor *image = pick ? from : to;
    ef_dtype t = (ef_dtype)to->dtype;
    size_t size = ef_dtype_size(t);
    int64_t n = ef_count(argmax);
    if (n == 0) {
        memset(to->data, 0, (size_t)ef_count(to) * size);
        return NULL;
    }
    int64_t per_image = ef_count(image) / image->dim[0], per_pooled = n / argmax->dim[0];
    if (!pick) memset(to->data, 0, (size_t)ef_count(to) * size);
    for (int64_t k = 0; k < n; k++) {
        int64_t at = place(c, argmax, k, per_image, per_pooled);
        if (at < 0) return bad_index(c, k);
        if (pick) {
            memcpy((char *)to->data + (size_t)k * size,
                   (const char *)from->data + (size_t)at * size, size);
        } else if (t == EF_F32) {
            ((float *)to->data)[at] += ((const float *)from->data)[k];
        } else if (ef_dtype_in(t, EF_INTS)) {
            uint64_t sum = (uint64_t)ef_element_int(t, to->data, at) +
                           (uint64_t)ef_element_int(t, from->data, k);
            /* Stores the low bytes, so overflow wraps. */
            memcpy((char *)to->data + (size_t)at * size, &sum, size);
        } else {
            ef_element_set(t, to->data, at,
                           ef_element_double(t, to->data, at) +
                               ef_element_double(t, from->data, k));
        }
    }
    return NULL;
}
static ef_status *grad_run(const ef_call *c) {
    ef_window_box b;
    EF_TRY(ef_pool_box(c, 2, c->in[0], c->in[1], -1, &b));
    return follow(c, c->in[1], c->in[2], false);
}
static ef_status *grad_grad_run(const ef_call *c) {
    ef_window_box b;
    EF_TRY(ef_pool_box(c, 2, c->in[0], c->out[0], -1, &b));
    return follow(c, c->in[1], c->in[2], true);
}

static ef_status *pool_grad(ef_grad *g) {
    if (g->dout[0] != NULL)
        g->din[0] =
            ef_emit_like(g, "MaxPoolGradWithArgmax", NULL, 0, 3, g->in[0], g->dout[0], g->out[1]);
    return NULL;
}
/* TensorFlow defines no second derivative here; this one reads the gradient at the same indices. */
static ef_status *grad_grad(ef_grad *g) {
    g->din[0] = ef_zeros_like(g->b, g->in[0]);
    g->din[1] =
        ef_emit_like(g, "MaxPoolGradGradWithArgmax", NULL, 0, 3, g->in[0], g->dout[0], g->in[2]);
    return NULL;
}

const ef_op ef_op_MaxPoolWithArgmax = {
    EF_NAMED(MaxPoolWithArgmax),
    .doc = "MaxPool that also returns the index of each maximum: the flat index into its image, or "
           "into the whole batch with `include_batch_in_index`.",
    .in = {"input: T"},
    .out = {"output: T", "argmax: Targmax"},
    .types = TYPES,
    .attr = {WINDOW_ATTRS, EF_ATTR(argmax_attrs, Targmax, "{int32, int64}", "int64"), PADDING_ATTR,
             BATCH_ATTR},
    .attr_size = sizeof(argmax_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(1),
    .shape = pool_shape,
    .graph_check = ef_window_graph_check,
    .kernel = {{EF_CPU, EF_REALS, pool_run, NULL, NULL, NULL, NULL}},
    .grad = pool_grad,
    .examples = {"T[2,6,7,3] ksize=[1,2,3,1] strides=[1,2,2,1] padding='SAME'",
                 "T[2,5,5,2] ksize=[1,3,3,1] strides=[1,1,1,1] padding='VALID' Targmax=int32 "
                 "include_batch_in_index=true"},
};

const ef_op ef_op_MaxPoolGradWithArgmax = {
    EF_NAMED(MaxPoolGradWithArgmax),
    .doc = "Gradient of MaxPoolWithArgmax: `grad` added up at the indices in `argmax`.",
    .in = {"input: T", "grad: T", "argmax: Targmax"},
    .out = {"output: T"},
    .types = TYPES "; Targmax: {int32, int64}",
    .attr = {WINDOW_ATTRS, PADDING_ATTR, BATCH_ATTR},
    .attr_size = sizeof(argmax_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(2),
    .shape = grad_shape,
    .kernel = {{EF_CPU, EF_REALS, grad_run, NULL, NULL, NULL, NULL}},
    .grad = grad_grad,
    .examples = {"T[1,2,4,1] T[1,1,2,1] int64[1,1,2,1]{5,2} ksize=[1,2,2,1] strides=[1,2,2,1] "
                 "padding='VALID'"},
};

const ef_op ef_op_MaxPoolGradGradWithArgmax = {
    EF_NAMED(MaxPoolGradGradWithArgmax),
    .doc = "Gradient of MaxPoolGradWithArgmax: the elements of `grad` at the indices in `argmax`.",
    .in = {"input: T", "grad: T", "argmax: Targmax"},
    .out = {"output: T"},
    .types = TYPES "; Targmax: {int32, int64}",
    .attr = {WINDOW_ATTRS, PADDING_ATTR, BATCH_ATTR},
    .attr_size = sizeof(argmax_attrs),
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .shape = grad_grad_shape,
    .kernel = {{EF_CPU, EF_REALS, grad_grad_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[1,2,4,1] T[1,2,4,1] int64[1,1,2,1]{5,2} ksize=[1,2,2,1] strides=[1,2,2,1] "
                 "padding='VALID'"},
};
