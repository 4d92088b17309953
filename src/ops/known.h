/* Ops that passes and the planner look for, each named beside its record. */
#ifndef EF_OPS_KNOWN_H
#define EF_OPS_KNOWN_H
#include "ops/op.h"

extern const ef_op *const ef_fused_product_op; /* (a, b, what is added ...) */
extern const ef_op *const ef_split_op;         /* (axis, x): equal parts of x */
extern const ef_op *const ef_join_op;          /* (parts ..., axis) */
extern const ef_op *const ef_column_sums_op;   /* of a matrix, by default: the gradient of a bias */

/* What an update by Adam is written in, and the op that does all of it: fused_adam.c. */
typedef struct ef_adam_ops {
    const ef_op *read, *add_to, *subtract_from;             /* of variables */
    const ef_op *add, *subtract, *multiply, *divide, *root; /* elementwise */
    const ef_op *square;
    const ef_op *fused; /* (var, m, v, step, keep1, keep2, epsilon, grad) */
} ef_adam_ops;
extern const ef_adam_ops ef_adam;
#endif
