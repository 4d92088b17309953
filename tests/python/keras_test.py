"""The real Keras on Evenflow: it imports unmodified and gives the numbers it gives on TensorFlow, in training with
every optimizer and in layers, losses and metrics."""
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import evenflow as tf

import keras_cases as cases
import keras_programs as programs

REFERENCE = json.loads(pathlib.Path(__file__).with_name("keras_reference.json").read_text())
CASES = cases.cases(tf)


def test_import_is_the_real_package():
    code = ("import evenflow as tf, sys; k = tf.keras; import keras; "
            "print(keras.__version__, keras.backend.backend(), sys.modules['tensorflow'] is tf, k.layers is keras.layers)")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout.split()[:3] == ["3.15.1", "tensorflow", "True"], done.stderr


def test_program_that_imports_tensorflow_keras(tmp_path):
    program = tmp_path / "p.py"
    program.write_text("from tensorflow import keras\nfrom tensorflow.keras import layers\n"
                       "import tensorflow.keras.layers as again\nimport tensorflow as tf\n"
                       "print(layers.Dense(3)(tf.ones([2, 4])).shape, again is layers, tf.keras is keras)")
    done = subprocess.run([sys.executable, "-m", "evenflow", str(program)], capture_output=True, text=True)
    assert done.stdout.strip() == "(2, 3) True True", done.stderr


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
