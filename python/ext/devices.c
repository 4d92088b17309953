/* Devices for Python: which exist, which one tf.device requests, and where a tensor is. */
#include "core.h"

enum { MANY = 16 };

static PyObject *core_device_names(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    const char *names[MANY];
    int n = ef_device_names(names, MANY);
    PyObject *list = PyList_New(0);
    for (int k = 0; list != NULL && k < n && k < MANY; k++) {
        PyObject *name = PyUnicode_FromString(names[k]);
        if (name == NULL || PyList_Append(list, name) < 0) Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

/* device_number("/device:TEST:0") -> 1; -1: there is none */
static PyObject *core_device_number(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    return text != NULL ? PyLong_FromLong(ef_device_number(text)) : NULL;
}

/* device_want(number + 1, or 0 for none) -> the previous request, in the same form */
static PyObject *core_device_want(PyObject *module, PyObject *wanted) {
    (void)module;
    long number = PyLong_AsLong(wanted);
    if (number == -1 && PyErr_Occurred()) return NULL;
    return PyLong_FromLong(ef_device_want((int)number));
}

static PyObject *core_device_of(PyObject *module, PyObject *o) {
    (void)module;
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "device_of takes a tensor");
    const char *name = ef_tensor_device(&((tensor_object *)o)->t);
    return PyUnicode_FromString(name != NULL ? name : "");
}

/* Copies an eager tensor that was made from Python values to the device that tf.device requests. */
static PyObject *core_device_place(PyObject *module, PyObject *o) {
    (void)module;
    int wanted = ef_device_wanted();
    if (wanted <= 1 || !IS_EAGER(o)) return Py_NewRef(o);
    const char *names[MANY];
    int n = ef_device_names(names, MANY);
    tensor_object *there = wanted <= n && wanted <= MANY ? tensor_make() : NULL;
    if (there == NULL) return PyErr_Occurred() ? NULL : Py_NewRef(o);
    if (check(ef_tensor_copy_to(&((tensor_object *)o)->t, names[wanted - 1], &there->t), NULL) <
        0) {
        Py_DECREF(there);
        return NULL;
    }
    return tensor_finish(there);
}

static PyObject *core_device_copies(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    uint64_t to, from;
    ef_device_copy_counts(&to, &from);
    return Py_BuildValue("(KK)", to, from);
}

static PyObject *core_test_device(PyObject *module, PyObject *there) {
    (void)module;
    int on = PyObject_IsTrue(there);
    if (on < 0 || check(ef_test_device_set(on), NULL) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"device_names", core_device_names, METH_NOARGS, "The names of all devices, as ['CPU:0']."},
    {"device_number", core_device_number, METH_O, "The number of a device; -1: there is none."},
    {"device_want", core_device_want, METH_O,
     "Requests a device for ops by its number plus 1; 0: none. Returns the previous request."},
    {"device_of", core_device_of, METH_O, "The device of a tensor."},
    {"device_place", core_device_place, METH_O, "The tensor on the device that is requested."},
    {"device_copies", core_device_copies, METH_NOARGS,
     "Copies made so far: to devices, and to the host."},
    {"test_device", core_test_device, METH_O, "For tests: adds or removes the device TEST:0."},
    {NULL, NULL, 0, NULL}};

int devices_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
