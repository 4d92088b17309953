/* Gradients of control flow. The node is changed in place into one that also returns the values its
 * gradient needs (its first outputs stay what they were), and the gradient is appended. */
#ifndef EF_AUTODIFF_CONTROL_GRAD_H
#define EF_AUTODIFF_CONTROL_GRAD_H
#include "autodiff/derive.h"
#include "graph/control.h"

typedef struct ef_control_grad {
    ef_graph_build *b;
    int32_t node;
    int n_in, n_out;       /* before the node is changed */
    ef_value *const *dout; /* dense; NULL where none arrives */
    const bool *want;      /* by input: whether its gradient is needed */
    ef_value **din;        /* preset to NULL */
} ef_control_grad;

ef_status *ef_branch_grad(ef_control_grad *c, const ef_control *control); /* If, Case, calls */
ef_status *ef_loop_grad(ef_control_grad *c, const ef_control *control);
/* Whether some node reads or changes state outside of the graph. */
bool ef_graph_has_state(const ef_graph *g);
#endif
