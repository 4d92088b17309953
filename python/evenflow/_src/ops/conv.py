"""Convolutions (plain, transposed, depthwise) and morphological dilation and erosion."""
from ..namespace import export
from .common import convert, dtypes, seen, np, raw, rank_of, static_shape
from .window import FIRST, LAST, attributes, by_batches, height_axis, padding_of, sizes_of


def _outer_folded(x, n, run):
    """Applies `run` to a tensor with all its batch dimensions merged into one."""
    x = convert(x)
    rank = rank_of(x)
    if rank is None or rank <= n + 2:
        return run(x)  # if there are too few dimensions, the op raises the error
    sizes = raw.Shape(x)
    outer = sizes[: rank - n - 1]
    inner = sizes[rank - n - 1 :]
    out = run(raw.Reshape(x, raw.ConcatV2([[-1], inner], 0)))
    return raw.Reshape(out, raw.ConcatV2([outer, raw.Shape(out)[1:]], 0))


@export("nn.conv2d")
def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):  # noqa: A002
    """2-D convolution of images with `filters` [height, width, in, out]."""
    more = attributes(2, padding, data_format, strides=strides, dilations=dilations)
    return _outer_folded(input, 2, lambda x: raw.Conv2D(x, filters, **more, name=name))


@export("nn.conv3d")
def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):  # noqa: A002
    """3-D convolution of volumes with `filters` [depth, height, width, in, out]."""
    more = {"strides": strides, "dilations": [1] * 5 if dilations is None else dilations, "data_format": data_format}
    return _outer_folded(input, 3, lambda x: raw.Conv3D(x, filters, padding=padding, **more, name=name))


@export("nn.conv1d")
def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):  # noqa: A002
    """1-D convolution of sequences with `filters` [width, in, out], computed as a 2-D one of height 1."""
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW"):
        raise ValueError(f"`data_format` must be 'NWC' or 'NCW'. Received: data_format={data_format}")
    if not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding}.")
    more = attributes(1, padding, data_format, strides=stride, dilations=dilations)
    axis = height_axis(data_format)

    def run(x):
        out = raw.Conv2D(raw.ExpandDims(x, axis), raw.ExpandDims(filters, 0), **more)
        return raw.Squeeze(out, [axis], name=name)

    return _outer_folded(input, 1, run)


@export("nn.convolution")
def convolution(
    input,  # noqa: A002
    filters,
    strides=None,
    padding="VALID",
    data_format=None,
    dilations=None,
    name=None,
):
    """Convolution over as many dimensions as `filters` has before its last two."""
    if not isinstance(padding, str):
        raise TypeError(f"Expected string for argument 'padding' not {padding}.")
    filters = convert(filters)
    rank = rank_of(filters)
    if rank is None:
        rank = rank_of(convert(input))
    if rank is None:
        raise ValueError("convolution: the rank of filters must be known")
    n = rank - 2
    if n not in (1, 2, 3):
        raise ValueError(f"convolution works over 1, 2 or 3 dimensions; filters have rank {rank}")
    op = {1: conv1d, 2: conv2d, 3: conv3d}[n]
    if dilations is not None and strides is not None:
        if np.max(seen(dilations)) > 1 and np.max(seen(strides)) > 1:
            raise ValueError(
                f"`strides > 1` not supported in conjunction with `dilations > 1`. Received: "
                f"strides={strides} and dilations={dilations}"
            )
    fmt = FIRST[n] if data_format is not None and data_format.startswith("NC") else LAST[n]
    if n == 3:
        strides, dilations = (sizes_of(v, n, fmt == FIRST[n], w) for v, w in ((strides, "strides"), (dilations, "dilations")))
    return op(input, filters, strides, padding, fmt, dilations, name=name)


@export("nn.atrous_conv2d")
def atrous_conv2d(value, filters, rate, padding, name=None):
    """2-D convolution with dilation `rate`."""
    if isinstance(rate, int) and rate < 1:
        raise ValueError(f"`rate` must be positive, got {rate}")
    return conv2d(value, filters, 1, padding, "NHWC", rate, name=name)


# ---- transposed -----------------------------------------------------------------------------------------


def _output_shape(output_shape):
    """The output shape as an int32 tensor."""
    shape = convert(output_shape)
    if shape.dtype not in (dtypes.int32, dtypes.int64):
        shape = convert(output_shape, dtypes.int32)
    return shape if shape.dtype is dtypes.int32 else raw.Cast(shape, dtypes.int32)


@export("nn.conv2d_transpose")
def conv2d_transpose(
    input,  # noqa: A002
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format="NHWC",
    dilations=None,
    name=None,
):
    """Transposed 2-D convolution: the gradient of conv2d by its input. `filters` are [height, width, out, in]."""
    more = attributes(2, padding, data_format, strides=strides, dilations=dilations)
    return raw.Conv2DBackpropInput(_output_shape(output_shape), filters, input, **more, name=name)


@export("nn.conv3d_transpose")
def conv3d_transpose(
    input,  # noqa: A002
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format="NDHWC",
    dilations=None,
    name=None,
):
    """Transposed 3-D convolution: the gradient of conv3d with respect to its input. `filters` are [depth, height, width, out,
    in]."""
    more = attributes(3, padding, data_format, strides=strides, dilations=dilations)
    return raw.Conv3DBackpropInputV2(_output_shape(output_shape), filters, input, **more, name=name)


@export("nn.conv1d_transpose")
def conv1d_transpose(
    input,  # noqa: A002
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format="NWC",
    dilations=None,
    name=None,
):
    """Transposed 1-D convolution: the gradient of conv1d with respect to its input. `filters` are [width, out, in]."""
    more = attributes(1, padding, data_format, strides=strides, dilations=dilations)
    axis = height_axis(data_format)
    shape = _output_shape(output_shape)
    shape = raw.ConcatV2([shape[:axis], [1], shape[axis:]], 0)
    out = raw.Conv2DBackpropInput(shape, raw.ExpandDims(filters, 0), raw.ExpandDims(input, axis), **more)
    return raw.Squeeze(out, [axis], name=name)


@export("nn.conv_transpose")
def conv_transpose(
    input,  # noqa: A002
    filters,
    output_shape,
    strides,
    padding="SAME",
    data_format=None,
    dilations=None,
    name=None,
):
    """Transposed convolution over as many dimensions as `filters` has before its last two."""
    n = (rank_of(convert(filters)) or 0) - 2
    if n not in (1, 2, 3):
        raise ValueError(f"conv_transpose works over 1, 2 or 3 dimensions, not {n}")
    op = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}[n]
    fmt = data_format or LAST[n]
    return op(input, filters, output_shape, strides, padding, fmt, dilations, name=name)


@export("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """Transposed atrous_conv2d: its gradient with respect to the input."""
    return conv2d_transpose(value, filters, output_shape, 1, padding, "NHWC", rate, name=name)


# ---- depthwise ------------------------------------------------------------------------------------------


@export("nn.depthwise_conv2d")
def depthwise_conv2d(
    input, filter, strides, padding, data_format=None, dilations=None, name=None  # noqa: A002
):
    """2-D convolution of each channel with its own filters; `filter` is [height, width, in, multiplier]."""
    x, filter = convert(input), convert(filter)
    holes = [1, 1] if dilations is None else [int(seen(d)) for d in dilations]
    first = data_format is not None and data_format.startswith("NC")

    def run(x, padding, wide=(1, 1, 1, 1)):
        word, pairs = padding_of(padding, 2)
        return raw.DepthwiseConv2dNative(x, filter, strides=strides, padding=word, explicit_paddings=pairs,
                                         data_format=data_format or "NHWC", dilations=list(wide), name=name)

    if len(holes) != 2 or min(holes) < 1:
        raise ValueError(f"`dilations` must be two positive numbers. Received: {dilations}")
    if max(holes) == 1:
        return run(x, padding)
    still = all(s == 1 for s in strides)
    if padding in ("SAME", "VALID") and still:
        return run(x, padding, [1, 1, *holes] if first else [1, *holes, 1])
    return by_batches(x, holes, padding, run, list(static_shape(filter)[:2]), [2, 3] if first else [1, 2])


@export("nn.depthwise_conv2d_backprop_input")
def depthwise_conv2d_backprop_input(
    input_sizes,
    filter,  # noqa: A002
    out_backprop,
    strides,
    padding,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
):
    """The gradient of depthwise_conv2d with respect to its input."""
    more = attributes(2, padding, data_format, strides=strides, dilations=dilations)
    return raw.DepthwiseConv2dNativeBackpropInput(input_sizes, filter, out_backprop, **more, name=name)


@export("nn.depthwise_conv2d_backprop_filter")
def depthwise_conv2d_backprop_filter(
    input,  # noqa: A002
    filter_sizes,
    out_backprop,
    strides,
    padding,
    data_format="NHWC",
    dilations=(1, 1, 1, 1),
    name=None,
):
    """The gradient of depthwise_conv2d with respect to its filter."""
    more = attributes(2, padding, data_format, strides=strides, dilations=dilations)
    return raw.DepthwiseConv2dNativeBackpropFilter(input, filter_sizes, out_backprop, **more, name=name)


@export("nn.separable_conv2d")
def separable_conv2d(
    input,  # noqa: A002
    depthwise_filter,
    pointwise_filter,
    strides,
    padding,
    data_format=None,
    dilations=None,
    name=None,
):
    """depthwise_conv2d followed by a 1 x 1 convolution."""
    deep = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(deep, pointwise_filter, 1, "VALID", data_format or "NHWC", name=name)


# ---- morphology -----------------------------------------------------------------------------------------


@export("nn.dilation2d")
def dilation2d(input, filters, strides, padding, data_format, dilations, name=None):  # noqa: A002
    """Greyscale dilation: the maximum of pixel plus filter over each window."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported: {data_format!r}")
    return raw.Dilation2D(
        input, filters, strides=list(strides), rates=list(dilations), padding=padding, name=name
    )


@export("nn.erosion2d")
def erosion2d(value, filters, strides, padding, data_format, dilations, name=None):
    """Greyscale erosion: the minimum of pixel minus filter over each window."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported: {data_format!r}")
    turned = raw.ReverseV2(filters, [0, 1])
    out = raw.Dilation2D(
        raw.Neg(value), turned, strides=list(strides), rates=list(dilations), padding=padding
    )
    return raw.Neg(out, name=name)
