/* Operations on the bits of integers. A shift distance outside [0, bits) is clamped to that range,
 * as in TensorFlow. */
#include "ops/records.h"

#define BITS(N, name, T_IN, T_OUT, marks, rows, is, text) \
    EF_TILE_TABLE(name) = {rows(name)};                   \
    const ef_op ef_op_##N = {                             \
        EF_NAMED(N),                                      \
        .doc = text,                                      \
        .in = T_IN,                                       \
        .out = {T_OUT},                                   \
        .types = EF_T_INTS,                               \
        .traits = marks | EF_NO_GRAD,                     \
        .shape = ef_shape_broadcast,                      \
        .kernel = EF_ELEMENTWISE_KERNEL,                  \
        .tile = name##_tiles,                             \
        .expr = is,                                       \
        .examples = EF_BROADCAST_EXAMPLES,                \
    };
#define PAIR \
    { "x: T", "y: T" }

EF_WRAPS2(bitwise_and, x &y)
EF_WRAPS2(bitwise_or, x | y)
EF_WRAPS2(bitwise_xor, x ^ y)
BITS(BitwiseAnd, bitwise_and, PAIR, "z: T", EF_IN_PLACE | EF_COMMUTES, EF_ROWS_WRAP, "x & y",
     "The bits set in both `x` and `y`; shapes broadcast.")
BITS(BitwiseOr, bitwise_or, PAIR, "z: T", EF_IN_PLACE | EF_COMMUTES, EF_ROWS_WRAP, "x | y",
     "The bits set in `x` or `y` or both; shapes broadcast.")
BITS(BitwiseXor, bitwise_xor, PAIR, "z: T", EF_IN_PLACE | EF_COMMUTES, EF_ROWS_WRAP, "x ^ y",
     "The bits set in exactly one of `x` and `y`; shapes broadcast.")

/* Left shifts are computed in the unsigned type U, where shifting bits out is defined. */
#define SHIFTS(SUF, T, U, width)                                                                 \
    static inline U distance_##SUF(T y) { return y < 0 ? 0 : y > width - 1 ? width - 1 : (U)y; } \
    EF_TILE2(left_shift, SUF, T, T, (U)x << distance_##SUF(y))                                   \
    EF_TILE2(right_shift, SUF, T, T, x >> distance_##SUF(y))
SHIFTS(I8, int8_t, uint8_t, 8)
SHIFTS(I16, int16_t, uint16_t, 16)
SHIFTS(I32, int32_t, uint32_t, 32)
SHIFTS(I64, int64_t, uint64_t, 64)
#undef SHIFTS
#define SHIFTS(SUF, T, width)                                                     \
    static inline T distance_##SUF(T y) { return y > width - 1 ? width - 1 : y; } \
    EF_TILE2(left_shift, SUF, T, T, x << distance_##SUF(y))                       \
    EF_TILE2(right_shift, SUF, T, T, x >> distance_##SUF(y))
SHIFTS(U8, uint8_t, 8)
SHIFTS(U16, uint16_t, 16)
SHIFTS(U32, uint32_t, 32)
SHIFTS(U64, uint64_t, 64)
BITS(LeftShift, left_shift, PAIR, "z: T", EF_IN_PLACE, EF_ROWS_INT, "x << y",
     "`x` shifted left by `y` bits; shapes broadcast.")
BITS(RightShift, right_shift, PAIR, "z: T", EF_IN_PLACE, EF_ROWS_INT, "x >> y",
     "`x` shifted right by `y` bits; the sign bit is copied into the free bits; shapes broadcast.")

EF_WRAPS1(invert, ~x)
EF_TILE_TABLE(invert) = {EF_ROWS_WRAP(invert)};
const ef_op ef_op_Invert = {
    EF_UNARY(Invert, "Inverts every bit of `x`."),
    .types = EF_T_INTS,
    .traits = EF_IN_PLACE | EF_NO_GRAD,
    .tile = invert_tiles,
    .expr = "~x",
    .examples = EF_UNARY_EXAMPLES,
};

EF_TILE1(population_count, U8, uint8_t, uint8_t, __builtin_popcount(x))
EF_TILE1(population_count, U16, uint16_t, uint8_t, __builtin_popcount(x))
EF_TILE1(population_count, U32, uint32_t, uint8_t, __builtin_popcount(x))
EF_TILE1(population_count, U64, uint64_t, uint8_t, __builtin_popcountll(x))
EF_TILE_TABLE(population_count) = {EF_ROWS_WRAP(population_count)};
const ef_op ef_op_PopulationCount = {
    EF_NAMED(PopulationCount),
    .doc = "The number of bits of `x` that are set.",
    .in = {"x: T"},
    .out = {"y: uint8"},
    .types = EF_T_INTS,
    .traits = EF_ELEMENTWISE | EF_NO_GRAD,
    .shape = ef_shape_same,
    .kernel = EF_ELEMENTWISE_KERNEL,
    .tile = population_count_tiles,
    .expr = "popcount(x)",
    .examples = EF_UNARY_EXAMPLES,
};
