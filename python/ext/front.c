/* Fronts: public functions written in Python that answer their usual calls in C. A front stands for
 * a Python function and has its signature and docstring; a call that its short path does not know
 * goes to that function. */
#include "op.h"
#include <structmember.h>

typedef struct arguments {
    PyObject *const *value;
    Py_ssize_t n;    /* positional ones */
    PyObject *names; /* of the values behind them, or NULL */
} arguments;

/* Answers a call. NULL without an exception: it is for the Python function. */
typedef PyObject *short_path(const arguments *a, PyObject *op);

typedef struct front_object {
    PyObject_HEAD PyObject *dict, *weak, *function;
    PyObject *op; /* for short paths that call one, else NULL */
    short_path *path;
    vectorcallfunc call;
} front_object;

static PyTypeObject *front_type;

/* Argument k, which can also be given as `name`; NULL: absent. */
static PyObject *argument(const arguments *a, Py_ssize_t k, const char *name) {
    if (k < a->n) return a->value[k];
    Py_ssize_t count = a->names != NULL ? PyTuple_GET_SIZE(a->names) : 0;
    for (Py_ssize_t j = 0; j < count; j++)
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(a->names, j), name) == 0)
            return a->value[a->n + j];
    return NULL;
}

/* Whether exactly `count` arguments were passed, and each is expected. */
static bool given(const arguments *a, Py_ssize_t count) {
    return count == a->n + (a->names != NULL ? PyTuple_GET_SIZE(a->names) : 0);
}

/* cast(x, dtype, name): of a tensor that has the dtype */
static PyObject *cast(const arguments *a, PyObject *op) {
    (void)op;
    PyObject *x = argument(a, 0, "x"), *dtype = argument(a, 1, "dtype");
    if (x == NULL || dtype == NULL || !given(a, 2)) return NULL;
    return convert_already(x, dtype);
}

/* convert_to_tensor(value, dtype, dtype_hint, name): eagerly, on the host */
static PyObject *to_tensor(const arguments *a, PyObject *op) {
    (void)op;
    PyObject *value = argument(a, 0, "value"), *dtype = argument(a, 1, "dtype");
    PyObject *hint = argument(a, 2, "dtype_hint"), *name = argument(a, 3, "name");
    Py_ssize_t known = 1 + (dtype != NULL) + (hint != NULL) + (name != NULL);
    if (value == NULL || !given(a, known) || recording() || ef_device_wanted() > 1) return NULL;
    bool must = dtype != NULL && dtype != Py_None, may = hint != NULL && hint != Py_None;
    ef_dtype t = must || may ? dtype_of(must ? dtype : hint) : EF_NO_DTYPE;
    if (PyErr_Occurred()) return NULL;
    return convert(value, t, may && !must ? HINT : MUST);
}

/* matmul(a, b, output_type=None) of two matrices */
static PyObject *matmul(const arguments *a, PyObject *op) {
    PyObject *x[2] = {argument(a, 0, "a"), argument(a, 1, "b")};
    PyObject *type = argument(a, 8, "output_type");
    if (!given(a, type == Py_None ? 3 : 2) || a->n > 2) return NULL;
    for (int k = 0; k < 2; k++) {
        if (x[k] == NULL || !(IS_EAGER(x[k]) || IS_SYMBOLIC(x[k]))) return NULL;
        if (ef_tensor_shape(&((tensor_object *)x[k])->t).rank != 2) return NULL;
    }
    if (((tensor_object *)x[0])->t.dtype != ((tensor_object *)x[1])->t.dtype) return NULL;
    return op_call(op, x, 2, NULL);
}

/* bias_add(value, bias, data_format="NHWC"): eagerly */
static PyObject *bias_add(const arguments *a, PyObject *op) {
    PyObject *x[2] = {argument(a, 0, "value"), argument(a, 1, "bias")};
    PyObject *format = argument(a, 2, "data_format");
    if (x[0] == NULL || x[1] == NULL || !given(a, 2 + (format != NULL)) || recording()) return NULL;
    if (format != NULL && format != Py_None &&
        !(PyUnicode_Check(format) && PyUnicode_CompareWithASCIIString(format, "NHWC") == 0))
        return NULL;
    return IS_EAGER(x[0]) ? op_call(op, x, 2, NULL) : NULL;
}

static const struct {
    const char *name;
    short_path *path;
} paths[] = {
    {"cast", cast}, {"convert_to_tensor", to_tensor}, {"matmul", matmul}, {"bias_add", bias_add}};

static PyObject *front_call(PyObject *o, PyObject *const *args, size_t flags, PyObject *names) {
    const front_object *self = (front_object *)o;
    const arguments a = {args, PyVectorcall_NARGS(flags), names};
    PyObject *result = self->path(&a, self->op);
    if (result != NULL || PyErr_Occurred()) return result;
    return PyObject_Vectorcall(self->function, args, flags, names);
}

/* front(function, name of the short path, op=None) */
static PyObject *core_front(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *function, *op = NULL;
    const char *name;
    if (!PyArg_ParseTuple(args, "Os|O!", &function, &name, op_type, &op)) return NULL;
    size_t k = 0, n = sizeof paths / sizeof *paths;
    while (k < n && strcmp(paths[k].name, name) != 0) k++;
    if (k == n) return PyErr_Format(PyExc_ValueError, "there is no short path '%s'", name);
    front_object *self = (front_object *)PyType_GenericAlloc(front_type, 0);
    if (self == NULL) return NULL;
    self->function = Py_NewRef(function);
    self->op = Py_XNewRef(op);
    self->path = paths[k].path;
    self->call = front_call;
    return (PyObject *)self;
}

static int front_traverse(PyObject *o, visitproc visit, void *arg) {
    front_object *self = (front_object *)o;
    Py_VISIT(Py_TYPE(o));
    Py_VISIT(self->dict);
    Py_VISIT(self->function);
    Py_VISIT(self->op);
    return 0;
}

static int front_clear(PyObject *o) {
    front_object *self = (front_object *)o;
    Py_CLEAR(self->dict);
    Py_CLEAR(self->function);
    Py_CLEAR(self->op);
    return 0;
}

static void front_dealloc(PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (((front_object *)o)->weak != NULL) PyObject_ClearWeakRefs(o);
    front_clear(o);
    type->tp_free(o);
    Py_DECREF(type);
}

static PyObject *front_repr(PyObject *o) { return PyObject_Repr(((front_object *)o)->function); }

static PyObject *front_bind(PyObject *self, PyObject *obj, PyObject *type) {
    (void)type;
    if (obj == NULL || obj == Py_None) return Py_NewRef(self);
    return PyMethod_New(self, obj); /* in a class it becomes a method, as a Python function does */
}

int front_init(PyObject *module) {
    static PyMemberDef members[] = {
        {"__vectorcalloffset__", T_PYSSIZET, offsetof(front_object, call), READONLY, NULL},
        {"__dictoffset__", T_PYSSIZET, offsetof(front_object, dict), READONLY, NULL},
        {"__weaklistoffset__", T_PYSSIZET, offsetof(front_object, weak), READONLY, NULL},
        {NULL, 0, 0, 0, NULL}};
    static PyGetSetDef getset[] = {
        {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
        {NULL, NULL, NULL, NULL, NULL}};
    static PyMethodDef functions[] = {
        {"front", core_front, METH_VARARGS, "A public function with a short path in C."},
        {NULL, NULL, 0, NULL}};
    PyType_Slot slots[] = {{Py_tp_dealloc, front_dealloc},
                           {Py_tp_traverse, front_traverse},
                           {Py_tp_clear, front_clear},
                           {Py_tp_call, PyVectorcall_Call},
                           {Py_tp_repr, front_repr},
                           {Py_tp_descr_get, front_bind},
                           {Py_tp_members, members},
                           {Py_tp_getset, getset},
                           {0, NULL}};
    PyType_Spec spec = {"evenflow._core.Front", sizeof(front_object), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                        slots};
    if ((front_type = add_type(module, &spec, NULL, "Front")) == NULL) return -1;
    return PyModule_AddFunctions(module, functions);
}
