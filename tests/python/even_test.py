"""A fixed sample of `make even` (bench/even), judged on memory alone: nothing grows with the number of calls."""
import gc
import pathlib
import sys

import pytest

import evenflow as tf

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "bench" / "even"))
import cases  # noqa: E402
import golden  # noqa: E402
import meter  # noqa: E402
import signatures  # noqa: E402
import ways  # noqa: E402

# Sizes on both sides of the thresholds for deferring (65,536 bytes, and as many elements) and of small tensors.
SIZED = (("multiply", "float64", 10_000), ("square sum", "float32", 20_000), ("number", "int64", 12_000), ("tanh", "float32", 3))
SAMPLE = [(*sized, way) for way in ways.WAYS for sized in SIZED if ways.WAYS[way].takes(sized[1])]


@pytest.mark.parametrize("case", SAMPLE, ids=lambda c: " ".join(map(str, c)))
def test_memory_stays(case):
    for _ in range(3):  # a suspect is looked at again: a leak shows each time, a cache that fills does not
        why = meter.verdict(meter.Meter(tf, case, 0, block=40).measure())
        if not why:
            return
    assert why == []


@pytest.mark.parametrize("name, mode", golden.everything()[::300], ids=lambda v: v)
def test_golden_case_again_and_again(name, mode):
    assert meter.verdict(golden.measure(tf, name, mode)) == []


def test_signatures_stay_within_the_budget():
    """The short form of bench/even/signatures.py."""
    try:
        assert signatures.measure(60, 20, 8) == []
    finally:
        signatures._core.cache_limit(0)


def test_thresholds_are_found_in_the_source():
    """The sizes of the sweep come from the engine's own constants."""
    known = cases.constants()
    assert 65536 in known and len(known) > 30
    assert {65536 // 8, 65536 // 8 - 1, 65536 // 8 + 1, 65536} <= set(cases.sizes("float64"))


def test_growth_is_seen():
    kept = []

    class Leak(meter.Meter):
        def __init__(self):
            self.tf, self.block, self.bytes, self.calls = tf, 40, 4, 0
            self.call = lambda: kept.append(tf.zeros([20_000]) + 1.0)

    assert meter.verdict(Leak().measure())


def test_a_cache_that_fills_at_first_is_no_growth():
    assert meter.growth([100, 200, 220] + [221] * 3 + [222] * 4 + [223] * 3) == 0
    assert meter.growth(list(range(100, 1400, 100))) > 0


def test_attributes_are_looked_up_by_interned_names():
    """A new string for each look-up would fill CPython's cache of type attributes, which keeps the names."""
    class Other:
        def __radd__(self, x):
            return x

    calls = [lambda: tf.raw_ops.StatelessRandomGetKeyCounter(seed=[1, 2]), lambda: tf.constant(1.0) + Other(),
             tf.function(lambda: tf.nn.moments(tf.constant([1.0, 2.0]), 0)), lambda: hasattr(tf, "no_such_name")]
    for call in calls:
        for _ in range(20):
            call()
        gc.collect()
        before = sys.getallocatedblocks()
        for _ in range(100):
            call()
        gc.collect()
        assert sys.getallocatedblocks() - before < 20


def _session_run():
    with tf.Graph().as_default() as graph:
        a, b = tf.compat.v1.placeholder(tf.float32, []), tf.compat.v1.placeholder(tf.float32, [])
        c = a + b
    session = tf.compat.v1.Session(graph=graph)
    return lambda: session.run(c, {a: 1.0, b: 2.0})


def _function_of(result):
    f, a, b = tf.function(lambda a, b: result(a + b)), tf.constant(1.0), tf.constant(2.0)
    return lambda: f(a, b)


def _scalars(op):
    a, b = tf.constant(1.0), tf.constant(2.0)
    return lambda: op(a, b)


@pytest.mark.parametrize("make", [
    lambda: _scalars(lambda a, b: (a + b).numpy()), lambda: _scalars(tf.add), lambda: _scalars(lambda a, b: a * 2.0), _session_run,
    lambda: _function_of(lambda v: v), lambda: _function_of(lambda v: {"v": v}), lambda: _function_of(lambda v: (v, [v * 2.0, v])),
    lambda: _scalars(tf.function(lambda a, b: a + b).get_concrete_function(tf.TensorSpec([]), tf.TensorSpec([])))])
def test_a_small_call_allocates_nothing(make):
    call = make()
    tf._core.event_burst(2000)  # sampled calls are kept until then
    for _ in range(3000):
        call()
    gc.collect()
    engine, python = tf._core.allocations(), sys.getallocatedblocks()
    for _ in range(500):
        call()
    engine = tf._core.allocations() - engine
    assert sys.getallocatedblocks() - python < 20
    assert engine < 20  # one call in a thousand is sampled


def test_a_result_that_is_its_own_input_makes_no_chain():
    """A cast to a wider dtype and back is dropped, so the variable is assigned the very bytes it had."""
    v = tf.Variable(tf.ones([100_000], tf.float16))

    def heap_after(calls):
        for _ in range(calls):
            v.assign(tf.cast(tf.cast(v, tf.float32), tf.float16))
        tf._core.wait()
        info = meter.mallinfo()
        return info.uordblks + info.hblkhd

    heap_after(100)
    assert heap_after(100) + 20_000 > heap_after(500)
    assert float(v[7]) == 1.0
