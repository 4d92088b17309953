/* The driver that runs every optimizer update. */
#ifndef EF_OPS_OPTIMIZER_H
#define EF_OPS_OPTIMIZER_H
#include "kernels/optimizer.h"
#include "ops/op.h"

/* The notation tells arguments apart: resources are the parameter and its slots, `grad` (or
 * `delta`) and `indices` have these names, and everything else is a scalar hyperparameter. */
ef_shape_fn ef_optimizer_shape;
/* Checks the shapes, locks the variables and updates them; only the rows in `indices`, if it is an
 * argument. */
ef_status *ef_optimizer_run(const ef_call *c, ef_rule rule);
/* The same with the hyperparameters k as the rule needs them. */
ef_status *ef_optimizer_run_with(const ef_call *c, ef_rule rule, const double *k);
/* The hyperparameters of the call in order of its arguments. */
ef_status *ef_optimizer_numbers(const ef_call *c, double *k);

typedef struct ef_optimizer_attrs { /* each op uses the fields it declares */
    bool use_locking, use_nesterov, update_slots, multiply_linear_by_lr;
} ef_optimizer_attrs;
#define EF_OPTIMIZER_LOCKING EF_ATTR(ef_optimizer_attrs, use_locking, "bool", "false")
#define EF_OPTIMIZER_NESTEROV EF_ATTR(ef_optimizer_attrs, use_nesterov, "bool", "false")
#define EF_OPTIMIZER_SLOTS EF_ATTR(ef_optimizer_attrs, update_slots, "bool", "true")
#define EF_OPTIMIZER_LINEAR EF_ATTR(ef_optimizer_attrs, multiply_linear_by_lr, "bool", "false")
enum { EF_OPTIMIZER_TRAITS = EF_STATEFUL | EF_EFFECT | EF_NO_GRAD };
#endif
