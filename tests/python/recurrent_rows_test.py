"""Recurrent cells in loops, whose steps run in shares of rows: the same values and gradients as cells that Python unrolls."""
import numpy as np
import pytest

import evenflow as tf

STEPS, WIDTH, UNITS = 4, 24, 96  # a product of 16 rows is worth a share from 4e5 multiply-adds on


def _numbers(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _plain(x, state, w, u, b):
    h = tf.tanh(tf.matmul(x, w) + tf.matmul(state[0], u) + b)
    return [h]


def _lstm(x, state, w, u, b):
    h, c = state
    i, f, g, o = tf.split(tf.matmul(x, w) + tf.matmul(h, u) + b, 4, axis=1)
    c = tf.sigmoid(f) * c + tf.sigmoid(i) * tf.tanh(g)
    return [tf.sigmoid(o) * tf.tanh(c), c]


def _gru(x, state, w, u, b):
    h = state[0]
    z, r, g = tf.split(tf.matmul(x, w) + b, 3, axis=-1)
    inner, n = tf.matmul(h, u) + b, h.shape[1]
    rz, rr, rg = inner[:, :n], inner[:, n:2 * n], inner[:, 2 * n:]
    z, r = tf.sigmoid(z + rz), tf.sigmoid(r + rr)
    return [z * h + (1 - z) * tf.tanh(g + r * rg)]


def _sliced(x, state, w, u, b):
    """Slices that leave rows out, or turn them round, may not be taken share by share."""
    h = tf.nn.relu(tf.matmul(state[0], u) + b) + tf.matmul(x, w)
    h = tf.sigmoid(h[::-1, :] + h[:, ::-1])
    return [tf.tanh(tf.matmul(h[0:h.shape[0]], u) + b) * h + tf.reduce_sum(h[1:, :])]


def _mixed(x, state, w, u, b):
    """Rows meet in the middle: the mean over the batch may not be taken share by share."""
    h = tf.matmul(state[0], u) + tf.matmul(x, w) + b
    h = tf.tanh(h - tf.reduce_mean(h, axis=0))
    h = tf.concat([h[:, 1:], h[:, :1]], axis=1) * tf.reduce_mean(h, axis=1, keepdims=True)
    return [tf.tanh(tf.matmul(h, u, transpose_b=True)) + tf.reverse(h, axis=[0])]


CELLS = {"plain": (_plain, 1, 1), "lstm": (_lstm, 4, 2), "gru": (_gru, 3, 1), "mixed": (_mixed, 1, 1),
         "sliced": (_sliced, 1, 1)}


def _setting(name, rows, dtype, units=UNITS):
    cell, gates, states = CELLS[name]
    weights = [tf.Variable(0.2 * _numbers(*s, seed=k, dtype=dtype)) for k, s in
               enumerate([(WIDTH, gates * units), (units, gates * units), (gates * units,)])]
    state = [tf.constant(0.1 * _numbers(rows, units, seed=9 + k, dtype=dtype)) for k in range(states)]
    return cell, tf.constant(_numbers(STEPS, rows, WIDTH, seed=5, dtype=dtype)), state, weights


def _looped(cell, x, state, weights):
    array = tf.TensorArray(x.dtype, STEPS).unstack(x)
    return tf.while_loop(lambda i, *s: i < STEPS, lambda i, *s: (i + 1, *cell(array.read(i), s, *weights)),
                         [tf.constant(0), *state])[1:]


def _unrolled(cell, x, state, weights):
    for t in range(STEPS):
        state = cell(x[t], state, *weights)
    return state


def _results(net, cell, x, state, weights):
    with tf.GradientTape() as tape:
        tape.watch([x, *state])
        end = net(cell, x, state, weights)
        loss = tf.add_n([tf.reduce_sum(s ** 2) for s in end])
    return [*end, *tape.gradient(loss, [x, *state, *weights])]


@pytest.mark.parametrize("rows, units", [(1, 96), (15, 96), (16, 96), (17, 96), (32, 96), (33, 101), (50, 67), (128, 96)])
@pytest.mark.parametrize("name", CELLS)
def test_loop_is_the_unrolled_cell(name, rows, units):
    setting = _setting(name, rows, np.float32, units)
    f = tf.function(lambda: _results(_looped, *setting))
    expected = [e.numpy() for e in _results(_unrolled, *setting)]
    for _ in range(3):
        for got, want in zip(f(), expected):
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5 * max(1, np.abs(want).max()))


@pytest.mark.parametrize("dtype, close", [(np.float64, 1e-10), (np.float16, 0.1)])
@pytest.mark.parametrize("name", ["lstm", "gru"])
def test_other_dtypes(name, dtype, close):
    setting = _setting(name, 32, dtype)
    f = tf.function(lambda: _results(_looped, *setting))
    for got, want in zip(f(), _results(_unrolled, *setting)):
        np.testing.assert_allclose(got, want, rtol=close, atol=close * max(1, np.abs(want).max()))


def test_threads_change_nothing():
    setting = _setting("lstm", 40, np.float32)
    f = tf.function(lambda: _results(_looped, *setting))
    many = [r.numpy() for r in f()]
    before = tf.config.threading.get_intra_op_parallelism_threads()
    try:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        one = [r.numpy() for r in f()]
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(before)
    for a, b in zip(many, one):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("rows, joined", [(15, False), (16, True), (64, True)])
def test_steps_are_joined(rows, joined):
    cell, x, state, weights = _setting("lstm", rows, np.float32)
    f = tf.function(lambda x: _looped(cell, x, state, weights))
    f(x)
    assert ("shares of rows" in str(tf.experimental.inspect(f, x))) == joined
