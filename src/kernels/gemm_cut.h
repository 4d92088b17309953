/* How a product is divided among threads. The division depends only on the sizes, so the result is
 * the same for any number of threads. */
#ifndef EF_KERNELS_GEMM_CUT_H
#define EF_KERNELS_GEMM_CUT_H
#include "kernels/gemm.h"

/* The number of parts of `size` elements (the last may have fewer) that cover n. */
static inline int64_t ef_parts(int64_t n, int64_t size) { return n / size + (n % size != 0); }
/* The size of one of `n` equal parts, a multiple of `unit`. */
static inline int64_t ef_part(int64_t size, int64_t n, int64_t unit) {
    int64_t each = ef_parts(size, n);
    each = ef_parts(each, unit) * unit;
    return each < size ? each : size;
}

/* A grid of blocks of c; each has all of k, or one of `depths` ranges of it. */
typedef struct ef_gemm_cut {
    int64_t rows, cols, depth;      /* of a block; the last one of each kind may be smaller */
    int64_t n_rows, n_cols, depths; /* number of blocks */
} ef_gemm_cut;
ef_gemm_cut ef_gemm_cut_of(const ef_gemm_args *g);

/* Computes one block on the calling thread: c = op(a) op(b), or c +=; no epilogue. */
typedef void ef_gemm_fn(const ef_gemm_args *g);
/* Computes the whole product with its epilogue, block by block. */
void ef_gemm_in_blocks(const ef_gemm_args *g, const ef_gemm_cut *cut, ef_gemm_fn *block);
/* Applies the epilogue to the block of c that begins at (row, col). */
void ef_gemm_finish_block(const ef_gemm_args *g, int64_t row, int64_t col, int64_t rows,
                          int64_t cols);
#endif
