"""Trains the small CNN of bench/peers from each kind of pipeline and prints how long a step waits for its batch.

A step is measured alone, on one batch again and again, and then fed by the pipeline. "own" is the processor time that the
pipeline needs for a batch: where the step uses both processors, this time is taken from the step, not from the waiting.

.venv/bin/python bench/feeding.py [NAME...] [--tensorflow]
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
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "peers"))
import pipelines  # noqa: E402

AUTO, data = tf.data.AUTOTUNE, tf.data.Dataset
STEPS, MOST = 60, 0.05  # steps that are measured, and the part of a step that may be waiting


def numbers(folder):
    """Images computed from numbers."""
    def image(k):
        return tf.fill([64, 64, 3], tf.cast(k % 7, tf.float32) / 7), k % 10
    return data.range(1 << 20).map(image, num_parallel_calls=AUTO).batch(32)


def slices(folder):
    """Images in memory, sliced and shuffled."""
    pixels, labels = pipelines.images(1000, 64, 64, 3), np.arange(1000) % 10
    ds = data.from_tensor_slices((pixels, labels)).shuffle(1000, seed=1).repeat()
    return ds.map(lambda x, y: (tf.cast(x, tf.float32) / 255, y), num_parallel_calls=AUTO).batch(32)


def jpegs(folder):
    """JPEG files, decoded, resized and normalised."""
    names = [os.path.join(folder, f"{k}.jpg") for k in range(256)]
    for name, small in zip(names, pipelines.images(256, 12, 16, 3)):
        picture = tf.cast(tf.clip_by_value(tf.image.resize(tf.cast(small, tf.float32), (192, 256)), 0.0, 255.0), tf.uint8)
        with open(name, "wb") as f:
            f.write(tf.io.encode_jpeg(picture).numpy())

    def load(name):
        picture = tf.io.decode_jpeg(tf.io.read_file(name), channels=3)
        return tf.image.resize(picture, (128, 128)) / 127.5 - 1.0, tf.strings.length(name) % 10
    return data.from_tensor_slices(names).repeat().map(load, num_parallel_calls=AUTO).batch(32)


def examples(folder):
    """Serialized examples with an image each."""
    file, train = os.path.join(folder, "images.tfrecord"), tf.train
    with tf.io.TFRecordWriter(file) as out:
        for k, image in enumerate(pipelines.images(512, 64, 64, 3)):
            feature = {"x": train.Feature(bytes_list=train.BytesList(value=[image.tobytes()])),
                       "y": train.Feature(int64_list=train.Int64List(value=[k % 10]))}
            out.write(train.Example(features=train.Features(feature=feature)).SerializeToString())
    spec = {"x": tf.io.FixedLenFeature([], tf.string), "y": tf.io.FixedLenFeature([], tf.int64)}

    def load(s):
        parsed = tf.io.parse_single_example(s, spec)
        return tf.reshape(tf.cast(tf.io.decode_raw(parsed["x"], tf.uint8), tf.float32) / 255, [64, 64, 3]), parsed["y"]
    return tf.data.TFRecordDataset(file).repeat().map(load, num_parallel_calls=AUTO).batch(32)


def generator(folder):
    """Images of a Python generator, one a step, as in the articles."""
    picture = pipelines.images(1, 256, 256, 3)[0].astype(np.float32) / 255

    def pictures():
        k = 0
        while True:
            k += 1
            yield picture, k % 10
    spec = tf.TensorSpec((256, 256, 3), tf.float32), tf.TensorSpec((), tf.int64)
    return data.from_generator(pictures, output_signature=spec).batch(1)


PIPELINES = {f.__name__: f for f in (numbers, slices, jpegs, examples, generator)}


def trainer(shape):
    keras, layers = tf.keras, tf.keras.layers
    model = keras.Sequential([layers.Input(shape), layers.Conv2D(32, 3, activation="relu"), layers.Flatten(), layers.Dense(10)])
    loss_of, optimizer = keras.losses.SparseCategoricalCrossentropy(from_logits=True), keras.optimizers.Adam()
    weights = model.trainable_variables
    optimizer.build(weights)

    @tf.function
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        optimizer.apply(tape.gradient(loss, weights), weights)
        return loss
    return step


def timed(call):
    began = time.perf_counter()
    result = call()
    return time.perf_counter() - began, result


def own_time(ds):
    """Processor seconds that the pipeline needs for one batch."""
    iterator = iter(ds)
    next(iterator)
    began = time.process_time()
    for _ in range(STEPS):
        next(iterator)
    return (time.process_time() - began) / STEPS


def measure(name, folder):
    ds = PIPELINES[name](folder)
    x, y = next(iter(ds))
    step = trainer(x.shape[1:])
    alone = statistics.median(timed(lambda: step(x, y).numpy())[0] for _ in range(20))
    own = own_time(ds)
    iterator, waits, steps = iter(ds.prefetch(AUTO)), [], []
    for k in range(10 + STEPS):
        wait, (x, y) = timed(lambda: next(iterator))
        took, _ = timed(lambda: step(x, y).numpy())
        if k >= 10:  # before, the pipeline starts and the tuner learns
            waits.append(wait)
            steps.append(took)
    part = sum(waits) / sum(steps)
    print(f"{name:10} step alone {1e3 * alone:6.2f} ms, fed {1e3 * statistics.fmean(steps):6.2f} ms, own {1e3 * own:6.2f} ms, waiting "
          f"{1e3 * statistics.fmean(waits):6.3f} ms, {100 * part:5.1f} % of the step: {'ok' if part <= MOST else 'MORE'}", flush=True)
    return part


def main():
    with tempfile.TemporaryDirectory() as folder:
        parts = [measure(name, folder) for name in [a for a in sys.argv[1:] if a in PIPELINES] or PIPELINES]
    return any(part > MOST for part in parts)


if __name__ == "__main__":
    sys.exit(main())
