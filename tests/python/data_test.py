"""tf.data: what TensorFlow answered, data_THEME.json, is what Evenflow answers."""
import json
import threading

import data_cases
import io_cases
import pytest

import evenflow as tf

EVERY = [(theme, name) for theme in data_cases.THEMES for name in data_cases.cases(theme)]


@pytest.mark.parametrize("theme, name", EVERY, ids=[f"{t}-{n}" for t, n in EVERY])
def test_as_tensorflow(theme, name, tmp_path):
    case, answer = data_cases.cases(theme)[name], data_cases.answers(theme)[name]
    tf.random.set_seed(1)
    threads = threading.active_count()
    got = io_cases.run(tf, case, str(tmp_path))
    assert json.dumps(got) == json.dumps(answer)
    assert threading.active_count() == threads


@pytest.mark.parametrize("theme", data_cases.THEMES)
def test_answers_have_a_meaning(theme):
    """A case that fails in Python itself says nothing about TensorFlow."""
    faults = ("RecursionError", "NameError", "UnboundLocalError", "ImportError", "SyntaxError")
    assert [n for n, a in data_cases.answers(theme).items() if isinstance(a, dict) and a.get("raises") in faults] == []
