/* Copies the graph with inputs in place of constants. A function that a node holds is copied in the
 * same way first; its constants become further inputs of the node, which the body of a loop returns
 * unchanged. */
#include "plan/lift.h"
#include "base/alloc.h"
#include "base/array.h"
#include "graph/clone.h"
#include "graph/control.h"
#include "plan/plan_inputs.h"

enum { MOST_ELEMENTS = 16, DEPTH = 16 };

void ef_lifted_free(ef_lifted *l) {
    ef_graph_unref(l->graph);
    ef_free(l->value);
    *l = (ef_lifted){0};
}

/* ---- which constants ---------------------------------------------------------------------------
 */

/* Numbers for which rules or kernels have faster code. */
static bool is_special(const ef_tensor *t, int64_t n) {
    static const double special[] = {0, 1, -1, 2, 3, 0.5, -0.5};
    double first = ef_element_double((ef_dtype)t->dtype, t->data, 0);
    for (int64_t k = 1; k < n; k++)
        if (ef_element_double((ef_dtype)t->dtype, t->data, k) != first) return false;
    for (size_t k = 0; k < sizeof special / sizeof *special; k++)
        if (first == special[k]) return !ef_dtype_in((ef_dtype)t->dtype, EF_COMPLEX);
    return false;
}

static bool may_lift(const ef_node *n, const ef_plan_inputs *w) {
    if (!(n->op->traits & EF_CONSTANT) || w->value[w->base[n->id]]) return false;
    if (n->device > 1) return false; /* a plan copies it to its device once */
    const ef_tensor *t = n->out[0].value;
    if (t == NULL || t->data == NULL || !ef_dtype_in((ef_dtype)t->dtype, EF_NUMBERS)) return false;
    int64_t count = ef_count(t);
    return count >= 1 && count <= MOST_ELEMENTS && !is_special(t, count);
}

/* ---- copying -----------------------------------------------------------------------------------
 */

typedef struct lift {
    const ef_graph *from;
    ef_lifted *to;
    ef_plan_inputs wanted;
    int depth;
} lift;

static ef_status *lift_function(const ef_graph *g, const uint8_t *outputs, bool anyway, int depth,
                                ef_lifted *out);

static ef_status *parameter(ef_lifted *l, const ef_tensor *value, ef_edge *out) {
    EF_TRY(EF_GROW(&l->value, &l->cap, l->n + 1));
    ef_fact fact = {.dtype = (ef_dtype)value->dtype, .shape = ef_shape_from(value)};
    EF_TRY(ef_graph_input_like(l->graph, &fact, NULL, out));
    l->value[l->n++] = value;
    return NULL;
}

/* The functions of one node, each without its constants. */
typedef struct inner {
    ef_control c;
    ef_lifted *func; /* graph NULL: had none */
    size_t n_values; /* of all together */
} inner;

static void inner_end(inner *in) {
    for (int k = 0; in->func != NULL && k < in->c.n_funcs; k++) ef_lifted_free(&in->func[k]);
    ef_free(in->func);
}

static ef_status *inner_begin(const lift *l, const ef_node *n, inner *in) {
    *in = (inner){0};
    ef_control_of(n->op, n->fields, &in->c);
    if (in->c.kind == EF_CONTROL_NONE || l->depth >= DEPTH) return NULL;
    uint8_t *outputs = ef_calloc((size_t)n->n_out + 1, 1);
    in->func = ef_calloc((size_t)in->c.n_funcs + 1, sizeof *in->func);
    ef_status *s = NULL;
    if (outputs == NULL || in->func == NULL)
        s = ef_no_memory((size_t)n->n_out + 1);
    else
        s = ef_plan_inputs_inside(&l->wanted, n, outputs);
    bool loop = in->c.kind == EF_CONTROL_LOOP;
    for (int k = 0; in->func != NULL && k < in->c.n_funcs && s == NULL; k++) {
        bool condition = loop && k == 0;
        if (in->c.func[k] != NULL)
            s = lift_function(in->c.func[k], condition ? NULL : outputs, false, l->depth + 1,
                              &in->func[k]);
        in->n_values += in->func[k].n;
    }
    ef_free(outputs);
    return s;
}

/* All functions of a node take the same inputs: function k also gets those of the other functions'
 * constants, in order. */
static ef_status *widen(inner *in, int k, size_t n_own, bool hands_back) {
    ef_lifted *f = &in->func[k];
    if (f->graph == NULL) EF_TRY(lift_function(in->c.func[k], NULL, true, DEPTH, f));
    ef_graph *g = f->graph;
    size_t at = n_own, total = n_own + in->n_values;
    int32_t *input = ef_malloc((total + 1) * sizeof *input);
    if (input == NULL) return ef_no_memory(total * sizeof *input);
    memcpy(input, g->input, n_own * sizeof *input);
    ef_status *s = NULL;
    for (int j = 0; j < in->c.n_funcs; j++)
        for (size_t v = 0; v < in->func[j].n && s == NULL; v++) {
            const ef_tensor *value = in->func[j].value[v];
            ef_shape shape = ef_shape_from(value);
            ef_edge e = {-1, 0};
            if (j == k)
                e.node = g->input[n_own + v];
            else
                s = ef_graph_input(g, (ef_dtype)value->dtype, &shape, NULL, &e);
            input[at++] = e.node;
        }
    if (s == NULL) memcpy(g->input, input, total * sizeof *input);
    if (s == NULL) g->n_inputs = total;
    for (size_t v = n_own; v < total && hands_back && s == NULL; v++) {
        s = EF_GROW(&g->output, &g->cap_outputs, g->n_outputs + 1);
        if (s == NULL) g->output[g->n_outputs++] = (ef_edge){g->input[v], 0};
    }
    ef_free(input);
    return s;
}

/* The attributes of a node whose functions have become wider. */
static ef_status *wider_attrs(const ef_node *n, const inner *in, const ef_attrs **out) {
    ef_graph **func = ef_malloc(((size_t)in->c.n_funcs + 1) * sizeof *func);
    ef_attr_value set[4], shapes;
    ef_shape *shape = NULL;
    int n_set = 0;
    if (func == NULL) return ef_no_memory((size_t)in->c.n_funcs * sizeof *func);
    for (int k = 0; k < in->c.n_funcs; k++) func[k] = in->func[k].graph;
    ef_status *s = NULL;
    if (in->c.kind == EF_CONTROL_LOOP) {
        set[n_set++] = (ef_attr_value)EF_SET_FUNC("cond", func[0]);
        set[n_set++] = (ef_attr_value)EF_SET_FUNC("body", func[1]);
        s = ef_attrs_get(n->op, n->fields, "output_shapes", &shapes);
        if (s == NULL && shapes.n > 0) {
            size_t total = (size_t)shapes.n + in->n_values, at = (size_t)shapes.n;
            if ((shape = ef_malloc(total * sizeof *shape)) == NULL) {
                s = ef_no_memory(total * sizeof *shape);
                goto done;
            }
            memcpy(shape, shapes.as.shapes, at * sizeof *shape);
            for (int k = 0; k < in->c.n_funcs; k++)
                for (size_t v = 0; v < in->func[k].n; v++)
                    shape[at++] = ef_shape_from(in->func[k].value[v]);
            shapes.n = (int)total;
            shapes.as.shapes = shape;
            set[n_set++] = shapes;
        }
    } else if (in->c.kind == EF_CONTROL_IF) {
        set[n_set++] = (ef_attr_value)EF_SET_FUNC("then_branch", func[0]);
        set[n_set++] = (ef_attr_value)EF_SET_FUNC("else_branch", func[1]);
    } else if (in->c.kind == EF_CONTROL_CASE) {
        set[n_set++] = (ef_attr_value)EF_SET_FUNCS("branches", in->c.n_funcs, func);
    } else {
        set[n_set++] = (ef_attr_value)EF_SET_FUNC("f", func[0]);
    }
    if (s == NULL) s = ef_attrs_like(n->op, n->op, n->fields, set, n_set, out);
done:
    ef_free(func);
    ef_free(shape);
    return s;
}

/* A copy whose further inputs are the constants of its functions. */
static ef_status *copy_wider(ef_clone *c, const ef_node *n, const inner *in, const ef_edge *edge,
                             ef_edge *out) {
    lift *l = c->user;
    ef_node with = *n;
    size_t wide = (size_t)n->n_in + in->n_values;
    ef_edge few[24], *all = few;
    if (wide > 24 && (all = ef_malloc(wide * sizeof *all)) == NULL)
        return ef_no_memory(wide * sizeof *all);
    if (n->n_in > 0) memcpy(all, edge, (size_t)n->n_in * sizeof *all);
    ef_status *s = wider_attrs(n, in, &with.attrs);
    if (s != NULL) with.attrs = NULL;
    for (int k = 0; k < in->c.n_funcs; k++)
        for (size_t v = 0; v < in->func[k].n && s == NULL; v++)
            s = parameter(l->to, in->func[k].value[v], &all[with.n_in++]);
    if (s == NULL) s = ef_clone_copy(c, &with, all, out);
    ef_attrs_unref(with.attrs);
    if (all != few) ef_free(all);
    return s;
}

static ef_status *visit_control(ef_clone *c, const ef_node *n, const ef_edge *edge, ef_edge *out,
                                bool *done) {
    inner in;
    ef_status *s = inner_begin(c->user, n, &in);
    bool wider = s == NULL && in.n_values > 0;
    size_t own = (size_t)(n->n_in - in.c.first);
    for (int k = 0; wider && k < in.c.n_funcs && s == NULL; k++)
        s = widen(&in, k, own, in.c.kind == EF_CONTROL_LOOP && k == 1);
    if (wider && s == NULL) s = copy_wider(c, n, &in, edge, out);
    *done = wider;
    inner_end(&in);
    return s;
}

static ef_status *visit(ef_clone *c, const ef_node *n, const ef_edge *in, ef_edge *out,
                        bool *done) {
    const lift *l = c->user;
    if (l->depth < DEPTH && may_lift(n, &l->wanted)) {
        *done = true;
        return parameter(l->to, n->out[0].value, out);
    }
    return n->op->traits & EF_CONTROL ? visit_control(c, n, in, out, done) : NULL;
}

/* Control inputs that are constants are dropped, so that graphs which differ in constants become
 * equal whether or not these are taken out. */
static int32_t waits(const ef_clone *c, int32_t node) {
    return c->from->node[node]->op->traits & EF_CONSTANT ? -1 : c->copy[node];
}

static ef_status *copy(lift *l) {
    const ef_graph *g = l->from;
    ef_clone c = {.from = g, .to = l->to->graph, .user = l, .visit = visit, .waits = waits};
    ef_status *s;
    EF_TRY_GOTO(ef_clone_begin(&c));
    EF_TRY_GOTO(ef_clone_inputs(&c));
    EF_TRY_GOTO(ef_clone_nodes(&c, NULL));
    EF_TRY_GOTO(ef_clone_outputs(&c, g->output, (int)g->n_outputs));
done:
    ef_clone_end(&c);
    return s;
}

/* Whether there is a constant to take out, or a function that may hold one. */
static bool is_worth_it(const ef_graph *g, const ef_plan_inputs *w) {
    size_t unfed = 0;
    bool found = false;
    for (size_t k = 0; k < g->n_nodes; k++) {
        const ef_node *n = g->node[k];
        if (n->op->traits & EF_NO_KERNEL) unfed++;
        found = found || (n->op->traits & EF_CONTROL) || may_lift(n, w);
    }
    return found && unfed == g->n_inputs && g->n_captures == 0;
}

static ef_status *lift_function(const ef_graph *g, const uint8_t *outputs, bool anyway, int depth,
                                ef_lifted *out) {
    lift l = {.from = g, .to = out, .depth = depth};
    ef_status *s;
    EF_TRY_GOTO(ef_plan_inputs_make(g, outputs, depth, &l.wanted));
    if (!anyway && !is_worth_it(g, &l.wanted)) goto done;
    if ((out->graph = ef_graph_make()) == NULL) {
        s = ef_no_memory(sizeof *out->graph);
        goto done;
    }
    out->graph->function = g->function;
    s = copy(&l);
done:
    ef_plan_inputs_free(&l.wanted);
    if (s != NULL || (out->n == 0 && !anyway)) ef_lifted_free(out);
    return s;
}

ef_status *ef_lift(const ef_graph *g, ef_lifted *out) {
    *out = (ef_lifted){0};
    return lift_function(g, NULL, false, 0, out);
}

/* ---- without a copy ----------------------------------------------------------------------------
 */

/* A copy has its inputs first, so nodes keep their numbers only if the graph has them first too. */
static bool has_inputs_first(const ef_graph *g) {
    for (size_t k = 0; k < g->n_inputs; k++)
        if (g->input[k] != (int32_t)k) return false;
    return true;
}

static bool has_functions(const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++)
        if (g->node[k]->op->traits & EF_CONTROL) return true;
    return false;
}

ef_status *ef_numbers_find(const ef_graph *g, ef_numbers *out) {
    *out = (ef_numbers){0};
    if (!has_inputs_first(g) || has_functions(g)) return NULL;
    ef_plan_inputs w;
    ef_status *s;
    EF_TRY_GOTO(ef_plan_inputs_make(g, NULL, 0, &w));
    if (!is_worth_it(g, &w)) goto done;
    size_t bytes = g->n_nodes * (sizeof *out->value + sizeof *out->taken);
    if ((out->value = ef_malloc(bytes)) == NULL) {
        s = ef_no_memory(bytes);
        goto done;
    }
    out->taken = (bool *)(out->value + g->n_nodes);
    for (size_t k = 0; k < g->n_nodes; k++)
        if ((out->taken[k] = may_lift(g->node[k], &w)))
            out->value[out->n++] = g->node[k]->out->value;
done:
    ef_plan_inputs_free(&w);
    return s;
}

void ef_numbers_free(ef_numbers *x) {
    ef_free(x->value);
    *x = (ef_numbers){0};
}
