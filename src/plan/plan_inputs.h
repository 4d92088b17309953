/* Which values planning reads. Most constants are data: a kernel multiplies by them. Some are not:
 * shapes, axes, permutations, and whatever those are computed from decide what a plan looks like.
 */
#ifndef EF_PLAN_PLAN_INPUTS_H
#define EF_PLAN_PLAN_INPUTS_H
#include "graph/graph.h"

typedef struct ef_plan_inputs {
    int32_t *base;  /* by node: where its outputs begin */
    uint8_t *value; /* by output: 1: wanted */
} ef_plan_inputs;
/* outputs: by output of g, whether whoever uses it wants it; NULL: nobody does. depth: how many
 * functions g stands in; at 0 nobody knows the values of its inputs. Ended by free, also after a
 * failure. */
ef_status *ef_plan_inputs_make(const ef_graph *g, const uint8_t *outputs, int depth,
                               ef_plan_inputs *w);
void ef_plan_inputs_free(ef_plan_inputs *w);
/* Which outputs of n's functions are wanted, for n in the graph of w: room for n_out. For a loop
 * these are also the inputs that are. */
ef_status *ef_plan_inputs_inside(const ef_plan_inputs *w, const ef_node *n, uint8_t *outputs);
#endif
