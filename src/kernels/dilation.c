/* Dilation with one loop for all three directions: each finds the window's maximum and then uses it
 * differently. */
#include "kernels/dilation.h"
#include "base/pool.h"
#include "kernels/half.h"
#include "tensor/scratch.h"
#include <float.h>

typedef struct job {
    ef_window_box box;
    ef_dilation_kind kind;
    const void *x, *filter, *dy;
    void *out;
    double start; /* less than every sum */
} job;

#define ADD(x, y) ((x) + (y))
#define EACH "kernels/dilation.inc"
#include "kernels/each_float.inc"
#undef ADD
#define ADD(x, y) (NUM)((uint64_t)(x) + (uint64_t)(y)) /* wraps around */
#include "kernels/each_int.inc"

static ef_range_fn *const loops[EF_DTYPES] = {
    [EF_F32] = channels_f32, [EF_F64] = channels_f64, [EF_I8] = channels_i8,
    [EF_I16] = channels_i16, [EF_I32] = channels_i32, [EF_I64] = channels_i64,
    [EF_U8] = channels_u8,   [EF_U16] = channels_u16, [EF_U32] = channels_u32,
    [EF_U64] = channels_u64};

static double lowest(ef_dtype t) {
    switch (t) {
    case EF_F32: return -FLT_MAX;
    case EF_F64: return -DBL_MAX;
    case EF_I8: return INT8_MIN;
    case EF_I16: return INT16_MIN;
    case EF_I32: return INT32_MIN;
    case EF_I64: return (double)INT64_MIN;
    default: return 0;
    }
}

static void run(const job *j, ef_dtype t, int64_t n_out) {
    const ef_window_box *b = &j->box;
    double cost = (double)(b->batch * b->out[1] * b->out[2]) * (double)ef_volume(b->kernel) * 2;
    memset(j->out, 0, (size_t)n_out * ef_dtype_size(t));
    ef_parallel(b->in_channels, 1, cost, loops[t], (void *)j);
}

ef_status *ef_dilation(const ef_window_box *b, ef_dtype t, ef_dilation_kind kind, const void *x,
                       const void *filter, const void *dy, void *out) {
    int64_t image = b->batch * b->in[1] * b->in[2] * b->in_channels;
    int64_t weights = ef_volume(b->kernel) * b->in_channels;
    int64_t result = b->batch * b->out[1] * b->out[2] * b->in_channels;
    int64_t n_out = kind == EF_DILATION_FORWARD ? result
                    : kind == EF_DILATION_INPUT ? image
                                                : weights;
    job j = {*b, kind, x, filter, dy, out, lowest(ef_is_half(t) ? EF_F32 : t)};
    if (n_out == 0) return NULL;
    if (!ef_is_half(t)) {
        run(&j, t, n_out);
        return NULL;
    }
    int64_t n_dy = dy != NULL ? result : 0;
    size_t bytes = (size_t)(image + weights + n_dy + n_out) * sizeof(float);
    float *wx = ef_scratch_take(bytes);
    if (wx == NULL) return ef_no_memory(bytes);
    float *wf = wx + image, *wdy = wf + weights, *wo = wdy + n_dy;
    ef_widen(t, wx, x, image);
    ef_widen(t, wf, filter, weights);
    if (n_dy > 0) ef_widen(t, wdy, dy, n_dy);
    j.x = wx, j.filter = wf, j.dy = wdy, j.out = wo;
    run(&j, EF_F32, n_out);
    ef_narrow(t, out, wo, n_out);
    ef_scratch_end(wx);
    return NULL;
}
