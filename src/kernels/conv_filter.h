/* The gradient of a convolution with respect to its filter, by loops over channels-last images. */
#ifndef EF_KERNELS_CONV_FILTER_H
#define EF_KERNELS_CONV_FILTER_H
#include "kernels/conv.h"

/* Whether, for floats, the loops are faster than oneDNN. */
bool ef_conv_filter_pays(const ef_window_box *b);
/* float, double and int32. */
ef_status *ef_conv_filter(const ef_window_box *b, ef_dtype t, const ef_conv_data *d);
#endif
