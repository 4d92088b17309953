/* Factorizations of batches of matrices with orthogonal factors: QR and SVD. */
#include "kernels/half.h"
#include "kernels/linalg.h"
#include "ops/linalg/linalg.h"
#include "ops/shapes.h"

/* 1 / x, but 0 where x is 0. */
static ef_value *safe_reciprocal(ef_build *b, ef_value *x) {
    ef_value *square = ef_shift(b, ef_mul(b, x, x), 1e-20);
    return ef_mul(b, x, ef_emit(b, "Reciprocal", 1, square));
}

static int64_t smaller(int64_t x, int64_t y) {
    if (ef_dim_same(x, y)) return x;
    return ef_dim_known(x) && ef_dim_known(y) ? (x < y ? x : y) : EF_DIM_UNKNOWN;
}

/* ---- Qr ---------------------------------------------------------------------------------------
 */

typedef struct {
    bool full_matrices;
} qr_attrs;

static ef_status *qr_shape(ef_infer *i) {
    const qr_attrs *t = i->attrs;
    ef_shape batch;
    int64_t m, n;
    EF_TRY(ef_need_matrix(i, 0, &batch, &m, &n));
    int64_t k = t->full_matrices ? m : smaller(m, n);
    i->out[0].shape = ef_batch_of(&batch, 2, (int64_t[]){m, k});
    i->out[1].shape = ef_batch_of(&batch, 2, (int64_t[]){k, n});
    return NULL;
}

static double qr_work(const ef_call *c) {
    double m = (double)ef_rows(c->in[0]), n = (double)ef_cols(c->in[0]);
    return m * n * (m < n ? m : n);
}

static bool qr_full(const ef_call *c) { return ((const qr_attrs *)c->attrs)->full_matrices; }

/* Halves are converted to floats: scratch for input and results comes first. */
static size_t qr_room(const ef_call *c) {
    ef_dtype t = (ef_dtype)c->in[0]->dtype;
    int64_t m = ef_rows(c->in[0]), n = ef_cols(c->in[0]), k = ef_cols(c->out[0]);
    size_t wide = ef_scratch_size(EF_F32, m * n) + ef_scratch_size(EF_F32, m * k);
    wide += ef_scratch_size(EF_F32, k * n);
    size_t own = ef_qr_scratch(ef_is_half(t) ? EF_F32 : t, (int)m, (int)n, qr_full(c));
    return ef_lines(own) + (ef_is_half(t) ? wide : 0);
}

static size_t qr_scratch(const ef_call *c) {
    if (!ef_fits_lapack(c)) return 0;
    return ef_each_scratch(ef_matrices(c->in[0]), qr_work(c), qr_room(c));
}

static int qr_one(const ef_call *c, int64_t i, void *room) {
    ef_dtype t = (ef_dtype)c->in[0]->dtype;
    int64_t m = ef_rows(c->in[0]), n = ef_cols(c->in[0]), k = ef_cols(c->out[0]);
    const void *a = ef_piece(c->in[0], i, m * n);
    void *q = ef_piece(c->out[0], i, m * k), *r = ef_piece(c->out[1], i, k * n);
    if (!ef_is_half(t)) {
        ef_qr(t, (int)m, (int)n, a, qr_full(c), q, r, room);
        return 0;
    }
    float *wide = room, *wide_q = (float *)((char *)wide + ef_scratch_size(EF_F32, m * n));
    float *wide_r = (float *)((char *)wide_q + ef_scratch_size(EF_F32, m * k));
    ef_widen(t, wide, a, m * n);
    ef_qr(EF_F32, (int)m, (int)n, wide, qr_full(c), wide_q, wide_r,
          (char *)wide_r + ef_scratch_size(EF_F32, k * n));
    ef_narrow(t, q, wide_q, m * k);
    ef_narrow(t, r, wide_r, k * n);
    return 0;
}

static ef_status *qr_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    ef_each_matrix(c, ef_matrices(c->in[0]), qr_work(c), qr_room(c), qr_one);
    return NULL;
}

/* x R^-H for upper triangular R. */
static ef_value *over_triangle(ef_build *b, ef_value *x, ef_value *r) {
    return ef_adjoint(b, ef_solve_triangle(b, r, ef_adjoint(b, x), false, false));
}

/* The gradient if there are at least as many rows as columns. */
static ef_value *deep_qr_grad(ef_build *b, ef_value *q, ef_value *r, ef_value *dq, ef_value *dr) {
    ef_value *qdq = ef_product(b, q, dq, true, false), *rdr = ef_product(b, r, dr, false, true);
    ef_value *qdq_odd = ef_sub(b, qdq, ef_adjoint(b, qdq));
    ef_value *rdr_odd = ef_sub(b, rdr, ef_adjoint(b, rdr));
    ef_value *lower = ef_band(b, ef_add(b, qdq_odd, rdr_odd), -1, 0);
    ef_value *inner = ef_add(b, dr, over_triangle(b, lower, r));
    ef_value *rest = ef_sub(b, dq, ef_product(b, q, qdq, false, false));
    ef_value *da = ef_add(b, ef_product(b, q, inner, false, false), over_triangle(b, rest, r));
    if (!q || !ef_dtype_in(q->fact.dtype, EF_COMPLEX)) return da;
    /* R has a real diagonal, so the component that would change its phase is removed. */
    ef_value *d = ef_diag_part(b, ef_sub(b, rdr, ef_adjoint(b, qdq)));
    ef_dtype real = q->fact.dtype == EF_C64 ? EF_F32 : EF_F64;
    ef_value *turn = ef_sub(b, d, ef_cast(b, ef_cast(b, d, real), q->fact.dtype));
    ef_value *fix = ef_product(b, q, ef_adjoint(b, ef_diag(b, turn)), false, false);
    return ef_add(b, da, over_triangle(b, fix, r));
}

static ef_status *qr_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *q = g->out[0], *r = g->out[1], *dq = ef_dout(g, 0), *dr = ef_dout(g, 1);
    ef_form form = ef_form_of(g->in[0]);
    if (ef_is_half(q->fact.dtype))
        return ef_error(EF_UNIMPLEMENTED, "Qr: there is no gradient for %s, as in TensorFlow",
                        ef_dtype_name(q->fact.dtype));
    if (form == EF_TALL && ((const qr_attrs *)g->attrs)->full_matrices)
        return ef_error(EF_UNIMPLEMENTED,
                        "Qr: there is no gradient for full_matrices with more rows than columns; "
                        "r is %s",
                        EF_SHAPE(&r->fact.shape));
    if (form == EF_SQUARE || form == EF_TALL) {
        g->din[0] = deep_qr_grad(b, q, r, dq, dr);
        return NULL;
    }
    /* The left, square part of a wide matrix determines q; the other columns are q^H times theirs.
     * There are none if the matrix turns out not to be wide. */
    ef_value *k = ef_size_value(b, q, -1);
    ef_value *rest = ef_columns(b, g->in[0], k, NULL), *d_rest = ef_columns(b, dr, k, NULL);
    ef_value *dq_all = ef_add(b, dq, ef_product(b, rest, d_rest, false, true));
    ef_value *left =
        deep_qr_grad(b, q, ef_columns(b, r, NULL, k), dq_all, ef_columns(b, dr, NULL, k));
    g->din[0] = ef_emit(b, "ConcatV2", 3, left, ef_product(b, q, d_rest, false, false),
                        ef_const_number(b, EF_I32, -1));
    return NULL;
}

const ef_op ef_op_Qr = {
    EF_NAMED(Qr),
    .doc = "The factors of `input` = `q` `r`: the columns of `q` are orthonormal, `r` is upper "
           "triangular.",
    .in = {"input: T"},
    .out = {"q: T", "r: T"},
    .types = "T: {double, float, half, complex64, complex128}",
    .attr = {EF_ATTR(qr_attrs, full_matrices, "bool", "false")},
    .attr_size = sizeof(qr_attrs),
    .traits = EF_HEAVY,
    .shape = qr_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES | EF_BIT(F16), qr_run, qr_scratch, NULL, NULL, NULL}},
    .grad = qr_grad,
    .examples = {"float[3,3]", "double[2,4,3]", "complex128[4,3]", "double[2,3,5]",
                 "T[3,2] full_matrices=true grad=no", "T[2,3] full_matrices=true grad=no",
                 "float[2,0,3] full_matrices=true grad=no",
                 "float[3,0] full_matrices=true grad=no"},
};

/* ---- Svd --------------------------------------------------------------------------------------
 */

typedef struct {
    bool compute_uv, full_matrices;
} svd_attrs;

static ef_status *svd_shape(ef_infer *i) {
    const svd_attrs *t = i->attrs;
    ef_shape batch;
    int64_t m, n;
    EF_TRY(ef_need_matrix(i, 0, &batch, &m, &n));
    int64_t k = smaller(m, n);
    i->out[0].shape = ef_batch_of(&batch, 1, &k);
    i->out[1].shape = i->out[2].shape = (ef_shape){.rank = 1, .dim = {0}};
    if (!t->compute_uv) return NULL;
    i->out[1].shape = ef_batch_of(&batch, 2, (int64_t[]){m, t->full_matrices ? m : k});
    i->out[2].shape = ef_batch_of(&batch, 2, (int64_t[]){n, t->full_matrices ? n : k});
    return NULL;
}

static size_t svd_room(const ef_call *c) {
    const svd_attrs *t = c->attrs;
    return ef_svd_scratch((ef_dtype)c->in[0]->dtype, (int)ef_rows(c->in[0]), (int)ef_cols(c->in[0]),
                          t->compute_uv, t->full_matrices);
}

static size_t svd_scratch(const ef_call *c) {
    if (!ef_fits_lapack(c)) return 0;
    return ef_each_scratch(ef_matrices(c->in[0]), 4 * qr_work(c), svd_room(c));
}

static int svd_one(const ef_call *c, int64_t i, void *room) {
    const svd_attrs *t = c->attrs;
    int64_t m = ef_rows(c->in[0]), n = ef_cols(c->in[0]), k = m < n ? m : n;
    bool uv = t->compute_uv, full = t->full_matrices;
    ef_svd((ef_dtype)c->in[0]->dtype, (int)m, (int)n, ef_piece(c->in[0], i, m * n), full,
           ef_piece(c->out[0], i, k), uv ? ef_piece(c->out[1], i, m * (full ? m : k)) : NULL,
           uv ? ef_piece(c->out[2], i, n * (full ? n : k)) : NULL, room);
    return 0;
}

static ef_status *svd_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    ef_each_matrix(c, ef_matrices(c->in[0]), 4 * qr_work(c), svd_room(c), svd_one);
    return NULL;
}

/* Only singular values were computed: da = U diag(ds) V^H. */
static ef_value *values_grad(ef_grad *g) {
    const ef_attr_value set[] = {EF_SET_BOOL("compute_uv", true)};
    ef_value *in[] = {g->in[0]}, *suv[3];
    if (ef_emit_many(g->b, "Svd", set, 1, in, 1, suv, 3) != 3) return NULL;
    ef_value *right = ef_product(g->b, ef_diag(g->b, ef_dout(g, 0)), suv[2], false, true);
    return ef_product(g->b, suv[1], right, false, false);
}

typedef struct { /* For a matrix with at most as many rows as columns, or the adjoint of one. */
    ef_build *b;
    ef_value *s, *u, *v, *ds, *du, *dv;
    ef_value *v1, *dv1, *v2, *dv2; /* v1: the columns of v that belong to singular values; v2:
                                    * the others */
    ef_value *is_tall; /* set if sizes are known only at run time; then u and v are outputs 1 and
                        * 2, not exchanged */
} svd_parts;

/* The part of the gradient due to rotations of u and v within the spaces that they span. */
static ef_value *svd_inner(const svd_parts *p, ef_value *v_dv) {
    ef_build *b = p->b;
    ef_value *s2 = ef_mul(b, p->s, p->s), *s = ef_diag(b, p->s);
    ef_value *gap = ef_sub(b, ef_expand(b, s2, -2), ef_expand(b, s2, -1));
    ef_value *f = ef_set_diag(b, safe_reciprocal(b, gap), ef_zeros_like(b, p->s));
    ef_value *fu = ef_mul(b, f, ef_product(b, p->u, p->du, true, false));
    ef_value *fv = ef_mul(b, f, v_dv);
    ef_value *left = ef_product(b, ef_add(b, fu, ef_adjoint(b, fu)), s, false, false);
    ef_value *right = ef_product(b, s, ef_add(b, fv, ef_adjoint(b, fv)), false, false);
    return ef_add(b, ef_add(b, ef_diag(b, p->ds), left), right);
}

/* The part of the gradient due to v leaving the space that its first columns span. */
static ef_value *svd_outer(const svd_parts *p) {
    ef_build *b = p->b;
    ef_value *dv = ef_adjoint(b, p->dv1), *s_inverse = ef_diag(b, safe_reciprocal(b, p->s));
    ef_value *inside = ef_product(b, ef_product(b, dv, p->v1, false, false), p->v1, false, true);
    ef_value *rest = ef_sub(b, dv, inside);
    if (p->v2) {
        ef_value *across = ef_product(b, p->v1, p->dv2, true, false);
        rest = ef_sub(b, rest, ef_product(b, across, p->v2, false, true));
    }
    return ef_product(b, ef_product(b, p->u, s_inverse, false, false), rest, false, false);
}

/* The gradient without svd_outer, which is zero for a square matrix. */
static ef_value *svd_square_grad(const svd_parts *p) {
    ef_build *b = p->b;
    ef_value *v_dv = ef_product(b, p->v1, p->dv1, true, false);
    ef_value *inner = svd_inner(p, v_dv);
    /* The phases of complex vectors are fixed. */
    if (p->u && ef_dtype_in(p->u->fact.dtype, EF_COMPLEX)) {
        ef_value *d = ef_diag_part(b, v_dv), *odd = ef_sub(b, ef_conj(b, d), d);
        if (p->is_tall) {
            ef_value *du = ef_diag_part(b, ef_product(b, p->u, p->du, true, false));
            odd = ef_select(b, p->is_tall, ef_sub(b, du, ef_conj(b, du)), odd);
        }
        odd = ef_mul(b, safe_reciprocal(b, p->s), ef_scale(b, odd, 0.5));
        inner = ef_add(b, inner, ef_diag(b, odd));
    }
    return ef_product(b, p->u, ef_product(b, inner, p->v1, false, true), false, false);
}

/* u: the output that is the square one of the two matrices of vectors. */
static svd_parts svd_parts_of(ef_grad *g, int u, bool full) {
    ef_build *b = g->b;
    int v = 3 - u;
    svd_parts p = {.b = b,
                   .s = g->out[0],
                   .u = g->out[u],
                   .v = g->out[v],
                   .ds = ef_dout(g, 0),
                   .du = ef_dout(g, u),
                   .dv = ef_dout(g, v)};
    p.v1 = p.v;
    p.dv1 = p.dv;
    if (!full) return p;
    ef_value *k = ef_size_value(b, p.u, -1);
    p.v1 = ef_columns(b, p.v, NULL, k);
    p.dv1 = ef_columns(b, p.dv, NULL, k);
    p.v2 = ef_columns(b, p.v, k, NULL);
    p.dv2 = ef_columns(b, p.dv, k, NULL);
    return p;
}

/* TensorFlow defines the gradient with full_matrices only if at most one column is left over. */
static ef_status *check_full(const ef_grad *g, ef_form form) {
    const ef_shape *s = &g->in[0]->fact.shape;
    if (form == EF_SQUARE) return NULL;
    if (form == EF_FORM_UNKNOWN)
        return ef_error(EF_UNIMPLEMENTED,
                        "Svd: the gradient for full_matrices needs sizes that are known when the "
                        "graph is made, but the input is %s",
                        EF_SHAPE(s));
    int64_t more = s->dim[s->rank - 2] - s->dim[s->rank - 1];
    if (more > 1 || more < -1)
        return ef_error(EF_UNIMPLEMENTED,
                        "Svd: there is no gradient for full_matrices when rows and columns differ "
                        "by more than 1; the input is %s",
                        EF_SHAPE(s));
    return NULL;
}

static ef_status *svd_grad(ef_grad *g) {
    const svd_attrs *t = g->attrs;
    ef_build *b = g->b;
    ef_form form = ef_form_of(g->in[0]);
    if (!t->compute_uv) {
        g->din[0] = values_grad(g);
        return NULL;
    }
    if (t->full_matrices) EF_TRY(check_full(g, form));
    /* A tall matrix is the adjoint of a wide one. */
    svd_parts p = svd_parts_of(g, form == EF_TALL ? 2 : 1, t->full_matrices && form != EF_SQUARE);
    if (form == EF_FORM_UNKNOWN) {
        p.is_tall = ef_emit(b, "Greater", 2, ef_size_value(b, g->in[0], -2),
                            ef_size_value(b, g->in[0], -1));
        /* Equivalent to taking the adjoint. */
        p.ds = ef_select(b, p.is_tall, ef_conj(b, p.ds), p.ds);
    }
    ef_value *da = svd_square_grad(&p);
    if (form == EF_WIDE || form == EF_TALL) da = ef_add(b, da, svd_outer(&p));
    if (form == EF_FORM_UNKNOWN) { /* adds both variants: the one that does not apply is zero */
        svd_parts turned = svd_parts_of(g, 2, false);
        da = ef_add(b, da, svd_outer(&p));
        da = ef_add(b, da, ef_adjoint(b, svd_outer(&turned)));
    }
    g->din[0] = form == EF_TALL ? ef_adjoint(b, da) : da;
    return NULL;
}

const ef_op ef_op_Svd = {
    EF_NAMED(Svd),
    .doc = "Singular values of `input` = u diag(s) v^H, the largest first, and optionally the "
           "singular vectors as columns of `u` and `v`.",
    .in = {"input: T"},
    .out = {"s: T", "u: T", "v: T"},
    .types = "T: " EF_MATRIX_TYPES,
    .attr = {EF_ATTR(svd_attrs, compute_uv, "bool", "true"),
             EF_ATTR(svd_attrs, full_matrices, "bool", "false")},
    .attr_size = sizeof(svd_attrs),
    .traits = EF_HEAVY,
    .shape = svd_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, svd_run, svd_scratch, NULL, NULL, NULL}},
    .grad = svd_grad,
    .examples = {"double[3,3]", "float[2,4,3]", "double[2,3] full_matrices=true",
                 "double[3,4] compute_uv=false", "double[2,3,2]", "T[3,2] compute_uv=false grad=no",
                 "T[3,5] full_matrices=true grad=no", "float[2,0,3] full_matrices=true grad=no"},
};
