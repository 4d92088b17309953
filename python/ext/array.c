/* numpy: the only file that includes its headers. An array that becomes a tensor is copied, since
 * the user may change it later. A tensor that becomes an array is copied too, unless nobody else
 * can ever read its memory again: then the array takes that memory over. */
#include "profile.h"
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <numpy/arrayscalars.h>
#include <structmember.h>

enum {
    WORTH_KEEPING = 4096, /* bytes: copying less is faster than keeping the tensor alive */
    LONG_COPY = 1 << 20   /* bytes: a longer copy runs without the GIL */
};
enum { WORTH_AN_EVENT = 1 << 18 }; /* bytes: only copies of at least this size post an event */

static int npy_of[EF_DTYPES]; /* numpy's type number by dtype; -1: none */
static bool narrow_loaded;

int array_init(void) {
    import_array1(-1);
    for (int k = 0; k < EF_DTYPES; k++) npy_of[k] = -1;
    static const struct {
        ef_dtype t;
        int npy;
    } pair[] = {{EF_F16, NPY_HALF},
                {EF_F32, NPY_FLOAT},
                {EF_F64, NPY_DOUBLE},
                {EF_I8, NPY_INT8},
                {EF_I16, NPY_INT16},
                {EF_I32, NPY_INT32},
                {EF_I64, NPY_INT64},
                {EF_U8, NPY_UINT8},
                {EF_U16, NPY_UINT16},
                {EF_U32, NPY_UINT32},
                {EF_U64, NPY_UINT64},
                {EF_BOOL, NPY_BOOL},
                {EF_C64, NPY_CFLOAT},
                {EF_C128, NPY_CDOUBLE},
                {EF_STRING, NPY_OBJECT},
                /* quantized numbers come out as the integers they are stored in */
                {EF_QI8, NPY_INT8},
                {EF_QI16, NPY_INT16},
                {EF_QI32, NPY_INT32},
                {EF_QU8, NPY_UINT8},
                {EF_QU16, NPY_UINT16}};
    for (size_t k = 0; k < sizeof pair / sizeof *pair; k++) npy_of[pair[k].t] = pair[k].npy;
    return 0;
}

/* bfloat16 and the types of 8 bits and fewer are those of the package ml_dtypes, which is imported
 * when one of them is first needed. A type that an old version lacks keeps the number -1. */
static const ef_dtype ml_types[] = {
    EF_BF16, EF_F8E5M2, EF_F8E4M3FN, EF_F8E4M3FNUZ, EF_F8E4M3B11FNUZ, EF_F8E5M2FNUZ,
    EF_I4,   EF_U4,     EF_I2,       EF_U2,         EF_F4E2M1FN};
enum { ML_TYPES = sizeof ml_types / sizeof *ml_types };

static int load_narrow(void) {
    if (narrow_loaded) return 0;
    PyObject *m = PyImport_ImportModule("ml_dtypes");
    if (m == NULL) return -1;
    int bad = 0;
    for (int k = 0; k < ML_TYPES && bad == 0; k++) {
        PyObject *type = attr_get(m, ef_dtype_name(ml_types[k]));
        PyArray_Descr *d = NULL;
        if (type != NULL && PyArray_DescrConverter(type, &d))
            npy_of[ml_types[k]] = d->type_num;
        else if (type == NULL && PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Clear();
        else
            bad = -1;
        Py_XDECREF(d);
        Py_XDECREF(type);
    }
    Py_DECREF(m);
    narrow_loaded = bad == 0;
    return bad;
}

/* numpy's type number for a dtype; -1: it has none, or an exception is set. */
static int number_of(ef_dtype t) {
    if (npy_of[t] < 0 && load_narrow() < 0) return -1;
    return npy_of[t];
}

/* TensorFlow's quantized types are structures of one field, which has the type's name. */
static ef_dtype quantized_of(const PyArray_Descr *d) {
    PyObject *names = PyDataType_NAMES(d);
    if (names == NULL || !PyTuple_Check(names) || PyTuple_GET_SIZE(names) != 1) return EF_NO_DTYPE;
    const char *name = PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, 0));
    ef_dtype t = name != NULL ? ef_dtype_find(name) : EF_NO_DTYPE;
    PyErr_Clear();
    bool quantized = t == EF_QI8 || t == EF_QU8 || t == EF_QI16 || t == EF_QU16 || t == EF_QI32;
    return quantized && (size_t)PyDataType_ELSIZE(d) == ef_dtype_size(t) ? t : EF_NO_DTYPE;
}

int is_array(PyObject *o) { return PyArray_Check(o) || PyArray_CheckScalar(o); }

static ef_dtype dtype_of_descr(const PyArray_Descr *d) {
    switch (d->type_num) {
    case NPY_HALF: return EF_F16;
    case NPY_FLOAT: return EF_F32;
    case NPY_DOUBLE: return EF_F64;
    case NPY_CFLOAT: return EF_C64;
    case NPY_CDOUBLE: return EF_C128;
    case NPY_BOOL: return EF_BOOL;
    case NPY_OBJECT:
    case NPY_STRING:
    case NPY_UNICODE: return EF_STRING;
    default: break;
    }
    if (PyTypeNum_ISINTEGER(d->type_num)) {
        npy_intp size = PyDataType_ELSIZE(d);
        int is_unsigned = PyTypeNum_ISUNSIGNED(d->type_num);
        switch (size) {
        case 1: return is_unsigned ? EF_U8 : EF_I8;
        case 2: return is_unsigned ? EF_U16 : EF_I16;
        case 4: return is_unsigned ? EF_U32 : EF_I32;
        case 8: return is_unsigned ? EF_U64 : EF_I64;
        default: return EF_NO_DTYPE;
        }
    }
    if (d->type_num == NPY_VOID) return quantized_of(d);
    if (d->type_num >= NPY_USERDEF && load_narrow() == 0)
        for (int k = 0; k < ML_TYPES; k++)
            if (npy_of[ml_types[k]] == d->type_num) return ml_types[k];
    PyErr_Clear();
    return EF_NO_DTYPE;
}

ef_dtype array_dtype(PyObject *o) {
    if (PyArray_Check(o)) return dtype_of_descr(PyArray_DESCR((PyArrayObject *)o));
    PyArray_Descr *d = PyArray_DescrFromScalar(o);
    if (d == NULL) {
        PyErr_Clear();
        return EF_NO_DTYPE;
    }
    ef_dtype t = dtype_of_descr(d);
    Py_DECREF(d);
    return t;
}

bool array_is_long_double(PyObject *o) {
    if (PyArray_Check(o)) return PyArray_TYPE((PyArrayObject *)o) == NPY_LONGDOUBLE;
    return PyArray_IsScalar(o, LongDouble);
}

int array_dims(PyObject *o, int64_t *dims) {
    if (!PyArray_Check(o)) return 0;
    int rank = PyArray_NDIM((PyArrayObject *)o);
    if (rank > EF_MAX_RANK) return -1;
    for (int d = 0; d < rank; d++) dims[d] = PyArray_DIM((PyArrayObject *)o, d);
    return rank;
}

/* ---- in -------------------------------------------------------------------------------------- */

static int put_text(ef_tensor *t, int64_t i, PyObject *o) {
    char *at;
    Py_ssize_t n;
    if (PyBytes_Check(o)) {
        if (PyBytes_AsStringAndSize(o, &at, &n) < 0) return -1;
        return check(ef_string_put(t, i, at, (size_t)n), NULL);
    }
    if (PyUnicode_Check(o)) {
        const char *u = PyUnicode_AsUTF8AndSize(o, &n);
        return u == NULL ? -1 : check(ef_string_put(t, i, u, (size_t)n), NULL);
    }
    PyErr_Format(recording() ? PyExc_TypeError : PyExc_ValueError,
                 "Failed to convert a NumPy array to a Tensor (Unsupported object type %s).",
                 Py_TYPE(o)->tp_name);
    return -1;
}

static int strings_in(PyArrayObject *a, ef_tensor *out) {
    ef_shape s = {.rank = PyArray_NDIM(a)};
    for (int d = 0; d < s.rank; d++) s.dim[d] = PyArray_DIM(a, d);
    if (check(ef_tensor_new(EF_STRING, &s, out), NULL) < 0) return -1;
    PyObject *flat = PyArray_Ravel(a, NPY_CORDER);
    int bad = flat == NULL ? -1 : 0;
    npy_intp n = bad == 0 ? PyArray_SIZE((PyArrayObject *)flat) : 0;
    for (npy_intp i = 0; i < n && bad == 0; i++) {
        PyObject *o =
            PyArray_GETITEM((PyArrayObject *)flat, PyArray_GETPTR1((PyArrayObject *)flat, i));
        bad = o == NULL ? -1 : put_text(out, i, o);
        Py_XDECREF(o);
    }
    Py_XDECREF(flat);
    if (bad != 0) ef_tensor_release(out);
    return bad;
}

/* Raises: the array cannot become a tensor at all, or none of dtype `want`. */
static int no_tensor(PyArrayObject *a, ef_dtype want) {
    bool objects = PyArray_TYPE(a) == NPY_OBJECT && PyArray_SIZE(a) > 0;
    if (want == EF_VARIANT || (want == EF_RESOURCE && objects)) {
        PyErr_Format(PyExc_TypeError, "an array cannot become a tensor of dtype %s",
                     ef_dtype_name(want));
        return -1;
    }
    PyErr_Format(recording() ? PyExc_TypeError : PyExc_ValueError,
                 "Failed to convert a NumPy array to a Tensor (Unsupported numpy type %R).",
                 (PyObject *)PyArray_DESCR(a));
    return -1;
}

/* Copies the elements of `a`, cast as numpy's astype does: a fraction, a sign or an imaginary part
 * may be lost, dates become numbers, and objects are converted by their own __float__ or __int__.
 */
static int cast_in(PyArrayObject *a, ef_dtype want, ef_tensor *out) {
    uint64_t began = PyArray_NBYTES(a) >= WORTH_AN_EVENT ? ef_event_clock() : 0;
    int npy = number_of(want);
    if (npy < 0) return PyErr_Occurred() ? -1 : no_tensor(a, want);
    PyObject *field = NULL; /* the integers inside an array of a quantized type */
    if (PyArray_TYPE(a) == NPY_VOID && quantized_of(PyArray_DESCR(a)) != EF_NO_DTYPE) {
        field = PyObject_GetItem((PyObject *)a,
                                 PyTuple_GET_ITEM(PyDataType_NAMES(PyArray_DESCR(a)), 0));
        if (field == NULL) return -1;
    }
    PyArrayObject *c = (PyArrayObject *)PyArray_FROM_OTF(
        field != NULL ? field : (PyObject *)a, npy,
        NPY_ARRAY_C_CONTIGUOUS | NPY_ARRAY_ALIGNED | NPY_ARRAY_NOTSWAPPED | NPY_ARRAY_FORCECAST);
    Py_XDECREF(field);
    if (c == NULL) return -1;
    ef_shape s = {.rank = PyArray_NDIM(c)};
    for (int d = 0; d < s.rank; d++) s.dim[d] = PyArray_DIM(c, d);
    int bad = check(ef_tensor_from(want, &s, PyArray_DATA(c), out), NULL);
    Py_DECREF(c);
    if (began != 0 && bad == 0 && PyArray_TYPE(a) != npy)
        profile_post(EF_EVENT_CAST, EF_REASON_NONE, began, 0, (int64_t)ef_tensor_bytes(out));
    else if (began != 0 && bad == 0)
        profile_post(EF_EVENT_COPY, EF_REASON_NONE, began, 0, (int64_t)ef_tensor_bytes(out));
    return bad;
}

int array_to_tensor(PyObject *o, ef_dtype want, ef_tensor *out) {
    PyArrayObject *a = (PyArrayObject *)PyArray_FromAny(o, NULL, 0, 0, 0, NULL); /* any rank */
    if (a == NULL) return -1;
    int bad = -1;
    if (want == EF_NO_DTYPE) want = dtype_of_descr(PyArray_DESCR(a));
    if (PyArray_NDIM(a) > EF_MAX_RANK)
        PyErr_Format(PyExc_ValueError, "an array of rank %d: the highest rank is %d",
                     PyArray_NDIM(a), EF_MAX_RANK);
    else if (want == EF_NO_DTYPE)
        no_tensor(a, want);
    else
        bad = want == EF_STRING ? strings_in(a, out) : cast_in(a, want, out);
    Py_DECREF(a);
    return bad;
}

int floats_to_tensor(const ef_tensor *floats, ef_dtype want, ef_tensor *out) {
    const void *data;
    npy_intp dim[EF_MAX_RANK];
    if (tensor_materialize(floats, &data) < 0) return -1;
    for (int d = 0; d < floats->rank; d++) dim[d] = floats->dim[d];
    PyObject *a = PyArray_SimpleNewFromData(floats->rank, dim, NPY_FLOAT, (void *)data);
    int bad = a != NULL ? cast_in((PyArrayObject *)a, want, out) : -1;
    Py_XDECREF(a);
    return bad;
}

/* ---- out ------------------------------------------------------------------------------------- */

static PyObject *strings_out(const ef_tensor *t) {
    npy_intp dim[EF_MAX_RANK];
    for (int d = 0; d < t->rank; d++) dim[d] = t->dim[d];
    PyObject *a = PyArray_SimpleNew(t->rank, dim, NPY_OBJECT);
    npy_intp n = a != NULL ? PyArray_SIZE((PyArrayObject *)a) : 0;
    PyObject **at = a != NULL ? PyArray_DATA((PyArrayObject *)a) : NULL;
    for (npy_intp i = 0; i < n; i++) {
        const char *s;
        size_t len;
        PyObject *b = NULL;
        if (check(ef_string_at(t, i, &s, &len), NULL) == 0)
            b = PyBytes_FromStringAndSize(s, (Py_ssize_t)len);
        if (b == NULL) {
            Py_DECREF(a);
            return NULL;
        }
        Py_XSETREF(at[i], b);
    }
    return a;
}

/* numpy raises a ValueError if the product of the non-zero dimensions overflows, even for an array
 * without elements. */
static PyObject *no_array(void) {
    if (!PyErr_ExceptionMatches(PyExc_ValueError)) return NULL;
    PyErr_Clear();
    invalid(NULL, PyUnicode_FromString("the sizes of the tensor are too large for a NumPy array"));
    return NULL;
}

static PyObject *array_copy(const ef_tensor *t, const void *data, PyArray_Descr *descr,
                            npy_intp *dim) {
    PyObject *a = PyArray_SimpleNewFromDescr(t->rank, dim, descr);
    if (a == NULL) return no_array();
    size_t bytes = ef_tensor_bytes(t);
    void *to = PyArray_DATA((PyArrayObject *)a);
    uint64_t began = bytes >= WORTH_AN_EVENT ? ef_event_clock() : 0;
    PyThreadState *state = bytes > LONG_COPY ? away() : NULL;
    memcpy(to, data, bytes);
    if (state != NULL) back(state);
    if (began != 0) profile_post(EF_EVENT_COPY, EF_REASON_NONE, began, 0, (int64_t)bytes);
    return a;
}

/* An array over the tensor's memory; it keeps the tensor alive. */
static PyObject *array_over(tensor_object *o, const void *data, PyArray_Descr *descr, npy_intp *dim,
                            int flags) {
    PyObject *a =
        PyArray_NewFromDescr(&PyArray_Type, descr, o->t.rank, dim, NULL, (void *)data, flags, NULL);
    if (a == NULL) return no_array();
    if (PyArray_SetBaseObject((PyArrayObject *)a, Py_NewRef((PyObject *)o)) < 0) Py_CLEAR(a);
    return a;
}

/* float32 scalars, such as a loss, are what training loops read most: they are made without numpy's
 * descriptor. */
static PyObject *float_scalar(float value) {
    PyObject *o = PyArrayScalar_New(Float);
    if (o != NULL) PyArrayScalar_ASSIGN(o, Float, value);
    return o;
}

static PyObject *other_to_array(tensor_object *o, array_use use);

PyObject *tensor_to_array(tensor_object *o, array_use use) {
    const ef_tensor *t = &o->t;
    if (t->dtype == EF_F32 && t->rank == 0 && t->data == (const void *)t->small)
        return float_scalar(*(const float *)t->data);
    return other_to_array(o, use);
}

static PyObject *other_to_array(tensor_object *o, array_use use) {
    const void *data;
    if (tensor_materialize(&o->t, &data) < 0) return NULL;
    const ef_tensor *t = &o->t;
    if (t->dtype == EF_F32 && t->rank == 0) return float_scalar(*(const float *)data);
    if (t->dtype == EF_STRING) {
        if (t->rank > 0) return strings_out(t);
        return tensor_item(t, 0);
    }
    int npy = number_of((ef_dtype)t->dtype);
    if (npy < 0) {
        if (!PyErr_Occurred())
            invalid(NULL,
                    PyUnicode_FromFormat("Cannot convert a Tensor of dtype %s to a NumPy array.",
                                         ef_dtype_name((ef_dtype)t->dtype)));
        return NULL;
    }
    PyArray_Descr *descr = PyArray_DescrFromType(npy);
    if (t->rank == 0) {
        PyObject *scalar = PyArray_Scalar((void *)data, descr, NULL);
        Py_DECREF(descr);
        return scalar;
    }
    npy_intp dim[EF_MAX_RANK];
    for (int d = 0; d < t->rank; d++) dim[d] = t->dim[d];
    if (use == ARRAY_READ_ONLY)
        return array_over(o, data, descr, dim, NPY_ARRAY_CARRAY & ~NPY_ARRAY_WRITEABLE);
    if (use == ARRAY_LAST_USE && ef_tensor_bytes(t) >= WORTH_KEEPING && ef_tensor_sole(t))
        return array_over(o, data, descr, dim, NPY_ARRAY_CARRAY);
    return array_copy(t, data, descr, dim);
}

/* ---- the method numpy ------------------------------------------------------------------------ */

static PyObject *numpy_own(PyObject *self, PyObject *unused) {
    (void)unused;
    return tensor_to_array((tensor_object *)self, ARRAY_OWN);
}
static PyMethodDef numpy_def = {"numpy", numpy_own, METH_NOARGS,
                                "The value as a numpy array of your own, or a numpy scalar for "
                                "rank 0."};

/* In `f(x).numpy()` the interpreter calls the method descriptor with a tensor that only its stack
 * references, so nobody can read that tensor afterwards and the array may take its memory.
 * `m = f(x).numpy` and `Tensor.numpy` may be called again: method_get makes other objects for them,
 * which always copy. */
typedef struct numpy_method {
    PyObject_HEAD vectorcallfunc call;
} numpy_method;

static bool is_temporary(PyObject *o) {
#if PY_VERSION_HEX >= 0x030e0000
    return PyUnstable_Object_IsUniqueReferencedTemporary(o);
#else
    return Py_REFCNT(o) == 1;
#endif
}

static PyObject *method_call(PyObject *self, PyObject *const *args, size_t n, PyObject *names) {
    (void)self;
    if (PyVectorcall_NARGS(n) != 1 || (names != NULL && PyTuple_GET_SIZE(names) > 0) ||
        !(IS_EAGER(args[0]) || PyObject_TypeCheck(args[0], eager_type)))
        return PyErr_Format(PyExc_TypeError,
                            "Tensor.numpy() takes an eager tensor and no argument");
    return tensor_to_array((tensor_object *)args[0],
                           is_temporary(args[0]) ? ARRAY_LAST_USE : ARRAY_OWN);
}

static PyObject *method_get(PyObject *self, PyObject *o, PyObject *type) {
    (void)self;
    if (o != NULL && o != Py_None) return PyCFunction_New(&numpy_def, o);
    return PyDescr_NewMethod(type != NULL ? (PyTypeObject *)type : eager_type, &numpy_def);
}

static PyMemberDef method_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(numpy_method, call), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot method_slots[] = {{Py_tp_call, PyVectorcall_Call},
                                     {Py_tp_descr_get, method_get},
                                     {Py_tp_members, method_members},
                                     {0, NULL}};
/* Immutable: the interpreter then keeps the method in its inline cache instead of looking it up. */
static PyType_Spec method_spec = {"evenflow._core.numpy_method", sizeof(numpy_method), 0,
                                  Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                                      Py_TPFLAGS_METHOD_DESCRIPTOR | Py_TPFLAGS_IMMUTABLETYPE,
                                  method_slots};

int numpy_init(void) {
    PyTypeObject *type = (PyTypeObject *)PyType_FromSpec(&method_spec);
    numpy_method *m = type != NULL ? PyObject_New(numpy_method, type) : NULL;
    if (m == NULL) return -1;
    m->call = method_call;
    int bad = PyObject_SetAttrString((PyObject *)eager_type, "numpy", (PyObject *)m);
    Py_DECREF(m);
    Py_DECREF(type);
    return bad;
}

PyObject *tensor_item(const ef_tensor *t, int64_t i) {
    const void *data; /* not t->data, which is NULL in a deferred tensor */
    if (tensor_materialize(t, &data) < 0) return NULL;
    const char *p = data;
    switch (t->dtype) {
    case EF_F32: return PyFloat_FromDouble((double)((const float *)data)[i]);
    case EF_F64: return PyFloat_FromDouble(((const double *)data)[i]);
    case EF_BOOL: return PyBool_FromLong(p[i]);
    case EF_QI8:
    case EF_I8: return PyLong_FromLong(((const int8_t *)data)[i]);
    case EF_QI16:
    case EF_I16: return PyLong_FromLong(((const int16_t *)data)[i]);
    case EF_QI32:
    case EF_I32: return PyLong_FromLong(((const int32_t *)data)[i]);
    case EF_I64: return PyLong_FromLongLong(((const int64_t *)data)[i]);
    case EF_QU8:
    case EF_U8: return PyLong_FromLong(((const uint8_t *)data)[i]);
    case EF_QU16:
    case EF_U16: return PyLong_FromLong(((const uint16_t *)data)[i]);
    case EF_U32: return PyLong_FromUnsignedLong(((const uint32_t *)data)[i]);
    case EF_U64: return PyLong_FromUnsignedLongLong(((const uint64_t *)data)[i]);
    case EF_STRING: {
        const char *s;
        size_t n;
        if (check(ef_string_at(t, i, &s, &n), NULL) < 0) return NULL;
        return PyBytes_FromStringAndSize(s, (Py_ssize_t)n);
    }
    default: break;
    }
    int npy = number_of((ef_dtype)t->dtype);
    if (npy < 0) return PyErr_Format(PyExc_TypeError, "a tensor of this dtype has no Python value");
    PyArray_Descr *d = PyArray_DescrFromType(npy);
    PyObject *s =
        PyArray_Scalar((void *)(p + (size_t)i * ef_dtype_size((ef_dtype)t->dtype)), d, NULL);
    Py_DECREF(d);
    if (s == NULL) return NULL;
    PyObject *item = attr_call(s, "item", NULL);
    Py_DECREF(s);
    return item;
}
