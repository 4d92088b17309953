/* Adam over 20 M parameters against one hand-fused loop on the same threads. */
#include "bench.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 20000000 };

typedef struct adam {
    ef_tensor var, m, v, scalar[6], grad;
    const ef_op *op;
    float *hand[3];
} adam;

static void by_engine(void *arg) {
    adam *a = arg;
    const ef_tensor *in[] = {&a->var,       &a->m,         &a->v,         &a->scalar[0],
                             &a->scalar[1], &a->scalar[2], &a->scalar[3], &a->scalar[4],
                             &a->scalar[5], &a->grad};
    int n;
    bench_check(ef_call_op(a->op, NULL, in, 10, NULL, 0, &n));
}

static void by_hand(void *arg) {
    adam *a = arg;
    const float *restrict g = bench_data(&a->grad);
    float *restrict p = a->hand[0], *restrict m = a->hand[1], *restrict v = a->hand[2];
    const float b1 = 0.9f, b2 = 0.999f, eps = 1e-7f;
    const float lr = 1e-3f * sqrtf(1 - b2) / (1 - b1);
#pragma omp parallel for simd
    for (int k = 0; k < N; k++) {
        m[k] += (g[k] - m[k]) * (1 - b1);
        v[k] += (g[k] * g[k] - v[k]) * (1 - b2);
        p[k] -= lr * m[k] / (sqrtf(v[k]) + eps);
    }
}

static void variable(ef_tensor *handle, float *copy, uint32_t seed, bool zero) {
    int64_t dim[] = {N};
    ef_tensor t;
    bench_fill(&t, EF_F32, 1, dim, seed);
    if (zero) memset((void *)bench_data(&t), 0, N * sizeof(float));
    memcpy(copy, bench_data(&t), N * sizeof(float));
    bench_check(ef_variable_new(&t, "v", handle));
    ef_tensor_release(&t);
}

void bench_adam(void) {
    adam a = {.op = ef_op_find("ResourceApplyAdam")};
    for (int k = 0; k < 3; k++)
        if ((a.hand[k] = aligned_alloc(64, N * sizeof(float))) == NULL) exit(2);
    variable(&a.var, a.hand[0], 1, false);
    variable(&a.m, a.hand[1], 2, true);
    variable(&a.v, a.hand[2], 3, true);
    float s[] = {0.9f, 0.999f, 1e-3f, 0.9f, 0.999f, 1e-7f};
    for (int k = 0; k < 6; k++) bench_check(ef_tensor_from(EF_F32, NULL, &s[k], &a.scalar[k]));
    int64_t dim[] = {N};
    bench_fill(&a.grad, EF_F32, 1, dim, 4);
    ef_side e = {.work = by_engine, .arg = &a, .times = 1},
            h = {.work = by_hand, .arg = &a, .times = 1, .omp = true};
    double ns_e, ns_h;
    char what[96];
    double times = bench_compare(&e, &h, 31, &ns_e, &ns_h);
    snprintf(what, sizeof what, "%.1f ms against %.1f ms", ns_e / 1e6, ns_h / 1e6);
    bench_row("Adam over 20 M parameters / hand-fused loop", times, 1.15, " x", what);
    ef_tensor_release(&a.var);
    ef_tensor_release(&a.m);
    ef_tensor_release(&a.v);
    ef_tensor_release(&a.grad);
    for (int k = 0; k < 3; k++) free(a.hand[k]);
}
