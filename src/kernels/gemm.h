/* Matrix products of any numeric type: c = op(a) op(b), with an epilogue of bias, residual and
 * activation. Nothing is cached per shape, so a new batch size costs nothing.
 *
 * Implementations: f32 uses oneDNN's sgemm, except tiny products, which are computed in registers
 * here; f64 uses our own kernel if the product is large, else OpenBLAS; complex types use OpenBLAS;
 * 16-bit floats are converted to f32; integers use our own loop. */
#ifndef EF_KERNELS_GEMM_H
#define EF_KERNELS_GEMM_H
#include "kernels/activation.h"
#include "tensor/dtype.h"

typedef enum ef_gemm_op { EF_GEMM_N, EF_GEMM_T, EF_GEMM_C } ef_gemm_op; /* C: conjugate transpose */

/* The epilogue: c = act(c + bias + residual). */
typedef struct ef_post {
    const void *bias;     /* n elements, or NULL */
    const void *residual; /* m rows of n elements, or NULL; may be the memory of c only if `add` */
    ef_activation act;
    float alpha;           /* slope of LEAKY_RELU */
    int64_t residual_step; /* elements from one row of the residual to the next; 0: n */
} ef_post;

typedef struct ef_gemm_args {
    ef_dtype dtype;
    ef_gemm_op op_a, op_b;
    int64_t m, n, k;       /* c is m x n */
    int64_t lda, ldb, ldc; /* elements from one stored row to the next */
    const void *a, *b;
    void *c;
    bool add;            /* c += op(a) op(b) instead of c = */
    const ef_post *post; /* NULL: none. Floats only. */
    void *scratch;       /* ef_gemm_scratch bytes; NULL if that is 0 */
} ef_gemm_args;

/* Fills in the other fields for dense row-major matrices. */
static inline ef_gemm_args ef_gemm_dense(ef_dtype t, ef_gemm_op op_a, ef_gemm_op op_b, int64_t m,
                                         int64_t n, int64_t k, const void *a, const void *b,
                                         void *c) {
    return (ef_gemm_args){
        t, op_a, op_b, m,     n,    k,   op_a == EF_GEMM_N ? k : m, op_b == EF_GEMM_N ? n : k, n,
        a, b,    c,    false, NULL, NULL};
}

/* 0 for all but the 16-bit floats. Only reads dtype, sizes and strides. */
size_t ef_gemm_scratch(const ef_gemm_args *g);
void ef_gemm(const ef_gemm_args *g);
/* A product that is one piece of a larger computation: on the calling thread, without an epilogue.
 * Any type but the 16-bit floats. */
void ef_gemm_single(const ef_gemm_args *g);

/* Many products. Batch index i (rank dims, row-major) reads a + sum i*step_a and b + sum i*step_b
 * (elements; a step of 0 repeats a matrix); results are stored one after the other, ldc = n. */
typedef struct ef_gemm_batch {
    int rank;
    int64_t dim[8], step_a[8], step_b[8];
} ef_gemm_batch;
size_t ef_gemm_batched_scratch(const ef_gemm_args *g, const ef_gemm_batch *batch);
void ef_gemm_batched(const ef_gemm_args *g, const ef_gemm_batch *batch);

/* Only the epilogue, for rows [from, to) of a finished product. */
void ef_post_rows(ef_dtype t, const ef_post *p, void *c, int64_t ldc, int64_t n, int64_t from,
                  int64_t to);
#endif
