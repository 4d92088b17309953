/* Ranks of mutexes. A wrong order ends a program that has assertions; such a build tries it in a
 * child process. And mutexes that become biased towards a thread. */
#include "base/mutex.h"
#include "base/sanitize.h"
#include "check.h"
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static ef_mutex low = EF_MUTEX(BATCH), high = EF_MUTEX(MEMORY);

EF_TEST(rising_ranks_are_fine) {
    ef_mutex again, pair[2];
    ef_mutex_init(&again, EF_RANK_GRAPH, EF_MUTEX_RECURSIVE);
    for (int k = 0; k < 2; k++) ef_mutex_init(&pair[k], EF_RANK_VARIABLE, EF_MUTEX_BY_ADDRESS);
    ef_mutex_lock(&low);
    ef_mutex_lock(&pair[0]);
    ef_mutex_lock(&pair[1]);
    ef_mutex_lock(&again);
    ef_mutex_lock(&high);
    ef_mutex_lock(&again);
    ef_mutex_unlock(&low); /* in any order */
    ef_mutex_unlock(&high);
    ef_mutex_unlock(&again);
    ef_mutex_unlock(&again);
    ef_mutex_unlock(&pair[0]);
    ef_mutex_unlock(&pair[1]);
    ef_mutex_lock(&low);
    ef_mutex_unlock(&low);
    ef_mutex_destroy(&again);
    for (int k = 0; k < 2; k++) ef_mutex_destroy(&pair[k]);
}

#ifndef NDEBUG
static ef_mutex twin = EF_MUTEX(BATCH);

static bool dies(ef_mutex *first, ef_mutex *second) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        if (freopen("/dev/null", "w", stderr) == NULL) _exit(3);
        ef_mutex_lock(first);
        ef_mutex_lock(second);
        _exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status);
}

EF_TEST(a_wrong_order_is_found) {
    CHECK(!dies(&low, &high));
    CHECK(dies(&high, &low));
    CHECK(dies(&low, &twin)); /* of one rank */
    CHECK(dies(&low, &low));
}
#endif

/* ---- bias ------------------------------------------------------------------------------------ */

static ef_mutex biased;
static int64_t guarded[2]; /* always equal outside the lock */
static atomic_int uneven;
enum { THREADS = 4, ROUNDS = 200, BURST = 100 };

static void add_once(void) {
    ef_mutex_lock(&biased);
    if (guarded[0] != guarded[1]) atomic_fetch_add(&uneven, 1);
    guarded[0]++;
    guarded[1]++;
    ef_mutex_unlock(&biased);
}

/* In bursts, so that the mutex becomes biased towards one thread while others want it. */
static void *add_in_bursts(void *unused) {
    (void)unused;
    for (int k = 0; k < ROUNDS; k++) {
        for (int j = 0; j < BURST; j++) add_once();
        sched_yield();
    }
    return NULL;
}

static bool is_mine(void) { return atomic_load(&biased.owner) == (uintptr_t)&ef_mutex_thread; }

EF_TEST(a_bias_excludes_other_threads) {
    pthread_t t[THREADS];
    ef_mutex_init(&biased, EF_RANK_PROGRAM, EF_MUTEX_BIASED);
    guarded[0] = guarded[1] = 0;
    for (int k = 0; k < THREADS; k++) CHECK(pthread_create(&t[k], NULL, add_in_bursts, NULL) == 0);
    for (int k = 0; k < THREADS; k++) pthread_join(t[k], NULL);
    CHECK_INT(guarded[0], THREADS * ROUNDS * BURST);
    CHECK_INT(guarded[1], THREADS * ROUNDS * BURST);
    CHECK_INT(atomic_load(&uneven), 0);
    ef_mutex_destroy(&biased);
}

static void *lock_once(void *unused) {
    (void)unused;
    add_once();
    return NULL;
}

EF_TEST(a_bias_ends_and_takes_longer_to_return) {
    pthread_t t;
    ef_mutex_init(&biased, EF_RANK_PROGRAM, EF_MUTEX_BIASED);
    guarded[0] = guarded[1] = 0;
    CHECK(!is_mine());
    int locks = 0;
    for (; locks < 3000 && !is_mine(); locks++) {
        add_once();
        if (locks > 100) usleep(100); /* the first bias of the process is prepared by a thread */
    }
    bool possible = is_mine(); /* not without the system call it needs */
    unsigned before = biased.patience;
    CHECK(pthread_create(&t, NULL, lock_once, NULL) == 0);
    pthread_join(t, NULL);
    CHECK(atomic_load(&biased.owner) == 0);
    if (possible) CHECK(biased.patience > before);
    for (int k = 0; k < 100; k++) add_once();
    CHECK(is_mine() == possible);
    CHECK_INT(guarded[0], locks + 101);
#if EF_TSAN
    CHECK(!possible);
#endif
    pid_t child = fork(); /* a child in which the owner goes on, and another thread may come */
    if (child == 0) {
        add_once();
        if (pthread_create(&t, NULL, lock_once, NULL) != 0) _exit(1);
        pthread_join(t, NULL);
        _exit(guarded[1] == locks + 103 ? 0 : 2);
    }
    int status = 1;
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    ef_mutex_destroy(&biased);
}

int main(void) {
    EF_RUN(rising_ranks_are_fine);
#ifndef NDEBUG
    EF_RUN(a_wrong_order_is_found);
#endif
    EF_RUN(a_bias_excludes_other_threads);
    EF_RUN(a_bias_ends_and_takes_longer_to_return);
    return EF_VERDICT();
}
