/* Elements stacked into batches: the memory of a batch is allocated once, from the shapes of its
 * first element, and each element is copied into its row. Variants are stacked as a TensorList. */
#ifndef EF_DATA_ROWS_H
#define EF_DATA_ROWS_H
#include "tensor/tensor.h"

typedef struct ef_rows {
    ef_tensor *out; /* one per component; dtype 0 before the first element */
    int width;
    int64_t most, n, room; /* rows wanted, filled, allocated */
} ef_rows;

/* out: `width` zeroed tensors. They hold a batch after finish; end releases them after a failure.
 */
static inline ef_rows ef_rows_begin(ef_tensor *out, int width, int64_t most) {
    return (ef_rows){.out = out, .width = width, .most = most};
}
ef_status *ef_rows_put(ef_rows *r, const ef_tensor *element); /* borrowed */
void ef_rows_finish(ef_rows *r);
void ef_rows_end(ef_rows *r);

/* Rows [from, from + n) of a tensor as one of its own; row: without the first axis, n is 1. */
ef_status *ef_rows_cut(const ef_tensor *t, int64_t from, int64_t n, bool row, ef_tensor *out);
/* Makes room for `want` elements, of which `have` are set: doubles the capacity; new entries are
 * zeroed. */
ef_status *ef_elements_reserve(ef_tensor **elements, int64_t have, int64_t want, int width);
void ef_element_release(ef_tensor *element, int width);
#endif
