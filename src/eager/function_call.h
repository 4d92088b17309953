/* Calls of functions and of control flow from outside a graph, under a tape or not. */
#ifndef EF_EAGER_FUNCTION_CALL_H
#define EF_EAGER_FUNCTION_CALL_H
#include "autodiff/autodiff.h"
#include "runtime/function.h"

/* While, If, Case, PartitionedCall called eagerly: a function of one node. */
ef_status *ef_call_control(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                           int n_in, ef_tensor *out, int max_out, int *n_out);

/* A function's derivative, compiled; kept with the trace. Counted. */
typedef struct ef_derivative {
    atomic_int refs;
    ef_function_gradient d;
    ef_program *forward, *backward;
} ef_derivative;
ef_status *ef_derivative_make(ef_graph *closed, ef_derivative **out);
void ef_derivative_unref(ef_derivative *d);
#endif
