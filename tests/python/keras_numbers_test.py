"""Models of keras.applications give TensorFlow's outputs, and `fit` follows its losses (keras_numbers.json)."""
import json

import numpy as np
import pytest

import evenflow as tf

import keras_numbers_cases as cases

REFERENCE = json.loads(cases.REFERENCE.read_text())


@pytest.mark.parametrize("name", cases.QUICK)
def test_outputs_of_applications(name):
    assert cases.distance(cases.application(tf.keras, name), REFERENCE["applications"][name]) <= cases.NEAR


@pytest.mark.parametrize("name", sorted(cases.TRAINED))
def test_losses_of_fit(name):
    found = cases.training(tf.keras, name)
    assert len(found) == 100
    assert cases.distance(found, REFERENCE["losses"][name]) <= cases.FOLLOWS


def test_all_are_recorded():
    assert sorted(REFERENCE["applications"]) == sorted(cases.MODELS)
    assert sorted(REFERENCE["losses"]) == sorted(cases.TRAINED)


def test_distance_sees_differences():
    a = np.random.default_rng(0).uniform(0.1, 1, (2, 40))
    b = a.copy()
    b[1, 39] *= 1.2
    assert cases.distance(cases.digest(a), cases.digest(a)) == 0
    assert cases.distance(cases.digest(b), cases.digest(a)) > cases.NEAR
    assert cases.distance(cases.digest(a[:, :39]), cases.digest(a)) == float("inf")
    assert cases.distance([1.0, 2.0], [1.0, 2.01]) > cases.FOLLOWS and cases.distance([1.0], [1.0, 2.0]) == float("inf")
    assert cases.distance([float("nan")], [1.0]) == float("inf")
