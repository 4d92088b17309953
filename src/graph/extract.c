/* The subgraph that a call needs. Walking back from the fetches finds its nodes; walking forward
 * copies them in their old order. Numbers start from 0 in the copy, so a graph that was rebuilt, or
 * that grew elsewhere, gives the same extract. Only nodes that are needed are visited, and a table
 * holds what is known of them, so the cost does not depend on the size of the rest of the graph.
 * Only a function, all of whose side effects are needed, is visited as a whole. */
#include "base/alloc.h"
#include "base/text.h"
#include "graph/clone.h"
#include "graph/origin.h"
#include <stdlib.h>

typedef struct found { /* a node that is needed or fed */
    int32_t node;      /* -1: free */
    int32_t moved;     /* in the new graph; -1: not yet */
    int32_t feed;      /* the first feed of one of its outputs; -1: none */
    int32_t needed;    /* 1; -1: not */
} found;               /* all -1 at first */

enum { FEW_FOUND = 32, FEW_EDGES = 24 }; /* on the stack; enough for small graphs */

typedef struct room {
    found table[FEW_FOUND];
    int32_t list[FEW_FOUND / 2];
} room;

typedef struct extract {
    const ef_graph *from;
    ef_graph *to;
    size_t n_effects; /* of the first so many nodes, those with side effects are needed */
    const room *few;
    found *table; /* open addressing by node; at most half full */
    size_t n, cap;
    found *now;    /* the node being copied */
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

/* The entry of a node in the table, or the free entry where it belongs. */
static found *look(const extract *x, int32_t node) {
    size_t i = home(x, node);
    while (x->table[i].node >= 0 && x->table[i].node != node) i = (i + 1) & (x->cap - 1);
    return &x->table[i];
}

/* An empty table, with room for as many nodes as fit into half of it. */
static void use_table(extract *x, found *table, size_t cap, int32_t *list) {
    memset(table, 0xFF, cap * sizeof *table);
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

/* The feed of output `index` of a node; -1: none. */
static int32_t feed_of(const extract *x, const found *f, int32_t index) {
    int32_t k = f->feed;
    while (k >= 0 && x->feed[k].index != index) k = x->next_feed[k];
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

static void mark(extract *x, found *f) {
    if (f->needed > 0) return;
    f->needed = 1;
    x->list[x->n_list++] = f->node;
}

static ef_status *need(extract *x, int32_t node) {
    found *f;
    EF_TRY(enter(x, node, &f));
    mark(x, f);
    return NULL;
}

static ef_status *need_edge(extract *x, ef_edge e) {
    found *f;
    EF_TRY(enter(x, e.node, &f));
    if (feed_of(x, f, e.index) < 0) mark(x, f);
    return NULL;
}

static ef_status *need_effects(extract *x) {
    for (size_t k = 0; k < x->n_effects; k++)
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
    for (int k = 0; k < n_fetch; k++) EF_TRY(need_edge(x, fetch[k]));
    for (int k = 0; k < n_target; k++) EF_TRY(need(x, target[k]));
    EF_TRY(need_effects(x));
    for (size_t k = 0; k < x->n_list; k++) { /* which grows meanwhile */
        const ef_node *n = x->from->node[x->list[k]];
        for (int i = 0; i < n->n_in; i++) EF_TRY(need_edge(x, n->in[i]));
        for (int i = 0; i < n->n_after; i++) EF_TRY(need(x, n->after[i]));
    }
    put_in_order(x->list, x->n_list);
    return NULL;
}

/* ---- copying -----------------------------------------------------------------------------------
 */

/* Feeds come first, so that their numbers do not depend on their places in the old graph. */
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
        if (f->needed < 0 || feed_of(x, f, 0) >= 0) continue;
        ef_edge e;
        EF_TRY(ef_graph_input_for(x->to, x->from, (ef_edge){old, 0}, &e));
        f->moved = e.node;
        captures[(*n)++] = (int32_t)k;
    }
    return NULL;
}

static ef_status *missing_feed(const extract *x, int32_t node) {
    char buf[96];
    const ef_node *n = x->from->node[node];
    const char *name = ef_node_name(x->from, node, buf, sizeof buf);
    ef_text where = {0};
    if (n->place > 0) {
        ef_text_add(
            &where,
            "Graph execution error:\n\nDetected at node %s defined at (most recent call last):\n",
            name);
        ef_place_text(x->from, n->place, "  ", &where);
        ef_text_add(&where, "\n");
    }
    ef_status *s = ef_error(
        EF_INVALID,
        "%sYou must feed a value for placeholder tensor '%s' with dtype %s and shape %s: a "
        "fetch depends on it and the feeds do not contain it",
        where.at != NULL && !where.failed ? where.at : "", name, ef_dtype_name(n->out->dtype),
        EF_SHAPE(&n->out->shape));
    ef_text_free(&where);
    return s;
}

static ef_edge moved_edge(const ef_clone *c, ef_edge e) {
    const extract *x = c->user;
    const found *f = look(x, e.node);
    int32_t k = feed_of(x, f, e.index);
    return k >= 0 ? x->fed[k] : (ef_edge){f->moved, e.index};
}

/* A node whose outputs are all fed is not in the extract, so it is no control input there. */
static int32_t moved_node(const ef_clone *c, int32_t node) { return look(c->user, node)->moved; }

static void note_moved(ef_clone *c, const ef_node *n, const ef_edge *out) {
    (void)n;
    ((const extract *)c->user)->now->moved = out[0].node;
}

static ef_status *copy_node(ef_clone *c, int32_t node) {
    const ef_node *n = c->from->node[node];
    return n->op->traits & EF_NO_KERNEL ? missing_feed(c->user, node) : ef_clone_node(c, n);
}

static bool all_fed(const extract *x, const found *f) {
    int n_out = f->feed >= 0 ? x->from->node[f->node]->n_out : 0;
    for (int i = 0; i < n_out; i++)
        if (feed_of(x, f, i) < 0) return false;
    return n_out > 0;
}

static ef_status *copy_nodes(ef_clone *c) {
    extract *x = c->user;
    for (size_t k = 0; k < x->n_list; k++) {
        x->now = look(x, x->list[k]);
        if (x->now->moved < 0 && !all_fed(x, x->now)) EF_TRY(copy_node(c, x->list[k]));
    }
    return NULL;
}

static ef_status *extract_part(const ef_graph *g, size_t n_effects, const ef_edge *feed, int n_feed,
                               const ef_edge *fetch, int n_fetch, const int32_t *target,
                               int n_target, ef_graph **out, int32_t *captures, int *n_captures) {
    ef_status *s = NULL;
    room few;
    ef_edge few_fed[2 * FEW_EDGES];
    extract x = {.from = g,
                 .n_effects = n_effects,
                 .feed = feed,
                 .n_feed = n_feed,
                 .few = &few,
                 .fed = few_fed};
    size_t each = sizeof *x.fed + sizeof *x.next_feed;
    use_table(&x, few.table, FEW_FOUND, few.list);
    x.to = ef_graph_make();
    ef_clone c = {.from = g,
                  .to = x.to,
                  .user = &x,
                  .edge = moved_edge,
                  .waits = moved_node,
                  .note = note_moved};
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
    EF_TRY_GOTO(ef_clone_begin(&c));
    EF_TRY_GOTO(copy_nodes(&c));
    EF_TRY_GOTO(ef_clone_outputs(&c, fetch, n_fetch));
    *out = ef_graph_ref(x.to);
done:
    ef_clone_end(&c);
    ef_graph_unref(x.to);
    table_end(&x, x.table);
    if (x.fed != few_fed) ef_free(x.fed);
    return s;
}

ef_status *ef_graph_extract(const ef_graph *g, const ef_edge *feed, int n_feed,
                            const ef_edge *fetch, int n_fetch, const int32_t *target, int n_target,
                            ef_graph **out, int32_t *captures, int *n_captures) {
    return extract_part(g, g->function ? g->n_nodes : 0, feed, n_feed, fetch, n_fetch, target,
                        n_target, out, captures, n_captures);
}

ef_status *ef_graph_extract_fetched(const ef_graph *g, const ef_edge *feed, int n_feed,
                                    const ef_edge *fetch, int n_fetch, const int32_t *target,
                                    int n_target, ef_graph **out, int32_t *captures,
                                    int *n_captures) {
    return extract_part(g, 0, feed, n_feed, fetch, n_fetch, target, n_target, out, captures,
                        n_captures);
}

/* ---- graphs that need no copy ------------------------------------------------------------------
 */

/* Marks what node n uses. A control input that is a parameter would not be in the extract. */
static bool mark_used(const ef_node *n, size_t n_inputs, uint8_t *used) {
    for (int i = 0; i < n->n_in; i++) used[n->in[i].node] = 1;
    for (int i = 0; i < n->n_after; i++) {
        if ((size_t)n->after[i] < n_inputs) return false;
        used[n->after[i]] = 1;
    }
    return true;
}

/* From the last node to the first: the users of a node come after it. */
static bool all_used(const ef_graph *g, uint8_t *used) {
    for (size_t k = 0; k < g->n_outputs; k++) used[g->output[k].node] = 1;
    for (size_t k = g->n_nodes; k-- > g->n_inputs;) {
        const ef_node *n = g->node[k];
        if (n->op->traits & EF_NO_KERNEL || (!used[k] && !(n->op->traits & EF_EFFECT)))
            return false;
        if (!mark_used(n, g->n_inputs, used)) return false;
    }
    return true;
}

bool ef_graph_is_whole(const ef_graph *g) {
    enum { FEW_NODES = 256 };
    if (!g->function || g->trims || g->n_captures > 0) return false;
    for (size_t k = 0; k < g->n_inputs; k++)
        if (g->input[k] != (int32_t)k) return false;
    uint8_t few[FEW_NODES], *used = g->n_nodes <= FEW_NODES ? few : ef_malloc(g->n_nodes);
    if (used == NULL) return false; /* extracting it will say that there is no memory */
    memset(used, 0, g->n_nodes);
    bool whole = all_used(g, used);
    if (used != few) ef_free(used);
    return whole;
}

ef_status *ef_graph_extract_whole(const ef_graph *g, size_t n_nodes, ef_graph **out) {
    int n_captures;
    size_t n = g->n_inputs, bytes = (n + 1) * sizeof(ef_edge) + g->n_captures * sizeof(int32_t);
    ef_edge *feed = ef_malloc(bytes);
    if (feed == NULL) return ef_no_memory(bytes);
    for (size_t k = 0; k < n; k++) feed[k] = (ef_edge){g->input[k], 0};
    ef_status *s = extract_part(g, n_nodes, feed, (int)n, g->output, (int)g->n_outputs, NULL, 0,
                                out, (int32_t *)(feed + n + 1), &n_captures);
    ef_free(feed);
    return s;
}
