/* Average pooling: like max pooling, with sums. */
#include "base/pool.h"
#include "kernels/half.h"
#include "kernels/pooling.h"
#include "tensor/scratch.h"

enum { BLOCK = 64 };

typedef struct job {
    ef_window_box box;
    const void *x;
    void *y;
    int64_t blocks; /* blocks of channels */
} job;

static inline int64_t covered(const ef_window_walk *w) {
    int64_t n = 1;
    for (int d = 0; d < 3; d++) n *= w->to[d] > w->from[d] ? w->to[d] - w->from[d] : 0;
    return n;
}

#define EACH "kernels/avg_pool.inc"
#include "kernels/each_float.inc"

static ef_status *run(const ef_window_box *b, ef_dtype t, const void *x, void *y, bool back) {
    job j = {*b, x, y, (b->in_channels + BLOCK - 1) / BLOCK};
    int64_t in = b->batch * b->in_channels * ef_volume(b->in);
    int64_t out = b->batch * b->in_channels * ef_volume(b->out);
    int64_t nx = back ? out : in, ny = back ? in : out;
    if (ny == 0) return NULL;
    float *mem = NULL, *wide = NULL;
    if (ef_is_half(t)) {
        size_t bytes = (size_t)(nx + ny + 16) * sizeof(float);
        if ((mem = ef_scratch_take(bytes)) == NULL) return ef_no_memory(bytes);
        wide = mem + (nx + 15) / 16 * 16;
        ef_widen(t, mem, x, nx);
        j.x = mem, j.y = wide;
    }
    double taps = (double)ef_volume(b->kernel), channels = (double)b->in_channels;
    double pixel = 3 + taps * (1 + channels * 0.2);
    if (back)
        ef_parallel(b->batch * j.blocks, 1, (double)ef_volume(b->out) * pixel / (double)j.blocks,
                    t == EF_F64 ? avg_blocks_f64 : avg_blocks_f32, &j);
    else
        ef_parallel(b->batch * ef_volume(b->out), 1, pixel,
                    t == EF_F64 ? avg_pixels_f64 : avg_pixels_f32, &j);
    if (mem != NULL) ef_narrow(t, y, wide, ny);
    ef_scratch_end(mem);
    return NULL;
}

ef_status *ef_avg_pool(const ef_window_box *b, ef_dtype t, const void *x, void *y) {
    return run(b, t, x, y, false);
}
ef_status *ef_avg_pool_grad(const ef_window_box *b, ef_dtype t, const void *dy, void *dx) {
    return run(b, t, dy, dx, true);
}
