"""Functions that are part of a cycle, as those of a model are, are freed although the garbage collector would not look for long."""
import gc
import re

import pytest

import evenflow as tf
from evenflow import _core


class Model:
    """A cycle: the function holds the model, which holds the function."""

    def __init__(self, width):
        self.weight = tf.Variable(tf.ones([width]))
        self.step = tf.function(lambda x: tf.reduce_sum(self.chain(x)))

    def chain(self, x):
        for _ in range(60):
            x = tf.tanh(x * self.weight)
        return x


def traces():
    return int(re.search(r"traces: .* in (\d+) entries", _core.memory_report()).group(1))


@pytest.fixture
def idle_collector():
    """The collector as it is in a program with very many objects: it does not look at old ones."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(10**6, 10**6, 10**6)
    yield
    gc.set_threshold(*before)
    gc.enable()
    gc.collect()


def test_models_made_in_a_loop_are_freed(idle_collector):
    before, most = traces(), 0
    for k in range(300):
        Model(3 + k % 5).step(tf.ones([3 + k % 5]))
        most = max(most, traces() - before)
    assert most < 150, most


def test_a_disabled_collector_stays_so(idle_collector):
    gc.disable()
    before = traces()
    for k in range(60):
        Model(3).step(tf.ones([3]))
    assert traces() - before == 60
    assert not gc.isenabled()


def test_models_in_use_are_kept(idle_collector):
    models = [Model(3) for _ in range(60)]
    for model in models:
        model.step(tf.ones([3]))
    assert all(model.step.experimental_get_tracing_count() == 1 for model in models)
    for model in models:
        model.step(tf.ones([3]))
    assert all(model.step.experimental_get_tracing_count() == 1 for model in models)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_finalizers_may_raise(idle_collector):
    class Odd(Model):
        def __del__(self):
            raise ValueError("from a finalizer")
    for k in range(100):
        assert Odd(2).step(tf.ones([2])).shape == []
