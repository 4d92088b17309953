/* Notes of stages, and the text that ds.explain() prints. */
#include "data/statistics.h"
#include "base/alloc.h"
#include "base/text.h"
#include "data/run.h"
#include <stdio.h>

static bool fits(const ef_stage_note *n, int parent, const char *name, uint64_t dataset) {
    return n->parent == parent && n->name == name && n->dataset == dataset;
}

/* A function that makes datasets of elements makes any number of them, so the stages of one kind
 * below one stage share a note once there are several. */
static ef_stage_note *find(ef_run *run, int parent, const char *name, uint64_t dataset) {
    int n = atomic_load_explicit(&run->n_notes, memory_order_relaxed), alike = 0;
    ef_stage_note *first = NULL;
    for (int k = 0; k < n; k++) {
        ef_stage_note *note = &run->note[k];
        if (fits(note, parent, name, dataset)) return note;
        if (note->parent != parent || note->name != name) continue;
        if (alike++ == 0) first = note;
    }
    return alike >= EF_STAGE_NOTE_CHILDREN ? first : NULL;
}

/* The note of a stage that is opened during the iteration, when it is not known whose source it is.
 */
static ef_stage_note *reopened(ef_run *run, const char *name, uint64_t dataset) {
    int n = atomic_load_explicit(&run->n_notes, memory_order_relaxed);
    for (int k = 0; k < n; k++)
        if (run->note[k].name == name && run->note[k].dataset == dataset) return &run->note[k];
    return find(run, n > 0 ? 0 : -1, name, dataset);
}

ef_stage_note *ef_stage_note_of(ef_run *run, const ef_stage_note *parent, const char *name,
                                const ef_dataset *d) {
    int above = parent != NULL ? (int)(parent - run->note) : -1;
    ef_mutex_lock(&run->lock);
    ef_stage_note *note =
        parent != NULL ? find(run, above, name, d->number) : reopened(run, name, d->number);
    int n = atomic_load_explicit(&run->n_notes, memory_order_relaxed);
    if (note == NULL && n < EF_STAGE_NOTES) {
        note = &run->note[n];
        note->name = name;
        note->dataset = d->number;
        note->parent = above >= 0 || n == 0 ? above : 0;
        note->depth = parent != NULL ? parent->depth + 1 : n > 0;
        atomic_store_explicit(&run->n_notes, n + 1, memory_order_release);
    }
    ef_mutex_unlock(&run->lock);
    return note;
}

void ef_stage_note_decide(ef_stage_note *n, ef_decision what, int from, int to, int gain) {
    if (n == NULL) return;
    atomic_store_explicit(&n->from, from, memory_order_relaxed);
    atomic_store_explicit(&n->to, to, memory_order_relaxed);
    atomic_store_explicit(&n->gain, gain, memory_order_relaxed);
    atomic_store_explicit(&n->decision, (int)what, memory_order_relaxed);
}

/* ---- runs that ended ---------------------------------------------------------------------------
 */

typedef struct noted {
    const char *name;
    uint64_t dataset, made, ns, waited, bytes;
    int parent, depth, workers, slots, decision, from, to, gain, settled, pause, skipped;
} noted;
typedef struct history {
    uint64_t dataset, ceiling, peak;
    int n;
    noted note[EF_STAGE_NOTES];
} history;

enum { KEPT = 8 };
static ef_mutex kept_lock = EF_MUTEX(NOTES); /* guards what follows */
static history kept[KEPT];
static int next_kept;

#define READ(FIELD) atomic_load_explicit(&FIELD, memory_order_relaxed)

static void copy_notes(const ef_run *r, void *arg) {
    history *h = arg;
    h->dataset = r->dataset;
    h->ceiling = r->ceiling;
    h->peak = READ(r->peak);
    h->n = atomic_load_explicit(&r->n_notes, memory_order_acquire);
    for (int k = 0; k < h->n; k++) {
        const ef_stage_note *n = &r->note[k];
        h->note[k] = (noted){.name = n->name,
                             .dataset = n->dataset,
                             .made = READ(n->made),
                             .ns = READ(n->ns),
                             .waited = READ(n->waited),
                             .bytes = READ(n->bytes),
                             .parent = n->parent,
                             .depth = n->depth,
                             .workers = READ(n->workers),
                             .slots = READ(n->slots),
                             .decision = READ(n->decision),
                             .from = READ(n->from),
                             .to = READ(n->to),
                             .gain = READ(n->gain),
                             .settled = READ(n->settled),
                             .pause = READ(n->pause),
                             .skipped = READ(n->skipped)};
    }
}

void ef_notes_keep(const ef_run *run) {
    if (atomic_load_explicit(&run->n_notes, memory_order_relaxed) == 0 ||
        READ(run->note[0].made) == 0)
        return;
    ef_mutex_lock(&kept_lock);
    int at = 0;
    while (at < KEPT && kept[at].dataset != run->dataset) at++;
    if (at == KEPT) {
        at = next_kept;
        next_kept = (next_kept + 1) % KEPT;
    }
    copy_notes(run, &kept[at]);
    ef_mutex_unlock(&kept_lock);
}

static bool recall(const history *h, uint64_t dataset, const char *name, int *slots) {
    for (int k = 0; k < h->n; k++) {
        const noted *n = &h->note[k];
        if (n->dataset != dataset || n->name != name || n->workers == 0) continue;
        *slots = n->slots;
        return true;
    }
    return false;
}

bool ef_notes_recall(const ef_stage_note *n, int *slots) {
    bool found = false;
    if (n == NULL) return false;
    ef_mutex_lock(&kept_lock);
    for (int k = 0; k < KEPT && !found; k++) found = recall(&kept[k], n->dataset, n->name, slots);
    ef_mutex_unlock(&kept_lock);
    return found;
}

bool ef_notes_recall_tuner(const ef_stage_note *n, int *workers, int *pause, int *skipped) {
    bool found = false;
    if (n == NULL) return false;
    ef_mutex_lock(&kept_lock);
    for (int k = 0; k < KEPT && !found; k++)
        for (int j = 0; j < kept[k].n && !found; j++) {
            const noted *o = &kept[k].note[j];
            found = o->dataset == n->dataset && o->name == n->name && o->settled > 0;
            if (!found) continue;
            *workers = o->settled - 1;
            *pause = o->pause;
            *skipped = o->skipped;
        }
    ef_mutex_unlock(&kept_lock);
    return found;
}

static bool find_history(uint64_t dataset, history *out) {
    if (ef_run_visit(dataset, copy_notes, out) && out->n > 0 && out->note[0].made > 0) return true;
    bool found = false;
    ef_mutex_lock(&kept_lock);
    for (int k = 0; k < KEPT && !found; k++) {
        found = kept[k].dataset == dataset && kept[k].n > 0;
        if (found) *out = kept[k];
    }
    ef_mutex_unlock(&kept_lock);
    return found;
}

/* ---- as text -----------------------------------------------------------------------------------
 */

static void decision_text(const noted *n, char *to, size_t size) {
    const char *what = n->workers > 1 ? "workers" : "elements ahead";
    switch ((ef_decision)n->decision) {
    case EF_DECIDED_INLINE: snprintf(to, size, "quick: no thread"); break;
    case EF_DECIDED_THREADS: snprintf(to, size, "slow: made ahead by %d", n->to); break;
    case EF_DECIDED_ENOUGH: snprintf(to, size, "nobody waits: kept at %d", n->to); break;
    case EF_DECIDED_TRY: snprintf(to, size, "trying %d instead of %d", n->to, n->from); break;
    case EF_DECIDED_KEEP:
        snprintf(to, size, "%d -> %d: %+d %%, kept", n->from, n->to, n->gain);
        break;
    case EF_DECIDED_BACK:
        snprintf(to, size, "%d -> %d: %+d %%, back", n->from, n->to, n->gain);
        break;
    case EF_DECIDED_MOST: snprintf(to, size, "%d %s are the most", n->to, what); break;
    case EF_DECIDED_BYTES: snprintf(to, size, "held by the byte ceiling"); break;
    case EF_DECIDED_BUSY: snprintf(to, size, "processors are busy: kept at %d", n->to); break;
    default: snprintf(to, size, "-"); break;
    }
}

static void time_text(double ns, char *to, size_t size) {
    if (ns >= 1e9)
        snprintf(to, size, "%.2f s", ns / 1e9);
    else if (ns >= 1e6)
        snprintf(to, size, "%.2f ms", ns / 1e6);
    else
        snprintf(to, size, "%.1f us", ns / 1e3);
}

/* The time of the stage itself: a source whose elements are made ahead costs only the waiting. */
static uint64_t own_ns(const history *h, int k) {
    uint64_t sources = 0;
    if (h->note[k].workers > 0) return h->note[k].ns;
    for (int j = k + 1; j < h->n; j++)
        if (h->note[j].parent == k)
            sources += h->note[j].workers > 0 ? h->note[j].waited : h->note[j].ns;
    return h->note[k].ns > sources ? h->note[k].ns - sources : 0;
}

static void line_text(const history *h, int k, ef_text *t) {
    const noted *n = &h->note[k];
    char own[32], waited[32], decision[96], name[64], workers[16] = "-", ahead[16] = "-";
    uint64_t ns = own_ns(h, k);
    time_text((double)ns, own, sizeof own);
    time_text((double)n->waited, waited, sizeof waited);
    decision_text(n, decision, sizeof decision);
    snprintf(name, sizeof name, "%*s%s", 2 * (n->depth < 8 ? n->depth : 8), "", n->name);
    if (n->workers > 0) {
        snprintf(workers, sizeof workers, "%d", n->workers);
        snprintf(ahead, sizeof ahead, "%d", n->slots);
    }
    double rate = ns > 0 ? (double)n->made * 1e9 / (double)ns : 0;
    ef_text_add(t, "%-28s %10llu %12.0f %11s %11s %7s %5s %12s  %s\n", name,
                (unsigned long long)n->made, rate, own, waited, workers, ahead,
                n->workers > 0 ? EF_BYTES((int64_t)n->bytes) : "-", decision);
}

static void tree_text(const history *h, int parent, ef_text *t) {
    for (int k = parent + 1; k < h->n; k++) {
        if (h->note[k].parent != parent) continue;
        line_text(h, k, t);
        tree_text(h, k, t);
    }
}

ef_status *ef_notes_explain(const ef_dataset *d, char **out) {
    history *h = ef_calloc(1, sizeof *h);
    ef_text t = {0};
    *out = NULL;
    if (h == NULL) return ef_no_memory(sizeof *h);
    if (find_history(d->number, h)) {
        ef_text_add(&t, "%-28s %10s %12s %11s %11s %7s %5s %12s  %s\n", "stage", "elements",
                    "elements/s", "own time", "waited for", "workers", "ahead", "most bytes",
                    "last decision");
        tree_text(h, -1, &t);
        ef_text_add(&t, "ready ahead at most: %s", EF_BYTES((int64_t)h->peak));
        ef_text_add(&t, " of a ceiling of %s\n", EF_BYTES((int64_t)h->ceiling));
    }
    ef_free(h);
    if (t.failed) {
        ef_text_free(&t);
        return ef_no_memory(4096);
    }
    *out = t.at;
    return NULL;
}
