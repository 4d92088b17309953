"""Functions that create tensors: zeros, ones, fill, range, linspace, meshgrid, sequence_mask."""
import builtins

from .. import errors
from ..dispatch import REFUSED, redirect
from ..namespace import export
from ..shapes import TensorShape
from .common import Tensor, convert, dtypes, executing_eagerly, known, np, raw, rank_of
from .math import cast


def _dims(shape):
    """The shape argument of fill and zeros as a tensor, array or list of sizes."""
    if isinstance(shape, TensorShape):
        shape.assert_is_fully_defined()
        return convert(shape, dtypes.int32)
    if isinstance(shape, (list, tuple)):
        return shape or np.zeros([0], np.int32)
    if not executing_eagerly():
        return shape  # in a graph it must be a vector
    if isinstance(shape, (int, np.integer)):
        return [shape]
    if isinstance(shape, Tensor) and rank_of(shape) == 0:
        return raw.Reshape(shape, [-1])
    return shape


_INTS = frozenset((int,))
_EMPTY_VALUE = {dtypes.bool: (False, True), dtypes.string: ("", "")}


def _sizes(shape):
    """The shape argument of zeros and ones as a vector, of int64 if a size needs it."""
    if type(shape) in (list, tuple) and shape and _INTS.issuperset(map(type, shape)):
        return convert(shape)
    if not isinstance(shape, Tensor):
        try:
            sizes = convert(TensorShape(shape))
        except (TypeError, ValueError):  # a size is a tensor, or is not a valid size
            sizes = None if executing_eagerly() else _truncated(shape)
            if sizes is None:
                sizes = convert(shape, dtypes.int32)
        shape = sizes
    return raw.Reshape(shape, [-1]) if rank_of(shape) == 0 else shape


def _truncated(shape):
    """Sizes truncated to integers: in a graph TensorFlow accepts any numbers as the sizes of a small constant."""
    try:
        small = 0 != np.prod(shape) < 1000
        sizes = [int(size) for size in shape] if small else None
    except (TypeError, ValueError, NotImplementedError):
        return None
    return None if sizes is None or min(sizes, default=0) < 0 else convert(np.array(sizes, np.int32))


def _filled(shape, dtype, which, name):
    dtype = dtypes.as_dtype(dtype).base_dtype
    value = _EMPTY_VALUE.get(dtype, (0, 1))[which]
    sizes = _sizes(shape)
    if which and dtype is dtypes.string:
        raise TypeError("tf.ones cannot make a tensor of strings")
    if not executing_eagerly():
        _check_bytes(known(sizes), dtype)
    return raw.Fill(sizes, convert(value, dtype), name=name)


def _check_bytes(sizes, dtype):
    """Raises InvalidArgumentError for a constant of more than 2**40 bytes, before a graph tries to allocate it."""
    if sizes is None or sizes.size == 0 or not sizes.all():
        return
    if np.prod(sizes.astype(np.float64)) * dtype.size > 2**40:
        raise errors.InvalidArgumentError(None, None, f"a constant of shape {sizes.tolist()} and dtype {dtype.name} is too large")


@export("zeros")
def zeros(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of zeros (False for bool, empty strings for string)."""
    return _filled(shape, dtype, 0, name or "zeros")


@export("ones")
def ones(shape, dtype=dtypes.float32, name=None, layout=None):
    """A tensor of ones (True for bool)."""
    return _filled(shape, dtype, 1, name or "ones")


@export("fill")
def fill(dims, value, name=None, layout=None):
    """A tensor of shape `dims` with `value` everywhere."""
    return raw.Fill(_dims(dims), value, name=name)


def _same_size(x, dtype, which, name):
    x = convert(x)
    if executing_eagerly():
        same = dtype is None or not dtype != x.dtype
    elif x._dims is None or None in x._dims:  # the op reads the shape at run time; variants need it too
        same = dtype is None or not dtype != x.dtype or not dtype != dtypes.variant
    else:
        same = not dtype
    dtype = x.dtype if same else dtypes.as_dtype(dtype).base_dtype
    if dtype is x.dtype and (which or dtype is not dtypes.string):
        return (raw.OnesLike if which else raw.ZerosLike)(x, name=name)
    if dtype is dtypes.string and which:
        raise TypeError("Cannot convert 1 to a tensor of strings: tf.ones_like needs numbers")
    value = _EMPTY_VALUE.get(dtype, (0, 1))[which]
    return raw.Fill(raw.Shape(x), convert(value, dtype), name=name)


@export("zeros_like")
def zeros_like(input, dtype=None, name=None, layout=None):  # noqa: A002
    """Zeros with the shape of `input`."""
    try:
        return _same_size(input, dtype, 0, name or "zeros_like")
    except REFUSED:
        return redirect(zeros_like, input, dtype, layout=layout, name=name)


@export("ones_like")
def ones_like(input, dtype=None, name=None, layout=None):  # noqa: A002
    """Ones with the shape of `input`."""
    try:
        return _same_size(input, dtype, 1, name or "ones_like")
    except REFUSED:
        return redirect(ones_like, input, dtype, layout=layout, name=name)


_INT32 = builtins.range(-(2**31), 2**31)
_RANGE_ORDER = (dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


@export("range")
def range(start, limit=None, delta=1, dtype=None, name="range"):  # noqa: A001
    """The numbers from `start` (default 0) up to, but not including, `limit` in steps of `delta`."""
    if limit is None:
        start, limit = 0, start
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype)
    elif type(start) is type(limit) is type(delta) is int and max(start, limit, delta, key=builtins.abs) in _INT32:
        return raw.Range(start, limit, delta, name=name)
    values = []
    for value in (start, limit, delta):
        if not isinstance(value, Tensor):
            value = convert(value, dtype)
        if value._dims == (1,) and executing_eagerly():  # eagerly it counts as a scalar
            value = raw.Reshape(value, [])
        values.append(value)
    if dtype is None:
        kinds = [v.dtype for v in values]
        if any(k not in _RANGE_ORDER for k in kinds):
            odd = next(k for k in kinds if k not in _RANGE_ORDER)
            if any(k is not odd for k in kinds):
                raise AssertionError(
                    f"tf.range: bounds of types {[k.name for k in kinds]} have no common type; "
                    "give dtype"
                )
            dtype = odd
        else:
            dtype = max(kinds, key=_RANGE_ORDER.index)
    values = [v if v.dtype is dtype else raw.Cast(v, dtype) for v in values]
    if dtype is dtypes.float16 and not executing_eagerly() and all(known(v) is not None for v in values):
        raise ValueError("tf.range: a graph cannot count the numbers of a range of float16 beforehand; cast one of float32")
    return raw.Range(*values, name=name)


@export("linspace")
def linspace(start, stop, num, name=None, axis=0):
    """`num` evenly spaced values from `start` to `stop`, along a new `axis`."""
    constant = isinstance(start, (int, float)) and isinstance(stop, (int, float))
    start = convert(start)
    stop = convert(stop, start.dtype)
    num = convert(num, None, dtypes.int32)
    if not num.dtype.is_integer:
        raise TypeError(f"tf.linspace: `num` must be an integer, not {num!r}")
    num = cast(num, dtypes.int32)
    if start.dtype.is_integer:  # converted to floats, as in a division
        inexact = dtypes.float32 if start.dtype.size < 4 else dtypes.float64
        start, stop = raw.Cast(start, inexact), raw.Cast(stop, inexact)
    if constant and rank_of(num) == 0:  # LinSpace has no gradient
        count = known(num)
        if known(axis) in (0, -1) and count is not None and count > 0:
            return raw.LinSpace(start, stop, num, name=name)
    return _linspace_along(start, stop, num, axis, name)


def _linspace_along(start, stop, count, axis, name):
    shape = raw.BroadcastArgs(raw.Shape(start), raw.Shape(stop))
    start, stop = raw.BroadcastTo(start, shape), raw.BroadcastTo(stop, shape)
    first, last = raw.ExpandDims(start, axis), raw.ExpandDims(stop, axis)
    place = raw.SelectV2(raw.GreaterEqual(axis, 0), axis, raw.AddV2(raw.Rank(first), axis))
    gaps = raw.Maximum(raw.Sub(count, 1), 1)
    inner = raw.Sub(gaps, 1)
    step = raw.RealDiv(raw.Sub(last, first), raw.Cast(gaps, first.dtype))
    positions = raw.Cast(raw.Range(1, raw.SelectV2(raw.GreaterEqual(count, 0), gaps, -1), 1), first.dtype)
    ones = raw.Fill(raw.ExpandDims(raw.Rank(first), 0), 1)
    along = raw.TensorScatterUpdate(ones, raw.Reshape(place, [1, 1]), raw.Reshape(inner, [1]))
    between = raw.AddV2(first, raw.Mul(step, raw.Reshape(positions, along)))
    whole = raw.ConcatV2([first, between, last], place)
    begin = raw.ZerosLike(raw.Shape(whole))
    sizes = raw.TensorScatterUpdate(
        raw.Shape(whole), raw.Reshape(place, [1, 1]), raw.Reshape(count, [1])
    )
    return raw.Slice(whole, begin, sizes, name=name)


@export("meshgrid")
def meshgrid(*args, **kwargs):
    """Coordinate grids: one tensor for each 1-D argument, with an element for each combination of the arguments."""
    indexing = kwargs.pop("indexing", "xy")
    kwargs.pop("name", None)
    if kwargs:
        raise TypeError(f"'{next(iter(kwargs))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got {indexing!r}")
    count = len(args)
    tensors = [convert(a) for a in args]
    if not tensors:
        return []
    lengths = [raw.Size(t) for t in tensors]
    places = list(builtins.range(count))
    if indexing == "xy" and count > 1:
        places[0], places[1] = 1, 0
        lengths[0], lengths[1] = lengths[1], lengths[0]
    whole = raw.Pack(lengths)
    for t in tensors[1:]:
        if t.dtype is not tensors[0].dtype:
            raw.Mul(t, raw.OnesLike(tensors[0]))  # raises an error if the dtypes differ
    out = []
    for k, t in enumerate(tensors):
        shape = [1] * count
        shape[places[k]] = -1
        out.append(raw.BroadcastTo(raw.Reshape(t, shape), whole))
    return out


@export("sequence_mask")
def sequence_mask(lengths, maxlen=None, dtype=dtypes.bool, name=None):
    """A mask with a new last dimension of size `maxlen`, in which the first `lengths` elements are true."""
    lengths = convert(lengths)
    if maxlen is None:
        top = raw.Max(raw.Reshape(lengths, [-1]), [0])
        maxlen = raw.Maximum(convert(0, lengths.dtype), top)
    else:
        maxlen = convert(maxlen)
    if rank_of(maxlen) not in (None, 0):
        raise ValueError("Argument `maxlen` must be scalar for sequence_mask")
    row = raw.Range(convert(0, maxlen.dtype), maxlen, convert(1, maxlen.dtype))
    column = raw.ExpandDims(lengths, -1)
    if column.dtype is not row.dtype:
        column = raw.Cast(column, row.dtype)
    mask = raw.Less(row, column, name=name)
    dtype = dtypes.as_dtype(dtype)
    return mask if dtype is dtypes.bool else raw.Cast(mask, dtype)
