/* A block of scores has about the size of the second-level cache. The gradient computes the block's
 * scores and weights again instead of reading them: one more product, but no array of the size of
 * queries x keys is ever written to memory. Where the queries are too few for a piece of them for
 * each thread, all threads share one larger block after the other. */
#include "kernels/attention.h"
#include "base/pool.h"
#include "kernels/gemm.h"
#include "kernels/gemm_cut.h"
#include "kernels/softmax.h"
#include "tensor/scratch.h"

enum { BLOCK = 1 << 18, CLOSE = 1 << 12 }; /* scores in a block, and in the first-level cache */
/* Queries of a block: at least, because every block packs k and v again, so long as pieces of the
 * work are missing, and in steps of. */
enum { LEAST_ROWS = 64, FEW_ROWS = 128, STEP = 16 };
enum { WANTED = 8 };      /* pieces of the work */
enum { WHOLE = 1 << 20 }; /* scores in a block that all threads share */
enum { STRETCH = 1024 };  /* elements that are summed in their own type */

typedef struct job {
    const ef_attention *a;
    size_t size;      /* of an element */
    int64_t batch;    /* number of matrices */
    int64_t rows;     /* queries of a block */
    int64_t ranges;   /* pieces into which the blocks of one matrix are divided */
    int64_t room;     /* elements of a block */
    bool whole;       /* too few pieces: all threads share each block */
    char *blocks;     /* for each piece at a time one block of scores, for gradients two */
    char *partial[2]; /* of dk and dv: a matrix for each piece; NULL: there is one range */
} job;

/* ---- matrices -------------------------------------------------------------------------------- */

typedef struct matrix {
    void *at;
    int64_t row, col;
} matrix;

static matrix turned(matrix x) { return (matrix){x.at, x.col, x.row}; }

static void *element(const ef_attention *a, const ef_matrices *m, int64_t index, int64_t row,
                     size_t size) {
    int64_t at = row * m->row;
    for (int d = a->rank - 1; d >= 0; d--) {
        at += index % a->dim[d] * m->step[d];
        index /= a->dim[d];
    }
    return (char *)m->data + at * (int64_t)size;
}

/* The rows of matrix `index` from `row` on. */
static matrix rows_of(const job *j, const ef_matrices *m, int64_t index, int64_t row) {
    return (matrix){element(j->a, m, index, row, j->size), m->row, m->col};
}

static int64_t larger(int64_t x, int64_t y) { return x > y ? x : y; }

/* c = a b, or c += a b, where c is m x n. */
static void multiply(const job *j, int64_t m, int64_t n, int64_t k, matrix a, matrix b, matrix c,
                     bool add) {
    if (c.col != 1) {
        matrix x = turned(b);
        b = turned(a), a = x, c = turned(c);
        int64_t rows = n;
        n = m, m = rows;
    }
    ef_gemm_args g = {
        .dtype = j->a->dtype, .m = m, .n = n, .k = k, .a = a.at, .b = b.at, .c = c.at, .add = add};
    g.op_a = a.col == 1 ? EF_GEMM_N : EF_GEMM_T;
    g.op_b = b.col == 1 ? EF_GEMM_N : EF_GEMM_T;
    g.lda = g.op_a == EF_GEMM_N ? larger(a.row, k) : larger(a.col, m);
    g.ldb = g.op_b == EF_GEMM_N ? larger(b.row, n) : larger(b.col, k);
    g.ldc = larger(c.row, n);
    if (j->whole || j->a->queries < STEP) /* few rows have kernels of their own */
        ef_gemm(&g);
    else
        ef_gemm_single(&g);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* adjust: products become scores. weigh: with the weights p and the gradients d with respect to
 * them, d becomes the gradients with respect to the products. */
#define EACH_KEY _Pragma("omp simd") for (int64_t j = 0; j < keys; j++)
#define LOOPS(SUF, T)                                                                              \
    static void scale_##SUF(const ef_attention *a, T *x) {                                         \
        if (a->scale == NULL) return;                                                              \
        const int64_t keys = a->keys;                                                              \
        const T scale = *(const T *)a->scale;                                                      \
        if (a->divides) {                                                                          \
            EACH_KEY x[j] /= scale;                                                                \
        } else {                                                                                   \
            EACH_KEY x[j] *= scale;                                                                \
        }                                                                                          \
    }                                                                                              \
    static void fill_##SUF(const ef_attention *a, T *x, const bool *m, T fill) {                   \
        const int64_t keys = a->keys;                                                              \
        if (a->mask.col != 0) {                                                                    \
            EACH_KEY x[j] = m[j] ? x[j] : fill;                                                    \
        } else if (!*m) {                                                                          \
            EACH_KEY x[j] = fill;                                                                  \
        }                                                                                          \
    }                                                                                              \
    static void add_bias_##SUF(const ef_attention *a, T *x, const T *b) {                          \
        const int64_t keys = a->keys;                                                              \
        if (a->bias.col != 0) {                                                                    \
            EACH_KEY x[j] += b[j];                                                                 \
        } else {                                                                                   \
            const T same = *b;                                                                     \
            EACH_KEY x[j] += same;                                                                 \
        }                                                                                          \
    }                                                                                              \
    static void adjust_##SUF(const ef_attention *a, T *x, int64_t index, int64_t row, int64_t n) { \
        for (int64_t i = row; i < row + n; i++, x += a->keys) {                                    \
            scale_##SUF(a, x);                                                                     \
            if (a->bias.data != NULL)                                                              \
                add_bias_##SUF(a, x, element(a, &a->bias, index, i, sizeof(T)));                   \
            if (a->mask.data != NULL)                                                              \
                fill_##SUF(a, x, element(a, &a->mask, index, i, 1), *(const T *)a->fill);          \
        }                                                                                          \
    }                                                                                              \
    static T dot_##SUF(const T *x, const T *y, int64_t n) {                                        \
        double sum = 0;                                                                            \
        for (int64_t at = 0; at < n; at += STRETCH) {                                              \
            int64_t end = n - at < STRETCH ? n : at + STRETCH;                                     \
            T s = 0;                                                                               \
            _Pragma("omp simd reduction(+ : s)") for (int64_t j = at; j < end; j++) s +=           \
                x[j] * y[j];                                                                       \
            sum += (double)s;                                                                      \
        }                                                                                          \
        return (T)sum;                                                                             \
    }                                                                                              \
    static void weigh_##SUF(const ef_attention *a, const T *p, T *d, int64_t index, int64_t row,   \
                            int64_t n) {                                                           \
        const int64_t keys = a->keys;                                                              \
        for (int64_t i = row; i < row + n; i++, p += keys, d += keys) {                            \
            const T dot = dot_##SUF(p, d, keys);                                                   \
            EACH_KEY d[j] = (d[j] - dot) * p[j];                                                   \
            if (a->mask.data != NULL) fill_##SUF(a, d, element(a, &a->mask, index, i, 1), 0);      \
            scale_##SUF(a, d);                                                                     \
        }                                                                                          \
    }                                                                                              \
    /* One row of the sum of `n` partial matrices, in order; the first takes up the sum. */        \
    static void sum_##SUF(T *x, int64_t n, int64_t apart, int64_t cols, T *to, int64_t step) {     \
        for (int64_t k = 1; k < n; k++) {                                                          \
            const T *y = x + k * apart;                                                            \
            _Pragma("omp simd") for (int64_t j = 0; j < cols; j++) x[j] += y[j];                   \
        }                                                                                          \
        for (int64_t j = 0; j < cols; j++) to[j * step] = x[j];                                    \
    }
LOOPS(f32, float)
LOOPS(f64, double)

/* ---- blocks ---------------------------------------------------------------------------------- */

/* Queries [row, row + n) of matrix `index`, as dense rows. */
typedef struct block {
    const job *job;
    int64_t index, row, n;
    matrix p, d; /* scores, then weights; the gradients with respect to them */
} block;

/* Scores [from, to) of the block become weights. */
static void weigh_scores(void *arg, int64_t from, int64_t to) {
    const block *b = arg;
    const ef_attention *a = b->job->a;
    const int64_t some = larger(CLOSE / larger(a->keys, 1), 1);
    for (int64_t i = from; i < to; i += some) {
        char *at = (char *)b->p.at + (size_t)(i * a->keys) * b->job->size;
        int64_t rows = to - i < some ? to - i : some;
        if (a->dtype == EF_F32)
            adjust_f32(a, (float *)at, b->index, b->row + i, rows);
        else
            adjust_f64(a, (double *)at, b->index, b->row + i, rows);
        ef_softmax(a->dtype, false, at, at, rows, a->keys);
    }
}

/* Gradients [from, to) with respect to the weights become those with respect to the products. */
static void weigh_gradients(void *arg, int64_t from, int64_t to) {
    const block *b = arg;
    const ef_attention *a = b->job->a;
    const size_t before = (size_t)(from * a->keys) * b->job->size;
    const void *p = (char *)b->p.at + before;
    void *d = (char *)b->d.at + before;
    if (a->dtype == EF_F32)
        weigh_f32(a, p, d, b->index, b->row + from, to - from);
    else
        weigh_f64(a, p, d, b->index, b->row + from, to - from);
}

/* Calls fn over the rows of the block, on all threads if they share it. */
static void each_row(block *b, double cost_ns, ef_range_fn *fn) {
    if (b->job->whole)
        ef_parallel(b->n, 1, cost_ns * (double)b->job->a->keys, fn, b);
    else
        fn(b, 0, b->n);
}

static block weights(const job *j, int64_t index, int64_t row, int64_t n) {
    const ef_attention *a = j->a;
    int64_t buffers = a->dq.data != NULL || a->dk.data != NULL || a->dv.data != NULL ? 2 : 1;
    int64_t lane = j->whole ? 0 : ef_pool_lane();
    matrix s = {j->blocks + (size_t)(lane * buffers * j->room) * j->size, a->keys, 1};
    block b = {j, index, row, n, s, s};
    b.d.at = (char *)s.at + (size_t)j->room * j->size;
    multiply(j, n, a->keys, a->width, rows_of(j, &a->q, index, row),
             turned(rows_of(j, &a->k, index, 0)), s, false);
    each_row(&b, 1, weigh_scores);
    return b;
}

static void run_blocks(void *arg, int64_t from, int64_t to) {
    const job *j = arg;
    const ef_attention *a = j->a;
    const int64_t each = ef_parts(a->queries, j->rows);
    for (int64_t at = from; at < to; at++) {
        int64_t index = at / each, row = at % each * j->rows;
        int64_t n = a->queries - row < j->rows ? a->queries - row : j->rows;
        block b = weights(j, index, row, n);
        multiply(j, n, a->depth, a->keys, b.p, rows_of(j, &a->v, index, 0),
                 rows_of(j, &a->out, index, row), false);
    }
}

/* Where a piece adds up dk (0) or dv (1). */
static matrix sum_of(const job *j, int which, int64_t index, int64_t range) {
    const ef_attention *a = j->a;
    int64_t cols = which == 0 ? a->width : a->depth;
    if (j->partial[which] == NULL) return rows_of(j, which == 0 ? &a->dk : &a->dv, index, 0);
    int64_t before = (index * j->ranges + range) * a->keys * cols;
    return (matrix){j->partial[which] + (size_t)before * j->size, cols, 1};
}

static void block_gradient(const job *j, int64_t index, int64_t range, int64_t row, int64_t n,
                           bool add) {
    const ef_attention *a = j->a;
    block b = weights(j, index, row, n);
    matrix p = b.p, d = b.d, dout = rows_of(j, &a->out, index, row);
    if (a->dv.data != NULL)
        multiply(j, a->keys, a->depth, n, turned(p), dout, sum_of(j, 1, index, range), add);
    if (a->dq.data == NULL && a->dk.data == NULL) return;
    multiply(j, n, a->keys, a->depth, dout, turned(rows_of(j, &a->v, index, 0)), d, false);
    each_row(&b, 0.3, weigh_gradients);
    if (a->dq.data != NULL)
        multiply(j, n, a->width, a->keys, d, rows_of(j, &a->k, index, 0),
                 rows_of(j, &a->dq, index, row), false);
    if (a->dk.data != NULL)
        multiply(j, a->keys, a->width, n, turned(d), rows_of(j, &a->q, index, row),
                 sum_of(j, 0, index, range), add);
}

static void gradient_ranges(void *arg, int64_t from, int64_t to) {
    const job *j = arg;
    const int64_t queries = j->a->queries;
    const int64_t rows = ef_parts(ef_parts(queries, j->rows), j->ranges) * j->rows;
    for (int64_t at = from; at < to; at++) {
        int64_t index = at / j->ranges, range = at % j->ranges;
        int64_t first = range * rows, end = queries - first < rows ? queries : first + rows;
        for (int64_t row = first; row < end; row += j->rows)
            block_gradient(j, index, range, row, end - row < j->rows ? end - row : j->rows,
                           row > first);
    }
}

/* Keys [from, to) of all matrices, one after the other. */
static void add_ranges(void *arg, int64_t from, int64_t to) {
    const job *j = arg;
    const ef_attention *a = j->a;
    for (int which = 0; which < 2; which++) {
        if (j->partial[which] == NULL) continue;
        const ef_matrices *m = which == 0 ? &a->dk : &a->dv;
        const int64_t cols = which == 0 ? a->width : a->depth;
        for (int64_t at = from; at < to; at++) {
            int64_t index = at / a->keys, key = at % a->keys;
            void *out = element(a, m, index, key, j->size);
            char *x = (char *)sum_of(j, which, index, 0).at + (size_t)(key * cols) * j->size;
            if (a->dtype == EF_F32)
                sum_f32((float *)x, j->ranges, a->keys * cols, cols, out, m->col);
            else
                sum_f64((double *)x, j->ranges, a->keys * cols, cols, out, m->col);
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static job job_of(const ef_attention *a) {
    job j = {.a = a, .size = ef_dtype_size(a->dtype), .batch = 1, .ranges = 1};
    for (int d = 0; d < a->rank; d++) j.batch *= a->dim[d];
    if (a->queries == 0) return j;
    j.whole = j.batch * ef_parts(a->queries, FEW_ROWS) < WANTED;
    const int64_t most = j.whole ? WHOLE : BLOCK;
    j.rows = a->keys > 0 ? larger(most / a->keys, LEAST_ROWS) : most;
    while (!j.whole && j.rows > FEW_ROWS && j.batch * ef_parts(a->queries, j.rows) < WANTED)
        j.rows /= 2;
    j.rows = ef_part(a->queries, ef_parts(a->queries, j.rows), STEP);
    j.room = ef_parts(j.rows * a->keys, 16) * 16;
    return j;
}

/* Nanoseconds for `rows` queries. */
static double cost(const ef_attention *a, double products, int64_t rows) {
    double each = 0.015 * (double)(a->width + a->depth) * products / 2 + 1;
    return each * (double)rows * (double)a->keys;
}

/* Calls fn over [0, n), piece by piece if all threads share each block. */
static void each_piece(job *j, int64_t n, double cost_ns, ef_range_fn *fn) {
    if (j->whole)
        fn(j, 0, n);
    else
        ef_parallel_each(n, cost_ns, fn, j);
}

static int64_t blocks_at_a_time(const job *j) { return j->whole ? 1 : ef_pool_lanes(); }

bool ef_attention_run(const ef_attention *a) {
    if (a->queries == 0 || a->depth == 0) return true;
    job j = job_of(a);
    if (j.batch == 0) return true;
    j.blocks = ef_scratch_take((size_t)(blocks_at_a_time(&j) * j.room) * j.size + 1);
    if (j.blocks == NULL) return false;
    each_piece(&j, j.batch * ef_parts(a->queries, j.rows), cost(a, 2, j.rows), run_blocks);
    ef_scratch_end(j.blocks);
    return true;
}

/* The memory of the partial sums behind that of the blocks, if the work is divided into ranges. */
static int64_t place_partials(job *j, int64_t at, bool place) {
    const ef_attention *a = j->a;
    const ef_matrices *m[2] = {&a->dk, &a->dv};
    const int64_t cols[2] = {a->width, a->depth};
    for (int k = 0; k < 2; k++) {
        if (j->ranges == 1 || m[k]->data == NULL) continue;
        if (place) j->partial[k] = j->blocks + (size_t)at * j->size;
        at += j->batch * j->ranges * a->keys * cols[k];
    }
    return at;
}

/* Without queries no range is computed, but sums over them are zero all the same. */
static void no_queries(const job *j) {
    const ef_attention *a = j->a;
    for (int64_t index = 0; index < j->batch; index++) {
        matrix none = {NULL, 1, 1};
        if (a->dk.data != NULL)
            multiply(j, a->keys, a->width, 0, none, none, rows_of(j, &a->dk, index, 0), false);
        if (a->dv.data != NULL)
            multiply(j, a->keys, a->depth, 0, none, none, rows_of(j, &a->dv, index, 0), false);
    }
}

bool ef_attention_gradient(const ef_attention *a) {
    job j = job_of(a);
    if (j.batch == 0) return true;
    if (a->queries == 0) {
        no_queries(&j);
        return true;
    }
    int64_t blocks = ef_parts(a->queries, j.rows);
    if (j.batch < WANTED && !j.whole) j.ranges = ef_parts(WANTED, j.batch);
    if (j.ranges > blocks) j.ranges = blocks;
    j.ranges = ef_parts(blocks, ef_parts(blocks, j.ranges)); /* none is empty */
    int64_t scores = blocks_at_a_time(&j) * 2 * j.room;
    j.blocks = ef_scratch_take((size_t)place_partials(&j, scores, false) * j.size + 1);
    if (j.blocks == NULL) return false;
    place_partials(&j, scores, true);
    each_piece(&j, j.batch * j.ranges, cost(a, 5, ef_parts(a->queries, j.ranges)), gradient_ranges);
    if (j.ranges > 1)
        ef_parallel(j.batch * a->keys, 1, 0.1 * (double)(j.ranges * (a->width + a->depth)),
                    add_ranges, &j);
    ef_scratch_end(j.blocks);
    return true;
}
