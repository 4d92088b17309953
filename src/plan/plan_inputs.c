/* One walk backward from the results: if planning an op reads the value of an input, that value is
 * needed, and so are the values it is computed from. */
#include "plan/plan_inputs.h"
#include "base/alloc.h"
#include "graph/control.h"

enum { DEPTH = 16 }; /* of nested functions; deeper ones need all their inputs */

void ef_plan_inputs_free(ef_plan_inputs *w) {
    ef_free(w->base);
    ef_free(w->value);
    *w = (ef_plan_inputs){0};
}

/* Whether planning n reads the value of input k, even if nothing needs n's own value. */
static bool reads(const ef_graph *g, const ef_node *n, int k) {
    if (n->op->traits & (EF_READS_SHAPES | EF_ELEMENTWISE | EF_VIEW_0)) /* of views only shapes */
        return (n->op->traits & EF_VIEW_0) && k > 0;
    const ef_fact *f = ef_edge_fact(g, n->in[k]);
    if (n->op->traits & EF_READS_FLOATS) return true;
    if (!ef_dtype_in(f->dtype, EF_INTS)) return false;
    if (k < EF_MAX_ARGS && n->op->data_in >> k & 1) return false;
    return n->op->data_when == NULL || !n->op->data_when(n->fields, k, f);
}

static ef_status *wanted(const ef_graph *g, const uint8_t *outputs, int depth, ef_plan_inputs *w);

/* Adds to `in` the inputs of f that are needed if `outputs` are. */
static ef_status *inputs_of(const ef_graph *f, const uint8_t *outputs, int depth, uint8_t *in) {
    ef_plan_inputs w = {0};
    ef_status *s = wanted(f, outputs, depth, &w);
    for (size_t k = 0; s == NULL && k < f->n_inputs; k++) in[k] |= w.value[w.base[f->input[k]]];
    ef_plan_inputs_free(&w);
    return s;
}

static bool everything(uint8_t *want, int n) {
    memset(want, 1, (size_t)n);
    return true;
}

/* The outputs of an iteration are the inputs of the next, so this is repeated until nothing
 * changes; after four rounds everything counts as needed. */
static ef_status *loop_inside(const ef_control *c, int n, int depth, uint8_t *want) {
    for (int round = 0;; round++) {
        int before = 0, after = 0;
        for (int k = 0; k < n; k++) before += want[k];
        if (round == 4 && everything(want, n)) return NULL;
        EF_TRY(inputs_of(c->func[0], NULL, depth, want));
        EF_TRY(inputs_of(c->func[1], want, depth, want));
        for (int k = 0; k < n; k++) after += want[k];
        if (after == before) return NULL;
    }
}

static bool is_usable(const ef_node *n, const ef_control *c) {
    for (int k = 0; k < c->n_funcs; k++)
        if (c->func[k] == NULL || c->func[k]->n_inputs != (size_t)(n->n_in - c->first) ||
            (c->kind == EF_CONTROL_LOOP && n->n_in != n->n_out))
            return false;
    return c->kind != EF_CONTROL_NONE;
}

static ef_status *inside(const ef_plan_inputs *w, const ef_node *n, int depth, uint8_t *outputs) {
    ef_control c;
    ef_control_of(n->op, n->fields, &c);
    for (int k = 0; k < n->n_out; k++) outputs[k] = w->value[w->base[n->id] + k];
    if (c.kind != EF_CONTROL_LOOP || !is_usable(n, &c)) return NULL;
    return loop_inside(&c, n->n_out, depth, outputs);
}

ef_status *ef_plan_inputs_inside(const ef_plan_inputs *w, const ef_node *n, uint8_t *outputs) {
    return inside(w, n, 1, outputs);
}

/* By node, whether its values may be known when a plan is made: shapes and values computed from
 * constants are, values computed from a parameter are not, unless the caller of this function may
 * know it (depth > 0). */
static void mark_knowable(const ef_graph *g, int depth, uint8_t *knowable) {
    for (size_t i = 0; i < g->n_nodes; i++) {
        const ef_node *n = g->node[i];
        bool from_all = !(n->op->traits & (EF_STATEFUL | EF_EFFECT));
        for (int k = 0; k < n->n_in && from_all; k++) from_all = knowable[n->in[k].node];
        knowable[i] = n->op->traits & EF_NO_KERNEL
                          ? depth > 0
                          : (n->op->traits & (EF_READS_SHAPES | EF_CONTROL)) || from_all;
    }
}

/* Marks the inputs of a control-flow node. */
static ef_status *mark_control(const ef_node *n, int depth, const uint8_t *knowable,
                               ef_plan_inputs *w) {
    ef_control c;
    ef_control_of(n->op, n->fields, &c);
    size_t room = (size_t)(n->n_in + n->n_out) + 2;
    uint8_t *in = ef_calloc(room, 1);
    if (in == NULL) return ef_no_memory(room);
    uint8_t *out = in + n->n_in + 1;
    ef_status *s = NULL;
    if (depth >= DEPTH || !is_usable(n, &c)) {
        everything(in, n->n_in);
    } else if (c.kind == EF_CONTROL_LOOP) {
        s = inside(w, n, depth + 1, out);
        memcpy(in, out, (size_t)n->n_out);
    } else {
        if (c.first > 0) in[0] = knowable[n->in[0].node]; /* a known choice needs no branch */
        s = inside(w, n, depth + 1, out);
        for (int k = 0; k < c.n_funcs && s == NULL; k++)
            s = inputs_of(c.func[k], out, depth + 1, in + c.first);
    }
    for (int k = 0; k < n->n_in && s == NULL; k++)
        w->value[w->base[n->in[k].node] + n->in[k].index] |= in[k];
    ef_free(in);
    return s;
}

static ef_status *wanted(const ef_graph *g, const uint8_t *outputs, int depth, ef_plan_inputs *w) {
    int32_t values = 0;
    *w = (ef_plan_inputs){0};
    if ((w->base = ef_malloc((g->n_nodes + 1) * sizeof *w->base)) == NULL)
        return ef_no_memory(g->n_nodes * sizeof *w->base);
    for (size_t k = 0; k < g->n_nodes; k++) {
        w->base[k] = values;
        values += g->node[k]->n_out;
    }
    if ((w->value = ef_calloc((size_t)values + g->n_nodes + 1, 1)) == NULL)
        return ef_no_memory((size_t)values);
    uint8_t *knowable = w->value + values;
    mark_knowable(g, depth, knowable);
    for (size_t k = 0; outputs != NULL && k < g->n_outputs; k++)
        w->value[w->base[g->output[k].node] + g->output[k].index] |= outputs[k];
    for (size_t i = g->n_nodes; i-- > 0;) {
        const ef_node *n = g->node[i];
        bool result = false; /* some output is wanted */
        for (int k = 0; k < n->n_out; k++) result = result || w->value[w->base[i] + k];
        if (n->op->traits & EF_CONTROL) {
            EF_TRY(mark_control(n, depth, knowable, w));
            continue;
        }
        bool values_flow = result && !(n->op->traits & EF_READS_SHAPES);
        for (int k = 0; k < n->n_in; k++)
            if (values_flow || reads(g, n, k))
                w->value[w->base[n->in[k].node] + n->in[k].index] = 1;
    }
    return NULL;
}

ef_status *ef_plan_inputs_make(const ef_graph *g, const uint8_t *outputs, int depth,
                               ef_plan_inputs *w) {
    return wanted(g, outputs, depth, w);
}
