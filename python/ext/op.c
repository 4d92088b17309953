/* Ops as callables: tf.raw_ops.AddV2, and public functions that are just an op under TensorFlow's
 * own name and parameters. A call finds its arguments by position or interned keyword, settles the
 * type variables, converts what is not a tensor yet, looks up its attributes and runs. */
#include "core.h"
#include <structmember.h>

PyTypeObject *op_type;
enum { MAX_PARAMS = 40, MAX_VARS = 8, MAX_FEW = 16, KEPT_ATTRS = 64 };

typedef struct op_object {
    PyObject_HEAD vectorcallfunc call;
    PyObject *dict, *weak;
    const ef_op *op;
    const ef_op_desc *desc;
    int n_params; /* inputs, then attributes that are not inferred, then name */
    PyObject *param[MAX_PARAMS];
    const ef_attr_desc *attr[MAX_PARAMS]; /* by parameter, NULL for inputs and name */
    struct {
        int8_t var; /* type variable, or -1 */
        ef_dtype fixed;
    } in[MAX_PARAMS];
    int n_vars;
    const ef_attr_desc *var[MAX_VARS];
    ef_dtype var_default[MAX_VARS];
    bool lenient;     /* tf.add: the first leads; a second that cannot follow keeps its dtype */
    bool plain;       /* every input one tensor, one output, no attributes to give */
    PyObject *kept;   /* attribute values -> capsule of ef_attrs, at most KEPT_ATTRS */
    PyObject *result; /* a namedtuple class, for several outputs */
} op_object;

/* ---- running --------------------------------------------------------------------------------- */

/* Work large enough to let other threads run Python meanwhile. */
static int is_long(const ef_tensor *const *in, int n_in) {
    size_t bytes = 0;
    for (int k = 0; k < n_in; k++)
        if (in[k]->storage != NULL && in[k]->dtype != EF_RESOURCE &&
            !(in[k]->flags & EF_TENSOR_SYMBOLIC))
            bytes += ef_tensor_bytes(in[k]);
    return bytes > 65536;
}

static ef_status *call(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in,
                       ef_tensor *out, int max_out, int *n_out) {
    if (refused) return ef_status_make(EF_FAILED_PRECONDITION, refusal);
    if (!is_long(in, n_in)) return ef_call_op(op, attrs, in, n_in, out, max_out, n_out);
    ef_status *s;
    PyThreadState *state = away();
    s = ef_call_op(op, attrs, in, n_in, out, max_out, n_out);
    back(state);
    return s;
}

PyObject *op_run1(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in) {
    tensor_object *o = tensor_make();
    if (o == NULL) return NULL;
    int n_out = 0;
    ef_status *s = call(op, attrs, in, n_in, &o->t, 1, &n_out);
    if (s != NULL) {
        Py_DECREF(o);
        return raise_status(s, ef_op_describe(op)->name);
    }
    return tensor_finish(o);
}

static PyObject *result_class(op_object *self) {
    if (self->result != NULL) return self->result;
    PyObject *m = PyImport_ImportModule("collections"), *names = PyList_New(self->desc->n_out);
    for (int k = 0; names != NULL && k < self->desc->n_out; k++)
        PyList_SET_ITEM(names, k, PyUnicode_FromString(self->desc->out[k].name));
    if (m != NULL && names != NULL)
        self->result = PyObject_CallMethod(m, "namedtuple", "sO", self->desc->name, names);
    Py_XDECREF(m);
    Py_XDECREF(names);
    return self->result;
}

static PyObject *made_operation(void) { /* the node just recorded */
    ef_graph *g = ef_graph_current();
    PyObject *graph = g != NULL ? graph_wrap(g) : NULL;
    if (graph == NULL) return NULL;
    PyObject *o = PyObject_CallFunction(hooks.operation, "Oi", graph, ef_graph_last(g));
    Py_DECREF(graph);
    return o;
}

/* Groups the outputs as the op declares them. */
static PyObject *results(op_object *self, ef_tensor *out, int n, const int *group) {
    const ef_op_desc *d = self->desc;
    if (d->n_out == 0) {
        if (recording()) return made_operation();
        Py_RETURN_NONE;
    }
    if (d->n_out == 1) {
        if (d->out[0].is_list) return tensor_list(out, n);
        return tensor_wrap(&out[0]);
    }
    PyObject *tuple = PyTuple_New(d->n_out);
    int at = 0;
    for (int k = 0; k < d->n_out; k++) {
        PyObject *o = NULL;
        if (tuple != NULL)
            o = d->out[k].is_list ? tensor_list(out + at, group[k]) : tensor_wrap(&out[at]);
        if (o == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, k, o);
        at += group[k];
    }
    if (tuple == NULL || result_class(self) == NULL) {
        Py_XDECREF(tuple);
        return NULL;
    }
    PyObject *named = PyObject_CallMethod(self->result, "_make", "(O)", tuple);
    Py_DECREF(tuple);
    return named;
}

/* How many tensors stand for each output: only one list may be of open length. */
static void output_groups(const ef_op_desc *d, int n, int *group) {
    int lists = 0;
    for (int k = 0; k < d->n_out; k++) lists += d->out[k].is_list;
    int each = lists > 0 ? (n - (d->n_out - lists)) / lists : 0;
    for (int k = 0; k < d->n_out; k++) group[k] = d->out[k].is_list ? each : 1;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void attrs_capsule_end(PyObject *capsule) {
    ef_attrs_unref(PyCapsule_GetPointer(capsule, "ef_attrs"));
}

/* A hashable stand-in for an attribute value; NULL and no error: cannot be kept. */
static PyObject *key_of(PyObject *o) {
    if (PyList_Check(o) || PyTuple_CheckExact(o)) {
        Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
        PyObject *t = PyTuple_New(n);
        for (Py_ssize_t k = 0; t != NULL && k < n; k++) {
            PyObject *e = key_of(PySequence_Fast_GET_ITEM(o, k));
            if (e == NULL) {
                Py_DECREF(t);
                return NULL;
            }
            PyTuple_SET_ITEM(t, k, e);
        }
        return t;
    }
    if (PyLong_CheckExact(o) || PyUnicode_CheckExact(o) || PyBool_Check(o) || o == Py_None ||
        PyBytes_CheckExact(o))
        return Py_NewRef(o);
    if (PyFloat_CheckExact(o)) /* -0.0 is not 0.0 */
        return PyFloat_AS_DOUBLE(o) == 0.0 ? NULL : Py_NewRef(o);
    for (int k = 0; k < EF_DTYPES; k++)
        if (hooks.dtype[k] == o) return PyLong_FromLong(-1000 - k);
    return NULL;
}

static int make_attrs(op_object *self, PyObject **value, const ef_attrs **out) {
    attr_arena arena = {.n = 0};
    ef_attr_value set[MAX_PARAMS];
    int n = 0, bad = 0;
    for (int k = self->desc->n_in; k < self->n_params - 1 && bad == 0; k++)
        if (value[k] != NULL && value[k] != Py_None)
            bad = attr_from(self->desc->name, self->attr[k], value[k], &arena, &set[n++]);
    if (bad == 0) bad = check(ef_attrs_make(self->op, set, n, out), self->desc->name);
    attr_arena_end(&arena);
    return bad;
}

/* Attributes for these values, counted; NULL in *out: the defaults. */
static int find_attrs(op_object *self, PyObject **value, const ef_attrs **out) {
    *out = NULL;
    int given = 0;
    for (int k = self->desc->n_in; k < self->n_params - 1; k++)
        given += value[k] != NULL && value[k] != Py_None;
    if (given == 0) return 0;
    if (self->desc->stateful && recording()) /* a node's position among random numbers is its own */
        return make_attrs(self, value, out);
    PyObject *key = PyTuple_New(self->n_params - 1 - self->desc->n_in);
    if (key == NULL) return -1;
    for (int k = self->desc->n_in; k < self->n_params - 1; k++) {
        PyObject *e = value[k] == NULL ? Py_NewRef(Py_None) : key_of(value[k]);
        if (e == NULL) { /* a tensor or a function among them */
            Py_DECREF(key);
            PyErr_Clear();
            return make_attrs(self, value, out);
        }
        PyTuple_SET_ITEM(key, k - self->desc->n_in, e);
    }
    PyObject *held = PyDict_GetItemWithError(self->kept, key);
    if (held != NULL) {
        *out = ef_attrs_ref(PyCapsule_GetPointer(held, "ef_attrs"));
    } else if (!PyErr_Occurred() && make_attrs(self, value, out) == 0) {
        if (PyDict_GET_SIZE(self->kept) >= KEPT_ATTRS) PyDict_Clear(self->kept);
        held = PyCapsule_New((void *)ef_attrs_ref(*out), "ef_attrs", attrs_capsule_end);
        if (held != NULL) PyDict_SetItem(self->kept, key, held);
        Py_XDECREF(held);
    }
    Py_DECREF(key);
    if (!PyErr_Occurred()) return 0;
    if (*out != NULL) ef_attrs_unref(*out);
    return -1;
}

/* ---- inputs ---------------------------------------------------------------------------------- */

typedef struct inputs {
    operand few[MAX_FEW], *at;
    const ef_tensor *few_t[MAX_FEW], **t;
    int n;
    ef_dtype var[MAX_VARS];
    PyObject *held[MAX_PARAMS]; /* lists made fast */
} inputs;

static void inputs_end(op_object *self, inputs *in) {
    for (int k = 0; k < in->n; k++) operand_end(&in->at[k]);
    for (int k = 0; k < self->desc->n_in; k++) Py_XDECREF(in->held[k]);
    if (in->at != in->few) {
        PyMem_Free(in->at);
        PyMem_Free(in->t);
    }
}

static void note_dtype(op_object *self, inputs *in, int k, PyObject *o) {
    int v = self->in[k].var;
    if (v < 0 || in->var[v] != EF_NO_DTYPE) return;
    if (IS_EAGER(o) || IS_SYMBOLIC(o))
        in->var[v] = (ef_dtype)((tensor_object *)o)->t.dtype;
    else if (IS_VARIABLE(o))
        in->var[v] = own_dtype(o);
}

/* Any sequence argument as a fast one; counts the tensors. */
static int open_lists(op_object *self, PyObject **value, inputs *in, int *count) {
    *count = 0;
    for (int k = 0; k < self->desc->n_in; k++) {
        if (value[k] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() missing required argument '%U'", self->desc->name,
                         self->param[k]);
            return -1;
        }
        if (!self->desc->in[k].is_list) {
            ++*count;
            continue;
        }
        if (!PyList_Check(value[k]) && !PyTuple_Check(value[k])) {
            PyErr_Format(PyExc_TypeError, "Expected list for '%s' argument to '%s' Op, not %R.",
                         self->desc->in[k].name, self->desc->name, value[k]);
            return -1;
        }
        in->held[k] = PySequence_Fast(value[k], "a list");
        if (in->held[k] == NULL) return -1;
        *count += (int)PySequence_Fast_GET_SIZE(in->held[k]);
    }
    return 0;
}

/* A tensor decides for all that share its type variable, wherever it stands. Without one the first
 * value decides, be it a list or an array: see take(). */
static void settle_types(op_object *self, PyObject **value, inputs *in) {
    if (self->lenient) return; /* there the first operand always decides */
    for (int k = 0; k < self->desc->n_in; k++) {
        if (in->held[k] == NULL) {
            note_dtype(self, in, k, value[k]);
            continue;
        }
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(in->held[k]); i++)
            note_dtype(self, in, k, PySequence_Fast_GET_ITEM(in->held[k], i));
    }
}

/* TensorFlow hands tensors, arrays and plain numbers to the op as they are. Any other argument
 * makes it convert all of them first, and then a tensor of another dtype is an error of conversion.
 */
static bool is_direct(PyObject *o) {
    return IS_TENSOR(o) || IS_VARIABLE(o) || PyFloat_Check(o) || PyLong_Check(o) ||
           (is_array(o) && PyObject_HasAttrString(o, "__setitem__"));
}

static bool all_direct(op_object *self, PyObject **value, const inputs *in) {
    for (int k = 0; k < self->desc->n_in; k++) {
        if (in->held[k] == NULL && !is_direct(value[k])) return false;
        for (Py_ssize_t i = 0; in->held[k] != NULL && i < PySequence_Fast_GET_SIZE(in->held[k]);
             i++)
            if (!is_direct(PySequence_Fast_GET_ITEM(in->held[k], i))) return false;
    }
    return true;
}

/* An input whose dtype is not the one its type variable or the op has; the op itself refuses most.
 */
static int other_dtype(op_object *self, PyObject **value, inputs *in, int k, ef_dtype want) {
    const char *have = ef_dtype_name((ef_dtype)in->t[in->n - 1]->dtype);
    if (recording()) {
        PyErr_Format(PyExc_TypeError,
                     "Input '%s' of '%s' Op has type %s that does not match the expected type %s.",
                     self->desc->in[k].name, self->desc->name, have, ef_dtype_name(want));
        return -1;
    }
    if (self->lenient || all_direct(self, value, in)) return 0;
    PyErr_Format(PyExc_ValueError,
                 "Tensor conversion requested dtype %s for Tensor with dtype %s (input '%s' of %s)",
                 ef_dtype_name(want), have, self->desc->in[k].name, self->desc->name);
    return -1;
}

int check_type(const char *input, const ef_attr_desc *type, const ef_tensor *t) {
    if (type->types == 0 || type->types & 1u << t->dtype) return 0;
    char text[512] = "";
    for (int k = 1; k < EF_DTYPES; k++) {
        if (!(type->types & 1u << k)) continue;
        size_t n = strlen(text);
        snprintf(text + n, sizeof text - n, "%s%s", n > 0 ? ", " : "", ef_dtype_name((ef_dtype)k));
    }
    PyErr_Format(PyExc_TypeError,
                 "Value passed to parameter '%s' has DataType %s not in list of allowed values: %s",
                 input, ef_dtype_name((ef_dtype)t->dtype), text);
    return -1;
}

static int take(op_object *self, PyObject **value, inputs *in, int k, PyObject *o) {
    int v = self->in[k].var;
    ef_dtype want = v >= 0 ? in->var[v] : self->in[k].fixed;
    bool settled = v < 0 || want != EF_NO_DTYPE;
    if (!settled) want = self->var_default[v];
    operand *a = &in->at[in->n];
    if (operand_from(o, want, !settled || (v >= 0 && self->lenient) ? HINT : MUST, a) < 0)
        return -1;
    in->t[in->n++] = a->t;
    if (!settled) in->var[v] = (ef_dtype)a->t->dtype;
    bool guessed =
        !settled && want != EF_NO_DTYPE && a->keep == NULL && own_dtype(o) == EF_NO_DTYPE;
    if (v >= 0 && (recording() || guessed) &&
        check_type(self->desc->in[k].name, self->var[v], a->t) < 0)
        return -1;
    if (settled && want != EF_NO_DTYPE && a->t->dtype != want)
        return other_dtype(self, value, in, k, want);
    return 0;
}

static int take_inputs(op_object *self, PyObject **value, inputs *in) {
    int count;
    in->n = 0;
    in->at = in->few;
    in->t = in->few_t;
    memset(in->var, 0, sizeof in->var);
    memset(in->held, 0, sizeof in->held);
    if (open_lists(self, value, in, &count) < 0) return -1;
    if (count > MAX_FEW) {
        in->at = PyMem_Malloc((size_t)count * sizeof *in->at);
        in->t = PyMem_Malloc((size_t)count * sizeof *in->t);
        if (in->at == NULL || in->t == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    settle_types(self, value, in);
    for (int k = 0; k < self->desc->n_in; k++) {
        if (in->held[k] == NULL) {
            if (take(self, value, in, k, value[k]) < 0) return -1;
            continue;
        }
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(in->held[k]); i++)
            if (take(self, value, in, k, PySequence_Fast_GET_ITEM(in->held[k], i)) < 0) return -1;
    }
    return 0;
}

/* ---- the call -------------------------------------------------------------------------------- */

static int bind(op_object *self, PyObject *const *args, Py_ssize_t n, PyObject *names,
                PyObject **value) {
    if (n > self->n_params) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d arguments but %zd were given",
                     self->desc->name, self->n_params, n);
        return -1;
    }
    for (Py_ssize_t k = 0; k < n; k++) value[k] = args[k];
    for (Py_ssize_t k = 0; names != NULL && k < PyTuple_GET_SIZE(names); k++) {
        PyObject *name = PyTuple_GET_ITEM(names, k);
        int p = 0;
        while (p < self->n_params && self->param[p] != name) p++;
        if (p == self->n_params)
            for (p = 0; p < self->n_params; p++)
                if (PyUnicode_Compare(self->param[p], name) == 0) break;
        if (p == self->n_params || value[p] != NULL) {
            PyErr_Format(PyExc_TypeError,
                         p == self->n_params ? "%s() got an unexpected keyword argument '%U'"
                                             : "%s() got multiple values for argument '%U'",
                         self->desc->name, name);
            return -1;
        }
        value[p] = args[n + k];
    }
    return 0;
}

/* How many tensors a call can make, from what its lists are counted by. */
static int room_for(op_object *self, PyObject **value, int n_in) {
    Py_ssize_t n = MAX_FEW;
    for (int k = 0; k < self->desc->n_out; k++) {
        const ef_arg_info *o = &self->desc->out[k];
        const char *by = o->number_attr != NULL ? o->number_attr : o->type_attr;
        if (!o->is_list) continue;
        n += n_in;
        for (int p = self->desc->n_in; p < self->n_params - 1; p++) {
            if (by == NULL || value[p] == NULL || strcmp(self->attr[p]->name, by) != 0) continue;
            if (PySequence_Check(value[p]))
                n += PySequence_Size(value[p]);
            else
                n += PyLong_Check(value[p]) ? PyLong_AsSsize_t(value[p]) : 64;
        }
    }
    PyErr_Clear();
    return n > 0 && n < 65536 ? (int)n : MAX_FEW;
}

extern int name_node(PyObject *name, const char *op); /* graph.c */

static PyObject *op_call(PyObject *callable, PyObject *const *args, size_t nargsf,
                         PyObject *names) {
    op_object *self = (op_object *)callable;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    PyObject *value[MAX_PARAMS];
    memset(value, 0, (size_t)self->n_params * sizeof *value);
    if (bind(self, args, n, names, value) < 0) return NULL;
    const ef_attrs *attrs = NULL;
    inputs in;
    if (take_inputs(self, value, &in) < 0 || find_attrs(self, value, &attrs) < 0) {
        inputs_end(self, &in);
        return NULL;
    }
    PyObject *result = NULL;
    if (name_node(value[self->n_params - 1], self->desc->name) == 0) {
        if (self->desc->n_out == 1 && !self->desc->out[0].is_list) {
            result = op_run1(self->op, attrs, in.t, in.n);
        } else {
            ef_tensor few[MAX_FEW], *out = few;
            int max = room_for(self, value, in.n), made = 0, group[16];
            if (max > MAX_FEW) out = PyMem_Malloc((size_t)max * sizeof *out);
            ef_status *s = out != NULL ? call(self->op, attrs, in.t, in.n, out, max, &made) : NULL;
            if (out == NULL)
                PyErr_NoMemory();
            else if (s != NULL)
                raise_status(s, self->desc->name);
            else {
                output_groups(self->desc, made, group);
                result = results(self, out, made, group);
            }
            if (out != few) PyMem_Free(out);
        }
    }
    if (attrs != NULL) ef_attrs_unref(attrs);
    inputs_end(self, &in);
    return result;
}

/* ---- objects --------------------------------------------------------------------------------- */

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
    for (int k = 0; k < d->n_attrs; k++)
        if (!d->attr[k].inferred && add_param(self, d->attr[k].name, &d->attr[k]) < 0) return -1;
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

/* op(name, parameters=None, public=None, doc=None): an op as a function, its parameters renamed in
 * order; "name" is always the last. */
static PyObject *core_op(PyObject *module, PyObject *args) {
    (void)module;
    const char *name, *public = NULL, *doc = NULL;
    PyObject *params = NULL;
    if (!PyArg_ParseTuple(args, "s|Ozz", &name, &params, &public, &doc)) return NULL;
    const ef_op *op = ef_op_find(name);
    if (op == NULL) return PyErr_Format(PyExc_AttributeError, "the engine has no op '%s'", name);
    op_object *self = (op_object *)new_op(op);
    if (self == NULL) return NULL;
    int bad = 0;
    self->lenient = public != NULL && strcmp(name, "AddV2") == 0;
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
    PyObject *n = PyDict_GetItemString(((op_object *)o)->dict, "__name__");
    return PyUnicode_FromFormat("<function %U>", n);
}

static PyObject *op_descr_get(PyObject *self, PyObject *obj, PyObject *type) {
    (void)type;
    if (obj == NULL || obj == Py_None) return Py_NewRef(self);
    return PyMethod_New(self, obj); /* as a method of a class it takes self, like a function */
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

static PyGetSetDef op_getset[] = {{"_params", get_params, NULL, NULL, NULL},
                                  {"_op_name", get_op_name, NULL, NULL, NULL},
                                  {"__dict__", PyObject_GenericGetDict, NULL, NULL, NULL},
                                  {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef op_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(op_object, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(op_object, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(op_object, weak), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot op_slots[] = {{Py_tp_dealloc, op_dealloc},     {Py_tp_traverse, op_traverse},
                                 {Py_tp_call, PyVectorcall_Call}, {Py_tp_repr, op_repr},
                                 {Py_tp_getset, op_getset},       {Py_tp_members, op_members},
                                 {Py_tp_descr_get, op_descr_get}, {0, NULL}};
static PyType_Spec op_spec = {"evenflow._core.Op", sizeof(op_object), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                              op_slots};

/* describe(name) -> dict: what the record says, for raw_ops, stubs and documentation. */
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
    {"describe_op", core_describe, METH_O, "What an op's record says."},
    {"op_names", core_op_names, METH_NOARGS, "All ops."},
    {NULL, NULL, 0, NULL}};

int op_init(PyObject *module) {
    if ((op_type = add_type(module, &op_spec, NULL, "Op")) == NULL) return -1;
    return PyModule_AddFunctions(module, functions);
}
