/* Evenflow: a tensor engine whose calls never get slower.
 *
 * This is the only header a user of the C library needs (ef_ops.h, generated, adds one typed
 * function per op). Conventions:
 *   - A function that can fail returns `ef_status *`; NULL means success. Results leave through
 *     the last parameters and are untouched after a failure.
 *   - Arguments are borrowed. Results belong to the caller, who releases them with the matching
 *     `_release`, `_free` or `_unref`.
 *   - Every function may be called from any thread; one object is used by one thread at a time
 *     unless its comment says otherwise. Tensors, attributes, functions and sessions may be shared.
 *   - The library never prints, exits or aborts. */
#ifndef EVENFLOW_H
#define EVENFLOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- status ---------------------------------------------------------------------------------
 * The codes are TensorFlow's, number for number, so each maps on one exception class. */
typedef enum ef_code {
    EF_OK = 0,
    EF_CANCELLED = 1,
    EF_UNKNOWN = 2,
    EF_INVALID = 3, /* InvalidArgumentError */
    EF_DEADLINE = 4,
    EF_NOT_FOUND = 5,
    EF_ALREADY_EXISTS = 6,
    EF_PERMISSION_DENIED = 7,
    EF_NO_MEMORY = 8, /* ResourceExhaustedError */
    EF_FAILED_PRECONDITION = 9,
    EF_ABORTED = 10,
    EF_OUT_OF_RANGE = 11,
    EF_UNIMPLEMENTED = 12,
    EF_INTERNAL = 13,
    EF_UNAVAILABLE = 14,
    EF_DATA_LOSS = 15,
    EF_UNAUTHENTICATED = 16,
    /* Invalid arguments of a special kind, beyond TensorFlow's codes: */
    EF_OUT_OF_SCOPE = 64, /* a tensor of a function that has been traced; Python: TypeError */
    EF_OTHER_GRAPH = 65   /* a tensor of a graph that does not enclose this one;
                           * InaccessibleTensorError */
} ef_code;

typedef struct ef_status ef_status;                /* NULL: success */
ef_code ef_status_code(const ef_status *s);        /* EF_OK for NULL */
const char *ef_status_message(const ef_status *s); /* "" for NULL; lives as long as s */
void ef_status_free(ef_status *s);                 /* NULL is fine */

/* ---- dtypes: TensorFlow's numbers ----------------------------------------------------------- */
typedef enum ef_dtype {
    EF_NO_DTYPE = 0,
    EF_F32 = 1,
    EF_F64 = 2,
    EF_I32 = 3,
    EF_U8 = 4,
    EF_I16 = 5,
    EF_I8 = 6,
    EF_STRING = 7,
    EF_C64 = 8,
    EF_I64 = 9,
    EF_BOOL = 10,
    EF_QI8 = 11, /* quantized integers */
    EF_QU8 = 12,
    EF_QI32 = 13,
    EF_BF16 = 14,
    EF_QI16 = 15,
    EF_QU16 = 16,
    EF_U16 = 17,
    EF_C128 = 18,
    EF_F16 = 19,
    EF_RESOURCE = 20,
    EF_VARIANT = 21,
    EF_U32 = 22,
    EF_U64 = 23,
    EF_F8E5M2 = 24, /* narrow numbers: each element has a byte of its own */
    EF_F8E4M3FN = 25,
    EF_F8E4M3FNUZ = 26,
    EF_F8E4M3B11FNUZ = 27,
    EF_F8E5M2FNUZ = 28,
    EF_I4 = 29,
    EF_U4 = 30,
    EF_I2 = 31,
    EF_U2 = 32,
    EF_F4E2M1FN = 33,
    EF_DTYPES = 34 /* size of a table indexed by dtype */
} ef_dtype;

size_t ef_dtype_size(ef_dtype t);         /* bytes of one element; 0 if t is not a dtype */
const char *ef_dtype_name(ef_dtype t);    /* "float32", "bfloat16", ... */
ef_dtype ef_dtype_find(const char *name); /* "float32", "float", "half", ...; EF_NO_DTYPE if none */

/* ---- shapes -----------------------------------------------------------------------------------
 * rank -1: unknown rank. A dim >= 0 is known, EF_DIM_UNKNOWN is unknown; any other negative value
 * is symbolic: it encodes a*s+b over a named size s (read it with the ef_dim_ functions). */
enum { EF_MAX_RANK = 8 };
#define EF_DIM_UNKNOWN ((int64_t)-1)

typedef struct ef_shape {
    int32_t rank;
    int32_t reserved;
    int64_t dim[EF_MAX_RANK];
} ef_shape;

/* ---- tensors ----------------------------------------------------------------------------------
 * A tensor is a small value: it may sit on the stack, in an array, or inside your own object. Make
 * one with the functions below, copy it with ef_tensor_copy (never by assignment: small data lives
 * inside), end it with ef_tensor_release. Values are immutable once made; ef_tensor_data runs
 * deferred work. The fields are for reading dtype and shape quickly; write to none of them. */
typedef struct ef_storage ef_storage;
typedef struct ef_tensor {
    uint8_t dtype; /* ef_dtype */
    int8_t rank;   /* -1 only for symbolic tensors of unknown rank */
    uint8_t device;
    uint8_t flags;        /* EF_TENSOR_ bits */
    struct ef_mark *tape; /* counted: identifies the value to gradient tapes; or NULL */
    int64_t dim[EF_MAX_RANK];
    void *data;          /* NULL while deferred or symbolic: use ef_tensor_data */
    ef_storage *storage; /* counted; NULL: data is in `small`, or borrowed */
    unsigned char small[32];
} ef_tensor;
enum { EF_TENSOR_SYMBOLIC = 1, EF_TENSOR_WATCHED = 2 };

/* Copies the values. `shape` NULL means a scalar. Elements of EF_STRING are `const char *`. */
ef_status *ef_tensor_from(ef_dtype dtype, const ef_shape *shape, const void *values,
                          ef_tensor *out);
/* Uninitialised memory to fill through ef_tensor_data before anyone else sees the tensor. */
ef_status *ef_tensor_new(ef_dtype dtype, const ef_shape *shape, ef_tensor *out);
void ef_tensor_copy(ef_tensor *dst, const ef_tensor *src);
void ef_tensor_release(ef_tensor *t); /* leaves a zeroed tensor; releasing it again is harmless */
ef_shape ef_tensor_shape(const ef_tensor *t);
int64_t ef_tensor_count(const ef_tensor *t); /* elements; -1 if not known */
size_t ef_tensor_bytes(const ef_tensor *t);
/* Runs the deferred ops that the value needs; *data then points at the elements in row-major order.
 */
ef_status *ef_tensor_data(const ef_tensor *t, const void **data);

/* ---- ops --------------------------------------------------------------------------------------
 * Ops carry TensorFlow's raw op names and attributes. */
typedef struct ef_op ef_op;
typedef struct ef_attrs ef_attrs;
typedef struct ef_graph ef_graph;
const ef_op *ef_op_find(const char *name); /* NULL if there is none */

/* One attribute by name. Lists: n elements; scalars: n is ignored. */
typedef enum ef_attr_kind {
    EF_ATTR_BOOL,
    EF_ATTR_INT,
    EF_ATTR_FLOAT,
    EF_ATTR_STRING, /* also for choices such as padding */
    EF_ATTR_TYPE,
    EF_ATTR_SHAPE,
    EF_ATTR_TENSOR,
    EF_ATTR_FUNC,
    EF_ATTR_INTS,
    EF_ATTR_FLOATS,
    EF_ATTR_BOOLS,
    EF_ATTR_TYPES,
    EF_ATTR_SHAPES,
    EF_ATTR_STRINGS,
    EF_ATTR_FUNCS
} ef_attr_kind;
typedef struct ef_attr_value {
    const char *name;
    ef_attr_kind kind;
    int n;
    union {
        bool b;
        int64_t i;
        double f;
        const char *s;
        ef_dtype type;
        const ef_shape *shape;
        const ef_tensor *tensor;
        ef_graph *func;
        const int64_t *ints;
        const float *floats;
        const bool *bools;
        const ef_dtype *types;
        const ef_shape *shapes;
        const char *const *strings;
        ef_graph *const *funcs;
    } as;
} ef_attr_value;
#define EF_SET_BOOL(key, v)                                    \
    {                                                          \
        .name = (key), .kind = EF_ATTR_BOOL, .as = {.b = (v) } \
    }
#define EF_SET_INT(key, v)                                    \
    {                                                         \
        .name = (key), .kind = EF_ATTR_INT, .as = {.i = (v) } \
    }
#define EF_SET_FLOAT(key, v)                                    \
    {                                                           \
        .name = (key), .kind = EF_ATTR_FLOAT, .as = {.f = (v) } \
    }
#define EF_SET_STRING(key, v)                                    \
    {                                                            \
        .name = (key), .kind = EF_ATTR_STRING, .as = {.s = (v) } \
    }
#define EF_SET_TYPE(key, v)                                       \
    {                                                             \
        .name = (key), .kind = EF_ATTR_TYPE, .as = {.type = (v) } \
    }
#define EF_SET_SHAPE(key, v)                                        \
    {                                                               \
        .name = (key), .kind = EF_ATTR_SHAPE, .as = {.shape = (v) } \
    }
#define EF_SET_TENSOR(key, v)                                         \
    {                                                                 \
        .name = (key), .kind = EF_ATTR_TENSOR, .as = {.tensor = (v) } \
    }
#define EF_SET_FUNC(key, v)                                       \
    {                                                             \
        .name = (key), .kind = EF_ATTR_FUNC, .as = {.func = (v) } \
    }
#define EF_SET_INTS(key, count, v)                                              \
    {                                                                           \
        .name = (key), .kind = EF_ATTR_INTS, .n = (count), .as = {.ints = (v) } \
    }
#define EF_SET_TYPES(key, count, v)                                               \
    {                                                                             \
        .name = (key), .kind = EF_ATTR_TYPES, .n = (count), .as = {.types = (v) } \
    }
#define EF_SET_FUNCS(key, count, v)                                               \
    {                                                                             \
        .name = (key), .kind = EF_ATTR_FUNCS, .n = (count), .as = {.funcs = (v) } \
    }

/* Attributes checked once and ready for any number of calls. */
ef_status *ef_attrs_make(const ef_op *op, const ef_attr_value *set, int n, const ef_attrs **out);
const ef_attrs *ef_attrs_ref(const ef_attrs *a);
void ef_attrs_unref(const ef_attrs *a); /* NULL is fine */

/* The one call behind every op. Outside any graph it runs eagerly, or is deferred where fusion
 * pays; inside ef_graph_enter it adds a node and the results are symbolic. attrs NULL: defaults.
 * `out` has room for max_out tensors; *n_out says how many were made. */
ef_status *ef_call_op(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in,
                      ef_tensor *out, int max_out, int *n_out);

/* ---- variables --------------------------------------------------------------------------------
 * A variable is used through a resource tensor, its handle; ops such as ReadVariableOp and
 * ResourceApplyAdam take the handle. The variable lives as long as a handle does. */
ef_status *ef_variable_new(const ef_tensor *value, const char *name, ef_tensor *handle);
ef_status *ef_variable_get(const ef_tensor *handle, ef_tensor *value);
ef_status *ef_variable_set(const ef_tensor *handle, const ef_tensor *value);

/* ---- gradients, eagerly ------------------------------------------------------------------------
 * A tape records the ops of this thread between start and stop on watched tensors and variables. */
typedef struct ef_tape ef_tape;
ef_status *ef_tape_start(bool persistent, ef_tape **out); /* tapes nest */
void ef_tape_stop(ef_tape *t);                            /* stopping twice is harmless */
void ef_tape_free(ef_tape *t);                            /* stops it too; NULL is fine */
ef_status *ef_tape_watch(ef_tape *t, ef_tensor *x);       /* a tensor, or a variable's handle */
/* d target / d source[k] for every k. dout NULL: ones. A source that target does not depend on gets
 * a zeroed tensor (dtype 0). A sparse gradient is made dense. A tape that is not persistent gives
 * gradients once. */
ef_status *ef_tape_gradient(ef_tape *t, const ef_tensor *target, const ef_tensor *dout,
                            const ef_tensor *const *source, int n, ef_tensor *out);
/* The same for several targets; sparse results stay sparse: slices[k] true means out[3k] holds the
 * values, out[3k+1] the indices, out[3k+2] the dense shape; else out[3k] is the gradient. */
ef_status *ef_tape_gradients(ef_tape *t, const ef_tensor *const *target, int n_targets,
                             const ef_tensor *const *dout, const ef_tensor *const *source, int n,
                             ef_tensor *out, bool *slices);

/* ---- graphs ------------------------------------------------------------------------------------
 */
ef_graph *ef_graph_new(void);    /* NULL: out of memory */
void ef_graph_free(ef_graph *g); /* symbolic tensors, functions and sessions keep it alive */
/* Ops called by this thread between enter and leave are added to the graph instead of being run.
 * Graphs nest: a tensor of an outer graph, or a value, used inside is captured. */
ef_status *ef_graph_enter(ef_graph *g);
ef_status *ef_graph_leave(ef_graph *g);
ef_status *ef_graph_placeholder(ef_graph *g, ef_dtype dtype, const ef_shape *shape,
                                const char *name, ef_tensor *out);
/* The name of the next op added to the entered graph; made unique with _1, _2 ... */
ef_status *ef_graph_name_next(ef_graph *g, const char *name);
/* "name" or "name:1". */
ef_status *ef_graph_get(ef_graph *g, const char *name, ef_tensor *out);
/* Makes g a function: its placeholders `in` are its parameters, `out` its results. This is needed
 * before g is called or used as an attribute (a loop's body, a branch). As an attribute it must
 * have no captures left: put the placeholders of its captures (ef_graph_import_tensor) among `in`,
 * and they become parameters. ef_graph_capture gives the captured tensors, in order. */
ef_status *ef_graph_finish(ef_graph *g, const ef_tensor *in, int n_in, const ef_tensor *out,
                           int n_out);
int ef_graph_captures(const ef_graph *g);
ef_status *ef_graph_capture(const ef_graph *g, int k, ef_tensor *out);
ef_status *ef_graph_print(const ef_graph *g,
                          char **text); /* free() the text with ef_text_release */
void ef_text_release(char *text);
/* Symbolic gradients: adds the nodes that compute d(sum y)/d x[k] to the graph of y; a zeroed
 * tensor where y does not depend on x[k]. */
ef_status *ef_graph_gradients(const ef_tensor *y, const ef_tensor *const *x, int n, ef_tensor *out);

/* ---- sessions ----------------------------------------------------------------------------------
 * Runs the subgraph between feeds and fetches. Any number of threads may run one session. */
typedef struct ef_session ef_session;
ef_status *ef_session_new(ef_graph *g, ef_session **out);
void ef_session_free(ef_session *s);
/* Runs that wait for a queue of the session, in other threads, end with EF_CANCELLED. */
void ef_session_halt(ef_session *s);
/* feeds: symbolic tensors and their values; fetches: symbolic tensors; targets: names of ops to run
 * for their effect. out: n_fetches tensors. */
ef_status *ef_session_run(ef_session *s, const ef_tensor *feeds, const ef_tensor *values,
                          int n_feeds, const ef_tensor *fetches, int n_fetches,
                          const char *const *targets, int n_targets, ef_tensor *out);

/* ---- functions ---------------------------------------------------------------------------------
 * A function is traced once per signature (dtypes and shapes): `trace` is called with symbolic
 * inputs and calls ops on them; afterwards a call runs the plan. A size that changes becomes
 * symbolic at its second value instead of causing another trace. */
typedef struct ef_function ef_function;
typedef ef_status *ef_trace_fn(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                               int max_out, int *n_out);
ef_status *ef_function_new(ef_trace_fn *trace, void *user, const char *name, ef_function **out);
void ef_function_free(ef_function *f);
/* May be called inside a trace (it becomes a call node) and under a tape. */
ef_status *ef_function_call(ef_function *f, const ef_tensor *const *in, int n_in, ef_tensor *out,
                            int max_out, int *n_out);
typedef struct ef_function_info {
    uint64_t calls, traces;  /* traces: how often the trace callback ran */
    uint64_t plans;          /* plans made for new shapes, over all traces */
    const char *last_reason; /* why the last trace was made; lives as long as the function */
} ef_function_info;
void ef_function_info_get(ef_function *f, ef_function_info *out);
/* Inside a trace: the trace depends on concrete sizes, so it is made anew for each size. */
void ef_trace_needs_sizes(void);

/* ---- execution contexts -------------------------------------------------------------------------
 * What a thread's runs may use. A thread begins with the defaults. */
typedef struct ef_context ef_context;
typedef struct ef_context_options {
    const char *device; /* that ops run on, as in "CPU:0"; NULL: an op runs where its inputs are */
    /* This thread's share of the processors, relative to other threads, while they are scarce: 1
     * (also 0) for work that a user waits for, less for a background worker, down to 0.01. */
    double weight;
    int threads; /* the most threads that compute for this one; 0: as ef_threads_set allows */
} ef_context_options;
ef_status *ef_context_set(const ef_context_options *options); /* calling thread; NULL: defaults */

/* ---- devices ------------------------------------------------------------------------------------
 * CPU:0 is always there. An op runs on the device that the context names, otherwise where its
 * inputs are; other inputs are copied there. An op that the device has no kernel for runs on the
 * CPU. ef_tensor_data copies the elements of a tensor on another device to the host. */
int ef_device_names(const char **names, int max); /* how many there are */
const char *ef_tensor_device(const ef_tensor *t); /* "CPU:0" */
ef_status *ef_tensor_copy_to(const ef_tensor *t, const char *device, ef_tensor *out);
/* Starts or stops TEST:0, a device whose memory the host cannot touch; for tests. It cannot be
 * stopped while tensors are on it. */
ef_status *ef_test_device_set(bool there);

/* ---- cancelling --------------------------------------------------------------------------------
 * Whatever a thread runs between ef_canceller_use(c) and ef_canceller_use(NULL) - functions,
 * sessions, loops, deferred ops - ends with EF_CANCELLED soon after any thread calls ef_cancel(c),
 * or with EF_DEADLINE when its time is over; a kernel that is running is finished first. Runs that
 * begin later end in the same way, until the canceller is reset. Variables that were assigned
 * before keep their new values. */
typedef struct ef_canceller ef_canceller;
ef_status *ef_canceller_new(ef_canceller **out);
void ef_canceller_free(ef_canceller *c); /* no thread uses it any more; NULL is fine */
void ef_canceller_use(ef_canceller *c);  /* by the calling thread; NULL: none */
void ef_cancel(ef_canceller *c);
void ef_canceller_deadline(ef_canceller *c, double seconds); /* from now on */
void ef_canceller_reset(ef_canceller *c);                    /* neither cancelled nor timed */

/* ---- events ------------------------------------------------------------------------------------
 * An event that does not happen in every call - a trace, a plan, growth of the allocator - is
 * recorded with its time and with the line of the program that caused it; what happens in every
 * call is sampled. This is always on. The last 1024 events of each thread are kept; sums by place
 * are kept in tallies.
 * X(suffix, name, what value[] holds) */
#define EF_EACH_EVENT(X)                                                                        \
    X(TRACE, "trace", "nodes; old and new value of what changed")                               \
    X(COMPILE, "compile", "nodes")                                                              \
    X(PLAN, "plan", "argument * 16 + axis that changed; its old and new size")                  \
    X(PRIMITIVE, "primitive", "primitives of oneDNN in the chain that was made")                \
    X(CACHE_HIT, "cache hit", "")                                                               \
    X(CACHE_MISS, "cache miss", "")                                                             \
    X(EVICTION, "cache eviction", "bytes")                                                      \
    X(STEP, "step", "bytes of its first result; its ef_op, as an address, or 0 if it is fused") \
    X(COPY, "host copy", "bytes")                                                               \
    X(CONVERT, "conversion", "elements that were Python objects")                               \
    X(CAST, "implicit cast", "bytes; old and new dtype")                                        \
    X(WAIT, "wait", "")                                                                         \
    X(GROWTH, "allocation growth", "bytes")                                                     \
    X(THREAD, "thread state", "the thread's number in the pool")                                \
    X(RUN, "session run", "bytes fed")                                                          \
    X(CALL, "function call", "bytes of its arguments")                                          \
    X(OP, "eager op", "bytes of its inputs; its ef_op, as an address")                          \
    X(SCALAR, "Python number as operand", "")                                                   \
    X(SLICE, "slice read", "elements; of the whole tensor")                                     \
    X(FRESH, "new object in a key", "")                                                         \
    X(FUNCTION, "function made", "")                                                            \
    X(SESSION, "session closed", "runs it made")                                                \
    X(NODE, "node added after a run", "nodes of the graph")                                     \
    X(VARIABLE, "variable", "bytes")                                                            \
    X(TAPE, "persistent tape", "1: made, -1: released")                                         \
    X(LOOP, "loop", "iterations")                                                               \
    X(UNROLLED, "nodes of one line", "nodes made by the line; of the whole graph")              \
    X(DATASET, "dataset made", "")                                                              \
    X(ITERATOR, "iterator", "elements it gave; 2: all of one size, 1: but for the first axis")  \
    X(PYTHON, "Python function of a pipeline", "ticks of waiting for the interpreter")          \
    X(ENTRY, "model entry", "rows")                                                             \
    X(MODEL, "model built", "")                                                                 \
    X(SAVE, "save", "bytes")                                                                    \
    X(STAGE, "pipeline stage", "elements; nanoseconds, sources included; bytes")                \
    X(FILL, "shuffle buffer filled", "bytes; nanoseconds of the whole pass")                    \
    X(TRANSFER, "device copy", "bytes; the device; 0: to it, 1: to the host, 2: within it")
typedef enum ef_event_kind {
#define EF_EVENT_ENUM(NAME, text, values) EF_EVENT_##NAME,
    EF_EACH_EVENT(EF_EVENT_ENUM)
#undef EF_EVENT_ENUM
        EF_EVENT_KINDS
} ef_event_kind;
const char *ef_event_kind_name(int kind);   /* NULL if there is no such kind */
const char *ef_event_kind_values(int kind); /* what value[] holds; NULL if there is none */

/* The reason of an event: of a trace, what differs from the last traced call; of a wait, what for.
 */
typedef enum ef_event_reason {
    EF_REASON_NONE,
    EF_REASON_FIRST,     /* the first trace of the function */
    EF_REASON_VALUE,     /* another Python value: value[1] and value[2] if they are numbers */
    EF_REASON_SHAPE,     /* another size */
    EF_REASON_DTYPE,     /* another dtype, rank or number of tensors */
    EF_REASON_IDENTITY,  /* another Python object */
    EF_REASON_INSTANCE,  /* the method of another object */
    EF_REASON_STRUCTURE, /* other arguments, or another nesting of them */
    EF_REASON_FORGOTTEN, /* nothing is new: the trace or plan for it was evicted or released */
    EF_REASON_LIBRARY,   /* made by a library that the program calls */
    EF_REASON_TEAM,      /* a wait: for the threads of the pool */
    EF_REASON_DATA,      /* a wait: for an element of a dataset */
    EF_REASON_SLEEP,     /* a thread of the pool had nothing to do */
    EF_REASON_QUEUE,     /* a wait: for the work of a device; value[0] is its number */
    EF_REASONS
} ef_event_reason;
const char *ef_event_reason_name(int reason); /* NULL if there is none */

typedef struct ef_event {
    uint64_t time;     /* when it ended, in nanoseconds of CLOCK_MONOTONIC */
    uint64_t duration; /* nanoseconds; 0: it has none */
    uint16_t kind, reason;
    uint32_t thread;  /* numbered from 0 */
    uint32_t place;   /* of the program's line that caused it: see ef_site_get; 0: unknown */
    uint32_t subject; /* the place of the function it is about; 0: none */
    uint32_t note;    /* see ef_event_note_get; 0: none */
    uint32_t weight;  /* how many events it represents: 1, or more if it was sampled */
    int64_t value[3];
} ef_event;
/* The events still kept, of all threads, oldest first; returns how many were written to `out`.
 * *dropped: how many were overwritten since the program began, or did not fit into `out`. */
size_t ef_events_read(ef_event *out, size_t max, uint64_t *dropped);
uint64_t ef_event_count(int kind); /* exact for what is not sampled */

typedef struct ef_tally {
    uint32_t place, subject; /* place 0: all places that were evicted, or are unknown */
    uint16_t kind, reason;
    uint32_t samples;     /* events that were added up */
    uint64_t count;       /* the sum of their weights */
    uint64_t duration;    /* nanoseconds of all of them */
    int64_t sum[3];       /* of value[], each times its weight */
    int64_t least, most;  /* of value[0] */
    uint64_t first, last; /* time of the first and of the last one */
    uint32_t early, late; /* nanoseconds: median of the first 16 samples, and of the last 16. Where
                             every call was sampled at first, the former begin after that. */
    uint32_t note;        /* the last one's; 0: none */
    uint32_t opening;     /* nanoseconds of the first sample */
} ef_tally;
/* At most 4096 and one per kind; returns how many were written to `out`. */
size_t ef_tallies_read(ef_tally *out, size_t max);
void ef_tallies_reset(void);

typedef struct ef_site_info {
    char file[256], function[96]; /* shortened at their beginning if they are longer */
    int line;
} ef_site_info;
bool ef_site_get(uint32_t place, ef_site_info *out);           /* false: unknown, or evicted */
bool ef_event_note_get(uint32_t note, char *out, size_t room); /* false: overwritten */
/* Names the line of a C program for the events that this thread causes from now on. The texts must
 * live as long as the process, as __FILE__ and __func__ do. */
#define EF_HERE() ef_site_set(__FILE__, __func__, __LINE__)
void ef_site_set(const char *file, const char *function, int line);

/* ---- the doctor's view -------------------------------------------------------------------------
 * A copy of all sums, with the texts of their places and notes: of this process, or of another one
 * that uses the same library file and may be traced by the caller (the same user; see ptrace(2)).
 * The other process is not stopped and need not cooperate. `evenflow doctor --live PID` and
 * `evenflow doctor --read FILE` derive their findings from such a copy. */
typedef struct ef_doctor ef_doctor;
ef_status *ef_doctor_open(int pid, ef_doctor **out);                /* 0: this process */
void ef_doctor_free(ef_doctor *d);                                  /* NULL is fine */
size_t ef_doctor_tallies(const ef_doctor *d, const ef_tally **out); /* they live as long as d */
bool ef_doctor_site(const ef_doctor *d, uint32_t place, ef_site_info *out);
bool ef_doctor_note(const ef_doctor *d, uint32_t note, char *out, size_t room);
double ef_doctor_seconds(const ef_doctor *d);                    /* since the sums began */
ef_status *ef_doctor_save(const ef_doctor *d, const char *path); /* as JSON */

/* ---- memory, threads, settings -----------------------------------------------------------------
 */
typedef struct ef_memory_usage {
    int64_t current, peak, cached, limit;
} ef_memory_usage;
ef_status *ef_memory_usage_get(const char *device, ef_memory_usage *out); /* "CPU:0" */
ef_status *ef_memory_limit_set(const char *device, int64_t bytes);        /* 0: none */
void ef_memory_peak_reset(const char *device);
void ef_memory_release_cached(void);
/* All caches (traces, programs, plans, requests of sessions, derivatives, oneDNN primitives,
 * generated code) share one budget of bytes; beyond it the least recently used entry is evicted,
 * whichever cache it is in. */
typedef struct ef_cache_info {
    const char *name; /* "plans" */
    int64_t bytes, entries;
    uint64_t made, evicted;
} ef_cache_info;
int ef_cache_info_get(ef_cache_info *out, int max); /* fills in max; returns how many there are */
void ef_cache_limit_set(int64_t bytes);             /* 0: EF_CACHE_BYTES, else 256 MiB */
int64_t ef_cache_limit_get(void);
/* All memory that the engine holds, as text: tensors with their largest holders (scratch memory and
 * arenas among them), and the caches. Release *text with ef_text_release. */
ef_status *ef_memory_report(char **text);
void ef_threads_set(int n); /* 0: as many as the machine gives */
int ef_threads_get(void);
void ef_sync_set(bool on);     /* true: no op is deferred (EVENFLOW_SYNC=1) */
void ef_programs_clear(void);  /* drops compiled programs that are not in use */
ef_status *ef_wait(void);      /* runs the ops that this thread has deferred */
uint64_t ef_allocations(void); /* system allocations made by this thread so far; for tests */
/* For tests: the k-th allocation of this thread from now on (1: the next) fails once; 0 switches
 * that off. Returns whether the failure that was set before has happened. */
int ef_allocation_fail(uint64_t k);
const char *ef_version(void);

#ifdef __cplusplus
}
#endif
#endif
