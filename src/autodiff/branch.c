/* If, Case and calls. Every function they may run is differentiated. The node then also returns the
 * values that the functions save, and a backward node of the same kind, with the same condition,
 * computes the gradients.
 *
 * The backward node gets a saved value in one of three ways: as an input of the forward node, as an
 * output that node has anyway, or as a new output. Functions share new outputs of equal dtype and
 * shape; a function that has nothing to save there returns some value that nobody reads. */
#include "autodiff/control_grad.h"
#include "autodiff/edge_grad.h"
#include "base/alloc.h"

typedef enum slot_kind { SLOT_INPUT, SLOT_OUTPUT, SLOT_NEW } slot_kind;

typedef struct slot {
    slot_kind kind;
    int index;      /* of the functions' input, or of the node's output */
    ef_fact fact;   /* new ones: as the first function has it */
    ef_edge *value; /* new ones: by function; node -1: it has nothing to save there */
} slot;

typedef struct branches {
    ef_control_grad *c;
    const ef_control *control;
    int n_in, n_out; /* of each function */
    ef_derived *d;
    bool *has;  /* by input of the functions */
    slot *slot; /* room for all that is saved */
    int n_slots, n_new;
    ef_graph **forward, **backward;
    ef_edge *feed, *fetch; /* room for any function's */
} branches;

static void *memory(branches *b, size_t n) { return b->c->b->base.memory(&b->c->b->base, n); }

/* ---- deriving ---------------------------------------------------------------------------------
 */

static ef_status *derive_all(branches *b) {
    int n = b->control->n_funcs;
    size_t bytes = (size_t)n * (sizeof *b->d + 2 * sizeof *b->forward);
    b->d = memory(b, (size_t)n * sizeof *b->d);
    b->forward = memory(b, (size_t)n * sizeof *b->forward);
    b->backward = memory(b, (size_t)n * sizeof *b->backward);
    b->has = memory(b, (size_t)b->n_in + 1);
    bool *dout = memory(b, (size_t)b->n_out + 1);
    if (b->d == NULL || b->forward == NULL || b->backward == NULL || b->has == NULL || dout == NULL)
        return ef_no_memory(bytes);
    for (int k = 0; k < b->n_out; k++) {
        const ef_fact *f = ef_edge_fact(b->c->b->graph, (ef_edge){b->c->node, k});
        dout[k] = b->c->dout[k] != NULL && (n == 1 || f->dtype != EF_RESOURCE);
    }
    for (int i = 0; i < n; i++) {
        EF_TRY(ef_derive(b->control->func[i], dout, b->c->want + b->control->first, &b->d[i]));
        for (int k = 0; k < b->n_in; k++)
            b->has[k] = b->has[k] || b->d[i].dx[k].kind != EF_GRADIENT_NONE;
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < b->n_in; k++)
            if (b->has[k] && n > 1) EF_TRY(ef_derive_dense(&b->d[i], k));
        EF_TRY(ef_derive_saved(&b->d[i], NULL));
    }
    return NULL;
}

/* ---- slots ------------------------------------------------------------------------------------
 */

static int output_of(const ef_derived *d, ef_edge e) {
    for (int k = 0; k < d->n_out; k++)
        if (ef_edge_same(d->g->output[k], e)) return k;
    return -1;
}

static bool fits(const slot *s, const ef_fact *f) {
    return s->fact.dtype == f->dtype &&
           (f->dtype == EF_VARIANT ||
            (ef_shape_known(&f->shape) && ef_shape_equal(&s->fact.shape, &f->shape)));
}

/* Finds a slot for edge e of function i, or adds one. */
static ef_status *find_slot(branches *b, int i, ef_edge e) {
    const ef_derived *d = &b->d[i];
    const ef_fact *fact = ef_edge_fact(d->g, e);
    slot want = {.kind = SLOT_INPUT, .index = ef_derive_input(d, e)};
    if (want.index < 0) {
        want.index = output_of(d, e);
        want.kind = want.index >= 0 ? SLOT_OUTPUT : SLOT_NEW;
    }
    for (int k = 0; k < b->n_slots; k++) {
        slot *s = &b->slot[k];
        if (s->kind != want.kind) continue;
        if (want.kind != SLOT_NEW) {
            if (s->index == want.index) return NULL;
        } else if (s->value[i].node < 0 && fits(s, fact)) {
            s->value[i] = e;
            return NULL;
        }
    }
    if (want.kind == SLOT_NEW) {
        size_t bytes = (size_t)b->control->n_funcs * sizeof *want.value;
        if ((want.value = memory(b, bytes)) == NULL) return ef_no_memory(bytes);
        memset(want.value, 0xFF, bytes);
        want.value[i] = e;
        want.fact = (ef_fact){fact->dtype, ef_shape_foreign(&fact->shape), NULL, fact->handle};
        want.index = b->n_out + b->n_new++;
    }
    b->slot[b->n_slots++] = want;
    return NULL;
}

static ef_status *find_slots(branches *b) {
    size_t total = 0;
    for (int i = 0; i < b->control->n_funcs; i++) total += (size_t)b->d[i].n_saved;
    size_t room = total + 3 * (size_t)b->n_in + (size_t)b->n_out + 1;
    b->slot = memory(b, (total + 1) * sizeof *b->slot);
    b->feed = memory(b, room * sizeof *b->feed);
    b->fetch = memory(b, room * sizeof *b->fetch);
    if (b->slot == NULL || b->feed == NULL || b->fetch == NULL)
        return ef_no_memory(room * sizeof *b->slot);
    for (int i = 0; i < b->control->n_funcs; i++)
        for (int k = 0; k < b->d[i].n_saved; k++) EF_TRY(find_slot(b, i, b->d[i].saved[k]));
    return NULL;
}

/* ---- forward ----------------------------------------------------------------------------------
 */

/* A cheap value of the slot's dtype: of its shape if that is known, else empty. */
static ef_value *filler(ef_build *b, const ef_fact *f) {
    ef_shape shape = f->shape.rank >= 0 ? f->shape : (ef_shape){.rank = 1, .dim = {0}};
    for (int d = 0; d < shape.rank; d++)
        if (shape.dim[d] < 0) shape.dim[d] = 0;
    ef_attr_value list[] = {EF_SET_TYPE("element_dtype", EF_F32)};
    ef_attr_value handle[] = {EF_SET_TYPE("dtype", EF_F32), EF_SET_SHAPE("shape", &shape)};
    ef_attr_value empty[] = {EF_SET_TYPE("dtype", f->dtype)};
    if (f->dtype == EF_VARIANT)
        return ef_emit_set(b, "EmptyTensorList", list, 1, 2, ef_const_number(b, EF_I32, -1),
                           ef_const_number(b, EF_I32, -1));
    if (f->dtype == EF_RESOURCE) return ef_emit_set(b, "VarHandleOp", handle, 2, 0);
    return ef_emit_set(b, "Empty", empty, 1, 1, ef_const_ints(b, EF_I32, shape.rank, shape.dim));
}

static ef_status *forward_function(branches *b, int i) {
    ef_derived *d = &b->d[i];
    int n = b->n_out;
    for (int k = 0; k < b->n_in; k++) b->feed[k] = (ef_edge){d->g->input[k], 0};
    for (int k = 0; k < b->n_out; k++) b->fetch[k] = d->g->output[k];
    for (int k = 0; k < b->n_slots; k++) {
        const slot *s = &b->slot[k];
        if (s->kind != SLOT_NEW) continue;
        b->fetch[n] = s->value[i];
        if (s->value[i].node < 0) {
            ef_graph_build build;
            ef_graph_build_begin(&build, d->g);
            ef_value *v = filler(&build.base, &s->fact);
            if (v != NULL) b->fetch[n] = ef_graph_build_edge(v);
            EF_TRY(ef_graph_build_end(&build));
        }
        n++;
    }
    return ef_derive_extract(d, true, b->feed, b->n_in, b->fetch, n, &b->forward[i]);
}

/* Sets the function attributes of each kind of node; returns how many. */
static int function_attrs(const ef_control *c, ef_graph *const *func, ef_attr_value *set) {
    if (c->kind == EF_CONTROL_CASE) {
        set[0] = (ef_attr_value)EF_SET_FUNCS("branches", c->n_funcs, func);
        return 1;
    }
    if (c->kind == EF_CONTROL_CALL) {
        set[0] = (ef_attr_value)EF_SET_FUNC("f", func[0]);
        return 1;
    }
    set[0] = (ef_attr_value)EF_SET_FUNC("then_branch", func[0]);
    set[1] = (ef_attr_value)EF_SET_FUNC("else_branch", func[1]);
    return 2;
}

/* The node returns the new slots too. */
static ef_status *change_node(branches *b) {
    const ef_node *n = b->c->b->graph->node[b->c->node];
    size_t count = (size_t)(b->n_out + b->n_new);
    ef_dtype *types = memory(b, (count + 1) * sizeof *types);
    if (types == NULL) return ef_no_memory(count * sizeof *types);
    for (size_t k = 0; k < count; k++) {
        const ef_graph *f = b->forward[0];
        types[k] = ef_edge_fact(f, f->output[k])->dtype;
    }
    ef_attr_value set[4] = {EF_SET_TYPES("Tout", (int)count, types)};
    int n_set = 1 + function_attrs(b->control, b->forward, set + 1);
    if (b->control->kind != EF_CONTROL_CALL)
        set[n_set++] = (ef_attr_value){.name = "output_shapes", .kind = EF_ATTR_SHAPES};
    const ef_attrs *attrs;
    EF_TRY(ef_attrs_like(n->op, n->op, n->fields, set, n_set, &attrs));
    ef_status *s = ef_graph_become(b->c->b->graph, b->c->node, n->op, attrs);
    ef_attrs_unref(attrs);
    return s;
}

/* ---- backward ---------------------------------------------------------------------------------
 */

/* What the backward function i returns for input k: nothing, a tensor, or the parts of
 * IndexedSlices (a call keeps them; branches must agree, so their gradients are dense). */
static int results(const branches *b, int i, int k, ef_edge *out) {
    const ef_gradient *dx = &b->d[i].dx[k];
    if (!b->has[k]) return 0;
    out[0] = dx->value;
    if (dx->kind != EF_GRADIENT_SLICES) return 1;
    out[1] = dx->indices;
    out[2] = dx->dense_shape;
    return 3;
}

static ef_status *backward_function(branches *b, int i) {
    ef_derived *d = &b->d[i];
    int n = 0, n_fetch = 0;
    for (int k = 0; k < b->n_slots; k++, n++) {
        const slot *s = &b->slot[k];
        if (s->kind == SLOT_INPUT)
            b->feed[n] = (ef_edge){d->g->input[s->index], 0};
        else if (s->kind == SLOT_OUTPUT)
            b->feed[n] = d->g->output[s->index];
        else if (s->value[i].node >= 0)
            b->feed[n] = s->value[i];
        else
            EF_TRY(ef_graph_input_like(d->g,
                                       &(ef_fact){s->fact.dtype, ef_unknown_shape(), NULL, NULL},
                                       NULL, &b->feed[n]));
    }
    for (int k = 0; k < b->n_out; k++)
        if (d->dout[k].node >= 0) b->feed[n++] = d->dout[k];
    for (int k = 0; k < b->n_in; k++) n_fetch += results(b, i, k, b->fetch + n_fetch);
    return ef_derive_extract(d, false, b->feed, n, b->fetch, n_fetch, &b->backward[i]);
}

static const char *backward_op(const branches *b, const ef_op *forward) {
    bool state = false;
    for (int i = 0; i < b->control->n_funcs; i++)
        state = state || ef_graph_has_state(b->backward[i]);
    return (state ? forward->stateful : forward->pure)->name;
}

static ef_status *append_backward(branches *b) {
    ef_graph_build *build = b->c->b;
    const ef_node *node = build->graph->node[b->c->node];
    const ef_graph *f = b->backward[0];
    int first = b->control->first, n = 0, n_given = (int)f->n_outputs;
    size_t room = (size_t)(first + b->n_slots + b->n_out) + 1;
    ef_value **in = memory(b, room * sizeof *in);
    ef_value **out = memory(b, ((size_t)n_given + 1) * sizeof *out);
    ef_dtype *types = memory(b, ((size_t)n_given + 1) * sizeof *types);
    if (in == NULL || out == NULL || types == NULL) return ef_no_memory(room * sizeof *in);
    for (int k = 0; k < n_given; k++) types[k] = ef_edge_fact(f, f->output[k])->dtype;
    for (int k = 0; k < first; k++) in[n++] = ef_graph_build_value(build, node->in[k]);
    for (int k = 0; k < b->n_slots; k++) {
        const slot *s = &b->slot[k];
        in[n++] =
            ef_graph_build_value(build, s->kind == SLOT_INPUT ? node->in[first + s->index]
                                                              : (ef_edge){node->id, s->index});
    }
    for (int k = 0; k < b->n_out; k++)
        if (b->d[0].dout[k].node >= 0) in[n++] = b->c->dout[k];
    ef_attr_value set[3] = {EF_SET_TYPES("Tout", n_given, types)};
    int n_set = 1 + function_attrs(b->control, b->backward, set + 1);
    if (ef_emit_many(&build->base, backward_op(b, node->op), set, n_set, in, n, out, n_given) !=
        n_given)
        return NULL;
    for (int k = 0, i = 0; k < b->n_in; k++) {
        ef_edge unused[3];
        int parts = results(b, 0, k, unused);
        if (parts == 1) b->c->din[first + k] = out[i];
        if (parts == 3)
            b->c->din[first + k] = ef_slices(&build->base, out[i], out[i + 1], out[i + 2]);
        i += parts;
    }
    return NULL;
}

/* ---- all of it --------------------------------------------------------------------------------
 */

static ef_status *differentiate(branches *b) {
    EF_TRY(derive_all(b));
    bool any = false;
    for (int k = 0; k < b->n_in; k++) any = any || b->has[k];
    if (!any) return NULL;
    EF_TRY(find_slots(b));
    for (int i = 0; i < b->control->n_funcs && b->n_new > 0; i++) EF_TRY(forward_function(b, i));
    for (int i = 0; i < b->control->n_funcs; i++) EF_TRY(backward_function(b, i));
    if (b->n_new > 0) EF_TRY(change_node(b));
    return append_backward(b);
}

ef_status *ef_branch_grad(ef_control_grad *c, const ef_control *control) {
    branches b = {.c = c, .control = control, .n_in = c->n_in - control->first, .n_out = c->n_out};
    ef_status *s = differentiate(&b);
    bool begun = b.d != NULL && b.forward != NULL && b.backward != NULL;
    for (int i = 0; begun && i < control->n_funcs; i++) {
        ef_derive_end(&b.d[i]);
        ef_graph_unref(b.forward[i]);
        ef_graph_unref(b.backward[i]);
    }
    return s;
}
