/* Thin products against sums in double: each kind, sizes on both sides of the limit, rows and
 * columns that do not fill a vector, strides, and results that do not depend on threads. */
#include "base/alloc.h"
#include "base/pool.h"
#include "check.h"
#include "kernels/gemm_thin.h"

static uint64_t state = 3;
static float number(void) { /* small integers over 8: products of them are exact */
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)((int64_t)(state >> 60) - 8) / 8;
}

typedef struct example {
    int64_t m, n, k;
    ef_gemm_op op_a, op_b;
    int pad;
    bool add, thin;
} example;

static float *numbers(int64_t n) {
    float *x = ef_malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = number();
    return x;
}

static double element(const float *x, ef_gemm_op op, int64_t ld, int64_t i, int64_t j) {
    return (double)(op == EF_GEMM_N ? x[i * ld + j] : x[j * ld + i]);
}

static void check_result(const ef_gemm_args *g, const float *before, bool add) {
    const float *a = g->a, *b = g->b, *c = g->c;
    for (int64_t i = 0; i < g->m; i++) {
        for (int64_t j = 0; j < g->n; j++) {
            double want = add ? (double)before[i * g->ldc + j] : 0;
            for (int64_t p = 0; p < g->k; p++)
                want += element(a, g->op_a, g->lda, i, p) * element(b, g->op_b, g->ldb, p, j);
            CHECK_NEAR(c[i * g->ldc + j], want, 1e-2);
        }
        /* Elements between rows do not change. */
        for (int64_t j = g->n; j < g->ldc && i < g->m - 1; j++)
            CHECK(c[i * g->ldc + j] == before[i * g->ldc + j]);
    }
}

static void compare(const example *e) {
    ef_gemm_args g = ef_gemm_dense(EF_F32, e->op_a, e->op_b, e->m, e->n, e->k, NULL, NULL, NULL);
    g.lda += e->pad, g.ldb += e->pad, g.ldc += e->pad, g.add = e->add;
    int64_t rows_a = e->op_a == EF_GEMM_N ? e->m : e->k;
    int64_t rows_b = e->op_b == EF_GEMM_N ? e->k : e->n;
    /* No more than is stored: the last row has no padding. */
    float *a = numbers(rows_a * g.lda - e->pad), *b = numbers(rows_b * g.ldb - e->pad);
    float *c = numbers(e->m * g.ldc), *before = numbers(e->m * g.ldc);
    memcpy(before, c, (size_t)(e->m * g.ldc) * sizeof *c);
    g.a = a, g.b = b, g.c = c;
    bool done = ef_gemm_thin(&g);
    CHECK_INT(done, e->thin);
    if (done) check_result(&g, before, e->add);
    memcpy(c, before, (size_t)(e->m * g.ldc) * sizeof *c);
    ef_gemm(&g);
    check_result(&g, before, e->add);
    ef_free(a), ef_free(b), ef_free(c), ef_free(before);
}

EF_TEST(sums_over_a_long_side) {
    static const int64_t m[] = {4, 5, 6, 7, 8, 13, 32}, n[] = {2, 7, 8, 9, 10, 15, 16};
    for (int i = 0; i < 7; i++)
        for (int j = 0; j < 7; j++)
            compare(&(example){m[i], n[j], 4096 + 7 * i, EF_GEMM_N, EF_GEMM_N, i % 3, j % 2, true});
    compare(&(example){3, 10, 4096, EF_GEMM_N, EF_GEMM_N, 0, false, false});
    compare(&(example){4, 10, 4095, EF_GEMM_N, EF_GEMM_N, 0, false, false});
    compare(&(example){4, 17, 4096, EF_GEMM_N, EF_GEMM_N, 0, false, false});
    compare(&(example){4, 1, 4096, EF_GEMM_N, EF_GEMM_N, 0, false, false});
}

EF_TEST(few_terms_of_long_rows) {
    static const int64_t m[] = {2, 3, 4, 5, 9, 32}, k[] = {2, 3, 8, 10, 15, 16};
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++)
            for (int turned = 0; turned < 2; turned++)
                compare(&(example){m[i], 4096 + 5 * i + j, k[j], EF_GEMM_N,
                                   turned ? EF_GEMM_T : EF_GEMM_N, i % 3, j % 2, true});
    compare(&(example){4, 4095, 10, EF_GEMM_N, EF_GEMM_T, 0, false, false});
    compare(&(example){4, 4096, 17, EF_GEMM_N, EF_GEMM_T, 0, false, false});
    compare(&(example){1, 4096, 10, EF_GEMM_N, EF_GEMM_T, 0, false, false});
}

EF_TEST(columns_of_a_tall_side) {
    static const int64_t n[] = {1, 2, 3, 5, 6, 7, 10, 11, 12, 13, 16}, k[] = {2, 5, 32};
    for (int i = 0; i < 11; i++)
        for (int j = 0; j < 3; j++)
            compare(&(example){4096 + 3 * i, n[i], k[j], EF_GEMM_T, EF_GEMM_N, j, i % 2, true});
    compare(&(example){4095, 10, 32, EF_GEMM_T, EF_GEMM_N, 0, false, false});
    compare(&(example){4096, 17, 32, EF_GEMM_T, EF_GEMM_N, 0, false, false});
    compare(&(example){4096, 10, 257, EF_GEMM_T, EF_GEMM_N, 0, false, false});
}

EF_TEST(threads_change_nothing) {
    enum { M = 9, N = 10, K = 300000 };
    float *a = numbers((int64_t)M * K), *b = numbers((int64_t)N * K), one[M * N], many[M * N];
    for (int64_t i = 0; i < (int64_t)M * K; i++) a[i] *= 1.0001F;
    ef_gemm_args g = ef_gemm_dense(EF_F32, EF_GEMM_N, EF_GEMM_N, M, N, K, a, b, many);
    CHECK(ef_gemm_thin(&g));
    ef_pool_limit(1);
    g.c = one;
    CHECK(ef_gemm_thin(&g));
    ef_pool_limit(0);
    CHECK(memcmp((const void *)one, (const void *)many, sizeof one) == 0); /* every bit */
    ef_free(a), ef_free(b);
}

int main(void) {
    EF_RUN(sums_over_a_long_side);
    EF_RUN(few_terms_of_long_rows);
    EF_RUN(columns_of_a_tall_side);
    EF_RUN(threads_change_nothing);
    return EF_VERDICT();
}
