/* The table of tallies: 512 sets of eight, and one tally per kind for what has no place of its own.
 * Durations are kept in ticks. The first and the last samples of a tally are kept one by one, which
 * shows whether calls at one place get slower. */
#include "profile/tally.h"
#include "base/hash.h"
#include "base/mutex.h"
#include "profile/event.h"
#include "profile/site.h"
#include <string.h>

static ef_mutex lock = EF_MUTEX(EVENTS);
ef_tally_table ef_tallies;

static bool is_of(const ef_tally *t, const ef_event_new *e) {
    return t->samples > 0 && t->place == e->place && t->subject == e->subject &&
           t->kind == (uint16_t)e->kind && t->reason == (uint16_t)e->reason;
}

static void merge(ef_tally *to, const ef_tally *t) {
    bool first = to->samples == 0;
    to->samples += t->samples;
    to->count += t->count;
    to->duration += t->duration;
    for (int k = 0; k < 3; k++) to->sum[k] = (int64_t)((uint64_t)to->sum[k] + (uint64_t)t->sum[k]);
    if (first || t->least < to->least) to->least = t->least;
    if (first || t->most > to->most) to->most = t->most;
    if (first || t->first < to->first) to->first = t->first;
    if (first || t->last > to->last) to->last = t->last;
}

/* The tally of an event. If its set is full, a new one replaces the tally with the lowest count. */
static ef_tally_entry *tally_of(const ef_event_new *e) {
    uint64_t h = ef_hash_mix((uint64_t)e->place << 32 | e->subject,
                             (uint64_t)e->kind << 16 | (uint64_t)e->reason);
    ef_tally_entry *set = ef_tallies.of[h % EF_TALLY_SETS], *least = &set[0];
    for (int k = 0; k < EF_TALLY_WAYS; k++) {
        if (is_of(&set[k].sum, e)) return &set[k];
        if (set[k].sum.count < least->sum.count) least = &set[k];
    }
    if (least->sum.samples > 0) merge(&ef_tallies.others[least->sum.kind], &least->sum);
    memset(least, 0, sizeof *least);
    least->sum.place = e->place;
    least->sum.subject = e->subject;
    least->sum.kind = (uint16_t)e->kind;
    least->sum.reason = (uint16_t)e->reason;
    return least;
}

void ef_tally_add(const ef_event_new *e, uint64_t ticks) {
    uint64_t now = ef_event_clock(), weight = e->weight > 0 ? e->weight : 1;
    ef_tally one = {.samples = 1,
                    .count = weight,
                    .duration = ticks * weight,
                    .first = now,
                    .last = now,
                    .least = e->value[0],
                    .most = e->value[0]};
    for (int k = 0; k < 3; k++) one.sum[k] = (int64_t)((uint64_t)e->value[k] * weight);
    ef_mutex_lock(&lock);
    ef_tally_entry *t = tally_of(e);
    uint32_t ns = ticks < UINT32_MAX ? (uint32_t)ticks : UINT32_MAX;
    if (t->sum.samples == 0) t->sum.opening = ns;
    if (weight > 1 && t->sum.count == t->sum.samples) t->begun = 0; /* the calls before warmed up */
    if (t->begun < EF_TALLY_WINDOW) t->early[t->begun++] = ns;
    t->late[t->sum.samples % EF_TALLY_WINDOW] = ns;
    merge(&t->sum, &one);
    if (e->note != 0) t->sum.note = e->note;
    ef_mutex_unlock(&lock);
}

static uint32_t median(const uint32_t *all, uint32_t samples) {
    uint32_t v[EF_TALLY_WINDOW], n = samples < EF_TALLY_WINDOW ? samples : EF_TALLY_WINDOW;
    memcpy(v, all, n * sizeof *v);
    for (uint32_t k = 1; k < n; k++)
        for (uint32_t j = k; j > 0 && v[j] < v[j - 1]; j--) {
            uint32_t swap = v[j];
            v[j] = v[j - 1];
            v[j - 1] = swap;
        }
    return n > 0 ? v[n / 2] : 0;
}

static ef_tally in_nanoseconds(const ef_tally *t, const ef_event_rate *clock) {
    ef_tally out = *t;
    out.duration = ef_rate_ns(clock, t->duration);
    out.first = ef_rate_time(clock, t->first);
    out.last = ef_rate_time(clock, t->last);
    out.early = (uint32_t)ef_rate_ns(clock, t->early);
    out.late = (uint32_t)ef_rate_ns(clock, t->late);
    out.opening = (uint32_t)ef_rate_ns(clock, t->opening);
    return out;
}

size_t ef_tallies_of(ef_tally_table *table, const ef_event_rate *clock, ef_tally *out, size_t max) {
    size_t n = 0;
    for (int s = 0; s < EF_TALLY_SETS; s++)
        for (int w = 0; w < EF_TALLY_WAYS && n < max; w++) {
            ef_tally_entry *t = &table->of[s][w];
            if (t->sum.samples == 0) continue;
            t->sum.early = median(t->early, t->begun);
            t->sum.late = median(t->late, t->sum.samples);
            out[n++] = in_nanoseconds(&t->sum, clock);
        }
    for (int k = 0; k < EF_EVENT_KINDS && n < max; k++) {
        if (table->others[k].samples == 0) continue;
        table->others[k].kind = (uint16_t)k;
        out[n++] = in_nanoseconds(&table->others[k], clock);
    }
    return n;
}

size_t ef_tallies_read(ef_tally *out, size_t max) {
    ef_event_rate clock = ef_event_rate_now();
    ef_mutex_lock(&lock);
    size_t n = ef_tallies_of(&ef_tallies, &clock, out, max);
    ef_mutex_unlock(&lock);
    return n;
}

void ef_tallies_reset(void) {
    ef_mutex_lock(&lock);
    memset(&ef_tallies, 0, sizeof ef_tallies);
    ef_tallies.reset = ef_event_clock();
    ef_mutex_unlock(&lock);
}

void ef_tally_copy(ef_tally_table *out) {
    ef_mutex_lock(&lock);
    *out = ef_tallies;
    ef_mutex_unlock(&lock);
}
