/* Describes as JSON how a function graph is compiled: the graph as it was traced, what each pass
 * changed, the graph that is planned, the plan's steps with their memory, and how long each step
 * takes. Tools print it for people; nothing that runs programs depends on it. */
#ifndef EF_PLAN_DESCRIBE_H
#define EF_PLAN_DESCRIBE_H
#include "plan/plan.h"

/* g: a finished function graph without captures. fact: what is known of each input. in: the inputs'
 * values, materialized; NULL if runs is 0. The plan is run `runs` times on them and its results are
 * dropped. *out: released with ef_free. */
ef_status *ef_describe(ef_context *context, ef_graph *g, const ef_fact *fact, ef_tensor *const *in,
                       int runs, char **out);
#endif
