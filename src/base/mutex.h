/* Mutexes with a rank. A thread that holds a mutex may lock only those of a higher rank, so that no
 * two threads can wait for each other. Builds with assertions check this at every lock, even where
 * no other thread is involved; a wrong order ends the program there, with both names.
 *
 * A call of a function locks several mutexes that nearly always one thread alone uses, and in a
 * program with threads each costs two locked instructions. Such a mutex (EF_MUTEX_BIASED) becomes
 * biased towards a thread that has locked it many times in a row: that thread then locks it by
 * plain stores. Another thread that wants it ends the bias first; mutex.c tells how. */
#ifndef EF_BASE_MUTEX_H
#define EF_BASE_MUTEX_H
#include "base/status.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* All ranks, lowest first, each with what its mutex guards. */
#define EF_RANKS(RANK)                                                           \
    RANK(BUDGET)      /* the list of caches that share a budget */               \
    RANK(SCOPE)       /* names of variables; never held while a value is made */ \
    RANK(ITERATOR)    /* an iterator's pipeline; never held while it works */    \
    RANK(PIPELINE)    /* which thread may use a pipeline */                      \
    RANK(RUNS)        /* the list of running pipelines */                        \
    RANK(RUN)         /* the rings of a pipeline */                              \
    RANK(RING)        /* elements that threads make ahead */                     \
    RANK(NOTES)       /* notes of pipelines that ended */                        \
    RANK(SEEDS)       /* seeds and elements shared by iterations */              \
    RANK(BATCH)       /* a batch of deferred ops; never held while it runs */    \
    RANK(VARIABLE)    /* a variable's value, while it is updated; by address */  \
    RANK(TABLE)       /* entries of a lookup table */                            \
    RANK(WRITER)      /* the file of a summary writer */                         \
    RANK(ELEMENTS)    /* elements of a queue; never held while one waits */      \
    RANK(SESSION)     /* a session's requests */                                 \
    RANK(FUNCTION)    /* a function's traces */                                  \
    RANK(PROGRAMS)    /* the cache of programs */                                \
    RANK(DERIVATIVES) /* the cache of derivatives */                             \
    RANK(PROGRAM)     /* the plans of a program and their idle frames */         \
    RANK(RANDOM)      /* positions of random sequences */                        \
    RANK(GRAPH)       /* a graph that several threads build; recursive */        \
    RANK(PRIMITIVES)  /* the cache of oneDNN primitives */                       \
    RANK(CODE)        /* the cache of compiled code */                           \
    RANK(MAKERS)      /* waiting for an entry that another thread makes */       \
    RANK(DESCRIPTION) /* descriptions of ops */                                  \
    RANK(SIGNATURES)  /* parsed signatures of ops */                             \
    RANK(DEFAULTS)    /* default attributes of ops */                            \
    RANK(NAMES)       /* interned names */                                       \
    RANK(WATCHED)     /* the table of graphs that users build */                 \
    RANK(BELL)        /* tells that one of several rings has an element */       \
    RANK(QUEUE)       /* work submitted to a device */                           \
    RANK(MEMORY)      /* the allocator's lists */                                \
    RANK(HOLDERS)     /* labels of the allocator's report */                     \
    RANK(PULSE)       /* deadlines and the thread that watches them */           \
    RANK(OPTIONS)     /* options that were read */                               \
    RANK(STAGES)      /* the list of stages that are counted */                  \
    RANK(SITES)       /* the table of places of events */                        \
    RANK(RECORD)      /* starting and reading a recording of events */           \
    RANK(EVENTS)      /* tallies of events */                                    \
    RANK(RINGS)       /* event rings of threads */
typedef enum ef_rank {
#define EF_RANK(N) EF_RANK_##N,
    EF_RANKS(EF_RANK)
#undef EF_RANK
        EF_RANK_COUNT
} ef_rank;

typedef enum ef_mutex_kind {
    EF_MUTEX_PLAIN,
    EF_MUTEX_RECURSIVE,  /* of graphs: a thread may lock one again, and the graph around it */
    EF_MUTEX_BY_ADDRESS, /* several of one rank may be held, locked in the order of addresses */
    EF_MUTEX_BIASED      /* usually locked by one thread; not for waiting */
} ef_mutex_kind;

typedef struct ef_mutex {
    pthread_mutex_t mutex;
    ef_rank rank;
    ef_mutex_kind kind;
    /* EF_MUTEX_BIASED only. */
    _Atomic uintptr_t owner;   /* the thread it is biased towards; 0: none */
    atomic_bool inside;        /* the owner has locked it, or is about to, without `mutex` */
    bool by_mutex;             /* it is locked by `mutex`; guarded by the lock, as all below */
    unsigned streak, patience; /* locks in a row by `last`; how many it takes until a bias */
    uintptr_t last;
} ef_mutex;
#define EF_MUTEX(RANK) \
    { .mutex = PTHREAD_MUTEX_INITIALIZER, .rank = EF_RANK_##RANK, .kind = EF_MUTEX_PLAIN }

void ef_mutex_init(ef_mutex *m, ef_rank rank, ef_mutex_kind kind);
void ef_mutex_destroy(ef_mutex *m);
/* Starts what the first bias needs: a thread that ends soon. Done when the engine starts, the
 * memory of that thread is no growth of a program that runs. */
void ef_mutex_prepare(void);

#ifdef NDEBUG
static inline void ef_mutex_check(const ef_mutex *m) { (void)m; }
static inline void ef_mutex_forget(const ef_mutex *m) { (void)m; }
#else
void ef_mutex_check(const ef_mutex *m);  /* about to be locked by this thread */
void ef_mutex_forget(const ef_mutex *m); /* about to be unlocked */
#endif

extern _Thread_local char ef_mutex_thread; /* its address stands for the thread */
void ef_mutex_lock_unbiased(ef_mutex *m);
/* The owner's store of `inside` comes before its second load of `owner`: the compiler keeps the
 * order, and the thread that ends the bias makes the processor keep it. */
static inline bool ef_mutex_lock_biased(ef_mutex *m) {
    uintptr_t me = (uintptr_t)&ef_mutex_thread;
    if (EF_UNLIKELY(atomic_load_explicit(&m->owner, memory_order_relaxed) != me)) return false;
    atomic_store_explicit(&m->inside, true, memory_order_relaxed);
    atomic_signal_fence(memory_order_seq_cst);
    if (EF_LIKELY(atomic_load_explicit(&m->owner, memory_order_acquire) == me)) return true;
    atomic_store_explicit(&m->inside, false, memory_order_release);
    return false;
}
static inline void ef_mutex_lock(ef_mutex *m) {
    ef_mutex_check(m);
    if (m->kind != EF_MUTEX_BIASED)
        pthread_mutex_lock(&m->mutex);
    else if (!ef_mutex_lock_biased(m))
        ef_mutex_lock_unbiased(m);
}
static inline void ef_mutex_unlock(ef_mutex *m) {
    ef_mutex_forget(m);
    if (m->kind == EF_MUTEX_BIASED && !m->by_mutex) {
        atomic_store_explicit(&m->inside, false, memory_order_release);
        return;
    }
    m->by_mutex = false;
    pthread_mutex_unlock(&m->mutex);
}
/* Waits for `c` with the mutex unlocked meanwhile; as with pthreads, it may return early. */
static inline void ef_mutex_wait(ef_mutex *m, pthread_cond_t *c) {
    pthread_cond_wait(c, &m->mutex);
}

/* Waiting with an end, by a clock that setting the time of day does not change. ef_deadline is the
 * moment in so many milliseconds. ef_mutex_wait_until returns false when the moment has come; `c`
 * was made by ef_cond_init. */
void ef_cond_init(pthread_cond_t *c);
struct timespec ef_deadline(int ms);
bool ef_mutex_wait_until(ef_mutex *m, pthread_cond_t *c, const struct timespec *until);
#endif
