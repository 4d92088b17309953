"""tf.image.resize: every method keeps what it must keep, its gradient is its transpose, and errors name the remedy."""
import numpy as np
import pytest

import evenflow as tf

METHODS = ["bilinear", "nearest", "bicubic", "area", "lanczos3", "lanczos5", "gaussian", "mitchellcubic"]
SIZES = [(3, 4), (11, 6), (5, 7), (1, 1)]
RNG = np.random.default_rng(5)
IMAGES = RNG.normal(size=(2, 5, 7, 3)).astype(np.float32)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("method", METHODS)
def test_flat_images_stay_flat(method, size, antialias):
    flat = tf.image.resize(np.full((2, 5, 7, 3), 9, np.uint8), size, method, antialias=antialias)
    np.testing.assert_allclose(flat, np.full((2, *size, 3), 9), rtol=1e-5)
    assert flat.dtype == (tf.uint8 if method == "nearest" else tf.float32)


@pytest.mark.parametrize("antialias", [False, True])
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("method", [m for m in METHODS if m != "area"])
def test_gradient_is_the_transpose(method, size, antialias):
    x, g = tf.constant(IMAGES), tf.constant(RNG.normal(size=(2, *size, 3)).astype(np.float32))
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.image.resize(x, size, method, antialias=antialias)
    dx = tape.gradient(y, x, g)
    np.testing.assert_allclose(np.vdot(y, g), np.vdot(IMAGES, dx), rtol=1e-4)


def test_area_is_a_mean():
    x = RNG.normal(size=(1, 6, 8, 2)).astype(np.float32)
    np.testing.assert_allclose(tf.image.resize(x, (3, 2), "area"), x.reshape(1, 3, 2, 2, 4, 2).mean((2, 4)), rtol=1e-5)
    v = tf.Variable(x)
    with tf.GradientTape() as tape:
        y = tf.image.resize(v, (3, 2), "area")
    with pytest.raises(LookupError, match="ResizeArea"):
        tape.gradient(y, v)


@pytest.mark.parametrize("method", METHODS)
def test_one_image_of_unknown_size(method):
    f = tf.function(lambda x: tf.image.resize(x, (4, 9), method), input_signature=[tf.TensorSpec([None, None, 3])])
    np.testing.assert_allclose(f(IMAGES[0]), tf.image.resize(IMAGES, (4, 9), method)[0], rtol=1e-5, atol=1e-5)


def test_wrong_arguments():
    with pytest.raises(ValueError, match="no method 'cubic'; there are 'bilinear', 'nearest', 'bicubic', 'area'"):
        tf.image.resize(IMAGES, (3, 3), "cubic")
    with pytest.raises(ValueError, match="no method 2"):  # numbers are version 1's
        tf.image.resize(IMAGES, (3, 3), tf.compat.v1.image.ResizeMethod.BICUBIC)
    scale = {"images": IMAGES, "size": (3, 3), "scale": (1.0, 1.0), "translation": (0.0, 0.0)}
    for wrong, words in [({"kernel_type": "round"}, "Unrecognized kernel type: round; there are lanczos1"),
                         ({"scale": (1.0, 0.0)}, "Scale must be greater than zero"),
                         ({"scale": (1.0,)}, "two elements"), ({"translation": (1.0, 1.0, 1.0)}, "two elements"),
                         ({"images": IMAGES[..., :0]}, "at least one channel"), ({"size": (0, 3)}, "must be positive")]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=words):
            tf.raw_ops.ScaleAndTranslate(**{**scale, **wrong})


def test_images_of_nothing():
    raw, invalid = tf.raw_ops, tf.errors.InvalidArgumentError
    for op in [raw.ResizeBilinear, raw.ResizeBicubic, raw.ResizeArea, raw.ResizeNearestNeighbor]:
        assert op(images=np.ones((0, 3, 3, 2), np.float32), size=(2, 5)).shape == (0, 2, 5, 2)
        for shape, words in [((1, 3, 3, 0), "at least one channel"), ((1, 0, 3, 2), "non-zero size")]:
            with pytest.raises(invalid, match=words):
                op(images=np.ones(shape, np.float32), size=(2, 5))
    for op in [raw.ResizeBilinearGrad, raw.ResizeBicubicGrad]:
        for grads, image in [((1, 0, 4, 2), (1, 3, 2, 2)), ((1, 4, 4, 2), (1, 3, 0, 2))]:
            with pytest.raises(invalid, match="non-zero size"):
                op(grads=np.ones(grads, np.float32), original_image=np.ones(image, np.float32))
        with pytest.raises(invalid, match="align_corners must be False"):
            op(grads=IMAGES, original_image=IMAGES, align_corners=True, half_pixel_centers=True)
    nothing = raw.ResizeNearestNeighborGrad(grads=np.ones((1, 0, 4, 2), np.float32), size=(3, 2))
    assert np.array_equal(nothing, np.zeros((1, 3, 2, 2)))


def test_version_1():
    v1 = tf.compat.v1.image
    assert v1.resize_images(np.ones((5, 7, 1), np.uint8), (5, 7)).dtype == tf.uint8  # as it is: it has that size
    for method, function in [(v1.ResizeMethod.BILINEAR, v1.resize_bilinear), (v1.ResizeMethod.AREA, v1.resize_area),
                             (v1.ResizeMethod.BICUBIC, v1.resize_bicubic),
                             (v1.ResizeMethod.NEAREST_NEIGHBOR, v1.resize_nearest_neighbor)]:
        assert np.array_equal(v1.resize(IMAGES, (3, 9), method, True), function(IMAGES, (3, 9), True))
    with pytest.raises(ValueError, match="no method 'lanczos3'"):
        v1.resize(IMAGES, (3, 3), "lanczos3")
