/* Stages that are counted are in a list, so that events about a pipeline can be posted while it is
 * still open. The list is guarded by a lock; the counters of a stage are written by the thread that
 * uses it and read by the thread that posts. */
#include "data/stage_events.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "profile/event.h"

static atomic_bool watching;
static ef_mutex lock = EF_MUTEX(STAGES); /* guards the list and the told_ counters */
static ef_stage *counted;

void ef_stages_watch(bool on) { atomic_store_explicit(&watching, on, memory_order_relaxed); }

void ef_dataset_place_set(const ef_tensor *dataset, uint32_t place) {
    ef_dataset *d = (ef_dataset *)(uintptr_t)ef_dataset_of(dataset);
    if (d != NULL && d->place == 0) d->place = place;
}

void ef_stage_opened(ef_stage *s) {
    if (s->dataset->place == 0 || !atomic_load_explicit(&watching, memory_order_relaxed)) return;
    s->began = ef_event_clock();
    ef_mutex_lock(&lock);
    s->after = counted;
    if (counted != NULL) counted->before = s;
    counted = s;
    ef_mutex_unlock(&lock);
    s->counted = true;
}

/* One thread at a time writes, so adding needs no exclusive access. */
static void add(_Atomic uint64_t *to, uint64_t n) {
    uint64_t before = atomic_load_explicit(to, memory_order_relaxed);
    atomic_store_explicit(to, before + n, memory_order_relaxed);
}

void ef_stage_gave(ef_stage *s, uint64_t ns, int64_t n, const ef_tensor *out) {
    if (atomic_load_explicit(&s->ns, memory_order_relaxed) == 0) s->first_ns = ns;
    add(&s->ns, ns);
    add(&s->given, (uint64_t)n);
    for (int k = 0; k < s->width && n > 0; k++)
        if (out[k].dtype != EF_VARIANT && out[k].dtype != EF_RESOURCE)
            add(&s->bytes, (uint64_t)ef_tensor_bytes(&out[k]));
}

/* The event note with a kind's name: the earlier one, unless it was overwritten. */
static uint32_t name_of(const ef_stage_kind *kind) {
    static uint32_t notes[EF_DATASET_KINDS]; /* under the lock */
    static const ef_stage_kind *kinds[EF_DATASET_KINDS];
    char text[8];
    int k = 0;
    while (k < EF_DATASET_KINDS - 1 && kinds[k] != NULL && kinds[k] != kind) k++;
    bool known = kinds[k] != NULL && kinds[k] == kind;
    if (!known || !ef_event_note_get(notes[k], text, sizeof text))
        notes[k] = ef_event_note(kind->name);
    kinds[k] = kind;
    return notes[k];
}

static void tell(ef_stage *s) { /* under the lock */
    uint64_t made = atomic_load_explicit(&s->given, memory_order_relaxed);
    uint64_t ns = atomic_load_explicit(&s->ns, memory_order_relaxed);
    uint64_t bytes = atomic_load_explicit(&s->bytes, memory_order_relaxed);
    if (ns == s->told_ns) return;
    const ef_dataset *source = ef_dataset_source(s->dataset);
    ef_event_post(
        &(ef_event_new){.kind = EF_EVENT_STAGE,
                        .began = s->began,
                        .place = s->dataset->place,
                        .subject = source != NULL ? source->place : 0,
                        .note = name_of(s->kind),
                        .value = {(int64_t)(made - s->told_given), (int64_t)(ns - s->told_ns),
                                  (int64_t)(bytes - s->told_bytes)}});
    s->told_given = made;
    s->told_ns = ns;
    s->told_bytes = bytes;
}

/* A shuffle fills its buffer in the first call, while its consumer waits. */
static void tell_fill(ef_stage *s) {
    uint64_t made = atomic_load(&s->given), bytes = atomic_load(&s->bytes);
    if (s->kind != &ef_stage_shuffle || made == 0) return;
    int64_t size = ef_dataset_int(s->dataset, "buffer_size", 1);
    uint64_t held = size < 0 || (uint64_t)size > made ? made : (uint64_t)size;
    uint64_t now = ef_event_clock();
    ef_event_post(&(ef_event_new){
        .kind = EF_EVENT_FILL,
        .began = now - ef_event_ticks(s->first_ns),
        .place = s->dataset->place,
        .nowhere = true,
        .value = {(int64_t)(bytes / made * held), (int64_t)ef_event_ns(now - s->began), size}});
}

void ef_stage_closes(ef_stage *s) {
    ef_mutex_lock(&lock);
    *(s->before != NULL ? &s->before->after : &counted) = s->after;
    if (s->after != NULL) s->after->before = s->before;
    tell(s);
    ef_mutex_unlock(&lock);
    tell_fill(s);
}

void ef_stages_tell(void) {
    ef_mutex_lock(&lock);
    for (ef_stage *s = counted; s != NULL; s = s->after) tell(s);
    ef_mutex_unlock(&lock);
}
