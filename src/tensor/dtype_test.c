#include "check.h"
#include "tensor/dtype.h"

EF_TEST(names_and_sizes) {
    int n = 0;
    for (int t = 0; t < EF_DTYPES; t++) {
        if (ef_dtype_size((ef_dtype)t) == 0) continue;
        CHECK_INT(ef_dtype_find(ef_dtype_name((ef_dtype)t)), t);
        CHECK(ef_dtype_in((ef_dtype)t, EF_ANY));
        n++;
    }
    CHECK_INT(n, 18);
    CHECK_INT(ef_dtype_size(EF_BF16), 2);
    CHECK_INT(ef_dtype_size(EF_C128), 16);
    CHECK_INT(ef_dtype_find("half"), EF_F16);
    CHECK_INT(ef_dtype_find("float"), EF_F32);
    CHECK_INT(ef_dtype_find("double"), EF_F64);
    CHECK_INT(ef_dtype_find("float31"), EF_NO_DTYPE);
    CHECK_INT(ef_dtype_find(NULL), EF_NO_DTYPE);
    CHECK_INT(ef_dtype_size((ef_dtype)99) + ef_dtype_size((ef_dtype)-1), 0);
    CHECK_TEXT(ef_dtype_name((ef_dtype)11), "no dtype");
}

/* The value of a half by definition. */
static double half_value(uint16_t h) {
    int e = h >> 10 & 31, m = h & 1023;
    double v = e == 0    ? ldexp(m, -24)
               : e == 31 ? (m ? (double)NAN : INFINITY)
                         : ldexp(1024 + m, e - 25);
    return h >> 15 ? -v : v;
}

EF_TEST(every_half_survives) {
    static ef_f16 in[65536], back[65536];
    static float wide[65536];
    for (uint32_t h = 0; h < 65536; h++) in[h].bits = (uint16_t)h;
    ef_f16_to_f32(wide, in, 65536);
    ef_f32_to_f16(back, wide, 65536);
    for (uint32_t h = 0; h < 65536; h++) {
        double v = half_value((uint16_t)h);
        CHECK_NEAR(wide[h], v, 0);
        CHECK((signbit(wide[h]) != 0) == (h >> 15 != 0));
        CHECK_NEAR(ef_f16_float(in[h]), v, 0);
        if (v == v) {
            CHECK_INT(back[h].bits, h);
            CHECK_INT(ef_float_f16(wide[h]).bits, h);
        } else {
            CHECK(isnan(ef_f16_float(back[h])));
        }
    }
}

/* Between two neighbours: below the middle the lower, above the upper, at the middle the even one.
 */
EF_TEST(halves_round_to_nearest_even) {
    for (uint16_t h = 0; h < 0x7C00; h++) {
        double low = half_value(h), up = h == 0x7BFF ? 65536 : half_value((uint16_t)(h + 1));
        float middle = (float)((low + up) / 2); /* exact in a float */
        float in[3] = {nextafterf(middle, 0), middle, nextafterf(middle, INFINITY)};
        ef_f16 out[3];
        ef_f32_to_f16(out, in, 3); /* fewer than a vector: the portable loop */
        uint16_t even = (uint16_t)(h + (h & 1));
        CHECK_INT(out[0].bits, h);
        CHECK_INT(out[1].bits, even);
        CHECK_INT(out[2].bits, h + 1);
        CHECK_INT(ef_float_f16(middle).bits, even);
        CHECK_INT(ef_float_f16(-in[2]).bits, 0x8000 + h + 1);
    }
    CHECK_INT(ef_float_f16(1e30f).bits, 0x7C00);
    CHECK_INT(ef_float_f16(-INFINITY).bits, 0xFC00);
    CHECK_INT(ef_float_f16(1e-30f).bits, 0);
}

EF_TEST(bfloat16_rounds) {
    CHECK_INT(ef_float_bf16(1.0f).bits, 0x3F80);
    CHECK_INT(ef_float_bf16(1.00390625f).bits, 0x3F80); /* a tie: to even */
    CHECK_INT(ef_float_bf16(1.01171875f).bits, 0x3F82);
    CHECK_INT(ef_float_bf16(3.4e38f).bits, 0x7F80);
    CHECK(isnan(ef_bf16_float(ef_float_bf16(NAN))));
    CHECK_NEAR(ef_bf16_float((ef_bf16){0xC000}), -2, 0);
}

EF_TEST(elements_of_any_type) {
    for (int t = 0; t < EF_DTYPES; t++) {
        if (!ef_dtype_in((ef_dtype)t, EF_PLAIN)) continue;
        unsigned char room[64] = {0};
        ef_element_set((ef_dtype)t, room, 1, 1.0);
        ef_element_set((ef_dtype)t, room, 2, 100.7);
        double whole = t == EF_BOOL ? 1 : 100, part = ef_dtype_in((ef_dtype)t, EF_INTS) ? 0 : 0.7;
        CHECK_NEAR(ef_element_double((ef_dtype)t, room, 0), 0, 0);
        CHECK_NEAR(ef_element_double((ef_dtype)t, room, 1), 1, 0);
        CHECK_NEAR(ef_element_double((ef_dtype)t, room, 2), t == EF_BOOL ? 1 : 100 + part, 0.21);
        CHECK_NEAR((double)ef_element_int((ef_dtype)t, room, 2), whole, t == EF_BF16 ? 1 : 0);
    }
    uint64_t big = UINT64_MAX - 5;
    CHECK_INT(ef_element_int(EF_U64, &big, 0), -6);
    ef_element_set(EF_U64, &big, 0, 0x1p63 + 4096);
    CHECK(big == (UINT64_C(1) << 63) + 4096);
    int32_t i32 = 1;
    ef_element_set(EF_I32, &i32, 0, NAN); /* whatever comes, it is not undefined behaviour */
    double huge = 1e300;
    CHECK_INT(ef_element_int(EF_F64, &huge, 0), INT64_MIN);
}

int main(void) {
    EF_RUN(names_and_sizes);
    EF_RUN(every_half_survives);
    EF_RUN(halves_round_to_nearest_even);
    EF_RUN(bfloat16_rounds);
    EF_RUN(elements_of_any_type);
    return EF_VERDICT();
}
