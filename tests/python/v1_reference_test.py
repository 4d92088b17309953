"""Answers of TensorFlow 2.21 to the cases of v1_cases.py, compared with ours."""
import json

import numpy as np
import pytest

import evenflow as tf
import v1_cases

REFERENCE = json.loads((v1_cases.HERE / "v1_reference.json").read_text())
CASES = v1_cases.cases(tf)


def _same(found, want):
    if isinstance(want, list) and any(isinstance(w, (list, str)) for w in want):
        assert len(found) == len(want)
        for f, w in zip(found, want):
            _same(f, w)
    elif isinstance(want, str):
        assert found == want
    else:
        np.testing.assert_allclose(found, want, rtol=2e-5, atol=2e-5)


def test_every_case_has_an_answer():
    assert set(CASES) == set(REFERENCE)


@pytest.mark.parametrize("name", sorted(REFERENCE))
def test_as_tensorflow(name):
    _same(v1_cases.answer(CASES[name]), REFERENCE[name])
