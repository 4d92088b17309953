/* Dividing scratch memory into pieces. */
#ifndef EF_KERNELS_LINALG_SCRATCH_H
#define EF_KERNELS_LINALG_SCRATCH_H
#include <stddef.h>

static inline size_t ef_round_to_lines(size_t bytes) { return (bytes + 63) / 64 * 64; }
/* The next `bytes` of scratch memory, or NULL if only the total size is computed. */
static inline void *ef_take(void *scratch, size_t *at, size_t bytes) {
    void *p = scratch ? (char *)scratch + *at : NULL;
    *at += ef_round_to_lines(bytes);
    return p;
}
#endif
