"""Reductions of ragged tensors: along rows, along columns, inside the innermost values, or of all.

Along a ragged axis every reduction is a segment reduction: each flat value belongs to one element of the result.
"""
from ..ragged import _KEY, RaggedTensor, _splits, as_ragged, ragged_indices
from .common import convert, dtypes, seen, np, raw
from .ragged_axes import expand_dims
from .reduce import reduce_logsumexp

_SEGMENT = {
    "Sum": raw.UnsortedSegmentSum,
    "Prod": raw.UnsortedSegmentProd,
    "Max": raw.UnsortedSegmentMax,
    "Min": raw.UnsortedSegmentMin,
}


def reduce(word, x, axis, keepdims, separator=""):
    """`word` (Sum, Mean, ..., LogSumExp, Join) of a RaggedTensor along one axis, several, or all."""
    x = as_ragged(x)
    if word == "Mean" and x.dtype.is_integer:
        x = x.with_flat_values(raw.Cast(x.flat_values, dtypes.float64))
    if axis is None:
        flat = x.flat_values
        axes = list(range(len(flat._dims)))
        whole = _dense(word, flat, axes[::-1] if word == "Join" else axes, False, separator)
        return raw.Reshape(whole, [1] * x.shape.rank) if keepdims else whole
    rank = x.shape.rank
    axes = [int(a) for a in np.ravel(seen(axis))]
    if rank is None and any(a < 0 for a in axes):
        raise ValueError("an axis counted from the end of a ragged tensor of unknown rank")
    axes = sorted({a + rank if a < 0 else a for a in axes}, reverse=True)
    if any(a < 0 or (rank is not None and a >= rank) for a in axes):
        raise ValueError(f"axis {axis} is out of range for a ragged tensor of rank {rank}")
    if word == "Mean" and len(axes) > 1:  # not the mean of means, because the row lengths differ
        total = reduce("Sum", x, axes, keepdims)
        ones = x.with_flat_values(raw.OnesLike(x.flat_values))
        return total / reduce("Sum", ones, axes, keepdims)
    for a in axes:  # the innermost first, so that outer axes keep their numbers
        x = _along(word, x, a, keepdims, separator)
    return x


def variance(x, axis, keepdims):
    """The mean of squares minus the square of the mean, which rounding may make negative."""
    x = as_ragged(x)
    if x.dtype.is_complex:
        raise ValueError("reduce_variance is not supported for RaggedTensors with complex dtypes.")
    square = x.with_flat_values(raw.Square(x.flat_values))
    mean = reduce("Mean", x, axis, keepdims)
    found = reduce("Mean", square, axis, keepdims) - mean * mean
    return raw.Maximum(found, convert(0, found.dtype))


def _dense(word, x, axes, keepdims, separator):
    if word == "Join":
        return raw.ReduceJoin(x, axes, bool(keepdims), separator)
    if word == "LogSumExp":
        return reduce_logsumexp(x, axes, keepdims)
    return getattr(raw, word)(x, axes, bool(keepdims))


def _along(word, x, axis, keepdims, separator):
    if not isinstance(x, RaggedTensor):
        return _dense(word, x, [axis], keepdims, separator)
    if axis > 1:
        return x.with_values(_along(word, x.values, axis - 1, keepdims, separator))
    if axis == 1:
        made = _rows(word, x.values, x.value_rowids(), x.nrows(), separator)
    else:
        lengths = x.row_lengths()
        _, column = ragged_indices(raw.ZerosLike(lengths), lengths)
        width = raw.Max(raw.ConcatV2([lengths, convert([0], lengths.dtype)], 0), [0])
        made = _rows(word, x.values, column, width, separator)
    if not keepdims:
        return made
    if not isinstance(made, RaggedTensor):
        return raw.ExpandDims(made, axis)
    return expand_dims(made, axis)


def _rows(word, values, ids, count, separator):
    """Reduces rows with the same id to one; those of a ragged tensor column by column."""
    if not isinstance(values, RaggedTensor):
        return _segments(word, values, ids, count, separator)
    lengths = values.row_lengths()
    _, column = ragged_indices(raw.ZerosLike(lengths), lengths)
    width = raw.Maximum(raw.UnsortedSegmentMax(lengths, ids, count), convert(0, lengths.dtype))
    splits = _splits(width)
    first = raw.GatherV2(splits, raw.GatherV2(ids, values.value_rowids(), 0), 0)
    inner = _rows(word, values.values, raw.AddV2(first, column), splits[-1], separator)
    return RaggedTensor(inner, splits, _KEY)


def _segments(word, values, ids, count, separator):
    if word == "Join":
        return raw.UnsortedSegmentJoin(values, ids, count, separator)
    if word in ("All", "Any"):
        found = raw.Cast(values, dtypes.int32)
        merged = (raw.UnsortedSegmentMin if word == "All" else raw.UnsortedSegmentMax)(found, ids, count)
        return raw.Greater(merged, convert(0))
    if word == "Mean":
        ones = raw.OnesLike(values)
        return raw.RealDiv(raw.UnsortedSegmentSum(values, ids, count),
                           raw.UnsortedSegmentSum(ones, ids, count))
    if word == "LogSumExp":  # the maximum of each segment is subtracted first, as for a dense tensor
        top = raw.UnsortedSegmentMax(values, ids, count)
        top = raw.StopGradient(raw.SelectV2(raw.IsFinite(top), top, raw.ZerosLike(top)))
        apart = raw.Exp(raw.Sub(values, raw.GatherV2(top, ids, 0)))
        return raw.AddV2(raw.Log(raw.UnsortedSegmentSum(apart, ids, count)), top)
    return _SEGMENT[word](values, ids, count)
