/* Elementary functions for inner loops. The common ones of float are our own (math_f32.inc). For
 * the others libm's functions are declared here to have vector forms (glibc's libmvec), which the
 * compiler calls for eight floats at a time where such a call is in a simd loop outside any branch;
 * elsewhere they are plain libm. Errors are within 4 ulp (tanh, erf and erfc of float: 6); NaN,
 * infinities, signed zeros and denormals as in libm.
 *
 * Names end in the dtype so that macros can build them: ef_exp_F32, ef_exp_F64. */
#ifndef EF_KERNELS_VMATH_H
#define EF_KERNELS_VMATH_H
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__GLIBC__)
#if __GLIBC_PREREQ(2, 35)
#define EF_MVEC __attribute__((simd("notinbranch")))
#endif
#endif
#ifndef EF_MVEC
#define EF_MVEC
#endif

/* One-argument functions that have vector forms: X(name). For the first list the float form is our
 * own; tanh is our own for both types. */
#define EF_EACH_OWN(X) X(exp) X(expm1) X(log) X(log1p) X(erf) X(erfc)
#define EF_EACH_MVEC(X) \
    X(sin)              \
    X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(asinh) X(acosh) X(atanh)
/* Functions that the compiler turns into instructions. */
#define EF_EACH_INSTRUCTION(X) X(sqrt) X(floor) X(ceil) X(rint) X(trunc)

#define EF_DECLARE(fn)                \
    extern double fn(double) EF_MVEC; \
    extern float fn##f(float) EF_MVEC;
#define EF_DEFINE(fn)                                               \
    static inline float ef_##fn##_F32(float x) { return fn##f(x); } \
    static inline double ef_##fn##_F64(double x) { return fn(x); }
#define EF_DECLARE_F64(fn) extern double fn(double) EF_MVEC;
#define EF_DEFINE_F64(fn) \
    static inline double ef_##fn##_F64(double x) { return fn(x); }
EF_EACH_MVEC(EF_DECLARE)
EF_EACH_OWN(EF_DECLARE_F64)
extern double pow(double, double) EF_MVEC;
extern float powf(float, float) EF_MVEC;
extern double atan2(double, double) EF_MVEC;
extern float atan2f(float, float) EF_MVEC;
EF_EACH_MVEC(EF_DEFINE)
EF_EACH_OWN(EF_DEFINE_F64)
EF_EACH_INSTRUCTION(EF_DEFINE)
#undef EF_DECLARE
#undef EF_DECLARE_F64
#undef EF_DEFINE
#undef EF_DEFINE_F64

/* Fused if the machine has the instruction: a call of libm would cost more than the second rounding
 * harms. */
#ifdef __FMA__
#define EF_FMA_F32(a, b, c) __builtin_fmaf((a), (b), (c))
#define EF_FMA_F64(a, b, c) __builtin_fma((a), (b), (c))
#else
#define EF_FMA_F32(a, b, c) ((a) * (b) + (c))
#define EF_FMA_F64(a, b, c) ((a) * (b) + (c))
#endif

static inline uint32_t ef_bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float ef_float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* a * 2^n by two factors, which is exact for denormal results too. t is n + 1.5 * 2^23. */
static inline float ef_scaled_F32(float a, float t) {
    uint32_t k = ef_bits_of(t) - 0x4B400000u, half = (uint32_t)((int32_t)k >> 1), bias = 127u;
    return a * ef_float_of((half + bias) << 23) * ef_float_of((k - half + bias) << 23);
}

#define FUNCTION(name) static inline float ef_##name##_F32(float x)
#define REAL float
#define BITS uint32_t
#define NUMBER(c) (c)
#define ADD(a, b) ((a) + (b))
#define SUB(a, b) ((a) - (b))
#define MUL(a, b) ((a) * (b))
#define DIV(a, b) ((a) / (b))
#define FMA(a, b, c) EF_FMA_F32(a, b, c)
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define LESS(a, b) ((a) < (b))
#define EQUAL(a, b) ((a) == (b))
#define BOTH(a, b) ((a) & (b))
#define CHOOSE(test, a, b) ((test) ? (a) : (b))
#define ABS(a) fabsf(a)
#define SQRT(a) sqrtf(a)
#define CALL(name, a) ef_##name##_F32(a)
#define WORD(c) (c)
#define AS_BITS(a) ef_bits_of(a)
#define AS_REAL(a) ef_float_of(a)
#define PLUS(a, b) ((a) + (b))
#define MINUS(a, b) ((a) - (b))
#define AND_BITS(a, b) ((a) & (b))
#define XOR_BITS(a, b) ((a) ^ (b))
#define SHIFT_LEFT(a, k) ((a) << (k))
#define SHIFT_RIGHT(a, k) ((uint32_t)((int32_t)(a) >> (k)))
#define CONVERT(a) ((float)(int32_t)(a))
#define SCALE(a, n, t) ((void)(n), ef_scaled_F32(a, t))
#include "kernels/math_f32.inc"
#undef FUNCTION
#undef REAL
#undef BITS
#undef NUMBER
#undef ADD
#undef SUB
#undef MUL
#undef DIV
#undef FMA
#undef MAX
#undef MIN
#undef LESS
#undef EQUAL
#undef BOTH
#undef CHOOSE
#undef ABS
#undef SQRT
#undef CALL
#undef WORD
#undef AS_BITS
#undef AS_REAL
#undef PLUS
#undef MINUS
#undef AND_BITS
#undef XOR_BITS
#undef SHIFT_LEFT
#undef SHIFT_RIGHT
#undef CONVERT
#undef SCALE

static inline double ef_sigmoid_F64(double x) {
    double e = exp(-fabs(x));
    return (x < 0 ? e : 1) / (1 + e);
}
static inline double ef_softplus_F64(double x) { /* log(1 + e^x) without overflow */
    double e = log1p(exp(-fabs(x)));
    return (x <= 0 ? 0 : x) + e;
}
static inline double ef_rsqrt_F64(double x) { return 1 / sqrt(x); }
/* x P(x^2) / Q(x^2) up to 19.06, where it is 1; rounding may exceed 1 before. Within 4 units in the
 * last place. All coefficients are positive, so nothing cancels. */
static inline double ef_tanh_F64(double x) {
    const double most = 19.0615;
    double c = x > most ? most : x, z;
    c = c < -most ? -most : c;
    z = c * c;
#define STEP(sum, k) sum = EF_FMA_F64(sum, z, k);
    double p = 0x1.e74f24638e635p-76, q = 0x1.d92315ce01268p-68;
    STEP(p, 0x1.b7f6670217955p-61)
    STEP(p, 0x1.bb33740c9a8c2p-49)
    STEP(p, 0x1.26441bf36f272p-38)
    STEP(p, 0x1.4ffa19103fbcap-29)
    STEP(p, 0x1.6f10c78ec1bd0p-21)
    STEP(p, 0x1.88cbfd3e1effcp-14)
    STEP(p, 0x1.87a417aec80b3p-8)
    STEP(p, 0x1.36ea2169b740dp-3)
    STEP(p, 1.0)
    STEP(q, 0x1.04e392bc082f4p-54)
    STEP(q, 0x1.1ef97fe35d92bp-43)
    STEP(q, 0x1.e9b57bb9aa26ep-34)
    STEP(q, 0x1.7fe19af75a0fap-25)
    STEP(q, 0x1.25eebad5b2a5bp-17)
    STEP(q, 0x1.b25243a38d560p-11)
    STEP(q, 0x1.1976a4221755ap-5)
    STEP(q, 0x1.f0ca660a30f53p-2)
    STEP(q, 1.0)
#undef STEP
    double y = c * p / q;
    y = fabs(y) > 1 ? copysign(1, x) : y;
    return fabs(x) >= most ? copysign(1, x) : y;
}

static inline double ef_fmod_F64(double x, double y) { return fmod(x, y); }
/* The quotient of two floats in double is accurate enough to find its integer part, up to 2^29. */
static inline float ef_fmod_F32(float x, float y) {
    double q = trunc((double)x / (double)y);
    if (!(fabs(q) < 0x1p29)) return fmodf(x, y);
    return q == 0 ? x : copysignf((float)((double)x - q * (double)y), x);
}

/* Both sides of a selection are computed first: calls inside a branch would not be vectorised.
 * isnan tests for NaN, because gcc 12 turns `x == x ? f(x) : x` into x. */
#define EF_DEFINE(SUF, T, f)                                            \
    static inline T ef_pow_##SUF(T x, T y) { return pow##f(x, y); }     \
    static inline T ef_atan2_##SUF(T y, T x) { return atan2##f(y, x); } \
    static inline T ef_mod_##SUF(T x, T y) { /* with the sign of y */   \
        T r = ef_fmod_##SUF(x, y);                                      \
        return r != 0 && (r < 0) != (y < 0) ? r + y : r;                \
    }                                                                   \
    static inline T ef_max_##SUF(T x, T y) { /* NaN if either is */     \
        T r = x < y ? y : x;                                            \
        return isnan(y) ? y : r;                                        \
    }                                                                   \
    static inline T ef_min_##SUF(T x, T y) {                            \
        T r = y < x ? y : x;                                            \
        return isnan(y) ? y : r;                                        \
    }                                                                   \
    static inline T ef_sign_##SUF(T x) { return isnan(x) ? x : (T)((x > 0) - (x < 0)); }
EF_DEFINE(F32, float, f)
EF_DEFINE(F64, double, )
#undef EF_DEFINE
#endif
