/* A few pieces of memory of one size, kept for who needs one next. What comes and goes with every
 * call or trace, and is large next to what stays, is worth keeping: through malloc it would leave
 * holes that what stays only half fills, and the heap would grow until they fit by chance. */
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
