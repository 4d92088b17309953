"""Rules of TensorFlow's that random calls beside it have shown: what is refused, by which class, and what is answered."""
import evenflow as tf
import numpy as np
import pytest

errors = tf.errors
image = tf.reshape(tf.range(24.0), [1, 4, 3, 2])
matrix = tf.constant([[1.0, 2.0], [3.0, 4.0]])
sparse = tf.SparseTensor([[0, 0], [1, 2]], [1, 2], [2, 3])


@pytest.mark.parametrize("call, kind", [
    (lambda: tf.nn.conv2d(image, tf.ones([1, 1, 2, 1]), 1, "EXPLICIT"), ValueError),
    (lambda: tf.nn.conv3d(tf.ones([1, 2, 2, 2, 1]), tf.ones([1, 1, 1, 1, 1]), [1, 1, 1], "SAME"), errors.InvalidArgumentError),
    (lambda: tf.nn.depthwise_conv2d(image, tf.ones([1, 1, 2, 1]), 1, "SAME"), TypeError),
    (lambda: tf.nn.pool(image, [2], "MAX"), ValueError),
    (lambda: tf.nn.leaky_relu(matrix, tf.constant(0.3)), TypeError),
    (lambda: tf.random.normal(2), errors.InvalidArgumentError),
    (lambda: tf.random.normal([2], dtype=tf.int32), TypeError),
    (lambda: tf.squeeze(tf.ones([1, 1]), tf.constant([0])), TypeError),
    (lambda: tf.nn.moments(matrix, np.array([0])), TypeError),
    (lambda: tf.reverse_sequence(matrix, [1, 2]), TypeError),
    (lambda: tf.reverse_sequence(matrix, [1, 2], seq_axis=1, batch_axis=-2), errors.InvalidArgumentError),
    (lambda: tf.strided_slice(matrix, [0], [1], ellipsis_mask=6), errors.InvalidArgumentError),
    (lambda: tf.math.argmax(matrix, np.int64(0)), TypeError),
    (lambda: tf.norm(matrix, axis=np.int64(0)), ValueError),
    (lambda: tf.boolean_mask(matrix, [True, False], axis=-1), ValueError),
    (lambda: tf.repeat(matrix, 2, axis=np.int32(0)), TypeError),
    (lambda: tf.scan(lambda s, e: s, tf.constant(1.0)), IndexError),
    (lambda: tf.cond([True, False], lambda: 1, lambda: 2), ValueError),
    (lambda: tf.while_loop(lambda i, j: i < 2, lambda i, j: (i + 1, j), [0, 0], maximum_iterations=3), TypeError),
    (lambda: tf.sparse.concat(5, [sparse, sparse]), errors.InvalidArgumentError),
    (lambda: tf.sparse.retain(sparse, [True]), ValueError),
    (lambda: tf.raw_ops.ComplexAbs(x=tf.constant(1j, tf.complex128)), errors.InvalidArgumentError),
    (lambda: tf.function(lambda: tf.reduce_sum(matrix, [[0]]))(), ValueError),
    (lambda: tf.strings.upper(tf.constant([], tf.string), encoding="no"), errors.InvalidArgumentError),
    (lambda: tf.debugging.assert_greater(tf.constant(3, tf.uint8), 2), errors.InvalidArgumentError),
    (lambda: tf.unravel_index([[1]], [2, 3]), errors.InvalidArgumentError),
    (lambda: tf.unravel_index(1, [[2, 3]]), errors.InvalidArgumentError),
    (lambda: tf.unravel_index([6], [2, 3]), errors.InvalidArgumentError),
    (lambda: tf.unravel_index([1], [2, 0]), errors.InvalidArgumentError),
    (lambda: tf.unravel_index([1], [-2, -3]), errors.InvalidArgumentError),
    (lambda: tf.unravel_index([1], [2147483647, 2]), errors.InvalidArgumentError),
])
def test_refusals(call, kind):
    with pytest.raises(kind):
        call()


@pytest.mark.parametrize("call, value", [
    (lambda: tf.nn.max_pool2d(image, 6, 2, "VALID"), np.zeros([1, 0, 0, 2])),
    (lambda: tf.image.per_image_standardization(tf.constant([[[0], [1]], [[2], [3]]], tf.uint8))[:, :, 0],
     [[-1.3416408, -0.4472136], [0.4472136, 1.3416408]]),
    (lambda: tf.histogram_fixed_width([-0.2], [-1.0, 1.0])[39], 1),
    (lambda: tf.unravel_index(-1, [2, 3]), [0, -1]),
    (lambda: tf.raw_ops.UnravelIndex(indices=tf.constant([0, 5], tf.int64), dims=tf.constant([2, 3], tf.int64)), [[0, 1], [0, 2]]),
    (lambda: tf.size(matrix, tf.float32), 4.0),
    (lambda: tf.get_static_value(3), 3),
    (lambda: tf.foldl(lambda s, e: s + e, tf.constant([1.0, 2.0]), initializer=0), 3.0),
    (lambda: tf.gather(matrix, [[1], [0]], axis=tf.constant(0), batch_dims=1), [[[3.0, 4.0]], [[1.0, 2.0]]]),
    (lambda: tf.scatter_nd(np.array([[1]]), [5], tf.constant([3])), [0, 5, 0]),
    (lambda: tf.nn.compute_average_loss(tf.constant([[1, 2]])), 3.0),
    (lambda: (sparse / 2).values, [0.5, 1.0]),
    (lambda: tf.reverse(tf.constant(1), 0), 1),
    (lambda: tf.nn.weighted_moments([1.0, 2.0], [0], [0.0, 0.0])[0], 0.0),
    (lambda: tf.case([(tf.constant(True), lambda: 1), (tf.constant(True), lambda: 2)], exclusive=True), 1),
    (lambda: tf.random.stateless_uniform([2], [1.5, 2], alg="philox"), tf.random.stateless_uniform([2], [1, 2])),
    (lambda: tf.quantization.fake_quant_with_min_max_vars([float("nan"), 1.0], -3, 3), [float("nan"), 0.9882353]),
])
def test_answers(call, value):
    np.testing.assert_allclose(call(), value, rtol=1e-6)


def test_a_slice_takes_a_value_with_more_dimensions_of_one():
    v = tf.Variable(matrix)
    v[0, 0].assign([[9.0]])
    v[1].assign([[5.0, 6.0]])
    np.testing.assert_array_equal(v, [[9, 2], [5, 6]])


def test_a_check_that_holds_is_an_op_in_a_graph():
    @tf.function
    def f(x):
        assert tf.debugging.assert_rank(x, 2) is not None
        assert tf.debugging.assert_shapes([(x, ("n", "m"))]) is None
        return x

    assert tf.debugging.assert_rank(matrix, 2) is None
    f(matrix)


def test_resize_with_pad_of_open_sizes():
    f = tf.function(lambda x: tf.image.resize_with_pad(x, 3, 5), input_signature=[tf.TensorSpec([None, None, None, 2])])
    np.testing.assert_allclose(f(image), tf.image.resize_with_pad(image, 3, 5), rtol=1e-6)
