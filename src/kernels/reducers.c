/* The arithmetic of reductions, expanded by macros for each kind and type. Sums of floats are
 * computed in float over chunks of at most 1024 elements, split over many lanes, and added to a
 * double after each chunk: at least as accurate as a tree of additions. Sums of integers wrap
 * modulo 2^64, which truncates to the right result for every narrower type and gives means their
 * full range. */
#include "kernels/reduce.h"
#include "kernels/reducers_special.h"
#include <float.h>
#include <math.h>

enum { STRETCH = 1024, BLOCK = 64 };

#define TEXT(...) #__VA_ARGS__
#define PRAGMA(...) _Pragma(TEXT(__VA_ARGS__))

#define BEGIN(name, A, FIRST)                             \
    static void begin_##name(void *acc_, int64_t n) {     \
        A *acc = acc_;                                    \
        for (int64_t i = 0; i < n; i++) acc[i] = (FIRST); \
    }

/* Sums. T: element, L: lane, A: accumulator, TERM: what element x adds. */
#define SUMS(name, T, L, A, TERM)                                                                  \
    BEGIN(name, A, 0)                                                                              \
    static inline L term_##name(T x) { return (L)(TERM); }                                         \
    static A stretch_##name(const T *p, int64_t n) {                                               \
        L s0 = 0, s1 = 0, s2 = 0, s3 = 0;                                                          \
        if (n < 32) {                                                                              \
            for (int64_t i = 0; i < n; i++) s0 += term_##name(p[i]);                               \
            return (A)s0;                                                                          \
        }                                                                                          \
        int64_t q = n / 32 * 8;                                                                    \
        PRAGMA(omp simd reduction(+ : s0, s1, s2, s3))                                             \
        for (int64_t i = 0; i < q; i++) {                                                          \
            s0 += term_##name(p[i]);                                                               \
            s1 += term_##name(p[q + i]);                                                           \
            s2 += term_##name(p[2 * q + i]);                                                       \
            s3 += term_##name(p[3 * q + i]);                                                       \
        }                                                                                          \
        L rest = 0;                                                                                \
        PRAGMA(omp simd reduction(+ : rest))                                                       \
        for (int64_t i = 4 * q; i < n; i++) rest += term_##name(p[i]);                             \
        return (A)((s0 + s1) + (s2 + s3) + rest);                                                  \
    }                                                                                              \
    static void rows_##name(void *acc_, const void *in, int64_t rows, int64_t stride, int64_t n) { \
        A *acc = acc_;                                                                             \
        const T *p = in;                                                                           \
        for (int64_t r = 0; r < rows; r++, p += stride)                                            \
            for (int64_t at = 0; at < n; at += STRETCH)                                            \
                acc[r] += stretch_##name(p + at, n - at < STRETCH ? n - at : STRETCH);             \
    }                                                                                              \
    static void block_##name(A *restrict acc, const T *restrict p, int64_t rows, int64_t s,        \
                             int64_t n) {                                                          \
        L sum[EF_REDUCE_WIDTH];                                                                    \
        int64_t r = 4;                                                                             \
        for (int64_t j = 0; j < n; j++)                                                            \
            sum[j] = (term_##name(p[j]) + term_##name(p[j + s])) +                                 \
                     (term_##name(p[j + 2 * s]) + term_##name(p[j + 3 * s]));                      \
        for (; r + 4 <= rows; r += 4) {                                                            \
            const T *q = p + r * s;                                                                \
            for (int64_t j = 0; j < n; j++)                                                        \
                sum[j] += (term_##name(q[j]) + term_##name(q[j + s])) +                            \
                          (term_##name(q[j + 2 * s]) + term_##name(q[j + 3 * s]));                 \
        }                                                                                          \
        for (; r < rows; r++)                                                                      \
            for (int64_t j = 0; j < n; j++) sum[j] += term_##name(p[j + r * s]);                   \
        for (int64_t j = 0; j < n; j++) acc[j] += (A)sum[j];                                       \
    }                                                                                              \
    static void cols_##name(void *acc_, const void *in, int64_t rows, int64_t stride, int64_t n) { \
        A *acc = acc_;                                                                             \
        const T *p = in;                                                                           \
        for (int64_t r = 0; r < rows; r += BLOCK, p += BLOCK * stride) {                           \
            int64_t m = rows - r < BLOCK ? rows - r : BLOCK;                                       \
            if (m >= 4)                                                                            \
                block_##name(acc, p, m, stride, n);                                                \
            else                                                                                   \
                for (int64_t u = 0; u < m; u++)                                                    \
                    for (int64_t j = 0; j < n; j++) acc[j] += (A)term_##name(p[u * stride + j]);   \
        }                                                                                          \
    }                                                                                              \
    static void merge_##name(void *acc_, const void *other_, int64_t n) {                          \
        A *acc = acc_;                                                                             \
        const A *other = other_;                                                                   \
        for (int64_t i = 0; i < n; i++) acc[i] += other[i];                                        \
    }

/* Kinds whose accumulator is an element x of lane type L: OP combines x with m. Combining the lanes
 * of a vector may lose values that only OP keeps: elements for which NAN_OF is true are combined
 * again. */
#define FOLDS(name, T, L, FIRST, OMP, OP, NAN_OF)                                                  \
    BEGIN(name, L, FIRST)                                                                          \
    static inline L fold_##name(L m, L x) { return (L)OP(m, x); }                                  \
    static L stretch_##name(const T *p, int64_t n) {                                               \
        L s0 = (FIRST), s1 = (FIRST), s2 = (FIRST), s3 = (FIRST);                                  \
        int bad = 0;                                                                               \
        if (n < 32) {                                                                              \
            for (int64_t i = 0; i < n; i++) s0 = fold_##name(s0, (L)p[i]);                         \
            return s0;                                                                             \
        }                                                                                          \
        int64_t q = n / 4;                                                                         \
        PRAGMA(omp simd reduction(OMP : s0, s1, s2, s3) reduction(| : bad))                        \
        for (int64_t i = 0; i < q; i++) {                                                          \
            L x = (L)p[i], y = (L)p[q + i], z = (L)p[2 * q + i], w = (L)p[3 * q + i];              \
            bad |= (NAN_OF(x)) | (NAN_OF(y)) | (NAN_OF(z)) | (NAN_OF(w));                          \
            s0 = (L)OP(s0, x);                                                                     \
            s1 = (L)OP(s1, y);                                                                     \
            s2 = (L)OP(s2, z);                                                                     \
            s3 = (L)OP(s3, w);                                                                     \
        }                                                                                          \
        L m = fold_##name(fold_##name(s0, s1), fold_##name(s2, s3));                               \
        for (int64_t i = bad ? 0 : 4 * q; i < n; i++) m = fold_##name(m, (L)p[i]);                 \
        return m;                                                                                  \
    }                                                                                              \
    static void rows_##name(void *acc_, const void *in, int64_t rows, int64_t stride, int64_t n) { \
        L *acc = acc_;                                                                             \
        const T *p = in;                                                                           \
        for (int64_t r = 0; r < rows; r++, p += stride)                                            \
            acc[r] = fold_##name(acc[r], stretch_##name(p, n));                                    \
    }                                                                                              \
    static void cols_##name(void *acc_, const void *in, int64_t rows, int64_t stride, int64_t n) { \
        L *restrict acc = acc_;                                                                    \
        const T *restrict p = in;                                                                  \
        for (int64_t r = 0; r < rows; r++, p += stride)                                            \
            for (int64_t j = 0; j < n; j++) {                                                      \
                L m = acc[j], x = (L)p[j];                                                         \
                acc[j] = (L)OP(m, x);                                                              \
            }                                                                                      \
    }                                                                                              \
    static void merge_##name(void *acc_, const void *other_, int64_t n) {                          \
        L *acc = acc_;                                                                             \
        const L *other = other_;                                                                   \
        for (int64_t i = 0; i < n; i++) acc[i] = fold_##name(acc[i], other[i]);                    \
    }

/* VALUE reads a (the accumulator) and count. */
#define END(name, T, A, VALUE)                                                       \
    static void end_##name(void *out_, const void *acc_, int64_t n, int64_t count) { \
        T *out = out_;                                                               \
        const A *acc = acc_;                                                         \
        (void)count;                                                                 \
        for (int64_t i = 0; i < n; i++) {                                            \
            A a = acc[i];                                                            \
            out[i] = (T)(VALUE);                                                     \
        }                                                                            \
    }

#define IS_NAN(x) ((x) != (x))
#define NEVER(x) 0
#define LARGER(m, x) ((x) > (m) ? (x) : (m))
#define SMALLER(m, x) ((x) < (m) ? (x) : (m))
/* Once m is NaN, it stays NaN. */
#define LARGER_NAN(m, x) (((x) > (m)) | ((x) != (x)) ? (x) : (m))
#define SMALLER_NAN(m, x) (((x) < (m)) | ((x) != (x)) ? (x) : (m))
#define TIMES(m, x) ((m) * (x))

/* -- floats -- */
#define FLOATS(SUF, T)                                            \
    SUMS(sum_##SUF, T, T, double, x)                              \
    SUMS(square_##SUF, T, T, double, x *x)                        \
    FOLDS(prod_##SUF, T, T, 1, *, TIMES, NEVER)                   \
    FOLDS(max_##SUF, T, T, -(T)INFINITY, max, LARGER_NAN, IS_NAN) \
    FOLDS(min_##SUF, T, T, (T)INFINITY, min, SMALLER_NAN, IS_NAN) \
    END(sum_##SUF, T, double, a)                                  \
    END(mean_##SUF, T, double, a / (double)count)                 \
    END(norm_##SUF, T, double, sqrt(a))                           \
    END(l2_##SUF, T, double, a / 2)                               \
    END(same_##SUF, T, T, a)
FLOATS(F32, float)
FLOATS(F64, double)

/* -- 16-bit floats: chunks are converted to float and given to the float reducer -- */
#define HALF(name, WIDEN, T, A)                                                                  \
    static void rows_##name(void *acc_, const void *in, int64_t rows, int64_t stride, int64_t n, \
                            void (*wide)(void *, const void *, int64_t, int64_t, int64_t)) {     \
        A *acc = acc_;                                                                           \
        const T *p = in;                                                                         \
        float x[STRETCH];                                                                        \
        for (int64_t r = 0; r < rows; r++, p += stride)                                          \
            for (int64_t at = 0; at < n; at += STRETCH) {                                        \
                int64_t m = n - at < STRETCH ? n - at : STRETCH;                                 \
                WIDEN(x, p + at, (size_t)m);                                                     \
                wide(acc + r, x, 1, m, m);                                                       \
            }                                                                                    \
    }
static void widen_bf16(float *out, const ef_bf16 *in, size_t n) {
    for (size_t i = 0; i < n; i++) out[i] = ef_bf16_float(in[i]);
}
HALF(half_F16_double, ef_f16_to_f32, ef_f16, double)
HALF(half_F16_float, ef_f16_to_f32, ef_f16, float)
HALF(half_BF16_double, widen_bf16, ef_bf16, double)
HALF(half_BF16_float, widen_bf16, ef_bf16, float)
#define HALF_KIND(kind, SUF, T, A, WIDEN)                                                    \
    static void rows_##kind##_##SUF(void *acc, const void *in, int64_t rows, int64_t stride, \
                                    int64_t n) {                                             \
        rows_half_##SUF##_##A(acc, in, rows, stride, n, rows_##kind##_F32);                  \
    }                                                                                        \
    static void cols_##kind##_##SUF(void *acc, const void *in, int64_t rows, int64_t stride, \
                                    int64_t n) {                                             \
        const T *p = in;                                                                     \
        float x[EF_REDUCE_WIDTH];                                                            \
        for (int64_t r = 0; r < rows; r++, p += stride) {                                    \
            WIDEN(x, p, (size_t)n);                                                          \
            cols_##kind##_F32(acc, x, 1, n, n);                                              \
        }                                                                                    \
    }
#define HALF_END(kind, SUF, T, NARROW)                                                       \
    static void end_##kind##_##SUF(void *out_, const void *acc_, int64_t n, int64_t count) { \
        T *out = out_;                                                                       \
        const char *acc = acc_;                                                              \
        for (int64_t i = 0; i < n; i++) {                                                    \
            float x;                                                                         \
            end_##kind##_F32(&x, acc, 1, count);                                             \
            out[i] = NARROW(x);                                                              \
            acc += sizeof_##kind;                                                            \
        }                                                                                    \
    }
enum {
    sizeof_sum = sizeof(double),
    sizeof_mean = sizeof(double),
    sizeof_norm = sizeof(double),
    sizeof_l2 = sizeof(double),
    sizeof_same = sizeof(float)
};
#define HALVES(SUF, T, WIDEN, NARROW)        \
    HALF_KIND(sum, SUF, T, double, WIDEN)    \
    HALF_KIND(square, SUF, T, double, WIDEN) \
    HALF_KIND(prod, SUF, T, float, WIDEN)    \
    HALF_KIND(max, SUF, T, float, WIDEN)     \
    HALF_KIND(min, SUF, T, float, WIDEN)     \
    HALF_END(sum, SUF, T, NARROW)            \
    HALF_END(mean, SUF, T, NARROW)           \
    HALF_END(norm, SUF, T, NARROW)           \
    HALF_END(l2, SUF, T, NARROW)             \
    HALF_END(same, SUF, T, NARROW)
HALVES(F16, ef_f16, ef_f16_to_f32, ef_float_f16)
HALVES(BF16, ef_bf16, widen_bf16, ef_float_bf16)

/* -- integers. S: the 64-bit type of the same sign; P: unsigned type in which products wrap -- */
#define INTS(SUF, T, S, P, LOWEST, HIGHEST)                                   \
    SUMS(sum_##SUF, T, uint64_t, uint64_t, (S)x)                              \
    SUMS(square_##SUF, T, uint64_t, uint64_t, (uint64_t)(S)x *(uint64_t)(S)x) \
    FOLDS(prod_##SUF, T, P, 1, *, TIMES, NEVER)                               \
    FOLDS(max_##SUF, T, T, LOWEST, max, LARGER, NEVER)                        \
    FOLDS(min_##SUF, T, T, HIGHEST, min, SMALLER, NEVER)                      \
    END(sum_##SUF, T, uint64_t, a)                                            \
    END(mean_##SUF, T, uint64_t, count == 0 ? 0 : (S)a / (S)count)            \
    END(norm_##SUF, T, uint64_t, root_##SUF((T)a))                            \
    END(prod_##SUF, T, P, a)                                                  \
    END(same_##SUF, T, T, a)
/* A sum that wrapped below zero has no root; this is what the machine converts that to. */
#define ROOT_U(SUF, T) \
    static T root_##SUF(T a) { return (T)sqrt((double)a); }
static int8_t root_I8(int8_t a) { return a < 0 ? 0 : (int8_t)sqrt(a); }
static int16_t root_I16(int16_t a) { return a < 0 ? 0 : (int16_t)sqrt(a); }
static int32_t root_I32(int32_t a) { return a < 0 ? INT32_MIN : (int32_t)sqrt(a); }
static int64_t root_I64(int64_t a) { return a < 0 ? INT64_MIN : (int64_t)sqrt((double)a); }
EF_EACH_UNSIGNED(ROOT_U)
INTS(I8, int8_t, int64_t, uint32_t, INT8_MIN, INT8_MAX)
INTS(I16, int16_t, int64_t, uint32_t, INT16_MIN, INT16_MAX)
INTS(I32, int32_t, int64_t, uint32_t, INT32_MIN, INT32_MAX)
INTS(I64, int64_t, int64_t, uint64_t, INT64_MIN, INT64_MAX)
INTS(U8, uint8_t, uint64_t, uint32_t, 0, UINT8_MAX)
INTS(U16, uint16_t, uint64_t, uint32_t, 0, UINT16_MAX)
INTS(U32, uint32_t, uint64_t, uint32_t, 0, UINT32_MAX)
INTS(U64, uint64_t, uint64_t, uint64_t, 0, UINT64_MAX)

#define ROW(kind, SUF, AFTER, A) \
    [EF_##SUF] = {sizeof(A), begin_##kind, rows_##kind, cols_##kind, merge_##kind, end_##AFTER},
#define FLOAT_ROW(kind, after, SUF, A) ROW(kind##_##SUF, SUF, after##_##SUF, A)
/* 16-bit floats start and merge like floats. */
#define HALF_ROW(kind, after, SUF, A)                                           \
    [EF_##SUF] = {sizeof(A),           begin_##kind##_F32, rows_##kind##_##SUF, \
                  cols_##kind##_##SUF, merge_##kind##_F32, end_##after##_##SUF},
#define WIDE_FLOATS(kind, after)        \
    FLOAT_ROW(kind, after, F32, double) \
    FLOAT_ROW(kind, after, F64, double) \
    HALF_ROW(kind, after, F16, double)  \
    HALF_ROW(kind, after, BF16, double)
#define OWN_FLOATS(kind)               \
    FLOAT_ROW(kind, same, F32, float)  \
    FLOAT_ROW(kind, same, F64, double) \
    HALF_ROW(kind, same, F16, float)   \
    HALF_ROW(kind, same, BF16, float)
#define SUM_INT(SUF, T) ROW(sum_##SUF, SUF, sum_##SUF, uint64_t)
#define MEAN_INT(SUF, T) ROW(sum_##SUF, SUF, mean_##SUF, uint64_t)
#define NORM_INT(SUF, T) ROW(square_##SUF, SUF, norm_##SUF, uint64_t)
#define MAX_INT(SUF, T) ROW(max_##SUF, SUF, same_##SUF, T)
#define MIN_INT(SUF, T) ROW(min_##SUF, SUF, same_##SUF, T)
#define PROD_INT(SUF, A) ROW(prod_##SUF, SUF, prod_##SUF, A)

static const ef_reducer reducers[EF_REDUCE_KINDS][EF_DTYPES] = {
    [EF_REDUCE_SUM] = {WIDE_FLOATS(sum, sum) EF_EACH_INT(SUM_INT)},
    [EF_REDUCE_MEAN] = {WIDE_FLOATS(sum, mean) EF_EACH_INT(MEAN_INT)},
    [EF_REDUCE_NORM] = {WIDE_FLOATS(square, norm) EF_EACH_INT(NORM_INT)},
    [EF_REDUCE_L2_LOSS] = {WIDE_FLOATS(square, l2)},
    [EF_REDUCE_MAX] = {OWN_FLOATS(max) EF_EACH_INT(MAX_INT)},
    [EF_REDUCE_MIN] = {OWN_FLOATS(min) EF_EACH_INT(MIN_INT)},
    [EF_REDUCE_PROD] = {OWN_FLOATS(prod) PROD_INT(I8, uint32_t) PROD_INT(I16, uint32_t) PROD_INT(
        I32, uint32_t) PROD_INT(I64, uint64_t) PROD_INT(U8, uint32_t) PROD_INT(U16, uint32_t)
                            PROD_INT(U32, uint32_t) PROD_INT(U64, uint64_t)},
};

const ef_reducer *ef_reducer_find(ef_reduce_kind kind, ef_dtype t) {
    if (kind >= EF_REDUCE_KINDS || t >= EF_DTYPES) return NULL;
    if (t == EF_BOOL || ef_dtype_in(t, EF_COMPLEX)) return ef_reducer_special(kind, t);
    const ef_reducer *r = &reducers[kind][t];
    return r->begin != NULL ? r : NULL;
}
