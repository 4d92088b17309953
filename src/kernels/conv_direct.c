/* Convolution in plain loops, for what oneDNN does not support (double, integers) or where it does
 * not pay (tiny images). The output and the input's gradient use the same loops: each result pixel
 * gathers source pixels; four pixels times a block of result channels stay in registers while the
 * weights, packed in that order, are read in sequence. The input's gradient differs in which pixels
 * it gathers, and packs the filter with its channel axes exchanged. Everything works on
 * channels-last images; others are transposed first. The filter's gradient is in conv_filter.c. */
#include "base/pool.h"
#include "kernels/conv.h"
#include "kernels/conv_filter.h"
#include "tensor/scratch.h"

enum { PIXELS = 4 };

typedef struct sweep {
    const ef_window_box *box;
    bool back;                        /* from output pixels to input pixels */
    const void *src, *packed, *zeros; /* zeros: as many as a pixel has channels */
    void *out;
    int64_t from_channels, to_channels, blocks; /* of one group */
    int64_t from_pixels;
    const int64_t *from_size, *to_size;
} sweep;

typedef struct spot {
    int64_t batch, pos[3], n; /* n pixels along the last axis */
} spot;

/* The source position for result position `to` and kernel element k; -1: none. */
static inline int64_t source(const sweep *s, int d, int64_t to, int64_t k) {
    const ef_window_box *b = s->box;
    int64_t at;
    if (s->back) {
        at = to + b->before[d] - k * b->dilation[d];
        if (at < 0 || (b->stride[d] != 1 && at % b->stride[d] != 0)) return -1;
        if (b->stride[d] != 1) at /= b->stride[d];
    } else {
        at = ef_window_sees(b, d, to, k);
    }
    return at >= 0 && at < s->from_size[d] ? at : -1;
}

#define EACH "kernels/conv_direct.inc"
#include "kernels/each_float.inc"
/* int32 wraps around like uint32. */
#define NUM uint32_t
#define NAME(x) x##_u32
#include "kernels/conv_direct.inc"
#undef NUM
#undef NAME

#define ROW(SUF) \
    { LANES_##SUF, lines_##SUF, pack_##SUF, turn_##SUF }
static const struct loops {
    int64_t lanes;
    ef_range_fn *lines;
    void (*pack)(const sweep *, const void *, void *);
    void (*turn)(const void *, void *, int64_t, int64_t, int64_t);
} loops[EF_DTYPES] = {[EF_F32] = ROW(f32), [EF_F64] = ROW(f64), [EF_I32] = ROW(u32)};

static ef_status *run_sweep(const ef_conv *c, ef_dtype t, const ef_conv_data *d) {
    const ef_window_box *b = &c->box;
    bool back = c->kind == EF_CONV_INPUT;
    int64_t per_in = b->in_channels / b->groups, per_out = b->out_channels / b->groups;
    sweep s = {.box = b, .back = back, .src = d->a, .out = d->out};
    s.from_channels = back ? per_out : per_in, s.to_channels = back ? per_in : per_out;
    s.from_size = back ? b->out : b->in, s.to_size = back ? b->in : b->out;
    s.from_pixels = ef_volume(s.from_size);
    s.blocks = (s.to_channels + loops[t].lanes - 1) / loops[t].lanes;
    size_t weights =
        (size_t)(b->groups * s.blocks * ef_volume(b->kernel) * s.from_channels * loops[t].lanes) *
        ef_dtype_size(t);
    size_t pixel = (size_t)s.from_channels * ef_dtype_size(t);
    char *mem = ef_scratch_take(weights + pixel);
    if (mem == NULL) return ef_no_memory(weights + pixel);
    loops[t].pack(&s, d->b, mem);
    memset(mem + weights, 0, pixel);
    s.packed = mem, s.zeros = mem + weights;
    double cost = (double)s.to_size[2] * (double)ef_volume(b->kernel) * (double)per_in *
                  (double)b->out_channels * 0.06;
    ef_parallel(b->batch * s.to_size[0] * s.to_size[1], 1, cost, loops[t].lines, &s);
    ef_scratch_end(mem);
    return NULL;
}

/* Transposes channels-first images to channels-last, runs, and transposes the result back. */
static ef_status *run_turned(const ef_conv *c, ef_dtype t, const ef_conv_data *d) {
    const ef_window_box *b = &c->box;
    int64_t in = b->batch * b->in_channels * ef_volume(b->in);
    int64_t out = b->batch * b->out_channels * ef_volume(b->out);
    size_t size = ef_dtype_size(t), bytes = (size_t)(in + out) * size;
    char *x = ef_scratch_take(bytes);
    if (x == NULL) return ef_no_memory(bytes);
    char *y = x + (size_t)in * size;
    ef_conv last = *c;
    last.box.channels_first = 0;
    ef_conv_data e = *d;
    ef_status *s = NULL;
    if (c->kind != EF_CONV_INPUT)
        loops[t].turn(d->a, x, b->batch, b->in_channels, ef_volume(b->in));
    if (c->kind != EF_CONV_FORWARD)
        loops[t].turn(c->kind == EF_CONV_INPUT ? d->a : d->b, y, b->batch, b->out_channels,
                      ef_volume(b->out));
    if (c->kind == EF_CONV_FILTER) {
        e.a = x, e.b = y;
        s = ef_conv_filter(&last.box, t, &e);
    } else if (c->kind == EF_CONV_INPUT) {
        e.a = y, e.out = x;
        s = run_sweep(&last, t, &e);
        if (s == NULL) loops[t].turn(x, d->out, b->batch, ef_volume(b->in), b->in_channels);
    } else {
        e.a = x, e.out = y;
        s = run_sweep(&last, t, &e);
        if (s == NULL) loops[t].turn(y, d->out, b->batch, ef_volume(b->out), b->out_channels);
    }
    ef_scratch_end(x);
    return s;
}

static ef_status *run_wide(const ef_conv *c, ef_dtype t, const ef_conv_data *d, void *handle) {
    (void)handle;
    if (c->box.channels_first)
        EF_TRY(run_turned(c, t, d));
    else
        EF_TRY(c->kind == EF_CONV_FILTER ? ef_conv_filter(&c->box, t, d) : run_sweep(c, t, d));
    if (c->has_bias || c->has_add || c->activation != EF_ACT_NONE) ef_conv_epilogue(c, t, d);
    return NULL;
}

ef_status *ef_conv_direct(const ef_conv *c, ef_dtype t, const ef_conv_data *d) {
    return ef_conv_widened(c, t, d, NULL, run_wide);
}
