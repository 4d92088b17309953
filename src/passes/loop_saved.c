/* The gradient of a loop pops from lists what each iteration of the loop saved there. If every
 * iteration pushed the same value to a list, the backward loop reads that value instead. The list
 * stays, and is popped as before, so a pop of an empty list still fails. */
#include "passes/loop.h"

typedef struct saved {
    ef_loop_change change; /* must be first: it is the `user` of the walk of the body */
    ef_loop loop;
    int32_t pop[EF_LOOP_MOST_NEW]; /* by new variable: the node whose element it replaces */
} saved;

/* The value with which an earlier loop filled the list at edge e, if it is the same in every
 * iteration. */
static ef_status *same_in_all(ef_walk *w, ef_edge e, ef_edge *value, bool *yes) {
    ef_loop l;
    ef_edge pushed;
    *yes = false;
    if (!ef_loop_fills(w->to, e, &l, &pushed)) return NULL;
    const ef_tensor *constant = ef_edge_fact(l.body, pushed)->value;
    int fixed = ef_loop_fixed_at(&l, pushed);
    *yes = fixed >= 0;
    if (*yes) *value = w->to->node[e.node]->in[fixed];
    if (*yes || constant == NULL || constant->data == NULL) return NULL;
    *yes = true;
    return ef_walk_constant(w, constant, value);
}

static ef_status *find(ef_walk *w, saved *s, const ef_edge *in) {
    const ef_graph *body = s->loop.body;
    ef_loop_change *c = &s->change;
    for (size_t k = 0; k < body->n_inputs && c->n_more < EF_LOOP_MOST_NEW; k++) {
        const ef_node *pop = NULL;
        ef_edge value;
        bool same;
        if (!ef_loop_pops(&s->loop, k, &pop)) continue;
        EF_TRY(same_in_all(w, in[k], &value, &same));
        if (!same) continue;
        if (!ef_shape_equal(&ef_edge_fact(w->to, value)->shape, &pop->out[1].shape)) continue;
        s->pop[c->n_more] = pop->id;
        c->more[c->n_more] = &pop->out[1];
        c->start[c->n_more++] = value;
    }
    return NULL;
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
    EF_TRY(find(w, &s, in));
    if (s.change.n_more == 0) return NULL;
    *done = true;
    return ef_loop_rebuild(w->user, w, &s.change, in, out);
}

ef_status *ef_pass_saved(ef_passing *p, const ef_graph *g, ef_graph **out) {
    return ef_graph_has_loop(g) ? ef_walk_graph(g, visit, p, out) : NULL;
}
