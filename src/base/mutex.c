/* The mutexes a thread holds are a short list of its own; only builds with assertions keep it. */
#include "base/mutex.h"
#include <stdbool.h>
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

#ifndef NDEBUG
enum { MOST_HELD = 64 };
static _Thread_local const ef_mutex *held[MOST_HELD];
static _Thread_local int n_held;

static const char *const name[EF_RANK_COUNT] = {
#define EF_RANK(N) #N,
    EF_RANKS(EF_RANK)
#undef EF_RANK
};

/* Whether m may be locked while `other` is held. */
static bool may_follow(const ef_mutex *m, const ef_mutex *other) {
    if (m == other) return m->kind == EF_MUTEX_RECURSIVE;
    if (m->rank == other->rank && m->kind == EF_MUTEX_BY_ADDRESS)
        return (uintptr_t)m > (uintptr_t)other;
    return m->rank > other->rank;
}

static bool is_held(const ef_mutex *m) {
    for (int k = 0; k < n_held; k++)
        if (held[k] == m) return true;
    return false;
}

void ef_mutex_check(const ef_mutex *m) {
    bool again = m->kind == EF_MUTEX_RECURSIVE && is_held(m);
    for (int k = 0; k < n_held && !again; k++) {
        if (may_follow(m, held[k])) continue;
        fprintf(stderr, "mutex order: %s is locked while %s is held; ranks must rise\n",
                name[m->rank], name[held[k]->rank]);
        abort();
    }
    if (n_held == MOST_HELD) abort();
    held[n_held++] = m;
}

void ef_mutex_forget(const ef_mutex *m) {
    int k = n_held - 1;
    while (k >= 0 && held[k] != m) k--;
    if (k < 0) {
        fprintf(stderr, "mutex order: %s is unlocked but was not held\n", name[m->rank]);
        abort();
    }
    n_held--;
    for (; k < n_held; k++) held[k] = held[k + 1];
}
#endif
