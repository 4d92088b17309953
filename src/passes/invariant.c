/* What a loop's body computes anew in each round from things that do not change is computed once,
 * before the loop, and handed in as one more variable that the body hands back untouched.
 *
 * A loop may run no rounds at all, so only ops that cannot fail leave it, on shapes that are known.
 */
#include "base/alloc.h"
#include "graph/control.h"
#include "passes/passes.h"
#include "passes/walk.h"

enum { MOST = 64 };

typedef struct loop {
    const ef_node *node;
    ef_graph *cond, *body;
    uint8_t *still;      /* by node of the body: 1: the same in every round, 2: and moves out */
    int32_t *base;       /* first value of node k of the body */
    int32_t *extra;      /* by value of the body: which new variable it is, or -1 */
    ef_edge moved[MOST]; /* new variables: values of the body */
    int n_moved;
    int32_t n_values;
} loop;

static bool cannot_fail(const ef_graph *g, const ef_node *n) {
    uint32_t traits = n->op->traits;
    if (traits & (EF_NEVER_FAILS | EF_REDUCES | EF_VIEW_0)) return true;
    if (!(traits & EF_ELEMENTWISE)) return false;
    ef_dtype t = ef_edge_fact(g, n->in[0])->dtype;
    return !ef_dtype_in(t, EF_INTS) || (traits & EF_COMMUTES);
}

static bool all_known(const ef_graph *g, const ef_node *n) {
    for (int k = 0; k < n->n_in; k++) {
        const ef_fact *f = ef_edge_fact(g, n->in[k]);
        if (!ef_shape_known(&f->shape) || !ef_dtype_in(f->dtype, EF_PLAIN)) return false;
    }
    for (int k = 0; k < n->n_out; k++)
        if (!ef_shape_known(&n->out[k].shape) || !ef_dtype_in(n->out[k].dtype, EF_PLAIN))
            return false;
    return n->n_out > 0;
}

static bool may_move(const loop *l, const ef_node *n) {
    uint32_t never = EF_STATEFUL | EF_EFFECT | EF_CONTROL | EF_NO_KERNEL | EF_DYNAMIC;
    if ((n->op->traits & never) || n->n_after > 0 || n->n_in == 0) return false;
    for (int k = 0; k < n->n_in; k++)
        if (!l->still[n->in[k].node]) return false;
    return all_known(l->body, n) && cannot_fail(l->body, n);
}

/* Handed back as it came, and known outside as it is inside. */
static bool stays(const ef_walk *w, const loop *l, size_t k, const ef_edge *in) {
    ef_edge back = l->body->output[k];
    const ef_fact *inside = l->body->node[l->body->input[k]]->out;
    const ef_shape *outside = &ef_edge_fact(w->to, in[k])->shape;
    return back.node == l->body->input[k] && ef_shape_known(outside) &&
           ef_shape_equal(outside, &inside->shape);
}

static void mark_still(const ef_walk *w, loop *l, const ef_edge *in) {
    for (size_t k = 0; k < l->body->n_inputs; k++) l->still[l->body->input[k]] = stays(w, l, k, in);
    for (size_t k = 0; k < l->body->n_nodes; k++) {
        const ef_node *n = l->body->node[k];
        if (n->n_in == 0 && n->n_out == 1 && n->out->value != NULL) l->still[k] = 1;
        if (may_move(l, n)) l->still[k] = 2;
    }
}

static void want(loop *l, ef_edge e) {
    int32_t v = l->base[e.node] + e.index;
    if (l->still[e.node] != 2 || l->extra[v] >= 0 || l->n_moved == MOST) return;
    l->extra[v] = l->n_moved;
    l->moved[l->n_moved++] = e;
}

/* Views cost nothing where they are; a move is for the sake of something that computes. */
static bool computes(const loop *l, ef_edge e) {
    const ef_node *n = l->body->node[e.node];
    if (l->still[e.node] != 2) return false;
    if (!(n->op->traits & EF_VIEW_0)) return true;
    return computes(l, n->in[0]);
}

/* What the rest of the body reads of the moving part. */
static void find_moved(loop *l) {
    for (size_t k = 0; k < l->body->n_nodes; k++) {
        const ef_node *n = l->body->node[k];
        if (l->still[k] == 2) continue;
        for (int i = 0; i < n->n_in; i++)
            if (computes(l, n->in[i])) want(l, n->in[i]);
    }
    for (size_t k = 0; k < l->body->n_outputs; k++)
        if (computes(l, l->body->output[k])) want(l, l->body->output[k]);
}

/* ---- the loop's functions -------------------------------------------------------------------- */

/* Values that have moved are read from the new inputs. */
static ef_status *visit_body(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                             bool *done) {
    const loop *l = w->user;
    (void)in;
    if (l->still[n->id] != 2) return NULL;
    for (int k = 0; k < n->n_out; k++) *done = *done || l->extra[l->base[n->id] + k] >= 0;
    for (int k = 0; k < n->n_out && *done; k++) {
        int32_t x = l->extra[l->base[n->id] + k]; /* an output nobody reads may be any value */
        out[k] = (ef_edge){w->to->input[l->body->n_inputs + (size_t)(x < 0 ? 0 : x)], 0};
    }
    return NULL;
}

static ef_status *visit_cond(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                             bool *done) {
    (void)w, (void)n, (void)in, (void)out, (void)done;
    return NULL;
}

static ef_status *hand_back(const loop *l, ef_graph *body) {
    size_t n = body->n_outputs, extra = (size_t)l->n_moved;
    ef_edge *out = ef_malloc((n + extra + 1) * sizeof *out);
    if (out == NULL) return ef_no_memory((n + extra) * sizeof *out);
    memcpy(out, body->output, n * sizeof *out);
    for (size_t k = 0; k < extra; k++) out[n + k] = (ef_edge){body->input[n + k], 0};
    ef_status *s = ef_graph_set_outputs(body, out, (int)(n + extra));
    ef_free(out);
    return s;
}

/* cond and body with the new variables among their inputs. */
static ef_status *widen(ef_passing *p, loop *l, ef_graph **cond, ef_graph **body) {
    const ef_fact *more[MOST];
    for (int k = 0; k < l->n_moved; k++) more[k] = ef_edge_fact(l->body, l->moved[k]);
    EF_TRY(ef_walk_graph_with(l->cond, visit_cond, NULL, more, l->n_moved, cond));
    EF_TRY(ef_walk_graph_with(l->body, visit_body, l, more, l->n_moved, body));
    ef_graph *lean = NULL;
    EF_TRY(ef_pass_prune(p, *body, &lean));
    if (lean != NULL) {
        ef_graph_unref(*body);
        *body = lean;
    }
    return hand_back(l, *body);
}

/* ---- outside --------------------------------------------------------------------------------- */

static ef_status *add_outside(ef_clone *c, const ef_node *n, const ef_edge *in, ef_edge *out,
                              bool *done) {
    ef_edge first;
    EF_TRY(ef_walk_add(c->user, n->op, n->attrs, in, n->n_in, &first));
    for (int k = 0; k < n->n_out; k++) out[k] = (ef_edge){first.node, k};
    *done = true;
    return NULL;
}

/* The moving part, before the loop: value[k] is what variable k has become there. */
static ef_status *compute_outside(ef_walk *w, const loop *l, const ef_edge *in, ef_edge *value) {
    ef_clone c = {.from = l->body, .to = w->to, .user = w, .visit = add_outside};
    ef_status *s;
    EF_TRY_GOTO(ef_clone_begin(&c));
    for (size_t k = 0; k < l->body->n_inputs; k++)
        ef_clone_set(&c, (ef_edge){l->body->input[k], 0}, in[k]);
    EF_TRY_GOTO(ef_clone_nodes(&c, l->still));
    for (int k = 0; k < l->n_moved; k++) value[k] = ef_clone_moved(&c, l->moved[k]);
done:
    ef_clone_end(&c);
    return s;
}

/* The loop's attributes with the wider functions; shapes it was given are no longer as many as its
 * variables and say nothing that its functions do not. */
static ef_status *wider_attrs(const loop *l, ef_graph *cond, ef_graph *body, const ef_attrs **out) {
    ef_attr_value set[] = {EF_SET_FUNC("cond", cond),
                           EF_SET_FUNC("body", body),
                           {.name = "output_shapes", .kind = EF_ATTR_SHAPES, .n = 0}};
    return ef_attrs_like(l->node->op, l->node->op, l->node->fields, set, 3, out);
}

static ef_status *rewrite(ef_walk *w, loop *l, const ef_edge *in, ef_edge *out) {
    ef_graph *cond = NULL, *body = NULL;
    const ef_attrs *attrs = NULL;
    size_t n = l->body->n_inputs, extra = (size_t)l->n_moved;
    ef_edge *all = ef_malloc((n + extra + 1) * sizeof *all), first;
    ef_status *s = NULL;
    if (all == NULL) return ef_no_memory((n + extra) * sizeof *all);
    memcpy(all, in, n * sizeof *all);
    EF_TRY_GOTO(compute_outside(w, l, in, all + n));
    EF_TRY_GOTO(widen(w->user, l, &cond, &body));
    EF_TRY_GOTO(wider_attrs(l, cond, body, &attrs));
    EF_TRY_GOTO(ef_walk_add(w, l->node->op, attrs, all, (int)(n + extra), &first));
    for (int k = 0; k < l->node->n_out; k++) out[k] = (ef_edge){first.node, k};
done:
    ef_attrs_unref(attrs);
    ef_graph_unref(cond);
    ef_graph_unref(body);
    ef_free(all);
    return s;
}

static ef_status *notes(loop *l) {
    size_t n = l->body->n_nodes;
    l->still = ef_calloc(n + 1, 1);
    l->base = ef_calloc(n + 1, sizeof *l->base);
    if (l->still == NULL || l->base == NULL) return ef_no_memory(n * sizeof *l->base);
    for (size_t k = 0; k < n; k++) l->base[k + 1] = l->base[k] + l->body->node[k]->n_out;
    l->n_values = l->base[n];
    l->extra = ef_malloc(((size_t)l->n_values + 1) * sizeof *l->extra);
    if (l->extra == NULL) return ef_no_memory((size_t)l->n_values * sizeof *l->extra);
    memset(l->extra, 0xFF, (size_t)l->n_values * sizeof *l->extra);
    return NULL;
}

static bool is_loop(const ef_node *n, loop *l) {
    ef_control c;
    if (!(n->op->traits & EF_CONTROL)) return false;
    ef_control_of(n->op, n->fields, &c);
    *l = (loop){.node = n};
    if (c.kind != EF_CONTROL_LOOP) return false;
    l->cond = c.func[0];
    l->body = c.func[1];
    return l->cond->n_captures == 0 && l->body->n_captures == 0 &&
           l->body->n_inputs == l->body->n_outputs && l->body->n_inputs == (size_t)n->n_in;
}

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    loop l;
    if (!is_loop(n, &l) || ef_walk_waits(w, n)) return NULL;
    ef_status *s;
    EF_TRY_GOTO(notes(&l));
    mark_still(w, &l, in);
    find_moved(&l);
    *done = l.n_moved > 0;
    if (*done) s = rewrite(w, &l, in, out);
done:
    ef_free(l.still);
    ef_free(l.base);
    ef_free(l.extra);
    return s;
}

ef_status *ef_pass_invariant(ef_passing *p, const ef_graph *g, ef_graph **out) {
    loop l;
    for (size_t k = 0; k < g->n_nodes; k++)
        if (is_loop(g->node[k], &l)) return ef_walk_graph(g, visit, p, out);
    return NULL;
}
