/* Raises a status of the engine as an exception of TensorFlow's classes. */
#include "core.h"

int recording(void) { return ef_graph_current() != NULL; }

/* While a graph is being built, a wrong shape or attribute is also a ValueError, as in TensorFlow.
 * So is a size that does not fit the trace of a function, since TensorFlow would trace again. */
static void raise_code(ef_code code, const char *message, const char *op, bool building) {
    PyObject *e = NULL;
    /* A message may quote bytes of a file or of a string tensor, which need not be UTF-8. */
    PyObject *text = PyUnicode_DecodeUTF8(message, (Py_ssize_t)strlen(message), "backslashreplace");
    if (text == NULL) return;
    if (building && code == EF_INVALID && hooks.graph_error != NULL)
        e = PyObject_CallFunction(hooks.graph_error, "Oz", text, op);
    else if (hooks.error != NULL)
        e = PyObject_CallFunction(hooks.error, "iOz", (int)code, text, op);
    else
        PyErr_SetObject(PyExc_RuntimeError, text);
    if (e != NULL) PyErr_SetObject((PyObject *)Py_TYPE(e), e);
    Py_XDECREF(e);
    Py_DECREF(text);
}

PyObject *raise_status(ef_status *s, const char *op) {
    if (s == NULL) return NULL;
    /* The exception of a Python function that the engine called says more than the status. */
    if (!PyErr_Occurred())
        raise_code(ef_status_code(s), ef_status_message(s), op,
                   recording() || ef_status_before_run(s));
    ef_status_free(s);
    return NULL;
}

int invalid(const char *op, PyObject *message) {
    const char *text = message != NULL ? PyUnicode_AsUTF8(message) : NULL;
    if (text != NULL) raise_code(EF_INVALID, text, op, recording());
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
