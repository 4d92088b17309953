#include "passes/loop.h"
#include "base/alloc.h"
#include "graph/control.h"
#include "ops/run.h"

bool ef_loop_of(const ef_node *n, ef_loop *l) {
    ef_control c;
    if (!(n->op->traits & EF_CONTROL)) return false;
    ef_control_of(n->op, n->fields, &c);
    if (c.kind != EF_CONTROL_LOOP) return false;
    *l = (ef_loop){n, c.func[0], c.func[1]};
    return l->cond->n_captures == 0 && l->body->n_captures == 0 &&
           l->body->n_inputs == l->body->n_outputs && l->body->n_inputs == (size_t)n->n_in;
}

bool ef_graph_has_loop(const ef_graph *g) {
    ef_loop l;
    for (size_t k = 0; k < g->n_nodes; k++)
        if (ef_loop_of(g->node[k], &l)) return true;
    return false;
}

int ef_loop_fixed_at(const ef_loop *l, ef_edge e) {
    for (size_t k = 0; k < l->body->n_inputs; k++)
        if (l->body->input[k] == e.node) return ef_loop_fixed(l, k) ? (int)k : -1;
    return -1;
}

/* ---- the condition after some iterations ----------------------------------------------------- */

static const ef_tensor *known(const ef_graph *g, ef_edge e) {
    const ef_fact *f = ef_edge_fact(g, e);
    bool there = f->value != NULL && f->value->data != NULL && ef_dtype_in(f->dtype, EF_PLAIN);
    return there ? f->value : NULL;
}

/* What each iteration adds to variable k; NULL: that is not a constant integer. */
static const ef_tensor *step_of(const ef_loop *l, size_t k) {
    const ef_graph *g = l->body;
    const ef_node *n = g->node[g->output[k].node];
    if (n->op->role != EF_ROLE_SUM || !ef_dtype_in(n->out->dtype, EF_BIT(I32) | EF_BIT(I64)))
        return NULL;
    for (int i = 0; i < 2; i++)
        if (n->in[i].node == g->input[k] && ef_shape_count(&n->out->shape) == 1)
            return known(g, n->in[1 - i]);
    return NULL;
}

/* The value of variable k after `steps` iterations, if it is known; else *out has no dtype. */
static ef_status *variable_after(const ef_walk *w, const ef_loop *l, const ef_edge *in, size_t k,
                                 int64_t steps, ef_tensor *out) {
    const ef_tensor *start = known(w->to, in[k]), *step = step_of(l, k);
    if (start == NULL) return NULL;
    if (steps == 0 || ef_loop_fixed(l, k)) {
        ef_tensor_copy(out, start);
        return NULL;
    }
    int64_t value;
    ef_dtype t = (ef_dtype)start->dtype;
    if (step == NULL || ef_count(start) != 1 || ef_count(step) != 1) return NULL;
    if (__builtin_mul_overflow(steps, ef_element_int(t, step->data, 0), &value) ||
        __builtin_add_overflow(value, ef_element_int(t, start->data, 0), &value) ||
        value > INT32_MAX || value < INT32_MIN)
        return NULL;
    EF_TRY(ef_tensor_clone(out, start));
    ef_element_set(t, out->data, 0, (double)value);
    return NULL;
}

/* The value of a node of the condition, if it follows from those in value[]. */
static ef_status *evaluate(const ef_node *n, ef_tensor *value) {
    enum { MOST = 4 };
    uint32_t never = EF_STATEFUL | EF_EFFECT | EF_CONTROL | EF_NO_KERNEL | EF_HEAVY;
    ef_tensor *in[MOST];
    int n_out = 0;
    if (n->n_out != 1 || n->n_in > MOST || !ef_dtype_in(n->out->dtype, EF_PLAIN)) return NULL;
    if (n->out->value != NULL && n->out->value->data != NULL) {
        ef_tensor_copy(&value[n->id], n->out->value);
        return NULL;
    }
    if ((n->op->traits & never) || n->n_in == 0) return NULL;
    for (int i = 0; i < n->n_in; i++) {
        in[i] = &value[n->in[i].node];
        if (in[i]->dtype == EF_NO_DTYPE) return NULL;
    }
    ef_status *s =
        ef_op_run(ef_context_here(), n->op, n->fields, in, n->n_in, &value[n->id], 1, &n_out);
    if (s == NULL || ef_status_code(s) == EF_NO_MEMORY) return s;
    ef_status_free(s); /* the loop fails in the same way when it runs */
    return NULL;
}

ef_status *ef_loop_runs(const ef_walk *w, const ef_loop *l, const ef_edge *in, int64_t steps,
                        bool *yes) {
    const ef_graph *g = l->cond;
    ef_tensor *value = ef_calloc(g->n_nodes + 1, sizeof *value);
    if (value == NULL) return ef_no_memory(g->n_nodes * sizeof *value);
    ef_status *s = NULL;
    *yes = false;
    for (size_t k = 0; k < g->n_inputs && s == NULL; k++)
        s = variable_after(w, l, in, k, steps, &value[g->input[k]]);
    for (size_t k = 0; k < g->n_nodes && s == NULL; k++)
        if (value[k].dtype == EF_NO_DTYPE) s = evaluate(g->node[k], value);
    const ef_tensor *last = &value[g->output[0].node];
    if (s == NULL && last->dtype == EF_BOOL && ef_count(last) == 1) *yes = *(bool *)last->data;
    for (size_t k = 0; k < g->n_nodes; k++) ef_tensor_release(&value[k]);
    ef_free(value);
    return s;
}

/* ---- rebuilding a loop ----------------------------------------------------------------------- */

static ef_status *as_it_is(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                           bool *done) {
    (void)w, (void)n, (void)in, (void)out, (void)done;
    return NULL;
}

static ef_status *set_outputs(ef_loop_change *c, ef_graph *body) {
    size_t n = body->n_outputs, more = (size_t)c->n_more;
    ef_edge *out = ef_malloc((n + more + 1) * sizeof *out);
    if (out == NULL) return ef_no_memory((n + more) * sizeof *out);
    memcpy(out, body->output, n * sizeof *out);
    for (size_t k = 0; k < more; k++) out[n + k] = (ef_edge){body->input[n + k], 0};
    ef_status *s = c->finish != NULL ? c->finish(c, body, out + n) : NULL;
    if (s == NULL) s = ef_graph_set_outputs(body, out, (int)(n + more));
    ef_free(out);
    return s;
}

/* cond and body with the new variables among their inputs. */
static ef_status *widen(ef_passing *p, ef_loop_change *c, ef_graph **cond, ef_graph **body) {
    const ef_loop *l = c->loop;
    ef_graph *lean = NULL;
    EF_TRY(ef_walk_graph_with(l->cond, as_it_is, c, c->more, c->n_more, cond));
    EF_TRY(ef_walk_graph_with(l->body, c->visit, c, c->more, c->n_more, body));
    EF_TRY(set_outputs(c, *body));
    EF_TRY(ef_pass_prune(p, *body, &lean));
    if (lean == NULL) return NULL;
    ef_graph_unref(*body);
    *body = lean;
    return NULL;
}

/* The loop's attributes with the wider functions. Its list of shapes is emptied: it would be
 * shorter than the list of variables, and the functions have the shapes too. */
static ef_status *wider_attrs(const ef_node *n, ef_graph *cond, ef_graph *body,
                              const ef_attrs **out) {
    ef_attr_value set[] = {EF_SET_FUNC("cond", cond),
                           EF_SET_FUNC("body", body),
                           {.name = "output_shapes", .kind = EF_ATTR_SHAPES, .n = 0}};
    return ef_attrs_like(n->op, n->op, n->fields, set, 3, out);
}

ef_status *ef_loop_rebuild(ef_passing *p, ef_walk *w, ef_loop_change *c, const ef_edge *in,
                           ef_edge *out) {
    ef_graph *cond = NULL, *body = NULL;
    const ef_attrs *attrs = NULL;
    size_t n = c->loop->body->n_inputs, more = (size_t)c->n_more;
    ef_edge *all = ef_malloc((n + more + 1) * sizeof *all), first;
    ef_status *s = NULL;
    if (all == NULL) return ef_no_memory((n + more) * sizeof *all);
    memcpy(all, in, n * sizeof *all);
    memcpy(all + n, c->start, more * sizeof *all);
    EF_TRY_GOTO(widen(p, c, &cond, &body));
    EF_TRY_GOTO(wider_attrs(c->loop->node, cond, body, &attrs));
    EF_TRY_GOTO(ef_walk_add(w, c->loop->node->op, attrs, all, (int)(n + more), &first));
    for (size_t k = 0; k < n; k++) out[k] = (ef_edge){first.node, (int32_t)k};
    for (size_t k = 0; k < more; k++) c->start[k] = (ef_edge){first.node, (int32_t)(n + k)};
done:
    ef_attrs_unref(attrs);
    ef_graph_unref(cond);
    ef_graph_unref(body);
    ef_free(all);
    return s;
}
