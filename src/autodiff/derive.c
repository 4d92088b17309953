/* Splitting a derivative. The backward nodes are ordinary nodes that may read any forward value;
 * each such read is an edge from the forward to the backward side, and the values of these edges
 * are saved. Constants are not saved: each side has its own copy. Ops that read nothing but a shape
 * move to the forward side, so that the shape is saved and not the value. */
#include "autodiff/derive.h"
#include "autodiff/control_grad.h"
#include "autodiff/edge_grad.h"
#include "base/alloc.h"

static ef_status *edges(ef_derived *d, int n, ef_edge **out) {
    size_t bytes = ((size_t)n + 1) * sizeof **out;
    if ((*out = ef_arena_alloc(&d->memory, bytes)) == NULL) return ef_no_memory(bytes);
    memset(*out, 0xFF, bytes);
    return NULL;
}

void ef_derive_end(ef_derived *d) {
    ef_graph_unref(d->g);
    ef_arena_free(&d->memory);
    *d = (ef_derived){0};
}

static ef_status *copy_function(ef_graph *f, ef_derived *d) {
    if (f->n_captures > 0)
        return ef_error(EF_INVALID,
                        "gradients: a function with %zu captures cannot be split; make them inputs",
                        f->n_captures);
    ef_edge *in;
    int32_t none;
    int n_captures = 0;
    EF_TRY(edges(d, (int)f->n_inputs, &in));
    for (size_t k = 0; k < f->n_inputs; k++) in[k] = (ef_edge){f->input[k], 0};
    EF_TRY(ef_graph_extract(f, in, (int)f->n_inputs, f->output, (int)f->n_outputs, NULL, 0, &d->g,
                            &none, &n_captures));
    d->g->merge = true;
    d->n_in = (int)f->n_inputs;
    d->n_out = (int)f->n_outputs;
    d->n_forward = (int32_t)d->g->n_nodes;
    return NULL;
}

/* Parameters for the gradients of outputs. */
static ef_status *take_douts(ef_derived *d, const bool *dout) {
    EF_TRY(edges(d, d->n_out, &d->dout));
    for (int k = 0; k < d->n_out; k++) {
        const ef_fact *out = ef_edge_fact(d->g, d->g->output[k]);
        ef_fact fact;
        if (!dout[k] || !ef_has_gradient(out->dtype)) continue;
        if (out->dtype == EF_RESOURCE && out->handle == NULL) continue;
        EF_TRY(ef_gradient_fact(out, false, &fact));
        EF_TRY(ef_graph_input_like(d->g, &fact, NULL, &d->dout[k]));
    }
    return NULL;
}

ef_status *ef_derive(ef_graph *f, const bool *dout, const bool *want, ef_derived *d) {
    EF_TRY(copy_function(f, d));
    EF_TRY(take_douts(d, dout));
    ef_edge *y, *dy, *x;
    EF_TRY(edges(d, d->n_out, &y));
    EF_TRY(edges(d, d->n_out, &dy));
    EF_TRY(edges(d, d->n_in, &x));
    int n_y = 0, n_x = 0;
    for (int k = 0; k < d->n_out; k++) {
        if (d->dout[k].node < 0) continue;
        y[n_y] = d->g->output[k];
        dy[n_y++] = d->dout[k];
    }
    for (int k = 0; k < d->n_in; k++)
        if (want[k]) x[n_x++] = (ef_edge){d->g->input[k], 0};
    size_t bytes = ((size_t)d->n_in + 1) * sizeof *d->dx;
    ef_gradient *dx = ef_arena_alloc(&d->memory, bytes);
    d->dx = ef_arena_zalloc(&d->memory, bytes); /* none */
    if (dx == NULL || d->dx == NULL) return ef_no_memory(bytes);
    EF_TRY(ef_gradients(d->g, y, n_y, dy, x, n_x, NULL, 0, dx));
    for (int k = 0, i = 0; k < d->n_in; k++)
        if (want[k]) d->dx[k] = dx[i++];
    return NULL;
}

ef_status *ef_derive_dense(ef_derived *d, int input) {
    ef_gradient *dx = &d->dx[input];
    if (dx->kind == EF_GRADIENT_DENSE) return NULL;
    ef_graph_build b;
    ef_graph_build_begin(&b, d->g);
    ef_value *v;
    if (dx->kind == EF_GRADIENT_NONE)
        v = ef_gradient_zeros(&b.base, ef_graph_build_value(&b, (ef_edge){d->g->input[input], 0}));
    else
        v = ef_dense(&b.base, ef_slices(&b.base, ef_graph_build_value(&b, dx->value),
                                        ef_graph_build_value(&b, dx->indices),
                                        ef_graph_build_value(&b, dx->dense_shape)));
    if (v != NULL) *dx = (ef_gradient){.kind = EF_GRADIENT_DENSE, .value = ef_graph_build_edge(v)};
    return ef_graph_build_end(&b);
}

int ef_derive_input(const ef_derived *d, ef_edge e) {
    for (int k = 0; k < d->n_in; k++)
        if (d->g->input[k] == e.node) return k;
    return -1;
}

/* ---- what is saved ----------------------------------------------------------------------------
 */

typedef struct split {
    ef_derived *d;
    const bool *kept;
    uint8_t *forward; /* by node */
    uint8_t *need;    /* by node: of the backward part */
    int32_t *at;      /* first edge of a node */
    uint8_t *save;    /* by edge */
} split;

/* Whether n only reads shapes of forward values, so that it belongs to the forward side. */
static bool reads_shape(const split *s, const ef_node *n) {
    if (!(n->op->traits & EF_READS_SHAPES)) return false;
    for (int k = 0; k < n->n_in; k++) {
        int input = ef_derive_input(s->d, n->in[k]);
        if (!s->forward[n->in[k].node] || (input >= 0 && s->kept != NULL && s->kept[input]))
            return false;
    }
    return true;
}

/* Whether the backward side can have a copy of n at no cost. */
static bool is_free(const ef_node *n) {
    return n->n_in == 0 && n->n_after == 0 &&
           !(n->op->traits & (EF_STATEFUL | EF_EFFECT | EF_NO_KERNEL));
}

static void cross(split *s, ef_edge e) {
    if (!s->forward[e.node])
        s->need[e.node] = 1;
    else if (!is_free(s->d->g->node[e.node]))
        s->save[s->at[e.node] + e.index] = 1;
}

static ef_status *collect(split *s) {
    ef_derived *d = s->d;
    const ef_graph *g = d->g;
    int32_t n = (int32_t)g->n_nodes, edge_count = 0;
    for (int32_t k = 0; k < n; k++) {
        s->at[k] = edge_count;
        edge_count += g->node[k]->n_out;
        s->forward[k] = k < d->n_forward || reads_shape(s, g->node[k]);
    }
    if ((s->save = ef_calloc((size_t)edge_count + 1, 1)) == NULL)
        return ef_no_memory((size_t)edge_count);
    for (int k = 0; k < d->n_in; k++) {
        const ef_gradient *dx = &d->dx[k];
        if (dx->kind != EF_GRADIENT_NONE) cross(s, dx->value);
        if (dx->kind != EF_GRADIENT_SLICES) continue;
        cross(s, dx->indices);
        cross(s, dx->dense_shape);
    }
    for (int32_t k = n; k-- > d->n_forward;)
        for (int i = 0; s->need[k] && i < g->node[k]->n_in; i++) cross(s, g->node[k]->in[i]);
    int count = 0;
    for (int32_t k = 0; k < edge_count; k++) count += s->save[k];
    EF_TRY(edges(d, count, &d->saved));
    d->n_saved = 0;
    for (int32_t k = 0; k < n; k++)
        for (int i = 0; i < g->node[k]->n_out; i++)
            if (s->save[s->at[k] + i]) d->saved[d->n_saved++] = (ef_edge){k, i};
    return NULL;
}

ef_status *ef_derive_saved(ef_derived *d, const bool *kept) {
    size_t n = d->g->n_nodes + 1;
    split s = {.d = d,
               .kept = kept,
               .forward = ef_calloc(n, 1),
               .need = ef_calloc(n, 1),
               .at = ef_malloc(n * sizeof *s.at)};
    ef_status *bad = s.forward == NULL || s.need == NULL || s.at == NULL
                         ? ef_no_memory(n * sizeof *s.at)
                         : collect(&s);
    ef_free(s.forward);
    ef_free(s.need);
    ef_free(s.at);
    ef_free(s.save);
    return bad;
}

/* ---- the parts --------------------------------------------------------------------------------
 */

bool ef_graph_has_state(const ef_graph *g) {
    for (size_t k = 0; k < g->n_nodes; k++) {
        uint32_t traits = g->node[k]->op->traits;
        if (!(traits & EF_NO_KERNEL) && (traits & (EF_STATEFUL | EF_EFFECT))) return true;
    }
    return false;
}

ef_status *ef_derive_extract(ef_derived *d, bool forward, const ef_edge *feed, int n_feed,
                             const ef_edge *fetch, int n_fetch, ef_graph **out) {
    size_t bytes = ((size_t)d->n_forward + 1) * sizeof(int32_t);
    int32_t *effect = ef_malloc(bytes), none;
    if (effect == NULL) return ef_no_memory(bytes);
    int n = 0, n_captures = 0;
    for (int32_t k = 0; k < d->n_forward && forward; k++)
        if (d->g->node[k]->op->traits & EF_EFFECT) effect[n++] = k;
    d->g->function = false; /* its effects are those listed, not all */
    ef_status *s =
        ef_graph_extract(d->g, feed, n_feed, fetch, n_fetch, effect, n, out, &none, &n_captures);
    ef_free(effect);
    return s;
}

/* Extracts the forward and the backward function; the gradients of all outputs are parameters of
 * the latter, even those it does not read. */
static ef_status *split_in_two(ef_derived *d, ef_function_gradient *out) {
    int n_feed = d->n_in > d->n_saved + d->n_out ? d->n_in : d->n_saved + d->n_out, n = 0;
    ef_edge *feed, *fetch;
    EF_TRY(edges(d, n_feed, &feed));
    EF_TRY(edges(d, d->n_out + d->n_saved + 3 * d->n_in, &fetch));
    for (int k = 0; k < d->n_in; k++) feed[k] = (ef_edge){d->g->input[k], 0};
    for (int k = 0; k < d->n_out; k++) fetch[k] = d->g->output[k];
    for (int k = 0; k < d->n_saved; k++) fetch[d->n_out + k] = d->saved[k];
    EF_TRY(ef_derive_extract(d, true, feed, d->n_in, fetch, d->n_out + d->n_saved, &out->forward));
    for (int k = 0; k < d->n_out; k++)
        if (d->dout[k].node < 0)
            EF_TRY(
                ef_graph_input_like(d->g, ef_edge_fact(d->g, d->g->output[k]), NULL, &d->dout[k]));
    for (int k = 0; k < d->n_saved; k++) feed[k] = d->saved[k];
    for (int k = 0; k < d->n_out; k++) feed[d->n_saved + k] = d->dout[k];
    for (int k = 0; k < d->n_in; k++) {
        const ef_gradient *dx = &d->dx[k];
        out->parts[k] = dx->kind == EF_GRADIENT_NONE ? 0 : dx->kind == EF_GRADIENT_DENSE ? 1 : 3;
        if (out->parts[k] > 0) fetch[n++] = dx->value;
        if (out->parts[k] < 3) continue;
        fetch[n++] = dx->indices;
        fetch[n++] = dx->dense_shape;
    }
    out->n_saved = d->n_saved;
    return ef_derive_extract(d, false, feed, d->n_saved + d->n_out, fetch, n, &out->backward);
}

ef_status *ef_differentiate(ef_graph *f, ef_function_gradient *out) {
    *out = (ef_function_gradient){0};
    size_t most = f->n_inputs > f->n_outputs ? f->n_inputs : f->n_outputs;
    bool *all = ef_malloc(most + 1);
    ef_derived d = {0};
    ef_status *s = NULL;
    out->parts = ef_calloc(f->n_inputs + 1, sizeof *out->parts);
    if (all == NULL || out->parts == NULL) {
        s = ef_no_memory(most);
        goto done;
    }
    memset(all, true, most + 1);
    EF_TRY_GOTO(ef_derive(f, all, all, &d));
    EF_TRY_GOTO(ef_derive_saved(&d, NULL));
    EF_TRY_GOTO(split_in_two(&d, out));
done:
    ef_derive_end(&d);
    ef_free(all);
    if (s != NULL) ef_function_gradient_free(out);
    return s;
}

void ef_function_gradient_free(ef_function_gradient *d) {
    ef_graph_unref(d->forward);
    ef_graph_unref(d->backward);
    ef_free(d->parts);
    *d = (ef_function_gradient){0};
}
