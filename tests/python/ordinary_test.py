"""Small things ordinary programs do: arrays read and stacked, ragged and sparse values in sessions, printing."""
import sys

import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1


def written(**kwargs):
    array = tf.TensorArray(tf.float32, size=3, **kwargs)
    for k in range(3):
        array = array.write(k, float(k + 1))
    return array


def test_stack_after_read_has_zeros_where_elements_were_cleared():
    array = written()
    assert float(array.read(1)) == 2.0
    np.testing.assert_array_equal(array.stack(), [1.0, 0.0, 3.0])
    np.testing.assert_array_equal(array.gather([2, 1]), [3.0, 0.0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="cleared after a previous read"):
        array.read(1)


def test_stack_after_read_of_an_array_that_is_kept():
    array = written(clear_after_read=False)
    assert float(array.read(1)) == float(array.read(1)) == 2.0
    np.testing.assert_array_equal(array.stack(), [1.0, 2.0, 3.0])


def test_element_written_again_after_it_was_cleared():
    array = written()
    array.read(1)
    array = array.write(1, 7.0)
    assert float(array.read(1)) == 7.0


def test_session_gives_ragged_values():
    with tf.Graph().as_default(), v1.Session() as session:
        ragged = tf.ragged.constant([[[1, 2], []], [[3]]])
        value = session.run(ragged)
        assert isinstance(value, v1.ragged.RaggedTensorValue)
        assert value.to_list() == [[[1, 2], []], [[3]]] and value.ragged_rank == 2 and value.shape == (2, None, None)
        both = session.run({"a": [ragged * 2], "b": tf.constant(1)})
        assert both["a"][0].to_list() == [[[2, 4], []], [[6]]] and both["b"] == 1


def test_session_feeds_ragged_values():
    with tf.Graph().as_default(), v1.Session() as session:
        place = v1.ragged.placeholder(tf.int32, 1)
        total = tf.reduce_sum(place, axis=1)
        for rows in ([[1, 2], [3]], [[], [4, 5, 6], [7]]):
            value = v1.ragged.constant_value(rows, dtype=np.int32)
            np.testing.assert_array_equal(session.run(total, {place: value}), [sum(r) for r in rows])


def test_ragged_value_as_text():
    value = v1.ragged.constant_value([[1, 2], [3]])
    assert str(value) == "<tf.RaggedTensorValue [[1, 2], [3]]>"
    assert repr(value) == "tf.RaggedTensorValue(values=array([1, 2, 3]), row_splits=array([0, 2, 3]))"
    with pytest.raises(TypeError, match="row_splits must be a 1D int32 or int64 numpy array"):
        v1.ragged.RaggedTensorValue([1, 2], [0, 2])


DENSE = np.array([[0.0, -1.0, 0.0], [2.0, 0.0, 3.0]], np.float32)
SPARSE = v1.SparseTensorValue(np.argwhere(DENSE), DENSE[DENSE != 0], DENSE.shape)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, [0], [0, 1], [-2]])
@pytest.mark.parametrize("keepdims", [False, True])
def test_sparse_placeholder_of_unknown_rank_is_reduced(axis, keepdims):
    numpy_axis = tuple(axis) if isinstance(axis, list) else axis
    with tf.Graph().as_default(), v1.Session() as session:
        place = v1.sparse_placeholder(tf.float32)
        result = session.run(tf.sparse.reduce_sum(place, axis=axis, keepdims=keepdims), {place: SPARSE})
    np.testing.assert_allclose(result, DENSE.sum(numpy_axis, keepdims=keepdims))


def test_sparse_reduction_refuses_an_axis_the_value_does_not_have():
    with tf.Graph().as_default(), v1.Session() as session:
        place = v1.sparse_placeholder(tf.float32)
        total = tf.sparse.reduce_sum(place, axis=2)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Invalid reduction dimension"):
            session.run(total, {place: SPARSE})


@pytest.mark.parametrize("text", ["Buzz", "", "two words", "{}", "100%"])
def test_a_single_string_is_printed_without_quotes(capfd, text):
    tf.print(text, output_stream=sys.stdout)
    tf.print(tf.constant(text), output_stream=sys.stdout)

    @tf.function
    def show(value):
        tf.print(value, output_stream=sys.stdout)

    show(tf.constant(text))
    assert capfd.readouterr().out == 3 * (text + "\n")


def test_numpy_functions_take_variables():
    tnp = tf.experimental.numpy
    v = tf.Variable([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(tnp.take(v, [0, 2]), [1.0, 3.0])
    np.testing.assert_array_equal(tnp.concatenate([v, v]), [1, 2, 3, 1, 2, 3])
    np.testing.assert_array_equal(tnp.sum(v), 6.0)
