/* Attribute look-up by C strings. CPython's cache of type attributes is keyed by the address of the
 * name and keeps the name alive: a new string for each look-up would never hit that cache and would
 * fill it with copies. An interned name has one address. */
#include "core.h"

PyObject *name_attr(void) {
    static PyObject *name;
    if (name == NULL) name = PyUnicode_InternFromString("__name__");
    return name;
}

PyObject *dict_name(PyObject *dict) {
    PyObject *name = dict != NULL ? name_attr() : NULL;
    return name != NULL ? PyDict_GetItem(dict, name) : NULL;
}

PyObject *attr_get(PyObject *o, const char *name) {
    PyObject *n = PyUnicode_InternFromString(name);
    PyObject *value = n != NULL ? PyObject_GetAttr(o, n) : NULL;
    Py_XDECREF(n);
    return value;
}

bool attr_has(PyObject *o, const char *name) {
    PyObject *value = attr_get(o, name);
    if (value == NULL) PyErr_Clear();
    Py_XDECREF(value);
    return value != NULL;
}

PyObject *attr_call(PyObject *o, const char *name, PyObject *arg) {
    PyObject *n = PyUnicode_InternFromString(name), *args[2] = {o, arg};
    if (n == NULL) return NULL;
    PyObject *r = PyObject_VectorcallMethod(n, args, arg != NULL ? 2 : 1, NULL);
    Py_DECREF(n);
    return r;
}
