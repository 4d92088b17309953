/* A product large enough for several threads is divided into blocks of rows and columns. Every
 * block packs its part of the operands again, so there are only as many blocks as keep all threads
 * busy, and the operand that is expensive to pack (the right-hand one if it is stored transposed)
 * is divided less often. If c is too small to divide, k is: each range of k has its own partial
 * product, and these are added in pairs, which also keeps the precision of a long sum. */
#include "kernels/gemm_cut.h"
#include "base/pool.h"
#include "tensor/scratch.h"

/* Multiply-adds: of a product worth dividing, of one worth waking a thread for, and bounds for a
 * block. */
static const double worth_cutting = 4e5, worth_waking = 2e6;
static const double least_block = 1e6, most_block = 128e6, huge_block = 512e6;
/* The cost of reading an element of an operand, in multiply-adds: it matters for products with a
 * vector, which run at memory speed. */
static const double per_element = 10;
enum { BRIEF = 2, WANTED = 8, MANY = 16 };  /* blocks of a small, a medium and a large product */
enum { ROWS = 32, COLS = 96, DEPTH = 512 }; /* the library is slower for smaller blocks */
/* The least sizes if nothing else is left to divide. */
enum { LEAST_ROWS = 8, LEAST_COLS = 48, LEAST_DEPTH = 64 };
/* No single sum is longer: for a product with a vector a library adds the elements one by one. */
enum { LONG = 1 << 17, LONG_OF_FEW = 1 << 12, FEW = 8 };

static double weight(const ef_gemm_args *g) { /* relative to float32 */
    return g->dtype == EF_F32 ? 1 : g->dtype == EF_F64 ? 2 : g->dtype == EF_C64 ? 4 : 8;
}

static double work_of(const ef_gemm_args *g) {
    double m = (double)g->m, n = (double)g->n, k = (double)g->k;
    return (m * n * k + per_element * (m + n) * k) * weight(g);
}

static int64_t blocks_for(double work) {
    if (work < worth_cutting) return 1;
    if (work < worth_waking) return BRIEF;
    double each = work / WANTED;
    if (each < least_block) each = least_block;
    if (each > most_block) each = most_block > work / MANY ? most_block : work / MANY;
    return (int64_t)(work / (each < huge_block ? each : huge_block));
}

/* Chooses the cheapest grid of about `wanted` blocks. */
static void choose_grid(const ef_gemm_args *g, int64_t wanted, int rows, int cols,
                        ef_gemm_cut *cut) {
    bool turned = g->op_b != EF_GEMM_N;
    double cost_a = turned ? 1 : 6, cost_b = turned ? 3 : 1, best = 0;
    int64_t most_rows = g->m < 4 * rows ? 1 : g->m / rows, in_rows = 1;
    int64_t most_cols = g->n < 2 * cols ? 1 : g->n / cols, in_cols = 1;
    for (int64_t r = 1; r <= most_rows && r <= wanted; r++) {
        int64_t c = ef_parts(wanted, r);
        if (c > most_cols) c = most_cols;
        double packing = (double)c * (double)g->m * cost_a + (double)r * (double)g->n * cost_b;
        bool enough = in_rows * in_cols >= wanted;
        if (r * c >= wanted ? !enough || packing < best : r * c > in_rows * in_cols) {
            best = packing;
            in_rows = r, in_cols = c;
        }
    }
    cut->rows = ef_part(g->m, in_rows, 8), cut->cols = ef_part(g->n, in_cols, 16);
    cut->n_rows = ef_parts(g->m, cut->rows), cut->n_cols = ef_parts(g->n, cut->cols);
}

static void choose_depths(const ef_gemm_args *g, int64_t wanted, int64_t depth, ef_gemm_cut *cut) {
    bool few = g->m <= FEW || g->n <= FEW;
    int64_t least = ef_parts(g->k, few && g->dtype != EF_F64 ? LONG_OF_FEW : LONG);
    if (wanted > g->k / depth) wanted = g->k / depth;
    if (wanted < least) wanted = least;
    cut->depth = ef_part(g->k, wanted > 1 ? wanted : 1, 16);
    cut->depths = ef_parts(g->k, cut->depth);
}

/* A row times a matrix, or a transposed matrix times a column: the matrix is read row by row, and k
 * is the number of its rows. */
static bool is_sum_of_rows(const ef_gemm_args *g) {
    return (g->m == 1 && g->op_b == EF_GEMM_N) || (g->n == 1 && g->op_a != EF_GEMM_N);
}

ef_gemm_cut ef_gemm_cut_of(const ef_gemm_args *g) {
    ef_gemm_cut cut = {g->m, g->n, g->k, 1, 1, 1};
    double work = work_of(g);
    int64_t wanted = blocks_for(work);
    if (wanted == WANTED && g->op_b != EF_GEMM_N && work < 2 * most_block)
        wanted /= 2; /* expensive to pack */
    if (g->m == 1 && g->n == 1) {
        cut.depth = ef_part(g->k, wanted, LONG_OF_FEW);
        cut.depths = ef_parts(g->k, cut.depth);
        return cut;
    }
    if (is_sum_of_rows(g)) {
        choose_depths(g, wanted, LEAST_DEPTH, &cut);
        return cut;
    }
    if (wanted > 1) choose_grid(g, wanted, ROWS, COLS, &cut);
    choose_depths(g, wanted / (cut.n_rows * cut.n_cols), DEPTH, &cut);
    if (wanted > 1 && cut.n_rows * cut.n_cols * cut.depths == 1)
        choose_grid(g, wanted, LEAST_ROWS, LEAST_COLS, &cut);
    return cut;
}

typedef struct job {
    const ef_gemm_args *g;
    const ef_gemm_cut *cut;
    ef_gemm_fn *block;
    char *partial; /* `depths` products of m x n each; NULL: directly into c */
} job;

static int64_t end_of(int64_t at, int64_t size, int64_t all) {
    return all - at < size ? all : at + size;
}

/* The operands of one block. */
static ef_gemm_args block_of(const job *j, int64_t row, int64_t col, int64_t depth) {
    const ef_gemm_args *g = j->g;
    const ef_gemm_cut *cut = j->cut;
    const int64_t size = (int64_t)ef_dtype_size(g->dtype);
    ef_gemm_args b = *g;
    int64_t i = row * cut->rows, n = col * cut->cols, k = depth * cut->depth;
    b.m = end_of(i, cut->rows, g->m) - i;
    b.n = end_of(n, cut->cols, g->n) - n;
    b.k = end_of(k, cut->depth, g->k) - k;
    b.a = (const char *)g->a + (g->op_a == EF_GEMM_N ? i * g->lda + k : k * g->lda + i) * size;
    b.b = (const char *)g->b + (g->op_b == EF_GEMM_N ? k * g->ldb + n : n * g->ldb + k) * size;
    b.c = (char *)g->c + (i * g->ldc + n) * size;
    b.post = NULL;
    return b;
}

void ef_gemm_finish_block(const ef_gemm_args *g, int64_t row, int64_t col, int64_t rows,
                          int64_t cols) {
    if (g->post == NULL) return;
    const int64_t size = (int64_t)ef_dtype_size(g->dtype);
    ef_post p = *g->post;
    if (p.bias != NULL) p.bias = (const char *)p.bias + col * size;
    if (p.residual != NULL) p.residual = (const char *)p.residual + (row * g->n + col) * size;
    p.residual_step = g->n;
    ef_post_rows(g->dtype, &p, (char *)g->c + (row * g->ldc + col) * size, g->ldc, cols, 0, rows);
}

/* Blocks with all of k: one after the other if k is long and there is no memory for partial
 * sums. */
static void whole_blocks(void *arg, int64_t from, int64_t to) {
    const job *j = arg;
    for (int64_t at = from; at < to; at++) {
        int64_t row = at / j->cut->n_cols, col = at % j->cut->n_cols;
        ef_gemm_args b = {.m = 0};
        for (int64_t d = 0; d < j->cut->depths; d++) {
            b = block_of(j, row, col, d);
            b.add = j->g->add || d > 0;
            j->block(&b);
        }
        ef_gemm_finish_block(j->g, row * j->cut->rows, col * j->cut->cols, b.m, b.n);
    }
}

static void partial_blocks(void *arg, int64_t from, int64_t to) {
    const job *j = arg;
    const ef_gemm_args *g = j->g;
    const int64_t size = (int64_t)ef_dtype_size(g->dtype), grid = j->cut->n_rows * j->cut->n_cols;
    for (int64_t at = from; at < to; at++) {
        int64_t d = at / grid, in = at % grid;
        ef_gemm_args b = block_of(j, in / j->cut->n_cols, in % j->cut->n_cols, d);
        int64_t place = ((char *)b.c - (char *)g->c) / size;
        place = place / g->ldc * g->n + place % g->ldc;
        b.c = j->partial + (d * g->m * g->n + place) * size;
        b.ldc = g->n;
        b.add = false;
        j->block(&b);
    }
}

#define ADD(SUF, T)                                                \
    static void add_##SUF(void *to, const void *from, int64_t n) { \
        T *x = to;                                                 \
        const T *y = from;                                         \
        for (int64_t k = 0; k < n; k++) x[k] += y[k];              \
    }
ADD(F32, float)
ADD(F64, double)

/* Partial products are added in pairs; complex numbers as pairs of real ones. */
static void add_partials(const job *j, int64_t from_row, int64_t to_row) {
    const ef_gemm_args *g = j->g;
    bool wide = g->dtype == EF_F64 || g->dtype == EF_C128;
    int64_t numbers = ef_dtype_in(g->dtype, EF_COMPLEX) ? 2 : 1;
    void (*add)(void *, const void *, int64_t) = wide ? add_F64 : add_F32;
    size_t size = ef_dtype_size(g->dtype), line = (size_t)g->n * size;
    size_t step = (size_t)g->m * line;
    int64_t n = (to_row - from_row) * g->n * numbers, depths = j->cut->depths;
    char *first = j->partial + (size_t)from_row * line;
    for (int64_t half = 1; half < depths; half *= 2)
        for (int64_t d = 0; d + half < depths; d += 2 * half)
            add(first + (size_t)d * step, first + (size_t)(d + half) * step, n);
    for (int64_t i = from_row; i < to_row; i++) {
        char *c = (char *)g->c + (size_t)(i * g->ldc) * size, *sum = j->partial + (size_t)i * line;
        if (g->add)
            add(c, sum, g->n * numbers);
        else
            memcpy(c, sum, line);
    }
    if (g->post != NULL) ef_post_rows(g->dtype, g->post, g->c, g->ldc, g->n, from_row, to_row);
}

static void sum_rows(void *arg, int64_t from, int64_t to) { add_partials(arg, from, to); }

static void run_blocks(const ef_gemm_args *g, int64_t n, ef_range_fn *fn, job *j) {
    const double per_work = 0.03; /* ns */
    if (work_of(g) < worth_waking)
        ef_parallel_brief(n, fn, j);
    else
        ef_parallel_each(n, per_work * work_of(g) / (double)n, fn, j);
}

void ef_gemm_in_blocks(const ef_gemm_args *g, const ef_gemm_cut *cut, ef_gemm_fn *block) {
    job j = {g, cut, block, NULL};
    int64_t grid = cut->n_rows * cut->n_cols;
    size_t line = (size_t)g->n * ef_dtype_size(g->dtype);
    if (cut->depths > 1 && grid < WANTED)
        j.partial = ef_scratch_take((size_t)cut->depths * (size_t)g->m * line);
    if (j.partial == NULL) {
        run_blocks(g, grid, whole_blocks, &j);
        return;
    }
    run_blocks(g, grid * cut->depths, partial_blocks, &j);
    ef_parallel(g->m, 1, 0.2 * (double)cut->depths * (double)g->n, sum_rows, &j);
    ef_scratch_end(j.partial);
}
