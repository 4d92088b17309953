"""Cases that run on TensorFlow and on Evenflow alike, for names that programs of both generations use.

As io_cases.py, which says what a case is: `python names_cases.py THEME...` runs under TensorFlow and writes the answers to
names_THEME.json beside the cases in names_THEME_cases.py; names_test.py compares."""
import importlib
import json
import os
import sys
import tempfile

from io_cases import HERE, run

THEMES = ("distribute", "testing", "queues", "hooks", "assorted", "operators", "corpus", "newcomer", "sparse", "detection")


def cases(theme):
    """The cases of a theme by name."""
    module = importlib.import_module(f"names_{theme}_cases")
    return {name: f for name, f in vars(module).items() if getattr(f, "__module__", "") == module.__name__
            and callable(f) and not name.startswith("_")}


def answers(theme):
    """What TensorFlow answered."""
    return json.loads((HERE / f"names_{theme}.json").read_text())


def record(themes):
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import tensorflow as tf

    for theme in themes:
        made = {}
        for name, case in cases(theme).items():
            with tempfile.TemporaryDirectory() as tmp:
                made[name] = run(tf, case, tmp)
        text = ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in made.items())
        (HERE / f"names_{theme}.json").write_text("{\n" + text + "\n}\n")


if __name__ == "__main__":
    record(sys.argv[1:] or THEMES)
