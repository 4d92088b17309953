/* Entries of a cache that threads are making. A thread that misses an entry which another thread is
 * making waits for it instead of making the same again. A thread that makes something never waits
 * for another one, so no two can wait for each other. */
#ifndef EF_BASE_MAKING_H
#define EF_BASE_MAKING_H
#include "base/mutex.h"
#include <stdint.h>

typedef struct ef_making { /* on the stack of the thread that makes the entry */
    struct ef_making *next;
    uint64_t hash;
} ef_making;
typedef struct ef_makers { /* beside the cache, guarded by its lock */
    ef_making *first;
    ef_mutex waiting; /* the cache's own may be biased, which is not for waiting */
    pthread_cond_t done;
    uint64_t ended; /* how many were made; changes under both locks */
} ef_makers;

void ef_makers_init(ef_makers *m);
void ef_makers_destroy(ef_makers *m);
/* After a miss, under the lock. True: the caller makes the entry, without the lock, and then calls
 * ef_making_end, whether or not it succeeded. False: another thread was making one of this hash;
 * the lock was released meanwhile, and the caller looks again. */
bool ef_making_begin(ef_makers *m, ef_mutex *lock, ef_making *mine, uint64_t hash);
void ef_making_end(ef_makers *m, ef_making *mine); /* under the lock */
#endif
