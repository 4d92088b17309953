/* Scratch memory of kernels for the time of one call. It comes from the caching allocator of the
 * host, so it is counted as "scratch of kernels", obeys the memory limit, and a hot call takes
 * nothing from the system. A kernel that knows beforehand how much it needs has the planner place
 * it in the arena instead: see the scratch column of a kernel row. */
#ifndef EF_TENSOR_SCRATCH_H
#define EF_TENSOR_SCRATCH_H
#include <stddef.h>

void *ef_scratch_take(size_t bytes); /* 64-byte aligned, not zeroed; NULL on failure */
void ef_scratch_end(void *p);        /* NULL is fine; any thread */
#endif
