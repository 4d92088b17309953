/* Settings and statistics for Python: memory, caches, threads, random numbers. */
#include "core.h"
#include "profile.h"
#include <stdatomic.h>
#include <time.h>

static atomic_int absent; /* threads in the engine without the GIL */
bool refused;
const char refusal[] =
    "this process was forked while another thread was computing, so Evenflow cannot work in it; "
    "start processes by multiprocessing's 'spawn' method, or fork before computing in threads";

PyThreadState *away(void) {
    profile_leaves();
    atomic_fetch_add_explicit(&absent, 1, memory_order_relaxed);
    return PyEval_SaveThread();
}

void back(PyThreadState *state) {
    PyEval_RestoreThread(state);
    atomic_fetch_sub_explicit(&absent, 1, memory_order_relaxed);
}

/* The engine calls these around waiting and long computations, in threads with and without the GIL.
 */
static void *blocking_begins(void) { return PyGILState_Check() ? away() : NULL; }
static void blocking_ends(void *state) { back(state); }
void blocking_init(void) { ef_blocking_hooks(blocking_begins, blocking_ends); }

int64_t nanoseconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static PyObject *core_forked(PyObject *module, PyObject *unused) { /* in the child */
    (void)module;
    (void)unused;
    refused = atomic_load(&absent) > 0;
    ef_threads_set(1); /* the child has no worker threads: fork copies only the calling thread */
    Py_RETURN_NONE;
}

static PyObject *core_memory(PyObject *module, PyObject *args) {
    (void)module;
    const char *device = "CPU:0";
    ef_memory_usage u;
    if (!PyArg_ParseTuple(args, "|s", &device)) return NULL;
    if (check(ef_memory_usage_get(device, &u), NULL) < 0) return NULL;
    return Py_BuildValue("{s:L,s:L,s:L,s:L}", "current", u.current, "peak", u.peak, "cached",
                         u.cached, "limit", u.limit);
}
/* ({name: (bytes, entries, made, evicted)}, the limit of all caches together) */
static PyObject *core_caches(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    ef_cache_info info[32];
    int n = ef_cache_info_get(info, 32);
    PyObject *all = PyDict_New();
    for (int k = 0; k < n && k < 32 && all != NULL; k++) {
        PyObject *one =
            Py_BuildValue("(LLKK)", info[k].bytes, info[k].entries, info[k].made, info[k].evicted);
        if (one == NULL || PyDict_SetItemString(all, info[k].name, one) < 0) Py_CLEAR(all);
        Py_XDECREF(one);
    }
    return all != NULL ? Py_BuildValue("(NL)", all, ef_cache_limit_get()) : NULL;
}
static PyObject *core_cache_limit(PyObject *module, PyObject *args) {
    (void)module;
    long long bytes;
    if (!PyArg_ParseTuple(args, "L", &bytes)) return NULL;
    ef_cache_limit_set(bytes);
    Py_RETURN_NONE;
}
static PyObject *core_memory_report(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    char *text;
    if (check(ef_memory_report(&text), NULL) < 0) return NULL;
    PyObject *out = PyUnicode_FromString(text);
    ef_text_release(text);
    return out;
}
static PyObject *core_memory_limit(PyObject *module, PyObject *args) {
    (void)module;
    const char *device;
    long long bytes;
    if (!PyArg_ParseTuple(args, "sL", &device, &bytes)) return NULL;
    if (check(ef_memory_limit_set(device, bytes), NULL) < 0) return NULL;
    Py_RETURN_NONE;
}
static PyObject *core_peak_reset(PyObject *module, PyObject *args) {
    (void)module;
    const char *device = "CPU:0";
    if (!PyArg_ParseTuple(args, "|s", &device)) return NULL;
    ef_memory_peak_reset(device);
    Py_RETURN_NONE;
}
static PyObject *core_threads(PyObject *module, PyObject *args) {
    (void)module;
    int n = -1;
    if (!PyArg_ParseTuple(args, "|i", &n)) return NULL;
    if (n >= 0) ef_threads_set(n);
    return PyLong_FromLong(ef_threads_get());
}
static PyObject *core_sync(PyObject *module, PyObject *on) {
    (void)module;
    ef_sync_set(PyObject_IsTrue(on) == 1);
    Py_RETURN_NONE;
}
static PyObject *core_clear(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    ef_programs_clear();
    Py_RETURN_NONE;
}
static PyObject *core_wait(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    engine_call v;
    engine_begin(&v, true);
    if (check(engine_end(&v, ef_wait()), NULL) < 0) return NULL;
    Py_RETURN_NONE;
}
static PyObject *core_fail_allocation(PyObject *module, PyObject *k) {
    (void)module;
    unsigned long long n = PyLong_AsUnsignedLongLong(k);
    if (PyErr_Occurred()) return NULL;
    return PyBool_FromLong(ef_allocation_fail(n));
}

static PyObject *core_allocations(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyLong_FromUnsignedLongLong(ef_allocations());
}

static PyObject *core_random_reset(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    ef_random_reset();
    Py_RETURN_NONE;
}

/* random_scope() -> a new scope; random_scope(scope): enters it -> the previous scope */
static PyObject *core_random_scope(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    (void)module;
    if (n == 0) return PyLong_FromUnsignedLongLong(ef_random_scope_new());
    unsigned long long scope = PyLong_AsUnsignedLongLong(args[0]);
    if (PyErr_Occurred()) return NULL;
    return PyLong_FromUnsignedLongLong(ef_random_scope_enter(scope));
}

static PyMethodDef functions[] = {
    {"random_scope", (PyCFunction)(void (*)(void))core_random_scope, METH_FASTCALL,
     "Creates or enters a scope, which holds the sequences of the random ops of functions."},
    {"forked", core_forked, METH_NOARGS, "To be called in a child process after a fork."},
    {"memory", core_memory, METH_VARARGS, "Bytes in use on a device."},
    {"caches", core_caches, METH_NOARGS,
     "Bytes and entries of each cache, and the limit of all together."},
    {"cache_limit", core_cache_limit, METH_VARARGS,
     "Sets the limit of all caches together, in bytes; 0: the default."},
    {"memory_report", core_memory_report, METH_NOARGS,
     "All memory that the engine holds, as text."},
    {"memory_limit", core_memory_limit, METH_VARARGS,
     "Sets how many bytes a device may use; 0: no limit."},
    {"memory_peak_reset", core_peak_reset, METH_VARARGS, "Sets the peak to the bytes in use now."},
    {"threads", core_threads, METH_VARARGS,
     "The number of threads inside an op; sets it if a number is given."},
    {"sync", core_sync, METH_O, "Whether every op runs immediately and none is deferred."},
    {"clear_programs", core_clear, METH_NOARGS, "Frees compiled programs that are not in use."},
    {"random_reset", core_random_reset, METH_NOARGS,
     "Restarts the sequences of seeded random ops."},
    {"wait", core_wait, METH_NOARGS, "Runs the ops that this thread has deferred."},
    {"fail_allocation", core_fail_allocation, METH_O,
     "For tests: the k-th allocation of this thread from now on fails once; 0 turns that off. "
     "Returns whether the failure that was requested before has happened."},
    {"allocations", core_allocations, METH_NOARGS, "System allocations of this thread so far."},
    {NULL, NULL, 0, NULL}};

int settings_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
