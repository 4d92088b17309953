"""Compares AUTOTUNE with the best manual setting on six pipelines. For each it prints the rate with every manual setting, the
rate with AUTOTUNE (in the first epoch, in which it tunes, and the median of later ones) and their ratio.

.venv/bin/python bench/autotune.py [NAME...] [--tensorflow]
"""
import os
import pathlib
import statistics
import sys
import tempfile
import time

import numpy as np

if "--tensorflow" in sys.argv:
    import tensorflow as tf
else:
    import evenflow as tf

AUTO, data = tf.data.AUTOTUNE, tf.data.Dataset
HAND = [(workers, ahead) for workers in (1, 2, 4, 8, 16) for ahead in (1, 8)]


def computing(x):
    """Computes for about 300 us on one processor."""
    y = tf.fill([96, 96], tf.cast(x, tf.float32))
    for _ in range(6):
        y = tf.matmul(y, y) / 1e4
    return tf.reduce_sum(y)


def sleeping(seconds):
    def run(x):
        time.sleep(seconds)
        return np.float32(x)

    def call(x):
        y = tf.numpy_function(run, [x], tf.float32)
        y.set_shape([])
        return y
    return call


def compute(workers, ahead, folder):
    return data.range(2500).map(computing, num_parallel_calls=workers).batch(16).prefetch(ahead)


def slow_source(workers, ahead, folder):
    """A function that waits 5 ms for something, as for a server."""
    return data.range(400).map(sleeping(0.005), num_parallel_calls=workers).batch(8).prefetch(ahead)


def two_maps(workers, ahead, folder):
    ds = data.range(400).map(sleeping(0.003), num_parallel_calls=workers)
    return ds.map(computing, num_parallel_calls=workers).batch(8).prefetch(ahead)


def pictures(workers, ahead, folder):
    names = [os.path.join(folder, f"{k}.png") for k in range(64)]
    if not os.path.exists(names[0]):
        noise = np.random.default_rng(3).integers(0, 256, (64, 12, 16, 3), dtype=np.uint8)
        for name, small in zip(names, noise):
            image = tf.cast(tf.clip_by_value(tf.image.resize(tf.cast(small, tf.float32), (192, 256)), 0.0, 255.0), tf.uint8)
            with open(name, "wb") as f:
                f.write(tf.io.encode_jpeg(image).numpy())

    def load(name):
        image = tf.io.decode_jpeg(tf.io.read_file(name), channels=3)
        return tf.image.resize(image, (128, 128)) / 127.5 - 1.0
    ds = data.from_tensor_slices(names).repeat(16).map(load, num_parallel_calls=workers)
    return ds.batch(16).prefetch(ahead)


def interleaved(workers, ahead, folder):
    """Eight sources at a time, each of which waits 4 ms for an element."""
    def source(k):
        return data.range(15).map(sleeping(0.004))
    return data.range(24).interleave(source, cycle_length=8, num_parallel_calls=min(workers, 8)).batch(8).prefetch(ahead)


def bursts(workers, ahead, folder):
    """Every sixteenth element takes 30 ms, the others 1 ms; the consumer takes 2 ms for each."""
    def run(x):
        time.sleep(0.03 if x % 16 == 0 else 0.001)
        return np.float32(x)
    return data.range(160).map(lambda x: tf.numpy_function(run, [x], tf.float32), num_parallel_calls=workers).prefetch(ahead)


PIPELINES = {f.__name__: f for f in (compute, slow_source, two_maps, pictures, interleaved, bursts)}
CONSUMER = {"bursts": 0.002}


def rate(ds, name):
    """The elements per second of the last stage, for one iteration over the dataset."""
    pause, n, began = CONSUMER.get(name, 0), 0, time.perf_counter()
    for _ in ds:
        n += 1
        if pause:
            time.sleep(pause)
    return n / (time.perf_counter() - began)


def main():
    names = [a for a in sys.argv[1:] if a in PIPELINES] or list(PIPELINES)
    worst = 9.0
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            make = PIPELINES[name]
            hand = {s: rate(make(*s, folder), name) for s in HAND}
            auto, best = make(AUTO, AUTO, folder), max(hand, key=hand.get)
            first, own = rate(auto, name), make(*best, folder)
            pairs = [(rate(own, name), rate(auto, name)) for _ in range(5)]  # in turn, under the same conditions
            top, later = (statistics.median(p[k] for p in pairs) for k in (0, 1))
            worst = min(worst, later / top)
            print(f"{name:12} best by hand {top:8.1f}/s (workers {best[0]}, ahead {best[1]}), AUTOTUNE {first:8.1f}/s in its first "
                  f"epoch ({first / top:.2f}), {later:8.1f}/s in later ones ({later / top:.2f})", flush=True)
            if hasattr(auto, "explain") and "-v" in sys.argv:
                print(auto.explain())
    print(f"worst of the later epochs: {worst:.2f}")


if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    main()
