"""Fake quantization of arrays that threads share gives what their pieces give."""

import numpy as np

import evenflow as tf


def test_pieces_and_whole_agree():
    rng = np.random.default_rng(3)
    x = rng.uniform(-2, 2, 150_007).astype(np.float32)
    x[::1000] = [np.nan, np.inf, -np.inf, -0.0, 1.0] * 30 + [-1.0]
    dy = rng.standard_normal(x.shape).astype(np.float32)
    forward = tf.quantization.fake_quant_with_min_max_args
    backward = tf.quantization.fake_quant_with_min_max_args_gradient
    cuts = [*range(0, x.size, 999), x.size]
    pieces = [slice(a, b) for a, b in zip(cuts, cuts[1:], strict=False)]
    values = np.concatenate([forward(x[p], -1, 1).numpy() for p in pieces])
    np.testing.assert_array_equal(forward(x, -1, 1).numpy(), values)
    slopes = np.concatenate([backward(dy[p], x[p], -1, 1).numpy() for p in pieces])
    np.testing.assert_array_equal(backward(dy, x, -1, 1).numpy(), slopes)
    inside = np.abs(x) < 0.99
    assert np.abs(values[inside] - x[inside]).max() <= 1 / 255 + 1e-6
    assert (slopes[inside] == dy[inside]).all() and (slopes[np.abs(x) > 1.01] == 0).all()
