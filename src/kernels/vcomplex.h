/* Complex arithmetic for inner loops. Products use the plain formula: C's own operator handles
 * infinities with a library call per element, which TensorFlow does not do either. Quotients are
 * scaled (Smith), so that intermediate results do not overflow; division by zero or infinity gives
 * NaN, but infinity or zero in the form for the last few elements of a loop (_end), as in
 * TensorFlow. Names end in the dtype: ef_cmul_C64. */
#ifndef EF_KERNELS_VCOMPLEX_H
#define EF_KERNELS_VCOMPLEX_H
#include "tensor/dtype.h"
#include <complex.h>
#include <math.h>

static inline ef_c64 ef_complex_C64(float re, float im) { return __builtin_complex(re, im); }
static inline ef_c128 ef_complex_C128(double re, double im) { return __builtin_complex(re, im); }

#define EF_DEFINE(SUF, C, R, f)                                                                    \
    static inline C ef_cmul_##SUF(C x, C y) {                                                      \
        R a = creal##f(x), b = cimag##f(x), c = creal##f(y), d = cimag##f(y);                      \
        return ef_complex_##SUF(a * c - b * d, a * d + b * c);                                     \
    }                                                                                              \
    static inline C ef_cdiv_##SUF(C x, C y) {                                                      \
        R a = creal##f(x), b = cimag##f(x), c = creal##f(y), d = cimag##f(y);                      \
        if (isinf(c) || isinf(d)) return ef_complex_##SUF((R)NAN, (R)NAN);                         \
        if (fabs##f(c) >= fabs##f(d)) {                                                            \
            R r = d / c, s = 1 / (c + d * r);                                                      \
            return ef_complex_##SUF((a + b * r) * s, (b - a * r) * s);                             \
        }                                                                                          \
        R r = c / d, s = 1 / (d + c * r);                                                          \
        return ef_complex_##SUF((a * r + b) * s, (b * r - a) * s);                                 \
    }                                                                                              \
    static inline C ef_cdiv_end_##SUF(C x, C y) {                                                  \
        R a = creal##f(x), b = cimag##f(x), inf = copysign##f((R)INFINITY, creal##f(y));           \
        if (isinf(creal##f(y)) || isinf(cimag##f(y)))                                              \
            return isfinite(a) && isfinite(b) ? ef_complex_##SUF(0, 0) : ef_cdiv_##SUF(x, y);      \
        return y != 0 ? ef_cdiv_##SUF(x, y) : ef_complex_##SUF(inf * a, inf * b);                  \
    }                                                                                              \
    static inline C ef_cconj_##SUF(C x) { return ef_complex_##SUF(creal##f(x), -cimag##f(x)); }    \
    static inline C ef_cneg_##SUF(C x) { return ef_complex_##SUF(-creal##f(x), -cimag##f(x)); }    \
    static inline C ef_cscale_##SUF(C x, R k) {                                                    \
        return ef_complex_##SUF(creal##f(x) * k, cimag##f(x) * k);                                 \
    }                                                                                              \
    static inline C ef_csquare_##SUF(C x) { return ef_cmul_##SUF(x, x); }                          \
    static inline C ef_cone_##SUF(void) { return ef_complex_##SUF(1, 0); }                         \
    static inline C ef_cinv_##SUF(C x) { return ef_cdiv_##SUF(ef_cone_##SUF(), x); }               \
    static inline C ef_cinv_end_##SUF(C x) { return ef_cdiv_end_##SUF(ef_cone_##SUF(), x); }       \
    static inline C ef_csqrt_##SUF(C x) { return csqrt##f(x); }                                    \
    static inline C ef_crsqrt_##SUF(C x) { return ef_cinv_end_##SUF(csqrt##f(x)); }                \
    static inline C ef_cexp_##SUF(C x) { return cexp##f(x); }                                      \
    static inline C ef_cexpm1_##SUF(C x) { /* keeps small results exact */                         \
        R a = creal##f(x), b = cimag##f(x), s = sin##f(b / 2), e = expm1##f(a);                    \
        return ef_complex_##SUF(e * cos##f(b) - 2 * s * s, (e + 1) * sin##f(b));                   \
    }                                                                                              \
    static inline C ef_clog_##SUF(C x) { return clog##f(x); }                                      \
    static inline C ef_clog1p_##SUF(C x) {                                                         \
        R a = creal##f(x), b = cimag##f(x), m = a * (a + 2) + b * b;                               \
        if (fabs##f(m) < (R)0.5) return ef_complex_##SUF(log1p##f(m) / 2, atan2##f(b, 1 + a));     \
        return clog##f(ef_complex_##SUF(1 + a, b));                                                \
    }                                                                                              \
    static inline C ef_csin_##SUF(C x) { return csin##f(x); }                                      \
    static inline C ef_ccos_##SUF(C x) { return ccos##f(x); }                                      \
    static inline C ef_ctan_##SUF(C x) { return ctan##f(x); }                                      \
    static inline C ef_casin_##SUF(C x) { return casin##f(x); }                                    \
    static inline C ef_cacos_##SUF(C x) { return cacos##f(x); }                                    \
    static inline C ef_catan_##SUF(C x) { return catan##f(x); }                                    \
    static inline C ef_csinh_##SUF(C x) { return csinh##f(x); }                                    \
    static inline C ef_ccosh_##SUF(C x) { return ccosh##f(x); }                                    \
    static inline C ef_ctanh_##SUF(C x) { return ctanh##f(x); }                                    \
    static inline C ef_casinh_##SUF(C x) { return casinh##f(x); }                                  \
    static inline C ef_cacosh_##SUF(C x) { return cacosh##f(x); }                                  \
    static inline C ef_catanh_##SUF(C x) { return catanh##f(x); }                                  \
    static inline C ef_csigmoid_##SUF(C x) { /* e^x / (1 + e^x), from the side that is small */    \
        C e = cexp##f(creal##f(x) < 0 ? x : ef_cneg_##SUF(x));                                     \
        C d = ef_complex_##SUF(1 + creal##f(e), cimag##f(e));                                      \
        return ef_cdiv_##SUF(creal##f(x) < 0 ? e : ef_cone_##SUF(), d);                            \
    }                                                                                              \
    static inline C ef_csign_##SUF(C x) {                                                          \
        R m = hypot##f(creal##f(x), cimag##f(x));                                                  \
        return m == 0 ? ef_complex_##SUF(0, 0)                                                     \
                      : ef_complex_##SUF(creal##f(x) / m, cimag##f(x) / m);                        \
    }                                                                                              \
    static inline C ef_cpow_##SUF(C x, C y) {                                                      \
        if (y == 0) return ef_cone_##SUF();                                                        \
        if (x == 0 && creal##f(y) > 0) return ef_complex_##SUF(0, 0);                              \
        return cexp##f(ef_cmul_##SUF(y, clog##f(x)));                                              \
    }                                                                                              \
    static inline C ef_cmul_no_nan_##SUF(C x, C y) {                                               \
        return y == 0 ? ef_complex_##SUF(0, 0) : ef_cmul_##SUF(x, y);                              \
    }                                                                                              \
    static inline C ef_cdiv_no_nan_##SUF(C x, C y) {                                               \
        return y == 0 ? ef_complex_##SUF(0, 0) : ef_cdiv_##SUF(x, y);                              \
    }                                                                                              \
    static inline C ef_cxdivy_##SUF(C x, C y) { return x == 0 ? x : ef_cdiv_##SUF(x, y); }         \
    static inline C ef_cxdivy_end_##SUF(C x, C y) { return x == 0 ? x : ef_cdiv_end_##SUF(x, y); } \
    static inline C ef_cxlogy_##SUF(C x, C y) {                                                    \
        return x == 0 ? x : ef_cmul_##SUF(x, clog##f(y));                                          \
    }                                                                                              \
    static inline C ef_cxlog1py_##SUF(C x, C y) {                                                  \
        return x == 0 ? x : ef_cmul_##SUF(x, ef_clog1p_##SUF(y));                                  \
    }                                                                                              \
    /* |x - y|^2 computed as TensorFlow does: (x - y) times its conjugate */                       \
    static inline C ef_csquared_difference_##SUF(C x, C y) {                                       \
        R a = creal##f(x) - creal##f(y), b = cimag##f(x) - cimag##f(y);                            \
        return ef_complex_##SUF(a * a + b * b, 0 * fabs##f(a * b)); /* NaN if not finite */        \
    }                                                                                              \
    /* Gradients from y, the forward result. The last three conjugate y themselves; callers of the \
     * first two do it. */                                                                         \
    static inline C ef_ctanh_grad_##SUF(C y, C dy) {                                               \
        return ef_cmul_##SUF(dy, ef_cone_##SUF() - ef_csquare_##SUF(y));                           \
    }                                                                                              \
    static inline C ef_csigmoid_grad_##SUF(C y, C dy) {                                            \
        return ef_cmul_##SUF(dy, ef_cmul_##SUF(y, ef_cone_##SUF() - y));                           \
    }                                                                                              \
    static inline C ef_csqrt_grad_##SUF(C y, C dy) {                                               \
        return ef_cdiv_##SUF(ef_cscale_##SUF(dy, (R)0.5), ef_cconj_##SUF(y));                      \
    }                                                                                              \
    static inline C ef_crsqrt_grad_##SUF(C y, C dy) {                                              \
        C c = ef_cconj_##SUF(y);                                                                   \
        return ef_cmul_##SUF(ef_cmul_##SUF(ef_cscale_##SUF(dy, (R)-0.5), c), ef_csquare_##SUF(c)); \
    }                                                                                              \
    static inline C ef_cinv_grad_##SUF(C y, C dy) {                                                \
        return ef_cmul_##SUF(ef_cneg_##SUF(dy), ef_csquare_##SUF(ef_cconj_##SUF(y)));              \
    }
EF_DEFINE(C64, ef_c64, float, f)
EF_DEFINE(C128, ef_c128, double, )
#undef EF_DEFINE
#endif
