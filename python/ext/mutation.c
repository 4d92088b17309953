/* A traced function must not modify lists and dicts among its arguments, since later calls run the
 * trace and would not repeat the modification. So nested containers are copied before the user's
 * Python runs and compared afterwards; other objects in them are compared by identity. */
#include "function.h"

static bool is_container(PyObject *o) {
    return PyList_CheckExact(o) || PyTuple_CheckExact(o) || PyDict_CheckExact(o);
}

static PyObject *copy_sequence(PyObject *o) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    bool tuple = PyTuple_Check(o);
    PyObject *c = tuple ? PyTuple_New(n) : PyList_New(n);
    for (Py_ssize_t k = 0; c != NULL && k < n; k++) {
        PyObject *item = containers_copy(PySequence_Fast_GET_ITEM(o, k));
        if (item == NULL)
            Py_CLEAR(c);
        else if (tuple)
            PyTuple_SET_ITEM(c, k, item);
        else
            PyList_SET_ITEM(c, k, item);
    }
    return c;
}

static PyObject *copy_dict(PyObject *o) {
    PyObject *c = PyDict_New(), *name, *value;
    Py_ssize_t at = 0;
    while (c != NULL && PyDict_Next(o, &at, &name, &value)) {
        PyObject *item = containers_copy(value);
        if (item == NULL || PyDict_SetItem(c, name, item) < 0) Py_CLEAR(c);
        Py_XDECREF(item);
    }
    return c;
}

PyObject *containers_copy(PyObject *o) {
    if (!is_container(o)) return Py_NewRef(o);
    if (Py_EnterRecursiveCall(" in the arguments of a tf.function")) return NULL;
    PyObject *c = PyDict_Check(o) ? copy_dict(o) : copy_sequence(o);
    Py_LeaveRecursiveCall();
    return c;
}

/* Whether o still equals its copy `before`. Copying succeeded, so the nesting is finite. */
static bool is_same(PyObject *before, PyObject *o) {
    if (!is_container(before)) return before == o;
    if (Py_TYPE(before) != Py_TYPE(o)) return false;
    if (PyDict_Check(o)) {
        if (PyDict_GET_SIZE(before) != PyDict_GET_SIZE(o)) return false;
        Py_ssize_t at = 0;
        PyObject *name, *value;
        while (PyDict_Next(before, &at, &name, &value)) {
            PyObject *now = PyDict_GetItemWithError(o, name);
            if (now == NULL || !is_same(value, now)) return false;
        }
        return true;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(before);
    if (n != PySequence_Fast_GET_SIZE(o)) return false;
    for (Py_ssize_t k = 0; k < n; k++)
        if (!is_same(PySequence_Fast_GET_ITEM(before, k), PySequence_Fast_GET_ITEM(o, k)))
            return false;
    return true;
}

bool containers_in(PyObject *args, PyObject *kwargs) {
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); k++)
        if (is_container(PyTuple_GET_ITEM(args, k))) return true;
    return kwargs != NULL && PyDict_GET_SIZE(kwargs) > 0;
}

static int refuse(const function_object *f, PyObject *name) {
    PyObject *comma = PyUnicode_FromString(", ");
    PyObject *all = comma != NULL ? PyUnicode_Join(comma, f->params) : NULL;
    PyObject *own = dict_name(f->dict);
    if (all != NULL)
        PyErr_Format(PyExc_ValueError,
                     "%S(%U) should not modify its Python input arguments. Modifying a copy is "
                     "allowed. The following parameter(s) were modified: %S",
                     own != NULL ? own : Py_None, all, name);
    Py_XDECREF(all);
    Py_XDECREF(comma);
    return -1;
}

int arguments_unchanged(const function_object *f, PyObject *before, PyObject *args,
                        PyObject *kwargs) {
    PyObject *was = PyTuple_GET_ITEM(before, 0), *named = PyTuple_GET_ITEM(before, 1);
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); k++) {
        if (is_same(PyTuple_GET_ITEM(was, k), PyTuple_GET_ITEM(args, k))) continue;
        PyObject *name = k < PyTuple_GET_SIZE(f->params) ? PyTuple_GET_ITEM(f->params, k) : NULL;
        return refuse(f, name != NULL ? name : Py_None);
    }
    Py_ssize_t at = 0;
    PyObject *name, *value;
    while (kwargs != NULL && PyDict_Next(kwargs, &at, &name, &value)) {
        PyObject *old = PyDict_GetItemWithError(named, name);
        if (old == NULL || !is_same(old, value)) return refuse(f, name);
    }
    return PyErr_Occurred() ? -1 : 0;
}
