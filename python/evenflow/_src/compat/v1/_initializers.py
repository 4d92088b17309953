"""Initializers of TensorFlow 1, whose constructors take the dtype."""
import numpy as np
import math

from ... import _core, dtypes
from ...namespace import export
from ...ops import creation, matmul, random
from ...ops.init import Initializer as _Base
from ._arrays import constant

_FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)


class Initializer(_Base):
    """The base class of initializers: `initializer(shape, dtype, partition_info)` returns a tensor."""

    _words = ()

    def get_config(self):
        """The arguments of the constructor, from which `from_config` makes an equal initializer."""
        found = {word: getattr(self, word) for word in self._words}
        found["dtype"] = self.dtype.name
        return found

    @classmethod
    def from_config(cls, config):
        """Makes an initializer from the result of `get_config`."""
        return cls(**config)

    def _dtype(self, dtype):
        return self.dtype if dtype is None else dtypes.as_dtype(dtype)


def _float(dtype):
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _FLOATS:
        raise ValueError(f"Argument `dtype` expected to be a floating point type. Received {dtype}.")
    return dtype


@export("compat.v1.zeros_initializer", "compat.v1.initializers.zeros")
class Zeros(Initializer):
    """Makes zeros."""

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return creation.zeros(shape, self._dtype(dtype))


@export("compat.v1.ones_initializer", "compat.v1.initializers.ones")
class Ones(Initializer):
    """Makes ones."""

    def __init__(self, dtype=dtypes.float32):
        self.dtype = dtypes.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return creation.ones(shape, self._dtype(dtype))


@export("compat.v1.constant_initializer", "compat.v1.initializers.constant")
class Constant(Initializer):
    """Makes tensors from a constant. If there are too few values, the last one is repeated."""

    _words = ("value",)

    def __init__(self, value=0, dtype=dtypes.float32, verify_shape=False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(f"Invalid type for initial value: {type(value)}. Expected Python scalar, list or tuple of "
                            "values, or numpy.ndarray.")
        self.value = value
        self.dtype = dtypes.as_dtype(dtype)
        self._verify_shape = verify_shape

    def __call__(self, shape, dtype=None, partition_info=None, verify_shape=None):
        verify = self._verify_shape if verify_shape is None else verify_shape
        return constant(self.value, self._dtype(dtype), shape, verify_shape=verify)


@export("compat.v1.random_uniform_initializer", "compat.v1.initializers.random_uniform")
class RandomUniform(Initializer):
    """Makes uniformly distributed numbers."""

    _words = ("minval", "maxval", "seed")

    def __init__(self, minval=0.0, maxval=None, seed=None, dtype=dtypes.float32):
        self.minval, self.maxval, self.seed, self.dtype = minval, maxval, seed, dtypes.as_dtype(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return random.uniform(shape, self.minval, self.maxval, self._dtype(dtype), self.seed)


@export("compat.v1.random_normal_initializer", "compat.v1.initializers.random_normal")
class RandomNormal(Initializer):
    """Makes normally distributed numbers."""

    _words = ("mean", "stddev", "seed")

    def __init__(self, mean=0.0, stddev=1.0, seed=None, dtype=dtypes.float32):
        self.mean, self.stddev, self.seed, self.dtype = mean, stddev, seed, _float(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        return random.normal(shape, self.mean, self.stddev, self._dtype(dtype), self.seed)


@export("compat.v1.truncated_normal_initializer", "compat.v1.initializers.truncated_normal")
class TruncatedNormal(RandomNormal):
    """Makes normally distributed numbers within two standard deviations."""

    def __call__(self, shape, dtype=None, partition_info=None):
        return random.truncated_normal(shape, self.mean, self.stddev, self._dtype(dtype), self.seed)


def _fans(shape):
    """(fan in, fan out): the numbers of inputs and outputs of a layer whose weights have this shape."""
    shape = [int(d) for d in shape]
    if len(shape) < 1:
        return 1, 1
    if len(shape) == 1:
        return shape[0], shape[0]
    field = math.prod(shape[:-2])
    return shape[-2] * field, shape[-1] * field


@export("compat.v1.variance_scaling_initializer", "compat.v1.initializers.variance_scaling")
class VarianceScaling(Initializer):
    """Makes random numbers whose variance is scaled by the number of a layer's inputs or outputs."""

    _words = ("scale", "mode", "distribution", "seed")

    def __init__(self, scale=1.0, mode="fan_in", distribution="truncated_normal", seed=None, dtype=dtypes.float32):
        if scale <= 0.0:
            raise ValueError(f"Argument `scale` must be a positive float. Received: {scale}")
        if mode not in {"fan_in", "fan_out", "fan_avg"}:
            raise ValueError(f"Argument `mode` should be one of ('fan_in', 'fan_out', 'fan_avg'). Received: {mode}")
        distribution = distribution.lower()
        if distribution not in {"normal", "uniform", "truncated_normal", "untruncated_normal"}:
            raise ValueError("Argument `distribution` should be one of ('normal', uniform', 'truncated_normal', "
                             f"'untruncated_normal'). Received: {distribution}")
        self.scale, self.mode, self.distribution, self.seed = scale, mode, distribution, seed
        self.dtype = _float(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        dtype = self._dtype(dtype)
        fan_in, fan_out = _fans(shape)
        n = {"fan_in": fan_in, "fan_out": fan_out, "fan_avg": (fan_in + fan_out) / 2.0}[self.mode]
        scale = self.scale / max(1.0, n)
        if self.distribution in ("normal", "truncated_normal"):
            stddev = math.sqrt(scale) / 0.87962566103423978  # the standard deviation after truncation at two
            return random.truncated_normal(shape, 0.0, stddev, dtype, self.seed)
        if self.distribution == "untruncated_normal":
            return random.normal(shape, 0.0, math.sqrt(scale), dtype, self.seed)
        limit = math.sqrt(3.0 * scale)
        return random.uniform(shape, -limit, limit, dtype, self.seed)


def _variant(name, scale, mode, distribution, *public):
    def __init__(self, seed=None, dtype=dtypes.float32):
        VarianceScaling.__init__(self, scale, mode, distribution, seed, dtype)

    made = type(name, (VarianceScaling,), {"__init__": __init__, "_words": ("seed",),
                                           "__doc__": f"VarianceScaling of {scale} by {mode}, {distribution}."})
    return export(*public)(made)


GlorotUniform = _variant("GlorotUniform", 1.0, "fan_avg", "uniform", "compat.v1.glorot_uniform_initializer",
                         "compat.v1.initializers.glorot_uniform")
GlorotNormal = _variant("GlorotNormal", 1.0, "fan_avg", "truncated_normal", "compat.v1.glorot_normal_initializer",
                        "compat.v1.initializers.glorot_normal")
HeNormal = _variant("HeNormal", 2.0, "fan_in", "truncated_normal", "compat.v1.initializers.he_normal")
HeUniform = _variant("HeUniform", 2.0, "fan_in", "uniform", "compat.v1.initializers.he_uniform")
LecunNormal = _variant("LecunNormal", 1.0, "fan_in", "truncated_normal", "compat.v1.initializers.lecun_normal")
LecunUniform = _variant("LecunUniform", 1.0, "fan_in", "uniform", "compat.v1.initializers.lecun_uniform")


@export("compat.v1.uniform_unit_scaling_initializer", "compat.v1.initializers.uniform_unit_scaling")
class UniformUnitScaling(Initializer):
    """Makes uniformly distributed numbers that keep the scale of a layer's input."""

    _words = ("factor", "seed")

    def __init__(self, factor=1.0, seed=None, dtype=dtypes.float32):
        self.factor, self.seed, self.dtype = factor, seed, _float(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        size = math.prod([float(d) for d in shape[:-1]]) if len(shape) else 1.0
        limit = math.sqrt(3 / max(size, 1.0)) * self.factor
        return random.uniform(shape, -limit, limit, self._dtype(dtype), self.seed)


@export("compat.v1.initializers.identity")
class Identity(Initializer):
    """Makes an identity matrix."""

    _words = ("gain",)

    def __init__(self, gain=1.0, dtype=dtypes.float32):
        self.gain, self.dtype = gain, _float(dtype)

    def __call__(self, shape, dtype=None, partition_info=None):
        if len(shape) != 2:
            raise ValueError("Identity matrix initializer can only be used for 2D matrices.")
        dtype = self._dtype(dtype)
        eye = matmul.eye(*[int(d) for d in shape], dtype=dtype)
        return eye if self.gain == 1.0 else _core.raw.Mul(eye, _core.convert(self.gain, dtype))


for _class in [c for c in list(globals().values()) if isinstance(c, type) and issubclass(c, Initializer)]:
    _class.__module__ = "tensorflow.python.ops.init_ops"
