/* Small blocks that every op allocates and frees. Each thread keeps the blocks it freed, up to a
 * bound, in free lists by size, so that in the steady state malloc is not called. */
#ifndef EF_BASE_SMALL_BLOCKS_H
#define EF_BASE_SMALL_BLOCKS_H
#include <stddef.h>

/* Not zeroed; NULL: no memory. Any thread may give the block back, with the same n. */
void *ef_small_block_take(size_t n);
void ef_small_block_give(void *p, size_t n); /* NULL is fine */
#endif
