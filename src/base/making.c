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
    m->ended = 0;
    ef_mutex_init(&m->waiting, EF_RANK_MAKERS, EF_MUTEX_PLAIN);
    ef_cond_init(&m->done);
}

void ef_makers_destroy(ef_makers *m) {
    pthread_cond_destroy(&m->done);
    ef_mutex_destroy(&m->waiting);
}

static bool is_made(const ef_makers *m, uint64_t hash) {
    for (const ef_making *k = m->first; k != NULL; k = k->next)
        if (k->hash == hash) return true;
    return false;
}

/* Until another entry was made. Returns false if it took too long. */
static bool wait_for_one(ef_makers *m, uint64_t ended, const struct timespec *until) {
    bool in_time = true;
    ef_pool_block(ef_context_here());
    void *blocking = ef_blocking_begin();
    ef_mutex_lock(&m->waiting);
    while (in_time && m->ended == ended)
        in_time = ef_mutex_wait_until(&m->waiting, &m->done, until);
    ef_mutex_unlock(&m->waiting);
    ef_blocking_end(blocking);
    ef_pool_unblock(ef_context_here());
    return in_time;
}

/* The lock is held before and after; a binding gives up its interpreter's lock meanwhile. Returns
 * false if it took too long. */
static bool wait_for(ef_makers *m, ef_mutex *lock, uint64_t hash) {
    struct timespec until = ef_deadline(MOST_MS);
    bool in_time = true;
    while (in_time && is_made(m, hash)) {
        uint64_t ended = m->ended;
        ef_mutex_unlock(lock);
        in_time = wait_for_one(m, ended, &until);
        ef_mutex_lock(lock);
    }
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
    ef_mutex_lock(&m->waiting);
    m->ended++;
    pthread_cond_broadcast(&m->done);
    ef_mutex_unlock(&m->waiting);
}
