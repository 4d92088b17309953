/* Large float64 products against a plain loop. The elements are small integers over 8, so that
 * every sum is exact and results are compared bit by bit; each array ends where its matrix ends, so
 * that a sanitizer detects accesses beyond it. */
#include "base/alloc.h"
#include "base/pool.h"
#include "check.h"
#include "kernels/gemm_packed.h"
#include "tensor/scratch.h"
#include <stdlib.h>

static uint64_t state = 1;
static double number(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)((int64_t)(state >> 60) - 8) / 8;
}

/* `rows` rows of `cols` elements, `ld` apart; the first starts `shift` elements into its memory. */
static double *matrix(int64_t rows, int64_t cols, int64_t ld, int64_t shift) {
    int64_t n = (rows - 1) * ld + cols + shift;
    double *x = malloc((size_t)n * sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = number();
    return x;
}

typedef struct problem {
    ef_gemm_args g;
    double *a, *b, *c, *start; /* start: c before the product */
    int64_t length;            /* of c */
} problem;

/* ops: bit 0 transposes a, bit 1 b. pad: elements between two rows, and before the first. */
static problem make(int64_t m, int64_t n, int64_t k, int ops, int64_t pad) {
    problem p;
    bool ta = ops & 1, tb = ops & 2;
    p.g = ef_gemm_dense(EF_F64, ta ? EF_GEMM_T : EF_GEMM_N, tb ? EF_GEMM_T : EF_GEMM_N, m, n, k,
                        NULL, NULL, NULL);
    p.g.lda += pad, p.g.ldb += pad, p.g.ldc += pad;
    p.length = (m - 1) * p.g.ldc + n;
    p.a = matrix(ta ? k : m, ta ? m : k, p.g.lda, pad);
    p.b = matrix(tb ? n : k, tb ? k : n, p.g.ldb, pad);
    p.c = matrix(m, n, p.g.ldc, pad);
    p.start = malloc((size_t)p.length * sizeof *p.start);
    p.g.a = p.a + pad, p.g.b = p.b + pad, p.g.c = p.c + pad;
    memcpy(p.start, p.g.c, (size_t)p.length * sizeof *p.start);
    return p;
}

static void end(problem *p) { free(p->a), free(p->b), free(p->c), free(p->start); }

/* The number of elements of c that differ from a plain loop; elements between two rows count
 * too. */
static int64_t wrong(const problem *p) {
    const ef_gemm_args *g = &p->g;
    const double *a = g->a, *b = g->b, *c = g->c;
    int64_t row_a = g->op_a == EF_GEMM_N ? g->lda : 1, col_a = g->op_a == EF_GEMM_N ? 1 : g->lda;
    int64_t row_b = g->op_b == EF_GEMM_N ? g->ldb : 1, col_b = g->op_b == EF_GEMM_N ? 1 : g->ldb;
    double *want = malloc((size_t)p->length * sizeof *want);
    memcpy(want, p->start, (size_t)p->length * sizeof *want);
    for (int64_t i = 0; i < g->m; i++) {
        double *row = want + i * g->ldc;
        for (int64_t j = 0; j < g->n && !g->add; j++) row[j] = 0;
        for (int64_t u = 0; u < g->k; u++)
            for (int64_t j = 0; j < g->n; j++)
                row[j] += a[i * row_a + u * col_a] * b[u * row_b + j * col_b];
    }
    int64_t n = 0;
    for (int64_t i = 0; i < p->length; i++) n += c[i] != want[i];
    free(want);
    return n;
}

static void compare(int64_t m, int64_t n, int64_t k, int ops, int64_t pad, bool add) {
    problem p = make(m, n, k, ops, pad);
    p.g.add = add;
    CHECK(ef_gemm_packed(&p.g));
    CHECK_INT(wrong(&p), 0);
    end(&p);
}

/* Wide and tall, whole tiles and partial ones, one range of k and several. */
static const int size[][3] = {{192, 192, 128}, {161, 170, 163}, {200, 203, 400}, {16, 1000, 300},
                              {17, 1001, 250}, {90, 777, 129},  {1000, 16, 300}, {1003, 17, 250},
                              {500, 150, 97},  {100, 100, 500}, {600, 601, 12},  {127, 250, 385}};
enum { SIZES = sizeof size / sizeof *size };

#ifdef __FMA__
EF_TEST(without_memory_nothing_is_written) {
    problem p = make(200, 200, 200, 0, 0);
    ef_scratch_end(ef_scratch_take(1)); /* with lock checking, a thread's first lock allocates */
    ef_alloc_fail_at(1);
    CHECK(!ef_gemm_packed(&p.g));
    ef_alloc_fail_at(0);
    CHECK(memcmp(p.g.c, p.start, (size_t)p.length * sizeof *p.start) == 0);
    ef_alloc_fail_at(1);
    ef_gemm(&p.g);
    ef_alloc_fail_at(0);
    CHECK_INT(wrong(&p), 0);
    end(&p);
}

EF_TEST(equals_a_plain_loop) {
    for (int s = 0; s < SIZES; s++)
        for (int ops = 0; ops < 4; ops++) {
            compare(size[s][0], size[s][1], size[s][2], ops, 0, ops % 2 == 0);
            compare(size[s][0], size[s][1], size[s][2], ops, 3, ops % 2 == 1);
        }
}

/* More rows and columns than one stage computes, and more steps of k than one stage packs. */
EF_TEST(in_several_stages) {
    for (int ops = 0; ops < 4; ops++) {
        compare(4500, 20, 50, ops, 0, false);
        compare(20, 4500, 50, ops, 1, true);
    }
    compare(4200, 4300, 12, 0, 0, false);
    compare(110, 101, 10000, 0, 0, false);
    compare(110, 101, 10000, 3, 0, true);
}

EF_TEST(avx2_gives_the_same_bits) {
    for (int s = 0; s < SIZES; s++) {
        problem p = make(size[s][0], size[s][1], size[s][2], s % 4, s % 3);
        for (int64_t i = 0; i < p.g.m * p.g.k; i++) p.a[i] /= 3;
        CHECK(ef_gemm_packed(&p.g));
        memcpy(p.start, p.g.c, (size_t)p.length * sizeof *p.start);
        ef_gemm_packed_avx2(true);
        CHECK(ef_gemm_packed(&p.g));
        ef_gemm_packed_avx2(false);
        CHECK(memcmp(p.g.c, p.start, (size_t)p.length * sizeof *p.start) == 0);
        end(&p);
    }
}

EF_TEST(the_team_does_not_matter) {
    for (int s = 0; s < SIZES; s++) {
        problem p = make(size[s][0], size[s][1], size[s][2], s % 4, s % 3);
        for (int64_t i = 0; i < p.g.m * p.g.k; i++) p.a[i] /= 3;
        ef_pool_limit(1);
        CHECK(ef_gemm_packed(&p.g));
        ef_pool_limit(0);
        memcpy(p.start, p.g.c, (size_t)p.length * sizeof *p.start);
        for (int turn = 0; turn < 5; turn++) {
            CHECK(ef_gemm_packed(&p.g));
            CHECK(memcmp(p.g.c, p.start, (size_t)p.length * sizeof *p.start) == 0);
        }
        end(&p);
    }
}

EF_TEST(epilogues) {
    for (int s = 0; s < SIZES; s++) {
        int64_t m = size[s][0], n = size[s][1];
        problem p = make(m, n, size[s][2], s % 4, s % 2);
        double *bias = matrix(1, n, n, 0), *residual = matrix(m, n, n, 0);
        CHECK(ef_gemm_packed(&p.g));
        memcpy(p.start, p.g.c, (size_t)p.length * sizeof *p.start);
        ef_post post = {.bias = bias, .residual = residual, .act = EF_ACT_RELU};
        p.g.post = &post;
        CHECK(ef_gemm_packed(&p.g));
        int64_t bad = 0;
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++) {
                double v = p.start[i * p.g.ldc + j] + bias[j] + residual[i * n + j];
                bad += ((double *)p.g.c)[i * p.g.ldc + j] != (v > 0 ? v : 0);
            }
        CHECK_INT(bad, 0);
        free(bias), free(residual), end(&p);
    }
}

/* Tiles are padded with zeros, and an infinity times zero must not reach c. */
EF_TEST(infinities_stay_where_they_belong) {
    problem p = make(201, 203, 150, 0, 0);
    p.a[200 * 150 + 7] = INFINITY, p.b[7 * 203 + 202] = 1, p.b[9 * 203 + 202] = INFINITY;
    CHECK(ef_gemm_packed(&p.g));
    int64_t finite = 0;
    for (int64_t i = 0; i < 200; i++)
        for (int64_t j = 0; j < 202; j++) finite += isfinite(p.c[i * 203 + j]);
    CHECK_INT(finite, 200 * 202);
    CHECK(!isfinite(p.c[5 * 203 + 202]) && !isfinite(p.c[200 * 203 + 3]));
    end(&p);
}
#endif

EF_TEST(leaves_other_products_to_a_library) {
    ef_gemm_args small =
        ef_gemm_dense(EF_F64, EF_GEMM_N, EF_GEMM_N, 100, 100, 100, NULL, NULL, NULL);
    ef_gemm_args thin =
        ef_gemm_dense(EF_F64, EF_GEMM_N, EF_GEMM_N, 8, 2000, 2000, NULL, NULL, NULL);
    ef_gemm_args deep =
        ef_gemm_dense(EF_F64, EF_GEMM_N, EF_GEMM_N, 20, 30, 100000, NULL, NULL, NULL);
    ef_gemm_args single =
        ef_gemm_dense(EF_F32, EF_GEMM_N, EF_GEMM_N, 300, 300, 300, NULL, NULL, NULL);
    CHECK(!ef_gemm_packed(&small) && !ef_gemm_packed(&thin));
    CHECK(!ef_gemm_packed(&deep) && !ef_gemm_packed(&single));
}

int main(void) {
#ifdef __FMA__
    EF_RUN(without_memory_nothing_is_written); /* first: later calls could reuse memory */
    EF_RUN(equals_a_plain_loop);
    EF_RUN(in_several_stages);
    EF_RUN(avx2_gives_the_same_bits);
    EF_RUN(the_team_does_not_matter);
    EF_RUN(epilogues);
    EF_RUN(infinities_stay_where_they_belong);
#endif
    EF_RUN(leaves_other_products_to_a_library);
    return EF_VERDICT();
}
