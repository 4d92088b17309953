/* What is known of a tensor before anything runs: values that are constants, sizes, and shapes that
 * tensors spell. Asking here is not noticed by a trace, unlike reading x.shape. */
#include "core.h"

static PyObject *core_static_value(PyObject *module, PyObject *o) {
    (void)module;
    if (IS_EAGER(o)) return tensor_to_array((tensor_object *)o, ARRAY_OWN);
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
    ef_tensor v = {0};
    if (check(ef_tensor_known(&((tensor_object *)o)->t, &v), NULL) < 0) return NULL;
    if (v.dtype == 0) Py_RETURN_NONE;
    PyObject *t = tensor_wrap(&v);
    PyObject *a = t != NULL ? tensor_to_array((tensor_object *)t, ARRAY_LAST_USE) : NULL;
    Py_XDECREF(t);
    return a;
}

static PyObject *core_static_shape(PyObject *module, PyObject *o) {
    (void)module;
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
    ef_shape s = ef_tensor_shape(&((tensor_object *)o)->t);
    return dims_tuple(&s);
}

static PyObject *core_known_shape(PyObject *module, PyObject *o) { /* what a shape tensor spells */
    (void)module;
    ef_shape s;
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
    if (check(ef_tensor_known_shape(&((tensor_object *)o)->t, &s), NULL) < 0) return NULL;
    return dims_tuple(&s);
}

static PyObject *core_set_shape(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *o, *shape;
    ef_shape s;
    if (!PyArg_ParseTuple(args, "O!O", tensor_type, &o, &shape) || shape_from(shape, &s) < 0)
        return NULL;
    if (check(ef_tensor_set_shape(&((tensor_object *)o)->t, &s), NULL) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *core_needs_sizes(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    ef_trace_needs_sizes();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"static_value", core_static_value, METH_O, "The value of a tensor as far as known, or None."},
    {"static_shape", core_static_shape, METH_O, "Sizes, unnoticed by a trace."},
    {"known_shape", core_known_shape, METH_O, "The shape a 1-D tensor spells, as far as known."},
    {"set_shape", core_set_shape, METH_VARARGS, "Narrows what is known of a shape."},
    {"needs_sizes", core_needs_sizes, METH_NOARGS, "The trace being made depends on sizes."},
    {NULL, NULL, 0, NULL}};

int known_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
