/* The hooks of the binding, set once before any thread waits. */
#include "base/blocking.h"
#include "evenflow_binding.h"

static void *(*hook_begin)(void);
static void (*hook_end)(void *);

void ef_blocking_hooks(void *(*begin)(void), void (*end)(void *)) {
    hook_begin = begin;
    hook_end = end;
}

void *ef_blocking_begin(void) { return hook_begin != NULL ? hook_begin() : NULL; }

void ef_blocking_end(void *state) {
    if (state != NULL) hook_end(state);
}
