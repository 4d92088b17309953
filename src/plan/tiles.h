/* Tile programs: a fused group of elementwise ops as a list of tile functions that run over
 * stretches of a few hundred elements, so that intermediate values stay in the first-level cache. A
 * program may end in reductions, which read its values without storing them to memory. */
#ifndef EF_PLAN_TILES_H
#define EF_PLAN_TILES_H
#include "jit/jit.h"
#include "kernels/reduce.h"
#include "ops/op.h"

enum {
    EF_TILE = 512,          /* elements of a stretch */
    EF_TILES_MAX_INS = 32,  /* instructions of one program */
    EF_TILES_MAX_ARGS = 16, /* inputs and outputs of one program */
    EF_TILES_MAX_REGS = 12,
    EF_TILES_MAX_TAILS = 4, /* reductions of one program */
    EF_TILES_MAX_OPERANDS = 8
};

/* An operand is an index: inputs first, then outputs, then registers. */
typedef struct ef_tile_ins {
    ef_tile_fn *fn;
    const void *attrs;
    uint8_t n_in, scalars; /* bit k of scalars: operand k is one element for the whole stretch */
    uint8_t in[EF_TILES_MAX_OPERANDS];
    uint8_t out;
    uint8_t covers;    /* how many instructions this call executes: 1, or more if compiled */
    uint8_t dtype;     /* of all operands except truth values; EF_BOOL: all are truth values */
    uint8_t truths;    /* as in ef_jit_ins */
    int32_t node;      /* of the plan's graph */
    const char *expr;  /* of the op; NULL: it has none, or its operands have several dtypes */
    ef_jit_code *code; /* executes `covers` instructions from this one on */
    ef_jit_fn *entry;  /* its entry point; NULL: fn executes this one */
} ef_tile_ins;

/* How an input is broadcast over the result. */
typedef enum ef_spread {
    EF_SPREAD_FULL,   /* element i is element i */
    EF_SPREAD_SCALAR, /* one element for all */
    EF_SPREAD_PERIOD, /* element i % period (a bias along the last axes) */
    EF_SPREAD_REPEAT, /* element i / period (a factor per row) */
    EF_SPREAD_ANY     /* strides per dim */
} ef_spread;

typedef struct ef_tile_reduced {
    const ef_reducer *reducer;
    uint8_t operand; /* what it reads, */
    size_t size;     /* and the bytes of an element of that */
    bool by_lanes;   /* a sum or mean of long rows of floats, taken in the worker's lanes, */
    bool in_code;    /* which generated code fills by itself */
    int32_t node;    /* of the plan's graph */
} ef_tile_reduced;

/* The reductions at the end of a program, all over the same axes; more than one only over inner
 * axes whose rows are not cut (parts is 1). The result's shape is seen as rows x cols, of which one
 * is reduced: cols (inner axes, or all), or rows (outer axes). It is cut into parts by its shape
 * alone, so that the result does not depend on the number of threads. */
typedef struct ef_tile_tail {
    int n; /* 0: no reduction */
    ef_tile_reduced of[EF_TILES_MAX_TAILS];
    bool outer; /* rows are reduced */
    int64_t rows, cols;
    int64_t part, parts; /* size along the reduced side of a part (the last may be smaller) */
} ef_tile_tail;

typedef struct ef_tile_arg {
    uint8_t spread, size; /* size: bytes of an element */
    bool as_scalar;       /* passed to instructions as one element per stretch */
    bool in_place;        /* an input that the program also writes: it is never copied */
    bool unread;          /* an output that nobody reads: it may stay unwritten */
    int64_t period;
    int64_t stride[EF_MAX_RANK]; /* EF_SPREAD_ANY, over the program's shape */
} ef_tile_arg;

typedef struct ef_tiles {
    int n_ins, n_inputs, n_outputs, n_regs;
    ef_tile_ins *ins; /* allocated exactly, since plans are kept for many shapes */
    ef_tile_arg *arg;
    ef_shape shape; /* of the result, adjacent dims collapsed where all inputs allow */
    int64_t count;
    int64_t stretch;   /* elements it takes at once, unless it ends in a reduction */
    double cost_ns;    /* estimated, for one element */
    ef_tile_tail tail; /* its results are the last outputs */
} ef_tiles;

/* Statistics of fusion: groups made and the ops in them; how often an op began another group
 * because the one of its inputs was full; and groups that were found but could not be made. */
typedef struct ef_fuse_counts {
    int64_t groups, ops, refused, dropped;
} ef_fuse_counts;
ef_fuse_counts ef_fuse_counted(void); /* by all plans of this process so far */

/* Sets spread, period and strides of argument k from its shape; shapes broadcast to t->shape. */
void ef_tiles_spread(ef_tiles *t, int k, const ef_shape *arg, ef_dtype dtype);
bool ef_tiles_buffered(const ef_tiles *t, int k); /* input k is copied into a buffer first */
/* Whether there are enough buffers for its broadcast inputs. */
bool ef_tiles_fit(const ef_tiles *t);
/* An input whose bytes output k may overwrite stretch by stretch, or -1. */
int ef_tiles_overwrites(const ef_tiles *t, int k);
/* Ends t with one more reduction over the axes in mask of a value of dtype d, whose operand the
 * caller sets; false if the axes are neither the inner nor the outer ones, or differ from those of
 * t's other reductions. alone: t has no instructions, and runs only as part of a row chain. */
bool ef_tiles_reduce(ef_tiles *t, ef_reduce_kind kind, ef_dtype d, uint32_t mask, bool alone);
/* Compiles t if it is large enough to gain from it; ef_tiles_release releases the code. */
void ef_tiles_compile(ef_tiles *t);
ef_release_fn ef_tiles_release;
size_t ef_tiles_scratch(const ef_tiles *t); /* bytes of scratch its kernel needs */
/* The kernel of a fused step: state is the ef_tiles. */
ef_kernel_fn ef_run_tiles;
/* Elements [from, to) of it, on this thread; of a program that does not end in a reduction. */
void ef_tiles_range(const ef_call *c, int64_t from, int64_t to);
#endif
