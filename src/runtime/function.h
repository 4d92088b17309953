/* Traced functions inside the library: signature -> trace -> program. */
#ifndef EF_RUNTIME_FUNCTION_H
#define EF_RUNTIME_FUNCTION_H
#include "base/budget.h"
#include "base/mutex.h"
#include "evenflow_binding.h"
#include "plan/compile.h"

/* One trace: a finished graph with its captures, ready to run. Counted. */
typedef struct ef_trace {
    ef_owned owned; /* first: a graph may own a trace */
    atomic_int refs;
    ef_graph *graph;            /* as traced; outputs set */
    size_t n_nodes;             /* of `graph` when it was traced; a program may add more */
    _Atomic(ef_graph *) closed; /* see ef_trace_closed; NULL: not made yet */
    ef_program *program;        /* inputs: the parameters, then the captures it needs */
    size_t bytes;               /* charged to the budget of all caches */
    size_t closed_bytes;        /* charged for `closed` if that was made later */
    uint64_t used; /* the tick of its last use, under the function's lock; 0: not cached */
    int n_in, n_out, n_captures;
    int32_t *captures; /* which of graph's captures; this and the next three are in its block */
    ef_shape *shape;   /* of each parameter, with symbolic dims where sizes may change */
    uint32_t *read;    /* by parameter: dims whose size was read, as far as known; a bit each */
    uint8_t *dtype;
    bool loose; /* general, and some nodes of `graph` do not run: fits_unused checks them */
    uint64_t checked[16]; /* loose: hashes of sizes that fit */
    unsigned n_checked;
    bool general;  /* some sizes of the call it was made for are symbols in its graph */
    bool borrowed; /* `graph` is not counted: it owns the trace */
    void *user;    /* set by the traced function; see ef_trace_set_user */
    void (*user_ref)(void *), (*user_end)(void *);
    _Atomic(struct ef_trace *) opened; /* see ef_trace_open */
    _Atomic(ef_owned *) gradient;      /* its derivative: made by eager on first need */
} ef_trace;
void ef_trace_unref(ef_trace *t);
/* Whether the trace fits these arguments; sizes of an outer trace that had to be compared count as
 * read there. Under the function's lock. */
bool ef_trace_fits(ef_trace *t, const ef_tensor *const *in, int n_in);
/* From a graph that was just traced. */
ef_status *ef_trace_make(ef_graph *g, ef_trace **out);
/* The subgraph that runs, with its captures as further inputs; t owns it. If all of the traced
 * graph runs, and its program is known already, this copy is made only when it is needed: for a
 * gradient, a call inside another graph, or an error's source line. */
ef_status *ef_trace_closed(ef_trace *t, ef_graph **out);
/* The same with the graph's named constants as further parameters after its own, for gradients with
 * respect to them. It has no program. Made when first needed; t owns it. */
ef_status *ef_trace_open(ef_trace *t, ef_trace **out);

/* What the traced function said about its trace while it was being made. */
typedef struct ef_trace_notes {
    bool sizes, given; /* it needs sizes; its outputs are set */
    void *user;
    void (*user_ref)(void *), (*user_end)(void *);
} ef_trace_notes;
/* src/eager, which owns the current graph, passes this function to do the tracing: it calls `trace`
 * inside graph g with g's inputs and sets g's outputs. No lock is held. */
typedef ef_status *ef_tracer(ef_graph *g, ef_trace_fn *trace, void *user, ef_trace_notes *notes);

struct ef_function {
    ef_keeper keeper; /* first; of its traces */
    ef_trace_fn *trace;
    void *user;
    char *name;
    ef_mutex lock;     /* guards what follows */
    ef_trace **traces; /* most recently used first; at most EF_FUNCTION_TRACES */
    size_t n_traces, cap_traces;
    uint64_t calls, n_made, hash_of_code;
    uint64_t random_scope; /* of its traces' graphs too; 0: no trace has random ops */
    char reason[200];
    ef_relax relax;
    uint32_t *open; /* by argument: dims that are unknown in every trace, a bit each */
    size_t n_open, cap_open;
    bool fixed; /* every trace has the signature below, and every call must fit it */
    int n_fixed;
    ef_dtype *fixed_dtype;
    ef_shape *fixed_shape;
};
enum { EF_FUNCTION_TRACES = 64 };
/* The trace for these arguments, found or made; counted for the caller. Only the dtypes and shapes
 * of the arguments are used, and of handles those of their variables. */
ef_status *ef_function_trace(ef_function *f, ef_tracer *tracer, const ef_tensor *const *in,
                             int n_in, ef_trace **out);
/* The same, but never a trace that was made for other sizes: the shapes in its graph are those of
 * these arguments. */
ef_status *ef_function_trace_exact(ef_function *f, ef_tracer *tracer, const ef_tensor *const *in,
                                   int n_in, ef_trace **out);
#endif
