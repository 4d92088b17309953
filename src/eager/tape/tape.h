/* The gradient tape. A tape owns its records; they are reference-counted, because tapes that record
 * at the same time share them. A value is identified by a number: all copies of a tensor share it
 * through their mark (tensor/mark.h), and a variable has one of its own. A tape knows the numbers
 * that it watches and those of its records' outputs; it ignores an op if it knows none of its
 * inputs.
 *
 * Ops that are added to a graph need no records, because the graph has them. There a tape keeps the
 * spans of epochs in which it was recording, each node has an epoch, and a symbolic value is
 * identified by its edge. */
#ifndef EF_EAGER_TAPE_H
#define EF_EAGER_TAPE_H
#include "eager/function_call.h"
#include "evenflow_binding.h"

typedef struct ef_tape_value { /* an input or output of a record */
    uint64_t id;               /* 0: nothing flows here */
    ef_mark *mark;             /* counted; NULL: a variable's number, or none */
    ef_tensor tensor;          /* has no mark; no data if the gradient reads dtype and shape only */
} ef_tape_value;

typedef struct ef_tape_record {
    atomic_int refs;       /* of tapes, and of walks under way */
    size_t bytes;          /* of the piece it lies in */
    const ef_op *op;       /* or NULL for a call or a custom gradient */
    const ef_attrs *attrs; /* counted */
    ef_derivative *call;   /* counted */
    ef_custom_gradient *custom;
    void *user;
    void (*user_end)(void *user);
    int n_in, n_out;
    ef_tape_value *in, *out;
    int depth, n_results, n_saved; /* of a call: levels, outputs of the function ... */
    ef_tensor *saved;              /* ... and what was given out behind them, level by level */
    struct ef_tape_record *next;   /* while waiting for its end */
} ef_tape_record;
void ef_record_unref(ef_tape_record *r);
/* Whether the tensor of a value is there, and not just its dtype and shape. */
static inline bool ef_value_kept(const ef_tape_value *v) {
    return v->tensor.data != NULL || v->tensor.storage != NULL;
}

typedef struct ef_tape_span { /* a time during which the tape was recording */
    uint64_t from, to;        /* epochs of nodes; to UINT64_MAX: it still is */
} ef_tape_span;

typedef struct ef_watched {
    uint64_t id;    /* 0: symbolic */
    uint64_t since; /* nodes of earlier epochs are not its business */
    ef_mark *mark;  /* counted; NULL: a variable or symbolic */
    ef_tensor kept; /* counted: a handle, a symbolic tensor, or one watched while recording into a
                     * graph; else dtype 0 */
} ef_watched;

/* The numbers a tape knows, each with a place of its own: open addressing. */
typedef struct ef_tape_values {
    struct ef_tape_values_slot {
        uint64_t key; /* a number; of a symbolic value its hash with the highest bit set; 0: free */
        uint32_t place; /* of a symbolic value: which of the watched it is */
    } * slot;
    size_t n, cap; /* cap: a power of two, or 0 */
    uint32_t places;
} ef_tape_values;
enum { EF_NO_PLACE = UINT32_MAX };
uint32_t ef_tape_values_find(const ef_tape_values *k, uint64_t id); /* 0 is never known */
ef_status *ef_tape_values_add(ef_tape_values *k, uint64_t id);      /* harmless if it is there */

struct ef_tape {
    atomic_int refs;            /* of the user, and of the thread that lists it */
    atomic_bool locked;         /* guards all that follows; see ef_tape_lock */
    _Atomic(const void *) home; /* the thread it is recording; NULL: none */
    ef_tape_record **record;
    size_t n_records, cap_records;
    size_t n_fresh, n_old; /* records since the last sweep, and what that one left */
    size_t fresh_bytes;    /* kept by the fresh ones */
    size_t left;           /* ef_marks_left of its thread at the last sweep */
    ef_tape_values known;
    ef_watched *watched;
    size_t n_watched, cap_watched;
    ef_tape_span *span; /* in order; the last may be open */
    size_t n_spans, cap_spans;
    int paused;
    bool persistent, started, used, auto_watch;
    bool again;  /* its own gradients may be differentiated by itself */
    bool quiet;  /* notes which variables are used, and is no reason to record */
    bool broken; /* something is missing for want of memory */
};

/* A tape's own lock, an atomic flag. It is held for a few lines that lock nothing else but the
 * allocator, and never while anything is run or freed that a user could see; usually uncontended,
 * since one thread at a time uses a tape. */
void ef_tape_wait(ef_tape *t);
static inline void ef_tape_lock(ef_tape *t) {
    if (EF_UNLIKELY(atomic_exchange_explicit(&t->locked, true, memory_order_acquire)))
        ef_tape_wait(t);
}
static inline void ef_tape_unlock(ef_tape *t) {
    atomic_store_explicit(&t->locked, false, memory_order_release);
}

/* The tapes this thread is recording with, oldest first. */
typedef struct ef_open_tape {
    ef_tape *tape; /* counted; it may have been closed elsewhere: ask ef_tape_here */
    int suspended; /* how often all tapes were told to look away since it was opened */
    bool wants;    /* the op being noted */
} ef_open_tape;
typedef struct ef_open_tapes {
    ef_open_tape *at;
    size_t n, cap;
} ef_open_tapes;
extern _Thread_local ef_open_tapes ef_open;
static inline bool ef_tape_here(const ef_open_tape *o) {
    return o->suspended == 0 &&
           atomic_load_explicit(&o->tape->home, memory_order_relaxed) == (const void *)&ef_open;
}

/* all: n_out results, then what each level saved; the first `tracked` count as outputs. */
ef_status *ef_tape_note_call(ef_derivative *d, int depth, const ef_tensor *const *in, int n_in,
                             ef_tensor *all, int n_out, int tracked);
/* How many times what is called now may be differentiated: once by each tape that is recording,
 * and by one that records its own gradients once more. */
int ef_tape_orders(void);
/* `end` is called in any case, at once or with the record. */
ef_status *ef_tape_note_custom(const ef_tensor *const *in, int n_in, ef_tensor *out, int n_out,
                               ef_custom_gradient *custom, void *user, void (*end)(void *));
static inline bool ef_tape_flows(const ef_tensor *t) {
    return ef_dtype_in((ef_dtype)t->dtype,
                       EF_FLOATS | EF_COMPLEX | EF_BIT(VARIANT) | EF_BIT(RESOURCE));
}
/* The number behind a tensor or a handle; 0: none. */
uint64_t ef_tape_id(const ef_tensor *t);
/* Adds to what t watches, unless it is there: under the lock. mark, kept: or NULL. */
ef_status *ef_tape_watch_as(ef_tape *t, uint64_t id, uint64_t since, ef_mark *mark,
                            const ef_tensor *kept);
bool ef_tape_watches_edge(const ef_tape *t, const ef_tensor *x);
/* Lets go of the records and watched values that nobody can ask for any more. It looks at all of
 * them, so it is due when an eighth of them may have to go; or, since other threads let go too,
 * when there are as many new ones as old. */
static inline bool ef_tape_due(const ef_tape *t) {
    enum { FEW = 8, MANY = 1024, MUCH = 1 << 20 };
    size_t left = ef_marks_left - t->left;
    if (EF_LIKELY(left < FEW && t->n_fresh < MANY && t->fresh_bytes < MUCH)) return false;
    return (left > t->n_records / 8 && left > 0) || (t->n_fresh >= MANY && t->n_fresh >= t->n_old);
}
void ef_tape_sweep(ef_tape *t);
/* All tapes of this thread look away, and look again. */
void ef_tapes_suspend(void);
void ef_tapes_resume(void);
/* Notes the use of variables by an op recorded into a graph. */
void ef_tape_note_variables(const ef_tensor *const *in, int n_in);
/* graph_gradient.c: the gradient of symbolic targets; arguments are checked. */
ef_status *ef_tape_graph_gradients(const ef_tape *t, const ef_tensor *const *target, int n_targets,
                                   const ef_tensor *const *dout, const ef_tensor *const *source,
                                   int n, ef_tensor *out, bool *slices);
/* Symbolic IndexedSlices, as three tensors, as one. */
ef_status *ef_slices_densify(const ef_tensor *part, ef_tensor *out);
#endif
