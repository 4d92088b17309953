/* The elementwise driver: broadcasting, threading and in-place reuse, so that an op is only its
 * expression. */
#ifndef EF_OPS_ELEMENTWISE_H
#define EF_OPS_ELEMENTWISE_H
#include "ops/op.h"

ef_kernel_fn ef_run_elementwise;
/* The same with the tile chosen by the caller (fused groups, eager fast path). */
void ef_elementwise(ef_tile_fn *tile, const void *attrs, int n_in, ef_tensor *const *in,
                    ef_tensor *out);
/* The usual row: every dtype the tile table has. */
#define EF_ELEMENTWISE_KERNEL                                                      \
    {                                                                              \
        { EF_CPU | EF_TEST, EF_PLAIN, ef_run_elementwise, NULL, NULL, NULL, NULL } \
    }
#endif
