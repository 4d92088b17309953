/* Elementary functions for inner loops. libm's names are declared here to have vector forms
 * (glibc's libmvec), which the compiler calls eight floats at a time wherever such a call stands in
 * a simd loop outside any branch; elsewhere they are plain libm. Within 4 ulp; NaN, infinities,
 * signed zeros and denormals as in libm.
 *
 * Names end in the dtype so that code can be stamped: ef_exp_F32, ef_exp_F64. */
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

/* One-argument functions that have vector forms: X(name). */
#define EF_EACH_MVEC(X) \
    X(exp)              \
    X(expm1)            \
    X(log)              \
    X(log1p)            \
    X(sin)              \
    X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(asinh) X(acosh) X(atanh) X(erf) X(erfc)
/* Functions the compiler turns into instructions. */
#define EF_EACH_INSTRUCTION(X) X(sqrt) X(floor) X(ceil) X(rint) X(trunc)

#define EF_DECLARE(fn)                \
    extern double fn(double) EF_MVEC; \
    extern float fn##f(float) EF_MVEC;
#define EF_DEFINE(fn)                                               \
    static inline float ef_##fn##_F32(float x) { return fn##f(x); } \
    static inline double ef_##fn##_F64(double x) { return fn(x); }
EF_EACH_MVEC(EF_DECLARE)
extern double tanh(double) EF_MVEC;
extern double pow(double, double) EF_MVEC;
extern float powf(float, float) EF_MVEC;
extern double atan2(double, double) EF_MVEC;
extern float atan2f(float, float) EF_MVEC;
EF_EACH_MVEC(EF_DEFINE)
EF_EACH_INSTRUCTION(EF_DEFINE)
#undef EF_DECLARE
#undef EF_DEFINE

/* Fused where the machine can: calling libm for it would cost more than a second rounding harms. */
#ifdef __FMA__
#define EF_FMA_F32(a, b, c) __builtin_fmaf((a), (b), (c))
#else
#define EF_FMA_F32(a, b, c) ((a) * (b) + (c))
#endif

static inline double ef_tanh_F64(double x) { return tanh(x); }
/* x P(x^2) / Q(x^2), fitted for least relative error on |x| <= 9, up to the first x where it is 1:
 * it is never more. Six times as fast as libmvec's, within 5 ulp. */
static inline float ef_tanh_F32(float x) {
    const float most = 0x1.006a74p+3f;
    float c = most < x ? most : x;
    c = -most > c ? -most : c;
    float z = c * c, p = 0x1.cad848p-27f, q = 0x1.a17d5ap-21f;
    p = EF_FMA_F32(p, z, 0x1.59c1ccp-16f);
    p = EF_FMA_F32(p, z, 0x1.ca2bc6p-9f);
    p = EF_FMA_F32(p, z, 0x1.120b06p-3f);
    p = EF_FMA_F32(p, z, 1.0f);
    q = EF_FMA_F32(q, z, 0x1.588528p-12f);
    q = EF_FMA_F32(q, z, 0x1.a7f79ap-6f);
    q = EF_FMA_F32(q, z, 0x1.de5accp-2f);
    q = EF_FMA_F32(q, z, 1.0f);
    return c * p / q;
}

static inline double ef_fmod_F64(double x, double y) { return fmod(x, y); }
/* In double the quotient of two floats is exact enough to find its whole part, up to 2^29. */
static inline float ef_fmod_F32(float x, float y) {
    double q = trunc((double)x / (double)y);
    if (!(fabs(q) < 0x1p29)) return fmodf(x, y);
    return q == 0 ? x : copysignf((float)((double)x - q * (double)y), x);
}

/* Both sides of a choice are computed first: calls inside a branch would not be vectorised. NaN is
 * asked for by isnan: gcc 12 turns `x == x ? f(x) : x` into x. */
#define EF_DEFINE(SUF, T, f)                                                     \
    static inline T ef_pow_##SUF(T x, T y) { return pow##f(x, y); }              \
    static inline T ef_atan2_##SUF(T y, T x) { return atan2##f(y, x); }          \
    static inline T ef_sigmoid_##SUF(T x) {                                      \
        T e = exp##f(-fabs##f(x));                                               \
        return (x < 0 ? e : 1) / (1 + e);                                        \
    }                                                                            \
    static inline T ef_softplus_##SUF(T x) { /* log(1 + e^x) without overflow */ \
        T e = log1p##f(exp##f(-fabs##f(x)));                                     \
        return (x <= 0 ? 0 : x) + e;                                             \
    }                                                                            \
    static inline T ef_rsqrt_##SUF(T x) { return 1 / sqrt##f(x); }               \
    static inline T ef_mod_##SUF(T x, T y) { /* with the sign of y */            \
        T r = ef_fmod_##SUF(x, y);                                               \
        return r != 0 && (r < 0) != (y < 0) ? r + y : r;                         \
    }                                                                            \
    static inline T ef_max_##SUF(T x, T y) { /* NaN if either is */              \
        T r = x < y ? y : x;                                                     \
        return isnan(y) ? y : r;                                                 \
    }                                                                            \
    static inline T ef_min_##SUF(T x, T y) {                                     \
        T r = y < x ? y : x;                                                     \
        return isnan(y) ? y : r;                                                 \
    }                                                                            \
    static inline T ef_sign_##SUF(T x) { return isnan(x) ? x : (T)((x > 0) - (x < 0)); }
EF_DEFINE(F32, float, f)
EF_DEFINE(F64, double, )
#undef EF_DEFINE
#endif
