/* Comparisons and logic: the result is a bool. */
#include "ops/records.h"
#include <math.h>

#define TESTS2(name, EXPR)           \
    EF_TEST2(name, F32, float, EXPR) \
    EF_TEST2(name, F64, double, EXPR) EF_HALVES(name, 2, 1) INT_TESTS2(name, EXPR)
#define INT_TESTS2(name, EXPR)          \
    EF_TEST2(name, I8, int8_t, EXPR)    \
    EF_TEST2(name, I16, int16_t, EXPR)  \
    EF_TEST2(name, I32, int32_t, EXPR)  \
    EF_TEST2(name, I64, int64_t, EXPR)  \
    EF_TEST2(name, U8, uint8_t, EXPR)   \
    EF_TEST2(name, U16, uint16_t, EXPR) \
    EF_TEST2(name, U32, uint32_t, EXPR) EF_TEST2(name, U64, uint64_t, EXPR)

/* ---- order ----------------------------------------------------------------------------------- */

#define ORDER(N, name, sign, is, text)                             \
    TESTS2(name, x sign y)                                         \
    EF_TILE_TABLE(name) = {EF_ROWS_FLOAT(name) EF_ROWS_INT(name)}; \
    const ef_op ef_op_##N = {                                      \
        EF_NAMED(N),                                               \
        .doc = text,                                               \
        .in = {"x: T", "y: T"},                                    \
        .out = {"z: bool"},                                        \
        .types = EF_T_REALS,                                       \
        .traits = EF_ELEMENTWISE | EF_NO_GRAD,                     \
        .shape = ef_shape_broadcast,                               \
        .kernel = EF_ELEMENTWISE_KERNEL,                           \
        .tile = name##_tiles,                                      \
        .expr = "x " #sign " y",                                   \
        .role = is,                                                \
        .examples = EF_BROADCAST_EXAMPLES,                         \
    };
ORDER(Less, less, <, EF_ROLE_NONE, "Whether `x < y`, element by element; shapes broadcast.")
ORDER(LessEqual, less_equal, <=, EF_ROLE_NONE,
      "Whether `x <= y`, element by element; shapes broadcast.")
ORDER(Greater, greater, >, EF_ROLE_GREATER,
      "Whether `x > y`, element by element; shapes broadcast.")
ORDER(GreaterEqual, greater_equal, >=, EF_ROLE_NONE,
      "Whether `x >= y`, element by element; shapes broadcast.")

/* ---- equality -------------------------------------------------------------------------------- */

typedef struct {
    bool incompatible_shape_error;
} equal_attrs;

#define EQUALITY_TILES(name, sign)                                                                 \
    EF_TEST2(name, F32, float, x sign y)                                                           \
    EF_TEST2(name, F64, double, x sign y)                                                          \
    EF_HALVES(name, 2, 1)                                                                          \
    EF_TEST2(name, U8, uint8_t, x sign y)                                                          \
    EF_TEST2(name, U16, uint16_t, x sign y)                                                        \
    EF_TEST2(name, U32, uint32_t, x sign y)                                                        \
    EF_TEST2(name, U64, uint64_t, x sign y)                                                        \
    EF_TEST2(name, C64, ef_c64, x sign y)                                                          \
    EF_TEST2(name, C128, ef_c128, x sign y)                                                        \
    EF_TILE_TABLE(name) = {EF_ROWS_FLOAT(name) EF_ROWS_WRAP(name) EF_ROWS_COMPLEX(name)[EF_BOOL] = \
                               name##_U8,                                                          \
                           [EF_QI8] = name##_U8,                                                   \
                           [EF_QU8] = name##_U8,                                                   \
                           [EF_QI16] = name##_U16,                                                 \
                           [EF_QU16] = name##_U16,                                                 \
                           [EF_QI32] = name##_U32};
EQUALITY_TILES(equal, ==)
EQUALITY_TILES(not_equal, !=)

/* With incompatible_shape_error = false, shapes that do not broadcast compare as unequal, and the
 * result is one scalar. So the rank of the result is unknown until both shapes are known. */
static ef_status *equal_shape(ef_infer *i) {
    const equal_attrs *at = i->attrs;
    if (at->incompatible_shape_error) return ef_shape_broadcast(i);
    const ef_shape *x = &i->in[0].shape, *y = &i->in[1].shape;
    if (!ef_shape_known(x) || !ef_shape_known(y))
        i->out[0].shape = ef_unknown_shape();
    else if (!ef_shape_broadcast2(x, y, &i->out[0].shape))
        i->out[0].shape = ef_scalar_shape();
    return NULL;
}
static bool shapes_broadcast(const ef_call *c) {
    ef_shape x = ef_shape_from(c->in[0]), y = ef_shape_from(c->in[1]), z;
    return ef_shape_broadcast2(&x, &y, &z);
}

static ef_tile_fn *pick_equal(const ef_dtype *in, int n_in, ef_dtype out, const void *attrs) {
    (void)n_in, (void)out;
    return ((const equal_attrs *)attrs)->incompatible_shape_error ? equal_tiles[in[0]] : NULL;
}
static ef_tile_fn *pick_not_equal(const ef_dtype *in, int n_in, ef_dtype out, const void *attrs) {
    (void)n_in, (void)out;
    return ((const equal_attrs *)attrs)->incompatible_shape_error ? not_equal_tiles[in[0]] : NULL;
}
static bool always_broadcasts(const ef_call *c) {
    return ((const equal_attrs *)c->attrs)->incompatible_shape_error;
}

static void compare_strings(const ef_call *c, bool equal) {
    const ef_tensor *x = c->in[0], *y = c->in[1], *z = c->out[0];
    bool *out = z->data;
    for (int64_t i = 0, n = ef_count(z); i < n; i++) {
        const ef_str *a = (const ef_str *)x->data + ef_broadcast_at(x, z, i);
        const ef_str *b = (const ef_str *)y->data + ef_broadcast_at(y, z, i);
        out[i] = (a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n) == 0)) == equal;
    }
}
static ef_status *run_equality(const ef_call *c, ef_tile_fn *const *tiles, bool equal) {
    if (!shapes_broadcast(c))
        *(bool *)c->out[0]->data = !equal;
    else if (c->in[0]->dtype == EF_STRING)
        compare_strings(c, equal);
    else
        ef_elementwise(tiles[c->in[0]->dtype], c->attrs, 2, c->in, c->out[0]);
    return NULL;
}
static ef_status *run_equal(const ef_call *c) { return run_equality(c, equal_tiles, true); }
static ef_status *run_not_equal(const ef_call *c) {
    return run_equality(c, not_equal_tiles, false);
}

#define EQUALITY(N, pick, run, sign, text)                                                         \
    const ef_op ef_op_##N = {                                                                      \
        EF_NAMED(N),                                                                               \
        .doc = text,                                                                               \
        .in = {"x: T", "y: T"},                                                                    \
        .out = {"z: bool"},                                                                        \
        .types = "T: {bfloat16, half, float, double, uint8, uint16, uint32, uint64, int8, int16, " \
                 "int32, int64, complex64, complex128, string, bool, stored}",                     \
        .attr = {EF_ATTR(equal_attrs, incompatible_shape_error, "bool", "true")},                  \
        .attr_size = sizeof(equal_attrs),                                                          \
        .traits = EF_ELEMENTWISE | EF_COMMUTES | EF_NO_GRAD,                                       \
        .shape = equal_shape,                                                                      \
        .kernel = {{EF_CPU | EF_TEST, EF_COMPUTED | EF_QUANTIZED, ef_run_elementwise, NULL,        \
                    always_broadcasts, NULL, NULL},                                                \
                   {EF_CPU, EF_COMPUTED | EF_QUANTIZED | EF_BIT(STRING), run, NULL, NULL, NULL,    \
                    NULL}},                                                                        \
        .pick_tile = pick,                                                                         \
        .expr = "x " #sign " y",                                                                   \
        .examples = {"T[2,3] T[3]", "T[] T[4]", "T[0,3] T[3]", "string[3]{a,bc,} string[]{bc}",    \
                     "float[2,3] float[2] incompatible_shape_error=false",                         \
                     "float[2,3] float[3] incompatible_shape_error=false"},                        \
    };
EQUALITY(Equal, pick_equal, run_equal, ==, "Whether `x` equals `y`, element by element.")
EQUALITY(NotEqual, pick_not_equal, run_not_equal, !=,
         "Whether `x` differs from `y`, element by element; NaN differs from everything.")

typedef struct {
    float tolerance;
} approximate_attrs;
#define TOLERANCE ((const approximate_attrs *)attrs)->tolerance
EF_TEST2(approximate_equal, F32, float, fabsf(x - y) <= TOLERANCE)
EF_TEST2(approximate_equal, F64, double, fabs(x - y) <= (double)TOLERANCE)
EF_HALVES(approximate_equal, 2, 1)
EF_TILE_TABLE(approximate_equal) = {EF_ROWS_FLOAT(approximate_equal)};

const ef_op ef_op_ApproximateEqual = {
    EF_NAMED(ApproximateEqual),
    .doc = "Whether `x` and `y`, of one shape, differ by at most `tolerance`.",
    .in = {"x: T", "y: T"},
    .out = {"z: bool"},
    .types = EF_T_FLOATS,
    .declared = EF_INTS | EF_COMPLEX | EF_QUANTIZED,
    .attr = {EF_ATTR(approximate_attrs, tolerance, "float", "1e-05")},
    .attr_size = sizeof(approximate_attrs),
    .traits = EF_ELEMENTWISE | EF_COMMUTES | EF_NO_GRAD,
    .shape = ef_shape_merge_all,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = approximate_equal_tiles,
    .examples = {"T[2,3] T[2,3]", "T[] T[] tolerance=10", "T[0] T[0]"},
};

/* ---- infinity and NaN ------------------------------------------------------------------------ */

#define CLASSIFY(N, name, E32, E64, is, text)                           \
    EF_TEST1(name, F32, float, E32)                                     \
    EF_TEST1(name, F64, double, E64)                                    \
    EF_HALVES(name, 1, 1)                                               \
    EF_TILE_TABLE(name) = {EF_ROWS_FLOAT(name)};                        \
    const ef_op ef_op_##N = {                                           \
        EF_NAMED(N),                                                    \
        .doc = text,                                                    \
        .in = {"x: T"},                                                 \
        .out = {"y: bool"},                                             \
        .types = EF_T_FLOATS,                                           \
        .traits = EF_ELEMENTWISE | EF_NO_GRAD,                          \
        .shape = ef_shape_same,                                         \
        .kernel = EF_ELEMENTWISE_KERNEL,                                \
        .tile = name##_tiles,                                           \
        .expr = is,                                                     \
        .examples = {"T[2,3]", "T[]", "float[3]{1,inf,nan}", "T[0,3]"}, \
    };
CLASSIFY(IsNan, is_nan, x != x, x != x, "isnan(x)", "Whether `x` is NaN.")
CLASSIFY(IsInf, is_inf, fabsf(x) == INFINITY, fabs(x) == (double)INFINITY, "isinf(x)",
         "Whether `x` is infinite, of either sign.")
CLASSIFY(IsFinite, is_finite, fabsf(x) < INFINITY, fabs(x) < (double)INFINITY, "isfinite(x)",
         "Whether `x` is neither infinite nor NaN.")

/* ---- logic ----------------------------------------------------------------------------------- */

EF_TILE2(logical_and, BOOL, uint8_t, uint8_t, x &y)
EF_TILE2(logical_or, BOOL, uint8_t, uint8_t, x | y)
EF_TILE1(logical_not, BOOL, uint8_t, uint8_t, x ^ 1)
EF_TILE_TABLE(logical_and) = {[EF_BOOL] = logical_and_BOOL};
EF_TILE_TABLE(logical_or) = {[EF_BOOL] = logical_or_BOOL};
EF_TILE_TABLE(logical_not) = {[EF_BOOL] = logical_not_BOOL};

#define LOGIC(N, name, is, text)                                                  \
    const ef_op ef_op_##N = {                                                     \
        EF_NAMED(N),                                                              \
        .doc = text,                                                              \
        .in = {"x: bool", "y: bool"},                                             \
        .out = {"z: bool"},                                                       \
        .traits = EF_IN_PLACE | EF_COMMUTES | EF_NO_GRAD,                         \
        .shape = ef_shape_broadcast,                                              \
        .kernel = EF_ELEMENTWISE_KERNEL,                                          \
        .tile = name##_tiles,                                                     \
        .expr = is,                                                               \
        .examples = {"bool[2,3] bool[3]", "bool[] bool[4]", "bool[0,3] bool[3]"}, \
    };
LOGIC(LogicalAnd, logical_and, "x && y", "Whether both `x` and `y` are true; shapes broadcast.")
LOGIC(LogicalOr, logical_or, "x || y", "Whether `x` or `y` or both are true; shapes broadcast.")

const ef_op ef_op_LogicalNot = {
    EF_NAMED(LogicalNot),
    .doc = "The logical negation of `x`.",
    .in = {"x: bool"},
    .out = {"y: bool"},
    .traits = EF_IN_PLACE | EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = logical_not_tiles,
    .expr = "!x",
    .examples = {"bool[2,3]", "bool[]", "bool[0]"},
};
