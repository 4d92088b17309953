/* Where nodes come from. A graph that a user builds is watched: it has a number, and each of its
 * nodes knows the place in the user's program that made it, as a chain of calls. Graphs that the
 * engine makes from it - extracts, optimised programs - may be shared by many users' graphs of the
 * same structure, so their nodes have no place, only the origin of the node they were made from. */
#ifndef EF_GRAPH_ORIGIN_H
#define EF_GRAPH_ORIGIN_H
#include "base/text.h"
#include "evenflow_binding.h"
#include "graph/graph.h"

typedef struct ef_place {
    const char *file, *function; /* kept by the graph */
    int32_t line;
    int32_t up; /* the place that called this function; 0: none is known */
} ef_place;

/* Gives g a number, by which ef_graph_numbered finds it while it lives. */
ef_status *ef_graph_watch(ef_graph *g);
ef_graph *ef_graph_numbered(uint64_t number); /* counted; NULL: it is gone */
/* Called when the last reference to g is released. False if ef_graph_numbered has made a new
 * reference meanwhile: then g is freed when that one is released. */
bool ef_graph_unwatch(ef_graph *g);
/* Notes the current line of this thread's program, for the nodes it adds to g next. */
void ef_graph_note_place(ef_graph *g);
/* Sets the device, the origin and the place of a new node of g. */
void ef_node_made(const ef_graph *g, ef_node *n);
/* Writes the chain of calls that made a node, the outermost first, a line of text each. */
void ef_place_text(const ef_graph *g, int32_t place, const char *indent, ef_text *out);
#endif
