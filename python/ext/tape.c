/* Gradients of tapes and of graphs: the class Tape, and graph_gradients for tf.gradients. */
#include "tape.h"

PyTypeObject *tape_type;
#define TAPE(self) (((tape_object *)(self))->t)

/* Results of a gradient: None, a tensor, or (values, indices, dense_shape). */
PyObject *gradient_list(ef_tensor *out, const bool *slices, int n) {
    PyObject *list = PyList_New(n);
    for (int k = 0; k < n; k++) {
        ef_tensor *g = &out[3 * k];
        PyObject *o = NULL;
        if (list != NULL && slices[k]) {
            PyObject *v = tensor_wrap(&g[0]), *i = tensor_wrap(&g[1]), *s = tensor_wrap(&g[2]);
            o = v != NULL && i != NULL && s != NULL ? PyTuple_Pack(3, v, i, s) : NULL;
            Py_XDECREF(v);
            Py_XDECREF(i);
            Py_XDECREF(s);
        } else if (list != NULL) {
            o = g->dtype == 0 ? Py_NewRef(Py_None) : tensor_wrap(g);
        }
        for (int j = 0; j < 3; j++)
            if (g[j].dtype != 0) ef_tensor_release(&g[j]);
        if (o == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, k, o);
    }
    return list;
}

PyObject *tape_make(PyTypeObject *type, bool persistent, bool watch, bool quiet) {
    tape_object *o = (tape_object *)type->tp_alloc(type, 0);
    if (o == NULL) return NULL;
    graph_grows(); /* now, since nodes that a tape watches cannot be freed while it exists */
    if (check(ef_tape_start(persistent, &o->t), "GradientTape") < 0) {
        Py_DECREF(o);
        return NULL;
    }
    if (!watch) ef_tape_set_auto_watch(o->t, false);
    ef_tape_set_again(o->t, false);
    ef_tape_set_quiet(o->t, quiet);
    return (PyObject *)o;
}

static PyObject *tape_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    int persistent, watch, quiet = 0;
    if (!PyArg_ParseTuple(args, "pp|p", &persistent, &watch, &quiet)) return NULL;
    return tape_make(type, persistent, watch, quiet);
}

static void tape_dealloc(PyObject *self) {
    PyTypeObject *type = Py_TYPE(self);
    ef_tape_free(TAPE(self));
    type->tp_free(self);
    Py_DECREF(type);
}

#define VERB(NAME, FN)                                        \
    static PyObject *NAME(PyObject *self, PyObject *unused) { \
        (void)unused;                                         \
        FN(TAPE(self));                                       \
        Py_RETURN_NONE;                                       \
    }
VERB(tape_stop, ef_tape_stop)
VERB(tape_pause, ef_tape_pause)
VERB(tape_resume, ef_tape_resume)
VERB(tape_reset, ef_tape_reset)

static PyObject *tape_watch(PyObject *self, PyObject *o) {
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
    if (check(ef_tape_watch(TAPE(self), &((tensor_object *)o)->t), "watch") < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *tape_watched(PyObject *self, PyObject *unused) {
    (void)unused;
    int n = ef_tape_watched(TAPE(self), NULL, 0);
    ef_tensor *t = PyMem_Calloc((size_t)n + 1, sizeof *t);
    if (t == NULL) return PyErr_NoMemory();
    n = ef_tape_watched(TAPE(self), t, n);
    PyObject *list = tensor_list(t, n);
    PyMem_Free(t);
    return list;
}

int tape_ask(ef_tape *tape, const ef_tensor *const *target, int n_targets,
             const ef_tensor *const *dout, const ef_tensor *const *source, int n, ef_tensor *out,
             bool *slices) {
    graph_grows();
    engine_call v;
    engine_begin(&v, true);
    ef_status *bad =
        engine_end(&v, ef_tape_gradients(tape, target, n_targets, dout, source, n, out, slices));
    if (bad != NULL && ef_status_code(bad) == EF_NOT_FOUND && !PyErr_Occurred()) {
        PyErr_SetString(PyExc_LookupError, ef_status_message(bad)); /* an op without a gradient */
        ef_status_free(bad);
        return -1;
    }
    return check(bad, "gradient");
}

/* gradients(targets, output_gradients or None, sources): lists of tensors and variables' handles */
static PyObject *tape_gradients(PyObject *self, PyObject *args) {
    PyObject *targets, *dys, *sources, *result = NULL;
    if (!PyArg_ParseTuple(args, "O!OO!", &PyList_Type, &targets, &dys, &PyList_Type, &sources))
        return NULL;
    int n_t = 0, n_d = 0, n_s = 0;
    const ef_tensor **t = tensor_pointers(targets, false, &n_t), **d = NULL,
                    **s = tensor_pointers(sources, false, &n_s);
    if (dys != Py_None && t != NULL && s != NULL) d = tensor_pointers(dys, true, &n_d);
    ef_tensor *out = PyMem_Calloc(3 * (size_t)n_s + 1, sizeof *out);
    bool *slices = PyMem_Calloc((size_t)n_s + 1, sizeof *slices);
    if (out == NULL || slices == NULL) {
        PyErr_NoMemory();
    } else if (t != NULL && s != NULL && !PyErr_Occurred()) {
        if (tape_ask(TAPE(self), t, n_t, d, s, n_s, out, slices) == 0)
            result = gradient_list(out, slices, n_s);
    }
    PyMem_Free(t);
    PyMem_Free(d);
    PyMem_Free(s);
    PyMem_Free(out);
    PyMem_Free(slices);
    return result;
}

/* graph_gradients(ys, dys or None, xs, stop) -> a list: None, Tensor or (values, indices, shape) */
static PyObject *core_graph_gradients(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *list[4], *result = NULL;
    if (!PyArg_ParseTuple(args, "OOOO", &list[0], &list[1], &list[2], &list[3])) return NULL;
    const ef_tensor **p[4] = {NULL};
    int n[4] = {0};
    graph_grows();
    for (int j = 0; j < 4; j++)
        if (list[j] != Py_None && (p[j] = tensor_pointers(list[j], true, &n[j])) == NULL) goto done;
    ef_tensor *out = PyMem_Calloc(3 * (size_t)n[2] + 1, sizeof *out);
    bool *slices = PyMem_Calloc((size_t)n[2] + 1, sizeof *slices);
    if (out == NULL || slices == NULL)
        PyErr_NoMemory();
    else if (check(ef_graph_gradients_of(p[0], n[0], p[1], p[2], n[2], p[3], n[3], out, slices),
                   "gradients") == 0)
        result = gradient_list(out, slices, n[2]);
    PyMem_Free(out);
    PyMem_Free(slices);
done:
    for (int j = 0; j < 4; j++) PyMem_Free(p[j]);
    return result;
}

static PyMethodDef tape_methods[] = {{"stop", tape_stop, METH_NOARGS, NULL},
                                     {"pause", tape_pause, METH_NOARGS, NULL},
                                     {"resume", tape_resume, METH_NOARGS, NULL},
                                     {"reset", tape_reset, METH_NOARGS, NULL},
                                     {"watch", tape_watch, METH_O, NULL},
                                     {"watched", tape_watched, METH_NOARGS, NULL},
                                     {"gradients", tape_gradients, METH_VARARGS, NULL},
                                     {NULL, NULL, 0, NULL}};
static PyType_Slot tape_slots[] = {
    {Py_tp_new, tape_new}, {Py_tp_dealloc, tape_dealloc}, {Py_tp_methods, tape_methods}, {0, NULL}};
static PyType_Spec tape_spec = {"evenflow._core.Tape", sizeof(tape_object), 0, Py_TPFLAGS_DEFAULT,
                                tape_slots};
static PyObject *core_taping(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyBool_FromLong(ef_taping());
}
static PyMethodDef functions[] = {
    {"taping", core_taping, METH_NOARGS, "Whether a tape of this thread is recording."},
    {"graph_gradients", core_graph_gradients, METH_VARARGS, "Symbolic gradients."},
    {NULL, NULL, 0, NULL}};

int tape_init(PyObject *module) {
    if ((tape_type = add_type(module, &tape_spec, NULL, "Tape")) == NULL) return -1;
    if (gradient_tape_init(module) < 0) return -1;
    return PyModule_AddFunctions(module, functions);
}
