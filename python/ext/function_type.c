/* The class of what tf.function makes: construction, life, and everything asked of it but a call.
 */
#include "function.h"
#include <structmember.h>

/* Function(python, tracer, params, unnamed, defaults, kwonly, varargs, varkw, signature, prepare,
 * relax) */
static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    PyObject *python, *tracer, *params, *defaults, *kwonly, *signature, *prepare;
    int unnamed, varargs, varkw, relax;
    if (!PyArg_ParseTuple(args, "OOO!iO!OppOOp", &python, &tracer, &PyTuple_Type, &params, &unnamed,
                          &PyTuple_Type, &defaults, &kwonly, &varargs, &varkw, &signature, &prepare,
                          &relax))
        return NULL;
    function_object *self = (function_object *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->call = function_call;
    self->python = Py_NewRef(python);
    self->tracer = Py_NewRef(tracer);
    self->params = Py_NewRef(params);
    self->unnamed = unnamed;
    self->defaults = Py_NewRef(defaults);
    self->kwonly = Py_NewRef(kwonly);
    self->varargs = varargs;
    self->varkw = varkw;
    self->signature = Py_NewRef(signature);
    self->prepare = Py_NewRef(prepare);
    self->relax = relax;
    return (PyObject *)self;
}

static void drop_entries(function_object *self) {
    while (self->entries != NULL) entry_drop_last(self);
}

static int function_clear(PyObject *o) {
    function_object *self = (function_object *)o;
    drop_entries(self);
    Py_CLEAR(self->dict);
    Py_CLEAR(self->python);
    Py_CLEAR(self->tracer);
    Py_CLEAR(self->defaults);
    Py_CLEAR(self->kwonly);
    Py_CLEAR(self->prepare);
    return 0;
}

static void function_dealloc(PyObject *o) {
    function_object *self = (function_object *)o;
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (self->weak != NULL) PyObject_ClearWeakRefs(o);
    function_clear(o);
    Py_CLEAR(self->params);
    Py_CLEAR(self->signature);
    type->tp_free(o);
    Py_DECREF(type);
}

static int function_traverse(PyObject *o, visitproc visit, void *arg) {
    function_object *self = (function_object *)o;
    Py_VISIT(self->dict);
    Py_VISIT(self->python);
    Py_VISIT(self->tracer);
    Py_VISIT(self->defaults);
    Py_VISIT(self->kwonly);
    Py_VISIT(self->prepare);
    for (entry *e = self->entries; e != NULL; e = e->next)
        for (int k = 0; k < e->n_objects; k++) Py_VISIT(e->object[k]);
    Py_VISIT(Py_TYPE(o));
    return 0;
}

static PyObject *core_run_eagerly(PyObject *module, PyObject *on) {
    (void)module;
    functions_eager = PyObject_IsTrue(on) == 1;
    Py_RETURN_NONE;
}
static PyObject *core_runs_eagerly(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyBool_FromLong(functions_eager);
}
static PyMethodDef functions[] = {
    {"run_functions_eagerly", core_run_eagerly, METH_O, "Functions are called as plain Python."},
    {"functions_run_eagerly", core_runs_eagerly, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyObject *function_traces(PyObject *o, PyObject *unused) {
    (void)unused;
    function_object *self = (function_object *)o;
    uint64_t n = self->n_traces_gone;
    for (entry *e = self->entries; e != NULL; e = e->next) {
        ef_function_info info;
        ef_function_info_get(e->f, &info);
        n += info.traces;
    }
    return PyLong_FromUnsignedLongLong(n);
}

/* Why the latest trace of each kept set of Python arguments was made. */
static PyObject *function_reasons(PyObject *o, PyObject *unused) {
    (void)unused;
    PyObject *list = PyList_New(0);
    for (entry *e = ((function_object *)o)->entries; list != NULL && e != NULL; e = e->next) {
        ef_function_info info;
        ef_function_info_get(e->f, &info);
        PyObject *row = Py_BuildValue("(sK)", info.last_reason, (unsigned long long)info.traces);
        if (row == NULL || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

PyObject *function_trace_walked(function_object *self, walk *w, PyObject *const *items,
                                Py_ssize_t n_items, PyObject *kwargs) {
    PyObject *result = NULL;
    entry *e = entry_find(self, &w->k);
    ef_dtype *dtype = PyMem_Calloc((size_t)w->n_t + 1, sizeof *dtype);
    ef_shape *shape = PyMem_Calloc((size_t)w->n_t + 1, sizeof *shape);
    if (dtype == NULL || shape == NULL) PyErr_NoMemory();
    if (e == NULL || dtype == NULL || shape == NULL) goto done;
    for (int i = 0; i < w->n_t; i++) {
        dtype[i] = (ef_dtype)w->t[i]->dtype;
        shape[i] = ef_tensor_shape(w->t[i]);
    }
    calling c = {function_now, e, items, n_items, kwargs};
    packing *p = NULL;
    ef_graph *g = NULL;
    function_now = &c;
    e->users++;
    ef_status *s = ef_function_trace_for(e->f, dtype, shape, w->n_t, &g, (void **)&p);
    if (s != NULL && PyErr_Occurred() && PyErr_ExceptionMatches(trace_again)) {
        PyErr_Clear();
        ef_status_free(s);
        s = ef_function_trace_for(e->f, dtype, shape, w->n_t, &g, (void **)&p);
    }
    function_now = c.outer;
    if (s != NULL) {
        raise_status(s, NULL);
    } else if (p != NULL) {
        ef_graph_free(g);
        result = Py_NewRef(p->graph);
        packing_end(p);
    }
    entry_leave(e);
done:
    PyMem_Free(dtype);
    PyMem_Free(shape);
    return result;
}

/* _concrete(*args, **kwargs): tensors stand for any of their dtype and shape -> the trace's graph
 */
static PyObject *function_concrete(PyObject *o, PyObject *const *args, Py_ssize_t n,
                                   PyObject *names) {
    function_object *self = (function_object *)o;
    bound b;
    walk w;
    PyObject *result = NULL;
    if (args_bind(self, args, n, names, &b) == 0) {
        if (walk_begin(&w, b.item, b.n, b.kwargs, false))
            result = function_trace_walked(self, &w, b.item, b.n, b.kwargs);
        walk_end(&w);
    }
    bound_end(&b);
    return result;
}

static PyMethodDef function_methods[] = {{"_traces", function_traces, METH_NOARGS, NULL},
                                         {"_reasons", function_reasons, METH_NOARGS, NULL},
                                         {"_concrete",
                                          (PyCFunction)(void (*)(void))function_concrete,
                                          METH_FASTCALL | METH_KEYWORDS, NULL},
                                         {NULL, NULL, 0, NULL}};
static PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(function_object, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(function_object, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(function_object, weak), READONLY, NULL},
    {"python_function", T_OBJECT_EX, offsetof(function_object, python), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef function_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot function_slots[] = {{Py_tp_new, function_new},
                                       {Py_tp_dealloc, function_dealloc},
                                       {Py_tp_traverse, function_traverse},
                                       {Py_tp_clear, function_clear},
                                       {Py_tp_call, PyVectorcall_Call},
                                       {Py_tp_methods, function_methods},
                                       {Py_tp_members, function_members},
                                       {Py_tp_getset, function_getset},
                                       {Py_tp_descr_get, function_descr_get},
                                       {0, NULL}};
static PyType_Spec function_spec = {
    "tensorflow.python.eager.polymorphic_function.polymorphic_function.Function",
    sizeof(function_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
        Py_TPFLAGS_METHOD_DESCRIPTOR,
    function_slots};

int function_init(PyObject *module) {
    trace_again = PyErr_NewException("evenflow._core.TraceAgain", NULL, NULL);
    if (trace_again == NULL || PyModule_AddObjectRef(module, "TraceAgain", trace_again) < 0)
        return -1;
    if (bound_function_init(module) < 0 ||
        add_type(module, &function_spec, NULL, "Function") == NULL)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
