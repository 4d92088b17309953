/* The structure of a graph as a key: names and places in the user's program do not count. Two
 * functions that are equal here may share programs and everything else made from one of them. */
#include "base/hash.h"
#include "graph/graph.h"
#include "ops/engine_nodes.h"

static uint64_t hash_shape(uint64_t h, const ef_shape *s) {
    h = ef_hash_mix(h, (uint64_t)(uint32_t)s->rank);
    for (int d = 0; d < s->rank; d++) h = ef_hash_mix(h, (uint64_t)s->dim[d]);
    return h;
}

/* An input is hashed by its fact; its attributes say no more. */
static uint64_t hash_input(uint64_t h, const ef_fact *f) {
    h = hash_shape(ef_hash_mix(h, (uint64_t)f->dtype), &f->shape);
    return f->handle != NULL ? hash_shape(h, &f->handle->shape) : h;
}

/* Where constants are taken out, they do not count as control inputs. */
static bool keeps_after(const ef_graph *g, const bool *taken, int32_t after) {
    return taken == NULL || !(g->node[after]->op->traits & EF_CONSTANT);
}

static uint64_t hash_node(uint64_t h, const ef_graph *g, const bool *taken, const ef_node *n) {
    if (taken != NULL && taken[n->id])
        return hash_input(ef_hash_mix(h, (uint64_t)ef_input_op->id), n->out);
    h = ef_hash_mix(h, (uint64_t)n->op->id);
    if (n->op->traits & EF_NO_KERNEL) return hash_input(h, n->out);
    if (n->attrs != NULL) h = ef_hash_mix(h, ef_attrs_hash(n->attrs));
    for (int k = 0; k < n->n_in; k++)
        h = ef_hash_mix(h, (uint64_t)(uint32_t)n->in[k].node << 32 | (uint32_t)n->in[k].index);
    for (int k = 0; k < n->n_after; k++)
        if (keeps_after(g, taken, n->after[k])) h = ef_hash_mix(h, ~(uint64_t)n->after[k]);
    return h;
}

static uint64_t hash(const ef_graph *g, const bool *taken) {
    uint64_t h = ef_hash_mix(14695981039346656037u, g->n_nodes);
    for (size_t k = 0; k < g->n_nodes; k++) h = hash_node(h, g, taken, g->node[k]);
    for (size_t k = 0; k < g->n_inputs; k++) h = ef_hash_mix(h, (uint64_t)g->input[k]);
    for (size_t k = 0; taken != NULL && k < g->n_nodes; k++)
        if (taken[k]) h = ef_hash_mix(h, (uint64_t)k);
    for (size_t k = 0; k < g->n_outputs; k++)
        h = ef_hash_mix(h,
                        (uint64_t)(uint32_t)g->output[k].node << 32 | (uint32_t)g->output[k].index);
    return h != 0 ? h : 1;
}

uint64_t ef_graph_hash(ef_graph *g) {
    if (g->hash == 0) g->hash = hash(g, NULL);
    return g->hash;
}

uint64_t ef_graph_hash_without(const ef_graph *g, const bool *taken) { return hash(g, taken); }

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

/* Compares the facts of two inputs, and those of a resource's value, which passes rely on too. */
static bool same_input(const ef_fact *a, const ef_fact *b) {
    if (!ef_shape_equal(&a->shape, &b->shape)) return false;
    if (a->handle == NULL || b->handle == NULL) return a->handle == b->handle;
    return a->handle->dtype == b->handle->dtype &&
           ef_shape_equal(&a->handle->shape, &b->handle->shape);
}

static bool same_after(const ef_graph *g, const bool *taken, const ef_node *a, const ef_node *b) {
    int n = 0;
    for (int k = 0; k < a->n_after; k++) {
        if (!keeps_after(g, taken, a->after[k])) continue;
        if (n == b->n_after || a->after[k] != b->after[n++]) return false;
    }
    return n == b->n_after;
}

static bool same_node(const ef_graph *g, const bool *taken, const ef_node *a, const ef_node *b) {
    if (taken != NULL && taken[a->id])
        return b->op == ef_input_op && a->out->dtype == b->out->dtype && same_input(a->out, b->out);
    if (a->op != b->op || a->n_in != b->n_in || a->n_out != b->n_out || a->device != b->device)
        return false;
    if (a->n_in > 0 && memcmp(a->in, b->in, (size_t)a->n_in * sizeof *a->in) != 0) return false;
    if (!same_after(g, taken, a, b)) return false;
    if (a->op->traits & EF_NO_KERNEL && !same_input(a->out, b->out)) return false;
    if (a->attrs == b->attrs) return true;
    return a->attrs != NULL && b->attrs != NULL && ef_attrs_equal(a->attrs, b->attrs);
}

/* Whether b has the inputs of a, followed by the constants taken out of a. */
static bool same_inputs(const ef_graph *a, const bool *taken, const ef_graph *b) {
    size_t n = a->n_inputs;
    if (b->n_inputs < n || (n > 0 && memcmp(a->input, b->input, n * sizeof *a->input) != 0))
        return false;
    for (size_t k = 0; taken != NULL && k < a->n_nodes; k++)
        if (taken[k] && (n == b->n_inputs || b->input[n++] != (int32_t)k)) return false;
    return n == b->n_inputs;
}

static bool equal(const ef_graph *a, const bool *taken, const ef_graph *b) {
    if (a->n_nodes != b->n_nodes || a->n_outputs != b->n_outputs || a->function != b->function ||
        a->n_captures != b->n_captures || !same_inputs(a, taken, b))
        return false;
    if (a->n_outputs > 0 && memcmp(a->output, b->output, a->n_outputs * sizeof *a->output) != 0)
        return false;
    for (size_t k = 0; k < a->n_nodes; k++)
        if (!same_node(a, taken, a->node[k], b->node[k])) return false;
    return true;
}

bool ef_graph_equal(const ef_graph *a, const ef_graph *b) { return a == b || equal(a, NULL, b); }

bool ef_graph_equal_without(const ef_graph *g, const bool *taken, const ef_graph *other) {
    return equal(g, taken, other);
}
