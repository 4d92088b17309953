"""Ops called with ragged tensors: what is elementwise, what joins and picks rows, and specs of ragged tensors."""
import numpy as np
import pytest

import evenflow as tf

R = tf.ragged.constant


def rows(x):
    return x.to_list()


@pytest.mark.parametrize("op, want", [
    (lambda x: tf.add(x, x), [[2, 4], [6]]),
    (lambda x: tf.add(x, 1), [[2, 3], [4]]),
    (lambda x: tf.add(x, [[10], [20]]), [[11, 12], [23]]),
    (lambda x: tf.maximum(2, x), [[2, 2], [3]]),
    (lambda x: tf.abs(-x), [[1, 2], [3]]),
    (lambda x: tf.square(x), [[1, 4], [9]]),
    (lambda x: tf.cast(x, tf.float32), [[1.0, 2.0], [3.0]]),
    (lambda x: tf.equal(x, 3), [[False, False], [True]]),
    (lambda x: tf.where(x > 1, x, -x), [[-1, 2], [3]]),
    (lambda x: tf.clip_by_value(x, 2, 2), [[2, 2], [2]]),
    (lambda x: tf.zeros_like(x), [[0, 0], [0]]),
    (lambda x: tf.add_n([x, x, x]), [[3, 6], [9]]),
    (lambda x: tf.divide(x, 2), [[0.5, 1.0], [1.5]]),
    (lambda x: tf.strings.join([tf.strings.as_string(x), tf.strings.as_string(x)]), [[b"11", b"22"], [b"33"]]),
    (lambda x: tf.strings.substr(tf.strings.as_string(x * 10), 1, 1), [[b"0", b"0"], [b"0"]]),
    (lambda x: tf.one_hot(x, 2, dtype=tf.int32), [[[0, 1], [0, 0]], [[0, 0]]]),
    (lambda x: tf.bitcast(input=x, type=tf.uint32), [[1, 2], [3]]),
])
def test_elementwise_ops_keep_the_rows(op, want):
    x = R([[1, 2], [3]])
    assert rows(op(x)) == want
    assert rows(tf.function(op)(x)) == want


def test_elementwise_ops_refuse_other_rows():
    with pytest.raises(tf.errors.InvalidArgumentError, match="differ in length"):
        tf.add(R([[1, 2], [3]]), R([[1], [2, 3]]))
    assert (R([[1, 2], [3]]) == R([[1], [2, 3]])) is False
    assert (R([[1, 2], [3]]) != R([[1], [2, 3]])) is True


@pytest.mark.parametrize("op, want", [
    (lambda x: tf.concat([x, x], 0), [[1, 2], [3], [1, 2], [3]]),
    (lambda x: tf.concat([x, [[7]]], axis=0), [[1, 2], [3], [7]]),
    (lambda x: tf.concat([x, -x], 1), [[1, 2, -1, -2], [3, -3]]),
    (lambda x: tf.concat([x, x], -1), [[1, 2, 1, 2], [3, 3]]),
    (lambda x: tf.stack([x, x]), [[[1, 2], [3]], [[1, 2], [3]]]),
    (lambda x: tf.stack([x, -x], axis=1), [[[1, 2], [-1, -2]], [[3], [-3]]]),
    (lambda x: tf.stack([x, -x], axis=2), [[[1, -1], [2, -2]], [[3, -3]]]),
    (lambda x: tf.expand_dims(x, 0), [[[1, 2], [3]]]),
    (lambda x: tf.expand_dims(x, 1), [[[1, 2]], [[3]]]),
    (lambda x: tf.expand_dims(x, -1), [[[1], [2]], [[3]]]),
    (lambda x: tf.squeeze(tf.expand_dims(x, 1), [1]), [[1, 2], [3]]),
    (lambda x: tf.tile(x, [2, 1]), [[1, 2], [3], [1, 2], [3]]),
    (lambda x: tf.tile(x, [1, 2]), [[1, 2, 1, 2], [3, 3]]),
    (lambda x: tf.tile(x, [0, 1]), []),
    (lambda x: tf.reverse(x, [0]), [[3], [1, 2]]),
    (lambda x: tf.reverse(x, [1]), [[2, 1], [3]]),
])
def test_ops_of_rows(op, want):
    x = R([[1, 2], [3]])
    assert rows(op(x)) == want
    assert rows(tf.function(op)(x)) == want


def test_rows_of_other_numbers_are_not_joined_side_by_side():
    with pytest.raises(tf.errors.InvalidArgumentError, match="different numbers of rows"):
        tf.concat([R([[1, 2], [3]]), R([[1]])], 1)
    with pytest.raises(ValueError, match="axis=3 out of bounds"):
        tf.concat([R([[1, 2], [3]]), R([[1]])], 3)


def test_measures_and_softmax():
    x = R([[[1], [2, 3]], [[4]]])
    assert int(tf.rank(x)) == 3 and int(tf.size(x)) == 4
    soft = tf.nn.softmax(R([[0.0, 0.0], [5.0]]))
    assert rows(soft) == [[0.5, 0.5], [1.0]]
    ids = R([[0, 1], [0]])
    assert tf.math.unsorted_segment_sum(R([[1, 2], [3]]), ids, 2).numpy().tolist() == [4, 2]
    kept = tf.RaggedTensor.from_uniform_row_length(R([[1, 2], [3]]), 2)
    assert int(tf.zeros_like(kept).uniform_row_length) == 2


@pytest.mark.parametrize("shape, index, axis, batch", [
    ([3, 4], [], 0, 0), ([3, 4], [2, 5], 0, 0), ([3, 4], [], 1, 0), ([3, 4], [2, 5], 1, 0), ([3, 4, 5], [2], 2, 0),
    ([3, 4, 5], [2, 2], -1, 0), ([4, 3], [4], 1, 1), ([4, 3], [4, 5, 2], 1, 1), ([4, 3, 2], [4, 5], 1, 1),
    ([4, 3, 5], [4, 3], 2, 2), ([4, 3, 5], [4, 3, 2], 2, 2), ([2, 3, 6], [2, 4], 2, 1), ([2, 3, 6], [2], 2, 1),
    ([2, 3, 4, 5], [2, 3, 2], 3, 2),
])
def test_gather_agrees_with_that_of_plain_tensors(shape, index, axis, batch):
    random = np.random.RandomState(1)
    params = random.randint(100, size=shape).astype(np.int32)
    indices = random.randint(shape[axis], size=index).astype(np.int32)
    want = tf.gather(params, indices, axis=axis, batch_dims=batch).numpy().tolist()
    every = [params] + [tf.RaggedTensor.from_tensor(params, ragged_rank=k) for k in range(1, len(shape))]
    by = [indices] + [tf.RaggedTensor.from_tensor(indices, ragged_rank=k) for k in range(1, len(index))]
    for p in every:
        for i in by:
            got = tf.gather(p, i, axis=axis, batch_dims=batch)
            assert (rows(got) if isinstance(got, tf.RaggedTensor) else got.numpy().tolist()) == want


def test_gather_of_uneven_rows():
    params, picks = R([["a", "b", "c"], [], ["d"]]), R([[2, 0], [], [0, 0]])
    assert rows(tf.gather(params, picks, batch_dims=1)) == [[b"c", b"a"], [], [b"d", b"d"]]
    assert rows(tf.gather(params, R([[2], [0, 1]]))) == [[[b"d"]], [[b"a", b"b", b"c"], []]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="out of range of its row"):
        tf.gather(params, R([[0], [0], [0]]), batch_dims=1)
    with pytest.raises(ValueError, match="batch_dims=1 must be less than or equal to axis=0"):
        tf.gather(params, picks, axis=0, batch_dims=1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="batch dimensions"):
        tf.gather(params, R([[0], []]), batch_dims=1)


def test_gather_has_a_gradient():
    x = tf.constant([1.0, 2.0, 3.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        params = tf.RaggedTensor.from_row_lengths(x, [2, 1])
        y = tf.reduce_sum(tf.gather(params, R([[1, 1], [0]]), batch_dims=1).flat_values)
    assert tf.convert_to_tensor(tape.gradient(y, x)).numpy().tolist() == [0.0, 2.0, 1.0]


def test_specs_without_ragged_dimensions_describe_tensors():
    plain = tf.RaggedTensorSpec([None], tf.int32, 0)
    assert plain.value_type is tf.Tensor
    assert plain.is_compatible_with(tf.constant([1, 2])) and not plain.is_compatible_with(tf.constant([1.0]))
    spec = tf.RaggedTensorSpec.from_value(R([[1, 2], [3]]))
    assert spec == tf.RaggedTensorSpec([2, None], tf.int32, 1)


def test_specs_tell_shapes_to_what_they_put_together():
    spec = tf.RaggedTensorSpec([2, None], tf.float32, 1)
    seen = []

    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None, tf.int64)])
    def f(values, splits):
        seen.append(spec._from_components([values, splits]).shape.as_list())

    f([1.0, 2.0], [0, 1, 2])
    assert seen == [[2, None]]


def test_partitions_are_kept_and_checked():
    lengths, ids = tf.constant([2, 1], tf.int64), tf.constant([0, 0, 1], tf.int64)
    assert tf.RaggedTensor.from_row_lengths([1, 2, 3], lengths, validate=False).row_lengths() is lengths
    assert tf.RaggedTensor.from_value_rowids([1, 2, 3], ids, validate=False).value_rowids() is ids
    with pytest.raises(ValueError, match="must have rank 1"):
        tf.RaggedTensor.from_value_rowids([1, 2, 3], [[0, 0, 1]])
    with pytest.raises(ValueError, match="same length"):
        tf.RaggedTensor.from_nested_value_rowids([1, 2], [[0, 1], [0, 1]], [2])
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.RaggedTensor.from_uniform_row_length([1, 2], -1, nrows=-2)


DIGITS = tf.ragged.constant([[3, 1, 4, 1], [], [5, 9, 2], [6], []])
NESTED = tf.ragged.constant([[[1, 2], [3]], [], [[4, 5, 6]]])


def test_mean_of_integers_is_a_fraction():
    np.testing.assert_allclose(tf.reduce_mean(DIGITS, axis=1), [2.25, np.nan, 16 / 3, 6, np.nan])
    np.testing.assert_allclose(tf.reduce_mean(DIGITS, axis=0), [14 / 3, 5, 3, 1])
    assert tf.reduce_mean(DIGITS).numpy() == 3.875 and tf.reduce_mean(DIGITS, axis=1).dtype == tf.float64
    assert tf.reduce_mean(tf.cast(DIGITS, tf.float32), axis=1).dtype == tf.float32


@pytest.mark.parametrize("axis, total, mean", [
    (0, [[5, 7, 6], [3]], [[2.5, 3.5, 6.0], [3.0]]),
    (1, [[4, 2], [], [4, 5, 6]], [[2.0, 2.0], [], [4.0, 5.0, 6.0]]),
    (2, [[3, 3], [], [15]], [[1.5, 3.0], [], [5.0]]),
])
def test_reduction_of_rows_of_rows(axis, total, mean):
    assert tf.reduce_sum(NESTED, axis=axis).to_list() == total
    assert tf.reduce_mean(NESTED, axis=axis).to_list() == mean
    traced = tf.function(lambda x: tf.reduce_sum(x, axis=axis, keepdims=True))(NESTED)
    assert traced.to_list() == tf.expand_dims(tf.reduce_sum(NESTED, axis=axis), axis).to_list()


def test_other_reductions_of_the_outermost_axis():
    assert tf.reduce_max(NESTED, axis=0).to_list() == [[4, 5, 6], [3]]
    assert tf.reduce_any(NESTED > 4, axis=0).to_list() == [[False, True, True], [False]]
    np.testing.assert_array_equal(tf.reduce_sum(NESTED, axis=[0, 1]), [8, 7, 6])


def test_variance_of_rows():
    x = tf.cast(DIGITS, tf.float32)
    np.testing.assert_allclose(tf.math.reduce_variance(x, axis=1), [1.6875, np.nan, 74 / 9, 0, np.nan], rtol=1e-5)
    np.testing.assert_allclose(tf.math.reduce_std(x, axis=1) ** 2, tf.math.reduce_variance(x, axis=1), rtol=1e-5)
    even = tf.ragged.constant([[0.1] * 3, [1.1] * 7, [123.4] * 9], dtype=tf.float32)
    assert (tf.math.reduce_std(even, axis=1).numpy() >= 0).all()  # never the root of a negative number
    assert tf.math.reduce_variance(NESTED, axis=1).to_list() == [[1.0, 0.0], [], [0.0, 0.0, 0.0]]


def test_strings_of_rows_are_joined():
    words = tf.ragged.constant([[["a", "b"], ["c"]], [], [["d", "e", "f"]]])
    assert tf.strings.reduce_join(words, axis=-1, separator="-").to_list() == [[b"a-b", b"c"], [], [b"d-e-f"]]
    assert tf.strings.reduce_join(words, axis=1, separator="-").to_list() == [[b"a-c", b"b"], [], [b"d", b"e", b"f"]]
    assert tf.strings.reduce_join(words, axis=0).to_list() == [[b"ad", b"be", b"f"], [b"c"]]
    assert tf.strings.reduce_join(words, separator=",").numpy() == b"a,b,c,d,e,f"
    rows = tf.ragged.constant([["x", "y"], []], dtype=tf.string)
    assert list(tf.function(lambda r: tf.strings.reduce_join(r, axis=1, separator=" "))(rows).numpy()) == [b"x y", b""]


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_ranges_over_more_than_half_of_the_numbers(dtype):
    step = dtype.max // 2 + 1
    low, high = tf.constant(dtype.min + 5, dtype), tf.constant(dtype.max - 5, dtype)
    up = [dtype.min + 5 + k * step for k in range(4)]
    assert tf.ragged.range(low, high, step).to_list() == [up]
    assert tf.ragged.range(high, low, tf.constant(-step, dtype)).to_list() == [[dtype.max - 5 - k * step for k in range(4)]]
    assert tf.ragged.range([high, low], low, step).to_list() == [[], []]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_ranges_of_floats_are_finite(dtype):
    inf, nan = float("inf"), float("nan")
    for limits in ([0, 5, 0], [0, inf, 1], [0, inf, inf], [nan, 1, 1], [0, nan, 1], [0, 1, nan], [5, 0, 0]):
        for f in (tf.ragged.range, tf.function(tf.ragged.range)):
            with pytest.raises(tf.errors.InvalidArgumentError, match="not 0, and finite"):
                f(*(tf.constant([1.0, x], dtype) for x in limits))
    assert tf.ragged.range(tf.constant([inf, 0.0], dtype), 1.0, 0.5).to_list() == [[], [0.0, 0.5]]


def test_ranges_of_different_lengths():
    with pytest.raises(tf.errors.InvalidArgumentError, match="same length"):
        tf.ragged.range([0], [1, 2])


def test_row_partitions_are_integer_vectors():
    assert tf.ragged.row_splits_to_segment_ids([1, 2, 4]).numpy().tolist() == [0, 1, 1]
    with pytest.raises(ValueError, match="Invalid row_splits"):
        tf.ragged.row_splits_to_segment_ids([])
    for f in (tf.ragged.row_splits_to_segment_ids, tf.ragged.segment_ids_to_row_splits):
        with pytest.raises(TypeError, match="must be of type integer"):
            f(tf.constant([0.5]))
        for x in (0, [[0]]):
            with pytest.raises(ValueError, match="must have rank 1"):
                f(x)


def test_masks_have_rows():
    for x in ([[1, 2]], tf.ragged.constant([[1, 2]])):
        with pytest.raises(ValueError, match="mask cannot be scalar"):
            tf.ragged.boolean_mask(x, True)
    with pytest.raises(ValueError, match="must be known statically"):
        tf.function(tf.ragged.boolean_mask, input_signature=[tf.TensorSpec([1, 2]), tf.TensorSpec(None, tf.bool)]).get_concrete_function()
