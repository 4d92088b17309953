"""Counts of elements: zero_fraction, histograms, bincount and confusion_matrix."""
from .. import errors
from ..namespace import export
from ..ragged import RaggedTensor
from ..shapes import agree
from .common import SparseTensor, convert, dtypes, known, raw, rank_of, seen_size, static_shape
from .debug import assert_less, assert_non_negative, with_dependencies
from .math import cast, truediv


@export("math.zero_fraction", "nn.zero_fraction")
def zero_fraction(value, name=None):
    """The fraction of elements that are zero, as float32."""
    value = convert(value)
    zeros = raw.Cast(raw.Equal(value, raw.ZerosLike(value)), dtypes.float32)
    return raw.Mean(raw.Reshape(zeros, [-1]), [0], name=name)


@export("histogram_fixed_width_bins")
def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The bin number of each value, for `nbins` bins of equal width over `value_range`."""
    values = convert(values)
    span = convert(value_range)
    bins = convert(nbins, dtypes.int32)
    size = known(bins)
    if size is not None and size <= 0:
        raise errors.InvalidArgumentError(None, None, f"nbins {size} must be > 0.")
    scaled = truediv(raw.Sub(values, span[0]), raw.Sub(span[1], span[0]))
    count = raw.Cast(bins, scaled.dtype)
    index = raw.Floor(raw.Mul(count, scaled))
    index = raw.Maximum(raw.Minimum(index, raw.Sub(count, convert(1, count.dtype))), convert(0, count.dtype))
    return raw.Cast(index, dtypes.int32, name=name)


@export("histogram_fixed_width")
def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The number of values in each of `nbins` bins of equal width over `value_range`."""
    return raw.HistogramFixedWidth(values, value_range, nbins, dtypes.as_dtype(dtype), name=name)


def _bin_count(arr, minlength, maxlength, dtype):
    largest = raw.Max(raw.Reshape(arr, [-1]), [0])
    some = raw.Cast(raw.Greater(raw.Size(arr), 0), dtype)
    size = raw.Mul(some, raw.AddV2(largest, 1))
    if minlength is not None:
        size = raw.Maximum(convert(minlength, dtype), size)
    if maxlength is not None:
        size = raw.Minimum(convert(maxlength, dtype), size)
    return size


@export("math.bincount")
def bincount(
    arr,
    weights=None,
    minlength=None,
    maxlength=None,
    dtype=dtypes.int32,
    name=None,
    axis=None,
    binary_output=False,
):
    """The number of occurrences of each integer in `arr`, or the sum of its `weights`. With axis -1, for each row."""
    if axis not in (None, 0, -1):
        raise ValueError(f"Unsupported value for argument axis={axis}. Only 0 and -1 are supported.")
    if minlength is not None and known(minlength) is not None and known(minlength) < 0:
        raise ValueError(f"minlength must be >= 0, got {minlength}")
    if weights is not None and binary_output:
        raise ValueError("Arguments `binary_output` and `weights` are mutually exclusive.")
    rows = next((kind for kind in (SparseTensor, RaggedTensor) if isinstance(arr, kind)), None)
    if rows is not None and weights is not None and not isinstance(weights, rows):
        raise ValueError(f"Argument `weights` must be a {rows.__name__}, as `arr` is. Received: {type(weights).__name__}")
    numbers = convert(arr if rows is None else _flat(arr))
    if not numbers.dtype.is_integer:
        numbers = raw.Cast(numbers, dtypes.int32)
    size = _bin_count(numbers, minlength, maxlength, numbers.dtype)
    if weights is None:
        weights = convert([], dtypes.as_dtype(dtype))
    else:
        weights = convert(weights if rows is None else _flat(weights))
    if axis == -1 and rows is SparseTensor:
        return raw.SparseBincount(arr.indices, numbers, arr.dense_shape, size, weights, binary_output, name=name)
    if axis == -1 and rows is RaggedTensor:
        return raw.RaggedBincount(arr.row_splits, numbers, size, weights, binary_output, name=name)
    if axis in (None, 0):
        numbers = raw.Reshape(numbers, [-1])
        if static_shape(weights) != (0,):
            weights = raw.Reshape(weights, [-1])
    return raw.DenseBincount(numbers, size, weights, binary_output, name=name)


def _flat(rows):
    """The values of a sparse or ragged tensor as a vector."""
    return rows.values if isinstance(rows, SparseTensor) else rows.flat_values


@export("math.confusion_matrix")
def confusion_matrix(
    labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None
):
    """The confusion matrix: the count, or sum of weights, of each pair of label (row) and prediction (column)."""
    labels, predictions = _squeeze_last(convert(labels), convert(predictions))
    labels, predictions = cast(labels, dtypes.int64), cast(predictions, dtypes.int64)
    checks = [
        assert_non_negative(labels, message="`labels` contains negative values"),
        assert_non_negative(predictions, message="`predictions` contains negative values"),
    ]
    if num_classes is None:
        top = raw.Maximum(raw.Max(predictions, [0]), raw.Max(labels, [0]))
        classes = raw.AddV2(top, 1)
    else:
        classes = cast(convert(num_classes), dtypes.int64)
        checks += [
            assert_less(labels, classes, message="`labels` out of bound"),
            assert_less(predictions, classes, message="`predictions` out of bound"),
        ]
    labels = with_dependencies(checks, labels)
    dtype = dtypes.as_dtype(dtype)
    shape = raw.Pack([classes, classes])
    if weights is None:
        values = raw.Fill(raw.Shape(predictions), convert(1, dtype))
    else:
        values = cast(weights, dtype)
        if rank_of(values) != rank_of(predictions) or not agree(values.shape, predictions.shape):
            values = raw.Mul(values, raw.Fill(raw.Shape(predictions), convert(1, dtype)))
    return raw.ScatterNd(raw.Pack([labels, predictions], axis=1), values, shape, name=name)


def _squeeze_last(labels, predictions):
    """Removes a last dimension of size 1 that only one of them has."""
    a, b = static_shape(labels), static_shape(predictions)
    if a is not None and b is not None:
        if len(b) == len(a) + 1 and seen_size(predictions, -1) in (1, None):
            predictions = raw.Squeeze(predictions, [-1])
        elif len(a) == len(b) + 1 and seen_size(labels, -1) in (1, None):
            labels = raw.Squeeze(labels, [-1])
    return labels, predictions
