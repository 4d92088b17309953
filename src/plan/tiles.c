/* Running a tile program. For each stretch the addresses of all operands are computed once, then
 * the instructions run one after the other over data that is still in the cache. Broadcast inputs
 * are read in place if a stretch reads consecutive elements of them, else they are copied into a
 * small buffer first. */
#include "plan/tiles.h"
#include "base/pool.h"
#include "plan/tiles_run.h"

/* ---- how inputs are spread
 * ----------------------------------------------------------------------- */

/* Strides of `arg` over the dims of `out` (0 where it is broadcast); both known. */
static void strides_over(const ef_shape *out, const ef_shape *arg, int64_t *stride) {
    int64_t step = 1;
    int lead = out->rank - arg->rank;
    for (int d = out->rank - 1; d >= 0; d--) {
        int64_t size = d >= lead ? arg->dim[d - lead] : 1;
        stride[d] = size == 1 ? 0 : step;
        step *= size;
    }
}

static bool is_suffix(const ef_shape *out, const int64_t *stride, int64_t count) {
    int64_t want = 1;
    for (int d = out->rank - 1; d >= 0 && want < count; d--) {
        if (out->dim[d] != 1 && stride[d] != want) return false;
        want *= out->dim[d];
    }
    return want == count;
}

static bool is_prefix(const ef_shape *out, const int64_t *stride, int64_t count, int64_t *repeat) {
    int d = out->rank - 1;
    int64_t r = 1, want = 1;
    for (; d >= 0 && stride[d] == 0; d--) r *= out->dim[d];
    for (; d >= 0; d--) {
        if (out->dim[d] != 1 && stride[d] != want) return false;
        want *= out->dim[d];
    }
    *repeat = r;
    return want == count;
}

void ef_tiles_spread(ef_tiles *t, int k, const ef_shape *arg, ef_dtype dtype) {
    ef_tile_arg *a = &t->arg[k];
    int64_t n = ef_shape_count(arg);
    a->size = (uint8_t)ef_dtype_size(dtype);
    a->as_scalar = a->in_place = a->unread = false;
    if (n == t->count) {
        a->spread = EF_SPREAD_FULL;
        return;
    }
    if (n == 1) {
        a->spread = EF_SPREAD_SCALAR;
        a->as_scalar = true;
        return;
    }
    strides_over(&t->shape, arg, a->stride);
    if (is_suffix(&t->shape, a->stride, n)) {
        a->spread = EF_SPREAD_PERIOD;
        a->period = n;
    } else if (is_prefix(&t->shape, a->stride, n, &a->period)) {
        a->spread = EF_SPREAD_REPEAT;
        a->as_scalar = a->period >= EF_TILE / 2;
    } else {
        a->spread = EF_SPREAD_ANY;
    }
}

static bool is_long_period(const ef_tile_arg *a) {
    return a->spread == EF_SPREAD_PERIOD && (a->period >= EF_TILE || a->in_place);
}
static bool needs_buffer(const ef_tile_arg *a) {
    return a->spread == EF_SPREAD_ANY || (a->spread == EF_SPREAD_REPEAT && !a->as_scalar) ||
           (a->spread == EF_SPREAD_PERIOD && !is_long_period(a));
}
bool ef_tiles_buffered(const ef_tiles *t, int k) { return needs_buffer(&t->arg[k]); }
bool ef_tiles_fit(const ef_tiles *t) {
    int n = 0;
    for (int k = 0; k < t->n_inputs; k++) n += needs_buffer(&t->arg[k]);
    return n <= EF_TILES_BUFFERS;
}

int ef_tiles_overwrites(const ef_tiles *t, int k) {
    int out = t->n_inputs + k;
    if (k >= t->n_outputs - t->tail.n) return -1;
    for (int i = 0; i < t->n_inputs; i++) {
        if (t->arg[i].spread != EF_SPREAD_FULL || t->arg[i].size != t->arg[out].size) continue;
        bool safe = true, written = false; /* all reads of i come no later than the write of out */
        for (int j = 0; j < t->n_ins && safe; j++) {
            for (int o = 0; o < t->ins[j].n_in; o++)
                if (t->ins[j].in[o] == i && written) safe = false;
            written = written || t->ins[j].out == out;
        }
        if (safe) return i;
    }
    return -1;
}

/* ---- filling buffers
 * ------------------------------------------------------------------------------ */

static void copy_element(char *to, const char *from, size_t size) {
    switch (size) {
    case 1: *to = *from; break;
    case 2: memcpy(to, from, 2); break;
    case 4: memcpy(to, from, 4); break;
    default: memcpy(to, from, 8); break;
    }
}

static void fill_period(const ef_tile_arg *a, char *to, const char *from) {
    size_t row = (size_t)a->period * a->size, want = (size_t)(EF_TILE + a->period) * a->size;
    for (size_t at = 0; at < want; at += row)
        memcpy(to + at, from, row < want - at ? row : want - at);
}

static void fill_repeat(const ef_tile_arg *a, char *to, const char *from, int64_t i, int64_t n) {
    int64_t at = i / a->period, left = a->period - i % a->period;
    for (int64_t k = 0; k < n; k++) {
        copy_element(to + k * a->size, from + at * a->size, a->size);
        if (--left == 0) {
            left = a->period;
            at++;
        }
    }
}

static void fill_any(const ef_tiles *t, const ef_tile_arg *a, char *to, const char *from, int64_t i,
                     int64_t n) {
    int64_t index[EF_MAX_RANK], at = 0, rest = i;
    for (int d = t->shape.rank - 1; d >= 0; d--) {
        index[d] = rest % t->shape.dim[d];
        rest /= t->shape.dim[d];
        at += index[d] * a->stride[d];
    }
    for (int64_t k = 0; k < n; k++) {
        copy_element(to + k * a->size, from + at * a->size, a->size);
        for (int d = t->shape.rank - 1; d >= 0; d--) {
            at += a->stride[d];
            if (++index[d] < t->shape.dim[d]) break;
            at -= index[d] * a->stride[d];
            index[d] = 0;
        }
    }
}

/* ---- the loop
 * --------------------------------------------------------------------------------------- */

/* The position of element i within a period. Inputs mostly have the same period, so this saves most
 * divisions. */
typedef struct phase {
    int64_t period, whole, rest; /* i / period, i % period */
} phase;

static void find_phase(phase *p, const ef_tile_arg *a, int64_t i) {
    if (p->period == a->period) return;
    *p = (phase){a->period, i / a->period, i % a->period};
}

/* A stretch ends where an input read in place would wrap. */
static int64_t cut(const ef_tiles *t, int64_t i, int64_t n, phase *p) {
    for (int k = 0; k < t->n_inputs; k++) {
        const ef_tile_arg *a = &t->arg[k];
        if (!is_long_period(a) && !(a->spread == EF_SPREAD_REPEAT && a->as_scalar)) continue;
        find_phase(p, a, i);
        if (a->period - p->rest < n) n = a->period - p->rest;
    }
    return n;
}

static void input_addresses(ef_tile_worker *w, int64_t i, int64_t n, phase *p) {
    const ef_tiles *t = w->t;
    int buffer = 0;
    for (int k = 0; k < t->n_inputs; k++) {
        const ef_tile_arg *a = &t->arg[k];
        const char *from = w->data[k];
        char *room = needs_buffer(a) ? w->spread[buffer++] : NULL;
        switch ((ef_spread)a->spread) {
        case EF_SPREAD_FULL: w->ptr[k] = from + i * a->size; break;
        case EF_SPREAD_SCALAR: w->ptr[k] = from; break;
        case EF_SPREAD_PERIOD:
            find_phase(p, a, i);
            w->ptr[k] = (room != NULL ? room : from) + p->rest * a->size;
            break;
        case EF_SPREAD_REPEAT:
            if (room == NULL) {
                find_phase(p, a, i);
                w->ptr[k] = from + p->whole * a->size;
            } else {
                fill_repeat(a, room, from, i, n);
                w->ptr[k] = room;
            }
            break;
        case EF_SPREAD_ANY:
            fill_any(t, a, room, from, i, n);
            w->ptr[k] = room;
            break;
        }
    }
}

void ef_tile_worker_begin(ef_tile_worker *w, const ef_tiles *t) {
    w->t = t;
    int operands = t->n_inputs + t->n_outputs;
    for (int k = 0; k < t->n_regs; k++) w->ptr[operands + k] = w->reg[k];
    for (int k = 0; k < t->tail.n; k++) {
        w->ptr[operands + t->n_regs + k] = w->lanes[k];
        memset(w->lanes[k], 0, sizeof w->lanes[k]); /* vectors may have fewer */
    }
    for (int k = 0, buffer = 0; k < t->n_inputs; k++) {
        if (!needs_buffer(&t->arg[k])) continue;
        if (t->arg[k].spread == EF_SPREAD_PERIOD)
            fill_period(&t->arg[k], w->spread[buffer], w->data[k]);
        buffer++;
    }
}

void ef_tile_worker_of(ef_tile_worker *w, const ef_call *c) {
    const ef_tiles *t = c->state;
    for (int k = 0; k < t->n_inputs; k++) w->data[k] = c->in[k]->data;
    for (int k = 0; k < t->n_outputs; k++) w->data[t->n_inputs + k] = c->out[k]->data;
    ef_tile_worker_begin(w, t);
}

/* All instructions, on operands whose addresses are set. */
static void run_instructions(ef_tile_worker *w, int64_t n) {
    const ef_tiles *t = w->t;
    for (const ef_tile_ins *x = t->ins; x < t->ins + t->n_ins; x += x->covers) {
        if (x->entry != NULL) {
            x->entry(w->ptr, n);
            continue;
        }
        const void *in[EF_TILES_MAX_OPERANDS];
        for (int k = 0; k < x->n_in; k++) in[k] = w->ptr[x->in[k]];
        x->fn((void *)w->ptr[x->out], in, n, x->scalars, x->attrs);
    }
}

int64_t ef_tile_worker_run(ef_tile_worker *w, int64_t i, int64_t n) {
    const ef_tiles *t = w->t;
    phase p = {0};
    n = cut(t, i, n, &p);
    input_addresses(w, i, n, &p);
    int whole = t->n_outputs - t->tail.n;
    for (int k = t->n_inputs; k < t->n_inputs + whole; k++)
        w->ptr[k] = w->data[k] + i * t->arg[k].size;
    run_instructions(w, n);
    return n;
}

bool ef_tile_worker_walk(ef_tile_worker *w, int64_t cols) {
    const ef_tiles *t = w->t;
    if (cols > EF_TILE) return false;
    for (int k = 0; k < t->n_inputs; k++) {
        const ef_tile_arg *a = &t->arg[k];
        bool by_rows = a->spread == EF_SPREAD_REPEAT && a->as_scalar && a->period == cols;
        bool periodic = a->spread == EF_SPREAD_PERIOD && cols % a->period == 0;
        if (a->spread != EF_SPREAD_FULL && a->spread != EF_SPREAD_SCALAR && !by_rows && !periodic)
            return false;
        w->step[k] = a->spread == EF_SPREAD_FULL ? cols * a->size : by_rows ? a->size : 0;
    }
    for (int k = t->n_inputs; k < t->n_inputs + t->n_outputs; k++)
        w->step[k] = k < t->n_inputs + t->n_outputs - t->tail.n ? cols * t->arg[k].size : 0;
    return true;
}

void ef_tile_worker_next(ef_tile_worker *w, int64_t cols) {
    const ef_tiles *t = w->t;
    for (int k = 0; k < t->n_inputs + t->n_outputs - t->tail.n; k++)
        w->ptr[k] = (const char *)w->ptr[k] + w->step[k];
    run_instructions(w, cols);
}

void ef_tiles_range(const ef_call *c, int64_t from, int64_t to) {
    ef_tile_worker w;
    ef_tile_worker_of(&w, c);
    for (int64_t i = from; i < to;)
        i += ef_tile_worker_run(&w, i, to - i < w.t->stretch ? to - i : w.t->stretch);
}

static void run_range(void *arg, int64_t begin, int64_t end) { ef_tiles_range(arg, begin, end); }

ef_status *ef_run_tiles(const ef_call *c) {
    const ef_tiles *t = c->state;
    if (t->tail.n > 0)
        ef_tiles_run_tail(t, c);
    else
        ef_parallel(t->count, EF_TILE, t->cost_ns, run_range, (void *)(uintptr_t)c);
    return NULL;
}
