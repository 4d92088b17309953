/* Attention: softmax(q k^T) v becomes one op that never stores the scores, and so do its gradients,
 * which would otherwise keep the weights of every layer until the backward pass. Products are
 * compared by the equations that einsum would have for them, so the axes may be in any order.
 *
 * The softmax is where the search begins. Before it there may be a scale, a bias and a mask, in
 * this order; after it, the product with v and the four products of the gradient. If anything else
 * reads the scores or the weights (a dropout, a program that returns them), the nodes stay as they
 * are. */
#include "base/alloc.h"
#include "ops/linalg/einsum.h"
#include "ops/searched_ops.h"
#include "passes/passes.h"
#include "passes/walk.h"
#include <stdio.h>

enum { NONE = -1, USERS = 4 }; /* no value of an attention has more users than this */
enum { Q, K, V, DY, SCALE, BIAS, MASK, FILL, OPERANDS }; /* the inputs of the new ops, in order */
enum { DQ, DK, DV, GRADS };

typedef struct axes {
    int n;
    char at[EF_EINSUM_TEXT];
} axes;

typedef struct attention { /* nodes and edges of the old graph; NONE: there is none */
    ef_edge operand[OPERANDS];
    bool divides;
    ef_edge shown; /* the mask as the program has it; the operand may be without a part that is all
                    * true */
    int32_t out, grad[GRADS]; /* nodes that are replaced */
    axes q, k, v, scores, y;
    ef_edge made; /* in the new graph: the gradients */
} attention;

typedef struct search {
    const ef_graph *g;
    int32_t *uses; /* by node */
    attention *found;
    size_t n;
} search;

/* ---- the graph ------------------------------------------------------------------------------- */

static bool is_plain(const ef_node *n) { return n->device == 0 && n->n_after == 0; }

static const ef_node *maker(const search *s, ef_edge e, const ef_op *op) {
    const ef_node *n = s->g->node[e.node];
    return n->op == op && is_plain(n) ? n : NULL;
}

/* The nodes that read the first output of a node, each once; false: there are too many, or it is an
 * output. */
static bool users_of(const search *s, int32_t id, const ef_node **user, int *n) {
    int32_t left = s->uses[id];
    *n = 0;
    for (size_t k = (size_t)id + 1; k < s->g->n_nodes && left > 0; k++) {
        const ef_node *u = s->g->node[k];
        int32_t before = left;
        for (int i = 0; i < u->n_in; i++) left -= u->in[i].node == id;
        if (left == before) continue;
        if (*n == USERS || !is_plain(u)) return false;
        user[(*n)++] = u;
    }
    return left == 0;
}

static bool reads(const ef_node *n, ef_edge e) {
    for (int i = 0; i < n->n_in; i++)
        if (ef_edge_same(n->in[i], e)) return true;
    return false;
}

/* The other operand of a node with two, one of which is e. */
static bool other_of(const ef_node *n, ef_edge e, ef_edge *other) {
    if (n->n_in != 2) return false;
    for (int i = 0; i < 2; i++)
        if (ef_edge_same(n->in[i], e)) {
            *other = n->in[1 - i];
            return true;
        }
    return false;
}

static const ef_node *only_user(const search *s, int32_t id) {
    const ef_node *user[USERS];
    int n;
    return users_of(s, id, user, &n) && n == 1 ? user[0] : NULL;
}

static bool is_scalar(const search *s, ef_edge e) { return ef_edge_fact(s->g, e)->shape.rank == 0; }

static bool same_shape(const search *s, ef_edge x, ef_edge y) {
    const ef_shape *a = &ef_edge_fact(s->g, x)->shape, *b = &ef_edge_fact(s->g, y)->shape;
    if (a->rank < 0 || a->rank != b->rank) return false;
    for (int d = 0; d < a->rank; d++)
        if (!ef_dim_same(a->dim[d], b->dim[d])) return false;
    return true;
}

/* ---- equations ------------------------------------------------------------------------------- */

typedef struct product {
    axes in[2], out;
} product;

static bool read_product(const search *s, const ef_node *n, product *p) {
    char text[EF_EINSUM_TEXT];
    axes *const term[] = {&p->in[0], &p->in[1], &p->out};
    const char *at = text;
    if (n->n_in != 2 || !is_plain(n)) return false;
    if (!ef_einsum_of(n->op, n->fields, ef_edge_fact(s->g, n->in[0]), ef_edge_fact(s->g, n->in[1]),
                      text))
        return false;
    for (int k = 0; k < 3; k++) {
        size_t length = strcspn(at, ",-");
        *term[k] = (axes){.n = (int)length};
        memcpy(term[k]->at, at, length);
        at += length + strspn(at + length, ",->");
    }
    return true;
}

static bool has(const axes *a, char label) { return strchr(a->at, label) != NULL; }
static bool equal(const axes *a, const axes *b) { return strcmp(a->at, b->at) == 0; }

/* Gives the labels `from` the new names `to`; false: one of them has another name already, or two
 * would have the same. */
static bool name_labels(char *names, const axes *from, const axes *to) {
    if (from->n != to->n) return false;
    for (int k = 0; k < from->n; k++) {
        char *name = &names[(unsigned char)from->at[k]];
        if (*name != 0 && *name != to->at[k]) return false;
        for (int j = 0; j < 256 && *name == 0; j++)
            if (names[j] == to->at[k]) return false;
        *name = to->at[k];
    }
    return true;
}

/* a with the new names; a label without one gets `fresh`, once. */
static bool renamed(char *names, const axes *a, char fresh, axes *out) {
    *out = (axes){.n = a->n};
    for (int k = 0; k < a->n; k++) {
        char *name = &names[(unsigned char)a->at[k]];
        if (*name == 0) *name = fresh, fresh = 0;
        if (*name == 0) return false;
        out->at[k] = *name;
    }
    return true;
}

/* Whether n multiplies x, whose axes are a, by y with the axes b, and the result has the axes c. */
static bool multiplies(const search *s, const ef_node *n, ef_edge x, const axes *a, ef_edge y,
                       const axes *b, const axes *c) {
    product p;
    axes out;
    if (!read_product(s, n, &p)) return false;
    for (int i = 0; i < 2; i++) {
        char names[256] = {0};
        if (ef_edge_same(n->in[i], x) && ef_edge_same(n->in[1 - i], y) &&
            name_labels(names, &p.in[i], a) && name_labels(names, &p.in[1 - i], b) &&
            renamed(names, &p.out, 0, &out) && equal(&out, c))
            return true;
    }
    return false;
}

/* How many labels of a are missing in b. */
static int missing(const axes *a, const axes *b) {
    int n = 0;
    for (int k = 0; k < a->n; k++) n += !has(b, a->at[k]);
    return n;
}

/* The two labels in which a matrix differs from the batch are such that one of them is last. */
static bool is_matrix_last(const axes *a, char x, char y) {
    return a->n >= 2 && (a->at[a->n - 1] == x || a->at[a->n - 1] == y);
}

static bool is_scores(const search *s, const ef_node *n, attention *f) {
    product p;
    if (!read_product(s, n, &p) || p.out.n < 2) return false;
    const char key = p.out.at[p.out.n - 1];
    const int k = has(&p.in[0], key) ? 0 : 1;
    f->k = p.in[k], f->q = p.in[1 - k], f->scores = p.out;
    f->operand[K] = n->in[k], f->operand[Q] = n->in[1 - k];
    char query = 0, width = 0;
    for (int i = 0; i < f->q.n; i++) {
        if (!has(&f->scores, f->q.at[i])) width = f->q.at[i];
        if (!has(&f->k, f->q.at[i])) query = f->q.at[i];
    }
    return !has(&f->q, key) && has(&f->k, key) && query != 0 && width != 0 && query != width &&
           missing(&f->q, &f->k) == 1 && missing(&f->q, &f->scores) == 1 &&
           missing(&f->k, &f->scores) == 1 && missing(&f->scores, &f->q) == 1 &&
           missing(&f->scores, &f->k) == 1 && has(&f->k, width) &&
           is_matrix_last(&f->q, query, width) && is_matrix_last(&f->k, key, width);
}

/* Whether n is the product of the weights p with another operand, v. */
static bool is_result(const search *s, const ef_node *n, ef_edge p, attention *f) {
    product m;
    char names[256] = {0}, fresh = 'A';
    if (!read_product(s, n, &m)) return false;
    const int i = ef_edge_same(n->in[0], p) ? 0 : 1;
    const char key = f->scores.at[f->scores.n - 1];
    while (has(&f->scores, fresh) || has(&f->q, fresh)) fresh++;
    if (ef_edge_same(n->in[0], n->in[1]) || !name_labels(names, &m.in[i], &f->scores) ||
        !renamed(names, &m.in[1 - i], fresh, &f->v) || !renamed(names, &m.out, 0, &f->y))
        return false;
    f->operand[V] = n->in[1 - i];
    char query = 0;
    for (int d = 0; d < f->scores.n - 1; d++)
        if (!has(&f->k, f->scores.at[d])) query = f->scores.at[d];
    return f->v.n == f->scores.n && f->y.n == f->scores.n && has(&f->v, key) &&
           !has(&f->v, query) && has(&f->v, fresh) && has(&f->y, query) && !has(&f->y, key) &&
           has(&f->y, fresh) && is_matrix_last(&f->v, key, fresh) &&
           is_matrix_last(&f->y, query, fresh);
}

/* ---- before the softmax ---------------------------------------------------------------------- */

static bool is_scaling(const search *s, const ef_node *n, ef_edge *x, ef_edge *scale,
                       bool *divides) {
    *divides = n->op == ef_attention_parts.divide;
    if (!is_plain(n) || (!*divides && n->op != ef_attention_parts.multiply)) return false;
    for (int i = 0; i < (*divides ? 1 : 2); i++) {
        *x = n->in[i], *scale = n->in[1 - i];
        if (is_scalar(s, *scale) && !is_scalar(s, *x)) return true;
    }
    return false;
}

static bool is_read_once(const search *s, ef_edge e) { return s->uses[e.node] == 1; }

/* Whether e is the scores' product, scaled or not. */
static bool is_scaled(const search *s, ef_edge e, attention *f) {
    ef_edge x;
    if (!is_read_once(s, e)) return false;
    if (is_scaling(s, s->g->node[e.node], &x, &f->operand[SCALE], &f->divides))
        return is_read_once(s, x) && is_scores(s, s->g->node[x.node], f);
    f->operand[SCALE].node = NONE;
    return is_scores(s, s->g->node[e.node], f);
}

/* A mask may begin as an array of the scores' size that is true everywhere. */
static ef_edge without_truth(const search *s, ef_edge mask) {
    const ef_node *both = maker(s, mask, ef_attention_parts.both);
    for (int i = 0; both != NULL && i < 2; i++) {
        const ef_node *truth = maker(s, both->in[i], ef_attention_parts.fill);
        const ef_tensor *v = truth != NULL ? ef_edge_fact(s->g, truth->in[1])->value : NULL;
        if (v != NULL && v->data != NULL && *(const bool *)v->data) return both->in[1 - i];
    }
    return mask;
}

/* From what the softmax reads back to the scores' product. Every node on the way has one user. */
static bool is_chain(const search *s, ef_edge e, attention *f) {
    const ef_node *n = maker(s, e, ef_attention_parts.select);
    if (n != NULL && same_shape(s, e, n->in[1]) && is_scalar(s, n->in[2])) {
        if (!is_read_once(s, e)) return false;
        f->shown = n->in[0], f->operand[MASK] = without_truth(s, n->in[0]);
        f->operand[FILL] = n->in[2];
        e = n->in[1];
    }
    n = maker(s, e, ef_attention_parts.add);
    if (n == NULL) return is_scaled(s, e, f);
    for (int i = 0; i < 2 && is_read_once(s, e); i++) {
        attention with = *f;
        with.operand[BIAS] = n->in[1 - i];
        if (!same_shape(s, e, n->in[i]) || !is_scaled(s, n->in[i], &with)) continue;
        *f = with;
        return true;
    }
    return false;
}

/* ---- the gradient ---------------------------------------------------------------------------- */

static bool is_zero(const search *s, ef_edge e) {
    const ef_tensor *v = ef_edge_fact(s->g, e)->value;
    return v != NULL && v->data != NULL && v->rank == 0 &&
           ef_element_double((ef_dtype)v->dtype, v->data, 0) == 0;
}

/* Whether n sums x over its last axis and keeps that axis. */
static bool is_row_sum(const search *s, const ef_node *n, ef_edge x) {
    ef_attr_value keep;
    if (n->op != ef_attention_parts.sum || !ef_edge_same(n->in[0], x) || n->fields == NULL)
        return false;
    ef_status *bad = ef_attrs_get(n->op, n->fields, "keep_dims", &keep);
    ef_status_free(bad);
    const ef_tensor *along = ef_edge_fact(s->g, n->in[1])->value;
    if (bad != NULL || !keep.as.b || along == NULL || along->data == NULL || ef_count(along) != 1)
        return false;
    int64_t axis = ef_element_int((ef_dtype)along->dtype, along->data, 0);
    return axis == -1 || axis == ef_edge_fact(s->g, x)->shape.rank - 1;
}

/* d = dp * p, then its sums, dp - sums and (dp - sums) * p: the gradient of the softmax. `last` is
 * the last of these nodes. */
static bool is_softmax_grad(const search *s, ef_edge p, ef_edge dp, const ef_node *first,
                            const ef_node *last) {
    const ef_node *user[USERS], *sum = only_user(s, first->id), *difference;
    ef_edge x;
    int n;
    if (!other_of(first, p, &x) || !ef_edge_same(x, dp) || sum == NULL ||
        !is_row_sum(s, sum, (ef_edge){first->id, 0}) || !other_of(last, p, &x))
        return false;
    difference = maker(s, x, ef_attention_parts.subtract);
    return difference != NULL && ef_edge_same(difference->in[0], dp) &&
           ef_edge_same(difference->in[1], (ef_edge){sum->id, 0}) &&
           only_user(s, sum->id) == difference && only_user(s, difference->id) == last &&
           users_of(s, dp.node, user, &n) && n == 2 && reads(first, dp);
}

/* From the gradient of the softmax back through the mask and the scale. */
static bool is_back(const search *s, const ef_node *n, const attention *f, ef_edge *out) {
    *out = (ef_edge){n->id, 0};
    if (f->operand[MASK].node != NONE) {
        n = only_user(s, out->node);
        if (n == NULL || n->op != ef_attention_parts.select || !ef_edge_same(n->in[0], f->shown) ||
            !ef_edge_same(n->in[1], *out) || !is_zero(s, n->in[2]))
            return false;
        *out = (ef_edge){n->id, 0};
    }
    if (f->operand[SCALE].node != NONE) {
        ef_edge x, scale;
        bool divides;
        n = only_user(s, out->node);
        if (n == NULL || !is_scaling(s, n, &x, &scale, &divides) || !ef_edge_same(x, *out) ||
            !ef_edge_same(scale, f->operand[SCALE]) || divides != f->divides)
            return false;
        *out = (ef_edge){n->id, 0};
    }
    return true;
}

/* The products of ds, the gradient with respect to the scores, with k and with q. */
static bool are_last(const search *s, ef_edge ds, attention *f) {
    const ef_node *user[USERS];
    int n;
    if (!users_of(s, ds.node, user, &n)) return false;
    for (int i = 0; i < n; i++) {
        if (f->grad[DQ] == NONE &&
            multiplies(s, user[i], ds, &f->scores, f->operand[K], &f->k, &f->q))
            f->grad[DQ] = user[i]->id;
        else if (f->grad[DK] == NONE &&
                 multiplies(s, user[i], ds, &f->scores, f->operand[Q], &f->q, &f->k))
            f->grad[DK] = user[i]->id;
        else
            return false;
    }
    return n > 0;
}

/* The users of the weights besides the result: those of its gradient. */
static bool is_gradient(const search *s, ef_edge p, const ef_node **user, int n, attention *f) {
    const ef_node *factor[2] = {NULL, NULL};
    int factors = 0;
    const ef_node *with_dy = NULL;
    for (int i = 0; i < n; i++) {
        if (user[i]->op == ef_attention_parts.multiply && factors < 2)
            factor[factors++] = user[i];
        else if (with_dy == NULL)
            with_dy = user[i];
        else
            return false;
    }
    if (factors != 2) return false;
    for (int i = 0; i < 2; i++) { /* which of the two comes first is not known */
        attention with = *f;
        ef_edge dp, dy, ds;
        if (!other_of(factor[i], p, &dp) || !is_softmax_grad(s, p, dp, factor[i], factor[1 - i]))
            continue;
        const ef_node *made = s->g->node[dp.node];
        if (!other_of(made, f->operand[V], &dy) ||
            !multiplies(s, made, dy, &f->y, f->operand[V], &f->v, &f->scores))
            return false;
        if (with_dy != NULL && !multiplies(s, with_dy, p, &f->scores, dy, &f->y, &f->v))
            return false;
        with.operand[DY] = dy;
        with.grad[DV] = with_dy != NULL ? with_dy->id : NONE;
        if (!is_back(s, factor[1 - i], f, &ds) || !are_last(s, ds, &with)) return false;
        *f = with;
        return true;
    }
    return false;
}

/* ---- finding --------------------------------------------------------------------------------- */

/* Whether every operand exists before the nodes that are replaced. */
static bool in_order(const attention *f) {
    for (int k = 0; k < OPERANDS; k++) {
        const int32_t id = f->operand[k].node;
        if (id == NONE) continue;
        if (k != DY && id >= f->out) return false;
        for (int j = 0; j < GRADS; j++)
            if (f->grad[j] != NONE && id >= f->grad[j]) return false;
    }
    return true;
}

static bool is_attention(const search *s, const ef_node *softmax, attention *f) {
    const ef_node *user[USERS];
    const ef_edge p = {softmax->id, 0};
    int n;
    memset(f, 0, sizeof *f);
    for (int k = 0; k < OPERANDS; k++) f->operand[k].node = NONE;
    for (int k = 0; k < GRADS; k++) f->grad[k] = NONE;
    f->made.node = NONE;
    if (!is_plain(softmax) || !ef_dtype_in(softmax->out[0].dtype, EF_BIT(F32) | EF_BIT(F64)) ||
        !is_chain(s, softmax->in[0], f) || !users_of(s, softmax->id, user, &n))
        return false;
    for (int i = 0; i < n; i++) {
        attention with = *f;
        if (!is_result(s, user[i], p, &with)) continue;
        with.out = user[i]->id;
        const ef_node *rest[USERS];
        int left = 0;
        for (int j = 0; j < n; j++)
            if (j != i) rest[left++] = user[j];
        if ((left > 0 && !is_gradient(s, p, rest, left, &with)) || !in_order(&with)) continue;
        *f = with;
        return true;
    }
    return false;
}

static ef_status *find(search *s) {
    const ef_graph *g = s->g;
    size_t most = 0;
    for (size_t k = 0; k < g->n_nodes; k++) most += g->node[k]->op == ef_attention_parts.softmax;
    if (most == 0) return NULL;
    s->found = ef_malloc(most * sizeof *s->found);
    if (s->found == NULL) return ef_no_memory(most * sizeof *s->found);
    s->uses = ef_calloc(g->n_nodes, sizeof *s->uses);
    if (s->uses == NULL) return ef_no_memory(g->n_nodes * sizeof *s->uses);
    for (size_t k = 0; k < g->n_nodes; k++) {
        for (int i = 0; i < g->node[k]->n_in; i++) s->uses[g->node[k]->in[i].node]++;
        for (int i = 0; i < g->node[k]->n_after; i++) s->uses[g->node[k]->after[i]]++;
    }
    for (size_t k = 0; k < g->n_outputs; k++) s->uses[g->output[k].node]++;
    for (size_t k = 0; k < g->n_nodes; k++)
        if (g->node[k]->op == ef_attention_parts.softmax &&
            is_attention(s, g->node[k], &s->found[s->n]))
            s->n++;
    return NULL;
}

/* ---- rewriting ------------------------------------------------------------------------------- */

static ef_status *attrs_of(const attention *f, const ef_op *op, const ef_attrs **out) {
    char text[5 * (EF_EINSUM_TEXT + 2)];
    snprintf(text, sizeof text, "%s,%s->%s,%s->%s", f->q.at, f->k.at, f->scores.at, f->v.at,
             f->y.at);
    const ef_attr_value set[] = {EF_SET_STRING("equation", text),
                                 EF_SET_BOOL("divides", f->divides),
                                 EF_SET_INT("num_scale", f->operand[SCALE].node != NONE),
                                 EF_SET_INT("num_bias", f->operand[BIAS].node != NONE),
                                 EF_SET_INT("num_mask", f->operand[MASK].node != NONE)};
    return ef_attrs_make(op, set, (int)(sizeof set / sizeof *set), out);
}

static ef_status *add_fused(ef_walk *w, const attention *f, bool gradient, ef_edge *out) {
    const ef_op *op = gradient ? ef_attention_parts.fused_grad : ef_attention_parts.fused;
    ef_edge in[OPERANDS];
    int n = 0;
    for (int k = 0; k < OPERANDS; k++)
        if (f->operand[k].node != NONE && (k != DY || gradient))
            in[n++] = ef_walk_moved(w, f->operand[k]);
    const ef_attrs *attrs;
    EF_TRY(attrs_of(f, op, &attrs));
    ef_status *s = ef_walk_add(w, op, attrs, in, n, out);
    ef_attrs_unref(attrs);
    return s;
}

static ef_status *visit(ef_walk *w, const ef_node *n, const ef_edge *in, ef_edge *out, bool *done) {
    const search *s = w->user;
    (void)in;
    for (size_t k = 0; k < s->n; k++) {
        attention *f = &s->found[k];
        if (n->id == f->out) {
            *done = true;
            return add_fused(w, f, false, out);
        }
        for (int j = 0; j < GRADS; j++) {
            if (n->id != f->grad[j]) continue;
            if (f->made.node == NONE) EF_TRY(add_fused(w, f, true, &f->made));
            *out = (ef_edge){f->made.node, j};
            *done = true;
            return NULL;
        }
    }
    return NULL;
}

ef_status *ef_pass_attention(ef_passing *p, const ef_graph *g, ef_graph **out) {
    (void)p;
    search all = {.g = g};
    ef_status *s = find(&all);
    if (s == NULL && all.n > 0) s = ef_walk_graph(g, visit, &all, out);
    ef_free(all.uses);
    ef_free(all.found);
    return s;
}
