/* Signals while the engine runs. Python notes a signal and calls its handler when it next runs
 * bytecode, which a long run of the engine delays. So the engine polls the function `ask` every
 * 20 ms, and it calls the handlers as Python requires: in the main thread, with the GIL. If
 * a handler raises (KeyboardInterrupt), the run is cancelled.
 *
 * A run that began with the GIL releases it at the first poll, at the latest 20 ms after it began,
 * so that other Python threads are not blocked. Taking the GIL at each later poll, only to find
 * that there was no signal, would have to wait for those threads. So while the main thread runs
 * without the GIL, a handler of ours is installed in front of each existing one and notes that a
 * signal arrived. */
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
static struct sigaction before[SIGNALS + 1]; /* the handlers that ours calls and restores */
static atomic_int noted;

static void note(int sig) {
    atomic_store_explicit(&noted, 1, memory_order_relaxed);
    ef_interrupt_send();
    before[sig].sa_handler(sig);
}

/* Whether ours may be installed in front of the current handler. Handlers of faults such as SIGSEGV
 * are left alone: they need the original context. */
static bool has_handler(int sig, struct sigaction *is) {
    if (sig == SIGKILL || sig == SIGSTOP || sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE ||
        sig == SIGILL || sig == SIGABRT || sig == SIGTRAP)
        return false;
    if (sigaction(sig, NULL, is) != 0 || (is->sa_flags & (SA_SIGINFO | (int)SA_RESETHAND)))
        return false;
    return is->sa_handler != SIG_DFL && is->sa_handler != SIG_IGN;
}

/* Installs our handlers; true if some was not installed yet, so that a signal may have arrived
 * unnoticed before. */
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

/* If the interrupted run still succeeded (it was an optional one, such as folding a constant), the
 * exception is raised by a pending call at the next bytecode. */
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

/* Another thread may be computing the value and need the GIL to finish: it is released immediately.
 */
int tensor_materialize(const ef_tensor *t, const void **data) {
    if (ef_tensor_ready(t)) return check(ef_tensor_data(t, data), NULL);
    engine_call v;
    engine_begin(&v, true);
    return check(engine_end(&v, ef_tensor_data(t, data)), NULL);
}

/* ---- polling --------------------------------------------------------------------------------- */

static bool is_main(void) { return syscall(SYS_gettid) == getpid(); }

/* Calls the Python handlers of signals that arrived; the GIL is held. */
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

/* An op with small inputs still holds the GIL; its results, such as those of a range, are large. */
static void takes_long(void) {
    engine_call *v = engine_now;
    if (v != NULL && v->away == NULL && v->error == NULL && !PyErr_Occurred() && !recording())
        v->away = away();
}

int interrupt_init(void) {
    static const ef_interrupt_watch watch = {ask, calls, stopped, takes_long};
    ef_interrupt_watch_set(&watch);
    return 0;
}
