/* A plan: an optimised function prepared for given input shapes. It is a flat list of steps over
 * slots; where each value lives is decided here, once. Plans are immutable and shared by threads;
 * the state of a running call is a frame.
 *
 * A slot is of one kind:
 *   input   a tensor that the caller passes (borrowed while the call runs)
 *   const   a value known when planning
 *   arena   bytes at a fixed offset of the call's arena
 *   heap    a counted tensor made during the call: outputs, values of unknown shape, managed types
 *   view    another slot's bytes under another shape
 *   given   memory of the caller's choice (outputs of loop bodies and branches) */
#ifndef EF_PLAN_PLAN_H
#define EF_PLAN_PLAN_H
#include "device/device.h"
#include "graph/graph.h"

typedef enum ef_slot_kind {
    EF_SLOT_NONE,
    EF_SLOT_INPUT,
    EF_SLOT_CONST,
    EF_SLOT_ARENA,
    EF_SLOT_HEAP,
    EF_SLOT_VIEW,
    EF_SLOT_GIVEN
} ef_slot_kind;

typedef struct ef_slot {
    ef_dtype dtype;
    ef_shape shape;
    ef_slot_kind kind;
    bool fixed; /* shape known */
    bool owned; /* heap, or an input the frame owns: the frame releases it */
    uint8_t device;
    size_t bytes, offset;
    const ef_tensor *value; /* const */
} ef_slot;

typedef struct ef_plan ef_plan;
typedef struct ef_frame ef_frame;
typedef struct ef_step ef_step;

/* Steps with state in each frame: `make` sets call->state to the frame's own state (sub-frames of a
 * loop), `rebind` is called when its scratch memory has moved, `end` releases it. `inner` is for
 * printing: sub-plan k, and in *name its role; NULL: there are no more. */
typedef struct ef_step_kind {
    ef_status *(*make)(ef_frame *f, ef_step *s, const void *plan_state);
    void (*rebind)(ef_step *s);
    void (*end)(ef_step *s);
    const ef_plan *(*inner)(const void *plan_state, int k, const char **name);
} ef_step_kind;

struct ef_step { /* in a frame: ready to run */
    ef_kernel_fn *run;
    ef_call call;
    int32_t n_alloc, n_drop;
    const int32_t *alloc, *drop; /* slots to allocate before and to release after */
    const ef_step_kind *kind;    /* NULL: an ordinary kernel */
    int32_t node;                /* of the plan's graph, for messages; -1: none */
};

typedef struct ef_plan_step { /* in a plan: a recipe */
    ef_kernel_fn *run;
    const ef_op *op;
    const void *fields;
    int32_t n_in, n_out, n_alloc, n_drop, node;
    int32_t *in, *out, *alloc, *drop; /* slots */
    uint32_t dying;                   /* inputs that are dropped after it */
    uint32_t unread;                  /* outputs that nobody reads */
    size_t scratch_bytes, scratch_offset;
    void *state;        /* shared by all frames: a primitive, a tile program, sub-plans */
    size_t state_bytes; /* of sub-plans */
    ef_release_fn *release;
    const ef_step_kind *kind;
} ef_plan_step;

typedef struct ef_device_constant { /* a constant on a device */
    struct ef_device_constant *next;
    ef_tensor tensor;
} ef_device_constant;

typedef struct ef_plan_out { /* where output k comes from, when outputs are given memory */
    int32_t slot;
    bool direct; /* the slot is bound to the given memory; else copied or moved from the slot */
} ef_plan_out;

struct ef_plan {
    ef_arena memory;
    const ef_graph *graph; /* kept alive by whoever owns the plan */
    ef_value_owner values;
    ef_slot *slot;
    ef_plan_step *step;
    ef_plan_out *out;
    int32_t *input;    /* slot of input k; -1: not used */
    int32_t *leftover; /* owned slots to release once the outputs are taken */
    int32_t n_leftover;
    int32_t n_slots, n_steps, n_inputs, n_outputs;
    size_t arena_bytes, least_bytes; /* least: a lower bound of any layout */
    bool outputs_given;
    bool placed;         /* it uses devices other than the host: place.c */
    int32_t n_copies[3]; /* copies between devices in one run, by ef_copy_way */
    struct ef_device_constant *device_constants;
    const struct ef_loop_shares *later; /* loop_shares.h; NULL: every step runs in its turn */
    ef_frame *frames;                   /* idle ones; guarded by the owner */
    int n_frames;
};

typedef struct ef_plan_options {
    int wanted; /* device for nodes that ask for none, plus 1; 0: where their inputs are */
    const uint8_t *in_device; /* of input k; of a handle: its variable's; NULL: the host */
    bool outputs_given;       /* plain outputs of known shape go to memory bound by the caller */
    bool host_outputs;        /* outputs must be on the host */
    const uint8_t
        *own_inputs; /* input k is moved into the frame, which drops it after its last use */
    bool repeated;   /* a loop's body: output k is input k of the next run, moved if own_inputs */
} ef_plan_options;

/* in: the facts of the inputs (with concrete shapes where these are known). */
ef_status *ef_plan_make(const ef_graph *g, const ef_fact *in, const ef_plan_options *options,
                        ef_plan **out);
void ef_plan_free(ef_plan *p); /* and its idle frames; NULL is fine */
size_t ef_plan_bytes(const ef_plan *p);
const ef_fact *ef_plan_fact(const ef_plan *p, ef_edge e);
/* How a step is run: "fused", "shares of rows", "shares of rows of several iterations", "view",
 * "shape at run time", "control flow", "compiled loop" or "kernel". */
const char *ef_plan_step_way(const ef_plan *p, const ef_plan_step *t);
/* A line for each step and where it runs; copies are steps. ef_text_release frees it. */
ef_status *ef_plan_text(const ef_plan *p, char **out);

struct ef_frame {
    ef_frame *next; /* in the plan's list of idle frames */
    const ef_plan *plan;
    ef_arena memory;
    ef_tensor *slot;
    ef_step *step;
    char *base;          /* of the arena it is bound to; NULL: none yet */
    ef_context *context; /* that its steps run in */
    ef_batch *batch;     /* by device: the work of a plan that is placed; else NULL */
};
ef_status *ef_frame_make(const ef_plan *p, ef_frame **out);
void ef_frame_free(ef_frame *f);
/* Sets the arena and the context of the next runs; cheap when they are the same as before. */
void ef_frame_bind(ef_frame *f, ef_context *context, char *arena);
void ef_frame_input(ef_frame *f, int k, const ef_tensor *t); /* borrowed until the run is over */
void ef_frame_input_take(ef_frame *f, int k, ef_tensor *t);  /* for own_inputs: moved */
void ef_frame_give(ef_frame *f, int k, void *data);          /* memory of output k (direct ones) */
ef_status *ef_frame_run(ef_frame *f); /* the steps; on failure owned slots are dropped */
/* The same; ticks[k] is how long step k took, by ef_event_clock. */
ef_status *ef_frame_run_timed(ef_frame *f, uint64_t *ticks);
/* After a run: output k as a tensor of its own (moved or counted; borrowed bytes are copied). Once
 * all are taken, ef_frame_finish releases what only they needed. */
ef_status *ef_frame_take(ef_frame *f, int k, ef_tensor *out);
void ef_frame_finish(ef_frame *f);
void ef_frame_wait(ef_frame *f);  /* place.c: waits until no device works for the frame */
void ef_frame_clear(ef_frame *f); /* releases what is still owned */
#endif
