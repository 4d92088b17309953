/* Copying nodes of one graph into another. All code that copies nodes uses this cloner: it chooses
 * the nodes, and its callbacks do what is specific to it.
 *
 * A copy keeps the op, the attributes, the inputs, the control inputs and the device of its node,
 * and its origin, which leads to the name and the place in the user's program (graph/origin.h). The
 * copy has no name and no place itself, since graphs of equal structure share the programs made
 * from them. Its facts are inferred anew, so a symbolic size is kept as long as the inputs have it.
 */
#ifndef EF_GRAPH_CLONE_H
#define EF_GRAPH_CLONE_H
#include "graph/graph.h"

typedef struct ef_clone ef_clone;

/* Where an edge of `from` is in `to`; node -1: nowhere. */
typedef ef_edge ef_clone_edge_fn(const ef_clone *c, ef_edge e);
/* A node has `node` of `from` as a control input: returns the node of `to` that its copy gets as a
 * control input; -1: none. */
typedef int32_t ef_clone_wait_fn(const ef_clone *c, int32_t node);
/* Visits n, whose inputs are `in` in `to`. To replace n, it sets out[k] for every output and
 * *done = true; it leaves *done false to have n copied. If n has no outputs, out[0] is the node
 * that replaces n as a control input of others; it may be left at -1. */
typedef ef_status *ef_clone_visit_fn(ef_clone *c, const ef_node *n, const ef_edge *in, ef_edge *out,
                                     bool *done);
/* Notes where the outputs of n are now; out[0] is set for a node without outputs too. */
typedef void ef_clone_note_fn(ef_clone *c, const ef_node *n, const ef_edge *out);

struct ef_clone { /* set by the user, before ef_clone_begin: */
    const ef_graph *from;
    ef_graph *to; /* may hold nodes already, and may get others meanwhile */
    void *user;
    ef_clone_edge_fn *edge;   /* NULL: the cloner has a table of all nodes of `from` */
    ef_clone_wait_fn *waits;  /* NULL: every control input is kept; needed if `edge` is set */
    ef_clone_visit_fn *visit; /* NULL: every node is copied */
    ef_clone_note_fn *note;   /* needed if `edge` is set, else not used */
    /* The table: */
    ef_edge *moved; /* by value: its edge in `to` */
    int32_t *base;  /* first value of node k; a node without outputs has one, too */
    int32_t *copy;  /* by node: the node of `to` that control inputs refer to; -1: none */
    int32_t *after; /* room for the control inputs of the node being copied */
    const ef_node *before;
};

/* Between begin and end, nodes added to `to` have the origin and the device of the node that is
 * being copied. End must be called even if begin failed, and before `to` is freed. */
ef_status *ef_clone_begin(ef_clone *c);
void ef_clone_end(ef_clone *c);

/* Copies one node, whose inputs must have a place in `to`. */
ef_status *ef_clone_node(ef_clone *c, const ef_node *n);
/* For `visit`: adds a copy of n, the node being visited, or of a changed one that shares its
 * control inputs: op, attributes and number of inputs may differ. out: n->n_out outputs, at least
 * one. */
ef_status *ef_clone_copy(ef_clone *c, const ef_node *n, const ef_edge *in, ef_edge *out);
/* Sets the outputs of `to`, given as edges of `from`. */
ef_status *ef_clone_outputs(const ef_clone *c, const ef_edge *out, int n);

/* The rest is for clones with a table. Sets where an edge of `from` is, unless that is set. */
void ef_clone_set(ef_clone *c, ef_edge e, ef_edge to);
/* Makes inputs of `to` like those of `from`. */
ef_status *ef_clone_inputs(ef_clone *c);
/* Copies, in order, the nodes that `need` marks (NULL: all), except those whose outputs all have a
 * place already. */
ef_status *ef_clone_nodes(ef_clone *c, const uint8_t *need);
static inline int32_t ef_clone_value(const ef_clone *c, ef_edge e) {
    return c->base[e.node] + e.index;
}
static inline ef_edge ef_clone_moved(const ef_clone *c, ef_edge e) {
    return c->moved[ef_clone_value(c, e)];
}
#endif
