/* Lists that a loop fills, one element per iteration, and that the loop of its gradient empties.
 *
 * After other passes the backward loop often needs none of a list's elements: it reads a value that
 * every iteration pushed, or a product after the loop reads the whole list. Then the backward loop
 * does not pop them, and if nobody else reads the list, the forward loop does not push them. The
 * variables stay, and both loops return them unchanged.
 *
 * No error is lost. A pop from an empty list fails in the iteration in which a pop that stays
 * fails, since both lists have as many elements. */
#include "passes/loop.h"

/* How many nodes of g read anything of `node`; the last of them is *user. */
static int users_of(const ef_graph *g, int32_t node, const ef_node **user) {
    int found = 0;
    for (size_t k = 0; k < g->n_nodes; k++) {
        bool reads = false;
        for (int i = 0; i < g->node[k]->n_in; i++) reads = reads || g->node[k]->in[i].node == node;
        if (!reads) continue;
        *user = g->node[k];
        found++;
    }
    return found;
}

bool ef_loop_fills(const ef_graph *g, ef_edge e, ef_loop *l, ef_edge *pushed) {
    const ef_node *push = NULL, *made = g->node[e.node];
    if (!ef_loop_of(made, l) || (size_t)e.index >= l->body->n_outputs) return false;
    if (!(g->node[made->in[e.index].node]->op->traits & EF_LIST_NEW)) return false;
    if (users_of(l->body, l->body->input[e.index], &push) != 1) return false;
    if (!(push->op->traits & EF_LIST_PUSH) || push->in[0].node != l->body->input[e.index] ||
        l->body->output[e.index].node != push->id)
        return false;
    *pushed = push->in[1];
    return true;
}

bool ef_loop_pops(const ef_loop *l, size_t k, const ef_node **pop) {
    const ef_graph *body = l->body;
    return body->node[body->input[k]]->out->dtype == EF_VARIANT &&
           users_of(body, body->input[k], pop) == 1 && (*pop)->op->role == EF_ROLE_POP &&
           (*pop)->n_after == 0 && ef_edge_same(body->output[k], (ef_edge){(*pop)->id, 0});
}

static bool is_number(const ef_graph *g, ef_edge e, int64_t value) {
    const ef_tensor *t = ef_edge_fact(g, e)->value;
    return t != NULL && t->data != NULL && ef_dtype_in((ef_dtype)t->dtype, EF_INTS) &&
           ef_count(t) == 1 && ef_element_int((ef_dtype)t->dtype, t->data, 0) == value;
}

/* Whether the pop fits what an earlier loop pushed to the list at edge e of g. */
static bool pops_filled(const ef_graph *g, ef_edge e, const ef_node *pop) {
    ef_loop l;
    ef_edge pushed;
    if (!ef_loop_fills(g, e, &l, &pushed)) return false;
    const ef_fact *f = ef_edge_fact(l.body, pushed);
    return f->dtype == pop->out[1].dtype && ef_shape_known(&f->shape) &&
           ef_shape_equal(&f->shape, &pop->out[1].shape);
}

int ef_loop_emptied(const ef_graph *g, const ef_loop *l, const ef_edge *in) {
    const ef_graph *c = l->cond;
    const ef_node *more = c->node[c->output[0].node], *pop;
    if (more->op->role != EF_ROLE_GREATER || !is_number(c, more->in[1], 0)) return -1;
    const ef_node *length = c->node[more->in[0].node];
    if (length->op->role != EF_ROLE_LENGTH) return -1;
    for (size_t k = 0; k < c->n_inputs; k++)
        if (length->in[0].node == c->input[k])
            return ef_loop_pops(l, k, &pop) && pops_filled(g, in[k], pop) ? (int)k : -1;
    return -1;
}

bool ef_loop_empties(const ef_graph *g, const ef_loop *l, const ef_edge *in, size_t k) {
    const ef_node *pop;
    int by = ef_loop_emptied(g, l, in);
    return by >= 0 && in[k].node == in[by].node && ef_loop_pops(l, k, &pop) &&
           pops_filled(g, in[k], pop);
}

/* ---- lists that nobody reads ----------------------------------------------------------------- */

/* How many inputs of nodes and outputs of g are e. The last such input is *at of *reader. */
static int readers(const ef_graph *g, ef_edge e, const ef_node **reader, int *at) {
    int found = 0;
    for (size_t k = 0; k < g->n_nodes; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (ef_edge_same(g->node[k]->in[i], e)) {
                *reader = g->node[k];
                *at = i;
                found++;
            }
    for (size_t k = 0; k < g->n_outputs; k++) found += ef_edge_same(g->output[k], e);
    return found;
}

static int count_readers(const ef_graph *g, ef_edge e) {
    const ef_node *reader;
    int at;
    return readers(g, e, &reader, &at);
}

/* Whether anything but the pop reads variable k, in the condition or the body, or what is popped.
 */
static bool is_read(const ef_loop *l, size_t k, const ef_node *pop) {
    return count_readers(l->cond, (ef_edge){l->cond->input[k], 0}) > 0 ||
           count_readers(l->body, (ef_edge){pop->id, 1}) > 0 ||
           count_readers(l->body, (ef_edge){l->body->input[k], 0}) > 1;
}

/* Whether the loop need not pop the elements of variable k. */
static bool drops_pop(const ef_graph *g, const ef_loop *l, size_t k) {
    const ef_node *n = l->node, *pop, *other;
    const ef_edge *in = n->in;
    if (!ef_loop_pops(l, k, &pop) || is_read(l, k, pop) || !pops_filled(g, in[k], pop) ||
        count_readers(l->body, (ef_edge){pop->id, 0}) > 1 ||
        count_readers(g, (ef_edge){n->id, (int32_t)k}) > 0)
        return false;
    for (size_t j = 0; j < l->body->n_inputs; j++)
        if (j != k && in[j].node == in[k].node && in[j].index != in[k].index &&
            ef_loop_pops(l, j, &other) && pops_filled(g, in[j], other) && is_read(l, j, other))
            return true;
    return false;
}

/* Whether a push of e's value to the new list `made` cannot fail. */
static bool takes_all(const ef_graph *g, const ef_node *made, const ef_fact *f) {
    ef_attr_value dtype;
    const ef_tensor *shape = ef_edge_fact(g, made->in[0])->value;
    ef_status *s = ef_attrs_get(made->op, made->fields, "element_dtype", &dtype);
    ef_status_free(s);
    if (s != NULL || dtype.as.type != f->dtype || !is_number(g, made->in[1], -1)) return false;
    if (shape == NULL || shape->data == NULL || !ef_shape_known(&f->shape)) return false;
    if (shape->rank == 0) return true;
    if (ef_count(shape) != f->shape.rank) return false;
    for (int d = 0; d < f->shape.rank; d++)
        if (ef_element_int((ef_dtype)shape->dtype, shape->data, d) != f->shape.dim[d]) return false;
    return true;
}

/* Whether the loop need not push to variable k: only a loop that pops nothing reads the list. */
static bool drops_push(const ef_graph *g, const ef_loop *l, size_t k) {
    const ef_node *reader = NULL;
    int at;
    ef_loop filled, back;
    ef_edge pushed;
    const ef_edge end = {l->node->id, (int32_t)k};
    if (!ef_loop_fills(g, end, &filled, &pushed)) return false;
    const ef_node *push = l->body->node[l->body->output[k].node];
    return push->n_after == 0 && count_readers(l->body, (ef_edge){push->id, 0}) == 1 &&
           count_readers(l->body, (ef_edge){l->body->input[k], 0}) == 1 &&
           count_readers(l->cond, (ef_edge){l->cond->input[k], 0}) == 0 &&
           takes_all(g, g->node[l->node->in[k].node], ef_edge_fact(l->body, pushed)) &&
           readers(g, end, &reader, &at) == 1 && reader != NULL && ef_loop_of(reader, &back) &&
           drops_pop(g, &back, (size_t)at);
}

typedef struct dropping {
    ef_loop_change change; /* must be first: it is the `user` of the walk of the body */
    ef_loop loop;
    const ef_graph *g;
    int n;
    int32_t node[EF_LOOP_MOST_NEW]; /* of the body: pushes and pops that go */
} dropping;

static ef_status *visit_body(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                             bool *done) {
    const dropping *d = (const dropping *)w->user;
    for (int k = 0; k < d->n && !*done; k++) {
        if (d->node[k] != n->id) continue;
        for (int i = 0; i < n->n_out; i++) out[i] = in[0]; /* nothing reads output 1 */
        *done = true;
    }
    return NULL;
}

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    dropping d = {.change = {.visit = visit_body}, .g = w->from};
    if (!ef_loop_of(n, &d.loop) || ef_walk_waits(w, n)) return NULL;
    d.change.loop = &d.loop;
    for (size_t k = 0; k < d.loop.body->n_inputs && d.n < EF_LOOP_MOST_NEW; k++)
        if (drops_pop(d.g, &d.loop, k) || drops_push(d.g, &d.loop, k))
            d.node[d.n++] = d.loop.body->output[k].node;
    if (d.n == 0) return NULL;
    *done = true;
    return ef_loop_rebuild(w->user, w, &d.change, in, out);
}

ef_status *ef_pass_lists(ef_passing *p, const ef_graph *g, ef_graph **out) {
    return ef_graph_has_loop(g) ? ef_walk_graph(g, visit, p, out) : NULL;
}
