/* Gradient tapes, and a user's own gradients. */
#include "core.h"

typedef struct tape_object {
    PyObject_HEAD ef_tape *t;
} tape_object;
static PyTypeObject *tape_type;
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

static PyObject *tape_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    int persistent, watch, quiet = 0;
    if (!PyArg_ParseTuple(args, "pp|p", &persistent, &watch, &quiet)) return NULL;
    tape_object *o = (tape_object *)type->tp_alloc(type, 0);
    if (o == NULL) return NULL;
    if (check(ef_tape_start(persistent, &o->t), "GradientTape") < 0) {
        Py_DECREF(o);
        return NULL;
    }
    if (!watch) ef_tape_set_auto_watch(o->t, false);
    ef_tape_set_quiet(o->t, quiet);
    return (PyObject *)o;
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

/* gradients(targets, output_gradients or None, sources): lists of tensors and handles */
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
    if (t != NULL && s != NULL && out != NULL && slices != NULL && !PyErr_Occurred()) {
        ef_status *bad;
        PyThreadState *state = away();
        bad = ef_tape_gradients(TAPE(self), t, n_t, d, s, n_s, out, slices);
        back(state);
        if (check(bad, "gradient") == 0) result = gradient_list(out, slices, n_s);
    }
    PyMem_Free(t);
    PyMem_Free(d);
    PyMem_Free(s);
    PyMem_Free(out);
    PyMem_Free(slices);
    return result;
}

/* ---- custom gradients ------------------------------------------------------------------------ */

/* Called with or without the interpreter's lock. */
static ef_status *from_python(void) {
    /* The exception stays set; raise_status lets it through. */
    return ef_status_make(EF_UNKNOWN, "a Python function raised an exception");
}

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
    PyGILState_STATE gil = PyGILState_Ensure();
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
    ef_status *s = bad != 0 ? from_python() : NULL;
    PyGILState_Release(gil);
    return s;
}

static void drop(void *user) {
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_DECREF((PyObject *)user);
    PyGILState_Release(gil);
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
    PyGILState_STATE gil = PyGILState_Ensure();
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
    ef_status *s = bad != 0 ? from_python() : NULL;
    PyGILState_Release(gil);
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
    const ef_tensor **in = tensor_pointers(ins, false, &n_in);
    ef_tensor *out = PyMem_Calloc((size_t)n + 1, sizeof *out);
    ef_dtype *t = PyMem_Calloc((size_t)n + 1, sizeof *t);
    ef_shape *s = PyMem_Calloc((size_t)n + 1, sizeof *s);
    int bad = in == NULL || out == NULL || t == NULL || s == NULL ? -1 : 0;
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
    {"custom_gradient", core_custom_gradient, METH_VARARGS,
     "Outputs with a gradient of their own."},
    {"callback", core_callback, METH_VARARGS, "Calls Python as an op."},
    {NULL, NULL, 0, NULL}};

int tape_init(PyObject *module) {
    if ((tape_type = add_type(module, &tape_spec, NULL, "Tape")) == NULL) return -1;
    return PyModule_AddFunctions(module, functions);
}
