/* Copying a graph node by node. A node's inputs precede it, so one forward pass sees every node
 * after its inputs in their final form, and nothing that a pass builds needs a second visit. */
#include "passes/walk.h"
#include "base/alloc.h"
#include "base/array.h"

/* A node that is kept in any case, and in its place, needs no control edge to be waited for. */
static bool kept_anyway(const ef_graph *g, int32_t node) {
    uint32_t traits = g->node[node]->op->traits;
    return traits & (EF_NO_KERNEL | EF_EFFECT);
}

bool ef_mark_needed(const ef_graph *g, uint8_t *need) {
    bool waste = false;
    for (size_t k = 0; k < g->n_outputs; k++) need[g->output[k].node] = 1;
    for (size_t k = 0; k < g->n_inputs; k++) need[g->input[k]] = 1;
    for (size_t k = g->n_nodes; k-- > 0;) {
        const ef_node *n = g->node[k];
        if (n->op->traits & EF_EFFECT) need[k] = 1;
        if (!need[k]) {
            waste = true;
            continue;
        }
        for (int i = 0; i < n->n_in; i++) need[n->in[i].node] = 1;
        for (int i = 0; i < n->n_after; i++)
            if (!kept_anyway(g, n->after[i])) need[n->after[i]] = 1;
    }
    return waste;
}

bool ef_walk_waits(const ef_walk *w, const ef_node *n) {
    for (int i = 0; i < n->n_after; i++)
        if (!kept_anyway(w->from, n->after[i])) return true;
    return false;
}

/* ---- adding ---------------------------------------------------------------------------------- */

static ef_status *make_live(ef_walk *w) {
    size_t had = w->live->cap;
    if (w->to->n_nodes + 1 <= had) return NULL;
    EF_TRY(EF_GROW(&w->live->count, &w->live->cap, w->to->n_nodes + 1));
    memset(w->live->count + had, 0, (w->live->cap - had) * sizeof *w->live->count);
    return NULL;
}

static ef_status *add(ef_walk *w, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                      int n_in, int n_after, int32_t *node) {
    size_t had = w->to->n_nodes;
    EF_TRY(ef_graph_add_after(w->to, op, attrs, in, n_in, w->after, n_after, NULL, node));
    if (w->to->n_nodes == had) return NULL;
    EF_TRY(make_live(w));
    for (int k = 0; k < n_in; k++) w->live->count[in[k].node]++;
    return NULL;
}

ef_status *ef_walk_add(ef_walk *w, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                       int n_in, ef_edge *out) {
    int32_t node;
    EF_TRY(add(w, op, attrs, in, n_in, 0, &node));
    *out = (ef_edge){node, 0};
    return NULL;
}

ef_status *ef_walk_constant(ef_walk *w, const ef_tensor *t, ef_edge *out) {
    EF_TRY(ef_graph_constant(w->to, t, out));
    return make_live(w);
}

ef_status *ef_walk_copy(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out) {
    int n_after = 0;
    for (int i = 0; i < n->n_after; i++) {
        int32_t old = n->after[i];
        if (kept_anyway(w->from, old)) continue;
        if (w->from->node[old]->n_out > 0)
            w->after[n_after++] = ef_walk_moved(w, (ef_edge){old, 0}).node;
        else if (w->moved[w->base[old]].node >= 0)
            w->after[n_after++] = w->moved[w->base[old]].node;
    }
    int32_t node;
    EF_TRY(add(w, n->op, n->attrs, in, n->n_in, n_after, &node));
    w->to->node[node]->device = n->device;
    for (int k = 0; k < n->n_out; k++) out[k] = (ef_edge){node, k};
    if (n->n_out == 0) w->moved[w->base[n->id]] = (ef_edge){node, 0};
    return NULL;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void count_uses(ef_walk *w) {
    const ef_graph *g = w->from;
    for (size_t k = 0; k < g->n_nodes; k++) {
        const ef_node *n = g->node[k];
        if (!w->need[k]) continue;
        for (int i = 0; i < n->n_in; i++) w->uses[w->base[n->in[i].node] + n->in[i].index]++;
    }
    for (size_t k = 0; k < g->n_outputs; k++)
        w->uses[w->base[g->output[k].node] + g->output[k].index]++;
}

static void *room(ef_walk *w, size_t count, size_t size) {
    return ef_arena_zalloc(&w->memory, (count + 1) * size);
}

ef_status *ef_walk_begin(ef_walk *w, const ef_graph *from, ef_graph *to, ef_live *live) {
    w->from = from;
    w->to = to;
    w->live = live;
    size_t n = from->n_nodes, values = 0, wide = 1;
    for (size_t k = 0; k < n; k++) {
        const ef_node *x = from->node[k];
        values += x->n_out > 0 ? (size_t)x->n_out : 1; /* a place for its node in any case */
        if ((size_t)x->n_in > wide) wide = (size_t)x->n_in;
        if ((size_t)x->n_out > wide) wide = (size_t)x->n_out;
        if ((size_t)x->n_after > wide) wide = (size_t)x->n_after;
    }
    w->need = room(w, n, sizeof *w->need);
    w->base = room(w, n, sizeof *w->base);
    w->uses = room(w, values, sizeof *w->uses);
    w->moved = room(w, values, sizeof *w->moved);
    w->in = room(w, wide, sizeof *w->in);
    w->out = room(w, wide, sizeof *w->out);
    w->after = room(w, wide, sizeof *w->after);
    if (w->need == NULL || w->base == NULL || w->uses == NULL || w->moved == NULL ||
        w->in == NULL || w->out == NULL || w->after == NULL)
        return ef_no_memory(values * sizeof *w->moved);
    for (size_t k = 0; k < n; k++)
        w->base[k + 1] = w->base[k] + (from->node[k]->n_out > 0 ? from->node[k]->n_out : 1);
    memset(w->moved, 0xFF, values * sizeof *w->moved);
    ef_mark_needed(from, w->need);
    count_uses(w);
    return NULL;
}

void ef_walk_end(ef_walk *w) { ef_arena_free(&w->memory); }

static ef_status *visit_node(ef_walk *w, const ef_node *n) {
    w->to->copies = n;
    for (int i = 0; i < n->n_in; i++) {
        w->in[i] = ef_walk_moved(w, n->in[i]);
        if (w->in[i].node < 0)
            return ef_error(EF_INTERNAL, "%s: input %d comes from a placeholder nobody feeds",
                            n->op->name, i);
        w->live->count[w->in[i].node]--;
    }
    bool done = false;
    EF_TRY(w->visit(w, n, w->in, w->out, &done));
    if (!done) EF_TRY(ef_walk_copy(w, n, w->in, w->out));
    for (int k = 0; k < n->n_out; k++) {
        int32_t v = w->base[n->id] + k;
        w->moved[v] = w->out[k];
        w->live->count[w->out[k].node] += w->uses[v];
    }
    return NULL;
}

ef_status *ef_walk_nodes(ef_walk *w) {
    for (size_t k = 0; k < w->from->n_nodes; k++) {
        const ef_node *n = w->from->node[k];
        if (!w->need[k] || (n->op->traits & EF_NO_KERNEL)) continue;
        EF_TRY(visit_node(w, n));
    }
    return NULL;
}

static ef_status *copy_inputs(ef_walk *w) {
    for (size_t k = 0; k < w->from->n_inputs; k++) {
        int32_t old = w->from->input[k], v = w->base[old];
        EF_TRY(ef_graph_input_like(w->to, w->from->node[old]->out, NULL, &w->moved[v]));
        EF_TRY(make_live(w));
        w->live->count[w->moved[v].node] += w->uses[v];
    }
    for (int k = 0; k < w->n_more; k++) {
        ef_edge e;
        EF_TRY(ef_graph_input_like(w->to, w->more[k], NULL, &e));
        EF_TRY(make_live(w));
    }
    return NULL;
}

static ef_status *copy_outputs(ef_walk *w) {
    size_t n = w->from->n_outputs;
    ef_edge *out = room(w, n, sizeof *out);
    if (out == NULL) return ef_no_memory(n * sizeof *out);
    for (size_t k = 0; k < n; k++) out[k] = ef_walk_moved(w, w->from->output[k]);
    return ef_graph_set_outputs(w->to, out, (int)n);
}

ef_status *ef_walk_graph(const ef_graph *g, ef_walk_fn *visit, void *user, ef_graph **out) {
    return ef_walk_graph_with(g, visit, user, NULL, 0, out);
}

ef_status *ef_walk_graph_with(const ef_graph *g, ef_walk_fn *visit, void *user,
                              const ef_fact *const *more, int n_more, ef_graph **out) {
    ef_live live = {0};
    ef_walk w = {.visit = visit, .user = user, .more = more, .n_more = n_more};
    ef_graph *to = ef_graph_make();
    if (to == NULL) return ef_no_memory(sizeof *to);
    to->merge = true;
    to->function = g->function;
    to->n_symbols = g->n_symbols;
    ef_status *s;
    EF_TRY_GOTO(ef_walk_begin(&w, g, to, &live));
    EF_TRY_GOTO(copy_inputs(&w));
    EF_TRY_GOTO(ef_walk_nodes(&w));
    EF_TRY_GOTO(copy_outputs(&w));
done:
    ef_walk_end(&w);
    ef_free(live.count);
    to->merge = false; /* finished: the index of equal nodes is not needed any more */
    ef_map_free(&to->cons);
    to->cons = (ef_map){0};
    to->copies = NULL;
    if (s != NULL)
        ef_graph_unref(to);
    else
        *out = to;
    return s;
}
