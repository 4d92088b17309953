/* The gradient of a tape. Records are in the order they were made, so their reverse is a
 * topological order; gradients are kept in one dense array, indexed by the place that each value
 * has in the tape's table. Gradient functions run through an eager builder, so other tapes may
 * record them and differentiate again. */
#include "base/alloc.h"
#include "eager/context.h"
#include "eager/tape/tape.h"
#include "ops/build.h"
#include "ops/engine_nodes.h"

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

/* A value of which only dtype and shape are known. */
static ef_value *fact_of(eager_build *b, const ef_tensor *like) {
    eager_value *v = new_value(b);
    if (v == NULL) {
        ef_build_fail(&b->base, ef_no_memory(sizeof *v));
        return NULL;
    }
    v->base.fact = (ef_fact){.dtype = (ef_dtype)like->dtype, .shape = ef_shape_from(like)};
    return &v->base;
}

/* While a tape records, the value keeps its mark, so that the tape records what is computed from
 * it. */
static ef_value *value_marked(eager_build *b, const ef_tensor *t, ef_mark *mark) {
    eager_value *v = (eager_value *)value_of(b, t);
    if (v != NULL && (ef_here.busy & EF_TAPING)) v->t.tape = ef_mark_ref(mark);
    return v != NULL ? &v->base : NULL;
}

static ef_value *value_of_note(eager_build *b, const ef_tape_value *n) {
    const ef_variable *var = (const ef_variable *)ef_tensor_object(&n->tensor, EF_OBJECT_VARIABLE);
    ef_value *v = ef_value_kept(n) ? value_marked(b, &n->tensor, n->mark) : fact_of(b, &n->tensor);
    if (v == NULL || var == NULL) return v;
    ef_fact *behind = ef_arena_zalloc(&b->arena, sizeof *behind);
    if (behind == NULL) {
        ef_build_fail(&b->base, ef_no_memory(sizeof *behind));
        return NULL;
    }
    *behind = (ef_fact){.dtype = var->dtype, .shape = var->shape};
    v->fact.handle = behind;
    return v;
}

static ef_status *emit(ef_build *base, const ef_op *op, const ef_attrs *attrs, ef_value *const *in,
                       int n_in, ef_value **out, int max_out, int *n_out) {
    eager_build *b = (eager_build *)base;
    enum { FEW = 64 }; /* outputs, if the gradient asks for fewer: an op may have more */
    const ef_tensor *few[16], **args = few;
    ef_tensor few_results[FEW], *results = few_results;
    int room = max_out > FEW ? max_out : FEW;
    if (room > FEW && (results = ef_arena_alloc(&b->arena, (size_t)room * sizeof *results)) == NULL)
        return ef_no_memory((size_t)room * sizeof *results);
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
    EF_TRY(ef_dispatch(op, attrs, args, n_in, results, room, n_out));
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
    ef_tape_record **record; /* counted */
    size_t n_records;
    const uint32_t **at;       /* of each record, the places of its inputs, then its outputs */
    uint32_t *source, *target; /* places of the sources and targets */
    ef_value **grad;           /* by place */
    uint8_t *wanted;           /* by place: whether it depends on a source */
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

static void arrive(walk *w, uint32_t place, ef_value *v) {
    if (v != NULL && place != EF_NO_PLACE) w->grad[place] = add_up(w, w->grad[place], v);
}

static ef_value *arrived(const walk *w, uint32_t place) {
    return place != EF_NO_PLACE ? w->grad[place] : NULL;
}

static bool is_wanted(const walk *w, uint32_t place) {
    return place != EF_NO_PLACE && w->wanted[place];
}

static ef_status *back_op(walk *w, const ef_tape_record *r, const uint32_t *at, ef_value **dout) {
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
    for (int k = 0; k < r->n_in; k++) arrive(w, at[k], din[k]);
    return NULL;
}

/* The gradient that the backward function gets for an output at which none arrived: zeros, or some
 * value of the right dtype if the output can have no gradient. */
static ef_value *nothing(walk *w, const ef_tape_value *of) {
    ef_tensor t = {0}, now = {0};
    ef_dtype dtype = (ef_dtype)of->tensor.dtype;
    ef_shape shape = ef_shape_from(&of->tensor);
    ef_variable *v = (ef_variable *)ef_tensor_object(&of->tensor, EF_OBJECT_VARIABLE);
    if (dtype == EF_VARIANT) return ef_emit(&w->b.base, "ZerosLike", 1, value_of_note(&w->b, of));
    if (dtype == EF_RESOURCE && v == NULL) return value_of_note(&w->b, of);
    ef_status *s = v != NULL ? ef_variable_read(v, &now) : NULL;
    if (v != NULL && s == NULL) {
        dtype = v->dtype;
        shape = ef_shape_from(&now);
    }
    ef_tensor_release(&now);
    if (s == NULL) s = ef_tensor_alloc(&t, dtype, &shape);
    if (s != NULL) {
        ef_build_fail(&w->b.base, s);
        return NULL;
    }
    memset(t.data, 0, ef_tensor_bytes(&t));
    ef_value *zero = value_of(&w->b, &t);
    ef_tensor_release(&t);
    return zero;
}

/* The lowest level whose outputs include all those at which a gradient has arrived. */
static int level_for(const ef_tape_record *r, ef_value *const *dout) {
    int level = 1;
    for (int k = r->n_results; k < r->n_out; k++)
        while (dout[k] != NULL && k >= ef_derivative_outputs(r->call, level, r->n_results)) level++;
    return level;
}

/* The k-th value that the call saved for this level. While a tape is recording, a saved value that
 * counts as an output has its mark. */
static ef_tensor *saved_by(walk *w, const ef_tape_record *r, int n_dout, int k) {
    ef_tensor *saved = &r->saved[n_dout - r->n_results + k];
    if (!(ef_here.busy & EF_TAPING) || n_dout + k >= r->n_out) return saved;
    ef_value *v = value_marked(&w->b, saved, r->out[n_dout + k].mark);
    return v != NULL ? &((eager_value *)v)->t : saved;
}

static ef_status *back_call(walk *w, const ef_tape_record *r, const uint32_t *at, ef_value **dout) {
    int level = level_for(r, dout), n_dout = ef_derivative_outputs(r->call, level, r->n_results);
    ef_derivative *call = ef_derivative_level(r->call, level);
    const ef_function_gradient *d = &call->d;
    size_t n = (size_t)(d->n_saved + n_dout);
    ef_tensor **in = ef_arena_zalloc(&w->b.arena, (n + 1) * sizeof *in);
    ef_tensor *out = ef_arena_zalloc(&w->b.arena, (3 * (size_t)r->n_in + 1) * sizeof *out);
    if (in == NULL || out == NULL) return ef_no_memory(n * sizeof *in);
    for (int k = 0; k < d->n_saved; k++) in[k] = saved_by(w, r, n_dout, k);
    for (int k = 0; k < n_dout; k++) {
        ef_value *v = dout[k] != NULL ? ef_dense(&w->b.base, dout[k]) : nothing(w, &r->out[k]);
        if (w->b.base.failed != NULL) return NULL;
        in[d->n_saved + k] = &((eager_value *)v)->t;
        EF_TRY(ef_tensor_materialize_there(in[d->n_saved + k]));
    }
    EF_TRY(ef_derivative_back(call, in, (int)n, out));
    for (int k = 0, j = 0; k < r->n_in; k++) {
        ef_value *part[3] = {NULL};
        for (int i = 0; i < d->parts[k]; i++, j++) {
            part[i] = value_of(&w->b, &out[j]);
            ef_tensor_release(&out[j]);
        }
        arrive(w, at[k],
               d->parts[k] == 3 ? ef_slices(&w->b.base, part[0], part[1], part[2]) : part[0]);
    }
    return NULL;
}

static ef_status *back_custom(walk *w, const ef_tape_record *r, const uint32_t *at,
                              ef_value **dout) {
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
        arrive(w, at[k], v);
    }
    for (size_t k = 0; k < n; k++) ef_tensor_release(&t[k]);
    return s;
}

static ef_status *back(walk *w, const ef_tape_record *r, const uint32_t *at) {
    bool any = false, leads = false;
    ef_value *few[8] = {0}, **dout = few;
    if (r->n_out > 8) {
        dout = ef_arena_zalloc(&w->b.arena, (size_t)r->n_out * sizeof *dout);
        if (dout == NULL) return ef_no_memory((size_t)r->n_out * sizeof *dout);
    }
    for (int k = 0; k < r->n_out; k++) {
        dout[k] = arrived(w, at[r->n_in + k]);
        any = any || dout[k] != NULL;
    }
    for (int k = 0; k < r->n_in; k++) leads = leads || is_wanted(w, at[k]);
    if (!any || !leads) return NULL;
    if (r->call != NULL) return back_call(w, r, at, dout);
    if (r->custom != NULL) return back_custom(w, r, at, dout);
    return back_op(w, r, at, dout);
}

/* ---- from sources to targets
 * ------------------------------------------------------------------------------ */

/* Copies the tape's present records and the places of their values: meanwhile the tape may go on
 * recording, even the ops of this walk, and other threads may use or free it. Under its lock. */
static ef_status *take_down(walk *w, const ef_tape *t, const ef_tensor *const *source, int n,
                            const ef_tensor *const *target, int n_targets) {
    size_t values = (size_t)n + (size_t)n_targets;
    for (size_t k = 0; k < t->n_records; k++)
        values += (size_t)(t->record[k]->n_in + t->record[k]->n_out);
    ef_arena *a = &w->b.arena;
    w->record = ef_arena_alloc(a, (t->n_records + 1) * sizeof(ef_tape_record *));
    w->at = ef_arena_alloc(a, (t->n_records + 1) * sizeof(uint32_t *));
    uint32_t *place = ef_arena_alloc(a, (values + 1) * sizeof *place);
    w->grad = ef_arena_zalloc(a, ((size_t)t->known.places + 1) * sizeof *w->grad);
    w->wanted = ef_arena_zalloc(a, (size_t)t->known.places + 1);
    if (w->record == NULL || w->at == NULL || place == NULL || w->grad == NULL || w->wanted == NULL)
        return ef_no_memory(values * sizeof *place);
    w->source = place;
    for (int k = 0; k < n; k++) *place++ = ef_tape_values_find(&t->known, ef_tape_id(source[k]));
    w->target = place;
    for (int k = 0; k < n_targets; k++)
        *place++ = ef_tape_values_find(&t->known, ef_tape_id(target[k]));
    for (size_t k = 0; k < t->n_records; k++) {
        ef_tape_record *r = t->record[k];
        atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
        w->record[w->n_records] = r;
        w->at[w->n_records++] = place;
        for (int i = 0; i < r->n_in + r->n_out; i++)
            *place++ = ef_tape_values_find(&t->known, r->in[i].id);
    }
    return NULL;
}

/* Marks the values that depend on a source: no other value needs a gradient. */
static void mark_wanted(walk *w, int n) {
    for (int k = 0; k < n; k++)
        if (w->source[k] != EF_NO_PLACE) w->wanted[w->source[k]] = 1;
    for (size_t k = 0; k < w->n_records; k++) {
        const ef_tape_record *r = w->record[k];
        const uint32_t *at = w->at[k];
        bool any = false;
        for (int i = 0; i < r->n_in && !any; i++) any = is_wanted(w, at[i]);
        for (int i = r->n_in; i < r->n_in + r->n_out && any; i++)
            if (at[i] != EF_NO_PLACE) w->wanted[at[i]] = 1;
    }
}

static ef_status *seed(walk *w, const ef_tensor *const *target, int n,
                       const ef_tensor *const *dout) {
    for (int k = 0; k < n; k++) {
        if (w->target[k] == EF_NO_PLACE) continue;
        ef_value *y = value_of(&w->b, target[k]), *dy;
        if (!ef_tape_flows(target[k])) { /* an integer target: the gradient is zero */
            arrive(w, w->target[k], ef_zeros_like(&w->b.base, y));
            continue;
        }
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
        arrive(w, w->target[k], dy);
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

static ef_status *check_gradient(ef_tape *t, const ef_tensor *const *target, int n_targets,
                                 const ef_tensor *const *source, int n, const ef_tensor *out) {
    if (t == NULL || (n_targets > 0 && target == NULL) ||
        (n > 0 && (source == NULL || out == NULL)))
        return ef_error(EF_INVALID, "gradient: tape, targets, sources and out must not be NULL");
    ef_tape_lock(t);
    bool spent = t->used && !t->persistent, broken = t->broken;
    ef_tape_unlock(t);
    if (spent)
        return ef_error(EF_FAILED_PRECONDITION, "gradient: a tape that is not persistent gives "
                                                "gradients once; start it with persistent = true");
    if (broken) return ef_no_memory(sizeof *t);
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
    if (!t->persistent) ef_tape_stop(t); /* it does not record its own gradients */
    for (int k = 0; k < n_targets; k++)
        if (target[k]->flags & EF_TENSOR_SYMBOLIC) {
            EF_TRY(ef_tape_graph_gradients(t, target, n_targets, dout, source, n, out, slices));
            ef_tape_set_used(t);
            return NULL;
        }
    walk w = {.b = {.base = {.emit = emit, .constant = constant, .memory = memory}}};
    ef_tape_lock(t);
    ef_status *s = take_down(&w, t, source, n, target, n_targets);
    ef_tape_unlock(t);
    if (s != NULL) goto done;
    mark_wanted(&w, n);
    EF_TRY_GOTO(seed(&w, target, n_targets, dout));
    for (size_t k = w.n_records; k-- > 0;) {
        EF_TRY_GOTO(back(&w, w.record[k], w.at[k]));
        if ((s = w.b.base.failed) != NULL) goto done;
    }
    for (int k = 0; k < n; k++) give(arrived(&w, w.source[k]), &out[3 * k], &slices[k]);
    ef_tape_set_used(t);
done:
    if (w.b.base.failed != NULL && s != w.b.base.failed) ef_status_free(w.b.base.failed);
    for (size_t k = 0; k < w.n_records; k++) ef_record_unref(w.record[k]);
    build_end(&w.b);
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
        } else { /* summed over the first axis */
            ef_tensor rows = {0};
            int64_t count =
                ef_element_int((ef_dtype)parts[3 * k + 2].dtype, parts[3 * k + 2].data, 0);
            int n_out = 0;
            if ((s = ef_tensor_from(EF_I64, NULL, &count, &rows)) == NULL) {
                const ef_tensor *in[] = {&parts[3 * k], &parts[3 * k + 1], &rows};
                s = ef_dispatch(ef_row_sum_op, NULL, in, 3, &out[k], 1, &n_out);
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
