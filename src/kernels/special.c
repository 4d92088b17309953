/* Special functions. Each uses the textbook pair of a series near the origin and an expansion far
 * from it; the functions say where they switch. */
#include "kernels/special.h"
#include "kernels/special_loops.h"
#include <float.h>

#define PI 3.14159265358979323846
#define EPS DBL_EPSILON
#define FLOAT_EPS 0x1p-36   /* where a series may end if the result is rounded to float */
enum { MAX_TERMS = 20000 }; /* series end much earlier, except for arguments of many millions */

double ef_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign); /* lgamma itself writes a global variable */
}

double ef_digamma(double x) { return ef_digamma_loop(x); }

/* Bernoulli numbers B(2k) divided by (2k)!, k = 1, 2, ... */
static const double bernoulli[] = {1.0 / 12,
                                   -1.0 / 720,
                                   1.0 / 30240,
                                   -1.0 / 1209600,
                                   1.0 / 47900160,
                                   -691.0 / 1307674368000,
                                   1.0 / 74724249600,
                                   -3617.0 / 10670622842880000,
                                   43867.0 / 5109094217170944000,
                                   -174611.0 / 802857662698291200000.0,
                                   854513.0 / (138 * 1124000727777607680000.0)};
enum { BERNOULLIS = sizeof bernoulli / sizeof *bernoulli, ZETA_BLOCK = 4 };

double ef_zeta(double x, double q) {
    if (x == 1) return INFINITY;
    if (!(x > 1) || isnan(q)) return NAN;
    if (q <= 0) {
        if (x == INFINITY) return INFINITY;
        if (q == floor(q)) return fmod(x, 2) == 0 ? INFINITY : NAN; /* a pole of either sign */
        if (x != floor(x)) return NAN;                              /* powers of negative numbers */
        double part = q - floor(q); /* the terms below zero, mirrored, and those above */
        double below = ef_zeta(x, 1 - part) - ef_zeta(x, 1 - q);
        return (fmod(x, 2) == 0 ? below : -below) + ef_zeta(x, part);
    }
    if (q == INFINITY || x == INFINITY) return q > 1 ? 0 : q == 1 ? 1 : INFINITY;
    double sum = 0;
    if (q > 0x1p60) return pow(q, 1 - x) / (x - 1); /* the sum is equal to the integral */
    while (q < 10 + x) {                            /* from there on the expansion converges */
        double terms[ZETA_BLOCK];
        _Pragma("omp simd") for (int k = 0; k < ZETA_BLOCK; k++) terms[k] = pow(q + k, -x);
        for (int k = 0; k < ZETA_BLOCK && q < 10 + x; k++, q += 1) {
            sum += terms[k];
            if (terms[k] < EPS / 4 * sum || terms[k] == 0) return sum;
        }
    }
    /* The Euler-Maclaurin formula gives the rest. */
    double term = pow(q, -x), factor = x;
    sum += term * q / (x - 1) + 0.5 * term;
    term /= q;
    double inverse = 1 / (q * q);
    for (int k = 0; k < BERNOULLIS; k++) {
        double add = bernoulli[k] * factor * term;
        sum += add;
        if (fabs(add) < EPS / 4 * fabs(sum)) break;
        factor *= (x + 2 * k + 1) * (x + 2 * k + 2);
        term *= inverse;
    }
    return sum;
}

double ef_polygamma(double n, double x) {
    double factorial = 1;
    if (!(n >= 0) || n != floor(n)) return NAN;
    if (n == 0) return ef_digamma(x);
    for (int k = 2; k <= n && k <= 20; k++) factorial *= k;
    double size = (n <= 20 ? factorial : exp(ef_lgamma(n + 1))) * ef_zeta(n + 1, x);
    return fmod(n, 2) == 0 ? -size : size;
}

/* ---- incomplete gamma ------------------------------------------------------------------------ */

/* x^a e^-x / gamma(a); for large a computed from the distance to the peak, because the plain
 * logarithms would cancel. */
static double gamma_density(double a, double x) {
    if (a < 20) return exp(a * log(x) - x - ef_lgamma(a));
    double off = (x - a) / a, r = 1 / a, stirling = r * ef_stirling_sum(r * r);
    double shape = fabs(off) < 0.5 ? log1p(off) - off : log(x / a) - off;
    return sqrt(a / (2 * PI)) * exp(a * shape - stirling);
}

/* sum of x^n / ((a+1) ... (a+n)) */
static double gamma_series(double a, double x, double eps) {
    double sum = 1, term = 1;
    for (int n = 1; n < MAX_TERMS && term > eps * sum; n++) {
        term *= x / (a + n);
        sum += term;
    }
    return sum;
}
/* The same, and its derivative by a. */
static double gamma_series_slope(double a, double x, double *slope) {
    double sum = 1, term = 1, term_slope = 0;
    *slope = 0;
    for (int n = 1; n < MAX_TERMS; n++) {
        double f = x / (a + n);
        term_slope = (term_slope - term / (a + n)) * f;
        term *= f;
        sum += term;
        *slope += term_slope;
        if (term <= EPS * sum && fabs(term_slope) <= EPS * fabs(*slope)) break;
    }
    return sum;
}

/* The continued fraction of the upper function, by its convergents p/q. */
static double gamma_fraction(double a, double x, double eps) {
    double y = 1 - a, z = x + y + 1;
    double p2 = 1, q2 = x, p1 = x + 1, q1 = z * x, value = p1 / q1;
    for (int c = 1; c < MAX_TERMS; c++) {
        y += 1;
        z += 2;
        double yc = y * c, p = p1 * z - p2 * yc, q = q1 * z - q2 * yc;
        p2 = p1, p1 = p, q2 = q1, q1 = q;
        if (q != 0) {
            double next = p / q, change = fabs(next - value);
            value = next;
            if (change <= eps * fabs(next)) break;
        }
        if (fabs(p) > 1e100) p2 *= 1e-100, p1 *= 1e-100, q2 *= 1e-100, q1 *= 1e-100;
    }
    return value;
}
/* The same, and its derivative by a. */
static double gamma_fraction_slope(double a, double x, double *slope) {
    double y = 1 - a, z = x + y + 1;
    double p2 = 1, q2 = x, p1 = x + 1, q1 = z * x, value = p1 / q1;
    double dp2 = 0, dq2 = 0, dp1 = 0, dq1 = -x, d = (dp1 - value * dq1) / q1;
    for (int c = 1; c < MAX_TERMS; c++) {
        y += 1;
        z += 2;
        double yc = y * c;
        double p = p1 * z - p2 * yc, q = q1 * z - q2 * yc;
        double dp = dp1 * z - p1 - dp2 * yc + p2 * c, dq = dq1 * z - q1 - dq2 * yc + q2 * c;
        p2 = p1, p1 = p, q2 = q1, q1 = q, dp2 = dp1, dp1 = dp, dq2 = dq1, dq1 = dq;
        if (q != 0) {
            double next = p / q, next_d = (dp - next * dq) / q;
            bool done =
                fabs(next - value) <= EPS * fabs(next) && fabs(next_d - d) <= EPS * fabs(next_d);
            value = next;
            d = next_d;
            if (done) break;
        }
        if (fabs(p) > 1e100) { /* keep the convergents in range */
            p2 *= 1e-100, p1 *= 1e-100, q2 *= 1e-100, q1 *= 1e-100;
            dp2 *= 1e-100, dp1 *= 1e-100, dq2 *= 1e-100, dq1 *= 1e-100;
        }
    }
    *slope = d;
    return value;
}

static bool near_origin(double a, double x) { return x <= 1 || x <= a; }

static double igamma(double a, double x, double eps) {
    if (x == 0) return 0;
    if (isnan(a) || !(x > 0) || a <= 0) return NAN;
    if (a == INFINITY || x == INFINITY) return a == INFINITY ? 0 : 1;
    if (near_origin(a, x)) return gamma_density(a, x) / a * gamma_series(a, x, eps);
    return 1 - gamma_density(a, x) * gamma_fraction(a, x, eps);
}
static double igammac(double a, double x, double eps) {
    if (isnan(a) || !(x >= 0) || a <= 0) return NAN;
    if (x == INFINITY) return 0;
    if (x == 0 || a == INFINITY) return 1;
    if (near_origin(a, x)) return 1 - gamma_density(a, x) / a * gamma_series(a, x, eps);
    return gamma_density(a, x) * gamma_fraction(a, x, eps);
}
double ef_igamma(double a, double x) { return igamma(a, x, EPS); }
float ef_igamma_F32(float a, float x) { return (float)igamma((double)a, (double)x, FLOAT_EPS); }
double ef_igammac(double a, double x) { return igammac(a, x, EPS); }
float ef_igammac_F32(float a, float x) { return (float)igammac((double)a, (double)x, FLOAT_EPS); }
double ef_igamma_grad_a(double a, double x) {
    double slope;
    if (x == 0) return 0;
    if (isnan(a) || !(x > 0) || a <= 0) return NAN;
    if (x == INFINITY || a == INFINITY) return 0;
    double density = gamma_density(a, x);
    if (near_origin(a, x)) {
        double sum = gamma_series_slope(a, x, &slope);
        return density / a * (slope + sum * (log(x) - ef_digamma(a) - 1 / a));
    }
    double value = gamma_fraction_slope(a, x, &slope);
    return -density * (slope + value * (log(x) - ef_digamma(a)));
}

/* ---- incomplete beta ------------------------------------------------------------------------- */

/* Lentz's evaluation of the continued fraction; it converges fast for x below the mean. */
static double beta_fraction(double a, double b, double x, double eps) {
    const double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (fabs(d) < tiny ? tiny : d);
    double h = d;
    for (int m = 1; m < MAX_TERMS; m++) {
        double step[2] = {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                          -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))};
        double change = 1;
        for (int k = 0; k < 2; k++) {
            d = 1 + step[k] * d;
            d = 1 / (fabs(d) < tiny ? tiny : d);
            c = 1 + step[k] / c;
            c = fabs(c) < tiny ? tiny : c;
            change = c * d;
            h *= change;
        }
        if (fabs(change - 1) <= eps) break;
    }
    return h;
}
static double betainc(double a, double b, double x, double eps) {
    if (!(a > 0 && b > 0 && x >= 0 && x <= 1)) return NAN;
    if (x == 0 || x == 1) return x;
    double front = exp(a * log(x) + b * log1p(-x) + ef_lgamma(a + b) - ef_lgamma(a) - ef_lgamma(b));
    if (x < (a + 1) / (a + b + 2)) return front / a * beta_fraction(a, b, x, eps);
    return 1 - front / b * beta_fraction(b, a, 1 - x, eps);
}
double ef_betainc(double a, double b, double x) { return betainc(a, b, x, EPS); }
float ef_betainc_F32(float a, float b, float x) {
    return (float)betainc((double)a, (double)b, (double)x, FLOAT_EPS);
}

/* ---- inverses of the error function ---------------------------------------------------------- */

double ef_erfinv(double x) { return ef_erfinv_loop(x); }
double ef_ndtri(double p) { return ef_ndtri_loop(p); }
