"""Colours, boxes and likeness of images, beside what TensorFlow 2.21 computes."""
import numpy as np
import pytest

import evenflow as tf

random = np.random.RandomState(0)
IMAGE = random.rand(2, 4, 5, 3).astype(np.float32)


def test_hue_saturation_value():
    pixels = [[0.0, 0, 0], [1, 1, 1], [1, 1, 0], [0, 1, 1], [1, 0, 1], [1.0, 0.5, 0.25]]
    want = [[0, 0, 0], [0, 0, 1], [1 / 6, 1, 1], [0.5, 1, 1], [5 / 6, 1, 1], [1 / 18, 0.75, 1]]
    np.testing.assert_allclose(tf.image.rgb_to_hsv(pixels), want, atol=1e-6)
    np.testing.assert_allclose(tf.image.hsv_to_rgb(tf.image.rgb_to_hsv(IMAGE)), IMAGE, atol=1e-6)
    assert tf.image.rgb_to_hsv(tf.constant(IMAGE, tf.float64)).dtype == tf.float64
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.image.rgb_to_hsv([1.0, 2.0])
    x = tf.constant([[0.5, 0.5, 0.2], [0.3, 0.3, 0.3], [0.0, 0.0, 0.0], [0.2, 0.4, 0.7]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, z = tf.image.rgb_to_hsv(x), tf.image.hsv_to_rgb(x)
    assert np.isfinite(tape.gradient(y, x)).all() and tape.gradient(z, x) is None


def test_adjusted_colors():
    np.testing.assert_allclose(tf.image.adjust_hue(IMAGE, 1.0), IMAGE, atol=1e-5)
    np.testing.assert_allclose(tf.image.adjust_hue([[[1.0, 0, 0]]], 1 / 3), [[[0, 1, 0]]], atol=1e-6)
    np.testing.assert_allclose(tf.image.adjust_saturation([[[1.0, 0.5, 0.5]]], 2.0), [[[1, 0, 0]]], atol=1e-6)
    grey = tf.image.adjust_saturation((IMAGE * 255).astype(np.uint8), 0.0)
    assert grey.dtype == tf.uint8 and np.ptp(grey.numpy().astype(int), axis=-1).max() == 0
    for bad in (lambda: tf.image.adjust_hue(IMAGE, 1.5), lambda: tf.image.random_hue(IMAGE, 0.6),
                lambda: tf.image.random_saturation(IMAGE, 1.0, 0.5)):
        with pytest.raises(ValueError):
            bad()
    assert tf.image.stateless_random_hue(IMAGE, 0.3, (1, 2)).shape == IMAGE.shape


def test_crops():
    image = tf.reshape(tf.range(9.0), [1, 3, 3, 1])
    found = tf.image.crop_and_resize(image, [[0, 0, 1, 1], [0.5, 0.5, 1.5, 0.0]], [0, 0], [2, 2], extrapolation_value=-1.0)
    assert found.numpy()[..., 0].tolist() == [[[0, 2], [6, 8]], [[4, 3], [-1, -1]]]
    nearest = tf.image.crop_and_resize(image, [[0.2, 0.2, 0.9, 0.9]], [0], [2, 2], "nearest")
    assert nearest.numpy().ravel().tolist() == [0, 2, 6, 8]
    for boxes, which, size, error in (([[0.0, 0, 1, 1]], [3], [2, 2], tf.errors.OutOfRangeError),
                                      ([[0.0, 0, 1]], [0], [2, 2], tf.errors.InvalidArgumentError),
                                      ([[np.inf, 0, 1, 1]], [0], [2, 2], tf.errors.InvalidArgumentError),
                                      ([[0.0, 0, 1, 1]], [0], [0, 2], tf.errors.InvalidArgumentError)):
        with pytest.raises(error):
            tf.image.crop_and_resize(image, boxes, which, size)
    boxes = tf.constant([[0.0, 0.0, 1.0, 1.0]])
    with tf.GradientTape() as tape:
        tape.watch([image, boxes])
        y = tf.image.crop_and_resize(image, boxes, [0], [2, 2])
    by_image, by_boxes = tape.gradient(y, [image, boxes])
    assert by_image.numpy().ravel().tolist() == [1, 0, 1, 0, 0, 0, 1, 0, 1] and by_boxes.shape == [1, 4]


BOXES = [[0.0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11], [1, 11.1, 0, 10.1], [0, 100, 1, 101]]
SCORES = [0.9, 0.75, 0.6, 0.95, 0.5, 0.3]


def test_the_best_boxes():
    choose = tf.image.non_max_suppression
    assert choose(BOXES, SCORES, 3).numpy().tolist() == [3, 0, 5]
    assert choose(BOXES, SCORES, 3, score_threshold=0.4).numpy().tolist() == [3, 0]
    assert choose(BOXES, SCORES, 0).numpy().tolist() == []
    places, count = tf.image.non_max_suppression_padded(BOXES, SCORES, 5, pad_to_max_output_size=True)
    assert places.numpy().tolist() == [3, 0, 5, 0, 0] and int(count) == 3
    places, count = tf.image.non_max_suppression_padded([BOXES, BOXES[::-1]], [SCORES, SCORES[::-1]], 4,
                                                        pad_to_max_output_size=True)
    assert places.numpy().tolist() == [[3, 0, 5, 0], [2, 5, 0, 0]] and count.numpy().tolist() == [3, 3]
    places, scores = tf.image.non_max_suppression_with_scores(BOXES, SCORES, 6, soft_nms_sigma=0.5)
    assert places.numpy().tolist() == [3, 0, 1, 5, 4, 2]
    np.testing.assert_allclose(scores, [0.95, 0.9, 0.384, 0.3, 0.256, 0.197], atol=1e-3)
    overlaps = [[1.0, 0.6], [0.6, 1.0]]
    assert tf.image.non_max_suppression_overlaps(overlaps, [0.5, 0.9], 2).numpy().tolist() == [1]
    for bad in (lambda: choose(BOXES, SCORES, 3, 1.5), lambda: choose(BOXES, SCORES[:2], 3), lambda: choose(BOXES, SCORES, -1)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            bad()


def test_boxes_in_a_function():
    @tf.function
    def best(boxes, scores):
        return tf.gather(boxes, tf.image.non_max_suppression(boxes, scores, 3))

    assert best(tf.constant(BOXES), tf.constant(SCORES)).shape == [3, 4]


def test_likeness():
    x = random.rand(2, 30, 32, 3).astype(np.float32)
    np.testing.assert_allclose(tf.image.ssim(x, x, 1.0), [1.0, 1.0], rtol=1e-6)
    assert tf.image.ssim(x, 1 - x, 1.0).numpy().max() < 0
    assert tf.image.ssim(x, x, 1.0, return_index_map=True).shape == [2, 20, 22]
    whole = random.rand(1, 180, 191, 2).astype(np.float32)
    np.testing.assert_allclose(tf.image.ssim_multiscale(whole, whole, 1.0), [1.0], rtol=1e-5)
    for bad in (lambda: tf.image.ssim(x, x[:, :20], 1.0), lambda: tf.image.ssim(x[:, :5], x[:, :5], 1.0)):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            bad()


def test_older_names():
    v1 = tf.compat.v1
    assert v1.sparse_to_dense([[0, 1], [1, 0]], [2, 2], [5, 6]).numpy().tolist() == [[0, 5], [6, 0]]
    assert v1.sparse_to_dense([1, 3], [5], 1.5, -1.0).numpy().tolist() == [-1, 1.5, -1, 1.5, -1]
    counter = tf.Variable(0)
    assert [int(v1.count_up_to(counter, 2)) for _ in range(2)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError):
        v1.count_up_to(counter, 2)
    assert v1.image.resize_image_with_pad(IMAGE, 8, 8).shape == [2, 8, 8, 3]
    with tf.Graph().as_default():  # of unknown rank it is one image
        unknown = v1.placeholder(tf.float32)
        assert tf.image.resize_with_pad(unknown, 55, 66).shape.as_list() == [55, 66, None]
    s = tf.sparse.expand_dims(tf.sparse.from_dense([1, 0]), tf.constant(0))
    assert s.shape == [1, 2]


def test_a_number_of_colors_that_is_not_known():
    """No colors mean the usual ones, whatever their channels: a trace must not reject what a call may bring."""
    @tf.function(input_signature=[tf.TensorSpec((None, 0))])
    def draw(colors):
        return tf.image.draw_bounding_boxes(tf.zeros((1, 5, 6, 1)), tf.constant([[[0.0, 0.0, 1.0, 1.0]]]), colors)

    assert draw(tf.zeros((0, 0))).numpy().max() == 1
    with pytest.raises(tf.errors.InvalidArgumentError, match="colors must have equal or more channels"):
        draw(tf.zeros((2, 0)))
