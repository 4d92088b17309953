/* x[...]: integers, slices, `...` and newaxis become one StridedSlice. Indices that contain tensors
 * and boolean masks are handled by Python. */
#include "core.h"

static const ef_op *strided;

enum { MASKS = 5, SPECS = 2 * EF_MAX_RANK };
typedef struct index_spec {
    int32_t begin[SPECS], end[SPECS], stride[SPECS];
    int64_t begin_mask, end_mask, ellipsis_mask, new_axis_mask, shrink_mask;
    int n;
} index_spec;

static int plain_int(PyObject *o) { return PyLong_Check(o) && !PyBool_Check(o); }

static int fits32(PyObject *o, int32_t *out) { /* 1: it fits int32; 0: it does not */
    int over;
    long long v = PyLong_AsLongLongAndOverflow(o, &over);
    if (over != 0 || v > INT32_MAX || v < INT32_MIN) return 0;
    *out = (int32_t)v;
    return 1;
}

/* 1: the slice was added; 0: Python must handle the index. */
static int add_slice(index_spec *s, PySliceObject *slice) {
    int k = s->n;
    s->begin[k] = s->end[k] = 0;
    s->stride[k] = 1;
    if (slice->start == Py_None)
        s->begin_mask |= 1 << k;
    else if (!plain_int(slice->start) || !fits32(slice->start, &s->begin[k]))
        return 0;
    if (slice->stop == Py_None)
        s->end_mask |= 1 << k;
    else if (!plain_int(slice->stop) || !fits32(slice->stop, &s->end[k]))
        return 0;
    if (slice->step != Py_None &&
        (!plain_int(slice->step) || !fits32(slice->step, &s->stride[k]) || s->stride[k] == 0))
        return 0;
    s->n++;
    return 1;
}

static int add_index(index_spec *s, PyObject *o) {
    if (s->n == SPECS) return 0;
    int k = s->n;
    s->begin[k] = s->end[k] = 0;
    s->stride[k] = 1;
    if (PySlice_Check(o)) return add_slice(s, (PySliceObject *)o);
    if (o == Py_Ellipsis)
        s->ellipsis_mask |= 1 << k;
    else if (o == Py_None)
        s->new_axis_mask |= 1 << k;
    else if (plain_int(o) && fits32(o, &s->begin[k]) && s->begin[k] < INT32_MAX) {
        s->end[k] = s->begin[k] + 1;
        s->shrink_mask |= 1 << k;
    } else
        return 0;
    s->n++;
    return 1;
}

/* A cache of the ops' attributes, found by the masks in them; the oldest is replaced first. */
typedef struct masks {
    int64_t m[MASKS];
    const ef_attrs *attrs;
} masks;
static masks kept[64];
static unsigned next_kept;

static const ef_attrs *attrs_for(const index_spec *s) {
    int64_t m[MASKS] = {s->begin_mask, s->end_mask, s->ellipsis_mask, s->new_axis_mask,
                        s->shrink_mask};
    for (unsigned k = 0; k < 64; k++)
        if (kept[k].attrs != NULL && memcmp(kept[k].m, m, sizeof m) == 0)
            return ef_attrs_ref(kept[k].attrs);
    ef_attr_value set[] = {EF_SET_INT("begin_mask", m[0]), EF_SET_INT("end_mask", m[1]),
                           EF_SET_INT("ellipsis_mask", m[2]), EF_SET_INT("new_axis_mask", m[3]),
                           EF_SET_INT("shrink_axis_mask", m[4])};
    const ef_attrs *a;
    if (check(ef_attrs_make(strided, set, 5, &a), "StridedSlice") < 0) return NULL;
    masks *slot = &kept[next_kept++ % 64];
    if (slot->attrs != NULL) ef_attrs_unref(slot->attrs);
    memcpy(slot->m, m, sizeof m);
    slot->attrs = ef_attrs_ref(a);
    return a;
}

static PyObject *run(PyObject *o, const index_spec *s) {
    ef_shape n = {.rank = 1, .dim = {s->n}};
    ef_tensor begin = {0}, end = {0}, stride = {0};
    const ef_attrs *a = attrs_for(s);
    if (a == NULL) return NULL;
    PyObject *r = NULL;
    if (check(ef_tensor_from(EF_I32, &n, s->begin, &begin), NULL) == 0 &&
        check(ef_tensor_from(EF_I32, &n, s->end, &end), NULL) == 0 &&
        check(ef_tensor_from(EF_I32, &n, s->stride, &stride), NULL) == 0 &&
        name_node(NULL, "strided_slice") == 0) {
        const ef_tensor *in[] = {&((tensor_object *)o)->t, &begin, &end, &stride};
        r = op_run1(strided, a, in, 4);
    }
    ef_tensor_release(&begin);
    ef_tensor_release(&end);
    ef_tensor_release(&stride);
    ef_attrs_unref(a);
    return r;
}

PyObject *tensor_subscript(PyObject *o, PyObject *key) {
    index_spec s = {.n = 0};
    int plain = 1;
    if (PyTuple_Check(key))
        for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(key) && plain; k++)
            plain = add_index(&s, PyTuple_GET_ITEM(key, k));
    else
        plain = add_index(&s, key);
    if (!plain || s.n == 0) return PyObject_CallFunctionObjArgs(hooks.getitem, o, key, NULL);
    return run(o, &s);
}

/* The i-th row, for iteration: an IndexError past the last row ends the loop. */
PyObject *tensor_item_at(PyObject *o, Py_ssize_t i) {
    const ef_tensor *t = &((tensor_object *)o)->t;
    if (t->rank > 0 && t->dim[0] >= 0 && i >= t->dim[0]) {
        PyErr_SetString(PyExc_IndexError, "past the last row");
        return NULL;
    }
    index_spec s = {
        .n = 1, .begin = {(int32_t)i}, .end = {(int32_t)i + 1}, .stride = {1}, .shrink_mask = 1};
    return run(o, &s);
}

int index_init(void) { return (strided = ef_op_find("StridedSlice")) != NULL ? 0 : -1; }
