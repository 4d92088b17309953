/* Structure as a key: what a graph computes, whatever its nodes are called and wherever they were
 * written. Two functions that are equal here may share everything made from one of them. */
#include "base/hash.h"
#include "graph/graph.h"

static uint64_t hash_shape(uint64_t h, const ef_shape *s) {
    h = ef_hash_mix(h, (uint64_t)(uint32_t)s->rank);
    for (int d = 0; d < s->rank; d++) h = ef_hash_mix(h, (uint64_t)s->dim[d]);
    return h;
}

static uint64_t hash_node(uint64_t h, const ef_node *n) {
    h = ef_hash_mix(h, (uint64_t)n->op->id);
    if (n->attrs != NULL) h = ef_hash_mix(h, ef_attrs_hash(n->attrs));
    for (int k = 0; k < n->n_in; k++)
        h = ef_hash_mix(h, (uint64_t)(uint32_t)n->in[k].node << 32 | (uint32_t)n->in[k].index);
    for (int k = 0; k < n->n_after; k++) h = ef_hash_mix(h, ~(uint64_t)n->after[k]);
    if (n->op->traits & EF_NO_KERNEL && n->n_out > 0) {
        h = hash_shape(h, &n->out[0].shape);
        if (n->out[0].handle != NULL) h = hash_shape(h, &n->out[0].handle->shape);
    }
    return h;
}

uint64_t ef_graph_hash(ef_graph *g) {
    if (g->hash != 0) return g->hash;
    uint64_t h = ef_hash_mix(14695981039346656037u, g->n_nodes);
    for (size_t k = 0; k < g->n_nodes; k++) h = hash_node(h, g->node[k]);
    for (size_t k = 0; k < g->n_inputs; k++) h = ef_hash_mix(h, (uint64_t)g->input[k]);
    for (size_t k = 0; k < g->n_outputs; k++)
        h = ef_hash_mix(h,
                        (uint64_t)(uint32_t)g->output[k].node << 32 | (uint32_t)g->output[k].index);
    g->hash = h != 0 ? h : 1;
    return g->hash;
}

uint64_t ef_graph_wiring(const ef_graph *g) {
    uint64_t h = ef_hash_mix(14695981039346656037u, g->n_nodes);
    for (size_t k = 0; k < g->n_nodes; k++) {
        const ef_node *n = g->node[k];
        h = ef_hash_mix(h, (uint64_t)n->op->id << 32 | (uint32_t)n->n_out);
        for (int i = 0; i < n->n_in; i++)
            h = ef_hash_mix(h, (uint64_t)(uint32_t)n->in[i].node << 32 | (uint32_t)n->in[i].index);
    }
    return h;
}

/* What is known of an input; behind a resource too, since passes may have built on it. */
static bool same_input(const ef_fact *a, const ef_fact *b) {
    if (!ef_shape_equal(&a->shape, &b->shape)) return false;
    if (a->handle == NULL || b->handle == NULL) return a->handle == b->handle;
    return a->handle->dtype == b->handle->dtype &&
           ef_shape_equal(&a->handle->shape, &b->handle->shape);
}

static bool same_node(const ef_node *a, const ef_node *b) {
    if (a->op != b->op || a->n_in != b->n_in || a->n_out != b->n_out || a->n_after != b->n_after)
        return false;
    if (a->n_in > 0 && memcmp(a->in, b->in, (size_t)a->n_in * sizeof *a->in) != 0) return false;
    if (a->n_after > 0 && memcmp(a->after, b->after, (size_t)a->n_after * sizeof *a->after) != 0)
        return false;
    if (a->op->traits & EF_NO_KERNEL && a->n_out > 0 && !same_input(&a->out[0], &b->out[0]))
        return false;
    if (a->attrs == b->attrs) return true;
    return a->attrs != NULL && b->attrs != NULL && ef_attrs_equal(a->attrs, b->attrs);
}

bool ef_graph_equal(const ef_graph *a, const ef_graph *b) {
    if (a == b) return true;
    if (a->n_nodes != b->n_nodes || a->n_inputs != b->n_inputs || a->n_outputs != b->n_outputs ||
        a->function != b->function || a->n_captures != b->n_captures)
        return false;
    if (a->n_inputs > 0 && memcmp(a->input, b->input, a->n_inputs * sizeof *a->input) != 0)
        return false;
    if (a->n_outputs > 0 && memcmp(a->output, b->output, a->n_outputs * sizeof *a->output) != 0)
        return false;
    for (size_t k = 0; k < a->n_nodes; k++)
        if (!same_node(a->node[k], b->node[k])) return false;
    return true;
}
