"""Keras's own unit tests, as its wheel brings them, on Evenflow: a fixed 1,500 of those that pass on TensorFlow.

keras_own.txt lists them. They come from every directory of Keras that docs/keras.md counts, need no package beyond those of
Keras, and take about a minute together.
"""
import collections
import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
NAMES = (HERE / "keras_own.txt").read_text().split()
FILES = sorted({name.split("::")[0] for name in NAMES})
PROCESSES = 2


def run(names, where):
    """How each of the tests ends, in a process of its own."""
    listed = where / "tests.txt"
    listed.write_text("\n".join(names))
    env = dict(os.environ, KERAS_HOME=str(where), PYTHONHASHSEED="0")
    done = subprocess.run([sys.executable, str(HERE / "keras_own_program.py"), str(listed)], cwd=where, env=env,
                          capture_output=True, text=True)
    lines = done.stdout.strip().splitlines()
    assert lines and lines[-1].startswith("{"), done.stdout + done.stderr
    return json.loads(lines[-1]), done.stdout


def test_the_list_is_whole():
    assert len(NAMES) == len(set(NAMES)) == 1500


@pytest.mark.parametrize("part", range(PROCESSES))
def test_keras_own(part, tmp_path):
    chosen = set(FILES[part::PROCESSES])
    names = [name for name in NAMES if name.split("::")[0] in chosen]
    ends, output = run(names, tmp_path)
    wrong = {name: end for name, end in ends.items() if end != "passed"}
    print(dict(collections.Counter(ends.values())))
    assert len(ends) == len(names) and not wrong, f"{json.dumps(wrong, indent=1)}\n{output}"


def test_a_failing_test_is_reported(tmp_path):
    ends, _ = run(["activations/activations_test.py::ActivationsTest::test_relu", "activations/activations_test.py::No::test_such"],
                  tmp_path)
    assert ends == {"activations/activations_test.py::ActivationsTest::test_relu": "passed",
                    "activations/activations_test.py::No::test_such": "missing"}
