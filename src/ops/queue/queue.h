/* Queues of elements between threads: first in first out, the same with padding, in random order,
 * by priority. An element is a tuple of tensors. Whoever finds the queue full or empty waits,
 * without the interpreter's lock, until that changes, the queue is closed, or the run is
 * interrupted. Of several that wait to put, or to take, one is served at a time. */
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
    int64_t capacity; /* below 0: no bound */
    int64_t min_after_dequeue, seed, seed2, timeout_ms;
    ef_attr_text container, shared_name;
    bool cancel_pending_enqueues;
} ef_queue_attrs;

typedef struct ef_element {
    uint64_t number; /* in the order of arrival */
    ef_tensor part[];
} ef_element;

typedef struct ef_queue {
    ef_object object;
    ef_mutex lock; /* guards all below but what never changes: kind, width, set */
    ef_queue_kind kind;
    int width;
    const ef_attrs *attrs; /* counted */
    const ef_queue_attrs *set;
    pthread_cond_t changed;
    uint64_t changes;  /* grows with every change that someone may wait for */
    ef_element **item; /* a ring; of a priority queue a heap, which begins at 0 */
    size_t head, n, cap;
    uint64_t numbers;
    ef_philox_each random;
    int64_t waiting;       /* calls that put elements and were begun before the queue was closed */
    uint64_t drops, halts; /* grow when calls that wait to put, or all that wait, must end */
    bool closing;          /* no further call puts elements */
    bool putting, taking;  /* some call is the one that is served */
} ef_queue;

ef_status *ef_queue_make(ef_queue_kind kind, const void *attrs, ef_queue **out);
ef_dtype ef_queue_type(const ef_queue *q, int k);
const ef_shape *ef_queue_shape(const ef_queue *q, int k); /* NULL: any */

ef_status *ef_element_new(const ef_queue *q, ef_element **out); /* its parts are zeroed */
void ef_element_free(ef_element *e, int width);                 /* NULL is fine */

/* Puts n elements, which it takes over: those it has taken are NULL afterwards. */
ef_status *ef_queue_put(ef_queue *q, const ef_context *c, ef_element **e, int64_t n);
/* Takes `want` elements, or after the end of a closed queue as many as there are, at least one, if
 * `up_to`. *out is an array that the caller frees with its elements. */
ef_status *ef_queue_take(ef_queue *q, const ef_context *c, int64_t want, bool up_to,
                         ef_element ***out, int64_t *got);
ef_status *ef_queue_close(ef_queue *q, bool drop_waiting);
void ef_queue_halt(ef_queue *q); /* every call that waits ends with EF_CANCELLED */
int64_t ef_queue_size(ef_queue *q);
bool ef_queue_closed(ef_queue *q);
#endif
