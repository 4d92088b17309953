/* Waiting for an entry that another thread makes. */
#include "base/making.h"
#include "base/blocking.h"
#include "base/clock.h"
#include "base/context.h"
#include "base/pool.h"

/* Where the thread that makes an entry was lost, as in the child of a fork, it is made again. */
enum { MOST_MS = 2000 };

static _Thread_local int making; /* entries that this thread makes now */

void ef_makers_init(ef_makers *m) {
    m->first = NULL;
    ef_cond_init(&m->done);
}

void ef_makers_destroy(ef_makers *m) { pthread_cond_destroy(&m->done); }

static bool is_made(const ef_makers *m, uint64_t hash) {
    for (const ef_making *k = m->first; k != NULL; k = k->next)
        if (k->hash == hash) return true;
    return false;
}

/* The lock is held before and after; a binding gives up its interpreter's lock meanwhile. Returns
 * false if it took too long. */
static bool wait_for(ef_makers *m, ef_mutex *lock, uint64_t hash) {
    struct timespec until = ef_deadline(MOST_MS);
    bool in_time = true;
    ef_mutex_unlock(lock);
    ef_pool_block(ef_context_here());
    void *blocking = ef_blocking_begin();
    ef_mutex_lock(lock);
    while (in_time && is_made(m, hash)) in_time = ef_mutex_wait_until(lock, &m->done, &until);
    ef_mutex_unlock(lock);
    ef_blocking_end(blocking);
    ef_pool_unblock(ef_context_here());
    ef_mutex_lock(lock);
    return in_time;
}

bool ef_making_begin(ef_makers *m, ef_mutex *lock, ef_making *mine, uint64_t hash) {
    if (making == 0 && is_made(m, hash) && wait_for(m, lock, hash)) return false;
    *mine = (ef_making){m->first, hash};
    m->first = mine;
    making++;
    return true;
}

void ef_making_end(ef_makers *m, ef_making *mine) {
    ef_making **at = &m->first;
    while (*at != NULL && *at != mine) at = &(*at)->next;
    if (*at != NULL) *at = mine->next;
    making--;
    pthread_cond_broadcast(&m->done);
}
