/* Modified Bessel functions: power series near the origin, asymptotic series or an integral far
 * from it. (Those of the first and second kind are libm's.) */
#include "kernels/special.h"
#include <float.h>
#include <math.h>

#define PI 3.14159265358979323846
#define EULER 0.57721566490153286061
#define EPS DBL_EPSILON

/* e^-x I_v(x), x >= 0: the power series has no cancellation; from 25 on the asymptotic series
 * reaches full precision. */
static double ie(int v, double x) {
    if (x == INFINITY) return 0;
    if (x < 25) {
        double z = x * x / 4, term = v == 0 ? 1 : x / 2, sum = term;
        for (int k = 1; k < 200 && term > EPS / 4 * sum; k++) {
            term *= z / (k * (double)(k + v));
            sum += term;
        }
        return sum * exp(-x);
    }
    double sum = 1, term = 1, mu = 4.0 * v * v;
    for (int k = 1; k < 60; k++) {
        term *= ((2 * k - 1) * (2.0 * k - 1) - mu) / (k * 8 * x);
        sum += term;
        if (fabs(term) < EPS / 4 * sum) break;
    }
    return sum / sqrt(2 * PI * x);
}
double ef_bessel_i0e(double x) { return isnan(x) ? x : ie(0, fabs(x)); }
double ef_bessel_i1e(double x) { return isnan(x) ? x : copysign(ie(1, fabs(x)), x); }

/* e^|x| times y, without overflow if only the factor is too large; NaN at infinity, as in
 * TensorFlow. */
static double grow(double y, double x) {
    double half = exp(fabs(x) / 2);
    return y * half * half;
}
double ef_bessel_i0(double x) { return isnan(x) ? x : grow(ie(0, fabs(x)), x); }
double ef_bessel_i1(double x) { return isnan(x) ? x : grow(copysign(ie(1, fabs(x)), x), x); }

/* K0 below 1: -(log(x/2) + euler) I0(x) plus a series with harmonic numbers. */
static double k0_series(double x) {
    double z = x * x / 4, term = 1, harmonic = 0, sum = 0;
    for (int k = 1; k < 30; k++) {
        term *= z / ((double)k * k);
        harmonic += 1.0 / k;
        sum += term * harmonic;
        if (term * harmonic <= EPS / 4 * sum) break;
    }
    return sum - (log(x / 2) + EULER) * ie(0, x) * exp(x);
}
/* e^x K_v(x) is the integral of exp(-x (cosh t - 1)) cosh(v t) over t >= 0, where the trapezoidal
 * rule converges faster than any power of its step. */
static double ke_integral(int v, double x) {
    double step = fmin(0.25, 0.7 / sqrt(x)), sum = 0.5;
    for (int k = 1; k < 1000; k++) {
        double s = sinh(k * step / 2), above = 2 * s * s; /* cosh t - 1 */
        double term = exp(-x * above) * (v == 0 ? 1 : 1 + above);
        sum += term;
        if (term < EPS / 8 * sum) break;
    }
    return sum * step;
}
static double ke(int v, double x) {
    if (x <= 0 || isnan(x)) return isnan(x) ? x : INFINITY;
    if (x == INFINITY) return 0;
    if (x >= 1) return ke_integral(v, x);
    double k0 = k0_series(x);
    if (v == 0) return exp(x) * k0;
    return (1 / x * exp(-x) - ie(1, x) * k0) / ie(0, x) * exp(x); /* I0 K1 + I1 K0 = 1/x */
}
double ef_bessel_k0e(double x) { return ke(0, x); }
double ef_bessel_k1e(double x) { return ke(1, x); }
double ef_bessel_k0(double x) { return ke(0, x) * exp(-x); }
double ef_bessel_k1(double x) { return ke(1, x) * exp(-x); }
