/* The real sizes of the call that a trace is made for. A trace that serves several sizes has
 * symbols in their place, but the Python code being traced must see the sizes of this call. So each
 * output of such a graph has two facts: `out` holds for every size, `real` for this call. Whoever
 * shows a real size to the Python code also marks the symbols it was computed from as read: the
 * trace is then valid for those sizes only. */
#ifndef EF_GRAPH_SIZES_H
#define EF_GRAPH_SIZES_H
#include "graph/graph.h"

typedef struct ef_sizes {
    atomic_int refs;
    int64_t size[EF_MAX_SYMBOLS]; /* of each symbol in this call; -1: it has none */
    uint64_t read;                /* symbols whose size the program read, one bit each */
    bool closed;                  /* the trace is finished: reading has no consequences now */
    struct ef_sizes *outer;       /* those of the trace around this one; counted, or NULL */
} ef_sizes;

ef_sizes *ef_sizes_new(ef_sizes *outer); /* NULL: out of memory */
ef_sizes *ef_sizes_ref(ef_sizes *s);     /* NULL is fine, as below */
void ef_sizes_unref(ef_sizes *s);
/* Marks all symbols as read: the program saw sizes whose symbols are not known, or an error that
 * depends on sizes. */
void ef_sizes_read_all(ef_sizes *s);

/* What is known of an edge in this call. */
static inline const ef_fact *ef_edge_real(const ef_graph *g, ef_edge e) {
    const ef_node *n = g->node[e.node];
    return n->real != NULL ? &n->real[e.index] : &n->out[e.index];
}
/* Sets the real shape of one output; the graph must have sizes. */
ef_status *ef_graph_set_real(ef_graph *g, ef_edge e, const ef_shape *real);
/* Infers the real facts of a node whose `out` is filled in; for graphs with sizes. */
ef_status *ef_graph_infer_real(ef_graph *g, ef_node *n, const ef_edge *in);
/* The program reads size d of an edge. */
void ef_graph_read_size(const ef_graph *g, ef_edge e, int d);

/* The same of tensors, symbolic or not. */
ef_shape ef_tensor_real(const ef_tensor *t);
void ef_tensor_read_size(const ef_tensor *t, int d);
#endif
