/* Work is cut into as many equal ranges as threads take part; the calling thread takes the first.
 * OpenMP keeps the team alive between regions, but ends the threads a smaller region has no use for
 * and makes them anew for the next (some 100 us each time), so a region is always of the whole
 * team, even if not all of it gets work.
 *
 * After fork() the child has the calling thread only, while OpenMP still believes in the team, so
 * the child stays on one thread for good. Thread sanitizer cannot see into libgomp, which is not
 * built with it; the hand-over at both ends of a region is told to it in so many words. */
#include "base/pool.h"
#include "base/option.h"
#include "base/quota.h"
#include "base/sanitize.h"
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#if EF_TSAN
void __tsan_acquire(void *at);
void __tsan_release(void *at);
#define HAND_OVER(at) __tsan_release(at)
#define TAKE_OVER(at) __tsan_acquire(at)
#define NOT_WATCHED __attribute__((no_sanitize("thread"), noinline))
#else
#define HAND_OVER(at) (void)(at)
#define TAKE_OVER(at) (void)(at)
#define NOT_WATCHED
#endif

static const double worth_ns = 10000; /* work per thread that pays for waking it */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int machine = 1;    /* what the machine gives; written once */
static atomic_int wish;    /* ef_pool_limit; 0: none */
static atomic_int callers; /* user threads between enter and leave */
static atomic_bool forked; /* in the child of a fork */

static void after_fork(void) {
    atomic_store_explicit(&forked, true, memory_order_relaxed);
    atomic_store_explicit(&callers, 0, memory_order_relaxed);
}

static void at_most(int *n, int64_t bound) {
    if (bound > 0 && bound < *n) *n = (int)bound;
}

static void measure(void) {
    machine = ef_quota_affinity();
    at_most(&machine, ef_quota_cgroup(""));
    at_most(&machine, ef_option_int("OMP_NUM_THREADS", 0));
    at_most(&machine, ef_option_int("EF_THREADS", 0));
    pthread_atfork(NULL, NULL, after_fork);
}

int ef_pool_size(void) {
    pthread_once(&once, measure);
    if (atomic_load_explicit(&forked, memory_order_relaxed) ||
        atomic_load_explicit(&callers, memory_order_relaxed) > 1 || omp_in_parallel())
        return 1;
    int n = machine;
    at_most(&n, atomic_load_explicit(&wish, memory_order_relaxed));
    return n;
}

void ef_pool_limit(int n) { atomic_store_explicit(&wish, n > 0 ? n : 0, memory_order_relaxed); }

void ef_pool_lend(int threads) { omp_set_num_threads(threads > 1 ? ef_pool_size() : 1); }

void ef_pool_enter(void) { atomic_fetch_add_explicit(&callers, 1, memory_order_relaxed); }

void ef_pool_leave(void) { atomic_fetch_sub_explicit(&callers, 1, memory_order_relaxed); }

typedef struct job {
    int64_t n, grain, units; /* units: grains, the last one perhaps shorter */
    int shares;              /* threads that get work */
    ef_range_fn *fn;
    void *arg;
    char begun, ended; /* addresses for HAND_OVER and TAKE_OVER */
} job;

static void share(const job *j, int i, int k) {
    int64_t each = j->units / k, more = j->units % k; /* the first `more` threads take one extra */
    int64_t from = each * i + (i < more ? i : more), to = from + each + (i < more);
    int64_t end = to == j->units ? j->n : to * j->grain;
    if (from < to) j->fn(j->arg, from * j->grain, end);
}

/* The i-th of k threads does its part; should the team be smaller than asked, its parts. */
static void work(const job *j, int i, int k) {
    for (; i < j->shares; i += k) share(j, i, j->shares);
}

NOT_WATCHED static void region(job *j, int team) {
    HAND_OVER(&j->begun);
#pragma omp parallel num_threads(team) default(none) shared(j)
    {
        TAKE_OVER(&j->begun);
        work(j, omp_get_thread_num(), omp_get_num_threads());
        HAND_OVER(&j->ended);
    }
    TAKE_OVER(&j->ended);
}

void ef_parallel(int64_t n, int64_t grain, double cost_ns, ef_range_fn *fn, void *arg) {
    if (n <= 0) return;
    if (grain < 1) grain = 1;
    int64_t units = n / grain + (n % grain != 0);
    double pays = (double)n * cost_ns / worth_ns; /* threads that have enough to do */
    int team = units > 1 && pays >= 2 ? ef_pool_size() : 1;
    int shares = pays < team ? (int)pays : team;
    if (shares > units) shares = (int)units;
    if (shares <= 1 || shares * 4 < team) { /* a large team costs more to wake */
        fn(arg, 0, n);
        return;
    }
    job j = {.n = n, .grain = grain, .units = units, .shares = shares, .fn = fn, .arg = arg};
    region(&j, team);
}
