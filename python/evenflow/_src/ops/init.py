"""Initializers: objects that make a tensor when given a shape."""
from ..namespace import export
from ..tensors import constant
from . import creation, random, stateless
from .common import dtypes, np


class Initializer:
    """The base class of initializers: `initializer(shape, dtype)` returns a tensor."""

    def __call__(self, shape, dtype=None, **kwargs):
        raise NotImplementedError(f"{type(self).__name__}.__call__")

    def get_config(self):
        """The arguments of the constructor, from which `from_config` makes an equal initializer."""
        return {}

    @classmethod
    def from_config(cls, config):
        """Makes an initializer from the result of `get_config`."""
        config = dict(config)
        config.pop("dtype", None)
        return cls(**config)

    def _check(self, kwargs):
        for word in kwargs:
            if word not in ("partition_shape", "partition_offset", "layout"):
                raise TypeError(f"Keyword argument should be one of ['partition_shape', 'partition_offset']. Received: {word}")


def _number(dtype):
    """The dtype as a DType. Raises ValueError unless it is numeric or bool."""
    dtype = dtypes.as_dtype(dtype)
    if not (dtype.is_numeric or dtype.is_bool):
        raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
    return dtype


@export("zeros_initializer")
class Zeros(Initializer):
    """Makes zeros."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        self._check(kwargs)
        return creation.zeros(kwargs.get("partition_shape", shape), _number(dtype))


@export("ones_initializer")
class Ones(Initializer):
    """Makes ones."""

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        self._check(kwargs)
        return creation.ones(kwargs.get("partition_shape", shape), _number(dtype))


@export("constant_initializer")
class Constant(Initializer):
    """Makes tensors from one value, or from given values."""

    def __init__(self, value=0, support_partition=False):
        if not (np.isscalar(value) or isinstance(value, (list, tuple, np.ndarray))):
            raise TypeError(
                f"Invalid type for initial value: {type(value)}. Expected Python scalar, list or "
                "tuple of values, or numpy.ndarray."
            )
        self.value = value
        self.support_partition = support_partition

    def __call__(self, shape, dtype=None, **kwargs):
        self._check(kwargs)
        if dtype is not None:
            dtype = dtypes.as_dtype(dtype)
        if not self.support_partition and ("partition_shape" in kwargs or "partition_offset" in kwargs):
            raise ValueError(f"{type(self).__name__} initializer doesn't support partition-related arguments")
        return constant(self.value, dtype=dtype, shape=kwargs.get("partition_shape", shape))

    def get_config(self):
        return {"value": self.value}


@export("random_uniform_initializer")
class RandomUniform(Initializer):
    """Makes uniformly distributed numbers."""

    def __init__(self, minval=-0.05, maxval=0.05, seed=None):
        self.minval, self.maxval, self.seed = minval, maxval, seed

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        self._check(kwargs)
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_floating and not dtype.is_integer:
            raise ValueError(f"Argument `dtype` expected to be numeric or boolean. Received {dtype}.")
        shape = kwargs.get("partition_shape", shape)
        if self.seed:
            seed = [self.seed, 0]
            return stateless.stateless_uniform(shape, seed, self.minval, self.maxval, dtype)
        return random.uniform(shape, self.minval, self.maxval, dtype)

    def get_config(self):
        return {"minval": self.minval, "maxval": self.maxval, "seed": self.seed}


@export("random_normal_initializer")
class RandomNormal(Initializer):
    """Makes normally distributed numbers."""

    def __init__(self, mean=0.0, stddev=0.05, seed=None):
        self.mean, self.stddev, self.seed = mean, stddev, seed

    def __call__(self, shape, dtype=dtypes.float32, **kwargs):
        self._check(kwargs)
        dtype = dtypes.as_dtype(dtype)
        if not dtype.is_floating:
            raise ValueError(f"Argument `dtype` expected to be floating point. Received {dtype}.")
        shape = kwargs.get("partition_shape", shape)
        if self.seed:
            seed = [self.seed, 0]
            return stateless.stateless_normal(shape, seed, self.mean, self.stddev, dtype)
        return random.normal(shape, self.mean, self.stddev, dtype)

    def get_config(self):
        return {"mean": self.mean, "stddev": self.stddev, "seed": self.seed}


for _cls in (Initializer, Zeros, Ones, Constant, RandomUniform, RandomNormal):
    _cls.__module__ = "tensorflow.python.ops.init_ops_v2"
