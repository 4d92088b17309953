/* Bessel functions and integrals without a closed form. The arithmetic is in kernels/bessel.c and
 * kernels/integrals.c; floats are computed in double. */
#include "kernels/special.h"
#include "kernels/special_loops.h"
#include "ops/records.h"

#define SPECIAL(N, name, cost, expr, keep, text, ...) \
    SPECIAL_AS(N, name, cost, expr, expr, keep, text, __VA_ARGS__)
#define SPECIAL_AS(N, name, cost, e32, e64, keep, text, ...)                                    \
    EF_FLOATS1(name, (float)(e32), e64)                                                         \
    EF_TILE_TABLE(name) = {EF_ROWS_FLOAT(name)};                                                \
    const ef_op ef_op_##N = {                                                                   \
        EF_UNARY(N, text),    .types = EF_T_FLOATS, .traits = EF_IN_PLACE,     .keeps = keep,   \
        .tile = name##_tiles, .grad = name##_grad,  .examples = {__VA_ARGS__}, .cost_ns = cost, \
    };
#define E1(op, v) ef_emit1(b, op, v)
#define KEEP_X EF_KEEP_IN(0)
#define KEEP_XY (EF_KEEP_IN(0) | EF_KEEP_OUT(0))
#define ANYWHERE "T[2,3]", "T[]", "T[0,3]"
#define ABOVE_ZERO "T[2,3]:0.5..4", "T[]:0.5..1", "T[0,3]"

static ef_value *number_like(ef_build *b, ef_value *v, double k) {
    return v == NULL ? NULL : ef_const_number(b, v->fact.dtype, k);
}
/* slope, or `at_zero` where x is 0 and the formula would divide by it */
static ef_value *unless_zero(ef_build *b, ef_value *x, double at_zero, ef_value *slope) {
    ef_value *zero = ef_emit2(b, "Equal", x, number_like(b, x, 0));
    return ef_select(b, zero, number_like(b, x, at_zero), slope);
}

/* ---- modified, first kind -------------------------------------------------------------------- */

EF_UNARY_GRAD(bessel_i0, ef_mul(b, dy, E1("BesselI1", x)))
SPECIAL(BesselI0, bessel_i0, 10, ef_bessel_i0(x), KEEP_X,
        "The modified Bessel function of order 0 at `x`.", ANYWHERE)
EF_UNARY_GRAD(bessel_i1,
              ef_mul(b, dy, unless_zero(b, x, 1, ef_sub(b, E1("BesselI0", x), ef_div(b, y, x)))))
SPECIAL(BesselI1, bessel_i1, 10, ef_bessel_i1(x), KEEP_XY,
        "The modified Bessel function of order 1 at `x`.", ANYWHERE)
EF_UNARY_GRAD(bessel_i0e, ef_mul(b, dy, ef_sub(b, E1("BesselI1e", x), ef_mul(b, E1("Sign", x), y))))
SPECIAL_AS(BesselI0e, bessel_i0e, 5, ef_bessel_i0e_float((double)x), ef_bessel_i0e_loop(x), KEEP_XY,
           "`exp(-|x|)` times the modified Bessel function of order 0.", ANYWHERE)
static ef_value *i1e_slope(ef_build *b, ef_value *x, ef_value *y) {
    ef_value *turn = ef_mul(b, y, ef_add(b, E1("Sign", x), E1("Reciprocal", x)));
    return unless_zero(b, x, 0.5, ef_sub(b, E1("BesselI0e", x), turn));
}
EF_UNARY_GRAD(bessel_i1e, ef_mul(b, dy, i1e_slope(b, x, y)))
SPECIAL_AS(BesselI1e, bessel_i1e, 5, ef_bessel_i1e_float((double)x), ef_bessel_i1e_loop(x), KEEP_XY,
           "`exp(-|x|)` times the modified Bessel function of order 1.", ANYWHERE)

/* ---- modified, second kind ------------------------------------------------------------------- */

EF_UNARY_GRAD(bessel_k0, ef_mul(b, dy, ef_neg(b, E1("BesselK1", x))))
SPECIAL(BesselK0, bessel_k0, 60, ef_bessel_k0(x), KEEP_X,
        "The modified Bessel function of the second kind, order 0.", ABOVE_ZERO)
EF_UNARY_GRAD(bessel_k0e, ef_mul(b, dy, ef_sub(b, y, E1("BesselK1e", x))))
SPECIAL(BesselK0e, bessel_k0e, 60, ef_bessel_k0e(x), KEEP_XY,
        "`exp(x)` times the modified Bessel function of the second kind, order 0.", ABOVE_ZERO)
EF_UNARY_GRAD(bessel_k1, ef_mul(b, dy, ef_sub(b, ef_neg(b, E1("BesselK0", x)), ef_div(b, y, x))))
SPECIAL(BesselK1, bessel_k1, 60, ef_bessel_k1(x), KEEP_XY,
        "The modified Bessel function of the second kind, order 1.", ABOVE_ZERO)
static ef_value *k1e_slope(ef_build *b, ef_value *x, ef_value *y) {
    ef_value *part = ef_sub(b, number_like(b, x, 1), E1("Reciprocal", x));
    return ef_sub(b, ef_mul(b, y, part), E1("BesselK0e", x));
}
EF_UNARY_GRAD(bessel_k1e, ef_mul(b, dy, k1e_slope(b, x, y)))
SPECIAL(BesselK1e, bessel_k1e, 60, ef_bessel_k1e(x), KEEP_XY,
        "`exp(x)` times the modified Bessel function of the second kind, order 1.", ABOVE_ZERO)

/* TensorFlow computes these from sines and powers, which are NaN at infinity. */

/* ---- first and second kind ------------------------------------------------------------------- */

EF_UNARY_GRAD(bessel_j0, ef_mul(b, dy, ef_neg(b, E1("BesselJ1", x))))
SPECIAL(BesselJ0, bessel_j0, 30, isinf(x) ? NAN : j0(x), KEEP_X,
        "The Bessel function of the first kind, order 0.", ANYWHERE)
EF_UNARY_GRAD(bessel_j1,
              ef_mul(b, dy, unless_zero(b, x, 0.5, ef_sub(b, E1("BesselJ0", x), ef_div(b, y, x)))))
SPECIAL(BesselJ1, bessel_j1, 30, isinf(x) ? NAN : j1(x), KEEP_XY,
        "The Bessel function of the first kind, order 1.", ANYWHERE)
EF_UNARY_GRAD(bessel_y0, ef_mul(b, dy, ef_neg(b, E1("BesselY1", x))))
SPECIAL(BesselY0, bessel_y0, 30,
        x < 0      ? -INFINITY
        : isinf(x) ? NAN
                   : y0(x),
        KEEP_X, "The Bessel function of the second kind, order 0.", ABOVE_ZERO)
EF_UNARY_GRAD(bessel_y1, ef_mul(b, dy, ef_sub(b, E1("BesselY0", x), ef_div(b, y, x))))
SPECIAL(BesselY1, bessel_y1, 30,
        x < 0      ? -INFINITY
        : isinf(x) ? NAN
                   : y1(x),
        KEEP_XY, "The Bessel function of the second kind, order 1.", ABOVE_ZERO)

/* ---- integrals ------------------------------------------------------------------------------- */

static ef_value *one_minus(ef_build *b, ef_value *v) { return ef_sub(b, number_like(b, v, 1), v); }
EF_UNARY_GRAD(dawsn, ef_mul(b, dy, one_minus(b, ef_scale(b, ef_mul(b, x, y), 2))))
SPECIAL(Dawsn, dawsn, 30, ef_dawsn(x), KEEP_XY, "Dawson's integral of `x`.", ANYWHERE)
EF_UNARY_GRAD(expint, ef_div(b, ef_mul(b, dy, E1("Exp", x)), x))
SPECIAL(Expint, expint, 30, isinf(x) ? NAN : ef_expint(x), KEEP_X,
        "The exponential integral of `x`.", ABOVE_ZERO)
static ef_value *quarter_turns(ef_build *b, ef_value *x) {
    return ef_scale(b, E1("Square", x), 1.57079632679489661923);
}
EF_UNARY_GRAD(fresnel_cos, ef_mul(b, dy, E1("Cos", quarter_turns(b, x))))
SPECIAL(FresnelCos, fresnel_cos, 30, ef_fresnel_cos(x), KEEP_X, "Fresnel's cosine integral of `x`.",
        ANYWHERE)
EF_UNARY_GRAD(fresnel_sin, ef_mul(b, dy, E1("Sin", quarter_turns(b, x))))
SPECIAL(FresnelSin, fresnel_sin, 30, ef_fresnel_sin(x), KEEP_X, "Fresnel's sine integral of `x`.",
        ANYWHERE)
static ef_value *spence_slope(ef_build *b, ef_value *x) {
    ef_value *at_one = ef_emit2(b, "Equal", x, number_like(b, x, 1));
    return ef_select(b, at_one, number_like(b, x, -1), ef_div(b, E1("Log", x), one_minus(b, x)));
}
EF_UNARY_GRAD(spence, ef_mul(b, dy, spence_slope(b, x)))
SPECIAL(Spence, spence, 30, isinf(x) ? NAN : ef_spence(x), KEEP_X,
        "Spence's integral of `x`, the dilogarithm of `1 - x`.", ABOVE_ZERO)
