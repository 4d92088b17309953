/* Attention and its gradients against plain loops in double. */
#include "base/alloc.h"
#include "base/pool.h"
#include "check.h"
#include "kernels/attention.h"
#include "tensor/scratch.h"
#include <math.h>
#include <stdlib.h>

static uint64_t state = 1;
static float number(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (float)((int64_t)(state >> 40) - (1 << 23)) / (1 << 23);
}

static float *numbers(int64_t n) {
    float *x = malloc((size_t)(n + 1) * sizeof *x);
    for (int64_t i = 0; i < n; i++) x[i] = number();
    return x;
}

/* Arrays with the axes [batch, rows, heads, cols], or with [batch, heads, cols, rows]. */
typedef struct sizes {
    int64_t batch, heads, queries, keys, width, depth;
    bool scaled, biased, masked, turned;
} sizes;

static ef_matrices array(const sizes *s, int64_t rows, int64_t cols, void *data) {
    int64_t all = rows * s->heads * cols;
    if (s->turned) return (ef_matrices){data, 1, rows, {all, rows * cols}};
    return (ef_matrices){data, s->heads * cols, 1, {all, cols}};
}

static float at(const ef_matrices *m, int64_t b, int64_t h, int64_t i, int64_t j) {
    return ((float *)m->data)[b * m->step[0] + h * m->step[1] + i * m->row + j * m->col];
}

typedef struct problem {
    ef_attention a;
    sizes s;
    float *memory[9];
    float scale, fill;
    bool *mask;
} problem;

static problem make(const sizes *s) {
    problem p = {.s = *s, .scale = 0.7f, .fill = -50};
    const int64_t rows[] = {s->queries, s->keys, s->keys, s->queries};
    const int64_t cols[] = {s->width, s->width, s->depth, s->depth};
    ef_attention *a = &p.a;
    *a = (ef_attention){.dtype = EF_F32,
                        .rank = 2,
                        .dim = {s->batch, s->heads},
                        .queries = s->queries,
                        .keys = s->keys,
                        .width = s->width,
                        .depth = s->depth};
    ef_matrices *const operand[] = {&a->q, &a->k, &a->v, &a->out};
    for (int k = 0; k < 4; k++) {
        p.memory[k] = numbers(s->batch * s->heads * rows[k] * cols[k]);
        *operand[k] = array(s, rows[k], cols[k], p.memory[k]);
    }
    if (s->scaled) a->scale = &p.scale;
    p.memory[4] = numbers(s->queries * s->keys);
    if (s->biased) a->bias = (ef_matrices){p.memory[4], s->keys, 1, {0, 0}};
    p.mask = malloc((size_t)(s->batch * s->keys + 1));
    for (int64_t k = 0; k < s->batch * s->keys; k++) p.mask[k] = number() > -0.5f;
    if (s->masked) a->mask = (ef_matrices){p.mask, 0, 1, {s->keys, 0}}, a->fill = &p.fill;
    for (int k = 0; k < 3; k++) p.memory[5 + k] = numbers(s->batch * s->heads * rows[k] * cols[k]);
    p.memory[8] = numbers(s->batch * s->heads * s->queries * s->depth);
    return p;
}

/* The copy of a problem moves; so these point into it only now. */
static void bind(problem *p) {
    if (p->s.scaled) p->a.scale = &p->scale;
    if (p->s.masked) p->a.fill = &p->fill;
}

static void end(problem *p) {
    for (int k = 0; k < 9; k++) free(p->memory[k]);
    free(p->mask);
}

static bool shown(const problem *p, int64_t b, int64_t j) {
    return !p->s.masked || p->mask[b * p->s.keys + j];
}

/* The weights of one matrix of the batch. */
static void weights(const problem *p, int64_t b, int64_t h, double *w) {
    const sizes *s = &p->s;
    for (int64_t i = 0; i < s->queries; i++, w += s->keys) {
        double high = -INFINITY, sum = 0;
        for (int64_t j = 0; j < s->keys; j++) {
            double x = 0;
            for (int64_t u = 0; u < s->width; u++)
                x += (double)at(&p->a.q, b, h, i, u) * (double)at(&p->a.k, b, h, j, u);
            if (s->scaled) x *= (double)p->scale;
            if (s->biased) x += (double)p->memory[4][i * s->keys + j];
            w[j] = shown(p, b, j) ? x : (double)p->fill;
            high = fmax(high, w[j]);
        }
        for (int64_t j = 0; j < s->keys; j++) sum += w[j] = exp(w[j] - high);
        for (int64_t j = 0; j < s->keys; j++) w[j] /= sum;
    }
}

/* The gradient with respect to the products, from the weights. */
static void score_grads(const problem *p, int64_t b, int64_t h, const double *w, double *d) {
    const sizes *s = &p->s;
    for (int64_t i = 0; i < s->queries; i++, w += s->keys, d += s->keys) {
        double dot = 0;
        for (int64_t j = 0; j < s->keys; j++) {
            d[j] = 0;
            for (int64_t u = 0; u < s->depth; u++)
                d[j] += (double)at(&p->a.out, b, h, i, u) * (double)at(&p->a.v, b, h, j, u);
            dot += d[j] * w[j];
        }
        for (int64_t j = 0; j < s->keys; j++) {
            d[j] = shown(p, b, j) ? (d[j] - dot) * w[j] : 0;
            if (s->scaled) d[j] *= (double)p->scale;
        }
    }
}

/* The largest difference between `got`, m x n, and the sum over u of x(i, u) y(u, j). */
static double worst(int64_t m, int64_t n, int64_t k, const double *x, int64_t x_row, int64_t x_col,
                    const ef_matrices *y, const ef_matrices *got, int64_t b, int64_t h) {
    double most = 0;
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            double sum = 0;
            for (int64_t u = 0; u < k; u++)
                sum += x[i * x_row + u * x_col] * (double)at(y, b, h, u, j);
            most = fmax(most, fabs(sum - (double)at(got, b, h, i, j)));
        }
    return most;
}

static void compare(const sizes *s) {
    problem p = make(s);
    bind(&p);
    double *w = calloc((size_t)(s->queries * s->keys + 1), sizeof *w);
    double *d = calloc((size_t)(s->queries * s->keys + 1), sizeof *d);
    ef_attention f = p.a, g = p.a;
    f.out = array(s, s->queries, s->depth, p.memory[8]);
    CHECK(ef_attention_run(&f));
    g.dq = array(s, s->queries, s->width, p.memory[5]);
    g.dk = array(s, s->keys, s->width, p.memory[6]);
    g.dv = array(s, s->keys, s->depth, p.memory[7]);
    CHECK(ef_attention_gradient(&g));
    const int64_t t = s->queries, k = s->keys;
    for (int64_t b = 0; b < s->batch; b++)
        for (int64_t h = 0; h < s->heads; h++) {
            weights(&p, b, h, w);
            CHECK_NEAR(worst(t, s->depth, k, w, k, 1, &p.a.v, &f.out, b, h), 0, 1e-5);
            CHECK_NEAR(worst(k, s->depth, t, w, 1, k, &p.a.out, &g.dv, b, h), 0, 3e-5);
            score_grads(&p, b, h, w, d);
            CHECK_NEAR(worst(t, s->width, k, d, k, 1, &p.a.k, &g.dq, b, h), 0, 3e-5);
            CHECK_NEAR(worst(k, s->width, t, d, 1, k, &p.a.q, &g.dk, b, h), 0, 3e-5);
        }
    free(w), free(d);
    end(&p);
}

/* Many matrices and a single one, one block of queries and several, sizes that fill no vector. */
static const sizes all[] = {{2, 3, 17, 19, 8, 5, false, false, false, false},
                            {2, 3, 17, 19, 8, 5, true, true, true, false},
                            {1, 1, 200, 70, 16, 16, true, false, true, false},
                            {1, 1, 333, 65, 7, 9, true, true, false, true},
                            {2, 2, 1, 33, 4, 4, true, false, true, true},
                            {1, 2, 40, 1, 3, 2, false, true, false, false},
                            {1, 1, 150, 5000, 4, 3, true, false, true, false},
                            {3, 1, 9, 11, 1, 1, true, false, false, true}};

EF_TEST(against_plain_loops) {
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) compare(&all[k]);
}

EF_TEST(without_keys_the_result_is_zero) {
    sizes s = {1, 2, 3, 0, 4, 5, true, false, false, false};
    problem p = make(&s);
    bind(&p);
    CHECK(ef_attention_run(&p.a));
    for (int k = 0; k < 30; k++) CHECK(p.memory[3][k] == 0);
    end(&p);
}

EF_TEST(without_queries_sums_over_them_are_zero) {
    sizes s = {1, 2, 0, 3, 4, 5, true, false, false, false};
    problem p = make(&s);
    bind(&p);
    p.a.dk = array(&s, 3, 4, p.memory[6]), p.a.dv = array(&s, 3, 5, p.memory[7]);
    CHECK(ef_attention_gradient(&p.a));
    for (int k = 0; k < 24; k++) CHECK(p.memory[6][k] == 0 && p.memory[7][k] == 0);
    end(&p);
}

/* The same problem on one thread and on all of them. */
EF_TEST(threads_do_not_change_the_result) {
    sizes s = {1, 1, 500, 300, 16, 16, true, true, true, false};
    problem p = make(&s);
    bind(&p);
    float *first = numbers(3 * 300 * 16);
    p.a.dk = array(&s, 300, 16, p.memory[6]), p.a.dv = array(&s, 300, 16, p.memory[7]);
    ef_pool_limit(1);
    CHECK(ef_attention_gradient(&p.a));
    memcpy(first, p.memory[6], 300 * 16 * sizeof *first);
    memcpy(first + 300 * 16, p.memory[7], 300 * 16 * sizeof *first);
    ef_pool_limit(0);
    CHECK(ef_attention_gradient(&p.a));
    CHECK(memcmp(first, p.memory[6], 300 * 16 * sizeof *first) == 0);
    CHECK(memcmp(first + 300 * 16, p.memory[7], 300 * 16 * sizeof *first) == 0);
    free(first);
    end(&p);
}

EF_TEST(without_memory_it_says_so) {
    sizes s = {1, 1, 100, 100, 8, 8, false, false, false, false};
    problem p = make(&s);
    ef_scratch_end(ef_scratch_take(1)); /* with lock checking, a thread's first lock allocates */
    ef_alloc_fail_at(1);
    CHECK(!ef_attention_run(&p.a));
    ef_alloc_fail_at(1);
    CHECK(!ef_attention_gradient(&p.a));
    ef_alloc_fail_at(0);
    end(&p);
}

int main(void) {
    EF_RUN(against_plain_loops);
    EF_RUN(without_keys_the_result_is_zero);
    EF_RUN(without_queries_sums_over_them_are_zero);
    EF_RUN(threads_do_not_change_the_result);
    EF_RUN(without_memory_it_says_so);
    return EF_VERDICT();
}
