"""Gradients to eager tensors that a function closes over: known by identity, whenever they are watched."""
import threading

import pytest

import evenflow as tf

SIZES = pytest.mark.parametrize("dims", [[], [3], [20]])  # inside the value, and in memory of its own


def three(dims):
    return tf.ones(dims) * 3.0


def each(gradient):
    """The one value that all elements of a gradient have."""
    assert gradient is not None
    flat = gradient.numpy().reshape(-1)
    assert (flat == flat[0]).all()
    return float(flat[0])


@SIZES
def test_watched_before_the_trace(dims):
    x = three(dims)
    f = tf.function(lambda: tf.reduce_sum(x * x))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f()
    assert each(tape.gradient(y, x)) == 6.0


@SIZES
def test_watched_after_the_trace(dims):
    x = three(dims)
    f = tf.function(lambda v: tf.reduce_sum(x * v))
    ones = tf.ones(dims)
    f(ones)
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(ones) * 2.0
        assert each(tape.gradient(y, x)) == 2.0
    assert f.experimental_get_tracing_count() == 1
    with tf.GradientTape() as tape:
        y = f(ones)
    assert tape.gradient(y, x) is None


@SIZES
def test_computed_under_the_tape(dims):
    w = three(dims)
    with tf.GradientTape() as tape:
        tape.watch(w)
        x = w * 2.0
        inner = tf.function(lambda: tf.reduce_sum(x * x))
        y = tf.function(lambda: inner() * 2.0)()
    assert each(tape.gradient(y, w)) == 48.0


@SIZES
def test_equal_values_are_told_apart(dims):
    x, other = three(dims), three(dims)
    f = tf.function(lambda: tf.reduce_sum(x * other * 3.0))
    f()
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f()
    assert each(tape.gradient(y, x)) == 9.0
    assert tape.gradient(y, other) is None
    same = tf.identity(x)
    with tf.GradientTape() as tape:
        tape.watch(same)
        y = f()
    assert tape.gradient(y, same) is None


@SIZES
def test_inside_loops_and_branches(dims):
    x = three(dims)

    @tf.function
    def f(v):
        y = tf.ones_like(x)
        i = tf.constant(0)
        while i < 3:
            y = y * x
            i += 1
        if tf.reduce_sum(v) > 0.0:
            y = y + x
        return tf.reduce_sum(y)

    f(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(1.0)
    assert each(tape.gradient(y, x)) == 28.0


def test_second_derivatives():
    x = three([])
    f = tf.function(lambda: x * x * x)
    f()
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = f()
        dy = inner.gradient(y, x)
    assert float(dy) == 27.0 and float(outer.gradient(dy, x)) == 18.0


def test_gradients_inside_a_function():
    x = three([])
    assert float(tf.function(lambda: tf.gradients(x * x, x)[0])()) == 6.0


def test_a_function_traced_inside_another_stands_alone():
    x = three([])
    f = tf.function(lambda v: v * x)
    g = tf.function(lambda v: f(v) + x)
    assert float(g(tf.constant(2.0))) == 9.0
    assert float(f(tf.constant(5.0))) == 15.0


def test_small_values_stay_known_inside():
    dims, scale = tf.constant([2, 3]), tf.constant(6.0)
    f = tf.function(lambda v: tf.reshape(v, dims) + tf.range(0.0, scale, 2.0))
    assert f.get_concrete_function(tf.TensorSpec([6])).output_shapes == [2, 3]


def test_values_of_another_thread_are_not_taken_for_ours():
    made = []

    def elsewhere():
        a = tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(a)
            for _ in range(8):
                made.append(a * 1.0)

    def here():
        c = tf.constant(5.0)
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(c)
            y = c * 1.0
            for b in made:
                y = y * b
        found.append(float(tape.gradient(y, c)))
        found.extend(tape.gradient(y, b) for b in made)

    found = []
    for body in (elsewhere, here):
        thread = threading.Thread(target=body)
        thread.start()
        thread.join()
    assert found == [256.0] + [None] * 8
