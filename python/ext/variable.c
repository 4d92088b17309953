/* The base class of tf.Variable: its handle, and the operations that run in every op, such as
 * reading it. Construction and assignment are prepared in Python. */
#include "profile.h"
#include <structmember.h>

PyTypeObject *variable_type;
static const ef_op *read_op;
static const ef_attrs *read_as[EF_DTYPES];
static PyObject *str_sliced;

int variable_read(variable_object *v, ef_tensor *out) {
    if (v->handle == NULL) {
        PyErr_SetString(PyExc_ValueError, "the variable was not initialised");
        return -1;
    }
    if (read_as[v->dtype] == NULL) {
        ef_attr_value set[] = {EF_SET_TYPE("dtype", v->dtype)};
        if (check(ef_attrs_make(read_op, set, 1, &read_as[v->dtype]), NULL) < 0) return -1;
    }
    const ef_tensor *in = &v->handle->t;
    int n = 0;
    return check(ef_call_op(read_op, read_as[v->dtype], &in, 1, out, 1, &n), "ReadVariableOp");
}

static PyObject *variable_value(PyObject *self, PyObject *unused) {
    (void)unused;
    ef_tensor t = {0};
    return variable_read((variable_object *)self, &t) < 0 ? NULL : tensor_wrap(&t);
}

static void count_variable(const variable_object *self, ef_event_reason reason, int64_t bytes) {
    ef_event_add(&(ef_event_new){.kind = EF_EVENT_VARIABLE,
                                 .reason = reason,
                                 .place = self->place,
                                 .nowhere = true,
                                 .value = {bytes}});
}

/* _create(value, name, trainable, shape or None): makes this an eager variable */
static PyObject *variable_create(PyObject *o, PyObject *args) {
    variable_object *self = (variable_object *)o;
    PyObject *value, *shape;
    const char *name;
    int trainable;
    if (!PyArg_ParseTuple(args, "O!zpO", tensor_type, &value, &name, &trainable, &shape))
        return NULL;
    tensor_object *h = tensor_make();
    if (h == NULL) return NULL;
    const ef_tensor *v = &((tensor_object *)value)->t;
    ef_shape s = ef_tensor_shape(v);
    int bad = shape == Py_None ? 0 : shape_from(shape, &s);
    if (bad == 0) bad = check(ef_variable_new_shaped(v, &s, name, &h->t), "VarHandleOp");
    if (bad == 0) bad = check(ef_variable_set_trainable(&h->t, trainable), NULL);
    if (bad == 0) {
        self->dtype = (ef_dtype)v->dtype;
        PyObject *so = shape_object(&s, NULL);
        if (so == NULL)
            bad = -1;
        else
            Py_XSETREF(self->shape, so);
    }
    if (bad != 0) {
        Py_DECREF(h);
        return NULL;
    }
    Py_XSETREF(self->handle, h);
    self->place = profile_here();
    count_variable(self, profile_direct() ? EF_REASON_NONE : EF_REASON_LIBRARY,
                   (int64_t)ef_tensor_bytes(v));
    Py_RETURN_NONE;
}

/* _adopt(handle, dtype, shape): makes this a variable of a graph */
static PyObject *variable_adopt(PyObject *o, PyObject *args) {
    variable_object *self = (variable_object *)o;
    PyObject *handle, *dtype, *shape;
    if (!PyArg_ParseTuple(args, "O!OO", tensor_type, &handle, &dtype, &shape)) return NULL;
    ef_dtype t = dtype_of(dtype);
    if (t == EF_NO_DTYPE) return NULL;
    self->dtype = t;
    Py_XSETREF(self->shape, Py_NewRef(shape));
    Py_XSETREF(self->handle, (tensor_object *)Py_NewRef(handle));
    Py_RETURN_NONE;
}

/* _again(type): a second object for the same variable, of a derived type; it shares the handle and
 * the attributes */
static PyObject *variable_again(PyObject *o, PyObject *type) {
    variable_object *self = (variable_object *)o;
    if (!PyType_Check(type) || !PyType_IsSubtype((PyTypeObject *)type, variable_type)) {
        PyErr_SetString(PyExc_TypeError, "_again takes a class derived from tf.Variable");
        return NULL;
    }
    variable_object *other =
        (variable_object *)((PyTypeObject *)type)->tp_alloc((PyTypeObject *)type, 0);
    if (other == NULL) return NULL;
    other->dtype = self->dtype;
    other->handle = (tensor_object *)Py_XNewRef(self->handle);
    other->shape = Py_XNewRef(self->shape);
    other->dict = Py_XNewRef(self->dict);
    return (PyObject *)other;
}

static PyObject *get_dtype(PyObject *o, void *c) {
    (void)c;
    return dtype_object(((variable_object *)o)->dtype);
}

static void variable_dealloc(PyObject *o) {
    variable_object *self = (variable_object *)o;
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (self->weak != NULL) PyObject_ClearWeakRefs(o);
    if (self->place != 0) count_variable(self, EF_REASON_FORGOTTEN, 0);
    Py_CLEAR(self->dict);
    Py_CLEAR(self->handle);
    Py_CLEAR(self->shape);
    type->tp_free(o);
    Py_DECREF(type);
}

static int variable_traverse(PyObject *o, visitproc visit, void *arg) {
    Py_VISIT(((variable_object *)o)->dict);
    Py_VISIT(((variable_object *)o)->shape);
    Py_VISIT(Py_TYPE(o));
    return 0;
}
static int variable_clear(PyObject *o) {
    Py_CLEAR(((variable_object *)o)->dict);
    return 0;
}

/* Unary operators, indexing and comparison act on the value. */
static PyObject *on_value(PyObject *o, PyObject *(*fn)(PyObject *)) {
    PyObject *t = variable_value(o, NULL);
    PyObject *r = t != NULL ? fn(t) : NULL;
    Py_XDECREF(t);
    return r;
}
static PyObject *variable_neg(PyObject *o) { return on_value(o, PyNumber_Negative); }
static PyObject *variable_abs(PyObject *o) { return on_value(o, PyNumber_Absolute); }
static PyObject *variable_invert(PyObject *o) { return on_value(o, PyNumber_Invert); }
static PyObject *as_number(PyObject *o, PyObject *(*fn)(PyObject *)) {
    if (!recording()) return on_value(o, fn);
    return PyErr_Format(PyExc_AttributeError,
                        "the value of a variable is symbolic here and has no attribute 'numpy'");
}
static PyObject *variable_float(PyObject *o) { return as_number(o, PyNumber_Float); }
static PyObject *variable_int(PyObject *o) { return as_number(o, PyNumber_Long); }
static int variable_bool(PyObject *o) {
    PyObject *t = variable_value(o, NULL);
    int yes = t != NULL ? PyObject_IsTrue(t) : -1;
    Py_XDECREF(t);
    return yes;
}
static PyObject *variable_subscript(PyObject *o, PyObject *key) {
    PyObject *t = variable_value(o, NULL);
    PyObject *r = t != NULL ? tensor_subscript(t, key) : NULL;
    Py_XDECREF(t);
    if (r == NULL) return NULL;
    PyObject *from = PyTuple_Pack(2, o, key); /* for v[1:].assign(...) */
    if (from == NULL || PyObject_SetAttr(r, str_sliced, from) < 0) Py_CLEAR(r);
    Py_XDECREF(from);
    return r;
}
static PyObject *variable_compare(PyObject *a, PyObject *b, int how) {
    if (b == Py_None && (how == Py_EQ || how == Py_NE))
        return PyErr_Format(PyExc_ValueError, "Attempt to convert a value (None) with an "
                                              "unsupported type (<class 'NoneType'>) to a Tensor.");
    PyObject *t = IS_VARIABLE(a) ? variable_value(a, NULL) : Py_NewRef(a);
    PyObject *u = t == NULL ? NULL : IS_VARIABLE(b) ? variable_value(b, NULL) : Py_NewRef(b);
    PyObject *r = u != NULL ? tensor_compare(t, u, how) : NULL;
    Py_XDECREF(t);
    Py_XDECREF(u);
    return r;
}
static Py_hash_t variable_hash(PyObject *o) {
    (void)o;
    PyErr_SetString(PyExc_TypeError,
                    "Variable is unhashable. Instead, use variable.ref() as the key.");
    return -1;
}

static PyMethodDef variable_methods[] = {
    {"_create", variable_create, METH_VARARGS, NULL},
    {"_adopt", variable_adopt, METH_VARARGS, NULL},
    {"_again", variable_again, METH_O, NULL},
    {"value", variable_value, METH_NOARGS, "The current value as a Tensor."},
    {"read_value", variable_value, METH_NOARGS, "The current value as a Tensor."},
    {"_read", variable_value, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyMemberDef variable_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(variable_object, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(variable_object, weak), READONLY, NULL},
    {"handle", T_OBJECT_EX, offsetof(variable_object, handle), READONLY, "its resource tensor"},
    {"shape", T_OBJECT_EX, offsetof(variable_object, shape), READONLY, "its TensorShape"},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef variable_getset[] = {
    {"dtype", get_dtype, NULL, "the type of its elements", NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};

int variable_init(PyObject *module) {
    PyType_Slot own[] = {{Py_tp_dealloc, variable_dealloc},
                         {Py_tp_traverse, variable_traverse},
                         {Py_tp_clear, variable_clear},
                         {Py_tp_methods, variable_methods},
                         {Py_tp_members, variable_members},
                         {Py_tp_getset, variable_getset},
                         {Py_mp_subscript, variable_subscript},
                         {Py_tp_richcompare, variable_compare},
                         {Py_tp_hash, variable_hash},
                         {Py_nb_float, variable_float},
                         {Py_nb_int, variable_int},
                         {Py_nb_bool, variable_bool},
                         {0, NULL}};
    PyType_Slot all[64];
    int n = 0;
    for (int k = 0; own[k].slot != 0; k++) all[n++] = own[k];
    for (int k = 0; number_slots[k].slot != 0; k++) {
        all[n] = number_slots[k];
        if (all[n].slot == Py_nb_negative) all[n].pfunc = variable_neg;
        if (all[n].slot == Py_nb_absolute) all[n].pfunc = variable_abs;
        if (all[n].slot == Py_nb_invert) all[n].pfunc = variable_invert;
        n++;
    }
    all[n] = (PyType_Slot){0, NULL};
    PyType_Spec spec = {"evenflow._core.VariableBase", sizeof(variable_object), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, all};
    if ((read_op = ef_op_find("ReadVariableOp")) == NULL) return -1;
    if ((str_sliced = PyUnicode_InternFromString("_sliced")) == NULL) return -1;
    variable_type = add_type(module, &spec, core_type, "VariableBase");
    return variable_type != NULL ? 0 : -1;
}
