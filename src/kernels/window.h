/* The geometry of a window sliding over images, shared by convolution and pooling. Images always
 * have three axes here (depth, height, width); those of lower rank have leading axes of size 1. The
 * struct has no padding bytes, so it may be hashed and compared as bytes if it was zeroed first. */
#ifndef EF_KERNELS_WINDOW_H
#define EF_KERNELS_WINDOW_H
#include "tensor/dtype.h"

typedef struct ef_window_box {
    int32_t rank;           /* image axes in use: 1 to 3 */
    int32_t channels_first; /* N C D H W instead of N D H W C */
    int64_t batch, groups, in_channels, out_channels;
    int64_t in[3], out[3], kernel[3], stride[3], dilation[3];
    int64_t before[3], after[3]; /* padding */
} ef_window_box;

/* Strides in elements along each axis of a tensor. */
typedef struct ef_steps {
    int64_t batch, channel, axis[3];
} ef_steps;

static inline ef_steps ef_steps_of(bool channels_first, int64_t channels, const int64_t size[3]) {
    ef_steps s;
    s.channel = channels_first ? size[0] * size[1] * size[2] : 1;
    s.axis[2] = channels_first ? 1 : channels;
    s.axis[1] = s.axis[2] * size[2];
    s.axis[0] = s.axis[1] * size[1];
    s.batch = channels * size[0] * size[1] * size[2];
    return s;
}
static inline ef_steps ef_steps_in(const ef_window_box *b) {
    return ef_steps_of(b->channels_first, b->in_channels, b->in);
}
static inline ef_steps ef_steps_out(const ef_window_box *b) {
    return ef_steps_of(b->channels_first, b->out_channels, b->out);
}
static inline int64_t ef_volume(const int64_t size[3]) { return size[0] * size[1] * size[2]; }

/* The input position that kernel element k reads for output position o; it may lie outside the
 * image. */
static inline int64_t ef_window_sees(const ef_window_box *b, int d, int64_t o, int64_t k) {
    return o * b->stride[d] - b->before[d] + k * b->dilation[d];
}
/* The range [*from, *to) of the kernel that lies inside the image for output position o. */
static inline void ef_window_clip(const ef_window_box *b, int d, int64_t o, int64_t *from,
                                  int64_t *to) {
    int64_t start = o * b->stride[d] - b->before[d], step = b->dilation[d];
    int64_t lo = start < 0 ? (-start + step - 1) / step : 0;
    int64_t hi = start >= b->in[d] ? 0 : (b->in[d] - start + step - 1) / step;
    *to = hi < b->kernel[d] ? hi : b->kernel[d];
    *from = lo < *to ? lo : *to;
}

/* Iterates over output positions in order and keeps the range of input pixels under the window. */
typedef struct ef_window_walk {
    int64_t batch, at[3], from[3], to[3];
} ef_window_walk;

static inline void ef_window_under(const ef_window_box *b, int d, ef_window_walk *w) {
    int64_t start = w->at[d] * b->stride[d] - b->before[d], stop = start + b->kernel[d];
    w->to[d] = stop < b->in[d] ? stop : b->in[d];
    w->from[d] = start > 0 ? start : 0;
}
/* Starts at position o, counted over all batches. */
static inline ef_window_walk ef_window_start(const ef_window_box *b, int64_t o) {
    if (ef_volume(b->out) == 0) return (ef_window_walk){0}; /* there are no positions */
    ef_window_walk w = {
        .batch = o / ef_volume(b->out),
        .at = {o / (b->out[1] * b->out[2]) % b->out[0], o / b->out[2] % b->out[1], o % b->out[2]}};
    for (int d = 0; d < 3; d++) ef_window_under(b, d, &w);
    return w;
}
static inline void ef_window_next(const ef_window_box *b, ef_window_walk *w) {
    int d = 2;
    while (++w->at[d] == b->out[d]) {
        w->at[d] = 0;
        ef_window_under(b, d, w);
        if (--d < 0) {
            w->batch++;
            return;
        }
    }
    ef_window_under(b, d, w);
}
#endif
