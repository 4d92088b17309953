/* Einsum: sums of products over labelled axes, for one or two operands. A label repeated within an
 * operand takes its diagonal; repeated in the output it fills a diagonal. "..." stands for axes
 * that broadcast. This file parses equations, infers shapes and builds gradients; einsum_run.c
 * computes. */
#include "ops/linalg/einsum.h"
#include "ops/build.h"
#include "ops/shapes.h"
#include <stdio.h>

static int letters(const struct ef_einsum_term *t) {
    return (int)(t->end - t->text) - (t->ellipsis != NULL ? 3 : 0);
}

static ef_status *split(const ef_op *op, const ef_einsum_attrs *a, int n_in, ef_einsum *e) {
    const char *text = a->equation.at, *end = text + a->equation.n;
    const char *arrow = strstr(text, "->");
    if (arrow == NULL || strstr(arrow + 2, "->") != NULL)
        return ef_error(EF_INVALID, "%s: Expecting exactly one '->' in einsum equation '%s'",
                        op->name, text);
    int commas = 0;
    for (const char *p = text; p < arrow; p++) commas += *p == ',';
    if (n_in > 2 || commas + 1 != n_in)
        return ef_error(
            EF_INVALID,
            "%s: Expecting 1 or 2 input subscripts, as many as inputs, but equation '%s' "
            "has %d for %d inputs",
            op->name, text, commas + 1, n_in);
    e->n_in = n_in;
    const char *comma = n_in == 2 ? memchr(text, ',', (size_t)(arrow - text)) : arrow;
    e->term[0] = (struct ef_einsum_term){.text = text, .end = comma};
    e->term[1] = (struct ef_einsum_term){.text = n_in == 2 ? comma + 1 : arrow, .end = arrow};
    e->term[2] = (struct ef_einsum_term){.text = arrow + 2, .end = end};
    for (int k = 0; k < 3; k++) {
        struct ef_einsum_term *t = &e->term[k];
        for (const char *p = t->text; p < t->end; p++) {
            if (*p != '.') continue;
            if (t->ellipsis != NULL || t->end - p < 3 || p[1] != '.' || p[2] != '.')
                return ef_error(
                    EF_INVALID,
                    "%s: equation '%s' has a stray '.'; one '...' per operand stands for "
                    "the axes that broadcast",
                    op->name, text);
            t->ellipsis = p;
            p += 2;
        }
    }
    return NULL;
}

/* Gives every axis of a term its label; `wide`: the number of axes that "..." stands for. */
static ef_status *label(const ef_op *op, const ef_einsum_attrs *a, struct ef_einsum_term *t,
                        int wide) {
    if (letters(t) + wide > EF_MAX_RANK)
        return ef_error(EF_INVALID,
                        "%s: an operand of '%s' would have %d axes; at most %d are "
                        "supported",
                        op->name, a->equation.at, letters(t) + wide, EF_MAX_RANK);
    t->n = 0;
    for (const char *p = t->text; p < t->end; p++) {
        if (p != t->ellipsis) {
            t->label[t->n++] = (unsigned char)*p;
            continue;
        }
        for (int k = wide - 1; k >= 0; k--) t->label[t->n++] = 256 + k;
        p += 2;
    }
    return NULL;
}

ef_status *ef_einsum_read(const ef_op *op, const ef_einsum_attrs *a, int n_in, const int *rank,
                          ef_einsum *e) {
    EF_TRY(split(op, a, n_in, e));
    int widest = 0;
    for (int k = 0; k < n_in && rank != NULL; k++) {
        struct ef_einsum_term *t = &e->term[k];
        int wide = rank[k] - letters(t);
        if (wide < 0 || (wide > 0 && t->ellipsis == NULL))
            return ef_error(EF_INVALID,
                            "%s: Expected input %d to have rank %s%d but got: %d (in '%s')",
                            op->name, k, t->ellipsis != NULL ? "at least " : "", letters(t),
                            rank[k], a->equation.at);
        EF_TRY(label(op, a, t, wide));
        if (wide > widest) widest = wide;
    }
    struct ef_einsum_term *out = &e->term[EF_EINSUM_OUT];
    if (rank == NULL) return NULL;
    if (widest > 0 && out->ellipsis == NULL)
        return ef_error(
            EF_INVALID,
            "%s: Output contains %d broadcasting dimension(s) but no ellipsis (...) was "
            "found in the output subscripts of '%s'",
            op->name, widest, a->equation.at);
    EF_TRY(label(op, a, out, widest));
    for (int d = 0; d < out->n; d++) {
        bool found = false;
        for (int k = 0; k < n_in; k++)
            for (int j = 0; j < e->term[k].n; j++) found |= e->term[k].label[j] == out->label[d];
        if (!found)
            return ef_error(EF_INVALID, "%s: output label '%c' of '%s' is in no input", op->name,
                            (char)out->label[d], a->equation.at);
    }
    return NULL;
}

/* The common size of the axes with one label. */
static ef_status *size_of(const ef_infer *i, const ef_einsum *e, int want, int64_t *out) {
    *out = EF_DIM_UNKNOWN;
    bool first = true;
    for (int k = 0; k < e->n_in; k++)
        for (int d = 0; d < e->term[k].n; d++) {
            if (e->term[k].label[d] != want) continue;
            int64_t size = i->in[k].shape.dim[d];
            if (want >= 256) { /* an axis of "...", which broadcasts */
                ef_shape x = {.rank = 1, .dim = {first ? 1 : *out}}, y = {.rank = 1, .dim = {size}};
                if (!ef_shape_broadcast2(&x, &y, &x))
                    return ef_error(EF_INVALID, "%s: shapes %s and %s do not broadcast at '...'",
                                    i->op->name, EF_SHAPE(&i->in[0].shape),
                                    EF_SHAPE(&i->in[1].shape));
                *out = x.dim[0];
            } else {
                if (!first && !ef_dim_may_equal(*out, size))
                    return ef_error(
                        EF_INVALID,
                        "%s: Expected dimension %lld at axis %d of the input shaped %s but "
                        "got dimension %lld; axes labelled '%c' must be equal",
                        i->op->name, (long long)*out, d, EF_SHAPE(&i->in[k].shape), (long long)size,
                        (char)want);
                if (first || *out == EF_DIM_UNKNOWN || (*out < 0 && size >= 0)) *out = size;
            }
            first = false;
        }
    return NULL;
}

static ef_status *einsum_shape(ef_infer *i) {
    const ef_einsum_attrs *t = i->attrs;
    ef_einsum e;
    int rank[2] = {0};
    EF_TRY(ef_einsum_read(i->op, t, i->n_in, NULL, &e));
    ef_shape *out = &i->out[0].shape;
    for (int k = 0; k < i->n_in; k++) {
        rank[k] = i->in[k].shape.rank;
        if (rank[k] >= 0) continue;
        const struct ef_einsum_term *y = &e.term[EF_EINSUM_OUT];
        if (y->ellipsis != NULL || letters(y) > EF_MAX_RANK) return NULL;
        out->rank = letters(y);
        for (int d = 0; d < out->rank; d++) out->dim[d] = EF_DIM_UNKNOWN;
        return NULL;
    }
    EF_TRY(ef_einsum_read(i->op, t, i->n_in, rank, &e));
    const struct ef_einsum_term *y = &e.term[EF_EINSUM_OUT];
    int64_t size;
    for (int k = 0; k < i->n_in; k++) /* labels that are summed must have equal sizes too */
        for (int d = 0; d < e.term[k].n; d++) EF_TRY(size_of(i, &e, e.term[k].label[d], &size));
    out->rank = y->n;
    for (int d = 0; d < y->n; d++) EF_TRY(size_of(i, &e, y->label[d], &out->dim[d]));
    return NULL;
}

/* ---- gradient ---------------------------------------------------------------------------------
 */

typedef struct subs { /* subscripts as text */
    char at[2 * EF_MAX_RANK + 8];
} subs;

static subs subs_of(const struct ef_einsum_term *t, bool broadcasts) {
    subs s = {{0}};
    size_t n = 0;
    if (broadcasts && t->ellipsis == NULL) n = 3, memcpy(s.at, "...", 3);
    size_t more = (size_t)(t->end - t->text);
    if (n + more < sizeof s.at) memcpy(s.at + n, t->text, more);
    return s;
}

/* The labels of s that are in neither of the others (if `apart`), or else those that are in one. */
static subs pick(const char *s, const char *in, const char *or_in, bool apart) {
    subs r = {{0}};
    size_t n = 0;
    for (; *s; s++) {
        bool found = *s == '.' || strchr(in, *s) != NULL || strchr(or_in, *s) != NULL;
        if (found == !apart && (!apart || strchr(r.at, *s) == NULL)) r.at[n++] = *s;
    }
    return r;
}

static ef_value *emit(ef_build *b, ef_value *x, ef_value *y, const char *xs, const char *ys,
                      const char *zs) {
    char text[96];
    snprintf(text, sizeof text, "%s%s%s->%s", xs, y != NULL ? "," : "", y != NULL ? ys : "", zs);
    const ef_attr_value set[] = {EF_SET_STRING("equation", text)};
    return y != NULL ? ef_emit_set(b, "Einsum", set, 1, 2, x, y)
                     : ef_emit_set(b, "Einsum", set, 1, 1, x);
}

/* A tensor of ones with the sizes that the labels `lost` have in x. */
static ef_value *ones_for(ef_grad *g, ef_value *x, const char *xs, const char *lost) {
    const ef_shape *s = &x->fact.shape;
    int64_t axis[EF_MAX_RANK], size[EF_MAX_RANK];
    int n = 0, length = (int)strlen(xs);
    bool known = s->rank >= 0;
    const char *dots = strstr(xs, "...");
    for (; n < EF_MAX_RANK && lost[n]; n++) {
        const char *p = strchr(xs, lost[n]);
        axis[n] = dots != NULL && p > dots ? (p - xs) - length : p - xs;
        if (axis[n] < 0 && s->rank >= 0) axis[n] += s->rank;
        if (axis[n] < 0 && known)
            ef_build_fail(g->b, ef_error(EF_INTERNAL, "Einsum: label '%c' has no axis", lost[n]));
        size[n] = known && axis[n] < s->rank ? s->dim[axis[n]] : -1;
        known = known && size[n] >= 0;
    }
    ef_value *dims;
    if (known) {
        dims = ef_const_ints(g->b, EF_I64, n, size);
    } else {
        ef_value *at = ef_const_ints(g->b, EF_I32, n, axis);
        if (s->rank < 0 && dots != NULL) { /* axes after the dots are counted from the end */
            int64_t behind[EF_MAX_RANK];
            for (int k = 0; k < n; k++) behind[k] = axis[k] < 0;
            at = ef_add(
                g->b, at,
                ef_mul(g->b, ef_const_ints(g->b, EF_I32, n, behind), ef_emit(g->b, "Rank", 1, x)));
        }
        dims = ef_emit(g->b, "GatherV2", 3, ef_shape_value(g->b, x, EF_I64), at,
                       ef_const_number(g->b, EF_I32, 0));
    }
    return ef_emit(g->b, "Fill", 2, dims, ef_const_number(g->b, x->fact.dtype, 1));
}

/* d: the gradient of an operand, with the labels `left`. Restores the labels `lost`, which were
 * summed in this operand alone. */
static ef_value *restore(ef_grad *g, ef_value *d, ef_value *x, const char *left, const char *lost,
                         const char *xs) {
    if (lost[0] == 0) return d;
    return emit(g->b, d, ones_for(g, x, xs, lost), left, lost, xs);
}

/* The gradient of operand x of "xs,ys->zs". */
static ef_value *operand_grad(ef_grad *g, ef_value *x, ef_value *y, subs xs, subs ys, subs zs) {
    ef_build *b = g->b;
    subs lost = pick(xs.at, ys.at, zs.at, true), left = pick(xs.at, ys.at, zs.at, false);
    ef_value *dy = g->dout[0], *other = ef_conj(b, y);
    ef_value *dx = emit(b, dy, other, zs.at, ys.at, left.at);
    dx = restore(g, dx, x, left.at, lost.at, xs.at);
    const char *dots = strstr(xs.at, "...");
    if (dots == NULL) return dx;
    if (dots == xs.at) return ef_sum_like(b, dx, x);
    subs front = {"..."}; /* broadcast axes first, where they are easy to sum */
    size_t before = (size_t)(dots - xs.at);
    memcpy(front.at + 3, xs.at, before);
    memcpy(front.at + 3 + before, dots + 3, strlen(dots + 3) + 1);
    ef_value *like = emit(b, x, NULL, xs.at, NULL, front.at);
    dx = ef_sum_like(b, emit(b, dx, NULL, xs.at, NULL, front.at), like);
    return emit(b, dx, NULL, front.at, NULL, xs.at);
}

static ef_status *einsum_grad(ef_grad *g) {
    ef_einsum e;
    EF_TRY(ef_einsum_read(g->op, g->attrs, g->n_in, NULL, &e));
    const struct ef_einsum_term *out = &e.term[EF_EINSUM_OUT];
    subs zs = subs_of(out, false);
    if (g->n_in == 1) {
        subs xs = subs_of(&e.term[0], out->ellipsis != NULL);
        subs lost = pick(xs.at, zs.at, "", true);
        if (lost.at[0] == 0)
            g->din[0] = emit(g->b, g->dout[0], NULL, zs.at, NULL, xs.at);
        else
            g->din[0] = restore(g, g->dout[0], g->in[0], zs.at, lost.at, xs.at);
        return NULL;
    }
    subs xs = subs_of(&e.term[0], out->ellipsis != NULL),
         ys = subs_of(&e.term[1], out->ellipsis != NULL);
    g->din[0] = operand_grad(g, g->in[0], g->in[1], xs, ys, zs);
    g->din[1] = operand_grad(g, g->in[1], g->in[0], ys, xs, zs);
    return NULL;
}

const ef_op ef_op_Einsum = {
    EF_NAMED(Einsum),
    .doc = "Multiplies one or two operands and sums over the labels of `equation` that are missing "
           "after the arrow: 'ij,jk->ik' is a matrix product, 'ii->' a trace. '...' broadcasts.",
    .in = {"inputs: N * T"},
    .out = {"output: T"},
    .types = "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}",
    .declared = EF_PLAIN | EF_BIT(STRING),
    .attr = {EF_ATTR(ef_einsum_attrs, equation, "string", NULL)},
    .attr_size = sizeof(ef_einsum_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = einsum_shape,
    .kernel = {{EF_CPU, EF_NUMBERS, ef_einsum_run, ef_einsum_scratch, NULL, NULL, NULL}},
    .grad = einsum_grad,
    .examples = {"T[2,3] T[3,4] equation='ij,jk->ik'", "T[2,3,4] equation='i...k->...i'",
                 "T[3,3,2] equation='iij->ij'", "T[3] equation='i->ii'",
                 "T[2,3,4] T[1,4,5] equation='...ij,...jk->...ki'",
                 "T[2,3,4] T[4,2,3] equation='abc,cad->db'",
                 "T[2,3,5] T[3,4] equation='abc,bd->ad'",
                 "T[3,2,2] T[2,2] equation='a...b,...b->...a'"},
};
