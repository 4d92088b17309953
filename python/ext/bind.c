/* Binds arguments to parameters as Python would, so that f(x, 2) and f(x, n=2) have the same
 * signature. The usual call, with all arguments by position, skips this. */
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
            PyErr_Format(PyExc_TypeError,
                         "Binding inputs to tf.function failed due to `multiple values for "
                         "argument '%U'` of %R",
                         name, self->python);
            return -1;
        }
        b->item[p] = value;
        return 0;
    }
    if (!self->varkw && (self->kwonly == Py_None || !PyDict_Contains(self->kwonly, name))) {
        PyErr_Format(PyExc_TypeError,
                     "Binding inputs to tf.function failed due to `got an unexpected keyword "
                     "argument '%U'` of %R",
                     name, self->python);
        return -1;
    }
    if (b->kwargs == NULL && (b->kwargs = PyDict_New()) == NULL) return -1;
    return PyDict_SetItem(b->kwargs, name, value);
}

static int bind_rest(function_object *self, bound *b) { /* parameters that were not given */
    Py_ssize_t n = PyTuple_GET_SIZE(self->params);
    Py_ssize_t d = PyTuple_GET_SIZE(self->defaults);
    for (Py_ssize_t k = 0; k < n; k++) {
        if (b->item[k] != NULL) continue;
        if (k < n - d) {
            PyErr_Format(
                PyExc_TypeError,
                "Binding inputs to tf.function failed due to `missing a required argument: '%U'`; "
                "%R needs it",
                PyTuple_GET_ITEM(self->params, k), self->python);
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
            PyErr_Format(PyExc_TypeError,
                         "Binding inputs to tf.function failed due to `missing a required "
                         "argument: '%U'`; %R needs it",
                         name, self->python);
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
        PyErr_Format(PyExc_TypeError,
                     "Binding inputs to tf.function failed due to `too many positional arguments`: "
                     "%R takes %zd but %zd were given",
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

/* ---- input signatures ------------------------------------------------------------------------ */

static bool fits(const ef_tensor *t, ef_dtype dtype, const ef_shape *shape) {
    if ((ef_dtype)t->dtype != dtype) return false;
    if (shape->rank < 0) return true;
    ef_shape s = ef_tensor_shape(t);
    if (s.rank >= 0 && s.rank != shape->rank) return false;
    for (int d = 0; d < s.rank; d++)
        if (shape->dim[d] >= 0 && s.dim[d] >= 0 && s.dim[d] != shape->dim[d]) return false;
    return true;
}

/* Whether the arguments already are tensors of the dtypes and shapes of the input signature. */
static bool are_fit(const function_object *self, PyObject *const *items, Py_ssize_t n) {
    if (!self->flat_signature || n < self->first_spec + self->n_specs) return false;
    for (int k = 0; k < self->n_specs; k++) {
        PyObject *o = items[self->first_spec + k];
        if (!(IS_EAGER(o) || IS_SYMBOLIC(o)) ||
            !fits(&((tensor_object *)o)->t, self->spec_dtype[k], &self->spec_shape[k]))
            return false;
    }
    return true;
}

static PyObject *call_fitted(function_object *self, PyObject *const *items, Py_ssize_t n,
                             PyObject *kwargs) {
    if (self->signature == Py_None || are_fit(self, items, n))
        return function_call_bound(self, items, n, kwargs);
    PyObject *tuple = PyTuple_New(n), *ready = NULL, *result = NULL;
    for (Py_ssize_t k = 0; tuple != NULL && k < n; k++)
        PyTuple_SET_ITEM(tuple, k, Py_NewRef(items[k]));
    if (tuple != NULL)
        ready = PyObject_CallFunctionObjArgs(hooks.fit_signature, (PyObject *)self, tuple, NULL);
    if (ready != NULL && PyTuple_Check(ready))
        result =
            function_call_bound(self, &PyTuple_GET_ITEM(ready, 0), PyTuple_GET_SIZE(ready), kwargs);
    Py_XDECREF(tuple);
    Py_XDECREF(ready);
    return result;
}

/* ---- calls ----------------------------------------------------------------------------------- */

bool functions_eager;

PyObject *function_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *names) {
    function_object *self = (function_object *)callable;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    if (self->python == NULL)
        return PyErr_Format(PyExc_RuntimeError, "this tf.function was not initialized");
    if (functions_eager) return PyObject_Vectorcall(self->python, args, nargsf, names);
    if (names == NULL && self->kwonly == Py_None && n == PyTuple_GET_SIZE(self->params))
        return call_fitted(self, args, n, NULL);
    bound b;
    PyObject *result = NULL;
    if (args_bind(self, args, n, names, &b) == 0) result = call_fitted(self, b.item, b.n, b.kwargs);
    bound_end(&b);
    return result;
}
