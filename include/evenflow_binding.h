/* What a language binding needs beyond evenflow.h: the op table, a look inside graphs, functions
 * whose traces carry the binding's own data, tapes that look into traces, custom gradients. The
 * conventions of evenflow.h hold. */
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
/* Whether the shapes of a call did not fit its graph, so that nothing of it was run. */
bool ef_status_before_run(const ef_status *s);
/* Whether the elements of t are there: reading them runs no deferred work. */
bool ef_tensor_ready(const ef_tensor *t);
/* Whether t is the only reference to its memory, which then may be written to. */
bool ef_tensor_sole(const ef_tensor *t);
/* Called around running deferred work and waiting for another thread that runs it. A binding gives
 * up its interpreter's lock there, since that other thread may need it. begin may return NULL: end
 * is not called then. */
void ef_blocking_hooks(void *(*begin)(void), void (*end)(void *state));
/* Takes over src, which is zeroed. */
void ef_tensor_take(ef_tensor *dst, ef_tensor *src);

/* ---- interrupting -----------------------------------------------------------------------------
 * `ask` is called by a thread that runs something, soon after the pulse moved: a status ends the
 * run. It may run user code. The pulse moves at ef_pulse_send, which a signal handler may call, and
 * every 20 ms while `calls` says that a call is running. When calls have ceased for a while the
 * pulse stops, which `stopped` is told; then the next call wakes it by ef_pulse_wake. */
typedef struct ef_pulse_watch {
    ef_status *(*ask)(void);
    unsigned (*calls)(bool *running); /* a number that changes with every call; any thread */
    void (*stopped)(bool yes);        /* any thread */
} ef_pulse_watch;
void ef_pulse_watch_set(const ef_pulse_watch *watch); /* once; lives as long as the process */
void ef_pulse_wake(void);
void ef_pulse_send(void);

/* ---- events ------------------------------------------------------------------------------------
 * Posting them. Places are entries of a table of 4096; the one used least makes room. */
typedef struct ef_event_new {
    ef_event_kind kind;
    ef_event_reason reason;
    uint64_t began; /* ef_event_clock() when it began; 0: it has no duration */
    uint64_t ended; /* likewise; 0: when it is posted */
    uint32_t place; /* 0: where this thread's program is, which is settled later */
    uint32_t subject;
    uint32_t note;
    uint32_t weight; /* 0: 1 */
    bool nowhere;    /* no line of the program caused it */
    int64_t value[3];
} ef_event_new;
void ef_event_post(const ef_event_new *e);
/* The same without an entry in the ring, for what is too frequent for it. */
void ef_event_add(const ef_event_new *e);
uint64_t ef_event_clock(void); /* the processor's ticks, where it counts them evenly */
/* For what happens on every call and is counted by the binding. */
void ef_event_count_add(ef_event_kind kind, uint64_t n);
/* A text for an event, shortened to 119 bytes. The last 512 are kept. */
uint32_t ef_event_note(const char *text);

/* The place of (owner, at), where `owner` is an object of the binding that stands for a piece of
 * code and `at` tells instructions apart. 0: it is not in the table. */
uint32_t ef_site_find(const void *owner, int at);
/* Puts it there. The texts must live as long as the owner. *evicted: an owner that is not in the
 * table for another place any more, which the caller releases; or NULL. */
uint32_t ef_site_add(const void *owner, int at, const char *file, const char *function, int line,
                     const void **evicted);
/* The place of texts, which are copied: for lines that only a graph remembers. evicted: as above;
 * if it is NULL, no place that has an owner makes room, and 0 is returned where all of them have.
 */
uint32_t ef_site_named(const char *file, const char *function, int line, const void **evicted);
/* Posting an event never runs a binding's code: the engine may hold locks. A binding that has
 * called ef_events_bind gives the events that the engine posted meanwhile their place and subject,
 * by calling ef_events_settle after each call into the engine that left some waiting. */
void ef_events_bind(void (*waiting)(int more)); /* told when a thread has some (1), or none (-1) */
void ef_events_settle(uint32_t place, uint32_t subject); /* of this thread */
bool ef_events_unsettled(void);                          /* whether this thread has some */
/* The next n steps of plans that this thread runs are recorded one by one, and its loops with their
 * iterations; each stands for `weight` of them. n 0: no more. */
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
/* Who holds memory, by line. While `place` is set, a block of 4 KiB or more counts for the place it
 * returns when the block is handed out, until the block comes back; 0: unknown, then its label
 * counts. The engine may hold locks when it calls it, so it must not call the engine. NULL: no
 * more; what is held by then stays counted. ef_holders_get: the holders that hold something; a
 * label has no place. At most 700 places are told apart; the others count as one, without either.
 */
typedef struct ef_holder_info {
    uint32_t place;    /* 0: none */
    const char *label; /* valid for ever; NULL: none */
    int64_t bytes, blocks;
} ef_holder_info;
void ef_holders_watch(uint32_t (*place)(void));
int ef_holders_get(ef_holder_info *out, int max); /* how many there are */
/* Names the line that made a dataset, unless one was named before; no other tensor has one. */
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
    bool is_list;            /* stands for any number of tensors */
} ef_arg_info;
typedef struct ef_attr_desc {
    const char *name, *type; /* type in TensorFlow's notation: "int >= 1", "list(int)", ... */
    ef_attr_kind kind;
    const char *value;         /* the default, in TensorFlow's notation; NULL: must be given */
    const char *const *choice; /* EF_ATTR_STRING with fixed choices: NULL-terminated; else NULL */
    uint64_t types;            /* EF_ATTR_TYPE(S): allowed dtypes, bit per ef_dtype; 0: any */
    uint64_t declared; /* more that a graph names without a complaint, until the op is to run */
    bool inferred;     /* decided by the inputs (T, N): never needs to be given */
} ef_attr_desc;
typedef struct ef_op_desc {
    const char *name, *doc;
    int n_in, n_out, n_attrs;
    const ef_arg_info *in, *out;
    const ef_attr_desc
        *attr; /* in TensorFlow's order as far as we know it; inferred ones included */
    bool stateful, has_gradient;
} ef_op_desc;
int ef_op_count(void);
const ef_op *ef_op_at(int k);                      /* in order of name; NULL beyond the last */
const ef_op_desc *ef_op_describe(const ef_op *op); /* made once, lives for ever; NULL: no memory */
/* How many tensors stand for each output of a call with n_in inputs; count has room for all. */
ef_status *ef_op_output_counts(const ef_op *op, const ef_attrs *attrs, int n_in, int *count);

/* ---- inside graphs ----------------------------------------------------------------------------
 * Nodes are numbered from 0 in the order they were made. */
typedef struct ef_node_desc {
    const ef_op *op;
    const ef_attrs *attrs; /* borrowed; may be NULL */
    const char *name;      /* borrowed; "" if it has none */
    int place;             /* see ef_graph_place_get; 0: unknown */
    int n_in, n_out, n_after;
    bool gone; /* forgotten, see ef_graph_forget */
} ef_node_desc;
ef_graph *ef_graph_hold(ef_graph *g); /* one more reference, for ef_graph_free */
ef_graph *ef_graph_current(void);     /* that this thread records into; NULL: none. Borrowed */
ef_graph *ef_tensor_graph(const ef_tensor *t, int *node, int *index); /* NULL: not symbolic */
int ef_graph_nodes(const ef_graph *g);
ef_status *ef_graph_node(const ef_graph *g, int node, ef_node_desc *out);
ef_status *ef_graph_node_in(ef_graph *g, int node, int k, ef_tensor *out);    /* symbolic */
ef_status *ef_graph_node_out(ef_graph *g, int node, int k, ef_tensor *out);   /* symbolic */
ef_status *ef_graph_node_after(const ef_graph *g, int node, int k, int *out); /* control input k */
int ef_graph_find_node(ef_graph *g, const char *name);                        /* -1: none */
ef_status *ef_attrs_read(const ef_op *op, const ef_attrs *a, const char *name, ef_attr_value *out);
/* As ef_attrs_read for a node; also what its inputs decide (T, N, Tin). types: room for a list of
 * dtypes that is made up here. */
ef_status *ef_graph_node_attr(const ef_graph *g, int node, const char *name, ef_attr_value *out,
                              ef_dtype *types, int max_types);
/* The name of a node. Nodes recorded without one are named on demand as TensorFlow would, by their
 * kind in the order they were made: add, add_1, ... */
ef_status *ef_graph_node_name(ef_graph *g, int node, const char **name);
/* The kind of the next node recorded by this thread, if it gets no name; without one it is its op's
 * name. The text must live as long as the process, as a literal does. */
void ef_graph_kind_next(const char *kind);
ef_status *ef_graph_rename(ef_graph *g, int32_t node, const char *name); /* made unique */
/* The value a symbolic tensor is known to have (a constant, or what follows from shapes); a zeroed
 * tensor if it is not known. Partly known shapes: see ef_tensor_known_shape. */
ef_status *ef_tensor_known(const ef_tensor *t, ef_tensor *value);
/* The shape a 1-D integer tensor spells, as far as known (unknown entries EF_DIM_UNKNOWN). */
ef_status *ef_tensor_known_shape(const ef_tensor *t, ef_shape *out);
/* Narrows what is known of a tensor's shape (tf.Tensor.set_shape); EF_INVALID if they disagree. */
ef_status *ef_tensor_set_shape(ef_tensor *t, const ef_shape *shape);
/* Whether calls of this resource may wait for other threads: it is a queue. */
bool ef_resource_waits(const ef_tensor *handle);
/* Behind a resource: dtype and shape of the variable's value. */
ef_status *ef_resource_describe(const ef_tensor *handle, ef_dtype *dtype, ef_shape *shape);
/* Nodes added from now on run after these (tf.control_dependencies); n 0: after none. */
ef_status *ef_graph_after_set(ef_graph *g, const int *nodes, int n);
int ef_graph_after_get(const ef_graph *g, const int **nodes);
/* A function body: effects happen in program order and are kept though nothing uses them. */
void ef_graph_set_function(ef_graph *g, bool on);
bool ef_graph_is_function(const ef_graph *g);
/* Graphs that grow between runs. A binding reports each of its objects for a symbolic tensor when
 * it is created (1) or freed (-1). ef_graph_forget removes nodes made after ef_graph_set_trims that
 * no such object leads to, unless keep(user, node) is true. others: the references to the graph
 * that are not those of tensors; if there are more, nothing is removed. Returns how many nodes
 * were; a NoOp takes the place of each until it is used again. No thread may run or read the graph
 * meanwhile. */
void ef_tensor_seen(const ef_tensor *t, int by);
void ef_graph_set_trims(ef_graph *g);
int ef_graph_forget(ef_graph *g, int others, bool (*keep)(void *user, int node), void *user);
int ef_graph_last(const ef_graph *g);         /* the node made last */
uint64_t ef_graph_version(const ef_graph *g); /* grows with every node */
uint64_t ef_graph_number(const ef_graph *g);  /* no other graph ever has it; 0: never entered */
/* Where the user's program makes nodes. The hook is asked whenever a thread records an op into g,
 * and answers with a place that it has made of g's: a line of the user's, and in `up` the place
 * that called the function it stands in. Places are few: an equal one is found again. 0: unknown.
 * An op that fails while a graph runs is reported with the place of its node. */
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
/* The capture that stands for t in g, whatever t is: made if there is none. */
ef_status *ef_graph_import_tensor(ef_graph *g, const ef_tensor *t, ef_tensor *out);
/* Calls finished function g: eagerly, as a node when recording (op "PartitionedCall" or
 * "StatefulPartitionedCall"), under a tape. `in`: its parameters; captures are bound by themselves.
 */
ef_status *ef_graph_call(ef_graph *g, const ef_tensor *const *in, int n_in, ef_tensor *out,
                         int max_out, int *n_out);

/* What the engine makes of finished function g, as JSON for tools to print. `in`: its parameters,
 * whose shapes decide the plan, n_in of them; NULL: only what the function's signature says is
 * known. runs (at most 1000): the plan is run so often on `in`, once more to warm up, and each step
 * is timed; effects happen. Release *text with ef_text_release. The fields:
 *   traced, graph   nodes as traced and as planned: id, op, in (node, output), out (dtype, shape),
 *                   attrs; where it is known name, file, line and function of the user's program;
 *                   functions (bodies and branches)
 *   passes          each pass that changed something: nodes before and after, ops gained or lost,
 *                   rewrites (rule, before, after)
 *   plan            slots (kind, bytes, offset in the arena, type); steps (node, op, way, in and
 * out slots, scratch bytes; fused: the nodes of a fused group; ns and least_ns: median and least
 * time; plans: those of loops and branches); bytes of the arena, and the least that any layout
 * would need */
ef_status *ef_graph_describe(ef_graph *g, const ef_tensor *const *in, int n_in, int runs,
                             char **text);
/* The nodes on the way from `in` to `out`, all tensors of g, as a function of their own: its inputs
 * are `in`, then `more`, tensors of g that those nodes need beside. *part ends with ef_graph_free,
 * `more` with ef_graph_part_end. */
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
/* What becomes of a size that changes. By default it is unknown to the function that is traced
 * anew; or it still sees the size of the call, and the trace holds for other sizes unless it read
 * it (ef_tensor_size_read); or there is another trace for each size; or it is unknown, and the
 * traces that saw sizes are kept for calls with these sizes. */
typedef enum ef_relax { EF_RELAX_UNKNOWN, EF_RELAX_SEEN, EF_RELAX_NEVER, EF_RELAX_KEEP } ef_relax;
void ef_function_set_relax(ef_function *f, ef_relax how);
/* Sizes of an argument that no trace knows, a bit each: one trace serves all of them. For parts of
 * a structure whose sizes are data, as the number of values of a sparse tensor is. */
ef_status *ef_function_open_sizes(ef_function *f, int argument, uint32_t dims);
/* The shape of a tensor in the call that is being traced; false: it is the same in every call. */
bool ef_tensor_shape_seen(const ef_tensor *t, ef_shape *out);
bool ef_tensor_size_named(const ef_tensor *t, int d); /* size d is a symbol, or linear in one */
/* The program reads size d of t (-1: all of them) as given by that. */
void ef_tensor_size_read(const ef_tensor *t, int d);
/* As ef_tensor_known, by the sizes of that call; what depends on them counts as read. */
ef_status *ef_tensor_known_seen(const ef_tensor *t, ef_tensor *value);
/* Whether size i of a is size j of b in this call, or either is unknown; what had to be looked at
 * to say so counts as read. */
bool ef_tensor_sizes_agree(const ef_tensor *a, int i, const ef_tensor *b, int j);
bool ef_tensor_same_size(const ef_tensor *a, int i, const ef_tensor *b, int j); /* in every call */
/* Axes from `at` on of t have the sizes that these axes of another tensor have, in every call. */
ef_status *ef_tensor_set_sizes_like(ef_tensor *t, int at, const ef_tensor *of, const int *axes,
                                    int n);
/* Size d of t as a times a size of an input of a graph being built, plus b; false: it is no such.
 */
bool ef_tensor_size_source(const ef_tensor *t, int d, ef_tensor *input, int *axis, int64_t *a,
                           int64_t *b);
bool ef_tensor_in_scope(const ef_tensor *t); /* a symbolic one, in the graph being built */
/* As ef_graph_placeholder, for a tensor that has the shape of `like` in every call. */
ef_status *ef_graph_placeholder_like(ef_graph *g, const ef_tensor *like, ef_tensor *out);
/* Inside a trace callback: data of the binding kept with the trace being made, ended with it (at
 * once outside of any trace, or if the trace fails). `ref` adds a holder, so that the data may be
 * handed out though another thread makes the function forget the trace; `end` is called once per
 * holder, with no lock of the library held. ref NULL: what is handed
 * out is valid until the function forgets the trace. */
void ef_trace_set_user(void *user, void (*ref)(void *), void (*end)(void *));
/* Inside a trace: its results, when they are more than it has room for. It then returns 0 of them.
 */
ef_status *ef_trace_give(const ef_tensor *out, int n);
/* As ef_function_call; *user is what that trace was given (NULL: nothing), with one reference for
 * the caller taken by `ref`. On failure *user is NULL. */
ef_status *ef_function_call_user(ef_function *f, const ef_tensor *const *in, int n_in,
                                 ef_tensor *out, int max_out, int *n_out, void **user);
/* The trace for arguments of these dtypes and shapes, found or made: its finished graph, to be
 * ended with ef_graph_free, and its user data with a reference, as by ef_function_call_user. Either
 * may be NULL. Shapes may have unknown dims. */
ef_status *ef_function_trace_for(ef_function *f, const ef_dtype *dtype, const ef_shape *shape,
                                 int n, ef_graph **graph, void **user);
/* The traces that f keeps, most recently used first: user data and graphs, each with a reference as
 * by ef_function_trace_for. At most `max`; returns how many. */
int ef_function_traces(ef_function *f, void **user, ef_graph **graph, int max);
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
/* Gives a value that can have a gradient a number, which its copies share: for one that outlives a
 * trace it is used in, so that a tape that watches it later knows it there. */
void ef_tape_name(ef_tensor *t);
void ef_tape_pause(ef_tape *t);  /* ops from now on are not its business ... */
void ef_tape_resume(ef_tape *t); /* ... until resumed as often as it was paused */
void ef_tape_reset(ef_tape *t);  /* drops what was recorded and watched; keeps recording */
/* The tape has given its last answer: only what ef_tape_watched tells stays. */
void ef_tape_finish(ef_tape *t);
/* false: trainable variables are not watched by being used. Before the first op. */
void ef_tape_set_auto_watch(ef_tape *t, bool on);
/* true: the tape's own gradients may be asked for while it records, so calls of functions are made
 * ready for one more order (default: as `persistent`). */
void ef_tape_set_again(ef_tape *t, bool on);
/* true: the tape notes which variables are used; for its sake alone nothing is recorded. */
void ef_tape_set_quiet(ef_tape *t, bool on);
/* Variables (handles) the tape watches, in order of first use; out gets copies. NULL: count only.
 */
int ef_tape_watched(const ef_tape *t, ef_tensor *out, int max);
/* Whether a new variable is watched by tapes by being used (default true). */
ef_status *ef_variable_set_trainable(const ef_tensor *handle, bool on);
bool ef_variable_trainable(const ef_tensor *handle);
/* A user's own gradient. Given d outputs (dtype 0 where none arrives) it sets d inputs (dtype 0:
 * none): din has room for 3 n_in tensors, and din[3k] is the gradient of input k, or, if din[3k+1]
 * and din[3k+2] are set as well, values, indices and dense shape of a sparse one. Called by tape
 * gradients; when recording, called once at once to write the gradient down as a function of its
 * own, so that graphs can be differentiated later. in: what the outputs depend on; out: the
 * outputs, replaced by ones that carry the gradient. end(user) is called once, when the callback is
 * needed no more, also on failure. */
typedef ef_status *ef_custom_gradient(void *user, const ef_tensor *dout, int n_out, ef_tensor *din,
                                      int n_in);
ef_status *ef_custom_gradient_attach(const ef_tensor *const *in, int n_in, ef_tensor *out,
                                     int n_out, ef_custom_gradient *gradient, void *user,
                                     void (*end)(void *));

/* ---- random numbers ----------------------------------------------------------------------------
 * Positions of seeded random ops begin anew (tf.random.set_seed). */
void ef_random_reset(void);
/* Functions called from now on by this thread have positions of their own: those of `scope`, made
 * by ef_random_scope_new. 0: the usual ones. Returns the scope before. */
uint64_t ef_random_scope_enter(uint64_t scope);
/* Asks for a device for what this thread runs and adds to graphs: its number plus 1, as the
 * position in ef_device_names; 0: for none. Returns what was asked for before. */
int ef_device_want(int wanted);
int ef_device_wanted(void);
int ef_device_number(const char *name); /* -1: there is no such device */
/* Where elements were copied since the process began: to devices, to the host. */
void ef_device_copy_counts(uint64_t *to, uint64_t *from);
uint64_t ef_random_scope_new(void);

/* ---- calling back ------------------------------------------------------------------------------
 * An op that calls the program: eagerly when it is called, in a graph whenever the node runs
 * (tf.py_function). The callback is a resource that the graph captures, so it ends with the graph
 * that holds it; a function to be used as a loop's body or a branch gets it as a further input,
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
/* Whether this thread is making an element of a dataset: what a callback raises then is the error
 * of that element, which another thread may receive, or nobody. */
bool ef_in_pipeline(void);
/* What the stages of the latest iteration over a dataset did: rates, waiting, threads, bytes and
 * decisions, as lines of text, to be freed by ef_dataset_explain_free. *out NULL: none of the last
 * few iterations was over this dataset. */
ef_status *ef_dataset_explain(const ef_tensor *dataset, char **out);
void ef_dataset_explain_free(char *text); /* NULL is fine */
/* Before an interpreter ends: threads that make elements ahead end soon, and make no more. */
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
/* The next record, until the next call; *end: there is none. After a failure the reader can only be
 * moved or closed. */
ef_status *ef_reader_next(ef_reader *r, const char **at, size_t *n, bool *end);
uint64_t ef_reader_offset(const ef_reader *r); /* where the next record begins, decompressed */
ef_status *ef_reader_seek(ef_reader *r, uint64_t offset); /* one that ef_reader_offset gave */
void ef_reader_close(ef_reader *r);                       /* NULL is fine */
/* Writes a TFRecord file; one thread at a time. The numbers are zlib's, and matter only if there is
 * compression. window_bits 0: the most. */
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
