"""Writes keras_ordinary.json: what the programs of keras_ordinary_cases.py give on TensorFlow. Run it where that is."""
import json
import pathlib
import sys
import tempfile

import numpy as np

import keras_ordinary_cases as cases

MOST = 24  # of larger arrays, sums are kept


def plain(value):
    """`value` as JSON can hold it; a large array becomes its shape and two sums."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items())}
    if hasattr(value, "as_list"):
        return value.as_list()
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    array = np.asarray(value)
    if array.dtype == object or array.dtype.kind in "SU":
        return [plain(v) for v in array.ravel().tolist()]
    array = np.stack([array.real, array.imag]) if array.dtype.kind == "c" else array
    if array.size <= MOST:
        return [str(array.dtype), list(array.shape), array.astype("float64").ravel().tolist()]
    weights = np.cos(np.arange(array.size)).reshape(array.shape)
    return [str(array.dtype), list(array.shape), [float((array * weights).sum()), float(np.abs(array).sum())]]


def answer(tf, name):
    """What a program gives on `tf`, from a fixed seed and in a folder of its own."""
    import keras  # after `tf`: on Evenflow it is connected to that

    keras.backend.clear_session()
    keras.utils.set_random_seed(11)
    with tempfile.TemporaryDirectory() as tmp:
        return json.loads(json.dumps(plain(cases.PROGRAMS[name](tf, keras, tmp))))


if __name__ == "__main__":
    import tensorflow

    made = {name: answer(tensorflow, name) for name in sys.argv[1:] or cases.PROGRAMS}
    path = pathlib.Path(__file__).with_name("keras_ordinary.json")
    kept = json.loads(path.read_text()) if sys.argv[1:] else {}
    path.write_text("{\n" + ",\n".join(f" {json.dumps(k)}: {json.dumps(v)}" for k, v in sorted({**kept, **made}.items())) + "\n}\n")
