"""Python functions in Dataset.map with several calls at a time: any order where the program allows it, calls that wait for each
other, and threads that end where they do not help and come back where they do."""
import threading
import time

import numpy as np
import pytest

import evenflow as tf


def _sleeps_at(where, seconds):
    def sleep(x):
        time.sleep(seconds)
        return x

    def f(x):
        return tf.numpy_function(sleep, [x], tf.int64) if tf.equal(x, where) else x
    return f


def _read(dataset):
    return [int(n) for n in dataset]


@pytest.mark.parametrize("deterministic, option", [(False, None), (None, False), (False, True)])
def test_any_order(deterministic, option):
    """A slow element does not hold up the others."""
    ds = tf.data.Dataset.range(300).map(_sleeps_at(0, 0.3), num_parallel_calls=2, deterministic=deterministic)
    if option is not None:
        options = tf.data.Options()
        options.deterministic = option
        ds = ds.with_options(options)
    found = _read(ds)
    assert sorted(found) == list(range(300)) and found.index(0) > 100


@pytest.mark.parametrize("deterministic, option", [(True, None), (None, None), (True, False), (None, True)])
def test_order_is_kept(deterministic, option):
    ds = tf.data.Dataset.range(300).map(_sleeps_at(0, 0.05), num_parallel_calls=4, deterministic=deterministic)
    if option is not None:
        options = tf.data.Options()
        options.deterministic = option
        ds = ds.with_options(options)
    assert _read(ds) == list(range(300))


def test_an_error_and_the_end_in_any_order():
    def f(x):
        if x == 7:
            raise ValueError("seven")
        return x
    ds = tf.data.Dataset.range(40).map(lambda x: tf.numpy_function(f, [x], tf.int64), num_parallel_calls=4, deterministic=False)
    found = _read(ds.ignore_errors())
    assert sorted(found) == [n for n in range(40) if n != 7]


def _interleaved(deterministic, option=None):
    """Three datasets, the first of which waits before each of its elements."""
    def wait(n):
        if n < 10:
            time.sleep(0.1)
        return n
    ds = tf.data.Dataset.range(3).interleave(
        lambda k: tf.data.Dataset.range(10 * k, 10 * k + 4).map(lambda n: tf.numpy_function(wait, [n], tf.int64)),
        cycle_length=3, num_parallel_calls=3, deterministic=deterministic)
    if option is not None:
        options = tf.data.Options()
        options.deterministic = option
        ds = ds.with_options(options)
    return _read(ds)


@pytest.mark.parametrize("deterministic, option", [(False, None), (None, False), (False, True)])
def test_interleaved_datasets_leave_as_they_are_ready(deterministic, option):
    found = _interleaved(deterministic, option)
    assert sorted(found) == [0, 1, 2, 3, 10, 11, 12, 13, 20, 21, 22, 23]
    assert found[0] >= 10 and found.index(3) == 11
    for k in range(3):
        assert [n for n in found if n // 10 == k] == [10 * k + j for j in range(4)]


@pytest.mark.parametrize("deterministic, option", [(True, None), (None, None), (True, False)])
def test_interleaved_datasets_keep_their_order(deterministic, option):
    assert _interleaved(deterministic, option) == [10 * k + j for j in range(4) for k in range(3)]


def test_interleaved_errors_and_the_end_in_any_order():
    def f(n):
        if n == 11:
            raise ValueError("eleven")
        return n
    ds = tf.data.Dataset.range(5).interleave(
        lambda k: tf.data.Dataset.range(10 * k, 10 * k + 3).map(lambda n: tf.numpy_function(f, [n], tf.int64)),
        cycle_length=2, num_parallel_calls=2, deterministic=False)
    assert sorted(_read(ds.ignore_errors())) == [10 * k + j for k in range(5) for j in range(3) if 10 * k + j != 11]
    iterator = iter(ds)
    next(iterator)
    del iterator


def test_calls_that_wait_for_each_other():
    barrier = threading.Barrier(2, timeout=20)

    def f(x):
        barrier.wait()
        return x
    ds = tf.data.Dataset.range(8).map(lambda x: tf.numpy_function(f, [x], tf.int64), num_parallel_calls=2)
    assert _read(ds) == list(range(8))


def test_short_calls_leave_the_threads():
    threads = set()

    def f(x):
        threads.add(threading.get_ident())
        last[0] = threading.get_ident()
        return np.int64(2 * x)
    last = [0]
    ds = tf.data.Dataset.range(500).map(lambda x: tf.numpy_function(f, [x], tf.int64), num_parallel_calls=4)
    for _ in range(3):  # the machine may be busy, and a call then seems long
        assert _read(ds) == [2 * n for n in range(500)]
        if last[0] == threading.get_ident():
            return
    raise AssertionError("the calls stayed on threads")


def test_calls_that_begin_to_wait_get_threads():
    """Four at a time again: 40 waits of 20 ms take about 0.2 s."""
    def f(x):
        if x >= 100:
            time.sleep(0.02)
        return x
    ds = tf.data.Dataset.range(140).map(lambda x: tf.numpy_function(f, [x], tf.int64), num_parallel_calls=4)
    began = time.perf_counter()
    assert _read(ds) == list(range(140))
    assert time.perf_counter() - began < 0.7


def test_many_iterations_leave_nothing():
    ds = tf.data.Dataset.range(64).map(lambda x: tf.numpy_function(lambda v: v + 1, [x], tf.int64), num_parallel_calls=2,
                                       deterministic=False)
    for k in range(60):
        iterator = iter(ds)
        for _ in range(k):
            next(iterator)
    del iterator
    assert threading.active_count() < 8
    assert sorted(_read(ds)) == list(range(1, 65))
