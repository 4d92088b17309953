/* A recording: all events between two moments, for profiles and traces. The rings keep the last
 * 1024 events of each thread; while a recording is on, events are also appended to one buffer,
 * which is full after EF_EVENTS_MOST of them. */
#ifndef EF_PROFILE_RECORD_H
#define EF_PROFILE_RECORD_H
#include "evenflow_binding.h"

/* Called by the posting thread. Returns where the event was put, for ef_record_resolve; 0: the
 * buffer is full. Times are in ticks, as in the rings. */
uint32_t ef_record_add(const ef_event *e);
/* Fills in a place that the binding found later; `time` is the event's, in ticks. */
void ef_record_resolve(uint32_t at, uint64_t time, uint32_t place, uint32_t subject);
bool ef_record_on(void);
#endif
