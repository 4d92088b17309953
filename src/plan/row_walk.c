/* Rows one after the other. Between two calls of a program's code only the addresses move, all by
 * fixed steps, and each sum of a row is joined from its lanes. */
#include "plan/row_walk.h"
#include <string.h>

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* ---- planning -------------------------------------------------------------------------------- */

static bool is_code(const ef_tiles *t) {
    return t->n_ins > 0 && t->ins[0].entry != NULL && t->ins[0].covers == t->n_ins;
}

bool ef_row_moves_evenly(const ef_tiles *t, int64_t cols) {
    for (int k = 0; k < t->n_inputs; k++) {
        const ef_tile_arg *a = &t->arg[k];
        bool by_rows = a->spread == EF_SPREAD_REPEAT && a->as_scalar;
        if (a->spread == EF_SPREAD_FULL || a->spread == EF_SPREAD_SCALAR) continue;
        if ((!by_rows && a->spread != EF_SPREAD_PERIOD) || a->period != cols) return false;
    }
    return true;
}

/* Whether elements of several rows are like those of one. */
static bool is_flat(const ef_tiles *t) {
    for (int k = 0; k < t->n_inputs; k++)
        if (t->arg[k].spread != EF_SPREAD_FULL && t->arg[k].spread != EF_SPREAD_SCALAR)
            return false;
    return t->tail.n == 0 && (is_code(t) || (t->n_ins == 1 && t->n_regs == 0));
}

ef_row_way ef_row_way_of(const ef_tiles *t, int64_t cols) {
    if (t->n_ins == 0) return EF_ROWS_PLAIN;
    if (is_flat(t)) return EF_ROWS_FLAT;
    if (!is_code(t) || t->tail.outer || !ef_row_moves_evenly(t, cols)) return EF_ROWS_TILED;
    /* Short rows are reduced several at a time. */
    return t->tail.n > 0 && cols < EF_TILE / 2 ? EF_ROWS_TILED : EF_ROWS_WALKED;
}

/* ---- running --------------------------------------------------------------------------------- */

static ef_spread spread_of(const ef_tiles *t, int k) {
    if (k < t->n_inputs) return (ef_spread)t->arg[k].spread;
    return k < t->n_inputs + t->n_outputs - t->tail.n ? EF_SPREAD_FULL : EF_SPREAD_REPEAT;
}

static int64_t size_of(const ef_tiles *t, int k) {
    int whole = t->n_inputs + t->n_outputs - t->tail.n;
    return k < whole ? t->arg[k].size : (int64_t)t->tail.of[k - whole].size;
}

int64_t ef_row_step(const ef_row_program *p, int k) {
    ef_spread spread = spread_of(p->tiles, k);
    int64_t size = size_of(p->tiles, k);
    return spread == EF_SPREAD_FULL ? p->cols * size : spread == EF_SPREAD_REPEAT ? size : 0;
}

void ef_row_walk_begin(ef_row_walk *w, const ef_row_program *p, uint32_t inside,
                       const ef_tile_worker *reg) {
    const ef_tiles *t = p->tiles;
    int args = t->n_inputs + t->n_outputs;
    int64_t before = (p->cols - 1) / EF_TILE; /* stretches before the last one of a row */
    memset(w->hop, 0, sizeof w->hop);
    memset(w->last, 0, sizeof w->last);
    memset(w->back, 0, sizeof w->back);
    for (int k = 0; k < args; k++) {
        ef_spread spread = spread_of(t, k);
        int64_t step = ef_row_step(p, k);
        if (spread == EF_SPREAD_FULL || spread == EF_SPREAD_PERIOD)
            w->hop[k] = EF_TILE * size_of(t, k);
        w->last[k] = step - before * w->hop[k];
        if (inside >> k & 1) w->back[k] = step;
    }
    for (int k = 0; k < t->n_regs; k++) w->ptr[args + k] = reg->reg[k];
    for (int k = 0; k < t->tail.n; k++) w->ptr[args + t->n_regs + k] = w->lanes[k];
    memset(w->lanes, 0, sizeof w->lanes); /* vectors may have fewer */
}

static const void *moved(const void *p, int64_t by) {
    return (const void *)((uintptr_t)p + (uintptr_t)by);
}

static void move(ef_row_walk *w, const int64_t *by) {
    for (int k = 0; k < EF_TILES_MAX_ARGS; k++) w->ptr[k] = moved(w->ptr[k], by[k]);
}

static void move_back(ef_row_walk *w, int64_t rows) {
    for (int k = 0; k < EF_TILES_MAX_ARGS; k++) w->ptr[k] = moved(w->ptr[k], -rows * w->back[k]);
}

static void walk_rows(ef_row_walk *w, const ef_row_program *p, int64_t rows) {
    const ef_tiles *t = p->tiles;
    const ef_tile_tail *tail = &t->tail;
    int whole = t->n_inputs + t->n_outputs - tail->n;
    ef_jit_fn *code = t->ins[0].entry;
    for (int64_t r = 0; r < rows; r++) {
        _Alignas(16) char acc[EF_TILES_MAX_TAILS][EF_REDUCE_ACC];
        for (int k = 0; k < tail->n; k++) tail->of[k].reducer->begin(acc[k], 1);
        for (int64_t left = p->cols; left > 0; left -= EF_TILE) {
            int64_t n = least(left, EF_TILE);
            code(w->ptr, n);
            for (int k = 0; k < tail->n; k++) {
                const ef_tile_reduced *of = &tail->of[k];
                if (of->by_lanes && of->in_code)
                    *(double *)(void *)acc[k] += ef_tile_lanes_sum(w->lanes[k]);
                else
                    of->reducer->rows(acc[k], w->ptr[of->operand], 1, n, n);
            }
            if (left > EF_TILE) move(w, w->hop);
        }
        for (int k = 0; k < tail->n; k++)
            tail->of[k].reducer->end((void *)(uintptr_t)w->ptr[whole + k], acc[k], 1, p->cols);
        move(w, w->last);
    }
}

/* Without a reduction nothing of a row stays in a register, so it may have any length. */
static void run_flat(ef_row_walk *w, const ef_tiles *t, int64_t n) {
    const ef_tile_ins *x = &t->ins[0];
    if (x->entry != NULL) {
        x->entry(w->ptr, n);
        return;
    }
    const void *in[EF_TILES_MAX_OPERANDS];
    for (int k = 0; k < x->n_in; k++) in[k] = w->ptr[x->in[k]];
    x->fn((void *)(uintptr_t)w->ptr[x->out], in, n, x->scalars, x->attrs);
}

void ef_row_walk_block(ef_row_walk *w, const ef_row_program *p, int64_t rows) {
    if (p->way == EF_ROWS_FLAT) {
        run_flat(w, p->tiles, rows * p->cols);
        for (int k = 0; k < p->tiles->n_inputs + p->tiles->n_outputs; k++)
            w->ptr[k] = moved(w->ptr[k], rows * (ef_row_step(p, k) - w->back[k]));
        return;
    }
    walk_rows(w, p, rows);
    move_back(w, rows);
}
