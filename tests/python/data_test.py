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


def hire(patch, workers):
    """Gives every map, batch and interleave that names no number of workers this many."""
    def hired(transform, positions):
        def call(self, *args, **named):
            bound = dict(zip(positions, args)) | named
            most = bound.get("cycle_length") or workers  # TensorFlow refuses more workers than sources
            if bound.get("num_parallel_calls") is None:
                bound["num_parallel_calls"] = min(workers, most)
            return transform(self, **bound)
        return call
    data = tf.data.Dataset
    for name, positions in (("map", ("map_func", "num_parallel_calls")), ("batch", ("batch_size", "drop_remainder", "num_parallel_calls")),
                            ("interleave", ("map_func", "cycle_length", "block_length", "num_parallel_calls"))):
        patch.setattr(data, name, hired(getattr(data, name), positions))


@pytest.mark.parametrize("workers", [1, 2, 8, tf.data.AUTOTUNE])
@pytest.mark.parametrize("theme", data_cases.THEMES)
def test_as_tensorflow_with_workers(theme, workers, tmp_path, monkeypatch):
    """Order, values and exceptions do not depend on how many threads make the elements."""
    hire(monkeypatch, workers)
    wrong = {}
    for number, (name, case) in enumerate(data_cases.cases(theme).items()):
        folder = tmp_path / str(number)
        folder.mkdir()
        tf.random.set_seed(1)
        got, answer = io_cases.run(tf, case, str(folder)), data_cases.answers(theme)[name]
        if json.dumps(got) != json.dumps(answer):
            wrong[name] = got
    assert wrong == {}


@pytest.mark.parametrize("theme", data_cases.THEMES)
def test_answers_have_a_meaning(theme):
    """A case that fails in Python itself says nothing about TensorFlow."""
    faults = ("RecursionError", "NameError", "UnboundLocalError", "ImportError", "SyntaxError")
    assert [n for n, a in data_cases.answers(theme).items() if isinstance(a, dict) and a.get("raises") in faults] == []
