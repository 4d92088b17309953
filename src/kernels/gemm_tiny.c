/* Tiny f32 products. The right-hand matrix is used in place, or copied (transposed, padded to full
 * vectors) into a stack buffer; then many rows are multiplied by panels of it (gemm_panel.c) or,
 * for few rows and a transposed left side, four rows by two vectors of the result stay in registers
 * during the loop over k. */
#include "kernels/gemm_loop.h"
#include "kernels/gemm_vec.h"

/* Floats of the right-hand side worth copying to the stack without and with transposition. */
enum { PACK_MAX = 4096, TURN_MAX = 512 };

typedef struct sides {
    const float *a, *b;
    float *c;
    int64_t row, col; /* strides of a */
    int64_t ldb, ldc, k;
} sides;

/* Stores (or adds) the first `width` lanes of v. */
static void put(float *c, vec v, int64_t width, bool add) {
    float part[LANES];
    if (width >= LANES) {
        store(c, add ? load(c) + v : v);
        return;
    }
    store(part, v);
    for (int64_t j = 0; j < width; j++) c[j] = add ? c[j] + part[j] : part[j];
}

/* R rows by two vectors (or by one: _half), of which `width` columns are valid. Full vectors that
 * are not added are stored directly. */
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

/* op(b) as k rows of full vectors; elements beyond n are never used. */
static void pack(const ef_gemm_args *g, float *out, int64_t width) {
    const float *b = g->b;
    bool plain = g->op_b == EF_GEMM_N;
    int64_t row = plain ? g->ldb : 1, col = plain ? 1 : g->ldb;
    int64_t end = plain ? (g->k - 1) * row + g->n : 0; /* end of what may be read a vector at a
                                                        * time */
    for (int64_t p = 0; p < g->k; p++, b += row, out += width) {
        if (p * row + width <= end)
            for (int64_t j = 0; j < width; j += LANES) store(out + j, load(b + j));
        else
            for (int64_t j = 0; j < width; j++) out[j] = j < g->n ? b[j * col] : 0;
    }
}

/* Whether this is faster than oneDNN on one thread, by measurement. */
static bool pays(const ef_gemm_args *g) {
    int64_t columns = g->m * g->n, work = columns * g->k;
    if (columns <= 2048 && work <= 12000) return true;
    return g->op_a == EF_GEMM_N && work < 400000 &&
           ((g->k <= 8 && g->n <= 32) || (g->k <= 16 && g->n <= 8));
}

bool ef_gemm_tiny(const ef_gemm_args *g) {
    if (!pays(g)) return false;
    bool plain = g->op_b == EF_GEMM_N, column = g->n == 1 && (!plain || g->ldb == 1);
    if (g->op_a == EF_GEMM_N && (column || (!plain && g->m <= 2))) {
        if (g->m > 16) return false;
        ef_gemm_args t = *g;
        if (plain) t.ldb = g->k; /* a column, contiguous: the one row of its transpose */
        dots(&t);
        return true;
    }
    float packed[PACK_MAX];
    sides s = {g->a, g->b, g->c, g->lda, 1, g->ldb, g->ldc, g->k};
    if (g->op_a != EF_GEMM_N) s.row = 1, s.col = g->lda;
    if (!plain || g->n % LANES != 0) {
        s.ldb = (g->n + LANES - 1) / LANES * LANES;
        if (g->k * s.ldb > (plain ? PACK_MAX : TURN_MAX)) return false;
        pack(g, packed, s.ldb);
        s.b = packed;
    }
    if (g->op_a == EF_GEMM_N && g->m > 4 && (g->m > 16 || g->k <= 16)) {
        ef_gemm_panels(g, s.b, s.ldb);
        return true;
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
