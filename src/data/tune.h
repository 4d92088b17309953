/* The tuner: how many workers make elements ahead. It is driven by measured waiting: while the
 * consumer does not wait, nothing changes; otherwise twice as many workers are tried, later one
 * more, and kept if the rate of elements rises. A trial that did not help is repeated after a
 * growing pause, so a rate that has settled is left alone. The tuner reads no clock and holds no
 * lock. */
#ifndef EF_DATA_TUNE_H
#define EF_DATA_TUNE_H
#include "data/statistics.h"

typedef struct ef_tuner {
    int value, most;
    int before;         /* the value to return to if the trial does not help; 0: no trial */
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
/* Decides by the measurements of an interval; t->value is the value for the next one. */
ef_decision ef_tuner_step(ef_tuner *t, const ef_interval *i, ef_stage_note *note);
#endif
