/* Whether the elements of a dataset depend on something outside of it. */
#include "data/function.h"
#include "graph/control.h"
#include "ops/control/callback.h"
#include "ops/random/random.h"
#include <string.h>

/* An op that uses a resource. Tables are taken to stay what they are, as TensorFlow does, and what
 * datasets share between iterations is saved with the position. */
static bool uses_state(const ef_op *op) {
    const ef_signature *s = ef_op_signature(op);
    if (op->dataset != EF_NO_DATASET || !(op->traits & EF_STATEFUL)) return false;
    return s->n_in > 0 && s->in[0].fixed == EF_RESOURCE && strncmp(s->in[0].name, "table", 5) != 0;
}

static ef_status *check_graph(const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        const ef_node *n = g->node[k];
        if (ef_op_draws(n->op) || ef_op_calls_back(n->op) || uses_state(n->op))
            return ef_error(EF_FAILED_PRECONDITION,
                            "%s is stateful. Its state is not saved with the position of the "
                            "iterator; if that does not matter, say so by the option "
                            "experimental_external_state_policy",
                            n->op->name);
        if (!(n->op->traits & EF_CONTROL)) continue;
        ef_control c;
        ef_control_of(n->op, n->fields, &c);
        for (int i = 0; i < c.n_funcs; i++)
            if (c.func[i] != NULL) EF_TRY(check_graph(c.func[i]));
    }
    return NULL;
}

ef_status *ef_dataset_self_contained(const ef_dataset *d) {
    const ef_dataset_attrs *a = d->set;
    const ef_graph *const all[] = {
        a->f,         a->predicate, a->key_func,      a->reduce_func, a->window_size_func,
        a->init_func, a->next_func, a->finalize_func, a->shard_func,  a->reader_func};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (all[k] != NULL) EF_TRY(check_graph(all[k]));
    for (int k = 0; k < d->n_in; k++) {
        const ef_dataset *source = ef_dataset_of(&d->in[k]);
        if (source != NULL) EF_TRY(ef_dataset_self_contained(source));
    }
    return NULL;
}
