/* Box-Muller on many pairs at a time. Logarithm, sine and cosine are computed in double with the
 * polynomials of the C library's float functions, so that the rounded results, and the decisions
 * of a truncated distribution that follow from them, are those of one call at a time. */
#include "kernels/random.h"
#include <math.h>

enum { LANES = 16 };

/* log(u) for a normal u > 0: u = 2^k z with z in one of sixteen intervals, each with the inverse of
 * a number within it and that number's logarithm. */
static const double inverse[16] = {0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0,
                                   0x1.49539f0f010bp+0,  0x1.3c995b0b80385p+0,
                                   0x1.30d190c8864a5p+0, 0x1.25e227b0b8eap+0,
                                   0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0,
                                   0x1.0953f419900a7p+0, 0x1p+0,
                                   0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aap-1,
                                   0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1,
                                   0x1.886e6037841edp-1, 0x1.767dcf5534862p-1};
static const double logarithm[16] = {-0x1.57bf7808caadep-2, -0x1.2bef0a7c06ddbp-2,
                                     -0x1.01eae7f513a67p-2, -0x1.b31d8a68224e9p-3,
                                     -0x1.6574f0ac07758p-3, -0x1.1aa2bc79c81p-3,
                                     -0x1.a4e76ce8c0e5ep-4, -0x1.1973c5a611cccp-4,
                                     -0x1.252f438e10c1ep-5, 0x0p+0,
                                     0x1.aa5aa5df25984p-5,  0x1.c5e53aa362eb4p-4,
                                     0x1.526e57720db08p-3,  0x1.bc2860d22477p-3,
                                     0x1.1058bc8a07ee1p-2,  0x1.4043057b6ee09p-2};

static void logs(float *u) {
    uint32_t bits[LANES], from_low[LANES];
    float z[LANES];
    double c[LANES], base[LANES];
    memcpy(bits, u, sizeof bits);
    for (int i = 0; i < LANES; i++) {
        from_low[i] = bits[i] - 0x3f330000u;
        bits[i] -= from_low[i] & 0xff800000u;
    }
    memcpy(z, bits, sizeof z);
    for (int i = 0; i < LANES; i++) { /* not vectorised: reads from the tables */
        c[i] = inverse[from_low[i] >> 19 & 15];
        base[i] = logarithm[from_low[i] >> 19 & 15];
    }
    for (int i = 0; i < LANES; i++) {
        double r = (double)z[i] * c[i] - 1.0, r2 = r * r;
        double y = 0x1.5575b0be00b6ap-2 * r + -0x1.ffffef20a4123p-2;
        y = -0x1.00ea348b88334p-2 * r2 + y;
        double k = (double)((int32_t)from_low[i] >> 23);
        u[i] = (float)(y * r2 + (base[i] + k * 0x1.62e42fefa39efp-1 + r));
    }
}

/* Sine and cosine of an angle in [0, 2 pi]: the angle less the nearest multiple n of pi / 2. */
static inline void sine_cosine(float angle, float *sine, float *cosine) {
    double x = angle;
    int32_t n = (int32_t)(x * 0x1.45f306dc9c883p+23) + 0x800000;
    n >>= 24;
    x -= (double)n * 0x1.921fb54442d18p0;
    double x2 = x * x, x3 = x * x2, x4 = x2 * x2;
    double s = x + x3 * -0x1.555545995a603p-3;
    s += x3 * x2 * (0x1.1107605230bc4p-7 + x2 * -0x1.994eb3774cf24p-13);
    double c = 1.0 + x2 * -0x1.ffffffd0c621cp-2 + x4 * 0x1.55553e1068f19p-5;
    c += x4 * x2 * (-0x1.6c087e89a359dp-10 + x2 * 0x1.99343027bf8c3p-16);
    float a = (float)s, b = (float)c;
    *sine = (n & 1 ? b : a) * (n & 2 ? -1.0f : 1.0f);
    *cosine = (n & 1 ? a : b) * ((n + 1) & 2 ? -1.0f : 1.0f);
}

static void sixteen(const uint32_t *x, float *out) {
    float radius[LANES], angle[LANES], sine[LANES], cosine[LANES];
    for (int i = 0; i < LANES; i++) {
        float u = ef_random_float(x[2 * i]);
        radius[i] = u < 1.0e-7f ? 1.0e-7f : u;
        angle[i] = (float)(2.0f * M_PI * ef_random_float(x[2 * i + 1]));
    }
    logs(radius);
    for (int i = 0; i < LANES; i++) radius[i] = sqrtf(-2.0f * radius[i]);
    for (int i = 0; i < LANES; i++) sine_cosine(angle[i], &sine[i], &cosine[i]);
    for (int i = 0; i < LANES; i++) {
        out[2 * i] = sine[i] * radius[i];
        out[2 * i + 1] = cosine[i] * radius[i];
    }
}

void ef_random_normal_floats(const uint32_t *x, int64_t pairs, float *out) {
    for (; pairs >= LANES; pairs -= LANES, x += 2 * LANES, out += 2 * LANES) sixteen(x, out);
    if (pairs == 0) return;
    uint32_t some[2 * LANES] = {0};
    float made[2 * LANES];
    memcpy(some, x, (size_t)pairs * 2 * sizeof *x);
    sixteen(some, made);
    memcpy(out, made, (size_t)pairs * 2 * sizeof *out);
}
