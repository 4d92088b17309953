/* One thread makes an entry while others wait; threads that make something, and those whose maker
 * is lost, do not wait for ever. */
#include "base/context.h"
#include "base/making.h"
#include "check.h"
#include "evenflow_binding.h"
#include <unistd.h>

enum { HASH = 7, OTHER = 8, THREADS = 4 };

static ef_mutex lock;
static ef_makers makers;
static bool entry;         /* the cache: whether it has the entry; guarded by `lock` */
static atomic_int made;    /* how often it was made */
static atomic_int looking; /* threads that have begun to look for it */

static void begin(void) {
    ef_mutex_init(&lock, EF_RANK_PROGRAM, EF_MUTEX_BIASED);
    ef_makers_init(&makers);
    entry = false;
    atomic_store(&made, 0);
    atomic_store(&looking, 0);
}

static void end(void) {
    ef_makers_destroy(&makers);
    ef_mutex_destroy(&lock);
}

/* Looks the entry up as caches do, and makes it when all threads have begun to look. */
static void *look_up(void *unused) {
    (void)unused;
    ef_making mine;
    ef_mutex_lock(&lock);
    atomic_fetch_add(&looking, 1);
    bool miss = !entry;
    while (miss && !ef_making_begin(&makers, &lock, &mine, HASH)) miss = !entry;
    ef_mutex_unlock(&lock);
    if (!miss) return NULL;
    while (atomic_load(&looking) < THREADS) usleep(100);
    atomic_fetch_add(&made, 1);
    ef_mutex_lock(&lock);
    entry = true;
    ef_making_end(&makers, &mine);
    ef_mutex_unlock(&lock);
    return NULL;
}

EF_TEST(one_thread_makes_an_entry) {
    for (int round = 0; round < 50; round++) {
        pthread_t t[THREADS];
        begin();
        for (int k = 0; k < THREADS; k++) CHECK(pthread_create(&t[k], NULL, look_up, NULL) == 0);
        for (int k = 0; k < THREADS; k++) pthread_join(t[k], NULL);
        CHECK_INT(atomic_load(&made), 1);
        CHECK(makers.first == NULL);
        end();
    }
}

static void *make_other(void *unused) {
    (void)unused;
    ef_making mine;
    ef_mutex_lock(&lock);
    if (ef_making_begin(&makers, &lock, &mine, OTHER)) {
        atomic_fetch_add(&made, 1);
        ef_making_end(&makers, &mine);
    }
    ef_mutex_unlock(&lock);
    return NULL;
}

static atomic_int waits; /* how often a thread began to wait */
static void *count_wait(void) {
    atomic_fetch_add(&waits, 1);
    return NULL;
}
static void wait_over(void *state) { (void)state; }

/* Nor does a thread wait that makes something itself, even if it needs the very same. */
EF_TEST(other_entries_are_made_meanwhile) {
    ef_making outer, inner;
    pthread_t t;
    begin();
    ef_mutex_lock(&lock);
    CHECK(ef_making_begin(&makers, &lock, &outer, HASH));
    CHECK(ef_making_begin(&makers, &lock, &inner, HASH));
    ef_mutex_unlock(&lock);
    CHECK(pthread_create(&t, NULL, make_other, NULL) == 0);
    pthread_join(t, NULL); /* it has ended, though HASH is still being made */
    CHECK_INT(atomic_load(&made), 1);
    CHECK_INT(atomic_load(&waits), 0);
    ef_mutex_lock(&lock);
    ef_making_end(&makers, &outer); /* in any order */
    ef_making_end(&makers, &inner);
    ef_mutex_unlock(&lock);
    CHECK(makers.first == NULL);
    end();
}

static void *look_up_alone(void *unused) {
    atomic_store(&looking, THREADS);
    return look_up(unused);
}

/* As in the child of a fork: nobody ends what the list says is being made. */
EF_TEST(what_is_never_finished_is_made_again) {
    ef_making lost = {NULL, HASH};
    pthread_t t;
    begin();
    makers.first = &lost;
    CHECK(pthread_create(&t, NULL, look_up_alone, NULL) == 0);
    pthread_join(t, NULL);
    CHECK_INT(atomic_load(&made), 1);
    CHECK(makers.first == &lost && lost.next == NULL);
    CHECK(atomic_load(&waits) > 0);
    end();
}

int main(void) {
    EF_RUN(one_thread_makes_an_entry);
    ef_blocking_hooks(count_wait, wait_over);
    EF_RUN(other_entries_are_made_meanwhile);
    EF_RUN(what_is_never_finished_is_made_again);
    return EF_VERDICT();
}
