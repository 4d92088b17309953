/* Statistics of a running stage: how many elements it made, in what time, how long its consumer
 * waited for them, and what the tuner decided last. ds.explain() prints them. Notes belong to the
 * run, so they stay while stages are closed and opened again, as by repeat. */
#ifndef EF_DATA_STATISTICS_H
#define EF_DATA_STATISTICS_H
#include "ops/data/dataset.h"
#include <stdatomic.h>

struct ef_run;
typedef enum ef_decision {
    EF_DECIDED_NOTHING,
    EF_DECIDED_INLINE,  /* elements are fast: a thread is not worth it */
    EF_DECIDED_THREADS, /* elements are slow: threads make them ahead */
    EF_DECIDED_ENOUGH,  /* the consumer does not wait */
    EF_DECIDED_TRY,     /* another number is being tried */
    EF_DECIDED_KEEP,    /* the other number was better */
    EF_DECIDED_BACK,    /* the other number was not better */
    EF_DECIDED_MOST,    /* the largest number is in use */
    EF_DECIDED_BYTES,   /* the byte ceiling allows no more */
    EF_DECIDED_BUSY,    /* the workers in use keep all processors busy */
} ef_decision;

/* Counters are written by the threads that run the stage and read by anyone. */
typedef struct ef_stage_note {
    const char *name;
    uint64_t dataset;  /* its number */
    int parent, depth; /* parent: of the note whose stage draws from this one; -1: the consumer */
    atomic_uint_fast64_t made, ns; /* elements, and the time in this stage and its sources */
    atomic_uint_fast64_t waited; /* nanoseconds that the consumer waited for prefetched elements */
    atomic_uint_fast64_t bytes;  /* most bytes that were ready ahead */
    atomic_int workers, slots;   /* threads, and elements they may be ahead; 0: none */
    atomic_int decision, from, to, gain; /* an ef_decision; gain: of the rate, in percent */
    /* Where the tuner of the next run begins: 1 more than the number of workers (0: there is no
     * tuner), and two fields of ef_tuner. */
    atomic_int settled, pause, skipped;
} ef_stage_note;

enum { EF_STAGE_NOTES = 32, EF_STAGE_NOTE_CHILDREN = 8 };

/* The note of a stage, made with its first opening; NULL: there are too many. parent may be NULL.
 */
ef_stage_note *ef_stage_note_of(struct ef_run *run, const ef_stage_note *parent, const char *name,
                                const ef_dataset *d);
void ef_stage_note_decide(ef_stage_note *n, ef_decision what, int from, int to,
                          int gain); /* NULL is fine */
static inline void ef_stage_note_add(ef_stage_note *n, uint64_t made, uint64_t ns) {
    if (n == NULL) return;
    atomic_fetch_add_explicit(&n->made, made, memory_order_relaxed);
    atomic_fetch_add_explicit(&n->ns, ns, memory_order_relaxed);
}

/* How many slots the same stage had when an earlier run of its dataset ended: where the tuner of
 * this run begins. False: there was no such run recently, it prefetched nothing, or n is NULL. */
bool ef_notes_recall(const ef_stage_note *n, int *slots);
/* Likewise the state of the tuner of workers. False: there was no such run, or it had no tuner. */
bool ef_notes_recall_tuner(const ef_stage_note *n, int *workers, int *pause, int *skipped);
/* Keeps the notes of a run that ends, for ds.explain(); those of the last few runs stay. */
void ef_notes_keep(const struct ef_run *run);
/* The notes of the latest run of d, as text that the caller frees; NULL: there was none. */
ef_status *ef_notes_explain(const ef_dataset *d, char **out);
#endif
