/* Removing unreachable nodes from a graph that a program extends between runs.
 *
 * Once a graph trims, every new node lives in memory of its own (its box) and knows how many later
 * nodes use it; a binding counts the tensor objects it gives to programs. A node without users that
 * cannot be reached from a tensor object, and a node that was just made, are candidates. When
 * nothing else can hold tensors of the graph, candidates are removed: a program could find them
 * only by listing the whole graph. A NoOp keeps the place of a removed node until a new node, whose
 * inputs all stand before that place, is put there. */
#ifndef EF_GRAPH_TRIM_H
#define EF_GRAPH_TRIM_H
#include "graph/graph.h"

/* Puts a finished node (in the arena, not yet in the graph) into a box and the box into the graph.
 * name: its own, or NULL. Known values from n_values on become the box's. */
ef_status *ef_graph_box(ef_graph *g, const ef_node *made, const char *name, size_t n_values,
                        ef_node **out);
ef_status *ef_box_name(ef_node *n, const char *name); /* a copy of the text */
void ef_box_free(ef_node *n); /* frees the node and its values, but not its attributes */

/* A tensor object of a binding was created (by 1) or freed (by -1). */
void ef_graph_see(const ef_tensor *t, int by);

/* Removes all candidates for which keep(user, node) returns false. others: the number of references
 * to the graph that are not those of tensors; if there are more, nothing is removed. Returns how
 * many nodes were removed. No thread may run or read the graph meanwhile. */
size_t ef_graph_trim(ef_graph *g, int others, bool (*keep)(void *user, int node), void *user);
#endif
