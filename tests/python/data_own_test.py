"""tf.data where Evenflow promises more than TensorFlow: damaged files are reported with their place, nothing is left behind."""
import gc
import os

import pytest

import evenflow as tf


def _records(path, n=3):
    with tf.io.TFRecordWriter(path) as w:
        for k in range(n):
            w.write(b"record %d" % k)
    return path


def _descriptors():
    gc.collect()
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.parametrize("size, offset", [(1, 0), (11, 0), (12, 0), (20, 0), (30, 24), (47, 24), (49, 48)])
def test_truncated_records_name_file_and_offset(tmp_path, size, offset):
    path = _records(str(tmp_path / "f"))
    os.truncate(path, size)
    seen = []
    with pytest.raises(tf.errors.DataLossError) as e:
        for record in tf.data.TFRecordDataset(path):
            seen.append(record.numpy())
    assert path in str(e.value) and f"truncated record at {offset}" in str(e.value)
    assert seen == [b"record 0", b"record 1"][:offset // 24]


@pytest.mark.parametrize("at", [0, 8, 12, 22])
def test_changed_bytes_name_file_and_offset(tmp_path, at):
    path = _records(str(tmp_path / "f"))
    data = bytearray(open(path, "rb").read())
    data[24 + at] ^= 64
    open(path, "wb").write(bytes(data))
    with pytest.raises(tf.errors.DataLossError, match="corrupted record at 24") as e:
        list(tf.data.TFRecordDataset(path))
    assert path in str(e.value)


def test_huge_length_takes_no_memory(tmp_path):
    """A record whose checked length says 2**62 bytes."""
    import struct

    path = str(tmp_path / "f")
    length = struct.pack("<Q", 2**62)
    open(path, "wb").write(length + b"\0\0\0\0" + b"x" * 100)
    with pytest.raises(tf.errors.DataLossError):
        list(tf.data.TFRecordDataset(path))


def test_damaged_file_then_next(tmp_path):
    first, second = _records(str(tmp_path / "a")), _records(str(tmp_path / "b"), 1)
    os.truncate(first, 30)
    assert [r.numpy() for r in tf.data.TFRecordDataset([first, second]).ignore_errors()] == [b"record 0", b"record 0"]
    missing = tf.data.TextLineDataset([str(tmp_path / "none"), second]).ignore_errors()
    assert len(list(missing)) >= 1


def test_csv_fault_names_file_and_byte(tmp_path):
    path = str(tmp_path / "f.csv")
    open(path, "w").write("1,2\n3,4\nx,6\n7,8\n")
    with pytest.raises(tf.errors.InvalidArgumentError) as e:
        list(tf.data.experimental.CsvDataset(path, [tf.int32, tf.int32]))
    assert path in str(e.value) and "byte 8" in str(e.value) and "not a valid int32: x" in str(e.value)


@pytest.mark.parametrize("workers", [None, 1, 2, 8, tf.data.AUTOTUNE])
def test_fault_in_the_middle_with_workers(tmp_path, workers):
    path = _records(str(tmp_path / "f"), 5)
    os.truncate(path, 24 * 3 + 5)
    seen = []
    with pytest.raises(tf.errors.DataLossError, match="truncated record at 72"):
        for r in tf.data.TFRecordDataset(path).map(tf.strings.length, num_parallel_calls=workers).prefetch(2):
            seen.append(int(r))
    assert seen == [8, 8, 8]


def test_save_that_fails_leaves_nothing_to_load(tmp_path):
    path = str(tmp_path / "s")
    tf.data.Dataset.range(3).save(path)
    bad = tf.data.Dataset.range(5).map(lambda n: tf.debugging.check_numerics(1.0 / tf.cast(3 - n, tf.float32), "x"))
    with pytest.raises(tf.errors.InvalidArgumentError):
        bad.save(path)
    assert [int(n) for n in tf.data.Dataset.load(path)] == [0, 1, 2]


def test_damaged_snapshots(tmp_path):
    path = str(tmp_path / "s")
    tf.data.Dataset.range(4).save(path)
    with pytest.raises(tf.errors.DataLossError, match="element_spec"):
        list(tf.data.Dataset.load(path, tf.TensorSpec([], tf.string)))
    found = [os.path.join(d, n) for d, _, names in os.walk(path) for n in names if n.endswith(".snapshot")]
    assert len(found) == 1
    os.truncate(found[0], os.path.getsize(found[0]) - 3)
    with pytest.raises(tf.errors.DataLossError, match="truncated record"):
        list(tf.data.Dataset.load(path))
    for text in (b"", b"no metadata", b"evenflow snapshot 1\nrun 0123\n",
                 b"evenflow snapshot 1\nrun 0123456789abcdef\nelements 5\nshards 99999999999\n"):
        open(path + "/snapshot.metadata", "wb").write(text)
        with pytest.raises(tf.errors.DataLossError):
            tf.data.Dataset.load(path)


def test_damaged_file_cache(tmp_path):
    path = str(tmp_path / "c")
    ds = tf.data.Dataset.range(4).cache(path)
    assert [int(n) for n in ds] == [0, 1, 2, 3]
    os.truncate(path + ".data-00000-of-00001", 30)
    with pytest.raises(tf.errors.DataLossError):
        list(ds)


def test_variants_cannot_be_written(tmp_path):
    ds = tf.data.Dataset.range(2).map(lambda n: tf.data.Dataset.range(n))
    with pytest.raises(tf.errors.UnimplementedError, match="variant"):
        list(ds.cache(str(tmp_path / "c")))


def test_nothing_is_left_open(tmp_path):
    text, records = str(tmp_path / "t"), _records(str(tmp_path / "r"))
    open(text, "w").write("1,2\n" * 10)
    tf.data.Dataset.range(10).save(str(tmp_path / "s"))

    def use(k):
        for ds in (tf.data.TextLineDataset(text), tf.data.TFRecordDataset([records] * 3, num_parallel_reads=2),
                   tf.data.experimental.CsvDataset(text, [0, 0]), tf.data.Dataset.load(str(tmp_path / "s")),
                   tf.data.Dataset.range(5).cache(str(tmp_path / f"c{k}")), tf.data.FixedLengthRecordDataset(text, 4)):
            it = iter(ds)
            next(it)
            del it

    use(0)
    before = _descriptors()
    for k in range(60):
        use(k)
    assert _descriptors() == before
    assert not [n for n in os.listdir(tmp_path) if n.startswith("c")]  # files of iterations that were broken off are gone


def test_huge_batches_take_no_memory():
    words = tf.data.Dataset.from_tensor_slices(["a", "b", "c"])
    assert len(words.enumerate().batch(2**31 - 1).get_single_element()[0]) == 3


def test_fingerprint_is_that_of_another_process():
    import subprocess
    import sys

    program = "import evenflow as tf; print(int(tf.data.Dataset.range(5).map(lambda n: n * 2 + 1).batch(2).fingerprint()))"
    made = {subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout for _ in range(2)}
    assert len(made) == 1


def test_snapshot_of_another_process(tmp_path):
    import subprocess
    import sys

    program = ("import evenflow as tf, sys; v = tf.Variable(0); "
               f"ds = tf.data.Dataset.range(5).map(lambda n: n + 1).snapshot({str(tmp_path)!r}); print(sum(int(n) for n in ds))")
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout == "15\n"
    assert len([n for n in os.listdir(tmp_path)]) == 1


@pytest.mark.parametrize("weights, drawn", [([0.0, 1.0], [1, 1, 1]), ([1.0, 0.0], [0, 0, 0]), ([0.0, 0.0], []),
                                            ([1.0, -1.0], [0, 0, 0]), ([float("nan"), 1.0], [1, 1, 1])])
def test_what_has_no_weight_is_not_waited_for(weights, drawn):
    parts = [tf.data.Dataset.from_tensors(k).repeat(3) for k in range(2)]
    assert [int(n) for n in tf.data.Dataset.sample_from_datasets(parts, weights)] == drawn


def test_a_cache_that_cannot_be_renamed_leaves_no_file(tmp_path):
    (tmp_path / "c.data-00000-of-00001").mkdir()  # where the finished file belongs
    with pytest.raises(tf.errors.OpError):
        list(tf.data.Dataset.range(5).cache(str(tmp_path / "c")))
    gc.collect()
    assert os.listdir(tmp_path) == ["c.data-00000-of-00001"]


def test_a_finalizer_with_many_results_runs():
    from evenflow._src.dataset_generator import _function

    seen = []

    def end(state):
        seen.append(int(state))
        return [tf.constant(k) for k in range(9)]

    state = tf.TensorSpec((), tf.int64)
    init, no = _function("init", [], lambda: [tf.constant(7, tf.int64)])
    following, _ = _function("next", [state], lambda s: [s + 1])
    finalize, captured = _function("end", [state], lambda s: tf.py_function(end, [s], [tf.int32] * 9))
    made = tf.raw_ops.GeneratorDataset(
        init_func_other_args=no, next_func_other_args=no, finalize_func_other_args=captured, init_func=init,
        next_func=following, finalize_func=finalize, output_types=[tf.int64], output_shapes=[()],
        Tinit_func_args=[], Tnext_func_args=[], Tfinalize_func_args=[t.dtype for t in captured])
    dataset = tf.data.experimental.from_variant(made, state)
    assert [int(x) for x in dataset.take(3)] == [8, 8, 8]
    gc.collect()
    assert seen == [7]


def test_elements_beyond_the_last_boundary():
    dataset = tf.data.Dataset.from_tensor_slices([1, 2, 7]).map(lambda n: tf.range(n))
    buckets = dataset.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3, 5], [2, 2, 2], pad_to_bucket_boundary=True)
    seen = []
    with pytest.raises(tf.errors.OpError, match="elements must have length < max"):  # as in TensorFlow
        for x in buckets:
            seen.append(x.numpy().tolist())
    assert seen == [[[0, 0], [0, 1]]]


def test_hashes_of_a_table_from_a_dataset():
    import types
    pairs = tf.data.Dataset.from_tensor_slices((["a", "b"], tf.constant([0, 1], tf.int64)))
    words = tf.constant(["b", "x", "y", "z", "q"])
    for hasher, key in (("fasthash", None), ("stronghash", [3, 4])):
        table = tf.data.experimental.table_from_dataset(pairs, 1000, hasher_spec=types.SimpleNamespace(hasher=hasher, key=key))
        hashed = tf.strings.to_hash_bucket_strong(words, 1000, key) if key else tf.strings.to_hash_bucket_fast(words, 1000)
        assert table.lookup(words).numpy().tolist() == [1] + (hashed[1:] + 2).numpy().tolist()
    with pytest.raises(ValueError, match="unknown hasher"):
        tf.data.experimental.table_from_dataset(pairs, 5, hasher_spec=types.SimpleNamespace(hasher="none", key=None))
    assert tf.data.experimental.table_from_dataset(pairs).lookup(words).numpy().tolist() == [1, -1, -1, -1, -1]


@pytest.mark.parametrize("wrap", [lambda f: f, tf.function], ids=["eager", "function"])
@pytest.mark.parametrize("what", [dict(output_types=[tf.float64], output_shapes=[()]),
                                  dict(output_types=[tf.int64], output_shapes=[(3,)])], ids=["dtype", "shape"])
def test_components_that_are_not_what_the_op_declares(wrap, what):
    """A plan relies on dtypes and shapes: double the bytes would be read otherwise."""
    from evenflow._src.dataset_generator import _function

    raw, dataset = tf.raw_ops, tf.data.Dataset.range(1)
    variant = tf.data.experimental.to_variant(dataset)
    same, captured = _function("same", [tf.TensorSpec((), tf.int64)] * 2, lambda state, element: [state])
    ways = [lambda: raw.IteratorGetNext(iterator=iter(dataset)._iterator_resource, **what),
            lambda: raw.IteratorGetNextSync(iterator=iter(dataset)._iterator_resource, **what),
            lambda: raw.DatasetToSingleElement(dataset=variant, **what),
            lambda: raw.GetElementAtIndex(dataset=variant, index=tf.constant(0, tf.int64), **what),
            lambda: raw.ReduceDataset(input_dataset=variant, initial_state=[tf.constant(2, tf.int64)], other_arguments=captured,
                                      f=same, Tstate=[tf.int64], Targuments=[], **what)]
    for way in ways:
        with pytest.raises(tf.errors.InvalidArgumentError, match="says"):
            wrap(lambda way=way: [x + 1 for x in way()])()


@pytest.mark.parametrize("use", [
    lambda d: d.take(2), lambda d: d.batch(2), lambda d: d.shuffle(3), lambda d: d.prefetch(2), lambda d: d.repeat(2), lambda d: d.cache(),
    lambda d: d.padded_batch(2, ()), lambda d: d.shard(2, 0), lambda d: d.unique(), lambda d: d.enumerate(), lambda d: d.batch(2).unbatch(),
    lambda d: tf.data.Dataset.range(3).concatenate(d), lambda d: tf.data.Dataset.zip((d, d)), lambda d: d.window(2), lambda d: d.skip(1),
    lambda d: tf.data.Dataset.choose_from_datasets([d, tf.data.Dataset.range(2)], tf.data.Dataset.range(2)),
    lambda d: tf.data.Dataset.choose_from_datasets([tf.data.Dataset.range(2)] * 2, d),
    lambda d: [d.take(1).get_single_element()]])
def test_elements_wider_than_declared(use):
    """A stage would write more tensors than its caller has space for."""
    whole = tf.data.experimental.to_variant(tf.data.Dataset.zip((tf.data.Dataset.range(4),) * 400))
    narrow = tf.data.experimental.from_variant(whole, tf.TensorSpec((), tf.int64))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Number of components does not match: expected"):
        list(use(narrow))


@pytest.mark.parametrize("use", [lambda d: d.batch(2), lambda d: d.take(2), lambda d: d.padded_batch(2), lambda d: d.cache()])
def test_elements_of_another_dtype_than_declared(use):
    """As in TensorFlow; padding would be read as what it is not."""
    for made, declared in ((tf.data.Dataset.from_tensors([1, 2]), tf.string), (tf.data.Dataset.from_tensors(["a", "b"]), tf.int32)):
        other = tf.data.experimental.from_variant(tf.data.experimental.to_variant(made), tf.TensorSpec((None,), declared))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Data type mismatch at component 0: expected"):
            list(use(other))


def test_elements_of_another_shape_than_declared():
    """Iterating eagerly, as in a function."""
    def three(i):
        made = tf.py_function(lambda unused: [1.0, 1.0], [i], tf.float64)
        made.set_shape([3])
        return made

    iterator = iter(tf.data.Dataset.range(2).map(three))
    for take in (next, lambda it: it.get_next()):
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Incompatible shapes at component 0: expected \[3\], .* got \[2\]"):
            take(iterator)


def test_iterators_need_a_shape_for_each_component():
    """The shapes beyond those given were whatever is behind them in memory."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="1 shapes for 3 components"):
        tf.raw_ops.AnonymousIteratorV3(output_types=[tf.int64] * 3, output_shapes=[[]])


def test_datasets_of_datasets_are_joined():
    def windows(n, k):
        return tf.data.Dataset.range(n).window(k)

    def numbers(dataset):
        return [[int(x) for x in window] for window in dataset]

    choice = tf.data.Dataset.from_tensor_slices(tf.constant([0, 1, 1, 0], tf.int64))
    both = [windows(6, 2), windows(6, 3)]
    assert numbers(tf.data.Dataset.choose_from_datasets(both, choice)) == [[0, 1], [0, 1, 2], [3, 4, 5], [2, 3]]
    assert numbers(windows(4, 2).concatenate(windows(3, 3))) == [[0, 1], [2, 3], [0, 1, 2]]
    longer = tf.data.Dataset.from_tensors([1, 2]).window(2).concatenate(tf.data.Dataset.from_tensors([1]).window(2))
    assert longer.element_spec.element_spec == tf.TensorSpec([None], tf.int32)
    for other in (tf.data.Dataset.from_tensors(1.0).window(2), tf.data.Dataset.range(3)):
        for a, b in ((windows(4, 2), other), (other, windows(4, 2))):
            with pytest.raises(TypeError):
                a.concatenate(b)
