/* Python functions for ef_graph_describe and ef_dataset_describe: what the engine runs for a graph
 * or a dataset, as JSON text. */
#include "core.h"

/* describe(graph, tensors or None, runs) -> str */
static PyObject *core_describe(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *graph, *tensors;
    int runs, n = 0;
    if (!PyArg_ParseTuple(args, "O!Oi", graph_type, &graph, &tensors, &runs)) return NULL;
    const ef_tensor **in = NULL;
    if (tensors != Py_None && (in = tensor_pointers(tensors, false, &n)) == NULL) return NULL;
    char *text = NULL;
    int bad = check(ef_graph_describe(((graph_object *)graph)->g, in, n, runs, &text), "inspect");
    PyMem_Free(in);
    if (bad < 0) return NULL;
    PyObject *o = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    ef_text_release(text);
    return o;
}

/* describe_dataset(variant) -> str */
static PyObject *core_describe_dataset(PyObject *module, PyObject *variant) {
    (void)module;
    char *text = NULL;
    if (!IS_EAGER(variant)) {
        PyErr_SetString(PyExc_TypeError,
                        "a dataset that is part of a graph has no value to describe");
        return NULL;
    }
    if (check(ef_dataset_describe(&((tensor_object *)variant)->t, &text), "inspect") < 0)
        return NULL;
    PyObject *o = PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
    ef_text_release(text);
    return o;
}

static PyMethodDef describe_methods[] = {{"describe", core_describe, METH_VARARGS, NULL},
                                         {"describe_dataset", core_describe_dataset, METH_O, NULL},
                                         {NULL, NULL, 0, NULL}};

int describe_init(PyObject *module) { return PyModule_AddFunctions(module, describe_methods); }
