/* The vector functions against double libm over the whole range of floats, in vector loops and in
 * the scalar loops after them; the special functions against values known in closed form. */
#include "check.h"
#include "kernels/special.h"
#include "kernels/vcomplex.h"
#include "kernels/vmath.h"
#include "tensor/dtype.h"

#define LOOP(name)                                                                       \
    static void name##_loop(float *out, const float *in, int n) {                        \
        _Pragma("omp simd") for (int i = 0; i < n; i++) out[i] = ef_##name##_F32(in[i]); \
    }
LOOP(exp)
LOOP(expm1)
LOOP(log)
LOOP(log1p)
LOOP(tanh)
LOOP(sigmoid)
LOOP(softplus)
LOOP(erf)
LOOP(erfc)
LOOP(sin)
LOOP(cos)
LOOP(atan)
static double sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
static double softplus(double x) { return (x > 0 ? x : 0) + log1p(exp(-fabs(x))); }

static const struct {
    const char *name;
    void (*loop)(float *, const float *, int);
    double (*exact)(double);
} functions[] = {{"exp", exp_loop, exp},
                 {"expm1", expm1_loop, expm1},
                 {"log", log_loop, log},
                 {"log1p", log1p_loop, log1p},
                 {"tanh", tanh_loop, tanh},
                 {"sigmoid", sigmoid_loop, sigmoid},
                 {"softplus", softplus_loop, softplus},
                 {"erf", erf_loop, erf},
                 {"erfc", erfc_loop, erfc},
                 {"sin", sin_loop, sin},
                 {"cos", cos_loop, cos},
                 {"atan", atan_loop, atan}};

/* Error in units in the last place of the exact result; denormals count as the smallest normal. */
static double ulps(float got, double exact) {
    float rounded = (float)exact;
    if (isnan(rounded) || isinf(rounded) || isinf(got)) {
        if (isnan(rounded) ? isnan(got) : got == rounded) return 0;
        return isinf(rounded) && fabsf(got) > 3.4e38f ? 0 : INFINITY;
    }
    int e;
    frexp(exact, &e);
    return fabs(got - exact) / ldexp(1, (e < -125 ? -125 : e) - 24);
}
EF_TEST(floats_are_near) {
    enum { N = 515 }; /* vector loops of 8 and 4 and a scalar rest */
    static float in[N], out[N];
    for (size_t f = 0; f < sizeof functions / sizeof *functions; f++) {
        double worst = 0;
        float at = 0;
        uint32_t bits = 0;
        for (int round = 0; round < 400; round++) {
            for (int i = 0; i < N; i++, bits += 20929) memcpy(&in[i], &bits, sizeof bits);
            functions[f].loop(out, in, N);
            for (int i = 0; i < N; i++) {
                double u = ulps(out[i], functions[f].exact((double)in[i]));
                if (u > worst) worst = u, at = in[i];
            }
        }
        if (worst > 6) {
            ef_check.failed = true;
            printf("%s is %g ulp off at %a\n", functions[f].name, worst, (double)at);
        }
    }
}

EF_TEST(tanh_stays_within_one) {
    float most = 0, x = 5;
    while (x < 10) {
        float y = ef_tanh_F32(x);
        if (!(y <= most)) most = y;
        CHECK(y == -ef_tanh_F32(-x));
        x = nextafterf(x, 11);
    }
    CHECK(most == 1 && ef_tanh_F32(9) == 1 && ef_tanh_F32(1e30f) == 1);
    CHECK(isnan(ef_tanh_F32(NAN)) && signbit(ef_tanh_F32(-0.0f)));
}

static void tanh_loop_F64(double *out, const double *in, int n) {
    _Pragma("omp simd") for (int i = 0; i < n; i++) out[i] = ef_tanh_F64(in[i]);
}
EF_TEST(tanh_of_doubles_is_near) {
    enum { N = 1003 };
    static double in[N], out[N];
    double worst = 0;
    for (double scale = 1e-310; scale < 1e4; scale *= 1.5) {
        for (int i = 0; i < N; i++) in[i] = scale * (i - N / 2) / N;
        tanh_loop_F64(out, in, N);
        for (int i = 0; i < N; i++) {
            double exact = tanh(in[i]), miss = fabs(out[i] - exact);
            if (!(fabs(out[i]) <= 1)) worst = INFINITY;
            if (miss > 1e-320) worst = fmax(worst, miss / (fabs(exact) * 0x1p-52));
        }
    }
    CHECK(worst < 5);
    double ends[4] = {NAN, (double)INFINITY, -(double)INFINITY, -0.0};
    tanh_loop_F64(ends, ends, 4);
    CHECK(isnan(ends[0]) && ends[1] == 1 && ends[2] == -1 && ends[3] == 0 && signbit(ends[3]));
}

EF_TEST(extremes_keep_nan) {
    volatile float nan = NAN, one = 1;
    CHECK(isnan(ef_max_F32(nan, one)) && isnan(ef_max_F32(one, nan)));
    CHECK(isnan(ef_min_F32(nan, one)) && isnan(ef_min_F32(one, nan)));
    CHECK(isnan(ef_sign_F32(nan)) && ef_sign_F32(-one) == -1);
    CHECK_NEAR(ef_mod_F32(-7, 3), 2, 0);
    CHECK_NEAR(ef_mod_F32(7, -3), -2, 0);
    CHECK_NEAR(ef_fmod_F32(1e30f, 7), fmodf(1e30f, 7), 0);
    CHECK_NEAR(ef_fmod_F32(5, INFINITY), 5, 0);
}

EF_TEST(special_functions) {
    const double pi = 3.14159265358979323846, euler = 0.57721566490153286061;
    CHECK_NEAR(ef_digamma(1), -euler, 1e-15);
    CHECK_NEAR(ef_digamma(0.5), -euler - 2 * log(2), 1e-14);
    CHECK_NEAR(ef_digamma(-0.5), ef_digamma(0.5) + 2, 1e-14);
    CHECK(isnan(ef_digamma(0)) && isnan(ef_digamma(-3)));
    CHECK_NEAR(ef_zeta(2, 1), pi * pi / 6, 1e-14);
    CHECK_NEAR(ef_zeta(4, 1), pi * pi * pi * pi / 90, 1e-14);
    CHECK_NEAR(ef_zeta(2, -0.5), 4 + pi * pi / 2, 1e-13);
    CHECK_NEAR(ef_zeta(100, 10) * 1e100, 1.0000725777946107, 1e-12);
    CHECK_NEAR(ef_zeta(3, -1e9 - 0.5), -ef_zeta(3, 0.5) + ef_zeta(3, 0.5), 1e-9);
    CHECK_NEAR(ef_polygamma(1, 1), pi * pi / 6, 1e-14);
    CHECK_NEAR(ef_polygamma(2, 1), -2 * ef_zeta(3, 1), 1e-13);
    CHECK_NEAR(ef_igamma(1, 2), 1 - exp(-2), 1e-15);
    CHECK_NEAR(ef_igammac(1, 50) * exp(50), 1, 1e-13);
    CHECK_NEAR(ef_igamma(0.5, 2), erf(sqrt(2)), 1e-15);
    CHECK_NEAR(ef_igamma(1e6, 1e6), 0.50013298075, 1e-9);
    CHECK_NEAR(ef_igamma(23.077871809238054, 17.522119152105663), 0.11622854782979312, 1e-15);
    CHECK_NEAR(ef_igammac(21.15600975509749, 24.232789734594235), 0.23863041196159246, 1e-15);
    CHECK_NEAR(ef_igamma_grad_a(2, 3), (ef_igamma(2 + 1e-5, 3) - ef_igamma(2 - 1e-5, 3)) / 2e-5,
               1e-9);
    CHECK_NEAR(ef_igamma_grad_a(5, 3), (ef_igamma(5 + 1e-5, 3) - ef_igamma(5 - 1e-5, 3)) / 2e-5,
               1e-9);
    CHECK_NEAR(ef_betainc(1, 1, 0.3), 0.3, 1e-15);
    CHECK_NEAR(ef_betainc(2, 3, 0.5), 0.6875, 1e-14);
    CHECK_NEAR(ef_betainc(0.5, 0.5, 0.25), 2 / pi * asin(0.5), 1e-14);
    for (int k = -99; k < 100; k++) CHECK_NEAR(erf(ef_erfinv(k / 100.0)), k / 100.0, 1e-14);
    CHECK_NEAR(ef_ndtri(0.5), 0, 0);
    CHECK_NEAR(ef_ndtri(0.975), 1.9599639845400545, 1e-13);
    CHECK_NEAR(ef_ndtri(1e-300), -37.0471, 1e-4);
    CHECK_NEAR(ef_bessel_i0e(1), 1.2660658777520084 * exp(-1), 1e-15);
    CHECK_NEAR(ef_bessel_i1e(-1), -0.5651591039924851 * exp(-1), 1e-15);
    CHECK_NEAR(ef_bessel_k0(1), 0.42102443824070834, 1e-15);
    CHECK_NEAR(ef_bessel_k1(0.5), 1.6564411200033009, 1e-14);
    CHECK_NEAR(ef_bessel_k1e(1e20) * 1e10, sqrt(pi / 2), 1e-12);
    CHECK_NEAR(ef_dawsn(1), 0.53807950691276842, 1e-15);
    CHECK_NEAR(ef_dawsn(10), 0.050253847187598542, 1e-15);
    CHECK_NEAR(ef_expint(1), 1.8951178163559368, 1e-15);
    CHECK_NEAR(ef_expint(41) / ef_expint(40.5) / (ef_expint(40) / ef_expint(39.5)), 1, 1e-3);
    CHECK_NEAR(ef_fresnel_cos(1), 0.77989340037682283, 1e-15);
    CHECK_NEAR(ef_fresnel_sin(2), 0.34341567836369824, 1e-15);
    CHECK_NEAR(ef_fresnel_cos(1.4999999999) - ef_fresnel_cos(1.5000000001), 0, 1e-9);
    CHECK_NEAR(ef_spence(2), -pi * pi / 12, 1e-15);
    CHECK_NEAR(ef_spence(0.5), pi * pi / 12 - log(2) * log(2) / 2, 1e-15);
    for (int v = 0; v < 2; v++) { /* where series and expansion meet */
        double (*f)(double) = v == 0 ? ef_bessel_i0e : ef_bessel_i1e;
        CHECK_NEAR(f(24.9999999999) / f(25.0000000001), 1, 1e-11);
    }
}

EF_TEST(complex_arithmetic) {
    ef_c128 x = ef_complex_C128(3, -4), y = ef_complex_C128(1e200, 1e200);
    CHECK_NEAR(cabs(ef_cdiv_C128(x, ef_complex_C128(0, 2)) - ef_complex_C128(-2, -1.5)), 0, 1e-15);
    CHECK_NEAR(creal(ef_cdiv_C128(y, y)), 1, 1e-15);
    CHECK_NEAR(cabs(ef_cmul_C128(x, x) - ef_complex_C128(-7, -24)), 0, 1e-15);
    CHECK_NEAR(cabs(ef_cexpm1_C128(x) - (cexp(x) - 1)), 0, 1e-13);
    CHECK_NEAR(cabs(ef_clog1p_C128(x) - clog(x + 1)), 0, 1e-15);
    CHECK_NEAR(creal(ef_csigmoid_C128(ef_complex_C128(-800, 0))), 0, 0);
    CHECK_NEAR(cabs(ef_cpow_C128(ef_complex_C128(0, 0), ef_complex_C128(2, 1))), 0, 0);
}

int main(void) {
    EF_RUN(floats_are_near);
    EF_RUN(tanh_stays_within_one);
    EF_RUN(tanh_of_doubles_is_near);
    EF_RUN(extremes_keep_nan);
    EF_RUN(special_functions);
    EF_RUN(complex_arithmetic);
    return EF_VERDICT();
}
