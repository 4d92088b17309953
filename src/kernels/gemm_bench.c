/* Products of many shapes: compares ef_gemm with direct calls of oneDNN's sgemm, and measures the
 * cost of an epilogue. Prints microseconds and ratios; the best of many alternating runs, so that
 * both see the same machine. */
#include "base/clock.h"
#include "base/pool.h"
#include "kernels/gemm.h"
#include <omp.h>
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>

static double seconds(void) { return (double)ef_now_ns() * 1e-9; }

/* Rows of 64 bytes, so that every matrix starts on a cache line. */
static float *matrix(int64_t n) {
    float *p = aligned_alloc(64, ((size_t)n * 4 + 63) / 64 * 64);
    for (int64_t i = 0; p != NULL && i < n; i++) p[i] = (float)(i % 17) * 0.1f - 0.8f;
    return p;
}

typedef struct times {
    double ours, bare, fused;
} times;

static void measure(const ef_gemm_args *g, const ef_post *post, times *t) {
    double work = (double)g->m * (double)g->n * (double)g->k;
    int inner = work < 1e5 ? 200 : work < 1e7 ? 10 : 1, rounds = work < 1e7 ? 200 : 25;
    ef_gemm_args f = *g;
    f.post = post;
    *t = (times){1e9, 1e9, 1e9};
    for (int r = 0; r < rounds; r++) {
        double at = seconds();
        for (int i = 0; i < inner; i++) ef_gemm(g);
        double ours = (seconds() - at) / inner;
        omp_set_num_threads(ef_pool_size()); /* ef_gemm keeps the library on one thread */
        at = seconds();
        for (int i = 0; i < inner; i++)
            dnnl_sgemm(g->op_a ? 'T' : 'N', g->op_b ? 'T' : 'N', g->m, g->n, g->k, 1, g->a, g->lda,
                       g->b, g->ldb, 0, g->c, g->ldc);
        double bare = (seconds() - at) / inner;
        at = seconds();
        for (int i = 0; i < inner; i++) ef_gemm(&f);
        double fused = (seconds() - at) / inner;
        if (ours < t->ours) t->ours = ours;
        if (bare < t->bare) t->bare = bare;
        if (fused < t->fused) t->fused = fused;
    }
}

int main(void) {
    static const int size[][3] = {
        {8, 8, 8},        {16, 16, 16},     {24, 24, 24},    {32, 32, 32},       {64, 64, 64},
        {128, 128, 128},  {256, 256, 256},  {512, 512, 512}, {1000, 1000, 1000}, {1024, 1024, 1024},
        {1000, 128, 784}, {1, 128, 784},    {1, 1000, 1000}, {1000, 1, 1000},    {32, 128, 784},
        {1000, 10, 128},  {784, 128, 1000}, {64, 512, 512},  {256, 1024, 512},   {4096, 64, 64},
        {3, 5, 7}};
    printf("%-18s %-5s %10s %10s %7s %10s %7s\n", "m x n x k", "ops", "ours us", "sgemm us",
           "ratio", "+bias+relu", "ratio");
    for (size_t s = 0; s < sizeof size / sizeof *size; s++)
        for (int ops = 0; ops < 4; ops++) {
            int m = size[s][0], n = size[s][1], k = size[s][2];
            float *a = matrix((int64_t)m * k), *b = matrix((int64_t)k * n),
                  *c = matrix((int64_t)m * n);
            float *bias = matrix(n);
            if (a == NULL || b == NULL || c == NULL || bias == NULL) return 1;
            ef_gemm_args g = ef_gemm_dense(EF_F32, ops & 1 ? EF_GEMM_T : EF_GEMM_N,
                                           ops & 2 ? EF_GEMM_T : EF_GEMM_N, m, n, k, a, b, c);
            ef_post post = {.bias = bias, .act = EF_ACT_RELU};
            times t;
            measure(&g, &post, &t);
            char name[40];
            snprintf(name, sizeof name, "%d x %d x %d", m, n, k);
            printf("%-18s %c%c    %10.3f %10.3f %7.3f %10.3f %7.3f\n", name, ops & 1 ? 'T' : 'N',
                   ops & 2 ? 'T' : 'N', t.ours * 1e6, t.bare * 1e6, t.ours / t.bare, t.fused * 1e6,
                   t.fused / t.ours);
            free(a), free(b), free(c), free(bias);
        }
    return 0;
}
