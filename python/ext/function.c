/* tf.function. A call walks its arguments once: tensors (and what becomes one) go into an array for
 * the engine, everything else goes by value or identity into a key of words. The key finds an
 * entry, whose engine function matches dtypes and shapes, traces when it must, and runs. No Python
 * frame is entered unless a trace is made.
 *
 * Caches are bounded: entries by number, least recently used first; traces inside an entry by the
 * engine. Objects in keys are held weakly where they can be; an entry whose object died is dropped.
 */
#include "core.h"
#include <stdatomic.h>
#include <structmember.h>
#include <time.h>

enum {
    MOST_ENTRIES = 64,
    MOST_WORDS = 192,
    MOST_OBJECTS = 48,
    MOST_TENSORS = 256,
    MOST_PARAMS = 64,
    MOST_RESULTS = 512
};

/* What tells calls apart beside dtypes and shapes. */
typedef struct key {
    uint64_t hash;
    int n_words, n_objects;
    uint64_t word[MOST_WORDS];
    PyObject *object[MOST_OBJECTS]; /* borrowed while looking */
} key;

typedef struct entry {
    struct entry *next; /* most recently used first */
    uint64_t hash;
    int n_words, n_objects;
    uint64_t *word;
    PyObject **object; /* strong, or a weak reference (see weak) */
    bool *weak;
    ef_function *f;
    struct function_object *owner; /* borrowed */
    bool heavy;                    /* worth letting other threads run Python meanwhile */
    bool few;                      /* its results were few */
    bool gone;                     /* dropped while in use */
    unsigned calls;
    int users; /* calls going on */
} entry;

/* How a trace's results are put together; kept with the trace. */
typedef struct packing {
    atomic_int refs;
    enum { ONE, NONE, TUPLE, LIST, BY_PYTHON } kind;
    int n;
    PyObject *pack;  /* BY_PYTHON: called with the list of results */
    PyObject *graph; /* the FuncGraph of the trace, for concrete functions */
} packing;

typedef struct function_object {
    PyObject_HEAD vectorcallfunc call;
    PyObject *dict, *weak;
    PyObject *python;   /* the user's function */
    PyObject *tracer;   /* (function, args, kwargs) -> (flat results, kind, pack) */
    PyObject *params;   /* tuple of positional parameter names, interned */
    PyObject *defaults; /* tuple aligned with the last parameters */
    PyObject *kwonly;   /* dict name -> default or a marker, or None */
    bool varargs, varkw;
    PyObject *signature; /* tuple of (dtype, shape) for the flat tensors, or None */
    PyObject *prepare;   /* (function, args, kwargs) -> (args, kwargs): for signatures; or None */
    bool relax;
    PyObject *bound; /* instance the function was taken from, or NULL (not used by plain calls) */
    entry *entries;
    int n_entries;
    uint64_t n_traces_gone; /* of entries that were dropped */
    PyObject *reasons;      /* list of str: why each trace was made, the last few */
    /* of the call being traced by this thread: see trace */
} function_object;
static PyTypeObject *function_type;

typedef struct bound_object {
    PyObject_HEAD vectorcallfunc call;
    PyObject *weak, *function, *self;
} bound_object;
static PyTypeObject *bound_type;

/* ---- walking arguments
 * ------------------------------------------------------------------------------ */

typedef struct walk {
    key *k;
    operand *own; /* made from numpy arrays and such */
    int n_own;
    const ef_tensor **t;
    int n_t;
    int failed; /* 1: raised; 2: too large for the key */
} walk;

enum tag {
    K_TENSOR = 1,
    K_NONE,
    K_TRUE,
    K_FALSE,
    K_INT,
    K_FLOAT,
    K_TEXT,
    K_BIG,
    K_TUPLE,
    K_LIST,
    K_DICT,
    K_SAME,
    K_EQUAL,
    K_METHOD,
    K_END,
    K_COMPOSITE
};

static void word(walk *w, uint64_t v) {
    if (w->k->n_words == MOST_WORDS) {
        w->failed = w->failed ? w->failed : 2;
        return;
    }
    w->k->word[w->k->n_words++] = v;
    w->k->hash = (w->k->hash ^ v) * 0x9E3779B97F4A7C15u;
    w->k->hash ^= w->k->hash >> 29;
}

static void object(walk *w, PyObject *o) {
    if (w->k->n_objects == MOST_OBJECTS) {
        w->failed = w->failed ? w->failed : 2;
        return;
    }
    w->k->object[w->k->n_objects++] = o;
}

static void tensor(walk *w, PyObject *o, int made) {
    if (w->n_t == MOST_TENSORS) {
        w->failed = w->failed ? w->failed : 2;
        return;
    }
    if (!made) {
        w->t[w->n_t++] = &((tensor_object *)o)->t;
    } else {
        operand *a = &w->own[w->n_own];
        if (w->n_own >= MOST_TENSORS || operand_from(o, EF_NO_DTYPE, MUST, a) < 0) {
            w->failed = 1;
            return;
        }
        w->n_own++;
        w->t[w->n_t++] = a->t;
    }
    word(w, K_TENSOR);
}

static PyObject *str_flatten;
static PyObject *trace_again; /* raised by a trace that made variables */

static void look(walk *w, PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    if (type == eager_type || type == symbolic_type) {
        tensor(w, o, 0);
    } else if (o == Py_None) {
        word(w, K_NONE);
    } else if (o == Py_True || o == Py_False) {
        word(w, o == Py_True ? K_TRUE : K_FALSE);
    } else if (type == &PyLong_Type) {
        int over;
        long long v = PyLong_AsLongLongAndOverflow(o, &over);
        word(w, over ? K_BIG : K_INT);
        if (over)
            object(w, o);
        else
            word(w, (uint64_t)v);
    } else if (type == &PyFloat_Type) {
        double d = PyFloat_AS_DOUBLE(o);
        uint64_t bits;
        memcpy(&bits, &d, sizeof bits);
        word(w, K_FLOAT);
        word(w, bits);
    } else if (type == &PyUnicode_Type || type == &PyBytes_Type) {
        word(w, K_TEXT);
        word(w, (uint64_t)PyObject_Hash(o));
        object(w, o);
    } else if (type == &PyTuple_Type || type == &PyList_Type) {
        word(w, type == &PyTuple_Type ? K_TUPLE : K_LIST);
        Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
        word(w, (uint64_t)n);
        for (Py_ssize_t i = 0; i < n && !w->failed; i++) look(w, PySequence_Fast_GET_ITEM(o, i));
    } else if (type == &PyDict_Type) {
        word(w, K_DICT);
        word(w, (uint64_t)PyDict_GET_SIZE(o));
        Py_ssize_t at = 0;
        PyObject *k, *v;
        while (!w->failed && PyDict_Next(o, &at, &k, &v)) {
            look(w, k);
            look(w, v);
        }
    } else if (is_array(o)) {
        tensor(w, o, 1);
    } else if (type == bound_type) {
        word(w, K_METHOD);
        word(w, (uint64_t)(uintptr_t)((bound_object *)o)->function);
        word(w, (uint64_t)(uintptr_t)((bound_object *)o)->self);
        object(w, ((bound_object *)o)->function);
        object(w, ((bound_object *)o)->self);
    } else if (type == &PyMethod_Type) { /* made afresh at each access: by what it binds */
        word(w, K_METHOD);
        word(w, (uint64_t)(uintptr_t)PyMethod_GET_FUNCTION(o));
        word(w, (uint64_t)(uintptr_t)PyMethod_GET_SELF(o));
        object(w, PyMethod_GET_FUNCTION(o));
        object(w, PyMethod_GET_SELF(o));
    } else if (PyTuple_Check(o) || PyObject_HasAttr((PyObject *)type, str_flatten)) {
        word(w, K_COMPOSITE); /* a namedtuple, or an object that is made of tensors */
        word(w, (uint64_t)(uintptr_t)type);
        object(w, (PyObject *)type);
        if (PyTuple_Check(o)) {
            for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(o) && !w->failed; i++)
                look(w, PyTuple_GET_ITEM(o, i));
        } else {
            PyObject *parts = PyObject_CallMethodNoArgs(o, str_flatten); /* (static, tensors) */
            if (parts == NULL || !PyTuple_Check(parts) || PyTuple_GET_SIZE(parts) != 2) {
                Py_XDECREF(parts);
                if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a composite's parts");
                w->failed = 1;
                return;
            }
            look(w, PyTuple_GET_ITEM(parts, 0));
            look(w, PyTuple_GET_ITEM(parts, 1));
            if (w->n_own < MOST_TENSORS) { /* keeps the parts alive during the call */
                memset(&w->own[w->n_own], 0, sizeof w->own[0]);
                w->own[w->n_own++].keep = parts;
            } else
                Py_DECREF(parts);
        }
        word(w, K_END);
    } else if (type->tp_hash != NULL && type->tp_hash != PyBaseObject_Type.tp_hash &&
               type->tp_hash != PyObject_HashNotImplemented && !PyFunction_Check(o) &&
               !PyType_Check(o)) {
        Py_hash_t h = PyObject_Hash(o);
        if (h == -1 && PyErr_Occurred()) {
            PyErr_Clear(); /* says it is hashable and is not: by identity */
            word(w, K_SAME);
            word(w, (uint64_t)(uintptr_t)o);
        } else {
            word(w, K_EQUAL);
            word(w, (uint64_t)h);
        }
        object(w, o);
    } else {
        word(w, K_SAME);
        word(w, (uint64_t)(uintptr_t)o);
        object(w, o);
    }
}

/* Puts placeholders where the tensors were, in the same order as look. Borrows nothing. */
typedef struct rebuild {
    PyObject *list; /* placeholders */
    Py_ssize_t at;
} rebuild;

static PyObject *again(rebuild *r, PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    if (type == eager_type || type == symbolic_type || is_array(o))
        return Py_NewRef(PyList_GET_ITEM(r->list, r->at++));
    if (type == &PyTuple_Type || type == &PyList_Type) {
        Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
        PyObject *c = type == &PyTuple_Type ? PyTuple_New(n) : PyList_New(n);
        for (Py_ssize_t i = 0; c != NULL && i < n; i++) {
            PyObject *e = again(r, PySequence_Fast_GET_ITEM(o, i));
            if (e == NULL)
                Py_CLEAR(c);
            else if (type == &PyTuple_Type)
                PyTuple_SET_ITEM(c, i, e);
            else
                PyList_SET_ITEM(c, i, e);
        }
        return c;
    }
    if (type == &PyDict_Type) {
        PyObject *c = PyDict_New(), *k, *v;
        Py_ssize_t at = 0;
        while (c != NULL && PyDict_Next(o, &at, &k, &v)) {
            PyObject *e = again(r, v);
            if (e == NULL || PyDict_SetItem(c, k, e) < 0) Py_CLEAR(c);
            Py_XDECREF(e);
        }
        return c;
    }
    if (type == &PyMethod_Type || type == bound_type) return Py_NewRef(o);
    if (PyTuple_Check(o)) {
        Py_ssize_t n = PyTuple_GET_SIZE(o);
        PyObject *list = PyList_New(n), *c = NULL;
        for (Py_ssize_t i = 0; list != NULL && i < n; i++) {
            PyObject *e = again(r, PyTuple_GET_ITEM(o, i));
            if (e == NULL)
                Py_CLEAR(list);
            else
                PyList_SET_ITEM(list, i, e);
        }
        if (list != NULL) c = PyObject_CallMethod((PyObject *)type, "_make", "(O)", list);
        Py_XDECREF(list);
        return c;
    }
    if (PyObject_HasAttr((PyObject *)type, str_flatten)) {
        PyObject *parts = PyObject_CallMethodNoArgs(o, str_flatten), *c = NULL;
        PyObject *tensors = parts != NULL ? again(r, PyTuple_GET_ITEM(parts, 1)) : NULL;
        if (tensors != NULL) c = PyObject_CallMethod(o, "_ef_rebuild", "(O)", tensors);
        Py_XDECREF(tensors);
        Py_XDECREF(parts);
        return c;
    }
    return Py_NewRef(o);
}

/* ---- entries
 * --------------------------------------------------------------------------------------------- */

static void entry_free(entry *e) {
    ef_function_free(e->f);
    for (int k = 0; k < e->n_objects; k++) Py_XDECREF(e->object[k]);
    PyMem_Free(e->object);
    PyMem_Free(e->weak);
    PyMem_Free(e->word);
    PyMem_Free(e);
}

static void entry_drop(entry *e) {
    if (e->users > 0)
        e->gone = true;
    else
        entry_free(e);
}

static PyObject *held(const entry *e, int k) { /* borrowed; NULL if it died */
    if (!e->weak[k]) return e->object[k];
    PyObject *o = PyWeakref_GET_OBJECT(e->object[k]);
    return o == Py_None ? NULL : o;
}

/* 1 the same, 0 not, -1 it can never match again */
static int matches(const entry *e, const key *k) {
    if (e->hash != k->hash || e->n_words != k->n_words || e->n_objects != k->n_objects ||
        memcmp(e->word, k->word, (size_t)k->n_words * sizeof *k->word) != 0)
        return 0;
    for (int i = 0; i < k->n_objects; i++) {
        PyObject *o = held(e, i);
        if (o == NULL) return -1;
        if (o == k->object[i]) continue;
        if (Py_TYPE(o)->tp_hash == PyBaseObject_Type.tp_hash ||
            Py_TYPE(o) != Py_TYPE(k->object[i]) || IS_TENSOR(o))
            return 0;
        int same = PyObject_RichCompareBool(o, k->object[i], Py_EQ);
        if (same < 0) PyErr_Clear();
        if (same != 1) return 0;
    }
    return 1;
}

static ef_status *trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out);

static int keep_objects(entry *e, const key *k) {
    size_t n = (size_t)k->n_objects + 1;
    e->object = PyMem_Calloc(n, sizeof *e->object);
    e->weak = PyMem_Calloc(n, sizeof *e->weak);
    e->word = PyMem_Malloc(((size_t)k->n_words + 1) * sizeof *e->word);
    if (e->object == NULL || e->weak == NULL || e->word == NULL) return -1;
    memcpy(e->word, k->word, (size_t)k->n_words * sizeof *k->word);
    e->n_words = k->n_words;
    for (int i = 0; i < k->n_objects; i++) {
        PyObject *o = k->object[i];
        bool by_value = Py_TYPE(o)->tp_hash != PyBaseObject_Type.tp_hash && !PyType_Check(o);
        PyObject *ref = by_value ? NULL : PyWeakref_NewRef(o, NULL);
        if (ref == NULL) {
            PyErr_Clear();
            ref = Py_NewRef(o);
        } else
            e->weak[i] = true;
        e->object[e->n_objects++] = ref;
    }
    return 0;
}

static int apply_signature(function_object *self, entry *e) {
    if (self->signature == Py_None) return 0;
    Py_ssize_t n = PyTuple_GET_SIZE(self->signature);
    ef_dtype *t = PyMem_Calloc((size_t)n + 1, sizeof *t);
    ef_shape *s = PyMem_Calloc((size_t)n + 1, sizeof *s);
    int bad = t == NULL || s == NULL ? -1 : 0;
    for (Py_ssize_t k = 0; k < n && bad == 0; k++) {
        PyObject *row = PyTuple_GET_ITEM(self->signature, k);
        t[k] = dtype_of(PyTuple_GET_ITEM(row, 0));
        bad = t[k] == EF_NO_DTYPE ? -1 : shape_from(PyTuple_GET_ITEM(row, 1), &s[k]);
    }
    if (bad == 0) bad = check(ef_function_set_signature(e->f, t, s, (int)n), NULL);
    PyMem_Free(t);
    PyMem_Free(s);
    return bad;
}

static void drop_last(function_object *self) {
    entry **at = &self->entries;
    while ((*at)->next != NULL) at = &(*at)->next;
    ef_function_info info;
    ef_function_info_get((*at)->f, &info);
    self->n_traces_gone += info.traces;
    entry *e = *at;
    *at = NULL;
    self->n_entries--;
    entry_drop(e);
}

static void entry_leave(function_object *self, entry *e) {
    (void)self;
    if (--e->users == 0 && e->gone) entry_free(e);
}

static entry *new_entry(function_object *self, const key *k) {
    entry *e = PyMem_Calloc(1, sizeof *e);
    PyObject *name = PyObject_GetAttrString(self->python, "__name__");
    const char *text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    PyErr_Clear();
    if (e == NULL || keep_objects(e, k) < 0 ||
        check(ef_function_new(trace, e, text != NULL ? text : "function", &e->f), NULL) < 0 ||
        apply_signature(self, e) < 0) {
        if (e != NULL) entry_free(e);
        Py_XDECREF(name);
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return NULL;
    }
    Py_XDECREF(name);
    if (!self->relax) ef_function_set_relax(e->f, false);
    e->hash = k->hash;
    e->owner = self;
    if (self->n_entries >= MOST_ENTRIES) drop_last(self);
    e->next = self->entries;
    self->entries = e;
    self->n_entries++;
    return e;
}

static entry *find_entry(function_object *self, const key *k) {
    for (entry **at = &self->entries; *at != NULL;) {
        entry *e = *at;
        int how = e->hash == k->hash ? matches(e, k) : 0;
        if (how == 0) {
            at = &e->next;
            continue;
        }
        *at = e->next;
        if (how < 0) { /* its object is gone */
            self->n_entries--;
            entry_drop(e);
            continue;
        }
        e->next = self->entries;
        self->entries = e;
        return e;
    }
    return new_entry(self, k);
}

/* ---- tracing
 * -------------------------------------------------------------------------------------------------
 */

/* Arguments of the call this thread is making, for the trace callback. */
typedef struct calling {
    struct calling *outer;
    entry *e;
    PyObject *const *items;
    Py_ssize_t n_items;
    PyObject *kwargs; /* dict or NULL */
} calling;
static _Thread_local calling *now;

static void packing_ref(void *user) { atomic_fetch_add(&((packing *)user)->refs, 1); }

static void packing_end(void *user) {
    packing *p = user;
    if (atomic_fetch_sub(&p->refs, 1) > 1) return;
    PyGILState_STATE gil = PyGILState_Ensure();
    Py_CLEAR(p->pack);
    Py_CLEAR(p->graph);
    PyGILState_Release(gil);
    PyMem_RawFree(p);
}

static int keep_results(PyObject *r, ef_tensor *out, int max_out, int *n_out) {
    PyObject *flat, *kind, *pack;
    if (!PyArg_ParseTuple(r, "O!OO", &PyList_Type, &flat, &kind, &pack)) return -1;
    Py_ssize_t n = PyList_GET_SIZE(flat);
    if (n > max_out) {
        PyErr_Format(PyExc_ValueError, "a function gave %zd tensors; at most %d are possible", n,
                     max_out);
        return -1;
    }
    for (Py_ssize_t k = 0; k < n; k++) {
        memset(&out[k], 0, sizeof out[k]);
        ef_tensor_copy(&out[k], &((tensor_object *)PyList_GET_ITEM(flat, k))->t);
    }
    *n_out = (int)n;
    packing *p = PyMem_RawCalloc(1, sizeof *p);
    if (p == NULL) return -1;
    atomic_init(&p->refs, 1);
    p->kind = (int)PyLong_AsLong(kind);
    p->n = (int)n;
    p->pack = Py_NewRef(pack);
    p->graph = graph_wrap(ef_graph_current());
    ef_trace_set_user(p, packing_ref, packing_end);
    return p->graph != NULL ? 0 : -1;
}

static ef_status *trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                        int *n_out) {
    PyGILState_STATE gil = PyGILState_Ensure();
    entry *e = user;
    calling *c = now;
    rebuild r = {PyList_New(n_in), 0};
    for (int k = 0; r.list != NULL && k < n_in; k++) {
        ef_tensor t = {0};
        ef_tensor_copy(&t, &in[k]);
        PyObject *o = tensor_wrap(&t);
        if (o == NULL)
            Py_CLEAR(r.list);
        else
            PyList_SET_ITEM(r.list, k, o);
    }
    PyObject *args = NULL, *kwargs = NULL, *result = NULL;
    if (r.list != NULL && c != NULL && c->e == e) {
        args = PyTuple_New(c->n_items);
        for (Py_ssize_t i = 0; args != NULL && i < c->n_items; i++) {
            PyObject *o = again(&r, c->items[i]);
            if (o == NULL)
                Py_CLEAR(args);
            else
                PyTuple_SET_ITEM(args, i, o);
        }
        kwargs = args != NULL && c->kwargs != NULL ? again(&r, c->kwargs) : Py_NewRef(Py_None);
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
    Py_DECREF(f);
    Py_XDECREF(graph);
    ef_status *s =
        bad == 0 ? NULL : ef_status_make(EF_UNKNOWN, "a Python function raised an exception");
    PyGILState_Release(gil);
    return s;
}

/* ---- results
 * ----------------------------------------------------------------------------------------------------
 */

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

/* ---- calls
 * --------------------------------------------------------------------------------------------------------
 */

static ef_status *run(entry *e, const ef_tensor *const *t, int n_t, ef_tensor *out, int max_out,
                      int *n_out, packing **p) {
    ef_status *s;
    if (refused) return ef_status_make(EF_FAILED_PRECONDITION, refusal);
    struct timespec a, b;
    bool measure = (e->calls++ & 63) == 0 || e->calls == 3; /* now and then */
    if (measure) clock_gettime(CLOCK_MONOTONIC, &a);
    if (e->heavy && !recording()) {
        PyThreadState *save = away();
        s = ef_function_call_user(e->f, t, n_t, out, max_out, n_out, (void **)p);
        back(save);
    } else {
        s = ef_function_call_user(e->f, t, n_t, out, max_out, n_out, (void **)p);
    }
    if (measure && e->calls > 1) {
        clock_gettime(CLOCK_MONOTONIC, &b);
        e->heavy = (b.tv_sec - a.tv_sec) * 1000000000L + (b.tv_nsec - a.tv_nsec) > 20000;
    }
    return s;
}

/* Room for the results: few after the first call has shown how many there are. */
enum { FEW = 8 };

/* items: bound to the signature; kwargs: a dict or NULL. */
static PyObject *call_bound(function_object *self, PyObject *const *items, Py_ssize_t n_items,
                            PyObject *kwargs) {
    key k;
    k.hash = 0x1234567;
    k.n_words = k.n_objects = 0;
    operand few_own[4];
    const ef_tensor *few_t[16];
    operand *own = few_own;
    const ef_tensor **t = few_t;
    void *many = NULL;
    bool simple = n_items <= 4 && kwargs == NULL;
    for (Py_ssize_t i = 0; i < n_items && simple; i++) {
        PyTypeObject *type = Py_TYPE(items[i]);
        simple = type == eager_type || type == symbolic_type || type == &PyLong_Type ||
                 type == &PyFloat_Type || items[i] == Py_None || type == &PyBool_Type ||
                 type == &PyMethod_Type;
    }
    if (!simple) {
        many = PyMem_Malloc(MOST_TENSORS * (sizeof *own + sizeof *t));
        if (many == NULL) return PyErr_NoMemory();
        own = many;
        t = (const ef_tensor **)(own + MOST_TENSORS);
    }
    walk w = {.k = &k, .own = own, .t = t};
    for (Py_ssize_t i = 0; i < n_items && !w.failed; i++) look(&w, items[i]);
    if (kwargs != NULL && !w.failed) look(&w, kwargs);
    PyObject *result = NULL;
    ef_tensor few_out[FEW], *out = few_out;
    entry *e = NULL;
    if (w.failed == 2)
        PyErr_Format(PyExc_ValueError, "the arguments of a tf.function hold too many values");
    if (w.failed || (e = find_entry(self, &k)) == NULL) goto done;
    if (!e->few && (out = PyMem_Malloc(MOST_RESULTS * sizeof *out)) == NULL) {
        out = few_out;
        PyErr_NoMemory();
        goto done;
    }
    calling c = {now, e, items, n_items, kwargs};
    packing *p = NULL;
    int n_out = 0;
    now = &c;
    Py_INCREF(self);
    e->users++;
    ef_status *s = run(e, w.t, w.n_t, out, out == few_out ? FEW : MOST_RESULTS, &n_out, &p);
    if (s != NULL && out == few_out && n_out > FEW) { /* another trace with more results */
        ef_status_free(s);
        e->few = false;
        if ((out = PyMem_Malloc(MOST_RESULTS * sizeof *out)) != NULL) {
            s = run(e, w.t, w.n_t, out, MOST_RESULTS, &n_out, &p);
        } else {
            out = few_out;
            s = ef_status_make(EF_NO_MEMORY, "no memory for the results");
        }
    }
    if (s != NULL && PyErr_Occurred() && PyErr_ExceptionMatches(trace_again)) {
        PyErr_Clear(); /* the trace made variables: the one to keep is made now that they exist */
        ef_status_free(s);
        s = run(e, w.t, w.n_t, out, out == few_out ? FEW : MOST_RESULTS, &n_out, &p);
    }
    now = c.outer;
    if (s != NULL) {
        raise_status(s, NULL);
    } else {
        e->few = n_out <= FEW;
        result = pack(p, out, n_out);
        if (p != NULL) packing_end(p);
    }
    entry_leave(self, e);
    Py_DECREF(self);
done:
    for (int i = 0; i < w.n_own; i++) operand_end(&w.own[i]);
    if (out != few_out) PyMem_Free(out);
    PyMem_Free(many);
    return result;
}

/* ---- binding arguments to the signature
 * ------------------------------------------------------------------- */

typedef struct bound {
    PyObject *item[MOST_PARAMS + 64];
    Py_ssize_t n;
    PyObject *kwargs; /* owned; NULL: none */
} bound;

static int find_param(function_object *self, PyObject *name) {
    Py_ssize_t n = PyTuple_GET_SIZE(self->params);
    for (Py_ssize_t k = 0; k < n; k++)
        if (PyTuple_GET_ITEM(self->params, k) == name) return (int)k;
    for (Py_ssize_t k = 0; k < n; k++)
        if (PyUnicode_Compare(PyTuple_GET_ITEM(self->params, k), name) == 0) return (int)k;
    return -1;
}

static int bind_keyword(function_object *self, bound *b, PyObject *name, PyObject *value) {
    int p = find_param(self, name);
    if (p >= 0) {
        if (b->item[p] != NULL) {
            PyErr_Format(PyExc_TypeError, "%R got multiple values for argument '%U'", self->python,
                         name);
            return -1;
        }
        b->item[p] = value;
        return 0;
    }
    if (!self->varkw && (self->kwonly == Py_None || !PyDict_Contains(self->kwonly, name))) {
        PyErr_Format(PyExc_TypeError, "%R got an unexpected keyword argument '%U'", self->python,
                     name);
        return -1;
    }
    if (b->kwargs == NULL && (b->kwargs = PyDict_New()) == NULL) return -1;
    return PyDict_SetItem(b->kwargs, name, value);
}

static int bind_rest(function_object *self, bound *b) { /* defaults */
    Py_ssize_t n = PyTuple_GET_SIZE(self->params);
    Py_ssize_t d = PyTuple_GET_SIZE(self->defaults);
    for (Py_ssize_t k = 0; k < n; k++) {
        if (b->item[k] != NULL) continue;
        if (k < n - d) {
            PyErr_Format(PyExc_TypeError, "%R missing required argument '%U'", self->python,
                         PyTuple_GET_ITEM(self->params, k));
            return -1;
        }
        b->item[k] = PyTuple_GET_ITEM(self->defaults, k - (n - d));
    }
    if (b->n < n) b->n = n;
    Py_ssize_t at = 0;
    PyObject *name, *value;
    while (self->kwonly != Py_None && PyDict_Next(self->kwonly, &at, &name, &value)) {
        if (b->kwargs != NULL && PyDict_Contains(b->kwargs, name)) continue;
        if (value == Py_Ellipsis) { /* has no default */
            PyErr_Format(PyExc_TypeError, "%R missing required keyword-only argument '%U'",
                         self->python, name);
            return -1;
        }
        if (b->kwargs == NULL && (b->kwargs = PyDict_New()) == NULL) return -1;
        if (PyDict_SetItem(b->kwargs, name, value) < 0) return -1;
    }
    return 0;
}

static int bind(function_object *self, PyObject *const *args, Py_ssize_t n, PyObject *names,
                bound *b) {
    Py_ssize_t n_params = PyTuple_GET_SIZE(self->params);
    b->kwargs = NULL;
    if ((n > n_params && !self->varargs) || n > MOST_PARAMS + 64) {
        PyErr_Format(PyExc_TypeError, "%R takes %zd positional arguments but %zd were given",
                     self->python, n_params, n);
        return -1;
    }
    memset(b->item, 0, sizeof(PyObject *) * (size_t)(n_params > n ? n_params : n));
    for (Py_ssize_t k = 0; k < n; k++) b->item[k] = args[k];
    b->n = n;
    for (Py_ssize_t k = 0; names != NULL && k < PyTuple_GET_SIZE(names); k++)
        if (bind_keyword(self, b, PyTuple_GET_ITEM(names, k), args[n + k]) < 0) return -1;
    return bind_rest(self, b);
}

static bool all_eager; /* tf.config.run_functions_eagerly */

static PyObject *function_call(PyObject *callable, PyObject *const *args, size_t nargsf,
                               PyObject *names) {
    function_object *self = (function_object *)callable;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf);
    if (self->python == NULL)
        return PyErr_Format(PyExc_RuntimeError, "a tf.function without a function");
    if (all_eager) return PyObject_Vectorcall(self->python, args, nargsf, names);
    if (self->prepare == Py_None && names == NULL && self->kwonly == Py_None &&
        n == PyTuple_GET_SIZE(self->params))
        return call_bound(self, args, n, NULL);
    bound b;
    PyObject *result = NULL, *ready = NULL;
    if (bind(self, args, n, names, &b) == 0) {
        if (self->prepare == Py_None) {
            result = call_bound(self, b.item, b.n, b.kwargs);
        } else { /* as the input signature wants them: a tuple of positional arguments */
            PyObject *tuple = PyTuple_New(b.n);
            for (Py_ssize_t k = 0; tuple != NULL && k < b.n; k++)
                PyTuple_SET_ITEM(tuple, k, Py_NewRef(b.item[k]));
            if (tuple != NULL)
                ready = PyObject_CallFunctionObjArgs(self->prepare, callable, tuple,
                                                     b.kwargs != NULL ? b.kwargs : Py_None, NULL);
            Py_XDECREF(tuple);
            if (ready != NULL && PyTuple_Check(ready))
                result = call_bound(self, &PyTuple_GET_ITEM(ready, 0), PyTuple_GET_SIZE(ready),
                                    b.kwargs);
            Py_XDECREF(ready);
        }
    }
    Py_XDECREF(b.kwargs);
    return result;
}

/* ---- objects
 * --------------------------------------------------------------------------------------------------
 */

/* Function(python, tracer, params, defaults, kwonly, varargs, varkw, signature, prepare, relax) */
static PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs) {
    (void)kwargs;
    PyObject *python, *tracer, *params, *defaults, *kwonly, *signature, *prepare;
    int varargs, varkw, relax;
    if (!PyArg_ParseTuple(args, "OOO!O!OppOOp", &python, &tracer, &PyTuple_Type, &params,
                          &PyTuple_Type, &defaults, &kwonly, &varargs, &varkw, &signature, &prepare,
                          &relax))
        return NULL;
    if (PyTuple_GET_SIZE(params) > MOST_PARAMS)
        return PyErr_Format(PyExc_ValueError, "a function of more than %d parameters", MOST_PARAMS);
    function_object *self = (function_object *)type->tp_alloc(type, 0);
    if (self == NULL) return NULL;
    self->call = function_call;
    self->python = Py_NewRef(python);
    self->tracer = Py_NewRef(tracer);
    self->params = Py_NewRef(params);
    self->defaults = Py_NewRef(defaults);
    self->kwonly = Py_NewRef(kwonly);
    self->varargs = varargs;
    self->varkw = varkw;
    self->signature = Py_NewRef(signature);
    self->prepare = Py_NewRef(prepare);
    self->relax = relax;
    return (PyObject *)self;
}

static void drop_entries(function_object *self) {
    while (self->entries != NULL) drop_last(self);
}

static int function_clear(PyObject *o) {
    function_object *self = (function_object *)o;
    drop_entries(self);
    Py_CLEAR(self->dict);
    Py_CLEAR(self->python);
    Py_CLEAR(self->tracer);
    Py_CLEAR(self->defaults);
    Py_CLEAR(self->kwonly);
    Py_CLEAR(self->prepare);
    return 0;
}

static void function_dealloc(PyObject *o) {
    function_object *self = (function_object *)o;
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (self->weak != NULL) PyObject_ClearWeakRefs(o);
    function_clear(o);
    Py_CLEAR(self->params);
    Py_CLEAR(self->signature);
    type->tp_free(o);
    Py_DECREF(type);
}

static int function_traverse(PyObject *o, visitproc visit, void *arg) {
    function_object *self = (function_object *)o;
    Py_VISIT(self->dict);
    Py_VISIT(self->python);
    Py_VISIT(self->tracer);
    Py_VISIT(self->defaults);
    Py_VISIT(self->kwonly);
    Py_VISIT(self->prepare);
    Py_VISIT(Py_TYPE(o));
    return 0;
}

/* ---- bound to an instance: a method that still answers get_concrete_function and the like
 * ------------------- */

static PyObject *bound_call(PyObject *callable, PyObject *const *args, size_t nargsf,
                            PyObject *names) {
    bound_object *b = (bound_object *)callable;
    Py_ssize_t n = PyVectorcall_NARGS(nargsf), k = names != NULL ? PyTuple_GET_SIZE(names) : 0;
    if (nargsf &
        PY_VECTORCALL_ARGUMENTS_OFFSET) { /* the place before the arguments is ours to use */
        PyObject **at = (PyObject **)args - 1, *before = *at;
        *at = b->self;
        PyObject *r = function_call(b->function, at, (size_t)n + 1, names);
        *at = before;
        return r;
    }
    PyObject *few[16], **all = few;
    if (n + k + 1 > 16 && (all = PyMem_Malloc((size_t)(n + k + 1) * sizeof *all)) == NULL)
        return PyErr_NoMemory();
    all[0] = b->self;
    memcpy(all + 1, args, (size_t)(n + k) * sizeof *all);
    PyObject *r = function_call(b->function, all, (size_t)n + 1, names);
    if (all != few) PyMem_Free(all);
    return r;
}

static PyObject *function_descr_get(PyObject *self, PyObject *obj, PyObject *type) {
    (void)type;
    if (obj == NULL || obj == Py_None) return Py_NewRef(self);
    bound_object *b = PyObject_GC_New(bound_object, bound_type);
    if (b == NULL) return NULL;
    b->call = bound_call;
    b->weak = NULL;
    b->function = Py_NewRef(self);
    b->self = Py_NewRef(obj);
    PyObject_GC_Track((PyObject *)b);
    return (PyObject *)b;
}

static void bound_dealloc(PyObject *o) {
    bound_object *b = (bound_object *)o;
    PyTypeObject *type = Py_TYPE(o);
    PyObject_GC_UnTrack(o);
    if (b->weak != NULL) PyObject_ClearWeakRefs(o);
    Py_CLEAR(b->function);
    Py_CLEAR(b->self);
    type->tp_free(o);
    Py_DECREF(type);
}
static int bound_traverse(PyObject *o, visitproc visit, void *arg) {
    Py_VISIT(((bound_object *)o)->function);
    Py_VISIT(((bound_object *)o)->self);
    Py_VISIT(Py_TYPE(o));
    return 0;
}
static PyObject *bound_getattro(PyObject *o, PyObject *name) {
    PyObject *v = PyObject_GenericGetAttr(o, name);
    if (v != NULL || !PyErr_ExceptionMatches(PyExc_AttributeError)) return v;
    PyErr_Clear();
    return PyObject_GetAttr(((bound_object *)o)->function, name);
}
static PyObject *bound_compare(PyObject *a, PyObject *b, int how) {
    if ((how != Py_EQ && how != Py_NE) || Py_TYPE(a) != bound_type || Py_TYPE(b) != bound_type)
        Py_RETURN_NOTIMPLEMENTED;
    bound_object *x = (bound_object *)a, *y = (bound_object *)b;
    int same = x->function == y->function && x->self == y->self;
    return PyBool_FromLong(how == Py_EQ ? same : !same);
}
static Py_hash_t bound_hash(PyObject *o) {
    bound_object *b = (bound_object *)o;
    return (Py_hash_t)(((uintptr_t)b->function >> 4) ^ ((uintptr_t)b->self << 3)) | 1;
}
static PyMemberDef bound_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(bound_object, call), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(bound_object, weak), READONLY, NULL},
    {"__func__", T_OBJECT_EX, offsetof(bound_object, function), READONLY, NULL},
    {"__self__", T_OBJECT_EX, offsetof(bound_object, self), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyType_Slot bound_slots[] = {
    {Py_tp_dealloc, bound_dealloc},   {Py_tp_traverse, bound_traverse},
    {Py_tp_call, PyVectorcall_Call},  {Py_tp_members, bound_members},
    {Py_tp_getattro, bound_getattro}, {Py_tp_richcompare, bound_compare},
    {Py_tp_hash, bound_hash},         {0, NULL}};
static PyType_Spec bound_spec = {
    "evenflow._core.BoundFunction", sizeof(bound_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL, bound_slots};

static PyObject *core_run_eagerly(PyObject *module, PyObject *on) {
    (void)module;
    all_eager = PyObject_IsTrue(on) == 1;
    Py_RETURN_NONE;
}
static PyObject *core_runs_eagerly(PyObject *module, PyObject *unused) {
    (void)module;
    (void)unused;
    return PyBool_FromLong(all_eager);
}
static PyMethodDef functions[] = {
    {"run_functions_eagerly", core_run_eagerly, METH_O, "Functions are called as plain Python."},
    {"functions_run_eagerly", core_runs_eagerly, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL}};

static PyObject *function_traces(PyObject *o, PyObject *unused) {
    (void)unused;
    function_object *self = (function_object *)o;
    uint64_t n = self->n_traces_gone;
    for (entry *e = self->entries; e != NULL; e = e->next) {
        ef_function_info info;
        ef_function_info_get(e->f, &info);
        n += info.traces;
    }
    return PyLong_FromUnsignedLongLong(n);
}

/* Why the latest trace of each kept set of Python arguments was made. */
static PyObject *function_reasons(PyObject *o, PyObject *unused) {
    (void)unused;
    PyObject *list = PyList_New(0);
    for (entry *e = ((function_object *)o)->entries; list != NULL && e != NULL; e = e->next) {
        ef_function_info info;
        ef_function_info_get(e->f, &info);
        PyObject *row = Py_BuildValue("(sK)", info.last_reason, (unsigned long long)info.traces);
        if (row == NULL || PyList_Append(list, row) < 0) Py_CLEAR(list);
        Py_XDECREF(row);
    }
    return list;
}

/* _concrete(*args, **kwargs): tensors stand for any of their dtype and shape -> (graph, kind, pack)
 */
static PyObject *function_concrete(PyObject *o, PyObject *const *args, Py_ssize_t n,
                                   PyObject *names) {
    function_object *self = (function_object *)o;
    bound b;
    PyObject *result = NULL;
    if (bind(self, args, n, names, &b) < 0) {
        Py_XDECREF(b.kwargs);
        return NULL;
    }
    key k = {.hash = 0x1234567};
    operand *own = PyMem_Malloc(MOST_TENSORS * sizeof *own);
    const ef_tensor **t = PyMem_Malloc(MOST_TENSORS * sizeof *t);
    ef_dtype *dtype = PyMem_Calloc(MOST_TENSORS, sizeof *dtype);
    ef_shape *shape = PyMem_Calloc(MOST_TENSORS, sizeof *shape);
    walk w = {.k = &k, .own = own, .t = t};
    if (own == NULL || t == NULL || dtype == NULL || shape == NULL) {
        PyErr_NoMemory();
        goto done;
    }
    for (Py_ssize_t i = 0; i < b.n && !w.failed; i++) look(&w, b.item[i]);
    if (b.kwargs != NULL && !w.failed) look(&w, b.kwargs);
    entry *e = w.failed ? NULL : find_entry(self, &k);
    if (e == NULL) {
        if (!PyErr_Occurred())
            PyErr_SetString(PyExc_ValueError, "too many values among the arguments");
        goto done;
    }
    for (int i = 0; i < w.n_t; i++) {
        dtype[i] = (ef_dtype)w.t[i]->dtype;
        shape[i] = ef_tensor_shape(w.t[i]);
    }
    calling c = {now, e, b.item, b.n, b.kwargs};
    packing *p = NULL;
    ef_graph *g = NULL;
    now = &c;
    e->users++;
    ef_status *s = ef_function_trace_for(e->f, dtype, shape, w.n_t, &g, (void **)&p);
    if (s != NULL && PyErr_Occurred() && PyErr_ExceptionMatches(trace_again)) {
        PyErr_Clear();
        ef_status_free(s);
        s = ef_function_trace_for(e->f, dtype, shape, w.n_t, &g, (void **)&p);
    }
    now = c.outer;
    if (s != NULL) {
        raise_status(s, NULL);
    } else if (p != NULL) {
        ef_graph_free(g);
        result = Py_BuildValue("(OiO)", p->graph, (int)p->kind, p->pack);
        packing_end(p);
    }
    entry_leave(self, e);
done:
    for (int i = 0; i < w.n_own; i++) operand_end(&w.own[i]);
    PyMem_Free(own);
    PyMem_Free(t);
    PyMem_Free(dtype);
    PyMem_Free(shape);
    Py_XDECREF(b.kwargs);
    return result;
}

static PyMethodDef function_methods[] = {{"_traces", function_traces, METH_NOARGS, NULL},
                                         {"_reasons", function_reasons, METH_NOARGS, NULL},
                                         {"_concrete",
                                          (PyCFunction)(void (*)(void))function_concrete,
                                          METH_FASTCALL | METH_KEYWORDS, NULL},
                                         {NULL, NULL, 0, NULL}};
static PyMemberDef function_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(function_object, call), READONLY, NULL},
    {"__dictoffset__", T_PYSSIZET, offsetof(function_object, dict), READONLY, NULL},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(function_object, weak), READONLY, NULL},
    {"python_function", T_OBJECT_EX, offsetof(function_object, python), READONLY, NULL},
    {NULL, 0, 0, 0, NULL}};
static PyGetSetDef function_getset[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot function_slots[] = {{Py_tp_new, function_new},
                                       {Py_tp_dealloc, function_dealloc},
                                       {Py_tp_traverse, function_traverse},
                                       {Py_tp_clear, function_clear},
                                       {Py_tp_call, PyVectorcall_Call},
                                       {Py_tp_methods, function_methods},
                                       {Py_tp_members, function_members},
                                       {Py_tp_getset, function_getset},
                                       {Py_tp_descr_get, function_descr_get},
                                       {0, NULL}};
static PyType_Spec function_spec = {
    "tensorflow.python.eager.polymorphic_function.polymorphic_function.Function",
    sizeof(function_object), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL |
        Py_TPFLAGS_METHOD_DESCRIPTOR,
    function_slots};

int function_init(PyObject *module) {
    if ((str_flatten = PyUnicode_InternFromString("_ef_flatten")) == NULL) return -1;
    trace_again = PyErr_NewException("evenflow._core.TraceAgain", NULL, NULL);
    if (trace_again == NULL || PyModule_AddObjectRef(module, "TraceAgain", trace_again) < 0)
        return -1;
    bound_type = add_type(module, &bound_spec, NULL, "BoundFunction");
    function_type = add_type(module, &function_spec, NULL, "Function");
    if (function_type == NULL || bound_type == NULL) return -1;
    return PyModule_AddFunctions(module, functions);
}
