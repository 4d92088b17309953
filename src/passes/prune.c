/* Removes the nodes that nothing needs: a walk copies only needed nodes, so the graph is walked. */
#include "base/alloc.h"
#include "passes/passes.h"
#include "passes/walk.h"

static ef_status *as_it_is(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                           bool *done) {
    (void)w, (void)n, (void)in, (void)out, (void)done;
    return NULL;
}

ef_status *ef_pass_prune(ef_passing *p, const ef_graph *g, ef_graph **out) {
    (void)p;
    uint8_t *need = ef_calloc(g->n_nodes + 1, 1);
    if (need == NULL) return ef_no_memory(g->n_nodes);
    bool waste = ef_mark_needed(g, need);
    ef_free(need);
    return waste ? ef_walk_graph(g, as_it_is, NULL, out) : NULL;
}
