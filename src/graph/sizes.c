/* Real sizes beside symbolic ones: shape inference for the call that a trace is made for, and a
 * record of the sizes that the traced program read. */
#include "graph/sizes.h"
#include "base/alloc.h"
#include "graph/control.h"
#include "graph/names.h"
#include "graph/shape_values.h"

ef_sizes *ef_sizes_new(ef_sizes *outer) {
    ef_sizes *s = ef_calloc(1, sizeof *s);
    if (s == NULL) return NULL;
    atomic_init(&s->refs, 1);
    for (int k = 0; k < EF_MAX_SYMBOLS; k++) s->size[k] = EF_DIM_UNKNOWN;
    s->outer = ef_sizes_ref(outer);
    return s;
}

ef_sizes *ef_sizes_ref(ef_sizes *s) {
    if (s != NULL) atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void ef_sizes_unref(ef_sizes *s) {
    while (s != NULL && atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) == 1) {
        ef_sizes *outer = s->outer;
        ef_free(s);
        s = outer;
    }
}

void ef_sizes_read_all(ef_sizes *s) {
    for (; s != NULL; s = s->outer)
        if (!s->closed) s->read = UINT64_MAX;
}

/* ---- reading ---------------------------------------------------------------------------------
 */

void ef_graph_read_size(const ef_graph *g, ef_edge e, int d) {
    const ef_shape *all = &ef_edge_fact(g, e)->shape, *real = &ef_edge_real(g, e)->shape;
    int symbol;
    int64_t a, b;
    if (g->sizes == NULL || d < 0 || d >= real->rank) return;
    if (all->rank != real->rank || all->dim[d] == EF_DIM_UNKNOWN)
        ef_sizes_read_all(g->sizes);
    else if (!g->sizes->closed && ef_dim_parts(all->dim[d], &symbol, &a, &b))
        g->sizes->read |= UINT64_C(1) << symbol;
}

ef_shape ef_tensor_real(const ef_tensor *t) {
    if (!(t->flags & EF_TENSOR_SYMBOLIC)) return ef_shape_from(t);
    ef_graph *g;
    ef_edge e = ef_tensor_edge(t, &g);
    return g->sizes != NULL ? ef_edge_real(g, e)->shape : ef_shape_from(t);
}

void ef_tensor_read_size(const ef_tensor *t, int d) {
    if (!(t->flags & EF_TENSOR_SYMBOLIC)) return;
    ef_graph *g;
    ef_edge e = ef_tensor_edge(t, &g);
    ef_graph_read_size(g, e, d);
}

/* ---- facts -----------------------------------------------------------------------------------
 */

ef_status *ef_graph_set_real(ef_graph *g, ef_edge e, const ef_shape *real) {
    ef_node *n = g->node[e.node];
    if (n->real == NULL) {
        n->real = ef_arena_copy(&g->arena, n->out, (size_t)n->n_out * sizeof *n->out);
        if (n->real == NULL) return ef_no_memory((size_t)n->n_out * sizeof *n->out);
        ef_graph_commit(g);
    }
    n->real[e.index].shape = *real;
    return NULL;
}

/* Whether the real facts say more than those that always hold. */
static bool differs(const ef_fact *real, const ef_fact *out, int n) {
    for (int k = 0; k < n; k++)
        if (!ef_shape_equal(&real[k].shape, &out[k].shape) ||
            (real[k].value == NULL) != (out[k].value == NULL) ||
            (real[k].handle != NULL && real[k].handle != out[k].handle))
            return true;
    return false;
}

static ef_status *keep_real(ef_graph *g, ef_node *n, const ef_fact *real) {
    n->real = ef_arena_copy(&g->arena, real, (size_t)n->n_out * sizeof *real);
    if (n->real == NULL) return ef_no_memory((size_t)n->n_out * sizeof *real);
    for (int k = 0; k < n->n_out; k++) {
        if (n->real[k].handle == NULL) continue;
        n->real[k].handle = ef_arena_copy(&g->arena, n->real[k].handle, sizeof(ef_fact));
        if (n->real[k].handle == NULL) return ef_no_memory(sizeof(ef_fact));
    }
    return NULL;
}

static ef_status *infer(ef_graph *g, const ef_node *n, const ef_edge *edge, const ef_fact *in,
                        ef_fact *out) {
    int n_out = 0;
    ef_status *misfit = ef_op_infer(n->op, n->fields, in, n->n_in, out, n->n_out, &n_out);
    if (ef_status_code(misfit) == EF_NOT_FOUND) ef_status_as(misfit, EF_INVALID);
    EF_TRY(misfit);
    if (n_out > 0 && !ef_shape_known(&out[0].shape))
        ef_graph_refine_shapes(g, n->op, edge, n->n_in, true, out, n_out);
    if (n->op->traits & EF_CONTROL) EF_TRY(ef_control_facts(g, n, in, true, out, n_out));
    return ef_fact_fold(n->op, n->fields, in, n->n_in, out, n_out, &g->values);
}

ef_status *ef_graph_infer_real(ef_graph *g, ef_node *n, const ef_edge *in) {
    /* Its functions may have real sizes, or shape values may decide its shape. */
    bool any = (n->op->traits & EF_CONTROL) != 0 || n->op->sized.by != EF_SIZED_NOT;
    for (int k = 0; k < n->n_in && !any; k++) any = g->node[in[k].node]->real != NULL;
    if (!any || n->n_out == 0) return NULL;
    size_t bytes = (size_t)(n->n_in + n->n_out + 1) * sizeof(ef_fact);
    ef_fact *facts = ef_malloc(bytes);
    if (facts == NULL) return ef_no_memory(bytes);
    for (int k = 0; k < n->n_in; k++) facts[k] = *ef_edge_real(g, in[k]);
    ef_status *s = infer(g, n, in, facts, facts + n->n_in);
    if (s != NULL) /* the program may catch the error, so its trace depends on the sizes */
        ef_sizes_read_all(g->sizes);
    else if (differs(facts + n->n_in, n->out, n->n_out))
        s = keep_real(g, n, facts + n->n_in);
    for (int k = 0; s == NULL && k < n->n_out && n->real != NULL; k++)
        if (n->out[k].shape.rank < 0 && n->real[k].shape.rank >= 0) { /* sizes decide the rank */
            ef_sizes_read_all(g->sizes);
            n->out[k].shape = n->real[k].shape;
        }
    ef_free(facts);
    return s;
}
