/* Biased mutexes. The owner notes that it is inside and then looks whether it is still the owner;
 * whoever ends the bias takes the ownership away and then looks whether the owner is inside. For
 * one of the two to see the other, both need a full barrier between store and load. The owner does
 * without: the system call membarrier makes every running thread of the process execute one. It
 * takes microseconds, so after each time that a bias was ended it takes twice as many locks in a
 * row to get the next.
 *
 * In builds with assertions each thread keeps a list of the mutexes it holds, to check their order.
 */
#include "base/mutex.h"
#include "base/alloc.h"
#include "base/sanitize.h"
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#if defined(__linux__) && !EF_TSAN
#include <linux/membarrier.h>
#include <sys/syscall.h>
#endif

enum { FIRST_PATIENCE = 16, MOST_PATIENCE = 1 << 24 };

void ef_mutex_init(ef_mutex *m, ef_rank rank, ef_mutex_kind kind) {
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    if (kind == EF_MUTEX_RECURSIVE) pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&m->mutex, &attr);
    pthread_mutexattr_destroy(&attr);
    m->rank = rank;
    m->kind = kind;
    atomic_init(&m->owner, 0);
    atomic_init(&m->inside, false);
    m->by_mutex = false;
    m->streak = 0;
    m->patience = FIRST_PATIENCE;
    m->last = 0;
}

void ef_mutex_destroy(ef_mutex *m) { pthread_mutex_destroy(&m->mutex); }

/* ---- bias ------------------------------------------------------------------------------------ */

_Thread_local char ef_mutex_thread;

#ifdef SYS_membarrier
static bool barrier_register(void) {
    return syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0;
}
static void barrier_everywhere(void) {
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0) return;
    /* A forked child may have to register again. If the program has forbidden itself the call since
     * the bias began, the other processors still finish their stores within microseconds. */
    if (!barrier_register() || syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) != 0)
        usleep(10000);
}
#else
static bool barrier_register(void) { return false; }
static void barrier_everywhere(void) {}
#endif

static atomic_bool can_bias;
static pthread_once_t bias_once = PTHREAD_ONCE_INIT;

/* In a process with threads registering takes milliseconds, for which no caller is to wait. */
static void *bias_prepare(void *unused) {
    (void)unused;
    atomic_store_explicit(&can_bias, barrier_register(), memory_order_release);
    return NULL;
}
static void bias_start(void) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all); /* signals are for the program's own threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, bias_prepare, NULL) == 0) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}
void ef_mutex_prepare(void) { pthread_once(&bias_once, bias_start); }

/* `mutex` is held, so the owner can get inside only until it sees that it lost the ownership. */
static void end_bias(ef_mutex *m) {
    atomic_store_explicit(&m->owner, 0, memory_order_relaxed);
    barrier_everywhere();
    while (atomic_load_explicit(&m->inside, memory_order_acquire)) sched_yield();
    if (m->patience < MOST_PATIENCE) m->patience *= 2;
}

void ef_mutex_lock_unbiased(ef_mutex *m) {
    uintptr_t me = (uintptr_t)&ef_mutex_thread;
    pthread_mutex_lock(&m->mutex);
    uintptr_t owner = atomic_load_explicit(&m->owner, memory_order_relaxed);
    if (owner != 0 && owner != me) end_bias(m);
    m->by_mutex = true;
    if (m->last != me) {
        m->last = me;
        m->streak = 0;
    } else if (owner == 0 && ++m->streak >= m->patience) {
        m->streak = 0;
        ef_mutex_prepare();
        if (atomic_load_explicit(&can_bias, memory_order_acquire))
            atomic_store_explicit(&m->owner, me, memory_order_relaxed);
    }
}

/* ---- waiting --------------------------------------------------------------------------------- */

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

/* ---- the order ------------------------------------------------------------------------------- */

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
