/* tf.function. A call walks its arguments once: tensors, and values that become tensors, go into an
 * array for the engine; everything else goes by value or identity into a key of 64-bit words. The
 * key finds an entry, whose ef_function matches dtypes and shapes, traces if it has to, and runs.
 * No Python frame is entered unless a trace is made.
 *
 * Both caches are bounded: the entries by number, with the least recently used evicted first, and
 * the traces inside an entry by the engine. entries.c tells how long entries live. */
#include "function.h"
#include "profile.h"

/* ---- calls ----------------------------------------------------------------------------------- */

typedef struct results {
    int n, room;
    packing *packing; /* valid until `held` is left */
    ef_trace *held;
    ef_tensor *at, *more, few[FEW_RESULTS]; /* more: allocated, or NULL */
    tensor_object *one; /* if the call probably returns one tensor: the object that it becomes */
} results;

static void results_begin(results *r) {
    r->n = 0;
    r->room = FEW_RESULTS;
    r->packing = NULL;
    r->at = r->few;
    r->more = NULL;
    r->one = NULL;
}

/* Makes room in the object itself if the last call returned one tensor. False: an exception. */
static bool results_expect(results *r, const entry *e) {
    if (!e->one_tensor) return true;
    if ((r->one = tensor_make()) == NULL) return false;
    r->at = &r->one->t;
    r->room = 1;
    return true;
}

static void results_end(results *r) {
    Py_XDECREF(r->one);
    PyMem_Free(r->more);
}

static ef_status *make_room(results *r, int n) {
    ef_tensor *more = PyMem_Malloc((size_t)n * sizeof *more);
    if (more == NULL) return ef_status_make(EF_NO_MEMORY, "no memory for the results");
    PyMem_Free(r->more);
    r->at = r->more = more;
    r->room = n;
    return NULL;
}

/* Whether an input is deferred: another thread may be computing it and need the GIL to finish. */
static bool any_deferred(const walk *w) {
    for (int k = 0; k < w->n_t; k++)
        if (w->t[k]->data == NULL) return true;
    return false;
}

static ef_status *run_once(entry *e, const walk *w, results *r) {
    ef_status *s;
    if (refused) return ef_status_make(EF_FAILED_PRECONDITION, refusal);
    bool measure = (e->calls++ & 63) == 0 || e->calls == 3; /* one call in 64, and the third */
    int64_t began = measure ? nanoseconds() : 0;
    void **user = (void **)&r->packing;
    engine_call v;
    engine_begin(&v, (e->heavy || any_deferred(w)) && !recording());
    s = engine_end(
        &v, ef_function_call_held(e->f, w->t, w->n_t, r->at, r->room, &r->n, user, &r->held));
    if (atomic_load_explicit(&profile_waiting, memory_order_relaxed) > 0)
        profile_resolve(e->owner->python);
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
        ef_status_free(s); /* nothing ran: this trace has more results than there was room for */
        if (e->most_results < r->n) e->most_results = r->n;
    }
}

/* Python's form of the results, which are taken over. */
static PyObject *packed(entry *e, results *r) {
    const packing *p = r->packing;
    e->one_tensor = p != NULL && p->pack == NULL && p->whole.kind == P_TENSOR && r->n == 1;
    if (!e->one_tensor || r->one == NULL || r->at != &r->one->t)
        return result_pack(r->packing, r->at, r->n);
    tensor_object *o = r->one;
    r->one = NULL;
    return tensor_finish(o);
}

/* ---- traces ---------------------------------------------------------------------------------- */

PyObject *function_trace_walked(function_object *self, walk *w, PyObject *const *items,
                                Py_ssize_t n_items, PyObject *kwargs) {
    PyObject *result = NULL;
    entry *e = entry_find(self, &w->k);
    ef_dtype *dtype = PyMem_Calloc((size_t)w->n_t + 1, sizeof *dtype);
    ef_shape *shape = PyMem_Calloc((size_t)w->n_t + 1, sizeof *shape);
    if (dtype == NULL || shape == NULL) PyErr_NoMemory();
    if (e == NULL || dtype == NULL || shape == NULL) goto done;
    for (int i = 0; i < w->n_t; i++) {
        dtype[i] = (ef_dtype)w->t[i]->dtype;
        shape[i] = ef_tensor_shape(w->t[i]);
    }
    calling c = {.outer = function_now, e, items, n_items, kwargs};
    packing *p = NULL;
    ef_graph *g = NULL;
    function_now = &c;
    e->users++;
    ef_status *s;
    while ((s = ef_function_trace_for(e->f, dtype, shape, w->n_t, &g, (void **)&p)) != NULL &&
           c.again && !PyErr_Occurred()) {
        c.again = false;
        ef_status_free(s);
    }
    function_now = c.outer;
    if (s == NULL && c.late) {
        PyErr_SetString(PyExc_ValueError,
                        "the initial value of a variable made by the function depends on its "
                        "arguments; call the function once before asking for a concrete function");
        entry_forget(self, e);
        ef_graph_free(g);
        if (p != NULL) packing_end(p);
    } else if (s != NULL) {
        raise_status(s, NULL);
    } else if (p != NULL) {
        result = concrete_of(p, g);
        packing_end(p);
        ef_graph_free(g);
    }
    entry_leave(e);
done:
    PyMem_Free(dtype);
    PyMem_Free(shape);
    return result;
}

/* Whether the exception says that no kernel is registered, which TensorFlow would notice only when
 * the function runs. Then it is cleared, and the argument's own exception is raised instead. */
static bool lacks_kernel(void) {
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    PyObject *code = value != NULL ? attr_get(value, "error_code") : NULL;
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

/* Whether this call has variables in its key, and an earlier call had other variables: one trace
 * per variable would be made forever, so from now on variables are traced as arguments. */
static bool others_before(function_object *self, const key *k) {
    return self->saw_variables && self->signature == Py_None && hooks.variable_again != NULL &&
           entry_look(self, k) == NULL;
}

enum { STEPS_RECORDED = 64 }; /* at most, in a sampled call */

static void sampled(sample *s, const function_object *self, const calling *c, const walk *w,
                    PyObject *result) {
    s->ended = ef_event_clock(); /* looking up the user's lines is not part of the call */
    ef_event_steps_record(0, 0);
    profile_resolve(self->python);
    if (profile_watched != NULL && PySet_Add(profile_watched, (PyObject *)(uintptr_t)self) < 0)
        PyErr_Clear();
    if (result == NULL || c->traced || recording()) return; /* traces post their own event */
    sample_end(s, EF_EVENT_CALL, profile_definition(self->python), result,
               profile_bytes(w->t, w->n_t), 0);
}

/* items: bound to the signature; kwargs: a dict or NULL. */
PyObject *function_call_bound(function_object *self, PyObject *const *items, Py_ssize_t n_items,
                              PyObject *kwargs) {
    walk w;
    PyObject *result = NULL;
    results r;
    entry *e = NULL;
    results_begin(&r);
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
    if (!results_expect(&r, e)) goto done;
    calling c = {.outer = function_now, e, items, n_items, kwargs};
    function_now = &c;
    sample taken = sample_take();
    if (taken.weight > 0) ef_event_steps_record(recording() ? 0 : STEPS_RECORDED, taken.weight);
    Py_INCREF(self);
    e->users++;
    ef_status *s;
    while ((s = run(e, &w, &r)) != NULL && c.again && !PyErr_Occurred()) {
        c.again = false;
        ef_status_free(s);
    }
    function_now = c.outer;
    if (s != NULL) {
        if (r.one != NULL) memset(&r.one->t, 0, sizeof r.one->t); /* there is no result */
        raise_status(s, NULL);
    } else {
        result = packed(e, &r);
        ef_trace_leave(r.held);
    }
    if (taken.weight > 0) sampled(&taken, self, &c, &w, result);
    if (result != NULL &&
        c.late) { /* the variables are initialized now: trace again, without their initializers */
        entry_forget(self, e);
        PyObject *next = function_trace_walked(self, &w, items, n_items, kwargs);
        if (next == NULL) Py_CLEAR(result);
        Py_XDECREF(next);
    }
    if (result != NULL && !recording()) {
        if (!c.traced && self->history != NULL) call_found_its_trace(self);
        if (c.traced && call_was_traced(self) < 0) Py_CLEAR(result);
    }
    entry_leave(e);
    if (c.traced && result != NULL) traces_collect();
    Py_DECREF(self);
done:
    walk_end(&w);
    results_end(&r);
    return result;
}
