#include "check.h"
#include "tensor/dtype.h"
#include "tensor/narrow.h"

EF_TEST(names_and_sizes) {
    int n = 0;
    for (int t = 0; t < EF_DTYPES; t++) {
        if (ef_dtype_size((ef_dtype)t) == 0) continue;
        CHECK_INT(ef_dtype_find(ef_dtype_name((ef_dtype)t)), t);
        CHECK(ef_dtype_in((ef_dtype)t, EF_ANY));
        n++;
    }
    CHECK_INT(n, 33);
    CHECK_INT(ef_dtype_size(EF_BF16), 2);
    CHECK_INT(ef_dtype_size(EF_C128), 16);
    CHECK_INT(ef_dtype_find("half"), EF_F16);
    CHECK_INT(ef_dtype_find("float"), EF_F32);
    CHECK_INT(ef_dtype_find("double"), EF_F64);
    CHECK_INT(ef_dtype_find("float31"), EF_NO_DTYPE);
    CHECK_INT(ef_dtype_find(NULL), EF_NO_DTYPE);
    CHECK_INT(ef_dtype_size((ef_dtype)99) + ef_dtype_size((ef_dtype)-1), 0);
    CHECK_INT(ef_dtype_size(EF_QI32), 4);
    CHECK_INT(ef_dtype_size(EF_I4), 1);
    CHECK_TEXT(ef_dtype_name(EF_F8E4M3FN), "float8_e4m3fn");
    CHECK_TEXT(ef_dtype_name((ef_dtype)34), "no dtype");
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

/* A number between two neighbours rounds to the nearer one; the middle rounds to the even one. */
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
        if (!ef_dtype_in((ef_dtype)t, EF_COMPUTED | EF_QUANTIZED)) continue;
        unsigned char room[64] = {0};
        ef_element_set((ef_dtype)t, room, 1, 1.0);
        ef_element_set((ef_dtype)t, room, 2, 100.7);
        double whole = t == EF_BOOL ? 1 : 100,
               part = ef_dtype_in((ef_dtype)t, EF_INTS | EF_QUANTIZED) ? 0 : 0.7;
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
    ef_element_set(EF_I32, &i32, 0, NAN); /* any result, but no undefined behaviour */
    double huge = 1e300;
    CHECK_INT(ef_element_int(EF_F64, &huge, 0), INT64_MIN);
}

/* The value of a narrow float's code by definition; layouts as in the OCP and ONNX descriptions. */
static double code_value(const ef_small_float *f, int code) {
    int body = code & (f->sign - 1), m = body & ((1 << f->mantissa) - 1), e = body >> f->mantissa;
    double v = e == 0 ? ldexp(m, 1 - f->bias - f->mantissa)
                      : ldexp((1 << f->mantissa) + m, e - f->bias - f->mantissa);
    if (body > f->most) v = f->infinite && body == f->beyond ? INFINITY : (double)NAN;
    if (f->unsigned_zero && code == f->sign) v = (double)NAN;
    return code & f->sign ? -v : v;
}

EF_TEST(every_narrow_float_survives) {
    for (int t = EF_F8E5M2; t < EF_DTYPES; t++) {
        const ef_small_float *f = ef_small_float_of((ef_dtype)t);
        for (int code = 0; f != NULL && code < 2 * f->sign; code++) {
            uint8_t at = (uint8_t)code, back = 0;
            double want = code_value(f, code), have = ef_element_double((ef_dtype)t, &at, 0);
            if (isnan(want)) {
                CHECK(isnan(have));
                continue;
            }
            CHECK_NEAR(have, want, 0);
            ef_element_set((ef_dtype)t, &back, 0, have);
            CHECK_INT(back, code);
        }
    }
}

/* A number halfway between two codes rounds to the even one, any other to the nearer one. */
EF_TEST(narrow_floats_round_to_nearest_even) {
    for (int t = EF_F8E5M2; t < EF_DTYPES; t++) {
        const ef_small_float *f = ef_small_float_of((ef_dtype)t);
        for (int code = 0; f != NULL && code < f->most; code++) {
            double mid = (code_value(f, code) + code_value(f, code + 1)) / 2;
            CHECK_INT(ef_float_to_small(*f, (float)mid), code + (code & 1));
            CHECK_INT(ef_float_to_small(*f, ef_round_to_odd(mid * (1 + 0x1p-50))), code + 1);
            CHECK_INT(ef_float_to_small(*f, ef_round_to_odd(-mid * (1 - 0x1p-50))),
                      code == 0 && f->unsigned_zero ? 0 : code | f->sign);
        }
    }
    CHECK_INT(ef_float_to_small(ef_f8e5m2, 1e9f), 0x7C);
    CHECK_INT(ef_float_to_small(ef_f8e5m2, -INFINITY), 0xFC);
    CHECK_INT(ef_float_to_small(ef_f8e4m3fn, 464), 0x7E); /* 448 is the largest, 464 a tie */
    CHECK_INT(ef_float_to_small(ef_f8e4m3fn, 465), 0x7F);
    CHECK_INT(ef_float_to_small(ef_f8e4m3fn, -INFINITY), 0xFF);
    CHECK_INT(ef_float_to_small(ef_f8e5m2, NAN) & 0x7F, 0x7E);
    CHECK_INT(ef_float_to_small(*ef_small_float_of(EF_F8E5M2FNUZ), -1e9f), 0x80);
    CHECK_INT(ef_float_to_small(*ef_small_float_of(EF_F4E2M1FN), 1e9f), 7); /* it has no more */
}

EF_TEST(narrow_ints_keep_the_low_bits) {
    static const struct {
        ef_dtype t;
        double from;
        int64_t to;
    } c[] = {{EF_I4, 7, 7},  {EF_I4, 8, -8}, {EF_I4, -9, 7}, {EF_U4, -1, 15},  {EF_U4, 17, 1},
             {EF_I2, 2, -2}, {EF_I2, -3, 1}, {EF_U2, 6, 2},  {EF_QI8, 300, 44}};
    for (size_t k = 0; k < sizeof c / sizeof *c; k++) {
        uint8_t at = 0xFF;
        ef_element_set(c[k].t, &at, 0, c[k].from);
        CHECK_INT(ef_element_int(c[k].t, &at, 0), c[k].to);
    }
}

int main(void) {
    EF_RUN(names_and_sizes);
    EF_RUN(every_half_survives);
    EF_RUN(halves_round_to_nearest_even);
    EF_RUN(bfloat16_rounds);
    EF_RUN(elements_of_any_type);
    EF_RUN(every_narrow_float_survives);
    EF_RUN(narrow_floats_round_to_nearest_even);
    EF_RUN(narrow_ints_keep_the_low_bits);
    return EF_VERDICT();
}
