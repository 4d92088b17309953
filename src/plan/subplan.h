/* Sub-plans: what the steps of loops and branches share. */
#ifndef EF_PLAN_SUBPLAN_H
#define EF_PLAN_SUBPLAN_H
#include "graph/control.h"
#include "plan/planner.h"

/* Output k of a finished frame into `out`: copied if out has memory, else moved or counted. */
ef_status *ef_subplan_result(ef_frame *f, int k, ef_tensor *out);
/* TensorFlow's truth: a scalar that is not zero, or any tensor that is not empty. */
bool ef_tensor_true(const ef_tensor *t);

/* Whether a function of a node that failed to be planned for some sizes is left out: of several,
 * the one chosen may be another. An error of memory is never left out. */
bool ef_plan_is_left_out(const ef_control *c, const ef_status *bad);
/* What holds of the loop's variables before and after every turn. */
ef_status *ef_plan_loop_facts(const ef_control *c, const ef_fact *in, ef_fact *out, int n,
                              ef_fact *behind);
ef_status *ef_plan_branches(int wanted, const ef_control *control, const ef_fact *in,
                            ef_plan_step *step);
/* Makes `step` a loop compiled to machine code, if all of it can be; else leaves it. */
ef_status *ef_plan_compiled_loop(const ef_control *control, const ef_fact *in, int n,
                                 ef_plan_step *step);
ef_status *ef_plan_loop(int wanted, const ef_control *control, const ef_fact *in, int n_in,
                        ef_plan_step *step);
#endif
