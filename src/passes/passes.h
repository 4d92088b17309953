/* Optimising a function graph: named passes in one ordered table, each graph -> graph. */
#ifndef EF_PASSES_PASSES_H
#define EF_PASSES_PASSES_H
#include "graph/graph.h"

/* A pass reads g and writes a new graph with the same inputs and outputs; *out = NULL: nothing to
 * do. */
typedef struct ef_pass {
    const char *name;
    ef_status *(*run)(const ef_graph *g, ef_graph **out);
} ef_pass;
extern const ef_pass ef_passes[]; /* in order, ends with a NULL name */

/* Runs all passes but those switched off by name (EF_PASSES=-fold,-rules), verifying after each in
 * debug builds. Functions inside (bodies, branches) are optimised too. *out is a new, finished
 * graph. */
ef_status *ef_optimise(ef_graph *g, ef_graph **out);
/* The same with the given passes switched off ("fold,rules"; NULL: none). */
ef_status *ef_optimise_without(ef_graph *g, const char *off, ef_graph **out);
#endif
