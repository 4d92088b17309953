/* The filter's gradient is a product of two long thin matrices: the image as the filter reads it,
 * and the gradient of the output. One row of the output is processed at a time, while it is in the
 * first-level cache; three rows of the filter times a block of output channels accumulate their
 * sums in registers. The output rows are distributed to parts, each with its own filter to sum
 * into, and the parts are added at the end, in the same way for any number of threads. */
#include "kernels/conv_filter.h"
#include "base/pool.h"
#include "tensor/scratch.h"

enum { ROWS = 3, MOST_PARTS = 16, PARTS_BYTES = 1 << 20 };
/* Pixels of a row after which partial sums are stored: longer sums lose precision. */
enum { LONG = 4096 };
/* Where the loops are faster than oneDNN (conv_bench): rows long enough to repay a tile of sums,
 * and a filter that fits a core's own cache. */
enum { WIDE_LINE = 24, NEAR_FLOATS = 1 << 16 };

/* Three rows of the filter, where a row is one position of its last image axis and one input
 * channel: where each reads for output position 0, and for which positions [from, to) it is inside
 * the image. All three are in [first, last), at least one in [lowest, highest). */
typedef struct trio {
    int64_t at[ROWS], from[ROWS], to[ROWS];
    int64_t lowest, first, last, highest;
    int64_t row, rows; /* fewer than three at the end */
} trio;

typedef struct job {
    const ef_window_box *box;
    const void *input, *grad;
    const trio *trios;
    int64_t n_trios;       /* for one row of the kernel */
    int64_t parts, slices; /* a work unit is one part of the output rows and one slice of the
                            * filter */
    char *sums, *padded;   /* a filter for each part; a row of the gradient for each unit */
    int64_t filter_size, padded_size;
} job;

static void describe(const ef_window_box *b, trio *t, int64_t row) {
    int64_t per_in = b->in_channels / b->groups, left = b->kernel[2] * per_in - row;
    *t = (trio){.lowest = b->out[2], .last = b->out[2], .row = row};
    t->rows = left < ROWS ? left : ROWS;
    for (int q = 0; q < ROWS; q++) {
        int64_t r = q < t->rows ? row + q : row; /* past the end, repeats the first row; its
                                                  * result is ignored */
        int64_t at = ef_window_sees(b, 2, 0, r / per_in), stride = b->stride[2],
                room = b->in[2] - at;
        int64_t from = at < 0 ? (-at + stride - 1) / stride : 0;
        int64_t to = room <= 0 ? 0 : (room + stride - 1) / stride;
        if (to > b->out[2]) to = b->out[2];
        if (from > to) from = to;
        t->at[q] = at * b->in_channels + r % per_in;
        t->from[q] = from, t->to[q] = to;
        if (from < t->lowest) t->lowest = from;
        if (from > t->first) t->first = from;
        if (to < t->last) t->last = to;
        if (to > t->highest) t->highest = to;
    }
    if (t->first >= t->last) t->first = t->last = t->highest;
}

#define EACH "kernels/conv_filter.inc"
#include "kernels/each_float.inc"
/* int32 wraps around like uint32. */
#define NUM uint32_t
#define NAME(x) x##_u32
#include "kernels/conv_filter.inc"
#undef NUM
#undef NAME

bool ef_conv_filter_pays(const ef_window_box *b) {
    int64_t per_in = b->in_channels / b->groups, per_out = b->out_channels / b->groups;
    return !b->channels_first && b->out[2] >= WIDE_LINE && per_out % (4 * WIDTH_f32) == 0 &&
           ef_volume(b->kernel) * per_in * b->out_channels <= NEAR_FLOATS;
}

static const struct loops {
    int64_t width;
    ef_range_fn *units;
    void (*add)(const job *, void *);
} loops[EF_DTYPES] = {[EF_F32] = {WIDTH_f32, units_f32, add_f32},
                      [EF_F64] = {WIDTH_f64, units_f64, add_f64},
                      [EF_I32] = {WIDTH_u32, units_u32, add_u32}};

ef_status *ef_conv_filter(const ef_window_box *b, ef_dtype t, const ef_conv_data *d) {
    int64_t per_in = b->in_channels / b->groups, rows = b->kernel[2] * per_in;
    int64_t lines = b->batch * b->out[0] * b->out[1], size = (int64_t)ef_dtype_size(t);
    job j = {.box = b, .input = d->a, .grad = d->b, .n_trios = (rows + ROWS - 1) / ROWS};
    j.filter_size = ef_volume(b->kernel) * per_in * b->out_channels;
    if (j.filter_size == 0) return NULL;
    j.parts = PARTS_BYTES / (j.filter_size * size);
    if (j.parts > MOST_PARTS) j.parts = MOST_PARTS;
    if (j.parts > lines) j.parts = lines;
    if (j.parts < 1) j.parts = 1;
    j.slices = MOST_PARTS / j.parts;
    j.padded_size = b->out_channels / b->groups % loops[t].width ? b->out[2] * loops[t].width : 0;
    size_t trios = (size_t)j.n_trios * sizeof(trio),
           sums = (size_t)(j.parts * j.filter_size * size);
    size_t bytes = trios + sums + (size_t)(j.parts * j.slices * j.padded_size * size);
    char *mem = ef_scratch_take(bytes);
    if (mem == NULL) return ef_no_memory(bytes);
    trio *table = (trio *)mem;
    for (int64_t k = 0; k < j.n_trios; k++) describe(b, &table[k], k * ROWS);
    j.trios = table, j.sums = mem + trios, j.padded = j.sums + sums;
    memset(j.sums, 0, sums);
    double cost = (double)lines * (double)b->out[2] * (double)j.filter_size * 0.03 /
                  (double)(j.parts * j.slices);
    ef_parallel(j.parts * j.slices, 1, cost, loops[t].units, &j);
    loops[t].add(&j, d->out);
    ef_scratch_end(mem);
    return NULL;
}
