/* Matrix products, and a dense layer against its product alone. */
#include "bench.h"
#include <oneapi/dnnl/dnnl.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct product {
    ef_tensor a, b, bias;
    float *out;
    int64_t m, k, n;
    ef_function *f;
} product;

static void by_engine(void *arg) {
    product *p = arg;
    ef_tensor out;
    bench_op("MatMul", 2, &p->a, &p->b, &out);
    bench_data(&out);
    ef_tensor_release(&out);
}

static void by_dnnl(void *arg) {
    product *p = arg;
    dnnl_sgemm('N', 'N', p->m, p->n, p->k, 1.0f, bench_data(&p->a), p->k, bench_data(&p->b), p->n,
               0.0f, p->out, p->n);
}

/* A plain triple loop for a small product; the compiler does not know the sizes. */
static void by_loop(void *arg) {
    product *p = arg;
    const float *restrict a = bench_data(&p->a), *restrict b = bench_data(&p->b);
    float *restrict o = p->out;
    int64_t m = p->m, n = p->n, inner = p->k;
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++) o[i * n + j] = 0;
        for (int64_t k = 0; k < inner; k++)
            for (int64_t j = 0; j < n; j++) o[i * n + j] += a[i * inner + k] * b[k * n + j];
    }
}

static void make(product *p, int64_t m, int64_t k, int64_t n) {
    int64_t da[] = {m, k}, db[] = {k, n}, dn[] = {n};
    bench_fill(&p->a, EF_F32, 2, da, 1);
    bench_fill(&p->b, EF_F32, 2, db, 2);
    bench_fill(&p->bias, EF_F32, 1, dn, 3);
    p->m = m;
    p->k = k;
    p->n = n;
    if ((p->out = aligned_alloc(64, (size_t)(m * n) * sizeof *p->out)) == NULL) exit(2);
}

static void end(product *p) {
    ef_tensor_release(&p->a);
    ef_tensor_release(&p->b);
    ef_tensor_release(&p->bias);
    free(p->out);
}

static ef_status *dense(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    (void)user;
    (void)n_in;
    (void)max_out;
    ef_tensor y, z;
    bench_op("MatMul", 2, &in[0], &in[1], &y);
    bench_op("BiasAdd", 2, &y, &in[2], &z);
    bench_op("Relu", 1, &z, NULL, out);
    ef_tensor_release(&y);
    ef_tensor_release(&z);
    *n_out = 1;
    return NULL;
}

static ef_status *only_product(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                               int max_out, int *n_out) {
    (void)user;
    (void)n_in;
    (void)max_out;
    bench_op("MatMul", 2, &in[0], &in[1], out);
    *n_out = 1;
    return NULL;
}

static void by_function(void *arg) {
    product *p = arg;
    const ef_tensor *in[] = {&p->a, &p->b, &p->bias};
    ef_tensor out;
    int n;
    bench_check(ef_function_call(p->f, in, 3, &out, 1, &n));
    ef_tensor_release(&out);
}

void bench_matmul(void) {
    product p;
    double ns_a, ns_b;
    char what[96];
    make(&p, 1000, 1000, 1000);
    ef_side e = {.work = by_engine, .arg = &p, .times = 1},
            d = {.work = by_dnnl, .arg = &p, .times = 1, .omp = true},
            l = {.work = by_loop, .arg = &p, .times = 20000};
    double times = bench_compare(&e, &d, 41, &ns_a, &ns_b);
    snprintf(what, sizeof what, "%.2f ms against %.2f ms", ns_a / 1e6, ns_b / 1e6);
    bench_row("MatMul 1000^3 / dnnl_sgemm", times, 1.05, " x", what);
    end(&p);

    make(&p, 8, 8, 8);
    e.times = 20000;
    e.alone = l.alone = true;
    times = bench_compare(&e, &l, 31, &ns_a, &ns_b);
    snprintf(what, sizeof what, "%.0f ns against %.0f ns", ns_a, ns_b);
    bench_row("MatMul 8^3 / plain loop", times, 3, " x", what);
    end(&p);

    make(&p, 1000, 784, 128);
    product q = p;
    bench_check(ef_function_new(dense, NULL, "dense", &p.f));
    bench_check(ef_function_new(only_product, NULL, "product", &q.f));
    ef_side fd = {.work = by_function, .arg = &p, .times = 2},
            fp = {.work = by_function, .arg = &q, .times = 2};
    times = bench_compare(&fd, &fp, 101, &ns_a, &ns_b);
    snprintf(what, sizeof what, "%.2f ms against %.2f ms", ns_a / 1e6, ns_b / 1e6);
    bench_row("Dense + bias + relu (1000x784->128) / its matmul", times, 1.05, " x", what);
    ef_function_free(p.f);
    ef_function_free(q.f);
    end(&p);
}
