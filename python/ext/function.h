/* tf.function, shared by its files: signature.c walks arguments, entries.c keeps what was found,
 * function.c traces and calls, bind.c binds arguments to parameters, function_type.c is the class.
 */
#ifndef EF_PY_FUNCTION_H
#define EF_PY_FUNCTION_H
#include "core.h"
#include <stdatomic.h>

enum { MOST_ENTRIES = 64, FEW_WORDS = 48, FEW_OBJECTS = 12, FEW_TENSORS = 12, FEW_PARAMS = 32 };

/* What tells calls apart beside dtypes and shapes. */
typedef struct key {
    uint64_t hash;
    bool variables; /* some are in it, by identity */
    bool by_spec;   /* variables are arguments: they are told apart by dtype and shape */
    int n_words, n_objects;
    uint64_t *word;
    PyObject **object; /* borrowed while looking */
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
    bool gone;                     /* dropped while in use */
    bool by_spec;                  /* as the key it was made for */
    unsigned calls;
    int most_results; /* that a call has given, if more than a few */
    int users;        /* calls going on */
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
    PyObject *kwonly;   /* dict name -> (default,) or None, if it must be given; or None */
    int unnamed;        /* of the parameters: given by position only */
    bool varargs, varkw;
    PyObject *signature; /* tuple of (dtype, shape) for the flat tensors, or None */
    PyObject *prepare;   /* (function, args, kwargs) -> (args, kwargs): for signatures; or None */
    bool relax;
    bool saw_variables; /* an entry has variables in its key, */
    bool by_spec;       /* and a call had others: variables are arguments from now on */
    entry *entries;
    int n_entries;
    uint64_t n_traces_gone; /* of entries that were dropped */
} function_object;

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
    int word_room, object_room, t_room, held_room;
    int depth; /* of containers */
    bool failed;
    PyObject *unfit; /* the exception of an argument that can be traced with, but not called */
    uint64_t few_word[FEW_WORDS];
    PyObject *few_object[FEW_OBJECTS], *few_held[FEW_TENSORS];
    const ef_tensor *few_t[FEW_TENSORS];
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
void entry_leave(entry *e); /* a call has ended */

/* ---- function.c */
typedef struct calling {
    struct calling *outer;
    entry *e;
    PyObject *const *items;
    Py_ssize_t n_items;
    PyObject *kwargs; /* dict or NULL */
} calling;
extern _Thread_local calling *function_now; /* the call this thread is making */
extern PyObject *trace_again;               /* raised by a trace that made variables */
ef_status *function_trace(void *user, const ef_tensor *in, int n_in, ef_tensor *out, int max_out,
                          int *n_out); /* an ef_trace_fn; user: the entry */
void packing_end(void *user);
/* Traces for arguments that were walked through, unless that was done before: the trace's graph.
 * Takes nothing over. */
PyObject *function_trace_walked(function_object *self, walk *w, PyObject *const *items,
                                Py_ssize_t n_items, PyObject *kwargs);
/* items: bound to the signature; kwargs: a dict or NULL. */
PyObject *function_call_bound(function_object *self, PyObject *const *items, Py_ssize_t n_items,
                              PyObject *kwargs);

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
extern PyTypeObject *bound_type;
PyObject *function_descr_get(PyObject *self, PyObject *obj, PyObject *type);
int bound_function_init(PyObject *module);
#endif
