"""Large eager ops are deferred. Nothing may grow with the number of calls, whatever the dtype, and an
op that fails does so at its own call."""

import numpy as np
import pytest

import evenflow as tf


def held():
    return tf.config.experimental.get_memory_info("CPU:0")["current"]


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "complex64"])
@pytest.mark.parametrize("count", [8193, 10000, 16383, 16385])
def test_fresh_constants_are_not_kept(dtype, count):
    x = tf.constant(np.ones(count, dtype))
    before = held()
    for _ in range(300):
        y = x * tf.constant(np.full(count, 2, dtype))
    size = x.dtype.size * count
    assert held() - before < 100 * size
    np.testing.assert_array_equal(y.numpy()[-2:], np.full(2, 2, dtype))
    assert held() - before < 10 * size


def test_views_and_reductions_of_fresh_values_are_not_kept():
    ops = [
        lambda x: tf.reshape(x, [2, -1]),
        lambda x: tf.expand_dims(x, 0),
        lambda x: tf.squeeze(tf.expand_dims(x, 0)),
        lambda x: tf.identity(x),
        lambda x: tf.reduce_sum(x),
        lambda x: tf.reduce_max(tf.reshape(x, [2, -1]), axis=1),
        lambda x: tf.cast(x, tf.float16),
        lambda x: x > 0.5,
    ]
    for op in ops:
        before = held()
        for _ in range(200):
            y = op(tf.constant(np.ones(40000, "float32")))
        assert held() - before < 100 * 160000
        del y


def test_division_by_zero_raises_at_the_call():
    x = tf.constant(np.ones(100_000, "int32"))
    zero = tf.constant(np.zeros(100_000, "int32"))
    y = x + 1
    with pytest.raises(tf.errors.InvalidArgumentError):
        x // zero
    with pytest.raises(tf.errors.InvalidArgumentError):
        y % zero
    assert (y + x).numpy()[7] == 3


def test_the_class_of_an_error_does_not_depend_on_the_size():
    for n in (3, 30000):
        a, b = tf.zeros([n]), tf.zeros([n + 1])
        with pytest.raises(tf.errors.InvalidArgumentError):
            a + b
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.reduce_sum(a, axis=5)
