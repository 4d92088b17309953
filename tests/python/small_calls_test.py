"""Small ops and small results take paths of their own: they give what the general paths give."""
import threading

import numpy as np
import pytest

import evenflow as tf

UNARY = (tf.negative, tf.abs, tf.square, tf.sqrt, tf.exp, tf.tanh, tf.sign, tf.floor, tf.nn.relu, tf.math.reciprocal)
BINARY = (tf.add, tf.subtract, tf.multiply, tf.maximum, tf.minimum, tf.math.squared_difference, tf.less, tf.greater_equal, tf.equal,
          tf.math.floordiv, tf.math.floormod)
SIZES = ([], [0], [1], [7], [8], [9], [2, 4], [1, 1, 1, 3])


def filled(size, dtype, seed):
    values = np.random.default_rng(seed).integers(1, 9, size)
    return tf.constant(values, dtype)


def same(x, y):
    x, y = tf.nest.flatten(x), tf.nest.flatten(y)
    assert len(x) == len(y)
    for a, b in zip(x, y):
        if a is None or b is None:
            assert a is b
            continue
        assert a.dtype == b.dtype and a.shape == b.shape
        np.testing.assert_array_equal(a.numpy(), b.numpy())


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32", "int64"])
def test_small_ops(size, dtype):
    x, y = filled(size, dtype, 1), filled(size, dtype, 2)
    for op, args in [*((op, (x,)) for op in UNARY), *((op, (x, y)) for op in BINARY)]:
        with tf.GradientTape() as tape:  # ops under a tape take the general path
            tape.watch(args)
            try:
                general = op(*args)
            except (tf.errors.InvalidArgumentError, tf.errors.NotFoundError, TypeError) as e:  # the op does not take this dtype
                general = type(e)
        if isinstance(general, type):
            with pytest.raises(general):
                op(*args)
            continue
        small = op(*args)
        same(general, small)
        stretched = [tf.tile(tf.reshape(a, [-1]), [20]) for a in args]  # too large for the short path
        large = tf.reshape(op(*stretched)[:tf.size(small)], size)
        np.testing.assert_allclose(tf.cast(large, tf.float64), tf.cast(small, tf.float64), rtol=1e-14)  # vector loops round differently


def test_operands_that_differ():
    x, y = tf.constant(1.0), tf.constant(2.0)
    for dtype in (tf.int32, tf.float64):
        with pytest.raises(tf.errors.InvalidArgumentError):
            x + tf.cast(y, dtype)
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.add(x, tf.cast(y, dtype))
    assert tf.multiply(x, [[y, 2.0]]).numpy().tolist() == [[2.0, 2.0]]


def test_keywords_and_wrong_counts():
    x, y = tf.constant(1.0), tf.constant(2.0)
    assert tf.add(x=x, y=y).numpy() == tf.add(x, y=y).numpy() == tf.add(x, y, name="sum").numpy() == 3
    for args in ((), (x,), (x, y, "name", x)):
        with pytest.raises(TypeError):
            tf.add(*args)


def test_arrays_are_the_users_own():
    x = tf.constant([1.0, 2.0])
    total = x + x
    first = total.numpy()
    first[:] = 0
    assert total.numpy().tolist() == [2.0, 4.0]
    method = (x + x).numpy
    method()[:] = 0
    assert method().tolist() == [2.0, 4.0]
    f = tf.function(lambda v: (v * 2.0, v, v * 2.0))
    for _ in range(3):
        results = f(x)
        results[0].numpy()[:] = 0
        assert [r.numpy().tolist() for r in results] == [[2.0, 4.0], [1.0, 2.0], [2.0, 4.0]]


RESULTS = {
    "one": lambda v: v + 1, "two": lambda v: (v + 1, v * 2), "twice": lambda v: [v + 1] * 3, "own": lambda v: v,
    "constant": lambda v: tf.zeros_like(v), "view": lambda v: (tf.reshape(v + 1, [-1]), v + 1), "nothing": lambda v: None,
    "many": lambda v: [v * k for k in range(12)], "dict": lambda v: {"a": v + 1, "b": [v, None]}, "shape": lambda v: tf.shape(v),
    "filter": lambda v: tf.boolean_mask(tf.reshape(v, [-1]), tf.reshape(v, [-1]) > 3)}


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "bool", "complex128", "string"])
@pytest.mark.parametrize("name", RESULTS)
def test_small_results(name, dtype):
    if dtype in ("bool", "string", "complex128") and name not in ("own", "nothing", "shape"):
        return
    f = tf.function(RESULTS[name])
    for size in ([], [3], [8], [9], [], [3]):
        for seed in range(3):
            x = tf.as_string(filled(size, "int32", seed)) if dtype == "string" else tf.cast(filled(size, "int32", seed), dtype)
            got, again = f(x), f(x)
            same(got, RESULTS[name](x))
            same(again, got)


def test_the_number_of_results_changes():
    """Of one entry, the traces return one tensor, none, and many."""
    f = tf.function(lambda v: [v] * 12 if v.dtype == tf.int32 else None if v.dtype == tf.float64 else v)
    for _ in range(3):
        assert f(tf.constant(1.0)).numpy() == 1
        assert len(f(tf.constant(1))) == 12
        assert f(tf.constant(1.0, tf.float64)) is None

    @tf.function
    def g(v):
        tf.debugging.assert_positive(v)
        return v + 1.0

    for _ in range(3):
        assert g(tf.constant(1.0)).numpy() == 2
        with pytest.raises(tf.errors.InvalidArgumentError):
            g(tf.constant(-1.0))


def test_threads_share_functions_and_sessions():
    """Their locks are biased towards the thread that used them first."""
    f = tf.function(lambda a, b: a * b + 1.0)
    with tf.Graph().as_default() as graph:
        p = tf.compat.v1.placeholder(tf.float32, [])
        q = p * 2.0
    session, wrong = tf.compat.v1.Session(graph=graph), []
    for k in range(100):
        assert f(tf.constant(float(k)), tf.constant(2.0)).numpy() == 2 * k + 1 and session.run(q, {p: k}) == 2 * k

    def work(seed):
        for k in range(400):
            x = tf.fill([1 + (k * seed) % 5], float(k))
            if f(x, x).numpy()[0] != k * k + 1 or session.run(q, {p: float(k)}) != 2 * k:
                wrong.append(k)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
    assert f(tf.constant(3.0), tf.constant(2.0)).numpy() == 7
