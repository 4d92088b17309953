"""Ops that make large results of small inputs, and long calls of functions, let other threads of Python run."""
import sys
import threading

import pytest

import evenflow as tf

N = 8_000_000


@tf.function
def grown(x):
    for _ in tf.range(60):
        x = tf.sin(x) + 1.0
    return x


concrete = grown.get_concrete_function(tf.TensorSpec([None]))
X = tf.ones([N // 100])


@pytest.mark.parametrize("op", [
    lambda: tf.fill([N], 1.0), lambda: tf.range(N), lambda: tf.linspace(0.0, 1.0, N), lambda: tf.random.normal([N // 4]),
    lambda: tf.random.stateless_uniform([N // 2], [1, 2]), lambda: tf.tile([1.0], [N]), lambda: tf.eye(2000),
    lambda: tf.one_hot(3, N), lambda: grown(X), lambda: concrete(X)],
    ids=["fill", "range", "linspace", "normal", "uniform", "tile", "eye", "one_hot", "function", "concrete"])
def test_long_calls_release_the_interpreter(op):
    turns, over = [0], threading.Event()
    before = sys.getswitchinterval()

    def other():
        while not over.is_set():
            turns[0] += 1
            over.wait(0.0001)

    thread = threading.Thread(target=other)
    thread.start()
    try:
        sys.setswitchinterval(100)  # the interpreter changes hands only where it is released
        for _ in range(50):
            seen = turns[0]
            op()
            if turns[0] > seen:
                break
        assert turns[0] > seen
    finally:
        sys.setswitchinterval(before)
        over.set()
        thread.join()
