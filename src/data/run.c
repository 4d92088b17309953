/* Runs, and the list of all of them. */
#include "data/run.h"
#include "base/alloc.h"
#include "data/options.h"
#include "data/ring.h"
#include "ops/random/random.h"
#include <unistd.h>

static ef_mutex all_lock = EF_MUTEX(RUNS); /* guards the list */
static ef_run *all;

/* Half of the machine's memory, if the program says nothing. */
static uint64_t usual_ceiling(void) {
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : (uint64_t)1 << 30;
}

/* Options closer to the consumer have precedence, as in TensorFlow. */
static void read_options(ef_run *r, const ef_dataset *d) {
    ef_data_options o = {0};
    for (; d != NULL; d = ef_dataset_source(d))
        if (d->set->serialized_options.n > 0)
            ef_data_options_read(&o, d->set->serialized_options.at, d->set->serialized_options.n);
    r->ceiling = o.ram_budget > 0 ? (uint64_t)o.ram_budget : usual_ceiling();
    r->untuned = o.autotune_set && !o.autotune;
    r->any_order = o.any_order;
    r->uninjected = r->untuned || (o.inject_set && !o.inject);
    if (o.cpu_budget > 0) r->most_workers = o.cpu_budget < 256 ? (int)o.cpu_budget : 256;
}

ef_status *ef_run_make(const ef_dataset *d, ef_run **out) {
    ef_run *r = ef_calloc(1, sizeof *r);
    if (r == NULL) return ef_no_memory(sizeof *r);
    read_options(r, d);
    r->dataset = d->number;
    ef_mutex_init(&r->lock, EF_RANK_RUN, EF_MUTEX_PLAIN);
    r->random = ef_random_scope_new();
    ef_mutex_lock(&all_lock);
    r->next = all;
    if (all != NULL) all->before = r;
    all = r;
    ef_mutex_unlock(&all_lock);
    *out = r;
    return NULL;
}

void ef_run_free(ef_run *r) {
    if (r == NULL) return;
    ef_notes_keep(r);
    ef_mutex_lock(&all_lock);
    *(r->before != NULL ? &r->before->next : &all) = r->next;
    if (r->next != NULL) r->next->before = r->before;
    ef_mutex_unlock(&all_lock);
    ef_canceller_free(atomic_load(&r->canceller));
    ef_mutex_destroy(&r->lock);
    ef_free(r);
}

void ef_run_stop(ef_run *r) {
    atomic_store(&r->stopped, true);
    ef_canceller *c = atomic_load(&r->canceller);
    if (c != NULL) ef_cancel(c);
    ef_mutex_lock(&r->lock);
    for (ef_ring *k = r->rings; k != NULL; k = ef_ring_after(k)) ef_ring_wake(k);
    ef_mutex_unlock(&r->lock);
}

bool ef_run_visit(uint64_t dataset, void (*visit)(const ef_run *r, void *arg), void *arg) {
    ef_mutex_lock(&all_lock);
    const ef_run *r = all;
    while (r != NULL && r->dataset != dataset) r = r->next;
    if (r != NULL) visit(r, arg);
    ef_mutex_unlock(&all_lock);
    return r != NULL;
}

bool ef_run_reserve(ef_run *r, uint64_t bytes, bool must) {
    uint64_t have = atomic_load_explicit(&r->bytes, memory_order_relaxed), sum;
    do {
        sum = have + bytes;
        if (sum > r->ceiling && !must) return false;
    } while (!atomic_compare_exchange_weak_explicit(&r->bytes, &have, sum, memory_order_relaxed,
                                                    memory_order_relaxed));
    uint64_t peak = atomic_load_explicit(&r->peak, memory_order_relaxed);
    while (peak < sum && !atomic_compare_exchange_weak_explicit(
                             &r->peak, &peak, sum, memory_order_relaxed, memory_order_relaxed)) {}
    return true;
}

void ef_run_release(ef_run *r, uint64_t bytes) {
    atomic_fetch_sub_explicit(&r->bytes, bytes, memory_order_relaxed);
}

void ef_run_stop_all(void) {
    ef_mutex_lock(&all_lock);
    for (ef_run *r = all; r != NULL; r = r->next) ef_run_stop(r);
    ef_mutex_unlock(&all_lock);
}

ef_status *ef_run_canceller(ef_run *r, ef_canceller **out) {
    ef_canceller *have = atomic_load(&r->canceller), *fresh;
    if (have == NULL) {
        EF_TRY(ef_canceller_new(&fresh));
        if (atomic_compare_exchange_strong(&r->canceller, &have, fresh))
            have = fresh;
        else
            ef_canceller_free(fresh);
        if (atomic_load(&r->stopped)) ef_cancel(have);
    }
    *out = have;
    return NULL;
}
