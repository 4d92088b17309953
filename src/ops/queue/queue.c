/* The object that a queue's handle refers to. */
#include "ops/queue/queue.h"
#include "base/alloc.h"
#include "base/blocking.h"
#include "base/clock.h"
#include "base/interrupt.h"

enum { WAIT_MS = 20, FIRST = 16 };

static const char *const kind_names[] = {"FIFOQueue", "PaddingFIFOQueue", "RandomShuffleQueue",
                                         "PriorityQueue"};

ef_dtype ef_queue_type(const ef_queue *q, int k) {
    if (q->kind != EF_QUEUE_PRIORITY) return q->set->component_types.at[k];
    return k == 0 ? EF_I64 : q->set->component_types.at[k - 1];
}

const ef_shape *ef_queue_shape(const ef_queue *q, int k) {
    static const ef_shape scalar = {.rank = 0};
    if (q->kind == EF_QUEUE_PRIORITY && k-- == 0) return &scalar;
    return q->set->shapes.n == 0 ? NULL : &q->set->shapes.at[k];
}

/* ---- elements -------------------------------------------------------------------------------- */

ef_status *ef_element_new(const ef_queue *q, ef_element **out) {
    size_t bytes = sizeof **out + (size_t)q->width * sizeof(ef_tensor);
    *out = ef_calloc(1, bytes);
    return *out == NULL ? ef_no_memory(bytes) : NULL;
}

void ef_element_free(ef_element *e, int width) {
    if (e == NULL) return;
    for (int k = 0; k < width; k++) ef_tensor_release(&e->part[k]);
    ef_free(e);
}

static void queue_end(ef_storage *self) {
    ef_queue *q = (ef_queue *)self;
    for (size_t k = 0; k < q->n; k++) ef_element_free(q->item[(q->head + k) % q->cap], q->width);
    ef_free(q->item);
    ef_attrs_unref(q->attrs);
    pthread_cond_destroy(&q->changed);
    ef_mutex_destroy(&q->lock);
    ef_free(q);
}

static void tell(ef_queue *q) {
    q->changes++;
    pthread_cond_broadcast(&q->changed);
}

/* The session of the queue ends: every waiting call ends with EF_CANCELLED. */
static void queue_halt(ef_object *self) {
    ef_queue *q = (ef_queue *)self;
    ef_mutex_lock(&q->lock);
    q->halts++;
    tell(q);
    ef_mutex_unlock(&q->lock);
}

ef_status *ef_queue_make(ef_queue_kind kind, const void *attrs, ef_queue **out) {
    ef_queue *q = ef_calloc(1, sizeof *q);
    if (q == NULL) return ef_no_memory(sizeof *q);
    ef_object_init(&q->object, EF_OBJECT_QUEUE, kind_names[kind], queue_end);
    q->object.halt = queue_halt;
    ef_mutex_init(&q->lock, EF_RANK_ELEMENTS, EF_MUTEX_PLAIN);
    ef_cond_init(&q->changed);
    q->attrs = ef_attrs_ref(ef_attrs_around(attrs));
    q->set = attrs;
    q->kind = kind;
    q->width = q->set->component_types.n + (kind == EF_QUEUE_PRIORITY);
    uint64_t seed = (uint64_t)q->set->seed, seed2 = (uint64_t)q->set->seed2;
    if (seed == 0 && seed2 == 0) seed = ef_now_ns(), seed2 = (uint64_t)(uintptr_t)q;
    q->random = ef_philox_one_by_one(ef_philox_seeded(seed, seed2));
    *out = q;
    return NULL;
}

/* ---- the order of elements; the lock is held ------------------------------------------------- */

static bool before(const ef_element *a, const ef_element *b) {
    const int64_t x = *(const int64_t *)a->part[0].data, y = *(const int64_t *)b->part[0].data;
    return x != y ? x < y : a->number < b->number;
}

static void heap_up(ef_queue *q, size_t k) {
    for (size_t up; k > 0 && before(q->item[k], q->item[up = (k - 1) / 2]); k = up) {
        ef_element *e = q->item[k];
        q->item[k] = q->item[up];
        q->item[up] = e;
    }
}

static void heap_down(ef_queue *q) {
    for (size_t k = 0, next; (next = 2 * k + 1) < q->n; k = next) {
        if (next + 1 < q->n && before(q->item[next + 1], q->item[next])) next++;
        if (!before(q->item[next], q->item[k])) return;
        ef_element *e = q->item[k];
        q->item[k] = q->item[next];
        q->item[next] = e;
    }
}

static ef_status *room(ef_queue *q) {
    if (q->n < q->cap) return NULL;
    size_t cap = q->cap == 0 ? FIRST : 2 * q->cap;
    ef_element **item = ef_malloc(cap * sizeof *item);
    if (item == NULL) return ef_no_memory(cap * sizeof *item);
    for (size_t k = 0; k < q->cap; k++) item[k] = q->item[(q->head + k) % q->cap]; /* it is full */
    ef_free(q->item);
    q->item = item;
    q->head = 0;
    q->cap = cap;
    return NULL;
}

static ef_status *push(ef_queue *q, ef_element *e) {
    EF_TRY(room(q));
    e->number = q->numbers++;
    q->item[(q->head + q->n++) % q->cap] = e;
    if (q->kind == EF_QUEUE_PRIORITY) heap_up(q, q->n - 1);
    return NULL;
}

static ef_element *pop(ef_queue *q) {
    ef_element *e;
    q->n--;
    if (q->kind == EF_QUEUE_PRIORITY) {
        e = q->item[0];
        q->item[0] = q->item[q->n];
        heap_down(q);
    } else if (q->kind == EF_QUEUE_SHUFFLE) {
        ef_element **at = &q->item[(q->head + ef_philox_next(&q->random) % (q->n + 1)) % q->cap];
        e = *at;
        *at = q->item[(q->head + q->n) % q->cap];
    } else {
        e = q->item[q->head];
        q->head = (q->head + 1) % q->cap;
    }
    return e;
}

/* Returns elements of a dequeue that failed to their former positions. There is space for them,
 * since enqueues stop at the capacity, or it is allocated. If that fails, the element is lost; the
 * caller returns the error of the dequeue anyway. */
static void give_back(ef_queue *q, ef_element **e, int64_t n) {
    while (n > 0) {
        ef_status *bad = room(q);
        ef_element *last = e[--n];
        if (bad != NULL) {
            ef_status_free(bad);
            ef_element_free(last, q->width);
        } else if (q->kind == EF_QUEUE_FIFO || q->kind == EF_QUEUE_PADDING) {
            q->head = (q->head + q->cap - 1) % q->cap;
            q->item[q->head] = last;
            q->n++;
        } else {
            q->item[(q->head + q->n++) % q->cap] = last;
            if (q->kind == EF_QUEUE_PRIORITY) heap_up(q, q->n - 1);
        }
        e[n] = NULL;
    }
}

/* Waits until something changes or 20 ms have passed. The lock is held on entry and released while
 * waiting. May run signal handlers, and fails if one of them does. */
static ef_status *wait(ef_queue *q, const ef_context *c, unsigned *pulse) {
    const uint64_t seen = q->changes;
    ef_mutex_unlock(&q->lock);
    void *blocking = ef_blocking_begin();
    struct timespec until = ef_deadline(WAIT_MS);
    ef_mutex_lock(&q->lock);
    while (q->changes == seen && ef_mutex_wait_until(&q->lock, &q->changed, &until)) {}
    ef_mutex_unlock(&q->lock);
    ef_blocking_end(blocking);
    ef_status *s = ef_interrupt_check(c, pulse);
    ef_mutex_lock(&q->lock);
    return s;
}

/* ---- enqueue and dequeue --------------------------------------------------------------------- */

static bool full(const ef_queue *q) {
    return q->set->capacity >= 0 && (int64_t)q->n >= q->set->capacity;
}

ef_status *ef_queue_put(ef_queue *q, const ef_context *c, ef_element **e, int64_t n) {
    unsigned pulse = ef_interrupt_counter();
    ef_status *s = NULL;
    bool mine = false;
    ef_mutex_lock(&q->lock);
    const uint64_t drops = q->drops, halts = q->halts;
    if (q->closing) {
        ef_mutex_unlock(&q->lock);
        return ef_error(EF_CANCELLED, "%s '%s' is closed.", q->object.type_name,
                        q->set->shared_name.at);
    }
    q->waiting++;
    for (int64_t k = 0; s == NULL;) {
        if (!mine && !q->putting) mine = q->putting = true;
        for (; mine && k < n && !full(q) && s == NULL; tell(q))
            if ((s = push(q, e[k])) == NULL) e[k++] = NULL;
        if (s != NULL || k == n) break;
        s = wait(q, c, &pulse);
        if (s == NULL && (q->drops != drops || q->halts != halts))
            s = ef_error(EF_CANCELLED, "Enqueue operation was cancelled");
    }
    if (mine) q->putting = false;
    q->waiting--;
    tell(q);
    ef_mutex_unlock(&q->lock);
    return s;
}

static bool ended(const ef_queue *q) { return q->closing && q->waiting == 0; }

static bool may_take(const ef_queue *q) {
    if (q->kind == EF_QUEUE_SHUFFLE && !ended(q)) return (int64_t)q->n > q->set->min_after_dequeue;
    return q->n > 0;
}

static ef_status *more_room(ef_element ***e, int64_t have, int64_t *cap) {
    if (have < *cap) return NULL;
    int64_t bigger = *cap == 0 ? FIRST : 2 * *cap;
    ef_element **grown = ef_realloc(*e, (size_t)bigger * sizeof *grown);
    if (grown == NULL) return ef_no_memory((size_t)bigger * sizeof *grown);
    *e = grown;
    *cap = bigger;
    return NULL;
}

ef_status *ef_queue_take(ef_queue *q, const ef_context *c, int64_t want, bool up_to,
                         ef_element ***out, int64_t *got) {
    unsigned pulse = ef_interrupt_counter();
    ef_status *s = NULL;
    ef_element **e = NULL;
    int64_t n = 0, cap = 0;
    bool mine = false;
    ef_mutex_lock(&q->lock);
    const uint64_t halts = q->halts;
    while (s == NULL) {
        if (!mine && !q->taking) mine = q->taking = true;
        for (; mine && n < want && may_take(q); tell(q)) {
            if ((s = more_room(&e, n, &cap)) != NULL) break;
            e[n++] = pop(q);
        }
        if (s != NULL || n == want || (mine && up_to && n > 0 && ended(q))) break;
        if (mine && ended(q))
            s = ef_error(EF_OUT_OF_RANGE,
                         "%s '%s' is closed and has insufficient elements (requested %lld, "
                         "current size %lld)",
                         q->object.type_name, q->set->shared_name.at, (long long)want,
                         (long long)n);
        else
            s = wait(q, c, &pulse);
        if (s == NULL && q->halts != halts)
            s = ef_error(EF_CANCELLED, "Dequeue operation was cancelled");
    }
    if (s != NULL) give_back(q, e, n);
    if (mine) q->taking = false;
    tell(q);
    ef_mutex_unlock(&q->lock);
    if (s != NULL) {
        ef_free(e);
        return s;
    }
    *out = e;
    *got = n;
    return NULL;
}

/* ---- size, close, halt ----------------------------------------------------------------------- */

ef_status *ef_queue_close(ef_queue *q, bool drop_waiting) {
    ef_mutex_lock(&q->lock);
    const bool again = q->closing && !drop_waiting;
    q->closing = true;
    if (drop_waiting) q->drops++;
    tell(q);
    ef_mutex_unlock(&q->lock);
    if (!again) return NULL;
    return ef_error(EF_CANCELLED, "%s '%s' is already closed.", q->object.type_name,
                    q->set->shared_name.at);
}

int64_t ef_queue_size(ef_queue *q) {
    ef_mutex_lock(&q->lock);
    const int64_t n = (int64_t)q->n;
    ef_mutex_unlock(&q->lock);
    return n;
}

bool ef_queue_closed(ef_queue *q) {
    ef_mutex_lock(&q->lock);
    const bool closed = ended(q);
    ef_mutex_unlock(&q->lock);
    return closed;
}
