"""tf.math: elementwise arithmetic, casts, cumulative sums."""
from .. import _core
from ..dispatch import REFUSED, redirect
from ..namespace import export, front, offer_ops
from ..shapes import as_shape
from .common import (
    CoreTensor,
    IndexedSlices,
    Tensor,
    convert,
    dtypes,
    executing_eagerly,
    np,
    pair,
    rank_of,
    raw,
    static_shape,
)

offer_ops(
    """
    Acos | x | math.acos acos
    Acosh | x | math.acosh acosh
    Asin | x | math.asin asin
    Asinh | x | math.asinh asinh
    Atan | x | math.atan atan
    Atanh | x | math.atanh atanh
    BesselI0 | x | math.bessel_i0 math.special.bessel_i0
    BesselI0e | x | math.bessel_i0e math.special.bessel_i0e
    BesselI1 | x | math.bessel_i1 math.special.bessel_i1
    BesselI1e | x | math.bessel_i1e math.special.bessel_i1e
    BesselJ0 | x | math.special.bessel_j0
    BesselJ1 | x | math.special.bessel_j1
    BesselK0 | x | math.special.bessel_k0
    BesselK0e | x | math.special.bessel_k0e
    BesselK1 | x | math.special.bessel_k1
    BesselK1e | x | math.special.bessel_k1e
    BesselY0 | x | math.special.bessel_y0
    BesselY1 | x | math.special.bessel_y1
    Dawsn | x | math.special.dawsn
    Expint | x | math.special.expint
    FresnelCos | x | math.special.fresnel_cos
    FresnelSin | x | math.special.fresnel_sin
    Spence | x | math.special.spence
    Ceil | x | math.ceil
    Cos | x | math.cos cos
    Cosh | x | math.cosh cosh
    Digamma | x | math.digamma
    Erf | x | math.erf
    Erfc | x | math.erfc
    Erfinv | x | math.erfinv
    Exp | x | math.exp exp
    Expm1 | x | math.expm1
    Floor | x | math.floor floor
    IsFinite | x | math.is_finite
    IsInf | x | math.is_inf
    IsNan | x | math.is_nan
    Lgamma | x | math.lgamma
    Log | x | math.log
    Log1p | x | math.log1p
    LogicalNot | x | math.logical_not logical_not
    Ndtri | x | math.ndtri
    Neg | x | math.negative negative
    Reciprocal | x | math.reciprocal
    Rint | x | math.rint
    Rsqrt | x | math.rsqrt
    Sigmoid | x | math.sigmoid sigmoid nn.sigmoid
    Sign | x | math.sign sign
    Sin | x | math.sin sin
    Sinh | x | math.sinh sinh
    Sqrt | x | math.sqrt sqrt
    Square | x | math.square square
    Tan | x | math.tan tan
    Tanh | x | math.tanh tanh nn.tanh
    Softplus | features | math.softplus nn.softplus
    Softsign | features | math.softsign nn.softsign
    AddV2 | x, y | math.add add | Add
    Atan2 | y, x | math.atan2 atan2
    Betainc | a, b, x | math.betainc
    FloorDiv | x, y | math.floordiv
    FloorMod | x, y | math.floormod math.mod
    Greater | x, y | math.greater greater
    GreaterEqual | x, y | math.greater_equal greater_equal
    Igamma | a, x | math.igamma
    Igammac | a, x | math.igammac
    InvertPermutation | x | math.invert_permutation
    Less | x, y | math.less less
    LessEqual | x, y | math.less_equal less_equal
    LogicalAnd | x, y | math.logical_and logical_and
    LogicalOr | x, y | math.logical_or logical_or
    Maximum | x, y | math.maximum maximum
    Minimum | x, y | math.minimum minimum
    Mul | x, y | math.multiply multiply
    NextAfter | x1, x2 | math.nextafter
    Polygamma | a, x | math.polygamma
    Pow | x, y | math.pow pow
    RealDiv | x, y | realdiv
    SquaredDifference | x, y | math.squared_difference
    Sub | x, y | math.subtract subtract
    TruncateDiv | x, y | truncatediv
    TruncateMod | x, y | truncatemod
    Xdivy | x, y | math.xdivy
    Xlog1py | x, y | math.xlog1py
    Xlogy | x, y | math.xlogy
    Zeta | x, q | math.zeta
    BitwiseAnd | x, y | bitwise.bitwise_and
    BitwiseOr | x, y | bitwise.bitwise_or
    BitwiseXor | x, y | bitwise.bitwise_xor
    Invert | x | bitwise.invert
    LeftShift | x, y | bitwise.left_shift
    RightShift | x, y | bitwise.right_shift
    """
)


@export("math.equal", "equal")
def equal(x, y, name=None):
    """Whether `x` and `y` are equal, element by element; shapes broadcast."""
    try:
        return raw.Equal(x, y, name=name)
    except REFUSED:
        return redirect(equal, x, y, name=name)


@export("math.not_equal", "not_equal")
def not_equal(x, y, name=None):
    """Whether `x` and `y` differ, element by element; shapes broadcast."""
    try:
        return raw.NotEqual(x, y, name=name)
    except REFUSED:
        return redirect(not_equal, x, y, name=name)


@export("math.abs", "abs")
def abs(x, name=None):  # noqa: A001 - TensorFlow's name
    """The absolute value; for a complex number its magnitude."""
    try:
        x = convert(x)
    except REFUSED:
        return redirect(abs, x, name=name)
    if x.dtype.is_complex:
        return raw.ComplexAbs(x, x.dtype.real_dtype, name=name)
    return raw.Abs(x, name=name)


@export("math.round", "round")
def round(x, name=None):  # noqa: A001
    """Rounds to the nearest integer, and halves to the even one. Integers are returned unchanged."""
    try:
        x = convert(x)
    except REFUSED:
        return redirect(round, x, name=name)
    return x if x.dtype.is_integer else raw.Round(x, name=name)


@export("math.angle")
def angle(input, name=None):  # noqa: A002
    """The argument of a complex number; 0 or pi for a real one."""
    try:
        x = convert(input)
    except REFUSED:
        return redirect(angle, input, name=name)
    if x.dtype.is_complex:
        return raw.Angle(x, x.dtype.real_dtype, name=name)
    half_turn = convert(np.pi, x.dtype)
    return raw.SelectV2(raw.Less(x, 0), half_turn, raw.ZerosLike(x), name=name)


@export("math.conj")
def conj(x, name=None):
    """The complex conjugate; real numbers are returned unchanged."""
    try:
        if isinstance(x, Tensor) and (x.dtype.is_floating or x.dtype.is_integer):
            return x
        x = convert(x)
        if x.dtype.is_complex or x.dtype is dtypes.variant:
            return raw.Conj(x, name=name)
        if x.dtype.is_floating or x.dtype.is_integer:
            return x
        raise TypeError(f"Expected numeric or variant tensor, got dtype {x.dtype!r}")
    except REFUSED:
        return redirect(conj, x, name=name)


@export("math.real")
def real(input, name=None):  # noqa: A002
    """The real part; real numbers are returned unchanged."""
    try:
        x = convert(input)
    except REFUSED:
        return redirect(real, input, name=name)
    if x.dtype.is_complex:
        return raw.Real(x, x.dtype.real_dtype, name=name)
    if x.dtype.is_floating or x.dtype.is_integer:
        return x
    raise TypeError(f"input must be a numeric tensor, but got tensor with dtype {x.dtype!r}")


@export("math.imag")
def imag(input, name=None):  # noqa: A002
    """The imaginary part; zeros for real numbers."""
    try:
        x = convert(input)
    except REFUSED:
        return redirect(imag, input, name=name)
    if x.dtype.is_complex:
        return raw.Imag(x, x.dtype.real_dtype, name=name)
    return raw.ZerosLike(x)


@export("dtypes.complex", "complex")
def complex(real, imag, name=None):  # noqa: A001
    """Complex numbers from their real and imaginary parts."""
    try:
        real, imag = convert(real), convert(imag)
    except REFUSED:
        return redirect(complex, real, imag, name=name)
    types = {dtypes.float64: dtypes.complex128, dtypes.float32: dtypes.complex64}
    if real.dtype is not imag.dtype or real.dtype not in types:
        raise TypeError(
            "The `real` and `imag` components have incorrect types: "
            f"{real.dtype.name} {imag.dtype.name}. They must be consistent, and one of "
            "[tf.float32, tf.float64]"
        )
    return raw.Complex(real, imag, types[real.dtype], name=name)


# ---- types ----------------------------------------------------------------------------------------


@export("dtypes.cast", "cast")
@front("cast")
def cast(x, dtype, name=None):
    """`x` with its elements converted to `dtype`."""
    try:
        if type(dtype) is not dtypes.DType:
            dtype = dtypes.as_dtype(dtype)
        dtype = dtype.base_dtype
        if isinstance(x, Tensor):
            return x if x.dtype is dtype else raw.Cast(x, dtype, name=name)
        if isinstance(x, IndexedSlices):
            return IndexedSlices(cast(x.values, dtype, name), x.indices, x.dense_shape)
        if isinstance(x, _core.VariableBase) and x.dtype is dtype:
            return x
        x = convert(x)
        return x if x.dtype is dtype else raw.Cast(x, dtype, name=name)
    except REFUSED:
        return redirect(cast, x, dtype, name=name)


@export("dtypes.saturate_cast", "saturate_cast")
def saturate_cast(value, dtype, name=None):
    """Like cast, but values out of the range of `dtype` become its minimum or maximum."""
    try:
        value = convert(value)
    except REFUSED:
        return redirect(saturate_cast, value, dtype, name=name)
    dtype = dtypes.as_dtype(dtype).base_dtype
    if value.dtype.is_complex:
        if dtype.is_complex:
            parts = (real(value), imag(value))
            parts = [saturate_cast(p, dtype.real_dtype) for p in parts]
            return raw.Complex(*parts, dtype, name=name)
        value = real(value)
    source, target = value.dtype, dtype.real_dtype
    if not target.is_numpy_compatible:
        raise KeyError(target.as_datatype_enum)
    for dtype_ in (source, target):
        if dtype_.is_bool or not (dtype_.is_integer or dtype_.is_floating):
            raise TypeError(f"Cannot find minimum value of {dtype_!r}: this dtype has no range to saturate to.")
    low, high = _bounds(source, target)
    return cast(raw.ClipByValue(value, convert(low, source), convert(high, source)), dtype, name)


def _bounds(source, target):
    """The smallest and largest value of the dtype `source` that the dtype `target` can represent."""
    exact = [float if t.is_floating else int for t in (source, target)]
    least, most = exact[1](target.min), exact[1](target.max)
    low, high = max(exact[0](source.min), least), min(exact[0](source.max), most)
    if not source.is_floating:
        return int(low), int(high)
    kind = source.as_numpy_dtype
    low, high = kind(float(low)), kind(float(high))  # rounding may have moved them out of range
    if float(low) < least:
        low = np.nextafter(low, kind(0), dtype=kind)
    if float(high) > most:
        high = np.nextafter(high, kind(0), dtype=kind)
    return low, high


# ---- division -------------------------------------------------------------------------------------

_QUOTIENT = {
    **{dtypes.as_dtype(t): dtypes.float32 for t in ("uint8", "int8", "uint16", "int16")},
    **{dtypes.as_dtype(t): dtypes.float64 for t in ("uint32", "int32", "uint64", "int64")},
    **{
        dtypes.as_dtype(t): None
        for t in ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")
    },
}


def _quotient_pair(x, y, where):
    """The operands of a division, with integers converted to floats."""
    x, y = pair(x, y)
    if x.dtype is not y.dtype:
        raise TypeError(f"`x` and `y` must have the same dtype, got {x.dtype!r} != {y.dtype!r}.")
    if x.dtype not in _QUOTIENT:
        raise TypeError(
            f"Invalid dtype {x.dtype!r} in {where}: a quotient is defined for numbers only."
        )
    as_float = _QUOTIENT[x.dtype]
    return (x, y) if as_float is None else (raw.Cast(x, as_float), raw.Cast(y, as_float))


@export("math.truediv", "truediv")
def truediv(x, y, name=None):
    """The quotient as in Python 3: integers are divided as floats."""
    try:
        x, y = _quotient_pair(x, y, "__truediv__")
    except REFUSED:
        return redirect(truediv, x, y, name=name)
    return raw.RealDiv(x, y, name=name or "truediv")


@export("math.divide", "divide")
def divide(x, y, name=None):
    """`x / y` by the rules of Python's division."""
    try:
        first = x
        if not isinstance(x, CoreTensor):
            first = convert(x, y.dtype if isinstance(y, CoreTensor) else None)
            if not executing_eagerly():
                first = raw.Identity(first)  # a node of the graph, so that numpy does not convert it
        return first / y if name is None else truediv(first, y, name)
    except REFUSED:
        return redirect(divide, x, y, name=name)


@export("math.divide_no_nan")
def divide_no_nan(x, y, name=None):
    """`x / y`, and 0 where `y` is 0; integers are divided as floats."""
    try:
        if isinstance(y, CoreTensor) and not isinstance(x, CoreTensor):
            x = convert(x, y.dtype)
        x, y = _quotient_pair(x, y, "tf.math.divide_no_nan")
        return raw.DivNoNan(x, y, name=name)
    except REFUSED:
        return redirect(divide_no_nan, x, y, name=name)


@export("math.multiply_no_nan")
def multiply_no_nan(x, y, name=None):
    """`x * y`, and 0 where `y` is 0, even if `x` is infinite or NaN."""
    try:
        first = convert(x)
        return raw.MulNoNan(first, convert(y, first.dtype), name=name)
    except REFUSED:
        return redirect(multiply_no_nan, x, y, name=name)


@export("math.reciprocal_no_nan")
def reciprocal_no_nan(x, name=None):
    """`1 / x`, and 0 where `x` is 0."""
    try:
        x = convert(x)
    except REFUSED:
        return redirect(reciprocal_no_nan, x, name=name)
    return raw.DivNoNan(convert(1, x.dtype), x, name=name)


@export("math.erfcinv")
def erfcinv(x, name=None):
    """The inverse of erfc."""
    try:
        x = convert(x)
    except REFUSED:
        return redirect(erfcinv, x, name=name)
    return raw.Mul(raw.Neg(raw.Ndtri(raw.Mul(x, 0.5))), np.sqrt(0.5), name=name)


# ---- sums -----------------------------------------------------------------------------------------


def _terms(inputs, what):
    if not isinstance(inputs, (list, tuple)):
        inputs = list(inputs)
    if not inputs:
        raise ValueError(
            f"{what}: inputs must be an iterable of at least one Tensor/IndexedSlices with the "
            "same dtype and shape."
        )
    return [convert(x) for x in inputs]


@export("math.add_n", "add_n")
def add_n(inputs, name=None):
    """The sum of a list of tensors of the same shape."""
    try:
        if isinstance(inputs, (Tensor, np.ndarray)):
            inputs = list(inputs)  # raises TypeError for a scalar
        terms = _terms(inputs, "add_n")
        if len(terms) == 1:
            return terms[0] if name is None else raw.Identity(terms[0], name=name)
        return raw.AddN(terms, name=name)
    except REFUSED:
        return redirect(add_n, inputs, name=name)


@export("math.accumulate_n")
def accumulate_n(inputs, shape=None, tensor_dtype=None, name=None):
    """The sum of a list of tensors of the same shape. `shape` may give the shape."""
    terms = _terms(inputs, "accumulate_n")
    if any(t.dtype is not terms[0].dtype for t in terms):
        raise ValueError(
            "accumulate_n: inputs must be a list of Tensors with the same dtype and shape"
        )
    if shape is not None:
        for t in terms:
            as_shape(shape).merge_with(t.shape)
    if tensor_dtype is not None and dtypes.as_dtype(tensor_dtype) is not terms[0].dtype:
        raise TypeError(
            f"tensor_dtype is {tensor_dtype!r}, but the inputs are of type {terms[0].dtype!r}"
        )
    if len(terms) == 1:
        return terms[0] if name is None else raw.Identity(terms[0], name=name)
    return raw.AddN(terms, name=name)


@export("math.scalar_mul", "scalar_mul")
def scalar_mul(scalar, x, name=None):
    """Multiplies `x` by a scalar. For IndexedSlices it returns IndexedSlices."""
    try:
        factor = convert(scalar, dtypes.as_dtype(x.dtype).base_dtype)
        if rank_of(factor) != 0:
            raise ValueError(f"The input scalar must be a 0-D value. Received: shape {static_shape(factor)}.")
        if isinstance(x, IndexedSlices):
            return IndexedSlices(raw.Mul(factor, x.values, name=name), x.indices, x.dense_shape)
        return raw.Mul(factor, x, name=name)
    except (AttributeError, *REFUSED):  # AttributeError: an argument has no dtype
        return redirect(scalar_mul, scalar, x, name=name)


@export("math.logical_xor")
def logical_xor(x, y, name="LogicalXor"):
    """Whether exactly one of `x` and `y` is true."""
    try:
        return raw.LogicalAnd(
            raw.LogicalOr(x, y), raw.LogicalNot(raw.LogicalAnd(x, y)), name=name
        )
    except REFUSED:
        return redirect(logical_xor, x, y, name=name)


@export("math.polyval")
def polyval(coeffs, x, name=None):
    """The polynomial with `coeffs` (highest power first) at `x`, by Horner's rule."""
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    x = convert(x)
    if not coeffs:
        return raw.ZerosLike(x, name=name)
    coeffs = [convert(c) for c in coeffs]
    value = coeffs[0]
    for c in coeffs[1:]:
        value = c + value * x
    return value


# ---- cumulative ops along an axis --------------------------------------------------------------------------


@export("math.cumsum", "cumsum")
def cumsum(x, axis=0, exclusive=False, reverse=False, name=None):
    """The cumulative sum along `axis`."""
    try:
        return raw.Cumsum(convert(x), axis, exclusive, reverse, name=name)
    except REFUSED:
        return redirect(cumsum, x, axis, exclusive, reverse, name=name)


@export("math.cumprod")
def cumprod(x, axis=0, exclusive=False, reverse=False, name=None):
    """The cumulative product along `axis`."""
    return raw.Cumprod(convert(x), axis, exclusive, reverse, name=name)


@export("math.cumulative_logsumexp")
def cumulative_logsumexp(x, axis=0, exclusive=False, reverse=False, name=None):
    """The cumulative log-sum-exp along `axis`, computed without overflow."""
    return raw.CumulativeLogsumexp(convert(x), axis, exclusive, reverse, name=name)


def _is_short(x):
    """Whether `x` is known to have fewer than two elements."""
    dims = static_shape(x)
    return dims is not None and None not in dims and np.prod(dims) < 2


def _neighbours(x):
    """(all elements of the flattened `x` but the first, all but the last)."""
    if not (x.dtype.is_floating or x.dtype.is_integer or x.dtype.is_complex):
        raise TypeError(f"Expected x to be numeric, instead found: {x}")
    flat = raw.Reshape(x, [-1])
    return flat[1:], flat[:-1]


def _in_order(x, follows, name):
    """Whether `follows` holds between each element of the flattened `x` and the one before. A graph always adds the
    comparison, even for fewer than two elements."""
    x = convert(x)
    after, before = _neighbours(x)
    short = _is_short(x)
    if short and executing_eagerly():
        return convert(True)
    order = follows(after, before)
    return convert(True) if short else raw.All(order, [0], name=name)


@export("math.is_non_decreasing")
def is_non_decreasing(x, name=None):
    """Whether no element is smaller than the one before."""
    return _in_order(x, raw.GreaterEqual, name)


@export("math.is_strictly_increasing")
def is_strictly_increasing(x, name=None):
    """Whether each element is larger than the one before."""
    return _in_order(x, raw.Greater, name)


@export("math.sobol_sample")
def sobol_sample(dim, num_results, skip=0, dtype=dtypes.float32, name=None):
    """Points of the Sobol sequence, without the first `skip`; one per row."""
    return raw.SobolSample(dim, num_results, skip, dtype=dtypes.as_dtype(dtype), name=name)
