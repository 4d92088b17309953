/* Walking the tape back. Records stand in the order they were made, so going through them from the
 * end is already a topological order; gradients by number sit in one dense array. Gradient
 * functions run through an eager builder, so they may be recorded by other tapes and differentiated
 * again. */
#include "base/alloc.h"
#include "eager/context.h"
#include "eager/tape.h"
#include "ops/build.h"

/* ---- the eager builder
 * -------------------------------------------------------------------------------- */

typedef struct eager_value {
    ef_value base;
    ef_tensor t;              /* dtype 0: only the fact is known */
    struct eager_value *next; /* all of a builder, for release */
} eager_value;

typedef struct eager_build {
    ef_build base;
    ef_arena arena;
    eager_value *all;
} eager_build;

static eager_value *new_value(eager_build *b) {
    eager_value *v = ef_arena_zalloc(&b->arena, sizeof *v);
    if (v == NULL) return NULL;
    v->next = b->all;
    b->all = v;
    return v;
}

static void set_fact(eager_value *v) {
    v->base.fact = (ef_fact){.dtype = (ef_dtype)v->t.dtype, .shape = ef_shape_from(&v->t)};
    if (v->t.data != NULL) v->base.fact.value = &v->t;
}

static ef_value *value_of(eager_build *b, const ef_tensor *t) {
    eager_value *v = new_value(b);
    if (v == NULL) {
        ef_build_fail(&b->base, ef_no_memory(sizeof *v));
        return NULL;
    }
    ef_tensor_copy(&v->t, t);
    set_fact(v);
    return &v->base;
}

static ef_value *value_of_note(eager_build *b, const ef_tape_value *n) {
    if (n->tensor.dtype != EF_NO_DTYPE) {
        ef_value *v = value_of(b, &n->tensor);
        if (v != NULL) v->fact.handle = n->fact.handle;
        return v;
    }
    eager_value *v = new_value(b);
    if (v == NULL) {
        ef_build_fail(&b->base, ef_no_memory(sizeof *v));
        return NULL;
    }
    v->base.fact = n->fact;
    return &v->base;
}

static ef_status *emit(ef_build *base, const ef_op *op, const ef_attrs *attrs, ef_value *const *in,
                       int n_in, ef_value **out, int max_out, int *n_out) {
    eager_build *b = (eager_build *)base;
    const ef_tensor *few[16], **args = few;
    enum { MOST = 64 };
    ef_tensor results[MOST];
    if (n_in > 16 && (args = ef_arena_alloc(&b->arena, (size_t)n_in * sizeof *args)) == NULL)
        return ef_no_memory((size_t)n_in * sizeof *args);
    for (int k = 0; k < n_in; k++) {
        args[k] = &((eager_value *)in[k])->t;
        if (args[k]->dtype == EF_NO_DTYPE)
            return ef_error(EF_INTERNAL,
                            "%s: a gradient reads input %d, which its record does not "
                            "keep",
                            op->name, k);
    }
    EF_TRY(ef_dispatch(op, attrs, args, n_in, results, MOST, n_out));
    ef_status *s = NULL;
    for (int k = 0; k < *n_out; k++) {
        eager_value *v = k < max_out && s == NULL ? new_value(b) : NULL;
        if (v != NULL) {
            ef_tensor_move(&v->t, &results[k]);
            set_fact(v);
            out[k] = &v->base;
        } else {
            if (k < max_out && s == NULL) s = ef_no_memory(sizeof *v);
            ef_tensor_release(&results[k]);
        }
    }
    return s;
}

static ef_status *constant(ef_build *base, const ef_tensor *t, ef_value **out) {
    *out = value_of((eager_build *)base, t);
    return *out != NULL ? NULL : ef_no_memory(sizeof(eager_value));
}

static void *memory(ef_build *base, size_t n) {
    return ef_arena_zalloc(&((eager_build *)base)->arena, n);
}

static void build_end(eager_build *b) {
    for (eager_value *v = b->all; v != NULL; v = v->next) ef_tensor_release(&v->t);
    ef_arena_free(&b->arena);
}

/* ---- the walk
 * ------------------------------------------------------------------------------------------- */

typedef struct walk {
    eager_build b;
    const ef_tape *tape;
    ef_tape_record **record; /* those of the tape's windows, in order */
    size_t n_records;
    uint64_t first_id; /* smallest number seen in the window */
    size_t n_ids;
    uint64_t *elder; /* sources with numbers from before the log */
    size_t n_elders;
    ef_value **grad; /* by place_of */
    uint8_t *wanted; /* does a source lead to it? */
} walk;

static ef_value *add_up(walk *w, ef_value *a, ef_value *b) {
    if (a == NULL) return b;
    if (a->fact.dtype == EF_VARIANT) return ef_emit(&w->b.base, "AddN", 2, a, b);
    if (a->values == NULL && b->values == NULL) return ef_add(&w->b.base, a, b);
    if (a->values != NULL && b->values != NULL) {
        ef_value *axis = ef_const_number(&w->b.base, EF_I32, 0);
        ef_value *values = ef_emit(&w->b.base, "ConcatV2", 3, a->values, b->values, axis);
        ef_value *bi = ef_cast(&w->b.base, b->indices, a->indices->fact.dtype);
        ef_value *indices = ef_emit(&w->b.base, "ConcatV2", 3, a->indices, bi, axis);
        return ef_slices(&w->b.base, values, indices, a->dense_shape);
    }
    return ef_add(&w->b.base, ef_dense(&w->b.base, a), ef_dense(&w->b.base, b));
}

/* Where the number is noted; SIZE_MAX: nowhere, nothing flows there. */
static size_t place_of(const walk *w, uint64_t id) {
    if (EF_LIKELY(id >= w->first_id && id - w->first_id < w->n_ids))
        return (size_t)(id - w->first_id);
    for (size_t k = 0; k < w->n_elders; k++)
        if (w->elder[k] == id) return w->n_ids + k;
    return SIZE_MAX;
}

static void arrive(walk *w, uint64_t id, ef_value *v) {
    size_t at = v != NULL ? place_of(w, id) : SIZE_MAX;
    if (at != SIZE_MAX) w->grad[at] = add_up(w, w->grad[at], v);
}

static ef_value *arrived(const walk *w, uint64_t id) {
    size_t at = place_of(w, id);
    return at != SIZE_MAX ? w->grad[at] : NULL;
}

static bool is_wanted(const walk *w, uint64_t id) {
    size_t at = place_of(w, id);
    return at != SIZE_MAX && w->wanted[at];
}

static ef_status *back_op(walk *w, const ef_tape_record *r, ef_value **dout) {
    if (r->op->grad == NULL)
        return ef_error(EF_NOT_FOUND,
                        "gradient registry has no entry for: %s. The op has no gradient; "
                        "stop it with StopGradient or compute it otherwise",
                        r->op->name);
    size_t n = (size_t)(2 * r->n_in + r->n_out);
    ef_value **v = ef_arena_zalloc(&w->b.arena, (n + 1) * sizeof *v);
    if (v == NULL) return ef_no_memory(n * sizeof *v);
    ef_value **out = v + r->n_in, **din = out + r->n_out;
    for (int k = 0; k < r->n_in; k++) v[k] = value_of_note(&w->b, &r->in[k]);
    for (int k = 0; k < r->n_out; k++) out[k] = value_of_note(&w->b, &r->out[k]);
    for (int k = 0; k < r->n_out && !(r->op->traits & EF_SLICES_OK); k++)
        dout[k] = dout[k] != NULL ? ef_dense(&w->b.base, dout[k]) : NULL;
    ef_grad g = {.b = &w->b.base,
                 .op = r->op,
                 .attrs = r->attrs != NULL ? ef_attrs_fields(r->attrs) : NULL,
                 .n_in = r->n_in,
                 .n_out = r->n_out,
                 .in = v,
                 .out = out,
                 .dout = dout,
                 .din = din};
    if (w->b.base.failed == NULL) EF_TRY(r->op->grad(&g));
    for (int k = 0; k < r->n_in; k++) arrive(w, r->in[k].id, din[k]);
    return NULL;
}

/* What the backward part is given for an output that nothing arrived at: zeros; something of the
 * right dtype where there is no gradient. */
static ef_value *nothing(walk *w, const ef_tape_value *of) {
    ef_tensor t = {0}, now = {0};
    ef_fact f = of->fact;
    ef_variable *v = (ef_variable *)ef_tensor_object(&of->tensor, EF_OBJECT_VARIABLE);
    if (f.dtype == EF_VARIANT) return ef_emit(&w->b.base, "ZerosLike", 1, value_of_note(&w->b, of));
    if (f.dtype == EF_RESOURCE && v == NULL) return value_of_note(&w->b, of);
    ef_status *s = v != NULL ? ef_variable_read(v, &now) : NULL;
    if (v != NULL && s == NULL) f = (ef_fact){.dtype = v->dtype, .shape = ef_shape_from(&now)};
    ef_tensor_release(&now);
    if (s == NULL) s = ef_tensor_alloc(&t, f.dtype, &f.shape);
    if (s != NULL) {
        ef_build_fail(&w->b.base, s);
        return NULL;
    }
    memset(t.data, 0, ef_tensor_bytes(&t));
    ef_value *zero = value_of(&w->b, &t);
    ef_tensor_release(&t);
    return zero;
}

/* The lowest level that knows all outputs at which a gradient has arrived. */
static int level_for(const ef_tape_record *r, ef_value *const *dout) {
    int level = 1;
    for (int k = r->n_results; k < r->n_out; k++)
        while (dout[k] != NULL && k >= ef_derivative_outputs(r->call, level, r->n_results)) level++;
    return level;
}

static ef_status *back_call(walk *w, const ef_tape_record *r, ef_value **dout) {
    int level = level_for(r, dout), n_dout = ef_derivative_outputs(r->call, level, r->n_results);
    ef_derivative *call = ef_derivative_level(r->call, level);
    const ef_function_gradient *d = &call->d;
    const ef_tensor *saved = r->saved + (n_dout - r->n_results);
    size_t n = (size_t)(d->n_saved + n_dout);
    ef_tensor **in = ef_arena_zalloc(&w->b.arena, (n + 1) * sizeof *in);
    ef_tensor *out = ef_arena_zalloc(&w->b.arena, (3 * (size_t)r->n_in + 1) * sizeof *out);
    if (in == NULL || out == NULL) return ef_no_memory(n * sizeof *in);
    for (int k = 0; k < d->n_saved; k++) in[k] = (ef_tensor *)&saved[k];
    for (int k = 0; k < n_dout; k++) {
        ef_value *v = dout[k] != NULL ? ef_dense(&w->b.base, dout[k]) : nothing(w, &r->out[k]);
        if (w->b.base.failed != NULL) return NULL;
        in[d->n_saved + k] = &((eager_value *)v)->t;
        EF_TRY(ef_tensor_settle(in[d->n_saved + k]));
    }
    EF_TRY(ef_derivative_back(call, in, (int)n, out));
    for (int k = 0, j = 0; k < r->n_in; k++) {
        ef_value *part[3] = {NULL};
        for (int i = 0; i < d->parts[k]; i++, j++) {
            part[i] = value_of(&w->b, &out[j]);
            ef_tensor_release(&out[j]);
        }
        arrive(w, r->in[k].id,
               d->parts[k] == 3 ? ef_slices(&w->b.base, part[0], part[1], part[2]) : part[0]);
    }
    return NULL;
}

static ef_status *back_custom(walk *w, const ef_tape_record *r, ef_value **dout) {
    size_t n = (size_t)(3 * r->n_in + r->n_out);
    ef_tensor *t = ef_arena_zalloc(&w->b.arena, (n + 1) * sizeof *t);
    if (t == NULL) return ef_no_memory(n * sizeof *t);
    for (int k = 0; k < r->n_out; k++)
        if (dout[k] != NULL) {
            ef_value *v = ef_dense(&w->b.base, dout[k]);
            if (v != NULL) ef_tensor_copy(&t[k], &((eager_value *)v)->t);
        }
    ef_status *s = r->custom(r->user, t, r->n_out, t + r->n_out, r->n_in);
    for (int k = 0; k < r->n_in && s == NULL; k++) {
        const ef_tensor *d = &t[r->n_out + 3 * k];
        if (d[0].dtype == EF_NO_DTYPE) continue;
        ef_value *v = value_of(&w->b, &d[0]);
        if (d[1].dtype != EF_NO_DTYPE)
            v = ef_slices(&w->b.base, v, value_of(&w->b, &d[1]), value_of(&w->b, &d[2]));
        arrive(w, r->in[k].id, v);
    }
    for (size_t k = 0; k < n; k++) ef_tensor_release(&t[k]);
    return s;
}

static ef_status *back(walk *w, const ef_tape_record *r) {
    bool any = false, leads = false;
    ef_value *few[8] = {0}, **dout = few;
    if (r->n_out > 8) {
        dout = ef_arena_zalloc(&w->b.arena, (size_t)r->n_out * sizeof *dout);
        if (dout == NULL) return ef_no_memory((size_t)r->n_out * sizeof *dout);
    }
    for (int k = 0; k < r->n_out; k++) {
        dout[k] = arrived(w, r->out[k].id);
        any = any || dout[k] != NULL;
    }
    for (int k = 0; k < r->n_in; k++) leads = leads || is_wanted(w, r->in[k].id);
    if (!any || !leads) return NULL;
    if (r->call != NULL) return back_call(w, r, dout);
    if (r->custom != NULL) return back_custom(w, r, dout);
    return back_op(w, r, dout);
}

/* ---- from sources to targets
 * ------------------------------------------------------------------------------ */

/* A list of its own: the log grows, and moves, when other tapes record what the walk computes. */
static ef_status *list_records(walk *w) {
    const ef_tape *t = w->tape;
    size_t now = t->log->n_records, n = 0;
    for (size_t k = 0; k < t->n_spans; k++)
        n += (t->span[k].end < now ? t->span[k].end : now) - t->span[k].begin;
    w->record = ef_malloc((n + 1) * sizeof(ef_tape_record *));
    if (w->record == NULL) return ef_no_memory(n * sizeof(ef_tape_record *));
    for (size_t k = 0; k < t->n_spans; k++)
        for (size_t i = t->span[k].begin; i < now && i < t->span[k].end; i++)
            w->record[w->n_records++] = t->log->record[i];
    return NULL;
}

static void widen(const walk *w, uint64_t id, uint64_t *low, uint64_t *high) {
    if (id == 0 || !ef_log_made(w->tape->log, id)) return;
    if (id < *low) *low = id;
    if (id > *high) *high = id;
}

/* Places for all numbers of the window. Numbers from before the log are few, and far away: only
 * sources matter among them. */
static ef_status *number_window(walk *w, const ef_tensor *const *source, int n,
                                const ef_tensor *const *target, int n_targets) {
    uint64_t low = UINT64_MAX, high = 0;
    w->elder = ef_malloc(((size_t)n + 1) * sizeof *w->elder);
    if (w->elder == NULL) return ef_no_memory((size_t)n * sizeof *w->elder);
    for (int k = 0; k < n; k++) {
        uint64_t id = ef_tape_id(source[k]);
        widen(w, id, &low, &high);
        if (id != 0 && !ef_log_made(w->tape->log, id)) w->elder[w->n_elders++] = id;
    }
    for (int k = 0; k < n_targets; k++) widen(w, ef_tape_id(target[k]), &low, &high);
    for (size_t k = 0; k < w->n_records; k++) {
        const ef_tape_record *r = w->record[k];
        for (int i = 0; i < r->n_in; i++) widen(w, r->in[i].id, &low, &high);
        for (int i = 0; i < r->n_out; i++) widen(w, r->out[i].id, &low, &high);
    }
    w->first_id = low;
    w->n_ids = high >= low ? (size_t)(high - low + 1) : 0;
    size_t places = w->n_ids + w->n_elders;
    w->grad = ef_calloc(places + 1, sizeof *w->grad);
    w->wanted = ef_calloc(places + 1, 1);
    return w->grad != NULL && w->wanted != NULL ? NULL : ef_no_memory(places * sizeof *w->grad);
}

static bool made_in_window(const walk *w, uint64_t id) {
    for (size_t k = 0; k < w->n_records; k++) {
        const ef_tape_record *r = w->record[k];
        for (int i = 0; i < r->n_out; i++)
            if (r->out[i].id == id) return true;
    }
    return false;
}

/* Which values the sources lead to: nothing else needs a gradient. A source counts if this tape
 * watches it or saw it being made. */
static void mark_wanted(walk *w, const ef_tensor *const *source, int n) {
    for (int k = 0; k < n; k++) {
        uint64_t id = ef_tape_id(source[k]);
        if (id != 0 && (ef_tape_watches(w->tape, id) || made_in_window(w, id)))
            w->wanted[place_of(w, id)] = 1;
    }
    for (size_t k = 0; k < w->n_records; k++) {
        const ef_tape_record *r = w->record[k];
        bool any = false;
        for (int i = 0; i < r->n_in && !any; i++) any = is_wanted(w, r->in[i].id);
        for (int i = 0; i < r->n_out && any; i++)
            if (r->out[i].id != 0) w->wanted[place_of(w, r->out[i].id)] = 1;
    }
}

static ef_status *seed(walk *w, const ef_tensor *const *target, int n,
                       const ef_tensor *const *dout) {
    for (int k = 0; k < n; k++) {
        uint64_t id = ef_tape_id(target[k]);
        if (id == 0) continue;
        ef_value *y = value_of(&w->b, target[k]), *dy;
        if (dout != NULL && dout[k] != NULL) {
            ef_shape a = ef_shape_from(dout[k]), b = ef_shape_from(target[k]);
            if (dout[k]->dtype != target[k]->dtype || !ef_shape_equal(&a, &b))
                return ef_error(EF_INVALID,
                                "gradient: output gradient %d is %s but the target is %s; "
                                "they must agree",
                                k, EF_TENSOR(dout[k]), EF_TENSOR(target[k]));
            dy = value_of(&w->b, dout[k]);
        } else {
            dy = ef_ones_like(&w->b.base, y);
        }
        arrive(w, id, dy);
    }
    return NULL;
}

static void give(ef_value *v, ef_tensor *out, bool *slices) {
    memset(out, 0, 3 * sizeof *out);
    *slices = v != NULL && v->values != NULL;
    if (v == NULL) return;
    if (!*slices) {
        ef_tensor_copy(out, &((eager_value *)v)->t);
        return;
    }
    ef_tensor_copy(&out[0], &((eager_value *)v->values)->t);
    ef_tensor_copy(&out[1], &((eager_value *)v->indices)->t);
    ef_tensor_copy(&out[2], &((eager_value *)v->dense_shape)->t);
}

static ef_status *check_gradient(const ef_tape *t, const ef_tensor *const *target, int n_targets,
                                 const ef_tensor *const *source, int n, const ef_tensor *out) {
    if (t == NULL || (n_targets > 0 && target == NULL) ||
        (n > 0 && (source == NULL || out == NULL)))
        return ef_error(EF_INVALID, "gradient: tape, targets, sources and out must not be NULL");
    if (t->used && !t->persistent)
        return ef_error(EF_FAILED_PRECONDITION, "gradient: a tape that is not persistent gives "
                                                "gradients once; start it with persistent = true");
    if (t->broken) return ef_no_memory(sizeof *t->span);
    for (int k = 0; k < n_targets; k++)
        if (target[k] == NULL) return ef_error(EF_INVALID, "gradient: target %d is NULL", k);
    for (int k = 0; k < n; k++)
        if (source[k] == NULL) return ef_error(EF_INVALID, "gradient: source %d is NULL", k);
    return NULL;
}

ef_status *ef_tape_gradients(ef_tape *t, const ef_tensor *const *target, int n_targets,
                             const ef_tensor *const *dout, const ef_tensor *const *source, int n,
                             ef_tensor *out, bool *slices) {
    EF_TRY(check_gradient(t, target, n_targets, source, n, out));
    if (!t->persistent) ef_tape_stop(t); /* its own gradients are not its business */
    for (int k = 0; k < n_targets; k++)
        if (target[k]->flags & EF_TENSOR_SYMBOLIC) {
            EF_TRY(ef_tape_graph_gradients(t, target, n_targets, dout, source, n, out, slices));
            t->used = true;
            return NULL;
        }
    walk w = {.b = {.base = {.emit = emit, .constant = constant, .memory = memory}}, .tape = t};
    ef_status *s;
    EF_TRY_GOTO(list_records(&w));
    EF_TRY_GOTO(number_window(&w, source, n, target, n_targets));
    mark_wanted(&w, source, n);
    EF_TRY_GOTO(seed(&w, target, n_targets, dout));
    for (size_t k = w.n_records; k-- > 0;) {
        EF_TRY_GOTO(back(&w, w.record[k]));
        if ((s = w.b.base.failed) != NULL) goto done;
    }
    for (int k = 0; k < n; k++)
        give(is_wanted(&w, ef_tape_id(source[k])) ? arrived(&w, ef_tape_id(source[k])) : NULL,
             &out[3 * k], &slices[k]);
    t->used = true;
done:
    if (w.b.base.failed != NULL && s != w.b.base.failed) ef_status_free(w.b.base.failed);
    build_end(&w.b);
    ef_free(w.record);
    ef_free(w.grad);
    ef_free(w.wanted);
    ef_free(w.elder);
    return s;
}

ef_status *ef_tape_gradient(ef_tape *t, const ef_tensor *target, const ef_tensor *dout,
                            const ef_tensor *const *source, int n, ef_tensor *out) {
    if (n < 0 || out == NULL || target == NULL)
        return ef_error(EF_INVALID, "ef_tape_gradient: target and out must not be NULL");
    ef_tensor *parts = ef_calloc(3 * (size_t)n + 1, sizeof *parts);
    bool *slices = ef_calloc((size_t)n + 1, sizeof *slices);
    ef_status *s = NULL;
    if (parts == NULL || slices == NULL)
        s = ef_no_memory(3 * (size_t)n * sizeof *parts);
    else
        s = ef_tape_gradients(t, &target, 1, dout != NULL ? &dout : NULL, source, n, parts, slices);
    int made = 0;
    for (int k = 0; k < n && s == NULL; k++) {
        memset(&out[k], 0, sizeof out[k]);
        if (!slices[k]) {
            ef_tensor_move(&out[k], &parts[3 * k]);
        } else if (parts[3 * k].flags & EF_TENSOR_SYMBOLIC) {
            s = ef_slices_densify(&parts[3 * k], &out[k]);
        } else { /* summed by UnsortedSegmentSum over the first axis */
            ef_tensor rows = {0};
            int64_t count =
                ef_element_int((ef_dtype)parts[3 * k + 2].dtype, parts[3 * k + 2].data, 0);
            int n_out = 0;
            if ((s = ef_tensor_from(EF_I64, NULL, &count, &rows)) == NULL) {
                const ef_tensor *in[] = {&parts[3 * k], &parts[3 * k + 1], &rows};
                s = ef_dispatch(ef_op_find("UnsortedSegmentSum"), NULL, in, 3, &out[k], 1, &n_out);
            }
        }
        if (s == NULL) made = k + 1;
    }
    while (s != NULL && made > 0) ef_tensor_release(&out[--made]);
    for (int k = 0; parts != NULL && k < 3 * n; k++) ef_tensor_release(&parts[k]);
    ef_free(parts);
    ef_free(slices);
    return s;
}
