/* Generates the inner loops of elementwise ops: one small loop per dtype and per way of
 * broadcasting a scalar operand, which the compiler turns into vector code. An expression reads x
 * (and y, z) and, if need be, `attrs` (the op's own struct).
 *
 *   EF_TILE2(add, F32, float, float, x + y)     one dtype: makes add_F32; in type, out type
 *   EF_FLOATS2(add, x + y, x + y)               F32, F64 and, by converting blocks, F16 and BF16
 *   EF_WRAPS2(add, x + y)                       ints; computed unsigned, so overflow wraps
 *
 *   EF_TILE_TABLE(add) = {EF_ROWS_FLOAT(add) EF_ROWS_WRAP(add)};     makes add_tiles
 *
 * A FN macro instead of an expression (EF_FLOATS1_FN(exp, ef_exp)) calls ef_exp_F32 or ef_exp_F64.
 */
#ifndef EF_OPS_TILE_H
#define EF_OPS_TILE_H
#include "ops/op.h"

/* omp simd: iterations are independent even when out has the same address as an input. */
#define EF_SIMD _Pragma("omp simd")
#define EF_TILE_PARAMS \
    void *out_, const void *const *in_, int64_t n, unsigned scalars, const void *attrs
#define EF_TILE_PASS out_, in_, n, scalars, attrs

#define EF_TILE1(name, SUF, TI, TO, EXPR)             \
    static void name##_##SUF(EF_TILE_PARAMS) {        \
        TO *o = out_;                                 \
        const TI *a = in_[0];                         \
        (void)attrs;                                  \
        if (scalars == 0) {                           \
            EF_SIMD for (int64_t i = 0; i < n; i++) { \
                TI x = a[i];                          \
                o[i] = (TO)(EXPR);                    \
            }                                         \
        } else {                                      \
            TI x = a[0];                              \
            TO r = (TO)(EXPR);                        \
            for (int64_t i = 0; i < n; i++) o[i] = r; \
        }                                             \
    }
#define EF_TILE2(name, SUF, TI, TO, EXPR)             \
    static void name##_##SUF(EF_TILE_PARAMS) {        \
        TO *o = out_;                                 \
        const TI *a = in_[0], *b = in_[1];            \
        (void)attrs;                                  \
        if (scalars == 0) {                           \
            EF_SIMD for (int64_t i = 0; i < n; i++) { \
                TI x = a[i], y = b[i];                \
                o[i] = (TO)(EXPR);                    \
            }                                         \
        } else if (scalars == 1) {                    \
            TI x = a[0];                              \
            EF_SIMD for (int64_t i = 0; i < n; i++) { \
                TI y = b[i];                          \
                o[i] = (TO)(EXPR);                    \
            }                                         \
        } else if (scalars == 2) {                    \
            TI y = b[0];                              \
            EF_SIMD for (int64_t i = 0; i < n; i++) { \
                TI x = a[i];                          \
                o[i] = (TO)(EXPR);                    \
            }                                         \
        } else {                                      \
            TI x = a[0], y = b[0];                    \
            TO r = (TO)(EXPR);                        \
            for (int64_t i = 0; i < n; i++) o[i] = r; \
        }                                             \
    }
/* Three operands: one loop if none is scalar, one if y and z are; other combinations run element by
 * element. */
#define EF_TILE3(name, SUF, TI, TO, EXPR)                                          \
    static void name##_##SUF(EF_TILE_PARAMS) {                                     \
        TO *o = out_;                                                              \
        const TI *a = in_[0], *b = in_[1], *c = in_[2];                            \
        (void)attrs;                                                               \
        if (scalars == 0) {                                                        \
            EF_SIMD for (int64_t i = 0; i < n; i++) {                              \
                TI x = a[i], y = b[i], z = c[i];                                   \
                o[i] = (TO)(EXPR);                                                 \
            }                                                                      \
        } else if (scalars == 6) {                                                 \
            TI y = b[0], z = c[0];                                                 \
            EF_SIMD for (int64_t i = 0; i < n; i++) {                              \
                TI x = a[i];                                                       \
                o[i] = (TO)(EXPR);                                                 \
            }                                                                      \
        } else {                                                                   \
            int64_t sa = !(scalars & 1), sb = !(scalars & 2), sc = !(scalars & 4); \
            for (int64_t i = 0; i < n; i++) {                                      \
                TI x = a[i * sa], y = b[i * sb], z = c[i * sc];                    \
                o[i] = (TO)(EXPR);                                                 \
            }                                                                      \
        }                                                                          \
    }

/* 16-bit floats: blocks are widened to float, computed by the float tile and rounded once. out_size
 * 0: the result has the same 16-bit type; else its elements have that size and are not rounded. */
void ef_tile_half(ef_tile_fn *f32, ef_dtype half, int n_in, int out_size, EF_TILE_PARAMS);
/* For a tile with one operand of in_size bytes and float results, which are rounded to 16 bits. */
void ef_tile_to_half(ef_tile_fn *f32, ef_dtype half, int in_size, EF_TILE_PARAMS);
/* Runs `most` on all but the last n % lanes elements, and `rest` on those. */
void ef_tile_split(ef_tile_fn *most, ef_tile_fn *rest, int lanes, int n_in, size_t in_size,
                   size_t out_size, EF_TILE_PARAMS);
#define EF_HALVES(name, n_in, out_size)                                  \
    static void name##_F16(EF_TILE_PARAMS) {                             \
        ef_tile_half(name##_F32, EF_F16, n_in, out_size, EF_TILE_PASS);  \
    }                                                                    \
    static void name##_BF16(EF_TILE_PARAMS) {                            \
        ef_tile_half(name##_F32, EF_BF16, n_in, out_size, EF_TILE_PASS); \
    }

/* All four float types. The double expression is separate because C's math functions have a name
 * per type. */
#define EF_FLOATS1(name, E32, E64)         \
    EF_TILE1(name, F32, float, float, E32) \
    EF_TILE1(name, F64, double, double, E64) EF_HALVES(name, 1, 0)
#define EF_FLOATS2(name, E32, E64)         \
    EF_TILE2(name, F32, float, float, E32) \
    EF_TILE2(name, F64, double, double, E64) EF_HALVES(name, 2, 0)
#define EF_FLOATS3(name, E32, E64)         \
    EF_TILE3(name, F32, float, float, E32) \
    EF_TILE3(name, F64, double, double, E64) EF_HALVES(name, 3, 0)
#define EF_FLOATS1_FN(name, fn) EF_FLOATS1(name, fn##_F32(x), fn##_F64(x))
#define EF_FLOATS2_FN(name, fn) EF_FLOATS2(name, fn##_F32(x, y), fn##_F64(x, y))
#define EF_COMPLEX1_FN(name, fn)                     \
    EF_TILE1(name, C64, ef_c64, ef_c64, fn##_C64(x)) \
    EF_TILE1(name, C128, ef_c128, ef_c128, fn##_C128(x))
#define EF_COMPLEX2_FN(name, fn)                        \
    EF_TILE2(name, C64, ef_c64, ef_c64, fn##_C64(x, y)) \
    EF_TILE2(name, C128, ef_c128, ef_c128, fn##_C128(x, y))
/* For functions with a second form, fn_end, that computes the elements left over after the last
 * full vector: complex division has one. */
#define EF_COMPLEX_ENDS(name, n_in)                                                             \
    static void name##_C64(EF_TILE_PARAMS) {                                                    \
        ef_tile_split(name##_most_C64, name##_end_C64, 4, n_in, sizeof(ef_c64), sizeof(ef_c64), \
                      EF_TILE_PASS);                                                            \
    }                                                                                           \
    static void name##_C128(EF_TILE_PARAMS) {                                                   \
        ef_tile_split(name##_most_C128, name##_end_C128, 2, n_in, sizeof(ef_c128),              \
                      sizeof(ef_c128), EF_TILE_PASS);                                           \
    }
#define EF_COMPLEX2_ENDS(name, fn)  \
    EF_COMPLEX2_FN(name##_most, fn) \
    EF_COMPLEX2_FN(name##_end, fn##_end) EF_COMPLEX_ENDS(name, 2)
#define EF_COMPLEX1_ENDS(name, fn)  \
    EF_COMPLEX1_FN(name##_most, fn) \
    EF_COMPLEX1_FN(name##_end, fn##_end) EF_COMPLEX_ENDS(name, 1)
#define EF_COMPLEX1(name, EXPR) \
    EF_TILE1(name, C64, ef_c64, ef_c64, EXPR) EF_TILE1(name, C128, ef_c128, ef_c128, EXPR)
#define EF_COMPLEX2(name, EXPR) \
    EF_TILE2(name, C64, ef_c64, ef_c64, EXPR) EF_TILE2(name, C128, ef_c128, ef_c128, EXPR)
/* Integers in their own type or, for WRAPS, in the unsigned type of the same width. */
#define EF_SIGNED1(name, EXPR)                  \
    EF_TILE1(name, I8, int8_t, int8_t, EXPR)    \
    EF_TILE1(name, I16, int16_t, int16_t, EXPR) \
    EF_TILE1(name, I32, int32_t, int32_t, EXPR) EF_TILE1(name, I64, int64_t, int64_t, EXPR)
#define EF_WRAPS1(name, EXPR)                     \
    EF_TILE1(name, U8, uint8_t, uint8_t, EXPR)    \
    EF_TILE1(name, U16, uint16_t, uint16_t, EXPR) \
    EF_TILE1(name, U32, uint32_t, uint32_t, EXPR) EF_TILE1(name, U64, uint64_t, uint64_t, EXPR)
#define EF_INTS1(name, EXPR) EF_SIGNED1(name, EXPR) EF_WRAPS1(name, EXPR)
#define EF_SIGNED2(name, EXPR)                  \
    EF_TILE2(name, I8, int8_t, int8_t, EXPR)    \
    EF_TILE2(name, I16, int16_t, int16_t, EXPR) \
    EF_TILE2(name, I32, int32_t, int32_t, EXPR) EF_TILE2(name, I64, int64_t, int64_t, EXPR)
#define EF_WRAPS2(name, EXPR)                     \
    EF_TILE2(name, U8, uint8_t, uint8_t, EXPR)    \
    EF_TILE2(name, U16, uint16_t, uint16_t, EXPR) \
    EF_TILE2(name, U32, uint32_t, uint32_t, EXPR) EF_TILE2(name, U64, uint64_t, uint64_t, EXPR)
#define EF_INTS2(name, EXPR) EF_SIGNED2(name, EXPR) EF_WRAPS2(name, EXPR)
/* Predicates: the result is a bool. */
#define EF_TEST1(name, SUF, T, EXPR) EF_TILE1(name, SUF, T, uint8_t, EXPR)
#define EF_TEST2(name, SUF, T, EXPR) EF_TILE2(name, SUF, T, uint8_t, EXPR)

/* Rows of a table indexed by dtype. */
#define EF_ROWS_FULL(n) [EF_F32] = n##_F32, [EF_F64] = n##_F64,
#define EF_ROWS_FLOAT(n) EF_ROWS_FULL(n)[EF_F16] = n##_F16, [EF_BF16] = n##_BF16,
#define EF_ROWS_COMPLEX(n) [EF_C64] = n##_C64, [EF_C128] = n##_C128,
#define EF_ROWS_SIGNED(n) \
    [EF_I8] = n##_I8, [EF_I16] = n##_I16, [EF_I32] = n##_I32, [EF_I64] = n##_I64,
#define EF_ROWS_UNSIGNED(n) \
    [EF_U8] = n##_U8, [EF_U16] = n##_U16, [EF_U32] = n##_U32, [EF_U64] = n##_U64,
#define EF_ROWS_INT(n) EF_ROWS_SIGNED(n) EF_ROWS_UNSIGNED(n)
#define EF_ROWS_WRAP_SIGNED(n) \
    [EF_I8] = n##_U8, [EF_I16] = n##_U16, [EF_I32] = n##_U32, [EF_I64] = n##_U64,
#define EF_ROWS_WRAP(n) EF_ROWS_WRAP_SIGNED(n) EF_ROWS_UNSIGNED(n)
#define EF_TILE_TABLE(name) static ef_tile_fn *const name##_tiles[EF_DTYPES]
#endif
