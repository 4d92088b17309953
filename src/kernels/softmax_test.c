/* Softmax and cross-entropy against double arithmetic, and results for infinities and NaN. */
#include "check.h"
#include "kernels/softmax.h"
#include "kernels/softmax_rows.h"

enum { MOST = 1500 };
static float x[MOST], y[MOST], p[MOST];

static void fill(int n, float scale) {
    for (int i = 0; i < n; i++) x[i] = (float)((i * 7919) % 1013 - 500) / 500 * scale;
}

static double log_sum(int n) {
    double high = (double)x[0];
    for (int i = 1; i < n; i++) high = (double)x[i] > high ? (double)x[i] : high;
    double s = exp((double)x[0] - high);
    for (int i = 1; i < n; i++) s += exp((double)x[i] - high);
    return high + log(s);
}

/* The rounding error allowed, relative to a sum of n exponentials: half a unit for each addition,
 * of which at most a chunk of 512 follow one another in float, and a few units for exp, scale and
 * product. Rounding x - max adds an error in proportion to it. */
#define UNIT 0x1p-24
static double lost(int n) { return ((n < 512 ? n : 512) + 12) * UNIT; }

EF_TEST(rows) {
    static const int n[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 511, 512, 513, 1500};
    static const float scales[] = {0.1f, 1, 10, 100};
    for (size_t k = 0; k < sizeof n / sizeof *n; k++)
        for (size_t m = 0; m < sizeof scales / sizeof *scales; m++) {
            const float scale = scales[m];
            fill(n[k], scale);
            double l = log_sum(n[k]);
            ef_softmax(EF_F32, false, x, y, 1, n[k]);
            for (int i = 0; i < n[k]; i++) {
                double want = exp((double)x[i] - l);
                CHECK_NEAR(y[i], want, (lost(n[k]) + fabs((double)x[i] - l) * UNIT) * want + 1e-38);
            }
            ef_softmax(EF_F32, true, x, y, 1, n[k]);
            for (int i = 0; i < n[k]; i++)
                CHECK_NEAR(y[i], (double)x[i] - l, lost(n[k]) + 4 * UNIT * (double)scale);
        }
}

EF_TEST(sixteen_bits) {
    ef_f16 h[600], r[600];
    fill(600, 4);
    for (int i = 0; i < 600; i++) h[i] = ef_float_f16(x[i]), x[i] = ef_f16_float(h[i]);
    double l = log_sum(600);
    ef_softmax(EF_F16, false, h, r, 1, 600);
    for (int i = 0; i < 600; i++) CHECK_NEAR(ef_f16_float(r[i]), exp((double)x[i] - l), 1e-5);
}

EF_TEST(not_finite) {
    float a[] = {1, NAN}, b[] = {1, INFINITY}, c[] = {-INFINITY, -INFINITY}, d[] = {-INFINITY, 1};
    ef_softmax(EF_F32, false, a, y, 1, 2);
    CHECK(isnan(y[0]) && isnan(y[1]));
    ef_softmax(EF_F32, false, b, y, 1, 2);
    CHECK(isnan(y[0]) && isnan(y[1]));
    ef_softmax(EF_F32, false, c, y, 1, 2);
    CHECK(isnan(y[0]) && isnan(y[1]));
    ef_softmax(EF_F32, false, d, y, 1, 2);
    CHECK(y[0] == 0 && y[1] == 1);
    ef_softmax(EF_F32, true, d, y, 1, 2);
    CHECK(y[0] == -INFINITY && y[1] == 0);
}

/* The tables of loops that this processor can run. */
static const ef_softmax_rows *table(int k) {
    if (k == 0) return &ef_softmax_base;
#if defined(__x86_64__)
    if (k == 1 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
        return &ef_softmax_v4;
#endif
    return NULL;
}

/* Every length up to several vectors; nothing beyond the row is read or written. */
EF_TEST(each_table_at_every_length) {
    for (int k = 0; table(k) != NULL; k++)
        for (int n = 1; n <= 140; n++) {
            fill(n, 20);
            x[n] = 1000, y[n] = 7;
            double l = log_sum(n), sum = 0, high = -1e30;
            for (int i = 0; i < n; i++) high = fmax(high, (double)x[i]);
            CHECK((double)table(k)->highest(x, n) == high);
            double got = table(k)->exps(x, y, n, (float)high);
            for (int i = 0; i < n; i++) sum += (double)y[i];
            CHECK_NEAR(got, sum, lost(n) * sum);
            CHECK(table(k)->exp_sum(x, n, (float)high) == got);
            table(k)->row(false, x, y, n);
            for (int i = 0; i < n; i++) {
                double want = exp((double)x[i] - l);
                CHECK_NEAR(y[i], want, (lost(n) + fabs((double)x[i] - l) * UNIT) * want + 1e-38);
            }
            CHECK(y[n] == 7);
            CHECK_NEAR(table(k)->sparse(x, n - 1, NULL, n), l - (double)x[n - 1], 1e-4);
        }
}

/* One NaN makes the row NaN at any position; an element of minus infinity has weight zero. */
EF_TEST(each_place_in_a_row) {
    for (int k = 0; table(k) != NULL; k++)
        for (int at = 0; at < 67; at++) {
            fill(67, 1);
            x[at] = NAN;
            table(k)->row(false, x, y, 67);
            bool all = true;
            for (int i = 0; i < 67; i++) all = all && isnan(y[i]);
            CHECK(all);
            x[at] = -INFINITY;
            table(k)->row(false, x, y, 67);
            CHECK(y[at] == 0 && y[(at + 1) % 67] > 0);
            fill(67, 1);
            x[at] = 200; /* all others are below the normal range */
            table(k)->row(false, x, y, 67);
            CHECK(y[at] == 1 && y[(at + 1) % 67] == 0);
        }
}

EF_TEST(nothing_to_do) {
    y[0] = 7;
    ef_softmax(EF_F32, false, x, y, 0, 5);
    ef_softmax(EF_F32, false, x, y, 5, 0);
    CHECK(y[0] == 7);
}

EF_TEST(cross_entropies_agree) {
    float loss[2], back[2 * 70], sparse_loss[2], sparse_back[2 * 70];
    int64_t label[] = {3, 69};
    fill(140, 3);
    for (int i = 0; i < 140; i++) p[i] = i == 3 || i == 139;
    ef_cross_entropy c = {EF_F32, 2, 70, x, p, 70, 1, 70, 1, loss, back};
    ef_softmax_cross_entropy(&c);
    ef_sparse_cross_entropy(EF_F32, x, label, EF_I64, sparse_loss, sparse_back, 2, 70);
    CHECK_NEAR(loss[0], log_sum(70) - (double)x[3], 1e-5);
    for (int r = 0; r < 2; r++) CHECK_NEAR(loss[r], sparse_loss[r], 1e-5);
    for (int i = 0; i < 140; i++) CHECK_NEAR(back[i], sparse_back[i], 1e-6);
}

EF_TEST(operands_broadcast) {
    float logits[] = {1, 2, 3}, labels[] = {0.5f, 0.25f}, loss[2], back[6];
    ef_cross_entropy c = {EF_F32, 2, 3, logits, labels, 0, 1, 1, 0, loss, back};
    ef_softmax_cross_entropy(&c);
    double l = 3 + log(1 + exp(-1) + exp(-2));
    CHECK_NEAR(loss[0], 0.5 * (3 * l - 6), 1e-5);
    CHECK_NEAR(loss[1], 0.25 * (3 * l - 6), 1e-5);
    CHECK_NEAR(back[5], exp(3 - l) - 0.25, 1e-6);
}

int main(void) {
    EF_RUN(rows);
    EF_RUN(sixteen_bits);
    EF_RUN(not_finite);
    EF_RUN(each_table_at_every_length);
    EF_RUN(each_place_in_a_row);
    EF_RUN(nothing_to_do);
    EF_RUN(cross_entropies_agree);
    EF_RUN(operands_broadcast);
    return EF_VERDICT();
}
