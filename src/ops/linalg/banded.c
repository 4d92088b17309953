/* Systems and products whose matrix is banded, that is, has few diagonals. */
#include "kernels/linalg.h"
#include "ops/array/array.h"
#include "ops/linalg/linalg.h"
#include "ops/shapes.h"

/* ---- BandedTriangularSolve --------------------------------------------------------------------
 */

typedef struct {
    bool lower, adjoint;
} band_attrs;

static ef_status *band_shape(ef_infer *i) {
    ef_shape a, b, batch;
    int64_t bands, n, rows, k;
    EF_TRY(ef_need_matrix(i, 0, &a, &bands, &n));
    EF_TRY(ef_need_matrix(i, 1, &b, &rows, &k));
    if (bands == 0)
        return ef_error(EF_INVALID, "%s: matrix is %s; there must be at least one band",
                        i->op->name, EF_SHAPE(&i->in[0].shape));
    if (!ef_dim_may_equal(n, rows) || !ef_shape_broadcast2(&a, &b, &batch))
        return ef_error(EF_INVALID,
                        "%s: matrix is %s and rhs is %s: Input matrix and rhs are incompatible, "
                        "the bands must be as long as rhs has rows and leading axes must broadcast",
                        i->op->name, EF_SHAPE(&i->in[0].shape), EF_SHAPE(&i->in[1].shape));
    i->out[0].shape = ef_batch_of(&batch, 2, (int64_t[]){ef_dim_known(n) ? n : rows, k});
    return NULL;
}

static int band_one(const ef_call *c, int64_t i, void *room) {
    const band_attrs *t = c->attrs;
    int64_t bands = ef_rows(c->in[0]), n = ef_cols(c->in[0]), k = ef_cols(c->in[1]);
    ef_dtype type = (ef_dtype)c->in[0]->dtype;
    int64_t a = ef_broadcast_piece(c->in[0], c->out[0], i);
    int64_t b = ef_broadcast_piece(c->in[1], c->out[0], i);
    void *x = ef_piece(c->out[0], i, n * k);
    (void)room;
    ef_copy(x, ef_piece(c->in[1], b, n * k), (size_t)(n * k) * ef_dtype_size(type));
    return !ef_banded_solve(type, (int)n, (int)bands, (int)k, ef_piece(c->in[0], a, bands * n),
                            t->lower, t->adjoint, x);
}

static ef_status *band_run(const ef_call *c) {
    double work = (double)ef_count(c->in[0]) * (double)ef_cols(c->in[1]);
    EF_TRY(ef_need_lapack_sizes(c));
    if (ef_each_matrix(c, ef_matrices(c->out[0]), work, 0, band_one))
        return ef_error(EF_INVALID, "%s: Input matrix is not invertible.", c->op->name);
    return NULL;
}

static ef_status *band_grad(ef_grad *g) {
    const band_attrs *t = g->attrs;
    ef_build *b = g->b;
    const ef_attr_value set[] = {EF_SET_BOOL("lower", t->lower),
                                 EF_SET_BOOL("adjoint", !t->adjoint)};
    const ef_attr_value align[] = {EF_SET_STRING("align", "LEFT_RIGHT")};
    ef_value *x = g->out[0], *a = g->in[0];
    ef_value *db = ef_emit_set(b, "BandedTriangularSolve", set, 2, 2, a, g->dout[0]);
    ef_value *da =
        t->adjoint ? ef_product(b, x, db, false, true) : ef_product(b, db, x, false, true);
    /* Extract as many diagonals as there are bands; their number is a's last but one size. */
    const ef_attr_value pick[] = {EF_SET_INT("shrink_axis_mask", 1)};
    ef_value *from = ef_const_ints(b, EF_I32, 1, (int64_t[]){-2});
    ef_value *to = ef_const_ints(b, EF_I32, 1, (int64_t[]){-1});
    ef_value *step = ef_const_ints(b, EF_I32, 1, (int64_t[]){1});
    ef_value *bands =
        ef_emit_set(b, "StridedSlice", pick, 1, 4, ef_shape_value(b, a, EF_I32), from, to, step);
    ef_value *off = ef_shift(b, bands, -1), *zero = ef_const_number(b, EF_I32, 0);
    ef_value *k = ef_emit(b, "Pack", 2, t->lower ? ef_neg(b, off) : zero, t->lower ? zero : off);
    da = ef_emit_set(b, "MatrixDiagPartV3", align, 1, 3, ef_neg(b, da), k,
                     ef_const_number(b, a->fact.dtype, 0));
    /* MatrixDiagPartV3 drops the axis of a single diagonal. The batch's shape and a's sizes restore
     * it. */
    const ef_attr_value front[] = {EF_SET_INT("begin_mask", 1)};
    const ef_attr_value back[] = {EF_SET_INT("end_mask", 1)};
    ef_value *batch = ef_emit_set(b, "StridedSlice", front, 1, 4, ef_shape_value(b, db, EF_I32),
                                  from, from, step);
    ef_value *sizes =
        ef_emit_set(b, "StridedSlice", back, 1, 4, ef_shape_value(b, a, EF_I32), from, from, step);
    da = ef_reshape(b, da, ef_emit(b, "ConcatV2", 3, batch, sizes, zero));
    g->din[0] = ef_sum_like(b, da, a);
    g->din[1] = ef_sum_like(b, db, g->in[1]);
    return NULL;
}

const ef_op ef_op_BandedTriangularSolve = {
    EF_NAMED(BandedTriangularSolve),
    .doc =
        "Solves systems with a banded triangular matrix, whose diagonals are the rows of "
        "`matrix`: the main diagonal first and those below it if `lower`, else the main diagonal "
        "last.",
    .in = {"matrix: T", "rhs: T"},
    .out = {"output: T"},
    .types = "T: " EF_MATRIX_TYPES,
    .attr = {EF_ATTR(band_attrs, lower, "bool", "true"),
             EF_ATTR(band_attrs, adjoint, "bool", "false")},
    .attr_size = sizeof(band_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_OUT(0),
    .shape = band_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, band_run, NULL, NULL, NULL, NULL}},
    .grad = band_grad,
    .examples = {"T[2,3]{2,3,4,9,1,5} T[3,2]", "T[2,3]{1,5,9,2,3,4} T[2,3,1] lower=false",
                 "T[2,3]{2,3,4,9,1,5} T[3,2] adjoint=true",
                 "T[2,3]{1,5,9,2,3,4} T[1,3,2] lower=false adjoint=true",
                 "double[1,3]{2,3,4} double[3,2]", "float[1,0] float[0,3]"},
};

/* ---- TridiagonalSolve -------------------------------------------------------------------------
 */

typedef struct {
    bool partial_pivoting, perturb_singular;
} tri_attrs;

static ef_status *tri_shape(ef_infer *i) {
    ef_shape a, b, batch;
    int64_t three, n, rows, k;
    EF_TRY(ef_need_matrix(i, 0, &a, &three, &n));
    EF_TRY(ef_need_matrix(i, 1, &b, &rows, &k));
    if (!ef_dim_may_equal(three, 3))
        return ef_error(EF_INVALID, "%s: diagonals is %s; its last but one size must be 3",
                        i->op->name, EF_SHAPE(&i->in[0].shape));
    if (!ef_dim_may_equal(n, rows) || !ef_shape_may_equal(&a, &b))
        return ef_error(EF_INVALID,
                        "%s: diagonals is %s and rhs is %s: Expected the same number of left-hand "
                        "sides and right-hand sides, and the same leading axes",
                        i->op->name, EF_SHAPE(&i->in[0].shape), EF_SHAPE(&i->in[1].shape));
    EF_TRY(ef_shape_merge(&a, &b, &batch));
    i->out[0].shape = ef_batch_of(&batch, 2, (int64_t[]){ef_dim_known(n) ? n : rows, k});
    return NULL;
}

static size_t tri_room(const ef_call *c) {
    return ef_scratch_size((ef_dtype)c->in[0]->dtype, 4 * ef_cols(c->in[0]));
}

static double tri_work(const ef_call *c) {
    return 5 * (double)ef_cols(c->in[0]) * (double)(ef_cols(c->in[1]) + 1);
}

static size_t tri_scratch(const ef_call *c) {
    return ef_each_scratch(ef_matrices(c->in[0]), tri_work(c), tri_room(c));
}

static int tri_one(const ef_call *c, int64_t i, void *room) {
    const tri_attrs *a = c->attrs;
    int64_t n = ef_cols(c->in[0]), k = ef_cols(c->in[1]);
    ef_dtype t = (ef_dtype)c->in[0]->dtype;
    void *x = ef_piece(c->out[0], i, n * k);
    ef_copy(x, ef_piece(c->in[1], i, n * k), (size_t)(n * k) * ef_dtype_size(t));
    ef_tridiagonal_solve(t, (int)n, (int)k, ef_piece(c->in[0], i, 3 * n), a->partial_pivoting,
                         a->perturb_singular, x, room);
    return 0;
}

static ef_status *tri_run(const ef_call *c) {
    EF_TRY(ef_need_lapack_sizes(c));
    ef_each_matrix(c, ef_matrices(c->in[0]), tri_work(c), tri_room(c), tri_one);
    return NULL;
}

/* Positions [from, to) of the last axis, or of the one before it; to = 0: to its end. */
static ef_value *part(ef_build *b, ef_value *x, bool rows, int64_t from, int64_t to) {
    int mask = (to == 0 ? 2 : 0) | 4;
    const ef_attr_value set[] = {EF_SET_INT("ellipsis_mask", 1), EF_SET_INT("begin_mask", 4),
                                 EF_SET_INT("end_mask", mask)};
    int n = rows ? 3 : 2;
    return ef_emit_set(b, "StridedSlice", set, 3, 4, x,
                       ef_const_ints(b, EF_I32, n, (int64_t[]){0, from, 0}),
                       ef_const_ints(b, EF_I32, n, (int64_t[]){0, to, 0}),
                       ef_const_ints(b, EF_I32, n, (int64_t[]){1, 1, 1}));
}

/* x shifted by one along the last axis or the one before it; a zero is inserted at the end (up) or
 * at the beginning. */
static ef_value *shifted(ef_build *b, ef_value *x, bool rows, bool up) {
    ef_value *zero = ef_zeros_like(b, part(b, x, rows, 0, 1));
    ef_value *rest = up ? part(b, x, rows, 1, 0) : part(b, x, rows, 0, -1);
    return ef_emit(b, "ConcatV2", 3, up ? rest : zero, up ? zero : rest,
                   ef_const_number(b, EF_I32, rows ? -2 : -1));
}

/* Row k of the diagonals as [..., n]. */
static ef_value *row_of(ef_build *b, ef_value *diagonals, int k) {
    return ef_emit(b, "GatherV2", 3, diagonals, ef_const_number(b, EF_I32, k),
                   ef_const_number(b, EF_I32, -2));
}

static ef_value *stack_rows(ef_build *b, ef_value *above, ef_value *main, ef_value *below) {
    const ef_attr_value set[] = {EF_SET_INT("axis", -2)};
    return ef_emit_set(b, "Pack", set, 1, 3, above, main, below);
}

static ef_value *sum_last(ef_build *b, ef_value *x) {
    return ef_sum(b, x, 1, (int64_t[]){-1}, false);
}

static ef_status *tri_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *d = g->in[0], *x = g->out[0];
    ef_value *turned = stack_rows(b, shifted(b, row_of(b, d, 2), false, true), row_of(b, d, 1),
                                  shifted(b, row_of(b, d, 0), false, false));
    ef_value *db = ef_emit_like(g, "TridiagonalSolve", NULL, 0, 2, turned, g->dout[0]);
    ef_value *dd = stack_rows(b, sum_last(b, ef_mul(b, db, shifted(b, x, true, true))),
                              sum_last(b, ef_mul(b, db, x)),
                              sum_last(b, ef_mul(b, db, shifted(b, x, true, false))));
    g->din[0] = ef_neg(b, dd);
    g->din[1] = db;
    return NULL;
}

const ef_op ef_op_TridiagonalSolve = {
    EF_NAMED(TridiagonalSolve),
    .doc = "Solves systems whose matrix is tridiagonal. The rows of `diagonals` are above the "
           "main diagonal (last element unused), on it, and below it (first element unused).",
    .in = {"diagonals: T", "rhs: T"},
    .out = {"output: T"},
    .types = "T: " EF_MATRIX_TYPES,
    .attr = {EF_ATTR(tri_attrs, partial_pivoting, "bool", "true"),
             EF_ATTR(tri_attrs, perturb_singular, "bool", "false")},
    .attr_size = sizeof(tri_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_OUT(0),
    .shape = tri_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, tri_run, tri_scratch, NULL, NULL, NULL}},
    .grad = tri_grad,
    .examples = {"double[3,4]{1,2,3,9,4,5,6,7,9,1,2,1} double[4,2]",
                 "float[2,3,2]{1,9,1,5,9,8,1,9,4,5,9,2} float[2,2,1] partial_pivoting=false",
                 "T[3,4]{1,2,3,9,0,5,1,7,9,1,2,1} T[4,2] grad=no", "T[3,1]{9,2,9} T[1,2] grad=no",
                 "float[3,0] float[0,2] grad=no"},
};

/* ---- TridiagonalMatMul ------------------------------------------------------------------------
 */

static ef_status *tri_product_shape(ef_infer *i) {
    ef_shape batch;
    int64_t n;
    EF_TRY(ef_need_matrix(i, 3, &batch, &n, NULL));
    for (int k = 0; k < 3; k++) {
        ef_shape own;
        int64_t one, length;
        EF_TRY(ef_need_matrix(i, k, &own, &one, &length));
        if (!ef_dim_may_equal(one, 1) || !ef_dim_may_equal(length, n) ||
            !ef_shape_may_equal(&own, &batch))
            return ef_error(
                EF_INVALID,
                "%s: input %d is %s and rhs is %s; a diagonal must be [..., 1, n] where "
                "rhs is [..., n, k]",
                i->op->name, k, EF_SHAPE(&i->in[k].shape), EF_SHAPE(&i->in[3].shape));
    }
    i->out[0].shape = i->in[3].shape;
    return NULL;
}

#define PRODUCT(SUF, T)                                                                 \
    static void product_##SUF(const ef_call *c, int64_t at) {                           \
        int64_t n = ef_rows(c->in[3]), k = ef_cols(c->in[3]);                           \
        const T *above = ef_piece(c->in[0], at, n), *main = ef_piece(c->in[1], at, n);  \
        const T *below = ef_piece(c->in[2], at, n), *x = ef_piece(c->in[3], at, n * k); \
        T *y = ef_piece(c->out[0], at, n * k);                                          \
        for (int64_t i = 0; i < n; i++, x += k, y += k)                                 \
            for (int64_t j = 0; j < k; j++) {                                           \
                T sum = main[i] * x[j];                                                 \
                if (i + 1 < n) sum += above[i] * x[j + k];                              \
                if (i > 0) sum += below[i] * x[j - k];                                  \
                y[j] = sum;                                                             \
            }                                                                           \
    }
PRODUCT(F32, float)
PRODUCT(F64, double)
PRODUCT(C64, ef_c64)
PRODUCT(C128, ef_c128)

static int tri_product_one(const ef_call *c, int64_t i, void *room) {
    (void)room;
    switch (c->in[3]->dtype) {
    case EF_F32: product_F32(c, i); break;
    case EF_F64: product_F64(c, i); break;
    case EF_C64: product_C64(c, i); break;
    default: product_C128(c, i);
    }
    return 0;
}

static ef_status *tri_product_run(const ef_call *c) {
    double work = 3 * (double)ef_rows(c->in[3]) * (double)ef_cols(c->in[3]);
    ef_each_matrix(c, ef_matrices(c->in[3]), work, 0, tri_product_one);
    return NULL;
}

static ef_status *tri_product_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *dy = g->dout[0], *x = ef_conj(b, g->in[3]);
    ef_value *seen[3] = {shifted(b, x, true, true), x, shifted(b, x, true, false)};
    ef_value *back[3];
    for (int k = 0; k < 3; k++) {
        g->din[k] = ef_expand(b, sum_last(b, ef_mul(b, seen[k], dy)), -2);
        back[k] = ef_mul(b, ef_adjoint(b, g->in[k]), dy);
    }
    ef_value *outer = ef_add(b, shifted(b, back[0], true, false), shifted(b, back[2], true, true));
    g->din[3] = ef_add(b, outer, back[1]);
    return NULL;
}

const ef_op ef_op_TridiagonalMatMul = {
    EF_NAMED(TridiagonalMatMul),
    .doc = "Multiplies tridiagonal matrices by `rhs`. The last element of `superdiag` and the "
           "first of `subdiag` are unused.",
    .in = {"superdiag: T", "maindiag: T", "subdiag: T", "rhs: T"},
    .out = {"output: T"},
    .types = "T: " EF_MATRIX_TYPES,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2) | EF_KEEP_IN(3),
    .shape = tri_product_shape,
    .kernel = {{EF_CPU, EF_MATRIX_DTYPES, tri_product_run, NULL, NULL, NULL, NULL}},
    .grad = tri_product_grad,
    .examples = {"T[1,4] T[1,4] T[1,4] T[4,2]", "T[2,1,3] T[2,1,3] T[2,1,3] T[2,3,1]",
                 "T[1,1] T[1,1] T[1,1] T[1,2]", "float[1,0] float[1,0] float[1,0] float[0,2]"},
};
