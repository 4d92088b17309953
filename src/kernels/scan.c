/* One 1-D line of elements at a time or, if there are inner axes, a range of adjacent lines
 * together, which vectorises. 16-bit floats accumulate in float. */
#include "kernels/scan.h"
#include "base/pool.h"
#include <math.h>

enum { ABREAST = 64 };

static inline double log_add(double a, double b) {
    double high = a < b ? b : a, low = b < a ? b : a; /* NaN loses, as in TensorFlow */
    return low > -(double)INFINITY ? high + log1p(exp(low - high)) : high;
}
static inline float log_addf(float a, float b) { return (float)log_add(a, b); }

/* Lines [0, w) that start at in; the elements of a line are `step` apart. A is the type of the
 * accumulator; GET and PUT convert. */
#define LINES(name, T, A, FIRST, OP, GET, PUT)                                           \
    static void lines_##name(const ef_scan *s, int64_t start, int64_t w) {               \
        A carry[ABREAST];                                                                \
        const T *in = (const T *)s->in + start;                                          \
        T *out = (T *)s->out + start;                                                    \
        int64_t step = s->inner;                                                         \
        if (s->reverse) in += (s->n - 1) * step, out += (s->n - 1) * step, step = -step; \
        if (w == 1) { /* one line: the accumulator stays in a register */                \
            A sum = (FIRST);                                                             \
            for (int64_t i = 0; i < s->n; i++, in += step, out += step) {                \
                A next = (A)OP(sum, GET(*in));                                           \
                *out = PUT(s->exclusive ? sum : next);                                   \
                sum = next;                                                              \
            }                                                                            \
            return;                                                                      \
        }                                                                                \
        for (int64_t j = 0; j < w; j++) carry[j] = (FIRST);                              \
        for (int64_t i = 0; i < s->n; i++, in += step, out += step) {                    \
            for (int64_t j = 0; j < w; j++) {                                            \
                A before = carry[j], after = (A)OP(before, GET(in[j]));                  \
                carry[j] = after;                                                        \
                out[j] = PUT(s->exclusive ? before : after);                             \
            }                                                                            \
        }                                                                                \
    }
#define ADD(a, x) ((a) + (x))
#define TIMES(a, x) ((a) * (x))
#define SAME(x) (x)
#define AS_U32(x) ((uint32_t)(x))
#define AS_U64(x) ((uint64_t)(x))

#define BOTH(SUF, T, A, GET, PUT)            \
    LINES(sum_##SUF, T, A, 0, ADD, GET, PUT) \
    LINES(prod_##SUF, T, A, 1, TIMES, GET, PUT)
BOTH(F32, float, float, SAME, SAME)
BOTH(F64, double, double, SAME, SAME)
BOTH(F16, ef_f16, float, ef_f16_float, ef_float_f16)
BOTH(BF16, ef_bf16, float, ef_bf16_float, ef_float_bf16)
BOTH(C64, ef_c64, ef_c64, SAME, SAME)
BOTH(C128, ef_c128, ef_c128, SAME, SAME)
BOTH(I8, int8_t, uint32_t, AS_U32, (int8_t))
BOTH(I16, int16_t, uint32_t, AS_U32, (int16_t))
BOTH(I32, int32_t, uint32_t, AS_U32, (int32_t))
BOTH(I64, int64_t, uint64_t, AS_U64, (int64_t))
BOTH(U8, uint8_t, uint32_t, AS_U32, (uint8_t))
BOTH(U16, uint16_t, uint32_t, AS_U32, (uint16_t))
BOTH(U32, uint32_t, uint32_t, AS_U32, SAME)
BOTH(U64, uint64_t, uint64_t, AS_U64, SAME)
LINES(lse_F32, float, float, -INFINITY, log_addf, SAME, SAME)
LINES(lse_F64, double, double, -(double)INFINITY, log_add, SAME, SAME)
LINES(lse_F16, ef_f16, float, -INFINITY, log_addf, ef_f16_float, ef_float_f16)
LINES(lse_BF16, ef_bf16, float, -INFINITY, log_addf, ef_bf16_float, ef_float_bf16)

typedef void lines_fn(const ef_scan *s, int64_t start, int64_t w);
#define SUM_ROW(SUF, T) [EF_##SUF] = lines_sum_##SUF,
#define PROD_ROW(SUF, T) [EF_##SUF] = lines_prod_##SUF,
#define LSE_ROW(SUF, T) [EF_##SUF] = lines_lse_##SUF,
#define NUMBERS(X) EF_EACH_INT(X) EF_EACH_FULL_FLOAT(X) EF_EACH_HALF(X) EF_EACH_COMPLEX(X)
static lines_fn *const table[3][EF_DTYPES] = {
    [EF_SCAN_SUM] = {NUMBERS(SUM_ROW)},
    [EF_SCAN_PROD] = {NUMBERS(PROD_ROW)},
    [EF_SCAN_LOGSUMEXP] = {EF_EACH_FULL_FLOAT(LSE_ROW) EF_EACH_HALF(LSE_ROW)},
};

static void run_range(void *arg, int64_t from, int64_t to) {
    const ef_scan *s = arg;
    lines_fn *lines = table[s->kind][s->dtype];
    int64_t per = (s->inner + ABREAST - 1) / ABREAST;
    for (int64_t i = from; i < to; i++) {
        int64_t lo = i % per * ABREAST, w = s->inner - lo < ABREAST ? s->inner - lo : ABREAST;
        lines(s, i / per * s->n * s->inner + lo, w);
    }
}

void ef_scan_run(const ef_scan *s) {
    if (s->outer == 0 || s->n == 0 || s->inner == 0) return;
    int64_t per = (s->inner + ABREAST - 1) / ABREAST;
    double cost = s->kind == EF_SCAN_LOGSUMEXP ? 30 : 0.6;
    double width = (double)(s->inner < ABREAST ? s->inner : ABREAST);
    ef_parallel(s->outer * per, 1, cost * width * (double)s->n, run_range, (void *)(uintptr_t)s);
}
