/* Growable arrays without macros that hide control flow: keep `T *items; size_t n, cap;` and call
 * ef_grow before writing items[n]. */
#ifndef EF_BASE_ARRAY_H
#define EF_BASE_ARRAY_H
#include "base/status.h"

/* Makes room for `need` items of `size` bytes; doubles; *items and *cap change only on success. */
ef_status *ef_grow(void **items, size_t *cap, size_t need, size_t size);
#define EF_GROW(items, cap, need) ef_grow((void **)(items), (cap), (need), sizeof **(items))
#endif
