"""Seeds of the stateless random ops in any integer dtype: the numbers TensorFlow 2.21 draws."""
import numpy as np
import pytest

import evenflow as tf

DRAWS = {
    "uniform": (lambda seed: tf.random.stateless_uniform([2], seed), [0.8440604, 0.19204533]),
    "normal": (lambda seed: tf.random.stateless_normal([2], seed), [0.5441101, 0.20738031]),
    "poisson": (lambda seed: tf.random.stateless_poisson([2], seed, 5.0), None),
    "categorical": (lambda seed: tf.random.stateless_categorical([[1.0, 2.0]], 2, seed), None),
    "binomial": (lambda seed: tf.random.stateless_binomial([2], seed, 9.0, 0.5), None),
    "fold_in": (lambda seed: tf.random.fold_in(seed, 1), [1105988140, 1]),
    "raw": (lambda seed: tf.raw_ops.StatelessRandomNormal(shape=np.array([2], np.int8), seed=seed), [0.5441101, 0.20738031]),
}


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("traced", [False, True])
def test_an_array_of_any_integer_dtype_is_a_seed(name, traced):
    draw, numbers = DRAWS[name]
    if numbers is None:
        numbers = draw([1, 2]).numpy()
    for dtype in (np.uint64, np.uint32, np.int8, np.uint16, np.int64):
        seed = np.array([1, 2], dtype)
        made = tf.function(lambda: draw(seed))() if traced else draw(seed)
        np.testing.assert_allclose(made.numpy(), numbers, rtol=1e-5)


def test_a_seed_beyond_int64_wraps():
    seed = np.array([2**63 + 5, 2], np.uint64)
    np.testing.assert_allclose(tf.random.stateless_uniform([2], seed).numpy(), [0.981372, 0.12105393], rtol=1e-5)


def test_a_tensor_of_another_dtype_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.random.stateless_uniform([2], tf.constant([1, 2], tf.uint64))
