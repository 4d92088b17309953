/* Running a row chain. A thread takes a piece of the rows, and runs all programs on each block of
 * it. Values that live in a block only are in the thread's own part of the scratch memory; their
 * addresses are shifted so that programs can use the index of an element in the whole value. */
#include "base/pool.h"
#include "plan/row_chain.h"
#include "plan/row_walk.h"

typedef struct job {
    const ef_call *c;
    const ef_row_chain *chain;
    char *acc, *blocks; /* accumulators piece by piece; blocks lane by lane */
} job;

size_t ef_row_chain_scratch(const ef_row_chain *c) {
    return 64 + (size_t)c->pieces * c->acc_bytes + (size_t)ef_pool_lanes() * c->block_bytes;
}

static char *address(const job *j, char *block, int at, int64_t row) {
    const ef_call *c = j->c;
    if (at < c->n_in) return c->in[at]->data;
    at -= c->n_in;
    if (at < c->n_out) return c->out[at]->data;
    at -= c->n_out;
    /* Row `row` is the first of the block: element 0 would be before it. */
    uintptr_t here = (uintptr_t)(block + j->chain->offset[at]);
    return (char *)(here - (uintptr_t)row * j->chain->row_bytes[at]);
}

/* Rows [from, to) of a program without a reduction. If its arguments repeat with the rows,
 * stretches end with them. */
static void run_elements(ef_tile_worker *w, int64_t cols, int64_t from, int64_t to) {
    const ef_tiles *t = w->t;
    int64_t i = from * cols, end = to * cols;
    if (i < end && end - i > cols && ef_tile_worker_walk(w, cols)) {
        int64_t n = ef_tile_worker_run(w, i, end - i < t->stretch ? end - i : t->stretch);
        i += n;
        while (n == cols && i < end) {
            ef_tile_worker_next(w, cols);
            i += cols;
        }
    }
    while (i < end) i += ef_tile_worker_run(w, i, end - i < t->stretch ? end - i : t->stretch);
}

static void run_program(const job *j, const ef_row_program *p, ef_tile_worker *w, char *block,
                        char *acc, int64_t from, int64_t to) {
    const ef_tiles *t = p->tiles;
    for (int k = 0; k < t->n_inputs + t->n_outputs; k++)
        w->data[k] = address(j, block, p->at[k], from);
    ef_tile_worker_begin(w, t);
    if (t->tail.n == 0) {
        run_elements(w, p->cols, from, to);
    } else if (t->tail.outer) {
        ef_tile_worker_columns(w, acc + p->acc_row, from, to);
    } else {
        ef_tile_worker_rows(w, from, to);
    }
}

static bool reduces_rows(const ef_row_program *p) {
    return p->tiles->tail.n > 0 && p->tiles->tail.outer;
}

/* Prepares a program that row_walk.c runs for the rows from `row` on. */
static void begin_walk(const job *j, const ef_row_program *p, ef_row_walk *w,
                       const ef_tile_worker *reg, char *block, int64_t row) {
    uint32_t inside = 0;
    memset(w->ptr, 0, sizeof w->ptr);
    for (int k = 0; k < p->tiles->n_inputs + p->tiles->n_outputs; k++) {
        inside |= (uint32_t)(p->at[k] >= j->c->n_in + j->c->n_out) << k;
        w->ptr[k] = address(j, block, p->at[k], row) + row * ef_row_step(p, k);
    }
    ef_row_walk_begin(w, p, inside, reg);
}

/* Rows whose sums are taken in floats: whatever the size of a block, so that machine code and
 * the interpreter, which run blocks of different sizes, round alike. */
enum { FLUSH_ROWS = 64 };

static char *sums_of(const job *j, const ef_row_program *p, char *block) {
    return block + j->chain->offset[p->sums - j->c->n_in - j->c->n_out];
}

/* Adds the partial sums to the accumulators, and clears them. */
static void flush_sums(const job *j, char *block, char *acc) {
    for (int k = 0; k < j->chain->n; k++) {
        const ef_row_program *p = &j->chain->program[k];
        if (p->way != EF_ROWS_SUMMED) continue;
        const ef_tile_reduced *of = &p->tiles->tail.of[0];
        char *sums = sums_of(j, p, block);
        of->reducer->cols(acc + p->acc_row, sums, 1, p->cols, p->cols);
        memset(sums, 0, (size_t)p->cols * of->size);
    }
}

static void clear_sums(const job *j, char *block) {
    for (int k = 0; k < j->chain->n; k++) {
        const ef_row_program *p = &j->chain->program[k];
        if (p->way == EF_ROWS_SUMMED)
            memset(sums_of(j, p, block), 0, (size_t)p->cols * p->tiles->tail.of[0].size);
    }
}

static bool walks(const ef_row_program *p) {
    return p->way == EF_ROWS_FLAT || p->way == EF_ROWS_WALKED;
}

/* Rows [row, end), block by block. */
static void run_rows(const job *j, ef_tile_worker *w, ef_row_walk *walk, char *block, char *acc,
                     int64_t row, int64_t end) {
    const ef_row_chain *chain = j->chain;
    for (int64_t to; row < end; row = to) {
        to = row + chain->block < end ? row + chain->block : end;
        for (int k = 0; k < chain->n; k++) {
            const ef_row_program *p = &chain->program[k];
            if (walks(p))
                ef_row_walk_block(&walk[k], p, to - row);
            else if (p->way != EF_ROWS_SUMMED)
                run_program(j, p, w, block, acc, row, to);
        }
    }
}

static void run_pieces(void *arg, int64_t begin, int64_t end) {
    const job *j = arg;
    const ef_row_chain *chain = j->chain;
    ef_tile_worker w;
    ef_row_walk walk[EF_ROW_CHAIN_PROGRAMS];
    char *block = j->blocks + (size_t)ef_pool_lane() * chain->block_bytes;
    int64_t each = chain->n_sums > 0 ? FLUSH_ROWS : chain->rows;
    clear_sums(j, block);
    for (int64_t piece = begin; piece < end; piece++) {
        char *acc = j->acc + (size_t)piece * chain->acc_bytes;
        for (int k = 0; k < chain->n; k++)
            if (reduces_rows(&chain->program[k]))
                chain->program[k].tiles->tail.of[0].reducer->begin(acc + chain->program[k].acc_row,
                                                                   chain->program[k].cols);
        int64_t row = piece * chain->piece, last = row + chain->piece;
        if (last > chain->rows) last = chain->rows;
        for (int k = 0; k < chain->n; k++)
            if (walks(&chain->program[k]))
                begin_walk(j, &chain->program[k], &walk[k], &w, block, row);
        for (int64_t flush; row < last; row = flush) {
            flush = row + each < last ? row + each : last;
            run_rows(j, &w, walk, block, acc, row, flush);
            flush_sums(j, block, acc);
        }
    }
}

/* Merges the accumulators of the pieces in order, so that any number of threads gives the same
 * bits. */
static void merge_pieces(const job *j, const ef_row_program *p) {
    const ef_tiles *t = p->tiles;
    char *acc = j->acc + p->acc_row;
    for (int64_t k = 1; k < j->chain->pieces; k++)
        t->tail.of[0].reducer->merge(acc, acc + (size_t)k * j->chain->acc_bytes, p->cols);
    char *out = address(j, NULL, p->at[t->n_inputs + t->n_outputs - 1], 0);
    t->tail.of[0].reducer->end(out, acc, p->cols, j->chain->rows);
}

ef_status *ef_run_row_chain(const ef_call *c) {
    const ef_row_chain *chain = c->state;
    job j = {.c = c, .chain = chain, .acc = c->scratch};
    j.blocks = j.acc + (size_t)chain->pieces * chain->acc_bytes;
    ef_parallel(chain->pieces, 1, chain->cost_ns * (double)chain->piece, run_pieces, &j);
    for (int k = 0; k < chain->n; k++)
        if (reduces_rows(&chain->program[k])) merge_pieces(&j, &chain->program[k]);
    return NULL;
}

void ef_row_chain_release(void *state) {
    const ef_row_chain *c = state;
    for (int k = 0; k < c->n; k++) ef_tiles_release(c->program[k].tiles);
}
