/* Pages from the system and back: the only place that maps memory. */
#ifndef EF_DEVICE_MAP_H
#define EF_DEVICE_MAP_H
#include <stdbool.h>
#include <stddef.h>

/* Zeroed; `align` is a power of two of at least a page; `huge` asks for huge pages, where a fault
 * brings 2 MiB instead of 4 KiB. NULL if the system gives none. */
void *ef_pages_map(size_t bytes, size_t align, bool huge);
void ef_pages_unmap(void *p, size_t bytes);
/* The memory that the process has now, of all kinds, in bytes; 0: the system does not say. */
size_t ef_pages_resident(void);
#endif
