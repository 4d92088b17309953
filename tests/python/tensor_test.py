"""Tensors as Python objects: conversions, views, copies, attributes, references."""
import copy
import gc
import pickle
import weakref

import numpy as np
import pytest

import evenflow as tf


def test_a_view_keeps_its_value_when_a_variable_changes():
    v = tf.Variable(tf.zeros([1000]))
    before = v.value().numpy()
    v.assign_add(tf.ones([1000]))
    assert before.sum() == 0.0 and v.numpy().sum() == 1000.0


def test_arrays_come_in_by_value():
    a = np.zeros(1000, np.float32)
    t = tf.constant(a)
    a[:] = 7.0
    assert t.numpy().sum() == 0.0
    assert tf.constant(np.arange(12).reshape(3, 4)[:, ::2]).numpy().tolist() == [[0, 2], [4, 6], [8, 10]]
    assert tf.constant(np.arange(3, dtype=">i4")).numpy().tolist() == [0, 1, 2]


def test_buffer_protocol():
    view = memoryview(tf.constant([[1.0, 2.0], [3.0, 4.0]]))
    assert view.shape == (2, 2) and view.format == "f" and view.readonly and view.tolist() == [[1.0, 2.0], [3.0, 4.0]]
    with pytest.raises(BufferError):
        memoryview(tf.constant("text"))


def test_dlpack_both_ways():
    t = tf.constant(np.arange(100, dtype=np.float32))
    assert np.from_dlpack(t).tolist() == list(range(100))
    assert tf.experimental.dlpack.from_dlpack(tf.experimental.dlpack.to_dlpack(t)).numpy().tolist() == list(range(100))
    assert tf.experimental.dlpack.from_dlpack(np.ones(3)).dtype == tf.float64


def test_pickle_and_copies():
    for value in ([1.0, 2.0], 3, True, "text", [[1 + 2j]]):
        t = tf.constant(value)
        again = pickle.loads(pickle.dumps(t))
        assert again.dtype == t.dtype and again.shape == t.shape and bool(tf.reduce_all(again == t))
    t = tf.constant([1.0])
    assert copy.copy(t) is t and copy.deepcopy(t) is t
    v = pickle.loads(pickle.dumps(tf.Variable([1.0, 2.0], name="v")))
    assert v.numpy().tolist() == [1.0, 2.0]
    w = copy.deepcopy(v)
    w.assign([5.0, 6.0])
    assert v.numpy().tolist() == [1.0, 2.0]


def test_attributes_and_weak_references():
    t = tf.constant([1.0])
    t._keras_mask = "mask"
    assert t._keras_mask == "mask"
    t.itself = t  # a cycle the collector must find
    gone = weakref.ref(t)
    del t
    gc.collect()
    assert gone() is None


def test_hash_reference_and_equality():
    a, b = tf.constant([1, 2]), tf.constant([1, 2])
    with pytest.raises(TypeError):
        hash(a)
    assert a.ref() == a.ref() and a.ref() != b.ref() and {a.ref(): 1}[a.ref()] == 1 and a.ref().deref() is a
    assert (a == b).numpy().tolist() == [True, True]
    assert (a == None) is False and (a != None) is True  # noqa: E711
    assert not bool(a == tf.constant([1, 2, 3]))


def test_as_python_numbers():
    assert float(tf.constant(1.5)) == 1.5 and int(tf.constant(7)) == 7 and bool(tf.constant(True))
    assert [10, 20, 30][tf.constant(1)] == 20 and list(range(tf.constant(3))) == [0, 1, 2]
    assert complex(tf.constant(1 + 2j)) == 1 + 2j and f"{tf.constant(1.5):.2f}" == "1.50"
    with pytest.raises((TypeError, ValueError)):
        float(tf.constant([1.0, 2.0]))
    with pytest.raises(ValueError):
        bool(tf.constant([True, False]))


def test_iteration_and_length():
    t = tf.constant([[1, 2], [3, 4]])
    assert [row.numpy().tolist() for row in t] == [[1, 2], [3, 4]] and len(t) == 2
    a, b = t
    assert b.numpy().tolist() == [3, 4]
    with pytest.raises(TypeError):
        iter(tf.constant(1))
    with pytest.raises(TypeError):
        len(tf.constant(1))


def test_slicing():
    n = np.arange(60).reshape(3, 4, 5)
    t = tf.constant(n)
    for key in (0, -1, slice(1, None), (slice(None), 2), (..., 1), (0, ..., slice(None, None, 2)), (None, 1), (slice(None, None, -1),),
                (slice(2, 0, -1), None, slice(1, 3)), (1, 2, 3), ()):
        assert t[key].numpy().tolist() == n[key].tolist(), key
    i = tf.constant(1)
    assert t[i].numpy().tolist() == n[1].tolist() and t[i:, i].numpy().tolist() == n[1:, 1].tolist()
    assert t[t > 57].numpy().tolist() == [58, 59]
    for bad in (1.5, "a", [1.5]):
        with pytest.raises(TypeError):
            t[bad]
    with pytest.raises(tf.errors.InvalidArgumentError):
        t[7]


def test_operators_with_foreign_objects():
    class Mine:
        def __radd__(self, other):
            return "mine"

    assert tf.constant(1.0) + Mine() == "mine"
    assert (np.ones(2, np.float32) * tf.constant([2.0, 3.0])).numpy().tolist() == [2.0, 3.0]
    with pytest.raises(ValueError):
        tf.constant(1.0) + object()


def test_symbolic_tensors_say_what_they_cannot_do():
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.float32, [None, 2])
        for bad in (lambda: bool(x), lambda: iter(x), lambda: len(x)):
            with pytest.raises(TypeError):
                bad()
        with pytest.raises(NotImplementedError):
            np.array(x)
        assert not hasattr(x, "numpy")
        assert x.shape.as_list() == [None, 2] and x.op.type == "Placeholder"


@pytest.mark.parametrize("reduce", [tf.reduce_sum, tf.reduce_mean, tf.reduce_max, tf.reduce_prod, tf.math.reduce_euclidean_norm])
@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [None, 0, 1, -1, [0, 2], (1,), []])
def test_shape_of_a_large_result_that_waits(reduce, axis, keepdims):
    x = tf.ones([40, 50, 60])
    want = np.sum(np.ones([40, 50, 60], np.float32), axis=None if axis is None else tuple(np.atleast_1d(axis).astype(int)), keepdims=keepdims)
    got = reduce(x * 1.0, axis=axis, keepdims=keepdims)
    assert got.shape == want.shape
    assert (got + tf.ones(want.shape)).shape == want.shape
    assert got.numpy().shape == want.shape


def test_an_axis_that_waits_itself():
    axis = tf.reduce_max(tf.ones([300, 200], tf.int32) * 1)
    assert tf.reduce_sum(tf.ones([300, 200]) * 2.0, axis=axis).shape == (300,)
