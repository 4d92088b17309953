/* Converts Python values to tensors. Numbers, strings and nested lists of them are read here;
 * anything else (objects with __tf_tensor__, lists with tensors in them) goes to the convert hook
 * in Python. */
#include "profile.h"
#include <math.h>

/* ---- what a value is ------------------------------------------------------------------------- */

/* Kinds of elements, as bits. The dtype of a nested list depends on the kind of its first element
 * and on the set of all kinds in it. */
enum {
    BOOL = 1,
    TRUTH = 2,  /* numpy's bool, which does not count as a number */
    INT = 4,    /* fits int32 */
    LONG = 8,   /* fits int64 */
    VAST = 16,  /* does not fit int64 */
    FLOAT = 32, /* Python's, or numpy's float32 */
    HALF = 64,
    DOUBLE = 128, /* numpy's float64 */
    COMPLEX = 256,
    TEXT = 512,
    OTHER = 1024,
    INTEGERS = INT | LONG | VAST,
    REALS = BOOL | INTEGERS | FLOAT | HALF | DOUBLE
};

static int int_kind(PyObject *o) {
    int over;
    long long v = PyLong_AsLongLongAndOverflow(o, &over);
    if (over != 0) return VAST;
    return v > INT32_MAX || v < INT32_MIN ? LONG : INT;
}

/* The kind of an array or numpy scalar; 0: it is empty. */
static int array_kind(PyObject *o) {
    switch (array_dtype(o)) {
    case EF_BOOL: return TRUTH;
    case EF_F16: return HALF;
    case EF_F32: return FLOAT;
    case EF_F64: return DOUBLE;
    case EF_C64:
    case EF_C128: return COMPLEX;
    case EF_I8:
    case EF_U8:
    case EF_I16:
    case EF_U16:
    case EF_I32: return INT;
    case EF_U32:
    case EF_I64:
    case EF_U64: break;
    default: return array_is_long_double(o) ? FLOAT : OTHER;
    }
    PyObject *end[2] = {attr_call(o, "min", NULL), attr_call(o, "max", NULL)};
    int kind = 0;
    for (int k = 0; k < 2; k++) {
        PyObject *v = end[k] != NULL ? PyNumber_Index(end[k]) : NULL;
        kind |= v != NULL ? int_kind(v) : OTHER;
        Py_XDECREF(v);
        Py_XDECREF(end[k]);
    }
    PyErr_Clear();
    return kind;
}

static bool is_number(PyObject *o) { /* a Python number, the most frequent element */
    PyTypeObject *t = Py_TYPE(o);
    return t == &PyFloat_Type || t == &PyLong_Type || t == &PyBool_Type;
}

static int kind_of(PyObject *o) {
    PyTypeObject *t = Py_TYPE(o);
    if (t == &PyFloat_Type) return FLOAT;
    if (t == &PyBool_Type) return BOOL;
    if (t == &PyLong_Type) return int_kind(o);
    if (PyUnicode_Check(o) || PyBytes_Check(o)) return TEXT;
    if (t == &PyComplex_Type) return COMPLEX;
    if (is_array(o)) return array_kind(o);
    if (IS_TENSOR(o)) return OTHER;
    if (PyFloat_Check(o)) return FLOAT;
    if (PyLong_Check(o)) return int_kind(o);
    return OTHER;
}

typedef struct scan {
    ef_shape shape;
    int first, seen; /* the kind of the first element, and the set of all kinds */
    bool beyond;     /* some number overflows float32 */
    bool vast;       /* some integer overflows int64, and only integers precede it */
    bool ragged;
    bool arrays; /* some elements are numpy arrays or scalars */
} scan;

static bool is_sequence(PyObject *o) { return PyList_Check(o) || PyTuple_Check(o); }

/* Notes that a list at this depth has n items; false: this makes the nested list ragged, or there
 * is nothing below to read. */
static bool agree(scan *s, int depth, int64_t n) {
    if (depth >= EF_MAX_RANK) {
        s->seen |= OTHER;
        return false;
    }
    if (s->shape.rank >= 0 && depth >= s->shape.rank) s->ragged = true;
    if (s->shape.dim[depth] == -1) s->shape.dim[depth] = n;
    if (s->shape.dim[depth] != n) s->ragged = true;
    if (n == 0 && s->shape.rank < 0) s->shape.rank = depth + 1;
    return n > 0 && !s->ragged;
}

/* Walks a nested list; depth 0 is the value itself. An array inside counts as nested lists, and
 * below an empty list no dimension is known. */
static void look(PyObject *o, int depth, scan *s) {
    if (is_sequence(o)) {
        Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
        if (!agree(s, depth, n)) return;
        for (Py_ssize_t k = 0; k < n && !(s->seen & OTHER) && !s->ragged; k++)
            look(PySequence_Fast_GET_ITEM(o, k), depth + 1, s);
        return;
    }
    int kind = kind_of(o);
    if (!is_number(o)) {
        int64_t dims[EF_MAX_RANK];
        int rank = array_dims(o, dims);
        if (rank < 0) kind = OTHER;
        s->arrays = s->arrays || is_array(o);
        for (int d = 0; d < rank; d++)
            if (!agree(s, depth++, dims[d])) return;
    }
    if (kind == FLOAT && PyFloat_Check(o)) {
        double v = PyFloat_AS_DOUBLE(o);
        s->beyond = s->beyond || (isinf((float)v) && !isinf(v));
    }
    if (s->seen == 0) s->first = kind;
    if (kind & VAST && !(s->seen & ~INTEGERS)) s->vast = true;
    s->seen |= kind;
    if (s->shape.rank < 0) s->shape.rank = depth;
    if (depth != s->shape.rank) s->ragged = true;
}

static int tensor_dims(PyObject *o, int64_t *dims) {
    const ef_tensor *t = &((tensor_object *)o)->t;
    for (int d = 0; d < t->rank; d++) dims[d] = t->dim[d];
    return t->rank;
}

/* Reads the dimensions along the first items only, down to an empty list or array; true if there is
 * one. Then the tensor has no elements, and the other items are not looked at, as in TensorFlow. */
static bool nothing_in(PyObject *o, scan *s) {
    int depth = 0;
    bool empty = false;
    for (; is_sequence(o) && !empty && depth < EF_MAX_RANK; depth++) {
        Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
        s->shape.dim[depth] = n;
        empty = n == 0;
        if (!empty) o = PySequence_Fast_GET_ITEM(o, 0);
    }
    int64_t dims[EF_MAX_RANK];
    int rank = !empty && is_array(o) ? array_dims(o, dims) : 0;
    if (!empty && IS_EAGER(o)) rank = tensor_dims(o, dims);
    for (int d = 0; d < rank && depth < EF_MAX_RANK && !empty; d++) {
        s->shape.dim[depth++] = dims[d];
        empty = dims[d] == 0;
    }
    s->shape.rank = empty ? depth : -1;
    return empty;
}

/* Whether a nested list holds a tensor or a variable anywhere: then it is packed by an op, even if
 * its first item is empty. tf.constant (PLAIN) does not look for them. No tensor has more axes than
 * EF_MAX_RANK, and a list may contain itself. */
static bool holds_tensor(PyObject *o, int depth) {
    if (!is_sequence(o)) return IS_TENSOR(o) || IS_VARIABLE(o);
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o) && depth < EF_MAX_RANK; k++)
        if (holds_tensor(PySequence_Fast_GET_ITEM(o, k), depth + 1)) return true;
    return false;
}

static void scan_value(PyObject *o, int hint, scan *s) {
    *s = (scan){.shape = {.rank = -1}};
    if (is_sequence(o) && !recording() && nothing_in(o, s) &&
        (hint == PLAIN || !holds_tensor(o, 0)))
        return;
    *s = (scan){.shape = {.rank = -1}};
    for (int d = 0; d < EF_MAX_RANK; d++) s->shape.dim[d] = -1;
    look(o, 0, s);
    for (int d = 0; d < s->shape.rank; d++)
        if (s->shape.dim[d] < 0) s->ragged = true;
}

enum {
    FLOAT_SET = 1 << EF_F16 | 1 << EF_BF16 | 1 << EF_F32 | 1 << EF_F64,
    COMPLEX_SET = 1 << EF_C64 | 1 << EF_C128,
    INT_SET = 1 << EF_I8 | 1 << EF_I16 | 1 << EF_I32 | 1 << EF_I64 | 1 << EF_U8 | 1 << EF_U16 |
              1 << EF_U32 | 1 << EF_U64,
    STORED_INT_SET = 1 << EF_QI8 | 1 << EF_QU8 | 1 << EF_QI16 | 1 << EF_QU16 | 1 << EF_QI32 |
                     1 << EF_I4 | 1 << EF_U4, /* storage-only dtypes to which integers are cast, */
    STORED_FLOAT_SET = 1 << EF_F8E5M2 | 1 << EF_F8E4M3FN /* and those to which floats are */
};

static unsigned bit_of(ef_dtype t) { return t < 31 ? 1u << t : 0; } /* 0: in none of these sets */

/* The kinds of elements that a dtype accepts directly. For the other dtypes the value first gets
 * its natural dtype, which is then cast: this is why True can become an int32 but not an int8. */
static int taken_by(ef_dtype t) {
    switch (t) {
    case EF_F16:
    case EF_F32:
    case EF_F64: return REALS;
    case EF_I32: return BOOL | INT;
    case EF_I64: return BOOL | INT | LONG;
    case EF_U64: return BOOL | INTEGERS;
    case EF_C128: return REALS | COMPLEX;
    case EF_BOOL: return BOOL | TRUTH;
    case EF_STRING: return TEXT;
    default: return 0;
    }
}

/* The dtype of a value for which none was requested: that of its first element, but floats among
 * integers make it float32. EF_NO_DTYPE: its kinds cannot be in one tensor. */
static ef_dtype natural(const scan *s) {
    int seen = s->seen;
    if (seen == 0) return EF_F32;
    if (s->first & (BOOL | TRUTH)) return seen & ~(BOOL | TRUTH) ? EF_NO_DTYPE : EF_BOOL;
    if (s->first == TEXT) return seen != TEXT ? EF_NO_DTYPE : EF_STRING;
    if (s->first == COMPLEX) return seen & ~(REALS | COMPLEX) ? EF_NO_DTYPE : EF_C128;
    if (seen & ~REALS || s->vast) return EF_NO_DTYPE;
    if (s->first == HALF) return EF_F16;
    if (s->first == DOUBLE) return EF_F64;
    if (seen & (FLOAT | HALF | DOUBLE)) return EF_F32;
    if (seen & VAST) return EF_NO_DTYPE;
    return seen & LONG ? EF_I64 : EF_I32;
}

/* Whether a value whose natural dtype is `have` may be cast to `want`. */
static bool casts(ef_dtype have, ef_dtype want) {
    unsigned h = bit_of(have), w = bit_of(want);
    if (w & STORED_FLOAT_SET) return (h & FLOAT_SET) != 0;
    if (w & (INT_SET | STORED_INT_SET)) return (h & INT_SET) != 0;
    if (w & FLOAT_SET) return (h & (INT_SET | FLOAT_SET)) != 0;
    if (w & COMPLEX_SET) return (h & (INT_SET | FLOAT_SET | COMPLEX_SET)) != 0;
    return have == want;
}

/* ---- writing elements ------------------------------------------------------------------------ */

static uint16_t half_bits(double v) { /* rounds to float first and then to float16, like numpy */
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    uint32_t sign = u >> 16 & 0x8000u, body = u & 0x7FFFFFFFu;
    if (body > 0x7F800000u) return (uint16_t)(sign | 0x7E00u);
    if (body >= 0x477FF000u) return (uint16_t)(sign | 0x7C00u);
    if (body < 0x33000001u) return (uint16_t)sign;
    if (body < 0x38800000u) { /* subnormal */
        uint32_t shift = 126 - (body >> 23), m = (body & 0x7FFFFFu) | 0x800000u;
        uint32_t h = m >> shift, rest = m & ((1u << shift) - 1), mid = 1u << (shift - 1);
        return (uint16_t)(sign | (h + (rest > mid || (rest == mid && (h & 1)))));
    }
    uint32_t h = (body - 0x38000000u) >> 13, rest = body & 0x1FFFu;
    return (uint16_t)(sign | (h + (rest > 0x1000u || (rest == 0x1000u && (h & 1)))));
}

static uint16_t brain_bits(double v) {
    float f = (float)v;
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    if ((u & 0x7FFFFFFFu) > 0x7F800000u) return (uint16_t)(u >> 16 | 0x40u);
    return (uint16_t)((u + 0x7FFFu + (u >> 16 & 1u)) >> 16);
}

static int out_of_range(PyObject *o, ef_dtype t) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError,
                 "Can't convert Python sequence with out-of-range integer to Tensor: %R does not "
                 "fit %s.",
                 o, ef_dtype_name(t));
    return -1;
}

static int put_int(PyObject *o, ef_dtype t, void *at, int64_t i) {
    if (t == EF_U64) {
        unsigned long long u = PyLong_AsUnsignedLongLong(o);
        if (u == (unsigned long long)-1 && PyErr_Occurred()) {
            PyErr_Format(PyExc_OverflowError, "%R does not fit uint64", o);
            return -1;
        }
        ((uint64_t *)at)[i] = u;
        return 0;
    }
    int over;
    long long v = PyLong_AsLongLongAndOverflow(o, &over);
    if (v == -1 && over == 0 && PyErr_Occurred()) return -1;
    if (over != 0) return out_of_range(o, t);
    switch (t) { /* narrower types keep the low bits, as numpy's casts do */
    case EF_QI8:
    case EF_I8: ((int8_t *)at)[i] = (int8_t)v; break;
    case EF_QU8:
    case EF_U8: ((uint8_t *)at)[i] = (uint8_t)v; break;
    case EF_QI16:
    case EF_I16: ((int16_t *)at)[i] = (int16_t)v; break;
    case EF_QU16:
    case EF_U16: ((uint16_t *)at)[i] = (uint16_t)v; break;
    case EF_QI32:
    case EF_I32: ((int32_t *)at)[i] = (int32_t)v; break;
    case EF_U32: ((uint32_t *)at)[i] = (uint32_t)v; break;
    case EF_I4:
    case EF_U4: ((uint8_t *)at)[i] = (uint8_t)(v & 15); break; /* the low 4 bits of a byte each */
    default: ((int64_t *)at)[i] = v; break;
    }
    return 0;
}

static int put(PyObject *o, ef_tensor *t, void *at, int64_t i) {
    ef_dtype d = (ef_dtype)t->dtype;
    if (d == EF_STRING) {
        Py_ssize_t n;
        const char *s = PyUnicode_Check(o) ? PyUnicode_AsUTF8AndSize(o, &n)
                                           : (n = PyBytes_GET_SIZE(o), PyBytes_AS_STRING(o));
        return s == NULL ? -1 : check(ef_string_put(t, i, s, (size_t)n), NULL);
    }
    if (d == EF_BOOL) {
        ((bool *)at)[i] = PyObject_IsTrue(o) == 1;
        return 0;
    }
    if (bit_of(d) & (INT_SET | STORED_INT_SET)) return put_int(o, d, at, i);
    if (bit_of(d) & COMPLEX_SET) {
        Py_complex c = PyComplex_AsCComplex(o);
        if (c.real == -1.0 && PyErr_Occurred()) return out_of_range(o, d);
        if (d == EF_C64) {
            ((float *)at)[2 * i] = (float)c.real;
            ((float *)at)[2 * i + 1] = (float)c.imag;
        } else {
            ((double *)at)[2 * i] = c.real;
            ((double *)at)[2 * i + 1] = c.imag;
        }
        return 0;
    }
    double v = PyFloat_AsDouble(o);
    if (v == -1.0 && PyErr_Occurred()) return out_of_range(o, d);
    switch (d) {
    case EF_F32: ((float *)at)[i] = (float)v; break;
    case EF_F64: ((double *)at)[i] = v; break;
    case EF_F16: ((uint16_t *)at)[i] = half_bits(v); break;
    default: ((uint16_t *)at)[i] = brain_bits(v); break;
    }
    return 0;
}

/* A user's __float__ or __index__, and other threads, may change a list while it is read. */
static int changed_meanwhile(void) {
    PyErr_SetString(PyExc_ValueError, "Can't convert a Python sequence to Tensor: it was changed "
                                      "while it was read");
    return -1;
}

typedef struct filling {
    ef_tensor *t;
    char *at;
    int64_t i, n; /* elements written, and elements that there is room for */
} filling;

/* Copies all elements of an array inside a list. */
static int put_array(PyObject *o, filling *f) {
    ef_tensor a;
    const ef_dtype type = (ef_dtype)f->t->dtype;
    if (array_to_tensor(o, type, &a) < 0) return -1;
    const void *data;
    int bad = ef_tensor_count(&a) > f->n - f->i ? changed_meanwhile()
                                                : check(ef_tensor_data(&a, &data), NULL);
    if (bad == 0) memcpy(f->at + (size_t)f->i * ef_dtype_size(type), data, ef_tensor_bytes(&a));
    f->i += ef_tensor_count(&a);
    ef_tensor_release(&a);
    return bad;
}

static int fill(PyObject *o, filling *f, int depth) {
    const bool alone = is_number(o);
    if (!alone && is_array(o) && f->t->dtype != EF_STRING) return put_array(o, f);
    if (alone || !is_sequence(o))
        return f->i < f->n ? put(o, f->t, f->at, f->i++) : changed_meanwhile();
    if (depth > EF_MAX_RANK) return changed_meanwhile();
    int bad = 0;
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o) && bad == 0; k++) {
        PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(o, k));
        bad = fill(item, f, depth + 1);
        Py_DECREF(item);
    }
    return bad;
}

static ef_dtype refuse_value(const scan *s) {
    PyErr_SetString(PyExc_ValueError,
                    s->ragged   ? "Can't convert non-rectangular Python sequence to Tensor."
                    : s->beyond ? "Can't convert Python sequence with out-of-range float to Tensor."
                    : s->seen & VAST
                        ? "Can't convert Python sequence with out-of-range integer to Tensor."
                        : "Can't convert Python sequence with mixed types to Tensor.");
    return EF_NO_DTYPE;
}

/* The dtype of the tensor for a value; want: the requested dtype, or EF_NO_DTYPE. Returns
 * EF_NO_DTYPE with an exception set if there is none. */
static ef_dtype choose_dtype(PyObject *o, const scan *s, ef_dtype want) {
    if (s->ragged) return refuse_value(s);
    if (want == EF_VARIANT && recording()) { /* a graph has no variant constants, even empty ones */
        PyErr_Format(PyExc_TypeError, "%R cannot be a constant of dtype variant", o);
        return EF_NO_DTYPE;
    }
    if (want != EF_NO_DTYPE && !(s->seen & ~taken_by(want))) return want;
    ef_dtype own = natural(s);
    if (own == EF_NO_DTYPE || (want == EF_NO_DTYPE && own == EF_F32 && s->beyond))
        return refuse_value(s);
    if (want == EF_NO_DTYPE || s->seen == 0) return want == EF_NO_DTYPE ? own : want;
    if (casts(own, want)) return want;
    PyErr_Format(PyExc_TypeError, "Cannot convert %R to EagerTensor of dtype %s", o,
                 want == EF_F32 ? "float" : ef_dtype_name(want));
    return EF_NO_DTYPE;
}

enum { LONG_LIST = 256 }; /* converting at least this many elements posts an event */

static int from_plain(PyObject *o, const scan *s, ef_dtype want, int hint, ef_tensor *out) {
    ef_dtype t = choose_dtype(o, s, want);
    if (t == EF_NO_DTYPE && want != EF_NO_DTYPE && hint == HINT && !recording()) {
        /* the dtype was only preferred: take the value's natural one */
        PyErr_Clear();
        t = choose_dtype(o, s, EF_NO_DTYPE);
    }
    if (t != EF_NO_DTYPE && bit_of(t) & STORED_FLOAT_SET && s->seen != 0) { /* cast from float32 */
        ef_tensor floats;
        if (from_plain(o, s, EF_F32, MUST, &floats) < 0) return -1;
        int bad = floats_to_tensor(&floats, t, out);
        ef_tensor_release(&floats);
        return bad;
    }
    if (t == EF_NO_DTYPE || check(ef_tensor_new(t, &s->shape, out), NULL) < 0) return -1;
    filling f = {.t = out, .at = out->data, .n = ef_tensor_count(out)};
    if (f.n == 0) return 0;
    uint64_t began = f.n >= LONG_LIST ? ef_event_clock() : 0;
    int bad = fill(o, &f, 0);
    if (bad == 0 && f.i < f.n) bad = changed_meanwhile();
    if (bad == 0) {
        if (began != 0) profile_post(EF_EVENT_CONVERT, EF_REASON_NONE, began, 0, f.n);
        return 0;
    }
    ef_tensor_release(out);
    return -1;
}

/* ---- operands -------------------------------------------------------------------------------- */

ef_dtype own_dtype(PyObject *o) {
    if (IS_EAGER(o) || IS_SYMBOLIC(o)) return (ef_dtype)((tensor_object *)o)->t.dtype;
    if (IS_VARIABLE(o)) return ((variable_object *)o)->dtype;
    if (is_array(o)) return array_dtype(o);
    return EF_NO_DTYPE;
}

PyObject *convert_by_method(PyObject *o, PyObject *dtype) {
    static PyObject *name;
    if (name == NULL && (name = PyUnicode_InternFromString("__tf_tensor__")) == NULL) return NULL;
    if (!PyType_HasFeature(Py_TYPE(o), Py_TPFLAGS_HEAPTYPE) || PyList_Check(o) || PyTuple_Check(o))
        return NULL;
    PyObject *method = PyObject_GetAttr((PyObject *)Py_TYPE(o), name);
    if (method == NULL) return clear_error(), NULL;
    PyObject *made = PyObject_CallFunctionObjArgs(method, o, dtype, NULL);
    Py_DECREF(method);
    if (made == NULL || IS_TENSOR(made)) return made;
    ef_dtype t = dtype != Py_None ? dtype_of(dtype) : EF_NO_DTYPE;
    PyObject *again = convert(made, t, MUST);
    Py_DECREF(made);
    return again;
}

PyObject *convert_already(PyObject *x, PyObject *dtype) {
    if (IS_EAGER(x) || IS_SYMBOLIC(x))
        return dtype_is((ef_dtype)((tensor_object *)x)->t.dtype, dtype) ? Py_NewRef(x) : NULL;
    if (!PyObject_TypeCheck(x, core_type) || IS_TENSOR(x) || IS_VARIABLE(x)) return NULL;
    PyObject *made = convert_by_method(x, Py_None);
    if (made != NULL && !dtype_is((ef_dtype)((tensor_object *)made)->t.dtype, dtype))
        Py_CLEAR(made);
    return made;
}

static int from_hook(PyObject *o, ef_dtype dtype, int hint, operand *out) {
    PyObject *d = dtype != EF_NO_DTYPE ? dtype_object(dtype) : Py_NewRef(Py_None), *t = NULL;
    if (d == NULL) return -1;
    if (hint == MUST || (hint == HINT && dtype == EF_NO_DTYPE)) t = convert_by_method(o, d);
    if (t == NULL && !PyErr_Occurred()) {
        PyObject *how = hint == HINT ? Py_True : hint == PLAIN ? Py_None : Py_False;
        t = PyObject_CallFunctionObjArgs(hooks.convert, o, d, how, NULL);
    }
    Py_DECREF(d);
    if (t == NULL) return -1;
    if (!IS_TENSOR(t)) {
        PyErr_Format(PyExc_TypeError, "conversion of %R gave %R instead of a Tensor", Py_TYPE(o),
                     Py_TYPE(t));
        Py_DECREF(t);
        return -1;
    }
    out->keep = t;
    out->t = &((tensor_object *)t)->t;
    return 0;
}

int operand_from(PyObject *o, ef_dtype dtype, int hint, operand *out) {
    out->keep = NULL;
    out->own.dtype = 0;
    if (IS_EAGER(o) || IS_SYMBOLIC(o)) {
        out->t = tensor_used((tensor_object *)o);
        return 0;
    }
    out->t = &out->own;
    memset(&out->own, 0, sizeof out->own);
    if (PyFloat_CheckExact(o) && (dtype == EF_F32 || dtype == EF_NO_DTYPE)) { /* the usual number */
        float v = (float)PyFloat_AS_DOUBLE(o);
        if (dtype == EF_F32 || !isinf(v) || isinf(PyFloat_AS_DOUBLE(o)))
            return check(ef_tensor_from(EF_F32, NULL, &v, &out->own), NULL);
    }
    if (IS_VARIABLE(o)) return variable_read((variable_object *)o, &out->own);
    if (PyObject_TypeCheck(o, core_type)) return from_hook(o, dtype, hint, out);
    if (is_array(o)) {
        if (array_to_tensor(o, dtype, &out->own) == 0) return 0;
        if (hint != HINT || dtype == EF_NO_DTYPE) return -1;
        PyErr_Clear();
        return array_to_tensor(o, EF_NO_DTYPE, &out->own);
    }
    scan s;
    scan_value(o, hint, &s);
    bool loose = dtype == EF_NO_DTYPE || hint == HINT;
    bool numpys = recording() && (s.arrays || (loose && s.seen & VAST));
    bool opened = s.ragged && !recording(); /* items that are not lists may still be sequences */
    if (s.seen & OTHER || numpys || opened) return from_hook(o, dtype, hint, out);
    if (from_plain(o, &s, dtype, hint, &out->own) == 0) return 0;
    if (!recording()) return -1;
    PyErr_Clear(); /* while tracing, TensorFlow converts by numpy's rules: the hook does */
    return from_hook(o, dtype, hint, out);
}

void operand_end(operand *o) {
    Py_CLEAR(o->keep);
    if (o->own.dtype != 0) ef_tensor_release(&o->own);
}

PyObject *convert(PyObject *o, ef_dtype dtype, int hint) {
    if (IS_TENSOR(o)) {
        ef_dtype have = (ef_dtype)((tensor_object *)o)->t.dtype;
        if (dtype != EF_NO_DTYPE && have != dtype && hint != HINT)
            return PyErr_Format(PyExc_ValueError,
                                "Tensor conversion requested dtype %s for Tensor with dtype %s: %R",
                                ef_dtype_name(dtype), ef_dtype_name(have), o);
        return Py_NewRef(o);
    }
    operand a;
    if (operand_from(o, dtype, hint, &a) < 0) return NULL;
    if (a.keep != NULL) {
        PyObject *t = a.keep;
        ef_dtype have = (ef_dtype)((tensor_object *)t)->t.dtype;
        if (dtype != EF_NO_DTYPE && have != dtype && hint != HINT) {
            PyErr_Format(PyExc_ValueError,
                         "Tensor conversion requested dtype %s for Tensor with dtype %s",
                         ef_dtype_name(dtype), ef_dtype_name(have));
            Py_CLEAR(t);
        }
        return t;
    }
    if (dtype != EF_NO_DTYPE && a.own.dtype != dtype && hint != HINT) { /* a variable */
        PyErr_Format(PyExc_ValueError,
                     "Tensor conversion requested dtype %s for Tensor with dtype %s",
                     ef_dtype_name(dtype), ef_dtype_name((ef_dtype)a.own.dtype));
        ef_tensor_release(&a.own);
        return NULL;
    }
    return tensor_wrap(&a.own);
}
