/* Python functions that the engine calls: custom gradients and py_function. The engine calls them
 * from any thread, with or without the GIL. */
#include "profile.h"
#include <sys/syscall.h>
#include <unistd.h>

/* ---- custom gradients ------------------------------------------------------------------------ */

/* A gradient: None, a tensor, or a tuple of values, indices and dense shape. */
static int take_gradient(PyObject *o, ef_tensor *out) {
    Py_ssize_t n = PyTuple_Check(o) ? PyTuple_GET_SIZE(o) : 1;
    memset(out, 0, 3 * sizeof *out);
    if (o == Py_None) return 0;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *part = PyTuple_Check(o) ? PyTuple_GET_ITEM(o, k) : o;
        if (!IS_TENSOR(part) || (n != 1 && n != 3)) {
            PyErr_Format(PyExc_TypeError,
                         "a custom gradient must return None, a tensor or IndexedSlices, not %R",
                         o);
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
                     "a custom gradient returned the wrong number of gradients; %d are needed",
                     n_in);
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

/* custom_gradient(inputs, outputs, fn) -> the outputs with fn as their gradient. fn takes a list of
 * the gradients of the outputs (None for an output that is not used) and returns a list with one
 * item per input: None, a tensor, or the values, indices and dense shape of a sparse gradient. */
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

/* Whether Ctrl-C interrupted a user's function on the main thread. Then the exception stays set,
 * the pipeline stops making elements, and the caller of the engine raises it. */
static bool interrupted(void) {
    return PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) && syscall(SYS_gettid) == getpid();
}

/* Turns the exception into a status and clears it: the consumer of a pipeline raises it again in
 * its own thread, or never, if it stops before that element. */
static ef_status *status_of_exception(void) {
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    long code = EF_UNKNOWN;
    PyObject *number = error != NULL ? PyObject_GetAttrString(error, "error_code") : NULL;
    if (number != NULL && PyLong_Check(number)) code = PyLong_AsLong(number);
    PyErr_Clear();
    Py_XDECREF(number);
    PyObject *text = error != NULL ? PyObject_GetAttrString(error, "message") : NULL;
    PyErr_Clear();
    if (text == NULL || !PyUnicode_Check(text)) {
        Py_XDECREF(text);
        text = error != NULL ? PyObject_Str(error) : NULL;
    }
    const char *message = text != NULL ? PyUnicode_AsUTF8(text) : NULL;
    if (message == NULL) PyErr_Clear();
    if (code <= EF_OK || code > EF_UNAUTHENTICATED) code = EF_UNKNOWN;
    ef_status *s = ef_status_make((ef_code)code, message != NULL ? message : "an exception");
    Py_XDECREF(text);
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return s;
}

typedef struct python_op {
    PyObject *fn;
    uint32_t place; /* the user's line that created the op */
} python_op;

static void count_python_op(const python_op *op, ef_event_reason reason) {
    ef_event_add(&(ef_event_new){
        .kind = EF_EVENT_PYTHON, .reason = reason, .place = op->place, .nowhere = true});
}

static void python_op_end(void *user) {
    python_op *op = user;
    count_python_op(op, EF_REASON_FORGOTTEN);
    drop(op->fn);
    PyMem_RawFree(op);
}

static PyObject *python_op_new(PyObject *fn, python_op **out) {
    if ((*out = PyMem_RawMalloc(sizeof **out)) == NULL) return PyErr_NoMemory();
    **out = (python_op){Py_NewRef(fn), profile_here()};
    count_python_op(*out, EF_REASON_FIRST);
    return fn;
}

/* Posts an event with the duration of the call and how much of it was waiting for the GIL. */
static PyObject *call_python(const python_op *op, PyObject *list, uint64_t asked) {
    uint64_t began = ef_event_clock();
    PyObject *r = PyObject_CallOneArg(op->fn, list);
    ef_event_add(&(ef_event_new){.kind = EF_EVENT_PYTHON,
                                 .began = asked,
                                 .place = op->place,
                                 .nowhere = true,
                                 .value = {(int64_t)(began - asked)}});
    return r;
}

static ef_status *run_callback(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                               int n_out) {
    uint64_t asked = ef_event_clock();
    callback_state state = callback_begin();
    PyObject *list = tensor_list_copy(in, n_in), *r = NULL;
    if (list != NULL) r = call_python(user, list, asked);
    Py_XDECREF(list);
    int bad = r == NULL || !PyList_Check(r) || PyList_GET_SIZE(r) != n_out ? -1 : 0;
    if (bad != 0 && !PyErr_Occurred())
        PyErr_Format(PyExc_ValueError,
                     "a Python function returned the wrong number of results; %d are needed",
                     n_out);
    for (int k = 0; k < n_out && bad == 0; k++) {
        memset(&out[k], 0, sizeof out[k]);
        ef_tensor_copy(&out[k], &((tensor_object *)PyList_GET_ITEM(r, k))->t);
    }
    Py_XDECREF(r);
    ef_status *s = bad == 0           ? NULL
                   : interrupted()    ? ef_status_make(EF_CANCELLED, "interrupted by a signal")
                   : ef_in_pipeline() ? status_of_exception()
                                      : raised_in_python();
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
    python_op *op = NULL;
    if (bad == 0 && python_op_new(fn, &op) != NULL &&
        check(ef_callback_call(run_callback, op, python_op_end, in, n_in, t, s, stateful, out, n),
              "EagerPyFunc") == 0)
        result = tensor_list(out, n);
    PyMem_Free(in);
    PyMem_Free(out);
    PyMem_Free(t);
    PyMem_Free(s);
    return result;
}

/* callback_handle(fn) -> a resource through which ops call fn */
static PyObject *core_callback_handle(PyObject *module, PyObject *fn) {
    (void)module;
    ef_tensor handle = {0};
    python_op *op;
    if (python_op_new(fn, &op) == NULL) return NULL;
    if (check(ef_callback_handle(run_callback, op, python_op_end, &handle), "EagerPyFunc") != 0)
        return NULL;
    return tensor_wrap(&handle);
}

/* ---- datasets -------------------------------------------------------------------------------- */

/* iterator_next(handle) -> list of tensors; None: the iterator is exhausted */
static PyObject *core_iterator_next(PyObject *module, PyObject *handle) {
    (void)module;
    enum { FEW = 8 };
    ef_tensor few[FEW], *out = few;
    int n = IS_TENSOR(handle) ? ef_iterator_width(&((tensor_object *)handle)->t) : -1;
    if (n < 0) {
        PyErr_SetString(PyExc_TypeError, "iterator_next takes the handle of an iterator");
        return NULL;
    }
    if (n > FEW && (out = PyMem_Malloc((size_t)n * sizeof *out)) == NULL) return PyErr_NoMemory();
    PyObject *result = NULL;
    engine_call v;
    engine_begin(&v, false);
    ef_status *s = ef_iterator_next(&((tensor_object *)handle)->t, out, n, &n);
    if (check(engine_end(&v, s), "IteratorGetNext") == 0)
        result = n < 0 ? Py_NewRef(Py_None) : tensor_list(out, n);
    if (out != few) PyMem_Free(out);
    return result;
}

/* dataset_explain(variant) -> text; None: nothing has iterated over it yet */
static PyObject *core_dataset_explain(PyObject *module, PyObject *dataset) {
    (void)module;
    char *text = NULL;
    if (!IS_TENSOR(dataset)) {
        PyErr_SetString(PyExc_TypeError, "dataset_explain takes the variant of a dataset");
        return NULL;
    }
    if (check(ef_dataset_explain(&((tensor_object *)dataset)->t, &text), "explain") != 0)
        return NULL;
    PyObject *result = text != NULL ? PyUnicode_FromString(text) : Py_NewRef(Py_None);
    ef_dataset_explain_free(text);
    return result;
}

static PyObject *core_stop_pipelines(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    ef_pipelines_stop();
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"custom_gradient", core_custom_gradient, METH_VARARGS,
     "Returns outputs whose gradient is a Python function."},
    {"callback", core_callback, METH_VARARGS, "Calls a Python function as an op."},
    {"callback_handle", core_callback_handle, METH_O,
     "Returns a resource through which ops call a Python function."},
    {"iterator_next", core_iterator_next, METH_O, "The next element of an iterator."},
    {"dataset_explain", core_dataset_explain, METH_O, "What the stages of a dataset did."},
    {"stop_pipelines", core_stop_pipelines, METH_NOARGS, "Ends all threads of datasets."},
    {NULL, NULL, 0, NULL}};

int callback_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
