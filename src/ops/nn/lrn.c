/* LRN: local response normalisation, and its gradient. */
#include "kernels/lrn.h"
#include "kernels/half.h"
#include "ops/build.h"
#include "ops/shapes.h"
#include "tensor/scratch.h"

typedef struct lrn_attrs {
    int64_t depth_radius;
    float bias, alpha, beta;
} lrn_attrs;

static ef_status *lrn_shape(ef_infer *i) {
    EF_TRY(ef_need_rank(i, 0, 4));
    i->out[0].shape = i->in[0].shape;
    return NULL;
}
static ef_status *grad_shape(ef_infer *i) {
    ef_shape s = i->in[0].shape;
    for (int k = 0; k < 3; k++) {
        EF_TRY(ef_need_rank(i, k, 4));
        if (!ef_shape_may_equal(&s, &i->in[k].shape))
            return ef_error(EF_INVALID,
                            "%s: input_grads is %s but another input is %s; input_grads, "
                            "input_image and output_image must have the same shape",
                            i->op->name, EF_SHAPE(&s), EF_SHAPE(&i->in[k].shape));
        EF_TRY(ef_shape_merge(&s, &i->in[k].shape, &s));
    }
    i->out[0].shape = s;
    return NULL;
}

/* Runs forward (one input) or backward (three) on floats; 16-bit inputs are converted first. */
static ef_status *run(const ef_call *c) {
    const lrn_attrs *t = c->attrs;
    const ef_tensor *x = c->in[0];
    ef_dtype type = (ef_dtype)x->dtype;
    int64_t n = ef_count(x), channels = x->dim[3];
    if (n == 0) return NULL;
    int64_t radius = t->depth_radius < 0 ? 0 : t->depth_radius;
    if (radius > channels) radius = channels;
    ef_lrn l = {n / channels, channels, radius, t->bias, t->alpha, t->beta};
    const float *in[3] = {NULL};
    float *out = c->out[0]->data, *mem = NULL;
    size_t bytes = (size_t)n * sizeof(float) * (size_t)(c->n_in + 1);
    if (ef_is_half(type) && (mem = ef_scratch_take(bytes)) == NULL) return ef_no_memory(bytes);
    for (int k = 0; k < c->n_in; k++) {
        in[k] = mem != NULL ? mem + k * n : c->in[k]->data;
        if (mem != NULL) ef_widen(type, mem + k * n, c->in[k]->data, n);
    }
    if (mem != NULL) out = mem + c->n_in * n;
    ef_status *s = NULL;
    if (c->n_in == 1)
        ef_lrn_run(&l, in[0], out);
    else
        s = ef_lrn_grad(&l, in[0], in[1], in[2], out);
    if (mem != NULL) ef_narrow(type, c->out[0]->data, out, n);
    ef_scratch_end(mem);
    return s;
}

static ef_status *lrn_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "LRNGrad", NULL, 0, 3, g->dout[0], g->in[0], g->out[0]);
    return NULL;
}

#define ATTRS                                                                                    \
    {                                                                                            \
        EF_ATTR(lrn_attrs, depth_radius, "int", "5"), EF_ATTR(lrn_attrs, bias, "float", "1.0"),  \
            EF_ATTR(lrn_attrs, alpha, "float", "1.0"), EF_ATTR(lrn_attrs, beta, "float", "0.5"), \
    }

const ef_op ef_op_LRN = {
    EF_NAMED(LRN),
    .doc = "Divides each element by a power of `bias` plus `alpha` times the squares of its "
           "neighbours among the channels.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: {half, bfloat16, float} = float",
    .attr = ATTRS,
    .attr_size = sizeof(lrn_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(0),
    .shape = lrn_shape,
    .kernel = {{EF_CPU, EF_FLOATS, run, NULL, NULL, NULL, NULL}},
    .grad = lrn_grad,
    .examples = {"T[2,2,3,7] depth_radius=2", "T[1,2,2,4] bias=2.0 alpha=0.5 beta=0.75",
                 "T[1,2,2,4] depth_radius=0 beta=0.3", "T[0,2,2,4]"},
};

const ef_op ef_op_LRNGrad = {
    EF_NAMED(LRNGrad),
    .doc = "Gradient of LRN.",
    .in = {"input_grads: T", "input_image: T", "output_image: T"},
    .out = {"output: T"},
    .types = "T: {half, bfloat16, float} = float",
    .attr = ATTRS,
    .attr_size = sizeof(lrn_attrs),
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .shape = grad_shape,
    .kernel = {{EF_CPU, EF_FLOATS, run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,2,3,7] T[2,2,3,7] T[2,2,3,7] depth_radius=2"},
};
