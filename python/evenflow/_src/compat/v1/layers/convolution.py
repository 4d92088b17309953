"""Convolutional layers: plain, transposed and separable."""
from .... import _core
from ....namespace import export, offer
from ....ops import conv
from .._initializers import Zeros
from .base import Layer, by_format, channels, need_rank, sizes

raw = _core.raw
_FORMATS = {1: ("NWC", "NCW"), 2: ("NHWC", "NCHW"), 3: ("NDHWC", "NCDHW")}


class _Conv(Layer):
    """The base class of the convolutional layers. Its arguments have the order of those of the public classes."""

    dims = None

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
                 activation=None, use_bias=True, kernel_initializer=None, bias_initializer=Zeros(),
                 kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(trainable, name, activity_regularizer=activity_regularizer, **kwargs)
        n = self.dims
        self.filters, self.kernel_size = filters, sizes(kernel_size, n, "kernel_size")
        self.strides, self.dilation_rate = sizes(strides, n, "strides"), sizes(dilation_rate, n, "dilation_rate")
        self.padding, self.data_format = padding.lower(), by_format(data_format)
        if self.padding not in ("valid", "same"):
            raise ValueError(f"The `padding` argument must be one of \"valid\", \"same\". Received: {padding}")
        self.activation, self.use_bias = activation, use_bias
        self.kernel_initializer, self.bias_initializer = kernel_initializer, bias_initializer
        self.kernel_regularizer, self.bias_regularizer = kernel_regularizer, bias_regularizer
        self.kernel_constraint, self.bias_constraint = kernel_constraint, bias_constraint

    @property
    def _layout(self):
        return _FORMATS[self.dims][self.data_format == "channels_first"]

    def build(self, input_shape):
        need_rank(self, input_shape, self.dims + 2)
        self._make_kernel(channels(self, input_shape, self.data_format))
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight("bias", [self.filters], initializer=self.bias_initializer,
                                        regularizer=self.bias_regularizer, constraint=self.bias_constraint)

    def _make_kernel(self, depth):
        self.kernel = self._kernel(depth, self.filters)

    def _kernel(self, *ends):
        return self.add_weight("kernel", [*self.kernel_size, *ends], initializer=self.kernel_initializer,
                               regularizer=self.kernel_regularizer, constraint=self.kernel_constraint)

    def _convolved(self, inputs):
        return conv.convolution(inputs, self.kernel, list(self.strides), self.padding.upper(), self._layout,
                                list(self.dilation_rate))

    def call(self, inputs):
        made = self._convolved(inputs)
        if self.use_bias and self.data_format == "channels_last":
            made = raw.BiasAdd(made, self.bias)
        elif self.use_bias:
            made = raw.AddV2(made, raw.Reshape(self.bias, [1, self.filters] + [1] * self.dims))
        return made if self.activation is None else self.activation(made)


@export("compat.v1.layers.Conv1D")
class Conv1D(_Conv):
    """Convolution over one dimension."""

    dims = 1


@export("compat.v1.layers.Conv2D")
class Conv2D(_Conv):
    """Convolution over two dimensions."""

    dims = 2


@export("compat.v1.layers.Conv3D")
class Conv3D(_Conv):
    """Convolution over three dimensions."""

    dims = 3


class _ConvTranspose(_Conv):
    """Transposed convolution: the gradient of a convolution with respect to its input."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", activation=None,
                 use_bias=True, kernel_initializer=None, bias_initializer=Zeros(), kernel_regularizer=None,
                 bias_regularizer=None, activity_regularizer=None, kernel_constraint=None, bias_constraint=None,
                 trainable=True, name=None, **kwargs):
        super().__init__(filters, kernel_size, strides, padding, data_format, 1, activation, use_bias, kernel_initializer,
                         bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
                         bias_constraint, trainable, name, **kwargs)

    def _make_kernel(self, depth):
        self.kernel = self._kernel(self.filters, depth)

    def _size(self, inputs, axis, k):
        """The size of the output along a dimension: an int if that of the input is known, else a tensor."""
        known = _core.static_shape(inputs)
        size = known[axis] if known is not None and known[axis] is not None else raw.Shape(inputs)[axis]
        size = size * self.strides[k]
        return size + max(self.kernel_size[k] - self.strides[k], 0) if self.padding == "valid" else size

    def _convolved(self, inputs):
        first = 2 if self.data_format == "channels_first" else 1
        space = [self._size(inputs, first + k, k) for k in range(self.dims)]
        known = _core.static_shape(inputs)
        batch = known[0] if known is not None and known[0] is not None else raw.Shape(inputs)[0]
        shape = [batch, self.filters, *space] if first == 2 else [batch, *space, self.filters]
        made = conv.conv_transpose(inputs, self.kernel, raw.Pack([_core.convert(s) for s in shape]), list(self.strides),
                                   self.padding.upper(), self._layout)
        made.set_shape([s if isinstance(s, int) else None for s in shape])
        return made


@export("compat.v1.layers.Conv2DTranspose")
class Conv2DTranspose(_ConvTranspose):
    """Transposed convolution over two dimensions."""

    dims = 2


@export("compat.v1.layers.Conv3DTranspose")
class Conv3DTranspose(_ConvTranspose):
    """Transposed convolution over three dimensions."""

    dims = 3


class _SeparableConv(_Conv):
    """A depthwise convolution followed by a pointwise (1x1) convolution."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
                 depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None,
                 pointwise_initializer=None, bias_initializer=Zeros(), depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None, depthwise_constraint=None,
                 pointwise_constraint=None, bias_constraint=None, trainable=True, name=None, **kwargs):
        super().__init__(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         bias_initializer=bias_initializer, bias_regularizer=bias_regularizer,
                         activity_regularizer=activity_regularizer, bias_constraint=bias_constraint, trainable=trainable,
                         name=name, **kwargs)
        self.depth_multiplier = depth_multiplier
        self._deep = dict(initializer=depthwise_initializer, regularizer=depthwise_regularizer,
                          constraint=depthwise_constraint)
        self._point = dict(initializer=pointwise_initializer, regularizer=pointwise_regularizer,
                           constraint=pointwise_constraint)

    def _make_kernel(self, depth):
        self.depthwise_kernel = self.add_weight("depthwise_kernel", [*self.kernel_size, depth, self.depth_multiplier],
                                                **self._deep)
        self.pointwise_kernel = self.add_weight("pointwise_kernel", [*[1] * self.dims, self.depth_multiplier * depth,
                                                                     self.filters], **self._point)

    def _convolved(self, inputs):
        flat = self.dims == 1  # a 1-D convolution is a 2-D one with height 1
        at = 2 if self.data_format == "channels_first" else 1
        layout = "NCHW" if at == 2 else "NHWC"
        deep, point = self.depthwise_kernel, self.pointwise_kernel
        strides, rates = list(self.strides) * (2 // self.dims), list(self.dilation_rate)
        if flat:
            inputs, deep, point = raw.ExpandDims(inputs, at), raw.ExpandDims(deep, 0), raw.ExpandDims(point, 0)
            rates = [1] + rates
        whole = [1, 1, *strides] if at == 2 else [1, *strides, 1]
        made = conv.separable_conv2d(inputs, deep, point, whole, self.padding.upper(), layout, rates)
        return raw.Squeeze(made, [at]) if flat else made


@export("compat.v1.layers.SeparableConv1D")
class SeparableConv1D(_SeparableConv):
    """Separable convolution over one dimension."""

    dims = 1


@export("compat.v1.layers.SeparableConv2D")
class SeparableConv2D(_SeparableConv):
    """Separable convolution over two dimensions."""

    dims = 2


def _function(layer, *names):
    """Exports the layer as a function with `inputs` as its first argument and with `reuse`."""
    def function(inputs, filters, kernel_size, *args, reuse=None, **kwargs):
        return layer(filters, kernel_size, *args, _reuse=reuse, **kwargs)(inputs)

    function.__name__, function.__doc__ = names[0], f"{layer.__name__} as a function."
    offer(function, *(f"compat.v1.layers.{n}" for n in names))


_function(Conv1D, "conv1d")
_function(Conv2D, "conv2d")
_function(Conv3D, "conv3d")
_function(Conv2DTranspose, "conv2d_transpose")
_function(Conv3DTranspose, "conv3d_transpose")
_function(SeparableConv1D, "separable_conv1d")
_function(SeparableConv2D, "separable_conv2d")
