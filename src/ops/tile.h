/* Stamps the inner loops of elementwise ops: one small loop per dtype and per way of broadcasting a
 * scalar operand, which the compiler turns into vector code. An expression reads x (and y, z) and,
 * if need be, `at` (the op's attributes, cast by the expression itself).
 *
 *   EF_TILE2(add, F32, float, float, x + y)            one dtype: name_F32, in type, out type
 *   EF_TILE2_16(add, F32-style expression)             stamps F16 and BF16, computing in float
 *
 * A table by dtype is then  static ef_tile_fn *const add_tiles[EF_DTYPES] = {[EF_F32] = add_F32, ...};
 * EF_TILES2(name, EXPR) and friends below do it all for the common sets of dtypes. */
#ifndef EF_OPS_TILE_H
#define EF_OPS_TILE_H
#include "ops/op.h"

#define EF_UNUSED_ARGS (void)scalars, (void)attrs
/* omp simd: iterations are independent even when out is the very address of an input. */
#define EF_SIMD _Pragma("omp simd")

#define EF_TILE1(name, SUF, TI, TO, EXPR)                                                          \
    static void name##_##SUF(void *out_, const void *const *in_, int64_t n, unsigned scalars,      \
                             const void *attrs) {                                                  \
        TO *o = out_;                                                                              \
        const TI *a = in_[0];                                                                      \
        EF_UNUSED_ARGS;                                                                            \
        EF_SIMD for (int64_t i = 0; i < n; i++) {                                                  \
            TI x = a[i];                                                                           \
            o[i] = (TO)(EXPR);                                                                     \
        }                                                                                          \
    }
#define EF_TILE2(name, SUF, TI, TO, EXPR)                                                          \
    static void name##_##SUF(void *out_, const void *const *in_, int64_t n, unsigned scalars,      \
                             const void *attrs) {                                                  \
        TO *o = out_;                                                                              \
        const TI *a = in_[0], *b = in_[1];                                                         \
        EF_UNUSED_ARGS;                                                                            \
        if (scalars == 0) {                                                                        \
            EF_SIMD for (int64_t i = 0; i < n; i++) {                                              \
                TI x = a[i], y = b[i];                                                             \
                o[i] = (TO)(EXPR);                                                                 \
            }                                                                                      \
        } else if (scalars == 1) {                                                                 \
            TI x = a[0];                                                                           \
            EF_SIMD for (int64_t i = 0; i < n; i++) {                                              \
                TI y = b[i];                                                                       \
                o[i] = (TO)(EXPR);                                                                 \
            }                                                                                      \
        } else if (scalars == 2) {                                                                 \
            TI y = b[0];                                                                           \
            EF_SIMD for (int64_t i = 0; i < n; i++) {                                              \
                TI x = a[i];                                                                       \
                o[i] = (TO)(EXPR);                                                                 \
            }                                                                                      \
        } else {                                                                                   \
            TI x = a[0], y = b[0];                                                                 \
            TO r = (TO)(EXPR);                                                                     \
            for (int64_t i = 0; i < n; i++) o[i] = r;                                              \
        }                                                                                          \
    }
/* 16-bit floats: load as float, compute, round once. */
#define EF_TILE1_16(name, SUF, T, LOAD, STORE, TO, EXPR)                                           \
    static void name##_##SUF(void *out_, const void *const *in_, int64_t n, unsigned scalars,      \
                             const void *attrs) {                                                  \
        TO *o = out_;                                                                              \
        const T *a = in_[0];                                                                       \
        EF_UNUSED_ARGS;                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float x = LOAD(a[i]);                                                                  \
            o[i] = STORE(EXPR);                                                                    \
        }                                                                                          \
    }
#define EF_TILE2_16(name, SUF, T, LOAD, STORE, TO, EXPR)                                           \
    static void name##_##SUF(void *out_, const void *const *in_, int64_t n, unsigned scalars,      \
                             const void *attrs) {                                                  \
        TO *o = out_;                                                                              \
        const T *a = in_[0], *b = in_[1];                                                          \
        int64_t sa = !(scalars & 1), sb = !(scalars & 2);                                          \
        EF_UNUSED_ARGS;                                                                            \
        for (int64_t i = 0; i < n; i++) {                                                          \
            float x = LOAD(a[i * sa]), y = LOAD(b[i * sb]);                                        \
            o[i] = STORE(EXPR);                                                                    \
        }                                                                                          \
    }
#endif
