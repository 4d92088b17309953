/* Calls of functions and of control flow from outside a graph, under a tape or not. */
#ifndef EF_EAGER_FUNCTION_CALL_H
#define EF_EAGER_FUNCTION_CALL_H
#include "autodiff/autodiff.h"
#include "runtime/function.h"

/* While, If, Case, PartitionedCall called eagerly: a function of one node. */
ef_status *ef_call_control(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                           int n_in, ef_tensor *out, int max_out, int *n_out);

/* The trace that calls of a finished graph run; made at the first call and owned by the graph. */
ef_status *ef_graph_callable(ef_graph *g, ef_trace **out);

/* A function's derivative, compiled; the trace owns it. Counted. */
typedef struct ef_derivative {
    ef_owned owned; /* first: traces own theirs */
    atomic_int refs;
    ef_function_gradient d;
    ef_program *forward, *backward;
    /* Derivatives of the two functions, for higher orders: made when first needed. */
    _Atomic(struct ef_derivative *) of_forward, of_backward;
    atomic_bool last; /* the forward function has no derivative */
} ef_derivative;
ef_status *ef_derivative_make(ef_graph *closed, ef_derivative **out);
/* The same from a cache by structure: derivative_cache.c. */
ef_status *ef_derivative_find(ef_graph *closed, ef_derivative **out);
void ef_derivative_clear(void);     /* empties the cache; those in use live on */
uint64_t ef_derivatives_made(void); /* how often none was found; for tests */
void ef_derivative_unref(ef_derivative *d);
/* Runs the forward function and records the call on the tapes. */
ef_status *ef_derivative_run(ef_derivative *d, ef_tensor *const *in, int n_in, ef_tensor *out,
                             int n_out);
/* Runs the backward function, as a recorded call if some tape needs it. */
ef_status *ef_derivative_back(ef_derivative *d, ef_tensor *const *in, int n_in, ef_tensor *out);
/* Level 1 is d; level k+1 is the derivative of level k's forward function, which returns the n_out
 * outputs of the function and the values that levels 1 to k save. ef_derivative_outputs: how many
 * outputs level `level` takes gradients of. */
ef_derivative *ef_derivative_level(ef_derivative *d, int level);
int ef_derivative_outputs(ef_derivative *d, int level, int n_out);
#endif
