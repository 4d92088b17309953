/* Triangular matrices: Cholesky factors, and systems of equations with a triangular matrix. */
#include "kernels/gemm.h"
#include "kernels/linalg.h"
#include "ops/linalg/linalg.h"
#include "ops/shapes.h"

static double cube(const ef_call *c) {
    double n = (double)ef_cols(c->in[0]);
    return n * n * n;
}

/* ---- Cholesky ---------------------------------------------------------------------------------
 */

static int cholesky_one(const ef_call *c, int64_t k, void *room) {
    int n = (int)ef_cols(c->in[0]);
    ef_dtype t = (ef_dtype)c->in[0]->dtype;
    int64_t each = (int64_t)n * n;
    void *out = ef_piece(c->out[0], k, each);
    (void)room;
    if (c->out[0]->data != c->in[0]->data)
        ef_copy(out, ef_piece(c->in[0], k, each), (size_t)each * ef_dtype_size(t));
    ef_cholesky(t, n, out); /* a matrix that is not positive definite gets a factor of NaN */
    return 0;
}

static ef_status *cholesky_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    ef_each_matrix(c, ef_matrices(c->in[0]), cube(c) / 3, 0, cholesky_one);
    return NULL;
}

/* With M the lower triangle of L^H dL, its diagonal halved, and S = L^-H M L^-1: the gradient is (S
 * + S^H) / 2. Triangular systems are solved instead of computing the inverses. */
static ef_status *cholesky_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *l = g->out[0], *m = ef_product(b, l, g->dout[0], true, false);
    m = ef_set_diag(b, m, ef_scale(b, ef_diag_part(b, m), 0.5));
    m = ef_solve_triangle(b, l, ef_band(b, m, -1, 0), true, true);
    ef_value *s = ef_solve_triangle(b, l, ef_adjoint(b, m), true, true);
    g->din[0] = ef_scale(b, ef_add(b, ef_adjoint(b, s), s), 0.5);
    return NULL;
}

const ef_op ef_op_Cholesky = {
    EF_NAMED(Cholesky),
    .doc = "The lower triangular L with L L^H = `input`, for positive definite matrices, of which "
           "only the lower triangle is read; NaN for others.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: " EF_MATRIX_TYPES,
    .traits = EF_HEAVY | EF_MAY_ALIAS_0,
    .keeps = EF_KEEP_OUT(0),
    .shape = ef_shape_square,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, cholesky_run, NULL, NULL, NULL, NULL}},
    .grad = cholesky_grad,
    .examples = {"T[1,1]{4}", "T[2,2]{4,2,2,5} grad=no",
                 "T[2,3,3]{4,2,1,2,5,3,1,3,6,7,1,2,1,8,3,2,3,9} grad=no", "T[2,0,0]"},
};

static size_t cholesky_grad_room(const ef_call *c) {
    int64_t n = ef_cols(c->in[0]);
    return 3 * ef_scratch_size((ef_dtype)c->in[0]->dtype, n * n);
}

static size_t cholesky_grad_scratch(const ef_call *c) {
    return ef_each_scratch(ef_matrices(c->in[0]), cube(c), cholesky_grad_room(c));
}

static void lower_of(ef_dtype t, int n, const void *a, void *out) {
    size_t size = ef_dtype_size(t), row = (size_t)n * size;
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)i * row, kept = (size_t)(i + 1) * size;
        ef_copy((char *)out + at, (const char *)a + at, kept);
        ef_zero((char *)out + at + kept, row - kept);
    }
}

static int cholesky_grad_one(const ef_call *c, int64_t k, void *room) {
    int n = (int)ef_cols(c->in[0]);
    ef_dtype t = (ef_dtype)c->in[0]->dtype;
    int64_t each = (int64_t)n * n;
    void *l = room, *d = (char *)l + ef_scratch_size(t, each),
         *m = (char *)d + ef_scratch_size(t, each);
    void *out = ef_piece(c->out[0], k, each);
    if (n == 0) return 0;
    lower_of(t, n, ef_piece(c->in[0], k, each), l);
    lower_of(t, n, ef_piece(c->in[1], k, each), d);
    ef_gemm_args product = ef_gemm_dense(t, EF_GEMM_T, EF_GEMM_N, n, n, n, l, d, out);
    ef_gemm(&product);
    lower_of(t, n, out, m);
    for (int i = 0; i < n; i++) {
        int64_t at = (int64_t)i * n + i;
        ef_element_set(t, m, at, 0.5 * ef_element_double(t, m, at));
    }
    ef_triangular_solve(t, n, n, l, true, true, m);
    ef_transpose_matrix(t, n, n, m, false, d);
    ef_triangular_solve(t, n, n, l, true, true, d);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            ef_element_set(t, out, (int64_t)i * n + j,
                           0.5 * (ef_element_double(t, d, (int64_t)i * n + j) +
                                  ef_element_double(t, d, (int64_t)j * n + i)));
    return 0;
}

static ef_status *cholesky_grad_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    ef_each_matrix(c, ef_matrices(c->in[0]), cube(c), cholesky_grad_room(c), cholesky_grad_one);
    return NULL;
}

static ef_status *cholesky_grad_shape(ef_infer *i) {
    EF_TRY(ef_need_square(i, 0, NULL, NULL));
    return ef_shape_merge_all(i);
}

const ef_op ef_op_CholeskyGrad = {
    EF_NAMED(CholeskyGrad),
    .doc = "Gradient of Cholesky: of its input, given the output `l` and its gradient `grad`; a "
           "symmetric matrix. Only lower triangles are read.",
    .in = {"l: T", "grad: T"},
    .out = {"output: T"},
    .types = "T: {float, double}",
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .shape = cholesky_grad_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, cholesky_grad_run, cholesky_grad_scratch, NULL, NULL,
                NULL}},
    .examples = {"T[2,2]{2,0,1,2} T[2,2]", "T[2,3,3] T[2,3,3]", "float[0,2,2] float[0,2,2]"},
};

/* ---- MatrixTriangularSolve --------------------------------------------------------------------
 */

typedef struct {
    bool lower, adjoint;
} triangle_attrs;

static ef_status *triangle_shape(ef_infer *i) {
    ef_shape a, b, batch;
    int64_t n, k;
    EF_TRY(ef_need_system(i, &a, &b, &n, &k));
    if (!ef_shape_broadcast2(&a, &b, &batch))
        return ef_error(EF_INVALID,
                        "%s: matrix is %s and rhs is %s, but their leading axes must broadcast",
                        i->op->name, EF_SHAPE(&i->in[0].shape), EF_SHAPE(&i->in[1].shape));
    i->out[0].shape = ef_batch_of(&batch, 2, (int64_t[]){n, k});
    return NULL;
}

static int triangle_one(const ef_call *c, int64_t k, void *room) {
    const triangle_attrs *t = c->attrs;
    int n = (int)ef_cols(c->in[0]), m = (int)ef_cols(c->in[1]);
    ef_dtype type = (ef_dtype)c->in[0]->dtype;
    int64_t a = ef_broadcast_piece(c->in[0], c->out[0], k);
    int64_t b = ef_broadcast_piece(c->in[1], c->out[0], k), each = (int64_t)n * m;
    void *x = ef_piece(c->out[0], k, each);
    (void)room;
    ef_copy(x, ef_piece(c->in[1], b, each), (size_t)each * ef_dtype_size(type));
    ef_triangular_solve(type, n, m, ef_piece(c->in[0], a, (int64_t)n * n), t->lower, t->adjoint, x);
    return 0;
}

static ef_status *triangle_run(const ef_call *c) {
    double n = (double)ef_cols(c->in[0]);
    EF_TRY(ef_need_lapack_sizes(c));
    ef_each_matrix(c, ef_matrices(c->out[0]), n * n * (double)ef_cols(c->in[1]) / 2, 0,
                   triangle_one);
    return NULL;
}

static ef_status *triangle_grad(ef_grad *g) {
    const triangle_attrs *t = g->attrs;
    ef_build *b = g->b;
    ef_value *x = g->out[0];
    ef_value *db = ef_solve_triangle(b, g->in[0], g->dout[0], t->lower, !t->adjoint);
    ef_value *da =
        t->adjoint ? ef_product(b, x, db, false, true) : ef_product(b, db, x, false, true);
    da = ef_band(b, ef_neg(b, da), t->lower ? -1 : 0, t->lower ? 0 : -1);
    g->din[0] = ef_sum_like(b, da, g->in[0]);
    g->din[1] = ef_sum_like(b, db, g->in[1]);
    return NULL;
}

const ef_op ef_op_MatrixTriangularSolve = {
    EF_NAMED(MatrixTriangularSolve),
    .doc = "Solves `matrix` x = `rhs`, or with the adjoint of `matrix`, of which only one triangle "
           "is read; leading axes broadcast.",
    .in = {"matrix: T", "rhs: T"},
    .out = {"output: T"},
    .types = "T: " EF_MATRIX_TYPES,
    .attr = {EF_ATTR(triangle_attrs, lower, "bool", "true"),
             EF_ATTR(triangle_attrs, adjoint, "bool", "false")},
    .attr_size = sizeof(triangle_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_OUT(0),
    .shape = triangle_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, triangle_run, NULL, NULL, NULL, NULL}},
    .grad = triangle_grad,
    .examples = {"T[2,2]{2,5,1,3} T[2,3]", "T[2,2]{2,1,5,3} T[2,2,1] lower=false",
                 "T[2,2,2]{2,1,1,3,1,7,2,4} T[1,2,2] adjoint=true",
                 "T[2,2]{2,1,5,3} T[2,1] lower=false adjoint=true", "T[2,0,0] T[0,3]"},
};
