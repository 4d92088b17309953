/* Converts dtypes and shapes between Python and C, and the base class of tf.DType: its number, by
 * which dtypes are hashed and compared. The rest of the class is written in Python. */
#include "core.h"
#include <structmember.h>

typedef struct dtype_value {
    PyObject_HEAD long number; /* of TensorFlow's DataType enum */
} dtype_value;

static PyTypeObject *dtype_base;
static PyObject *dtype_words; /* names of dtypes -> DType */
static PyObject *str_enum;

static Py_hash_t dtype_hash(PyObject *o) { return ((dtype_value *)o)->number; }

static PyObject *dtype_compare(PyObject *a, PyObject *b, int how) {
    if (how != Py_EQ && how != Py_NE) Py_RETURN_NOTIMPLEMENTED;
    int same = a == b;
    if (!same && PyUnicode_CheckExact(b) && dtype_words != NULL) {
        same = PyDict_GetItemWithError(dtype_words, b) == a;
    } else if (!same && b != Py_None && Py_TYPE(a) != Py_TYPE(b)) {
        PyObject *means = attr_call(a, "_is_meant_by", b);
        same = means != NULL ? PyObject_IsTrue(means) : -1;
        Py_XDECREF(means);
    }
    if (same < 0 || PyErr_Occurred()) return NULL;
    return PyBool_FromLong(same == (how == Py_EQ));
}

static void dtype_dealloc(PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    type->tp_free(o);
    Py_DECREF(type);
}

static PyObject *register_dtype_words(PyObject *module, PyObject *dict) {
    (void)module;
    if (!PyDict_Check(dict)) return PyErr_Format(PyExc_TypeError, "the names of dtypes are a dict");
    Py_XSETREF(dtype_words, Py_NewRef(dict));
    Py_RETURN_NONE;
}

int dtype_init(PyObject *module) {
    static PyMemberDef members[] = {{"_enum", T_LONG, offsetof(dtype_value, number), 0, NULL},
                                    {NULL, 0, 0, 0, NULL}};
    static PyMethodDef functions[] = {
        {"register_dtype_words", register_dtype_words, METH_O, "Registers the names of dtypes."},
        {NULL, NULL, 0, NULL}};
    PyType_Slot slots[] = {{Py_tp_doc, "The base of DType: its number."},
                           {Py_tp_dealloc, dtype_dealloc},
                           {Py_tp_hash, dtype_hash},
                           {Py_tp_richcompare, dtype_compare},
                           {Py_tp_members, members},
                           {0, NULL}};
    PyType_Spec spec = {"evenflow._core.DTypeBase", sizeof(dtype_value), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
    if ((dtype_base = add_type(module, &spec, NULL, "DTypeBase")) == NULL) return -1;
    return PyModule_AddFunctions(module, functions);
}

/* Whether the tensor of an op has the dtype that `o` means: a DType or a name. */
bool dtype_is(ef_dtype t, PyObject *o) {
    if (PyUnicode_CheckExact(o) && dtype_words != NULL) o = PyDict_GetItem(dtype_words, o);
    return o != NULL && t < EF_DTYPES && o == hooks.dtype[t];
}

ef_dtype dtype_of(PyObject *o) {
    if (PyUnicode_Check(o)) {
        const char *name = PyUnicode_AsUTF8(o);
        ef_dtype t = name != NULL ? ef_dtype_find(name) : EF_NO_DTYPE;
        if (name == NULL || t != EF_NO_DTYPE) return t;
    }
    if (str_enum == NULL) str_enum = PyUnicode_InternFromString("_enum");
    PyObject *e = PyObject_GetAttr(o, str_enum);
    if (e != NULL) {
        long n = PyLong_AsLong(e);
        Py_DECREF(e);
        if (n > 100) n -= 100; /* the _ref dtypes of TensorFlow 1 graphs */
        if (n > 0 && n < EF_DTYPES && ef_dtype_size((ef_dtype)n) > 0) return (ef_dtype)n;
        PyErr_Format(PyExc_TypeError, "%R is a dtype that Evenflow does not support", o);
        return EF_NO_DTYPE;
    }
    PyErr_Clear();
    PyObject *known = PyObject_CallOneArg(hooks.as_dtype, o); /* a DType, or it raises */
    ef_dtype t = known != NULL ? dtype_of(known) : EF_NO_DTYPE;
    Py_XDECREF(known);
    return t;
}

PyObject *dtype_object(ef_dtype t) {
    PyObject *o = t < EF_DTYPES ? hooks.dtype[t] : NULL;
    if (o == NULL) return PyErr_Format(PyExc_RuntimeError, "dtype %d has no object", (int)t);
    return Py_NewRef(o);
}

PyObject *dims_tuple(const ef_shape *s) {
    if (s->rank < 0) Py_RETURN_NONE;
    PyObject *dims = PyTuple_New(s->rank);
    for (int d = 0; dims != NULL && d < s->rank; d++) {
        PyObject *o = s->dim[d] < 0 ? Py_NewRef(Py_None) : PyLong_FromLongLong(s->dim[d]);
        if (o == NULL)
            Py_CLEAR(dims);
        else
            PyTuple_SET_ITEM(dims, d, o);
    }
    return dims;
}

static int dim_from(PyObject *o, int64_t *out) {
    static PyObject *str_value;
    if (o == Py_None) {
        *out = EF_DIM_UNKNOWN;
        return 0;
    }
    if (!PyLong_Check(o) && !PyIndex_Check(o)) { /* a Dimension */
        if (str_value == NULL) str_value = PyUnicode_InternFromString("value");
        PyObject *v = PyObject_GetAttr(o, str_value);
        if (v == NULL) {
            PyErr_Format(PyExc_TypeError,
                         "Dimension value must be integer or None or have an "
                         "__index__ method, got value %R with type %R",
                         o, Py_TYPE(o));
            return -1;
        }
        int bad = v == o ? -1 : dim_from(v, out);
        Py_DECREF(v);
        return bad;
    }
    PyObject *i = PyNumber_Index(o);
    if (i == NULL) return -1;
    *out = PyLong_AsLongLong(i);
    Py_DECREF(i);
    if (*out == -1 && PyErr_Occurred()) return -1;
    if (*out < 0) {
        PyErr_Format(PyExc_ValueError, "Dimension %lld must be >= 0", (long long)*out);
        return -1;
    }
    return 0;
}

int shape_from(PyObject *o, ef_shape *out) {
    static PyObject *str_dims;
    if (str_dims == NULL) str_dims = PyUnicode_InternFromString("_dims");
    *out = (ef_shape){.rank = -1};
    if (o == Py_None) return 0;
    PyObject *dims = NULL, *held = NULL;
    if (PyTuple_Check(o) || PyList_Check(o)) {
        dims = o;
    } else if (PyLong_Check(o)) {
        out->rank = 1;
        return dim_from(o, &out->dim[0]);
    } else if ((held = PyObject_GetAttr(o, str_dims)) != NULL) {
        if (held == Py_None) {
            Py_DECREF(held);
            return 0;
        }
        dims = held;
    } else {
        PyErr_Clear();
        if ((held = PySequence_Tuple(o)) == NULL) return -1;
        dims = held;
    }
    PyObject *fast = PySequence_Fast(dims, "a shape is a sequence of sizes");
    Py_XDECREF(held);
    if (fast == NULL) return -1;
    Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
    int bad = 0;
    if (n > EF_MAX_RANK) {
        PyErr_Format(PyExc_ValueError, "a shape of rank %zd: the highest rank is %d", n,
                     EF_MAX_RANK);
        bad = -1;
    }
    out->rank = (int32_t)n;
    for (Py_ssize_t k = 0; k < n && bad == 0; k++)
        bad = dim_from(PySequence_Fast_GET_ITEM(fast, k), &out->dim[k]);
    Py_DECREF(fast);
    return bad;
}
