/* The tensor classes. types.Tensor is an empty base class, from which Python classes (Keras's
 * variables) may inherit along with others; Tensor, EagerTensor and SymbolicTensor derive from it
 * and have the same layout.
 *
 * Eager tensor objects come from a free list. The garbage collector tracks a tensor object only
 * once an attribute was set on it: before that it references no other Python object. */
#include "core.h"
#include <structmember.h>

PyTypeObject *core_type, *tensor_type, *eager_type, *symbolic_type;

enum { SPARE = 256 };
static tensor_object *spare[SPARE]; /* their tensors were released, so they are zeroed */
static int n_spare;

tensor_object *tensor_make(void) {
    tensor_object *o;
    if (n_spare > 0) {
        o = spare[--n_spare];
        Py_INCREF(eager_type);
        _Py_NewReference((PyObject *)o);
    } else {
        o = PyObject_GC_New(tensor_object, eager_type);
        if (o == NULL) return NULL;
        memset(&o->t, 0, sizeof o->t);
    }
    o->dict = o->weak = NULL;
    return o;
}

static void tensor_dealloc(PyObject *self) {
    tensor_object *o = (tensor_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (o->weak != NULL) PyObject_ClearWeakRefs(self);
    Py_CLEAR(o->dict);
    if (o->t.flags & EF_TENSOR_SYMBOLIC) ef_tensor_seen(&o->t, -1);
    ef_tensor_release(&o->t);
    if (type == eager_type && n_spare < SPARE)
        spare[n_spare++] = o;
    else
        type->tp_free(self);
    Py_DECREF(type);
}

static int tensor_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((tensor_object *)self)->dict);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int tensor_clear(PyObject *self) {
    Py_CLEAR(((tensor_object *)self)->dict);
    return 0;
}

static int tensor_setattro(PyObject *self, PyObject *name, PyObject *value) {
    int bad = PyObject_GenericSetAttr(self, name, value);
    if (((tensor_object *)self)->dict != NULL && !PyObject_GC_IsTracked(self))
        PyObject_GC_Track(self);
    return bad;
}

static PyObject *wrap_symbolic(ef_tensor *t) {
    tensor_object *o = PyObject_GC_New(tensor_object, symbolic_type);
    if (o == NULL) {
        ef_tensor_release(t);
        return NULL;
    }
    o->dict = o->weak = NULL;
    memset(&o->t, 0, sizeof o->t);
    ef_tensor_take(&o->t, t);
    ef_tensor_seen(&o->t, 1);
    graph_gained(&o->t);
    return (PyObject *)o;
}

PyObject *tensor_finish(tensor_object *o) {
    if (!(o->t.flags & EF_TENSOR_SYMBOLIC)) return (PyObject *)o;
    PyObject *s = wrap_symbolic(&o->t);
    Py_DECREF(o);
    return s;
}

PyObject *tensor_wrap(ef_tensor *t) {
    if (t->flags & EF_TENSOR_SYMBOLIC) return wrap_symbolic(t);
    tensor_object *o = tensor_make();
    if (o == NULL) {
        ef_tensor_release(t);
        return NULL;
    }
    ef_tensor_take(&o->t, t);
    return tensor_finish(o);
}

PyObject *tensor_list(ef_tensor *t, int n) {
    PyObject *list = PyList_New(n);
    for (int k = 0; k < n; k++) {
        PyObject *o = NULL;
        if (list == NULL)
            ef_tensor_release(&t[k]);
        else if ((o = t[k].dtype == 0 ? Py_NewRef(Py_None) : tensor_wrap(&t[k])) == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, k, o);
    }
    return list;
}

PyObject *tensor_list_copy(const ef_tensor *t, int n) {
    PyObject *list = PyList_New(n);
    for (int k = 0; list != NULL && k < n; k++) {
        ef_tensor copy = {0};
        if (t[k].dtype != 0) ef_tensor_copy(&copy, &t[k]);
        PyObject *o = t[k].dtype == 0 ? Py_NewRef(Py_None) : tensor_wrap(&copy);
        if (o == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, k, o);
    }
    return list;
}

const ef_tensor *tensor_used(tensor_object *o) {
    if (recording()) ef_tape_name(&o->t);
    return &o->t;
}

const ef_tensor **tensor_pointers(PyObject *sequence, bool none, int *n) {
    PyObject *fast = PySequence_Fast(sequence, "a list of tensors");
    if (fast == NULL) return NULL;
    *n = (int)PySequence_Fast_GET_SIZE(fast);
    const ef_tensor **p = PyMem_Calloc((size_t)*n + 1, sizeof *p);
    if (p == NULL) PyErr_NoMemory();
    for (int k = 0; p != NULL && k < *n; k++) {
        PyObject *o = PySequence_Fast_GET_ITEM(fast, k);
        if (none && o == Py_None) continue;
        if (!IS_TENSOR(o)) {
            PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
            PyMem_Free(p);
            p = NULL;
        } else {
            p[k] = tensor_used((tensor_object *)o);
        }
    }
    Py_DECREF(fast);
    return p;
}

static PyObject *tensor_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    return PyErr_Format(PyExc_TypeError,
                        "%s objects are made by ops; use tf.constant or tf.convert_to_tensor",
                        type->tp_name);
}

/* ---- attributes ------------------------------------------------------------------------------ */

static PyObject *get_dtype(PyObject *self, void *closure) {
    (void)closure;
    return dtype_object((ef_dtype)((tensor_object *)self)->t.dtype);
}

static PyObject *get_shape(PyObject *self, void *closure) {
    (void)closure;
    const ef_tensor *t = &((tensor_object *)self)->t;
    ef_shape s;
    bool seen = ef_tensor_shape_seen(t, &s);
    return shape_object(&s, seen && s.rank >= 0 ? self : NULL);
}

static PyObject *get_dims(PyObject *self, void *closure) {
    (void)closure;
    ef_shape s = ef_tensor_shape(&((tensor_object *)self)->t);
    return dims_tuple(&s);
}

static PyObject *get_ndim(PyObject *self, void *closure) {
    (void)closure;
    int rank = ((tensor_object *)self)->t.rank;
    if (rank < 0) Py_RETURN_NONE;
    return PyLong_FromLong(rank);
}

static PyObject *get_id(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromVoidPtr(self);
}

/* The address of the tensor's storage: all handles of a variable have the same. */
static PyObject *get_storage(PyObject *self, void *closure) {
    (void)closure;
    return PyLong_FromVoidPtr(((tensor_object *)self)->t.storage);
}

static PyObject *get_graph(PyObject *self, void *closure) {
    (void)closure;
    ef_graph *g = ef_tensor_graph(&((tensor_object *)self)->t, NULL, NULL);
    if (g == NULL)
        return PyErr_Format(PyExc_AttributeError,
                            "Tensor.graph is undefined when eager execution is enabled.");
    return graph_wrap(g);
}

/* (graph, node, output) of a symbolic tensor. */
static PyObject *get_edge(PyObject *self, void *closure) {
    (void)closure;
    int node, index;
    ef_graph *g = ef_tensor_graph(&((tensor_object *)self)->t, &node, &index);
    if (g == NULL) Py_RETURN_NONE;
    PyObject *graph = graph_wrap(g);
    if (graph == NULL) return NULL;
    return Py_BuildValue("Nii", graph, node, index);
}

static PyGetSetDef tensor_getset[] = {
    {"dtype", get_dtype, NULL, "the type of its elements", NULL},
    {"shape", get_shape, NULL, "its TensorShape", NULL},
    {"_dims", get_dims, NULL, "its static sizes; the trace does not note that they were read",
     NULL},
    {"ndim", get_ndim, NULL, "its rank; None if not known", NULL},
    {"_id", get_id, NULL, NULL, NULL},
    {"_storage", get_storage, NULL, NULL, NULL},
    {"graph", get_graph, NULL, "the graph it belongs to", NULL},
    {"_edge", get_edge, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

static PyMemberDef tensor_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(tensor_object, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(tensor_object, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};

/* ---- values ---------------------------------------------------------------------------------- */

static void no_value(const char *what) {
    PyErr_SetString(hooks.not_allowed != NULL ? hooks.not_allowed : PyExc_TypeError, what);
}

static const ef_tensor *
value_of(PyObject *self) { /* an eager tensor, computed if it was deferred */
    const ef_tensor *t = &((tensor_object *)self)->t;
    const void *data;
    if (t->flags & EF_TENSOR_SYMBOLIC) {
        no_value("a symbolic tensor has no value: it represents a value in a graph");
        return NULL;
    }
    return tensor_materialize(t, &data) < 0 ? NULL : t;
}

static PyObject *item_of(PyObject *self, const char *as) {
    const ef_tensor *t = value_of(self);
    if (t == NULL) return NULL;
    if (t->rank != 0)
        return PyErr_Format(PyExc_TypeError,
                            "only 0-dimensional arrays can be converted to Python scalars (%s)",
                            as);
    PyObject *v = tensor_item(t, 0);
    if (v == NULL || !PyComplex_Check(v)) return v;
    PyObject *real = PyFloat_FromDouble(PyComplex_RealAsDouble(v)); /* as numpy's scalars do */
    Py_DECREF(v);
    return real;
}

static PyObject *tensor_float(PyObject *self) {
    PyObject *v = item_of(self, "float");
    PyObject *f = v != NULL ? PyNumber_Float(v) : NULL;
    Py_XDECREF(v);
    return f;
}

static PyObject *tensor_int(PyObject *self) {
    PyObject *v = item_of(self, "int");
    PyObject *i = v != NULL ? PyNumber_Long(v) : NULL;
    Py_XDECREF(v);
    return i;
}

static PyObject *tensor_index(PyObject *self) {
    const ef_tensor *t = &((tensor_object *)self)->t;
    if (t->flags & EF_TENSOR_SYMBOLIC)
        return PyErr_Format(PyExc_TypeError, "a symbolic tensor cannot be used as a Python index");
    if (t->rank != 0)
        return PyErr_Format(PyExc_TypeError,
                            "only integer scalar arrays can be converted to a scalar index");
    PyObject *v = item_of(self, "index");
    if (v != NULL && (!PyIndex_Check(v) || PyBool_Check(v))) {
        PyErr_Format(PyExc_AttributeError, "a tensor of %s has no '__index__'",
                     ef_dtype_name((ef_dtype)t->dtype));
        Py_CLEAR(v);
    }
    PyObject *i = v != NULL ? PyNumber_Index(v) : NULL;
    Py_XDECREF(v);
    return i;
}

static int tensor_bool(PyObject *self) {
    const ef_tensor *t = &((tensor_object *)self)->t;
    if (t->flags & EF_TENSOR_SYMBOLIC) {
        no_value("Using a symbolic `tf.Tensor` as a Python `bool` is not allowed: AutoGraph "
                 "did not convert this function. Try decorating it directly with @tf.function.");
        return -1;
    }
    if ((t = value_of(self)) == NULL) return -1;
    if (ef_tensor_count(t) == 0) return 0;
    if (ef_tensor_count(t) != 1) {
        PyErr_SetString(PyExc_ValueError,
                        "The truth value of an array with more than one element is ambiguous. Use "
                        "a.any() or a.all()");
        return -1;
    }
    PyObject *v = tensor_item(t, 0);
    int yes = v != NULL ? PyObject_IsTrue(v) : -1;
    Py_XDECREF(v);
    return yes;
}

static Py_ssize_t tensor_length(PyObject *self) {
    const ef_tensor *t = &((tensor_object *)self)->t;
    if (t->flags & EF_TENSOR_SYMBOLIC) {
        PyErr_SetString(PyExc_TypeError,
                        "len is not well defined for a symbolic Tensor. Please "
                        "call `x.shape` rather than `len(x)` for shape information.");
        return -1;
    }
    if (t->rank == 0) {
        PyErr_SetString(PyExc_TypeError, "Scalar tensor has no `len()`");
        return -1;
    }
    return (Py_ssize_t)t->dim[0];
}

static PyObject *tensor_numpy(PyObject *self, PyObject *unused) {
    (void)unused;
    return value_of(self) == NULL ? NULL : tensor_to_array((tensor_object *)self, ARRAY_OWN);
}

static const char *const format_of[EF_DTYPES] = {
    [EF_F32] = "f", [EF_F64] = "d",  [EF_I32] = "i",  [EF_U8] = "B",    [EF_I16] = "h",
    [EF_I8] = "b",  [EF_I64] = "l",  [EF_BOOL] = "?", [EF_U16] = "H",   [EF_F16] = "e",
    [EF_U32] = "I", [EF_U64] = "L",  [EF_C64] = "Zf", [EF_C128] = "Zd", [EF_QI8] = "b",
    [EF_QU8] = "B", [EF_QI16] = "h", [EF_QU16] = "H", [EF_QI32] = "i"};

/* Binds the arguments of __array__; those that are not given keep their values. */
static int array_arguments(PyObject *const *args, Py_ssize_t n, PyObject *names, PyObject **dtype,
                           PyObject **copy) {
    if (n > 0) *dtype = args[0];
    if (n > 1) *copy = args[1];
    for (Py_ssize_t k = 0; names != NULL && k < PyTuple_GET_SIZE(names); k++) {
        PyObject *name = PyTuple_GET_ITEM(names, k);
        if (PyUnicode_CompareWithASCIIString(name, "dtype") == 0)
            *dtype = args[n + k];
        else if (PyUnicode_CompareWithASCIIString(name, "copy") == 0)
            *copy = args[n + k];
        else
            return (void)PyErr_Format(PyExc_TypeError,
                                      "__array__() got an unexpected keyword argument '%U'", name),
                   -1;
    }
    return 0;
}

/* Converts an array to `dtype`; `copy` means what it does in numpy 2. Takes `a` over. */
static PyObject *array_as(PyObject *a, PyObject *dtype, PyObject *copy) {
    static PyObject *asarray;
    if (a == NULL) return NULL;
    if (asarray == NULL) {
        PyObject *np = PyImport_ImportModule("numpy");
        if (np != NULL) asarray = attr_get(np, "asarray");
        Py_XDECREF(np);
    }
    PyObject *b = NULL, *given = copy == Py_False ? PyDict_New() : NULL;
    PyObject *two = PyTuple_Pack(2, a, dtype);
    if (given != NULL && PyDict_SetItemString(given, "copy", copy) < 0) Py_CLEAR(two);
    if (asarray != NULL && two != NULL) b = PyObject_Call(asarray, two, given);
    Py_XDECREF(two);
    Py_XDECREF(given);
    Py_DECREF(a);
    return b;
}

static PyObject *tensor_array(PyObject *self, PyObject *const *args, Py_ssize_t n,
                              PyObject *names) {
    PyObject *dtype = Py_None, *copy = Py_None;
    if (array_arguments(args, n, names, &dtype, &copy) < 0) return NULL;
    const ef_tensor *t = &((tensor_object *)self)->t;
    if (dtype == Py_None && t->dtype == EF_STRING && t->rank == 0)
        dtype = (PyObject *)&PyBaseObject_Type; /* numpy would make fixed-width bytes */
    if (t->flags & EF_TENSOR_SYMBOLIC)
        return PyErr_Format(PyExc_NotImplementedError,
                            "Cannot convert a symbolic tf.Tensor to a numpy array: it has no value "
                            "while a graph is being built.");
    if (value_of(self) == NULL) return NULL;
    PyObject *a =
        tensor_to_array((tensor_object *)self, copy == Py_False ? ARRAY_READ_ONLY : ARRAY_OWN);
    /* For rank 0 this may be a numpy scalar and no array: numpy reads it by the buffer protocol. */
    return a != NULL && dtype != Py_None ? array_as(a, dtype, copy) : a;
}

static PyObject *tensor_repr(PyObject *self) {
    return PyObject_CallFunctionObjArgs(hooks.repr, self, NULL);
}
static PyObject *tensor_str(PyObject *self) {
    return PyObject_CallFunctionObjArgs(hooks.str, self, NULL);
}

static Py_hash_t tensor_hash(PyObject *self) {
    int node, index;
    ef_graph *g = ef_tensor_graph(&((tensor_object *)self)->t, &node, &index);
    if (g != NULL && !ef_graph_is_function(g)) /* == compares identities there, see compare_equal */
        return (Py_hash_t)(((uintptr_t)g >> 4) * 31 + (unsigned)node * 8191u + (unsigned)index) >>
               1;
    PyErr_SetString(PyExc_TypeError, "Tensor is unhashable. Instead, use tensor.ref() as the key.");
    return -1;
}

/* ---- iteration: rows ------------------------------------------------------------------------- */

static PyObject *tensor_iter(PyObject *self) {
    const ef_tensor *t = &((tensor_object *)self)->t;
    if (t->flags & EF_TENSOR_SYMBOLIC)
        return PyObject_CallFunctionObjArgs(hooks.iterate, self, NULL);
    if (t->rank == 0) return PyErr_Format(PyExc_TypeError, "Cannot iterate over a scalar tensor.");
    return PySeqIter_New(self);
}

/* ---- buffer protocol ------------------------------------------------------------------------- */

_Static_assert(sizeof(long) == 8, "numpy's int64 is a long");

static int tensor_getbuffer(PyObject *self, Py_buffer *view, int flags) {
    const ef_tensor *t = value_of(self);
    const void *data;
    if (t == NULL || tensor_materialize(t, &data) < 0) return -1;
    const char *format = format_of[t->dtype];
    if (format == NULL || (flags & PyBUF_WRITABLE) == PyBUF_WRITABLE) {
        bool number =
            t->dtype == EF_BF16 || t->dtype >= EF_F8E5M2; /* numpy's own error for these */
        PyErr_Format(number ? PyExc_ValueError : PyExc_BufferError,
                     "a tensor of %s has no %sbuffer", ef_dtype_name((ef_dtype)t->dtype),
                     format == NULL ? "" : "writable ");
        return -1;
    }
    Py_ssize_t *dims = PyMem_Malloc(sizeof *dims * (2 * EF_MAX_RANK));
    if (dims == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    Py_ssize_t step = (Py_ssize_t)ef_dtype_size((ef_dtype)t->dtype);
    *view = (Py_buffer){.buf = (void *)data,
                        .obj = Py_NewRef(self),
                        .len = (Py_ssize_t)ef_tensor_bytes(t),
                        .itemsize = step,
                        .readonly = 1,
                        .ndim = t->rank,
                        .format = (flags & PyBUF_FORMAT) ? (char *)format : NULL,
                        .internal = dims};
    for (int d = t->rank - 1; d >= 0; d--) {
        dims[d] = (Py_ssize_t)t->dim[d];
        dims[EF_MAX_RANK + d] = step;
        step *= (Py_ssize_t)t->dim[d];
    }
    view->shape = (flags & PyBUF_ND) ? dims : NULL;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? dims + EF_MAX_RANK : NULL;
    return 0;
}

static void tensor_releasebuffer(PyObject *self, Py_buffer *view) {
    (void)self;
    PyMem_Free(view->internal);
}

/* ---- the types ------------------------------------------------------------------------------- */

static PyMethodDef tensor_methods[] = {
    {"_numpy", tensor_numpy, METH_NOARGS, NULL},
    {"__array__", (PyCFunction)(void (*)(void))tensor_array, METH_FASTCALL | METH_KEYWORDS, NULL},
    {NULL, NULL, 0, NULL}};
static PyType_Slot core_slots[] = {
    {Py_tp_doc, "The base class of tensors and of classes that behave like them."}, {0, NULL}};
static PyType_Spec core_spec = {"tensorflow.python.types.core.Tensor", 0, 0,
                                Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, core_slots};
/* Repeated in each type: a type that is created from a spec does not inherit these unchanged. */
#define LIFE                                                              \
    {Py_tp_dealloc, tensor_dealloc}, {Py_tp_traverse, tensor_traverse}, { \
        Py_tp_clear, tensor_clear                                         \
    }
static PyType_Slot sub_slots[] = {LIFE, {0, NULL}};
static PyType_Slot eager_slots[] = {LIFE,
                                    {Py_nb_index, tensor_index},
                                    {Py_nb_int, tensor_int},
                                    {Py_nb_float, tensor_float},
                                    {0, NULL}};
enum { FLAGS = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC };
static PyType_Spec eager_spec = {"tensorflow.python.framework.ops.EagerTensor",
                                 sizeof(tensor_object), 0, FLAGS, eager_slots};
static PyType_Spec symbolic_spec = {"tensorflow.python.framework.ops.SymbolicTensor",
                                    sizeof(tensor_object), 0, FLAGS, sub_slots};

PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base, const char *name) {
    PyObject *bases = base != NULL ? PyTuple_Pack(1, base) : NULL;
    PyObject *t = PyType_FromSpecWithBases(spec, bases);
    Py_XDECREF(bases);
    if (t == NULL || PyModule_AddObjectRef(module, name, t) < 0) return NULL;
    return (PyTypeObject *)t;
}

int tensor_init(PyObject *module) {
    PyType_Slot own[] = {{Py_tp_dealloc, tensor_dealloc},
                         {Py_tp_traverse, tensor_traverse},
                         {Py_tp_clear, tensor_clear},
                         {Py_tp_setattro, tensor_setattro},
                         {Py_tp_getattro, PyObject_GenericGetAttr},
                         {Py_tp_new, tensor_new},
                         {Py_tp_getset, tensor_getset},
                         {Py_tp_members, tensor_members},
                         {Py_tp_methods, tensor_methods},
                         {Py_tp_repr, tensor_repr},
                         {Py_tp_str, tensor_str},
                         {Py_tp_hash, tensor_hash},
                         {Py_tp_iter, tensor_iter},
                         {Py_tp_richcompare, tensor_compare},
                         {Py_mp_subscript, tensor_subscript},
                         {Py_sq_item, tensor_item_at},
                         {Py_mp_length, tensor_length},
                         {Py_sq_length, tensor_length}, /* for reversed() */
                         {Py_bf_getbuffer, tensor_getbuffer},
                         {Py_bf_releasebuffer, tensor_releasebuffer},
                         {Py_nb_bool, tensor_bool},
                         {0, NULL}};
    PyType_Slot all[64];
    int n = 0;
    for (int k = 0; own[k].slot != 0; k++) all[n++] = own[k];
    for (int k = 0; number_slots[k].slot != 0; k++) all[n++] = number_slots[k];
    all[n] = (PyType_Slot){0, NULL};
    PyType_Spec spec = {"tensorflow.python.framework.tensor.Tensor", sizeof(tensor_object), 0,
                        FLAGS, all};
    core_type = add_type(module, &core_spec, NULL, "CoreTensor");
    tensor_type = core_type != NULL ? add_type(module, &spec, core_type, "Tensor") : NULL;
    if (tensor_type == NULL) return -1;
    eager_type = add_type(module, &eager_spec, tensor_type, "EagerTensor");
    symbolic_type = add_type(module, &symbolic_spec, tensor_type, "SymbolicTensor");
    if (eager_type == NULL || symbolic_type == NULL) return -1;
    symbolic_type->tp_name = "SymbolicTensor"; /* its name in TensorFlow's messages */
    return numpy_init();
}
