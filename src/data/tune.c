/* Deciding on the number of workers. */
#include "data/tune.h"

enum {
    LONGEST_PAUSE = 64,
    FEW = 4, /* down from so few workers the large step leads to the least */
};
static const double little = 0.02; /* the fraction of the time that may be spent waiting */
static const double worth = 1.05;  /* by how much the rate must rise for a trial to be kept */
static const double full = 0.8;    /* of the processors: more workers would not help */
static const double idle = 0.3;    /* of the workers: they wait for something, not for each other */

static int larger(const ef_tuner *t) {
    int n = t->value == 0 ? (t->close[0] ? 1 : t->home) : t->close[0] ? t->value + 1 : 2 * t->value;
    return n < t->most ? n : t->most;
}

static int smaller(const ef_tuner *t) {
    int n = t->close[1] ? t->value - 1 : t->value > FEW ? t->value / 2 : t->least;
    return n > t->least ? n : t->least;
}

static ef_decision stay(const ef_tuner *t, ef_decision why, ef_stage_note *note) {
    ef_stage_note_decide(note, why, t->value, t->value, 0);
    return why;
}

static ef_decision begin_trial(ef_tuner *t, const ef_interval *i, double rate,
                               ef_stage_note *note) {
    const bool up = t->value < t->most && i->busy < full;
    const bool down = t->value > t->least && i->working > idle;
    if (!up && !down) return stay(t, t->value < t->most ? EF_DECIDED_BUSY : EF_DECIDED_MOST, note);
    if (++t->skipped < t->pause) return EF_DECIDED_NOTHING;
    t->skipped = 0;
    if (t->rate == 0) t->down = i->busy > full / 2; /* twice as many would not fit */
    t->down = down && (t->down || !up);
    t->trying = true;
    t->before = t->value;
    t->value = t->down ? smaller(t) : larger(t);
    t->rate = rate;
    ef_stage_note_decide(note, EF_DECIDED_TRY, t->before, t->value, 0);
    return EF_DECIDED_TRY;
}

static ef_decision end_trial(ef_tuner *t, double rate, ef_stage_note *note) {
    bool better = rate >= worth * t->rate;
    int tried = t->value, before = t->before;
    int gain = t->rate > 0 ? (int)(100 * (rate / t->rate - 1)) : 0;
    t->trying = false;
    if (better) {
        t->pause = 1;
    } else {
        t->value = before;
        t->close[t->down] = !t->close[t->down];
        t->down = !t->down;
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
    if (t->trying) {
        ef_decision what = end_trial(t, rate, note);
        bool last = t->down ? t->value <= t->least : t->value >= t->most;
        if (what == EF_DECIDED_BACK || !waits || last) return what;
    }
    return waits ? begin_trial(t, i, rate, note) : stay(t, EF_DECIDED_ENOUGH, note);
}

bool ef_tuner_recall(ef_tuner *t, const ef_stage_note *note) {
    int value;
    if (!ef_notes_recall_tuner(note, &value, &t->pause, &t->skipped)) return false;
    t->value = value < t->least ? t->least : value > t->most ? t->most : value;
    return true;
}

void ef_tuner_keep(const ef_tuner *t, ef_stage_note *note) {
    if (note == NULL) return;
    atomic_store_explicit(&note->settled, 1 + (t->trying ? t->before : t->value),
                          memory_order_relaxed);
    atomic_store_explicit(&note->pause, t->pause, memory_order_relaxed);
    atomic_store_explicit(&note->skipped, t->skipped, memory_order_relaxed);
}
