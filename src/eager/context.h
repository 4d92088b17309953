/* What a thread is doing: which graph it is building, which tapes are recording. One word of flags
 * is tested per op; zero means the fast path. */
#ifndef EF_EAGER_CONTEXT_H
#define EF_EAGER_CONTEXT_H
#include "graph/graph.h"
#include <stdatomic.h>

struct ef_trace_notes;
typedef struct ef_thread_state {
    unsigned busy;                /* EF_TRACING | EF_TAPING | EF_PLACED; 0: nothing special */
    ef_graph *graph;              /* being built; not counted */
    const char *next_name;        /* for the next node; owned */
    const char *next_kind;        /* default name of the next node, if it gets none; static */
    struct ef_trace_notes *notes; /* of the trace being made; NULL: none is being made */
} ef_thread_state;
enum { EF_TRACING = 1, EF_TAPING = 2, EF_PLACED = 4 /* a device was requested */ };
extern _Thread_local ef_thread_state ef_here;

/* Eager or recorded, whatever the thread is doing; arguments are already checked. */
ef_status *ef_dispatch(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in,
                       ef_tensor *out, int max_out, int *n_out);
/* Outside all graphs, an op with symbolic inputs is added to their graph (v1 programs rely on it):
 * enters the graph of the first one; *home NULL: nothing was entered. The graph of a traced
 * function cannot be entered so. */
ef_status *ef_enter_home(const char *who, const ef_tensor *const *in, int n_in, ef_graph **home);
void ef_leave_home(ef_graph *home); /* NULL is fine */
/* Requests a device for the ops that this thread runs or adds to graphs from now on; as
 * ef_context.wanted. Returns the previous request. */
int ef_want_device(int wanted);
/* Puts a new variable on the requested device, or on that of its first value; gives it that value
 * (NULL: none yet). */
ef_status *ef_variable_begin(ef_variable *v, const ef_tensor *value);
void ef_variable_handle(ef_variable *v, ef_tensor *handle); /* takes over the reference to v */
/* Adds a node for op to the graph being built. */
ef_status *ef_record(ef_graph *g, const ef_op *op, const ef_attrs *attrs,
                     const ef_tensor *const *in, int n_in, ef_tensor *out, int max_out, int *n_out);
/* Runs a control-flow op, or any op that only plans can run, as a function of one node. */
ef_status *ef_single_node(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                          int n_in, ef_graph **out);

/* pending.c: defers the op. *deferred false: it is not deferred, and must be run now. */
ef_status *ef_pending_add(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                          int n_in, ef_tensor *out, bool *deferred);
/* Inputs with fewer bytes are not worth deferring. Set by EF_DEFER_BYTES; 0: defer all ops that can
 * be. */
extern int64_t ef_defer_bytes;
extern atomic_bool ef_small_calls; /* the engine has started, and does not defer small ops */
bool ef_pending_owned(const ef_storage *s); /* computed, into bytes that nobody else holds */
bool ef_pending_on(void);                   /* false: EVENFLOW_SYNC=1 or ef_sync_set */

/* record.c: records an op that was run on the tapes that need it. Called only while EF_TAPING. */
ef_status *ef_tape_note(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                        int n_in, ef_tensor *out, int n_out);
/* Whether some tape must record an op on these inputs; also notes the use of variables. */
bool ef_tape_interested(const ef_tensor *const *in, int n_in);
/* Reads the options of this room; called by every entry point, cheap after the first. */
void ef_eager_start(void);
/* An ef_tracer: calls `trace` inside g and sets g's outputs. */
ef_status *ef_trace_now(ef_graph *g, ef_trace_fn *trace, void *user, struct ef_trace_notes *notes);
#endif
