"""tf.gather with ragged params, ragged indices or both: along any axis, with or without batch dimensions.

Every case is reduced to gathering outermost rows: a ragged dimension before the axis is kept and its values are gathered
from, and a batch dimension becomes an offset that is added to the indices.
"""
from ..ragged import RaggedTensor, is_ragged
from . import debug
from .common import convert, known, rank_of, raw
from .ragged import _row, gather as _rows


def gather(params, indices, axis, batch_dims):
    """tf.gather with at least one ragged argument."""
    params = params if is_ragged(params) else convert(params)
    indices = indices if is_ragged(indices) else convert(indices)
    depth, width = _rank(params), _rank(indices)
    axis, batch_dims = _number(axis, depth, "axis"), _number(batch_dims, width, "batch_dims")
    if batch_dims > axis:
        raise ValueError(f"batch_dims={batch_dims} must be less than or equal to axis={axis}")
    if depth is not None and not axis < depth:
        raise ValueError(f"axis={axis} out of bounds: expected {-depth}<=axis<{depth}")
    if width is not None and batch_dims > width:
        raise ValueError(f"batch_dims={batch_dims} must not exceed the rank {width} of the indices")
    return _gather(params, indices, axis, batch_dims)


def _rank(x):
    return x.shape.rank if is_ragged(x) else rank_of(x)


def _number(value, rank, what):
    number = known(value)
    if number is None:
        raise ValueError(f"{what} must be known for a gather with a ragged tensor")
    number = int(number)
    if number < 0:
        if rank is None:
            raise ValueError(f"{what} may only be negative if the rank is known")
        number += rank
        if number < 0:
            raise ValueError(f"{what}={number - rank} out of bounds: expected {-rank}<={what}<{rank}")
    return number


def _gather(params, indices, axis, batch_dims):
    if not is_ragged(params) and not is_ragged(indices):
        return raw.GatherV2(params, indices, axis, batch_dims=batch_dims)
    if axis == 0:
        return _outermost(params, indices)
    if _rank(indices) == batch_dims:  # one index for each batch: gather rows of one index, then remove that dimension
        return _without(_gather(params, _one_more(indices, batch_dims), axis, batch_dims), axis)
    params = _as_rows(params)
    if batch_dims == 0:
        if axis > 1:
            return params.with_values(_gather(params.values, indices, axis - 1, 0))
        return _batch(params, _repeated(indices, params))
    indices = _alike(_as_rows(indices), params, batch_dims)
    if batch_dims > 1:
        return params.with_values(_gather(params.values, indices.values, axis - 1, batch_dims - 1))
    if axis == 1:
        return _batch(params, indices)
    every = _outermost(indices, params.value_rowids())
    return params.with_values(_gather(params.values, every, axis - 1, 1))


def _outermost(params, indices):
    """Gathers rows of `params` by indices of any rank."""
    if is_ragged(indices):
        return indices.with_values(_outermost(params, indices.values))
    rank = rank_of(indices)
    if not is_ragged(params):
        return raw.GatherV2(params, indices, 0)
    if rank is None:
        raise ValueError("indices into a ragged tensor must have a known rank")
    if rank == 0:
        return _row(_rows(params, raw.Reshape(indices, [1])), 0)
    if rank == 1:
        return _rows(params, indices)
    return _outermost(params, RaggedTensor.from_tensor(indices, ragged_rank=rank - 1,
                                                      row_splits_dtype=params.row_splits.dtype))


def _batch(params, indices):
    """Gathers within rows: row i of `indices` has indices into row i of `params`."""
    dtype = params.row_splits.dtype
    start, size = params.row_starts(), params.row_lengths()
    level = indices
    while is_ragged(level):
        row = level.value_rowids()
        start, size, level = raw.GatherV2(start, row, 0), raw.GatherV2(size, row, 0), level.values
    rank = rank_of(level)
    if rank is None:
        raise ValueError("indices into a ragged tensor must have a known rank")
    level = level if level.dtype == dtype else raw.Cast(level, dtype)
    if rank > 1:
        shape = [-1] + [1] * (rank - 1)
        start, size = raw.Reshape(start, shape), raw.Reshape(size, shape)
    text = "an index is out of range of its row of a ragged tensor"
    checks = [debug.assert_non_negative(level, message=text), debug.assert_less(level, size, message=text)]
    level = debug.with_dependencies([c for c in checks if c is not None], level)
    return _outermost(params.values, indices.with_flat_values(raw.AddV2(level, start)))


def _as_rows(x):
    return x if is_ragged(x) else RaggedTensor.from_tensor(x)


def _alike(indices, params, batch_dims):
    """`indices`, checked to have the batch dimensions of `params`, with row splits of the same dtype."""
    dtype = params.row_splits.dtype
    if indices.row_splits.dtype != dtype:
        indices = indices.with_row_splits_dtype(dtype)
    text = "the batch dimensions of params and indices differ"
    if batch_dims > 1:
        check = debug.assert_equal(indices.row_lengths(), params.row_lengths(), message=text)
    else:
        check = debug.assert_equal(indices.nrows(), params.nrows(), message=text)
    if check is None:
        return indices
    return indices.with_flat_values(debug.with_dependencies([check], indices.flat_values))


def _repeated(indices, params):
    """The same indices for each row of `params`."""
    count = params.nrows()
    dtype = count.dtype
    if not is_ragged(indices):
        size = raw.Shape(indices, dtype)
        whole = raw.ConcatV2([raw.Reshape(count, [1]), size], 0)
        dense = raw.BroadcastTo(indices, whole)
        return RaggedTensor.from_tensor(dense, row_splits_dtype=dtype)
    size = indices.nrows(dtype)
    total = raw.Mul(count, size)
    at = raw.FloorMod(raw.Range(convert(0, dtype), total, convert(1, dtype)),
                      raw.Maximum(size, convert(1, dtype)))
    rows = _outermost(indices.with_row_splits_dtype(dtype), at)
    return RaggedTensor.from_uniform_row_length(rows, size, nrows=count, validate=False)


def _one_more(x, axis):
    """Adds a last dimension of size one."""
    if is_ragged(x):
        return x.with_values(_one_more(x.values, axis - 1))
    return raw.ExpandDims(x, axis)


def _without(x, axis):
    """Removes the dimension `axis`, whose size is one."""
    if not is_ragged(x):
        return raw.Squeeze(x, [axis])
    return x.values if axis == 1 else x.with_values(_without(x.values, axis - 1))
