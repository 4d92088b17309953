/* Eigenvalues and eigenvectors of batches of square matrices. */
#include "kernels/linalg.h"
#include "ops/linalg/linalg.h"
#include "ops/shapes.h"

typedef struct {
    bool compute_v;
} eigh_attrs;
typedef struct {
    bool compute_v;
    ef_dtype Tout;
} eig_attrs;

/* Both attribute structs begin with the same field. */
static bool wants_vectors(const void *attrs) { return ((const eigh_attrs *)attrs)->compute_v; }

static ef_status *eigen_shape(ef_infer *i) {
    ef_shape batch;
    int64_t n;
    EF_TRY(ef_need_square(i, 0, &batch, &n));
    i->out[0].shape = ef_batch_of(&batch, 1, &n);
    i->out[1].shape = wants_vectors(i->attrs) ? ef_batch_of(&batch, 2, (int64_t[]){n, n})
                                              : (ef_shape){.rank = 1, .dim = {0}};
    return NULL;
}

static double work_of(const ef_call *c) {
    double n = (double)ef_cols(c->in[0]);
    return 10 * n * n * n;
}

/* Element k of out[1], or NULL if no vectors are computed. */
static void *vectors_at(const ef_call *c, int64_t k) {
    int64_t n = ef_cols(c->in[0]);
    return wants_vectors(c->attrs) ? ef_piece(c->out[1], k, n * n) : NULL;
}

/* 1 / (e[j] - e[i]) with a diagonal of zeros; equal eigenvalues give 0 too. */
static ef_value *inverse_gaps(ef_build *b, ef_value *e) {
    ef_value *gap = ef_sub(b, ef_expand(b, e, -2), ef_expand(b, e, -1));
    ef_value *square = ef_shift(b, ef_mul(b, gap, gap), 1e-20);
    ef_value *f = ef_mul(b, gap, ef_emit(b, "Reciprocal", 1, square));
    return ef_set_diag(b, f, ef_zeros_like(b, e));
}

/* ---- SelfAdjointEigV2 -------------------------------------------------------------------------
 */

static size_t eigh_room(const ef_call *c) {
    return ef_eigh_scratch((ef_dtype)c->in[0]->dtype, (int)ef_cols(c->in[0]),
                           wants_vectors(c->attrs));
}

static size_t eigh_scratch(const ef_call *c) {
    if (!ef_fits_lapack(c)) return 0;
    return ef_each_scratch(ef_matrices(c->in[0]), work_of(c), eigh_room(c));
}

static int eigh_one(const ef_call *c, int64_t k, void *room) {
    int64_t n = ef_cols(c->in[0]);
    return !ef_eigh((ef_dtype)c->in[0]->dtype, (int)n, ef_piece(c->in[0], k, n * n),
                    ef_piece(c->out[0], k, n), vectors_at(c, k), room);
}

static ef_status *eigh_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    if (ef_each_matrix(c, ef_matrices(c->in[0]), work_of(c), eigh_room(c), eigh_one))
        return ef_error(EF_INVALID,
                        "%s: Self-adjoint eigen decomposition was not successful. The input might "
                        "not be valid.",
                        c->op->name);
    return NULL;
}

/* Only the lower triangle is read, so only it gets a gradient. */
static ef_status *eigh_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *v = g->out[1], *inner = ef_diag(b, ef_dout(g, 0));
    if (wants_vectors(g->attrs)) {
        ef_value *turn = ef_product(b, v, ef_dout(g, 1), true, false);
        inner = ef_add(b, inner, ef_mul(b, inverse_gaps(b, g->out[0]), turn));
    } else {
        ef_value *in[] = {g->in[0]}, *ev[2];
        if (ef_emit_many(b, "SelfAdjointEigV2", NULL, 0, in, 1, ev, 2) != 2) return NULL;
        v = ev[1];
    }
    ef_value *da = ef_product(b, v, ef_product(b, inner, v, false, true), false, false);
    da = ef_band(b, ef_add(b, da, ef_adjoint(b, da)), -1, 0);
    g->din[0] = ef_set_diag(b, da, ef_scale(b, ef_diag_part(b, da), 0.5));
    return NULL;
}

const ef_op ef_op_SelfAdjointEigV2 = {
    EF_NAMED(SelfAdjointEigV2),
    .doc = "Eigenvalues of self-adjoint matrices in ascending order, and optionally the "
           "eigenvectors as columns of `v`; only the lower triangles are read.",
    .in = {"input: T"},
    .out = {"e: T", "v: T"},
    .types = "T: " EF_MATRIX_TYPES,
    .attr = {EF_ATTR(eigh_attrs, compute_v, "bool", "true")},
    .attr_size = sizeof(eigh_attrs),
    .traits = EF_HEAVY,
    .shape = eigen_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, eigh_run, eigh_scratch, NULL, NULL, NULL}},
    .grad = eigh_grad,
    .examples = {"double[3,3]", "float[2,2,2]", "T[2,3,3] grad=no", "double[2,4,4] compute_v=false",
                 "T[2,0,0]"},
};

/* ---- Eig --------------------------------------------------------------------------------------
 */

static ef_status *eig_shape(ef_infer *i) {
    ef_dtype t = i->in[0].dtype, out = i->out[0].dtype;
    ef_dtype want = t == EF_F32 || t == EF_C64 ? EF_C64 : EF_C128;
    if (out != want)
        return ef_error(EF_INVALID, "%s: Tout is %s, but the eigenvalues of %s matrices are %s",
                        i->op->name, ef_dtype_name(out), ef_dtype_name(t), ef_dtype_name(want));
    return eigen_shape(i);
}

static size_t eig_room(const ef_call *c) {
    return ef_eig_scratch((ef_dtype)c->in[0]->dtype, (int)ef_cols(c->in[0]),
                          wants_vectors(c->attrs));
}

static size_t eig_scratch(const ef_call *c) {
    if (!ef_fits_lapack(c)) return 0;
    return ef_each_scratch(ef_matrices(c->in[0]), work_of(c), eig_room(c));
}

static int eig_one(const ef_call *c, int64_t k, void *room) {
    int64_t n = ef_cols(c->in[0]);
    return !ef_eig((ef_dtype)c->in[0]->dtype, (int)n, ef_piece(c->in[0], k, n * n),
                   ef_piece(c->out[0], k, n), vectors_at(c, k), room);
}

static ef_status *eig_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    if (ef_each_matrix(c, ef_matrices(c->in[0]), work_of(c), eig_room(c), eig_one))
        return ef_error(EF_INVALID,
                        "%s: Eigen decomposition was not successful. The input might not be valid.",
                        c->op->name);
    return NULL;
}

static ef_status *eig_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *v = g->out[1], *inner = ef_diag(b, ef_dout(g, 0));
    if (wants_vectors(g->attrs)) {
        ef_value *f = ef_conj(b, inverse_gaps(b, g->out[0]));
        ef_value *turn = ef_product(b, v, ef_dout(g, 1), true, false);
        ef_dtype real = g->out[0]->fact.dtype == EF_C64 ? EF_F32 : EF_F64;
        /* The length of an eigenvector is fixed. */
        ef_value *along = ef_cast(b, ef_diag_part(b, turn), real);
        along = ef_diag(b, ef_cast(b, along, g->out[0]->fact.dtype));
        ef_value *fixed = ef_product(b, ef_product(b, v, v, true, false), along, false, false);
        inner = ef_add(b, inner, ef_mul(b, f, ef_sub(b, turn, fixed)));
    } else {
        const ef_attr_value set[] = {EF_SET_TYPE("Tout", g->out[0]->fact.dtype)};
        ef_value *in[] = {g->in[0]}, *ev[2];
        if (ef_emit_many(b, "Eig", set, 1, in, 1, ev, 2) != 2) return NULL;
        v = ev[1];
    }
    ef_value *vh = ef_adjoint(b, v);
    ef_value *da = ef_emit(b, "MatrixSolve", 2, vh, ef_product(b, inner, vh, false, false));
    g->din[0] = ef_cast(b, da, g->in[0]->fact.dtype);
    return NULL;
}

const ef_op ef_op_Eig = {
    EF_NAMED(Eig),
    .doc =
        "Eigenvalues of square matrices, in no particular order, and optionally the eigenvectors "
        "as columns of `v`; both are complex.",
    .in = {"input: T"},
    .out = {"e: Tout", "v: Tout"},
    .types = "T: {float, double, complex64, complex128}",
    .attr = {EF_ATTR(eig_attrs, compute_v, "bool", "true"),
             EF_ATTR(eig_attrs, Tout, "{complex64, complex128}", NULL)},
    .attr_size = sizeof(eig_attrs),
    .traits = EF_HEAVY,
    .shape = eig_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, eig_run, eig_scratch, NULL, NULL, NULL}},
    .grad = eig_grad,
    .examples = {"double[3,3]{4,1,2,1,3,1,1,2,9} Tout=complex128",
                 "double[2,3,3] compute_v=false Tout=complex128",
                 "complex128[3,3] compute_v=false Tout=complex128",
                 "complex64[2,3,3] Tout=complex64 grad=no",
                 "float[2,2]{0,1,-1,0} Tout=complex64 "
                 "grad=no",
                 "float[2,0,0] Tout=complex64"},
};
