/* The tuner: how many workers make elements ahead. It is driven by measured waiting: while the
 * consumer does not wait, nothing changes; otherwise other numbers are tried, one interval each,
 * and kept if the rate of elements rises. More workers help while processors are left over, fewer
 * where the workers compete for these with each other or with the threads of their own kernels;
 * with 0 workers the consumer makes the elements itself, which saves handing them over. A trial
 * that did not help is repeated after a growing pause, in the other direction, so a rate that has
 * settled is left alone, but a machine that changes is noticed. The tuner reads no clock and holds
 * no lock. */
#ifndef EF_DATA_TUNE_H
#define EF_DATA_TUNE_H
#include "data/statistics.h"

typedef struct ef_tuner {
    int value, least, most;
    int home;           /* what is tried first where the consumer makes the elements itself */
    bool trying;        /* `value` is on trial */
    int before;         /* the value to return to if the trial does not help */
    int pause, skipped; /* intervals between trials, and how many have passed */
    bool down;          /* fewer are tried next */
    bool close[2];      /* by direction: a large step did not help, so a small one is next */
    double rate;        /* of `before`; 0: nothing was tried yet */
} ef_tuner;

static inline ef_tuner ef_tuner_begin(int value, int least, int most) {
    return (ef_tuner){.value = value,
                      .least = least,
                      .most = most > value ? most : value,
                      .home = value > 0 ? value : 1,
                      .pause = 1};
}
/* What was measured: the length of the interval, the part that the consumer spent waiting, elements
 * given out, and the processor time of the work, as a part of all processors and of those that so
 * many workers can use. */
typedef struct ef_interval {
    uint64_t ns, waited, elements;
    double busy, working;
} ef_interval;
/* Whether the interval is long enough for a decision: the rate of few elements, or of a short time
 * in which other programs had the processors, says little. */
static inline bool ef_interval_over(const ef_interval *i, int workers) {
    enum { SHORT_NS = 5000000, LONG_NS = 20000000, MANY = 128 };
    if (i->ns < SHORT_NS || i->elements < 2 * (uint64_t)(workers > 0 ? workers : 1)) return false;
    return i->ns >= LONG_NS || i->elements >= MANY;
}
/* Fills in the last two. */
static inline void ef_interval_busy(ef_interval *i, uint64_t busy_ns, int workers, int processors) {
    double ns = (double)(i->ns > 0 ? i->ns : 1);
    int used = workers < 1 ? 1 : workers < processors ? workers : processors;
    i->busy = (double)busy_ns / (ns * processors);
    i->working = (double)busy_ns / (ns * used);
}
/* Decides by the measurements of an interval; t->value is the value for the next one. */
ef_decision ef_tuner_step(ef_tuner *t, const ef_interval *i, ef_stage_note *note);

/* The tuner of a run begins where that of the latest run of the same stage ended. False: there was
 * none. */
bool ef_tuner_recall(ef_tuner *t, const ef_stage_note *note);
void ef_tuner_keep(const ef_tuner *t, ef_stage_note *note); /* NULL is fine */
#endif
