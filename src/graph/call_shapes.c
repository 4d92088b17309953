/* Shape inference through a call: when the arguments have more precise shapes than the function's
 * parameters, the shapes of its nodes are inferred again in order, as planning does. */
#include "base/alloc.h"
#include "graph/control.h"

typedef struct walk {
    const ef_graph *g;
    ef_fact *fact; /* of all outputs of all nodes */
    int32_t *base; /* by node: the index of its first output */
    ef_value_owner values;
    ef_arena arena; /* facts behind handles */
} walk;

/* A dim on which two shapes differ is unknown. */
static bool widen(ef_shape *s, const ef_shape *other) {
    ef_shape before = *s;
    if (s->rank != other->rank) *s = ef_unknown_shape();
    for (int d = 0; d < s->rank; d++)
        if (s->dim[d] != other->dim[d]) s->dim[d] = EF_DIM_UNKNOWN;
    return !ef_shape_equal(&before, s);
}

/* Loop variables start with the shapes of the inputs and are widened by what the body returns,
 * until nothing changes. */
static ef_status *loop(const ef_control *c, const ef_fact *in, int n, ef_shape *out) {
    ef_fact *turn = ef_malloc(((size_t)n + 1) * (sizeof *turn + sizeof *out));
    if (turn == NULL) return ef_no_memory((size_t)n * sizeof *turn);
    ef_shape *next = (ef_shape *)(turn + n + 1);
    ef_status *s = NULL;
    for (int k = 0; k < n; k++) {
        turn[k] = in[k];
        turn[k].value = NULL;
    }
    for (bool changed = true; changed && s == NULL;) {
        changed = false;
        s = ef_graph_through(c->func[1], turn, next);
        for (int k = 0; k < n && s == NULL; k++) changed |= widen(&turn[k].shape, &next[k]);
    }
    for (int k = 0; k < n; k++) out[k] = turn[k].shape;
    ef_free(turn);
    return s;
}

ef_status *ef_control_through(const ef_control *c, const ef_fact *in, int n_out, ef_shape *out) {
    if (c->kind == EF_CONTROL_LOOP) return loop(c, in, n_out, out);
    ef_shape *next = ef_malloc(((size_t)n_out + 1) * sizeof *next);
    if (next == NULL) return ef_no_memory((size_t)n_out * sizeof *next);
    ef_status *s = NULL;
    for (int f = 0; f < c->n_funcs && s == NULL; f++) {
        s = ef_graph_through(c->func[f], in + c->first, f == 0 ? out : next);
        for (int k = 0; k < n_out && f > 0 && s == NULL; k++) widen(&out[k], &next[k]);
    }
    ef_free(next);
    return s;
}

static ef_status *control(const ef_node *n, const ef_fact *in, ef_fact *out) {
    ef_control c;
    ef_control_of(n->op, n->fields, &c);
    if (c.kind == EF_CONTROL_NONE) return NULL;
    ef_shape *shape = ef_malloc(((size_t)n->n_out + 1) * sizeof *shape);
    if (shape == NULL) return ef_no_memory((size_t)n->n_out * sizeof *shape);
    ef_status *s = ef_control_through(&c, in, n->n_out, shape);
    for (int k = 0; k < n->n_out && s == NULL; k++) {
        out[k].shape = shape[k];
        out[k].handle = n->out[k].handle;
    }
    ef_free(shape);
    return s;
}

static ef_status *infer(walk *w, const ef_node *n, ef_fact *in) {
    ef_fact *out = w->fact + w->base[n->id];
    int n_out = 0;
    for (int k = 0; k < n->n_in; k++) in[k] = w->fact[w->base[n->in[k].node] + n->in[k].index];
    EF_TRY(ef_op_infer(n->op, n->fields, in, n->n_in, out, n->n_out, &n_out));
    if (n->op->traits & EF_CONTROL) EF_TRY(control(n, in, out));
    EF_TRY(ef_fact_fold(n->op, n->fields, in, n->n_in, out, n_out, &w->values));
    for (int k = 0; k < n_out; k++) {
        if (out[k].handle != NULL &&
            (out[k].handle = ef_arena_copy(&w->arena, out[k].handle, sizeof *out)) == NULL)
            return ef_no_memory(sizeof *out);
        ef_shape said = ef_shape_foreign(&n->out[k].shape), both;
        ef_status *misfit = ef_shape_merge(&out[k].shape, &said, &both);
        if (misfit == NULL) out[k].shape = both;
        ef_status_free(misfit);
    }
    return NULL;
}

static ef_status *walk_all(walk *w, const ef_fact *in) {
    const ef_graph *g = w->g;
    int32_t most = 0, total = 0;
    for (size_t k = 0; k < g->n_nodes; k++) {
        w->base[k] = total;
        total += g->node[k]->n_out;
        if (g->node[k]->n_in > most) most = g->node[k]->n_in;
    }
    w->fact = ef_malloc((size_t)(total + most + 1) * sizeof *w->fact);
    if (w->fact == NULL) return ef_no_memory((size_t)total * sizeof *w->fact);
    for (size_t k = 0; k < g->n_nodes; k++) { /* placeholders: the inputs, and perhaps captures */
        const ef_node *n = g->node[k];
        for (int o = 0; o < n->n_out; o++) w->fact[w->base[k] + o] = n->out[o];
    }
    for (size_t k = 0; k < g->n_inputs; k++) w->fact[w->base[g->input[k]]] = in[k];
    for (size_t k = 0; k < g->n_nodes; k++)
        if (!(g->node[k]->op->traits & EF_NO_KERNEL)) EF_TRY(infer(w, g->node[k], w->fact + total));
    return NULL;
}

ef_status *ef_graph_through(const ef_graph *g, const ef_fact *in, ef_shape *out) {
    walk w = {.g = g, .base = ef_malloc((g->n_nodes + 1) * sizeof *w.base)};
    if (w.base == NULL) return ef_no_memory(g->n_nodes * sizeof *w.base);
    ef_status *s = walk_all(&w, in);
    for (size_t k = 0; k < g->n_outputs && s == NULL; k++)
        out[k] = w.fact[w.base[g->output[k].node] + g->output[k].index].shape;
    ef_value_owner_free(&w.values);
    ef_arena_free(&w.arena);
    ef_free(w.fact);
    ef_free(w.base);
    return s;
}
