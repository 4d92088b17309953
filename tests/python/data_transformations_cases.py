"""Every transformation of tf.data.Dataset: values, order, number, spec, end, second iteration, errors, with any workers."""
import numpy as np
from data_cases import WORKERS, drawn, whole


def _range(tf, n=7):
    return tf.data.Dataset.range(n)


def _outcome(tf, make):
    """What a call makes, or the class of what it raises."""
    try:
        return whole(tf, make())
    except Exception as e:
        return type(e).__name__


# ---- sources


def ranges(tf, tmp):
    r = tf.data.Dataset.range
    return [_outcome(tf, make) for make in (
        lambda: r(3), lambda: r(2, 5), lambda: r(5, 2), lambda: r(5, 0, -2), lambda: r(0), lambda: r(3, output_type=tf.float32),
        lambda: r(0, 5, 0), lambda: r(), lambda: r(1, 2, 3, 4), lambda: r(tf.constant(4, tf.int64)))]


def tensors(tf, tmp):
    make = tf.data.Dataset.from_tensors
    return [_outcome(tf, m) for m in (
        lambda: make([1, 2]), lambda: make((1, {"a": "x"})), lambda: make(tf.ragged.constant([[1], [2, 3]])),
        lambda: make(tf.sparse.from_dense([[1, 0]])), lambda: make(None), lambda: make((1, None)))]


def slices(tf, tmp):
    make = tf.data.Dataset.from_tensor_slices
    return [_outcome(tf, m) for m in (
        lambda: make([1, 2]), lambda: make(([1, 2], {"a": ["x", "y"]})), lambda: make(np.zeros([2, 3], np.int16)), lambda: make(5),
        lambda: make(([1, 2], [1, 2, 3])), lambda: make(tf.ragged.constant([[1], [2, 3]])), lambda: make([]),
        lambda: make(tf.sparse.from_dense([[1, 0], [0, 2]])), lambda: make((tf.constant([[1, 2]]),)))]


def generator(tf, tmp):
    def numbers(n):
        for k in range(n):
            yield k, [k] * k

    spec = (tf.TensorSpec([], tf.int32), tf.TensorSpec([None], tf.float32))
    make = tf.data.Dataset.from_generator
    return [_outcome(tf, m) for m in (
        lambda: make(lambda: numbers(3), output_signature=spec), lambda: make(numbers, args=(2,), output_signature=spec),
        lambda: make(lambda: iter([1, 2]), output_types=tf.int64), lambda: make(lambda: iter([1, 2]), tf.int64, []),
        lambda: make(lambda: iter(["a"]), output_types=tf.int64), lambda: make(lambda: [1, 2], tf.int64, [2]),
        lambda: make(5, output_types=tf.int64))]


def generator_raises(tf, tmp):
    def bad():
        yield 1
        raise ValueError("mine")

    return whole(tf, tf.data.Dataset.from_generator(bad, output_types=tf.int32))


def random(tf, tmp):
    make = tf.data.Dataset.random
    return [drawn(tf, make(seed=5), 4), whole(tf, make(seed=5).take(3)), whole(tf, make(seed=5, rerandomize_each_iteration=True)
                                                                               .take(3))["again"]]


def counter(tf, tmp):
    make = tf.data.Dataset.counter
    return [whole(tf, make().take(3)), whole(tf, make(2, 5), 4), whole(tf, make(dtype=tf.int32), 3), whole(tf, make(step=-1), 3)]


def zips(tf, tmp):
    z, r = tf.data.Dataset.zip, tf.data.Dataset.range
    return [_outcome(tf, m) for m in (
        lambda: z((r(3), r(5))), lambda: z(r(3), r(2).repeat()), lambda: z({"a": r(2), "b": (r(3), r(4))}), lambda: z([r(2)]),
        lambda: z(), lambda: z((r(2).repeat(), r(2).repeat())), lambda: z(r(2)), lambda: z((r(3).filter(lambda n: n > 0), r(5))))]


def choose(tf, tmp):
    parts = [tf.data.Dataset.from_tensors(name).repeat(2) for name in ("a", "b", "c")]
    by = tf.data.Dataset.range(3).repeat(4)
    c = tf.data.Dataset.choose_from_datasets
    return [_outcome(tf, m) for m in (
        lambda: c(parts, by), lambda: c(parts, by, stop_on_empty_dataset=False), lambda: c([], by),
        lambda: c(parts, tf.data.Dataset.range(5)), lambda: c(parts, by.map(lambda n: tf.cast(n, tf.int32))),
        lambda: c([p.repeat() for p in parts], by))]


def choose_counts(tf, tmp):
    r, c = tf.data.Dataset.range, tf.data.Dataset.choose_from_datasets
    few, many, some = r(3), r(3).repeat(), r(3).filter(lambda n: n > 0)
    kinds = ([few, many], [many, few], [few, some], [many, some], [few, few], [many, many])
    return [int(c(parts, by, stop).cardinality()) for parts in kinds for by in (r(2), r(2).repeat()) for stop in (True, False)]


def slices_ragged(tf, tmp):
    whole_rows = tf.ragged.constant([[1], [2, 3], [], [4, 5, 6]])
    ds = tf.data.Dataset.from_tensor_slices((whole_rows, [1, 2, 3, 4]))
    return [whole(tf, ds), drawn(tf, ds.batch(2)), drawn(tf, ds.map(lambda row, n: (row * n, tf.size(row)))),
            drawn(tf, tf.data.Dataset.from_tensor_slices(tf.ragged.constant([[[1], [2, 3]], [[4]]])))]


def sample(tf, tmp):
    parts = [tf.data.Dataset.range(k * 100, k * 100 + 10) for k in range(3)]
    s = tf.data.Dataset.sample_from_datasets
    return [_outcome(tf, m) for m in (
        lambda: s(parts, seed=3), lambda: s(parts, [0.5, 0.3, 0.2], seed=3), lambda: s(parts, [0.9, 0.1, 0.0], seed=3,
                                                                                        stop_on_empty_dataset=True),
        lambda: s([], seed=3), lambda: s(parts, [1.0], seed=3), lambda: s(parts[:1], seed=3), lambda: s(parts, [1, 2, 3]))]


# ---- functions


def maps(tf, tmp):
    return [whole(tf, _range(tf).map(lambda n: (n * 2, {"s": tf.strings.as_string(n)}), num_parallel_calls=n)) for n in WORKERS]


def maps_spread(tf, tmp):
    pairs = tf.data.Dataset.zip((_range(tf, 3), _range(tf, 3)))
    return [whole(tf, pairs.map(lambda a, b: a + b)), whole(tf, pairs.map(lambda *e: e[0])),
            whole(tf, _range(tf, 2).map(lambda n: [n, n + 1])), whole(tf, _range(tf, 2).map(lambda n: (n, None)))]


def maps_errors(tf, tmp):
    found = []
    for n in WORKERS:
        ds = _range(tf).map(lambda k: tf.debugging.check_numerics(1.0 / tf.cast(3 - k, tf.float32), "x"), num_parallel_calls=n)
        found.append([drawn(tf, ds), drawn(tf, ds.ignore_errors())])
    return found


def maps_python_errors(tf, tmp):
    return [_outcome(tf, m) for m in (
        lambda: _range(tf).map(lambda n: object()), lambda: _range(tf).map(lambda n: 1 / 0), lambda: _range(tf).map(lambda: 1),
        lambda: _range(tf).map(lambda n: n + 1.5))]


def maps_condition(tf, tmp):
    def odd(n):
        if n % 2 == 0:
            return n * 10
        for _ in tf.range(3):
            n += 1
        return n

    return [drawn(tf, _range(tf).map(odd, num_parallel_calls=n)) for n in WORKERS]


def maps_shapes(tf, tmp):
    ds = _range(tf, 3).map(tf.range)
    return [whole(tf, ds), whole(tf, ds.map(lambda v: tf.reduce_sum(v))), whole(tf, ds.map(lambda v: tf.ensure_shape(v, [None])))]


def maps_py_function(tf, tmp):
    ds = [_range(tf, 4).map(lambda n: tf.py_function(lambda v: v * 3, [n], tf.int64), num_parallel_calls=n) for n in WORKERS]
    return [whole(tf, d) for d in ds]


def maps_unordered(tf, tmp):
    ds = _range(tf, 20).map(lambda n: n * 2, num_parallel_calls=4, deterministic=False)
    return [sorted(n.numpy() for n in ds), whole(tf, ds)["count"]]


def maps_captured(tf, tmp):
    v, c = tf.Variable(3), tf.constant(10)
    ds = _range(tf, 3).map(lambda n: tf.cast(n, tf.int32) * v + c)
    before = drawn(tf, ds)
    v.assign(4)
    return [before, drawn(tf, ds)]


def flat_maps(tf, tmp):
    ds = _range(tf, 4).flat_map(lambda n: tf.data.Dataset.from_tensors(n).repeat(n))
    return [whole(tf, ds),
            whole(tf, _range(tf, 3).flat_map(tf.data.Dataset.range)), whole(tf, _range(tf, 0).flat_map(tf.data.Dataset.range))]


def interleaves(tf, tmp):
    found = []
    for cycle, block in ((1, 1), (2, 1), (2, 3), (3, 2), (10, 1)):
        for n in WORKERS:
            found.append(_outcome(tf, lambda: _range(tf, 4).interleave(
                lambda k: tf.data.Dataset.range(k * 10, k * 10 + k + 1), cycle, block, num_parallel_calls=n, deterministic=True)))
    return found


def interleaves_wrong(tf, tmp):
    f = tf.data.Dataset.range
    return [_outcome(tf, m) for m in (
        lambda: _range(tf).interleave(f, 0), lambda: _range(tf).interleave(f, 2, 0),
        lambda: _range(tf, 3).interleave(f, 2, num_parallel_calls=0))]


def interleaves_spec(tf, tmp):
    ds = _range(tf, 2).interleave(lambda n: tf.data.Dataset.from_tensors((n, "x")))
    return [str(ds.element_spec), int(ds.cardinality())]


def filters(tf, tmp):
    return [_outcome(tf, m) for m in (
        lambda: _range(tf).filter(lambda n: n % 3 == 0), lambda: _range(tf).filter(lambda n: False),
        lambda: _range(tf).filter(lambda n: n), lambda: _range(tf, 0).filter(
            lambda n: True), lambda: tf.data.Dataset.zip((_range(tf), _range(tf))).filter(lambda a, b: a + b > 8))]


def takes_while(tf, tmp):
    return [_outcome(tf, m) for m in (
        lambda: _range(tf).take_while(lambda n: n < 3), lambda: _range(tf).take_while(lambda n: n > 3),
        lambda: _range(tf).repeat().take_while(lambda n: n < 3), lambda: _range(tf).take_while(lambda n: n))]


def scans(tf, tmp):
    zero = tf.constant(0, tf.int64)
    return [_outcome(tf, m) for m in (
        lambda: _range(tf).scan(zero, lambda s, n: (s + n, s * 10)), lambda: _range(tf, 3).scan((zero, "a"), lambda s, n: (
            (s[0] + n, s[1] + "b"), s)), lambda: _range(tf).scan(zero, lambda s, n: s), lambda: _range(tf).scan(
                zero, lambda s, n: (1.5, n)), lambda: _range(tf, 3).scan(tf.zeros([0], tf.int64), lambda s, n: (
                    tf.concat([s, [n]], 0), tf.size(s))))]


def reduces(tf, tmp):
    zero = tf.constant(0, tf.int64)
    return [_range(tf).reduce(zero, lambda s, n: s + n), _range(tf, 0).reduce(zero, lambda s, n: s + n),
            _range(tf).reduce((zero, zero), lambda s, n: (s[0] + n, s[1] + 1)),
            _range(tf, 3).reduce(tf.zeros([0], tf.int64), lambda s, n: tf.concat([s, [n]], 0)),
            _range(tf, 3).reduce({"a": zero}, lambda s, n: {"a": s["a"] - n})]


def reduces_wrong(tf, tmp):
    return _range(tf).reduce(tf.constant(0, tf.int64), lambda s, n: 1.5)


def groups(tf, tmp):
    g = _range(tf, 12)
    return [_outcome(tf, m) for m in (
        lambda: g.group_by_window(lambda n: n % 3, lambda k, w: w.batch(2), 2),
        lambda: g.group_by_window(lambda n: n % 2, lambda k, w: w.batch(10), window_size_func=lambda k: k + 2),
        lambda: g.group_by_window(lambda n: n % 2, lambda k, w: w.map(lambda n: (k, n)), 5),
        lambda: g.group_by_window(lambda n: n % 2, lambda k, w: w), lambda: g.group_by_window(lambda n: 0, lambda k, w: w.batch(4), 0),
        lambda: g.group_by_window(lambda n: n % 2, lambda k, w: k, 5))]


def buckets(tf, tmp):
    rows = tf.data.Dataset.from_generator(lambda: ([k] * k for k in (1, 5, 2, 8, 3, 1, 9, 4)), tf.int32, [None])
    b = rows.bucket_by_sequence_length
    size = tf.shape
    return [_outcome(tf, m) for m in (
        lambda: b(lambda e: size(e)[0], [3, 6], [2, 2, 2]), lambda: b(lambda e: size(e)[0], [3, 6], [2, 2, 2], drop_remainder=True),
        lambda: b(lambda e: size(e)[0], [3, 6, 10], [2, 2, 2, 2], pad_to_bucket_boundary=True),
        lambda: b(lambda e: size(e)[0], [3, 6], [2, 2]), lambda: b(lambda e: size(e)[0], [3, 6], [2, 2, 2], padding_values=-1))]


def applies(tf, tmp):
    return [_outcome(tf, lambda: _range(tf).apply(lambda ds: ds.take(2))), _outcome(tf, lambda: _range(tf).apply(lambda ds: 5))]


# ---- batches


def batches(tf, tmp):
    found = [whole(tf, _range(tf).batch(3, drop, num_parallel_calls=n)) for drop in (False, True) for n in WORKERS]
    return found + [_outcome(tf, m) for m in (
        lambda: _range(tf).batch(10), lambda: _range(tf).batch(10, True), lambda: _range(tf).batch(0), lambda: _range(tf).batch(-1),
        lambda: _range(tf).batch(2).batch(2), lambda: _range(tf, 0).batch(2), lambda: _range(tf).map(lambda n: (n, "s")).batch(4),
        lambda: _range(tf).batch(tf.constant(3, tf.int64), drop_remainder=True))]


def batches_uneven(tf, tmp):
    return [drawn(tf, _range(tf, 4).map(tf.range).batch(2, num_parallel_calls=n)) for n in WORKERS]


def batches_composite(tf, tmp):
    sparse = _range(tf, 3).map(lambda n: tf.sparse.from_dense(tf.one_hot(n, 3)))
    ragged = _range(tf, 3).map(lambda n: tf.RaggedTensor.from_row_lengths(tf.range(n), [n]))
    return [drawn(tf, sparse.batch(2)), drawn(tf, ragged.batch(2)), drawn(tf, ragged.batch(2).unbatch()), drawn(tf, sparse.batch(
        2).unbatch())]


def padded(tf, tmp):
    rows = _range(tf, 5).map(lambda n: tf.fill([n], n))
    both = rows.map(lambda r: (r, tf.strings.as_string(r)))
    return [_outcome(tf, m) for m in (
        lambda: rows.padded_batch(2), lambda: rows.padded_batch(2, [None]), lambda: rows.padded_batch(2, [6]),
        lambda: rows.padded_batch(2, [2]), lambda: rows.padded_batch(2, drop_remainder=True),
        lambda: rows.padded_batch(2, [None], tf.constant(-1, tf.int64)), lambda: both.padded_batch(3, ([5], [None])),
        lambda: both.padded_batch(3, padding_values=(tf.constant(9, tf.int64), "p")), lambda: rows.padded_batch(2, [None, None]),
        lambda: rows.padded_batch(0), lambda: _range(tf).padded_batch(3), lambda: rows.padded_batch(2, [6]).unbatch())]


def ragged_batches(tf, tmp):
    rows = _range(tf, 5).map(lambda n: (tf.fill([n], n), n))
    return [drawn(tf, rows.ragged_batch(2)), drawn(tf, rows.ragged_batch(2, drop_remainder=True, row_splits_dtype=tf.int32)),
            drawn(tf, _range(tf).ragged_batch(3))]


def sparse_batches(tf, tmp):
    rows = _range(tf, 5).map(lambda n: tf.fill([n], n))
    return [_outcome(tf, m) for m in (
        lambda: rows.sparse_batch(2, [6]), lambda: rows.sparse_batch(2, [None]), lambda: rows.sparse_batch(2, [2]),
        lambda: rows.sparse_batch(2, [6, 1]), lambda: _range(tf).sparse_batch(3, []),
        lambda: _range(tf).map(tf.strings.as_string).batch(2).sparse_batch(2, [3]))]


def unbatches(tf, tmp):
    return [_outcome(tf, m) for m in (
        lambda: _range(tf).batch(3).unbatch(), lambda: _range(tf).unbatch(), lambda: _range(tf).map(lambda n: (n, n)).batch(2)
        .unbatch(), lambda: tf.data.Dataset.from_tensors(([1, 2], [3])).unbatch(), lambda: tf.data.Dataset.from_tensors(
            {"a": [[1], [2]], "b": ["x", "y"]}).repeat(2).unbatch(), lambda: _range(tf, 3).map(tf.range).unbatch())]


def rebatches(tf, tmp):
    b = _range(tf).batch(3)
    return [_outcome(tf, m) for m in (
        lambda: b.rebatch(2), lambda: b.rebatch([1, 3]), lambda: b.rebatch(4, drop_remainder=True), lambda: b.rebatch(10),
        lambda: b.rebatch([2, 1], drop_remainder=True))]


def windows(tf, tmp):
    def shown(ds):
        return [[n.numpy() for n in w] for w in ds], str(ds.element_spec), int(ds.cardinality())

    r = _range(tf)
    return [shown(r.window(3)), shown(r.window(3, shift=1, drop_remainder=True)), shown(r.window(2, 3)), shown(r.window(2, 1, 3)),
            shown(r.window(3, shift=2, stride=2, drop_remainder=True)), shown(r.window(10)), shown(_range(tf, 0).window(2))]


def windows_wrong(tf, tmp):
    return [_outcome(tf, m) for m in (lambda: _range(tf).window(0), lambda: _range(tf).window(2, 0), lambda: _range(tf).window(2, 1, 0))]


def windows_batched(tf, tmp):
    ds = _range(tf).window(3, 1, drop_remainder=True).flat_map(lambda w: w.batch(3))
    pairs = tf.data.Dataset.zip((_range(tf), _range(tf).map(tf.strings.as_string))).window(2, 2)
    return [drawn(tf, ds), drawn(tf, pairs.flat_map(lambda a, b: tf.data.Dataset.zip((a.batch(2), b.batch(2))))),
            drawn(tf, _range(tf).window(2).interleave(lambda w: w.map(lambda n: n * 2), 2)),
            drawn(tf, _range(tf).window(3).map(lambda w: w.reduce(tf.constant(0, tf.int64), lambda a, b: a + b)))]


# ---- order and number


def shuffles(tf, tmp):
    r = _range(tf, 10)
    return [whole(tf, r.shuffle(10, seed=1)), whole(tf, r.shuffle(4, seed=2)), whole(tf, r.shuffle(1, seed=1)),
            whole(tf, r.shuffle(10, seed=1, reshuffle_each_iteration=False)), drawn(tf, r.shuffle(10, seed=3).repeat(3)),
            drawn(tf, r.repeat(2).shuffle(5, seed=3)), drawn(tf, r.shuffle(100, seed=7).batch(4).prefetch(2))]


def shuffles_epochs(tf, tmp):
    ds = _range(tf, 10).shuffle(10, seed=4)
    return [[n.numpy() for n in ds] for _ in range(4)]


def shuffles_wrong(tf, tmp):
    return [_outcome(tf, lambda: _range(tf).shuffle(0)), _outcome(tf, lambda: _range(tf).shuffle(-5))]


def repeats(tf, tmp):
    r = _range(tf, 3)
    return [whole(tf, r.repeat(2)), whole(tf, r.repeat(0)), whole(tf, r.repeat(), 8), whole(tf, r.repeat(-1), 8), whole(
        tf, _range(tf, 0).repeat()), whole(tf, r.repeat(2).repeat(2)), whole(tf, r.filter(lambda n: n > 0).repeat(2))]


def takes_and_skips(tf, tmp):
    r = _range(tf)
    return [whole(tf, ds) for ds in (r.take(3), r.take(0), r.take(-1), r.take(99), r.skip(3), r.skip(0), r.skip(-1), r.skip(99),
                                     r.skip(2).take(2), r.repeat().take(9), r.repeat().skip(5).take(3))]


def shards(tf, tmp):
    return [_outcome(tf, m) for m in (
        lambda: _range(tf).shard(3, 0), lambda: _range(tf).shard(3, 2), lambda: _range(tf).shard(10, 8), lambda: _range(tf).shard(0, 0),
        lambda: _range(tf).shard(3, 3), lambda: _range(tf).shard(3, -1))]


def concatenates(tf, tmp):
    r = _range(tf, 3)
    return [_outcome(tf, m) for m in (
        lambda: r.concatenate(r), lambda: r.concatenate(r.map(lambda n: "x")), lambda: r.batch(2).concatenate(r.batch(3)),
        lambda: r.repeat().concatenate(r).take(5), lambda: r.concatenate(r.filter(lambda n: n > 1)), lambda: r.concatenate(
            tf.data.Dataset.zip((r, r))))]


def enumerates(tf, tmp):
    return [whole(tf, tf.data.Dataset.from_tensor_slices(["a", "b"]).enumerate()), whole(tf, _range(tf, 3).enumerate(start=5))]


def uniques(tf, tmp):
    make = tf.data.Dataset.from_tensor_slices
    return [_outcome(tf, m) for m in (
        lambda: make([1, 3, 1, 2, 3]).unique(), lambda: make(["a", "b", "a"]).unique(), lambda: make([1.5, 1.5]).unique(),
        lambda: make(tf.constant([5, 5], tf.int64)).unique(), lambda: make(([1], [2])).unique())]


def prefetches(tf, tmp):
    return [_outcome(tf, m) for m in (lambda: _range(tf).prefetch(2), lambda: _range(tf).prefetch(-1), lambda: _range(tf).prefetch(0),
                                      lambda: _range(tf).prefetch(-2))]


def errors_ignored(tf, tmp):
    ds = _range(tf).map(lambda n: tf.debugging.check_numerics(1.0 / tf.cast(n % 3, tf.float32), "x"))
    return [whole(tf, ds), whole(tf, ds.ignore_errors()), whole(tf, ds.ignore_errors(log_warning=False).batch(2))]


def options(tf, tmp):
    o = tf.data.Options()
    o.deterministic = False
    o.threading.private_threadpool_size = 2
    o.experimental_optimization.map_fusion = True
    ds = _range(tf).with_options(o).map(lambda n: n)
    return [whole(tf, ds), ds.options().deterministic, ds.options().threading.private_threadpool_size,
            ds.options().experimental_optimization.map_fusion, _range(tf).options().deterministic]


def single_elements(tf, tmp):
    found = [_range(tf, 1).get_single_element(), _range(tf).batch(10).get_single_element()]
    for n in (0, 2):
        try:
            found.append(_range(tf, n).get_single_element())
        except Exception as e:
            found.append(type(e).__name__)
    return found


def lengths(tf, tmp):
    found = []
    for ds in (_range(tf), _range(tf).repeat(), _range(tf).filter(lambda n: True), _range(tf).batch(2), _range(tf, 0)):
        try:
            found.append(len(ds))
        except Exception as e:
            found.append(type(e).__name__)
    return found + [bool(_range(tf, 0))]


def resampled(tf, tmp):
    """Classes come as often as wanted; which elements these are is chance."""
    ds = tf.data.Dataset.range(3000).map(lambda n: tf.cast(n % 3 == 0, tf.int64))
    found = []
    for initial in (None, [2 / 3, 1 / 3]):
        made = ds.rejection_resample(lambda n: n, [0.5, 0.5], initial, seed=3)
        kinds = [k.numpy() for k, _ in made]
        found.append([str(made.element_spec), int(made.cardinality()), 0.45 < sum(kinds) / len(kinds) < 0.55, len(kinds) > 1500])
    return found


def fingerprints(tf, tmp):
    a, b, c = (_range(tf, 5).map(lambda n: n * 2) for _ in range(3))
    d, e = _range(tf, 6).map(lambda n: n * 2), _range(tf, 5).batch(2)
    f = a.fingerprint()
    return [f.dtype.name, f.shape.rank, bool(f == b.fingerprint()), bool(f == d.fingerprint()), bool(f == e.fingerprint())]


# ---- iteration


def numpy_iterator(tf, tmp):
    ds = tf.data.Dataset.from_tensor_slices({"a": [1, 2], "b": ["x", "y"], "c": [[1.5, 2.5], [3.5, 4.5]]})
    it = ds.as_numpy_iterator()
    return [next(it), list(it), [type(v).__name__ for v in next(ds.as_numpy_iterator()).values()],
            isinstance(it, tf.data.NumpyIterator), list(_range(tf, 3).as_numpy_iterator())]


def iterators(tf, tmp):
    it = iter(_range(tf, 2))
    found = [next(it), it.get_next(), str(it.element_spec), isinstance(it, tf.data.Iterator)]
    for take in (lambda: next(it), it.get_next):
        try:
            take()
        except Exception as e:
            found.append(type(e).__name__)
    o = it.get_next_as_optional()
    other = iter(_range(tf, 1)).get_next_as_optional()
    return found + [o.has_value(), other.has_value(), other.get_value()]


def iterators_in_functions(tf, tmp):
    @tf.function
    def two(it):
        return next(it) + next(it)

    @tf.function
    def total(ds):
        s = tf.constant(0, tf.int64)
        for n in ds:
            if n == 5:
                break
            if n % 2 == 0:
                continue
            s += n
        return s

    @tf.function
    def rest(it):
        s = tf.constant(0, tf.int64)
        for n in it:
            s += n
        return s

    it = iter(_range(tf))
    return [two(it), two(it), rest(it), total(_range(tf)), total(_range(tf, 4)), total.experimental_get_tracing_count()]


def datasets_in_functions(tf, tmp):
    @tf.function
    def doubled(n):
        return tf.data.Dataset.range(n).map(lambda k: k * 2).reduce(tf.constant(0, tf.int64), lambda a, b: a + b)

    @tf.function
    def made(ds):
        return ds.batch(2)

    return [doubled(tf.constant(5, tf.int64)), drawn(tf, made(_range(tf)))]


def loops_of_pairs(tf, tmp):
    @tf.function
    def run(ds):
        a, last = tf.constant(0, tf.int64), tf.constant("")
        for k, (n, text) in ds.enumerate():
            a, last = a + k * n, last + text
        return a, last

    return run(tf.data.Dataset.zip((_range(tf, 4), _range(tf, 4).map(tf.strings.as_string))))


def elements_nested(tf, tmp):
    ds = _range(tf, 3).map(lambda n: tf.data.Dataset.range(n))
    optional = _range(tf, 2).map(lambda n: tf.experimental.Optional.from_value(n))
    return [[[k.numpy() for k in inner] for inner in ds], str(ds.element_spec), drawn(tf, ds.flat_map(lambda d: d)),
            [o.get_value() for o in optional], drawn(tf, optional.map(lambda o: o.get_value() + 1))]


def specs(tf, tmp):
    ds = _range(tf).batch(2)
    spec = tf.data.DatasetSpec.from_value(ds)
    return [str(spec), str(spec.element_spec), spec.is_compatible_with(ds), str(tf.data.IteratorSpec(ds.element_spec))]
