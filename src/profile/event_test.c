#include "base/alloc.h"
#include "base/clock.h"
#include "check.h"
#include "profile/event.h"
#include <pthread.h>
#include <stdatomic.h>

enum { MOST = 20000 };
static ef_event events[MOST];

EF_TEST(counts_by_name) {
    uint64_t before = ef_counter_get(EF_COUNT_PLAN_HIT);
    ef_counter_add(EF_COUNT_PLAN_HIT, 3);
    CHECK_INT(ef_counter_get(EF_COUNT_PLAN_HIT) - before, 3);
    CHECK_TEXT(ef_counter_name(EF_COUNT_EVICTION), "cache eviction");
    CHECK(ef_counter_name(EF_COUNTERS) == NULL);
    for (int c = 0; c < EF_COUNTERS; c++)
        CHECK_INT(ef_counter_find(ef_counter_name((ef_counter)c)), c);
    CHECK_INT(ef_counter_find("no such thing"), -1);
}

EF_TEST(keeps_the_last_events) {
    uint64_t before = ef_now_ns();
    for (uint64_t i = 0; i < 5000; i++) ef_event_post(EF_COUNT_TRACE, i, i * 2);
    size_t n = ef_event_read(events, MOST);
    CHECK(n >= 1000 && n <= 1100);
    const ef_event *last = &events[n - 1];
    CHECK_INT(last->kind, EF_COUNT_TRACE);
    CHECK_INT(last->id, 4999);
    CHECK_INT(last->value, 9998);
    for (size_t i = 1; i < n; i++) CHECK(events[i].time >= events[i - 1].time);
    CHECK_NEAR((double)last->time, (double)(before + ef_now_ns()) / 2, 5e9);
    CHECK_INT(ef_event_read(events, 10), 10);
    CHECK_INT(events[9].id, 4999);
}

static atomic_bool stop;

static void *poster(void *arg) {
    for (uint64_t i = 0; !atomic_load(&stop); i++) ef_event_post(EF_COUNT_HOST_COPY, i, ~i);
    return arg;
}

EF_TEST(read_while_written) {
    pthread_t t[3];
    atomic_store(&stop, false);
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&t[i], NULL, poster, NULL) == 0);
    bool good = true;
    for (int k = 0; k < 100; k++) {
        size_t n = ef_event_read(events, MOST);
        for (size_t i = 0; i < n; i++)
            if (events[i].kind == EF_COUNT_HOST_COPY) good &= events[i].value == ~events[i].id;
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    CHECK(good);
}

static void *post_once(void *arg) {
    ef_event_post(EF_COUNT_PLAN, 7, 7);
    return arg;
}

EF_TEST(rings_are_reused) {
    uint32_t most = 0;
    for (int i = 0; i < 200; i++) {
        pthread_t t;
        CHECK(pthread_create(&t, NULL, post_once, NULL) == 0);
        pthread_join(t, NULL);
    }
    size_t n = ef_event_read(events, MOST);
    for (size_t i = 0; i < n; i++) most = events[i].thread > most ? events[i].thread : most;
    CHECK(most < 8);
}

static void *post_without_memory(void *arg) {
    ef_alloc_fail_at(1);
    ef_event_post(EF_COUNT_REPLAN, 1, 1);
    ef_alloc_fail_at(0);
    return arg;
}

EF_TEST(counts_even_without_memory) {
    uint64_t before = ef_counter_get(EF_COUNT_REPLAN);
    pthread_t t;
    CHECK(pthread_create(&t, NULL, post_without_memory, NULL) == 0);
    pthread_join(t, NULL);
    CHECK_INT(ef_counter_get(EF_COUNT_REPLAN) - before, 1);
}

int main(void) {
    EF_RUN(counts_even_without_memory);
    EF_RUN(counts_by_name);
    EF_RUN(keeps_the_last_events);
    EF_RUN(read_while_written);
    EF_RUN(rings_are_reused);
    return EF_VERDICT();
}
