/* What tells the calls of a function apart. Tensors, and arrays that become tensors, are collected
 * for the engine, which compares dtypes and shapes itself; everything else becomes words of a key:
 * numbers by value and type, containers by structure, objects by identity or, if they define
 * equality, by that. */
#include "function.h"

static PyObject *str_flatten;

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

/* An array of objects that are no text: it stands for strings while the function is traced, and
 * what is wrong with it is said after that. */
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

static int made_tensor(walk *w, PyObject *o, operand *a) {
    ef_dtype t = is_array(o) ? array_dtype(o) : EF_BOOL;
    if (operand_from(o, EF_NO_DTYPE, MUST, a) == 0) return 0;
    if (t == EF_STRING) return stand_in(w, o, a);
    return t == EF_NO_DTYPE ? say_type_error() : -1;
}

static void tensor(walk *w, PyObject *o, int made) {
    if (w->n_t == MOST_TENSORS) {
        w->failed = w->failed ? w->failed : 2;
        return;
    }
    if (!made) {
        w->t[w->n_t++] = tensor_used((tensor_object *)o);
    } else {
        operand *a = &w->own[w->n_own];
        if (w->n_own >= MOST_TENSORS || made_tensor(w, o, a) < 0) {
            w->failed = 1;
            return;
        }
        w->n_own++;
        w->t[w->n_t++] = a->t;
    }
    word(w, K_TENSOR);
}

void key_look(walk *w, PyObject *o) {
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
    } else if (PyUnicode_Check(o) || type == &PyBytes_Type) {
        word(w, K_TEXT);
        word(w, (uint64_t)PyObject_Hash(o));
        object(w, o);
    } else if (type == &PyTuple_Type || type == &PyList_Type) {
        word(w, type == &PyTuple_Type ? K_TUPLE : K_LIST);
        Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
        word(w, (uint64_t)n);
        for (Py_ssize_t i = 0; i < n && !w->failed; i++)
            key_look(w, PySequence_Fast_GET_ITEM(o, i));
    } else if (type == &PyDict_Type) {
        word(w, K_DICT);
        word(w, (uint64_t)PyDict_GET_SIZE(o));
        Py_ssize_t at = 0;
        PyObject *k, *v;
        while (!w->failed && PyDict_Next(o, &at, &k, &v)) {
            key_look(w, k);
            key_look(w, v);
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
                key_look(w, PyTuple_GET_ITEM(o, i));
        } else {
            PyObject *parts = PyObject_CallMethodNoArgs(o, str_flatten); /* (static, tensors) */
            if (parts == NULL || !PyTuple_Check(parts) || PyTuple_GET_SIZE(parts) != 2) {
                Py_XDECREF(parts);
                if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "a composite's parts");
                w->failed = 1;
                return;
            }
            key_look(w, PyTuple_GET_ITEM(parts, 0));
            key_look(w, PyTuple_GET_ITEM(parts, 1));
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

PyObject *args_again(rebuild *r, PyObject *o) {
    PyTypeObject *type = Py_TYPE(o);
    if (type == eager_type || type == symbolic_type || (is_array(o) && !PyUnicode_Check(o)))
        return Py_NewRef(PyList_GET_ITEM(r->list, r->at++));
    if (type == &PyTuple_Type || type == &PyList_Type) {
        Py_ssize_t n = PySequence_Fast_GET_SIZE(o);
        PyObject *c = type == &PyTuple_Type ? PyTuple_New(n) : PyList_New(n);
        for (Py_ssize_t i = 0; c != NULL && i < n; i++) {
            PyObject *e = args_again(r, PySequence_Fast_GET_ITEM(o, i));
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
            PyObject *e = args_again(r, v);
            if (e == NULL || PyDict_SetItem(c, k, e) < 0) Py_CLEAR(c);
            Py_XDECREF(e);
        }
        return c;
    }
    if (type == &PyMethod_Type || type == bound_type) return Py_NewRef(o);
    if (type == &PyRange_Type) return PySequence_List(o); /* as all sequences are built again */
    if (PyTuple_Check(o)) {
        Py_ssize_t n = PyTuple_GET_SIZE(o);
        PyObject *list = PyList_New(n), *c = NULL;
        for (Py_ssize_t i = 0; list != NULL && i < n; i++) {
            PyObject *e = args_again(r, PyTuple_GET_ITEM(o, i));
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
        PyObject *tensors = parts != NULL ? args_again(r, PyTuple_GET_ITEM(parts, 1)) : NULL;
        if (tensors != NULL) c = PyObject_CallMethod(o, "_ef_rebuild", "(O)", tensors);
        Py_XDECREF(tensors);
        Py_XDECREF(parts);
        return c;
    }
    return Py_NewRef(o);
}

int signature_init(void) {
    str_flatten = PyUnicode_InternFromString("_ef_flatten");
    return str_flatten != NULL ? 0 : -1;
}
