/* Loop-invariant code motion. What the body computes in each iteration from values that no
 * iteration changes is computed once, before the loop, and becomes one more loop variable, which
 * the body returns unchanged.
 *
 * A loop may run no iteration at all, so only ops that cannot fail are moved, and only if their
 * shapes are known. A variable may be uninitialised, so it is read before the loop only if a first
 * iteration is certain, and only if nothing in the loop has a side effect. */
#include "base/alloc.h"
#include "passes/loop.h"

typedef struct moving {
    ef_loop_change change; /* must be first: it is the `user` of the walk of the body */
    ef_loop loop;
    bool reads;     /* variables may be read before the loop: it runs, and changes none */
    uint8_t *still; /* by node of the body: 1: the same in every iteration, 2: and moves out */
    int32_t *base;  /* first value of node k of the body */
    int32_t *extra; /* by value of the body: which new variable it is, or -1 */
    ef_edge moved[EF_LOOP_MOST_NEW]; /* new variables: values of the body */
    int n_moved;
    int32_t n_values;
} moving;

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

/* A read of a variable whose handle no iteration changes. */
static bool may_read_before(const moving *l, const ef_node *n) {
    return l->reads && (n->op->traits & EF_READS_VARIABLE) && n->n_after == 0 && n->n_in == 1 &&
           l->still[n->in[0].node] && ef_shape_known(&n->out->shape) &&
           ef_dtype_in(n->out->dtype, EF_PLAIN);
}

static bool may_move(const moving *l, const ef_node *n) {
    uint32_t never = EF_STATEFUL | EF_EFFECT | EF_CONTROL | EF_NO_KERNEL | EF_DYNAMIC;
    if ((n->op->traits & never) || n->n_after > 0 || n->n_in == 0) return false;
    for (int k = 0; k < n->n_in; k++)
        if (!l->still[n->in[k].node]) return false;
    return all_known(l->loop.body, n) && cannot_fail(l->loop.body, n);
}

/* Whether the body returns variable k unchanged, and its shape is known outside as it is inside. */
static bool stays(const ef_walk *w, const moving *l, size_t k, const ef_edge *in) {
    ef_edge back = l->loop.body->output[k];
    const ef_fact *inside = l->loop.body->node[l->loop.body->input[k]]->out;
    const ef_shape *outside = &ef_edge_fact(w->to, in[k])->shape;
    return back.node == l->loop.body->input[k] && ef_shape_known(outside) &&
           ef_shape_equal(outside, &inside->shape);
}

static void mark_still(const ef_walk *w, moving *l, const ef_edge *in) {
    for (size_t k = 0; k < l->loop.body->n_inputs; k++)
        l->still[l->loop.body->input[k]] = stays(w, l, k, in);
    for (size_t k = 0; k < l->loop.body->n_nodes; k++) {
        const ef_node *n = l->loop.body->node[k];
        if (n->n_in == 0 && n->n_out == 1 && n->out->value != NULL) l->still[k] = 1;
        if (may_move(l, n) || may_read_before(l, n)) l->still[k] = 2;
    }
}

static void want(moving *l, ef_edge e) {
    int32_t v = l->base[e.node] + e.index;
    if (l->still[e.node] != 2 || l->extra[v] >= 0 || l->n_moved == EF_LOOP_MOST_NEW) return;
    l->extra[v] = l->n_moved;
    l->moved[l->n_moved++] = e;
}

/* Views cost nothing in the body; a value is moved only if something is computed for it. */
static bool computes(const moving *l, ef_edge e) {
    const ef_node *n = l->loop.body->node[e.node];
    if (l->still[e.node] != 2) return false;
    if (!(n->op->traits & EF_VIEW_0)) return true;
    return computes(l, n->in[0]);
}

/* Finds the moved values that the rest of the body reads. */
static void find_moved(moving *l) {
    for (size_t k = 0; k < l->loop.body->n_nodes; k++) {
        const ef_node *n = l->loop.body->node[k];
        if (l->still[k] == 2) continue;
        for (int i = 0; i < n->n_in; i++)
            if (computes(l, n->in[i])) want(l, n->in[i]);
    }
    for (size_t k = 0; k < l->loop.body->n_outputs; k++)
        if (computes(l, l->loop.body->output[k])) want(l, l->loop.body->output[k]);
}

/* ---- the loop's body ------------------------------------------------------------------------- */

/* Values that have moved are read from the new inputs. */
static ef_status *visit_body(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                             bool *done) {
    const moving *l = (const moving *)w->user;
    (void)in;
    if (l->still[n->id] != 2) return NULL;
    for (int k = 0; k < n->n_out; k++) *done = *done || l->extra[l->base[n->id] + k] >= 0;
    for (int k = 0; k < n->n_out && *done; k++) {
        int32_t x = l->extra[l->base[n->id] + k]; /* for an output nobody reads any value will do */
        out[k] = (ef_edge){w->to->input[l->loop.body->n_inputs + (size_t)(x < 0 ? 0 : x)], 0};
    }
    return NULL;
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

/* Copies the moved nodes before the loop; value[k] is the edge of new variable k there. */
static ef_status *compute_outside(ef_walk *w, const moving *l, const ef_edge *in, ef_edge *value) {
    ef_clone c = {.from = l->loop.body, .to = w->to, .user = w, .visit = add_outside};
    ef_status *s;
    EF_TRY_GOTO(ef_clone_begin(&c));
    for (size_t k = 0; k < l->loop.body->n_inputs; k++)
        ef_clone_set(&c, (ef_edge){l->loop.body->input[k], 0}, in[k]);
    EF_TRY_GOTO(ef_clone_nodes(&c, l->still));
    for (int k = 0; k < l->n_moved; k++) value[k] = ef_clone_moved(&c, l->moved[k]);
done:
    ef_clone_end(&c);
    return s;
}

static ef_status *notes(moving *l) {
    size_t n = l->loop.body->n_nodes;
    l->still = ef_calloc(n + 1, 1);
    l->base = ef_calloc(n + 1, sizeof *l->base);
    if (l->still == NULL || l->base == NULL) return ef_no_memory(n * sizeof *l->base);
    for (size_t k = 0; k < n; k++) l->base[k + 1] = l->base[k] + l->loop.body->node[k]->n_out;
    l->n_values = l->base[n];
    l->extra = ef_malloc(((size_t)l->n_values + 1) * sizeof *l->extra);
    if (l->extra == NULL) return ef_no_memory((size_t)l->n_values * sizeof *l->extra);
    memset(l->extra, 0xFF, (size_t)l->n_values * sizeof *l->extra);
    return NULL;
}

static bool has_effect(const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++)
        if (g->node[k]->op->traits & EF_EFFECT) return true;
    return false;
}

/* Sets l->reads, if there is anything to read. */
static ef_status *may_read(const ef_walk *w, moving *l, const ef_edge *in) {
    bool any = false;
    for (size_t k = 0; k < l->loop.body->n_nodes && !any; k++)
        any = l->loop.body->node[k]->op->traits & EF_READS_VARIABLE;
    if (!any || has_effect(l->loop.body) || has_effect(l->loop.cond)) return NULL;
    return ef_loop_runs(w, &l->loop, in, 0, &l->reads);
}

static ef_status *rewrite(ef_walk *w, moving *l, const ef_edge *in, ef_edge *out) {
    ef_loop_change *c = &l->change;
    *c = (ef_loop_change){.loop = &l->loop, .visit = visit_body, .n_more = l->n_moved};
    for (int k = 0; k < l->n_moved; k++) c->more[k] = ef_edge_fact(l->loop.body, l->moved[k]);
    EF_TRY(compute_outside(w, l, in, c->start));
    return ef_loop_rebuild(w->user, w, c, in, out);
}

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    moving l = {.n_moved = 0};
    if (!ef_loop_of(n, &l.loop) || ef_walk_waits(w, n)) return NULL;
    ef_status *s;
    EF_TRY_GOTO(notes(&l));
    EF_TRY_GOTO(may_read(w, &l, in));
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
    return ef_graph_has_loop(g) ? ef_walk_graph(g, visit, p, out) : NULL;
}
