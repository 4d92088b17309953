/* The update of a parameter by Adam, written as Keras writes it - three assignments, each with a
 * chain of elementwise ops - becomes one op that loads and stores every element once:
 *
 *   m += (g - m) * keep1     v += (g*g - v) * keep2     w -= m * step / (sqrt(v) + epsilon)
 *
 * The assignments to m and v move down to the one to w, so nothing else between the first read of m
 * or v and the last assignment may depend on state. */
#include "base/alloc.h"
#include "ops/searched_ops.h"
#include "passes/passes.h"
#include "passes/walk.h"

typedef struct update {              /* ids of nodes, and edges, of the old graph */
    int32_t first, second, last;     /* the assignments to m, v and w */
    int32_t old_m, old_v;            /* what the first two read */
    int32_t new_m, new_v;            /* what the last one reads */
    ef_edge w, m, v;                 /* handles */
    ef_edge step, keep1, keep2, eps; /* scalars */
    ef_edge grad;
} update;

typedef struct updates {
    update *found;
    size_t n;
} updates;

/* ---- finding --------------------------------------------------------------------------------- */

static const ef_node *maker(const ef_graph *g, ef_edge e, const ef_op *op) {
    const ef_node *n = g->node[e.node];
    return n->op == op && n->device == 0 ? n : NULL;
}

static bool is_scalar(const ef_graph *g, ef_edge e) { return ef_edge_fact(g, e)->shape.rank == 0; }

/* e is x times a scalar, in either order. */
static bool is_scaled(const ef_graph *g, ef_edge e, const ef_op *of, const ef_node **x,
                      ef_edge *scale) {
    const ef_node *n = maker(g, e, ef_adam.multiply);
    for (int i = 0; n != NULL && i < 2; i++) {
        *x = maker(g, n->in[i], of);
        *scale = n->in[1 - i];
        if (*x != NULL && is_scalar(g, *scale)) return true;
    }
    return false;
}

static bool is_square(const ef_graph *g, ef_edge e, ef_edge of) {
    const ef_node *n = maker(g, e, ef_adam.square);
    if (n != NULL) return ef_edge_same(n->in[0], of);
    n = maker(g, e, ef_adam.multiply);
    return n != NULL && ef_edge_same(n->in[0], of) && ef_edge_same(n->in[1], of);
}

/* The last AssignAdd before node `end` to the variable of the handle; -1: none. */
static int32_t addition_before(const ef_graph *g, int32_t end, ef_edge handle) {
    for (int32_t k = end - 1; k >= 0; k--) {
        const ef_node *n = g->node[k];
        if (!(n->op->traits & EF_EFFECT)) continue;
        if (n->op == ef_adam.add_to && ef_edge_same(n->in[0], handle)) return k;
    }
    return -1;
}

/* Whether node `at` adds (x - old) * keep to the variable of the handle. */
static bool is_moment(const ef_graph *g, int32_t at, ef_edge handle, ef_edge *x, int32_t *old,
                      ef_edge *keep) {
    const ef_node *difference, *read;
    if (at < 0 || g->node[at]->device != 0) return false;
    if (!is_scaled(g, g->node[at]->in[1], ef_adam.subtract, &difference, keep)) return false;
    read = maker(g, difference->in[1], ef_adam.read);
    if (read == NULL || !ef_edge_same(read->in[0], handle)) return false;
    *x = difference->in[0];
    *old = read->id;
    return true;
}

/* The last assignment's ratio: m * step / (sqrt(v) + epsilon). */
static bool is_ratio(const ef_graph *g, ef_edge e, update *u) {
    const ef_node *m, *v, *root = NULL, *n = maker(g, e, ef_adam.divide);
    if (n == NULL || !is_scaled(g, n->in[0], ef_adam.read, &m, &u->step)) return false;
    const ef_node *sum = maker(g, n->in[1], ef_adam.add);
    for (int i = 0; sum != NULL && root == NULL && i < 2; i++) {
        root = maker(g, sum->in[i], ef_adam.root);
        u->eps = sum->in[1 - i];
    }
    if (root == NULL || !is_scalar(g, u->eps)) return false;
    v = maker(g, root->in[0], ef_adam.read);
    if (v == NULL) return false;
    u->new_m = m->id, u->new_v = v->id;
    u->m = m->in[0], u->v = v->in[0];
    return true;
}

/* All operands have one dtype and one known shape: the fused op does not broadcast. */
static bool same_elements(const ef_graph *g, const update *u) {
    const ef_fact *grad = ef_edge_fact(g, u->grad), *w = ef_edge_fact(g, u->w)->handle;
    const ef_edge read[] = {{u->old_m, 0}, {u->old_v, 0}};
    if (!ef_dtype_in(grad->dtype, EF_BIT(F32) | EF_BIT(F64)) || !ef_shape_known(&grad->shape) ||
        w == NULL || w->dtype != grad->dtype || !ef_shape_equal(&w->shape, &grad->shape))
        return false;
    for (int k = 0; k < 2; k++)
        if (!ef_shape_equal(&ef_edge_fact(g, read[k])->shape, &grad->shape)) return false;
    return true;
}

/* Whether nothing else reads or changes state from the first read to the last assignment. Reads of
 * other variables before the first assignment are harmless. */
static bool undisturbed(const ef_graph *g, const update *u) {
    if (u->old_m > u->first || u->old_v < u->first || u->second < u->old_v ||
        u->new_m < u->second || u->new_v < u->second)
        return false;
    for (int32_t k = u->old_m; k <= u->last; k++) {
        const ef_node *n = g->node[k];
        if (!(n->op->traits & (EF_STATEFUL | EF_EFFECT | EF_CONTROL))) continue;
        if (k < u->first && n->op == ef_adam.read) continue;
        if (k != u->old_m && k != u->first && k != u->old_v && k != u->second && k != u->new_m &&
            k != u->new_v && k != u->last)
            return false;
    }
    return true;
}

/* Whether the values read after the first two assignments are used by the last one only: the fused
 * op assigns later, so other readers would see the old values. */
static bool unseen(const ef_graph *g, const int32_t *uses, const update *u) {
    const ef_node *ratio = g->node[g->node[u->last]->in[1].node];
    const ef_node *sum = g->node[ratio->in[1].node];
    const int32_t root = sum->in[ef_edge_same(sum->in[0], u->eps) ? 1 : 0].node;
    const int32_t once[] = {u->new_m, ratio->in[0].node, u->new_v, root, sum->id, ratio->id};
    for (int k = 0; k < 6; k++)
        if (uses[once[k]] != 1) return false;
    return true;
}

static bool is_update(const ef_graph *g, const int32_t *uses, const ef_node *n, update *u) {
    ef_edge square;
    if (n->op != ef_adam.subtract_from || n->device != 0) return false;
    *u = (update){.last = n->id, .w = n->in[0]};
    if (!is_ratio(g, n->in[1], u)) return false;
    u->first = addition_before(g, u->new_m, u->m);
    u->second = addition_before(g, u->new_v, u->v);
    return is_moment(g, u->first, u->m, &u->grad, &u->old_m, &u->keep1) &&
           is_moment(g, u->second, u->v, &square, &u->old_v, &u->keep2) &&
           is_square(g, square, u->grad) && same_elements(g, u) && undisturbed(g, u) &&
           unseen(g, uses, u);
}

static ef_status *find(const ef_graph *g, updates *all) {
    size_t most = 0;
    for (size_t k = 0; k < g->n_nodes; k++) most += g->node[k]->op == ef_adam.subtract_from;
    if (most == 0) return NULL;
    all->found = ef_malloc(most * sizeof *all->found);
    if (all->found == NULL) return ef_no_memory(most * sizeof *all->found);
    int32_t *uses = ef_calloc(g->n_nodes, sizeof *uses); /* by node */
    if (uses == NULL) return ef_no_memory(g->n_nodes * sizeof *uses);
    for (size_t k = 0; k < g->n_nodes; k++)
        for (int i = 0; i < g->node[k]->n_in; i++) uses[g->node[k]->in[i].node]++;
    for (size_t k = 0; k < g->n_outputs; k++) uses[g->output[k].node]++;
    for (size_t k = 0; k < g->n_nodes; k++)
        if (is_update(g, uses, g->node[k], &all->found[all->n])) all->n++;
    ef_free(uses);
    return NULL;
}

/* ---- rewriting ------------------------------------------------------------------------------- */

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    const updates *all = w->user;
    (void)in;
    if (!(n->op->traits & EF_EFFECT)) return NULL;
    for (size_t k = 0; k < all->n && !*done; k++) {
        const update *u = &all->found[k];
        *done = n->id == u->first || n->id == u->second || n->id == u->last;
        if (n->id != u->last) continue;
        const ef_edge old[] = {u->w, u->m, u->v, u->step, u->keep1, u->keep2, u->eps, u->grad};
        ef_edge with[8];
        for (int j = 0; j < 8; j++) with[j] = ef_walk_moved(w, old[j]);
        return ef_walk_add(w, ef_adam.fused, NULL, with, 8, out);
    }
    return NULL;
}

ef_status *ef_pass_updates(ef_passing *p, const ef_graph *g, ef_graph **out) {
    (void)p;
    updates all = {0};
    if (!g->function) return NULL;
    ef_status *s = find(g, &all);
    if (s == NULL && all.n > 0) s = ef_walk_graph(g, visit, &all, out);
    ef_free(all.found);
    return s;
}
