"""Helpers of the subjects: how calls are repeated, and their inputs. A call ends when its result is computed: every row
forces it, by .numpy() or block_until_ready().

Each row of a subject sets itself up and returns `prepare(n)`, which returns a callable that makes n calls; only the
callable is timed.
"""
from itertools import repeat

import numpy as np


def again(call):
    """Repeats the same call n times."""
    def prepare(n):
        def run():
            for _ in repeat(None, n):
                call()
        return run
    return prepare


def each_new(make, call):
    """Makes n calls, each with a new input make(k); k continues from one sample to the next."""
    seen = [0]

    def prepare(n):
        first, seen[0] = seen[0], seen[0] + n
        inputs = [make(k) for k in range(first, first + n)]

        def run():
            for x in inputs:
                call(x)
        return run
    return prepare


def new_shape(k):
    return [1 + k % 128, 1 + k // 128 % 128]


def new_number(k):
    return k + 0.5


def links(x, relu, sqrt, magnitude):
    """A chain of elementwise ops, of the subject's own functions."""
    y = x * 2.0 + 1.0
    y = relu(y) - 0.5 * x
    y = sqrt(magnitude(y)) + x
    return y / (1.0 + y * y)


# Rows of the chain: (elements, dtype). Eagerly, and as a function where the name says so.
CHAINS = {"chain": (1 << 22, "float32"), "chain_10k": (10_000, "float32"), "chain_1m": (1_000_000, "float32"),
          "chain64_10k": (10_000, "float64"), "chain64_1m": (1_000_000, "float64")}


def line(n=1 << 22, dtype="float32"):
    """The input of the chain: from -1 to 1, made in place. np.linspace takes three times the memory of its result, and the
    peak of every subject would be that of numpy."""
    x = np.arange(n, dtype=dtype)
    x *= 2 / (n - 1)
    x -= 1
    return x


def matrices(dtype="float32", n=1000):
    """The factors of the product."""
    rng = np.random.default_rng(0)
    return [rng.random((n, n), dtype=dtype) for _ in range(2)]


# Rows of the convolution: (image in NHWC, filter in HWIO, stride), padding 'SAME'.
CONVS = {"conv_first": ((8, 112, 112, 3), (7, 7, 3, 32), 2), "conv_wide": ((4, 56, 56, 64), (3, 3, 64, 64), 1),
         "conv_deep": ((4, 14, 14, 256), (3, 3, 256, 256), 1), "conv_point": ((4, 28, 28, 256), (1, 1, 256, 64), 1),
         "conv_one": ((1, 28, 28, 1), (3, 3, 1, 32), 1)}


def images(row):
    """Image, filter and stride."""
    image, window, stride = CONVS[row]
    rng = np.random.default_rng(1)
    return rng.random(image, dtype=np.float32), rng.random(window, dtype=np.float32) - 0.5, stride


def layers():
    """Input, labels and weights of a step of training: three layers of 512 x 512."""
    rng = np.random.default_rng(2)
    weights = [(rng.random((512, 512), dtype=np.float32) - 0.5) / 16 for _ in range(3)]
    return rng.random((64, 512), dtype=np.float32), rng.random((64, 512), dtype=np.float32), weights


def sequences():
    """Input and labels of the recurrent model: 32 sequences of 100 steps of 64 values."""
    rng = np.random.default_rng(3)
    return rng.random((32, 100, 64), dtype=np.float32), rng.random((32, 1), dtype=np.float32)


def tokens():
    """Input and labels of the transformer block: 8 rows of 256 tokens of width 256."""
    rng = np.random.default_rng(4)
    return rng.random((8, 256, 256), dtype=np.float32), rng.random((8, 256, 256), dtype=np.float32)


# Rows of the classifier: batch and size of its pictures.
CLASSIFIED = {"classifier_1": (1, 256), "classifier_32": (32, 64)}


def labelled(row):
    """Pictures and their classes, of which there are 10."""
    batch, size = CLASSIFIED[row]
    rng = np.random.default_rng(6)
    return rng.random((batch, size, size, 3), dtype=np.float32), rng.integers(0, 10, batch, dtype=np.int32)


def dense(rows):
    """Input, of 64 values a row, and classes of the small dense model: layers of 128, 64 and 10."""
    rng = np.random.default_rng(7)
    return rng.random((rows, 64), dtype=np.float32), rng.integers(0, 10, rows, dtype=np.int32)


def pictures(batch):
    """The input of the image model."""
    return np.random.default_rng(5).random((batch, 224, 224, 3), dtype=np.float32)


def named(*rows):
    """Rows by their names."""
    return {row.__name__: row for row in rows}


# Rows of the layers, eagerly and as a function: what each is given.
LAYERS = ("gelu", "softmax", "layer_norm", "cross_entropy", "cross_entropy_grad")


def normal(*shape):
    return np.random.default_rng(0).standard_normal(shape, dtype="float32")


def layer_inputs(row):
    """The arguments of a row of LAYERS, as arrays: values, and beside them what else it takes."""
    if row == "gelu":
        return [normal(1 << 22)]
    if row == "softmax":
        return [normal(1000, 1000)]
    if row == "layer_norm":  # values, scale, shift, and the gradient of the result
        return [normal(2048, 512), normal(512), normal(512), normal(2048, 512)]
    rng = np.random.default_rng(1)  # logits, classes, and which rows count
    return [normal(4096, 1024), rng.integers(0, 1024, 4096, dtype="int32"), (rng.random(4096) < 0.8).astype("float32")]
