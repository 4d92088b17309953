"""What every call of a model uses in C: shapes, dtypes, name scopes, and functions with a short path before their Python."""
import copy
import inspect
import pickle
import sys
import tracemalloc

import numpy as np
import pytest

import evenflow as tf
from evenflow._src import _core

FRONTS = (tf.cast, tf.convert_to_tensor, tf.matmul, tf.nn.bias_add)


@pytest.mark.parametrize("function", FRONTS, ids=lambda f: f.__name__)
def test_a_front_is_like_the_function_behind_it(function):
    assert type(function) is _core.Front
    assert inspect.signature(function) == inspect.signature(function.__wrapped__)
    assert function.__doc__.startswith(function.__wrapped__.__doc__) and function.__name__ == function.__wrapped__.__name__
    assert pickle.loads(pickle.dumps(function)) is function and copy.deepcopy(function) is function
    assert repr(function).startswith("<function ")

    class Holder:
        method = function

    assert Holder().method.__self__.__class__ is Holder
    with pytest.raises(TypeError):
        function()
    with pytest.raises(TypeError):
        function(1.0, 2.0, nonsense=3)


def _same(fast, slow):
    assert fast.dtype is slow.dtype and fast.shape == slow.shape
    np.testing.assert_array_equal(fast, slow)


@pytest.mark.parametrize("values", [
    (tf.cast, ([1, 2], tf.int64), {}), (tf.cast, (2.5,), {"dtype": "int32"}), (tf.cast, (), {"x": 2.5, "dtype": tf.float64}),
    (tf.cast, (tf.constant(1.0), "float32", "n"), {}), (tf.cast, (tf.Variable(1.0), tf.float32), {}),
    (tf.convert_to_tensor, ([1, 2],), {}), (tf.convert_to_tensor, ([1, 2],), {"dtype_hint": tf.float32}),
    (tf.convert_to_tensor, (["a"],), {"dtype_hint": tf.float32}), (tf.convert_to_tensor, ([1, 2], tf.int8), {"name": "n"}),
    (tf.matmul, ([[1.0, 2.0]], [[3.0], [4.0]]), {}), (tf.matmul, (tf.ones([2, 3]), tf.ones([3, 2])), {"output_type": None}),
    (tf.matmul, (tf.ones([2, 3]), tf.ones([2, 3])), {"transpose_b": True}), (tf.matmul, (tf.ones([4, 2, 3]), tf.ones([3, 2])), {}),
    (tf.matmul, (), {"a": tf.ones([2, 3]), "b": tf.ones([3, 2])}),
    (tf.matmul, (tf.ones([2, 3], tf.int8), tf.ones([3, 2], tf.int8)), {"output_type": tf.int32}),
    (tf.nn.bias_add, (tf.ones([2, 3]), [1.0, 2.0, 3.0]), {}), (tf.nn.bias_add, (tf.ones([2, 3]), tf.ones([3]), "NHWC"), {}),
    (tf.nn.bias_add, (tf.ones([2, 3, 4, 4]), tf.ones([3])), {"data_format": "NCHW"}),
], ids=str)
def test_both_ways_give_the_same(values):
    function, args, kwargs = values
    _same(function(*args, **kwargs), function.__wrapped__(*args, **kwargs))
    _same(tf.function(lambda: function(*args, **kwargs))(), function.__wrapped__(*args, **kwargs))


def test_a_cast_that_changes_nothing_returns_its_argument():
    x = tf.constant([1.0])
    assert tf.cast(x, tf.float32) is x and tf.cast(x, "float32") is x and tf.cast(x, np.float32) is x


def test_an_object_that_stands_for_a_tensor_is_asked_once():
    asked = []

    class Stand:
        def __tf_tensor__(self, dtype=None, name=None):
            asked.append(dtype)
            return tf.constant([1.0, 2.0], dtype)

    _same(tf.convert_to_tensor(Stand()), tf.constant([1.0, 2.0]))
    _same(tf.convert_to_tensor(Stand(), tf.float64), tf.constant([1.0, 2.0], tf.float64))
    _same(tf.add(Stand(), 1.0), tf.constant([2.0, 3.0]))
    assert asked == [None, tf.float64, None]

    class Refuses:
        def __tf_tensor__(self, dtype=None, name=None):
            raise KeyError("not now")

    with pytest.raises(KeyError, match="not now"):
        tf.convert_to_tensor(Refuses())


def test_is_tensor():
    assert inspect.signature(tf.is_tensor).parameters.keys() == {"x"}
    assert tf.is_tensor(x=tf.Variable(1)) and tf.is_tensor(tf.ragged.constant([[1]])) and not tf.is_tensor(np.ones(2))
    for args, kwargs in [((), {}), ((1, 2), {}), ((), {"y": 1}), ((1,), {"x": 1})]:
        with pytest.raises(TypeError):
            tf.is_tensor(*args, **kwargs)


def test_a_shape_is_a_sequence():
    shape = tf.TensorShape([2, 3])
    assert np.zeros(shape).shape == (2, 3) and np.prod(shape) == 6 and [*reversed(shape)] == [3, 2]
    assert tf.TensorShape(shape) == shape and isinstance(shape[:1], tf.TensorShape)
    with pytest.raises(TypeError):
        shape["a"]
    with pytest.raises(IndexError):
        shape[2]
    with pytest.raises(TypeError):
        tf.TensorShape()
    with pytest.raises(AttributeError):
        shape.anything = 1
    assert list(inspect.signature(tf.TensorShape).parameters) == ["dims"]


def test_dtypes_compare_with_what_means_them():
    assert tf.float32 == "float32" and tf.float32 == np.float32 and tf.float32 == np.dtype("f4") and "float32" == tf.float32
    assert tf.float32 != "float64" and tf.float32 != None and tf.float32 != "no dtype" and tf.float32 != 7  # noqa: E711
    assert tf.double == "double" and {tf.float32: 1}[tf.as_dtype("float32")] == 1
    with pytest.raises(TypeError):
        tf.float32 < tf.float64  # noqa: B015


def test_a_scope_can_be_entered_again_inside_itself():
    scope = tf.name_scope("a")
    with scope as outer, scope as inner:
        assert (outer, inner, tf.get_current_name_scope()) == ("a/", "a/a/", "a/a")
    assert tf.get_current_name_scope() == "" and scope.name == "a"
    with pytest.raises(IndexError):
        scope.__exit__(None, None, None)

    @tf.function
    def traced():
        with scope as full:
            return tf.constant(1.0), full

    with tf.name_scope("outside"):
        assert traced()[1].numpy() == b"a/"
    with pytest.raises(ValueError):
        tf.name_scope(3)


def test_nothing_is_kept():
    x, bias = tf.ones([4, 3]), tf.ones([3])

    def calls():
        with tf.name_scope("a"), tf.name_scope("b"):
            tf.cast(x, "float32"), tf.convert_to_tensor([1.0]), tf.is_tensor(x)
            shape = tf.TensorShape([1, None])[1:]
            shape == [None], tf.float32 == "int32", x.shape.as_list(), len(x.shape), x.shape[0]
            tf.nn.bias_add(tf.matmul(x, tf.ones([3, 3])), bias)

    for _ in range(50):
        calls()
    refs = sys.getrefcount(bias), sys.getrefcount(None)
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    for _ in range(2000):
        calls()
    after = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    assert after - before < 4000
    assert sys.getrefcount(bias) == refs[0] and abs(sys.getrefcount(None) - refs[1]) < 100
