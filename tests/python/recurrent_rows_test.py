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


# ---- several iterations at a time: nothing else in the loop may read what the steps compute ----

WAYS = ("shares of rows of several iterations", "shares of rows")


def _way(f, *args):
    """How the steps of the loop run: the first of WAYS that is mentioned."""
    text = str(tf.experimental.inspect(f, *args))
    return next((way for way in WAYS if way in text), None)


def _array_of(x):
    return tf.TensorArray(x.dtype, x.shape[0]).unstack(x)


def _by_state(steps, x, h, w):
    """The condition reads the state."""
    items = _array_of(x)
    return tf.while_loop(lambda i, h: tf.logical_and(i < steps, tf.reduce_sum(h * h) < 1e6),
                         lambda i, h: (i + 1, tf.tanh(items.read(i) + tf.matmul(h, w))), [0, h])[1]


def _by_sum(steps, x, h, w):
    """A sum over the rows of the state decides about the next step."""
    items = _array_of(x)

    def body(i, h, total):
        h = tf.tanh(items.read(i) + tf.matmul(h, w) + total)
        return i + 1, h, 0.01 * tf.reduce_sum(h)
    return tf.while_loop(lambda i, *_: i < steps, body, [0, h, 0.0])[1]


def _by_list(steps, x, h, w):
    """The state comes back from the list in which it was stored."""
    items = _array_of(x)

    def body(i, states):
        h = tf.tanh(items.read(i) + tf.matmul(states.read(i), w))
        return i + 1, states.write(i + 1, h)
    states = tf.TensorArray(tf.float32, steps + 1, clear_after_read=False).write(0, h)
    return tf.while_loop(lambda i, _: i < steps, body, [0, states])[1].stack()


def _as_weights(steps, x, h, w):
    """The state, which is square, is the right side of the next product, too."""
    items = _array_of(x)
    return tf.while_loop(lambda i, h: i < steps,
                         lambda i, h: (i + 1, tf.tanh(0.1 * tf.matmul(tf.matmul(items.read(i), w), h) + h)), [0, h])[1]


def _crossed(steps, x, h, w):
    """Two states change places, and start as one value."""
    items = _array_of(x)
    return tf.while_loop(lambda i, *_: i < steps,
                         lambda i, h, c: (i + 1, c, tf.tanh(items.read(i) + tf.matmul(h, w) + 0.5 * c)), [0, h, h])[1:]


def _masked(steps, x, h, w):
    """Rows end at different times, and every state is an output; the time is a float too."""
    items, out = _array_of(x), tf.TensorArray(tf.float32, steps)
    lengths = tf.constant(np.arange(h.shape[0], dtype=np.float32)[:, None])

    def body(i, time, h, c, out):
        alive, more, item, following = time < lengths, 0.01 * time, items.read(i), (i + 1, time + 1.0)
        h = tf.where(alive, tf.tanh(item + tf.matmul(h, w) + more), h)
        return *following, h, c + h * 0.1, out.write(i, h + c)
    end = tf.while_loop(lambda i, *_: i < steps, body, [0, 0.0, h, tf.zeros_like(h), out])
    return [end[2], end[3], end[4].stack()]


def _assigned(steps, x, h, w):
    """The loop changes a variable that the cell reads."""
    items, scale = _array_of(x), _assigned.scale
    scale.assign(tf.ones_like(scale))

    def body(i, h):
        h = tf.tanh(items.read(i) + tf.matmul(h, w) * scale)
        scale.assign(0.9 * scale)
        return i + 1, h
    return tf.while_loop(lambda i, _: i < steps, body, [0, h])[1]


LOOPS = {_by_state: WAYS[1], _by_sum: None, _by_list: WAYS[1], _as_weights: None, _crossed: None, _masked: WAYS[0],
         _assigned: None}


def _loop_setting(steps, rows=96):
    return (tf.constant(_numbers(steps, rows, UNITS, seed=1)), tf.constant(0.5 * _numbers(rows, UNITS, seed=2)),
            tf.Variable(0.1 * _numbers(UNITS, UNITS, seed=3)))


def _loop_results(loop, steps, x, h, w):
    with tf.GradientTape() as tape:
        tape.watch([x, h])
        end = tf.nest.flatten(loop(steps, x, h, w))
        loss = tf.add_n([tf.reduce_sum(e ** 2) for e in end])
    return [*end, *tape.gradient(loss, [x, h, w])]


@pytest.mark.parametrize("steps", [1, 15, 16, 17, 40])
@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__[1:])
def test_loops_of_many_iterations(loop, steps):
    """Against the loop that runs eagerly, one iteration after the other."""
    _assigned.scale = tf.Variable(tf.ones([UNITS]))
    setting = _loop_setting(steps)
    f = tf.function(lambda: _loop_results(loop, steps, *setting))
    if loop is _assigned:
        f = tf.function(lambda: loop(steps, *setting))
    got = [[r.numpy() for r in tf.nest.flatten(f())] for _ in range(3)]
    expected = tf.nest.flatten(loop(steps, *setting) if loop is _assigned else _loop_results(loop, steps, *setting))
    for results in got:
        for a, e in zip(results, expected):
            np.testing.assert_allclose(a, e, rtol=2e-4, atol=2e-5 * max(1, np.abs(e).max()))


@pytest.mark.parametrize("loop", LOOPS, ids=lambda loop: loop.__name__[1:])
def test_loops_run_several_iterations_if_nothing_else_reads_them(loop):
    _assigned.scale = tf.Variable(tf.ones([UNITS]))
    setting = _loop_setting(20)
    f = tf.function(lambda: loop(20, *setting))
    f()
    if LOOPS[loop] is not None:
        assert _way(f) == LOOPS[loop]


@pytest.mark.parametrize("steps", [15, 16, 33])
@pytest.mark.parametrize("rows", [16, 40])
@pytest.mark.parametrize("name", ["plain", "lstm", "gru"])
def test_many_iterations_and_one_thread(name, rows, steps):
    """The same bits on any number of threads, forward and backward, and the values of the unrolled cell."""
    cell, x, state, weights = _setting(name, rows, np.float32)
    x = tf.constant(_numbers(steps, rows, WIDTH, seed=5))

    def looped(cell, x, state, weights):
        items = _array_of(x)
        return tf.while_loop(lambda i, *s: i < steps, lambda i, *s: (i + 1, *cell(items.read(i), s, *weights)),
                             [tf.constant(0), *state])[1:]

    def unrolled(cell, x, state, weights):
        for t in range(steps):
            state = cell(x[t], state, *weights)
        return state
    f = tf.function(lambda: _results(looped, cell, x, state, weights))
    many = [r.numpy() for r in f()]
    assert name == "plain" or _way(f) == WAYS[0]
    before = tf.config.threading.get_intra_op_parallelism_threads()
    try:
        tf.config.threading.set_intra_op_parallelism_threads(1)
        one = [r.numpy() for r in f()]
    finally:
        tf.config.threading.set_intra_op_parallelism_threads(before)
    for a, b, e in zip(many, one, _results(unrolled, cell, x, state, weights)):
        np.testing.assert_array_equal(a, b)
        np.testing.assert_allclose(a, e, rtol=2e-3, atol=2e-4 * max(1, np.abs(e).max()))


def test_a_loop_that_fails_runs_again():
    x, h, w = _loop_setting(40)

    @tf.function
    def f(steps):
        items = _array_of(x)
        return tf.while_loop(lambda i, _: i < steps, lambda i, h: (i + 1, tf.tanh(items.read(i) + tf.matmul(h, w))),
                             [0, h])[1]
    whole = f(tf.constant(40)).numpy()
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError, match="element 40 in a list with 40"):
            f(tf.constant(41))
        np.testing.assert_array_equal(f(tf.constant(40)), whole)


def test_memory_does_not_grow_with_iterations():
    """What the steps hold while they wait is given back."""
    x, h, w = _loop_setting(4)
    items = tf.constant(x)

    @tf.function
    def f(steps):
        array = _array_of(items)
        return tf.while_loop(lambda i, _: i < steps, lambda i, h: (i + 1, tf.tanh(array.read(i % 4) + tf.matmul(h, w))),
                             [0, h])[1]
    f(tf.constant(100))
    peaks = []
    for steps in (100, 2000):
        tf.config.experimental.reset_memory_stats("CPU:0")
        f(tf.constant(steps))
        peaks.append(tf.config.experimental.get_memory_info("CPU:0")["peak"])
    assert peaks[1] <= peaks[0] + 65536
