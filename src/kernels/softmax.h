/* Softmax, its logarithm and the cross-entropies, row by row. Floats only. */
#ifndef EF_KERNELS_SOFTMAX_H
#define EF_KERNELS_SOFTMAX_H
#include "tensor/dtype.h"

/* out may be in. */
void ef_softmax(ef_dtype t, bool log, const void *in, void *out, int64_t rows, int64_t n);

/* loss[r] = sum_j labels[r][j] * (log(sum_k exp(x[r][k])) - x[r][j]); backprop = softmax(x) -
 * labels. Element (r, j) of an operand is at r * row + j * col, so that 0 broadcasts; col is 0
 * or 1. */
typedef struct ef_cross_entropy {
    ef_dtype dtype;
    int64_t rows, n;
    const void *logits, *labels;
    int64_t logits_row, logits_col, labels_row, labels_col;
    void *loss, *backprop;
} ef_cross_entropy;
void ef_softmax_cross_entropy(const ef_cross_entropy *x);

/* The same with one class per row, each in [0, n) (the caller has checked). The logits are
 * dense. */
void ef_sparse_cross_entropy(ef_dtype t, const void *logits, const void *labels,
                             ef_dtype label_type, void *loss, void *backprop, int64_t rows,
                             int64_t n);
#endif
