/* A ring has one writer, its thread, and any number of readers. The writer publishes `posted` after
 * an event's words; a reader that saw a newer word than it should also sees the newer `posted`
 * afterwards (stores release, loads acquire) and discards what may have been overwritten. A ring
 * outlives its thread and is given, with its events, to the next thread that needs one, so there
 * are never more rings than there were threads at one time. Time is the processor's counter where
 * there is one, turned into nanoseconds by the reader. */
#include "profile/event.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/event_hook.h"
#include "base/mutex.h"
#include "base/status.h"
#include "profile/record.h"
#include "profile/site.h"
#include "profile/tally.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 1024, WORDS = 8 }; /* RING: a power of two */
enum { OPEN = 1 << 15 };         /* a flag beside the kind: the event has no place yet */

typedef struct cell {
    _Atomic uint64_t word[WORDS];
} cell;

typedef struct ring {
    struct ring *next; /* every ring ever made */
    struct ring *idle; /* rings whose thread is gone */
    uint32_t thread;
    _Atomic uint64_t posted;
    cell cells[RING];
    uint32_t recorded[RING]; /* see ef_record_add; only the writer uses it */
} ring;

static _Atomic uint64_t counts[EF_EVENT_KINDS];
static const char *const kind_names[EF_EVENT_KINDS] = {
#define NAME(SUFFIX, text, values) [EF_EVENT_##SUFFIX] = text,
    EF_EACH_EVENT(NAME)
#undef NAME
};
static const char *const kind_values[EF_EVENT_KINDS] = {
#define VALUES(SUFFIX, text, values) [EF_EVENT_##SUFFIX] = values,
    EF_EACH_EVENT(VALUES)
#undef VALUES
};
static const char *const reason_names[EF_REASONS] = {
    [EF_REASON_NONE] = "none",           [EF_REASON_FIRST] = "first",
    [EF_REASON_VALUE] = "value",         [EF_REASON_SHAPE] = "shape",
    [EF_REASON_DTYPE] = "dtype",         [EF_REASON_IDENTITY] = "identity",
    [EF_REASON_INSTANCE] = "instance",   [EF_REASON_STRUCTURE] = "structure",
    [EF_REASON_FORGOTTEN] = "forgotten", [EF_REASON_TEAM] = "team",
    [EF_REASON_DATA] = "data",           [EF_REASON_SLEEP] = "sleep",
    [EF_REASON_LIBRARY] = "library",     [EF_REASON_QUEUE] = "queue"};

static ef_mutex rings_lock = EF_MUTEX(RINGS); /* guards the lists and the notes */
static ring *rings, *idle_rings;
static uint32_t ring_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* tells us when a thread ends */
static bool key_made;
ef_event_rate ef_event_began;
static void (*_Atomic binding)(int more); /* fills in the places of events later; or NULL */
static _Atomic uint64_t lost;             /* events for which a thread has no ring */

static _Thread_local ring *mine;
static _Thread_local uint32_t unresolved; /* the last events of the ring that have no place yet */
_Thread_local int ef_event_steps;
_Thread_local uint32_t ef_event_weight;

const char *ef_event_kind_name(int kind) {
    return (unsigned)kind < EF_EVENT_KINDS ? kind_names[kind] : NULL;
}
const char *ef_event_kind_values(int kind) {
    return (unsigned)kind < EF_EVENT_KINDS ? kind_values[kind] : NULL;
}
const char *ef_event_reason_name(int reason) {
    return (unsigned)reason < EF_REASONS ? reason_names[reason] : NULL;
}

void ef_event_count_add(ef_event_kind kind, uint64_t n) {
    atomic_fetch_add_explicit(&counts[kind], n, memory_order_relaxed);
}

uint64_t ef_event_count(int kind) {
    return (unsigned)kind < EF_EVENT_KINDS
               ? atomic_load_explicit(&counts[kind], memory_order_relaxed)
               : 0;
}

/* ---- time ------------------------------------------------------------------------------------ */

uint64_t ef_event_clock(void) { return ef_ticks(); }

void ef_events_bind(void (*waiting)(int more)) {
    atomic_store_explicit(&binding, waiting, memory_order_release);
}

static void tell_binding(int more) {
    void (*waiting)(int) = atomic_load_explicit(&binding, memory_order_acquire);
    if (waiting != NULL) waiting(more);
}

static void thread_ended(void *arg) {
    ring *r = arg;
    mine = NULL;
    if (unresolved > 0) tell_binding(-1);
    unresolved = 0;
    ef_mutex_lock(&rings_lock);
    r->idle = idle_rings;
    idle_rings = r;
    ef_mutex_unlock(&rings_lock);
}

/* A pause between two readings of the clocks, as on a busy machine, would make them differ by the
 * pause: the reading that took least of some is the one to believe. */
ef_moment ef_moment_read(uint64_t (*ticks)(void), uint64_t (*ns)(void)) {
    enum { AT_ONCE = 4096, TRIES = 16 };
    ef_moment best = {0};
    uint64_t least = UINT64_MAX;
    for (int k = 0; k < TRIES && least > AT_ONCE; k++) {
        uint64_t before = ticks(), now = ns(), took = ticks() - before;
        if (took >= least) continue;
        least = took;
        best = (ef_moment){before + took / 2, now};
    }
    return best;
}

static void begin(void) {
    key_made = pthread_key_create(&key, thread_ended) == 0;
    ef_moment now = ef_moment_read(ef_event_clock, ef_now_ns);
    ef_event_began.ticks_begun = now.ticks;
    ef_event_began.ns_begun = now.ns;
}

/* Nanoseconds per tick, better the longer the program has run. */
static double rate(void) {
    pthread_once(&once, begin);
    uint64_t t, ns;
    do { /* two readings of the clocks that are a millisecond apart at least */
        ef_moment now = ef_moment_read(ef_event_clock, ef_now_ns);
        t = now.ticks - ef_event_began.ticks_begun;
        ns = now.ns - ef_event_began.ns_begun;
    } while (ns < 1000000);
    return t > 0 ? (double)ns / (double)t : 1;
}

ef_event_rate ef_event_rate_now(void) {
    double each = rate();
    return (ef_event_rate){ef_event_began.ticks_begun, ef_event_began.ns_begun, each};
}

uint64_t ef_event_ns(uint64_t ticks) { return (uint64_t)((double)ticks * rate()); }

uint64_t ef_event_ticks(uint64_t ns) { return (uint64_t)((double)ns / rate()); }

uint64_t ef_event_time(uint64_t ticks) {
    double since = (double)(int64_t)(ticks - ef_event_began.ticks_begun) * rate();
    return ef_event_began.ns_begun + (uint64_t)(int64_t)since;
}

/* ---- posting --------------------------------------------------------------------------------- */

/* This thread's ring; NULL if there is no memory for one. */
static ring *ring_get(void) {
    pthread_once(&once, begin);
    if (!key_made) return NULL;
    ef_mutex_lock(&rings_lock);
    ring *r = idle_rings;
    if (r != NULL) {
        idle_rings = r->idle;
    } else if ((r = ef_calloc(1, sizeof *r)) != NULL) {
        r->thread = ring_count++;
        r->next = rings;
        rings = r;
    }
    ef_mutex_unlock(&rings_lock);
    if (r != NULL && pthread_setspecific(key, r) != 0) {
        thread_ended(r);
        return NULL;
    }
    return mine = r;
}

static void put(cell *c, int k, uint64_t word) {
    atomic_store_explicit(&c->word[k], word, memory_order_release);
}
static uint64_t get(const cell *c, int k) {
    return atomic_load_explicit(&c->word[k], memory_order_acquire);
}
static uint64_t pair(uint32_t low, uint32_t high) { return (uint64_t)high << 32 | low; }

static ef_event event_of(const cell *c) {
    uint64_t what = get(c, 2), where = get(c, 3), more = get(c, 4);
    ef_event e = {.time = get(c, 0),
                  .duration = get(c, 1),
                  .kind = (uint16_t)(what & 0xff),
                  .reason = (uint16_t)(what >> 16),
                  .thread = (uint32_t)(what >> 32),
                  .place = (uint32_t)where,
                  .subject = (uint32_t)(where >> 32),
                  .note = (uint32_t)more,
                  .weight = (uint32_t)(more >> 32)};
    for (int k = 0; k < 3; k++) e.value[k] = (int64_t)get(c, 5 + k);
    return e;
}

static void ring_write(ring *r, const ef_event_new *e, uint64_t now, bool resolved) {
    uint64_t n = atomic_load_explicit(&r->posted, memory_order_relaxed);
    cell *c = &r->cells[n % RING];
    put(c, 0, now);
    put(c, 1, e->began != 0 ? now - e->began : 0);
    uint32_t kind = (uint32_t)e->kind | (resolved ? 0 : OPEN);
    put(c, 2, pair(kind | (uint32_t)e->reason << 16, r->thread));
    put(c, 3, pair(e->place, e->subject));
    put(c, 4, pair(e->note, e->weight > 0 ? e->weight : 1));
    for (int k = 0; k < 3; k++) put(c, 5 + k, (uint64_t)e->value[k]);
    atomic_store_explicit(&r->posted, n + 1, memory_order_release);
    ef_event recorded;
    if (EF_LIKELY(!ef_record_on())) {
        r->recorded[n % RING] = 0;
    } else {
        recorded = event_of(c);
        r->recorded[n % RING] = ef_record_add(&recorded);
    }
}

/* Fills in the place; false: the binding will. */
static bool locate(ef_event_new *e) {
    if (e->place != 0 || e->nowhere) return true;
    if (atomic_load_explicit(&binding, memory_order_acquire) != NULL) return false;
    e->place = ef_site_here();
    return true;
}

void ef_event_add(const ef_event_new *e) {
    ef_event_new copy = *e;
    uint64_t now = e->ended != 0 ? e->ended : ef_event_clock();
    ef_event_count_add(e->kind, e->weight > 0 ? e->weight : 1);
    locate(&copy);
    ef_tally_add(&copy, e->began != 0 ? now - e->began : 0);
}

void ef_event_post(const ef_event_new *e) {
    ef_event_new copy = *e;
    uint64_t now = e->ended != 0 ? e->ended : ef_event_clock();
    ef_event_count_add(e->kind, e->weight > 0 ? e->weight : 1);
    ring *r = mine ? mine : ring_get();
    bool resolved = locate(&copy) || r == NULL || unresolved + 1 >= RING;
    if (resolved) ef_tally_add(&copy, e->began != 0 ? now - e->began : 0);
    if (!resolved && unresolved == 0) tell_binding(1);
    unresolved = resolved && unresolved == 0 ? 0 : unresolved + 1;
    if (r == NULL)
        atomic_fetch_add_explicit(&lost, 1, memory_order_relaxed);
    else
        ring_write(r, &copy, now, resolved);
}

bool ef_events_unresolved(void) { return unresolved > 0; }

static void resolve(ring *r, uint64_t i, uint32_t place, uint32_t subject) {
    cell *c = &r->cells[i % RING];
    uint64_t what = get(c, 2), about = get(c, 3) >> 32;
    ef_event_new e = {.kind = (ef_event_kind)(what & 0xff),
                      .reason = (ef_event_reason)(what >> 16 & 0xffff),
                      .place = place,
                      .subject = about != 0 ? (uint32_t)about : subject,
                      .note = (uint32_t)get(c, 4),
                      .weight = (uint32_t)(get(c, 4) >> 32)};
    for (int k = 0; k < 3; k++) e.value[k] = (int64_t)get(c, 5 + k);
    put(c, 3, pair(e.place, e.subject));
    put(c, 2, what & ~(uint64_t)OPEN);
    ef_tally_add(&e, get(c, 1));
    ef_record_resolve(r->recorded[i % RING], get(c, 0), e.place, e.subject);
}

void ef_events_resolve(uint32_t place, uint32_t subject) {
    uint32_t n = unresolved < RING ? unresolved : RING;
    if (n == 0) return;
    unresolved = 0;
    tell_binding(-1);
    ring *r = mine;
    uint64_t end = r != NULL ? atomic_load_explicit(&r->posted, memory_order_relaxed) : 0;
    for (uint64_t i = end > n ? end - n : 0; i < end; i++)
        if (get(&r->cells[i % RING], 2) & OPEN) resolve(r, i, place, subject);
}

void ef_event_steps_record(int n, uint32_t weight) {
    ef_event_steps = n > 0 && ef_record_on() ? INT32_MAX : n;
    ef_event_weight = weight;
}

static void watched(ef_hooked what, uint64_t began, int64_t value) {
    static const ef_event_new event[] = {
        [EF_HOOKED_TEAM] = {.kind = EF_EVENT_WAIT, .reason = EF_REASON_TEAM},
        [EF_HOOKED_SLEEP] = {.kind = EF_EVENT_THREAD, .reason = EF_REASON_SLEEP, .nowhere = true},
        [EF_HOOKED_PRIMITIVE] = {.kind = EF_EVENT_PRIMITIVE},
        [EF_HOOKED_EVICTION] = {.kind = EF_EVENT_EVICTION}};
    ef_event_new e = event[what];
    e.began = began;
    e.value[0] = value;
    ef_event_post(&e);
}

void ef_events_start(void) { ef_event_hook_set(watched); }

/* ---- notes ----------------------------------------------------------------------------------- */

ef_note_table ef_notes; /* under rings_lock */

uint32_t ef_event_note(const char *text) {
    if (text == NULL) return 0;
    ef_mutex_lock(&rings_lock);
    uint32_t note = ++ef_notes.n;
    snprintf(ef_notes.text[note % EF_NOTES], EF_NOTE_BYTES, "%s", text);
    ef_mutex_unlock(&rings_lock);
    return note;
}

const char *ef_note_of(const ef_note_table *t, uint32_t note) {
    bool kept = note != 0 && note <= t->n && t->n - note < EF_NOTES;
    return kept ? t->text[note % EF_NOTES] : NULL;
}

bool ef_event_note_get(uint32_t note, char *out, size_t room) {
    ef_mutex_lock(&rings_lock);
    const char *text = ef_note_of(&ef_notes, note);
    if (text != NULL) snprintf(out, room, "%s", text);
    ef_mutex_unlock(&rings_lock);
    return text != NULL;
}

void ef_note_copy(ef_note_table *out) {
    ef_mutex_lock(&rings_lock);
    *out = ef_notes;
    ef_mutex_unlock(&rings_lock);
}

/* ---- reading --------------------------------------------------------------------------------- */

static size_t ring_read(ring *r, ef_event *out, size_t max, uint64_t *dropped) {
    uint64_t end = atomic_load_explicit(&r->posted, memory_order_acquire);
    uint64_t from = end > RING ? end - RING : 0;
    if (end - from > max) from = end - max;
    for (uint64_t i = from; i < end; i++) out[i - from] = event_of(&r->cells[i % RING]);
    uint64_t now = atomic_load_explicit(&r->posted, memory_order_acquire);
    uint64_t safe = now >= RING ? now - RING + 1 : 0; /* the writer may be in the cell before */
    size_t gone = safe > from ? (size_t)((safe < end ? safe : end) - from) : 0;
    memmove(out, out + gone, ((size_t)(end - from) - gone) * sizeof *out);
    *dropped += from + gone;
    return (size_t)(end - from) - gone;
}

static int by_time(const void *a, const void *b) {
    uint64_t x = ((const ef_event *)a)->time, y = ((const ef_event *)b)->time;
    return x < y ? -1 : x > y;
}

size_t ef_events_read(ef_event *out, size_t max, uint64_t *dropped) {
    uint64_t overwritten = atomic_load_explicit(&lost, memory_order_relaxed);
    size_t n = 0;
    ef_mutex_lock(&rings_lock);
    for (ring *r = rings; r != NULL; r = r->next) n += ring_read(r, out + n, max - n, &overwritten);
    ef_mutex_unlock(&rings_lock);
    double each = rate();
    for (size_t i = 0; i < n; i++) {
        double since = (double)(int64_t)(out[i].time - ef_event_began.ticks_begun) * each;
        out[i].time = ef_event_began.ns_begun + (uint64_t)(int64_t)since;
        out[i].duration = (uint64_t)((double)out[i].duration * each);
    }
    qsort(out, n, sizeof *out, by_time);
    if (dropped != NULL) *dropped = overwritten;
    return n;
}
