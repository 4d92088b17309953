"""Positions of iterators: saved, and gone on from, in the same iterator and in one over a dataset that was made anew."""
import os

MOST = 24


def _rest(iterator, most=MOST):
    found = []
    for _ in range(most):
        try:
            found.append(next(iterator))
        except StopIteration:
            return found + ["end"]
    return found


def _saved(tf, tmp, make, *at):
    """For each number: how it goes on behind so many elements; the same when restored; the same in another iterator."""
    found = []
    for k, n in enumerate(at):
        it = iter(make(k))
        first = _rest(it, n)
        checkpoint = tf.train.Checkpoint(it=it)
        path = checkpoint.save(f"{tmp}/at{k}/c")
        rest = _rest(it)
        checkpoint.restore(path).assert_consumed()
        again = _rest(it)
        other = iter(make(k))
        _rest(other, 1)
        tf.train.Checkpoint(it=other).restore(path)
        found.append([first, rest, again, _rest(other)])
    return found


def _stage(make, *at):
    def case(tf, tmp):
        return _saved(tf, tmp, lambda k: make(tf.data.Dataset, tf), *(at or (0, 1, 3, 5, 20)))

    return case


def _pairs(D, tf):  # noqa: N803
    return D.from_tensor_slices({"a": tf.range(7), "s": tf.constant(list("abcdefg")), "m": tf.reshape(tf.range(14), [7, 2])})


CASES = {
    "range": _stage(lambda D, tf: D.range(3, 30, 4)),
    "range_back": _stage(lambda D, tf: D.range(9, -9, -3)),
    "tensors": _stage(lambda D, tf: D.from_tensors([1, 2]), 0, 1),
    "slices": _stage(_pairs),
    "random": _stage(lambda D, tf: D.random(seed=3).take(9)),
    "map": _stage(lambda D, tf: D.range(9).map(lambda x: x * x)),
    "map_parallel": _stage(lambda D, tf: D.range(9).map(lambda x: x * x, num_parallel_calls=3)),
    "map_autotune": _stage(lambda D, tf: D.range(9).map(lambda x: tf.strings.as_string(x), num_parallel_calls=-1)),
    "filter": _stage(lambda D, tf: D.range(20).filter(lambda x: x % 3 == 1)),
    "take_while": _stage(lambda D, tf: D.range(20).take_while(lambda x: x < 4)),
    "scan": _stage(lambda D, tf: D.range(9).scan((tf.constant(0, tf.int64), ""), lambda s, x: (
        (s[0] + x, s[1] + "x"), (s[0], s[1])))),
    "flat_map": _stage(lambda D, tf: D.range(5).flat_map(lambda x: D.range(x))),
    "interleave": _stage(lambda D, tf: D.range(5).interleave(lambda x: D.range(10 * x, 10 * x + x), 3, 2)),
    "interleave_parallel": _stage(lambda D, tf: D.range(5).interleave(
        lambda x: D.from_tensors(x).repeat(3), cycle_length=2, num_parallel_calls=2)),
    "interleave_in_interleave": _stage(lambda D, tf: D.range(3).interleave(
        lambda x: D.range(3).interleave(lambda y: D.from_tensors(10 * x + y).repeat(2), 2), 2)),
    "batch": _stage(lambda D, tf: D.range(10).batch(3), 0, 1, 3, 4),
    "batch_parallel": _stage(lambda D, tf: D.range(10).map(lambda x: x + 1).batch(3, num_parallel_calls=2), 0, 1, 3),
    "batch_whole": _stage(lambda D, tf: _pairs(D, tf).batch(2, drop_remainder=True), 1, 2, 3),
    "padded_batch": _stage(lambda D, tf: D.range(7).map(lambda x: tf.range(x)).padded_batch(3), 0, 1, 2),
    "ragged_batch": _stage(lambda D, tf: D.range(7).map(lambda x: tf.range(x)).ragged_batch(3).prefetch(2), 0, 1, 2),
    "unbatch": _stage(lambda D, tf: _pairs(D, tf).batch(3).unbatch(), 0, 1, 2, 3, 5),
    "rebatch": _stage(lambda D, tf: D.range(11).batch(4).rebatch([3, 1]), 0, 1, 2, 4),
    "window": _stage(lambda D, tf: D.range(9).window(3, 2, 1).flat_map(lambda w: w.batch(3))),
    "window_skips": _stage(lambda D, tf: D.range(20).window(2, 5).flat_map(lambda w: w.batch(3))),
    "window_kept": _stage(lambda D, tf: D.range(9).window(2, 1).prefetch(2).flat_map(lambda w: w.batch(2))),
    "group_by_window": _stage(lambda D, tf: D.range(15).group_by_window(lambda x: x % 3, lambda k, w: w.batch(2), 4)),
    "bucket_by_length": _stage(lambda D, tf: D.range(9).map(lambda x: tf.range(x % 4)).bucket_by_sequence_length(
        lambda x: tf.shape(x)[0], [2, 3], [2, 2, 2])),
    "shuffle": _stage(lambda D, tf: D.range(9).shuffle(4, seed=7)),
    "shuffle_all": _stage(lambda D, tf: _pairs(D, tf).shuffle(100, seed=7)),
    "shuffle_repeat": _stage(lambda D, tf: D.range(5).shuffle(3, seed=7).repeat(3), 0, 2, 5, 7, 13),
    "shuffle_fixed": _stage(lambda D, tf: D.range(5).shuffle(9, seed=7, reshuffle_each_iteration=False).repeat(3), 2, 7),
    "shuffle_of_repeat": _stage(lambda D, tf: D.range(5).repeat(3).shuffle(8, seed=2), 2, 7, 11),
    "repeat": _stage(lambda D, tf: D.range(3).repeat(4), 0, 2, 3, 7, 12),
    "repeat_forever": _stage(lambda D, tf: D.range(3).repeat(), 0, 5),
    "take": _stage(lambda D, tf: D.range(9).take(4)),
    "skip": _stage(lambda D, tf: D.range(9).skip(4)),
    "shard": _stage(lambda D, tf: D.range(19).shard(3, 1)),
    "concatenate": _stage(lambda D, tf: D.range(4).concatenate(D.range(10, 14))),
    "zip": _stage(lambda D, tf: D.zip((D.range(4), _pairs(D, tf)))),
    "enumerate": _stage(lambda D, tf: _pairs(D, tf).enumerate(5)),
    "choose": _stage(lambda D, tf: D.choose_from_datasets(
        [D.range(3), D.range(10, 13), D.range(20, 30)], D.range(3).repeat(9), stop_on_empty_dataset=False)),
    "sample": _stage(lambda D, tf: D.sample_from_datasets([D.range(9), D.range(10, 19)], [0.5, 0.5], seed=4)),
    "unique": _stage(lambda D, tf: D.from_tensor_slices([1, 5, 1, 2, 5, 2, 7, 1, 9]).unique(), 0, 1, 3, 4),
    "prefetch": _stage(lambda D, tf: D.range(9).prefetch(3)),
    "prefetch_autotune": _stage(lambda D, tf: _pairs(D, tf).prefetch(-1)),
    "cache": _stage(lambda D, tf: _pairs(D, tf).cache().repeat(2), 0, 3, 6, 7, 9),
    "options": _stage(lambda D, tf: D.range(9).with_options(tf.data.Options())),
    "cardinality": _stage(lambda D, tf: D.range(9).filter(lambda x: x < 5).apply(tf.data.experimental.assert_cardinality(5))),
    "ignored_errors": _stage(lambda D, tf: D.range(9).map(
        lambda x: tf.strings.to_number(tf.where(x % 3 == 0, "none", tf.strings.as_string(x)))).ignore_errors()),
    "sparse": _stage(lambda D, tf: D.range(6).map(lambda x: tf.sparse.from_dense([x, 0, x + 1])).prefetch(2)),
    "sparse_batch": _stage(lambda D, tf: D.range(7).map(lambda x: tf.range(x)).apply(
        tf.data.experimental.dense_to_ragged_batch(2)), 1, 2),
    "group_by_reducer": _stage(lambda D, tf: D.range(9).apply(tf.data.experimental.group_by_reducer(
        lambda x: x % 4, tf.data.experimental.Reducer(lambda k: k, lambda s, x: s + x, lambda s: s))), 0, 1, 4),
    "whole_program": _stage(lambda D, tf: D.range(40).shuffle(10, seed=3).map(
        lambda x: {"x": tf.cast(x, tf.float32), "y": tf.strings.as_string(x)}, num_parallel_calls=-1)
        .repeat(2).batch(4).prefetch(-1), 0, 1, 7, 15, 20),
}


def _files(tf, tmp):
    for k in range(3):
        with open(f"{tmp}/t{k}", "w") as f:
            f.write("".join(f"{k},{j}\n" for j in range(4)))
        with tf.io.TFRecordWriter(f"{tmp}/r{k}", "GZIP" if k == 1 else "") as w:
            for j in range(4):
                w.write(f"record {k} {j}".encode())
    return [f"{tmp}/t{k}" for k in range(3)]


def _lines(tf, tmp):
    names = _files(tf, tmp)
    return _saved(tf, tmp, lambda k: tf.data.TextLineDataset(names), 0, 1, 4, 6, 12)


def _records(tf, tmp):
    _files(tf, tmp)
    return _saved(tf, tmp, lambda k: tf.data.TFRecordDataset([f"{tmp}/r0", f"{tmp}/r2"]), 0, 1, 4, 6, 8)


def _packed_records(tf, tmp):
    _files(tf, tmp)
    return _saved(tf, tmp, lambda k: tf.data.TFRecordDataset(f"{tmp}/r1", "GZIP"), 0, 1, 3, 4)


def _fixed(tf, tmp):
    names = _files(tf, tmp)
    return _saved(tf, tmp, lambda k: tf.data.FixedLengthRecordDataset(names, 4, header_bytes=4, footer_bytes=4), 0, 1, 2, 3, 6)


def _csv(tf, tmp):
    names = _files(tf, tmp)
    return _saved(tf, tmp, lambda k: tf.data.experimental.CsvDataset(names, [tf.int32, ""]), 0, 1, 4, 6, 12)


def _list_files(tf, tmp):
    _files(tf, tmp)
    return _saved(tf, tmp, lambda k: tf.data.Dataset.list_files(f"{tmp}/t*", shuffle=False), 0, 1, 3)


def _files_interleaved(tf, tmp):
    names = _files(tf, tmp)
    return _saved(tf, tmp, lambda k: tf.data.Dataset.from_tensor_slices(names).interleave(
        tf.data.TextLineDataset, cycle_length=2, num_parallel_calls=2), 0, 1, 4, 6, 12)


def _cache_in_file(tf, tmp):
    """Whose file was not whole when the position was saved, and whose file was."""
    found = []
    for n in (0, 2, 5, 8):
        def make():
            return tf.data.Dataset.range(6).map(lambda x: 2 * x).cache(f"{tmp}/c{n}").repeat(2)  # noqa: B023

        it = iter(make())
        first = _rest(it, n)
        path = tf.train.Checkpoint(it=it).save(f"{tmp}/at{n}/c")
        other = iter(make()) if n == 8 else it
        tf.train.Checkpoint(it=other).restore(path)
        found.append([first, _rest(other), os.path.exists(f"{tmp}/c{n}.index")])
    return found


def _snapshot(tf, tmp):
    return [_saved(tf, tmp, lambda k: tf.data.Dataset.range(6).snapshot(f"{tmp}/s"), n)[0][:3] for n in (6, 2, 5)]


def _load(tf, tmp):
    tf.data.Dataset.range(6).save(tmp + "/d")
    return _saved(tf, tmp, lambda k: tf.data.Dataset.load(tmp + "/d"), 0, 2, 6)


def _as_numpy(tf, tmp):
    it = tf.data.Dataset.range(6).as_numpy_iterator()
    first = [it.next(), next(it)]
    state = it.save()
    rest = [int(v) for v in it]
    it.restore(state)
    other = tf.data.Dataset.range(6).as_numpy_iterator()
    path = tf.train.Checkpoint(it=it).save(tmp + "/n")
    tf.train.Checkpoint(it=other).restore(path).assert_consumed()
    return [[int(v) for v in first], rest, [int(v) for v in it], [int(v) for v in other]]


def _keys(tf, tmp):
    it = iter(tf.data.Dataset.range(6))
    path = tf.train.Checkpoint(model={"v": tf.Variable(1)}, it=it).save(tmp + "/k")
    return [name for name, _ in tf.train.list_variables(path)]


def _manager(tf, tmp):
    """A program that is stopped and begins again."""
    found = []
    for _ in range(3):
        step, it = tf.Variable(0), iter(tf.data.Dataset.range(20).shuffle(5, seed=1).batch(2))
        checkpoint = tf.train.Checkpoint(step=step, it=it)
        manager = tf.train.CheckpointManager(checkpoint, tmp + "/m", max_to_keep=2)
        manager.restore_or_initialize()
        for _ in range(3):
            found.append([int(step.assign_add(1)), next(it)])
        manager.save()
    return found


def _raw(tf, tmp):
    it = iter(tf.data.Dataset.range(6))
    next(it)
    saved = tf.raw_ops.SerializeIterator(resource_handle=it._iterator_resource)
    found = [saved.dtype.name, int(next(it))]
    tf.raw_ops.DeserializeIterator(resource_handle=it._iterator_resource, serialized=saved)
    other = iter(tf.data.Dataset.range(50, 100))
    tf.raw_ops.DeserializeIterator(resource_handle=other._iterator_resource, serialized=saved)
    return found + [int(next(it)), int(next(other))]


def _another_dataset(tf, tmp):
    it = iter(tf.data.Dataset.range(6))
    path = tf.train.Checkpoint(it=it).save(tmp + "/a")
    tf.train.Checkpoint(it=iter(tf.data.Dataset.range(6).batch(2))).restore(path)


def _restored_before_it_is_there(tf, tmp):
    it = iter(tf.data.Dataset.range(6))
    next(it)
    path = tf.train.Checkpoint(it=it).save(tmp + "/a")
    checkpoint = tf.train.Checkpoint()
    checkpoint.restore(path)
    checkpoint.it = iter(tf.data.Dataset.range(6))
    return next(checkpoint.it)


def _in_a_function(tf, tmp):
    it = iter(tf.data.Dataset.range(9))

    @tf.function
    def two():
        return next(it) + next(it)

    checkpoint = tf.train.Checkpoint(it=it)
    found = [int(two())]
    path = checkpoint.save(tmp + "/f")
    found.append(int(two()))
    checkpoint.restore(path)
    return found + [int(two())]


def _outside(make, policy=None):
    """Elements that depend on what is not saved."""
    def case(tf, tmp):
        ds = make(tf)
        if policy is not None:
            options = tf.data.Options()
            options.experimental_external_state_policy = getattr(tf.data.experimental.ExternalStatePolicy, policy)
            ds = ds.with_options(options)
        it = iter(ds)
        next(it)
        path = tf.train.Checkpoint(it=it).save(tmp + "/o")
        first = next(it)
        tf.train.Checkpoint(it=it).restore(path)
        return [first, next(it)]

    return case


def _generated(tf):
    return tf.data.Dataset.from_generator(lambda: iter(range(5)), output_signature=tf.TensorSpec((), tf.int64))


def _counted(tf):
    v = tf.Variable(5, dtype=tf.int64)
    return tf.data.Dataset.range(9).map(lambda x: x + v)


def _asserted(tf):
    def check(x):
        tf.debugging.assert_less(x, tf.constant(9, tf.int64))
        return x

    return tf.data.Dataset.range(5).map(check)


def _session(tf, tmp):
    v1 = tf.compat.v1
    found = []
    for attempt in range(2):
        with tf.Graph().as_default(), v1.Session() as session:
            it = v1.data.make_initializable_iterator(tf.data.Dataset.range(20).shuffle(4, seed=3).batch(3))
            element = it.get_next()
            saveable = tf.data.experimental.make_saveable_from_iterator(it)
            v1.add_to_collection(v1.GraphKeys.SAVEABLE_OBJECTS, saveable)
            step = v1.get_variable("step", initializer=0)
            saver = v1.train.Saver()
            session.run([it.initializer, v1.global_variables_initializer()])
            if attempt:
                saver.restore(session, tmp + "/s")
            else:
                found.append(session.run(element))
                session.run(step.assign_add(4))
                saver.save(session, tmp + "/s")
            found += [session.run([element, step]) for _ in range(2)]
    return found


def _session_without_initializer(tf, tmp):
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session() as session:
        it = v1.data.make_initializable_iterator(tf.data.Dataset.range(20))
        saver = v1.train.Saver([tf.data.experimental.make_saveable_from_iterator(it)])
        saver.save(session, tmp + "/s")


def _wrong_policy(tf, tmp):
    with tf.Graph().as_default():
        it = tf.compat.v1.data.make_initializable_iterator(tf.data.Dataset.range(20))
        tf.data.experimental.make_saveable_from_iterator(it, "never")


CASES.update(lines=_lines, records=_records, packed_records=_packed_records, fixed=_fixed, csv=_csv, list_files=_list_files,
             files_interleaved=_files_interleaved, cache_in_file=_cache_in_file, snapshot=_snapshot, load=_load,
             as_numpy=_as_numpy, keys=_keys, manager=_manager, raw=_raw, another_dataset=_another_dataset,
             restored_before_it_is_there=_restored_before_it_is_there, in_a_function=_in_a_function, session=_session,
             session_without_initializer=_session_without_initializer, wrong_policy=_wrong_policy,
             generator=_outside(_generated), generator_ignored=_outside(_generated, "IGNORE"),
             variable=_outside(_counted), variable_ignored=_outside(_counted, "IGNORE"), variable_warned=_outside(_counted, "WARN"),
             callback=_outside(lambda tf: tf.data.Dataset.range(5).map(lambda x: tf.py_function(lambda v: v + 1, [x], tf.int64))),
             drawn=_outside(lambda tf: tf.data.Dataset.range(5).map(lambda x: tf.random.uniform((), seed=1))),
             table=_outside(lambda tf: tf.data.Dataset.range(5).map(tf.lookup.StaticHashTable(
                 tf.lookup.KeyValueTensorInitializer(tf.range(5, dtype=tf.int64), tf.range(5)), -1).lookup)),
             asserted=_outside(_asserted))
