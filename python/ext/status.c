/* Statuses become exceptions of TensorFlow's classes. */
#include "core.h"

int recording(void) { return ef_graph_current() != NULL; }

PyObject *raise_status(ef_status *s, const char *op) {
    if (s == NULL) return NULL;
    ef_code code = ef_status_code(s);
    if (PyErr_Occurred()) { /* a callback into Python failed: its own exception says more */
        ef_status_free(s);
        return NULL;
    }
    /* While a graph is being built a wrong shape or attribute is a ValueError as well. */
    if (recording() && code == EF_INVALID && hooks.graph_error != NULL) {
        PyObject *e = PyObject_CallFunction(hooks.graph_error, "sz", ef_status_message(s), op);
        if (e != NULL) PyErr_SetObject((PyObject *)Py_TYPE(e), e);
        Py_XDECREF(e);
    } else if (hooks.error != NULL) {
        PyObject *e =
            PyObject_CallFunction(hooks.error, "isz", (int)code, ef_status_message(s), op);
        if (e != NULL) {
            PyErr_SetObject((PyObject *)Py_TYPE(e), e);
            Py_DECREF(e);
        }
    } else {
        PyErr_SetString(PyExc_RuntimeError, ef_status_message(s));
    }
    ef_status_free(s);
    return NULL;
}

int invalid(const char *op, PyObject *message) {
    if (message == NULL) return -1;
    if (recording() || hooks.error == NULL) {
        PyErr_SetObject(PyExc_ValueError, message);
    } else {
        PyObject *e = PyObject_CallFunction(hooks.error, "iOz", (int)EF_INVALID, message, op);
        if (e != NULL) PyErr_SetObject((PyObject *)Py_TYPE(e), e);
        Py_XDECREF(e);
    }
    Py_DECREF(message);
    return -1;
}

int check(ef_status *s, const char *op) {
    if (s == NULL) return 0;
    raise_status(s, op);
    return -1;
}
