/* The base class of tf.name_scope. Eagerly a scope only stores its name for this thread, in C;
 * while a graph is being built, methods written in Python do the work. */
#include "core.h"
#include <structmember.h>

typedef struct scope_object {
    PyObject_HEAD PyObject *name;
    PyObject *left; /* (what leaving restores, the same of the entry before or None), or NULL */
} scope_object;

static PyObject *key; /* of the current eager scope, in the dictionary of each thread */
static PyObject *empty, *slash;

/* "outer/inner/" or ""; borrowed */
static PyObject *eager_scope(void) {
    PyObject *dict = PyThreadState_GetDict();
    PyObject *scope = dict != NULL ? PyDict_GetItemWithError(dict, key) : NULL;
    return scope != NULL ? scope : PyErr_Occurred() ? NULL : empty;
}

static int set_eager_scope(PyObject *scope) {
    PyObject *dict = PyThreadState_GetDict();
    if (dict == NULL) return PyErr_NoMemory(), -1;
    return PyDict_SetItem(dict, key, scope);
}

/* Notes what leaving this entry restores; takes the reference. */
static int push(scope_object *self, PyObject *restore) {
    PyObject *left = restore != NULL
                         ? PyTuple_Pack(2, restore, self->left != NULL ? self->left : Py_None)
                         : NULL;
    Py_XDECREF(restore);
    if (left == NULL) return -1;
    Py_XSETREF(self->left, left);
    return 0;
}

static PyObject *pop(scope_object *self) {
    if (self->left == NULL || self->left == Py_None)
        return PyErr_Format(PyExc_IndexError, "this name scope was not entered");
    PyObject *restore = Py_NewRef(PyTuple_GET_ITEM(self->left, 0));
    Py_SETREF(self->left, Py_NewRef(PyTuple_GET_ITEM(self->left, 1)));
    return restore;
}

/* The scope `name` inside `before`; a name that ends with a slash stands for itself. */
static PyObject *inside(PyObject *before, PyObject *name) {
    Py_ssize_t n = PyUnicode_GET_LENGTH(name);
    if (n == 0 || PyUnicode_READ_CHAR(name, n - 1) == '/') return Py_NewRef(name);
    PyObject *joined = PyUnicode_GET_LENGTH(before) > 0 ? PyUnicode_Concat(before, name) : name;
    PyObject *full = joined != NULL ? PyUnicode_Concat(joined, slash) : NULL;
    if (joined != name) Py_XDECREF(joined);
    return full;
}

static PyObject *scope_enter(PyObject *o, PyObject *unused) {
    (void)unused;
    scope_object *self = (scope_object *)o;
    if (self->name == NULL) return PyErr_Format(PyExc_TypeError, "this name scope has no name");
    if (recording()) {
        PyObject *inner = attr_get(o, "_in_graph");
        PyObject *made = inner != NULL ? PyObject_CallNoArgs(inner) : NULL;
        Py_XDECREF(inner);
        PyObject *full = made != NULL ? attr_call(made, "__enter__", NULL) : NULL;
        if (full == NULL) {
            Py_XDECREF(made);
            return NULL;
        }
        if (push(self, made) < 0) Py_CLEAR(full);
        return full;
    }
    PyObject *before = eager_scope();
    PyObject *full = before != NULL ? inside(before, self->name) : NULL;
    if (full != NULL && (push(self, Py_NewRef(before)) < 0 || set_eager_scope(full) < 0))
        Py_CLEAR(full);
    return full;
}

static PyObject *scope_exit(PyObject *o, PyObject *const *args, Py_ssize_t n) {
    (void)args;
    (void)n;
    PyObject *restore = pop((scope_object *)o);
    if (restore == NULL) return NULL;
    int bad;
    if (PyUnicode_Check(restore)) {
        bad = set_eager_scope(restore);
    } else {
        PyObject *done = attr_call(restore, "__exit__", NULL);
        bad = done == NULL ? -1 : 0;
        Py_XDECREF(done);
    }
    Py_DECREF(restore);
    if (bad < 0) return NULL;
    Py_RETURN_FALSE;
}

static int scope_init(PyObject *o, PyObject *args, PyObject *kwargs) {
    static char *known[] = {"name", NULL};
    PyObject *name;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:name_scope", known, &name)) return -1;
    if (!PyUnicode_Check(name)) {
        PyErr_SetString(PyExc_ValueError, "name for name_scope must be a string.");
        return -1;
    }
    Py_XSETREF(((scope_object *)o)->name, Py_NewRef(name));
    return 0;
}

static int scope_traverse(PyObject *o, visitproc visit, void *arg) {
    Py_VISIT(Py_TYPE(o));
    Py_VISIT(((scope_object *)o)->left);
    return 0;
}

static int scope_clear(PyObject *o) {
    Py_CLEAR(((scope_object *)o)->left);
    return 0;
}

static void scope_dealloc(PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    scope_clear(o);
    Py_CLEAR(((scope_object *)o)->name);
    type->tp_free(o);
    Py_DECREF(type);
}

static PyObject *core_eager_scope(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return Py_XNewRef(eager_scope());
}

static PyObject *core_set_eager_scope(PyObject *module, PyObject *scope) {
    (void)module;
    if (!PyUnicode_Check(scope)) return PyErr_Format(PyExc_TypeError, "a scope is a string");
    if (set_eager_scope(scope) < 0) return NULL;
    Py_RETURN_NONE;
}

static PyMethodDef methods[] = {
    {"__enter__", scope_enter, METH_NOARGS, "Enters the scope; its full name."},
    {"__exit__", (PyCFunction)(void (*)(void))scope_exit, METH_FASTCALL, "Leaves the scope."},
    {NULL, NULL, 0, NULL}};
static PyMemberDef members[] = {
    {"name", T_OBJECT_EX, offsetof(scope_object, name), READONLY, "the name as given"},
    {NULL, 0, 0, 0, NULL}};
static PyMethodDef functions[] = {
    {"eager_scope", core_eager_scope, METH_NOARGS, "The name scope of this thread's eager code."},
    {"set_eager_scope", core_set_eager_scope, METH_O, "Sets it: \"\" or a name with a slash."},
    {NULL, NULL, 0, NULL}};

int name_scope_init(PyObject *module) {
    PyType_Slot slots[] = {{Py_tp_doc, "NameScopeBase(name)\n--\n\nThe base of name_scope."},
                           {Py_tp_init, scope_init},
                           {Py_tp_dealloc, scope_dealloc},
                           {Py_tp_traverse, scope_traverse},
                           {Py_tp_clear, scope_clear},
                           {Py_tp_methods, methods},
                           {Py_tp_members, members},
                           {0, NULL}};
    PyType_Spec spec = {"evenflow._core.NameScopeBase", sizeof(scope_object), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
    if ((key = PyUnicode_InternFromString("evenflow.eager_scope")) == NULL) return -1;
    if ((empty = PyUnicode_InternFromString("")) == NULL) return -1;
    if ((slash = PyUnicode_InternFromString("/")) == NULL) return -1;
    if (add_type(module, &spec, NULL, "NameScopeBase") == NULL) return -1;
    return PyModule_AddFunctions(module, functions);
}
