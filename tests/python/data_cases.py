"""Cases of tf.data that run on TensorFlow and on Evenflow alike.

`python data_cases.py THEME...` runs under TensorFlow and writes the answers to data_THEME.json beside the cases in
data_THEME_cases.py; data_test.py runs the same cases on Evenflow and compares. io_cases.py says what a case is."""
import importlib
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import io_cases  # noqa: E402

THEMES = ("files", "stored", "transformations", "experimental", "sessions", "positions")
WORKERS = (None, 1, 2, 8, -1)


def cases(theme):
    """The cases of a theme by name."""
    module = importlib.import_module(f"data_{theme}_cases")
    if hasattr(module, "CASES"):
        return module.CASES
    return {name: f for name, f in vars(module).items() if getattr(f, "__module__", "") == module.__name__
            and callable(f) and not name.startswith("_")}


def answers(theme):
    """What TensorFlow answered."""
    return json.loads((HERE / f"data_{theme}.json").read_text())


def drawn(tf, dataset, most=40):
    """The elements of one iteration, and how it ended: by its end, by an error, or after `most`."""
    found, iterator = [], iter(dataset)
    while len(found) < most:
        try:
            found.append(next(iterator))
        except StopIteration:
            try:
                next(iterator)
            except StopIteration:
                return found, "end"
        except tf.errors.OpError as e:
            return found, type(e).__name__
    return found, "more"


def whole(tf, dataset, most=40):
    """All that can be seen of a dataset: spec, number, elements, end, and the same again."""
    one, end = drawn(tf, dataset, most)
    two, end_again = drawn(tf, dataset, most)
    return {"spec": str(dataset.element_spec), "count": int(dataset.cardinality()), "elements": one, "end": end,
            "again": io_cases.plain(one) == io_cases.plain(two) and end == end_again}


def record(themes):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    for theme in themes:
        made = {}
        for name, case in cases(theme).items():
            tf.random.set_seed(1)
            with tempfile.TemporaryDirectory() as tmp:
                made[name] = io_cases.run(tf, case, tmp)
        text = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in made.items())
        (HERE / f"data_{theme}.json").write_text("{\n" + text + "\n}\n")


if __name__ == "__main__":
    record(sys.argv[1:] or THEMES)
