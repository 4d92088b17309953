/* Special functions of doubles without branches and calls, except of functions that have vector
 * forms, so that the compiler turns a loop around them into vector code. Both sides of every
 * selection are computed. Within 4 units in the last place unless the function says otherwise; NaN
 * and infinities as in special.h. */
#ifndef EF_KERNELS_SPECIAL_LOOPS_H
#define EF_KERNELS_SPECIAL_LOOPS_H
#include "kernels/vmath.h"

#define EF_PI 3.14159265358979323846
/* A call that the compiler does not inline, because the function is long, is not vectorised. */
#ifdef __GNUC__
#define EF_INLINED static inline __attribute__((always_inline))
#else
#define EF_INLINED static inline
#endif

#define EF_STEP(c) sum = EF_FMA_F64(sum, z, c);
#define EF_POLYNOMIAL(name, LIST)           \
    EF_INLINED double ef_##name(double z) { \
        double sum = 0;                     \
        LIST(EF_STEP)                       \
        return sum;                         \
    }

/* sin(pi r) and cos(pi r), |r| <= 1/2, by the Taylor series in (pi r)^2. */
#define EF_SINE_TERMS(S)            \
    S(1.0 / 51090942171709440000.0) \
    S(-1.0 / 121645100408832000.0)  \
    S(1.0 / 355687428096000.0)      \
    S(-1.0 / 1307674368000.0)       \
    S(1.0 / 6227020800.0)           \
    S(-1.0 / 39916800.0) S(1.0 / 362880.0) S(-1.0 / 5040.0) S(1.0 / 120.0) S(-1.0 / 6) S(1.0)
#define EF_COSINE_TERMS(S)         \
    S(1.0 / 2432902008176640000.0) \
    S(-1.0 / 6402373705728000.0)   \
    S(1.0 / 20922789888000.0)      \
    S(-1.0 / 87178291200.0)        \
    S(1.0 / 479001600.0)           \
    S(-1.0 / 3628800.0) S(1.0 / 40320.0) S(-1.0 / 720.0) S(1.0 / 24) S(-0.5) S(1.0)
EF_POLYNOMIAL(sine_sum, EF_SINE_TERMS)
EF_POLYNOMIAL(cosine_sum, EF_COSINE_TERMS)

/* ---- gamma ----------------------------------------------------------------------------------- */

/* B(2k) / (2k), k from 8 down to 1: with z = 1/x^2, z times the sum is log(x) - 1/(2x) - digamma(x)
 * for large x. */
#define EF_DIGAMMA_TERMS(S) \
    S(-3617.0 / 8160)       \
    S(1.0 / 12) S(-691.0 / 32760) S(1.0 / 132) S(-1.0 / 240) S(1.0 / 252) S(-1.0 / 120) S(1.0 / 12)
EF_POLYNOMIAL(digamma_sum, EF_DIGAMMA_TERMS)

/* Below 10 the sum of 1 / (x + k), k < 10, is subtracted from the value at x + 10. It is p'/p,
 * where p is the product of all x + k. Negative arguments are reflected at 1/2. Absolute error
 * 1e-14 times the largest of 1 and the terms. */
EF_INLINED double ef_digamma_loop(double x) {
    bool low = x <= 0;
    double y = low ? 1 - x : x, part = x - rint(x), angle = EF_PI * part, z = angle * angle;
    double cotangent = ef_cosine_sum(z) / (part * ef_sine_sum(z)); /* pi cot(pi x) */
    bool near = y < 10;
    double c = near ? y : 10, p = c, slope = 1;
#define MULTIPLY(k) slope = EF_FMA_F64(slope, c + (k), p), p *= c + (k);
    MULTIPLY(1)
    MULTIPLY(2)
    MULTIPLY(3)
    MULTIPLY(4)
    MULTIPLY(5)
    MULTIPLY(6)
    MULTIPLY(7)
    MULTIPLY(8)
    MULTIPLY(9)
#undef MULTIPLY
    double below = slope / p, far = near ? y + 10 : y, inverse = 1 / far;
    z = inverse * inverse;
    double value = log(far) - 0.5 * inverse - z * ef_digamma_sum(z) - (near ? below : 0);
    double mirrored = part == 0 ? NAN : fabs(part) == 0.5 ? value : value - cotangent;
    double result = low ? mirrored : value;
    return isnan(x) ? x : result;
}

/* B(2k) / (2k (2k-1)), k from 8 down to 1, of Stirling's series. */
#define EF_STIRLING_TERMS(S) \
    S(-3617.0 / 122400)      \
    S(1.0 / 156)             \
    S(-691.0 / 360360) S(1.0 / 1188) S(-1.0 / 1680) S(1.0 / 1260) S(-1.0 / 360) S(1.0 / 12)
EF_POLYNOMIAL(stirling_sum, EF_STIRLING_TERMS)

/* log |gamma(x)| with an absolute error of about 1e-14, which is enough for floats even next to the
 * zeros at 1 and 2: below 8 by the value at x + 8 and the logarithm of a product, which takes in
 * the reflection of negative arguments too. */
EF_INLINED double ef_lgamma_loop(double x) {
    bool low = x <= 0;
    double y = low ? 1 - x : x, part = x - rint(x), angle = EF_PI * part;
    double sine = fabs(part * ef_sine_sum(angle * angle)); /* sin(pi x) / pi */
    bool near = y < 8;
    double c = near ? y : 8;
    double p = ((c * (c + 7)) * ((c + 1) * (c + 6))) * (((c + 2) * (c + 5)) * ((c + 3) * (c + 4)));
    p = near ? p : 1;
    double far = near ? y + 8 : y, inverse = 1 / far;
    double stirling = (far - 0.5) * (log(far) - 1) + (0.91893853320467274178 - 0.5);
    stirling += inverse * ef_stirling_sum(inverse * inverse);
    double rest = log((low ? p : 1) / (low ? sine : p));
    double value = (low ? -stirling : stirling) + rest;
    return fabs(x) == (double)INFINITY ? (double)INFINITY : value;
}

/* ---- quantiles of the normal distribution ---------------------------------------------------- */

/* Wichura's algorithm AS 241: ratios of polynomials of degree 7. The probability is 1/2 + q, and
 * the smaller one of it and its complement is `tail`. ratio: the quantile divided by q, for |q| <=
 * 0.425. */
#define EF_CENTRE_P(S)          \
    S(2.5090809287301226727e+3) \
    S(3.3430575583588128105e+4) \
    S(6.7265770927008700853e+4) \
    S(4.5921953931549871457e+4) \
    S(1.3731693765509461125e+4) \
    S(1.9715909503065514427e+3) S(1.3314166789178437745e+2) S(3.3871328727963666080)
#define EF_CENTRE_Q(S)          \
    S(5.2264952788528545610e+3) \
    S(2.8729085735721942674e+4) \
    S(3.9307895800092710610e+4) \
    S(2.1213794301586595867e+4) \
    S(5.3941960214247511077e+3) \
    S(6.8718700749205790830e+2) S(4.2313330701600911252e+1) S(1.0)
#define EF_TAIL_P(S)             \
    S(7.74545014278341407640e-4) \
    S(2.27238449892691845833e-2) \
    S(2.41780725177450611770e-1) \
    S(1.27045825245236838258)    \
    S(3.64784832476320460504)    \
    S(5.76949722146069140550) S(4.63033784615654529590) S(1.42343711074968357734)
#define EF_TAIL_Q(S)             \
    S(1.05075007164441684324e-9) \
    S(5.47593808499534494600e-4) \
    S(1.51986665636164571966e-2) \
    S(1.48103976427480074590e-1) \
    S(6.89767334985100004550e-1) \
    S(1.67638483018380384940) S(2.05319162663775882187) S(1.0)
#define EF_FAR_TAIL_P(S)         \
    S(2.01033439929228813265e-7) \
    S(2.71155556874348757815e-5) \
    S(1.24266094738807843860e-3) \
    S(2.65321895265761230930e-2) \
    S(2.96560571828504891230e-1) \
    S(1.78482653991729133580) S(5.46378491116411436990) S(6.65790464350110377720)
#define EF_FAR_TAIL_Q(S)          \
    S(2.04426310338993978564e-15) \
    S(1.42151175831644588870e-7)  \
    S(1.84631831751005468180e-5)  \
    S(7.86869131145613259100e-4)  \
    S(1.48753612908506148525e-2)  \
    S(1.36929880922735805310e-1) S(5.99832206555887937690e-1) S(1.0)
EF_POLYNOMIAL(centre_p, EF_CENTRE_P)
EF_POLYNOMIAL(centre_q, EF_CENTRE_Q)
EF_POLYNOMIAL(tail_p, EF_TAIL_P)
EF_POLYNOMIAL(tail_q, EF_TAIL_Q)
EF_POLYNOMIAL(far_tail_p, EF_FAR_TAIL_P)
EF_POLYNOMIAL(far_tail_q, EF_FAR_TAIL_Q)

EF_INLINED double ef_quantile_ratio(double q) {
    double z = 0.180625 - q * q;
    return ef_centre_p(z) / ef_centre_q(z);
}
/* The magnitude of the quantile, for |q| > 0.425. */
EF_INLINED double ef_quantile_tail(double tail) {
    double root = sqrt(-log(tail)), near = root - 1.6, far = root - 5;
    bool is_near = root <= 5;
    double p_near = ef_tail_p(near), q_near = ef_tail_q(near);
    double p_far = ef_far_tail_p(far), q_far = ef_far_tail_q(far);
    double size = (is_near ? p_near : p_far) / (is_near ? q_near : q_far);
    return tail == 0 ? (double)INFINITY : size;
}
EF_INLINED double ef_ndtri_loop(double p) {
    double q = p - 0.5, centre = q * ef_quantile_ratio(q);
    double tail = copysign(ef_quantile_tail(q < 0 ? p : 1 - p), q);
    return fabs(q) <= 0.425 ? centre : tail;
}
EF_INLINED double ef_erfinv_loop(double x) {
    const double root_half = 0.70710678118654752440;
    double centre = x * (ef_quantile_ratio(x / 2) * (root_half / 2));
    double tail = copysign(ef_quantile_tail((1 - fabs(x)) / 2) * root_half, x);
    return fabs(x) <= 0.85 ? centre : tail;
}

/* ---- modified Bessel functions --------------------------------------------------------------- */

/* The power series of I0(x) and of I1(x) / (x/2) in z = (x/2)^2, for x up to 8: the factors are 1 /
 * k^2 and 1 / (k (k + 1)). */
#define EF_FACTORS(S) \
    S(26)             \
    S(25)             \
    S(24)             \
    S(23)             \
    S(22)             \
    S(21)             \
    S(20)             \
    S(19)             \
    S(18)             \
    S(17) S(16) S(15) S(14) S(13) S(12) S(11) S(10) S(9) S(8) S(7) S(6) S(5) S(4) S(3) S(2) S(1)
/* The asymptotic part: sqrt(x) exp(-x) I(x) for x from 8 on, by powers of t = 16/x - 1. */
#define EF_I0_FAR(S)          \
    S(-0x1.ada2c97f3fdddp-36) \
    S(0x1.90df137cc1a36p-34)  \
    S(0x1.852f5d42d1ca3p-33)  \
    S(-0x1.650b3e7f898b0p-31) \
    S(-0x1.5be16a36a0da0p-31) \
    S(0x1.295fc465ff477p-29)  \
    S(0x1.ba2352eb42f20p-30)  \
    S(-0x1.3756a636aa04fp-28) \
    S(-0x1.ece52144ada18p-29) \
    S(0x1.c034e59a2db9bp-28)  \
    S(0x1.05248ba2f26a0p-27)  \
    S(-0x1.58ce729fc478ap-28) \
    S(-0x1.cd5da3da6b614p-27) \
    S(-0x1.d72c8d3f0b6bcp-28) \
    S(0x1.03bcdeab408e2p-27)  \
    S(0x1.7288379f891f7p-26)  \
    S(0x1.51ccdc47b6c77p-25)  \
    S(0x1.7d0cd4fd1f2b8p-24)  \
    S(0x1.3f49ac32e14bfp-22)  \
    S(0x1.8e513c6a21829p-20)  \
    S(0x1.75e5ee702e57ap-17)  \
    S(0x1.1daa72b5ccfadp-13) S(0x1.b87969bb93bcbp-9) S(0x1.9bd428ad249a5p-2)
#define EF_I1_FAR(S)          \
    S(0x1.8a72ab2fc6959p-36)  \
    S(-0x1.a1752f6235857p-34) \
    S(-0x1.6612a100e112cp-33) \
    S(0x1.7455f3bd09231p-31)  \
    S(0x1.42be4263f9ec5p-31)  \
    S(-0x1.36f288e187d2ep-29) \
    S(-0x1.a250a944e85b4p-30) \
    S(0x1.475d4e2f2acfep-28)  \
    S(0x1.e14768d6db225p-29)  \
    S(-0x1.dd37812c1dd72p-28) \
    S(-0x1.0821c71098c2bp-27) \
    S(0x1.7ee7fbfb39f90p-28)  \
    S(0x1.e2d0791db759ap-27)  \
    S(0x1.d68fdf13b4f0fp-28)  \
    S(-0x1.21ba2485afab4p-27) \
    S(-0x1.91e870dc073a7p-26) \
    S(-0x1.727891f52aef6p-25) \
    S(-0x1.ad8afba84040bp-24) \
    S(-0x1.761383996dea0p-22) \
    S(-0x1.ec8e127b73a3fp-20) \
    S(-0x1.f89c2304c35d3p-17) \
    S(-0x1.cbc54df1d28edp-13) S(-0x1.3f796198ee63dp-7) S(0x1.8ebe783a84030p-2)
EF_POLYNOMIAL(i0_far, EF_I0_FAR)
EF_POLYNOMIAL(i1_far, EF_I1_FAR)

#define EF_FACTOR_0(k) sum = EF_FMA_F64(sum, z * (1.0 / ((k) * (k))), 1.0);
#define EF_FACTOR_1(k) sum = EF_FMA_F64(sum, z * (1.0 / ((k) * ((k) + 1))), 1.0);
#define EF_BESSEL_IE(name, FACTORS, FACTOR, FAR, START, SIGN)          \
    EF_INLINED double name(double x) {                                 \
        double a = fabs(x), c = a < 8 ? a : 8, z = c * c / 4, sum = 1; \
        FACTORS(FACTOR)                                                \
        double near = START * sum * exp(-c), far = a < 8 ? 8 : a;      \
        far = FAR(16 / far - 1) / sqrt(far);                           \
        double size = a < 8 ? near : far;                              \
        return isnan(x) ? x : SIGN;                                    \
    }
EF_BESSEL_IE(ef_bessel_i0e_loop, EF_FACTORS, EF_FACTOR_0, ef_i0_far, 1, size)
EF_BESSEL_IE(ef_bessel_i1e_loop, EF_FACTORS, EF_FACTOR_1, ef_i1_far, c / 2, copysign(size, x))

/* The same with fewer terms, for results that are rounded to float: relative error 1e-9. */
#define EF_FACTORS_FLOAT(S) \
    S(16) S(15) S(14) S(13) S(12) S(11) S(10) S(9) S(8) S(7) S(6) S(5) S(4) S(3) S(2) S(1)
#define EF_I0_FAR_FLOAT(S)    \
    S(-0x1.ea40bb501e1bep-28) \
    S(-0x1.1875620ec70c8p-27) \
    S(0x1.4c84c83d64f89p-26)  \
    S(0x1.ad64aa9d72e97p-25)  \
    S(0x1.82b19d70f4e41p-24)  \
    S(0x1.3b335f55742b5p-22)  \
    S(0x1.8e3f6e7fdf997p-20)  \
    S(0x1.75eb2cbbc8e60p-17)  \
    S(0x1.1daa748ce5c44p-13) S(0x1.b879697b53c10p-9) S(0x1.9bd428ad249a5p-2)
#define EF_I1_FAR_FLOAT(S)    \
    S(0x1.052aebac8618ap-27)  \
    S(0x1.21b1a7c512031p-27)  \
    S(-0x1.7023c59b1253bp-26) \
    S(-0x1.d64696ef8afb4p-25) \
    S(-0x1.b2e10543c215ap-24) \
    S(-0x1.719441c7cdd4ap-22) \
    S(-0x1.ec7cf39e2f21cp-20) \
    S(-0x1.f8a1f04d22d29p-17) \
    S(-0x1.cbc54fb943d4fp-13) S(-0x1.3f7961871d69ep-7) S(0x1.8ebe783a84030p-2)
EF_POLYNOMIAL(i0_far_float, EF_I0_FAR_FLOAT)
EF_POLYNOMIAL(i1_far_float, EF_I1_FAR_FLOAT)
EF_BESSEL_IE(ef_bessel_i0e_float, EF_FACTORS_FLOAT, EF_FACTOR_0, ef_i0_far_float, 1, size)
EF_BESSEL_IE(ef_bessel_i1e_float, EF_FACTORS_FLOAT, EF_FACTOR_1, ef_i1_far_float, c / 2,
             copysign(size, x))
#endif
