/* What all stages of a running pipeline share: whether it is being stopped, and which threads make
 * elements ahead. */
#ifndef EF_DATA_RUN_H
#define EF_DATA_RUN_H
#include "base/mutex.h"
#include "base/status.h"
#include "evenflow.h"
#include <stdatomic.h>

struct ef_ring;
typedef struct ef_run {
    struct ef_run *next, *before; /* in the list of all runs */
    ef_mutex lock;                /* guards the list of rings */
    struct ef_ring *rings;
    atomic_bool stopped;
    _Atomic(ef_canceller *) canceller; /* what workers use; made with the first of them */
    uint64_t random;                   /* its own positions of random ops */
    int64_t most_workers;              /* 0: as many as there are processors */
} ef_run;

ef_status *ef_run_make(ef_run **out);
void ef_run_free(ef_run *r); /* no ring is left */
/* Workers end soon, and whoever waits for them returns. */
void ef_run_stop(ef_run *r);
/* Ends the threads of all pipelines, as before an interpreter ends. They give no more elements. */
void ef_run_stop_all(void);
/* How many calls of pipelines this thread is in. */
extern _Thread_local int ef_pipeline_depth;
ef_status *ef_run_canceller(ef_run *r, ef_canceller **out);
#endif
