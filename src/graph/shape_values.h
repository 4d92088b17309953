/* Shape values: the elements of a computed vector of integers that is used as a shape. */
#ifndef EF_GRAPH_SHAPE_VALUES_H
#define EF_GRAPH_SHAPE_VALUES_H
#include "graph/graph.h"

/* Known dims are numbers or symbolic, others EF_DIM_UNKNOWN; unknown rank if not even its length
 * is known. */
ef_shape ef_graph_shape_value(const ef_graph *g, ef_edge e);
/* Refines the shapes of the outputs of an op that an input decides (its record's `sized`). real: by
 * the real facts, see graph/sizes.h. */
void ef_graph_refine_shapes(const ef_graph *g, const ef_op *op, const ef_edge *in, int n_in,
                            bool real, ef_fact *out, int n_out);
/* The element that a node about to be added picks out of such a vector, if it is known: that of
 * tf.shape(x)[1] may be known although size 0 of x is not. */
bool ef_graph_shape_element(const ef_graph *g, const ef_node *n, const ef_edge *in, int64_t *out);
#endif
