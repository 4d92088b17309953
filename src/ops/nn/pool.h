/* What the pooling ops share. */
#ifndef EF_OPS_POOL_H
#define EF_OPS_POOL_H
#include "kernels/pooling.h"
#include "ops/build.h"
#include "ops/nn/window.h"

/* Input 0 is the image; out 0 (and 1, if there is one) gets the pooled shape. ksize and strides are
 * attributes or, if sizes >= 0, inputs `sizes` and `sizes + 1`. */
ef_status *ef_pool_infer(ef_infer *i, int rank, int sizes);
/* The same for ops whose output has an image's shape and that also take the pooled gradient. */
ef_status *ef_pool_infer_grad(ef_infer *i, int rank, int image, int pooled, int sizes);
/* Fails if input k cannot have the shape `made`, which the window gives. */
ef_status *ef_pool_check(const ef_infer *i, const ef_shape *made, int k);
/* The window of a call, flattened for the kernels; pooled may be NULL (then it is not checked). */
ef_status *ef_pool_box(const ef_call *c, int rank, const ef_tensor *image, const ef_tensor *pooled,
                       int sizes, ef_window_box *b);
/* Inference for an image's shape that is given as a tensor of sizes (AvgPoolGrad). */
ef_status *ef_pool_infer_sizes(ef_infer *i, int rank);

#define EF_POOL_ATTRS(...)                                                                    \
    {                                                                                         \
        EF_WINDOW_ATTR(ksize, "list(int)", NULL), EF_WINDOW_ATTR(strides, "list(int)", NULL), \
            __VA_ARGS__,                                                                      \
    }
#endif
