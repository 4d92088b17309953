/* A user's own gradient in a graph. The node returns its first inputs unchanged; its gradient is a
 * function that was traced when the node was made. Passes remove the node after differentiation, so
 * it costs nothing at run time. */
#include "ops/array/array.h"
#include "ops/build.h"
#include "ops/engine_nodes.h"

typedef struct custom_attrs {
    ef_types Tout;  /* dtypes of the outputs, which are the first inputs */
    int64_t n_args; /* number of arguments on which the outputs depend: the inputs after those */
    ef_funcs grad;  /* one function: takes the gradients of the plain outputs and the remaining
                     * inputs */
    ef_types Tgrad; /* the dtypes of its results */
    ef_ints to;     /* to[k]: the argument of which result k is the gradient; three results for one
                     * argument are values, indices and dense shape of IndexedSlices */
    bool is_stateful; /* the function has side effects */
} custom_attrs;

static ef_status *custom_shape(ef_infer *i) {
    const custom_attrs *a = i->attrs;
    if (a->n_args < 0 || a->n_args > i->n_in - i->n_out || a->Tgrad.n != a->to.n)
        return ef_error(EF_INVALID, "%s: %d inputs are too few for %d outputs and %lld arguments",
                        i->op->name, i->n_in, i->n_out, (long long)a->n_args);
    for (int k = 0; k < a->to.n; k++)
        if (a->to.at[k] < 0 || a->to.at[k] >= a->n_args)
            return ef_error(EF_INVALID, "%s: there is no argument %lld", i->op->name,
                            (long long)a->to.at[k]);
    for (int k = 0; k < i->n_out; k++) {
        if (i->in[k].dtype != i->out[k].dtype)
            return ef_error(
                EF_INVALID, "%s: input %d is %s but output %d is %s; they must be equal",
                i->op->name, k, ef_dtype_name(i->in[k].dtype), k, ef_dtype_name(i->out[k].dtype));
        i->out[k].shape = i->in[k].shape;
        i->out[k].handle = i->in[k].handle;
    }
    return NULL;
}

static ef_status *custom_run(const ef_call *c) {
    for (int k = 0; k < c->n_out; k++) EF_TRY(ef_out_same(c, k, c->in[k]));
    return NULL;
}

static ef_status *custom_grad(ef_grad *g) {
    const custom_attrs *a = g->attrs;
    if (a->grad.n == 0 || a->Tgrad.n == 0) return NULL;
    size_t room = (size_t)(g->n_in + g->n_out + a->Tgrad.n) + 1;
    ef_value **in = g->b->memory(g->b, room * sizeof *in);
    if (in == NULL) return ef_no_memory(room * sizeof *in);
    ef_value **out = in + g->n_in + g->n_out;
    int n = 0;
    for (int k = 0; k < g->n_out; k++)
        if (ef_dtype_in(g->out[k]->fact.dtype, EF_FLOATS | EF_COMPLEX)) in[n++] = ef_dout(g, k);
    for (int k = g->n_out + (int)a->n_args; k < g->n_in; k++) in[n++] = g->in[k];
    ef_attr_value set[] = {EF_SET_TYPES("Tout", a->Tgrad.n, a->Tgrad.at),
                           EF_SET_FUNC("f", a->grad.at[0])};
    ef_emit_many(g->b, a->is_stateful ? "StatefulPartitionedCall" : "PartitionedCall", set, 2, in,
                 n, out, a->Tgrad.n);
    for (int k = 0; k < a->to.n && g->b->failed == NULL; k++) {
        ef_value **din = &g->din[g->n_out + a->to.at[k]];
        if (k + 2 < a->to.n && a->to.at[k + 1] == a->to.at[k]) {
            *din = ef_slices(g->b, out[k], out[k + 1], out[k + 2]);
            k += 2;
        } else {
            *din = out[k];
        }
    }
    return NULL;
}

const ef_op ef_op__CustomGradient = {
    EF_NAMED(_CustomGradient),
    .doc = "Returns its first inputs; their gradient is computed by the function `grad`.",
    .in = {"input: T"},
    .out = {"output: Tout"},
    .types = "T: list(type)",
    .attr = {EF_ATTR(custom_attrs, Tout, "list(type)", NULL),
             EF_ATTR(custom_attrs, n_args, "int", "0"),
             EF_ATTR(custom_attrs, grad, "list(func)", "[]"),
             EF_ATTR(custom_attrs, Tgrad, "list(type)", "[]"),
             EF_ATTR(custom_attrs, to, "list(int)", "[]"),
             EF_ATTR(custom_attrs, is_stateful, "bool", "false")},
    .attr_size = sizeof(custom_attrs),
    .traits = EF_PASSES_INPUTS,
    .shape = custom_shape,
    .kernel = EF_ANY_KERNEL(custom_run),
    .grad = custom_grad,
    .examples = {"float[2,3] float[2] n_args=1 Tout=[float] grad=no",
                 "float[2] string[2]{ab,c} double[] n_args=1 Tout=[float,string] grad=no"},
};

const ef_op *const ef_custom_gradient_op = &ef_op__CustomGradient;
