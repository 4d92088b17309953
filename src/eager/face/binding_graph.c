/* Graphs for language bindings: nodes by number, the dtypes, shapes and constant values of their
 * outputs, and the settings that new nodes get. */
#include "base/alloc.h"
#include "eager/context.h"
#include "eager/tape/tape.h"
#include "evenflow_binding.h"
#include "graph/shape_values.h"
#include "graph/sizes.h"
#include "graph/trim.h"

/* ---- nodes -------------------------------------------------------------------------------------
 */

ef_graph *ef_graph_current(void) { return ef_here.graph; }

ef_graph *ef_tensor_graph(const ef_tensor *t, int *node, int *index) {
    if (t == NULL || !(t->flags & EF_TENSOR_SYMBOLIC)) return NULL;
    ef_graph *g;
    ef_edge e = ef_tensor_edge(t, &g);
    if (node != NULL) *node = e.node;
    if (index != NULL) *index = e.index;
    return g;
}

int ef_graph_nodes(const ef_graph *g) { return g != NULL ? (int)g->n_nodes : 0; }

static ef_status *node_at(const ef_graph *g, int node, const char *who, const ef_node **out) {
    if (g == NULL) return ef_error(EF_INVALID, "%s: the graph is NULL", who);
    if (node < 0 || (size_t)node >= g->n_nodes)
        return ef_error(EF_INVALID, "%s: there is no node %d; the graph has %zu", who, node,
                        g->n_nodes);
    *out = g->node[node];
    return NULL;
}

static ef_status *no_such(const ef_node *n, const char *what, int k, int count) {
    return ef_error(EF_INVALID, "%s has no %s %d; it has %d", n->op->name, what, k, count);
}

ef_status *ef_graph_node(const ef_graph *g, int node, ef_node_desc *out) {
    const ef_node *n = NULL;
    EF_TRY(node_at(g, node, "ef_graph_node", &n));
    if (out == NULL) return ef_error(EF_INVALID, "ef_graph_node: out is NULL");
    *out = (ef_node_desc){.op = n->op,
                          .attrs = n->attrs,
                          .name = n->name != NULL ? n->name : "",
                          .place = n->place,
                          .n_in = n->n_in,
                          .n_out = n->n_out,
                          .n_after = n->n_after,
                          .gone = n->gone};
    return NULL;
}

ef_status *ef_graph_node_in(ef_graph *g, int node, int k, ef_tensor *out) {
    const ef_node *n = NULL;
    EF_TRY(node_at(g, node, "ef_graph_node_in", &n));
    if (k < 0 || k >= n->n_in) return no_such(n, "input", k, n->n_in);
    ef_graph_tensor(g, n->in[k], out);
    return NULL;
}

ef_status *ef_graph_node_out(ef_graph *g, int node, int k, ef_tensor *out) {
    const ef_node *n = NULL;
    EF_TRY(node_at(g, node, "ef_graph_node_out", &n));
    if (k < 0 || k >= n->n_out) return no_such(n, "output", k, n->n_out);
    ef_graph_tensor(g, (ef_edge){node, k}, out);
    return NULL;
}

ef_status *ef_graph_node_after(const ef_graph *g, int node, int k, int *out) {
    const ef_node *n = NULL;
    EF_TRY(node_at(g, node, "ef_graph_node_after", &n));
    if (k < 0 || k >= n->n_after) return no_such(n, "control input", k, n->n_after);
    *out = n->after[k];
    return NULL;
}

int ef_graph_consumer(const ef_graph *g, int node, int index, int from) {
    int found = -1;
    if (g == NULL) return found;
    ef_graph_lock(g);
    for (size_t k = from > 0 ? (size_t)from : 0; k < g->n_nodes && found < 0; k++) {
        const ef_node *n = g->node[k];
        for (int i = 0; i < n->n_in && found < 0; i++)
            if (n->in[i].node == node && n->in[i].index == index) found = (int)k;
    }
    ef_graph_unlock(g);
    return found;
}

int ef_graph_find_node(ef_graph *g, const char *name) {
    return g != NULL && name != NULL ? ef_graph_find(g, name) : -1;
}

/* The dtypes of n tensors of a node from `first` on: its inputs or its outputs. */
static ef_status *dtypes(const ef_graph *g, const ef_node *n, bool out, int first, int count,
                         ef_dtype *types, int max) {
    if (count > max)
        return ef_error(EF_OUT_OF_RANGE, "ef_graph_node_attr: %d dtypes, but there is room for %d",
                        count, max);
    for (int k = 0; k < count; k++)
        types[k] = (out ? &n->out[first + k] : ef_edge_fact(g, n->in[first + k]))->dtype;
    return NULL;
}

/* The first argument whose type or number is `name`; *first: its first tensor. */
static const struct ef_arg *argument(const ef_signature *s, const ef_arity *a, bool out,
                                     const char *name, int *first, int *count) {
    *first = 0;
    for (int k = 0; k < (out ? s->n_out : s->n_in); k++) {
        const struct ef_arg *arg = out ? &s->out[k] : &s->in[k];
        *count = out ? a->out[k] : a->in[k];
        if (arg->type_var >= 0 && strcmp(s->var[arg->type_var].name, name) == 0) return arg;
        if (arg->count_attr >= 0 && strcmp(s->count[arg->count_attr].name, name) == 0) return arg;
        *first += *count;
    }
    return NULL;
}

ef_status *ef_graph_node_attr(const ef_graph *g, int node, const char *name, ef_attr_value *out,
                              ef_dtype *types, int max_types) {
    const ef_node *n = NULL;
    EF_TRY(node_at(g, node, "ef_graph_node_attr", &n));
    if (name == NULL || out == NULL)
        return ef_error(EF_INVALID, "ef_graph_node_attr: name and out must not be NULL");
    ef_arity arity;
    EF_TRY(ef_op_arity(n->op, n->fields, n->n_in, &arity));
    for (int side = 0; side < 2; side++) {
        int first, count;
        const ef_signature *s = ef_op_signature(n->op);
        const struct ef_arg *a = argument(s, &arity, side == 1, name, &first, &count);
        if (a == NULL) continue;
        bool number = a->type_var < 0 || strcmp(s->var[a->type_var].name, name) != 0;
        if (number && s->count[a->count_attr].attr >= 0) break; /* it is the op's own */
        *out = (ef_attr_value){.name = name, .kind = EF_ATTR_INT, .n = count, .as = {.i = count}};
        if (number) return NULL;
        ef_dtype one = EF_NO_DTYPE;
        if (a->is_list) {
            EF_TRY(dtypes(g, n, side == 1, first, count, types, max_types));
            out->kind = EF_ATTR_TYPES;
            out->as.types = types;
        } else {
            if (count > 0) EF_TRY(dtypes(g, n, side == 1, first, 1, &one, 1));
            out->kind = EF_ATTR_TYPE;
            out->as.type = one;
        }
        return NULL;
    }
    return ef_attrs_read(n->op, n->attrs, name, out);
}

ef_status *ef_graph_node_name(ef_graph *g, int node, const char **name) {
    const ef_node *n = NULL;
    EF_TRY(node_at(g, node, "ef_graph_node_name", &n));
    return ef_graph_called(g, node, name);
}

void ef_graph_kind_next(const char *kind) { ef_here.next_kind = kind; }

/* ---- static shapes and values ------------------------------------------------------------------
 */

static ef_status *edge_of(const ef_tensor *t, const char *who, ef_graph **g, ef_edge *e) {
    if (t == NULL || !(t->flags & EF_TENSOR_SYMBOLIC))
        return ef_error(EF_INVALID, "%s: the tensor is not symbolic", who);
    *e = ef_tensor_edge(t, g);
    return NULL;
}

ef_status *ef_tensor_known(const ef_tensor *t, ef_tensor *value) {
    ef_graph *g;
    ef_edge e;
    if (t != NULL && !(t->flags & EF_TENSOR_SYMBOLIC)) {
        ef_tensor_copy(value, t);
        return NULL;
    }
    EF_TRY(edge_of(t, "ef_tensor_known", &g, &e));
    memset(value, 0, sizeof *value);
    const ef_tensor *known = ef_edge_fact(g, e)->value;
    if (known != NULL && known->data != NULL) ef_tensor_copy(value, known);
    return NULL;
}

ef_status *ef_tensor_known_shape(const ef_tensor *t, ef_shape *out) {
    ef_graph *g;
    ef_edge e;
    EF_TRY(edge_of(t, "ef_tensor_known_shape", &g, &e));
    *out = ef_graph_shape_value(g, e);
    return NULL;
}

bool ef_tensor_shape_seen(const ef_tensor *t, ef_shape *out) {
    *out = ef_tensor_real(t);
    if (!(t->flags & EF_TENSOR_SYMBOLIC)) return false;
    ef_graph *g;
    ef_edge e = ef_tensor_edge(t, &g);
    return g->sizes != NULL && !ef_shape_known(&ef_edge_fact(g, e)->shape);
}

bool ef_tensor_size_named(const ef_tensor *t, int d) {
    int s;
    int64_t a, b;
    return d >= 0 && d < t->rank && ef_dim_parts(t->dim[d], &s, &a, &b);
}

void ef_tensor_size_read(const ef_tensor *t, int d) {
    for (int k = d < 0 ? 0 : d; k < (d < 0 ? t->rank : d + 1); k++) ef_tensor_read_size(t, k);
}

ef_status *ef_tensor_known_seen(const ef_tensor *t, ef_tensor *value) {
    EF_TRY(ef_tensor_known(t, value));
    if (value->dtype != EF_NO_DTYPE) return NULL;
    ef_graph *g;
    ef_edge e = ef_tensor_edge(t, &g);
    const ef_tensor *known = ef_edge_real(g, e)->value;
    if (known == NULL || known->data == NULL) return NULL;
    ef_sizes_read_all(g->sizes);
    ef_tensor_copy(value, known);
    return NULL;
}

/* The graph a symbolic tensor is of; NULL: it has a value. */
static const ef_graph *home_of(const ef_tensor *t) {
    ef_graph *g = NULL;
    if (t->flags & EF_TENSOR_SYMBOLIC) ef_tensor_edge(t, &g);
    return g;
}

bool ef_tensor_in_scope(const ef_tensor *t) {
    const ef_graph *g = home_of(t), *here = ef_here.graph;
    while (here != NULL && here != g) here = here->outer;
    return g != NULL && here != NULL;
}

bool ef_tensor_same_size(const ef_tensor *a, int i, const ef_tensor *b, int j) {
    const ef_graph *g = home_of(a), *h = home_of(b);
    int64_t x = a->dim[i], y = b->dim[j];
    bool named = g != NULL && h != NULL && (g == h || (g->sizes != NULL && g->sizes == h->sizes));
    if (named && g == h && i == j && memcmp(a->small, b->small, sizeof(ef_edge)) == 0) return true;
    return x == y && (x >= 0 || (x != EF_DIM_UNKNOWN && named));
}

bool ef_tensor_sizes_agree(const ef_tensor *a, int i, const ef_tensor *b, int j) {
    if (ef_tensor_same_size(a, i, b, j)) return true;
    int64_t x = ef_tensor_real(a).dim[i], y = ef_tensor_real(b).dim[j];
    if (x < 0 || y < 0) return true;
    ef_tensor_read_size(a, i);
    ef_tensor_read_size(b, j);
    return x == y;
}

/* Searches the graph being built and those around it for an input that has the symbol as a size. */
bool ef_tensor_size_source(const ef_tensor *t, int d, ef_tensor *input, int *axis, int64_t *a,
                           int64_t *b) {
    const ef_graph *from = home_of(t);
    int s, other;
    int64_t one, none;
    if (from == NULL || from->sizes == NULL || d < 0 || d >= t->rank ||
        !ef_dim_parts(t->dim[d], &s, a, b))
        return false;
    for (ef_graph *g = ef_here.graph; g != NULL; g = g->outer)
        for (size_t k = 0; g->sizes == from->sizes && k < g->n_inputs; k++) {
            const ef_shape *shape = &g->node[g->input[k]]->out->shape;
            for (*axis = 0; *axis < shape->rank; ++*axis)
                if (ef_dim_parts(shape->dim[*axis], &other, &one, &none) && other == s &&
                    one == 1 && none == 0) {
                    ef_graph_tensor(g, (ef_edge){g->input[k], 0}, input);
                    return true;
                }
        }
    return false;
}

ef_status *ef_graph_placeholder_like(ef_graph *g, const ef_tensor *like, ef_tensor *out) {
    if (g == NULL || like == NULL || out == NULL)
        return ef_error(EF_INVALID, "ef_graph_placeholder_like: nothing may be NULL");
    const ef_graph *from = home_of(like);
    ef_shape shape = ef_shape_from(like), real = ef_tensor_real(like);
    if (from == NULL || g->sizes == NULL || from->sizes != g->sizes)
        shape = ef_shape_foreign(&shape);
    ef_edge e;
    EF_TRY(ef_graph_input(g, (ef_dtype)like->dtype, &shape, NULL, &e));
    if (g->sizes != NULL && !ef_shape_equal(&shape, &real)) EF_TRY(ef_graph_set_real(g, e, &real));
    ef_graph_tensor(g, e, out);
    return NULL;
}

ef_status *ef_tensor_set_shape(ef_tensor *t, const ef_shape *shape) {
    ef_graph *g = NULL;
    ef_edge e = {0, 0};
    if (t == NULL || shape == NULL || shape->rank < -1 || shape->rank > EF_MAX_RANK)
        return ef_error(EF_INVALID, "ef_tensor_set_shape: the tensor or the shape is NULL, or its "
                                    "rank is impossible");
    ef_shape was = ef_shape_from(t), now;
    if (t->flags & EF_TENSOR_SYMBOLIC) {
        e = ef_tensor_edge(t, &g);
        was = ef_edge_fact(g, e)->shape; /* another copy may have been narrowed since */
    }
    ef_shape real = ef_tensor_real(t), seen;
    ef_status *s = ef_shape_merge(&real, shape, &seen);
    for (int d = 0; d < real.rank && d < shape->rank; d++) /* the two are compared */
        if (shape->dim[d] >= 0) ef_tensor_read_size(t, d);
    if (s == NULL) s = ef_shape_merge(&was, shape, &now);
    if (s != NULL)
        return ef_status_add(s, "setting the shape of a tensor of shape %s to %s", EF_SHAPE(&was),
                             EF_SHAPE(shape));
    if (g == NULL) return NULL;
    ef_graph_lock(g);
    g->node[e.node]->out[e.index].shape = now;
    if (g->node[e.node]->real != NULL) g->node[e.node]->real[e.index].shape = seen;
    ef_graph_changed(g);
    ef_graph_unlock(g);
    ef_tensor_shape_set(t, (ef_dtype)t->dtype, &now);
    return NULL;
}

void ef_tensor_forget_size(ef_tensor *t, int d) {
    ef_graph *g = NULL;
    if (t == NULL || !(t->flags & EF_TENSOR_SYMBOLIC) || d < 0 || d >= t->rank) return;
    ef_edge e = ef_tensor_edge(t, &g);
    ef_graph_lock(g);
    ef_node *n = g->node[e.node];
    n->out[e.index].shape.dim[d] = EF_DIM_UNKNOWN;
    if (n->real != NULL) n->real[e.index].shape.dim[d] = EF_DIM_UNKNOWN;
    ef_shape now = n->out[e.index].shape;
    ef_graph_changed(g);
    ef_graph_unlock(g);
    ef_tensor_shape_set(t, (ef_dtype)t->dtype, &now);
}

ef_status *ef_tensor_set_sizes_like(ef_tensor *t, int at, const ef_tensor *of, const int *axes,
                                    int n) {
    ef_shape have = ef_tensor_real(t), want = ef_tensor_real(of);
    ef_graph *g = (ef_graph *)home_of(t);
    const ef_graph *from = home_of(of);
    if (g == NULL || t->rank < 0) return NULL;
    if (at < 0 || n < 0 || at + n > t->rank)
        return ef_error(EF_INVALID,
                        "ef_tensor_set_sizes_like: a tensor of rank %d has no axes "
                        "%d to %d",
                        t->rank, at, at + n - 1);
    bool named = from != NULL && (from == g || (g->sizes != NULL && from->sizes == g->sizes));
    ef_shape all = ef_edge_fact(g, ef_tensor_edge(t, NULL))->shape, real = have;
    for (int k = 0; k < n; k++) {
        if (axes[k] < 0 || axes[k] >= of->rank) continue;
        int64_t said = of->dim[axes[k]], *dim = &all.dim[at + k], *seen = &real.dim[at + k];
        bool agree = *dim == EF_DIM_UNKNOWN
                         ? *seen < 0 || want.dim[axes[k]] < 0 || *seen == want.dim[axes[k]]
                         : ef_tensor_sizes_agree(t, at + k, of, axes[k]);
        if (!agree)
            return ef_error(EF_INVALID, "a tensor of shape %s cannot have the sizes of one of %s",
                            EF_SHAPE(&have), EF_SHAPE(&want));
        if (*dim == EF_DIM_UNKNOWN && (said >= 0 || named)) *dim = said;
        if (*seen < 0) *seen = want.dim[axes[k]];
    }
    ef_edge e = ef_tensor_edge(t, NULL);
    ef_graph_lock(g);
    g->node[e.node]->out[e.index].shape = all;
    ef_status *s = NULL;
    if (g->sizes != NULL && !ef_shape_equal(&all, &real)) s = ef_graph_set_real(g, e, &real);
    ef_graph_changed(g);
    ef_graph_unlock(g);
    ef_tensor_shape_set(t, (ef_dtype)t->dtype, &all);
    return s;
}

bool ef_resource_waits(const ef_tensor *handle) {
    return ef_tensor_object(handle, EF_OBJECT_QUEUE) != NULL;
}

ef_status *ef_resource_describe(const ef_tensor *handle, ef_dtype *dtype, ef_shape *shape) {
    if (handle == NULL || handle->dtype != EF_RESOURCE)
        return ef_error(EF_INVALID, "ef_resource_describe: the tensor is not a resource");
    const ef_variable *v = (const ef_variable *)ef_tensor_object(handle, EF_OBJECT_VARIABLE);
    ef_fact found = {0};
    if (v != NULL) {
        found = (ef_fact){.dtype = v->dtype, .shape = v->shape};
    } else if (handle->flags & EF_TENSOR_SYMBOLIC) {
        ef_graph *g;
        ef_edge e = ef_tensor_edge(handle, &g);
        if (ef_edge_fact(g, e)->handle != NULL) found = *ef_edge_fact(g, e)->handle;
    }
    if (found.dtype == EF_NO_DTYPE)
        return ef_error(EF_NOT_FOUND, "the dtype and shape of the resource are not known");
    if (dtype != NULL) *dtype = found.dtype;
    if (shape != NULL) *shape = found.shape;
    return NULL;
}

/* ---- settings of new nodes ---------------------------------------------------------------------
 */

ef_status *ef_graph_after_set(ef_graph *g, const int *nodes, int n) {
    if (g == NULL || n < 0 || (n > 0 && nodes == NULL))
        return ef_error(EF_INVALID, "ef_graph_after_set: graph and nodes must not be NULL");
    for (int k = 0; k < n; k++)
        if (nodes[k] < 0 || (size_t)nodes[k] >= g->n_nodes)
            return ef_error(EF_INVALID, "ef_graph_after_set: there is no node %d", nodes[k]);
    int32_t *own = ef_malloc(((size_t)n + 1) * sizeof *own);
    if (own == NULL) return ef_no_memory((size_t)n * sizeof *own);
    for (int k = 0; k < n; k++) own[k] = nodes[k];
    ef_free(g->pending_after);
    g->pending_after = own;
    g->n_pending_after = (size_t)n;
    return NULL;
}

int ef_graph_after_get(const ef_graph *g, const int **nodes) {
    if (g == NULL) return 0;
    if (nodes != NULL) *nodes = g->pending_after;
    return (int)g->n_pending_after;
}

void ef_graph_set_function(ef_graph *g, bool on) {
    if (g != NULL) g->function = on;
}

void ef_tensor_seen(const ef_tensor *t, int by) {
    if (t != NULL && (t->flags & EF_TENSOR_SYMBOLIC)) ef_graph_see(t, by);
}

void ef_graph_set_trims(ef_graph *g) {
    if (g != NULL && !g->function && !g->merge) g->trims = true;
}

int ef_graph_forget(ef_graph *g, int others, bool (*keep)(void *user, int node), void *user) {
    return g != NULL ? (int)ef_graph_trim(g, others, keep, user) : 0;
}

int ef_graph_last(const ef_graph *g) { return g != NULL ? g->last : -1; }

uint64_t ef_graph_version(const ef_graph *g) { return g != NULL ? g->version : 0; }

bool ef_graph_is_function(const ef_graph *g) { return g != NULL && g->function; }

ef_status *ef_graph_import_tensor(ef_graph *g, const ef_tensor *t, ef_tensor *out) {
    if (g == NULL || t == NULL || out == NULL || t->dtype == EF_NO_DTYPE)
        return ef_error(EF_INVALID, "ef_graph_import_tensor: graph, tensor and out must not be "
                                    "NULL, nor the tensor released");
    ef_edge e;
    EF_TRY(ef_graph_take(g, t, &e));
    ef_graph_tensor(g, e, out);
    return NULL;
}

/* ---- inputs and outputs ------------------------------------------------------------------------
 */

int ef_graph_inputs(const ef_graph *g) {
    return g != NULL ? (int)(g->n_inputs + g->n_captures) : 0;
}

ef_status *ef_graph_input_at(ef_graph *g, int k, ef_tensor *out) {
    if (g == NULL || out == NULL || k < 0 || k >= ef_graph_inputs(g))
        return ef_error(EF_INVALID, "ef_graph_input_at: there is no input %d", k);
    size_t n = g->n_inputs, i = (size_t)k;
    ef_graph_tensor(g, (ef_edge){i < n ? g->input[i] : g->capture[i - n].node, 0}, out);
    return NULL;
}

int ef_graph_outputs(const ef_graph *g) { return g != NULL ? (int)g->n_outputs : 0; }

ef_status *ef_graph_output_at(ef_graph *g, int k, ef_tensor *out) {
    if (g == NULL || out == NULL || k < 0 || k >= ef_graph_outputs(g))
        return ef_error(EF_INVALID, "ef_graph_output_at: there is no output %d", k);
    ef_graph_tensor(g, g->output[k], out);
    return NULL;
}

bool ef_taping(void) { return (ef_here.busy & EF_TAPING) != 0; }

/* ---- outside graphs and tapes ------------------------------------------------------------------
 */

void ef_suspend(ef_suspension *s) {
    *s =
        (ef_suspension){{ef_here.graph, (void *)(uintptr_t)ef_here.next_name, ef_here.notes, NULL}};
    ef_tapes_suspend();
    ef_here.graph = NULL;
    ef_here.next_name = ef_here.next_kind = NULL;
    ef_here.notes = NULL;
    ef_here.busy &= ~(unsigned)EF_TRACING;
}

void ef_resume(ef_suspension *s) {
    ef_here.graph = s->state[0];
    ef_here.next_name = s->state[1];
    ef_here.notes = s->state[2];
    ef_tapes_resume();
    if (ef_here.graph != NULL) ef_here.busy |= EF_TRACING;
}
