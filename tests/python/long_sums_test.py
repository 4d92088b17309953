"""Sums of many float32 keep the digits that numpy keeps, which adds in blocks; one after the other would lose them."""
import numpy as np
import pytest

import evenflow as tf

N = 2_000_000


def relative(got, want):
    return abs(float(got) - float(want)) / abs(float(want))


@pytest.fixture(scope="module", params=["0.1", "random"])
def numbers(request):
    if request.param == "0.1":  # adding these one by one errs on the same side each time
        return np.full(N, 0.1, np.float32)
    return np.random.default_rng(0).random(N, np.float32)


WAYS = {
    "tensordot": lambda x: tf.tensordot(x, x, 1),
    "row by column": lambda x: tf.matmul(x[None], x[:, None])[0, 0],
    "row by transposed row": lambda x: tf.matmul(x[None], x[None], transpose_b=True)[0, 0],
    "transposed columns": lambda x: tf.matmul(x[:, None], x[:, None], transpose_a=True)[0, 0],
    "row by two columns": lambda x: tf.matmul(x[None], tf.stack([x, x], 1))[0, 1],
    "ten rows by a column": lambda x: tf.matmul(tf.stack([x] * 10), x[:, None])[9, 0],
    "ten rows by ten columns": lambda x: tf.matmul(tf.stack([x] * 10), tf.stack([x] * 10, 1))[9, 0],
    "einsum": lambda x: tf.einsum("i,i->", x, x),
    "reduce_sum": lambda x: tf.reduce_sum(x * x),
    "reduce_mean": lambda x: tf.reduce_mean(x * x) * N,
    "columns": lambda x: tf.reduce_sum(tf.reduce_sum(tf.reshape(x * x, [-1, 8]), 0)),
    "l2_loss": lambda x: tf.nn.l2_loss(x) * 2,
    "function": lambda x: tf.function(lambda y: tf.tensordot(y, y, 1))(x),
}


@pytest.mark.parametrize("way", WAYS)
def test_squares(numbers, way):
    want = (numbers.astype("float64") ** 2).sum()
    assert relative(WAYS[way](tf.constant(numbers)), want) < 5e-5


def test_gradients_sum_in_blocks(numbers):
    x = tf.constant(numbers[None, :, None])
    w, b = tf.Variable(tf.ones([3, 1, 1])), tf.Variable(tf.zeros([2]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.conv1d(x, w, 1, "SAME"))
        loss += tf.reduce_sum(tf.nn.bias_add(tf.reshape(x, [-1, 2]), b) * tf.reshape(x, [-1, 2]))
    dw, db = tape.gradient(loss, [w, b])
    exact = numbers.astype("float64")
    assert relative(dw[1, 0, 0], exact.sum()) < 5e-5
    assert relative(db[0], exact[::2].sum()) < 5e-5


def test_depthwise_filter_gradient(numbers):
    x = tf.constant(numbers.reshape(8, 250, 500, 2))
    w = tf.Variable(tf.ones([1, 1, 2, 1]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"))
    exact = numbers.astype("float64").reshape(-1, 2).sum(0)
    assert relative(tape.gradient(loss, w)[0, 0, 0, 0], exact[0]) < 1e-4


def test_ones_are_counted():
    x = tf.ones([20_000_000])  # more than 2 ** 24, where adding one no longer changes a float32
    assert float(tf.tensordot(x, x, 1)) == 20_000_000
    assert float(tf.reduce_sum(x)) == 20_000_000
