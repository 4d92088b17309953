/* A heap whose records are kept apart from its memory, for memory that the host cannot reach: it
 * hands out ranges of a span of addresses. First fit; neighbours that are free become one. Not
 * locked. */
#ifndef EF_DEVICE_HEAP_H
#define EF_DEVICE_HEAP_H
#include "device/memory.h"

typedef struct ef_extent {
    size_t at, bytes;
} ef_extent;

typedef struct ef_heap {
    size_t span;     /* bytes in all, used or not */
    size_t top;      /* the highest byte ever handed out, plus one */
    ef_extent *hole; /* free ranges below top, by address */
    size_t n_holes, cap_holes;
    ef_memory_info info; /* current, peak, limit, blocks */
} ef_heap;

/* *at: where the range begins; 256-byte aligned. On failure the status names `device`, what was
 * asked and what is in use. */
ef_status *ef_heap_take(ef_heap *h, const char *device, size_t bytes, size_t *at);
void ef_heap_give(ef_heap *h, size_t at, size_t bytes); /* bytes as asked for */
void ef_heap_free(ef_heap *h);                          /* the records */
#endif
