/* While. The gradient of a loop is a loop with as many iterations, run backward: its variables are
 * the gradients of the loop's variables, and each iteration pops from lists what the same iteration
 * of the forward loop pushed.
 *
 * So the forward loop gets one more variable for each value its body saves: a list, empty at first,
 * to which every iteration pushes. Variables that the body returns unchanged are not saved: the
 * backward loop reads them from the forward loop's inputs. Their gradients need no accumulator,
 * since the gradient of the unchanged output is added to that of the input. No node can be inserted
 * before the loop's node to make the lists, so the node becomes a call of a function that holds
 * both: the empty lists and the longer loop. */
#include "autodiff/control_grad.h"
#include "autodiff/edge_grad.h"
#include "base/alloc.h"
#include "ops/engine_nodes.h"

typedef struct loop {
    ef_control_grad *c;
    const ef_control *control;
    int n;           /* loop variables */
    bool *fixed;     /* by variable: the body returns it unchanged */
    const ef_op *op; /* of the node, which may become a call of `whole` */
    bool *active;    /* by variable: gradients arrive at it and are needed */
    ef_derived d;
    int *source;     /* by saved value: variable k (fixed), or n + number of its list */
    int n_lists;     /* used by the backward loop */
    ef_edge *pushed; /* by list: the value it gets */
    int *variable;   /* by list: which loop variable of the changed loop */
    int n_new;       /* new variables: lists, or a counter if there are no lists */
    ef_graph *cond, *body, *whole; /* of the changed loop, and the function around it */
    ef_graph *back, *back_cond, *back_body;
} loop;

static void *memory(loop *l, size_t n) { return l->c->b->base.memory(&l->c->b->base, n); }
static ef_graph *graph_of(const loop *l) { return l->c->b->graph; }
static const ef_node *node_of(const loop *l) { return graph_of(l)->node[l->c->node]; }

/* ---- which variables have gradients -------------------------------------------------------------
 */

/* Adds to `set` the variables that depend on those in it, until none is new. */
static bool spread_forward(const ef_graph *body, uint8_t *mark, bool *set, int n) {
    bool grew = false;
    memset(mark, 0, body->n_nodes);
    for (int k = 0; k < n; k++) mark[body->input[k]] = set[k];
    for (size_t i = 0; i < body->n_nodes; i++) {
        const ef_node *node = body->node[i];
        if (node->n_in == 0 || !ef_node_flows(node)) continue;
        for (int j = 0; j < node->n_in && !mark[i]; j++)
            mark[i] =
                mark[node->in[j].node] && ef_has_gradient(ef_edge_fact(body, node->in[j])->dtype);
    }
    for (int k = 0; k < n; k++) {
        ef_edge e = body->output[k];
        if (set[k] || !mark[e.node] || !ef_has_gradient(ef_edge_fact(body, e)->dtype)) continue;
        set[k] = grew = true;
    }
    return grew;
}

/* Adds to `set` the variables on which those in it depend. */
static bool spread_backward(const ef_graph *body, uint8_t *mark, bool *set, int n) {
    bool grew = false;
    memset(mark, 0, body->n_nodes);
    for (int k = 0; k < n; k++)
        if (set[k]) mark[body->output[k].node] = 1;
    for (size_t i = body->n_nodes; i-- > 0;) {
        const ef_node *node = body->node[i];
        if (!mark[i] || !ef_node_flows(node)) continue;
        for (int j = 0; j < node->n_in; j++)
            if (ef_has_gradient(ef_edge_fact(body, node->in[j])->dtype)) mark[node->in[j].node] = 1;
    }
    for (int k = 0; k < n; k++)
        if (!set[k] && mark[body->input[k]] &&
            ef_has_gradient(ef_edge_fact(body, (ef_edge){body->input[k], 0})->dtype))
            set[k] = grew = true;
    return grew;
}

static ef_status *find_active(loop *l, bool *any) {
    const ef_graph *body = l->control->func[1];
    size_t n = (size_t)l->n + 1;
    bool *reached = memory(l, n);
    uint8_t *mark = memory(l, body->n_nodes + 1);
    l->active = memory(l, n);
    l->fixed = memory(l, n);
    if (reached == NULL || mark == NULL || l->active == NULL || l->fixed == NULL)
        return ef_no_memory(n + body->n_nodes);
    for (int k = 0; k < l->n; k++) {
        l->fixed[k] = body->output[k].node == body->input[k];
        reached[k] = l->c->want[k];
        l->active[k] = l->c->dout[k] != NULL;
    }
    while (spread_forward(body, mark, reached, l->n)) {}
    while (spread_backward(body, mark, l->active, l->n)) {}
    *any = false;
    for (int k = 0; k < l->n; k++) {
        l->active[k] = l->active[k] && reached[k];
        *any = *any || l->active[k];
    }
    return NULL;
}

/* ---- lists --------------------------------------------------------------------------------------
 */

/* A variable that starts as an empty list and to which each iteration already pushes e. */
static int list_with(const loop *l, ef_edge e) {
    const ef_graph *g = l->d.g, *outer = graph_of(l);
    for (int k = 0; k < l->n; k++) {
        const ef_node *push = g->node[g->output[k].node];
        if (!(push->op->traits & EF_LIST_PUSH) || push->in[0].node != g->input[k] ||
            !ef_edge_same(push->in[1], e))
            continue;
        if (outer->node[node_of(l)->in[k].node]->op->traits & EF_LIST_NEW) return k;
    }
    return -1;
}

static ef_status *find_lists(loop *l) {
    size_t room = (size_t)l->d.n_saved + 1;
    l->source = memory(l, room * sizeof *l->source);
    l->pushed = memory(l, room * sizeof *l->pushed);
    l->variable = memory(l, room * sizeof *l->variable);
    if (l->source == NULL || l->pushed == NULL || l->variable == NULL)
        return ef_no_memory(room * sizeof *l->pushed);
    for (int k = 0; k < l->d.n_saved; k++) {
        ef_edge e = l->d.saved[k];
        int input = ef_derive_input(&l->d, e);
        if (input >= 0 && l->fixed[input]) {
            l->source[k] = input;
            continue;
        }
        int there = list_with(l, e);
        l->source[k] = l->n + l->n_lists;
        l->variable[l->n_lists] = there >= 0 ? there : l->n + l->n_new++;
        l->pushed[l->n_lists++] = e;
    }
    if (l->n_lists == 0) l->n_new = 1; /* the counter */
    return NULL;
}

/* An element shape as TensorLists take it. */
static ef_value *element_shape(ef_build *b, const ef_shape *s) {
    if (s->rank < 0) return ef_const_number(b, EF_I32, -1);
    ef_shape t = ef_shape_foreign(s);
    return ef_const_ints(b, EF_I32, t.rank, t.dim);
}

/* ---- the forward loop ---------------------------------------------------------------------------
 */

static ef_fact new_variable_fact(const loop *l) {
    return (ef_fact){.dtype = l->n_lists > 0 ? EF_VARIANT : EF_I32, .shape = ef_scalar_shape()};
}

/* The body with its new variables. */
static ef_status *make_body(loop *l) {
    ef_graph *g = l->d.g;
    size_t room = (size_t)(l->n + l->n_new) + 1;
    ef_edge *feed = memory(l, room * sizeof *feed), *fetch = memory(l, room * sizeof *fetch);
    if (feed == NULL || fetch == NULL) return ef_no_memory(room * sizeof *feed);
    for (int k = 0; k < l->n; k++) {
        feed[k] = (ef_edge){g->input[k], 0};
        fetch[k] = g->output[k];
    }
    ef_fact fact = new_variable_fact(l);
    for (int k = l->n; k < l->n + l->n_new; k++)
        EF_TRY(ef_graph_input_like(g, &fact, NULL, &feed[k]));
    ef_graph_build b;
    ef_graph_build_begin(&b, g);
    ef_value *v = NULL;
    if (l->n_lists == 0) {
        v = ef_shift(&b.base, ef_graph_build_value(&b, feed[l->n]), 1);
        if (v != NULL) fetch[l->n] = ef_graph_build_edge(v);
    }
    for (int k = 0; k < l->n_lists; k++) {
        int to = l->variable[k];
        if (to < l->n) continue;
        v = ef_emit(&b.base, "TensorListPushBack", 2, ef_graph_build_value(&b, feed[to]),
                    ef_graph_build_value(&b, l->pushed[k]));
        if (v != NULL) fetch[to] = ef_graph_build_edge(v);
    }
    EF_TRY(ef_graph_build_end(&b));
    return ef_derive_extract(&l->d, true, feed, l->n + l->n_new, fetch, l->n + l->n_new, &l->body);
}

/* The condition, which also takes the new variables. */
static ef_status *make_cond(loop *l) {
    ef_graph *old = l->control->func[0];
    ef_edge *feed = memory(l, ((size_t)l->n + 1) * sizeof *feed), unused;
    if (feed == NULL) return ef_no_memory((size_t)l->n * sizeof *feed);
    for (int k = 0; k < l->n; k++) feed[k] = (ef_edge){old->input[k], 0};
    int32_t none;
    int n_captures;
    EF_TRY(
        ef_graph_extract(old, feed, l->n, old->output, 1, NULL, 0, &l->cond, &none, &n_captures));
    ef_fact fact = new_variable_fact(l);
    for (int k = 0; k < l->n_new; k++) EF_TRY(ef_graph_input_like(l->cond, &fact, NULL, &unused));
    return NULL;
}

/* What new variables start with. */
static ef_value *start_of(loop *l, ef_build *b, int variable) {
    if (l->n_lists == 0) return ef_const_number(b, EF_I32, 0);
    int k = 0;
    while (l->variable[k] != variable) k++;
    const ef_fact *f = ef_edge_fact(l->d.g, l->pushed[k]);
    ef_attr_value set[] = {EF_SET_TYPE("element_dtype", f->dtype)};
    return ef_emit_set(b, "EmptyTensorList", set, 1, 2, element_shape(b, &f->shape),
                       ef_const_number(b, EF_I32, -1));
}

/* The function that makes the lists and runs the longer loop. */
static ef_status *make_whole(loop *l) {
    const ef_node *node = node_of(l);
    if ((l->whole = ef_graph_make()) == NULL) return ef_no_memory(sizeof *l->whole);
    l->whole->function = true;
    int n = l->n + l->n_new;
    ef_edge *in = memory(l, ((size_t)n + 1) * sizeof *in);
    if (in == NULL) return ef_no_memory((size_t)n * sizeof *in);
    for (int k = 0; k < l->n; k++) {
        ef_fact fact = *ef_edge_fact(graph_of(l), node->in[k]);
        fact.shape = ef_shape_foreign(&fact.shape);
        EF_TRY(ef_graph_input_like(l->whole, &fact, NULL, &in[k]));
    }
    ef_graph_build b;
    ef_graph_build_begin(&b, l->whole);
    for (int k = l->n; k < n; k++) {
        ef_value *v = start_of(l, &b.base, k);
        if (v != NULL) in[k] = ef_graph_build_edge(v);
    }
    EF_TRY(ef_graph_build_end(&b));
    ef_attr_value set[] = {EF_SET_FUNC("cond", l->cond),
                           EF_SET_FUNC("body", l->body),
                           {.name = "output_shapes", .kind = EF_ATTR_SHAPES}};
    const ef_attrs *attrs;
    EF_TRY(ef_attrs_like(node->op, node->op, node->fields, set, 3, &attrs));
    int32_t made;
    ef_status *s = ef_graph_add(l->whole, node->op, attrs, in, n, NULL, &made);
    ef_attrs_unref(attrs);
    if (s != NULL) return s;
    for (int k = 0; k < n; k++) in[k] = (ef_edge){made, k};
    return ef_graph_set_outputs(l->whole, in, n);
}

static ef_status *change_node(loop *l) {
    EF_TRY(make_body(l));
    EF_TRY(make_cond(l));
    EF_TRY(make_whole(l));
    size_t n = l->whole->n_outputs;
    ef_dtype *types = memory(l, (n + 1) * sizeof *types);
    if (types == NULL) return ef_no_memory(n * sizeof *types);
    for (size_t k = 0; k < n; k++) types[k] = ef_edge_fact(l->whole, l->whole->output[k])->dtype;
    ef_made made;
    EF_TRY(ef_made_call(l->whole, (int)n, types, node_of(l)->op->traits & EF_EFFECT, &made));
    ef_status *s = ef_graph_become(graph_of(l), l->c->node, made.op, made.attrs);
    ef_attrs_unref(made.attrs);
    return s;
}

/* ---- the backward loop --------------------------------------------------------------------------
 * Its variables: lists (or the counter), gradients of active variables, fixed ones it reads. */

typedef struct back_loop {
    int n, n_state, n_grads; /* n_state: lists, or the counter */
    ef_fact *fact;           /* by variable */
    ef_value **start;        /* by variable */
    int *fixed;              /* by variable of the forward loop: its place here, or -1 */
} back_loop;

static ef_status *back_state(loop *l, back_loop *r) {
    ef_graph_build *b = l->c->b;
    r->n_state = l->n_lists > 0 ? l->n_lists : 1;
    for (int k = 0; k < r->n_state; k++) {
        int from = l->n_lists > 0 ? l->variable[k] : l->n;
        r->fact[r->n] = new_variable_fact(l);
        r->start[r->n++] = ef_graph_build_value(b, (ef_edge){l->c->node, from});
    }
    return NULL;
}

/* The dims on which two shapes agree: a gradient enters the backward body with the shape of the
 * body's output and leaves it with the shape of the body's input. */
static ef_shape either(const ef_shape *a, const ef_shape *b) {
    if (a->rank != b->rank || a->rank < 0) return ef_unknown_shape();
    ef_shape s = *a;
    for (int d = 0; d < s.rank; d++)
        if (a->dim[d] != b->dim[d] || a->dim[d] < 0) s.dim[d] = EF_DIM_UNKNOWN;
    return s;
}

static ef_status *back_grads(loop *l, back_loop *r) {
    const ef_graph *g = l->d.g;
    ef_graph_build *b = l->c->b;
    for (int k = 0; k < l->n; k++) {
        if (!l->active[k]) continue;
        ef_fact taken, given;
        EF_TRY(ef_gradient_fact(g->node[g->input[k]]->out, true, &taken));
        EF_TRY(ef_gradient_fact(ef_edge_fact(g, g->output[k]), true, &given));
        taken.shape = either(&taken.shape, &given.shape);
        r->fact[r->n] = taken;
        ef_value *zero_of = NULL;
        if (l->c->dout[k] == NULL) zero_of = ef_graph_build_value(b, (ef_edge){l->c->node, k});
        r->start[r->n++] =
            l->c->dout[k] != NULL ? l->c->dout[k] : ef_gradient_zeros(&b->base, zero_of);
        r->n_grads++;
    }
    return NULL;
}

static ef_status *back_variables(loop *l, back_loop *r) {
    size_t room = (size_t)(2 * l->n + l->n_lists) + 2;
    r->fact = memory(l, room * sizeof *r->fact);
    r->start = memory(l, room * sizeof *r->start);
    r->fixed = memory(l, room * sizeof *r->fixed);
    if (r->fact == NULL || r->start == NULL || r->fixed == NULL)
        return ef_no_memory(room * sizeof *r->fact);
    EF_TRY(back_state(l, r));
    EF_TRY(back_grads(l, r));
    for (int k = 0; k < l->n; k++) r->fixed[k] = -1;
    for (int k = 0; k < l->d.n_saved; k++) {
        int from = l->source[k];
        if (from >= l->n || r->fixed[from] >= 0) continue;
        r->fixed[from] = r->n;
        r->fact[r->n] = *ef_edge_fact(l->d.g, (ef_edge){l->d.g->input[from], 0});
        r->fact[r->n].shape = ef_shape_foreign(&r->fact[r->n].shape);
        r->start[r->n++] = ef_graph_build_value(l->c->b, node_of(l)->in[from]);
    }
    return NULL;
}

static ef_status *begin_function(const back_loop *r, ef_graph **g, ef_edge *in) {
    if ((*g = ef_graph_make()) == NULL) return ef_no_memory(sizeof **g);
    (*g)->function = true;
    for (int k = 0; k < r->n; k++) EF_TRY(ef_graph_input_like(*g, &r->fact[k], NULL, &in[k]));
    return NULL;
}

/* The backward loop runs while the lists are not empty, or the counter is above 0. */
static ef_status *make_back_cond(loop *l, const back_loop *r, ef_edge *in) {
    EF_TRY(begin_function(r, &l->back_cond, in));
    ef_graph_build b;
    ef_graph_build_begin(&b, l->back_cond);
    ef_value *left = ef_graph_build_value(&b, in[0]);
    if (l->n_lists > 0) left = ef_emit(&b.base, "TensorListLength", 1, left);
    ef_value *more = ef_emit(&b.base, "Greater", 2, left, ef_const_number(&b.base, EF_I32, 0));
    ef_edge out = {-1, 0};
    if (more != NULL) out = ef_graph_build_edge(more);
    EF_TRY(ef_graph_build_end(&b));
    return ef_graph_set_outputs(l->back_cond, &out, 1);
}

/* Pops the saved values of one iteration; `out` gets the shorter lists. */
static ef_status *pop_all(loop *l, const ef_edge *in, ef_edge *out, ef_edge *item) {
    ef_graph_build b;
    ef_graph_build_begin(&b, l->back_body);
    if (l->n_lists == 0) {
        ef_value *left = ef_shift(&b.base, ef_graph_build_value(&b, in[0]), -1);
        if (left != NULL) out[0] = ef_graph_build_edge(left);
    }
    for (int k = 0; k < l->n_lists; k++) {
        const ef_fact *f = ef_edge_fact(l->d.g, l->pushed[k]);
        ef_attr_value set[] = {EF_SET_TYPE("element_dtype", f->dtype)};
        ef_value *from[] = {ef_graph_build_value(&b, in[k]), element_shape(&b.base, &f->shape)};
        ef_value *got[2];
        if (ef_emit_many(&b.base, "TensorListPopBack", set, 1, from, 2, got, 2) != 2) break;
        out[k] = ef_graph_build_edge(got[0]);
        item[k] = ef_graph_build_edge(got[1]);
    }
    return ef_graph_build_end(&b);
}

static ef_status *make_back_body(loop *l, const back_loop *r, ef_edge *in) {
    size_t room = (size_t)(r->n + l->d.n_saved + l->n_lists) + 1;
    ef_edge *out = memory(l, room * sizeof *out), *item = memory(l, room * sizeof *item);
    ef_edge *feed = memory(l, room * sizeof *feed), *fetch = memory(l, room * sizeof *fetch);
    if (out == NULL || item == NULL || feed == NULL || fetch == NULL)
        return ef_no_memory(room * sizeof *out);
    int n = l->d.n_saved, grads = 0;
    for (int k = 0; k < l->d.n_saved; k++) feed[k] = l->d.saved[k];
    for (int k = 0; k < l->n; k++) {
        if (!l->active[k]) continue;
        feed[n++] = l->d.dout[k];
        fetch[grads++] = l->d.dx[k].value;
    }
    EF_TRY(ef_derive_extract(&l->d, false, feed, n, fetch, grads, &l->back));
    EF_TRY(begin_function(r, &l->back_body, in));
    EF_TRY(pop_all(l, in, out, item));
    for (int k = 0; k < l->d.n_saved; k++) {
        int from = l->source[k];
        feed[k] = from < l->n ? in[r->fixed[from]] : item[from - l->n];
    }
    for (int k = 0; k < grads; k++) feed[l->d.n_saved + k] = in[r->n_state + k];
    EF_TRY(ef_graph_inline(l->back_body, l->back, feed, out + r->n_state));
    for (int k = r->n_state + r->n_grads; k < r->n; k++) out[k] = in[k];
    return ef_graph_set_outputs(l->back_body, out, r->n);
}

static ef_status *append_backward(loop *l) {
    ef_build *b = &l->c->b->base;
    back_loop r = {0};
    EF_TRY(back_variables(l, &r));
    if (b->failed != NULL) return NULL;
    size_t room = (size_t)r.n + 1;
    ef_edge *in = memory(l, room * sizeof *in);
    ef_value **out = memory(l, room * sizeof *out);
    if (in == NULL || out == NULL) return ef_no_memory(room * sizeof *in);
    EF_TRY(make_back_cond(l, &r, in));
    EF_TRY(make_back_body(l, &r, in));
    ef_attr_value set[] = {EF_SET_FUNC("cond", l->back_cond), EF_SET_FUNC("body", l->back_body)};
    const ef_op *op = ef_graph_has_state(l->back_body) ? l->op->stateful : l->op->pure;
    if (ef_emit_many(b, op->name, set, 2, r.start, r.n, out, r.n) != r.n) return NULL;
    for (int k = 0, i = 0; k < l->n; k++)
        if (l->active[k]) l->c->din[k] = out[r.n_state + i++];
    return NULL;
}

/* ---- all of it ----------------------------------------------------------------------------------
 */

/* The gradient of a variable that the body returns unchanged and does not use otherwise is that of
 * its output; it needs no variable in the backward loop. */
static bool pass_straight(loop *l) {
    bool any = false;
    for (int k = 0; k < l->n; k++) {
        if (l->active[k] && l->fixed[k] && l->d.dx[k].kind == EF_GRADIENT_DENSE &&
            ef_edge_same(l->d.dx[k].value, l->d.dout[k])) {
            l->c->din[k] = l->c->dout[k];
            l->active[k] = false;
        }
        any = any || l->active[k];
    }
    return any;
}

static ef_status *differentiate(loop *l) {
    bool any = false;
    EF_TRY(find_active(l, &any));
    if (!any) return NULL;
    EF_TRY(ef_derive(l->control->func[1], l->active, l->active, &l->d));
    if (!pass_straight(l)) return NULL;
    for (int k = 0; k < l->n; k++)
        if (l->active[k]) EF_TRY(ef_derive_dense(&l->d, k));
    EF_TRY(ef_derive_saved(&l->d, l->fixed));
    EF_TRY(find_lists(l));
    if (l->n_new > 0) EF_TRY(change_node(l));
    return append_backward(l);
}

ef_status *ef_loop_grad(ef_control_grad *c, const ef_control *control) {
    const ef_op *op = c->b->graph->node[c->node]->op;
    loop l = {.c = c, .control = control, .n = c->n_out, .op = op};
    ef_status *s = differentiate(&l);
    ef_derive_end(&l.d);
    ef_graph *made[] = {l.cond, l.body, l.whole, l.back, l.back_cond, l.back_body};
    for (size_t k = 0; k < sizeof made / sizeof *made; k++) ef_graph_unref(made[k]);
    return s;
}
