/* The inside of running tile programs, shared by plain ones and those that end in a reduction. */
#ifndef EF_PLAN_TILES_RUN_H
#define EF_PLAN_TILES_RUN_H
#include "plan/tiles.h"

enum {
    EF_TILES_BUFFERS = 4,
    EF_TILES_ELEMENT = 8,
    EF_TILES_LANES = 16, /* of a sum that generated code takes */
    EF_TILES_APART =
        320 /* bytes between rows: element i of all must not fall into one set of the cache */
};

/* What one thread needs; sits on its stack. Rows are 64-byte aligned. */
typedef struct ef_tile_worker {
    _Alignas(64) char reg[EF_TILES_MAX_REGS][EF_TILE * EF_TILES_ELEMENT + EF_TILES_APART];
    _Alignas(64) char spread[EF_TILES_BUFFERS][2 * EF_TILE * EF_TILES_ELEMENT + EF_TILES_APART];
    const ef_tiles *t;
    int64_t step[EF_TILES_MAX_ARGS]; /* bytes from one row to the next */
    char *data[EF_TILES_MAX_ARGS];   /* arguments: where element 0 is, or would be */
    _Alignas(64) float lanes[EF_TILES_MAX_TAILS][EF_TILES_LANES];
    /* Operands of the stretch at hand, then the lanes. */
    const void *ptr[EF_TILES_MAX_ARGS + EF_TILES_MAX_REGS + EF_TILES_MAX_TAILS];
} ef_tile_worker;

/* Begins with program t; the caller has set w->data. */
void ef_tile_worker_begin(ef_tile_worker *w, const ef_tiles *t);
void ef_tile_worker_of(ef_tile_worker *w, const ef_call *c); /* on the arguments of a fused step */
/* Runs the program on elements [i, i + n), or on fewer if an input that is read in place would
 * wrap, and returns on how many. n: at most EF_TILE, or t->stretch if the program has no reduction.
 */
int64_t ef_tile_worker_run(ef_tile_worker *w, int64_t i, int64_t n);

/* Rows of `cols` elements, one after the other: if every argument moves by the same step from each
 * row to the next, ef_tile_worker_run takes the first of them, and ef_tile_worker_next each that
 * follows without working its addresses out again. */
bool ef_tile_worker_walk(ef_tile_worker *w, int64_t cols);
void ef_tile_worker_next(ef_tile_worker *w, int64_t cols);

/* The sum of the lanes, as a tree. */
double ef_tile_lanes_sum(const float *lane);
/* fused_reduce.c: the whole of a program that ends in a reduction. */
void ef_tiles_run_tail(const ef_tiles *t, const ef_call *c);
/* Parts of it, for a program whose tail reduces inner axes (the result of rows [begin, end)) or
 * outer ones (rows [begin, end) go into accumulators, one for each column). Rows of inner axes are
 * not cut: tail.parts is 1. */
void ef_tile_worker_rows(ef_tile_worker *w, int64_t begin, int64_t end);
void ef_tile_worker_columns(ef_tile_worker *w, char *acc, int64_t begin, int64_t end);
#endif
