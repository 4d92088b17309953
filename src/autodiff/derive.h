/* Building the derivative of a function. A copy of the function and the nodes of its gradient are
 * put into one graph, from which two functions are extracted: the forward one, which also returns
 * the values `saved`, and the backward one, which takes them as inputs. Between the two steps
 * callers add the nodes that their kind of control flow needs. */
#ifndef EF_AUTODIFF_DERIVE_H
#define EF_AUTODIFF_DERIVE_H
#include "autodiff/autodiff.h"
#include "graph/build_graph.h"

typedef struct ef_derived {
    ef_graph *g;       /* inputs: the function's, then one for each dout that is taken */
    int n_in, n_out;   /* of the function */
    int32_t n_forward; /* nodes of the copy; those of the gradient follow */
    ef_edge *dout;     /* by output; node -1: not taken */
    ef_gradient *dx;   /* by input */
    ef_edge *saved;    /* what the gradient's nodes read of the forward ones, in order */
    int n_saved;
    ef_arena memory;
} ef_derived;

/* dout: by output, whether a gradient is given; want: by input, whether one is needed. A value
 * whose dtype has no gradient is skipped. d is zeroed by the caller; end it even on failure. */
ef_status *ef_derive(ef_graph *f, const bool *dout, const bool *want, ef_derived *d);
void ef_derive_end(ef_derived *d);
/* dx of that input becomes dense: zeros if there is none. */
ef_status *ef_derive_dense(ef_derived *d, int input);
/* Finds the values `saved`. kept (or NULL): by input, those the backward function has anyway. */
ef_status *ef_derive_saved(ef_derived *d, const bool *kept);
/* A subgraph of d->g as a function; the side effects belong to the forward one. */
ef_status *ef_derive_extract(ef_derived *d, bool forward, const ef_edge *feed, int n_feed,
                             const ef_edge *fetch, int n_fetch, ef_graph **out);
/* Which input the edge is, or -1. */
int ef_derive_input(const ef_derived *d, ef_edge e);
#endif
