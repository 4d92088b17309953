/* What the ops on batches of matrices share: shapes whose last two axes are a matrix, a loop over
 * the matrices of a batch, and helpers for gradients. */
#ifndef EF_OPS_LINALG_H
#define EF_OPS_LINALG_H
#include "ops/build.h"

/* ---- shapes ---- */

/* Checks that input k is a batch of matrices. *batch: its leading axes (unknown rank if that is
 * unknown); *rows and *cols: the sizes of a matrix as far as known. Any may be NULL. */
ef_status *ef_need_matrix(const ef_infer *i, int k, ef_shape *batch, int64_t *rows, int64_t *cols);
/* The same for square matrices: *n is the better known of the two sizes. */
ef_status *ef_need_square(const ef_infer *i, int k, ef_shape *batch, int64_t *n);
/* Checks that inputs 0 and 1 are systems a x = b: batches of square matrices a and of matrices b
 * with as many rows, n, and k columns. */
ef_status *ef_need_system(const ef_infer *i, ef_shape *a, ef_shape *b, int64_t *n, int64_t *k);
/* Appends the n axes `dims` of a matrix to those of a batch. */
ef_shape ef_batch_of(const ef_shape *batch, int n, const int64_t *dims);
ef_shape_fn ef_shape_square; /* out 0 like in 0, a batch of square matrices */

/* ---- running ---- */

static inline int64_t ef_rows(const ef_tensor *t) { return t->dim[t->rank - 2]; }
static inline int64_t ef_cols(const ef_tensor *t) { return t->dim[t->rank - 1]; }
/* The number of matrices in t, also if they have no elements. */
int64_t ef_matrices(const ef_tensor *t);
/* The k-th piece of `each` elements of t. */
static inline void *ef_piece(const ef_tensor *t, int64_t k, int64_t each) {
    return (char *)t->data + (size_t)(k * each) * ef_dtype_size((ef_dtype)t->dtype);
}
static inline size_t ef_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }
static inline size_t ef_scratch_size(ef_dtype t, int64_t n) {
    return ef_lines((size_t)n * ef_dtype_size(t));
}
/* LAPACK sizes are ints: whether the sides of all input matrices fit, and the error if not. */
bool ef_fits_lapack(const ef_call *c);
ef_status *ef_need_lapack_sizes(const ef_call *c);

/* Processes matrix k of a batch with scratch memory `room`; nonzero: it failed. */
typedef int ef_matrix_fn(const ef_call *c, int64_t k, void *room);
/* Calls fn for each of `count` matrices, several in parallel if they are small. `work`:
 * multiplications for one matrix; `room`: bytes of scratch for one. Returns the first nonzero
 * result, or 0. */
int ef_each_matrix(const ef_call *c, int64_t count, double work, size_t room, ef_matrix_fn *fn);
/* Scratch that ef_each_matrix needs: the kernel's scratch function returns it. */
size_t ef_each_scratch(int64_t count, double work, size_t room);
/* In a batch that broadcasts to out's: the matrix of t that belongs to the k-th of out. */
int64_t ef_broadcast_piece(const ef_tensor *t, const ef_tensor *out, int64_t k);

/* ---- helpers for gradients ------------------------------------------------------------------- */

/* The product of x and y, each optionally as its adjoint; leading axes broadcast. */
ef_value *ef_product(ef_build *b, ef_value *x, ef_value *y, bool adj_x, bool adj_y);
ef_value *ef_matrix_transpose(ef_build *b, ef_value *x); /* any rank, also an unknown one */
ef_value *ef_adjoint(ef_build *b, ef_value *x);
ef_value *ef_expand(ef_build *b, ef_value *x, int axis); /* ExpandDims */
ef_value *ef_band(ef_build *b, ef_value *x, int lower, int upper);
ef_value *ef_diag(ef_build *b, ef_value *x);      /* matrices with diagonals x */
ef_value *ef_diag_part(ef_build *b, ef_value *x); /* the diagonals of x */
ef_value *ef_set_diag(ef_build *b, ef_value *x, ef_value *diagonal);
ef_value *ef_solve_triangle(ef_build *b, ef_value *a, ef_value *rhs, bool lower, bool adjoint);
/* The number of rows (axis -2) or columns (axis -1) of x, as a vector of one int32. */
ef_value *ef_size_value(ef_build *b, ef_value *x, int axis);
/* Columns [from, to) of matrices; from and to are vectors of one int32; NULL: from the first, or to
 * the last. */
ef_value *ef_columns(ef_build *b, ef_value *x, ef_value *from, ef_value *to);
/* Whether there are more rows than columns, as far as it is known. */
typedef enum ef_form { EF_FORM_UNKNOWN, EF_SQUARE, EF_TALL, EF_WIDE } ef_form;
ef_form ef_form_of(const ef_value *matrix);

#define EF_MATRIX_TYPES "{double, float, complex64, complex128}"
enum { EF_MATRIX_DTYPES = EF_BIT(F32) | EF_BIT(F64) | EF_BIT(C64) | EF_BIT(C128) };
#endif
