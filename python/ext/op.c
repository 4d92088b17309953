/* Calls an op: binds the arguments by position or interned keyword, finds the attributes in a
 * cache, reads the inputs (op_inputs.c), and calls the engine. */
#include "op.h"
#include "profile.h"

/* ---- running --------------------------------------------------------------------------------- */

enum length { SHORT, ANY, LONG };

/* The bytes of the first strings: an encoded image, a whole text. */
static size_t string_bytes(const ef_tensor *t) {
    enum { FIRST = 32 };
    size_t bytes = 0, n;
    const char *at;
    int64_t count = ef_tensor_count(t);
    for (int64_t k = 0; k < count && k < FIRST; k++) {
        if (ef_string_at(t, k, &at, &n) == NULL) bytes += n;
    }
    return bytes;
}

/* How long a call may take. LONG, so that releasing the GIL pays off: its inputs are large, one of
 * them is deferred, so that another thread may be computing it, or it may wait for a queue. ANY:
 * an input is a variant, which may be a dataset and be iterated over, or a string, which may name
 * a file that is slow or a pipe. */
static enum length length_of(const ef_tensor *const *in, int n_in) {
    size_t bytes = 0;
    bool any = false;
    if (n_in > 0 && in[0]->dtype == EF_RESOURCE && ef_resource_waits(in[0])) return LONG;
    for (int k = 0; k < n_in; k++) {
        any |= in[k]->dtype == EF_VARIANT || in[k]->dtype == EF_STRING;
        if (in[k]->storage == NULL || in[k]->dtype == EF_RESOURCE ||
            (in[k]->flags & EF_TENSOR_SYMBOLIC))
            continue;
        if (!ef_tensor_ready(in[k])) return LONG;
        bytes += ef_tensor_bytes(in[k]);
        if (in[k]->dtype == EF_STRING) bytes += string_bytes(in[k]);
    }
    return bytes > 65536 ? LONG : any ? ANY : SHORT;
}

/* max_out FIRST_ONLY: of several outputs the first only is wanted. */
enum { FIRST_ONLY = -1 };

static ef_status *enter(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                        int n_in, ef_tensor *out, int max_out, int *n_out) {
    if (max_out != FIRST_ONLY) return ef_call_op(op, attrs, in, n_in, out, max_out, n_out);
    *n_out = 1;
    return ef_call_op_first(op, attrs, in, n_in, out);
}

static ef_status *call(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in,
                       ef_tensor *out, int max_out, int *n_out) {
    if (refused) return ef_status_make(EF_FAILED_PRECONDITION, refusal);
    enum length length = length_of(in, n_in);
    if (recording()) /* nodes are added with the GIL held */
        return enter(op, attrs, in, n_in, out, max_out, n_out);
    engine_call v;
    if (length == SHORT) { /* no pulse is needed; only large results release the GIL */
        v = (engine_call){.outer = engine_now};
        engine_now = &v;
        ef_status *s = enter(op, attrs, in, n_in, out, max_out, n_out);
        engine_now = v.outer;
        return v.away != NULL || v.error != NULL ? engine_return(&v, s) : s;
    }
    engine_begin(&v, length == LONG);
    ef_status *s = engine_end(&v, enter(op, attrs, in, n_in, out, max_out, n_out));
    if (atomic_load_explicit(&profile_waiting, memory_order_relaxed) > 0) profile_resolve(NULL);
    return s;
}

static PyObject *run1(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in,
                      int max_out) {
    tensor_object *o = tensor_make();
    if (o == NULL) return NULL;
    int n_out = 0;
    sample taken = sample_take();
    if (taken.weight == 0 && !refused && ef_call_small(op, attrs, in, n_in, &o->t))
        return (PyObject *)o;
    ef_status *s = call(op, attrs, in, n_in, &o->t, max_out, &n_out);
    if (s != NULL) {
        Py_DECREF(o);
        return raise_status(s, ef_op_describe(op)->name);
    }
    if (taken.weight > 0) sample_op(&taken, op, in, n_in, (PyObject *)o);
    return tensor_finish(o);
}
PyObject *op_run1(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in) {
    return run1(op, attrs, in, n_in, 1);
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

static PyObject *made_operation(void) { /* the Operation of the node that was added last */
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
    PyObject *named = attr_call(self->result, "_make", tuple);
    Py_DECREF(tuple);
    return named;
}

/* ---- attributes ------------------------------------------------------------------------------ */

static void attrs_capsule_end(PyObject *capsule) {
    ef_attrs_unref(PyCapsule_GetPointer(capsule, "ef_attrs"));
}

/* A hashable object that stands for an attribute value in a cache key; NULL without an exception:
 * the value cannot be in a key. depth limits the nesting of lists, so that recursion ends; what is
 * nested deeper is rejected when the attribute is read. */
static PyObject *key_of(PyObject *o, int depth) {
    if (PyList_Check(o) || PyTuple_CheckExact(o)) {
        if (depth == 0) return NULL;
        Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
        PyObject *t = PyTuple_New(n);
        for (Py_ssize_t k = 0; t != NULL && k < n; k++) {
            PyObject *e = key_of(PySequence_Fast_GET_ITEM(o, k), depth - 1);
            if (e == NULL) {
                Py_DECREF(t);
                return NULL;
            }
            PyTuple_SET_ITEM(t, k, e);
        }
        return t;
    }
    if (PyBool_Check(o))
        return Py_NewRef(o == Py_True ? Py_Ellipsis : Py_NotImplemented); /* since True == 1 */
    if (PyLong_CheckExact(o) || PyUnicode_CheckExact(o) || o == Py_None || PyBytes_CheckExact(o))
        return Py_NewRef(o);
    if (PyFloat_CheckExact(o)) /* as a key, -0.0 would equal 0.0 */
        return PyFloat_AS_DOUBLE(o) == 0.0 ? NULL : Py_NewRef(o);
    for (int k = 0; k < EF_DTYPES; k++)
        if (hooks.dtype[k] == o) return PyLong_FromLong(-1000 - k);
    return NULL;
}

/* -1: raised; LATE: raised because a value has the right type, but the op does not allow it. */
enum { LATE = -2 };

static int make_attrs(op_object *self, PyObject **value, const ef_attrs **out) {
    attr_arena arena = {.n = 0};
    ef_attr_value set[MAX_PARAMS];
    int n = 0, bad = 0;
    for (int k = self->desc->n_in; k < self->n_params - 1 && bad == 0; k++)
        if (value[k] != NULL && value[k] != Py_None)
            bad = attr_from(self->desc->name, self->attr[k], value[k], &arena, &set[n++]);
    if (bad == 0) {
        bad = check(ef_attrs_make(self->op, set, n, out), self->desc->name);
        arena.late = true;
    }
    attr_arena_end(&arena);
    return bad < 0 && arena.late ? LATE : bad;
}

/* Sets *out to the attributes for these values, with a new reference; NULL: all are defaults. */
static int find_attrs(op_object *self, PyObject **value, const ef_attrs **out) {
    *out = NULL;
    int given = 0;
    for (int k = self->desc->n_in; self->demands && k < self->n_params - 1; k++)
        if (self->attr[k]->value == NULL && (value[k] == NULL || value[k] == Py_None)) {
            PyErr_Format(PyExc_TypeError, "Expected %s for argument '%U' of '%s' Op, not None.",
                         self->attr[k]->type, self->param[k], self->desc->name);
            return -1;
        }
    for (int k = self->desc->n_in; k < self->n_params - 1; k++)
        given += value[k] != NULL && value[k] != Py_None;
    if (given == 0) return 0;
    if (self->desc->stateful && recording()) /* nodes of random ops must not share attributes */
        return make_attrs(self, value, out);
    PyObject *key = PyTuple_New(self->n_params - 1 - self->desc->n_in);
    if (key == NULL) return -1;
    for (int k = self->desc->n_in; k < self->n_params - 1; k++) {
        PyObject *e = value[k] == NULL ? Py_NewRef(Py_None) : key_of(value[k], 4);
        if (e == NULL) { /* a value, such as a tensor or a function, cannot be in a key */
            Py_DECREF(key);
            PyErr_Clear();
            return make_attrs(self, value, out);
        }
        PyTuple_SET_ITEM(key, k - self->desc->n_in, e);
    }
    PyObject *held = PyDict_GetItemWithError(self->kept, key);
    int bad = -1;
    if (held != NULL) {
        *out = ef_attrs_ref(PyCapsule_GetPointer(held, "ef_attrs"));
    } else if (!PyErr_Occurred() && (bad = make_attrs(self, value, out)) == 0) {
        if (PyDict_GET_SIZE(self->kept) >= KEPT_ATTRS) PyDict_Clear(self->kept);
        held = PyCapsule_New((void *)ef_attrs_ref(*out), "ef_attrs", attrs_capsule_end);
        if (held != NULL) PyDict_SetItem(self->kept, key, held);
        Py_XDECREF(held);
    }
    Py_DECREF(key);
    if (!PyErr_Occurred()) return 0;
    if (*out != NULL) ef_attrs_unref(*out);
    return bad == 0 ? -1 : bad;
}

/* An attribute's value is not allowed. As in TensorFlow, an error of the inputs is raised instead
 * if there is one. */
static PyObject *refuse_late(op_object *self, PyObject **value) {
    PyObject *type, *error, *trace;
    PyErr_Fetch(&type, &error, &trace);
    inputs in;
    if (inputs_take(self, value, &in) == 0) {
        PyErr_Restore(type, error, trace);
    } else {
        Py_XDECREF(type);
        Py_XDECREF(error);
        Py_XDECREF(trace);
    }
    inputs_end(self, &in);
    return NULL;
}

/* ---- the call -------------------------------------------------------------------------------- */

static int bind(op_object *self, PyObject *const *args, Py_ssize_t n, PyObject *names,
                PyObject **value) {
    if (n > self->n_places) {
        PyErr_Format(PyExc_TypeError, "%s() takes %d arguments by position but %zd were given",
                     self->desc->name, self->n_places, n);
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

enum { MOST_MADE = 1 << 25 }; /* outputs; for more, shape inference raises an error */

/* An upper bound of the number of outputs, from the attributes that give the lengths of lists. */
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
    return n > 0 && n < MOST_MADE ? (int)n : MAX_FEW;
}

/* Type dispatch (_src/dispatch.py): arguments that do not convert to tensors may be ragged, sparse
 * or of a user's class. It runs only after the op has raised, so that plain calls do not pay for
 * it; if no dispatcher handles the call, the op's exception is raised. */
static PyObject *dispatched(op_object *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    bool by_kind =
        PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_ValueError);
    if (!by_kind || hooks.dispatch == NULL) return NULL;
    PyObject *type, *error, *trace, *answer = NULL;
    PyErr_Fetch(&type, &error, &trace);
    PyObject *given = PyTuple_New(n), *named = PyDict_New();
    for (Py_ssize_t k = 0; given != NULL && k < n; k++)
        PyTuple_SET_ITEM(given, k, Py_NewRef(args[k]));
    for (Py_ssize_t k = 0; named != NULL && names != NULL && k < PyTuple_GET_SIZE(names); k++)
        if (PyDict_SetItem(named, PyTuple_GET_ITEM(names, k), args[n + k]) < 0) Py_CLEAR(named);
    if (given != NULL && named != NULL)
        answer = PyObject_CallFunctionObjArgs(hooks.dispatch, self, given, named, NULL);
    Py_XDECREF(given);
    Py_XDECREF(named);
    if (answer == Py_NotImplemented) {
        Py_CLEAR(answer);
        PyErr_Restore(type, error, trace);
        return NULL;
    }
    Py_XDECREF(type);
    Py_XDECREF(error);
    Py_XDECREF(trace);
    return answer;
}

/* The usual call of an elementwise op: small eager tensors, and nothing else. NULL: it is another
 * call, or an exception is set. */
static PyObject *call_small(const op_object *self, PyObject *const *args, int n) {
    const ef_tensor *in[2];
    if (profile_left <= 0 || refused) return NULL;
    for (int k = 0; k < n; k++) {
        in[k] = &((tensor_object *)args[k])->t;
        if (!IS_EAGER(args[k]) || in[k]->data != (const void *)in[k]->small) return NULL;
    }
    tensor_object *o = tensor_make();
    if (o == NULL) return NULL;
    if (ef_call_small(self->op, NULL, in, n, &o->t)) {
        profile_left--; /* as sample_take */
        return (PyObject *)o;
    }
    Py_DECREF(o);
    return NULL;
}

/* first: of several outputs the first only. */
static PyObject *answer(op_object *self, PyObject *const *args, Py_ssize_t n, PyObject *names,
                        bool first) {
    PyObject *value[MAX_PARAMS];
    memset(value, 0, (size_t)self->n_params * sizeof *value);
    if (bind(self, args, n, names, value) < 0) return NULL;
    PyObject *name = value[self->n_params - 1];
    if (name != NULL && name != Py_None && !PyUnicode_Check(name) && !PyBytes_Check(name) &&
        recording())
        return PyErr_Format(PyExc_TypeError, "a name must be a string, not %R", name);
    const ef_attrs *attrs = NULL;
    int bad = find_attrs(self, value, &attrs); /* before the inputs, as in TensorFlow */
    if (bad < 0) return bad == LATE ? refuse_late(self, value) : NULL;
    inputs in;
    PyObject *result = NULL;
    if (inputs_take(self, value, &in) == 0 && name_node(name, self->kind) == 0) {
        if (first) {
            result = run1(self->op, attrs, in.t, in.n, FIRST_ONLY);
        } else if (self->desc->n_out == 1 && !self->desc->out[0].is_list) {
            result = op_run1(self->op, attrs, in.t, in.n);
        } else {
            ef_tensor few[MAX_FEW], *out = few;
            int max = room_for(self, value, in.n), made = 0, group[16];
            if (max > MAX_FEW) out = PyMem_Malloc((size_t)max * sizeof *out);
            ef_status *s = out != NULL ? ef_op_output_counts(self->op, attrs, in.n, group) : NULL;
            if (out != NULL && s == NULL) s = call(self->op, attrs, in.t, in.n, out, max, &made);
            if (out == NULL)
                PyErr_NoMemory();
            else if (s != NULL)
                raise_status(s, self->desc->name);
            else
                result = results(self, out, made, group);
            if (out != few) PyMem_Free(out);
        }
    }
    if (attrs != NULL) ef_attrs_unref(attrs);
    inputs_end(self, &in);
    return result;
}

PyObject *op_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *names) {
    op_object *self = (op_object *)callable;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    if (self->desc->small && names == NULL && n == self->desc->n_in && n <= self->n_places) {
        PyObject *small = call_small(self, args, (int)n);
        if (small != NULL || PyErr_Occurred()) return small;
    }
    PyObject *result = answer(self, args, n, names, false);
    return result != NULL ? result : dispatched(self, args, n, names);
}

PyObject *op_first(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    return answer((op_object *)self, args, n, names, true);
}
