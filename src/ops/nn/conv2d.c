/* Conv2D and its two gradients; the gradients of each of the three are the other two. */
#include "ops/nn/conv.h"

EF_CONV_FUNCTIONS(forward, .rank = 2, .kind = EF_CONV_FORWARD)
EF_CONV_FUNCTIONS(input, .rank = 2, .kind = EF_CONV_INPUT)
EF_CONV_FUNCTIONS(filter, .rank = 2, .kind = EF_CONV_FILTER)

EF_CONV_GRADS("Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter")

#define ATTRS                                                                             \
    {                                                                                     \
        EF_WINDOW_ATTR(strides, "list(int)", NULL),                                       \
            EF_WINDOW_ATTR(use_cudnn_on_gpu, "bool", "true"), EF_WINDOW_PADDING_EXPLICIT, \
            EF_WINDOW_FORMAT2, EF_WINDOW_ATTR(dilations, "list(int)", "[1, 1, 1, 1]"),    \
    }

const ef_op ef_op_Conv2D = {
    EF_NAMED(Conv2D),
    .doc = "Slides `filter` over the two image axes of `input` and sums the products over the "
           "window and over the channels of one group.",
    .in = {"input: T", "filter: T"},
    .out = {"output: T"},
    .types = "T: {half, bfloat16, float, double, int32}",
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY | EF_NEVER_FAILS,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .images = {.in = 1, .out = true},
    .shape = forward_shape,
    .graph_check = ef_window_graph_check,
    .kernel = EF_CONV_KERNELS(forward, EF_FLOATS | EF_BIT(I32)),
    .grad = forward_grad,
    .examples = {"T[2,5,4,3] T[3,2,3,4] strides=[1,1,1,1] padding='SAME'",
                 "T[1,6,7,4] T[3,3,2,6] strides=[1,2,2,1] padding='VALID'",
                 "T[2,3,7,6] T[2,3,3,5] strides=[1,1,1,2] padding='EXPLICIT' "
                 "explicit_paddings=[0,0,0,0,1,2,0,1] data_format='NCHW'",
                 "T[1,7,8,2] T[3,2,2,3] strides=[1,1,1,1] padding='SAME' dilations=[1,2,1,1]",
                 "float[4,16,16,3] float[3,3,3,16] strides=[1,1,1,1] padding='SAME'",
                 "T[0,5,5,2] T[3,3,2,4] strides=[1,1,1,1] padding='VALID'"},
};

const ef_op ef_op_Conv2DBackpropInput = {
    EF_NAMED(Conv2DBackpropInput),
    .doc = "Gradient of Conv2D with respect to its input, whose shape `input_sizes` gives; also "
           "known as transposed convolution.",
    .in = {"input_sizes: int32", "filter: T", "out_backprop: T"},
    .out = {"output: T"},
    .types = "T: {half, bfloat16, float, double, int32}",
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .images = {.in = 4, .sizes = 1, .out = true},
    .sized = {EF_SIZED_GIVEN, 0},
    .shape = input_shape,
    .kernel = EF_CONV_KERNELS(input, EF_FLOATS | EF_BIT(I32)),
    .grad = input_grad,
    .examples =
        {"int32[4]{2,5,4,3} T[3,2,3,4] T[2,5,4,4] strides=[1,1,1,1] padding='SAME'",
         "int32[4]{1,6,7,4} T[3,3,2,6] T[1,2,3,6] strides=[1,2,2,1] padding='VALID'",
         "int32[4]{2,3,7,6} T[2,3,3,5] T[2,5,9,3] strides=[1,1,1,2] padding='EXPLICIT' "
         "explicit_paddings=[0,0,0,0,1,2,0,1] data_format='NCHW'",
         "int32[4]{1,7,8,2} T[3,2,2,3] T[1,7,8,3] strides=[1,1,1,1] padding='SAME' "
         "dilations=[1,2,1,1]",
         "int32[4]{4,16,16,3} float[3,3,3,16] float[4,16,16,16] strides=[1,1,1,1] padding='SAME'"},
};

const ef_op ef_op_Conv2DBackpropFilter = {
    EF_NAMED(Conv2DBackpropFilter),
    .doc = "Gradient of Conv2D with respect to its filter, whose shape `filter_sizes` gives.",
    .in = {"input: T", "filter_sizes: int32", "out_backprop: T"},
    .out = {"output: T"},
    .types = "T: {half, bfloat16, float, double}",
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(2),
    .images = {.in = 1 | 4},
    .shape = filter_shape,
    .kernel = EF_CONV_KERNELS(filter, EF_FLOATS),
    .grad = filter_grad,
    .examples =
        {"T[2,5,4,3] int32[4]{3,2,3,4} T[2,5,4,4] strides=[1,1,1,1] padding='SAME'",
         "T[1,6,7,4] int32[4]{3,3,2,6} T[1,2,3,6] strides=[1,2,2,1] padding='VALID'",
         "T[2,3,7,6] int32[4]{2,3,3,5} T[2,5,9,3] strides=[1,1,1,2] padding='EXPLICIT' "
         "explicit_paddings=[0,0,0,0,1,2,0,1] data_format='NCHW'",
         "T[1,7,8,2] int32[4]{3,2,2,3} T[1,7,8,3] strides=[1,1,1,1] padding='SAME' "
         "dilations=[1,2,1,1]",
         "float[4,16,16,3] int32[4]{3,3,3,16} float[4,16,16,16] strides=[1,1,1,1] padding='SAME'"},
};
