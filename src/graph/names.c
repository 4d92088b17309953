/* Names of nodes: unique in their graph regardless of case, as in TensorFlow. A node without a name
 * costs nothing until its name is asked for; then it and the unnamed nodes before it get default
 * names. */
#include "graph/names.h"
#include "base/hash.h"
#include "graph/trim.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct name_count {
    const char *name;
    int last;
} name_count;

static bool count_same(const void *value, const void *key) {
    return strcasecmp(((const name_count *)value)->name, key) == 0;
}

static bool name_same(const void *value, const void *key) {
    return strcasecmp(((const ef_node *)value)->name, key) == 0;
}

static uint64_t fold(uint64_t h, const char *text) {
    for (; *text != '\0'; text++) h = ef_hash_mix(h, (uint64_t)tolower((unsigned char)*text));
    return h;
}
uint64_t ef_name_hash(const char *name) { return fold(0, name); }

/* "_12" to `end`: graphs of a million nodes are named, so without printf. */
static void number(char *end, int n) {
    char digits[16], *d = digits + sizeof digits;
    *--d = '\0';
    do *--d = (char)('0' + n % 10);
    while ((n /= 10) > 0);
    *--d = '_';
    memcpy(end, d, (size_t)(digits + sizeof digits - d));
}

/* Counts on from the last suffix of this name, so that many nodes of one name cost no search. */
ef_status *ef_name_free(ef_graph *g, const char *name, const char **out, uint64_t *hash) {
    size_t n = strlen(name), room = n + 16;
    char *text = ef_arena_alloc(&g->arena, room);
    if (text == NULL) return ef_no_memory(room);
    memcpy(text, name, n + 1);
    *out = text;
    uint64_t h = *hash = ef_name_hash(name);
    if (ef_map_find(&g->names, h, name_same, text) == NULL) return NULL;
    name_count *c = ef_map_find(&g->counts, h, count_same, name);
    if (c == NULL) {
        c = ef_arena_zalloc(&g->arena, sizeof *c);
        if (c == NULL || (c->name = ef_arena_strdup(&g->arena, name)) == NULL)
            return ef_no_memory(room);
        EF_TRY(ef_map_put(&g->counts, h, c));
    }
    do {
        number(text + n, ++c->last);
        *hash = fold(h, text + n);
    } while (ef_map_find(&g->names, *hash, name_same, text) != NULL);
    return NULL;
}

static ef_status *give_name(ef_graph *g, int32_t node, const char *name) {
    const char *own;
    uint64_t hash;
    size_t n_counts = g->counts.n;
    EF_TRY(ef_name_free(g, name, &own, &hash));
    ef_node *n = g->node[node];
    if (n->name != NULL) ef_map_remove(&g->names, ef_name_hash(n->name), n);
    if (n->box != NULL)
        EF_TRY(ef_box_name(n, own));
    else
        n->name = own;
    ef_status *s = ef_map_put(&g->names, hash, n);
    if (s != NULL) n->name = NULL;
    if (n->box == NULL || g->counts.n != n_counts) ef_graph_commit(g);
    return s;
}

static ef_status *call_nodes(ef_graph *g, size_t from, size_t to) {
    for (size_t k = from; k < to; k++) {
        const ef_node *n = g->node[k];
        if (n->name == NULL && !n->gone)
            EF_TRY(give_name(g, (int32_t)k, n->kind != NULL ? n->kind : n->op->name));
        if (k == g->called) g->called = k + 1;
    }
    return NULL;
}

ef_status *ef_graph_rename(ef_graph *g, int32_t node, const char *name) {
    ef_graph_lock(g);
    ef_status *s = give_name(g, node, name);
    ef_graph_unlock(g);
    return s;
}

ef_status *ef_names_catch_up(ef_graph *g) { return call_nodes(g, g->called, g->n_nodes); }

ef_status *ef_graph_called(ef_graph *g, int32_t node, const char **name) {
    ef_graph_lock(g);
    size_t k = (size_t)node;
    ef_status *s = call_nodes(g, k < g->called ? k : g->called, k + 1);
    ef_graph_unlock(g);
    *name = g->node[node]->name;
    return s;
}

int32_t ef_graph_find(ef_graph *g, const char *name) {
    ef_graph_lock(g);
    uint64_t h = ef_name_hash(name);
    const ef_node *n = ef_map_find(&g->names, h, name_same, name);
    if (n == NULL) {
        ef_status_free(call_nodes(g, 0, g->n_nodes)); /* without memory, nothing is found */
        n = ef_map_find(&g->names, h, name_same, name);
    }
    ef_graph_unlock(g);
    return n != NULL && strcmp(n->name, name) == 0 ? n->id : -1;
}

const char *ef_node_name(const ef_graph *g, int32_t node, char *buf, size_t n) {
    if (g->node[node]->name != NULL) return g->node[node]->name;
    snprintf(buf, n, "%s_%d", g->node[node]->op->name, node);
    return buf;
}
