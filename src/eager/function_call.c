/* Calling functions. Outside a graph the trace's program runs; inside one the call becomes a node;
 * under a tape the augmented program runs, which also returns the values that the derivative needs.
 */
#include "eager/function_call.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "eager/context.h"
#include "eager/tape/tape.h"
#include "evenflow_binding.h"
#include "graph/control.h"
#include "ops/engine_nodes.h"
#include "ops/random/random.h"
#include "plan/locate.h"

/* ---- control flow at top level
 * ------------------------------------------------------------------------ */

ef_status *ef_single_node(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                          int n_in, ef_graph **out) {
    ef_graph *g = ef_graph_make();
    ef_edge *edge = ef_malloc(((size_t)n_in + 1) * sizeof *edge);
    ef_edge *result = NULL;
    ef_status *s = NULL;
    if (g == NULL || edge == NULL) {
        s = ef_no_memory((size_t)n_in * sizeof *edge);
        goto done;
    }
    g->function = true;
    for (int k = 0; k < n_in; k++) {
        ef_fact handle, fact = {.dtype = (ef_dtype)in[k]->dtype, .shape = ef_shape_from(in[k])};
        const ef_variable *v = (const ef_variable *)ef_tensor_object(in[k], EF_OBJECT_VARIABLE);
        if (v != NULL) {
            handle = (ef_fact){.dtype = v->dtype, .shape = v->shape};
            fact.handle = &handle;
        }
        EF_TRY_GOTO(ef_graph_input_like(g, &fact, NULL, &edge[k]));
    }
    int32_t node = 0;
    EF_TRY_GOTO(ef_graph_add(g, op, attrs, edge, n_in, NULL, &node));
    size_t n_out = (size_t)g->node[node]->n_out;
    if ((result = ef_malloc((n_out + 1) * sizeof *result)) == NULL) {
        s = ef_no_memory(n_out * sizeof *result);
        goto done;
    }
    for (size_t k = 0; k < n_out; k++) result[k] = (ef_edge){node, (int32_t)k};
    EF_TRY_GOTO(ef_graph_set_outputs(g, result, (int)n_out));
    *out = ef_graph_ref(g);
done:
    ef_graph_unref(g);
    ef_free(edge);
    ef_free(result);
    return s;
}

static ef_status *materialize_all(const ef_tensor *const *in, int n) {
    for (int k = 0; k < n; k++) {
        if (EF_UNLIKELY(in[k]->flags & EF_TENSOR_SYMBOLIC))
            return ef_error(EF_INVALID,
                            "a function that uses a tensor of an outer graph (%s) was called "
                            "outside of that graph; call it inside",
                            EF_TENSOR(in[k]));
        EF_TRY(ef_tensor_materialize_there((ef_tensor *)in[k]));
    }
    return NULL;
}

ef_status *ef_call_control(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                           int n_in, ef_tensor *out, int max_out, int *n_out) {
    ef_graph *g = NULL;
    EF_TRY(materialize_all(in, n_in));
    EF_TRY(ef_single_node(op, attrs, in, n_in, &g));
    ef_status *s = NULL;
    ef_program *p = NULL;
    ef_derivative *d = NULL;
    *n_out = (int)g->n_outputs;
    if (*n_out > max_out)
        s = ef_error(EF_INVALID, "%s: has %d outputs but there is room for %d only", op->name,
                     *n_out, max_out);
    else if ((ef_here.busy & EF_TAPING) && ef_tape_interested(in, n_in)) {
        if ((s = ef_derivative_find(g, &d)) == NULL)
            s = ef_derivative_run(d, (ef_tensor *const *)in, n_in, out, *n_out);
    } else if ((s = ef_compile(g, &p)) == NULL) {
        s = ef_program_run(ef_context_here(), p, (ef_tensor *const *)in, out);
    }
    ef_derivative_unref(d);
    ef_program_unref(p);
    ef_graph_unref(g);
    return s;
}

/* ---- functions
 * ------------------------------------------------------------------------------------------ */

/* Parameters, then named constants of an opened trace, then captured tensors; returns how many. */
static int all_inputs(const ef_trace *t, const ef_tensor *const *in, const ef_tensor **all) {
    int n = 0, own = (int)t->graph->n_inputs;
    for (; n < own; n++) all[n] = in[n];
    for (; n < t->n_in; n++) all[n] = &t->graph->named[n - own].tensor;
    for (int k = 0; k < t->n_captures; k++) all[n++] = &t->graph->capture[t->captures[k]].tensor;
    return n;
}

/* NULL: no memory, while something else is being reported. */
static ef_graph *closed_or_null(ef_trace *t) {
    ef_graph *closed = NULL;
    ef_status_free(ef_trace_closed(t, &closed));
    return closed;
}

/* The program that failed is the forward one of a derivative of some order. The forward graphs of
 * the caller's own graph are made again to find the line that made the failed node. */
static ef_status *locate_taped(ef_status *s, ef_trace *t, const char *name) {
    ef_derivative *d = (ef_derivative *)t->gradient;
    ef_graph *at = closed_or_null(t);
    if (at != NULL) ef_graph_ref(at);
    for (; d != NULL && s != NULL && at != NULL; d = d->of_forward) {
        ef_function_gradient own = {0};
        ef_status *bad = ef_differentiate(at, &own);
        ef_graph_unref(at);
        at = bad == NULL ? ef_graph_ref(own.forward) : NULL;
        ef_function_gradient_free(&own);
        ef_status_free(bad);
        if (at != NULL) s = ef_locate(s, at, d->forward, name);
    }
    ef_graph_unref(at);
    return s;
}

static ef_status *call_taped(ef_trace *t, const char *name, const ef_tensor *const *all, int n,
                             ef_tensor *out) {
    EF_TRY(materialize_all(all, n));
    if (t->gradient == NULL) {
        ef_derivative *d = NULL;
        ef_graph *closed;
        EF_TRY(ef_trace_closed(t, &closed));
        EF_TRY(ef_derivative_find(closed, &d));
        ef_owned *none = NULL; /* another thread may have made it meanwhile */
        if (!atomic_compare_exchange_strong(&t->gradient, &none, &d->owned)) ef_derivative_unref(d);
    }
    ef_status *s =
        ef_derivative_run((ef_derivative *)t->gradient, (ef_tensor *const *)all, n, out, t->n_out);
    return EF_LIKELY(s == NULL) ? NULL : locate_taped(s, t, name);
}

/* Inside another graph: one call node. */
static ef_status *call_recorded(ef_trace *t, const ef_tensor *const *all, int n, ef_tensor *out,
                                int *n_out) {
    bool effects = false;
    ef_graph *closed;
    EF_TRY(ef_trace_closed(t, &closed));
    for (size_t k = 0; k < closed->n_nodes; k++)
        effects = effects || (closed->node[k]->op->traits & (EF_STATEFUL | EF_EFFECT));
    ef_dtype *types = ef_malloc(((size_t)t->n_out + 1) * sizeof *types);
    if (types == NULL) return ef_no_memory((size_t)t->n_out * sizeof *types);
    for (int k = 0; k < t->n_out; k++) types[k] = ef_edge_fact(closed, closed->output[k])->dtype;
    ef_made made;
    ef_status *s = ef_made_call(closed, t->n_out, types, effects, &made);
    ef_free(types);
    if (s != NULL) return s;
    s = ef_record(ef_here.graph, made.op, made.attrs, all, n, out, t->n_out, n_out);
    ef_attrs_unref(made.attrs);
    return s;
}

/* Whether the values that became constants of the trace must be parameters in this call: a tape
 * watches them, or a tape of an outer trace may. */
static bool wants_names(const ef_trace *t) {
    if (EF_LIKELY(ef_here.busy == 0) || t->graph->n_named == 0) return false;
    if (ef_here.busy & EF_TRACING) return true;
    for (size_t k = 0; k < t->graph->n_named && (ef_here.busy & EF_TAPING); k++) {
        const ef_tensor *named = &t->graph->named[k].tensor;
        if (ef_tape_interested(&named, 1)) return true;
    }
    return false;
}

/* Random ops have their own sequence in each trace that TensorFlow would make: for each combination
 * of dtypes and sizes, except sizes that the signature leaves open, even where one trace serves
 * several of them here. A call under a tape runs another function in TensorFlow. */
static uint64_t random_scope(const ef_trace *t, const ef_tensor *const *in, bool taped) {
    uint64_t scope =
        ef_hash_mix(ef_hash_mix(0, ef_random_scope), t->graph->random_scope * 2 + taped);
    for (int k = 0; k < t->n_in && k < (int)t->graph->n_inputs; k++) {
        scope = ef_hash_mix(scope, (uint64_t)in[k]->dtype << 8 | (uint64_t)t->shape[k].rank);
        for (int d = 0; d < t->shape[k].rank; d++)
            if (t->shape[k].dim[d] != EF_DIM_UNKNOWN)
                scope = ef_hash_mix(scope, (uint64_t)in[k]->dim[d]);
    }
    return scope;
}

static ef_status *run_trace(ef_trace *t, const char *name, const ef_tensor *const *all, int n,
                            ef_tensor *out) {
    bool taped = (ef_here.busy & EF_TAPING) && ef_tape_interested(all, n);
    uint64_t before = ef_random_scope;
    if (EF_UNLIKELY(t->graph->random_scope != 0)) ef_random_scope = random_scope(t, all, taped);
    ef_status *s = taped ? call_taped(t, name, all, n, out) : materialize_all(all, n);
    if (!taped && s == NULL) {
        s = ef_program_run(ef_context_here(), t->program, (ef_tensor *const *)all, out);
        if (EF_UNLIKELY(s != NULL)) s = ef_locate(s, closed_or_null(t), t->program, name);
    }
    ef_random_scope = before;
    return s;
}

/* Runs or records a trace on its parameters, by what the thread is doing. */
static ef_status *call_trace(ef_trace *t, const char *name, const ef_tensor *const *in,
                             ef_tensor *out, int max_out, int *n_out) {
    ef_status *s;
    if (EF_UNLIKELY(wants_names(t))) EF_TRY(ef_trace_open(t, &t));
    const ef_tensor *few[24], **own = few;
    const ef_tensor *const *all = in; /* as they are, if the trace needs nothing else */
    int n = t->n_in;
    size_t room = (size_t)(t->n_in + t->n_captures);
    *n_out = t->n_out;
    if (t->n_out > max_out || (t->n_out > 0 && out == NULL))
        return ef_error(EF_INVALID, "%s: gives %d results but there is room for %d only", name,
                        t->n_out, max_out);
    if (room > 24 && (own = ef_malloc(room * sizeof *own)) == NULL)
        return ef_no_memory(room * sizeof *own);
    if (room > t->graph->n_inputs) {
        n = all_inputs(t, in, own);
        all = own;
    }
    if (ef_here.busy & EF_TRACING)
        s = call_recorded(t, all, n, out, n_out);
    else
        s = run_trace(t, name, all, n, out);
    if (own != few) ef_free(own);
    return s;
}

static ef_status *check_call(const char *name, const ef_tensor *const *in, int n_in) {
    for (int k = 0; k < n_in; k++)
        if (in[k] == NULL || in[k]->dtype == EF_NO_DTYPE)
            return ef_error(EF_INVALID, "%s: argument %d is NULL or released", name, k);
    return NULL;
}

/* The data of the trace's maker, with a reference for the caller. */
static void hand_out(const ef_trace *t, void **user) {
    if (user == NULL) return;
    *user = t->user;
    if (t->user != NULL && t->user_ref != NULL) t->user_ref(t->user);
}

/* Whether the trace cannot be run with such arguments because their sizes do not fit. */
static bool misfits(ef_trace *t, const ef_tensor *const *in) {
    size_t n = (size_t)(t->n_in + t->n_captures);
    const ef_tensor **all = ef_malloc((n + 1) * sizeof *all);
    ef_fact *fact = ef_calloc(2 * n + 1, sizeof *fact);
    ef_shape *out = ef_malloc(((size_t)t->n_out + 1) * sizeof *out);
    bool bad = false;
    if (all != NULL && fact != NULL && out != NULL) {
        all_inputs(t, in, all);
        for (size_t k = 0; k < n; k++) {
            const ef_variable *v =
                (const ef_variable *)ef_tensor_object(all[k], EF_OBJECT_VARIABLE);
            fact[k] = (ef_fact){.dtype = (ef_dtype)all[k]->dtype, .shape = ef_shape_from(all[k])};
            if (v == NULL) continue;
            fact[n + k] = (ef_fact){.dtype = v->dtype, .shape = v->shape};
            fact[k].handle = &fact[n + k];
        }
        ef_graph *closed = NULL;
        ef_status *s = ef_trace_closed(t, &closed);
        if (s == NULL) {
            s = ef_graph_through(closed, fact, out);
            bad = s != NULL;
        }
        ef_status_free(s);
    }
    ef_free(all);
    ef_free(fact);
    ef_free(out);
    return bad;
}

/* A trace that was made for other sizes failed on these. If the sizes are the reason, tracing with
 * them fails too, with the error that a first call with them would give. */
static ef_status *call_exactly(ef_function *f, const ef_tensor *const *in, int n_in, ef_trace **t,
                               ef_tensor *out, int max_out, int *n_out, ef_status *failed) {
    if (!(*t)->general || (ef_here.busy & EF_TRACING) || *n_out > max_out ||
        ef_status_code(failed) != EF_INVALID || !misfits(*t, in))
        return failed;
    ef_trace *exact;
    ef_status_free(failed);
    EF_TRY(ef_function_trace_exact(f, ef_trace_now, in, n_in, &exact));
    ef_trace_unref(*t);
    *t = exact;
    return call_trace(*t, f->name, in, out, max_out, n_out);
}

ef_status *ef_function_call_held(ef_function *f, const ef_tensor *const *in, int n_in,
                                 ef_tensor *out, int max_out, int *n_out, void **user,
                                 ef_trace **held) {
    *user = NULL;
    *held = NULL;
    if (f == NULL || n_in < 0 || (n_in > 0 && in == NULL) || n_out == NULL)
        return ef_error(EF_INVALID, "ef_function_call: function, in and n_out must not be NULL");
    ef_eager_start();
    ef_graph *home;
    EF_TRY(check_call(f->name, in, n_in));
    EF_TRY(ef_enter_home(f->name, in, n_in, &home));
    ef_trace *t;
    ef_status *s = ef_function_trace(f, ef_trace_now, in, n_in, &t);
    if (s == NULL) {
        s = call_trace(t, f->name, in, out, max_out, n_out);
        if (EF_UNLIKELY(s != NULL)) s = call_exactly(f, in, n_in, &t, out, max_out, n_out, s);
        if (s == NULL) {
            *user = t->user;
            *held = t;
        } else {
            ef_trace_unref(t);
        }
    }
    ef_leave_home(home);
    return s;
}

void ef_trace_leave(ef_trace *held) { ef_trace_unref(held); }

ef_status *ef_function_call_user(ef_function *f, const ef_tensor *const *in, int n_in,
                                 ef_tensor *out, int max_out, int *n_out, void **user) {
    ef_trace *t;
    void *unused;
    if (user != NULL) *user = NULL;
    EF_TRY(ef_function_call_held(f, in, n_in, out, max_out, n_out, &unused, &t));
    hand_out(t, user);
    ef_trace_unref(t);
    return NULL;
}

ef_status *ef_function_call(ef_function *f, const ef_tensor *const *in, int n_in, ef_tensor *out,
                            int max_out, int *n_out) {
    return ef_function_call_user(f, in, n_in, out, max_out, n_out, NULL);
}

ef_status *ef_function_trace_for(ef_function *f, const ef_dtype *dtype, const ef_shape *shape,
                                 int n, ef_graph **graph, void **user) {
    if (f == NULL || n < 0 || (n > 0 && (dtype == NULL || shape == NULL)))
        return ef_error(EF_INVALID, "ef_function_trace_for: function, dtypes and shapes must not "
                                    "be NULL");
    ef_eager_start();
    ef_tensor *like = ef_calloc((size_t)n + 1, sizeof *like + sizeof(ef_tensor *));
    if (like == NULL) return ef_no_memory((size_t)n * sizeof *like);
    const ef_tensor **in = (const ef_tensor **)(like + n + 1);
    for (int k = 0; k < n; k++) {
        ef_tensor_shape_set(&like[k], dtype[k], &shape[k]);
        in[k] = &like[k];
    }
    if (user != NULL) *user = NULL;
    ef_trace *t;
    ef_status *s = ef_function_trace_exact(f, ef_trace_now, in, n, &t);
    if (s == NULL) {
        hand_out(t, user);
        if (graph != NULL) *graph = ef_graph_ref(t->graph);
        ef_trace_unref(t);
    }
    ef_free(like);
    return s;
}

/* ---- finished graphs
 * ------------------------------------------------------------------------------------ */

ef_status *ef_graph_callable(ef_graph *g, ef_trace **out) {
    ef_owned *known = atomic_load_explicit(&g->callable, memory_order_acquire);
    if (known == NULL) {
        ef_trace *t;
        EF_TRY(ef_trace_make(g, &t));
        t->borrowed = true; /* the graph owns it, so it must not own the graph */
        ef_graph_unref(g);
        if (atomic_compare_exchange_strong(&g->callable, &known, &t->owned))
            known = &t->owned;
        else
            ef_trace_unref(t);
    }
    *out = (ef_trace *)known; /* it begins with `owned` */
    return NULL;
}

ef_status *ef_graph_call(ef_graph *g, const ef_tensor *const *in, int n_in, ef_tensor *out,
                         int max_out, int *n_out) {
    if (g == NULL || n_in < 0 || (n_in > 0 && in == NULL) || n_out == NULL)
        return ef_error(EF_INVALID, "ef_graph_call: graph, in and n_out must not be NULL");
    if ((size_t)n_in != g->n_inputs)
        return ef_error(EF_INVALID,
                        "ef_graph_call: the function takes %zu arguments but %d were "
                        "given",
                        g->n_inputs, n_in);
    ef_eager_start();
    ef_graph *home;
    EF_TRY(check_call("ef_graph_call", in, n_in));
    EF_TRY(ef_enter_home("ef_graph_call", in, n_in, &home));
    ef_trace *t;
    ef_status *s = ef_graph_callable(g, &t);
    if (s == NULL) s = call_trace(t, "ef_graph_call", in, out, max_out, n_out);
    ef_leave_home(home);
    return s;
}
