/* Numbers narrower than a byte, and floats of one byte. Every element has a byte of its own; the
 * narrower ones use its low bits and keep the others 0. */
#ifndef EF_TENSOR_NARROW_H
#define EF_TENSOR_NARROW_H
#include "tensor/dtype.h"

/* A float of one byte: how its bits are laid out, and what its largest codes mean. */
typedef struct ef_small_float {
    uint8_t mantissa, bias; /* bits of the mantissa; the exponent's bias */
    uint8_t sign;           /* the sign's bit */
    uint8_t most;           /* code of the largest finite number */
    uint8_t beyond;         /* code that larger numbers become */
    uint8_t nan;            /* code of NaN; 0: there is none */
    bool infinite;          /* `beyond` is an infinity */
    bool unsigned_zero;     /* the code of -0 means NaN: neither 0 nor NaN has a sign */
} ef_small_float;

static const ef_small_float ef_f8e5m2 = {2, 15, 0x80, 0x7B, 0x7C, 0x7E, true, false};
static const ef_small_float ef_f8e4m3fn = {3, 7, 0x80, 0x7E, 0x7F, 0x7F, false, false};

static inline float ef_small_to_float(ef_small_float f, uint8_t code) {
    uint32_t body = code & (f.sign - 1u), m = body & ((1u << f.mantissa) - 1),
             e = body >> f.mantissa;
    uint32_t u = (e + 127u - f.bias) << 23 | m << (23 - f.mantissa), step = 128u - f.bias;
    float tiny, x;
    step = (step - f.mantissa) << 23; /* 2^(1 - bias - mantissa): what the last bit is worth */
    memcpy(&tiny, &step, sizeof tiny);
    tiny *= (float)m;
    if (e == 0) memcpy(&u, &tiny, sizeof u);
    if (body > f.most) u = f.infinite && body == f.beyond ? 0x7F800000u : 0x7FC00000u;
    if (f.unsigned_zero && code == f.nan) u = 0x7FC00000u;
    u |= (uint32_t)(code & f.sign) << (f.sign == 8 ? 28 : 24);
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Rounds to nearest, ties to even; a number larger than the largest becomes `beyond`. */
static inline uint8_t ef_float_to_small(ef_small_float f, float x) {
    uint32_t u, shift = 23u - f.mantissa, least = (128u - f.bias) << 23, code;
    memcpy(&u, &x, sizeof u);
    uint32_t sign = u >> 31 != 0 ? f.sign : 0;
    u &= 0x7FFFFFFFu;
    /* Adding a number whose last bit is worth as much as that of a subnormal does the rounding. */
    uint32_t big = (151u - f.bias - f.mantissa) << 23, sum;
    float small, at;
    uint32_t low = u < least ? u : 0;
    memcpy(&small, &low, sizeof small);
    memcpy(&at, &big, sizeof at);
    at += small;
    memcpy(&sum, &at, sizeof sum);
    code = (u + (1u << (shift - 1)) - 1 + (u >> shift & 1u) - ((127u - f.bias) << 23)) >> shift;
    code = u < least ? sum - big : code;
    code = u >= least && code > f.most ? f.beyond : code;
    if (u > 0x7F800000u)
        return (uint8_t)(f.nan == 0 ? f.sign - sign : (f.nan & f.sign) ? f.nan : f.nan | sign);
    if (f.unsigned_zero && (code == 0 || code == f.nan)) return (uint8_t)code;
    return (uint8_t)(sign | code);
}

/* A float that rounds to any narrower type as x itself does: x truncated, with the last bit set if
 * any bits were lost. */
static inline float ef_round_to_odd(double x) {
    float f = (float)x;
    uint32_t u;
    if ((double)f == x || f != f) return f;
    memcpy(&u, &f, sizeof u);
    u = ((double)f > x) == (x > 0) ? (u - 1) | 1u : u | 1u;
    memcpy(&f, &u, sizeof f);
    return f;
}

/* The layout of a narrow float type; NULL if t is none. */
const ef_small_float *ef_small_float_of(ef_dtype t);

static inline int8_t ef_i4_int(uint8_t code) { return (int8_t)((code & 7) - (code & 8)); }
static inline int8_t ef_i2_int(uint8_t code) { return (int8_t)((code & 1) - (code & 2)); }
#endif
