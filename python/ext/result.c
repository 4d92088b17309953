/* The results of a traced function: flattened into tensors when it is traced, and packed into the
 * same structure at each call. Lists, tuples, dicts, namedtuples and composite tensors are handled
 * here; a result that contains anything else is handled by Python. */
#include "function.h"

typedef struct flattening {
    PyObject *list; /* of tensors */
    bool odd;       /* the result contains something that only Python can handle */
} flattening;

static int flatten(flattening *f, PyObject *o, part *p);

void part_end(part *p) {
    for (int k = 0; k < p->n; k++) part_end(&p->part[k]);
    PyMem_RawFree(p->part);
    Py_CLEAR(p->what);
    p->part = NULL;
    p->n = 0;
}

int part_traverse(const part *p, visitproc visit, void *arg) {
    Py_VISIT(p->what);
    for (int k = 0; k < p->n; k++) {
        int stop = part_traverse(&p->part[k], visit, arg);
        if (stop != 0) return stop;
    }
    return 0;
}

static int parts_make(part *p, Py_ssize_t n) {
    p->part = PyMem_RawCalloc((size_t)n + 1, sizeof *p->part);
    if (p->part == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    p->n = (int)n;
    return 0;
}

static int flatten_leaf(flattening *f, PyObject *o, part *p) {
    p->kind = P_TENSOR;
    p->at = (int)PyList_GET_SIZE(f->list);
    return PyList_Append(f->list, o);
}

/* Converts a value to a tensor; if that fails, Python handles the result and raises the error. */
static int flatten_value(flattening *f, PyObject *o, part *p) {
    PyObject *t = convert(o, EF_NO_DTYPE, MUST);
    if (t == NULL) {
        f->odd = clear_error() == 0;
        return -1;
    }
    int bad = flatten_leaf(f, t, p);
    Py_DECREF(t);
    return bad;
}

static int flatten_sequence(flattening *f, PyObject *o, part *p) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    if (parts_make(p, n) < 0) return -1;
    for (Py_ssize_t k = 0; k < n; k++)
        if (k >= PySequence_Fast_GET_SIZE(o) ||
            flatten(f, PySequence_Fast_GET_ITEM(o, k), &p->part[k]) < 0)
            return -1;
    return 0;
}

/* The tensors are in the order of the sorted keys, as tf.nest flattens; the packed dict has its
 * keys in their original order. */
static int flatten_dict(flattening *f, PyObject *o, part *p) {
    PyObject *sorted = PyDict_Keys(o);
    Py_ssize_t n = sorted != NULL ? PyList_GET_SIZE(sorted) : 0;
    p->kind = P_DICT;
    p->what = sorted != NULL ? PyList_AsTuple(sorted) : NULL;
    int bad = p->what == NULL || parts_make(p, n) < 0 ? -1 : 0;
    if (bad == 0 && PyList_Sort(sorted) < 0) {
        PyErr_Clear();
        f->odd = true;
        bad = -1;
    }
    for (Py_ssize_t k = 0; bad == 0 && k < n; k++) {
        PyObject *name = PyList_GET_ITEM(sorted, k), *v = PyDict_GetItemWithError(o, name);
        Py_ssize_t at = 0;
        while (at < n && PyTuple_GET_ITEM(p->what, at) != name) at++;
        bad = v == NULL || at == n ? -1 : flatten(f, v, &p->part[at]);
    }
    Py_XDECREF(sorted);
    return bad;
}

static bool is_composite(PyObject *o) {
    PyObject *kind = attr_get((PyObject *)Py_TYPE(o), "_nest_kind");
    bool yes = kind != NULL && PyUnicode_Check(kind) &&
               PyUnicode_CompareWithASCIIString(kind, "composite") == 0;
    PyErr_Clear();
    Py_XDECREF(kind);
    return yes;
}

static int flatten_composite(flattening *f, PyObject *o, part *p) {
    PyObject *apart = attr_call(o, "_ef_flatten", NULL);
    if (apart == NULL || !PyTuple_Check(apart) || PyTuple_GET_SIZE(apart) < 2) {
        Py_XDECREF(apart);
        f->odd = clear_error() == 0;
        return -1;
    }
    PyObject *parts = PyTuple_GET_ITEM(apart, 1);
    p->kind = P_COMPOSITE;
    p->what = Py_NewRef(o);
    int bad = flatten_sequence(f, parts, p);
    Py_DECREF(apart);
    return bad;
}

static int flatten_other(flattening *f, PyObject *o, part *p) {
    PyTypeObject *type = Py_TYPE(o);
    if (PyBool_Check(o) || type == &PyLong_Type || type == &PyFloat_Type ||
        type == &PyComplex_Type || is_array(o) || IS_VARIABLE(o))
        return flatten_value(f, o, p);
    if (PyTuple_Check(o) && attr_has(o, "_fields")) {
        p->kind = P_NAMED;
        p->what = Py_NewRef((PyObject *)type);
        return flatten_sequence(f, o, p);
    }
    if (is_composite(o)) return flatten_composite(f, o, p);
    f->odd = true;
    return -1;
}

static int flatten(flattening *f, PyObject *o, part *p) {
    PyTypeObject *type = Py_TYPE(o);
    if (type == symbolic_type || type == eager_type) return flatten_leaf(f, o, p);
    if (o == Py_None) {
        p->kind = P_NONE;
        return 0;
    }
    if (type != &PyTuple_Type && type != &PyList_Type && type != &PyDict_Type)
        return flatten_other(f, o, p);
    if (Py_EnterRecursiveCall(" in the result of a tf.function")) return -1;
    p->kind = type == &PyTuple_Type ? P_TUPLE : P_LIST;
    int bad = type == &PyDict_Type ? flatten_dict(f, o, p) : flatten_sequence(f, o, p);
    Py_LeaveRecursiveCall();
    return bad;
}

static PyObject *flatten_by_python(PyObject *result, packing *p) {
    PyObject *both = PyObject_CallOneArg(hooks.flat_result, result), *flat, *pack;
    if (both == NULL || !PyArg_ParseTuple(both, "O!O", &PyList_Type, &flat, &pack)) {
        Py_XDECREF(both);
        return NULL;
    }
    p->whole = (part){.kind = P_TENSOR};
    if (pack != Py_None) p->pack = Py_NewRef(pack);
    Py_INCREF(flat);
    Py_DECREF(both);
    return flat;
}

PyObject *result_flatten(PyObject *result, packing *p) {
    flattening f = {PyList_New(0), false};
    if (f.list == NULL) return NULL;
    if (flatten(&f, result, &p->whole) == 0) return f.list;
    Py_DECREF(f.list);
    part_end(&p->whole);
    return f.odd && !PyErr_Occurred() ? flatten_by_python(result, p) : NULL;
}

/* ---- packing --------------------------------------------------------------------------------- */

static PyObject *pack_part(const part *p, ef_tensor *out);

static PyObject *pack_sequence(const part *p, ef_tensor *out, bool tuple) {
    PyObject *c = tuple ? PyTuple_New(p->n) : PyList_New(p->n);
    for (int k = 0; c != NULL && k < p->n; k++) {
        PyObject *o = pack_part(&p->part[k], out);
        if (o == NULL)
            Py_CLEAR(c);
        else if (tuple)
            PyTuple_SET_ITEM(c, k, o);
        else
            PyList_SET_ITEM(c, k, o);
    }
    return c;
}

static PyObject *pack_dict(const part *p, ef_tensor *out) {
    PyObject *c = PyDict_New();
    for (int k = 0; c != NULL && k < p->n; k++) {
        PyObject *o = pack_part(&p->part[k], out);
        if (o == NULL || PyDict_SetItem(c, PyTuple_GET_ITEM(p->what, k), o) < 0) Py_CLEAR(c);
        Py_XDECREF(o);
    }
    return c;
}

static PyObject *pack_named(const part *p, ef_tensor *out) {
    PyObject *items = pack_sequence(p, out, true), *c = NULL;
    if (items != NULL) c = PyObject_CallObject(p->what, items);
    Py_XDECREF(items);
    return c;
}

static PyObject *pack_composite(const part *p, ef_tensor *out) {
    PyObject *items = pack_sequence(p, out, false), *c = NULL;
    if (items != NULL) c = attr_call(p->what, "_ef_rebuild", items);
    Py_XDECREF(items);
    return c;
}

static PyObject *pack_part(const part *p, ef_tensor *out) {
    switch (p->kind) {
    case P_TENSOR: {
        PyObject *t = tensor_wrap(&out[p->at]);
        memset(&out[p->at], 0, sizeof out[p->at]);
        return t;
    }
    case P_NONE: Py_RETURN_NONE;
    case P_DICT: return pack_dict(p, out);
    case P_NAMED: return pack_named(p, out);
    case P_COMPOSITE: return pack_composite(p, out);
    default: return pack_sequence(p, out, p->kind == P_TUPLE);
    }
}

PyObject *result_pack(packing *p, ef_tensor *out, int n) {
    if (p == NULL) return tensor_list(out, n);
    if (p->pack == NULL) {
        if (p->whole.kind == P_TENSOR) return tensor_wrap(&out[0]);
        PyObject *r = pack_part(&p->whole, out);
        for (int k = 0; r == NULL && k < n; k++) ef_tensor_release(&out[k]);
        return r;
    }
    PyObject *list = tensor_list(out, n), *r = NULL;
    if (list != NULL) r = PyObject_CallOneArg(p->pack, list);
    Py_XDECREF(list);
    return r;
}
