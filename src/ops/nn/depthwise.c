/* DepthwiseConv2dNative and its two gradients; the gradients of each of the three are the other
 * two. */
#include "ops/nn/conv.h"

EF_CONV_FUNCTIONS(forward, .rank = 2, .depthwise = true, .kind = EF_CONV_FORWARD)
EF_CONV_FUNCTIONS(input, .rank = 2, .depthwise = true, .kind = EF_CONV_INPUT)
EF_CONV_FUNCTIONS(filter, .rank = 2, .depthwise = true, .kind = EF_CONV_FILTER)

EF_CONV_GRADS("DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropInput",
              "DepthwiseConv2dNativeBackpropFilter")

#define TYPES "T: {half, bfloat16, float, double}"
#define ATTRS                                                                                      \
    {                                                                                              \
        EF_WINDOW_ATTR(strides, "list(int)", NULL), EF_WINDOW_PADDING_EXPLICIT, EF_WINDOW_FORMAT2, \
            EF_WINDOW_ATTR(dilations, "list(int)", "[1, 1, 1, 1]"),                                \
    }

const ef_op ef_op_DepthwiseConv2dNative = {
    EF_NAMED(DepthwiseConv2dNative),
    .doc = "Convolves each channel with its own filters, one or several, and puts all results side "
           "by side in the output channels.",
    .in = {"input: T", "filter: T"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY | EF_NEVER_FAILS,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .images = {.in = 1, .out = true},
    .shape = forward_shape,
    .graph_check = ef_window_graph_check,
    .kernel = EF_CONV_KERNELS(forward, EF_FLOATS),
    .grad = forward_grad,
    .examples = {"T[2,5,4,3] T[3,2,3,1] strides=[1,1,1,1] padding='SAME'",
                 "T[1,6,7,2] T[3,3,2,3] strides=[1,2,2,1] padding='VALID'",
                 "T[2,2,5,6] T[2,3,2,2] strides=[1,1,1,1] padding='EXPLICIT' "
                 "explicit_paddings=[0,0,0,0,1,2,0,1] data_format='NCHW'",
                 "T[1,7,8,2] T[3,2,2,1] strides=[1,1,1,1] padding='SAME' dilations=[1,2,2,1]",
                 "float[2,16,16,8] float[3,3,8,1] strides=[1,1,1,1] padding='SAME'"},
};

const ef_op ef_op_DepthwiseConv2dNativeBackpropInput = {
    EF_NAMED(DepthwiseConv2dNativeBackpropInput),
    .doc = "Gradient of DepthwiseConv2dNative with respect to its input, whose shape `input_sizes` "
           "gives.",
    .in = {"input_sizes: int32", "filter: T", "out_backprop: T"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .images = {.in = 4, .sizes = 1, .out = true},
    .sized = {EF_SIZED_GIVEN, 0},
    .shape = input_shape,
    .kernel = EF_CONV_KERNELS(input, EF_FLOATS),
    .grad = input_grad,
    .examples = {"int32[4]{2,5,4,3} T[3,2,3,1] T[2,5,4,3] strides=[1,1,1,1] padding='SAME'",
                 "int32[4]{1,6,7,2} T[3,3,2,3] T[1,2,3,6] strides=[1,2,2,1] padding='VALID'",
                 "int32[4]{2,16,16,8} float[3,3,8,1] float[2,16,16,8] strides=[1,1,1,1] "
                 "padding='SAME'"},
};

const ef_op ef_op_DepthwiseConv2dNativeBackpropFilter = {
    EF_NAMED(DepthwiseConv2dNativeBackpropFilter),
    .doc = "Gradient of DepthwiseConv2dNative with respect to its filter, whose shape "
           "`filter_sizes` gives.",
    .in = {"input: T", "filter_sizes: int32", "out_backprop: T"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(2),
    .images = {.in = 1 | 4},
    .shape = filter_shape,
    .kernel = EF_CONV_KERNELS(filter, EF_FLOATS),
    .grad = filter_grad,
    .examples = {"T[2,5,4,3] int32[4]{3,2,3,1} T[2,5,4,3] strides=[1,1,1,1] padding='SAME'",
                 "T[1,6,7,2] int32[4]{3,3,2,3} T[1,2,3,6] strides=[1,2,2,1] padding='VALID'",
                 "float[2,16,16,8] int32[4]{3,3,8,1} float[2,16,16,8] strides=[1,1,1,1] "
                 "padding='SAME'"},
};
