"""Stateful random ops: tf.random.uniform and others.

Each op has two seeds: the global seed (tf.random.set_seed) and its own. An op without its own seed takes the
next one of a sequence: eagerly, numbers from a Python generator that is seeded with the global seed; in
a graph, 0, 1, 2, ... The engine keeps the position in the stream of each pair of seeds; set_seed resets all positions.
"""
import random as _python
import weakref

from .. import _core
from ..graph import plain_graph
from ..namespace import export
from .common import Tensor, convert, dtypes, raw
from .stateless import gamma_numbers, moments, scaled, shape_tensor, spread

_LARGEST = 2**31 - 1
_DEFAULT = 87654321  # the global seed if only the op has a seed
_program = {"seed": None, "draw": None}
_in_graph = weakref.WeakKeyDictionary()  # graph -> number of ops that have taken a seed


def global_seed():
    """The argument of the last set_seed, or None."""
    return _program["seed"]


@export("random.set_seed")
def set_seed(seed):
    """Sets the global seed: random ops without their own seed repeat their numbers from here on. In a graph, it sets the seed
    of the graph."""
    graph = _core.current_graph()
    if graph is not None:
        graph.seed = seed
        return
    _program["seed"] = seed
    _program["draw"] = None if seed is None else _python.Random(seed)
    _core.random_reset()


def _graph_seed(graph):
    """The seed of a graph. A function graph without its own seed has that of the graph in which it is called, or the global
    seed."""
    if graph.seed is None and graph.building_function:
        outer = plain_graph()
        return _program["seed"] if outer is None else outer.seed
    return graph.seed


@export("compat.v1.get_seed", "compat.v1.random.get_seed")
def op_seeds(op_seed):
    """The pair of seeds of an op with the argument `op_seed` (or None); (None, None) if there are no seeds."""
    graph = _core.current_graph()
    whole = _program["seed"] if graph is None else _graph_seed(graph)
    if whole is None:
        if op_seed is None:
            return None, None
        return _DEFAULT, op_seed % _LARGEST
    if op_seed is None:
        if graph is None:
            op_seed = _program["draw"].randint(0, _LARGEST)
        else:
            op_seed = _in_graph.get(graph, 0)
            _in_graph[graph] = op_seed + 1
    pair = (whole % _LARGEST, op_seed % _LARGEST)
    return (0, _LARGEST) if pair == (0, 0) else pair


def _seeds(seed):
    first, second = op_seeds(seed)
    return {"seed": first or 0, "seed2": second or 0}


_UNIFORM = ("float16", "bfloat16", "float32", "float64", "int32", "int64")


@export("random.uniform")
def uniform(shape, minval=0, maxval=None, dtype=dtypes.float32, seed=None, name=None):
    """Uniformly distributed numbers in [minval, maxval)."""
    dtype = dtypes.as_dtype(dtype)
    if dtype.name not in _UNIFORM:
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are {', '.join(_UNIFORM)}."
        )
    if maxval is None:
        if dtype.is_integer:
            raise ValueError(f"Must specify maxval for integer dtype {dtype!r}")
        maxval = 1
    shape = shape_tensor(shape)
    name = name or "random_uniform"
    from_zero = type(minval) is int and minval == 0
    to_one = type(maxval) is int and maxval == 1
    if dtype.is_integer:
        low, high = convert(minval, dtype), convert(maxval, dtype)
        return raw.RandomUniformInt(shape, low, high, name=name, **_seeds(seed))
    if from_zero and to_one:
        return raw.RandomUniform(shape, dtype=dtype, name=f"{name}/RandomUniform", **_seeds(seed))
    low, high = convert(minval, dtype), convert(maxval, dtype)
    numbers = raw.RandomUniform(shape, dtype=dtype, **_seeds(seed))
    if from_zero:
        return raw.Mul(numbers, high, name=name)
    return scaled(numbers, low, high, name)


def _bell(op, shape, mean, stddev, dtype, seed, name):
    dtype = dtypes.as_dtype(dtype)
    shape = shape_tensor(shape)
    mean, stddev = moments(mean, stddev, dtype)
    return spread(lambda own: op(shape, dtype=dtype, name=own, **_seeds(seed)), mean, stddev, name)


@export("random.normal")
def normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Normally distributed numbers."""
    return _bell(raw.RandomStandardNormal, shape, mean, stddev, dtype, seed, name or "random_normal")


@export("random.truncated_normal")
def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, seed=None, name=None):
    """Normally distributed numbers within two standard deviations."""
    return _bell(raw.TruncatedNormal, shape, mean, stddev, dtype, seed, name or "truncated_normal")


@export("random.shuffle")
def shuffle(value, seed=None, name=None):
    """The rows of `value` in random order."""
    return raw.RandomShuffle(value, name=name, **_seeds(seed))


@export("random.categorical")
def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Draws class numbers from unnormalised log probabilities, for each row of `logits`."""
    dtype = dtypes.int64 if dtype is None else dtypes.as_dtype(dtype)
    return raw.Multinomial(
        convert(logits), num_samples, output_dtype=dtype, name=name, **_seeds(seed)
    )


@export("random.gamma")
def gamma(shape, alpha, beta=None, dtype=dtypes.float32, seed=None, name=None):
    """Samples of the gamma distribution with shape `alpha` and rate `beta`."""
    shape = shape_tensor(shape)
    return gamma_numbers(lambda alpha: raw.RandomGamma(shape, alpha, **_seeds(seed)), alpha, beta,
                         dtypes.as_dtype(dtype), name)


@export("random.poisson")
def poisson(shape, lam, dtype=dtypes.float32, seed=None, name=None):
    """Samples of the Poisson distribution with rate `lam`."""
    lam = lam if isinstance(lam, Tensor) else convert(lam)
    return raw.RandomPoissonV2(
        shape_tensor(shape), lam, dtype=dtypes.as_dtype(dtype), name=name, **_seeds(seed)
    )
