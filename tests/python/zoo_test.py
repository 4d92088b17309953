"""The zoo, cut short: does each program of tests/zoo work? (Its bars are for a quiet machine: tests/zoo/run.py.)"""
import functools
import json
import os
import pathlib
import subprocess
import sys

import pytest

import evenflow as tf

ZOO = pathlib.Path(__file__).resolve().parent.parent / "zoo"
# Programs that need a public name which is not there, and the name.
LACKING = json.loads((ZOO / "lacking-evenflow.json").read_text())
PROGRAMS = [path for path in sorted(ZOO.glob("[0-9][0-9]_*.py")) if path.stem not in LACKING]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda p: p.stem)
def test_program(path):
    env = {**os.environ, "ZOO_CALLS": "100", "PYTHONPATH": f"{ZOO}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
    done = subprocess.run([sys.executable, str(path), "evenflow"], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-3000:]
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["name"] == path.stem and result["calls"] > 0


@pytest.mark.parametrize("name", sorted(set(LACKING.values())))
def test_lacking_names_are_lacking(name):
    """Once the name is there, its programs belong to the others."""
    with pytest.raises(AttributeError):
        functools.reduce(getattr, name.split("."), tf)
