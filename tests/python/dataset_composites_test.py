"""Datasets of sparse and ragged tensors."""
import numpy as np

import evenflow as tf


def test_rows_of_sparse_tensors():
    whole = tf.sparse.from_dense([[[1, 0], [0, 2]], [[0, 0], [3, 0]]])
    dataset = tf.data.Dataset.from_tensor_slices((tf.constant([7, 8]), whole))
    assert dataset.element_spec[1] == tf.SparseTensorSpec([2, 2], tf.int32)
    rows = list(dataset)
    assert [int(n) for n, _ in rows] == [7, 8]
    assert [tf.sparse.to_dense(s).numpy().tolist() for _, s in rows] == [[[1, 0], [0, 2]], [[0, 0], [3, 0]]]


def test_rows_of_values():
    value = tf.compat.v1.SparseTensorValue(np.array([[0], [2]]), np.array([5, 6]), np.array([3]))
    rows = [tf.sparse.to_dense(s).numpy().tolist() for s in tf.data.Dataset.from_tensor_slices(value)]
    assert rows == [5, 0, 6]
    ragged = tf.compat.v1.ragged.RaggedTensorValue(np.array([1, 2, 3]), np.array([0, 2, 3]))
    assert [r.numpy().tolist() for r in tf.data.Dataset.from_tensor_slices(ragged)] == [[1, 2], [3]]
