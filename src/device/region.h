/* Blocks above 1 MiB: each is a mapping of its own, kept for a while after it is freed. Not locked:
 * memory.c holds its lock around every call. */
#ifndef EF_DEVICE_REGION_H
#define EF_DEVICE_REGION_H
#include <stddef.h>
#include <stdint.h>

/* NULL if the system gives no memory. */
void *ef_region_take(size_t bytes, uint16_t label);
uint16_t ef_region_give(void *p);    /* back; returns its label */
void ef_region_trim(void);           /* unmaps everything that is not in use */
size_t ef_region_mapped(void);       /* bytes taken from the system */
size_t ef_region_largest_free(void); /* bytes of the largest one kept for reuse; 0: none */
#endif
