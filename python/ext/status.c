/* Statuses become exceptions of TensorFlow's classes. */
#include "core.h"

int recording(void) { return ef_graph_current() != NULL; }

/* While a graph is being built a wrong shape or attribute is a ValueError as well. */
static void raise_code(ef_code code, const char *message, const char *op) {
    PyObject *e = NULL;
    if (recording() && code == EF_INVALID && hooks.graph_error != NULL)
        e = PyObject_CallFunction(hooks.graph_error, "sz", message, op);
    else if (hooks.error != NULL)
        e = PyObject_CallFunction(hooks.error, "isz", (int)code, message, op);
    else
        PyErr_SetString(PyExc_RuntimeError, message);
    if (e != NULL) PyErr_SetObject((PyObject *)Py_TYPE(e), e);
    Py_XDECREF(e);
}

PyObject *raise_status(ef_status *s, const char *op) {
    if (s == NULL) return NULL;
    /* After a callback into Python failed, its own exception says more. */
    if (!PyErr_Occurred()) raise_code(ef_status_code(s), ef_status_message(s), op);
    ef_status_free(s);
    return NULL;
}

int invalid(const char *op, PyObject *message) {
    const char *text = message != NULL ? PyUnicode_AsUTF8(message) : NULL;
    if (text != NULL) raise_code(EF_INVALID, text, op);
    Py_XDECREF(message);
    return -1;
}

ef_status *raised_in_python(void) {
    return ef_status_make(EF_UNKNOWN, "a Python function raised an exception");
}

int check(ef_status *s, const char *op) {
    if (s == NULL) return 0;
    raise_status(s, op);
    return -1;
}

int say_type_error(void) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_OverflowError))
        return -1;
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_Format(PyExc_TypeError, "%S", error);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return -1;
}

int clear_error(void) {
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) return -1;
    PyErr_Clear();
    return 0;
}
