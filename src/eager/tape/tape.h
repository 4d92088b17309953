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
    uint64_t id;               /* 0: it has no gradient */
    ef_mark *mark;             /* counted; NULL: a variable's number, or none */
    ef_tensor tensor;          /* has no mark; no data if the gradient reads dtype and shape only */
} ef_tape_value;

typedef struct ef_tape_record {
    atomic_int refs;       /* of tapes, and of walks under way */
    size_t bytes;          /* of its memory block */
    const ef_op *op;       /* or NULL for a call or a custom gradient */
    const ef_attrs *attrs; /* counted */
    ef_derivative *call;   /* counted */
    ef_custom_gradient *custom;
    void *user;
    void (*user_end)(void *user);
    int n_in, n_out;
    ef_tape_value *in, *out;
    int depth, n_results, n_saved; /* of a call: levels, outputs of the function, saved values */
    ef_tensor *saved; /* what the forward function returned after the outputs, by level */
    struct ef_tape_record *next; /* in a list of records to be freed */
} ef_tape_record;
void ef_record_unref(ef_tape_record *r);
/* Whether the tensor of a value was kept, and not just its dtype and shape. */
static inline bool ef_value_kept(const ef_tape_value *v) {
    return v->tensor.data != NULL || v->tensor.storage != NULL;
}

typedef struct ef_tape_span { /* a time during which the tape was recording */
    uint64_t from, to;        /* epochs of nodes; to UINT64_MAX: it still is */
} ef_tape_span;

typedef struct ef_hooked {
    uint64_t id;    /* 0: symbolic */
    uint64_t since; /* gradients do not pass through nodes of earlier epochs */
    ef_mark *mark;  /* counted; NULL: a variable or symbolic */
    ef_tensor kept; /* counted: a handle, a symbolic tensor, or one watched while recording into a
                     * graph; else dtype 0 */
} ef_hooked;

/* The values that a tape knows, by number, each with an index (place): open addressing. */
typedef struct ef_tape_values {
    struct ef_tape_values_slot {
        uint64_t key; /* a number; of a symbolic value its hash with the highest bit set; 0: free */
        uint32_t place; /* of a symbolic value: its index in `watched` */
    } * slot;
    size_t n, cap; /* cap: a power of two, or 0 */
    uint32_t places;
} ef_tape_values;
enum { EF_NO_PLACE = UINT32_MAX };
uint32_t ef_tape_values_find(const ef_tape_values *k, uint64_t id); /* 0 is never known */
ef_status *ef_tape_values_add(ef_tape_values *k, uint64_t id); /* does nothing if it is known */

struct ef_tape {
    atomic_int refs;            /* of the user, and of the thread that lists it */
    atomic_bool locked;         /* guards all that follows; see ef_tape_lock */
    _Atomic(const void *) home; /* the thread it is recording; NULL: none */
    ef_tape_record **record;
    size_t n_records, cap_records;
    size_t n_fresh, n_old; /* records added since the last sweep, and those that it left */
    size_t fresh_bytes;    /* memory that the fresh ones keep alive */
    size_t left;           /* ef_marks_left of its thread at the last sweep */
    ef_tape_values known;
    ef_hooked *watched;
    size_t n_watched, cap_watched;
    ef_tape_span *span; /* in order; the last may be open */
    size_t n_spans, cap_spans;
    int paused;
    bool persistent, started, used, auto_watch;
    bool again;  /* its own gradients may be differentiated by itself */
    bool quiet;  /* only notes which variables are used; records no ops */
    bool broken; /* something was not recorded because memory ran out */
};

/* A tape's own lock, an atomic flag. It is held for a few lines that lock nothing but the
 * allocator, and never while user code may run or objects of the user are freed; it is usually
 * uncontended, since one thread at a time uses a tape. */
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
    ef_tape *tape; /* counted; another thread may have closed it, which ef_tape_here tells */
    int suspended; /* how many ef_tapes_suspend are in force since it was opened */
    bool wants;    /* it must record the op being noted */
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

/* all: n_out results, then the values that each level saved; the first `tracked` count as outputs.
 */
ef_status *ef_tape_note_call(ef_derivative *d, int depth, const ef_tensor *const *in, int n_in,
                             ef_tensor *all, int n_out, int tracked);
/* How many times a function that is called now may be differentiated: once by each tape that is
 * recording, and twice by a tape that records its own gradients. */
int ef_tape_orders(void);
/* `end` is called in any case, immediately or when the record is freed. */
ef_status *ef_tape_note_custom(const ef_tensor *const *in, int n_in, ef_tensor *out, int n_out,
                               ef_custom_gradient *custom, void *user, void (*end)(void *));
static inline bool ef_tape_flows(const ef_tensor *t) {
    return ef_dtype_in((ef_dtype)t->dtype,
                       EF_FLOATS | EF_COMPLEX | EF_BIT(VARIANT) | EF_BIT(RESOURCE));
}
/* The number of a tensor, or of a handle's variable; 0: none. */
uint64_t ef_tape_id(const ef_tensor *t);
/* Adds a value to those that t watches, unless it is watched already: under the lock. mark and kept
 * may be NULL. */
ef_status *ef_tape_watch_as(ef_tape *t, uint64_t id, uint64_t since, ef_mark *mark,
                            const ef_tensor *kept);
bool ef_tape_watches_edge(const ef_tape *t, const ef_tensor *x);
/* Whether to sweep: to free the records and watched values that no gradient can reach any more. A
 * sweep visits all of them, so it is due when an eighth of them may be unreachable; or, since other
 * threads release values too, when there are as many new ones as old. */
static inline bool ef_tape_due(const ef_tape *t) {
    enum { FEW = 8, MANY = 1024, MUCH = 1 << 20 };
    size_t left = ef_marks_left - t->left;
    if (EF_LIKELY(left < FEW && t->n_fresh < MANY && t->fresh_bytes < MUCH)) return false;
    return (left > t->n_records / 8 && left > 0) || (t->n_fresh >= MANY && t->n_fresh >= t->n_old);
}
void ef_tape_sweep(ef_tape *t);
void ef_tape_set_used(ef_tape *t); /* it gave a gradient */
/* Suspends the recording of all tapes of this thread, and resumes it; these nest. */
void ef_tapes_suspend(void);
void ef_tapes_resume(void);
/* Notes the use of variables by an op recorded into a graph. */
void ef_tape_note_variables(const ef_tensor *const *in, int n_in);
/* graph_gradient.c: the gradient of symbolic targets; arguments are checked. */
ef_status *ef_tape_graph_gradients(const ef_tape *t, const ef_tensor *const *target, int n_targets,
                                   const ef_tensor *const *dout, const ef_tensor *const *source,
                                   int n, ef_tensor *out, bool *slices);
/* Turns symbolic IndexedSlices, given as three tensors, into one dense tensor. */
ef_status *ef_slices_densify(const ef_tensor *part, ef_tensor *out);
#endif
