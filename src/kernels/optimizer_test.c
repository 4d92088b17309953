#include "base/pool.h"
#include "check.h"
#include "kernels/optimizer.h"

enum { N = 37 };

EF_TEST(adam_is_its_formula) {
    float w[N], m[N], v[N], g[N];
    double k[] = {0.81, 0.998001, 0.01, 0.9, 0.999, 1e-7};
    for (int i = 0; i < N; i++) {
        w[i] = (float)i;
        m[i] = 0.1F * (float)i;
        v[i] = 0.2F;
        g[i] = 1.0F - 0.1F * (float)i;
    }
    ef_sweep s = {.rule = EF_RULE_ADAM, .dtype = EF_F32, .at = {w, m, v}, .grad = g};
    memcpy(s.k, k, sizeof k);
    ef_sweep_dense(&s, N);
    for (int i = 0; i < N; i++) {
        double gi = 1 - 0.1 * i, mi = 0.09 * i + 0.1 * gi, vi = 0.999 * 0.2 + 0.001 * gi * gi;
        double step = 0.01 * sqrt(1 - k[1]) / (1 - k[0]);
        CHECK_NEAR(m[i], mi, 1e-6);
        CHECK_NEAR(v[i], vi, 1e-6);
        CHECK_NEAR(w[i], i - step * mi / (sqrt(vi) + 1e-7), 1e-5);
    }
}

/* Every rule, in every type it supports, agrees with its result in double. */
EF_TEST(types_agree) {
    for (int rule = 0; rule < EF_RULES; rule++)
        for (int t = 0; t < EF_DTYPES; t++) {
            if (!ef_rule_has((ef_rule)rule, (ef_dtype)t)) continue;
            double want[4][N], g[N];
            double room[5][2 * N];
            ef_sweep a = {.rule = (ef_rule)rule, .dtype = EF_F64, .grad = g};
            ef_sweep b = {.rule = (ef_rule)rule, .dtype = (ef_dtype)t, .grad = room[4]};
            for (int j = 0; j < EF_RULE_NUMBERS; j++) a.k[j] = b.k[j] = 0.5 - 0.0625 * j;
            for (int i = 0; i < N; i++) {
                g[i] = 0.125 * (i % 9) - 0.5;
                ef_element_set((ef_dtype)t, room[4], i, g[i]);
                for (int j = 0; j < 4; j++) {
                    want[j][i] = (1 + 0.25 * ((i + j) % 5)) / (j == 1 ? 4 : 1);
                    ef_element_set((ef_dtype)t, room[j], i, want[j][i]);
                }
            }
            for (int j = 0; j < 4; j++) {
                a.at[j] = want[j];
                b.at[j] = room[j];
            }
            if (rule == EF_RULE_FTRL || rule == EF_RULE_FTRL_TIMES_LR) a.k[4] = b.k[4] = -0.5;
            ef_sweep_dense(&a, N);
            ef_sweep_dense(&b, N);
            double near = t == EF_BF16 ? 0.1 : t == EF_F16 ? 0.02 : 1e-5;
            for (int j = 0; j < 4; j++)
                for (int i = 0; i < N; i++)
                    CHECK_NEAR(ef_element_double((ef_dtype)t, room[j], i), want[j][i], near);
        }
}

EF_TEST(rows_follow_in_order) {
    float w[3][2] = {{1, 2}, {3, 4}, {5, 6}}, a[3][2] = {{0}};
    const float g[3][2] = {{1, 1}, {2, 2}, {4, 4}};
    const int64_t index[] = {2, 0, 2};
    ef_sweep s = {
        .rule = EF_RULE_MOMENTUM, .dtype = EF_F32, .at = {w, a}, .grad = g, .k = {1, 0.5}};
    ef_sweep_sparse(&s, index, 3, 2);
    CHECK_NEAR(a[2][1], 0.5 * 1 + 4, 0);
    CHECK_NEAR(w[2][1], 6 - 1 - 4.5, 0);
    CHECK_NEAR(w[0][0], -1, 0);
    CHECK_NEAR(w[1][0], 3, 0);
}

EF_TEST(threads_change_nothing) {
    enum { MANY = 300001 };
    static float one[3][MANY], many[3][MANY], g[MANY];
    for (int i = 0; i < MANY; i++) {
        g[i] = (float)(i % 101) * 0.01F;
        for (int j = 0; j < 3; j++) one[j][i] = many[j][i] = (float)(i % 7);
    }
    ef_sweep s = {.rule = EF_RULE_RMSPROP, .dtype = EF_F32, .grad = g, .k = {0.1, 0.9, 0.5, 1e-3}};
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < 3; j++) s.at[j] = pass == 0 ? one[j] : many[j];
        ef_pool_limit(pass == 0 ? 1 : 0);
        ef_sweep_dense(&s, MANY);
    }
    ef_pool_limit(0);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < MANY; i++) CHECK_NEAR(one[j][i], many[j][i], 0);
}

int main(void) {
    EF_RUN(adam_is_its_formula);
    EF_RUN(types_agree);
    EF_RUN(rows_follow_in_order);
    EF_RUN(threads_change_nothing);
    return EF_VERDICT();
}
