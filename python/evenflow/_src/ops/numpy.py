"""tf.experimental.numpy: numpy's functions and numpy's dtype promotion, for tensors."""
import builtins

from .. import _core
from ..namespace import export, offer
from ..tensors import leaves
from . import array as _array, creation as _creation
from . import math as _math
from . import matmul as _matmul
from . import random as _random
from . import reduce as _reduce
from .common import Tensor, convert, dtypes, known, seen, np, raw, static_shape

_SPACE = "experimental.numpy."


def _offer(function):
    offer(function, _SPACE + function.__name__)
    return function


offer(_core.Tensor, _SPACE + "ndarray")
offer(None, _SPACE + "newaxis")
for _name in ("bool_", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16",
              "float32", "float64", "complex64", "complex128", "inexact", "iinfo"):
    offer(getattr(np, _name), _SPACE + _name)
for _name in ("pi", "e", "inf", "nan"):
    offer(getattr(np, _name), _SPACE + _name)


def wanted(dtype):
    """The DType for a numpy dtype: `int` means int64, `float` means float64, and text of any length means string."""
    if isinstance(dtype, dtypes.DType):
        return dtype
    dtype = np.dtype(dtype)
    return dtypes.string if dtype.kind in "SUO" else dtypes.as_dtype(dtype)


@_offer
def finfo(dtype):
    """The limits of a floating type."""
    return np.finfo(dtypes.as_dtype(dtype).as_numpy_dtype)


def _dtype(x):
    """The operand of np.result_type for a value: a numpy dtype, or a Python number, whose dtype is weak; so is that of a list
    of Python numbers."""
    if isinstance(x, Tensor) or hasattr(x, "handle"):
        return np.dtype(dtypes.as_dtype(x.dtype).as_numpy_dtype)
    if isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic):
        return x
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype
    if isinstance(x, (list, tuple)):
        kinds = {type(v) for v in leaves(x)}
        if kinds and kinds <= {bool, int, float, complex}:
            return builtins.max(kinds, key=(bool, int, float, complex).index)(1)
    return np.dtype(asarray(x).dtype.as_numpy_dtype)


@_offer
def result_type(*arrays_and_dtypes):
    """The dtype to which operands of these dtypes or values are promoted."""
    found = [np.dtype(x.as_numpy_dtype) if isinstance(x, dtypes.DType) else x if isinstance(x, (type, np.dtype))
             else _dtype(x) for x in arrays_and_dtypes]
    return dtypes.as_dtype(np.result_type(*found))


def _promoted(*values):
    """The values as tensors of their common dtype."""
    want = dtypes.as_dtype(np.result_type(*[_dtype(v) for v in values]))
    return [_as(v, want) for v in values]


def _as(x, dtype):
    dtype = wanted(dtype)
    if isinstance(x, Tensor) or hasattr(x, "handle"):
        x = convert(x)
    elif isinstance(x, (np.ndarray, np.generic, list, tuple)):
        x = asarray(x)
    else:
        return convert(x + 0 if isinstance(x, bool) and dtype is not dtypes.bool else x, dtype)
    return x if x.dtype == dtype else raw.Cast(x, dtype)


def _inexact(x):
    """`x` as a tensor of floats: integers become float64."""
    x = asarray(x)
    return x if x.dtype.is_floating or x.dtype.is_complex else raw.Cast(x, dtypes.float64)


# ---- making ---------------------------------------------------------------------------------------------


@_offer
def asarray(a, dtype=None):
    """`a` as a tensor; Python numbers become int64 and float64."""
    if dtype is not None:
        return _as(a, dtype)
    if isinstance(a, Tensor):
        return a
    if hasattr(a, "handle") or hasattr(a, "__tf_tensor__"):
        return convert(a)
    if isinstance(a, (list, tuple)) and builtins.any(isinstance(v, Tensor) for v in leaves(a)):
        return convert(a)
    return convert(np.asarray(a))


@_offer
def array(val, dtype=None, copy=True, ndmin=0):
    """A tensor of `val` with at least `ndmin` dimensions."""
    made = asarray(val, dtype)
    missing = ndmin - len(static_shape(made))
    for _ in builtins.range(missing):
        made = raw.ExpandDims(made, 0)
    return raw.Identity(made) if copy else made


@_offer
def copy(a):
    """A copy of `a`."""
    return array(a, copy=True)


@_offer
def arange(start, stop=None, step=1, dtype=None):
    """Numbers from `start` to `stop` by `step`."""
    if stop is None:
        start, stop = 0, start
    want = wanted(dtype if dtype is not None else np.result_type(
        *[np.asarray(v).dtype if not isinstance(v, Tensor) else _dtype(v) for v in (start, stop, step)]))
    return raw.Range(_as(start, want), _as(stop, want), _as(step, want))


@_offer
def zeros(shape, dtype=float):
    """Zeros."""
    return _creation.zeros(shape, wanted(dtype))


@_offer
def ones(shape, dtype=float):
    """Ones."""
    return _creation.ones(shape, wanted(dtype))


@_offer
def zeros_like(a, dtype=None):
    """Zeros with the shape of `a`."""
    a = asarray(a)
    return _creation.zeros_like(a, dtype=None if dtype is None else wanted(dtype))


@_offer
def ones_like(a, dtype=None):
    """Ones with the shape of `a`."""
    a = asarray(a)
    return _creation.ones_like(a, dtype=None if dtype is None else wanted(dtype))


@_offer
def full(shape, fill_value, dtype=None):
    """A tensor filled with `fill_value`."""
    return raw.BroadcastTo(asarray(fill_value, dtype), convert(shape, dtypes.int32))


@_offer
def linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=float, axis=0):
    """`num` evenly spaced numbers from `start` to `stop`."""
    first, last = _promoted(start, stop)
    first, last = _inexact(first), _inexact(last)
    gaps = num - 1 if endpoint else num
    at = np.arange(num, dtype=first.dtype.as_numpy_dtype)
    step = raw.RealDiv(raw.Sub(last, first), convert(builtins.max(gaps, 1), first.dtype))
    out = raw.AddV2(raw.ExpandDims(first, -1), raw.Mul(raw.ExpandDims(step, -1), convert(at)))
    rank = len(static_shape(out))
    if axis % rank != rank - 1:
        out = moveaxis(out, -1, axis)
    out = out if dtype is None else _as(out, dtype)
    return (out, step) if retstep else out


@_offer
def eye(N, M=None, k=0, dtype=float):  # noqa: N803 - numpy's names
    """A matrix with ones on diagonal `k` and zeros elsewhere."""
    return convert(np.eye(N, M, k, wanted(dtype).as_numpy_dtype))


# ---- element by element -------------------------------------------------------------------------------------


def _binary(name, function, doc, floats=False):
    def run(x1, x2):
        x1, x2 = _promoted(x1, x2)
        if floats:
            x1, x2 = _inexact(x1), _inexact(x2)
        return function(x1, x2)

    run.__name__ = run.__qualname__ = name
    run.__doc__ = doc
    return _offer(run)


def _of_bools(numbers, bools):
    return lambda x, y: bools(x, y) if x.dtype is dtypes.bool else numbers(x, y)


add = _binary("add", _of_bools(raw.AddV2, raw.LogicalOr), "x1 + x2.")
subtract = _binary("subtract", raw.Sub, "x1 - x2.")
multiply = _binary("multiply", _of_bools(raw.Mul, raw.LogicalAnd), "x1 * x2.")
true_divide = _binary("true_divide", raw.RealDiv, "x1 / x2, in floats.", floats=True)
divide = _binary("divide", raw.RealDiv, "x1 / x2, in floats.", floats=True)
floor_divide = _binary("floor_divide", raw.FloorDiv, "x1 // x2.")
mod = _binary("mod", raw.FloorMod, "x1 % x2.")
power = _binary("power", raw.Pow, "x1 ** x2.")
maximum = _binary("maximum", raw.Maximum, "The larger of both.")
minimum = _binary("minimum", raw.Minimum, "The smaller of both.")
equal = _binary("equal", raw.Equal, "x1 == x2.")
not_equal = _binary("not_equal", raw.NotEqual, "x1 != x2.")
less = _binary("less", raw.Less, "x1 < x2.")
less_equal = _binary("less_equal", raw.LessEqual, "x1 <= x2.")
greater = _binary("greater", raw.Greater, "x1 > x2.")
greater_equal = _binary("greater_equal", raw.GreaterEqual, "x1 >= x2.")


def _unary(name, function, doc, floats=True):
    def run(x):
        return function(_inexact(x) if floats else asarray(x))

    run.__name__ = run.__qualname__ = name
    run.__doc__ = doc
    return _offer(run)


for _name in "sqrt exp expm1 log log1p sin cos tan sinh cosh tanh".split():
    _unary(_name, getattr(raw, _name.capitalize()), f"{_name} of each element; integers become float64.")
square = _unary("square", raw.Square, "x * x.", floats=False)
negative = _unary("negative", raw.Neg, "-x.", floats=False)
absolute = _unary("absolute", _math.abs, "|x|.", floats=False)
offer(absolute, _SPACE + "abs")
sign = _unary("sign", raw.Sign, "-1, 0 or 1.", floats=False)
floor = _unary("floor", raw.Floor, "The largest integer that is not larger than x.")
ceil = _unary("ceil", raw.Ceil, "The smallest integer that is not smaller than x.")
isnan = _unary("isnan", raw.IsNan, "Whether NaN.")
isinf = _unary("isinf", raw.IsInf, "Whether infinite.")
isfinite = _unary("isfinite", raw.IsFinite, "Whether finite.")


@_offer
def isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |a - b| <= atol + rtol * |b|."""
    a, b = _promoted(a, b)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return raw.Equal(a, b)
    gap, size = _math.abs(raw.Sub(a, b)), _math.abs(b)
    near = raw.LessEqual(gap, raw.AddV2(convert(atol, gap.dtype), raw.Mul(convert(rtol, gap.dtype), size)))
    close = raw.LogicalOr(raw.LogicalAnd(near, raw.IsFinite(size)), raw.Equal(a, b))
    if equal_nan:
        close = raw.LogicalOr(close, raw.LogicalAnd(raw.NotEqual(a, a), raw.NotEqual(b, b)))
    return close


@_offer
def allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether all elements are close."""
    return _reduce.reduce_all(isclose(a, b, rtol, atol, equal_nan))


@_offer
def where(condition, x=None, y=None):
    """`x` where the condition is true, else `y`. Without x and y, returns the coordinates of true elements."""
    condition = asarray(condition, np.bool_)
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("both or neither of x and y must be given")
    x, y = _promoted(x, y)
    return raw.SelectV2(condition, x, y)


@_offer
def nonzero(a):
    """The coordinates of the elements that are not zero, one vector for each axis."""
    a = asarray(a, np.bool_)
    return _array.unstack(raw.Where(a), num=len(static_shape(a)), axis=1)


@_offer
def select(condlist, choicelist, default=0):
    """The element of the first choice whose condition is true, else `default`."""
    if len(condlist) != len(choicelist):
        raise ValueError(f"select: {len(condlist)} conditions and {len(choicelist)} choices; the numbers must be equal")
    if not condlist:
        raise ValueError("condlist must not be empty")
    *choices, out = _promoted(*choicelist, default)
    for condition, choice in reversed(list(zip(condlist, choices))):
        out = raw.SelectV2(asarray(condition, np.bool_), choice, out)
    return out


# ---- reductions ---------------------------------------------------------------------------------------------


def _sum_dtype(x):
    """Converts small integers to int64 (or uint64) for a sum, as numpy does."""
    if x.dtype is dtypes.bool or x.dtype in (dtypes.int8, dtypes.int16, dtypes.int32):
        return raw.Cast(x, dtypes.int64)
    if x.dtype in (dtypes.uint8, dtypes.uint16, dtypes.uint32):
        return raw.Cast(x, dtypes.uint64)
    return x


def _reduced(function, a, axis, dtype, keepdims, prepare):
    a = asarray(a)
    a = _as(a, dtype) if dtype is not None else prepare(a)
    return function(a, axis, bool(keepdims))


@_offer
def sum(a, axis=None, dtype=None, keepdims=None):  # noqa: A001
    """The sum."""
    return _reduced(_reduce.reduce_sum, a, axis, dtype, keepdims, _sum_dtype)


@_offer
def prod(a, axis=None, dtype=None, keepdims=None):
    """The product."""
    return _reduced(_reduce.reduce_prod, a, axis, dtype, keepdims, _sum_dtype)


@_offer
def mean(a, axis=None, dtype=None, out=None, keepdims=None):
    """The mean; for integers in float64."""
    if out is not None:
        raise ValueError("the argument out is not supported: tensors cannot be written into")
    return _reduced(_reduce.reduce_mean, a, axis, dtype, keepdims, _inexact)


@_offer
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=None):
    """The variance."""
    if out is not None or ddof != 0:
        raise ValueError("the arguments out and ddof are not supported")
    return _reduced(_reduce.reduce_variance, a, axis, dtype, keepdims, _inexact)


@_offer
def std(a, axis=None, keepdims=None):
    """The standard deviation."""
    return _reduced(_reduce.reduce_std, a, axis, None, keepdims, _inexact)


@_offer
def amax(a, axis=None, out=None, keepdims=None):
    """The largest element."""
    return _reduced(_reduce.reduce_max, a, axis, None, keepdims, lambda x: x)


@_offer
def amin(a, axis=None, out=None, keepdims=None):
    """The smallest element."""
    return _reduced(_reduce.reduce_min, a, axis, None, keepdims, lambda x: x)


offer(amax, _SPACE + "max")
offer(amin, _SPACE + "min")


@_offer
def all(a, axis=None, keepdims=None):  # noqa: A001
    """Whether all elements are true."""
    return _reduce.reduce_all(asarray(a, np.bool_), axis, bool(keepdims))


@_offer
def any(a, axis=None, keepdims=None):  # noqa: A001
    """Whether any element is true."""
    return _reduce.reduce_any(asarray(a, np.bool_), axis, bool(keepdims))


@_offer
def argmax(a, axis=None):
    """The index of the largest element."""
    a = asarray(a)
    return raw.ArgMax(raw.Reshape(a, [-1]), 0) if axis is None else raw.ArgMax(a, axis)


@_offer
def argmin(a, axis=None):
    """The index of the smallest element."""
    a = asarray(a)
    return raw.ArgMin(raw.Reshape(a, [-1]), 0) if axis is None else raw.ArgMin(a, axis)


@_offer
def cumsum(a, axis=None, dtype=None):
    """The cumulative sum."""
    a = asarray(a, dtype)
    return raw.Cumsum(raw.Reshape(a, [-1]), 0) if axis is None else raw.Cumsum(a, axis)


# ---- shapes, products -----------------------------------------------------------------------------------------


@_offer
def reshape(a, newshape, order="C"):
    """The same elements in another shape."""
    if order not in ("C", "F"):
        raise ValueError(f"unsupported order {order}: it must be 'C' or 'F'")
    a = asarray(a)
    if order == "C":
        return raw.Reshape(a, convert(newshape, dtypes.int32) if not isinstance(newshape, Tensor) else newshape)
    sizes = np.ravel(seen(newshape)).tolist()
    return _array.transpose(raw.Reshape(_array.transpose(a), sizes[::-1]))


@_offer
def ravel(a):
    """The elements as a vector."""
    return raw.Reshape(asarray(a), [-1])


@_offer
def transpose(a, axes=None):
    """Permutes the axes to the order `axes`; without it, reverses them."""
    return _array.transpose(asarray(a), axes)


@_offer
def moveaxis(a, source, destination):
    """Moves axes to other positions."""
    a = asarray(a)
    rank = len(static_shape(a))
    source = [s % rank for s in np.ravel(source)]
    destination = [d % rank for d in np.ravel(destination)]
    perm = [d for d in builtins.range(rank) if d not in source]
    for place, axis in sorted(zip(destination, source)):
        perm.insert(place, axis)
    return raw.Transpose(a, [int(p) for p in perm])


@_offer
def swapaxes(a, axis1, axis2):
    """Swaps two axes."""
    a = asarray(a)
    perm = list(builtins.range(len(static_shape(a))))
    perm[axis1], perm[axis2] = perm[axis2], perm[axis1]
    return raw.Transpose(a, perm)


@_offer
def expand_dims(a, axis):
    """Adds an axis of size 1."""
    return raw.ExpandDims(asarray(a), axis)


@_offer
def squeeze(a, axis=None):
    """Removes axes of size 1."""
    return _array.squeeze(asarray(a), axis)


@_offer
def broadcast_to(array, shape):  # noqa: A002
    """Broadcasts an array to a shape."""
    return raw.BroadcastTo(asarray(array), convert(shape, dtypes.int32))


@_offer
def stack(arrays, axis=0):
    """Stacks arrays along a new axis."""
    if isinstance(arrays, Tensor):
        arrays = _array.unstack(arrays)
    return raw.Pack(_promoted(*arrays), axis=axis)


@_offer
def concatenate(arys, axis=0):
    """Concatenates arrays along an existing axis."""
    arys = _array.unstack(arys) if isinstance(arys, Tensor) else list(arys)
    return raw.ConcatV2(_promoted(*arys), axis)


@_offer
def tile(a, reps):
    """Repeats an array along each axis."""
    a, reps = asarray(a), np.ravel(seen(reps)).tolist()
    rank = len(static_shape(a))
    for _ in builtins.range(len(reps) - rank):
        a = raw.ExpandDims(a, 0)
    return raw.Tile(a, [1] * (rank - len(reps)) + reps)


@_offer
def take(a, indices, axis=None, out=None, mode="clip"):
    """Gathers elements by their indices along `axis`."""
    if out is not None or mode not in ("raise", "clip", "wrap"):
        raise ValueError("out is not supported, and mode must be 'raise', 'clip' or 'wrap'")
    a, indices = asarray(a), asarray(indices)
    if axis is None:
        a, axis = raw.Reshape(a, [-1]), 0
    size = raw.Cast(raw.Shape(a), indices.dtype)[axis]
    if mode == "wrap":
        indices = raw.FloorMod(indices, size)
    else:
        zero = convert(0, indices.dtype)
        indices = raw.SelectV2(raw.Less(indices, zero), raw.AddV2(indices, size), indices)
        if mode == "clip":
            indices = raw.Minimum(raw.Maximum(indices, zero), raw.Sub(size, convert(1, indices.dtype)))
    return raw.GatherV2(a, indices, axis)


@_offer
def matmul(x1, x2):
    """The matrix product. A vector is treated as a matrix, and the added axis is removed from the result."""
    x1, x2 = _promoted(x1, x2)
    if () in (static_shape(x1), static_shape(x2)):
        raise ValueError("matmul: an operand is a scalar; use multiply instead")
    left, right = len(static_shape(x1)) == 1, len(static_shape(x2)) == 1
    if left and right:
        return raw.Sum(raw.Mul(x1, x2), [0])
    if left:
        return raw.Squeeze(_matmul.matmul(raw.ExpandDims(x1, 0), x2), [-2])
    if right:
        return raw.Squeeze(_matmul.matmul(x1, raw.ExpandDims(x2, -1)), [-1])
    return _matmul.matmul(x1, x2)


@export(_SPACE + "random.randn")
def randn(*args):
    """Normally distributed float64 numbers of the given sizes."""
    return _random.normal(list(args), dtype=dtypes.float64)


@export(_SPACE + "random.rand")
def rand(*size):
    """Uniformly distributed float64 numbers of the given sizes."""
    return _random.uniform(list(size), dtype=dtypes.float64)


@export(_SPACE + "random.seed")
def seed(s):
    """Sets the global seed."""
    _random.set_seed(int(known(s)))
