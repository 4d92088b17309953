"""The sparse cross-entropy: eagerly its gradient is computed only where a tape may need it."""

import numpy as np
import pytest

import evenflow as tf


def given(rows=300, classes=70):
    rng = np.random.default_rng(5)
    return rng.standard_normal((rows, classes)).astype("float32"), rng.integers(0, classes, rows).astype("int32")


def expected(logits, labels):
    shifted = logits.astype("float64") - logits.max(-1, keepdims=True)
    rest = np.log(np.exp(shifted).sum(-1))
    return rest - np.take_along_axis(shifted, labels[..., None], -1)[..., 0]


def softmax_less_one(logits, labels):
    e = np.exp(logits.astype("float64") - logits.max(-1, keepdims=True))
    p = e / e.sum(-1, keepdims=True)
    p[np.arange(len(labels)), labels] -= 1
    return p


loss_of = tf.nn.sparse_softmax_cross_entropy_with_logits


@pytest.mark.parametrize("rows, classes", [(1, 1), (3, 5), (300, 70), (0, 4)])
def test_losses_are_those_of_the_op(rows, classes):
    x, k = given(rows, classes)
    raw = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=x, labels=k)
    for f in (loss_of, tf.function(loss_of)):
        loss = f(k, x)
        np.testing.assert_allclose(loss, expected(x, k) if rows else np.zeros(0), rtol=2e-6, atol=1e-6)
        np.testing.assert_array_equal(loss, raw.loss)
    if rows:
        np.testing.assert_allclose(raw.backprop, softmax_less_one(x, k), atol=1e-6)


def test_deferred_logits_and_higher_ranks():
    x, k = given()
    loss = loss_of(k, tf.constant(x) * 2.0 + 1.0)
    np.testing.assert_allclose(loss, expected(x * 2 + 1, k), rtol=3e-6, atol=2e-6)
    loss = loss_of(k.reshape(3, 100), tf.constant(x.reshape(3, 100, 70)))
    np.testing.assert_allclose(loss, expected(x, k).reshape(3, 100), rtol=2e-6, atol=1e-6)
    half = loss_of(k, tf.cast(x, tf.float16))
    assert half.dtype == tf.float16
    np.testing.assert_allclose(half, expected(x, k), rtol=5e-3)


def test_gradients_after_and_under_a_tape():
    x, k = map(tf.constant, given())
    want = softmax_less_one(*given())
    loss_of(k, x)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        loss = loss_of(k, x)
        with tape.stop_recording():
            again = loss_of(k, x)
    np.testing.assert_array_equal(loss, again)
    np.testing.assert_allclose(tape.gradient(loss, x), want, atol=1e-6)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            loss = tf.reduce_sum(loss_of(k, x))
        slope = inner.gradient(loss, x)
        square = tf.reduce_sum(slope * slope)
    assert np.isfinite(outer.gradient(square, x)).all()


def test_a_wrong_label_fails_in_the_call():
    x, k = given(4, 3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="outside the valid range"):
        loss_of([0, 1, 2, 3], x)
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        loss_of([0, 1], x)
    assert loss_of(k, x, name="loss").shape == (4,)
