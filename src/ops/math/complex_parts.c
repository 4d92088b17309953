/* Splitting complex numbers into parts, and making them from parts. */
#include "kernels/vcomplex.h"
#include "kernels/vmath.h"
#include "ops/records.h"

typedef struct {
    ef_dtype Tout;
} part_attrs;

static ef_value *make_complex(ef_build *b, ef_value *re, ef_value *im, ef_dtype whole) {
    ef_attr_value set[] = {EF_SET_TYPE("Tout", whole)};
    return ef_emit_set(b, "Complex", set, 1, 2, re, im);
}
static ef_value *part(ef_build *b, const char *op, ef_value *x, ef_dtype real) {
    ef_attr_value set[] = {EF_SET_TYPE("Tout", real)};
    return ef_emit_set(b, op, set, 1, 1, x);
}
static ef_value *zero_of(ef_build *b, ef_dtype t) { return ef_const_number(b, t, 0); }

/* ---- parts ----------------------------------------------------------------------------------- */

/* Any complex dtype to any real dtype; the expression is computed in the complex number's
 * precision. */
#define PART(N, name, arg, res, E64, E128, keep, text)                                           \
    EF_TILE1(name##_C64, F32, ef_c64, float, E64)                                                \
    EF_TILE1(name##_C64, F64, ef_c64, double, E64)                                               \
    EF_TILE1(name##_C128, F32, ef_c128, float, E128)                                             \
    EF_TILE1(name##_C128, F64, ef_c128, double, E128)                                            \
    static ef_tile_fn *name##_pick(const ef_dtype *in, int n_in, ef_dtype out, const void *at) { \
        (void)n_in, (void)at;                                                                    \
        if (in[0] == EF_C64) return out == EF_F32 ? name##_C64_F32 : name##_C64_F64;             \
        return out == EF_F32 ? name##_C128_F32 : name##_C128_F64;                                \
    }                                                                                            \
    const ef_op ef_op_##N = {                                                                    \
        EF_NAMED(N),                                                                             \
        .doc = text,                                                                             \
        .in = {arg ": T"},                                                                       \
        .out = {res ": Tout"},                                                                   \
        .types = "T: {complex64, complex128} = complex64",                                       \
        .attr = {EF_ATTR(part_attrs, Tout, "{float, double}", "float")},                         \
        .attr_size = sizeof(part_attrs),                                                         \
        .traits = EF_ELEMENTWISE,                                                                \
        .keeps = keep,                                                                           \
        .shape = name##_shape,                                                                   \
        .kernel = EF_ELEMENTWISE_KERNEL,                                                         \
        .pick_tile = name##_pick,                                                                \
        .grad = name##_grad,                                                                     \
        .examples = {"complex64[2,3]", "complex128[2] Tout=double", "complex64[]",               \
                     "complex64[0,2]"},                                                          \
    };
#define IN_DTYPE (x->fact.dtype)
#define OUT_DTYPE (y->fact.dtype)
EF_UNARY_GRAD(real, make_complex(b, dy, zero_of(b, OUT_DTYPE), IN_DTYPE))
EF_UNARY_GRAD(imag, make_complex(b, zero_of(b, OUT_DTYPE), dy, IN_DTYPE))
static ef_status *angle_grad(ef_grad *g) { /* -dy / (im + i re) */
    ef_build *b = g->b;
    ef_value *x = g->in[0];
    ef_dtype in = x->fact.dtype, out = g->out[0]->fact.dtype;
    ef_value *turned = make_complex(b, part(b, "Imag", x, out), part(b, "Real", x, out), in);
    ef_value *dz = make_complex(b, g->dout[0], zero_of(b, out), in);
    g->din[0] = ef_mul(b, ef_neg(b, dz), ef_emit1(b, "Reciprocal", turned));
    return NULL;
}
static ef_status *complex_abs_grad(ef_grad *g) { /* dy x / |x|, 0 at 0 */
    ef_build *b = g->b;
    ef_dtype in = g->in[0]->fact.dtype, out = g->out[0]->fact.dtype;
    ef_value *dz = make_complex(b, g->dout[0], zero_of(b, out), in);
    ef_value *length = make_complex(b, g->out[0], zero_of(b, out), in);
    g->din[0] = ef_emit2(b, "DivNoNan", ef_mul(b, dz, g->in[0]), length);
    return NULL;
}
#define real_shape ef_shape_same
#define imag_shape ef_shape_same
#define angle_shape ef_shape_same
static ef_status *complex_abs_shape(ef_infer *i) {
    const part_attrs *t = i->attrs;
    if ((i->in[0].dtype == EF_C64) != (t->Tout == EF_F32))
        return ef_error(EF_INVALID, "ComplexAbs: x is %s, so Tout must be %s",
                        ef_dtype_name(i->in[0].dtype),
                        i->in[0].dtype == EF_C64 ? "float" : "double");
    return ef_shape_same(i);
}
PART(Real, real, "input", "output", crealf(x), creal(x), EF_KEEP_NONE, "The real part of `input`.")
PART(Imag, imag, "input", "output", cimagf(x), cimag(x), EF_KEEP_NONE,
     "The imaginary part of `input`.")
PART(Angle, angle, "input", "output", atan2f(cimagf(x), crealf(x)), atan2(cimag(x), creal(x)),
     EF_KEEP_IN(0), "The argument (phase angle) of `input`, in [-pi, pi].")
PART(ComplexAbs, complex_abs, "x", "y", hypotf(crealf(x), cimagf(x)), hypot(creal(x), cimag(x)),
     EF_KEEP_IN(0) | EF_KEEP_OUT(0), "The absolute value (magnitude) of `x`.")

/* ---- Conj and Complex ------------------------------------------------------------------------ */

EF_COMPLEX1_FN(conj, ef_cconj)
EF_TILE_TABLE(conj) = {EF_ROWS_COMPLEX(conj)};
EF_UNARY_GRAD(conj, ef_conj(b, dy))
const ef_op ef_op_Conj = {
    EF_NAMED(Conj),
    .doc = "The complex conjugate of `input`.",
    .in = {"input: T"},
    .out = {"output: T"},
    .types = "T: {complex64, complex128} = complex64",
    .traits = EF_IN_PLACE,
    .keeps = EF_KEEP_NONE,
    .shape = ef_shape_same,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = conj_tiles,
    .grad = conj_grad,
    .examples = EF_UNARY_EXAMPLES,
};

EF_TILE2(complex_F32, C64, float, ef_c64, ef_complex_C64(x, y))
EF_TILE2(complex_F32, C128, float, ef_c128, ef_complex_C128(x, y))
EF_TILE2(complex_F64, C64, double, ef_c64, ef_complex_C64((float)x, (float)y))
EF_TILE2(complex_F64, C128, double, ef_c128, ef_complex_C128(x, y))
static ef_tile_fn *complex_pick(const ef_dtype *in, int n_in, ef_dtype out, const void *attrs) {
    (void)n_in, (void)attrs;
    if (in[0] == EF_F32) return out == EF_C64 ? complex_F32_C64 : complex_F32_C128;
    return out == EF_C64 ? complex_F64_C64 : complex_F64_C128;
}
static ef_status *complex_grad(ef_grad *g) {
    ef_dtype t = g->in[0]->fact.dtype;
    return ef_grad_pair(g, part(g->b, "Real", g->dout[0], t), part(g->b, "Imag", g->dout[0], t));
}
const ef_op ef_op_Complex = {
    EF_NAMED(Complex),
    .doc = "The complex numbers with parts `real` and `imag`; shapes broadcast.",
    .in = {"real: T", "imag: T"},
    .out = {"out: Tout"},
    .types = "T: {float, double} = float",
    .attr = {EF_ATTR(part_attrs, Tout, "{complex64, complex128}", "complex64")},
    .attr_size = sizeof(part_attrs),
    .traits = EF_ELEMENTWISE,
    .keeps = EF_KEEP_NONE,
    .shape = ef_shape_broadcast,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .pick_tile = complex_pick,
    .grad = complex_grad,
    .examples = {"double[2,3] double[3] Tout=complex128", "double[2] double[] Tout=complex128",
                 "float[0,2] float[2]"},
};
