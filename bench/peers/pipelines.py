"""The rows of input pipelines as a TensorFlow program. A call is one pass over all elements, each of which is read."""
import os
import tempfile

import numpy as np

import calls

NUMBERS, BATCH = 200_000, 1000


def consume(dataset, read):
    for batch in dataset:
        read(batch)


FOLDERS = []  # of the files that rows read; removed when the process ends


def folder():
    FOLDERS.append(tempfile.TemporaryDirectory(prefix="pipelines-"))
    return FOLDERS[-1].name


def images(n, *shape):
    return np.random.default_rng(3).integers(0, 256, (n, *shape), dtype=np.uint8)


def rows(tf):
    data = tf.data.Dataset

    def passes(dataset, read=lambda batch: batch.numpy()):
        return calls.again(lambda: consume(dataset, read))

    def data_range():
        return passes(data.range(NUMBERS).map(lambda x: x * 2).batch(BATCH).prefetch(tf.data.AUTOTUNE))

    def data_shuffle():
        pixels, labels = images(1000, 64, 64, 3), np.arange(1000)
        ds = data.from_tensor_slices((pixels, labels)).shuffle(1000, seed=1).batch(32).prefetch(tf.data.AUTOTUNE)
        return passes(ds, lambda batch: batch[0].numpy())

    def data_jpeg():
        where = folder()
        names = [os.path.join(where, f"{k}.jpg") for k in range(256)]
        noise = images(256, 12, 16, 3)
        for name, small in zip(names, noise):  # smooth, as photographs are
            picture = tf.cast(tf.clip_by_value(tf.image.resize(tf.cast(small, tf.float32), (192, 256)), 0.0, 255.0), tf.uint8)
            with open(name, "wb") as f:
                f.write(tf.io.encode_jpeg(picture).numpy())

        def load(name):
            picture = tf.io.decode_jpeg(tf.io.read_file(name), channels=3)
            return tf.image.resize(picture, (128, 128)) / 127.5 - 1.0
        ds = data.from_tensor_slices(names).map(load, num_parallel_calls=tf.data.AUTOTUNE).batch(32).prefetch(tf.data.AUTOTUNE)
        return passes(ds)

    def data_examples():
        def example(k):
            feature = {"id": tf.train.Feature(int64_list=tf.train.Int64List(value=[k])),
                       "x": tf.train.Feature(float_list=tf.train.FloatList(value=[k * 0.5, 1.0, 2.0, 3.0])),
                       "name": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"item %d" % k]))}
            return tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString()
        file = os.path.join(folder(), "examples.tfrecord")
        with tf.io.TFRecordWriter(file) as out:
            for k in range(100_000):
                out.write(example(k))
        spec = {"id": tf.io.FixedLenFeature([], tf.int64), "x": tf.io.FixedLenFeature([4], tf.float32),
                "name": tf.io.FixedLenFeature([], tf.string)}
        if hasattr(tf.data, "TFRecordDataset"):
            source = tf.data.TFRecordDataset(file)
        else:
            source = data.from_tensor_slices([example(k) for k in range(100_000)])
        ds = source.map(lambda s: tf.io.parse_single_example(s, spec),
                        num_parallel_calls=tf.data.AUTOTUNE).batch(256).prefetch(tf.data.AUTOTUNE)
        return passes(ds, lambda batch: batch["x"].numpy())

    def data_generator():
        picture = images(1, 256, 256, 3)[0].astype(np.float32)

        def pictures():
            for _ in range(200):
                yield picture
        spec = tf.TensorSpec((256, 256, 3), tf.float32)
        return passes(data.from_generator(pictures, output_signature=spec).batch(8).prefetch(tf.data.AUTOTUNE))

    return calls.named(data_range, data_shuffle, data_jpeg, data_examples, data_generator)
