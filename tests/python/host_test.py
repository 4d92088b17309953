"""Python functions as ops, and tf.print."""
import sys

import numpy as np
import pytest

import evenflow as tf


def both(function):
    return [function(), tf.function(function, autograph=False)()]


X = [1.0, 2.0]


def test_py_function_and_its_gradient():
    x = tf.constant(X)

    def run():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y, kind = tf.py_function(lambda a: (a * a, type(a).__name__), [x], [tf.float32, tf.string])
        return tape.gradient(y, x), kind

    for gradient, kind in both(run):
        np.testing.assert_array_equal(gradient, [2, 4])
        assert kind.numpy() == b"EagerTensor"


def test_numpy_function():
    for found in both(lambda: tf.numpy_function(lambda a: a * np.float32(2), [tf.constant(X)], tf.float32)):
        np.testing.assert_array_equal(found, [2, 4])

    @tf.numpy_function(Tout=tf.float32)
    def doubled(a):
        assert isinstance(a, np.ndarray)
        return a * 2

    np.testing.assert_array_equal(doubled(tf.constant(X)), [2, 4])


@pytest.mark.parametrize("error, kind", [(ValueError, "InvalidArgumentError"), (ZeroDivisionError, "UnknownError"),
                                         (StopIteration, "OutOfRangeError"),
                                         (NotImplementedError, "UnimplementedError")])
def test_exceptions_become_errors_of_the_op(error, kind):
    def fail(a):
        raise error("boo")

    for run in (lambda: tf.py_function(fail, [1.0], tf.float32),
                tf.function(lambda: tf.py_function(fail, [1.0], tf.float32), autograph=False),
                tf.function(lambda: tf.numpy_function(fail, [1.0], tf.float32), autograph=False)):
        with pytest.raises(getattr(tf.errors, kind), match="boo"):
            run()


def test_a_wrong_dtype_is_an_error():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.py_function(lambda: tf.constant(3), [], tf.float32)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(lambda: tf.numpy_function(lambda: np.zeros(2), [], tf.float32), autograph=False)()


def test_called_when_the_graph_runs():
    calls = []
    f = tf.function(lambda x: tf.py_function(lambda a: calls.append(float(a)) or a, [x], tf.float32), autograph=False)
    for k in range(3):
        f(tf.constant(float(k)))
    assert calls == [0.0, 1.0, 2.0]


PRINTED = [
    ((1, 2.5, "a", None, True, [1, 2], {"a": 1}, (1,)), {}, "1 2.5 a None True [1, 2] {'a': 1} (1,)\n"),
    (({"x": [1.5]},), {}, "{'x': [1.5]}\n"),
    ((1, 2), {"sep": ","}, "1,2\n"),
    ((1,), {"end": "!"}, "1!"),
    ((b"z", ["q", b"z"], np.float32(1.5)), {}, "b'z' ['q', b'z'] np.float32(1.5)\n"),
]


@pytest.mark.parametrize("values, kwargs, expected", PRINTED)
def test_printing_of_values(values, kwargs, expected, capsys):
    assert tf.print(*values, **kwargs) is None
    assert capsys.readouterr() == ("", expected)


def test_printing_of_tensors(capsys):
    tf.print("x:", tf.range(20), tf.constant([[1.0, 0.1]]), tf.constant("s"), tf.constant([True]), output_stream=sys.stdout)
    tf.print([tf.constant(1), {"k": tf.Variable([2.0])}], tf.range(9), summarize=1, output_stream=sys.stdout)
    out = capsys.readouterr().out
    assert out == 'x: [0 1 2 ... 17 18 19] [[1 0.1]] "s" [1]\n[1, {\'k\': [2]}] [0 ... 8]\n'


def test_printing_in_a_function(capfd):
    @tf.function(autograph=False)
    def shout(x):
        tf.print("in", x, {"k": x}, end="|\n")
        return x

    shout(tf.constant(X))
    shout(tf.constant(X))
    assert capfd.readouterr().err == "in [1 2] {'k': [1 2]}|\n" * 2


def test_printing_to_a_file(tmp_path):
    path = tmp_path / "out.txt"
    tf.print("one", tf.constant(1), output_stream=f"file://{path}")
    tf.function(lambda: [tf.print("two", output_stream=f"file://{path}")][1:], autograph=False)()
    assert path.read_text() == "one 1\ntwo\n"


def test_what_print_refuses():
    with pytest.raises(ValueError, match="output stream"):
        tf.print(1, output_stream=3)
    with pytest.raises(ValueError, match="Unrecognized keyword"):
        tf.print(1, colour=3)
    with pytest.raises(ValueError, match="placeholders"):
        tf.strings.format("{} {}", [1])
    assert tf.strings.format("a {} b", tf.constant([1, 2])).numpy() == b"a [1 2] b"


def test_numpy_function_gives_python_numbers_as_numpy_makes_them():
    seen = []

    def note(x):
        seen.append(x)
        return x

    assert tf.numpy_function(note, [1.0], tf.float64).dtype == tf.float64
    assert tf.function(lambda: tf.numpy_function(note, [1.0], tf.float32))().numpy() == 1
    assert [(type(x), x.dtype) for x in seen] == [(np.ndarray, np.float64), (np.float32, np.float32)]
