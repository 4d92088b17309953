/* The ring's threads. A slot is taken by a worker, filled, and passed to the consumer in order, or
 * as soon as it is ready if the program allows any order. A thread that waits does so without the
 * interpreter's lock, and checks for an interruption every 20 ms. Before a slot is taken, bytes are
 * reserved for its element: as many as the largest one so far had. So no worker takes a second slot
 * before the first element is ready. */
#include "data/ring.h"
#include "base/alloc.h"
#include "base/blocking.h"
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/pool.h"
#include "data/leftover.h"
#include "tensor/tensor.h"
#include <signal.h>

typedef struct slot {
    ef_tensor *element;
    ef_status *error;
    uint64_t bytes; /* reserved for it, or its own when it is ready */
    bool ready, end;
} slot;

struct ef_ring {
    ef_ring *next, *before; /* in the run's list */
    ef_run *run;
    ef_ring_work work;
    ef_mutex lock; /* guards what follows */
    pthread_cond_t filled, freed;
    slot *slots;
    uint32_t *order; /* the slot of each place; an element that leaves early changes places */
    ef_tensor *elements;
    uint64_t n_slots, head, tail; /* head: the next to leave; tail: the next to be taken */
    uint64_t ahead;               /* slots in use; the tuner may decide on it */
    uint64_t largest, bytes;      /* of one element, and of all elements that are ready */
    uint64_t busy;                /* processor time of the workers in this interval, ns */
    bool taking, ended, stopped, retired;
    bool paused;                        /* while a position is saved */
    int filling;                        /* workers that fill a slot */
    ef_ring *resumed;                   /* the next one of the saver's list, if paused */
    bool was_full, was_empty, was_held; /* in this interval; held: back by the byte ceiling */
    int n_workers, n_started;           /* workers in use, and threads */
    pthread_t *worker;
    /* Used by the consumer only. */
    ef_interval interval;
    uint64_t began;    /* the interval; 0: none has */
    uint64_t settling; /* elements that workers took before their number changed */
    bool tuned_slots;
};

enum { WAIT_MS = 20 };

/* ---- a bell for several rings -------------------------------------------------------------------
 */

void ef_bell_init(ef_bell *b) {
    ef_mutex_init(&b->lock, EF_RANK_BELL, EF_MUTEX_PLAIN);
    ef_cond_init(&b->rung);
    b->times = 0;
}

void ef_bell_destroy(ef_bell *b) {
    pthread_cond_destroy(&b->rung);
    ef_mutex_destroy(&b->lock);
}

static void ring_bell(ef_bell *b) {
    ef_mutex_lock(&b->lock);
    b->times++;
    pthread_cond_broadcast(&b->rung);
    ef_mutex_unlock(&b->lock);
}

uint64_t ef_bell_times(ef_bell *b) {
    ef_mutex_lock(&b->lock);
    uint64_t times = b->times;
    ef_mutex_unlock(&b->lock);
    return times;
}

void ef_bell_wait(ef_bell *b, uint64_t times) {
    struct timespec until = ef_deadline(WAIT_MS);
    ef_pool_block(ef_context_here());
    void *blocking = ef_blocking_begin();
    ef_mutex_lock(&b->lock);
    while (b->times == times && ef_mutex_wait_until(&b->lock, &b->rung, &until)) {}
    ef_mutex_unlock(&b->lock);
    ef_blocking_end(blocking);
    ef_pool_unblock(ef_context_here());
}

ef_ring *ef_ring_after(const ef_ring *r) { return r->next; }

void ef_ring_wake(ef_ring *r) {
    ef_mutex_lock(&r->lock);
    r->stopped = true;
    pthread_cond_broadcast(&r->filled);
    pthread_cond_broadcast(&r->freed);
    ef_mutex_unlock(&r->lock);
}

/* Wakes one of the workers in use. If some threads are not in use, a signal could wake one of
 * these, so all are woken. */
static void wake_worker(ef_ring *r) {
    if (r->n_started > r->n_workers)
        pthread_cond_broadcast(&r->freed);
    else
        pthread_cond_signal(&r->freed);
}

static void note_size(const ef_ring *r) {
    ef_stage_note *n = r->work.note;
    if (n == NULL) return;
    atomic_store_explicit(&n->workers, r->n_workers, memory_order_relaxed);
    atomic_store_explicit(&n->slots, (int)r->ahead, memory_order_relaxed);
}

static int at_least(int n, int least) { return n < least ? least : n; }

ef_status *ef_ring_open(ef_run *run, const ef_ring_work *work, const ef_ring_size *size,
                        ef_ring **out) {
    int workers = at_least(size->most_workers, size->workers);
    size_t n = (size_t)at_least(at_least(size->slots, size->most_slots), 2 * workers);
    ef_ring *r = ef_calloc(1, sizeof *r);
    if (r == NULL) return ef_no_memory(sizeof *r);
    r->slots = ef_calloc(n, sizeof *r->slots);
    r->order = ef_calloc(n, sizeof *r->order);
    r->elements = ef_calloc(n * (size_t)work->width + 1, sizeof *r->elements);
    r->worker = ef_calloc((size_t)workers, sizeof *r->worker);
    if (r->slots == NULL || r->order == NULL || r->elements == NULL || r->worker == NULL) {
        ef_free(r->slots);
        ef_free(r->order);
        ef_free(r->elements);
        ef_free(r->worker);
        ef_free(r);
        return ef_no_memory(n * (size_t)work->width * sizeof *r->elements);
    }
    for (size_t k = 0; k < n; k++) {
        r->slots[k].element = r->elements + k * (size_t)work->width;
        r->order[k] = (uint32_t)k;
    }
    r->run = run;
    r->work = *work;
    r->n_slots = n;
    r->ahead = (uint64_t)at_least(size->slots, size->workers);
    r->n_workers = size->workers;
    r->tuned_slots = work->tuner == NULL && workers == 1 && size->most_slots > size->slots;
    note_size(r);
    ef_mutex_init(&r->lock, EF_RANK_RING, EF_MUTEX_PLAIN);
    ef_cond_init(&r->filled);
    ef_cond_init(&r->freed);
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

static slot *slot_at(const ef_ring *r, uint64_t place) {
    return &r->slots[r->order[place % r->n_slots]];
}

/* Whether a worker may take the next slot; the bytes for its element are reserved then. */
static bool may_take(ef_ring *r) {
    uint64_t used = r->tail - r->head;
    if (r->taking || r->ended || r->paused || r->retired) return false;
    if (used >= r->ahead) {
        r->was_full = true;
        return false;
    }
    if (used > 0 && r->largest == 0) return false;
    if (ef_run_reserve(r->run, r->largest, used == 0)) return true;
    r->was_held = true;
    return false;
}

static void release(const ef_ring *r, ef_tensor *element) {
    for (int k = 0; k < r->work.width; k++) ef_tensor_release(&element[k]);
}

static uint64_t bytes_of(const ef_ring *r, const ef_tensor *element) {
    uint64_t n = 1; /* so that 0 means: not known */
    for (int k = 0; k < r->work.width; k++)
        if (element[k].dtype != EF_NO_DTYPE && element[k].dtype != EF_VARIANT &&
            element[k].dtype != EF_RESOURCE)
            n += ef_tensor_bytes(&element[k]);
    return n;
}

/* The bytes of an element are known now: corrects what was reserved for it. */
static void charge_real_bytes(ef_ring *r, slot *s) {
    uint64_t n = bytes_of(r, s->element);
    if (n > s->bytes)
        ef_run_reserve(r->run, n - s->bytes, true);
    else
        ef_run_release(r->run, s->bytes - n);
    s->bytes = n;
    if (n > r->largest) r->largest = n;
    r->bytes += n;
    if (r->work.note != NULL &&
        r->bytes > atomic_load_explicit(&r->work.note->bytes, memory_order_relaxed))
        atomic_store_explicit(&r->work.note->bytes, r->bytes, memory_order_relaxed);
}

/* Works on an element. Workers that are busy at the same time divide the processors: the parallel
 * regions of one would only take them from the others. */
static ef_status *work_on(ef_ring *r, ef_tensor *element, int busy) {
    ef_context *c = ef_context_here();
    int before = c->threads;
    c->threads = at_least(ef_pool_size() / busy, 1);
    ef_status *bad = r->work.work(r->work.arg, element);
    c->threads = before;
    return bad;
}

/* Fills one slot, for which bytes are reserved; the lock is held before and after. */
static void fill(ef_ring *r) {
    uint64_t index = r->tail++;
    slot *s = slot_at(r, index);
    bool end = false;
    s->bytes = r->largest;
    r->taking = true;
    r->filling++;
    ef_mutex_unlock(&r->lock);
    ef_status *error = r->work.take(r->work.arg, s->element, &end);
    ef_mutex_lock(&r->lock);
    r->taking = false;
    if (end) r->ended = true;
    wake_worker(r); /* another one may take now */
    if (error == NULL && !end && r->work.work != NULL) {
        int busy = r->filling;
        ef_mutex_unlock(&r->lock);
        error = work_on(r, s->element, busy);
        if (error != NULL && r->work.name != NULL && ef_status_code(error) != EF_CANCELLED)
            error = ef_status_add(error, "while making element %llu of %s",
                                  (unsigned long long)(r->work.first + index), r->work.name);
        ef_mutex_lock(&r->lock);
    }
    bool first = r->largest == 0;
    charge_real_bytes(r, s);
    if (first) pthread_cond_broadcast(&r->freed);
    s->error = error;
    s->end = end;
    s->ready = true;
    r->filling--;
    pthread_cond_broadcast(&r->filled);
    if (r->work.bell != NULL) ring_bell(r->work.bell);
}

/* The step that uses the elements has priority over the workers: while all processors are busy, a
 * worker computes half of the time. A consumer that waits uses no processor. */
static const float worker_weight = 0.5F;

typedef struct job {
    ef_ring *ring;
    int number; /* of the worker */
} job;

static void count_busy(ef_ring *r, uint64_t *last) {
    uint64_t now = ef_thread_ns();
    r->busy += now - *last;
    *last = now;
}

/* While the first element is made its size is not known. One that takes long must not hold up the
 * others, for which it may even wait: then they are begun, whatever their size. */
static void wait_for_first(ef_ring *r) {
    struct timespec until = ef_deadline(WAIT_MS);
    if (ef_mutex_wait_until(&r->lock, &r->freed, &until)) return;
    if (r->tail > r->head && r->largest == 0) r->largest = 1;
}

static void *run_worker(void *arg) {
    job given = *(job *)arg;
    ef_ring *r = given.ring;
    ef_free(arg);
    ef_canceller_use(atomic_load(&r->run->canceller));
    ef_context_here()->weight = worker_weight;
    ef_pipeline_depth = 1;
    ef_pool_crowded(); /* for its effect on the time slices */
    uint64_t busy = ef_thread_ns();
    ef_mutex_lock(&r->lock);
    while (!r->stopped && !r->ended) {
        if (given.number < r->n_workers && may_take(r)) {
            fill(r);
            if (r->work.tuner != NULL) count_busy(r, &busy);
        } else if (r->work.together && r->largest == 0)
            wait_for_first(r);
        else
            ef_mutex_wait(&r->lock, &r->freed);
    }
    pthread_cond_broadcast(&r->freed);
    ef_mutex_unlock(&r->lock);
    ef_canceller_use(NULL);
    return NULL;
}

static bool start_one(ef_ring *r) {
    job *j = ef_malloc(sizeof *j);
    if (j == NULL) return false;
    *j = (job){r, r->n_started};
    if (pthread_create(&r->worker[r->n_started], NULL, run_worker, j) != 0) {
        ef_free(j);
        return false;
    }
    pthread_setname_np(r->worker[r->n_started], "evenflow-data");
    ef_mutex_lock(&r->lock); /* workers read it */
    r->n_started++;
    ef_mutex_unlock(&r->lock);
    return true;
}

static ef_status *start(ef_ring *r) {
    ef_canceller *c;
    sigset_t every, old;
    EF_TRY(ef_run_canceller(r->run, &c));
    sigfillset(&every); /* signals are for the user's threads */
    pthread_sigmask(SIG_SETMASK, &every, &old);
    while (r->n_started < r->n_workers && start_one(r)) {}
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    if (r->n_started > 0) return NULL;
    return ef_error(EF_NO_MEMORY, "no thread could be made for the elements of a dataset");
}

/* ---- the consumer -------------------------------------------------------------------------------
 */

/* Sets how many workers and slots are used from now on. */
static void resize(ef_ring *r, int workers, uint64_t ahead) {
    int before = r->n_workers;
    ef_mutex_lock(&r->lock);
    r->n_workers = workers;
    ef_mutex_unlock(&r->lock);
    if (workers > r->n_started) {
        ef_status *none = start(r); /* as many threads as can be made */
        ef_status_free(none);
    }
    ef_mutex_lock(&r->lock);
    if (r->n_workers > r->n_started) r->n_workers = r->n_started;
    r->ahead = ahead < r->n_slots ? ahead : r->n_slots;
    r->settling = workers < before ? r->tail - r->head : 0;
    pthread_cond_broadcast(&r->freed);
    ef_mutex_unlock(&r->lock);
    note_size(r);
}

/* If the buffer was both full and empty in one interval, elements come in bursts: it gets twice as
 * many slots. */
static void tune_slots(ef_ring *r, bool bursts, bool held) {
    int before = (int)r->ahead;
    if (held)
        ef_stage_note_decide(r->work.note, EF_DECIDED_BYTES, before, before, 0);
    else if (bursts && r->ahead < r->n_slots) {
        resize(r, 1, 2 * r->ahead);
        ef_stage_note_decide(r->work.note, EF_DECIDED_KEEP, before, (int)r->ahead, 0);
    } else {
        ef_stage_note_decide(r->work.note, EF_DECIDED_ENOUGH, before, before, 0);
    }
}

static void tune_workers(ef_ring *r, bool held, uint64_t busy) {
    ef_tuner *t = r->work.tuner;
    int before = t->value;
    ef_interval_busy(&r->interval, busy, before, ef_pool_size());
    if (held && !t->trying)
        ef_stage_note_decide(r->work.note, EF_DECIDED_BYTES, before, before, 0);
    else
        ef_tuner_step(t, &r->interval, r->work.note);
    if (t->value != before && t->value > 0) {
        resize(r, t->value, 2 * (uint64_t)t->value);
        t->value = r->n_workers;
    }
    ef_tuner_keep(t, r->work.note);
}

/* Called after each element; makes a decision at the end of each interval. */
static void tune(ef_ring *r, uint64_t now) {
    ef_tuner *t = r->work.tuner;
    if (!r->tuned_slots && (t == NULL || t->value == 0)) return;
    if (r->settling > 0 || r->began == 0) {
        if (r->settling > 0) r->settling--;
        r->began = now;
        r->interval = (ef_interval){0};
        return;
    }
    r->interval.elements++;
    r->interval.ns = now - r->began;
    if (!ef_interval_over(&r->interval, r->n_workers)) return;
    ef_mutex_lock(&r->lock);
    bool bursts = r->was_full && r->was_empty, held = r->was_held;
    uint64_t busy = r->busy;
    r->was_full = r->was_empty = r->was_held = false;
    r->busy = 0;
    ef_mutex_unlock(&r->lock);
    if (r->tuned_slots)
        tune_slots(r, bursts, held);
    else
        tune_workers(r, held, busy);
    r->interval = (ef_interval){0};
    r->began = now;
}

/* The slot whose element leaves next, which is put in the first place; NULL: none is ready. The end
 * leaves last. The lock is held. */
static slot *ready_slot(ef_ring *r) {
    slot *first = slot_at(r, r->head);
    if (!r->work.any_order) return first->ready ? first : NULL;
    for (uint64_t k = r->head; k < r->tail; k++) {
        slot *s = slot_at(r, k);
        if (!s->ready || (s->end && r->tail - r->head > 1)) continue;
        uint32_t *a = &r->order[r->head % r->n_slots], *b = &r->order[k % r->n_slots], old = *a;
        *a = *b;
        *b = old;
        return s;
    }
    return NULL;
}

static void wait_a_while(ef_ring *r) {
    struct timespec until = ef_deadline(WAIT_MS);
    ef_pool_block(ef_context_here());
    void *blocking = ef_blocking_begin();
    ef_mutex_lock(&r->lock);
    while (ready_slot(r) == NULL && !r->stopped &&
           ef_mutex_wait_until(&r->lock, &r->filled, &until)) {}
    ef_mutex_unlock(&r->lock);
    ef_blocking_end(blocking);
    ef_pool_unblock(ef_context_here());
}

/* Waits until a slot is ready. */
static ef_status *wait_for(ef_ring *r, slot **out) {
    unsigned pulse = ef_interrupt_counter();
    for (;;) {
        ef_mutex_lock(&r->lock);
        bool stopped = r->stopped;
        *out = ready_slot(r);
        if (*out == NULL) r->was_empty = true;
        ef_mutex_unlock(&r->lock);
        if (*out != NULL) return NULL;
        if (stopped) return ef_error(EF_CANCELLED, "the iteration was stopped");
        uint64_t from = ef_now_ns();
        ef_pool_crowded();
        wait_a_while(r);
        uint64_t waited = ef_now_ns() - from;
        r->interval.waited += waited;
        if (r->work.note != NULL)
            atomic_fetch_add_explicit(&r->work.note->waited, waited, memory_order_relaxed);
        EF_TRY(ef_interrupt_check(ef_context_here(), &pulse));
    }
}

ef_status *ef_ring_ready(ef_ring *r, bool *ready) {
    if (r->n_started == 0) EF_TRY(start(r));
    ef_mutex_lock(&r->lock);
    *ready = r->stopped || ready_slot(r) != NULL;
    if (!*ready) r->was_empty = true;
    ef_mutex_unlock(&r->lock);
    return NULL;
}

ef_status *ef_ring_next(ef_ring *r, ef_tensor *out, bool *end) {
    if (r->n_started == 0) EF_TRY(start(r));
    slot *s = NULL;
    EF_TRY(wait_for(r, &s));
    ef_status *error = s->error;
    if (s->end) { /* it stays, for later calls */
        *end = true;
        return NULL;
    }
    for (int k = 0; k < r->work.width; k++) {
        if (error == NULL && k < r->work.gives)
            ef_tensor_move(&out[k], &s->element[k]);
        else
            ef_tensor_release(&s->element[k]);
    }
    ef_mutex_lock(&r->lock);
    s->error = NULL;
    s->ready = false;
    r->bytes -= s->bytes;
    ef_run_release(r->run, s->bytes);
    r->head++;
    wake_worker(r);
    ef_mutex_unlock(&r->lock);
    if (!r->run->untuned) tune(r, ef_now_ns());
    return error;
}

void ef_ring_retire(ef_ring *r) {
    ef_mutex_lock(&r->lock);
    r->retired = true;
    ef_mutex_unlock(&r->lock);
}

bool ef_ring_drained(ef_ring *r) {
    ef_mutex_lock(&r->lock);
    bool drained = r->retired && r->head == r->tail;
    ef_mutex_unlock(&r->lock);
    return drained;
}

/* ---- positions ----------------------------------------------------------------------------------
 */

static void wait_while_filling(ef_ring *r) {
    struct timespec until = ef_deadline(WAIT_MS);
    void *blocking = ef_blocking_begin();
    ef_mutex_lock(&r->lock);
    while (r->filling > 0 && ef_mutex_wait_until(&r->lock, &r->filled, &until)) {}
    ef_mutex_unlock(&r->lock);
    ef_blocking_end(blocking);
}

static ef_status *pause_ring(ef_ring *r, ef_saver *w) {
    unsigned pulse = ef_interrupt_counter();
    ef_mutex_lock(&r->lock);
    r->paused = true;
    r->resumed = w->paused;
    w->paused = r;
    ef_mutex_unlock(&r->lock);
    for (;;) {
        ef_mutex_lock(&r->lock);
        bool idle = r->filling == 0;
        ef_mutex_unlock(&r->lock);
        if (idle) return NULL;
        wait_while_filling(r);
        EF_TRY(ef_interrupt_check(ef_context_here(), &pulse));
    }
}

void ef_rings_resume(ef_saver *w) {
    for (ef_ring *r = w->paused, *next; r != NULL; r = next) {
        ef_mutex_lock(&r->lock);
        next = r->resumed;
        r->paused = false;
        pthread_cond_broadcast(&r->freed);
        ef_mutex_unlock(&r->lock);
    }
    w->paused = NULL;
}

ef_status *ef_ring_save(ef_ring *r, ef_saver *w) {
    EF_TRY(pause_ring(r, w));
    for (uint64_t k = r->head; k < r->tail; k++) {
        const slot *s = slot_at(r, k);
        if (s->error != NULL)
            ef_save_failure(w, s->error);
        else if (s->end)
            ef_save_end(w);
        else
            EF_TRY(ef_save_made(w, s->element, r->work.gives));
    }
    return NULL;
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
    for (uint64_t k = r->head; k < r->tail; k++) ef_run_release(r->run, slot_at(r, k)->bytes);
    for (uint64_t k = 0; k < r->n_slots; k++) {
        release(r, r->slots[k].element);
        ef_status_free(r->slots[k].error);
    }
    pthread_cond_destroy(&r->filled);
    pthread_cond_destroy(&r->freed);
    ef_mutex_destroy(&r->lock);
    ef_free(r->slots);
    ef_free(r->order);
    ef_free(r->elements);
    ef_free(r->worker);
    ef_free(r);
}
