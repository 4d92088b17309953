/* A bounded ring of elements that threads make ahead. Elements are taken from the source one after
 * the other, by whichever worker is free; the rest of the work on them goes on in parallel; they
 * leave in the order in which they were taken, so results do not depend on the number of workers;
 * unless the program allows any order. */
#ifndef EF_DATA_RING_H
#define EF_DATA_RING_H
#include "data/position.h"
#include "data/run.h"
#include "data/tune.h"

typedef struct ef_ring ef_ring;

/* For a consumer of several rings, which waits until any of them has an element. */
typedef struct ef_bell {
    ef_mutex lock;
    pthread_cond_t rung;
    uint64_t times;
} ef_bell;
void ef_bell_init(ef_bell *b);
void ef_bell_destroy(ef_bell *b);
uint64_t ef_bell_times(ef_bell *b);
/* Waits until it has rung more often than `times`, at most for some milliseconds. */
void ef_bell_wait(ef_bell *b, uint64_t times);

typedef struct ef_ring_work {
    int width; /* tensors of an element while it is worked on */
    int gives; /* tensors of an element that leaves; at most `width` */
    void *arg;
    /* One thread at a time: the next element, or the end. */
    ef_status *(*take)(void *arg, ef_tensor *element, bool *end);
    /* Any number of threads: the work on an element; NULL: none. */
    ef_status *(*work)(void *arg, ef_tensor *element);
    const char *name;    /* of the stage, for errors of `work` */
    bool any_order;      /* elements leave as soon as they are ready */
    bool together;       /* if the first takes long, others are begun before its size is known */
    uint64_t first;      /* the number of its first element */
    ef_stage_note *note; /* or NULL */
    ef_bell *bell;       /* rung when an element is ready; or NULL */
    /* Chooses the number of workers from size.workers on; NULL: the number stays. Where it chooses
     * 0 the ring goes on with what it has, until its owner retires it. */
    ef_tuner *tuner;
} ef_ring_work;

/* How many elements may be ready ahead, and how many threads make them. Of a ring with one worker
 * and no tuner the number of elements is tuned between the first and the second number; otherwise
 * there may be twice as many elements as workers. */
typedef struct ef_ring_size {
    int slots, most_slots, workers, most_workers;
} ef_ring_size;

/* Threads are started by the first call of next. */
ef_status *ef_ring_open(ef_run *run, const ef_ring_work *work, const ef_ring_size *size,
                        ef_ring **out);
void ef_ring_close(ef_ring *r); /* waits for its threads; NULL is fine */
ef_status *ef_ring_next(ef_ring *r, ef_tensor *out, bool *end);
/* Whether next would return without waiting. Starts the threads. */
ef_status *ef_ring_ready(ef_ring *r, bool *ready);
/* No further element is taken; those that were taken still leave. */
void ef_ring_retire(ef_ring *r);
bool ef_ring_drained(ef_ring *r); /* it was retired, and all elements have left */

/* Waits until no worker is busy, then writes what they made and nobody took yet, as leftovers are
 * written. Workers begin nothing new until ef_rings_resume. */
ef_status *ef_ring_save(ef_ring *r, ef_saver *w);
void ef_rings_resume(ef_saver *w);

/* For the run. */
ef_ring *ef_ring_after(const ef_ring *r);
void ef_ring_wake(ef_ring *r);
#endif
