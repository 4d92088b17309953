/* Row chains: tile programs that work row by row - a mean, what is subtracted from it, a norm, the
 * result - run one after the other over a block of rows that stays in the second-level cache.
 * Values that pass between them never reach memory. In this way softmax, layer and group norms
 * written with plain ops, and their gradients, become one step. */
#ifndef EF_PLAN_ROW_CHAIN_H
#define EF_PLAN_ROW_CHAIN_H
#include "plan/tiles.h"

enum {
    EF_ROW_CHAIN_LEAST = 1 << 14, /* elements below which separate steps are as fast */
    EF_ROW_CHAIN_PROGRAMS = 24,
    EF_ROW_CHAIN_ARGS = 31 /* inputs or outputs of the step, each a bit of a 32-bit mask */
};

/* How a program runs over a block of rows. */
typedef enum ef_row_way {
    EF_ROWS_TILED,  /* stretch by stretch, as outside of a chain */
    EF_ROWS_PLAIN,  /* it is a reduction alone, straight from its argument */
    EF_ROWS_FLAT,   /* one call for all elements of the block */
    EF_ROWS_WALKED, /* compiled code row by row (row_walk.h) */
    EF_ROWS_SUMMED  /* another program adds its rows up (row_sums.c) */
} ef_row_way;

/* Where an argument of a program is: among the step's inputs, then its outputs, then the values
 * that live in a block only. */
typedef struct ef_row_program {
    ef_tiles *tiles;
    uint8_t *at;  /* by argument */
    int64_t cols; /* elements of a row */
    ef_row_way way;
    int sums;       /* EF_ROWS_SUMMED: where its partial sums are, counted like `at` */
    size_t acc_row; /* of a reduction over rows: where its accumulators are in those of a piece */
} ef_row_program;

/* The rows are cut into pieces, which threads take, and a piece into blocks. Both depend on the
 * shapes alone, so any number of threads gives the same bits. */
typedef struct ef_row_chain {
    ef_row_program *program;
    /* By value that lives in a block: its bytes per row, bytes that it has whatever the number of
     * rows, and where it begins in the block. */
    size_t *row_bytes, *own_bytes, *offset;
    int n, n_inside, n_sums; /* programs; values in a block; programs that are EF_ROWS_SUMMED */
    int64_t rows, block, piece, pieces;
    size_t block_bytes,
        acc_bytes;  /* of the values of one block; of the accumulators of one piece */
    double cost_ns; /* of a row */
} ef_row_chain;

bool ef_row_chain_takes(
    const ef_tile_tail *tail); /* a reduction of rows that a chain may begin with */
ef_kernel_fn ef_run_row_chain; /* the kernel of a chain's step: state is the ef_row_chain */
ef_release_fn ef_row_chain_release;
size_t ef_row_chain_scratch(const ef_row_chain *c);
#endif
