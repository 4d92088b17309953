/* Tensors from outside that a graph uses: small ones become constants, all others captures. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/hash.h"
#include "graph/sizes.h"

static bool same_captured(const ef_tensor *a, const ef_tensor *b) {
    if (a->dtype != b->dtype || a->rank != b->rank || a->flags != b->flags ||
        a->storage != b->storage || a->storage == NULL)
        return false;
    if (memcmp(a->dim, b->dim, (size_t)(a->rank > 0 ? a->rank : 0) * sizeof a->dim[0]) != 0)
        return false;
    return !(a->flags & EF_TENSOR_SYMBOLIC) || memcmp(a->small, b->small, sizeof(ef_edge)) == 0;
}

typedef struct sought { /* a value in the maps is an index into the list, plus 1 */
    const ef_graph *g;
    const ef_tensor *tensor;
    size_t n_compared;
} sought;

static bool is_captured(const void *value, const void *key) {
    sought *k = (sought *)key;
    k->n_compared++;
    return same_captured(&k->g->capture[(uintptr_t)value - 1].tensor, k->tensor);
}

static bool is_named(const void *value, const void *key) {
    const sought *k = key;
    return k->g->named[(uintptr_t)value - 1].tensor.tape == k->tensor->tape;
}

/* Tensors of an outer graph all have that graph as their storage, so the edge is hashed too. */
static uint64_t capture_hash(const ef_tensor *t) {
    uint64_t h = ef_hash_mix(1, (uintptr_t)t->storage);
    if (t->flags & EF_TENSOR_SYMBOLIC) h = ef_hash_bytes(h, t->small, sizeof(ef_edge));
    return h;
}

static uint64_t named_hash(const ef_tensor *t) { return ef_hash_mix(1, (uintptr_t)t->tape); }

static bool captured(const ef_graph *g, const ef_tensor *t, ef_edge *out, size_t *n_compared) {
    if (t->storage == NULL) return false;
    sought k = {.g = g, .tensor = t};
    uintptr_t at = (uintptr_t)ef_map_find(&g->captured, capture_hash(t), is_captured, &k);
    *n_compared += k.n_compared;
    if (at != 0) *out = (ef_edge){g->capture[at - 1].node, 0};
    return at != 0;
}

static ef_status *note(ef_graph *g, size_t at, const ef_tensor *t) {
    if (t->storage == NULL) return NULL;
    return ef_map_put(&g->captured, capture_hash(t), (void *)(uintptr_t)(at + 1));
}

static void unnote(ef_graph *g, size_t at) {
    const ef_tensor *t = &g->capture[at].tensor;
    if (t->storage != NULL)
        ef_map_remove(&g->captured, capture_hash(t), (void *)(uintptr_t)(at + 1));
}

void ef_graph_give_up(ef_graph *g, int32_t node) {
    for (size_t k = 0; k < g->n_captures; k++) {
        if (g->capture[k].node != node) continue;
        unnote(g, k);
        ef_tensor_release(&g->capture[k].tensor);
        g->capture[k].node = -1;
        if (k < g->capture_from) g->capture_from = k;
        return;
    }
}

void ef_graph_uncapture(ef_graph *g, int32_t node) {
    size_t k = 0;
    while (k < g->n_captures && g->capture[k].node != node) k++;
    if (k == g->n_captures) return;
    unnote(g, k);
    ef_tensor_release(&g->capture[k].tensor);
    for (g->n_captures--; k < g->n_captures; k++) {
        unnote(g, k + 1);
        ef_tensor_move(&g->capture[k].tensor, &g->capture[k + 1].tensor);
        g->capture[k].node = g->capture[k + 1].node;
        ef_status_free(note(g, k, &g->capture[k].tensor)); /* there is room for it */
    }
    g->capture_from = 0;
}

static bool is_small(const ef_tensor *t) {
    return t->storage == NULL && t->data == (const void *)t->small;
}

static bool named(const ef_graph *g, const ef_tensor *t, ef_edge *out) {
    if (t->tape == NULL) return false;
    sought k = {.g = g, .tensor = t};
    uintptr_t at = (uintptr_t)ef_map_find(&g->by_tape, named_hash(t), is_named, &k);
    if (at != 0) *out = (ef_edge){g->named[at - 1].node, 0};
    return at != 0;
}

bool ef_graph_imported(const ef_graph *g, const ef_tensor *t, ef_edge *out) {
    ef_graph *from = NULL;
    if (t->flags & EF_TENSOR_SYMBOLIC) *out = ef_tensor_edge(t, &from);
    if (from == g) return true;
    size_t n_compared = 0;
    ef_graph_lock(g);
    bool found = captured(g, t, out, &n_compared) || (is_small(t) && named(g, t, out));
    ef_graph_unlock(g);
    return found;
}

/* Small values are stored in the list itself, so their data pointers are set again when the list
 * moves. A running session reads the list without the lock, so the old list of a guarded graph is
 * kept until the graph ends. */
static ef_status *grow_captures(ef_graph *g, size_t n) {
    if (n <= g->cap_captures) return NULL;
    ef_capture *before = g->capture, *now = NULL;
    size_t cap = 0;
    EF_TRY(EF_GROW(&g->retired, &g->cap_retired, g->n_retired + 1));
    EF_TRY(EF_GROW(&now, &cap, n > 2 * g->cap_captures ? n : 2 * g->cap_captures));
    if (g->n_captures > 0) memcpy(now, before, g->n_captures * sizeof *now);
    for (size_t k = 0; k < g->n_captures; k++)
        if (now[k].node >= 0) ef_tensor_moved(&now[k].tensor);
    g->cap_captures = cap;
    atomic_store_explicit(&g->capture, now, memory_order_release);
    if (g->guarded)
        g->retired[g->n_retired++] = before;
    else
        ef_free(before);
    return NULL;
}

static ef_status *capture(ef_graph *g, const ef_tensor *t, ef_edge *out) {
    if (captured(g, t, out, &g->n_compared)) return NULL;
    size_t at = g->capture_from; /* a place that was given up, or the next */
    while (at < g->n_captures && g->capture[at].node >= 0) at++;
    EF_TRY(grow_captures(g, at + 1));
    ef_fact handle, *behind = NULL;
    ef_graph *from = NULL;
    if (t->flags & EF_TENSOR_SYMBOLIC) {
        ef_edge e = ef_tensor_edge(t, &from);
        behind = (ef_fact *)ef_edge_fact(from, e)->handle;
    } else if (t->dtype == EF_RESOURCE) {
        const ef_variable *v = (const ef_variable *)ef_tensor_object(t, EF_OBJECT_VARIABLE);
        if (v != NULL) {
            handle = (ef_fact){.dtype = v->dtype, .shape = v->shape};
            behind = &handle;
        }
    }
    ef_shape shape = ef_shape_from(t), real = ef_tensor_real(t);
    if (from == NULL || g->sizes == NULL || from->sizes != g->sizes)
        shape = ef_shape_foreign(&shape);
    int32_t node = 0;
    EF_TRY(ef_graph_stand_in(g, (ef_dtype)t->dtype, &shape, behind, NULL, &node));
    if (g->sizes != NULL && !ef_shape_equal(&shape, &real))
        EF_TRY(ef_graph_set_real(g, (ef_edge){node, 0}, &real));
    EF_TRY(note(g, at, t));
    if (at == g->n_captures) g->n_captures++;
    g->capture_from = at + 1;
    ef_capture *c = &g->capture[at];
    ef_tensor_copy(&c->tensor, t);
    c->node = node;
    *out = (ef_edge){node, 0};
    return NULL;
}

/* A small value that a tape may watch: it becomes a constant of its own, never merged with an equal
 * one. */
static ef_status *name(ef_graph *g, const ef_tensor *t, ef_edge *out) {
    if (named(g, t, out)) return NULL;
    uintptr_t before = (uintptr_t)g->named;
    EF_TRY(EF_GROW(&g->named, &g->cap_named, g->n_named + 1));
    for (size_t k = 0; k < g->n_named && before != (uintptr_t)g->named; k++)
        ef_tensor_moved(&g->named[k].tensor);
    size_t held = g->n_pending_after;
    bool merge = g->merge;
    g->n_pending_after = 0; /* a constant needs no control inputs */
    g->merge = false;
    ef_status *s = ef_graph_constant(g, t, out);
    g->n_pending_after = held;
    g->merge = merge;
    if (s != NULL) return s;
    EF_TRY(ef_map_put(&g->by_tape, named_hash(t), (void *)(uintptr_t)(g->n_named + 1)));
    ef_capture *c = &g->named[g->n_named++];
    ef_tensor_copy(&c->tensor, t);
    c->node = out->node;
    return NULL;
}

static ef_status *import(ef_graph *g, const ef_tensor *t, ef_edge *out) {
    if (t->flags & EF_TENSOR_SYMBOLIC) {
        ef_graph *from;
        ef_edge e = ef_tensor_edge(t, &from);
        if (from == g) {
            *out = e;
            return NULL;
        }
        for (const ef_graph *o = g->outer; o != NULL; o = o->outer)
            if (o == from) return capture(g, t, out);
        if (g->function && g->family != from->family)
            return ef_error(EF_OUT_OF_SCOPE,
                            "a symbolic tensor (%s) is out of scope: the function it belongs to "
                            "has been traced; return it from there instead",
                            EF_TENSOR(t));
        return ef_error(EF_OTHER_GRAPH,
                        "a tensor of one graph (%s) was used in another that is not "
                        "nested in it; make it an input of this graph",
                        EF_TENSOR(t));
    }
    if (t->dtype == EF_NO_DTYPE)
        return ef_error(EF_INVALID, "an empty (released) tensor was used as an input");
    if (!is_small(t)) return capture(g, t, out);
    if (t->tape == NULL || !g->function) return ef_graph_constant(g, t, out);
    if (g->outer == NULL || !g->part || !g->outer->function) return name(g, t, out);
    EF_TRY(ef_graph_import(g->outer, t, out)); /* where gradients can reach it */
    ef_tensor outside;
    ef_graph_tensor(g->outer, *out, &outside);
    ef_status *s = capture(g, &outside, out);
    ef_tensor_release(&outside);
    return s;
}

ef_status *ef_graph_import(ef_graph *g, const ef_tensor *t, ef_edge *out) {
    ef_graph_lock(g);
    ef_status *s = import(g, t, out);
    ef_graph_unlock(g);
    return s;
}

ef_status *ef_graph_take(ef_graph *g, const ef_tensor *t, ef_edge *out) {
    ef_graph *from = NULL;
    if (t->flags & EF_TENSOR_SYMBOLIC) *out = ef_tensor_edge(t, &from);
    if (from == g) return NULL;
    ef_graph_lock(g);
    ef_status *s = capture(g, t, out);
    ef_graph_unlock(g);
    return s;
}
