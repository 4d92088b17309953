/* What a language binding needs beyond evenflow.h: the op table, the inside of graphs, functions
 * whose traces carry the binding's own data, tapes over graphs, custom gradients. The conventions
 * of evenflow.h hold. */
#ifndef EVENFLOW_BINDING_H
#define EVENFLOW_BINDING_H
#include "evenflow.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- tensors ----------------------------------------------------------------------------------
 * Element i of a string tensor; put only into a tensor just made by ef_tensor_new. */
ef_status *ef_string_at(const ef_tensor *t, int64_t i, const char **at, size_t *n);
ef_status *ef_string_put(ef_tensor *t, int64_t i, const char *at, size_t n);
/* A tensor over memory of somebody else: end(arg) is called when the last user is gone. */
ef_status *ef_tensor_wrap(ef_dtype dtype, const ef_shape *shape, void *data, void (*end)(void *arg),
                          void *arg, ef_tensor *out);
/* A status of the binding's own (a callback that failed); NULL only if code is EF_OK. */
ef_status *ef_status_make(ef_code code, const char *message);
/* Whether the shapes of a call did not fit its graph, so that none of its ops was run. */
bool ef_status_before_run(const ef_status *s);
/* Whether the elements of t are computed: reading them runs no deferred ops. */
bool ef_tensor_ready(const ef_tensor *t);
/* Whether t is the only reference to its memory, which then may be written to. */
bool ef_tensor_sole(const ef_tensor *t);
/* Called around running deferred ops and around waiting for another thread that runs them. A
 * binding releases its interpreter's lock there, since the other thread may need it. begin may
 * return NULL: then end is not called. */
void ef_blocking_hooks(void *(*begin)(void), void (*end)(void *state));
/* Takes over src, which is zeroed. */
void ef_tensor_take(ef_tensor *dst, ef_tensor *src);

/* The short form of ef_call_op for an elementwise op on one or two small eager tensors, which are
 * valid and none of which is `out`. Returns false, having done nothing, if this is no such call, or
 * if the thread is building a graph, records a tape or requested a device. */
bool ef_call_small(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in,
                   ef_tensor *out);
/* As ef_call_op for an op of at most 16 outputs of which only the first is wanted: eagerly the
 * elements of the others are not computed where the kernel can do without them. */
ef_status *ef_call_op_first(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                            int n_in, ef_tensor *out);

/* ---- interrupting -----------------------------------------------------------------------------
 * The pulse is a counter (base/interrupt.h). A thread that runs something calls `ask` soon after
 * the pulse has changed: a status ends the run. `ask` may run user code. The pulse changes at
 * ef_interrupt_send, which a signal handler may call, and every 20 ms while `calls` says that a
 * call is running. If there was no call for a while the pulse stops, and `stopped` is called; the
 * next call then wakes it with ef_interrupt_wake. */
typedef struct ef_interrupt_watch {
    ef_status *(*ask)(void);
    unsigned (*calls)(bool *running); /* a number that changes with every call; any thread */
    void (*stopped)(bool yes);        /* any thread */
    /* This thread's op is about to make large results: other threads should run meanwhile. */
    void (*takes_long)(void);
} ef_interrupt_watch;
void ef_interrupt_watch_set(
    const ef_interrupt_watch *watch); /* once; lives as long as the process */
void ef_interrupt_wake(void);
void ef_interrupt_send(void);

/* ---- events ------------------------------------------------------------------------------------
 * Posting them. Places are entries of a table of 4096; the least used one is evicted. */
typedef struct ef_event_new {
    ef_event_kind kind;
    ef_event_reason reason;
    uint64_t began; /* ef_event_clock() when it began; 0: it has no duration */
    uint64_t ended; /* likewise; 0: when it is posted */
    uint32_t place; /* 0: the current line of this thread's program, filled in later */
    uint32_t subject;
    uint32_t note;
    uint32_t weight; /* 0: 1 */
    bool nowhere;    /* no line of the program caused it */
    int64_t value[3];
} ef_event_new;
void ef_event_post(const ef_event_new *e);
/* The same without an entry in the ring, for events that are too frequent for it. */
void ef_event_add(const ef_event_new *e);
uint64_t ef_event_clock(void); /* the processor's ticks, where it counts them evenly */
/* For events of every call, which the binding counts itself. */
void ef_event_count_add(ef_event_kind kind, uint64_t n);
/* A text for an event, shortened to 119 bytes. The last 512 are kept. */
uint32_t ef_event_note(const char *text);

/* The place of (owner, at), where `owner` is an object of the binding for a piece of code and `at`
 * identifies an instruction in it. 0: it is not in the table. */
uint32_t ef_site_find(const void *owner, int at);
/* Adds it to the table. The texts must live as long as the owner. *evicted: the owner of a place
 * that was evicted, which the caller releases; or NULL. */
uint32_t ef_site_add(const void *owner, int at, const char *file, const char *function, int line,
                     const void **evicted);
/* The place of these texts, which are copied: for lines that are stored in graphs only. evicted: as
 * above; if it is NULL, no place that has an owner is evicted, and 0 is returned where all have
 * one.
 */
uint32_t ef_site_named(const char *file, const char *function, int line, const void **evicted);
/* Posting an event never runs a binding's code, since the engine may hold locks. A binding that has
 * called ef_events_bind must call ef_events_resolve after each call into the engine that posted
 * events without a place: it gives them their place and subject. */
void ef_events_bind(void (*waiting)(int more)); /* called when a thread has some (1) or none (-1) */
void ef_events_resolve(uint32_t place, uint32_t subject); /* of this thread */
bool ef_events_unresolved(void);                          /* whether this thread has some */
/* The next n steps of plans that this thread runs are recorded one by one, and its loops with their
 * iterations; each has the given weight. n 0: none any more. */
void ef_event_steps_record(int n, uint32_t weight);

/* Between begin and end all events are kept, the first 2^18 of them: for profiles. A second begin
 * starts again. Reading: as ef_events_read. */
enum { EF_EVENTS_MOST = 1 << 18 };
ef_status *ef_events_record_begin(void);
void ef_events_record_end(void);
size_t ef_events_recorded(ef_event *out, size_t max, uint64_t *dropped);
/* Whether pipelines that are opened from now on count and time their stages, which posts an event
 * for each stage when it is closed. `source` of such an event is its subject: the place of the
 * dataset it reads from. */
void ef_stages_watch(bool on);
void ef_stages_tell(void); /* posts what stages that are still open have done since */
/* Which lines of the program hold memory. While `place` is set, it is called for each block of
 * 4 KiB or more that is allocated, and the block counts for the place it returns until it is freed;
 * 0: unknown, then the block counts for its label. The engine may hold locks meanwhile, so `place`
 * must not call the engine. NULL: stops this; blocks in use stay counted. ef_holders_get: the
 * holders that have memory; a label has no place. At most 700 places are distinguished; the others
 * count as one holder without place and label. */
typedef struct ef_holder_info {
    uint32_t place;    /* 0: none */
    const char *label; /* lives as long as the process; NULL: none */
    int64_t bytes, blocks;
} ef_holder_info;
void ef_holders_watch(uint32_t (*place)(void));
int ef_holders_get(ef_holder_info *out, int max); /* how many there are */
/* Sets the line that made a dataset, unless it is set already; other tensors are ignored. */
void ef_dataset_place_set(const ef_tensor *dataset, uint32_t place);

/* Inside a trace callback: what differs from the call that was traced before, where it is not a
 * dtype or size. `note` and the values: as of the event of the trace. */
void ef_trace_explain(ef_event_reason reason, uint32_t note, int64_t before, int64_t now);

/* ---- which ops there are ----------------------------------------------------------------------
 */
typedef struct ef_arg_info { /* an input or output */
    const char *name;
    ef_dtype fixed;          /* its dtype, when no attribute decides it */
    const char *type_attr;   /* "T", or a list(type) such as "Tin"; NULL: fixed */
    const char *number_attr; /* "N" of N * T; NULL: one tensor (or a list by type_attr) */
    bool is_list;            /* any number of tensors */
} ef_arg_info;
typedef struct ef_attr_desc {
    const char *name, *type; /* type in TensorFlow's notation: "int >= 1", "list(int)", ... */
    ef_attr_kind kind;
    const char *value;         /* the default, in TensorFlow's notation; NULL: must be given */
    const char *const *choice; /* EF_ATTR_STRING with fixed choices: NULL-terminated; else NULL */
    uint64_t types;            /* EF_ATTR_TYPE(S): allowed dtypes, bit per ef_dtype; 0: any */
    uint64_t declared; /* further dtypes that a graph may have, although the op cannot run */
    bool inferred;     /* decided by the inputs (T, N): never needs to be given */
} ef_attr_desc;
typedef struct ef_op_desc {
    const char *name, *doc;
    int n_in, n_out, n_attrs;
    const ef_arg_info *in, *out;
    const ef_attr_desc
        *attr; /* in TensorFlow's order as far as we know it; inferred ones included */
    bool stateful, has_gradient;
    bool small; /* elementwise, with one or two inputs and no attributes: see ef_call_small */
} ef_op_desc;
int ef_op_count(void);
const ef_op *ef_op_at(int k);                      /* in order of name; NULL beyond the last */
const ef_op_desc *ef_op_describe(const ef_op *op); /* made once, never freed; NULL: no memory */
/* How many tensors each output has in a call with n_in inputs; count has room for all outputs. */
ef_status *ef_op_output_counts(const ef_op *op, const ef_attrs *attrs, int n_in, int *count);

/* ---- inside graphs ----------------------------------------------------------------------------
 * Nodes are numbered from 0 in the order they were made. */
typedef struct ef_node_desc {
    const ef_op *op;
    const ef_attrs *attrs; /* borrowed; may be NULL */
    const char *name;      /* borrowed; "" if it has none */
    int place;             /* see ef_graph_place_get; 0: unknown */
    int n_in, n_out, n_after;
    bool gone; /* removed, see ef_graph_forget */
} ef_node_desc;
ef_graph *ef_graph_hold(ef_graph *g); /* one more reference, for ef_graph_free */
int64_t ef_trace_bytes(void);     /* that all traces take, those of functions out of use included */
ef_graph *ef_graph_current(void); /* that this thread records into; NULL: none. Borrowed */
ef_graph *ef_tensor_graph(const ef_tensor *t, int *node, int *index); /* NULL: not symbolic */
int ef_graph_nodes(const ef_graph *g);
ef_status *ef_graph_node(const ef_graph *g, int node, ef_node_desc *out);
ef_status *ef_graph_node_in(ef_graph *g, int node, int k, ef_tensor *out);    /* symbolic */
ef_status *ef_graph_node_out(ef_graph *g, int node, int k, ef_tensor *out);   /* symbolic */
ef_status *ef_graph_node_after(const ef_graph *g, int node, int k, int *out); /* control input k */
/* The first node from number `from` on that uses output `index` of `node`; -1: none. */
int ef_graph_consumer(const ef_graph *g, int node, int index, int from);
int ef_graph_find_node(ef_graph *g, const char *name); /* -1: none */
ef_status *ef_attrs_read(const ef_op *op, const ef_attrs *a, const char *name, ef_attr_value *out);
/* As ef_attrs_read for a node; also attributes that its inputs decide (T, N, Tin). types: room for
 * such a list of dtypes. */
ef_status *ef_graph_node_attr(const ef_graph *g, int node, const char *name, ef_attr_value *out,
                              ef_dtype *types, int max_types);
/* The name of a node. Nodes added without one are named on demand as TensorFlow would, by their
 * default names in the order they were made: add, add_1, ... */
ef_status *ef_graph_node_name(ef_graph *g, int node, const char **name);
/* The default name of the next node added by this thread, instead of the name of its op. The text
 * must live as long as the process, as a literal does. */
void ef_graph_kind_next(const char *kind);
ef_status *ef_graph_rename(ef_graph *g, int32_t node, const char *name); /* made unique */
/* The static value of a symbolic tensor (a constant, or computed from shapes); a zeroed tensor if
 * it is not known. Partly known shapes: see ef_tensor_known_shape. */
ef_status *ef_tensor_known(const ef_tensor *t, ef_tensor *value);
/* The elements of a 1-D integer tensor that is used as a shape, as far as they are known (unknown
 * ones are EF_DIM_UNKNOWN). */
ef_status *ef_tensor_known_shape(const ef_tensor *t, ef_shape *out);
/* Refines the static shape of a tensor (tf.Tensor.set_shape); EF_INVALID if they disagree. */
ef_status *ef_tensor_set_shape(ef_tensor *t, const ef_shape *shape);
/* Makes size d of a symbolic tensor unknown to the program, where TensorFlow does not infer it. The
 * planner infers it all the same. */
void ef_tensor_forget_size(ef_tensor *t, int d);
/* Whether calls of this resource may wait for other threads: it is a queue. */
bool ef_resource_waits(const ef_tensor *handle);
/* The dtype and shape of the value of a resource's variable. */
ef_status *ef_resource_describe(const ef_tensor *handle, ef_dtype *dtype, ef_shape *shape);
/* Nodes added from now on run after these (tf.control_dependencies); n 0: after none. */
ef_status *ef_graph_after_set(ef_graph *g, const int *nodes, int n);
int ef_graph_after_get(const ef_graph *g, const int **nodes);
/* A function body: effects happen in program order and are kept though nothing uses them. */
void ef_graph_set_function(ef_graph *g, bool on);
/* *out: a finished function without the nodes that no output depends on, those with effects too. */
ef_status *ef_graph_fetched(const ef_graph *g, ef_graph **out);
bool ef_graph_is_function(const ef_graph *g);
/* Graphs that grow between runs. A binding reports each of its objects for a symbolic tensor when
 * it is created (1) or freed (-1). ef_graph_forget removes nodes made after ef_graph_set_trims that
 * cannot be reached from such an object, unless keep(user, node) is true. others: the references to
 * the graph that are not those of tensors; if there are more, nothing is removed. Returns how many
 * nodes were removed; a NoOp takes the place of each until a new node is put there. No thread may
 * run or read the graph meanwhile. */
void ef_tensor_seen(const ef_tensor *t, int by);
void ef_graph_set_trims(ef_graph *g);
int ef_graph_forget(ef_graph *g, int others, bool (*keep)(void *user, int node), void *user);
int ef_graph_last(const ef_graph *g);         /* the node made last */
uint64_t ef_graph_version(const ef_graph *g); /* goes up with every node */
uint64_t ef_graph_number(const ef_graph *g);  /* never used twice; 0: the graph was never entered */
/* Which lines of the user's program make nodes. The hook is called whenever a thread adds an op to
 * g, and returns a place that it has made with ef_graph_place: a line of the user's program, with
 * `up`, the place that called the function of that line. Equal places are the same place. 0:
 * unknown. An op that fails while a graph runs is reported with the place of its node. */
typedef int ef_place_fn(ef_graph *g);
void ef_set_place_hook(ef_place_fn *hook);
int ef_graph_place(ef_graph *g, const char *file, const char *function, int line, int up);
bool ef_graph_place_get(const ef_graph *g, int place, const char **file, const char **function,
                        int *line, int *up); /* false: there is no such place */
/* Leaves all graphs for a while, and pauses the tapes (tf.init_scope); resume puts them back.
 * Calls nest. */
typedef struct ef_suspension {
    void *state[4];
} ef_suspension;
void ef_suspend(ef_suspension *s);
void ef_resume(ef_suspension *s);
/* The placeholder of g that captures t, whatever t is: made if there is none. */
ef_status *ef_graph_import_tensor(ef_graph *g, const ef_tensor *t, ef_tensor *out);
/* Calls finished function g: eagerly, under a tape, or, while a graph is being built, as a node
 * ("PartitionedCall" or "StatefulPartitionedCall"). `in`: its parameters; captures are bound
 * automatically. */
ef_status *ef_graph_call(ef_graph *g, const ef_tensor *const *in, int n_in, ef_tensor *out,
                         int max_out, int *n_out);

/* How finished function g is compiled, as JSON for tools to print. `in`: its n_in parameters, whose
 * shapes decide the plan; NULL: only the shapes of the function's signature are known. runs (at
 * most 1000): how often the plan is run on `in`, after one more run to warm up; each step is timed,
 * and side effects happen. Release *text with ef_text_release. The fields:
 *   traced, graph   nodes as traced and as planned: id, op, in (node, output), out (dtype, shape),
 *                   attrs; where it is known name, file, line and function of the user's program;
 *                   functions (bodies and branches)
 *   passes          each pass that changed something: nodes before and after, ops gained or lost,
 *                   rewrites (rule, before, after)
 *   plan            slots (kind, bytes, offset in the arena, type); steps (node, op, way, in and
 *                   out slots, scratch bytes; fused: the nodes of a fused group; ns and least_ns:
 *                   median and least time; plans: those of loops and branches); bytes of the arena,
 *                   and the least that any layout would need */
ef_status *ef_graph_describe(ef_graph *g, const ef_tensor *const *in, int n_in, int runs,
                             char **text);
/* The subgraph of the nodes on the paths from `in` to `out`, all tensors of g, as a function: its
 * inputs are `in`, then `more`, other tensors of g that those nodes need. ef_graph_free frees
 * *part, ef_graph_part_end frees `more`. */
ef_status *ef_graph_part(ef_graph *g, const ef_tensor *const *in, int n_in,
                         const ef_tensor *const *out, int n_out, ef_graph **part, ef_tensor **more,
                         int *n_more);
void ef_graph_part_end(ef_tensor *more, int n_more);

/* A variable that takes values of a wider shape than its first (dims may be unknown). A symbolic
 * value gives the dtype alone: the variable is not initialised. */
ef_status *ef_variable_new_shaped(const ef_tensor *value, const ef_shape *shape, const char *name,
                                  ef_tensor *handle);

/* ---- sessions, by node -------------------------------------------------------------------------
 */
ef_status *ef_session_run_nodes(ef_session *s, const ef_tensor *feeds,
                                const ef_tensor *const *values, int n_feeds,
                                const ef_tensor *fetches, int n_fetches, const int *targets,
                                int n_targets, ef_tensor *out);

/* ---- functions ---------------------------------------------------------------------------------
 * Shapes and dtypes fixed beforehand (tf.function's input_signature): one trace serves all calls
 * that fit; others get EF_INVALID. */
ef_status *ef_function_set_signature(ef_function *f, const ef_dtype *dtype, const ef_shape *shape,
                                     int n);
/* What happens when a size changes. UNKNOWN, the default: in the new trace the size is unknown.
 * SEEN: the traced function sees the size of its call, and the trace serves other sizes unless the
 * function read it (ef_tensor_size_read). NEVER: there is another trace for each size. KEEP: as
 * UNKNOWN, but the traces that saw sizes are kept for calls with these sizes. */
typedef enum ef_relax { EF_RELAX_UNKNOWN, EF_RELAX_SEEN, EF_RELAX_NEVER, EF_RELAX_KEEP } ef_relax;
void ef_function_set_relax(ef_function *f, ef_relax how);
/* Sizes of an argument that are unknown in every trace, a bit each: one trace serves all of them.
 * For parts of a structure whose sizes are data, such as the number of values of a sparse tensor.
 */
ef_status *ef_function_open_sizes(ef_function *f, int argument, uint32_t dims);
/* The shape of a tensor in the call that is being traced; false: it is the same in every call. */
bool ef_tensor_shape_seen(const ef_tensor *t, ef_shape *out);
bool ef_tensor_size_named(const ef_tensor *t, int d); /* size d is a symbol, or linear in one */
/* The traced program reads size d of t (-1: all of them), as ef_tensor_shape_seen gives it. */
void ef_tensor_size_read(const ef_tensor *t, int d);
/* As ef_tensor_known, with the sizes of the call being traced; sizes that were used count as read.
 */
ef_status *ef_tensor_known_seen(const ef_tensor *t, ef_tensor *value);
/* Whether size i of a equals size j of b in this call, or either is unknown; sizes that had to be
 * compared count as read. */
bool ef_tensor_sizes_agree(const ef_tensor *a, int i, const ef_tensor *b, int j);
bool ef_tensor_same_size(const ef_tensor *a, int i, const ef_tensor *b, int j); /* in every call */
/* States that the n axes of t from `at` on have the sizes of these axes of `of`, in every call. */
ef_status *ef_tensor_set_sizes_like(ef_tensor *t, int at, const ef_tensor *of, const int *axes,
                                    int n);
/* Expresses size d of t as a times the size of axis *axis of an input of a graph being built, plus
 * b; false: that is not possible. */
bool ef_tensor_size_source(const ef_tensor *t, int d, ef_tensor *input, int *axis, int64_t *a,
                           int64_t *b);
bool ef_tensor_in_scope(const ef_tensor *t); /* a symbolic one, in the graph being built */
/* As ef_graph_placeholder, for a tensor that has the shape of `like` in every call. */
ef_status *ef_graph_placeholder_like(ef_graph *g, const ef_tensor *like, ef_tensor *out);
/* Inside a trace callback: attaches data of the binding to the trace being made, which ends it
 * (immediately outside of any trace, or if the trace fails). `ref` adds a holder, so that the data
 * may be given to a caller while another thread evicts the trace; `end` is called once per holder,
 * with no lock of the library held. ref NULL: the data is valid until the trace is evicted. */
void ef_trace_set_user(void *user, void (*ref)(void *), void (*end)(void *));
/* Inside a trace: sets its results, if they are more than max_out. It then returns 0 results. */
ef_status *ef_trace_give(const ef_tensor *out, int n);
/* As ef_function_call; *user is the data attached to the trace that ran (NULL: none), with one
 * reference for the caller, taken by `ref`. On failure *user is NULL. */
ef_status *ef_function_call_user(ef_function *f, const ef_tensor *const *in, int n_in,
                                 ef_tensor *out, int max_out, int *n_out, void **user);
/* The same without a reference for the caller: *user is valid until ef_trace_leave(*held), which
 * the caller calls with no lock held, since it may end the trace. On failure *held is NULL. */
typedef struct ef_trace ef_trace;
ef_status *ef_function_call_held(ef_function *f, const ef_tensor *const *in, int n_in,
                                 ef_tensor *out, int max_out, int *n_out, void **user,
                                 ef_trace **held);
void ef_trace_leave(ef_trace *held); /* NULL is fine */
/* The trace for arguments of these dtypes and shapes, found or made: its finished graph, which the
 * caller frees with ef_graph_free, and its user data with a reference, as in ef_function_call_user.
 * graph and user may be NULL. Shapes may have unknown dims. */
ef_status *ef_function_trace_for(ef_function *f, const ef_dtype *dtype, const ef_shape *shape,
                                 int n, ef_graph **graph, void **user);
/* The traces that f keeps, most recently used first: user data and graphs, each with a reference as
 * by ef_function_trace_for. At most `max`; returns how many. */
int ef_function_traces(ef_function *f, void **user, ef_graph **graph, int max);
/* Calls visit with the user data of each trace that only f holds, for a garbage collector. It is
 * called under a lock, so it must not call the library. */
void ef_function_own_traces(ef_function *f, void (*visit)(void *user, void *arg), void *arg);
/* The inputs of the trace: as ef_graph_node_out of its parameters and captures. */
int ef_graph_inputs(const ef_graph *g);
ef_status *ef_graph_input_at(ef_graph *g, int k, ef_tensor *out);
int ef_graph_outputs(const ef_graph *g);
ef_status *ef_graph_output_at(ef_graph *g, int k, ef_tensor *out);

/* ---- gradients ---------------------------------------------------------------------------------
 * d(sum of y*dy)/dx appended to the graph of y. dy NULL: ones; dy[k] NULL: ones for that one.
 * Results as ef_tape_gradients: out has room for 3n tensors. stop: tensors through which nothing
 * flows. */
ef_status *ef_graph_gradients_of(const ef_tensor *const *y, int n_y, const ef_tensor *const *dy,
                                 const ef_tensor *const *x, int n, const ef_tensor *const *stop,
                                 int n_stop, ef_tensor *out, bool *slices);
/* Tapes see ops recorded into graphs too: ef_tape_gradients of symbolic targets adds the gradients
 * to the graph of the first of them. Sources may be symbolic, or values and handles it captured;
 * ef_tape_watch takes symbolic tensors as well. */
bool ef_taping(void); /* whether a tape of this thread is recording */
/* Gives a value that can have a gradient a number, which its copies share: for a value that
 * outlives a trace in which it is used, so that a tape which watches it later finds it there. */
void ef_tape_name(ef_tensor *t);
void ef_tape_pause(ef_tape *t);  /* ops are not recorded from now on ... */
void ef_tape_resume(ef_tape *t); /* ... until it is resumed as often as it was paused */
void ef_tape_reset(ef_tape *t);  /* drops what was recorded and watched; keeps recording */
/* No more gradients will be asked of the tape: frees its records; ef_tape_watched still works. */
void ef_tape_finish(ef_tape *t);
/* false: trainable variables are not watched automatically when ops use them. Before the first op.
 */
void ef_tape_set_auto_watch(ef_tape *t, bool on);
/* true: gradients may be computed while the tape records, and differentiated by it again, so calls
 * of functions save values for one more order (default: as `persistent`). */
void ef_tape_set_again(ef_tape *t, bool on);
/* true: the tape only notes which variables are used; it records no ops. */
void ef_tape_set_quiet(ef_tape *t, bool on);
/* Variables (handles) the tape watches, in order of first use; out gets copies. NULL: count only.
 */
int ef_tape_watched(const ef_tape *t, ef_tensor *out, int max);
/* Whether tapes watch the variable automatically when an op uses it (default true). */
ef_status *ef_variable_set_trainable(const ef_tensor *handle, bool on);
bool ef_variable_trainable(const ef_tensor *handle);
/* A user's own gradient. Given d outputs (dtype 0 where none arrives) it sets d inputs (dtype 0:
 * none): din has room for 3 n_in tensors, and din[3k] is the gradient of input k, or, if din[3k+1]
 * and din[3k+2] are set as well, values, indices and dense shape of a sparse one. Eagerly it is
 * called when a tape computes gradients; while a graph is being built it is called once and
 * immediately, to trace the gradient as a function of its own, so that the graph can be
 * differentiated later. in: the tensors that the outputs depend on; out: the outputs, replaced by
 * tensors that have the gradient. end(user) is called once, when the callback is not needed any
 * more, also on failure. */
typedef ef_status *ef_custom_gradient(void *user, const ef_tensor *dout, int n_out, ef_tensor *din,
                                      int n_in);
ef_status *ef_custom_gradient_attach(const ef_tensor *const *in, int n_in, ef_tensor *out,
                                     int n_out, ef_custom_gradient *gradient, void *user,
                                     void (*end)(void *));

/* ---- random numbers ----------------------------------------------------------------------------
 * Restarts the sequences of all seeded random ops (tf.random.set_seed). */
void ef_random_reset(void);
/* Random ops in functions that this thread calls from now on continue the sequences of `scope`,
 * made by ef_random_scope_new. 0: the default ones. Returns the previous scope. */
uint64_t ef_random_scope_enter(uint64_t scope);
/* Requests a device for the ops that this thread runs and adds to graphs: its position in
 * ef_device_names plus 1; 0: none. Returns the previous request. */
int ef_device_want(int wanted);
int ef_device_wanted(void);
int ef_device_number(const char *name); /* -1: there is no such device */
/* How many copies there were since the process began: to devices, and to the host. */
void ef_device_copy_counts(uint64_t *to, uint64_t *from);
uint64_t ef_random_scope_new(void);

/* ---- calling back ------------------------------------------------------------------------------
 * An op that calls the program: eagerly when it is called, in a graph whenever the node runs
 * (tf.py_function). The callback is a resource that the graph captures, so it is freed with that
 * graph; a function that is used as a loop's body or a branch gets it as a further input,
 * like a variable. `end` is called exactly once, also on failure, with no lock of the library held.
 * The callback gets tensors it may keep copies of, sets out (zeroed before), and runs outside all
 * graphs and tapes, on the thread that runs the node. dtype: of the n_out outputs; shape: or NULL.
 */
typedef ef_status *ef_callback(void *user, const ef_tensor *in, int n_in, ef_tensor *out,
                               int n_out);
ef_status *ef_callback_call(ef_callback *fn, void *user, void (*end)(void *),
                            const ef_tensor *const *in, int n_in, const ef_dtype *dtype,
                            const ef_shape *shape, bool stateful, ef_tensor *out, int n_out);
/* The callback as a resource, for the ops that take one as their first input. */
ef_status *ef_callback_handle(ef_callback *fn, void *user, void (*end)(void *), ef_tensor *handle);

/* ---- datasets ----------------------------------------------------------------------------------
 * The next element of an iterator, as IteratorGetNext gives it; *n_out -1: there is none. */
ef_status *ef_iterator_next(const ef_tensor *handle, ef_tensor *out, int max_out, int *n_out);
int ef_iterator_width(const ef_tensor *handle); /* tensors of an element; -1: it is no iterator */
/* The datasets behind a variant tensor as JSON: op, element (dtype and shape of
 * each component), arguments (scalars by name), functions (by attribute: the ops they consist of),
 * sources (the datasets it reads, in the same form). Release *text with ef_text_release. */
ef_status *ef_dataset_describe(const ef_tensor *dataset, char **text);
/* Whether this thread is making an element of a dataset: an exception in a callback is then the
 * error of that element, which another thread may receive, or none. */
bool ef_in_pipeline(void);
/* What the stages of the latest iteration over a dataset did: rates, waiting, threads, bytes and
 * decisions, as lines of text, to be freed by ef_dataset_explain_free. *out NULL: none of the last
 * few iterations was over this dataset. */
ef_status *ef_dataset_explain(const ef_tensor *dataset, char **out);
void ef_dataset_explain_free(char *text); /* NULL is fine */
/* Before an interpreter ends: tells the threads that make elements ahead to end. */
void ef_pipelines_stop(void);

/* ---- files -------------------------------------------------------------------------------------
 * Names are local paths, also as file:///path, and need no NUL at the end. */
/* Calls `each` for every path that matches the pattern (`*`, `?`, `[...]`), in order of name. */
ef_status *ef_files_match(const char *pattern, size_t n, void (*each)(void *user, const char *path),
                          void *user);
/* Calls `each` for every tensor of a checkpoint, in order of name. dtype: TensorFlow's number. A
 * shape with more than EF_MAX_RANK axes is cut there. */
typedef void ef_checkpoint_fn(void *user, const char *name, size_t n, int dtype,
                              const ef_shape *shape);
ef_status *ef_checkpoint_entries(const char *prefix, size_t n, ef_checkpoint_fn *each, void *user);
/* Reads records one after the other; one thread at a time. */
typedef struct ef_reader ef_reader;
/* A TFRecord file. compression: "", "GZIP" or "ZLIB". A file that is cut inside a record's length
 * or the length's checksum ends before that record, without an error. */
ef_status *ef_record_reader_open(const char *name, size_t n, const char *compression,
                                 ef_reader **out);
/* The next record, valid until the next call; *end: there is none. After a failure the reader can
 * only be moved (ef_reader_seek) or closed. */
ef_status *ef_reader_next(ef_reader *r, const char **at, size_t *n, bool *end);
uint64_t ef_reader_offset(const ef_reader *r); /* where the next record begins, decompressed */
ef_status *ef_reader_seek(ef_reader *r, uint64_t offset); /* an offset from ef_reader_offset */
void ef_reader_close(ef_reader *r);                       /* NULL is fine */
/* Writes a TFRecord file; one thread at a time. The numbers are zlib's, and are used only with
 * compression. window_bits 0: the largest. */
typedef struct ef_record_options {
    const char *compression;
    int flush_mode, window_bits, level, method, mem_level, strategy;
} ef_record_options;
typedef struct ef_record_writer ef_record_writer;
ef_status *ef_record_writer_open(const char *name, size_t n, const ef_record_options *options,
                                 ef_record_writer **out);
ef_status *ef_record_writer_write(ef_record_writer *w, const char *bytes, size_t n);
ef_status *ef_record_writer_flush(ef_record_writer *w);
ef_status *ef_record_writer_close(ef_record_writer *w); /* always ends w; NULL is fine */

#ifdef __cplusplus
}
#endif
#endif
