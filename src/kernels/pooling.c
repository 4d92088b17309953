/* Max pooling. Loops run along the channels, pixel by pixel, so memory is read in order and the
 * compiler vectorises over the channels. */
#include "kernels/pooling.h"
#include "base/pool.h"
#include "kernels/half.h"
#include "tensor/scratch.h"
#include <float.h>
#include <math.h>

enum { BLOCK = 64 };

typedef struct job {
    ef_window_box box;
    const void *x, *g;
    void *y, *at;
    int64_t blocks; /* blocks of channels */
    bool pick, wide, whole_batch, to_all;
    bool apart, covered; /* no element is in two windows; and every element is in one */
    double start;        /* the initial value of every window of ef_max_pool */
} job;

/* Whether a window covers position p of axis d, for windows that do not overlap. */
static bool is_seen(const ef_window_box *b, int d, int64_t p) {
    int64_t at = p + b->before[d], window = at / b->stride[d];
    return window < b->out[d] && at - window * b->stride[d] < b->kernel[d];
}

#define ADD(x, y) ((x) + (y))
#define EACH "kernels/pooling.inc"
#include "kernels/each_float.inc"
#undef ADD
#define ADD(x, y) (NUM)((uint64_t)(x) + (uint64_t)(y)) /* wraps around */
#include "kernels/each_int.inc"

#define ROW(SUF) \
    { max_pixels_##SUF, max_blocks_##SUF, index_blocks_##SUF }
static const struct loops {
    ef_range_fn *pixels, *blocks, *index;
} loops[EF_DTYPES] = {
    [EF_F32] = ROW(f32), [EF_F64] = ROW(f64), [EF_I8] = ROW(i8), [EF_I16] = ROW(i16),
    [EF_I32] = ROW(i32), [EF_I64] = ROW(i64), [EF_U8] = ROW(u8), [EF_U16] = ROW(u16),
    [EF_U32] = ROW(u32), [EF_U64] = ROW(u64)};

ef_window_box ef_pool_flatten(const ef_window_box *b) {
    ef_window_box r = *b;
    if (b->channels_first) {
        r.batch *= b->in_channels;
        r.in_channels = r.out_channels = 1;
        r.channels_first = 0;
    }
    return r;
}

static int64_t count_in(const ef_window_box *b) {
    return b->batch * b->in_channels * ef_volume(b->in);
}
static int64_t count_out(const ef_window_box *b) {
    return b->batch * b->in_channels * ef_volume(b->out);
}

static void run(const job *j, ef_dtype t, ef_range_fn *fn) {
    const ef_window_box *b = &j->box;
    if (count_in(b) == 0 && count_out(b) == 0) return;
    double taps = (double)ef_volume(b->kernel), channels = (double)b->in_channels;
    if (fn == loops[t].pixels)
        ef_parallel(b->batch * ef_volume(b->out), 1, 3 + taps * (1 + channels * 0.2), fn,
                    (void *)j);
    else
        ef_parallel(b->batch * j->blocks, 1,
                    (double)ef_volume(b->out) * (3 + taps * (1 + channels * 0.4)), fn, (void *)j);
}

/* Runs fn on float copies if t is a 16-bit float. n: numbers of elements of x, g and y. */
static ef_status *run_any(job *j, ef_dtype t, ef_range_fn *loop32, ef_range_fn *loop,
                          const int64_t n[3]) {
    j->blocks = (j->box.in_channels + BLOCK - 1) / BLOCK;
    if (!ef_is_half(t)) {
        run(j, t, loop);
        return NULL;
    }
    size_t bytes = (size_t)(n[0] + n[1] + n[2] + 48) * sizeof(float);
    float *x = ef_scratch_take(bytes);
    if (x == NULL) return ef_no_memory(bytes);
    float *g = x + (n[0] + 15) / 16 * 16, *y = g + (n[1] + 15) / 16 * 16;
    void *to = j->y;
    ef_widen(t, x, j->x, n[0]);
    if (n[1] > 0) ef_widen(t, g, j->g, n[1]);
    j->x = x, j->g = g, j->y = y;
    run(j, EF_F32, loop32);
    ef_narrow(t, to, y, n[2]);
    ef_scratch_end(x);
    return NULL;
}

/* TensorFlow begins with the lowest finite number, so -inf and NaN alone give that number. */
static double lowest(ef_dtype t) {
    switch (t) {
    case EF_F16: return -65504.0;
    case EF_BF16: return -0x1.FEp127;
    case EF_F32: return -FLT_MAX;
    case EF_F64: return -DBL_MAX;
    case EF_I8: return INT8_MIN;
    case EF_I16: return INT16_MIN;
    case EF_I32: return INT32_MIN;
    case EF_I64: return (double)INT64_MIN;
    default: return 0;
    }
}

ef_status *ef_max_pool(const ef_window_box *b, ef_dtype t, const void *x, void *y) {
    job j = {.box = *b, .x = x, .y = y, .start = lowest(t)};
    int64_t n[3] = {count_in(b), 0, count_out(b)};
    return run_any(&j, t, max_pixels_f32, loops[t].pixels, n);
}

ef_status *ef_max_pool_grad(const ef_window_box *b, ef_dtype t, const void *x, const void *dy,
                            void *dx) {
    job j = {.box = *b, .x = x, .g = dy, .y = dx, .to_all = b->rank == 3, .apart = true};
    j.start = lowest(t);
    for (int d = 0; d < 3; d++) j.apart = j.apart && b->kernel[d] <= b->stride[d];
    j.covered = j.apart;
    for (int d = 0; d < 3; d++)
        j.covered = j.covered && b->kernel[d] == b->stride[d] &&
                    b->out[d] * b->stride[d] - b->before[d] >= b->in[d];
    int64_t n[3] = {count_in(b), count_out(b), count_in(b)};
    return run_any(&j, t, max_blocks_f32, loops[t].blocks, n);
}

ef_status *ef_max_pool_pick(const ef_window_box *b, ef_dtype t, const void *x, const void *g,
                            void *y) {
    job j = {.box = *b, .x = x, .g = g, .y = y, .pick = true};
    int64_t n[3] = {count_in(b), count_in(b), count_out(b)};
    return run_any(&j, t, max_blocks_f32, loops[t].blocks, n);
}

ef_status *ef_max_pool_index(const ef_window_box *b, ef_dtype t, const void *x, void *y, void *at,
                             bool wide, bool whole_batch) {
    job j = {.box = *b, .x = x, .y = y, .at = at, .wide = wide, .whole_batch = whole_batch};
    int64_t n[3] = {count_in(b), 0, count_out(b)};
    return run_any(&j, t, index_blocks_f32, loops[t].index, n);
}
