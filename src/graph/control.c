/* Shape inference of control flow: a loop variable keeps its shape if the body returns it with the
 * same one; an output of branches has the dims on which all branches agree. */
#include "graph/control.h"
#include "base/alloc.h"
#include "graph/sizes.h"

static ef_graph *func_attr(const ef_op *op, const void *fields, const char *name) {
    ef_attr_value v;
    ef_status *s = ef_attrs_get(op, fields, name, &v);
    if (s == NULL) return v.kind == EF_ATTR_FUNC ? v.as.func : NULL;
    ef_status_free(s);
    return NULL;
}

static bool has_attr(const ef_op *op, const char *name) {
    for (int k = 0; k < EF_MAX_ATTRS && op->attr[k].name != NULL; k++)
        if (strcmp(op->attr[k].name, name) == 0) return true;
    return false;
}

static void two(ef_control *c, const ef_op *op, const void *fields, const char *a, const char *b) {
    c->pair[0] = func_attr(op, fields, a);
    c->pair[1] = func_attr(op, fields, b);
    c->func = c->pair;
    c->n_funcs = 2;
}

void ef_control_of(const ef_op *op, const void *fields, ef_control *c) {
    *c = (ef_control){.kind = EF_CONTROL_NONE};
    if (!(op->traits & EF_CONTROL)) return;
    if (has_attr(op, "body")) {
        c->kind = EF_CONTROL_LOOP;
        two(c, op, fields, "cond", "body");
    } else if (has_attr(op, "then_branch")) {
        c->kind = EF_CONTROL_IF;
        c->first = 1;
        two(c, op, fields, "then_branch", "else_branch");
    } else if (has_attr(op, "branches")) {
        ef_attr_value v;
        ef_status *s = ef_attrs_get(op, fields, "branches", &v);
        if (s != NULL) {
            ef_status_free(s);
            return;
        }
        c->kind = EF_CONTROL_CASE;
        c->first = 1;
        c->func = v.as.funcs;
        c->n_funcs = v.n;
    } else if (has_attr(op, "f")) {
        c->kind = EF_CONTROL_CALL;
        c->pair[0] = func_attr(op, fields, "f");
        c->func = c->pair;
        c->n_funcs = 1;
    }
}

/* The inputs of the node must fit the parameters of the function. */
static ef_status *check_inputs(const ef_node *n, const ef_control *c, const ef_graph *f, int which,
                               const ef_fact *in) {
    int given = n->n_in - c->first;
    if (f == NULL) return ef_error(EF_INVALID, "%s: function %d is missing", n->op->name, which);
    if (f->n_captures > 0)
        return ef_error(EF_INVALID,
                        "%s: function %d captures %zu tensors from outside; make them "
                        "inputs of the function",
                        n->op->name, which, f->n_captures);
    if ((size_t)given != f->n_inputs)
        return ef_error(EF_INVALID,
                        "%s: function %d takes %zu inputs but is given %d; the numbers must "
                        "be equal",
                        n->op->name, which, f->n_inputs, given);
    for (int k = 0; k < given; k++) {
        const ef_fact *want = f->node[f->input[k]]->out, *have = &in[c->first + k];
        ef_shape takes = ef_shape_foreign(&want->shape);
        if (want->dtype != have->dtype)
            return ef_error(EF_INVALID, "%s: input %d is %s but function %d takes %s; cast it",
                            n->op->name, k, ef_dtype_name(have->dtype), which,
                            ef_dtype_name(want->dtype));
        if (!ef_shape_may_equal(&takes, &have->shape))
            return ef_error(EF_INVALID,
                            "%s: input %d is %s but function %d takes %s; the shapes "
                            "must be compatible",
                            n->op->name, k, EF_SHAPE(&have->shape), which, EF_SHAPE(&takes));
    }
    return NULL;
}

static ef_status *check_outputs(const ef_node *n, const ef_graph *f, int which, const ef_fact *out,
                                int n_out) {
    if (f->n_outputs != (size_t)n_out)
        return ef_error(EF_INVALID, "%s: function %d gives %zu outputs but %d are expected",
                        n->op->name, which, f->n_outputs, n_out);
    for (int k = 0; k < n_out; k++) {
        ef_dtype t = ef_edge_fact(f, f->output[k])->dtype;
        if (t != out[k].dtype)
            return ef_error(EF_INVALID, "%s: output %d of function %d is %s but must be %s",
                            n->op->name, k, which, ef_dtype_name(t), ef_dtype_name(out[k].dtype));
    }
    return NULL;
}

/* What two shapes have in common; a dim on which they differ is unknown. */
static ef_shape common(const ef_shape *a, const ef_shape *b) {
    if (a->rank != b->rank || a->rank < 0) return ef_unknown_shape();
    ef_shape s = *a;
    for (int d = 0; d < s.rank; d++)
        if (a->dim[d] != b->dim[d]) s.dim[d] = EF_DIM_UNKNOWN;
    return s;
}

/* The fact of an edge of function f, as it holds in graph g. */
static ef_fact said(const ef_graph *g, const ef_graph *f, ef_edge e, bool real) {
    ef_fact fact = real ? *ef_edge_real(f, e) : *ef_edge_fact(f, e);
    if (g->sizes == NULL || f->sizes != g->sizes) fact.shape = ef_shape_foreign(&fact.shape);
    return fact;
}

static ef_status *loop_facts(const ef_graph *g, const ef_node *n, const ef_control *c,
                             const ef_fact *in, bool real, ef_fact *out, int n_out) {
    const ef_graph *cond = c->func[0], *body = c->func[1];
    EF_TRY(check_outputs(n, body, 1, out, n_out));
    if (cond->n_outputs != 1)
        return ef_error(EF_INVALID, "%s: the condition gives %zu outputs; it must give one scalar",
                        n->op->name, cond->n_outputs);
    for (int k = 0; k < n_out; k++) {
        ef_fact begin = said(g, body, (ef_edge){body->input[k], 0}, real);
        ef_fact end = said(g, body, body->output[k], real);
        if (!ef_shape_may_equal(&begin.shape, &end.shape))
            return ef_error(EF_INVALID,
                            "%s: loop variable %d enters the body as %s and leaves it as %s; a "
                            "variable that changes its shape must enter with unknown dims",
                            n->op->name, k, EF_SHAPE(&begin.shape), EF_SHAPE(&end.shape));
        bool kept = ef_shape_equal(&begin.shape, &end.shape) && ef_shape_known(&begin.shape);
        bool same = body->output[k].node == body->input[k];
        out[k].shape = kept || same ? in[k].shape : begin.shape;
        out[k].handle = same ? in[k].handle : NULL;
    }
    return NULL;
}

/* A function that was traced with symbolic sizes may have known output shapes for these inputs. */
static ef_status *refine(const ef_control *c, const ef_fact *in, bool real, ef_fact *out,
                         int n_out) {
    bool known = true;
    for (int k = 0; k < n_out; k++) known = known && ef_shape_known(&out[k].shape);
    if (known) return NULL;
    ef_shape *found = ef_malloc(((size_t)n_out + 1) * sizeof *found), both;
    if (found == NULL) return ef_no_memory((size_t)n_out * sizeof *found);
    ef_status *s = ef_control_through(c, in, n_out, found);
    for (int k = 0; k < n_out && s == NULL; k++) {
        ef_status *misfit = ef_shape_merge(&out[k].shape, &found[k], &both);
        if (misfit == NULL) out[k].shape = both;
        ef_status_free(misfit);
    }
    ef_free(found);
    if (real || ef_status_code(s) == EF_NO_MEMORY) return s;
    ef_status_free(s); /* while sizes are not known, the error is left to the run */
    return NULL;
}

ef_status *ef_control_facts(const ef_graph *g, const ef_node *n, const ef_fact *in, bool real,
                            ef_fact *out, int n_out) {
    ef_control c;
    ef_control_of(n->op, n->fields, &c);
    if (c.n_funcs < 1)
        return ef_error(EF_INVALID, "%s: has no branches; at least one is needed", n->op->name);
    for (int k = 0; k < c.n_funcs; k++) EF_TRY(check_inputs(n, &c, c.func[k], k, in));
    if (c.kind == EF_CONTROL_LOOP) {
        EF_TRY(loop_facts(g, n, &c, in, real, out, n_out));
        return real && c.func[1]->sizes != g->sizes ? refine(&c, in, real, out, n_out) : NULL;
    }
    for (int f = 0; f < c.n_funcs; f++) {
        EF_TRY(check_outputs(n, c.func[f], f, out, n_out));
        for (int k = 0; k < n_out; k++) {
            ef_fact from = said(g, c.func[f], c.func[f]->output[k], real);
            out[k].shape = f == 0 ? from.shape : common(&out[k].shape, &from.shape);
            out[k].handle = c.n_funcs == 1 ? from.handle : NULL;
        }
    }
    if (c.kind == EF_CONTROL_CALL || (real && c.func[0]->sizes != g->sizes))
        return refine(&c, in, real, out, n_out);
    return NULL;
}

bool ef_graph_equal_func(ef_graph *a, ef_graph *b) { return a == b || ef_graph_equal(a, b); }
