/* A free list of a few blocks of one size. It serves blocks that every call or trace needs for a
 * short time and that are large beside what stays allocated: malloc would put long-lived blocks
 * into the gaps they leave, and the heap would grow. */
#ifndef EF_BASE_SPARE_H
#define EF_BASE_SPARE_H
#include <stdatomic.h>
#include <stddef.h>

enum { EF_SPARES = 8 };

typedef struct ef_spare {
    _Atomic(void *) piece[EF_SPARES];
} ef_spare; /* zero-initialised: none; any thread may take and give */

/* A piece of n bytes, n always the same for s: zero when it is new, else as it was given. NULL on
 * failure. */
void *ef_spare_take(ef_spare *s, size_t n);
void ef_spare_give(ef_spare *s, void *p); /* keeps or frees it; NULL is fine */
#endif
