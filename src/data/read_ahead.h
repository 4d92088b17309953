/* A stage whose elements are prefetched by a thread, if that is worth it. A hand-over between
 * threads costs some microseconds, so a stage that makes its elements faster than that stays in the
 * caller's thread, unless it calls the program. */
#ifndef EF_DATA_READ_AHEAD_H
#define EF_DATA_READ_AHEAD_H
#include "data/leftover.h"
#include "data/ring.h"
#include "data/stage.h"

typedef struct ef_read_ahead {
    ef_stage *of;         /* borrowed */
    ef_stage_note *note;  /* of the stage that draws from it; or NULL */
    ef_ring *ring;        /* NULL: elements are made by the caller's thread */
    int slots;            /* elements to prefetch; 0: none, ever */
    int most_slots;       /* the most that the tuner may choose */
    uint64_t made, least; /* elements measured, and the time of the fastest, ns */
    bool injected;        /* the program did not ask for it */
    ef_bell *bell;        /* borrowed: see ef_ring_work; or NULL */
    ef_leftover leftover; /* comes before what the stage makes */
} ef_read_ahead;

enum {
    EF_READ_AHEAD_SLOTS = 4,
    EF_READ_AHEAD_MOST = 64
}; /* first and largest number with AUTOTUNE */

/* wish: how many elements the program wants prefetched; -1: AUTOTUNE. bell: or NULL. */
ef_status *ef_read_ahead_open(ef_read_ahead *a, ef_stage *of, int64_t wish, ef_stage_note *note,
                              ef_bell *bell);
/* The same for the last stage of a pipeline that does not end in a prefetch: its elements are
 * prefetched once they turn out to be slow. */
void ef_read_ahead_inject(ef_read_ahead *a, ef_stage *of);
void ef_read_ahead_close(ef_read_ahead *a); /* waits for the thread */
ef_status *ef_read_ahead_next(ef_read_ahead *a, ef_tensor *out, bool *end);
/* Whether ahead_next would not wait for a thread. */
ef_status *ef_read_ahead_ready(ef_read_ahead *a, bool *ready);
/* Whether the stage's own position is that of what ahead_next gives: nothing is held. */
static inline bool ef_read_ahead_holds_none(const ef_read_ahead *a) {
    return a->ring == NULL && !ef_leftover_any(&a->leftover);
}
/* The elements that are held; the stage below is saved and restored by the caller, afterwards. */
ef_status *ef_read_ahead_save(ef_read_ahead *a, ef_saver *w);
ef_status *ef_read_ahead_restore(ef_read_ahead *a, ef_loader *r);
#endif
