"""Counting in bins over dense, sparse and ragged numbers, and axes under other data formats."""
import numpy as np
import pytest

import evenflow as tf

raw = tf.raw_ops


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_ragged_numbers_by_row(dtype):
    x = tf.ragged.constant([[], [3, 0, 1], [5, 0, 4, 4]], dtype=dtype)
    rows = tf.math.bincount(x, axis=-1)
    assert rows.numpy().tolist() == [[0] * 6, [1, 1, 0, 1, 0, 0], [1, 0, 0, 0, 2, 1]]
    assert tf.math.bincount(x).numpy().tolist() == [2, 1, 0, 1, 2, 1]
    assert tf.math.bincount(x, axis=-1, binary_output=True, maxlength=5).numpy().tolist()[2] == [1, 0, 0, 0, 1]
    weights = tf.ragged.constant([[], [0.5, 1.0, 2.0], [1.0, 1.0, 0.25, 0.5]])
    made = tf.math.bincount(x, weights=weights, axis=-1)
    np.testing.assert_allclose(made, [[0] * 6, [1, 2, 0, 0.5, 0, 0], [1, 0, 0, 0, 0.75, 1]])


def test_sparse_numbers_by_row():
    x = tf.SparseTensor([[0, 1], [2, 0], [2, 3]], [2, 1, 1], [4, 5])
    assert tf.math.bincount(x, axis=-1).numpy().tolist() == [[0, 0, 1], [0, 0, 0], [0, 2, 0], [0, 0, 0]]
    assert tf.math.bincount(x).numpy().tolist() == [0, 2, 1]
    f = tf.function(lambda v: tf.math.bincount(tf.SparseTensor(x.indices, v, x.dense_shape), axis=-1, minlength=4))
    assert f(x.values).numpy().tolist()[2] == [0, 2, 0, 0]
    with pytest.raises(ValueError):
        tf.math.bincount(x, weights=[1.0, 2.0, 3.0])


def test_wrong_rows_are_refused():
    bad = tf.errors.InvalidArgumentError
    with pytest.raises(bad, match="out of bounds"):
        raw.SparseBincount(indices=[[-2]], values=[1], dense_shape=[3], size=2, weights=[1.0])
    with pytest.raises(bad, match="Splits must be non-empty"):
        raw.RaggedBincount(splits=np.zeros([0], np.int64), values=[1], size=1, weights=[1])
    for splits in ([1, 1], [0, 3, 1], [0, 2]):
        with pytest.raises(bad):
            raw.RaggedBincount(splits=splits, values=[1], size=1, weights=[1])
    with pytest.raises((bad, ValueError), match="rank 0"):
        raw.RaggedBincount(splits=[0, 1], values=[1], size=[1, 1], weights=[1])


def test_axes_of_another_data_format():
    assert raw.DataFormatDimMap(x=[0, 1, 2, 3, -1, -4]).numpy().tolist() == [0, 2, 3, 1, 1, 0]
    mapped = raw.DataFormatDimMap(x=tf.constant(-4, tf.int64), src_format="NDHWC", dst_format="NCDHW")
    assert mapped.dtype == tf.int64 and int(mapped) == 2
    assert raw.DataFormatVecPermute(x=[7, 4, 9, 3]).numpy().tolist() == [7, 3, 4, 9]
    assert raw.DataFormatVecPermute(x=[4, 9], dst_format="WHCN").numpy().tolist() == [9, 4]
    pairs = [[7, 4], [9, 3], [4, 5], [5, 1]]
    assert raw.DataFormatVecPermute(x=pairs, src_format="HWNC", dst_format="NHWC").numpy().tolist() == \
        [[4, 5], [7, 4], [9, 3], [5, 1]]
    bad = tf.errors.InvalidArgumentError
    for x, words in (([9], {}), ([0], {"src_format": "1233", "dst_format": "4321"}), ([0], {"src_format": "N"})):
        with pytest.raises(bad):
            raw.DataFormatDimMap(x=x, **words)
    for x, words in (([1, 2, 3], {}), ([[1], [2]], {}), ([1, 2], {"src_format": "1234", "dst_format": "4321"})):
        with pytest.raises(bad):
            raw.DataFormatVecPermute(x=x, **words)


def test_convolutions_of_v1():
    v1 = tf.compat.v1
    x, w = np.random.rand(2, 6, 5, 3).astype("f"), np.random.rand(3, 3, 3, 4).astype("f")
    whole = tf.nn.convolution(x, w, padding="SAME", dilations=2)
    np.testing.assert_allclose(v1.nn.convolution(x, w, "SAME", dilation_rate=[2, 2]), whole, rtol=1e-5)
    with tf.GradientTape() as tape:
        a, b = tf.constant(x), tf.constant(w)
        tape.watch([a, b])
        y = tf.nn.conv2d(a, b, [1, 2, 1, 1], [[0, 0], [1, 1], [0, 2], [0, 0]])
    da, db = tape.gradient(y, [a, b])
    common = {"strides": [1, 2, 1, 1], "padding": [[0, 0], [1, 1], [0, 2], [0, 0]]}
    np.testing.assert_allclose(v1.nn.conv2d_backprop_input(x.shape, w, tf.ones_like(y), **common), da, rtol=1e-5)
    np.testing.assert_allclose(v1.nn.conv2d_backprop_filter(x, w.shape, tf.ones_like(y), **common), db, rtol=1e-4)
    with tf.Graph().as_default():
        open_image = v1.placeholder(tf.float32, [None, None, None, 3])
        assert v1.nn.convolution(open_image, w, "SAME").shape.as_list() == [None, None, None, 4]


def test_dropout_keeps_the_shape_and_checks_the_rate():
    with tf.Graph().as_default():
        noise = tf.compat.v1.placeholder(tf.int32)
        assert tf.nn.dropout(tf.ones([4, 3]), 0.5, noise_shape=noise).shape.as_list() == [4, 3]
    for rate in (tf.constant(0.5, tf.float64), np.array(0.5), [0.5], 1.1):
        with pytest.raises(ValueError):
            tf.nn.dropout(tf.ones([4, 3]), rate)
    with pytest.raises(ValueError):
        tf.compat.v1.nn.dropout(tf.ones([4]), keep_prob=[0.0, 1.0])
