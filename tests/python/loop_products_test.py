"""Matrix products that leave loops: the same values as a loop that Python unrolls, and the same errors."""
import numpy as np
import pytest

import evenflow as tf

STEPS, BATCH, WIDTH, UNITS = 7, 3, 5, 9


def _numbers(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def _cell(x, h, w, u, b):
    return tf.tanh(tf.matmul(x, w) + tf.matmul(h, u) + b)


def _weights():
    shapes = (WIDTH, UNITS), (UNITS, UNITS), (UNITS,)
    return [tf.Variable(0.5 * _numbers(*s, seed=k)) for k, s in enumerate(shapes)]


def _looped(x, weights, steps, read=lambda i: i):
    """The last state of a recurrent net, by tf.while_loop over a TensorArray."""
    array = tf.TensorArray(tf.float32, STEPS).unstack(x)
    return tf.while_loop(lambda i, h: i < steps, lambda i, h: (i + 1, _cell(array.read(read(i)), h, *weights)),
                         [0, tf.zeros([BATCH, UNITS])])[1]


def _unrolled(x, weights, steps, read=lambda i: i):
    h = tf.zeros([BATCH, UNITS])
    for i in range(steps):
        h = _cell(x[read(i)], h, *weights)
    return h


def _loss_and_gradients(net, x, weights, *args):
    with tf.GradientTape() as tape:
        tape.watch(x)
        loss = tf.reduce_sum(net(x, weights, *args) ** 2)
    return [loss, *tape.gradient(loss, [*weights, x], unconnected_gradients="zero")]


def _same(got, expected):
    for g, e in zip(got, expected):
        np.testing.assert_allclose(tf.convert_to_tensor(g), tf.convert_to_tensor(e), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("steps", [0, 1, 2, STEPS])
def test_gradients_are_those_of_the_unrolled_loop(steps):
    x, weights = tf.constant(_numbers(STEPS, BATCH, WIDTH, seed=4)), _weights()
    f = tf.function(lambda x: _loss_and_gradients(_looped, x, weights, steps))
    for _ in range(3):
        _same(f(x), _loss_and_gradients(_unrolled, x, weights, steps))


def test_steps_given_by_a_tensor():
    x, weights = tf.constant(_numbers(STEPS, BATCH, WIDTH, seed=4)), _weights()
    f = tf.function(lambda x, n: _loss_and_gradients(_looped, x, weights, n))
    for steps in (STEPS, 0, 3, 1):
        _same(f(x, tf.constant(steps)), _loss_and_gradients(_unrolled, x, weights, steps))


def test_items_read_backward_and_twice():
    x, weights = tf.constant(_numbers(STEPS, BATCH, WIDTH, seed=4)), _weights()
    for read in (lambda i: STEPS - 1 - i, lambda i: i // 2):
        f = tf.function(lambda x: _loss_and_gradients(_looped, x, weights, STEPS, read))  # noqa: B023
        _same(f(x), _loss_and_gradients(_unrolled, x, weights, STEPS, read))


def test_weights_that_the_loop_changes_are_read_in_it():
    array, w = _numbers(STEPS, BATCH, WIDTH), tf.Variable(_numbers(WIDTH, WIDTH))

    @tf.function
    def f():
        items = tf.TensorArray(tf.float32, STEPS).unstack(array)

        def body(i, total):
            total += tf.matmul(items.read(i), w)
            w.assign(0.5 * w)
            return i + 1, total
        return tf.while_loop(lambda i, _: i < STEPS, body, [0, tf.zeros([BATCH, WIDTH])])[1]
    expected = sum(array[i] @ (w.numpy() * 0.5 ** i) for i in range(STEPS))
    np.testing.assert_allclose(f(), expected, rtol=1e-5, atol=1e-5)


def test_a_loop_without_iterations_reads_no_variable():
    """A variable that has no value yet fails when it is read, not before."""
    graph = tf.Graph()
    with graph.as_default():
        v = tf.compat.v1.get_variable("v", initializer=tf.ones([2, 2]), use_resource=True)
        for steps in (0, 2):
            total = tf.while_loop(lambda i, _: i < steps, lambda i, t: (i + 1, t + v),  # noqa: B023
                                  [0, tf.zeros([2, 2])])[1]
            with tf.compat.v1.Session() as session:
                if steps == 0:
                    np.testing.assert_array_equal(session.run(total), np.zeros([2, 2]))
                else:
                    with pytest.raises(tf.errors.FailedPreconditionError):
                        session.run(total)


def test_an_index_beyond_the_list_still_fails():
    x, weights = tf.constant(_numbers(STEPS, BATCH, WIDTH)), _weights()
    f = tf.function(lambda x: _looped(x, weights, STEPS + 1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="element 7 in a list with 7"):
        f(x)


def test_second_derivative():
    x, weights = tf.constant(_numbers(STEPS, BATCH, WIDTH, seed=4)), _weights()

    def twice(net):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                loss = tf.reduce_sum(net(x, weights, STEPS) ** 2)
            total = sum(tf.reduce_sum(g ** 2) for g in inner.gradient(loss, weights))
        return outer.gradient(total, weights)
    got, expected = tf.function(lambda: twice(_looped))(), twice(_unrolled)
    for g, e in zip(got, expected):
        np.testing.assert_allclose(g, e, rtol=1e-4, atol=1e-4)


def test_products_without_elements():
    """Of no rows, and of no columns."""
    for rows, columns in ((0, 4), (2, 0)):
        x, w = tf.constant(np.ones([3, rows, 5], np.float32)), tf.Variable(np.ones([5, columns], np.float32))

        @tf.function
        def f():
            items = tf.TensorArray(tf.float32, 3).unstack(x)  # noqa: B023
            with tf.GradientTape() as tape:
                total = tf.while_loop(lambda i, _: i < 3,
                                      lambda i, s: (i + 1, s + tf.matmul(items.read(i), w)),  # noqa: B023
                                      [0, tf.zeros([rows, columns])])[1]  # noqa: B023
            return total, tape.gradient(total, w)  # noqa: B023
        total, grad = f()
        assert total.shape == (rows, columns)
        np.testing.assert_array_equal(grad, np.zeros([5, columns]))


def test_sums_of_products_in_double():
    """Against the sequential sum, in a loop that only adds."""
    a, b = _numbers(50, 4, 6).astype(np.float64), _numbers(50, 4, 3, seed=1).astype(np.float64)
    w = tf.Variable(np.eye(6, 3))

    @tf.function
    def f():
        x, y = tf.TensorArray(tf.float64, 50).unstack(a), tf.TensorArray(tf.float64, 50).unstack(b)
        with tf.GradientTape() as tape:
            loss = tf.while_loop(lambda i, _: i < 50,
                                 lambda i, s: (i + 1, s + tf.reduce_sum(tf.matmul(x.read(i), w) * y.read(i))),
                                 [0, tf.constant(0.0, tf.float64)])[1]
        return loss, tape.gradient(loss, w)
    loss, grad = f()
    np.testing.assert_allclose(loss, sum((a[t] @ np.eye(6, 3) * b[t]).sum() for t in range(50)), rtol=1e-12)
    np.testing.assert_allclose(grad, sum(a[t].T @ b[t] for t in range(50)), rtol=1e-12)


def test_a_list_that_stays_and_grows():
    """Two variables of a loop start as one list; one of them stays as it is."""
    raw = tf.raw_ops

    @tf.function
    def f(x):
        first = raw.TensorListFromTensor(tensor=x, element_shape=tf.constant([2]))

        def body(i, same, more, total):
            more = raw.TensorListPushBack(input_handle=more, tensor=tf.fill([2], 7.0))
            return i + 1, same, more, total + raw.TensorListLength(input_handle=same)
        _, same, more, total = tf.while_loop(lambda i, *_: i < 3, body, [0, first, first, 0])
        return total, raw.TensorListLength(input_handle=same), raw.TensorListLength(input_handle=more)
    assert [int(n) for n in f(tf.ones([3, 2]))] == [9, 3, 6]


def _kept(x, weights, steps):
    """As _looped, but the loop saves an output for each step too, and only some of them are read."""
    array = tf.TensorArray(tf.float32, STEPS).unstack(x)
    out = tf.TensorArray(tf.float32, STEPS, element_shape=[BATCH, UNITS])

    def body(i, h, out):
        h = _cell(array.read(i), h, *weights)
        return i + 1, h, out.write(i, h)
    _, h, out = tf.while_loop(lambda i, h, _: i < steps, body, [0, tf.zeros([BATCH, UNITS]), out])
    return h + tf.reduce_sum(out.stack()[::2], 0)


def _kept_unrolled(x, weights, steps):
    h, total = tf.zeros([BATCH, UNITS]), 0.0
    for i in range(steps):
        h = _cell(x[i], h, *weights)
        total = total + (h if i % 2 == 0 else 0.0)
    return h + total


@pytest.mark.parametrize("steps", [1, 2, STEPS])
def test_gradients_of_a_loop_that_also_keeps_its_states(steps):
    x, weights = tf.constant(_numbers(STEPS, BATCH, WIDTH, seed=4)), _weights()
    f = tf.function(lambda x: _loss_and_gradients(_kept, x, weights, steps))
    for _ in range(3):
        _same(f(x), _loss_and_gradients(_kept_unrolled, x, weights, steps))


def _steps_of(text):
    """The body of each loop in a report, as the names of its steps."""
    bodies, within = [], False
    for line in text[text.index("\nsteps"):].splitlines():
        if line.strip() == "body:":
            bodies.append([])
        within = line.startswith("        ") and (within or line.strip() == "body:")
        if within and line.strip() != "body:":
            bodies[-1].append(line.split()[1])
    return bodies


def test_lists_that_the_gradient_does_not_read_are_not_filled():
    """Neither the inputs, which the product after the loop reads as they are, nor the weights, nor constants."""
    x, weights = tf.constant(_numbers(STEPS, BATCH, WIDTH, seed=4)), _weights()

    @tf.function
    def f():
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(_looped(x, weights, STEPS) ** 2)
        return tape.gradient(loss, weights)
    forward, backward = _steps_of(str(tf.experimental.inspect(f)))
    assert forward.count("TensorListPushBack") == 2  # the state before the step, and tanh
    assert forward.count("TensorListGetItem") == 1  # of the product with all inputs
    assert backward.count("TensorListPopBack") == 2
    assert backward.count("TensorListPushBack") == 1  # what the products after the loop read
