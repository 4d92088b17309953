/* Reductions over every set of axes against a loop over all elements; NaN, empty axes, accuracy,
 * and bit-identical results for any number of threads. */
#include "base/pool.h"
#include "check.h"
#include "kernels/reduce.h"
#include <stdlib.h>

static uint64_t state = 7;
static double number(void) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (double)(int64_t)(state >> 58) - 32;
}

/* One output, by iterating over all elements. */
static double slowly(ef_reduce_kind kind, const double *x, int rank, const int64_t *dim,
                     uint32_t axes, int64_t want) {
    int64_t total = 1, count = 0;
    double acc = kind == EF_REDUCE_PROD  ? 1
                 : kind == EF_REDUCE_MAX ? -INFINITY
                 : kind == EF_REDUCE_MIN ? INFINITY
                                         : 0;
    for (int d = 0; d < rank; d++) total *= dim[d];
    for (int64_t i = 0; i < total; i++) {
        int64_t rest = i, out = 0, step = 1;
        for (int d = rank - 1; d >= 0; d--) {
            if (!((axes >> d) & 1u)) out += rest % dim[d] * step, step *= dim[d];
            rest /= dim[d];
        }
        if (out != want) continue;
        count++;
        if (kind == EF_REDUCE_PROD)
            acc *= x[i];
        else if (kind == EF_REDUCE_MAX)
            acc = x[i] > acc ? x[i] : acc;
        else if (kind == EF_REDUCE_MIN)
            acc = x[i] < acc ? x[i] : acc;
        else
            acc += kind >= EF_REDUCE_NORM ? x[i] * x[i] : x[i];
    }
    if (kind == EF_REDUCE_MEAN) return acc / (double)count;
    return kind == EF_REDUCE_NORM ? sqrt(acc) : kind == EF_REDUCE_L2_LOSS ? acc / 2 : acc;
}

static void all_axes(ef_dtype t, int rank, const int64_t *dim) {
    double x[600];
    _Alignas(16) char in[600 * 16], out[600 * 16];
    int64_t total = 1;
    for (int d = 0; d < rank; d++) total *= dim[d];
    for (int64_t i = 0; i < total; i++)
        x[i] = number() / (t == EF_F16 ? 8 : 1); /* stays in range */
    for (int64_t i = 0; i < total; i++) ef_element_set(t, in, i, x[i]);
    for (uint32_t axes = 0; axes < 1u << rank; axes++)
        for (int kind = 0; kind < EF_REDUCE_KINDS; kind++) {
            if (ef_reducer_find((ef_reduce_kind)kind, t) == NULL || kind == EF_REDUCE_PROD)
                continue;
            if (kind == EF_REDUCE_MEAN && ef_dtype_in(t, EF_INTS)) continue;
            if (kind == EF_REDUCE_NORM && ef_dtype_in(t, EF_INTS)) continue;
            int64_t outputs = 1;
            for (int d = 0; d < rank; d++) outputs *= (axes >> d) & 1u ? 1 : dim[d];
            ef_reduce((ef_reduce_kind)kind, t, rank, dim, axes, in, out);
            for (int64_t k = 0; k < outputs; k++) {
                double want = slowly((ef_reduce_kind)kind, x, rank, dim, axes, k);
                CHECK_NEAR(ef_element_double(t, out, k), want,
                           fabs(want) * (t == EF_F16 ? 1e-3 : 1e-6));
            }
        }
}

EF_TEST(every_set_of_axes) {
    static const int64_t shape[][4] = {{2, 3, 4, 5}, {1, 7, 1, 3}, {3, 1, 40, 2}, {2, 2, 2, 70}};
    static const ef_dtype types[] = {EF_F32, EF_F64, EF_F16, EF_I32, EF_I64, EF_C64};
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t s = 0; s < sizeof shape / sizeof *shape; s++) all_axes(types[t], 4, shape[s]);
}

EF_TEST(products) {
    const float x[6] = {1, 2, 3, 4, 5, 6};
    const int8_t y[3] = {100, 3, -1};
    const int64_t six[] = {6}, matrix[] = {2, 3}, three[] = {3};
    float p[3];
    int8_t q;
    ef_reduce(EF_REDUCE_PROD, EF_F32, 1, six, 1, x, p);
    CHECK_NEAR(p[0], 720, 0);
    ef_reduce(EF_REDUCE_PROD, EF_F32, 2, matrix, 1, x, p);
    CHECK_NEAR(p[2], 18, 0);
    ef_reduce(EF_REDUCE_PROD, EF_I8, 1, three, 1, y, &q);
    CHECK_INT(q, (int8_t)(uint8_t)(-300 & 0xFF));
}

EF_TEST(nan_wins_wherever_it_stands) {
    static float x[700];
    for (int n = 1; n <= 700; n = n * 3 + 1)
        for (int at = 0; at < n; at += 1 + n / 9) {
            for (int i = 0; i < n; i++) x[i] = (float)number();
            x[at] = NAN;
            int64_t row[] = {n}, column[] = {n, 1};
            float r;
            ef_reduce(EF_REDUCE_MAX, EF_F32, 1, row, 1, x, &r);
            CHECK(isnan(r));
            ef_reduce(EF_REDUCE_MIN, EF_F32, 2, column, 1, x, &r);
            CHECK(isnan(r));
        }
}

EF_TEST(nothing_to_reduce) {
    const int64_t dim[] = {2, 0};
    float r[2] = {0};
    int32_t i[2] = {0};
    ef_reduce(EF_REDUCE_SUM, EF_F32, 2, dim, 2, r, r);
    CHECK_NEAR(r[1], 0, 0);
    ef_reduce(EF_REDUCE_MEAN, EF_F32, 2, dim, 2, r, r);
    CHECK(isnan(r[0]));
    ef_reduce(EF_REDUCE_MAX, EF_F32, 2, dim, 2, r, r);
    CHECK_NEAR(r[0], -INFINITY, 0);
    ef_reduce(EF_REDUCE_MIN, EF_I32, 2, dim, 2, i, i);
    CHECK_INT(i[0], INT32_MAX);
    ef_reduce(EF_REDUCE_MEAN, EF_I32, 2, dim, 2, i, i);
    CHECK_INT(i[0], 0);
}

EF_TEST(long_sums_stay_accurate) {
    enum { N = 1 << 20 };
    float *x = malloc(N * sizeof *x), sum;
    CHECK(x != NULL);
    for (int i = 0; i < N; i++) x[i] = 0.1f;
    const int64_t dim[] = {N}, column[] = {N, 1};
    double want = (double)0.1f * N; /* added one by one in float it would be off by 1 % */
    /* Float adds at most 256 numbers in a chain, with half a unit in the last place each, and
     * merges. */
    double bound = (256 + 8) * 0x1p-24 * want;
    ef_reduce(EF_REDUCE_SUM, EF_F32, 1, dim, 1, x, &sum);
    bool row_good = fabs(sum - want) <= bound;
    ef_reduce(EF_REDUCE_SUM, EF_F32, 2, column, 1, x, &sum);
    bool column_good = fabs(sum - want) <= bound;
    free(x);
    CHECK(row_good && column_good);
}

EF_TEST(threads_do_not_change_results) {
    enum { ROWS = 3000, COLS = 150 };
    static float x[ROWS * COLS], one[COLS], many[COLS];
    for (int i = 0; i < ROWS * COLS; i++) x[i] = (float)number() * 0.37f;
    const int64_t dim[] = {ROWS, COLS};
    for (uint32_t axes = 1; axes <= 3; axes += 2) {
        ef_pool_limit(1);
        ef_reduce(EF_REDUCE_SUM, EF_F32, 2, dim, axes, x, one);
        ef_pool_limit(0);
        ef_reduce(EF_REDUCE_SUM, EF_F32, 2, dim, axes, x, many);
        CHECK(memcmp(one, many, (axes == 1 ? COLS : 1) * sizeof *one) == 0);
    }
}

int main(void) {
    EF_RUN(every_set_of_axes);
    EF_RUN(products);
    EF_RUN(nan_wins_wherever_it_stands);
    EF_RUN(nothing_to_reduce);
    EF_RUN(long_sums_stay_accurate);
    EF_RUN(threads_do_not_change_results);
    return EF_VERDICT();
}
