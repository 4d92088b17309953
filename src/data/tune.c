/* Deciding on the number of workers. */
#include "data/tune.h"

enum { LONGEST_PAUSE = 64 };
static const double little = 0.02; /* the fraction of the time that may be spent waiting */
static const double worth = 1.05;  /* by how much the rate must rise for more workers to be kept */

static ef_decision begin_trial(ef_tuner *t, double rate, ef_stage_note *note) {
    if (t->value >= t->most) {
        ef_stage_note_decide(note, EF_DECIDED_MOST, t->value, t->value, 0);
        return EF_DECIDED_MOST;
    }
    if (++t->skipped < t->pause) return EF_DECIDED_NOTHING;
    t->skipped = 0;
    t->before = t->value;
    t->value = t->close ? t->value + 1 : 2 * t->value;
    if (t->value > t->most) t->value = t->most;
    t->rate = rate;
    ef_stage_note_decide(note, EF_DECIDED_TRY, t->before, t->value, 0);
    return EF_DECIDED_TRY;
}

static ef_decision end_trial(ef_tuner *t, double rate, ef_stage_note *note) {
    bool better = rate >= worth * t->rate;
    int tried = t->value, before = t->before;
    int gain = t->rate > 0 ? (int)(100 * (rate / t->rate - 1)) : 0;
    t->before = 0;
    if (better) {
        t->pause = 1;
    } else {
        t->value = before;
        t->close = true;
        t->pause = t->pause * 4 < LONGEST_PAUSE ? t->pause * 4 : LONGEST_PAUSE;
    }
    ef_decision what = better ? EF_DECIDED_KEEP : EF_DECIDED_BACK;
    ef_stage_note_decide(note, what, before, tried, gain);
    return what;
}

/* A trial that helped is followed by the next one, measured against it, so n workers are reached in
 * log n intervals. */
ef_decision ef_tuner_step(ef_tuner *t, const ef_interval *i, ef_stage_note *note) {
    double ns = (double)(i->ns > 0 ? i->ns : 1), rate = (double)i->elements / ns;
    bool waits = (double)i->waited > little * ns;
    if (t->before != 0) {
        ef_decision what = end_trial(t, rate, note);
        if (what == EF_DECIDED_BACK || !waits || t->value >= t->most) return what;
    }
    if (waits) return begin_trial(t, rate, note);
    ef_stage_note_decide(note, EF_DECIDED_ENOUGH, t->value, t->value, 0);
    return EF_DECIDED_ENOUGH;
}
