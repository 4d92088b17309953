/* Traces and models that only Python's garbage collector can free. A model that goes out of use is
 * a cycle of objects, and so are classes that a library makes for each model. The collector counts
 * objects and knows nothing of the memory behind them: it looks at new objects after hundreds, and
 * at old ones after many thousands, until which a program that makes a model in each iteration
 * holds dozens of them with their traces, plans and variables. So it is called after some traces
 * were made, for new objects; and for all when traces take twice the memory that they took after it
 * last ran, but for no more than a fifth of the time, because it looks at every object of the
 * program. It does nothing if the program has disabled it. */
#include "function.h"
#include <time.h>

enum { LEAST_BYTES = 128 << 10, LEAST_NS = 1000000, PART = 5, TRACES = 4 };

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* gc.collect(0). An exception of a finalizer is not the caller's. */
static void collect_new(void) {
    PyObject *gc = PyImport_ImportModule("gc");
    PyObject *n = gc != NULL ? PyObject_CallMethod(gc, "collect", "i", 0) : NULL;
    if (n == NULL) PyErr_Clear();
    Py_XDECREF(n);
    Py_XDECREF(gc);
}

/* Returns whether it did. */
static bool collect_all(uint64_t began) {
    static int64_t enough = LEAST_BYTES;
    static uint64_t ended, took; /* of the last time */
    if (ef_trace_bytes() < enough || began - ended < PART * took) return false;
    PyGC_Collect();
    ended = now_ns();
    took = ended - began;
    int64_t bytes = ef_trace_bytes();
    enough = 2 * bytes > LEAST_BYTES ? 2 * bytes : LEAST_BYTES;
    return true;
}

void traces_collect(void) {
    static int made; /* traces since the last time */
    static uint64_t ended;
    if (++made < TRACES || ef_graph_current() != NULL || !PyGC_IsEnabled()) return;
    uint64_t now = now_ns();
    if (now - ended < LEAST_NS) return;
    if (!collect_all(now)) collect_new();
    made = 0;
    ended = now_ns();
}
