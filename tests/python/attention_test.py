"""Attention in functions: it is recognised with its gradient, computes what the single ops compute, and stores no scores."""
import numpy as np
import pytest

import evenflow as tf


def normal(*shape, seed=0, dtype="float32"):
    return tf.constant(np.random.default_rng(seed).standard_normal(shape).astype(dtype))


def heads(q, k, v, extra):
    """As Keras writes it: the heads are behind the positions."""
    scores = extra(tf.einsum("BTNH,BSNH->BNTS", q, k))
    return tf.einsum("BNTS,BSNH->BTNH", tf.nn.softmax(scores), v)


def keys_first(q, k, v, extra):
    scores = extra(tf.einsum("aecd,abcd->acbe", k, q))
    return tf.einsum("acbe,aecd->abcd", tf.nn.softmax(scores), v)


def matrices(q, k, v, extra):
    q, k, v = (tf.transpose(x, [0, 2, 1, 3]) for x in (q, k, v))
    return tf.transpose(tf.matmul(tf.nn.softmax(extra(tf.matmul(q, k, transpose_b=True))), v), [0, 2, 1, 3])


def turned_keys(q, k, v, extra):
    k = tf.transpose(k, [0, 2, 3, 1])
    q, v = (tf.transpose(x, [0, 2, 1, 3]) for x in (q, v))
    return tf.transpose(tf.matmul(tf.nn.softmax(extra(tf.matmul(q, k))), v), [0, 2, 1, 3])


BIAS, MASK = normal(1, 1, 7, 9, seed=5), tf.constant(np.random.default_rng(6).random((2, 1, 1, 9)) < 0.7)
EXTRAS = {
    "plain": lambda s: s,
    "scaled": lambda s: s * tf.constant(0.35, s.dtype),
    "divided": lambda s: s / tf.sqrt(tf.constant(5.0, s.dtype)),
    "biased": lambda s: tf.cast(BIAS, s.dtype) + s * tf.constant(0.35, s.dtype),
    "masked": lambda s: tf.where(MASK, s * tf.constant(0.35, s.dtype), tf.constant(-1e9, s.dtype)),
    "all": lambda s: tf.where(MASK, s / tf.constant(2.0, s.dtype) + tf.cast(BIAS, s.dtype), tf.constant(-1e9, s.dtype)),
    "hidden": lambda s: tf.where(tf.zeros([7, 9], tf.bool), s, tf.constant(-1e9, s.dtype)),
}


def step_of(form, extra):
    def step(q, k, v, weight):
        with tf.GradientTape() as tape:
            tape.watch([q, k, v])
            y = form(q, k, v, extra)
            loss = tf.reduce_sum(y * weight)
        return [y, *tape.gradient(loss, [q, k, v])]
    return step


def planned(f, *args):
    """The titles of the plan's steps."""
    return " ".join(step.title for step in tf.experimental.inspect(f, *args, runs=0).steps)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("extra", EXTRAS)
@pytest.mark.parametrize("form", [heads, keys_first, matrices, turned_keys], ids=lambda f: f.__name__)
def test_same_as_single_ops(form, extra, dtype):
    q, k, v, weight = (normal(2, n, 3, w, seed=s, dtype=dtype) for s, (n, w) in enumerate([(7, 5), (9, 5), (9, 4), (7, 4)]))
    step = step_of(form, EXTRAS[extra])
    f = tf.function(step)
    for got, want in zip(f(q, k, v, weight), step(q, k, v, weight)):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=2e-5, atol=2e-6)
    steps = planned(f)
    assert "_AttentionGrad" in steps and "Softmax" not in steps


def test_two_dimensions():
    q, k, v = normal(6, 4), normal(8, 4, seed=1), normal(8, 3, seed=2)
    f = tf.function(lambda q, k, v: tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 2.0), v))
    np.testing.assert_allclose(f(q, k, v), tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True) / 2.0), v), rtol=1e-5)
    assert "_Attention" in planned(f)


def test_one_array_for_all():
    x = normal(2, 6, 4)

    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.matmul(tf.nn.softmax(tf.matmul(x, x, transpose_b=True)), x)
        return y, tape.gradient(y, x)
    f = tf.function(step)
    for got, want in zip(f(x), step(x)):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)
    assert "_AttentionGrad" in planned(f)


def test_only_some_gradients():
    q, k, v = normal(2, 6, 4), normal(2, 8, 4, seed=1), normal(2, 8, 3, seed=2)
    for wanted in ("q", "k", "v", "qk", "qv", "kv"):
        def step(q, k, v):
            given = {"q": q, "k": k, "v": v}
            with tf.GradientTape() as tape:
                tape.watch([given[w] for w in wanted])
                y = tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True)), v)
            return tape.gradient(y, [given[w] for w in wanted])
        f = tf.function(step)
        for got, want in zip(f(q, k, v), step(q, k, v)):
            np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)


def test_weights_that_are_read_elsewhere_stay():
    q, k, v = normal(2, 6, 4), normal(2, 8, 4, seed=1), normal(2, 8, 3, seed=2)

    def attention(q, k, v):
        p = tf.nn.softmax(tf.matmul(q, k, transpose_b=True))
        return tf.matmul(p, v), p
    f = tf.function(attention)
    for got, want in zip(f(q, k, v), attention(q, k, v)):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    assert "_Attention" not in planned(f)


@pytest.mark.parametrize("kept", [0, 1])
def test_the_gradient_of_a_bias_or_dropout_stays(kept):
    q, k, v, b = normal(2, 6, 4), normal(2, 8, 4, seed=1), normal(2, 8, 3, seed=2), normal(6, 8, seed=3)

    def step(q, k, v, b):
        with tf.GradientTape() as tape:
            tape.watch([q, b])
            p = tf.nn.softmax(tf.matmul(q, k, transpose_b=True) + b)
            y = tf.matmul(p * tf.cast(b > 0, p.dtype) if kept else p, v)
        return tape.gradient(y, [q, b])
    f = tf.function(step)
    for got, want in zip(f(q, k, v, b), step(q, k, v, b)):
        np.testing.assert_allclose(got, want, rtol=2e-5, atol=1e-6)
    assert "_AttentionGrad" not in planned(f)


def test_batches_that_broadcast_stay():
    q, k, v = normal(3, 6, 4), normal(1, 8, 4, seed=1), normal(1, 8, 3, seed=2)
    attention = lambda q, k, v: tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True)), v)  # noqa: E731
    np.testing.assert_allclose(tf.function(attention)(q, k, v), attention(q, k, v), rtol=1e-5)


def test_half_precision_as_before():
    q, k, v = (tf.cast(x, tf.float16) for x in (normal(2, 6, 4), normal(2, 8, 4, seed=1), normal(2, 8, 3, seed=2)))
    attention = lambda q, k, v: tf.matmul(tf.nn.softmax(tf.matmul(q, k, transpose_b=True)), v)  # noqa: E731
    np.testing.assert_array_equal(tf.function(attention)(q, k, v), attention(q, k, v))


def test_any_length():
    f = tf.function(lambda q, k, v: heads(q, k, v, EXTRAS["scaled"]), reduce_retracing=True)
    for length in (3, 5, 0, 11, 70):
        q, k, v = (normal(2, length, 2, 4, seed=s) for s in range(3))
        np.testing.assert_allclose(f(q, k, v), heads(q, k, v, EXTRAS["scaled"]), rtol=2e-5, atol=1e-6)


def test_a_mask_made_from_truth_needs_no_scores():
    """Keras begins every mask with an array of the scores' size."""
    def masked(scores):
        return tf.where(tf.logical_and(tf.ones_like(scores, tf.bool), MASK), scores, -1e9)
    args = [normal(2, n, 3, w, seed=s) for s, (n, w) in enumerate([(7, 5), (9, 5), (9, 4), (7, 4)])]
    step = step_of(heads, masked)
    f = tf.function(step)
    for got, want in zip(f(*args), step(*args)):
        np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=2e-5, atol=2e-6)
    steps = planned(f, *args)
    assert "_AttentionGrad" in steps and "LogicalAnd" not in steps


def test_no_scores_are_stored():
    """The scores of 2 x 2 heads and 1000 positions take 15 MiB; the rest of the step less than 2."""
    args = [normal(2, 1000, 2, 8, seed=s) for s in range(4)]
    f = tf.function(step_of(heads, EXTRAS["scaled"]))
    f(*args)
    assert tf.experimental.inspect(f, runs=0).plan["arena"] < 3 << 20
