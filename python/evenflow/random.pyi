"""Type stubs of evenflow.random. Written by tools/gen_stubs.py."""

import builtins
from typing import Any

from evenflow import Operation, Tensor

class Algorithm:
    """The algorithms that compute random numbers from a key and a counter."""
    def __init__(self, *args, **kwargs): ...
    AUTO_SELECT: Any
    PHILOX: Any
    THREEFRY: Any
    def __hash__(self, *args: Any) -> builtins.int: ...
    @property
    def name(self) -> Any: ...
    @property
    def value(self) -> Any: ...

class Generator:
    """A generator of random numbers whose state is a variable."""
    def __init__(self, copy_from=None, state=None, alg=None): ...
    @property
    def algorithm(self) -> Any: ...
    def binomial(self, shape, counts, probs, dtype=..., name=None): ...
    @classmethod
    def from_key_counter(cls, key, counter, alg): ...
    @classmethod
    def from_non_deterministic_state(cls, alg=None): ...
    @classmethod
    def from_seed(cls, seed, alg=None): ...
    @classmethod
    def from_state(cls, state, alg): ...
    @property
    def key(self) -> Any: ...
    def make_seeds(self, count=1): ...
    def normal(self, shape, mean=0.0, stddev=1.0, dtype=..., name=None): ...
    def reset(self, state): ...
    def reset_from_key_counter(self, key, counter): ...
    def reset_from_seed(self, seed): ...
    def skip(self, delta): ...
    def split(self, count=1): ...
    @property
    def state(self) -> Any: ...
    def truncated_normal(self, shape, mean=0.0, stddev=1.0, dtype=..., name=None): ...
    def uniform(self, shape, minval=0, maxval=None, dtype=..., name=None): ...
    def uniform_full_int(self, shape, dtype=..., name=None): ...

def categorical(logits, num_samples, dtype=None, seed=None, name=None):
    """Draws class numbers from unnormalised log probabilities, for each row of `logits`."""

def create_rng_state(seed, alg):
    """The state of a generator for a seed."""

def fold_in(seed, data, alg='auto_select'):
    """Derives a new seed from a seed and a number."""

def gamma(shape, alpha, beta=None, dtype=..., seed=None, name=None):
    """Samples of the gamma distribution with shape `alpha` and rate `beta`."""

def get_global_generator():
    """The global generator of the program, which is created at the first call."""

def log_uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """(sampled classes, expected counts of the true classes, expected counts of the sampled classes)."""

def normal(shape, mean=0.0, stddev=1.0, dtype=..., seed=None, name=None):
    """Normally distributed numbers."""

def poisson(shape, lam, dtype=..., seed=None, name=None):
    """Samples of the Poisson distribution with rate `lam`."""

def set_global_generator(generator):
    """Replaces the global generator."""

def set_seed(seed):
    """Sets the global seed: random ops without their own seed repeat their numbers from here on. In a graph, it sets the seed"""

def shuffle(value, seed=None, name=None):
    """The rows of `value` in random order."""

def split(seed, num=2, alg='auto_select'):
    """Derives `num` new seeds from one."""

def stateless_binomial(shape, seed, counts, probs, output_dtype=..., name=None):
    """How many of `counts` trials succeed, each with probability `probs`."""

def stateless_categorical(logits, num_samples, seed, dtype=..., name=None):
    """Draws class numbers from unnormalised log probabilities, for each row of `logits`."""

def stateless_gamma(shape, seed, alpha, beta=None, dtype=..., name=None):
    """Samples of the gamma distribution with shape `alpha` and rate `beta`."""

def stateless_normal(shape, seed, mean=0.0, stddev=1.0, dtype=..., name=None, alg='auto_select'):
    """Normally distributed numbers."""

def stateless_parameterized_truncated_normal(shape, seed, means=0.0, stddevs=1.0, minvals=-2.0, maxvals=2.0, name=None):
    """Normally distributed numbers within bounds. `shape` ends with the shape of the parameters."""

def stateless_poisson(shape, seed, lam, dtype=..., name=None):
    """Samples of the Poisson distribution with rate `lam`."""

def stateless_truncated_normal(shape, seed, mean=0.0, stddev=1.0, dtype=..., name=None, alg='auto_select'):
    """Normally distributed numbers within two standard deviations."""

def stateless_uniform(shape, seed, minval=0, maxval=None, dtype=..., name=None, alg='auto_select'):
    """Uniformly distributed numbers in [minval, maxval). If both are None, all integers of the dtype."""

def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=..., seed=None, name=None):
    """Normally distributed numbers within two standard deviations."""

def uniform(shape, minval=0, maxval=None, dtype=..., seed=None, name=None):
    """Uniformly distributed numbers in [minval, maxval)."""

def uniform_candidate_sampler(true_classes, num_true, num_sampled, unique, range_max, seed=None, name=None):
    """(sampled classes, expected counts of the true classes, expected counts of the sampled classes)."""
