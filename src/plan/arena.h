/* The memory that calls run in: one block per thread and nesting depth, grown to what is needed and
 * kept, so that a call touches the same warm bytes every time whatever plan it runs. */
#ifndef EF_PLAN_ARENA_H
#define EF_PLAN_ARENA_H
#include "base/status.h"

/* At least `bytes` of device memory, 64-byte aligned, for this thread until released; may nest. */
ef_status *ef_call_arena_take(int device, size_t bytes, char **out);
void ef_call_arena_release(void);
#endif
