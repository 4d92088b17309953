/* Events of the rooms below src/profile, which cannot include its headers: they call one function,
 * which src/profile installs. */
#ifndef EF_BASE_EVENT_HOOK_H
#define EF_BASE_EVENT_HOOK_H
#include <stdint.h>

typedef enum ef_hooked {
    EF_HOOKED_TEAM,      /* a caller slept until its workers were done */
    EF_HOOKED_SLEEP,     /* a worker slept until it was called; value: its lane */
    EF_HOOKED_PRIMITIVE, /* oneDNN made a primitive */
    EF_HOOKED_EVICTION   /* the budget of the caches evicted something; value: its ef_kept */
} ef_hooked;
/* began: ef_ticks() at its beginning; it has just ended. Takes no lock below EF_RANK_SITES. */
typedef void ef_event_hook_fn(ef_hooked what, uint64_t began, int64_t value);
void ef_event_hook_set(ef_event_hook_fn *fn); /* NULL: nobody listens */
void ef_event_hook(ef_hooked what, uint64_t began, int64_t value);
#endif
