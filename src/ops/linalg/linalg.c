/* Shapes, loops and gradient helpers for the ops on batches of matrices; see linalg.h. */
#include "ops/linalg/linalg.h"
#include "base/pool.h"
#include "ops/array/array.h"
#include "ops/shapes.h"
#include <limits.h>
#include <stdatomic.h>

/* ---- shapes -----------------------------------------------------------------------------------
 */

ef_status *ef_need_matrix(const ef_infer *i, int k, ef_shape *batch, int64_t *rows, int64_t *cols) {
    const ef_shape *s = &i->in[k].shape;
    EF_TRY(ef_need_rank_at_least(i, k, 2));
    bool known = s->rank >= 2;
    if (rows) *rows = known ? s->dim[s->rank - 2] : EF_DIM_UNKNOWN;
    if (cols) *cols = known ? s->dim[s->rank - 1] : EF_DIM_UNKNOWN;
    if (batch) {
        *batch = *s;
        if (known) batch->rank -= 2;
    }
    return NULL;
}

ef_status *ef_need_square(const ef_infer *i, int k, ef_shape *batch, int64_t *n) {
    int64_t rows, cols;
    EF_TRY(ef_need_matrix(i, k, batch, &rows, &cols));
    if (!ef_dim_may_equal(rows, cols))
        return ef_error(EF_INVALID,
                        "%s: input %d is %s, but its last two sizes must be equal: Input matrix "
                        "must be square.",
                        i->op->name, k, EF_SHAPE(&i->in[k].shape));
    if (n) *n = ef_dim_known(rows) || cols == EF_DIM_UNKNOWN ? rows : cols;
    return NULL;
}

ef_status *ef_need_system(const ef_infer *i, ef_shape *a, ef_shape *b, int64_t *n, int64_t *k) {
    int64_t rows;
    EF_TRY(ef_need_square(i, 0, a, n));
    EF_TRY(ef_need_matrix(i, 1, b, &rows, k));
    if (!ef_dim_may_equal(*n, rows))
        return ef_error(EF_INVALID,
                        "%s: matrix is %s and rhs is %s: Input matrix and rhs are incompatible, "
                        "they must have the same number of rows",
                        i->op->name, EF_SHAPE(&i->in[0].shape), EF_SHAPE(&i->in[1].shape));
    if (!ef_dim_known(*n)) *n = rows;
    return NULL;
}

ef_shape ef_batch_of(const ef_shape *batch, int n, const int64_t *dims) {
    ef_shape s = *batch;
    if (s.rank < 0) return s;
    for (int d = 0; d < n; d++) s.dim[s.rank++] = dims[d];
    return s;
}

ef_status *ef_shape_square(ef_infer *i) {
    ef_shape batch;
    int64_t n;
    EF_TRY(ef_need_square(i, 0, &batch, &n));
    i->out[0].shape = ef_batch_of(&batch, 2, (int64_t[]){n, n});
    return NULL;
}

/* ---- running ----------------------------------------------------------------------------------
 */

int64_t ef_matrices(const ef_tensor *t) {
    int64_t n = 1;
    for (int d = 0; d < t->rank - 2; d++) n *= t->dim[d];
    return n;
}

/* The longest side of any input matrix. */
static int64_t longest_side(const ef_call *c) {
    int64_t most = 0;
    for (int k = 0; k < c->n_in; k++)
        for (int d = c->in[k]->rank - 2; d >= 0 && d < c->in[k]->rank; d++)
            if (c->in[k]->dim[d] > most) most = c->in[k]->dim[d];
    return most;
}

bool ef_fits_lapack(const ef_call *c) { return longest_side(c) <= INT_MAX; }

ef_status *ef_need_lapack_sizes(const ef_call *c) {
    if (ef_fits_lapack(c)) return NULL;
    return ef_error(EF_INVALID,
                    "%s: an input has matrices with a side of %lld, but the largest that can be "
                    "handled is %d",
                    c->op->name, (long long)longest_side(c), INT_MAX);
}

/* Batches run in at most this many parts, each with its own scratch memory. It is a constant,
 * because the number of threads may change between planning and running. */
enum { PARTS = 8 };
/* Matrices that take more work than this use all threads each, so they run one after the other. */
static const double worth_a_team = 4e6;

static int64_t parts_of(int64_t count, double work) {
    if (work > worth_a_team) return 1;
    return count < PARTS ? count : PARTS;
}

size_t ef_each_scratch(int64_t count, double work, size_t room) {
    return (size_t)parts_of(count, work) * ef_lines(room);
}

typedef struct {
    const ef_call *c;
    ef_matrix_fn *fn;
    int64_t count, parts;
    size_t room;
    atomic_int failed;
} each;

static void run_parts(void *arg, int64_t begin, int64_t end) {
    each *e = arg;
    for (int64_t p = begin; p < end; p++) {
        char *room = e->room ? (char *)e->c->scratch + (size_t)p * e->room : NULL;
        for (int64_t k = e->count * p / e->parts; k < e->count * (p + 1) / e->parts; k++) {
            int failed = e->fn(e->c, k, room);
            if (failed) atomic_store_explicit(&e->failed, failed, memory_order_relaxed);
        }
    }
}

int ef_each_matrix(const ef_call *c, int64_t count, double work, size_t room, ef_matrix_fn *fn) {
    if (count == 0) return 0;
    each e = {c, fn, count, parts_of(count, work), ef_lines(room), 0};
    int64_t most = (count + e.parts - 1) / e.parts; /* number of matrices in a part */
    double each_ns = (0.5 * work + 200) * (double)most;
    if (e.parts == 1)
        run_parts(&e, 0, 1);
    else
        ef_parallel(e.parts, 1, each_ns, run_parts, &e);
    return atomic_load_explicit(&e.failed, memory_order_relaxed);
}

int64_t ef_broadcast_piece(const ef_tensor *t, const ef_tensor *out, int64_t k) {
    int64_t at = 0, step = 1;
    for (int d = out->rank - 3, own = t->rank - 3; own >= 0; d--, own--) {
        int64_t place = k % out->dim[d];
        k /= out->dim[d];
        if (t->dim[own] != 1) at += place * step;
        step *= t->dim[own];
    }
    return at;
}

/* ---- helpers for gradients ------------------------------------------------------------------- */

ef_value *ef_product(ef_build *b, ef_value *x, ef_value *y, bool adj_x, bool adj_y) {
    const ef_attr_value set[] = {EF_SET_BOOL("adj_x", adj_x), EF_SET_BOOL("adj_y", adj_y)};
    return ef_emit_set(b, "BatchMatMulV2", set, 2, 2, x, y);
}

/* The permutation 0, 1, ..., rank - 3, rank - 1, rank - 2, for a rank known only at run time. */
static ef_value *swap_last_two(ef_build *b, ef_value *x) {
    ef_value *rank = ef_emit(b, "Rank", 1, x);
    ef_value *lead = ef_emit(b, "Range", 3, ef_const_number(b, EF_I32, 0), ef_shift(b, rank, -2),
                             ef_const_number(b, EF_I32, 1));
    ef_value *last = ef_add(b, rank, ef_const_ints(b, EF_I32, 2, (int64_t[]){-1, -2}));
    return ef_emit(b, "ConcatV2", 3, lead, last, ef_const_number(b, EF_I32, 0));
}

ef_value *ef_matrix_transpose(ef_build *b, ef_value *x) {
    if (!x) return NULL;
    int rank = x->fact.shape.rank;
    if (rank < 2) return ef_emit(b, "Transpose", 2, x, swap_last_two(b, x));
    int64_t perm[EF_MAX_RANK];
    for (int d = 0; d < rank; d++) perm[d] = d < rank - 2 ? d : 2 * rank - 3 - d;
    return ef_transpose(b, x, rank, perm);
}

ef_value *ef_adjoint(ef_build *b, ef_value *x) { return ef_conj(b, ef_matrix_transpose(b, x)); }

ef_value *ef_expand(ef_build *b, ef_value *x, int axis) {
    return ef_emit(b, "ExpandDims", 2, x, ef_const_number(b, EF_I32, axis));
}

ef_value *ef_band(ef_build *b, ef_value *x, int lower, int upper) {
    return ef_emit(b, "MatrixBandPart", 3, x, ef_const_number(b, EF_I64, lower),
                   ef_const_number(b, EF_I64, upper));
}

ef_value *ef_diag(ef_build *b, ef_value *x) { return ef_emit(b, "MatrixDiag", 1, x); }

ef_value *ef_diag_part(ef_build *b, ef_value *x) { return ef_emit(b, "MatrixDiagPart", 1, x); }

ef_value *ef_set_diag(ef_build *b, ef_value *x, ef_value *diagonal) {
    return ef_emit(b, "MatrixSetDiag", 2, x, diagonal);
}

ef_value *ef_solve_triangle(ef_build *b, ef_value *a, ef_value *rhs, bool lower, bool adjoint) {
    const ef_attr_value set[] = {EF_SET_BOOL("lower", lower), EF_SET_BOOL("adjoint", adjoint)};
    return ef_emit_set(b, "MatrixTriangularSolve", set, 2, 2, a, rhs);
}

ef_value *ef_size_value(ef_build *b, ef_value *x, int axis) {
    const ef_attr_value set[] = {EF_SET_INT("end_mask", axis == -1)};
    return ef_emit_set(b, "StridedSlice", set, 1, 4, ef_shape_value(b, x, EF_I32),
                       ef_const_ints(b, EF_I32, 1, (int64_t[]){axis}),
                       ef_const_ints(b, EF_I32, 1, (int64_t[]){axis + 1}),
                       ef_const_ints(b, EF_I32, 1, (int64_t[]){1}));
}

/* An index preceded by an ellipsis. */
static ef_value *behind_ellipsis(ef_build *b, ef_value *index) {
    ef_value *zero = ef_const_ints(b, EF_I32, 1, (int64_t[]){0});
    return ef_emit(b, "ConcatV2", 3, zero, index ? index : zero, ef_const_number(b, EF_I32, 0));
}

ef_value *ef_columns(ef_build *b, ef_value *x, ef_value *from, ef_value *to) {
    const ef_attr_value set[] = {EF_SET_INT("ellipsis_mask", 1),
                                 EF_SET_INT("begin_mask", from ? 0 : 2),
                                 EF_SET_INT("end_mask", to ? 0 : 2)};
    return ef_emit_set(b, "StridedSlice", set, 3, 4, x, behind_ellipsis(b, from),
                       behind_ellipsis(b, to), ef_const_ints(b, EF_I32, 2, (int64_t[]){1, 1}));
}

ef_form ef_form_of(const ef_value *matrix) {
    const ef_shape *s = &matrix->fact.shape;
    if (s->rank < 2) return EF_FORM_UNKNOWN;
    int64_t m = s->dim[s->rank - 2], n = s->dim[s->rank - 1];
    if (ef_dim_same(m, n)) return EF_SQUARE;
    if (!ef_dim_known(m) || !ef_dim_known(n)) return EF_FORM_UNKNOWN;
    return m > n ? EF_TALL : EF_WIDE;
}
