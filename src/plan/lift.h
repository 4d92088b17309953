/* Constants as parameters. A function traced again with another number, or a graph built again,
 * differs from the one before only in small constants; with those taken out it is the same graph.
 */
#ifndef EF_PLAN_LIFT_H
#define EF_PLAN_LIFT_H
#include "graph/graph.h"

typedef struct ef_lifted {
    ef_graph *graph;         /* counted; its last `n` inputs replace the constants */
    const ef_tensor **value; /* borrowed from the graph it was made from */
    size_t n, cap;
} ef_lifted;
/* Takes out the small constants that no plan depends on, inside loops, branches and calls too.
 * Those that rewrite rules match (0, 1, 2 ...) stay. graph NULL: there are none. */
ef_status *ef_lift(const ef_graph *g, ef_lifted *out);
void ef_lifted_free(ef_lifted *l);

/* The constants that ef_lift would take out of a graph, to look up the result without making it. */
typedef struct ef_numbers {
    const ef_tensor **value; /* borrowed from the graph; NULL: there are none, or only ef_lift can
                              * tell, since functions in the graph may hold some */
    size_t n;
    bool *taken; /* by node; node k of the graph without them is node k of the graph */
} ef_numbers;
ef_status *ef_numbers_find(const ef_graph *g, ef_numbers *out);
void ef_numbers_free(ef_numbers *x);
#endif
