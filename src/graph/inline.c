/* Copies the nodes of a function into another graph, in place of a call. */
#include "base/alloc.h"
#include "graph/graph.h"

static ef_status *copy_node(ef_graph *g, const ef_node *n, int32_t *moved, const ef_edge *at) {
    size_t wide = (size_t)(n->n_in + n->n_after) + 1;
    ef_edge few[16], *in = few;
    if (wide > 16 && (in = ef_malloc(wide * sizeof *in)) == NULL)
        return ef_no_memory(wide * sizeof *in);
    int32_t *after = (int32_t *)(in + n->n_in);
    for (int k = 0; k < n->n_in; k++) {
        ef_edge e = n->in[k];
        in[k] = moved[e.node] >= 0 ? (ef_edge){moved[e.node], e.index} : at[e.node];
    }
    int n_after = 0;
    for (int k = 0; k < n->n_after; k++)
        if (moved[n->after[k]] >= 0) after[n_after++] = moved[n->after[k]];
    const ef_node *before = g->copies;
    g->copies = n;
    ef_status *s =
        ef_graph_add_after(g, n->op, n->attrs, in, n->n_in, after, n_after, NULL, &moved[n->id]);
    g->copies = before;
    if (in != few) ef_free(in);
    return s;
}

ef_status *ef_graph_inline(ef_graph *g, const ef_graph *f, const ef_edge *in, ef_edge *out) {
    ef_status *s = NULL;
    int32_t *moved = ef_malloc((f->n_nodes + 1) * sizeof *moved);
    ef_edge *at = ef_calloc(f->n_nodes + 1, sizeof *at); /* of inputs */
    if (moved == NULL || at == NULL) {
        s = ef_no_memory((f->n_nodes + 1) * sizeof *at);
        goto done;
    }
    memset(moved, 0xFF, (f->n_nodes + 1) * sizeof *moved);
    for (size_t k = 0; k < f->n_nodes; k++) at[k].node = -1;
    for (size_t k = 0; k < f->n_inputs; k++) at[f->input[k]] = in[k];
    for (size_t k = 0; k < f->n_nodes; k++)
        if (at[k].node < 0) EF_TRY_GOTO(copy_node(g, f->node[k], moved, at));
    for (size_t k = 0; k < f->n_outputs; k++) {
        ef_edge e = f->output[k];
        out[k] = moved[e.node] >= 0 ? (ef_edge){moved[e.node], e.index} : at[e.node];
    }
done:
    ef_free(moved);
    ef_free(at);
    return s;
}
