/* evenflow._core: the Python face's C part. Everything that happens per op or per call is here;
 * argument shaping and names are Python. Only the public headers of the engine are used. */
#ifndef EF_PY_CORE_H
#define EF_PY_CORE_H
#define PY_SSIZE_T_CLEAN
#include "evenflow_binding.h"
#include <Python.h>
#include <stdatomic.h>

/* ---- objects --------------------------------------------------------------------------------- */
typedef struct tensor_object { /* eager and symbolic alike */
    PyObject_HEAD PyObject *dict, *weak;
    ef_tensor t;
} tensor_object;

typedef struct variable_object { /* the base of tf.Variable */
    PyObject_HEAD PyObject *dict, *weak;
    tensor_object *handle; /* NULL until made */
    ef_dtype dtype;
    PyObject *shape; /* TensorShape */
    uint32_t place;  /* where it was made, for events; 0: not eagerly */
} variable_object;

typedef struct graph_object { /* the base of tf.Graph */
    PyObject_HEAD PyObject *dict, *weak;
    ef_graph *g;
    PyObject *key;         /* g as a number: under it the object is found, until it is freed */
    PyObject *ops;         /* node number -> Operation, for those that were asked for */
    int sessions, running; /* sessions over it, and their runs under way */
    int growths;           /* runs that found it larger than the run before */
    int trims;             /* new nodes are freed once no Python object reaches them */
    int final;             /* takes no more nodes */
    uint64_t version;      /* at the last run */
} graph_object;

extern PyTypeObject *core_type, *tensor_type, *eager_type, *symbolic_type, *variable_type,
    *graph_type, *op_type;

#define IS_EAGER(o) (Py_TYPE(o) == eager_type)
#define IS_SYMBOLIC(o) (Py_TYPE(o) == symbolic_type)
#define IS_TENSOR(o) (IS_EAGER(o) || IS_SYMBOLIC(o) || PyObject_TypeCheck(o, tensor_type))
#define IS_VARIABLE(o) PyObject_TypeCheck(o, variable_type)

/* ---- what Python registers (module.c) ----------------------------------------------------------
 * Callables and classes of the package, by name; all set before the first use. */
typedef struct core_hooks {
    PyObject *graph_error; /* (message, op) -> exception, while a graph is built */
    PyObject *error;       /* (code, message, op) -> exception */
    PyObject *shape;       /* TensorShape._from_dims(dims, of) */
    PyObject *as_dtype;    /* (what means a dtype) -> DType */
    PyObject *convert; /* (value, dtype or None, as_hint; None: PLAIN) -> Tensor: what C cannot */
    PyObject *repr, *str;                 /* of tensors */
    PyObject *getitem;                    /* (tensor, index): indices with tensors in them, masks */
    PyObject *operation;                  /* (graph, node) -> Operation */
    PyObject *operation_class;            /* what those are */
    PyObject *graph_class;                /* makes the Graph object for a C graph that has none */
    PyObject *matmul, *equal, *not_equal; /* operators with argument work */
    PyObject *not_allowed;                /* OperatorNotAllowedInGraphError */
    PyObject *iterate;                    /* (symbolic tensor) -> iterator, or raises */
    PyObject *opens;                      /* (class) -> bool: a structure, for tf.function */
    PyObject *take_apart;                 /* (structure) -> (fixed, tuple of parts[, open sizes]) */
    PyObject *op_failed;                  /* (graph, exception): notes which op it was */
    PyObject *put_together;               /* (structure, what is fixed, list of other parts) */
    PyObject *variable_again;             /* (variable, handle) -> one like it, of that handle */
    PyObject *parameters;                 /* (callable) -> as function_new.c wants them */
    PyObject *read_signature;             /* (input_signature, parameters) -> as it is kept */
    PyObject *fit_signature;              /* (function, args) -> args as its signature says */
    PyObject *converted;                  /* (function) -> what a trace calls */
    PyObject *translated;                 /* (exception) -> one that tells the user's lines */
    PyObject *weakly;                     /* (argument) -> as a trace remembers it */
    PyObject *flat_result;                /* (result) -> (tensors, callable that packs them) */
    PyObject *retraces;                   /* (traces, calls, function): warns of too many */
    PyObject *concrete_arguments;         /* (concrete function, args, kwargs) -> tensors */
    PyObject *dispatch;         /* (op, args, kwargs) -> result or NotImplemented: dispatch.py */
    PyObject *dtype[EF_DTYPES]; /* DType objects by number */
} core_hooks;
extern core_hooks hooks;

/* ---- names.c --------------------------------------------------------------------------------- */
PyObject *name_attr(void);           /* "__name__", interned and borrowed; NULL: raised */
PyObject *dict_name(PyObject *dict); /* its "__name__", borrowed; NULL: none, or dict is NULL */
/* PyObject_GetAttrString and its kin, with interned names. */
PyObject *attr_get(PyObject *o, const char *name);
bool attr_has(PyObject *o, const char *name); /* clears the error of a look-up that fails */
PyObject *attr_call(PyObject *o, const char *name, PyObject *arg); /* arg may be NULL: none */

/* ---- status.c -------------------------------------------------------------------------------- */
/* A ValueError or OverflowError that was raised becomes a TypeError; -1. */
int say_type_error(void);
/* Raises what s says (freeing it) and returns NULL. op may be NULL. graph: while recording, an
 * invalid argument is a ValueError. */
PyObject *raise_status(ef_status *s, const char *op);
/* The first of a failing chain: 0 and nothing raised if s is NULL, else -1. */
int check(ef_status *s, const char *op);
/* Clears an exception after which there is another way. -1: it stays, as KeyboardInterrupt must. */
int clear_error(void);
/* An invalid argument found here: raised as raise_status would; takes the message over. -1. */
int invalid(const char *op, PyObject *message);
/* What a callback into Python returns when that raised: the exception stays set for raise_status.
 */
ef_status *raised_in_python(void);

/* ---- dtype.c --------------------------------------------------------------------------------- */
ef_dtype dtype_of(PyObject *o);     /* DType, str, numpy dtype or type; EF_NO_DTYPE and TypeError */
PyObject *dtype_object(ef_dtype t); /* new reference */
/* TensorShape; of: the tensor whose sizes the trace being made must hear are read, or NULL. */
PyObject *shape_object(const ef_shape *s, PyObject *of);
int shape_from(PyObject *o, ef_shape *out); /* TensorShape, None, int or sequence; -1 raised */
PyObject *dims_tuple(const ef_shape *s);    /* of int and None; None if the rank is unknown */

/* ---- tensor.c -------------------------------------------------------------------------------- */
tensor_object *tensor_make(void); /* an eager tensor object with a zeroed tensor */
/* Wraps t (taken over), eager or symbolic by its flags. */
PyObject *tensor_wrap(ef_tensor *t);
PyObject *
tensor_finish(tensor_object *o); /* an object whose tensor was just set; fixes its class */
/* The tensor of an object, about to be used: a graph that is being built can tell it from others.
 */
const ef_tensor *tensor_used(tensor_object *o);
/* Lists of tensors: of t (taken over, all of it, even on failure), or of copies; None for what is
 * no tensor (dtype 0). */
PyObject *tensor_list(ef_tensor *t, int n);
PyObject *tensor_list_copy(const ef_tensor *t, int n);
/* The tensors of a sequence, borrowed from its items. none: items may be None, whose pointer is
 * NULL. Ends with PyMem_Free; NULL: raised. */
const ef_tensor **tensor_pointers(PyObject *sequence, bool none, int *n);
int tensor_init(PyObject *module);

/* ---- convert.c ---------------------------------------------------------------------------------
 * An argument as the engine wants it: borrowed from a tensor object, or made in `own`. */
typedef struct operand {
    const ef_tensor *t;
    PyObject *keep; /* object that owns t, or NULL */
    ef_tensor own;
} operand;
/* dtype is required, or only preferred for Python values; PLAIN: required, and no tensors in lists
 */
enum { MUST, HINT, PLAIN };
int operand_from(PyObject *o, ef_dtype dtype, int hint, operand *out); /* -1: raised */
void operand_end(operand *o);
/* A tensor object from any value. */
PyObject *convert(PyObject *o, ef_dtype dtype, int hint);
/* dtype a value has by itself: tensors, variables, numpy; EF_NO_DTYPE for Python values. */
ef_dtype own_dtype(PyObject *o);

/* ---- array.c: the only file that knows numpy ------------------------------------------------- */
int array_init(void);
int is_array(PyObject *o); /* ndarray or numpy scalar */
ef_dtype array_dtype(PyObject *o);
bool array_is_long_double(PyObject *o);     /* a float, but of no dtype of ours */
int array_dims(PyObject *o, int64_t *dims); /* rank; -1: above EF_MAX_RANK */
int array_to_tensor(PyObject *o, ef_dtype dtype, ef_tensor *out);
/* float32 elements as a narrow float type, rounded as numpy casts them. */
int floats_to_tensor(const ef_tensor *floats, ef_dtype want, ef_tensor *out);
typedef enum array_use {
    ARRAY_OWN,      /* the caller's own */
    ARRAY_LAST_USE, /* the same; `o` is not used again, so the array may take its memory */
    ARRAY_READ_ONLY /* over the tensor's memory */
} array_use;
PyObject *tensor_to_array(tensor_object *o, array_use use); /* a numpy scalar for rank 0 */
int numpy_init(void);                                       /* the method; after the types */
PyObject *tensor_item(const ef_tensor *t, int64_t i);       /* Python number, bytes or bool */

/* ---- op.c, op_inputs.c, op_type.c, attr.c ------------------------------------------------------
 * A call of an op with its attributes ready. Results as tf.raw_ops gives them. */
PyObject *op_run1(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in);
int op_init(PyObject *module);
/* While recording: TypeError unless the type variable of that input allows the tensor's dtype. */
int check_type(const char *input, const ef_attr_desc *type, const ef_tensor *t);
typedef struct attr_arena attr_arena;
/* Fills v for the attribute described by d from a Python value; memory lives in the arena. */
int attr_from(const char *op, const ef_attr_desc *d, PyObject *o, attr_arena *a, ef_attr_value *v);
struct attr_arena {
    void *block[32];
    int n;
    PyObject *keep[32];
    int n_keep;
    bool late; /* what was raised is about a value that is of its type but not allowed */
};
void attr_arena_end(attr_arena *a);
PyObject *attr_object(const ef_attr_value *v); /* the other way */

/* ---- number.c, index.c ----------------------------------------------------------------------- */
extern PyType_Slot number_slots[]; /* ends with {0, NULL} */
PyObject *tensor_compare(PyObject *a, PyObject *b, int how);
PyObject *tensor_subscript(PyObject *o, PyObject *key);
PyObject *tensor_item_at(PyObject *o, Py_ssize_t i);
int number_init(void);
int index_init(void);

/* ---- the rest -------------------------------------------------------------------------------- */
int variable_init(PyObject *module);
int graph_init(PyObject *module);
int known_init(PyObject *module);
int tape_init(PyObject *module);
int callback_init(PyObject *module);
int function_init(PyObject *module);
int session_init(PyObject *module);
int record_init(PyObject *module); /* record.c */
int profile_init(PyObject *module);
int settings_init(PyObject *module);
int describe_init(PyObject *module); /* describe.c */
int devices_init(PyObject *module);
/* Before an op is called: names the node it will be if a graph is being built. name: NULL or None
 * for one made of its kind, a literal. -1: raised. */
int name_node(PyObject *name, const char *kind);
/* Before nodes are added in another way: a graph that keeps growing forgets what it can. */
void graph_grows(void);
/* A tensor was added to a graph: outside of all graphs this is when it may forget others. */
void graph_gained(const ef_tensor *t);
/* A run of g begins: a graph that keeps growing between runs starts forgetting what it can. */
void graph_run_begins(graph_object *o);
PyObject *set_package(PyObject *self,
                      PyObject *folder);                /* place.c: whose frames are not a user's */
PyObject *set_launcher(PyObject *self, PyObject *file); /* the script that runs the command */
PyObject *places_of(ef_graph *g, int place); /* [(file, line, function)], the outermost first */
PyObject *graph_wrap(ef_graph *g); /* the graph_object of g, made if need be; new reference */
/* A graph got an object: the trace that is being made of it keeps it. */
void function_graph_wrapped(ef_graph *g, PyObject *o);
/* What a graph is called: the name of the function it is a trace of, borrowed; NULL: of none. */
PyObject *function_graph_name(ef_graph *g);
/* Reads a variable: a ReadVariableOp, eager or recorded. */
int variable_read(variable_object *v, ef_tensor *out);
int recording(void); /* inside a graph */

/* ---- settings.c: running without the interpreter's lock ---------------------------------------
 * away() lets other threads run Python, back() ends that. A fork while somebody is away leaves the
 * child with locks nobody will open: there the engine refuses to work. Otherwise the child goes on
 * with one thread. */
PyThreadState *away(void);
void blocking_init(void); /* the engine calls them around deferred work */
void back(PyThreadState *state);
enum { LONG_CALL = 20000 }; /* nanoseconds: a call that took longer is worth going away for */
int64_t nanoseconds(void);  /* by a clock that only goes forward */
extern bool refused;        /* in such a child: calls fail with this message */
extern const char refusal[];

/* ---- interrupt.c: signals and other threads while the engine runs -------------------------------
 * Around a call that may take long; it begins and ends with the interpreter's lock held. `leave`:
 * the call is known to take long, and goes away at once. No Python object is touched in between
 * but by callbacks, which take the lock. */
typedef struct engine_call {
    struct engine_call *outer;
    PyThreadState *away; /* NULL: the lock is held */
    PyObject *error;     /* what a signal's handler raised */
    bool notes;
} engine_call;
extern _Thread_local engine_call *engine_now; /* the innermost call of this thread */
extern atomic_uint engine_begun, engine_ended;
extern atomic_bool engine_pulse_stopped;
void engine_leave(engine_call *v); /* lets the lock go */
ef_status *engine_return(engine_call *v, ef_status *s);

static inline void engine_count(atomic_uint *n) { /* under the interpreter's lock */
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}
static inline void engine_begin(engine_call *v, bool leave) {
    engine_count(&engine_begun);
    if (atomic_load_explicit(&engine_pulse_stopped, memory_order_relaxed)) ef_pulse_wake();
    v->outer = engine_now;
    v->away = NULL;
    v->error = NULL;
    v->notes = false;
    engine_now = v;
    if (leave) engine_leave(v);
}
/* profile.c: events that the engine posted without a place get the user's line, and the function
 * that is called, or NULL. */
extern atomic_int profile_waiting; /* threads that have such events */
void profile_settle(PyObject *python);
/* s: how the call ended, which is returned. What a handler raised is the exception then. */
static inline ef_status *engine_end(engine_call *v, ef_status *s) {
    engine_now = v->outer;
    if (v->away != NULL || v->error != NULL) s = engine_return(v, s);
    engine_count(&engine_ended);
    return s;
}
/* Around Python that the engine calls back, with or without the lock: what it calls in turn is not
 * the call that is under way. */
typedef struct callback_state {
    PyGILState_STATE gil;
    engine_call *outer;
} callback_state;
callback_state callback_begin(void);
void callback_end(callback_state state);
/* ef_tensor_data of an eager tensor; a deferred one runs without the lock. -1: raised. */
int tensor_settle(const ef_tensor *t, const void **data);
int interrupt_init(void);

/* Adds a type made from a spec to the module under `name`. */
PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base, const char *name);
#endif
