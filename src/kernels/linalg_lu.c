/* LU and Cholesky factors and triangular systems. To LAPACK, which uses column-major order, a
 * row-major matrix is its transpose: either that is what is needed, or the copy that a
 * factorization needs anyway transposes it. Rows are exchanged as in TensorFlow, so that the same
 * matrices count as singular. */
#include "base/pool.h"
#include "kernels/blas.h"
#include "kernels/conj.h"
#include "kernels/linalg.h"
#include <cblas.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>

static const float one_c64[2] = {1, 0}, minus_c64[2] = {-1, 0};
static const double one_c128[2] = {1, 0}, minus_c128[2] = {-1, 0};

/* Large matrices are factored a panel of columns at a time; the columns after it are divided among
 * threads. A system is solved for a range of its right-hand sides at a time. */
enum { PANEL = 128, COLUMNS = 64, LARGE = 384 };
static const double worth_cutting = 2e6; /* multiplications */

/* Columns [*from, *to) of piece k. */
static void columns_of(int64_t k, int n, int *from, int *to) {
    *from = (int)k * COLUMNS;
    *to = n - *from < COLUMNS ? n : *from + COLUMNS;
}
static int64_t pieces(int columns) { return columns / COLUMNS + (columns % COLUMNS != 0); }
#define SAME(x) (x)

#define T float
#define TYPE EF_F32
#define R float
#define P(x) x##_f32
#define LAPACK(x) LAPACKE_s##x
#define BLAS(x) cblas_s##x
#define ALPHA 1
#define MINUS -1
#define ABS fabsf
#define LOG logf
#define CONJ SAME
#define NAN_OF NAN
#define OVER(p) ((T)(p))
#define UNIT(d, size) (isinf(d) ? (T)((d) > 0 ? 1 : -1) : (d) / (size))
#define WIDE double
#define WIDE_ABS fabs
#include "kernels/linalg_lu.inc"

#define T double
#define TYPE EF_F64
#define R double
#define P(x) x##_f64
#define LAPACK(x) LAPACKE_d##x
#define BLAS(x) cblas_d##x
#define ALPHA 1
#define MINUS -1
#define ABS fabs
#define LOG log
#define CONJ SAME
#define NAN_OF NAN
#define OVER(p) ((T)(p))
#define UNIT(d, size) (isinf(d) ? (T)((d) > 0 ? 1 : -1) : (d) / (size))
#define WIDE double
#define WIDE_ABS fabs
#include "kernels/linalg_lu.inc"

#define T ef_c64
#define TYPE EF_C64
#define R float
#define P(x) x##_c64
#define LAPACK(x) LAPACKE_c##x
#define BLAS(x) cblas_c##x
#define ALPHA one_c64
#define MINUS minus_c64
#define ABS cabsf
#define LOG logf
#define CONJ conjf
#define NAN_OF CMPLXF(NAN, NAN)
#define OVER(p) NAN_OF
#define UNIT(d, size) ((d) / (size))
#define WIDE ef_c128
#define WIDE_ABS cabs
#include "kernels/linalg_lu.inc"

#define T ef_c128
#define TYPE EF_C128
#define R double
#define P(x) x##_c128
#define LAPACK(x) LAPACKE_z##x
#define BLAS(x) cblas_z##x
#define ALPHA one_c128
#define MINUS minus_c128
#define ABS cabs
#define LOG log
#define CONJ conj
#define NAN_OF CMPLX(NAN, NAN)
#define OVER(p) NAN_OF
#define UNIT(d, size) ((d) / (size))
#define WIDE ef_c128
#define WIDE_ABS cabs
#include "kernels/linalg_lu.inc"

/* Calls the function for this type; only these four types get here. */
#define PICK(name, ...)                      \
    (t == EF_F32   ? name##_f32(__VA_ARGS__) \
     : t == EF_F64 ? name##_f64(__VA_ARGS__) \
     : t == EF_C64 ? name##_c64(__VA_ARGS__) \
                   : name##_c128(__VA_ARGS__))

void ef_transpose_matrix(ef_dtype t, int m, int n, const void *a, bool conjugate, void *out) {
    PICK(transpose, m, n, a, conjugate, out);
}

void ef_fill_nan(ef_dtype t, int64_t n, void *a) { PICK(nan, n, a); }

bool ef_all_finite(ef_dtype t, int64_t n, const void *a) { return PICK(finite, n, a); }

bool ef_lu(ef_dtype t, int n, const void *a, bool adjoint, void *lu, int *pivot) {
    if (n == 0) return true;
    ef_blas_begin();
    return PICK(lu, n, a, adjoint, lu, pivot);
}

void ef_lu_solve(ef_dtype t, int n, int k, const void *lu, const int *pivot, void *x) {
    if (n == 0 || k == 0) return;
    ef_blas_begin();
    PICK(lu_solve, n, k, lu, pivot, x);
}

void ef_lu_det(ef_dtype t, int n, const void *lu, const int *pivot, void *det) {
    PICK(lu_det, n, lu, pivot, det);
}

void ef_lu_log_det(ef_dtype t, int n, const void *lu, const int *pivot, void *sign, void *log) {
    PICK(lu_log_det, n, lu, pivot, sign, log);
}

bool ef_cholesky(ef_dtype t, int n, void *a) {
    if (n == 0) return true;
    ef_blas_begin();
    return PICK(cholesky, n, a);
}

void ef_triangular_solve(ef_dtype t, int n, int k, const void *a, bool lower, bool adjoint,
                         void *x) {
    if (n == 0 || k == 0) return;
    ef_blas_begin();
    PICK(triangular, n, k, a, lower, adjoint, x);
}
