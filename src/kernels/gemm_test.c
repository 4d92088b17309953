/* Products against a plain triple loop: every layout of the operands, sizes on both sides of each
 * decision of gemm.c, strides, accumulation, epilogues, batches. */
#include "base/pool.h"
#include "check.h"
#include "kernels/gemm.h"
#include <signal.h>
#include <stdlib.h>
#include <sys/time.h>

enum { MOST = 160 * 160 };
static uint64_t state = 1;
static double number(void) { /* small integers over 8: exact in every float type */
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)((int64_t)(state >> 60) - 8) / 8;
}

static double a[MOST], b[MOST], want[MOST], start[MOST];
static _Alignas(64) char ta[MOST * 16], tb[MOST * 16], tc[MOST * 16], room[MOST * 16];

static void put(ef_dtype t, void *to, const double *from, int64_t n) {
    double scale = ef_dtype_in(t, EF_INTS) ? 8 : 1;
    for (int64_t i = 0; i < n; i++) ef_element_set(t, to, i, from[i] * scale);
}

static double at(const double *x, ef_gemm_op op, int64_t ld, int64_t i, int64_t j) {
    return op == EF_GEMM_N ? x[i * ld + j] : x[j * ld + i];
}

static void reference(const ef_gemm_args *g) {
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            double s = g->add ? start[i * g->ldc + j] : 0;
            for (int64_t p = 0; p < g->k; p++)
                s += at(a, g->op_a, g->lda, i, p) * at(b, g->op_b, g->ldb, p, j);
            want[i * g->ldc + j] = s;
        }
}

static void compare(ef_dtype t, int64_t m, int64_t n, int64_t k, int ops, int pad, bool add) {
    ef_gemm_args g = ef_gemm_dense(t, ops & 1 ? EF_GEMM_T : EF_GEMM_N,
                                   ops & 2 ? EF_GEMM_T : EF_GEMM_N, m, n, k, ta, tb, tc);
    g.lda += pad, g.ldb += pad, g.ldc += pad, g.add = add;
    for (int i = 0; i < MOST; i++) a[i] = number(), b[i] = number(), start[i] = number();
    put(t, ta, a, MOST), put(t, tb, b, MOST), put(t, tc, start, MOST);
    CHECK(ef_gemm_scratch(&g) <= sizeof room);
    g.scratch = room;
    reference(&g);
    ef_gemm(&g);
    double scale = ef_dtype_in(t, EF_INTS) ? 64 : 1;
    double slack = t == EF_F16 ? 0.02 : t == EF_BF16 ? 0.2 : 1e-3;
    if (ef_dtype_in(t, EF_INTS) && add) return; /* start has another scale than the product */
    for (int64_t i = 0; i < m; i++) {
        for (int64_t j = 0; j < n; j++)
            CHECK_NEAR(ef_element_double(t, tc, i * g.ldc + j), want[i * g.ldc + j] * scale, slack);
        for (int64_t j = n; j < n + pad && i < m - 1; j++) /* elements between rows do not change */
            CHECK_NEAR(ef_element_double(t, tc, i * g.ldc + j),
                       start[i * g.ldc + j] * (scale > 1 ? 8 : 1), 1e-2);
    }
}

EF_TEST(sizes_and_orders) {
    static const int size[][3] = {{1, 1, 1},    {2, 3, 4},     {8, 8, 8},      {3, 17, 5},
                                  {9, 16, 7},   {1, 40, 30},   {40, 1, 30},    {2, 9, 50},
                                  {25, 24, 23}, {13, 100, 70}, {70, 65, 1},    {0, 3, 2},
                                  {3, 0, 2},    {5, 4, 0},     {150, 140, 130}};
    static const ef_dtype types[] = {EF_F32, EF_F64, EF_F16, EF_BF16, EF_I32, EF_I64, EF_I16};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < sizeof size / sizeof *size; s++)
            for (int ops = 0; ops < 4; ops++)
                compare(types[t], size[s][0], size[s][1], size[s][2], ops, 0, false);
}

EF_TEST(strides_and_accumulation) {
    for (int ops = 0; ops < 4; ops++) {
        compare(EF_F32, 7, 9, 11, ops, 3, false);
        compare(EF_F32, 7, 9, 11, ops, 3, true);
        compare(EF_F32, 50, 60, 70, ops, 5, true);
        compare(EF_F64, 20, 30, 10, ops, 2, true);
        compare(EF_F16, 6, 5, 4, ops, 1, true);
        compare(EF_I32, 30, 140, 70, ops, 2, false);
    }
}

EF_TEST(many_rows_by_a_small_matrix) {
    for (int n = 1; n <= 18; n++)
        for (int k = 1; k <= 18; k++) {
            compare(EF_F32, 70, n, k, (n + k) % 2 * 2, 0, false);
            compare(EF_F32, 5 + k, n, k, k % 2 * 2, n % 3, n % 2);
        }
    compare(EF_F32, 380, 8, 8, 0, 0, false);
    compare(EF_F32, 380, 30, 8, 0, 1, true);
}

/* Blocks that end where the matrices end: a sanitizer detects a read beyond them. */
EF_TEST(reads_within_the_operands) {
    for (size_t n = 1; n < 20; n++)
        for (size_t k = 1; k < 20; k++) {
            size_t m = 1 + (n * k) % 37;
            float *x = calloc(m * k, sizeof *x), *y = calloc(k * n, sizeof *y);
            float *z = malloc(m * n * sizeof *z);
            ef_gemm_args g = ef_gemm_dense(EF_F32, EF_GEMM_N, EF_GEMM_N, (int64_t)m, (int64_t)n,
                                           (int64_t)k, x, y, z);
            ef_gemm(&g);
            for (size_t i = 0; i < m * n; i++) CHECK_NEAR(z[i], 0, 0);
            free(x), free(y), free(z);
        }
}

EF_TEST(integers_wrap) {
    int32_t x[2] = {INT32_MAX, INT32_MIN}, y[2] = {2, -1}, z;
    ef_gemm_args g = ef_gemm_dense(EF_I32, EF_GEMM_N, EF_GEMM_N, 1, 1, 2, x, y, &z);
    ef_gemm(&g);
    CHECK_INT(z, INT32_MAX - 1); /* -2 + 2^31, modulo 2^32 */
}

/* Divided by rows, by columns and along k, with an epilogue: bit-identical for one thread and for
 * all. */
EF_TEST(does_not_depend_on_the_team) {
    static const int size[][3] = {{300, 200, 100}, {64, 700, 300},   {600, 64, 200},
                                  {40, 40, 9000},  {1, 500, 3000},   {700, 1, 2000},
                                  {1, 1, 300000},  {20, 30, 400000}, {33, 3000, 40}};
    static const ef_dtype types[] = {EF_F32, EF_F64};
    for (size_t t = 0; t < 2; t++)
        for (size_t s = 0; s < sizeof size / sizeof *size; s++)
            for (int ops = 0; ops < 4; ops++) {
                int64_t m = size[s][0], n = size[s][1], k = size[s][2];
                size_t each = ef_dtype_size(types[t]), out = (size_t)(m * n) * each;
                char *x = malloc((size_t)(m * k) * each), *y = malloc((size_t)(k * n) * each);
                char *one = malloc(out), *all = malloc(out), *bias = malloc((size_t)n * each);
                for (int64_t i = 0; i < m * k; i++) ef_element_set(types[t], x, i, number() / 3);
                for (int64_t i = 0; i < k * n; i++) ef_element_set(types[t], y, i, number() / 7);
                for (int64_t i = 0; i < n; i++) ef_element_set(types[t], bias, i, number());
                ef_post post = {.bias = bias, .act = EF_ACT_RELU};
                ef_gemm_args g = ef_gemm_dense(types[t], ops & 1 ? EF_GEMM_T : EF_GEMM_N,
                                               ops & 2 ? EF_GEMM_T : EF_GEMM_N, m, n, k, x, y, one);
                g.post = &post;
                ef_pool_limit(1);
                ef_gemm(&g);
                ef_pool_limit(0);
                g.c = all;
                ef_gemm(&g);
                CHECK(memcmp(one, all, out) == 0);
                double last = ef_element_double(types[t], bias, n - 1); /* the last element */
                for (int64_t p = 0; p < k; p++)
                    last +=
                        ef_element_double(types[t], x, ops & 1 ? p * m + m - 1 : (m - 1) * k + p) *
                        ef_element_double(types[t], y, ops & 2 ? (n - 1) * k + p : p * n + n - 1);
                CHECK_NEAR(ef_element_double(types[t], all, m * n - 1), last > 0 ? last : 0, 0.05);
                free(x), free(y), free(one), free(all), free(bias);
            }
}

EF_TEST(complex_adjoint) {
    float x[4] = {1, 2, 3, 4}, y[4] = {5, 6, 7, 8}, z[2];
    ef_gemm_args g = ef_gemm_dense(EF_C64, EF_GEMM_C, EF_GEMM_N, 1, 1, 2, x, y, z);
    ef_gemm(&g); /* conj(1+2i)(5+6i) + conj(3+4i)(7+8i) */
    CHECK_NEAR(z[0], 17 + 53, 1e-5);
    CHECK_NEAR(z[1], -4 - 4, 1e-5);
}

static void with_epilogue(int64_t m, int64_t n, int64_t k, ef_activation act) {
    static float x[300 * 40], w[40 * 50], bias[50], rest[300 * 50], bare[300 * 50], y[300 * 50];
    for (size_t i = 0; i < sizeof x / sizeof *x; i++) x[i] = (float)number();
    for (size_t i = 0; i < sizeof w / sizeof *w; i++) w[i] = (float)number();
    for (size_t i = 0; i < sizeof bias / sizeof *bias; i++) bias[i] = (float)number();
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++) rest[i] = (float)number();
    ef_gemm_args g = ef_gemm_dense(EF_F32, EF_GEMM_N, EF_GEMM_N, m, n, k, x, w, bare);
    ef_gemm(&g);
    ef_post post = {bias, rest, act, 0.25f, 0};
    g.c = y, g.post = &post;
    ef_gemm(&g);
    for (int64_t i = 0; i < m * n; i++) {
        double v = (double)bare[i] + (double)bias[i % n] + (double)rest[i];
        switch (act) {
        case EF_ACT_RELU: v = v > 0 ? v : 0; break;
        case EF_ACT_RELU6: v = v < 0 ? 0 : v > 6 ? 6 : v; break;
        case EF_ACT_ELU: v = v < 0 ? expm1(v) : v; break;
        case EF_ACT_TANH: v = tanh(v); break;
        case EF_ACT_SIGMOID: v = 1 / (1 + exp(-v)); break;
        case EF_ACT_LEAKY_RELU: v = v > 0 ? v : v / 4; break;
        default: break;
        }
        CHECK_NEAR(y[i], v, 1e-4);
    }
}

EF_TEST(epilogues) {
    for (int act = 0; act < EF_ACTS; act++) {
        with_epilogue(3, 5, 4, (ef_activation)act);
        with_epilogue(300, 50, 40, (ef_activation)act);
    }
}

EF_TEST(batches) {
    float x[3 * 2 * 3], y[2 * 3 * 2], z[2 * 3 * 2 * 2];
    for (int i = 0; i < 18; i++) x[i] = (float)i;
    for (int i = 0; i < 12; i++) y[i] = (float)(i % 5);
    ef_gemm_args g = ef_gemm_dense(EF_F32, EF_GEMM_N, EF_GEMM_N, 2, 2, 3, x, y, z);
    ef_gemm_batch batch = {.rank = 2, .dim = {2, 3}, .step_a = {0, 6}, .step_b = {6, 0}};
    ef_gemm_batched(&g, &batch);
    for (int p = 0; p < 2; p++)
        for (int q = 0; q < 3; q++)
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++) {
                    double s = 0;
                    for (int k = 0; k < 3; k++)
                        s += (double)x[q * 6 + i * 3 + k] * (double)y[p * 6 + k * 2 + j];
                    CHECK_NEAR(z[((p * 3 + q) * 2 + i) * 2 + j], s, 1e-4);
                }
}

static volatile sig_atomic_t signals;
static void count_signal(int sig) {
    (void)sig;
    signals = signals + 1;
}

/* A signal handler on the alternate stack may interrupt a product anywhere; workers block all
 * signals. */
EF_TEST(signals_during_a_product) {
    enum { M = 93, N = 700, K = 700, TURNS = 1500 };
    float *x = malloc(M * K * sizeof *x), *y = malloc(K * N * sizeof *y);
    float *z = malloc(M * N * sizeof *z), *first = malloc(M * N * sizeof *z);
    for (int i = 0; i < M * K; i++) x[i] = (float)number();
    for (int i = 0; i < K * N; i++) y[i] = (float)number();
    ef_gemm_args g = ef_gemm_dense(EF_F32, EF_GEMM_N, EF_GEMM_N, M, N, K, x, y, first);
    ef_gemm(&g);
    g.c = z;
    struct sigaction act = {.sa_handler = count_signal, .sa_flags = SA_ONSTACK}, was;
    struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    sigaction(SIGALRM, &act, &was);
    setitimer(ITIMER_REAL, &often, NULL);
    int wrong = 0;
    for (int k = 0; k < TURNS; k++) {
        ef_gemm(&g);
        for (int i = 0; i < M * N; i++) wrong += z[i] != first[i];
    }
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &was, NULL);
    CHECK_INT(wrong, 0);
    CHECK(signals > 0);
    free(x), free(y), free(z), free(first);
}

int main(void) {
    EF_RUN(sizes_and_orders);
    EF_RUN(strides_and_accumulation);
    EF_RUN(many_rows_by_a_small_matrix);
    EF_RUN(reads_within_the_operands);
    EF_RUN(integers_wrap);
    EF_RUN(does_not_depend_on_the_team);
    EF_RUN(complex_adjoint);
    EF_RUN(epilogues);
    EF_RUN(batches);
    EF_RUN(signals_during_a_product);
    return EF_VERDICT();
}
