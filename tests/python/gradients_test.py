"""Tapes, jacobians, forward mode, users' own gradients: what the golden corpus does not ask."""
import numpy as np
import pytest

import evenflow as tf

X = [1.0, 2.0]


def both(function):
    """The same function run eagerly and traced."""
    return [function(), tf.function(function, autograph=False)()]


def test_a_tape_answers_once():
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    np.testing.assert_array_equal(tape.gradient(y, x), [2, 4])
    with pytest.raises(RuntimeError, match="only be used to compute one set"):
        tape.gradient(y, x)
    with pytest.raises(RuntimeError):
        tape.jacobian(y, x)


def test_a_persistent_tape_asked_inside_its_context():
    x = tf.constant(X)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x * x
        first = tape.gradient(y, x)
    np.testing.assert_allclose(tape.gradient(first, x), [6, 12])
    np.testing.assert_allclose(tape.gradient(y, x), [3, 12])


def test_what_a_tape_refuses():
    x = tf.constant(X)
    with tf.GradientTape() as tape:
        with pytest.raises(ValueError, match="not tf.Tensor or"):
            tape.watch(1.0)
        with pytest.raises(ValueError, match="still recording"):
            tape.__enter__()
        tape.watch(x)
        y = x * x
    with pytest.raises(ValueError, match="unconnected_gradients"):
        tape.gradient(y, x, unconnected_gradients="some")
    with pytest.raises(RuntimeError, match="not recording"):
        with tape.stop_recording():
            pass
    with pytest.raises(TypeError, match="received None"):
        tape.gradient(None, x)
    with pytest.raises(RuntimeError):
        tf.gradients(x, x)


def test_a_source_that_is_the_target():
    x, v = tf.constant(X), tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        y = v * 1.0
    for source in (x, v):
        np.testing.assert_array_equal(tape.gradient(source, source), [1, 1])
    assert tape.gradient(y, x) is None
    assert tape.watched_variables() == (v,)


def test_an_op_without_a_gradient():
    x = tf.constant([[[[1.0, 2.0, 3.0, 4.0]]]])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.nn.local_response_normalization(x)
        first = tape.gradient(y, x)
    with pytest.raises(LookupError, match="LRNGrad"):
        outer.gradient(first, x)


def test_jacobian_where_nothing_is_connected():
    x, v = tf.constant(X), tf.Variable(X)
    with tf.GradientTape(persistent=True) as tape:
        y = v * 2.0
    assert tape.jacobian(y, [v, x])[1] is None
    zero = tape.jacobian(y, [v, x], unconnected_gradients="zero")
    np.testing.assert_array_equal(zero[0], np.eye(2) * 2)
    np.testing.assert_array_equal(zero[1], np.zeros((2, 2)))


@pytest.mark.parametrize("rows", [2, 3])
def test_jacobian_of_any_size_in_one_trace(rows):
    @tf.function(input_signature=[tf.TensorSpec([None, 2])], autograph=False)
    def of(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(x * x, 1)
        return tape.jacobian(y, x)

    x = np.arange(rows * 2, dtype=np.float32).reshape(rows, 2)
    expected = np.zeros((rows, rows, 2), np.float32)
    for k in range(rows):
        expected[k, k] = 2 * x[k]
    np.testing.assert_allclose(of(x), expected)


def test_jacobian_in_a_function_leaves_effects_alone():
    v = tf.Variable(0.0)

    @tf.function(autograph=False)
    def of(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            v.assign_add(1.0)
            y = tf.sin(x)
        return tape.jacobian(y, x)

    np.testing.assert_allclose(of(tf.constant(X)), np.diag(np.cos(X)), rtol=1e-6)
    assert v.numpy() == 1.0


def test_batch_jacobian():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])

    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.stack([x[:, 0] * x[:, 1], x[:, 0], x[:, 1] ** 2], 1)
        return tape.batch_jacobian(y, x)

    for found in both(run):
        np.testing.assert_allclose(found, [[[2, 1], [1, 0], [0, 4]], [[4, 3], [1, 0], [0, 8]]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.concat([x, x], 0)
    with pytest.raises(ValueError, match="match"):
        tape.batch_jacobian(y, x)


def test_custom_gradient_with_variables():
    w, x = tf.Variable(3.0), tf.constant(X)
    seen = []

    @tf.custom_gradient
    def scaled(a):
        def backward(dy, variables=None):
            seen.append([v is w for v in variables])
            return dy * 100.0, [tf.constant(7.0)]

        return a * w, backward

    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = scaled(x)
        return tape.gradient(y, [x, w])

    for found in both(run):
        np.testing.assert_array_equal(found[0], [100, 100])
        assert found[1].numpy() == 7
    assert seen == [[True], [True]]


def test_custom_gradient_must_take_the_variables_it_uses():
    w = tf.Variable(3.0)
    f = tf.custom_gradient(lambda a: (a * w, lambda dy: dy))
    with pytest.raises(TypeError, match="variables"):
        f(tf.constant(1.0))


@pytest.mark.parametrize("given", [0, 2])
def test_custom_gradient_gives_one_gradient_per_argument(given):
    x = tf.constant(X)
    f = tf.custom_gradient(lambda a: (a * 2.0, lambda dy: [dy] * given))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    with pytest.raises(ValueError, match="expected to return 1 gradients"):
        tape.gradient(y, x)


def test_custom_gradient_of_structures_kwargs_and_methods():
    class Holder:
        factor = 5.0

        @tf.custom_gradient
        def scaled(self, pair, power=1.0):
            """Doc."""

            def backward(up, other):
                return {"a": up * self.factor, "b": other}

            return (pair["a"] * power, {"k": pair["b"]}), backward

    x, holder = tf.constant(X), Holder()
    assert Holder.scaled.__name__ == "scaled" and Holder.scaled.__doc__ == "Doc."
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, other = holder.scaled({"a": x, "b": x * 1.0}, power=2.0)
    np.testing.assert_array_equal(y, [2, 4])
    np.testing.assert_array_equal(tape.gradient(y, x), [5, 5])
    np.testing.assert_array_equal(tape.gradient(other["k"], x), [1, 1])


def test_custom_gradient_that_is_sparse():
    x, v = tf.constant(X), tf.Variable(X)

    @tf.custom_gradient
    def of(a):
        def backward(dy, variables=None):
            rows = tf.IndexedSlices(dy[:1] * 3.0, tf.constant([1]), tf.constant([2]))
            return rows, [tf.IndexedSlices(dy[:1], tf.constant([0]))]

        return a * v, backward

    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = of(x)
        return tape.gradient(y, [x, v])

    for found in both(run):
        for slices, dense in zip(found, ([0, 3], [1, 0])):
            assert isinstance(slices, tf.IndexedSlices)
            np.testing.assert_array_equal(tf.convert_to_tensor(slices), dense)


def test_gradients_that_pass_through():
    x = tf.constant([1.2, 2.7])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.grad_pass_through(tf.round)(x) * 3.0
    np.testing.assert_array_equal(y, [3, 9])
    np.testing.assert_array_equal(tape.gradient(y, x), [3, 3])


def test_recompute_grad_twice():
    w, x = tf.Variable(0.5), tf.constant(X)

    def block(x, k):
        return tf.sin(x * w) * k

    def run(f):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x, k=3.0)
            first = tape.gradient(y, [x, w])
        return first + outer.gradient(first[0], [x, w])

    expected = run(block)
    for found in both(lambda: run(tf.recompute_grad(block))):
        for a, b in zip(found, expected):
            np.testing.assert_allclose(a, b, rtol=1e-6)


def test_recompute_grad_keeps_nothing():
    x, w = tf.constant(np.ones((256, 256), np.float32)), tf.Variable(1.0)

    def block(x):
        for _ in range(8):
            x = tf.sin(x * w)
        return x

    def kept(f):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(f(x))
            y.numpy()
            size = tf.config.experimental.get_memory_info("CPU:0")["current"]
        return size, tape.gradient(y, [x, w])

    plain, expected = kept(block)
    small, found = kept(tf.recompute_grad(block))
    assert small < plain - 10 * x.numpy().nbytes
    for a, b in zip(found, expected):
        np.testing.assert_allclose(a, b, rtol=1e-5)


def test_forward_accumulator():
    x, w = tf.constant(X), tf.Variable(3.0)

    def run():
        with tf.autodiff.ForwardAccumulator([x, w], [tf.ones(2), tf.constant(2.0)]) as acc:
            y = x * w
            z = tf.ones(2)
        return acc.jvp(y), acc.jvp(z, unconnected_gradients="zero"), acc.jvp(x)

    for moved, still, itself in both(run):
        np.testing.assert_array_equal(moved, [5, 7])
        np.testing.assert_array_equal(still, [0, 0])
        np.testing.assert_array_equal(itself, [1, 1])


def test_forward_over_forward_and_over_reverse():
    x = tf.constant(X)

    def run():
        with tf.autodiff.ForwardAccumulator(x, tf.ones(2)) as outer:
            with tf.autodiff.ForwardAccumulator(x, tf.ones(2)) as inner:
                y = x**3
                first = inner.jvp(y)
            with tf.GradientTape() as tape:
                tape.watch(x)
                z = tf.reduce_sum(x**4)
            g = tape.gradient(z, x)
        return outer.jvp(first), outer.jvp(g)

    for second, hvp in both(run):
        np.testing.assert_allclose(second, [6, 12])
        np.testing.assert_allclose(hvp, [12, 48])


def test_forward_through_gather_and_complex():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.autodiff.ForwardAccumulator(x, tf.constant([10.0, 20.0, 30.0])) as acc:
        y = tf.gather(x, [2, 0, 2]) * 2.0
    np.testing.assert_array_equal(acc.jvp(y), [60, 20, 60])
    z = tf.constant([1 + 2j, 3 - 1j])
    with tf.autodiff.ForwardAccumulator(z, tf.constant([1j, 2 + 0j])) as acc:
        y = z * z * (1 + 1j)
    np.testing.assert_allclose(acc.jvp(y), [-6 - 2j, 16 + 8j])


def test_tf_gradients_and_hessians():
    @tf.function(autograph=False)
    def of(x):
        y = x * x
        stopped = tf.gradients(y * x, x, stop_gradients=[y])[0]
        return tf.gradients([y, x], x, grad_ys=[tf.constant(X), None])[0], tf.hessians(tf.reduce_sum(x**3), x)[0], stopped

    first, second, stopped = of(tf.constant(X))
    np.testing.assert_allclose(first, [3, 9])
    np.testing.assert_allclose(second, np.diag([6, 12]))
    np.testing.assert_allclose(stopped, [1, 4])


def test_tapes_leave_nothing_behind():
    import gc

    x = tf.constant(np.ones((64, 64), np.float32))
    gc.collect()
    before = tf.config.experimental.get_memory_info("CPU:0")["current"]
    for _ in range(20):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.custom_gradient(lambda a: (a * 2.0, lambda dy: dy))(x) * x
        tape.gradient(y, x)
    del y, tape
    gc.collect()
    assert tf.config.experimental.get_memory_info("CPU:0")["current"] <= before


def test_accumulators_nested_and_asked_from_outside():
    primal = tf.constant(1.1)
    with tf.autodiff.ForwardAccumulator(primal, tf.constant(1.0)) as outer:
        with tf.autodiff.ForwardAccumulator(primal, tf.constant(1.0)) as inner:
            result = primal ** tf.constant(3.5)
    once = inner.jvp(result)
    np.testing.assert_allclose(once, 3.5 * 1.1 ** 2.5, rtol=1e-6)
    np.testing.assert_allclose(outer.jvp(once), 3.5 * 2.5 * 1.1 ** 1.5, rtol=1e-6)


def slope(function, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize("traced", [False, True])
def test_through_compositions(traced):
    def check(function, x, expected):
        found = (tf.function(slope, autograph=False) if traced else slope)(function, x)
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    check(lambda x: tf.linspace(x, 3.0, 4), tf.constant(1.0), 2)
    check(lambda x: tf.linspace(0.0, x, 3), tf.constant(2.0), 1.5)
    check(lambda x: tf.math.real(tf.sign(x)), tf.constant([3 + 4j]), [0.128 - 0.096j])
    check(lambda x: tf.saturate_cast(x, tf.float16), tf.constant([np.nan, 1e9, 2]), [1, 0, 1])
    check(lambda x: tf.matmul(x, tf.ones([2, 2], tf.bfloat16)), tf.ones([1, 2]), [[2, 2]])
    times = tf.Variable([0, 2])
    check(lambda x: tf.tile(x, times), tf.ones([2, 1]), [[0], [0]])
    times.assign([3, 2])
    check(lambda x: tf.tile(x, times), tf.ones([2, 1]), [[6], [6]])


@pytest.mark.parametrize("function", [lambda x: tf.unique(x)[0], lambda x: tf.bitcast(x, tf.float32),
                                      lambda x: tf.raw_ops.Bincount(arr=[1, 0], size=2, weights=x)])
def test_ops_without_a_gradient(function):
    for call in (slope, tf.function(slope, autograph=False)):
        with pytest.raises(LookupError):
            call(function, tf.constant(X))


def test_a_tape_takes_its_arguments_by_name():
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(tensor=x)
        y = x * x
    assert float(tape.gradient(target=y, sources=x)) == 6
    assert float(tape.gradient(y, sources=[x])[0]) == 6
    assert float(tape.gradient(y, {"x": x}, output_gradients=tf.constant(2.0))["x"]) == 12
    with pytest.raises(TypeError):
        tape.gradient(y)
    with pytest.raises(TypeError):
        tape.watch()
    assert float(tape.gradient(y, [x], unconnected_gradients="zero")[0]) == 6


def test_a_small_tape_runs_no_python_of_ours():
    """What every training step does is C: nothing of the package is called."""
    import sys

    x, v = tf.constant(3.0), tf.Variable(2.0)
    calls = []

    def step():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * v
        return tape.gradient(y, [x, v])

    step()
    sys.setprofile(lambda frame, event, arg: event == "call" and calls.append(frame.f_code.co_name))
    try:
        step()
    finally:
        sys.setprofile(None)
    assert calls == ["step"]
