"""Colours of images of any size are those of single pixels: the kernels work on blocks of pixels."""
import numpy as np
import pytest

import evenflow as tf

MAPS = {
    "hsv": tf.image.rgb_to_hsv, "rgb": tf.image.hsv_to_rgb,
    "hue": lambda x: tf.raw_ops.AdjustHue(images=x, delta=-0.7),
    "saturation": lambda x: tf.raw_ops.AdjustSaturation(images=x, scale=1.7),
}


@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_blocks_of_pixels(name, dtype):
    if name in ("hue", "saturation") and dtype == np.float64:  # not declared
        return
    rng = np.random.default_rng(1)
    x = rng.uniform(0, 1, (1, 300, 3)).astype(dtype)
    x[0, ::5] = x[0, ::5, :1]  # gray
    x[0, ::7] = 0
    x[0, ::11, 1] = x[0, ::11, 0]
    x[0, 3] = np.nan
    single = np.concatenate([MAPS[name](tf.constant(x[:, k:k + 1])).numpy() for k in range(300)], 1)
    for n in (1, 127, 128, 129, 255, 257, 300):
        np.testing.assert_array_equal(MAPS[name](tf.constant(x[:, :n])).numpy(), single[:, :n])
    large = np.tile(x, (400, 1, 1))
    np.testing.assert_array_equal(MAPS[name](tf.constant(large)).numpy(), np.tile(single, (400, 1, 1)))


def test_known_colours():
    rgb = np.array([[[1, 0, 0], [0, 1, 0], [0, 0, 1], [0.5, 0.5, 0.5], [0, 0, 0], [1, 0, 0.5]]], np.float32)
    want = [[[0, 1, 1], [1 / 3, 1, 1], [2 / 3, 1, 1], [0, 0, 0.5], [0, 0, 0], [11 / 12, 1, 1]]]
    np.testing.assert_allclose(tf.image.rgb_to_hsv(rgb), want, atol=1e-6)
    np.testing.assert_allclose(tf.image.hsv_to_rgb(np.array(want, np.float32)), rgb, atol=1e-6)
