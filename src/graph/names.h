/* Names of nodes, for the code that adds and removes nodes; graph.h has what others need. */
#ifndef EF_GRAPH_NAMES_H
#define EF_GRAPH_NAMES_H
#include "graph/graph.h"

/* Memory allocated from the arena so far is kept when it is rewound. */
static inline void ef_graph_commit(ef_graph *g) { g->committed = ef_arena_here(&g->arena); }

/* A name that is not in use: `name`, else name_1, name_2 ..., in the graph's arena and not yet
 * committed. *hash: where it belongs in the map of names. */
ef_status *ef_name_free(ef_graph *g, const char *name, const char **out, uint64_t *hash);
uint64_t ef_name_hash(const char *name); /* for the map of names, which ignores case */
/* Gives default names to all nodes without one, so that they get theirs before a node that is named
 * now. */
ef_status *ef_names_catch_up(ef_graph *g);
#endif
