"""What a graph knows of a shape whose sizes come from tensors: the expected shapes are TensorFlow's."""
import numpy as np
import pytest

import evenflow as tf

v1 = tf.compat.v1


def place(shape=None, dtype=tf.float32):
    return v1.placeholder(dtype, shape)


def number():
    return place([], tf.int32)


CASES = {
    "pad_stack": (lambda: tf.pad(place([2, 2]), tf.stack([[1, number()], [3, 2]])), [None, 7]),
    "pad_list": (lambda: tf.pad(place([4, 2]), [[1, 2], [number(), 1]]), [7, None]),
    "pad_value": (lambda: tf.pad(place([4, 2]), [[1, 2], [number(), 1]], constant_values=1), [7, None]),
    "mirror": (lambda: tf.pad(place([4, 2]), [[1, 2], [1, number()]], "REFLECT"), [7, None]),
    "pad_open": (lambda: tf.pad(place([None, 2]), [[1, 2], [1, number()]]), [None, None]),
    "reshape": (lambda: tf.reshape(place(), [number(), 37]), [None, 37]),
    "reshape_rankless": (lambda: tf.reshape(place(), [place(None, tf.int32), 37]), [None, 37]),
    "tile": (lambda: tf.tile(place([2, 4]), tf.stack([number(), 3])), [None, 12]),
    "tile_concat": (lambda: tf.tile(place([2, 4]), tf.concat([[2], place([1], tf.int32)], 0)), [4, None]),
    "tile_open": (lambda: tf.tile(place([None, 7]), tf.stack([number(), 1])), [None, 7]),
    "tile_rankless": (lambda: tf.tile(place([1, 1]), [place(None, tf.int32), 7]), [None, 7]),
    "slice": (lambda: tf.slice(place([3, 4]), [0, 0], tf.stack([number(), 2])), [None, 2]),
    "slice_rest": (lambda: tf.slice(place([3, 4]), place([2], tf.int32), [1, -1]), [1, None]),
    "sort": (lambda: tf.sort(place([1, None, 5])), [1, None, 5]),
    "sort_inner": (lambda: tf.sort(place([1, None, 5]), axis=0), [1, None, 5]),
    "argsort": (lambda: tf.argsort(place([1, None, 5])), [1, None, 5]),
    "top_k": (lambda: tf.math.top_k(place([None, 5]), tf.shape(place([3, None]))[0])[1], [None, 3]),
    "space": (lambda: tf.space_to_batch(place([None, 4, 4, 1]), [2, 2], place([2, 2], tf.int32)),
              [None, None, None, 1]),
}


@pytest.mark.parametrize("case", CASES)
def test_shapes(case):
    call, expected = CASES[case]
    with tf.Graph().as_default():
        assert call().shape.as_list() == expected


def test_they_run_too():
    with tf.Graph().as_default(), v1.Session() as session:
        n = number()
        feed = {n: 2}
        x = tf.constant(np.arange(6.0).reshape(2, 3))
        assert session.run(tf.tile(x, [n, 1]), feed).shape == (4, 3)
        assert session.run(tf.pad(x, [[n, 1], [0, 1]]), feed).shape == (5, 4)
        assert session.run(tf.slice(x, [0, 0], [n, 2]), feed).tolist() == [[0, 1], [3, 4]]
        assert session.run(tf.math.top_k(x, n)[0], feed).tolist() == [[2, 1], [5, 4]]


@pytest.mark.parametrize("name", ["reduce_sum", "reduce_mean", "reduce_max", "reduce_prod", "reduce_min"])
def test_nothing_is_left_of_an_unknown_rank(name):
    with tf.Graph().as_default(), v1.Session() as session:
        x = place()
        y = getattr(tf, name)(x)
        assert y.shape == ()
        assert getattr(tf, name)(x, keepdims=True).shape.rank is None
        assert getattr(tf, name)(x, axis=0).shape.rank is None
        assert session.run(y, {x: np.ones((2, 3))}) == (6 if name == "reduce_sum" else 1)


def test_all_and_any_of_an_unknown_rank():
    with tf.Graph().as_default():
        assert tf.reduce_all(place(None, tf.bool)).shape == ()
        assert tf.reduce_any(place(None, tf.bool)).shape == ()


def test_names_of_a_sort():
    with tf.Graph().as_default() as graph:
        x = place([2, None, 3])
        assert tf.sort(x, axis=1).name.startswith("sort/")
        swap = graph.get_tensor_by_name("sort/transposition:0")
        assert tf.get_static_value(swap).tolist() == [0, 2, 1]
        assert tf.argsort(x).name == "argsort/TopKV2:1"
        assert tf.sort(x, name="order").name.startswith("order/")


def test_sort_along_an_inner_axis_of_an_unknown_rank():
    value = np.array([[[3, 1, 2], [0, 5, 4.0]], [[9, 7, 8], [1, 2, 3]]])
    with tf.Graph().as_default(), v1.Session() as session:
        x = place()
        for axis in (0, 1, -2, -1):
            down = tf.argsort(x, axis=axis, direction="DESCENDING", stable=True)
            assert session.run(tf.sort(x, axis=axis), {x: value}).tolist() == np.sort(value, axis).tolist()
            assert session.run(down, {x: value}).tolist() == np.argsort(-value, axis, kind="stable").tolist()
        with pytest.raises(tf.errors.InvalidArgumentError):
            session.run(tf.sort(x, axis=3), {x: value})


def test_sizes_that_int32_does_not_hold():
    wide = tf.TensorShape([2**31, 2])
    assert tf.convert_to_tensor(wide).dtype == tf.int64
    with pytest.raises(ValueError, match="a dimension is too large.*int64"):
        tf.convert_to_tensor(wide, dtype=tf.int32)


def test_an_array_of_too_many_dimensions_is_named():
    with pytest.raises(ValueError, match="an array of rank 12: the highest rank is 8"):
        tf.constant(np.ones([1] * 12))


@pytest.mark.parametrize("make", [
    lambda: v1.placeholder(tf.float32, [-1, 10]), lambda: v1.placeholder(tf.float32, -1),
    lambda: v1.placeholder_with_default([1.0, 2.0], [-1]), lambda: tf.raw_ops.Placeholder(dtype=tf.float32, shape=[-1]),
    lambda: tf.raw_ops.EnsureShape(input=[1.0], shape=[-1])])
def test_a_negative_size_is_not_an_unknown_one(make):
    with tf.Graph().as_default(), pytest.raises(ValueError, match="Dimension -1 must be >= 0"):
        make()


def test_but_in_sparse_placeholders_it_is():
    with tf.Graph().as_default():
        assert v1.sparse_placeholder(tf.float32, [-1, 2]).shape.as_list() == [None, 2]
