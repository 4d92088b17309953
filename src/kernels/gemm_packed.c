/* Large float64 products. Both operands are packed once, by all threads, into panels in the order
 * in which the innermost loop reads them, and all pieces of c share these panels. (A library that
 * is called once per piece packs the operands of every piece again.) The micro-kernel accumulates
 * one tile of c in registers.
 *
 * k is divided into ranges short enough for a panel of a to stay in the first-level cache. An
 * element of c is the sum over its ranges, in order, so AVX2 and AVX-512 give the same bits; and
 * all divisions depend only on the sizes, so the number of threads does not change the result. */
#include "kernels/gemm_packed.h"
#ifdef __FMA__
#include "base/pool.h"
#include "kernels/gemm_cut.h"
#include "tensor/scratch.h"
#include <immintrin.h>

enum { DEPTH = 384 };           /* of a range of k, at most */
enum { ROWS = 96, COLS = 192 }; /* of a piece, at most: a range of its columns of b fits in L2 */
enum { LEAST_ROWS = 48, LEAST_COLS = 48 };
enum { GROUP = 96 };   /* rows or columns that one task packs: whole panels */
enum { FIELD = 4096 }; /* rows and columns of c that are computed in one stage, at most */
enum { WANTED = 16, FEWEST = 8 }; /* pieces; if there are fewer, k should be divided too */
static const double least_work = 4e6, least_piece = 5e5; /* multiply-adds */
static const int64_t most_packed = 16 << 20;             /* bytes of packed panels */

typedef double vec4 __attribute__((vector_size(32)));
typedef double vec8 __attribute__((vector_size(64)));

static int64_t least(int64_t x, int64_t y) { return x < y ? x : y; }

/* ---- micro-kernels
 * -------------------------------------------------------------------------------- */

/* c = a b, or c += a b. a has `depth` columns, one after the other; b has as many rows, `ldb`
 * apart. */
typedef void tile_fn(const double *a, const double *b, int64_t ldb, double *c, int64_t ldc,
                     int64_t depth, bool add);

enum { VECS = 3, LARGEST = 8 * 24 }; /* vectors in a row of a tile, elements in a tile */
typedef struct tiles {
    int64_t high, wide, vector; /* rows and columns of a tile, columns of a vector */
    tile_fn *fn[VECS];          /* tiles of one vector and more */
} tiles;

/* The sums stay in registers only if the compiler unrolls every loop over them early, and the loop
 * over k not at all. */
#define FOR(i, n) _Pragma("GCC unroll 8") for (int i = 0; i < (n); i++)

/* R rows by V vectors: as many accumulators as there are registers for. */
#define TILE(TARGET, name, R, V, VEC, SET, MADD)                                            \
    TARGET                                                                                  \
    static void name(const double *a, const double *b, int64_t ldb, double *c, int64_t ldc, \
                     int64_t depth, bool add) {                                             \
        enum { LANES = sizeof(VEC) / sizeof(double) };                                      \
        VEC sum[R][V], y[V];                                                                \
        FOR(r, R) {                                                                         \
            FOR(v, V) { sum[r][v] = (VEC){0}; }                                             \
        }                                                                                   \
        _Pragma("GCC unroll 1") for (int64_t p = 0; p < depth; p++, a += (R), b += ldb) {   \
            FOR(v, V) { memcpy(&y[v], b + v * LANES, sizeof(VEC)); }                        \
            FOR(r, R) {                                                                     \
                FOR(v, V) { sum[r][v] = MADD(SET(a[r]), y[v], sum[r][v]); }                 \
            }                                                                               \
        }                                                                                   \
        FOR(r, R) {                                                                         \
            FOR(v, V) {                                                                     \
                VEC old = {0};                                                              \
                if (add) memcpy(&old, c + r * ldc + v * LANES, sizeof(VEC));                \
                old += sum[r][v];                                                           \
                memcpy(c + r * ldc + v * LANES, &old, sizeof(VEC));                         \
            }                                                                               \
        }                                                                                   \
    }
#define AVX512 __attribute__((target("avx512f")))
TILE(AVX512, tile8x8, 8, 1, vec8, _mm512_set1_pd, _mm512_fmadd_pd)
TILE(AVX512, tile8x16, 8, 2, vec8, _mm512_set1_pd, _mm512_fmadd_pd)
TILE(AVX512, tile8x24, 8, 3, vec8, _mm512_set1_pd, _mm512_fmadd_pd)
TILE(, tile4x4, 4, 1, vec4, _mm256_set1_pd, _mm256_fmadd_pd)
TILE(, tile4x8, 4, 2, vec4, _mm256_set1_pd, _mm256_fmadd_pd)
TILE(, tile4x12, 4, 3, vec4, _mm256_set1_pd, _mm256_fmadd_pd)

static bool avx2_only;
void ef_gemm_packed_avx2(bool only) { avx2_only = only; }

static const tiles *choose_tiles(void) {
    static const tiles avx2 = {4, 12, 4, {tile4x4, tile4x8, tile4x12}};
    static const tiles avx512 = {8, 24, 8, {tile8x8, tile8x16, tile8x24}};
    return __builtin_cpu_supports("avx512f") && !avx2_only ? &avx512 : &avx2;
}

/* ---- packing ------------------------------------------------------------------------------- */

/* An operand as panels of `width` rows of a, or columns of b; the last panel is padded with zeros.
 * Panels are stored range by range of k, and each panel step by step of k. */
typedef struct side {
    const double *x;
    int64_t ld;
    bool across; /* elements with the same k are contiguous in memory; else those along k are */
    int64_t size, width; /* rows of a or columns of b: total, and per panel */
    double *panels;
    int64_t own; /* not 0: every piece packs its own part, into this many elements per thread */
} side;

/* The address of row or column i of the operand at step p of k. */
static const double *part_at(const side *s, int64_t p, int64_t i) {
    return s->x + (s->across ? p * s->ld + i : i * s->ld + p);
}

static int64_t padded(const side *s) { return ef_parts(s->size, s->width) * s->width; }

static double *panel_at(const side *s, int64_t p, int64_t depth, int64_t i) {
    return s->panels + p * padded(s) + i * depth;
}

/* Copies one step of k, `n` contiguous elements, to as many panels as they need. */
static void copy_step(const double *x, int64_t n, int64_t width, double *out, int64_t step) {
    for (; n > 0; x += width, n -= width, out += step)
        for (int64_t j = 0; j < width; j += 4) {
            if (j + 4 <= n)
                memcpy(out + j, x + j, sizeof(vec4));
            else
                for (int64_t e = j; e < j + 4; e++) out[e] = e < n ? x[e] : 0;
        }
}

/* Transposes four rows of four elements; the new rows are `width` apart. */
static void turn(const double *x, int64_t ld, double *out, int64_t width) {
    vec4 a, b, c, d;
    memcpy(&a, x, sizeof a), memcpy(&b, x + ld, sizeof b);
    memcpy(&c, x + 2 * ld, sizeof c), memcpy(&d, x + 3 * ld, sizeof d);
    vec4 ab = __builtin_shufflevector(a, b, 0, 4, 2, 6);
    vec4 cd = __builtin_shufflevector(c, d, 0, 4, 2, 6);
    vec4 ba = __builtin_shufflevector(a, b, 1, 5, 3, 7);
    vec4 dc = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    a = __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
    b = __builtin_shufflevector(ba, dc, 0, 1, 4, 5);
    c = __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
    d = __builtin_shufflevector(ba, dc, 2, 3, 6, 7);
    memcpy(out, &a, sizeof a), memcpy(out + width, &b, sizeof b);
    memcpy(out + 2 * width, &c, sizeof c), memcpy(out + 3 * width, &d, sizeof d);
}

/* Transposes `n` rows of `depth` elements into a panel. */
static void turn_panel(const double *x, int64_t ld, int64_t n, int64_t width, int64_t depth,
                       double *out) {
    int64_t whole_rows = least(n, width) / 4 * 4, whole_depth = depth / 4 * 4;
    for (int64_t p = 0; p < whole_depth; p += 4)
        for (int64_t r = 0; r < whole_rows; r += 4)
            turn(x + r * ld + p, ld, out + p * width + r, width);
    for (int64_t p = 0; p < depth; p++)
        for (int64_t r = p < whole_depth ? whole_rows : 0; r < width; r++)
            out[p * width + r] = r < n ? x[r * ld + p] : 0;
}

/* Packs the rows or columns [from, from + GROUP) of a range of k. */
static void pack_group(const side *s, int64_t p, int64_t depth, int64_t from) {
    int64_t n = least(GROUP, s->size - from), step = s->width * depth;
    const double *x = part_at(s, p, from);
    double *out = panel_at(s, p, depth, from);
    if (s->across) {
        for (int64_t u = 0; u < depth; u++)
            copy_step(x + u * s->ld, n, s->width, out + u * s->width, step);
        return;
    }
    for (int64_t i = 0; i < n; i += s->width, x += s->width * s->ld, out += step)
        turn_panel(x, s->ld, n - i, s->width, depth, out);
}

/* Rows or columns [from, to) of one range of k, as the micro-kernel reads them. */
typedef struct strip {
    const double *at;
    int64_t from, to;
    int64_t step, ld; /* from one panel to the next, and from one step of k to the next */
} strip;

static strip in_place(const side *s, int64_t p, int64_t from, int64_t to) {
    return (strip){part_at(s, p, from), from, to, s->width, s->ld};
}

/* If every piece packs its own, the calling thread packs them first. */
static strip packed(const side *s, int64_t p, int64_t depth, int64_t from, int64_t to) {
    strip t = {NULL, from, to, s->width * depth, s->width};
    if (s->own == 0) {
        t.at = panel_at(s, p, depth, from);
        return t;
    }
    side mine = *s;
    mine.x = part_at(s, p, from), mine.size = to - from;
    mine.panels = s->panels + ef_pool_lane() * s->own;
    for (int64_t i = 0; i < mine.size; i += GROUP) pack_group(&mine, 0, depth, i);
    t.at = mine.panels;
    return t;
}

/* ---- a stage: what is packed and multiplied at one time ------------------------------------ */

typedef struct stage {
    const ef_gemm_args *g;
    const tiles *t;
    side a, b;
    int64_t row, col;   /* offset in c */
    int64_t k, depth;   /* total, and per range */
    int64_t rows, cols; /* of a piece */
    int64_t groups;     /* in a range, packed before the pieces begin */
    bool add, last;
} stage;

static int64_t groups_of(const side *s) { return s->own != 0 ? 0 : ef_parts(s->size, GROUP); }

static void pack(void *arg, int64_t from, int64_t to) {
    const stage *r = arg;
    for (int64_t at = from; at < to; at++) {
        int64_t p = at / r->groups * r->depth, group = at % r->groups;
        bool of_a = group < groups_of(&r->a);
        pack_group(of_a ? &r->a : &r->b, p, least(r->depth, r->k - p),
                   (of_a ? group : group - groups_of(&r->a)) * GROUP);
    }
}

/* A tile that exceeds c is computed in a buffer, from which the part in c is copied. */
static void put_tile(const stage *r, const double *a, const double *b, int64_t ldb, int64_t i,
                     int64_t j, int64_t depth, bool add) {
    const tiles *t = r->t;
    int64_t rows = least(t->high, r->a.size - i), cols = least(t->wide, r->b.size - j);
    int64_t ldc = r->g->ldc;
    double *c = (double *)r->g->c + (r->row + i) * ldc + r->col + j, buffer[LARGEST];
    tile_fn *tile = t->fn[ef_parts(cols, t->vector) - 1];
    if (rows == t->high && cols % t->vector == 0) {
        tile(a, b, ldb, c, ldc, depth, add);
        return;
    }
    tile(a, b, ldb, buffer, t->wide, depth, false);
    for (int64_t u = 0; u < rows; u++, c += ldc)
        for (int64_t v = 0; v < cols; v++)
            c[v] = add ? c[v] + buffer[u * t->wide + v] : buffer[u * t->wide + v];
}

static void multiply(const stage *r, const strip *a, const strip *b, int64_t depth, bool add) {
    const double *x = a->at;
    for (int64_t i = a->from; i < a->to; i += r->t->high, x += a->step) {
        const double *y = b->at;
        for (int64_t j = b->from; j < b->to; j += r->t->wide, y += b->step)
            put_tile(r, x, y, b->ld, i, j, depth, add);
    }
}

/* The end of the columns that are read in place: with a single row of pieces, b is used too rarely
 * for packing to pay. Only whole vectors can be read in place. */
static int64_t end_in_place(const stage *r, int64_t from, int64_t to) {
    if (r->b.own == 0 || !r->b.across) return from;
    return (to - from) % r->t->vector == 0 ? to : to - (to - from) % r->t->wide;
}

static void pieces(void *arg, int64_t from, int64_t to) {
    const stage *r = arg;
    int64_t in_a_row = ef_parts(r->b.size, r->cols);
    for (int64_t at = from; at < to; at++) {
        int64_t row = at / in_a_row * r->rows, col = at % in_a_row * r->cols;
        int64_t end_row = least(row + r->rows, r->a.size);
        int64_t end_col = least(col + r->cols, r->b.size);
        int64_t middle = end_in_place(r, col, end_col);
        for (int64_t p = 0; p < r->k; p += r->depth) {
            int64_t depth = least(r->depth, r->k - p);
            bool add = r->add || p > 0;
            strip a = packed(&r->a, p, depth, row, end_row);
            strip b = in_place(&r->b, p, col, middle);
            strip rest = packed(&r->b, p, depth, middle, end_col);
            multiply(r, &a, &b, depth, add);
            multiply(r, &a, &rest, depth, add);
        }
        if (r->last)
            ef_gemm_finish_block(r->g, r->row + row, r->col + col, end_row - row, end_col - col);
    }
}

static void run_stage(stage *r) {
    const double per_element = 0.7, per_product = 0.03; /* ns */
    r->groups = groups_of(&r->a) + groups_of(&r->b);
    ef_parallel(r->groups * ef_parts(r->k, r->depth), 1, per_element * GROUP * (double)r->depth,
                pack, r);
    ef_parallel_each(ef_parts(r->a.size, r->rows) * ef_parts(r->b.size, r->cols),
                     per_product * (double)r->rows * (double)r->cols * (double)r->k, pieces, r);
}

/* Halves the pieces until there are enough of them; a narrow c is divided along its longer axis
 * first. Returns the number of pieces. */
static int64_t choose_pieces(stage *r) {
    double work = (double)r->a.size * (double)r->b.size * (double)r->k;
    double wanted = work / least_piece < WANTED ? work / least_piece : WANTED;
    int64_t rows = ROWS, cols = COLS;
    bool flat = r->a.size <= ROWS, tall = r->b.size <= COLS;
    while ((double)(ef_parts(r->a.size, rows) * ef_parts(r->b.size, cols)) < wanted) {
        bool by_cols = flat ? cols > LEAST_COLS : tall ? rows == LEAST_ROWS : cols > rows;
        if (by_cols && cols > LEAST_COLS)
            cols /= 2;
        else if (rows > LEAST_ROWS)
            rows /= 2;
        else
            break;
    }
    r->rows = ef_part(r->a.size, ef_parts(r->a.size, rows), r->t->high);
    r->cols = ef_part(r->b.size, ef_parts(r->b.size, cols), r->t->wide);
    return ef_parts(r->a.size, r->rows) * ef_parts(r->b.size, r->cols);
}

static bool pays(const ef_gemm_args *g) {
    return g->dtype == EF_F64 && g->m >= 16 && g->n >= 16 && g->k >= 12 &&
           (double)g->m * (double)g->n * (double)g->k >= least_work;
}

/* Fills in what all stages have in common, with the sizes of the largest, and allocates the panels.
 * Returns NULL if there are too few pieces or no memory. If c is one row (or column) of pieces, no
 * two of them share columns of b (rows of a), and every piece packs its own into memory that stays
 * in its cache. */
static double *choose_stage(const ef_gemm_args *g, stage *r) {
    int64_t rows = ef_part(g->m, ef_parts(g->m, FIELD), ROWS);
    int64_t cols = ef_part(g->n, ef_parts(g->n, FIELD), COLS);
    *r = (stage){.g = g, .t = choose_tiles(), .k = g->k};
    r->depth = ef_part(g->k, ef_parts(g->k, DEPTH), 4);
    r->a = (side){g->a, g->lda, g->op_a != EF_GEMM_N, rows, r->t->high, NULL, 0};
    r->b = (side){g->b, g->ldb, g->op_b == EF_GEMM_N, cols, r->t->wide, NULL, 0};
    if (choose_pieces(r) < FEWEST) return NULL;
    if (r->rows == g->m)
        r->b.own = ef_parts(r->cols, r->t->wide) * r->t->wide * r->depth;
    else if (r->cols == g->n)
        r->a.own = ef_parts(r->rows, r->t->high) * r->t->high * r->depth;
    int64_t step = (r->a.own ? 0 : padded(&r->a)) + (r->b.own ? 0 : padded(&r->b));
    int64_t stretches = most_packed / (int64_t)sizeof(double) / (step * r->depth);
    r->k = least(g->k, (stretches > 1 ? stretches : 1) * r->depth);
    int64_t size_a = r->a.own ? r->a.own * ef_pool_lanes() : padded(&r->a) * r->k;
    int64_t size_b = r->b.own ? r->b.own * ef_pool_lanes() : padded(&r->b) * r->k;
    double *panels = ef_scratch_take((size_t)(size_a + size_b) * sizeof(double));
    if (panels != NULL) r->a.panels = panels, r->b.panels = panels + size_a;
    return panels;
}

bool ef_gemm_packed(const ef_gemm_args *g) {
    stage first;
    if (!pays(g) || choose_stage(g, &first) == NULL) return false;
    for (int64_t row = 0; row < g->m; row += first.a.size)
        for (int64_t col = 0; col < g->n; col += first.b.size)
            for (int64_t p = 0; p < g->k; p += first.k) {
                stage r = first;
                r.row = row, r.col = col;
                r.a.x = part_at(&first.a, p, row), r.b.x = part_at(&first.b, p, col);
                r.a.size = least(r.a.size, g->m - row), r.b.size = least(r.b.size, g->n - col);
                r.k = least(r.k, g->k - p);
                r.add = g->add || p > 0, r.last = p + r.k == g->k;
                run_stage(&r);
            }
    ef_scratch_end(first.a.panels);
    return true;
}
#else
void ef_gemm_packed_avx2(bool only) { (void)only; }
bool ef_gemm_packed(const ef_gemm_args *g) {
    (void)g;
    return false;
}
#endif
