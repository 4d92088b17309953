"""Array ops for ragged tensors: split, dynamic_partition, cumulative sums, matmul, gather_nd, formatting as text.

Each handler overrides an op for ragged arguments, as those in ragged_dispatch.py do.
"""
import builtins

from .. import errors
from ..namespace import export
from ..ragged import RaggedTensor, as_ragged, is_ragged, ragged_indices
from . import index, math, matmul as dense
from .common import convert, dtypes, known, raw, rank_of, static_shape
from .debug import assert_equal, assert_less, with_dependencies
from .ragged import _same_rows, gather, getitem, to_sparse
from .ragged_axes import axis_of
from .ragged_dispatch import _with_levels, handle_ragged
from .sort import argsort


def _checked(checks, x):
    return with_dependencies([c for c in checks if c is not None], x)


def _where(op, args, kwargs):
    """The coordinates of the true elements, row by row."""
    x = as_ragged(args[0])
    whole = to_sparse(x)
    return raw.GatherV2(whole.indices, raw.Where(whole.values)[:, 0], 0)


def _reshape(op, args, kwargs):
    return op(as_ragged(args[0]).flat_values, *args[1:], **kwargs)


# ---- split ----------------------------------------------------------------------------------------------------


def _pieces(x, axis, sizes):
    """Splits `x` along `axis` into pieces of the given sizes."""
    axis = axis_of(axis, x.shape.rank)
    if axis > x.ragged_rank:
        parts = raw.SplitV(x.flat_values, convert(sizes), axis - x.ragged_rank, len(sizes))
        return [x.with_flat_values(part) for part in parts]
    if axis > 0:
        raise ValueError(f"axis={axis} is a ragged dimension: a ragged tensor is split along dimension 0 or a uniform inner one")
    ends = [builtins.sum(sizes[:k]) for k in range(len(sizes) + 1)]
    return [getitem(x, slice(a, b)) for a, b in zip(ends, ends[1:])]


def _split(op, args, kwargs):
    axis, value, count = args[0], as_ragged(args[1]), kwargs.get("num_split", args[2] if len(args) > 2 else None)
    axis = axis_of(axis, value.shape.rank)
    size = value.shape[axis]
    if size is None:
        raise ValueError("a ragged tensor is split into equal pieces only along a dimension of known size")
    if count < 1 or size % count:
        raise errors.InvalidArgumentError(None, None, f"Cannot exactly split axis {axis} of size {size} into {count} pieces")
    return _pieces(value, axis, [size // count] * count)


def _split_sizes(op, args, kwargs):
    value, sizes, axis = as_ragged(args[0]), known(args[1]), args[2]
    if sizes is None:
        raise ValueError("the sizes of the pieces of a ragged tensor must be known")
    sizes, number = sizes.tolist(), axis_of(axis, value.shape.rank)
    size = value.shape[number]
    if min(sizes, default=0) < 0 or (size is not None and builtins.sum(sizes) != size):
        raise errors.InvalidArgumentError(None, None, f"the sizes {sizes} do not add up to the size {size} of axis {number}")
    return _pieces(value, number, sizes)


def _partition(op, args, kwargs):
    data, partitions, count = as_ragged(args[0]), as_ragged(args[1]), args[2]
    while is_ragged(partitions):
        if not is_ragged(data):
            raise ValueError("dynamic_partition: partitions have more ragged dimensions than data")
        _same_rows(data.with_values(data.value_rowids()), partitions.with_values(partitions.value_rowids()))
        data, partitions = data.values, partitions.values
    partitions = raw.Cast(convert(partitions), dtypes.int32)
    if not is_ragged(data):
        return op(data, partitions, count, **kwargs)
    depth = rank_of(partitions)
    if depth is None:
        raise ValueError("dynamic_partition: partitions must have known rank")
    if depth > 1:
        data, partitions = data.merge_dims(0, depth - 1), raw.Reshape(partitions, [-1])
    if depth == 0:
        raise ValueError("dynamic_partition: partitions of ragged data must have at least one dimension")
    rows = raw.Range(0, raw.Size(partitions), 1)
    return [gather(data, part) for part in op(rows, partitions, count, **kwargs)]


# ---- numbers --------------------------------------------------------------------------------------------------


def _running(op, args, kwargs):
    x = as_ragged(args[0])
    made = op(x.to_tensor(), *args[1:], **kwargs)
    lengths = x.nested_row_lengths()
    for level in lengths[:-1]:
        made = _kept(made, level)
    return RaggedTensor.from_nested_row_lengths(_kept(made, lengths[-1]), lengths, validate=False)


def _kept(dense, lengths):
    """The rows of a padded tensor without the padding, concatenated."""
    width = raw.Shape(dense, lengths.dtype)[1]
    at = raw.Range(convert(0, lengths.dtype), width, convert(1, lengths.dtype))
    return raw.GatherNd(dense, raw.Where(raw.Less(at, raw.ExpandDims(lengths, 1))))


def _dense_rows(x, what):
    """A ragged matrix as a dense tensor. Its rows must have the same length."""
    lengths = x.row_lengths()
    width = raw.Max(raw.ConcatV2([lengths, convert([0], lengths.dtype)], 0), [0])
    check = assert_equal(lengths, raw.BroadcastTo(width, raw.Shape(lengths)),
                         message=f"matmul: the rows of {what} differ in length")
    return _checked([check], x.to_tensor())


def matmul(a, b, transpose_a=False, transpose_b=False):
    """tf.matmul with a ragged argument: two matrices, or two batches of matrices of different sizes."""
    a, b = (x if is_ragged(x) else convert(x) for x in (as_ragged(a), as_ragged(b)))
    ranks = {x.shape.rank if is_ragged(x) else rank_of(x) for x in (a, b)}
    if a.dtype != b.dtype:
        raise ValueError(f"`a` and `b` must have the same dtype, not {a.dtype.name} and {b.dtype.name}")
    if ranks == {2}:
        a, b = (_dense_rows(x, what) if is_ragged(x) else x for x, what in ((a, "a"), (b, "b")))
        return dense.matmul(a, b, transpose_a, transpose_b)
    if ranks != {3}:
        raise ValueError("matmul of ragged tensors takes two matrices or two batches of matrices")
    (rows, inner), (other, columns) = _sides(a, transpose_a), _sides(b, transpose_b)
    check = assert_equal(inner, other, message="matmul: the inner sizes of a and b differ")
    made = dense.matmul(*(x.to_tensor() if is_ragged(x) else x for x in (a, b)), transpose_a, transpose_b)
    made = _kept(_checked([check], made), rows)
    each = raw.GatherV2(columns, RaggedTensor.from_row_lengths(made, rows, validate=False).value_rowids(), 0)
    return RaggedTensor.from_nested_row_lengths(_kept(made, each), [rows, each], validate=False)


def _sides(x, transpose):
    """(rows, columns) of each matrix of a batch."""
    if not is_ragged(x):
        shape = raw.Shape(x, dtypes.int64)
        rows, columns = (raw.BroadcastTo(shape[k], shape[:1]) for k in (1, 2))
    else:
        rows = x.row_lengths()
        if is_ragged(x.values):
            widths = x.values.row_lengths()
            columns = raw.Maximum(raw.UnsortedSegmentMax(widths, x.value_rowids(), x.nrows()), convert(0, widths.dtype))
            check = assert_equal(raw.GatherV2(columns, x.value_rowids(), 0), widths,
                                 message="matmul: the rows of a matrix differ in length")
            columns = _checked([check], columns)
        else:
            columns = raw.BroadcastTo(raw.Shape(x.values, rows.dtype)[1], raw.Shape(rows))
        rows, columns = raw.Cast(rows, dtypes.int64), raw.Cast(columns, dtypes.int64)
    return (columns, rows) if transpose else (rows, columns)


# ---- gather_nd ----------------------------------------------------------------------------------------


def gather_nd(params, indices, batch_dims=0):
    """tf.gather_nd where the params, the indices or both are ragged."""
    params, indices = as_ragged(params), as_ragged(indices)
    if batch_dims:
        raise ValueError("gather_nd of ragged tensors: batch_dims is not supported")
    if is_ragged(indices):
        if rank_of(indices.flat_values) == 1:
            raise ValueError("The innermost dimension of indices may not be ragged")
        return indices.with_values(gather_nd(params, indices.values))
    indices = convert(indices)
    if not is_ragged(params):
        return raw.GatherNd(params, indices)
    dims = static_shape(indices)
    if dims is None or dims[-1] is None:
        raise ValueError("indices.shape[-1] must be statically known.")
    if len(dims) > 2:  # more index dimensions become uniform rows
        made = RaggedTensor.from_tensor(indices)
        return made.with_values(gather_nd(params, made.values))
    if dims == (1,):  # the result has a batch dimension of size 1, as in TensorFlow
        return gather(params, indices)
    if len(dims) == 1:
        return getitem(gather_nd(params, raw.ExpandDims(indices, 0)), 0)
    return _elements(params, indices, dims[-1])


def _elements(params, places, depth):
    """The elements of `params` whose coordinates are the rows of a matrix."""
    if depth == 0:
        rows = raw.Shape(places)[:1]
        return gather(RaggedTensor.from_uniform_row_length(params, params.nrows(), nrows=1, validate=False), raw.Fill(rows, 0))
    at, level = places[:, 0], params
    for column in range(1, depth):
        if not is_ragged(level):
            rest = raw.ConcatV2([raw.ExpandDims(at, 1), places[:, column:]], 1)
            return raw.GatherNd(level, rest)
        inside = raw.Cast(places[:, column], level.row_splits.dtype)
        at = raw.Cast(at, level.row_splits.dtype)
        check = assert_less(inside, raw.GatherV2(level.row_lengths(), at, 0), message="gather_nd: an index is out of bounds of its row")
        at = _checked([check], raw.AddV2(raw.GatherV2(level.row_starts(), at, 0), inside))
        level, places = level.values, raw.Cast(places, at.dtype)
    return gather(level, at)


# ---- text -----------------------------------------------------------------------------------------------------


def as_text(x, summarize):
    """A ragged tensor as text for tf.print: at most `summarize` elements from both ends of a row; -1 means all."""
    x = as_ragged(x)
    if x.shape.rank is None:
        raise ValueError("RaggedTensor to_string requires that rt.shape.rank is not None.")
    levels, flat = _with_levels(x, x.shape.rank - 1)._levels()
    if flat.dtype is dtypes.string:
        plain = raw.RegexReplace(flat, r"(['\\])", r"\\\1")
        texts = raw.StringJoin([convert("'"), plain, convert("'")])
    else:
        texts = raw.AsString(flat)
    for level in reversed(levels):
        texts = _row_texts(texts, level.value_rowids(), level.row_lengths(), level.nrows(), summarize)
    size = raw.Shape(texts, dtypes.int64)
    return _row_texts(texts, raw.Fill(size, convert(0, dtypes.int64)), size, convert(1, dtypes.int64), summarize)[0]


def _row_texts(texts, rows, lengths, count, summarize):
    if summarize >= 0:
        _, at = ragged_indices(raw.ZerosLike(lengths), lengths)
        size, few = raw.GatherV2(lengths, rows, 0), convert(summarize, lengths.dtype)
        long = raw.Greater(size, raw.Mul(few, convert(2, lengths.dtype)))
        gap = raw.LogicalAnd(long, raw.Equal(at, few))
        shown = raw.LogicalOr(raw.LogicalOr(raw.LessEqual(at, few), raw.GreaterEqual(at, raw.Sub(size, few))), raw.LogicalNot(long))
        texts = raw.SelectV2(gap, convert("..."), texts)
        keep = raw.Where(shown)[:, 0]
        texts, rows = raw.GatherV2(texts, keep, 0), raw.GatherV2(rows, keep, 0)
    return raw.StringJoin([convert("["), raw.UnsortedSegmentJoin(texts, rows, count, ", "), convert("]")])


@export("ragged.stack_dynamic_partitions")
def stack_dynamic_partitions(data, partitions, num_partitions, name=None):  # noqa: ARG001
    """A ragged tensor whose row k has the values of `data` in partition k, in their original order."""
    if is_ragged(partitions):
        if not is_ragged(data):
            data = RaggedTensor.from_tensor(convert(data), ragged_rank=partitions.ragged_rank)
        made = stack_dynamic_partitions(data.values, partitions.values, num_partitions)
        return made.with_row_splits_dtype(partitions.row_splits.dtype)
    partitions = convert(partitions)
    rank = rank_of(partitions)
    if rank is None:
        raise ValueError("partitions must have known rank.")
    if not is_ragged(data):
        data = convert(data)
    if rank != 1:
        if is_ragged(data):
            for _ in range(rank - 1 if rank else 0):
                data = data.values
        if rank == 0:
            data = raw.ExpandDims(data, 0)
        elif not is_ragged(data):
            data = raw.Reshape(data, raw.ConcatV2([convert([-1]), raw.Shape(data)[rank:]], 0))
        partitions = raw.Reshape(partitions, [-1])
    if is_ragged(data):
        partitions = raw.Cast(partitions, data.row_splits.dtype)
    order = argsort(partitions, stable=True)
    return RaggedTensor.from_value_rowids(index.gather(data, order), raw.GatherV2(partitions, order, 0),
                                          nrows=raw.Cast(convert(num_partitions), partitions.dtype), validate=False)


handle_ragged({
    "Where": _where, "Reshape": _reshape, "Split": _split, "SplitV": _split_sizes, "DynamicPartition": _partition,
    "Cumsum": _running, math.cumsum: _running, index.where: _where,
    "GatherNd": lambda op, args, kwargs: gather_nd(args[0], args[1]),
    index.gather_nd: lambda api, args, kwargs: gather_nd(*args[:3]),
    dense.matmul: lambda api, args, kwargs: matmul(*args[:4]),
})
