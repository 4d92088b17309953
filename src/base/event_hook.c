#include "base/event_hook.h"
#include <stdatomic.h>
#include <stddef.h>

static ef_event_hook_fn *_Atomic watcher;

void ef_event_hook_set(ef_event_hook_fn *fn) {
    atomic_store_explicit(&watcher, fn, memory_order_release);
}

void ef_event_hook(ef_hooked what, uint64_t began, int64_t value) {
    ef_event_hook_fn *fn = atomic_load_explicit(&watcher, memory_order_acquire);
    if (fn != NULL) fn(what, began, value);
}
