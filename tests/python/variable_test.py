"""What assignments of a variable give back."""
import copy
import gc
import weakref

import pytest

import evenflow as tf


def test_what_an_assignment_gives_back():
    v = tf.Variable([1.0, 2.0], name="v")
    v.note = "kept"
    for after in (v.assign([3.0, 4.0]), v[0].assign(3.0), v.scatter_nd_update([[0]], [3.0])):
        assert repr(after) == "<tf.Variable 'UnreadVariable' shape=(2,) dtype=float32, numpy=array([3., 4.], dtype=float32)>"
        assert isinstance(after, tf.Variable) and after is not v and after.note == "kept" and after.trainable
    later = v.assign_add([1.0, 1.0])
    v.assign([7.0, 8.0])
    assert later.numpy().tolist() == [7, 8] and later.assign_sub([1.0, 1.0]).numpy().tolist() == [6, 7]
    assert v.numpy().tolist() == [6, 7] and v.name == "v:0"
    assert v.assign([1.0, 2.0], read_value=False) is None
    with tf.GradientTape() as tape:
        y = v.assign([3.0, 4.0]) * 2.0
    assert tape.gradient(y, v).numpy().tolist() == [2, 2]
    copied = copy.deepcopy(later)
    assert type(copied) is tf.Variable and copied.numpy().tolist() == [3, 4]
    with pytest.raises(TypeError):
        v._again(int)


def test_assignments_leave_nothing_behind():
    v = tf.Variable(1.0)
    reference = weakref.ref(v)
    for _ in range(100):
        v.assign_add(1.0)
    kept = v.assign_add(1.0)
    del v
    gc.collect()
    assert reference() is None and float(kept) == 102
