"""Loops that are compiled whole give, bit for bit, what the same ops give one by one."""
import numpy as np
import pytest

import evenflow as tf

KINDS = [("float32", ()), ("float64", ()), ("int32", ()), ("int64", ()), ("float32", (5,)), ("float64", (3,)),
         ("int32", (9,)), ("float32", (2, 8)), ("int64", (4,))]


def _binary(rng, a, b):
    ops = [tf.add, tf.subtract, tf.maximum, tf.minimum, tf.math.squared_difference]
    if a.dtype != tf.int64:
        ops.append(tf.multiply)
    if a.dtype.is_floating:
        ops += [tf.divide, tf.math.divide_no_nan, tf.math.multiply_no_nan]
    return ops[rng.integers(len(ops))](a, b)


def _unary(rng, a):
    ops = [tf.negative, tf.nn.relu, lambda x: x]
    if a.dtype.is_floating:
        ops += [tf.abs, lambda x: tf.sqrt(tf.abs(x)), tf.floor, tf.math.ceil, tf.math.rint, tf.nn.relu6]
    return ops[rng.integers(len(ops))](a)


def _same(rng, values, like):
    """A value that can be combined with `like`."""
    fit = [v for v in values if v.dtype == like.dtype and v.shape.rank in (0, like.shape.rank)
           and (v.shape.rank == 0 or v.shape == like.shape)]
    return fit[rng.integers(len(fit))]


def _body(seed, i, values):
    """New values of all variables, by random ops; the same for the same seed, whatever calls it."""
    rng = np.random.default_rng(seed)
    new = []
    for v in values:
        x = v
        for _ in range(rng.integers(1, 5)):
            how = rng.integers(5)
            if how == 0:
                x = _unary(rng, x)
            elif how == 1:
                x = tf.where(_same(rng, values, x) < x, x, _same(rng, values, x))
            elif how == 2 and x.dtype != tf.int64 and x.shape.rank == 0:
                x = x + tf.cast(i, x.dtype)
            elif how == 3 and x.shape.rank == 0:
                c = tf.logical_and(x > _same(rng, values, x), tf.logical_not(x == x + x))
                x = tf.where(c, x, x - x)
            else:
                x = _binary(rng, x, _same(rng, values, x))
        new.append(x)
    if rng.integers(3) == 0:  # two variables change places
        new[0], new[1 % len(new)] = (values[1 % len(new)], values[0]) if new[0].dtype == new[1 % len(new)].dtype and \
            new[0].shape == new[1 % len(new)].shape else (new[0], new[1 % len(new)])
    return new


def _start(seed):
    rng = np.random.default_rng(seed + 1000)
    kinds = [KINDS[k] for k in rng.integers(len(KINDS), size=rng.integers(1, 5))]
    kinds.append(kinds[0])
    return [tf.constant(rng.integers(-9, 9, size=shape) / (4 if "float" in t else 1), t) for t, shape in kinds]


@pytest.mark.parametrize("seed", range(120))
def test_random_bodies(seed):
    start, turns = _start(seed), 6

    @tf.function(autograph=False)
    def loop(*values):
        return tf.while_loop(lambda i, *_: i < turns, lambda i, *v: [i + 1] + _body(seed, i, v), [tf.constant(0)] + list(values))

    want, i = start, tf.constant(0)
    for _ in range(turns):
        want, i = _body(seed, i, want), i + 1
    for got, w in zip(loop(*start)[1:], want):
        assert got.dtype == w.dtype and got.shape == w.shape
        assert got.numpy().tobytes() == w.numpy().tobytes(), (got, w)


def test_fibonacci_and_shifts():
    @tf.function
    def fibonacci(n):
        a, b, c = tf.constant(0, tf.int64), tf.constant(1, tf.int64), tf.constant(0, tf.int64)
        for _ in tf.range(n):
            a, b, c = b, a + b, a
        return a, b, c

    assert [int(x) for x in fibonacci(50)] == [12586269025, 20365011074, 7778742049]


def test_a_view_of_a_variable_keeps_its_old_value():
    @tf.function
    def f(x):
        y = tf.zeros([4])
        for _ in tf.range(3):
            old = tf.reshape(x, [4])
            x = x + 1.0
            y = y + old
        return x, y

    x, y = f(tf.zeros([2, 2]))
    assert x.numpy().tolist() == [[3, 3], [3, 3]] and y.numpy().tolist() == [3, 3, 3, 3]


def test_truth_values_and_no_turns():
    @tf.function
    def f(n):
        found, i = False, 0
        while i < n and not found:
            found = tf.equal(i, 5)
            i += 1
        return found, i

    assert [x.numpy() for x in f(tf.constant(100))] == [True, 6]
    assert [x.numpy() for x in f(tf.constant(3))] == [False, 3]
    assert [x.numpy() for x in f(tf.constant(0))] == [False, 0]
