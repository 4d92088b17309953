"""Functions of ragged tensors: creation from lists, conversion, indexing, arithmetic, row partitions."""
import operator
import builtins
import itertools

from .. import errors
from ..namespace import export
from ..ragged import _KEY, RaggedTensor, _partition, as_ragged, is_ragged, ragged_indices, row_numbers
from ..tensors import convert_to_tensor
from .common import SparseTensor, Tensor, convert, dtypes, known, np, raw, rank_of, seen_shape, seen_size, static_shape
from .debug import Assert, assert_equal

_slice = builtins.slice


# ---- making -------------------------------------------------------------------------------------------


def _depth(items):
    """The nesting depth of the scalars in nested lists; None if there is no scalar."""
    if not isinstance(items, (list, tuple, np.ndarray)):
        return 0
    found = {d for d in (_depth(i) for i in items) if d is not None}
    if len(found) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    return None if not found else found.pop() + 1


def _most_lists(items):
    if not isinstance(items, (list, tuple, np.ndarray)):
        return 0
    return 1 + max((_most_lists(i) for i in items), default=0)


def _flat(items, levels):
    for _ in builtins.range(levels):
        items = [i for row in items for i in row]
    return items


def nested_splits(pylist, ragged_rank, inner_shape):
    """(row splits of nested lists, the outermost first; the flat values)."""
    depth = _depth(pylist)
    most = max(_most_lists(pylist), depth or 0)
    if ragged_rank is None:
        inner = len(inner_shape) if inner_shape is not None else 0
        ragged_rank = max(1, most - 1) if inner == 0 else max(0, most - 1 - inner)
        if most == 1:
            ragged_rank = 0
    if depth is not None and ragged_rank >= depth:
        raise ValueError(f"pylist has scalar values depth {depth}, but ragged_rank={ragged_rank} requires scalar value "
                         f"depth greater than {ragged_rank}")
    splits, items = [], pylist
    for _ in builtins.range(ragged_rank):
        splits.append(np.array([*itertools.accumulate((len(row) for row in items), initial=0)]))
        items = _flat(items, 1)
    return splits, items


@export("ragged.constant")
def constant(pylist, dtype=None, ragged_rank=None, inner_shape=None, name=None,
             row_splits_dtype=dtypes.int64):
    """Makes a RaggedTensor from nested Python lists; a dense tensor if no dimension is ragged."""
    splits_dtype = dtypes.as_dtype(row_splits_dtype)
    if not isinstance(pylist, (list, tuple, np.ndarray)):
        if ragged_rank:
            raise ValueError("Invalid pylist: a scalar has no ragged dimensions")
        return convert_to_tensor(pylist, dtype)
    splits, items = nested_splits(pylist, ragged_rank, inner_shape)
    if len(items) == 0:
        dtype = dtypes.float32 if dtype is None else dtypes.as_dtype(dtype)
        values = convert_to_tensor(np.zeros([0] + list(inner_shape or []), dtype.as_numpy_dtype), dtype)
    else:
        values = convert_to_tensor(list(items) if not isinstance(items, np.ndarray) else items, dtype)
    if inner_shape is not None:
        values = raw.Reshape(values, [-1] + list(inner_shape))
    for row in reversed(splits):
        values = RaggedTensor(values, convert_to_tensor(row.astype(splits_dtype.as_numpy_dtype)), _KEY)
    return values


def _range_lengths(first, last, step):
    """How many numbers there are from each `first` to its `last`. The distance of two integers may need one bit more than they
    have."""
    if not first.dtype.is_integer:
        first, last, step = (raw.Cast(p, dtypes.float64) for p in (first, last, step))
        count, zero = raw.Ceil(raw.RealDiv(raw.Sub(last, first), step)), convert(0.0, dtypes.float64)
        good = raw.LogicalAnd(raw.NotEqual(step, zero), raw.Less(count, convert(2.0**63, dtypes.float64)))  # NaN is not less
        Assert(raw.All(good, [0]), ["ragged.range requires deltas that are not 0, and finite lengths; deltas, lengths:", step, count])
        return raw.SelectV2(good, raw.Maximum(count, zero), zero)
    first, last, step = (raw.Cast(p, dtypes.int64) for p in (first, last, step))
    up = raw.Greater(step, raw.ZerosLike(step))
    low, high = raw.SelectV2(up, first, last), raw.SelectV2(up, last, first)
    span, by = (raw.Cast(p, dtypes.uint64) for p in (raw.Sub(high, low), raw.Abs(step)))
    one = raw.OnesLike(span)
    count = raw.AddV2(raw.FloorDiv(raw.Sub(span, one), by), one)
    return raw.SelectV2(raw.Less(low, high), count, raw.ZerosLike(count))


@export("ragged.range")
def range(starts, limits=None, deltas=1, dtype=None, name=None, row_splits_dtype=dtypes.int64):  # noqa: A001
    """A ragged tensor whose row i counts from starts[i] to limits[i] in steps of deltas[i]."""
    if limits is None:
        starts, limits = 0, starts
    parts = [convert(p, dtype) for p in (starts, limits, deltas)]
    if dtype is None:
        order = [dtypes.int32, dtypes.int64, dtypes.bfloat16, dtypes.float32, dtypes.float64]
        top = max((p.dtype for p in parts), key=order.index)
        parts = [p if p.dtype == top else raw.Cast(p, top) for p in parts]
    sizes = {d for p in parts for d in static_shape(p) or () if d is not None}
    if len(sizes) > 1:
        raise errors.InvalidGraphError(f"ragged.range: starts, limits and deltas are scalars or vectors of the same length, not of "
                                       f"the lengths {sorted(sizes)}")
    rows = raw.BroadcastArgs(raw.BroadcastArgs(raw.Shape(parts[0]), raw.Shape(parts[1])),
                             raw.Shape(parts[2]))
    rows = raw.ConcatV2([rows, convert([1])], 0)[:1]
    first, last, step = (raw.BroadcastTo(p, rows) for p in parts)
    index = dtypes.as_dtype(row_splits_dtype)
    lengths = raw.Cast(_range_lengths(first, last, step), index)
    splits, at = ragged_indices(raw.ZerosLike(lengths), lengths)
    row = row_numbers(splits)
    values = raw.AddV2(raw.GatherV2(first, row, 0),
                       raw.Mul(raw.Cast(at, first.dtype), raw.GatherV2(step, row, 0)))
    return RaggedTensor(values, splits, _KEY)


def from_tensor(cls, tensor, lengths, padding, ragged_rank, dtype):
    """RaggedTensor.from_tensor with converted arguments."""
    rank = rank_of(tensor)
    if rank is None:
        raise ValueError("the rank of a tensor that becomes ragged must be known")
    if rank < 2:
        raise ValueError(f"The rank of a RaggedTensor must be greater than 1; a tensor of rank {rank} has no rows")
    if not 0 < ragged_rank < rank:
        raise ValueError(f"ragged_rank {ragged_rank} must be greater than 0 and less than {rank}")
    if lengths is not None and padding is not None:
        raise ValueError("Specify argument `lengths` or `padding`, but not both.")
    shape = raw.Shape(tensor, dtype)
    if isinstance(lengths, (list, tuple)) and lengths and isinstance(lengths[0], (list, tuple, Tensor)):
        values = cls.from_nested_row_lengths(
            _keep(tensor, lengths, shape, dtype), [_partition(n, dtype) for n in lengths])
        return values
    if ragged_rank > 1:
        outer = raw.Mul(shape[0], shape[1])
        merged = raw.Reshape(tensor, raw.ConcatV2([raw.Reshape(outer, [1]), shape[2:]], 0))
        inner = from_tensor(cls, merged, None, padding, ragged_rank - 1, dtype)
        return _uniform(cls, inner, shape, tensor)
    if padding is not None:
        other = raw.NotEqual(tensor, convert(padding, tensor.dtype))
        if rank > 2:
            other = raw.Any(other, list(builtins.range(2, rank)))
        at = raw.Range(convert(1, dtype), raw.AddV2(shape[1], convert(1, dtype)), convert(1, dtype))
        lengths = raw.Max(raw.Mul(raw.Cast(other, dtype), at), [1])
    if lengths is None:
        values = raw.Reshape(tensor, raw.ConcatV2([convert([-1], dtype), shape[2:]], 0))
        if rank > 2:
            values = raw.Reshape(
                tensor, raw.ConcatV2([raw.Reshape(raw.Mul(shape[0], shape[1]), [1]), shape[2:]], 0))
        return _uniform(cls, values, shape, tensor)
    lengths = _partition(lengths, dtype)
    lengths = raw.Maximum(raw.Minimum(lengths, shape[1]), convert(0, dtype))
    mask = raw.Less(raw.Range(convert(0, dtype), shape[1], convert(1, dtype)), raw.ExpandDims(lengths, 1))
    values = raw.GatherNd(tensor, raw.Where(mask))
    return cls.from_row_lengths(values, lengths, validate=False)


def _keep(tensor, lengths, shape, dtype):
    """Removes the elements beyond the row lengths, for each ragged dimension."""
    values = tensor
    for n in lengths:
        n = _partition(n, dtype)
        size = raw.Shape(values, dtype)[1]
        mask = raw.Less(raw.Range(convert(0, dtype), size, convert(1, dtype)), raw.ExpandDims(n, 1))
        values = raw.GatherNd(values, raw.Where(mask))
    return values


def _uniform(cls, values, shape, tensor):
    at = raw.Range(convert(0, shape.dtype), raw.AddV2(shape[0], convert(1, shape.dtype)),
                   convert(1, shape.dtype))
    return cls(values, raw.Mul(at, shape[1]), _KEY, seen_size(tensor, 1))


# ---- dense and sparse -----------------------------------------------------------------------------------


def _wanted(shape, rank):
    """The requested sizes: a number, tensor or None for each dimension."""
    if shape is None:
        return [None] * rank
    if isinstance(shape, Tensor):
        value = known(shape)
        if value is None:
            parts = raw.Unpack(shape, rank)
            return [raw.Cast(p, dtypes.int64) for p in parts]
        shape = value.tolist()
    sizes = list(shape.as_list() if hasattr(shape, "as_list") else shape)
    return [None if s is None or (isinstance(s, int) and s < 0) else s for s in sizes]


def to_tensor(x, default_value, shape):
    """RaggedTensor.to_tensor: makes each ragged dimension dense, the innermost first."""
    if default_value is None:
        default_value = "" if x.dtype is dtypes.string else np.zeros([], x.dtype.as_numpy_dtype)
    default = convert(default_value, x.dtype)
    rank = x.ragged_rank + (rank_of(x.flat_values) or 1)
    return _densify(x, default, _wanted(shape, rank))


def _densify(x, default, sizes):
    values = x.values
    if is_ragged(values):
        values = _densify(values, default, [None] + sizes[2:])
    splits = x.row_splits
    dtype = splits.dtype
    lengths, starts = x.row_lengths(), x.row_starts()
    if sizes[0] is not None:  # truncate or pad the rows
        want = raw.Cast(convert(sizes[0]), dtype)
        more = raw.Maximum(raw.Sub(want, x.nrows()), convert(0, dtype))
        pad = raw.Pack([convert(0, dtype), more])
        pad = raw.ExpandDims(pad, 0)
        lengths = raw.Slice(raw.Pad(lengths, pad), [0], raw.Cast(raw.Reshape(want, [1]), dtypes.int32))
        starts = raw.Slice(raw.Pad(starts, pad), [0], raw.Cast(raw.Reshape(want, [1]), dtypes.int32))
    if sizes[1] is None:
        width = raw.Max(raw.ConcatV2([lengths, convert([0], dtype)], 0), [0])
    else:
        width = raw.Cast(convert(sizes[1]), dtype)
    at = raw.Range(convert(0, dtype), width, convert(1, dtype))
    inside = raw.Less(at, raw.ExpandDims(lengths, 1))
    n = raw.Shape(values, dtype)[0]
    place = raw.SelectV2(inside, raw.AddV2(raw.ExpandDims(starts, 1), at), n)
    tail = raw.ConcatV2([convert([1], dtype), raw.Shape(values, dtype)[1:]], 0)
    full = raw.ConcatV2([values, raw.BroadcastTo(default, tail)], 0)
    out = raw.GatherV2(full, place, 0)
    return _with_static_shape(out, x, sizes)


def _with_static_shape(out, x, sizes):
    dims = static_shape(out)
    rows = x.shape._dims[0]
    have = [s if isinstance(s, int) else None for s in sizes[:2]]
    if dims is None or is_concrete(dims):
        return out
    if have[0] is None and sizes[0] is None:
        have[0] = rows
    out.set_shape(have + [None] * (len(dims) - 2))
    return out


def is_concrete(dims):
    """Whether every size is known."""
    return None not in dims


def to_sparse(x):
    """RaggedTensor.to_sparse."""
    columns = []
    level = x
    rows = None  # the coordinates of the rows of this ragged dimension
    while is_ragged(level):
        row = level.value_rowids()
        _, at = ragged_indices(raw.ZerosLike(level.row_starts()), level.row_lengths())
        columns = [raw.GatherV2(c, row, 0) for c in columns] if columns else [row]
        columns.append(at)
        level = level.values
        rows = row
    del rows
    values = level
    inner = rank_of(values) or 1
    shape = x.bounding_shape(out_type=dtypes.int64)
    columns = [raw.Cast(c, dtypes.int64) for c in columns]
    indices = raw.Pack(columns, axis=1)
    if inner > 1:
        every = raw.Where(raw.Fill(raw.Shape(values), convert(True)))
        outer = raw.GatherV2(indices, every[:, 0], 0)
        indices = raw.ConcatV2([outer, every[:, 1:]], 1)
        values = raw.Reshape(values, [-1])
    return SparseTensor(indices, values, shape)


def merge_dims(x, outer_axis, inner_axis):
    """RaggedTensor.merge_dims."""
    rank = x.shape.rank
    outer = outer_axis + rank if outer_axis < 0 else outer_axis
    inner = inner_axis + rank if inner_axis < 0 else inner_axis
    if not 0 <= outer <= inner or (rank is not None and inner >= rank):
        raise ValueError(f"axes {outer_axis} and {inner_axis} are out of order or of range {rank}")
    if outer == inner:
        return x
    if outer > 1:
        return x.with_values(merge_dims(x.values, outer - 1, inner - 1))
    if outer == 1:
        splits, values = x.row_splits, x.values
        for _ in builtins.range(inner - 1):
            if is_ragged(values):
                splits, values = raw.GatherV2(values.row_splits, splits, 0), values.values
            else:
                shape = raw.Shape(values, splits.dtype)
                splits = raw.Mul(splits, shape[1])
                values = raw.Reshape(values, raw.ConcatV2([raw.Reshape(shape[0] * shape[1], [1]), shape[2:]], 0))
        return RaggedTensor(values, splits, _KEY)
    values = x
    for _ in builtins.range(inner):
        if is_ragged(values):
            values = values.values
        else:
            shape = raw.Shape(values)
            values = raw.Reshape(values, raw.ConcatV2([raw.Reshape(shape[0] * shape[1], [1]), shape[2:]], 0))
    return values


# ---- indexing ---------------------------------------------------------------------------------------


def gather(params, indices):
    """Gathers rows of a ragged or dense tensor by a vector of row numbers."""
    if not is_ragged(params):
        return raw.GatherV2(params, indices, 0)
    indices = convert(indices)
    lengths = raw.GatherV2(params.row_lengths(), indices, 0)
    starts = raw.GatherV2(params.row_starts(), indices, 0)
    splits, at = ragged_indices(starts, lengths)
    return RaggedTensor(gather(params.values, at), splits, _KEY, params._uniform)


def getitem(x, key):
    """RaggedTensor.__getitem__."""
    keys = list(key) if isinstance(key, tuple) else [key]
    if any(k is None for k in keys):
        raise ValueError("a new axis inside the index of a RaggedTensor: use tf.expand_dims")
    if any(k is Ellipsis for k in keys):
        at = [k is Ellipsis for k in keys].index(True)
        rank = x.shape.rank
        if rank is None:
            raise ValueError("Ellipsis in the index of a RaggedTensor of unknown rank")
        keys[at : at + 1] = [_slice(None)] * (rank - len(keys) + 1)
    return _pick(x, keys)


def _pick(x, keys):
    if not keys:
        return x
    if not is_ragged(x):
        return x[tuple(keys)]
    first, rest = keys[0], keys[1:]
    if isinstance(first, _slice):
        rows = _slice_rows(x, first)
        return _pick_inner(rows, rest)
    return _pick(_row(x, first), rest)


def _row(x, key):
    """One row."""
    number = known(key)
    dims = x.shape._dims
    if number is not None:
        if number.shape != () or number.dtype.kind not in "iu":
            raise TypeError(f"{key!r} is not an index of a RaggedTensor: an int or a slice is needed")
        number = int(number)
        size = dims[0]
        if size is not None and not -size <= number < size:
            raise IndexError(f"Row key {number} out of bounds")
        starts, limits = x.row_starts(), x.row_limits()
        begin, end = starts[number], limits[number]
    else:
        key = raw.Cast(convert(key), dtypes.int64)
        count = raw.Cast(x.nrows(), dtypes.int64)
        key = raw.SelectV2(raw.Less(key, convert(0, dtypes.int64)), raw.AddV2(key, count), key)
        begin, end = raw.GatherV2(x.row_starts(), key, 0), raw.GatherV2(x.row_limits(), key, 0)
    if is_ragged(x.values):
        at = raw.Range(begin, end, convert(1, begin.dtype))
        return gather(x.values, at)
    return x.values[begin:end]


def _slice_rows(x, key):
    if key.start is None and key.stop is None and key.step is None:
        return x
    count = x.nrows()
    at = raw.Range(convert(0, count.dtype), count, convert(1, count.dtype))[key]
    return gather(x, at)


def _bound(value, lengths, low, high):
    """The bound of a slice for each row, as a nonnegative index clamped to [low, high]."""
    value = raw.Cast(convert(value), lengths.dtype)
    value = raw.SelectV2(raw.Less(value, convert(0, lengths.dtype)), raw.AddV2(value, lengths),
                         raw.BroadcastTo(value, raw.Shape(lengths)))
    return raw.Minimum(raw.Maximum(value, low), high)


def _pick_inner(x, keys):
    """Applies the rest of an index to every row."""
    if not keys:
        return x
    first, rest = keys[0], keys[1:]
    if not isinstance(first, _slice):
        if x._uniform is None:
            raise ValueError("Cannot index into an inner ragged dimension.")
        number = int(known(first))
        size = x._uniform
        if not -size <= number < size:
            raise IndexError(f"index {number} is out of bounds for a dimension of size {size}")
        at = raw.AddV2(x.row_starts(), convert(number % size, x.row_splits.dtype))
        picked = gather(x.values, at)
        return _pick(picked, [_slice(None)] + rest) if rest else picked
    if first.start is None and first.stop is None and first.step is None:
        return x.with_values(_pick(x.values, [_slice(None)] + rest)) if rest else x
    lengths = x.row_lengths()
    dtype = lengths.dtype
    zero, one = raw.ZerosLike(lengths), convert(1, dtype)
    step = 1 if first.step is None else int(known(first.step))
    if step == 0:
        raise ValueError("slice step cannot be zero")
    if step > 0:
        begin = zero if first.start is None else _bound(first.start, lengths, zero, lengths)
        end = lengths if first.stop is None else _bound(first.stop, lengths, zero, lengths)
    else:
        last = raw.Sub(lengths, one)
        begin = last if first.start is None else _bound(first.start, lengths, raw.Neg(raw.OnesLike(zero)), last)
        end = raw.Neg(raw.OnesLike(zero)) if first.stop is None else _bound(
            first.stop, lengths, raw.Neg(raw.OnesLike(zero)), last)
    span = raw.Sub(end, begin) if step > 0 else raw.Sub(begin, end)
    size = abs(step)
    count = raw.Maximum(raw.FloorDiv(raw.AddV2(span, convert(size - 1, dtype)), convert(size, dtype)), zero)
    splits, at = ragged_indices(zero, count)
    row = row_numbers(splits)
    from_row = raw.GatherV2(raw.AddV2(x.row_starts(), begin), row, 0)
    values = gather(x.values, raw.AddV2(from_row, raw.Mul(at, convert(step, dtype))))
    if rest:
        values = _pick(values, [_slice(None)] + rest)
    return RaggedTensor(values, splits, _KEY)


# ---- arithmetic -----------------------------------------------------------------------------------------------


def _same_rows(a, b):
    """Two ragged tensors that must have the same row splits. They are checked unless they are the same object."""
    if a.ragged_rank != b.ragged_rank:
        raise ValueError(f"ragged ranks {a.ragged_rank} and {b.ragged_rank} differ")
    for s, t in zip(a.nested_row_splits, b.nested_row_splits):
        if s is not t:
            assert_equal(s, raw.Cast(t, s.dtype) if t.dtype != s.dtype else t,
                         message="the rows of two ragged tensors differ in length")


def _spread(dense, x):
    """Broadcasts a dense tensor to a ragged one. Returns one value for each flat value."""
    rank = rank_of(dense)
    if rank is None:
        raise ValueError("Unable to broadcast: unknown rank of a tensor that is combined with a ragged one")
    if rank == 0:
        return dense
    whole = x.shape.rank
    if rank > whole:
        raise ValueError(f"a tensor of rank {rank} cannot be broadcast to a ragged tensor of rank {whole}")
    if rank < whole:
        inner = whole - x.ragged_rank - 1
        if rank <= inner:
            return dense
        dims = seen_shape(dense)
        if None in dims:
            raise ValueError("the shape of a tensor that is combined with a ragged tensor must be known")
        dense = raw.Reshape(dense, [1] * (whole - rank) + list(dims))
    level = x
    while is_ragged(level):
        dense = _spread_level(dense, level)
        level = level.values
    return dense


def _spread_level(dense, level):
    dims = seen_shape(dense)[:2]
    row = level.value_rowids()
    if dims[1] == 1:
        inner = raw.Squeeze(dense, [1])
        return inner if dims[0] == 1 else raw.GatherV2(inner, row, 0)
    lengths = level.row_lengths()
    width = raw.Shape(dense, lengths.dtype)[1]
    assert_equal(lengths, raw.BroadcastTo(width, raw.Shape(lengths)),
                 message="a tensor cannot be broadcast to the row lengths of a ragged tensor")
    _, at = ragged_indices(raw.ZerosLike(lengths), lengths)
    first = raw.ZerosLike(row) if dims[0] == 1 else row
    return raw.GatherNd(dense, raw.Pack([first, at], axis=1))


def binary(function, x, y, **kwargs):
    """An elementwise function of two operands, at least one of them ragged."""
    ragged = x if is_ragged(x) else y
    if ragged.shape.rank is None or (is_ragged(y) and y.shape.rank is None):
        raise ValueError("Unable to broadcast: unknown rank")
    if is_ragged(x) and is_ragged(y):
        _same_rows(x, y)
        return x.with_flat_values(function(x.flat_values, y.flat_values, **kwargs))
    other = y if ragged is x else x
    other = other if isinstance(other, Tensor) else convert(other, None, ragged.dtype)
    flat = _spread(other, ragged)
    pair = (ragged.flat_values, flat) if ragged is x else (flat, ragged.flat_values)
    return ragged.with_flat_values(function(*pair, **kwargs))


def _operators():
    def forward(function):
        return lambda self, y: binary(function, self, as_ragged(y))

    def reverse(function):
        return lambda self, y: binary(function, as_ragged(y), self)

    def compared(function):
        def by_value(a, b):
            made = function(a, b)
            if not isinstance(made, Tensor):
                raise ValueError("tensors of this graph are compared by identity")
            return made

        def compare(self, y):
            try:
                return binary(by_value, self, as_ragged(y))
            except (errors.InvalidArgumentError, ValueError):  # the row lengths differ, so nothing is equal
                return (self is y) == (function is operator.eq)

        return compare

    for word in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor"):
        function = getattr(operator, word + "_" if word in ("and", "or") else word)
        setattr(RaggedTensor, f"__{word}__", forward(function))
        setattr(RaggedTensor, f"__r{word}__", reverse(function))
    for word in ("lt", "le", "gt", "ge"):
        setattr(RaggedTensor, f"__{word}__", forward(getattr(operator, word)))
    for word in ("eq", "ne"):
        setattr(RaggedTensor, f"__{word}__", compared(getattr(operator, word)))
    for word in ("neg", "abs", "invert"):
        function = getattr(operator, word)
        setattr(RaggedTensor, f"__{word}__",
                lambda self, function=function: self.with_flat_values(function(self.flat_values)))
    RaggedTensor.__hash__ = object.__hash__


_operators()


@export("ragged.map_flat_values")
def map_flat_values(op, *args, **kwargs):
    """Applies `op` to the flat values of the ragged arguments, which must have the same row lengths."""
    found = [a for a in list(args) + list(kwargs.values()) if is_ragged(a)]
    if not found:
        return op(*args, **kwargs)
    for other in found[1:]:
        _same_rows(found[0], other)

    def flat(a):
        return a.flat_values if is_ragged(a) else a

    made = op(*[flat(a) for a in args], **{k: flat(a) for k, a in kwargs.items()})
    return found[0].with_flat_values(made)


# ---- masks ------------------------------------------------------------------------------------------------------------


@export("ragged.boolean_mask")
def boolean_mask(data, mask, name=None):
    """The elements of each row where `mask` is true."""
    if is_ragged(mask) and is_ragged(data):
        _same_rows(mask, data)
        rows = mask.value_rowids()
        if is_ragged(mask.values):
            return data.with_values(boolean_mask(data.values, mask.values))
        keep = raw.Reshape(raw.Where(mask.values), [-1])
        return RaggedTensor.from_value_rowids(
            gather(data.values, keep), raw.GatherV2(rows, keep, 0), data.nrows(), validate=False)
    mask = convert(mask, dtypes.bool)
    rank = rank_of(mask)
    if not rank:
        raise ValueError("mask cannot be scalar" if rank == 0 else "mask.shape.ndims must be known statically")
    if rank == 1:
        return gather(data if is_ragged(data) else convert(data), raw.Reshape(raw.Where(mask), [-1]))
    if is_ragged(data):
        raise ValueError("a ragged tensor needs a mask that is a vector or ragged in the same way")
    data = convert(data)
    lengths = raw.Sum(raw.Cast(mask, dtypes.int64), [rank - 1])
    values = raw.GatherNd(data, raw.Where(mask))
    made = RaggedTensor.from_row_lengths(values, raw.Reshape(lengths, [-1]), validate=False)
    for size in builtins.range(rank - 2, 0, -1):
        made = RaggedTensor.from_uniform_row_length(made, raw.Shape(mask, dtypes.int64)[size], validate=False)
    return made
