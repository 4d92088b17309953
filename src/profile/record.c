/* The buffer is made when the first recording begins and kept for the next, so a thread that is
 * late in posting never writes into freed memory. */
#include "profile/record.h"
#include "base/alloc.h"
#include "base/mutex.h"
#include "base/status.h"
#include "profile/event.h"
#include <stdatomic.h>
#include <stdlib.h>

typedef struct entry {
    _Atomic uint64_t ready; /* the recording it belongs to, once it is complete */
    ef_event event;
} entry;

static entry *entries; /* written once, before `on` is first set */
static _Atomic uint64_t next, recording_number;
static atomic_bool on;
static ef_mutex lock = EF_MUTEX(RECORD); /* guards starting and reading */

bool ef_record_on(void) { return atomic_load_explicit(&on, memory_order_acquire); }

uint32_t ef_record_add(const ef_event *e) {
    const uint64_t at = atomic_fetch_add_explicit(&next, 1, memory_order_relaxed);
    if (at >= EF_EVENTS_MOST) return 0;
    entries[at].event = *e;
    atomic_store_explicit(&entries[at].ready,
                          atomic_load_explicit(&recording_number, memory_order_relaxed),
                          memory_order_release);
    return (uint32_t)at + 1;
}

void ef_record_resolve(uint32_t at, uint64_t time, uint32_t place, uint32_t subject) {
    if (at == 0 || !ef_record_on()) return;
    entry *e = &entries[at - 1];
    if (e->event.time != time) return; /* of an earlier recording */
    e->event.place = place;
    e->event.subject = subject;
}

ef_status *ef_events_record_begin(void) {
    ef_status *s = NULL;
    ef_mutex_lock(&lock);
    if (entries == NULL && (entries = ef_calloc(EF_EVENTS_MOST, sizeof *entries)) == NULL)
        s = ef_no_memory(EF_EVENTS_MOST * sizeof *entries);
    if (s == NULL) {
        atomic_fetch_add_explicit(&recording_number, 1, memory_order_relaxed);
        atomic_store_explicit(&next, 0, memory_order_relaxed);
        atomic_store_explicit(&on, true, memory_order_release);
    }
    ef_mutex_unlock(&lock);
    return s;
}

void ef_events_record_end(void) { atomic_store_explicit(&on, false, memory_order_release); }

static int by_time(const void *a, const void *b) {
    const uint64_t x = ((const ef_event *)a)->time, y = ((const ef_event *)b)->time;
    return x < y ? -1 : x > y;
}

size_t ef_events_recorded(ef_event *out, size_t max, uint64_t *dropped) {
    size_t n = 0;
    ef_mutex_lock(&lock);
    const uint64_t posted = atomic_load_explicit(&next, memory_order_acquire);
    const uint64_t number = atomic_load_explicit(&recording_number, memory_order_relaxed);
    const uint64_t kept = posted < EF_EVENTS_MOST ? posted : EF_EVENTS_MOST;
    for (uint64_t k = 0; k < kept && n < max && entries != NULL; k++)
        if (atomic_load_explicit(&entries[k].ready, memory_order_acquire) == number)
            out[n++] = entries[k].event;
    ef_mutex_unlock(&lock);
    const ef_event_rate rate = ef_event_rate_now();
    for (size_t k = 0; k < n; k++) {
        out[k].time = ef_rate_time(&rate, out[k].time);
        out[k].duration = ef_rate_ns(&rate, out[k].duration);
    }
    qsort(out, n, sizeof *out, by_time);
    if (dropped != NULL) *dropped = posted - n;
    return n;
}
