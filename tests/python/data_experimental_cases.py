"""tf.data.experimental, as functions for Dataset.apply and by themselves."""
from data_cases import WORKERS, drawn, whole


def _range(tf, n=7):
    return tf.data.Dataset.range(n)


def _outcome(tf, make):
    try:
        return whole(tf, make())
    except Exception as e:
        return type(e).__name__


def constants(tf, tmp):
    e = tf.data.experimental
    return [e.AUTOTUNE, e.INFINITE_CARDINALITY, e.UNKNOWN_CARDINALITY, e.SHARD_HINT, tf.data.AUTOTUNE,
            tf.data.INFINITE_CARDINALITY, tf.data.UNKNOWN_CARDINALITY]


def cardinalities(tf, tmp):
    e = tf.data.experimental
    return [e.cardinality(ds) for ds in (_range(tf), _range(tf).repeat(), _range(tf).filter(lambda n: True))]


def cardinality_asserted(tf, tmp):
    e, some = tf.data.experimental, _range(tf).filter(lambda n: True)
    return [_outcome(tf, lambda n=n: some.apply(e.assert_cardinality(n))) for n in (7, 5, 9, -1, 0)]


def elements_at(tf, tmp):
    e, found = tf.data.experimental, []
    for ds in (_range(tf), _range(tf).map(lambda n: (n, n * 2)), _range(tf).batch(3), tf.data.Dataset.from_tensor_slices(["a", "b"])):
        for k in (0, 1, 2, 9, -1):
            try:
                found.append(e.at(ds, k))
            except Exception as error:
                found.append(type(error).__name__)
    return found


def buckets(tf, tmp):
    rows = _range(tf, 6).map(lambda n: tf.fill([n], n))
    return whole(tf, rows.apply(tf.data.experimental.bucket_by_sequence_length(lambda e: tf.size(e), [2, 4], [2, 2, 2])))


def chosen(tf, tmp):
    parts = [tf.data.Dataset.from_tensors(k).repeat(2) for k in range(3)]
    return [whole(tf, tf.data.experimental.choose_from_datasets(parts, tf.data.Dataset.range(3).repeat(3))),
            whole(tf, tf.data.experimental.choose_from_datasets(parts, tf.data.Dataset.range(3).repeat(3), True))]


def sampled(tf, tmp):
    parts = [tf.data.Dataset.range(k * 10, k * 10 + 5) for k in range(2)]
    return [whole(tf, tf.data.experimental.sample_from_datasets(parts, seed=2)),
            whole(tf, tf.data.experimental.sample_from_datasets(parts, [0.8, 0.2], seed=2, stop_on_empty_dataset=True))]


def ragged(tf, tmp):
    rows = _range(tf, 5).map(lambda n: tf.fill([n], n))
    return [whole(tf, rows.apply(tf.data.experimental.dense_to_ragged_batch(2))),
            whole(tf, rows.apply(tf.data.experimental.dense_to_ragged_batch(2, True, tf.int32)))]


def sparse(tf, tmp):
    rows = _range(tf, 5).map(lambda n: tf.fill([n], n))
    return whole(tf, rows.apply(tf.data.experimental.dense_to_sparse_batch(2, [6])))


def enumerated(tf, tmp):
    return whole(tf, _range(tf, 3).apply(tf.data.experimental.enumerate_dataset(start=4)))


def lists(tf, tmp):
    f = tf.data.experimental.from_list
    return [_outcome(tf, m) for m in (
        lambda: f([1, 2, 3]), lambda: f([(1, "a"), (2, "b")]), lambda: f([{"k": [1, 2]}, {"k": [3, 4]}]), lambda: f([]), lambda: f(5),
        lambda: f([[1, 2], [3]]), lambda: f([1, 2]).map(lambda n: n * 2))]


def variants(tf, tmp):
    e, ds = tf.data.experimental, _range(tf).batch(2)
    variant = e.to_variant(ds)
    return [variant.dtype.name, variant.shape.rank, whole(tf, e.from_variant(variant, e.get_structure(ds)))]


def structures(tf, tmp):
    e = tf.data.experimental
    return [str(e.get_structure(_range(tf).map(lambda n: (n, "x")))), str(e.get_structure(iter(_range(tf)))),
            _outcome(tf, lambda: e.get_structure(5))]


def single(tf, tmp):
    return tf.data.experimental.get_single_element(_range(tf).batch(9))


def optionals(tf, tmp):
    it = iter(_range(tf, 1))
    e = tf.data.experimental
    first, second = e.get_next_as_optional(it), e.get_next_as_optional(it)
    return [first.has_value(), first.get_value(), second.has_value(), str(second.element_spec),
            e.Optional.from_value((1, "a")).get_value(), e.Optional.empty(tf.TensorSpec([], tf.int32)).has_value()]


def reduced_by_key(tf, tmp):
    e = tf.data.experimental
    total = e.Reducer(lambda k: (tf.constant(0, tf.int64), tf.constant(0)), lambda s, n: (s[0] + n, s[1] + 1), lambda s, c: (s, c))
    mean = e.Reducer(lambda k: (0.0, 0.0), lambda s, n: (s[0] + tf.cast(n, tf.float32), s[1] + 1), lambda s, c: s / c)
    key = e.Reducer(lambda k: k, lambda s, n: s, lambda s: s)
    return [whole(tf, _range(tf, 10).apply(e.group_by_reducer(lambda n: n % 3, total))),
            whole(tf, _range(tf, 10).apply(e.group_by_reducer(lambda n: -n % 4, mean))),
            whole(tf, _range(tf, 6).apply(e.group_by_reducer(lambda n: 2 - n, key))),
            whole(tf, _range(tf, 0).apply(e.group_by_reducer(lambda n: n, key)))]


def grouped(tf, tmp):
    e = tf.data.experimental
    return whole(tf, _range(tf, 9).apply(e.group_by_window(lambda n: n % 2, lambda k, w: w.batch(3), 3)))


def errors_ignored(tf, tmp):
    ds = _range(tf).map(lambda n: tf.debugging.check_numerics(1.0 / tf.cast(n % 2, tf.float32), "x"))
    return whole(tf, ds.apply(tf.data.experimental.ignore_errors()))


def mapped_and_batched(tf, tmp):
    e = tf.data.experimental
    return [whole(tf, _range(tf).apply(e.map_and_batch(lambda n: n * 2, 3, num_parallel_calls=n))) for n in (None, 1, 2, 8)] + [
        whole(tf, _range(tf).apply(e.map_and_batch(lambda n: (n, "a"), 3, drop_remainder=True))),
        _outcome(tf, lambda: _range(tf).apply(e.map_and_batch(lambda n: n, 3, 2, num_parallel_calls=2)))]


def padded_to(tf, tmp):
    ds = _range(tf, 3).map(lambda n: {"n": n, "v": tf.ones([2]), "s": "t"})
    pad = tf.data.experimental.pad_to_cardinality
    return [_outcome(tf, m) for m in (
        lambda: ds.apply(pad(5)), lambda: ds.apply(pad(5, "mask")), lambda: _range(tf).apply(pad(9)))]


def interleaved(tf, tmp):
    f = tf.data.experimental.parallel_interleave
    return [drawn(tf, _range(tf, 4).apply(f(lambda k: tf.data.Dataset.range(k * 10, k * 10 + k + 1), cycle, block)))
            for cycle, block in ((1, 1), (1, 2), (2, 1), (2, 2), (4, 1))]


def prefetched(tf, tmp):
    e = tf.data.experimental
    return [drawn(tf, _range(tf).apply(e.prefetch_to_device("/cpu:0"))), drawn(tf, _range(tf).apply(e.copy_to_device("/cpu:0")))]


def random(tf, tmp):
    return [drawn(tf, tf.data.experimental.RandomDataset(seed=9), 4), whole(tf, tf.data.experimental.RandomDataset(seed=9).take(2))]


def counters(tf, tmp):
    return [whole(tf, tf.data.experimental.Counter(), 3), whole(tf, tf.data.experimental.Counter(5, -2).take(3))]


def resampled(tf, tmp):
    ds = tf.data.Dataset.range(2000).map(lambda n: tf.cast(n % 4 == 0, tf.int64))
    made = ds.apply(tf.data.experimental.rejection_resample(lambda n: n, [0.5, 0.5], [0.75, 0.25], seed=1))
    kinds = [int(k) for k, _ in made]
    return [str(made.element_spec), 0.42 < sum(kinds) / len(kinds) < 0.58]


def scanned(tf, tmp):
    return whole(tf, _range(tf).apply(tf.data.experimental.scan(tf.constant(0, tf.int64), lambda s, n: (s + n, s))))


def shuffled_and_repeated(tf, tmp):
    f = tf.data.experimental.shuffle_and_repeat
    return [whole(tf, _range(tf).apply(f(7, 2, seed=3))), drawn(tf, _range(tf).apply(f(3, seed=3)), 20)]


def taken_while(tf, tmp):
    return whole(tf, _range(tf).apply(tf.data.experimental.take_while(lambda n: n < 4)))


def unbatched(tf, tmp):
    return whole(tf, _range(tf).batch(3).apply(tf.data.experimental.unbatch()))


def unique(tf, tmp):
    return whole(tf, tf.data.Dataset.from_tensor_slices([1, 2, 1, 3]).apply(tf.data.experimental.unique()))


def tables(tf, tmp):
    e = tf.data.experimental
    words = tf.data.Dataset.from_tensor_slices(["a", "b", "c"])
    pairs = tf.data.Dataset.zip((words, tf.data.Dataset.range(10, 13)))
    one = e.index_table_from_dataset(words)
    two = e.table_from_dataset(pairs, default_value=-5, key_dtype=tf.string)
    three = tf.lookup.StaticHashTable(e.DatasetInitializer(pairs), -1)
    four = e.index_table_from_dataset(words, num_oov_buckets=1)
    ask = tf.constant(["b", "z", "a"])
    return [one.lookup(ask), one.size(), two.lookup(ask), three.lookup(ask), four.lookup(ask), four.size()]


def debug_mode(tf, tmp):
    return tf.data.experimental.enable_debug_mode.__name__


def everything_at_once(tf, tmp):
    """A pipeline of many stages gives the same with any number of workers."""
    found = []
    for n in WORKERS:
        ds = tf.data.Dataset.range(30).shuffle(30, seed=5).map(lambda k: k * 3, num_parallel_calls=n)
        ds = ds.filter(lambda k: k % 2 == 0).batch(4, num_parallel_calls=n).map(
            lambda b: (b, tf.reduce_sum(b)), num_parallel_calls=n)
        found.append(drawn(tf, ds.prefetch(2).repeat(2)))
    return found
