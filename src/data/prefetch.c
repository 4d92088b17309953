/* Prefetch: a thread makes elements ahead. A hand-over between threads costs some microseconds, so
 * a source that makes its elements quicker than that stays in the caller's thread, unless it calls
 * the program. */
#include "base/clock.h"
#include "data/ring.h"
#include "data/stage.h"

enum {
    MEASURED = 2,    /* elements after which to decide */
    SLOW_NS = 30000, /* an element that is worth another thread */
    AGAIN = 256,     /* a quick source is measured again after so many elements */
    AUTOTUNED = 4,   /* elements ahead, if the program leaves it open */
};

typedef struct prefetch {
    ef_stage base;
    ef_ring *ring;
    int64_t ahead;
    uint64_t made, ns;
} prefetch;

static void prefetch_close(ef_stage *s) { ef_ring_close(((prefetch *)s)->ring); }

static ef_status *take(void *arg, ef_tensor *element, bool *end) {
    return ef_stage_next(arg, element, end);
}

static ef_status *start(prefetch *p) {
    int64_t most = 1 << 16;
    ef_ring_work w = {.width = p->base.width, .arg = p->base.source, .take = take};
    return ef_ring_open(p->base.run, &w, (int)(p->ahead < most ? p->ahead : most), 1, &p->ring);
}

static ef_status *prefetch_open(ef_stage *s) {
    prefetch *p = (prefetch *)s;
    p->ahead = ef_dataset_int(s->dataset, "buffer_size", -1);
    if (p->ahead < 0) p->ahead = AUTOTUNED;
    EF_TRY(ef_stage_open_source(s));
    return p->ahead > 0 && s->source->blocks ? start(p) : NULL;
}

static ef_status *prefetch_next(ef_stage *s, ef_tensor *out, bool *end) {
    prefetch *p = (prefetch *)s;
    if (p->ring != NULL) return ef_ring_next(p->ring, out, end);
    if (p->ahead == 0 || p->made >= MEASURED) {
        if (++p->made > AGAIN) p->made = p->ns = 0;
        return ef_stage_next(s->source, out, end);
    }
    uint64_t from = ef_now_ns();
    ef_status *bad = ef_stage_next(s->source, out, end);
    p->ns += ef_now_ns() - from;
    if (++p->made == MEASURED && p->ns / MEASURED >= SLOW_NS && bad == NULL && !*end) {
        ef_status *no_thread = start(p);
        ef_status_free(no_thread); /* then it goes on as before */
    }
    return bad;
}

static bool prefetch_stacks(ef_stage *s) {
    return ((prefetch *)s)->ring == NULL && ef_stage_stacks(s->source);
}

static ef_status *prefetch_rows(ef_stage *s, int64_t n, ef_tensor *out, int64_t *got) {
    return ef_stage_rows(s->source, n, out, got);
}

const ef_stage_kind ef_stage_prefetch = {.name = "Prefetch",
                                         .size = sizeof(prefetch),
                                         .open = prefetch_open,
                                         .next = prefetch_next,
                                         .rows = prefetch_rows,
                                         .stacks = prefetch_stacks,
                                         .close = prefetch_close};
