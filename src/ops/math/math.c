/* Functions of one operand: signs and rounding, roots and powers, exponentials, trigonometric and
 * hyperbolic functions. For each op, one macro makes the loops, one the gradient and one the
 * record. The gradient of a complex function multiplies by the conjugate of the derivative. */
#include "kernels/vcomplex.h"
#include "kernels/vmath.h"
#include "ops/records.h"

#define RECORD_AND(D, N, name, T, keep, is, text, ...) \
    const ef_op ef_op_##N = {                          \
        EF_UNARY(N, text),                             \
        .types = T,                                    \
        .declared = (D),                               \
        .traits = EF_IN_PLACE | EF_NEVER_FAILS,        \
        .keeps = keep,                                 \
        .tile = name##_tiles,                          \
        .expr = is,                                    \
        .grad = name##_grad,                           \
        .examples = {__VA_ARGS__},                     \
    };
#define RECORD(N, ...) RECORD_AND(0, N, __VA_ARGS__)
#define KEEP_X EF_KEEP_IN(0)
#define KEEP_Y EF_KEEP_OUT(0)

/* Short names for emitters, used in gradients. */
#define E1(op, v) ef_emit1(b, op, v)
#define CX ef_conj(b, x)
#define CY ef_conj(b, y)
#define SQ(v) E1("Square", v)
#define INV(v) E1("Reciprocal", v)
/* k + sign v^2 */
static ef_value *one_plus(ef_build *b, ef_value *square) { return ef_shift(b, square, 1); }
static ef_value *one_minus(ef_build *b, ef_value *square) {
    ef_value *one = square == NULL ? NULL : ef_const_number(b, square->fact.dtype, 1);
    return ef_sub(b, one, square);
}

/* ---- signs, squares, roundings --------------------------------------------------------------- */

EF_WRAPS1(neg, 0 - x)
EF_FLOATS1(neg, -x, -x)
EF_COMPLEX1_FN(neg, ef_cneg)
EF_TILE_TABLE(neg) = {EF_ROWS_WRAP_SIGNED(neg) EF_ROWS_FLOAT(neg) EF_ROWS_COMPLEX(neg)};
EF_UNARY_GRAD(neg, ef_neg(b, dy))
RECORD(Neg, neg, EF_T_SIGNED, EF_KEEP_NONE, "-x", "The negative of `x`.", "T[2,3]", "T[]", "T[0,3]")

EF_TILE1(abs, I8, int8_t, int8_t, x < 0 ? -x : x)
EF_TILE1(abs, I16, int16_t, int16_t, x < 0 ? -x : x)
EF_TILE1(abs, I32, int32_t, int32_t, x < 0 ? 0u - (uint32_t)x : (uint32_t)x)
EF_TILE1(abs, I64, int64_t, int64_t, x < 0 ? 0u - (uint64_t)x : (uint64_t)x)
EF_FLOATS1(abs, fabsf(x), fabs(x))
EF_TILE_TABLE(abs) = {EF_ROWS_SIGNED(abs) EF_ROWS_FLOAT(abs)};
EF_UNARY_GRAD(abs, ef_mul(b, dy, E1("Sign", x)))
RECORD(Abs, abs, "T: {bfloat16, half, float, double, int8, int16, int32, int64}", KEEP_X, "fabs(x)",
       "The absolute value of `x`.", "T[2,3]", "T[]", "T[0,3]")

EF_SIGNED1(sign, (x > 0) - (x < 0))
EF_FLOATS1_FN(sign, ef_sign)
EF_COMPLEX1_FN(sign, ef_csign)
EF_TILE_TABLE(sign) = {EF_ROWS_SIGNED(sign) EF_ROWS_FLOAT(sign) EF_ROWS_COMPLEX(sign)};
/* The sign of a complex number does not depend on its magnitude: the gradient is the part of dy
 * perpendicular to x, divided by |x|. */
static ef_status *sign_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *x = g->in[0], *dy = g->dout[0];
    ef_dtype t = x->fact.dtype;
    if (t != EF_C64 && t != EF_C128) {
        g->din[0] = ef_zeros_like(b, dy);
        return NULL;
    }
    ef_dtype part = t == EF_C64 ? EF_F32 : EF_F64;
    ef_attr_value out[] = {EF_SET_TYPE("Tout", part)};
    ef_value *unit = ef_emit1(b, "Sign", x), *length = ef_emit_set(b, "ComplexAbs", out, 1, 1, x);
    ef_value *along = ef_emit_set(b, "Real", out, 1, 1, ef_mul(b, dy, ef_conj(b, unit)));
    ef_value *across = ef_sub(b, dy, ef_mul(b, ef_cast(b, along, t), unit));
    g->din[0] = ef_emit2(b, "DivNoNan", across, ef_cast(b, length, t));
    return NULL;
}
RECORD(Sign, sign, EF_T_SIGNED, KEEP_X, "sign(x)",
       "-1, 0 or 1 as `x` is negative, zero or positive; complex numbers are scaled to length 1.",
       "float[2,3]", "int32[5]{-3,0,2,9,-1}", "double[]", "half[0,3]", "complex64[2]")

EF_WRAPS1(square, x * 1u * x)
EF_FLOATS1(square, x *x, x *x)
EF_COMPLEX1_FN(square, ef_csquare)
EF_TILE_TABLE(square) = {EF_ROWS_WRAP(square) EF_ROWS_FLOAT(square) EF_ROWS_COMPLEX(square)};
EF_UNARY_GRAD(square, ef_mul(b, dy, ef_scale(b, CX, 2)))
RECORD(Square, square, EF_T_NUMBERS, KEEP_X, "x * x", "`x` times itself.", "T[2,3]", "T[]",
       "T[0,3]")

/* The derivative is 0 almost everywhere: there is no gradient. */
static ef_status *none_grad(ef_grad *g) {
    (void)g;
    return NULL;
}
#define floor_grad none_grad
#define ceil_grad none_grad
#define rint_grad none_grad
#define round_grad none_grad
EF_FLOATS1_FN(floor, ef_floor)
EF_TILE_TABLE(floor) = {EF_ROWS_FLOAT(floor)};
RECORD(Floor, floor, EF_T_FLOATS, EF_KEEP_NONE, "floor(x)", "The largest integer not above `x`.",
       "T[2,3]", "T[]", "T[0,3]")
EF_FLOATS1_FN(ceil, ef_ceil)
EF_TILE_TABLE(ceil) = {EF_ROWS_FLOAT(ceil)};
RECORD(Ceil, ceil, EF_T_FLOATS, EF_KEEP_NONE, "ceil(x)", "The smallest integer not below `x`.",
       "T[2,3]", "T[]", "T[0,3]")
EF_FLOATS1_FN(rint, ef_rint)
EF_TILE_TABLE(rint) = {EF_ROWS_FLOAT(rint)};
RECORD(Rint, rint, EF_T_FLOATS, EF_KEEP_NONE, "rint(x)",
       "The integer nearest to `x`; halfway cases go to the even one.", "T[2,3]", "T[]", "T[0,3]")
EF_WRAPS1(round, x)
EF_TILE_TABLE(round) = {EF_ROWS_FLOAT(rint) EF_ROWS_WRAP_SIGNED(round)};
RECORD_AND(EF_COMPLEX, Round, round,
           "T: {bfloat16, half, float, double, int8, int16, int32, int64}", EF_KEEP_NONE, "rint(x)",
           "The integer nearest to `x`; halfway cases go to the even one.", "T[2,3]", "T[]",
           "T[0,3]")

/* ---- roots and reciprocals ------------------------------------------------------------------- */

#define FUNCTION(name, fn, cfn) \
    EF_FLOATS1_FN(name, fn)     \
    EF_COMPLEX1_FN(name, cfn)   \
    EF_TILE_TABLE(name) = {EF_ROWS_FLOAT(name) EF_ROWS_COMPLEX(name)};

FUNCTION(sqrt, ef_sqrt, ef_csqrt)
EF_UNARY_GRAD(sqrt, ef_emit2(b, "SqrtGrad", y, dy))
RECORD(Sqrt, sqrt, EF_T_FLOATS_COMPLEX, KEEP_Y, "sqrt(x)", "The square root of `x`.",
       "T[2,3]:0.5..4", "T[]:1..2", "T[0,3]")
FUNCTION(rsqrt, ef_rsqrt, ef_crsqrt)
EF_UNARY_GRAD(rsqrt, ef_emit2(b, "RsqrtGrad", y, dy))
RECORD(Rsqrt, rsqrt, EF_T_FLOATS_COMPLEX, KEEP_Y, "rsqrt(x)", "One over the square root of `x`.",
       "T[2,3]:0.5..4", "T[]:1..2", "T[0,3]")
EF_FLOATS1(reciprocal, 1 / x, 1 / x)
EF_COMPLEX1_ENDS(reciprocal, ef_cinv)
EF_TILE_TABLE(reciprocal) = {EF_ROWS_FLOAT(reciprocal) EF_ROWS_COMPLEX(reciprocal)};
EF_UNARY_GRAD(reciprocal, ef_emit2(b, "ReciprocalGrad", y, dy))
RECORD_AND(EF_SIGNED_INTS, Reciprocal, reciprocal, EF_T_FLOATS_COMPLEX, KEEP_Y, "1 / x",
           "One over `x`.", "T[2,3]:0.5..4", "T[]:1..2", "T[0,3]")
RECORD_AND(EF_SIGNED_INTS, Inv, reciprocal, EF_T_FLOATS_COMPLEX, KEEP_Y, "1 / x",
           "One over `x`; the older name of Reciprocal.", "T[2,3]:0.5..4", "T[]:1..2", "T[0,3]")

/* ---- exponentials and logarithms ------------------------------------------------------------- */

FUNCTION(exp, ef_exp, ef_cexp)
EF_UNARY_GRAD(exp, ef_mul(b, dy, CY))
RECORD(Exp, exp, EF_T_FLOATS_COMPLEX, KEEP_Y, "exp(x)", "e to the power `x`.", "T[2,3]", "T[]",
       "T[0,3]")
FUNCTION(expm1, ef_expm1, ef_cexpm1)
EF_UNARY_GRAD(expm1, ef_mul(b, dy, E1("Exp", CX)))
RECORD(Expm1, expm1, EF_T_FLOATS_COMPLEX, KEEP_X, "expm1(x)",
       "`exp(x) - 1`, accurate where `x` is near 0.", "T[2,3]", "T[]", "T[0,3]")
FUNCTION(log, ef_log, ef_clog)
EF_UNARY_GRAD(log, ef_mul(b, dy, INV(CX)))
RECORD(Log, log, EF_T_FLOATS_COMPLEX, KEEP_X, "log(x)", "The natural logarithm of `x`.",
       "T[2,3]:0.5..4", "T[]:1..2", "T[0,3]")
FUNCTION(log1p, ef_log1p, ef_clog1p)
EF_UNARY_GRAD(log1p, ef_mul(b, dy, INV(ef_shift(b, CX, 1))))
RECORD(Log1p, log1p, EF_T_FLOATS_COMPLEX, KEEP_X, "log1p(x)",
       "`log(1 + x)`, accurate where `x` is near 0.", "T[2,3]:-0.5..4", "T[]:1..2", "T[0,3]")
FUNCTION(sigmoid, ef_sigmoid, ef_csigmoid)
EF_UNARY_GRAD(sigmoid, ef_emit2(b, "SigmoidGrad", CY, dy))
RECORD(Sigmoid, sigmoid, EF_T_FLOATS_COMPLEX, KEEP_Y, "sigmoid(x)",
       "The logistic function `1 / (1 + exp(-x))`.", "T[2,3]", "T[]", "T[0,3]")

/* ---- trigonometry ---------------------------------------------------------------------------- */

FUNCTION(sin, ef_sin, ef_csin)
EF_UNARY_GRAD(sin, ef_mul(b, dy, E1("Cos", CX)))
RECORD(Sin, sin, EF_T_FLOATS_COMPLEX, KEEP_X, "sin(x)", "The sine of `x`, in radians.", "T[2,3]",
       "T[]", "T[0,3]")
FUNCTION(cos, ef_cos, ef_ccos)
EF_UNARY_GRAD(cos, ef_mul(b, ef_neg(b, dy), E1("Sin", CX)))
RECORD(Cos, cos, EF_T_FLOATS_COMPLEX, KEEP_X, "cos(x)", "The cosine of `x`, in radians.", "T[2,3]",
       "T[]", "T[0,3]")
FUNCTION(tan, ef_tan, ef_ctan)
EF_UNARY_GRAD(tan, ef_mul(b, SQ(INV(E1("Cos", CX))), dy))
RECORD(Tan, tan, EF_T_FLOATS_COMPLEX, KEEP_X, "tan(x)", "The tangent of `x`, in radians.",
       "T[2,3]:-1..1", "T[]:0..1", "T[0,3]")
FUNCTION(asin, ef_asin, ef_casin)
EF_UNARY_GRAD(asin, ef_mul(b, dy, INV(E1("Sqrt", one_minus(b, SQ(CX))))))
RECORD(Asin, asin, EF_T_FLOATS_COMPLEX, KEEP_X, "asin(x)", "The angle whose sine is `x`.",
       "T[2,3]:-0.9..0.9", "T[]:0.1..0.5", "T[0,3]")
FUNCTION(acos, ef_acos, ef_cacos)
EF_UNARY_GRAD(acos, ef_mul(b, ef_neg(b, dy), INV(E1("Sqrt", one_minus(b, SQ(CX))))))
RECORD(Acos, acos, EF_T_FLOATS_COMPLEX, KEEP_X, "acos(x)", "The angle whose cosine is `x`.",
       "T[2,3]:-0.9..0.9", "T[]:0.1..0.5", "T[0,3]")
FUNCTION(atan, ef_atan, ef_catan)
EF_UNARY_GRAD(atan, ef_mul(b, dy, INV(one_plus(b, SQ(CX)))))
RECORD(Atan, atan, EF_T_FLOATS_COMPLEX, KEEP_X, "atan(x)", "The angle whose tangent is `x`.",
       "T[2,3]:-0.9..0.9", "T[]:0.1..0.5", "T[0,3]")

/* ---- hyperbolic functions -------------------------------------------------------------------- */

FUNCTION(sinh, ef_sinh, ef_csinh)
EF_UNARY_GRAD(sinh, ef_mul(b, dy, E1("Cosh", CX)))
RECORD(Sinh, sinh, EF_T_FLOATS_COMPLEX, KEEP_X, "sinh(x)", "The hyperbolic sine of `x`.", "T[2,3]",
       "T[]", "T[0,3]")
FUNCTION(cosh, ef_cosh, ef_ccosh)
EF_UNARY_GRAD(cosh, ef_mul(b, dy, E1("Sinh", CX)))
RECORD(Cosh, cosh, EF_T_FLOATS_COMPLEX, KEEP_X, "cosh(x)", "The hyperbolic cosine of `x`.",
       "T[2,3]", "T[]", "T[0,3]")
FUNCTION(tanh, ef_tanh, ef_ctanh)
EF_UNARY_GRAD(tanh, ef_emit2(b, "TanhGrad", CY, dy))
RECORD(Tanh, tanh, EF_T_FLOATS_COMPLEX, KEEP_Y, "tanh(x)", "The hyperbolic tangent of `x`.",
       "T[2,3]", "T[]", "T[0,3]")
FUNCTION(asinh, ef_asinh, ef_casinh)
EF_UNARY_GRAD(asinh, ef_div(b, dy, E1("Cosh", CY)))
RECORD(Asinh, asinh, EF_T_FLOATS_COMPLEX, KEEP_Y, "asinh(x)",
       "The number whose hyperbolic sine is `x`.", "T[2,3]", "T[]", "T[0,3]")
FUNCTION(acosh, ef_acosh, ef_cacosh)
EF_UNARY_GRAD(acosh, ef_div(b, dy, E1("Sinh", CY)))
RECORD(Acosh, acosh, EF_T_FLOATS_COMPLEX, KEEP_Y, "acosh(x)",
       "The non-negative number whose hyperbolic cosine is `x`.", "T[2,3]:1.5..4", "T[]:2..3",
       "T[0,3]")
FUNCTION(atanh, ef_atanh, ef_catanh)
EF_UNARY_GRAD(atanh, ef_mul(b, dy, INV(one_minus(b, SQ(CX)))))
RECORD(Atanh, atanh, EF_T_FLOATS_COMPLEX, KEEP_X, "atanh(x)",
       "The number whose hyperbolic tangent is `x`.", "T[2,3]:-0.9..0.9", "T[]:0.1..0.5", "T[0,3]")
