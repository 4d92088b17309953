/* evenflow._core: the C part of the Python package. Everything that runs per op or per call is
 * here; the public names and the preparation of unusual arguments are Python. Only the public
 * headers of the engine are included. */
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
    uint32_t place;  /* the user's line that created it, for events; 0: created in a graph */
} variable_object;

typedef struct graph_object { /* the base of tf.Graph */
    PyObject_HEAD PyObject *dict, *weak;
    ef_graph *g;
    PyObject *key;         /* g as a number, the key of this object in graph.c's table */
    PyObject *ops;         /* node number -> Operation, for those that Python has requested */
    int sessions, running; /* open sessions of this graph, and runs of theirs in progress */
    int growths;           /* runs that found the graph larger than the run before did */
    int trims;             /* new nodes are freed once no Python object references them */
    int final;             /* finalized: adding a node raises */
    uint64_t version;      /* the graph's version at the last run */
} graph_object;

extern PyTypeObject *core_type, *tensor_type, *eager_type, *symbolic_type, *variable_type,
    *graph_type, *op_type;

#define IS_EAGER(o) (Py_TYPE(o) == eager_type)
#define IS_SYMBOLIC(o) (Py_TYPE(o) == symbolic_type)
#define IS_TENSOR(o) (IS_EAGER(o) || IS_SYMBOLIC(o) || PyObject_TypeCheck(o, tensor_type))
#define IS_VARIABLE(o) PyObject_TypeCheck(o, variable_type)

/* ---- hooks: what Python registers (module.c) ---------------------------------------------------
 * Callables and classes of the Python package, registered by name when it is imported. */
typedef struct core_hooks {
    PyObject *graph_error; /* (message, op) -> exception, while a graph is built */
    PyObject *error;       /* (code, message, op) -> exception */
    PyObject *as_dtype;    /* (DType, name, numpy or Python type) -> DType */
    PyObject
        *convert; /* (value, dtype or None, as_hint; None: PLAIN) -> Tensor; values unknown to C */
    PyObject *repr, *str;                 /* of tensors */
    PyObject *getitem;                    /* (tensor, index): indices with tensors in them, masks */
    PyObject *operation;                  /* (graph, node) -> Operation */
    PyObject *operation_class;            /* the class Operation */
    PyObject *graph_class;                /* makes the Graph object for a C graph that has none */
    PyObject *matmul, *equal, *not_equal; /* operators whose arguments Python prepares */
    PyObject *not_allowed;                /* OperatorNotAllowedInGraphError */
    PyObject *iterate;                    /* (symbolic tensor) -> iterator, or raises */
    PyObject *opens;                      /* (class) -> bool: tf.function flattens its instances */
    PyObject *take_apart; /* (structure) -> (constant part, tuple of components[, unknown sizes]) */
    PyObject *composite;  /* the class CompositeTensor */
    PyObject *op_failed;  /* (graph, exception): notes which op raised it */
    PyObject *put_together; /* (structure, constant part, list of components) -> a new structure */
    PyObject *variable_again;     /* (variable, handle) -> a variable like it, with that handle */
    PyObject *parameters;         /* (callable) -> its parameters in the form of function_new.c */
    PyObject *read_signature;     /* (input_signature, parameters) -> its form in function_object */
    PyObject *fit_signature;      /* (function, args) -> args converted to its input signature */
    PyObject *converted;          /* (function) -> the function as AutoGraph converts it */
    PyObject *translated;         /* (exception) -> one whose traceback has the user's lines */
    PyObject *weakly;             /* (argument) -> the form in which a trace keeps it */
    PyObject *flat_result;        /* (result) -> (tensors, callable that packs them) */
    PyObject *retraces;           /* (traces, calls, function): warns of too many */
    PyObject *concrete_arguments; /* (concrete function, args, kwargs) -> tensors */
    PyObject *dispatch;           /* (op, args, kwargs) -> result or NotImplemented: dispatch.py */
    PyObject *dtype[EF_DTYPES];   /* DType objects by number */
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
/* Replaces a ValueError or OverflowError that is set by a TypeError; returns -1. */
int say_type_error(void);
/* Raises the error s, frees it and returns NULL. op may be NULL. While a graph is being built, an
 * invalid argument is a ValueError, as in TensorFlow. */
PyObject *raise_status(ef_status *s, const char *op);
/* Returns 0 if s is NULL (success); otherwise raises s as raise_status does and returns -1. */
int check(ef_status *s, const char *op);
/* Clears an exception before another way is tried; returns 0. An exception that must not be lost,
 * such as KeyboardInterrupt, stays set: -1. */
int clear_error(void);
/* Raises an invalid argument as raise_status would; takes the reference to the message; -1. */
int invalid(const char *op, PyObject *message);
/* The status that a callback returns when its Python function raised: the exception stays set, and
 * raise_status leaves it as it is. */
ef_status *raised_in_python(void);

/* ---- dtype.c --------------------------------------------------------------------------------- */
ef_dtype dtype_of(PyObject *o);     /* DType, str, numpy dtype or type; EF_NO_DTYPE and TypeError */
PyObject *dtype_object(ef_dtype t); /* new reference */
bool dtype_is(ef_dtype t, PyObject *o);     /* whether o, a DType or a name, is t */
int shape_from(PyObject *o, ef_shape *out); /* TensorShape, None, int or sequence; -1 raised */
PyObject *dims_tuple(const ef_shape *s);    /* of int and None; None if the rank is unknown */
int dtype_init(PyObject *module);

/* ---- shape.c, name_scope.c, front.c -----------------------------------------------------------
 * A TensorShape. of: the tensor whose dimensions are being read, or NULL; the trace in progress
 * notes which sizes of its arguments are read, and keeps the others unknown. */
PyObject *shape_object(const ef_shape *s, PyObject *of);
int shape_init(PyObject *module);
int name_scope_init(PyObject *module);
int front_init(PyObject *module);

/* ---- tensor.c -------------------------------------------------------------------------------- */
tensor_object *tensor_make(void); /* an eager tensor object with a zeroed tensor */
/* Wraps t and takes it over; its flags tell whether it becomes an eager or a symbolic tensor. */
PyObject *tensor_wrap(ef_tensor *t);
PyObject *
tensor_finish(tensor_object *o); /* o's tensor was just set: gives o the class that fits it */
/* The tensor of an object that an op is about to use. While a graph is being built, it first gets a
 * number, by which a tape that watches the tensor later finds its use in the graph. */
const ef_tensor *tensor_used(tensor_object *o);
/* Lists of tensor objects. tensor_list takes over all n tensors, even on failure; tensor_list_copy
 * copies them. An item with dtype 0 becomes None. */
PyObject *tensor_list(ef_tensor *t, int n);
PyObject *tensor_list_copy(const ef_tensor *t, int n);
/* An array of pointers to the tensors of a sequence, borrowed from its items. none: items may be
 * None, whose pointer is NULL. The caller frees the array with PyMem_Free. NULL: raised. */
const ef_tensor **tensor_pointers(PyObject *sequence, bool none, int *n);
int tensor_init(PyObject *module);

/* ---- convert.c ---------------------------------------------------------------------------------
 * An argument as a tensor of the engine: borrowed from a tensor object, or created in `own`. */
typedef struct operand {
    const ef_tensor *t;
    PyObject *keep; /* object that owns t, or NULL */
    ef_tensor own;
} operand;
/* How a dtype is meant: required (MUST), only preferred for Python values (HINT), or required and
 * lists contain no tensors (PLAIN). */
enum { MUST, HINT, PLAIN };
int operand_from(PyObject *o, ef_dtype dtype, int hint, operand *out); /* -1: raised */
void operand_end(operand *o);
/* A tensor object from any value. */
PyObject *convert(PyObject *o, ef_dtype dtype, int hint);
/* The tensor that the object's own method __tf_tensor__(dtype) makes, as of Keras's variables.
 * NULL: it has none, or an exception is set. */
PyObject *convert_by_method(PyObject *o, PyObject *dtype);
/* The value as a Tensor if it is one of that dtype, given as a DType or by its name, or an object
 * such as Keras's variable that stands for one. NULL: it is to be cast, or an exception is set. */
PyObject *convert_already(PyObject *x, PyObject *dtype);
/* The dtype of a tensor, a variable or a numpy value; EF_NO_DTYPE for Python values. */
ef_dtype own_dtype(PyObject *o);

/* ---- array.c: the only file that knows numpy ------------------------------------------------- */
int array_init(void);
int is_array(PyObject *o); /* ndarray or numpy scalar */
ef_dtype array_dtype(PyObject *o);
bool array_is_long_double(PyObject *o);     /* a float for which there is no ef_dtype */
int array_dims(PyObject *o, int64_t *dims); /* rank; -1: above EF_MAX_RANK */
int array_to_tensor(PyObject *o, ef_dtype dtype, ef_tensor *out);
/* Casts float32 elements to a float type of 8 bits, rounded as numpy does. */
int floats_to_tensor(const ef_tensor *floats, ef_dtype want, ef_tensor *out);
typedef enum array_use {
    ARRAY_OWN,      /* the caller may write to it: a copy */
    ARRAY_LAST_USE, /* the same, but `o` is not used again, so the array may take its memory */
    ARRAY_READ_ONLY /* a read-only view of the tensor's memory */
} array_use;
PyObject *tensor_to_array(tensor_object *o, array_use use); /* a numpy scalar for rank 0 */
int numpy_init(void); /* adds the method Tensor.numpy; called after the types exist */
PyObject *tensor_item(const ef_tensor *t, int64_t i); /* Python number, bytes or bool */

/* ---- op.c, op_inputs.c, op_type.c, attr.c ------------------------------------------------------
 * Calls an op whose attributes are converted already. Returns results in the form of tf.raw_ops. */
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
    bool late; /* the exception is about a value that has the right type but is not allowed */
};
void attr_arena_end(attr_arena *a);
PyObject *attr_object(const ef_attr_value *v); /* an attribute as a Python value */

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
/* Called before an op while a graph is being built: chooses the name of the node that the op will
 * become. name: if NULL or None, the name is derived from `kind`, a string literal. -1: raised. */
int name_node(PyObject *name, const char *kind);
/* Called before nodes are added in another way: a graph that keeps growing then frees the nodes
 * that no Python object references. */
void graph_grows(void);
/* Called after a tensor was added to a graph. If no graph is being built (a default graph that only
 * grows), this is when unreferenced nodes are freed. */
void graph_gained(const ef_tensor *t);
/* Called when a session run begins: a graph that keeps growing between runs starts to free the
 * nodes that no Python object references. */
void graph_run_begins(graph_object *o);
PyObject *set_package(PyObject *self,
                      PyObject *folder); /* source_lines.c: frames in it are not the user's code */
PyObject *set_launcher(PyObject *self, PyObject *file); /* the same for the command's own script */
PyObject *places_of(ef_graph *g, int place); /* [(file, line, function)], the outermost first */
PyObject *graph_wrap(ef_graph *g); /* the graph_object of g, made if need be; new reference */
/* Called when a Graph object was created for g: the trace in progress keeps it for later users. */
void function_graph_wrapped(ef_graph *g, PyObject *o);
/* The name of the function whose trace g is, borrowed; NULL: g is no trace. */
PyObject *function_graph_name(ef_graph *g);
/* Reads a variable: a ReadVariableOp, eager or recorded. */
int variable_read(variable_object *v, ef_tensor *out);
int recording(void); /* whether this thread is building a graph */

/* ---- settings.c: running without the GIL -------------------------------------------------------
 * away() releases the GIL, back() takes it again. If the process forks while another thread is in
 * the engine without the GIL, the child inherits locks that nobody will release: there every call
 * of the engine fails. Otherwise the child works, with one thread. */
PyThreadState *away(void);
void blocking_init(void); /* makes the engine call both around waiting for deferred work */
void back(PyThreadState *state);
enum { LONG_CALL = 20000 }; /* nanoseconds: for a longer call, releasing the GIL pays off */
int64_t nanoseconds(void);  /* a monotonic clock */
extern bool refused;        /* true in such a child: calls fail with the message `refusal` */
extern const char refusal[];

/* ---- interrupt.c: signals and other threads while the engine runs -------------------------------
 * engine_begin and engine_end stand around a call that may take long; both are called with the GIL
 * held. `leave`: the call is known to take long, and the GIL is released immediately. In between,
 * only callbacks touch Python objects; they take the GIL. */
typedef struct engine_call {
    struct engine_call *outer;
    PyThreadState *away; /* NULL: the GIL is held */
    PyObject *error;     /* the exception that a signal handler raised */
    bool notes;
} engine_call;
extern _Thread_local engine_call *engine_now; /* the innermost call of this thread */
extern atomic_uint engine_begun, engine_ended;
extern atomic_bool engine_pulse_stopped;
void engine_leave(engine_call *v); /* releases the GIL */
ef_status *engine_return(engine_call *v, ef_status *s);

static inline void engine_count(atomic_uint *n) { /* the GIL is held: no other thread writes */
    atomic_store_explicit(n, atomic_load_explicit(n, memory_order_relaxed) + 1,
                          memory_order_relaxed);
}
static inline void engine_begin(engine_call *v, bool leave) {
    engine_count(&engine_begun);
    if (atomic_load_explicit(&engine_pulse_stopped, memory_order_relaxed)) ef_interrupt_wake();
    v->outer = engine_now;
    v->away = NULL;
    v->error = NULL;
    v->notes = false;
    engine_now = v;
    if (leave) engine_leave(v);
}
/* profile.c: gives the events that the engine posted without a place the user's line. python: the
 * function that was called, or NULL. */
extern atomic_int profile_waiting; /* threads that have such events */
void profile_resolve(PyObject *python);
/* s: the status of the call, which is returned. If a signal handler raised, its exception is set
 * and takes precedence. */
static inline ef_status *engine_end(engine_call *v, ef_status *s) {
    engine_now = v->outer;
    if (v->away != NULL || v->error != NULL) s = engine_return(v, s);
    engine_count(&engine_ended);
    return s;
}
/* callback_begin and callback_end stand around Python code that the engine calls, with or without
 * the GIL: an engine call made by that code starts a new engine_call. */
typedef struct callback_state {
    PyGILState_STATE gil;
    engine_call *outer;
} callback_state;
callback_state callback_begin(void);
void callback_end(callback_state state);
/* ef_tensor_data of an eager tensor; a deferred one is computed without the GIL. -1: raised. */
int tensor_materialize(const ef_tensor *t, const void **data);
int interrupt_init(void);

/* Adds a type made from a spec to the module under `name`. */
PyTypeObject *add_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base, const char *name);
#endif
