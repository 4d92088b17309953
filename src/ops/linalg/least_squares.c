/* MatrixSolveLs - least squares, by the normal equations (fast) or a complete orthogonal
 * factorization. */
#include "kernels/gemm.h"
#include "kernels/linalg.h"
#include "ops/linalg/linalg.h"
#include "ops/shapes.h"

typedef struct {
    bool fast;
} ls_attrs;

static ef_status *ls_shape(ef_infer *i) {
    ef_shape a, b, batch;
    int64_t m, n, rows, k;
    EF_TRY(ef_need_matrix(i, 0, &a, &m, &n));
    EF_TRY(ef_need_matrix(i, 1, &b, &rows, &k));
    EF_TRY(ef_need_rank(i, 2, 0));
    if (!ef_dim_may_equal(m, rows) || !ef_shape_may_equal(&a, &b))
        return ef_error(EF_INVALID,
                        "%s: matrix is %s and rhs is %s: Input matrix and rhs are incompatible, "
                        "they must have the same number of rows and the same leading axes",
                        i->op->name, EF_SHAPE(&i->in[0].shape), EF_SHAPE(&i->in[1].shape));
    EF_TRY(ef_shape_merge(&a, &b, &batch));
    i->out[0].shape = ef_batch_of(&batch, 2, (int64_t[]){n, k});
    return NULL;
}

typedef struct {
    ef_dtype t;
    int64_t m, n, k, small; /* a is m x n, k right-hand sides, small = min(m, n) */
} ls_sizes;

static ls_sizes sizes_of(const ef_call *c) {
    int64_t m = ef_rows(c->in[0]), n = ef_cols(c->in[0]);
    return (ls_sizes){(ef_dtype)c->in[0]->dtype, m, n, ef_cols(c->in[1]), m < n ? m : n};
}

static double work_of(const ef_call *c) {
    ls_sizes s = sizes_of(c);
    return (double)s.m * (double)s.n * (double)(s.small + s.k);
}

static size_t ls_room(const ef_call *c) {
    ls_sizes s = sizes_of(c);
    if (((const ls_attrs *)c->attrs)->fast)
        return ef_scratch_size(s.t, s.small * s.small) + ef_scratch_size(s.t, s.m * s.k);
    return ef_least_squares_scratch(s.t, (int)s.m, (int)s.n, (int)s.k);
}

static size_t ls_scratch(const ef_call *c) {
    if (!ef_fits_lapack(c)) return 0;
    return ef_each_scratch(ef_matrices(c->in[0]), work_of(c), ls_room(c));
}

static void multiply(ef_dtype t, ef_gemm_op x, ef_gemm_op y, int64_t m, int64_t n, int64_t k,
                     const void *a, const void *b, void *c) {
    ef_gemm_args g = ef_gemm_dense(t, x, y, m, n, k, a, b, c);
    ef_gemm(&g);
}

static void add_to_diagonal(ef_dtype t, int64_t n, double v, void *a) {
    for (int64_t i = 0; i < n; i++) {
        int64_t at = i * n + i;
        if (t == EF_C64)
            ((ef_c64 *)a)[at] += (float)v;
        else if (t == EF_C128)
            ((ef_c128 *)a)[at] += v;
        else
            ef_element_set(t, a, at, ef_element_double(t, a, at) + v);
    }
}

/* Tall: (a^H a + l) x = a^H b. Wide: x = a^H z with (a a^H + l) z = b. */
static int fast_one(const ls_sizes *s, const void *a, const void *b, double l, void *x,
                    void *room) {
    bool tall = s->m >= s->n;
    int n = (int)s->small, k = (int)s->k;
    void *gram = room, *z = (char *)room + ef_scratch_size(s->t, s->small * s->small);
    if (tall) {
        multiply(s->t, EF_GEMM_C, EF_GEMM_N, n, n, s->m, a, a, gram);
        multiply(s->t, EF_GEMM_C, EF_GEMM_N, n, k, s->m, a, b, x);
        z = x;
    } else {
        multiply(s->t, EF_GEMM_N, EF_GEMM_C, n, n, s->n, a, a, gram);
        ef_copy(z, b, (size_t)(s->m * s->k) * ef_dtype_size(s->t));
    }
    add_to_diagonal(s->t, n, l, gram);
    if (!ef_cholesky(s->t, n, gram)) return 1;
    ef_triangular_solve(s->t, n, k, gram, true, false, z);
    ef_triangular_solve(s->t, n, k, gram, true, true, z);
    if (!tall) multiply(s->t, EF_GEMM_C, EF_GEMM_N, s->n, k, s->m, a, z, x);
    return 0;
}

static int ls_one(const ef_call *c, int64_t i, void *room) {
    ls_sizes s = sizes_of(c);
    const void *a = ef_piece(c->in[0], i, s.m * s.n), *b = ef_piece(c->in[1], i, s.m * s.k);
    void *x = ef_piece(c->out[0], i, s.n * s.k);
    if (s.m == 0 || s.n == 0 || s.k == 0) {
        ef_zero(x, (size_t)(s.n * s.k) * ef_dtype_size(s.t));
        return 0;
    }
    if (((const ls_attrs *)c->attrs)->fast)
        return fast_one(&s, a, b, *(const double *)c->in[2]->data, x, room);
    return !ef_least_squares(s.t, (int)s.m, (int)s.n, (int)s.k, a, b, x, room);
}

static ef_status *ls_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    if (!(*(const double *)c->in[2]->data >= 0))
        return ef_error(EF_INVALID, "%s: l2_regularizer must be >= 0, but it is %g", c->op->name,
                        *(const double *)c->in[2]->data);
    if (ef_each_matrix(c, ef_matrices(c->in[0]), work_of(c), ls_room(c), ls_one))
        return ef_error(EF_INVALID,
                        "%s: Input matrix was rank deficient or ill-conditioned. Try setting "
                        "fast=False or provide a larger l2_regularizer > 0.",
                        c->op->name);
    return NULL;
}

/* The Cholesky factor of a^H a + l, or of a a^H + l. `idle`, if not NULL: added to l; it is 1 where
 * the result is not used, so that the factorization succeeds. */
static ef_value *gram_factor(ef_grad *g, bool tall, ef_value *idle) {
    ef_build *b = g->b;
    ef_value *a = g->in[0], *gram = ef_product(b, a, a, tall, !tall);
    ef_value *l = ef_cast(b, g->in[2], a->fact.dtype);
    if (idle) l = ef_add(b, l, idle);
    gram = ef_set_diag(b, gram, ef_add(b, ef_diag_part(b, gram), l));
    return ef_emit(b, "Cholesky", 1, gram);
}

static ef_value *factor_solve(ef_build *b, ef_value *l, ef_value *rhs) {
    return ef_solve_triangle(b, l, ef_solve_triangle(b, l, rhs, true, false), true, true);
}

static void tall_grad(ef_grad *g, ef_value *idle, ef_value **din) {
    ef_build *b = g->b;
    ef_value *a = g->in[0], *z = factor_solve(b, gram_factor(g, true, idle), g->dout[0]);
    ef_value *xz = ef_product(b, g->out[0], z, false, true);
    ef_value *even = ef_add(b, xz, ef_matrix_transpose(b, xz));
    din[0] =
        ef_sub(b, ef_product(b, g->in[1], z, false, true), ef_product(b, a, even, false, false));
    din[1] = ef_product(b, a, z, false, false);
}

static void wide_grad(ef_grad *g, ef_value *idle, ef_value **din) {
    ef_build *b = g->b;
    ef_value *a = g->in[0], *l = gram_factor(g, false, idle), *dy = g->dout[0];
    ef_value *db = factor_solve(b, l, ef_product(b, a, dy, false, false));
    ef_value *z = factor_solve(b, l, g->in[1]);
    ef_value *inside = ef_product(b, db, ef_product(b, z, a, true, false), false, false);
    ef_value *rest = ef_sub(b, dy, ef_product(b, a, db, true, false));
    din[0] = ef_sub(b, ef_product(b, z, rest, false, true), inside);
    din[1] = db;
}

/* Sizes are known only at run time: computes both gradients and selects the one that applies. */
static void either_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *a = g->in[0], *tall[2], *wide[2];
    ef_value *is_tall =
        ef_emit(b, "GreaterEqual", 2, ef_size_value(b, a, -2), ef_size_value(b, a, -1));
    ef_value *one = ef_cast(b, is_tall, a->fact.dtype);
    tall_grad(g, ef_sub(b, ef_const_number(b, a->fact.dtype, 1), one), tall);
    wide_grad(g, one, wide);
    for (int k = 0; k < 2; k++) g->din[k] = ef_select(b, is_tall, tall[k], wide[k]);
}

static ef_status *ls_grad(ef_grad *g) {
    if (!((const ls_attrs *)g->attrs)->fast)
        return ef_error(EF_UNIMPLEMENTED, "%s: Gradient not defined for fast=False", g->op->name);
    switch (ef_form_of(g->in[0])) {
    case EF_SQUARE:
    case EF_TALL: tall_grad(g, NULL, g->din); break;
    case EF_WIDE: wide_grad(g, NULL, g->din); break;
    default: either_grad(g);
    }
    return NULL;
}

const ef_op ef_op_MatrixSolveLs = {
    EF_NAMED(MatrixSolveLs),
    .doc = "The x that minimises the squared norm of `matrix` x - `rhs` plus `l2_regularizer` "
           "times that of x; if there are several, the shortest. `fast` uses the normal equations.",
    .in = {"matrix: T", "rhs: T", "l2_regularizer: double"},
    .out = {"output: T"},
    .types = "T: " EF_MATRIX_TYPES,
    .attr = {EF_ATTR(ls_attrs, fast, "bool", "true")},
    .attr_size = sizeof(ls_attrs),
    .traits = EF_HEAVY,
    .no_grad_in = 1u << 2,
    .shape = ls_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, ls_run, ls_scratch, NULL, NULL, NULL}},
    .grad = ls_grad,
    .examples = {"double[4,2] double[4,3] double[]{0}", "double[2,2,3] double[2,2,1] double[]{0.5}",
                 "T[4,2] T[4,3] double[]{0.1} grad=no", "T[2,2,3] T[2,2,1] double[]{0.1} grad=no",
                 "T[4,2] T[4,3] double[]{0} fast=false grad=no",
                 "T[2,3] T[2,2] double[]{0} fast=false grad=no",
                 "float[2,0] float[2,3] double[]{0} grad=no",
                 "float[0,2] float[0,3] double[]{0} fast=false grad=no"},
};
