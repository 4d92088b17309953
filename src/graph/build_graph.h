/* The builder that appends to a graph: gradients and passes write through it. */
#ifndef EF_GRAPH_BUILD_GRAPH_H
#define EF_GRAPH_BUILD_GRAPH_H
#include "graph/graph.h"
#include "ops/build.h"

typedef struct ef_graph_build {
    ef_build base;
    ef_graph *graph;
    ef_arena arena; /* of the values */
} ef_graph_build;

void ef_graph_build_begin(ef_graph_build *b, ef_graph *g);
/* Ends it; returns the first failure (the caller owns it), or NULL. */
ef_status *ef_graph_build_end(ef_graph_build *b);
ef_value *ef_graph_build_value(ef_graph_build *b, ef_edge e); /* NULL: no memory; b has failed */
ef_edge ef_graph_build_edge(const ef_value *v);
#endif
