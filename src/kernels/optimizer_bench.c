/* Adam over twenty million parameters compared with a hand-written loop on the same threads. */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/pool.h"
#include "kernels/optimizer.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 20000000 };
typedef struct adam {
    float *w, *m, *v, *g;
    float step, keep1, keep2, epsilon;
} adam;

static void by_hand(void *arg, int64_t begin, int64_t end) {
    const adam *a = arg;
    float *restrict w = a->w, *restrict m = a->m, *restrict v = a->v;
    const float *restrict g = a->g;
    const float step = a->step, keep1 = a->keep1, keep2 = a->keep2, epsilon = a->epsilon;
    for (int64_t i = begin; i < end; i++) {
        m[i] += (g[i] - m[i]) * keep1;
        v[i] += (g[i] * g[i] - v[i]) * keep2;
        w[i] -= m[i] * step / (sqrtf(v[i]) + epsilon);
    }
}

static float *some(void) {
    float *p = ef_malloc_aligned(N * sizeof *p);
    if (p == NULL) exit(1);
    for (int64_t i = 0; i < N; i++) p[i] = (float)(i % 17) * 0.01F;
    return p;
}

int main(void) {
    adam a = {some(), some(), some(), some(), 0.001F, 0.1F, 0.001F, 1e-7F};
    ef_sweep s = {.rule = EF_RULE_ADAM,
                  .dtype = EF_F32,
                  .at = {a.w, a.m, a.v},
                  .grad = a.g,
                  .k = {0.9, 0.999, 0.001, 0.9, 0.999, 1e-7}};
    double best[2] = {1e30, 1e30};
    for (int round = 0; round < 12; round++)
        for (int k = 0; k < 2; k++) {
            uint64_t t = ef_now_ns();
            if (k == 0)
                ef_parallel(N, 1024, 1.2, by_hand, &a);
            else
                ef_sweep_dense(&s, N);
            double ms = (double)(ef_now_ns() - t) / 1e6;
            if (ms < best[k]) best[k] = ms;
        }
    printf("Adam, 20 M parameters: by hand %.1f ms, sweep %.1f ms, ratio %.2f\n", best[0], best[1],
           best[1] / best[0]);
    ef_free_aligned(a.w);
    ef_free_aligned(a.m);
    ef_free_aligned(a.v);
    ef_free_aligned(a.g);
    return 0;
}
