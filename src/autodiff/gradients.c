/* Reverse mode. Nodes are in topological order, so one walk from the last to the first visits every
 * node after all its users: by then each of its outputs has all parts of its gradient. Only nodes
 * that depend on some x are visited. */
#include "autodiff/autodiff.h"
#include "autodiff/control_grad.h"
#include "autodiff/edge_grad.h"
#include "base/alloc.h"
#include "graph/sizes.h"

typedef struct part { /* of an edge's gradient, in the order they arrived */
    struct part *next;
    ef_value *value;
} part;

typedef struct edge_state {
    part *first, *last;
    int n;
    bool is_x, is_stop;
    bool is_zero; /* where no part arrives its gradient is zero, not missing */
} edge_state;

typedef struct walk {
    ef_graph_build b;
    ef_graph *g;
    int32_t n;   /* nodes up to the last x, y or stop; nodes added meanwhile are not walked */
    int32_t *at; /* first edge of a node; at[n] is the number of edges */
    edge_state *edge;
    uint8_t *reached; /* by node: its outputs depend on some x */
    const ef_flow *flow;
} walk;

static edge_state *state_of(const walk *w, ef_edge e) { return &w->edge[w->at[e.node] + e.index]; }

/* Whether the gradient of this edge is needed. */
static bool wanted(const walk *w, ef_edge e) {
    if (!ef_has_gradient(ef_edge_fact(w->g, e)->dtype)) return false;
    const edge_state *s = state_of(w, e);
    return s->is_x || (w->reached[e.node] && !s->is_stop);
}

/* Whether a gradient may flow from node n to its input k, and is needed there. */
static bool goes(const walk *w, const ef_node *n, int k) {
    return wanted(w, n->in[k]) && (w->flow == NULL || w->flow->passes(w->flow->user, n, k));
}

static ef_status *check_edges(const ef_graph *g, const ef_edge *e, int n, const char *what) {
    for (int k = 0; k < n; k++)
        if (e[k].node < 0 || (size_t)e[k].node >= g->n_nodes || e[k].index < 0 ||
            e[k].index >= g->node[e[k].node]->n_out)
            return ef_error(EF_INVALID,
                            "gradients: %s %d is output %d of node %d, which is not in "
                            "the graph",
                            what, k, e[k].index, e[k].node);
    return NULL;
}

static void reach_to(walk *w, const ef_edge *e, int n) {
    for (int k = 0; k < n; k++)
        if (e[k].node >= w->n) w->n = e[k].node + 1;
}

static ef_status *walk_begin(walk *w, const ef_edge *x, int n_x, const ef_edge *stop, int n_stop) {
    const ef_graph *g = w->g;
    reach_to(w, x, n_x);
    reach_to(w, stop, n_stop);
    size_t n = (size_t)w->n + 1, edges = 0;
    w->at = ef_malloc(n * sizeof *w->at);
    w->reached = ef_calloc(n, 1);
    if (w->at == NULL || w->reached == NULL) return ef_no_memory(n * sizeof *w->at);
    for (int32_t k = 0; k < w->n; k++) {
        w->at[k] = (int32_t)edges;
        edges += (size_t)g->node[k]->n_out;
    }
    w->at[w->n] = (int32_t)edges;
    w->edge = ef_calloc(edges + 1, sizeof *w->edge);
    if (w->edge == NULL) return ef_no_memory(edges * sizeof *w->edge);
    for (int k = 0; k < n_x; k++) state_of(w, x[k])->is_x = true;
    for (int k = 0; k < n_stop; k++) state_of(w, stop[k])->is_stop = true;
    for (int32_t k = 0; k < w->n; k++) {
        const ef_node *node = g->node[k];
        bool any = false;
        for (int i = 0; i < node->n_in && !any; i++) any = goes(w, node, i);
        w->reached[k] = any && ef_node_flows(node);
    }
    return NULL;
}

static void walk_end(walk *w) {
    ef_free(w->at);
    ef_free(w->edge);
    ef_free(w->reached);
}

static void *memory(walk *w, size_t n) {
    void *p = w->b.base.memory(&w->b.base, n);
    if (p == NULL) ef_build_fail(&w->b.base, ef_no_memory(n));
    return p;
}

static void add_part(walk *w, ef_edge e, ef_value *v) {
    part *p = memory(w, sizeof *p);
    if (p == NULL) return;
    edge_state *s = state_of(w, e);
    *p = (part){NULL, v};
    if (s->first == NULL)
        s->first = p;
    else
        s->last->next = p;
    s->last = p;
    s->n++;
}

/* The whole gradient of an edge, or NULL; afterwards it has one part. */
static ef_value *gradient_of(walk *w, ef_edge e) {
    edge_state *s = state_of(w, e);
    if (s->first == NULL && s->is_zero) {
        ef_value *zeros = ef_gradient_zeros(&w->b.base, ef_graph_build_value(&w->b, e));
        if (zeros != NULL) add_part(w, e, zeros);
    }
    if (s->first == NULL) return NULL;
    if (s->first != s->last) {
        ef_value **all = memory(w, (size_t)s->n * sizeof *all);
        if (all == NULL) return NULL;
        int n = 0;
        for (const part *p = s->first; p != NULL; p = p->next) all[n++] = p->value;
        ef_value *sum = ef_gradient_sum(&w->b.base, all, n);
        if (sum == NULL) return NULL;
        s->last = s->first;
        s->first->next = NULL;
        s->first->value = sum;
        s->n = 1;
    }
    return s->first->value;
}

/* ---- seeds ------------------------------------------------------------------------------------
 */

static ef_status *seed(walk *w, ef_edge y, const ef_edge *dy) {
    if (!wanted(w, y)) return NULL;
    ef_value *value = ef_graph_build_value(&w->b, y);
    if (value == NULL) return NULL;
    if (dy == NULL || dy->node < 0) {
        ef_value *one = ef_ones_like(&w->b.base, value);
        if (one != NULL) add_part(w, y, one);
        return NULL;
    }
    const ef_fact *have = ef_edge_fact(w->g, *dy), *want = &value->fact;
    if (want->dtype != EF_RESOURCE && have->dtype != want->dtype)
        return ef_error(EF_INVALID,
                        "gradients: the gradient given for %s is %s; they must be equal",
                        ef_dtype_name(want->dtype), ef_dtype_name(have->dtype));
    if (want->dtype != EF_RESOURCE && !ef_shape_may_equal(&have->shape, &want->shape))
        return ef_error(EF_INVALID,
                        "gradients: y is %s and the gradient given for it %s; the shapes must be "
                        "equal",
                        EF_SHAPE(&want->shape), EF_SHAPE(&have->shape));
    ef_value *given = ef_graph_build_value(&w->b, *dy);
    if (given != NULL) add_part(w, y, given);
    return NULL;
}

/* ---- one node ---------------------------------------------------------------------------------
 */

static ef_value **values_of(walk *w, const ef_edge *e, int n) {
    ef_value **v = memory(w, ((size_t)n + 1) * sizeof *v);
    for (int k = 0; v != NULL && k < n; k++)
        if ((v[k] = ef_graph_build_value(&w->b, e[k])) == NULL) return NULL;
    return v;
}

/* Gradients arriving at the outputs; false: none, or a failure. */
static bool arriving(walk *w, const ef_node *n, ef_value **dout) {
    bool any = false, dense = !(n->op->traits & EF_SLICES_OK);
    int count = w->at[n->id + 1] - w->at[n->id];
    for (int k = 0; k < count; k++) {
        ef_edge e = {n->id, k};
        if (state_of(w, e)->is_stop) continue;
        dout[k] = gradient_of(w, e);
        if (dense) dout[k] = ef_dense(&w->b.base, dout[k]);
        any = any || dout[k] != NULL;
    }
    return any && w->b.base.failed == NULL;
}

static ef_status *record_grad(walk *w, const ef_node *n, ef_value **dout, ef_value **din) {
    char buf[96];
    if (n->op->grad == NULL)
        return ef_error(EF_NOT_FOUND,
                        "gradients: No gradient defined for operation '%s' (op type: %s); put a "
                        "StopGradient on what goes through it if none is needed",
                        ef_node_name(w->g, n->id, buf, sizeof buf), n->op->name);
    ef_edge *out = memory(w, ((size_t)n->n_out + 1) * sizeof *out);
    if (out == NULL) return NULL;
    for (int k = 0; k < n->n_out; k++) out[k] = (ef_edge){n->id, k};
    ef_grad g = {.b = &w->b.base,
                 .op = n->op,
                 .attrs = n->fields,
                 .n_in = n->n_in,
                 .n_out = n->n_out,
                 .in = values_of(w, n->in, n->n_in),
                 .out = values_of(w, out, n->n_out),
                 .dout = dout,
                 .din = din};
    if (w->b.base.failed != NULL) return NULL;
    return n->op->grad(&g);
}

static bool has_zeros(const ef_fact *f) {
    if (f->dtype == EF_RESOURCE) f = f->handle;
    return f != NULL && ef_dtype_in(f->dtype, EF_FLOATS | EF_COMPLEX);
}

/* Adds to `flows` the inputs of a function from which a gradient would flow to one of its
 * outputs. */
static ef_status *inputs_that_flow(walk *w, const ef_graph *f, bool *flows) {
    bool *mark = memory(w, f->n_nodes + 1);
    if (mark == NULL) return NULL;
    for (size_t k = 0; k < f->n_outputs; k++)
        if (has_zeros(ef_edge_fact(f, f->output[k]))) mark[f->output[k].node] = true;
    for (size_t i = f->n_nodes; i-- > 0;) {
        const ef_node *node = f->node[i];
        if (!mark[i] || !ef_node_flows(node)) continue;
        for (int j = 0; j < node->n_in; j++)
            if (ef_has_gradient(ef_edge_fact(f, node->in[j])->dtype)) mark[node->in[j].node] = true;
    }
    for (size_t k = 0; k < f->n_inputs; k++) flows[k] = flows[k] || mark[f->input[k]];
    return NULL;
}

/* As in TensorFlow, control flow as a whole connects its inputs with its outputs: if an input does
 * not contribute to the outputs whose gradients arrive, its gradient is zero and not missing. For a
 * loop this holds for every input; for functions, for an input that contributes to another output.
 */
static ef_status *zeros_of_control(walk *w, const ef_node *n, const ef_control *control,
                                   const bool *want) {
    bool *flows = memory(w, (size_t)n->n_in + 1);
    if (flows == NULL) return NULL;
    if (control->kind != EF_CONTROL_LOOP)
        for (int i = 0; i < control->n_funcs; i++)
            EF_TRY(inputs_that_flow(w, control->func[i], flows + control->first));
    for (int k = 0; k < n->n_in; k++)
        if (want[k] && (flows[k] || control->kind == EF_CONTROL_LOOP) &&
            has_zeros(ef_edge_fact(w->g, n->in[k])))
            state_of(w, n->in[k])->is_zero = true;
    return NULL;
}

static ef_status *control_grad(walk *w, const ef_node *n, ef_value **dout, ef_value **din) {
    bool *want = memory(w, (size_t)n->n_in + 1);
    if (want == NULL) return NULL;
    for (int k = 0; k < n->n_in; k++) want[k] = goes(w, n, k);
    ef_control_grad c = {.b = &w->b,
                         .node = n->id,
                         .n_in = n->n_in,
                         .n_out = n->n_out,
                         .dout = dout,
                         .want = want,
                         .din = din};
    ef_control control;
    ef_control_of(n->op, n->fields, &control);
    EF_TRY(zeros_of_control(w, n, &control, want));
    return control.kind == EF_CONTROL_LOOP ? ef_loop_grad(&c, &control)
                                           : ef_branch_grad(&c, &control);
}

/* A gradient function that returns another dtype or shape than that of the input is wrong; this is
 * reported here, where the op is known. */
static ef_status *check_gradient(const ef_node *n, int k, const ef_fact *in, const ef_value *d) {
    if (in->dtype == EF_RESOURCE ||
        (d->fact.dtype == in->dtype && ef_shape_may_equal(&d->fact.shape, &in->shape)))
        return NULL;
    return ef_error(EF_INTERNAL, "gradients: input %d of %s is %s %s but its gradient is %s %s", k,
                    n->op->name, ef_dtype_name(in->dtype), EF_SHAPE(&in->shape),
                    ef_dtype_name(d->fact.dtype), EF_SHAPE(&d->fact.shape));
}

static ef_status *backprop(walk *w, int32_t id) {
    const ef_node *n = w->g->node[id];
    ef_value **dout = memory(w, ((size_t)n->n_out + 1) * sizeof *dout);
    ef_value **din = memory(w, ((size_t)n->n_in + 1) * sizeof *din);
    if (dout == NULL || din == NULL || !arriving(w, n, dout)) return NULL;
    EF_TRY(n->op->traits & EF_CONTROL ? control_grad(w, n, dout, din)
                                      : record_grad(w, n, dout, din));
    for (int k = 0; k < n->n_in && w->b.base.failed == NULL; k++) {
        if (din[k] == NULL || !goes(w, n, k)) continue;
        EF_TRY(check_gradient(n, k, ef_edge_fact(w->g, n->in[k]), din[k]));
        add_part(w, n->in[k], din[k]);
    }
    return NULL;
}

/* Walks backward through all nodes; the nodes of a gradient get the origin of its forward node. */
static void walk_back(walk *w) {
    const ef_node *before = w->g->copies;
    for (int32_t k = w->n; k-- > 0 && w->b.base.failed == NULL;) {
        if (!w->reached[k]) continue;
        w->g->copies = w->g->node[k];
        ef_build_fail(&w->b.base, backprop(w, k));
        char buf[96];
        if (w->b.base.failed != NULL)
            w->b.base.failed = ef_status_add(w->b.base.failed, "in the gradient of %s",
                                             ef_node_name(w->g, k, buf, sizeof buf));
    }
    w->g->copies = before;
}

/* A gradient has the shape of its source even if inference knows less: after a loop, for instance,
 * the length of a list is not known. */
static ef_status *narrow_like(ef_graph *g, ef_edge dx, ef_edge x) {
    ef_fact *known = &g->node[dx.node]->out[dx.index];
    const ef_fact *source = ef_edge_fact(g, x);
    if (source->dtype == EF_RESOURCE || ef_shape_equal(&known->shape, &source->shape)) return NULL;
    ef_shape both, real;
    EF_TRY(ef_shape_merge(&known->shape, &source->shape, &both));
    EF_TRY(ef_shape_merge(&ef_edge_real(g, dx)->shape, &ef_edge_real(g, x)->shape, &real));
    bool sized = g->node[dx.node]->real != NULL || g->node[x.node]->real != NULL;
    known->shape = both;
    return sized ? ef_graph_set_real(g, dx, &real) : NULL;
}

static void result(walk *w, ef_edge x, ef_gradient *dx) {
    *dx = (ef_gradient){
        .kind = EF_GRADIENT_NONE, .value = {-1, 0}, .indices = {-1, 0}, .dense_shape = {-1, 0}};
    const ef_value *v = gradient_of(w, x);
    if (v == NULL) return;
    dx->kind = v->values != NULL ? EF_GRADIENT_SLICES : EF_GRADIENT_DENSE;
    if (v->values == NULL) {
        dx->value = ef_graph_build_edge(v);
        ef_build_fail(&w->b.base, narrow_like(w->g, dx->value, x));
        return;
    }
    dx->value = ef_graph_build_edge(v->values);
    dx->indices = ef_graph_build_edge(v->indices);
    dx->dense_shape = ef_graph_build_edge(v->dense_shape);
}

ef_status *ef_gradients(ef_graph *g, const ef_edge *y, int n_y, const ef_edge *dy, const ef_edge *x,
                        int n_x, const ef_edge *stop, int n_stop, ef_gradient *dx) {
    return ef_gradients_through(g, y, n_y, dy, x, n_x, stop, n_stop, NULL, dx);
}

ef_status *ef_gradients_through(ef_graph *g, const ef_edge *y, int n_y, const ef_edge *dy,
                                const ef_edge *x, int n_x, const ef_edge *stop, int n_stop,
                                const ef_flow *flow, ef_gradient *dx) {
    EF_TRY(check_edges(g, y, n_y, "y"));
    EF_TRY(check_edges(g, x, n_x, "x"));
    EF_TRY(check_edges(g, stop, n_stop, "stop"));
    walk w = {.g = g, .flow = flow};
    ef_graph_build_begin(&w.b, g);
    reach_to(&w, y, n_y);
    ef_build_fail(&w.b.base, walk_begin(&w, x, n_x, stop, n_stop));
    for (int k = 0; k < n_y && w.b.base.failed == NULL; k++)
        ef_build_fail(&w.b.base, seed(&w, y[k], dy != NULL ? &dy[k] : NULL));
    if (w.b.base.failed == NULL) walk_back(&w);
    for (int k = 0; k < n_x && w.b.base.failed == NULL; k++) result(&w, x[k], &dx[k]);
    walk_end(&w);
    return ef_graph_build_end(&w.b);
}
