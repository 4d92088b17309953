/* One loop per op and dtype. Integer arithmetic wraps, so it is done in the unsigned type. */
#include "kernels/combine.h"
#include "base/pool.h"

#define LOOP(name, SUF, T, EXPR)                                                \
    static void name##_##SUF(void *dst, const void *src, int64_t n, int step) { \
        T *d = dst;                                                             \
        const T *s = src;                                                       \
        if (step != 0) {                                                        \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) {               \
                const T x = d[i], y = s[i];                                     \
                d[i] = (T)(EXPR);                                               \
            }                                                                   \
        } else {                                                                \
            const T y = s[0];                                                   \
            _Pragma("omp simd") for (int64_t i = 0; i < n; i++) {               \
                const T x = d[i];                                               \
                (void)x;                                                        \
                d[i] = (T)(EXPR);                                               \
            }                                                                   \
        }                                                                       \
    }
#define LOOP_16(name, SUF, T, LOAD, STORE, EXPR)                                \
    static void name##_##SUF(void *dst, const void *src, int64_t n, int step) { \
        T *d = dst;                                                             \
        const T *s = src;                                                       \
        for (int64_t i = 0; i < n; i++) {                                       \
            const float x = LOAD(d[i]), y = LOAD(s[i * step]);                  \
            d[i] = STORE(EXPR);                                                 \
        }                                                                       \
    }
#define HALVES(name, EXPR)                                       \
    LOOP_16(name, F16, ef_f16, ef_f16_float, ef_float_f16, EXPR) \
    LOOP_16(name, BF16, ef_bf16, ef_bf16_float, ef_float_bf16, EXPR)

/* Small types are promoted to int, where nothing overflows but a product of two uint16_t: hence
 * 1u. */
#define ADD(SUF, T) LOOP(add, SUF, T, x + y)
#define SUB(SUF, T) LOOP(sub, SUF, T, x - y)
#define MUL(SUF, T) LOOP(mul, SUF, T, x *y)
#define UADD(SUF, T) LOOP(add, SUF, T, 1u * x + y)
#define USUB(SUF, T) LOOP(sub, SUF, T, 1u * x - y)
#define UMUL(SUF, T) LOOP(mul, SUF, T, 1u * x * y)
#define WRAP(name, SUF, T, U, OP) LOOP(name, SUF, T, (U)x OP(U) y)
#define DIV(SUF, T) LOOP(div, SUF, T, x / y)
/* The only quotient that does not fit is that of y = -1: negate modulo 2^n instead. */
#define IDIV(SUF, T, U) LOOP(div, SUF, T, y == -1 ? (T)(0 - (U)x) : (T)(x / y))
#define MIN(SUF, T) LOOP(min, SUF, T, y < x ? y : x)
#define MAX(SUF, T) LOOP(max, SUF, T, y > x ? y : x)

EF_EACH_FULL_FLOAT(ADD)
EF_EACH_COMPLEX(ADD)
EF_EACH_UNSIGNED(UADD)
EF_EACH_FULL_FLOAT(SUB)
EF_EACH_COMPLEX(SUB)
EF_EACH_UNSIGNED(USUB)
EF_EACH_FULL_FLOAT(MUL)
EF_EACH_COMPLEX(MUL)
EF_EACH_UNSIGNED(UMUL)
EF_EACH_FULL_FLOAT(DIV)
EF_EACH_COMPLEX(DIV)
EF_EACH_UNSIGNED(DIV)
#define SIGNED(SUF, T, U) \
    WRAP(add, SUF, T, U, +) WRAP(sub, SUF, T, U, -) WRAP(mul, SUF, T, U, *) IDIV(SUF, T, U)
#define EACH_SIGNED              \
    SIGNED(I8, int8_t, unsigned) \
    SIGNED(I16, int16_t, unsigned) SIGNED(I32, int32_t, uint32_t) SIGNED(I64, int64_t, uint64_t)
EACH_SIGNED
EF_EACH_INT(MIN)
EF_EACH_FULL_FLOAT(MIN)
EF_EACH_INT(MAX)
EF_EACH_FULL_FLOAT(MAX)
#define EACH_HALF      \
    HALVES(add, x + y) \
    HALVES(sub, x - y) \
    HALVES(mul, x *y) HALVES(div, x / y) HALVES(min, y < x ? y : x) HALVES(max, y > x ? y : x)
EACH_HALF
#define EACH_BOOL LOOP(add, BOOL, bool, x || y) LOOP(sub, BOOL, bool, x != y)
EACH_BOOL

static void set_bytes(char *d, const char *s, int64_t n, int step, size_t size) {
    if (step != 0) {
        memcpy(d, s, (size_t)n * size);
    } else {
        for (int64_t i = 0; i < n; i++) memcpy(d + (size_t)i * size, s, size);
    }
}
#define SET(SUF, T)                                                      \
    static void set_##SUF(void *d, const void *s, int64_t n, int step) { \
        set_bytes(d, s, n, step, sizeof(T));                             \
    }
EF_EACH_INT(SET)
EF_EACH_FULL_FLOAT(SET)
EF_EACH_HALF(SET)
EF_EACH_COMPLEX(SET)
SET(BOOL, bool)
SET(F8E5M2, uint8_t)
SET(F8E4M3FN, uint8_t)

#define ROW_SET(SUF, T) [EF_COMBINE_SET][EF_##SUF] = set_##SUF,
#define ROW_ALL(SUF, T)                                                             \
    [EF_COMBINE_ADD][EF_##SUF] = add_##SUF, [EF_COMBINE_SUB][EF_##SUF] = sub_##SUF, \
    [EF_COMBINE_MUL][EF_##SUF] = mul_##SUF, [EF_COMBINE_DIV][EF_##SUF] = div_##SUF,
#define ROW_ORDER(SUF, T) \
    [EF_COMBINE_MIN][EF_##SUF] = min_##SUF, [EF_COMBINE_MAX][EF_##SUF] = max_##SUF,
static ef_combine_fn *const table[EF_COMBINES][EF_DTYPES] = {
    EF_EACH_INT(ROW_SET) EF_EACH_FULL_FLOAT(ROW_SET) EF_EACH_HALF(ROW_SET) EF_EACH_COMPLEX(ROW_SET)
        EF_EACH_INT(ROW_ALL) EF_EACH_FULL_FLOAT(ROW_ALL) EF_EACH_HALF(ROW_ALL)
            EF_EACH_COMPLEX(ROW_ALL) EF_EACH_INT(ROW_ORDER) EF_EACH_FULL_FLOAT(ROW_ORDER)
                EF_EACH_HALF(ROW_ORDER)[EF_COMBINE_SET][EF_BOOL] = set_BOOL,
    [EF_COMBINE_SET][EF_F8E5M2] = set_F8E5M2,
    [EF_COMBINE_SET][EF_F8E4M3FN] = set_F8E4M3FN,
    [EF_COMBINE_ADD][EF_BOOL] = add_BOOL,
    [EF_COMBINE_SUB][EF_BOOL] = sub_BOOL,
};

ef_combine_fn *ef_combine_pick(ef_combine op, ef_dtype t) {
    return (unsigned)t < EF_DTYPES ? table[op][t] : NULL;
}

typedef struct all_job {
    ef_combine_fn *fn;
    size_t size;
    char *dst;
    const char *src;
} all_job;
static void all_range(void *arg, int64_t begin, int64_t end) {
    const all_job *j = arg;
    size_t at = (size_t)begin * j->size;
    j->fn(j->dst + at, j->src + at, end - begin, 1);
}

void ef_combine_all(ef_combine_fn *fn, ef_dtype t, void *dst, const void *src, int64_t n) {
    all_job job = {fn, ef_dtype_size(t), dst, src};
    ef_parallel(n, 1024, t == EF_F16 || t == EF_BF16 ? 2.0 : 0.3, all_range, &job);
}
