"""Reductions of ragged tensors: along rows, along columns, inside the innermost values, or of all."""
from ..ragged import RaggedTensor, ragged_indices
from .common import convert, dtypes, seen, np, raw

_SEGMENT = {
    "Sum": raw.UnsortedSegmentSum,
    "Prod": raw.UnsortedSegmentProd,
    "Max": raw.UnsortedSegmentMax,
    "Min": raw.UnsortedSegmentMin,
}


def reduce(word, x, axis, keepdims):
    """`word` (Sum, Mean, ...) of a RaggedTensor along one axis, several, or all."""
    if axis is None:
        flat = x.flat_values
        whole = _dense(word, flat, list(range(len(flat._dims))), False)
        return raw.Reshape(whole, [1] * x.shape.rank) if keepdims else whole
    rank = x.shape.rank
    axes = [int(a) for a in np.ravel(seen(axis))]
    if rank is None and any(a < 0 for a in axes):
        raise ValueError("an axis counted from the end of a ragged tensor of unknown rank")
    axes = sorted({a + rank if a < 0 else a for a in axes}, reverse=True)
    if any(a < 0 or (rank is not None and a >= rank) for a in axes):
        raise ValueError(f"axis {axis} is out of range for a ragged tensor of rank {rank}")
    if word == "Mean" and len(axes) > 1:  # not the mean of means: rows have their own lengths
        total = reduce("Sum", x, axes, keepdims)
        ones = x.with_flat_values(raw.OnesLike(x.flat_values))
        return total / reduce("Sum", ones, axes, keepdims)
    for a in axes:  # the innermost first: outer axes keep their numbers
        x = _along(word, x, a, keepdims)
    return x


def _dense(word, x, axes, keepdims):
    return getattr(raw, word)(x, axes, bool(keepdims))


def _along(word, x, axis, keepdims):
    if not isinstance(x, RaggedTensor):
        return _dense(word, x, [axis], keepdims)
    if axis > 1:
        return x.with_values(_along(word, x.values, axis - 1, keepdims))
    if isinstance(x.values, RaggedTensor):
        if axis == 0 or word == "Mean":
            raise NotImplementedError(
                f"reduce_{word.lower()} along axis {axis} of a ragged tensor whose rows are ragged "
                "themselves; reduce the inner axes first"
            )
        return _rows_of_rows(word, x, keepdims)
    if axis == 1:
        made = _segments(word, x.values, x.value_rowids(), x.nrows())
        return raw.ExpandDims(made, 1) if keepdims else made
    lengths = x.row_lengths()
    _, column = ragged_indices(raw.ZerosLike(lengths), lengths)
    width = raw.Max(raw.ConcatV2([lengths, convert([0], lengths.dtype)], 0), [0])
    made = _segments(word, x.values, column, width)
    return raw.ExpandDims(made, 0) if keepdims else made


def _rows_of_rows(word, x, keepdims):
    """Axis 1 of rows that are ragged: each row's inner rows merged column by column."""
    inner = x.values
    if isinstance(inner.values, RaggedTensor):
        raise NotImplementedError("reduction of axis 1 above two more ragged axes")
    lengths = inner.row_lengths()
    _, column = ragged_indices(raw.ZerosLike(lengths), lengths)
    row = raw.GatherV2(x.value_rowids(), inner.value_rowids(), 0)
    width = raw.Maximum(raw.UnsortedSegmentMax(lengths, x.value_rowids(), x.nrows()),
                        convert(0, lengths.dtype))
    made = RaggedTensor.from_row_lengths(
        raw.Fill(raw.Reshape(raw.Sum(width, [0]), [1]), convert(0, dtypes.int32)), width, validate=False)
    place = raw.AddV2(raw.GatherV2(made.row_starts(), row, 0), column)
    out = made.with_values(_segments(word, inner.values, place, raw.Sum(width, [0])))
    if not keepdims:
        return out
    return RaggedTensor.from_uniform_row_length(out, 1, validate=False)


def _segments(word, values, ids, count):
    if word in ("All", "Any"):
        found = raw.Cast(values, dtypes.int32)
        merged = (raw.UnsortedSegmentMin if word == "All" else raw.UnsortedSegmentMax)(found, ids, count)
        return raw.Greater(merged, convert(0))
    if word == "Mean":
        ones = raw.OnesLike(values)
        return raw.RealDiv(raw.UnsortedSegmentSum(values, ids, count),
                           raw.UnsortedSegmentSum(ones, ids, count))
    return _SEGMENT[word](values, ids, count)
