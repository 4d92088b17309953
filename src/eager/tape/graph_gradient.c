/* Gradients of symbolic tensors: tf.gradients, and tapes whose targets are in a graph. The graph
 * itself is the record of what was computed. A tape restricts which nodes a gradient passes: those
 * that depend on what the tape watches and were added while it was recording. */
#include "base/alloc.h"
#include "eager/context.h"
#include "eager/tape/tape.h"

/* ---- edges
 * ---------------------------------------------------------------------------------------- */

typedef struct request {
    ef_graph *g;
    int n_y, n_x, n_stop, n;
    ef_edge *y, *dy, *x, *stop;
    int *place; /* x[k] is source place[k]; the others have no edge in the graph */
    ef_gradient *dx;
} request;

static ef_status *request_begin(request *r, int n_y, int n, int n_stop) {
    size_t edges = 2 * (size_t)n_y + (size_t)n + (size_t)n_stop + 1;
    *r = (request){.n = n};
    r->y = ef_malloc(edges * sizeof *r->y);
    r->place = ef_malloc(((size_t)n + 1) * sizeof *r->place);
    r->dx = ef_malloc(((size_t)n + 1) * sizeof *r->dx);
    if (r->y == NULL || r->place == NULL || r->dx == NULL)
        return ef_no_memory(edges * sizeof *r->y);
    r->dy = r->y + n_y;
    r->x = r->dy + n_y;
    r->stop = r->x + n;
    return NULL;
}

static void request_end(request *r) {
    ef_free(r->y);
    ef_free(r->place);
    ef_free(r->dx);
}

/* The graph of the first target that has one; the others are used inside it. */
static ef_status *set_targets(request *r, const ef_tensor *const *y, int n_y,
                              const ef_tensor *const *dy) {
    for (int k = 0; k < n_y && r->g == NULL; k++)
        if (y[k]->flags & EF_TENSOR_SYMBOLIC) ef_tensor_edge(y[k], &r->g);
    if (r->g == NULL)
        return ef_error(EF_INVALID, "gradients: no target is a tensor of a graph; for the gradient "
                                    "of a value use a tape");
    for (int k = 0; k < n_y; k++) {
        EF_TRY(ef_graph_import(r->g, y[k], &r->y[k]));
        r->dy[k] = (ef_edge){-1, 0};
        if (dy != NULL && dy[k] != NULL && dy[k]->dtype != EF_NO_DTYPE)
            EF_TRY(ef_graph_import(r->g, dy[k], &r->dy[k]));
    }
    r->n_y = n_y;
    return NULL;
}

static void set_source(request *r, const ef_tensor *x, int k) {
    if (!ef_graph_imported(r->g, x, &r->x[r->n_x])) return;
    r->place[r->n_x++] = k;
}

static void give(const request *r, ef_tensor *out, bool *slices) {
    memset(out, 0, 3 * (size_t)r->n * sizeof *out);
    for (int k = 0; k < r->n; k++) slices[k] = false;
    for (int i = 0; i < r->n_x; i++) {
        ef_tensor *at = &out[3 * r->place[i]];
        const ef_gradient *d = &r->dx[i];
        if (d->kind == EF_GRADIENT_NONE) continue;
        ef_graph_tensor(r->g, d->value, &at[0]);
        if (d->kind != EF_GRADIENT_SLICES) continue;
        slices[r->place[i]] = true;
        ef_graph_tensor(r->g, d->indices, &at[1]);
        ef_graph_tensor(r->g, d->dense_shape, &at[2]);
    }
}

ef_status *ef_slices_densify(const ef_tensor *part, ef_tensor *out) {
    ef_graph *g;
    ef_gradient d = {.kind = EF_GRADIENT_SLICES,
                     .value = ef_tensor_edge(&part[0], &g),
                     .indices = ef_tensor_edge(&part[1], NULL),
                     .dense_shape = ef_tensor_edge(&part[2], NULL)};
    EF_TRY(ef_gradient_densify(g, &d));
    ef_graph_tensor(g, d.value, out);
    return NULL;
}

/* ---- of a graph
 * ---------------------------------------------------------------------------------- */

static ef_status *check_given(const ef_tensor *const *t, int n, const char *what) {
    if (n < 0 || (n > 0 && t == NULL))
        return ef_error(EF_INVALID, "gradients: %s must not be NULL", what);
    for (int k = 0; k < n; k++)
        if (t[k] == NULL || t[k]->dtype == EF_NO_DTYPE)
            return ef_error(EF_INVALID, "gradients: %s %d is NULL or released", what, k);
    return NULL;
}

ef_status *ef_graph_gradients_of(const ef_tensor *const *y, int n_y, const ef_tensor *const *dy,
                                 const ef_tensor *const *x, int n, const ef_tensor *const *stop,
                                 int n_stop, ef_tensor *out, bool *slices) {
    EF_TRY(check_given(y, n_y, "target"));
    EF_TRY(check_given(x, n, "source"));
    EF_TRY(check_given(stop, n_stop, "stop"));
    if (n > 0 && (out == NULL || slices == NULL))
        return ef_error(EF_INVALID, "gradients: out and slices must not be NULL");
    ef_eager_start();
    request r;
    ef_status *s;
    EF_TRY_GOTO(request_begin(&r, n_y, n, n_stop));
    EF_TRY_GOTO(set_targets(&r, y, n_y, dy));
    for (int k = 0; k < n; k++) set_source(&r, x[k], k);
    for (int k = 0; k < n_stop; k++)
        if (ef_graph_imported(r.g, stop[k], &r.stop[r.n_stop])) r.n_stop++;
    EF_TRY_GOTO(ef_gradients(r.g, r.y, n_y, r.dy, r.x, r.n_x, r.stop, r.n_stop, r.dx));
    give(&r, out, slices);
done:
    request_end(&r);
    return s;
}

ef_status *ef_graph_gradients(const ef_tensor *y, const ef_tensor *const *x, int n,
                              ef_tensor *out) {
    EF_TRY(check_given(&y, 1, "target"));
    EF_TRY(check_given(x, n, "source"));
    if (n > 0 && out == NULL) return ef_error(EF_INVALID, "gradients: out must not be NULL");
    request r;
    ef_status *s;
    EF_TRY_GOTO(request_begin(&r, 1, n, 0));
    EF_TRY_GOTO(set_targets(&r, &y, 1, NULL));
    for (int k = 0; k < n; k++) set_source(&r, x[k], k);
    EF_TRY_GOTO(ef_gradients(r.g, r.y, 1, NULL, r.x, r.n_x, NULL, 0, r.dx));
    for (int k = 0; k < r.n_x; k++) EF_TRY_GOTO(ef_gradient_densify(r.g, &r.dx[k]));
    memset(out, 0, (size_t)n * sizeof *out);
    for (int k = 0; k < r.n_x; k++)
        if (r.dx[k].kind != EF_GRADIENT_NONE) ef_graph_tensor(r.g, r.dx[k].value, &out[r.place[k]]);
done:
    request_end(&r);
    return s;
}

/* ---- of a tape
 * ----------------------------------------------------------------------------------- */

typedef struct seen_edge {
    ef_edge edge;
    uint64_t since;
    uint32_t next; /* of the same node, counted from 1; 0: none */
} seen_edge;

typedef struct view { /* a graph as a tape sees it */
    const ef_tape *tape;
    const ef_graph *g;
    seen_edge *watched; /* the edges of g that it watches */
    size_t n_watched;
    uint8_t *made;  /* by node: made in a window, from what is watched */
    uint32_t *seen; /* by node: the first of its outputs that is watched, counted from 1; 0: none */
} view;

static bool in_window(const ef_tape *t, uint64_t epoch) {
    size_t low = 0, high = t->n_spans; /* the last that began by then is below high */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (epoch >= t->span[middle].from)
            low = middle + 1;
        else
            high = middle;
    }
    return high > 0 && epoch < t->span[high - 1].to;
}

static const seen_edge *watched(const view *v, ef_edge e) {
    for (uint32_t k = v->seen[e.node]; k > 0; k = v->watched[k - 1].next)
        if (ef_edge_same(v->watched[k - 1].edge, e)) return &v->watched[k - 1];
    return NULL;
}

/* Whether a gradient passes from node n to its input k. Nodes made before a value was watched do
 * not count. */
static bool passes(const void *user, const ef_node *n, int k) {
    const view *v = user;
    if (!in_window(v->tape, n->epoch)) return false;
    if (v->made[n->in[k].node]) return true;
    const seen_edge *w = watched(v, n->in[k]);
    return w != NULL && w->since <= n->epoch;
}

static ef_status *view_begin(view *v, const ef_tape *t, const ef_graph *g) {
    *v = (view){.tape = t, .g = g};
    v->made = ef_calloc(g->n_nodes + 1, 1);
    v->watched = ef_malloc((t->n_watched + 1) * sizeof *v->watched);
    v->seen = ef_calloc(g->n_nodes + 1, sizeof *v->seen);
    if (v->made == NULL || v->watched == NULL || v->seen == NULL) return ef_no_memory(g->n_nodes);
    for (size_t k = 0; k < t->n_watched; k++) {
        seen_edge *e = &v->watched[v->n_watched];
        const ef_tensor *kept = &t->watched[k].kept;
        if (kept->dtype == EF_NO_DTYPE || !ef_graph_imported(g, kept, &e->edge)) continue;
        e->since = t->watched[k].since;
        e->next = v->seen[e->edge.node];
        v->seen[e->edge.node] = (uint32_t)++v->n_watched;
    }
    for (size_t k = 0; k < g->n_nodes; k++)
        for (int i = 0; i < g->node[k]->n_in && !v->made[k]; i++)
            v->made[k] = passes(v, g->node[k], i);
    return NULL;
}

static void view_end(view *v) {
    ef_free(v->made);
    ef_free(v->seen);
    ef_free(v->watched);
}

ef_status *ef_tape_graph_gradients(const ef_tape *t, const ef_tensor *const *target, int n_targets,
                                   const ef_tensor *const *dout, const ef_tensor *const *source,
                                   int n, ef_tensor *out, bool *slices) {
    request r;
    view v = {0};
    ef_status *s;
    EF_TRY_GOTO(request_begin(&r, n_targets, n, 0));
    EF_TRY_GOTO(set_targets(&r, target, n_targets, dout));
    EF_TRY_GOTO(view_begin(&v, t, r.g));
    for (int k = 0; k < n; k++) {
        int had = r.n_x;
        set_source(&r, source[k], k);
        if (r.n_x > had && !v.made[r.x[had].node] && watched(&v, r.x[had]) == NULL) r.n_x = had;
    }
    ef_flow flow = {passes, &v};
    EF_TRY_GOTO(ef_gradients_through(r.g, r.y, r.n_y, r.dy, r.x, r.n_x, NULL, 0, &flow, r.dx));
    give(&r, out, slices);
done:
    view_end(&v);
    request_end(&r);
    return s;
}
