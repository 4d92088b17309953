/* Symbolic dims. The packing, from the top: bit 63 set (negative), bit 62 clear (so it is never
 * -1), 6 bits of symbol, 32 bits of factor a (not 0), 24 bits of offset b, the last two signed.
 * Arithmetic that leaves these ranges gives an unknown dim, which is always a correct answer. */
#include "tensor/shape.h"
#include <inttypes.h>
#include <stdio.h>

enum { OFFSET_BITS = 24 };
static const uint64_t sign_bit = UINT64_C(1) << 63, unused_bit = UINT64_C(1) << 62;

typedef struct linear {
    int s; /* -1: a number, a = 0 */
    int64_t a, b;
} linear;

/* The dim for e; unknown if it does not fit or is a negative number. */
static int64_t pack(linear e) {
    if (e.a == 0) return e.b >= 0 ? e.b : EF_DIM_UNKNOWN;
    int64_t most = INT64_C(1) << (OFFSET_BITS - 1);
    if (e.a < INT32_MIN || e.a > INT32_MAX || e.b < -most || e.b >= most) return EF_DIM_UNKNOWN;
    uint64_t a = (uint32_t)(int32_t)e.a, b = (uint64_t)e.b & ((UINT64_C(1) << OFFSET_BITS) - 1);
    uint64_t bits = sign_bit | (uint64_t)e.s << 56 | a << OFFSET_BITS | b;
    return (int64_t)bits;
}

bool ef_dim_parts(int64_t d, int *s, int64_t *a, int64_t *b) {
    uint64_t u = (uint64_t)d;
    int64_t factor = (int32_t)(uint32_t)(u >> OFFSET_BITS);
    if (d >= 0 || (u & unused_bit) || factor == 0) return false;
    *s = (int)(u >> 56 & (EF_MAX_SYMBOLS - 1));
    *a = factor;
    *b = (int32_t)(uint32_t)(u << (32 - OFFSET_BITS)) >> (32 - OFFSET_BITS);
    return true;
}

int64_t ef_dim_symbol(int s) { return pack((linear){s, 1, 0}); }

/* False if d is unknown. */
static bool unpack(int64_t d, linear *e) {
    if (d >= 0) {
        *e = (linear){-1, 0, d};
        return true;
    }
    return ef_dim_parts(d, &e->s, &e->a, &e->b);
}

/* x + sign*y. Numbers are up to 2^63, so sums are checked; factors and offsets are small. */
static int64_t combine(int64_t x, int64_t y, int sign) {
    linear p, q;
    if (!unpack(x, &p) || !unpack(y, &q)) return EF_DIM_UNKNOWN;
    if (p.s >= 0 && q.s >= 0 && p.s != q.s) return EF_DIM_UNKNOWN;
    if (sign > 0 && p.b > INT64_MAX - (q.b > 0 ? q.b : 0)) return EF_DIM_UNKNOWN;
    return pack((linear){p.s >= 0 ? p.s : q.s, p.a + sign * q.a, p.b + sign * q.b});
}

int64_t ef_dim_add(int64_t x, int64_t y) { return combine(x, y, 1); }

int64_t ef_dim_sub(int64_t x, int64_t y) { return combine(x, y, -1); }

int64_t ef_dim_mul(int64_t x, int64_t y) {
    if (x == 0 || y == 0) return 0;
    linear p, q;
    if (!unpack(x, &p) || !unpack(y, &q) || (p.s >= 0 && q.s >= 0)) return EF_DIM_UNKNOWN;
    if (p.s < 0) {
        linear t = p;
        p = q;
        q = t;
    }
    int64_t k = q.b; /* > 0 */
    if (p.s < 0) return p.b > INT64_MAX / k ? EF_DIM_UNKNOWN : p.b * k;
    return k > INT32_MAX ? EF_DIM_UNKNOWN : pack((linear){p.s, p.a * k, p.b * k});
}

int64_t ef_dim_div(int64_t x, int64_t y) {
    linear p, q;
    if (!unpack(x, &p) || !unpack(y, &q)) return EF_DIM_UNKNOWN;
    if (q.s < 0) {
        if (q.b == 0) return EF_DIM_UNKNOWN;
        if (p.s < 0) return p.b / q.b;
        if (p.a % q.b != 0 || p.b % q.b != 0) return EF_DIM_UNKNOWN;
        return pack((linear){p.s, p.a / q.b, p.b / q.b});
    }
    if (p.s != q.s || p.a % q.a != 0) return EF_DIM_UNKNOWN;
    int64_t k = p.a / q.a; /* both over one size: exact if one is a multiple of the other */
    return p.b == k * q.b && k > 0 ? k : EF_DIM_UNKNOWN;
}

int64_t ef_dim_bind(int64_t d, const int64_t *size) {
    linear e;
    if (d >= 0) return d;
    if (!unpack(d, &e) || size[e.s] < 0) return EF_DIM_UNKNOWN;
    int64_t n = size[e.s], factor = e.a < 0 ? -e.a : e.a;
    if (n > (INT64_MAX >> 1) / factor) return EF_DIM_UNKNOWN;
    int64_t v = e.a * n + e.b;
    return v >= 0 ? v : EF_DIM_UNKNOWN;
}

bool ef_dim_may_equal(int64_t x, int64_t y) {
    linear p, q;
    if (!unpack(x, &p) || !unpack(y, &q)) return true;
    if (p.s >= 0 && q.s >= 0 && p.s != q.s) return true;
    int64_t a = p.a - q.a, b = q.b - p.b; /* equal where a*s = b for a size s >= 0 */
    if (a == 0) return b == 0;
    return b % a == 0 && b / a >= 0;
}

size_t ef_dim_print(int64_t d, char *out, size_t size) {
    linear e;
    char factor[16] = "", symbol[8] = "", offset[16] = "";
    if (d >= 0) return (size_t)snprintf(out, size, "%" PRId64, d);
    if (!unpack(d, &e)) return (size_t)snprintf(out, size, "?");
    if (e.a != 1) snprintf(factor, sizeof factor, "%" PRId32, (int32_t)e.a);
    if (e.s > 0) snprintf(symbol, sizeof symbol, "%" PRId16, (int16_t)e.s);
    if (e.b != 0) snprintf(offset, sizeof offset, "%+" PRId32, (int32_t)e.b);
    return (size_t)snprintf(out, size, "%ss%s%s", factor, symbol, offset);
}
