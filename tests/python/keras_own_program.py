"""Runs some of Keras's own tests on Evenflow: `keras_own_program.py LIST`. The last line is a report in JSON.

LIST names a test per line, `layers/core/dense_test.py::DenseTest::test_masking`, as paths below keras/src.
"""
import json
import os
import pathlib
import sys

os.environ["KERAS_BACKEND"] = "tensorflow"
import evenflow  # noqa: E402, F401 - Keras, imported next, finds it under TensorFlow's name
import keras  # noqa: E402
import pytest  # noqa: E402

HOME = pathlib.Path(keras.__file__).resolve().parent.parent
PREFIX = "keras/src/"


class Chosen:
    """Keeps the tests of a list and notes how each ends: passed, failed or skipped; "missing" if it was not found."""

    def __init__(self, names):
        self.ends = dict.fromkeys(names, "missing")

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid.removeprefix(PREFIX) in self.ends]

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.removeprefix(PREFIX)
        if report.when == "call" or not report.passed:  # setup and teardown count where something is wrong
            self.ends[name] = report.outcome


def main(path):
    names = pathlib.Path(path).read_text().split("\n")
    chosen = Chosen([name for name in names if name])
    files = sorted({str(HOME / PREFIX / name.split("::")[0]) for name in chosen.ends})
    pytest.main(["-q", "-p", "no:cacheprovider", "-W", "ignore", "--tb=short", "--continue-on-collection-errors", "-c", os.devnull,
                 f"--rootdir={HOME}", *files], plugins=[chosen])
    print(json.dumps(chosen.ends))


if __name__ == "__main__":
    main(sys.argv[1])
