/* A blocked product for the types that no library multiplies. A block of op(b) is used in place if
 * its rows are contiguous, else copied to the stack; each row of c then uses four rows of the block
 * at a time. Integers wrap, so signed types are multiplied as unsigned ones. */
#include "kernels/gemm_loop.h"
#include "base/pool.h"

enum { DEEP = 64, WIDE = 128 };

/* T: element, W: type to compute in. */
#define LOOP(SUF, T, W)                                                                         \
    static void rows_##SUF(void *arg, int64_t from, int64_t to) {                               \
        const ef_gemm_args *g = arg;                                                            \
        const T *a = g->a, *b = g->b;                                                           \
        T *c = g->c, packed[DEEP * WIDE];                                                       \
        int64_t ra = g->op_a == EF_GEMM_N ? g->lda : 1, ca = g->op_a == EF_GEMM_N ? 1 : g->lda; \
        for (int64_t i = from; i < to && !g->add; i++)                                          \
            memset(c + i * g->ldc, 0, (size_t)g->n * sizeof(T));                                \
        for (int64_t j = 0; j < g->n; j += WIDE)                                                \
            for (int64_t p = 0; p < g->k; p += DEEP) {                                          \
                int64_t nj = g->n - j < WIDE ? g->n - j : WIDE,                                 \
                        np = g->k - p < DEEP ? g->k - p : DEEP;                                 \
                const T *y = b + p * g->ldb + j;                                                \
                int64_t ldy = g->ldb;                                                           \
                if (g->op_b != EF_GEMM_N) {                                                     \
                    for (int64_t u = 0; u < np; u++)                                            \
                        for (int64_t v = 0; v < nj; v++)                                        \
                            packed[u * WIDE + v] = b[(j + v) * g->ldb + p + u];                 \
                    y = packed, ldy = WIDE;                                                     \
                }                                                                               \
                for (int64_t i = from; i < to; i++)                                             \
                    row_##SUF(c + i * g->ldc + j, a + i * ra + p * ca, ca, y, ldy, np, nj);     \
            }                                                                                   \
    }
#define ROW(SUF, T, W)                                                                             \
    static void row_##SUF(T *restrict c, const T *a, int64_t ca, const T *restrict y, int64_t ldy, \
                          int64_t np, int64_t nj) {                                                \
        int64_t u = 0;                                                                             \
        for (; u + 4 <= np; u += 4, a += 4 * ca, y += 4 * ldy) {                                   \
            W s = (W)a[0], t = (W)a[ca], v = (W)a[2 * ca], w = (W)a[3 * ca];                       \
            for (int64_t j = 0; j < nj; j++)                                                       \
                c[j] = (T)(((W)c[j] + s * (W)y[j] + t * (W)y[j + ldy]) +                           \
                           (v * (W)y[j + 2 * ldy] + w * (W)y[j + 3 * ldy]));                       \
        }                                                                                          \
        for (; u < np; u++, a += ca, y += ldy) {                                                   \
            W s = (W)a[0];                                                                         \
            for (int64_t j = 0; j < nj; j++) c[j] = (T)((W)c[j] + s * (W)y[j]);                    \
        }                                                                                          \
    }
#define BOTH(SUF, T, W) ROW(SUF, T, W) LOOP(SUF, T, W)
BOTH(I8, int8_t, uint32_t)
BOTH(U8, uint8_t, uint32_t)
BOTH(I16, int16_t, uint32_t)
BOTH(U16, uint16_t, uint32_t)
BOTH(I32, int32_t, uint32_t)
BOTH(U32, uint32_t, uint32_t)
BOTH(I64, int64_t, uint64_t)
BOTH(U64, uint64_t, uint64_t)
BOTH(F32, float, float)
BOTH(F64, double, double)

/* Complex: only for sizes beyond the 32-bit integers of BLAS, so it is kept simple. */
#define COMPLEX(SUF, T)                                                                           \
    static void rows_##SUF(void *arg, int64_t from, int64_t to) {                                 \
        const ef_gemm_args *g = arg;                                                              \
        const T(*a)[2] = (const T(*)[2])g->a, (*b)[2] = (const T(*)[2])g->b;                      \
        T(*c)[2] = g->c, sa = g->op_a == EF_GEMM_C ? -1 : 1, sb = g->op_b == EF_GEMM_C ? -1 : 1;  \
        for (int64_t i = from; i < to; i++)                                                       \
            for (int64_t j = 0; j < g->n; j++) {                                                  \
                T re = g->add ? c[i * g->ldc + j][0] : 0, im = g->add ? c[i * g->ldc + j][1] : 0; \
                for (int64_t p = 0; p < g->k; p++) {                                              \
                    const T *x = a[g->op_a == EF_GEMM_N ? i * g->lda + p : p * g->lda + i];       \
                    const T *y = b[g->op_b == EF_GEMM_N ? p * g->ldb + j : j * g->ldb + p];       \
                    re += x[0] * y[0] - sa * x[1] * (sb * y[1]);                                  \
                    im += x[0] * (sb * y[1]) + sa * x[1] * y[0];                                  \
                }                                                                                 \
                c[i * g->ldc + j][0] = re, c[i * g->ldc + j][1] = im;                             \
            }                                                                                     \
    }
COMPLEX(C64, float)
COMPLEX(C128, double)

void ef_gemm_loop(const ef_gemm_args *g) {
#define PICK(SUF, T) [EF_##SUF] = rows_##SUF,
    static ef_range_fn *const rows[EF_DTYPES] = {EF_EACH_INT(PICK) EF_EACH_FULL_FLOAT(PICK)
                                                     EF_EACH_COMPLEX(PICK)};
    double cost = 0.15 * (double)g->n * (double)g->k * (double)ef_dtype_size(g->dtype) / 4;
    ef_parallel(g->m, 4, cost, rows[g->dtype], (void *)(uintptr_t)g);
}
