/* Special functions, one element at a time, computed in double: results rounded to float have an
 * error below one unit in the last place. Outside their domain they return NaN (or the infinity of
 * a pole), never an error. */
#ifndef EF_KERNELS_SPECIAL_H
#define EF_KERNELS_SPECIAL_H

double ef_lgamma(double x);              /* log |gamma(x)|; thread-safe */
double ef_digamma(double x);             /* its derivative */
double ef_polygamma(double n, double x); /* n-th derivative of digamma; n a whole number >= 0 */
double ef_zeta(double x, double q);      /* sum of (q + k)^-x over k >= 0; x > 1 */
double ef_igamma(double a, double x);    /* lower incomplete gamma, divided by gamma(a) */
double ef_igammac(double a, double x);   /* 1 - igamma */
double ef_igamma_grad_a(double a, double x);
float ef_igamma_F32(float a, float x); /* the same, as accurate as a float */
float ef_igammac_F32(float a, float x);
double ef_betainc(double a, double b, double x); /* regularised incomplete beta */
float ef_betainc_F32(float a, float b, float x);
double ef_erfinv(double x);
double ef_ndtri(double p); /* quantile of the normal distribution */

/* Bessel functions of order 0 and 1; a name that ends in e: times exp(-|x|) for I, exp(x) for K. */
double ef_bessel_i0(double x);
double ef_bessel_i1(double x);
double ef_bessel_i0e(double x);
double ef_bessel_i1e(double x);
double ef_bessel_k0(double x);
double ef_bessel_k1(double x);
double ef_bessel_k0e(double x);
double ef_bessel_k1e(double x);

/* Integrals without a closed form. */
double ef_dawsn(double x);       /* exp(-x^2) times the integral of exp(t^2) from 0 to x */
double ef_expint(double x);      /* of exp(t) / t from -infinity to x, x >= 0 */
double ef_fresnel_cos(double x); /* of cos(pi t^2 / 2) from 0 to x */
double ef_fresnel_sin(double x);
double ef_spence(double x); /* of log(t) / (1 - t) from 1 to x, x >= 0 */
#endif
