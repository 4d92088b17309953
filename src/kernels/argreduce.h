/* The index of the largest or smallest element along the middle axis of [outer, n, inner]. Among
 * equal elements the first wins; NaN is never selected (all NaN: 0). */
#ifndef EF_KERNELS_ARGREDUCE_H
#define EF_KERNELS_ARGREDUCE_H
#include "tensor/dtype.h"

typedef struct ef_argreduce {
    ef_dtype dtype, out_type; /* any real or bool; int16, uint16, int32 or int64 */
    bool smallest;
    int64_t outer, n, inner; /* n > 0 */
    const void *in;
    void *out;
} ef_argreduce;
void ef_argreduce_run(const ef_argreduce *a);
#endif
