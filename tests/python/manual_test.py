"""The manual: every example prints what it says, and every parameter it describes exists."""
import doctest
import inspect

import pytest

import evenflow as tf
from evenflow._src import manual, namespace

COMMON, FUNCTIONS = manual.read(manual.FILE.read_text(encoding="utf-8"))


def test_the_most_used_functions_are_in_it():
    assert len(FUNCTIONS) >= 200
    assert {"constant", "reduce_sum", "matmul", "concat", "cast", "function"} <= FUNCTIONS.keys()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_example(name, capsys):
    function = namespace.names()[name]
    own, example = FUNCTIONS[name]
    parameters = inspect.signature(function).parameters
    assert set(own) <= set(parameters)
    assert all(p in own or p in COMMON for p, known in parameters.items() if known.default is inspect.Parameter.empty), parameters
    doc = function.__doc__
    assert "Example:" in doc and "\n".join(example).rstrip() in doc
    parsed = doctest.DocTestParser().get_doctest(doc + "\n", {"tf": tf}, name, None, 0)
    assert parsed.examples and any(e.want for e in parsed.examples) or name == "random.set_seed"
    with capsys.disabled():
        result = doctest.DocTestRunner().run(parsed)
    assert result.failed == 0


def test_help_shows_parameters():
    text = inspect.getdoc(tf.add)
    assert "Args:" in text and "x: A tensor" in text
