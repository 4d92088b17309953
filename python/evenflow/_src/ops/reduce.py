"""Reductions along some or all axes, norms and moments."""
import collections.abc

from ..dispatch import REFUSED, redirect
from ..namespace import export, offer
from .array import squeeze
from .common import IndexedSlices, convert, dtypes, seen, np, raw, static_shape
from .math import abs as magnitude, conj, divide_no_nan

_ALL_AXES = tuple(convert(np.arange(rank, dtype=np.int32)) for rank in range(9))


def _reduce(op, x, axis, keepdims, name):
    if axis is None:
        dims = static_shape(convert(x))
        if dims is None:
            made = op(x, raw.Range(0, raw.Rank(x), 1), bool(keepdims), name=name)
            if not keepdims:
                made.set_shape(())  # a reduction over all axes is a scalar, even if the rank is unknown
            return made
        axis = _ALL_AXES[len(dims)]
    elif isinstance(axis, range):
        axis = list(axis)
    return op(x, axis, bool(keepdims), name=name)


def _reduction(op, doc, *names):
    """A public function that calls one op, in which the axis None means all axes."""

    def reduced(input_tensor, axis=None, keepdims=False, name=None):
        try:
            return _reduce(op, input_tensor, axis, keepdims, name)
        except REFUSED:
            return redirect(reduced, input_tensor, axis, keepdims, name=name)

    reduced.__name__ = reduced.__qualname__ = names[0].rpartition(".")[2]
    reduced.__doc__ = doc
    return offer(reduced, *names)


reduce_sum = _reduction(raw.Sum, "The sum along `axis`; None means all axes.", "math.reduce_sum", "reduce_sum")
reduce_mean = _reduction(raw.Mean, "The mean along `axis`, in the tensor's own dtype.",
                         "math.reduce_mean", "reduce_mean")
reduce_prod = _reduction(raw.Prod, "The product along `axis`.", "math.reduce_prod", "reduce_prod")
reduce_max = _reduction(raw.Max, "The largest element along `axis`.", "math.reduce_max", "reduce_max")
reduce_min = _reduction(raw.Min, "The smallest element along `axis`.", "math.reduce_min", "reduce_min")
reduce_all = _reduction(raw.All, "Whether all elements along `axis` are true.", "math.reduce_all", "reduce_all")
reduce_any = _reduction(raw.Any, "Whether any element along `axis` is true.", "math.reduce_any", "reduce_any")
reduce_euclidean_norm = _reduction(raw.EuclideanNorm, "The square root of the sum of squares along `axis`.",
                                   "math.reduce_euclidean_norm")


@export("math.reduce_variance")
def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The variance along `axis`: the mean of squared distances from the mean."""
    try:
        x = convert(input_tensor)
    except REFUSED:
        return redirect(reduce_variance, input_tensor, axis, keepdims, name=name)
    mean = _reduce(raw.Mean, x, axis, True, None)
    if x.dtype.is_integer:
        raise TypeError(f"Input must be either real or complex, got {x.dtype!r}.")
    off = raw.Sub(x, mean)
    if x.dtype.is_complex:
        square = raw.Real(raw.Mul(raw.Conj(off), off), x.dtype.real_dtype)
    else:
        square = raw.Square(off)
    return _reduce(raw.Mean, square, axis, keepdims, name)


@export("math.reduce_std")
def reduce_std(input_tensor, axis=None, keepdims=False, name=None):
    """The standard deviation along `axis`."""
    try:
        return raw.Sqrt(reduce_variance(input_tensor, axis, keepdims), name=name)
    except REFUSED:
        return redirect(reduce_std, input_tensor, axis, keepdims, name=name)


@export("math.reduce_logsumexp", "reduce_logsumexp")
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log(sum(exp(x))) along `axis`. The largest element is subtracted first, which avoids overflow."""
    try:
        x = convert(input_tensor)
    except REFUSED:
        return redirect(reduce_logsumexp, input_tensor, axis, keepdims, name=name)
    top = _reduce(raw.Max, x, axis, True, None)
    top = raw.StopGradient(raw.SelectV2(raw.IsFinite(top), top, raw.ZerosLike(top)))
    total = raw.Log(_reduce(raw.Sum, raw.Exp(raw.Sub(x, top)), axis, keepdims, None))
    if not keepdims:
        top = raw.Reshape(top, raw.Shape(total))
    return raw.AddV2(total, top, name=name)


@export("math.count_nonzero")
def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):  # noqa: A002
    """The number of elements along `axis` that are not zero (for strings, not empty)."""
    x = convert(input)
    nothing = convert("" if x.dtype is dtypes.string else False if x.dtype.is_bool else 0, x.dtype)
    hits = raw.Cast(raw.NotEqual(x, nothing), dtypes.int64)
    count = _reduce(raw.Sum, hits, axis, keepdims, name if dtype == dtypes.int64 else None)
    return count if dtype == dtypes.int64 else raw.Cast(count, dtypes.as_dtype(dtype), name=name)


_PLACES = (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64)


def _place_axis(axis):
    """The axis of argmax: an integer, or a tensor with one. Raises TypeError for anything else."""
    if type(axis) is int or axis is None:
        return axis or 0
    dtype = getattr(axis, "dtype", None)
    if not isinstance(axis, int) and not (isinstance(dtype, dtypes.DType) and dtype in _PLACES):
        raise TypeError(f"axis must be an integer, or a tensor of up to 64 bits of integers, not {axis!r}")
    return raw.Cast(axis, dtypes.int32) if dtype in _PLACES[:4] else axis


@export("math.argmax", "argmax")
def argmax(input, axis=None, output_type=dtypes.int64, name=None):  # noqa: A002
    """The index of the largest element along `axis`; of equal ones, the first."""
    return raw.ArgMax(input, _place_axis(axis), output_type, name=name)


@export("math.argmin", "argmin")
def argmin(input, axis=None, output_type=dtypes.int64, name=None):  # noqa: A002
    """The index of the smallest element along `axis`; of equal ones, the first."""
    return raw.ArgMin(input, 0 if axis is None else axis, output_type, name=name)


# ---- norms ------------------------------------------------------------------------------------------


@export("math.l2_normalize", "nn.l2_normalize", "linalg.l2_normalize")
def l2_normalize(x, axis=None, epsilon=1e-12, name=None, dim=None):
    """`x` scaled to length 1 along `axis`; vectors shorter than sqrt(epsilon) are scaled less."""
    if dim is not None:
        if axis is not None:
            raise ValueError("Cannot specify both 'axis' and 'dim'")
        axis = dim
    x = convert(x)
    if x.dtype.is_complex:
        part = x.dtype.real_dtype
        square = raw.Real(raw.Mul(x, raw.Conj(x)), part)
        length = raw.Rsqrt(raw.Maximum(_reduce(raw.Sum, square, axis, True, None), epsilon))
        real = raw.Mul(raw.Real(x, part), length)
        return raw.Complex(real, raw.Mul(raw.Imag(x, part), length), x.dtype, name=name)
    total = _reduce(raw.Sum, raw.Square(x), axis, True, None)
    return raw.Mul(x, raw.Rsqrt(raw.Maximum(total, epsilon)), name=name)


_ORDERS = ("fro", "euclidean", 1, 2, float("inf"))


def _check_order(ord, axis):  # noqa: A002
    matrix = isinstance(axis, (list, tuple)) and len(axis) == 2
    if matrix:
        good = isinstance(axis[0], int) and isinstance(axis[1], int) and axis[0] != axis[1]
    else:
        good = axis is None or isinstance(axis, int)
    if not good:
        raise ValueError(f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}")
    if matrix:
        if ord not in _ORDERS:
            raise ValueError(
                f"'ord' must be a supported matrix norm in {_ORDERS}, got {ord}"
            )
    elif isinstance(ord, str):
        if ord != "euclidean":
            raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    elif not ord > 0:
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    return matrix


def _largest_singular(x, axes):
    """The largest singular value over two axes, which are kept with size 1."""
    rank = raw.Rank(x)
    both = raw.FloorMod(raw.AddV2(convert(list(axes), dtypes.int32), rank), rank)
    others = raw.ListDiff(raw.Range(0, rank, 1), both)[0]
    perm = raw.ConcatV2([others, both], 0)
    s = raw.Svd(raw.Transpose(x, perm), False)[0]
    s = raw.Real(s, s.dtype.real_dtype) if s.dtype.is_complex else s
    largest = raw.ExpandDims(raw.Max(s, [-1], True), -1)
    return raw.Transpose(largest, raw.InvertPermutation(perm))


@export("norm", "linalg.norm")
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None):  # noqa: A002
    """The norm of vectors (one axis, or all) or of matrices (two axes)."""
    keepdims = bool(keepdims)
    matrix = _check_order(ord, axis)
    x = convert(tensor)
    if isinstance(axis, list):
        axis = tuple(axis)
    if matrix and ord == 2:
        total = _largest_singular(x, axis)
    elif ord in ("fro", "euclidean", 2, 2.0):
        square = raw.Mul(x, conj(x))
        total = raw.Sqrt(_reduce(raw.Sum, square, axis, True, None))
    elif ord == 1 and matrix:
        columns = raw.Sum(magnitude(x), axis[0], True)
        total = raw.Max(columns, axis[1], True)
    elif ord == 1:
        total = _reduce(raw.Sum, magnitude(x), axis, True, None)
    elif ord == float("inf") and matrix:
        rows = raw.Sum(magnitude(x), axis[1], True)
        total = raw.Max(rows, axis[0], True)
    elif ord == float("inf"):
        total = _reduce(raw.Max, magnitude(x), axis, True, None)
    else:
        powers = raw.Pow(magnitude(x), ord)
        total = raw.Pow(_reduce(raw.Sum, powers, axis, True, None), 1.0 / ord)
    if keepdims:
        return total if name is None else raw.Identity(total, name=name)
    if axis is None:
        return raw.Reshape(total, [], name=name)
    return raw.Squeeze(total, [axis] if isinstance(axis, int) else list(axis), name=name)


@export("linalg.normalize")
def normalize(tensor, ord="euclidean", axis=None, name=None):  # noqa: A002
    """(`tensor` divided by its norm, the norm)."""
    x = convert(tensor)
    length = norm(x, ord, axis, keepdims=True)
    if length.dtype is not x.dtype:
        length = raw.Cast(length, x.dtype)
    return raw.RealDiv(x, length, name=name), length


def need_sequence(t_list):
    """Raises TypeError unless `t_list` is a sequence of tensors. A single tensor is not one."""
    if isinstance(t_list, str) or not isinstance(t_list, collections.abc.Sequence):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")


@export("linalg.global_norm")
def global_norm(t_list, name=None):
    """The Euclidean norm of several tensors, taken as one vector. None entries are ignored."""
    need_sequence(t_list)
    parts = [t.values if isinstance(t, IndexedSlices) else t for t in t_list if t is not None]
    parts = [convert(t) for t in parts]
    halves = [raw.L2Loss(t) for t in parts]
    if not halves:
        return convert(0.0)
    total = raw.Sum(raw.Pack(halves), [0])
    return raw.Sqrt(raw.Mul(total, convert(2.0, total.dtype)), name=name)


# ---- moments ------------------------------------------------------------------------------------------


@export("nn.moments")
def moments(x, axes, shift=None, keepdims=False, name=None):
    """Mean and variance along `axes`. Half precision is computed in float32."""
    x = convert(x)
    half = x.dtype in (dtypes.float16, dtypes.bfloat16)
    y = raw.Cast(x, dtypes.float32) if half else x
    mean = _reduce(raw.Mean, y, axes, True, None)
    off = raw.SquaredDifference(y, raw.StopGradient(mean))
    variance = _reduce(raw.Mean, off, axes, True, None)
    if not keepdims:
        if axes is None:
            mean, variance = raw.Reshape(mean, []), raw.Reshape(variance, [])
        else:
            mean, variance = squeeze(mean, axes), squeeze(variance, axes)
    if half:
        mean, variance = raw.Cast(mean, x.dtype), raw.Cast(variance, x.dtype)
    return mean, variance


@export("nn.sufficient_statistics")
def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """(count, sum, sum of squares, shift) along `axes`, of the elements minus `shift`."""
    axes = sorted(set(seen(axes).reshape(-1).tolist()))
    x = convert(x)
    dims = static_shape(x)
    if dims is not None and all(dims[a] is not None for a in axes):
        count = 1
        for a in axes:
            count *= dims[a]
        count = convert(count, x.dtype)
    else:
        sizes = raw.GatherV2(raw.Shape(x), axes, 0)
        count = raw.Cast(raw.Prod(sizes, [0]), x.dtype)
    if shift is not None:
        shift = convert(shift)
        off = raw.Sub(x, shift)
        squares = raw.SquaredDifference(x, shift)
    else:
        off = x
        squares = raw.Square(x)
    total = raw.Sum(off, axes, bool(keepdims))
    return count, total, raw.Sum(squares, axes, bool(keepdims)), shift


@export("nn.normalize_moments")
def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """(mean, variance) from the results of `sufficient_statistics`."""
    divisor = raw.Reciprocal(convert(counts))
    if shift is not None:
        shifted = raw.Mul(mean_ss, divisor)
        mean = raw.AddV2(shifted, shift)
    else:
        shifted = mean = raw.Mul(mean_ss, divisor)
    variance = raw.Sub(raw.Mul(variance_ss, divisor), raw.Square(shifted))
    return mean, variance


@export("nn.weighted_moments")
def weighted_moments(x, axes, frequency_weights, keepdims=False, name=None):
    """The weighted mean and variance along `axes`."""
    x = convert(x)
    weights = convert(frequency_weights)
    half = x.dtype is dtypes.float16
    y = raw.Cast(x, dtypes.float32) if half else x
    if weights.dtype is not y.dtype:
        weights = raw.Cast(weights, y.dtype)
    spread = raw.AddV2(weights, raw.ZerosLike(y))
    total = _reduce(raw.Sum, spread, axes, True, None)
    mean = divide_no_nan(_reduce(raw.Sum, raw.Mul(weights, y), axes, True, None), total)
    off = raw.SquaredDifference(y, mean)
    variance = divide_no_nan(_reduce(raw.Sum, raw.Mul(weights, off), axes, True, None), total)
    if not keepdims:
        mean, variance = squeeze(mean, axes), squeeze(variance, axes)
    if half:
        mean, variance = raw.Cast(mean, x.dtype), raw.Cast(variance, x.dtype)
    return mean, variance


@export("math.lbeta")
def lbeta(x, name=None):
    """log of the Beta function of the last dimension: sum of lgamma minus lgamma of the sum."""
    x = convert(x)
    apart = raw.Sum(raw.Lgamma(x), [-1])
    return raw.Sub(apart, raw.Lgamma(raw.Sum(x, [-1])), name=name)
