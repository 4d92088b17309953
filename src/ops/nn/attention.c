/* Attention in one op, softmax(q k^T) v, and its gradients. The axes of the operands may be in any
 * order; the equation names them as einsum does:
 *
 *     BTNH,BSNH->BNTS,BSND->BTND      q,k -> scores, v -> result
 *
 * The last axis of the scores is that of the keys; the softmax is taken along it. */
#include "kernels/attention.h"
#include "kernels/block.h"
#include "ops/searched_ops.h"
#include "ops/shapes.h"

typedef struct attention_attrs {
    ef_attr_text equation;
    bool divides;
    int64_t num_scale, num_bias, num_mask;
} attention_attrs;

enum { Q, K, SCORES, V, OUT, TERMS };

typedef struct form {
    struct term {
        const char *at;
        int n;
    } term[TERMS];
    char query, key, width, depth; /* labels; all others are the batch */
    char batch[EF_MAX_RANK + 1];
    int n_batch;
} form;

/* ---- equations ------------------------------------------------------------------------------- */

static int place(const struct term *t, char label) {
    const char *p = memchr(t->at, label, (size_t)t->n);
    return p != NULL ? (int)(p - t->at) : -1;
}

static bool distinct(const struct term *t) {
    for (int k = 0; k < t->n; k++)
        if (place(t, t->at[k]) != k) return false;
    return t->n >= 2 && t->n <= EF_MAX_RANK;
}

static bool split(const char *text, form *f) {
    static const char *const between[TERMS] = {",", "->", ",", "->", ""};
    for (int k = 0; k < TERMS; k++) {
        size_t n = strcspn(text, ",-");
        f->term[k] = (struct term){text, (int)n};
        text += n;
        if (!distinct(&f->term[k]) || strncmp(text, between[k], strlen(between[k])) != 0)
            return false;
        text += strlen(between[k]);
    }
    return *text == '\0';
}

/* The label of t that is not in the scores; 0: there is none, or there are several. */
static char own_label(const form *f, const struct term *t) {
    char own = 0;
    for (int k = 0; k < t->n; k++) {
        if (place(&f->term[SCORES], t->at[k]) >= 0) continue;
        if (own != 0) return 0;
        own = t->at[k];
    }
    return own;
}

/* Whether t has the batch and these two labels, one of them last. */
static bool has_form(const form *f, int which, char x, char y) {
    const struct term *t = &f->term[which];
    for (int k = 0; k < f->n_batch; k++)
        if (place(t, f->batch[k]) < 0) return false;
    char last = t->at[t->n - 1];
    return t->n == f->n_batch + 2 && place(t, x) >= 0 && place(t, y) >= 0 &&
           (last == x || last == y);
}

static bool assign(form *f) {
    const struct term *s = &f->term[SCORES];
    f->key = s->at[s->n - 1];
    for (int k = 0; k < s->n - 1; k++) {
        if (place(&f->term[K], s->at[k]) >= 0)
            f->batch[f->n_batch++] = s->at[k];
        else
            f->query = s->at[k];
    }
    f->width = own_label(f, &f->term[Q]), f->depth = own_label(f, &f->term[V]);
    return f->n_batch == s->n - 2 && f->width != 0 && f->depth != 0 &&
           has_form(f, Q, f->query, f->width) && has_form(f, K, f->key, f->width) &&
           has_form(f, V, f->key, f->depth) && has_form(f, OUT, f->query, f->depth);
}

static ef_status *read_form(const ef_op *op, const attention_attrs *t, form *f) {
    *f = (form){.query = 0};
    if (split(t->equation.at, f) && assign(f)) return NULL;
    return ef_error(EF_INVALID,
                    "%s: equation '%s' does not describe an attention, such as "
                    "'BTNH,BSNH->BNTS,BSND->BTND'",
                    op->name, t->equation.at);
}

/* ---- shapes ---------------------------------------------------------------------------------- */

/* The terms of the inputs that have one, in order; the gradient has one more. */
static const int term_of[] = {Q, K, V, OUT};

static ef_status *size_of(const ef_infer *i, const form *f, int n, char label, int64_t *size) {
    *size = EF_DIM_UNKNOWN;
    for (int k = 0; k < n; k++) {
        int d = place(&f->term[term_of[k]], label);
        if (d < 0 || i->in[k].shape.rank < 0) continue;
        EF_TRY(ef_need_same_dim(i, *size, i->in[k].shape.dim[d], "axes with the same label", size));
    }
    return NULL;
}

static ef_status *shape_of(const ef_infer *i, const form *f, int n, int which, ef_shape *out) {
    const struct term *t = &f->term[which];
    out->rank = t->n;
    for (int d = 0; d < t->n; d++) EF_TRY(size_of(i, f, n, t->at[d], &out->dim[d]));
    return NULL;
}

static ef_status *check_optional(const ef_infer *i, const form *f, int n) {
    const attention_attrs *t = i->attrs;
    ef_shape scores, both;
    int64_t width;
    EF_TRY(shape_of(i, f, n, SCORES, &scores));
    EF_TRY(size_of(i, f, n, f->width, &width)); /* no other term has it */
    const int first = n + (int)t->num_scale, many = (int)(t->num_bias + t->num_mask);
    if (t->num_scale > 1 || t->num_bias > 1 || t->num_mask > 1)
        return ef_error(EF_INVALID, "%s: num_scale, num_bias and num_mask must be 0 or 1",
                        i->op->name);
    for (int k = first; k < first + many; k++) {
        const ef_shape *x = &i->in[k].shape;
        if (x->rank < 0) continue;
        bool fits = x->rank <= scores.rank && ef_shape_broadcast2(x, &scores, &both);
        for (int d = 0; fits && d < x->rank; d++)
            fits = x->dim[d] == 1 ||
                   ef_dim_may_equal(x->dim[d], scores.dim[scores.rank - x->rank + d]);
        if (!fits)
            return ef_error(EF_INVALID, "%s: input %d is %s and does not broadcast to the scores",
                            i->op->name, k, EF_SHAPE(x));
    }
    for (int k = n; k < i->n_in; k++)
        if (k < first || k >= first + many) EF_TRY(ef_need_rank(i, k, 0));
    return NULL;
}

static ef_status *check(ef_infer *i, int n, form *f) {
    EF_TRY(read_form(i->op, i->attrs, f));
    for (int k = 0; k < n; k++) EF_TRY(ef_need_rank(i, k, f->term[term_of[k]].n));
    return check_optional(i, f, n);
}

static ef_status *attention_shape(ef_infer *i) {
    form f;
    EF_TRY(check(i, 3, &f));
    return shape_of(i, &f, 3, OUT, &i->out[0].shape);
}

static ef_status *gradient_shape(ef_infer *i) {
    form f;
    EF_TRY(check(i, 4, &f));
    for (int k = 0; k < 3; k++) EF_TRY(shape_of(i, &f, 4, term_of[k], &i->out[k].shape));
    return NULL;
}

/* ---- kernels --------------------------------------------------------------------------------- */

static ef_matrices matrices(const form *f, int which, const ef_tensor *t, char row, char col) {
    const struct term *x = &f->term[which];
    int64_t step[EF_MAX_RANK];
    ef_dense_steps(t->rank, t->dim, step);
    ef_matrices m = {.data = t->data, .row = step[place(x, row)], .col = step[place(x, col)]};
    for (int k = 0; k < f->n_batch; k++) m.step[k] = step[place(x, f->batch[k])];
    return m;
}

/* An operand that broadcasts to the scores. */
static ef_matrices spread(const form *f, const ef_tensor *t) {
    const struct term *s = &f->term[SCORES];
    int64_t dense[EF_MAX_RANK], step[EF_MAX_RANK] = {0};
    ef_dense_steps(t->rank, t->dim, dense);
    for (int d = 0; d < t->rank; d++)
        if (t->dim[d] != 1) step[s->n - t->rank + d] = dense[d];
    ef_matrices m = {.data = t->data, .row = step[place(s, f->query)], .col = step[s->n - 1]};
    for (int k = 0; k < f->n_batch; k++) m.step[k] = step[place(s, f->batch[k])];
    return m;
}

static ef_status *describe(const ef_call *c, int n, form *f, ef_attention *a) {
    const attention_attrs *t = c->attrs;
    EF_TRY(read_form(c->op, t, f));
    const ef_tensor *q = c->in[0], *v = c->in[2];
    *a = (ef_attention){.dtype = (ef_dtype)q->dtype, .rank = f->n_batch, .divides = t->divides};
    for (int k = 0; k < f->n_batch; k++) a->dim[k] = q->dim[place(&f->term[Q], f->batch[k])];
    a->queries = q->dim[place(&f->term[Q], f->query)];
    a->width = q->dim[place(&f->term[Q], f->width)];
    a->keys = v->dim[place(&f->term[V], f->key)];
    a->depth = v->dim[place(&f->term[V], f->depth)];
    a->q = matrices(f, Q, q, f->query, f->width);
    a->k = matrices(f, K, c->in[1], f->key, f->width);
    a->v = matrices(f, V, v, f->key, f->depth);
    if (t->num_scale > 0) a->scale = c->in[n++]->data;
    if (t->num_bias > 0) a->bias = spread(f, c->in[n++]);
    if (t->num_mask > 0) a->mask = spread(f, c->in[n]), a->fill = c->in[n + 1]->data;
    return NULL;
}

static ef_status *done(const ef_call *c, bool enough) {
    return enough ? NULL : ef_error(EF_NO_MEMORY, "%s: out of memory", c->op->name);
}

static ef_status *attention_run(const ef_call *c) {
    form f;
    ef_attention a;
    EF_TRY(describe(c, 3, &f, &a));
    a.out = matrices(&f, OUT, c->out[0], f.query, f.depth);
    return done(c, ef_attention_run(&a));
}

static ef_status *gradient_run(const ef_call *c) {
    form f;
    ef_attention a;
    EF_TRY(describe(c, 4, &f, &a));
    a.out = matrices(&f, OUT, c->in[3], f.query, f.depth);
    if (!(c->unread & 1)) a.dq = matrices(&f, Q, c->out[0], f.query, f.width);
    if (!(c->unread & 2)) a.dk = matrices(&f, K, c->out[1], f.key, f.width);
    if (!(c->unread & 4)) a.dv = matrices(&f, V, c->out[2], f.key, f.depth);
    return done(c, ef_attention_gradient(&a));
}

#define ATTENTION_ATTRS                                           \
    {                                                             \
        EF_ATTR(attention_attrs, equation, "string", NULL),       \
            EF_ATTR(attention_attrs, divides, "bool", "false"),   \
            EF_ATTR(attention_attrs, num_scale, "int >= 0", "0"), \
            EF_ATTR(attention_attrs, num_bias, "int >= 0", "0"),  \
            EF_ATTR(attention_attrs, num_mask, "int >= 0", "0")   \
    }
#define EXTRAS \
    "scale: num_scale * T", "bias: num_bias * T", "mask: num_mask * bool", "fill: num_mask * T"
#define HEADS "equation='BTNH,BSNH->BNTS,BSND->BTND'"

const ef_op ef_op__Attention = {
    EF_NAMED(_Attention),
    .doc = "`softmax(q k^T) v` without storing the scores. They are multiplied (or divided) by "
           "`scale`, `bias` is added, and where `mask` is false they are `fill`. `equation` names "
           "the axes. Made by the optimiser.",
    .in = {"q: T", "k: T", "v: T", EXTRAS},
    .out = {"output: T"},
    .types = "T: {float, double}",
    .attr = ATTENTION_ATTRS,
    .attr_size = sizeof(attention_attrs),
    .traits = EF_HEAVY | EF_NO_GRAD,
    .shape = attention_shape,
    .kernel = {{EF_CPU, EF_BIT(F32) | EF_BIT(F64), attention_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,3,2,4] T[2,5,2,4] T[2,5,2,3] " HEADS,
                 "T[3,4] T[5,4] T[5,2] T[] T[3,1] equation='TH,SH->TS,SD->TD' num_scale=1 "
                 "num_bias=1",
                 "T[2,3,4] T[2,4,5] T[2,5,2] T[]{1.5} bool[3,5] T[]{-100} "
                 "equation='BTH,BHS->BTS,BSD->BDT' num_scale=1 divides=true num_mask=1",
                 "T[2,0,1,4] T[2,5,1,4] T[2,5,1,3] " HEADS,
                 "T[2,3,1,4] T[2,0,1,4] T[2,0,1,3] " HEADS,
                 "float[1,300,2,8] float[1,300,2,8] float[1,300,2,8] " HEADS},
};

const ef_op ef_op__AttentionGrad = {
    EF_NAMED(_AttentionGrad),
    .doc = "The gradients of `_Attention` with respect to `q`, `k` and `v`, without storing the "
           "scores. Made by the optimiser.",
    .in = {"q: T", "k: T", "v: T", "dy: T", EXTRAS},
    .out = {"dq: T", "dk: T", "dv: T"},
    .types = "T: {float, double}",
    .attr = ATTENTION_ATTRS,
    .attr_size = sizeof(attention_attrs),
    .traits = EF_HEAVY | EF_NO_GRAD,
    .shape = gradient_shape,
    .kernel = {{EF_CPU, EF_BIT(F32) | EF_BIT(F64), gradient_run, NULL, NULL, NULL, NULL}},
    .examples = {"T[2,3,2,4] T[2,5,2,4] T[2,5,2,3] T[2,3,2,3] " HEADS,
                 "T[3,4] T[5,4] T[5,2] T[3,2] T[] T[3,1] equation='TH,SH->TS,SD->TD' num_scale=1 "
                 "num_bias=1",
                 "T[2,3,4] T[2,4,5] T[2,5,2] T[2,2,3] T[]{1.5} bool[3,5] T[]{-100} "
                 "equation='BTH,BHS->BTS,BSD->BDT' num_scale=1 divides=true num_mask=1",
                 "T[2,0,1,4] T[2,5,1,4] T[2,5,1,3] T[2,0,1,3] " HEADS,
                 "float[1,300,2,8] float[1,300,2,8] float[1,300,2,8] float[1,300,2,8] " HEADS},
};

const ef_attention_ops ef_attention_parts = {
    .softmax = &ef_op_Softmax,
    .add = &ef_op_AddV2,
    .subtract = &ef_op_Sub,
    .multiply = &ef_op_Mul,
    .divide = &ef_op_RealDiv,
    .select = &ef_op_SelectV2,
    .sum = &ef_op_Sum,
    .both = &ef_op_LogicalAnd,
    .fill = &ef_op_Fill,
    .fused = &ef_op__Attention,
    .fused_grad = &ef_op__AttentionGrad,
};
