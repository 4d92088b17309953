"""Calls of every function that TensorFlow dispatches on ragged or sparse tensors, for dispatch_test.py.

Each line of dispatch_cases.txt is an expression over the values of `names_for`: TensorFlow's own dispatch tables list the
functions. `python dispatch_cases.py MODULE` prints, as JSON, what each gives; dispatch_reference.json is TensorFlow's.
"""
import importlib
import json
import pathlib
import sys

import numpy as np


def names_for(tf):
    """The values the expressions are about."""
    ragged = tf.ragged.constant
    made = {
        "f": ragged([[0.1, 0.5], [], [0.9]]),
        "g": ragged([[0.2, 0.3], [], [0.4]]),
        "i": ragged([[1, 2], [], [3]]),
        "j": ragged([[2, 2], [], [1]]),
        "k": ragged([[1, 2], [0], [3]], tf.int64),
        "b": ragged([[True, False], [], [True]]),
        "c": ragged([[True, True], [], [False]]),
        "z": ragged([[1 + 2j, 3j], [], [-1.0]], tf.complex64),
        "s": ragged([["a b", "Cd"], [], [" e"]]),
        "n": ragged([["1", "2.5"], [], ["-3"]]),
        "e": ragged([["YQ", "YWI"], [], ["YWJj"]]),
        "ff": ragged([[[1.0, 2.0], [3.0]], [], [[4.0]]]),
        "square": ragged([[[1.0, 2.0], [3.0, 4.0]], [[5.0]]]),
        "u": tf.RaggedTensor.from_row_splits([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], [0, 2, 2, 3]),
        "d": tf.constant([[2.0], [3.0], [4.0]]),
        "sp": tf.sparse.SparseTensor([[0, 1], [2, 0]], [0.25, 0.5], [3, 2]),
        "spi": tf.sparse.SparseTensor([[0, 1], [2, 0]], [1, 3], [3, 2]),
        "pictures": tf.ragged.stack([tf.reshape(tf.range(12.0), [2, 2, 3]), tf.reshape(tf.range(9.0), [3, 1, 3])]),
    }
    return {**made, "tf": tf}


def cases():
    """The expressions."""
    return (pathlib.Path(__file__).parent / "dispatch_cases.txt").read_text().splitlines()


def _listed(array):
    """Nested lists, of text and of pairs of numbers where JSON has nothing else."""
    array = np.asarray(array)
    if array.dtype.kind == "c":
        return np.stack([array.real, array.imag], -1).tolist()
    if array.dtype.kind in "OS":
        return np.vectorize(lambda t: t.decode("latin1"), otypes=[object])(array).tolist() if array.size else array.tolist()
    return array.tolist()


def shown(tf, value):
    """A result as JSON has it: what it is, its dtype, its values."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [shown(tf, v) for v in value]
    if isinstance(value, tf.RaggedTensor):
        return ["ragged", value.dtype.name, [_listed(r.numpy()) for r in value.nested_row_splits], _listed(value.flat_values.numpy())]
    if isinstance(value, tf.sparse.SparseTensor):
        return ["sparse", value.dtype.name, _listed(value.indices.numpy()), _listed(value.values.numpy()), _listed(value.dense_shape.numpy())]
    if hasattr(value, "static_lengths"):
        return ["shape", repr(value)]
    return ["dense", value.dtype.name, _listed(value.numpy())]


def outcome(tf, call):
    """What a call gives: its result, or the class of its exception."""
    try:
        return shown(tf, call())
    except Exception as e:  # noqa: BLE001 - whatever it is, it is the outcome
        return ["raises", type(e).__name__]


def same(a, b):
    """Whether two outcomes agree, numbers up to rounding."""
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, float) or isinstance(b, float):
        return bool(np.isclose(a, b, rtol=2e-5, atol=1e-6, equal_nan=True))
    return a == b


if __name__ == "__main__":
    module = importlib.import_module(sys.argv[1])
    names = names_for(module)
    results = [(line, outcome(module, lambda: eval(line, names))) for line in cases()]  # noqa: S307, B023
    print("{\n" + ",\n".join(f"{json.dumps(line)}: {json.dumps(result)}" for line, result in results) + "\n}")
