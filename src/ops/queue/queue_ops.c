/* The ops of queues. */
#include "base/alloc.h"
#include "ops/array/array.h"
#include "ops/queue/queue.h"
#include "ops/shapes.h"
#include "ops/state/variable_scope.h"
#include <string.h>

enum { OUTSIDE = EF_STATEFUL | EF_EFFECT | EF_SHARES_OUT | EF_HEAVY | EF_NO_GRAD };

/* ---- handles --------------------------------------------------------------------------------- */

typedef struct making {
    ef_queue_kind kind;
    const void *attrs;
} making;

static ef_status *make_object(const void *how, const char *name, ef_object **out) {
    const making *m = how;
    (void)name;
    return ef_queue_make(m->kind, m->attrs, (ef_queue **)out);
}

static ef_status *check_kind(const ef_call *c, ef_queue_kind kind) {
    const ef_queue_attrs *a = c->attrs;
    if (a->shapes.n > 0 && a->shapes.n != a->component_types.n)
        return ef_error(EF_INVALID, "%s: %d shapes for %d components; give one for each or none",
                        c->op->name, a->shapes.n, a->component_types.n);
    if (a->capacity == 0)
        return ef_error(EF_INVALID, "%s: capacity is 0; give a number above 0, or -1 for no bound",
                        c->op->name);
    for (int k = 0; k < a->shapes.n; k++)
        if (kind == EF_QUEUE_PADDING ? a->shapes.at[k].rank < 0 : !ef_shape_known(&a->shapes.at[k]))
            return ef_error(EF_INVALID, "%s: shape %d is %s; %s must be known", c->op->name, k,
                            EF_SHAPE(&a->shapes.at[k]),
                            kind == EF_QUEUE_PADDING ? "its rank" : "every size");
    if (kind == EF_QUEUE_SHUFFLE && a->min_after_dequeue >= a->capacity && a->capacity > 0)
        return ef_error(EF_INVALID, "%s: min_after_dequeue %lld must be < capacity %lld",
                        c->op->name, (long long)a->min_after_dequeue, (long long)a->capacity);
    return NULL;
}

static ef_status *make(const ef_call *c, ef_queue_kind kind) {
    const ef_queue_attrs *a = c->attrs;
    ef_object *found = NULL;
    EF_TRY(check_kind(c, kind));
    const making how = {kind, a};
    if (a->shared_name.n == 0)
        EF_TRY(make_object(&how, NULL, &found));
    else
        EF_TRY(ef_scope_object(&a->container, &a->shared_name, make_object, &how, &found));
    const ef_queue *q = (const ef_queue *)found;
    bool same = found->kind == EF_OBJECT_QUEUE && q->kind == kind &&
                q->set->component_types.n == a->component_types.n &&
                q->set->capacity == a->capacity;
    for (int k = 0; same && k < a->component_types.n; k++)
        same = q->set->component_types.at[k] == a->component_types.at[k];
    if (same) {
        ef_out_object(c, 0, found);
        return NULL;
    }
    ef_status *s = ef_error(EF_INVALID,
                            "%s: Shared queue '%s' has another type, capacity or elements; use "
                            "another shared_name",
                            c->op->name, a->shared_name.at);
    ef_storage_unref(&found->base);
    return s;
}
static ef_status *fifo_run(const ef_call *c) { return make(c, EF_QUEUE_FIFO); }
static ef_status *padding_run(const ef_call *c) { return make(c, EF_QUEUE_PADDING); }
static ef_status *shuffle_run(const ef_call *c) { return make(c, EF_QUEUE_SHUFFLE); }
static ef_status *priority_run(const ef_call *c) { return make(c, EF_QUEUE_PRIORITY); }

#define A(field, type, value) EF_ATTR(ef_queue_attrs, field, type, value)
#define SHARED A(container, "string", "''"), A(shared_name, "string", "''")
#define MAKE(NAME, run, text, ...)                                                               \
    const ef_op ef_op_##NAME = {                                                                 \
        EF_NAMED(NAME),                                                                          \
        .doc = text,                                                                             \
        .out = {"handle: resource"},                                                             \
        .attr = {__VA_ARGS__, A(shapes, "list(shape)", "[]"), A(capacity, "int", "-1"), SHARED}, \
        .attr_size = sizeof(ef_queue_attrs),                                                     \
        .traits = OUTSIDE,                                                                       \
        .shape = ef_shape_scalar,                                                                \
        .kernel = EF_ANY_KERNEL(run),                                                            \
        .examples = {"component_types=[float] shapes=[[2]] capacity=4"},                         \
    };
MAKE(FIFOQueueV2, fifo_run,
     "Makes a queue whose elements are dequeued in first-in, first-out order.",
     A(component_types, "list(type) >= 1", NULL))
MAKE(PaddingFIFOQueueV2, padding_run,
     "Makes a FIFO queue whose elements may differ in size: those dequeued together are padded.",
     A(component_types, "list(type) >= 1", NULL))
MAKE(RandomShuffleQueueV2, shuffle_run,
     "Makes a queue whose elements are dequeued in random order.",
     A(component_types, "list(type) >= 1", NULL), A(min_after_dequeue, "int", "0"),
     A(seed, "int", "0"), A(seed2, "int", "0"))
MAKE(PriorityQueueV2, priority_run,
     "Makes a queue that dequeues the element with the smallest first component, an int64.",
     A(component_types, "list(type)", "[]"))

/* ---- enqueue --------------------------------------------------------------------------------- */

static ef_status *queue_of(const ef_call *c, ef_queue **out) {
    *out = (ef_queue *)ef_tensor_object(c->in[0], EF_OBJECT_QUEUE);
    if (*out != NULL) return NULL;
    return ef_error(EF_INVALID, "%s: the resource is not a queue", c->op->name);
}

static ef_status *check_types(const ef_call *c, const ef_queue *q) {
    if (c->n_in - 1 != q->width)
        return ef_error(EF_INVALID,
                        "%s: %d components for a queue whose elements have %d; Wrong number of "
                        "components in tuple",
                        c->op->name, c->n_in - 1, q->width);
    for (int k = 0; k < q->width; k++)
        if ((ef_dtype)c->in[k + 1]->dtype != ef_queue_type(q, k))
            return ef_error(EF_INVALID,
                            "%s: Type mismatch in tuple component %d. Expected %s, got %s",
                            c->op->name, k, ef_dtype_name(ef_queue_type(q, k)),
                            ef_dtype_name((ef_dtype)c->in[k + 1]->dtype));
    return NULL;
}

static ef_status *check_shape(const ef_call *c, const ef_queue *q, int k, const ef_shape *have) {
    const ef_shape *want = ef_queue_shape(q, k);
    if (want == NULL || ef_shape_may_equal(have, want)) return NULL;
    return ef_error(EF_INVALID, "%s: Shape mismatch in tuple component %d. Expected %s, got %s",
                    c->op->name, k, EF_SHAPE(want), EF_SHAPE(have));
}

static ef_status *put_run(const ef_call *c) {
    ef_queue *q = NULL;
    ef_element *e = NULL;
    EF_TRY(queue_of(c, &q));
    EF_TRY(check_types(c, q));
    EF_TRY(ef_element_new(q, &e));
    ef_status *s = NULL;
    for (int k = 0; k < q->width && s == NULL; k++) {
        const ef_shape have = ef_shape_from(c->in[k + 1]);
        s = check_shape(c, q, k, &have);
        if (s == NULL) ef_tensor_copy(&e->part[k], c->in[k + 1]);
    }
    if (s == NULL) s = ef_queue_put(q, c->context, &e, 1);
    ef_element_free(e, q->width);
    return s;
}

static ef_status *copy_elements(ef_dtype dtype, void *to, const void *from, int64_t n) {
    if (dtype != EF_STRING) {
        memcpy(to, from, (size_t)n * ef_dtype_size(dtype));
        return NULL;
    }
    const ef_str *s = from;
    for (int64_t k = 0; k < n; k++) EF_TRY(ef_str_set((ef_str *)to + k, s[k].at, s[k].n));
    return NULL;
}

static ef_status *cut(const ef_tensor *t, int64_t row, ef_tensor *out) {
    const ef_dtype dtype = (ef_dtype)t->dtype;
    ef_shape shape = {.rank = t->rank - 1};
    for (int d = 0; d < shape.rank; d++) shape.dim[d] = t->dim[d + 1];
    EF_TRY(ef_tensor_alloc(out, dtype, &shape));
    const int64_t n = ef_count(out);
    return copy_elements(dtype, out->data,
                         (const char *)t->data + (size_t)(row * n) * ef_dtype_size(dtype), n);
}

static ef_status *check_rows(const ef_call *c, const ef_queue *q, int64_t *rows) {
    for (int k = 0; k < q->width; k++) {
        const ef_tensor *t = c->in[k + 1];
        if (t->dtype == EF_VARIANT || t->dtype == EF_RESOURCE)
            return ef_error(EF_UNIMPLEMENTED, "%s: component %d is a %s, which has no rows",
                            c->op->name, k, ef_dtype_name((ef_dtype)t->dtype));
        if (t->rank == 0 || (k > 0 && t->dim[0] != *rows))
            return ef_error(EF_INVALID,
                            "%s: All input tensors must have the same size in the 0th dimension. "
                            "Component %d has %lld, component 0 has %lld",
                            c->op->name, k, t->rank == 0 ? 0LL : (long long)t->dim[0],
                            (long long)*rows);
        if (k == 0) *rows = t->dim[0];
        ef_shape row = {.rank = t->rank - 1};
        for (int d = 0; d < row.rank; d++) row.dim[d] = t->dim[d + 1];
        EF_TRY(check_shape(c, q, k, &row));
    }
    return NULL;
}

static ef_status *put_many_run(const ef_call *c) {
    ef_queue *q = NULL;
    int64_t rows = 0;
    EF_TRY(queue_of(c, &q));
    EF_TRY(check_types(c, q));
    EF_TRY(check_rows(c, q, &rows));
    const size_t bytes = (size_t)(rows + 1) * sizeof(ef_element *);
    ef_element **e = ef_calloc(1, bytes);
    if (e == NULL) return ef_no_memory(bytes);
    ef_status *s = NULL;
    for (int64_t r = 0; r < rows && s == NULL; r++) {
        s = ef_element_new(q, &e[r]);
        for (int k = 0; k < q->width && s == NULL; k++) s = cut(c->in[k + 1], r, &e[r]->part[k]);
    }
    if (s == NULL) s = ef_queue_put(q, c->context, e, rows);
    for (int64_t r = 0; r < rows; r++) ef_element_free(e[r], q->width);
    ef_free(e);
    return s;
}

/* Components are plain data, whatever their dtype. */
static bool every(const void *attrs, int k, const ef_fact *in_k) {
    (void)attrs;
    (void)in_k;
    return k > 0;
}

#define PUT(NAME, run, text, ...)                              \
    const ef_op ef_op_##NAME = {                               \
        EF_NAMED(NAME),                                        \
        .doc = text,                                           \
        .in = {"handle: resource", "components: Tcomponents"}, \
        .types = "Tcomponents: list(type) >= 1",               \
        .attr = {A(timeout_ms, "int", "-1")},                  \
        .attr_size = sizeof(ef_queue_attrs),                   \
        .traits = OUTSIDE | EF_STORES_INPUTS,                  \
        .data_when = every,                                    \
        .shape = ef_shape_none,                                \
        .kernel = EF_ANY_KERNEL(run),                          \
        .examples = {__VA_ARGS__},                             \
    };
PUT(QueueEnqueueV2, put_run, "Enqueues one element; waits while the queue is full.",
    "queue(0) int64[]{7}")
PUT(QueueEnqueueManyV2, put_many_run,
    "Enqueues the rows of the components, one element each; waits while the queue is full.",
    "queue(0) int64[3]{7,8,9}", "queue(0) int64[0]")

/* ---- dequeue --------------------------------------------------------------------------------- */

static ef_status *check_taken(const ef_call *c, const ef_queue *q) {
    bool same = c->n_out == q->width;
    for (int k = 0; same && k < q->width; k++)
        same = (ef_dtype)c->out[k]->dtype == ef_queue_type(q, k);
    if (same) return NULL;
    return ef_error(EF_INVALID,
                    "%s: component_types are not those of the queue, whose elements have %d "
                    "components",
                    c->op->name, q->width);
}

static ef_status *take_run(const ef_call *c) {
    ef_queue *q = NULL;
    ef_element **e = NULL;
    int64_t n = 0;
    EF_TRY(queue_of(c, &q));
    EF_TRY(check_taken(c, q));
    EF_TRY(ef_queue_take(q, c->context, 1, false, &e, &n));
    ef_status *s = NULL;
    for (int k = 0; k < q->width && s == NULL; k++) s = ef_out_share(c, k, &e[0]->part[k]);
    ef_element_free(e[0], q->width);
    ef_free(e);
    return s;
}

/* Copies the block `from` into the corner of a block of the same rank and larger sizes. */
static ef_status *copy_corner(const ef_tensor *from, const ef_shape *to, char *at) {
    const ef_dtype dtype = (ef_dtype)from->dtype;
    const size_t size = ef_dtype_size(dtype);
    const int rank = from->rank;
    const int64_t run = rank == 0 ? 1 : from->dim[rank - 1];
    int64_t index[EF_MAX_RANK] = {0}, left = run == 0 ? 0 : ef_count(from) / run;
    const char *next = from->data;
    for (; left > 0; left--, next += (size_t)run * size) {
        int64_t place = 0;
        for (int d = 0; d < rank; d++) place = place * to->dim[d] + index[d];
        EF_TRY(copy_elements(dtype, at + (size_t)place * size, next, run));
        for (int d = rank - 2; d >= 0 && ++index[d] == from->dim[d]; d--) index[d] = 0;
    }
    return NULL;
}

/* Component k of n elements as one tensor, padded with zeros to the largest sizes. */
static ef_status *stack(const ef_call *c, const ef_queue *q, int k, ef_element **e, int64_t n) {
    ef_shape part = *ef_queue_shape(q, k);
    for (int d = 0; d < part.rank; d++) {
        if (ef_queue_shape(q, k)->dim[d] >= 0) continue;
        part.dim[d] = 0;
        for (int64_t r = 0; r < n; r++)
            if (e[r]->part[k].dim[d] > part.dim[d]) part.dim[d] = e[r]->part[k].dim[d];
    }
    if (part.rank + 1 > EF_MAX_RANK) return ef_need_rank_held(c->op, part.rank + 1);
    ef_shape whole = {.rank = part.rank + 1, .dim = {n}};
    for (int d = 0; d < part.rank; d++) whole.dim[d + 1] = part.dim[d];
    ef_tensor made = {0};
    const ef_dtype dtype = ef_queue_type(q, k);
    EF_TRY(ef_tensor_alloc(&made, dtype, &whole));
    const size_t bytes = (size_t)ef_shape_count(&part) * ef_dtype_size(dtype);
    if (q->kind == EF_QUEUE_PADDING && dtype != EF_STRING && bytes > 0)
        memset(made.data, 0, bytes * (size_t)n);
    ef_status *s = NULL;
    for (int64_t r = 0; r < n && s == NULL; r++)
        s = copy_corner(&e[r]->part[k], &part, (char *)made.data + (size_t)r * bytes);
    if (s == NULL) s = ef_out_share(c, k, &made);
    ef_tensor_release(&made);
    return s;
}

static ef_status *take_many(const ef_call *c, bool up_to) {
    ef_queue *q = NULL;
    ef_element **e = NULL;
    int64_t n = 0;
    EF_TRY(queue_of(c, &q));
    EF_TRY(check_taken(c, q));
    const int64_t want = *(const int32_t *)c->in[1]->data;
    if (want < 0)
        return ef_error(EF_INVALID, "%s: requested %lld elements; the number must be >= 0",
                        c->op->name, (long long)want);
    for (int k = 0; k < q->width; k++) {
        const ef_dtype dtype = ef_queue_type(q, k);
        if (ef_queue_shape(q, k) == NULL || dtype == EF_VARIANT || dtype == EF_RESOURCE)
            return ef_error(EF_INVALID,
                            "%s: %s's DequeueMany and DequeueUpTo require the components to have "
                            "specified shapes; give `shapes` when the queue is made",
                            c->op->name, q->object.type_name);
    }
    EF_TRY(ef_queue_take(q, c->context, want, up_to, &e, &n));
    ef_status *s = NULL;
    for (int k = 0; k < q->width && s == NULL; k++) s = stack(c, q, k, e, n);
    for (int64_t r = 0; r < n; r++) ef_element_free(e[r], q->width);
    ef_free(e);
    return s;
}
static ef_status *take_many_run(const ef_call *c) { return take_many(c, false); }
static ef_status *take_up_to_run(const ef_call *c) { return take_many(c, true); }

static ef_status *taken_shape(ef_infer *i) { return ef_need_rank(i, 0, 0); }

#define TAKEN A(component_types, "list(type) >= 1", NULL), A(timeout_ms, "int", "-1")
const ef_op ef_op_QueueDequeueV2 = {
    EF_NAMED(QueueDequeueV2),
    .doc = "Dequeues one element; waits while the queue is empty.",
    .in = {"handle: resource"},
    .out = {"components: component_types"},
    .attr = {TAKEN},
    .attr_size = sizeof(ef_queue_attrs),
    .traits = OUTSIDE | EF_DYNAMIC,
    .shape = taken_shape,
    .kernel = EF_ANY_KERNEL(take_run),
    .examples = {"queue(100000) component_types=[int64]"},
};

#define TAKE_MANY(NAME, run, text)                                        \
    const ef_op ef_op_##NAME = {                                          \
        EF_NAMED(NAME),                                                   \
        .doc = text,                                                      \
        .in = {"handle: resource", "n: int32"},                           \
        .out = {"components: component_types"},                           \
        .attr = {TAKEN},                                                  \
        .attr_size = sizeof(ef_queue_attrs),                              \
        .traits = OUTSIDE | EF_DYNAMIC,                                   \
        .data_in = 2,                                                     \
        .shape = taken_shape,                                             \
        .kernel = EF_ANY_KERNEL(run),                                     \
        .examples = {"queue(100000) int32[]{2} component_types=[int64]"}, \
    };
TAKE_MANY(QueueDequeueManyV2, take_many_run,
          "Dequeues `n` elements and stacks them; waits until there are `n`.")
TAKE_MANY(QueueDequeueUpToV2, take_up_to_run,
          "Dequeues `n` elements and stacks them, or fewer if a closed queue has no more.")

/* ---- close, size, is closed ------------------------------------------------------------------ */

static ef_status *close_run(const ef_call *c) {
    ef_queue *q = NULL;
    EF_TRY(queue_of(c, &q));
    return ef_queue_close(q, ((const ef_queue_attrs *)c->attrs)->cancel_pending_enqueues);
}

const ef_op ef_op_QueueCloseV2 = {
    EF_NAMED(QueueCloseV2),
    .doc =
        "Closes a queue: no element can be enqueued any more; those in it can still be dequeued.",
    .in = {"handle: resource"},
    .attr = {A(cancel_pending_enqueues, "bool", "false")},
    .attr_size = sizeof(ef_queue_attrs),
    .traits = OUTSIDE,
    .shape = ef_shape_none,
    .kernel = EF_ANY_KERNEL(close_run),
    .examples = {"queue(5) cancel_pending_enqueues=true"},
};

static ef_status *size_run(const ef_call *c) {
    ef_queue *q = NULL;
    EF_TRY(queue_of(c, &q));
    EF_TRY(ef_out_memory(c, 0));
    *(int32_t *)c->out[0]->data = (int32_t)ef_queue_size(q);
    return NULL;
}

static ef_status *is_closed_run(const ef_call *c) {
    ef_queue *q = NULL;
    EF_TRY(queue_of(c, &q));
    EF_TRY(ef_out_memory(c, 0));
    *(uint8_t *)c->out[0]->data = ef_queue_closed(q);
    return NULL;
}

const ef_op ef_op_QueueSizeV2 = {
    EF_NAMED(QueueSizeV2),
    .doc = "The number of elements in a queue.",
    .in = {"handle: resource"},
    .out = {"size: int32"},
    .traits = EF_STATEFUL | EF_HEAVY | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(size_run),
    .examples = {"queue(5)"},
};

const ef_op ef_op_QueueIsClosedV2 = {
    EF_NAMED(QueueIsClosedV2),
    .doc = "Whether a queue is closed.",
    .in = {"handle: resource"},
    .out = {"is_closed: bool"},
    .traits = EF_STATEFUL | EF_HEAVY | EF_NO_GRAD,
    .shape = ef_shape_scalar,
    .kernel = EF_ANY_KERNEL(is_closed_run),
    .examples = {"queue(5)"},
};
