/* Convolution in plain loops, for what oneDNN does not know (double, integers) or does not repay
 * (tiny images). Output and input gradient are the same sweep: each result pixel gathers source
 * pixels, a block of result channels in registers, and the weights row by row; the input gradient
 * only exchanges the filter's channel axes first and asks which output pixels saw this one. */
#include "base/pool.h"
#include "kernels/borrow.h"
#include "kernels/conv.h"

enum { PIXELS = 4, LANES = 16 };

typedef struct sweep {
    const ef_window_box *box;
    bool back; /* from output pixels to input pixels */
    const void *src, *filter;
    void *out;
    int64_t from_channels, to_channels; /* of one group */
    const int64_t *from_size, *to_size;
    ef_steps from, to;
    int64_t w_tap, w_group, w_row;
} sweep;

typedef struct place {
    int64_t batch, pos[3], n; /* n pixels along the last axis */
} place;

typedef struct filter_job {
    const ef_window_box *box;
    const void *input, *grad;
    void *out;
    ef_steps in;
} filter_job;

/* Which source position meets result position `to` at kernel place k; -1: none. */
static inline int64_t source(const sweep *s, int d, int64_t to, int64_t k) {
    const ef_window_box *b = s->box;
    int64_t at;
    if (s->back) {
        at = to + b->before[d] - k * b->dilation[d];
        if (at < 0) return -1;
        if (b->stride[d] != 1) {
            if (at % b->stride[d] != 0) return -1;
            at /= b->stride[d];
        }
    } else {
        at = to * b->stride[d] - b->before[d] + k * b->dilation[d];
    }
    return at >= 0 && at < s->from_size[d] ? at : -1;
}

#define NUM float
#define NAME(x) x##_f32
#include "kernels/conv_direct.inc"
#undef NUM
#undef NAME
#define NUM double
#define NAME(x) x##_f64
#include "kernels/conv_direct.inc"
#undef NUM
#undef NAME
/* int32 wraps around as uint32 does. */
#define NUM uint32_t
#define NAME(x) x##_u32
#include "kernels/conv_direct.inc"
#undef NUM
#undef NAME

static const struct loops {
    ef_range_fn *lines, *filter_rows;
    void (*to_last)(const void *, void *, int64_t, int64_t, int64_t);
    void (*flip_filter)(const ef_window_box *, const void *, void *);
} loops[EF_DTYPES] = {[EF_F32] = {lines_f32, filter_rows_f32, to_last_f32, flip_filter_f32},
                      [EF_F64] = {lines_f64, filter_rows_f64, to_last_f64, flip_filter_f64},
                      [EF_I32] = {lines_u32, filter_rows_u32, to_last_u32, flip_filter_u32}};

static int64_t count_out(const ef_window_box *b) {
    return b->batch * b->out_channels * ef_volume(b->out);
}
static int64_t count_filter(const ef_window_box *b) {
    return ef_volume(b->kernel) * (b->in_channels / b->groups) * b->out_channels;
}

static ef_status *run_filter(const ef_conv *c, ef_dtype t, const ef_conv_data *d) {
    const ef_window_box *b = &c->box;
    filter_job f = {b, d->a, d->b, d->out, ef_steps_in(b)};
    void *last = NULL;
    if (b->channels_first && count_out(b) > 0) {
        size_t bytes = (size_t)count_out(b) * ef_dtype_size(t);
        if ((last = ef_borrow(bytes)) == NULL) return ef_no_memory(bytes);
        loops[t].to_last(d->b, last, b->batch, b->out_channels, ef_volume(b->out));
        f.grad = last;
    }
    int64_t rows = ef_volume(b->kernel) * (b->in_channels / b->groups);
    double cost = (double)b->batch * (double)ef_volume(b->out) * (double)b->out_channels * 0.3;
    ef_parallel(rows, 1, cost, loops[t].filter_rows, &f);
    ef_borrow_end(last);
    return NULL;
}

static ef_status *run_sweep(const ef_conv *c, ef_dtype t, const ef_conv_data *d) {
    const ef_window_box *b = &c->box;
    bool back = c->kind == EF_CONV_INPUT;
    int64_t per_in = b->in_channels / b->groups, per_out = b->out_channels / b->groups;
    sweep s = {.box = b, .back = back, .src = d->a, .filter = d->b, .out = d->out};
    s.from_channels = back ? per_out : per_in, s.to_channels = back ? per_in : per_out;
    s.from_size = back ? b->out : b->in, s.to_size = back ? b->in : b->out;
    s.from = back ? ef_steps_out(b) : ef_steps_in(b),
    s.to = back ? ef_steps_in(b) : ef_steps_out(b);
    s.w_row = back ? per_in : b->out_channels;
    s.w_group = back ? per_out * per_in : per_out;
    s.w_tap = per_in * b->out_channels;
    void *flipped = NULL;
    if (back && count_filter(b) > 0) {
        size_t bytes = (size_t)count_filter(b) * ef_dtype_size(t);
        if ((flipped = ef_borrow(bytes)) == NULL) return ef_no_memory(bytes);
        loops[t].flip_filter(b, d->b, flipped);
        s.filter = flipped;
    }
    double cost = (double)s.to_size[2] * (double)ef_volume(b->kernel) * (double)per_in *
                  (double)b->out_channels * 0.15;
    ef_parallel(b->batch * s.to_size[0] * s.to_size[1], 1, cost, loops[t].lines, &s);
    ef_borrow_end(flipped);
    return NULL;
}

static ef_status *run_wide(const ef_conv *c, ef_dtype t, const ef_conv_data *d, void *handle) {
    (void)handle;
    EF_TRY(c->kind == EF_CONV_FILTER ? run_filter(c, t, d) : run_sweep(c, t, d));
    if (c->has_bias || c->has_add || c->activation != EF_ACT_NONE) ef_conv_epilogue(c, t, d);
    return NULL;
}

ef_status *ef_conv_direct(const ef_conv *c, ef_dtype t, const ef_conv_data *d) {
    return ef_conv_widened(c, t, d, NULL, run_wide);
}
