/* The walk that passes share: a function graph is copied node by node into a new one that merges
 * equal pure nodes, so common subexpressions disappear on the way; nodes that nothing needs are not
 * copied. A pass may replace each node.
 *
 * Inputs keep their order, outputs theirs, effects their program order. Names are not carried over;
 * a new node has the origin of the node that is being visited. */
#ifndef EF_PASSES_WALK_H
#define EF_PASSES_WALK_H
#include "graph/clone.h"

typedef struct ef_walk ef_walk;
/* Called for each needed node; `in` are its inputs in the new graph. Sets out[k] for every output
 * and *done = true to replace it; leaves *done false to have it copied. */
typedef ef_status *ef_walk_fn(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                              bool *done);

typedef struct ef_live { /* by node of the new graph: uses that exist or are still to come */
    int32_t *count;
    size_t cap;
} ef_live;

struct ef_walk {
    const ef_graph *from;
    ef_graph *to;
    ef_walk_fn *visit;
    void *user;
    ef_clone clone;             /* copies nodes that are not replaced, and maps old values to new */
    uint8_t *need;              /* by old node */
    int32_t *uses;              /* by old value: how many needed nodes and outputs read it */
    ef_live *live;              /* shared by nested walks */
    const ef_fact *const *more; /* further inputs for the new graph, */
    int n_more;                 /* put behind those it has */
    ef_arena memory;            /* of need and uses */
};

/* The whole job: *out is a finished graph. */
ef_status *ef_walk_graph(const ef_graph *g, ef_walk_fn *visit, void *user, ef_graph **out);

/* The same with further inputs. */
ef_status *ef_walk_graph_with(const ef_graph *g, ef_walk_fn *visit, void *user,
                              const ef_fact *const *more, int n_more, ef_graph **out);

/* For visitors. Adds a node to the new graph (or finds its equal); *out is its first output. */
ef_status *ef_walk_add(ef_walk *w, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                       int n_in, ef_edge *out);
ef_status *ef_walk_constant(ef_walk *w, const ef_tensor *t, ef_edge *out);
/* For nodes that a visitor has added by a builder (graph/build_graph.h); before it returns. */
ef_status *ef_walk_grown(ef_walk *w);
/* Copies node n, the one being visited, or a changed one as ef_clone_copy; out: all its outputs. */
ef_status *ef_walk_copy(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out);
/* Whether the node being visited is the only one that reads anything of e's node. */
static inline bool ef_walk_only_user(const ef_walk *w, ef_edge e) {
    return w->live->count[e.node] == 0;
}
/* Whether n has control inputs that program order does not already guarantee. */
bool ef_walk_waits(const ef_walk *w, const ef_node *n);

/* The steps of a walk, for a nested walk through a function's graph into the same new graph: begin,
 * ef_walk_bind of its inputs, nodes, ef_walk_moved of its outputs, end. */
ef_status *ef_walk_begin(ef_walk *w, const ef_graph *from, ef_graph *to, ef_live *live);
/* Input k of the function is edge e of the new graph. */
void ef_walk_bind(ef_walk *w, size_t k, ef_edge e);
ef_status *ef_walk_nodes(ef_walk *w);
void ef_walk_end(ef_walk *w);
static inline ef_edge ef_walk_moved(const ef_walk *w, ef_edge e) {
    return ef_clone_moved(&w->clone, e);
}

/* Marks the nodes that outputs and side effects need: need[k] for every node of g, zeroed before.
 * Returns whether some node is not needed. */
bool ef_mark_needed(const ef_graph *g, uint8_t *need);
#endif
