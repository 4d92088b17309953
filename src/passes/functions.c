/* Functions held by nodes - loop bodies and conditions, branches, calls that are not inlined - are
 * optimised by themselves, each once, and the node gets the optimised functions. If no function has
 * side effects or reads state, the node becomes its stateless op, which may be merged or pruned. */
#include "base/alloc.h"
#include "graph/control.h"
#include "passes/passes.h"
#include "passes/walk.h"

/* The attributes of n with every function replaced. *out NULL: none has changed. */
static ef_status *rewritten(ef_passing *p, const ef_node *n, const ef_attrs **out) {
    ef_attr_value set[EF_MAX_ATTRS];
    ef_graph **lists[EF_MAX_ATTRS] = {0};
    int n_set = 0;
    bool changed = false;
    ef_status *s = NULL;
    for (int k = 0; k < EF_MAX_ATTRS && n->op->attr[k].name != NULL; k++) {
        ef_attr_value *v = &set[n_set];
        EF_TRY_GOTO(ef_attrs_get(n->op, n->fields, n->op->attr[k].name, v));
        if (v->kind == EF_ATTR_FUNC && v->as.func != NULL) {
            ef_graph *was = v->as.func;
            EF_TRY_GOTO(ef_optimise_inner(p, was, &v->as.func));
            changed = changed || v->as.func != was;
            n_set++;
        } else if (v->kind == EF_ATTR_FUNCS && v->n > 0) {
            ef_graph **list = lists[n_set] = ef_malloc((size_t)v->n * sizeof(ef_graph *));
            if (list == NULL) {
                s = ef_no_memory((size_t)v->n * sizeof(ef_graph *));
                goto done;
            }
            for (int i = 0; i < v->n; i++) {
                EF_TRY_GOTO(ef_optimise_inner(p, v->as.funcs[i], &list[i]));
                changed = changed || list[i] != v->as.funcs[i];
            }
            v->as.funcs = list;
            n_set++;
        }
    }
    if (changed) s = ef_attrs_like(n->op, n->op, n->fields, set, n_set, out);
done:
    for (int k = 0; k < EF_MAX_ATTRS; k++) ef_free(lists[k]);
    return s;
}

static bool is_pure(const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++)
        if ((g->node[k]->op->traits & (EF_STATEFUL | EF_EFFECT)) &&
            !(g->node[k]->op->traits & EF_NO_KERNEL))
            return false;
    return true;
}

/* Functions inside these functions have become stateless before, so one level is enough. */
static const ef_op *pure_sibling(const ef_node *n) {
    ef_control c;
    if (n->op->pure == n->op) return n->op;
    ef_control_of(n->op, n->fields, &c);
    for (int k = 0; k < c.n_funcs; k++)
        if (c.func[k] == NULL || !is_pure(c.func[k])) return n->op;
    return n->op->pure;
}

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    if (!(n->op->traits & EF_CONTROL)) return NULL;
    const ef_attrs *attrs = NULL;
    EF_TRY(rewritten(w->user, n, &attrs));
    ef_node with = *n; /* the same node but for its op and attributes */
    ef_status *s = NULL;
    if (attrs != NULL) {
        with.attrs = attrs;
        with.fields = ef_attrs_fields(attrs);
    }
    with.op = pure_sibling(&with);
    if (with.op != n->op) {
        const ef_attrs *other = NULL;
        s = ef_attrs_like(with.op, n->op, with.fields, NULL, 0, &other);
        ef_attrs_unref(attrs);
        with.attrs = attrs = other;
    }
    if (s == NULL) s = ef_walk_copy(w, &with, in, out);
    ef_attrs_unref(attrs);
    *done = s == NULL;
    return s;
}

ef_status *ef_pass_functions(ef_passing *p, const ef_graph *g, ef_graph **out) {
    for (size_t k = 0; k < g->n_nodes; k++)
        if (g->node[k]->op->traits & EF_CONTROL) return ef_walk_graph(g, visit, p, out);
    return NULL;
}
