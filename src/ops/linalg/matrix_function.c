/* Functions of square matrices: square root, logarithm and exponential. */
#include "kernels/linalg.h"
#include "ops/linalg/linalg.h"
#include "ops/shapes.h"

static double work_of(const ef_call *c) {
    double n = (double)ef_cols(c->in[0]);
    return 20 * n * n * n;
}

/* Both functions work in the same scratch memory. */
static size_t function_room(const ef_call *c) {
    return ef_matrix_sqrt_scratch((ef_dtype)c->in[0]->dtype, (int)ef_cols(c->in[0]));
}

static size_t function_scratch(const ef_call *c) {
    if (!ef_fits_lapack(c)) return 0;
    return ef_each_scratch(ef_matrices(c->in[0]), work_of(c), function_room(c));
}

static int sqrt_one(const ef_call *c, int64_t k, void *room) {
    int64_t n = ef_cols(c->in[0]);
    ef_matrix_sqrt((ef_dtype)c->in[0]->dtype, (int)n, ef_piece(c->in[0], k, n * n),
                   ef_piece(c->out[0], k, n * n), room);
    return 0;
}

static int log_one(const ef_call *c, int64_t k, void *room) {
    int64_t n = ef_cols(c->in[0]);
    ef_matrix_log((ef_dtype)c->in[0]->dtype, (int)n, ef_piece(c->in[0], k, n * n),
                  ef_piece(c->out[0], k, n * n), room);
    return 0;
}

static ef_status *sqrt_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    ef_each_matrix(c, ef_matrices(c->in[0]), work_of(c), function_room(c), sqrt_one);
    return NULL;
}

static ef_status *log_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    ef_each_matrix(c, ef_matrices(c->in[0]), work_of(c), function_room(c), log_one);
    return NULL;
}

/* The Kronecker product of square matrices of one size n, given and returned as [batch, ...]. */
static ef_value *kronecker(ef_build *b, ef_value *x, ef_value *y, ef_value *shape) {
    ef_value *rows = ef_expand(b, ef_expand(b, x, -1), -3);
    ef_value *cols = ef_expand(b, ef_expand(b, y, -2), -4);
    return ef_reshape(b, ef_mul(b, rows, cols), shape);
}

/* R dR + dR R = dA is one linear system in the n * n elements of dR. Batches are flattened, so that
 * the rank may be unknown. */
static ef_status *sqrt_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *r = g->out[0], *shape = ef_shape_value(b, r, EF_I32);
    const ef_attr_value set[] = {EF_SET_INT("end_mask", 1)};
    ef_value *one = ef_const_ints(b, EF_I32, 1, (int64_t[]){1});
    ef_value *last = ef_const_ints(b, EF_I32, 1, (int64_t[]){-1});
    ef_value *zero = ef_const_number(b, EF_I32, 0);
    ef_value *n = ef_emit_set(b, "StridedSlice", set, 1, 4, shape, last, last, one);
    ef_value *nn = ef_mul(b, n, n);
    ef_value *system = ef_emit(b, "ConcatV2", 4, last, nn, nn, zero);
    ef_value *column = ef_emit(b, "ConcatV2", 4, last, nn, one, zero);
    ef_value *flat = ef_reshape(b, r, ef_emit(b, "ConcatV2", 4, last, n, n, zero));
    ef_value *eye = ef_diag(b, ef_ones_like(b, ef_diag_part(b, flat)));
    ef_value *sum = ef_add(b, kronecker(b, eye, ef_matrix_transpose(b, flat), system),
                           kronecker(b, flat, eye, system));
    ef_value *dy = ef_reshape(b, ef_matrix_transpose(b, g->dout[0]), column);
    ef_value *x = ef_emit(b, "MatrixSolve", 2, sum, dy);
    g->din[0] = ef_matrix_transpose(b, ef_reshape(b, x, shape));
    return NULL;
}

const ef_op ef_op_MatrixSquareRoot = {
    EF_NAMED(MatrixSquareRoot),
    .doc = "The principal square roots of square matrices: the product of a root with itself is "
           "the matrix. NaN where there is none.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: " EF_MATRIX_TYPES,
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_OUT(0),
    .shape = ef_shape_square,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, sqrt_run, function_scratch, NULL, NULL, NULL}},
    .grad = sqrt_grad,
    .examples = {"float[2,2]{4,1,2,3}", "double[2,2,2]{4,1,2,3,5,-1,1,2}",
                 "T[2,2]{4,1,2,3} grad=no", "complex128[2,2]{4+1j,1,2,3-2j} grad=no",
                 "T[2,0,0] grad=no"},
};

const ef_op ef_op_MatrixLogarithm = {
    EF_NAMED(MatrixLogarithm),
    .doc = "The principal logarithms of square complex matrices; NaN where there is none.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: {complex64, complex128}",
    .traits = EF_HEAVY | EF_GRAD_UNDEFINED,
    .shape = ef_shape_square,
    .kernel = {{EF_CPU, EF_COMPLEX, log_run, function_scratch, NULL, NULL, NULL}},
    .examples = {"T[2,2]{4+1j,1,2,3-2j}", "T[2,3,3]", "T[2,0,0]"},
};

/* ---- MatrixExponential ------------------------------------------------------------------------
 */

static size_t exp_room(const ef_call *c) {
    return ef_matrix_exp_scratch((ef_dtype)c->in[0]->dtype, (int)ef_cols(c->in[0]));
}

static size_t exp_scratch(const ef_call *c) {
    if (!ef_fits_lapack(c)) return 0;
    return ef_each_scratch(ef_matrices(c->in[0]), work_of(c), exp_room(c));
}

static int exp_one(const ef_call *c, int64_t k, void *room) {
    int64_t n = ef_cols(c->in[0]);
    ef_matrix_exp((ef_dtype)c->in[0]->dtype, (int)n, ef_piece(c->in[0], k, n * n),
                  ef_piece(c->out[0], k, n * n), room);
    return 0;
}

static ef_status *exp_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    ef_each_matrix(c, ef_matrices(c->in[0]), work_of(c), exp_room(c), exp_one);
    return NULL;
}

/* The derivative in a direction E is the upper right block of exp [[A, E], [0, A]]; the gradient is
 * the derivative of A^H in the direction of dy. */
static ef_status *exp_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *a = ef_adjoint(b, g->in[0]), *dy = g->dout[0];
    ef_value *down = ef_const_number(b, EF_I32, -2), *right = ef_const_number(b, EF_I32, -1);
    ef_value *top = ef_emit(b, "ConcatV2", 3, a, dy, right);
    ef_value *bottom = ef_emit(b, "ConcatV2", 3, ef_zeros_like(b, a), a, right);
    ef_value *both = ef_emit(b, "ConcatV2", 3, top, bottom, down);
    ef_value *e = ef_emit(b, "MatrixExponential", 1, both);
    const ef_attr_value halves[] = {EF_SET_INT("num_split", 2)};
    ef_value *in[] = {down, e}, *rows[2], *cols[2];
    if (ef_emit_many(b, "Split", halves, 1, in, 2, rows, 2) != 2) return NULL;
    in[0] = right;
    in[1] = rows[0];
    if (ef_emit_many(b, "Split", halves, 1, in, 2, cols, 2) != 2) return NULL;
    g->din[0] = cols[1];
    return NULL;
}

const ef_op ef_op_MatrixExponential = {
    EF_NAMED(MatrixExponential),
    .doc = "The exponentials of square matrices, 1 + A + A A / 2 + ...; NaN where an element is "
           "not finite.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: " EF_MATRIX_TYPES,
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0),
    .shape = ef_shape_square,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, exp_run, exp_scratch, NULL, NULL, NULL}},
    .grad = exp_grad,
    .examples = {"T[3,3]", "T[2,2,2]", "double[2,2]{9,3,-20,5}", "T[2,0,0]"},
};
