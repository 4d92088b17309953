/* Python values become tensors. Numbers, text and nested lists of them are read here; anything else
 * (objects with __tf_tensor__, lists with tensors in them) is the convert hook's work. */
#include "core.h"

/* ---- what a value is ----------------------------------------------------------------------------
 */

typedef enum leaf { NOTHING, BOOL, INT, LONG, FLOAT, COMPLEX, TEXT, OTHER } leaf;

static leaf leaf_of(PyObject *o) {
    PyTypeObject *t = Py_TYPE(o);
    if (t == &PyFloat_Type) return FLOAT;
    if (t == &PyBool_Type) return BOOL;
    if (t == &PyLong_Type) {
        int over;
        long long v = PyLong_AsLongLongAndOverflow(o, &over);
        return over != 0 || v > INT32_MAX || v < INT32_MIN ? LONG : INT;
    }
    if (PyUnicode_Check(o) || PyBytes_Check(o)) return is_array(o) ? OTHER : TEXT;
    if (t == &PyComplex_Type) return COMPLEX;
    if (is_array(o) || IS_TENSOR(o)) return OTHER;
    if (PyFloat_Check(o)) return FLOAT;
    if (PyLong_Check(o)) return INT;
    return OTHER;
}

typedef struct scan {
    ef_shape shape;
    leaf kind; /* the widest met */
    int other; /* something only the hook can convert */
    int mixed; /* text beside numbers, or bool beside numbers */
    int ragged;
} scan;

static leaf widen(scan *s, leaf a, leaf b) {
    if (a == NOTHING) return b;
    if (a == b) return a;
    if (a == TEXT || b == TEXT || a == BOOL || b == COMPLEX) s->mixed = 1; /* the first leads */
    return a > b ? a : b;
}

static int is_sequence(PyObject *o) {
    return PyList_CheckExact(o) || PyTuple_Check(o) || PyList_Check(o);
}

/* Walks a nest of lists; depth 0 is the value itself. */
static void look(PyObject *o, int depth, scan *s) {
    if (!is_sequence(o)) {
        leaf k = leaf_of(o);
        if (k == OTHER) {
            s->other = 1;
            return;
        }
        if (s->shape.rank < 0) s->shape.rank = depth;
        if (depth != s->shape.rank) s->ragged = 1;
        s->kind = widen(s, s->kind, k);
        return;
    }
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    if (depth >= EF_MAX_RANK) {
        s->other = 1;
        return;
    }
    if (s->shape.rank >= 0 && depth >= s->shape.rank) {
        s->ragged = 1;
        return;
    }
    if (s->shape.dim[depth] == -1) s->shape.dim[depth] = n;
    if (s->shape.dim[depth] != n) s->ragged = 1;
    for (Py_ssize_t k = 0; k < n && !s->other && !s->ragged; k++)
        look(PySequence_Fast_GET_ITEM(o, k), depth + 1, s);
    if (n == 0 && s->shape.rank < 0) s->shape.rank = depth + 1;
}

static void scan_value(PyObject *o, scan *s) {
    *s = (scan){.shape = {.rank = -1}};
    for (int d = 0; d < EF_MAX_RANK; d++) s->shape.dim[d] = -1;
    look(o, 0, s);
    for (int d = 0; d < s->shape.rank; d++)
        if (s->shape.dim[d] < 0) s->ragged = 1;
}

static ef_dtype natural(leaf k) {
    switch (k) {
    case BOOL: return EF_BOOL;
    case INT: return EF_I32;
    case LONG: return EF_I64;
    case COMPLEX: return EF_C128;
    case TEXT: return EF_STRING;
    default: return EF_F32;
    }
}

enum {
    FLOAT_SET = 1 << EF_F16 | 1 << EF_BF16 | 1 << EF_F32 | 1 << EF_F64,
    COMPLEX_SET = 1 << EF_C64 | 1 << EF_C128,
    INT_SET = 1 << EF_I8 | 1 << EF_I16 | 1 << EF_I32 | 1 << EF_I64 | 1 << EF_U8 | 1 << EF_U16 |
              1 << EF_U32 | 1 << EF_U64
};

/* Which dtypes a kind of Python value may take. */
static int may_be(leaf k, ef_dtype t) {
    unsigned bit = 1u << t;
    switch (k) {
    case NOTHING: return 1;
    case BOOL: return t == EF_BOOL || (bit & (FLOAT_SET | COMPLEX_SET | INT_SET)) != 0;
    case INT:
    case LONG: return (bit & (FLOAT_SET | COMPLEX_SET | INT_SET)) != 0;
    case FLOAT: return (bit & (FLOAT_SET | COMPLEX_SET)) != 0;
    case COMPLEX: return (bit & COMPLEX_SET) != 0;
    case TEXT: return t == EF_STRING;
    default: return 0;
    }
}

/* ---- writing elements
 * ---------------------------------------------------------------------------- */

static uint16_t half_bits(double v) { /* to float16 by way of float: as numpy rounds */
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
        unsigned long long u = PyLong_AsUnsignedLongLongMask(o);
        if (u == (unsigned long long)-1 && PyErr_Occurred()) return -1;
        ((uint64_t *)at)[i] = u;
        return 0;
    }
    int over;
    long long v = PyLong_AsLongLongAndOverflow(o, &over);
    if (v == -1 && over == 0 && PyErr_Occurred()) return -1;
    if (over != 0) return out_of_range(o, t);
    switch (t) { /* narrower types keep the low bits, as numpy's casts do */
    case EF_I8: ((int8_t *)at)[i] = (int8_t)v; break;
    case EF_U8: ((uint8_t *)at)[i] = (uint8_t)v; break;
    case EF_I16: ((int16_t *)at)[i] = (int16_t)v; break;
    case EF_U16: ((uint16_t *)at)[i] = (uint16_t)v; break;
    case EF_I32: ((int32_t *)at)[i] = (int32_t)v; break;
    case EF_U32: ((uint32_t *)at)[i] = (uint32_t)v; break;
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
        ((bool *)at)[i] = o == Py_True;
        return 0;
    }
    if (1u << d & INT_SET) return put_int(o, d, at, i);
    if (1u << d & COMPLEX_SET) {
        Py_complex c = PyComplex_AsCComplex(o);
        if (c.real == -1.0 && PyErr_Occurred()) return -1;
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
    if (v == -1.0 && PyErr_Occurred()) return -1;
    switch (d) {
    case EF_F32: ((float *)at)[i] = (float)v; break;
    case EF_F64: ((double *)at)[i] = v; break;
    case EF_F16: ((uint16_t *)at)[i] = half_bits(v); break;
    default: ((uint16_t *)at)[i] = brain_bits(v); break;
    }
    return 0;
}

static int fill(PyObject *o, ef_tensor *t, void *at, int64_t *i) {
    if (!is_sequence(o)) return put(o, t, at, (*i)++);
    for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); k++)
        if (fill(PySequence_Fast_GET_ITEM(o, k), t, at, i) < 0) return -1;
    return 0;
}

static int cannot(PyObject *o, ef_dtype t) {
    PyErr_Format(PyExc_TypeError, "Cannot convert %R to EagerTensor of dtype %s", o,
                 t == EF_F32 ? "float" : ef_dtype_name(t));
    return -1;
}

static int from_plain(PyObject *o, const scan *s, ef_dtype want, int hint, ef_tensor *out) {
    if (s->ragged) {
        PyErr_SetString(PyExc_ValueError,
                        "Can't convert non-rectangular Python sequence to Tensor.");
        return -1;
    }
    if (want != EF_NO_DTYPE && hint == HINT && (s->mixed || !may_be(s->kind, want)))
        want = EF_NO_DTYPE;
    if (s->mixed) {
        if (want != EF_NO_DTYPE) return cannot(o, want);
        PyErr_SetString(PyExc_ValueError,
                        "Can't convert Python sequence with mixed types to Tensor.");
        return -1;
    }
    if (want == EF_NO_DTYPE)
        want = natural(s->kind);
    else if (!may_be(s->kind, want))
        return cannot(o, want);
    if (check(ef_tensor_new(want, &s->shape, out), NULL) < 0) return -1;
    int64_t i = 0;
    if (fill(o, out, out->data, &i) == 0) return 0;
    ef_tensor_release(out);
    return -1;
}

/* ---- operands
 * ------------------------------------------------------------------------------------- */

ef_dtype own_dtype(PyObject *o) {
    if (IS_EAGER(o) || IS_SYMBOLIC(o)) return (ef_dtype)((tensor_object *)o)->t.dtype;
    if (IS_VARIABLE(o)) return ((variable_object *)o)->dtype;
    if (is_array(o)) return array_dtype(o);
    return EF_NO_DTYPE;
}

static int from_hook(PyObject *o, ef_dtype dtype, int hint, operand *out) {
    PyObject *d = dtype != EF_NO_DTYPE ? dtype_object(dtype) : Py_NewRef(Py_None);
    if (d == NULL) return -1;
    PyObject *t =
        PyObject_CallFunctionObjArgs(hooks.convert, o, d, hint ? Py_True : Py_False, NULL);
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

/* numpy values take the dtype asked for as numpy casts, but no complex part is dropped. */
static int array_fits(ef_dtype have, ef_dtype want) {
    if (have == want) return 1;
    unsigned h = 1u << have, w = 1u << want;
    if (h & COMPLEX_SET) return (w & COMPLEX_SET) != 0;
    return (h & (INT_SET | FLOAT_SET | 1u << EF_BOOL)) != 0 &&
           (w & (INT_SET | FLOAT_SET | COMPLEX_SET)) != 0;
}

int operand_from(PyObject *o, ef_dtype dtype, int hint, operand *out) {
    out->keep = NULL;
    out->own.dtype = 0;
    if (IS_EAGER(o) || IS_SYMBOLIC(o)) {
        out->t = &((tensor_object *)o)->t;
        return 0;
    }
    out->t = &out->own;
    memset(&out->own, 0, sizeof out->own);
    if (PyFloat_CheckExact(o) && (dtype == EF_F32 || dtype == EF_NO_DTYPE)) { /* the usual number */
        float v = (float)PyFloat_AS_DOUBLE(o);
        return check(ef_tensor_from(EF_F32, NULL, &v, &out->own), NULL);
    }
    if (IS_VARIABLE(o)) return variable_read((variable_object *)o, &out->own);
    if (is_array(o)) {
        ef_dtype have = array_dtype(o);
        if (hint == HINT && dtype != EF_NO_DTYPE && !array_fits(have, dtype))
            dtype = EF_NO_DTYPE;
        else if (dtype != EF_NO_DTYPE && have != EF_NO_DTYPE && have != EF_STRING &&
                 (dtype == EF_STRING || dtype == EF_RESOURCE || dtype == EF_VARIANT))
            return cannot(o, dtype);
        return array_to_tensor(o, dtype, &out->own);
    }
    scan s;
    scan_value(o, &s);
    if (s.other) return from_hook(o, dtype, hint, out);
    return from_plain(o, &s, dtype, hint, &out->own);
}

void operand_end(operand *o) {
    Py_CLEAR(o->keep);
    if (o->own.dtype != 0) ef_tensor_release(&o->own);
}

PyObject *convert(PyObject *o, ef_dtype dtype, int hint) {
    if (IS_TENSOR(o)) {
        ef_dtype have = (ef_dtype)((tensor_object *)o)->t.dtype;
        if (dtype != EF_NO_DTYPE && have != dtype && hint == MUST)
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
        if (dtype != EF_NO_DTYPE && have != dtype && hint == MUST) {
            PyErr_Format(PyExc_ValueError,
                         "Tensor conversion requested dtype %s for Tensor with dtype %s",
                         ef_dtype_name(dtype), ef_dtype_name(have));
            Py_CLEAR(t);
        }
        return t;
    }
    if (dtype != EF_NO_DTYPE && a.own.dtype != dtype && hint == MUST) { /* a variable */
        PyErr_Format(PyExc_ValueError,
                     "Tensor conversion requested dtype %s for Tensor with dtype %s",
                     ef_dtype_name(dtype), ef_dtype_name((ef_dtype)a.own.dtype));
        ef_tensor_release(&a.own);
        return NULL;
    }
    return tensor_wrap(&a.own);
}
