/* Where values live in the arena. A value lives from the step that makes it to the last that reads
 * it (or a view of it); two values may share bytes if they do not live at the same time. An op that
 * may overwrite its first input does so when nothing else needs it. Intervals are placed in three
 * orders - by size, by length of life, in program order - and the smallest arena is kept. */
#include "base/alloc.h"
#include "plan/planner.h"
#include "plan/row_chain.h"
#include <stdlib.h>

enum { ALIGN = 64, MANY = 1500 }; /* more than MANY intervals are placed in one order only */

typedef struct interval {
    int32_t first, last; /* steps, both inclusive */
    size_t bytes;
    size_t *offset; /* where the answer goes */
    size_t at;      /* the answer of the order being tried */
    int32_t order;  /* as the program runs */
} interval;

/* ---- overwriting in place
 * ------------------------------------------------------------------------ */

static int32_t root_of(const ef_planner *p, int32_t v) {
    while (p->value[v].root != v) v = p->value[v].root;
    return v;
}

/* The value in a slot, by search from the node's own outputs; slots are made once per value. */
static void map_slots(const ef_planner *p, int32_t *value_of) {
    for (int32_t v = 0; v < p->n_values; v++)
        if (p->value[v].slot >= 0) value_of[p->value[v].slot] = v;
}

static bool in_arena(const ef_planner *p, int32_t value) {
    return p->plan->slot[p->value[value].slot].kind == EF_SLOT_ARENA;
}

/* Whether output `out` of the step may take the bytes of input i: this must be their last use, and
 * no other input may read them with another shape. */
static bool may_take(const ef_planner *p, const ef_plan_step *t, int32_t step, int i, int32_t out,
                     const int32_t *value_of) {
    int32_t in = value_of[t->in[i]], root = root_of(p, in);
    if (!in_arena(p, in) || !in_arena(p, out) || p->value[root].last != step ||
        p->value[root].first >= step)
        return false;
    const ef_slot *from = &p->plan->slot[t->in[i]], *whole = &p->plan->slot[p->value[root].slot];
    const ef_slot *to = &p->plan->slot[p->value[out].slot];
    if (from->bytes != to->bytes || whole->bytes != to->bytes) return false;
    for (int j = 0; j < t->n_in; j++) {
        if (j == i || root_of(p, value_of[t->in[j]]) != root) continue;
        if (t->run == ef_run_tiles) return false; /* a later instruction may read the same bytes */
        if (p->plan->slot[t->in[j]].bytes != from->bytes ||
            !ef_shape_equal(&p->plan->slot[t->in[j]].shape, &from->shape))
            return false;
    }
    return true;
}

static void take_bytes(ef_planner *p, int32_t out, int32_t in) {
    int32_t root = root_of(p, in);
    p->value[out].root = root;
    if (p->value[root].last < p->value[out].last) p->value[root].last = p->value[out].last;
}

static void overwrite_in_place(ef_planner *p, const int32_t *value_of) {
    for (int32_t k = 0; k < p->plan->n_steps; k++) {
        const ef_plan_step *t = &p->plan->step[k];
        if (t->n_in == 0 || t->n_out == 0 || t->run == ef_run_row_chain) continue;
        if (t->run == ef_run_tiles) {
            for (int o = 0; o < t->n_out; o++) {
                int i = ef_tiles_overwrites(t->state, o);
                int32_t out = value_of[t->out[o]];
                if (i >= 0 && p->value[out].root == out && may_take(p, t, k, i, out, value_of))
                    take_bytes(p, out, value_of[t->in[i]]);
            }
        } else if (t->op->traits & EF_MAY_ALIAS_0) {
            int32_t out = value_of[t->out[0]];
            if (p->value[out].root == out && may_take(p, t, k, 0, out, value_of))
                take_bytes(p, out, value_of[t->in[0]]);
        }
    }
}

/* ---- placing -----------------------------------------------------------------------------------
 */

static int by_size(const void *a, const void *b) {
    const interval *x = a, *y = b;
    if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
    return x->order - y->order;
}
static int by_life(const void *a, const void *b) {
    const interval *x = a, *y = b;
    int lx = x->last - x->first, ly = y->last - y->first;
    if (lx != ly) return ly - lx;
    return by_size(a, b);
}
static int by_program(const void *a, const void *b) {
    const interval *x = a, *y = b;
    return x->order - y->order;
}

/* Lowest gap that fits among the intervals placed so far that live at the same time; `near` is
 * room for their indices, kept sorted by address. */
static size_t place(interval *iv, size_t n, size_t *near) {
    size_t top = 0;
    for (size_t k = 0; k < n; k++) {
        size_t m = 0;
        for (size_t j = 0; j < k; j++) {
            if (iv[j].last < iv[k].first || iv[k].last < iv[j].first) continue;
            size_t i = m++;
            for (; i > 0 && iv[near[i - 1]].at > iv[j].at; i--) near[i] = near[i - 1];
            near[i] = j;
        }
        size_t at = 0;
        for (size_t i = 0; i < m; i++) {
            const interval *o = &iv[near[i]];
            if (o->at >= at + iv[k].bytes) break;
            if (o->at + o->bytes > at) at = o->at + o->bytes;
        }
        iv[k].at = at;
        if (at + iv[k].bytes > top) top = at + iv[k].bytes;
    }
    return top;
}

static void try_order(ef_plan *plan, interval *iv, size_t n, size_t *near,
                      int (*order)(const void *, const void *)) {
    qsort(iv, n, sizeof *iv, order);
    size_t top = place(iv, n, near);
    if (plan->arena_bytes != 0 && top >= plan->arena_bytes) return;
    plan->arena_bytes = top;
    for (size_t k = 0; k < n; k++) *iv[k].offset = iv[k].at;
}

/* The most bytes alive at the same time, which is a lower bound of any layout. */
static size_t least(const interval *iv, size_t n, int32_t n_steps, size_t *alive) {
    for (size_t k = 0; k < n; k++)
        for (int32_t t = iv[k].first < 0 ? 0 : iv[k].first; t <= iv[k].last && t < n_steps; t++)
            alive[t] += iv[k].bytes;
    size_t most = 0;
    for (int32_t t = 0; t < n_steps; t++)
        if (alive[t] > most) most = alive[t];
    return most;
}

static size_t aligned(size_t n) { return (n + ALIGN - 1) / ALIGN * ALIGN; }

static size_t collect(ef_planner *p, interval *iv, const int32_t *value_of) {
    size_t n = 0;
    for (int32_t k = 0; k < p->plan->n_slots; k++) {
        const ef_pvalue *v = &p->value[value_of[k]];
        ef_slot *s = &p->plan->slot[k];
        if (s->kind != EF_SLOT_ARENA || v->root != value_of[k] || s->bytes == 0) continue;
        iv[n] = (interval){v->first, v->last, aligned(s->bytes), &s->offset, 0, (int32_t)n};
        n++;
    }
    for (int32_t k = 0; k < p->plan->n_steps; k++) {
        ef_plan_step *t = &p->plan->step[k];
        if (t->scratch_bytes == 0) continue;
        iv[n] = (interval){k, k, aligned(t->scratch_bytes), &t->scratch_offset, 0, (int32_t)n};
        n++;
    }
    return n;
}

ef_status *ef_plan_layout(ef_planner *p) {
    ef_status *s = NULL;
    ef_plan *plan = p->plan;
    size_t most = (size_t)plan->n_slots + (size_t)plan->n_steps + 1;
    int32_t *value_of = ef_notes_memory(p, most * sizeof *value_of, &s);
    interval *iv = ef_notes_memory(p, most * sizeof *iv, &s);
    size_t *room = ef_notes_memory(p, most * sizeof *room, &s);
    size_t *alive = ef_notes_memory(p, ((size_t)plan->n_steps + 1) * sizeof *alive, &s);
    if (s != NULL) return s;
    map_slots(p, value_of);
    overwrite_in_place(p, value_of);
    size_t n = collect(p, iv, value_of);
    plan->least_bytes = least(iv, n, plan->n_steps, alive);
    if (n > 0) {
        try_order(plan, iv, n, room, by_program);
        if (plan->arena_bytes > plan->least_bytes && n < MANY)
            try_order(plan, iv, n, room, by_size);
        if (plan->arena_bytes > plan->least_bytes && n < MANY)
            try_order(plan, iv, n, room, by_life);
    }
    for (int32_t k = 0; k < plan->n_slots; k++) { /* views and overwritten inputs: their root's */
        if (plan->slot[k].kind != EF_SLOT_ARENA) continue;
        int32_t root = root_of(p, value_of[k]);
        plan->slot[k].offset = plan->slot[p->value[root].slot].offset;
    }
    return NULL;
}
