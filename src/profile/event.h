/* What the library did that costs time once, and where the user's program asked for it. Every event
 * is counted, added to the tally of its place (profile/tally.h) and kept in a ring of its thread,
 * which holds the last ones. Posting costs some 50 ns and allocates a ring once per thread; what
 * happens on every call is sampled instead (ef_event.weight). The kinds, the reader and the meaning
 * of an event's fields are public: see evenflow.h. */
#ifndef EF_PROFILE_EVENT_H
#define EF_PROFILE_EVENT_H
#include "evenflow_binding.h"

/* Makes a function that does several things one event: `began` is the time before it. */
static inline void ef_event_ended(ef_event_kind kind, uint64_t began, int64_t value) {
    ef_event_post(&(ef_event_new){.kind = kind, .began = began, .value = {value}});
}

/* How many steps of plans this thread still records one by one; a sampled call sets it. */
extern _Thread_local int ef_event_steps;
extern _Thread_local uint32_t ef_event_weight; /* of each of them */

/* Around a loop: its event is posted if this call is sampled. */
static inline uint64_t ef_loop_begins(void) { return ef_event_steps > 0 ? ef_event_clock() : 0; }
static inline void ef_loop_ended(uint64_t began, int64_t iterations) {
    if (began == 0) return;
    ef_event_post(&(ef_event_new){
        .kind = EF_EVENT_LOOP, .began = began, .weight = ef_event_weight, .value = {iterations}});
}

void ef_events_start(void); /* listens to the rooms below; may be called again */

/* How ticks become nanoseconds of CLOCK_MONOTONIC. */
typedef struct ef_event_scale {
    double each; /* nanoseconds per tick */
    uint64_t ticks, ns;
} ef_event_scale;
ef_event_scale ef_event_scale_now(void);
static inline uint64_t ef_event_scaled(const ef_event_scale *s, uint64_t ticks) {
    return s->ns + (uint64_t)(int64_t)((double)(int64_t)(ticks - s->ticks) * s->each);
}

uint64_t ef_event_ns(uint64_t ticks);   /* a duration in nanoseconds */
uint64_t ef_event_time(uint64_t ticks); /* a moment in nanoseconds of CLOCK_MONOTONIC */
#endif
