"""Sparse tensors: to and from dense, order, sums and extremes, eagerly and in functions."""
import numpy as np
import pytest

import evenflow as tf

A = np.array([[0, 1, 0], [2, 0, 0]], np.float32)
B = np.array([[0, -1, 0], [0, 0, 5]], np.float32)


def dense(sp):
    return tf.sparse.to_dense(sp).numpy()


@pytest.fixture(params=[False, True], ids=["eager", "function"])
def run(request):
    """Calls a function of sparse tensors as it is, or traced."""
    def call(f):
        return tf.function(f, autograph=False)() if request.param else f()
    return call


def test_there_and_back(run):
    def both():
        sp = tf.sparse.from_dense(A)
        return sp.indices, sp.values, tf.sparse.to_dense(sp)
    indices, values, back = run(both)
    assert indices.numpy().tolist() == [[0, 1], [1, 0]] and values.numpy().tolist() == [1, 2]
    assert (back.numpy() == A).all()


def test_default_value():
    sp = tf.SparseTensor([[0], [2]], [1, 2], [4])
    assert tf.sparse.to_dense(sp, default_value=-1).numpy().tolist() == [1, -1, 2, -1]


@pytest.mark.parametrize("name,expected", [
    ("add", [0, 2, 5]), ("maximum", [1, 2, 5]), ("minimum", [-1, 0, 0])])
def test_two(run, name, expected):
    def combined():
        sp = getattr(tf.sparse, name)(tf.sparse.from_dense(A), tf.sparse.from_dense(B))
        return sp.indices, sp.values
    indices, values = run(combined)
    assert indices.numpy().tolist() == [[0, 1], [1, 0], [1, 2]]
    assert values.numpy().tolist() == expected


def test_add_threshold_and_dense():
    a, b = tf.sparse.from_dense(A), tf.sparse.from_dense(B)
    assert tf.sparse.add(a, b, threshold=1.5).values.numpy().tolist() == [2, 5]
    assert (tf.sparse.add(a, tf.ones([2, 3])).numpy() == A + 1).all()
    with pytest.raises(TypeError, match="SparseTensor"):
        tf.sparse.add(tf.ones([1]), tf.ones([1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="do not match"):
        tf.sparse.add(a, tf.SparseTensor([[0, 1]], [1.0], [2, 4]))


def test_order(run):
    wrong = tf.SparseTensor([[1, 0], [0, 1]], [2.0, 1.0], [2, 3])
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of order"):
        run(lambda: tf.sparse.to_dense(wrong))
    assert (dense(tf.sparse.reorder(wrong)) == A).all()


def test_outside(run):
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(lambda: tf.sparse.to_dense(tf.SparseTensor([[2, 0]], [1.0], [2, 3])))


def test_filled_rows_keep_the_order_of_their_elements():
    x = tf.SparseTensor([[2, 3], [2, 2], [0, 1], [0, 3], [0, 1]], [1, 3, 2, 4, 5], [3, 5])
    for fill in (tf.sparse.fill_empty_rows, tf.function(tf.sparse.fill_empty_rows)):
        full, empty = fill(x, -1)
        assert full.indices.numpy().tolist() == [[0, 1], [0, 3], [0, 1], [1, 0], [2, 3], [2, 2]]
        assert full.values.numpy().tolist() == [2, 4, 5, -1, 1, 3] and empty.numpy().tolist() == [False, True, False]


def test_assert_shapes_of_sparse_tensors():
    x = tf.SparseTensor([[0, 1]], [1.0], [3, 5])
    check = tf.debugging.assert_shapes
    check([(x, ("n", 5)), (tf.zeros([3]), ("n",))])
    for shapes in ([(x, ("n", "n"))], [(x, (3, 4))], [(x, (3,))], [(x, ("n", 5)), (tf.zeros([4]), ("n",))]):
        with pytest.raises(ValueError):
            check(shapes)

    @tf.function(input_signature=[tf.SparseTensorSpec([None, 5]), tf.TensorSpec([None])])
    def f(x, y):
        check([(x, ("n", "m")), (y, ("n",))])
        return y

    assert f(x, tf.zeros([3])).shape == [3]
    with pytest.raises(tf.errors.InvalidArgumentError):
        f(x, tf.zeros([4]))
