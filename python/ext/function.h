/* tf.function, shared by its files: function_new.c creates functions, bind.c binds arguments to
 * parameters, signature.c makes a key of the arguments, entries.c is the cache with these keys,
 * function.c calls, trace.c traces, result.c packs results into the returned structure, concrete.c
 * calls one trace, function_type.c defines the class. */
#ifndef EF_PY_FUNCTION_H
#define EF_PY_FUNCTION_H
#include "core.h"
#include <stdatomic.h>

enum {
    MOST_ENTRIES = 64,
    FEW_WORDS = 48,
    FEW_OBJECTS = 12,
    FEW_TENSORS = 12,
    FEW_OPEN = 4,
    FEW_PARAMS = 32,
    SEEN_ARGUMENTS = 12
};

/* Dimensions of an argument that are unknown in every trace, one bit per axis. */
typedef struct open_sizes {
    int argument;
    uint32_t dims;
} open_sizes;

/* What distinguishes calls besides the dtypes and shapes of their tensors: the Python arguments. */
typedef struct key {
    uint64_t hash;
    bool variables; /* some objects in the key are variables, compared by identity */
    bool by_spec;   /* variables are traced as arguments and compared by dtype and shape */
    int n_words, n_objects;
    uint64_t *word;
    PyObject **object; /* references, until walk_end */
    int n_open;
    open_sizes *open; /* of components of structures; not compared, as they follow from the rest */
} key;

typedef struct entry {
    struct entry *next, *before; /* most recently used first */
    uint64_t hash;
    int n_words, n_objects;
    uint64_t *word;    /* word, object and weak are in the same allocation, after the entry */
    PyObject **object; /* a strong reference to the object, or a weakref object (see weak) */
    bool *weak;
    ef_function *f;
    struct function_object *owner; /* borrowed */
    bool heavy;                    /* calls take long enough to release the GIL meanwhile */
    bool gone;                     /* dropped while in use: the last user frees it */
    bool by_spec;                  /* copied from the key that it was made for */
    unsigned calls;
    int most_results; /* the most that a call has returned, if above FEW_RESULTS */
    bool one_tensor;  /* the last call returned a tensor, not a structure */
    int users;        /* calls in progress */
} entry;

/* The structure that a traced function returned, as a tree: results are packed by it. */
typedef struct part {
    enum { P_TENSOR, P_NONE, P_TUPLE, P_LIST, P_DICT, P_NAMED, P_COMPOSITE } kind;
    int at; /* P_TENSOR: which result */
    int n;
    struct part *part;
    PyObject *what; /* P_DICT: tuple of keys; P_NAMED: class; P_COMPOSITE: the traced composite */
} part;

/* What Python keeps with each trace; the engine holds it as the trace's user data. It is an object
 * so that the garbage collector sees cycles through it. The engine counts its references without
 * the GIL, in `refs`; while there are any, they hold one reference of Python's. */
typedef struct packing {
    PyObject_HEAD atomic_int refs;
    part whole;
    PyObject *pack;          /* not NULL: a Python callable that packs a list of the results */
    PyObject *result;        /* the structure that the traced call returned */
    PyObject *args, *kwargs; /* the arguments of the traced call; objects by weak reference */
    PyObject *graph;         /* its FuncGraph object; NULL until one is requested */
    PyObject *name;          /* the function's name */
    uint64_t number;         /* grows with each trace */
    struct concrete_object *concrete; /* borrowed; NULL: none exists */
} packing;

/* An argument of the call that was traced last: its kind, and a word that differs with its value.
 */
typedef struct seen_argument {
    uint8_t tag;
    uint64_t word;
} seen_argument;

typedef struct function_object {
    PyObject_HEAD vectorcallfunc call;
    PyObject *dict, *weak;
    PyObject *python; /* the user's function */
    PyObject *target; /* what a trace calls: python after AutoGraph; NULL before the first trace */
    PyObject *seen;   /* list: why the target needed no conversion, see names_unchanged */
    PyObject *params; /* tuple of positional parameter names, interned */
    PyObject *defaults; /* tuple aligned with the last parameters */
    PyObject *kwonly;   /* dict name -> (default,) or None, if it must be given; or None */
    int unnamed;        /* how many parameters are positional-only */
    bool varargs, varkw;
    PyObject *input_signature; /* as the user gave it; None: none */
    int first_spec;            /* the first parameter that it describes: 1 for methods */
    PyObject *signature;       /* tuple of (dtype, shape) for the flattened tensors, or None */
    ef_dtype *spec_dtype;      /* the same as C arrays */
    ef_shape *spec_shape;
    int n_specs;
    bool flat_signature;  /* each described parameter is one tensor, not a structure */
    PyObject *spec_names; /* tuple of the names of its TensorSpecs, or None */
    PyObject *jit_compile, *features;
    char autograph;
    ef_relax relax;
    bool told;          /* errors of a trace name the user's files and lines */
    bool first_done;    /* a trace was made: later ones may not create variables */
    bool saw_variables; /* an entry has variables in its key */
    bool by_spec;       /* calls had different variables: they are traced as arguments now */
    entry *entries, *last_entry;
    int n_entries;
    uint64_t n_traces_gone; /* how many traces the dropped entries had made */
    PyObject *history;      /* capsule with counts of calls, shared by functions of the same code */
    struct history *counts; /* the contents of `history`; both are NULL before the first trace */
    PyObject *on_death;     /* weakref callback for objects in keys; NULL: not needed yet */
    PyObject *instances;    /* dict address -> the function of that instance; NULL: none yet */
    PyObject *instance;     /* weak reference: the instance this one belongs to; NULL: none */
    struct tracer *tracer;  /* the thread that is tracing it; NULL: none */
    int depth;              /* how many traces of it that thread has nested */
    struct waiter *waiters; /* threads that wait until that trace ends */
    bool was_traced;        /* the next fields describe the call traced last: trace_reason.c */
    int n_seen;
    seen_argument seen_arguments[SEEN_ARGUMENTS];
    unsigned n_notes;
    uint64_t noted; /* when the last log text about it was written */
} function_object;

typedef struct concrete_object {
    PyObject_HEAD vectorcallfunc call;
    PyObject *dict, *weak;
    ef_graph *g;
    packing *packing;
    PyObject *names; /* tuple of its inputs' names */
    int n;           /* the number of inputs without captures */
    ef_dtype *dtype; /* of each input */
    unsigned calls;
    bool heavy; /* a call takes long enough to release the GIL */
} concrete_object;

typedef struct bound_object {
    PyObject_HEAD vectorcallfunc call;
    PyObject *weak, *function, *self;
} bound_object;

/* ---- signature.c: separates arguments into a key and an array of tensors */
typedef struct walk {
    key k;
    const ef_tensor **t;
    int n_t;
    PyObject **held; /* references to items of containers, which may change during the call */
    int n_held;
    struct made_operand *made; /* tensors that were made from numpy arrays */
    int word_room, object_room, t_room, held_room, open_room;
    int depth; /* of nested containers */
    bool failed;
    PyObject *unfit; /* the exception of an argument that can be traced but not called with */
    uint64_t few_word[FEW_WORDS];
    PyObject *few_object[FEW_OBJECTS], *few_held[FEW_TENSORS];
    const ef_tensor *few_t[FEW_TENSORS];
    open_sizes few_open[FEW_OPEN];
} walk;
/* Walks over bound arguments; kwargs: a dict or NULL. false: raised. The caller calls walk_end in
 * either case. */
bool walk_begin(walk *w, PyObject *const *items, Py_ssize_t n_items, PyObject *kwargs,
                bool by_spec);
void walk_end(walk *w);
/* args_again rebuilds the arguments with placeholders in place of tensors, in walk_begin's order.
 */
typedef struct rebuild {
    PyObject *list; /* placeholders */
    Py_ssize_t at;
    PyObject *variables; /* dict: address -> its replacement; NULL: variables stay as they are */
} rebuild;
PyObject *args_again(rebuild *r, PyObject *o);

/* ---- entries.c: one entry per set of Python arguments, evicted least recently used first */
entry *entry_look(function_object *self, const key *k); /* NULL: there is none */
entry *entry_find(function_object *self, const key *k); /* created if missing; NULL: raised */
void entry_drop_last(function_object *self);
void entry_forget(function_object *self, const entry *e); /* drops e if it is in the list */
void entry_leave(entry *e);                               /* ends one use; may free it */

/* ---- trace.c */
typedef struct calling {
    struct calling *outer;
    entry *e;
    PyObject *const *items;
    Py_ssize_t n_items;
    PyObject *kwargs; /* dict or NULL */
    ef_graph *g;      /* the graph being traced; NULL: none */
    PyObject *graph;  /* its Graph object, if one was requested */
    bool may_make;    /* this trace may create variables */
    bool made;        /* it created some */
    bool late;        /* an initial value depends on the arguments: only a run computes it */
    bool traced;      /* the call made a trace */
    bool again;       /* call once more: variables exist now, or another thread has traced */
} calling;
extern _Thread_local calling *function_now; /* this thread's innermost call */
ef_status *function_trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                          int *n_out); /* an ef_trace_fn; user: the entry */
void packing_end(void *user);          /* an ef_function calls these two */
void packing_ref(void *user);
int trace_init(PyObject *module);

/* ---- trace_reason.c */
void trace_explain(function_object *f, const calling *c); /* inside a trace callback */
void trace_lines(ef_graph *g);                            /* after a trace */

/* ---- mutation.c: whether a traced function modified its arguments */
bool containers_in(PyObject *args, PyObject *kwargs);
/* Copies nested lists, tuples and dicts, but not the other objects in them. */
PyObject *containers_copy(PyObject *o);
/* before: copies of args and kwargs; -1: something was modified, and an exception is set. */
int arguments_unchanged(const function_object *f, PyObject *before, PyObject *args,
                        PyObject *kwargs);

/* ---- retracing.c: counts how many of the last calls made a trace */
int call_was_traced(function_object *f);
void call_found_its_trace(function_object *f); /* f->history must not be NULL */

/* ---- garbage.c */
void traces_collect(void); /* after a call that made a trace: frees what cannot be reached */

/* ---- result.c */
/* The tensors of a returned structure, as a list; fills p->whole or p->pack. NULL: raised. */
PyObject *result_flatten(PyObject *result, packing *p);
/* Packs results into the structure that the function returned; takes all n over. */
PyObject *result_pack(packing *p, ef_tensor *out, int n);
void part_end(part *p);
int part_traverse(const part *p, visitproc visit, void *arg);

/* ---- function.c */
/* The concrete function for arguments that walk_begin has walked over; traces if there is none. */
PyObject *function_trace_walked(function_object *self, walk *w, PyObject *const *items,
                                Py_ssize_t n_items, PyObject *kwargs);
/* items: bound to the signature; kwargs: a dict or NULL. */
PyObject *function_call_bound(function_object *self, PyObject *const *items, Py_ssize_t n_items,
                              PyObject *kwargs);
/* Results of a call that fit on the stack. Their number is known only once the trace is; for more,
 * as much memory is allocated as earlier calls of the entry needed. */
enum { FEW_RESULTS = 8 };

/* ---- function_new.c */
PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
/* The copy of a method for one instance, created at the first access; new reference. */
function_object *function_for_instance(function_object *self, PyObject *instance);
int specs_read(function_object *self); /* from self->signature; -1: raised */

/* ---- concrete.c */
/* The concrete function of a trace, created if there is none; it holds a reference to g. */
PyObject *concrete_of(packing *p, ef_graph *g);
int concrete_init(PyObject *module);

/* ---- bind.c */
typedef struct bound {
    PyObject **item, *few[FEW_PARAMS];
    Py_ssize_t n;
    PyObject *kwargs; /* owned; NULL: none */
} bound;
int args_bind(function_object *self, PyObject *const *args, Py_ssize_t n, PyObject *names,
              bound *b); /* -1: raised; the caller calls bound_end in either case */
void bound_end(bound *b);
PyObject *function_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *names);
extern bool functions_eager; /* tf.config.run_functions_eagerly */

/* ---- bound_function.c: a function accessed through an instance */
extern PyTypeObject *bound_type, *function_type;
PyObject *function_descr_get(PyObject *self, PyObject *obj, PyObject *type);
int bound_function_init(PyObject *module);
#endif
