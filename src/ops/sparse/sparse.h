/* What the ops over sparse tensors share. A sparse tensor is three tensors: indices [n, rank],
 * values [n] and the dense shape [rank]; only the kernel can check that they agree. */
#ifndef EF_OPS_SPARSE_H
#define EF_OPS_SPARSE_H
#include "ops/array/array.h"

/* Checks the shapes of indices, values and shape, inputs k, k + 1, k + 2; *rank: the dense rank, or
 * unknown. */
ef_status *ef_sparse_facts(const ef_infer *i, int k, int64_t *rank);
/* The same at run time: n rows of rank coordinates within dims. A coordinate outside dims is an
 * error. */
typedef struct ef_sparse {
    int64_t n;
    int rank;
    const int64_t *index; /* n * rank */
    const ef_tensor *values;
    int64_t dim[EF_MAX_RANK];
} ef_sparse;
ef_status *ef_sparse_in(const ef_call *c, int k, ef_sparse *out);
/* Negative, zero or positive if row a is before, equal to or after row b. */
static inline int ef_index_order(const int64_t *a, const int64_t *b, int rank) {
    for (int d = 0; d < rank; d++)
        if (a[d] != b[d]) return a[d] < b[d] ? -1 : 1;
    return 0;
}
/* One row of coordinates as text, "[1, 2]". */
ef_brief ef_index_brief(const int64_t *at, int rank);
#define EF_INDEX(at, rank) ef_index_brief(at, rank).text
#endif
