"""tf.experimental.numpy: elementwise functions, products, and reductions that ignore NaN."""
import builtins
import math

from .. import errors
from ..loops import while_loop
from . import math as _math
from . import matmul as _matmul
from . import numpy as tnp
from . import reduce as _reduce
from .common import convert, dtypes, np, raw, static_shape
from .numpy import _as, _binary, _inexact, _offer, _promoted, _reduced, _sum_dtype, _unary, asarray

# ---- functions of one argument ----------------------------------------------------------------------------------

for _name, _op in (("arccos", "Acos"), ("arccosh", "Acosh"), ("arcsin", "Asin"), ("arcsinh", "Asinh"),
                   ("arctan", "Atan"), ("arctanh", "Atanh")):
    _unary(_name, getattr(raw, _op), f"The inverse of {_name[3:]}; integers become float64.")


def _scaled(factor):
    return lambda x: raw.Mul(x, convert(factor, x.dtype))


def _each(op, factor):
    return lambda x: raw.Mul(op(x), convert(factor, x.dtype))


rad2deg = _unary("rad2deg", _scaled(180.0 / math.pi), "Radians as degrees.")
deg2rad = _unary("deg2rad", _scaled(math.pi / 180.0), "Degrees as radians.")
log2 = _unary("log2", _each(raw.Log, 1.0 / math.log(2)), "The logarithm to base 2.")
log10 = _unary("log10", _each(raw.Log, 1.0 / math.log(10)), "The logarithm to base 10.")
exp2 = _unary("exp2", lambda x: raw.Pow(convert(2, x.dtype), x), "2 to the power of x.")
cbrt = _unary("cbrt", lambda x: raw.Mul(raw.Sign(x), raw.Pow(raw.Abs(x), convert(1.0 / 3, x.dtype))), "The cube root.")
fabs = _unary("fabs", _math.abs, "|x|.", floats=False)
fix = _unary("fix", lambda x: raw.SelectV2(raw.Less(x, convert(0, x.dtype)), raw.Ceil(x), raw.Floor(x)), "Rounded towards 0.")
reciprocal = _unary("reciprocal", lambda x: raw.RealDiv(convert(1, x.dtype), x) if x.dtype.is_floating or x.dtype.is_complex
                    else raw.FloorDiv(convert(1, x.dtype), x), "1 / x.", floats=False)
isposinf = _unary("isposinf", lambda x: raw.Equal(x, convert(math.inf, x.dtype)), "Whether infinity.")
isneginf = _unary("isneginf", lambda x: raw.Equal(x, convert(-math.inf, x.dtype)), "Whether minus infinity.")
positive = _unary("positive", raw.Identity, "x.", floats=False)
conjugate = _unary("conjugate", lambda x: raw.Conj(x) if x.dtype.is_complex else x, "The complex conjugate.", floats=False)
conj = _unary("conj", conjugate, "The complex conjugate.", floats=False)
bitwise_not = _unary("bitwise_not", lambda x: raw.LogicalNot(x) if x.dtype is dtypes.bool else raw.Invert(x),
                     "All bits turned.", floats=False)


def _parted(name, numbers, doc):
    def part(val):
        val = asarray(val)
        return numbers(val)

    part.__name__ = part.__qualname__ = name
    part.__doc__ = doc
    return _offer(part)


real = _parted("real", lambda x: x if x.dtype is dtypes.bool else _math.real(x), "The real part.")
imag = _parted("imag", _math.imag, "The imaginary part.")


@_offer
def logical_not(x):
    """Whether each element is false."""
    return raw.LogicalNot(_truth(x))


def _truth(x):
    x = asarray(x)
    return x if x.dtype is dtypes.bool else raw.NotEqual(x, convert(0, x.dtype))


@_offer
def iscomplex(x):
    """Whether the imaginary part is not 0."""
    x = asarray(x)
    return raw.NotEqual(_math.imag(x), convert(0, x.dtype.real_dtype)) if x.dtype.is_complex else raw.Cast(
        raw.ZerosLike(x), dtypes.bool)


@_offer
def isreal(x):
    """Whether the imaginary part is 0."""
    return raw.LogicalNot(iscomplex(x))


@_offer
def signbit(x):
    """Whether each element is negative."""
    x = asarray(x)
    return raw.Cast(raw.ZerosLike(x), dtypes.bool) if x.dtype is dtypes.bool else raw.Less(x, convert(0, x.dtype))


@_offer
def angle(z, deg=False):
    """The angle of complex numbers."""
    z = asarray(z)
    found = raw.Angle(z, z.dtype.real_dtype) if z.dtype.is_complex else raw.Cast(_real_angle(_inexact(z)), dtypes.float32)
    return rad2deg(found) if deg else found


def _real_angle(x):
    below = raw.Less(x, convert(0, x.dtype))
    return raw.SelectV2(below, convert(math.pi, x.dtype), raw.ZerosLike(x))


@_offer
def sinc(x):
    """sin(pi x) / (pi x), 1 at 0."""
    x = _inexact(x)
    x = raw.Mul(x, convert(math.pi, x.dtype))
    none = raw.Equal(x, convert(0, x.dtype))
    safe = raw.SelectV2(none, raw.OnesLike(x), x)
    return raw.SelectV2(none, raw.OnesLike(x), raw.RealDiv(raw.Sin(safe), safe))


def _rounded(a, decimals):
    a = asarray(a)
    dtype, factor = a.dtype, 10.0 ** decimals
    if not (dtype.is_floating or dtype.is_complex):
        a = raw.Cast(a, dtypes.float64)
    factor = convert(factor, a.dtype)
    return _as(raw.RealDiv(raw.Round(raw.Mul(a, factor)), factor), dtype)


@_offer
def around(a, decimals=0):
    """Rounds to a number of decimals."""
    return _rounded(a, decimals)


@_offer
def round(a, decimals=0):  # noqa: A001
    """Rounds to a number of decimals."""
    return _rounded(a, decimals)


@_offer
def clip(a, a_min, a_max):
    """Clips elements to the interval [a_min, a_max]. One of the limits may be None."""
    if a_min is None and a_max is None:
        raise ValueError("Not more than one of `a_min` and `a_max` may be `None`.")
    if a_min is None:
        return tnp.minimum(a, a_max)
    if a_max is None:
        return tnp.maximum(a, a_min)
    a, low, high = _promoted(a, a_min, a_max)
    return raw.Minimum(raw.Maximum(a, low), high)


# ---- functions of two arguments ---------------------------------------------------------------------------------

arctan2 = _binary("arctan2", raw.Atan2, "The angle of the point (x2, x1).", floats=True)
nextafter = _binary("nextafter", raw.NextAfter, "The next number from x1 towards x2.", floats=True)
remainder = _binary("remainder", raw.FloorMod, "x1 % x2.")
hypot = _binary("hypot", lambda x, y: raw.Sqrt(raw.AddV2(raw.Square(x), raw.Square(y))), "sqrt(x1 ** 2 + x2 ** 2).", floats=True)
logaddexp2 = _binary("logaddexp2", lambda x, y: raw.Mul(_log_add(*(raw.Mul(v, convert(math.log(2), v.dtype)) for v in (x, y))),
                                                        convert(1 / math.log(2), x.dtype)), "log2(2 ** x1 + 2 ** x2).", floats=True)
float_power = _binary("float_power", raw.Pow, "x1 ** x2.")


def _log_add(x, y):
    top = raw.Maximum(x, y)
    gap = raw.Sub(x, y)
    return raw.SelectV2(raw.IsNan(gap), raw.AddV2(x, y), raw.AddV2(top, raw.Log1p(raw.Exp(raw.Neg(raw.Abs(gap))))))


logaddexp = _binary("logaddexp", _log_add, "log(exp(x1) + exp(x2)).", floats=True)


def _bitwise(name, numbers, bools, doc):
    def run(x1, x2):
        x1, x2 = _promoted(x1, x2)
        return bools(x1, x2) if x1.dtype is dtypes.bool else numbers(x1, x2)

    run.__name__ = run.__qualname__ = name
    run.__doc__ = doc
    return _offer(run)


def _unlike(x, y):
    return raw.NotEqual(x, y)


bitwise_and = _bitwise("bitwise_and", raw.BitwiseAnd, raw.LogicalAnd, "Bitwise and.")
bitwise_or = _bitwise("bitwise_or", raw.BitwiseOr, raw.LogicalOr, "Bitwise or.")
bitwise_xor = _bitwise("bitwise_xor", raw.BitwiseXor, _unlike, "Bitwise exclusive or.")


def _logical(name, op, doc):
    def run(x1, x2):
        return op(_truth(x1), _truth(x2))

    run.__name__ = run.__qualname__ = name
    run.__doc__ = doc
    return _offer(run)


logical_and = _logical("logical_and", raw.LogicalAnd, "Whether both are true.")
logical_or = _logical("logical_or", raw.LogicalOr, "Whether at least one is true.")
logical_xor = _logical("logical_xor", _unlike, "Whether exactly one is true.")


@_offer
def heaviside(x1, x2):
    """0 below 0, 1 above, `x2` at 0."""
    x1, x2 = (_inexact(v) for v in _promoted(x1, x2))
    zero = convert(0, x1.dtype)
    made = raw.SelectV2(raw.Less(x1, zero), zero, raw.SelectV2(raw.Greater(x1, zero), convert(1, x1.dtype), x2))
    return raw.SelectV2(raw.IsNan(x1), x1, made)


@_offer
def divmod(x1, x2):  # noqa: A001
    """(x1 // x2, x1 % x2)"""
    return tnp.floor_divide(x1, x2), tnp.mod(x1, x2)


@_offer
def gcd(x1, x2):
    """The greatest common divisor, by Euclid's algorithm for all elements together."""
    x, y = (raw.Abs(v) for v in _whole(x1, x2, "gcd"))
    sizes = raw.BroadcastArgs(raw.Shape(x), raw.Shape(y))
    x, y = raw.BroadcastTo(x, sizes), raw.BroadcastTo(y, sizes)
    zero = convert(0, x.dtype)

    def step(x, y):
        left = raw.NotEqual(y, zero)
        rest = raw.FloorMod(x, raw.SelectV2(left, y, raw.OnesLike(y)))
        return raw.SelectV2(left, y, x), raw.SelectV2(left, rest, zero)

    return while_loop(lambda x, y: _reduce.reduce_any(raw.NotEqual(y, zero)), step, (x, y))[0]


@_offer
def lcm(x1, x2):
    """The least common multiple."""
    x, y = _whole(x1, x2, "lcm")
    common, zero = gcd(x, y), convert(0, x.dtype)
    safe = raw.SelectV2(raw.Equal(common, zero), raw.OnesLike(common), common)
    return raw.Abs(raw.Mul(raw.FloorDiv(x, safe), y))


def _whole(x1, x2, word):
    x, y = _promoted(x1, x2)
    if not x.dtype.is_integer:
        raise ValueError(f"Arguments to {word} must be integers.")
    return x, y


# ---- reductions and sequences -----------------------------------------------------------------------------------


@_offer
def polyval(p, x):
    """The value of a polynomial at x; the highest coefficient is first."""
    p, x = _promoted(p, x)
    p = p if static_shape(p) else raw.Reshape(p, [1])
    parts = raw.Unpack(p, static_shape(p)[0]) if static_shape(p)[0] else []
    return raw.AddV2(_math.polyval(parts, x), raw.ZerosLike(x)) if parts else raw.ZerosLike(x)


@_offer
def cumprod(a, axis=None, dtype=None):
    """The cumulative product."""
    a = asarray(a, dtype)
    a = a if dtype is not None else _sum_dtype(a)
    return raw.Cumprod(raw.Reshape(a, [-1]), 0) if axis is None else raw.Cumprod(a, axis)


@_offer
def count_nonzero(a, axis=None):
    """The number of nonzero elements."""
    return _reduce.count_nonzero(asarray(a), axis)


@_offer
def ptp(a, axis=None, keepdims=None):
    """The difference between the largest and the smallest element."""
    return raw.Sub(tnp.amax(a, axis, keepdims=keepdims), tnp.amin(a, axis, keepdims=keepdims))


def _without_nan(a, instead):
    a = asarray(a)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return a
    return raw.SelectV2(raw.NotEqual(a, a), convert(instead, a.dtype), a)


@_offer
def nansum(a, axis=None, dtype=None, keepdims=False):
    """The sum of the elements that are not NaN."""
    return tnp.sum(_without_nan(a, 0), axis, dtype, keepdims)


@_offer
def nanprod(a, axis=None, dtype=None, keepdims=False):
    """The product of the elements that are not NaN."""
    return tnp.prod(_without_nan(a, 1), axis, dtype, keepdims)


@_offer
def nanmean(a, axis=None, dtype=None, keepdims=None):
    """The mean of the elements that are not NaN."""
    a = asarray(a, dtype)
    if not (a.dtype.is_floating or a.dtype.is_complex):
        return tnp.mean(a, axis, dtype, keepdims=keepdims)
    count = _reduce.reduce_sum(raw.Cast(raw.Equal(a, a), a.dtype), axis, bool(keepdims))
    return raw.RealDiv(_reduce.reduce_sum(_without_nan(a, 0), axis, bool(keepdims)), count)


@_offer
def average(a, axis=None, weights=None, returned=False):
    """The weighted mean."""
    if axis is not None and not isinstance(axis, int):
        raise ValueError("`axis` must be an integer. Tuples are not supported.")
    if weights is None:
        a = _inexact(a)
        made = _reduced(_reduce.reduce_mean, a, axis, None, None, _inexact)
        if not returned:
            return made
        return made, raw.Fill(raw.Shape(made), raw.Cast(raw.FloorDiv(raw.Size(a), raw.Maximum(raw.Size(made), 1)), made.dtype))
    a, weights = (_inexact(v) for v in _promoted(a, weights))
    if static_shape(a) != static_shape(weights):
        if axis is None or len(static_shape(weights)) != 1 or static_shape(weights)[0] != static_shape(a)[axis]:
            raise errors.InvalidArgumentError(
                None, None, f"average: the weights have shape {static_shape(weights)}; they need that of the array or, with "
                "an axis, be a vector of its size")
        rank = len(static_shape(a))
        weights = raw.Reshape(weights, [-1 if d == axis % rank else 1 for d in range(rank)])
    total = _reduce.reduce_sum(raw.BroadcastTo(weights, raw.Shape(a)), axis)
    made = raw.RealDiv(_reduce.reduce_sum(raw.Mul(a, weights), axis), total)
    return (made, total) if returned else made


@_offer
def diff(a, n=1, axis=-1):
    """The differences of neighbours along `axis`, `n` times."""
    a = asarray(a)
    rank = len(static_shape(a))
    if rank < 1:
        raise ValueError("diff: an array of at least one dimension is needed")
    if n < 0:
        raise ValueError(f"Argument `order` must be a non-negative integer; received n={n}")
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} is out of bounds for an array of {rank} dimensions")
    for _ in range(n):
        after, before = ([slice(None)] * rank for _ in range(2))
        after[axis], before[axis] = slice(1, None), slice(None, -1)
        after, before = a[tuple(after)], a[tuple(before)]
        a = raw.NotEqual(after, before) if a.dtype is dtypes.bool else raw.Sub(after, before)
    return a


# ---- products ---------------------------------------------------------------------------------------------------


@_offer
def dot(a, b):
    """The dot product of vectors and matrices; with a scalar, the elementwise product."""
    a, b = _promoted(a, b)
    if () in (static_shape(a), static_shape(b)):
        return raw.Mul(a, b)
    if len(static_shape(b)) == 1:
        return _matmul.tensordot(a, b, [[-1], [-1]])
    return _matmul.tensordot(a, b, [[-1], [-2]])


@_offer
def inner(a, b):
    """The sums of products along the last axes of both."""
    a, b = _promoted(a, b)
    if () in (static_shape(a), static_shape(b)):
        return raw.Mul(a, b)
    return _matmul.tensordot(a, b, [[-1], [-1]])


@_offer
def vdot(a, b):
    """The sum of the products of all elements; those of `a` are conjugated."""
    a, b = map(tnp.ravel, _promoted(a, b))
    return _matmul.tensordot(raw.Conj(a) if a.dtype.is_complex else a, b, 1)


@_offer
def outer(a, b):
    """The outer product: all products of an element of `a` and one of `b`."""
    a, b = map(tnp.ravel, _promoted(a, b))
    return tnp.multiply(raw.ExpandDims(a, -1), b)


@_offer
def tensordot(a, b, axes=2):
    """The sums of products along axes of both."""
    return _matmul.tensordot(*_promoted(a, b), axes)


@_offer
def kron(a, b):
    """The Kronecker product."""
    a, b = _promoted(a, b)
    rank = builtins.max(len(static_shape(a)), len(static_shape(b)))
    a, b = (raw.Reshape(v, raw.ConcatV2([[1] * (rank - len(static_shape(v))) or np.zeros(0, np.int32), raw.Shape(v)], 0))
            for v in (a, b))
    sizes = raw.Mul(raw.Shape(a), raw.Shape(b))
    for d in range(rank):
        a, b = raw.ExpandDims(a, 2 * d + 1), raw.ExpandDims(b, 2 * d)
    return raw.Reshape(tnp.multiply(a, b), sizes)


@_offer
def cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    """The cross product of vectors of 2 or 3 numbers."""
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = _promoted(a, b)
    a, b = tnp.moveaxis(a, axisa, -1), tnp.moveaxis(b, axisb, -1)
    sizes = (static_shape(a)[-1], static_shape(b)[-1])
    if builtins.any(s not in (2, 3) for s in sizes):
        raise ValueError(f"cross: the vectors have {sizes[0]} and {sizes[1]} numbers; they must have 2 or 3")
    if sizes == (2, 2):
        return raw.Sub(raw.Mul(a[..., 0], b[..., 1]), raw.Mul(a[..., 1], b[..., 0]))
    a, b = (v if static_shape(v)[-1] == 3 else raw.ConcatV2([v, raw.ZerosLike(v[..., :1])], -1) for v in (a, b))
    (a0, a1, a2), (b0, b1, b2) = ([v[..., k] for k in range(3)] for v in (a, b))
    parts = [raw.Sub(raw.Mul(p, q), raw.Mul(r, s)) for p, q, r, s in ((a1, b2, a2, b1), (a2, b0, a0, b2), (a0, b1, a1, b0))]
    made = raw.Pack(parts, axis=-1)
    return made if axisc == -1 else tnp.moveaxis(made, -1, axisc)


@_offer
def einsum(subscripts, *operands, **kwargs):
    """Sums of products in Einstein notation."""
    casting = kwargs.pop("casting", "safe")
    kwargs.pop("optimize", None)
    if kwargs:
        raise TypeError(f"einsum got an unexpected argument {next(iter(kwargs))!r}")
    if casting not in ("safe", "no"):
        raise ValueError(f"Invalid value for argument `casting`: {casting!r}")
    values = _promoted(*operands) if casting == "safe" else [asarray(v) for v in operands]
    return _matmul.einsum(subscripts, *values)
