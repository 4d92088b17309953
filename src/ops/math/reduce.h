/* What reduction-like ops share: reading their axes, and shapes with the reduced axes kept as 1. */
#ifndef EF_OPS_REDUCE_H
#define EF_OPS_REDUCE_H
#include "ops/build.h"

typedef struct ef_reduce_attrs {
    bool keep_dims;
} ef_reduce_attrs;

/* The axes in a tensor as a bit mask; an error names an axis that is out of range or repeated. */
ef_status *ef_reduce_mask(const ef_op *op, const ef_tensor *axes, int rank, uint32_t *mask);
/* Shape function of (input, axes) -> output with the attributes above. */
ef_shape_fn ef_reduce_shape;
/* The mask of input 1's axes if they are known and so is the rank of input 0. */
bool ef_reduce_known_mask(const ef_grad *g, uint32_t *mask);
/* The op's output, or the gradient of it, reshaped so that the reduced axes are back with size
 * 1. */
ef_value *ef_reduce_keep(ef_grad *g, ef_value *y);
#endif
