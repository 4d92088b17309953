/* The one call behind every op. Errors come first: dtypes and shapes are checked before any work is
 * done or deferred. */
#include "base/alloc.h"
#include "eager/context.h"
#include "eager/function_call.h"
#include "eager/tape/tape.h"
#include "graph/origin.h"
#include "ops/run.h"
#include "ops/shapes.h"
#include <stddef.h>

_Thread_local ef_thread_state ef_here;
atomic_bool ef_small_calls;

/* ---- recording into a graph
 * ------------------------------------------------------------------------ */

static ef_status *fits(ef_graph *g, const ef_op *op, const ef_attrs *attrs, const ef_edge *edge,
                       int n_in) {
    ef_fact few[16] = {{.dtype = EF_NO_DTYPE}}, *in = few;
    if (n_in > 16 && (in = ef_malloc((size_t)n_in * sizeof *in)) == NULL)
        return ef_no_memory((size_t)n_in * sizeof *in);
    for (int k = 0; k < n_in; k++) in[k] = *ef_edge_fact(g, edge[k]);
    ef_status *s = ef_need_graph_fit(op, attrs != NULL ? ef_attrs_fields(attrs) : NULL, in, n_in);
    if (in != few) ef_free(in);
    return s;
}

static ef_status *record_edges(ef_graph *g, const ef_op *op, const ef_attrs *attrs,
                               const ef_tensor *const *in, int n_in, ef_edge *edge, int32_t *node) {
    const char *name = ef_here.next_name, *kind = ef_here.next_kind;
    ef_here.next_name = ef_here.next_kind = NULL; /* also if the op turns out to be wrong */
    for (int k = 0; k < n_in; k++) EF_TRY(ef_graph_import(g, in[k], &edge[k]));
    if (EF_UNLIKELY(ef_here.busy & EF_TAPING)) ef_tape_note_variables(in, n_in);
    if (EF_UNLIKELY((op->scalar_in | op->vector_in) != 0 || op->graph_check != NULL))
        EF_TRY(fits(g, op, attrs, edge, n_in));
    EF_TRY(ef_graph_add(g, op, attrs, edge, n_in, name, node));
    ef_node *made = g->node[*node];
    if (made->name == NULL && made->kind == NULL) made->kind = kind;
    return NULL;
}

/* The tensors of a node's outputs, made under the graph's lock. */
static ef_status *give_outputs(ef_graph *g, int32_t node, ef_tensor *out, int max_out, int *n_out) {
    const ef_node *n = g->node[node];
    if (n->n_out > max_out)
        return ef_error(EF_INVALID, "%s: has %d outputs but there is room for %d only", n->op->name,
                        n->n_out, max_out);
    for (int k = 0; k < n->n_out; k++) ef_graph_tensor(g, (ef_edge){node, k}, &out[k]);
    *n_out = n->n_out;
    return NULL;
}

ef_status *ef_record(ef_graph *g, const ef_op *op, const ef_attrs *attrs,
                     const ef_tensor *const *in, int n_in, ef_tensor *out, int max_out,
                     int *n_out) {
    ef_edge few[16], *edge = few;
    int32_t node = 0;
    ef_graph_note_place(g);
    if (n_in > 16) {
        edge = ef_malloc((size_t)n_in * sizeof *edge);
        if (edge == NULL) return ef_no_memory((size_t)n_in * sizeof *edge);
    }
    ef_graph_lock(g);
    g->wanted = (uint8_t)ef_context_here()->wanted;
    ef_status *s = record_edges(g, op, attrs, in, n_in, edge, &node);
    g->wanted = 0;
    if (s == NULL) s = give_outputs(g, node, out, max_out, n_out);
    ef_graph_unlock(g);
    if (edge != few) ef_free(edge);
    return s;
}

/* ---- running eagerly
 * ------------------------------------------------------------------------------- */

static ef_status *materialize_inputs(const ef_op *op, const ef_tensor *const *in, int n_in) {
    for (int k = 0; k < n_in; k++) {
        if (EF_LIKELY(ef_tensor_peek(in[k]) != NULL)) continue;
        if (in[k]->flags & EF_TENSOR_SYMBOLIC)
            return ef_error(EF_INVALID,
                            "%s: input %d is a symbolic tensor, used outside the graph it "
                            "belongs to; enter the graph, or fetch its value by a session",
                            op->name, k);
        EF_TRY(ef_tensor_materialize((ef_tensor *)in[k]));
    }
    return NULL;
}

static ef_status *run_now(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                          int n_in, uint32_t unread, ef_tensor *out, int max_out, int *n_out) {
    EF_TRY(materialize_inputs(op, in, n_in));
    const void *fields = attrs != NULL ? ef_attrs_fields(attrs) : NULL;
    if (n_in > 0 && max_out > 0 && ef_op_run_small(op, fields, (ef_tensor *const *)in, n_in, out)) {
        *n_out = 1;
        return NULL;
    }
    ef_status *s = ef_op_run_some(ef_context_here(), op, fields, (ef_tensor *const *)in, n_in,
                                  unread, out, max_out, n_out);
    ef_budget_keep(); /* its kernel may have made a primitive */
    for (int k = 0; s == NULL && k < *n_out; k++) {
        s = ef_tensor_leave_slab(&out[k]);
        for (int j = 0; s != NULL && j < *n_out; j++) ef_tensor_release(&out[j]);
    }
    return s;
}

static bool may_defer(const ef_op *op, const ef_tensor *const *in, int n_in) {
    if (!(op->traits & (EF_ELEMENTWISE | EF_REDUCES | EF_SPREADS | EF_VIEW_0))) return false;
    for (int k = 0; k < n_in; k++) { /* large, or deferred itself */
        const ef_storage *s = in[k]->storage;
        if ((s != NULL ? (int64_t)s->bytes : 0) >= ef_defer_bytes) return true;
        if (s != NULL && ef_tensor_peek(in[k]) == NULL) return true;
    }
    return false;
}

static ef_status *eager(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                        int n_in, ef_tensor *out, int max_out, int *n_out) {
    if (EF_UNLIKELY(op->traits & EF_CONTROL))
        return ef_call_control(op, attrs, in, n_in, out, max_out, n_out);
    if (EF_UNLIKELY(op->traits & EF_NO_KERNEL))
        return ef_error(EF_INVALID,
                        "%s: is a placeholder for a value that is fed to a graph and cannot be run "
                        "by itself",
                        op->name);
    bool deferred = false;
    if (may_defer(op, in, n_in) && max_out >= 1 && ef_pending_on()) {
        EF_TRY(ef_pending_add(op, attrs, in, n_in, out, &deferred));
        *n_out = 1;
    }
    if (!deferred) EF_TRY(run_now(op, attrs, in, n_in, 0, out, max_out, n_out));
    if (EF_LIKELY(!(ef_here.busy & EF_TAPING))) return NULL;
    ef_status *s = ef_tape_note(op, attrs, in, n_in, out, *n_out);
    for (int k = 0; s != NULL && k < *n_out; k++) ef_tensor_release(&out[k]);
    return s;
}

/* ---- on devices ------------------------------------------------------------------------------ */

int ef_want_device(int wanted) {
    int before = ef_context_here()->wanted;
    ef_context_here()->wanted = wanted;
    ef_here.busy = wanted != 0 ? ef_here.busy | EF_PLACED : ef_here.busy & ~(unsigned)EF_PLACED;
    return before;
}

/* The device of the first input that is not on the host; a variable's handle has the device of its
 * values. */
static int device_of(const ef_tensor *const *in, int n_in) {
    for (int k = 0; k < n_in; k++)
        if (in[k]->device != EF_HOST) return in[k]->device;
    return EF_HOST;
}

/* Ops on a variable run where the variable is, even if another device was requested. */
static int device_for(const ef_tensor *const *in, int n_in) {
    int wanted = ef_context_here()->wanted;
    bool handle = n_in > 0 && in[0]->dtype == EF_RESOURCE;
    return wanted == 0 || handle ? device_of(in, n_in) : wanted - 1;
}

static bool any_on_device(const ef_tensor *const *in, int n_in) {
    return device_of(in, n_in) != EF_HOST;
}

/* Runs the op if it runs on a device, or on the host with inputs on a device. *done false: neither.
 */
static ef_status *run_on_device(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                                int n_in, ef_tensor *out, int max_out, int *n_out, bool *done) {
    int device = device_for(in, n_in);
    *done = !(op->traits & (EF_CONTROL | EF_NO_KERNEL)) &&
            (device != EF_HOST || any_on_device(in, n_in));
    for (int k = 0; k < n_in; k++)
        if (in[k]->flags & EF_TENSOR_SYMBOLIC) *done = false; /* an error: see materialize_inputs */
    if (!*done) return NULL;
    for (int k = 0; k < n_in; k++) EF_TRY(ef_tensor_materialize_there((ef_tensor *)in[k]));
    const void *fields = attrs != NULL ? ef_attrs_fields(attrs) : NULL;
    EF_TRY(ef_op_run_on(ef_context_here(), device, op, fields, (ef_tensor *const *)in, n_in, out,
                        max_out, n_out));
    if (!(ef_here.busy & EF_TAPING)) return NULL;
    ef_status *s = ef_tape_note(op, attrs, in, n_in, out, *n_out);
    for (int k = 0; s != NULL && k < *n_out; k++) ef_tensor_release(&out[k]);
    return s;
}

/* Attributes that were left out are the defaults. */
static ef_status *complete(const ef_op *op, const ef_attrs **attrs) {
    if (*attrs != NULL || op->attr[0].name == NULL) return NULL;
    *attrs = ef_attrs_default(op);
    return *attrs != NULL ? NULL : ef_attrs_make(op, NULL, 0, attrs); /* names the missing one */
}

/* Ops with inputs on a device go through ef_dispatch first. */
static ef_status *dispatch(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                           int n_in, ef_tensor *out, int max_out, int *n_out) {
    EF_TRY(complete(op, &attrs));
    if (EF_UNLIKELY(ef_here.busy & (EF_TRACING | EF_PLACED))) {
        if (ef_here.busy & EF_TRACING)
            return ef_record(ef_here.graph, op, attrs, in, n_in, out, max_out, n_out);
        bool done;
        ef_status *s = run_on_device(op, attrs, in, n_in, out, max_out, n_out, &done);
        if (done) return s;
    }
    return eager(op, attrs, in, n_in, out, max_out, n_out);
}

ef_status *ef_dispatch(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in,
                       ef_tensor *out, int max_out, int *n_out) {
    if (EF_UNLIKELY(any_on_device(in, n_in)) && !(ef_here.busy & EF_TRACING)) {
        EF_TRY(complete(op, &attrs));
        bool done;
        ef_status *s = run_on_device(op, attrs, in, n_in, out, max_out, n_out, &done);
        if (done) return s;
    }
    return dispatch(op, attrs, in, n_in, out, max_out, n_out);
}

/* Device and flags are adjacent bytes, so both are read together. */
enum { SYMBOLIC = EF_TENSOR_SYMBOLIC << 8, AWAY = 255 };
static inline unsigned marks_of(const ef_tensor *t) { return t->device | (unsigned)t->flags << 8; }
_Static_assert(offsetof(ef_tensor, flags) == offsetof(ef_tensor, device) + 1, "see marks_of");

/* *flags: the marks_of all inputs together. */
static ef_status *check_arguments(const ef_op *op, const ef_tensor *const *in, int n_in,
                                  const ef_tensor *out, int max_out, const int *n_out,
                                  unsigned *flags) {
    *flags = 0;
    if (op == NULL)
        return ef_error(EF_INVALID, "ef_call_op: op is NULL; was it found by ef_op_find?");
    if (n_in < 0 || max_out < 0 || n_out == NULL || (n_in > 0 && in == NULL) ||
        (max_out > 0 && out == NULL))
        return ef_error(EF_INVALID, "%s: in, out and n_out must not be NULL, nor counts negative",
                        op->name);
    for (int k = 0; k < n_in; k++) {
        if (in[k] == NULL) return ef_error(EF_INVALID, "%s: input %d is NULL", op->name, k);
        if (in[k]->dtype == EF_NO_DTYPE)
            return ef_error(EF_INVALID, "%s: input %d is an empty (released) tensor", op->name, k);
        if (in[k]->storage == NULL && in[k]->data != (const void *)in[k]->small)
            return ef_error(EF_INVALID,
                            "%s: input %d was copied by assignment; small values live "
                            "inside a tensor, so copy it with ef_tensor_copy",
                            op->name, k);
        if (in[k] >= out && in[k] < out + max_out)
            return ef_error(EF_INVALID,
                            "%s: input %d is also an output; results need tensors of "
                            "their own",
                            op->name, k);
        *flags |= marks_of(in[k]);
    }
    return NULL;
}

ef_status *ef_enter_home(const char *who, const ef_tensor *const *in, int n_in, ef_graph **home) {
    int k = 0;
    *home = NULL;
    while (k < n_in && !(in[k]->flags & EF_TENSOR_SYMBOLIC)) k++;
    if (k == n_in || (ef_here.busy & EF_TRACING)) return NULL;
    ef_graph *g = (ef_graph *)in[k]->storage;
    if (g->function)
        return ef_error(EF_OUT_OF_SCOPE,
                        "%s: input %d, a symbolic tensor, is out of scope: the function it belongs "
                        "to has been traced; return it from there instead",
                        who, k);
    EF_TRY(ef_graph_enter(g));
    *home = g;
    return NULL;
}

void ef_leave_home(ef_graph *home) {
    if (home != NULL) ef_status_free(ef_graph_leave(home)); /* it was entered last */
}

/* No graph is being built, but an input belongs to one: the op joins it there. */
static ef_status *dispatch_home(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                                int n_in, ef_tensor *out, int max_out, int *n_out) {
    ef_graph *home;
    EF_TRY(ef_enter_home(op->name, in, n_in, &home));
    ef_status *s = ef_dispatch(op, attrs, in, n_in, out, max_out, n_out);
    ef_leave_home(home);
    return s;
}

/* A tensor whose data is inside it is on the host, and neither symbolic nor deferred. */
bool ef_call_small(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in,
                   ef_tensor *out) {
    if (ef_here.busy != 0 || n_in < 1 || n_in > 2 ||
        !atomic_load_explicit(&ef_small_calls, memory_order_relaxed))
        return false;
    const ef_tensor *x = in[0], *y = in[n_in - 1];
    if (x->data != (const void *)x->small || y->data != (const void *)y->small) return false;
    const void *fields = attrs != NULL ? ef_attrs_fields(attrs) : NULL;
    return ef_op_run_small(op, fields, (ef_tensor *const *)in, n_in, out);
}

ef_status *ef_call_op(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in,
                      ef_tensor *out, int max_out, int *n_out) {
    unsigned flags;
    EF_TRY(check_arguments(op, in, n_in, out, max_out, n_out, &flags));
    if (max_out > 0 && ef_call_small(op, attrs, in, n_in, out)) {
        *n_out = 1;
        return NULL;
    }
    ef_eager_start();
    if (EF_UNLIKELY(flags & (SYMBOLIC | AWAY))) {
        if ((flags & SYMBOLIC) && !(ef_here.busy & EF_TRACING))
            return dispatch_home(op, attrs, in, n_in, out, max_out, n_out);
        return ef_dispatch(op, attrs, in, n_in, out, max_out, n_out);
    }
    return dispatch(op, attrs, in, n_in, out, max_out, n_out);
}

/* Whether the op would run immediately on the host, and no tape would keep its outputs. */
static bool runs_unrecorded(const ef_op *op, const ef_tensor *const *in, int n_in) {
    bool plain = !(op->traits & (EF_CONTROL | EF_NO_KERNEL)) && !may_defer(op, in, n_in) &&
                 !(ef_here.busy & (EF_TRACING | EF_PLACED | EF_TAPING));
    for (int k = 0; k < n_in; k++) plain = plain && (marks_of(in[k]) & (SYMBOLIC | AWAY)) == 0;
    return plain;
}

ef_status *ef_call_op_first(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                            int n_in, ef_tensor *out) {
    enum { OUTPUTS_MOST = 16 };
    ef_tensor all[OUTPUTS_MOST];
    unsigned flags;
    int n = 0;
    EF_TRY(check_arguments(op, in, n_in, out, 1, &n, &flags));
    if (runs_unrecorded(op, in, n_in)) {
        ef_eager_start();
        EF_TRY(complete(op, &attrs));
        EF_TRY(run_now(op, attrs, in, n_in, ~1u, all, OUTPUTS_MOST, &n));
    } else {
        EF_TRY(ef_call_op(op, attrs, in, n_in, all, OUTPUTS_MOST, &n));
    }
    for (int k = 1; k < n; k++) ef_tensor_release(&all[k]);
    if (n == 0) return ef_error(EF_INVALID, "%s: has no outputs", op->name);
    ef_tensor_move(out, &all[0]);
    return NULL;
}
