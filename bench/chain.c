/* An elementwise chain of eight ops on 4 Mi floats: the function against one hand-fused loop
 * compiled with the same flags and run on the same threads, and the eager calls against the
 * function. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>

enum { N = 1 << 22 };

static const char *const ops[] = {"Mul", "AddV2", "Relu", "Sub", "Square", "Maximum", "Mul", "Neg"};

typedef struct chain {
    ef_function *f;
    ef_tensor x, y;
    float *out;
} chain;

static void walk(const ef_tensor *x, const ef_tensor *y, ef_tensor *out) {
    ef_tensor at;
    ef_tensor_copy(&at, x);
    for (int k = 0; k < 8; k++) {
        bool unary = k == 2 || k == 4 || k == 7;
        ef_tensor next;
        bench_op(ops[k], unary ? 1 : 2, &at, y, &next);
        ef_tensor_release(&at);
        ef_tensor_copy(&at, &next);
        ef_tensor_release(&next);
    }
    ef_tensor_copy(out, &at);
    ef_tensor_release(&at);
}

static ef_status *trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    (void)user;
    (void)n_in;
    (void)max_out;
    walk(&in[0], &in[1], out);
    *n_out = 1;
    return NULL;
}

static void by_function(void *arg) {
    chain *c = arg;
    const ef_tensor *in[] = {&c->x, &c->y};
    ef_tensor out;
    int n;
    bench_check(ef_function_call(c->f, in, 2, &out, 1, &n));
    bench_data(&out);
    ef_tensor_release(&out);
}

static void eagerly(void *arg) {
    chain *c = arg;
    ef_tensor out;
    walk(&c->x, &c->y, &out);
    bench_data(&out);
    ef_tensor_release(&out);
}

static void by_hand(void *arg) {
    chain *c = arg;
    const float *restrict x = bench_data(&c->x), *restrict y = bench_data(&c->y);
    float *restrict o = c->out;
#pragma omp parallel for simd
    for (int k = 0; k < N; k++) {
        float v = x[k] * y[k] + y[k];
        v = v > 0 ? v : 0;
        v -= y[k];
        v *= v;
        v = v > y[k] ? v : y[k];
        o[k] = -(v * y[k]);
    }
}

void bench_chain(void) {
    chain c;
    int64_t dim[] = {N};
    bench_fill(&c.x, EF_F32, 1, dim, 1);
    bench_fill(&c.y, EF_F32, 1, dim, 2);
    if ((c.out = aligned_alloc(64, N * sizeof *c.out)) == NULL) exit(2);
    bench_check(ef_function_new(trace, NULL, "chain", &c.f));
    by_function(&c);
    ef_side f = {.work = by_function, .arg = &c, .times = 1},
            h = {.work = by_hand, .arg = &c, .times = 1, .omp = true},
            e = {.work = eagerly, .arg = &c, .times = 1};
    double ns_f, ns_h, ns_e, ns_f2;
    char what[96];
    double times = bench_compare(&f, &h, 101, &ns_f, &ns_h);
    snprintf(what, sizeof what, "%.2f ms against %.2f ms", ns_f / 1e6, ns_h / 1e6);
    bench_row("8-op chain on 4 Mi floats / hand-fused loop", times, 2.0, " x", what);
    times = bench_compare(&e, &f, 101, &ns_e, &ns_f2);
    snprintf(what, sizeof what, "%.2f ms against %.2f ms", ns_e / 1e6, ns_f2 / 1e6);
    bench_row("the same chain eagerly / function", times, 1.15, " x", what);
    ef_function_free(c.f);
    ef_tensor_release(&c.x);
    ef_tensor_release(&c.y);
    free(c.out);
}
