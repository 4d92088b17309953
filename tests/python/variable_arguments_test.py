"""Variables and other objects as arguments of functions: one trace for all variables, none for what is gone."""
import gc

import evenflow as tf


def counted(function):
    """The function decorated, and a list that grows with each trace."""
    traces = []

    @tf.function
    def traced(*args):
        traces.append(1)
        return function(*args)

    return traced, traces


def test_one_trace_serves_all():
    f, traces = counted(lambda v, x: v.assign_add(x) * 2.0)
    variables = [tf.Variable([float(k)]) for k in range(20)]
    assert [f(v, tf.ones([1])).numpy().tolist() for v in variables] == [[2.0 * k + 2.0] for k in range(20)]
    assert [v.numpy().tolist() for v in variables] == [[k + 1.0] for k in range(20)]
    assert len(traces) == 2  # the first alone, then all that are like it


def test_the_same_variable_is_no_argument():
    seen = []
    v = tf.Variable(1.0)
    f = tf.function(lambda u: seen.append(u) or u + 1.0)
    for _ in range(3):
        assert float(f(v)) == 2.0
    assert len(seen) == 1 and seen[0] is v


def test_the_first_variable_is_not_kept_alive():
    def held():
        gc.collect()
        return tf.config.experimental.get_memory_info("CPU:0")["current"]

    f = tf.function(lambda v: tf.reduce_sum(v))
    f(tf.Variable([1.0]))
    before = held()
    v = tf.Variable(tf.zeros([1000000]))
    g = tf.function(lambda v: tf.reduce_sum(v) + 1.0)
    assert [float(g(v)), float(f(v))] == [1.0, 0.0] and held() > before + 3000000
    del v
    assert held() < before + 100000
    assert float(g(tf.Variable([2.0]))) == 3.0


def test_dtype_shape_and_training_tell_apart():
    f, traces = counted(lambda v: v + v)
    kinds = [dict(dtype=tf.int32), dict(dtype=tf.float32), dict(dtype=tf.float32, trainable=False)]
    for _ in range(4):
        for k, kind in enumerate(kinds):
            assert f(tf.Variable(k, **kind)).numpy() == 2 * k
            assert f(tf.Variable([k, k], **kind)).numpy().tolist() == [2 * k, 2 * k]
    assert len(traces) <= 7


def test_one_variable_in_two_places():
    def add(a, b):
        a.assign_add(1.0)
        return a + b

    f, _ = counted(add)
    v = [tf.Variable(float(k)) for k in range(5)]
    calls = [(0, 1), (1, 2), (2, 3), (3, 3), (4, 4), (0, 4)]
    assert [float(f(v[a], v[b])) for a, b in calls] == [2.0, 4.0, 6.0, 8.0, 10.0, 7.0]
    assert [float(f(v[k], v[k].assign(10.0 * k))) for k in range(3)] == [2.0, 22.0, 42.0]


def test_gradients_inside_and_outside():
    def step(v):
        with tf.GradientTape() as tape:
            loss = v * v * 3.0
        assert len(tape.watched_variables()) == (1 if v.trainable else 0)
        gradient = tape.gradient(loss, v)
        return tf.constant(-1.0) if gradient is None else gradient

    f, _ = counted(step)
    assert [float(f(tf.Variable(float(k)))) for k in range(4)] == [0.0, 6.0, 12.0, 18.0]
    assert float(f(tf.Variable(1.0, trainable=False))) == -1.0
    g, _ = counted(lambda v, x: v * v * x)
    for k in range(4):
        v, x = tf.Variable(float(k)), tf.constant(2.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = g(v, x)
        assert [float(d) for d in tape.gradient(y, [v, x])] == [4.0 * k, float(k * k)]


def test_rows_and_second_derivatives():
    def rows(v, i):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(v, i) ** 2.0)
        return tf.convert_to_tensor(tape.gradient(loss, v))

    f, _ = counted(rows)
    for k in range(4):
        assert f(tf.Variable(tf.range(3.0) + k), tf.constant([0, 2, 2])).numpy().tolist() == [2.0 * k, 0.0, 4.0 * (2 + k)]

    def twice(v):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = v ** 3.0
            d = inner.gradient(y, v)
        return outer.gradient(d, v)

    g, _ = counted(twice)
    assert [float(g(tf.Variable(float(k)))) for k in range(4)] == [0.0, 6.0, 12.0, 18.0]


def test_in_structures_loops_and_functions_called():
    f, traces = counted(lambda d: sum(v * float(i + 1) for i, v in enumerate(d["w"])) + d["b"])
    made = [float(f({"w": [tf.Variable(float(k)), tf.Variable(2.0)], "b": tf.Variable(0.5)})) for k in range(4)]
    assert made == [4.5, 5.5, 6.5, 7.5] and len(traces) == 2

    @tf.function
    def count(v, n):
        for _ in tf.range(n):
            v.assign_add(1.0)
        if v > 3.0:
            v.assign(0.0)
        return v.read_value()

    assert [float(count(tf.Variable(float(k)), tf.constant(2))) for k in range(4)] == [2.0, 3.0, 0.0, 0.0]
    inner = tf.function(lambda v, x: v * x)
    outer = tf.function(lambda v, x: inner(v, x) + inner(v, x * 2.0))
    assert [float(outer(tf.Variable(1.0 + k), tf.constant(3.0))) for k in range(4)] == [9.0, 18.0, 27.0, 36.0]


def test_no_variable_is_kept():
    f, _ = counted(lambda v: v * 2.0)
    for k in range(5):
        f(tf.Variable(float(k)))
    gc.collect()
    before = len([o for o in gc.get_objects() if isinstance(o, tf.Variable)])
    for k in range(20):
        f(tf.Variable(float(k)))
    gc.collect()
    assert len([o for o in gc.get_objects() if isinstance(o, tf.Variable)]) == before


def test_traces_of_objects_that_died_go_with_the_next_one():
    class Factor:
        def __init__(self, k):
            self.k = k

    f = tf.function(lambda factor, x: x * factor.k)
    x = tf.ones([2])
    kept = Factor(2.0)
    f(kept, x)
    for k in range(20):
        assert f(Factor(float(k)), x)[0] == k
    assert len(f._reasons()) <= 3
    assert f.experimental_get_tracing_count() == 21
