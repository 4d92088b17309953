/* What happened, counted and on record. Counters are always exact; beside them each thread keeps
 * the last events in a ring of its own, cheap enough (some 15 ns) to stay on. The ids in an event
 * mean whatever its kind says; names are resolved when somebody reads. */
#ifndef EF_PROFILE_EVENT_H
#define EF_PROFILE_EVENT_H
#include <stddef.h>
#include <stdint.h>

/* X(enum suffix, name). Posting an event of a kind counts it, too. */
#define EF_EACH_COUNTER(X)        \
    X(TRACE, "trace")             \
    X(PLAN, "plan")               \
    X(REPLAN, "replan")           \
    X(PRIMITIVE, "primitive")     \
    X(EVICTION, "cache eviction") \
    X(GROWTH, "allocator growth") \
    X(HOST_COPY, "host copy")     \
    X(PLAN_HIT, "plan hit")       \
    X(DEFERRED, "deferred op")    \
    X(SETTLED, "settled graph")

typedef enum ef_counter {
#define EF_COUNTER_ENUM(NAME, text) EF_COUNT_##NAME,
    EF_EACH_COUNTER(EF_COUNTER_ENUM)
#undef EF_COUNTER_ENUM
        EF_COUNTERS
} ef_counter;

void ef_counter_add(ef_counter c, uint64_t n);
uint64_t ef_counter_get(ef_counter c);
const char *ef_counter_name(ef_counter c); /* NULL if there is no such counter */
int ef_counter_find(const char *name);     /* an ef_counter; -1 if none */

typedef struct ef_event {
    uint64_t time; /* nanoseconds as of ef_now_ns */
    uint32_t kind; /* ef_counter */
    uint32_t thread;
    uint64_t id, value;
} ef_event;

/* Records an event in this thread's ring (the oldest one there goes) and counts it. */
void ef_event_post(ef_counter kind, uint64_t id, uint64_t value);
/* The events still on record, of all threads, oldest first; returns how many were written. */
size_t ef_event_read(ef_event *out, size_t max);
#endif
