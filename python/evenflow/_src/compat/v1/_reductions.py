"""Reductions with the argument names of TensorFlow 1: keep_dims, reduction_indices, dimension."""
import functools

from ... import _core, dtypes
from ...namespace import export, offer
from ...ops import reduce


def either(new, new_name, old, old_name):
    """The value of an argument that has an old and a new name. Raises ValueError if both were given."""
    if old is None:
        return new
    if new is not None:
        raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'.")
    return old


def _older(function):
    @functools.wraps(function)
    def reduced(input_tensor, axis=None, keepdims=None, name=None, reduction_indices=None, keep_dims=None):
        axis = either(axis, "axis", reduction_indices, "reduction_indices")
        keepdims = either(keepdims, "keepdims", keep_dims, "keep_dims")
        return function(input_tensor, axis=axis, keepdims=bool(keepdims), name=name)

    del reduced.__wrapped__
    return reduced


for _name in ("sum", "mean", "prod", "max", "min", "all", "any", "logsumexp"):
    offer(_older(getattr(reduce, f"reduce_{_name}")), f"compat.v1.reduce_{_name}", f"compat.v1.math.reduce_{_name}")


@export("compat.v1.count_nonzero", "compat.v1.math.count_nonzero")
def count_nonzero(input_tensor=None, axis=None, keepdims=None, dtype=dtypes.int64, name=None, reduction_indices=None,
                  keep_dims=None, input=None):  # noqa: A002
    """How many elements are not zero."""
    axis = either(axis, "axis", reduction_indices, "reduction_indices")
    keepdims = either(keepdims, "keepdims", keep_dims, "keep_dims")
    return reduce.count_nonzero(either(input_tensor, "input_tensor", input, "input"), axis=axis, keepdims=keepdims,
                                dtype=dtype, name=name)


@export("compat.v1.argmax", "compat.v1.math.argmax")
def argmax(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):  # noqa: A002
    """The index of the largest element along an axis."""
    return reduce.argmax(input, either(axis, "axis", dimension, "dimension"), output_type, name)


@export("compat.v1.argmin", "compat.v1.math.argmin")
def argmin(input, axis=None, name=None, dimension=None, output_type=dtypes.int64):  # noqa: A002
    """The index of the smallest element along an axis."""
    return reduce.argmin(input, either(axis, "axis", dimension, "dimension"), output_type, name)


@export("compat.v1.arg_max")
def arg_max(input, dimension, output_type=dtypes.int64, name=None):  # noqa: A002
    """argmax with its oldest arguments."""
    return reduce.argmax(input, dimension, output_type, name)


@export("compat.v1.arg_min")
def arg_min(input, dimension, output_type=dtypes.int64, name=None):  # noqa: A002
    """argmin with its oldest arguments."""
    return reduce.argmin(input, dimension, output_type, name)


@export("compat.v1.norm", "compat.v1.linalg.norm")
def norm(tensor, ord="euclidean", axis=None, keepdims=None, name=None, keep_dims=None):  # noqa: A002
    """The norm of vectors or matrices."""
    return reduce.norm(tensor, ord, axis, bool(either(keepdims, "keepdims", keep_dims, "keep_dims")), name)


@export("compat.v1.nn.moments")
def moments(x, axes, shift=None, name=None, keep_dims=None, keepdims=None):
    """Mean and variance."""
    return reduce.moments(x, axes, shift, bool(either(keepdims, "keepdims", keep_dims, "keep_dims")), name)


@export("compat.v1.nn.weighted_moments")
def weighted_moments(x, axes, frequency_weights, name=None, keep_dims=None, keepdims=None):
    """Mean and variance of weighted elements."""
    return reduce.weighted_moments(x, axes, frequency_weights,
                                   bool(either(keepdims, "keepdims", keep_dims, "keep_dims")), name)


@export("compat.v1.clip_by_average_norm")
def clip_by_average_norm(t, clip_norm, name=None):
    """Scales `t` so that its norm per element is at most `clip_norm`."""
    raw = _core.raw
    t = _core.convert(t)
    limit = _core.convert(clip_norm, t.dtype)
    count = raw.Cast(raw.Size(t), t.dtype)
    one = _core.convert(1, t.dtype)
    inverse = raw.Rsqrt(reduce.reduce_sum(t * t)) * count
    return raw.Mul(t * limit, raw.Minimum(inverse, one / limit), name=name)
