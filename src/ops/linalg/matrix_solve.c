/* Square matrices and their LU factors: inverses, determinants, systems of linear equations. */
#include "kernels/half.h"
#include "kernels/linalg.h"
#include "ops/linalg/linalg.h"
#include "ops/shapes.h"

typedef struct {
    bool adjoint;
} adjoint_attrs;

static double cube(const ef_call *c) {
    double n = (double)ef_cols(c->in[0]);
    return n * n * n;
}

/* Scratch for one matrix: the factors and the pivots. */
static size_t factors_room(const ef_call *c) {
    int64_t n = ef_cols(c->in[0]);
    ef_dtype t = (ef_dtype)c->in[0]->dtype;
    return ef_scratch_size(t, n * n) + ef_lines((size_t)n * sizeof(int));
}

static size_t factors_scratch(const ef_call *c) {
    return ef_each_scratch(ef_matrices(c->in[0]), cube(c), factors_room(c));
}

static int *pivots_in(void *room, ef_dtype t, int64_t n) {
    return (int *)((char *)room + ef_scratch_size(t, n * n));
}

static ef_status *for_each(const ef_call *c, ef_matrix_fn *fn, const char *problem) {
    EF_TRY(ef_need_lapack_sizes(c));
    if (ef_each_matrix(c, ef_matrices(c->in[0]), cube(c), factors_room(c), fn))
        return ef_error(EF_INVALID, "%s: %s", c->op->name, problem);
    return NULL;
}

/* ---- MatrixInverse ----------------------------------------------------------------------------
 */

static void identity(ef_dtype t, int n, void *x) {
    ef_zero(x, (size_t)n * (size_t)n * ef_dtype_size(t));
    for (int i = 0; i < n; i++) ef_element_set(t, x, (int64_t)i * n + i, 1);
}

static int invert(ef_dtype t, int n, const void *a, bool adjoint, void *out, void *room) {
    int *pivot = pivots_in(room, t, n);
    if (!ef_lu(t, n, a, adjoint, room, pivot)) return 1;
    identity(t, n, out);
    ef_lu_solve(t, n, n, room, pivot, out);
    return 0;
}

static int inverse_one(const ef_call *c, int64_t k, void *room) {
    int n = (int)ef_cols(c->in[0]);
    ef_dtype t = (ef_dtype)c->in[0]->dtype;
    bool adjoint = ((const adjoint_attrs *)c->attrs)->adjoint;
    int64_t each = (int64_t)n * n;
    const void *a = ef_piece(c->in[0], k, each);
    void *out = ef_piece(c->out[0], k, each);
    if (!ef_is_half(t)) return invert(t, n, a, adjoint, out, room);
    float *wide = room, *result = (float *)((char *)room + ef_scratch_size(EF_F32, each));
    ef_widen(t, wide, a, each);
    int failed =
        invert(EF_F32, n, wide, adjoint, result, (char *)room + 2 * ef_scratch_size(EF_F32, each));
    ef_narrow(t, out, result, each);
    return failed;
}

/* Halves are converted to floats: scratch for these is added. */
static size_t inverse_room(const ef_call *c) {
    int64_t n = ef_cols(c->in[0]);
    if (!ef_is_half((ef_dtype)c->in[0]->dtype)) return factors_room(c);
    return 3 * ef_scratch_size(EF_F32, n * n) + ef_lines((size_t)n * sizeof(int));
}

static size_t inverse_scratch(const ef_call *c) {
    return ef_each_scratch(ef_matrices(c->in[0]), cube(c), inverse_room(c));
}

static ef_status *inverse_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    if (ef_each_matrix(c, ef_matrices(c->in[0]), cube(c), inverse_room(c), inverse_one))
        return ef_error(EF_INVALID, "%s: Input is not invertible.", c->op->name);
    return NULL;
}

static ef_status *inverse_grad(ef_grad *g) {
    bool adjoint = ((const adjoint_attrs *)g->attrs)->adjoint;
    ef_value *y = g->out[0];
    ef_value *right = ef_product(g->b, g->dout[0], y, adjoint, !adjoint);
    g->din[0] = ef_neg(g->b, ef_product(g->b, y, right, !adjoint, false));
    return NULL;
}

const ef_op ef_op_MatrixInverse = {
    EF_NAMED(MatrixInverse),
    .doc = "The inverses of square matrices, or of their adjoints.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: {double, float, half, complex64, complex128}",
    .attr = {EF_ATTR(adjoint_attrs, adjoint, "bool", "false")},
    .attr_size = sizeof(adjoint_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_OUT(0),
    .shape = ef_shape_square,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES | EF_BIT(F16), inverse_run, inverse_scratch, NULL, NULL,
                NULL}},
    .grad = inverse_grad,
    .examples = {"T[2,2]{4,1,2,3}", "double[2,3,3] adjoint=true",
                 "complex128[2,2]{2+1j,1,0-1j,3} adjoint=true", "T[2,0,0]"},
};

/* ---- determinants -----------------------------------------------------------------------------
 */

static ef_status *determinant_shape(ef_infer *i) {
    ef_shape batch;
    EF_TRY(ef_need_square(i, 0, &batch, NULL));
    for (int k = 0; k < i->n_out; k++) i->out[k].shape = batch;
    return NULL;
}

static int determinant_one(const ef_call *c, int64_t k, void *room) {
    int n = (int)ef_cols(c->in[0]);
    ef_dtype t = (ef_dtype)c->in[0]->dtype;
    int *pivot = pivots_in(room, t, n);
    ef_lu(t, n, ef_piece(c->in[0], k, (int64_t)n * n), false, room, pivot);
    if (c->n_out == 1)
        ef_lu_det(t, n, room, pivot, ef_piece(c->out[0], k, 1));
    else
        ef_lu_log_det(t, n, room, pivot, ef_piece(c->out[0], k, 1), ef_piece(c->out[1], k, 1));
    return 0;
}

static ef_status *determinant_run(const ef_call *c) {
    return for_each(c, determinant_one, "cannot be factored");
}

/* The inverse of each matrix's adjoint, times one number. */
static ef_value *times_inverse(ef_grad *g, ef_value *factor) {
    const ef_attr_value set[] = {EF_SET_BOOL("adjoint", true)};
    ef_value *inverse = ef_emit_set(g->b, "MatrixInverse", set, 1, 1, g->in[0]);
    return ef_mul(g->b, ef_expand(g->b, ef_expand(g->b, factor, -1), -1), inverse);
}

static ef_status *determinant_grad(ef_grad *g) {
    g->din[0] = times_inverse(g, ef_mul(g->b, g->dout[0], g->out[0]));
    return NULL;
}

const ef_op ef_op_MatrixDeterminant = {
    EF_NAMED(MatrixDeterminant),
    .doc = "The determinants of square matrices.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: {float, double, complex64, complex128}",
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(0),
    .shape = determinant_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, determinant_run, factors_scratch, NULL, NULL, NULL}},
    .grad = determinant_grad,
    .examples = {"float[3,3]", "double[2,2,2,2]", "T[2,3,3] grad=no", "T[3,0,0]"},
};

static ef_status *log_determinant_grad(ef_grad *g) {
    if (g->dout[1]) g->din[0] = times_inverse(g, g->dout[1]);
    return NULL;
}

const ef_op ef_op_LogMatrixDeterminant = {
    EF_NAMED(LogMatrixDeterminant),
    .doc = "The signs of the determinants of square matrices, and the logarithms of their "
           "absolute values.",
    .in = {"input: T"},
    .out = {"sign: T", "log_abs_determinant: T"},
    .types = "T: {float, double, complex64, complex128}",
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0),
    .shape = determinant_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, determinant_run, factors_scratch, NULL, NULL, NULL}},
    .grad = log_determinant_grad,
    .examples = {"float[3,3]", "double[2,2,2]", "T[2,3,3] grad=no", "T[2,0,0]"},
};

/* ---- MatrixSolve ------------------------------------------------------------------------------
 */

/* Systems a x = b for a batch of square a; the batches must be equal. */
static ef_status *solve_shape(ef_infer *i) {
    ef_shape a, b, batch;
    int64_t n, k;
    EF_TRY(ef_need_system(i, &a, &b, &n, &k));
    if (!ef_shape_may_equal(&a, &b))
        return ef_error(EF_INVALID,
                        "%s: matrix is %s and rhs is %s, but their leading axes must "
                        "be the same",
                        i->op->name, EF_SHAPE(&i->in[0].shape), EF_SHAPE(&i->in[1].shape));
    EF_TRY(ef_shape_merge(&a, &b, &batch));
    i->out[0].shape = ef_batch_of(&batch, 2, (int64_t[]){n, k});
    return NULL;
}

static int solve_one(const ef_call *c, int64_t k, void *room) {
    int n = (int)ef_cols(c->in[0]), m = (int)ef_cols(c->in[1]);
    ef_dtype t = (ef_dtype)c->in[0]->dtype;
    int *pivot = pivots_in(room, t, n);
    void *x = ef_piece(c->out[0], k, (int64_t)n * m);
    if (n == 0 || m == 0) return 0;
    if (!ef_lu(t, n, ef_piece(c->in[0], k, (int64_t)n * n),
               ((const adjoint_attrs *)c->attrs)->adjoint, room, pivot))
        return 1;
    ef_copy(x, ef_piece(c->in[1], k, (int64_t)n * m), (size_t)n * (size_t)m * ef_dtype_size(t));
    ef_lu_solve(t, n, m, room, pivot, x);
    return 0;
}

static ef_status *solve_run(const ef_call *c) {
    return for_each(c, solve_one, "Input matrix is not invertible.");
}

static ef_status *solve_grad(ef_grad *g) {
    bool adjoint = ((const adjoint_attrs *)g->attrs)->adjoint;
    const ef_attr_value set[] = {EF_SET_BOOL("adjoint", !adjoint)};
    ef_value *x = g->out[0];
    ef_value *db = ef_emit_set(g->b, "MatrixSolve", set, 1, 2, g->in[0], g->dout[0]);
    g->din[0] = ef_neg(g->b, adjoint ? ef_product(g->b, x, db, false, true)
                                     : ef_product(g->b, db, x, false, true));
    g->din[1] = db;
    return NULL;
}

const ef_op ef_op_MatrixSolve = {
    EF_NAMED(MatrixSolve),
    .doc = "Solves `matrix` x = `rhs`, or with the adjoint of `matrix`, for each matrix of a "
           "batch.",
    .in = {"matrix: T", "rhs: T"},
    .out = {"output: T"},
    .types = "T: " EF_MATRIX_TYPES,
    .attr = {EF_ATTR(adjoint_attrs, adjoint, "bool", "false")},
    .attr_size = sizeof(adjoint_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(0),
    .shape = solve_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, solve_run, factors_scratch, NULL, NULL, NULL}},
    .grad = solve_grad,
    .examples = {"T[3,3] T[3,2]",
                 "T[2,3,3]{4,1,1,1,3,1,2,1,5,3,1,1,2,4,2,1,1,6} T[2,3,1] adjoint=true",
                 "T[2,2,2] T[2,2,0]", "T[2,0,0] T[2,0,3]"},
};

/* ---- Lu ---------------------------------------------------------------------------------------
 */

typedef struct {
    ef_dtype output_idx_type;
} lu_attrs;

static ef_status *lu_shape(ef_infer *i) {
    ef_shape batch;
    int64_t n;
    EF_TRY(ef_need_square(i, 0, &batch, &n));
    i->out[0].shape = ef_batch_of(&batch, 2, (int64_t[]){n, n});
    i->out[1].shape = ef_batch_of(&batch, 1, &n);
    return NULL;
}

static int lu_one(const ef_call *c, int64_t k, void *room) {
    int n = (int)ef_cols(c->in[0]);
    ef_dtype t = (ef_dtype)c->in[0]->dtype, idx = (ef_dtype)c->out[1]->dtype;
    int *pivot = pivots_in(room, t, n);
    void *p = ef_piece(c->out[1], k, n);
    bool sound = ef_lu(t, n, ef_piece(c->in[0], k, (int64_t)n * n), false, room, pivot);
    ef_transpose_matrix(t, n, n, room, false, ef_piece(c->out[0], k, (int64_t)n * n));
    for (int i = 0; i < n; i++) ef_element_set(idx, p, i, i);
    for (int i = 0; i < n; i++) { /* applying the row exchanges in order gives the permutation */
        int64_t here = ef_element_int(idx, p, i), there = ef_element_int(idx, p, pivot[i] - 1);
        ef_element_set(idx, p, i, (double)there);
        ef_element_set(idx, p, pivot[i] - 1, (double)here);
    }
    return !sound;
}

static ef_status *lu_run(const ef_call *c) {
    return for_each(c, lu_one, "Input is not invertible.");
}

const ef_op ef_op_Lu = {
    EF_NAMED(Lu),
    .doc = "The triangular factors L (with ones on its diagonal) and U of square matrices, packed "
           "into one, and the permutation `p` of rows for which input[p] = L U.",
    .in = {"input: T"},
    .out = {"lu: T", "p: output_idx_type"},
    .types = "T: " EF_MATRIX_TYPES,
    .attr = {EF_ATTR(lu_attrs, output_idx_type, "{int32, int64}", "int32")},
    .attr_size = sizeof(lu_attrs),
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .shape = lu_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, lu_run, factors_scratch, NULL, NULL, NULL}},
    .examples = {"T[3,3]", "double[2,4,4] output_idx_type=int64", "float[2,0,0]"},
};
