"""Strings split into tokens, and images whose sizes or offsets are known only when a graph runs."""
import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1
WORDS = ["pigs on  the wing", "", " animals ", "a"]


@pytest.mark.parametrize("most", [-1, 0, 1, 2])
@pytest.mark.parametrize("sep", [None, " ", "on"])
def test_split_as_python_does(sep, most):
    expected = [w.split(sep, most) for w in WORDS]
    if most == 0:  # TensorFlow gives the string as it is
        expected = [[w] for w in WORDS]
    elif sep is None and most > 0:  # and an empty rest
        expected = [w + [""] if len(w) == most else w for w in expected]
        expected = [[p.rstrip() if k < most else p for k, p in enumerate(w)] for w in expected]
    found = tf.strings.split(WORDS, sep, most).to_list()
    assert [[t.decode() for t in w] for w in found] == expected
    assert tf.function(lambda x: tf.strings.split(x, sep, most))(tf.constant(WORDS)).to_list() == found


def test_split_of_other_ranks():
    assert tf.strings.split("a b").numpy().tolist() == [b"a", b"b"]
    assert tf.strings.split([["a b", "c"], ["", "d e f"]]).to_list() == [[[b"a", b"b"], [b"c"]], [[], [b"d", b"e", b"f"]]]
    ragged = tf.ragged.constant([["a b"], ["c", "d e"]])
    assert tf.strings.split(ragged).to_list() == [[[b"a", b"b"]], [[b"c"], [b"d", b"e"]]]
    assert tf.strings.bytes_split(["ab", "", "c"]).to_list() == [[b"a", b"b"], [], [b"c"]]
    assert tf.strings.split(tf.constant([], tf.string)).to_list() == []


def test_split_of_v1():
    sparse = v1.string_split(["a-b.c", "--"], "-.")
    assert sparse.values.numpy().tolist() == [b"a", b"b", b"c"] and sparse.dense_shape.numpy().tolist() == [2, 3]
    kept = v1.string_split(["a--b"], "-", skip_empty=False)
    assert kept.values.numpy().tolist() == [b"a", b"", b"b"]
    assert v1.strings.split(source=["a b", "c"]).indices.numpy().tolist() == [[0, 0], [0, 1], [1, 0]]
    assert v1.strings.split("a b", result_type="RaggedTensor").to_list() == [[b"a", b"b"]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        v1.string_split(["a"], ["b"])
    for bad in (lambda: v1.strings.split("a", result_type="List"), lambda: v1.strings.split()):
        with pytest.raises(ValueError):
            bad()
    assert v1.strings.reduce_join(["a", "b"], keep_dims=True).numpy().tolist() == [b"ab"]


def test_images_of_open_sizes():
    with tf.Graph().as_default():
        open_sides, open_rank = v1.placeholder(tf.float32, [None, None, 3]), v1.placeholder(tf.float32)
        assert tf.image.pad_to_bounding_box(open_sides, 1, 1, 55, 66).shape == (55, 66, 3)
        assert tf.image.resize_with_crop_or_pad(open_sides, 55, 66).shape == (55, 66, 3)
        assert tf.image.crop_to_bounding_box(open_rank, 0, 0, 5, 6).shape.as_list() == [5, 6, None]
        assert tf.image.central_crop(v1.placeholder(tf.float32, [None, 60, 3]), 0.5).shape.as_list() == [None, 30, 3]
        turned = tf.image.rot90(open_rank)
        assert turned.shape.rank is None
        made = [tf.image.random_flip_left_right(open_rank), tf.image.grayscale_to_rgb(open_rank[..., :1]), turned]
        with v1.Session() as session:
            for shape in ((4, 5, 3), (2, 4, 5, 3)):
                image = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
                a, b, c = session.run(made, {open_rank: image})
                assert a.shape == b.shape == shape
                np.testing.assert_array_equal(c, np.rot90(image, axes=(-3, -2)))
        assert tf.image.crop_to_bounding_box(open_sides, 0, 0, 5, 6).op.name.startswith("crop_to_bounding_box")
        assert tf.image.central_crop(np.ones((2, 2, 1)), 1.0).op.name.startswith("central_crop")


def test_offsets_given_at_run_are_checked():
    image = np.zeros((4, 4, 1), np.float32)
    crop = tf.function(lambda *n: tf.image.crop_to_bounding_box(image, *n),
                       input_signature=[tf.TensorSpec([], tf.int32)] * 4)
    pad = tf.function(lambda *n: tf.image.pad_to_bounding_box(image, *n),
                      input_signature=[tf.TensorSpec([], tf.int32)] * 4)
    assert crop(1, 1, 2, 3).shape == (2, 3, 1) and pad(1, 1, 6, 7).shape == (6, 7, 1)
    for f, bad in ((crop, (-1, 0, 2, 2)), (crop, (0, 0, 0, 2)), (crop, (3, 0, 2, 2)), (pad, (1, 0, 4, 5))):
        with pytest.raises(tf.errors.InvalidArgumentError):
            f(*bad)
    middle = tf.function(lambda f: tf.image.central_crop(image, f))
    assert middle(tf.constant(0.5)).shape == (2, 2, 1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        middle(tf.constant(1.5))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.adjust_gamma(image, tf.constant(-1.0))


def test_images_without_pixels_and_vectors_of_factors_are_refused():
    for f in (tf.image.flip_left_right, tf.image.transpose, tf.image.rot90, tf.image.random_flip_up_down):
        with pytest.raises(ValueError, match="must be > 0"):
            f(np.zeros((64, 0, 3)))
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.image.adjust_contrast(np.ones((1, 2, 2, 3), np.uint8), [2.0])
