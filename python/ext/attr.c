/* Attributes of ops: converts Python values to the kinds that the op's record declares, and back.
 */
#include "core.h"

static void *room(attr_arena *a, size_t bytes) {
    if (a->n == 32) {
        PyErr_SetString(PyExc_ValueError, "too many attributes");
        return NULL;
    }
    void *p = PyMem_Malloc(bytes > 0 ? bytes : 1);
    if (p == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    return a->block[a->n++] = p;
}

void attr_arena_end(attr_arena *a) {
    while (a->n > 0) PyMem_Free(a->block[--a->n]);
    while (a->n_keep > 0) Py_DECREF(a->keep[--a->n_keep]);
}

static int keep(attr_arena *a, PyObject *o) { /* takes the reference */
    if (a->n_keep == 32) {
        Py_DECREF(o);
        PyErr_SetString(PyExc_ValueError, "too many attributes");
        return -1;
    }
    a->keep[a->n_keep++] = o;
    return 0;
}

static int wrong(const char *op, const ef_attr_desc *d, PyObject *o, const char *want) {
    if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_TypeError)) {
        PyErr_Clear();
        PyErr_Format(PyExc_TypeError,
                     "Expected %s for argument '%s' of '%s' Op, not %R of type %s.", want, d->name,
                     op, o, Py_TYPE(o)->tp_name);
    }
    return -1;
}

static int int_from(PyObject *o, int64_t *out) {
    PyObject *i = PyNumber_Index(o);
    if (i == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) { /* a tensor, or a float of numpy */
        PyErr_Clear();
        if (PyUnicode_Check(o) || PyBytes_Check(o)) {
            PyErr_SetString(PyExc_TypeError, "not an integer");
            return -1;
        }
        i = PyNumber_Long(o);
        if (i == NULL && PyErr_ExceptionMatches(PyExc_ValueError)) /* not a number */
            PyErr_SetString(PyExc_TypeError, "not an integer");
    }
    if (i == NULL) return -1;
    *out = PyLong_AsLongLong(i);
    if (*out == -1 && PyErr_Occurred() &&
        recording()) /* TensorFlow's error from the node's proto */
        PyErr_Format(PyExc_ValueError, "Value out of range: %S", i);
    Py_DECREF(i);
    return *out == -1 && PyErr_Occurred() ? -1 : 0;
}

static int text_from(PyObject *o, attr_arena *a, const char **out) {
    if (PyUnicode_Check(o)) {
        if (keep(a, Py_NewRef(o)) < 0) return -1;
        return (*out = PyUnicode_AsUTF8(o)) == NULL ? -1 : 0;
    }
    if (!PyBytes_Check(o)) {
        PyErr_SetString(PyExc_TypeError, "not text");
        return -1;
    }
    if (keep(a, Py_NewRef(o)) < 0) return -1;
    *out = PyBytes_AS_STRING(o);
    return 0;
}

static ef_graph *graph_of(PyObject *o, attr_arena *a) {
    if (PyObject_TypeCheck(o, graph_type)) return ((graph_object *)o)->g;
    PyObject *g = attr_get(o, "graph"); /* a concrete function */
    if (g == NULL || keep(a, g) < 0) return NULL;
    if (!PyObject_TypeCheck(g, graph_type)) {
        PyErr_SetString(PyExc_TypeError, "not a function");
        return NULL;
    }
    return ((graph_object *)g)->g;
}

static int list_from(const char *op, const ef_attr_desc *d, PyObject *o, attr_arena *a,
                     ef_attr_value *v) {
    PyObject *fast;
    if (PyLong_Check(o) || PyFloat_Check(o) || PyUnicode_Check(o) || PyBytes_Check(o))
        return wrong(op, d, o, "a list");
    if ((fast = PySequence_Fast(o, "a list")) == NULL) return wrong(op, d, o, "a list");
    if (keep(a, fast) < 0) return -1;
    Py_ssize_t n = PySequence_Fast_GET_SIZE(fast);
    PyObject **item = PySequence_Fast_ITEMS(fast);
    v->n = (int)n;
    size_t count = (size_t)n;
    switch (d->kind) {
    case EF_ATTR_INTS: {
        int64_t *at = room(a, count * sizeof *at);
        if (at == NULL) return -1;
        for (Py_ssize_t k = 0; k < n; k++)
            if (int_from(item[k], &at[k]) < 0) return wrong(op, d, o, "a list of int");
        v->as.ints = at;
        return 0;
    }
    case EF_ATTR_FLOATS: {
        float *at = room(a, count * sizeof *at);
        if (at == NULL) return -1;
        for (Py_ssize_t k = 0; k < n; k++) {
            double f = PyFloat_AsDouble(item[k]);
            if (f == -1.0 && PyErr_Occurred()) return wrong(op, d, o, "a list of float");
            at[k] = (float)f;
        }
        v->as.floats = at;
        return 0;
    }
    case EF_ATTR_BOOLS: {
        bool *at = room(a, count * sizeof *at);
        if (at == NULL) return -1;
        for (Py_ssize_t k = 0; k < n; k++) at[k] = PyObject_IsTrue(item[k]) == 1;
        v->as.bools = at;
        return 0;
    }
    case EF_ATTR_TYPES: {
        ef_dtype *at = room(a, count * sizeof *at);
        if (at == NULL) return -1;
        for (Py_ssize_t k = 0; k < n; k++)
            if ((at[k] = dtype_of(item[k])) == EF_NO_DTYPE) return -1;
        v->as.types = at;
        return 0;
    }
    case EF_ATTR_SHAPES: {
        ef_shape *at = room(a, count * sizeof *at);
        if (at == NULL) return -1;
        for (Py_ssize_t k = 0; k < n; k++)
            if (shape_from(item[k], &at[k]) < 0) return -1;
        v->as.shapes = at;
        return 0;
    }
    case EF_ATTR_STRINGS: {
        const char **at = room(a, count * sizeof *at);
        if (at == NULL) return -1;
        for (Py_ssize_t k = 0; k < n; k++)
            if (text_from(item[k], a, &at[k]) < 0) return wrong(op, d, o, "a list of str");
        v->as.strings = at;
        return 0;
    }
    default: {
        ef_graph **at = room(a, count * sizeof *at);
        if (at == NULL) return -1;
        for (Py_ssize_t k = 0; k < n; k++)
            if ((at[k] = graph_of(item[k], a)) == NULL) return -1;
        v->as.funcs = at;
        return 0;
    }
    }
}

int attr_from(const char *op, const ef_attr_desc *d, PyObject *o, attr_arena *a, ef_attr_value *v) {
    *v = (ef_attr_value){.name = d->name, .kind = d->kind};
    switch (d->kind) {
    case EF_ATTR_BOOL: {
        if (!PyBool_Check(o)) return wrong(op, d, o, "bool");
        v->as.b = o == Py_True;
        return 0;
    }
    case EF_ATTR_INT: return int_from(o, &v->as.i) < 0 ? wrong(op, d, o, "int") : 0;
    case EF_ATTR_FLOAT:
        if (PyUnicode_Check(o) || PyBytes_Check(o) || IS_TENSOR(o) || IS_VARIABLE(o))
            return wrong(op, d, o, "float");
        v->as.f = PyFloat_AsDouble(o);
        return v->as.f == -1.0 && PyErr_Occurred() ? wrong(op, d, o, "float") : 0;
    case EF_ATTR_STRING: {
        if (text_from(o, a, &v->as.s) < 0) return wrong(op, d, o, "string");
        if (d->choice == NULL) return 0;
        for (int k = 0; d->choice[k] != NULL; k++)
            if (strcmp(d->choice[k], v->as.s) == 0) return 0;
        a->late = true;
        return invalid(op,
                       PyUnicode_FromFormat("Value for attr '%s' of \"%s\" is not in the list of "
                                            "allowed values: %s of op %s",
                                            d->name, v->as.s, d->type, op));
    }
    case EF_ATTR_TYPE: {
        ef_tensor probe = {.dtype = 0};
        probe.dtype = v->as.type = dtype_of(o);
        if (v->as.type == EF_NO_DTYPE) return -1;
        if (!recording() || check_type(d->name, d, &probe) == 0) return 0;
        a->late = true;
        return -1;
    }
    case EF_ATTR_SHAPE: {
        ef_shape *s = room(a, sizeof *s);
        if (s == NULL || shape_from(o, s) < 0) return -1;
        v->as.shape = s;
        return 0;
    }
    case EF_ATTR_TENSOR: {
        PyObject *t = convert(o, EF_NO_DTYPE, MUST);
        if (t == NULL || keep(a, t) < 0) return -1;
        v->as.tensor = &((tensor_object *)t)->t;
        return 0;
    }
    case EF_ATTR_FUNC: return (v->as.func = graph_of(o, a)) == NULL ? -1 : 0;
    default: return list_from(op, d, o, a, v);
    }
}

PyObject *attr_object(const ef_attr_value *v) {
    PyObject *list = NULL;
    switch (v->kind) {
    case EF_ATTR_BOOL: return PyBool_FromLong(v->as.b);
    case EF_ATTR_INT: return PyLong_FromLongLong(v->as.i);
    case EF_ATTR_FLOAT: return PyFloat_FromDouble(v->as.f);
    case EF_ATTR_STRING: return PyBytes_FromString(v->as.s);
    case EF_ATTR_TYPE: return dtype_object(v->as.type);
    case EF_ATTR_SHAPE: return shape_object(v->as.shape, NULL);
    case EF_ATTR_TENSOR: {
        ef_tensor t;
        ef_tensor_copy(&t, v->as.tensor);
        return tensor_wrap(&t);
    }
    case EF_ATTR_FUNC: return graph_wrap(v->as.func);
    default: break;
    }
    list = PyList_New(v->n);
    for (int k = 0; list != NULL && k < v->n; k++) {
        PyObject *o = NULL;
        switch (v->kind) {
        case EF_ATTR_INTS: o = PyLong_FromLongLong(v->as.ints[k]); break;
        case EF_ATTR_FLOATS: o = PyFloat_FromDouble((double)v->as.floats[k]); break;
        case EF_ATTR_BOOLS: o = PyBool_FromLong(v->as.bools[k]); break;
        case EF_ATTR_TYPES: o = dtype_object(v->as.types[k]); break;
        case EF_ATTR_SHAPES: o = shape_object(&v->as.shapes[k], NULL); break;
        case EF_ATTR_STRINGS: o = PyBytes_FromString(v->as.strings[k]); break;
        default: o = graph_wrap(v->as.funcs[k]); break;
        }
        if (o == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, k, o);
    }
    return list;
}
