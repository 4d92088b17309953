/* Names of nodes, for those who add and forget them; graph.h has what others need. */
#ifndef EF_GRAPH_NAMES_H
#define EF_GRAPH_NAMES_H
#include "graph/graph.h"

/* What the arena gave up to here stays. */
static inline void ef_graph_settle(ef_graph *g) { g->settled = ef_arena_here(&g->arena); }

/* A name that is not in use: `name`, else name_1, name_2 ..., in the graph's arena and not yet
 * settled. *hash: where it belongs in the map of names. */
ef_status *ef_name_free(ef_graph *g, const char *name, const char **out, uint64_t *hash);
uint64_t ef_name_hash(const char *name); /* for the map of names, to which add and Add are one */
/* Calls the nodes that have no name yet by their kind, so that they keep their place before one
 * that is named now. */
ef_status *ef_names_catch_up(ef_graph *g);
#endif
