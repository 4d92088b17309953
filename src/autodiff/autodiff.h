/* Reverse mode over a graph. Gradients are appended to the graph they belong to, through the
 * records' own gradient functions, so the result can be run, fused and differentiated again.
 * Control flow is differentiated here: a loop's gradient is a loop. */
#ifndef EF_AUTODIFF_AUTODIFF_H
#define EF_AUTODIFF_AUTODIFF_H
#include "graph/graph.h"

typedef enum ef_gradient_kind {
    EF_GRADIENT_NONE,  /* y does not depend on x */
    EF_GRADIENT_DENSE, /* value */
    EF_GRADIENT_SLICES /* IndexedSlices: value, indices, dense_shape */
} ef_gradient_kind;
typedef struct ef_gradient {
    ef_gradient_kind kind;
    ef_edge value, indices, dense_shape;
} ef_gradient;

/* d(sum of y * dy) / dx for every x, appended to g. dy NULL: ones for all; dy[k].node < 0: ones for
 * that one. stop: edges through which nothing flows (NULL, 0: none). */
ef_status *ef_gradients(ef_graph *g, const ef_edge *y, int n_y, const ef_edge *dy, const ef_edge *x,
                        int n_x, const ef_edge *stop, int n_stop, ef_gradient *dx);

/* The same, but from a node to its input k a gradient flows only where `passes` says so. */
typedef struct ef_flow {
    bool (*passes)(const void *user, const ef_node *n, int k);
    const void *user;
} ef_flow;
ef_status *ef_gradients_through(ef_graph *g, const ef_edge *y, int n_y, const ef_edge *dy,
                                const ef_edge *x, int n_x, const ef_edge *stop, int n_stop,
                                const ef_flow *flow, ef_gradient *dx);

/* Turns slices into a dense value, appended to g; others are left as they are. */
ef_status *ef_gradient_densify(ef_graph *g, ef_gradient *x);

/* For calls of functions (and branches, and functions called under a tape): splits f's derivative
 * into two functions.
 *   forward:  f's inputs -> f's outputs, then `n_saved` values that the backward function needs
 *   backward: the saved values, then the gradients of f's outputs (each dense, of the output's
 *             dtype and shape) -> gradients of f's inputs, parts[k] values for input k: none, the
 *             gradient, or values, indices and dense shape of IndexedSlices
 * The caller owns a reference to each. */
typedef struct ef_function_gradient {
    ef_graph *forward, *backward;
    int n_saved;
    uint8_t *parts; /* by input: 0, 1 or 3; ef_free */
} ef_function_gradient;
ef_status *ef_differentiate(ef_graph *f, ef_function_gradient *out);
void ef_function_gradient_free(ef_function_gradient *d);
#endif
