"""Files, records, examples, images and tables: what TensorFlow answered, io_THEME.json, is what Evenflow answers."""
import json
import threading

import io_cases
import pytest

import evenflow as tf

EVERY = [(theme, name) for theme in io_cases.THEMES if (io_cases.HERE / f"io_{theme}.json").exists()
         for name in io_cases.cases(theme)]


@pytest.mark.parametrize("theme, name", EVERY, ids=[f"{t}-{n}" for t, n in EVERY])
def test_as_tensorflow(theme, name, tmp_path):
    case, answer = io_cases.cases(theme)[name], io_cases.answers(theme)[name]
    threads = threading.active_count()
    got = io_cases.run(tf, case, str(tmp_path))
    assert json.dumps(got) == json.dumps(answer)
    assert threading.active_count() == threads


def _records(path, records, options=None):
    with tf.io.TFRecordWriter(path, options) as w:
        for r in records:
            w.write(r)


@pytest.mark.parametrize("size", [12, 20, 33, 40, 42])
def test_truncated_record(tmp_path, size):
    """Where a record's length itself is cut, v1's iterator ends silently: io_details.json has those."""
    path = str(tmp_path / "f")
    _records(path, [b"first", b"second"])
    with open(path, "r+b") as f:
        f.truncate(size)
    reader = tf.compat.v1.io.tf_record_iterator(path)
    with pytest.raises(tf.errors.DataLossError) as e:
        list(reader)
    assert path in str(e.value) and f"truncated record at {0 if size < 21 else 21}" in str(e.value)
    assert list(reader) == []


def test_zlib_numbers(tmp_path):
    path = str(tmp_path / "f")
    t = tf.io.TFRecordOptions("GZIP", flush_mode=2, window_bits=12, compression_level=1, mem_level=3, compression_strategy=1)
    _records(path, [b"x" * 100_000, b""], t)
    assert list(tf.compat.v1.io.tf_record_iterator(path, t)) == [b"x" * 100_000, b""]
    for wrong in ({"flush_mode": 4}, {"compression_level": 77}, {"mem_level": 0}):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.TFRecordWriter(path, tf.io.TFRecordOptions("ZLIB", **wrong))


@pytest.mark.parametrize("theme", io_cases.THEMES)
def test_answers_have_a_meaning(theme):
    """A case that fails in Python itself says nothing about TensorFlow."""
    faults = ("RecursionError", "NameError", "UnboundLocalError", "ImportError", "SyntaxError")
    assert [n for n, a in io_cases.answers(theme).items() if isinstance(a, dict) and a.get("raises") in faults] == []
