/* A ring has one writer, its thread, and any number of readers. The writer publishes `posted` after
 * an event's words; a reader that saw a newer word than it should also sees the newer `posted`
 * afterwards (stores release, loads acquire) and throws away what may have been overwritten. A ring
 * outlives its thread and is given, with its events, to the next thread that needs one, so there
 * are never more rings than there were threads at one time. Time is the processor's counter where
 * there is one, turned into nanoseconds by the reader. */
#include "profile/event.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/mutex.h"
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { RING = 1024 }; /* events; a power of two */

typedef struct cell {
    _Atomic uint64_t time, kind_thread, id, value;
} cell;
_Static_assert(sizeof(cell) == 32, "an event is half a cache line");

typedef struct ring {
    struct ring *next; /* every ring ever made */
    struct ring *idle; /* rings whose thread is gone */
    uint32_t thread;
    _Atomic uint64_t posted;
    cell cells[RING];
} ring;

static _Atomic uint64_t counters[EF_COUNTERS];
static const char *const names[EF_COUNTERS] = {
#define NAME(SUFFIX, text) [EF_COUNT_##SUFFIX] = text,
    EF_EACH_COUNTER(NAME)
#undef NAME
};

static ef_mutex rings_lock = EF_MUTEX(EVENTS); /* guards the lists */
static ring *rings, *idle_rings;
static uint32_t ring_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key; /* tells us when a thread ends */
static bool key_made;
static uint64_t ticks_begun, ns_begun; /* the two clocks at one moment; written once */
static _Thread_local ring *mine;

void ef_counter_add(ef_counter c, uint64_t n) {
    atomic_fetch_add_explicit(&counters[c], n, memory_order_relaxed);
}

uint64_t ef_counter_get(ef_counter c) {
    return (unsigned)c < EF_COUNTERS ? atomic_load_explicit(&counters[c], memory_order_relaxed) : 0;
}

const char *ef_counter_name(ef_counter c) { return (unsigned)c < EF_COUNTERS ? names[c] : NULL; }

int ef_counter_find(const char *name) {
    for (int c = 0; c < EF_COUNTERS; c++)
        if (strcmp(names[c], name) == 0) return c;
    return -1;
}

static uint64_t ticks(void) {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return ef_now_ns();
#endif
}

static void thread_ended(void *arg) {
    ring *r = arg;
    mine = NULL;
    ef_mutex_lock(&rings_lock);
    r->idle = idle_rings;
    idle_rings = r;
    ef_mutex_unlock(&rings_lock);
}

static void begin(void) {
    key_made = pthread_key_create(&key, thread_ended) == 0;
    ticks_begun = ticks();
    ns_begun = ef_now_ns();
}

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

void ef_event_post(ef_counter kind, uint64_t id, uint64_t value) {
    ef_counter_add(kind, 1);
    ring *r = mine ? mine : ring_get();
    if (r == NULL) return;
    uint64_t n = atomic_load_explicit(&r->posted, memory_order_relaxed);
    cell *c = &r->cells[n % RING];
    atomic_store_explicit(&c->time, ticks(), memory_order_release);
    atomic_store_explicit(&c->kind_thread, (uint64_t)r->thread << 32 | kind, memory_order_release);
    atomic_store_explicit(&c->id, id, memory_order_release);
    atomic_store_explicit(&c->value, value, memory_order_release);
    atomic_store_explicit(&r->posted, n + 1, memory_order_release);
}

static size_t ring_read(ring *r, ef_event *out, size_t max) {
    uint64_t end = atomic_load_explicit(&r->posted, memory_order_acquire);
    uint64_t from = end > RING ? end - RING : 0;
    if (end - from > max) from = end - max;
    for (uint64_t i = from; i < end; i++) {
        cell *c = &r->cells[i % RING];
        uint64_t kt = atomic_load_explicit(&c->kind_thread, memory_order_acquire);
        out[i - from] = (ef_event){.time = atomic_load_explicit(&c->time, memory_order_acquire),
                                   .kind = (uint32_t)kt,
                                   .thread = (uint32_t)(kt >> 32),
                                   .id = atomic_load_explicit(&c->id, memory_order_acquire),
                                   .value = atomic_load_explicit(&c->value, memory_order_acquire)};
    }
    uint64_t now = atomic_load_explicit(&r->posted, memory_order_acquire);
    uint64_t safe = now >= RING ? now - RING + 1 : 0; /* the writer may be in the cell before */
    size_t lost = safe > from ? (size_t)((safe < end ? safe : end) - from) : 0;
    memmove(out, out + lost, ((size_t)(end - from) - lost) * sizeof *out);
    return (size_t)(end - from) - lost;
}

static int by_time(const void *a, const void *b) {
    uint64_t x = ((const ef_event *)a)->time, y = ((const ef_event *)b)->time;
    return x < y ? -1 : x > y;
}

size_t ef_event_read(ef_event *out, size_t max) {
    pthread_once(&once, begin);
    size_t n = 0;
    ef_mutex_lock(&rings_lock);
    for (ring *r = rings; r != NULL && n < max; r = r->next) n += ring_read(r, out + n, max - n);
    ef_mutex_unlock(&rings_lock);
    uint64_t t = ticks() - ticks_begun, ns = ef_now_ns() - ns_begun;
    double rate = t > 0 ? (double)ns / (double)t : 1;
    for (size_t i = 0; i < n; i++) {
        double since = (double)(int64_t)(out[i].time - ticks_begun) * rate;
        out[i].time = ns_begun + (uint64_t)(int64_t)since;
    }
    qsort(out, n, sizeof *out, by_time);
    return n;
}
