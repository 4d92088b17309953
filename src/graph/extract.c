/* The part of a graph that a call needs. Walking back from what is wanted marks nodes; walking
 * forward copies the marked ones in their old order. Because numbering starts afresh, a graph that
 * was rebuilt, or that grew elsewhere, gives the very same extract. */
#include "base/alloc.h"
#include "graph/graph.h"

typedef struct extract {
    const ef_graph *from;
    ef_graph *to;
    uint8_t *need;  /* by node */
    int32_t *moved; /* old node -> new node, -1 */
    const ef_edge *feed;
    ef_edge *fed; /* feed k in the new graph */
    int n_feed;
    int32_t *first_feed, *next_feed; /* chains: by node its first feed, by feed the next */
} extract;

static int fed_by(const extract *x, ef_edge e) {
    int32_t k = x->first_feed[e.node];
    while (k >= 0 && x->feed[k].index != e.index) k = x->next_feed[k];
    return k;
}

/* Chained from the last, so that of equal feeds the first is found. */
static void chain_feeds(extract *x) {
    memset(x->first_feed, 0xFF, (x->from->n_nodes + 1) * sizeof *x->first_feed);
    for (int k = x->n_feed; k-- > 0;) {
        x->next_feed[k] = x->first_feed[x->feed[k].node];
        x->first_feed[x->feed[k].node] = k;
    }
}

static void mark_backwards(extract *x) {
    for (size_t k = x->from->n_nodes; k-- > 0;) {
        const ef_node *n = x->from->node[k];
        bool effect = x->from->function && (n->op->traits & EF_EFFECT);
        if (!x->need[k] && !effect) continue;
        x->need[k] = 1;
        for (int i = 0; i < n->n_in; i++)
            if (fed_by(x, n->in[i]) < 0) x->need[n->in[i].node] = 1;
        for (int i = 0; i < n->n_after; i++) x->need[n->after[i]] = 1;
    }
}

/* Feeds come first, so that their numbers do not depend on where they stood. */
static ef_status *copy_feeds(extract *x) {
    for (int k = 0; k < x->n_feed; k++)
        EF_TRY(ef_graph_input_like(x->to, ef_edge_fact(x->from, x->feed[k]), NULL, &x->fed[k]));
    return NULL;
}

static ef_status *copy_captures(extract *x, int32_t *captures, int *n) {
    *n = 0;
    for (size_t k = 0; k < x->from->n_captures; k++) {
        int32_t old = x->from->capture[k].node;
        if (old < 0) continue; /* given up */
        if (!x->need[old] || fed_by(x, (ef_edge){old, 0}) >= 0) continue;
        ef_edge e;
        EF_TRY(ef_graph_input_like(x->to, x->from->node[old]->out, NULL, &e));
        x->moved[old] = e.node;
        captures[(*n)++] = (int32_t)k;
    }
    return NULL;
}

static ef_status *missing_feed(const extract *x, int32_t node) {
    char buf[96];
    return ef_error(EF_INVALID,
                    "You must feed a value for placeholder '%s' with dtype %s and shape %s; it is "
                    "needed for what was asked and nothing feeds it",
                    ef_node_name(x->from, node, buf, sizeof buf),
                    ef_dtype_name(x->from->node[node]->out->dtype),
                    EF_SHAPE(&x->from->node[node]->out->shape));
}

static ef_edge moved_edge(const extract *x, ef_edge e) {
    int f = fed_by(x, e);
    return f >= 0 ? x->fed[f] : (ef_edge){x->moved[e.node], e.index};
}

static ef_status *copy_node(extract *x, int32_t old, ef_edge *in, int32_t *after) {
    const ef_node *n = x->from->node[old];
    if (n->op->traits & EF_NO_KERNEL) return missing_feed(x, old);
    for (int i = 0; i < n->n_in; i++) in[i] = moved_edge(x, n->in[i]);
    int n_after = 0;
    for (int i = 0; i < n->n_after; i++)
        if (x->moved[n->after[i]] >= 0) after[n_after++] = x->moved[n->after[i]];
    int32_t place = 0;
    if (n->place > 0) EF_TRY(ef_graph_place(x->to, x->from->place[n->place - 1], &place));
    x->to->here = place;
    return ef_graph_add_after(x->to, n->op, n->attrs, in, n->n_in, after, n_after, NULL,
                              &x->moved[old]);
}

static ef_status *copy_nodes(extract *x) {
    size_t most = 1;
    for (size_t k = 0; k < x->from->n_nodes; k++) {
        const ef_node *n = x->from->node[k];
        size_t wide = (size_t)(n->n_in > n->n_after ? n->n_in : n->n_after);
        if (wide > most) most = wide;
    }
    ef_edge *in = ef_malloc(most * (sizeof *in + sizeof(int32_t)));
    if (in == NULL) return ef_no_memory(most * sizeof *in);
    int32_t *after = (int32_t *)(in + most);
    ef_status *s = NULL;
    for (size_t k = 0; k < x->from->n_nodes && s == NULL; k++) {
        if (!x->need[k] || x->moved[k] >= 0) continue;
        bool all_fed = x->from->node[k]->n_out > 0;
        for (int i = 0; i < x->from->node[k]->n_out; i++)
            all_fed = all_fed && fed_by(x, (ef_edge){(int32_t)k, i}) >= 0;
        if (!all_fed) s = copy_node(x, (int32_t)k, in, after);
    }
    ef_free(in);
    return s;
}

static ef_status *set_outputs(extract *x, const ef_edge *fetch, int n) {
    ef_edge *out = ef_malloc(((size_t)n + 1) * sizeof *out);
    if (out == NULL) return ef_no_memory((size_t)n * sizeof *out);
    for (int k = 0; k < n; k++) out[k] = moved_edge(x, fetch[k]);
    ef_status *s = ef_graph_set_outputs(x->to, out, n);
    ef_free(out);
    return s;
}

ef_status *ef_graph_extract(const ef_graph *g, const ef_edge *feed, int n_feed,
                            const ef_edge *fetch, int n_fetch, const int32_t *target, int n_target,
                            ef_graph **out, int32_t *captures, int *n_captures) {
    ef_status *s = NULL;
    extract x = {.from = g, .feed = feed, .n_feed = n_feed};
    x.to = ef_graph_make();
    x.need = ef_calloc(g->n_nodes + 1, 1);
    x.moved = ef_malloc((g->n_nodes + 1) * sizeof *x.moved);
    x.fed = ef_malloc(((size_t)n_feed + 1) * sizeof *x.fed);
    x.first_feed = ef_malloc((g->n_nodes + 1) * sizeof *x.first_feed);
    x.next_feed = ef_malloc(((size_t)n_feed + 1) * sizeof *x.next_feed);
    if (x.to == NULL || x.need == NULL || x.moved == NULL || x.fed == NULL ||
        x.first_feed == NULL || x.next_feed == NULL) {
        s = ef_no_memory(g->n_nodes * sizeof *x.moved);
        goto done;
    }
    x.to->function = true;
    chain_feeds(&x);
    memset(x.moved, 0xFF, (g->n_nodes + 1) * sizeof *x.moved);
    for (int k = 0; k < n_fetch; k++)
        if (fed_by(&x, fetch[k]) < 0) x.need[fetch[k].node] = 1;
    for (int k = 0; k < n_target; k++) x.need[target[k]] = 1;
    mark_backwards(&x);
    EF_TRY_GOTO(copy_feeds(&x));
    EF_TRY_GOTO(copy_captures(&x, captures, n_captures));
    EF_TRY_GOTO(copy_nodes(&x));
    EF_TRY_GOTO(set_outputs(&x, fetch, n_fetch));
    *out = ef_graph_ref(x.to);
done:
    ef_graph_unref(x.to);
    ef_free(x.need);
    ef_free(x.moved);
    ef_free(x.fed);
    ef_free(x.first_feed);
    ef_free(x.next_feed);
    return s;
}
