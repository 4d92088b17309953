"""Cases that run on TensorFlow and on Evenflow alike, for tests of files, examples, images and tables.

A case is a function of the module (`tf`) and an empty folder (`tmp`). Its result, or the class of its exception, becomes plain
JSON. `python io_cases.py THEME...` runs under TensorFlow and writes the answers to io_THEME.json beside the cases in
io_THEME_cases.py; io_test.py runs the same cases on Evenflow and compares."""
import hashlib
import importlib
import json
import os
import pathlib
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
THEMES = ("files", "records", "parsing", "images", "tables", "words", "summaries", "checkpoints", "details")
MOST = 64  # larger arrays are kept as a digest


def plain(value):
    """`value` as JSON can hold it: tensors and arrays with dtype, shape and elements or their digest."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (float, complex)):
        return repr(value)
    if isinstance(value, bytes):
        if len(value) < 4 * MOST and value.isascii() and value.decode().isprintable():
            return "t:" + value.decode()
        return "b:" + (value.hex() if len(value) <= MOST else "sha " + hashlib.sha256(value).hexdigest())
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in sorted(value.items(), key=lambda kv: str(kv[0]))}
    if isinstance(value, (list, tuple)):
        return [plain(v) for v in value]
    kind = type(value).__name__
    if kind in ("SparseTensor", "SparseTensorValue"):
        return {"sparse": [plain(value.indices), plain(value.values), plain(value.dense_shape)]}
    if kind in ("RaggedTensor", "RaggedTensorValue"):
        return {"ragged": [plain(value.flat_values), [plain(s) for s in value.nested_row_splits]]}
    array = value.numpy() if hasattr(value, "numpy") else value
    if isinstance(array, bytes):
        return plain(array)
    array = np.asarray(array)
    if array.dtype == object:
        return {"strings": list(array.shape), "values": [plain(v) for v in array.ravel().tolist()]}
    small = array.size <= MOST
    kept = [plain(v) for v in array.ravel().tolist()] if small else hashlib.sha256(array.tobytes()).hexdigest()
    return {"dtype": array.dtype.name, "shape": list(array.shape), "values": kept}


def run(tf, case, tmp):
    """The result of a case as JSON, with the folder's name left out; or the class of what it raised."""
    try:
        made = plain(case(tf, tmp))
    except Exception as e:  # noqa: BLE001 (whatever it is, it is the answer)
        names = [c.__name__ for c in type(e).__mro__]
        return {"raises": next(n for n in names if n not in ("InvalidGraphError",))}
    return json.loads(json.dumps(made).replace(tmp, "<tmp>"))


def cases(theme):
    """The cases of a theme by name."""
    module = importlib.import_module(f"io_{theme}_cases")
    if hasattr(module, "CASES"):
        return module.CASES
    return {name: f for name, f in vars(module).items() if getattr(f, "__module__", "") == module.__name__
            and callable(f) and not name.startswith("_")}


def answers(theme):
    """What TensorFlow answered."""
    return json.loads((HERE / f"io_{theme}.json").read_text())


def record(themes):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    for theme in themes:
        made = {}
        for name, case in cases(theme).items():
            with tempfile.TemporaryDirectory() as tmp:
                made[name] = run(tf, case, tmp)
        text = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in made.items())
        (HERE / f"io_{theme}.json").write_text("{\n" + text + "\n}\n")


if __name__ == "__main__":
    sys.path.insert(0, str(HERE))
    record(sys.argv[1:] or THEMES)
