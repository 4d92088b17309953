/* Functions. The cache look-up compares dtypes and dims of the arguments with those of each trace,
 * the most recently used first: no key is built. On a miss, a trace that differs only in sizes
 * makes those sizes symbolic in the new trace, unless a trace is known to have read them. While a
 * trace is made, its symbols stand for the sizes of the call (graph/sizes.h): those that the traced
 * program reads become part of the trace's signature, so it is valid for no other size. */
#include "runtime/function.h"
#include "base/alloc.h"
#include "base/array.h"
#include "evenflow_binding.h"
#include "graph/sizes.h"
#include "profile/event.h"
#include <stdio.h>

/* Tells the budget the last use of the least recently used trace. Under the lock. */
static void note_oldest(ef_function *f) {
    ef_keeper_oldest(&f->keeper, f->n_traces > 0 ? f->traces[f->n_traces - 1]->used : UINT64_MAX);
}

static void *take_trace(ef_keeper *k) {
    ef_function *f = (ef_function *)k;
    ef_mutex_lock(&f->lock);
    ef_trace *t = f->n_traces > 0 ? f->traces[--f->n_traces] : NULL;
    if (t != NULL) { /* credited now: a call, or a graph that calls it, may keep it alive */
        ef_budget_resize(EF_KEPT_TRACES, t->bytes, 0);
        t->bytes = 0;
    }
    note_oldest(f);
    ef_mutex_unlock(&f->lock);
    return t;
}

static void end_trace(void *t) { ef_trace_unref(t); }

ef_status *ef_function_new(ef_trace_fn *trace, void *user, const char *name, ef_function **out) {
    if (trace == NULL || out == NULL)
        return ef_error(EF_INVALID, "ef_function_new: trace and out must not be NULL");
    ef_function *f = ef_calloc(1, sizeof *f);
    if (f == NULL) return ef_no_memory(sizeof *f);
    f->trace = trace;
    f->user = user;
    f->name = ef_strdup(name != NULL ? name : "function");
    if (f->name == NULL) {
        ef_free(f);
        return ef_no_memory(16);
    }
    ef_mutex_init(&f->lock, EF_RANK_FUNCTION, EF_MUTEX_BIASED);
    f->keeper.kind = EF_KEPT_TRACES;
    f->keeper.take = take_trace;
    f->keeper.end = end_trace;
    ef_keeper_join(&f->keeper);
    *out = f;
    return NULL;
}

void ef_function_free(ef_function *f) {
    if (f == NULL) return;
    ef_keeper_leave(&f->keeper);
    for (size_t k = 0; k < f->n_traces; k++) ef_trace_unref(f->traces[k]);
    ef_free(f->traces);
    ef_free(f->fixed_dtype);
    ef_free(f->fixed_shape);
    ef_free(f->open);
    ef_free(f->name);
    ef_mutex_destroy(&f->lock);
    ef_free(f);
}

/* ---- matching
 * ------------------------------------------------------------------------------------- */

/* Checks the arguments against the function's input signature. */
static ef_status *check_signature(const ef_function *f, const ef_tensor *const *in, int n_in) {
    if (n_in != f->n_fixed)
        return ef_error(EF_INVALID, "%s: takes %d arguments by its signature but %d were given",
                        f->name, f->n_fixed, n_in);
    for (int k = 0; k < n_in; k++) {
        ef_shape have = ef_shape_from(in[k]);
        if ((ef_dtype)in[k]->dtype == f->fixed_dtype[k] &&
            ef_shape_may_equal(&have, &f->fixed_shape[k]))
            continue;
        return ef_error(EF_INVALID,
                        "%s: argument %d is %s %s, but its signature says %s %s; pass a tensor "
                        "that fits, or widen the signature",
                        f->name, k, ef_dtype_name((ef_dtype)in[k]->dtype), EF_SHAPE(&have),
                        ef_dtype_name(f->fixed_dtype[k]), EF_SHAPE(&f->fixed_shape[k]));
    }
    return NULL;
}

/* Whether the trace fits the arguments apart from their sizes. */
static bool fits_but_sizes(const ef_trace *t, const ef_tensor *const *in, int n_in) {
    if (t->n_in != n_in) return false;
    for (int k = 0; k < n_in; k++)
        if (t->dtype[k] != in[k]->dtype || t->shape[k].rank != in[k]->rank) return false;
    return true;
}

/* Whether every call that `old` was made for also fits `t`. */
static bool covers(const ef_trace *t, const ef_trace *old) {
    int64_t was[EF_MAX_SYMBOLS] = {0};
    for (int k = 0; k < t->n_in; k++)
        for (int d = 0; d < t->shape[k].rank; d++) {
            if (old->shape[k].rank != t->shape[k].rank) return false;
            int s;
            int64_t a, b, dim = t->shape[k].dim[d], before = old->shape[k].dim[d];
            if (dim == before || dim == EF_DIM_UNKNOWN) continue;
            if (!ef_dim_parts(dim, &s, &a, &b) || (was[s] != 0 && was[s] != before)) return false;
            was[s] = before;
        }
    return true;
}

static void explain(ef_function *f, const ef_trace *near, const ef_tensor *const *in, int n_in) {
    if (f->n_traces == 0) {
        snprintf(f->reason, sizeof f->reason, "the first call");
        return;
    }
    const ef_trace *t = near != NULL ? near : f->traces[0];
    if (t->n_in != n_in) {
        snprintf(f->reason, sizeof f->reason, "%d arguments instead of %d", n_in, t->n_in);
        return;
    }
    for (int k = 0; k < n_in; k++) {
        ef_shape now = ef_shape_from(in[k]);
        if (t->dtype[k] == in[k]->dtype && ef_shape_may_equal(&now, &t->shape[k])) continue;
        snprintf(f->reason, sizeof f->reason, "argument %d was %s %.70s and is now %s %.70s", k,
                 ef_dtype_name((ef_dtype)t->dtype[k]), EF_SHAPE(&t->shape[k]),
                 ef_dtype_name((ef_dtype)in[k]->dtype), EF_SHAPE(&now));
        return;
    }
    snprintf(f->reason, sizeof f->reason, "the trace depends on sizes, and one changed");
}

/* Why the trace is made, as fields of an event; the binding may replace them (ef_trace_explain). */
static void reason_of(const ef_function *f, const ef_trace *near, const ef_tensor *const *in,
                      int n_in, ef_event_new *e) {
    const ef_trace *t = near != NULL ? near : f->n_traces > 0 ? f->traces[0] : NULL;
    e->reason = t == NULL ? EF_REASON_FIRST : near == NULL ? EF_REASON_DTYPE : EF_REASON_SHAPE;
    for (int k = 0; near != NULL && k < n_in; k++)
        for (int d = 0; d < near->shape[k].rank; d++)
            if (near->shape[k].dim[d] >= 0 && near->shape[k].dim[d] != in[k]->dim[d]) {
                e->value[1] = near->shape[k].dim[d];
                e->value[2] = in[k]->dim[d];
                return;
            }
}

static _Thread_local ef_event_new *tracing; /* the event of the trace that is being made */

void ef_trace_explain(ef_event_reason reason, uint32_t note, int64_t before, int64_t now) {
    if (tracing == NULL) return;
    tracing->reason = reason;
    tracing->note = note;
    tracing->value[1] = before;
    tracing->value[2] = now;
}

/* Arguments inside another trace have symbols of that trace, which must not be used again. */
static int first_free_symbol(const ef_shape *shape, int n) {
    int first = 0, s;
    int64_t a, b;
    for (int k = 0; k < n; k++)
        for (int d = 0; d < shape[k].rank; d++)
            if (ef_dim_parts(shape[k].dim[d], &s, &a, &b) && s >= first) first = s + 1;
    return first;
}

/* Symbols belong to one graph. If the arguments come from several graphs, their symbolic sizes
 * become unknown. */
static void separate_symbols(const ef_tensor *const *in, int n_in, ef_shape *shape) {
    const ef_storage *graph = NULL;
    bool several = false;
    for (int k = 0; k < n_in; k++) {
        if (!(in[k]->flags & EF_TENSOR_SYMBOLIC)) continue;
        several = several || (graph != NULL && graph != in[k]->storage);
        graph = in[k]->storage;
    }
    for (int k = 0; several && k < n_in; k++)
        for (int d = 0; d < shape[k].rank; d++)
            if (shape[k].dim[d] < 0) shape[k].dim[d] = EF_DIM_UNKNOWN;
}

/* What a new trace is made for, and how. */
typedef struct wanted {
    ef_tracer *tracer;
    ef_shape *shape; /* of each argument, for the trace's signature */
    ef_shape *real;  /* as the traced program is to see it */
    uint32_t *read;  /* by argument: dims whose size earlier traces read, a bit each */
} wanted;

/* Sizes that differ from those of `near` get a symbol, unless traces read them; sizes that are
 * equal, and were equal in `near`, share one. A size that is unknown here but known in the call of
 * the trace around this one gets a symbol too. */
static void relax(const ef_function *f, const ef_trace *near, int n_in, wanted *w) {
    struct {
        int64_t was, now;
    } seen[EF_MAX_SYMBOLS];
    int n = 0, first = first_free_symbol(w->shape, n_in);
    for (int k = 0; k < n_in; k++)
        for (int d = 0; d < w->shape[k].rank; d++) {
            int64_t *now = &w->shape[k].dim[d], *real = &w->real[k].dim[d];
            int64_t was = near != NULL ? near->shape[k].dim[d] : *now;
            bool hidden = *now == EF_DIM_UNKNOWN && *real >= 0;
            if (!hidden && (was == *now || *now < 0 || (w->read[k] >> d & 1))) continue;
            if (f->relax != EF_RELAX_SEEN) *real = EF_DIM_UNKNOWN;
            int j = 0;
            while (j < n && (hidden || seen[j].was != was || seen[j].now != *now)) j++;
            if (first + j >= EF_MAX_SYMBOLS) { /* no symbol is left: the trace has this size */
                *now = *real;
                continue;
            }
            if (j == n) {
                seen[n].was = hidden ? EF_DIM_UNKNOWN : was;
                seen[n++].now = *now;
            }
            *now = ef_dim_symbol(first + j);
        }
}

/* ---- tracing
 * -------------------------------------------------------------------------------------- */

/* The number of nodes that have inputs. */
static size_t count_work(const ef_graph *g) {
    size_t n = 0;
    for (size_t k = 0; k < g->n_nodes; k++) n += g->node[k]->n_in > 0;
    return n;
}

/* A parameter, with the size of this call where it is symbolic. */
static ef_status *add_parameter(ef_graph *g, const ef_tensor *in, const ef_shape *shape,
                                const ef_shape *real) {
    ef_edge e;
    ef_fact handle, fact = {.dtype = (ef_dtype)in->dtype, .shape = *shape};
    const ef_variable *v = (const ef_variable *)ef_tensor_object(in, EF_OBJECT_VARIABLE);
    if (v != NULL) {
        handle = (ef_fact){.dtype = v->dtype, .shape = v->shape};
        fact.handle = &handle;
    }
    EF_TRY(ef_graph_input_like(g, &fact, NULL, &e));
    if (v != NULL) g->node[e.node]->trains = v->trainable;
    bool seen = false;
    for (int d = 0; d < shape->rank; d++)
        seen = seen || (shape->dim[d] < 0 && real->rank > d && real->dim[d] >= 0);
    if (!seen) return NULL;
    if (g->sizes == NULL && (g->sizes = ef_sizes_new(NULL)) == NULL)
        return ef_no_memory(sizeof *g->sizes);
    for (int d = 0; d < shape->rank; d++) {
        int s;
        int64_t a, b;
        if (ef_dim_parts(shape->dim[d], &s, &a, &b) && a == 1 && b == 0)
            g->sizes->size[s] = real->dim[d];
    }
    return ef_graph_set_real(g, e, real);
}

/* Sizes that the traced program read become part of the trace's signature, and count as read in the
 * trace around it. */
static void add_read_sizes(ef_sizes *sizes, const ef_tensor *const *in, int n_in, ef_trace *t) {
    for (int k = 0; k < n_in; k++) {
        ef_shape real = ef_tensor_real(in[k]);
        for (int d = 0; d < real.rank; d++) {
            int s;
            int64_t a, b, dim = t != NULL && t->shape[k].rank > d ? t->shape[k].dim[d] : 0;
            if (t == NULL) { /* tracing failed, and the outer program may depend on that */
                if (sizes->read != 0) ef_tensor_read_size(in[k], d);
                continue;
            }
            if (!ef_dim_parts(dim, &s, &a, &b) || !(sizes->read >> s & 1)) continue;
            t->read[k] |= UINT32_C(1) << d;
            t->shape[k].dim[d] = real.dim[d];
            ef_tensor_read_size(in[k], d);
        }
    }
}

static ef_status *make_trace(ef_function *f, const ef_tensor *const *in, int n_in, const wanted *w,
                             ef_trace **out) {
    ef_graph *g = ef_graph_make();
    if (g == NULL) return ef_no_memory(sizeof *g);
    g->function = true;
    ef_status *s = NULL;
    ef_trace_notes notes = {0};
    for (int k = 0; k < n_in && s == NULL; k++)
        s = add_parameter(g, in[k], &w->shape[k], &w->real[k]);
    ef_sizes *sizes = ef_sizes_ref(g->sizes); /* the graph may take those around it */
    if (s == NULL) s = w->tracer(g, f->trace, f->user, &notes);
    if (s == NULL) s = ef_trace_make(g, out);
    if (s == NULL && g->random_scope != 0) {
        ef_mutex_lock(&f->lock);
        if (f->random_scope == 0) f->random_scope = g->random_scope;
        g->random_scope = f->random_scope;
        ef_mutex_unlock(&f->lock);
    }
    if (s == NULL) {
        (*out)->user = notes.user;
        (*out)->user_ref = notes.user_ref;
        (*out)->user_end = notes.user_end;
        (*out)->general = sizes != NULL;
        const ef_graph *runs = (*out)->closed;
        (*out)->loose = sizes != NULL && runs != NULL && count_work(g) > count_work(runs);
        for (int k = 0; k < n_in && notes.sizes; k++) (*out)->read[k] = UINT32_MAX;
    } else if (notes.user_end != NULL) {
        notes.user_end(notes.user);
    }
    if (sizes != NULL) {
        sizes->closed = true;
        add_read_sizes(sizes, in, n_in, s == NULL ? *out : NULL);
    }
    ef_sizes_unref(sizes);
    ef_graph_unref(g);
    return s == NULL ? NULL : ef_status_add(s, "while tracing %s", f->name);
}

/* Under the lock. *gone is the trace that was evicted or replaced, to be released after the lock:
 * releasing it may run destructors of the user's objects. */
static ef_status *remember(ef_function *f, ef_trace *t, const ef_trace *replaces, ef_trace **gone) {
    EF_TRY(EF_GROW(&f->traces, &f->cap_traces, f->n_traces + 1));
    size_t at = f->n_traces;
    for (size_t k = 0; k < f->n_traces; k++)
        if (f->traces[k] == replaces) at = k;
    if (at == f->n_traces && f->n_traces >= EF_FUNCTION_TRACES) at = f->n_traces - 1;
    if (at < f->n_traces)
        *gone = f->traces[at];
    else
        f->n_traces++;
    memmove(f->traces + 1, f->traces, at * sizeof *f->traces);
    f->traces[0] = t;
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    t->bytes = sizeof *t + ef_graph_bytes(t->graph);
    if (t->closed != NULL) t->bytes += ef_graph_bytes(t->closed);
    t->used = ef_budget_charge(EF_KEPT_TRACES, t->bytes);
    note_oldest(f);
    return NULL;
}

/* Sizes that ef_function_open_sizes named are unknown in every trace. */
static void open_sizes(const ef_function *f, int n_in, wanted *w) {
    for (int k = 0; k < n_in && (size_t)k < f->n_open; k++)
        for (int d = 0; d < w->shape[k].rank; d++)
            if (f->open[k] >> d & 1) w->shape[k].dim[d] = w->real[k].dim[d] = EF_DIM_UNKNOWN;
}

/* No lock is held while the user's function runs; `near` is counted. exact: the trace is made for
 * exactly these sizes. */
static ef_status *trace_near(ef_function *f, const ef_trace *near, bool exact,
                             const ef_tensor *const *in, int n_in, wanted *w, ef_trace **out) {
    for (int k = 0; k < n_in; k++) {
        w->shape[k] = f->fixed ? f->fixed_shape[k] : ef_shape_from(in[k]);
        w->real[k] = f->fixed ? f->fixed_shape[k] : ef_tensor_real(in[k]);
    }
    separate_symbols(in, n_in, w->shape);
    if (!f->fixed) open_sizes(f, n_in, w);
    if (!f->fixed && f->relax != EF_RELAX_NEVER && !exact) relax(f, near, n_in, w);
    for (int k = 0; k < n_in && !f->fixed; k++)
        for (int d = 0; d < w->shape[k].rank; d++)
            if (in[k]->dim[d] < 0 && w->shape[k].dim[d] >= 0) ef_tensor_read_size(in[k], d);
    EF_TRY(make_trace(f, in, n_in, w, out));
    bool looked = false;
    for (int k = 0; k < n_in; k++) looked = looked || (*out)->read[k] == UINT32_MAX;
    if (!looked || (*out)->general || near == NULL || exact) return NULL;
    ef_trace_unref(*out); /* it needs sizes that were unknown: it is traced again with these */
    for (int k = 0; k < n_in; k++) w->shape[k] = w->real[k] = ef_shape_from(in[k]);
    open_sizes(f, n_in, w);
    return make_trace(f, in, n_in, w, out);
}

static ef_status *trace_anew(ef_function *f, ef_tracer *tracer, const ef_tensor *const *in,
                             int n_in, bool exact, ef_trace **out) {
    ef_trace *held = NULL, *gone = NULL;
    size_t each = 2 * sizeof(ef_shape) + sizeof(uint32_t);
    wanted w = {.tracer = tracer, .shape = ef_calloc((size_t)n_in + 1, each)};
    if (w.shape == NULL) return ef_no_memory((size_t)n_in * each);
    w.real = w.shape + n_in;
    w.read = (uint32_t *)(w.real + n_in);
    ef_mutex_lock(&f->lock);
    for (size_t k = 0; !f->fixed && k < f->n_traces; k++) {
        if (!fits_but_sizes(f->traces[k], in, n_in)) continue;
        if (held == NULL || (f->relax == EF_RELAX_KEEP && covers(f->traces[k], held)))
            held = f->traces[k];
        for (int i = 0; i < n_in; i++) w.read[i] |= f->traces[k]->read[i];
    }
    if (held != NULL) atomic_fetch_add_explicit(&held->refs, 1, memory_order_relaxed);
    ef_event_new event = {.kind = EF_EVENT_TRACE, .began = ef_event_clock()}, *outer = tracing;
    explain(f, held, in, n_in);
    reason_of(f, held, in, n_in, &event);
    ef_mutex_unlock(&f->lock);
    tracing = &event;
    ef_status *s = trace_near(f, held, exact, in, n_in, &w, out);
    tracing = outer;
    ef_free(w.shape);
    if (s == NULL) {
        ef_mutex_lock(&f->lock);
        f->n_made++;
        bool superseded = held != NULL && f->relax != EF_RELAX_KEEP && covers(*out, held);
        s = remember(f, *out, superseded ? held : NULL, &gone);
        ef_mutex_unlock(&f->lock);
        event.value[0] = (int64_t)(*out)->graph->n_nodes;
        ef_event_post(&event);
        if (gone != NULL && !superseded) ef_event_ended(EF_EVENT_EVICTION, 0, 0);
        if (s != NULL) ef_trace_unref(*out);
    }
    ef_trace_unref(gone);
    ef_trace_unref(held);
    ef_budget_keep();
    return s;
}

ef_status *ef_function_trace_exact(ef_function *f, ef_tracer *tracer, const ef_tensor *const *in,
                                   int n_in, ef_trace **out) {
    if (f->fixed) return ef_function_trace(f, tracer, in, n_in, out);
    ef_trace *found = NULL;
    ef_mutex_lock(&f->lock);
    for (size_t k = 0; k < f->n_traces && found == NULL; k++)
        if (!f->traces[k]->general && ef_trace_fits(f->traces[k], in, n_in)) found = f->traces[k];
    if (found != NULL) atomic_fetch_add_explicit(&found->refs, 1, memory_order_relaxed);
    ef_mutex_unlock(&f->lock);
    *out = found;
    return found != NULL ? NULL : trace_anew(f, tracer, in, n_in, true, out);
}

/* Python code that was traced with unknown sizes may behave differently from code that saw them. So
 * of all traces from k on that fit, a call takes the most specific one. */
static size_t narrowest(const ef_function *f, size_t k, const ef_tensor *const *in, int n_in) {
    for (size_t j = k + 1; j < f->n_traces && !f->fixed; j++)
        if (ef_trace_fits(f->traces[j], in, n_in) && covers(f->traces[k], f->traces[j])) k = j;
    return k;
}

ef_status *ef_function_trace(ef_function *f, ef_tracer *tracer, const ef_tensor *const *in,
                             int n_in, ef_trace **out) {
    if (EF_UNLIKELY(f->fixed)) EF_TRY(check_signature(f, in, n_in));
    ef_mutex_lock(&f->lock);
    f->calls++;
    for (size_t k = 0; k < f->n_traces; k++) {
        ef_trace *t = f->traces[k];
        if (!f->fixed && !ef_trace_fits(t, in, n_in)) continue;
        if (EF_UNLIKELY(f->relax == EF_RELAX_KEEP)) t = f->traces[k = narrowest(f, k, in, n_in)];
        if (EF_UNLIKELY(k > 0)) {
            memmove(f->traces + 1, f->traces, k * sizeof *f->traces);
            f->traces[0] = t;
        }
        t->used = ef_budget_now();
        note_oldest(f);
        atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
        ef_mutex_unlock(&f->lock);
        *out = t;
        return NULL;
    }
    ef_mutex_unlock(&f->lock);
    return trace_anew(f, tracer, in, n_in, false, out);
}

ef_status *ef_function_set_signature(ef_function *f, const ef_dtype *dtype, const ef_shape *shape,
                                     int n) {
    if (f == NULL || n < 0 || (n > 0 && (dtype == NULL || shape == NULL)))
        return ef_error(EF_INVALID, "ef_function_set_signature: function, dtypes and shapes must "
                                    "not be NULL");
    for (int k = 0; k < n; k++)
        if (ef_dtype_size(dtype[k]) == 0 || shape[k].rank < -1 || shape[k].rank > EF_MAX_RANK)
            return ef_error(EF_INVALID,
                            "%s: argument %d of the signature has no dtype or a bad rank", f->name,
                            k);
    if (f->n_traces > 0 || f->fixed)
        return ef_error(EF_FAILED_PRECONDITION,
                        "%s: the signature must be given once, before the first call", f->name);
    f->fixed_dtype = ef_malloc(((size_t)n + 1) * sizeof *dtype);
    f->fixed_shape = ef_malloc(((size_t)n + 1) * sizeof *shape);
    if (f->fixed_dtype == NULL || f->fixed_shape == NULL) {
        ef_free(f->fixed_dtype);
        ef_free(f->fixed_shape);
        f->fixed_dtype = NULL;
        f->fixed_shape = NULL;
        return ef_no_memory((size_t)n * sizeof *shape);
    }
    if (n > 0) memcpy(f->fixed_dtype, dtype, (size_t)n * sizeof *dtype);
    if (n > 0) memcpy(f->fixed_shape, shape, (size_t)n * sizeof *shape);
    f->n_fixed = n;
    f->fixed = true;
    return NULL;
}

void ef_function_set_relax(ef_function *f, ef_relax how) {
    if (f != NULL) f->relax = how;
}

ef_status *ef_function_open_sizes(ef_function *f, int argument, uint32_t dims) {
    if (f == NULL || argument < 0)
        return ef_error(EF_INVALID,
                        "ef_function_open_sizes: function must not be NULL, and argument %d must "
                        "not be negative",
                        argument);
    EF_TRY(EF_GROW(&f->open, &f->cap_open, (size_t)argument + 1));
    while (f->n_open <= (size_t)argument) f->open[f->n_open++] = 0;
    f->open[argument] |= dims;
    return NULL;
}

void ef_function_info_get(ef_function *f, ef_function_info *out) {
    ef_mutex_lock(&f->lock);
    *out = (ef_function_info){.calls = f->calls, .traces = f->n_made, .last_reason = f->reason};
    for (size_t k = 0; k < f->n_traces; k++) {
        uint64_t made, evicted, kept;
        ef_program_counts(f->traces[k]->program, &made, &evicted, &kept);
        out->plans += made;
    }
    ef_mutex_unlock(&f->lock);
}

int ef_function_traces(ef_function *f, void **user, ef_graph **graph, int max) {
    int n = 0;
    ef_mutex_lock(&f->lock);
    for (size_t k = 0; k < f->n_traces && n < max; k++) {
        ef_trace *t = f->traces[k];
        if (t->user == NULL || t->user_ref == NULL) continue;
        t->user_ref(t->user);
        user[n] = t->user;
        graph[n++] = ef_graph_ref(t->graph);
    }
    ef_mutex_unlock(&f->lock);
    return n;
}

void ef_function_own_traces(ef_function *f, void (*visit)(void *user, void *arg), void *arg) {
    ef_mutex_lock(&f->lock);
    for (size_t k = 0; k < f->n_traces; k++) {
        const ef_trace *t = f->traces[k];
        if (t->user != NULL && atomic_load_explicit(&t->refs, memory_order_acquire) == 1)
            visit(t->user, arg);
    }
    ef_mutex_unlock(&f->lock);
}
