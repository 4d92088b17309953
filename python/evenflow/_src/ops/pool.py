"""Pooling: the maximum or the mean of each window."""
from ..namespace import export
from ..shapes import TensorShape
from .common import convert, dtypes, seen, np, raw, rank_of, static_shape
from .window import FIRST, LAST, attributes, by_batches, height_axis, sizes_of


def _pool(n, op, input, ksize, strides, padding, data_format, name):  # noqa: A002
    """Pooling over n dimensions."""
    words = op is raw.AvgPool  # AvgPool has no explicit paddings
    more = attributes(n, "VALID" if words else padding, data_format, ksize=ksize, strides=strides)
    if words:
        del more["explicit_paddings"]
        more["padding"] = padding
    if n > 1:
        return op(input, **more, name=name)
    axis = height_axis(data_format)
    return raw.Squeeze(op(raw.ExpandDims(input, axis), **more), [axis], name=name)


@export("nn.max_pool1d")
def max_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):  # noqa: A002
    """The maximum of each window of a sequence."""
    return _pool(1, raw.MaxPool, input, ksize, strides, padding, data_format, name)


@export("nn.max_pool2d")
def max_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):  # noqa: A002
    """The maximum of each window of an image."""
    return _pool(2, raw.MaxPool, input, ksize, strides, padding, data_format, name)


@export("nn.max_pool3d")
def max_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):  # noqa: A002
    """The maximum of each window of a volume."""
    return _pool(3, raw.MaxPool3D, input, ksize, strides, padding, data_format, name)


@export("nn.avg_pool1d")
def avg_pool1d(input, ksize, strides, padding, data_format="NWC", name=None):  # noqa: A002
    """The mean of each window of a sequence."""
    return _pool(1, raw.AvgPool, input, ksize, strides, padding, data_format, name)


@export("nn.avg_pool2d")
def avg_pool2d(input, ksize, strides, padding, data_format="NHWC", name=None):  # noqa: A002
    """The mean of each window of an image."""
    return _pool(2, raw.AvgPool, input, ksize, strides, padding, data_format, name)


@export("nn.avg_pool3d")
def avg_pool3d(input, ksize, strides, padding, data_format="NDHWC", name=None):  # noqa: A002
    """The mean of each window of a volume."""
    return _pool(3, raw.AvgPool3D, input, ksize, strides, padding, data_format, name)


def _spatial(input, data_format):  # noqa: A002
    rank = rank_of(input)
    n = rank - 2 if rank is not None else len(data_format or "NHWC") - 2
    if n not in (1, 2, 3):
        raise ValueError(f"`input.shape.rank` must be 3, 4 or 5. Received: rank {rank}")
    return n


@export("nn.max_pool")
def max_pool(input, ksize, strides, padding, data_format=None, name=None):  # noqa: A002
    """The maximum of each window, over 1, 2 or 3 dimensions."""
    x = convert(input)
    n = _spatial(x, data_format)
    op = {1: max_pool1d, 2: max_pool2d, 3: max_pool3d}[n]
    return op(x, ksize, strides, padding, data_format or LAST[n], name)


@export("nn.avg_pool")
def avg_pool(input, ksize, strides, padding, data_format=None, name=None):  # noqa: A002
    """The mean of each window, over 1, 2 or 3 dimensions."""
    x = convert(input)
    n = _spatial(x, data_format)
    op = {1: avg_pool1d, 2: avg_pool2d, 3: avg_pool3d}[n]
    return op(x, ksize, strides, padding, data_format or LAST[n], name)


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
    """(the maximum of each window, its index in the flattened image)."""
    if data_format != "NHWC":
        raise ValueError(f"`data_format` values other than 'NHWC' are not supported: {data_format!r}")
    return raw.MaxPoolWithArgmax(
        input,
        ksize=sizes_of(ksize, 2, False, "ksize"),
        strides=sizes_of(strides, 2, False, "strides"),
        padding=padding,
        Targmax=dtypes.as_dtype(output_dtype),
        include_batch_in_index=include_batch_in_index,
        name=name,
    )


def _steps(given, n, word):
    """One positive integer for each dimension: those that are given, or ones."""
    if given is None:
        return [1] * n
    if len(given) != n:
        raise ValueError(f"`len({word})` should be {n}. Received: {word}={given}")
    steps = [int(v) for v in np.array(given, dtype=np.int32)]
    if min(steps) < 1:
        raise ValueError(f"all values of `{word}` must be positive. Received: {given}")
    return steps


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
    """Pooling ("MAX" or "AVG") over windows, which may be dilated by `dilations`."""
    x = convert(input)
    n = len(window_shape)
    if n not in (1, 2, 3):
        raise ValueError(f"`len(window_shape)` must be 1, 2 or 3. Received: {window_shape}")
    TensorShape(static_shape(x)).with_rank(n + 2)
    holes = _steps(dilations, n, "dilation_rate")
    steps = _steps(strides, n, "strides")
    if max(steps) > 1 and max(holes) > 1:
        raise ValueError(f"`strides > 1` not supported in conjunction with `dilation_rate > 1`: {strides}, {dilations}")
    if padding == "SAME" and max(holes) > 1:
        raise ValueError(f"pooling with 'SAME' padding is not implemented for `dilation_rate` > 1. Received: {dilations}")
    if any(s > w for s, w in zip(steps, window_shape)):
        raise ValueError(f"`strides` > `window_shape` not supported. Received: {strides}, {window_shape}")
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"`pooling_type` must be MAX or AVG. Received: {pooling_type!r}")
    first = data_format is not None and data_format.startswith("NC")
    op = max_pool if pooling_type == "MAX" else avg_pool
    if max(holes) == 1:
        return op(x, list(window_shape), steps, padding, FIRST[n] if first else LAST[n], name)

    def run(moved, word):
        return op(moved, list(window_shape), [1] * n, word, FIRST[n] if first else LAST[n], name)

    axes = list(range(2, n + 2) if first else range(1, n + 1))
    return by_batches(x, holes, padding, run, list(window_shape), axes)


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
    """Applies `op(input, num_spatial_dims, padding)` with a dilated window, by moving space to the batch."""
    x = convert(input)
    holes = [int(v) for v in seen(dilation_rate).reshape(-1)]
    n = len(holes)
    first = data_format is not None and data_format.startswith("NC")
    if spatial_dims is None:
        spatial_dims = list(range(2, n + 2) if first else range(1, n + 1))
    if max(holes) == 1:
        return op(x, n, padding)
    window = None if filter_shape is None else [int(v) for v in seen(filter_shape)[:n]]
    if padding == "SAME" and window is None:
        raise ValueError("`filter_shape` must be given for SAME padding")
    return by_batches(x, holes, padding, lambda m, word: op(m, n, word), window, spatial_dims)
