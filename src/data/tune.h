/* The tuner: how many workers make elements ahead, or how many elements they may be ahead. It is
 * driven by measured waiting: while nobody waits nothing changes; otherwise twice as many are
 * tried, then one more, and kept if the rate of elements rose by it. A trial that did not help is
 * repeated after a pause that grows, so a rate that settled is left alone. It reads no clock and
 * holds no lock. */
#ifndef EF_DATA_TUNE_H
#define EF_DATA_TUNE_H
#include "data/note.h"

typedef struct ef_tuner {
    int value, most;
    int before;         /* the value that is kept unless the trial helps; 0: no trial goes on */
    int pause, skipped; /* intervals between trials, and how many have passed */
    bool close;         /* twice as many did not help: one more is tried */
    double rate;        /* of `before` */
} ef_tuner;

static inline ef_tuner ef_tuner_begin(int value, int most) {
    return (ef_tuner){.value = value, .most = most > value ? most : value, .pause = 1};
}
typedef struct ef_interval {
    uint64_t ns, waited, elements; /* its length, the part spent waiting, elements given out */
} ef_interval;
/* What the interval says; t->value is the value for the next one. */
ef_decision ef_tuner_step(ef_tuner *t, const ef_interval *i, ef_stage_note *note);
#endif
