/* The epilogue of a product: bias, residual and activation in one pass over rows that are still in
 * the cache. Each activation has its own loop, so that each vectorises. */
#include "kernels/gemm.h"
#include "kernels/half.h"
#include "kernels/vmath.h"

#define EACH(T, EXPR)                                     \
    _Pragma("omp simd") for (int64_t j = 0; j < n; j++) { \
        T x = c[j];                                       \
        c[j] = (EXPR);                                    \
    }                                                     \
    break

/* NaN passes through every activation, as in the separate ops. `choose` takes both values computed,
 * so that calls stay outside any branch and vectorise. */
#define ACTIVATE(SUF, T)                                                                    \
    static inline T choose_##SUF(bool first, T x, T y) { return first ? x : y; }            \
    static void activate_##SUF(T *c, int64_t n, ef_activation act, T alpha) {               \
        switch (act) {                                                                      \
        case EF_ACT_RELU: EACH(T, x < 0 ? 0 : x);                                           \
        case EF_ACT_RELU6: EACH(T, x<0 ? 0 : x> 6 ? 6 : x);                                 \
        case EF_ACT_ELU: EACH(T, choose_##SUF(x < 0, ef_expm1_##SUF(x), x));                \
        case EF_ACT_TANH: EACH(T, ef_tanh_##SUF(x));                                        \
        case EF_ACT_SIGMOID: EACH(T, ef_sigmoid_##SUF(x));                                  \
        case EF_ACT_LEAKY_RELU: EACH(T, x > 0 ? x : alpha * x);                             \
        default: break;                                                                     \
        }                                                                                   \
    }                                                                                       \
    /* Contiguous rows; the activation treats them as one, since they may be short. */      \
    static void post_##SUF(T *c, const T *bias, const T *residual, int64_t rows, int64_t n, \
                           ef_activation act, T alpha) {                                    \
        bool done = bias != NULL && residual == NULL && act == EF_ACT_RELU;                 \
        for (int64_t i = 0; i < rows && bias != NULL; i++) {                                \
            T *row = c + i * n;                                                             \
            const T *more = residual != NULL ? residual + i * n : NULL;                     \
            if (done) /* the common case, in one pass */                                    \
                for (int64_t j = 0; j < n; j++) {                                           \
                    T x = row[j] + bias[j];                                                 \
                    row[j] = x < 0 ? 0 : x;                                                 \
                }                                                                           \
            else if (residual != NULL)                                                      \
                for (int64_t j = 0; j < n; j++) row[j] = row[j] + bias[j] + more[j];        \
            else                                                                            \
                for (int64_t j = 0; j < n; j++) row[j] += bias[j];                          \
        }                                                                                   \
        if (bias == NULL && residual != NULL)                                               \
            for (int64_t j = 0; j < rows * n; j++) c[j] += residual[j];                     \
        if (!done) activate_##SUF(c, rows *n, act, alpha);                                  \
    }
ACTIVATE(F32, float)
ACTIVATE(F64, double)

/* 16-bit floats: a chunk at a time is widened to float and rounded once at the end. */
enum { STRETCH = 256 };
static void post_half(ef_dtype t, void *c, const void *bias, const void *residual, int64_t n,
                      const ef_post *p) {
    float x[STRETCH], y[STRETCH];
    for (int64_t at = 0; at < n; at += STRETCH) {
        int64_t m = n - at < STRETCH ? n - at : STRETCH;
        ef_widen(t, x, (ef_f16 *)c + at, m);
        const ef_f16 *add[] = {bias, residual};
        for (int k = 0; k < 2; k++) {
            if (add[k] == NULL) continue;
            ef_widen(t, y, add[k] + at, m);
            for (int64_t j = 0; j < m; j++) x[j] += y[j];
        }
        activate_F32(x, m, p->act, p->alpha);
        ef_narrow(t, (ef_f16 *)c + at, x, m);
    }
}

/* This many elements stay in the first-level cache between the steps. */
enum { BLOCK = 4096 };

void ef_post_rows(ef_dtype t, const ef_post *p, void *c, int64_t ldc, int64_t n, int64_t from,
                  int64_t to) {
    const size_t size = ef_dtype_size(t);
    int64_t step = p->residual_step > 0 ? p->residual_step : n;
    int64_t most = ldc == n && n < BLOCK && !ef_is_half(t) ? BLOCK / n : 1;
    for (int64_t i = from, rows; i < to; i += rows) {
        char *row = (char *)c + (size_t)(i * ldc) * size;
        const char *residual = p->residual;
        if (residual != NULL) residual += (size_t)(i * step) * size;
        rows = to - i < most ? to - i : most;
        if (t == EF_F32)
            post_F32((float *)row, p->bias, (const float *)residual, rows, n, p->act, p->alpha);
        else if (t == EF_F64)
            post_F64((double *)row, p->bias, (const double *)residual, rows, n, p->act, p->alpha);
        else
            post_half(t, row, p->bias, residual, n, p);
    }
}
