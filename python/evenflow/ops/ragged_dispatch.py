"""Ops of plain tensors called with ragged ones: elementwise ops work on the flat values, the others on rows.

Each function answers for a raw op after that has refused its arguments, so plain calls pay nothing.
"""
import builtins

from ..dispatch import handle
from ..namespace import export
from ..ragged import _KEY, RaggedTensor, row_numbers
from ..ragged_value import RaggedTensorValue
from . import ragged_gather
from .common import Tensor, convert, dtypes, has_rows, known, raw, rank_of
from .ragged import _same_rows, _spread, binary, gather, getitem, is_ragged


def as_ragged(x):
    """`x`; a RaggedTensorValue as the RaggedTensor it stands for."""
    if not isinstance(x, RaggedTensorValue):
        return x
    return RaggedTensor.from_nested_row_splits(x.flat_values, x.nested_row_splits, validate=False)


def _plain(x):
    return x if is_ragged(x) else convert(x)


def _unary(op, args, kwargs):
    x = as_ragged(args[0])
    return x.with_flat_values(op(x.flat_values, *args[1:], **kwargs))


def _binary(op, args, kwargs):
    x, y, *rest = args
    return binary(lambda a, b: op(a, b, *rest, **kwargs), as_ragged(x), as_ragged(y))


def _flat_alike(values):
    """(the first ragged one of `values`, all of them as flat values that go together)"""
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


def elementwise(function, values, kwargs):
    """`function` of values that are ragged in the same way, or broadcast to that, in their rows."""
    kind = next(v.dtype for v in map(as_ragged, values) if is_ragged(v))
    first, flat = _flat_alike([v if has_rows(v) or isinstance(v, Tensor) else convert(v, None, kind) for v in values])
    return first.with_flat_values(function(*flat, **kwargs))


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


def _axis(axis, rank):
    """The number of an axis, counted from the front."""
    number = known(axis)
    if number is None or rank is None:
        raise ValueError("an axis of a ragged tensor, and its rank, must be known")
    number = int(number)
    if not -rank <= number < rank:
        raise ValueError(f"axis={number} out of bounds: expected {-rank}<=axis<{rank}")
    return number % rank


def _levelled(values):
    """`values` with the same number of ragged levels and one type of splits."""
    values = [_plain(as_ragged(v)) for v in values]
    ragged = [v for v in values if is_ragged(v)]
    most = max(v.ragged_rank for v in ragged)
    dtype = dtypes.int64 if any(v.row_splits.dtype == dtypes.int64 for v in ragged) else dtypes.int32
    return [_with_levels(v, most).with_row_splits_dtype(dtype) for v in values]


def _with_levels(x, count):
    """`x` with `count` ragged levels, dimensions of its flat values turned into rows."""
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
        raise ValueError(f"tensors of ranks {sorted(map(str, ranks))} cannot be joined")
    return _concat(values, _axis(axis, ranks.pop()))


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
    """The outermost rows of `x`, to compare with those of another."""
    return x.with_values(row_numbers(x.row_splits))


def _beside(values):
    """Row by row, one behind the other."""
    from . import debug

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


def expand_dims(x, axis):
    """tf.expand_dims of a ragged tensor."""
    axis = _axis(axis, None if x.shape.rank is None else x.shape.rank + 1)
    if axis == 0:
        return RaggedTensor.from_uniform_row_length(x, x.nrows(), nrows=1, validate=False)
    if axis == 1:
        return RaggedTensor.from_uniform_row_length(x, convert(1, x.row_splits.dtype), nrows=x.nrows(), validate=False)
    if is_ragged(x.values):
        return x.with_values(expand_dims(x.values, axis - 1))
    return x.with_values(raw.ExpandDims(x.values, axis - 1))


def _pack(op, args, kwargs):
    axis = kwargs.get("axis", args[1] if len(args) > 1 else 0)
    values = _levelled(args[0])
    number = _axis(axis, None if values[0].shape.rank is None else values[0].shape.rank + 1)
    return concat([expand_dims(v, number) for v in values], number)


@export("ragged.stack")
def stack(values, axis=0, name=None):
    """As tf.stack, but the result is always ragged."""
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    values = [_plain(as_ragged(v)) for v in values]
    ranks = {v.shape.rank for v in values}
    if len(ranks) > 1 or None in ranks:
        raise ValueError(f"tensors of ranks {sorted(map(str, ranks))} cannot be stacked as rows")
    rank = ranks.pop()
    number = _axis(axis, rank + 1)
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
        keys[_axis(axis, x.shape.rank)] = builtins.slice(None, None, -1)
    return getitem(x, tuple(keys))


def _squeeze(op, args, kwargs):
    x = as_ragged(args[0])
    axes = kwargs.get("squeeze_dims", kwargs.get("axis", args[1] if len(args) > 1 else None))
    if not axes:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    axes = sorted((_axis(a, x.shape.rank) for a in (axes if isinstance(axes, (list, tuple)) else [axes])), reverse=True)
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


def _gather(op, args, kwargs):
    params, indices, axis, *batch = args
    return ragged_gather.gather(as_ragged(params), as_ragged(indices), axis, *(batch or [kwargs.get("batch_dims", 0)]))


def _rank(op, args, kwargs):
    x = as_ragged(args[0])
    rank = x.shape.rank
    return convert(rank, dtypes.int32) if rank is not None else raw.AddV2(raw.Rank(x.flat_values), x.ragged_rank)


_UNARY = """Abs Acos Acosh Angle AsString Asin Asinh Atan Atanh BesselI0e BesselI1e Bitcast Cast Ceil CheckNumerics
ComplexAbs Conj Cos Cosh DecodeBase64 Digamma Elu EncodeBase64 Erf Erfc Erfinv Exp Expm1 Floor Gelu Identity
Imag Inv Invert IsFinite IsInf IsNan LeakyRelu Lgamma Log Log1p LogicalNot Ndtri Neg OneHot OnesLike Real
Reciprocal RegexFullMatch RegexReplace Relu Relu6 Rint Round Rsqrt Selu Sigmoid Sign Sin Sinh Softplus
Softsign Sqrt Square StaticRegexFullMatch StaticRegexReplace StopGradient StringLength StringLower StringStrip
StringToHashBucket StringToHashBucketFast StringToHashBucketStrong StringToNumber StringUpper Substr Tan Tanh
UnicodeScript UnicodeTranscode ZerosLike"""
_BINARY = """Add AddV2 Atan2 BitwiseAnd BitwiseOr BitwiseXor Complex Div DivNoNan Equal FloorDiv FloorMod Greater
GreaterEqual Igamma Igammac LeftShift Less LessEqual LogicalAnd LogicalOr Maximum Minimum Mod Mul MulNoNan
NextAfter NotEqual Pow RealDiv RightShift SquaredDifference Sub TruncateDiv TruncateMod Xdivy Xlog1py Xlogy
Zeta"""
_OTHERS = {
    "AddN": _list, "StringJoin": _list, "SelectV2": _select, "Select": _select, "Pack": _pack, "Tile": _tile,
    "ReverseV2": _reverse, "Squeeze": _squeeze, "Softmax": _softmax, "GatherV2": _gather, "Rank": _rank,
    "ConcatV2": lambda op, args, kwargs: concat(list(args[0]), args[1]),
    "ExpandDims": lambda op, args, kwargs: expand_dims(as_ragged(args[0]), args[1]),
    "Size": lambda op, args, kwargs: op(as_ragged(args[0]).flat_values, *args[1:], **kwargs),
}


def handle_ragged(table):
    """The functions of a table by the name of the op answer for ragged arguments."""
    for kind in (RaggedTensor, RaggedTensorValue):
        for name, function in table.items():
            handle(kind, [name], function)


handle_ragged({name: _unary for name in _UNARY.split()})
handle_ragged({name: _binary for name in _BINARY.split()})
handle_ragged({f"UnsortedSegment{word}": _segments for word in ("Sum", "Prod", "Max", "Min")})
handle_ragged(_OTHERS)
