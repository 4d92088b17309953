"""Convolutions and pooling: strides, dilations and paddings spelt in TensorFlow's many ways."""
from .. import errors
from ..namespace import export
from .common import convert, dtypes, known, np, raw, rank_of, static_shape

_LAST = {1: "NWC", 2: "NHWC", 3: "NDHWC"}
_FIRST = {1: "NCW", 2: "NCHW", 3: "NCDHW"}


def _format(data_format, n, word="data_format"):
    """Whether channels come first; ValueError for a format that is none of rank n's."""
    if data_format is None or data_format == _LAST[n]:
        return False
    if data_format == _FIRST[n]:
        return True
    if data_format.startswith("NC"):
        return True
    if data_format.startswith("N") and data_format.endswith("C"):
        return False
    raise errors.InvalidGraphError(
        f"`{word}` must be one of {_LAST[n]!r}, {_FIRST[n]!r}. Received: {data_format!r}"
    )


def _full(value, n, first, word):
    """A size for each dimension, of 1, n or n+2 numbers: channels and batch get 1."""
    if value is None:
        value = 1
    if isinstance(value, int) or not hasattr(value, "__iter__"):
        value = [int(known(value))]
    value = [int(known(v)) for v in value]
    if len(value) == n + 2:
        return value
    if len(value) == 1:
        value = value * n
    elif len(value) != n:
        raise ValueError(
            f"`{word}` should be of length 1, {n} or {n + 2}. Received: {word}={value} of length "
            f"{len(value)}"
        )
    return [1, 1] + value if first else [1] + value + [1]


def _padding(padding, n):
    """Padding as the op takes it: a word and, for EXPLICIT, a flat list."""
    if isinstance(padding, str):
        return padding, []
    pairs = list(padding)
    if len(pairs) != n + 2 or any(len(p) != 2 for p in pairs):
        raise ValueError(
            f"padding must be a string or a list of {n + 2} pairs (before, after). Received: {padding}"
        )
    return "EXPLICIT", [int(v) for p in pairs for v in p]


def _outer_folded(x, n, run):
    """Runs `run` on a tensor with all its batch dimensions folded into one."""
    x = convert(x)
    rank = rank_of(x)
    if rank is None or rank == n + 2:
        return run(x)
    if rank < n + 2:
        return run(x)  # the op says what is wrong
    sizes = raw.Shape(x)
    outer = sizes[: rank - n - 1]
    inner = sizes[rank - n - 1 :]
    out = run(raw.Reshape(x, raw.ConcatV2([[-1], inner], 0)))
    return raw.Reshape(out, raw.ConcatV2([outer, raw.Shape(out)[1:]], 0))


@export("nn.conv2d")
def conv2d(input, filters, strides, padding, data_format="NHWC", dilations=None, name=None):  # noqa: A002
    """2-D convolution of images with `filters` [height, width, in, out]."""
    first = _format(data_format, 2)
    word, explicit = _padding(padding, 2)
    steps, holes = _full(strides, 2, first, "strides"), _full(dilations, 2, first, "dilations")

    def run(x):
        return raw.Conv2D(
            x,
            filters,
            strides=steps,
            padding=word,
            explicit_paddings=explicit,
            data_format="NCHW" if first else "NHWC",
            dilations=holes,
            name=name,
        )

    return _outer_folded(input, 2, run)


@export("nn.conv3d")
def conv3d(input, filters, strides, padding, data_format="NDHWC", dilations=None, name=None):  # noqa: A002
    """3-D convolution of volumes with `filters` [depth, height, width, in, out]."""
    first = _format(data_format, 3)
    steps, holes = _full(strides, 3, first, "strides"), _full(dilations, 3, first, "dilations")

    def run(x):
        return raw.Conv3D(
            x,
            filters,
            strides=steps,
            padding=padding,
            data_format="NCDHW" if first else "NDHWC",
            dilations=holes,
            name=name,
        )

    return _outer_folded(input, 3, run)


@export("nn.conv1d")
def conv1d(input, filters, stride, padding, data_format="NWC", dilations=None, name=None):  # noqa: A002
    """1-D convolution of sequences with `filters` [width, in, out]: a 2-D one of height 1."""
    first = _format(data_format, 1)
    steps, holes = _full(stride, 1, first, "stride"), _full(dilations, 1, first, "dilations")
    axis = 2 if first else 1
    steps.insert(axis, 1)
    holes.insert(axis, 1)
    word, explicit = padding, []
    if not isinstance(padding, str):
        pairs = [list(p) for p in padding]
        pairs.insert(axis, [0, 0])
        word, explicit = _padding(pairs, 2)

    def run(x):
        wide = raw.ExpandDims(x, axis)
        out = raw.Conv2D(
            wide,
            raw.ExpandDims(filters, 0),
            strides=steps,
            padding=word,
            explicit_paddings=explicit,
            data_format="NCHW" if first else "NHWC",
            dilations=holes,
        )
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
        if np.max(known(dilations)) > 1 and np.max(known(strides)) > 1:
            raise ValueError(
                f"`strides > 1` not supported in conjunction with `dilations > 1`. Received: "
                f"strides={strides} and dilations={dilations}"
            )
    fmt = _FIRST[n] if data_format is not None and data_format.startswith("NC") else _LAST[n]
    return op(input, filters, strides, padding, fmt, dilations, name=name)


@export("nn.atrous_conv2d")
def atrous_conv2d(value, filters, rate, padding, name=None):
    """2-D convolution with `rate` - 1 holes between the taps of the filter."""
    return conv2d(value, filters, 1, padding, "NHWC", rate, name=name)


# ---- transposed -----------------------------------------------------------------------------------------


def _output_shape(output_shape, n):
    """The whole output shape, as int32."""
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
    """What the gradient of conv2d does; `filters` are [height, width, out, in]."""
    first = _format(data_format, 2)
    word, explicit = _padding(padding, 2)
    return raw.Conv2DBackpropInput(
        _output_shape(output_shape, 2),
        filters,
        input,
        strides=_full(strides, 2, first, "strides"),
        padding=word,
        explicit_paddings=explicit,
        data_format="NCHW" if first else "NHWC",
        dilations=_full(dilations, 2, first, "dilations"),
        name=name,
    )


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
    """What the gradient of conv3d does; `filters` are [depth, height, width, out, in]."""
    first = _format(data_format, 3)
    return raw.Conv3DBackpropInputV2(
        _output_shape(output_shape, 3),
        filters,
        input,
        strides=_full(strides, 3, first, "strides"),
        padding=padding,
        data_format="NCDHW" if first else "NDHWC",
        dilations=_full(dilations, 3, first, "dilations"),
        name=name,
    )


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
    """What the gradient of conv1d does; `filters` are [width, out, in]."""
    first = _format(data_format, 1)
    axis = 2 if first else 1
    steps, holes = _full(strides, 1, first, "strides"), _full(dilations, 1, first, "dilations")
    steps.insert(axis, 1)
    holes.insert(axis, 1)
    shape = _output_shape(output_shape, 1)
    shape = raw.ConcatV2([shape[:axis], [1], shape[axis:]], 0)
    out = raw.Conv2DBackpropInput(
        shape,
        raw.ExpandDims(filters, 0),
        raw.ExpandDims(input, axis),
        strides=steps,
        padding=padding,
        data_format="NCHW" if first else "NHWC",
        dilations=holes,
    )
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
    fmt = data_format or _LAST[n]
    return op(input, filters, output_shape, strides, padding, fmt, dilations, name=name)


@export("nn.atrous_conv2d_transpose")
def atrous_conv2d_transpose(value, filters, output_shape, rate, padding, name=None):
    """What the gradient of atrous_conv2d does."""
    return conv2d_transpose(value, filters, output_shape, 1, padding, "NHWC", rate, name=name)


# ---- depthwise ------------------------------------------------------------------------------------------


@export("nn.depthwise_conv2d")
def depthwise_conv2d(
    input, filter, strides, padding, data_format=None, dilations=None, name=None  # noqa: A002
):
    """2-D convolution of each channel by filters of its own [height, width, in, multiplier]."""
    first = _format(data_format, 2)
    word, explicit = _padding(padding, 2)
    holes = _full(dilations, 2, first, "dilations")
    steps = _full(strides, 2, first, "strides")
    return raw.DepthwiseConv2dNative(
        input,
        filter,
        strides=steps,
        padding=word,
        explicit_paddings=explicit,
        data_format="NCHW" if first else "NHWC",
        dilations=holes,
        name=name,
    )


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
    word, explicit = _padding(padding, 2)
    return raw.DepthwiseConv2dNativeBackpropInput(
        input_sizes,
        filter,
        out_backprop,
        strides=list(strides),
        padding=word,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


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
    word, explicit = _padding(padding, 2)
    return raw.DepthwiseConv2dNativeBackpropFilter(
        input,
        filter_sizes,
        out_backprop,
        strides=list(strides),
        padding=word,
        explicit_paddings=explicit,
        data_format=data_format,
        dilations=list(dilations),
        name=name,
    )


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
    """depthwise_conv2d followed by a convolution of 1 x 1."""
    deep = depthwise_conv2d(input, depthwise_filter, strides, padding, data_format, dilations)
    return conv2d(deep, pointwise_filter, 1, "VALID", data_format or "NHWC", name=name)


# ---- morphology -----------------------------------------------------------------------------------------


@export("nn.dilation2d")
def dilation2d(input, filters, strides, padding, data_format, dilations, name=None):  # noqa: A002
    """Grey-scale dilation: the largest of neighbour plus filter."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported: {data_format!r}")
    return raw.Dilation2D(
        input, filters, strides=list(strides), rates=list(dilations), padding=padding, name=name
    )


@export("nn.erosion2d")
def erosion2d(value, filters, strides, padding, data_format, dilations, name=None):
    """Grey-scale erosion: the smallest of neighbour minus filter."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported: {data_format!r}")
    turned = raw.ReverseV2(filters, [0, 1])
    out = raw.Dilation2D(
        raw.Neg(value), turned, strides=list(strides), rates=list(dilations), padding=padding
    )
    return raw.Neg(out, name=name)


# ---- pooling --------------------------------------------------------------------------------------------


def _pool2d(op, input, ksize, strides, padding, data_format, name, explicit_ok):  # noqa: A002
    first = _format(data_format, 2)
    word, explicit = _padding(padding, 2)
    ksize, strides = _full(ksize, 2, first, "ksize"), _full(strides, 2, first, "strides")
    more = {"explicit_paddings": explicit} if explicit_ok else {}
    if explicit and not explicit_ok:
        raise ValueError("explicit paddings are for max_pool and convolutions only")
    return op(
        input,
        ksize=ksize,
        strides=strides,
        padding=word,
        data_format="NCHW" if first else "NHWC",
        name=name,
        **more,
    )


def _pool1d(op, input, ksize, strides, padding, data_format, name):  # noqa: A002
    first = _format(data_format, 1)
    axis = 2 if first else 1
    ksize, strides = _full(ksize, 1, first, "ksize"), _full(strides, 1, first, "strides")
    ksize.insert(axis, 1)
    strides.insert(axis, 1)
    more = {}
    if not isinstance(padding, str):
        pairs = [list(p) for p in padding]
        pairs.insert(axis, [0, 0])
        padding, more["explicit_paddings"] = _padding(pairs, 2)
    out = op(
        raw.ExpandDims(input, axis),
        ksize=ksize,
        strides=strides,
        padding=padding,
        data_format="NCHW" if first else "NHWC",
        **more,
    )
    return raw.Squeeze(out, [axis], name=name)


def _pool3d(op, input, ksize, strides, padding, data_format, name):  # noqa: A002
    first = _format(data_format, 3)
    return op(
        input,
        ksize=_full(ksize, 3, first, "ksize"),
        strides=_full(strides, 3, first, "strides"),
        padding=padding,
        data_format="NCDHW" if first else "NDHWC",
        name=name,
    )


@export("nn.max_pool1d")
def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):  # noqa: A002
    """The largest of each window of a sequence."""
    return _pool1d(raw.MaxPool, input, ksize, strides, padding, data_format, name)


@export("nn.max_pool2d")
def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):  # noqa: A002
    """The largest of each window of an image."""
    return _pool2d(raw.MaxPool, input, ksize, strides, padding, data_format, name, True)


@export("nn.max_pool3d")
def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):  # noqa: A002
    """The largest of each window of a volume."""
    return _pool3d(raw.MaxPool3D, input, ksize, strides, padding, data_format, name)


@export("nn.avg_pool1d")
def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):  # noqa: A002
    """The mean of each window of a sequence."""
    return _pool1d(raw.AvgPool, input, ksize, strides, padding, data_format, name)


@export("nn.avg_pool2d")
def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):  # noqa: A002
    """The mean of each window of an image."""
    return _pool2d(raw.AvgPool, input, ksize, strides, padding, data_format, name, False)


@export("nn.avg_pool3d")
def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):  # noqa: A002
    """The mean of each window of a volume."""
    return _pool3d(raw.AvgPool3D, input, ksize, strides, padding, data_format, name)


def _spatial(input, data_format):  # noqa: A002
    rank = rank_of(input)
    n = rank - 2 if rank is not None else len(data_format or "NHWC") - 2
    if n not in (1, 2, 3):
        raise ValueError(f"`input.shape.rank` must be 3, 4 or 5. Received: rank {rank}")
    return n


@export("nn.max_pool")
def max_pool(input, ksize, strides, padding, data_format=None, name=None):  # noqa: A002
    """The largest of each window, over 1, 2 or 3 dimensions."""
    x = convert(input)
    n = _spatial(x, data_format)
    op = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}[n]
    return op(x, ksize, strides, padding, data_format or _LAST[n], name)


@export("nn.avg_pool")
def avg_pool(input, ksize, strides, padding, data_format=None, name=None):  # noqa: A002
    """The mean of each window, over 1, 2 or 3 dimensions."""
    x = convert(input)
    n = _spatial(x, data_format)
    op = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}[n]
    return op(x, ksize, strides, padding, data_format or _LAST[n], name)


@export("nn.max_pool_with_argmax")
def max_pool_with_argmax(
    input,  # noqa: A002
    ksize,
    strides,
    padding,
    data_format="NHWC",
    output_dtype=dtypes.int64,
    include_batch_in_index=False,
    name=None,
):
    """The largest of each window and its place in the flattened image."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported: {data_format!r}")
    return raw.MaxPoolWithArgmax(
        input,
        ksize=_full(ksize, 2, False, "ksize"),
        strides=_full(strides, 2, False, "strides"),
        padding=padding,
        Targmax=dtypes.as_dtype(output_dtype),
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


@export("nn.pool")
def pool(
    input,  # noqa: A002
    window_shape,
    pooling_type,
    strides=None,
    padding="VALID",
    data_format=None,
    dilations=None,
    name=None,
):
    """Pooling ("MAX" or "AVG") over windows, with holes between their elements by `dilations`."""
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"`pooling_type` must be MAX or AVG. Received: {pooling_type!r}")
    x = convert(input)
    n = len(window_shape)
    first = data_format is not None and data_format.startswith("NC")
    holes = [1] * n if dilations is None else [int(d) for d in dilations]
    steps = [1] * n if strides is None else [int(s) for s in strides]
    op = max_pool if pooling_type == "MAX" else avg_pool
    if max(holes) == 1:
        fmt = _FIRST[n] if first else _LAST[n]
        return op(x, list(window_shape), steps, padding, fmt, name)
    if max(steps) > 1:
        raise ValueError(
            f"`strides` > 1 not supported in conjunction with `dilations` > 1: {strides}, {dilations}"
        )

    def run(moved, word):
        return op(moved, list(window_shape), [1] * n, word, _FIRST[n] if first else _LAST[n], name)

    axes = list(range(2, n + 2) if first else range(1, n + 1))
    return _by_batches(x, holes, padding, run, list(window_shape), axes)


def _by_batches(x, holes, padding, run, window, axes):
    """An op with holes in its window, as an op without on every hole-th element: the elements of
    each phase become a batch of their own."""
    from .array import required_space_to_batch_paddings

    dims = static_shape(x)
    sizes = [dims[a] for a in axes] if dims is not None else [None]
    sizes = sizes if None not in sizes else raw.GatherV2(raw.Shape(x), axes, 0)
    base = None
    if padding == "SAME":
        wide = [(w - 1) * h for w, h in zip(window, holes)]
        base = [[w // 2, w - w // 2] for w in wide]
    elif padding != "VALID":
        raise ValueError(f"Invalid padding method {padding!r}")
    pads, crops = required_space_to_batch_paddings(sizes, holes, base)
    lead = min(axes) - 1  # dimensions between batch and space: channels, if they come first
    full = [1] * lead + list(holes)
    pads = raw.Pad(pads, [[lead, 0], [0, 0]])
    crops = raw.Pad(crops, [[lead, 0], [0, 0]])
    moved = raw.SpaceToBatchND(x, full, pads)
    return raw.BatchToSpaceND(run(moved, "VALID"), full, crops)


@export("nn.with_space_to_batch")
def with_space_to_batch(
    input,  # noqa: A002
    dilation_rate,
    padding,
    op,
    filter_shape=None,
    spatial_dims=None,
    data_format=None,
):
    """`op(input, num_spatial_dims, padding)` with holes in its window (see `nn.pool`)."""
    x = convert(input)
    holes = [int(v) for v in known(dilation_rate).reshape(-1)]
    n = len(holes)
    first = data_format is not None and data_format.startswith("NC")
    if spatial_dims is None:
        spatial_dims = list(range(2, n + 2) if first else range(1, n + 1))
    if max(holes) == 1:
        return op(x, n, padding)
    window = None if filter_shape is None else [int(v) for v in known(filter_shape)[:n]]
    if padding == "SAME" and window is None:
        raise ValueError("`filter_shape` must be given for SAME padding")
    return _by_batches(x, holes, padding, lambda m, word: op(m, n, word), window, spatial_dims)
