/* Making traces from graphs that were just traced. The program that a trace runs is found by the
 * structure of what runs: that is a copy, the closed graph, unless all of the traced graph runs and
 * its program is known already. So a function that is traced for one Python number after another
 * makes no copies. */
#include "base/alloc.h"
#include "graph/control.h"
#include "ops/random/random.h"
#include "runtime/function.h"

void ef_trace_unref(ef_trace *t) {
    if (t == NULL || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1) return;
    ef_trace_unref(t->opened);
    ef_owned *gradient = t->gradient;
    if (gradient != NULL) gradient->end(gradient);
    if (t->user_end != NULL) t->user_end(t->user);
    if (t->used > 0)
        ef_budget_credit(EF_KEPT_TRACES, t->bytes);
    else
        ef_budget_resize(EF_KEPT_TRACES, t->bytes, 0);
    if (!t->borrowed) ef_graph_unref(t->graph);
    ef_graph_unref(t->closed);
    ef_budget_resize(EF_KEPT_TRACES, t->closed_bytes, 0);
    ef_program_unref(t->program);
    ef_free(t);
}

static void trace_end(ef_owned *t) { ef_trace_unref((ef_trace *)t); }

/* A trace of n parameters and up to n_captures captures, in one block with its tables. */
static ef_trace *trace_new(size_t n, size_t n_captures) {
    size_t shapes = n * sizeof(ef_shape), reads = n * sizeof(uint32_t);
    ef_trace *t = ef_calloc(1, sizeof *t + shapes + reads + n_captures * sizeof(int32_t) + n);
    if (t == NULL) return NULL;
    t->owned.end = trace_end;
    atomic_init(&t->refs, 1);
    t->shape = (ef_shape *)(t + 1);
    t->read = (uint32_t *)(t->shape + n);
    t->captures = (int32_t *)(t->read + n);
    t->dtype = (uint8_t *)(t->captures + n_captures);
    return t;
}

/* Input k of a trace of g: a parameter or, after those, a named constant. */
static int32_t input_node(const ef_graph *g, size_t k) {
    return k < g->n_inputs ? g->input[k] : g->named[k - g->n_inputs].node;
}

/* A trace of g with its first n_named named constants as further parameters, not closed yet. */
static ef_status *trace_of(ef_graph *g, size_t n_named, ef_trace **out) {
    size_t n = g->n_inputs + n_named;
    ef_trace *t = trace_new(n, g->n_captures);
    if (t == NULL) return ef_no_memory(sizeof *t);
    t->graph = ef_graph_ref(g);
    t->n_nodes = g->n_nodes;
    t->n_in = (int)n;
    t->n_out = (int)g->n_outputs;
    for (size_t k = 0; k < n; k++) {
        const ef_fact *f = g->node[input_node(g, k)]->out;
        t->shape[k] = f->shape;
        t->dtype[k] = (uint8_t)f->dtype;
    }
    *out = t;
    return NULL;
}

/* Extracts the subgraph that runs. */
static ef_status *close_trace(ef_trace *t, ef_graph **out) {
    enum { FEW = 16 };
    const ef_graph *g = t->graph;
    size_t n = (size_t)t->n_in;
    ef_edge few[FEW] = {{0, 0}}, *feed = n <= FEW ? few : ef_malloc(n * sizeof *feed);
    if (feed == NULL) return ef_no_memory(n * sizeof *feed);
    for (size_t k = 0; k < n; k++) feed[k] = (ef_edge){input_node(g, k), 0};
    ef_status *s = ef_graph_extract(g, feed, t->n_in, g->output, t->n_out, NULL, 0, out,
                                    t->captures, &t->n_captures);
    if (feed != few) ef_free(feed);
    return s;
}

ef_status *ef_trace_closed(ef_trace *t, ef_graph **out) {
    *out = atomic_load_explicit(&t->closed, memory_order_acquire);
    if (*out != NULL) return NULL;
    ef_graph *made = NULL, *none = NULL;
    ef_graph_lock(t->graph);
    ef_status *s = ef_graph_extract_whole(t->graph, t->n_nodes, &made);
    ef_graph_unlock(t->graph);
    if (s != NULL) return s;
    size_t bytes = ef_graph_bytes(made);
    if (atomic_compare_exchange_strong(&t->closed, &none, made)) {
        t->closed_bytes = bytes;
        ef_budget_resize(EF_KEPT_TRACES, 0, bytes);
        *out = made;
    } else { /* another thread was faster */
        ef_graph_unref(made);
        *out = none;
    }
    return NULL;
}

static bool draws(const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        const ef_node *n = g->node[k];
        if (ef_op_draws(n->op)) return true;
        if (!(n->op->traits & EF_CONTROL)) continue;
        ef_control c;
        ef_control_of(n->op, n->fields, &c);
        for (int i = 0; i < c.n_funcs; i++)
            if (c.func[i] != NULL && draws(c.func[i])) return true;
    }
    return false;
}

/* Finds the program or makes it. The traced graph itself serves to find one, but not to make one,
 * since the program would keep it while others extend it. */
static ef_status *find_program(ef_trace *t) {
    ef_graph *closed = NULL;
    if (ef_graph_is_whole(t->graph)) EF_TRY(ef_compile_known(t->graph, &t->program));
    if (t->program != NULL) return NULL;
    EF_TRY(close_trace(t, &closed));
    atomic_init(&t->closed, closed);
    return ef_compile(closed, &t->program);
}

ef_status *ef_trace_make(ef_graph *g, ef_trace **out) {
    ef_trace *t;
    EF_TRY(trace_of(g, 0, &t));
    ef_status *s = find_program(t);
    const ef_graph *runs = t->closed != NULL ? t->closed : g;
    if (s == NULL && g->random_scope == 0 && draws(runs)) g->random_scope = ef_random_scope_new();
    if (s != NULL)
        ef_trace_unref(t);
    else
        *out = t;
    return s;
}

ef_status *ef_trace_open(ef_trace *t, ef_trace **out) {
    ef_trace *known = atomic_load_explicit(&t->opened, memory_order_acquire);
    if (known == NULL) {
        ef_trace *made;
        ef_graph *closed = NULL;
        EF_TRY(trace_of(t->graph, t->graph->n_named, &made));
        made->borrowed = true; /* t has the graph */
        ef_graph_unref(t->graph);
        ef_status *s = close_trace(made, &closed);
        if (s != NULL) {
            ef_trace_unref(made);
            return s;
        }
        atomic_init(&made->closed, closed);
        made->bytes = sizeof *made + ef_graph_bytes(closed);
        ef_budget_resize(EF_KEPT_TRACES, 0, made->bytes);
        if (atomic_compare_exchange_strong(&t->opened, &known, made))
            known = made;
        else
            ef_trace_unref(made);
        ef_budget_keep();
    }
    *out = known;
    return NULL;
}
