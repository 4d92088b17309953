"""tf.Module, tf.config, and what else tells of the machine."""
import logging

import numpy as np
import pytest

import evenflow as tf


class HTTPLayer2D(tf.Module):
    def __init__(self, name=None):
        super().__init__(name)
        self.b = tf.Variable(1.0, name="b")
        self.a = [tf.Variable(2.0, name="a"), {"z": tf.Variable(3.0, trainable=False, name="z")}]
        with self.name_scope:
            self.w = tf.Variable(4.0, name="w")

    @tf.Module.with_name_scope
    def made(self):
        return tf.Variable(1.0, name="q").name


def test_module_names():
    assert tf.Module().name == "module" and tf.Module("abc").name_scope.name == "abc/"
    layer = HTTPLayer2D()
    assert layer.name == "http_layer2_d"
    assert (layer.w.name, layer.made()) == ("http_layer2_d/w:0", "http_layer2_d/q:0")
    for bad in ("1a", "a b", ""):
        with pytest.raises(ValueError, match="valid module name"):
            tf.Module(bad)


def test_module_finds_variables_and_modules():
    outer, inner = HTTPLayer2D(), HTTPLayer2D("inner")
    outer.sub, inner.back, outer.again = {"k": [inner]}, outer, inner
    assert [v.name for v in outer.variables] == [
        "a:0", "z:0", "b:0", "http_layer2_d/w:0", "a:0", "z:0", "b:0", "inner/w:0"]
    assert len(outer.trainable_variables) == 6 and len(outer.non_trainable_variables) == 2
    assert outer.submodules == (inner,)
    paths = dict(inner._flatten(with_path=True, predicate=lambda v: v is inner.a[0]))
    assert paths == {("a", 0): inner.a[0]} or list(paths) == [("a", 0)]


def test_devices():
    [cpu] = tf.config.list_physical_devices()
    assert cpu == tf.config.PhysicalDevice("/physical_device:CPU:0", "CPU")
    assert tf.config.list_physical_devices("GPU") == []
    assert tf.config.list_logical_devices()[0].name == "/device:CPU:0"
    with pytest.raises(ValueError, match="memory growth"):
        tf.config.experimental.set_memory_growth(cpu, True)
    with pytest.raises(ValueError, match="Unrecognized device"):
        tf.config.set_visible_devices(tf.config.PhysicalDevice("/physical_device:GPU:0", "GPU"))


def test_a_device_that_is_not_there_is_the_cpu(caplog):
    tf.get_logger().propagate = True
    with caplog.at_level(logging.WARNING, "tensorflow"):
        for _ in range(3):
            with tf.device("/TPU:0"):
                assert (tf.constant(1.0) + 1.0).numpy() == 2.0
    assert sum("TPU" in r.getMessage() for r in caplog.records) <= 1
    for bad in ("foo", "/device:"):
        with pytest.raises(ValueError):
            with tf.device(bad):
                pass
    with pytest.raises(ValueError, match="string device name"):
        with tf.device(3):
            pass
    tf.config.set_soft_device_placement(False)
    try:
        with pytest.raises(tf.errors.InvalidArgumentError):
            with tf.device("GPU:0"):
                pass
    finally:
        tf.config.set_soft_device_placement(True)


def test_memory_of_the_cpu():
    info = tf.config.experimental.get_memory_info
    big = tf.constant(np.zeros(1 << 18, np.float32)) + 1.0
    big.numpy()
    assert info("CPU:0")["current"] >= 1 << 20 and info("/device:CPU:0")["peak"] >= 1 << 20
    del big
    tf.config.experimental.reset_memory_stats("CPU:0")
    assert info("CPU:0")["peak"] == info("CPU:0")["current"] == tf.config.experimental.get_memory_usage("CPU:0")
    with pytest.raises(ValueError, match="Failed parsing"):
        info("XX")


def test_switches():
    before = tf.config.threading.get_intra_op_parallelism_threads()
    tf.config.threading.set_intra_op_parallelism_threads(1)
    assert tf.config.threading.get_intra_op_parallelism_threads() == 1
    tf.config.threading.set_intra_op_parallelism_threads(before)
    tf.config.optimizer.set_experimental_options({"layout_optimizer": True})
    assert tf.config.optimizer.get_experimental_options()["layout_optimizer"] is True
    assert tf.test.is_built_with_xla() and not tf.test.is_gpu_available() and tf.test.gpu_device_name() == ""
    assert tf.version.VERSION == tf.__version__ and tf.sysconfig.get_build_info()["is_cuda_build"] is False


def test_the_default_strategy():
    strategy = tf.distribute.get_strategy()
    assert not tf.distribute.has_strategy() and strategy.num_replicas_in_sync == 1
    assert strategy.run(lambda a, b: a + b, args=(1,), kwargs={"b": 2}) == 3
    assert strategy.reduce("SUM", tf.constant([1.0, 2.0]), axis=0).numpy() == 3.0
    assert strategy.experimental_local_results(5) == (5,)
    with strategy.scope():
        assert not tf.distribute.has_strategy()
    replica = tf.distribute.get_replica_context()
    assert replica.all_reduce(tf.distribute.ReduceOp.SUM, 4.0) == 4.0
    assert replica.merge_call(lambda s, x: (s is strategy, x), args=(1,)) == (True, 1)
    with pytest.raises(NotImplementedError):
        tf.distribute.TPUStrategy()


def test_optionals():
    some = tf.experimental.Optional.from_value({"a": tf.constant(1.0), "b": [2]})
    none = tf.experimental.Optional.empty(some.element_spec)
    assert some.has_value() and not none.has_value()
    assert some.get_value()["b"][0].numpy() == 2
    with pytest.raises(tf.errors.InvalidArgumentError):
        none.get_value()

    @tf.function(autograph=False)
    def through(optional):
        return tf.experimental.Optional.from_value(optional.get_value()["a"] * 2.0)

    assert through(some).get_value().numpy() == 2.0
    with pytest.raises(tf.errors.InvalidArgumentError):
        through(none)


def test_determinism_is_noted(monkeypatch):
    from evenflow._src import config

    monkeypatch.setattr(config._now, "deterministic", False)
    assert not config.is_op_determinism_enabled()
    tf.config.experimental.enable_op_determinism()
    assert config.is_op_determinism_enabled()
