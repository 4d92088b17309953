/* Depthwise convolution: every input channel has its own filters, so the sums are only over the
 * kernel's few elements, and the loops run along the channels. */
#include "base/pool.h"
#include "kernels/conv.h"
#include "tensor/scratch.h"

typedef struct job {
    const ef_window_box *box;
    const void *a, *b;
    void *to;
    ef_steps in, out;
    void *sums; /* for the filter's gradient: two pixels of output channels for each kernel
                 * element */
} job;

#define EACH "kernels/depthwise.inc"
#include "kernels/each_float.inc"

static ef_status *run_wide(const ef_conv *c, ef_dtype t, const ef_conv_data *d, void *handle) {
    (void)handle;
    const ef_window_box *b = &c->box;
    if (b->in_channels == 0) return NULL; /* the output is empty too */
    job s = {b, d->a, d->b, d->out, ef_steps_in(b), ef_steps_out(b), NULL};
    bool wide = t == EF_F64;
    double taps = (double)ef_volume(b->kernel), pixels = (double)ef_volume(b->out);
    double one = (double)b->out_channels * 0.15;
    switch ((ef_conv_kind)c->kind) {
    case EF_CONV_FORWARD:
        ef_parallel(b->batch * b->out[1], 1, one * taps * (double)b->out[2],
                    wide ? forward_f64 : forward_f32, &s);
        break;
    case EF_CONV_INPUT:
        ef_parallel(b->batch, 1, one * taps * pixels, wide ? input_f64 : input_f32, &s);
        break;
    case EF_CONV_FILTER: {
        size_t bytes = (size_t)(2 * ef_volume(b->kernel) * b->out_channels) * ef_dtype_size(t);
        if ((s.sums = ef_scratch_take(bytes)) == NULL) return ef_no_memory(bytes);
        ef_parallel(ef_volume(b->kernel), 1, one * pixels * (double)b->batch,
                    wide ? filter_f64 : filter_f32, &s);
        ef_scratch_end(s.sums);
        break;
    }
    }
    return NULL;
}

ef_status *ef_conv_depthwise(const ef_conv *c, ef_dtype t, const ef_conv_data *d) {
    return ef_conv_widened(c, t, d, NULL, run_wide);
}
