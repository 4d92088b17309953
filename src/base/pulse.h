/* Interrupting work in progress. Everything that may run for long compares a counter, the pulse,
 * with its value at the start; when the counter has changed, it calls ef_pulse_look, which says
 * whether to go on. So a step pays one load and one comparison, and a signal, a deadline or another
 * thread interrupts by changing the counter. */
#ifndef EF_BASE_PULSE_H
#define EF_BASE_PULSE_H
#include "base/context.h"
#include "base/status.h"
#include <stdatomic.h>

extern atomic_uint ef_pulse_count;
extern atomic_int ef_pulse_cancelled; /* cancellers that are cancelled or have a deadline */

static inline unsigned ef_pulse(void) {
    return atomic_load_explicit(&ef_pulse_count, memory_order_relaxed);
}
/* Asks the binding, then the context's canceller. NULL: go on. May run user code: no lock is
 * held by the caller. */
ef_status *ef_pulse_look(const ef_context *c);
/* *pulse is what ef_pulse() was at the last look. */
static inline ef_status *ef_pulse_check(const ef_context *c, unsigned *pulse) {
    unsigned now = ef_pulse();
    if (EF_LIKELY(now == *pulse)) return NULL;
    *pulse = now;
    return ef_pulse_look(c);
}
/* Called when a run begins, since a canceller that was cancelled earlier does not change the pulse
 * again. */
static inline ef_status *ef_pulse_enter(const ef_context *c) {
    int n = atomic_load_explicit(&ef_pulse_cancelled, memory_order_relaxed);
    return EF_LIKELY(n == 0) ? NULL : ef_pulse_look(c);
}
#endif
