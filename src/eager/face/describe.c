/* ef_graph_describe: a finished function with its parameters and captures, handed to the planner's
 * describer. */
#include "plan/describe.h"
#include "base/alloc.h"
#include "eager/function_call.h"
#include "evenflow_binding.h"
#include "ops/run.h"

enum { MOST_RUNS = 1000 };

static ef_status *check(const ef_graph *g, const ef_tensor *const *in, int n_in, int runs) {
    if (g == NULL) return ef_error(EF_INVALID, "ef_graph_describe: the graph is NULL");
    if (runs < 0 || runs > MOST_RUNS || (in == NULL && runs > 0))
        return ef_error(EF_INVALID,
                        "ef_graph_describe: %d runs were asked for; 0 to %d are possible, and any "
                        "only with arguments to run on",
                        runs, MOST_RUNS);
    if (in != NULL && (size_t)n_in != g->n_inputs)
        return ef_error(EF_INVALID,
                        "ef_graph_describe: the function takes %zu arguments but %d were given",
                        g->n_inputs, n_in);
    for (int k = 0; in != NULL && k < n_in; k++) {
        const ef_fact *want = g->node[g->input[k]]->out;
        if (in[k] == NULL || (ef_dtype)in[k]->dtype != want->dtype)
            return ef_error(EF_INVALID,
                            "ef_graph_describe: argument %d must be %s, as the function was "
                            "traced",
                            k, ef_dtype_name(want->dtype));
    }
    return NULL;
}

/* Input k of the subgraph that runs: a value with its fact, or only the fact of the function's
 * input. */
static ef_status *input_at(ef_trace *t, const ef_tensor *const *in, int k, ef_tensor **value,
                           ef_fact *fact, ef_fact *handle) {
    const ef_tensor *v = NULL;
    if (k >= t->n_in)
        v = &t->graph->capture[t->captures[k - t->n_in]].tensor;
    else if (in != NULL)
        v = in[k];
    if (v == NULL || (v->flags & EF_TENSOR_SYMBOLIC)) {
        if (v != NULL && in != NULL && k < t->n_in)
            return ef_error(EF_INVALID,
                            "ef_graph_describe: argument %d is a tensor of a graph; give a value",
                            k);
        ef_graph *closed;
        EF_TRY(ef_trace_closed(t, &closed));
        *fact = *closed->node[closed->input[k]]->out;
        *value = NULL;
    } else {
        *value = (ef_tensor *)v;
        EF_TRY(ef_tensor_materialize(*value));
        ef_fact_of(v, fact, handle);
    }
    fact->value = NULL; /* a plan serves every value of its shapes */
    return NULL;
}

ef_status *ef_graph_describe(ef_graph *g, const ef_tensor *const *in, int n_in, int runs,
                             char **text) {
    ef_trace *t;
    if (text == NULL) return ef_error(EF_INVALID, "ef_graph_describe: text is NULL");
    EF_TRY(check(g, in, n_in, runs));
    EF_TRY(ef_graph_callable(g, &t));
    size_t n = (size_t)(t->n_in + t->n_captures) + 1;
    ef_fact *fact = ef_calloc(2 * n, sizeof *fact);
    ef_tensor **value = ef_calloc(n, sizeof(ef_tensor *));
    ef_status *s = fact != NULL && value != NULL ? NULL : ef_no_memory(n * sizeof *fact);
    for (int k = 0; s == NULL && k < t->n_in + t->n_captures; k++) {
        s = input_at(t, in, k, &value[k], &fact[k], &fact[n + (size_t)k]);
        if (s == NULL && value[k] == NULL && runs > 0)
            s = ef_error(EF_INVALID, "ef_graph_describe: the function uses a tensor of an outer "
                                     "graph, so it cannot be run here; ask for 0 runs");
    }
    ef_graph *closed = NULL;
    if (s == NULL) s = ef_trace_closed(t, &closed);
    if (s == NULL) s = ef_describe(ef_context_here(), closed, fact, value, runs, text);
    ef_free(fact);
    ef_free(value);
    return s;
}
