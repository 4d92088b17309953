/* Interrupting work in progress. Everything that may run for long compares a counter, the pulse,
 * with its value at the start; when the counter has changed, it calls ef_interrupt_look, which says
 * whether to go on. So a step pays one load and one comparison, and a signal, a deadline or another
 * thread interrupts by changing the counter. */
#ifndef EF_BASE_INTERRUPT_H
#define EF_BASE_INTERRUPT_H
#include "base/context.h"
#include "base/status.h"
#include <stdatomic.h>

extern atomic_uint ef_interrupt_count;
extern atomic_int ef_interrupt_cancelled; /* cancellers that are cancelled or have a deadline */

static inline unsigned ef_interrupt_counter(void) {
    return atomic_load_explicit(&ef_interrupt_count, memory_order_relaxed);
}
/* Asks the binding, then the context's canceller. NULL: go on. May run user code: no lock is
 * held by the caller. */
ef_status *ef_interrupt_look(const ef_context *c);
/* Tells the binding that the work that begins now takes long. No lock is held by the caller. */
void ef_interrupt_takes_long(void);
/* *pulse is what ef_interrupt_counter() was at the last look. */
static inline ef_status *ef_interrupt_check(const ef_context *c, unsigned *pulse) {
    unsigned now = ef_interrupt_counter();
    if (EF_LIKELY(now == *pulse)) return NULL;
    *pulse = now;
    return ef_interrupt_look(c);
}
/* Called when a run begins, since a canceller that was cancelled earlier does not change the pulse
 * again. */
static inline ef_status *ef_interrupt_enter(const ef_context *c) {
    int n = atomic_load_explicit(&ef_interrupt_cancelled, memory_order_relaxed);
    return EF_LIKELY(n == 0) ? NULL : ef_interrupt_look(c);
}
#endif
