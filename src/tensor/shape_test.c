#include "check.h"
#include "tensor/shape.h"

#define SHAPE(...) \
    ef_shape_of(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t), (int64_t[]){__VA_ARGS__})
#define UNKNOWN EF_DIM_UNKNOWN

static int64_t linear(int s, int64_t a, int64_t b) { /* a*s+b by the public arithmetic */
    int64_t d = ef_dim_mul(ef_dim_symbol(s), a);
    return b < 0 ? ef_dim_sub(d, -b) : ef_dim_add(d, b);
}

EF_TEST(counts) {
    ef_shape s = SHAPE(2, 3, 4), scalar = ef_scalar_shape(), none = ef_unknown_shape();
    CHECK_INT(ef_shape_count(&s), 24);
    CHECK_INT(ef_shape_span(&s, 1, 3), 12);
    CHECK_INT(ef_shape_count(&scalar), 1);
    CHECK_INT(ef_shape_count(&none), -1);
    s = SHAPE(2, UNKNOWN);
    CHECK_INT(ef_shape_count(&s), -1);
    s = SHAPE(INT64_MAX, 2);
    CHECK_INT(ef_shape_count(&s), -2);
    s = SHAPE(INT64_MAX, 0, INT64_MAX);
    CHECK_INT(ef_shape_count(&s), 0);
    int64_t nine[9] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
    s = ef_shape_of(9, nine);
    CHECK_INT(ef_shape_count(&s), -2);
    CHECK(!ef_shape_known(&s) && !ef_shape_known(&none) && ef_shape_known(&scalar));
}

EF_TEST(symbols_pack_and_print) {
    for (int s = 0; s < EF_MAX_SYMBOLS; s++)
        for (int64_t a = 1; a < 3000000; a = a * 5 + 1)
            for (int64_t b = -7000000; b < 8000000; b += 1234567) {
                int sym;
                int64_t pa, pb, d = linear(s, a, b);
                CHECK(d < 0 && d != UNKNOWN);
                CHECK(ef_dim_parts(d, &sym, &pa, &pb) && sym == s && pa == a && pb == b);
            }
    int s;
    int64_t a, b;
    CHECK(!ef_dim_parts(5, &s, &a, &b) && !ef_dim_parts(UNKNOWN, &s, &a, &b));
    CHECK(!ef_dim_parts(-2, &s, &a, &b) && !ef_dim_parts(INT64_MIN, &s, &a, &b));
    ef_shape shape = SHAPE(linear(0, 2, 1), 4, UNKNOWN, ef_dim_symbol(3), linear(0, 1, -2));
    CHECK_TEXT(EF_SHAPE(&shape), "[2s+1, 4, ?, s3, s-2]");
    shape = ef_unknown_shape();
    CHECK_TEXT(EF_SHAPE(&shape), "<unknown>");
    shape = ef_scalar_shape();
    CHECK_TEXT(EF_SHAPE(&shape), "[]");
    int64_t m = INT64_MAX;
    shape = SHAPE(m, m, m, m, m, m, m, m);
    ef_brief long_one = ef_shape_brief(&shape);
    CHECK(strlen(long_one.text) < sizeof long_one.text && strstr(long_one.text, ", ...]"));
}

EF_TEST(arithmetic_on_dims) {
    int64_t s = ef_dim_symbol(0), t = ef_dim_symbol(1), size[2] = {10, -1};
    CHECK_INT(ef_dim_add(3, 4), 7);
    CHECK_INT(ef_dim_add(s, s), ef_dim_mul(s, 2));
    CHECK_INT(ef_dim_sub(ef_dim_add(s, 5), 5), s);
    CHECK_INT(ef_dim_sub(ef_dim_add(s, 5), s), 5);
    CHECK_INT(ef_dim_sub(s, ef_dim_add(s, 5)), UNKNOWN);
    CHECK_INT(ef_dim_sub(3, 4), UNKNOWN);
    CHECK_INT(ef_dim_add(s, t), UNKNOWN);
    CHECK_INT(ef_dim_add(s, UNKNOWN), UNKNOWN);
    CHECK_INT(ef_dim_add(INT64_MAX, 1), UNKNOWN);
    CHECK_INT(ef_dim_add(s, INT64_MAX), UNKNOWN);
    CHECK_INT(ef_dim_mul(s, t), UNKNOWN);
    CHECK_INT(ef_dim_mul(UNKNOWN, 0), 0);
    CHECK_INT(ef_dim_mul(6, 7), 42);
    CHECK_INT(ef_dim_mul(INT64_MAX, 2), UNKNOWN);
    CHECK_INT(ef_dim_mul(s, INT64_MAX), UNKNOWN);
    CHECK_INT(ef_dim_mul(UNKNOWN, 3), UNKNOWN);
    CHECK_INT(ef_dim_div(linear(0, 6, 4), 2), linear(0, 3, 2));
    CHECK_INT(ef_dim_div(linear(0, 6, 3), 2), UNKNOWN);
    CHECK_INT(ef_dim_div(linear(0, 6, 4), linear(0, 3, 2)), 2);
    CHECK_INT(ef_dim_div(linear(0, 6, 5), linear(0, 3, 2)), UNKNOWN);
    CHECK_INT(ef_dim_div(7, 2), 3);
    CHECK_INT(ef_dim_div(7, 0), UNKNOWN);
    CHECK_INT(ef_dim_div(7, s), UNKNOWN);
    CHECK_INT(ef_dim_bind(linear(0, 2, 1), size), 21);
    CHECK_INT(ef_dim_bind(linear(0, 1, -11), size), UNKNOWN);
    CHECK_INT(ef_dim_bind(t, size), UNKNOWN);
    CHECK_INT(ef_dim_bind(9, size), 9);
    CHECK_INT(ef_dim_bind(ef_dim_sub(12, s), size), 2);
    size[0] = INT64_MAX;
    CHECK_INT(ef_dim_bind(linear(0, 2, 1), size), UNKNOWN);
}

/* Random expressions: binding the symbols of the symbolic result gives what plain arithmetic gives.
 */
EF_TEST(arithmetic_agrees_with_numbers) {
    uint32_t r = 7;
    for (int i = 0; i < 20000; i++) {
        int64_t size[1], num[2], dim[2];
        r = r * 1664525u + 1013904223u;
        size[0] = r >> 20;
        for (int k = 0; k < 2; k++) {
            r = r * 1664525u + 1013904223u;
            int64_t a = r >> 28, b = r >> 8 & 31;
            dim[k] = linear(0, a, b);
            num[k] = a * size[0] + b;
        }
        int64_t d = ef_dim_bind(ef_dim_add(dim[0], dim[1]), size);
        CHECK_INT(d, num[0] + num[1]);
        d = ef_dim_bind(ef_dim_sub(dim[0], dim[1]), size);
        CHECK(d == UNKNOWN || d == num[0] - num[1]);
        d = ef_dim_bind(ef_dim_mul(dim[0], dim[1]), size);
        CHECK(d == UNKNOWN || d == num[0] * num[1]);
        d = ef_dim_bind(ef_dim_div(dim[0], dim[1]), size);
        CHECK(d == UNKNOWN || num[1] == 0 || d == num[0] / num[1]);
        CHECK(num[0] != num[1] || ef_dim_may_equal(dim[0], dim[1]));
    }
}

EF_TEST(equality) {
    int64_t s = ef_dim_symbol(0), t = ef_dim_symbol(1);
    CHECK(ef_dim_may_equal(s, 7) && ef_dim_may_equal(s, t) && ef_dim_may_equal(UNKNOWN, s));
    CHECK(!ef_dim_may_equal(s, ef_dim_add(s, 1)) && !ef_dim_may_equal(ef_dim_mul(s, 2), 7));
    CHECK(!ef_dim_may_equal(ef_dim_add(s, 8), 7) && !ef_dim_may_equal(3, 4));
    CHECK(ef_dim_same(s, s) && !ef_dim_same(UNKNOWN, UNKNOWN));
    ef_shape a = SHAPE(2, UNKNOWN), b = SHAPE(UNKNOWN, 3), c = SHAPE(3, UNKNOWN), out;
    ef_shape none = ef_unknown_shape(), one = SHAPE(2);
    CHECK(ef_shape_may_equal(&a, &b) && !ef_shape_may_equal(&a, &c) && !ef_shape_equal(&a, &b));
    CHECK(ef_shape_may_equal(&a, &none) && !ef_shape_may_equal(&a, &one));
    CHECK_OK(ef_shape_merge(&a, &b, &out));
    CHECK_TEXT(EF_SHAPE(&out), "[2, 3]");
    CHECK_OK(ef_shape_merge(&none, &b, &out));
    CHECK_TEXT(EF_SHAPE(&out), "[?, 3]");
    CHECK_FAILS(ef_shape_merge(&a, &c, &out), EF_INVALID,
                "[2, ?] and [3, ?] differ in dimension 0");
    CHECK_FAILS(ef_shape_merge(&a, &one, &out), EF_INVALID, "ranks 2 and 1");
}

static void check_broadcast(ef_shape a, ef_shape b, const char *expected) {
    ef_shape out;
    bool good = ef_shape_broadcast2(&a, &b, &out);
    CHECK_TEXT(good ? EF_SHAPE(&out) : "no", expected);
    good = ef_shape_broadcast2(&b, &a, &out);
    CHECK_TEXT(good ? EF_SHAPE(&out) : "no", expected);
}

EF_TEST(broadcasting) {
    int64_t s = ef_dim_symbol(0), t = ef_dim_symbol(1);
    check_broadcast(SHAPE(2, 3), SHAPE(3), "[2, 3]");
    check_broadcast(SHAPE(2, 1), SHAPE(5), "[2, 5]");
    check_broadcast(SHAPE(2, 3), ef_scalar_shape(), "[2, 3]");
    check_broadcast(SHAPE(2, 3), SHAPE(2), "no");
    check_broadcast(SHAPE(0), SHAPE(1), "[0]");
    check_broadcast(SHAPE(0), SHAPE(2), "no");
    check_broadcast(SHAPE(s, 3), SHAPE(s, 1), "[s, 3]");
    check_broadcast(SHAPE(s, 3), SHAPE(1, 3), "[s, 3]");
    check_broadcast(SHAPE(s), SHAPE(t), "[?]");
    check_broadcast(SHAPE(s), SHAPE(4), "[4]");
    check_broadcast(SHAPE(linear(0, 1, 9)), SHAPE(4), "no");
    check_broadcast(SHAPE(UNKNOWN), SHAPE(4), "[4]");
    check_broadcast(SHAPE(UNKNOWN), SHAPE(1), "[?]");
    check_broadcast(ef_unknown_shape(), SHAPE(1), "<unknown>");
}

int main(void) {
    EF_RUN(counts);
    EF_RUN(symbols_pack_and_print);
    EF_RUN(arithmetic_on_dims);
    EF_RUN(arithmetic_agrees_with_numbers);
    EF_RUN(equality);
    EF_RUN(broadcasting);
    return EF_VERDICT();
}
