/* The IR. A graph is a list of nodes in the order they were made; a node's inputs always come
 * before it, so the list is both a topological order and program order, and cycles are impossible.
 * Nodes live in the graph's arena and are freed with it, except in graphs that trim
 * (graph/trim.h).
 *
 * A function is a graph with inputs (Placeholder nodes) and outputs. Tensors from outside that were
 * used while the graph was being made are captures: extra inputs, fed with those very tensors.
 *
 * A graph being built belongs to one thread; once finished it is read-only and may be shared. A
 * guarded graph may be entered by several threads, which add ops to it, and sessions may run it
 * meanwhile; everything else must be done by one thread at a time. */
#ifndef EF_GRAPH_GRAPH_H
#define EF_GRAPH_GRAPH_H
#include "base/arena.h"
#include "base/map.h"
#include "base/mutex.h"
#include "base/owned.h"
#include "ops/op.h"
#include <stdatomic.h>

typedef struct ef_edge { /* output `index` of node `node` */
    int32_t node, index;
} ef_edge;

/* Identifies a node of a user's graph. It holds no reference, since graphs that passes make may
 * outlive the user's graph. */
typedef struct ef_origin {
    uint64_t graph; /* its number, see ef_graph_watch; 0: no user made the node */
    uint64_t serial;
    int32_t node;
} ef_origin;

typedef struct ef_node {
    const ef_op *op;
    const ef_attrs *attrs; /* counted; may be NULL for ops without attributes */
    const void *fields;    /* ef_attrs_fields(attrs) */
    int32_t n_in, n_out, n_after;
    ef_edge *in;
    int32_t *after;     /* control inputs: nodes that must have run before */
    ef_fact *out;       /* what is known of each output */
    ef_fact *real;      /* and in the call being traced, see graph/sizes.h; NULL: the same */
    const char *name;   /* NULL: none was given; see ef_node_name */
    const char *kind;   /* its default name, a static text; NULL: the name of its op */
    int32_t place;      /* where the user's program made it, see graph/origin.h; 0: unknown */
    int32_t id;         /* its index */
    ef_origin origin;   /* the node of a user's graph from which it was made */
    uint8_t device;     /* the requested device, plus 1; 0: none */
    uint64_t epoch;     /* ef_graph_epoch when it was made */
    uint64_t serial;    /* unique among all nodes this graph ever had */
    struct ef_box *box; /* of a node that can be removed, see graph/trim.h; else NULL */
    int32_t seen;       /* tensors of it that a binding counts */
    int32_t users;      /* nodes with a box that use it */
    bool doubted;       /* is in the graph's list `doubt` of nodes that may be removed */
    bool gone;          /* removed: a NoOp keeps its place */
    bool trains;        /* an input: the handle of a variable that tapes watch by themselves */
} ef_node;

/* A counter of this thread that goes up whenever a tape starts, stops, pauses or watches: by the
 * epoch of a node a tape knows whether it was recording when the node was made. */
extern _Thread_local uint64_t ef_graph_epoch;
extern _Thread_local uint64_t ef_graph_stamped; /* the epoch of the node this thread made last */

typedef struct ef_capture {
    ef_tensor tensor; /* what was captured: a value, a resource, or a tensor of an outer graph */
    int32_t node;     /* the Placeholder that stands for it */
} ef_capture;

typedef struct ef_value_owner { /* tensors that facts point at */
    ef_tensor **item;
    size_t n, cap;
} ef_value_owner;

struct ef_graph {
    ef_storage base; /* counted; symbolic tensors hold the graph alive */
    ef_arena arena;
    ef_node **node;
    size_t n_nodes, cap_nodes;
    int32_t *input; /* Placeholder nodes in order of parameters (captures not among them) */
    size_t n_inputs, cap_inputs;
    ef_edge *output;
    size_t n_outputs, cap_outputs;
    _Atomic(ef_capture *) capture;
    size_t n_captures, cap_captures;
    size_t capture_from;  /* no entry of the list before this one is free */
    size_t n_compared;    /* how many captures were compared with a tensor; for tests */
    ef_map captured;      /* indices into the list by the tensor captured */
    ef_capture **retired; /* lists of captures that became too small */
    size_t n_retired, cap_retired;
    ef_capture *named; /* small values that became constants but may have gradients */
    size_t n_named, cap_named;
    ef_map by_tape;        /* indices into `named` */
    ef_value_owner values; /* known values behind facts */
    ef_graph *outer;       /* graph being built when this one was entered; not counted */
    uint64_t family;       /* the same for all graphs built within one outermost graph */
    bool merge;            /* hash-consing: equal pure nodes are one node */
    bool part;             /* a branch or the body of a loop in the graph around it */
    bool function; /* effects happen in program order and are kept though nothing uses them */
    ef_map cons, names;
    ef_map counts; /* by name: the last number used in its suffixes _1, _2 ... */
    size_t called; /* nodes before this one have a name, unless they were put there later */
    int32_t *pending_after; /* control inputs for every new node (tf.control_dependencies) */
    size_t n_pending_after;
    _Atomic(ef_owned *) callable; /* what calls of it run; made by src/eager */
    _Atomic(uint64_t) version;    /* goes up with every change that sessions must see */
    bool guarded;                 /* other threads may read it while it is built: it is locked */
    ef_mutex lock;                /* recursive; guards all but captures and version */
    int32_t last;                 /* the node made last */
    int64_t n_seen;               /* tensors that a binding counts, see graph/trim.h */
    bool trims;                   /* nodes made from now on can be removed */
    ef_arena_mark committed;      /* arena memory up to this mark is kept */
    int32_t *gone, *doubt;        /* places of removed nodes; nodes that may be removed */
    size_t n_gone, cap_gone, n_doubt, cap_doubt;
    size_t n_objected;      /* how many of `doubt`, from the front, `keep` has kept */
    size_t n_doubted_since; /* how many were added to `doubt` since then */
    uint64_t random_scope;  /* of its random ops' positions, once it is called; 0: it has none */
    uint64_t hash;          /* structural, of a finished function; 0: not computed */
    struct ef_sizes *sizes; /* of the call being traced, counted; graphs that share it share their
                             * symbols; NULL: symbols have no sizes */
    uint64_t number;        /* of a graph that a user builds; else 0 */
    const ef_node *copies;  /* new nodes get the origin and the device of this node; NULL: they are
                             * their own origin */
    uint8_t wanted;         /* the device of new nodes that copy none; as ef_node.device */
    struct ef_place *place; /* from 1; see graph/origin.h */
    size_t n_places, cap_places;
    ef_map places; /* by content */
};

ef_graph *ef_graph_make(void); /* NULL: out of memory */
/* Around building a guarded graph, or reading it while others may build; a graph that is not
 * guarded is not locked. */
void ef_graph_lock(const ef_graph *g);
void ef_graph_unlock(const ef_graph *g);
uint64_t ef_graph_changed(ef_graph *g);           /* the new version */
void ef_graph_nest(ef_graph *g, ef_graph *outer); /* g is entered while outer (or NULL) is built */
ef_graph *ef_graph_ref(ef_graph *g);
void ef_graph_unref(ef_graph *g); /* NULL is fine */

/* Appends a node (or, when merging, finds its equal). Inputs are edges of g. Infers and checks
 * dtypes and shapes; nothing is added on failure. name NULL: unnamed; a taken name gets "_1", "_2".
 * *node is its index. */
ef_status *ef_graph_add(ef_graph *g, const ef_op *op, const ef_attrs *attrs, const ef_edge *in,
                        int n_in, const char *name, int32_t *node);
/* As add, with control inputs. */
ef_status *ef_graph_add_after(ef_graph *g, const ef_op *op, const ef_attrs *attrs,
                              const ef_edge *in, int n_in, const int32_t *after, int n_after,
                              const char *name, int32_t *node);
/* Changes the op and the attributes of a node (attrs is counted); its number and inputs stay. Its
 * first outputs must have the dtypes of the old ones, and keep their facts; more may follow them.
 */
ef_status *ef_graph_become(ef_graph *g, int32_t node, const ef_op *op, const ef_attrs *attrs);
/* Copies the nodes of function f to the end of g, with the edges `in` for its inputs; out[k] is the
 * edge of its output k. f has no captures. */
ef_status *ef_graph_inline(ef_graph *g, const ef_graph *f, const ef_edge *in, ef_edge *out);
ef_status *ef_graph_constant(ef_graph *g, const ef_tensor *value, ef_edge *out);
/* A Placeholder node that is not an input; `handle` is the fact of a resource's value. */
ef_status *ef_graph_stand_in(ef_graph *g, ef_dtype dtype, const ef_shape *shape,
                             const ef_fact *handle, const char *name, int32_t *node);
ef_status *ef_graph_input(ef_graph *g, ef_dtype dtype, const ef_shape *shape, const char *name,
                          ef_edge *out); /* a new parameter */
ef_status *ef_graph_input_like(ef_graph *g, const ef_fact *fact, const char *name, ef_edge *out);
/* A new parameter in place of an edge of another graph. */
ef_status *ef_graph_input_for(ef_graph *g, const ef_graph *from, ef_edge e, ef_edge *out);
ef_status *ef_graph_set_outputs(ef_graph *g, const ef_edge *out, int n);
/* The edge of tensor t inside g. A symbolic tensor of g is its own edge; a small plain value
 * becomes a constant, everything else a capture (the same tensor is captured once). A small value
 * that a tape may watch (it has a mark, see tensor/mark.h) becomes one constant, however often it
 * is used, which ef_graph_imported finds again. */
ef_status *ef_graph_import(ef_graph *g, const ef_tensor *t, ef_edge *out);
/* The same without making anything: false if t has no edge in g yet. */
bool ef_graph_imported(const ef_graph *g, const ef_tensor *t, ef_edge *out);
/* As import, but every tensor that is not of g is captured: small values too, and tensors of any
 * graph. */
ef_status *ef_graph_take(ef_graph *g, const ef_tensor *t, ef_edge *out);
/* give_up releases a capture whose node is removed; another capture may take its entry. uncapture
 * keeps the node, which is no capture any more; later captures move up. Neither does anything if
 * the node is not a capture. */
void ef_graph_give_up(ef_graph *g, int32_t node);
void ef_graph_uncapture(ef_graph *g, int32_t node);
/* A symbolic tensor for an edge; counts the graph. */
void ef_graph_tensor(ef_graph *g, ef_edge e, ef_tensor *out);
/* The edge behind a symbolic tensor; *g its graph. */
ef_edge ef_tensor_edge(const ef_tensor *t, ef_graph **g);
/* -1: none. It may first give every node its default name, see ef_graph_called. */
int32_t ef_graph_find(ef_graph *g, const char *name);
/* The name of a node. If it has none, it and the unnamed nodes before it get default names in the
 * order they were made: add, add_1, ... */
ef_status *ef_graph_called(ef_graph *g, int32_t node, const char **name);
/* Names or renames a node; the name is made unique as by add. */
ef_status *ef_graph_rename(ef_graph *g, int32_t node, const char *name);
/* A name for printing: its own, or "AddV2_12". Returns buf or the name. */
const char *ef_node_name(const ef_graph *g, int32_t node, char *buf, size_t n);
/* A copy of a text that lives as long as the graph; NULL: out of memory. */
const char *ef_graph_text_keep(ef_graph *g, const char *text);
static inline const ef_fact *ef_edge_fact(const ef_graph *g, ef_edge e) {
    return &g->node[e.node]->out[e.index];
}
static inline bool ef_edge_same(ef_edge a, ef_edge b) {
    return a.node == b.node && a.index == b.index;
}

/* The device of nodes that are added now. */
static inline uint8_t ef_graph_device(const ef_graph *g) {
    return g->copies != NULL ? g->copies->device : g->wanted;
}

/* Structural hash and equality of functions: op, attributes, wiring, inputs, outputs, devices, and
 * constants by value. Names and places do not count. */
uint64_t ef_graph_hash(ef_graph *g);
uint64_t ef_graph_wiring(const ef_graph *g); /* a hash of ops and edges only, not of attributes */
bool ef_graph_equal(const ef_graph *a, const ef_graph *b);
/* The hash and equality of the graph that g would be if the constants that `taken` marks were
 * inputs after its own ones, and if no constant were a control input; that graph is not made. */
uint64_t ef_graph_hash_without(const ef_graph *g, const bool *taken);
bool ef_graph_equal_without(const ef_graph *g, const bool *taken, const ef_graph *other);
size_t ef_graph_bytes(const ef_graph *g);

/* A new function graph: the subgraph of g needed for `fetch` and for the nodes in `target` (and, in
 * a function, for its side effects), with the `feed` edges as its inputs in that order. Captures
 * that are needed become further inputs, in order; captures[k] (g->n_captures entries) says which.
 * Nodes are renumbered in their old order, so equal structures give equal graphs. */
ef_status *ef_graph_extract(const ef_graph *g, const ef_edge *feed, int n_feed,
                            const ef_edge *fetch, int n_fetch, const int32_t *target, int n_target,
                            ef_graph **out, int32_t *captures, int *n_captures);
/* Whether extracting the outputs of function g, with its inputs as feeds, would copy it node for
 * node: it has no captures, its inputs come first, and all other nodes are needed. Such a graph has
 * the structure of its extract. */
bool ef_graph_is_whole(const ef_graph *g);
/* The extract of a graph that was whole when it had n_nodes nodes; more may have been added. */
ef_status *ef_graph_extract_whole(const ef_graph *g, size_t n_nodes, ef_graph **out);
/* The same without the side effects of a function: only what `fetch` and `target` need. A session
 * that runs a subgraph of a function while it is being traced must not run its effects twice. */
ef_status *ef_graph_extract_fetched(const ef_graph *g, const ef_edge *feed, int n_feed,
                                    const ef_edge *fetch, int n_fetch, const int32_t *target,
                                    int n_target, ef_graph **out, int32_t *captures,
                                    int *n_captures);

/* Checks what all other code relies on: inputs precede their users, counts and dtypes match the
 * records, facts agree with inference, outputs exist. */
ef_status *ef_graph_verify(const ef_graph *g);
/* One line per node: `%3 = MatMul(%1, %2) {transpose_b: true} : float32 [?, 10]  # model.py:3`. */
ef_status *ef_graph_text(const ef_graph *g, char **out); /* free with ef_free */
struct ef_text;
void ef_node_attrs_text(const ef_node *n, struct ef_text *out); /* ` {transpose_b: true}` */

/* Computes small values (shapes and what is computed from them) during shape inference: sets
 * out[k].value (owned by `owner`) when all inputs of the op are known. Used by add and by plans. */
ef_status *ef_fact_fold(const ef_op *op, const void *attrs, const ef_fact *in, int n_in,
                        ef_fact *out, int n_out, ef_value_owner *owner);
/* Sets the value of an integer scalar, if its dtype can hold it. */
ef_status *ef_fact_set_number(ef_fact *out, int64_t number, ef_value_owner *owner);
void ef_value_owner_free(ef_value_owner *o);
#endif
