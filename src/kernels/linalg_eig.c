/* Orthogonal factors: QR, singular values, eigenvalues, least squares. Workspaces are in the
 * caller's scratch memory, in layouts that the function and its *_scratch share. */
#include "kernels/blas.h"
#include "kernels/linalg.h"
#include "kernels/linalg_scratch.h"
#include <float.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>

#define SAME(x) (x)

#define T float
#define R float
#define C ef_c64
#define TYPE EF_F32
#define P(x) x##_f32
#define LAPACK(x) LAPACKE_s##x
#define REAL SAME
#define ORGLQ LAPACKE_sorglq_work
#define SYEVD LAPACKE_ssyevd_work
#define IS_COMPLEX 0
#define EPSILON FLT_EPSILON
#include "kernels/linalg_eig.inc"

#define T double
#define R double
#define C ef_c128
#define TYPE EF_F64
#define P(x) x##_f64
#define LAPACK(x) LAPACKE_d##x
#define REAL SAME
#define ORGLQ LAPACKE_dorglq_work
#define SYEVD LAPACKE_dsyevd_work
#define IS_COMPLEX 0
#define EPSILON DBL_EPSILON
#include "kernels/linalg_eig.inc"

#define T ef_c64
#define R float
#define TYPE EF_C64
#define P(x) x##_c64
#define LAPACK(x) LAPACKE_c##x
#define REAL crealf
#define ABS cabsf
#define ORGLQ LAPACKE_cunglq_work
#define SYEVD LAPACKE_cheevd_work
#define IS_COMPLEX 1
#define EPSILON FLT_EPSILON
#include "kernels/linalg_eig.inc"

#define T ef_c128
#define R double
#define TYPE EF_C128
#define P(x) x##_c128
#define LAPACK(x) LAPACKE_z##x
#define REAL creal
#define ABS cabs
#define ORGLQ LAPACKE_zunglq_work
#define SYEVD LAPACKE_zheevd_work
#define IS_COMPLEX 1
#define EPSILON DBL_EPSILON
#include "kernels/linalg_eig.inc"

#define PICK(name, ...)                      \
    (t == EF_F32   ? name##_f32(__VA_ARGS__) \
     : t == EF_F64 ? name##_f64(__VA_ARGS__) \
     : t == EF_C64 ? name##_c64(__VA_ARGS__) \
                   : name##_c128(__VA_ARGS__))

/* For a matrix without elements q, or v, is the identity of its size. */
static void identity(ef_dtype t, int n, void *x) {
    ef_zero(x, (size_t)n * (size_t)n * ef_dtype_size(t));
    for (int i = 0; i < n; i++) ef_element_set(t, x, (int64_t)i * n + i, 1);
}

size_t ef_qr_scratch(ef_dtype t, int m, int n, bool full) {
    return m && n ? PICK(qr_scratch, m, n, full) : 0;
}

void ef_qr(ef_dtype t, int m, int n, const void *a, bool full, void *q, void *r, void *scratch) {
    if (m == 0 || n == 0) {
        if (full) identity(t, m, q);
        return;
    }
    ef_blas_begin();
    PICK(qr, m, n, a, full, q, r, scratch);
}

size_t ef_svd_scratch(ef_dtype t, int m, int n, bool vectors, bool full) {
    return m && n ? PICK(svd_scratch, m, n, vectors, full) : 0;
}

void ef_svd(ef_dtype t, int m, int n, const void *a, bool full, void *s, void *u, void *v,
            void *scratch) {
    int64_t k = m < n ? m : n;
    if (k == 0) {
        if (u && full) identity(t, m, u);
        if (v && full) identity(t, n, v);
        return;
    }
    ef_blas_begin();
    if (ef_all_finite(t, (int64_t)m * n, a) && PICK(svd, m, n, a, full, s, u, v, scratch)) return;
    ef_fill_nan(t, k, s);
    if (u) ef_fill_nan(t, (int64_t)m * (full ? m : k), u);
    if (v) ef_fill_nan(t, (int64_t)n * (full ? n : k), v);
}

size_t ef_eigh_scratch(ef_dtype t, int n, bool vectors) {
    return n ? PICK(eigh_scratch, n, vectors) : 0;
}

bool ef_eigh(ef_dtype t, int n, const void *a, void *e, void *v, void *scratch) {
    if (n == 0) return true;
    ef_blas_begin();
    return PICK(eigh, n, a, e, v, scratch);
}

size_t ef_eig_scratch(ef_dtype t, int n, bool vectors) {
    return n ? PICK(eig_scratch, n, vectors) : 0;
}

bool ef_eig(ef_dtype t, int n, const void *a, void *e, void *v, void *scratch) {
    if (n == 0) return true;
    if (!ef_all_finite(t, (int64_t)n * n, a)) return false;
    ef_blas_begin();
    return PICK(eig, n, a, e, v, scratch);
}

size_t ef_least_squares_scratch(ef_dtype t, int m, int n, int k) {
    return m && n && k ? PICK(ls_scratch, m, n, k) : 0;
}

bool ef_least_squares(ef_dtype t, int m, int n, int k, const void *a, const void *b, void *x,
                      void *scratch) {
    if (m == 0 || n == 0 || k == 0) {
        ef_zero(x, (size_t)n * (size_t)k * ef_dtype_size(t));
        return true;
    }
    if (!ef_all_finite(t, (int64_t)m * n, a)) {
        ef_fill_nan(t, (int64_t)n * k, x);
        return true;
    }
    ef_blas_begin();
    return PICK(ls, m, n, k, a, b, x, scratch);
}
