/* Ops that passes and the planner search for. Each pointer is defined in the file of its op's
 * record. */
#ifndef EF_OPS_SEARCHED_OPS_H
#define EF_OPS_SEARCHED_OPS_H
#include "ops/op.h"

extern const ef_op *const ef_fused_product_op; /* (a, b, addends ...) */
extern const ef_op *const ef_split_op;         /* (axis, x): equal parts of x */
extern const ef_op *const ef_join_op;          /* (parts ..., axis) */
/* With default attributes: the sums of a matrix's columns, which is the gradient of a bias. */
extern const ef_op *const ef_column_sums_op;

/* The ops of an Adam update as Keras writes it, and the single op that replaces them:
 * fused_adam.c. */
typedef struct ef_adam_ops {
    const ef_op *read, *add_to, *subtract_from;             /* of variables */
    const ef_op *add, *subtract, *multiply, *divide, *root; /* elementwise */
    const ef_op *square;
    const ef_op *fused; /* (var, m, v, step, keep1, keep2, epsilon, grad) */
} ef_adam_ops;
extern const ef_adam_ops ef_adam;

/* The ops between the products of an attention and its gradient, and the ops that replace them:
 * nn/attention.c. */
typedef struct ef_attention_ops {
    const ef_op *softmax, *sum;
    const ef_op *add, *subtract, *multiply, *divide, *select; /* elementwise */
    const ef_op *both, *fill;                                 /* of masks */
    const ef_op *fused;                                       /* (q, k, v, extras ...) */
    const ef_op *fused_grad;                                  /* (q, k, v, dy, extras ...) */
} ef_attention_ops;
extern const ef_attention_ops ef_attention_parts;
#endif
