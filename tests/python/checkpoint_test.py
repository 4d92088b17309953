"""Checkpoints: files of TensorFlow's own, memory and files after many saves, hostile files, callbacks of Keras. What
TensorFlow answers to calls is compared in io_test.py (io_checkpoints_cases.py)."""
import gc
import os
import pathlib
import shutil

import numpy as np
import pytest

import evenflow as tf
from evenflow import _core

HERE = pathlib.Path(__file__).resolve().parent


def test_a_checkpoint_of_tensorflow():
    """tensorflow.ckpt.* were written by TensorFlow 2.21: every dtype, an object graph, a counter."""
    m = tf.Module()
    m.a, m.list = tf.Variable(0.0), [tf.Variable([0, 0])]
    c = tf.train.Checkpoint(m=m, text=tf.Variable(["", ""]), half=tf.Variable(tf.zeros([3], tf.bfloat16)),
                            flag=tf.Variable(False), z=tf.Variable(tf.zeros([], tf.complex128)))
    c.restore(str(HERE / "tensorflow.ckpt-1")).assert_consumed()
    assert m.a.numpy() == 1.5 and m.list[0].numpy().tolist() == [3, -4]
    assert c.text.numpy().tolist() == [b"one", b"\xff\0"] and c.flag.numpy() and c.z.numpy() == 2 - 3j
    assert c.half.numpy().astype(float).tolist() == [1.0, -2.0, 0.5] and c.save_counter.numpy() == 1


def test_files_are_those_of_tensorflow(tmp_path):
    m = tf.Module()
    m.a, m.list = tf.Variable(1.5), [tf.Variable([3, -4])]
    c = tf.train.Checkpoint(m=m, text=tf.Variable([b"one", b"\xff\0"]), half=tf.Variable(tf.constant([1, -2, .5], tf.bfloat16)),
                            flag=tf.Variable(True), z=tf.Variable(tf.constant(2 - 3j, tf.complex128)))
    path = c.save(tmp_path / "tensorflow.ckpt")
    for end in (".index", ".data-00000-of-00001"):
        assert pathlib.Path(path + end).read_bytes() == (HERE / ("tensorflow.ckpt-1" + end)).read_bytes()


def test_saving_300_times_keeps_nothing(tmp_path):
    """Neither Python objects nor the engine's memory nor files grow with the number of saves."""
    layers = [tf.Variable(tf.ones([8, 8])) for _ in range(10)]
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(layers=layers), tmp_path, max_to_keep=3)
    seen = []
    for k in range(300):
        manager.save()
        manager.checkpoint.restore(manager.latest_checkpoint).assert_consumed()
        if k in (50, 299):
            gc.collect()
            seen.append((len(gc.get_objects()), tf.config.experimental.get_memory_info("CPU:0")["current"], len(os.listdir(tmp_path))))
    (objects, memory, files), (later_objects, later_memory, later_files) = seen
    assert abs(later_objects - objects) < 50 and later_memory <= memory + 4096 and files == later_files == 7


def test_a_saver_adds_no_nodes_when_it_saves(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default() as g, v1.Session() as sess:
        v = v1.get_variable("v", initializer=1.0)
        saver = v1.train.Saver(max_to_keep=1)
        sess.run(v.initializer)
        nodes = len(g.get_operations())
        for k in range(30):
            saver.restore(sess, saver.save(sess, str(tmp_path / "m"), global_step=k))
        assert len(g.get_operations()) == nodes
        checkpoint = v1.train.Checkpoint(v=v)
        checkpoint.save_counter.initializer.run(session=sess)
        nodes = len(g.get_operations())
        for _ in range(10):
            checkpoint.restore(checkpoint.save(str(tmp_path / "c"), session=sess)).run_restore_ops(sess)
        assert len(g.get_operations()) == nodes


def test_another_shape_is_refused(tmp_path):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as sess:
        a, b = v1.get_variable("a", initializer=tf.zeros([2])), v1.get_variable("b", initializer=tf.zeros([3]))
        sess.run(v1.global_variables_initializer())
        path = v1.train.Saver([a]).save(sess, str(tmp_path / "m"))
        with pytest.raises(tf.errors.InvalidArgumentError, match="mismatch between the current graph"):
            v1.train.Saver({"a": b}).restore(sess, path)
        assert sess.run(b).tolist() == [0, 0, 0]


def test_no_file_is_left_of_a_save_that_fails(tmp_path):
    with pytest.raises(tf.errors.InvalidArgumentError, match="duplicate key: a"):
        tf.raw_ops.SaveV2(prefix=str(tmp_path / "c"), tensor_names=["a", "a"], shape_and_slices=["", ""], tensors=[1.0, 2.0])
    assert os.listdir(tmp_path) == []


def test_slices_are_refused(tmp_path):
    with pytest.raises(tf.errors.UnimplementedError, match="only whole tensors"):
        tf.raw_ops.SaveV2(prefix=str(tmp_path / "c"), tensor_names=["a"], shape_and_slices=["4 0,2"], tensors=[[1.0, 2.0]])


@pytest.mark.parametrize("end", [".index", ".data-00000-of-00001"])
def test_damaged_files(tmp_path, end):
    for part in (".index", ".data-00000-of-00001"):
        shutil.copy(HERE / ("tensorflow.ckpt-1" + part), tmp_path / ("c" + part))
    whole = (tmp_path / ("c" + end)).read_bytes()
    v = tf.Variable([0, 0])
    for size in range(0, len(whole), 7):
        (tmp_path / ("c" + end)).write_bytes(whole[:size])
        with pytest.raises((tf.errors.DataLossError, tf.errors.OutOfRangeError)):
            tf.train.Checkpoint(m=tf.train.Checkpoint(list=[v]), text=tf.Variable(["", ""])).restore(str(tmp_path / "c"))


def test_a_damaged_graph_of_objects(tmp_path):
    path = str(tmp_path / "c")
    for data in (b"", b"\x0a\x05abc", b"\x0a\x06\x0a\x04\x08\x09\x12\x00", b"\xff" * 20):
        tf.raw_ops.SaveV2(prefix=path, tensor_names=["_CHECKPOINTABLE_OBJECT_GRAPH"], shape_and_slices=[""], tensors=[data])
        with pytest.raises(tf.errors.DataLossError, match="graph of objects"):
            tf.train.Checkpoint().restore(path)


def test_entries_say_what_is_there(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable([[1, 2]])).write(str(tmp_path / "c"))
    assert _core.checkpoint_entries(path)[1] == ("v/.ATTRIBUTES/VARIABLE_VALUE", 3, [1, 2])


def test_lists_stay_lists_unless_something_is_missing(tmp_path):
    m = tf.Module()
    m.list = [tf.Variable(1.0)]
    path = tf.train.Checkpoint(m=m).write(str(tmp_path / "c"))
    held = m.list
    tf.train.Checkpoint(m=m).read(path).assert_consumed()
    assert m.list is held and type(held) is list


def test_keras_callbacks(tmp_path):
    keras = pytest.importorskip("keras")
    x, y = np.ones((8, 3), np.float32), np.ones((8, 1), np.float32)
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(1)])
    model.compile("adam", "mse")

    class Save(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            manager.save()

    manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), tmp_path / "k", max_to_keep=2)
    model.fit(x, y, epochs=3, verbose=0, callbacks=[Save(), keras.callbacks.BackupAndRestore(tmp_path / "b")])
    after = [v.numpy() for v in model.variables]
    model.fit(x, y, epochs=1, verbose=0)
    manager.checkpoint.restore(manager.latest_checkpoint).assert_consumed()
    assert all(np.array_equal(a, v.numpy()) for a, v in zip(after, model.variables))
    assert len(manager.checkpoints) == 2


def test_a_given_number_counts_as_a_save(tmp_path):
    checkpoint = tf.train.Checkpoint(v=tf.Variable(1.0))
    manager = tf.train.CheckpointManager(checkpoint, tmp_path, max_to_keep=None)
    manager.save()
    manager.save(checkpoint_number=9)
    manager.save()
    assert [os.path.basename(p) for p in manager.checkpoints] == ["ckpt-1", "ckpt-9", "ckpt-3"]


@pytest.mark.parametrize("line", ["model_checkpoint_path: 3", 'last_preserved_timestamp: "x"', "__class__: 3"])
def test_odd_lines_of_the_state(tmp_path, line):
    (tmp_path / "checkpoint").write_text(f'model_checkpoint_path: "a"\n{line}\n')
    assert tf.train.get_checkpoint_state(tmp_path) is None
    assert tf.train.latest_checkpoint(tmp_path) is None


def test_a_keras_model_is_restored_before_it_is_built(tmp_path):
    """Training goes on where it was: variables made while Keras traces the call for its shapes have the values of the file."""
    keras = pytest.importorskip("keras")

    class Net(keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = keras.layers.Dense(5)

        def call(self, a):
            return self.dense(a)

    def made():
        net, optimizer = Net(), keras.optimizers.Adam(0.1)
        return net, optimizer, tf.train.Checkpoint(net=net, optimizer=optimizer)

    def step(net, optimizer):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(net(tf.ones((2, 3))) - 1.0))
        optimizer.apply_gradients(zip(tape.gradient(loss, net.trainable_variables), net.trainable_variables))
        return float(loss)

    net, optimizer, c = made()
    for _ in range(3):
        step(net, optimizer)
    path = c.save(str(tmp_path / "c"))
    later_net, later_optimizer, later = made()
    status = later.restore(path)
    assert [step(later_net, later_optimizer) for _ in range(3)] == [step(net, optimizer) for _ in range(3)]
    assert len(later_net.trainable_variables) == 2
    status.assert_existing_objects_matched()
    wrong = Net()
    wrong.dense.units = 4
    tf.train.Checkpoint(net=wrong).restore(path)
    with pytest.raises(ValueError, match=r"incompatible tensor with shape \(3, 5\).*\(3, 4\)"):
        wrong.dense.build((None, 3))
