/* Maximum and average over a sliding window, and their gradients. Boxes are channels last; the
 * caller treats channels-first images as more images of one channel (ef_pool_flatten). Averages
 * count only elements inside the image. 16-bit floats are computed in float. */
#ifndef EF_KERNELS_POOLING_H
#define EF_KERNELS_POOLING_H
#include "base/status.h"
#include "kernels/window.h"

/* Channels first: the same memory as batch * channels images of one channel. */
ef_window_box ef_pool_flatten(const ef_window_box *b);

ef_status *ef_max_pool(const ef_window_box *b, ef_dtype t, const void *x, void *y);
/* The first largest element of each window gets the window's gradient; in three dimensions, as in
 * TensorFlow, every element that is as large does. */
ef_status *ef_max_pool_grad(const ef_window_box *b, ef_dtype t, const void *x, const void *dy,
                            void *dx);
/* The reverse: each window reads the element of g at the position where x is largest. */
ef_status *ef_max_pool_pick(const ef_window_box *b, ef_dtype t, const void *x, const void *g,
                            void *y);
/* The largest elements and their positions: the flat index into the image, or into the whole batch.
 * index is int32 or int64 (wide). */
ef_status *ef_max_pool_index(const ef_window_box *b, ef_dtype t, const void *x, void *y, void *at,
                             bool wide, bool whole_batch);

ef_status *ef_avg_pool(const ef_window_box *b, ef_dtype t, const void *x, void *y);
ef_status *ef_avg_pool_grad(const ef_window_box *b, ef_dtype t, const void *dy, void *dx);
#endif
