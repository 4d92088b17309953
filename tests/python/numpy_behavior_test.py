"""Operators, indices and methods of tensors as numpy has them, once a program asks for it."""
import pathlib
import subprocess
import sys

import evenflow as tf
import pytest

HERE = pathlib.Path(__file__).parent
CASES = (HERE / "numpy_behavior_cases.txt").read_text().splitlines()


@pytest.fixture(scope="module")
def outcomes():
    run = subprocess.run([sys.executable, str(HERE / "numpy_behavior_program.py"), "evenflow"], input="\n".join(CASES),
                         capture_output=True, text=True, check=True)
    return dict(line.split(" => ") for line in run.stdout.splitlines())


@pytest.mark.parametrize("case", CASES)
def test_as_tensorflow(outcomes, case):
    expression, wanted = case.split(" => ")
    assert outcomes[expression] == wanted


def test_what_is_missing_says_so():
    with pytest.raises(NotImplementedError, match="prefer_float32=True"):
        tf.experimental.numpy.experimental_enable_numpy_behavior(prefer_float32=True)
    with pytest.raises(NotImplementedError, match="'safe'"):
        tf.experimental.numpy.experimental_enable_numpy_behavior(dtype_conversion_mode="safe")
    assert not hasattr(tf.constant(1), "astype")
