/* Python called by the engine: a user's own gradients, and ops that are Python functions. The
 * engine calls with or without the interpreter's lock. */
#include "core.h"

/* ---- custom gradients ------------------------------------------------------------------------ */

/* A gradient: None, a tensor, or a tuple of values, indices and dense shape. */
static int take_gradient(PyObject *o, ef_tensor *out) {
    Py_ssize_t n = PyTuple_Check(o) ? PyTuple_GET_SIZE(o) : 1;
    memset(out, 0, 3 * sizeof *out);
    if (o == Py_None) return 0;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *part = PyTuple_Check(o) ? PyTuple_GET_ITEM(o, k) : o;
        if (!IS_TENSOR(part) || (n != 1 && n != 3)) {
            PyErr_Format(PyExc_TypeError, "%R is no gradient", o);
            return -1;
        }
        ef_tensor_copy(&out[k], &((tensor_object *)part)->t);
    }
    return 0;
}

static ef_status *run_custom(void *user, const ef_tensor *dout, int n_out, ef_tensor *din,
                             int n_in) {
    callback_state state = callback_begin();
    PyObject *list = tensor_list_copy(dout, n_out), *r = NULL;
    if (list != NULL) r = PyObject_CallOneArg(user, list);
    Py_XDECREF(list);
    int bad = r == NULL || !PyList_Check(r) || PyList_GET_SIZE(r) != n_in ? -1 : 0;
    if (bad != 0 && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError,
                     "custom gradient gave a wrong number of gradients; %d are needed", n_in);
    for (int k = 0; k < n_in && bad == 0; k++)
        bad = take_gradient(PyList_GET_ITEM(r, k), &din[3 * k]);
    Py_XDECREF(r);
    ef_status *s = bad != 0 ? raised_in_python() : NULL;
    callback_end(state);
    return s;
}

static void drop(void *user) {
    callback_state state = callback_begin();
    Py_DECREF((PyObject *)user);
    callback_end(state);
}

/* custom_gradient(inputs, outputs, fn): outputs that carry fn as their gradient. fn takes a list of
 * gradients (None where none arrives) and gives a list, one per input: None, a tensor, or values,
 * indices and dense shape of a sparse one. */
static PyObject *core_custom_gradient(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *ins, *outs, *fn, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!O!O", &PyList_Type, &ins, &PyList_Type, &outs, &fn)) return NULL;
    int n_in = 0, n_out = (int)PyList_GET_SIZE(outs);
    const ef_tensor **in = tensor_pointers(ins, false, &n_in);
    ef_tensor *out = PyMem_Calloc((size_t)n_out + 1, sizeof *out);
    if (in != NULL && out == NULL) PyErr_NoMemory();
    if (in == NULL || out == NULL) goto done;
    for (int k = 0; k < n_out; k++)
        ef_tensor_copy(&out[k], &((tensor_object *)PyList_GET_ITEM(outs, k))->t);
    ef_status *s = ef_custom_gradient_attach(in, n_in, out, n_out, run_custom, Py_NewRef(fn), drop);
    if (check(s, "custom_gradient") == 0)
        result = tensor_list(out, n_out);
    else
        for (int k = 0; k < n_out; k++) ef_tensor_release(&out[k]);
done:
    PyMem_Free(in);
    PyMem_Free(out);
    return result;
}

/* ---- calling back: py_function --------------------------------------------------------------- */

static ef_status *run_callback(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                               int n_out) {
    callback_state state = callback_begin();
    PyObject *list = tensor_list_copy(in, n_in), *r = NULL;
    if (list != NULL) r = PyObject_CallOneArg(user, list);
    Py_XDECREF(list);
    int bad = r == NULL || !PyList_Check(r) || PyList_GET_SIZE(r) != n_out ? -1 : 0;
    if (bad != 0 && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError,
                     "a Python function gave a wrong number of results; %d are needed", n_out);
    for (int k = 0; k < n_out && bad == 0; k++) {
        memset(&out[k], 0, sizeof out[k]);
        ef_tensor_copy(&out[k], &((tensor_object *)PyList_GET_ITEM(r, k))->t);
    }
    Py_XDECREF(r);
    ef_status *s = bad != 0 ? raised_in_python() : NULL;
    callback_end(state);
    return s;
}

/* callback(fn, inputs, dtypes, shapes, stateful) -> list of tensors; fn maps a list to a list */
static PyObject *core_callback(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *fn, *ins, *dtypes, *shapes, *result = NULL;
    int stateful, n_in = 0;
    if (!PyArg_ParseTuple(args, "OO!O!O!p", &fn, &PyList_Type, &ins, &PyList_Type, &dtypes,
                          &PyList_Type, &shapes, &stateful))
        return NULL;
    int n = (int)PyList_GET_SIZE(dtypes);
    graph_grows();
    const ef_tensor **in = tensor_pointers(ins, false, &n_in);
    ef_tensor *out = PyMem_Calloc((size_t)n + 1, sizeof *out);
    ef_dtype *t = PyMem_Calloc((size_t)n + 1, sizeof *t);
    ef_shape *s = PyMem_Calloc((size_t)n + 1, sizeof *s);
    int bad = in == NULL || out == NULL || t == NULL || s == NULL ? -1 : 0;
    if (bad != 0 && !PyErr_Occurred()) PyErr_NoMemory();
    for (int k = 0; k < n && bad == 0; k++) {
        t[k] = dtype_of(PyList_GET_ITEM(dtypes, k));
        bad = t[k] == EF_NO_DTYPE ? -1 : shape_from(PyList_GET_ITEM(shapes, k), &s[k]);
    }
    if (bad == 0 &&
        check(ef_callback_call(run_callback, Py_NewRef(fn), drop, in, n_in, t, s, stateful, out, n),
              "EagerPyFunc") == 0)
        result = tensor_list(out, n);
    PyMem_Free(in);
    PyMem_Free(out);
    PyMem_Free(t);
    PyMem_Free(s);
    return result;
}

static PyMethodDef functions[] = {
    {"custom_gradient", core_custom_gradient, METH_VARARGS,
     "Outputs with a gradient of their own."},
    {"callback", core_callback, METH_VARARGS, "Calls Python as an op."},
    {NULL, NULL, 0, NULL}};

int callback_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
