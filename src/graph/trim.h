/* Forgetting nodes nobody can reach any more, of a graph that grows while it is run.
 *
 * Once a graph trims, every new node lives in memory of its own (its box) and knows how many later
 * nodes use it; a binding counts the tensor objects it gives to programs. A node that no object
 * leads to and nothing uses, or that was just made, is in doubt; when nothing else can hold tensors
 * of the graph, it is forgotten: no program could name it except by listing the whole graph. A NoOp
 * keeps its place until a node whose inputs stand before it is put there. */
#ifndef EF_GRAPH_TRIM_H
#define EF_GRAPH_TRIM_H
#include "graph/graph.h"

/* Puts a finished node (in the arena, not yet in the graph) into a box and the box into the graph.
 * name: its own, or NULL. Known values from n_values on become the box's. */
ef_status *ef_graph_box(ef_graph *g, const ef_node *made, const char *name, size_t n_values,
                        ef_node **out);
ef_status *ef_box_name(ef_node *n, const char *name); /* a copy of the text */
void ef_box_free(ef_node *n); /* with all that is in it, but not its attributes */

/* A tensor object of a binding comes (by 1) or goes (by -1). */
void ef_graph_see(const ef_tensor *t, int by);

/* Forgets what can be. others: who holds the graph and no tensor of it; if the graph is held more
 * often, nothing is forgotten. keep(user, node) may object. Returns how many nodes went. Whoever
 * runs or reads the graph must be done. */
size_t ef_graph_trim(ef_graph *g, int others, bool (*keep)(void *user, int node), void *user);
#endif
