/* Accumulators of complex sums, products and norms are pairs of doubles; those of booleans are a
 * byte that is 0 or 1. */
#include "kernels/reducers_special.h"
#include <math.h>

typedef struct pair {
    double re, im;
} pair;

static inline pair add(pair a, double re, double im) { return (pair){a.re + re, a.im + im}; }
static inline pair times(pair a, double re, double im) {
    return (pair){a.re * re - a.im * im, a.re * im + a.im * re};
}
static inline pair add_square(pair a, double re, double im) {
    return (pair){a.re + re * re + im * im, 0};
}

#define WALK(name, T, STEP)                                                                        \
    static void rows_##name(void *acc_, const void *in, int64_t rows, int64_t stride, int64_t n) { \
        pair *acc = acc_;                                                                          \
        const T *p = in;                                                                           \
        for (int64_t r = 0; r < rows; r++, p += 2 * stride) {                                      \
            pair a = acc[r];                                                                       \
            for (int64_t i = 0; i < n; i++) a = STEP(a, p[2 * i], p[2 * i + 1]);                   \
            acc[r] = a;                                                                            \
        }                                                                                          \
    }                                                                                              \
    static void cols_##name(void *acc_, const void *in, int64_t rows, int64_t stride, int64_t n) { \
        pair *acc = acc_;                                                                          \
        const T *p = in;                                                                           \
        for (int64_t r = 0; r < rows; r++, p += 2 * stride)                                        \
            for (int64_t j = 0; j < n; j++) acc[j] = STEP(acc[j], p[2 * j], p[2 * j + 1]);         \
    }
#define MERGE(name, FIRST, STEP)                                                         \
    static void begin_##name(void *acc, int64_t n) {                                     \
        for (int64_t i = 0; i < n; i++) ((pair *)acc)[i] = (pair){FIRST, 0};             \
    }                                                                                    \
    static void merge_##name(void *acc_, const void *other_, int64_t n) {                \
        pair *acc = acc_;                                                                \
        const pair *other = other_;                                                      \
        for (int64_t i = 0; i < n; i++) acc[i] = STEP(acc[i], other[i].re, other[i].im); \
    }
#define END(name, T, RE, IM)                                                            \
    static void end_##name(void *out_, const void *acc_, int64_t n, int64_t count) {    \
        T *out = out_;                                                                  \
        const pair *acc = acc_;                                                         \
        (void)count;                                                                    \
        for (int64_t i = 0; i < n; i++) out[2 * i] = (T)(RE), out[2 * i + 1] = (T)(IM); \
    }
MERGE(sum, 0, add)
MERGE(prod, 1, times)
#define COMPLEX(SUF, T)                                       \
    WALK(sum_##SUF, T, add)                                   \
    WALK(prod_##SUF, T, times)                                \
    WALK(square_##SUF, T, add_square)                         \
    END(same_##SUF, T, acc[i].re, acc[i].im)                  \
    END(mean_##SUF, T, count ? acc[i].re / (double)count : 0, \
        count ? acc[i].im / (double)count : 0)                \
    END(norm_##SUF, T, sqrt(acc[i].re), 0)
COMPLEX(C64, float)
COMPLEX(C128, double)

#define LOGIC(name, FIRST, OP)                                                                     \
    static void begin_##name(void *acc, int64_t n) { memset(acc, FIRST, (size_t)n); }              \
    static void rows_##name(void *acc_, const void *in, int64_t rows, int64_t stride, int64_t n) { \
        uint8_t *acc = acc_;                                                                       \
        const uint8_t *p = in;                                                                     \
        for (int64_t r = 0; r < rows; r++, p += stride) {                                          \
            uint8_t a = acc[r];                                                                    \
            for (int64_t i = 0; i < n; i++) a OP p[i];                                             \
            acc[r] = a;                                                                            \
        }                                                                                          \
    }                                                                                              \
    static void cols_##name(void *acc_, const void *in, int64_t rows, int64_t stride, int64_t n) { \
        uint8_t *restrict acc = acc_;                                                              \
        const uint8_t *restrict p = in;                                                            \
        for (int64_t r = 0; r < rows; r++, p += stride)                                            \
            for (int64_t j = 0; j < n; j++) acc[j] OP p[j];                                        \
    }                                                                                              \
    static void merge_##name(void *acc, const void *other, int64_t n) {                            \
        cols_##name(acc, other, 1, n, n);                                                          \
    }
LOGIC(all, 1, &=)
LOGIC(any, 0, |=)
static void end_logic(void *out, const void *acc, int64_t n, int64_t count) {
    (void)count;
    memcpy(out, acc, (size_t)n);
}

#define ROWS(SUF)                                                         \
    {                                                                     \
        [EF_REDUCE_SUM] = {sizeof(pair),   begin_sum, rows_sum_##SUF,     \
                           cols_sum_##SUF, merge_sum, end_same_##SUF},    \
        [EF_REDUCE_MEAN] = {sizeof(pair),   begin_sum, rows_sum_##SUF,    \
                            cols_sum_##SUF, merge_sum, end_mean_##SUF},   \
        [EF_REDUCE_PROD] = {sizeof(pair),    begin_prod, rows_prod_##SUF, \
                            cols_prod_##SUF, merge_prod, end_same_##SUF}, \
        [EF_REDUCE_NORM] = {                                              \
            sizeof(pair),                                                 \
            begin_sum,                                                    \
            rows_square_##SUF,                                            \
            cols_square_##SUF,                                            \
            merge_sum,                                                    \
            end_norm_##SUF                                                \
        }                                                                 \
    }
static const ef_reducer of_c64[EF_REDUCE_KINDS] = ROWS(C64), of_c128[EF_REDUCE_KINDS] = ROWS(C128);
static const ef_reducer of_bool[EF_REDUCE_KINDS] = {
    [EF_REDUCE_ALL] = {1, begin_all, rows_all, cols_all, merge_all, end_logic},
    [EF_REDUCE_ANY] = {1, begin_any, rows_any, cols_any, merge_any, end_logic},
};

const ef_reducer *ef_reducer_special(ef_reduce_kind kind, ef_dtype t) {
    const ef_reducer *r = t == EF_C64    ? &of_c64[kind]
                          : t == EF_C128 ? &of_c128[kind]
                                         : &of_bool[kind];
    return r->begin != NULL ? r : NULL;
}
