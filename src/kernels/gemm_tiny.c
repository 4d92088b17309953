/* Tiny f32 products. The right-hand matrix is used where it lies, or copied (transposed, padded to
 * whole vectors) into a stack buffer; then four rows by two vectors of the result are held in
 * registers while k runs. */
#include "kernels/gemm_loop.h"
#ifdef __FMA__
#include <immintrin.h>
#endif

#ifdef __AVX__
enum { LANES = 8 };
typedef float vec __attribute__((vector_size(32)));
#else
enum { LANES = 4 };
typedef float vec __attribute__((vector_size(16)));
#endif
enum { PACK_MAX = 4096 }; /* floats of stack for the right-hand side */

static inline vec load(const float *p) {
    vec v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline void store(float *p, vec v) { memcpy(p, &v, sizeof v); }
static inline vec madd(float x, vec y, vec sum) {
#ifdef __FMA__
    return (vec)_mm256_fmadd_ps(_mm256_set1_ps(x), (__m256)y, (__m256)sum);
#else
    return x * y + sum;
#endif
}

typedef struct sides {
    const float *a, *b;
    float *c;
    int64_t row, col; /* strides of a */
    int64_t ldb, ldc, k;
} sides;

/* Writes (or adds) the first `width` lanes of v. */
static void put(float *c, vec v, int64_t width, bool add) {
    float part[LANES];
    if (width >= LANES) {
        store(c, add ? load(c) + v : v);
        return;
    }
    store(part, v);
    for (int64_t j = 0; j < width; j++) c[j] = add ? c[j] + part[j] : part[j];
}

/* R rows by two vectors (or by one: _half), of which `width` columns count. Whole vectors that are
 * not added go straight to memory. */
#define TILE(name, R)                                                                        \
    static inline void name(const sides *s, int64_t i, int64_t j, int64_t width, bool add) { \
        vec lo[R] = {{0}}, hi[R] = {{0}};                                                    \
        const float *a = s->a + i * s->row, *b = s->b + j;                                   \
        float *c = s->c + i * s->ldc + j;                                                    \
        for (int64_t p = 0; p < s->k; p++, a += s->col, b += s->ldb) {                       \
            vec y = load(b), z = load(b + LANES);                                            \
            for (int r = 0; r < R; r++) {                                                    \
                float x = a[r * s->row];                                                     \
                lo[r] = madd(x, y, lo[r]);                                                   \
                hi[r] = madd(x, z, hi[r]);                                                   \
            }                                                                                \
        }                                                                                    \
        if (width == 2 * LANES && !add) {                                                    \
            for (int r = 0; r < R; r++) store(c + r * s->ldc, lo[r]);                        \
            for (int r = 0; r < R; r++) store(c + r * s->ldc + LANES, hi[r]);                \
            return;                                                                          \
        }                                                                                    \
        for (int r = 0; r < R; r++) {                                                        \
            put(c + r * s->ldc, lo[r], width, add);                                          \
            put(c + r * s->ldc + LANES, hi[r], width - LANES, add);                          \
        }                                                                                    \
    }
#define TILE_HALF(name, R)                                                                   \
    static inline void name(const sides *s, int64_t i, int64_t j, int64_t width, bool add) { \
        vec lo[R] = {{0}};                                                                   \
        const float *a = s->a + i * s->row, *b = s->b + j;                                   \
        float *c = s->c + i * s->ldc + j;                                                    \
        for (int64_t p = 0; p < s->k; p++, a += s->col, b += s->ldb) {                       \
            vec y = load(b);                                                                 \
            for (int r = 0; r < R; r++) lo[r] = madd(a[r * s->row], y, lo[r]);               \
        }                                                                                    \
        if (width == LANES && !add) {                                                        \
            for (int r = 0; r < R; r++) store(c + r * s->ldc, lo[r]);                        \
            return;                                                                          \
        }                                                                                    \
        for (int r = 0; r < R; r++) put(c + r * s->ldc, lo[r], width, add);                  \
    }
TILE(tile4, 4)
TILE(tile1, 1)
TILE_HALF(half8, 8)
TILE_HALF(half4, 4)
TILE_HALF(half1, 1)

static float dot(const float *x, const float *y, int64_t n) {
    float s = 0;
#pragma omp simd reduction(+ : s)
    for (int64_t i = 0; i < n; i++) s += x[i] * y[i];
    return s;
}

/* One or two rows times a transposed matrix: packing it would cost as much as the product. */
static void dots(const ef_gemm_args *g) {
    const float *a = g->a, *b = g->b;
    float *c = g->c;
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            float v = dot(a + i * g->lda, b + j * g->ldb, g->k);
            c[i * g->ldc + j] = g->add ? c[i * g->ldc + j] + v : v;
        }
}

/* op(b) as k rows of `width` floats, zero beyond n. */
static void pack(const ef_gemm_args *g, float *out, int64_t width) {
    const float *b = g->b;
    bool plain = g->op_b == EF_GEMM_N;
    int64_t row = plain ? g->ldb : 1, col = plain ? 1 : g->ldb;
    for (int64_t p = 0; p < g->k; p++, out += width) {
        for (int64_t j = 0; j < g->n; j++) out[j] = b[p * row + j * col];
        for (int64_t j = g->n; j < width; j++) out[j] = 0;
    }
}

bool ef_gemm_tiny(const ef_gemm_args *g) {
    if (g->m * g->n > 2048 || g->m * g->n * g->k > 12000) return false;
    if (g->op_a == EF_GEMM_N && (g->op_b != EF_GEMM_N ? g->m <= 2 : g->n == 1 && g->ldb == 1)) {
        ef_gemm_args t = *g;
        if (g->op_b == EF_GEMM_N)
            t.ldb = g->k; /* a column, contiguous: the one row of its transpose */
        dots(&t);
        return true;
    }
    float packed[PACK_MAX];
    sides s = {g->a, g->b, g->c, g->lda, 1, g->ldb, g->ldc, g->k};
    if (g->op_a != EF_GEMM_N) s.row = 1, s.col = g->lda;
    if (g->op_b != EF_GEMM_N || g->n % LANES != 0) {
        s.ldb = (g->n + LANES - 1) / LANES * LANES;
        if (g->k * s.ldb > PACK_MAX) return false;
        pack(g, packed, s.ldb);
        s.b = packed;
    }
    for (int64_t j = 0; j < g->n; j += 2 * LANES) {
        int64_t width = g->n - j < 2 * LANES ? g->n - j : 2 * LANES, i = 0;
        if (width > LANES) {
            for (; i + 4 <= g->m; i += 4) tile4(&s, i, j, width, g->add);
            for (; i < g->m; i++) tile1(&s, i, j, width, g->add);
        } else {
            for (; i + 8 <= g->m; i += 8) half8(&s, i, j, width, g->add);
            for (; i + 4 <= g->m; i += 4) half4(&s, i, j, width, g->add);
            for (; i < g->m; i++) half1(&s, i, j, width, g->add);
        }
    }
    return true;
}
