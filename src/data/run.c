/* Runs, and the list of all of them. */
#include "data/run.h"
#include "base/alloc.h"
#include "data/ring.h"
#include "ops/random/random.h"

static ef_mutex all_lock = EF_MUTEX(RUNS); /* guards the list */
static ef_run *all;

ef_status *ef_run_make(ef_run **out) {
    ef_run *r = ef_calloc(1, sizeof *r);
    if (r == NULL) return ef_no_memory(sizeof *r);
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
