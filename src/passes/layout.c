/* Channels first to channels last. CPU kernels are faster with channels last - a convolution about
 * twice, a pooling twenty times - and transposing an image costs a twentieth of a small
 * convolution. So every NCHW op becomes an NHWC op between two transposes. The pass remembers each
 * result in both layouts (the twin of a value has its channels last), so a chain of such ops and of
 * elementwise ops between them is transposed only where it begins and ends. Transposes that nobody
 * reads are pruned. */
#include "base/alloc.h"
#include "base/array.h"
#include "ops/engine_nodes.h"
#include "ops/math/reduce.h"
#include "passes/passes.h"
#include "passes/walk.h"

static const int64_t to_last[4] = {0, 2, 3, 1}, to_first[4] = {0, 3, 1, 2};

typedef struct twins { /* by node of the new graph: its output 0 with channels last */
    ef_edge *at;
    size_t n, cap;
} twins;

/* Whether n is an op on images that are given with channels first. */
static bool has_channels_first(const ef_node *n) {
    ef_attr_value v;
    if (n->op->images.in == 0 || n->fields == NULL) return false;
    ef_status *s = ef_attrs_get(n->op, n->fields, "data_format", &v);
    ef_status_free(s);
    return s == NULL && strcmp(v.as.s, "NCHW") == 0;
}

/* ---- twins ----------------------------------------------------------------------------------- */

static bool has_twin(const ef_walk *w, ef_edge e, ef_edge *twin) {
    const twins *t = w->user;
    if (e.index != 0 || (size_t)e.node >= t->n || t->at[e.node].node < 0) return false;
    *twin = t->at[e.node];
    return true;
}

static ef_status *set_twin(ef_walk *w, ef_edge first, ef_edge last) {
    twins *t = w->user;
    size_t need = (size_t)first.node + 1;
    if (need > t->n) {
        EF_TRY(EF_GROW(&t->at, &t->cap, need));
        memset(t->at + t->n, 0xFF, (need - t->n) * sizeof *t->at);
        t->n = need;
    }
    t->at[first.node] = last;
    return NULL;
}

static ef_status *ints(ef_walk *w, int n, const int64_t *v, ef_edge *out) {
    ef_shape s = {.rank = 1, .dim = {n}};
    int32_t values[EF_MAX_RANK];
    for (int k = 0; k < n; k++) values[k] = (int32_t)v[k];
    ef_tensor t = {0};
    ef_status *bad = ef_tensor_from(EF_I32, &s, values, &t);
    if (bad == NULL) bad = ef_walk_constant(w, &t, out);
    ef_tensor_release(&t);
    return bad;
}

static ef_status *turn(ef_walk *w, ef_edge e, const int64_t *perm, ef_edge *out) {
    ef_edge in[2] = {e};
    EF_TRY(ints(w, 4, perm, &in[1]));
    return ef_walk_add(w, ef_transpose_op, NULL, in, 2, out);
}

static ef_status *channels_last(ef_walk *w, ef_edge e, ef_edge *out) {
    return has_twin(w, e, out) ? NULL : turn(w, e, to_last, out);
}

/* The channels-first form of a result that was computed with channels last. */
static ef_status *back(ef_walk *w, ef_edge last, ef_edge *out) {
    EF_TRY(turn(w, last, to_first, out));
    return set_twin(w, *out, last);
}

/* ---- ops that have a layout ------------------------------------------------------------------ */

enum { LISTS = 4 };

/* The attributes with every list of four numbers, and of four pairs of paddings, permuted. */
static ef_status *turned_attrs(const ef_node *n, const ef_attrs **out) {
    static const char *const names[LISTS] = {"ksize", "strides", "dilations", "explicit_paddings"};
    ef_attr_value set[LISTS + 1] = {EF_SET_STRING("data_format", "NHWC")};
    int64_t room[LISTS][8];
    int n_set = 1;
    for (int k = 0; k < LISTS; k++) {
        ef_attr_value v;
        ef_status *s = ef_attrs_get(n->op, n->fields, names[k], &v);
        ef_status_free(s);
        if (s != NULL || (v.n != 4 && v.n != 8)) continue;
        for (int d = 0; d < v.n; d++)
            room[k][d] = v.n == 4 ? v.as.ints[to_last[d]] : v.as.ints[2 * to_last[d / 2] + d % 2];
        v.name = names[k];
        v.as.ints = room[k];
        set[n_set++] = v;
    }
    return ef_attrs_like(n->op, n->op, n->fields, set, n_set, out);
}

/* Sizes given as an input, permuted; false if they are not known. */
static bool turned_sizes(const ef_walk *w, ef_edge e, int64_t *sizes) {
    const ef_tensor *v = ef_edge_fact(w->to, e)->value;
    if (v == NULL || v->data == NULL || v->rank != 1 || v->dim[0] != 4 || v->dtype != EF_I32)
        return false;
    for (int d = 0; d < 4; d++) sizes[d] = ef_element_int(EF_I32, v->data, to_last[d]);
    return true;
}

static bool is_image(const ef_walk *w, ef_edge e) {
    return ef_edge_fact(w->to, e)->shape.rank == 4;
}

static ef_status *visit_images(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                               bool *done) {
    const ef_images *r = &n->op->images;
    ef_edge turned[EF_MAX_ARGS];
    int64_t sizes[4];
    if (n->n_in > EF_MAX_ARGS) return NULL;
    for (int k = 0; k < n->n_in; k++) {
        if (k < 8 && r->in >> k & 1 && !is_image(w, in[k])) return NULL;
        if (k < 8 && r->sizes >> k & 1 && !turned_sizes(w, in[k], sizes)) return NULL;
    }
    for (int k = 0; k < n->n_in; k++) {
        turned[k] = in[k];
        if (k < 8 && r->in >> k & 1) EF_TRY(channels_last(w, in[k], &turned[k]));
        if (k < 8 && r->sizes >> k & 1) EF_TRY(ints(w, 4, sizes, &turned[k]));
    }
    const ef_attrs *attrs;
    EF_TRY(turned_attrs(n, &attrs));
    ef_edge y;
    ef_status *s = ef_walk_add(w, n->op, attrs, turned, n->n_in, &y);
    ef_attrs_unref(attrs);
    if (s != NULL) return s;
    for (int k = 0; k < n->n_out; k++) out[k] = (ef_edge){y.node, k};
    if (r->out) EF_TRY(back(w, y, &out[0]));
    *done = true;
    return NULL;
}

/* ---- ops that work in any layout ------------------------------------------------------------- */

/* Whether s has one element for each channel, along the channel axis: [C, 1, 1] or [1, C, 1, 1]. */
static bool per_channel(const ef_shape *s, int64_t *channels) {
    if (!ef_shape_known(s) || s->rank < 3 || s->rank > 4 || s->dim[s->rank - 1] != 1 ||
        s->dim[s->rank - 2] != 1 || (s->rank == 4 && s->dim[0] != 1))
        return false;
    *channels = s->dim[s->rank - 3];
    return true;
}

/* Operands of an elementwise op with channels last; *fits false: one of them would need a
 * transpose. */
static ef_status *turned_operands(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *turned,
                                  bool *fits) {
    bool any = false;
    ef_edge twin;
    *fits = false;
    for (int k = 0; k < n->n_in; k++) any = any || has_twin(w, in[k], &twin);
    if (!any) return NULL;
    for (int k = 0; k < n->n_in; k++) {
        const ef_shape *s = &ef_edge_fact(w->to, in[k])->shape;
        int64_t channels;
        if (has_twin(w, in[k], &turned[k])) continue;
        if (s->rank == 0) {
            turned[k] = in[k];
        } else if (per_channel(s, &channels) && channels <= INT32_MAX) {
            ef_edge pair[2] = {in[k]};
            EF_TRY(ints(w, 1, &channels, &pair[1]));
            EF_TRY(ef_walk_add(w, ef_reshape_op, NULL, pair, 2, &turned[k]));
        } else {
            return NULL;
        }
    }
    *fits = true;
    return NULL;
}

static ef_status *visit_elementwise(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                                    bool *done) {
    ef_edge turned[EF_MAX_ARGS], y;
    bool fits;
    if (n->n_in > EF_MAX_ARGS || n->n_out != 1 || n->out->shape.rank != 4) return NULL;
    EF_TRY(turned_operands(w, n, in, turned, &fits));
    if (!fits) return NULL;
    EF_TRY(ef_walk_add(w, n->op, n->attrs, turned, n->n_in, &y));
    *done = true;
    return back(w, y, out);
}

/* A reduction over both axes of the image, and perhaps over batch or channels: the axes that remain
 * have the same order in both layouts. */
static ef_status *visit_reduction(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                                  bool *done) {
    ef_edge pair[2], y;
    uint32_t mask;
    const ef_tensor *axes = n->n_in == 2 ? ef_edge_fact(w->to, in[1])->value : NULL;
    if (axes == NULL || axes->data == NULL || !has_twin(w, in[0], &pair[0])) return NULL;
    ef_status *s = ef_reduce_mask(n->op, axes, 4, &mask);
    ef_status_free(s);
    if (s != NULL || (mask & 12) != 12) return NULL;
    int64_t turned[4];
    int count = 0;
    for (int d = 0; d < 4; d++)
        if (mask >> to_last[d] & 1) turned[count++] = d;
    EF_TRY(ints(w, count, turned, &pair[1]));
    EF_TRY(ef_walk_add(w, n->op, n->attrs, pair, 2, &y));
    *done = true;
    *out = y;
    return ef_edge_fact(w->to, y)->shape.rank == 4 ? back(w, y, out) : NULL;
}

static bool has_perm(const ef_walk *w, ef_edge e, const int64_t *perm) {
    const ef_tensor *v = ef_edge_fact(w->to, e)->value;
    if (v == NULL || v->data == NULL || v->rank != 1 || v->dim[0] != 4) return false;
    for (int d = 0; d < 4; d++)
        if (ef_element_int((ef_dtype)v->dtype, v->data, d) != perm[d]) return false;
    return true;
}

/* The program's own transposes between the layouts make twins too. */
static ef_status *visit_transpose(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out,
                                  bool *done) {
    if (has_perm(w, in[1], to_last) && has_twin(w, in[0], out)) {
        *done = true;
        return NULL;
    }
    if (!has_perm(w, in[1], to_first)) return NULL;
    *done = true;
    EF_TRY(ef_walk_copy(w, n, in, out));
    return set_twin(w, out[0], in[0]);
}

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    if (ef_walk_waits(w, n)) return NULL;
    if (has_channels_first(n)) return visit_images(w, n, in, out, done);
    if (n->op->traits & EF_PERMUTES) return visit_transpose(w, n, in, out, done);
    if (n->op->traits & EF_ELEMENTWISE) return visit_elementwise(w, n, in, out, done);
    if (n->op->traits & EF_REDUCES) return visit_reduction(w, n, in, out, done);
    return NULL;
}

ef_status *ef_pass_layout(ef_passing *p, const ef_graph *g, ef_graph **out) {
    (void)p;
    twins t = {0};
    for (size_t k = 0; k < g->n_nodes; k++) {
        if (!has_channels_first(g->node[k])) continue;
        ef_status *s = ef_walk_graph(g, visit, &t, out);
        ef_free(t.at);
        return s;
    }
    return NULL;
}
