/* Factorizations of one matrix at a time, by LAPACK and BLAS. Matrices are dense and row-major
 * unless a comment says otherwise; dtypes are float, double and the complex ones. Sizes of zero are
 * allowed. `scratch` has the size that the function's *_scratch returns and is 64-byte aligned. No
 * function here allocates memory. */
#ifndef EF_KERNELS_LINALG_H
#define EF_KERNELS_LINALG_H
#include "tensor/dtype.h"
#include <string.h>

/* out (n x m) = a (m x n) transposed, and conjugated if `conj`; they do not overlap. */
void ef_transpose_matrix(ef_dtype t, int m, int n, const void *a, bool conj, void *out);
/* Sets n elements to NaN. */
void ef_fill_nan(ef_dtype t, int64_t n, void *a);
/* Whether all n elements are finite. */
bool ef_all_finite(ef_dtype t, int64_t n, const void *a);

/* ---- LU with row exchanges, and its uses ----------------------------------------------------- */

/* Factors n x n matrix a, or its adjoint. `lu`: the factors, stored by columns. pivot[i]: the row
 * (counted from 1) that was exchanged with row i. False if a pivot is zero or NaN. */
bool ef_lu(ef_dtype t, int n, const void *a, bool adjoint, void *lu, int *pivot);
/* x (n x k): on entry the right-hand sides, on return the solutions. */
void ef_lu_solve(ef_dtype t, int n, int k, const void *lu, const int *pivot, void *x);
void ef_lu_det(ef_dtype t, int n, const void *lu, const int *pivot, void *det);
/* det = sign * exp(log); both are elements of t. */
void ef_lu_log_det(ef_dtype t, int n, const void *lu, const int *pivot, void *sign, void *log);

/* ---- triangular matrices --------------------------------------------------------------------- */

/* a: only the lower triangle is read; it becomes L of a = L L^H, and the rest becomes 0. Returns
 * false, with NaN in the triangle, if a is not positive definite. */
bool ef_cholesky(ef_dtype t, int n, void *a);
/* x (n x k): on entry the right-hand sides, on return the solutions of a x = b, or a^H x = b. */
void ef_triangular_solve(ef_dtype t, int n, int k, const void *a, bool lower, bool adjoint,
                         void *x);

/* ---- orthogonal factors ---- */

/* a (m x n) = q r. `full`: q is m x m and r m x n; else q is m x k and r k x n, k = min(m, n). */
size_t ef_qr_scratch(ef_dtype t, int m, int n, bool full);
void ef_qr(ef_dtype t, int m, int n, const void *a, bool full, void *q, void *r, void *scratch);
/* a (m x n) = u diag(s) v^H; s has min(m, n) elements of t, in descending order. u and v NULL: only
 * s. All results are NaN if a is not finite. */
size_t ef_svd_scratch(ef_dtype t, int m, int n, bool vectors, bool full);
void ef_svd(ef_dtype t, int m, int n, const void *a, bool full, void *s, void *u, void *v,
            void *scratch);
/* For self-adjoint a, of which only the lower triangle is read. The eigenvalues ascend and are
 * elements of t; eigenvectors are the columns of v, which may be NULL. Returns false if they were
 * not found. */
size_t ef_eigh_scratch(ef_dtype t, int n, bool vectors);
bool ef_eigh(ef_dtype t, int n, const void *a, void *e, void *v, void *scratch);
/* For any square a of type t; e and v have its complex type. Eigenvalues of a complex matrix ascend
 * in absolute value. */
size_t ef_eig_scratch(ef_dtype t, int n, bool vectors);
bool ef_eig(ef_dtype t, int n, const void *a, void *e, void *v, void *scratch);
/* The x (n x k) of least norm among those that minimise the norm of a x - b (m x k). */
size_t ef_least_squares_scratch(ef_dtype t, int m, int n, int k);
bool ef_least_squares(ef_dtype t, int m, int n, int k, const void *a, const void *b, void *x,
                      void *scratch);

/* ---- functions of matrices ---- */

/* The principal square root; NaN if there is none in t. */
size_t ef_matrix_sqrt_scratch(ef_dtype t, int n);
void ef_matrix_sqrt(ef_dtype t, int n, const void *a, void *out, void *scratch);
/* The principal logarithm, complex types only; NaN if there is none. */
size_t ef_matrix_log_scratch(ef_dtype t, int n);
void ef_matrix_log(ef_dtype t, int n, const void *a, void *out, void *scratch);

/* The exponential; NaN if a is not finite. */
size_t ef_matrix_exp_scratch(ef_dtype t, int n);
void ef_matrix_exp(ef_dtype t, int n, const void *a, void *out, void *scratch);

/* ---- banded matrices ------------------------------------------------------------------------- */

/* `bands` rows of n: lower, the main diagonal first and then those below it, where row k holds a[j,
 * j-k] at j; upper, the main diagonal last, a[j, j+k] at j. Returns false, with x unchanged, if an
 * element of the main diagonal is zero or NaN. */
bool ef_banded_solve(ef_dtype t, int n, int bands, int k, const void *a, bool lower, bool adjoint,
                     void *x);
/* Three rows of n: above, on and below the diagonal; element j belongs to row j of the matrix.
 * Scratch: 4n elements. Solutions are NaN if a pivot is zero; `perturb` makes tiny pivots slightly
 * larger instead. */
void ef_tridiagonal_solve(ef_dtype t, int n, int k, const void *diagonals, bool pivoting,
                          bool perturb, void *x, void *scratch);

/* memset and memcpy that accept the NULL of an empty matrix. */
static inline void ef_zero(void *to, size_t bytes) {
    if (bytes > 0) memset(to, 0, bytes);
}
static inline void ef_copy(void *to, const void *from, size_t bytes) {
    if (bytes > 0) memcpy(to, from, bytes);
}
#endif
