"""What the subjects share: how calls are repeated, and what they are given.

Each row of a subject sets itself up and returns `prepare(n)`, which returns a callable that makes n calls; only the
callable is timed.
"""
from itertools import repeat

import numpy as np


def again(call):
    """n times the same call."""
    def prepare(n):
        def run():
            for _ in repeat(None, n):
                call()
        return run
    return prepare


def again_with(f, a, b):
    """n times f(a, b), without a call around it."""
    def prepare(n):
        def run():
            for _ in repeat(None, n):
                f(a, b)
        return run
    return prepare


def sums(a, b):
    """n times a + b, without a call around it."""
    def prepare(n):
        def run():
            for _ in repeat(None, n):
                a + b
        return run
    return prepare


def each_new(make, call):
    """n calls, each with an input nobody has seen: make(k), k counting on from one time to the next."""
    seen = [0]

    def prepare(n):
        first, seen[0] = seen[0], seen[0] + n
        inputs = [make(k) for k in range(first, first + n)]

        def run():
            for x in inputs:
                call(x)
        return run
    return prepare


def new_shape(k):
    return [1 + k % 128, 1 + k // 128 % 128]


def new_number(k):
    return k + 0.5


def links(x, relu, sqrt, magnitude):
    """A chain of elementwise ops, of the subject's own functions."""
    y = x * 2.0 + 1.0
    y = relu(y) - 0.5 * x
    y = sqrt(magnitude(y)) + x
    return y / (1.0 + y * y)


def line():
    """The input of the chain."""
    return np.linspace(-1, 1, 1 << 22, dtype=np.float32)


def matrices():
    """The factors of the product."""
    rng = np.random.default_rng(0)
    return [rng.random((1000, 1000), dtype=np.float32) for _ in range(2)]


def named(*rows):
    """Rows by their names."""
    return {row.__name__: row for row in rows}
