/* Queues of elements between threads: FIFO, FIFO with padding, random order, priority. An element
 * is a tuple of tensors. A call that finds the queue full or empty waits, without the interpreter's
 * lock, until that changes, the queue is closed, or the run is interrupted. Of several calls that
 * wait to enqueue, or to dequeue, one is served at a time. */
#ifndef EF_OPS_QUEUE_H
#define EF_OPS_QUEUE_H
#include "kernels/philox.h"
#include "ops/op.h"

typedef enum ef_queue_kind {
    EF_QUEUE_FIFO,
    EF_QUEUE_PADDING,
    EF_QUEUE_SHUFFLE,
    EF_QUEUE_PRIORITY
} ef_queue_kind;

typedef struct ef_queue_attrs {
    ef_types component_types;
    ef_shapes shapes; /* none: any shape */
    int64_t capacity; /* negative: unbounded */
    int64_t min_after_dequeue, seed, seed2, timeout_ms;
    ef_attr_text container, shared_name;
    bool cancel_pending_enqueues;
} ef_queue_attrs;

typedef struct ef_element {
    uint64_t number; /* in order of arrival */
    ef_tensor part[];
} ef_element;

typedef struct ef_queue {
    ef_object object;
    ef_mutex lock; /* guards all fields below except those that never change: kind, width, set */
    ef_queue_kind kind;
    int width;
    const ef_attrs *attrs; /* counted */
    const ef_queue_attrs *set;
    pthread_cond_t changed;
    uint64_t changes;  /* incremented with every change that a call may wait for */
    ef_element **item; /* a ring buffer; for a priority queue a heap, which begins at 0 */
    size_t head, n, cap;
    uint64_t numbers;
    ef_philox_each random;
    int64_t waiting;       /* enqueue calls that began before the queue was closed */
    uint64_t drops, halts; /* incremented when waiting enqueue calls, or all waiting calls, must
                            * end */
    bool closing;          /* later enqueue calls fail */
    bool putting, taking;  /* a call is being served */
} ef_queue;

ef_status *ef_queue_make(ef_queue_kind kind, const void *attrs, ef_queue **out);
ef_dtype ef_queue_type(const ef_queue *q, int k);
const ef_shape *ef_queue_shape(const ef_queue *q, int k); /* NULL: any shape */

ef_status *ef_element_new(const ef_queue *q, ef_element **out); /* its components are zeroed */
void ef_element_free(ef_element *e, int width);                 /* NULL is allowed */

/* Enqueues n elements and takes ownership of them: those that were enqueued are set to NULL. */
ef_status *ef_queue_put(ef_queue *q, const ef_context *c, ef_element **e, int64_t n);
/* Dequeues `want` elements. With `up_to`, once a closed queue has fewer, dequeues those, at least
 * one. *out is an array that the caller frees with its elements. */
ef_status *ef_queue_take(ef_queue *q, const ef_context *c, int64_t want, bool up_to,
                         ef_element ***out, int64_t *got);
ef_status *ef_queue_close(ef_queue *q, bool drop_waiting);
int64_t ef_queue_size(ef_queue *q);
bool ef_queue_closed(ef_queue *q);
#endif
