/* ConcreteFunction: one trace of a tf.function as a callable. Tensors of the right dtypes, by
 * position or by the names of the inputs, go straight to the graph, whatever their shapes, as in
 * TensorFlow. Any other call is first brought into this form by Python (_src/concrete.py). */
#include "function.h"
#include <structmember.h>

static PyTypeObject *concrete_type;

/* The input that has this name as a keyword; -1: none. */
static int input_called(const concrete_object *c, int inputs, PyObject *name) {
    for (int k = 0; k < inputs; k++)
        if (PyTuple_GET_ITEM(c->names, k) == name) return k;
    for (int k = 0; k < inputs; k++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(c->names, k), name) == 0) return k;
    return -1;
}

/* Writes the tensors of a call to `in`, in the order of the inputs; false: some argument is not a
 * tensor of its input's dtype, or one is missing, so Python must prepare the arguments. */
static bool arguments(const concrete_object *c, PyObject *const *args, Py_ssize_t n,
                      PyObject *names, const ef_tensor **in) {
    Py_ssize_t more = names != NULL ? PyTuple_GET_SIZE(names) : 0;
    const int inputs = c->n;
    if (n + more != inputs) return false;
    for (int k = 0; k < inputs; k++) in[k] = NULL;
    for (int k = 0; k < inputs; k++) {
        int at = k < n ? k : input_called(c, inputs, PyTuple_GET_ITEM(names, k - n));
        PyObject *o = args[k];
        if (at < 0 || in[at] != NULL || !(IS_EAGER(o) || IS_SYMBOLIC(o)) ||
            (ef_dtype)((tensor_object *)o)->t.dtype != c->dtype[at])
            return false;
        in[at] = tensor_used((tensor_object *)o);
    }
    return true;
}

/* As the call of a function: a long one releases the GIL, and one call in 64 is measured. */
static ef_status *run_once(concrete_object *c, const ef_tensor *const *in, int n, ef_tensor *out,
                           int room, int *made) {
    bool measure = (c->calls++ & 63) == 0, waits = false;
    int64_t began = measure ? nanoseconds() : 0;
    for (int k = 0; k < n; k++) waits |= in[k]->data == NULL;
    engine_call v;
    engine_begin(&v, (c->heavy || waits) && !recording());
    ef_status *s = engine_end(&v, ef_graph_call(c->g, in, n, out, room, made));
    if (measure) c->heavy = nanoseconds() - began > LONG_CALL;
    return s;
}

static PyObject *run(concrete_object *c, const ef_tensor *const *in, int n) {
    int room = ef_graph_outputs(c->g), made = 0;
    ef_tensor few[FEW_RESULTS], *out = few;
    if (room > FEW_RESULTS && (out = PyMem_Malloc((size_t)room * sizeof *out)) == NULL)
        return PyErr_NoMemory();
    if (recording()) graph_grows();
    ef_status *s = run_once(c, in, n, out, room, &made);
    PyObject *result = s != NULL ? raise_status(s, "call") : result_pack(c->packing, out, made);
    if (out != few) PyMem_Free(out);
    return result;
}

static PyObject *run_prepared_by_python(concrete_object *c, PyObject *const *args, Py_ssize_t n,
                                        PyObject *names) {
    PyObject *tuple = PyTuple_New(n), *dict = PyDict_New(), *flat = NULL, *result = NULL;
    bool bad = tuple == NULL || dict == NULL;
    for (Py_ssize_t k = 0; !bad && k < n; k++) PyTuple_SET_ITEM(tuple, k, Py_NewRef(args[k]));
    for (Py_ssize_t k = 0; !bad && names != NULL && k < PyTuple_GET_SIZE(names); k++)
        bad = PyDict_SetItem(dict, PyTuple_GET_ITEM(names, k), args[n + k]) < 0;
    if (!bad)
        flat = PyObject_CallFunctionObjArgs(hooks.concrete_arguments, (PyObject *)c, tuple, dict,
                                            NULL);
    int n_in = 0;
    const ef_tensor **in = flat != NULL ? tensor_pointers(flat, false, &n_in) : NULL;
    if (in != NULL) result = run(c, in, n_in);
    PyMem_Free(in);
    Py_XDECREF(flat);
    Py_XDECREF(tuple);
    Py_XDECREF(dict);
    return result;
}

static PyObject *concrete_call(PyObject *callable, PyObject *const *args, size_t nargsf,
                               PyObject *names) {
    concrete_object *c = (concrete_object *)callable;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    const ef_tensor *in[FEW_PARAMS];
    if (c->n <= FEW_PARAMS && arguments(c, args, n, names, in)) return run(c, in, c->n);
    return run_prepared_by_python(c, args, n, names);
}

/* ---- the object ------------------------------------------------------------------------------ */

static int read_inputs(concrete_object *c) {
    c->n = ef_graph_inputs(c->g) - ef_graph_captures(c->g);
    c->dtype = PyMem_Calloc((size_t)c->n + 1, sizeof *c->dtype);
    c->names = PyTuple_New(c->n);
    if (c->dtype == NULL || c->names == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (int k = 0; k < c->n; k++) {
        ef_tensor t = {0};
        const char *name;
        int node;
        if (check(ef_graph_input_at(c->g, k, &t), NULL) < 0) return -1;
        ef_tensor_graph(&t, &node, NULL);
        c->dtype[k] = (ef_dtype)t.dtype;
        ef_tensor_release(&t);
        if (check(ef_graph_node_name(c->g, node, &name), NULL) < 0) return -1;
        PyObject *text = PyUnicode_InternFromString(name);
        if (text == NULL) return -1;
        PyTuple_SET_ITEM(c->names, k, text);
    }
    return 0;
}

PyObject *concrete_of(packing *p, ef_graph *g) {
    if (p->concrete != NULL) return Py_NewRef((PyObject *)p->concrete);
    concrete_object *c = (concrete_object *)concrete_type->tp_alloc(concrete_type, 0);
    if (c == NULL) return NULL;
    c->packing = (packing *)Py_NewRef((PyObject *)p);
    c->g = ef_graph_hold(g);
    c->call = concrete_call;
    if (read_inputs(c) < 0)
        Py_CLEAR(c);
    else
        p->concrete = c;
    return (PyObject *)c;
}

static int concrete_clear(PyObject *o) {
    Py_CLEAR(((concrete_object *)o)->dict);
    return 0;
}

static void concrete_dealloc(PyObject *o) {
    concrete_object *c = (concrete_object *)o;
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (c->weak != NULL) PyObject_ClearWeakRefs(o);
    if (c->packing->concrete == c) c->packing->concrete = NULL;
    concrete_clear(o);
    Py_DECREF((PyObject *)c->packing);
    ef_graph_free(c->g);
    PyMem_Free(c->dtype);
    Py_CLEAR(c->names);
    type->tp_free(o);
    Py_DECREF(type);
}

static int concrete_traverse(PyObject *o, visitproc visit, void *arg) {
    Py_VISIT(((concrete_object *)o)->dict);
    Py_VISIT(((concrete_object *)o)->packing);
    Py_VISIT(Py_TYPE(o));
    return 0;
}

/* Returns the Graph object that was created during tracing, if there was one; otherwise it is
 * created here. */
static PyObject *concrete_graph(PyObject *o, void *unused) {
    (void)unused;
    concrete_object *c = (concrete_object *)o;
    packing *p = c->packing;
    if (p->graph == NULL) {
        p->graph = graph_wrap(c->g);
        if (p->graph != NULL && p->name != NULL &&
            PyObject_SetAttrString(p->graph, "name", p->name) < 0)
            return NULL;
    }
    if (p->graph != NULL && PyObject_SetAttrString(p->graph, "structured_outputs", p->result) < 0)
        return NULL;
    return Py_XNewRef(p->graph);
}

static PyObject *concrete_arguments(PyObject *o, void *unused) {
    (void)unused;
    packing *p = ((concrete_object *)o)->packing;
    return PyTuple_Pack(2, p->args, p->kwargs);
}

static PyObject *concrete_result(PyObject *o, void *unused) {
    (void)unused;
    return Py_NewRef(((concrete_object *)o)->packing->result);
}

static PyObject *concrete_number(PyObject *o, void *unused) {
    (void)unused;
    return PyLong_FromUnsignedLongLong(((concrete_object *)o)->packing->number);
}

static PyGetSetDef concrete_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {"graph", concrete_graph, NULL, "The graph of the trace.", NULL},
    {"_arguments", concrete_arguments, NULL, "The arguments of the call that was traced.", NULL},
    {"_result", concrete_result, NULL, "The value that the traced call returned.", NULL},
    {"_number", concrete_number, NULL, "Grows with each trace: the later of two has the higher.",
     NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef concrete_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(concrete_object, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(concrete_object, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(concrete_object, weak), READONLY, NULL},
    {"_input_names", T_OBJECT, offsetof(concrete_object, names), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot concrete_slots[] = {{Py_tp_dealloc, concrete_dealloc},
                                       {Py_tp_traverse, concrete_traverse},
                                       {Py_tp_clear, concrete_clear},
                                       {Py_tp_call, PyVectorcall_Call},
                                       {Py_tp_getset, concrete_getset},
                                       {Py_tp_members, concrete_members},
                                       {0, NULL}};
static PyType_Spec concrete_spec = {
    "tensorflow.python.eager.polymorphic_function.concrete_function.ConcreteFunction",
    sizeof(concrete_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, concrete_slots};

int concrete_init(PyObject *module) {
    concrete_type = add_type(module, &concrete_spec, NULL, "ConcreteFunction");
    return concrete_type != NULL ? 0 : -1;
}
