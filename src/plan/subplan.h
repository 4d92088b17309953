/* Sub-plans: functions shared by the steps of loops and branches. */
#ifndef EF_PLAN_SUBPLAN_H
#define EF_PLAN_SUBPLAN_H
#include "graph/control.h"
#include "plan/planner.h"

/* Output k of a finished frame into `out`: copied if out has memory, else moved or counted. */
ef_status *ef_subplan_result(ef_frame *f, int k, ef_tensor *out);
/* Whether t counts as true in TensorFlow: a scalar that is not zero, or a tensor of another rank
 * that is not empty. */
bool ef_tensor_true(const ef_tensor *t);

/* Whether a function of a node that cannot be planned for some sizes is left out of the plan: if
 * there are several, another one may be chosen. Running out of memory is always an error. */
bool ef_plan_is_left_out(const ef_control *c, const ef_status *bad);
/* A dim on which two shapes differ is unknown. */
void ef_plan_widen(ef_shape *s, const ef_shape *other);
/* Widens the fact of what a handle or a list refers to; `own` is where `out` keeps it. */
void ef_plan_widen_behind(ef_fact *out, ef_fact *own, const ef_fact *next, bool *changed);
void ef_plan_keep_behind(ef_fact *f, ef_fact *own); /* copies what f refers to */
/* Facts of the loop's variables that hold before and after every iteration. */
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
