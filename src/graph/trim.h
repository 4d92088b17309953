/* Forgetting nodes nobody can reach any more: the newest of a graph that grows while it is run.
 *
 * A binding counts the tensor objects it gives to programs. When the newest nodes have none, and
 * nothing else holds tensors of the graph, no program can name them again except by listing the
 * whole graph; their numbers and memory are used again. */
#ifndef EF_GRAPH_TRIM_H
#define EF_GRAPH_TRIM_H
#include "graph/graph.h"

/* A tensor object of a binding comes (by 1) or goes (by -1). */
static inline void ef_graph_see(const ef_tensor *t, int by) {
    ef_graph *g;
    ef_edge e = ef_tensor_edge(t, &g);
    g->node[e.node]->seen += by;
    g->n_seen += by;
}

/* Forgets the newest nodes down to `floor`, as far as nobody sees them, keep(user, node) does not
 * say otherwise, and they are not waited for. others: who holds the graph and no tensor of it; if
 * the graph is held more often, nothing is forgotten. Returns how many went. Whoever runs or reads
 * the graph must be done. */
size_t ef_graph_trim(ef_graph *g, size_t floor, int others, bool (*keep)(void *user, int node),
                     void *user);
#endif
