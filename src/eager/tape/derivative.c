/* Derivatives of functions called under tapes. The call runs an augmented program, which also
 * returns the values that the backward program needs. If several tapes are recording, the backward
 * program may itself be differentiated, and then the saved values are inputs like any other. So the
 * program is augmented once for each tape, and the values that all levels but the last save are
 * treated as outputs. */
#include "base/alloc.h"
#include "eager/context.h"
#include "eager/tape/tape.h"

enum { DEEPEST = 6 };

void ef_derivative_unref(ef_derivative *d) {
    if (d == NULL || atomic_fetch_sub_explicit(&d->refs, 1, memory_order_acq_rel) != 1) return;
    ef_derivative_unref(d->of_forward);
    ef_derivative_unref(d->of_backward);
    ef_function_gradient_free(&d->d);
    ef_program_unref(d->forward);
    ef_program_unref(d->backward);
    ef_free(d);
}

static void derivative_end(ef_owned *d) { ef_derivative_unref((ef_derivative *)d); }

ef_status *ef_derivative_make(ef_graph *closed, ef_derivative **out) {
    ef_derivative *d = ef_calloc(1, sizeof *d);
    if (d == NULL) return ef_no_memory(sizeof *d);
    d->owned.end = derivative_end;
    atomic_init(&d->refs, 1);
    ef_status *s = ef_differentiate(closed, &d->d);
    if (s == NULL) s = ef_compile(d->d.forward, &d->forward);
    if (s == NULL) s = ef_compile(d->d.backward, &d->backward);
    if (s != NULL)
        ef_derivative_unref(d);
    else
        *out = d;
    return s;
}

/* Made when first needed; another thread may be making the same. */
static ef_status *derive_once(ef_graph *g, _Atomic(ef_derivative *) *at, ef_derivative **out) {
    if (*at == NULL) {
        ef_derivative *d = NULL, *none = NULL;
        EF_TRY(ef_derivative_make(g, &d));
        if (!atomic_compare_exchange_strong(at, &none, d)) ef_derivative_unref(d);
    }
    *out = *at;
    return NULL;
}

ef_derivative *ef_derivative_level(ef_derivative *d, int level) {
    while (level-- > 1) d = d->of_forward;
    return d;
}

int ef_derivative_outputs(ef_derivative *d, int level, int n_out) {
    for (; level > 1; level--, d = d->of_forward) n_out += d->d.n_saved;
    return n_out;
}

/* Whether making a derivative failed because there is none. Another failure, such as a lack of
 * memory, is returned to the caller: the function must not be mistaken for a constant. */
static bool has_none(const ef_status *s) {
    ef_code code = ef_status_code(s);
    return code != EF_NO_MEMORY && code != EF_CANCELLED && code != EF_DEADLINE;
}

/* *depth: for how many orders of derivatives the call saves values; an op whose gradient has no
 * gradient ends the chain. */
static ef_status *deepen(ef_derivative *d, int *depth) {
    int want = ef_tape_orders();
    for (*depth = 1; *depth < want && *depth < DEEPEST && !d->last; ++*depth) {
        ef_derivative *next = NULL;
        ef_status *s = derive_once(d->d.forward, &d->of_forward, &next);
        if (s != NULL && !has_none(s)) return s;
        if (s != NULL) d->last = true;
        ef_status_free(s);
        if (next == NULL) break;
        d = next;
    }
    return NULL;
}

ef_status *ef_derivative_run(ef_derivative *d, ef_tensor *const *in, int n_in, ef_tensor *out,
                             int n_out) {
    int depth;
    EF_TRY(deepen(d, &depth));
    ef_derivative *last = ef_derivative_level(d, depth);
    int tracked = ef_derivative_outputs(d, depth, n_out);
    size_t n = (size_t)(tracked + last->d.n_saved);
    ef_tensor *all = ef_calloc(n + 1, sizeof *all);
    if (all == NULL) return ef_no_memory(n * sizeof *all);
    ef_status *s = ef_program_run(ef_context_here(), last->forward, in, all);
    if (s == NULL)
        s = ef_tape_note_call(d, depth, (const ef_tensor *const *)in, n_in, all, n_out, tracked);
    for (int k = 0; k < n_out && s == NULL; k++) ef_tensor_move(&out[k], &all[k]);
    for (size_t k = 0; k < n; k++) ef_tensor_release(&all[k]);
    ef_free(all);
    return s;
}

ef_status *ef_derivative_back(ef_derivative *d, ef_tensor *const *in, int n_in, ef_tensor *out) {
    if (!(ef_here.busy & EF_TAPING) || !ef_tape_interested((const ef_tensor *const *)in, n_in))
        return ef_program_run(ef_context_here(), d->backward, in, out);
    ef_derivative *again = NULL;
    ef_status *s = derive_once(d->d.backward, &d->of_backward, &again);
    if (s != NULL && has_none(s)) { /* the other tapes see a constant */
        ef_status_free(s);
        return ef_program_run(ef_context_here(), d->backward, in, out);
    }
    EF_TRY(s);
    return ef_derivative_run(again, in, n_in, out, (int)d->d.backward->n_outputs);
}
