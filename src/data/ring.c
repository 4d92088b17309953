/* The ring's threads. A slot is taken by a worker, filled, and given to the consumer in order. A
 * thread that waits does so without the interpreter's lock, and looks for an interruption every
 * 20 ms. */
#include "data/ring.h"
#include "base/alloc.h"
#include "base/blocking.h"
#include "base/pulse.h"
#include "tensor/tensor.h"
#include <errno.h>
#include <signal.h>
#include <time.h>

typedef struct slot {
    ef_tensor *element;
    ef_status *error;
    bool ready, end;
} slot;

struct ef_ring {
    ef_ring *next, *before; /* in the run's list */
    ef_run *run;
    ef_ring_work work;
    ef_mutex lock; /* guards what follows */
    pthread_cond_t filled, freed;
    slot *slots;
    ef_tensor *elements;
    uint64_t n_slots, head, tail; /* head: the next to leave; tail: the next to be taken */
    bool taking, ended, stopped;
    int n_workers, n_started;
    pthread_t *worker;
};

enum { WAIT_MS = 20 };

ef_ring *ef_ring_after(const ef_ring *r) { return r->next; }

void ef_ring_wake(ef_ring *r) {
    ef_mutex_lock(&r->lock);
    r->stopped = true;
    pthread_cond_broadcast(&r->filled);
    pthread_cond_broadcast(&r->freed);
    ef_mutex_unlock(&r->lock);
}

ef_status *ef_ring_open(ef_run *run, const ef_ring_work *work, int slots, int workers,
                        ef_ring **out) {
    size_t n = (size_t)(slots < workers ? workers : slots);
    ef_ring *r = ef_calloc(1, sizeof *r);
    if (r == NULL) return ef_no_memory(sizeof *r);
    r->slots = ef_calloc(n, sizeof *r->slots);
    r->elements = ef_calloc(n * (size_t)work->width + 1, sizeof *r->elements);
    r->worker = ef_calloc((size_t)workers, sizeof *r->worker);
    if (r->slots == NULL || r->elements == NULL || r->worker == NULL) {
        ef_free(r->slots);
        ef_free(r->elements);
        ef_free(r->worker);
        ef_free(r);
        return ef_no_memory(n * (size_t)work->width * sizeof *r->elements);
    }
    for (size_t k = 0; k < n; k++) r->slots[k].element = r->elements + k * (size_t)work->width;
    r->run = run;
    r->work = *work;
    r->n_slots = n;
    r->n_workers = workers;
    ef_mutex_init(&r->lock, EF_RANK_RING, EF_MUTEX_PLAIN);
    pthread_cond_init(&r->filled, NULL);
    pthread_cond_init(&r->freed, NULL);
    ef_mutex_lock(&run->lock);
    r->next = run->rings;
    if (run->rings != NULL) run->rings->before = r;
    run->rings = r;
    r->stopped = atomic_load(&run->stopped);
    ef_mutex_unlock(&run->lock);
    *out = r;
    return NULL;
}

/* ---- workers ------------------------------------------------------------------------------------
 */

static bool may_take(const ef_ring *r) {
    return !r->taking && !r->ended && r->tail - r->head < r->n_slots;
}

static void release(const ef_ring *r, ef_tensor *element) {
    for (int k = 0; k < r->work.width; k++) ef_tensor_release(&element[k]);
}

/* Fills one slot; the lock is held before and after. */
static void fill(ef_ring *r) {
    slot *s = &r->slots[r->tail++ % r->n_slots];
    bool end = false;
    r->taking = true;
    ef_mutex_unlock(&r->lock);
    ef_status *error = r->work.take(r->work.arg, s->element, &end);
    ef_mutex_lock(&r->lock);
    r->taking = false;
    if (end) r->ended = true;
    pthread_cond_signal(&r->freed); /* another worker may take now */
    if (error == NULL && !end && r->work.work != NULL) {
        ef_mutex_unlock(&r->lock);
        error = r->work.work(r->work.arg, s->element);
        ef_mutex_lock(&r->lock);
    }
    s->error = error;
    s->end = end;
    s->ready = true;
    pthread_cond_broadcast(&r->filled);
}

static void *run_worker(void *arg) {
    ef_ring *r = arg;
    ef_canceller_use(atomic_load(&r->run->canceller));
    ef_pipeline_depth = 1;
    ef_mutex_lock(&r->lock);
    while (!r->stopped && !r->ended) {
        if (may_take(r))
            fill(r);
        else
            ef_mutex_wait(&r->lock, &r->freed);
    }
    pthread_cond_broadcast(&r->freed);
    ef_mutex_unlock(&r->lock);
    ef_canceller_use(NULL);
    return NULL;
}

static ef_status *start(ef_ring *r) {
    ef_canceller *c;
    sigset_t every, old;
    EF_TRY(ef_run_canceller(r->run, &c));
    sigfillset(&every); /* signals are for the user's threads */
    pthread_sigmask(SIG_SETMASK, &every, &old);
    while (r->n_started < r->n_workers &&
           pthread_create(&r->worker[r->n_started], NULL, run_worker, r) == 0)
        pthread_setname_np(r->worker[r->n_started++], "evenflow-data");
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r->n_started > 0) return NULL;
    return ef_error(EF_NO_MEMORY, "no thread could be made for the elements of a dataset");
}

/* ---- the consumer -------------------------------------------------------------------------------
 */

static void wait_a_while(ef_ring *r, const slot *s) {
    struct timespec until;
    void *blocking = ef_blocking_begin();
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAIT_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    ef_mutex_lock(&r->lock);
    int late = 0;
    while (!s->ready && !r->stopped && late != ETIMEDOUT)
        late = pthread_cond_timedwait(&r->filled, &r->lock.mutex, &until);
    ef_mutex_unlock(&r->lock);
    ef_blocking_end(blocking);
}

ef_status *ef_ring_next(ef_ring *r, ef_tensor *out, bool *end) {
    unsigned pulse = ef_pulse();
    if (r->n_started == 0) EF_TRY(start(r));
    slot *s = &r->slots[r->head % r->n_slots];
    for (;;) {
        ef_mutex_lock(&r->lock);
        bool ready = s->ready, stopped = r->stopped;
        ef_mutex_unlock(&r->lock);
        if (ready) break;
        if (stopped) return ef_error(EF_CANCELLED, "the iteration was stopped");
        wait_a_while(r, s);
        EF_TRY(ef_pulse_check(ef_context_here(), &pulse));
    }
    ef_status *error = s->error;
    if (s->end) { /* stays, for whoever asks again */
        *end = true;
        return NULL;
    }
    for (int k = 0; k < r->work.width; k++) {
        if (error == NULL)
            ef_tensor_move(&out[k], &s->element[k]);
        else
            ef_tensor_release(&s->element[k]);
    }
    ef_mutex_lock(&r->lock);
    s->error = NULL;
    s->ready = false;
    r->head++;
    pthread_cond_signal(&r->freed);
    ef_mutex_unlock(&r->lock);
    return error;
}

void ef_ring_close(ef_ring *r) {
    if (r == NULL) return;
    ef_mutex_lock(&r->run->lock);
    *(r->before != NULL ? &r->before->next : &r->run->rings) = r->next;
    if (r->next != NULL) r->next->before = r->before;
    ef_mutex_unlock(&r->run->lock);
    ef_ring_wake(r);
    if (r->n_started > 0) {
        void *blocking = ef_blocking_begin();
        for (int k = 0; k < r->n_started; k++) pthread_join(r->worker[k], NULL);
        ef_blocking_end(blocking);
    }
    for (uint64_t k = 0; k < r->n_slots; k++) {
        release(r, r->slots[k].element);
        ef_status_free(r->slots[k].error);
    }
    pthread_cond_destroy(&r->filled);
    pthread_cond_destroy(&r->freed);
    ef_mutex_destroy(&r->lock);
    ef_free(r->slots);
    ef_free(r->elements);
    ef_free(r->worker);
    ef_free(r);
}
