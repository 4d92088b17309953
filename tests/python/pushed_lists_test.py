"""Lists to which a loop pushes what its joined steps compute: their elements share one piece of memory once the loop has run with
the same number of iterations twice, and are stacked without a copy. Values and gradients stay those of the unrolled loop."""
import numpy as np
import pytest

import evenflow as tf

ROWS, UNITS, MOST = 32, 128, 40  # the product of a step is worth two shares of rows


def _numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


X = tf.constant(0.3 * _numbers(MOST, ROWS, UNITS, seed=1))
H = tf.constant(0.3 * _numbers(ROWS, UNITS, seed=2))
W = 0.05 * _numbers(UNITS, UNITS, seed=3)


def _states(x, h, w, steps):
    """All states, as a list that the loop pushes to."""
    items = tf.TensorArray(tf.float32, MOST).unstack(x)
    empty = tf.raw_ops.EmptyTensorList(element_shape=[ROWS, UNITS], max_num_elements=-1, element_dtype=tf.float32)

    def body(i, h, pushed):
        h = tf.tanh(items.read(i) + tf.matmul(h, w))
        return i + 1, h, tf.raw_ops.TensorListPushBack(input_handle=pushed, tensor=h)
    return tf.while_loop(lambda i, *_: i < steps, body, [0, h, empty])[2]


def _stacked(states):
    return tf.raw_ops.TensorListStack(input_handle=states, element_shape=[ROWS, UNITS], element_dtype=tf.float32)


def _expected(steps):
    h, out = H.numpy(), []
    for k in range(steps):
        h = np.tanh(h @ W + X[k].numpy())
        out.append(h)
    return np.array(out, np.float32).reshape(-1, ROWS, UNITS)


@pytest.mark.parametrize("order", ["forward", "backward", "twice"])
def test_runs_of_changing_length(order):
    def order_of(n):
        numbers = {"forward": range(n), "backward": range(n - 1, -1, -1), "twice": [k // 2 for k in range(n)]}
        return list(numbers[order])

    @tf.function
    def f(steps, numbers):
        return tf.raw_ops.TensorListGather(input_handle=_states(X, H, W, steps), indices=numbers, element_shape=[ROWS, UNITS],
                                           element_dtype=tf.float32)
    for steps in (5, 5, 5, 5, 20, 20, 20, 20, 3, 40, 40, 40, 0, 1, 1, 1, 17):
        numbers = order_of(steps)
        got = f(tf.constant(steps), tf.constant(numbers, tf.int32, [steps]))
        np.testing.assert_allclose(got, _expected(steps)[numbers], rtol=1e-4, atol=1e-5)


def test_results_that_are_kept_do_not_change():
    """Of calls that run one after the other, and while the list and a changed copy of the stack are alive."""
    @tf.function
    def f(h, steps):
        states = _states(X, h, W, steps)
        whole = _stacked(states)
        changed = tf.tensor_scatter_nd_update(whole, [[0]], tf.zeros([1, ROWS, UNITS]))
        last = tf.raw_ops.TensorListPopBack(input_handle=states, element_shape=[ROWS, UNITS], element_dtype=tf.float32)
        return whole, changed, last.tensor, whole * 2.0 + 1.0
    kept = [f(H, tf.constant(20)) for _ in range(5)]
    f(-H, tf.constant(20))
    expected = _expected(20)
    for whole, changed, last, twice in kept:
        np.testing.assert_allclose(whole, expected, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(changed[1:], expected[1:], rtol=1e-4, atol=1e-5)
        assert not np.any(changed[0].numpy())
        np.testing.assert_allclose(last, expected[-1], rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(twice, 2 * expected + 1, rtol=1e-4, atol=1e-4)


def test_gradients_of_runs_of_changing_length():
    w = tf.Variable(W)

    def slopes(states, *args):
        with tf.GradientTape() as tape:
            tape.watch([X, H])
            loss = tf.reduce_sum(states(X, H, w, *args) ** 2)
        return [loss, *tape.gradient(loss, [w, X, H])]

    def unrolled(x, h, w, steps):
        out = []
        for k in range(steps):
            h = tf.tanh(tf.matmul(h, w) + x[k])
            out.append(h)
        return tf.stack(out)
    looped = tf.function(lambda steps: slopes(lambda *a: _stacked(_states(*a)), steps))
    for steps in (6, 6, 6, 6, 19, 19, 19, 2, 6):
        for got, expected in zip(looped(tf.constant(steps)), slopes(unrolled, steps)):
            np.testing.assert_allclose(got, expected, rtol=1e-3, atol=1e-3)


def _memory(key):
    return tf.config.experimental.get_memory_info("CPU:0")[key]


def test_memory_is_that_of_one_run():
    f = tf.function(lambda steps: _stacked(_states(X, H, W, steps)))
    for _ in range(4):
        f(tf.constant(20))
    before = _memory("current")
    for k in range(60):
        f(tf.constant(20 + k % 3))
    assert _memory("current") <= before


def test_the_stack_is_the_memory_of_the_list():
    f = tf.function(lambda steps: _stacked(_states(X, H, W, steps)))
    size = MOST * ROWS * UNITS * 4
    for _ in range(4):
        f(tf.constant(MOST))
    before = _memory("current")
    tf.config.experimental.reset_memory_stats("CPU:0")
    f(tf.constant(MOST))
    assert size <= _memory("peak") - before < 1.5 * size


def test_an_element_that_is_kept_does_not_keep_the_others():
    @tf.function
    def third(steps):
        return tf.raw_ops.TensorListGetItem(input_handle=_states(X, H, tf.constant(W), steps), index=2, element_shape=[ROWS, UNITS],
                                            element_dtype=tf.float32)
    for _ in range(4):
        third(tf.constant(MOST))
    before = tf.config.experimental.get_memory_info("CPU:0")["current"]
    kept = [third(tf.constant(MOST)) for _ in range(20)]
    grown = tf.config.experimental.get_memory_info("CPU:0")["current"] - before
    assert grown < 40 * ROWS * UNITS * 4  # twice their bytes
    np.testing.assert_allclose(kept[-1], _expected(3)[2], rtol=1e-5, atol=1e-6)
