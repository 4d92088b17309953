/* Frames: a plan made ready to run. All pointers are computed when the frame is made or its arena
 * moves; running it walks the steps and touches nothing else. */
#include "base/alloc.h"
#include "base/interrupt.h"
#include "plan/plan.h"
#include "profile/event.h"
#include <stddef.h>

static void slot_template(ef_tensor *t, const ef_slot *s) {
    t->flags = 0;
    t->device = s->device;
    ef_tensor_shape_set(t, s->dtype, &s->shape);
}

static void slot_drop(ef_frame *f, int32_t k) {
    ef_tensor *t = &f->slot[k];
    if (t->storage != NULL) ef_storage_unref(t->storage);
    t->storage = NULL;
    t->data = NULL;
}

static ef_status *slot_alloc(ef_frame *f, int32_t k) {
    const ef_slot *s = &f->plan->slot[k];
    ef_tensor *t = &f->slot[k];
    if (s->bytes <= sizeof t->small) {
        t->data = t->small;
        return NULL;
    }
    EF_TRY(ef_storage_new(f->context->device, s->dtype, ef_shape_count(&s->shape), &t->storage));
    t->data = t->storage->data;
    return NULL;
}

static ef_status *make_step(ef_frame *f, ef_step *to, const ef_plan_step *from) {
    size_t n = (size_t)(from->n_in + from->n_out);
    ef_tensor **args = ef_arena_alloc(&f->memory, (n + 1) * sizeof *args);
    if (args == NULL) return ef_no_memory(n * sizeof *args);
    for (int k = 0; k < from->n_in; k++) args[k] = &f->slot[from->in[k]];
    for (int k = 0; k < from->n_out; k++) args[from->n_in + k] = &f->slot[from->out[k]];
    *to = (ef_step){.run = from->run,
                    .call = {.op = from->op,
                             .attrs = from->fields,
                             .n_in = from->n_in,
                             .n_out = from->n_out,
                             .in = args,
                             .out = args + from->n_in,
                             .state = from->state,
                             .dying = from->dying,
                             .unread = from->unread},
                    .n_alloc = from->n_alloc,
                    .n_drop = from->n_drop,
                    .alloc = from->alloc,
                    .drop = from->drop,
                    .node = from->node};
    if (from->kind != NULL) {
        to->call.state = NULL;
        EF_TRY(from->kind->make(f, to, from->state));
        to->kind = from->kind;
    }
    return NULL;
}

static ef_status *make_batches(ef_frame *f) {
    f->batch = ef_arena_zalloc(&f->memory, EF_DEVICE_MOST * sizeof *f->batch);
    if (f->batch == NULL) return ef_no_memory(EF_DEVICE_MOST * sizeof *f->batch);
    for (int d = 0; d < EF_DEVICE_MOST; d++) f->batch[d].device = d;
    return NULL;
}

ef_status *ef_frame_make(const ef_plan *p, ef_frame **out) {
    ef_frame *f = ef_calloc(1, sizeof *f);
    if (f == NULL) return ef_no_memory(sizeof *f);
    f->plan = p;
    size_t args = 0;
    for (int32_t k = 0; k < p->n_steps; k++)
        args += (size_t)(p->step[k].n_in + p->step[k].n_out + 2) * sizeof(ef_tensor *);
    ef_status *s = NULL;
    if (!ef_arena_reserve(&f->memory, ((size_t)p->n_slots + 1) * sizeof *f->slot + args +
                                          ((size_t)p->n_steps + 1) * sizeof *f->step)) {
        s = ef_no_memory(args);
        goto done;
    }
    f->slot = ef_arena_zalloc(&f->memory, ((size_t)p->n_slots + 1) * sizeof *f->slot);
    f->step = ef_arena_zalloc(&f->memory, ((size_t)p->n_steps + 1) * sizeof *f->step);
    if (f->slot == NULL || f->step == NULL) {
        s = ef_no_memory((size_t)p->n_slots * sizeof *f->slot);
        goto done;
    }
    for (int32_t k = 0; k < p->n_slots; k++) {
        slot_template(&f->slot[k], &p->slot[k]);
        if (p->slot[k].kind == EF_SLOT_CONST) ef_tensor_copy(&f->slot[k], p->slot[k].value);
    }
    if (p->placed) EF_TRY_GOTO(make_batches(f));
    for (int32_t k = 0; k < p->n_steps; k++) EF_TRY_GOTO(make_step(f, &f->step[k], &p->step[k]));
    *out = f;
    return NULL;
done:
    ef_frame_free(f);
    return s;
}

void ef_frame_free(ef_frame *f) {
    if (f == NULL) return;
    if (f->step != NULL)
        for (int32_t k = 0; k < f->plan->n_steps; k++)
            if (f->step[k].kind != NULL) f->step[k].kind->end(&f->step[k]);
    if (f->slot != NULL) {
        ef_frame_clear(f);
        for (int32_t k = 0; k < f->plan->n_slots; k++)
            if (f->plan->slot[k].kind == EF_SLOT_CONST) ef_tensor_release(&f->slot[k]);
    }
    ef_arena_free(&f->memory);
    ef_free(f);
}

void ef_frame_bind(ef_frame *f, ef_context *context, char *arena) {
    if (EF_LIKELY(f->base == arena && f->context == context)) return;
    f->base = arena;
    f->context = context;
    const ef_plan *p = f->plan;
    for (int32_t k = 0; k < p->n_slots; k++)
        if (p->slot[k].kind == EF_SLOT_ARENA) f->slot[k].data = arena + p->slot[k].offset;
    for (int32_t k = 0; k < p->n_steps; k++) {
        f->step[k].call.context = context;
        if (p->step[k].scratch_bytes > 0)
            f->step[k].call.scratch = arena + p->step[k].scratch_offset;
        if (f->step[k].kind != NULL) f->step[k].kind->rebind(&f->step[k]);
    }
}

void ef_frame_input(ef_frame *f, int k, const ef_tensor *t) {
    int32_t at = f->plan->input[k];
    if (at < 0) return;
    ef_tensor *slot = &f->slot[at];
    slot->storage = t->storage; /* borrowed: the caller holds t while the call runs */
    if (t->data == (const void *)t->small) {
        memcpy(slot->small, t->small, sizeof slot->small);
        slot->data = slot->small;
    } else {
        slot->data = t->data;
    }
    if (EF_UNLIKELY(!f->plan->slot[at].fixed)) {
        ef_shape s = ef_shape_from(t);
        ef_tensor_shape_set(slot, (ef_dtype)t->dtype, &s);
    }
}

void ef_frame_input_take(ef_frame *f, int k, ef_tensor *t) {
    int32_t at = f->plan->input[k];
    if (at < 0)
        ef_tensor_release(t);
    else
        ef_tensor_move(&f->slot[at], t);
}

void ef_frame_give(ef_frame *f, int k, void *data) {
    if (f->plan->out[k].direct) f->slot[f->plan->out[k].slot].data = data;
}

void ef_frame_clear(ef_frame *f) {
    for (int32_t k = 0; k < f->plan->n_slots; k++) {
        if (!f->plan->slot[k].owned) continue;
        slot_drop(f, k);
        slot_template(&f->slot[k], &f->plan->slot[k]);
    }
}

static ef_status *step_failed(ef_frame *f, const ef_step *t, ef_status *s) {
    ef_frame_wait(f);
    ef_frame_clear(f);
    if (t->node >= 0) ef_status_at_node(s, t->node);
    return s;
}

static void record_step(const ef_step *t, uint64_t began) {
    if (ef_event_steps-- <= 0) return;
    const ef_tensor *out = t->call.n_out > 0 ? t->call.out[0] : NULL;
    int64_t bytes = out != NULL && out->data != NULL ? (int64_t)ef_tensor_bytes(out) : 0;
    ef_event_post(&(ef_event_new){.kind = EF_EVENT_STEP,
                                  .began = began,
                                  .weight = ef_event_weight,
                                  .value = {bytes, (int64_t)(intptr_t)t->call.op}});
}

/* The same as ef_frame_run, with the time of each step; ticks NULL: as an event. */
static ef_status *run_recorded(ef_frame *f, uint64_t *ticks) {
    const ef_step *end = f->step + f->plan->n_steps;
    unsigned pulse = ef_interrupt_counter();
    for (const ef_step *t = f->step; t < end; t++) {
        uint64_t began = ef_event_clock();
        ef_status *s = ef_interrupt_check(f->context, &pulse);
        for (int32_t k = 0; k < t->n_alloc && s == NULL; k++) s = slot_alloc(f, t->alloc[k]);
        if (s == NULL) s = t->run(&t->call);
        if (EF_UNLIKELY(s != NULL)) return step_failed(f, t, s);
        if (ticks != NULL)
            ticks[t - f->step] = ef_event_clock() - began;
        else
            record_step(t, began);
        for (int32_t k = 0; k < t->n_drop; k++) slot_drop(f, t->drop[k]);
    }
    return NULL;
}

ef_status *ef_frame_run_timed(ef_frame *f, uint64_t *ticks) { return run_recorded(f, ticks); }

ef_status *ef_frame_run(ef_frame *f) {
    if (EF_UNLIKELY(ef_event_steps > 0)) return run_recorded(f, NULL);
    const ef_step *end = f->step + f->plan->n_steps;
    unsigned pulse = ef_interrupt_counter();
    for (const ef_step *t = f->step; t < end; t++) {
        ef_status *s = ef_interrupt_check(f->context, &pulse);
        for (int32_t k = 0; k < t->n_alloc && s == NULL; k++) s = slot_alloc(f, t->alloc[k]);
        if (s == NULL) s = t->run(&t->call);
        if (EF_UNLIKELY(s != NULL)) return step_failed(f, t, s);
        for (int32_t k = 0; k < t->n_drop; k++) slot_drop(f, t->drop[k]);
    }
    return NULL;
}

/* A small value is copied. A single number of four bytes is copied by a load of four bytes: the
 * kernel has just stored it, and a wider load would wait until it is in the cache. */
static void take_small(ef_tensor *out, const ef_tensor *t) {
    memcpy(out, t, offsetof(ef_tensor, data));
    out->data = out->small;
    out->storage = NULL;
    if (t->rank == 0 && ef_dtype_size((ef_dtype)t->dtype) == sizeof(uint32_t))
        memcpy(out->small, t->small, sizeof(uint32_t));
    else
        memcpy(out->small, t->small, sizeof out->small);
}

ef_status *ef_frame_take(ef_frame *f, int k, ef_tensor *out) {
    int32_t at = f->plan->out[k].slot;
    ef_tensor *t = &f->slot[at];
    bool last = true; /* an owned value is moved to the last output that has its slot */
    for (int32_t j = k + 1; j < f->plan->n_outputs; j++) last = last && f->plan->out[j].slot != at;
    bool moves = f->plan->slot[at].owned && last;
    if (t->storage == NULL && t->data == (const void *)t->small) {
        take_small(out, t); /* views that are still to be taken read the bytes in the slot */
        if (moves) t->data = NULL;
    } else if (moves) {
        ef_tensor_move(out, t);
    } else {
        return ef_tensor_keep(out, t);
    }
    if (moves) slot_template(t, &f->plan->slot[at]);
    return NULL;
}

void ef_frame_finish(ef_frame *f) {
    for (int32_t k = 0; k < f->plan->n_leftover; k++) slot_drop(f, f->plan->leftover[k]);
}
