/* In builds with assertions each thread keeps a list of the mutexes it holds, to check their order.
 */
#include "base/mutex.h"
#include "base/alloc.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void ef_mutex_init(ef_mutex *m, ef_rank rank, ef_mutex_kind kind) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    if (kind == EF_MUTEX_RECURSIVE) pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m->mutex, &attr);
    pthread_mutexattr_destroy(&attr);
    m->rank = rank;
    m->kind = kind;
}

void ef_mutex_destroy(ef_mutex *m) { pthread_mutex_destroy(&m->mutex); }

void ef_cond_init(pthread_cond_t *c) {
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(c, &attr);
    pthread_condattr_destroy(&attr);
}

struct timespec ef_deadline(int ms) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_sec += ms / 1000;
    t.tv_nsec += ms % 1000 * 1000000L;
    if (t.tv_nsec >= 1000000000L) {
        t.tv_sec++;
        t.tv_nsec -= 1000000000L;
    }
    return t;
}

bool ef_mutex_wait_until(ef_mutex *m, pthread_cond_t *c, const struct timespec *until) {
    return pthread_cond_timedwait(c, &m->mutex, until) != ETIMEDOUT;
}

#ifndef NDEBUG
enum { MOST_HELD = 64 };
typedef struct held_list {
    const ef_mutex *at[MOST_HELD];
    int n;
} held_list;

/* Behind a key: static thread-local memory is scarce under a sanitizer. */
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_key(void) { pthread_key_create(&key, ef_free); }

static held_list *held_by_me(void) { /* NULL: no memory, so nothing is checked */
    pthread_once(&once, make_key);
    held_list *h = pthread_getspecific(key);
    if (h == NULL && (h = ef_calloc(1, sizeof *h)) != NULL) pthread_setspecific(key, h);
    return h;
}

static const char *const name[EF_RANK_COUNT] = {
#define EF_RANK(N) #N,
    EF_RANKS(EF_RANK)
#undef EF_RANK
};

/* Whether m may be locked while `other` is held. */
static bool may_follow(const ef_mutex *m, const ef_mutex *other) {
    /* Graphs are locked from the inside out. */
    if (m->rank == other->rank && m->kind == EF_MUTEX_RECURSIVE) return true;
    if (m == other) return false;
    if (m->rank == other->rank && m->kind == EF_MUTEX_BY_ADDRESS)
        return (uintptr_t)m > (uintptr_t)other;
    return m->rank > other->rank;
}

static bool is_held(const held_list *h, const ef_mutex *m) {
    for (int k = 0; k < h->n; k++)
        if (h->at[k] == m) return true;
    return false;
}

void ef_mutex_check(const ef_mutex *m) {
    held_list *h = held_by_me();
    if (h == NULL) return;
    bool again = m->kind == EF_MUTEX_RECURSIVE && is_held(h, m);
    for (int k = 0; k < h->n && !again; k++) {
        if (may_follow(m, h->at[k])) continue;
        fprintf(stderr, "mutex order: %s is locked while %s is held; ranks must rise\n",
                name[m->rank], name[h->at[k]->rank]);
        abort();
    }
    if (h->n < MOST_HELD) h->at[h->n++] = m;
}

void ef_mutex_forget(const ef_mutex *m) {
    held_list *h = held_by_me();
    int k = h != NULL ? h->n - 1 : -1;
    while (k >= 0 && h->at[k] != m) k--;
    if (k < 0) return; /* locked while there was no memory to note it */
    h->n--;
    for (; k < h->n; k++) h->at[k] = h->at[k + 1];
}
#endif
