"""Optimizers and layers of Keras, trained on Evenflow to the losses they have on TensorFlow."""
import importlib.util
import json
import pathlib

import numpy as np
import pytest

import evenflow as tf

if importlib.util.find_spec("keras") is None:
    pytest.skip("keras is not installed", allow_module_level=True)

import keras_programs as programs  # noqa: E402  (needs keras)

REFERENCE = json.loads(pathlib.Path(__file__).with_name("keras_reference.json").read_text())["losses"]


@pytest.mark.parametrize("in_function", [False, True], ids=["eager", "function"])
@pytest.mark.parametrize("name", sorted(programs.RUNS))
def test_training_gives_tensorflows_losses(name, in_function):
    found = programs.train(tf, *programs.RUNS[name], in_function=in_function)
    np.testing.assert_allclose(found, REFERENCE[name], rtol=1e-4, atol=1e-4)
