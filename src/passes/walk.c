/* Walking a graph node by node, by means of the cloner. A node's inputs precede it, so one forward
 * pass visits every node after its inputs have their final form, and no node that a pass adds needs
 * a second visit. */
#include "passes/walk.h"
#include "base/alloc.h"
#include "base/array.h"

/* Whether the node stays in program order anyway, so that it need not be a control input. */
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

ef_status *ef_walk_grown(ef_walk *w) {
    size_t had = w->live->cap;
    if (w->to->n_nodes + 1 <= had) return NULL;
    EF_TRY(EF_GROW(&w->live->count, &w->live->cap, w->to->n_nodes + 1));
    memset(w->live->count + had, 0, (w->live->cap - had) * sizeof *w->live->count);
    return NULL;
}

/* Counts the uses by a node if it was added; a node that was found instead has been counted. */
static ef_status *count_added(ef_walk *w, size_t had, const ef_edge *in, int n_in) {
    if (w->to->n_nodes == had) return NULL;
    EF_TRY(ef_walk_grown(w));
    for (int k = 0; k < n_in; k++) w->live->count[in[k].node]++;
    return NULL;
}

ef_status *ef_walk_add(ef_walk *w, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                       int n_in, ef_edge *out) {
    size_t had = w->to->n_nodes;
    int32_t node;
    EF_TRY(ef_graph_add(w->to, op, attrs, in, n_in, NULL, &node));
    *out = (ef_edge){node, 0};
    return count_added(w, had, in, n_in);
}

ef_status *ef_walk_constant(ef_walk *w, const ef_tensor *t, ef_edge *out) {
    EF_TRY(ef_graph_constant(w->to, t, out));
    return ef_walk_grown(w);
}

ef_status *ef_walk_copy(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out) {
    size_t had = w->to->n_nodes;
    EF_TRY(ef_clone_copy(&w->clone, n, in, out));
    return count_added(w, had, in, n->n_in);
}

/* ---- the walk -------------------------------------------------------------------------------- */

static void count_uses(ef_walk *w) {
    const ef_graph *g = w->from;
    for (size_t k = 0; k < g->n_nodes; k++) {
        const ef_node *n = g->node[k];
        if (!w->need[k]) continue;
        for (int i = 0; i < n->n_in; i++) w->uses[ef_clone_value(&w->clone, n->in[i])]++;
    }
    for (size_t k = 0; k < g->n_outputs; k++) w->uses[ef_clone_value(&w->clone, g->output[k])]++;
}

static ef_clone_visit_fn visit_node;
static ef_clone_wait_fn waits;

ef_status *ef_walk_begin(ef_walk *w, const ef_graph *from, ef_graph *to, ef_live *live) {
    w->from = from;
    w->to = to;
    w->live = live;
    w->clone = (ef_clone){.from = from, .to = to, .user = w, .waits = waits, .visit = visit_node};
    EF_TRY(ef_clone_begin(&w->clone));
    size_t n = from->n_nodes, values = (size_t)w->clone.base[n];
    w->need = ef_arena_zalloc(&w->memory, n + 1);
    w->uses = ef_arena_zalloc(&w->memory, (values + 1) * sizeof *w->uses);
    if (w->need == NULL || w->uses == NULL) return ef_no_memory(values * sizeof *w->uses);
    ef_mark_needed(from, w->need);
    for (size_t k = 0; k < n; k++) /* inputs have a place already, others have no value */
        if (from->node[k]->op->traits & EF_NO_KERNEL) w->need[k] = 0;
    count_uses(w);
    return NULL;
}

void ef_walk_end(ef_walk *w) {
    ef_clone_end(&w->clone);
    ef_arena_free(&w->memory);
}

/* Nodes with side effects and inputs keep their program order, so control inputs on them are
 * dropped; a node without control inputs may be merged with an equal one. */
static int32_t waits(const ef_clone *c, int32_t node) {
    return kept_anyway(c->from, node) ? -1 : c->copy[node];
}

static ef_status *visit_node(ef_clone *c, const ef_node *n, const ef_edge *in, ef_edge *out,
                             bool *done) {
    ef_walk *w = c->user;
    for (int i = 0; i < n->n_in; i++) w->live->count[in[i].node]--;
    EF_TRY(w->visit(w, n, in, out, done));
    if (!*done) EF_TRY(ef_walk_copy(w, n, in, out));
    *done = true;
    for (int k = 0; k < n->n_out; k++)
        w->live->count[out[k].node] += w->uses[ef_clone_value(c, (ef_edge){n->id, k})];
    return NULL;
}

void ef_walk_bind(ef_walk *w, size_t k, ef_edge e) {
    ef_edge input = {w->from->input[k], 0};
    ef_clone_set(&w->clone, input, e);
    w->live->count[e.node] += w->uses[ef_clone_value(&w->clone, input)];
}

ef_status *ef_walk_nodes(ef_walk *w) { return ef_clone_nodes(&w->clone, w->need); }

static ef_status *copy_inputs(ef_walk *w) {
    EF_TRY(ef_clone_inputs(&w->clone));
    for (int k = 0; k < w->n_more; k++) {
        ef_edge e;
        EF_TRY(ef_graph_input_like(w->to, w->more[k], NULL, &e));
    }
    EF_TRY(ef_walk_grown(w));
    for (size_t k = 0; k < w->from->n_inputs; k++)
        ef_walk_bind(w, k, (ef_edge){w->to->input[k], 0});
    return NULL;
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
    ef_status *s;
    EF_TRY_GOTO(ef_walk_begin(&w, g, to, &live));
    EF_TRY_GOTO(copy_inputs(&w));
    EF_TRY_GOTO(ef_walk_nodes(&w));
    EF_TRY_GOTO(ef_clone_outputs(&w.clone, g->output, (int)g->n_outputs));
done:
    ef_walk_end(&w);
    ef_free(live.count);
    to->merge = false; /* finished: the index of equal nodes is not needed any more */
    ef_map_free(&to->cons);
    to->cons = (ef_map){0};
    if (s != NULL)
        ef_graph_unref(to);
    else
        *out = to;
    return s;
}
