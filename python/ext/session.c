/* Sessions. run() takes what users write: a tensor, an op, or a list of them, and a dictionary of
 * feeds. Nested structures are taken apart by Python first. */
#include "core.h"

typedef struct session_object {
    PyObject_HEAD PyObject *weak, *graph;
    ef_session *s;
} session_object;
static PyTypeObject *session_type;

enum { MOST = 64 };

static PyObject *session_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    PyObject *graph;
    if (!PyArg_ParseTuple(args, "O!", graph_type, &graph)) return NULL;
    session_object *o = (session_object *)type->tp_alloc(type, 0);
    if (o == NULL) return NULL;
    if (check(ef_session_new(((graph_object *)graph)->g, &o->s), "Session") < 0) {
        Py_DECREF(o);
        return NULL;
    }
    o->graph = Py_NewRef(graph);
    return (PyObject *)o;
}

static void session_dealloc(PyObject *self) {
    session_object *o = (session_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    ef_session_free(o->s);
    Py_CLEAR(o->graph);
    type->tp_free(self);
    Py_DECREF(type);
}

/* run(fetches, targets, feeds, values, as_numpy) : lists of symbolic tensors, of node numbers, of
 * symbolic tensors, of any values -> list of results. Values are converted to the feed's dtype. */
static PyObject *session_run(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    if (n != 5) return PyErr_Format(PyExc_TypeError, "run takes five arguments");
    for (int k = 0; k < 4; k++)
        if (!PyList_Check(args[k])) return PyErr_Format(PyExc_TypeError, "run takes lists");
    session_object *o = (session_object *)self;
    if (o->s == NULL) return PyErr_Format(PyExc_RuntimeError, "Attempted to use a closed Session.");
    Py_ssize_t n_fetch = PyList_GET_SIZE(args[0]), n_target = PyList_GET_SIZE(args[1]),
               n_feed = PyList_GET_SIZE(args[2]);
    if (PyList_GET_SIZE(args[3]) != n_feed)
        return PyErr_Format(PyExc_ValueError, "%zd feeds but %zd values", n_feed,
                            PyList_GET_SIZE(args[3]));
    int as_numpy = PyObject_IsTrue(args[4]);
    size_t room = (size_t)(n_fetch > n_feed ? n_fetch : n_feed) + 1;
    ef_tensor few_feed[4], few_fetch[4], few_out[4], *feed = few_feed, *fetch = few_fetch,
                                                     *out = few_out;
    operand few_value[4], *value = few_value;
    const ef_tensor *few_pointer[4], **pointer = few_pointer;
    int few_node[8], *node = few_node;
    PyObject *result = NULL;
    int made = 0;
    if (room > 4 || n_target > 8) {
        feed = PyMem_Malloc(room * sizeof *feed);
        fetch = PyMem_Malloc(room * sizeof *fetch);
        out = PyMem_Malloc(room * sizeof *out);
        value = PyMem_Malloc(room * sizeof *value);
        pointer = PyMem_Malloc(room * sizeof *pointer);
        node = PyMem_Malloc(((size_t)n_target + 1) * sizeof *node);
        if (!feed || !fetch || !out || !value || !pointer || !node) {
            PyErr_NoMemory();
            goto done;
        }
    }
    memset(out, 0, (size_t)n_fetch * sizeof *out);
    for (Py_ssize_t k = 0; k < n_fetch; k++) { /* symbolic tensors may be copied as they are */
        PyObject *t = PyList_GET_ITEM(args[0], k);
        if (!IS_TENSOR(t)) {
            PyErr_Format(PyExc_TypeError, "Fetch argument %R is not a Tensor", t);
            goto done;
        }
        fetch[k] = ((tensor_object *)t)->t;
    }
    for (Py_ssize_t k = 0; k < n_target; k++)
        node[k] = (int)PyLong_AsLong(PyList_GET_ITEM(args[1], k));
    for (Py_ssize_t k = 0; k < n_feed; k++) {
        PyObject *t = PyList_GET_ITEM(args[2], k);
        if (!IS_TENSOR(t)) {
            PyErr_Format(PyExc_TypeError, "Cannot interpret feed_dict key as Tensor: %R", t);
            goto done;
        }
        feed[k] = ((tensor_object *)t)->t;
        if (operand_from(PyList_GET_ITEM(args[3], k), (ef_dtype)feed[k].dtype, MUST, &value[k]) < 0)
            goto done;
        pointer[made++] = value[k].t;
    }
    if (PyErr_Occurred()) goto done;
    ef_status *s = ef_session_run_nodes(o->s, feed, pointer, (int)n_feed, fetch, (int)n_fetch, node,
                                        (int)n_target, out);
    if (check(s, "Session.run") < 0) goto done;
    result = PyList_New(n_fetch);
    for (Py_ssize_t k = 0; k < n_fetch; k++) {
        PyObject *t = tensor_wrap(&out[k]), *r = t;
        if (t != NULL && as_numpy && out != NULL) {
            r = tensor_to_array((tensor_object *)t, 0);
            Py_DECREF(t);
        }
        if (r == NULL || result == NULL) {
            Py_XDECREF(r);
            Py_CLEAR(result);
        } else
            PyList_SET_ITEM(result, k, r);
    }
done:
    for (int k = 0; k < made; k++) operand_end(&value[k]);
    if (feed != few_feed) {
        PyMem_Free(feed);
        PyMem_Free(fetch);
        PyMem_Free(out);
        PyMem_Free(value);
        PyMem_Free(pointer);
        PyMem_Free(node);
    }
    return result;
}

static PyObject *session_close(PyObject *self, PyObject *unused) {
    (void)unused;
    session_object *o = (session_object *)self;
    ef_session_free(o->s);
    o->s = NULL;
    Py_RETURN_NONE;
}

static PyMethodDef session_methods[] = {
    {"run", (PyCFunction)(void (*)(void))session_run, METH_FASTCALL, NULL},
    {"close", session_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot session_slots[] = {{Py_tp_new, session_new},
                                      {Py_tp_dealloc, session_dealloc},
                                      {Py_tp_methods, session_methods},
                                      {0, NULL}};
static PyType_Spec session_spec = {"evenflow._core.Session", sizeof(session_object), 0,
                                   Py_TPFLAGS_DEFAULT, session_slots};

int session_init(PyObject *module) {
    session_type = add_type(module, &session_spec, NULL, "Session");
    return session_type != NULL ? 0 : -1;
}
