"""cache, save, load, snapshot: elements kept in memory and in files."""
import os

from data_cases import drawn, whole


def _rich(tf):
    """Elements of every kind that can be written."""
    return tf.data.Dataset.range(4).map(lambda n: {
        "a": (n, tf.cast(n, tf.float32) / 2), "s": tf.strings.as_string(n), "v": tf.range(n), "e": tf.zeros([0, 2], tf.int8),
        "b": n > 1, "c": tf.complex(1.0, tf.cast(n, tf.float32)), "h": tf.cast(n, tf.float16)})


def cache(tf, tmp):
    return whole(tf, _rich(tf).cache())


def cache_made_once(tf, tmp):
    calls = tf.Variable(0)

    def count(n):
        calls.assign_add(1)
        return n

    ds = tf.data.Dataset.range(5).map(count).cache()
    found = [drawn(tf, ds.take(2)), calls.numpy()]
    for _ in range(3):
        found.append([drawn(tf, ds), calls.numpy()])
    return found


def cache_in_file(tf, tmp):
    ds = _rich(tf).cache(tmp + "/c")
    return [whole(tf, ds), os.path.exists(tmp + "/c.index"), os.path.exists(tmp + "/c.data-00000-of-00001")]


def cache_in_file_made_once(tf, tmp):
    calls = tf.Variable(0)

    def count(n):
        calls.assign_add(1)
        return n

    found = []
    for _ in range(3):
        ds = tf.data.Dataset.range(5).map(count).cache(tmp + "/c")
        found.append([drawn(tf, ds), calls.numpy()])
    return found


def cache_in_file_broken_off(tf, tmp):
    ds = tf.data.Dataset.range(5).cache(tmp + "/c")
    it = iter(ds)
    first = [next(it).numpy(), next(it).numpy()]
    del it
    return [first, os.path.exists(tmp + "/c.index")]


def cache_in_file_of_another_dataset(tf, tmp):
    """The file says which elements there are, not the dataset."""
    drawn(tf, tf.data.Dataset.range(3).cache(tmp + "/c"))
    return drawn(tf, tf.data.Dataset.range(100, 105).cache(tmp + "/c"))


def cache_then_shuffle(tf, tmp):
    ds = tf.data.Dataset.range(6).cache(tmp + "/c").shuffle(6, seed=2, reshuffle_each_iteration=False)
    return whole(tf, ds)


def cache_repeated(tf, tmp):
    return [drawn(tf, tf.data.Dataset.range(3).cache(name).repeat(3)) for name in ("", tmp + "/c")]


def save_and_load(tf, tmp):
    _rich(tf).save(tmp + "/s")
    found = whole(tf, tf.data.Dataset.load(tmp + "/s"))
    del found["spec"]  # TensorFlow reads dictionaries in any order
    return found


def load_with_spec(tf, tmp):
    ds = _rich(tf)
    ds.save(tmp + "/s")
    return whole(tf, tf.data.Dataset.load(tmp + "/s", ds.element_spec))


def save_empty(tf, tmp):
    tf.data.Dataset.range(0).save(tmp + "/s")
    return whole(tf, tf.data.Dataset.load(tmp + "/s"))


def save_again(tf, tmp):
    for n in (3, 5):
        tf.data.Dataset.range(n).save(tmp + "/s")
    return whole(tf, tf.data.Dataset.load(tmp + "/s"))


def save_compressed(tf, tmp):
    tf.data.Dataset.range(5).save(tmp + "/s", compression="GZIP")
    return whole(tf, tf.data.Dataset.load(tmp + "/s", compression="GZIP"))


def save_in_shards(tf, tmp):
    tf.data.Dataset.range(9).save(tmp + "/s", shard_func=lambda n: n % 3)
    ds = tf.data.Dataset.load(tmp + "/s", reader_func=lambda shards: shards.interleave(lambda one: one, cycle_length=3))
    flat = tf.data.Dataset.load(tmp + "/s", reader_func=lambda shards: shards.flat_map(lambda one: one))
    return [whole(tf, ds), drawn(tf, flat), sorted(n.numpy() for n in tf.data.Dataset.load(tmp + "/s"))]


def save_wrong_shard(tf, tmp):
    tf.data.Dataset.range(3).save(tmp + "/s", shard_func=lambda n: tf.cast(n, tf.float32))


def save_sparse_and_ragged(tf, tmp):
    ds = tf.data.Dataset.range(3).map(lambda n: (tf.sparse.from_dense(tf.one_hot([n, 0], 3)), tf.RaggedTensor.from_row_lengths(
        tf.range(n + 1), [n, 1])))
    ds.save(tmp + "/s")
    return [drawn(tf, tf.data.Dataset.load(tmp + "/s"))]


def load_missing(tf, tmp):
    return tf.data.Dataset.load(tmp + "/none")


def load_missing_with_spec(tf, tmp):
    return drawn(tf, tf.data.Dataset.load(tmp + "/none", tf.TensorSpec([], tf.int64)))


def load_in_pipeline(tf, tmp):
    tf.data.Dataset.range(10).save(tmp + "/s")
    return [drawn(tf, tf.data.Dataset.load(tmp + "/s").shuffle(10, seed=1).batch(4)),
            tf.data.Dataset.load(tmp + "/s").reduce(tf.constant(0, tf.int64), lambda a, b: a + b)]


def save_by_function(tf, tmp):
    tf.data.experimental.save(tf.data.Dataset.range(3), tmp + "/s")
    return whole(tf, tf.data.experimental.load(tmp + "/s", tf.TensorSpec([], tf.int64)))


def snapshot(tf, tmp):
    return whole(tf, _rich(tf).snapshot(tmp + "/s"))


def snapshot_made_once(tf, tmp):
    calls = tf.Variable(0)

    def count(n):
        calls.assign_add(1)
        return n

    ds = tf.data.Dataset.range(5).map(count).snapshot(tmp + "/s")
    found = []
    for _ in range(3):
        found.append([drawn(tf, ds), calls.numpy()])
    return found


def snapshot_of_two(tf, tmp):
    """Datasets that are made differently have snapshots of their own in one folder."""
    return [[drawn(tf, tf.data.Dataset.range(n).snapshot(tmp + "/s")) for n in (3, 4)] for _ in range(2)]


def snapshot_in_shards(tf, tmp):
    ds = tf.data.Dataset.range(6).snapshot(tmp + "/s", shard_func=lambda n: n % 2,
                                           reader_func=lambda shards: shards.flat_map(lambda one: one))
    return [drawn(tf, ds), drawn(tf, ds)]


def snapshot_applied(tf, tmp):
    ds = tf.data.Dataset.range(4).apply(tf.data.experimental.snapshot(tmp + "/s"))
    return [drawn(tf, ds), drawn(tf, ds)]


def snapshot_compressed(tf, tmp):
    ds = tf.data.Dataset.range(4).snapshot(tmp + "/s", compression="GZIP")
    return [drawn(tf, ds), drawn(tf, ds)]
