/* Building graphs. Every node is checked when it is added, so an error is reported at the line that
 * caused it. */
#include "graph/graph.h"
#include "base/alloc.h"
#include "base/array.h"
#include "base/hash.h"
#include "graph/control.h"
#include "graph/names.h"
#include "graph/origin.h"
#include "graph/shape_values.h"
#include "graph/sizes.h"
#include "graph/trim.h"
#include "ops/engine_nodes.h"
#include <stdio.h>

_Thread_local uint64_t ef_graph_epoch, ef_graph_stamped;

static void graph_end(ef_storage *self);
static void func_ref(ef_graph *g) { ef_graph_ref(g); }

/* The op room counts and compares functions through hooks, since it may not know graphs. */
static void install_hooks(void) {
    ef_func = (ef_func_hooks){func_ref, ef_graph_unref, ef_graph_hash, ef_graph_equal_func};
}
static pthread_once_t once = PTHREAD_ONCE_INIT;

ef_graph *ef_graph_make(void) {
    pthread_once(&once, install_hooks);
    ef_graph *g = ef_calloc(1, sizeof *g);
    if (g == NULL) return NULL;
    atomic_init(&g->base.refs, 1);
    g->base.kind = EF_STORE_GRAPH;
    g->base.end = graph_end;
    ef_mutex_init(&g->lock, EF_RANK_GRAPH, EF_MUTEX_RECURSIVE);
    return g;
}

void ef_graph_lock(const ef_graph *g) {
    if (g->guarded) ef_mutex_lock((ef_mutex *)&g->lock);
}

void ef_graph_unlock(const ef_graph *g) {
    if (g->guarded) ef_mutex_unlock((ef_mutex *)&g->lock);
}

uint64_t ef_graph_changed(ef_graph *g) {
    return atomic_fetch_add_explicit(&g->version, 1, memory_order_release) + 1;
}

void ef_graph_nest(ef_graph *g, ef_graph *outer) {
    static atomic_uint_least64_t families;
    g->outer = outer;
    if (outer != NULL && g->sizes == NULL) g->sizes = ef_sizes_ref(outer->sizes);
    g->family = outer != NULL ? outer->family : atomic_fetch_add(&families, 1) + 1;
}

ef_graph *ef_graph_ref(ef_graph *g) {
    ef_storage_ref(&g->base);
    return g;
}

void ef_graph_unref(ef_graph *g) {
    if (g != NULL) ef_storage_unref(&g->base);
}

static void graph_end(ef_storage *self) {
    ef_graph *g = (ef_graph *)self; /* base is its first member */
    if (!ef_graph_unwatch(g)) return;
    ef_owned *callable = g->callable;
    if (callable != NULL) callable->end(callable);
    for (size_t k = 0; k < g->n_nodes; k++) {
        ef_attrs_unref(g->node[k]->attrs);
        if (g->node[k]->box != NULL) ef_box_free(g->node[k]);
    }
    for (size_t k = 0; k < g->n_captures; k++) ef_tensor_release(&g->capture[k].tensor);
    for (size_t k = 0; k < g->n_named; k++) ef_tensor_release(&g->named[k].tensor);
    ef_free(g->named);
    for (size_t k = 0; k < g->n_retired; k++) ef_free(g->retired[k]);
    ef_free(g->retired);
    ef_mutex_destroy(&g->lock);
    ef_value_owner_free(&g->values);
    ef_map_free(&g->cons);
    ef_map_free(&g->names);
    ef_map_free(&g->counts);
    ef_map_free(&g->captured);
    ef_map_free(&g->by_tape);
    ef_sizes_unref(g->sizes);
    ef_free(g->node);
    ef_free(g->input);
    ef_free(g->output);
    ef_free(g->capture);
    ef_free(g->pending_after);
    ef_free(g->gone);
    ef_free(g->doubt);
    ef_free(g->place);
    ef_map_free(&g->places);
    ef_arena_free(&g->arena);
    ef_free(g);
}

/* ---- adding nodes ---------------------------------------------------------------------------- */

typedef struct cons_key {
    const ef_graph *g;
    const ef_op *op;
    const ef_attrs *attrs;
    const ef_edge *in;
    int n_in;
} cons_key;

static bool cons_same(const void *value, const void *key) {
    const ef_node *n = value;
    const cons_key *k = key;
    return n->op == k->op && n->n_in == k->n_in && n->device == ef_graph_device(k->g) &&
           (k->n_in == 0 || memcmp(n->in, k->in, (size_t)k->n_in * sizeof *k->in) == 0) &&
           (n->attrs == k->attrs || ef_attrs_equal(n->attrs, k->attrs));
}

static uint64_t cons_hash(const cons_key *k) {
    uint64_t h = ef_hash_mix(1469598103934665603u, (uint64_t)k->op->id);
    if (k->attrs != NULL) h = ef_hash_mix(h, ef_attrs_hash(k->attrs));
    for (int i = 0; i < k->n_in; i++)
        h = ef_hash_mix(h, (uint64_t)(uint32_t)k->in[i].node << 32 | (uint32_t)k->in[i].index);
    return h;
}

static ef_status *check_edges(const ef_graph *g, const ef_op *op, const ef_edge *in, int n_in,
                              const int32_t *after, int n_after) {
    for (int k = 0; k < n_in; k++) {
        bool ok = in[k].node >= 0 && (size_t)in[k].node < g->n_nodes && in[k].index >= 0 &&
                  in[k].index < g->node[in[k].node]->n_out;
        if (!ok)
            return ef_error(EF_INVALID,
                            "%s: input %d is output %d of node %d, which does not exist; inputs "
                            "must be made before they are used",
                            op->name, k, in[k].index, in[k].node);
    }
    for (int k = 0; k < n_after; k++)
        if (after[k] < 0 || (size_t)after[k] >= g->n_nodes)
            return ef_error(EF_INVALID,
                            "%s: control input %d is node %d, which does not exist; it must be "
                            "made before",
                            op->name, k, after[k]);
    return NULL;
}

/* Facts of the outputs: inference by the op, then by the functions of control flow, then known
 * values. */
static ef_status *infer_node(ef_graph *g, ef_node *n, const ef_edge *edge, const ef_fact *in,
                             ef_fact *out, int room, int *n_out) {
    ef_status *misfit = ef_op_infer(n->op, n->fields, in, n->n_in, out, room, n_out);
    if (ef_status_code(misfit) == EF_NOT_FOUND) /* no kernel: the code of an eager call */
        ef_status_as(misfit, EF_INVALID);
    EF_TRY(misfit);
    if (n->op->traits & EF_ROWS_AT_RUN && out[0].shape.rank > 0)
        out[0].shape.dim[0] = EF_DIM_UNKNOWN;
    if (*n_out > 0 && !ef_shape_known(&out[0].shape))
        ef_graph_refine_shapes(g, n->op, edge, n->n_in, false, out, *n_out);
    if (n->op->traits & EF_CONTROL) EF_TRY(ef_control_facts(g, n, in, false, out, *n_out));
    EF_TRY(ef_fact_fold(n->op, n->fields, in, n->n_in, out, *n_out, &g->values));
    int64_t number;
    if (*n_out == 1 && out->value == NULL && out->shape.rank == 0 &&
        ef_dtype_in(out->dtype, EF_INTS) && ef_graph_shape_element(g, n, edge, &number))
        return ef_fact_set_number(out, number, &g->values);
    return NULL;
}

/* Fills a new node; everything it needs is in the arena, so a failure only wastes memory there. */
static ef_status *fill_node(ef_graph *g, ef_node *n, const ef_edge *in, const int32_t *after,
                            int n_after) {
    ef_fact few[2 * EF_MAX_ARGS], *facts = few; /* enough unless the op takes lists */
    void *many = NULL;
    int room = EF_MAX_ARGS;
    if (ef_op_signature(n->op)->variadic) {
        ef_arity arity;
        EF_TRY(ef_op_arity(n->op, n->fields, n->n_in, &arity));
        room = arity.n_out;
        size_t bytes = ((size_t)n->n_in + (size_t)room + 1) * sizeof *facts;
        if ((many = ef_malloc(bytes)) == NULL) return ef_no_memory(bytes);
        facts = many;
    } else if (n->n_in > EF_MAX_ARGS) {
        return ef_error(EF_INVALID, "%s: takes %d inputs, but %d were given", n->op->name,
                        ef_op_signature(n->op)->n_in, n->n_in);
    }
    for (int k = 0; k < n->n_in; k++) facts[k] = *ef_edge_fact(g, in[k]);
    int n_out = 0;
    ef_fact *out = facts + n->n_in;
    ef_status *s;
    EF_TRY_GOTO(infer_node(g, n, in, facts, out, room, &n_out));
    n->n_out = n_out;
    n->n_after = n_after;
    n->in = ef_arena_copy(&g->arena, in, (size_t)n->n_in * sizeof *in);
    n->after = ef_arena_copy(&g->arena, after, (size_t)n_after * sizeof *after);
    n->out = ef_arena_copy(&g->arena, out, (size_t)n_out * sizeof *out);
    if (n->in == NULL || n->after == NULL || n->out == NULL) {
        s = ef_no_memory((size_t)(n->n_in + n_out) * sizeof *out);
        goto done;
    }
    for (int k = 0; k < n_out; k++) { /* a handle's fact may sit on our stack */
        if (n->out[k].handle == NULL) continue;
        n->out[k].handle = ef_arena_copy(&g->arena, n->out[k].handle, sizeof(ef_fact));
        if (n->out[k].handle == NULL) {
            s = ef_no_memory(sizeof(ef_fact));
            goto done;
        }
    }
    if (g->sizes != NULL) s = ef_graph_infer_real(g, n, in);
done:
    ef_free(many);
    return s;
}

static ef_status *append(ef_graph *g, ef_node *n, const cons_key *key, bool merges,
                         const char *name) {
    EF_TRY(EF_GROW(&g->node, &g->cap_nodes, g->n_nodes + 1));
    if (name != NULL) {
        uint64_t hash;
        EF_TRY(ef_name_free(g, name, &n->name, &hash));
        EF_TRY(ef_map_put(&g->names, hash, n));
    }
    if (merges) EF_TRY(ef_map_put(&g->cons, cons_hash(key), n));
    n->id = (int32_t)g->n_nodes;
    g->node[g->n_nodes++] = n;
    n->serial = ef_graph_changed(g);
    return NULL;
}

static ef_status *add_with(ef_graph *g, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                           int n_in, const int32_t *after, int n_after, const char *name,
                           int32_t *node) {
    EF_TRY(check_edges(g, op, in, n_in, after, n_after));
    cons_key key = {g, op, attrs, in, n_in};
    bool merges =
        g->merge && n_after == 0 && !(op->traits & (EF_STATEFUL | EF_EFFECT | EF_NO_KERNEL));
    if (merges) {
        ef_node *same = ef_map_find(&g->cons, cons_hash(&key), cons_same, &key);
        if (same != NULL) {
            *node = same->id;
            return NULL;
        }
    }
    if (name != NULL &&
        strchr(name, '/') == NULL) /* outside scopes, earlier nodes may get it as a default */
        EF_TRY(ef_names_catch_up(g));
    size_t n_values = g->values.n, n_counts = g->counts.n;
    ef_node *n = ef_arena_zalloc(&g->arena, sizeof *n);
    if (n == NULL) return ef_no_memory(sizeof *n);
    n->op = op;
    n->attrs = attrs;
    n->fields = attrs != NULL ? ef_attrs_fields(attrs) : NULL;
    n->n_in = n_in;
    n->epoch = ef_graph_stamped = ef_graph_epoch;
    EF_TRY(fill_node(g, n, in, after, n_after));
    if (g->trims && !merges) {
        const char *own = NULL;
        uint64_t hash;
        if (name != NULL) EF_TRY(ef_name_free(g, name, &own, &hash));
        EF_TRY(ef_graph_box(g, n, own, n_values, &n));
        if (g->counts.n != n_counts) ef_graph_commit(g); /* the new counter of a name stays */
        ef_arena_rewind(&g->arena, g->committed);
    } else {
        EF_TRY(append(g, n, &key, merges, name));
        ef_graph_commit(g);
    }
    ef_node_made(g, n);
    if (attrs != NULL) ef_attrs_ref(attrs);
    *node = g->last = n->id;
    return NULL;
}

static ef_status *add_after(ef_graph *g, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                            int n_in, const int32_t *after, int n_after, const char *name,
                            int32_t *node) {
    if (attrs == NULL && op->attr[0].name != NULL) {
        if ((attrs = ef_attrs_default(op)) == NULL) { /* the next call names the missing one */
            EF_TRY(ef_attrs_make(op, NULL, 0, &attrs));
            ef_status *s = add_after(g, op, attrs, in, n_in, after, n_after, name, node);
            ef_attrs_unref(attrs);
            return s;
        }
    }
    if (g->n_pending_after == 0)
        return add_with(g, op, attrs, in, n_in, after, n_after, name, node);
    size_t n = g->n_pending_after + (size_t)n_after;
    int32_t *all = ef_malloc(n * sizeof *all);
    if (all == NULL) return ef_no_memory(n * sizeof *all);
    memcpy(all, g->pending_after, g->n_pending_after * sizeof *all);
    if (n_after > 0) memcpy(all + g->n_pending_after, after, (size_t)n_after * sizeof *all);
    ef_status *s = add_with(g, op, attrs, in, n_in, all, (int)n, name, node);
    ef_free(all);
    return s;
}

ef_status *ef_graph_add_after(ef_graph *g, const ef_op *op, const ef_attrs *attrs,
                              const ef_edge *in, int n_in, const int32_t *after, int n_after,
                              const char *name, int32_t *node) {
    ef_graph_lock(g);
    ef_status *s = add_after(g, op, attrs, in, n_in, after, n_after, name, node);
    ef_graph_unlock(g);
    return s;
}

ef_status *ef_graph_add(ef_graph *g, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                        int n_in, const char *name, int32_t *node) {
    return ef_graph_add_after(g, op, attrs, in, n_in, NULL, 0, name, node);
}

static ef_status *become(ef_graph *g, int32_t node, const ef_op *op, const ef_attrs *attrs) {
    ef_node *old = g->node[node], n = *old;
    n.op = op;
    n.attrs = attrs;
    n.fields = attrs != NULL ? ef_attrs_fields(attrs) : NULL;
    n.real = NULL;
    EF_TRY(fill_node(g, &n, old->in, old->after, old->n_after));
    if (n.real == NULL && old->real != NULL &&
        (n.real = ef_arena_copy(&g->arena, n.out, (size_t)n.n_out * sizeof *n.out)) == NULL)
        return ef_no_memory((size_t)n.n_out * sizeof *n.out);
    for (int k = 0; k < old->n_out; k++) {
        if (k >= n.n_out || n.out[k].dtype != old->out[k].dtype)
            return ef_error(EF_INTERNAL, "%s: cannot replace %s: output %d is not the same",
                            op->name, old->op->name, k);
        n.out[k] = old->out[k];
        if (n.real != NULL) n.real[k] = old->real != NULL ? old->real[k] : old->out[k];
    }
    if (attrs != NULL) ef_attrs_ref(attrs);
    ef_attrs_unref(old->attrs);
    *old = n;
    old->serial = ef_graph_changed(g);
    ef_graph_commit(g);
    g->hash = 0;
    return NULL;
}

ef_status *ef_graph_become(ef_graph *g, int32_t node, const ef_op *op, const ef_attrs *attrs) {
    ef_graph_lock(g);
    ef_status *s = become(g, node, op, attrs);
    ef_graph_unlock(g);
    return s;
}

ef_status *ef_graph_constant(ef_graph *g, const ef_tensor *value, ef_edge *out) {
    ef_made made;
    EF_TRY(ef_made_constant(value, &made));
    int32_t node = 0;
    ef_status *s = ef_graph_add(g, made.op, made.attrs, NULL, 0, NULL, &node);
    ef_attrs_unref(made.attrs);
    if (s == NULL) *out = (ef_edge){node, 0};
    return s;
}

/* An input with the given attributes, which agree with the fact. */
static ef_status *stand_in_with(ef_graph *g, const ef_attrs *attrs, const ef_fact *like,
                                const char *name, int32_t *node) {
    size_t held = g->n_pending_after;
    g->n_pending_after = 0; /* an input needs no control inputs */
    ef_status *s = ef_graph_add(g, ef_input_op, attrs, NULL, 0, name, node);
    g->n_pending_after = held;
    if (s != NULL) return s;
    ef_fact *fact = g->node[*node]->out;
    fact->shape = like->shape;
    /* Nothing is known about the elements of a list parameter: each call may pass another list. */
    if (like->handle != NULL && like->dtype == EF_RESOURCE)
        fact->handle = ef_arena_copy(&g->arena, like->handle, sizeof *like->handle);
    ef_graph_commit(g);
    return NULL;
}

static ef_status *stand_in(ef_graph *g, const ef_fact *like, const char *name, int32_t *node) {
    ef_made made;
    EF_TRY(ef_made_input(like->dtype, &like->shape, &made));
    ef_status *s = stand_in_with(g, made.attrs, like, name, node);
    ef_attrs_unref(made.attrs);
    return s;
}

ef_status *ef_graph_stand_in(ef_graph *g, ef_dtype dtype, const ef_shape *shape,
                             const ef_fact *handle, const char *name, int32_t *node) {
    ef_fact like = {.dtype = dtype, .shape = *shape, .handle = handle};
    return stand_in(g, &like, name, node);
}

/* attrs NULL: made from the fact. */
static ef_status *add_input(ef_graph *g, const ef_attrs *attrs, const ef_fact *fact,
                            const char *name, ef_edge *out) {
    EF_TRY(EF_GROW(&g->input, &g->cap_inputs, g->n_inputs + 1));
    int32_t node = 0;
    EF_TRY(attrs != NULL ? stand_in_with(g, attrs, fact, name, &node)
                         : stand_in(g, fact, name, &node));
    g->input[g->n_inputs++] = node;
    *out = (ef_edge){node, 0};
    return NULL;
}

ef_status *ef_graph_input_like(ef_graph *g, const ef_fact *fact, const char *name, ef_edge *out) {
    ef_graph_lock(g);
    ef_status *s = add_input(g, NULL, fact, name, out);
    ef_graph_unlock(g);
    return s;
}

/* Whether the attributes of an input still agree with its fact, which may have been refined. */
static bool says_all(const ef_node *n) {
    ef_attr_value shape;
    if (n->op != ef_input_op) return false;
    ef_status *s = ef_attrs_get(n->op, n->fields, "shape", &shape);
    bool same = s == NULL && ef_shape_equal(shape.as.shape, &n->out->shape);
    ef_status_free(s);
    return same;
}

ef_status *ef_graph_input_for(ef_graph *g, const ef_graph *from, ef_edge e, ef_edge *out) {
    const ef_node *n = from->node[e.node];
    ef_graph_lock(g);
    ef_status *s = add_input(g, says_all(n) ? n->attrs : NULL, &n->out[e.index], NULL, out);
    if (s == NULL) g->node[out->node]->device = n->device;
    ef_graph_unlock(g);
    return s;
}

ef_status *ef_graph_input(ef_graph *g, ef_dtype dtype, const ef_shape *shape, const char *name,
                          ef_edge *out) {
    ef_fact fact = {.dtype = dtype, .shape = *shape};
    return ef_graph_input_like(g, &fact, name, out);
}

ef_status *ef_graph_set_outputs(ef_graph *g, const ef_edge *out, int n) {
    for (int k = 0; k < n; k++)
        if (out[k].node < 0 || (size_t)out[k].node >= g->n_nodes || out[k].index < 0 ||
            out[k].index >= g->node[out[k].node]->n_out)
            return ef_error(EF_INVALID, "output %d: the graph has no output %d of node %d", k,
                            out[k].index, out[k].node);
    EF_TRY(EF_GROW(&g->output, &g->cap_outputs, (size_t)n + 1));
    if (n > 0) memcpy(g->output, out, (size_t)n * sizeof *out);
    g->n_outputs = (size_t)n;
    g->hash = 0;
    return NULL;
}

/* ---- tensors and edges ----------------------------------------------------------------------- */

void ef_graph_tensor(ef_graph *g, ef_edge e, ef_tensor *out) {
    memset(out, 0, sizeof *out);
    ef_graph_lock(g);
    const ef_fact *f = ef_edge_fact(g, e);
    ef_tensor_shape_set(out, f->dtype, &f->shape);
    ef_graph_unlock(g);
    out->flags = EF_TENSOR_SYMBOLIC;
    out->storage = ef_storage_ref(&g->base);
    memcpy(out->small, &e, sizeof e);
}

ef_edge ef_tensor_edge(const ef_tensor *t, ef_graph **g) {
    ef_edge e;
    memcpy(&e, t->small, sizeof e);
    if (g != NULL) *g = (ef_graph *)t->storage;
    return e;
}

/* ---- names ----------------------------------------------------------------------------------- */

const char *ef_graph_text_keep(ef_graph *g, const char *text) {
    ef_graph_lock(g);
    const char *copy = ef_arena_strdup(&g->arena, text);
    ef_graph_commit(g);
    ef_graph_unlock(g);
    return copy;
}

size_t ef_graph_bytes(const ef_graph *g) {
    size_t n = sizeof *g + g->arena.bytes + g->cap_places * sizeof *g->place +
               g->cap_nodes * sizeof(void *) + g->cap_inputs * sizeof(int32_t) +
               g->cap_outputs * sizeof(ef_edge) +
               (g->cap_captures + g->cap_named) * sizeof(ef_capture) +
               (g->captured.cap + g->by_tape.cap) * sizeof *g->captured.slot;
    for (size_t k = 0; k < g->n_nodes; k++)
        if (g->node[k]->attrs != NULL) n += ef_attrs_bytes(g->node[k]->attrs);
    return n;
}
