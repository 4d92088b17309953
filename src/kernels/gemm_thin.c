/* Three kinds, by which size is long:
 *
 *   sums     c[m, n] = a[m, k] b[k, n]                few columns n, long k. Ranges of k are
 *                                                     summed separately, then added in pairs.
 *   spreads  c[m, n] = a[m, k] b[k, n] or b[n, k]^T   few terms k, long n
 *   turns    c[m, n] = a[k, m]^T b[k, n]              few columns n, long m
 *
 * The long size is divided into pieces that depend only on the sizes, not on the threads. */
#include "kernels/gemm_thin.h"
#include "base/pool.h"
#include "kernels/gemm_vec.h"
#include "tensor/scratch.h"

enum { FEW = 16, LONG = 4096, LEAST = 4, SOME = 256, PIECE = 2048, STRETCH = 256 };
enum { AHEAD = 4 * LANES }; /* floats between the columns of a that are read and those fetched */
#define INLINE static inline __attribute__((always_inline))

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t pieces_of(int64_t n) { return (n + PIECE - 1) / PIECE; }

/* ---- sums ------------------------------------------------------------------------------------ */

typedef struct sums {
    const ef_gemm_args *g;
    float *partial; /* by piece: m rows of FEW columns */
} sums;

/* Copies rows of b, each padded to two full vectors. */
static void pad_rows(const ef_gemm_args *g, int64_t from, int64_t n, float *out) {
    const float *b = (const float *)g->b + from * g->ldb;
    int64_t left = g->k - from; /* rows left: reading past the end of a row is safe while enough
                                 * elements follow */
    for (int64_t p = 0; p < n; p++, b += g->ldb, out += FEW, left--) {
        if ((left - 1) * g->ldb + g->n >= FEW) {
            memcpy(out, b, FEW * sizeof *b);
        } else {
            for (int64_t j = 0; j < FEW; j++) out[j] = j < g->n ? b[j] : 0;
        }
    }
}

/* R rows of a by the padded rows of b, added to `out`; two vectors of eight (or LANES) columns. */
INLINE void sum_rows(const int R, const int V, const float *a, int64_t lda, const float *b,
                     int64_t n, float *out) {
    vec acc[6][FEW / LANES];
    for (int r = 0; r < R; r++)
        for (int v = 0; v < V; v++) acc[r][v] = load(out + r * FEW + v * LANES);
    for (int64_t p = 0; p < n; p++, b += FEW) {
        vec y[FEW / LANES];
        for (int v = 0; v < V; v++) y[v] = load(b + v * LANES);
        for (int r = 0; r < R; r++)
            for (int v = 0; v < V; v++) acc[r][v] = madd(a[r * lda + p], y[v], acc[r][v]);
    }
    for (int r = 0; r < R; r++)
        for (int v = 0; v < V; v++) store(out + r * FEW + v * LANES, acc[r][v]);
}

static void sum_piece(const ef_gemm_args *g, int64_t from, int64_t to, float *out) {
    float b[STRETCH * FEW];
    memset(out, 0, (size_t)(g->m * FEW) * sizeof *out);
    const bool narrow = g->n <= FEW / 2;
    for (int64_t p = from; p < to; p += STRETCH) {
        int64_t n = least(STRETCH, to - p), i = 0;
        const float *a = (const float *)g->a + p;
        pad_rows(g, p, n, b);
        for (; i + 6 <= g->m; i += 6) {
            if (narrow)
                sum_rows(6, FEW / LANES / 2, a + i * g->lda, g->lda, b, n, out + i * FEW);
            else
                sum_rows(6, FEW / LANES, a + i * g->lda, g->lda, b, n, out + i * FEW);
        }
        for (; i + 2 <= g->m; i += 2)
            sum_rows(2, FEW / LANES, a + i * g->lda, g->lda, b, n, out + i * FEW);
        if (i < g->m) sum_rows(1, FEW / LANES, a + i * g->lda, g->lda, b, n, out + i * FEW);
    }
}

static void sum_pieces(void *arg, int64_t from, int64_t to) {
    const sums *s = arg;
    const ef_gemm_args *g = s->g;
    for (int64_t k = from; k < to; k++)
        sum_piece(g, k * PIECE, least((k + 1) * PIECE, g->k), s->partial + k * g->m * FEW);
}

static bool sum_all(const ef_gemm_args *g) {
    int64_t n = pieces_of(g->k), size = g->m * FEW;
    sums s = {g, ef_scratch_take((size_t)(n * size) * sizeof(float))};
    if (s.partial == NULL) return false;
    ef_parallel(n, 1, 0.04 * PIECE * (double)(g->m * FEW) + PIECE, sum_pieces, &s);
    for (int64_t half = 1; half < n; half *= 2)
        for (int64_t k = 0; k + half < n; k += 2 * half)
            for (int64_t i = 0; i < size; i++)
                s.partial[k * size + i] += s.partial[(k + half) * size + i];
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = 0; j < g->n; j++) {
            float *c = (float *)g->c + i * g->ldc + j, sum = s.partial[i * FEW + j];
            *c = g->add ? *c + sum : sum;
        }
    ef_scratch_end(s.partial);
    return true;
}

/* ---- spreads --------------------------------------------------------------------------------- */

/* R rows by two vectors of c. */
INLINE void spread_rows(const int R, const ef_gemm_args *g, int64_t i, const float *b, int64_t ldb,
                        int64_t j) {
    vec lo[4], hi[4];
    const float *a = (const float *)g->a + i * g->lda;
    float *c = (float *)g->c + i * g->ldc + j;
    for (int r = 0; r < R; r++) {
        const vec zero = {0};
        lo[r] = g->add ? load(c + r * g->ldc) : zero;
        hi[r] = g->add ? load(c + r * g->ldc + LANES) : zero;
    }
    for (int64_t p = 0; p < g->k; p++, b += ldb) {
        vec y = load(b), z = load(b + LANES);
        for (int r = 0; r < R; r++) {
            lo[r] = madd(a[r * g->lda + p], y, lo[r]);
            hi[r] = madd(a[r * g->lda + p], z, hi[r]);
        }
    }
    for (int r = 0; r < R; r++) {
        store(c + r * g->ldc, lo[r]);
        store(c + r * g->ldc + LANES, hi[r]);
    }
}

/* The columns that are left after the last full vector. */
static void spread_rest(const ef_gemm_args *g, const float *b, int64_t ldb, int64_t from,
                        int64_t to) {
    for (int64_t i = 0; i < g->m; i++)
        for (int64_t j = from; j < to; j++) {
            const float *a = (const float *)g->a + i * g->lda;
            float *c = (float *)g->c + i * g->ldc + j, sum = g->add ? *c : 0;
            for (int64_t p = 0; p < g->k; p++) sum += a[p] * b[p * ldb + j - from];
            *c = sum;
        }
}

/* Copies k rows of n columns of op(b). */
static void turn_rows(const ef_gemm_args *g, int64_t from, int64_t n, float *out) {
    const float *b = (const float *)g->b + from * g->ldb;
    for (int64_t j = 0; j < n; j++, b += g->ldb)
        for (int64_t p = 0; p < g->k; p++) out[p * STRETCH + j] = b[p];
}

static void spread_piece(const ef_gemm_args *g, int64_t from, int64_t to) {
    float turned[STRETCH * FEW];
    for (int64_t j = from; j < to; j += STRETCH) {
        int64_t n = least(STRETCH, to - j), whole = n - n % (2 * LANES), i = 0;
        const float *b = turned;
        int64_t ldb = STRETCH;
        if (g->op_b == EF_GEMM_N)
            b = (const float *)g->b + j, ldb = g->ldb;
        else
            turn_rows(g, j, n, turned);
        for (; i + 4 <= g->m; i += 4)
            for (int64_t q = 0; q < whole; q += 2 * LANES) spread_rows(4, g, i, b + q, ldb, j + q);
        for (; i < g->m; i++)
            for (int64_t q = 0; q < whole; q += 2 * LANES) spread_rows(1, g, i, b + q, ldb, j + q);
        spread_rest(g, b + whole, ldb, j + whole, j + n);
    }
}

static void spread_pieces(void *arg, int64_t from, int64_t to) {
    const ef_gemm_args *g = arg;
    for (int64_t k = from; k < to; k++) spread_piece(g, k * PIECE, least((k + 1) * PIECE, g->n));
}

/* ---- turns ----------------------------------------------------------------------------------- */

/* C columns by two vectors of rows, written as columns of `out`, which are 2 * LANES apart. Each
 * row of a is read one cache line at a time, and the processor follows fewer such rows by itself
 * than a batch has, so the line of a later call is fetched here. */
INLINE void turn_columns(const int C, const ef_gemm_args *g, const float *a, const float *b,
                         float *out) {
    vec lo[6] = {{0}}, hi[6] = {{0}};
    for (int64_t p = 0; p < g->k; p++, a += g->lda, b += g->ldb) {
        __builtin_prefetch(a + AHEAD);
        vec x = load(a), y = load(a + LANES);
        for (int c = 0; c < C; c++) {
            lo[c] = madd(b[c], x, lo[c]);
            hi[c] = madd(b[c], y, hi[c]);
        }
    }
    for (int c = 0; c < C; c++) {
        store(out + c * 2 * LANES, lo[c]);
        store(out + c * 2 * LANES + LANES, hi[c]);
    }
}

static void turn_some(const ef_gemm_args *g, const float *a, int64_t j, int64_t n, float *out) {
    const float *b = (const float *)g->b + j;
    switch (n) {
    case 1: turn_columns(1, g, a, b, out); break;
    case 2: turn_columns(2, g, a, b, out); break;
    case 3: turn_columns(3, g, a, b, out); break;
    case 4: turn_columns(4, g, a, b, out); break;
    case 5: turn_columns(5, g, a, b, out); break;
    default: turn_columns(6, g, a, b, out); break;
    }
}

static void turn_rest(const ef_gemm_args *g, int64_t from, int64_t to) {
    for (int64_t i = from; i < to; i++)
        for (int64_t j = 0; j < g->n; j++) {
            const float *a = (const float *)g->a + i, *b = (const float *)g->b + j;
            float *c = (float *)g->c + i * g->ldc + j, sum = g->add ? *c : 0;
            for (int64_t p = 0; p < g->k; p++) sum += a[p * g->lda] * b[p * g->ldb];
            *c = sum;
        }
}

static void turn_pieces(void *arg, int64_t from, int64_t to) {
    const ef_gemm_args *g = arg;
    const int64_t chunks = (g->n + 5) / 6, each = (g->n + chunks - 1) / chunks;
    const int64_t end = least(to * PIECE, g->m);
    float out[FEW * 2 * LANES];
    int64_t i = from * PIECE;
    for (; i + 2 * LANES <= end; i += 2 * LANES) {
        const float *a = (const float *)g->a + i;
        for (int64_t j = 0; j < g->n; j += each)
            turn_some(g, a, j, least(each, g->n - j), out + j * 2 * LANES);
        float *c = (float *)g->c + i * g->ldc;
        for (int r = 0; r < 2 * LANES; r++, c += g->ldc)
            for (int64_t j = 0; j < g->n; j++) {
                float v = out[j * 2 * LANES + r];
                c[j] = g->add ? c[j] + v : v;
            }
    }
    turn_rest(g, i, end);
}

/* ---- choosing the kind ----------------------------------------------------------------------- */

bool ef_gemm_thin(const ef_gemm_args *g) {
    const bool plain_a = g->op_a == EF_GEMM_N, plain_b = g->op_b == EF_GEMM_N;
    if (g->dtype != EF_F32) return false;
    if (plain_a && plain_b && g->n <= FEW && g->n > 1 && g->k >= LONG && g->m >= LEAST &&
        g->m <= SOME)
        return sum_all(g);
    if (plain_a && g->k <= FEW && g->k > 1 && g->n >= LONG && g->m > 1 && g->m <= SOME) {
        ef_parallel(pieces_of(g->n), 1, 0.02 * PIECE * (double)(g->m * g->k) + PIECE, spread_pieces,
                    (void *)(uintptr_t)g);
        return true;
    }
    if (!plain_a && plain_b && g->n <= FEW && g->m >= LONG && g->k > 1 && g->k <= SOME) {
        ef_parallel(pieces_of(g->m), 1, 0.02 * PIECE * (double)(g->n * g->k) + PIECE, turn_pieces,
                    (void *)(uintptr_t)g);
        return true;
    }
    return false;
}
