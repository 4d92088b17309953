/* Which values planning reads. Most constants are data that only kernels read. Others - shapes,
 * axes, permutations, and the values these are computed from - decide what a plan looks like. */
#ifndef EF_PLAN_PLAN_INPUTS_H
#define EF_PLAN_PLAN_INPUTS_H
#include "graph/graph.h"

typedef struct ef_plan_inputs {
    int32_t *base;  /* by node: the index of its first output */
    uint8_t *value; /* by output: 1: planning needs its value */
} ef_plan_inputs;
/* outputs: by output of g, whether its users need its value for planning; NULL: none. depth: how
 * deep g is nested in functions; at 0 the values of its inputs are never known. ef_plan_inputs_free
 * ends it, also after a failure. */
ef_status *ef_plan_inputs_make(const ef_graph *g, const uint8_t *outputs, int depth,
                               ef_plan_inputs *w);
void ef_plan_inputs_free(ef_plan_inputs *w);
/* Which outputs of n's functions are needed, for n in the graph of w: n_out entries. For a loop
 * these are also the inputs that are needed. */
ef_status *ef_plan_inputs_inside(const ef_plan_inputs *w, const ef_node *n, uint8_t *outputs);
#endif
