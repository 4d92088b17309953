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
#define EF_EACH_MVEC(X)                                                                    \
    X(exp)                                                                                 \
    X(expm1)                                                                               \
    X(log)                                                                                 \
    X(log1p) X(sin) X(cos) X(tan) X(asin) X(acos) X(atan) X(sinh) X(cosh) X(tanh) X(asinh) \
        X(acosh) X(atanh) X(erf) X(erfc)
/* Functions the compiler turns into instructions. */
#define EF_EACH_INSTRUCTION(X) X(sqrt) X(floor) X(ceil) X(rint) X(trunc)

#define EF_DECLARE(fn)                \
    extern double fn(double) EF_MVEC; \
    extern float fn##f(float) EF_MVEC;
#define EF_DEFINE(fn)                                               \
    static inline float ef_##fn##_F32(float x) { return fn##f(x); } \
    static inline double ef_##fn##_F64(double x) { return fn(x); }
EF_EACH_MVEC(EF_DECLARE)
extern double pow(double, double) EF_MVEC;
extern float powf(float, float) EF_MVEC;
extern double atan2(double, double) EF_MVEC;
extern float atan2f(float, float) EF_MVEC;
EF_EACH_MVEC(EF_DEFINE)
EF_EACH_INSTRUCTION(EF_DEFINE)
#undef EF_DECLARE
#undef EF_DEFINE

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
        T r = fmod##f(x, y);                                                     \
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
