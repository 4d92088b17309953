/* Compiling and running functions of elements. */
#include "data/function.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "graph/control.h"
#include "ops/control/callback.h"
#include "ops/random/random.h"
#include "plan/compile.h"
#include "plan/locate.h"

static void look(ef_element_fn *f, const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        const ef_node *n = g->node[k];
        if (ef_op_draws(n->op)) f->draws = true;
        if (n->op->traits & EF_EFFECT) f->effects = true;
        if (ef_op_calls_back(n->op)) f->calls_back = true;
        if (!(n->op->traits & EF_CONTROL)) continue;
        ef_control c;
        ef_control_of(n->op, n->fields, &c);
        for (int i = 0; i < c.n_funcs; i++)
            if (c.func[i] != NULL) look(f, c.func[i]);
    }
}

ef_status *ef_element_fn_open(ef_element_fn *f, const ef_run *run, ef_graph *graph,
                              const ef_dataset *d, const char *more) {
    int n;
    const ef_tensor *given = ef_dataset_arg(d, more, &n);
    EF_TRY(ef_element_fn_make(f, graph, given, n));
    /* Both are small counts: mixed once, many pairs of them would give the same scope. */
    f->scope = ef_hash_mix(ef_hash_mix(0, run->random), d->number);
    f->no_end = EF_INTERNAL;
    return NULL;
}

ef_status *ef_element_fn_make(ef_element_fn *f, ef_graph *graph, const ef_tensor *more,
                              int n_more) {
    *f = (ef_element_fn){.graph = graph,
                         .more = more,
                         .n_more = n_more,
                         .n_in = (int)graph->n_inputs - n_more,
                         .n_out = (int)graph->n_outputs};
    if (f->n_in < 0)
        return ef_error(EF_INVALID, "a function of elements has %d inputs, but captured %d tensors",
                        (int)graph->n_inputs, n_more);
    look(f, graph);
    if (f->draws) f->scope = ef_random_scope_new();
    return ef_compile(graph, &f->program);
}

void ef_element_fn_close(ef_element_fn *f) {
    ef_program_unref(f->program);
    ef_program_unref(f->stacked);
    f->program = f->stacked = NULL;
}

ef_status *ef_element_fn_check(const ef_element_fn *f, const ef_dataset *d, int width) {
    if (f->n_in == width) return NULL;
    return ef_error(EF_INVALID,
                    "%s: the function takes %d tensors beside its captures, but elements have %d",
                    d->op->name, f->n_in, width);
}

enum { FEW = 16 };

static ef_status *failed(const ef_element_fn *f, ef_program *p, ef_status *s) {
    s = ef_locate(s, f->graph, p, NULL);
    if (f->no_end == 0 || ef_status_code(s) != EF_OUT_OF_RANGE) return s;
    return ef_status_add(ef_status_as(s, f->no_end),
                         "Function invocation produced OutOfRangeError");
}

static ef_status *run(const ef_element_fn *f, ef_program *p, const ef_tensor *in, int n,
                      const ef_tensor *rest, ef_tensor *out) {
    ef_tensor *few[FEW], **all = few;
    int n_all = f->n_in + f->n_more;
    if (n_all > FEW && (all = ef_malloc((size_t)n_all * sizeof *all)) == NULL)
        return ef_no_memory((size_t)n_all * sizeof *all);
    for (int k = 0; k < f->n_in; k++)
        all[k] = (ef_tensor *)(uintptr_t)(k < n ? in + k : rest + k - n);
    for (int k = 0; k < f->n_more; k++) all[f->n_in + k] = (ef_tensor *)(uintptr_t)(f->more + k);
    uint64_t before = f->draws ? ef_random_scope_enter(f->scope) : 0;
    ef_status *s = ef_program_run(ef_context_here(), p, all, out);
    if (f->draws) ef_random_scope_enter(before);
    if (all != few) ef_free(all);
    return EF_LIKELY(s == NULL) ? NULL : failed(f, p, s);
}

ef_status *ef_element_fn_run(const ef_element_fn *f, const ef_tensor *in, ef_tensor *out) {
    return run(f, f->program, in, f->n_in, NULL, out);
}

ef_status *ef_element_fn_run2(const ef_element_fn *f, const ef_tensor *in, int n,
                              const ef_tensor *rest, ef_tensor *out) {
    return run(f, f->program, in, n, rest, out);
}

ef_status *ef_element_fn_run_stacked(const ef_element_fn *f, const ef_tensor *in, ef_tensor *out) {
    return run(f, f->stacked, in, f->n_in, NULL, out);
}

bool ef_element_fn_stacks(ef_element_fn *f, const ef_dataset *d) {
    if (f->stacked_known) return f->stacked != NULL;
    f->stacked_known = true;
    if (f->draws || f->effects) return false;
    ef_graph *g = NULL;
    ef_status *s = ef_graph_stack(f->graph, f->n_in, d, &g);
    if (s == NULL && g != NULL) s = ef_compile(g, &f->stacked);
    ef_graph_unref(g);
    ef_status_free(s); /* elements are then mapped one by one */
    return f->stacked != NULL;
}
