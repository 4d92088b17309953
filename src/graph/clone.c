/* The cloner. Nodes are visited in the order of their graph, so the inputs of each have been copied
 * before it. The table has one entry per value: a single output of a node can be replaced, or fed,
 * alone. */
#include "graph/clone.h"
#include "base/alloc.h"

enum { FEW_EDGES = 48 }; /* on the stack; enough for most nodes */

static int32_t slots(const ef_node *n) { return n->n_out + (n->n_out == 0); }

ef_status *ef_clone_begin(ef_clone *c) {
    c->before = c->to->copies;
    if (c->edge != NULL) return NULL;
    size_t n = c->from->n_nodes, bytes = (2 * n + 1) * sizeof *c->base;
    if ((c->base = ef_malloc(bytes)) == NULL) return ef_no_memory(bytes);
    int32_t values = 0;
    for (size_t k = 0; k < n; k++) {
        c->base[k] = values;
        values += slots(c->from->node[k]);
    }
    c->base[n] = values;
    c->copy = c->base + n + 1;
    memset(c->copy, 0xFF, n * sizeof *c->copy);
    bytes = (size_t)values * sizeof *c->moved;
    if ((c->moved = ef_malloc(bytes)) == NULL) return ef_no_memory(bytes);
    memset(c->moved, 0xFF, bytes);
    return NULL;
}

void ef_clone_end(ef_clone *c) {
    ef_free(c->base);
    ef_free(c->moved);
    c->base = NULL;
    c->moved = NULL;
    if (c->to != NULL) c->to->copies = c->before;
}

static ef_edge find(const ef_clone *c, ef_edge e) {
    return c->edge != NULL ? c->edge(c, e) : ef_clone_moved(c, e);
}

void ef_clone_set(ef_clone *c, ef_edge e, ef_edge to) {
    ef_edge *at = &c->moved[ef_clone_value(c, e)];
    if (at->node >= 0) return;
    *at = to;
    if (c->copy[e.node] < 0) c->copy[e.node] = to.node;
}

/* An output that was placed before keeps its place; control inputs refer to the new node. */
static void note(ef_clone *c, const ef_node *n, const ef_edge *out) {
    if (c->edge != NULL) {
        c->note(c, n, out);
        return;
    }
    ef_edge *at = &c->moved[c->base[n->id]];
    c->copy[n->id] = out[0].node;
    if (at->node < 0) *at = out[0];
    for (int k = 1; k < n->n_out; k++)
        if (at[k].node < 0) at[k] = out[k];
}

ef_status *ef_clone_copy(ef_clone *c, const ef_node *n, const ef_edge *in, ef_edge *out) {
    int n_after = 0;
    for (int k = 0; k < n->n_after; k++) {
        int32_t node = c->waits != NULL ? c->waits(c, n->after[k]) : c->copy[n->after[k]];
        if (node >= 0) c->after[n_after++] = node;
    }
    int32_t made;
    EF_TRY(ef_graph_add_after(c->to, n->op, n->attrs, in, n->n_in, c->after, n_after, NULL, &made));
    out[0] = (ef_edge){made, 0};
    for (int k = 1; k < n->n_out; k++) out[k] = (ef_edge){made, k};
    return NULL;
}

static ef_status *clone_with(ef_clone *c, const ef_node *n, ef_edge *in, ef_edge *out) {
    bool done = false;
    for (int k = 0; k < n->n_in; k++) {
        in[k] = find(c, n->in[k]);
        if (in[k].node < 0)
            return ef_error(EF_INTERNAL, "%s: input %d comes from a placeholder nobody feeds",
                            n->op->name, k);
    }
    c->to->copies = n;
    out[0] = (ef_edge){-1, 0};
    if (c->visit != NULL) EF_TRY(c->visit(c, n, in, out, &done));
    if (!done) EF_TRY(ef_clone_copy(c, n, in, out));
    note(c, n, out);
    return NULL;
}

ef_status *ef_clone_node(ef_clone *c, const ef_node *n) {
    ef_edge few[FEW_EDGES], *in = few;
    size_t wide = (size_t)n->n_in + (size_t)slots(n) + (size_t)n->n_after;
    if (wide > FEW_EDGES && (in = ef_malloc(wide * sizeof *in)) == NULL)
        return ef_no_memory(wide * sizeof *in);
    ef_edge *out = in + n->n_in;
    c->after = (int32_t *)(out + slots(n));
    ef_status *s = clone_with(c, n, in, out);
    if (in != few) ef_free(in);
    return s;
}

ef_status *ef_clone_outputs(const ef_clone *c, const ef_edge *out, int n) {
    if (n <= 0) return ef_graph_set_outputs(c->to, NULL, 0);
    ef_edge few[FEW_EDGES], *moved = few;
    if (n > FEW_EDGES && (moved = ef_malloc((size_t)n * sizeof *moved)) == NULL)
        return ef_no_memory((size_t)n * sizeof *moved);
    for (int k = 0; k < n; k++) moved[k] = find(c, out[k]);
    ef_status *s = ef_graph_set_outputs(c->to, moved, n);
    if (moved != few) ef_free(moved);
    return s;
}

ef_status *ef_clone_inputs(ef_clone *c) {
    for (size_t k = 0; k < c->from->n_inputs; k++) {
        ef_edge e = {c->from->input[k], 0}, made;
        EF_TRY(ef_graph_input_for(c->to, c->from, e, &made));
        ef_clone_set(c, e, made);
    }
    return NULL;
}

static bool is_placed(const ef_clone *c, size_t node) {
    for (int32_t v = c->base[node]; v < c->base[node + 1]; v++)
        if (c->moved[v].node < 0) return false;
    return true;
}

ef_status *ef_clone_nodes(ef_clone *c, const uint8_t *need) {
    for (size_t k = 0; k < c->from->n_nodes; k++)
        if ((need == NULL || need[k]) && !is_placed(c, k))
            EF_TRY(ef_clone_node(c, c->from->node[k]));
    return NULL;
}
