/* Events of the rooms below src/profile, which cannot include its headers: they call one function,
 * which src/profile installs. */
#ifndef EF_BASE_WATCH_H
#define EF_BASE_WATCH_H
#include <stdint.h>

typedef enum ef_watched {
    EF_WATCH_TEAM,      /* a caller slept until its workers were done */
    EF_WATCH_SLEEP,     /* a worker slept until it was called; value: its lane */
    EF_WATCH_PRIMITIVE, /* oneDNN made a primitive */
    EF_WATCH_EVICTION   /* the budget of the caches evicted something; value: its ef_kept */
} ef_watched;
/* began: ef_ticks() at its beginning; it has just ended. Takes no lock below EF_RANK_SITES. */
typedef void ef_watch_fn(ef_watched what, uint64_t began, int64_t value);
void ef_watch_set(ef_watch_fn *fn); /* NULL: nobody listens */
void ef_watch(ef_watched what, uint64_t began, int64_t value);
#endif
