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


def test_names_keep_the_scope_of_the_function_that_makes_them():
    for outer in (None, tf.Graph()):
        made = []

        @tf.function
        def create():
            with tf.name_scope("foo"):
                if not made:
                    made.append(tf.Variable(0.0, name="bar"))
            return made[0] + 1

        if outer is None:
            create()
        else:
            with outer.as_default():
                create()
        assert made[0].name == "foo/bar:0"


def test_a_handle_without_a_name_is_one_variable_in_all_runs():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        handles = [tf.raw_ops.VarHandleOp(dtype=tf.string, shape=[1]) for _ in range(2)]
        for handle, text in zip(handles, ("a", "b")):
            session.run(tf.raw_ops.AssignVariableOp(resource=handle, value=[text]))
        assert [session.run(tf.raw_ops.ReadVariableOp(resource=h, dtype=tf.string))[0] for h in handles] == [b"a", b"b"]


def test_constant_initializer_refuses_parts():
    with pytest.raises(ValueError, match="Constant initializer doesn't support partition-related arguments"):
        tf.constant_initializer([1, 2, 3, 4])((4, 2), dtype=tf.float32, partition_shape=(2, 2))
    assert tf.zeros_initializer()((4, 2), partition_shape=(2, 2)).shape == [2, 2]
    with pytest.raises(TypeError, match="scalar tensor"):
        iter(tf.Variable(1.0))


def test_load_sets_the_value():
    v = tf.Variable([1.0, 2.0])
    assert v.load([3.0, 4.0]) is None and v.numpy().tolist() == [3, 4]
