/* The cache key of a call of a tf.function. Tensors, and arrays that become tensors, are collected
 * for the engine, which compares dtypes and shapes itself. Everything else becomes words of the
 * key: numbers by value and type, containers by structure, objects by identity or, if their class
 * defines equality, by hash and equality. Variables are compared by identity, too, until the
 * function is called with other ones; from then on they are arguments like tensors. */
#include "function.h"
#include "profile.h"

enum tag {
    K_TENSOR = 1,
    K_NONE,
    K_TRUE,
    K_FALSE,
    K_INT,
    K_FLOAT,
    K_BIG,
    K_TUPLE,
    K_LIST,
    K_DICT,
    K_SAME,
    K_EQUAL,
    K_METHOD,
    K_END,
    K_COMPOSITE,
    K_VARIABLE
};

/* Returns `at` if it has room for one more element, else a copy of twice the size. If there is no
 * memory, it returns `at` and sets w->failed. */
static void *grown(walk *w, void *at, const void *few, int n, int *room, size_t size) {
    if (n < *room) return at;
    size_t bytes = (size_t)n * size;
    void *more = at == few ? PyMem_Malloc(2 * bytes) : PyMem_Realloc(at, 2 * bytes);
    if (more == NULL) {
        PyErr_NoMemory();
        w->failed = true;
        return at;
    }
    if (at == few) memcpy(more, few, bytes);
    *room = 2 * n;
    return more;
}

static inline void word(walk *w, uint64_t v) {
    key *k = &w->k;
    if (__builtin_expect(k->n_words == w->word_room, 0)) {
        k->word = grown(w, k->word, w->few_word, k->n_words, &w->word_room, sizeof *k->word);
        if (w->failed) return;
    }
    k->word[k->n_words++] = v;
    k->hash = (k->hash ^ v) * 0x9E3779B97F4A7C15u;
    k->hash ^= k->hash >> 29;
}

/* The key holds its objects: hashing and comparing run the user's code, which may remove an object
 * from the list or dict that it was found in. */
static void object(walk *w, PyObject *o) {
    key *k = &w->k;
    k->object = grown(w, k->object, w->few_object, k->n_objects, &w->object_room, sizeof o);
    if (!w->failed) k->object[k->n_objects++] = Py_NewRef(o);
}

/* Takes o over. */
static void hold(walk *w, PyObject *o) {
    w->held = grown(w, w->held, w->few_held, w->n_held, &w->held_room, sizeof o);
    if (w->failed)
        Py_DECREF(o);
    else
        w->held[w->n_held++] = o;
}

/* ---- tensors --------------------------------------------------------------------------------- */

typedef struct made_operand {
    struct made_operand *next;
    operand a;
} made_operand;

/* An array of objects that are not strings cannot become a tensor. As in TensorFlow, the function
 * is traced nevertheless, with a string tensor in its place, and the error is raised after that. */
static int stand_in(walk *w, PyObject *o, operand *a) {
    ef_shape s = {.rank = array_dims(o, s.dim)};
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    memset(a, 0, sizeof *a);
    if (s.rank < 0 || check(ef_tensor_new(EF_STRING, &s, &a->own), NULL) < 0) {
        PyErr_Restore(type, value, trace);
        return -1;
    }
    a->t = &a->own;
    if (w->unfit == NULL) {
        PyErr_NormalizeException(&type, &value, &trace);
        w->unfit = Py_XNewRef(value);
    }
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return 0;
}

static int from_array(walk *w, PyObject *o, operand *a) {
    ef_dtype t = array_dtype(o);
    if (operand_from(o, EF_NO_DTYPE, MUST, a) == 0) return 0;
    if (t == EF_STRING) return stand_in(w, o, a);
    return t == EF_NO_DTYPE ? say_type_error() : -1;
}

static void tensor(walk *w, const ef_tensor *t) {
    w->t = grown(w, w->t, w->few_t, w->n_t, &w->t_room, sizeof *w->t);
    if (w->failed) return;
    w->t[w->n_t++] = t;
    word(w, K_TENSOR);
}

static void array(walk *w, PyObject *o) {
    made_operand *m = PyMem_Malloc(sizeof *m);
    if (m == NULL) PyErr_NoMemory();
    if (m == NULL || from_array(w, o, &m->a) < 0) {
        PyMem_Free(m);
        w->failed = true;
        return;
    }
    m->next = w->made;
    w->made = m;
    tensor(w, m->a.t);
}

/* ---- everything else ------------------------------------------------------------------------- */

/* Whether instances of a class are structures that are flattened, besides lists, tuples and dicts.
 * Python's answer is cached by the version tag of the class, which changes with the class. */
static int opens(PyTypeObject *type) {
    static struct {
        PyTypeObject *type;
        unsigned version;
        int opens;
    } known[64], *at;
    at = &known[((uintptr_t)type >> 6) % 64];
    if (at->type == type && at->version != 0 && at->version == type->tp_version_tag)
        return at->opens;
    PyObject *answer = PyObject_CallOneArg(hooks.opens, (PyObject *)type);
    int yes = answer != NULL ? PyObject_IsTrue(answer) : -1;
    Py_XDECREF(answer);
    if (yes < 0) return -1;
    at->type = type;
    at->version = PyType_HasFeature(type, Py_TPFLAGS_VALID_VERSION_TAG) ? type->tp_version_tag : 0;
    return at->opens = yes;
}

/* Flattens a structure: (a hashable constant part, tuple of components), or with a third item,
 * which tells the dimensions of the components that are unknown in every trace. */
static PyObject *take_apart(PyObject *o) {
    PyObject *parts = PyObject_CallOneArg(hooks.take_apart, o);
    Py_ssize_t n = parts != NULL && PyTuple_Check(parts) ? PyTuple_GET_SIZE(parts) : 0;
    if ((n == 2 || n == 3) && PyTuple_Check(PyTuple_GET_ITEM(parts, 1)) &&
        (n == 2 || PyTuple_Check(PyTuple_GET_ITEM(parts, 2))))
        return parts;
    if (parts != NULL) PyErr_Format(PyExc_TypeError, "the structure %R cannot be flattened", o);
    Py_XDECREF(parts);
    return NULL;
}

static void by_identity(walk *w, PyObject *o) {
    word(w, K_SAME);
    word(w, (uint64_t)(uintptr_t)o);
    object(w, o);
}

/* Adds an object that is compared by hash and equality. It must be hashable: an unhashable object
 * could change and still match its old trace. */
static void by_value(walk *w, PyObject *o) {
    object(w, o);
    if (w->failed) return;
    Py_hash_t h = PyObject_Hash(o);
    if (h == -1) {
        if (PyErr_ExceptionMatches(PyExc_TypeError))
            PyErr_Format(PyExc_TypeError,
                         "Could not generate a generic TraceType for %R: an argument of a "
                         "tf.function that is no tensor or structure must be hashable.",
                         o);
        w->failed = true;
        return;
    }
    word(w, K_EQUAL);
    word(w, (uint64_t)h);
}

/* With by_spec, a variable's handle is an argument like a tensor; a variable that is given twice is
 * one argument. Otherwise it is compared by identity. */
static void variable(walk *w, PyObject *o) {
    const variable_object *v = (variable_object *)o;
    if (v->handle == NULL || !IS_EAGER(v->handle) || !w->k.by_spec) {
        w->k.variables = w->k.variables || (v->handle != NULL && IS_EAGER(v->handle));
        by_identity(w, o);
        return;
    }
    const ef_tensor *handle = &v->handle->t;
    ef_shape s;
    ef_dtype dtype;
    int at = 0;
    while (at < w->n_t && w->t[at] != handle) at++;
    w->failed = check(ef_resource_describe(handle, &dtype, &s), NULL) < 0;
    if (w->failed) return;
    word(w, K_VARIABLE);
    word(w, (uint64_t)(uintptr_t)Py_TYPE(o));
    object(w, (PyObject *)Py_TYPE(o));
    word(w, (uint64_t)at << 16 | (uint64_t)ef_variable_trainable(handle) << 8 | (uint64_t)dtype);
    if (at < w->n_t) return;
    word(w, (uint64_t)(int64_t)s.rank);
    for (int d = 0; d < s.rank; d++) word(w, (uint64_t)s.dim[d]);
    tensor(w, handle);
    if (w->depth > 0) hold(w, Py_NewRef(o));
}

static void look(walk *w, PyObject *o);

static void look_in_sequence(walk *w, PyObject *o) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(o) && !w->failed; i++) {
        PyObject *item = Py_NewRef(PySequence_Fast_GET_ITEM(o, i));
        look(w, item);
        Py_DECREF(item);
    }
}

/* The sorted keys of a dict: its tensors are in this order, so that the order of insertion does not
 * matter. NULL without an exception: they are sorted already or cannot be sorted, and are used in
 * the dict's order. NULL with an exception: raised. */
static PyObject *sorted_keys(PyObject *dict) {
    Py_ssize_t at = 0;
    PyObject *k, *before = NULL;
    bool fine = true;
    while (fine && PyDict_Next(dict, &at, &k, NULL)) {
        fine = PyUnicode_CheckExact(k) && (before == NULL || PyUnicode_Compare(before, k) < 0);
        before = k;
    }
    if (fine || PyDict_GET_SIZE(dict) < 2) return NULL;
    PyObject *keys = PyDict_Keys(dict);
    if (keys != NULL && PyList_Sort(keys) < 0) Py_CLEAR(keys);
    if (keys == NULL && PyErr_ExceptionMatches(PyExc_TypeError)) PyErr_Clear();
    return keys;
}

/* The next item of a dict, in the order of keys unless that is NULL; *at starts with 0. The caller
 * releases *k and *v. false: there are no more, or raised. */
static bool next_item(PyObject *dict, PyObject *keys, Py_ssize_t *at, PyObject **k, PyObject **v) {
    bool found;
    if (keys == NULL) {
        found = PyDict_Next(dict, at, k, v);
    } else {
        if (*at >= PyList_GET_SIZE(keys)) return false;
        *k = PyList_GET_ITEM(keys, (*at)++);
        *v = PyDict_GetItemWithError(dict, *k);
        found = *v != NULL;
        if (!found && !PyErr_Occurred()) PyErr_SetObject(PyExc_KeyError, *k);
    }
    if (found) {
        Py_INCREF(*k);
        Py_INCREF(*v);
    }
    return found;
}

static void look_in_dict(walk *w, PyObject *o) {
    word(w, K_DICT);
    word(w, (uint64_t)PyDict_GET_SIZE(o));
    PyObject *keys = sorted_keys(o), *k, *v;
    if (keys != NULL) hold(w, keys);
    for (Py_ssize_t at = 0; !w->failed && next_item(o, keys, &at, &k, &v);) {
        by_value(w, k);
        if (!w->failed) look(w, v);
        Py_DECREF(k);
        Py_DECREF(v);
    }
    w->failed = w->failed || PyErr_Occurred();
}

/* The components of a structure; open: per component, a bit for each dimension that is unknown in
 * every trace. */
static void look_in_parts(walk *w, PyObject *parts, PyObject *open) {
    Py_ssize_t n = PyTuple_GET_SIZE(parts);
    for (Py_ssize_t i = 0; i < n && !w->failed; i++) {
        int at = w->n_t;
        look(w, PyTuple_GET_ITEM(parts, i));
        if (w->failed || i >= PyTuple_GET_SIZE(open) || w->n_t != at + 1) continue;
        unsigned long dims = PyLong_AsUnsignedLong(PyTuple_GET_ITEM(open, i));
        w->failed = dims == (unsigned long)-1 && PyErr_Occurred() != NULL;
        if (w->failed || dims == 0) continue;
        key *k = &w->k;
        k->open = grown(w, k->open, w->few_open, k->n_open, &w->open_room, sizeof *k->open);
        if (!w->failed) k->open[k->n_open++] = (open_sizes){at, (uint32_t)dims};
    }
}

static void look_in_structure(walk *w, PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    if (type == &PyTuple_Type || type == &PyList_Type) {
        word(w, type == &PyTuple_Type ? K_TUPLE : K_LIST);
        word(w, (uint64_t)PySequence_Fast_GET_SIZE(o));
        look_in_sequence(w, o);
        return;
    }
    if (type == &PyDict_Type) {
        look_in_dict(w, o);
        return;
    }
    word(w, K_COMPOSITE);
    word(w, (uint64_t)(uintptr_t)type);
    object(w, (PyObject *)type);
    if (PyTuple_Check(o)) { /* a namedtuple */
        look_in_sequence(w, o);
    } else {
        PyObject *parts = take_apart(o);
        w->failed = w->failed || parts == NULL;
        if (parts != NULL) hold(w, parts);
        if (!w->failed) by_value(w, PyTuple_GET_ITEM(parts, 0));
        if (!w->failed && PyTuple_GET_SIZE(parts) == 3)
            look_in_parts(w, PyTuple_GET_ITEM(parts, 1), PyTuple_GET_ITEM(parts, 2));
        else if (!w->failed)
            look_in_sequence(w, PyTuple_GET_ITEM(parts, 1));
    }
    word(w, K_END);
}

static void look_deeper(walk *w, PyObject *o) {
    if (Py_EnterRecursiveCall(" while looking at the arguments of a tf.function")) {
        w->failed = true;
        return;
    }
    w->depth++;
    look_in_structure(w, o);
    w->depth--;
    Py_LeaveRecursiveCall();
}

static void method(walk *w, PyObject *o, PyObject *function, PyObject *self) {
    sample s = Py_REFCNT(o) == 1 ? sample_take() : (sample){0}; /* made for this call only */
    if (s.weight > 0) sample_end(&s, EF_EVENT_FRESH, profile_definition(function), NULL, 0, 0);
    word(w, K_METHOD); /* each access makes a new method object: compare function and instance */
    word(w, (uint64_t)(uintptr_t)function);
    word(w, (uint64_t)(uintptr_t)self);
    object(w, function);
    object(w, self);
}

static void look_at_object(walk *w, PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    if (IS_VARIABLE(o)) {
        variable(w, o);
        return;
    }
    int structure = PyTuple_Check(o) ? 1 : opens(type);
    if (structure < 0)
        w->failed = true;
    else if (structure)
        look_deeper(w, o);
    else if (type->tp_hash == PyBaseObject_Type.tp_hash || PyFunction_Check(o) || PyType_Check(o))
        by_identity(w, o);
    else
        by_value(w, o);
}

static void look(walk *w, PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    if (type == eager_type || type == symbolic_type) {
        tensor(w, tensor_used((tensor_object *)o));
        if (w->depth > 0) hold(w, Py_NewRef(o));
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
    } else if (PyUnicode_Check(o) || type == &PyBytes_Type) {
        by_value(w, o);
    } else if (type == &PyTuple_Type || type == &PyList_Type || type == &PyDict_Type) {
        look_deeper(w, o);
    } else if (is_array(o)) {
        array(w, o);
    } else if (type == bound_type) {
        method(w, o, ((bound_object *)o)->function, ((bound_object *)o)->self);
    } else if (type == &PyMethod_Type) {
        method(w, o, PyMethod_GET_FUNCTION(o), PyMethod_GET_SELF(o));
    } else {
        look_at_object(w, o);
    }
}

bool walk_begin(walk *w, PyObject *const *items, Py_ssize_t n_items, PyObject *kwargs,
                bool by_spec) {
    w->k = (key){.hash = 0x1234567,
                 .by_spec = by_spec,
                 .word = w->few_word,
                 .object = w->few_object,
                 .open = w->few_open};
    w->t = w->few_t;
    w->held = w->few_held;
    w->made = NULL;
    w->unfit = NULL;
    w->n_t = w->n_held = w->depth = 0;
    w->word_room = FEW_WORDS;
    w->object_room = FEW_OBJECTS;
    w->open_room = FEW_OPEN;
    w->t_room = w->held_room = FEW_TENSORS;
    w->failed = false;
    bool recorded = recording();
    for (Py_ssize_t i = 0; i < n_items && !w->failed; i++) {
        if (IS_EAGER(items[i]) && !recorded && w->n_t < w->t_room) { /* the usual argument */
            w->t[w->n_t++] = &((tensor_object *)items[i])->t;
            word(w, K_TENSOR);
        } else {
            look(w, items[i]);
        }
    }
    if (kwargs != NULL && !w->failed) look(w, kwargs);
    return !w->failed;
}

void walk_end(walk *w) {
    for (made_operand *m; (m = w->made) != NULL; PyMem_Free(m)) {
        w->made = m->next;
        operand_end(&m->a);
    }
    for (int i = 0; i < w->n_held; i++) Py_DECREF(w->held[i]);
    for (int i = 0; i < w->k.n_objects; i++) Py_DECREF(w->k.object[i]);
    if (w->k.word != w->few_word) PyMem_Free(w->k.word);
    if (w->k.object != w->few_object) PyMem_Free(w->k.object);
    if (w->k.open != w->few_open) PyMem_Free(w->k.open);
    if (w->t != w->few_t) PyMem_Free(w->t);
    if (w->held != w->few_held) PyMem_Free(w->held);
    Py_XDECREF(w->unfit);
}

/* ---- rebuilding the arguments ---------------------------------------------------------------- */

static PyObject *next_tensor(rebuild *r) {
    if (r->at < PyList_GET_SIZE(r->list)) return Py_NewRef(PyList_GET_ITEM(r->list, r->at++));
    PyErr_SetString(PyExc_RuntimeError, "the arguments of a tf.function changed during its call");
    return NULL;
}

/* Rebuilds a list or tuple as a PyTuple_Type or PyList_Type. */
static PyObject *sequence_again(rebuild *r, PyObject *o, PyTypeObject *kind) {
    PyObject *from = PySequence_Tuple(o);
    if (from == NULL) return NULL;
    Py_ssize_t n = PyTuple_GET_SIZE(from);
    PyObject *c = kind == &PyTuple_Type ? PyTuple_New(n) : PyList_New(n);
    for (Py_ssize_t i = 0; c != NULL && i < n; i++) {
        PyObject *e = args_again(r, PyTuple_GET_ITEM(from, i));
        if (e == NULL)
            Py_CLEAR(c);
        else if (kind == &PyTuple_Type)
            PyTuple_SET_ITEM(c, i, e);
        else
            PyList_SET_ITEM(c, i, e);
    }
    Py_DECREF(from);
    return c;
}

static PyObject *structure_again(rebuild *r, PyObject *o) {
    PyObject *parts = take_apart(o), *c = NULL;
    PyObject *tensors =
        parts != NULL ? sequence_again(r, PyTuple_GET_ITEM(parts, 1), &PyList_Type) : NULL;
    if (tensors != NULL)
        c = PyObject_CallFunctionObjArgs(hooks.put_together, o, PyTuple_GET_ITEM(parts, 0), tensors,
                                         NULL);
    Py_XDECREF(tensors);
    Py_XDECREF(parts);
    return c;
}

/* A variable like o that has the placeholder of o's handle; one per handle. */
static PyObject *variable_again(rebuild *r, PyObject *o) {
    const variable_object *v = (variable_object *)o;
    if (r->variables == NULL || v->handle == NULL || !IS_EAGER(v->handle)) return Py_NewRef(o);
    PyObject *number = PyLong_FromVoidPtr(v->handle), *handle, *made;
    if (number == NULL) return NULL;
    made = Py_XNewRef(PyDict_GetItemWithError(r->variables, number));
    if (made == NULL && !PyErr_Occurred() && (handle = next_tensor(r)) != NULL) {
        made = PyObject_CallFunctionObjArgs(hooks.variable_again, o, handle, NULL);
        Py_DECREF(handle);
        if (made != NULL && PyDict_SetItem(r->variables, number, made) < 0) Py_CLEAR(made);
    }
    Py_DECREF(number);
    return made;
}

/* Rebuilds a dict with its keys in their original order; its tensors are in sorted_keys' order. */
static PyObject *dict_again(rebuild *r, PyObject *o) {
    PyObject *keys = sorted_keys(o), *k, *v;
    PyObject *c = keys != NULL ? PyDict_Copy(o) : PyDict_New();
    for (Py_ssize_t at = 0; c != NULL && next_item(o, keys, &at, &k, &v);) {
        PyObject *e = args_again(r, v);
        if (e == NULL || PyDict_SetItem(c, k, e) < 0) Py_CLEAR(c);
        Py_XDECREF(e);
        Py_DECREF(k);
        Py_DECREF(v);
    }
    Py_XDECREF(keys);
    if (PyErr_Occurred()) Py_CLEAR(c);
    return c;
}

PyObject *args_again(rebuild *r, PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    if (type == eager_type || type == symbolic_type || (is_array(o) && !PyUnicode_Check(o)))
        return next_tensor(r);
    if (type == &PyTuple_Type || type == &PyList_Type) return sequence_again(r, o, type);
    if (type == &PyDict_Type) return dict_again(r, o);
    if (type == &PyMethod_Type || type == bound_type) return Py_NewRef(o);
    if (IS_VARIABLE(o)) return variable_again(r, o);
    if (type == &PyRange_Type) return PySequence_List(o); /* a range becomes a list, too */
    if (PyTuple_Check(o)) {
        PyObject *c = sequence_again(r, o, &PyTuple_Type);
        if (c == NULL || !attr_has((PyObject *)type, "_make")) return c;
        PyObject *named = attr_call((PyObject *)type, "_make", c);
        Py_DECREF(c);
        return named;
    }
    int structure = PyUnicode_Check(o) || PyLong_Check(o) ? 0 : opens(type);
    if (structure < 0) return NULL;
    return structure ? structure_again(r, o) : Py_NewRef(o);
}
