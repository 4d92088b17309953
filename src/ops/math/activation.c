/* Activation functions and their gradient ops. The gradients of Relu, Relu6, Elu and Selu read the
 * result instead of the input, so the input's memory can be reused. */
#include "kernels/vmath.h"
#include "ops/records.h"

#define ACTIVATION(N, name, T, keep, is, text) \
    const ef_op ef_op_##N = {                  \
        EF_NAMED(N),                           \
        .doc = text,                           \
        .in = {"features: T"},                 \
        .out = {"activations: T"},             \
        .types = T,                            \
        .traits = EF_IN_PLACE,                 \
        .keeps = keep,                         \
        .shape = ef_shape_same,                \
        .kernel = EF_ELEMENTWISE_KERNEL,       \
        .tile = name##_tiles,                  \
        .expr = is,                            \
        .grad = name##_grad,                   \
        .examples = EF_UNARY_EXAMPLES,         \
    };
/* `other`: "features" or "outputs". */
#define BACKPROP(N, name, T, other, is, text)                      \
    const ef_op ef_op_##N = {                                      \
        EF_NAMED(N),                                               \
        .doc = text,                                               \
        .in = {"gradients: T", other ": T"},                       \
        .out = {"backprops: T"},                                   \
        .types = T,                                                \
        .traits = EF_IN_PLACE,                                     \
        .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),                    \
        .shape = ef_shape_merge_all,                               \
        .kernel = EF_ELEMENTWISE_KERNEL,                           \
        .tile = name##_tiles,                                      \
        .expr = is,                                                \
        .grad = name##_grad,                                       \
        .examples = {"T[2,3] T[2,3]", "T[] T[]", "T[0,3] T[0,3]"}, \
    };
/* Gradient of a backprop op that is linear in the gradient and piecewise constant in the other
 * operand. */
#define LINEAR_GRAD(name, op)                                 \
    static ef_status *name##_grad(ef_grad *g) {               \
        g->din[0] = ef_emit2(g->b, op, g->dout[0], g->in[1]); \
        g->din[1] = ef_zeros_like(g->b, g->in[1]);            \
        return NULL;                                          \
    }
/* The same for an op whose slope, where the result is negative, is the result plus a constant. */
#define BELOW_ZERO_GRAD(name, op)                                               \
    static ef_status *name##_grad(ef_grad *g) {                                 \
        ef_build *b = g->b;                                                     \
        ef_value *y = g->in[1], *zero = ef_zeros_like(b, y);                    \
        ef_value *below = ef_emit2(b, "Less", y, zero);                         \
        g->din[0] = ef_emit2(b, op, g->dout[0], y);                             \
        g->din[1] = ef_select(b, below, ef_mul(b, g->dout[0], g->in[0]), zero); \
        return NULL;                                                            \
    }

/* ---- rectifiers ------------------------------------------------------------------------------ */

EF_INTS1(relu, x <= 0 ? 0 : x)
EF_FLOATS1(relu, x <= 0 ? 0 : x, x <= 0 ? 0 : x) /* NaN stays NaN */
EF_TILE_TABLE(relu) = {EF_ROWS_FLOAT(relu) EF_ROWS_INT(relu)};
EF_UNARY_GRAD(relu, ef_emit2(b, "ReluGrad", dy, y))
ACTIVATION(Relu, relu, EF_T_REALS, EF_KEEP_OUT(0), "x <= 0 ? 0 : x",
           "`x` where it is positive, else 0.")

EF_INTS2(relu_back, y > 0 ? x : 0)
EF_FLOATS2(relu_back, x *(y > 0 ? 1 : 0), x *(y > 0 ? 1 : 0))
EF_TILE_TABLE(relu_back) = {EF_ROWS_FLOAT(relu_back) EF_ROWS_INT(relu_back)};
LINEAR_GRAD(relu_back, "ReluGrad")
BACKPROP(ReluGrad, relu_back, EF_T_REALS, "features", "x * (y > 0 ? 1 : 0)",
         "Gradient of Relu: `gradients` where `features` (or the result) are positive.")

EF_INTS1(relu6, x <= 0 ? 0 : x > 6 ? 6 : x)
EF_FLOATS1(relu6, x <= 0 ? 0 : x > 6 ? 6 : x, x <= 0 ? 0 : x > 6 ? 6 : x)
EF_TILE_TABLE(relu6) = {EF_ROWS_FLOAT(relu6) EF_ROWS_INT(relu6)};
EF_UNARY_GRAD(relu6, ef_emit2(b, "Relu6Grad", dy, y))
ACTIVATION(Relu6, relu6, EF_T_REALS, EF_KEEP_OUT(0), "x <= 0 ? 0 : x > 6 ? 6 : x",
           "`x` clipped to [0, 6].")

EF_INTS2(relu6_back, (y > 0) & (y < 6) ? x : 0)
EF_FLOATS2(relu6_back, x *((y > 0) & (y < 6) ? 1 : 0), x *((y > 0) & (y < 6) ? 1 : 0))
EF_TILE_TABLE(relu6_back) = {EF_ROWS_FLOAT(relu6_back) EF_ROWS_INT(relu6_back)};
LINEAR_GRAD(relu6_back, "Relu6Grad")
BACKPROP(Relu6Grad, relu6_back, EF_T_REALS, "features", "x * (y > 0 && y < 6 ? 1 : 0)",
         "Gradient of Relu6: `gradients` where `features` lie strictly between 0 and 6.")

typedef struct {
    float alpha;
} leaky_attrs;
#define ALPHA ((const leaky_attrs *)attrs)->alpha
/* alpha is an argument so that it is read before the selection; otherwise the compiler does not
 * vectorise the loop. */
static inline float leak_F32(float x, float y, float alpha) { return y > 0 ? x : x * alpha; }
static inline double leak_F64(double x, double y, double alpha) { return y > 0 ? x : x * alpha; }
EF_FLOATS1(leaky_relu, leak_F32(x, x, ALPHA), leak_F64(x, x, (double)ALPHA))
EF_TILE_TABLE(leaky_relu) = {EF_ROWS_FLOAT(leaky_relu)};
EF_FLOATS2(leaky_relu_back, leak_F32(x, y, ALPHA), leak_F64(x, y, (double)ALPHA))
EF_TILE_TABLE(leaky_relu_back) = {EF_ROWS_FLOAT(leaky_relu_back)};

static ef_status *leaky_relu_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "LeakyReluGrad", NULL, 0, 2, g->dout[0], g->in[0]);
    return NULL;
}
static ef_status *leaky_relu_back_grad(ef_grad *g) {
    g->din[0] = ef_emit_like(g, "LeakyReluGrad", NULL, 0, 2, g->dout[0], g->in[1]);
    g->din[1] = ef_zeros_like(g->b, g->in[1]);
    return NULL;
}

const ef_op ef_op_LeakyRelu = {
    EF_NAMED(LeakyRelu),
    .doc = "`x` where it is positive, else `alpha * x`.",
    .in = {"features: T"},
    .out = {"activations: T"},
    .types = "T: {half, bfloat16, float, double} = float",
    .attr = {EF_ATTR(leaky_attrs, alpha, "float", "0.2")},
    .attr_size = sizeof(leaky_attrs),
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0),
    .shape = ef_shape_same,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = leaky_relu_tiles,
    .grad = leaky_relu_grad,
    .examples = {"T[2,3]", "T[] alpha=1.5", "T[0,3]", "float[4] alpha=-0.5"},
};
const ef_op ef_op_LeakyReluGrad = {
    EF_NAMED(LeakyReluGrad),
    .doc = "Gradient of LeakyRelu: `gradients` where `features` are positive, else `alpha * "
           "gradients`.",
    .in = {"gradients: T", "features: T"},
    .out = {"backprops: T"},
    .types = "T: {half, bfloat16, float, double} = float",
    .attr = {EF_ATTR(leaky_attrs, alpha, "float", "0.2")},
    .attr_size = sizeof(leaky_attrs),
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(1),
    .shape = ef_shape_merge_all,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = leaky_relu_back_tiles,
    .grad = leaky_relu_back_grad,
    .examples = {"T[2,3] T[2,3]", "T[] T[] alpha=0.5", "T[0,3] T[0,3]"},
};

/* ---- exponential units ----------------------------------------------------------------------- */

/* expm1 is computed before the selection: a call inside a branch would not be vectorised. */
#define BELOW(SUF, T)                                                       \
    static inline T elu_##SUF(T x) {                                        \
        T e = ef_expm1_##SUF(x);                                            \
        return x < 0 ? e : x;                                               \
    }                                                                       \
    static inline T selu_##SUF(T x) {                                       \
        T e = (T)1.7580993408473768599402175208123 * ef_expm1_##SUF(x);     \
        return x < 0 ? e : (T)1.0507009873554804934193349852946 * x;        \
    }                                                                       \
    static inline T selu_slope_##SUF(T dy, T y) {                           \
        T below = y + (T)1.7580993408473768599402175208123;                 \
        return dy * (y < 0 ? below : (T)1.0507009873554804934193349852946); \
    }
BELOW(F32, float)
BELOW(F64, double)
EF_FLOATS1_FN(elu_tile, elu)
EF_TILE_TABLE(elu) = {EF_ROWS_FLOAT(elu_tile)};
EF_UNARY_GRAD(elu, ef_emit2(b, "EluGrad", dy, y))
ACTIVATION(Elu, elu, EF_T_FLOATS, EF_KEEP_OUT(0), "x < 0 ? expm1(x) : x",
           "`exp(x) - 1` where `x` is negative, else `x`.")
EF_FLOATS2(elu_back, y < 0 ? x * (y + 1) : x, y < 0 ? x * (y + 1) : x)
EF_TILE_TABLE(elu_back) = {EF_ROWS_FLOAT(elu_back)};
BELOW_ZERO_GRAD(elu_back, "EluGrad")
BACKPROP(EluGrad, elu_back, EF_T_FLOATS, "outputs", "y < 0 ? x * (y + 1) : x",
         "Gradient of Elu, from its result.")

EF_FLOATS1_FN(selu_tile, selu)
EF_TILE_TABLE(selu) = {EF_ROWS_FLOAT(selu_tile)};
EF_UNARY_GRAD(selu, ef_emit2(b, "SeluGrad", dy, y))
ACTIVATION(Selu, selu, EF_T_FLOATS, EF_KEEP_OUT(0),
           "x < 0 ? 1.7580993408473768 * expm1(x) : 1.0507009873554805 * x",
           "The scaled exponential linear unit, which keeps the mean and variance of its input.")
EF_FLOATS2_FN(selu_back, selu_slope)
EF_TILE_TABLE(selu_back) = {EF_ROWS_FLOAT(selu_back)};
BELOW_ZERO_GRAD(selu_back, "SeluGrad")
BACKPROP(SeluGrad, selu_back, EF_T_FLOATS, "outputs",
         "x * (y < 0 ? y + 1.7580993408473768 : 1.0507009873554805)",
         "Gradient of Selu, from its result.")

/* ---- smooth functions ------------------------------------------------------------------------ */

EF_FLOATS1_FN(softplus, ef_softplus)
EF_TILE_TABLE(softplus) = {EF_ROWS_FLOAT(softplus)};
EF_UNARY_GRAD(softplus, ef_mul(b, dy, ef_emit1(b, "Sigmoid", x)))
ACTIVATION(Softplus, softplus, EF_T_FLOATS, EF_KEEP_IN(0), "softplus(x)",
           "`log(1 + exp(x))`: a smooth Relu.")
EF_FLOATS2(softplus_back, x *ef_sigmoid_F32(y), x *ef_sigmoid_F64(y))
EF_TILE_TABLE(softplus_back) = {EF_ROWS_FLOAT(softplus_back)};
static ef_status *softplus_back_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *dy = g->in[0], *x = g->in[1], *dz = g->dout[0];
    ef_value *up = ef_emit1(b, "Exp", x), *down = ef_emit1(b, "Exp", ef_neg(b, x));
    g->din[0] = ef_emit2(b, "SoftplusGrad", dz, x);
    g->din[1] = ef_div(b, ef_mul(b, dz, dy), ef_add(b, ef_shift(b, down, 2), up));
    return NULL;
}
BACKPROP(SoftplusGrad, softplus_back, EF_T_FLOATS, "features", "x * sigmoid(y)",
         "Gradient of Softplus: `gradients * sigmoid(features)`.")

EF_FLOATS1(softsign, x / (1 + fabsf(x)), x / (1 + fabs(x)))
EF_TILE_TABLE(softsign) = {EF_ROWS_FLOAT(softsign)};
EF_UNARY_GRAD(softsign, ef_emit2(b, "SoftsignGrad", dy, x))
ACTIVATION(Softsign, softsign, EF_T_FLOATS, EF_KEEP_IN(0), "x / (1 + fabs(x))",
           "`x / (1 + |x|)`: like Tanh, but it saturates more slowly.")
EF_FLOATS2(softsign_back, x / ((1 + fabsf(y)) * (1 + fabsf(y))),
           x / ((1 + fabs(y)) * (1 + fabs(y))))
EF_TILE_TABLE(softsign_back) = {EF_ROWS_FLOAT(softsign_back)};
/* d/dy of x / (1 + |y|)^2 */
static ef_status *softsign_back_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *x = g->in[1], *dz = g->dout[0];
    ef_value *wide = ef_shift(b, ef_emit1(b, "Abs", x), 1);
    ef_value *fall = ef_div(b, ef_scale(b, ef_emit1(b, "Sign", x), -2), wide);
    g->din[0] = ef_emit2(b, "SoftsignGrad", dz, x);
    g->din[1] = ef_mul(b, ef_emit2(b, "SoftsignGrad", ef_mul(b, dz, g->in[0]), x), fall);
    return NULL;
}
BACKPROP(SoftsignGrad, softsign_back, EF_T_FLOATS, "features",
         "x / ((1 + fabs(y)) * (1 + fabs(y)))", "Gradient of Softsign.")
