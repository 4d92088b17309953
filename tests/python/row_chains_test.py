"""Norms, softmaxes and their gradients written with plain ops: against numpy in double, with row chains, without them, and with
the interpreter instead of machine code."""
import os
import subprocess
import sys

import numpy as np
import pytest

import evenflow as tf

SHAPES = [(40, 512), (33, 513), (2100, 9), (9, 2000), (4, 8, 700), (64, 255)]


def layer_norm(x, scale, shift):
    mean = tf.reduce_mean(x, -1, keepdims=True)
    variance = tf.reduce_mean(tf.square(x - mean), -1, keepdims=True)
    return (x - mean) * tf.math.rsqrt(variance + 1e-5) * scale + shift


def rms_norm(x, scale, shift):
    return x * tf.math.rsqrt(tf.reduce_mean(x * x, -1, keepdims=True) + 1e-5) * scale + shift


def log_softmax(x, scale, shift):
    x = x * scale + shift
    high = tf.stop_gradient(tf.reduce_max(x, -1, keepdims=True))
    return x - high - tf.math.log(tf.reduce_sum(tf.exp(x - high), -1, keepdims=True))


def masked_softmax(x, scale, shift):
    x = tf.where(x > -1, x * scale, tf.constant(-1e9, x.dtype)) + shift
    e = tf.exp(x - tf.stop_gradient(tf.reduce_max(x, -1, keepdims=True)))
    return e / tf.reduce_sum(e, -1, keepdims=True)


def group_norm(x, scale, shift):
    """Over the two last axes, where there are three."""
    axes = list(range(1, x.shape.rank))
    mean, variance = tf.nn.moments(x, axes, keepdims=True)
    return tf.nn.batch_normalization(x, mean, variance, shift, scale, 1e-5)


PROGRAMS = [layer_norm, rms_norm, log_softmax, masked_softmax, group_norm]


def given(shape):
    rng = np.random.default_rng(7)
    return [rng.standard_normal(s) for s in (shape, shape[-1:], shape[-1:], shape)]


def both(f, x, scale, shift, back):
    """The result and its gradients."""
    with tf.GradientTape() as tape:
        tape.watch([x, scale, shift])
        y = f(x, scale, shift)
    return [y, *tape.gradient(y, [x, scale, shift], back)]


def run(f, shape, dtype, wrap=lambda f: f):
    return [r.numpy() for r in wrap(lambda *a: both(f, *a))(*(tf.constant(a, dtype) for a in given(shape)))]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("f", PROGRAMS)
def test_single_agrees_with_double(f, shape):
    for wrap in (tf.function, lambda g: g):
        for got, want in zip(run(f, shape, "float32", wrap), run(f, shape, "float64", wrap)):
            np.testing.assert_allclose(got, want, rtol=0, atol=3e-6 * max(1, np.abs(want).max()))


@pytest.mark.parametrize("shape", SHAPES[:3])
@pytest.mark.parametrize("f", PROGRAMS)
def test_function_and_eager_agree(f, shape):
    for got, want in zip(run(f, shape, "float32", tf.function), run(f, shape, "float32")):
        np.testing.assert_allclose(got, want, rtol=0, atol=2e-6 * max(1, np.abs(want).max()))


def test_layer_norm_against_numpy():
    x, scale, shift, back = given((50, 700))
    mean = x.mean(-1, keepdims=True)
    r = 1 / np.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)
    hat, g = (x - mean) * r, back * scale
    dx = r * (g - g.mean(-1, keepdims=True) - hat * (g * hat).mean(-1, keepdims=True))
    for got, want in zip(run(layer_norm, (50, 700), "float32", tf.function),
                         [hat * scale + shift, dx, (back * hat).sum(0), back.sum(0)]):
        np.testing.assert_allclose(got, want, rtol=0, atol=2e-6 * np.abs(want).max())


def test_no_rows_and_odd_values():
    f = tf.function(lambda x: layer_norm(x, tf.ones([600]), tf.zeros([600])))
    assert f(tf.zeros([0, 600])).shape == (0, 600)
    x = np.ones((40, 600), "float32")
    x[3, 5] = np.nan
    x[4, 599] = np.inf
    y = f(tf.constant(x)).numpy()
    assert np.isnan(y[3:5]).all() and (np.delete(y, [3, 4], 0) == 0).all()


WAYS = """
import sys, numpy as np
sys.path.insert(0, {here!r})
from row_chains_test import PROGRAMS, SHAPES, run, tf
np.savez({file!r}, *[r for f in PROGRAMS for s in SHAPES for r in run(f, s, "float32", tf.function)])
"""


def test_ways_of_running_agree(tmp_path):
    """Chains, no chains, no fusion, the interpreter: each in a process of its own, as options are read once."""
    results = {}
    for way in ("", "-rows", "-jit", "-fuse"):
        file = str(tmp_path / f"way{way}.npz")
        code = WAYS.format(here=os.path.dirname(os.path.abspath(__file__)), file=file)
        subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "EF_PASSES": way})
        results[way] = np.load(file)
    for way in ("-rows", "-jit", "-fuse"):
        for name in results[""].files:
            want = results[way][name]
            np.testing.assert_allclose(results[""][name], want, rtol=0, atol=3e-6 * max(1, np.abs(want).max()), err_msg=way)
    for name in results[""].files:  # machine code rounds as the interpreter does
        assert results[""][name].tobytes() == results["-jit"][name].tobytes()


def test_a_chain_is_one_step():
    """What `evenflow inspect` tells: one fused step with all ops, reductions among them."""
    from evenflow._src.commands.inspected import inspect
    f = tf.function(layer_norm)
    f(*(tf.constant(a, "float32") for a in given((40, 512))[:3]))
    steps = inspect(f, runs=0).steps
    assert len(steps) == 1 and steps[0].way == "fused"
    assert steps[0].fused.count("Mean") == 2 and "Rsqrt" in steps[0].fused
