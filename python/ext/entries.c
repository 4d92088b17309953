/* The cache of a function: an entry per set of Python arguments. It is bounded by number; objects
 * in keys are held weakly where they can be, and an entry goes with its object: a trace may hold
 * what the object was made of, such as the value of a variable. */
#include "function.h"

static uint64_t changes; /* of any function's list, under the interpreter's lock */

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

static void drop_dead(function_object *self);

static PyObject *object_died(PyObject *function, PyObject *reference) {
    (void)reference;
    PyObject *f = PyWeakref_GetObject(function);
    if (f == NULL || f == Py_None) Py_RETURN_NONE;
    Py_INCREF(f);
    drop_dead((function_object *)f);
    Py_DECREF(f);
    Py_RETURN_NONE;
}
static PyMethodDef died = {"died", object_died, METH_O, NULL};

/* What is called when an object of a key dies; borrowed. NULL: raised. */
static PyObject *on_death(function_object *self) {
    if (self->on_death == NULL) {
        PyObject *reference = PyWeakref_NewRef((PyObject *)self, NULL);
        if (reference != NULL) self->on_death = PyCFunction_New(&died, reference);
        Py_XDECREF(reference);
    }
    return self->on_death;
}

static int keep_objects(function_object *self, entry *e, const key *k) {
    size_t n = (size_t)k->n_objects + 1;
    e->object = PyMem_Calloc(n, sizeof *e->object);
    e->weak = PyMem_Calloc(n, sizeof *e->weak);
    e->word = PyMem_Malloc(((size_t)k->n_words + 1) * sizeof *e->word);
    if (e->object == NULL || e->weak == NULL || e->word == NULL) return -1;
    memcpy(e->word, k->word, (size_t)k->n_words * sizeof *k->word);
    e->n_words = k->n_words;
    for (int i = 0; i < k->n_objects; i++) {
        PyObject *o = k->object[i];
        bool by_value =
            Py_TYPE(o)->tp_hash != PyBaseObject_Type.tp_hash && !PyType_Check(o) && !IS_VARIABLE(o);
        PyObject *call = by_value ? NULL : on_death(self);
        PyObject *ref = call == NULL ? NULL : PyWeakref_NewRef(o, call);
        if (ref == NULL) {
            PyErr_Clear();
            ref = Py_NewRef(o);
        } else
            e->weak[i] = true;
        e->object[e->n_objects++] = ref;
    }
    return 0;
}

static int apply_signature(const function_object *self, const entry *e) {
    if (self->signature == Py_None) return 0;
    return check(ef_function_set_signature(e->f, self->spec_dtype, self->spec_shape, self->n_specs),
                 NULL);
}

/* Takes the entry at `at` out of the list. What goes with it may run Python. */
static void take_out(function_object *self, entry **at) {
    entry *e = *at;
    ef_function_info info;
    ef_function_info_get(e->f, &info);
    self->n_traces_gone += info.traces;
    *at = e->next;
    changes++;
    self->n_entries--;
    entry_drop(e);
}

void entry_drop_last(function_object *self) {
    entry **at = &self->entries;
    if (*at == NULL) return;
    while ((*at)->next != NULL) at = &(*at)->next;
    take_out(self, at);
}

void entry_forget(function_object *self, const entry *e) {
    for (entry **at = &self->entries; *at != NULL; at = &(*at)->next)
        if (*at == e) {
            take_out(self, at);
            return;
        }
}

static bool is_dead(const entry *e) {
    for (int k = 0; k < e->n_objects; k++)
        if (held(e, k) == NULL) return true;
    return false;
}

/* Before another entry comes: those that can never match again make room. */
static void drop_dead(function_object *self) {
    for (entry **at = &self->entries; *at != NULL;) {
        if (is_dead(*at)) {
            take_out(self, at);
            at = &self->entries;
        } else {
            at = &(*at)->next;
        }
    }
}

void entry_leave(entry *e) {
    if (--e->users == 0 && e->gone) entry_free(e);
}

static entry *new_entry(function_object *self, const key *k) {
    entry *e = PyMem_Calloc(1, sizeof *e);
    PyObject *name = attr_get(self->python, "__name__");
    const char *text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    PyErr_Clear();
    if (e == NULL || keep_objects(self, e, k) < 0 ||
        check(ef_function_new(function_trace, e, text != NULL ? text : "function", &e->f), NULL) <
            0 ||
        apply_signature(self, e) < 0) {
        if (e != NULL) entry_free(e);
        Py_XDECREF(name);
        if (!PyErr_Occurred()) PyErr_NoMemory();
        return NULL;
    }
    Py_XDECREF(name);
    ef_function_set_relax(e->f, self->relax);
    e->hash = k->hash;
    e->by_spec = k->by_spec;
    e->owner = self;
    self->saw_variables = self->saw_variables || k->variables;
    drop_dead(self);
    if (self->n_entries >= MOST_ENTRIES) entry_drop_last(self);
    e->next = self->entries;
    self->entries = e;
    changes++;
    self->n_entries++;
    return e;
}

/* Comparing may run a user's Python, which may call the same function, here or in another thread:
 * then the search begins anew. */
entry *entry_look(function_object *self, const key *k) {
    for (entry **at = &self->entries; *at != NULL;) {
        entry *e = *at;
        uint64_t before = changes;
        e->users++;
        int how = e->hash == k->hash ? matches(e, k) : 0;
        entry_leave(e);
        if (changes != before) {
            at = &self->entries;
        } else if (how == 0) {
            at = &e->next;
        } else if (how > 0 && at == &self->entries) {
            return e;
        } else if (how > 0) {
            *at = e->next;
            changes++;
            e->next = self->entries;
            self->entries = e;
            return e;
        } else { /* its object is gone */
            take_out(self, at);
            at = &self->entries;
        }
    }
    return NULL;
}

entry *entry_find(function_object *self, const key *k) {
    entry *e = entry_look(self, k);
    return e != NULL ? e : new_entry(self, k);
}
