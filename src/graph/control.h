/* Control-flow nodes: their kind, their functions, and the facts of their outputs. */
#ifndef EF_GRAPH_CONTROL_H
#define EF_GRAPH_CONTROL_H
#include "graph/graph.h"

typedef enum ef_control_kind {
    EF_CONTROL_NONE,
    EF_CONTROL_LOOP, /* cond, body; loop variables in and out */
    EF_CONTROL_IF,   /* input 0 chooses; then_branch, else_branch */
    EF_CONTROL_CASE, /* input 0 chooses; branches */
    EF_CONTROL_CALL  /* f */
} ef_control_kind;

typedef struct ef_control {
    ef_control_kind kind;
    int n_funcs;           /* loop: 2 (cond, body); if: 2 (then, else) */
    ef_graph *const *func; /* borrowed from the node; may point into `pair` */
    ef_graph *pair[2];
    int first; /* index of the first input handed to the functions */
} ef_control;
/* Derived from the record's function attributes, so no op is named here. c is not movable. */
void ef_control_of(const ef_op *op, const void *fields, ef_control *c);
/* Refines the facts of the outputs by those of the functions' outputs; checks the functions'
 * signatures. The node will be added to g; real: uses the real facts, see graph/sizes.h. */
ef_status *ef_control_facts(const ef_graph *g, const ef_node *n, const ef_fact *in, bool real,
                            ef_fact *out, int n_out);
/* The output shapes of function f, or of control flow over functions, for inputs of these facts. */
ef_status *ef_graph_through(const ef_graph *f, const ef_fact *in, ef_shape *out);
ef_status *ef_control_through(const ef_control *c, const ef_fact *in, int n_out, ef_shape *out);
/* Hook for comparing function attributes: same graph or same structure. */
bool ef_graph_equal_func(ef_graph *a, ef_graph *b);
#endif
