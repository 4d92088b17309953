/* Checks what every pass and every reader of a graph relies on. */
#include "base/alloc.h"
#include "graph/control.h"
#include "graph/graph.h"

static ef_status *bad(const ef_graph *g, size_t node, const char *what) {
    char buf[96];
    return ef_error(EF_INTERNAL, "graph: node %zu (%s) %s", node,
                    ef_node_name(g, (int32_t)node, buf, sizeof buf), what);
}

static ef_status *verify_facts(const ef_graph *g, const ef_node *n, size_t k) {
    size_t room = (size_t)n->n_in + (size_t)n->n_out + 1;
    ef_fact *facts = ef_malloc(room * sizeof *facts);
    if (facts == NULL) return ef_no_memory(room * sizeof *facts);
    for (int i = 0; i < n->n_in; i++) facts[i] = *ef_edge_fact(g, n->in[i]);
    int n_out = 0;
    ef_status *s = ef_op_infer(n->op, n->fields, facts, n->n_in, facts + n->n_in, n->n_out, &n_out);
    if (s == NULL && n_out != n->n_out)
        s = bad(g, k, "has another number of outputs than its record");
    for (int i = 0; s == NULL && i < n_out; i++) {
        const ef_fact *now = &facts[n->n_in + i];
        if (now->dtype != n->out[i].dtype)
            s = bad(g, k, "has an output of the wrong dtype");
        else if (!(n->op->traits & EF_NO_KERNEL) &&
                 !ef_shape_may_equal(&now->shape, &n->out[i].shape))
            s = bad(g, k, "has an output whose shape inference contradicts");
    }
    ef_free(facts);
    return s;
}

ef_status *ef_graph_verify(const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        const ef_node *n = g->node[k];
        if (n->id != (int32_t)k) return bad(g, k, "does not know its index");
        for (int i = 0; i < n->n_in; i++) {
            if (n->in[i].node < 0 || (size_t)n->in[i].node >= k)
                return bad(g, k, "uses a node that does not come before it");
            if (n->in[i].index < 0 || n->in[i].index >= g->node[n->in[i].node]->n_out)
                return bad(g, k, "uses an output that does not exist");
        }
        for (int i = 0; i < n->n_after; i++)
            if (n->after[i] < 0 || (size_t)n->after[i] >= k)
                return bad(g, k, "has a control input that does not come before it");
        EF_TRY(verify_facts(g, n, k));
    }
    for (size_t k = 0; k < g->n_inputs; k++)
        if (g->input[k] < 0 || (size_t)g->input[k] >= g->n_nodes)
            return ef_error(EF_INTERNAL, "graph: input %zu is not a node", k);
    for (size_t k = 0; k < g->n_outputs; k++)
        if (g->output[k].node < 0 || (size_t)g->output[k].node >= g->n_nodes ||
            g->output[k].index >= g->node[g->output[k].node]->n_out)
            return ef_error(EF_INTERNAL, "graph: output %zu does not exist", k);
    return NULL;
}
