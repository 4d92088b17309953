"""Ops called with sparse tensors, and values that become constants of a graph."""
import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1
S = tf.SparseTensor([[0, 1], [2, 0]], [-4.0, 9.0], [3, 2])


@pytest.mark.parametrize("function", [
    tf.abs, tf.math.negative, tf.sign, tf.square, tf.math.erf, tf.tanh, tf.math.bessel_i0e, tf.math.bessel_i1e])
def test_elementwise_functions_keep_the_places(function):
    made = function(S)
    assert isinstance(made, tf.SparseTensor)
    np.testing.assert_allclose(made.values, function(S.values))
    assert made.indices.numpy().tolist() == [[0, 1], [2, 0]] and made.shape == (3, 2)
    assert isinstance(tf.function(function)(S), tf.SparseTensor)


def test_arguments_by_name_and_values():
    assert tf.sqrt(x=tf.abs(S)).values.numpy().tolist() == [2, 3]
    value = v1.SparseTensorValue([[0, 1]], [4.0], [2, 2])
    assert tf.size(value).numpy() == 4 and tf.rank(value).numpy() == 2 and tf.shape(value).numpy().tolist() == [2, 2]
    assert tf.size(S).numpy() == 6


def test_other_ops_still_refuse_sparse_tensors():
    for f in (tf.exp, tf.cos, lambda s: tf.reshape(s, [6])):
        with pytest.raises((TypeError, ValueError)):
            f(S)


def test_map_values_checks_the_places():
    assert tf.sparse.map_values(tf.add, S, S).values.numpy().tolist() == [-8, 18]
    others = (tf.SparseTensor([[0, 1], [2, 1]], [1.0, 1.0], [3, 2]), tf.SparseTensor(S.indices, S.values, [9, 9]))
    for other in others:
        with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
            tf.sparse.map_values(tf.add, S, other)
        with tf.Graph().as_default(), v1.Session() as session:
            with pytest.raises((tf.errors.InvalidArgumentError, ValueError)):
                session.run(tf.sparse.map_values(tf.add, *(
                    tf.SparseTensor(s.indices.numpy(), s.values.numpy(), s.dense_shape.numpy()) for s in (S, other))).values)


def test_part_of_a_sparse_shape():
    @tf.function(input_signature=[tf.TensorSpec([], tf.int64)])
    def f(n):
        made = tf.SparseTensor([[0, 2]], [1], [n, tf.constant(3, tf.int64)])
        assert made.shape.as_list() == [None, 3]
        return made.dense_shape

    assert f(5).numpy().tolist() == [5, 3]
    assert tf.sparse.to_dense(tf.sparse.eye(tf.constant(2), 3)).numpy().tolist() == [[1, 0, 0], [0, 1, 0]]


def test_a_value_becomes_a_constant_of_the_graph():
    with tf.Graph().as_default() as graph:
        for value in (np.ones(2, np.float32), [1.0, 2.0], 3):
            made = tf.convert_to_tensor(value)
            assert made.op.type == "Const" and made.graph is graph
        sparse = tf.SparseTensor([[0, 0]], [1.0], [2, 2])
        assert sparse.values.op.type == "Const" and sparse.indices.graph is graph


def test_sizes_of_v1_are_indices():
    x = tf.reshape(tf.range(6), [3, 2])
    assert x[: v1.Dimension(2)].shape == (2, 2) and x[v1.Dimension(None) :].shape == (3, 2)


def test_names_numpy_learns():
    assert np.zeros(2).astype("bfloat16").dtype == tf.bfloat16.as_numpy_dtype


def test_callables_among_eager_control_inputs_run():
    ran = []
    with tf.control_dependencies([lambda: ran.append(1), tf.constant(1)]):
        pass
    assert ran == [1]


def test_concat_offset_refuses_matrices_when_it_runs():
    with tf.Graph().as_default(), v1.Session() as session:
        offsets = tf.raw_ops.ConcatOffset(concat_dim=1, shape=[[[2, 3]], [[2, 7]]])
        with pytest.raises(tf.errors.InvalidArgumentError, match="should be a vector"):
            session.run(offsets)
