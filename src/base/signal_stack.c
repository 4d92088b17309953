/* One stack per thread that calls the library, freed when the thread ends. */
#include "base/signal_stack.h"
#include "base/alloc.h"
#include <pthread.h>
#include <signal.h>

enum { STACK_BYTES = 64 << 10 };

_Thread_local bool ef_signal_stack_ready;
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void thread_ends(void *stack) {
    stack_t is;
    /* If somebody installed another stack, they may restore this one: it is not freed. */
    if (sigaltstack(NULL, &is) != 0 || is.ss_sp != stack) return;
    is.ss_flags = SS_DISABLE;
    if (sigaltstack(&is, NULL) == 0) ef_free(stack);
}
static void make_key(void) { pthread_key_create(&key, thread_ends); }

void ef_signal_stack_make(void) {
    stack_t is;
    ef_signal_stack_ready = true;
    if (sigaltstack(NULL, &is) != 0 || !(is.ss_flags & SS_DISABLE)) return;
    void *stack = ef_malloc(STACK_BYTES);
    if (stack == NULL) return;
    is = (stack_t){.ss_sp = stack, .ss_size = STACK_BYTES};
    if (sigaltstack(&is, NULL) != 0) {
        ef_free(stack);
        return;
    }
    pthread_once(&once, make_key);
    pthread_setspecific(key, stack);
}
