"""Ordinary Keras programs give TensorFlow's numbers (keras_ordinary.json)."""
import json
import math
import pathlib

import pytest

import evenflow as tf

import keras_ordinary_cases as cases
from keras_ordinary_record import answer

REFERENCE = json.loads(pathlib.Path(__file__).with_name("keras_ordinary.json").read_text())


def differences(found, expected, at="", near=2e-3):
    """Where two answers differ, as sentences."""
    numbers = (int, float)
    if isinstance(expected, numbers) and isinstance(found, numbers) and not isinstance(expected, bool):
        same = math.isclose(found, expected, rel_tol=near, abs_tol=near / 10) or (math.isnan(found) and math.isnan(expected))
        return [] if same else [f"{at}: {found} is not {expected}"]
    if isinstance(expected, dict) and isinstance(found, dict):
        if sorted(found) != sorted(expected):
            return [f"{at}: {sorted(found)} are not {sorted(expected)}"]
        return [d for k in expected for d in differences(found[k], expected[k], f"{at}.{k}", near)]
    if isinstance(expected, list) and isinstance(found, list):
        if len(found) != len(expected):
            return [f"{at}: {len(found)} items, not {len(expected)}"]
        return [d for k, (a, b) in enumerate(zip(found, expected)) for d in differences(a, b, f"{at}[{k}]", near)]
    return [] if found == expected else [f"{at}: {found!r} is not {expected!r}"]


@pytest.mark.parametrize("name", sorted(cases.PROGRAMS))
def test_as_tensorflow(name):
    assert differences(answer(tf, name), REFERENCE[name]) == []


def test_differences_are_seen():
    assert differences([1, {"a": 2.0}], [1, {"a": 2.1}]) == ["[1].a: 2.0 is not 2.1"]
    assert differences(["x", 1], ["y", True]) and differences([1], [1, 2]) and differences({"a": 1}, {"b": 1})
