/* Copies the nodes of a function into another graph, in place of a call. */
#include "graph/clone.h"

ef_status *ef_graph_inline(ef_graph *g, const ef_graph *f, const ef_edge *in, ef_edge *out) {
    ef_clone c = {.from = f, .to = g};
    ef_status *s;
    EF_TRY_GOTO(ef_clone_begin(&c));
    for (size_t k = 0; k < f->n_inputs; k++) ef_clone_set(&c, (ef_edge){f->input[k], 0}, in[k]);
    EF_TRY_GOTO(ef_clone_nodes(&c, NULL));
    for (size_t k = 0; k < f->n_outputs; k++) out[k] = ef_clone_moved(&c, f->output[k]);
done:
    ef_clone_end(&c);
    return s;
}
