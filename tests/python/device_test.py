"""Devices, shown on TEST:0: memory that the host cannot touch, a queue of its own."""
import gc
import os
import subprocess
import sys

import numpy as np
import pytest

import evenflow as tf
from evenflow import _core

PLACE = "/device:TEST:0"
LONG = "/job:localhost/replica:0/task:0/device:"


@pytest.fixture(autouse=True)
def device():
    _core.test_device(True)
    yield
    gc.collect()
    _core.clear_programs()
    assert tf.config.experimental.get_memory_info("TEST:0")["current"] == 0, _core.memory_report()
    _core.test_device(False)


def on(x):
    assert x.device.startswith(LONG)
    return x.device[len(LONG):]


def copies(function, *args):
    """(to the device, to the host) while it runs, and its result."""
    before = _core.device_copies()
    result = function(*args)
    after = _core.device_copies()
    return (after[0] - before[0], after[1] - before[1]), result


def test_listed_only_when_it_exists():
    assert tf.config.list_physical_devices("TEST") == [("/physical_device:TEST:0", "TEST")]
    assert ("/device:TEST:0", "TEST") in tf.config.list_logical_devices()
    _core.test_device(False)
    assert tf.config.list_physical_devices("TEST") == []
    assert [d.device_type for d in tf.config.list_physical_devices()] == ["CPU"]
    with pytest.raises(ValueError, match="No matching devices"):
        tf.config.experimental.get_memory_info("TEST:0")
    _core.test_device(True)


def test_environment_variable():
    code = "import evenflow as tf; print([d.name for d in tf.config.list_physical_devices()])"
    for value, want in (("1", "TEST:0"), ("0", "")):
        done = subprocess.run([sys.executable, "-c", code], env={**os.environ, "EF_TEST_DEVICE": value},
                              capture_output=True, text=True, check=True)
        assert ("TEST:0" in done.stdout) == bool(want)


def test_eager_ops_are_placed():
    x = tf.constant([1.0, 2.0, 3.0])
    assert on(x) == "CPU:0"
    with tf.device(PLACE):
        a = tf.constant([1.0, 2.0, 3.0])
        b = x * a + 1.0
        with tf.device("/CPU:0"):
            c = b + 1.0
        with tf.device(None):
            d = tf.constant(1.0)
        e = tf.zeros([2, 3])
    assert [on(t) for t in (a, b, c, d, e)] == ["TEST:0", "TEST:0", "CPU:0", "CPU:0", "TEST:0"]
    after = b - x  # no device is asked for: where an input is
    assert on(after) == "TEST:0"
    np.testing.assert_array_equal(after.numpy(), [1, 3, 7])
    np.testing.assert_array_equal(c.numpy(), [3, 6, 11])
    assert on(tf.identity(b)) == "TEST:0"
    with tf.device("/CPU:0"):
        assert on(tf.identity(b)) == "CPU:0"


def test_numpy_copies_once_and_operators_copy_what_is_elsewhere():
    x = tf.constant(np.arange(100, dtype=np.float32))
    with tf.device(PLACE):
        n, y = copies(lambda: x + x)
    assert n == (2, 0)  # an eager op copies each input
    n, _ = copies(lambda: y * y)
    assert n == (0, 0)
    n, value = copies(y.numpy)
    assert n == (0, 1)
    np.testing.assert_array_equal(value, 2 * np.arange(100))
    value[:] = 0  # the user's own
    n, value = copies(y.numpy)
    assert n == (0, 0)
    np.testing.assert_array_equal(value, 2 * np.arange(100))
    n, s = copies(lambda: tf.strings.as_string(y)[1])  # no kernel there: runs on the CPU
    assert n == (0, 0) and s.numpy() == b"2.000000" and on(s) == "CPU:0"


def test_views_reductions_products():
    with tf.device(PLACE):
        x = tf.constant(np.arange(12, dtype=np.float32))
        y = tf.reshape(x, [3, 4])
        parts = [y, tf.transpose(y), tf.matmul(y, y, transpose_b=True), tf.reduce_sum(y, 1), tf.reduce_max(y),
                 tf.cast(y, tf.int32), tf.expand_dims(y, 0), tf.nn.softmax(y), tf.where(y > 3, y, -y), tf.concat([y, y], 0)]
    n = np.arange(12, dtype=np.float32).reshape(3, 4)
    want = [n, n.T, n @ n.T, n.sum(1), n.max(), n.astype(np.int32), n[None], np.exp(n) / np.exp(n).sum(1, keepdims=True),
            np.where(n > 3, n, -n), np.concatenate([n, n])]
    assert [on(t) for t in parts] == ["TEST:0"] * 9 + ["CPU:0"]
    for got, value in zip(parts, want):
        np.testing.assert_allclose(got.numpy(), value, rtol=1e-5)
    assert float(parts[4]) == 11 and bool(parts[4] > 3) and repr(parts[4]) and [float(r) for r in parts[3]] == [6, 22, 38]


def test_functions():
    @tf.function
    def f(x):
        with tf.device(PLACE):
            y = x * 2.0 + 17.0
        with tf.device("/CPU:0"):
            z = tf.exp(-y)
        return y, z

    x = tf.constant([1.0, 2.0])
    n, _ = copies(f, x)
    assert n == (3, 1)  # constants are copied once, when the plan is made
    for _ in range(3):
        n, (y, z) = copies(f, x)
        assert n == (1, 1)
        assert on(y) == "TEST:0" and on(z) == "CPU:0"
    np.testing.assert_array_equal(y.numpy(), [19, 21])
    np.testing.assert_allclose(z.numpy(), np.exp([-19.0, -21.0]), rtol=1e-6)

    @tf.function
    def moved(x):
        with tf.device(PLACE):
            return tf.identity(x), tf.constant([4.0])

    a, b = moved(x)
    assert on(a) == on(b) == "TEST:0"
    np.testing.assert_array_equal(a.numpy(), [1, 2])
    np.testing.assert_array_equal(b.numpy(), [4])


def test_a_function_runs_where_its_caller_asks_and_where_its_inputs_are():
    @tf.function
    def f(x):
        return x * x + 1.0

    x = tf.constant([1.0, 2.0])
    with tf.device(PLACE):
        here = tf.constant([1.0, 2.0])
        assert on(f(x)) == "TEST:0"
    assert on(f(x)) == "CPU:0"
    f(here)
    n, y = copies(f, here)
    assert n == (0, 0) and on(y) == "TEST:0"
    with tf.device("/CPU:0"):
        assert on(f(here)) == "CPU:0"
    np.testing.assert_array_equal(y.numpy(), [2, 5])
    assert f.experimental_get_tracing_count() == 1


def test_graphs_of_version_1():
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [2])
        with tf.device(PLACE):
            y = x * 3.0
            v = tf.compat.v1.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
            w = v + y
        z = tf.compat.v1.assign_add(v, w)
        assert w.device == PLACE
        with tf.compat.v1.Session() as s:
            s.run(tf.compat.v1.global_variables_initializer())
            got, total = s.run([y, z], {x: [1, 2]})
            np.testing.assert_array_equal(got, [3, 6])
            np.testing.assert_array_equal(total, [5, 10])
            n, (got, total) = copies(lambda: s.run([y, z], {x: [1, 2]}))
            assert n == (1, 2)  # x; what was fetched
            np.testing.assert_array_equal(total, [13, 26])


def test_variables():
    with tf.device(PLACE):
        v = tf.Variable([1.0, 2.0])
    assert on(v) == "TEST:0" and on(v.read_value()) == "TEST:0"
    v.assign([3.0, 4.0])
    assert on(v.read_value()) == "TEST:0"
    v.assign_add([1.0, 1.0])
    assert on(v + 1.0) == "TEST:0"
    np.testing.assert_array_equal(v.numpy(), [4, 5])
    v.scatter_nd_update([[0]], [9.0])  # no kernel there: changed on the host, then back
    assert on(v.read_value()) == "TEST:0"
    np.testing.assert_array_equal(v.numpy(), [9, 5])

    @tf.function
    def step(x):
        v.assign_sub(x)
        return v * 2.0

    y = step(tf.constant([1.0, 1.0]))
    assert on(y) == "TEST:0" and on(v.read_value()) == "TEST:0"
    np.testing.assert_array_equal(y.numpy(), [16, 8])


def test_control_flow():
    @tf.function
    def f(x, n):
        with tf.device(PLACE):
            for _ in tf.range(n):
                x = x * 2.0
            if tf.reduce_sum(x) > 10.0:
                x = x - 1.0
            else:
                x = x + 1.0
        return x

    np.testing.assert_array_equal(f(tf.constant([1.0, 2.0]), 3).numpy(), [7, 15])
    np.testing.assert_array_equal(f(tf.constant([1.0, 2.0]), 1).numpy(), [3, 5])
    n, _ = copies(f, tf.constant([1.0, 2.0]), 3)
    assert n[0] > 0

    @tf.function
    def growing(x):
        with tf.device(PLACE):
            i = tf.constant(0)
            _, y = tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.concat([y * 2.0, y], 0)), [i, x],
                                 shape_invariants=[tf.TensorShape([]), tf.TensorShape([None])])
        return y

    np.testing.assert_array_equal(growing(tf.constant([1.0])).numpy(), [8, 4, 4, 2, 4, 2, 2, 1])


def test_failures_name_op_and_place():
    x = tf.constant([4, 2])
    with tf.device(PLACE), pytest.raises(tf.errors.InvalidArgumentError, match="FloorDiv"):
        x // tf.constant([2, 0])

    v = tf.Variable([0, 0])

    @tf.function
    def f(y):
        with tf.device(PLACE):
            z = x // y  # the line that fails
            w = z + 1
        v.assign(w)
        return w

    np.testing.assert_array_equal(f(tf.constant([2, 1])).numpy(), [3, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"(?s)node floordiv.*device_test.py.*in f\n.*FloorDiv"):
        f(tf.constant([2, 0]))
    np.testing.assert_array_equal(v.numpy(), [3, 3])
    np.testing.assert_array_equal(f(tf.constant([1, 1])).numpy(), [5, 3])


def test_memory():
    before = tf.config.experimental.get_memory_info("TEST:0")["current"]
    tf.config.experimental.reset_memory_stats("TEST:0")
    with tf.device(PLACE):
        x = tf.zeros([1000], tf.float32)
    info = tf.config.experimental.get_memory_info("/device:TEST:0")
    assert info["current"] - before == 4000 and info["peak"] >= 4000
    assert "TEST:0: 3.9 KiB in use" in _core.memory_report()
    _core.memory_limit("TEST:0", 5000)
    try:
        with pytest.raises(tf.errors.ResourceExhaustedError, match="TEST:0"):
            x + x
    finally:
        _core.memory_limit("TEST:0", 0)
    np.testing.assert_array_equal((x + 1.0).numpy()[:2], [1, 1])


def test_tapes_and_gradients():
    x = tf.constant([1.0, 2.0, 3.0])
    w = tf.Variable([2.0, 2.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        with tf.device(PLACE):
            y = tf.reduce_sum(x * x * w)
    dx, dw = tape.gradient(y, [x, w])
    assert on(y) == "TEST:0"
    np.testing.assert_array_equal(dx.numpy(), [4, 8, 12])
    np.testing.assert_array_equal(dw.numpy(), [1, 4, 9])

    with tf.device(PLACE):
        v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])

    @tf.function
    def loss(x):
        return tf.reduce_sum(tf.tanh(tf.matmul(x, v)))

    x = tf.constant([[0.1, 0.2]])
    with tf.GradientTape() as tape:
        y = loss(x)
    g = tape.gradient(y, v)
    want = np.array([[0.1], [0.2]]) @ (1 - np.tanh(np.array([[0.1, 0.2]]) @ [[1, 2], [3, 4]]) ** 2)
    np.testing.assert_allclose(g.numpy(), want, rtol=1e-5)
    v.assign_sub(0.1 * g)
    np.testing.assert_allclose(v.numpy(), np.array([[1, 2], [3, 4]]) - 0.1 * want, rtol=1e-5)


def test_threads():
    import threading

    with tf.device(PLACE):
        x = tf.constant(np.arange(50, dtype=np.float32))
    f = tf.function(lambda t: t * 2.0 + 1.0)
    bad = []

    def work():
        for _ in range(50):
            if not np.array_equal(f(x).numpy(), np.arange(50) * 2 + 1) or not np.array_equal((x + x).numpy(), np.arange(50) * 2):
                bad.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not bad
