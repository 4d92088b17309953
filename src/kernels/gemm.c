/* Chooses the implementation of a product. Large float64 products have a kernel of our own
 * (gemm_packed.c); others are divided into blocks (gemm_cut.c), and each block is one library call
 * on one thread. oneDNN's sgemm is faster than OpenBLAS's for all but tiny products and, on AVX2,
 * those whose rows are a multiple of 2 KiB apart: there it does not copy its operands, and rows
 * conflict in the sets of the cache. */
#include "kernels/gemm.h"
#include "base/pool.h"
#include "base/signal_stack.h"
#include "kernels/blas.h"
#include "kernels/gemm_cut.h"
#include "kernels/gemm_loop.h"
#include "kernels/gemm_packed.h"
#include "kernels/gemm_thin.h"
#include "kernels/half.h"
#include <cblas.h>
#include <limits.h>
#include <oneapi/dnnl/dnnl.h>

static double work_of(const ef_gemm_args *g) { return (double)g->m * (double)g->n * (double)g->k; }

static bool fits_blas(const ef_gemm_args *g) {
    return g->m <= INT_MAX && g->n <= INT_MAX && g->k <= INT_MAX && g->lda <= INT_MAX &&
           g->ldb <= INT_MAX && g->ldc <= INT_MAX;
}

static int blas_op(ef_gemm_op op, bool complex_type) {
    if (op == EF_GEMM_N) return CblasNoTrans;
    return op == EF_GEMM_C && complex_type ? CblasConjTrans : CblasTrans;
}

static void by_blas(const ef_gemm_args *g) {
    bool is_complex = ef_dtype_in(g->dtype, EF_COMPLEX);
    int ta = blas_op(g->op_a, is_complex), tb = blas_op(g->op_b, is_complex);
    int m = (int)g->m, n = (int)g->n, k = (int)g->k;
    int lda = (int)g->lda, ldb = (int)g->ldb, ldc = (int)g->ldc;
    if (g->dtype == EF_F32) {
        cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, g->a, lda, g->b, ldb, g->add, g->c, ldc);
    } else if (g->dtype == EF_F64) {
        cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, g->a, lda, g->b, ldb, g->add, g->c, ldc);
    } else if (g->dtype == EF_C64) {
        const float one[2] = {1, 0}, beta[2] = {g->add, 0};
        cblas_cgemm(CblasRowMajor, ta, tb, m, n, k, one, g->a, lda, g->b, ldb, beta, g->c, ldc);
    } else {
        const double one[2] = {1, 0}, beta[2] = {g->add, 0};
        cblas_zgemm(CblasRowMajor, ta, tb, m, n, k, one, g->a, lda, g->b, ldb, beta, g->c, ldc);
    }
}

static bool by_dnnl(const ef_gemm_args *g) {
    ef_signal_stack();
    char ta = g->op_a == EF_GEMM_N ? 'N' : 'T', tb = g->op_b == EF_GEMM_N ? 'N' : 'T';
    return dnnl_sgemm(ta, tb, g->m, g->n, g->k, 1, g->a, g->lda, g->b, g->ldb, g->add, g->c,
                      g->ldc) == dnnl_success;
}

static bool strides_clash(const ef_gemm_args *g) {
    return g->m >= 64 && g->n >= 64 && g->k >= 64 && g->ldb % 512 == 0 &&
           dnnl_get_effective_cpu_isa() < dnnl_cpu_isa_avx512_core;
}

/* A single sum of products: chunks are summed in float, and their sums in double. */
static void dot(const ef_gemm_args *g) {
    enum { STRETCH = 1024 };
    const float *a = g->a, *b = g->b;
    int64_t step_a = g->op_a == EF_GEMM_N ? 1 : g->lda, step_b = g->op_b == EF_GEMM_N ? g->ldb : 1;
    double sum = g->add ? (double)*(float *)g->c : 0;
    for (int64_t from = 0; from < g->k; from += STRETCH) {
        int64_t n = g->k - from < STRETCH ? g->k - from : STRETCH;
        const float *x = a + from * step_a, *y = b + from * step_b;
        float s = 0;
        if (step_a == 1 && step_b == 1) {
#pragma omp simd reduction(+ : s)
            for (int64_t i = 0; i < n; i++) s += x[i] * y[i];
        } else {
            for (int64_t i = 0; i < n; i++) s += x[i * step_a] * y[i * step_b];
        }
        sum += (double)s;
    }
    *(float *)g->c = (float)sum;
}

/* The product without epilogue by a library, on this thread; m, n and k are not zero. */
static void multiply(const ef_gemm_args *g) {
    if (g->dtype == EF_F32 && g->m == 1 && g->n == 1) {
        dot(g);
        return;
    }
    bool fits = fits_blas(g);
    ef_blas_begin();
    if (g->dtype == EF_F32) {
        if (fits && strides_clash(g))
            by_blas(g);
        else if (!by_dnnl(g))
            ef_gemm_loop(g);
    } else if (fits) {
        by_blas(g);
    } else {
        ef_gemm_loop(g);
    }
}

static void sweep_rows(void *arg, int64_t from, int64_t to) {
    const ef_gemm_args *g = arg;
    ef_post_rows(g->dtype, g->post, g->c, g->ldc, g->n, from, to);
}

static void finish(const ef_gemm_args *g) {
    static const double cost[EF_ACTS] = {0.15, 0.15, 0.15, 1, 1.5, 1, 0.15}; /* ns per element */
    if (g->post == NULL) return;
    if (g->m * g->n <= 4096)
        ef_post_rows(g->dtype, g->post, g->c, g->ldc, g->n, 0, g->m);
    else
        ef_parallel(g->m, 1, cost[g->post->act] * (double)g->n, sweep_rows, (void *)(uintptr_t)g);
}

/* Any type but the 16-bit floats; m, n and k are not zero. */
static void product(const ef_gemm_args *g) {
    if (g->dtype == EF_F32 && (ef_gemm_tiny(g) || ef_gemm_thin(g))) {
        finish(g);
        return;
    }
    if (!ef_dtype_in(g->dtype, EF_BIT(F32) | EF_BIT(F64) | EF_COMPLEX)) {
        ef_gemm_loop(g);
        return;
    }
    if (ef_gemm_packed(g)) return;
    ef_gemm_cut cut = ef_gemm_cut_of(g);
    if (cut.n_rows * cut.n_cols * cut.depths > 1) {
        ef_gemm_in_blocks(g, &cut, multiply);
        return;
    }
    multiply(g);
    finish(g);
}

/* Number of elements from the first to the last of a matrix of `rows` rows of `cols` elements, `ld`
 * apart. */
static int64_t stored(int64_t rows, int64_t cols, int64_t ld) {
    return rows == 0 ? 0 : (rows - 1) * ld + cols;
}
static int64_t stored_a(const ef_gemm_args *g) {
    return g->op_a == EF_GEMM_N ? stored(g->m, g->k, g->lda) : stored(g->k, g->m, g->lda);
}
static int64_t stored_b(const ef_gemm_args *g) {
    return g->op_b == EF_GEMM_N ? stored(g->k, g->n, g->ldb) : stored(g->n, g->k, g->ldb);
}
static size_t whole_lines(int64_t floats) {
    return ((size_t)floats * sizeof(float) + 63) / 64 * 64;
}

size_t ef_gemm_scratch(const ef_gemm_args *g) {
    if (!ef_is_half(g->dtype)) return 0;
    return whole_lines(stored_a(g)) + whole_lines(stored_b(g)) + whole_lines(g->m * g->n);
}

typedef struct widening {
    ef_dtype dtype;
    float *wide;
    void *half;
} widening;

static void widen(void *arg, int64_t from, int64_t to) {
    const widening *w = arg;
    ef_widen(w->dtype, w->wide + from, (const ef_f16 *)w->half + from, to - from);
}

static void narrow(void *arg, int64_t from, int64_t to) {
    const widening *w = arg;
    ef_narrow(w->dtype, (ef_f16 *)w->half + from, w->wide + from, to - from);
}

static void by_floats(const ef_gemm_args *g) {
    float *a = g->scratch;
    float *b = (float *)((char *)a + whole_lines(stored_a(g)));
    float *c = (float *)((char *)b + whole_lines(stored_b(g)));
    const double cost = 0.3;
    widening wa = {g->dtype, a, (void *)(uintptr_t)g->a},
             wb = {g->dtype, b, (void *)(uintptr_t)g->b};
    ef_parallel(stored_a(g), 4096, cost, widen, &wa);
    ef_parallel(stored_b(g), 4096, cost, widen, &wb);
    if (g->add) {
        for (int64_t i = 0; i < g->m; i++) {
            widening wc = {g->dtype, c + i * g->n, (char *)g->c + 2 * i * g->ldc};
            widen(&wc, 0, g->n);
        }
    }
    ef_gemm_args f = *g;
    f.dtype = EF_F32, f.a = a, f.b = b, f.c = c, f.ldc = g->n, f.post = NULL;
    product(&f);
    if (g->ldc == g->n) {
        widening wc = {g->dtype, c, g->c};
        ef_parallel(g->m * g->n, 4096, cost, narrow, &wc);
    } else {
        for (int64_t i = 0; i < g->m; i++) {
            widening wc = {g->dtype, c + i * g->n, (char *)g->c + 2 * i * g->ldc};
            narrow(&wc, 0, g->n);
        }
    }
}

/* A product of which nothing is summed. */
static void put_zeros(const ef_gemm_args *g) {
    size_t size = ef_dtype_size(g->dtype);
    for (int64_t i = 0; i < g->m && !g->add; i++)
        memset((char *)g->c + (size_t)(i * g->ldc) * size, 0, (size_t)g->n * size);
}

void ef_gemm_single(const ef_gemm_args *g) {
    if (g->m == 0 || g->n == 0) return;
    if (g->k == 0)
        put_zeros(g);
    else if (!ef_dtype_in(g->dtype, EF_BIT(F32) | EF_BIT(F64) | EF_COMPLEX))
        ef_gemm_loop(g);
    else if (g->dtype != EF_F32 || !ef_gemm_tiny(g))
        multiply(g);
}

void ef_gemm(const ef_gemm_args *g) {
    if (g->m == 0 || g->n == 0) return;
    if (g->k == 0) {
        put_zeros(g);
        finish(g);
    } else if (ef_is_half(g->dtype)) {
        by_floats(g);
        finish(g);
    } else {
        product(g);
    }
}

/* ---- batches ----------------------------------------------------------------------------------
 */

typedef struct batch_job {
    const ef_gemm_args *g;
    const ef_gemm_batch *batch;
} batch_job;

static int64_t batch_count(const ef_gemm_batch *b) {
    int64_t n = 1;
    for (int d = 0; d < b->rank; d++) n *= b->dim[d];
    return n;
}

static void run_range(void *arg, int64_t from, int64_t to) {
    const batch_job *j = arg;
    const ef_gemm_batch *s = j->batch;
    const size_t size = ef_dtype_size(j->g->dtype);
    for (int64_t i = from; i < to; i++) {
        int64_t rest = i, at_a = 0, at_b = 0;
        for (int d = s->rank - 1; d >= 0; d--) {
            int64_t k = rest % s->dim[d];
            rest /= s->dim[d];
            at_a += k * s->step_a[d];
            at_b += k * s->step_b[d];
        }
        ef_gemm_args g = *j->g;
        g.a = (const char *)g.a + (size_t)at_a * size;
        g.b = (const char *)g.b + (size_t)at_b * size;
        g.c = (char *)g.c + (size_t)(i * g.m * g.n) * size;
        ef_gemm(&g);
    }
}

/* One right-hand matrix for all, and the left ones are contiguous like one tall matrix: a single
 * product. */
static bool is_tall(const ef_gemm_args *g, const ef_gemm_batch *s) {
    int64_t step = g->m * g->k;
    if (g->op_a != EF_GEMM_N || g->lda != g->k) return false;
    for (int d = s->rank - 1; d >= 0; d--) {
        if (s->dim[d] == 1) continue;
        if (s->step_b[d] != 0 || s->step_a[d] != step) return false;
        step *= s->dim[d];
    }
    return true;
}

size_t ef_gemm_batched_scratch(const ef_gemm_args *g, const ef_gemm_batch *batch) {
    if (!is_tall(g, batch)) return ef_gemm_scratch(g);
    ef_gemm_args tall = *g;
    tall.m = g->m * batch_count(batch);
    return ef_gemm_scratch(&tall);
}

void ef_gemm_batched(const ef_gemm_args *g, const ef_gemm_batch *batch) {
    int64_t count = batch_count(batch);
    if (count == 0 || g->m == 0 || g->n == 0) return;
    if (count == 1 || is_tall(g, batch)) {
        ef_gemm_args tall = *g;
        tall.m = g->m * count;
        ef_gemm(&tall);
        return;
    }
    batch_job j = {g, batch};
    /* A large product uses all threads by itself, so large products run one after the other. 16-bit
     * floats share one scratch area, so they also run one by one. */
    bool alone = ef_is_half(g->dtype) || (work_of(g) > 4e6 && count < 4 * ef_pool_size());
    if (alone)
        run_range(&j, 0, count);
    else
        ef_parallel(count, 1, 0.03 * work_of(g) + 50, run_range, &j);
}
