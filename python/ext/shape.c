/* The base class of tf.TensorShape: its sizes, and what models read of shapes in every call. The
 * other methods are written in Python. */
#include "core.h"
#include <structmember.h>

typedef struct shape_value {
    PyObject_HEAD PyObject *sizes; /* a tuple of int and None; None if the rank is unknown */
    PyObject *of;                  /* the tensor whose sizes a trace shows; NULL or None: none */
    PyObject *axes;                /* for each size, which axis of that tensor it is */
} shape_value;

static PyTypeObject *base_type;
static PyTypeObject *shape_class; /* TensorShape, once Python has registered it */
static PyObject *item_class;      /* Dimension while items are objects of TensorFlow 1, or NULL */

static bool traced(const shape_value *s) { return s->of != NULL && s->of != Py_None; }

static bool ranked(const shape_value *s) { return s->sizes != NULL && PyTuple_Check(s->sizes); }

/* Notifies the trace in progress that Python reads the size at position k. */
static int notify(const shape_value *s, Py_ssize_t k) {
    if (!IS_TENSOR(s->of) || s->axes == NULL || !PyTuple_Check(s->axes) ||
        k >= PyTuple_GET_SIZE(s->axes)) {
        PyErr_SetString(PyExc_RuntimeError, "a shape does not fit its tensor");
        return -1;
    }
    long axis = PyLong_AsLong(PyTuple_GET_ITEM(s->axes, k));
    if (axis == -1 && PyErr_Occurred()) return -1;
    ef_tensor_size_read(&((tensor_object *)s->of)->t, (int)axis);
    return 0;
}

/* The sizes, all of which Python reads; borrowed. */
static PyObject *read_sizes(const shape_value *s) {
    for (Py_ssize_t k = 0; traced(s) && ranked(s) && k < PyTuple_GET_SIZE(s->sizes); k++)
        if (notify(s, k) < 0) return NULL;
    return s->sizes != NULL ? s->sizes : Py_None;
}

static PyObject *get_dims(PyObject *o, void *unused) {
    (void)unused;
    return Py_XNewRef(read_sizes((shape_value *)o));
}

static PyObject *get_rank(PyObject *o, void *unused) {
    (void)unused;
    const shape_value *s = (shape_value *)o;
    if (!ranked(s)) Py_RETURN_NONE;
    return PyLong_FromSsize_t(PyTuple_GET_SIZE(s->sizes));
}

static Py_ssize_t shape_length(PyObject *o) {
    const shape_value *s = (shape_value *)o;
    if (ranked(s)) return PyTuple_GET_SIZE(s->sizes);
    PyErr_SetString(PyExc_ValueError, "Cannot take the length of shape with unknown rank.");
    return -1;
}

static int shape_bool(PyObject *o) { return ranked((shape_value *)o); }

static PyObject *item_of(PyObject *size) {
    return item_class != NULL ? PyObject_CallOneArg(item_class, size) : Py_NewRef(size);
}

static PyObject *as_list(PyObject *o, PyObject *unused) {
    (void)unused;
    PyObject *dims = read_sizes((shape_value *)o);
    if (dims == NULL) return NULL;
    if (ranked((shape_value *)o)) return PySequence_List(dims);
    PyErr_SetString(PyExc_ValueError, "as_list() is not defined on an unknown TensorShape.");
    return NULL;
}

static PyObject *shape_iter(PyObject *o) {
    PyObject *dims = read_sizes((shape_value *)o);
    if (dims == NULL) return NULL;
    if (!ranked((shape_value *)o)) {
        PyErr_SetString(PyExc_ValueError, "Cannot iterate over a shape with unknown rank.");
        return NULL;
    }
    if (item_class == NULL) return PyObject_GetIter(dims);
    Py_ssize_t n = PyTuple_GET_SIZE(dims);
    PyObject *items = PyTuple_New(n);
    for (Py_ssize_t k = 0; items != NULL && k < n; k++) {
        PyObject *item = item_of(PyTuple_GET_ITEM(dims, k));
        if (item == NULL)
            Py_CLEAR(items);
        else
            PyTuple_SET_ITEM(items, k, item);
    }
    PyObject *iterator = items != NULL ? PyObject_GetIter(items) : NULL;
    Py_XDECREF(items);
    return iterator;
}

/* A shape of the registered class; takes the references. */
static PyObject *make(PyTypeObject *type, PyObject *sizes, PyObject *of, PyObject *axes) {
    shape_value *s = (shape_value *)type->tp_alloc(type, 0);
    if (s == NULL) {
        Py_XDECREF(sizes);
        Py_XDECREF(of);
        Py_XDECREF(axes);
        return NULL;
    }
    s->sizes = sizes;
    s->of = of;
    s->axes = axes;
    return (PyObject *)s;
}

static PyObject *shape_subscript(PyObject *o, PyObject *key) {
    const shape_value *s = (shape_value *)o;
    if (!ranked(s)) return attr_call(o, "_unknown_item", key);
    if (PyIndex_Check(key)) {
        Py_ssize_t k = PyNumber_AsSsize_t(key, PyExc_IndexError), n = PyTuple_GET_SIZE(s->sizes);
        if (k == -1 && PyErr_Occurred()) return NULL;
        if (k < 0) k += n;
        if (k < 0 || k >= n) {
            PyErr_SetString(PyExc_IndexError, "tuple index out of range");
            return NULL;
        }
        if (traced(s) && notify(s, k) < 0) return NULL;
        return item_of(PyTuple_GET_ITEM(s->sizes, k));
    }
    PyObject *sizes = PyObject_GetItem(s->sizes, key); /* a slice, or it raises */
    if (sizes == NULL) return NULL;
    PyObject *axes = NULL;
    if (traced(s) && (axes = PyObject_GetItem(s->axes, key)) == NULL) {
        Py_DECREF(sizes);
        return NULL;
    }
    return make(shape_class != NULL ? shape_class : base_type, sizes,
                axes != NULL ? Py_NewRef(s->of) : NULL, axes);
}

static PyObject *shape_item(PyObject *o, Py_ssize_t k) {
    PyObject *key = PyLong_FromSsize_t(k);
    PyObject *item = key != NULL ? shape_subscript(o, key) : NULL;
    Py_XDECREF(key);
    return item;
}

static PyObject *all_axes(PyObject *dims) {
    Py_ssize_t n = PyTuple_GET_SIZE(dims);
    PyObject *axes = PyTuple_New(n);
    for (Py_ssize_t k = 0; axes != NULL && k < n; k++) {
        PyObject *axis = PyLong_FromSsize_t(k);
        if (axis == NULL)
            Py_CLEAR(axes);
        else
            PyTuple_SET_ITEM(axes, k, axis);
    }
    return axes;
}

/* A shape with valid sizes; takes over dims. of: the tensor whose sizes a trace shows, or NULL. */
static PyObject *from_dims(PyTypeObject *type, PyObject *dims, PyObject *of) {
    PyObject *axes = NULL;
    if (dims == NULL) return NULL;
    if (of != NULL && PyTuple_Check(dims) && (axes = all_axes(dims)) == NULL) {
        Py_DECREF(dims);
        return NULL;
    }
    return make(type, dims, axes != NULL ? Py_NewRef(of) : NULL, axes);
}

PyObject *shape_object(const ef_shape *s, PyObject *of) {
    return from_dims(shape_class, dims_tuple(s), of);
}

static PyObject *class_from_dims(PyObject *type, PyObject *const *args, Py_ssize_t n) {
    if (n < 1 || n > 2 || (args[0] != Py_None && !PyTuple_Check(args[0])))
        return PyErr_Format(PyExc_TypeError, "_from_dims takes a tuple or None, and a tensor");
    PyObject *of = n > 1 && args[1] != Py_None ? args[1] : NULL;
    return from_dims((PyTypeObject *)type, Py_NewRef(args[0]), of);
}

/* The sizes of a list or tuple that needs no conversion. NULL: it does, or an exception is set. */
static PyObject *plain_sizes(PyObject *list) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(list);
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *size = PySequence_Fast_GET_ITEM(list, k);
        if (size != Py_None && !(PyLong_CheckExact(size) && Py_SIZE(size) >= 0)) return NULL;
    }
    return PySequence_Tuple(list);
}

static int shape_new(PyObject *o, PyObject *args, PyObject *kwargs) {
    static char *known[] = {"dims", NULL};
    shape_value *self = (shape_value *)o;
    PyObject *dims, *sizes = NULL, *of = NULL, *axes = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:TensorShape", known, &dims)) return -1;
    if (PyObject_TypeCheck(dims, base_type)) {
        const shape_value *other = (shape_value *)dims;
        sizes = Py_XNewRef(other->sizes);
        of = Py_XNewRef(other->of);
        axes = Py_XNewRef(other->axes);
    } else {
        if (PyTuple_CheckExact(dims) || PyList_CheckExact(dims)) sizes = plain_sizes(dims);
        if (sizes == NULL && !PyErr_Occurred()) sizes = attr_call(o, "_parse", dims);
        if (sizes == NULL) return -1;
    }
    Py_XSETREF(self->sizes, sizes);
    Py_XSETREF(self->of, of);
    Py_XSETREF(self->axes, axes);
    return 0;
}

static int shape_traverse(PyObject *o, visitproc visit, void *arg) {
    shape_value *s = (shape_value *)o;
    Py_VISIT(Py_TYPE(o));
    Py_VISIT(s->sizes);
    Py_VISIT(s->of);
    Py_VISIT(s->axes);
    return 0;
}

static int shape_clear(PyObject *o) {
    shape_value *s = (shape_value *)o;
    Py_CLEAR(s->sizes);
    Py_CLEAR(s->of);
    Py_CLEAR(s->axes);
    return 0;
}

static void shape_dealloc(PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    shape_clear(o);
    type->tp_free(o);
    Py_DECREF(type);
}

static PyMethodDef methods[] = {
    {"_from_dims", (PyCFunction)(void (*)(void))class_from_dims, METH_FASTCALL | METH_CLASS,
     "A shape from a valid tuple of int and None (or None), without checks. The second argument is "
     "the tensor whose sizes a trace shows."},
    {"as_list", as_list, METH_NOARGS,
     "as_list($self, /)\n--\n\n"
     "The sizes as a list of int/None. Raises ValueError if the rank is unknown."},
    {NULL, NULL, 0, NULL}};
static PyMemberDef members[] = {{"_sizes", T_OBJECT, offsetof(shape_value, sizes), 0, NULL},
                                {"_of", T_OBJECT, offsetof(shape_value, of), 0, NULL},
                                {"_axes", T_OBJECT, offsetof(shape_value, axes), 0, NULL},
                                {NULL, 0, 0, 0, NULL}};
static PyGetSetDef getset[] = {
    {"_dims", get_dims, NULL, "The sizes. A trace is notified that they were read.", NULL},
    {"rank", get_rank, NULL, "The number of dimensions, or None if it is unknown.", NULL},
    {"ndims", get_rank, NULL, "The number of dimensions, or None if it is unknown.", NULL},
    {NULL, NULL, NULL, NULL, NULL}};

/* register_shape(TensorShape): the class of the shapes that C makes */
static PyObject *register_shape(PyObject *module, PyObject *o) {
    (void)module;
    if (!PyType_Check(o) || !PyType_IsSubtype((PyTypeObject *)o, base_type))
        return PyErr_Format(PyExc_TypeError, "%R is no class of shapes", o);
    Py_XSETREF(shape_class, (PyTypeObject *)Py_NewRef(o));
    Py_RETURN_NONE;
}

/* shape_items(Dimension or None): None makes items int or None again */
static PyObject *shape_items(PyObject *module, PyObject *o) {
    (void)module;
    Py_XSETREF(item_class, o != Py_None ? Py_NewRef(o) : NULL);
    Py_RETURN_NONE;
}

static PyMethodDef functions[] = {
    {"register_shape", register_shape, METH_O, "Registers the class of the shapes that C makes."},
    {"shape_items", shape_items, METH_O, "Sets the class of the items of shapes; None: int."},
    {NULL, NULL, 0, NULL}};

int shape_init(PyObject *module) {
    PyType_Slot slots[] = {
        {Py_tp_doc, "ShapeBase(dims)\n--\n\nThe base of TensorShape: its sizes."},
        {Py_tp_init, shape_new},
        {Py_tp_dealloc, shape_dealloc},
        {Py_tp_traverse, shape_traverse},
        {Py_tp_clear, shape_clear},
        {Py_tp_iter, shape_iter},
        {Py_tp_methods, methods},
        {Py_tp_members, members},
        {Py_tp_getset, getset},
        {Py_mp_length, shape_length},
        {Py_mp_subscript, shape_subscript},
        {Py_sq_length, shape_length},
        {Py_sq_item, shape_item}, /* it is a sequence, for numpy's functions */
        {Py_nb_bool, shape_bool},
        {0, NULL}};
    PyType_Spec spec = {"evenflow._core.ShapeBase", sizeof(shape_value), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    base_type = add_type(module, &spec, NULL, "ShapeBase");
    if (base_type == NULL) return -1;
    return PyModule_AddFunctions(module, functions);
}
