/* Integrals without a closed form. Where neither the series at the origin nor the asymptotic one is
 * accurate, the trapezoidal rule is: for these integrands it converges faster than any power of its
 * step. */
#include "kernels/special.h"
#include <float.h>
#include <math.h>

#define PI 3.14159265358979323846
#define EULER 0.57721566490153286061
#define EPS DBL_EPSILON

double ef_dawsn(double x) {
    double a = fabs(x);
    if (isnan(x)) return x;
    if (a < 0.2) {
        double z = -2 * x * x, term = x, sum = x;
        for (int k = 1; k < 20; k++) {
            term *= z / (2 * k + 1);
            sum += term;
        }
        return sum;
    }
    if (a > 50) {
        double r = 1 / (x * x);
        return (1 + r / 2 * (1 + r * 1.5 * (1 + r * 2.5))) / (2 * x);
    }
    /* Rybicki: Gaussians at the odd multiples of h, counted from the even one nearest to x */
    const double h = 0.2;
    double even = 2 * rint(a / (2 * h)), off = a - even * h, sum = 0;
    for (int n = -33; n <= 33; n += 2) sum += exp(-(off - n * h) * (off - n * h)) / (even + n);
    return copysign(sum / sqrt(PI), x);
}

double ef_expint(double x) {
    if (isnan(x) || x < 0) return NAN;
    if (x == 0) return -INFINITY;
    if (x > 40) {
        double sum = 1, term = 1;
        for (int k = 1; k < 60; k++) {
            double next = term * k / x;
            if (next > term || next < EPS / 4 * sum) break;
            sum += term = next;
        }
        double half = exp(x / 2);
        return isinf(x) ? x : half / x * sum * half;
    }
    double sum = 0, term = 1;
    for (int k = 1; k < 200; k++) {
        term *= x / k;
        sum += term / k;
        if (term / k < EPS / 8 * sum) break;
    }
    return sum + log(x) + EULER;
}

/* Both Fresnel integrals for x >= 0. */
static void fresnel(double x, double *c, double *s) {
    if (x < 1.5) { /* z^k / (k! (2k+1)), signs + + - - */
        double z = PI * x * x / 2, term = x;
        *c = *s = 0;
        for (int k = 0; k < 60; k++) {
            double part = term / (2 * k + 1) * (k % 4 < 2 ? 1 : -1);
            if (k % 2 == 0)
                *c += part;
            else
                *s += part;
            term *= z / (k + 1);
            if (k > 0 && term < EPS / 8 * x) break;
        }
        return;
    }
    double step = fmin(0.12, 0.4 / x), f = 0.5, g = 0, turn = PI / 2 * fmod(x * x, 4);
    for (int k = 1; k < 100; k++) {
        double t2 = k * step * k * step, weight = exp(-PI / 2 * x * x * t2) / (t2 * t2 + 1);
        f += weight;
        g += weight * t2;
        if (weight < EPS / 8 * f) break;
    }
    f *= step * sqrt(2) / PI;
    g *= step * sqrt(2) / PI;
    *c = 0.5 + f * sin(turn) - g * cos(turn);
    *s = 0.5 - f * cos(turn) - g * sin(turn);
}
double ef_fresnel_cos(double x) {
    double c, s;
    if (isnan(x) || isinf(x)) return isnan(x) ? x : copysign(0.5, x);
    fresnel(fabs(x), &c, &s);
    return copysign(c, x);
}
double ef_fresnel_sin(double x) {
    double c, s;
    if (isnan(x) || isinf(x)) return isnan(x) ? x : copysign(0.5, x);
    fresnel(fabs(x), &c, &s);
    return copysign(s, x);
}

/* Li2(1 - x) for 1/2 <= x <= 2, by powers of log x with Bernoulli numbers. */
static double dilog(double x) {
    static const double b[] = {1.0 / 6,  -1.0 / 30,     1.0 / 42, -1.0 / 30,
                               5.0 / 66, -691.0 / 2730, 7.0 / 6,  -3617.0 / 510};
    double u = -log(x), z = u * u, term = u, sum = u - z / 4;
    for (int k = 1; k <= 8; k++) {
        term *= z / (2 * k * (2.0 * k + 1));
        sum += b[k - 1] * term;
    }
    return sum;
}
double ef_spence(double x) {
    if (isnan(x) || x < 0) return NAN;
    if (x == 0) return PI * PI / 6;
    if (x == INFINITY) return -INFINITY;
    if (x < 0.5) return PI * PI / 6 - log(x) * log1p(-x) - dilog(1 - x);
    if (x > 2) { /* Li2(z) by Li2(1/z), z = 1 - x < -1 */
        double l = log(x - 1);
        return -PI * PI / 6 - l * l / 2 - dilog(1 + 1 / (x - 1));
    }
    return dilog(x);
}
