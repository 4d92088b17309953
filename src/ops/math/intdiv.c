/* Ops that cannot fail on floats but can on integers: division and remainder (by zero) and Pow
 * (with a negative exponent). A tile cannot report an error, so the records have only the float
 * tiles, which fusion may use; integers go through a kernel that checks the operands first. The
 * smallest integer divided by -1 wraps. */
#include "base/pool.h"
#include "kernels/vcomplex.h"
#include "kernels/vmath.h"
#include "ops/records.h"
#include <stdatomic.h>

/* ---- integer arithmetic ---------------------------------------------------------------------- */

/* x / y for y > 0 or y < -1. There are vector instructions for the division of floats only. A
 * quotient that is no integer differs from the nearest one by more than a float type rounds that
 * has twice as many bits, so dropping the fraction gives the quotient of the integers. */
#define DIVIDE_AS(SUF, T, REAL) \
    static inline T whole_##SUF(T x, T y) { return (T)((REAL)x / (REAL)y); }
DIVIDE_AS(I8, int8_t, float)
DIVIDE_AS(I16, int16_t, float)
DIVIDE_AS(I32, int32_t, double)
static inline int64_t whole_I64(int64_t x, int64_t y) { return x / y; }

/* Signed: U is the unsigned type of the same size. y is never 0 here. */
#define SIGNED(SUF, T, U)                                             \
    static inline T quotient_##SUF(T x, T y) {                        \
        T q = whole_##SUF(x, y == -1 ? 1 : y);                        \
        return y == -1 ? (T)(0 - (U)x) : q;                           \
    }                                                                 \
    static inline T remainder_##SUF(T x, T y) {                       \
        T q = whole_##SUF(x, y == -1 ? 1 : y);                        \
        return y == -1 ? 0 : (T)((U)x - (U)q * (U)y);                 \
    }                                                                 \
    static inline T floor_quotient_##SUF(T x, T y) {                  \
        T q = quotient_##SUF(x, y), r = remainder_##SUF(x, y);        \
        return r != 0 && (r < 0) != (y < 0) ? (T)(q - 1) : q;         \
    }                                                                 \
    static inline T floor_remainder_##SUF(T x, T y) {                 \
        T r = remainder_##SUF(x, y);                                  \
        return r != 0 && (r < 0) != (y < 0) ? (T)(r + y) : r;         \
    }                                                                 \
    static inline T power_##SUF(T x, T y) { /* by squaring, y >= 0 */ \
        uint64_t r = 1, p = (uint64_t)x;                              \
        for (U e = (U)y; e != 0; e >>= 1, p *= p)                     \
            if (e & 1u) r *= p;                                       \
        return (T)r;                                                  \
    }
SIGNED(I8, int8_t, uint8_t)
SIGNED(I16, int16_t, uint16_t)
SIGNED(I32, int32_t, uint32_t)
SIGNED(I64, int64_t, uint64_t)
#define UNSIGNED(SUF, T)                                                  \
    static inline T quotient_##SUF(T x, T y) { return (T)(x / y); }       \
    static inline T remainder_##SUF(T x, T y) { return (T)(x % y); }      \
    static inline T floor_quotient_##SUF(T x, T y) { return (T)(x / y); } \
    static inline T floor_remainder_##SUF(T x, T y) { return (T)(x % y); }
EF_EACH_UNSIGNED(UNSIGNED)

#define TILE(SUF, T)                                           \
    EF_TILE2(truncate_div, SUF, T, T, quotient_##SUF(x, y))    \
    EF_TILE2(truncate_mod, SUF, T, T, remainder_##SUF(x, y))   \
    EF_TILE2(floor_div, SUF, T, T, floor_quotient_##SUF(x, y)) \
    EF_TILE2(floor_mod, SUF, T, T, floor_remainder_##SUF(x, y))
EF_EACH_INT(TILE)
#define POW_TILE(SUF, T) EF_TILE2(pow, SUF, T, T, power_##SUF(x, y))
EF_EACH_SIGNED(POW_TILE)

/* ---- checking the operands ------------------------------------------------------------------- */

/* First element in [from, to) that is 0, or -1. Blocks are tested without leaving the loop early,
 * which is vector code. */
#define FIND_ZERO(SUF, T)                                                  \
    static int64_t find_zero_##SUF(const T *v, int64_t from, int64_t to) { \
        for (int64_t i = from; i < to; i += FIND_BLOCK) {                  \
            int64_t end = to - i < FIND_BLOCK ? to : i + FIND_BLOCK;       \
            T found = 0;                                                   \
            for (int64_t k = i; k < end; k++) found |= (T)(v[k] == 0);     \
            for (int64_t k = i; found != 0 && k < end; k++)                \
                if (v[k] == 0) return k;                                   \
        }                                                                  \
        return -1;                                                         \
    }
enum { FIND_BLOCK = 512 };
EF_EACH_UNSIGNED(FIND_ZERO)

typedef struct search {
    const ef_tensor *in;
    _Atomic int64_t first; /* the smallest index found, or the number of elements */
} search;

static void search_range(void *arg, int64_t from, int64_t to) {
    search *s = arg;
    int64_t at = -1;
    switch (ef_dtype_size(s->in->dtype)) {
#define CASE(SUF, T) \
    case sizeof(T): at = find_zero_##SUF(s->in->data, from, to); break;
        EF_EACH_UNSIGNED(CASE)
#undef CASE
    default: break;
    }
    int64_t old = atomic_load(&s->first);
    while (at >= 0 && at < old && !atomic_compare_exchange_weak(&s->first, &old, at)) continue;
}

/* First element that is 0, or -1. */
static int64_t find_zero(const ef_tensor *t) {
    int64_t n = ef_count(t);
    search s = {.in = t, .first = n};
    ef_parallel(n, 4096, 0.025 * (double)ef_dtype_size(t->dtype), search_range, &s);
    return s.first < n ? s.first : -1;
}
static int64_t find_negative(const ef_tensor *t) {
    int64_t n = ef_count(t);
    switch (ef_dtype_size(t->dtype)) {
#define CASE(SUF, T)                                   \
    case sizeof(T):                                    \
        for (int64_t i = 0; i < n; i++)                \
            if (((const T *)t->data)[i] < 0) return i; \
        return -1;
        EF_EACH_SIGNED(CASE)
#undef CASE
    default: return -1;
    }
}

static ef_status *run_division(const ef_call *c, ef_tile_fn *const *tiles) {
    int64_t at = ef_count(c->out[0]) == 0 ? -1 : find_zero(c->in[1]);
    if (at >= 0)
        return ef_error(EF_INVALID,
                        "%s: Integer division by zero: element %lld of y, a %s, is 0; divisors "
                        "must not be 0",
                        c->op->name, (long long)at, EF_TENSOR(c->in[1]));
    ef_elementwise(tiles[c->in[0]->dtype], c->attrs, 2, c->in, c->out[0]);
    return NULL;
}
#define INT_ROWS(name)                                                          \
    static ef_tile_fn *const name##_int_tiles[EF_DTYPES] = {EF_ROWS_INT(name)}; \
    static ef_status *name##_ints(const ef_call *c) { return run_division(c, name##_int_tiles); }
INT_ROWS(truncate_div)
INT_ROWS(truncate_mod)
INT_ROWS(floor_div)
INT_ROWS(floor_mod)
/* Row 0 is the one that fusion uses; row 1 takes the integers. */
#define ROWS(ints)                                                                                \
    {                                                                                             \
        {EF_CPU | EF_TEST, EF_FLOATS | EF_COMPLEX, ef_run_elementwise, NULL, NULL, NULL, NULL}, { \
            EF_CPU | EF_TEST, EF_INTS, ints, NULL, NULL, NULL, NULL                               \
        }                                                                                         \
    }
#define DIVISION(N, text, ints, and)                                     \
    EF_NAMED(N), .doc = (text), .in = {"x: T", "y: T"}, .out = {"z: T"}, \
                 .traits = EF_IN_PLACE | (and), .shape = ef_shape_broadcast, .kernel = ROWS(ints)
#define DIVISION_EXAMPLES                                                                    \
    {                                                                                        \
        "T[2,3] T[3]:1..4", "T[] T[4]:1..4", "int32[3]{-7,7,-2147483648} int32[3]{2,-2,-1}", \
            "T[0,3] T[3]", "int32[0] int32[]{0}"                                             \
    }

/* ---- records --------------------------------------------------------------------------------- */

EF_FLOATS2(quotient, x / y, x / y)
EF_COMPLEX2_ENDS(quotient, ef_cdiv)
EF_TILE_TABLE(quotient) = {EF_ROWS_FLOAT(quotient) EF_ROWS_COMPLEX(quotient)};

static ef_status *div_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *x = ef_conj(b, g->in[0]), *y = ef_conj(b, g->in[1]), *dz = g->dout[0];
    ef_value *slope = ef_emit2(b, "Div", ef_emit2(b, "Div", ef_neg(b, x), y), y);
    return ef_grad_pair(g, ef_emit2(b, "Div", dz, y), ef_mul(b, dz, slope));
}

const ef_op ef_op_Div = {
    DIVISION(Div, "Divides `x` by `y`; integers are divided towards zero.", truncate_div_ints, 0),
    .types = EF_T_NUMBERS,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .tile = quotient_tiles,
    .expr = "x / y",
    .grad = div_grad,
    .examples = DIVISION_EXAMPLES,
};

/* For 16-bit floats the quotient is rounded before its fraction is dropped, as in TensorFlow. */
#define WHOLE(name, fn)                                           \
    EF_TILE1(name, F32, float, float, fn##f(x))                   \
    EF_HALVES(name, 1, 0)                                         \
    EF_TILE2(float_##name##_div, F32, float, float, fn##f(x / y)) \
    EF_TILE2(float_##name##_div, F64, double, double, fn(x / y))  \
    static void float_##name##_div_F16(EF_TILE_PARAMS) {          \
        quotient_F16(EF_TILE_PASS);                               \
        name##_F16(out_, &(const void *){out_}, n, 0, attrs);     \
    }                                                             \
    static void float_##name##_div_BF16(EF_TILE_PARAMS) {         \
        quotient_BF16(EF_TILE_PASS);                              \
        name##_BF16(out_, &(const void *){out_}, n, 0, attrs);    \
    }                                                             \
    EF_TILE_TABLE(float_##name##_div) = {EF_ROWS_FLOAT(float_##name##_div)};
WHOLE(truncate, trunc)
WHOLE(floor, floor)

static ef_status *no_grad(ef_grad *g) {
    (void)g;
    return NULL;
}

const ef_op ef_op_TruncateDiv = {
    DIVISION(TruncateDiv, "Divides `x` by `y` and rounds towards zero.", truncate_div_ints, 0),
    .types = EF_T_REALS,
    .declared = EF_COMPLEX,
    .keeps = EF_KEEP_NONE,
    .tile = float_truncate_div_tiles,
    .expr = "trunc(x / y)",
    .grad = no_grad,
    .examples = DIVISION_EXAMPLES,
};

const ef_op ef_op_FloorDiv = {
    DIVISION(FloorDiv, "Divides `x` by `y` and rounds down.", floor_div_ints, 0),
    .types = EF_T_REALS,
    .declared = EF_COMPLEX,
    .keeps = EF_KEEP_NONE,
    .dims = ef_dim_div,
    .tile = float_floor_div_tiles,
    .expr = "floor(x / y)",
    .grad = no_grad,
    .examples = DIVISION_EXAMPLES,
};

EF_FLOATS2_FN(float_truncate_mod, ef_fmod)
EF_TILE_TABLE(float_truncate_mod) = {EF_ROWS_FLOAT(float_truncate_mod)};

const ef_op ef_op_TruncateMod = {
    DIVISION(TruncateMod, "The remainder of `x / y`, with the sign of `x`.", truncate_mod_ints,
             EF_GRAD_UNDEFINED),
    .types = "T: {int32, int64, bfloat16, half, float, double}",
    .keeps = EF_KEEP_NONE,
    .tile = float_truncate_mod_tiles,
    .expr = "fmod(x, y)",
    .examples = DIVISION_EXAMPLES,
};
const ef_op ef_op_Mod = {
    DIVISION(Mod, "The remainder of `x / y`, with the sign of `x`.", truncate_mod_ints,
             EF_GRAD_UNDEFINED),
    .types = "T: {int32, int64, half, bfloat16, float, double}",
    .keeps = EF_KEEP_NONE,
    .tile = float_truncate_mod_tiles,
    .expr = "fmod(x, y)",
    .examples = DIVISION_EXAMPLES,
};

EF_FLOATS2_FN(float_floor_mod, ef_mod)
EF_TILE_TABLE(float_floor_mod) = {EF_ROWS_FLOAT(float_floor_mod)};

static ef_status *floor_mod_grad(ef_grad *g) { /* z = x - y floor(x / y) */
    ef_build *b = g->b;
    ef_value *times = ef_emit2(b, "FloorDiv", g->in[0], g->in[1]);
    return ef_grad_pair(g, g->dout[0], ef_mul(b, g->dout[0], ef_neg(b, times)));
}

const ef_op ef_op_FloorMod = {
    DIVISION(FloorMod, "The remainder of `x / y`, with the sign of `y`.", floor_mod_ints, 0),
    .types = EF_T_REALS,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .tile = float_floor_mod_tiles,
    .expr = "fmod(x, y) != 0 && (fmod(x, y) < 0) != (y < 0) ? fmod(x, y) + y : fmod(x, y)",
    .grad = floor_mod_grad,
    .examples = {"T[2,3] T[3]:1..4", "int32[3]{-7,7,-2147483648} int32[3]{2,-2,-1}",
                 "float[4]{-7,7.5,-7.5,6} float[4]{2,-2,-2,4}", "T[0,3] T[3]",
                 "int32[0] int32[]{0}"},
};

/* ---- powers ---------------------------------------------------------------------------------- */

/* A scalar exponent is usually one of a few values that need no logarithm. Before a square root, -0
 * becomes 0 and negative infinity becomes positive, as pow defines it. */
static inline float unsigned_F32(float x) { return x == -INFINITY ? INFINITY : x + 0.0f; }
static inline double unsigned_F64(double x) {
    return x == -(double)INFINITY ? (double)INFINITY : x + 0.0;
}
#define POWERS(SUF, T, f)                                                         \
    EF_TILE1(square, SUF, T, T, x *x)                                             \
    EF_TILE1(cube, SUF, T, T, x *x *x)                                            \
    EF_TILE1(inverse, SUF, T, T, 1 / x)                                           \
    EF_TILE1(root, SUF, T, T, sqrt##f(unsigned_##SUF(x)))                         \
    EF_TILE1(inverse_root, SUF, T, T, 1 / sqrt##f(unsigned_##SUF(x)))             \
    EF_TILE2(any_pow, SUF, T, T, ef_pow_##SUF(x, y))                              \
    static void float_pow_##SUF(EF_TILE_PARAMS) {                                 \
        static const struct {                                                     \
            T y;                                                                  \
            ef_tile_fn *tile;                                                     \
        } known[] = {{2, square_##SUF},                                           \
                     {3, cube_##SUF},                                             \
                     {-1, inverse_##SUF},                                         \
                     {(T)0.5, root_##SUF},                                        \
                     {(T)-0.5, inverse_root_##SUF}};                              \
        for (size_t k = 0; scalars == 2 && k < sizeof known / sizeof *known; k++) \
            if (*(const T *)in_[1] == known[k].y) {                               \
                known[k].tile(out_, in_, n, 0, attrs);                            \
                return;                                                           \
            }                                                                     \
        any_pow_##SUF(EF_TILE_PASS);                                              \
    }
POWERS(F32, float, f)
POWERS(F64, double, )
EF_HALVES(float_pow, 2, 0)
EF_COMPLEX2_FN(float_pow, ef_cpow)
EF_TILE_TABLE(float_pow) = {EF_ROWS_FLOAT(float_pow) EF_ROWS_COMPLEX(float_pow)};
static ef_tile_fn *const pow_int_tiles[EF_DTYPES] = {EF_ROWS_SIGNED(pow)};

static ef_status *pow_ints(const ef_call *c) {
    int64_t at = ef_count(c->out[0]) == 0 ? -1 : find_negative(c->in[1]);
    if (at >= 0)
        return ef_error(EF_INVALID,
                        "%s: Integers to negative integer powers are not allowed: element %lld of "
                        "y, a %s, is negative; cast x and y to a float dtype",
                        c->op->name, (long long)at, EF_TENSOR(c->in[1]));
    ef_elementwise(pow_int_tiles[c->in[0]->dtype], c->attrs, 2, c->in, c->out[0]);
    return NULL;
}

/* dx = y x^(y-1); dy = x^y log x, taken as 0 where the logarithm is not real. */
static ef_status *pow_grad(ef_grad *g) {
    ef_build *b = g->b;
    ef_value *x = ef_conj(b, g->in[0]), *y = ef_conj(b, g->in[1]), *dz = g->dout[0];
    ef_value *slope = ef_mul(b, y, ef_emit2(b, "Pow", x, ef_shift(b, y, -1)));
    ef_dtype t = x == NULL ? EF_F32 : x->fact.dtype;
    const char *test = ef_dtype_in(t, EF_COMPLEX) ? "NotEqual" : "Greater";
    ef_value *has_log = ef_emit2(b, test, x, ef_const_number(b, t, 0));
    ef_value *log = ef_emit1(b, "Log", ef_select(b, has_log, x, ef_const_number(b, t, 1)));
    ef_value *safe = ef_select(b, has_log, log, ef_const_number(b, t, 0));
    return ef_grad_pair(g, ef_mul(b, dz, slope),
                        ef_mul(b, ef_mul(b, dz, ef_conj(b, g->out[0])), safe));
}

const ef_op ef_op_Pow = {
    DIVISION(Pow, "Raises `x` to the power `y`; shapes broadcast.", pow_ints, 0),
    .types = EF_T_SIGNED,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1) | EF_KEEP_OUT(0),
    .tile = float_pow_tiles,
    .expr = "pow(x, y)",
    .grad = pow_grad,
    .examples = {"T[2,3]:1..3 T[3]:0..4", "T[] T[4]:0..3", "T[0,3] T[3]",
                 "float[3]:0.5..2 float[]:-2..-1"},
};
