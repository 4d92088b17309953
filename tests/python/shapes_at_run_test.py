"""Ops whose sizes, axes or predicates are known only when a graph runs."""
import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1


def open_function(f, *dtypes):
    """`f` traced for arguments of unknown rank."""
    return tf.function(f, input_signature=[tf.TensorSpec(None, d) for d in dtypes])


@pytest.mark.parametrize("array, repeats, axis", [
    (3, 4, None), ([[1, 2], [3, 4]], 2, None), ([[1, 2], [3, 4]], [1, 2], 0), ([[1, 2], [3, 4]], [1, 2], 1),
    ([[1, 2], [3, 4]], 3, 1), ([[1, 2], [3, 4]], [1, 2, 3, 4], None), (np.ones([0, 4]), 0, 1), ([[1, 2]], [2], None),
])
def test_repeat_of_unknown_rank(array, repeats, axis):
    expected = np.repeat(np.array(array), repeats, axis)
    np.testing.assert_array_equal(tf.repeat(array, repeats, axis), expected)
    f = open_function(lambda x, r: tf.repeat(x, r, axis), tf.int32, tf.int32)
    np.testing.assert_array_equal(f(tf.constant(array, tf.int32), repeats), expected)


def test_repeat_by_an_open_vector_of_one():
    f = tf.function(lambda r: tf.repeat([1, 2], r), input_signature=[tf.TensorSpec([None], tf.int32)])
    assert f([2]).numpy().tolist() == [1, 1, 2, 2]
    assert f([0, 3]).numpy().tolist() == [2, 2, 2]
    with tf.Graph().as_default():
        assert tf.repeat([1, 2], v1.placeholder(tf.int32)).shape.as_list() == [None]


def test_boolean_mask_along_an_axis_given_at_run():
    x, mask = np.arange(6).reshape(2, 3), np.array([True, False, True])
    f = open_function(lambda axis: tf.boolean_mask(x, mask, axis=axis), tf.int32)
    np.testing.assert_array_equal(f(1), x[:, mask])
    g = open_function(lambda axis: tf.boolean_mask(x, [True, False], axis=axis), tf.int32)
    np.testing.assert_array_equal(g(0), x[[True, False]])


def test_placeholder_with_default():
    eager = v1.placeholder_with_default(np.ones(2, np.float32), [2])
    assert eager.numpy().tolist() == [1, 1]
    assert int(tf.switch_case(v1.placeholder_with_default(1, []), [lambda: 10, lambda: 20])) == 20
    with tf.Graph().as_default(), v1.Session() as session:
        open_one = v1.placeholder_with_default(tf.constant([1.0, 2.0]), None)
        assert open_one.shape.rank is None
        assert session.run(open_one).tolist() == [1, 2]
        assert session.run(open_one, {open_one: [[3.0]]}).tolist() == [[3]]


def test_an_exclusive_case_with_two_matches_fails_when_it_runs():
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.int32, [])
        pairs = [(tf.equal(x, 2), lambda: tf.constant(4)), (tf.greater(x, 1), lambda: tf.constant(6))]
        chosen = v1.case(pairs, default=lambda: tf.constant(8), exclusive=True)
        assert session.run(chosen, {x: 3}) == 6
        assert session.run(chosen, {x: 0}) == 8
        with pytest.raises(tf.errors.InvalidArgumentError, match="exclusive"):
            session.run(chosen, {x: 2})
        without = v1.case(pairs)
        with pytest.raises(tf.errors.InvalidArgumentError, match="None of conditions"):
            session.run(without, {x: 0})


def test_a_branch_under_two_names_is_refused():
    for words in ({"true_fn": int, "fn1": int, "false_fn": int}, {"true_fn": int, "false_fn": int, "fn2": int}):
        with pytest.raises(TypeError):
            v1.cond(True, **words)


def test_weights_of_a_loss_are_checked_when_it_runs():
    with tf.Graph().as_default(), v1.Session() as session:
        weights = v1.placeholder(tf.float32)
        loss = v1.losses.compute_weighted_loss(np.ones((3, 2, 4), np.float32), weights)
        assert session.run(loss, {weights: 2.0}) == 2
        assert session.run(loss, {weights: np.full((3, 1, 1), 4.0)}) == 4
        for bad in ((17.0,), np.ones((2, 4)), np.ones((3, 2, 4, 1)), np.ones((3, 2, 3))):
            with pytest.raises(tf.errors.InvalidArgumentError):
                session.run(loss, {weights: bad})


def test_losses_of_v1_have_their_names():
    with tf.Graph().as_default(), v1.Session() as session:
        one = [[1.0, 0.0]]
        assert v1.losses.sigmoid_cross_entropy(one, one).op.name == "sigmoid_cross_entropy_loss/value"
        assert v1.losses.softmax_cross_entropy(one, one, scope="mine").op.name == "mine/value"
        weights = tf.constant([[0.0], [1.0]])
        loss = v1.losses.sparse_softmax_cross_entropy([[0], [1]], tf.eye(2), weights)
        assert loss.op.name == "sparse_softmax_cross_entropy_loss/value"
        np.testing.assert_allclose(session.run(loss), np.log(1 + np.exp(-1)), rtol=1e-6)
        open_weights = v1.placeholder(tf.float32)
        loss = v1.losses.sparse_softmax_cross_entropy([0, 1], tf.eye(2), open_weights)
        np.testing.assert_allclose(session.run(loss, {open_weights: [[0.0], [1.0]]}), np.log(1 + np.exp(-1)), rtol=1e-6)


def test_numpys_dtypes():
    tnp = tf.experimental.numpy
    assert tnp.arange(3, dtype=int).dtype == tf.int64
    assert tnp.ones([2], dtype=complex).dtype == tf.complex128
    assert tnp.zeros_like([1, 2], dtype=float).dtype == tf.float64
    assert tnp.linspace(0.0, 1.0, 3).dtype == tf.float64
    assert tnp.sum([1, 2], dtype=float).dtype == tf.float64
    assert tnp.array(["a", "b"], dtype="S8").numpy().tolist() == [b"a", b"b"]
    assert tnp.array("ab", dtype="U8").numpy() == b"ab"
    with pytest.raises(ValueError):
        tnp.matmul(3, [1, 2])


def open_batch(f):
    """The sizes that are known of the result of `f`, traced for any number of [4, 6, 2]."""
    traced = tf.function(f, input_signature=[tf.TensorSpec([None, 4, 6, 2], tf.float32)])
    shape = traced.get_concrete_function().outputs[0].shape
    x = np.arange(3 * 4 * 6 * 2, dtype=np.float32).reshape(3, 4, 6, 2)
    assert shape.is_compatible_with(traced(x).shape)
    np.testing.assert_array_equal(traced(x).shape, f(tf.constant(x)).shape)
    return shape.as_list()


def sizes(x):
    return tf.unstack(tf.shape(x))


@pytest.mark.parametrize("f, known", [
    (lambda x: tf.nn.conv2d_transpose(x, tf.ones([3, 3, 5, 2]), [sizes(x)[0], 8, 12, 5], 2), [None, 8, 12, 5]),
    (lambda x: tf.nn.conv2d_transpose(x, tf.ones([3, 3, 5, 2]), tf.stack([tf.shape(x)[0], 2 * tf.shape(x)[1], 12, 5]), 2),
     [None, 8, 12, 5]),
    (lambda x: tf.nn.conv3d_transpose(x[:, None], tf.ones([1, 3, 3, 5, 2]), [tf.shape(x)[0], 1, 8, 12, 5], [1, 1, 2, 2, 1]),
     [None, 1, 8, 12, 5]),
    (lambda x: tf.tile(x, [tf.shape(x)[0], 1, 2, 1]), [None, 4, 12, 2]),
    (lambda x: tf.slice(x, [0, 1, 0, 0], [tf.shape(x)[0], 2, -1, 1]), [None, 2, None, 1]),
    (lambda x: tf.repeat(x, 2, axis=1), [None, 8, 6, 2]),
    (lambda x: tf.tensordot(x, tf.ones([2, 7]), 1), [None, 4, 6, 7]),
    (lambda x: tf.sort(x), [None, 4, 6, 2]),
    (lambda x: tf.reshape(x, [tf.shape(x)[0], tf.shape(x)[1] * tf.shape(x)[2], 2]), [None, 24, 2]),
    (lambda x: tf.reshape(x, [-1, (tf.shape(x)[1] + 2) // 2 - 1, 24]), [None, 2, 24]),
    (lambda x: tf.zeros(tf.shape(x) * [1, 2, 1, 3]), [None, 8, 6, 6]),
    (lambda x: tf.zeros(tf.gather(tf.shape(x), [3, 0, 1])), [2, None, 4]),
    (lambda x: tf.zeros(tf.shape(x)[1:2] - 4 + tf.shape(x)[:1]), [None]),
])
def test_sizes_are_known_though_the_batch_is_open(f, known):
    assert open_batch(f) == known


@pytest.mark.parametrize("axes", [0, 1, [[2], [0]], [[-1, 1], [0, -2]]])
def test_tensordot_of_any_rank(axes):
    a, b = np.arange(24, dtype="float32").reshape(2, 3, 4), np.arange(60, dtype="float32").reshape(4, 3, 5)
    want = np.tensordot(a, b, axes)
    f = tf.function(lambda a, b: tf.tensordot(a, b, axes), input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
    x = tf.Variable(a)
    found = []
    for product in (f, lambda a, b: tf.tensordot(a, b, axes)):
        with tf.GradientTape() as tape:
            y = product(x, b)
        np.testing.assert_allclose(y, want, rtol=1e-6)
        found.append(tape.gradient(y, x))
    np.testing.assert_allclose(*found, rtol=1e-6)


def test_tensordot_over_axes_that_are_fed():
    a, b = np.arange(24, dtype="float32").reshape(2, 3, 4), np.arange(60, dtype="float32").reshape(4, 3, 5)
    for known in (None, [2, 3, 4]):
        f = tf.function(tf.tensordot, input_signature=[tf.TensorSpec(known), tf.TensorSpec(None), tf.TensorSpec(None, tf.int32)])
        for axes in ([[2], [0]], [[-1, 1], [0, -2]]):
            np.testing.assert_allclose(f(a, b, axes), np.tensordot(a, b, axes), rtol=1e-6)
        for axes in (1, [1], [0, 1], [[1]], [[0, 1]], [[0], [7]]):
            with pytest.raises(tf.errors.InvalidArgumentError):
                f(a, b, axes)
