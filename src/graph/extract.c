/* The subgraph that a call needs. Walking back from the fetches finds its nodes; walking forward
 * copies them in their old order. Numbers start from 0 in the copy, so a graph that was rebuilt, or
 * that grew elsewhere, gives the same extract. Only nodes that are needed are visited, and a table
 * holds what is known of them, so the cost does not depend on the size of the rest of the graph.
 * Only a function, all of whose side effects are needed, is visited as a whole. */
#include "base/alloc.h"
#include "graph/graph.h"
#include <stdlib.h>

typedef struct found { /* a node that is needed or fed */
    int32_t node;      /* -1: free */
    int32_t moved;     /* in the new graph; -1: not yet */
    int32_t feed;      /* the first feed of one of its outputs; -1: none */
    bool needed;
} found;

enum { FEW_FOUND = 32, FEW_EDGES = 24 }; /* what small graphs need has room on the stack */

typedef struct room {
    found table[FEW_FOUND];
    int32_t list[FEW_FOUND / 2];
} room;

typedef struct extract {
    const ef_graph *from;
    ef_graph *to;
    const room *few;
    found *table; /* open addressing by node; at most half full */
    size_t n, cap;
    int32_t *list; /* needed nodes: in the order they are found, then in their own */
    size_t n_list;
    const ef_edge *feed;
    ef_edge *fed; /* feed k in the new graph */
    int n_feed;
    int32_t *next_feed; /* by feed: the next one of the same node */
} extract;

static size_t home(const extract *x, int32_t node) {
    return ((uint32_t)node * 2654435761u >> 7) & (x->cap - 1);
}

/* Its place in the table, which may be free. */
static found *look(const extract *x, int32_t node) {
    size_t i = home(x, node);
    while (x->table[i].node >= 0 && x->table[i].node != node) i = (i + 1) & (x->cap - 1);
    return &x->table[i];
}

/* An empty table, with room for as many nodes as fit into half of it. */
static void use_table(extract *x, found *table, size_t cap, int32_t *list) {
    for (size_t k = 0; k < cap; k++) table[k] = (found){-1, -1, -1, false};
    x->table = table;
    x->cap = cap;
    x->list = list;
}

static void table_end(extract *x, found *table) {
    if (table != x->few->table) ef_free(table);
}

static ef_status *widen(extract *x) {
    found *old = x->table;
    const int32_t *list = x->list;
    size_t n = x->cap, cap = 2 * n, bytes = cap * sizeof *old + cap / 2 * sizeof *list;
    found *table = ef_malloc(bytes);
    if (table == NULL) return ef_no_memory(bytes);
    use_table(x, table, cap, (int32_t *)(table + cap));
    for (size_t k = 0; k < n; k++)
        if (old[k].node >= 0) *look(x, old[k].node) = old[k];
    memcpy(x->list, list, x->n_list * sizeof *list);
    table_end(x, old);
    return NULL;
}

static ef_status *enter(extract *x, int32_t node, found **out) {
    if (x->n + 1 > x->cap / 2) EF_TRY(widen(x));
    found *f = look(x, node);
    x->n += f->node < 0;
    f->node = node;
    *out = f;
    return NULL;
}

/* ---- finding -----------------------------------------------------------------------------------
 */

static int fed_by(const extract *x, ef_edge e) {
    int32_t k = x->n_feed > 0 ? look(x, e.node)->feed : -1;
    while (k >= 0 && x->feed[k].index != e.index) k = x->next_feed[k];
    return k;
}

/* Chained from the last, so that of equal feeds the first is found. */
static ef_status *chain_feeds(extract *x) {
    for (int k = x->n_feed; k-- > 0;) {
        found *f;
        EF_TRY(enter(x, x->feed[k].node, &f));
        x->next_feed[k] = f->feed;
        f->feed = k;
    }
    return NULL;
}

static ef_status *need(extract *x, int32_t node) {
    found *f;
    EF_TRY(enter(x, node, &f));
    if (f->needed) return NULL;
    f->needed = true;
    x->list[x->n_list++] = node;
    return NULL;
}

static ef_status *need_effects(extract *x) {
    for (size_t k = 0; k < x->from->n_nodes; k++)
        if (x->from->node[k]->op->traits & EF_EFFECT) EF_TRY(need(x, (int32_t)k));
    return NULL;
}

static int in_order(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static void put_in_order(int32_t *list, size_t n) {
    enum { FEW = 16 }; /* qsort costs more than moving them by one */
    if (n > FEW) {
        qsort(list, n, sizeof *list, in_order);
        return;
    }
    for (size_t k = 1; k < n; k++) {
        int32_t node = list[k];
        size_t at = k;
        for (; at > 0 && list[at - 1] > node; at--) list[at] = list[at - 1];
        list[at] = node;
    }
}

static ef_status *find_needed(extract *x, const ef_edge *fetch, int n_fetch, const int32_t *target,
                              int n_target) {
    for (int k = 0; k < n_fetch; k++)
        if (fed_by(x, fetch[k]) < 0) EF_TRY(need(x, fetch[k].node));
    for (int k = 0; k < n_target; k++) EF_TRY(need(x, target[k]));
    if (x->from->function) EF_TRY(need_effects(x));
    for (size_t k = 0; k < x->n_list; k++) { /* which grows meanwhile */
        const ef_node *n = x->from->node[x->list[k]];
        for (int i = 0; i < n->n_in; i++)
            if (fed_by(x, n->in[i]) < 0) EF_TRY(need(x, n->in[i].node));
        for (int i = 0; i < n->n_after; i++) EF_TRY(need(x, n->after[i]));
    }
    put_in_order(x->list, x->n_list);
    return NULL;
}

/* ---- copying -----------------------------------------------------------------------------------
 */

/* Feeds come first, so that their numbers do not depend on where they stood. */
static ef_status *copy_feeds(extract *x) {
    for (int k = 0; k < x->n_feed; k++)
        EF_TRY(ef_graph_input_for(x->to, x->from, x->feed[k], &x->fed[k]));
    return NULL;
}

static ef_status *copy_captures(extract *x, int32_t *captures, int *n) {
    *n = 0;
    for (size_t k = 0; k < x->from->n_captures; k++) {
        int32_t old = x->from->capture[k].node;
        if (old < 0) continue; /* given up */
        found *f = look(x, old);
        if (!f->needed || fed_by(x, (ef_edge){old, 0}) >= 0) continue;
        ef_edge e;
        EF_TRY(ef_graph_input_for(x->to, x->from, (ef_edge){old, 0}, &e));
        f->moved = e.node;
        captures[(*n)++] = (int32_t)k;
    }
    return NULL;
}

static ef_status *missing_feed(const extract *x, int32_t node) {
    char buf[96];
    return ef_error(
        EF_INVALID,
        "You must feed a value for placeholder tensor '%s' with dtype %s and shape %s: a "
        "fetch depends on it and the feeds do not contain it",
        ef_node_name(x->from, node, buf, sizeof buf),
        ef_dtype_name(x->from->node[node]->out->dtype), EF_SHAPE(&x->from->node[node]->out->shape));
}

static ef_edge moved_edge(const extract *x, ef_edge e) {
    int f = fed_by(x, e);
    return f >= 0 ? x->fed[f] : (ef_edge){look(x, e.node)->moved, e.index};
}

static ef_status *copy_node(extract *x, int32_t old, ef_edge *in, int32_t *after) {
    const ef_node *n = x->from->node[old];
    if (n->op->traits & EF_NO_KERNEL) return missing_feed(x, old);
    for (int i = 0; i < n->n_in; i++) in[i] = moved_edge(x, n->in[i]);
    int n_after = 0;
    for (int i = 0; i < n->n_after; i++) {
        int32_t moved = look(x, n->after[i])->moved;
        if (moved >= 0) after[n_after++] = moved;
    }
    x->to->copies = n;
    return ef_graph_add_after(x->to, n->op, n->attrs, in, n->n_in, after, n_after, NULL,
                              &look(x, old)->moved);
}

static bool all_fed(const extract *x, int32_t node) {
    int n_out = x->from->node[node]->n_out;
    for (int i = 0; i < n_out; i++)
        if (fed_by(x, (ef_edge){node, i}) < 0) return false;
    return n_out > 0;
}

static ef_status *copy_nodes(extract *x) {
    size_t most = 1;
    for (size_t k = 0; k < x->n_list; k++) {
        const ef_node *n = x->from->node[x->list[k]];
        size_t wide = (size_t)(n->n_in > n->n_after ? n->n_in : n->n_after);
        if (wide > most) most = wide;
    }
    ef_edge few[2 * FEW_EDGES], *in = few;
    if (most > FEW_EDGES && (in = ef_malloc(most * (sizeof *in + sizeof(int32_t)))) == NULL)
        return ef_no_memory(most * sizeof *in);
    int32_t *after = (int32_t *)(in + most);
    ef_status *s = NULL;
    for (size_t k = 0; k < x->n_list && s == NULL; k++)
        if (look(x, x->list[k])->moved < 0 && !all_fed(x, x->list[k]))
            s = copy_node(x, x->list[k], in, after);
    if (in != few) ef_free(in);
    return s;
}

static ef_status *set_outputs(extract *x, const ef_edge *fetch, int n) {
    ef_edge few[FEW_EDGES], *out = few;
    if (n > FEW_EDGES && (out = ef_malloc((size_t)n * sizeof *out)) == NULL)
        return ef_no_memory((size_t)n * sizeof *out);
    for (int k = 0; k < n; k++) out[k] = moved_edge(x, fetch[k]);
    ef_status *s = ef_graph_set_outputs(x->to, out, n);
    if (out != few) ef_free(out);
    return s;
}

ef_status *ef_graph_extract(const ef_graph *g, const ef_edge *feed, int n_feed,
                            const ef_edge *fetch, int n_fetch, const int32_t *target, int n_target,
                            ef_graph **out, int32_t *captures, int *n_captures) {
    ef_status *s = NULL;
    room few;
    ef_edge few_fed[2 * FEW_EDGES];
    extract x = {.from = g, .feed = feed, .n_feed = n_feed, .few = &few, .fed = few_fed};
    size_t each = sizeof *x.fed + sizeof *x.next_feed;
    use_table(&x, few.table, FEW_FOUND, few.list);
    x.to = ef_graph_make();
    if (n_feed > FEW_EDGES) x.fed = ef_malloc((size_t)n_feed * each);
    if (x.to == NULL || x.fed == NULL) {
        s = ef_no_memory(sizeof *x.to);
        goto done;
    }
    x.next_feed = (int32_t *)(x.fed + n_feed);
    x.to->function = true;
    EF_TRY_GOTO(chain_feeds(&x));
    EF_TRY_GOTO(find_needed(&x, fetch, n_fetch, target, n_target));
    EF_TRY_GOTO(copy_feeds(&x));
    EF_TRY_GOTO(copy_captures(&x, captures, n_captures));
    EF_TRY_GOTO(copy_nodes(&x));
    EF_TRY_GOTO(set_outputs(&x, fetch, n_fetch));
    x.to->copies = NULL;
    *out = ef_graph_ref(x.to);
done:
    ef_graph_unref(x.to);
    table_end(&x, x.table);
    if (x.fed != few_fed) ef_free(x.fed);
    return s;
}
