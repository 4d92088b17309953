/* Attributes and shapes that convolutions and poolings share: strides, padding, layout. */
#ifndef EF_OPS_WINDOW_H
#define EF_OPS_WINDOW_H
#include "kernels/window.h"
#include "ops/op.h"

typedef struct ef_window_attrs {
    ef_ints ksize, strides, dilations, explicit_paddings;
    int padding, data_format; /* 0 SAME, 1 VALID, 2 EXPLICIT; 0 channels last, 1 channels first */
    bool use_cudnn_on_gpu;
} ef_window_attrs;

#define EF_WINDOW_ATTR(field, type, value) EF_ATTR(ef_window_attrs, field, type, value)
#define EF_WINDOW_PADDING EF_WINDOW_ATTR(padding, "{'SAME', 'VALID'}", NULL)
#define EF_WINDOW_PADDING_EXPLICIT                                  \
    EF_WINDOW_ATTR(padding, "{'SAME', 'VALID', 'EXPLICIT'}", NULL), \
        EF_WINDOW_ATTR(explicit_paddings, "list(int)", "[]")
#define EF_WINDOW_FORMAT2 EF_WINDOW_ATTR(data_format, "{'NHWC', 'NCHW'}", "'NHWC'")
#define EF_WINDOW_FORMAT3 EF_WINDOW_ATTR(data_format, "{'NDHWC', 'NCDHW'}", "'NDHWC'")

/* Zeroes b and sets what the attributes determine: layout, strides, dilations, explicit padding and
 * (if the op has ksize) the kernel. Errors name the op. rank: number of image axes. */
ef_status *ef_window_setup(const ef_op *op, const ef_window_attrs *t, int rank, ef_window_box *b);
/* Sets out, before and after from in and kernel; unknown sizes give unknown results. */
ef_status *ef_window_fit(const ef_op *op, const ef_window_attrs *t, ef_window_box *b);
ef_shape_fn ef_window_graph_check; /* In a graph, rejects a window that is larger than the image;
                                    * kernels would return an empty image. */
/* s with `rank` dims; all are unknown if its rank is unknown. */
ef_shape ef_with_rank(const ef_shape *s, int rank);

/* The position of an axis in an image tensor. d: image axis 0..rank-1 of the op (not of the
 * box). */
static inline int ef_axis_channel(const ef_window_box *b) {
    return b->channels_first ? 1 : b->rank + 1;
}
static inline int ef_axis_image(const ef_window_box *b, int d) {
    return d + (b->channels_first ? 2 : 1);
}
/* The box's axis that corresponds to the op's image axis d. */
static inline int ef_box_axis(const ef_window_box *b, int d) { return 3 - b->rank + d; }
/* Reads and writes the sizes of an image's axes. */
void ef_window_read(const ef_window_box *b, const int64_t *dim, int64_t size[3]);
ef_shape ef_window_image(const ef_window_box *b, int64_t batch, int64_t channels,
                         const int64_t size[3]);
#endif
