/* Functions of a matrix through its Schur form A = Q T Q^H: f(A) = Q f(T) Q^H, with T upper
 * triangular, stored by columns; and the exponential, which needs no Schur form. All are computed
 * in double precision, so float results are accurate to the last digits. */
#include "kernels/blas.h"
#include "kernels/gemm.h"
#include "kernels/linalg.h"
#include "kernels/linalg_scratch.h"
#include <cblas.h>
#include <lapacke.h>
#include <limits.h>
#include <math.h>

typedef ef_c128 num;

typedef struct {
    num *t, *q, *f, *w1, *w2; /* n x n each */
    num *e, *work;
    double *real_work;
    int n_work;
    size_t bytes;
} room;

static room layout(int n, void *scratch) {
    size_t at = 0, matrix = sizeof(num) * (size_t)n * (size_t)n;
    num best = 0;
    double none = 0;
    int sorted = 0, unused = 0;
    room r;
    LAPACKE_zgees_work(LAPACK_COL_MAJOR, 'V', 'N', NULL, n, &best, n, &sorted, &best, &best, n,
                       &best, -1, &none, &unused);
    r.n_work = (int)creal(best) > 2 * n ? (int)creal(best) : 2 * n;
    r.t = ef_take(scratch, &at, matrix);
    r.q = ef_take(scratch, &at, matrix);
    r.f = ef_take(scratch, &at, matrix);
    r.w1 = ef_take(scratch, &at, matrix);
    r.w2 = ef_take(scratch, &at, matrix);
    r.e = ef_take(scratch, &at, sizeof(num) * (size_t)n);
    r.work = ef_take(scratch, &at, sizeof(num) * (size_t)r.n_work);
    r.real_work = ef_take(scratch, &at, sizeof(double) * (size_t)n);
    r.bytes = at;
    return r;
}

static num element(ef_dtype t, const void *a, int64_t i) {
    if (t == EF_C64) return ((const ef_c64 *)a)[i];
    if (t == EF_C128) return ((const ef_c128 *)a)[i];
    return ef_element_double(t, a, i);
}

static bool schur(ef_dtype t, int n, const void *a, room *r) {
    int sorted = 0;
    if (r->t == NULL || !ef_all_finite(t, (int64_t)n * n, a)) return false;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) r->t[(int64_t)j * n + i] = element(t, a, (int64_t)i * n + j);
    return LAPACKE_zgees_work(LAPACK_COL_MAJOR, 'V', 'N', NULL, n, r->t, n, &sorted, r->e, r->q, n,
                              r->work, r->n_work, r->real_work, NULL) == 0;
}

/* out = Q f Q^H as elements of t; false if t is real and the result is not. */
static bool back(ef_dtype t, int n, const room *r, void *out) {
    const num one = 1, zero = 0;
    double largest = 0, unreal = 0;
    cblas_zgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, n, n, &one, r->q, n, r->f, n, &zero,
                r->w1, n);
    cblas_zgemm(CblasColMajor, CblasNoTrans, CblasConjTrans, n, n, n, &one, r->w1, n, r->q, n,
                &zero, r->w2, n);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            num v = r->w2[(int64_t)j * n + i];
            int64_t at = (int64_t)i * n + j;
            if (cabs(v) > largest) largest = cabs(v);
            if (fabs(cimag(v)) > unreal) unreal = fabs(cimag(v));
            if (t == EF_C64)
                ((ef_c64 *)out)[at] = (ef_c64)v;
            else if (t == EF_C128)
                ((ef_c128 *)out)[at] = v;
            else
                ef_element_set(t, out, at, creal(v));
        }
    return ef_dtype_in(t, EF_COMPLEX) || unreal <= 1e-6 * largest;
}

/* Solves r r = t, both upper triangular; column by column, upwards. */
static void triangle_sqrt(int n, const num *t, num *r) {
    for (int j = 0; j < n; j++) {
        num *c = r + (int64_t)j * n;
        for (int i = j + 1; i < n; i++) c[i] = 0;
        c[j] = csqrt(t[(int64_t)j * n + j]);
        for (int i = j - 1; i >= 0; i--) {
            num sum = t[(int64_t)j * n + i];
            for (int k = i + 1; k < j; k++) sum -= r[(int64_t)k * n + i] * c[k];
            c[i] = sum / (r[(int64_t)i * n + i] + c[j]);
        }
    }
}

size_t ef_matrix_sqrt_scratch(ef_dtype t, int n) {
    (void)t;
    return n ? layout(n, NULL).bytes : 0;
}

void ef_matrix_sqrt(ef_dtype t, int n, const void *a, void *out, void *scratch) {
    if (n == 0) return;
    room r = layout(n, scratch);
    ef_blas_begin();
    bool found = schur(t, n, a, &r);
    if (found) triangle_sqrt(n, r.t, r.f);
    if (!found || !back(t, n, &r, out)) ef_fill_nan(t, (int64_t)n * n, out);
}

/* ---- logarithm ---- */

/* The largest column sum of |r - 1|. */
static double off_identity(int n, const num *r) {
    double worst = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i <= j; i++) sum += cabs(r[(int64_t)j * n + i] - (i == j));
        if (!(sum <= worst)) worst = sum;
    }
    return worst;
}

/* f = log(1 + x) for small upper triangular x: the Pade approximant of degree 7, as a sum over the
 * points of Gauss-Legendre quadrature of w x / (1 + p x). */
static void log_near_one(int n, const num *x, num *f, num *m, num *y) {
    static const double point[7] = {
        0.025446043828620737, 0.12923440720030277, 0.29707742431130141, 0.5,
        0.70292257568869854,  0.87076559279969723, 0.97455395617137926};
    static const double weight[7] = {0.064742483084434847, 0.13985269574463834, 0.19091502525255946,
                                     0.20897959183673470,  0.19091502525255946, 0.13985269574463834,
                                     0.064742483084434847};
    const num one = 1;
    int64_t all = (int64_t)n * n;
    if (f == NULL || m == NULL || y == NULL) return;
    for (int64_t i = 0; i < all; i++) f[i] = 0;
    for (int p = 0; p < 7; p++) {
        for (int64_t i = 0; i < all; i++) m[i] = point[p] * x[i];
        for (int i = 0; i < n; i++) m[(int64_t)i * n + i] += 1;
        ef_copy(y, x, sizeof(num) * (size_t)all);
        cblas_ztrsm(CblasColMajor, CblasLeft, CblasUpper, CblasNoTrans, CblasNonUnit, n, n, &one, m,
                    n, y, n);
        for (int64_t i = 0; i < all; i++) f[i] += weight[p] * y[i];
    }
}

/* Repeated square roots bring T near one; the logarithm there is multiplied by 2 for each. */
static bool triangle_log(int n, room *r) {
    enum { MOST = 100 };
    int64_t all = (int64_t)n * n;
    int roots = 0;
    if (r->t == NULL || r->f == NULL || r->e == NULL) return false;
    for (int i = 0; i < n; i++) r->e[i] = clog(r->t[(int64_t)i * n + i]);
    for (; off_identity(n, r->t) > 0.25; roots++) {
        if (roots == MOST) return false;
        triangle_sqrt(n, r->t, r->f);
        ef_copy(r->t, r->f, sizeof(num) * (size_t)all);
    }
    for (int i = 0; i < n; i++) r->t[(int64_t)i * n + i] -= 1;
    log_near_one(n, r->t, r->f, r->w1, r->w2);
    for (int64_t i = 0; i < all; i++) r->f[i] *= ldexp(1, roots);
    for (int i = 0; i < n; i++) r->f[(int64_t)i * n + i] = r->e[i]; /* the exact diagonal */
    return true;
}

size_t ef_matrix_log_scratch(ef_dtype t, int n) { return ef_matrix_sqrt_scratch(t, n); }

void ef_matrix_log(ef_dtype t, int n, const void *a, void *out, void *scratch) {
    if (n == 0) return;
    room r = layout(n, scratch);
    ef_blas_begin();
    if (!schur(t, n, a, &r) || !triangle_log(n, &r) || !back(t, n, &r, out))
        ef_fill_nan(t, (int64_t)n * n, out);
}

/* ---- exponential ---- */

/* Here matrices are stored by rows, and are double for the real types. Sums do not depend on what
 * an element is, so complex matrices are summed as twice as many doubles. */
typedef struct {
    ef_dtype type; /* EF_F64 or EF_C128 */
    int n;
    int64_t reals; /* doubles in a matrix */
    double *a, *a2, *a4, *a6, *u, *v, *w;
    int *pivot;
    size_t bytes;
} exp_room;

static exp_room exp_layout(ef_dtype t, int n, void *scratch) {
    exp_room r = {.type = ef_dtype_in(t, EF_COMPLEX) ? EF_C128 : EF_F64, .n = n};
    r.reals = (int64_t)n * n * (r.type == EF_C128 ? 2 : 1);
    double **all[] = {&r.a, &r.a2, &r.a4, &r.a6, &r.u, &r.v, &r.w};
    for (int k = 0; k < 7; k++)
        *all[k] = ef_take(scratch, &r.bytes, sizeof(double) * (size_t)r.reals);
    r.pivot = ef_take(scratch, &r.bytes, sizeof(int) * (size_t)n);
    return r;
}

size_t ef_matrix_exp_scratch(ef_dtype t, int n) { return n ? exp_layout(t, n, NULL).bytes : 0; }

static void multiply(const exp_room *r, const double *x, const double *y, double *out) {
    ef_gemm_args g = ef_gemm_dense(r->type, EF_GEMM_N, EF_GEMM_N, r->n, r->n, r->n, x, y, out);
    ef_gemm(&g);
}

/* out = p6 a6 + p4 a4 + p2 a2 + p0 */
static void even_powers(const exp_room *r, double p6, double p4, double p2, double p0,
                        double *out) {
    int64_t step = r->reals / r->n / r->n;
    for (int64_t i = 0; i < r->reals; i++) out[i] = p6 * r->a6[i] + p4 * r->a4[i] + p2 * r->a2[i];
    for (int64_t i = 0; i < r->n; i++) out[(i * r->n + i) * step] += p0;
}

static void add(const exp_room *r, double *x, const double *y) {
    for (int64_t i = 0; i < r->reals; i++) x[i] += y[i];
}

/* The largest sum of absolute values of a row. */
static double row_norm(const exp_room *r) {
    int64_t row = r->reals / r->n;
    double worst = 0;
    for (int i = 0; i < r->n; i++) {
        double sum = 0;
        for (int64_t j = 0; j < row; j++) sum += fabs(r->a[i * row + j]);
        if (!(sum <= worst)) worst = sum;
    }
    return worst;
}

/* The Pade approximant of degree 13 of the scaled matrix, squared back: Higham's method. */
static bool exponentiate(exp_room *r) {
    static const double b[14] = {64764752532480000,
                                 32382376266240000,
                                 7771770303897600,
                                 1187353796428800,
                                 129060195264000,
                                 10559470521600,
                                 670442572800,
                                 33522128640,
                                 1323241920,
                                 40840800,
                                 960960,
                                 16380,
                                 182,
                                 1};
    double norm = row_norm(r);
    if (!isfinite(norm)) return false;
    int squarings = norm > 5.371920351148152 ? (int)ceil(log2(norm / 5.371920351148152)) : 0;
    for (int64_t i = 0; i < r->reals; i++) r->a[i] = ldexp(r->a[i], -squarings);
    multiply(r, r->a, r->a, r->a2);
    multiply(r, r->a2, r->a2, r->a4);
    multiply(r, r->a4, r->a2, r->a6);
    even_powers(r, b[13], b[11], b[9], 0, r->v);
    multiply(r, r->a6, r->v, r->w);
    even_powers(r, b[7], b[5], b[3], b[1], r->v);
    add(r, r->w, r->v);
    multiply(r, r->a, r->w, r->u); /* u: odd powers */
    even_powers(r, b[12], b[10], b[8], 0, r->w);
    multiply(r, r->a6, r->w, r->v);
    even_powers(r, b[6], b[4], b[2], b[0], r->w);
    add(r, r->v, r->w); /* v: even powers */
    for (int64_t i = 0; i < r->reals; i++) {
        r->w[i] = r->v[i] - r->u[i];
        r->v[i] += r->u[i];
    }
    if (!ef_lu(r->type, r->n, r->w, false, r->u, r->pivot)) return false;
    ef_lu_solve(r->type, r->n, r->n, r->u, r->pivot, r->v);
    for (; squarings > 0; squarings--) {
        multiply(r, r->v, r->v, r->w);
        double *held = r->v;
        r->v = r->w;
        r->w = held;
    }
    return true;
}

void ef_matrix_exp(ef_dtype t, int n, const void *a, void *out, void *scratch) {
    if (n == 0) return;
    exp_room r = exp_layout(t, n, scratch);
    for (int64_t i = 0; i < (int64_t)n * n; i++) {
        if (r.type == EF_C128)
            ((num *)r.a)[i] = element(t, a, i);
        else
            r.a[i] = ef_element_double(t, a, i);
    }
    if (!exponentiate(&r)) {
        ef_fill_nan(t, (int64_t)n * n, out);
        return;
    }
    for (int64_t i = 0; i < (int64_t)n * n; i++) {
        if (t == EF_C64)
            ((ef_c64 *)out)[i] = (ef_c64)((num *)r.v)[i];
        else if (t == EF_C128)
            ((ef_c128 *)out)[i] = ((num *)r.v)[i];
        else
            ef_element_set(t, out, i, r.v[i]);
    }
}
