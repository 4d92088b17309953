/* Binary arithmetic that cannot fail: sums, products, quotients of floats, maxima and minima. The
 * elementwise driver does the broadcasting; this file has the expressions and the gradients.
 * Integer overflow wraps. Division of integers is in intdiv.c. */
#include "base/alloc.h"
#include "kernels/vcomplex.h"
#include "kernels/vmath.h"
#include "ops/engine_nodes.h"
#include "ops/records.h"

/* ---- sums ------------------------------------------------------------------------------------ */

EF_WRAPS2(add, x + y)
EF_FLOATS2(add, x + y, x + y)
EF_COMPLEX2(add, x + y)
EF_TILE_TABLE(add) = {EF_ROWS_WRAP(add) EF_ROWS_FLOAT(add) EF_ROWS_COMPLEX(add)};

static ef_status *add_grad(ef_grad *g) { return ef_grad_pair(g, g->dout[0], g->dout[0]); }

const ef_op ef_op_AddV2 = {
    EF_BINARY(AddV2, "Adds `x` and `y` element by element; shapes broadcast."),
    .types = EF_T_NUMBERS,
    .traits = EF_IN_PLACE | EF_COMMUTES,
    .keeps = EF_KEEP_NONE,
    .role = EF_ROLE_SUM,
    .dims = ef_dim_add,
    .tile = add_tiles,
    .expr = "x + y",
    .grad = add_grad,
    .examples = EF_BROADCAST_EXAMPLES,
};
const ef_op *const ef_add_op = &ef_op_AddV2;

static ef_status *join(ef_str *out, const ef_str *x, const ef_str *y) {
    if (x->n + y->n == 0) return NULL;
    char *at = ef_malloc(x->n + y->n);
    if (at == NULL) return ef_no_memory(x->n + y->n);
    if (x->n > 0) memcpy(at, x->at, x->n);
    if (y->n > 0) memcpy(at + x->n, y->at, y->n);
    ef_status *s = ef_str_set(out, at, x->n + y->n);
    ef_free(at);
    return s;
}
static ef_status *join_strings(const ef_call *c) {
    ef_shape shape = ef_shape_from(c->out[0]);
    EF_TRY(ef_out_alloc(c, 0, &shape));
    const ef_tensor *x = c->in[0], *y = c->in[1], *z = c->out[0];
    ef_str *out = z->data;
    for (int64_t i = 0, n = ef_count(z); i < n; i++)
        EF_TRY(join(&out[i], (const ef_str *)x->data + ef_broadcast_at(x, z, i),
                    (const ef_str *)y->data + ef_broadcast_at(y, z, i)));
    return NULL;
}

const ef_op ef_op_Add = {
    EF_NAMED(Add),
    .doc = "Adds `x` and `y` element by element; shapes broadcast. Strings are concatenated.",
    .in = {"x: T", "y: T"},
    .out = {"z: T"},
    .types = "T: {bfloat16, half, float, double, uint8, int8, int16, int32, int64, complex64, "
             "complex128, string}",
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_NONE,
    .shape = ef_shape_broadcast,
    .kernel = {{EF_CPU | EF_TEST, EF_PLAIN, ef_run_elementwise, NULL, NULL, NULL, NULL},
               {EF_CPU, EF_BIT(STRING), join_strings, NULL, NULL, NULL, NULL}},
    .tile = add_tiles,
    .expr = "x + y",
    .grad = add_grad,
    .examples = {"float[2,3] float[3]", "string[2]{ab,c} string[]{d}", "int32[] int32[4]"},
};

EF_WRAPS2(sub, x - y)
EF_FLOATS2(sub, x - y, x - y)
EF_COMPLEX2(sub, x - y)
EF_TILE_TABLE(sub) = {EF_ROWS_WRAP(sub) EF_ROWS_FLOAT(sub) EF_ROWS_COMPLEX(sub)};

static ef_status *sub_grad(ef_grad *g) {
    return ef_grad_pair(g, g->dout[0], ef_neg(g->b, g->dout[0]));
}

const ef_op ef_op_Sub = {
    EF_BINARY(Sub, "Subtracts `y` from `x` element by element; shapes broadcast."),
    .types = EF_T_NUMBERS,
    .traits = EF_IN_PLACE | EF_NEVER_FAILS,
    .keeps = EF_KEEP_NONE,
    .dims = ef_dim_sub,
    .tile = sub_tiles,
    .expr = "x - y",
    .grad = sub_grad,
    .examples = EF_BROADCAST_EXAMPLES,
};

/* ---- products -------------------------------------------------------------------------------- */

/* 1u: otherwise 16-bit operands are promoted to int, and the product may overflow. */
EF_WRAPS2(mul, x * 1u * y)
EF_FLOATS2(mul, x *y, x *y)
EF_COMPLEX2_FN(mul, ef_cmul)
EF_TILE_TABLE(mul) = {EF_ROWS_WRAP(mul) EF_ROWS_FLOAT(mul) EF_ROWS_COMPLEX(mul)};

static ef_status *mul_grad(ef_grad *g) {
    ef_value *dz = g->dout[0];
    return ef_grad_pair(g, ef_mul(g->b, dz, ef_conj(g->b, g->in[1])),
                        ef_mul(g->b, ef_conj(g->b, g->in[0]), dz));
}

const ef_op ef_op_Mul = {
    EF_BINARY(Mul, "Multiplies `x` by `y` element by element; shapes broadcast."),
    .types = EF_T_NUMBERS,
    .traits = EF_IN_PLACE | EF_COMMUTES,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .dims = ef_dim_mul,
    .tile = mul_tiles,
    .expr = "x * y",
    .grad = mul_grad,
    .examples = EF_BROADCAST_EXAMPLES,
};

EF_FLOATS2(mul_no_nan, y == 0 ? 0 : x * y, y == 0 ? 0 : x * y)
EF_COMPLEX2_FN(mul_no_nan, ef_cmul_no_nan)
EF_TILE_TABLE(mul_no_nan) = {EF_ROWS_FLOAT(mul_no_nan) EF_ROWS_COMPLEX(mul_no_nan)};

static ef_status *mul_no_nan_grad(ef_grad *g) {
    return ef_grad_pair(g, ef_emit2(g->b, "MulNoNan", g->dout[0], g->in[1]),
                        ef_emit2(g->b, "MulNoNan", g->in[0], g->dout[0]));
}

const ef_op ef_op_MulNoNan = {
    EF_BINARY(MulNoNan,
              "Multiplies `x` by `y`; 0 wherever `y` is 0, even if `x` is infinite or NaN."),
    .types = EF_T_FLOATS_COMPLEX,
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .tile = mul_no_nan_tiles,
    .expr = "y == 0 ? 0 : x * y",
    .grad = mul_no_nan_grad,
    .examples = {"float[2,3] float[3]", "double[2,1,3] double[2,1]", "half[] half[4]",
                 "bfloat16[0,3] bfloat16[3]", "complex64[2] complex64[2] grad=no"},
};

EF_WRAPS2(squared_difference, (x - y) * 1u * (x - y))
EF_FLOATS2(squared_difference, (x - y) * (x - y), (x - y) * (x - y))
EF_COMPLEX2_FN(squared_difference, ef_csquared_difference)
EF_TILE_TABLE(squared_difference) = {EF_ROWS_FLOAT(squared_difference)
                                         EF_ROWS_COMPLEX(squared_difference)
                                             EF_ROWS_WRAP(squared_difference)};

static ef_status *squared_difference_grad(ef_grad *g) {
    ef_value *dx = ef_mul(g->b, ef_scale(g->b, g->dout[0], 2), ef_sub(g->b, g->in[0], g->in[1]));
    return ef_grad_pair(g, dx, ef_neg(g->b, dx));
}

const ef_op ef_op_SquaredDifference = {
    EF_BINARY(SquaredDifference, "The square of `x - y` (of its magnitude, if complex), element by "
                                 "element; shapes broadcast."),
    .types = "T: {bfloat16, half, float, double, int32, int64, complex64, complex128}",
    .traits = EF_IN_PLACE | EF_COMMUTES,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .tile = squared_difference_tiles,
    .expr = "(x - y) * (x - y)",
    .grad = squared_difference_grad,
    .examples = {"float[2,3] float[3]", "double[2,1,3] double[2,1]", "int32[] int32[4]",
                 "half[0,3] half[3]", "complex64[2] complex64[2] grad=no"},
};

/* ---- quotients ------------------------------------------------------------------------------- */

EF_FLOATS2(div, x / y, x / y)
EF_COMPLEX2_ENDS(div, ef_cdiv)
EF_TILE_TABLE(div) = {EF_ROWS_FLOAT(div) EF_ROWS_COMPLEX(div)};

/* dy = -x / y / y, with the same kind of division as the op */
static ef_status *quotient_grad(ef_grad *g, const char *div) {
    ef_build *b = g->b;
    ef_value *x = ef_conj(b, g->in[0]), *y = ef_conj(b, g->in[1]), *dz = g->dout[0];
    ef_value *slope = ef_emit2(b, div, ef_emit2(b, div, ef_neg(b, x), y), y);
    return ef_grad_pair(g, ef_emit2(b, div, dz, y), ef_mul(b, dz, slope));
}
static ef_status *div_grad(ef_grad *g) { return quotient_grad(g, "RealDiv"); }

const ef_op ef_op_RealDiv = {
    EF_BINARY(RealDiv, "Divides `x` by `y` element by element; shapes broadcast."),
    .types = EF_T_FLOATS_COMPLEX,
    .declared = EF_INTS,
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .tile = div_tiles,
    .expr = "x / y",
    .grad = div_grad,
    .examples = EF_BROADCAST_EXAMPLES,
};

EF_FLOATS2(div_no_nan, y == 0 ? 0 : x / y, y == 0 ? 0 : x / y)
EF_COMPLEX2_FN(div_no_nan, ef_cdiv_no_nan)
EF_TILE_TABLE(div_no_nan) = {EF_ROWS_FLOAT(div_no_nan) EF_ROWS_COMPLEX(div_no_nan)};

static ef_status *div_no_nan_grad(ef_grad *g) { return quotient_grad(g, "DivNoNan"); }

const ef_op ef_op_DivNoNan = {
    EF_BINARY(DivNoNan, "Divides `x` by `y`; 0 wherever `y` is 0."),
    .types = EF_T_FLOATS_COMPLEX,
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .tile = div_no_nan_tiles,
    .expr = "y == 0 ? 0 : x / y",
    .grad = div_no_nan_grad,
    .examples = EF_BROADCAST_EXAMPLES,
};

EF_FLOATS2(xdivy, x == 0 ? x : x / y, x == 0 ? x : x / y)
EF_COMPLEX2_ENDS(xdivy, ef_cxdivy)
EF_TILE_TABLE(xdivy) = {EF_ROWS_FLOAT(xdivy) EF_ROWS_COMPLEX(xdivy)};

/* Xdivy, Xlogy and Xlog1py are 0 where x is 0, and so is their derivative with respect to x. */
static ef_value *not_zero(ef_build *b, ef_value *x) {
    ef_dtype t = x == NULL ? EF_F32 : x->fact.dtype;
    return ef_cast(b, ef_emit2(b, "NotEqual", x, ef_const_number(b, t, 0)), t);
}
static ef_status *x_grad(ef_grad *g, const char *op, ef_value *slope_y) {
    ef_build *b = g->b;
    ef_value *slope_x = ef_emit2(b, op, not_zero(b, g->in[0]), g->in[1]);
    return ef_grad_pair(g, ef_mul(b, slope_x, g->dout[0]), ef_mul(b, slope_y, g->dout[0]));
}
static ef_status *xdivy_grad(ef_grad *g) {
    ef_value *x = g->in[0], *y = g->in[1];
    return x_grad(g, "Xdivy", ef_emit2(g->b, "Xdivy", ef_neg(g->b, x), ef_mul(g->b, y, y)));
}

const ef_op ef_op_Xdivy = {
    EF_BINARY(Xdivy, "Divides `x` by `y`; 0 wherever `x` is 0, even if `y` is 0 too."),
    .types = EF_T_FLOATS_COMPLEX,
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .tile = xdivy_tiles,
    .expr = "x == 0 ? x : x / y",
    .grad = xdivy_grad,
    .examples = {"float[2,3] float[3]", "double[2,1,3] double[2,1]", "half[] half[4]",
                 "bfloat16[0,3] bfloat16[3]", "complex64[2] complex64[2] grad=no"},
};

/* The logarithm is computed before the selection: a call inside a branch would not be
 * vectorised. */
#define XLOG(SUF, T, fn)                         \
    static inline T fn##_times_##SUF(T x, T y) { \
        T r = x * ef_##fn##_##SUF(y);            \
        return x == 0 ? x : r;                   \
    }
XLOG(F32, float, log)
XLOG(F64, double, log)
XLOG(F32, float, log1p)
XLOG(F64, double, log1p)
/* In 16 bits the logarithm is rounded before it is multiplied, as in TensorFlow. No logarithm is
 * too large for half precision. For subnormal halves, adding one half to x and subtracting it again
 * drops the bits that half precision does not have. */
static inline float round_F16(float x) {
    float size = fabsf(x), tiny = copysignf((size + 0.5f) - 0.5f, x);
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    u = (u + 0xFFFu + (u >> 13 & 1u)) & ~0x1FFFu;
    float normal;
    memcpy(&normal, &u, sizeof normal);
    return !(size < INFINITY) ? x : size < 0x1p-14f ? tiny : normal;
}
static inline float round_BF16(float x) { return ef_bf16_float(ef_float_bf16(x)); }
#define XLOG_HALF(name, half, fn)                                      \
    static inline float fn##_times_##half(float x, float y) {          \
        float r = x * round_##half(ef_##fn##_F32(y));                  \
        return x == 0 ? x : r;                                         \
    }                                                                  \
    EF_TILE2(name##_in, half, float, float, fn##_times_##half(x, y))   \
    static void name##_##half(EF_TILE_PARAMS) {                        \
        ef_tile_half(name##_in_##half, EF_##half, 2, 0, EF_TILE_PASS); \
    }
#define XLOGS(name, fn)                                       \
    EF_TILE2(name, F32, float, float, fn##_times_F32(x, y))   \
    EF_TILE2(name, F64, double, double, fn##_times_F64(x, y)) \
    XLOG_HALF(name, F16, fn) XLOG_HALF(name, BF16, fn)
XLOGS(xlogy, log)
EF_COMPLEX2_FN(xlogy, ef_cxlogy)
EF_TILE_TABLE(xlogy) = {EF_ROWS_FLOAT(xlogy) EF_ROWS_COMPLEX(xlogy)};
XLOGS(xlog1py, log1p)
EF_COMPLEX2_FN(xlog1py, ef_cxlog1py)
EF_TILE_TABLE(xlog1py) = {EF_ROWS_FLOAT(xlog1py) EF_ROWS_COMPLEX(xlog1py)};

static ef_status *xlogy_grad(ef_grad *g) {
    return x_grad(g, "Xlogy", ef_emit2(g->b, "Xdivy", g->in[0], g->in[1]));
}
static ef_status *xlog1py_grad(ef_grad *g) {
    return x_grad(g, "Xlog1py", ef_emit2(g->b, "Xdivy", g->in[0], ef_shift(g->b, g->in[1], 1)));
}

const ef_op ef_op_Xlogy = {
    EF_BINARY(Xlogy, "Computes `x * log(y)`; 0 wherever `x` is 0."),
    .types = EF_T_FLOATS_COMPLEX,
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .tile = xlogy_tiles,
    .expr = "x == 0 ? x : x * log(y)",
    .grad = xlogy_grad,
    .examples = {"float[2,3] float[3]:0.5..3", "double[] double[4]:0.5..2", "half[0,3] half[3]",
                 "complex128[2] complex128[2] grad=no"},
};
const ef_op ef_op_Xlog1py = {
    EF_BINARY(Xlog1py, "Computes `x * log(1 + y)`; 0 wherever `x` is 0."),
    .types = EF_T_FLOATS_COMPLEX,
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .tile = xlog1py_tiles,
    .expr = "x == 0 ? x : x * log1p(y)",
    .grad = xlog1py_grad,
    .examples = {"float[2,3] float[3]:0.5..3", "double[] double[4]:0.5..2", "half[0,3] half[3]",
                 "complex128[2] complex128[2] grad=no"},
};

/* ---- maximum and minimum --------------------------------------------------------------------- */

EF_INTS2(maximum, x < y ? y : x)
EF_FLOATS2_FN(maximum, ef_max)
EF_TILE_TABLE(maximum) = {EF_ROWS_FLOAT(maximum) EF_ROWS_INT(maximum)};
EF_INTS2(minimum, y < x ? y : x)
EF_FLOATS2_FN(minimum, ef_min)
EF_TILE_TABLE(minimum) = {EF_ROWS_FLOAT(minimum) EF_ROWS_INT(minimum)};

/* The gradient goes to the operand that was selected; to x if both are equal. */
static ef_status *extreme_grad(ef_grad *g, const char *takes_x) {
    ef_build *b = g->b;
    ef_value *dz = g->dout[0], *zero = ef_zeros_like(b, dz);
    ef_value *x_won = ef_emit2(b, takes_x, g->in[0], g->in[1]);
    return ef_grad_pair(g, ef_select(b, x_won, dz, zero), ef_select(b, x_won, zero, dz));
}
static ef_status *maximum_grad(ef_grad *g) { return extreme_grad(g, "GreaterEqual"); }
static ef_status *minimum_grad(ef_grad *g) { return extreme_grad(g, "LessEqual"); }

const ef_op ef_op_Maximum = {
    EF_BINARY(Maximum, "The larger of `x` and `y` element by element; NaN if either is NaN."),
    .types = EF_T_REALS,
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .tile = maximum_tiles,
    .expr = "y == y ? (x < y ? y : x) : y",
    .grad = maximum_grad,
    .examples = EF_BROADCAST_EXAMPLES,
};
const ef_op ef_op_Minimum = {
    EF_BINARY(Minimum, "The smaller of `x` and `y` element by element; NaN if either is NaN."),
    .types = EF_T_REALS,
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .tile = minimum_tiles,
    .expr = "y == y ? (y < x ? y : x) : y",
    .grad = minimum_grad,
    .examples = EF_BROADCAST_EXAMPLES,
};

/* ---- Atan2 and NextAfter --------------------------------------------------------------------- */

EF_FLOATS2_FN(atan2, ef_atan2)
EF_TILE_TABLE(atan2) = {EF_ROWS_FLOAT(atan2)};

static ef_status *atan2_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *y = g->in[0], *x = g->in[1];
    ef_value *r = ef_div(b, g->dout[0], ef_add(b, ef_mul(b, y, y), ef_mul(b, x, x)));
    return ef_grad_pair(g, ef_mul(b, x, r), ef_mul(b, ef_neg(b, y), r));
}

const ef_op ef_op_Atan2 = {
    EF_NAMED(Atan2),
    .doc = "The angle of the point (`x`, `y`), in [-pi, pi]; shapes broadcast.",
    .in = {"y: T", "x: T"},
    .out = {"z: T"},
    .types = EF_T_FLOATS,
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = ef_shape_broadcast,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = atan2_tiles,
    .expr = "atan2(x, y)",
    .grad = atan2_grad,
    .examples = EF_BROADCAST_EXAMPLES,
};

EF_TILE2(next_after, F32, float, float, nextafterf(x, y))
EF_TILE2(next_after, F64, double, double, nextafter(x, y))
EF_TILE_TABLE(next_after) = {EF_ROWS_FULL(next_after)};

static ef_status *next_after_grad(ef_grad *g) {
    ef_value *dz = g->dout[0];
    return ef_grad_pair(g, dz, ef_zeros_like(g->b, dz));
}

const ef_op ef_op_NextAfter = {
    EF_NAMED(NextAfter),
    .doc = "The next number that the dtype can represent after `x1` in the direction of `x2`.",
    .in = {"x1: T", "x2: T"},
    .out = {"output: T"},
    .types = "T: {double, float} = float",
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_NONE,
    .shape = ef_shape_broadcast,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = next_after_tiles,
    .expr = "nextafter(x, y)",
    .grad = next_after_grad,
    .examples = {"T[2,3] T[3]", "T[] T[4]", "T[0,3] T[3]"},
};
