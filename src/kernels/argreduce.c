/* Rows: finds the extreme value of each chunk of a row, which vectorises, then its index in the
 * best chunk. Columns: keeps the best value and index so far for a range of columns, row by row. */
#include "kernels/argreduce.h"
#include "base/pool.h"
#include <math.h>

enum { ABREAST = 256, STRETCH = 256 };

#define MORE(x, y) ((x) > (y))
#define LESS(x, y) ((x) < (y))
#define SAME(x) (x)

/* V: type compared; VALUE converts an element; WORST is worse than every other value. */
#define FIND(name, T, V, VALUE, BETTER, WORST, OMP)                                         \
    static V extreme_##name(const T *p, int64_t n) {                                        \
        V best = (WORST), b1 = best, b2 = best, b3 = best;                                  \
        int64_t q = n / 32 * 8;                                                             \
        _Pragma(OMP) for (int64_t i = 0; i < q; i++) {                                      \
            V x = VALUE(p[i]), x1 = VALUE(p[q + i]);                                        \
            V x2 = VALUE(p[2 * q + i]), x3 = VALUE(p[3 * q + i]);                           \
            best = BETTER(x, best) ? x : best;                                              \
            b1 = BETTER(x1, b1) ? x1 : b1;                                                  \
            b2 = BETTER(x2, b2) ? x2 : b2;                                                  \
            b3 = BETTER(x3, b3) ? x3 : b3;                                                  \
        }                                                                                   \
        best = BETTER(b1, best) ? b1 : best;                                                \
        b2 = BETTER(b3, b2) ? b3 : b2;                                                      \
        best = BETTER(b2, best) ? b2 : best;                                                \
        for (int64_t i = 4 * q; i < n; i++) {                                               \
            V x = VALUE(p[i]);                                                              \
            best = BETTER(x, best) ? x : best;                                              \
        }                                                                                   \
        return best;                                                                        \
    }                                                                                       \
    static int64_t row_##name(const T *p, int64_t n) {                                      \
        V best = (WORST);                                                                   \
        int64_t k = -1;                                                                     \
        for (int64_t at = 0; at < n; at += STRETCH) {                                       \
            V x = extreme_##name(p + at, n - at < STRETCH ? n - at : STRETCH);              \
            if (BETTER(x, best)) best = x, k = at;                                          \
        }                                                                                   \
        if (k < 0) return 0;                                                                \
        while (VALUE(p[k]) != best) k++;                                                    \
        return k;                                                                           \
    }                                                                                       \
    static void cols_##name(const T *p, int64_t n, int64_t step, int64_t w, int64_t *at) {  \
        V best[ABREAST];                                                                    \
        for (int64_t j = 0; j < w; j++) best[j] = (WORST), at[j] = 0;                       \
        for (int64_t i = 0; i < n; i++, p += step)                                          \
            for (int64_t j = 0; j < w; j++) {                                               \
                V x = VALUE(p[j]);                                                          \
                bool wins = BETTER(x, best[j]);                                             \
                best[j] = wins ? x : best[j];                                               \
                at[j] = wins ? i : at[j];                                                   \
            }                                                                               \
    }                                                                                       \
    static void find_##name(const ef_argreduce *a, int64_t start, int64_t w, int64_t *at) { \
        const T *p = (const T *)a->in + start;                                              \
        if (a->inner == 1)                                                                  \
            at[0] = row_##name(p, a->n);                                                    \
        else                                                                                \
            cols_##name(p, a->n, a->inner, w, at);                                          \
    }
#define BOTH(SUF, T, V, VALUE, LOWEST, HIGHEST)                                              \
    FIND(max_##SUF, T, V, VALUE, MORE, LOWEST, "omp simd reduction(max : best, b1, b2, b3)") \
    FIND(min_##SUF, T, V, VALUE, LESS, HIGHEST, "omp simd reduction(min : best, b1, b2, b3)")
BOTH(F32, float, float, SAME, -INFINITY, INFINITY)
BOTH(F64, double, double, SAME, -(double)INFINITY, (double)INFINITY)
BOTH(F16, ef_f16, float, ef_f16_float, -INFINITY, INFINITY)
BOTH(BF16, ef_bf16, float, ef_bf16_float, -INFINITY, INFINITY)
BOTH(I8, int8_t, int8_t, SAME, INT8_MIN, INT8_MAX)
BOTH(I16, int16_t, int16_t, SAME, INT16_MIN, INT16_MAX)
BOTH(I32, int32_t, int32_t, SAME, INT32_MIN, INT32_MAX)
BOTH(I64, int64_t, int64_t, SAME, INT64_MIN, INT64_MAX)
BOTH(U8, uint8_t, uint8_t, SAME, 0, UINT8_MAX)
BOTH(U16, uint16_t, uint16_t, SAME, 0, UINT16_MAX)
BOTH(U32, uint32_t, uint32_t, SAME, 0, UINT32_MAX)
BOTH(U64, uint64_t, uint64_t, SAME, 0, UINT64_MAX)

typedef void find_fn(const ef_argreduce *a, int64_t start, int64_t w, int64_t *at);
#define MAX_ROW(SUF, T) [EF_##SUF] = find_max_##SUF,
#define MIN_ROW(SUF, T) [EF_##SUF] = find_min_##SUF,
#define REALS(X) EF_EACH_INT(X) EF_EACH_FULL_FLOAT(X) EF_EACH_HALF(X)
static find_fn *const table[2][EF_DTYPES] = {
    {REALS(MAX_ROW)[EF_BOOL] = find_max_U8},
    {REALS(MIN_ROW)[EF_BOOL] = find_min_U8},
};

static void put(const ef_argreduce *a, int64_t at, const int64_t *v, int64_t n) {
    for (int64_t j = 0; j < n; j++) {
        switch (a->out_type) {
        case EF_I64: ((int64_t *)a->out)[at + j] = v[j]; break;
        case EF_I32: ((int32_t *)a->out)[at + j] = (int32_t)v[j]; break;
        case EF_U16: ((uint16_t *)a->out)[at + j] = (uint16_t)v[j]; break;
        default: ((int16_t *)a->out)[at + j] = (int16_t)v[j]; break;
        }
    }
}

static void run_range(void *arg, int64_t from, int64_t to) {
    const ef_argreduce *a = arg;
    find_fn *find = table[a->smallest][a->dtype];
    int64_t per = (a->inner + ABREAST - 1) / ABREAST, at[ABREAST];
    for (int64_t i = from; i < to; i++) {
        int64_t lo = i % per * ABREAST, w = a->inner - lo < ABREAST ? a->inner - lo : ABREAST;
        find(a, i / per * a->n * a->inner + lo, w, at);
        put(a, i / per * a->inner + lo, at, w);
    }
}

void ef_argreduce_run(const ef_argreduce *a) {
    if (a->outer == 0 || a->inner == 0) return;
    int64_t per = (a->inner + ABREAST - 1) / ABREAST;
    double width = (double)(a->inner < ABREAST ? a->inner : ABREAST);
    ef_parallel(a->outer * per, 1, 0.4 * width * (double)a->n, run_range, (void *)(uintptr_t)a);
}
