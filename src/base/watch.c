#include "base/watch.h"
#include <stdatomic.h>
#include <stddef.h>

static ef_watch_fn *_Atomic watcher;

void ef_watch_set(ef_watch_fn *fn) { atomic_store_explicit(&watcher, fn, memory_order_release); }

void ef_watch(ef_watched what, uint64_t began, int64_t value) {
    ef_watch_fn *fn = atomic_load_explicit(&watcher, memory_order_acquire);
    if (fn != NULL) fn(what, began, value);
}
