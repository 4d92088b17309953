/* Reference numbers are those of TensorFlow 2.21 on CPU. */
#include "base/pool.h"
#include "check.h"
#include "kernels/random.h"
#include <math.h>

static const ef_philox start = {1, 0, 2}; /* seeds 1 and 2 */

static bool same_bits(ef_random_kind kind, ef_dtype t, const void *want) {
    uint64_t out[5] = {0};
    ef_random_fill(start, kind, t, 0, 0, out, 5);
    return memcmp(out, want, 5 * ef_dtype_size(t)) == 0;
}

EF_TEST(floats_are_tensorflows) {
    static const uint32_t uniform[] = {0x3ED0133C, 0x3F5B8BA6, 0x3D62E6C0, 0x3DAFDDD0, 0x3ED305CC};
    static const uint32_t normal[] = {0xBF85FCDD, 0x3F56F6E1, 0x3F9E2FE3, 0x4004150F, 0x3E9B842A};
    static const uint32_t cut[] = {0xBF85FCDD, 0x3F56F6E1, 0x3F9E2FE3, 0x3E9B842A, 0x3EC7027F};
    CHECK(same_bits(EF_RANDOM_UNIFORM, EF_F32, uniform));
    CHECK(same_bits(EF_RANDOM_NORMAL, EF_F32, normal));
    CHECK(same_bits(EF_RANDOM_TRUNCATED, EF_F32, cut));
}

EF_TEST(doubles_are_tensorflows) {
    static const uint64_t uniform[] = {0x3FD0133E33B7174C, 0x3FDC5CD8282BF774, 0x3FD305CF6C12C148,
                                       0x3FD07E44382CF3CC, 0x3FEE7CAAB50ACF66};
    static const uint64_t normal[] = {0x3FE298089076CDD3, 0xBFF8EB3ACA515204, 0x3FF8E4F44037F289,
                                      0xBFB34D61B9FD07A9, 0xBFD1816AB358DC28};
    static const uint64_t cut[] = {0x3FE298089076CDD3, 0xBFF8EB3ACA515204, 0xBFF212C734D3894D,
                                   0xBFE0803ABA843B6C, 0xBFF20BF7CA0D8C29};
    CHECK(same_bits(EF_RANDOM_UNIFORM, EF_F64, uniform));
    CHECK(same_bits(EF_RANDOM_NORMAL, EF_F64, normal));
    CHECK(same_bits(EF_RANDOM_TRUNCATED, EF_F64, cut));
}

EF_TEST(halves_are_tensorflows) {
    static const uint16_t half[] = {0x3278, 0x374C, 0x3A6C, 0x3774, 0x35CC};
    static const uint16_t bhalf[] = {0x3F1E, 0x3F26, 0x3ED8, 0x3F3A, 0x3F66};
    static const uint16_t normal[] = {0xBC30, 0x3AB8, 0x3CF1, 0x4021, 0x34DC};
    static const uint16_t cut[] = {0xBF86, 0x3F57, 0x3F9E, 0x3E9C, 0x3EC7};
    CHECK(same_bits(EF_RANDOM_UNIFORM, EF_F16, half));
    CHECK(same_bits(EF_RANDOM_UNIFORM, EF_BF16, bhalf));
    CHECK(same_bits(EF_RANDOM_NORMAL, EF_F16, normal));
    CHECK(same_bits(EF_RANDOM_TRUNCATED, EF_BF16, cut));
}

/* One pair by the C library, as TensorFlow computes it. */
static void pair(const uint32_t *x, float *out) {
    float u = ef_random_float(x[0]) < 1.0e-7f ? 1.0e-7f : ef_random_float(x[0]);
    float angle = (float)(2.0f * M_PI * ef_random_float(x[1])), radius = sqrtf(-2.0f * logf(u));
    out[0] = sinf(angle) * radius;
    out[1] = cosf(angle) * radius;
}

/* Every number that 23 random bits can give as a radius and as an angle. Another C library may
 * round a few differently. */
EF_TEST(many_normal_floats_are_single_ones) {
    enum { PAIRS = 1 << 10, ROUNDS = 1 << 13 };
    static uint32_t x[2 * PAIRS];
    static float got[2 * PAIRS];
    int64_t differ = 0, far = 0;
    for (uint32_t r = 0; r < ROUNDS; r++) {
        int64_t n = PAIRS - r % 17;
        for (uint32_t k = 0; k < PAIRS; k++) {
            x[2 * k] = r * PAIRS + k;
            x[2 * k + 1] = (r * PAIRS + k) * 2654435761u;
        }
        ef_random_normal_floats(x, n, got);
        for (int64_t k = 0; k < 2 * n; k++) {
            float want[2];
            pair(x + 2 * (k / 2), want);
            float w = want[k % 2];
            differ += got[k] != w;
            far += !(fabsf(got[k] - w) <= 4e-7f * fabsf(w) + 1e-12f);
        }
    }
    CHECK_INT(far, 0);
    CHECK(differ < 1000);
}

/* Drawn one group after another, as the definition says. */
EF_TEST(truncated_normals_have_a_range_of_blocks_for_each_group) {
    enum { N = 4 * 777 + 3 };
    static float got[N];
    int64_t differ = 0;
    ef_random_fill(start, EF_RANDOM_TRUNCATED, EF_F32, 0, 0, got, N);
    for (int64_t group = 0; group <= N / 4; group++) {
        ef_philox g = start;
        ef_philox_skip(&g, (uint64_t)group * 256);
        for (int64_t n = 0; n < 4;) {
            uint32_t x[4];
            float f[4];
            ef_philox_blocks(&g, x, 1);
            pair(x, f);
            pair(x + 2, f + 2);
            for (int i = 0; i < 4 && n < 4; i++) {
                if (fabsf(f[i]) >= 2) continue;
                if (4 * group + n < N) differ += got[4 * group + n] != f[i];
                n++;
            }
        }
    }
    CHECK(differ < 3);
}

EF_TEST(integers_are_tensorflows) {
    static const int32_t narrow[] = {9, 5, -8, -1, 1};
    static const int64_t wide[] = {0x39E1819D79, 0xBE2EA25ADA, 0xC904EDDFB1, 0x81A304A57D,
                                   0x98CA542409};
    int32_t a[5];
    int64_t b[5];
    ef_random_fill(start, EF_RANDOM_INT, EF_I32, -10, 10, a, 5);
    ef_random_fill(start, EF_RANDOM_INT, EF_I64, -10, 1000000000000, b, 5);
    for (int i = 0; i < 5; i++) {
        CHECK_INT(a[i], narrow[i]);
        CHECK_INT(b[i], wide[i]);
    }
}

EF_TEST(samples_are_tensorflows) {
    static const double alpha[] = {0.5, 4}, rate[] = {2, 9, 50};
    static const double count[] = {5, 100, 1000}, prob[] = {0.3, 0.9, 0.4};
    static const double gamma[] = {0.04360453289959347, 1.6273658008003544, 0.25566861555851716,
                                   12.474910556113382,  1.301618537286629,  5.005447118278669};
    static const int64_t poisson[] = {3, 8, 45, 2, 7, 46, 0, 12, 45};
    static const int64_t binomial[] = {3, 90, 388, 3, 87, 406, 0, 93, 413};
    ef_philox g = ef_philox_scrambled(3, 4);
    double x[6];
    int64_t y[9];
    ef_random_gamma(g, EF_F64, alpha, 2, 3, x);
    for (int i = 0; i < 6; i++) CHECK_NEAR(x[i], gamma[i], 1e-13);
    ef_random_poisson(g, EF_F64, rate, 3, 3, EF_I64, y);
    for (int i = 0; i < 9; i++) CHECK_INT(y[i], poisson[i]);
    ef_random_binomial(g, EF_F64, count, prob, 3, 3, EF_I64, y);
    for (int i = 0; i < 9; i++) CHECK_INT(y[i], binomial[i]);
}

EF_TEST(odd_parameters_end) {
    static const double rate[] = {NAN, INFINITY, -1, 1e300, 0};
    static const double count[] = {NAN, INFINITY, -1, 5, 5, 0, INFINITY, NAN, INFINITY};
    static const double prob[] = {0.5, 0.5, 0.5, NAN, 2, NAN, -0.1, 0, 1};
    int32_t y[5];
    double x[9];
    ef_random_poisson(start, EF_F64, rate, 5, 1, EF_I32, y);
    CHECK(y[0] == 0 && y[1] == INT32_MAX && y[2] == 0 && y[3] == INT32_MAX && y[4] == 0);
    ef_random_binomial(start, EF_F64, count, prob, 9, 1, EF_F64, x);
    CHECK(isnan(x[0]) && isnan(x[1]) && x[2] == 0 && isnan(x[3]) && x[4] == 5);
    CHECK(x[5] == 0 && x[6] == 0 && x[7] == 0 && isinf(x[8]));
}

EF_TEST(orders_and_classes_are_tensorflows) {
    static const int64_t order[] = {7, 4, 2, 0, 3, 6, 1, 5};
    static const int64_t picked[] = {2, 2, 1, 2, 2, 2, 0, 0, 0, 0, 0, 0};
    static const double logits[] = {0, 1, 2, 3, 0, 0};
    int64_t x[12];
    double work[3];
    for (int i = 0; i < 8; i++) x[i] = i;
    ef_random_shuffle(start, x, 8, sizeof *x);
    for (int i = 0; i < 8; i++) CHECK_INT(x[i], order[i]);
    ef_random_classes(ef_philox_scrambled(3, 4), EF_F64, logits, 2, 3, 6, EF_I64, x, work);
    for (int i = 0; i < 12; i++) CHECK_INT(x[i], picked[i]);
}

/* The same swaps one after another, with lengths around the block in which they are made. */
EF_TEST(shuffles_of_every_size_make_the_same_swaps) {
    enum { MOST = 600 };
    static const int lengths[] = {0, 1, 2, 255, 256, 257, 258, 512, 513, 514, MOST};
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        uint8_t x1[MOST];
        uint16_t x2[MOST], want[MOST];
        uint32_t x4[MOST];
        uint64_t x8[MOST], x16[2 * MOST];
        int n = lengths[l];
        for (int i = 0; i < n; i++) {
            x1[i] = (uint8_t)i, x2[i] = want[i] = (uint16_t)i, x4[i] = (uint32_t)i;
            x8[i] = x16[2 * i] = (uint64_t)i, x16[2 * i + 1] = ~(uint64_t)i;
        }
        ef_philox_each e = ef_philox_one_by_one(start);
        for (int i = 0; i + 1 < n; i++) {
            int other = i + (int)(ef_philox_next(&e) % (uint32_t)(n - i));
            uint16_t held = want[i];
            want[i] = want[other], want[other] = held;
        }
        ef_random_shuffle(start, x1, n, 1);
        ef_random_shuffle(start, x2, n, 2);
        ef_random_shuffle(start, x4, n, 4);
        ef_random_shuffle(start, x8, n, 8);
        ef_random_shuffle(start, x16, n, 16);
        for (int i = 0; i < n; i++) {
            CHECK(x1[i] == (uint8_t)want[i] && x2[i] == want[i] && x4[i] == want[i]);
            CHECK(x8[i] == want[i] && x16[2 * i] == want[i] && x16[2 * i + 1] == ~x8[i]);
        }
    }
}

/* Long enough for every thread, with a length that is not a multiple of a block. */
EF_TEST(threads_change_nothing) {
    enum { N = 100003 };
    static uint32_t one[N], many[N]; /* the bits of the floats */
    for (int kind = EF_RANDOM_UNIFORM; kind <= EF_RANDOM_TRUNCATED; kind++) {
        ef_pool_limit(1);
        ef_random_fill(start, kind, EF_F32, 0, 0, one, N);
        ef_pool_limit(0);
        ef_random_fill(start, kind, EF_F32, 0, 0, many, N);
        CHECK(memcmp(one, many, sizeof one) == 0);
    }
}

int main(void) {
    EF_RUN(floats_are_tensorflows);
    EF_RUN(doubles_are_tensorflows);
    EF_RUN(halves_are_tensorflows);
    EF_RUN(many_normal_floats_are_single_ones);
    EF_RUN(truncated_normals_have_a_range_of_blocks_for_each_group);
    EF_RUN(integers_are_tensorflows);
    EF_RUN(samples_are_tensorflows);
    EF_RUN(odd_parameters_end);
    EF_RUN(orders_and_classes_are_tensorflows);
    EF_RUN(shuffles_of_every_size_make_the_same_swaps);
    EF_RUN(threads_change_nothing);
    return EF_VERDICT();
}
