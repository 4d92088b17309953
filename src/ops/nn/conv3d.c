/* Conv3D and its two gradients; the gradients of each of the three are the other two. */
#include "ops/nn/conv.h"

EF_CONV_FUNCTIONS(forward, .rank = 3, .kind = EF_CONV_FORWARD)
EF_CONV_FUNCTIONS(input, .rank = 3, .kind = EF_CONV_INPUT)
EF_CONV_FUNCTIONS(filter, .rank = 3, .kind = EF_CONV_FILTER)

EF_CONV_GRADS("Conv3D", "Conv3DBackpropInputV2", "Conv3DBackpropFilterV2")

#define TYPES "T: {half, bfloat16, float, double}"
#define ATTRS                                                                             \
    {                                                                                     \
        EF_WINDOW_ATTR(strides, "list(int)", NULL), EF_WINDOW_PADDING, EF_WINDOW_FORMAT3, \
            EF_WINDOW_ATTR(dilations, "list(int)", "[1, 1, 1, 1, 1]"),                    \
    }

const ef_op ef_op_Conv3D = {
    EF_NAMED(Conv3D),
    .doc = "Slides `filter` over the three image axes of `input` and sums the products over the "
           "window and the channels.",
    .in = {"input: T", "filter: T"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY | EF_NEVER_FAILS,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(1),
    .shape = forward_shape,
    .graph_check = ef_window_graph_check,
    .kernel = EF_CONV_KERNELS(forward, EF_FLOATS),
    .grad = forward_grad,
    .examples = {"T[1,3,4,5,2] T[2,3,2,2,3] strides=[1,1,1,1,1] padding='SAME'",
                 "T[2,4,5,5,1] T[2,2,3,1,4] strides=[1,2,1,2,1] padding='VALID'",
                 "T[1,2,3,4,4] T[2,2,2,2,3] strides=[1,1,1,2,1] padding='SAME' "
                 "data_format='NCDHW'",
                 "float[2,6,6,6,4] float[3,3,3,4,8] strides=[1,1,1,1,1] padding='SAME'"},
};

const ef_op ef_op_Conv3DBackpropInputV2 = {
    EF_NAMED(Conv3DBackpropInputV2),
    .doc = "Gradient of Conv3D with respect to its input, whose shape `input_sizes` gives.",
    .in = {"input_sizes: Tshape", "filter: T", "out_backprop: T"},
    .out = {"output: T"},
    .types = TYPES "; Tshape: {int32, int64} = int32",
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(1) | EF_KEEP_IN(2),
    .sized = {EF_SIZED_GIVEN, 0},
    .shape = input_shape,
    .kernel = {{EF_CPU, EF_ANY, input_dnnl, NULL, input_pays, input_prepare, ef_conv_release},
               {EF_CPU, EF_ANY, input_direct, NULL, NULL, NULL, NULL}},
    .grad = input_grad,
    .examples = {"int32[5]{1,3,4,5,2} T[2,3,2,2,3] T[1,3,4,5,3] strides=[1,1,1,1,1] "
                 "padding='SAME'",
                 "int64[5]{2,4,5,5,1} T[2,2,3,1,4] T[2,2,4,2,4] strides=[1,2,1,2,1] "
                 "padding='VALID'"},
};

const ef_op ef_op_Conv3DBackpropFilterV2 = {
    EF_NAMED(Conv3DBackpropFilterV2),
    .doc = "Gradient of Conv3D with respect to its filter, whose shape `filter_sizes` gives.",
    .in = {"input: T", "filter_sizes: int32", "out_backprop: T"},
    .out = {"output: T"},
    .types = TYPES,
    .attr = ATTRS,
    .attr_size = sizeof(ef_window_attrs),
    .traits = EF_HEAVY,
    .keeps = EF_KEEP_IN(0) | EF_KEEP_IN(2),
    .shape = filter_shape,
    .kernel = EF_CONV_KERNELS(filter, EF_FLOATS),
    .grad = filter_grad,
    .examples = {"T[1,3,4,5,2] int32[5]{2,3,2,2,3} T[1,3,4,5,3] strides=[1,1,1,1,1] "
                 "padding='SAME'",
                 "T[2,4,5,5,1] int32[5]{2,2,3,1,4} T[2,2,4,2,4] strides=[1,2,1,2,1] "
                 "padding='VALID'"},
};
