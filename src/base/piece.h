/* Small pieces of memory that come and go with every op. A thread keeps the ones it gave back, up
 * to a bound, for what it needs next: so the steady state asks malloc for nothing. */
#ifndef EF_BASE_PIECE_H
#define EF_BASE_PIECE_H
#include <stddef.h>

/* Not zeroed; NULL: no memory. Whoever gives it back, on whatever thread, says the same n. */
void *ef_piece_take(size_t n);
void ef_piece_give(void *p, size_t n); /* NULL is fine */
#endif
