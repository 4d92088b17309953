/* Walking over the rows of a row chain. A program that is compiled as a whole needs little more for
 * the next row than addresses that are a step further, so a block may be a few rows only, which
 * stay in the first-level cache. */
#ifndef EF_PLAN_ROW_WALK_H
#define EF_PLAN_ROW_WALK_H
#include "plan/row_chain.h"
#include "plan/tiles_run.h"

/* What a thread keeps of a program between blocks of rows. */
typedef struct ef_row_walk {
    /* As in ef_tile_worker. */
    const void *ptr[EF_TILES_MAX_ARGS + EF_TILES_MAX_REGS + EF_TILES_MAX_TAILS];
    /* By argument, in bytes: from one stretch of a row to the next, from the last one to the next
     * row, and back after each row of a block, for values that live in a block. */
    int64_t hop[EF_TILES_MAX_ARGS], last[EF_TILES_MAX_ARGS], back[EF_TILES_MAX_ARGS];
    _Alignas(64) float lanes[EF_TILES_MAX_TAILS][EF_TILES_LANES];
} ef_row_walk;

struct ef_planner;
/* row_sums.c: lets programs add up rows for those that do nothing else, where they can. group: of
 * each program; n_outside: inputs and outputs of the step. Programs are compiled afterwards. */
ef_status *ef_row_sums_fold(struct ef_planner *p, const int32_t *group, int n_outside,
                            ef_row_chain *c);
/* Whether the inputs have the same step from each row to the next, and need no buffer. */
bool ef_row_moves_evenly(const ef_tiles *t, int64_t cols);
/* How a program that has been compiled runs over blocks of rows. */
ef_row_way ef_row_way_of(const ef_tiles *t, int64_t cols);
/* The bytes from each row to the next of argument k. */
int64_t ef_row_step(const ef_row_program *p, int k);
/* Begins with the row to which the caller has set w->ptr of each argument; inside: bit k is set if
 * argument k lives in a block. reg: memory of the registers. */
void ef_row_walk_begin(ef_row_walk *w, const ef_row_program *p, uint32_t inside,
                       const ef_tile_worker *reg);
void ef_row_walk_block(ef_row_walk *w, const ef_row_program *p, int64_t rows); /* the next ones */
#endif
