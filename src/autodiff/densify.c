/* IndexedSlices as an ordinary tensor, for callers that can use only that. */
#include "autodiff/autodiff.h"
#include "graph/build_graph.h"

ef_status *ef_gradient_densify(ef_graph *g, ef_gradient *x) {
    if (x->kind != EF_GRADIENT_SLICES) return NULL;
    ef_graph_build b;
    ef_graph_build_begin(&b, g);
    ef_value *dense = ef_dense(&b.base, ef_slices(&b.base, ef_graph_build_value(&b, x->value),
                                                  ef_graph_build_value(&b, x->indices),
                                                  ef_graph_build_value(&b, x->dense_shape)));
    ef_edge e = dense != NULL ? ef_graph_build_edge(dense) : (ef_edge){-1, 0};
    EF_TRY(ef_graph_build_end(&b));
    *x = (ef_gradient){.kind = EF_GRADIENT_DENSE, .value = e};
    return NULL;
}
