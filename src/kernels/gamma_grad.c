/* The derivative of a gamma sample by its shape parameter: the sample x stays at one quantile of
 * the distribution, so dx/da = -(dP/da) / p, where P is the incomplete gamma function and p the
 * density. Both have the factor x^a e^-x / gamma(a), which is left out from the start, so nothing
 * underflows far from the mean. P is computed from its power series or, beyond the mean, 1 - P from
 * its continued fraction; each term is computed with its derivative by a. */
#include "kernels/random.h"
#include "kernels/special.h"
#include <float.h>
#include <math.h>

enum { TERMS = 2000 };

/* P = factor / a * sum of c, c = product of x / (a + k). */
static double by_series(double a, double x) {
    double r = a, c = 1, sum = 1, dc = 0, dsum = 0;
    for (int k = 0; k < TERMS; k++) {
        r += 1;
        dc = dc * x / r - c * x / (r * r);
        c *= x / r;
        sum += c;
        dsum += dc;
        if (fabs(dc) <= DBL_EPSILON * fabs(dsum)) break;
    }
    return -(dsum + sum * (log(x) - ef_digamma(a + 1))) * x / a;
}

/* 1 - P = factor * p / q by the recurrence of numerators and denominators. */
static double by_fraction(double a, double x) {
    double c = 0, y = 1 - a, z = x + y + 1;
    double p2 = 1, q2 = x, p1 = x + 1, q1 = z * x, value = p1 / q1;
    double dp2 = 0, dq2 = 0, dp1 = 0, dq1 = -x, slope = (dp1 - value * dq1) / q1;
    for (int k = 0; k < TERMS; k++) {
        c += 1;
        y += 1;
        z += 2;
        double p = p1 * z - p2 * y * c, q = q1 * z - q2 * y * c;
        double dp = dp1 * z - p1 - dp2 * y * c + p2 * c, dq = dq1 * z - q1 - dq2 * y * c + q2 * c;
        if (q != 0) {
            double before = slope;
            value = p / q;
            slope = (dp - value * dq) / q;
            if (fabs(slope - before) <= DBL_EPSILON) break;
        }
        p2 = p1, p1 = p, q2 = q1, q1 = q;
        dp2 = dp1, dp1 = dp, dq2 = dq1, dq1 = dq;
        if (fabs(p) > 0x1p52) {
            p2 *= 0x1p-52, p1 *= 0x1p-52, q2 *= 0x1p-52, q1 *= 0x1p-52;
            dp2 *= 0x1p-52, dp1 *= 0x1p-52, dq2 *= 0x1p-52, dq1 *= 0x1p-52;
        }
    }
    return x * (slope + value * (log(x) - ef_digamma(a)));
}

double ef_random_gamma_slope(double a, double x) {
    if (!(a > 0) || !(x >= 0) || isinf(a) || isinf(x)) return NAN;
    if (x == 0) return 0;
    return x > 1 && x > a ? by_fraction(a, x) : by_series(a, x);
}
