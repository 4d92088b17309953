/* Nodes go from the end, so what is left is as it was when the last of them had just been made. */
#include "graph/trim.h"
#include "base/alloc.h"
#include "base/hash.h"

static bool waited_for(const ef_graph *g, int32_t node) {
    for (size_t k = 0; k < g->n_pending_after; k++)
        if (g->pending_after[k] == node) return true;
    return false;
}

static bool is_output(const ef_graph *g, int32_t node) {
    for (size_t k = 0; k < g->n_outputs; k++)
        if (g->output[k].node == node) return true;
    return false;
}

static void forget_last(ef_graph *g) {
    ef_node *n = g->node[g->n_nodes - 1];
    if (n->name != NULL) ef_map_remove(&g->names, ef_hash_text(0, n->name), n);
    if (g->n_captures > 0 && g->capture[g->n_captures - 1].node == n->id)
        ef_tensor_release(&g->capture[--g->n_captures].tensor);
    if (g->n_inputs > 0 && g->input[g->n_inputs - 1] == n->id) g->n_inputs--;
    ef_attrs_unref(n->attrs);
    while (g->values.n > n->n_values) {
        ef_tensor *value = g->values.item[--g->values.n];
        ef_tensor_release(value);
        ef_free(value);
    }
    ef_arena_mark before = n->mark;
    g->n_nodes--;
    ef_arena_rewind(&g->arena, before);
    g->settled = before;
}

size_t ef_graph_trim(ef_graph *g, size_t floor, int others, bool (*keep)(void *user, int node),
                     void *user) {
    if (floor < g->floor) floor = g->floor;
    if (g->merge || g->function || g->n_nodes <= floor) return 0;
    if (g->node[g->n_nodes - 1]->seen > 0) return 0; /* as a rule: it was just made */
    if (atomic_load_explicit(&g->base.refs, memory_order_acquire) - g->n_seen > others) return 0;
    size_t before = g->n_nodes;
    while (g->n_nodes > floor) {
        int32_t last = (int32_t)g->n_nodes - 1;
        if (g->node[last]->seen > 0 || waited_for(g, last) || is_output(g, last) ||
            (keep != NULL && keep(user, last)))
            break;
        forget_last(g);
    }
    if (g->n_nodes < before) g->hash = 0;
    return before - g->n_nodes;
}
