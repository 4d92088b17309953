/* The cache of a tf.function: one entry per set of Python arguments, at most MOST_ENTRIES. Keys
 * hold weak references to objects where possible, and an entry is dropped when its object dies,
 * since its traces may keep alive what belonged to the object, such as the value of a variable. */
#include "function.h"
#include "profile.h"

static uint64_t changes; /* counts changes of any function's list; the GIL protects it */

static void entry_free(entry *e) {
    ef_function_free(e->f);
    for (int k = 0; k < e->n_objects; k++) Py_XDECREF(e->object[k]);
    PyMem_Free(e);
}

static void entry_drop(entry *e) {
    if (e->users > 0)
        e->gone = true;
    else
        entry_free(e);
}

static PyObject *held(const entry *e, int k) { /* the k-th object, borrowed; NULL: it died */
    if (!e->weak[k]) return e->object[k];
    PyObject *o = PyWeakref_GET_OBJECT(e->object[k]);
    return o == Py_None ? NULL : o;
}

/* Word by word, as the key was just written: wider loads would wait until it is in the cache. */
static bool same_words(const entry *e, const key *k) {
    if (e->n_words != k->n_words) return false;
    for (int i = 0; i < k->n_words; i++)
        if (e->word[i] != k->word[i]) return false;
    return true;
}

/* 1: the entry has this key; 0: it has another; -1: an object of its key died */
static int matches(const entry *e, const key *k) {
    if (e->hash != k->hash || e->n_objects != k->n_objects || !same_words(e, k)) return 0;
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

/* The callback of the weak references to objects in keys; borrowed. NULL: raised. */
static PyObject *on_death(function_object *self) {
    if (self->on_death == NULL) {
        PyObject *reference = PyWeakref_NewRef((PyObject *)self, NULL);
        if (reference != NULL) self->on_death = PyCFunction_New(&died, reference);
        Py_XDECREF(reference);
    }
    return self->on_death;
}

/* An entry with room for the words and objects of its key. NULL: no memory. */
static entry *entry_alloc(const key *k) {
    size_t words = (size_t)k->n_words * sizeof *k->word;
    size_t objects = (size_t)k->n_objects * sizeof *k->object;
    entry *e = PyMem_Malloc(sizeof *e + words + objects + (size_t)k->n_objects * sizeof *e->weak);
    if (e == NULL) return NULL;
    memset(e, 0, sizeof *e);
    e->word = (uint64_t *)(e + 1);
    e->object = (PyObject **)(e->word + k->n_words);
    e->weak = (bool *)(e->object + k->n_objects);
    memcpy(e->word, k->word, words);
    e->n_words = k->n_words;
    return e;
}

static void keep_objects(function_object *self, entry *e, const key *k) {
    for (int i = 0; i < k->n_objects; i++) {
        PyObject *o = k->object[i];
        bool by_value =
            Py_TYPE(o)->tp_hash != PyBaseObject_Type.tp_hash && !PyType_Check(o) && !IS_VARIABLE(o);
        PyObject *call = by_value ? NULL : on_death(self);
        PyObject *ref = call == NULL ? NULL : PyWeakref_NewRef(o, call);
        if (ref == NULL) {
            PyErr_Clear();
            e->weak[i] = false;
            ref = Py_NewRef(o);
        } else {
            e->weak[i] = true;
        }
        e->object[e->n_objects++] = ref;
    }
}

static int apply_signature(const function_object *self, const entry *e) {
    if (self->signature == Py_None) return 0;
    return check(ef_function_set_signature(e->f, self->spec_dtype, self->spec_shape, self->n_specs),
                 NULL);
}

/* ---- the list -------------------------------------------------------------------------------- */

static void unlink_entry(function_object *self, entry *e) {
    *(e->before != NULL ? &e->before->next : &self->entries) = e->next;
    *(e->next != NULL ? &e->next->before : &self->last_entry) = e->before;
    self->n_entries--;
    changes++;
}

static void link_first(function_object *self, entry *e) {
    e->before = NULL;
    e->next = self->entries;
    *(e->next != NULL ? &e->next->before : &self->last_entry) = e;
    self->entries = e;
    self->n_entries++;
    changes++;
}

/* Takes an entry out of the list and drops it. Freeing what it held may run Python code. */
static void take_out(function_object *self, entry *e) {
    ef_function_info info;
    ef_function_info_get(e->f, &info);
    self->n_traces_gone += info.traces;
    unlink_entry(self, e);
    entry_drop(e);
}

void entry_drop_last(function_object *self) {
    if (self->last_entry != NULL) take_out(self, self->last_entry);
}

void entry_forget(function_object *self, const entry *e) {
    for (entry *at = self->entries; at != NULL; at = at->next)
        if (at == e) {
            take_out(self, at);
            return;
        }
}

static bool is_dead(const entry *e) {
    for (int k = 0; k < e->n_objects; k++)
        if (held(e, k) == NULL) return true;
    return false;
}

/* Drops the entries that can never match again, since an object of their key died. */
static void drop_dead(function_object *self) {
    if (self->on_death == NULL) return; /* no object is held weakly */
    for (entry *e = self->entries; e != NULL;) {
        if (is_dead(e)) {
            take_out(self, e);
            e = self->entries;
        } else {
            e = e->next;
        }
    }
}

void entry_leave(entry *e) {
    if (--e->users == 0 && e->gone) entry_free(e);
}

static int apply_open_sizes(const entry *e, const key *k) {
    for (int i = 0; i < k->n_open; i++)
        if (check(ef_function_open_sizes(e->f, k->open[i].argument, k->open[i].dims), NULL) < 0)
            return -1;
    return 0;
}

static entry *new_entry(function_object *self, const key *k) {
    entry *e = entry_alloc(k);
    if (e == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    keep_objects(self, e, k);
    PyObject *attr = name_attr();
    PyObject *name = attr != NULL ? PyObject_GetAttr(self->python, attr) : NULL;
    const char *text = name != NULL && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;
    PyErr_Clear();
    int bad =
        check(ef_function_new(function_trace, e, text != NULL ? text : "function", &e->f), NULL);
    Py_XDECREF(name);
    if (bad < 0 || apply_signature(self, e) < 0 || apply_open_sizes(e, k) < 0) {
        entry_free(e);
        return NULL;
    }
    ef_function_set_relax(e->f, self->relax);
    e->hash = k->hash;
    e->by_spec = k->by_spec;
    e->owner = self;
    self->saw_variables = self->saw_variables || k->variables;
    drop_dead(self);
    if (self->n_entries >= MOST_ENTRIES) {
        entry_drop_last(self);
        profile_post(EF_EVENT_EVICTION, EF_REASON_FORGOTTEN, 0, profile_definition(self->python),
                     self->n_entries);
    }
    link_first(self, e);
    return e;
}

/* Comparing keys may run the user's __eq__, which may call the same function, in this thread or in
 * another: if that changed the list, the search starts again. */
entry *entry_look(function_object *self, const key *k) {
    for (entry *e = self->entries; e != NULL;) {
        if (e->hash != k->hash) {
            e = e->next;
            continue;
        }
        uint64_t before = changes;
        e->users++;
        int how = matches(e, k);
        bool stays = changes == before;
        if (stays && how > 0 && e != self->entries) {
            unlink_entry(self, e);
            link_first(self, e);
        } else if (stays && how < 0) { /* an object of its key died */
            take_out(self, e);
        }
        entry *next = e->next;
        entry_leave(e);
        if (stays && how > 0) return e;
        e = stays && how == 0 ? next : self->entries;
    }
    return NULL;
}

entry *entry_find(function_object *self, const key *k) {
    entry *e = entry_look(self, k);
    return e != NULL ? e : new_entry(self, k);
}
