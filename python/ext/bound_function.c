/* A tf.function accessed through an instance: a method that still has get_concrete_function and the
 * like. A new one is made at each access; it holds references to the function and to the instance
 * only. */
#include "function.h"
#include <structmember.h>

PyTypeObject *bound_type;

static PyObject *bound_call(PyObject *callable, PyObject *const *args, size_t nargsf,
                            PyObject *names) {
    bound_object *b = (bound_object *)callable;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf), k = names != NULL ? PyTuple_GET_SIZE(names) : 0;
    if (nargsf & PY_VECTORCALL_ARGUMENTS_OFFSET) { /* the callee may overwrite args[-1] meanwhile */
        PyObject **at = (PyObject **)args - 1, *before = *at;
        *at = b->self;
        PyObject *r = function_call(b->function, at, (size_t)n + 1, names);
        *at = before;
        return r;
    }
    PyObject *few[16], **all = few;
    if (n + k + 1 > 16 && (all = PyMem_Malloc((size_t)(n + k + 1) * sizeof *all)) == NULL)
        return PyErr_NoMemory();
    all[0] = b->self;
    memcpy(all + 1, args, (size_t)(n + k) * sizeof *all);
    PyObject *r = function_call(b->function, all, (size_t)n + 1, names);
    if (all != few) PyMem_Free(all);
    return r;
}

PyObject *function_descr_get(PyObject *self, PyObject *obj, PyObject *type) {
    (void)type;
    if (obj == NULL || obj == Py_None) return Py_NewRef(self);
    bound_object *b = PyObject_GC_New(bound_object, bound_type);
    if (b == NULL) return NULL;
    b->call = bound_call;
    b->weak = NULL;
    b->function = (PyObject *)function_for_instance((function_object *)self, obj);
    b->self = Py_NewRef(obj);
    if (b->function == NULL) {
        Py_DECREF(b);
        return NULL;
    }
    PyObject_GC_Track((PyObject *)b);
    return (PyObject *)b;
}

static void bound_dealloc(PyObject *o) {
    bound_object *b = (bound_object *)o;
    PyTypeObject *type = Py_TYPE(o);
    if (PyObject_GC_IsTracked(o)) PyObject_GC_UnTrack(o);
    if (b->weak != NULL) PyObject_ClearWeakRefs(o);
    Py_CLEAR(b->function);
    Py_CLEAR(b->self);
    type->tp_free(o);
    Py_DECREF(type);
}
static int bound_traverse(PyObject *o, visitproc visit, void *arg) {
    Py_VISIT(((bound_object *)o)->function);
    Py_VISIT(((bound_object *)o)->self);
    Py_VISIT(Py_TYPE(o));
    return 0;
}
static PyObject *bound_getattro(PyObject *o, PyObject *name) {
    PyObject *v = PyObject_GenericGetAttr(o, name);
    if (v != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return v;
    PyErr_Clear();
    return PyObject_GetAttr(((bound_object *)o)->function, name);
}
/* An attribute is set on the function, so that the next access through the instance has it too. */
static int bound_setattro(PyObject *o, PyObject *name, PyObject *value) {
    return PyObject_SetAttr(((bound_object *)o)->function, name, value);
}
static PyObject *bound_compare(PyObject *a, PyObject *b, int how) {
    if ((how != Py_EQ && how != Py_NE) || Py_TYPE(a) != bound_type || Py_TYPE(b) != bound_type)
        Py_RETURN_NOTIMPLEMENTED;
    bound_object *x = (bound_object *)a, *y = (bound_object *)b;
    int same = x->function == y->function && x->self == y->self;
    return PyBool_FromLong(how == Py_EQ ? same : !same);
}
static Py_hash_t bound_hash(PyObject *o) {
    bound_object *b = (bound_object *)o;
    return (Py_hash_t)(((uintptr_t)b->function >> 4) ^ ((uintptr_t)b->self << 3)) | 1;
}
static PyMemberDef bound_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(bound_object, call), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(bound_object, weak), READONLY, NULL},
    {"__func__", T_OBJECT_EX, offsetof(bound_object, function), READONLY, NULL},
    {"__self__", T_OBJECT_EX, offsetof(bound_object, self), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot bound_slots[] = {{Py_tp_dealloc, bound_dealloc},
                                    {Py_tp_traverse, bound_traverse},
                                    {Py_tp_call, PyVectorcall_Call},
                                    {Py_tp_members, bound_members},
                                    {Py_tp_getattro, bound_getattro},
                                    {Py_tp_setattro, bound_setattro},
                                    {Py_tp_richcompare, bound_compare},
                                    {Py_tp_hash, bound_hash},
                                    {0, NULL}};
static PyType_Spec bound_spec = {
    "evenflow._core.BoundFunction", sizeof(bound_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, bound_slots};

int bound_function_init(PyObject *module) {
    bound_type = add_type(module, &bound_spec, NULL, "BoundFunction");
    return bound_type != NULL ? 0 : -1;
}
