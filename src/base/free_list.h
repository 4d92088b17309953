/* A free list of a few blocks of one size. It serves blocks that every call or trace needs for a
 * short time and that are large beside what stays allocated: malloc would put long-lived blocks
 * into the gaps they leave, and the heap would grow. */
#ifndef EF_BASE_FREE_LIST_H
#define EF_BASE_FREE_LIST_H
#include <stdatomic.h>
#include <stddef.h>

enum { EF_FREE_LIST_BLOCKS = 8 };

typedef struct ef_free_list {
    _Atomic(void *) piece[EF_FREE_LIST_BLOCKS];
} ef_free_list; /* empty if zero-initialised; any thread may take and give */

/* A piece of n bytes, n always the same for s: zero when it is new, else as it was given. NULL on
 * failure. */
void *ef_free_list_take(ef_free_list *s, size_t n);
void ef_free_list_give(ef_free_list *s, void *p); /* keeps or frees it; NULL is fine */
#endif
