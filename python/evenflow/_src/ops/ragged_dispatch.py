"""Handlers for functions of dense tensors that are called with ragged ones: elementwise functions work on the flat values,
the others on rows.

A handler is called after an op or a function has rejected its arguments (see dispatch.py).
"""
import builtins

from .. import elementwise, errors
from ..dispatch import handle, parameters
from ..functional import map_fn
from ..namespace import export, names
from ..ragged import _KEY, RaggedTensor, as_ragged, is_ragged, row_numbers
from ..ragged_shape import DynamicRaggedShape
from ..ragged_value import RaggedTensorValue
from ..specs import TensorSpec
from . import debug, embedding, ragged_gather, ragged_reduce
from .common import convert, dtypes, known, raw, rank_of
from .ragged import _same_rows, _spread, binary, gather, getitem
from .ragged_axes import axis_of, expand_dims


def _plain(x):
    return x if is_ragged(x) else convert(x)


def _shape(api, args, kwargs):
    out_type = args[1] if len(args) > 1 and args[1] is not None else dtypes.int32
    return DynamicRaggedShape.from_tensor(as_ragged(args[0]), dtypes.as_dtype(out_type))


def _unary(op, args, kwargs):
    x = as_ragged(args[0])
    return x.with_flat_values(op(x.flat_values, *args[1:], **kwargs))


def _binary(op, args, kwargs):
    x, y, *rest = args
    return binary(lambda a, b: op(a, b, *rest, **kwargs), as_ragged(x), as_ragged(y))


def _flat_alike(values):
    """(the first ragged tensor of `values`, all of them as flat values of the same length)"""
    values = [as_ragged(v) for v in values]
    first = next(v for v in values if is_ragged(v))
    flat = []
    for v in values:
        if is_ragged(v):
            if v is not first:
                _same_rows(first, v)
            flat.append(v.flat_values)
        else:
            flat.append(_spread(convert(v), first))
    return first, flat


def _list(op, args, kwargs):
    first, flat = _flat_alike(args[0])
    return first.with_flat_values(op(flat, *args[1:], **kwargs))


def _select(op, args, kwargs):
    first, flat = _flat_alike(args)
    return first.with_flat_values(op(*flat, **kwargs))


def _segments(op, args, kwargs):
    data, ids, *rest = args
    data, ids = as_ragged(data), as_ragged(ids)
    if not is_ragged(data) or not is_ragged(ids):
        raise ValueError("ragged data and segment ids must both be ragged, with the same rows")
    _same_rows(data, ids)
    return op(data.flat_values, ids.flat_values, *rest, **kwargs)


# ---- joining --------------------------------------------------------------------------------------------------


def _levelled(values):
    """`values` converted to the same ragged rank and the same dtype of row splits."""
    values = [_plain(as_ragged(v)) for v in values]
    ragged = [v for v in values if is_ragged(v)]
    most = max(v.ragged_rank for v in ragged)
    dtype = dtypes.int64 if any(v.row_splits.dtype == dtypes.int64 for v in ragged) else dtypes.int32
    return [_with_levels(v, most).with_row_splits_dtype(dtype) for v in values]


def _with_levels(x, count):
    """`x` with ragged rank `count`: dimensions of its flat values become ragged dimensions."""
    if not is_ragged(x):
        return RaggedTensor.from_tensor(x, ragged_rank=count)
    if x.ragged_rank == count:
        return x
    inner = count - x.ragged_rank
    return x.with_flat_values(RaggedTensor.from_tensor(x.flat_values, ragged_rank=inner))


def concat(values, axis):
    """tf.concat of ragged tensors."""
    if len(values) == 1:
        return as_ragged(values[0])
    values = _levelled(values)
    ranks = {v.shape.rank for v in values}
    if len(ranks) > 1:
        raise ValueError(f"tensors of ranks {sorted(map(str, ranks))} cannot be concatenated")
    return _concat(values, axis_of(axis, ranks.pop()))


def _concat(values, axis):
    if not is_ragged(values[0]):
        return raw.ConcatV2(values, axis)
    if axis == 0:
        lengths = raw.ConcatV2([v.row_lengths() for v in values], 0)
        size = values[0]._uniform if len({v._uniform for v in values}) == 1 else None
        made = RaggedTensor.from_row_lengths(_concat([v.values for v in values], 0), lengths, validate=False)
        return made if size is None else RaggedTensor(made.values, made.row_splits, _KEY, size)
    if axis == 1:
        return _beside(values)
    for v in values[1:]:
        _same_rows(_outer(values[0]), _outer(v))
    return values[0].with_values(_concat([v.values for v in values], axis - 1))


def _outer(x):
    """The outermost row partition of `x`, with row numbers as its values, to compare it with another."""
    return x.with_values(row_numbers(x.row_splits))


def _beside(values):
    """Concatenates the tensors row by row."""
    count, size = values[0].nrows(), len(values)
    dtype = count.dtype
    checks = [debug.assert_equal(v.nrows(), count, message="ragged tensors with different numbers of rows cannot be "
                                                            "joined along an inner axis") for v in values[1:]]
    count = debug.with_dependencies([c for c in checks if c is not None], count)
    at = raw.Range(convert(0, dtype), count, convert(1, dtype))
    first = raw.Mul(raw.Range(convert(0, dtype), convert(size, dtype), convert(1, dtype)), count)
    order = raw.Reshape(raw.AddV2(raw.ExpandDims(at, 1), first), [-1])
    rows = gather(_concat(values, 0), order)
    uniform = [v._uniform for v in values]
    return RaggedTensor(rows.values, rows.row_splits[::size], _KEY, None if None in uniform else builtins.sum(uniform))


def _pack(op, args, kwargs):
    axis = kwargs.get("axis", args[1] if len(args) > 1 else 0)
    values = _levelled(args[0])
    number = axis_of(axis, None if values[0].shape.rank is None else values[0].shape.rank + 1)
    return concat([expand_dims(v, number) for v in values], number)


@export("ragged.stack")
def stack(values, axis=0, name=None):
    """Like tf.stack, but the result is always ragged."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    values = [_plain(as_ragged(v)) for v in values]
    ranks = {v.shape.rank for v in values}
    if len(ranks) > 1 or None in ranks:
        raise ValueError(f"tensors of ranks {sorted(map(str, ranks))} cannot be stacked as rows")
    rank = ranks.pop()
    number = axis_of(axis, rank + 1)
    if not any(is_ragged(v) for v in values) and (number > 0 or rank == 0):
        return raw.Pack(values, axis=number)
    if number > 0:
        return _pack(None, (values, number), {})
    if rank > 1:
        values = _levelled(values) if any(is_ragged(v) for v in values) else [_with_levels(v, 1) for v in values]
        lengths = [v.nrows() for v in values]
    else:
        lengths = [raw.Shape(v)[0] for v in values]
    rows = _concat(values, 0) if len(values) > 1 else values[0]
    return RaggedTensor.from_row_lengths(rows, raw.Pack(lengths), validate=False)


def _tile(op, args, kwargs):
    x, multiples = as_ragged(args[0]), known(args[1])
    if multiples is None:
        raise ValueError("multiples of a ragged tensor must be known")
    for axis, many in enumerate(multiples.tolist()):
        if many == 0:
            x = getitem(x, (builtins.slice(None),) * axis + (builtins.slice(0, 0),))
        elif many > 1:
            x = concat([x] * many, axis)
    return x


# ---- the others ---------------------------------------------------------------------------------------------------


def _reverse(op, args, kwargs):
    x = as_ragged(args[0])
    keys = [builtins.slice(None)] * (x.shape.rank or 1)
    for axis in known(args[1]).reshape(-1).tolist():
        keys[axis_of(axis, x.shape.rank)] = builtins.slice(None, None, -1)
    return getitem(x, tuple(keys))


def _squeeze(op, args, kwargs):
    x = as_ragged(args[0])
    axes = kwargs.get("squeeze_dims", kwargs.get("axis", args[1] if len(args) > 1 else None))
    if not axes:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    axes = sorted((axis_of(a, x.shape.rank) for a in (axes if isinstance(axes, (list, tuple)) else [axes])), reverse=True)
    for axis in axes:
        if axis == 0:
            x = getitem(x, 0)
        elif x.shape.as_list()[axis] not in (1, None):
            raise ValueError(f"Given axis = {axis} is a ragged dimension or has size {x.shape[axis]}, not 1")
        else:
            x = ragged_gather._without(x, axis)
    return x


def _softmax(op, args, kwargs):
    x = as_ragged(args[0])
    if (rank_of(x.flat_values) or 1) > 1:
        return _unary(op, (x, *args[1:]), kwargs)
    level = x
    while is_ragged(level.values):
        level = level.values
    flat, ids, count = level.values, level.value_rowids(), level.nrows()
    most = raw.UnsortedSegmentMax(flat, ids, count)
    exp = raw.Exp(raw.Sub(flat, raw.GatherV2(most, ids, 0)))
    total = raw.UnsortedSegmentSum(exp, ids, count)
    return x.with_flat_values(raw.RealDiv(exp, raw.GatherV2(total, ids, 0)))


def _gather(api, args, kwargs):
    params, indices, _, axis, batch_dims = args
    return ragged_gather.gather(as_ragged(params), as_ragged(indices), batch_dims if axis is None else axis, batch_dims)


def _rank(op, args, kwargs):
    x = as_ragged(args[0])
    rank = x.shape.rank
    return convert(rank, dtypes.int32) if rank is not None else raw.AddV2(raw.Rank(x.flat_values), x.ragged_rank)


def _softmax_along(api, args, kwargs):
    x, axis = as_ragged(args[0]), args[1] if len(args) > 1 else kwargs.get("axis")
    if axis not in (None, -1) and axis + 1 != x.shape.rank:
        raise errors.InvalidArgumentError(
            None, None, f"softmax of a ragged tensor goes along its last axis, not along axis={axis}")
    return raw.Softmax(x)


def _reduction(word):
    def reduced(api, args, kwargs):
        given = dict(zip(("input_tensor", "axis", "keepdims"), args), **kwargs)
        return ragged_reduce.reduce(word, given["input_tensor"], given.get("axis"), given.get("keepdims", False))

    return reduced


def _reduce_join(api, args, kwargs):
    return ragged_reduce.reduce("Join", *args[:4])


def _lookup(api, args, kwargs):
    params, ids, *rest = args
    ids = as_ragged(ids)
    if ids.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"The values contained by the ids have type {ids.dtype}. Expected tf.int32 or tf.int64.")
    return ids.with_flat_values(api(params, ids.flat_values, *rest, **kwargs))


def _dropout(api, args, kwargs):
    if dict(zip(parameters(api), args)).get("noise_shape") is not None:
        raise ValueError("noise_shape is not supported yet for RaggedTensor x")
    return _unary(api, args, kwargs)


def _one_hot(api, args, kwargs):
    """tf.one_hot. The new axis belongs to the flat values, so it comes after the ragged dimensions."""
    indices, depth, on, off, axis, *rest = args
    indices = as_ragged(indices)
    if axis is not None and axis >= 0:
        if axis <= indices.ragged_rank:
            raise ValueError(f"axis ({axis}) must be greater than indices.ragged_rank ({indices.ragged_rank}).")
        axis -= indices.ragged_rank
    return indices.with_flat_values(api(indices.flat_values, depth, on, off, axis, *rest, **kwargs))


def _segment_mean(root):
    """The sum of each segment divided by the number of its values, or by the root of that number if `root`; NaN for an empty
    segment."""

    def mean(api, args, kwargs):
        data, ids, count = args
        ones = as_ragged(data).with_flat_values(raw.OnesLike(as_ragged(data).flat_values))
        sizes = _segments(raw.UnsortedSegmentSum, (ones, ids, count), {})
        return raw.RealDiv(_segments(raw.UnsortedSegmentSum, args, {}), raw.Sqrt(sizes) if root else sizes, **kwargs)

    return mean


def _resize(api, args, kwargs):
    """Resizes images of different sizes one by one."""
    images, *rest = args
    images = as_ragged(images)
    if images.shape.rank != 4:
        raise ValueError("tf.image.resize: images.shape.rank must be 4 if images is ragged.")

    def one(image):
        return api(image.to_tensor() if is_ragged(image) else image, *rest, **kwargs)

    made = api(raw.ZerosLike(raw.Fill([1, 1, images.shape[-1] or 1], convert(0, images.dtype))), *rest, **kwargs)
    return map_fn(one, images, fn_output_signature=TensorSpec([*made.shape[:2], images.shape[-1]], made.dtype))


def _asserted(api, args, kwargs):
    """An assertion about two values, which is checked for the flat values after broadcasting."""
    x, y, *rest = args
    checks = []
    binary(lambda a, b: checks.append(api(a, b, *rest, **kwargs)) or raw.Identity(a), as_ragged(x), as_ragged(y))
    return checks[0]


_UNARY = """Abs Angle AsString Bitcast Cast CheckNumerics ComplexAbs Conj Gelu Identity Imag LeakyRelu OnesLike Real
RegexFullMatch RegexReplace Round StaticRegexFullMatch StaticRegexReplace StopGradient StringLength StringLower
StringToHashBucket StringToNumber StringUpper Substr ZerosLike"""
_BINARY = """Add Complex Div DivNoNan Equal Mod MulNoNan NextAfter NotEqual Xdivy"""
_OTHERS = {
    "AddN": _list, "StringJoin": _list, "SelectV2": _select, "Select": _select, "Pack": _pack, "Tile": _tile,
    "ReverseV2": _reverse, "Squeeze": _squeeze, "Softmax": _softmax, "Rank": _rank,
    "ConcatV2": lambda op, args, kwargs: concat(list(args[0]), args[1]),
    "ExpandDims": lambda op, args, kwargs: expand_dims(as_ragged(args[0]), args[1]),
    "Size": lambda op, args, kwargs: op(as_ragged(args[0]).flat_values, *args[1:], **kwargs),
}
_FUNCTIONS = {
    **{f"math.reduce_{word.lower()}": _reduction(word) for word in ("Sum", "Mean", "Prod", "Max", "Min", "All", "Any")},
    "math.reduce_logsumexp": _reduction("LogSumExp"),
    "math.reduce_variance": lambda api, args, kwargs: ragged_reduce.variance(*args[:3]),
    "strings.reduce_join": _reduce_join, "nn.softmax": _softmax_along, "nn.dropout": _dropout,
    "nn.experimental.stateless_dropout": _dropout,
    "math.add_n": lambda api, args, kwargs: raw.AddN(args[0]) if len(args[0]) > 1 else as_ragged(args[0][0]),
    "strings.join": _list,
    "shape": _shape, "reverse": _reverse, "stack": _pack, "gather": _gather, "one_hot": _one_hot,
    "math.unsorted_segment_mean": _segment_mean(False), "math.unsorted_segment_sqrt_n": _segment_mean(True),
    "image.resize": _resize, "compat.v1.image.resize": _resize,
}


def handle_ragged(table):
    """Registers the handlers of a table {op or function: handler} for ragged arguments."""
    for kind in (RaggedTensor, RaggedTensorValue):
        for api, handler in table.items():
            handle(kind, [api], handler)


def _public(public_names):
    return [names()[name] for name in public_names if name in names()]


def register():
    """Registers the handlers. Called when all public functions are defined."""
    handle_ragged({api: _unary for api in (*_UNARY.split(), *_public(elementwise.UNARY))})
    handle_ragged({api: _binary for api in (*_BINARY.split(), *_public(elementwise.BINARY))})
    handle_ragged({api: _asserted for api in _public(elementwise.ASSERTS)})
    handle_ragged({f"UnsortedSegment{word}": _segments for word in ("Sum", "Prod", "Max", "Min")})
    handle_ragged(_OTHERS)
    handle_ragged({names()[name]: handler for name, handler in _FUNCTIONS.items()})
    handle_ragged({embedding.lookup: _lookup})
