/* Ops as Python callables: tf.raw_ops.AddV2, and public functions such as tf.add that call one op
 * but have a name and parameter names of their own. */
#include "op.h"
#include <structmember.h>

PyTypeObject *op_type;

static void op_dealloc(PyObject *o) {
    op_object *self = (op_object *)o;
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (self->weak != NULL) PyObject_ClearWeakRefs(o);
    for (int k = 0; k < self->n_params; k++) Py_CLEAR(self->param[k]);
    Py_CLEAR(self->dict);
    Py_CLEAR(self->kept);
    Py_CLEAR(self->result);
    type->tp_free(o);
    Py_DECREF(type);
}

static int op_traverse(PyObject *o, visitproc visit, void *arg) {
    op_object *self = (op_object *)o;
    Py_VISIT(self->dict);
    Py_VISIT(self->kept);
    Py_VISIT(self->result);
    Py_VISIT(Py_TYPE(o));
    return 0;
}

static int add_param(op_object *self, const char *name, const ef_attr_desc *attr) {
    if (self->n_params == MAX_PARAMS) return -1;
    self->attr[self->n_params] = attr;
    return (self->param[self->n_params++] = PyUnicode_InternFromString(name)) == NULL ? -1 : 0;
}

static int describe(op_object *self) {
    const ef_op_desc *d = self->desc = ef_op_describe(self->op);
    if (d == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->kind = d->name;
    for (int k = 0; k < d->n_attrs && self->n_vars < MAX_VARS; k++)
        if (d->attr[k].inferred && d->attr[k].kind == EF_ATTR_TYPE) {
            self->var_default[self->n_vars] =
                d->attr[k].value != NULL ? ef_dtype_find(d->attr[k].value) : EF_NO_DTYPE;
            self->var[self->n_vars++] = &d->attr[k];
        }
    for (int k = 0; k < d->n_in; k++) {
        if (add_param(self, d->in[k].name, NULL) < 0) return -1;
        self->in[k].var = -1;
        self->in[k].fixed = d->in[k].type_attr == NULL ? d->in[k].fixed : EF_NO_DTYPE;
        for (int v = 0; d->in[k].type_attr != NULL && v < self->n_vars; v++)
            if (strcmp(self->var[v]->name, d->in[k].type_attr) == 0) self->in[k].var = (int8_t)v;
    }
    for (int k = 0; k < d->n_attrs; k++) {
        if (d->attr[k].inferred) continue;
        if (add_param(self, d->attr[k].name, &d->attr[k]) < 0) return -1;
        self->demands = self->demands || d->attr[k].value == NULL;
    }
    return add_param(self, "name", NULL);
}

static PyObject *new_op(const ef_op *op) {
    op_object *self = PyObject_GC_New(op_object, op_type);
    if (self == NULL) return NULL;
    memset((char *)self + sizeof(PyObject), 0, sizeof *self - sizeof(PyObject));
    self->call = op_call;
    self->op = op;
    self->kept = PyDict_New();
    self->dict = PyDict_New();
    PyObject_GC_Track((PyObject *)self);
    if (self->kept == NULL || self->dict == NULL || describe(self) < 0) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

/* op(name, parameters=None, public=None, doc=None, named=False, older=None): an op as a function.
 * parameters: new names for its parameters, in order; "name" is always the last. named: it takes
 * keyword arguments only. older: the op that TensorFlow's function once called and after which it
 * still names its nodes (tf.add: Add); for such a function, the op itself checks the dtype of the
 * second argument. */
static PyObject *core_op(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *public = NULL, *doc = NULL, *older = NULL;
    PyObject *params = NULL;
    int named = 0;
    if (!PyArg_ParseTuple(args, "s|Ozzpz", &name, &params, &public, &doc, &named, &older))
        return NULL;
    const ef_op *op = ef_op_find(name);
    if (op == NULL) return PyErr_Format(PyExc_AttributeError, "the engine has no op '%s'", name);
    op_object *self = (op_object *)new_op(op);
    if (self == NULL) return NULL;
    int bad = 0;
    const ef_op *before = older != NULL ? ef_op_find(older) : NULL;
    const ef_op_desc *called = before != NULL ? ef_op_describe(before) : NULL;
    self->lenient = called != NULL;
    if (called != NULL) self->kind = called->name;
    self->n_places = named ? 0 : self->n_params;
    if (params != NULL && params != Py_None) {
        PyObject *comma = PyUnicode_FromString(", ");
        PyObject *split = PyUnicode_Check(params) && comma != NULL
                              ? PyUnicode_Split(params, comma, -1)
                              : Py_NewRef(params);
        Py_XDECREF(comma);
        PyObject *fast =
            split != NULL ? PySequence_Fast(split, "parameters are a sequence of names") : NULL;
        Py_XDECREF(split);
        bad = fast == NULL ? -1 : 0;
        for (Py_ssize_t k = 0; bad == 0 && k < PySequence_Fast_GET_SIZE(fast); k++) {
            PyObject *p = Py_NewRef(PySequence_Fast_GET_ITEM(fast, k));
            if (k >= self->n_params - 1) {
                PyErr_Format(PyExc_ValueError, "%s has %d parameters", name, self->n_params - 1);
                Py_DECREF(p);
                bad = -1;
                break;
            }
            PyUnicode_InternInPlace(&p);
            Py_SETREF(self->param[k], p);
        }
        Py_XDECREF(fast);
    }
    const char *last = public != NULL ? strrchr(public, '.') : NULL;
    PyObject *n = PyUnicode_FromString(last != NULL ? last + 1 : public != NULL ? public : name);
    PyObject *d = PyUnicode_FromString(doc != NULL ? doc : self->desc->doc);
    if (bad == 0 && n != NULL && d != NULL)
        bad = PyDict_SetItemString(self->dict, "__name__", n) |
              PyDict_SetItemString(self->dict, "__qualname__", n) |
              PyDict_SetItemString(self->dict, "__doc__", d);
    Py_XDECREF(n);
    Py_XDECREF(d);
    if (bad != 0) Py_CLEAR(self);
    return (PyObject *)self;
}

static PyObject *op_repr(PyObject *o) {
    PyObject *n = dict_name(((op_object *)o)->dict);
    return PyUnicode_FromFormat("<function %U>", n);
}

static PyObject *op_descr_get(PyObject *self, PyObject *obj, PyObject *type) {
    (void)type;
    if (obj == NULL || obj == Py_None) return Py_NewRef(self);
    return PyMethod_New(self, obj); /* in a class it becomes a method, as a Python function does */
}

static PyObject *get_params(PyObject *o, void *closure) {
    (void)closure;
    op_object *self = (op_object *)o;
    PyObject *t = PyTuple_New(self->n_params);
    for (int k = 0; t != NULL && k < self->n_params; k++)
        PyTuple_SET_ITEM(t, k, Py_NewRef(self->param[k]));
    return t;
}
static PyObject *get_op_name(PyObject *o, void *closure) {
    (void)closure;
    return PyUnicode_FromString(((op_object *)o)->desc->name);
}

static PyObject *get_keywords_only(PyObject *o, void *closure) {
    (void)closure;
    return PyBool_FromLong(((op_object *)o)->n_places == 0);
}
/* Computed in Python at each access, since only inspect and help() need it. */
static PyObject *get_signature(PyObject *o, void *closure) {
    (void)closure;
    PyObject *module = PyImport_ImportModule("evenflow._src.signatures");
    if (module == NULL) return NULL;
    PyObject *signature = PyObject_CallMethod(module, "of", "O", o);
    Py_DECREF(module);
    return signature;
}

static PyGetSetDef op_getset[] = {{"_params", get_params, NULL, NULL, NULL},
                                  {"_op_name", get_op_name, NULL, NULL, NULL},
                                  {"_keywords_only", get_keywords_only, NULL, NULL, NULL},
                                  {"__signature__", get_signature, NULL, NULL, NULL},
                                  {"__dict__", PyObject_GenericGetDict, NULL, NULL, NULL},
                                  {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef op_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(op_object, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(op_object, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(op_object, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyMethodDef op_methods[] = {{"_first", (PyCFunction)(void (*)(void))op_first,
                                    METH_FASTCALL | METH_KEYWORDS,
                                    "Calls the op; of several outputs only the first is returned."},
                                   {NULL, NULL, 0, NULL}};
static PyType_Slot op_slots[] = {
    {Py_tp_dealloc, op_dealloc},     {Py_tp_traverse, op_traverse}, {Py_tp_call, PyVectorcall_Call},
    {Py_tp_repr, op_repr},           {Py_tp_getset, op_getset},     {Py_tp_members, op_members},
    {Py_tp_descr_get, op_descr_get}, {Py_tp_methods, op_methods},   {0, NULL}};
static PyType_Spec op_spec = {"evenflow._core.Op", sizeof(op_object), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                              op_slots};

/* describe_op(name) -> dict: the op's record, for raw_ops, stubs and documentation. */
static PyObject *core_describe(PyObject *module, PyObject *name) {
    (void)module;
    const char *text = PyUnicode_AsUTF8(name);
    const ef_op *op = text != NULL ? ef_op_find(text) : NULL;
    const ef_op_desc *d = op != NULL ? ef_op_describe(op) : NULL;
    if (d == NULL) return PyErr_Format(PyExc_AttributeError, "the engine has no op %R", name);
    PyObject *in = PyList_New(0), *out = PyList_New(0), *attrs = PyList_New(0);
    for (int k = 0; k < d->n_in + d->n_out; k++) {
        const ef_arg_info *a = k < d->n_in ? &d->in[k] : &d->out[k - d->n_in];
        PyObject *row = Py_BuildValue("(szzi)", a->name,
                                      a->type_attr != NULL ? a->type_attr : ef_dtype_name(a->fixed),
                                      a->number_attr, (int)a->is_list);
        if (row != NULL) PyList_Append(k < d->n_in ? in : out, row);
        Py_XDECREF(row);
    }
    for (int k = 0; k < d->n_attrs; k++) {
        PyObject *row = Py_BuildValue("(sszi)", d->attr[k].name, d->attr[k].type, d->attr[k].value,
                                      (int)d->attr[k].inferred);
        if (row != NULL) PyList_Append(attrs, row);
        Py_XDECREF(row);
    }
    return Py_BuildValue("{s:s,s:s,s:N,s:N,s:N,s:i}", "name", d->name, "doc", d->doc, "inputs", in,
                         "outputs", out, "attrs", attrs, "stateful", (int)d->stateful);
}

static PyObject *core_op_names(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    PyObject *list = PyList_New(0);
    for (int k = 0; list != NULL && k < ef_op_count(); k++) {
        PyObject *n = PyUnicode_FromString(ef_op_describe(ef_op_at(k))->name);
        if (n != NULL) PyList_Append(list, n);
        Py_XDECREF(n);
    }
    return list;
}

static PyMethodDef functions[] = {
    {"op", core_op, METH_VARARGS, "An op as a function."},
    {"describe_op", core_describe, METH_O, "The record of an op, as a dict."},
    {"op_names", core_op_names, METH_NOARGS, "The names of all ops."},
    {NULL, NULL, 0, NULL}};

int op_init(PyObject *module) {
    if ((op_type = add_type(module, &op_spec, NULL, "Op")) == NULL) return -1;
    return PyModule_AddFunctions(module, functions);
}
