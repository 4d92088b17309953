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
