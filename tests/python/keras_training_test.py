"""Keras on Evenflow gives the numbers it gives on TensorFlow: training with every optimizer, layers, losses, metrics."""
import importlib.util
import json
import pathlib

import numpy as np
import pytest

import evenflow as tf

if importlib.util.find_spec("keras") is None:
    pytest.skip("keras is not installed", allow_module_level=True)

import keras_cases as cases  # noqa: E402  (needs keras)
import keras_programs as programs  # noqa: E402

REFERENCE = json.loads(pathlib.Path(__file__).with_name("keras_reference.json").read_text())
CASES = cases.cases(tf)


@pytest.mark.parametrize("in_function", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("name", sorted(programs.RUNS))
def test_training_gives_tensorflows_losses(name, in_function):
    found = programs.train(tf, *programs.RUNS[name], in_function=in_function)
    np.testing.assert_allclose(found, REFERENCE["losses"][name], rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", sorted(CASES))
def test_parts_give_tensorflows_numbers(name):
    found, expected = cases.digest(CASES[name]()), REFERENCE["digests"][name]
    assert [f[0] for f in found] == [e[0] for e in expected]
    np.testing.assert_allclose([f[1:] for f in found], [e[1:] for e in expected], rtol=1e-4, atol=1e-4)
