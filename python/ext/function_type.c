/* The class of the objects that tf.function returns: all of it but the call. */
#include "function.h"
#include <structmember.h>

PyTypeObject *function_type;

static void drop_entries(function_object *self) {
    while (self->entries != NULL) entry_drop_last(self);
}

static int function_clear(PyObject *o) {
    function_object *self = (function_object *)o;
    drop_entries(self);
    Py_CLEAR(self->dict);
    Py_CLEAR(self->python);
    Py_CLEAR(self->target);
    Py_CLEAR(self->seen);
    Py_CLEAR(self->defaults);
    Py_CLEAR(self->kwonly);
    Py_CLEAR(self->history);
    Py_CLEAR(self->on_death);
    Py_CLEAR(self->instances);
    Py_CLEAR(self->instance);
    Py_CLEAR(self->features);
    return 0;
}

static void function_dealloc(PyObject *o) {
    function_object *self = (function_object *)o;
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (self->weak != NULL) PyObject_ClearWeakRefs(o);
    function_clear(o);
    Py_CLEAR(self->params);
    Py_CLEAR(self->input_signature);
    Py_CLEAR(self->signature);
    Py_CLEAR(self->spec_names);
    Py_CLEAR(self->jit_compile);
    PyMem_Free(self->spec_dtype);
    PyMem_Free(self->spec_shape);
    type->tp_free(o);
    Py_DECREF(type);
}

typedef struct visitor {
    visitproc visit;
    void *arg;
    int stop;
} visitor;

static void visit_packing(void *user, void *arg) {
    visitor *v = arg;
    packing *p = user;
    if (v->stop == 0 && atomic_load(&p->refs) == 1) v->stop = v->visit((PyObject *)p, v->arg);
}

/* Visits the packings that only this function holds. A collection visits twice and needs the same
 * answer; it holds the GIL, without which no call of an idle entry begins. */
static int visit_packings(const entry *e, visitproc visit, void *arg) {
    visitor v = {visit, arg, 0};
    if (e->users == 0) ef_function_own_traces(e->f, visit_packing, &v);
    return v.stop;
}

static int function_traverse(PyObject *o, visitproc visit, void *arg) {
    function_object *self = (function_object *)o;
    Py_VISIT(self->dict);
    Py_VISIT(self->python);
    Py_VISIT(self->target);
    Py_VISIT(self->seen);
    Py_VISIT(self->defaults);
    Py_VISIT(self->kwonly);
    Py_VISIT(self->instances);
    Py_VISIT(self->instance);
    Py_VISIT(self->features);
    for (entry *e = self->entries; e != NULL; e = e->next) {
        for (int k = 0; k < e->n_objects; k++) Py_VISIT(e->object[k]);
        int stop = visit_packings(e, visit, arg);
        if (stop != 0) return stop;
    }
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
static PyMethodDef functions[] = {{"run_functions_eagerly", core_run_eagerly, METH_O,
                                   "Whether tf.functions run as plain Python functions."},
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

/* For each entry, the reason of its latest trace and the number of its traces. */
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

/* _concrete(*args, **kwargs) -> the concrete function for tensors of these dtypes and shapes */
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

/* All traces in the cache, as concrete functions. */
static PyObject *function_all(PyObject *o, PyObject *unused) {
    (void)unused;
    enum { MOST = 64 };
    PyObject *list = PyList_New(0);
    for (entry *e = ((function_object *)o)->entries; list != NULL && e != NULL; e = e->next) {
        void *user[MOST];
        ef_graph *graph[MOST];
        int n = ef_function_traces(e->f, user, graph, MOST);
        for (int k = 0; k < n; k++) {
            PyObject *c = list != NULL ? concrete_of(user[k], graph[k]) : NULL;
            if (c == NULL || PyList_Append(list, c) < 0) Py_CLEAR(list);
            Py_XDECREF(c);
            packing_end(user[k]);
            ef_graph_free(graph[k]);
        }
    }
    return list;
}

static PyMethodDef function_methods[] = {{"_traces", function_traces, METH_NOARGS, NULL},
                                         {"_reasons", function_reasons, METH_NOARGS, NULL},
                                         {"_all", function_all, METH_NOARGS, NULL},
                                         {"_concrete",
                                          (PyCFunction)(void (*)(void))function_concrete,
                                          METH_FASTCALL | METH_KEYWORDS, NULL},
                                         {NULL, NULL, 0, NULL}};
static PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(function_object, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(function_object, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(function_object, weak), READONLY, NULL},
    {"python_function", T_OBJECT_EX, offsetof(function_object, python), READONLY, NULL},
    {"input_signature", T_OBJECT, offsetof(function_object, input_signature), READONLY, NULL},
    {"_first_spec", T_INT, offsetof(function_object, first_spec), READONLY, NULL},
    {"_instance", T_OBJECT, offsetof(function_object, instance), READONLY, NULL},
    {"_parameter_names", T_OBJECT, offsetof(function_object, params), READONLY, NULL},
    {"_jit_compile", T_OBJECT, offsetof(function_object, jit_compile), READONLY, NULL},
    {"_features", T_OBJECT, offsetof(function_object, features), READONLY, NULL},
    {"_autograph", T_BOOL, offsetof(function_object, autograph), READONLY, NULL},
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
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, function_slots};

int function_init(PyObject *module) {
    function_type = add_type(module, &function_spec, NULL, "Function");
    if (function_type == NULL || bound_function_init(module) < 0 || concrete_init(module) < 0 ||
        trace_init(module) < 0)
        return -1;
    return PyModule_AddFunctions(module, functions);
}
