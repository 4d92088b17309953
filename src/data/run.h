/* What all stages of a running pipeline share: whether it is being stopped, and which threads make
 * elements ahead. */
#ifndef EF_DATA_RUN_H
#define EF_DATA_RUN_H
#include "base/mutex.h"
#include "base/status.h"
#include "data/statistics.h"
#include "evenflow.h"
#include <stdatomic.h>

struct ef_ring;
typedef struct ef_run {
    struct ef_run *next, *before; /* in the list of all runs */
    ef_mutex lock;                /* guards the list of rings */
    struct ef_ring *rings;
    atomic_bool stopped;
    _Atomic(ef_canceller *) canceller; /* of the workers; made with the first of them */
    uint64_t random;                   /* its own positions of random ops */
    uint64_t dataset;                  /* the number of the one it runs */
    int most_workers;                  /* that the tuner may try; 0: its default */
    bool untuned;                      /* AUTOTUNE values keep their first value */
    bool uninjected;                   /* threads only where the program asks for them */
    bool any_order;                    /* unless a stage says otherwise */
    /* Elements that are ready ahead, or being made, take no more than `ceiling` bytes together,
     * except that every ring may have one. */
    uint64_t ceiling;
    atomic_uint_fast64_t bytes, peak;
    atomic_int n_notes; /* guarded by the lock; notes below it may be read without */
    ef_stage_note note[EF_STAGE_NOTES];
} ef_run;

/* The run of a dataset, with its options. */
ef_status *ef_run_make(const ef_dataset *d, ef_run **out);
void ef_run_free(ef_run *r); /* no ring is left */
/* Reserves bytes for an element ahead; false: they would exceed the ceiling. must: reserves them
 * even so. */
bool ef_run_reserve(ef_run *r, uint64_t bytes, bool must);
void ef_run_release(ef_run *r, uint64_t bytes);
/* Calls `visit` with the latest run of the dataset, which does not end meanwhile; false: there is
 * none now. */
bool ef_run_visit(uint64_t dataset, void (*visit)(const ef_run *r, void *arg), void *arg);
/* Tells the workers to end; consumers that wait for them return EF_CANCELLED. */
void ef_run_stop(ef_run *r);
/* Ends the threads of all pipelines, as before an interpreter ends. They give no more elements. */
void ef_run_stop_all(void);
/* How many calls of pipelines this thread is in. */
extern _Thread_local int ef_pipeline_depth;
/* What ef_interrupt_counter() was when this thread last looked whether it is interrupted. A stage
 * may draw for ever from its source (a filter that lets nothing through), so every stage compares
 * it. */
extern _Thread_local unsigned ef_pipeline_pulse;
ef_status *ef_run_canceller(ef_run *r, ef_canceller **out);
#endif
