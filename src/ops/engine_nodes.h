/* Nodes that the engine itself adds to graphs. Each is described in the file of its op's record, so
 * graphs, passes and autodiff need not know which op does the work or its attributes' names. */
#ifndef EF_OPS_ENGINE_NODES_H
#define EF_OPS_ENGINE_NODES_H
#include "ops/op.h"

typedef struct ef_made {
    const ef_op *op;
    const ef_attrs *attrs; /* a reference that the caller drops */
} ef_made;
ef_status *ef_made_constant(const ef_tensor *value, ef_made *out);
/* A parameter of a graph: the op is ef_input_op. */
ef_status *ef_made_input(ef_dtype dtype, const ef_shape *shape, ef_made *out);
/* A node that returns its input after checking that the input has this shape. */
ef_status *ef_made_shape_check(const ef_shape *shape, ef_made *out);
/* A call of f, whose n outputs have these dtypes. effects: f may read or change state outside it
 * (variables, random generators). */
ef_status *ef_made_call(struct ef_graph *f, int n, const ef_dtype *dtype, bool effects,
                        ef_made *out);
/* A call of a function of the user's program, such as tf.py_function's; shape may be NULL. */
ef_status *ef_made_callback(int n, const ef_dtype *dtype, const ef_shape *shape, bool stateful,
                            ef_made *out);

/* Ops that have no attributes, or whose attributes the caller makes. */
extern const ef_op *const ef_input_op;
extern const ef_op *const ef_nothing_op;   /* no inputs, no outputs */
extern const ef_op *const ef_transpose_op; /* (x, permutation) */
extern const ef_op *const ef_reshape_op;   /* (x, shape) */
extern const ef_op *const ef_add_op;       /* x + y, element by element */
/* (rows, index of the sum that each row is added to, number of sums). */
extern const ef_op *const ef_row_sum_op;
extern const ef_op *const ef_custom_gradient_op;
#endif
