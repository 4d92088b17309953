"""The zoo, cut short: does each program of tests/zoo work? (Its bars are for a quiet machine: tests/zoo/run.py.)"""
import json
import os
import pathlib
import re
import subprocess
import sys

import pytest

ZOO = pathlib.Path(__file__).resolve().parent.parent / "zoo"
PROGRAMS = sorted(ZOO.glob("[0-9][0-9]_*.py"))


def lacking(text, error):
    """The name a program ended for, if it is one of Keras's or tf.data's programs and the name is not there yet."""
    found = re.search(r"AttributeError: (.*(Evenflow does not have it|'DatasetV2' object has no attribute).*)", error)
    return found[1] if found and ("keras" in text or "tf.data" in text) else None


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_program(path):
    env = {**os.environ, "ZOO_CALLS": "100", "PYTHONPATH": f"{ZOO}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run([sys.executable, str(path), "evenflow"], env=env, capture_output=True, text=True, timeout=120)
    missing = lacking(path.read_text(), done.stderr)
    if missing:
        pytest.skip(missing)
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["name"] == path.stem and result["calls"] > 0
