"""Sparse and ragged tensors, and their specs, as arguments of functions: what a trace knows of them, and how many there are."""
import numpy as np
import pytest

import evenflow as tf


def sparse(n, size=50):
    where = np.arange(n, dtype=np.int64)
    return tf.SparseTensor(np.stack([where, where], 1), np.ones(n, np.float32), [size, size])


def test_number_of_sparse_values_makes_no_trace():
    seen = []

    @tf.function
    def total(x):
        seen.append((x.shape.as_list(), x.values.shape.as_list(), x.indices.shape.as_list()))
        return tf.sparse.reduce_sum(x)

    assert [float(total(sparse(n))) for n in (1, 2, 5, 0)] == [1, 2, 5, 0]
    assert seen == [([50, 50], [None], [None, 2])]
    total(sparse(3, 4))
    assert len(seen) == 2 and seen[1][0] == [4, 4]  # the shape of the whole is known


def test_lengths_of_rows_make_no_trace():
    seen = []

    @tf.function
    def sums(x):
        seen.append((x.shape.as_list(), x.flat_values.shape.as_list()))
        return tf.reduce_sum(x, axis=-1)

    for rows in ([[1], [2, 3]], [[1, 2], []], [[], [1, 2, 3]]):
        np.testing.assert_array_equal(sums(tf.ragged.constant(rows, dtype=tf.int32)), [sum(r) for r in rows])
    assert seen == [([2, None], [None])]
    for rows in ([[[1], [2, 3]], []], [[[1]], [[2], []]]):
        assert sums(tf.ragged.constant(rows)).to_list() == [[sum(r) for r in row] for row in rows]
    assert seen[1:] == [([2, None, None], [None])]


def test_gradient_through_values_of_changing_number():
    @tf.function
    def total(x, w):
        return tf.reduce_sum(tf.sparse.sparse_dense_matmul(x, w))

    w = tf.Variable(tf.ones([50, 2]))
    for n in (3, 1, 4):
        with tf.GradientTape() as tape:
            y = total(sparse(n), w)
        np.testing.assert_array_equal(tape.gradient(y, w)[:, 0], [1] * n + [0] * (50 - n))


def test_concrete_functions_of_specs():
    traced = tf.function(lambda x: tf.sparse.to_dense(x))
    concrete = traced.get_concrete_function(tf.SparseTensorSpec([2, 2], tf.float32))
    assert "x (POSITIONAL_OR_KEYWORD): SparseTensorSpec(TensorShape([2, 2]), tf.float32)" in str(concrete)
    np.testing.assert_array_equal(concrete(sparse(2, 2)), np.eye(2))
    np.testing.assert_array_equal(traced(sparse(1, 2)), [[1, 0], [0, 0]])
    assert traced.experimental_get_tracing_count() == 1

    rows = tf.function(lambda x: tf.reduce_sum(x, axis=1))
    concrete = rows.get_concrete_function(tf.RaggedTensorSpec([None, None], tf.int32))
    assert concrete.output_shapes.as_list() == [None]
    np.testing.assert_array_equal(concrete(tf.ragged.constant([[1], [2, 3], []], dtype=tf.int32)), [1, 5, 0])
    np.testing.assert_array_equal(rows(tf.ragged.constant([[4, 5]])), [9])
    assert rows.experimental_get_tracing_count() == 1


def test_signature_says_what_is_known():
    seen = []

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 3], tf.float32)])
    def sums(x):
        seen.append(x.shape.as_list())
        return tf.sparse.reduce_sum(x, 1)

    for rows in ([[1.0, 2.0, 3.0]], [[1.0, 0.0, 0.0], [0.0, 0.0, 4.0]]):
        np.testing.assert_array_equal(sums(tf.sparse.from_dense(rows)), np.sum(rows, 1))
    assert seen == [[None, 3]]


@pytest.mark.parametrize("spec, value", [
    (tf.SparseTensorSpec([None, 3], tf.float32), tf.eye(3)),
    (tf.SparseTensorSpec([None, 3], tf.float32), tf.sparse.from_dense([[1, 2, 3]])),
    (tf.RaggedTensorSpec([None, None], tf.int32), tf.constant([[1]])),
    (tf.RaggedTensorSpec([None, None], tf.int32), tf.ragged.constant([[1.0], []])),
    (tf.RaggedTensorSpec([None, None], tf.int32), tf.ragged.constant([[[1]], []])),
])
def test_values_that_do_not_fit_a_signature(spec, value):
    with pytest.raises(TypeError, match="Binding inputs to tf.function failed"):
        tf.function(lambda x: x, input_signature=[spec])(value)
