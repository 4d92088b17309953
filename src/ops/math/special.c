/* Special functions: error functions, gamma and related functions, zeta and beta. The arithmetic is
 * in kernels/special.c, and in kernels/special_loops.h where it can be vectorised; floats are
 * computed in double. */
#include "kernels/special.h"
#include "kernels/special_loops.h"
#include "ops/records.h"

#define SPECIAL1(N, name, cost, e32, e64, keep, text, ...) \
    EF_FLOATS1(name, (float)(e32), e64)                    \
    EF_TILE_TABLE(name) = {EF_ROWS_FLOAT(name)};           \
    RECORD1(N, name, cost, keep, NULL, text, __VA_ARGS__)
#define RECORD1(N, name, cost, keep, is, text, ...)                                           \
    const ef_op ef_op_##N = {                                                                 \
        EF_UNARY(N, text),    .types = EF_T_FLOATS, .traits = EF_IN_PLACE,     .keeps = keep, \
        .tile = name##_tiles, .grad = name##_grad,  .examples = {__VA_ARGS__}, .expr = is,    \
        .cost_ns = cost,                                                                      \
    };
#define SPECIAL2(N, name, cost, a1, a2, T, e32, e64, keep, text, ...) \
    SPECIAL2_AND(N, 0, name, cost, a1, a2, T, e32, e64, keep, text, __VA_ARGS__)
#define SPECIAL2_AND(N, and, name, cost, a1, a2, T, e32, e64, keep, text, ...) \
    EF_FLOATS2(name, e32, e64)                                                 \
    EF_TILE_TABLE(name) = {EF_ROWS_FLOAT(name)};                               \
    const ef_op ef_op_##N = {                                                  \
        EF_NAMED(N),                                                           \
        .doc = text,                                                           \
        .in = {a1 ": T", a2 ": T"},                                            \
        .out = {"z: T"},                                                       \
        .types = T,                                                            \
        .traits = EF_IN_PLACE | (and),                                         \
        .keeps = keep,                                                         \
        .shape = ef_shape_broadcast,                                           \
        .kernel = EF_ELEMENTWISE_KERNEL,                                       \
        .tile = name##_tiles,                                                  \
        .cost_ns = cost,                                                       \
        .grad = name##_grad,                                                   \
        .examples = {__VA_ARGS__},                                             \
    };
#define E1(op, v) ef_emit1(b, op, v)
#define KEEP_X EF_KEEP_IN(0)
#define KEEP_Y EF_KEEP_OUT(0)
#define KEEP_BOTH (EF_KEEP_IN(0) | EF_KEEP_IN(1))

/* ---- error functions ------------------------------------------------------------------------- */

/* k exp(s v^2) dy */
static ef_value *bell(ef_build *b, ef_value *dy, ef_value *v, double k, double s) {
    return ef_mul(b, ef_scale(b, dy, k), E1("Exp", ef_scale(b, E1("Square", v), s)));
}
#define ROOT_PI 1.77245385090551602730
/* TensorFlow's formula for doubles squares x and gives NaN if the square overflows. */
EF_FLOATS1(erf, ef_erf_F32(x), isinf(x *x) ? NAN : ef_erf_F64(x))
EF_TILE_TABLE(erf) = {EF_ROWS_FLOAT(erf)};
EF_UNARY_GRAD(erf, bell(b, dy, x, 2 / ROOT_PI, -1))
RECORD1(Erf, erf, 0, KEEP_X, "erf(x)", "The error function of `x`.", "T[2,3]", "T[]", "T[0,3]")
EF_FLOATS1_FN(erfc, ef_erfc)
EF_TILE_TABLE(erfc) = {EF_ROWS_FLOAT(erfc)};
EF_UNARY_GRAD(erfc, bell(b, dy, x, -2 / ROOT_PI, -1))
RECORD1(Erfc, erfc, 0, KEEP_X, "erfc(x)", "`1 - erf(x)`, accurate for large `x`.", "T[2,3]", "T[]",
        "T[0,3]")
EF_UNARY_GRAD(erfinv, bell(b, dy, y, ROOT_PI / 2, 1))
SPECIAL1(Erfinv, erfinv, 5, ef_erfinv_loop((double)x), ef_erfinv_loop(x), KEEP_Y,
         "The number whose error function is `x`.", "T[2,3]:-0.9..0.9", "T[]:0.1..0.5", "T[0,3]")
EF_UNARY_GRAD(ndtri, bell(b, dy, y, 2.50662827463100050242, 0.5))
SPECIAL1(Ndtri, ndtri, 5, ef_ndtri_loop((double)x), ef_ndtri_loop(x), KEEP_Y,
         "The quantile function of the standard normal distribution at `x`.", "T[2,3]:0.1..0.9",
         "T[]:0.1..0.5", "T[0,3]")

/* ---- gamma ----------------------------------------------------------------------------------- */

static ef_value *number_like(ef_build *b, ef_value *v, double k) {
    return v == NULL ? NULL : ef_const_number(b, v->fact.dtype, k);
}
EF_UNARY_GRAD(lgamma, ef_mul(b, dy, E1("Digamma", x)))
SPECIAL1(Lgamma, lgamma, 6, ef_lgamma_loop((double)x), ef_lgamma(x), KEEP_X,
         "The logarithm of the absolute value of the gamma function of `x`.", "T[2,3]:0.5..4",
         "T[]:1..2", "T[0,3]", "double[2]{-0.5,-1.25}")
static ef_status *digamma_grad(ef_grad *g) { /* Polygamma exists for float and double only */
    ef_build *b = g->b;
    ef_dtype t = g->in[0]->fact.dtype, wide = t == EF_F64 ? EF_F64 : EF_F32;
    ef_value *x = ef_cast(b, g->in[0], wide);
    ef_value *slope = ef_emit2(b, "Polygamma", number_like(b, x, 1), x);
    g->din[0] = ef_mul(b, g->dout[0], ef_cast(b, slope, t));
    return NULL;
}
SPECIAL1(Digamma, digamma, 6, ef_digamma_loop((double)x), ef_digamma_loop(x), KEEP_X,
         "The derivative of Lgamma.", "T[2,3]:0.5..4", "T[]:1..2", "T[0,3]",
         "double[2]{-0.5,-1.25}")

static ef_status *polygamma_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *slope = ef_emit2(b, "Polygamma", ef_shift(b, g->in[0], 1), g->in[1]);
    g->din[1] = ef_sum_like(b, ef_mul(b, slope, g->dout[0]), g->in[1]);
    return NULL;
}
#define T_FULL "T: {float, double}"
SPECIAL2(Polygamma, polygamma, 60, "a", "x", T_FULL, (float)ef_polygamma((double)x, (double)y),
         ef_polygamma(x, y), KEEP_BOTH,
         "The derivative of order `a` (a whole number) of Digamma at `x`; shapes broadcast.",
         "T[3]{0,1,2} T[2,3]:0.5..4 grad=no", "T[]{1} T[]:1..2 grad=no", "T[0] T[]{1}")
static ef_status *zeta_grad(ef_grad *g) { /* with respect to q only */
    ef_build *b = g->b;
    ef_value *next = ef_emit2(b, "Zeta", ef_shift(b, g->in[0], 1), g->in[1]);
    ef_value *slope = ef_mul(b, ef_neg(b, g->in[0]), next);
    g->din[1] = ef_sum_like(b, ef_mul(b, slope, g->dout[0]), g->in[1]);
    return NULL;
}
SPECIAL2(Zeta, zeta, 60, "x", "q", T_FULL, (float)ef_zeta((double)x, (double)y), ef_zeta(x, y),
         KEEP_BOTH,
         "The Hurwitz zeta function: the sum of `(q + k)` to the power `-x` over all k >= 0.",
         "T[3]:1.5..4 T[2,3]:0.5..4 grad=no", "T[]{2} T[]:1..2 grad=no", "T[0] T[]{1}")

/* The derivative by x is the density of the gamma distribution; the one by a is a separate op. */
static ef_status *incomplete_gamma_grad(ef_grad *g, double sign) {
    ef_build *b = g->b;
    ef_value *a = g->in[0], *x = g->in[1], *dz = ef_scale(b, g->dout[0], sign);
    ef_dtype t = a->fact.dtype, wide = t == EF_F64 ? EF_F64 : EF_F32;
    ef_value *by_a = ef_emit2(b, "IgammaGradA", ef_cast(b, a, wide), ef_cast(b, x, wide));
    ef_value *power = ef_mul(b, ef_shift(b, a, -1), E1("Log", x));
    ef_value *by_x = E1("Exp", ef_sub(b, ef_sub(b, power, x), E1("Lgamma", a)));
    return ef_grad_pair(g, ef_mul(b, ef_cast(b, by_a, t), dz), ef_mul(b, by_x, dz));
}
static ef_status *igamma_grad(ef_grad *g) { return incomplete_gamma_grad(g, 1); }
static ef_status *igammac_grad(ef_grad *g) { return incomplete_gamma_grad(g, -1); }
#define GAMMA_EXAMPLES "T[3]:0.5..6 T[2,3]:0.5..6", "T[]:1..2 T[]:3..4", "T[0] T[]"
SPECIAL2(Igamma, igamma, 40, "a", "x", EF_T_FLOATS, ef_igamma_F32(x, y), ef_igamma(x, y), KEEP_BOTH,
         "The lower incomplete gamma function of `a` at `x`, divided by gamma(a).", GAMMA_EXAMPLES)
SPECIAL2(Igammac, igammac, 40, "a", "x", EF_T_FLOATS, ef_igammac_F32(x, y), ef_igammac(x, y),
         KEEP_BOTH, "The upper incomplete gamma function of `a` at `x`, divided by gamma(a).",
         GAMMA_EXAMPLES)
#define igamma_grad_a_grad NULL
SPECIAL2_AND(IgammaGradA, EF_GRAD_UNDEFINED, igamma_grad_a, 100, "a", "x", T_FULL,
             (float)ef_igamma_grad_a((double)x, (double)y), ef_igamma_grad_a(x, y), EF_KEEP_NONE,
             "The derivative of Igamma by `a`.", GAMMA_EXAMPLES)

/* ---- beta ------------------------------------------------------------------------------------ */

EF_TILE3(betainc, F32, float, float, ef_betainc_F32(x, y, z))
EF_TILE3(betainc, F64, double, double, ef_betainc(x, y, z))
EF_TILE_TABLE(betainc) = {EF_ROWS_FULL(betainc)};

/* All must have one shape, except that scalars broadcast. */
static ef_status *betainc_shape(ef_infer *i) {
    ef_shape *out = &i->out[0].shape;
    *out = ef_scalar_shape();
    for (int k = 0; k < 3; k++) {
        const ef_shape *s = &i->in[k].shape;
        if (s->rank == 0) continue;
        ef_status *clash = out->rank == 0 ? NULL : ef_shape_merge(out, s, out);
        if (clash != NULL) {
            ef_status_free(clash);
            return ef_error(EF_INVALID,
                            "Betainc: Shapes of a, b and x are inconsistent: %s, %s and %s; those "
                            "that are not scalars must be equal",
                            EF_SHAPE(&i->in[0].shape), EF_SHAPE(&i->in[1].shape),
                            EF_SHAPE(&i->in[2].shape));
        }
        if (out->rank == 0) *out = *s;
    }
    return NULL;
}
static ef_status *betainc_grad(ef_grad *g) { /* by x only: the density of the beta distribution */
    ef_build *b = g->b;
    ef_value *p = g->in[0], *q = g->in[1], *x = g->in[2];
    ef_value *both =
        ef_sub(b, ef_add(b, E1("Lgamma", p), E1("Lgamma", q)), E1("Lgamma", ef_add(b, p, q)));
    ef_value *right = ef_emit2(b, "Xlog1py", ef_shift(b, q, -1), ef_neg(b, x));
    ef_value *left = ef_emit2(b, "Xlogy", ef_shift(b, p, -1), x);
    ef_value *slope = E1("Exp", ef_sub(b, ef_add(b, right, left), both));
    g->din[2] = ef_sum_like(b, ef_mul(b, slope, g->dout[0]), x);
    return NULL;
}
const ef_op ef_op_Betainc = {
    EF_NAMED(Betainc),
    .doc = "The incomplete beta function of `a` and `b` at `x`, divided by beta(a, b). Inputs have "
           "one shape or are scalars.",
    .in = {"a: T", "b: T", "x: T"},
    .out = {"z: T"},
    .types = T_FULL,
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .shape = betainc_shape,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = betainc_tiles,
    .cost_ns = 80,
    .grad = betainc_grad,
    .examples = {"T[2,3]:0.5..4 T[2,3]:0.5..4 T[2,3]:0.1..0.9 grad=no",
                 "T[]:0.5..4 T[]:0.5..4 T[3]:0.1..0.9 grad=no",
                 "T[2]:0.5..4 T[2]:0.5..4 T[]:0.1..0.9 grad=no", "T[0] T[] T[0]"},
};
