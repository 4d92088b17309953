/* A stack for signal handlers. Matrix kernels of oneDNN 2.6 keep data below the stack pointer,
 * where a handler's frame overwrites it: a signal during a product corrupts the heap. Handlers
 * installed with SA_ONSTACK, as Python's are, run on the thread's alternate stack instead. */
#ifndef EF_BASE_SIGNAL_STACK_H
#define EF_BASE_SIGNAL_STACK_H
#include <stdbool.h>

extern _Thread_local bool ef_signal_stack_ready;
void ef_signal_stack_make(void); /* keeps a stack the thread has; does nothing without memory */
static inline void ef_signal_stack(void) {
    if (!ef_signal_stack_ready) ef_signal_stack_make();
}
#endif
