"""Division of integers against Python's own, for pairs of extreme and of ordinary values, and its errors."""

import numpy as np
import pytest

import evenflow as tf

TYPES = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]


def operands(name):
    """All pairs of some values, the divisor never 0; their number is odd."""
    info = np.iinfo(name)
    values = {info.min, info.min + 1, info.max, info.max - 1, info.max // 2, 0, 1, 2, 3, 7, 10, 97, 113}
    values |= {-v for v in values if info.min <= -v <= info.max}
    rng = np.random.default_rng(7)
    values |= {int(v) for v in rng.integers(info.min, info.max, 60, dtype=name, endpoint=True)}
    pairs = [(x, y) for x in values for y in values if y != 0]
    pairs += [pairs[0]] * (1 - len(pairs) % 2)
    return pairs


def wrapped(value, name):
    bits = np.iinfo(name).bits
    value &= (1 << bits) - 1
    return value - (1 << bits) if name[0] != "u" and value >> (bits - 1) else value


def truncated(x, y):
    return abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1)


@pytest.mark.parametrize("name", TYPES)
def test_quotients_and_remainders(name):
    pairs = operands(name)
    x, y = (tf.constant([p[k] for p in pairs], name) for k in (0, 1))
    exact = {
        tf.raw_ops.FloorDiv: lambda a, b: a // b,
        tf.raw_ops.FloorMod: lambda a, b: a % b,
        tf.raw_ops.TruncateDiv: truncated,
    }
    if name in ("int32", "int64"):
        exact[tf.raw_ops.TruncateMod] = lambda a, b: a - b * truncated(a, b)
    for op, rule in exact.items():
        expected = np.array([wrapped(rule(a, b), name) for a, b in pairs], name)
        np.testing.assert_array_equal(op(x=x, y=y).numpy(), expected)
        np.testing.assert_array_equal(op(x=x, y=y[3]).numpy(), op(x=x, y=tf.fill(x.shape, y[3])).numpy())


@pytest.mark.parametrize("name", TYPES)
def test_the_first_zero_is_reported(name):
    divisors = np.ones(300_001, name)
    x = tf.ones(divisors.shape, name)
    tf.math.floordiv(x, divisors)
    for zeros in ([300_000], [0], [70_000, 70_001, 290_000], [511], [512, 4096]):
        wrong = divisors.copy()
        wrong[zeros] = 0
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"division by zero: element {zeros[0]} of y"):
            tf.math.floordiv(x, wrong)
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"division by zero: element {zeros[0]} of y"):
            tf.math.floormod(x, wrong)
