/* Deciding whether a thread makes elements ahead. */
#include "data/read_ahead.h"
#include "base/clock.h"
#include "base/pool.h"

enum {
    MEASURED = 2,          /* elements after which to decide */
    SLOW_NS = 30000,       /* an element that takes longer is worth another thread */
    VERY_SLOW_NS = 300000, /* the same if the program did not ask for prefetching, or if the thread
                            * has to wait for a processor because other programs use them */
    AGAIN = 256,           /* a fast stage is measured again after so many elements */
    MOST = 1 << 16,
};

static ef_status *take(void *arg, ef_tensor *element, bool *end) {
    return ef_stage_next(arg, element, end);
}

static ef_status *start(ef_read_ahead *a) {
    int width = a->of->width;
    ef_ring_work w = {.width = width,
                      .gives = width,
                      .arg = a->of,
                      .take = take,
                      .note = a->note,
                      .bell = a->bell};
    ef_ring_size size = {a->slots, a->most_slots, 1, 1};
    ef_stage_note_decide(a->note, EF_DECIDED_THREADS, 0, 1, 0);
    return ef_ring_open(a->of->run, &w, &size, &a->ring);
}

static void prepare(ef_read_ahead *a, ef_stage *of, int64_t wish, ef_stage_note *note) {
    int64_t n = wish < 0 ? EF_READ_AHEAD_SLOTS : wish < MOST ? wish : MOST;
    *a = (ef_read_ahead){.of = of, .note = note, .slots = (int)n};
    a->most_slots = wish < 0 && !of->run->untuned ? EF_READ_AHEAD_MOST : a->slots;
    if (a->most_slots > a->slots) ef_notes_recall(note, &a->slots);
}

ef_status *ef_read_ahead_open(ef_read_ahead *a, ef_stage *of, int64_t wish, ef_stage_note *note,
                              ef_bell *bell) {
    prepare(a, of, wish, note);
    a->bell = bell;
    return a->slots > 0 && of->blocks ? start(a) : NULL;
}

/* A fast function of the program stays in the caller's thread: handing the interpreter's lock to
 * another thread for each element costs more than most elements take. */
void ef_read_ahead_inject(ef_read_ahead *a, ef_stage *of) {
    const ef_stage *last = of;
    while (last->kind == &ef_stage_same) last = last->source;
    /* A save that read on after an element failed would count as complete. And the doctor, which
     * counts the stages, must see the pipeline as the program wrote it. */
    bool never = last->kind == &ef_stage_prefetch || last->kind == &ef_stage_save || of->counted ||
                 ef_dataset_int(last->dataset, "num_parallel_calls", 0) != 0;
    prepare(a, of, of->run->uninjected || never ? 0 : -1, of->note);
    a->injected = true;
}

void ef_read_ahead_close(ef_read_ahead *a) {
    ef_ring_close(a->ring);
    a->ring = NULL;
    ef_leftover_close(&a->leftover);
}

ef_status *ef_read_ahead_save(ef_read_ahead *a, ef_saver *w) {
    EF_TRY(ef_leftover_save(&a->leftover, w));
    if (a->ring != NULL && !a->leftover.end) EF_TRY(ef_ring_save(a->ring, w));
    ef_save_stop(w);
    return NULL;
}

ef_status *ef_read_ahead_restore(ef_read_ahead *a, ef_loader *r) {
    return ef_leftover_load(&a->leftover, r, a->of->dataset);
}

ef_status *ef_read_ahead_ready(ef_read_ahead *a, bool *ready) {
    *ready = a->ring == NULL || ef_leftover_any(&a->leftover);
    return *ready ? NULL : ef_ring_ready(a->ring, ready);
}

ef_status *ef_read_ahead_next(ef_read_ahead *a, ef_tensor *out, bool *end) {
    if (EF_UNLIKELY(ef_leftover_any(&a->leftover))) return ef_leftover_next(&a->leftover, out, end);
    if (a->ring != NULL) return ef_ring_next(a->ring, out, end);
    if (a->slots == 0 || a->made >= MEASURED) {
        if (++a->made > AGAIN) a->made = 0;
        return ef_stage_next(a->of, out, end);
    }
    uint64_t from = ef_now_ns();
    ef_status *bad = ef_stage_next(a->of, out, end);
    uint64_t ns = ef_now_ns() - from;
    if (a->made == 0 || ns < a->least) a->least = ns; /* the one least disturbed by others */
    if (++a->made < MEASURED) return bad;
    if (a->least < SLOW_NS || (a->least < VERY_SLOW_NS && (a->injected || ef_pool_crowded()))) {
        if (!a->injected) ef_stage_note_decide(a->note, EF_DECIDED_INLINE, 0, 0, 0);
    } else if (bad == NULL && !*end) {
        ef_status *no_thread = start(a);
        ef_status_free(no_thread); /* without a thread, elements are made by the caller as before */
    }
    return bad;
}
