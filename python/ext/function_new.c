/* Creating tf.functions. The parameters of a plain function are read from its code object; for
 * other callables and decorated functions Python's inspect finds them. A tf.function defined in a
 * class has a copy for each instance, which is freed with the instance: its traces, its counts and
 * the variables that its first trace creates belong to that instance. */
#include "function.h"
#include "profile.h"

/* ---- parameters ------------------------------------------------------------------------------ */

static int read_kwonly(function_object *self, PyObject *names, Py_ssize_t from, Py_ssize_t n,
                       PyObject *defaults) {
    PyObject *kwonly = PyDict_New();
    for (Py_ssize_t k = from; kwonly != NULL && k < from + n; k++) {
        PyObject *name = PyTuple_GET_ITEM(names, k), *value = NULL, *row;
        if (defaults != NULL && PyDict_Check(defaults))
            value = PyDict_GetItemWithError(defaults, name);
        row = value != NULL ? PyTuple_Pack(1, value) : Py_NewRef(Py_None);
        if (row == NULL || PyDict_SetItem(kwonly, name, row) < 0) Py_CLEAR(kwonly);
        Py_XDECREF(row);
    }
    Py_XSETREF(self->kwonly, kwonly);
    return kwonly != NULL ? 0 : -1;
}

static int read_code(function_object *self, PyObject *python) {
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(python);
    PyObject *names = attr_get((PyObject *)code, "co_varnames");
    PyObject *defaults = PyFunction_GET_DEFAULTS(python);
    if (names == NULL) return -1;
    self->params = PyTuple_GetSlice(names, 0, code->co_argcount);
    self->unnamed = code->co_posonlyargcount;
    self->varargs = (code->co_flags & CO_VARARGS) != 0;
    self->varkw = (code->co_flags & CO_VARKEYWORDS) != 0;
    self->defaults = defaults != NULL ? Py_NewRef(defaults) : PyTuple_New(0);
    self->kwonly = Py_NewRef(Py_None);
    int bad = self->params == NULL || self->defaults == NULL ? -1 : 0;
    if (bad == 0 && code->co_kwonlyargcount > 0)
        bad = read_kwonly(self, names, code->co_argcount, code->co_kwonlyargcount,
                          PyFunction_GET_KW_DEFAULTS(python));
    Py_DECREF(names);
    return bad;
}

static int read_by_python(function_object *self, PyObject *python) {
    PyObject *all = PyObject_CallOneArg(hooks.parameters, python), *params, *defaults, *kwonly;
    int varargs, varkw, bad = -1;
    if (all != NULL && PyArg_ParseTuple(all, "O!iO!Opp", &PyTuple_Type, &params, &self->unnamed,
                                        &PyTuple_Type, &defaults, &kwonly, &varargs, &varkw)) {
        self->params = Py_NewRef(params);
        self->defaults = Py_NewRef(defaults);
        self->kwonly = Py_NewRef(kwonly);
        self->varargs = varargs;
        self->varkw = varkw;
        bad = 0;
    }
    Py_XDECREF(all);
    return bad;
}

static int read_parameters(function_object *self, PyObject *python) {
    PyObject *own = PyFunction_Check(python) ? ((PyFunctionObject *)python)->func_dict : Py_None;
    if (own == NULL || (own != Py_None && PyDict_GET_SIZE(own) == 0))
        return read_code(self, python);
    return read_by_python(self, python); /* __wrapped__ or __signature__ may be in its dict */
}

int specs_read(function_object *self) {
    if (self->signature == Py_None) return 0;
    Py_ssize_t n = PyTuple_GET_SIZE(self->signature);
    self->spec_dtype = PyMem_Calloc((size_t)n + 1, sizeof *self->spec_dtype);
    self->spec_shape = PyMem_Calloc((size_t)n + 1, sizeof *self->spec_shape);
    if (self->spec_dtype == NULL || self->spec_shape == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    self->n_specs = (int)n;
    for (Py_ssize_t k = 0; k < n; k++) {
        PyObject *row = PyTuple_GET_ITEM(self->signature, k);
        if ((self->spec_dtype[k] = dtype_of(PyTuple_GET_ITEM(row, 0))) == EF_NO_DTYPE ||
            shape_from(PyTuple_GET_ITEM(row, 1), &self->spec_shape[k]) < 0)
            return -1;
    }
    self->flat_signature = PyTuple_GET_SIZE(self->spec_names) == n;
    for (Py_ssize_t k = 0; self->flat_signature && k < n; k++)
        self->flat_signature = PyTuple_GET_ITEM(self->spec_names, k) != Py_False;
    return 0;
}

static int read_signature(function_object *self) {
    self->signature = Py_NewRef(Py_None);
    self->spec_names = Py_NewRef(Py_None);
    if (self->input_signature == Py_None) return 0;
    PyObject *all = PyObject_CallFunction(hooks.read_signature, "OOnOO", self->input_signature,
                                          self->params, PyTuple_GET_SIZE(self->defaults),
                                          self->kwonly, self->varargs ? Py_True : Py_False);
    PyObject *kept, *flat, *names;
    int bad = -1;
    if (all != NULL && PyArg_ParseTuple(all, "O!O!O!i", &PyTuple_Type, &kept, &PyTuple_Type, &flat,
                                        &PyTuple_Type, &names, &self->first_spec)) {
        Py_SETREF(self->input_signature, Py_NewRef(kept));
        Py_SETREF(self->signature, Py_NewRef(flat));
        Py_SETREF(self->spec_names, Py_NewRef(names));
        bad = specs_read(self);
    }
    Py_XDECREF(all);
    return bad;
}

/* ---- name and documentation ------------------------------------------------------------------ */

static int copy_attribute(PyObject *dict, PyObject *python, const char *name, PyObject *otherwise) {
    PyObject *value = attr_get(python, name);
    if (value == NULL) {
        PyErr_Clear();
        if (otherwise == NULL) return 0;
        value = Py_NewRef(otherwise);
    }
    int bad = PyDict_SetItemString(dict, name, value);
    Py_DECREF(value);
    return bad;
}

/* Does what functools.update_wrapper does for decorators in Python. */
static int copy_attributes(function_object *self, PyObject *python) {
    PyObject *own = PyFunction_Check(python) ? ((PyFunctionObject *)python)->func_dict : NULL;
    PyObject *kind = PyUnicode_FromString(Py_TYPE(python)->tp_name);
    self->dict = own != NULL ? PyDict_Copy(own) : PyDict_New();
    int bad = self->dict == NULL || kind == NULL ||
                      copy_attribute(self->dict, python, "__name__", kind) < 0
                  ? -1
                  : 0;
    PyObject *name = bad == 0 ? dict_name(self->dict) : NULL;
    if (bad == 0) bad = copy_attribute(self->dict, python, "__qualname__", name);
    if (bad == 0) bad = copy_attribute(self->dict, python, "__doc__", Py_None);
    if (bad == 0) bad = copy_attribute(self->dict, python, "__module__", Py_None);
    if (bad == 0) bad = PyDict_SetItemString(self->dict, "__wrapped__", python);
    Py_XDECREF(kind);
    return bad;
}

/* Function(python, input_signature, autograph, jit_compile, features, relax) */
PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    PyObject *python, *signature, *jit_compile, *features;
    int autograph, relax;
    if (!PyArg_ParseTuple(args, "OOpOOi", &python, &signature, &autograph, &jit_compile, &features,
                          &relax))
        return NULL;
    function_object *self = (function_object *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->call = function_call;
    self->python = Py_NewRef(python);
    self->input_signature = Py_NewRef(signature);
    self->jit_compile = Py_NewRef(jit_compile);
    self->features = Py_NewRef(features);
    self->autograph = (char)autograph;
    self->relax = (ef_relax)relax;
    if (read_parameters(self, python) < 0 || read_signature(self) < 0 ||
        copy_attributes(self, python) < 0)
        Py_CLEAR(self);
    if (self != NULL)
        profile_post(EF_EVENT_FUNCTION, EF_REASON_NONE, 0, profile_definition(python), 0);
    return (PyObject *)self;
}

/* ---- copies for instances -------------------------------------------------------------------- */

static PyObject *instance_gone(PyObject *both, PyObject *reference) {
    (void)reference;
    PyObject *instances = PyTuple_GET_ITEM(both, 0);
    if (PyDict_DelItem(instances, PyTuple_GET_ITEM(both, 1)) < 0) PyErr_Clear();
    Py_RETURN_NONE;
}
static PyMethodDef gone = {"gone", instance_gone, METH_O, NULL};

/* A weak reference that removes the function from the dict when the instance dies. NULL: raised. */
static PyObject *reference_to(PyObject *instance, PyObject *instances, PyObject *address) {
    PyObject *both = PyTuple_Pack(2, instances, address);
    PyObject *callback = both != NULL ? PyCFunction_New(&gone, both) : NULL;
    PyObject *reference = callback != NULL ? PyWeakref_NewRef(instance, callback) : NULL;
    Py_XDECREF(both);
    Py_XDECREF(callback);
    return reference;
}

static function_object *function_like(const function_object *f, PyObject *reference) {
    function_object *c = (function_object *)function_type->tp_alloc(function_type, 0);
    if (c == NULL) return NULL;
    c->call = function_call;
    c->python = Py_NewRef(f->python);
    c->target = Py_XNewRef(f->target);
    c->seen = Py_XNewRef(f->seen);
    c->params = Py_NewRef(f->params);
    c->defaults = Py_NewRef(f->defaults);
    c->kwonly = Py_NewRef(f->kwonly);
    c->unnamed = f->unnamed;
    c->varargs = f->varargs;
    c->varkw = f->varkw;
    c->input_signature = Py_NewRef(f->input_signature);
    c->signature = Py_NewRef(f->signature);
    c->first_spec = f->first_spec;
    c->spec_names = Py_NewRef(f->spec_names);
    c->jit_compile = Py_NewRef(f->jit_compile);
    c->features = Py_NewRef(f->features);
    c->autograph = f->autograph;
    c->relax = f->relax;
    c->told = f->told;
    c->instance = Py_NewRef(reference);
    c->dict = f->dict != NULL ? PyDict_Copy(f->dict) : PyDict_New();
    if (c->dict == NULL || specs_read(c) < 0) Py_CLEAR(c);
    return c;
}

static function_object *make_for_instance(function_object *self, PyObject *instance,
                                          PyObject *address) {
    if (self->instances == NULL && (self->instances = PyDict_New()) == NULL) return NULL;
    PyObject *reference = reference_to(instance, self->instances, address);
    if (reference == NULL) { /* the instance has no weak references: it shares the function */
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return NULL;
        PyErr_Clear();
        return (function_object *)Py_NewRef((PyObject *)self);
    }
    function_object *made = function_like(self, reference);
    Py_DECREF(reference);
    if (made != NULL && PyDict_SetItem(self->instances, address, (PyObject *)made) < 0)
        Py_CLEAR(made);
    if (made != NULL)
        profile_post(EF_EVENT_FUNCTION, EF_REASON_INSTANCE, 0, profile_definition(self->python), 0);
    return made;
}

function_object *function_for_instance(function_object *self, PyObject *instance) {
    PyObject *address = PyLong_FromVoidPtr(instance), *found = NULL;
    if (address == NULL) return NULL;
    if (self->instances != NULL) found = PyDict_GetItemWithError(self->instances, address);
    if (found != NULL) {
        Py_INCREF(found);
    } else if (!PyErr_Occurred()) {
        found = (PyObject *)make_for_instance(self, instance, address);
    }
    Py_DECREF(address);
    return (function_object *)found;
}
