/* The context that a thread begins with: the first device, all threads, full weight. */
#include "base/context.h"

_Thread_local ef_context ef_context_own = {.weight = 1};
