/* The largest k and the n-th element against a simple sort; long and short rows, ties, NaN. */
#include "check.h"
#include "kernels/sort.h"
#include <stdlib.h>

enum { MOST = 700 };
static uint64_t state = 3;
static int few(int n) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (int)(state >> 33) % n;
}

static void top(int n, int k, int distinct) {
    static float x[MOST], values[MOST];
    static int32_t at[MOST];
    for (int i = 0; i < n; i++) {
        int v = few(distinct) - distinct / 2;
        x[i] = (float)v;
    }
    ef_top_k t = {EF_F32, EF_I32, 1, n, k, x, values, at};
    CHECK_OK(ef_top_k_run(&t));
    bool used[MOST] = {false};
    for (int j = 0; j < k; j++) {
        int best = 0;
        while (used[best]) best++;
        for (int i = best + 1; i < n; i++)
            if (!used[i] && x[i] > x[best]) best = i;
        used[best] = true;
        CHECK_INT(at[j], best);
        CHECK_NEAR(values[j], x[best], 0);
    }
}

EF_TEST(largest_first_and_stable) {
    static const int n[] = {1, 2, 17, 48, 49, 130, 700};
    for (size_t i = 0; i < sizeof n / sizeof *n; i++)
        for (int k = 1; k <= n[i]; k += 1 + n[i] / 7)
            for (int distinct = 2; distinct < 3000; distinct *= 37) top(n[i], k, distinct);
}

EF_TEST(keys_sort_as_values_do) {
    const float x[] = {-INFINITY, -2.5f, -0.0f, 0.0f, 1e-40f, 3, INFINITY, NAN};
    for (int i = 1; i < 8; i++) {
        uint64_t low = ef_sort_key(EF_F32, x, i - 1), high = ef_sort_key(EF_F32, x, i);
        CHECK(i == 3 ? low == high : low < high);
    }
    const int64_t y[] = {INT64_MIN, -1, 0, INT64_MAX};
    for (int i = 1; i < 4; i++) CHECK(ef_sort_key(EF_I64, y, i - 1) < ef_sort_key(EF_I64, y, i));
}

static int by_value(const void *a, const void *b) {
    return *(const int32_t *)a < *(const int32_t *)b ? -1
                                                     : *(const int32_t *)a > *(const int32_t *)b;
}

EF_TEST(nth) {
    int32_t x[101], sorted[101], y;
    for (int round = 0; round < 50; round++) {
        int n = 1 + few(101);
        for (int i = 0; i < n; i++) x[i] = sorted[i] = few(round + 1) - 5;
        qsort(sorted, (size_t)n, sizeof *sorted, by_value);
        int k = few(n);
        CHECK_OK(ef_nth_element(EF_I32, x, &y, 1, n, k, false));
        CHECK_INT(y, sorted[k]);
        CHECK_OK(ef_nth_element(EF_I32, x, &y, 1, n, k, true));
        CHECK_INT(y, sorted[n - 1 - k]);
    }
}

int main(void) {
    EF_RUN(largest_first_and_stable);
    EF_RUN(keys_sort_as_values_do);
    EF_RUN(nth);
    return EF_VERDICT();
}
