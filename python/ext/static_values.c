/* Values and shapes of tensors that are known at trace time. static_* and known_* return only what
 * holds for every call of the trace. seen_* and the others return the sizes of the call being
 * traced, as x.shape does, and mark those sizes as read: the trace then serves only calls with the
 * same sizes (graph/sizes.h in the engine). */
#include "core.h"

static PyObject *core_static_value(PyObject *module, PyObject *o) {
    (void)module;
    if (IS_EAGER(o)) return tensor_to_array((tensor_object *)o, ARRAY_OWN);
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
    ef_tensor v = {0};
    if (check(ef_tensor_known(&((tensor_object *)o)->t, &v), NULL) < 0) return NULL;
    if (v.dtype == 0) Py_RETURN_NONE;
    PyObject *t = tensor_wrap(&v);
    PyObject *a = t != NULL ? tensor_to_array((tensor_object *)t, ARRAY_LAST_USE) : NULL;
    Py_XDECREF(t);
    return a;
}

static PyObject *core_static_shape(PyObject *module, PyObject *o) {
    (void)module;
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
    ef_shape s = ef_tensor_shape(&((tensor_object *)o)->t);
    return dims_tuple(&s);
}

static PyObject *core_rank(PyObject *module, PyObject *o) {
    (void)module;
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
    int rank = ef_tensor_shape(&((tensor_object *)o)->t).rank;
    return rank < 0 ? Py_NewRef(Py_None) : PyLong_FromLong(rank);
}

/* The elements of a 1-D integer tensor as a shape, as far as they are known. */
static PyObject *core_known_shape(PyObject *module, PyObject *o) {
    (void)module;
    ef_shape s;
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
    if (check(ef_tensor_known_shape(&((tensor_object *)o)->t, &s), NULL) < 0) return NULL;
    return dims_tuple(&s);
}

static PyObject *core_set_shape(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *o, *shape;
    ef_shape s;
    if (!PyArg_ParseTuple(args, "O!O", tensor_type, &o, &shape) || shape_from(shape, &s) < 0)
        return NULL;
    if (check(ef_tensor_set_shape(&((tensor_object *)o)->t, &s), NULL) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyObject *core_forget_size(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *o;
    int d;
    if (!PyArg_ParseTuple(args, "O!i", tensor_type, &o, &d)) return NULL;
    ef_tensor_forget_size(&((tensor_object *)o)->t, d);
    Py_RETURN_NONE;
}

/* set_sizes_like(tensor, at, of, axes) */
static PyObject *core_set_sizes_like(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *o, *of, *list;
    int at, axes[EF_MAX_RANK];
    if (!PyArg_ParseTuple(args, "O!iO!O!", tensor_type, &o, &at, tensor_type, &of, &PyTuple_Type,
                          &list))
        return NULL;
    int n = (int)PyTuple_GET_SIZE(list);
    for (int k = 0; k < n && k < EF_MAX_RANK; k++)
        axes[k] = (int)PyLong_AsLong(PyTuple_GET_ITEM(list, k));
    if (PyErr_Occurred() || check(ef_tensor_set_sizes_like(&((tensor_object *)o)->t, at,
                                                           &((tensor_object *)of)->t, axes, n),
                                  NULL) < 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *core_seen_value(PyObject *module, PyObject *o) {
    (void)module;
    if (IS_EAGER(o)) return tensor_to_array((tensor_object *)o, ARRAY_OWN);
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
    ef_tensor v = {0};
    if (check(ef_tensor_known_seen(&((tensor_object *)o)->t, &v), NULL) < 0) return NULL;
    if (v.dtype == 0) Py_RETURN_NONE;
    PyObject *t = tensor_wrap(&v);
    PyObject *a = t != NULL ? tensor_to_array((tensor_object *)t, ARRAY_LAST_USE) : NULL;
    Py_XDECREF(t);
    return a;
}

static PyObject *core_seen_shape(PyObject *module, PyObject *o) {
    (void)module;
    if (!IS_TENSOR(o)) return PyErr_Format(PyExc_TypeError, "%R is not a Tensor", o);
    ef_shape s;
    if (ef_tensor_shape_seen(&((tensor_object *)o)->t, &s))
        ef_tensor_size_read(&((tensor_object *)o)->t, -1);
    return dims_tuple(&s);
}

static PyObject *core_seen_size(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *o;
    int d;
    ef_shape s;
    if (!PyArg_ParseTuple(args, "O!i", tensor_type, &o, &d)) return NULL;
    const ef_tensor *t = &((tensor_object *)o)->t;
    bool seen = ef_tensor_shape_seen(t, &s);
    if (d < 0) d += s.rank;
    if (d < 0 || d >= s.rank) return PyErr_Format(PyExc_IndexError, "there is no axis %d", d);
    if (seen) ef_tensor_size_read(t, d);
    if (s.dim[d] < 0) Py_RETURN_NONE;
    return PyLong_FromLongLong(s.dim[d]);
}

static PyObject *core_read_size(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    (void)module;
    if (n != 2 || !IS_TENSOR(args[0]) || !PyLong_Check(args[1]))
        return PyErr_Format(PyExc_TypeError, "read_size takes a tensor and an axis");
    ef_tensor_size_read(&((tensor_object *)args[0])->t, (int)PyLong_AsLong(args[1]));
    Py_RETURN_NONE;
}

/* (input, axis, factor, offset): the size is factor * (size of that axis of the input) + offset.
 * None: it does not follow from one input. */
static PyObject *core_size_source(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *o;
    int d, axis;
    int64_t a, b;
    ef_tensor input = {0};
    if (!PyArg_ParseTuple(args, "O!i", tensor_type, &o, &d)) return NULL;
    if (!ef_tensor_size_source(&((tensor_object *)o)->t, d, &input, &axis, &a, &b)) Py_RETURN_NONE;
    PyObject *t = tensor_wrap(&input);
    return t == NULL ? NULL : Py_BuildValue("NiLL", t, axis, (long long)a, (long long)b);
}

static PyObject *core_is_named(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *o;
    int d;
    if (!PyArg_ParseTuple(args, "O!i", tensor_type, &o, &d)) return NULL;
    return PyBool_FromLong(ef_tensor_size_named(&((tensor_object *)o)->t, d));
}

/* Whether a tensor has the shape of another tensor, or of a tuple of sizes, in which None fits any
 * size. */
static PyObject *core_shape_fits(PyObject *module, PyObject *args) {
    (void)module;
    PyObject *o, *like;
    ef_shape have, want;
    if (!PyArg_ParseTuple(args, "O!O", tensor_type, &o, &like)) return NULL;
    const ef_tensor *t = &((tensor_object *)o)->t, *l = NULL;
    ef_tensor_shape_seen(t, &have);
    if (IS_TENSOR(like))
        ef_tensor_shape_seen(l = &((tensor_object *)like)->t, &want);
    else if (shape_from(like, &want) < 0)
        return NULL;
    bool fits = want.rank < 0 || have.rank == want.rank;
    for (int d = 0; fits && d < want.rank; d++) {
        if (want.dim[d] < 0) continue;
        if (l != NULL) {
            fits = have.dim[d] >= 0 && ef_tensor_sizes_agree(t, d, l, d);
        } else {
            ef_tensor_size_read(t, d);
            fits = have.dim[d] == want.dim[d];
        }
    }
    return PyBool_FromLong(fits);
}

/* Applies a test to one axis of each of two tensors. */
static PyObject *compare(PyObject *args,
                         bool (*test)(const ef_tensor *, int, const ef_tensor *, int)) {
    PyObject *a, *b;
    int i, j;
    if (!PyArg_ParseTuple(args, "O!iO!i", tensor_type, &a, &i, tensor_type, &b, &j)) return NULL;
    const ef_tensor *x = &((tensor_object *)a)->t, *y = &((tensor_object *)b)->t;
    i += i < 0 ? x->rank : 0;
    j += j < 0 ? y->rank : 0;
    if (i < 0 || i >= x->rank || j < 0 || j >= y->rank)
        return PyErr_Format(PyExc_IndexError, "there are no axes %d and %d", i, j);
    return PyBool_FromLong(test(x, i, y, j));
}

static PyObject *core_sizes_agree(PyObject *module, PyObject *args) {
    (void)module;
    return compare(args, ef_tensor_sizes_agree);
}

static PyObject *core_same_size(PyObject *module, PyObject *args) {
    (void)module;
    return compare(args, ef_tensor_same_size);
}

/* Whether a symbolic tensor may be used in the graph that is being built. */
static PyObject *core_in_scope(PyObject *module, PyObject *o) {
    (void)module;
    if (!IS_TENSOR(o)) Py_RETURN_FALSE;
    return PyBool_FromLong(ef_tensor_in_scope(&((tensor_object *)o)->t));
}

static PyMethodDef functions[] = {
    {"static_value", core_static_value, METH_O,
     "The value of a tensor if it is the same in every call, or None."},
    {"static_shape", core_static_shape, METH_O, "The sizes that are the same in every call."},
    {"rank", core_rank, METH_O, "The rank if it is known, else None."},
    {"known_shape", core_known_shape, METH_O,
     "The elements of a 1-D tensor as a shape, as far as they are known."},
    {"set_shape", core_set_shape, METH_VARARGS, "Merges a shape into the static shape."},
    {"forget_size", core_forget_size, METH_VARARGS, "Makes a static size unknown to the program."},
    {"set_sizes_like", core_set_sizes_like, METH_VARARGS,
     "Gives axes of a tensor the sizes of axes of another."},
    {"seen_value", core_seen_value, METH_O, "The value of a tensor in the call being traced."},
    {"seen_shape", core_seen_shape, METH_O, "The sizes of a tensor in the call being traced."},
    {"seen_size", core_seen_size, METH_VARARGS, "One of the sizes in the call being traced."},
    {"read_size", (PyCFunction)(void (*)(void))core_read_size, METH_FASTCALL,
     "Marks the size of an axis as read by the trace."},
    {"size_source", core_size_source, METH_VARARGS,
     "The size of an input from which a size follows."},
    {"is_named", core_is_named, METH_VARARGS, "Whether a size follows from the size of an input."},
    {"shape_fits", core_shape_fits, METH_VARARGS,
     "Whether a tensor has the shape of another, or these sizes."},
    {"sizes_agree", core_sizes_agree, METH_VARARGS, "Whether two sizes may be equal."},
    {"same_size", core_same_size, METH_VARARGS, "Whether two sizes are equal in every call."},
    {"in_scope", core_in_scope, METH_O,
     "Whether a symbolic tensor may be used in the graph being built."},
    {NULL, NULL, 0, NULL}};

int known_init(PyObject *module) { return PyModule_AddFunctions(module, functions); }
