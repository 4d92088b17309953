"""tf.sparse: conversion, reordering, arithmetic, reductions, slicing and concatenation of sparse tensors."""
from .. import composite, errors
from ..graph import control_dependencies
from ..namespace import export
from ..shapes import TensorShape
from . import debug
from .common import (
    IndexedSlices,
    SparseTensor,
    Tensor,
    convert,
    dtypes,
    executing_eagerly,
    known,
    np,
    raw,
    seen,
    static_shape,
    static_value,
)
from .math import cast, truediv
from .sort import argsort


def sparse(x):
    """`x` as a SparseTensor. Raises TypeError if it is neither a SparseTensor nor a SparseTensorValue."""
    if isinstance(x, SparseTensor):
        return x
    if isinstance(x, composite.SparseTensorValue):
        return SparseTensor.from_value(x)
    raise TypeError(f"Input must be a SparseTensor; got {type(x).__name__}: {x!r}")


def _parts(x):
    return x.indices, x.values, x.dense_shape


@export("sparse.from_dense")
def from_dense(tensor, name=None):
    """A SparseTensor of the elements of `tensor` that are not zero (for strings, not empty)."""
    tensor = convert(tensor)
    zero = "" if tensor.dtype is dtypes.string else np.zeros([], tensor.dtype.as_numpy_dtype)
    indices = raw.Where(raw.NotEqual(tensor, convert(zero, tensor.dtype)))
    made = SparseTensor(indices, raw.GatherNd(tensor, indices), raw.Shape(tensor, dtypes.int64))
    if tensor.ndim is not None:
        made._known = tensor.shape
    return made


@export("sparse.to_dense")
def to_dense(sp_input, default_value=None, validate_indices=True, name=None):
    """The dense tensor, with `default_value` where no element is stored."""
    x = sparse(sp_input)
    if default_value is None:
        default_value = "" if x.dtype is dtypes.string else np.zeros([], x.dtype.as_numpy_dtype)
    dense = raw.SparseToDense(
        x.indices, x.dense_shape, x.values, convert(default_value, x.dtype), validate_indices,
        name=name,
    )
    return _with_shape(dense, x.shape)


@export("compat.v1.sparse_to_dense")
def sparse_to_dense(sparse_indices, output_shape, sparse_values, default_value=0, validate_indices=True, name=None):
    """A tensor with `sparse_values` at `sparse_indices` and `default_value` elsewhere."""
    values = convert(sparse_values)
    return raw.SparseToDense(sparse_indices, output_shape, values, convert(default_value, values.dtype), validate_indices,
                             name=name)


def _with_shape(dense, shape):
    if shape.rank is not None and not executing_eagerly():
        dense.set_shape(shape)
    return dense


@export("sparse.reorder")
def reorder(sp_input, name=None):
    """The same sparse tensor with its indices sorted."""
    x = sparse(sp_input)
    indices, values = raw.SparseReorder(*_parts(x), name=name)
    made = SparseTensor(indices, values, raw.Identity(x.dense_shape))
    made._known = x.shape
    return made


@export("sparse.reshape")
def reshape(sp_input, shape, name=None):
    """The same elements in another shape; one size may be -1."""
    x = sparse(sp_input)
    indices, sizes = raw.SparseReshape(x.indices, x.dense_shape, convert(shape, dtypes.int64), name=name)
    made = SparseTensor(indices, raw.Identity(x.values), sizes)
    want = known(shape) if not isinstance(shape, Tensor) else static_value(shape)
    if want is not None and x.shape.is_fully_defined():
        full = int(np.prod(x.shape.as_list(), dtype=np.int64))
        rest = int(-np.prod(want, dtype=np.int64)) if -1 in want else 0
        fill = full // rest if rest else 0
        filled = [fill if d == -1 else int(d) for d in want]
        if int(np.prod(filled, dtype=np.int64)) != full:
            raise ValueError(f"Cannot reshape a tensor with {full} elements to shape {list(want)}")
        made._known = TensorShape(filled)
    return made


@export("sparse.transpose")
def transpose(sp_input, perm=None, name=None):
    """Permutes the axes to the order `perm`; without it, reverses them."""
    x = sparse(sp_input)
    if perm is None:
        rank = x.shape.rank
        if rank is None:
            last = raw.Sub(raw.Size(x.dense_shape), convert(1))
            perm = raw.Range(last, convert(-1), convert(-1))
        else:
            perm = np.arange(rank)[::-1].astype(np.int32)
    perm = convert(perm)
    indices = raw.GatherV2(x.indices, perm, 1)
    made = SparseTensor(indices, x.values, raw.GatherV2(x.dense_shape, perm, 0))
    order = static_value(perm)
    if order is not None and x.shape.rank is not None:
        made._known = TensorShape([x.shape._dims[int(k)] for k in order])
    return reorder(made)


@export("sparse.sparse_dense_matmul")
def sparse_dense_matmul(sp_a, b, adjoint_a=False, adjoint_b=False, name=None):
    """The product of a sparse matrix and a dense one, in either order."""
    if isinstance(b, (SparseTensor, composite.SparseTensorValue)):
        # (A B)^H = B^H A^H: the sparse factor goes first
        turned = sparse_dense_matmul(b, sp_a, adjoint_a=not adjoint_b, adjoint_b=not adjoint_a)
        flipped = raw.Transpose(turned, [1, 0])
        return raw.Conj(flipped) if turned.dtype.is_complex else flipped
    x = sparse(sp_a)
    return raw.SparseTensorDenseMatMul(
        *_parts(x), convert(b), adjoint_a=adjoint_a, adjoint_b=adjoint_b, name=name
    )


@export("sparse.retain")
def retain(sp_input, to_retain):
    """Only the elements where `to_retain` is true."""
    x, kept = sparse(sp_input), convert(to_retain)
    if executing_eagerly():
        TensorShape(static_shape(kept)).assert_is_compatible_with(TensorShape(static_shape(x.values)))
    rows = raw.Reshape(raw.Where(kept), [-1])
    made = SparseTensor(
        raw.GatherV2(x.indices, rows, 0), raw.GatherV2(x.values, rows, 0), raw.Identity(x.dense_shape)
    )
    made._known = x.shape
    return made


@export("sparse.reset_shape")
def reset_shape(sp_input, new_shape=None):
    """The same elements in a larger shape; without `new_shape`, in the smallest shape that holds them."""
    x = sparse(sp_input)
    indices, values = raw.Identity(x.indices), raw.Identity(x.values)
    if new_shape is None:
        # the largest index of no elements is the least int64, and one more than that is still negative
        return SparseTensor(indices, values, raw.Maximum(raw.AddV2(raw.Max(indices, 0), 1), 0))
    sizes = cast(new_shape, dtypes.int64)
    length = TensorShape(static_shape(sizes)).with_rank(1)
    length.assert_is_compatible_with(TensorShape(static_shape(x.dense_shape)))
    want = static_value(sizes)
    if want is None or not x.shape.is_fully_defined():
        ranks = debug.assert_equal(raw.Shape(x.dense_shape), raw.Shape(sizes), "new_shape must have one size for each axis.")
        with control_dependencies([ranks]):
            fits = debug.assert_less_equal(x.dense_shape, sizes, "new_shape must not be smaller along any axis.")
        sizes = debug.with_dependencies([fits], sizes)
    elif any(new < old for new, old in zip(want, x.shape.as_list())):
        raise ValueError(
            f"Requested new_shape should have dimension sizes >= sp_input.shape; got {want.tolist()} for {x.shape.as_list()}"
        )
    made = SparseTensor(indices, values, sizes)
    if want is not None:
        made._known = TensorShape(want.tolist())
    return made


@export("sparse.mask")
def mask(a, mask_indices, name=None):
    """The slices of the IndexedSlices `a` whose indices are not among `mask_indices`."""
    indices, rows = raw.ListDiff(a.indices, convert(mask_indices), name=name)
    return IndexedSlices(raw.GatherV2(a.values, rows, 0), indices, a.dense_shape)


@export("sparse.map_values")
def map_values(op, *args, **kwargs):
    """Applies `op` to the values of the sparse arguments, which must have the same indices."""
    found = [a for a in list(args) + list(kwargs.values()) if isinstance(a, SparseTensor)]
    if not found:
        raise ValueError("No SparseTensor in argument list of map_values")

    def value(a):
        return a.values if isinstance(a, SparseTensor) else a

    with control_dependencies(_same_places(found)):
        made = op(*[value(a) for a in args], **{k: value(a) for k, a in kwargs.items()})
        return SparseTensor(raw.Identity(found[0].indices), made, found[0].dense_shape)


def _same_places(tensors):
    """Checks that all tensors have the indices and the dense shape of the first."""
    checks = []
    for other in tensors[1:]:
        for word, ours, theirs in (("indices", tensors[0].indices, other.indices),
                                   ("shapes", tensors[0].dense_shape, other.dense_shape)):
            checks.append(debug.assert_equal(ours, theirs, f"SparseTensors must have matching {word}."))
    return [c for c in checks if c is not None]


@export("sparse.eye")
def eye(num_rows, num_columns=None, dtype=dtypes.float32, name=None):
    """A sparse matrix with ones on the diagonal."""
    rows = raw.Cast(convert(num_rows, None, dtypes.int64), dtypes.int64)
    columns = rows if num_columns is None else raw.Cast(convert(num_columns, None, dtypes.int64), dtypes.int64)
    n = raw.Minimum(rows, columns)
    at = raw.Range(convert(0, dtypes.int64), n, convert(1, dtypes.int64))
    ones = raw.Fill(raw.Reshape(n, [1]), convert(1, dtypes.as_dtype(dtype)))
    return SparseTensor(raw.Pack([at, at], axis=1), ones, raw.Pack([rows, columns]))


@export("sparse.expand_dims")
def expand_dims(sp_input, axis=None, name=None):
    """Adds an axis of size 1 before `axis` (default: the last)."""
    x = sparse(sp_input)
    rank = x.shape.rank
    if rank is None:
        raise ValueError("the rank of a SparseTensor whose axes are expanded must be known")
    axis = -1 if axis is None else known(axis)
    if axis is None:
        raise ValueError("the axis of sparse.expand_dims must be known while a graph is built")
    axis = int(axis)
    if not -rank - 1 <= axis <= rank:
        raise ValueError(f"axis {axis} is out of range for rank {rank}")
    axis = axis + rank + 1 if axis < 0 else axis
    zeros = raw.Mul(raw.Slice(x.indices, [0, 0], [-1, 1]), convert(0, dtypes.int64))
    indices = raw.ConcatV2(
        [raw.Slice(x.indices, [0, 0], [-1, axis]), zeros,
         raw.Slice(x.indices, [0, axis], [-1, rank - axis])], 1)
    sizes = raw.ConcatV2(
        [raw.Slice(x.dense_shape, [0], [axis]), convert([1], dtypes.int64),
         raw.Slice(x.dense_shape, [axis], [rank - axis])], 0)
    return SparseTensor(indices, x.values, sizes)


# ---- reductions: segment reductions over the flattened remaining coordinates ---------------------------------------


def _reduced_axes(x, axis):
    """A mask of the reduced axes: a numpy array if the rank is known, else a tensor."""
    rank = x.shape.rank
    if rank is not None:
        axes = range(rank) if axis is None else np.ravel(seen(axis)).tolist()
        gone = {int(a) + rank if a < 0 else int(a) for a in axes}
        if any(not 0 <= a < rank for a in gone):
            raise errors.InvalidGraphError(f"Invalid reduction dimension in {axis}, for input with {rank} dimensions.")
        return np.array([d in gone for d in range(rank)], bool)
    count = raw.Size(x.dense_shape)
    if axis is None:
        return raw.Fill(raw.Reshape(count, [1]), convert(True))
    axes = raw.Reshape(convert(axis, dtypes.int32), [-1])
    inside = raw.All(raw.LogicalAnd(raw.Less(axes, count), raw.GreaterEqual(axes, raw.Neg(count))), [0])
    check = debug.Assert(inside, ["Invalid reduction dimension in", axes, "for input with dimensions", count])
    axes = debug.with_dependencies([check], raw.FloorMod(axes, count))
    every = raw.Range(convert(0), count, convert(1))
    return raw.Any(raw.Equal(raw.ExpandDims(every, 1), raw.ExpandDims(axes, 0)), [1])


def _reduction(x, axis, keepdims, segment, empty, as_sparse):
    """A segment reduction of the values by their remaining coordinates. A sparse result has an element where at least one was
    stored."""
    mask = _reduced_axes(x, axis)
    one = raw.OnesLike(x.dense_shape)
    sizes = raw.SelectV2(mask, one, x.dense_shape)
    strides = raw.SelectV2(mask, raw.ZerosLike(one), raw.Cumprod(sizes, 0, exclusive=True, reverse=True))
    at = raw.Sum(raw.Mul(x.indices, strides), [1])
    count = raw.Prod(sizes, [0])
    flat = segment(x.values, at, count)
    left = sizes if keepdims else raw.GatherV2(sizes, raw.Reshape(raw.Where(raw.LogicalNot(mask)), [-1]), 0)
    some = None
    if as_sparse or empty is not None:
        stored = raw.UnsortedSegmentSum(raw.OnesLike(at), at, count)
        some = raw.Greater(stored, convert(0, dtypes.int64))
    if as_sparse:
        place = raw.Where(some)
        steps = raw.Cumprod(left, 0, exclusive=True, reverse=True)
        made = SparseTensor(raw.FloorMod(raw.FloorDiv(place, steps), left), raw.GatherNd(flat, place), left)
    else:
        if empty is not None:  # positions without stored elements
            flat = raw.SelectV2(some, flat, convert(empty, x.dtype))
        made = raw.Reshape(flat, left)
    if x.shape.rank is None and (axis is not None or keepdims):
        return made
    have = [1 if gone else d for gone, d in zip(mask, x.shape._dims) if keepdims or not gone] if x.shape.rank is not None else []
    if as_sparse:
        made._known = TensorShape(have)
        return made
    return _with_shape(made, TensorShape(have))


@export("sparse.reduce_sum")
def reduce_sum(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The sum along `axis`; None means all axes."""
    return _reduction(sparse(sp_input), axis, keepdims, raw.UnsortedSegmentSum, None, output_is_sparse)


@export("sparse.reduce_max")
def reduce_max(sp_input, axis=None, keepdims=None, output_is_sparse=False, name=None):
    """The largest stored element along `axis`; 0 where nothing is stored."""
    return _reduction(sparse(sp_input), axis, keepdims, raw.UnsortedSegmentMax, 0, output_is_sparse)


# ---- sums, products -----------------------------------------------------------------------------------


def _union(a, b):
    """(union of the indices of two tensors, the values of a at them, the values of b at them)."""
    equal = raw.Equal(a.dense_shape, b.dense_shape, incompatible_shape_error=False)  # ranks may differ
    same = raw.All(raw.Reshape(equal, [-1]), [0])
    check = debug.Assert(same, ["Operands' shapes do not match:", a.dense_shape, "and", b.dense_shape])
    sizes = debug.with_dependencies([check], a.dense_shape)
    steps = raw.Cumprod(sizes, 0, exclusive=True, reverse=True)
    numbers = raw.Sum(raw.Mul(raw.ConcatV2([a.indices, b.indices], 0), steps), [1])
    unique, place = raw.Unique(numbers)
    count = raw.Size(unique)
    order = raw.SparseReorder(
        raw.ExpandDims(unique, 1), raw.Range(0, count, 1), raw.Reshape(raw.Prod(sizes, [0]), [1]))[1]
    place = raw.GatherV2(raw.InvertPermutation(order), place, 0)
    first = raw.Shape(a.values)
    mine = raw.UnsortedSegmentSum(a.values, raw.Slice(place, [0], first), count)
    other = raw.UnsortedSegmentSum(b.values, raw.Slice(place, first, [-1]), count)
    one = convert(1, dtypes.int64)
    numbers = raw.ExpandDims(raw.GatherV2(unique, order, 0), 1)
    rows = raw.FloorMod(raw.FloorDiv(numbers, raw.Maximum(steps, one)), raw.Maximum(sizes, one))
    return rows, mine, other


def _merged(a, b, function):
    rows, mine, other = _union(a, b)
    made = SparseTensor(rows, function(mine, other), raw.Identity(a.dense_shape))
    made._known = a.shape
    return made


@export("sparse.add")
def add(a, b, threshold=0):
    """The sum of two sparse tensors, without elements whose absolute value is below `threshold`; or the dense sum of a
    sparse and a dense tensor."""
    if not isinstance(a, SparseTensor):
        a, b = b, a
    if not isinstance(a, SparseTensor):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    if not isinstance(b, SparseTensor):
        return raw.TensorScatterAdd(convert(b, a.dtype), a.indices, a.values)
    made = _merged(a, b, raw.AddV2)
    limit = known(threshold)
    if limit is not None and not np.any(limit):
        return made
    size = raw.ComplexAbs(made.values) if made.dtype.is_complex else raw.Abs(made.values)
    return retain(made, raw.GreaterEqual(size, convert(threshold, size.dtype)))


@export("sparse.maximum")
def maximum(sp_a, sp_b, name=None):
    """The elementwise maximum. Elements that are not stored count as zero."""
    return _merged(sparse(sp_a), sparse(sp_b), raw.Maximum)


@export("sparse.minimum")
def minimum(sp_a, sp_b, name=None):
    """The elementwise minimum. Elements that are not stored count as zero."""
    return _merged(sparse(sp_a), sparse(sp_b), raw.Minimum)


def _beside(x, dense, function):
    """Applies `function` to the values and the elements of the broadcast `dense` at the same indices."""
    dense = convert(dense, x.dtype)
    full = raw.BroadcastTo(dense, x.dense_shape)
    made = x.with_values(function(x.values, raw.GatherNd(full, x.indices)))
    made._known = x.shape
    return made


SparseTensor.__mul__ = lambda self, y: _beside(self, y, raw.Mul)
SparseTensor.__rmul__ = SparseTensor.__mul__
SparseTensor.__truediv__ = lambda self, y: _beside(self, y, truediv)


# ---- slicing, concatenating, rows ---------------------------------------------------------------------------


@export("sparse.slice")
def slice(sp_input, start, size, name=None):  # noqa: A001
    """The slice that begins at `start` and has at most the size `size`."""
    x = sparse(sp_input)
    start, size = convert(start, dtypes.int64), convert(size, dtypes.int64)
    end = raw.Minimum(raw.AddV2(start, size), x.dense_shape)
    inside = raw.All(
        raw.LogicalAnd(raw.GreaterEqual(x.indices, start), raw.Less(x.indices, end)), [1])
    kept = retain(x, inside)
    sizes = raw.Maximum(raw.Sub(end, start), convert(0, dtypes.int64))
    return SparseTensor(raw.Sub(kept.indices, start), kept.values, sizes)


@export("sparse.concat")
def concat(axis, sp_inputs, expand_nonconcat_dims=False, name=None):
    """Concatenates sparse tensors along `axis`."""
    inputs = [sparse(x) for x in sp_inputs]
    if len(inputs) == 1:
        return inputs[0]
    rank = inputs[0].shape.rank
    if rank is None:
        raise ValueError("the rank of SparseTensors that are joined must be known")
    axis = int(axis) + rank if axis < 0 else int(axis)
    if not 0 <= axis < rank:
        raise errors.InvalidGraphError(f"Concat dimension must be in range [{-rank}, {rank}), got {axis}")
    mark = np.eye(rank, dtype=np.int64)[axis]
    offset, moved = convert(np.zeros(rank, np.int64)), []
    most = inputs[0].dense_shape
    for x in inputs:
        moved.append(raw.AddV2(x.indices, offset))
        offset = raw.AddV2(offset, raw.Mul(x.dense_shape, mark))
        most = raw.Maximum(most, x.dense_shape)
    sizes = raw.SelectV2(mark.astype(bool), offset, most)
    made = SparseTensor(
        raw.ConcatV2(moved, 0), raw.ConcatV2([x.values for x in inputs], 0), sizes)
    return reorder(made)


@export("sparse.fill_empty_rows")
def fill_empty_rows(sp_input, default_value, name=None):
    """Adds `default_value` to the first column of each empty row. Returns (sparse tensor, mask of the empty rows).

    Elements of one row keep their order."""
    x = sparse(sp_input)
    rank = x.shape.rank
    rows = raw.StridedSlice(x.dense_shape, [0], [1], [1], shrink_axis_mask=1)
    first = raw.StridedSlice(x.indices, [0, 0], [0, 1], [1, 1], begin_mask=1, end_mask=1,
                             shrink_axis_mask=2)
    count = raw.UnsortedSegmentSum(raw.OnesLike(first), first, rows)
    empty = raw.Equal(count, convert(0, dtypes.int64))
    missing = raw.Where(empty)
    pads = raw.Pad(missing, [[0, 0], [0, rank - 1]])
    fill = raw.Fill(raw.Slice(raw.Shape(missing), [0], [1]), convert(default_value, x.dtype))
    order = argsort(raw.ConcatV2([first, raw.Reshape(missing, [-1])], 0), stable=True)
    full = SparseTensor(*(raw.GatherV2(raw.ConcatV2(parts, 0), order, 0) for parts in ([x.indices, pads], [x.values, fill])),
                        x.dense_shape)
    full._known = x.shape
    return full, empty


@export("sparse.softmax")
def softmax(sp_input, name=None):
    """The softmax over the stored elements of each row of the last axis."""
    x = sparse(sp_input)
    if x.dtype.is_floating and x.shape.rank is not None and x.shape.rank < 2:
        raise errors.InvalidGraphError(f"Input should have rank >= 2, but received shape: {x.shape}")
    outer = raw.Slice(x.dense_shape, [0], raw.Sub(raw.Shape(x.dense_shape), convert([1])))
    strides = raw.Cumprod(outer, 0, exclusive=True, reverse=True)
    places = raw.Slice(x.indices, [0, 0], raw.Sub(raw.Shape(x.indices), convert([0, 1])))
    row = raw.Sum(raw.Mul(places, strides), [1])
    rows = raw.Prod(outer, [0])
    top = raw.GatherV2(raw.UnsortedSegmentMax(x.values, row, rows), row, 0)
    power = raw.Exp(raw.Sub(x.values, raw.StopGradient(top)))
    total = raw.GatherV2(raw.UnsortedSegmentSum(power, row, rows), row, 0)
    made = x.with_values(raw.RealDiv(power, total))
    made._known = x.shape
    return made


@export("sparse.to_indicator")
def to_indicator(sp_input, vocab_size, name=None):
    """A bool tensor whose last axis has size `vocab_size` and is true at the values of each row."""
    x = sparse(sp_input)
    rank = x.shape.rank
    ids = raw.Cast(x.values, dtypes.int64)
    places = raw.Slice(x.indices, [0, 0], [-1, rank - 1])
    indices = raw.ConcatV2([places, raw.ExpandDims(ids, 1)], 1)
    size = convert(vocab_size, dtypes.int64)
    sizes = raw.ConcatV2([raw.Slice(x.dense_shape, [0], [rank - 1]), raw.Reshape(size, [1])], 0)
    ones = raw.OnesLike(raw.Cast(x.values, dtypes.bool))
    return raw.SparseToDense(indices, sizes, raw.LogicalOr(ones, convert(True)), convert(False),
                             validate_indices=False, name=name)
