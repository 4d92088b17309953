/* The graph of a function of elements, for stacked elements: the same ops, where values that depend
 * on the element have one more axis. This is right for elementwise ops if all operands that depend
 * on the element have the rank of the result, so that their new first axes are aligned; the other
 * operands, which are the same for all elements, broadcast against the last axes as before. */
#include "base/alloc.h"
#include "data/function.h"
#include "graph/clone.h"

typedef struct stacking {
    uint8_t *longer; /* by node: its outputs have one more axis */
} stacking;

static ef_shape longer_shape(const ef_shape *s) {
    ef_shape out = {.rank = s->rank + 1, .dim = {EF_DIM_UNKNOWN}};
    for (int d = 0; d < s->rank; d++) out.dim[d + 1] = s->dim[d];
    return out;
}

static bool fits(const ef_graph *g, const stacking *t, const ef_node *n) {
    if (!(n->op->traits & EF_ELEMENTWISE) || (n->op->traits & (EF_STATEFUL | EF_EFFECT)) ||
        n->n_out != 1 || n->n_after > 0 || !ef_shape_known(&n->out[0].shape))
        return false;
    for (int k = 0; k < n->n_in; k++) {
        const ef_fact *f = ef_edge_fact(g, n->in[k]);
        if (t->longer[n->in[k].node] && f->shape.rank != n->out[0].shape.rank) return false;
    }
    return true;
}

static bool depends(const stacking *t, const ef_node *n) {
    for (int k = 0; k < n->n_in; k++)
        if (t->longer[n->in[k].node]) return true;
    return false;
}

/* Marks the nodes that depend on the element; false: one of them cannot be stacked. */
static bool mark(const ef_graph *g, stacking *t) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        const ef_node *n = g->node[k];
        if (t->longer[k] || !depends(t, n)) continue;
        if (!fits(g, t, n)) return false;
        t->longer[k] = true;
    }
    for (size_t k = 0; k < g->n_outputs; k++)
        if (!t->longer[g->output[k].node]) return false;
    return true;
}

static ef_status *build(const ef_graph *g, int n_elements, ef_graph *to) {
    ef_clone c = {.from = g, .to = to};
    ef_status *s = ef_clone_begin(&c);
    for (int k = 0; k < (int)g->n_inputs && s == NULL; k++) {
        ef_edge from = {g->input[k], 0}, in;
        ef_fact fact = *ef_edge_fact(g, from);
        if (k < n_elements) fact.shape = longer_shape(&ef_edge_fact(g, from)->shape);
        fact.value = NULL;
        s = ef_graph_input_like(to, &fact, NULL, &in);
        if (s == NULL) ef_clone_set(&c, from, in);
    }
    if (s == NULL) s = ef_clone_nodes(&c, NULL);
    if (s == NULL) s = ef_clone_outputs(&c, g->output, (int)g->n_outputs);
    ef_clone_end(&c);
    return s;
}

ef_status *ef_graph_stack(const ef_graph *g, int n_elements, const ef_dataset *d, ef_graph **out) {
    for (int k = 0; k < n_elements; k++) {
        const ef_fact *f = ef_edge_fact(g, (ef_edge){g->input[k], 0});
        if (!ef_shape_known(&f->shape) || f->shape.rank >= EF_MAX_RANK ||
            !ef_shape_equal(&f->shape, ef_dataset_shape(d, k)))
            return NULL;
    }
    stacking t = {.longer = ef_calloc(g->n_nodes + 1, 1)};
    if (t.longer == NULL) return ef_no_memory(g->n_nodes);
    for (int k = 0; k < n_elements; k++) t.longer[g->input[k]] = true;
    ef_graph *to = mark(g, &t) ? ef_graph_make() : NULL;
    ef_free(t.longer);
    if (to == NULL) return NULL;
    to->function = true;
    ef_status *s = build(g, n_elements, to);
    if (s == NULL)
        *out = to;
    else
        ef_graph_unref(to);
    return s;
}
