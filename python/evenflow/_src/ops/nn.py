"""tf.nn: activations, losses, normalization, dropout, embeddings."""
import numbers

from .. import errors
from ..dispatch import REFUSED, redirect
from ..distribute import get_strategy
from ..namespace import export, front, offer_ops
from ..shapes import agree, as_shape
from . import random, stateless
from .common import (
    Tensor,
    convert,
    dtypes,
    exchanged,
    executing_eagerly,
    is_symbolic,
    normal_axis,
    np,
    rank_of,
    raw,
    sizes_agree,
    static_shape,
    static_value,
)
from .math import divide_no_nan

offer_ops(
    """
    Elu | features | nn.elu
    L2Loss | t | nn.l2_loss
    LRN | input, depth_radius, bias, alpha, beta | nn.lrn nn.local_response_normalization
    Relu | features | nn.relu
    Relu6 | features | nn.relu6
    Selu | features | nn.selu
    """
)


# ---- activations ----------------------------------------------------------------------------------------


@export("nn.gelu")
def gelu(features, approximate=False, name=None):
    """x times the cumulative normal distribution of x. With `approximate`, the formula with tanh is used."""
    try:
        x = convert(features)
    except REFUSED:
        return redirect(gelu, features, approximate, name=name)
    if not x.dtype.is_floating:
        raise ValueError(
            f"`features.dtype` must be a floating point tensor. Received: {x.dtype!r}."
        )
    half = raw.Mul(x, 0.5)  # constants are rounded to float32 first, as in TensorFlow
    if approximate:
        cube = raw.Mul(raw.Pow(x, convert(3, x.dtype)), raw.Cast(0.044715, x.dtype))
        inner = raw.Mul(raw.AddV2(x, cube), 0.7978845608028654)
        return raw.Mul(half, raw.AddV2(raw.Tanh(inner), 1.0), name=name)
    inner = raw.Mul(raw.Neg(x), raw.Cast(0.7071067811865476, x.dtype))
    return raw.Mul(half, raw.Erfc(inner), name=name)


@export("nn.silu", "nn.swish")
def silu(features, beta=1.0):
    """x times the sigmoid of `beta` x."""
    try:
        x = convert(features)
    except REFUSED:
        return redirect(silu, features, beta)
    if isinstance(beta, (int, float)) and beta == 1.0:
        return raw.Mul(x, raw.Sigmoid(x))
    return raw.Mul(x, raw.Sigmoid(raw.Mul(raw.Cast(convert(beta), x.dtype), x)))


@export("nn.leaky_relu")
def leaky_relu(features, alpha=0.2, name=None):
    """x where it is positive, `alpha` x elsewhere."""
    try:
        x = convert(features)
    except REFUSED:
        return redirect(leaky_relu, features, alpha, name=name)
    if x.dtype.is_integer:
        x = raw.Cast(x, dtypes.float32)
    if isinstance(alpha, np.ndarray):
        alpha = alpha.item()
    return raw.LeakyRelu(x, alpha, name=name)


@export("nn.crelu")
def crelu(features, axis=-1, name=None):
    """Concatenates relu(x) and relu(-x) along `axis`."""
    x = convert(features)
    return raw.Relu(raw.ConcatV2([x, raw.Neg(x)], axis), name=name)


@export("math.log_sigmoid")
def log_sigmoid(x, name=None):
    """The logarithm of the sigmoid, computed without overflow."""
    try:
        return raw.Neg(raw.Softplus(raw.Neg(convert(x))), name=name)
    except REFUSED:
        return redirect(log_sigmoid, x, name=name)


def _along(op, logits, axis, name):
    """Applies an op that works along the last dimension along another one."""
    if axis is None:
        axis = -1
    x = convert(logits)
    rank = rank_of(x)
    if axis == -1 or rank is None or axis == rank - 1:
        return op(x, name=name)
    if isinstance(axis, float):
        return op(raw.Transpose(x, [axis]), name=name)  # raises the error: an axis must be an integer
    if not -rank <= axis < rank:
        raise errors.InvalidArgumentError(
            None, None, f"`axis` {axis} of softmax must be in the range [{-rank}, {rank})"
        )
    axis = axis + rank if axis < 0 else axis
    perm = exchanged(axis, rank)
    return raw.Transpose(op(raw.Transpose(x, perm)), perm, name=name)


@export("nn.softmax", "math.softmax")
def softmax(logits, axis=None, name=None):
    """exp(x) divided by its sum along `axis` (default: the last)."""
    try:
        return _along(raw.Softmax, logits, axis, name)
    except REFUSED:
        return redirect(softmax, logits, axis, name=name)


@export("nn.log_softmax", "math.log_softmax")
def log_softmax(logits, axis=None, name=None):
    """log of softmax along `axis` (default: the last)."""
    return _along(raw.LogSoftmax, logits, axis, name)


@export("nn.isotonic_regression")
def isotonic_regression(inputs, decreasing=True, axis=-1):
    """(the nearest monotonic sequence along `axis` in the sense of least squares, the numbers of its constant segments)."""
    x = convert(inputs)
    narrow = {"int8": dtypes.float32, "int16": dtypes.float32}
    kept = ("float16", "bfloat16", "float32")
    out = x.dtype if x.dtype.name in kept else narrow.get(x.dtype.name, dtypes.float64)
    rank = rank_of(x)
    axis = normal_axis(axis, rank)
    perm = exchanged(axis, rank)
    moved = x if axis == rank - 1 else raw.Transpose(x, perm)
    rows = _flat_rows(moved if decreasing else raw.Neg(moved))
    values, segments = raw.IsotonicRegression(rows, output_dtype=out)
    values = values if decreasing else raw.Neg(values)
    shape = raw.Shape(moved)
    parts = [raw.Reshape(values, shape), raw.Reshape(segments, shape)]
    if axis != rank - 1:
        parts = [raw.Transpose(part, perm) for part in parts]
    return tuple(parts)


# ---- losses ---------------------------------------------------------------------------------------------


def _need(what, labels, logits):
    if labels is None or logits is None:
        raise ValueError(f"Both `labels` and `logits` must be provided for {what}")


def _precise(x):
    return raw.Cast(x, dtypes.float32) if x.dtype in (dtypes.float16, dtypes.bfloat16) else x


def _flat_rows(x):
    """A tensor reshaped to a matrix that keeps its last dimension."""
    dims = static_shape(x)
    if dims is not None and len(dims) == 2:
        return x
    last = dims[-1] if dims is not None else None
    return raw.Reshape(x, raw.Pack([-1, raw.Shape(x)[-1]]) if last is None else [-1, last])


def _last_to(x, axis):
    """`axis` moved to the end."""
    rank = rank_of(x)
    perm = list(range(rank))
    perm.append(perm.pop(axis))
    return raw.Transpose(x, perm)


@export("nn.softmax_cross_entropy_with_logits")
def softmax_cross_entropy_with_logits(labels, logits, axis=-1, name=None):
    """The cross entropy of label distributions and softmax(logits) along `axis`."""
    _need("softmax_cross_entropy_with_logits", labels, logits)
    logits = convert(logits)
    given = logits.dtype
    x = _precise(logits)
    y = convert(labels)
    y = y if y.dtype is x.dtype else raw.Cast(y, x.dtype)
    rank = rank_of(x)
    if 0 in (rank, rank_of(y)):
        words = "softmax_cross_entropy_with_logits: a scalar has no classes"
        if executing_eagerly():
            raise errors.from_status(errors.INVALID_ARGUMENT, words)
        raise IndexError(words)
    if rank is not None and axis not in (-1, rank - 1):
        if not 0 <= axis < rank:
            words = f"softmax_cross_entropy_with_logits: axis {axis} must be -1, or in [0, {rank})"
            raise errors.graph_error(words) if not executing_eagerly() else errors.from_status(errors.INVALID_ARGUMENT, words)
        x, y = _last_to(x, axis), _last_to(y, axis)
    outer = raw.Shape(x)[:-1]
    dims = static_shape(x)
    cost = raw.SoftmaxCrossEntropyWithLogits(_flat_rows(x), _flat_rows(y))[0]
    if dims is not None and None not in dims:
        outer = convert(list(dims[:-1]), dtypes.int32)
    if dims is None or len(dims) != 2 or not sizes_agree(cost, 0, x, 0):
        cost = raw.Reshape(cost, outer, name=name)
    return cost if given is cost.dtype else raw.Cast(cost, given)


@export("nn.sparse_softmax_cross_entropy_with_logits")
def sparse_softmax_cross_entropy_with_logits(labels, logits, name=None):
    """The cross entropy of class numbers and softmax(logits) along the last dimension."""
    _need("sparse_softmax_cross_entropy_with_logits", labels, logits)
    logits, labels = convert(logits), convert(labels)
    x = _precise(logits)
    a, b = static_shape(labels), static_shape(x)
    if b == ():
        raise ValueError("`logits` cannot be a scalar.")
    if a is not None and b is not None:
        if len(a) != len(b) - 1:
            raise ValueError(
                "`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape="
                f"{as_shape(a)} and logits.shape={as_shape(b)}"
            )
        if not agree(labels.shape, x.shape[:-1]):
            raise ValueError(
                "`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
                f"labels.shape={labels.shape} and logits.shape={x.shape}"
            )
    if b is not None and len(b) == 2:
        cost = raw.SparseSoftmaxCrossEntropyWithLogits._first(x, labels, name=name)
    else:
        flat = raw.Reshape(labels, [-1])
        cost = raw.SparseSoftmaxCrossEntropyWithLogits._first(_flat_rows(x), flat)
        cost = raw.Reshape(cost, raw.Shape(labels), name=name)
    return cost if cost.dtype is logits.dtype else raw.Cast(cost, logits.dtype)


def _same_shape(labels, logits):
    a, b = labels.shape, logits.shape
    if not agree(a, b):
        raise ValueError(f"`logits` and `labels` must have the same shape, received ({b} vs {a}).")


@export("nn.sigmoid_cross_entropy_with_logits")
def sigmoid_cross_entropy_with_logits(labels=None, logits=None, name=None):
    """The cross entropy of independent probabilities and sigmoid(logits)."""
    try:
        _need("sigmoid_cross_entropy_with_logits", labels, logits)
        x = convert(logits)
        z = convert(labels)
        _same_shape(z, x)
        zeros = raw.ZerosLike(x)
        up = raw.GreaterEqual(x, zeros)
        positive = raw.SelectV2(up, x, zeros)
        minus = raw.SelectV2(up, raw.Neg(x), x)
        linear = raw.Sub(positive, raw.Mul(x, z))
        return raw.AddV2(linear, raw.Log1p(raw.Exp(minus)), name=name or "logistic_loss")
    except REFUSED:
        return redirect(sigmoid_cross_entropy_with_logits, labels, logits, name=name)


@export("nn.weighted_cross_entropy_with_logits")
def weighted_cross_entropy_with_logits(labels, logits, pos_weight, name=None):
    """Like sigmoid_cross_entropy_with_logits, with the term of positive labels weighted by `pos_weight`."""
    if isinstance(pos_weight, (list, tuple)):
        raise TypeError(f"`pos_weight` must be a number or a tensor, not a {type(pos_weight).__name__}")
    x, z = convert(logits), convert(labels)
    _same_shape(z, x)
    one = convert(1, z.dtype)
    more = pos_weight - 1 if isinstance(pos_weight, Tensor) else convert(pos_weight - 1, z.dtype)
    weight = raw.AddV2(one, raw.Mul(more, z))
    rest = raw.Mul(raw.Sub(one, z), x)
    tail = raw.AddV2(raw.Log1p(raw.Exp(raw.Neg(raw.Abs(x)))), raw.Relu(raw.Neg(x)))
    return raw.AddV2(rest, raw.Mul(weight, tail), name=name)


@export("nn.log_poisson_loss")
def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """The Poisson loss of `targets`, given the logarithm of the rate."""
    x, z = convert(log_input), convert(targets)
    _same_shape(z, x)
    loss = raw.Sub(raw.Exp(x), raw.Mul(x, z))
    if compute_full_loss:
        half, turn = convert(0.5, z.dtype), convert(2.0 * np.pi, z.dtype)
        stirling = raw.AddV2(
            raw.Sub(raw.Mul(z, raw.Log(z)), z), raw.Mul(half, raw.Log(raw.Mul(turn, z)))
        )
        small = raw.LogicalAnd(raw.GreaterEqual(z, 0), raw.LessEqual(z, 1))
        loss = raw.AddV2(loss, raw.SelectV2(small, raw.ZerosLike(z), stirling))
    return loss if name is None else raw.Identity(loss, name=name)


def _replicas():
    return get_strategy().num_replicas_in_sync


@export("nn.compute_average_loss")
def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of (weighted) losses divided by the global batch size."""
    loss = convert(per_example_loss)
    given = loss.dtype
    if rank_of(loss) == 0:
        raise ValueError(
            "Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1, "
            "got a scalar."
        )
    if sample_weight is not None:
        weight = convert(sample_weight)
        more = (rank_of(weight) or 0) - (rank_of(loss) or 0)
        if more == 1:
            weight = raw.Squeeze(weight, [-1])
        elif more == -1 and rank_of(weight):
            weight = raw.ExpandDims(weight, -1)
        loss = raw.Mul(raw.Cast(loss, dtypes.float32), raw.Cast(weight, dtypes.float32))
        loss = raw.Cast(loss, given)
    if global_batch_size is None:
        size = raw.Mul(raw.Shape(loss)[0], _replicas())
    else:
        size = convert(global_batch_size)
        if rank_of(size) not in (None, 0):
            raise ValueError(f"`global_batch_size` must be scalar, got {size!r}")
        if not size.dtype.is_integer:
            raise TypeError(f"`global_batch_size` must be an int, got {size.dtype!r}")
        value = static_value(size)
        if value is not None and value < 0:
            raise ValueError(f"`global_batch_size` must not be negative, got {value}")
    total = raw.Sum(raw.Reshape(loss, [-1]), [0])
    return divide_no_nan(total, raw.Cast(size, total.dtype))


@export("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss):
    """The sum of regularization losses divided by the number of replicas."""
    total = raw.Sum(raw.Reshape(convert(regularization_loss), [-1]), [0])
    return raw.RealDiv(total, convert(_replicas(), total.dtype))


# ---- normalization --------------------------------------------------------------------------------------


@export("nn.bias_add")
@front("bias_add", raw.BiasAdd)
def bias_add(value, bias, data_format=None, name=None):
    """Adds `bias` to each channel."""
    if data_format not in ("NHWC", None):
        if data_format.startswith("NC"):
            data_format = "NCHW"
        elif data_format.startswith("N") and data_format.endswith("C"):
            data_format = "NHWC"
        else:
            raise ValueError(
                f"`data_format` must be of the form `N...C` or `NC...`. Received: {data_format!r}"
            )
    if not executing_eagerly():
        value = convert(value)
        bias = convert(bias, value.dtype)
    return raw.BiasAdd(value, bias, data_format or "NHWC", name=name)


@export("nn.batch_normalization")
def batch_normalization(x, mean, variance, offset, scale, variance_epsilon, name=None):
    """(x - mean) / sqrt(variance + epsilon), times `scale`, plus `offset`."""
    x = convert(x)
    factor = raw.Rsqrt(variance + variance_epsilon)
    if scale is not None:
        factor = factor * scale
    shift = offset - mean * factor if offset is not None else -mean * factor
    if factor.dtype is not x.dtype:
        factor = raw.Cast(factor, x.dtype)
    if shift.dtype is not x.dtype:
        shift = raw.Cast(shift, x.dtype)
    return raw.AddV2(raw.Mul(x, factor), shift, name=name)


@export("nn.batch_norm_with_global_normalization")
def batch_norm_with_global_normalization(
    input, mean, variance, beta, gamma, variance_epsilon, scale_after_normalization, name=None  # noqa: A002
):
    """Batch normalization, scaled by `gamma` if `scale_after_normalization`."""
    scale = gamma if scale_after_normalization else None
    return batch_normalization(input, mean, variance, beta, scale, variance_epsilon, name)


@export("compat.v1.nn.fused_batch_norm")
def fused_batch_norm(
    x,
    scale,
    offset,
    mean=None,
    variance=None,
    epsilon=0.001,
    data_format="NHWC",
    is_training=True,
    name=None,
    exponential_avg_factor=1.0,
):
    """Batch normalization of images in one op. Returns (result, mean, variance)."""
    if (not is_training or exponential_avg_factor != 1.0) and (mean is None or variance is None):
        raise ValueError(
            "Both `mean` and `variance` must be a 1D tensor when `is_training` is False or "
            f"`exponential_avg_factor` != 1.0. Received: mean={mean}, variance={variance}"
        )
    x = convert(x)
    scale, offset = convert(scale), convert(offset)
    empty = convert([], scale.dtype)
    mean = empty if mean is None else convert(mean)
    variance = empty if variance is None else convert(variance)
    smallest = 1.001e-5
    out = raw.FusedBatchNormV3(
        x,
        scale,
        offset,
        mean,
        variance,
        epsilon=max(epsilon, smallest),
        exponential_avg_factor=exponential_avg_factor,
        data_format=data_format,
        is_training=is_training,
        name=name,
    )
    return out[0], out[1], out[2]


# ---- dropout --------------------------------------------------------------------------------------------


def _noise_shape(x, noise_shape):
    if noise_shape is None:
        dims = static_shape(x)
        return raw.Shape(x) if dims is None or None in dims else list(dims) or convert([], dtypes.int32)
    if isinstance(noise_shape, Tensor):
        return noise_shape
    if isinstance(noise_shape, (list, tuple)) and any(isinstance(d, Tensor) for d in noise_shape):
        return raw.Pack([convert(d, dtypes.int32) for d in noise_shape])
    noise = as_shape(noise_shape)
    if noise.rank is None or not hasattr(noise_shape, "__iter__"):
        return noise_shape
    if None not in noise._dims:
        return list(noise._dims)
    sizes = raw.Shape(x)
    return raw.Pack([sizes[k] if d is None else d for k, d in enumerate(noise._dims)])


def _drop(x, rate, noise_shape, uniform, name):
    is_number = isinstance(rate, numbers.Real)
    if is_number and (rate < 0 or rate >= 1):
        raise ValueError(
            f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}"
        )
    x = convert(x)
    if not x.dtype.is_floating:
        raise ValueError(
            f"`x.dtype` must be a floating point tensor as `x` will be scaled. Received: {x.dtype!r}"
        )
    if is_number and rate == 0:
        uniform(None, x.dtype)
        return x
    if not is_number and not isinstance(rate, Tensor):
        rate = convert(rate)
    if isinstance(rate, Tensor):
        if rank_of(rate) not in (None, 0):
            raise ValueError(f"`rate` must be a scalar tensor. Received: shape {static_shape(rate)}")
        if rate.dtype is not x.dtype:
            if not rate.dtype.is_compatible_with(x.dtype):
                raise ValueError(f"`rate.dtype` must be compatible with `x.dtype`: {rate.dtype!r}")
            rate = raw.Cast(rate, x.dtype)
        scaled = raw.RealDiv(x, raw.Sub(convert(1, x.dtype), rate))
    else:
        scaled = raw.Mul(x, convert(1.0 / (1 - rate), x.dtype))
    keep = raw.GreaterEqual(uniform(_noise_shape(x, noise_shape), x.dtype), rate)
    made = raw.SelectV2(keep, scaled, convert(0, x.dtype), name=name)
    if is_symbolic(made):
        made.set_shape(static_shape(x))
    return made


@export("nn.dropout")
def dropout(x, rate, noise_shape=None, seed=None, name=None):
    """Sets each element to 0 with probability `rate`, and scales the others by 1 / (1 - rate)."""
    try:
        def uniform(shape, dtype):
            if shape is None:
                random.op_seeds(seed)
                return None
            return random.uniform(shape, dtype=dtype, seed=seed)

        return _drop(x, rate, noise_shape, uniform, name)
    except REFUSED:
        return redirect(dropout, x, rate, noise_shape, seed, name=name)


@export("nn.experimental.stateless_dropout")
def stateless_dropout(x, rate, seed, rng_alg=None, noise_shape=None, name=None):
    """Like dropout, with random numbers that are determined by `seed` alone."""
    try:
        def uniform(shape, dtype):
            if shape is None:
                return None
            return stateless.stateless_uniform(shape, seed, dtype=dtype, alg=rng_alg or "auto_select")

        return _drop(x, rate, noise_shape, uniform, name)
    except REFUSED:
        return redirect(stateless_dropout, x, rate, seed, rng_alg, noise_shape, name=name)


@export("nn.experimental.general_dropout")
def general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None):
    """Like dropout, with random numbers from `uniform_sampler(shape=..., dtype=...)`."""

    def uniform(shape, dtype):
        return None if shape is None else uniform_sampler(shape=shape, dtype=dtype)

    return _drop(x, rate, noise_shape, uniform, name)
