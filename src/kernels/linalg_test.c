/* Multiplying factors gives the matrix; functions of matrices and their inverses cancel. All four
 * types, small matrices and ones large enough for blocked code, square, tall and wide. */
#include "base/alloc.h"
#include "base/pool.h"
#include "check.h"
#include "kernels/gemm.h"
#include "kernels/linalg.h"

enum { MOST = 90, AREA = MOST * MOST };
typedef struct {
    _Alignas(64) char bytes[AREA * 16];
} matrix;
static matrix a, b, c, d, e, f;
static const ef_dtype types[] = {EF_F32, EF_F64, EF_C64, EF_C128};
static uint64_t state = 5;

static double number(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(state >> 20) / (double)(INT64_C(1) << 43) - 1;
}

static ef_c128 at(ef_dtype t, const void *m, int64_t i) {
    if (t == EF_C64) return ((const ef_c64 *)m)[i];
    if (t == EF_C128) return ((const ef_c128 *)m)[i];
    return ef_element_double(t, m, i);
}

static void put(ef_dtype t, void *m, int64_t i, ef_c128 v) {
    if (t == EF_C64)
        ((ef_c64 *)m)[i] = (ef_c64)v;
    else if (t == EF_C128)
        ((ef_c128 *)m)[i] = v;
    else
        ef_element_set(t, m, i, creal(v));
}

/* Random, with `more` added to the diagonal. */
static void make(ef_dtype t, int m, int n, double more, void *out) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++) {
            double re = number(), im = number();
            put(t, out, (int64_t)i * n + j, CMPLX(re + (i == j ? more : 0), im));
        }
}

static void product(ef_dtype t, ef_gemm_op x, ef_gemm_op y, int m, int n, int k, const void *p,
                    const void *q, void *out) {
    ef_gemm_args g = ef_gemm_dense(t, x, y, m, n, k, p, q, out);
    if (m && n) ef_gemm(&g);
}

static double tolerance(ef_dtype t) { return t == EF_F32 || t == EF_C64 ? 2e-3 : 1e-10; }

static void near(ef_dtype t, int64_t n, const void *x, const void *y) {
    double worst = 0;
    for (int64_t i = 0; i < n; i++) {
        double off = cabs(at(t, x, i) - at(t, y, i));
        if (!(off <= worst)) worst = off;
    }
    CHECK_NEAR(worst, 0, tolerance(t));
}

static void columns_times(ef_dtype t, int m, int n, const void *s, void *u) {
    for (int i = 0; i < m; i++)
        for (int j = 0; j < n; j++)
            put(t, u, (int64_t)i * n + j, at(t, u, (int64_t)i * n + j) * at(t, s, j));
}

static void *room(size_t bytes) { return ef_malloc_aligned(bytes ? bytes : 64); }

static void check_qr_and_svd(ef_dtype t, int m, int n) {
    int k = m < n ? m : n;
    make(t, m, n, 0, &a);
    for (int full = 0; full < 2; full++) {
        int kq = full ? m : k;
        void *scratch = room(ef_qr_scratch(t, m, n, full));
        ef_qr(t, m, n, &a, full, &b, &c, scratch);
        ef_free_aligned(scratch);
        product(t, EF_GEMM_N, EF_GEMM_N, m, n, kq, &b, &c, &d);
        near(t, (int64_t)m * n, &a, &d);
    }
    void *scratch = room(ef_svd_scratch(t, m, n, true, false));
    ef_svd(t, m, n, &a, false, &b, &c, &d, scratch);
    ef_free_aligned(scratch);
    columns_times(t, m, k, &b, &c);
    product(t, EF_GEMM_N, EF_GEMM_C, m, n, k, &c, &d, &e);
    near(t, (int64_t)m * n, &a, &e);
}

EF_TEST(orthogonal_factors) {
    for (int i = 0; i < 4; i++) {
        check_qr_and_svd(types[i], 4, 4);
        check_qr_and_svd(types[i], 5, 3);
        check_qr_and_svd(types[i], 3, 5);
        check_qr_and_svd(types[i], 1, 1);
        check_qr_and_svd(types[i], 80, 50);
        check_qr_and_svd(types[i], 50, 80);
    }
}

/* Self-adjoint and positive definite. */
static void make_positive(ef_dtype t, int n) {
    make(t, n, n, 0, &b);
    product(t, EF_GEMM_N, EF_GEMM_C, n, n, n, &b, &b, &a);
    for (int i = 0; i < n; i++) put(t, &a, (int64_t)i * n + i, at(t, &a, (int64_t)i * n + i) + 1);
}

EF_TEST(self_adjoint) {
    for (int i = 0; i < 4; i++)
        for (int n = 1; n <= 64; n *= 4) {
            ef_dtype t = types[i];
            make_positive(t, n);
            void *scratch = room(ef_eigh_scratch(t, n, true));
            CHECK(ef_eigh(t, n, &a, &b, &c, scratch));
            ef_free_aligned(scratch);
            ef_copy(&d, &c, sizeof d);
            columns_times(t, n, n, &b, &d);
            product(t, EF_GEMM_N, EF_GEMM_C, n, n, n, &d, &c, &e);
            near(t, (int64_t)n * n, &a, &e);
            ef_copy(&b, &a, sizeof b);
            CHECK(ef_cholesky(t, n, &b));
            product(t, EF_GEMM_N, EF_GEMM_C, n, n, n, &b, &b, &c);
            near(t, (int64_t)n * n, &a, &c);
        }
}

EF_TEST(systems) {
    static int pivot[MOST];
    for (int i = 0; i < 4; i++)
        for (int n = 1; n <= 64; n *= 4)
            for (int adjoint = 0; adjoint < 2; adjoint++) {
                ef_dtype t = types[i];
                make(t, n, n, 4, &a);
                make(t, n, 3, 0, &b);
                ef_copy(&c, &b, sizeof c);
                CHECK(ef_lu(t, n, &a, adjoint, &d, pivot));
                ef_lu_solve(t, n, 3, &d, pivot, &c);
                product(t, adjoint ? EF_GEMM_C : EF_GEMM_N, EF_GEMM_N, n, 3, n, &a, &c, &e);
                near(t, (int64_t)n * 3, &b, &e);
            }
}

EF_TEST(eigenvectors_of_any_matrix) {
    for (int i = 0; i < 4; i++) {
        ef_dtype t = types[i], wide = t == EF_F32 || t == EF_C64 ? EF_C64 : EF_C128;
        int n = 9;
        make(t, n, n, 0, &a);
        void *scratch = room(ef_eig_scratch(t, n, true));
        CHECK(ef_eig(t, n, &a, &b, &c, scratch));
        ef_free_aligned(scratch);
        for (int64_t k = 0; k < (int64_t)n * n; k++) put(wide, &d, k, at(t, &a, k));
        product(wide, EF_GEMM_N, EF_GEMM_N, n, n, n, &d, &c, &e);
        columns_times(wide, n, n, &b, &c);
        near(wide, (int64_t)n * n, &e, &c);
    }
}

EF_TEST(functions) {
    for (int i = 0; i < 4; i++)
        for (int n = 1; n <= 27; n *= 3) {
            ef_dtype t = types[i];
            int64_t all = (int64_t)n * n;
            make(t, n, n, n + 1, &a);
            void *scratch = room(ef_matrix_sqrt_scratch(t, n));
            ef_matrix_sqrt(t, n, &a, &b, scratch);
            ef_free_aligned(scratch);
            product(t, EF_GEMM_N, EF_GEMM_N, n, n, n, &b, &b, &c);
            near(t, all, &a, &c);
            if (!ef_dtype_in(t, EF_COMPLEX)) continue;
            scratch = room(ef_matrix_log_scratch(t, n));
            ef_matrix_log(t, n, &a, &d, scratch);
            ef_free_aligned(scratch);
            scratch = room(ef_matrix_exp_scratch(t, n));
            ef_matrix_exp(t, n, &d, &f, scratch);
            ef_free_aligned(scratch);
            near(t, all, &a, &f);
        }
}

/* Matrices that are factored panel by panel and solved in pieces, by one thread and by all:
 * correct, and bit-identical. */
static void check_large(ef_dtype t, int n, int k) {
    size_t area = (size_t)n * (size_t)n, size = ef_dtype_size(t);
    char *x = room(area * size), *square = room(area * size), *lu[2], *solved[2], *low[2];
    char *rhs = room((size_t)n * (size_t)k * size), *back = room(area * size);
    int *pivot = room((size_t)n * sizeof *pivot);
    make(t, n, n, 3, x);
    make(t, n, k, 0, rhs);
    product(t, EF_GEMM_N, EF_GEMM_C, n, n, n, x, x, square);
    for (int all = 0; all < 2; all++) {
        ef_pool_limit(all ? 0 : 1);
        lu[all] = room(area * size), low[all] = room(area * size);
        solved[all] = room((size_t)n * (size_t)k * size);
        CHECK(ef_lu(t, n, x, false, lu[all], pivot));
        ef_copy(solved[all], rhs, (size_t)n * (size_t)k * size);
        ef_lu_solve(t, n, k, lu[all], pivot, solved[all]);
        ef_copy(low[all], square, area * size);
        CHECK(ef_cholesky(t, n, low[all]));
    }
    CHECK(memcmp(lu[0], lu[1], area * size) == 0 && memcmp(low[0], low[1], area * size) == 0);
    CHECK(memcmp(solved[0], solved[1], (size_t)n * (size_t)k * size) == 0);
    product(t, EF_GEMM_N, EF_GEMM_N, n, k, n, x, solved[0], back);
    double scale = t == EF_F32 || t == EF_C64 ? 50 : 1;
    for (int i = 0; i < n * k; i++) put(t, back, i, at(t, back, i) / scale);
    for (int i = 0; i < n * k; i++) put(t, rhs, i, at(t, rhs, i) / scale);
    near(t, (int64_t)n * k, back, rhs);
    product(t, EF_GEMM_N, EF_GEMM_C, n, n, n, low[0], low[0], back);
    for (int i = 0; i < n * n; i++) put(t, back, i, at(t, back, i) / 500);
    for (int i = 0; i < n * n; i++) put(t, square, i, at(t, square, i) / 500);
    near(t, (int64_t)n * n, back, square);
    ef_triangular_solve(t, n, k, low[0], true, false, solved[0]);
    product(t, EF_GEMM_N, EF_GEMM_N, n, k, n, low[0], solved[0], back);
    near(t, (int64_t)n * k, back, solved[1]);
    put(t, low[1], (int64_t)(n - 1) * n + n - 1, -5);
    CHECK(!ef_cholesky(t, n, low[1]) && isnan(creal(at(t, low[1], 0))) && at(t, low[1], 1) == 0);
    char *all[] = {x,      square, lu[0], lu[1], solved[0],    solved[1],
                   low[0], low[1], rhs,   back,  (char *)pivot};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) ef_free_aligned(all[i]);
}

EF_TEST(large_matrices_in_pieces) {
    for (int i = 0; i < 4; i++) {
        check_large(types[i], 385, 70);
        check_large(types[i], 512, 1);
    }
}

int main(void) {
    EF_RUN(orthogonal_factors);
    EF_RUN(self_adjoint);
    EF_RUN(systems);
    EF_RUN(eigenvectors_of_any_matrix);
    EF_RUN(functions);
    EF_RUN(large_matrices_in_pieces);
    return EF_VERDICT();
}
