"""Positions of iterators: whatever the number of workers, whatever is made ahead, and of damaged bytes."""
import random
import threading

import numpy as np
import pytest

import evenflow as tf

D = tf.data.Dataset


def _slow(x):
    """Takes long enough for threads to be worth it."""
    m = tf.fill([220, 220], tf.cast(x, tf.float32))
    return x + tf.cast(tf.reduce_sum(tf.linalg.matmul(m, m)) * 0, tf.int64)


PIPELINES = {
    "map": lambda n: D.range(60).map(_slow, num_parallel_calls=n),
    "map_batch": lambda n: D.range(60).map(_slow, num_parallel_calls=n).batch(3, num_parallel_calls=n).prefetch(n),
    "interleave": lambda n: D.range(12).interleave(
        lambda x: D.range(10 * x, 10 * x + 5).map(_slow), cycle_length=3, num_parallel_calls=min(n, 3)),
    "shuffled": lambda n: D.range(60).shuffle(9, seed=1).map(_slow, num_parallel_calls=n).repeat(2).prefetch(n),
    "zipped": lambda n: D.zip((D.range(60).map(_slow, num_parallel_calls=n), D.range(100, 160).map(_slow).prefetch(n))),
    "injected": lambda n: D.range(60).map(_slow).map(_slow),
}


def _plain(elements):
    return [tf.nest.map_structure(lambda t: t.numpy().tolist(), e) for e in elements]


@pytest.mark.parametrize("workers", [1, 2, 8, -1])
@pytest.mark.parametrize("name", list(PIPELINES))
def test_the_next_element_comes_next(name, workers):
    threads = threading.active_count()
    whole = _plain(PIPELINES[name](1))
    it, seen = iter(PIPELINES[name](workers)), []
    for stop in (0, 3, 4, 7, 11):
        while len(seen) < stop:
            seen += _plain([next(it)])
        state = it._save()
        seen += _plain([next(it)])  # the iterator goes on after saving
        other = iter(PIPELINES[name](workers))
        other._restore(state)
        assert _plain(other) == whole[stop:]
    assert seen + _plain(it) == whole
    assert threading.active_count() == threads


@pytest.mark.parametrize("workers", [1, 8])
def test_saved_twice_in_a_row(workers):
    whole = _plain(PIPELINES["map_batch"](1))
    it, at = iter(PIPELINES["map_batch"](workers)), 0
    for n in (2, 1, 0, 3, 2):
        for _ in range(n):
            assert _plain([next(it)]) == whole[at:at + 1]
            at += 1
        state = it._save()
        it = iter(PIPELINES["map_batch"](workers))
        it._restore(state)
    assert _plain(it) == whole[at:]


def test_errors_that_were_made_ahead_are_saved():
    def make():
        return D.range(12).map(lambda x: tf.strings.to_number(tf.where(_slow(x) == 8, "eight", "1")), num_parallel_calls=4)

    it = iter(make())
    for _ in range(7):
        next(it)
    other = iter(make())
    other._restore(it._save())
    next(other)
    with pytest.raises(tf.errors.InvalidArgumentError, match="eight"):
        next(other)
    assert len(list(other)) == 3


def test_an_unseeded_shuffle_goes_on_in_its_order():
    ds = D.range(50).shuffle(50).repeat(2)
    it = iter(ds)
    for _ in range(60):
        next(it)
    state = it._save()
    rest = _plain(it)
    other = iter(D.range(50).shuffle(50).repeat(2))
    other._restore(state)
    assert _plain(other) == rest


def test_seeds_of_rounds_that_have_not_begun():
    def make():
        return D.range(3).concatenate(D.range(10, 18).shuffle(8, seed=5)).repeat(3)

    whole = _plain(make())
    for stop in (1, 3, 5, 12, 20, 24):
        it = iter(make())
        for _ in range(stop):
            next(it)
        other = iter(make())
        other._restore(it._save())
        assert _plain(other) == whole[stop:], stop


def test_an_element_that_was_looked_at_stays_the_next():
    @tf.function
    def until(it, most):
        total = tf.constant(0, tf.int64)
        for x in it:
            if x >= most:
                break
            total += x
        return total

    it = iter(D.range(20))
    assert until(it, 5) == 10
    other = iter(D.range(20))
    other._restore(it._save())
    assert next(other) == next(it) == 6


def test_a_file_of_a_cache_that_another_iteration_goes_on_with(tmp_path):
    def make():
        return D.range(6).map(lambda x: 3 * x).cache(str(tmp_path / "c"))

    it = iter(make())
    next(it), next(it)
    state = it._save()
    del it
    other = iter(make())
    other._restore(state)
    assert _plain(other) == [6, 9, 12, 15]
    assert _plain(make()) == [0, 3, 6, 9, 12, 15]
    assert (tmp_path / "c.index").exists()


def test_a_snapshot_is_written_by_whole_iterations_only(tmp_path):
    def make():
        return D.range(6).snapshot(str(tmp_path / "s"))

    it = iter(make())
    next(it), next(it)
    other = iter(make())
    other._restore(it._save())
    assert _plain(other) == [2, 3, 4, 5]
    assert _plain(make()) == list(range(6))


def test_an_interrupted_wait_leaves_the_iterator_usable():
    it = iter(PIPELINES["map_batch"](8))
    next(it)
    for _ in range(30):
        state = it._save()
    other = iter(PIPELINES["map_batch"](8))
    other._restore(state)
    assert _plain(other) == _plain(it)


def test_elements_that_cannot_be_saved_say_so():
    ds = D.range(9).map(lambda x: D.range(x)).shuffle(4)
    it = iter(ds)
    next(it)
    with pytest.raises(tf.errors.UnimplementedError, match="flat_map"):
        it._save()
    assert next(it).element_spec.dtype == tf.int64


RICH = {
    "shuffle": lambda: D.from_tensor_slices({"a": tf.range(20), "s": tf.constant(list("abcdefghijklmnopqrst"))}).shuffle(6, seed=1),
    "interleave": lambda: D.range(9).interleave(lambda x: D.range(x).shuffle(3, seed=1), 3, 2, num_parallel_calls=2),
    "window": lambda: D.range(20).window(4, 2).prefetch(2).flat_map(lambda w: w.batch(4)),
    "group": lambda: D.range(20).group_by_window(lambda x: x % 3, lambda k, w: w.batch(2), 4),
    "ragged": lambda: D.range(20).map(lambda x: tf.range(x % 5)).ragged_batch(3).prefetch(2),
    "cached": lambda: D.range(9).batch(2).cache().unbatch().repeat(2).unique(),
    "scanned": lambda: D.range(20).scan(tf.constant(0, tf.int64), lambda s, x: (s + x, s)).batch(2, num_parallel_calls=2),
}


@pytest.mark.parametrize("name", list(RICH))
def test_damaged_positions_end_in_an_error(name):
    """Bytes that were cut off, changed or added: an error, or elements, but nothing worse."""
    it = iter(RICH[name]())
    for _ in range(4):
        next(it)
    good = it._save().numpy()
    rest = str(list(RICH[name]()))
    draw = random.Random(7)
    for k in range(300):
        if k % 3 == 0:
            bad = good[:draw.randrange(len(good))]
        else:
            changed = bytearray(good)
            for _ in range(draw.choice([1, 1, 2, 8])):
                changed[draw.randrange(len(changed))] = draw.choice([0, 1, 2, 127, 128, 255, draw.randrange(256)])
            bad = bytes(changed)
        other = iter(RICH[name]())
        try:
            other._restore(bad)
            for _ in range(3):
                next(other)
        except (tf.errors.OpError, StopIteration):
            continue
    assert str(list(RICH[name]())) == rest
    with pytest.raises(tf.errors.DataLossError, match="too long"):
        iter(RICH[name]())._restore(good + b"x")
    with pytest.raises(tf.errors.DataLossError):
        iter(RICH[name]())._restore(b"")


def test_a_position_takes_no_more_than_its_elements():
    """A range is a few numbers, however far it went."""
    it = iter(D.range(10 ** 9).map(lambda x: x + 1).batch(1000))
    for _ in range(50):
        next(it)
    assert len(it._save().numpy()) < 400


def test_memory_stays_flat():
    import resource

    make = PIPELINES["map_batch"]
    it = iter(make(2))
    next(it)

    def round_trip():
        other = iter(make(2))
        other._restore(it._save())
        next(other)

    for _ in range(20):
        round_trip()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(100):
        round_trip()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20000
    assert np.array_equal(next(it).numpy(), [3, 4, 5])
