/* The gradient of a loop pops from lists what each iteration of the loop saved there. If every
 * iteration pushed the same value to a list, the backward loop reads that value instead. The list
 * stays, and is popped as before, so a pop of an empty list still fails. */
#include "passes/loop.h"

typedef struct saved {
    ef_loop_change change; /* must be first: it is the `user` of the walk of the body */
    ef_loop loop;
    int32_t pop[EF_LOOP_MOST_NEW]; /* by new variable: the node whose element it replaces */
} saved;

/* How many nodes of g read anything of `node`; the last of them is *user. */
static int users_of(const ef_graph *g, int32_t node, const ef_node **user) {
    int found = 0;
    for (size_t k = 0; k < g->n_nodes; k++)
        for (int i = 0; i < g->node[k]->n_in; i++)
            if (g->node[k]->in[i].node == node) {
                *user = g->node[k];
                found++;
            }
    return found;
}

/* The value with which an earlier loop filled the list at edge e of g: it starts as a new list, and
 * every iteration pushes the same. */
static bool same_in_all(const ef_graph *g, ef_edge e, ef_edge *value) {
    ef_loop l;
    const ef_node *push = NULL;
    const ef_node *made = g->node[e.node];
    if (!ef_loop_of(made, &l) || (size_t)e.index >= l.body->n_outputs) return false;
    if (!(g->node[made->in[e.index].node]->op->traits & EF_LIST_NEW)) return false;
    if (users_of(l.body, l.body->input[e.index], &push) != 1) return false;
    if (!(push->op->traits & EF_LIST_PUSH) || push->in[0].node != l.body->input[e.index] ||
        l.body->output[e.index].node != push->id)
        return false;
    int fixed = ef_loop_fixed_at(&l, push->in[1]);
    if (fixed >= 0) *value = made->in[fixed];
    return fixed >= 0;
}

static void find(const ef_walk *w, saved *s, const ef_edge *in) {
    const ef_graph *body = s->loop.body;
    ef_loop_change *c = &s->change;
    for (size_t k = 0; k < body->n_inputs && c->n_more < EF_LOOP_MOST_NEW; k++) {
        const ef_node *pop = NULL;
        ef_edge value;
        if (body->node[body->input[k]]->out->dtype != EF_VARIANT ||
            users_of(body, body->input[k], &pop) != 1 || pop->op->role != EF_ROLE_POP ||
            !ef_edge_same(body->output[k], (ef_edge){pop->id, 0}) ||
            !same_in_all(w->to, in[k], &value))
            continue;
        if (!ef_shape_equal(&ef_edge_fact(w->to, value)->shape, &pop->out[1].shape)) continue;
        s->pop[c->n_more] = pop->id;
        c->more[c->n_more] = &pop->out[1];
        c->start[c->n_more++] = value;
    }
}

static ef_status *visit_body(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                             bool *done) {
    const saved *s = (const saved *)w->user;
    for (int k = 0; k < s->change.n_more && !*done; k++) {
        if (s->pop[k] != n->id) continue;
        EF_TRY(ef_walk_copy(w, n, in, out));
        out[1] = (ef_edge){w->to->input[s->loop.body->n_inputs + (size_t)k], 0};
        *done = true;
    }
    return NULL;
}

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    saved s = {.change = {.visit = visit_body}};
    if (!ef_loop_of(n, &s.loop) || ef_walk_waits(w, n)) return NULL;
    s.change.loop = &s.loop;
    find(w, &s, in);
    if (s.change.n_more == 0) return NULL;
    *done = true;
    return ef_loop_rebuild(w->user, w, &s.change, in, out);
}

ef_status *ef_pass_saved(ef_passing *p, const ef_graph *g, ef_graph **out) {
    return ef_graph_has_loop(g) ? ef_walk_graph(g, visit, p, out) : NULL;
}
