"""Reductions: one value of many, along some axes or all of them."""
from ..namespace import export
from ..ragged import RaggedTensor
from .common import (
    IndexedSlices,
    convert,
    dtypes,
    known,
    normal_axis,
    np,
    raw,
    rank_of,
    static_shape,
)

_ALL_AXES = tuple(np.arange(rank, dtype=np.int32) for rank in range(9))


def _axes(x, axis):
    """The axes to reduce: those given, or all."""
    if axis is not None:
        return axis if not isinstance(axis, range) else list(axis)
    dims = static_shape(x)
    if dims is None:
        return raw.Range(0, raw.Rank(x), 1)
    return _ALL_AXES[len(dims)]


def _reduce(op, x, axis, keepdims, name):
    if type(x) is RaggedTensor:
        from .ragged_reduce import reduce

        return reduce(op.__name__, x, axis, keepdims)
    if axis is None:
        axis = _axes(convert(x), None)
    elif isinstance(axis, range):
        axis = list(axis)
    return op(x, axis, bool(keepdims), name=name)


@export("math.reduce_sum", "reduce_sum")
def reduce_sum(input_tensor, axis=None, keepdims=False, name=None):
    """The sum along `axis` (None: of everything)."""
    return _reduce(raw.Sum, input_tensor, axis, keepdims, name)


@export("math.reduce_mean", "reduce_mean")
def reduce_mean(input_tensor, axis=None, keepdims=False, name=None):
    """The mean along `axis`, in the tensor's own dtype."""
    return _reduce(raw.Mean, input_tensor, axis, keepdims, name)


@export("math.reduce_prod", "reduce_prod")
def reduce_prod(input_tensor, axis=None, keepdims=False, name=None):
    """The product along `axis`."""
    return _reduce(raw.Prod, input_tensor, axis, keepdims, name)


@export("math.reduce_max", "reduce_max")
def reduce_max(input_tensor, axis=None, keepdims=False, name=None):
    """The largest element along `axis`."""
    return _reduce(raw.Max, input_tensor, axis, keepdims, name)


@export("math.reduce_min", "reduce_min")
def reduce_min(input_tensor, axis=None, keepdims=False, name=None):
    """The smallest element along `axis`."""
    return _reduce(raw.Min, input_tensor, axis, keepdims, name)


@export("math.reduce_all", "reduce_all")
def reduce_all(input_tensor, axis=None, keepdims=False, name=None):
    """Whether all elements along `axis` are true."""
    return _reduce(raw.All, input_tensor, axis, keepdims, name)


@export("math.reduce_any", "reduce_any")
def reduce_any(input_tensor, axis=None, keepdims=False, name=None):
    """Whether any element along `axis` is true."""
    return _reduce(raw.Any, input_tensor, axis, keepdims, name)


@export("math.reduce_euclidean_norm")
def reduce_euclidean_norm(input_tensor, axis=None, keepdims=False, name=None):
    """The square root of the sum of squares along `axis`."""
    return _reduce(raw.EuclideanNorm, input_tensor, axis, keepdims, name)


@export("math.reduce_variance")
def reduce_variance(input_tensor, axis=None, keepdims=False, name=None):
    """The mean of squared distances from the mean along `axis`."""
    x = convert(input_tensor)
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
    return raw.Sqrt(reduce_variance(input_tensor, axis, keepdims), name=name)


@export("math.reduce_logsumexp", "reduce_logsumexp")
def reduce_logsumexp(input_tensor, axis=None, keepdims=False, name=None):
    """log(sum(exp(x))) along `axis`, safe from overflow: the largest element is taken out first."""
    x = convert(input_tensor)
    top = _reduce(raw.Max, x, axis, True, None)
    top = raw.StopGradient(raw.SelectV2(raw.IsFinite(top), top, raw.ZerosLike(top)))
    total = raw.Log(_reduce(raw.Sum, raw.Exp(raw.Sub(x, top)), axis, keepdims, None))
    if not keepdims:
        top = raw.Reshape(top, raw.Shape(total))
    return raw.AddV2(total, top, name=name)


@export("math.count_nonzero")
def count_nonzero(input, axis=None, keepdims=None, dtype=dtypes.int64, name=None):  # noqa: A002
    """How many elements along `axis` are not zero (not empty, for strings)."""
    x = convert(input)
    nothing = convert("" if x.dtype is dtypes.string else False if x.dtype.is_bool else 0, x.dtype)
    hits = raw.Cast(raw.NotEqual(x, nothing), dtypes.int64)
    count = _reduce(raw.Sum, hits, axis, keepdims, name if dtype == dtypes.int64 else None)
    return count if dtype == dtypes.int64 else raw.Cast(count, dtypes.as_dtype(dtype), name=name)


@export("math.argmax", "argmax")
def argmax(input, axis=None, output_type=dtypes.int64, name=None):  # noqa: A002
    """Where the largest element along `axis` stands; of equals the first."""
    return raw.ArgMax(input, 0 if axis is None else axis, output_type, name=name)


@export("math.argmin", "argmin")
def argmin(input, axis=None, output_type=dtypes.int64, name=None):  # noqa: A002
    """Where the smallest element along `axis` stands; of equals the first."""
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
    if isinstance(axis, (list, tuple)):
        if len(axis) not in (1, 2) or (matrix and axis[0] == axis[1]):
            raise ValueError(
                f"'axis' must be None, an integer, or a tuple of 2 unique integers, got {axis}"
            )
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
    """The largest singular value over two axes, which stay with size 1."""
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
    if axis is not None and not isinstance(axis, (list, tuple)):
        axis = int(known(axis))
    matrix = _check_order(ord, axis)
    x = convert(tensor)
    if isinstance(axis, list):
        axis = tuple(axis)
    from .math import abs as magnitude

    if matrix and ord == 2:
        total = _largest_singular(x, axis)
    elif ord in ("fro", "euclidean", 2, 2.0):
        square = raw.Mul(x, raw.Conj(x)) if x.dtype.is_complex else raw.Mul(x, x)
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
    """`tensor` divided by its norm, and that norm."""
    x = convert(tensor)
    length = norm(x, ord, axis, keepdims=True)
    if length.dtype is not x.dtype:
        length = raw.Cast(length, x.dtype)
    return raw.RealDiv(x, length, name=name), length


@export("linalg.global_norm")
def global_norm(t_list, name=None):
    """The Euclidean norm of several tensors taken as one vector; None entries do not count."""
    if isinstance(t_list, str) or not hasattr(t_list, "__iter__"):
        raise TypeError(f"`t_list` should be a sequence of tensors. Received {type(t_list)}.")
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
            drop = known(axes).reshape(-1).tolist()
            mean, variance = raw.Squeeze(mean, drop), raw.Squeeze(variance, drop)
    if half:
        mean, variance = raw.Cast(mean, x.dtype), raw.Cast(variance, x.dtype)
    return mean, variance


@export("nn.sufficient_statistics")
def sufficient_statistics(x, axes, shift=None, keepdims=False, name=None):
    """Count, sum and sum of squares along `axes` (after taking `shift` off), and the shift."""
    axes = sorted(set(known(axes).reshape(-1).tolist()))
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
        shift = convert(shift, x.dtype)
        off = raw.Sub(x, shift)
        squares = raw.SquaredDifference(x, shift)
    else:
        off = x
        squares = raw.Square(x)
    total = raw.Sum(off, axes, bool(keepdims))
    return count, total, raw.Sum(squares, axes, bool(keepdims)), shift


@export("nn.normalize_moments")
def normalize_moments(counts, mean_ss, variance_ss, shift, name=None):
    """Mean and variance from what `sufficient_statistics` counted."""
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
    """Mean and variance along `axes`, each element counted by its weight."""
    x = convert(x)
    weights = convert(frequency_weights)
    half = x.dtype is dtypes.float16
    y = raw.Cast(x, dtypes.float32) if half else x
    if weights.dtype is not y.dtype:
        weights = raw.Cast(weights, y.dtype)
    spread = raw.AddV2(weights, raw.ZerosLike(y))
    total = _reduce(raw.Sum, spread, axes, True, None)
    divisor = raw.Reciprocal(total)
    mean = raw.Mul(_reduce(raw.Sum, raw.Mul(weights, y), axes, True, None), divisor)
    off = raw.SquaredDifference(y, raw.StopGradient(mean))
    variance = raw.Mul(_reduce(raw.Sum, raw.Mul(weights, off), axes, True, None), divisor)
    if not keepdims:
        drop = list(range(rank_of(x))) if axes is None else known(axes).reshape(-1).tolist()
        mean, variance = raw.Squeeze(mean, drop), raw.Squeeze(variance, drop)
    if half:
        mean, variance = raw.Cast(mean, x.dtype), raw.Cast(variance, x.dtype)
    return mean, variance


@export("math.lbeta")
def lbeta(x, name=None):
    """log of the Beta function of the last dimension: sum of lgamma minus lgamma of the sum."""
    x = convert(x)
    total = raw.Lgamma(raw.Sum(x, [-1]))
    return raw.Sub(raw.Sum(raw.Lgamma(x), [-1]), total, name=name)


# ---- sorting --------------------------------------------------------------------------------------------


def _descending(x, axis, places):
    rank = rank_of(x)
    count = raw.Shape(x)[axis]  # refuses an axis that is not there
    if axis == -1 or (rank is not None and axis + 1 == rank):
        found = raw.TopKV2(x, count)
        return found[1] if places else found[0]
    if rank is None:
        raise ValueError("sort along an inner axis needs a tensor of known rank")
    perm = list(range(rank))
    perm[axis], perm[-1] = perm[-1], perm[axis]
    found = raw.TopKV2(raw.Transpose(x, perm), count)
    return raw.Transpose(found[1] if places else found[0], perm)


def _ordered(values, axis, direction, places):
    axis = known(axis)
    if axis is None:
        raise ValueError("axis must be constant")
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(f"direction must be ASCENDING or DESCENDING, got {direction!r}")
    x = convert(values)
    axis = int(axis)
    if direction == "DESCENDING":
        return _descending(x, axis, places)
    if x.dtype.is_unsigned:  # turned round, because top_k finds the largest
        top = convert(x.dtype.max, x.dtype)
        found = _descending(raw.Sub(top, x), axis, places)
        return found if places else raw.Sub(top, found)
    if x.dtype.is_integer:  # -x - 1 has no overflow
        found = _descending(raw.Sub(raw.Neg(x), 1), axis, places)
        return found if places else raw.Sub(raw.Neg(found), 1)
    found = _descending(raw.Neg(x), axis, places)
    return found if places else raw.Neg(found)


@export("sort")
def sort(values, axis=-1, direction="ASCENDING", name=None):
    """The elements along `axis` in order."""
    return _ordered(values, axis, direction, False)


@export("argsort")
def argsort(values, axis=-1, direction="ASCENDING", stable=False, name=None):
    """Where the elements along `axis` stand that `sort` would put first, second ... (int32)."""
    return _ordered(values, axis, direction, True)


@export("math.top_k", "nn.top_k")
def top_k(input, k=1, sorted=True, index_type=dtypes.int32, name=None):  # noqa: A002
    """The `k` largest elements of the last dimension and where they stand."""
    index_type = dtypes.as_dtype(index_type)
    found = raw.TopKV2(input, k, sorted, name=name)
    if index_type is dtypes.int32:
        return found
    return type(found)(found[0], raw.Cast(found[1], index_type))


def _approx(operand, k, axis, largest, name):
    x = convert(operand)
    axis = normal_axis(axis, rank_of(x), "reduction_dimension")
    perm = list(range(rank_of(x)))
    perm[axis], perm[-1] = perm[-1], perm[axis]
    values, places = raw.TopKV2(raw.Transpose(x if largest else raw.Neg(x), perm), k)
    values = values if largest else raw.Neg(values)
    return raw.Transpose(values, perm, name=name), raw.Transpose(places, perm)


@export("math.approx_max_k", "nn.approx_max_k")
def approx_max_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
):
    """The `k` largest along an axis and their places; found exactly, whatever recall is asked."""
    return _approx(operand, k, reduction_dimension, True, name)


@export("math.approx_min_k", "nn.approx_min_k")
def approx_min_k(
    operand,
    k,
    reduction_dimension=-1,
    recall_target=0.95,
    reduction_input_size_override=-1,
    aggregate_to_topk=True,
    name=None,
):
    """The `k` smallest along an axis and their places; found exactly, whatever recall is asked."""
    return _approx(operand, k, reduction_dimension, False, name)


@export("math.in_top_k", "nn.in_top_k")
def in_top_k(targets, predictions, k, name=None):
    """Whether each target class is among the `k` highest predictions of its row."""
    return raw.InTopKV2(predictions, targets, k, name=name)
