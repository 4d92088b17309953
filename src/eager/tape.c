/* Recording. Numbers are given out once and never again, so "was this watched?" is a comparison. A
 * variable's handle is known by the variable itself, whatever copy of it is used. */
#include "eager/tape.h"
#include "base/alloc.h"
#include "base/array.h"
#include "eager/context.h"

static _Thread_local uint64_t last_id;
enum { ID_BITS = 40 };               /* of a number; the thread's own number is above them */
static _Thread_local ef_tape *tapes; /* alive ones of this thread, newest first */

/* Numbers of variables, by their address; few, so a list will do. Forgotten with the log. */
typedef struct named_variable {
    ef_storage *variable; /* counted */
    uint64_t id;
} named_variable;
static _Thread_local named_variable *variables;
static _Thread_local size_t n_variables, cap_variables;

static uint64_t new_id(void) {
    static atomic_uint_fast64_t threads;
    if (EF_UNLIKELY(last_id == 0))
        last_id = (atomic_fetch_add_explicit(&threads, 1, memory_order_relaxed) + 1) << ID_BITS;
    return ++last_id;
}

/* Made since the log began; what is older counts only where a tape watches it. */
bool ef_log_made(const ef_log *log, uint64_t id) {
    return id >= log->first_id && id >> ID_BITS == log->first_id >> ID_BITS;
}

void ef_tape_name(ef_tensor *t) {
    if (t->tape == 0 && !(t->flags & EF_TENSOR_SYMBOLIC) &&
        ef_dtype_in((ef_dtype)t->dtype, EF_FLOATS | EF_COMPLEX))
        t->tape = new_id();
}

uint64_t ef_tape_id(const ef_tensor *t) {
    if (EF_LIKELY(t->dtype != EF_RESOURCE)) return t->tape;
    for (size_t k = n_variables; k > 0; k--)
        if (variables[k - 1].variable == t->storage) return variables[k - 1].id;
    return 0;
}

static ef_status *number_variable(ef_storage *v, uint64_t *id) {
    EF_TRY(EF_GROW(&variables, &cap_variables, n_variables + 1));
    *id = new_id();
    variables[n_variables++] = (named_variable){ef_storage_ref(v), *id};
    return NULL;
}

/* ---- windows
 * ------------------------------------------------------------------------------------- */

/* Epochs are numbered through all threads, so that no two events have the same. */
static uint64_t next_epoch(void) {
    static atomic_uint_fast64_t last;
    ef_graph_epoch = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
    return ef_graph_epoch;
}

static bool is_open(const ef_tape *t) {
    return t->n_spans > 0 && t->span[t->n_spans - 1].end == SIZE_MAX;
}

int ef_tape_open_count(void) {
    int n = 0;
    for (const ef_tape *t = tapes; t != NULL; t = t->next) n += is_open(t);
    return n;
}

static void set_busy(void) {
    ef_here.busy &= ~(unsigned)EF_TAPING;
    for (const ef_tape *t = tapes; t != NULL; t = t->next)
        if (is_open(t)) {
            ef_here.busy |= EF_TAPING;
            ef_here.log = t->log;
        }
}

static void open_span(ef_tape *t) {
    ef_status *s = EF_GROW(&t->span, &t->cap_spans, t->n_spans + 1);
    t->broken = t->broken || s != NULL;
    ef_status_free(s);
    if (!t->broken)
        t->span[t->n_spans++] = (ef_tape_span){
            .begin = t->log->n_records, .end = SIZE_MAX, .from = next_epoch(), .to = UINT64_MAX};
    set_busy();
}

static void close_span(ef_tape *t) {
    if (is_open(t)) {
        t->span[t->n_spans - 1].end = t->log->n_records;
        t->span[t->n_spans - 1].to = next_epoch();
    }
    set_busy();
}

/* ---- tapes
 * ---------------------------------------------------------------------------------------- */

static void tape_end(ef_tape *t);

/* Ends the tapes that other threads have let go of (a garbage collector runs where it likes). */
static void reap(void) {
    for (ef_tape *t = tapes, *next; t != NULL; t = next) {
        next = t->next;
        if (atomic_load_explicit(&t->abandoned, memory_order_acquire)) tape_end(t);
    }
}

ef_status *ef_tape_start(bool persistent, ef_tape **out) {
    if (out == NULL) return ef_error(EF_INVALID, "ef_tape_start: out is NULL");
    ef_eager_start();
    reap();
    ef_tape *t = ef_calloc(1, sizeof *t);
    if (t == NULL) return ef_no_memory(sizeof *t);
    if (ef_here.log == NULL) ef_here.log = tapes != NULL ? tapes->log : NULL;
    if (ef_here.log == NULL) {
        if ((ef_here.log = ef_calloc(1, sizeof *ef_here.log)) == NULL) {
            ef_free(t);
            return ef_no_memory(sizeof *ef_here.log);
        }
        ef_here.log->first_id = new_id();
    }
    t->log = ef_here.log;
    t->persistent = persistent;
    t->auto_watch = t->started = true;
    t->thread = &tapes;
    t->log->tapes++;
    t->next = tapes;
    tapes = t;
    open_span(t);
    if (t->broken) {
        ef_tape_free(t);
        return ef_no_memory(sizeof *t->span);
    }
    *out = t;
    return NULL;
}

void ef_tape_stop(ef_tape *t) {
    if (t == NULL || !t->started) return;
    t->started = false;
    close_span(t);
}

void ef_tape_pause(ef_tape *t) {
    if (t == NULL) return;
    t->paused++;
    close_span(t);
}

void ef_tape_resume(ef_tape *t) {
    if (t == NULL || t->paused == 0) return;
    if (--t->paused == 0 && t->started) open_span(t);
}

ef_tape *ef_tapes_pause(void) {
    for (ef_tape *t = tapes; t != NULL; t = t->next) ef_tape_pause(t);
    return tapes;
}

void ef_tapes_resume(const ef_tape *newest) {
    ef_tape *from = tapes;
    while (from != NULL && from != newest) from = from->next;
    if (from == NULL) from = newest != NULL ? tapes : NULL; /* the newest was freed meanwhile */
    for (; from != NULL; from = from->next) ef_tape_resume(from);
}

void ef_tape_set_auto_watch(ef_tape *t, bool on) {
    if (t != NULL) t->auto_watch = on;
}

void ef_tape_set_quiet(ef_tape *t, bool on) {
    if (t != NULL) t->quiet = on;
}

bool ef_tapes_quiet(void) {
    for (const ef_tape *t = tapes; t != NULL; t = t->next)
        if (is_open(t) && !t->quiet) return false;
    return true;
}

static void forget_watched(ef_tape *t) {
    for (size_t k = 0; k < t->n_watched; k++) ef_tensor_release(&t->watched[k].kept);
    t->n_watched = 0;
}

void ef_tape_reset(ef_tape *t) {
    if (t == NULL) return;
    t->n_spans = 0;
    t->used = t->broken = false;
    forget_watched(t);
    if (t->started && t->paused == 0) open_span(t);
}

static void log_free(ef_log *log) {
    for (size_t k = 0; k < log->n_records; k++) ef_record_release(log->record[k]);
    ef_free(log->record);
    ef_arena_free(&log->arena);
    ef_free(log);
    for (size_t k = 0; k < n_variables; k++) ef_storage_unref(variables[k].variable);
    n_variables = 0;
    ef_free(variables);
    variables = NULL;
    cap_variables = 0;
}

static void tape_end(ef_tape *t) {
    ef_tape_stop(t);
    for (ef_tape **at = &tapes; *at != NULL; at = &(*at)->next)
        if (*at == t) {
            *at = t->next;
            break;
        }
    if (--t->log->tapes == 0) {
        if (ef_here.log == t->log) ef_here.log = NULL;
        log_free(t->log);
    }
    forget_watched(t);
    ef_free(t->watched);
    ef_free(t->span);
    ef_free(t);
}

void ef_tape_free(ef_tape *t) {
    if (t == NULL) return;
    if (t->thread == &tapes)
        tape_end(t);
    else
        atomic_store_explicit(&t->abandoned, true, memory_order_release);
}

/* ---- watching
 * ------------------------------------------------------------------------------------- */

bool ef_tape_watches(const ef_tape *t, uint64_t id) {
    for (size_t k = t->n_watched; k > 0; k--)
        if (t->watched[k - 1].id == id) return true;
    return false;
}

/* kept: or NULL. */
static ef_status *watch_as(ef_tape *t, uint64_t id, uint64_t since, const ef_tensor *kept) {
    uintptr_t before = (uintptr_t)t->watched;
    EF_TRY(EF_GROW(&t->watched, &t->cap_watched, t->n_watched + 1));
    for (size_t k = 0; k < t->n_watched && before != (uintptr_t)t->watched; k++)
        if (t->watched[k].kept.dtype != EF_NO_DTYPE) ef_tensor_moved(&t->watched[k].kept);
    ef_watched *w = &t->watched[t->n_watched++];
    *w = (ef_watched){.id = id, .since = since};
    if (kept != NULL) ef_tensor_copy(&w->kept, kept);
    return NULL;
}

static bool watches_symbolic(const ef_tape *t, const ef_tensor *x) {
    ef_graph *g, *other;
    ef_edge e = ef_tensor_edge(x, &g);
    for (size_t k = 0; k < t->n_watched; k++) {
        const ef_tensor *kept = &t->watched[k].kept;
        if (!(kept->flags & EF_TENSOR_SYMBOLIC)) continue;
        ef_edge have = ef_tensor_edge(kept, &other);
        if (other == g && ef_edge_same(have, e)) return true;
    }
    return false;
}

static ef_status *watch_symbolic(ef_tape *t, const ef_tensor *x) {
    return watches_symbolic(t, x) ? NULL : watch_as(t, 0, next_epoch(), x);
}

/* A small value gets memory of its own: graphs then capture it, so it can be told from others. */
static ef_status *lift(ef_tensor *x) {
    if (x->storage != NULL || x->data != (const void *)x->small) return NULL;
    ef_storage *s;
    EF_TRY(ef_storage_new((ef_dtype)x->dtype, ef_count(x), &s));
    memcpy(s->data, x->small, ef_tensor_bytes(x));
    x->storage = s;
    x->data = s->data;
    return NULL;
}

ef_status *ef_tape_watch(ef_tape *t, ef_tensor *x) {
    if (t == NULL || x == NULL || x->dtype == EF_NO_DTYPE)
        return ef_error(EF_INVALID, "ef_tape_watch: tape and tensor must not be NULL or released");
    if (!ef_dtype_in((ef_dtype)x->dtype, EF_FLOATS | EF_COMPLEX | EF_BIT(RESOURCE)))
        return ef_error(EF_INVALID,
                        "ef_tape_watch: the tensor is %s; only floating and complex "
                        "tensors have gradients",
                        ef_dtype_name((ef_dtype)x->dtype));
    if (x->flags & EF_TENSOR_SYMBOLIC) return watch_symbolic(t, x);
    uint64_t id = ef_tape_id(x);
    bool recording = ef_here.busy & EF_TRACING;
    if (id == 0 && x->dtype == EF_RESOURCE) EF_TRY(number_variable(x->storage, &id));
    if (recording && x->dtype != EF_RESOURCE) EF_TRY(lift(x));
    if (id == 0) x->tape = id = new_id();
    if (ef_tape_watches(t, id)) return NULL;
    return watch_as(t, id, next_epoch(), recording || x->dtype == EF_RESOURCE ? x : NULL);
}

int ef_tape_watched(const ef_tape *t, ef_tensor *out, int max) {
    int n = 0;
    for (size_t k = 0; t != NULL && k < t->n_watched; k++) {
        if (t->watched[k].kept.dtype != EF_RESOURCE) continue;
        if (out != NULL && n < max) ef_tensor_copy(&out[n], &t->watched[k].kept);
        n++;
    }
    return n;
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

/* ---- recording
 * -------------------------------------------------------------------------------------- */

/* Trainable variables are watched by being used. */
static bool is_trainable(const ef_tensor *t) {
    if (EF_UNLIKELY(t->flags & EF_TENSOR_SYMBOLIC)) { /* an argument of a function */
        ef_graph *g;
        ef_edge e = ef_tensor_edge(t, &g);
        const ef_fact *behind = ef_edge_fact(g, e)->handle;
        return g->node[e.node]->trains && behind != NULL &&
               ef_dtype_in(behind->dtype, EF_FLOATS | EF_COMPLEX);
    }
    const ef_variable *v = (const ef_variable *)ef_tensor_object(t, EF_OBJECT_VARIABLE);
    return v != NULL && v->trainable && ef_dtype_in(v->dtype, EF_FLOATS | EF_COMPLEX);
}

static bool matters(uint64_t id) {
    if (id == 0) return false;
    if (EF_LIKELY(ef_here.log != NULL && ef_log_made(ef_here.log, id))) return true;
    for (const ef_tape *t = tapes; t != NULL; t = t->next)
        if (ef_tape_watches(t, id)) return true;
    return false;
}

bool ef_tape_interested(const ef_tensor *const *in, int n_in) {
    for (int k = 0; k < n_in; k++)
        if (matters(ef_tape_id(in[k])) || (in[k]->dtype == EF_RESOURCE && is_trainable(in[k])))
            return true;
    return false;
}

ef_status *ef_tape_note_variables(const ef_tensor *const *in, int n_in) {
    for (int k = 0; k < n_in; k++) {
        if (in[k]->dtype != EF_RESOURCE || !is_trainable(in[k])) continue;
        bool symbolic = in[k]->flags & EF_TENSOR_SYMBOLIC;
        uint64_t id = symbolic ? 0 : ef_tape_id(in[k]);
        if (id == 0 && !symbolic) EF_TRY(number_variable(in[k]->storage, &id));
        for (ef_tape *t = tapes; t != NULL; t = t->next) {
            if (!is_open(t) || !t->auto_watch) continue;
            if (symbolic ? watches_symbolic(t, in[k]) : ef_tape_watches(t, id)) continue;
            EF_TRY(watch_as(t, id, 0, in[k]));
        }
    }
    return NULL;
}

static void note_value(ef_tape_value *v, const ef_tensor *t, bool keep) {
    v->id = ef_tape_id(t);
    v->fact = (ef_fact){.dtype = (ef_dtype)t->dtype, .shape = ef_shape_from(t)};
    const ef_variable *var = (const ef_variable *)ef_tensor_object(t, EF_OBJECT_VARIABLE);
    if (var != NULL) {
        v->handle = (ef_fact){.dtype = var->dtype, .shape = var->shape};
        v->fact.handle = &v->handle;
    }
    if (keep) ef_tensor_copy(&v->tensor, t);
}

static bool keeps_in(const ef_op *op, int k) {
    return op == NULL || op->keeps == 0 || k >= 15 || (op->keeps & EF_KEEP_IN(k));
}
static bool keeps_out(const ef_op *op, int k) {
    return op != NULL && (op->keeps == 0 || k >= 14 || (op->keeps & EF_KEEP_OUT(k)));
}

/* A record with room for its values; outputs get numbers. */
static ef_status *new_record(const ef_op *op, const ef_tensor *const *in, int n_in, ef_tensor *out,
                             int n_out, ef_tape_record **made) {
    ef_log *log = ef_here.log;
    EF_TRY(ef_tape_note_variables(in, n_in));
    EF_TRY(EF_GROW(&log->record, &log->cap_records, log->n_records + 1));
    ef_tape_record *r = ef_arena_zalloc(&log->arena, sizeof *r);
    size_t n = (size_t)(n_in + n_out);
    ef_tape_value *v = ef_arena_zalloc(&log->arena, (n + 1) * sizeof *v);
    if (r == NULL || v == NULL) return ef_no_memory(n * sizeof *v);
    r->op = op;
    r->n_in = n_in;
    r->n_out = n_out;
    r->in = v;
    r->out = v + n_in;
    for (int k = 0; k < n_in; k++) note_value(&v[k], in[k], op != NULL && keeps_in(op, k));
    for (int k = 0; k < n_out; k++) {
        bool flows = ef_dtype_in((ef_dtype)out[k].dtype, EF_FLOATS | EF_COMPLEX) ||
                     out[k].dtype == EF_VARIANT;
        out[k].tape = flows ? new_id() : 0;
        bool object = out[k].dtype == EF_VARIANT || out[k].dtype == EF_RESOURCE;
        note_value(&r->out[k], &out[k], keeps_out(op, k) || (op == NULL && object));
        if (out[k].dtype == EF_RESOURCE) r->out[k].id = 0; /* gradients go to the variable itself */
    }
    *made = r;
    return NULL;
}

ef_status *ef_tape_note(const ef_op *op, const ef_attrs *attrs, const ef_tensor *const *in,
                        int n_in, ef_tensor *out, int n_out) {
    if (op->traits & EF_NO_GRAD) return NULL;
    if (ef_tapes_quiet()) return ef_tape_note_variables(in, n_in);
    ef_tape_record *r;
    EF_TRY(new_record(op, in, n_in, out, n_out, &r));
    r->attrs = attrs != NULL ? ef_attrs_ref(attrs) : NULL;
    ef_here.log->record[ef_here.log->n_records++] = r;
    return NULL;
}

ef_status *ef_tape_note_call(ef_derivative *d, int depth, const ef_tensor *const *in, int n_in,
                             ef_tensor *all, int n_out, int tracked) {
    if (ef_tapes_quiet()) return ef_tape_note_variables(in, n_in);
    ef_tape_record *r;
    EF_TRY(new_record(NULL, in, n_in, all, tracked, &r));
    int n_saved = tracked - n_out + ef_derivative_level(d, depth)->d.n_saved;
    r->saved = ef_arena_zalloc(&ef_here.log->arena, ((size_t)n_saved + 1) * sizeof *r->saved);
    if (r->saved == NULL) return ef_no_memory((size_t)n_saved * sizeof *r->saved);
    for (int k = 0; k < n_saved; k++) ef_tensor_copy(&r->saved[k], &all[n_out + k]);
    r->n_saved = n_saved;
    r->n_results = n_out;
    r->depth = depth;
    atomic_fetch_add_explicit(&d->refs, 1, memory_order_relaxed);
    r->call = d;
    ef_here.log->record[ef_here.log->n_records++] = r;
    return NULL;
}

ef_status *ef_tape_note_custom(const ef_tensor *const *in, int n_in, ef_tensor *out, int n_out,
                               ef_custom_gradient *custom, void *user, void (*end)(void *)) {
    ef_tape_record *r;
    EF_TRY(new_record(NULL, in, n_in, out, n_out, &r));
    r->custom = custom;
    r->user = user;
    r->user_end = end;
    ef_here.log->record[ef_here.log->n_records++] = r;
    return NULL;
}

void ef_record_release(ef_tape_record *r) {
    for (int k = 0; k < r->n_in; k++) ef_tensor_release(&r->in[k].tensor);
    for (int k = 0; k < r->n_out; k++) ef_tensor_release(&r->out[k].tensor);
    for (int k = 0; k < r->n_saved; k++) ef_tensor_release(&r->saved[k]);
    ef_attrs_unref(r->attrs);
    ef_derivative_unref(r->call);
    if (r->user_end != NULL) r->user_end(r->user);
}
