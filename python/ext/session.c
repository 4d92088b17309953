/* The base class of tf.compat.v1.Session. If the fetches of run() are tensors, ops, variables, and
 * lists, tuples and dicts of them, and the feeds are plain values, all of it happens here. Other
 * fetches and feeds (names, composite tensors, values that numpy must convert) are flattened by the
 * method `_run` of the derived Python class, which then calls `_run_flat`. */
#include "profile.h"
#include <structmember.h>

typedef struct session_object {
    PyObject_HEAD PyObject *dict, *weak, *graph;
    ef_session *s; /* NULL: closed, or not opened yet */
    int users;     /* runs in progress, perhaps without the GIL */
    int closing;
    int heavy; /* runs take long enough to release the GIL meanwhile */
    unsigned calls;
    uint32_t place; /* the user's line that opened it */
} session_object;
static PyTypeObject *session_type;
static PyObject *name_node_attr, *name_graph_attr, *name_element, *name_reference, *name_run;

static PyObject *session_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)args;
    (void)kwargs;
    return type->tp_alloc(type, 0);
}

/* _open(graph) */
static PyObject *session_open(PyObject *self, PyObject *graph) {
    session_object *o = (session_object *)self;
    if (!PyObject_TypeCheck(graph, graph_type))
        return PyErr_Format(PyExc_TypeError, "Argument `graph` must be a tf.Graph, not %R", graph);
    if (o->s != NULL) return PyErr_Format(PyExc_RuntimeError, "the session is open already");
    if (check(ef_session_new(((graph_object *)graph)->g, &o->s), "Session") < 0) return NULL;
    Py_XSETREF(o->graph, Py_NewRef(graph));
    ((graph_object *)graph)->sessions++;
    o->place = Py_TYPE(self) != session_type ? profile_here() : 0; /* 0: opened by this package */
    Py_RETURN_NONE;
}

static void session_end(session_object *o) {
    ef_session *s = o->s;
    if (s == NULL) return;
    o->s = NULL;
    ef_event_add(&(ef_event_new){
        .kind = EF_EVENT_SESSION, .place = o->place, .nowhere = true, .value = {o->calls}});
    if (o->graph != NULL) ((graph_object *)o->graph)->sessions--;
    ef_session_free(s);
}

static int session_traverse(PyObject *self, visitproc visit, void *arg) {
    Py_VISIT(((session_object *)self)->dict);
    Py_VISIT(((session_object *)self)->graph);
    Py_VISIT(Py_TYPE(self));
    return 0;
}

static int session_clear(PyObject *self) {
    session_end((session_object *)self);
    Py_CLEAR(((session_object *)self)->dict);
    Py_CLEAR(((session_object *)self)->graph);
    return 0;
}

static void session_dealloc(PyObject *self) {
    session_object *o = (session_object *)self;
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (o->weak != NULL) PyObject_ClearWeakRefs(self);
    session_clear(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *session_close(PyObject *self, PyObject *unused) {
    (void)unused;
    session_object *o = (session_object *)self;
    o->closing = 1;
    if (o->users == 0)
        session_end(o);
    else if (o->s != NULL)
        ef_session_halt(o->s); /* cancels the runs; the last one to return frees the session */
    Py_RETURN_NONE;
}

/* ---- fetches --------------------------------------------------------------------------------- */

enum { FEW = 8, ODD = 1, DEEP = 32 };

/* Tensors to fetch and, after the run, their values. */
typedef struct fetches {
    ef_tensor few[FEW], *tensor; /* symbolic tensors, borrowed from the fetched objects */
    ef_tensor few_out[FEW], *out;
    int n, room, next; /* next: the first value that is not in the result structure yet */
} fetches;

typedef struct request {
    ef_graph *graph;
    fetches now, late; /* late: reference variables, which are read after all other fetches */
    int few_node[FEW], *node;
    int n_node, room_node, n_value;
    ef_tensor few_feed[FEW], *feed;
    operand few_value[FEW], *value;
    const ef_tensor *few_pointer[FEW], **pointer;
    int n_feed;
    size_t bytes; /* of all fed values */
} request;

static void fetches_begin(fetches *f) {
    f->tensor = f->few;
    f->out = f->few_out;
    f->room = FEW;
    f->n = f->next = 0;
}

static void fetches_end(fetches *f) {
    if (f->tensor != f->few) PyMem_Free(f->tensor);
    if (f->out != f->few_out) PyMem_Free(f->out);
}

static void request_begin(request *r, ef_graph *graph) {
    r->graph = graph;
    fetches_begin(&r->now);
    fetches_begin(&r->late);
    r->node = r->few_node;
    r->feed = r->few_feed;
    r->value = r->few_value;
    r->pointer = r->few_pointer;
    r->room_node = FEW;
    r->n_node = r->n_value = r->n_feed = 0;
    r->bytes = 0;
}

static void request_end(request *r) {
    for (int k = 0; k < r->n_feed; k++) operand_end(&r->value[k]);
    fetches_end(&r->now);
    fetches_end(&r->late);
    if (r->node != r->few_node) PyMem_Free(r->node);
    if (r->feed != r->few_feed) PyMem_Free(r->feed);
    if (r->value != r->few_value) PyMem_Free(r->value);
    if (r->pointer != r->few_pointer) PyMem_Free(r->pointer);
}

/* Doubles an array if it has no room for one more element; 0, or -1 with an exception set. */
static int grow(void *list, void *few, int n, int *room, size_t size) {
    void **at = list;
    if (n < *room) return 0;
    void *more = PyMem_Malloc(2 * (size_t)*room * size);
    if (more == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    memcpy(more, *at, (size_t)n * size);
    if (*at != few) PyMem_Free(*at);
    *at = more;
    *room *= 2;
    return 0;
}

static int add_fetch(fetches *f, const ef_tensor *t) {
    if (grow(&f->tensor, f->few, f->n, &f->room, sizeof *f->tensor) < 0) return -1;
    f->tensor[f->n++] = *t;
    return 0;
}

static int add_node(request *r, int node) {
    if (grow(&r->node, r->few_node, r->n_node, &r->room_node, sizeof *r->node) < 0) return -1;
    r->node[r->n_node++] = node;
    return 0;
}

static bool is_ours(const request *r, PyObject *o) {
    return IS_SYMBOLIC(o) && ef_tensor_graph(&((tensor_object *)o)->t, NULL, NULL) == r->graph;
}

static bool is_operation(PyObject *o) { return (PyObject *)Py_TYPE(o) == hooks.operation_class; }

static int collect_operation(request *r, PyObject *o) {
    PyObject *graph = PyObject_GetAttr(o, name_graph_attr);
    PyObject *number = graph != NULL ? PyObject_GetAttr(o, name_node_attr) : NULL;
    int bad = -1;
    if (number != NULL) {
        bool ours = PyObject_TypeCheck(graph, graph_type) && ((graph_object *)graph)->g == r->graph;
        bad = ours ? add_node(r, (int)PyLong_AsLong(number)) : ODD;
    }
    Py_XDECREF(graph);
    Py_XDECREF(number);
    return bad;
}

/* Whether a fetch of this variable returns its value after the run, as with TensorFlow 1's
 * reference variables, and not its value when it is read. 0, 1, or -1 with an exception set. */
static int is_reference(PyObject *o) {
    PyObject *answer = PyObject_GetAttr(o, name_reference);
    if (answer == NULL) return clear_error();
    Py_DECREF(answer); /* True and False stay */
    return answer == Py_True;
}

static int collect_variable(request *r, PyObject *o) { /* fetches the tensor that reads it */
    PyObject *t = PyObject_GetAttr(o, name_element);
    if (t == NULL) return clear_error() == 0 ? ODD : -1;
    int late = is_reference(o), bad = late < 0 ? -1 : ODD;
    if (late >= 0 && is_ours(r, t))
        bad = add_fetch(late ? &r->late : &r->now, &((tensor_object *)t)->t);
    Py_DECREF(t); /* the variable keeps it alive */
    return bad;
}

static int collect(request *r, PyObject *o, int depth);

/* Attributes of variables and ops may be Python code that removes the item from its container. */
static int collect_item(request *r, PyObject *o, int depth) {
    Py_INCREF(o);
    int bad = collect(r, o, depth + 1);
    Py_DECREF(o);
    return bad;
}

/* 0: everything is plain so far; ODD: Python must handle it; -1: raised. */
static int collect(request *r, PyObject *o, int depth) {
    if (IS_SYMBOLIC(o)) return is_ours(r, o) ? add_fetch(&r->now, &((tensor_object *)o)->t) : ODD;
    if (is_operation(o)) return collect_operation(r, o);
    if (IS_EAGER(o)) {
        r->n_value++;
        return 0;
    }
    int bad = 0;
    if (PyList_CheckExact(o) || PyTuple_CheckExact(o)) {
        if (depth == DEEP) return ODD;
        for (Py_ssize_t k = 0; k < PySequence_Fast_GET_SIZE(o) && bad == 0; k++)
            bad = collect_item(r, PySequence_Fast_GET_ITEM(o, k), depth);
        return bad;
    }
    if (PyDict_CheckExact(o)) {
        PyObject *key, *value;
        Py_ssize_t at = 0;
        if (depth == DEEP) return ODD;
        while (bad == 0 && PyDict_Next(o, &at, &key, &value)) bad = collect_item(r, value, depth);
        return bad;
    }
    return IS_VARIABLE(o) ? collect_variable(r, o) : ODD;
}

/* ---- feeds ----------------------------------------------------------------------------------- */

static bool fits(const ef_tensor *feed, const ef_tensor *value) {
    if (feed->dtype != value->dtype) return false;
    if (feed->rank < 0) return true;
    if (feed->rank != value->rank) return false;
    for (int d = 0; d < feed->rank; d++)
        if (feed->dim[d] >= 0 && feed->dim[d] != value->dim[d]) return false;
    return true;
}

static int room_for_feeds(request *r, Py_ssize_t n) {
    if (n <= FEW) return 0;
    r->feed = PyMem_Malloc((size_t)n * sizeof *r->feed);
    r->value = PyMem_Malloc((size_t)n * sizeof *r->value);
    r->pointer = PyMem_Malloc((size_t)n * sizeof *r->pointer);
    if (r->feed != NULL && r->value != NULL && r->pointer != NULL) return 0;
    PyErr_NoMemory();
    return -1;
}

/* Whether an int fits the dtype; for others Python calls numpy, which converts or raises. */
static bool int_fits(PyObject *o, int dtype) {
    int over;
    long long v = PyLong_AsLongLongAndOverflow(o, &over);
    if (over != 0) return false;
    if (dtype == EF_I32) return v >= INT32_MIN && v <= INT32_MAX;
    return dtype == EF_I64 || dtype == EF_F32 || dtype == EF_F64;
}

static int add_feed(request *r, PyObject *key, PyObject *value) {
    if (!is_ours(r, key)) return ODD;
    if (!PyFloat_CheckExact(value) && (IS_SYMBOLIC(value) || IS_VARIABLE(value))) return ODD;
    ef_tensor *feed = &r->feed[r->n_feed];
    operand *v = &r->value[r->n_feed];
    *feed = ((tensor_object *)key)->t;
    if (PyLong_CheckExact(value) && !int_fits(value, feed->dtype)) return ODD;
    if (operand_from(value, (ef_dtype)feed->dtype, MUST, v) < 0) /* numpy may convert it */
        return clear_error() == 0 ? ODD : -1;
    if (IS_EAGER(value)) v->keep = Py_NewRef(value); /* the dict may change during the run */
    r->pointer[r->n_feed++] = v->t;
    if (v->t->flags & EF_TENSOR_SYMBOLIC || !fits(feed, v->t)) return ODD;
    if (v->t->storage != NULL) r->bytes += ef_tensor_bytes(v->t);
    return 0;
}

static int collect_feeds(request *r, PyObject *feeds) {
    if (feeds == NULL || feeds == Py_None) return 0;
    if (!PyDict_CheckExact(feeds)) return ODD;
    Py_ssize_t n = PyDict_GET_SIZE(feeds), at = 0;
    if (room_for_feeds(r, n) < 0) return -1;
    PyObject *key, *value;
    int bad = 0;
    while (bad == 0 && r->n_feed < n && PyDict_Next(feeds, &at, &key, &value))
        bad = add_feed(r, key, value);
    return bad;
}

/* ---- running --------------------------------------------------------------------------------- */

static bool any_deferred(const request *r) { /* then another thread may be computing the value */
    for (int k = 0; k < r->n_feed; k++)
        if (r->pointer[k]->data == NULL) return true;
    return false;
}

/* Adds the op of the graph that failed to the exception. */
static void note_op(PyObject *graph) {
    PyObject *type, *error, *trace;
    if (hooks.op_failed == NULL) return;
    PyErr_Fetch(&type, &error, &trace);
    PyErr_NormalizeException(&type, &error, &trace);
    PyObject *done = PyObject_CallFunctionObjArgs(hooks.op_failed, graph, error, NULL);
    Py_XDECREF(done);
    if (clear_error() == 0) {
        PyErr_Restore(type, error, trace);
        return;
    }
    Py_XDECREF(type); /* a signal handler raised meanwhile: its exception replaces the first */
    Py_XDECREF(error);
    Py_XDECREF(trace);
}

static int room_for_results(fetches *f) {
    if (f->n <= FEW) return 0;
    f->out = PyMem_Calloc((size_t)f->n, sizeof *f->out);
    if (f->out != NULL) return 0;
    f->out = f->few_out;
    PyErr_NoMemory();
    return -1;
}

/* Runs the graph: first all other fetches, then the reference variables. */
static ef_status *run_engine(session_object *o, request *r) {
    fetches *now = &r->now, *late = &r->late;
    memset(now->out, 0, (size_t)now->n * sizeof *now->out);
    memset(late->out, 0, (size_t)late->n * sizeof *late->out);
    ef_status *s = NULL;
    if (now->n + r->n_node > 0)
        s = ef_session_run_nodes(o->s, r->feed, r->pointer, r->n_feed, now->tensor, now->n, r->node,
                                 r->n_node, now->out);
    if (s != NULL || late->n == 0) return s;
    s = ef_session_run_nodes(o->s, r->feed, r->pointer, r->n_feed, late->tensor, late->n, NULL, 0,
                             late->out);
    for (int k = 0; s != NULL && k < now->n; k++) ef_tensor_release(&now->out[k]);
    return s;
}

/* The line that made what is fetched first, or run first if nothing is. */
static uint32_t made_at(const request *r) {
    const fetches *f = r->now.n > 0 ? &r->now : &r->late;
    int node = r->n_node > 0 ? r->node[0] : -1, index;
    if (f->n > 0 && ef_tensor_graph(&f->tensor[0], &node, &index) == NULL) return 0;
    return profile_node(r->graph, node);
}

static int request_run(session_object *o, request *r) {
    if (room_for_results(&r->now) < 0 || room_for_results(&r->late) < 0) return -1;
    if (r->now.n + r->late.n + r->n_node == 0) return 0;
    bool measure = (o->calls++ & 31) == 1; /* one in 32; not the first call, which compiles */
    int64_t began = measure ? nanoseconds() : 0;
    graph_object *graph = (graph_object *)Py_NewRef(o->graph);
    graph_run_begins(graph);
    o->users++;
    graph->running++;
    sample taken = sample_take();
    engine_call v;
    engine_begin(&v, o->heavy || r->bytes > 65536 || any_deferred(r));
    ef_status *s = engine_end(&v, run_engine(o, r));
    if (taken.weight > 0) {
        taken.ended = ef_event_clock();
        sample_end(&taken, EF_EVENT_RUN, made_at(r), NULL, (int64_t)r->bytes, 0);
    }
    if (atomic_load_explicit(&profile_waiting, memory_order_relaxed) > 0) profile_resolve(NULL);
    graph->running--;
    if (--o->users == 0 && o->closing) session_close((PyObject *)o, NULL);
    if (measure) o->heavy = nanoseconds() - began > LONG_CALL;
    int bad = check(s, NULL);
    if (bad < 0) note_op((PyObject *)graph);
    Py_DECREF(graph);
    return bad;
}

static PyObject *modified(void) {
    return PyErr_Format(PyExc_RuntimeError, "the fetches were modified during the run");
}

/* A result as a writable array. Takes t over. */
static PyObject *result_of(ef_tensor *t) {
    PyObject *o = tensor_wrap(t);
    PyObject *a = o != NULL ? tensor_to_array((tensor_object *)o, ARRAY_LAST_USE) : NULL;
    Py_XDECREF(o);
    return a;
}

static PyObject *build(request *r, PyObject *o, int depth);

static PyObject *build_item(request *r, PyObject *o, int depth) {
    Py_INCREF(o);
    PyObject *item = build(r, o, depth + 1);
    Py_DECREF(o);
    return item;
}

static PyObject *build_dict(request *r, PyObject *o, int depth) {
    PyObject *result = PyDict_New(), *key, *value;
    Py_ssize_t at = 0;
    while (result != NULL && PyDict_Next(o, &at, &key, &value)) {
        Py_INCREF(key);
        PyObject *item = build_item(r, value, depth);
        if (item == NULL || PyDict_SetItem(result, key, item) < 0) Py_CLEAR(result);
        Py_XDECREF(item);
        Py_DECREF(key);
    }
    return result;
}

static PyObject *build_sequence(request *r, PyObject *o, int depth) {
    Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
    bool tuple = PyTuple_CheckExact(o);
    PyObject *result = tuple ? PyTuple_New(n) : PyList_New(n);
    for (Py_ssize_t k = 0; result != NULL && k < n; k++) {
        bool there = k < PySequence_Fast_GET_SIZE(o);
        PyObject *item = there ? build_item(r, PySequence_Fast_GET_ITEM(o, k), depth) : modified();
        if (item == NULL)
            Py_CLEAR(result);
        else if (tuple)
            PyTuple_SET_ITEM(result, k, item);
        else
            PyList_SET_ITEM(result, k, item);
    }
    return result;
}

/* The results in the structure of the fetches. */
static PyObject *build(request *r, PyObject *o, int depth) {
    if (is_operation(o)) Py_RETURN_NONE;
    if (IS_EAGER(o)) return tensor_to_array((tensor_object *)o, ARRAY_OWN);
    if (IS_SYMBOLIC(o) || IS_VARIABLE(o)) {
        int late = IS_VARIABLE(o) ? is_reference(o) : 0;
        if (late < 0) return NULL;
        fetches *f = late ? &r->late : &r->now;
        if (f->next < f->n) return result_of(&f->out[f->next++]);
    } else if (depth < DEEP && PyDict_CheckExact(o))
        return build_dict(r, o, depth);
    else if (depth < DEEP && (PyList_CheckExact(o) || PyTuple_CheckExact(o)))
        return build_sequence(r, o, depth);
    return modified();
}

/* The whole result; values that are not in it, after an error, are released. */
static PyObject *build_all(request *r, PyObject *wanted) {
    PyObject *result = build(r, wanted, 0);
    for (fetches *f = &r->now;; f = &r->late) {
        while (f->next < f->n) ef_tensor_release(&f->out[f->next++]);
        if (f == &r->late) return result;
    }
}

static PyObject *run_plain(session_object *o, PyObject *wanted, PyObject *feeds, int *odd) {
    request r;
    request_begin(&r, ((graph_object *)o->graph)->g);
    *odd = collect(&r, wanted, 0);
    if (*odd == 0) *odd = collect_feeds(&r, feeds);
    if (*odd == 0 && r.now.n + r.late.n + r.n_node + r.n_value == 0) *odd = ODD;
    PyObject *result = NULL;
    if (*odd == 0 && request_run(o, &r) == 0) {
        result = build_all(&r, wanted);
    }
    request_end(&r);
    return result;
}

/* run(fetches, feed_dict=None, options=None, run_metadata=None) */
static PyObject *session_run(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names) {
    static const char *const known[] = {"fetches", "feed_dict", "options", "run_metadata"};
    session_object *o = (session_object *)self;
    PyObject *value[4] = {NULL};
    if (n > 4) return PyErr_Format(PyExc_TypeError, "run takes at most 4 arguments");
    for (Py_ssize_t k = 0; k < n; k++) value[k] = args[k];
    for (Py_ssize_t k = 0; names != NULL && k < PyTuple_GET_SIZE(names); k++) {
        int j = 0;
        while (j < 4 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, k), known[j]) != 0)
            j++;
        if (j == 4 || value[j] != NULL)
            return PyErr_Format(PyExc_TypeError, "run() got an unexpected or repeated argument %R",
                                PyTuple_GET_ITEM(names, k));
        value[j] = args[n + k];
    }
    if (value[0] == NULL) return PyErr_Format(PyExc_TypeError, "run() needs the argument fetches");
    if (o->s == NULL || o->closing)
        return PyErr_Format(PyExc_RuntimeError, "Attempted to use a closed Session.");
    ef_suspension outside; /* the run must not add nodes to a graph that is being built */
    bool inside = recording();
    if (inside) ef_suspend(&outside);
    int odd = 0;
    PyObject *result = run_plain(o, value[0], value[1], &odd);
    if (odd == ODD) {
        PyObject *all[] = {self, value[0], value[1] != NULL ? value[1] : Py_None};
        result = PyObject_VectorcallMethod(name_run, all, 3, NULL);
    }
    if (inside) ef_resume(&outside);
    return result;
}

/* _run_flat(tensors, nodes, feeds, values): lists -> list of numpy values. */
static PyObject *session_run_flat(PyObject *self, PyObject *const *args, Py_ssize_t n) {
    session_object *o = (session_object *)self;
    for (int k = 0; k < 4; k++)
        if (n != 4 || !PyList_Check(args[k]))
            return PyErr_Format(PyExc_TypeError, "_run_flat takes four lists");
    if (PyList_GET_SIZE(args[2]) != PyList_GET_SIZE(args[3]))
        return PyErr_Format(PyExc_ValueError, "the numbers of feeds and values differ");
    if (o->s == NULL) return PyErr_Format(PyExc_RuntimeError, "Attempted to use a closed Session.");
    request r;
    request_begin(&r, ((graph_object *)o->graph)->g);
    int bad = collect(&r, args[0], 0);
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(args[1]) && bad == 0; k++)
        bad = add_node(&r, (int)PyLong_AsLong(PyList_GET_ITEM(args[1], k)));
    if (bad == 0) bad = room_for_feeds(&r, PyList_GET_SIZE(args[2]));
    for (Py_ssize_t k = 0; k < PyList_GET_SIZE(args[2]) && bad == 0; k++)
        bad = add_feed(&r, PyList_GET_ITEM(args[2], k), PyList_GET_ITEM(args[3], k));
    if (bad == ODD)
        PyErr_SetString(PyExc_ValueError, "a fetch or feed is not of the session's graph");
    PyObject *result = NULL;
    if (bad == 0 && request_run(o, &r) == 0) {
        result = build_all(&r, args[0]);
    }
    request_end(&r);
    return result;
}

static PyObject *get_closed(PyObject *self, void *closure) {
    (void)closure;
    return PyBool_FromLong(((session_object *)self)->s == NULL);
}

static PyMethodDef session_methods[] = {
    {"run", (PyCFunction)(void (*)(void))session_run, METH_FASTCALL | METH_KEYWORDS,
     "Runs the graph and returns the values of `fetches` in the same structure; feed_dict: values "
     "that replace tensors."},
    {"_run_flat", (PyCFunction)(void (*)(void))session_run_flat, METH_FASTCALL, NULL},
    {"_open", session_open, METH_O, NULL},
    {"_close", session_close, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyMemberDef session_members[] = {
    {"__dictoffset__", T_PYSSIZET, offsetof(session_object, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(session_object, weak), READONLY, NULL},
    {"graph", T_OBJECT, offsetof(session_object, graph), READONLY, "the graph it runs"},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef session_getset[] = {
    {"_closed", get_closed, NULL, NULL, NULL},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot session_slots[] = {
    {Py_tp_new, session_new},           {Py_tp_dealloc, session_dealloc},
    {Py_tp_traverse, session_traverse}, {Py_tp_clear, session_clear},
    {Py_tp_methods, session_methods},   {Py_tp_members, session_members},
    {Py_tp_getset, session_getset},     {0, NULL}};
static PyType_Spec session_spec = {"evenflow._core.SessionBase", sizeof(session_object), 0,
                                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                                   session_slots};

int session_init(PyObject *module) {
    name_node_attr = PyUnicode_InternFromString("_node");
    name_graph_attr = PyUnicode_InternFromString("graph");
    name_element = PyUnicode_InternFromString("_graph_element");
    name_reference = PyUnicode_InternFromString("_reference");
    name_run = PyUnicode_InternFromString("_run");
    if (!name_node_attr || !name_graph_attr || !name_element || !name_reference || !name_run)
        return -1;
    session_type = add_type(module, &session_spec, NULL, "SessionBase");
    return session_type != NULL ? 0 : -1;
}
