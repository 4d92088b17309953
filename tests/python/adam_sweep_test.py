"""Keras's Adam in a function, whose assignments become one sweep, against the same steps in numpy."""
import numpy as np
import pytest

import evenflow as tf


def _adam(w, m, v, grad, step, keep1=0.1, keep2=0.001, epsilon=1e-7):
    """The update as Keras writes it."""
    m.assign_add((grad - m) * keep1)
    v.assign_add((tf.square(grad) - v) * keep2)
    w.assign_sub(m * step / (tf.sqrt(v) + epsilon))


def _in_numpy(w, m, v, grad, step, keep1=0.1, keep2=0.001, epsilon=1e-7):
    m = m + (grad - m) * keep1
    v = v + (grad ** 2 - v) * keep2
    return w - m * step / (np.sqrt(v) + epsilon), m, v


def _sweeps(f, *args):
    return sum("_FusedAdam" in step.title for step in tf.experimental.inspect(f, *args, runs=0).steps)


@pytest.mark.parametrize("dtype, close", [("float32", 1e-6), ("float64", 1e-14)])
@pytest.mark.parametrize("shape", [(), (1,), (1023,), (1024,), (1025,), (300, 401)])
def test_steps(shape, dtype, close):
    rng = np.random.default_rng(0)
    values = [rng.random(shape).astype(dtype) for _ in range(3)]
    variables = [tf.Variable(x) for x in values]
    f = tf.function(lambda grad, step: _adam(*variables, grad, step))
    for k in range(5):
        grad, step = rng.standard_normal(shape).astype(dtype), np.asarray(0.1 / (k + 1), dtype)
        f(tf.constant(grad), tf.constant(step))
        values = _in_numpy(*values, grad, step)
        for variable, value in zip(variables, values):
            np.testing.assert_allclose(variable, value, rtol=10 * close, atol=close)
    assert _sweeps(f, tf.constant(grad), tf.constant(step)) == 1


def test_what_was_read_before_stays():
    w, m, v = (tf.Variable(np.full(5000, x, "float32")) for x in (1, 2, 3))

    @tf.function
    def f(grad):
        before = w.read_value(), m.read_value()
        _adam(w, m, v, grad, tf.constant(0.5))
        return *before, w.read_value()
    old_w, old_m, new_w = f(tf.ones(5000))
    assert old_w[0] == 1 and old_m[0] == 2 and new_w[0] < 1
    np.testing.assert_array_equal(new_w, w)


def test_what_is_read_between_is_new():
    """The norm of an update, a step that follows from the new average: neither may see old values."""
    w, m, v = (tf.Variable(np.full(8, x, "float32")) for x in (1, 2, 3))

    @tf.function
    def f(grad):
        m.assign_add((grad - m) * 0.5)
        v.assign_add((tf.square(grad) - v) * 0.25)
        average = m.read_value()
        update = average * (1 / tf.reduce_max(average)) / (tf.sqrt(v) + 1.0)
        w.assign_sub(update)
        return average, tf.reduce_max(update)
    average, largest = f(tf.zeros(8))
    want = 1 / (np.sqrt(2.25) + 1)
    assert average[0] == 1
    np.testing.assert_allclose([largest, w[0]], [want, 1 - want], rtol=1e-6)


def test_scalars_squared():
    w, m, v = (tf.Variable(x) for x in (1.0, 2.0, 3.0))

    @tf.function
    def f(grad):
        m.assign_add((grad - m) * 0.5)
        v.assign_add((tf.square(grad) - v) * 0.25)
        average = m.read_value()
        w.assign_sub(average * average / (tf.sqrt(v) + 1.0))
    f(tf.constant(4.0))
    np.testing.assert_allclose(w, 1 - 9 / (np.sqrt(6.25) + 1), rtol=1e-6)


def test_one_variable_in_two_places():
    """The handles are arguments, so that the function cannot know that they lead to one variable."""
    f = tf.function(lambda w, m, v, grad: _adam(w, m, v, grad, tf.constant(0.5)))
    w, both, grad = tf.Variable([1.0, 2.0]), tf.Variable([0.5, 0.25]), np.float32([2, 3])
    f(w, both, both, tf.constant(grad))
    x = np.float32([0.5, 0.25])
    x += (grad - x) * np.float32(0.1)
    x += (grad ** 2 - x) * np.float32(0.001)
    np.testing.assert_allclose(both, x, rtol=1e-6)
    np.testing.assert_allclose(w, [1, 2] - x * 0.5 / (np.sqrt(x) + 1e-7), rtol=1e-6)


def test_wrong_shapes_change_nothing():
    w, m, v = tf.Variable(tf.ones(4)), tf.Variable(tf.ones(4)), tf.Variable(tf.ones(4))
    f = tf.function(lambda grad: _adam(w, m, v, grad, tf.constant(0.5)))
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        f(tf.ones(5))
    for x in (w, m, v):
        np.testing.assert_array_equal(x, np.ones(4))


def test_a_gradient_that_spreads():
    w, m, v = (tf.Variable(np.full((2, 3), x, "float32")) for x in (1, 2, 3))
    f = tf.function(lambda grad: _adam(w, m, v, grad, tf.constant(0.5)))
    f(tf.constant([2.0, 3.0, 4.0]))
    expected = _in_numpy(*(np.full((2, 3), x, "float32") for x in (1, 2, 3)), np.float32([2, 3, 4]), 0.5)
    for got, want in zip((w, m, v), expected):
        np.testing.assert_allclose(got, want, rtol=1e-5)


def test_keras_uses_it():
    keras = tf.keras
    model = keras.Sequential([keras.layers.Input((7,)), keras.layers.Dense(5), keras.layers.Dense(3)])
    optimizer, weights = keras.optimizers.Adam(0.01), model.trainable_variables
    optimizer.build(weights)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(model(x) ** 2)
        optimizer.apply(tape.gradient(loss, weights), weights)
        return loss
    x = tf.constant(np.random.default_rng(1).standard_normal((16, 7)).astype("float32"))
    losses = [float(step(x)) for _ in range(50)]
    assert losses[-1] < 0.5 * losses[0]
    assert _sweeps(step, x) == len(weights)
