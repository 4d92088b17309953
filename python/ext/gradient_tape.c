/* The base class of tf.GradientTape. It holds what runs in every training step, including the
 * gradient of one tensor with respect to tensors and variables. Structures, output gradients and
 * rare options are handled by the Python class derived from it. The engine's tape is always
 * persistent, since jacobians query it once per element; that a non-persistent tape can be used
 * only once is checked here. */
#include "profile.h"
#include "tape.h"
#include <structmember.h>

typedef struct gradient_tape {
    PyObject_HEAD tape_object *tape; /* NULL until it first records */
    char persistent, watch, recording;
    uint32_t place; /* where a persistent tape was created; 0: it is not persistent */
    char done;      /* not persistent and used: it still knows which variables were watched */
} gradient_tape;
#define SELF(o) ((gradient_tape *)(o))

static PyObject *str_in_graph, *str_watch, *str_gradient, *str_complete;

static void count_tape(PyObject *o, int by) {
    ef_event_new e = {.kind = EF_EVENT_TAPE, .place = SELF(o)->place, .value = {by}};
    ef_event_add(&e);
}

static int tape_init_args(PyObject *o, PyObject *args, PyObject *kwargs) {
    static char *names[] = {"persistent", "watch_accessed_variables", NULL};
    int persistent = 0, watch = 1;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|pp", names, &persistent, &watch)) return -1;
    SELF(o)->persistent = (char)persistent;
    SELF(o)->watch = (char)watch;
    if (persistent && SELF(o)->place == 0) {
        SELF(o)->place = profile_here();
        count_tape(o, 1);
    }
    return 0;
}

static void tape_end(PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    if (SELF(o)->place != 0) count_tape(o, -1);
    Py_XDECREF(SELF(o)->tape);
    type->tp_free(o);
    Py_DECREF(type);
}

/* ---- recording ------------------------------------------------------------------------------- */

static int push(PyObject *o) {
    gradient_tape *self = SELF(o);
    if (self->recording) {
        PyErr_SetString(PyExc_ValueError, "Tape is still recording, This can happen if you try to "
                                          "re-enter an already-active tape.");
        return -1;
    }
    if (self->tape != NULL && !self->done) {
        ef_tape_resume(self->tape->t);
    } else {
        PyObject *made = tape_make(tape_type, true, self->watch, false);
        if (made == NULL) return -1;
        Py_XSETREF(self->tape, (tape_object *)made);
        self->done = 0;
        ef_tape_set_again(self->tape->t, self->persistent);
        if (self->watch && recording()) {
            PyObject *seen = PyObject_CallMethodNoArgs(o, str_in_graph);
            if (seen == NULL) {
                ef_tape_pause(self->tape->t);
                return -1;
            }
            Py_DECREF(seen);
        }
    }
    self->recording = 1;
    return 0;
}

static int pop(gradient_tape *self) {
    if (!self->recording) {
        PyErr_SetString(PyExc_ValueError, "Tape is not recording.");
        return -1;
    }
    ef_tape_pause(self->tape->t);
    self->recording = 0;
    return 0;
}

static PyObject *tape_push(PyObject *o, PyObject *unused) {
    (void)unused;
    return push(o) < 0 ? NULL : Py_NewRef(Py_None);
}
static PyObject *tape_pop(PyObject *o, PyObject *unused) {
    (void)unused;
    return pop(SELF(o)) < 0 ? NULL : Py_NewRef(Py_None);
}
static PyObject *tape_enter(PyObject *o, PyObject *unused) {
    (void)unused;
    return push(o) < 0 ? NULL : Py_NewRef(o);
}
static PyObject *tape_exit(PyObject *o, PyObject *const *args, Py_ssize_t n) {
    (void)args;
    (void)n;
    return SELF(o)->recording && pop(SELF(o)) < 0 ? NULL : Py_NewRef(Py_False);
}

/* ---- plain tensors and variables ------------------------------------------------------------- */

static bool differentiable(unsigned dtype) {
    switch (dtype) {
    case EF_F16:
    case EF_BF16:
    case EF_F32:
    case EF_F64:
    case EF_C64:
    case EF_C128: return true;
    default: return false;
    }
}

/* The tensor that the tape watches for o: o itself, or the handle of a variable. NULL: o is
 * neither, and the Python class handles it. */
static tensor_object *plain(PyObject *o) {
    if (IS_EAGER(o) || IS_SYMBOLIC(o)) return (tensor_object *)o;
    return IS_VARIABLE(o) ? ((variable_object *)o)->handle : NULL;
}

/* Calls a method of the Python class derived from this one. */
static PyObject *in_python(PyObject *o, PyObject *method, PyObject *const *args, Py_ssize_t n,
                           PyObject *names) {
    PyObject *any = PyObject_GetAttr(o, method);
    if (any == NULL) return NULL;
    PyObject *made = PyObject_Vectorcall(any, args, (size_t)n, names);
    Py_DECREF(any);
    return made;
}

static PyObject *tape_watch(PyObject *o, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    gradient_tape *self = SELF(o);
    if (n != 1 || names != NULL) return in_python(o, str_watch, args, n, names);
    PyObject *what = args[0];
    tensor_object *t = plain(what);
    unsigned dtype = t != NULL ? t->t.dtype : EF_NO_DTYPE;
    if (t != NULL && IS_VARIABLE(what)) dtype = ((variable_object *)what)->dtype;
    if (self->tape == NULL || self->done || !differentiable(dtype))
        return in_python(o, str_watch, args, n, names);
    if (check(ef_tape_watch(self->tape->t, &t->t), "watch") < 0) return NULL;
    Py_RETURN_NONE;
}

/* ---- gradients ------------------------------------------------------------------------------- */

static void done(gradient_tape *self) {
    if (self->persistent || self->tape == NULL || self->done) return;
    self->done = 1;
    ef_tape_finish(self->tape->t);
}

static PyObject *tape_done(PyObject *o, PyObject *unused) {
    (void)unused;
    done(SELF(o));
    Py_RETURN_NONE;
}

/* The result if some gradient is sparse or missing: the Python class makes IndexedSlices or applies
 * the rule for unconnected sources. */
static PyObject *complete(PyObject *o, PyObject *target, PyObject *flat, ef_tensor *out,
                          bool *slices, int n) {
    PyObject *list = gradient_list(out, slices, n);
    if (list == NULL) return NULL;
    PyObject *args[] = {o, target, flat, list};
    PyObject *made =
        PyObject_VectorcallMethod(str_complete, args, 4 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    Py_DECREF(list);
    return made;
}

/* The gradients as a list, or one gradient if `sources` is not a list. */
static PyObject *answer(PyObject *o, PyObject *target, PyObject *sources, ef_tensor *out,
                        bool *slices, int n) {
    bool one = !PyList_CheckExact(sources), whole = true;
    for (int k = 0; k < n; k++) whole = whole && !slices[k] && out[3 * k].dtype != 0;
    if (whole && one) return tensor_wrap(&out[0]);
    if (whole) return gradient_list(out, slices, n);
    PyObject *flat = one ? PyList_New(1) : Py_NewRef(sources);
    if (flat == NULL) return NULL;
    if (one) PyList_SET_ITEM(flat, 0, Py_NewRef(sources));
    PyObject *list = complete(o, target, flat, out, slices, n);
    Py_DECREF(flat);
    if (list == NULL || !one) return list;
    PyObject *first = PySequence_GetItem(list, 0);
    Py_DECREF(list);
    return first;
}

/* The gradient of one tensor with respect to a tensor or variable, or a list of them. *made is NULL
 * without an exception if the arguments are of other kinds: then the Python class handles them. */
static int plain_gradient(PyObject *o, PyObject *target, PyObject *sources, PyObject **made) {
    enum { FEW = 4 };
    gradient_tape *self = SELF(o);
    bool list = PyList_CheckExact(sources);
    Py_ssize_t n = list ? PyList_GET_SIZE(sources) : 1;
    *made = NULL;
    if (!(IS_EAGER(target) || IS_SYMBOLIC(target)) || n == 0 ||
        !differentiable(((tensor_object *)target)->t.dtype))
        return 0;
    const ef_tensor *few[FEW], **source = few;
    ef_tensor few_out[3 * FEW] = {{0}}, *out = few_out;
    bool few_slices[FEW] = {0}, *slices = few_slices;
    if (n > FEW) {
        size_t bytes = sizeof *source + 3 * sizeof *out + sizeof *slices;
        out = PyMem_Calloc((size_t)n, bytes);
        if (out == NULL) return PyErr_NoMemory(), -1;
        source = (const ef_tensor **)(out + 3 * n);
        slices = (bool *)(source + n);
    }
    int bad = 0;
    for (Py_ssize_t k = 0; k < n && bad == 0; k++) {
        tensor_object *t = plain(list ? PyList_GET_ITEM(sources, k) : sources);
        if (t == NULL)
            bad = 1;
        else
            source[k] = &t->t;
    }
    if (bad == 0) {
        if (self->recording && !self->persistent) bad = pop(self);
        const ef_tensor *y = &((tensor_object *)target)->t;
        tape_object *tape = (tape_object *)Py_NewRef(self->tape);
        /* Other threads may change the list meanwhile: this copy keeps its items alive. */
        PyObject *held = list ? PyList_GetSlice(sources, 0, n) : Py_NewRef(sources);
        if (held == NULL) bad = -1;
        if (bad == 0) bad = tape_ask(tape->t, &y, 1, NULL, source, (int)n, out, slices);
        if (bad == 0) bad = (*made = answer(o, target, held, out, slices, (int)n)) ? 0 : -1;
        Py_XDECREF(held);
        Py_DECREF(tape);
    }
    if (out != few_out) PyMem_Free(out);
    return bad < 0 ? -1 : 0;
}

static PyObject *tape_gradient(PyObject *o, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    gradient_tape *self = SELF(o);
    PyObject *made = NULL;
    if (n == 2 && names == NULL && self->tape != NULL && !self->done) {
        if (plain_gradient(o, args[0], args[1], &made) < 0) return NULL;
        if (made != NULL) {
            done(self);
            return made;
        }
    }
    return in_python(o, str_gradient, args, n, names);
}

/* ---- the type -------------------------------------------------------------------------------- */

static PyObject *get_tape(PyObject *o, void *unused) {
    (void)unused;
    return Py_NewRef(SELF(o)->tape == NULL || SELF(o)->done ? Py_None : (PyObject *)SELF(o)->tape);
}
/* The tape even if it was used up: it still knows the watched variables. */
static PyObject *get_last(PyObject *o, void *unused) {
    (void)unused;
    return Py_NewRef(SELF(o)->tape == NULL ? Py_None : (PyObject *)SELF(o)->tape);
}

static PyMethodDef methods[] = {
    {"_push", tape_push, METH_NOARGS, NULL},
    {"_pop", tape_pop, METH_NOARGS, NULL},
    {"_done", tape_done, METH_NOARGS, NULL},
    {"__enter__", tape_enter, METH_NOARGS, NULL},
    {"__exit__", (PyCFunction)(void (*)(void))tape_exit, METH_FASTCALL, NULL},
    {"watch", (PyCFunction)(void (*)(void))tape_watch, METH_FASTCALL | METH_KEYWORDS,
     "watch($self, /, tensor)\n--\n\n"
     "Records what is done with `tensor` (a tensor, variable, or structure of them)."},
    {"gradient", (PyCFunction)(void (*)(void))tape_gradient, METH_FASTCALL | METH_KEYWORDS,
     "gradient($self, /, target, sources, output_gradients=None, unconnected_gradients='none')\n"
     "--\n\nd target / d sources, in the structure of `sources`."},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef getset[] = {{"_tape", get_tape, NULL, NULL, NULL},
                               {"_last", get_last, NULL, NULL, NULL},
                               {NULL, NULL, NULL, NULL, NULL}};
static PyMemberDef members[] = {
    {"_recording", T_BOOL, offsetof(gradient_tape, recording), READONLY, NULL},
    {"_persistent", T_BOOL, offsetof(gradient_tape, persistent), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot slots[] = {{Py_tp_init, tape_init_args}, {Py_tp_dealloc, tape_end},
                              {Py_tp_methods, methods},     {Py_tp_getset, getset},
                              {Py_tp_members, members},     {0, NULL}};
static PyType_Spec spec = {"evenflow._core.GradientTape", sizeof(gradient_tape), 0,
                           Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};

int gradient_tape_init(PyObject *module) {
    str_in_graph = PyUnicode_InternFromString("_see_graph");
    str_watch = PyUnicode_InternFromString("_watch_any");
    str_gradient = PyUnicode_InternFromString("_gradient_any");
    str_complete = PyUnicode_InternFromString("_complete");
    if (str_in_graph == NULL || str_watch == NULL || str_gradient == NULL || str_complete == NULL)
        return -1;
    return add_type(module, &spec, NULL, "GradientTape") != NULL ? 0 : -1;
}
