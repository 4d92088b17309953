/* Modified Bessel functions: power series near the origin, asymptotic series or an integral far
 * from it. (Those of the first and second kind are libm's.) */
#include "kernels/special.h"
#include "kernels/special_loops.h"
#include <float.h>

#define PI 3.14159265358979323846
#define EULER 0.57721566490153286061
#define EPS DBL_EPSILON

double ef_bessel_i0e(double x) { return ef_bessel_i0e_loop(x); }
double ef_bessel_i1e(double x) { return ef_bessel_i1e_loop(x); }
static double ie(int v, double x) { return v == 0 ? ef_bessel_i0e(x) : ef_bessel_i1e(x); }

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
