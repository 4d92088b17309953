/* Whether other programs compete with this thread for a processor. */
#ifndef EF_BASE_CONTENTION_H
#define EF_BASE_CONTENTION_H
#include <stdbool.h>
#include <stdint.h>

/* What the kernel counts for a thread, in nanoseconds. */
typedef struct ef_turns {
    uint64_t ran;    /* on a processor */
    uint64_t waited; /* runnable, while others had the processor */
} ef_turns;

/* The calling thread's; false where the kernel does not tell. */
bool ef_turns_read(ef_turns *out);
/* Did the thread wait for more than an eighth of the time it wanted to run? A wait of less than a
 * millisecond does not count: a thread may meet one of its own team on the same processor. */
bool ef_turns_crowded(const ef_turns *before, const ef_turns *after);
#endif
