"""Sparse tensors in the COO form: to and from dense ones, order, and sums and extremes of two.

Positions are compared by their number in row-major order, so one integer stands for a row of `indices`.
"""
from .. import dtypes
from ..composite import SparseTensor
from ..namespace import export
from . import debug
from .common import convert, raw

_INT64 = dtypes.int64


def _numbers(indices, dense_shape):
    """The row-major number of each row of `indices`."""
    steps = raw.Cumprod(dense_shape, -1, exclusive=True, reverse=True)
    return raw.Sum(raw.Mul(indices, steps), -1)


def _rows(numbers, dense_shape):
    """The other way: rows of indices from row-major numbers."""
    steps = raw.Cumprod(dense_shape, -1, exclusive=True, reverse=True)
    return raw.FloorMod(raw.FloorDiv(raw.ExpandDims(numbers, -1), raw.Maximum(steps, _one())),
                        raw.Maximum(dense_shape, _one()))


def _one():
    return convert(1, _INT64)


def _sparse(value):
    if not isinstance(value, SparseTensor):
        raise TypeError(f"Input must be a SparseTensor, not {type(value).__name__}")
    return value


@export("sparse.from_dense")
def from_dense(tensor, name=None):
    """The elements of `tensor` that are not zero, with their positions."""
    tensor = convert(tensor)
    zero = raw.ZerosLike(tensor)
    indices = raw.Where(raw.NotEqual(tensor, zero))
    return SparseTensor(indices, raw.GatherNd(tensor, indices), raw.Shape(tensor, _INT64))


@export("sparse.to_dense")
def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """A dense tensor; `default_value` (or zero) stands where nothing was given."""
    sp = _sparse(sp_input)
    values, checks = sp.values, []
    if validate_indices:
        checks = _checks(sp)
    with_values = debug.with_dependencies(checks, values) if checks else values
    default = convert(default_value if default_value is not None else 0 if values.dtype.is_numeric else
                      False if values.dtype == dtypes.bool else "", values.dtype)
    return raw.TensorScatterUpdate(raw.Fill(sp.dense_shape, default), sp.indices, with_values)


def _checks(sp):
    """Assertions that the positions lie inside, in order, without repeats."""
    numbers = _numbers(sp.indices, sp.dense_shape)
    later = raw.Slice(numbers, [1], [-1])
    count = raw.Sub(raw.Size(numbers), 1)
    earlier = raw.Slice(numbers, [0], raw.ExpandDims(raw.Maximum(count, 0), 0))
    rising = raw.All(raw.Less(earlier, raw.Slice(later, [0], raw.Shape(earlier))), [0])
    inside = raw.All(raw.LogicalAnd(raw.GreaterEqual(sp.indices, convert(0, _INT64)),
                                    raw.Less(sp.indices, sp.dense_shape)), [0, 1])
    return [debug.Assert(inside, ["sparse indices: a position lies outside the dense shape", sp.dense_shape]),
            debug.Assert(rising, ["sparse indices: a row is out of order or repeated; use tf.sparse.reorder to make a "
                                  "correctly ordered copy", sp.indices])]


@export("sparse.reorder")
def reorder(sp_input, name=None):
    """The same tensor with its positions in row-major order."""
    sp = _sparse(sp_input)
    numbers = _numbers(sp.indices, sp.dense_shape)
    order = _order(numbers)
    return SparseTensor(raw.GatherV2(sp.indices, order, 0), raw.GatherV2(sp.values, order, 0), sp.dense_shape)


def _order(numbers):
    """Positions that sort a vector of int64, least first."""
    return raw.TopKV2(raw.Neg(numbers), raw.Size(numbers), True)[1]


def _union(a, b):
    """Two tensors' values laid side by side over the positions of both, as (indices, a's, b's)."""
    a, b = _sparse(a), _sparse(b)
    equal = raw.Equal(a.dense_shape, b.dense_shape, incompatible_shape_error=False)  # one False if the ranks differ
    same = raw.All(raw.Reshape(equal, [-1]), [0])
    fits = debug.with_dependencies(
        [debug.Assert(same, ["Operands' shapes do not match:", a.dense_shape, "and", b.dense_shape])], a.dense_shape)
    numbers = raw.ConcatV2([_numbers(a.indices, fits), _numbers(b.indices, fits)], 0)
    unique, place = raw.Unique(numbers)[:2]
    order = _order(unique)
    back = raw.InvertPermutation(order)
    place = raw.GatherV2(back, place, 0)
    rows, first = raw.Size(unique), raw.Size(a.values)
    mine = raw.UnsortedSegmentSum(a.values, raw.Slice(place, [0], raw.ExpandDims(first, 0)), rows)
    other = raw.UnsortedSegmentSum(b.values, raw.Slice(place, raw.ExpandDims(first, 0), [-1]), rows)
    return _rows(raw.GatherV2(unique, order, 0), fits), mine, other


@export("sparse.add")
def add(a, b, threshold=0):
    """The sum of two tensors of which at least one is sparse; sums below `threshold` in size are left out."""
    if not isinstance(a, SparseTensor) and not isinstance(b, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not (isinstance(a, SparseTensor) and isinstance(b, SparseTensor)):
        sparse, dense = (a, b) if isinstance(a, SparseTensor) else (b, a)
        return raw.TensorScatterAdd(convert(dense), sparse.indices, sparse.values)
    indices, mine, other = _union(a, b)
    total = raw.AddV2(mine, other)
    if not (isinstance(threshold, (int, float)) and threshold == 0):
        size = raw.ComplexAbs(total) if total.dtype.is_complex else raw.Abs(total)
        keep = raw.GreaterEqual(size, convert(threshold, size.dtype))
        chosen = raw.Squeeze(raw.Where(keep), [1])
        indices, total = raw.GatherV2(indices, chosen, 0), raw.GatherV2(total, chosen, 0)
    return SparseTensor(indices, total, a.dense_shape)


@export("sparse.maximum")
def maximum(sp_a, sp_b, name=None):
    """The larger of two sparse tensors, element by element; what is not given counts as zero."""
    indices, mine, other = _union(sp_a, sp_b)
    return SparseTensor(indices, raw.Maximum(mine, other), sp_a.dense_shape)


@export("sparse.minimum")
def minimum(sp_a, sp_b, name=None):
    """The smaller of two sparse tensors, element by element; what is not given counts as zero."""
    indices, mine, other = _union(sp_a, sp_b)
    return SparseTensor(indices, raw.Minimum(mine, other), sp_a.dense_shape)
