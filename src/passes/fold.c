/* Constant folding: values that shape inference computed become constants, and pure ops whose
 * inputs are all constants run here once instead of at every call. An op is not folded if its
 * result is much larger than its inputs, or if it takes long to compute. */
#include "ops/run.h"
#include "passes/passes.h"
#include "passes/walk.h"

enum { MOST_INPUTS = 16, MOST_ELEMENTS = 1 << 14, FREE_ELEMENTS = 256 };

static bool is_constant(const ef_node *n) { return n->n_in == 0 && n->n_out == 1; }

static bool foldable_op(const ef_node *n) {
    uint32_t never =
        EF_STATEFUL | EF_EFFECT | EF_CONTROL | EF_NO_KERNEL | EF_HEAVY | EF_STORES_INPUTS;
    return !(n->op->traits & never) && n->n_in > 0 && n->n_in <= MOST_INPUTS && n->n_out > 0 &&
           n->n_out <= MOST_INPUTS;
}

static bool known(const ef_graph *g, ef_edge e) {
    const ef_fact *f = ef_edge_fact(g, e);
    return f->value != NULL && f->value->data != NULL && ef_dtype_in(f->dtype, EF_PLAIN);
}

/* Whether a fold could happen at all; most graphs have nothing to fold and are not copied. */
static bool worth_a_walk(const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        const ef_node *n = g->node[k];
        if (!foldable_op(n)) continue;
        if (n->out[0].value != NULL) return true;
        bool all = true;
        for (int i = 0; i < n->n_in && all; i++) all = known(g, n->in[i]);
        if (all) return true;
    }
    return false;
}

static bool pays(const ef_walk *w, const ef_node *n, const ef_edge *in) {
    int64_t before = FREE_ELEMENTS, after = 0;
    for (int i = 0; i < n->n_in; i++) {
        if (!known(w->to, in[i])) return false;
        before += ef_count(ef_edge_fact(w->to, in[i])->value);
    }
    for (int k = 0; k < n->n_out; k++) {
        if (!ef_dtype_in(n->out[k].dtype, EF_PLAIN)) return false;
        int64_t count = ef_shape_known(&n->out[k].shape) ? ef_shape_count(&n->out[k].shape) : 0;
        if (count < 0 || count > MOST_ELEMENTS) return false;
        after += count;
    }
    return before <= MOST_ELEMENTS && after <= before;
}

static ef_status *run(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    ef_tensor *ins[MOST_INPUTS], result[MOST_INPUTS] = {0};
    for (int i = 0; i < n->n_in; i++) ins[i] = (ef_tensor *)ef_edge_fact(w->to, in[i])->value;
    int n_out = 0;
    ef_status *s =
        ef_op_run(ef_context_here(), n->op, n->fields, ins, n->n_in, result, n->n_out, &n_out);
    if (s != NULL) { /* if the op ever runs, it will fail with this error then */
        if (ef_status_code(s) == EF_NO_MEMORY) return s;
        ef_status_free(s);
        return NULL;
    }
    for (int k = 0; k < n->n_out && s == NULL; k++) s = ef_walk_constant(w, &result[k], &out[k]);
    for (int k = 0; k < n->n_out; k++) ef_tensor_release(&result[k]);
    *done = s == NULL;
    return s;
}

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    if (!foldable_op(n) || is_constant(n) || ef_walk_waits(w, n)) return NULL;
    bool all = true;
    for (int k = 0; k < n->n_out; k++)
        all = all && n->out[k].value != NULL && n->out[k].value->data != NULL;
    if (!all) return pays(w, n, in) ? run(w, n, in, out, done) : NULL;
    for (int k = 0; k < n->n_out; k++) EF_TRY(ef_walk_constant(w, n->out[k].value, &out[k]));
    *done = true;
    return NULL;
}

ef_status *ef_pass_fold(ef_passing *p, const ef_graph *g, ef_graph **out) {
    (void)p;
    return worth_a_walk(g) ? ef_walk_graph(g, visit, NULL, out) : NULL;
}
