/* Replaces calls by the nodes of the functions they call. Program order is kept, and every later
 * pass can optimise across the call. */
#include "graph/control.h"
#include "ops/engine_nodes.h"
#include "ops/random/random.h"
#include "passes/passes.h"
#include "passes/walk.h"

enum { DEPTH = 32, MOST_NODES = 1 << 18 };

static ef_graph *called(const ef_node *n) {
    ef_control c;
    if (!(n->op->traits & EF_CONTROL)) return NULL;
    ef_control_of(n->op, n->fields, &c);
    return c.kind == EF_CONTROL_CALL ? c.func[0] : NULL;
}

/* Whether the node is a control input of another one that must be kept. */
static bool waited_for(const ef_graph *g, const ef_node *n) {
    if (n->op->traits & EF_EFFECT) return false;
    for (size_t k = (size_t)n->id + 1; k < g->n_nodes; k++)
        for (int i = 0; i < g->node[k]->n_after; i++)
            if (g->node[k]->after[i] == n->id) return true;
    return false;
}

static bool has_unfed(const ef_graph *f) {
    size_t fed = 0;
    for (size_t k = 0; k < f->n_nodes; k++)
        if (f->node[k]->op->traits & EF_NO_KERNEL) fed++;
    return f->n_captures > 0 || fed > f->n_inputs;
}

/* Whether the function's parameter has a more precise shape than the argument; *out: its shape. */
static bool says_more(const ef_shape *declared, const ef_shape *have, ef_shape *out) {
    *out = *declared;
    bool more = declared->rank >= 0 && have->rank < 0;
    for (int d = 0; d < declared->rank; d++) {
        if (declared->dim[d] < 0)
            out->dim[d] = EF_DIM_UNKNOWN; /* symbols belong to one graph */
        else if (have->rank == declared->rank && have->dim[d] < 0)
            more = true;
    }
    return more;
}

/* If the parameter's shape is more precise than that of the argument, a shape check is added. */
static ef_status *enter(ef_walk *w, const ef_fact *declared, ef_edge given, ef_edge *out) {
    ef_shape shape;
    *out = given;
    const ef_fact *have = ef_edge_fact(w->to, given);
    if (!ef_dtype_in(have->dtype, EF_PLAIN) || !says_more(&declared->shape, &have->shape, &shape))
        return NULL;
    ef_made made;
    EF_TRY(ef_made_shape_check(&shape, &made));
    ef_status *s = ef_walk_add(w, made.op, made.attrs, &given, 1, out);
    ef_attrs_unref(made.attrs);
    return s;
}

static ef_walk_fn visit;

static ef_status *open_call(ef_walk *w, const ef_node *n, ef_graph *f, const ef_edge *in,
                            ef_edge *out) {
    const int *depth = w->user;
    int deeper = *depth + 1;
    ef_walk inner = {.visit = visit, .user = &deeper};
    ef_status *s;
    EF_TRY_GOTO(ef_walk_begin(&inner, f, w->to, w->live));
    for (int k = 0; k < n->n_in; k++) {
        ef_edge given;
        EF_TRY_GOTO(enter(w, f->node[f->input[k]]->out, in[k], &given));
        ef_walk_bind(&inner, (size_t)k, given);
    }
    EF_TRY_GOTO(ef_walk_nodes(&inner));
    for (int k = 0; k < n->n_out; k++) out[k] = ef_walk_moved(&inner, f->output[k]);
done:
    ef_walk_end(&inner);
    return s;
}

/* The position of a random op in its sequence belongs to its attributes object, so each inlined
 * call gets its own copy of the attributes. */
static ef_status *copy_draw(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out) {
    ef_node with = *n;
    EF_TRY(ef_attrs_like(n->op, n->op, n->fields, NULL, 0, &with.attrs));
    ef_status *s = ef_walk_copy(w, &with, in, out);
    ef_attrs_unref(with.attrs);
    return s;
}

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    ef_graph *f = called(n);
    const int *depth = w->user;
    if (*depth > 0 && ef_op_draws(n->op)) {
        *done = true;
        return copy_draw(w, n, in, out);
    }
    if (f == NULL || *depth >= DEPTH || w->to->n_nodes + f->n_nodes > MOST_NODES ||
        (size_t)n->n_in != f->n_inputs || (size_t)n->n_out != f->n_outputs || has_unfed(f) ||
        ef_walk_waits(w, n) || waited_for(w->from, n))
        return NULL;
    *done = true;
    return open_call(w, n, f, in, out);
}

ef_status *ef_pass_inline(ef_passing *p, const ef_graph *g, ef_graph **out) {
    (void)p;
    int depth = 0;
    for (size_t k = 0; k < g->n_nodes; k++)
        if (called(g->node[k]) != NULL) return ef_walk_graph(g, visit, &depth, out);
    return NULL;
}
