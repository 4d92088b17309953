/* Gradients of single values: which have one, what it looks like, its zeros, its sum. */
#ifndef EF_AUTODIFF_EDGE_GRAD_H
#define EF_AUTODIFF_EDGE_GRAD_H
#include "graph/build_graph.h"

/* Floats, complex numbers, lists of them, and handles of variables. */
bool ef_has_gradient(ef_dtype t);
/* dtype and shape of the gradient of such a value: its own; for a handle the variable's. `foreign`:
 * for another graph, where symbolic sizes are unknown. */
ef_status *ef_gradient_fact(const ef_fact *f, bool foreign, ef_fact *out);
ef_value *ef_gradient_zeros(ef_build *b, ef_value *x);
/* The sum of n >= 1 gradients of one value. IndexedSlices are joined, unless some are dense. */
ef_value *ef_gradient_sum(ef_build *b, ef_value *const *part, int n);
/* A gradient can flow through this node from its inputs to its outputs. */
bool ef_node_flows(const ef_node *n);
#endif
