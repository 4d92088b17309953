/* The warning about retracing, as in TensorFlow: it is given when five of about the last ten calls
 * made a trace, and at most twice. Calls are counted by code object, so that a tf.function that is
 * created again in each iteration of a loop is noticed, too. */
#include "function.h"

enum { MOST_CALLS = 10, TOO_MANY = 5, MOST_WARNINGS = 2, MOST_CODES = 256, MOST_WRAPPERS = 64 };

struct history {
    int64_t calls;                 /* the sum of since[] */
    int64_t since[MOST_CALLS + 2]; /* the number of calls from each trace to the next */
    int n, warnings;
};

static PyObject *histories; /* dict: code object -> capsule; at MOST_CODES the oldest is removed */
static const char kind[] = "history";

static void history_end(PyObject *capsule) { PyMem_Free(PyCapsule_GetPointer(capsule, kind)); }

/* The code object by which calls are counted, a new reference: that of the function inside
 * decorators, since all functions that a decorator returns share one code object. */
static PyObject *counted_by(PyObject *python) {
    Py_INCREF(python);
    for (int depth = 0; depth < MOST_WRAPPERS; depth++) {
        PyObject *inner = PyObject_GetAttrString(python, "__wrapped__");
        if (inner == NULL) break;
        Py_SETREF(python, inner);
    }
    PyErr_Clear();
    PyObject *function = PyMethod_Check(python) ? PyMethod_GET_FUNCTION(python) : python;
    PyObject *code = PyFunction_Check(function) ? Py_NewRef(PyFunction_GET_CODE(function)) : NULL;
    Py_DECREF(python);
    return code;
}

static PyObject *new_history(PyObject *code) {
    struct history *h = PyMem_Calloc(1, sizeof *h);
    PyObject *capsule = h != NULL ? PyCapsule_New(h, kind, history_end) : PyErr_NoMemory();
    if (capsule == NULL) {
        PyMem_Free(h);
        return NULL;
    }
    if (histories == NULL) histories = PyDict_New();
    Py_ssize_t at = 0;
    PyObject *oldest;
    if (histories != NULL && PyDict_GET_SIZE(histories) >= MOST_CODES &&
        PyDict_Next(histories, &at, &oldest, NULL)) {
        Py_INCREF(oldest);
        if (PyDict_DelItem(histories, oldest) < 0) PyErr_Clear();
        Py_DECREF(oldest);
    }
    if (histories == NULL || PyDict_SetItem(histories, code, capsule) < 0) PyErr_Clear();
    return capsule;
}

static struct history *find_history(function_object *f) {
    if (f->history != NULL) return f->counts;
    PyObject *code = counted_by(f->python);
    if (code == NULL) return NULL;
    PyObject *found = histories != NULL ? PyDict_GetItemWithError(histories, code) : NULL;
    if (found != NULL)
        f->history = Py_NewRef(found);
    else if (!PyErr_Occurred())
        f->history = new_history(code);
    Py_DECREF(code);
    f->counts = f->history != NULL ? PyCapsule_GetPointer(f->history, kind) : NULL;
    return f->counts;
}

void call_found_its_trace(function_object *f) {
    struct history *h = f->counts;
    if (h->n == 0) h->since[h->n++] = 0;
    h->since[h->n - 1]++;
    h->calls++;
}

int call_was_traced(function_object *f) {
    struct history *h = find_history(f);
    if (h == NULL) {
        PyErr_Clear();
        return 0;
    }
    h->calls++;
    h->since[h->n++] = 1;
    while (h->calls - h->since[0] > MOST_CALLS) {
        h->calls -= h->since[0];
        memmove(h->since, h->since + 1, (size_t)--h->n * sizeof *h->since);
    }
    if (h->warnings >= MOST_WARNINGS || h->n < TOO_MANY) return 0;
    h->warnings++;
    PyObject *done =
        PyObject_CallFunction(hooks.retraces, "iLO", h->n, (long long)h->calls, f->python);
    if (done == NULL) return -1;
    Py_DECREF(done);
    return 0;
}
