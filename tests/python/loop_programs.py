"""Loops that must leave threads, memory and descriptors as they were: iterators made and dropped, and whole lives of Keras models.
keras_loops_test.py runs them shortly, bench/long_loops.py 10,000 and 500 times."""
import gc
import os
import time

import numpy as np


def state():
    """Threads, descriptors and resident bytes of this process."""
    gc.collect()
    with open("/proc/self/statm") as f:
        resident = int(f.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd")), resident


def pipelines(tf, folder):
    """One dataset for each kind of thing that an iterator may hold: threads, files, Python generators, buffers."""
    auto, data = tf.data.AUTOTUNE, tf.data.Dataset
    file = os.path.join(folder, "lines.txt")
    with open(file, "w") as f:
        f.write("".join(f"line {k}\n" for k in range(20)))

    def numbers():
        for k in range(8):
            yield np.full((4,), k, np.float32)

    def slow(x):
        y = tf.fill([40, 40], tf.cast(x, tf.float32))
        for _ in range(3):
            y = tf.matmul(y, y) / 1e4
        return y[0]

    return [data.range(12).map(slow, num_parallel_calls=4).batch(2).prefetch(2),
            data.from_generator(numbers, output_signature=tf.TensorSpec((4,), tf.float32)).prefetch(1),
            tf.data.TextLineDataset([file]).shuffle(8).batch(3),
            data.range(4).interleave(lambda x: data.range(x).map(lambda y: y + x), cycle_length=2, num_parallel_calls=auto),
            data.from_tensor_slices(np.zeros((10, 3), np.float32)).cache().repeat(2).batch(4).prefetch(auto)]


def drop_iterators(datasets, turns):
    """Makes `turns` iterators; every other one is left in the middle."""
    for k in range(turns):
        iterator = iter(datasets[k % len(datasets)])
        next(iterator)
        if (k // len(datasets)) % 2:
            for _ in iterator:
                pass
        del iterator


def model_life(tf, folder, kind="keras"):
    """Builds, trains, asks, saves, loads and forgets one model."""
    keras = tf.keras
    x, y = np.ones((64, 8), np.float32), np.zeros((64,), np.int64)
    model = keras.Sequential([keras.layers.Input((8,)), keras.layers.Dense(16, "relu"), keras.layers.Dense(3, "softmax")])
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x, y, epochs=1, batch_size=16, verbose=0)
    before = model.predict(x[:4], verbose=0)
    file = os.path.join(folder, f"model.{kind}")
    model.save(file)
    after = keras.models.load_model(file).predict(x[:4], verbose=0)
    assert np.array_equal(before, after)
    keras.backend.clear_session()


def model_lives(tf, folder, turns, settle=20):
    """Runs `turns` lives; gives the resident bytes after the first `settle` and after each later tenth, and each life's seconds, elapsed and
    of processor time, which says more beside other programs."""
    kept, seconds, busy = [], [], []
    for k in range(turns):
        began, used = time.perf_counter(), time.process_time()
        model_life(tf, folder)
        seconds.append(time.perf_counter() - began)
        busy.append(time.process_time() - used)
        if k + 1 == settle or (k >= settle and (k + 1) % max((turns - settle) // 10, 1) == 0):
            kept.append(state()[2])
    return kept, seconds, busy
