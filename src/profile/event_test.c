#include "base/alloc.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "check.h"
#include "profile/event.h"
#include "profile/site.h"
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20000 };
static ef_event events[MOST];
static ef_tally tallies[5000];

static void post(ef_event_kind kind, int64_t a, int64_t b) {
    ef_event_post(&(ef_event_new){.kind = kind, .value = {a, b}});
}

EF_TEST(counts_and_names) {
    uint64_t before = ef_event_count(EF_EVENT_CACHE_HIT);
    ef_event_count_add(EF_EVENT_CACHE_HIT, 3);
    CHECK_INT(ef_event_count(EF_EVENT_CACHE_HIT) - before, 3);
    CHECK_TEXT(ef_event_kind_name(EF_EVENT_EVICTION), "cache eviction");
    CHECK(ef_event_kind_name(EF_EVENT_KINDS) == NULL && ef_event_kind_name(-1) == NULL);
    CHECK(ef_event_count(-1) == 0 && ef_event_reason_name(EF_REASONS) == NULL);
    for (int k = 0; k < EF_EVENT_KINDS; k++)
        CHECK(ef_event_kind_name(k) != NULL && ef_event_kind_values(k) != NULL);
    for (int k = 0; k < EF_REASONS; k++) CHECK(ef_event_reason_name(k) != NULL);
}

EF_TEST(keeps_the_last_events) {
    uint64_t now = ef_now_ns(), dropped = 0;
    for (int64_t i = 0; i < 5000; i++) post(EF_EVENT_TRACE, i, i * 2);
    size_t n = ef_events_read(events, MOST, &dropped);
    CHECK(n >= 1000 && n <= 1100);
    CHECK(dropped >= 5000 - 1024);
    const ef_event *last = &events[n - 1];
    CHECK_INT(last->kind, EF_EVENT_TRACE);
    CHECK_INT(last->value[0], 4999);
    CHECK_INT(last->value[1], 9998);
    CHECK_INT(last->weight, 1);
    for (size_t i = 1; i < n; i++) CHECK(events[i].time >= events[i - 1].time);
    CHECK_NEAR((double)last->time, (double)(now + ef_now_ns()) / 2, 5e9);
    CHECK_INT(ef_events_read(events, 10, NULL), 10);
    CHECK_INT(events[9].value[0], 4999);
}

/* Clocks of which one tick is one nanosecond, and whose first readings are each interrupted. */
static uint64_t made_up, pauses;
static uint64_t made_up_ticks(void) { return made_up += 20; }
static uint64_t made_up_ns(void) {
    if (pauses > 0) made_up += 10000 * pauses--;
    return made_up += 20;
}

EF_TEST(a_pause_does_not_part_the_clocks) {
    made_up = 1000, pauses = 3;
    ef_moment m = ef_moment_read(made_up_ticks, made_up_ns);
    CHECK_NEAR((double)m.ticks, (double)m.ns, 100);
    made_up = 1000, pauses = 1000; /* a machine that is never quiet: the shortest pause of some */
    m = ef_moment_read(made_up_ticks, made_up_ns);
    CHECK(m.ns > 0 && m.ns > m.ticks && m.ns - m.ticks < 985 * 10000 / 2 + 100);
}

EF_TEST(has_a_duration) {
    uint64_t before = ef_now_ns(), began = ef_event_clock(), from = ef_now_ns();
    while (ef_now_ns() - from < 3000000) {}
    uint64_t least = ef_now_ns() - from;
    ef_event_ended(EF_EVENT_COMPILE, began, 7);
    uint64_t most = ef_now_ns() - before; /* measured, since the machine may be busy */
    size_t n = ef_events_read(events, MOST, NULL);
    CHECK((double)events[n - 1].duration >= 0.95 * (double)least);
    CHECK((double)events[n - 1].duration <= 1.05 * (double)most);
    CHECK_INT(events[n - 1].value[0], 7);
}

static const ef_tally *tally_at(size_t n, uint32_t place, int kind) {
    for (size_t k = 0; k < n; k++)
        if (tallies[k].place == place && tallies[k].kind == kind) return &tallies[k];
    return NULL;
}

EF_TEST(sums_by_place) {
    ef_tallies_reset();
    ef_site_set("a.c", "f", 11);
    for (int k = 0; k < 3; k++) post(EF_EVENT_PLAN, k, 10);
    ef_site_set("a.c", "f", 12);
    ef_event_add(&(ef_event_new){.kind = EF_EVENT_PLAN, .weight = 100, .value = {5}});
    ef_site_set(NULL, NULL, 0);
    post(EF_EVENT_PLAN, 1, 1);
    uint32_t first = ef_site_named("a.c", "f", 11, NULL),
             second = ef_site_named("a.c", "f", 12, NULL);
    size_t n = ef_tallies_read(tallies, 5000);
    const ef_tally *t = tally_at(n, first, EF_EVENT_PLAN), *u = tally_at(n, second, EF_EVENT_PLAN);
    CHECK(t != NULL && u != NULL && tally_at(n, 0, EF_EVENT_PLAN) != NULL);
    if (t == NULL || u == NULL) return;
    CHECK(t->count == 3 && t->samples == 3 && t->sum[0] == 3 && t->sum[1] == 30);
    CHECK(t->least == 0 && t->most == 2 && t->first <= t->last);
    CHECK(u->count == 100 && u->samples == 1 && u->sum[0] == 500);
    ef_site_info where;
    CHECK(ef_site_get(first, &where) && where.line == 11);
    CHECK_TEXT(where.file, "a.c");
    CHECK_TEXT(where.function, "f");
    CHECK(!ef_site_get(0, &where) && !ef_site_get(first + (1u << 12), &where));
}

/* An event that took that many microseconds. */
static void post_lasting(uint32_t place, int us, uint32_t weight) {
    uint64_t now = ef_event_clock();
    ef_event_add(&(ef_event_new){.kind = EF_EVENT_CALL,
                                 .place = place,
                                 .began = now - ef_event_ticks((uint64_t)us * 1000),
                                 .ended = now,
                                 .weight = weight});
}

static bool is_about(uint32_t ns, int us) { return abs((int)ns - 1000 * us) < 200 * us; }

/* The first call is kept by itself; calls that were all sampled do not count as the early ones. */
EF_TEST(first_and_early_calls) {
    ef_tallies_reset();
    uint32_t place = ef_site_named("e.py", "f", 3, NULL);
    post_lasting(place, 900, 1);
    for (int k = 0; k < 40; k++) post_lasting(place, 100, 1);
    const ef_tally *t = tally_at(ef_tallies_read(tallies, 5000), place, EF_EVENT_CALL);
    CHECK(t != NULL && is_about(t->opening, 900) && is_about(t->early, 100));
    for (int k = 0; k < 20; k++) post_lasting(place, 10, 64);
    t = tally_at(ef_tallies_read(tallies, 5000), place, EF_EVENT_CALL);
    CHECK(t != NULL && is_about(t->opening, 900) && is_about(t->early, 10));
    CHECK(t != NULL && is_about(t->late, 10) && t->samples == 61 && t->count == 41 + 20 * 64);
}

/* 10^5 places: the tables keep their size, and what they evict is counted under no place. */
EF_TEST(is_bounded) {
    ef_tallies_reset();
    uint64_t before = ef_alloc_count(), sum = 0;
    static char owners[1000];
    for (int k = 0; k < 100000; k++) {
        const void *gone, *owner = &owners[k % 1000];
        uint32_t place = ef_site_find(owner, k);
        CHECK_INT(place, 0);
        place = ef_site_add(owner, k, "b.py", "g", k, &gone);
        CHECK(place != 0 && ef_site_find(owner, k) == place);
        for (int i = 0; i < 20; i++)
            ef_event_add(&(ef_event_new){.kind = EF_EVENT_OP, .place = place, .weight = 5});
    }
    size_t n = ef_tallies_read(tallies, 5000);
    CHECK(n <= 4096 + EF_EVENT_KINDS);
    for (size_t k = 0; k < n; k++) sum += tallies[k].kind == EF_EVENT_OP ? tallies[k].count : 0;
    CHECK_INT(sum, 10000000);
    CHECK_INT(ef_alloc_count() - before, 0);
}

/* The place that is used most stays. */
EF_TEST(keeps_what_is_used) {
    const void *gone;
    char owner[2] = {0};
    uint32_t often = ef_site_add(&owner[0], 1, "c.py", "h", 1, &gone);
    for (int k = 0; k < 100; k++) CHECK_INT(ef_site_find(&owner[0], 1), often);
    for (int k = 0; k < 50000; k++) ef_site_add(&owner[1], k, "c.py", "h", 2, &gone);
    CHECK(ef_site_alive(often));
}

/* In a table full of a binding's places, texts find room if the binding can release an owner. */
EF_TEST(texts_in_a_full_table) {
    const void *gone;
    char owner = 0, name[16];
    for (int k = 0; k < 50000; k++) ef_site_add(&owner, k, "f.py", "h", k, &gone);
    int refused = 0, evicted = 0;
    for (int k = 0; k < 200; k++) {
        snprintf(name, sizeof name, "g%d", k);
        if (ef_site_named("g.py", name, k, NULL) != 0) continue;
        uint32_t place = ef_site_named("g.py", name, k, &gone);
        ef_site_info where;
        CHECK(place != 0 && ef_site_get(place, &where) && where.line == k);
        refused++;
        evicted += gone == &owner;
    }
    CHECK(refused > 0 && evicted == refused);
}

EF_TEST(long_texts_are_cut_between_characters) {
    const void *gone;
    char owner = 0, file[400], name[200];
    for (int k = 0; k < 2; k++) { /* characters of two bytes, cut at an even and at an odd byte */
        snprintf(file, sizeof file, "%s", k == 0 ? "" : "x");
        for (size_t n = strlen(file); n + 2 < 380; n += 2) memcpy(file + n, "\xc3\xa4", 3);
        snprintf(name, sizeof name, "%.*s", 150 - k, file);
        size_t n = strlen(file);
        snprintf(file + n, sizeof file - n, "%s", k == 0 ? "a" : "ab");
        ef_site_info where;
        uint32_t place = ef_site_add(&owner, k, file, name, 7, &gone);
        CHECK(place != 0 && ef_site_get(place, &where));
        CHECK_INT((unsigned char)where.file[0], 0xc3);
        CHECK(strlen(where.file) >= sizeof where.file - 2);
    }
}

EF_TEST(notes_are_kept_for_a_while) {
    char text[64];
    uint32_t note = ef_event_note("argument 'n' was 1 and is now 2");
    CHECK(ef_event_note_get(note, text, sizeof text));
    CHECK_TEXT(text, "argument 'n' was 1 and is now 2");
    for (int k = 0; k < 600; k++) ef_event_note("another");
    CHECK(!ef_event_note_get(note, text, sizeof text) && !ef_event_note_get(0, text, 64));
}

static atomic_int waiting;
static void binding_told(int more) { atomic_fetch_add(&waiting, more); }

EF_TEST(a_binding_resolves_places) {
    ef_tallies_reset();
    ef_events_bind(binding_told);
    post(EF_EVENT_PLAN, 1, 0);
    ef_event_post(&(ef_event_new){.kind = EF_EVENT_THREAD, .nowhere = true});
    post(EF_EVENT_PLAN, 2, 0);
    CHECK(ef_events_unresolved() && atomic_load(&waiting) == 1);
    uint32_t place = ef_site_named("d.py", "k", 5, NULL),
             subject = ef_site_named("d.py", "model", 1, NULL);
    ef_events_resolve(place, subject);
    CHECK(!ef_events_unresolved() && atomic_load(&waiting) == 0);
    ef_events_bind(NULL);
    size_t n = ef_events_read(events, MOST, NULL);
    CHECK(events[n - 1].place == place && events[n - 1].subject == subject);
    CHECK(events[n - 2].place == 0 && events[n - 2].kind == EF_EVENT_THREAD);
    CHECK(events[n - 3].place == place && events[n - 3].kind == EF_EVENT_PLAN);
    const ef_tally *t = tally_at(ef_tallies_read(tallies, 5000), place, EF_EVENT_PLAN);
    CHECK(t != NULL && t->count == 2 && t->sum[0] == 3 && t->subject == subject);
}

static atomic_bool stop;

static void *poster(void *arg) {
    for (int64_t i = 0; !atomic_load(&stop); i++) post(EF_EVENT_COPY, i, ~i);
    return arg;
}

EF_TEST(read_while_written) {
    pthread_t t[3];
    atomic_store(&stop, false);
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&t[i], NULL, poster, NULL) == 0);
    bool good = true;
    for (int k = 0; k < 100; k++) {
        size_t n = ef_events_read(events, MOST, NULL);
        for (size_t i = 0; i < n; i++)
            if (events[i].kind == EF_EVENT_COPY) good &= events[i].value[1] == ~events[i].value[0];
    }
    atomic_store(&stop, true);
    for (int i = 0; i < 3; i++) pthread_join(t[i], NULL);
    CHECK(good);
}

static void *post_once(void *arg) {
    post(EF_EVENT_PLAN, 7, 7);
    return arg;
}

EF_TEST(rings_are_reused) {
    uint32_t most = 0;
    for (int i = 0; i < 200; i++) {
        pthread_t t;
        CHECK(pthread_create(&t, NULL, post_once, NULL) == 0);
        pthread_join(t, NULL);
    }
    size_t n = ef_events_read(events, MOST, NULL);
    for (size_t i = 0; i < n; i++) most = events[i].thread > most ? events[i].thread : most;
    CHECK(most < 8);
}

static void *post_without_memory(void *arg) {
    static ef_mutex any = EF_MUTEX(RINGS);
    ef_mutex_lock(&any); /* where lock ranks are checked, a thread's first lock takes memory */
    ef_mutex_unlock(&any);
    ef_alloc_fail_at(1);
    post(EF_EVENT_PRIMITIVE, 1, 1);
    ef_alloc_fail_at(0);
    return arg;
}

EF_TEST(counts_even_without_memory) {
    uint64_t before = ef_event_count(EF_EVENT_PRIMITIVE), dropped = 0, again = 0;
    ef_events_read(events, MOST, &dropped);
    pthread_t t;
    CHECK(pthread_create(&t, NULL, post_without_memory, NULL) == 0);
    pthread_join(t, NULL);
    CHECK_INT(ef_event_count(EF_EVENT_PRIMITIVE) - before, 1);
    ef_events_read(events, MOST, &again);
    CHECK_INT(again - dropped, 1);
}

EF_TEST(a_recording_keeps_all_events) {
    uint64_t dropped = 7;
    static ef_event kept[4096];
    post(EF_EVENT_COPY, 1, 1);
    CHECK_OK(ef_events_record_begin());
    for (int k = 0; k < 3000; k++) post(EF_EVENT_COPY, 1, k); /* more than a ring holds */
    ef_events_record_end();
    post(EF_EVENT_COPY, 1, 1);
    CHECK_INT(ef_events_recorded(kept, 4096, &dropped), 3000);
    CHECK_INT(dropped, 0);
    for (int k = 1; k < 3000; k++) CHECK(kept[k].time >= kept[k - 1].time);
    CHECK_INT(ef_events_recorded(kept, 100, &dropped), 100);
    CHECK_INT(dropped, 2900);
    CHECK_OK(ef_events_record_begin());
    for (int k = 0; k < EF_EVENTS_MOST + 5; k++) post(EF_EVENT_COPY, 1, k);
    ef_events_record_end();
    ef_event *all = malloc(2 * EF_EVENTS_MOST * sizeof *all);
    CHECK_INT(ef_events_recorded(all, 2 * EF_EVENTS_MOST, &dropped), EF_EVENTS_MOST);
    CHECK_INT(dropped, 5);
    free(all);
    CHECK_OK(ef_events_record_begin()); /* a new one begins empty */
    ef_events_record_end();
    CHECK_INT(ef_events_recorded(kept, 4096, &dropped), 0);
}

int main(void) {
    EF_RUN(counts_even_without_memory);
    EF_RUN(counts_and_names);
    EF_RUN(keeps_the_last_events);
    EF_RUN(a_pause_does_not_part_the_clocks);
    EF_RUN(has_a_duration);
    EF_RUN(sums_by_place);
    EF_RUN(first_and_early_calls);
    EF_RUN(is_bounded);
    EF_RUN(keeps_what_is_used);
    EF_RUN(texts_in_a_full_table);
    EF_RUN(long_texts_are_cut_between_characters);
    EF_RUN(notes_are_kept_for_a_while);
    EF_RUN(a_binding_resolves_places);
    EF_RUN(read_while_written);
    EF_RUN(rings_are_reused);
    EF_RUN(a_recording_keeps_all_events);
    return EF_VERDICT();
}
