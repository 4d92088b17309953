/* Events: what the library did that takes time, such as tracing or planning, and which line of the
 * user's program caused it. Every event is counted, added to the tally of its place
 * (profile/tally.h) and kept in a ring of its thread, which holds the last ones. Posting costs some
 * 50 ns and allocates a ring once per thread; what happens on every call is sampled instead
 * (ef_event.weight). The kinds, the reader and the meaning of an event's fields are public: see
 * evenflow.h. */
#ifndef EF_PROFILE_EVENT_H
#define EF_PROFILE_EVENT_H
#include "evenflow_binding.h"

/* Posts an event that ends now; `began` is the time at its beginning. */
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

void ef_events_start(void); /* makes base/event_hook.h post events; may be called again */

/* What two clocks show at one moment, however busy the machine is. */
typedef struct ef_moment {
    uint64_t ticks, ns;
} ef_moment;
ef_moment ef_moment_read(uint64_t (*ticks)(void), uint64_t (*ns)(void));

/* From ticks to nanoseconds: both clocks at one moment, and the nanoseconds of a tick. */
typedef struct ef_event_rate {
    uint64_t ticks_begun, ns_begun;
    double ns_per_tick;
} ef_event_rate;
extern ef_event_rate ef_event_began; /* written once; its rate is 0 */
ef_event_rate ef_event_rate_now(void);
static inline uint64_t ef_rate_ns(const ef_event_rate *r, uint64_t ticks) {
    return (uint64_t)((double)ticks * r->ns_per_tick);
}
static inline uint64_t ef_rate_time(const ef_event_rate *r, uint64_t ticks) {
    return r->ns_begun +
           (uint64_t)(int64_t)((double)(int64_t)(ticks - r->ticks_begun) * r->ns_per_tick);
}

enum { EF_NOTES = 512, EF_NOTE_BYTES = 120 };
typedef struct ef_note_table {
    uint32_t n; /* made so far; the last EF_NOTES are kept */
    char text[EF_NOTES][EF_NOTE_BYTES];
} ef_note_table;
extern ef_note_table ef_notes;
void ef_note_copy(ef_note_table *out);
const char *ef_note_of(const ef_note_table *t, uint32_t note); /* NULL: overwritten */

uint64_t ef_event_ns(uint64_t ticks);   /* a duration in nanoseconds */
uint64_t ef_event_ticks(uint64_t ns);   /* the other way round */
uint64_t ef_event_time(uint64_t ticks); /* a moment in nanoseconds of CLOCK_MONOTONIC */
#endif
