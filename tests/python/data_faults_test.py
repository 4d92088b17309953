"""Faults at every stage of a pipeline: an error, a slow element, an early end and an interruption end in the right exception, and
no thread, descriptor or byte is left behind."""
import gc
import os
import signal
import threading
import time

import numpy as np
import pytest

import evenflow as tf

data, AUTO = tf.data.Dataset, tf.data.AUTOTUNE
N, AT = 12, 5  # elements of the source, and the one that is faulty


class Marked(Exception):
    """What a user's generator raises."""


def faulty(kind, armed):
    """A generator whose element AT raises, is slow, is the last, or is interrupted."""
    def make():
        for k in range(N):
            if k == AT and armed[0]:
                if kind == "error":
                    raise Marked("element five")
                if kind == "slow":
                    time.sleep(0.05)
                if kind == "end":
                    return
                if kind == "interrupt":
                    os.kill(os.getpid(), signal.SIGINT)
                    time.sleep(0.05)
            yield np.int64(k)
    return make


def failing(x):
    """The same as an op of a traced function."""
    with tf.control_dependencies([tf.debugging.Assert(tf.not_equal(x, AT), ["element five"])]):
        return tf.identity(x)


# Each stage, behind the faulty one, and what it gives when nothing is wrong: a function of the numbers 0 .. n-1.
STAGES = {
    "map": lambda d, tmp: d.map(lambda x: x + 1),
    "parallel map": lambda d, tmp: d.map(lambda x: x + 1, num_parallel_calls=4),
    "tuned map": lambda d, tmp: d.map(lambda x: tf.numpy_function(lambda v: v + 1, [x], tf.int64), num_parallel_calls=AUTO),
    "filter": lambda d, tmp: d.filter(lambda x: x % 2 == 0),
    "batch": lambda d, tmp: d.batch(2),
    "parallel batch": lambda d, tmp: d.batch(2, num_parallel_calls=2),
    "padded batch": lambda d, tmp: d.map(lambda x: tf.range(x)).padded_batch(3),
    "unbatch": lambda d, tmp: d.batch(2).unbatch(),
    "window": lambda d, tmp: d.window(3).flat_map(lambda w: w.batch(3)),
    "flat map": lambda d, tmp: d.flat_map(lambda x: data.from_tensors(x).repeat(2)),
    "interleave": lambda d, tmp: d.interleave(lambda x: data.from_tensors(x).repeat(2), cycle_length=3),
    "parallel interleave": lambda d, tmp: d.interleave(lambda x: data.from_tensors(x).repeat(2), cycle_length=3,
                                                       num_parallel_calls=3),
    "shuffle": lambda d, tmp: d.shuffle(3, seed=1),
    "repeat": lambda d, tmp: d.repeat(2),
    "take": lambda d, tmp: d.take(10),
    "skip": lambda d, tmp: d.skip(1),
    "shard": lambda d, tmp: d.shard(2, 0),
    "concatenate": lambda d, tmp: d.concatenate(data.range(2)),
    "zip": lambda d, tmp: data.zip((d, data.range(100))),
    "enumerate": lambda d, tmp: d.enumerate(),
    "scan": lambda d, tmp: d.scan(np.int64(0), lambda s, x: (s + x, s)),
    "take while": lambda d, tmp: d.take_while(lambda x: x < 100),
    "unique": lambda d, tmp: d.unique(),
    "cache": lambda d, tmp: d.cache(),
    "cache in a file": lambda d, tmp: d.cache(os.path.join(tmp, "cache")),
    "snapshot": lambda d, tmp: d.snapshot(os.path.join(tmp, "snapshot")),
    "prefetch": lambda d, tmp: d.prefetch(2),
    "tuned prefetch": lambda d, tmp: d.prefetch(AUTO),
    "group by window": lambda d, tmp: d.group_by_window(lambda x: x % 2, lambda k, w: w.batch(4), window_size=4),
    "bucket": lambda d, tmp: d.map(lambda x: tf.range(x)).bucket_by_sequence_length(tf.size, [4, 8], [2, 2, 2]),
    "sample": lambda d, tmp: data.sample_from_datasets([d, data.range(4)], seed=2),
    "rejection": lambda d, tmp: d.rejection_resample(lambda x: tf.cast(x % 2, tf.int32), [0.5, 0.5], [0.5, 0.5], seed=3),
}


def source(kind, armed):
    return data.from_generator(faulty(kind, armed), output_signature=tf.TensorSpec((), tf.int64))


def drawn(dataset):
    """How many elements come before the end or the exception, and the exception."""
    n = 0
    try:
        for _ in dataset:
            n += 1
    except BaseException as e:  # noqa: BLE001 (it is the answer)
        return n, e
    return n, None


def left_behind():
    """Threads that make elements, and descriptors."""
    gc.collect()
    names = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/comm") as f:
                names.append(f.read().strip())
        except OSError:
            pass  # it ended
    return names.count("evenflow-data"), len(os.listdir("/proc/self/fd"))


def settled(files):
    for _ in range(300):
        threads, now = left_behind()
        if threads == 0 and now <= files:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("stage", list(STAGES))
@pytest.mark.parametrize("kind", ["error", "slow", "end", "interrupt"])
def test_fault_of_the_source(stage, kind, tmp_path):
    assert threading.current_thread() is threading.main_thread()
    _, files = left_behind()
    armed = [True]
    (tmp_path / "armed").mkdir()
    (tmp_path / "whole").mkdir()
    whole, none = drawn(STAGES[stage](source("none", [False]), str(tmp_path / "whole")))
    assert none is None and whole > 0
    dataset = STAGES[stage](source(kind, armed), str(tmp_path / "armed"))
    n, e = drawn(dataset)
    if kind == "error":
        assert isinstance(e, tf.errors.OpError) and "element five" in str(e) and "Marked" in str(e), e
        assert n < whole
    elif kind == "interrupt":
        assert isinstance(e, KeyboardInterrupt), e
    elif kind == "end":
        assert e is None and n <= whole
    else:
        assert e is None and n == whole
    del e
    if kind in ("error", "interrupt"):  # the same dataset works once the fault is gone
        armed[0] = False
        again, none = drawn(dataset)
        assert none is None and again == whole
    assert settled(files)


@pytest.mark.parametrize("stage", list(STAGES))
def test_op_that_fails(stage, tmp_path):
    """An error of an op has the class of the op's error, and names the element and the stage."""
    _, files = left_behind()
    n, e = drawn(STAGES[stage](data.range(N).map(failing), str(tmp_path)))
    assert isinstance(e, tf.errors.InvalidArgumentError) and "element five" in str(e), e
    assert "while making element" in str(e)
    del e
    assert settled(files)


@pytest.mark.parametrize("stage", list(STAGES))
def test_consumer_that_stops_early(stage, tmp_path):
    _, files = left_behind()
    iterator = iter(STAGES[stage](source("slow", [True]), str(tmp_path)))
    next(iterator)
    del iterator
    assert settled(files)
