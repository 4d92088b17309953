/* _FusedMatMul: a matrix product with an epilogue, applied before the result is stored. The
 * optimiser makes it from MatMul, BiasAdd, an addition and an activation; `fused_ops` lists these
 * in order. */
#include "kernels/gemm.h"
#include "ops/nn/fused_words.h"
#include "ops/op.h"
#include "ops/searched_ops.h"
#include "ops/shapes.h"

typedef struct {
    bool transpose_a, transpose_b;
    ef_texts fused_ops;
    float epsilon, leakyrelu_alpha;
} fused_attrs;

/* The inputs after input 2 that are bias and residual; -1: none. */
typedef struct recipe {
    int bias, residual;
    ef_activation act;
} recipe;

static ef_status *read_recipe(const ef_op *op, const fused_attrs *t, int n_args, recipe *r) {
    *r = (recipe){-1, -1, EF_ACT_NONE};
    int used = 0;
    for (int k = 0; k < t->fused_ops.n; k++) {
        const char *name = t->fused_ops.at[k].at;
        ef_activation act = EF_ACT_NONE;
        ef_fused_kind kind = ef_fused_kind_of(name, &act);
        bool known = true;
        if (k == 0 && kind == EF_FUSED_BIAS)
            r->bias = used++;
        else if (r->residual < 0 && kind == EF_FUSED_SUM)
            r->residual = used++;
        else if (k == t->fused_ops.n - 1 && kind == EF_FUSED_ACTIVATION)
            r->act = act;
        else
            known = false;
        if (!known)
            return ef_error(
                EF_UNIMPLEMENTED,
                "%s: fused op '%s' at index %d is unknown or out of order; the order is BiasAdd, "
                "Add, then one of Relu, Relu6, Elu, Tanh, Sigmoid, LeakyRelu",
                op->name, name, k);
    }
    if (used != n_args)
        return ef_error(EF_INVALID, "%s: its fused ops need %d more inputs, but %d are given",
                        op->name, used, n_args);
    return NULL;
}

static ef_status *fused_shape(ef_infer *i) {
    const fused_attrs *t = i->attrs;
    recipe r;
    EF_TRY(read_recipe(i->op, t, i->n_in - 2, &r));
    EF_TRY(ef_need_rank(i, 0, 2));
    EF_TRY(ef_need_rank(i, 1, 2));
    const ef_shape *a = &i->in[0].shape, *b = &i->in[1].shape;
    ef_shape y = {.rank = 2, .dim = {EF_DIM_UNKNOWN, EF_DIM_UNKNOWN}};
    int64_t inner;
    if (a->rank == 2 && b->rank == 2)
        EF_TRY(ef_need_same_dim(i, a->dim[!t->transpose_a], b->dim[t->transpose_b],
                                "the inner sizes of a and b", &inner));
    if (a->rank == 2) y.dim[0] = a->dim[t->transpose_a];
    if (b->rank == 2) y.dim[1] = b->dim[!t->transpose_b];
    if (r.bias >= 0) {
        EF_TRY(ef_need_rank(i, 2 + r.bias, 1));
        const ef_shape *bias = &i->in[2 + r.bias].shape;
        if (bias->rank == 1)
            EF_TRY(ef_need_same_dim(i, y.dim[1], bias->dim[0], "columns and bias", &y.dim[1]));
    }
    if (r.residual >= 0) EF_TRY(ef_shape_merge(&y, &i->in[2 + r.residual].shape, &y));
    i->out[0].shape = y;
    return NULL;
}

static ef_gemm_args gemm_of(const ef_call *c) {
    const fused_attrs *t = c->attrs;
    const ef_tensor *a = c->in[0], *b = c->in[1], *y = c->out[0];
    return ef_gemm_dense((ef_dtype)y->dtype, t->transpose_a ? EF_GEMM_T : EF_GEMM_N,
                         t->transpose_b ? EF_GEMM_T : EF_GEMM_N, y->dim[0], y->dim[1],
                         a->dim[!t->transpose_a], a->data, b->data, y->data);
}

static size_t fused_scratch(const ef_call *c) {
    ef_gemm_args g = gemm_of(c);
    return ef_gemm_scratch(&g);
}

static ef_status *fused_run(const ef_call *c) {
    const fused_attrs *t = c->attrs;
    recipe r;
    EF_TRY(read_recipe(c->op, t, c->n_in - 2, &r));
    ef_gemm_args g = gemm_of(c);
    ef_post post = {.bias = r.bias >= 0 ? c->in[2 + r.bias]->data : NULL,
                    .residual = r.residual >= 0 ? c->in[2 + r.residual]->data : NULL,
                    .act = r.act,
                    .alpha = t->leakyrelu_alpha};
    g.post = &post;
    g.scratch = c->scratch;
    ef_gemm(&g);
    return NULL;
}

const ef_op ef_op__FusedMatMul = {
    EF_NAMED(_FusedMatMul),
    .doc = "A matrix product followed by the ops named in `fused_ops`, in one pass. Made by the "
           "optimiser.",
    .in = {"a: T", "b: T", "args: num_args * T"},
    .out = {"product: T"},
    .types = "T: {bfloat16, half, float, double}",
    .attr = {EF_ATTR(fused_attrs, transpose_a, "bool", "false"),
             EF_ATTR(fused_attrs, transpose_b, "bool", "false"),
             EF_ATTR(fused_attrs, fused_ops, "list(string)", "[]"),
             EF_ATTR(fused_attrs, epsilon, "float", "0.0001"),
             EF_ATTR(fused_attrs, leakyrelu_alpha, "float", "0.2")},
    .attr_size = sizeof(fused_attrs),
    .traits = EF_HEAVY | EF_NO_GRAD | EF_NEVER_FAILS,
    .shape = fused_shape,
    .kernel = {{EF_CPU, EF_FLOATS, fused_run, fused_scratch, NULL, NULL, NULL}},
    .examples = {"T[2,3] T[3,4] T[4] fused_ops=['BiasAdd','Relu']",
                 "T[3,2] T[4,3] T[4] T[2,4] transpose_a=true transpose_b=true "
                 "fused_ops=['BiasAdd','Add','Tanh']",
                 "float[40,30] float[30,50] float[50] fused_ops=['BiasAdd','Sigmoid']",
                 "float[2,3] float[3,4] float[2,4] fused_ops=['Add','LeakyRelu']",
                 "float[2,3] float[3,4]",
                 "float[2,0] float[0,4] float[4] fused_ops=['BiasAdd','Elu']",
                 "float[2,3] float[3,4] float[4] fused_ops=['BiasAdd','Relu6']"},
};
const ef_op *const ef_fused_product_op = &ef_op__FusedMatMul;
