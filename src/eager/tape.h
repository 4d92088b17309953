/* The gradient tape. A thread has one log of records, shared by all its tapes; a tape is a set of
 * windows of the log and a set of watched values. A value that matters has a number, which its
 * tensor carries; ops none of whose inputs has one are not recorded.
 *
 * What is recorded into a graph needs no log: the graph is one. There a tape's windows are spans of
 * epochs, which nodes carry, and symbolic values are known by their edge. */
#ifndef EF_EAGER_TAPE_H
#define EF_EAGER_TAPE_H
#include "base/arena.h"
#include "eager/function_call.h"
#include "evenflow_binding.h"

typedef struct ef_tape_value { /* an input or output of a record */
    uint64_t id;               /* 0: nothing flows here */
    ef_tensor tensor;          /* dtype 0 if the gradient does not read it */
    ef_fact fact, handle;
} ef_tape_value;

typedef struct ef_tape_record {
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
} ef_tape_record;

typedef struct ef_log {
    ef_arena arena;
    ef_tape_record **record;
    size_t n_records, cap_records;
    int tapes;         /* alive */
    uint64_t first_id; /* no number given since it began is smaller */
} ef_log;
bool ef_log_made(const ef_log *log, uint64_t id); /* whether it is such a number */

typedef struct ef_tape_span { /* a time during which the tape was recording */
    size_t begin, end;        /* records of the log; end SIZE_MAX: it still is */
    uint64_t from, to;        /* epochs of nodes; to UINT64_MAX: likewise */
} ef_tape_span;

typedef struct ef_watched {
    uint64_t id;    /* 0: symbolic */
    uint64_t since; /* nodes of earlier epochs are not its business */
    ef_tensor kept; /* counted: a handle, a symbolic tensor, or one watched while recording into a
                     * graph; else dtype 0 */
} ef_watched;

struct ef_tape {
    ef_log *log;
    ef_tape_span *span; /* in order; the last may be open */
    size_t n_spans, cap_spans;
    bool persistent, started, used, auto_watch;
    bool quiet;  /* notes which variables are used, and is no reason to record */
    bool broken; /* a span is missing for want of memory */
    int paused;
    const void *thread;    /* whose it is */
    atomic_bool abandoned; /* freed by another thread: its own ends it when it next looks */
    ef_watched *watched;
    size_t n_watched, cap_watched;
    struct ef_tape *next; /* of this thread */
};

/* all: n_out results, then what each level saved; the first `tracked` count as outputs. */
ef_status *ef_tape_note_call(ef_derivative *d, int depth, const ef_tensor *const *in, int n_in,
                             ef_tensor *all, int n_out, int tracked);
int ef_tape_open_count(void); /* tapes of this thread that are recording */
bool ef_tapes_quiet(void);    /* no open tape wants records */
ef_status *ef_tape_note_custom(const ef_tensor *const *in, int n_in, ef_tensor *out, int n_out,
                               ef_custom_gradient *custom, void *user, void (*end)(void *));
/* The number behind a tensor or a handle; 0: none. */
uint64_t ef_tape_id(const ef_tensor *t);
bool ef_tape_watches(const ef_tape *t, uint64_t id);
/* Pauses all tapes of this thread; resume takes what pause gave and leaves newer ones alone. */
ef_tape *ef_tapes_pause(void);
void ef_tapes_resume(const ef_tape *newest);
/* Notes the use of variables by an op recorded into a graph. */
ef_status *ef_tape_note_variables(const ef_tensor *const *in, int n_in);
/* graph_gradient.c: the gradient of symbolic targets; arguments are checked. */
ef_status *ef_tape_graph_gradients(const ef_tape *t, const ef_tensor *const *target, int n_targets,
                                   const ef_tensor *const *dout, const ef_tensor *const *source,
                                   int n, ef_tensor *out, bool *slices);
/* Symbolic IndexedSlices, as three tensors, as one. */
ef_status *ef_slices_densify(const ef_tensor *part, ef_tensor *out);
/* gradient.c */
void ef_record_release(ef_tape_record *r);
#endif
