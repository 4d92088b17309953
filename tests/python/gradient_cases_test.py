"""Gradients where TensorFlow's own tests and users' programs have shown differences."""
import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1


def _gradient(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


@pytest.mark.parametrize("f", [
    lambda x: tf.stack(tf.unstack(x)) * 2.0,
    lambda x: tf.concat(tf.split(x, 200), 0) * 2.0,
    lambda x: tf.add_n(tf.unstack(x)) * 2.0,
    lambda x: tf.function(lambda x: tf.stack(tf.unstack(x)) * 2.0)(x)])
def test_through_more_tensors_than_sixty_four(f):
    np.testing.assert_array_equal(_gradient(f, tf.ones((200, 3))), np.full((200, 3), 2.0))


def test_of_repeated_rows_it_is_a_tensor():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(_gradient(lambda x: tf.repeat(x, [2, 1], axis=0), x), [[2, 2], [1, 1]])
    np.testing.assert_array_equal(_gradient(lambda x: tf.repeat(x, [3, 1], axis=1), x), [[3, 1], [3, 1]])
    assert tf.repeat(x, [2, 0], axis=0).shape == (2, 2)


def test_over_an_empty_batch():
    """Eagerly nothing was done; a function might have done something."""
    x, w = tf.zeros((0, 3)), tf.Variable(2.0)
    assert _gradient(lambda x: tf.map_fn(lambda row: row * w, x), x) is None
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.function(lambda x: tf.reduce_sum(tf.map_fn(lambda row: row * w, x)))(x)
    by_x, by_w = tape.gradient(y, [x, w])
    assert by_x.shape == (0, 3) and float(by_w) == 0


def test_of_a_whole_number():
    """There is none through an op, and zero through a function, which has other results too."""
    x = tf.constant(2.0)
    f = tf.function(lambda x: (tf.cast(x, tf.int32), x * x))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        plain = tf.cast(x, tf.int32)
        whole, square = f(x)
        later = whole + 1
    assert tape.gradient(plain, x) is None
    assert float(tape.gradient(whole, x)) == 0
    assert float(tape.gradient([whole, square], x)) == 4
    assert tape.gradient(later, x) is None


@pytest.mark.parametrize("f", [
    lambda x: x ** 3.0,
    tf.function(lambda x: x ** 3.0),
    tf.function(lambda x: tf.cond(x > 0.0, lambda: x ** 3.0, lambda: x)),
    tf.function(lambda x: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, tf.ones([])))[1])])
def test_a_persistent_tape_differentiates_its_own_gradient(f):
    x = tf.constant(3.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = f(x)
        first = tape.gradient(y, x)
    assert float(first) == pytest.approx(27)
    assert float(tape.gradient(first, x)) == pytest.approx(18)
    assert float(tape.jacobian(first, x)) == pytest.approx(18)


def test_a_persistent_tape_and_a_function_of_a_variable():
    v = tf.Variable(1.0)
    f = tf.function(lambda: tf.cos(v) + 1.0)
    with tf.GradientTape(persistent=True) as tape:
        first = tape.gradient(f(), v)
        v.assign(5.0)  # the gradient belongs to the value that was read
    np.testing.assert_allclose(tape.gradient(first, v), -np.cos(1.0), rtol=1e-6)


def test_a_given_gradient_may_be_a_list_of_numbers():
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant([1.0, 2.0, 3.0])
        for given in ([[1.0, 2.0, 3.0]], [np.array([1.0, 2.0, 3.0], np.float32)], tf.constant([1.0, 2.0, 3.0])):
            np.testing.assert_array_equal(session.run(tf.gradients(x * 2.0, x, grad_ys=given))[0], [2, 4, 6])
        two = tf.gradients([x, x * 2.0], x, grad_ys=[[1.0, 1.0, 1.0], None])
        np.testing.assert_array_equal(session.run(two)[0], [3, 3, 3])


# ---- by tensors of the graphs around --------------------------------------------------------------------------


def _nested_branches(p):
    q = p * p

    def inner():
        r = q * 3.0
        return tf.cond(r > 0.0, lambda: tf.gradients(r * q, [p])[0], lambda: r)

    return tf.cond(p > 0.0, inner, lambda: p)


def _second_order(p):
    y = p * p * p

    def branch():
        return tf.gradients(tf.gradients(y * 1.0, [p])[0], [p])[0]

    return tf.cond(p > 0.0, branch, lambda: y)


def _of_a_chain(p):
    b = p * p
    c = b * p
    return tf.cond(p > 0.0, lambda: tf.stack(tf.gradients(c * b, [p, b, c])), lambda: tf.stack([p, p, p]))


def _in_a_loop(p):
    square = tf.square(p)
    return tf.while_loop(lambda i, x: i < 10,
                         lambda i, x: (i + 1, x + tf.gradients(tf.constant([1.0, 2.0, 3.0]) * square, p)[0]),
                         [tf.constant(0), tf.constant(0.0)])[1]


def _in_a_function(p):
    square = p * p
    return tf.function(lambda: tf.gradients([tf.identity(p), tf.identity(square)], [p])[0])()


OUTER = [(_nested_branches, 5.0, 1500.0), (_second_order, 3.0, 18.0), (_of_a_chain, 2.0, [80.0, 16.0, 4.0]),
         (_in_a_loop, 5.0, 600.0), (_in_a_function, 3.0, 7.0)]


@pytest.mark.parametrize("f, at, expected", OUTER)
def test_by_a_tensor_outside(f, at, expected):
    with tf.Graph().as_default(), v1.Session() as session:
        np.testing.assert_allclose(session.run(f(tf.constant(at))), expected)
    np.testing.assert_allclose(tf.function(f)(tf.constant(at)), expected)


def test_by_a_variable_read_outside():
    with tf.Graph().as_default(), v1.Session() as session:
        v, other = v1.Variable(3.0), tf.constant(1.0)
        square = v * v
        found = []

        def branch():
            found.extend(tf.gradients(square * 2.0, [v, other]))
            return found[0]

        made = tf.cond(tf.constant(True), branch, lambda: square)
        session.run(v1.global_variables_initializer())
        assert session.run(made) == 12 and found[1] is None


def test_a_tape_inside_a_loop_of_a_graph():
    with tf.Graph().as_default(), v1.Session() as session:
        v = v1.Variable(1.0)

        def body(i):
            with tf.GradientTape() as tape:
                y = v * i
            return i + tape.gradient(y, v)

        made = v1.while_loop(lambda i: i < 10.0, body, [1.0])
        session.run(v1.global_variables_initializer())
        assert session.run(made) == 16


def test_a_tape_of_a_graph_tells_its_variables():
    with tf.Graph().as_default():
        v1.Variable(1.0)
        v = v1.Variable(2.0)
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(v)
        assert tape.watched_variables() == (v,)


def test_references_have_an_order():
    a, b = tf.Variable([1.0, 2.0]), tf.Variable(1.0)
    y = tf.recompute_grad(lambda x: {k: v + 1 for k, v in x.items()})({a.ref(): a, b.ref(): b})
    np.testing.assert_array_equal(y[a.ref()], [2, 3])


def _both(build):
    """Gradients of a function of two numbers: taken inside a tf.function, and of a tf.function."""
    def taken(y, xs, tape):
        return [None if g is None else float(g) for g in tape.gradient(y, xs)]

    @tf.function
    def inside(*xs):
        with tf.GradientTape() as tape:
            tape.watch(xs)
            y = build(*xs)
        return tape.gradient(y, xs)

    xs = [tf.constant(1.0), tf.constant(2.0)]
    outer = tf.function(build)
    with tf.GradientTape() as tape:
        tape.watch(xs)
        y = outer(*xs)
    first = [None if g is None else float(g) for g in inside(*xs)]
    assert taken(y, xs, tape) == first
    return first


@pytest.mark.parametrize("build, expected", [
    # A loop connects all that goes in with all that comes out.
    (lambda a, b: tf.while_loop(lambda x: x < b * 5.0, lambda x: (x * 2 * a,), (1.0,))[0], [64.0, 0.0]),
    (lambda a, b: tf.while_loop(lambda i, x, y: i < 3, lambda i, x, y: (i + 1, x * a, y), (0, 1.0, b))[1], [3.0, 0.0]),
    (lambda a, b: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * a + tf.floor(b)), (0, 1.0))[1], [9.0, 0.0]),
    (lambda a, b: tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1.0, x * a), (0.0, b))[0], [0.0, 0.0]),
    (lambda a, b: tf.cast(tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, x * a), (0, b))[0], tf.float32), [None, None]),
    (lambda a, b: tf.scan(lambda c, e: (c[0] * a, c[1] * b), tf.zeros([3]), (a, b))[0], [9.0, 0.0]),
    # Branches connect an input with the outputs it has a part in.
    (lambda a, b: tf.cond(a < 5.0, lambda: (a * 2, b * 2), lambda: (a * 3, b * 3))[0], [2.0, 0.0]),
    (lambda a, b: tf.cond(b < 5.0, lambda: a * 2, lambda: a * 3), [2.0, None]),
    (lambda a, b: tf.cond(a < 5.0, lambda: a * 2 + tf.stop_gradient(b), lambda: a * 3), [2.0, None]),
    (lambda a, b: tf.switch_case(tf.cast(a, tf.int32), [lambda: (a * 2, b), lambda: (a * 3, b)])[0], [3.0, 0.0]),
    (lambda a, b: tf.function(lambda a, b: (a * 2, b * 2))(a, b)[0], [2.0, 0.0]),
])
def test_control_flow_connects(build, expected):
    assert _both(build) == expected


def test_zeros_are_not_added_to_gradients():
    """An embedding that a loop reads but does not learn through keeps its sparse gradient."""
    table = tf.Variable(tf.ones([5, 2]))

    @tf.function
    def f():
        with tf.GradientTape() as tape:
            n = tf.while_loop(lambda i: i < 3.0, lambda i: (i + tf.floor(table[0, 0]),), (0.0,))[0]
            y = tf.reduce_sum(tf.gather(table, [1, 1])) + n
        return tape.gradient(y, table)

    assert isinstance(f(), tf.IndexedSlices)


def test_variables_in_loops_and_branches_of_graphs():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        a, b = tf.Variable(2.0), tf.Variable(3.0)
        x = tf.while_loop(lambda i, x, y: i < 3, lambda i, x, y: (i + 1, x * a, y * b), (0, 1.0, 1.0))[1]
        one = tf.cond(v1.placeholder_with_default(True, []), lambda: (a * 2, b * 2), lambda: (a * 3, b * 3))[0]
        session.run(v1.global_variables_initializer())
        assert session.run(v1.gradients([x], [a, b])) == [12.0, 0.0]
        assert session.run(v1.gradients([one], [a, b])) == [2.0, 0.0]


@pytest.mark.parametrize("method, eager, error", [("jacobian", False, ValueError), ("batch_jacobian", False, RuntimeError),
                                                  ("jacobian", True, RuntimeError), ("batch_jacobian", True, RuntimeError)])
def test_loops_over_rows_need_a_persistent_tape(method, eager, error):
    options = dict(experimental_use_pfor=False) if eager else dict(parallel_iterations=2)
    for persistent in (True, False):
        with tf.GradientTape(persistent=persistent) as tape:
            x = tf.constant([[1.0, 2.0]])
            tape.watch(x)
            y = x * x
        if persistent:
            getattr(tape, method)(y, x, **options)
        else:
            with pytest.raises(error, match="persistent=True"):
                getattr(tape, method)(y, x, **options)


@pytest.mark.parametrize("value", [3.0, [1.0, 2.0], [[1.0], [2.0]], [[[1.0, 2.0]]]])
def test_a_slice_takes_values_that_broadcast(value):
    def update(x, v):
        return tf.raw_ops.TensorStridedSliceUpdate(input=x, begin=[0, 1], end=[2, 3], strides=[1, 1], value=v)

    x, v = tf.zeros([2, 3]), tf.constant(value)
    wide = np.broadcast_to(np.array(value, np.float32).reshape(v.shape[-2:]), [2, 2])
    assert np.array_equal(update(x, v).numpy()[:, 1:], wide)
    for f in (update, tf.function(update, input_signature=[tf.TensorSpec([None, None]), tf.TensorSpec(None)])):
        with tf.GradientTape() as tape:
            tape.watch([x, v])
            y = tf.reduce_sum(f(x, v) ** 2)
        dx, dv = tape.gradient(y, [x, v])
        assert np.array_equal(dx, [[0, 0, 0], [0, 0, 0]])
        assert np.allclose(dv, 2 * v * (4.0 / v.shape.num_elements())) and dv.shape == v.shape
    variable = tf.Variable(x)
    variable[:, 1:].assign(v)
    assert np.array_equal(variable.numpy()[:, 1:], wide)


def test_values_that_do_not_broadcast_into_a_slice():
    def update(value, end):
        return tf.raw_ops.TensorStridedSliceUpdate(input=tf.zeros([2, 3]), begin=[0], end=[end], strides=[1], value=value)

    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot broadcast input shape"):
        update([1.0, 2.0], 2)
    assert np.array_equal(update([1.0, 2.0], 0), np.zeros([2, 3]))  # nothing is written
