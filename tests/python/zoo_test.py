"""The zoo, cut short: does each program of tests/zoo work? (Its bars are for a quiet machine: tests/zoo/run.py.)"""
import json
import os
import pathlib
import subprocess
import sys

import pytest

import evenflow as tf

ZOO = pathlib.Path(__file__).resolve().parent.parent / "zoo"
PROGRAMS = sorted(ZOO.glob("[0-9][0-9]_*.py"))


def lacks(text):
    """What the program needs and Evenflow does not offer yet."""
    if "tf.data" in text and not hasattr(tf, "data"):
        return "needs tf.data"
    if "keras" in text and not hasattr(tf, "data"):
        return "needs Keras, which needs tf.data"
    if "tf.train.Checkpoint" in text and not hasattr(getattr(tf, "train", None), "Checkpoint"):
        return "needs checkpoints"
    return None


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_program(path):
    missing = lacks(path.read_text())
    if missing:
        pytest.skip(missing)
    env = {**os.environ, "ZOO_CALLS": "100", "PYTHONPATH": f"{ZOO}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run([sys.executable, str(path), "evenflow"], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["name"] == path.stem and result["calls"] > 0
