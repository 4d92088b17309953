"""What functions say to arguments that do not fit, and to those that are seldom given."""
import numpy as np
import pytest

import evenflow as tf

c = tf.constant
INVALID = tf.errors.InvalidArgumentError


def both(call, eager, graph=None):
    """The call raises `eager` at once and `graph` (the same) in a function."""
    with pytest.raises(eager):
        call()
    with pytest.raises(graph or eager):
        tf.function(call, autograph=False)()


@pytest.mark.parametrize("make", [
    tf.random.uniform, tf.random.normal, tf.random.truncated_normal, lambda s: tf.random.gamma(s, 1.0),
    lambda s: tf.random.poisson(s, 1.0), lambda s: tf.random.stateless_uniform(s, [1, 2]),
    lambda s: tf.random.stateless_normal(s, [1, 2]), lambda s: tf.random.stateless_binomial(s, [1, 2], 1.0, 0.5),
    lambda s: tf.random.Generator.from_seed(1).normal(s)])
def test_random_shapes_are_vectors(make):
    assert make([3]).shape == [3] and make((2, 1)).shape == [2, 1] and make(tf.TensorShape([2])).shape == [2]
    with pytest.raises(INVALID):
        make(3)
    with pytest.raises(INVALID):
        make([[3]])


def test_random_shapes_are_integers():
    both(lambda: tf.random.uniform([3.0]), INVALID, TypeError)
    both(lambda: tf.random.stateless_uniform([3.0], [1, 2]), INVALID, TypeError)


def test_normal_numbers_are_floats():
    for dtype in tf.int32, tf.bool, tf.string:
        both(lambda: tf.random.normal([2], dtype=dtype), TypeError)
        both(lambda: tf.random.stateless_normal([2], [1, 2], dtype=dtype), TypeError)
    both(lambda: tf.random.normal([2], 0, 1, tf.int32), INVALID, TypeError)


def test_generator_uniform_of_whole_dtype():
    one, two = (tf.random.Generator.from_seed(9) for _ in range(2))
    assert (one.uniform([3], None, None, tf.uint32) == two.uniform_full_int([3], tf.uint32)).numpy().all()
    with pytest.raises(ValueError):
        one.uniform([3], dtype=tf.int32)
    assert one.state.name == "StateVar:0"


def test_average_loss_weighs_examples():
    loss = c([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    for weight in [1.0, 2.0], [[1.0], [2.0]]:
        assert tf.nn.compute_average_loss(loss, weight).numpy() == 18.0
    assert tf.nn.compute_average_loss(c([1.0, 2.0]), [[1.0], [2.0]]).numpy() == 2.5
    both(lambda: tf.nn.compute_average_loss(loss, [1.0, 2.0, 3.0]), INVALID, ValueError)


def test_losses():
    x = c([[1.0, 2.0], [0.5, 3.0]])
    both(lambda: tf.nn.softmax_cross_entropy_with_logits(x, x, axis=5), INVALID, ValueError)
    both(lambda: tf.nn.softmax_cross_entropy_with_logits(x, x, axis=-2), INVALID, ValueError)
    both(lambda: tf.nn.weighted_cross_entropy_with_logits(x, x, [1.0, 2.0]), TypeError)
    both(lambda: tf.nn.softmax(x, axis=0.0), INVALID, TypeError)


def test_windows():
    x = tf.ones([1, 4, 4, 1])
    both(lambda: tf.nn.pool(x, [2], "MAX"), ValueError)
    both(lambda: tf.nn.avg_pool2d(x, 2, 2, [[0, 0], [1, 1], [1, 1], [0, 0]]), TypeError)
    both(lambda: tf.nn.atrous_conv2d(x, tf.ones([2, 2, 1, 1]), 0, "SAME"), ValueError)


def test_axes_and_ranges():
    both(lambda: tf.argmax(c([[1.0]]), [0]), TypeError)
    both(lambda: tf.argmin(c([[1.0]]), [0]), INVALID, ValueError)
    both(lambda: tf.range(c(3, tf.int8)), AssertionError)
    both(lambda: tf.cond(None, lambda: 1, lambda: 2), ValueError)
    assert tf.histogram_fixed_width_bins([1.0, 9.0], [0.0, 10.0], 5, tf.int64).dtype == tf.int32
    assert tf.saturate_cast(c([-1.0, 2.0], tf.bfloat16), tf.uint64).numpy().tolist() == [0, 2]


def test_tensor_array_split_of_uneven_pieces():
    pieces = tf.TensorArray(tf.float32, 3).split(c([1.0, 2.0, 3.0, 4.0]), [1, 2, 1])
    assert pieces.concat().numpy().tolist() == [1.0, 2.0, 3.0, 4.0]


def test_vectorized_map_under_a_tape():
    x = c([[1.0, 2.0], [3.0, 5.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.vectorized_map(lambda row: row * row, x, fallback_to_while_loop=False)
    assert tape.gradient(y, x).numpy().tolist() == [[2.0, 4.0], [6.0, 10.0]]


def test_safe_embedding_lookup():
    table = c([[1.0, 10.0], [2.0, 20.0], [3.0, 30.0]])
    ids = tf.SparseTensor([[0, 0], [0, 1], [1, 0], [3, 1]], c([0, 2, -1, 1], tf.int64), [4, 2])
    weights = tf.SparseTensor(ids.indices, [1.0, 3.0, 1.0, -2.0], ids.dense_shape)
    look = tf.nn.safe_embedding_lookup_sparse
    np.testing.assert_allclose(look(table, ids), [[2, 20], [0, 0], [0, 0], [2, 20]])
    np.testing.assert_allclose(look(table, ids, default_id=2), [[2, 20], [3, 30], [3, 30], [2, 20]])
    np.testing.assert_allclose(look(table, ids, weights), [[2.5, 25], [0, 0], [0, 0], [0, 0]])
    np.testing.assert_allclose(look(table, ids, weights, "sum"), [[10, 100], [0, 0], [0, 0], [-4, -40]])
    cube = tf.SparseTensor([[0, 1, 0], [1, 0, 1]], c([1, 2], tf.int64), [2, 2, 2])
    np.testing.assert_allclose(look([table], cube), [[[0, 0], [2, 20]], [[3, 30], [0, 0]]])
    ragged = tf.ragged.constant([[0, 2], [1]], dtype=tf.int64)
    np.testing.assert_allclose(tf.function(look)(table, ragged), [[2, 20], [2, 20]])
    with pytest.raises(ValueError):
        look([], ids)


def test_clipping():
    x = c([[3.0, 4.0], [0.3, 0.4]])
    assert tf.clip_by_norm(x, -1.0).numpy().tolist() == [[0.0, 0.0], [0.0, 0.0]]
    np.testing.assert_allclose(tf.clip_by_norm(x, c([[1.0], [1.0]], tf.float64), axes=1), [[0.6, 0.8], [0.3, 0.4]], 1e-6)
    both(lambda: tf.clip_by_norm(x[0], c([[1.0], [2.0]])), ValueError)
    both(lambda: tf.clip_by_global_norm(x, 1.0), TypeError)
    both(lambda: tf.linalg.global_norm(x), TypeError)


def test_gradients_of_masks_are_dense():
    x = c([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.boolean_mask(x, [True, False])
    assert isinstance(tape.gradient(y, x), tf.Tensor)


def test_output_gradients_are_broadcast():
    x = c([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * x
    assert tape.gradient(y, x, output_gradients=[3.0]).numpy().tolist() == [6.0, 12.0]
    with pytest.raises(INVALID):
        tape.gradient(y, x, output_gradients=tf.ones([5]))
    with pytest.raises(ValueError):
        tape.batch_jacobian(x[:, None] * x[None], x)


def test_short_rows_with_nan_are_sorted_as_in_tensorflow():
    row = c([np.nan, 1.0, np.inf, -np.inf, np.nan, 2.0])
    assert tf.argsort(row).numpy().tolist() == [0, 3, 1, 2, 4, 5]
    assert tf.argsort(c([5.0, 1.0, np.nan, 3.0])).numpy().tolist() == [1, 0, 2, 3]
    assert tf.argsort(c([2, 1, 2**31 - 1])).numpy().tolist() == [1, 0, 2]


def test_shapes_asserted_in_graphs():
    @tf.function(autograph=False, input_signature=[tf.TensorSpec([None, None])])
    def square(x):
        return tf.debugging.assert_shapes([(x, ("n", "n"))])

    assert square(tf.ones([2, 2])) is None
    with pytest.raises(INVALID):
        square(tf.ones([2, 3]))


def test_sequences_are_padded_by_words():
    x, k = tf.ones([1, 4, 1]), tf.ones([2, 1, 1])
    both(lambda: tf.nn.conv1d(x, k, 1, [[0, 0], [1, 1], [0, 0]]), TypeError)
    both(lambda: tf.nn.convolution(x, k, padding=[[0, 0], [1, 1], [0, 0]]), TypeError)
    both(lambda: tf.nn.conv1d(x, k, 1, "SAME", "NHC"), ValueError)
