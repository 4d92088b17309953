/* Gradients that are ops themselves, computed from the forward result y and the upstream gradient
 * dy: one pass over memory instead of several, and differentiable again. */
#include "kernels/vcomplex.h"
#include "ops/records.h"

#define RECORD(N, name, is, text)                                                    \
    const ef_op ef_op_##N = {                                                        \
        EF_NAMED(N),                                                                 \
        .doc = text,                                                                 \
        .in = {"y: T", "dy: T"},                                                     \
        .out = {"z: T"},                                                             \
        .types = EF_T_FLOATS_COMPLEX,                                                \
        .traits = EF_IN_PLACE,                                                       \
        .shape = ef_shape_merge_all,                                                 \
        .kernel = EF_ELEMENTWISE_KERNEL,                                             \
        .tile = name##_tiles,                                                        \
        .expr = is,                                                                  \
        .grad = name##_grad,                                                         \
        .examples = {"T[2,3]:0.3..0.9 T[2,3]", "T[]:0.3..0.9 T[]", "T[0,3] T[0,3]"}, \
    };
#define TILES(name, EXPR)            \
    EF_FLOATS2(name, EXPR, EXPR)     \
    EF_COMPLEX2_FN(name, ef_c##name) \
    EF_TILE_TABLE(name) = {EF_ROWS_FLOAT(name) EF_ROWS_COMPLEX(name)};

/* In the loops x is the forward result and y the upstream gradient. Where the derivative may be
 * infinite, an upstream gradient of 0 gives 0. */
TILES(tanh_grad, y *(1 - x * x))
TILES(sigmoid_grad, y *(x *(1 - x)))
TILES(sqrt_grad, y == 0 ? 0 : y / 2 / x)
TILES(rsqrt_grad, y == 0 ? 0 : y / -2 * x * (x * x))
TILES(inv_grad, y == 0 ? 0 : -y * (x * x))

static ef_status *tanh_grad_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *y = ef_conj(b, g->in[0]), *dy = ef_conj(b, g->in[1]), *dz = g->dout[0];
    g->din[0] = ef_mul(b, ef_mul(b, ef_scale(b, dz, -2), dy), y);
    g->din[1] = ef_emit2(b, "TanhGrad", y, dz);
    return NULL;
}
static ef_status *sigmoid_grad_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *y = ef_conj(b, g->in[0]), *dz = g->dout[0];
    ef_value *both = ef_mul(b, dz, ef_conj(b, g->in[1]));
    g->din[0] = ef_sub(b, both, ef_mul(b, ef_scale(b, both, 2), y));
    g->din[1] = ef_emit2(b, "SigmoidGrad", y, dz);
    return NULL;
}
static ef_status *sqrt_grad_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *q = ef_div(b, g->dout[0], g->in[0]);
    g->din[0] = ef_mul(b, ef_neg(b, ef_conj(b, q)), g->out[0]);
    g->din[1] = ef_scale(b, q, 0.5);
    return NULL;
}
static ef_status *rsqrt_grad_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *y = ef_conj(b, g->in[0]), *dz = g->dout[0];
    ef_value *both = ef_mul(b, ef_scale(b, ef_conj(b, dz), -1.5), g->in[1]);
    g->din[0] = ef_mul(b, both, ef_emit1(b, "Square", y));
    g->din[1] = ef_emit2(b, "RsqrtGrad", y, dz);
    return NULL;
}
static ef_status *inv_grad_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *y = ef_conj(b, g->in[0]), *dz = g->dout[0];
    g->din[0] = ef_mul(b, ef_mul(b, ef_scale(b, ef_conj(b, dz), -2), g->in[1]), y);
    g->din[1] = ef_emit2(b, "ReciprocalGrad", y, dz);
    return NULL;
}

RECORD(TanhGrad, tanh_grad, "y * (1 - x * x)", "Gradient of Tanh: `dy * (1 - y * y)`.")
RECORD(SigmoidGrad, sigmoid_grad, "y * (x * (1 - x))", "Gradient of Sigmoid: `dy * y * (1 - y)`.")
RECORD(SqrtGrad, sqrt_grad, "y == 0 ? 0 : y / 2 / x", "Gradient of Sqrt: `dy / 2 / conj(y)`.")
RECORD(RsqrtGrad, rsqrt_grad, "y == 0 ? 0 : y / -2 * x * (x * x)",
       "Gradient of Rsqrt: `-dy / 2 * conj(y)^3`.")
RECORD(InvGrad, inv_grad, "y == 0 ? 0 : -y * (x * x)", "Gradient of Inv: `-dy * conj(y)^2`.")
RECORD(ReciprocalGrad, inv_grad, "y == 0 ? 0 : -y * (x * x)",
       "Gradient of Reciprocal: `-dy * conj(y)^2`.")
