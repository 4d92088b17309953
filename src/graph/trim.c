/* Boxes, and how nodes in them are freed. The lists that freeing a node needs get space for it when
 * the node is added, so that freeing cannot fail. */
#include "graph/trim.h"
#include "base/alloc.h"
#include "base/array.h"
#include "graph/names.h"
#include "ops/engine_nodes.h"

enum { FEW = 16 };

struct ef_box {        /* behind the node, in one block of memory */
    ef_tensor **value; /* known values that facts point at */
    size_t n_values;
    char *text; /* a name given later, or NULL */
};

/* ---- adding ---------------------------------------------------------------------------------- */

static size_t room(size_t bytes) { return (bytes + 15) / 16 * 16; }

static void *take(char **at, const void *from, size_t bytes) {
    void *to = *at;
    if (bytes > 0) memcpy(to, from, bytes);
    *at += room(bytes);
    return to;
}

static ef_node *pack(const ef_graph *g, const ef_node *n, const char *name, size_t n_values) {
    size_t in = (size_t)n->n_in * sizeof *n->in, after = (size_t)n->n_after * sizeof *n->after,
           out = (size_t)n->n_out * sizeof *n->out, text = name != NULL ? strlen(name) + 1 : 0,
           values = (g->values.n - n_values) * sizeof(ef_tensor *), handles = 0;
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k].handle != NULL) handles += room(sizeof(ef_fact));
    char *at = ef_malloc(room(sizeof *n) + room(sizeof(struct ef_box)) + room(in) + room(after) +
                         room(out) + room(text) + room(values) + handles);
    if (at == NULL) return NULL;
    ef_node *own = take(&at, n, sizeof *n);
    struct ef_box none = {NULL, g->values.n - n_values, NULL};
    own->box = take(&at, &none, sizeof none);
    own->in = take(&at, n->in, in);
    own->after = take(&at, n->after, after);
    own->out = take(&at, n->out, out);
    own->name = name != NULL ? take(&at, name, text) : NULL;
    own->box->value = take(&at, values > 0 ? g->values.item + n_values : NULL, values);
    for (int k = 0; k < n->n_out; k++)
        if (n->out[k].handle != NULL)
            own->out[k].handle = take(&at, n->out[k].handle, sizeof(ef_fact));
    return own;
}

/* The first place of a removed node that comes after all inputs; else the end. */
static int32_t place_for(ef_graph *g, const ef_node *n) {
    int32_t behind = -1, best = (int32_t)g->n_nodes;
    for (int k = 0; k < n->n_in; k++)
        if (n->in[k].node > behind) behind = n->in[k].node;
    for (int k = 0; k < n->n_after; k++)
        if (n->after[k] > behind) behind = n->after[k];
    size_t found = g->n_gone;
    for (size_t k = 0; k < g->n_gone; k++)
        if (g->gone[k] > behind && g->gone[k] < best) {
            best = g->gone[k];
            found = k;
        }
    if (found < g->n_gone) g->gone[found] = g->gone[--g->n_gone];
    return best;
}

ef_status *ef_graph_box(ef_graph *g, const ef_node *made, const char *name, size_t n_values,
                        ef_node **out) {
    EF_TRY(EF_GROW(&g->node, &g->cap_nodes, g->n_nodes + 1));
    EF_TRY(EF_GROW(&g->gone, &g->cap_gone, g->n_nodes + 1));
    EF_TRY(EF_GROW(&g->doubt, &g->cap_doubt, g->n_nodes + 1));
    ef_node *n = pack(g, made, name, n_values);
    if (n == NULL) return ef_no_memory(sizeof *n);
    if (name != NULL) {
        ef_status *s = ef_map_put(&g->names, ef_name_hash(n->name), n);
        if (s != NULL) {
            ef_free(n);
            return s;
        }
    }
    g->values.n = n_values;
    n->id = place_for(g, n);
    n->serial = ef_graph_changed(g);
    if ((size_t)n->id == g->n_nodes)
        g->n_nodes++;
    else
        ef_box_free(g->node[n->id]);
    g->node[n->id] = n;
    for (int k = 0; k < n->n_in; k++) g->node[n->in[k].node]->users++;
    for (int k = 0; k < n->n_after; k++) g->node[n->after[k]]->users++;
    n->doubted = true; /* it may never be used */
    g->doubt[g->n_doubt++] = n->id;
    *out = n;
    return NULL;
}

/* ---- removing -------------------------------------------------------------------------------- */

static void empty(struct ef_box *b) {
    for (size_t k = 0; k < b->n_values; k++) {
        ef_tensor_release(b->value[k]);
        ef_free(b->value[k]);
    }
    b->n_values = 0;
    ef_free(b->text);
    b->text = NULL;
}

void ef_box_free(ef_node *n) {
    empty(n->box);
    ef_free(n);
}

static void doubt(ef_graph *g, ef_node *n) {
    if (n->box == NULL || n->doubted || n->gone || n->seen > 0 || n->users > 0) return;
    n->doubted = true;
    g->doubt[g->n_doubt++] = n->id;
}

void ef_graph_see(const ef_tensor *t, int by) {
    ef_graph *g;
    ef_edge e = ef_tensor_edge(t, &g);
    ef_node *n = g->node[e.node];
    n->seen += by;
    g->n_seen += by;
    if (by < 0) doubt(g, n);
}

static void forget(ef_graph *g, ef_node *n) {
    if (n->name != NULL) ef_map_remove(&g->names, ef_name_hash(n->name), n);
    if (n->op->traits & EF_NO_KERNEL) ef_graph_give_up(g, n->id);
    for (size_t k = 0; k < g->n_inputs; k++)
        if (g->input[k] == n->id) {
            memmove(&g->input[k], &g->input[k + 1], (--g->n_inputs - k) * sizeof *g->input);
            break;
        }
    int n_in = n->n_in, n_after = n->n_after;
    ef_attrs_unref(n->attrs);
    empty(n->box);
    n->op = ef_nothing_op;
    n->attrs = NULL;
    n->fields = NULL;
    n->name = NULL;
    n->n_in = n->n_out = n->n_after = 0;
    n->serial = ef_graph_changed(g);
    n->gone = true;
    g->gone[g->n_gone++] = n->id;
    for (int k = 0; k < n_in; k++) {
        g->node[n->in[k].node]->users--;
        doubt(g, g->node[n->in[k].node]);
    }
    for (int k = 0; k < n_after; k++) {
        g->node[n->after[k]]->users--;
        doubt(g, g->node[n->after[k]]);
    }
}

ef_status *ef_box_name(ef_node *n, const char *name) {
    size_t bytes = strlen(name) + 1;
    char *text = ef_malloc(bytes);
    if (text == NULL) return ef_no_memory(bytes);
    memcpy(text, name, bytes);
    ef_free(n->box->text);
    n->name = n->box->text = text;
    return NULL;
}

static bool waited_for(const ef_graph *g, int32_t node) {
    for (size_t k = 0; k < g->n_pending_after; k++)
        if (g->pending_after[k] == node) return true;
    for (size_t k = 0; k < g->n_outputs; k++)
        if (g->output[k].node == node) return true;
    return false;
}

size_t ef_graph_trim(ef_graph *g, int others, bool (*keep)(void *user, int node), void *user) {
    if (g->n_doubt == 0) return 0;
    if (atomic_load_explicit(&g->base.refs, memory_order_acquire) - g->n_seen > others) return 0;
    /* If `keep` kept many nodes, they are tried again only after as many others have been added, so
     * that the cost of each added node stays small however many are kept. */
    g->n_doubted_since += g->n_doubt - g->n_objected;
    bool all = g->n_objected < FEW || g->n_doubted_since >= g->n_objected;
    size_t went = 0, kept = all ? 0 : g->n_objected;
    if (all) g->n_doubted_since = 0;
    for (size_t k = kept; k < g->n_doubt; k++) { /* removing one may leave others unused */
        ef_node *n = g->node[g->doubt[k]];
        n->doubted = false;
        if (n->seen > 0 || n->users > 0) continue;
        if (waited_for(g, n->id) || (keep != NULL && keep(user, n->id))) {
            g->doubt[kept++] = n->id;
            n->doubted = true;
            continue;
        }
        forget(g, n);
        went++;
    }
    g->n_doubt = g->n_objected = kept;
    g->hash = 0;
    return went;
}
