/* Calling back into the program. The function runs outside of the thread's graphs and tapes: it may
 * be called while a session runs inside an entered graph, or a plan under a tape, and its own ops
 * must not be recorded there. */
#include "ops/control/callback.h"
#include "base/alloc.h"
#include "eager/context.h"
#include "evenflow_binding.h"
#include "ops/engine_nodes.h"

typedef struct guarded {
    ef_callback *fn;
    void *user;
    void (*end)(void *);
} guarded;

static ef_status *call_guarded(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                               int n_out) {
    const guarded *g = user;
    ef_suspension s;
    ef_suspend(&s);
    ef_status *bad = g->fn(g->user, in, n_in, out, n_out);
    ef_resume(&s);
    return bad;
}

static void end_guarded(void *user) {
    guarded *g = user;
    if (g->end != NULL) g->end(g->user);
    ef_free(g);
}

ef_status *ef_callback_handle(ef_callback *fn, void *user, void (*end)(void *), ef_tensor *handle) {
    guarded *g = ef_malloc(sizeof *g);
    if (g == NULL) {
        if (end != NULL) end(user);
        return ef_no_memory(sizeof *g);
    }
    *g = (guarded){fn, user, end};
    return ef_callback_make(call_guarded, g, end_guarded, handle);
}

static ef_status *call_handle(const ef_tensor *handle, const ef_tensor *const *in, int n_in,
                              const ef_dtype *dtype, const ef_shape *shape, bool stateful,
                              ef_tensor *out, int n_out) {
    ef_made made;
    EF_TRY(ef_made_callback(n_out, dtype, shape, stateful, &made));
    const ef_tensor **all = ef_malloc(((size_t)n_in + 1) * sizeof *all);
    ef_status *s = NULL;
    int n;
    if (all == NULL) {
        s = ef_no_memory((size_t)n_in * sizeof *all);
    } else {
        all[0] = handle;
        for (int k = 0; k < n_in; k++) all[k + 1] = in[k];
        s = ef_call_op(made.op, made.attrs, all, n_in + 1, out, n_out, &n);
    }
    ef_free(all);
    ef_attrs_unref(made.attrs);
    return s;
}

ef_status *ef_callback_call(ef_callback *fn, void *user, void (*end)(void *),
                            const ef_tensor *const *in, int n_in, const ef_dtype *dtype,
                            const ef_shape *shape, bool stateful, ef_tensor *out, int n_out) {
    if (fn == NULL || n_in < 0 || n_out < 0 || (n_in > 0 && in == NULL) ||
        (n_out > 0 && (dtype == NULL || out == NULL))) {
        if (end != NULL) end(user);
        return ef_error(EF_INVALID, "ef_callback_call: function, in, dtype and out must not be "
                                    "NULL, nor counts negative");
    }
    ef_tensor handle;
    EF_TRY(ef_callback_handle(fn, user, end, &handle));
    ef_status *s = call_handle(&handle, in, n_in, dtype, shape, stateful, out, n_out);
    ef_tensor_release(&handle);
    return s;
}
