/* Tapes: starting, stopping, watching and freeing them. Any thread may stop, query or free a tape.
 * The thread that it records keeps it in a list and checks each entry before using it, so no thread
 * ever changes the list of another. */
#include "eager/tape/tape.h"
#include "base/alloc.h"
#include "base/array.h"
#include "eager/context.h"
#include <pthread.h>
#include <sched.h>

_Thread_local ef_open_tapes ef_open;

void ef_tape_wait(ef_tape *t) {
    while (atomic_exchange_explicit(&t->locked, true, memory_order_acquire)) sched_yield();
}

void ef_tape_name(ef_tensor *t) {
    if (t->tape == NULL && !(t->flags & EF_TENSOR_SYMBOLIC) &&
        ef_dtype_in((ef_dtype)t->dtype, EF_FLOATS | EF_COMPLEX))
        t->tape = ef_mark_new();
}

uint64_t ef_tape_id(const ef_tensor *t) {
    if (EF_LIKELY(t->dtype != EF_RESOURCE)) return t->tape != NULL ? t->tape->id : 0;
    const ef_variable *v = (const ef_variable *)ef_tensor_object(t, EF_OBJECT_VARIABLE);
    return v != NULL ? v->number : 0;
}

/* ---- which tapes are open
 * --------------------------------------------------------------------------- */

/* Epochs are numbered across all threads, so that no two events have the same. */
static uint64_t next_epoch(void) {
    static atomic_uint_fast64_t last;
    ef_graph_epoch = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    return ef_graph_epoch;
}

static void tape_unref(ef_tape *t);
static void end_idle(void);

static void set_busy(void) {
    ef_here.busy &= ~(unsigned)EF_TAPING;
    for (size_t k = 0; k < ef_open.n; k++)
        if (ef_tape_here(&ef_open.at[k])) ef_here.busy |= EF_TAPING;
}

int ef_tape_orders(void) {
    int n = 0;
    for (size_t k = 0; k < ef_open.n; k++) {
        if (!ef_tape_here(&ef_open.at[k])) continue;
        ef_tape *t = ef_open.at[k].tape;
        ef_tape_lock(t);
        n += t->again ? 2 : 1;
        ef_tape_unlock(t);
    }
    return n;
}

static void unlist(size_t k) {
    ef_tape *t = ef_open.at[k].tape;
    for (ef_open.n--; k < ef_open.n; k++) ef_open.at[k] = ef_open.at[k + 1];
    tape_unref(t);
}

/* Removes the tapes that other threads have closed from the list. */
static void prune(void) {
    for (size_t k = ef_open.n; k-- > 0;)
        if (atomic_load_explicit(&ef_open.at[k].tape->home, memory_order_relaxed) !=
            (const void *)&ef_open)
            unlist(k);
}

static void thread_ends(void *arg) {
    (void)arg;
    for (size_t k = 0; k < ef_open.n; k++) ef_tape_stop(ef_open.at[k].tape);
    while (ef_open.n > 0) unlist(ef_open.n - 1);
    ef_free(ef_open.at);
    ef_open = (ef_open_tapes){0};
    end_idle();
}
static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void make_key(void) { pthread_key_create(&key, thread_ends); }

static ef_status *list_tape(ef_tape *t) {
    prune();
    if (ef_open.cap == 0) {
        pthread_once(&once, make_key);
        pthread_setspecific(key, &ef_open);
    }
    EF_TRY(EF_GROW(&ef_open.at, &ef_open.cap, ef_open.n + 1));
    ef_open.at[ef_open.n++] = (ef_open_tape){.tape = t};
    atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return NULL;
}

/* Under the lock. */
static void open_span(ef_tape *t) {
    ef_status *s = EF_GROW(&t->span, &t->cap_spans, t->n_spans + 1);
    t->broken = t->broken || s != NULL;
    if (s == NULL) t->span[t->n_spans++] = (ef_tape_span){next_epoch(), UINT64_MAX};
    ef_status_free(s);
}

/* Under the lock. A span in which the tape's thread added no nodes to graphs is dropped. mine: this
 * is the tape's thread. */
static void close_span(ef_tape *t, bool mine) {
    if (t->n_spans == 0 || t->span[t->n_spans - 1].to != UINT64_MAX) return;
    if (mine && ef_graph_stamped < t->span[t->n_spans - 1].from)
        t->n_spans--;
    else
        t->span[t->n_spans - 1].to = next_epoch();
}

static void open_tape(ef_tape *t) {
    ef_tape_lock(t);
    bool closed = atomic_load_explicit(&t->home, memory_order_relaxed) == NULL;
    if (closed) open_span(t);
    ef_tape_unlock(t);
    if (!closed) return;
    ef_status *s = list_tape(t);
    if (s == NULL) {
        atomic_store_explicit(&t->home, &ef_open, memory_order_release);
    } else {
        ef_tape_lock(t);
        t->broken = true;
        ef_tape_unlock(t);
    }
    ef_status_free(s);
    set_busy();
}

static void close_tape(ef_tape *t) {
    ef_tape_lock(t);
    const void *home = atomic_exchange_explicit(&t->home, NULL, memory_order_acq_rel);
    if (home != NULL) close_span(t, home == (const void *)&ef_open);
    ef_tape_unlock(t);
    for (size_t k = ef_open.n; k-- > 0 && home == (const void *)&ef_open;)
        if (ef_open.at[k].tape == t) unlist(k);
    set_busy();
}

void ef_tapes_suspend(void) {
    for (size_t k = 0; k < ef_open.n; k++) {
        ef_tape *t = ef_open.at[k].tape;
        if (ef_open.at[k].suspended++ > 0) continue;
        ef_tape_lock(t);
        close_span(t, true);
        ef_tape_unlock(t);
    }
    set_busy();
}

void ef_tapes_resume(void) {
    for (size_t k = 0; k < ef_open.n; k++) {
        ef_tape *t = ef_open.at[k].tape;
        if (ef_open.at[k].suspended == 0 || --ef_open.at[k].suspended > 0) continue;
        ef_tape_lock(t);
        open_span(t);
        ef_tape_unlock(t);
    }
    set_busy();
}

/* ---- what a tape holds
 * ------------------------------------------------------------------------------- */

/* A free list of ended tapes, which keep their emptied lists: programs make a tape in every step.
 */
enum { IDLE = 4, MANY = 1024 }; /* tapes with longer lists are freed */
static _Thread_local ef_tape *idle[IDLE];
static _Thread_local int n_idle;

static void known_clear(ef_tape_values *k) {
    if (k->n > 0) memset(k->slot, 0, k->cap * sizeof *k->slot);
    k->n = 0;
    k->places = 0;
}

static void let_go_records(ef_tape *t) {
    ef_tape_lock(t);
    ef_tape_record **record = t->record;
    size_t n = t->n_records, cap = t->cap_records;
    t->record = NULL;
    t->n_records = t->cap_records = t->n_fresh = t->n_old = t->fresh_bytes = 0;
    known_clear(&t->known);
    t->n_spans = 0;
    ef_tape_unlock(t);
    for (size_t k = n; k-- > 0;)
        ef_record_unref(record[k]); /* may call the user: no lock is held */
    ef_tape_lock(t);
    if (t->record == NULL) { /* the list itself is reused */
        t->record = record;
        t->cap_records = cap;
        record = NULL;
    }
    ef_tape_unlock(t);
    ef_free(record);
}

static void let_go_watched(ef_tape *t) {
    ef_tape_lock(t);
    ef_hooked *watched = t->watched;
    size_t n = t->n_watched, cap = t->cap_watched;
    t->watched = NULL;
    t->n_watched = t->cap_watched = 0;
    ef_tape_unlock(t);
    for (size_t k = 0; k < n; k++) {
        ef_tensor_release(&watched[k].kept);
        ef_mark_unref(watched[k].mark);
    }
    ef_tape_lock(t);
    if (t->watched == NULL) {
        t->watched = watched;
        t->cap_watched = cap;
        watched = NULL;
    }
    ef_tape_unlock(t);
    ef_free(watched);
}

static void let_go(ef_tape *t) {
    let_go_records(t);
    let_go_watched(t);
}

static void tape_end(ef_tape *t) {
    ef_free(t->record);
    ef_free(t->watched);
    ef_free(t->span);
    ef_free(t->known.slot);
    ef_free(t);
}

static void tape_unref(ef_tape *t) {
    if (atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1) return;
    let_go(t); /* ef_tape_free has done so, but records may have been added since */
    bool keep = t->cap_records + t->cap_watched + t->cap_spans + t->known.cap <= MANY;
    if (keep && n_idle < IDLE && ef_open.cap > 0)
        idle[n_idle++] = t;
    else
        tape_end(t);
}

static void end_idle(void) {
    while (n_idle > 0) tape_end(idle[--n_idle]);
}

static ef_tape *new_tape(void) {
    ef_tape *t = n_idle > 0 ? idle[--n_idle] : ef_calloc(1, sizeof *t);
    if (t == NULL) return NULL;
    atomic_init(&t->refs, 1);
    atomic_init(&t->home, NULL);
    atomic_init(&t->locked, false);
    t->paused = 0;
    t->left = ef_marks_left;
    t->used = t->quiet = t->broken = false;
    return t;
}

/* ---- tapes
 * ---------------------------------------------------------------------------------------- */

ef_status *ef_tape_start(bool persistent, ef_tape **out) {
    if (out == NULL) return ef_error(EF_INVALID, "ef_tape_start: out is NULL");
    ef_eager_start();
    ef_tape *t = new_tape();
    if (t == NULL) return ef_no_memory(sizeof *t);
    t->persistent = t->again = persistent;
    t->auto_watch = t->started = true;
    open_tape(t);
    if (t->broken) {
        ef_tape_free(t);
        return ef_no_memory(sizeof *t->span);
    }
    *out = t;
    return NULL;
}

void ef_tape_stop(ef_tape *t) {
    if (t == NULL) return;
    ef_tape_lock(t);
    bool started = t->started;
    t->started = false;
    ef_tape_unlock(t);
    if (started) close_tape(t);
}

void ef_tape_pause(ef_tape *t) {
    if (t == NULL) return;
    ef_tape_lock(t);
    t->paused++;
    ef_tape_unlock(t);
    close_tape(t);
}

void ef_tape_resume(ef_tape *t) {
    if (t == NULL) return;
    ef_tape_lock(t);
    bool opens = t->paused == 1 && t->started;
    t->paused -= t->paused > 0;
    ef_tape_unlock(t);
    if (opens) open_tape(t);
}

static void set_flag(ef_tape *t, bool *flag, bool on) {
    ef_tape_lock(t);
    *flag = on;
    ef_tape_unlock(t);
}

void ef_tape_set_auto_watch(ef_tape *t, bool on) {
    if (t != NULL) set_flag(t, &t->auto_watch, on);
}

void ef_tape_set_again(ef_tape *t, bool on) {
    if (t != NULL) set_flag(t, &t->again, on);
}

void ef_tape_set_quiet(ef_tape *t, bool on) {
    if (t != NULL) set_flag(t, &t->quiet, on);
}

void ef_tape_set_used(ef_tape *t) { set_flag(t, &t->used, true); }

void ef_tape_reset(ef_tape *t) {
    if (t == NULL) return;
    let_go(t);
    ef_tape_lock(t);
    t->used = t->broken = false;
    if (atomic_load_explicit(&t->home, memory_order_relaxed) != NULL) open_span(t);
    ef_tape_unlock(t);
}

void ef_tape_finish(ef_tape *t) {
    if (t == NULL) return;
    ef_tape_stop(t);
    ef_tape_set_used(t);
    let_go_records(t);
}

void ef_tape_free(ef_tape *t) {
    if (t == NULL) return;
    ef_tape_stop(t);
    let_go(t);
    tape_unref(t);
}

/* ---- watching
 * ------------------------------------------------------------------------------------- */

/* Moves a small value into storage of its own: graphs then capture it instead of copying it as a
 * constant, so it can be distinguished from equal values. */
static ef_status *lift(ef_tensor *x) {
    if (x->storage != NULL || x->data != (const void *)x->small) return NULL;
    ef_storage *s;
    EF_TRY(ef_storage_new(x->device, (ef_dtype)x->dtype, ef_count(x), &s));
    memcpy(s->data, x->small, ef_tensor_bytes(x));
    x->storage = s;
    x->data = s->data;
    return NULL;
}

static ef_status *watch(ef_tape *t, const ef_tensor *x, const ef_tensor *kept) {
    bool symbolic = x->flags & EF_TENSOR_SYMBOLIC;
    ef_tape_lock(t);
    ef_status *s = ef_tape_watch_as(t, symbolic ? 0 : ef_tape_id(x), next_epoch(),
                                    symbolic ? NULL : x->tape, kept);
    bool sweep = ef_tape_due(t);
    ef_tape_unlock(t);
    if (EF_UNLIKELY(sweep)) ef_tape_sweep(t);
    return s;
}

ef_status *ef_tape_watch(ef_tape *t, ef_tensor *x) {
    if (t == NULL || x == NULL || x->dtype == EF_NO_DTYPE)
        return ef_error(EF_INVALID, "ef_tape_watch: tape and tensor must not be NULL or released");
    if (!ef_dtype_in((ef_dtype)x->dtype, EF_FLOATS | EF_COMPLEX | EF_BIT(RESOURCE)))
        return ef_error(EF_INVALID,
                        "ef_tape_watch: the tensor is %s; only floating and complex "
                        "tensors have gradients",
                        ef_dtype_name((ef_dtype)x->dtype));
    if (x->flags & EF_TENSOR_SYMBOLIC) return watch(t, x, x);
    if (x->dtype == EF_RESOURCE)
        return ef_tape_id(x) != 0
                   ? watch(t, x, x)
                   : ef_error(EF_INVALID, "ef_tape_watch: the resource is not a variable's handle");
    bool recording = ef_here.busy & EF_TRACING;
    if (recording) EF_TRY(lift(x));
    if (x->tape == NULL && (x->tape = ef_mark_new()) == NULL) return ef_no_memory(sizeof(ef_mark));
    return watch(t, x, recording ? x : NULL);
}

int ef_tape_watched(const ef_tape *t, ef_tensor *out, int max) {
    int n = 0;
    if (t == NULL) return 0;
    ef_tape_lock((ef_tape *)t);
    for (size_t k = 0; k < t->n_watched; k++) {
        if (t->watched[k].kept.dtype != EF_RESOURCE) continue;
        if (out != NULL && n < max) ef_tensor_copy(&out[n], &t->watched[k].kept);
        n++;
    }
    ef_tape_unlock((ef_tape *)t);
    return out == NULL || n < max ? n : max;
}

ef_status *ef_variable_set_trainable(const ef_tensor *handle, bool on) {
    ef_variable *v = (ef_variable *)ef_tensor_object(handle, EF_OBJECT_VARIABLE);
    if (v == NULL)
        return ef_error(EF_INVALID,
                        "ef_variable_set_trainable: the tensor is not a variable's handle");
    v->trainable = on;
    return NULL;
}

bool ef_variable_trainable(const ef_tensor *handle) {
    const ef_variable *v = (const ef_variable *)ef_tensor_object(handle, EF_OBJECT_VARIABLE);
    return v != NULL && v->trainable;
}
