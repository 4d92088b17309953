"""Functions that do something with the shape of their argument, for shapes_test.py and the shapes fuzzer.

Each line of shapes_cases.txt is an expression over `x`, or `x` and `y`. `python shapes_cases.py MODULE` prints, as JSON, what
each gives when one tf.function is called with the sizes of its group in order; shapes_reference.json is that of
TensorFlow.
"""
import importlib
import json
import linecache
import pathlib
import sys

import numpy as np

# The sizes a group of cases is called with, in this order.
SIZES = {
    "one": [[4, 3], [2, 3], [7, 3], [4, 3], [3, 3], [1, 3], [0, 3], [2, 5], [7, 3]],
    "ranks": [[4, 3], [2, 3], [3], [5, 3, 2], [], [2, 3, 2], [6], [0]],
    "two": [[[4, 3], [4, 3]], [[2, 3], [2, 3]], [[2, 3], [7, 3]], [[7, 3], [7, 3]], [[1, 3], [4, 3]], [[4, 3], [1, 3]],
            [[0, 3], [0, 3]], [[5, 3], [3, 3]], [[5, 2], [2, 2]]],
}

HELPERS = '''
import copy, math, operator, pickle

@tf.function
def inner(x):
    return x * 2

@tf.function
def inner_reads(x):
    return x * x.shape[0]

@tf.function
def inner_static(x):
    return tf.ones([x.shape[0], 2])

@tf.function
def inner_prints(x):
    str(x.shape)
    return x

@tf.function
def inner_ones(x):
    return tf.ones(x.shape)

@tf.function
def inner_branches(x):
    if x.shape[0] > 3:
        return x
    return -x

@tf.function
def inner_two(x, y):
    if x.shape == y.shape:
        return x + y
    return x - y[:1]

def helper_loop(x):
    for i in tf.range(3):
        x = x + tf.ones(x.shape)
    return x

def helper_for(x):
    total = tf.zeros(x.shape[1:])
    for row in x:
        total += row
    return total

def helper_while(x):
    i = 0
    while tf.reduce_sum(x) < 100.0 and i < 3:
        x = x + x.shape[0]
        i += 1
    return x

def helper_if(x):
    if tf.reduce_sum(x) > 3.0:
        y = x * x.shape[0]
    else:
        y = tf.zeros(x.shape)
    return y

def helper_len(x):
    return x * len(x)

def helper_enumerate(x):
    total = 0.0
    for i, row in enumerate(x):
        total += tf.cast(i, tf.float32) * tf.reduce_sum(row)
    return total

def helper_range(x):
    total = 0.0
    for i in range(x.shape[0]):
        total += x[i, 0] * i
    return total

def helper_tensor_range(x):
    total = 0.0
    for i in range(tf.shape(x)[0]):
        total += x[i, 0]
    return total

def helper_grad(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.ones(x.shape) * x * x)
    return tape.gradient(y, x)

def helper_grad_reads(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x) / (1 + x.shape[0])
    return tape.gradient(y, x)

def helper_grad_shape(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.tanh(x) @ tf.ones([x.shape[1], 2]))
    return tape.gradient(y, x).shape.as_list()

def helper_jacobian(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x, 1)
    j = tape.jacobian(y, x)
    return j, j.shape.as_list()

def helper_while_grad(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x
        for i in tf.range(2):
            y = y * x
        z = tf.reduce_sum(y)
    g = tape.gradient(z, x)
    return g, g.shape.as_list()

@tf.custom_gradient
def doubled(x):
    def grad(dy):
        return dy * 2.0 * x.shape[0]
    return x * 2.0, grad

def helper_custom(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(doubled(x))
    return tape.gradient(y, x)

def helper_set_shape(x):
    y = tf.boolean_mask(x, x[:, 0] >= 0)
    y.set_shape(x.shape)
    return y, y.shape.as_list()

def helper_set_shape_known(x):
    x.set_shape([4, 3])
    return x

weight = tf.Variable(tf.ones([3, 2]))

def helper_variable(x):
    return x @ weight if x.shape[1] == 3 else x

def helper_append(x):
    out = []
    for i in range(x.shape[0]):
        out.append(x[i] * i)
    return tf.stack(out) if out else x

def helper_print(x):
    print(x.shape, file=open('/dev/null', 'w'))
    return x * 2

@tf.recompute_grad
def recomputed(x):
    return x * x * x.shape[1]

def helper_recompute(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(recomputed(x))
    return tape.gradient(y, x)

class Scale(tf.keras.layers.Layer):
    def call(self, x):
        return x * 2 + tf.ones(x.shape)

class ScaleBySize(tf.keras.layers.Layer):
    def call(self, x):
        return x * x.shape[0]

layer, layer_reads = Scale(), ScaleBySize()
_dense, _norm, _flatten, _batch_norm = (tf.keras.layers.Dense(2, kernel_initializer='ones'),
                                        tf.keras.layers.LayerNormalization(), tf.keras.layers.Flatten(),
                                        tf.keras.layers.BatchNormalization())
_dense(tf.ones([4, 3])), _norm(tf.ones([4, 3])), _flatten(tf.ones([4, 3])), _batch_norm(tf.ones([4, 3]))

def dense(x):
    return _dense(x)

def norm(x):
    return _norm(x)

def flatten(x):
    return _flatten(x)

def batch_norm(x):
    return _batch_norm(x)
'''


def cases():
    """(group, source) of every case."""
    group = None
    for line in (pathlib.Path(__file__).parent / "shapes_cases.txt").read_text().splitlines():
        if line.startswith("# "):
            group = line[2:]
        else:
            yield group, line


def compiled(text, file):
    """Code whose source AutoGraph can read."""
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    return compile(text, file, "exec")


def names_for(tf):
    """What the sources may use."""
    names = {"tf": tf, "np": np}
    exec(compiled(HELPERS, "<shapes helpers>"), names)
    return names


def argument(size, seed=0):
    n = int(np.prod(size))
    return (np.arange(n, dtype=np.float32).reshape(size) % 7 - 2) / 2 + seed


def plain(value):
    """A result as JSON has it."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, dict):
        return {k: plain(v) for k, v in sorted(value.items())}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    if hasattr(value, "as_list"):
        return value.as_list()
    a = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    if a.dtype.kind in "OSU":
        return [list(a.shape), [v.decode() if isinstance(v, bytes) else str(v) for v in a.ravel().tolist()]]
    return [list(a.shape), [float("%.4g" % v) if v == v else "nan" for v in a.ravel().astype(np.float64).tolist()]]


def make(tf, names, source, group):
    """The tf.function of a case."""
    text = "def case(%s):\n    return %s\n" % ("x, y" if group == "two" else "x", source)
    exec(compiled(text, "<case %s>" % source), names)
    return tf.function(names["case"])


KINDS = ("ValueError", "TypeError", "InvalidArgumentError", "AttributeError", "IndexError", "NotImplementedError")


def outcome_of(call):
    """What a call gives, or the kind of exception it raises."""
    try:
        return plain(call())
    except Exception as e:  # noqa: BLE001 - which one is part of the answer
        above = [c.__name__ for c in type(e).__mro__]
        return "raises " + next((k for k in KINDS if k in above), above[0])


def outcome(function, tf, size, group):
    """What a case gives for one of its sizes."""
    sizes = size if group == "two" else [size]
    return outcome_of(lambda: function(*[tf.constant(argument(s, k)) for k, s in enumerate(sizes)]))


def same(a, b):
    """Whether two outcomes are equal, but for rounding."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)) and not isinstance(a, bool):
        return abs(a - b) <= 1e-3 * max(1, abs(a))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return a == b


def main():
    tf = importlib.import_module(sys.argv[1])
    wanted = sys.argv[2:]
    names = names_for(tf)
    answers = {}
    for group, source in cases():
        if wanted and source not in wanted:
            continue
        function = make(tf, names, source, group)
        answers[group + ": " + source] = [outcome(function, tf, s, group) for s in SIZES[group]]
    json.dump(answers, sys.stdout, indent=None)


if __name__ == "__main__":
    main()
