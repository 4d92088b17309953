/* Deferring. A large op that fusion can help is checked, its result's shape worked out, and then it
 * waits in the thread's pending graph. The graph runs when a value is observed or enough has
 * gathered; its program is found by structure, so a plain loop runs the plan a function would get.
 *
 * Whatever comes from outside - numbers too - is fed, so that a loop with a changing factor is one
 * structure. A deferred tensor's storage belongs to the pending graph as well as to its holders;
 * those that nobody holds any more when the graph runs are not computed unless others need them. */
#include "base/alloc.h"
#include "base/array.h"
#include "base/option.h"
#include "eager/context.h"
#include "ops/run.h"
#include "plan/compile.h"
#include <pthread.h>

enum {
    MOST_INPUTS = 8,
    MOST_NODES = 48,
    MOST_BYTES = 256 << 20 /* results waiting */
};

typedef struct pending {
    pthread_mutex_t lock; /* rank 5: guards the rest; another thread may ask for a value */
    atomic_int refs;      /* the thread, and every deferred storage */
    ef_graph *graph;
    ef_tensor *feed; /* inputs of the graph, counted */
    size_t n_feeds, cap_feeds;
    struct deferred **waiting;
    size_t n_waiting, cap_waiting, bytes;
} pending;

typedef struct deferred {
    ef_storage base;
    pending *owner;
    int32_t node;
    ef_tensor result; /* once computed */
} deferred;

static _Thread_local pending *mine;
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

static void pending_unref(pending *p) {
    if (atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) != 1) return;
    ef_graph_unref(p->graph);
    for (size_t k = 0; k < p->n_feeds; k++) ef_tensor_release(&p->feed[k]);
    ef_free(p->feed);
    ef_free(p->waiting);
    pthread_mutex_destroy(&p->lock);
    ef_free(p);
}

static void deferred_end(ef_storage *s) {
    deferred *d = (deferred *)s;
    ef_tensor_release(&d->result);
    pending_unref(d->owner);
    ef_free(d);
}

static ef_status *run_pending(pending *p);

static void thread_ends(void *arg) { /* what others still hold of it must be there */
    pending *p = arg;
    pthread_mutex_lock(&p->lock);
    ef_status *s = run_pending(p);
    pthread_mutex_unlock(&p->lock);
    ef_status_free(s);
    pending_unref(p);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_key(void) { pthread_key_create(&key, thread_ends); }

static ef_status *mine_ready(void) {
    if (mine != NULL) return NULL;
    pending *p = ef_calloc(1, sizeof *p);
    if (p == NULL) return ef_no_memory(sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    atomic_init(&p->refs, 1);
    pthread_once(&once, make_key);
    pthread_setspecific(key, p);
    mine = p;
    return NULL;
}

/* ---- running
 * ------------------------------------------------------------------------------------------ */

/* Everything handed over or forgotten: an empty pending graph. */
static void empty(pending *p) {
    for (size_t k = 0; k < p->n_waiting; k++) ef_storage_unref(&p->waiting[k]->base);
    for (size_t k = 0; k < p->n_feeds; k++) ef_tensor_release(&p->feed[k]);
    p->n_waiting = p->n_feeds = p->bytes = 0;
    ef_graph_unref(p->graph);
    p->graph = NULL;
}

/* Sizes of the inputs become symbols, one for each different size, so that a loop whose sizes
 * change is one structure with a plan for each size. A 1 stays: it may stand for a broadcast. */
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

static ef_status *compute(pending *p, const ef_edge *out, int n_out, ef_tensor *result) {
    size_t n = p->n_feeds;
    ef_edge *feed = ef_malloc((n + 1) * (sizeof *feed + sizeof(ef_tensor *)));
    if (feed == NULL) return ef_no_memory(n * sizeof *feed);
    ef_tensor **in = (ef_tensor **)(feed + n + 1);
    for (size_t k = 0; k < n; k++) {
        feed[k] = (ef_edge){p->graph->input[k], 0};
        in[k] = &p->feed[k];
    }
    open_sizes(p->graph);
    ef_graph *part = NULL;
    ef_program *program = NULL;
    int32_t captures[1];
    int n_captures = 0;
    ef_status *s =
        ef_graph_extract(p->graph, feed, (int)n, out, n_out, NULL, 0, &part, captures, &n_captures);
    close_sizes(p->graph, p->feed);
    if (s == NULL) s = ef_compile(part, &program);
    if (s == NULL) s = ef_program_run(program, in, result);
    ef_program_unref(program);
    ef_graph_unref(part);
    ef_free(feed);
    return s;
}

/* Under the lock. On failure everything stays as it was, and may be tried again. */
static ef_status *run_pending(pending *p) {
    if (p->graph == NULL) return NULL;
    size_t n = p->n_waiting;
    ef_edge *out = ef_malloc((n + 1) * (sizeof *out + sizeof(deferred *)));
    ef_tensor *result = ef_calloc(n + 1, sizeof *result);
    ef_status *s = NULL;
    int n_out = 0;
    if (out == NULL || result == NULL) {
        s = ef_no_memory(n * sizeof *result);
        goto done;
    }
    deferred **who = (deferred **)(out + n + 1);
    for (size_t k = 0; k < n; k++) {
        if (ef_storage_sole(&p->waiting[k]->base)) continue; /* nobody holds it any more */
        who[n_out] = p->waiting[k];
        out[n_out++] = (ef_edge){p->waiting[k]->node, 0};
    }
    if (n_out > 0) EF_TRY_GOTO(compute(p, out, n_out, result));
    for (int k = 0; k < n_out; k++) {
        ef_tensor_move(&who[k]->result, &result[k]);
        who[k]->base.data = who[k]->result.data;
    }
    empty(p);
done:
    ef_free(out);
    ef_free(result);
    return s;
}

ef_status *ef_pending_settle(ef_storage *s) {
    pending *p = ((deferred *)s)->owner;
    pthread_mutex_lock(&p->lock);
    ef_status *bad = s->data == NULL ? run_pending(p) : NULL;
    pthread_mutex_unlock(&p->lock);
    return bad;
}

ef_status *ef_wait(void) {
    if (mine == NULL) return NULL;
    pthread_mutex_lock(&mine->lock);
    ef_status *s = run_pending(mine);
    pthread_mutex_unlock(&mine->lock);
    return s;
}

/* ---- adding
 * ------------------------------------------------------------------------------------------- */

static ef_status *edge_for(pending *p, const ef_tensor *t, ef_edge *out) {
    if (t->data == NULL && t->storage != NULL && t->storage->kind == EF_STORE_PENDING) {
        deferred *d = (deferred *)t->storage;
        if (d->owner == p && d->base.data == NULL) {
            *out = (ef_edge){d->node, 0};
            return NULL;
        }
        EF_TRY(ef_tensor_settle((ef_tensor *)t)); /* of another thread */
    }
    for (size_t k = 0; k < p->n_feeds; k++) /* the same tensor again */
        if (t->storage != NULL && p->feed[k].storage == t->storage && p->feed[k].rank == t->rank &&
            memcmp(p->feed[k].dim, t->dim, sizeof t->dim) == 0) {
            *out = (ef_edge){p->graph->input[k], 0};
            return NULL;
        }
    uintptr_t before = (uintptr_t)p->feed;
    EF_TRY(EF_GROW(&p->feed, &p->cap_feeds, p->n_feeds + 1));
    for (size_t k = 0; (uintptr_t)p->feed != before && k < p->n_feeds; k++)
        ef_tensor_moved(&p->feed[k]);
    ef_shape shape = ef_shape_from(t);
    EF_TRY(ef_graph_input(p->graph, (ef_dtype)t->dtype, &shape, NULL, out));
    ef_tensor_copy(&p->feed[p->n_feeds++], t);
    return NULL;
}

/* Axes of a reduction are part of the structure: the result's shape depends on them. */
static bool are_axes(const ef_op *op, int k) { return k > 0 && (op->traits & EF_REDUCES); }

/* The result: storage without data, known to the graph and to the caller. */
static ef_status *new_deferred(pending *p, int32_t node, ef_tensor *out) {
    EF_TRY(EF_GROW(&p->waiting, &p->cap_waiting, p->n_waiting + 1));
    deferred *d = ef_calloc(1, sizeof *d);
    if (d == NULL) return ef_no_memory(sizeof *d);
    const ef_fact *f = p->graph->node[node]->out;
    atomic_init(&d->base.refs, 2);
    d->base.kind = EF_STORE_PENDING;
    d->base.end = deferred_end;
    d->base.bytes = (size_t)ef_shape_count(&f->shape) * ef_dtype_size(f->dtype);
    d->owner = p;
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    d->node = node;
    p->waiting[p->n_waiting++] = d;
    p->bytes += d->base.bytes;
    memset(out, 0, sizeof *out);
    ef_tensor_shape_set(out, f->dtype, &f->shape);
    out->storage = &d->base;
    return NULL;
}

/* Does anybody still wait for a result? If not, the work and what it holds can be forgotten. */
static bool awaited(const pending *p) {
    for (size_t k = p->n_waiting; k > 0; k--) /* the newest is the likeliest */
        if (!ef_storage_sole(&p->waiting[k - 1]->base)) return true;
    return false;
}

static ef_status *add(pending *p, const ef_op *op, const ef_attrs *attrs,
                      const ef_tensor *const *in, int n_in, ef_tensor *out) {
    ef_edge edge[MOST_INPUTS];
    if (p->n_waiting > 0 && !awaited(p)) empty(p);
    if (p->graph == NULL && (p->graph = ef_graph_make()) == NULL)
        return ef_no_memory(sizeof(ef_graph));
    for (int k = 0; k < n_in; k++) {
        EF_TRY(are_axes(op, k) ? ef_graph_constant(p->graph, in[k], &edge[k])
                               : edge_for(p, in[k], &edge[k]));
    }
    int32_t node;
    EF_TRY(ef_graph_add(p->graph, op, attrs, edge, n_in, NULL, &node));
    EF_TRY(new_deferred(p, node, out));
    if (p->n_waiting < MOST_NODES && p->bytes < MOST_BYTES) return NULL;
    ef_status *s = run_pending(p);
    if (s != NULL) ef_tensor_release(out);
    return s;
}

/* ---- deciding
 * ----------------------------------------------------------------------------------------- */

static bool is_large(size_t bytes) { return (int64_t)bytes >= ef_defer_bytes; }

static bool is_deferred(const ef_tensor *t) {
    return t->data == NULL && t->storage != NULL && t->storage->kind == EF_STORE_PENDING;
}

/* A value that is fed has no known elements in the pending graph, only axes have. */
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
    ef_status_free(s); /* running it says the same in an eager call's words */
    if (s != NULL || n_out != 1 || !ef_shape_known(&out->shape) ||
        !ef_dtype_in(out->dtype, EF_PLAIN))
        return false;
    if (!(op->traits & EF_ELEMENTWISE)) return true;
    /* The other rows are not fused, and may fail: integers divided by zero raise at the call. */
    return ef_dtype_in(ef_op_key(op, facts, n_in, out, 1), op->kernel[0].types);
}

/* The one rule, before anything is touched. Elementwise ops and reductions are deferred if an
 * argument is large. If one is deferred, running the op would run the pending graph, so reductions
 * and views join it whatever their size, elementwise ops if their result is large. */
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
    return large || !(op->traits & EF_ELEMENTWISE) ||
           is_large((size_t)ef_shape_count(&out.shape) * ef_dtype_size(out.dtype));
}

ef_status *ef_pending_add(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                          int n_in, ef_tensor *out, bool *deferred_it) {
    *deferred_it = false;
    for (int k = 0; k < n_in; k++) /* before the lock: they may be deferred themselves */
        if (are_axes(op, k)) EF_TRY(ef_tensor_settle((ef_tensor *)(uintptr_t)in[k]));
    if (!worth_deferring(op, attrs, in, n_in)) return NULL;
    EF_TRY(mine_ready());
    pthread_mutex_lock(&mine->lock);
    ef_status *s = add(mine, op, attrs, in, n_in, out);
    pthread_mutex_unlock(&mine->lock);
    *deferred_it = s == NULL;
    return s;
}
