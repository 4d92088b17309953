/* One thread increments the pulse every 20 ms while something runs or a deadline is set, and sleeps
 * otherwise. The first caller that needs it starts it, also in the child of a fork. */
#include "base/interrupt.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/sanitize.h"
#include "evenflow_binding.h"
#include <errno.h>
#include <signal.h>
#include <time.h>

enum { TICK_MS = 20, IDLE_TICKS = 25 };

struct ef_canceller {
    atomic_bool cancelled;
    _Atomic uint64_t deadline; /* by ef_now_ns; 0: none */
    bool counted;              /* in ef_interrupt_cancelled; guarded by `lock` */
    bool timed;                /* in `deadlines`; guarded by `lock` */
};

atomic_uint ef_interrupt_count;
atomic_int ef_interrupt_cancelled;

static const ef_interrupt_watch *_Atomic watch;

/* Guards what follows; nothing else is locked while it is held. */
static ef_mutex lock = EF_MUTEX(PULSE);
static pthread_cond_t wake = PTHREAD_COND_INITIALIZER;
static bool started, watched_forks, needed, forked;
static int deadlines; /* cancellers that have one */

void ef_interrupt_send(void) {
    atomic_fetch_add_explicit(&ef_interrupt_count, 1, memory_order_relaxed);
}

void ef_interrupt_watch_set(const ef_interrupt_watch *w) {
    atomic_store(&watch, w);
    w->stopped(true);
}

static unsigned calls(bool *running) {
    const ef_interrupt_watch *w = atomic_load(&watch);
    *running = false;
    return w != NULL ? w->calls(running) : 0;
}

static void stopped(bool yes) {
    const ef_interrupt_watch *w = atomic_load(&watch);
    if (w != NULL) w->stopped(yes);
}

void ef_interrupt_takes_long(void) {
    const ef_interrupt_watch *w = atomic_load_explicit(&watch, memory_order_acquire);
    if (w != NULL && w->takes_long != NULL) w->takes_long();
}

/* ---- the thread ------------------------------------------------------------------------------ */

static void pause_ms(long ms) {
    struct timespec t = {.tv_sec = 0, .tv_nsec = ms * 1000000};
    while (nanosleep(&t, &t) != 0 && errno == EINTR) {}
}

/* Sleeps until somebody needs a pulse. A call may begin before its thread can see that the pulse
 * has stopped, so the number of calls is compared again a millisecond later. */
static void sleep_until_needed(unsigned seen) {
    bool running;
    stopped(true);
    pause_ms(1);
    ef_mutex_lock(&lock);
    while (deadlines == 0 && !needed && calls(&running) == seen) ef_mutex_wait(&lock, &wake);
    needed = false;
    stopped(false);
    ef_mutex_unlock(&lock);
}

static bool has_deadline(void) {
    ef_mutex_lock(&lock);
    bool any = deadlines > 0;
    ef_mutex_unlock(&lock);
    return any;
}

static void *tick(void *unused) {
    (void)unused;
    bool running;
    unsigned seen = calls(&running) - 1;
    for (int idle = 0;; idle++) {
        pause_ms(TICK_MS);
        unsigned n = calls(&running);
        if (running || has_deadline()) ef_interrupt_send();
        if (running || n != seen) idle = 0;
        seen = n;
        if (idle < IDLE_TICKS || has_deadline()) continue;
        sleep_until_needed(seen);
        idle = 0;
    }
    return NULL;
}

static void after_fork(void) { /* the child does not have the thread */
    ef_mutex_init(&lock, EF_RANK_PULSE, EF_MUTEX_PLAIN);
    pthread_cond_init(&wake, NULL);
    started = needed = false;
    forked = true;
    stopped(true);
}

static void start(void) { /* under the lock */
    pthread_t t;
    sigset_t all, before;
    if (EF_TSAN && forked) return; /* it cannot follow threads that begin in a forked child */
    if (!watched_forks) pthread_atfork(NULL, NULL, after_fork);
    watched_forks = true;
    sigfillset(&all); /* signals are for the user's threads */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    started = pthread_create(&t, NULL, tick, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (started) pthread_detach(t);
}

void ef_interrupt_wake(void) {
    ef_mutex_lock(&lock);
    stopped(false);
    needed = true;
    if (!started)
        start();
    else
        pthread_cond_signal(&wake);
    ef_mutex_unlock(&lock);
}

/* ---- cancelling ------------------------------------------------------------------------------ */

ef_status *ef_canceller_new(ef_canceller **out) {
    ef_canceller *c = ef_calloc(1, sizeof *c);
    if (c == NULL) return ef_no_memory(sizeof *c);
    *out = c;
    return NULL;
}

void ef_canceller_free(ef_canceller *c) {
    if (c == NULL) return;
    ef_canceller_reset(c);
    if (ef_context_here()->canceller == c) ef_context_here()->canceller = NULL;
    ef_free(c);
}

void ef_canceller_use(ef_canceller *c) { ef_context_here()->canceller = c; }

static void count(ef_canceller *c) { /* under the lock */
    if (!c->counted) atomic_fetch_add(&ef_interrupt_cancelled, 1);
    c->counted = true;
}

void ef_cancel(ef_canceller *c) {
    ef_mutex_lock(&lock);
    atomic_store(&c->cancelled, true);
    count(c);
    ef_mutex_unlock(&lock);
    ef_interrupt_send();
}

void ef_canceller_deadline(ef_canceller *c, double seconds) {
    double ns = seconds > 0 ? seconds * 1e9 : 0;
    ef_mutex_lock(&lock);
    atomic_store(&c->deadline, ef_now_ns() + (ns < 9e18 ? (uint64_t)ns : UINT64_C(1) << 62));
    count(c);
    deadlines += !c->timed;
    c->timed = true;
    ef_mutex_unlock(&lock);
    ef_interrupt_wake();
}

void ef_canceller_reset(ef_canceller *c) {
    ef_mutex_lock(&lock);
    atomic_store(&c->cancelled, false);
    atomic_store(&c->deadline, 0);
    if (c->counted) atomic_fetch_sub(&ef_interrupt_cancelled, 1);
    deadlines -= c->timed;
    c->counted = c->timed = false;
    ef_mutex_unlock(&lock);
}

ef_status *ef_interrupt_look(const ef_context *context) {
    const ef_interrupt_watch *w = atomic_load_explicit(&watch, memory_order_acquire);
    if (w != NULL) EF_TRY(w->ask());
    const ef_canceller *c = context->canceller;
    if (c == NULL) return NULL;
    if (atomic_load(&c->cancelled)) return ef_error(EF_CANCELLED, "the run was cancelled");
    uint64_t until = atomic_load(&c->deadline);
    if (until != 0 && ef_now_ns() >= until)
        return ef_error(EF_DEADLINE, "the run did not end before its deadline");
    return NULL;
}
