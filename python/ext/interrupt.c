/* Signals while the engine runs. Python notes a signal and calls its handler when bytecode runs
 * next; a loop of the engine's would keep it from that. So the engine asks here now and then, and
 * the handlers are called as Python's rules say: by the main thread, holding the interpreter's
 * lock. What a handler raises (KeyboardInterrupt) ends the run.
 *
 * A run that began with the lock held lets it go at the first question, 20 ms after it began at the
 * latest, so that other threads do not stand still. To take it back each time only to hear that
 * there was no signal would wait for those threads; so while the main thread runs without the lock,
 * our own handlers stand before the ones that are installed and note that something came. */
#include "core.h"
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <unistd.h>

_Thread_local engine_call *engine_now;
atomic_uint engine_begun, engine_ended;
atomic_bool engine_pulse_stopped;

/* ---- noting signals -------------------------------------------------------------------------- */

enum { SIGNALS = 64 };
static struct sigaction before[SIGNALS + 1]; /* what stood there when ours was put before it */
static atomic_int noted;

static void note(int sig) {
    atomic_store_explicit(&noted, 1, memory_order_relaxed);
    ef_pulse_send();
    before[sig].sa_handler(sig);
}

/* Whether there is a plain handler to go before. Those for faults must see where they happened. */
static bool has_handler(int sig, struct sigaction *is) {
    if (sig == SIGKILL || sig == SIGSTOP || sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE ||
        sig == SIGILL || sig == SIGABRT || sig == SIGTRAP)
        return false;
    if (sigaction(sig, NULL, is) != 0 || (is->sa_flags & (SA_SIGINFO | (int)SA_RESETHAND)))
        return false;
    return is->sa_handler != SIG_DFL && is->sa_handler != SIG_IGN;
}

/* True if a handler was not ours yet: signals that came before this were not noted. */
static bool notes_begin(void) {
    bool any = false;
    for (int sig = 1; sig <= SIGNALS; sig++) {
        struct sigaction is;
        if (!has_handler(sig, &is) || is.sa_handler == note) continue;
        before[sig] = is;
        is.sa_handler = note;
        sigaction(sig, &is, NULL);
        any = true;
    }
    return any;
}

static void notes_end(void) {
    for (int sig = 1; sig <= SIGNALS; sig++) {
        struct sigaction is;
        if (has_handler(sig, &is) && is.sa_handler == note) sigaction(sig, &before[sig], NULL);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

void engine_leave(engine_call *v) { v->away = away(); }

/* The engine made up for the failure of what was interrupted (a value that could not be folded):
 * the exception is raised by the next bytecode. */
static int raise_later(void *error) {
    PyErr_SetObject((PyObject *)Py_TYPE((PyObject *)error), error);
    Py_DECREF((PyObject *)error);
    return -1;
}

static void engine_raise(engine_call *v, const ef_status *s) {
    if (s != NULL && !PyErr_Occurred())
        PyErr_SetObject((PyObject *)Py_TYPE(v->error), v->error);
    else if (s == NULL && Py_AddPendingCall(raise_later, Py_NewRef(v->error)) < 0)
        Py_DECREF(v->error);
    Py_CLEAR(v->error);
}

ef_status *engine_return(engine_call *v, ef_status *s) {
    if (v->notes) notes_end();
    if (v->away != NULL) back(v->away);
    if (v->error != NULL) engine_raise(v, s);
    return s;
}

callback_state callback_begin(void) {
    callback_state state = {PyGILState_Ensure(), engine_now};
    engine_now = NULL;
    return state;
}

void callback_end(callback_state state) {
    engine_now = state.outer;
    PyGILState_Release(state.gil);
}

/* Another thread may be computing the value, and want the lock meanwhile: it is let go at once. */
int tensor_settle(const ef_tensor *t, const void **data) {
    if (ef_tensor_ready(t)) return check(ef_tensor_data(t, data), NULL);
    engine_call v;
    engine_begin(&v, true);
    return check(engine_end(&v, ef_tensor_data(t, data)), NULL);
}

/* ---- questions ------------------------------------------------------------------------------- */

static bool is_main(void) { return syscall(SYS_gettid) == getpid(); }

/* Calls the handlers of signals that came; the lock is held. */
static ef_status *handle(engine_call *v) {
    if (PyErr_Occurred() || PyErr_CheckSignals() == 0) return NULL;
    if (v != NULL) {
        PyObject *type, *trace;
        PyErr_Fetch(&type, &v->error, &trace);
        PyErr_NormalizeException(&type, &v->error, &trace);
        if (trace != NULL) PyException_SetTraceback(v->error, trace);
        Py_XDECREF(type);
        Py_XDECREF(trace);
    }
    return ef_status_make(EF_CANCELLED, "interrupted by a signal");
}

static ef_status *ask(void) {
    engine_call *v = engine_now;
    ef_status *s = NULL;
    if (v == NULL || v->error != NULL) return NULL;
    if (v->away == NULL) {
        s = handle(v);
        if (s == NULL && !recording()) v->away = away();
    } else if (is_main()) {
        bool fresh = notes_begin();
        v->notes = true;
        if (!atomic_exchange_explicit(&noted, 0, memory_order_relaxed) && !fresh) return NULL;
        PyEval_RestoreThread(v->away);
        s = handle(v);
        v->away = PyEval_SaveThread();
    }
    return s;
}

static unsigned calls(bool *running) {
    unsigned n = atomic_load(&engine_begun);
    *running = n != atomic_load(&engine_ended);
    return n;
}
static void stopped(bool yes) { atomic_store(&engine_pulse_stopped, yes); }

int interrupt_init(void) {
    static const ef_pulse_watch watch = {ask, calls, stopped};
    ef_pulse_watch_set(&watch);
    return 0;
}
