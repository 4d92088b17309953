/* Deferred ops. A large op that fusion can help is checked, the shape of its result inferred, and
 * then it is added to the thread's open batch instead of being run. A batch runs when a value is
 * observed or when it is large enough. Its program is found by structure, so an eager loop runs the
 * same plan that a function would.
 *
 * Every value from outside the batch, scalars included, is an input of its program, so that a loop
 * with a changing factor has one structure. A result that nobody holds when the batch runs is not
 * computed unless another one depends on it; if nobody holds any result, the batch drops its ops
 * and inputs.
 *
 * Another thread may hold a deferred tensor and read its value. The first reader closes the batch
 * and runs it with no lock held; the others wait until it is done. Inputs are computed before they
 * are added, so a batch never waits for another one. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/blocking.h"
#include "base/mutex.h"
#include "base/option.h"
#include "eager/context.h"
#include "evenflow_binding.h"
#include "ops/run.h"
#include "plan/compile.h"

enum {
    MOST_INPUTS = 8,
    MOST_NODES = 64,
    ROWS_BYTES = 1024, /* results of this size are deferred if an input is; as one value per row */
    MOST_BYTES = 256 << 20, /* of awaited results and of feeds that only the batch holds */
    LARGEST = 4             /* or as many times the latest result, if that is more */
};

typedef enum batch_state {
    OPEN,    /* the thread that made it may add ops */
    RUNNING, /* some thread computes it */
    CLOSED   /* no more is added; results without data failed, and are tried again when read */
} batch_state;

typedef struct batch {
    ef_mutex lock; /* guards the rest, and `node` and `dropped` of its deferred tensors */
    pthread_cond_t over;
    atomic_int refs; /* the thread, the one that runs it, and every deferred storage */
    batch_state state;
    ef_graph *graph;
    ef_tensor *feed; /* inputs of the graph, counted and materialized */
    size_t n_feeds, cap_feeds;
    struct deferred **result; /* not counted; NULL once nobody holds it, or it is computed */
    size_t n_results, cap_results, n_awaited, bytes;
} batch;

typedef struct deferred {
    ef_storage base;
    batch *owner;
    size_t index; /* in owner->result */
    int32_t node;
    bool claimed, dropped; /* being computed; and nobody holds it any more */
    ef_tensor value;       /* once computed */
} deferred;

static _Thread_local batch *mine;
static pthread_key_t key;
int64_t ef_defer_bytes = 65536;
static atomic_int sync_state = -1; /* 1: no deferring; -1: not read yet */

bool ef_pending_on(void) {
    int s = atomic_load_explicit(&sync_state, memory_order_relaxed);
    if (EF_UNLIKELY(s < 0)) {
        s = ef_option_int("EVENFLOW_SYNC", 0) != 0;
        atomic_store(&sync_state, s);
    }
    return s == 0;
}

void ef_sync_set(bool on) { atomic_store(&sync_state, on); }

/* ---- lifetimes
 * -------------------------------------------------------------------------------------- */

/* What a batch holds, taken out under its lock and released after it: releasing a tensor may lock
 * other batches. */
typedef struct burden {
    ef_graph *graph;
    ef_tensor *feed;
    size_t n_feeds;
    deferred **result;
} burden;

static burden unload(batch *b) {
    burden u = {b->graph, b->feed, b->n_feeds, b->result};
    b->graph = NULL;
    b->feed = NULL;
    b->result = NULL;
    b->n_feeds = b->cap_feeds = b->n_results = b->cap_results = b->n_awaited = b->bytes = 0;
    return u;
}

static void burden_end(burden *u) {
    ef_graph_unref(u->graph);
    for (size_t k = 0; k < u->n_feeds; k++) ef_tensor_release(&u->feed[k]);
    ef_free(u->feed);
    ef_free(u->result);
}

static batch *batch_ref(batch *b) {
    atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

static void batch_unref(batch *b) {
    if (b == NULL || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) != 1) return;
    burden u = unload(b);
    burden_end(&u);
    ef_mutex_destroy(&b->lock);
    pthread_cond_destroy(&b->over);
    ef_free(b);
}

static batch *batch_make(void) {
    batch *b = ef_calloc(1, sizeof *b);
    if (b == NULL) return NULL;
    ef_mutex_init(&b->lock, EF_RANK_BATCH, EF_MUTEX_PLAIN);
    pthread_cond_init(&b->over, NULL);
    atomic_init(&b->refs, 1);
    return b;
}

static void deferred_free(deferred *d) {
    ef_tensor_release(&d->value);
    batch_unref(d->owner);
    ef_free(d);
}

/* The last reference to d was released. */
static void deferred_end(ef_storage *s) {
    deferred *d = (deferred *)s;
    batch *b = d->owner;
    burden u = {0};
    if (ef_storage_data(s) == NULL) {
        ef_mutex_lock(&b->lock);
        bool claimed = d->dropped = d->claimed;
        if (!claimed && ef_storage_data(s) == NULL) {
            b->result[d->index] = NULL;
            b->bytes -= s->bytes;
            if (--b->n_awaited == 0) u = unload(b);
        }
        ef_mutex_unlock(&b->lock);
        if (claimed) return; /* the thread that computes it frees it */
        burden_end(&u);
    }
    deferred_free(d);
}

/* Other threads that hold results of the batch run it. Destructors of this thread that run later
 * may defer ops again; they then start a new batch. */
static void thread_ends(void *arg) {
    mine = NULL;
    batch_unref(arg);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_key(void) { pthread_key_create(&key, thread_ends); }

/* An open batch of this thread, locked. */
static ef_status *open_mine(void) {
    pthread_once(&once, make_key);
    for (;;) {
        if (mine == NULL) {
            if ((mine = batch_make()) == NULL) return ef_no_memory(sizeof *mine);
            pthread_setspecific(key, mine);
        }
        ef_mutex_lock(&mine->lock);
        if (mine->state == OPEN) return NULL;
        ef_mutex_unlock(&mine->lock);
        batch_unref(mine);
        mine = NULL;
        pthread_setspecific(key, NULL);
    }
}

/* ---- running
 * ------------------------------------------------------------------------------------------ */

/* Sizes of the inputs become symbols, one for each different size, so that a loop whose sizes
 * change is one structure with a plan for each size. A 1 stays, since it may be broadcast. */
static void open_sizes(ef_graph *g) {
    int64_t seen[EF_MAX_SYMBOLS];
    int n = 0;
    for (size_t k = 0; k < g->n_inputs; k++) {
        ef_shape *s = &g->node[g->input[k]]->out->shape;
        for (int d = 0; d < s->rank; d++) {
            int j = 0;
            if (s->dim[d] < 2) continue;
            while (j < n && seen[j] != s->dim[d]) j++;
            if (j == EF_MAX_SYMBOLS) continue;
            if (j == n) seen[n++] = s->dim[d];
            s->dim[d] = ef_dim_symbol(j);
        }
    }
}

static void close_sizes(ef_graph *g, const ef_tensor *feed) {
    for (size_t k = 0; k < g->n_inputs; k++)
        g->node[g->input[k]]->out->shape = ef_shape_from(&feed[k]);
}

/* Computes the nodes `out`. The batch is in state RUNNING, so only this thread uses its graph and
 * feeds. */
static ef_status *compute(batch *b, const ef_edge *out, int n_out, ef_tensor *result) {
    size_t n = b->n_feeds;
    ef_edge *feed = ef_malloc((n + 1) * (sizeof *feed + sizeof(ef_tensor *)));
    if (feed == NULL) return ef_no_memory(n * sizeof *feed);
    ef_tensor **in = (ef_tensor **)(feed + n + 1);
    for (size_t k = 0; k < n; k++) {
        feed[k] = (ef_edge){b->graph->input[k], 0};
        in[k] = &b->feed[k];
    }
    open_sizes(b->graph);
    ef_graph *part = NULL;
    ef_program *program = NULL;
    int32_t captures[1];
    int n_captures = 0;
    ef_status *s =
        ef_graph_extract(b->graph, feed, (int)n, out, n_out, NULL, 0, &part, captures, &n_captures);
    close_sizes(b->graph, b->feed);
    if (s == NULL) s = ef_compile(part, &program);
    if (s == NULL) s = ef_program_run(ef_context_here(), program, in, result);
    ef_program_unref(program);
    ef_graph_unref(part);
    ef_free(feed);
    return s;
}

typedef struct claim { /* a deferred tensor that is being computed */
    deferred *who;
    ef_tensor value;
} claim;

/* A signal, a deadline or ef_cancel ended the run. */
static bool was_ended(const ef_status *s) {
    return ef_status_code(s) == EF_CANCELLED || ef_status_code(s) == EF_DEADLINE;
}

/* Computes all results in one run; if that fails, one by one, so that one failure does not affect
 * the others. A run that was cancelled is not repeated: each result may take as long as all of them
 * together. Returns the failure; a value that could not be computed has no dtype. */
static ef_status *compute_claims(batch *b, claim *c, int n) {
    ef_edge *out = ef_malloc((size_t)n * (sizeof *out + sizeof(ef_tensor)) + 1);
    if (out == NULL) return ef_no_memory((size_t)n * sizeof(ef_tensor));
    ef_tensor *value = (ef_tensor *)(out + n);
    memset(value, 0, (size_t)n * sizeof *value);
    for (int k = 0; k < n; k++) out[k] = (ef_edge){c[k].who->node, 0};
    ef_status *s = compute(b, out, n, value);
    for (int k = 0; k < n && s == NULL; k++) ef_tensor_move(&c[k].value, &value[k]);
    for (int k = 0; k < n && s != NULL && n > 1 && !was_ended(s); k++) {
        ef_status *alone = compute(b, &out[k], 1, &c[k].value);
        ef_status_free(was_ended(alone) ? s : alone);
        if (was_ended(alone)) s = alone;
    }
    ef_free(out);
    return s;
}

/* Under the lock: gives the claimed tensors their values. Returns how many were dropped meanwhile;
 * these are then first in `c`, to be freed after the lock is released. */
static int publish(batch *b, claim *c, int n) {
    int dropped = 0;
    for (int k = 0; k < n; k++) {
        deferred *d = c[k].who;
        d->claimed = false;
        bool done = c[k].value.dtype != EF_NO_DTYPE;
        if (done || d->dropped) {
            b->result[d->index] = NULL;
            b->n_awaited--;
        }
        if (d->dropped) {
            ef_tensor_release(&c[k].value);
            c[dropped++].who = d;
        } else if (done) {
            ef_tensor_move(&d->value, &c[k].value);
            ef_storage_data_set(&d->base, d->value.data); /* from here on d may be freed */
        }
    }
    return dropped;
}

/* Under the lock of a batch that nobody runs; returns without it. */
static ef_status *run_and_unlock(batch *b) {
    burden u = {0};
    int n = 0;
    b->state = CLOSED;
    claim *c = b->n_awaited > 0 ? ef_calloc(b->n_awaited, sizeof *c) : NULL;
    if (c == NULL) {
        ef_status *s = b->n_awaited > 0 ? ef_no_memory(b->n_awaited * sizeof *c) : NULL;
        ef_mutex_unlock(&b->lock);
        return s;
    }
    for (size_t k = 0; k < b->n_results; k++)
        if (b->result[k] != NULL) {
            b->result[k]->claimed = true;
            c[n++].who = b->result[k];
        }
    b->state = RUNNING;
    batch_ref(b); /* all holders of results may release them meanwhile */
    ef_mutex_unlock(&b->lock);
    void *blocking = ef_blocking_begin();
    ef_status *s = compute_claims(b, c, n);
    ef_mutex_lock(&b->lock);
    int dropped = publish(b, c, n);
    b->state = CLOSED;
    if (b->n_awaited == 0) u = unload(b);
    pthread_cond_broadcast(&b->over);
    ef_mutex_unlock(&b->lock);
    ef_blocking_end(blocking);
    for (int k = 0; k < dropped; k++) deferred_free(c[k].who);
    ef_free(c);
    burden_end(&u);
    batch_unref(b);
    return s;
}

/* Under the lock: waits until no thread runs the batch. */
static void wait_for(batch *b) {
    if (b->state != RUNNING) return;
    ef_mutex_unlock(&b->lock);
    void *blocking = ef_blocking_begin();
    ef_mutex_lock(&b->lock);
    while (b->state == RUNNING) ef_mutex_wait(&b->lock, &b->over);
    ef_mutex_unlock(&b->lock);
    ef_blocking_end(blocking);
    ef_mutex_lock(&b->lock);
}

static ef_status *materialize(ef_storage *s) {
    batch *b = ((deferred *)s)->owner;
    ef_mutex_lock(&b->lock);
    while (ef_storage_data(s) == NULL && b->state == RUNNING) wait_for(b);
    if (ef_storage_data(s) != NULL) {
        ef_mutex_unlock(&b->lock);
        return NULL;
    }
    ef_status *bad = run_and_unlock(b);
    if (bad == NULL || ef_storage_data(s) == NULL) return bad;
    ef_status_free(bad); /* another result of the batch could not be computed */
    return NULL;
}

bool ef_pending_owned(const ef_storage *s) {
    return ef_storage_data(s) != NULL && ef_tensor_owned(&((const deferred *)s)->value);
}

ef_status *ef_wait(void) {
    if (mine == NULL) return NULL;
    ef_mutex_lock(&mine->lock);
    while (mine->state == RUNNING) wait_for(mine);
    return run_and_unlock(mine);
}

/* ---- adding
 * ------------------------------------------------------------------------------------------- */

static bool is_deferred(const ef_tensor *t) {
    return ef_tensor_peek(t) == NULL && t->storage != NULL && t->storage->kind == EF_STORE_PENDING;
}

/* The storage that holds the bytes of a materialized tensor. A result can be one of its batch's own
 * inputs (a cast to a wider dtype and back is removed), so a batch must not hold an input through
 * the deferred tensor it once was: a variable that is assigned in a loop would keep a chain of all
 * its old values. */
static ef_storage *holder_of(const ef_tensor *t) {
    if (t->storage == NULL || t->storage->kind != EF_STORE_PENDING) return t->storage;
    const ef_tensor *value = &((deferred *)t->storage)->value;
    return value->storage != NULL ? value->storage : t->storage;
}

/* The same bytes under the same shape and dtype. */
static bool same_feed(const ef_tensor *feed, const ef_tensor *t) {
    return t->storage != NULL && feed->storage == holder_of(t) && feed->dtype == t->dtype &&
           feed->rank == t->rank && memcmp(feed->dim, t->dim, sizeof t->dim) == 0;
}

/* t is materialized, or deferred in b itself. */
static ef_status *edge_for(batch *b, const ef_tensor *t, ef_edge *out) {
    if (is_deferred(t) && ef_storage_data(t->storage) == NULL) {
        *out = (ef_edge){((deferred *)t->storage)->node, 0};
        return NULL;
    }
    for (size_t k = 0; k < b->n_feeds; k++)
        if (same_feed(&b->feed[k], t)) {
            *out = (ef_edge){b->graph->input[k], 0};
            return NULL;
        }
    uintptr_t before = (uintptr_t)b->feed;
    EF_TRY(EF_GROW(&b->feed, &b->cap_feeds, b->n_feeds + 1));
    for (size_t k = 0; (uintptr_t)b->feed != before && k < b->n_feeds; k++)
        ef_tensor_moved(&b->feed[k]);
    ef_shape shape = ef_shape_from(t);
    EF_TRY(ef_graph_input(b->graph, (ef_dtype)t->dtype, &shape, NULL, out));
    ef_tensor *feed = &b->feed[b->n_feeds++];
    ef_tensor_copy(feed, t);
    ef_tensor_unmark(feed);
    if (feed->data == NULL) feed->data = ef_storage_data(t->storage);
    if (feed->storage != NULL) {
        feed->storage = ef_storage_ref(holder_of(t));
        ef_storage_unref(t->storage);
    }
    return NULL;
}

/* Axes of a reduction, and the shape that something is broadcast to, are part of the structure: the
 * result's shape depends on them. */
static bool are_axes(const ef_op *op, int k) {
    return k > 0 && (op->traits & (EF_REDUCES | EF_SPREADS));
}

/* The result: storage without data, known to the batch and held by the caller. */
static ef_status *new_deferred(batch *b, int32_t node, ef_tensor *out) {
    EF_TRY(EF_GROW(&b->result, &b->cap_results, b->n_results + 1));
    deferred *d = ef_calloc(1, sizeof *d);
    if (d == NULL) return ef_no_memory(sizeof *d);
    const ef_fact *f = b->graph->node[node]->out;
    atomic_init(&d->base.refs, 1);
    d->base.kind = EF_STORE_PENDING;
    d->base.materialize = materialize;
    d->base.end = deferred_end;
    d->base.bytes = (size_t)ef_shape_count(&f->shape) * ef_dtype_size(f->dtype);
    d->owner = batch_ref(b);
    d->node = node;
    d->index = b->n_results;
    b->result[b->n_results++] = d;
    b->n_awaited++;
    b->bytes += d->base.bytes;
    memset(out, 0, sizeof *out);
    ef_tensor_shape_set(out, f->dtype, &f->shape);
    out->storage = &d->base;
    return NULL;
}

static ef_status *add(batch *b, const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                      int n_in, ef_tensor *out) {
    ef_edge edge[MOST_INPUTS];
    if (b->graph == NULL && (b->graph = ef_graph_make()) == NULL)
        return ef_no_memory(sizeof(ef_graph));
    for (int k = 0; k < n_in; k++) {
        EF_TRY(are_axes(op, k) ? ef_graph_constant(b->graph, in[k], &edge[k])
                               : edge_for(b, in[k], &edge[k]));
    }
    int32_t node;
    EF_TRY(ef_graph_add(b->graph, op, attrs, edge, n_in, NULL, &node));
    return new_deferred(b, node, out);
}

/* Whether the batch is to run now. Feeds that nobody else holds count as memory of the batch. Ops
 * on tensors that are large by themselves are to be fused, too, so the bound grows with the latest
 * result. */
static bool has_enough(const batch *b, size_t latest) {
    size_t bytes = b->bytes, most = latest > MOST_BYTES / LARGEST ? LARGEST * latest : MOST_BYTES;
    if (b->n_results >= MOST_NODES) return true;
    for (size_t k = 0; k < b->n_feeds; k++) {
        const ef_storage *s = b->feed[k].storage;
        if (s != NULL && ef_storage_sole(s)) bytes += s->bytes;
    }
    return bytes >= most;
}

/* Returns with `mine` locked, and each input materialized or deferred in it. */
static ef_status *materialize_foreign(const ef_tensor *const *in, int n_in) {
    for (;;) {
        EF_TRY(open_mine());
        int k = 0;
        while (k < n_in && (!is_deferred(in[k]) || ef_storage_data(in[k]->storage) != NULL ||
                            ((deferred *)in[k]->storage)->owner == mine))
            k++;
        if (k == n_in) return NULL;
        ef_mutex_unlock(&mine->lock);
        EF_TRY(ef_tensor_materialize((ef_tensor *)(uintptr_t)in[k]));
    }
}

/* ---- deciding
 * ----------------------------------------------------------------------------------------- */

static bool is_large(size_t bytes) { return (int64_t)bytes >= ef_defer_bytes; }

/* Infers the fact of the result. In the pending graph only axes have known values, since all other
 * inputs are fed. */
static bool infers(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in, int n_in,
                   ef_fact *out) {
    ef_fact facts[MOST_INPUTS];
    int n_out = 0;
    for (int k = 0; k < n_in; k++) {
        ef_fact_of(in[k], &facts[k], NULL);
        if (!are_axes(op, k)) facts[k].value = NULL;
    }
    const void *fields = attrs != NULL ? ef_attrs_fields(attrs) : NULL;
    ef_status *s = ef_op_infer(op, fields, facts, n_in, out, 1, &n_out);
    ef_status_free(s); /* running it gives the error of an eager call */
    if (s != NULL || n_out != 1 || !ef_shape_known(&out->shape) ||
        !ef_dtype_in(out->dtype, EF_PLAIN))
        return false;
    if (!(op->traits & EF_ELEMENTWISE)) return true;
    /* Only the first kernel row is fused. The others may fail, and an integer division by zero must
     * raise in the call itself. */
    ef_dtype types[MOST_INPUTS];
    for (int k = 0; k < n_in; k++) types[k] = facts[k].dtype;
    return ef_dtype_in(ef_op_key(op, facts, n_in, out, 1), op->kernel[0].types) &&
           ef_op_tile(op, types, n_in, out->dtype, fields) != NULL;
}

/* Decides whether an op is deferred. Elementwise ops and reductions are deferred if an argument is
 * large. If an argument is deferred, running the op would run the pending graph, so reductions and
 * views of any size are deferred too, and elementwise ops unless their result is a few numbers: the
 * mean of each row, for instance, is used again with the rows it was computed from. */
static bool worth_deferring(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                            int n_in) {
    bool large = false, waits = false;
    if (n_in > MOST_INPUTS || (op->traits & (EF_STATEFUL | EF_EFFECT))) return false;
    for (int k = 0; k < n_in; k++) {
        if (!ef_dtype_in((ef_dtype)in[k]->dtype, EF_PLAIN) || (in[k]->flags & EF_TENSOR_SYMBOLIC))
            return false;
        large |= is_large(ef_tensor_bytes(in[k]));
        waits |= is_deferred(in[k]);
    }
    if (!waits && (!large || !(op->traits & (EF_ELEMENTWISE | EF_REDUCES)))) return false;
    ef_fact out;
    if (!infers(op, attrs, in, n_in, &out)) return false;
    size_t bytes = (size_t)ef_shape_count(&out.shape) * ef_dtype_size(out.dtype);
    return large || !(op->traits & EF_ELEMENTWISE) || is_large(bytes) || bytes >= ROWS_BYTES;
}

ef_status *ef_pending_add(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                          int n_in, ef_tensor *out, bool *deferred_it) {
    *deferred_it = false;
    for (int k = 0; k < n_in; k++) /* before the lock: they may be deferred themselves */
        if (are_axes(op, k)) EF_TRY(ef_tensor_materialize((ef_tensor *)(uintptr_t)in[k]));
    if (!worth_deferring(op, attrs, in, n_in)) return NULL;
    EF_TRY(materialize_foreign(in, n_in));
    ef_status *s = add(mine, op, attrs, in, n_in, out);
    if (s == NULL && has_enough(mine, out->storage->bytes)) {
        ef_status_free(run_and_unlock(mine)); /* reading a result that failed gives the error */
    } else {
        if (mine->n_awaited == 0) { /* adding failed, and the batch has no other op */
            burden u = unload(mine);
            ef_mutex_unlock(&mine->lock);
            burden_end(&u);
        } else {
            ef_mutex_unlock(&mine->lock);
        }
    }
    *deferred_it = s == NULL;
    return s;
}
