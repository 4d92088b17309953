/* A 50-layer MLP: the overhead of the first call, of a new batch size, and of a size that was used
 * before. The time of the arithmetic for a size is the median of the calls that follow. */
#include "bench.h"
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS = 50, WIDTH = 64, SIZES = 20, ROUNDS = 9 };

typedef struct mlp {
    ef_tensor w[LAYERS], b[LAYERS];
} mlp;

static ef_status *trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    (void)n_in;
    (void)max_out;
    const mlp *m = user;
    ef_tensor at;
    ef_tensor_copy(&at, &in[0]);
    for (int k = 0; k < LAYERS; k++) {
        ef_tensor y, z;
        bench_op("MatMul", 2, &at, &m->w[k], &y);
        bench_op("BiasAdd", 2, &y, &m->b[k], &z);
        ef_tensor_release(&at);
        bench_op("Relu", 1, &z, NULL, &at);
        ef_tensor_release(&y);
        ef_tensor_release(&z);
    }
    ef_tensor_copy(out, &at);
    ef_tensor_release(&at);
    *n_out = 1;
    return NULL;
}

static double call(ef_function *f, const ef_tensor *x) {
    const ef_tensor *in[] = {x};
    ef_tensor out;
    int n;
    double t = bench_now();
    bench_check(ef_function_call(f, in, 1, &out, 1, &n));
    t = bench_now() - t;
    ef_tensor_release(&out);
    return t;
}

static double steady(ef_function *f, const ef_tensor *x) {
    double v[15];
    for (int k = 0; k < 15; k++) v[k] = call(f, x);
    return bench_median(v, 15);
}

void bench_shapes(void) {
    mlp m;
    int64_t wd[] = {WIDTH, WIDTH}, bd[] = {WIDTH};
    for (int k = 0; k < LAYERS; k++) {
        bench_fill(&m.w[k], EF_F32, 2, wd, (uint32_t)k + 1);
        bench_fill(&m.b[k], EF_F32, 1, bd, (uint32_t)k + 100);
    }
    double first[ROUNDS], fresh[ROUNDS * SIZES], back[ROUNDS * SIZES], at_all[ROUNDS * SIZES];
    int n = 0;
    for (int r = 0; r < ROUNDS; r++) {
        ef_tensor x[SIZES];
        for (int k = 0; k < SIZES; k++) {
            int64_t xd[] = {3 + r + 11 * k, WIDTH};
            bench_fill(&x[k], EF_F32, 2, xd, 7);
        }
        ef_function *f;
        bench_check(ef_function_new(trace, &m, "mlp", &f));
        ef_programs_clear(); /* so that every round's first call is a first call */
        double t0 = call(f, &x[0]), base = steady(f, &x[0]);
        first[r] = t0 - base;
        call(f, &x[1]); /* sizes become symbolic here: one more trace */
        for (int k = 2; k < SIZES; k++) {
            double t = call(f, &x[k]);
            fresh[n + k - 2] = t - steady(f, &x[k]);
        }
        for (int k = 2; k < SIZES; k++, n++) {
            double t = call(f, &x[k]);
            at_all[n] = steady(f, &x[k]);
            back[n] = t - at_all[n];
        }
        ef_function_free(f);
        for (int k = 0; k < SIZES; k++) ef_tensor_release(&x[k]);
    }
    double us_first = bench_median(first, ROUNDS) / 1e3, us_fresh = bench_median(fresh, n) / 1e3;
    double us_back = bench_median(back, n) / 1e3, us_base = bench_median(at_all, n) / 1e3;
    char what[128];
    snprintf(what, sizeof what, "adds %.0f us; the first call added %.0f us to %.0f us", us_fresh,
             us_first, us_base);
    bench_row("50-layer MLP: new batch size / first call", us_fresh / us_first, 0.2, " x", what);
    snprintf(what, sizeof what, "adds %.1f us to %.0f us", us_back, us_base);
    bench_row("coming back to a size: call / steady call", (us_base + us_back) / us_base, 1.05,
              " x", what);
    for (int k = 0; k < LAYERS; k++) {
        ef_tensor_release(&m.w[k]);
        ef_tensor_release(&m.b[k]);
    }
}
