/* tf.function. A call walks its arguments once: tensors (and what becomes one) go into an array for
 * the engine, everything else goes by value or identity into a key of words. The key finds an
 * entry, whose engine function matches dtypes and shapes, traces when it must, and runs. No Python
 * frame is entered unless a trace is made.
 *
 * Caches are bounded: entries by number, least recently used first; traces inside an entry by the
 * engine. Objects in keys are held weakly where they can be; an entry whose object died is dropped.
 */
#include "function.h"

/* ---- tracing --------------------------------------------------------------------------------- */

_Thread_local calling *function_now; /* whose arguments a trace callback needs */
PyObject *trace_again;

static void packing_ref(void *user) { atomic_fetch_add(&((packing *)user)->refs, 1); }

void packing_end(void *user) {
    packing *p = user;
    if (atomic_fetch_sub(&p->refs, 1) > 1) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_CLEAR(p->pack);
    Py_CLEAR(p->graph);
    PyGILState_Release(gil);
    PyMem_RawFree(p);
}

/* The tensors of a list as results of the trace; what there is no room for is given apart. */
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

static int keep_results(PyObject *r, ef_tensor *out, int max_out, int *n_out) {
    PyObject *flat, *kind, *pack;
    if (!PyArg_ParseTuple(r, "O!OO", &PyList_Type, &flat, &kind, &pack)) return -1;
    if (give_results(flat, out, max_out, n_out) < 0) return -1;
    packing *p = PyMem_RawCalloc(1, sizeof *p);
    if (p == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    atomic_init(&p->refs, 1);
    p->kind = (int)PyLong_AsLong(kind);
    p->n = (int)PyList_GET_SIZE(flat);
    p->pack = Py_NewRef(pack);
    p->graph = graph_wrap(ef_graph_current());
    ef_trace_set_user(p, packing_ref, packing_end);
    return p->graph != NULL ? 0 : -1;
}

ef_status *function_trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                          int *n_out) {
    PyGILState_STATE gil = PyGILState_Ensure();
    entry *e = user;
    calling *c = function_now;
    rebuild r = {tensor_list_copy(in, n_in), 0, e->by_spec ? PyDict_New() : NULL};
    PyObject *args = NULL, *kwargs = NULL, *result = NULL;
    if (r.list != NULL && c != NULL && c->e == e && (r.variables != NULL || !e->by_spec)) {
        args = PyTuple_New(c->n_items);
        for (Py_ssize_t i = 0; args != NULL && i < c->n_items; i++) {
            PyObject *o = args_again(&r, c->items[i]);
            if (o == NULL)
                Py_CLEAR(args);
            else
                PyTuple_SET_ITEM(args, i, o);
        }
        kwargs = args != NULL && c->kwargs != NULL ? args_again(&r, c->kwargs) : Py_NewRef(Py_None);
    } else if (!PyErr_Occurred()) {
        PyErr_SetString(PyExc_RuntimeError, "a trace was asked for outside a call");
    }
    function_object *f = e->owner;
    Py_INCREF(f);
    PyObject *graph = graph_wrap(ef_graph_current()); /* one object for all the trace */
    if (args != NULL && kwargs != NULL)
        result = PyObject_CallFunctionObjArgs(f->tracer, (PyObject *)f, args, kwargs, r.list, NULL);
    int bad = result == NULL ? -1 : keep_results(result, out, max_out, n_out);
    Py_XDECREF(result);
    Py_XDECREF(args);
    Py_XDECREF(kwargs);
    Py_XDECREF(r.list);
    Py_XDECREF(r.variables);
    Py_DECREF(f);
    Py_XDECREF(graph);
    ef_status *s = bad == 0 ? NULL : raised_in_python();
    PyGILState_Release(gil);
    return s;
}

/* ---- results --------------------------------------------------------------------------------- */

static PyObject *pack(packing *p, ef_tensor *out, int n) {
    int kind = p != NULL ? (int)p->kind : LIST;
    if (kind == ONE) return tensor_wrap(&out[0]);
    if (kind == NONE) Py_RETURN_NONE;
    PyObject *c = kind == TUPLE ? PyTuple_New(n) : PyList_New(n);
    for (int k = 0; k < n; k++) {
        PyObject *t = c != NULL ? tensor_wrap(&out[k]) : NULL;
        if (t == NULL) {
            Py_CLEAR(c);
            ef_tensor_release(&out[k]);
        } else if (kind == TUPLE)
            PyTuple_SET_ITEM(c, k, t);
        else
            PyList_SET_ITEM(c, k, t);
    }
    if (kind != BY_PYTHON || c == NULL) return c;
    PyObject *r = PyObject_CallOneArg(p->pack, c);
    Py_DECREF(c);
    return r;
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Room for the results of a call. How many there are is known when the trace is; FEW are on the
 * stack, and for more there is as much room as the calls before needed. */
enum { FEW = 8 };
typedef struct results {
    int n, room;
    packing *packing;
    ef_tensor *at, few[FEW];
} results;

static ef_status *make_room(results *r, int n) {
    ef_tensor *more = PyMem_Malloc((size_t)n * sizeof *more);
    if (more == NULL) return ef_status_make(EF_NO_MEMORY, "no memory for the results");
    if (r->at != r->few) PyMem_Free(r->at);
    r->at = more;
    r->room = n;
    return NULL;
}

static ef_status *run_once(entry *e, const walk *w, results *r) {
    ef_status *s;
    if (refused) return ef_status_make(EF_FAILED_PRECONDITION, refusal);
    bool measure = (e->calls++ & 63) == 0 || e->calls == 3; /* now and then */
    int64_t began = measure ? nanoseconds() : 0;
    void **user = (void **)&r->packing;
    if (e->heavy && !recording()) {
        PyThreadState *save = away();
        s = ef_function_call_user(e->f, w->t, w->n_t, r->at, r->room, &r->n, user);
        back(save);
    } else {
        s = ef_function_call_user(e->f, w->t, w->n_t, r->at, r->room, &r->n, user);
    }
    if (measure && e->calls > 1) e->heavy = nanoseconds() - began > LONG_CALL;
    return s;
}

static ef_status *run(entry *e, const walk *w, results *r) {
    for (;;) {
        if (e->most_results > r->room) {
            ef_status *s = make_room(r, e->most_results);
            if (s != NULL) return s;
        }
        ef_status *s = run_once(e, w, r);
        if (s == NULL || r->n <= r->room) return s;
        ef_status_free(s); /* it did not run: this trace gives more than those before */
        if (e->most_results < r->n) e->most_results = r->n;
    }
}

/* The exception is about what only running would have missed; it is cleared then. */
static bool lacks_kernel(void) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *code = value != NULL ? PyObject_GetAttrString(value, "error_code") : NULL;
    bool lacks = code != NULL && PyLong_Check(code) && PyLong_AsLong(code) == EF_UNIMPLEMENTED;
    Py_XDECREF(code);
    PyErr_Clear();
    if (!lacks) {
        PyErr_Restore(type, value, trace);
        return false;
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return true;
}

/* Whether a call with variables in its key comes after one with others: a trace for each would be
 * made for ever. Concerns plain calls only; an outer trace has variables of its own. */
static bool others_before(function_object *self, const key *k) {
    return self->saw_variables && self->signature == Py_None && hooks.variable_again != NULL &&
           entry_look(self, k) == NULL;
}

/* items: bound to the signature; kwargs: a dict or NULL. */
PyObject *function_call_bound(function_object *self, PyObject *const *items, Py_ssize_t n_items,
                              PyObject *kwargs) {
    walk w;
    PyObject *result = NULL;
    results r;
    r.n = 0;
    r.room = FEW;
    r.packing = NULL;
    r.at = r.few;
    entry *e = NULL;
    if (!walk_begin(&w, items, n_items, kwargs, self->by_spec)) goto done;
    if (w.k.variables && others_before(self, &w.k)) {
        self->by_spec = true;
        walk_end(&w);
        if (!walk_begin(&w, items, n_items, kwargs, true)) goto done;
    }
    if (w.unfit != NULL) {
        PyObject *graph = function_trace_walked(self, &w, items, n_items, kwargs);
        if (graph != NULL || lacks_kernel()) PyErr_SetObject((PyObject *)Py_TYPE(w.unfit), w.unfit);
        Py_XDECREF(graph);
        goto done;
    }
    if ((e = entry_find(self, &w.k)) == NULL) goto done;
    if (recording()) graph_grows();
    calling c = {function_now, e, items, n_items, kwargs};
    function_now = &c;
    Py_INCREF(self);
    e->users++;
    ef_status *s = run(e, &w, &r);
    if (s != NULL && PyErr_Occurred() && PyErr_ExceptionMatches(trace_again)) {
        PyErr_Clear(); /* the trace made variables: one made now that they exist is kept */
        ef_status_free(s);
        s = run(e, &w, &r);
    }
    function_now = c.outer;
    if (s != NULL) {
        raise_status(s, NULL);
    } else {
        result = pack(r.packing, r.at, r.n);
        if (r.packing != NULL) packing_end(r.packing);
    }
    entry_leave(e);
    Py_DECREF(self);
done:
    walk_end(&w);
    if (r.at != r.few) PyMem_Free(r.at);
    return result;
}
