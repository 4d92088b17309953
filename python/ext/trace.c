/* Tracing: runs the user's Python function while a new graph is being built, with placeholders in
 * place of the tensors among its arguments. The engine calls function_trace when no trace fits a
 * call.
 *
 * One thread at a time traces a function. Others that need a trace of it wait and then look again,
 * so that eight threads that make the first call trace once. If two threads would wait for each
 * other, both trace. */
#include "function.h"
#include <pythread.h>

_Thread_local calling *function_now; /* the call whose arguments function_trace needs */

/* ---- the packing of a trace ------------------------------------------------------------------ */

void packing_ref(void *user) { atomic_fetch_add(&((packing *)user)->refs, 1); }

void packing_end(void *user) {
    packing *p = user;
    if (atomic_fetch_sub(&p->refs, 1) > 1) return;
    callback_state state = callback_begin();
    Py_DECREF((PyObject *)p);
    callback_end(state);
}

static PyTypeObject *packing_type;

static int packing_traverse(PyObject *o, visitproc visit, void *arg) {
    const packing *p = (packing *)o;
    Py_VISIT(p->pack);
    Py_VISIT(p->result);
    Py_VISIT(p->args);
    Py_VISIT(p->kwargs);
    Py_VISIT(p->graph);
    Py_VISIT(p->name);
    Py_VISIT(Py_TYPE(o));
    return part_traverse(&p->whole, visit, arg);
}

static void packing_dealloc(PyObject *o) {
    packing *p = (packing *)o;
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    part_end(&p->whole);
    Py_CLEAR(p->pack);
    Py_CLEAR(p->result);
    Py_CLEAR(p->args);
    Py_CLEAR(p->kwargs);
    Py_CLEAR(p->graph);
    Py_CLEAR(p->name);
    type->tp_free(o);
    Py_DECREF(type);
}

/* There is no tp_clear: a call in progress may need all of it, and every cycle through a packing
 * also passes through its function or a dict, which are cleared. */
static PyType_Slot packing_slots[] = {
    {Py_tp_traverse, packing_traverse}, {Py_tp_dealloc, packing_dealloc}, {0, NULL}};
static PyType_Spec packing_spec = {
    "evenflow._core._Packing", sizeof(packing), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, packing_slots};

/* Writes the tensors of a list to `out` as results of the trace; if there are more than max_out,
 * all are handed to the engine with ef_trace_give. */
static int give_results(PyObject *flat, ef_tensor *out, int max_out, int *n_out) {
    Py_ssize_t n = PyList_GET_SIZE(flat);
    ef_tensor *at = n <= max_out ? out : PyMem_Calloc((size_t)n, sizeof *at);
    if (at == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        memset(&at[k], 0, sizeof at[k]);
        ef_tensor_copy(&at[k], &((tensor_object *)PyList_GET_ITEM(flat, k))->t);
    }
    *n_out = at == out ? (int)n : 0;
    if (at == out) return 0;
    int bad = check(ef_trace_give(at, (int)n), NULL);
    for (Py_ssize_t k = 0; k < n; k++) ef_tensor_release(&at[k]);
    PyMem_Free(at);
    return bad;
}

/* ---- one thread at a time -------------------------------------------------------------------- */

typedef struct tracer { /* a thread that traces */
    const function_object *waits_for;
} tracer;
static _Thread_local tracer here;

typedef struct waiter { /* a thread that waits, on its own stack */
    struct waiter *next;
    PyThread_type_lock lock;
} waiter;

/* Seconds after which a thread stops waiting: the tracing thread probably waits for this one, in a
 * way that waits_for_us does not see. */
enum { PATIENCE = 60 };

/* Whether the thread that traces f waits for this thread, directly or through other threads. */
static bool waits_for_us(const function_object *f) {
    for (const tracer *t = f->tracer; t != NULL;) {
        if (t == &here) return true;
        if (t->waits_for == NULL) return false;
        t = t->waits_for->tracer;
    }
    return false;
}

static void take_off(function_object *f, const waiter *w) {
    for (waiter **at = &f->waiters; *at != NULL; at = &(*at)->next)
        if (*at == w) {
            *at = w->next;
            return;
        }
}

/* Waits until no thread traces f, or for PATIENCE; -1: a signal handler raised. */
static int wait_for(function_object *f) {
    waiter *w = PyMem_Malloc(sizeof *w);
    PyThread_type_lock lock = w != NULL ? PyThread_allocate_lock() : NULL;
    if (lock == NULL) {
        PyMem_Free(w);
        PyErr_NoMemory();
        return -1;
    }
    *w = (waiter){f->waiters, lock};
    PyThread_acquire_lock(lock, WAIT_LOCK);
    f->waiters = w;
    here.waits_for = f;
    PyLockStatus got;
    int64_t end = nanoseconds() + PATIENCE * INT64_C(1000000000);
    do {
        int64_t left = (end - nanoseconds()) / 1000;
        Py_BEGIN_ALLOW_THREADS;
        got = PyThread_acquire_lock_timed(lock, left > 0 ? left : 0, 1);
        Py_END_ALLOW_THREADS;
    } while (got == PY_LOCK_INTR && PyErr_CheckSignals() == 0);
    here.waits_for = NULL;
    take_off(f, w);
    PyMem_Free(w);
    PyThread_release_lock(lock);
    PyThread_free_lock(lock);
    return got == PY_LOCK_INTR ? -1 : 0;
}

/* Makes this thread the one that traces f. 1: it may trace; 0: it waited for another thread's trace
 * and should look again; -1: raised. */
static int begin_tracing(function_object *f) {
    if (f->tracer != NULL && f->tracer != &here && !waits_for_us(f)) {
        int64_t began = nanoseconds();
        if (wait_for(f) < 0) return -1;
        if (nanoseconds() - began < PATIENCE * INT64_C(1000000000)) return 0;
    }
    if (f->tracer == NULL) f->tracer = &here;
    if (f->tracer == &here) f->depth++;
    return 1;
}

static void end_tracing(function_object *f) {
    if (f->tracer != &here || --f->depth > 0) return;
    f->tracer = NULL;
    for (waiter *w = f->waiters; w != NULL; w = w->next) PyThread_release_lock(w->lock);
    f->waiters = NULL;
}

/* ---- the graph's object ---------------------------------------------------------------------- */

static calling *traced_into(ef_graph *g) {
    calling *c = function_now;
    while (c != NULL && c->g != g) c = c->outer;
    return c;
}

void function_graph_wrapped(ef_graph *g, PyObject *o) {
    calling *c = traced_into(g);
    if (c != NULL && c->graph == NULL) c->graph = Py_NewRef(o);
}

PyObject *function_graph_name(ef_graph *g) {
    calling *c = traced_into(g);
    return c != NULL ? dict_name(c->e->owner->dict) : NULL;
}

/* ---- arguments ------------------------------------------------------------------------------- */

static int name_tensors(ef_graph *g, const char *name, PyObject *o) {
    if (IS_SYMBOLIC(o)) {
        int node;
        if (ef_tensor_graph(&((tensor_object *)o)->t, &node, NULL) != g) return 0;
        return check(ef_graph_rename(g, node, name), NULL);
    }
    if (PyTuple_Check(o) || PyList_Check(o)) {
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o); k++)
            if (name_tensors(g, name, PySequence_Fast_GET_ITEM(o, k)) < 0) return -1;
    } else if (PyDict_Check(o)) {
        Py_ssize_t at = 0;
        PyObject *value;
        while (PyDict_Next(o, &at, NULL, &value))
            if (name_tensors(g, name, value) < 0) return -1;
    }
    return 0;
}

/* The name of the parameter *args. */
static const char *name_of_rest(PyObject *python) {
    if (PyMethod_Check(python)) python = PyMethod_GET_FUNCTION(python);
    if (!PyFunction_Check(python)) return "args";
    PyCodeObject *code = (PyCodeObject *)PyFunction_GET_CODE(python);
    if (!(code->co_flags & CO_VARARGS)) return "args";
    PyObject *names = PyCode_GetVarnames(code);
    Py_ssize_t at = code->co_argcount + code->co_kwonlyargcount;
    const char *name = names != NULL && at < PyTuple_GET_SIZE(names)
                           ? PyUnicode_AsUTF8(PyTuple_GET_ITEM(names, at)) /* the code keeps it */
                           : NULL;
    Py_XDECREF(names);
    PyErr_Clear();
    return name != NULL ? name : "args";
}

/* Names the placeholders after the parameters or the TensorSpecs of the input signature; those of
 * *args get the parameter's name and a number. */
static int name_arguments(const function_object *f, ef_graph *g, PyObject *args, PyObject *kwargs) {
    Py_ssize_t n_specs = f->spec_names != Py_None ? PyTuple_GET_SIZE(f->spec_names) : 0;
    for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args); k++) {
        Py_ssize_t spec = k - f->first_spec;
        PyObject *name = spec >= 0 && spec < n_specs ? PyTuple_GET_ITEM(f->spec_names, spec) : NULL;
        if ((name == NULL || !PyUnicode_Check(name)) && k < PyTuple_GET_SIZE(f->params))
            name = PyTuple_GET_ITEM(f->params, k);
        char rest[256];
        const char *text = NULL;
        if (name != NULL && PyUnicode_Check(name)) {
            text = PyUnicode_AsUTF8(name);
        } else {
            snprintf(rest, sizeof rest, "%.200s_%zd", name_of_rest(f->python),
                     k - PyTuple_GET_SIZE(f->params));
            text = rest;
        }
        if (text == NULL || name_tensors(g, text, PyTuple_GET_ITEM(args, k)) < 0) return -1;
    }
    Py_ssize_t at = 0;
    PyObject *name, *value;
    while (kwargs != NULL && PyDict_Next(kwargs, &at, &name, &value)) {
        const char *text = PyUnicode_AsUTF8(name);
        if (text == NULL || name_tensors(g, text, value) < 0) return -1;
    }
    return 0;
}

static bool is_plain(PyObject *o) {
    PyTypeObject *t = Py_TYPE(o);
    return t == symbolic_type || t == eager_type || o == Py_None || t == &PyLong_Type ||
           t == &PyFloat_Type || t == &PyBool_Type || t == &PyUnicode_Type;
}

/* The arguments as they are kept with a trace: plain values as they are, objects weakly. */
static PyObject *remember_tuple(PyObject *args) {
    Py_ssize_t n = PyTuple_GET_SIZE(args), k = 0;
    while (k < n && is_plain(PyTuple_GET_ITEM(args, k))) k++;
    if (k == n) return Py_NewRef(args);
    PyObject *kept = PyTuple_New(n);
    for (k = 0; kept != NULL && k < n; k++) {
        PyObject *o = PyTuple_GET_ITEM(args, k);
        o = is_plain(o) ? Py_NewRef(o) : PyObject_CallOneArg(hooks.weakly, o);
        if (o == NULL)
            Py_CLEAR(kept);
        else
            PyTuple_SET_ITEM(kept, k, o);
    }
    return kept;
}

/* ---- running the user's Python --------------------------------------------------------------- */

/* Replaces the exception by one whose message and traceback name the user's files and lines in
 * place of AutoGraph's. If that is not possible, the exception stays. */
static void translate(void) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != NULL) PyException_SetTraceback(value, trace);
    PyObject *told = PyErr_GivenExceptionMatches(value, PyExc_Exception)
                         ? PyObject_CallOneArg(hooks.translated, value)
                         : NULL;
    if (clear_error() < 0) { /* a signal handler raised meanwhile: its exception stays */
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
        return;
    }
    if (told != NULL && PyExceptionInstance_Check(told)) {
        Py_XDECREF(type);
        Py_XDECREF(trace);
        Py_XDECREF(value);
        type = Py_NewRef((PyObject *)Py_TYPE(told));
        value = told;
        trace = PyException_GetTraceback(told);
    } else {
        Py_XDECREF(told);
    }
    PyErr_Restore(type, value, trace);
}

static int find_target(function_object *f) {
    if (!f->autograph) {
        Py_XSETREF(f->target, Py_NewRef(f->python));
        return 0;
    }
    PyObject *all = PyObject_CallOneArg(hooks.converted, (PyObject *)f), *made, *seen;
    int told, bad = -1;
    if (all != NULL && PyArg_ParseTuple(all, "OpO!", &made, &told, &PyList_Type, &seen)) {
        Py_XSETREF(f->target, Py_NewRef(made));
        Py_XSETREF(f->seen, Py_NewRef(seen));
        f->told = told;
        bad = 0;
    }
    Py_XDECREF(all);
    return bad;
}

/* Whether the global and closure names for which a function needed no conversion still have the
 * same values. seen: a list of (cell or dict, name, value); for a name that was undefined, the
 * value is a plain object(). */
static bool names_unchanged(PyObject *seen) {
    for (Py_ssize_t k = 0; seen != NULL && k < PyList_GET_SIZE(seen); k++) {
        PyObject *row = PyList_GET_ITEM(seen, k), *where = PyTuple_GET_ITEM(row, 0);
        PyObject *value = PyTuple_GET_ITEM(row, 2), *now;
        now = PyCell_Check(where) ? PyCell_GET(where)
                                  : PyDict_GetItemWithError(where, PyTuple_GET_ITEM(row, 1));
        if (now == NULL && Py_TYPE(value) == &PyBaseObject_Type) continue;
        if (now != value) return false;
    }
    return true;
}

static PyObject *run_target(function_object *f, PyObject *args, PyObject *kwargs) {
    if ((f->target == NULL || !names_unchanged(f->seen)) && find_target(f) < 0) return NULL;
    PyObject *target = Py_NewRef(f->target), *before = NULL;
    if (containers_in(args, kwargs)) {
        PyObject *was = containers_copy(args);
        PyObject *named = was == NULL ? NULL : containers_copy(kwargs != NULL ? kwargs : Py_None);
        before = named != NULL ? PyTuple_Pack(2, was, named) : NULL;
        Py_XDECREF(was);
        Py_XDECREF(named);
    }
    PyObject *result = PyErr_Occurred() ? NULL : PyObject_Call(target, args, kwargs);
    Py_DECREF(target);
    if (result == NULL && f->told) translate();
    if (result != NULL && before != NULL && arguments_unchanged(f, before, args, kwargs) < 0)
        Py_CLEAR(result);
    Py_XDECREF(before);
    return result;
}

static packing *packing_make(const function_object *f, calling *c, PyObject *args, PyObject *kwargs,
                             PyObject *result) {
    packing *p = (packing *)packing_type->tp_alloc(packing_type, 0);
    if (p == NULL) return NULL;
    static uint64_t n_made; /* under the GIL */
    atomic_init(&p->refs, 1);
    p->number = n_made++;
    p->result = Py_NewRef(result);
    p->args = remember_tuple(args);
    p->kwargs = kwargs != NULL ? PyObject_CallOneArg(hooks.weakly, kwargs) : Py_NewRef(Py_None);
    p->graph = Py_XNewRef(c->graph);
    p->name = Py_XNewRef(dict_name(f->dict));
    if (p->args != NULL && p->kwargs != NULL) return p;
    packing_end(p);
    return NULL;
}

/* Runs the user's function; the graph of the new trace is the current one. -1: raised. */
static int trace_into(function_object *f, calling *c, PyObject *args, PyObject *kwargs,
                      ef_tensor *out, int max_out, int *n_out) {
    c->may_make = !f->first_done;
    c->made = c->late = false;
    if (name_arguments(f, c->g, args, kwargs) < 0) return -1;
    PyObject *result = run_target(f, args, kwargs);
    if (result == NULL) return -1;
    packing *p = packing_make(f, c, args, kwargs, result);
    PyObject *flat = p != NULL ? result_flatten(result, p) : NULL;
    int bad = flat != NULL ? give_results(flat, out, max_out, n_out) : -1;
    Py_XDECREF(flat);
    Py_DECREF(result);
    if (p != NULL) ef_trace_set_user(p, packing_ref, packing_end);
    if (bad == 0 && c->may_make) f->first_done = true;
    c->again = bad == 0 && c->made && !c->late; /* keep a trace that creates no variables */
    return bad;
}

/* Rebuilds the arguments with placeholders for their tensors; *kwargs is left NULL if the call has
 * none. false: raised. */
static bool rebuild_arguments(const calling *c, rebuild *r, PyObject **args, PyObject **kwargs) {
    *args = PyTuple_New(c->n_items);
    for (Py_ssize_t i = 0; *args != NULL && i < c->n_items; i++) {
        PyObject *o = args_again(r, c->items[i]);
        if (o == NULL)
            Py_CLEAR(*args);
        else
            PyTuple_SET_ITEM(*args, i, o);
    }
    if (*args == NULL) return false;
    if (c->kwargs != NULL) *kwargs = args_again(r, c->kwargs);
    return c->kwargs == NULL || *kwargs != NULL;
}

static int trace_call(function_object *f, calling *c, const ef_tensor *in, int n_in, ef_tensor *out,
                      int max_out, int *n_out) {
    rebuild r = {tensor_list_copy(in, n_in), 0, c->e->by_spec ? PyDict_New() : NULL};
    PyObject *args = NULL, *kwargs = NULL;
    ef_graph *before = c->g;
    PyObject *graph = c->graph;
    int bad = -1;
    c->g = ef_graph_current();
    c->graph = NULL;
    if (r.list != NULL && (r.variables != NULL || !c->e->by_spec) &&
        rebuild_arguments(c, &r, &args, &kwargs))
        bad = trace_into(f, c, args, kwargs, out, max_out, n_out);
    if (bad == 0) trace_lines(c->g);
    Py_XDECREF(c->graph);
    c->g = before;
    c->graph = graph;
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    Py_XDECREF(r.list);
    Py_XDECREF(r.variables);
    return bad;
}

ef_status *function_trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                          int *n_out) {
    callback_state state = callback_begin();
    entry *e = user;
    calling *c = function_now;
    function_object *f = (function_object *)Py_NewRef((PyObject *)e->owner);
    int bad = -1, turn = c != NULL && c->e == e ? begin_tracing(f) : -1;
    if (turn > 0) {
        trace_explain(f, c);
        bad = trace_call(f, c, in, n_in, out, max_out, n_out);
        c->traced = true;
        end_tracing(f);
        if (c->again) {
            for (int k = 0; k < *n_out; k++) ef_tensor_release(&out[k]);
            *n_out = 0;
        }
    } else if (turn == 0) {
        c->again = true;
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, "a trace was requested outside of a call");
    }
    Py_DECREF(f);
    ef_status *s = bad == 0 && !c->again ? NULL : raised_in_python();
    callback_end(state);
    return s;
}

/* ---- variables created while tracing --------------------------------------------------------- */

/* variable_made(): called when a variable is created; raises if the function may not create one ->
 * whether the current graph is that of the function. variable_made(True): the initial value depends
 * on the arguments, so it is known only when the function runs. */
static PyObject *core_variable_made(PyObject *module, PyObject *const *args, Py_ssize_t n) {
    (void)module;
    calling *c = function_now;
    if (c == NULL || c->g == NULL) Py_RETURN_FALSE;
    if (!c->may_make) {
        PyErr_SetString(
            PyExc_ValueError,
            "tf.function only supports singleton tf.Variables created on the first call. Make sure "
            "the tf.Variable is only created once or created outside tf.function. See "
            "https://www.tensorflow.org/guide/function#creating_tfvariables for more information.");
        return NULL;
    }
    c->made = true;
    c->late = c->late || (n > 0 && args[0] == Py_True);
    return PyBool_FromLong(c->g == ef_graph_current());
}

static PyMethodDef functions[] = {{"variable_made", (PyCFunction)(void (*)(void))core_variable_made,
                                   METH_FASTCALL, "Notes that a variable is created, or raises."},
                                  {NULL, NULL, 0, NULL}};

int trace_init(PyObject *module) {
    packing_type = add_type(module, &packing_spec, NULL, "_Packing");
    return packing_type != NULL ? PyModule_AddFunctions(module, functions) : -1;
}
