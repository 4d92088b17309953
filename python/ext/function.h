/* tf.function, shared by its files: function_new.c makes functions, bind.c binds arguments to
 * parameters, signature.c walks them, entries.c keeps what was found, function.c calls, trace.c
 * traces, result.c puts results together, concrete.c calls one trace, function_type.c is the class.
 */
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

/* Sizes of an argument that no trace knows, a bit each. */
typedef struct open_sizes {
    int argument;
    uint32_t dims;
} open_sizes;

/* What tells calls apart beside dtypes and shapes. */
typedef struct key {
    uint64_t hash;
    bool variables; /* some are in it, by identity */
    bool by_spec;   /* variables are arguments: they are told apart by dtype and shape */
    int n_words, n_objects;
    uint64_t *word;
    PyObject **object; /* borrowed while looking */
    int n_open;
    open_sizes *open; /* of parts of structures: not compared, as they follow from the rest */
} key;

typedef struct entry {
    struct entry *next, *before; /* most recently used first */
    uint64_t hash;
    int n_words, n_objects;
    uint64_t *word;    /* this and the next two: behind the entry */
    PyObject **object; /* strong, or a weak reference (see weak) */
    bool *weak;
    ef_function *f;
    struct function_object *owner; /* borrowed */
    bool heavy;                    /* worth letting other threads run Python meanwhile */
    bool gone;                     /* dropped while in use */
    bool by_spec;                  /* as the key it was made for */
    unsigned calls;
    int most_results; /* that a call has given, if more than a few */
    int users;        /* calls going on */
} entry;

/* How results are put together: a tree of what a traced function returned. */
typedef struct part {
    enum { P_TENSOR, P_NONE, P_TUPLE, P_LIST, P_DICT, P_NAMED, P_COMPOSITE } kind;
    int at; /* P_TENSOR: which result */
    int n;
    struct part *part;
    PyObject *what; /* P_DICT: tuple of keys; P_NAMED: class; P_COMPOSITE: one made by the trace */
} part;

/* Kept with a trace. */
typedef struct packing {
    atomic_int refs;
    part whole;
    PyObject *pack;          /* not NULL: Python puts the results together, from a list of them */
    PyObject *result;        /* what the trace returned */
    PyObject *args, *kwargs; /* what it was called with; objects weakly */
    PyObject *graph;         /* its FuncGraph; NULL until somebody asks for it */
    PyObject *name;          /* of the function */
    uint64_t number;         /* traces made later have higher ones */
    struct concrete_object *concrete; /* borrowed; NULL: there is none */
} packing;

/* An argument of the call that was traced last: its kind, and a word that tells values apart. */
typedef struct seen_argument {
    uint8_t tag;
    uint64_t word;
} seen_argument;

typedef struct function_object {
    PyObject_HEAD vectorcallfunc call;
    PyObject *dict, *weak;
    PyObject *python;   /* the user's function */
    PyObject *target;   /* what a trace calls: the same, converted; NULL before the first trace */
    PyObject *seen;     /* list: why the target needed no conversion, see names_unchanged */
    PyObject *params;   /* tuple of positional parameter names, interned */
    PyObject *defaults; /* tuple aligned with the last parameters */
    PyObject *kwonly;   /* dict name -> (default,) or None, if it must be given; or None */
    int unnamed;        /* of the parameters: given by position only */
    bool varargs, varkw;
    PyObject *input_signature; /* as it was given; None: none */
    int first_spec;            /* the parameter that it begins with: 1 for methods */
    PyObject *signature;       /* tuple of (dtype, shape) for the flat tensors, or None */
    ef_dtype *spec_dtype;      /* the same for C */
    ef_shape *spec_shape;
    int n_specs;
    bool flat_signature;  /* a tensor for each of the first parameters */
    PyObject *spec_names; /* tuple of the names its specs have, or None */
    PyObject *jit_compile, *features;
    char autograph;
    ef_relax relax;
    bool told;          /* a trace's errors name the user's files and lines */
    bool first_done;    /* a trace was made: others may not make variables */
    bool saw_variables; /* an entry has variables in its key, */
    bool by_spec;       /* and a call had others: variables are arguments from now on */
    entry *entries, *last_entry;
    int n_entries;
    uint64_t n_traces_gone; /* of entries that were dropped */
    PyObject *history;      /* of its calls, shared by functions of the same code; NULL: none yet */
    struct history *counts; /* what `history` holds */
    PyObject *on_death;     /* called when an object in a key dies; NULL: none is kept weakly */
    PyObject *instances;    /* dict address -> the function of that instance; NULL: none yet */
    PyObject *instance;     /* weak reference: the instance this one belongs to; NULL: none */
    struct tracer *tracer;  /* the thread that traces it now; NULL: none */
    int depth;              /* traces of that thread inside each other */
    struct waiter *waiters; /* threads that wait for it */
    bool was_traced;        /* what follows is of the call traced last: see trace_reason.c */
    int n_seen;
    seen_argument seen_arguments[SEEN_ARGUMENTS];
    unsigned n_notes;
    uint64_t noted; /* when the last text about it was written */
} function_object;

typedef struct concrete_object {
    PyObject_HEAD vectorcallfunc call;
    PyObject *dict, *weak;
    ef_graph *g;
    packing *packing;
    PyObject *names; /* tuple of its inputs' names */
    int n;           /* inputs that a call gives */
    ef_dtype *dtype; /* of each */
} concrete_object;

typedef struct bound_object {
    PyObject_HEAD vectorcallfunc call;
    PyObject *weak, *function, *self;
} bound_object;

/* ---- signature.c: arguments as a key and an array of tensors */
typedef struct walk {
    key k;
    const ef_tensor **t;
    int n_t;
    PyObject **held; /* what only a container was seen to hold, which may change meanwhile */
    int n_held;
    struct made_operand *made; /* from numpy arrays */
    int word_room, object_room, t_room, held_room, open_room;
    int depth; /* of containers */
    bool failed;
    PyObject *unfit; /* the exception of an argument that can be traced with, but not called */
    uint64_t few_word[FEW_WORDS];
    PyObject *few_object[FEW_OBJECTS], *few_held[FEW_TENSORS];
    const ef_tensor *few_t[FEW_TENSORS];
    open_sizes few_open[FEW_OPEN];
} walk;
/* Looks at bound arguments; kwargs: a dict or NULL. false: raised. Ends with walk_end either way.
 */
bool walk_begin(walk *w, PyObject *const *items, Py_ssize_t n_items, PyObject *kwargs,
                bool by_spec);
void walk_end(walk *w);
/* Puts placeholders where the tensors were, in the same order as walk_begin. */
typedef struct rebuild {
    PyObject *list; /* placeholders */
    Py_ssize_t at;
    PyObject *variables; /* a dict, address -> the one in its place; NULL: they stay themselves */
} rebuild;
PyObject *args_again(rebuild *r, PyObject *o);

/* ---- entries.c: one per set of Python arguments, least recently used out first */
entry *entry_look(function_object *self, const key *k); /* NULL: none */
entry *entry_find(function_object *self, const key *k); /* made if need be; NULL: raised */
void entry_drop_last(function_object *self);
void entry_forget(function_object *self, const entry *e); /* if it is still there */
void entry_leave(entry *e);                               /* a call has ended */

/* ---- trace.c */
typedef struct calling {
    struct calling *outer;
    entry *e;
    PyObject *const *items;
    Py_ssize_t n_items;
    PyObject *kwargs; /* dict or NULL */
    ef_graph *g;      /* being traced; NULL: none */
    PyObject *graph;  /* its object, once somebody asked for it */
    bool may_make;    /* this trace may make variables, */
    bool made;        /* and did, */
    bool late;        /* with an initial value that only running gives */
    bool traced;      /* the call made a trace */
    bool again;       /* call once more: variables exist now, or another thread has traced */
} calling;
extern _Thread_local calling *function_now; /* the call this thread is making */
ef_status *function_trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                          int *n_out); /* an ef_trace_fn; user: the entry */
void packing_end(void *user);
void packing_ref(void *user);
int trace_init(PyObject *module);

/* ---- trace_reason.c */
void trace_explain(function_object *f, const calling *c); /* inside a trace callback */
void trace_lines(ef_graph *g);                            /* after a trace */

/* ---- mutation.c: did a trace change what it was given? */
bool containers_in(PyObject *args, PyObject *kwargs);
/* A copy of nested lists, tuples and dicts; what they hold stays the same. */
PyObject *containers_copy(PyObject *o);
/* before: copies of args and kwargs; -1: raised, something was changed. */
int arguments_unchanged(const function_object *f, PyObject *before, PyObject *args,
                        PyObject *kwargs);

/* ---- retracing.c: how many of the last calls made a trace */
int call_was_traced(function_object *f);
void call_found_its_trace(function_object *f); /* f->history must be there */

/* ---- result.c */
/* The tensors of what a function returned, a list; fills p->whole or p->pack. NULL: raised. */
PyObject *result_flatten(PyObject *result, packing *p);
/* Puts results together; takes all n over. */
PyObject *result_pack(packing *p, ef_tensor *out, int n);
void part_end(part *p);

/* ---- function.c */
/* Traces for arguments that were walked through, unless that was done before: the trace. Takes
 * nothing over. */
PyObject *function_trace_walked(function_object *self, walk *w, PyObject *const *items,
                                Py_ssize_t n_items, PyObject *kwargs);
/* items: bound to the signature; kwargs: a dict or NULL. */
PyObject *function_call_bound(function_object *self, PyObject *const *items, Py_ssize_t n_items,
                              PyObject *kwargs);
/* Room for the results of a call. How many there are is known when the trace is; FEW_RESULTS are on
 * the stack, and for more there is as much room as the calls before needed. */
enum { FEW_RESULTS = 8 };

/* ---- function_new.c */
PyObject *function_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
/* One like it for an instance; new reference. */
function_object *function_for_instance(function_object *self, PyObject *instance);
int specs_read(function_object *self); /* from self->signature; -1: raised */

/* ---- concrete.c */
/* The concrete function of a trace, made if need be; g may be taken from it later. */
PyObject *concrete_of(packing *p, ef_graph *g);
int concrete_init(PyObject *module);

/* ---- bind.c */
typedef struct bound {
    PyObject **item, *few[FEW_PARAMS];
    Py_ssize_t n;
    PyObject *kwargs; /* owned; NULL: none */
} bound;
int args_bind(function_object *self, PyObject *const *args, Py_ssize_t n, PyObject *names,
              bound *b); /* -1: raised; bound_end either way */
void bound_end(bound *b);
PyObject *function_call(PyObject *callable, PyObject *const *args, size_t nargsf, PyObject *names);
extern bool functions_eager; /* tf.config.run_functions_eagerly */

/* ---- bound_function.c: a function taken from an instance */
extern PyTypeObject *bound_type, *function_type;
PyObject *function_descr_get(PyObject *self, PyObject *obj, PyObject *type);
int bound_function_init(PyObject *module);
#endif
