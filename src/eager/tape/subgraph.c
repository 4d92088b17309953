/* A subgraph as a function: the nodes on the paths from some tensors to others. Whatever else those
 * nodes need becomes a further input, so that the same computation can be called with other values
 * for the first tensors. Constants are copied into the function, because shapes are inferred from
 * them. */
#include "base/alloc.h"
#include "eager/context.h"
#include "evenflow_binding.h"
#include "graph/clone.h"

typedef struct cutting {
    const ef_graph *from;
    ef_graph *to;
    const ef_edge *in;
    int n_in, n_more;
    uint8_t *leads; /* by node: it depends on an input */
    uint8_t *need;
    ef_edge *cut; /* edges that are inputs of the function, `in` first */
} cutting;

static void cutting_end(cutting *c) {
    ef_graph_unref(c->to);
    ef_free(c->leads);
    ef_free(c->need);
    ef_free(c->cut);
}

static ef_status *cutting_begin(cutting *c, const ef_graph *g, const ef_edge *in, int n_in,
                                int n_out) {
    size_t n = g->n_nodes + 1, edges = (size_t)n_in + (size_t)n_out;
    for (size_t k = 0; k < g->n_nodes; k++) edges += (size_t)g->node[k]->n_in;
    *c = (cutting){.from = g, .in = in, .n_in = n_in};
    c->leads = ef_calloc(n, 1);
    c->need = ef_calloc(n, 1);
    c->cut = ef_malloc((edges + 1) * sizeof *c->cut);
    c->to = ef_graph_make();
    if (c->leads == NULL || c->need == NULL || c->cut == NULL || c->to == NULL)
        return ef_no_memory(edges * sizeof *c->cut);
    c->to->function = true;
    return NULL;
}

static int cut_at(const cutting *c, ef_edge e) {
    for (int k = 0; k < c->n_in + c->n_more; k++)
        if (ef_edge_same(c->cut[k], e)) return k;
    return -1;
}

static bool is_input(const cutting *c, ef_edge e) {
    for (int k = 0; k < c->n_in; k++)
        if (ef_edge_same(c->in[k], e)) return true;
    return false;
}

static void mark_forwards(cutting *c) {
    for (size_t k = 0; k < c->from->n_nodes; k++) {
        const ef_node *n = c->from->node[k];
        for (int i = 0; i < n->n_in && !c->leads[k]; i++)
            c->leads[k] = is_input(c, n->in[i]) || c->leads[n->in[i].node];
    }
}

static void want(cutting *c, ef_edge e) {
    const ef_node *n = c->from->node[e.node];
    bool constant = n->op->traits & EF_CONSTANT;
    if (is_input(c, e)) return;
    if (c->leads[e.node] || constant)
        c->need[e.node] = 1;
    else if (cut_at(c, e) < 0)
        c->cut[c->n_in + c->n_more++] = e;
}

/* Marks what a node needs. A control input that does not depend on the inputs stays outside: the
 * caller's graph runs it once, instead of in each call of the subgraph. */
static void want_inputs(cutting *c, const ef_node *n) {
    for (int i = 0; i < n->n_in; i++) want(c, n->in[i]);
    for (int i = 0; i < n->n_after; i++)
        if (c->leads[n->after[i]]) c->need[n->after[i]] = 1;
}

static ef_status *copy_part(cutting *c, const ef_edge *out, int n_out) {
    ef_clone to = {.from = c->from, .to = c->to};
    ef_status *s;
    EF_TRY_GOTO(ef_clone_begin(&to));
    for (int k = 0; k < c->n_in + c->n_more; k++) {
        ef_edge made;
        EF_TRY_GOTO(ef_graph_input_for(c->to, c->from, c->cut[k], &made));
        ef_clone_set(&to, c->cut[k], made);
    }
    EF_TRY_GOTO(ef_clone_nodes(&to, c->need));
    EF_TRY_GOTO(ef_clone_outputs(&to, out, n_out));
done:
    ef_clone_end(&to);
    return s;
}

static ef_status *edges_of(ef_graph *g, const ef_tensor *const *t, int n, ef_edge *e) {
    for (int k = 0; k < n; k++) {
        ef_graph *home = NULL;
        if (t[k] == NULL || !(t[k]->flags & EF_TENSOR_SYMBOLIC))
            return ef_error(EF_INVALID, "ef_graph_part: tensor %d is not symbolic", k);
        e[k] = ef_tensor_edge(t[k], &home);
        if (home != g)
            return ef_error(EF_INVALID, "ef_graph_part: tensor %d is of another graph", k);
    }
    return NULL;
}

ef_status *ef_graph_part(ef_graph *g, const ef_tensor *const *in, int n_in,
                         const ef_tensor *const *out, int n_out, ef_graph **part, ef_tensor **more,
                         int *n_more) {
    if (g == NULL || n_in < 0 || n_out < 0 || (n_in > 0 && in == NULL) ||
        (n_out > 0 && out == NULL))
        return ef_error(EF_INVALID, "ef_graph_part: graph and tensors must not be NULL");
    ef_status *s;
    cutting c = {0};
    ef_edge *e = ef_malloc(((size_t)n_in + (size_t)n_out + 1) * sizeof *e);
    if (e == NULL) return ef_no_memory((size_t)n_in * sizeof *e);
    EF_TRY_GOTO(edges_of(g, in, n_in, e));
    EF_TRY_GOTO(edges_of(g, out, n_out, e + n_in));
    EF_TRY_GOTO(cutting_begin(&c, g, e, n_in, n_out));
    memcpy(c.cut, e, (size_t)n_in * sizeof *e);
    mark_forwards(&c);
    for (int k = 0; k < n_out; k++) want(&c, e[n_in + k]);
    for (size_t k = g->n_nodes; k-- > 0;)
        if (c.need[k]) want_inputs(&c, g->node[k]);
    EF_TRY_GOTO(copy_part(&c, e + n_in, n_out));
    if ((*more = ef_calloc((size_t)c.n_more + 1, sizeof **more)) == NULL) {
        s = ef_no_memory((size_t)c.n_more * sizeof **more);
        goto done;
    }
    *n_more = c.n_more;
    for (int k = 0; k < c.n_more; k++) ef_graph_tensor(g, c.cut[n_in + k], &(*more)[k]);
    *part = c.to;
    c.to = NULL;
done:
    cutting_end(&c);
    ef_free(e);
    return s;
}

void ef_graph_part_end(ef_tensor *more, int n_more) {
    for (int k = 0; more != NULL && k < n_more; k++) ef_tensor_release(&more[k]);
    ef_free(more);
}
