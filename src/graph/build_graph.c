/* The builder over a graph: a value is an edge with its fact. */
#include "graph/build_graph.h"

typedef struct edge_value {
    ef_value base;
    ef_edge edge;
} edge_value;

ef_edge ef_graph_build_edge(const ef_value *v) { return ((const edge_value *)v)->edge; }

static ef_value *new_value(ef_graph_build *b, ef_edge e) {
    edge_value *v = ef_arena_zalloc(&b->arena, sizeof *v);
    if (v == NULL) return NULL;
    v->base.fact = *ef_edge_fact(b->graph, e);
    v->edge = e;
    return &v->base;
}

ef_value *ef_graph_build_value(ef_graph_build *b, ef_edge e) {
    ef_value *v = new_value(b, e);
    if (v == NULL) ef_build_fail(&b->base, ef_no_memory(sizeof(edge_value)));
    return v;
}

static ef_status *emit(ef_build *base, const ef_op *op, const ef_attrs *attrs, ef_value *const *in,
                       int n_in, ef_value **out, int max_out, int *n_out) {
    ef_graph_build *b = (ef_graph_build *)base;
    ef_edge few[16], *edges = few;
    if (n_in > 16 && (edges = ef_arena_alloc(&b->arena, (size_t)n_in * sizeof *edges)) == NULL)
        return ef_no_memory((size_t)n_in * sizeof *edges);
    for (int k = 0; k < n_in; k++) edges[k] = ((const edge_value *)in[k])->edge;
    int32_t node;
    EF_TRY(ef_graph_add(b->graph, op, attrs, edges, n_in, NULL, &node));
    *n_out = b->graph->node[node]->n_out;
    for (int k = 0; k < *n_out && k < max_out; k++)
        if ((out[k] = new_value(b, (ef_edge){node, k})) == NULL)
            return ef_no_memory(sizeof(edge_value));
    return NULL;
}

static ef_status *constant(ef_build *base, const ef_tensor *t, ef_value **out) {
    ef_graph_build *b = (ef_graph_build *)base;
    ef_edge e;
    /* A value always becomes a constant: a gradient must not add a capture to the function. */
    if (t->flags & EF_TENSOR_SYMBOLIC)
        EF_TRY(ef_graph_import(b->graph, t, &e));
    else
        EF_TRY(ef_graph_constant(b->graph, t, &e));
    *out = new_value(b, e);
    return *out != NULL ? NULL : ef_no_memory(sizeof(edge_value));
}

static void *memory(ef_build *base, size_t n) {
    return ef_arena_zalloc(&((ef_graph_build *)base)->arena, n);
}

void ef_graph_build_begin(ef_graph_build *b, ef_graph *g) {
    *b = (ef_graph_build){.base = {.emit = emit, .constant = constant, .memory = memory},
                          .graph = g};
}

ef_status *ef_graph_build_end(ef_graph_build *b) {
    ef_status *s = b->base.failed;
    ef_arena_free(&b->arena);
    b->base.failed = NULL;
    return s;
}
