/* Arguments find their parameters, as Python would bind them, so that f(x, 2) and f(x, n=2) are one
 * signature. The usual call, all by position, needs none of this. */
#include "function.h"

static int find_param(function_object *self, PyObject *name) {
    Py_ssize_t n = PyTuple_GET_SIZE(self->params);
    for (Py_ssize_t k = self->unnamed; k < n; k++)
        if (PyTuple_GET_ITEM(self->params, k) == name) return (int)k;
    for (Py_ssize_t k = self->unnamed; k < n; k++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(self->params, k), name) == 0) return (int)k;
    return -1;
}

static int bind_keyword(function_object *self, bound *b, PyObject *name, PyObject *value) {
    int p = find_param(self, name);
    if (p >= 0) {
        if (b->item[p] != NULL) {
            PyErr_Format(PyExc_TypeError, "%R got multiple values for argument '%U'", self->python,
                         name);
            return -1;
        }
        b->item[p] = value;
        return 0;
    }
    if (!self->varkw && (self->kwonly == Py_None || !PyDict_Contains(self->kwonly, name))) {
        PyErr_Format(PyExc_TypeError, "%R got an unexpected keyword argument '%U'", self->python,
                     name);
        return -1;
    }
    if (b->kwargs == NULL && (b->kwargs = PyDict_New()) == NULL) return -1;
    return PyDict_SetItem(b->kwargs, name, value);
}

static int bind_rest(function_object *self, bound *b) { /* defaults */
    Py_ssize_t n = PyTuple_GET_SIZE(self->params);
    Py_ssize_t d = PyTuple_GET_SIZE(self->defaults);
    for (Py_ssize_t k = 0; k < n; k++) {
        if (b->item[k] != NULL) continue;
        if (k < n - d) {
            PyErr_Format(PyExc_TypeError, "%R missing required argument '%U'", self->python,
                         PyTuple_GET_ITEM(self->params, k));
            return -1;
        }
        b->item[k] = PyTuple_GET_ITEM(self->defaults, k - (n - d));
    }
    if (b->n < n) b->n = n;
    Py_ssize_t at = 0;
    PyObject *name, *value;
    while (self->kwonly != Py_None && PyDict_Next(self->kwonly, &at, &name, &value)) {
        if (b->kwargs != NULL && PyDict_Contains(b->kwargs, name)) continue;
        if (value == Py_None) {
            PyErr_Format(PyExc_TypeError, "%R missing required keyword-only argument '%U'",
                         self->python, name);
            return -1;
        }
        if (b->kwargs == NULL && (b->kwargs = PyDict_New()) == NULL) return -1;
        if (PyDict_SetItem(b->kwargs, name, PyTuple_GET_ITEM(value, 0)) < 0) return -1;
    }
    return 0;
}

int args_bind(function_object *self, PyObject *const *args, Py_ssize_t n, PyObject *names,
              bound *b) {
    Py_ssize_t n_params = PyTuple_GET_SIZE(self->params), most = n > n_params ? n : n_params;
    b->kwargs = NULL;
    b->item = b->few;
    if (n > n_params && !self->varargs) {
        PyErr_Format(PyExc_TypeError, "%R takes %zd positional arguments but %zd were given",
                     self->python, n_params, n);
        return -1;
    }
    if (most > FEW_PARAMS && (b->item = PyMem_Malloc((size_t)most * sizeof *b->item)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memset(b->item, 0, (size_t)most * sizeof *b->item);
    for (Py_ssize_t k = 0; k < n; k++) b->item[k] = args[k];
    b->n = n;
    for (Py_ssize_t k = 0; names != NULL && k < PyTuple_GET_SIZE(names); k++)
        if (bind_keyword(self, b, PyTuple_GET_ITEM(names, k), args[n + k]) < 0) return -1;
    return bind_rest(self, b);
}

void bound_end(bound *b) {
    Py_XDECREF(b->kwargs);
    if (b->item != b->few) PyMem_Free(b->item);
}

bool functions_eager;

PyObject *function_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *names) {
    function_object *self = (function_object *)callable;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    if (self->python == NULL)
        return PyErr_Format(PyExc_RuntimeError, "a tf.function without a function");
    if (functions_eager) return PyObject_Vectorcall(self->python, args, nargsf, names);
    if (self->prepare == Py_None && names == NULL && self->kwonly == Py_None &&
        n == PyTuple_GET_SIZE(self->params))
        return function_call_bound(self, args, n, NULL);
    bound b;
    PyObject *result = NULL, *ready = NULL;
    if (args_bind(self, args, n, names, &b) == 0) {
        if (self->prepare == Py_None) {
            result = function_call_bound(self, b.item, b.n, b.kwargs);
        } else { /* as the input signature wants them: a tuple of positional arguments */
            PyObject *tuple = PyTuple_New(b.n);
            for (Py_ssize_t k = 0; tuple != NULL && k < b.n; k++)
                PyTuple_SET_ITEM(tuple, k, Py_NewRef(b.item[k]));
            if (tuple != NULL)
                ready = PyObject_CallFunctionObjArgs(self->prepare, callable, tuple,
                                                     b.kwargs != NULL ? b.kwargs : Py_None, NULL);
            Py_XDECREF(tuple);
            if (ready != NULL && PyTuple_Check(ready))
                result = function_call_bound(self, &PyTuple_GET_ITEM(ready, 0),
                                             PyTuple_GET_SIZE(ready), b.kwargs);
            Py_XDECREF(ready);
        }
    }
    bound_end(&b);
    return result;
}
