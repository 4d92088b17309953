"""Stateless random ops, whose numbers are determined by a seed, and `tf.random.Generator`.

The streams are Philox 4x32-10: a seed gives a key and a counter, and these give the numbers.
"""
import enum

from .. import errors
from ..graph import init_scope
from ..namespace import export, offer
from ..shapes import Dimension, TensorShape
from ..tracking import AutoTrackable
from ..variable import Variable
from .common import Tensor, convert, dtypes, np, raw


class Algorithm(enum.Enum):
    """The algorithms that compute random numbers from a key and a counter."""

    PHILOX = 1
    THREEFRY = 2
    AUTO_SELECT = 3


offer(Algorithm, "random.Algorithm", "random.experimental.Algorithm")
_ALGORITHMS = {"philox": 1, "threefry": 2, "auto_select": 3}


def algorithm_number(alg):
    """The number of an algorithm given by name, number or member."""
    if isinstance(alg, Algorithm):
        return alg.value
    if isinstance(alg, str):
        if alg not in _ALGORITHMS:
            raise ValueError(
                f"Argument `alg` got unsupported value {alg}. Supported values are philox, threefry "
                "and auto_select."
            )
        return _ALGORITHMS[alg]
    if isinstance(alg, Tensor):
        return alg
    if isinstance(alg, (int, np.integer)):
        return int(alg)
    raise TypeError(f"Argument `alg` got unsupported type {type(alg)}.")


def key_counter(seed, alg):
    """(key, counter, algorithm number) for a seed of two integers."""
    number = algorithm_number("auto_select" if alg is None else alg)
    if not isinstance(number, Tensor) and number == 1:  # chosen by name, it accepts any number as a seed
        seed = raw.Cast(convert(seed), dtypes.int64)
    key, counter = raw.StatelessRandomGetKeyCounter(seed)
    if not isinstance(number, Tensor) and number == 2:
        raise errors.InvalidArgumentError(
            None, None, "the threefry algorithm is not available on this device; use philox"
        )
    return key, counter, number


def shape_tensor(shape):
    """A shape argument as a tensor: int64 if it is an int64 tensor, else int32."""
    if isinstance(shape, Tensor):
        return shape
    if isinstance(shape, (list, tuple)):
        if not shape:
            return convert(np.zeros([0], np.int32))
        if any(isinstance(d, Dimension) for d in shape):
            shape = [d.value if isinstance(d, Dimension) else d for d in shape]
    return convert(shape)


_FLOATS = (dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64)
_INTEGERS = (dtypes.int32, dtypes.int64, dtypes.uint32, dtypes.uint64)


def scaled(numbers, low, high, name=None):
    """Scales numbers in [0, 1) to [low, high)."""
    return raw.AddV2(raw.Mul(numbers, raw.Sub(high, low)), low, name=name)


@export("random.stateless_uniform")
def stateless_uniform(
    shape, seed, minval=0, maxval=None, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Uniformly distributed numbers in [minval, maxval). If both are None, all integers of the dtype."""
    dtype = dtypes.as_dtype(dtype)
    if dtype not in _FLOATS + _INTEGERS:
        raise ValueError(
            f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are "
            f"{_FLOATS + _INTEGERS}."
        )
    if dtype.is_integer:
        if (minval is None) != (maxval is None):
            raise ValueError(
                f"For integer `dtype` argument {dtype}, argument `minval` and `maxval` must be both "
                f"None or not None. Got `minval`={minval} and `maxval`={maxval}."
            )
        if minval is not None and dtype.is_unsigned:
            raise ValueError(
                f"Argument `dtype` got invalid value {dtype} when argument `minval` is not None: "
                "unsigned integers have no bounds here."
            )
    elif maxval is None:
        maxval = 1
    shape = shape_tensor(shape)
    if dtype.is_integer and minval is None:
        return raw.StatelessRandomUniformFullIntV2(shape, *key_counter(seed, alg), dtype=dtype, name=name)
    low, high = convert(minval, dtype), convert(maxval, dtype)
    key, counter, number = key_counter(seed, alg)
    if dtype.is_integer:
        return raw.StatelessRandomUniformIntV2(shape, key, counter, number, low, high, name=name)
    numbers = raw.StatelessRandomUniformV2(shape, key, counter, number, dtype=dtype)
    return scaled(numbers, low, high, name)


def spread(draw, mean, stddev, name=None):
    """`draw(name) * stddev + mean`, without the steps that change nothing, each of which would copy the tensor.
    The last remaining step gets the name."""
    scaled = not (type(stddev) in (int, float) and stddev == 1)
    moved = not (type(mean) in (int, float) and mean == 0)
    numbers = draw(None if scaled or moved else name)
    if scaled:
        numbers = raw.Mul(numbers, convert(stddev, numbers.dtype), name=None if moved else name)
    if moved:
        numbers = raw.AddV2(numbers, convert(mean, numbers.dtype), name=name)
    return numbers


def moments(mean, stddev, dtype):
    """(mean, standard deviation) converted to the dtype. Python numbers stay unchanged for floating dtypes (see `spread`)."""
    if dtype.is_floating and type(mean) in (int, float) and type(stddev) in (int, float):
        return mean, stddev
    return convert(mean, dtype), convert(stddev, dtype)


def _bell(op, shape, seed, mean, stddev, dtype, name, alg):
    dtype = dtypes.as_dtype(dtype)
    shape = shape_tensor(shape)
    mean, stddev = moments(mean, stddev, dtype)
    key, counter, number = key_counter(seed, alg)
    return spread(lambda own: op(shape, key, counter, number, dtype=dtype, name=own), mean, stddev, name)


@export("random.stateless_normal")
def stateless_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Normally distributed numbers."""
    return _bell(raw.StatelessRandomNormalV2, shape, seed, mean, stddev, dtype, name, alg)


@export("random.stateless_truncated_normal")
def stateless_truncated_normal(
    shape, seed, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None, alg="auto_select"
):
    """Normally distributed numbers within two standard deviations."""
    return _bell(raw.StatelessTruncatedNormalV2, shape, seed, mean, stddev, dtype, name, alg)


@export("random.stateless_parameterized_truncated_normal")
def stateless_parameterized_truncated_normal(
    shape, seed, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, name=None
):
    """Normally distributed numbers within bounds. `shape` ends with the shape of the parameters."""
    return raw.StatelessParameterizedTruncatedNormal(
        shape_tensor(shape),
        seed,
        convert(means),
        convert(stddevs),
        convert(minvals),
        convert(maxvals),
        name=name,
    )


@export("random.stateless_binomial")
def stateless_binomial(shape, seed, counts, probs, output_dtype=dtypes.int32, name=None):
    """How many of `counts` trials succeed, each with probability `probs`."""
    shape = shape_tensor(shape)
    probs = convert(probs)
    counts = convert(counts, probs.dtype) if not isinstance(counts, Tensor) else counts
    if counts.dtype is not probs.dtype:
        counts = raw.Cast(counts, probs.dtype)
    return raw.StatelessRandomBinomial(
        shape, seed, counts, probs, dtype=dtypes.as_dtype(output_dtype), name=name
    )


def gamma_numbers(draw, alpha, beta, dtype, name):
    """Samples of the gamma distribution: draw(alpha) scaled by the rate `beta`, and never zero."""
    alpha = convert(alpha, dtype)
    beta = convert(1 if beta is None else beta, dtype)
    both = raw.BroadcastArgs(raw.Shape(alpha), raw.Shape(beta))
    tiny = convert(np.finfo(dtype.as_numpy_dtype).tiny, dtype)
    return raw.Maximum(tiny, raw.RealDiv(draw(raw.BroadcastTo(alpha, both)), beta), name=name)


@export("random.stateless_gamma")
def stateless_gamma(shape, seed, alpha, beta=None, dtype=dtypes.float32, name=None):
    """Samples of the gamma distribution with shape `alpha` and rate `beta`."""
    shape = shape_tensor(shape)

    def draw(alpha):
        return raw.StatelessRandomGammaV3(shape, *key_counter(seed, "auto_select"), alpha)

    return gamma_numbers(draw, alpha, beta, dtypes.as_dtype(dtype), name)


@export("random.stateless_poisson")
def stateless_poisson(shape, seed, lam, dtype=dtypes.int32, name=None):
    """Samples of the Poisson distribution with rate `lam`."""
    return raw.StatelessRandomPoisson(
        shape_tensor(shape), seed, convert(lam), dtype=dtypes.as_dtype(dtype), name=name
    )


@export("random.stateless_categorical")
def stateless_categorical(logits, num_samples, seed, dtype=dtypes.int64, name=None):
    """Draws class numbers from unnormalised log probabilities, for each row of `logits`."""
    if dtypes.as_dtype(dtype or "int64") not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"Argument `dtype` got invalid value {dtype}. Accepted dtypes are int32 and int64.")
    return raw.StatelessMultinomial(
        convert(logits),
        num_samples,
        seed,
        output_dtype=dtypes.as_dtype(dtype or "int64"),
        name=name,
    )


@export("random.split", "random.experimental.stateless_split")
def split(seed, num=2, alg="auto_select"):
    """Derives `num` new seeds from one."""
    seed = convert(seed)
    return stateless_uniform(
        [num, 2], seed, minval=None, maxval=None, dtype=seed.dtype, alg=alg
    )


@export("random.fold_in", "random.experimental.stateless_fold_in")
def fold_in(seed, data, alg="auto_select"):
    """Derives a new seed from a seed and a number."""
    data = convert(data)
    first = stateless_uniform([], seed, minval=None, maxval=None, dtype=data.dtype, alg=alg)
    return raw.Pack([first, data])


@export("random.experimental.stateless_shuffle")
def stateless_shuffle(value, seed, alg="auto_select", name=None):
    """The rows of `value` in a random order that is determined by `seed`."""
    key, counter, number = key_counter(seed, alg)
    return raw.StatelessShuffle(value, key, counter, number, name=name)


@export("random_index_shuffle")
def random_index_shuffle(index, seed, max_index, rounds=4, name=None):
    """The position of `index` in a random permutation of [0, max_index] that `seed`, three numbers, determines."""
    return raw.RandomIndexShuffle(index, seed, max_index, rounds=rounds, name=name)


@export("random.experimental.index_shuffle")
def index_shuffle(index, seed, max_index):
    """The position of `index` in a random permutation of [0, max_index] that is determined by `seed`."""
    seed = convert(seed)
    rank = len(seed._dims) if seed._dims is not None else 1
    padding = [[1, 0]] + [[0, 0]] * (rank - 1)
    return raw.RandomIndexShuffle(index, raw.PadV2(seed, padding, 498247692), max_index, rounds=4)


# ---- generators -----------------------------------------------------------------------------------------

_STATE_SIZE, _COUNTER_SIZE = 3, 2


def _signed(value):
    """An unsigned 64-bit Python integer as a signed one."""
    return value - (1 << 64) if isinstance(value, int) and value >= 1 << 63 else value


def _state_of(seed):
    """The state for a seed: an integer becomes the first word of the counter; a vector fills the last words."""
    if isinstance(seed, int):
        words = [(seed >> (64 * k)) & ((1 << 64) - 1) for k in range(_STATE_SIZE)]
        return convert([_signed(w) for w in words], dtypes.int64)
    if isinstance(seed, (list, tuple)):
        seed = [_signed(s) for s in seed]
    seed = convert(seed)
    seed = raw.Reshape(raw.Cast(seed, dtypes.int64), [-1])[:_STATE_SIZE]
    size = raw.Size(seed)
    pad = raw.Reshape(raw.Maximum(raw.Sub(_STATE_SIZE, size), 0), [1])
    return raw.ConcatV2([raw.Fill(pad, convert(0, dtypes.int64)), seed], 0)


@export("random.create_rng_state", "random.experimental.create_rng_state")
def create_rng_state(seed, alg):
    """The state of a generator for a seed."""
    _known_algorithm(algorithm_number(alg))
    return _state_of(seed)


def _known_algorithm(number):
    if number not in (1, 2, 3):
        raise ValueError(f"Unsupported algorithm id: {number}")
    return number


def _variable(state):
    return Variable(state, dtype=dtypes.int64, trainable=False, name="StateVar", shape=None)


@export("random.Generator", "random.experimental.Generator")
class Generator(AutoTrackable):
    """A generator of random numbers whose state is a variable.

    Create one with `from_seed`, `from_state`, `from_key_counter` or `from_non_deterministic_state`.
    """

    def __init__(self, copy_from=None, state=None, alg=None):
        if copy_from is not None:
            assert alg is None and state is None
            self._state_var = _variable(copy_from.state.read_value())
            self._alg = copy_from.algorithm
            return
        assert alg is not None and state is not None
        self._alg = _known_algorithm(algorithm_number(alg))
        state = convert(state, dtypes.int64)
        self._check(state)
        self._state_var = _variable(state)

    def __reduce__(self):
        return _generator, (self._state_var.numpy(), self._alg)

    @staticmethod
    def _check(state):
        shape = TensorShape(state._dims)
        shape.assert_is_compatible_with([_STATE_SIZE])

    @classmethod
    def from_state(cls, state, alg):
        """A generator that continues from a state."""
        return cls(alg=alg, state=state)

    @classmethod
    def from_seed(cls, seed, alg=None):
        """A generator whose numbers are determined by a seed."""
        alg = "philox" if alg is None else alg
        return cls(state=create_rng_state(seed, alg), alg=alg)

    @classmethod
    def from_non_deterministic_state(cls, alg=None):
        """A generator with a different, unpredictable state each time."""
        state = raw.NonDeterministicInts([_STATE_SIZE], dtype=dtypes.int64)
        return cls(state=state, alg="philox" if alg is None else alg)

    @classmethod
    def from_key_counter(cls, key, counter, alg):
        """A generator with the given key and counter, which has two words."""
        return cls(state=_key_counter_state(key, counter), alg=alg)

    def reset(self, state):
        """Continues from `state`."""
        state = convert(state, dtypes.int64)
        self._check(state)
        self._state_var.assign(state)

    def reset_from_seed(self, seed):
        """Starts again from `seed`."""
        self._state_var.assign(create_rng_state(seed, self._alg))

    def reset_from_key_counter(self, key, counter):
        """Continues from a key and counter."""
        self._state_var.assign(_key_counter_state(key, counter))

    @property
    def state(self):
        """The variable with the counter and the key."""
        return self._state_var

    @property
    def algorithm(self):
        """The number of the algorithm."""
        return self._alg

    @property
    def key(self):
        """The key of the stream."""
        return self._state_var.read_value()[_COUNTER_SIZE]

    def skip(self, delta):
        """Skips `delta` numbers. Returns the previous state."""
        delta = raw.Cast(convert(delta), dtypes.uint64)
        alg = convert(self._alg, dtypes.int32)
        return raw.RngReadAndSkip(self._state_var.handle, alg, delta)

    def _next(self, shape):
        """(key, counter) for the numbers of `shape`. The generator advances past them."""
        before = self.skip(raw.Prod(shape, [0]))
        counter = raw.Bitcast(before[:_COUNTER_SIZE], dtypes.uint64)
        key = raw.Bitcast(before[_COUNTER_SIZE : _COUNTER_SIZE + 1], dtypes.uint64)
        return key, counter

    def _bell(self, op, shape, mean, stddev, dtype, name):
        dtype = dtypes.as_dtype(dtype)
        shape = shape_tensor(shape)
        mean, stddev = moments(mean, stddev, dtype)
        key, counter = self._next(shape)
        return spread(lambda own: op(shape, key, counter, self._alg, dtype=dtype, name=own), mean, stddev, name)

    def normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normally distributed numbers."""
        return self._bell(raw.StatelessRandomNormalV2, shape, mean, stddev, dtype, name)

    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=dtypes.float32, name=None):
        """Normally distributed numbers within two standard deviations."""
        return self._bell(raw.StatelessTruncatedNormalV2, shape, mean, stddev, dtype, name)

    def uniform(self, shape, minval=0, maxval=None, dtype=dtypes.float32, name=None):
        """Uniformly distributed numbers in [minval, maxval)."""
        dtype = dtypes.as_dtype(dtype)
        if dtype.is_integer and (minval is None) != (maxval is None):
            raise ValueError(f"For integer dtype {dtype!r}, minval and maxval must be both None or both given")
        if dtype.is_integer and minval is None:
            return self.uniform_full_int(shape, dtype, name)
        maxval = 1 if maxval is None else maxval
        shape = shape_tensor(shape)
        low, high = convert(minval, dtype), convert(maxval, dtype)
        key, counter = self._next(shape)
        if dtype.is_integer:
            return raw.StatelessRandomUniformIntV2(
                shape, key, counter, self._alg, low, high, name=name
            )
        numbers = raw.StatelessRandomUniformV2(shape, key, counter, self._alg, dtype=dtype)
        return scaled(numbers, low, high, name)

    def uniform_full_int(self, shape, dtype=dtypes.uint64, name=None):
        """Uniformly distributed integers over the whole range of the dtype."""
        shape = shape_tensor(shape)
        return raw.StatelessRandomUniformFullIntV2(
            shape, *self._next(shape), self._alg, dtype=dtypes.as_dtype(dtype), name=name
        )

    def binomial(self, shape, counts, probs, dtype=dtypes.int32, name=None):
        """How many of `counts` trials succeed, each with probability `probs`."""
        shape = shape_tensor(shape)
        counts = convert(counts)
        probs = convert(probs, None, counts.dtype)
        return raw.StatefulRandomBinomial(
            self._state_var.handle,
            convert(self._alg, dtypes.int64),
            shape,
            counts,
            probs,
            dtype=dtypes.as_dtype(dtype),
            name=name,
        )

    def make_seeds(self, count=1):
        """Seeds for stateless functions: a matrix [2, count]."""
        keys = self.uniform_full_int([count], dtypes.int64)
        return raw.Pack([keys, raw.ZerosLike(keys)])

    def split(self, count=1):
        """A list of new generators with independent streams."""
        keys = self.uniform_full_int([count], dtypes.int64)
        zero = convert(0, dtypes.int64)
        return [
            Generator(state=raw.Pack([zero, zero, key]), alg=self._alg)
            for key in raw.Unpack(keys, count, 0)
        ]


def _generator(state, alg):
    """Used by unpickling, because the `__module__` of the class is a module of TensorFlow."""
    return Generator(state=state, alg=alg)


Generator.__module__ = "tensorflow.python.ops.stateful_random_ops"


def _key_counter_state(key, counter):
    counter = raw.Reshape(raw.Cast(convert(counter), dtypes.int64), [-1])[:_COUNTER_SIZE]
    key = raw.Reshape(raw.Cast(convert(_signed(key)), dtypes.int64), [-1])
    pad = raw.Reshape(raw.Maximum(raw.Sub(_COUNTER_SIZE, raw.Size(counter)), 0), [1])
    return raw.ConcatV2([counter, raw.Fill(pad, convert(0, dtypes.int64)), key], 0)


_global = [None]


@export("random.get_global_generator", "random.experimental.get_global_generator")
def get_global_generator():
    """The global generator of the program, which is created at the first call."""
    if _global[0] is None:
        with init_scope():
            _global[0] = Generator.from_non_deterministic_state()
    return _global[0]


@export("random.set_global_generator", "random.experimental.set_global_generator")
def set_global_generator(generator):
    """Replaces the global generator."""
    _global[0] = generator
