"""Adds parameters and examples from manual.txt to the docstrings of the most used public functions.

`manual.txt` begins with the parameters that have the same meaning in many functions. Then comes a paragraph for each
function: its public name, `parameter: sentence` for parameters that differ from the common text, and an example as in a
Python session. tests/python/manual_test.py runs the examples; `tools/fill_manual.py` writes their output.
"""
import pathlib
import re
import types

FILE = pathlib.Path(__file__).with_name("manual.txt")
_PARAMETER = re.compile(r"(\w+): (.+)")


def read(text):
    """({parameter: sentence}, {function: ({parameter: sentence}, lines of the example)})."""
    common, functions = {}, {}
    into, example = common, []
    for line in text.splitlines():
        parameter = _PARAMETER.fullmatch(line)
        if line.startswith("== "):
            into, example = {}, []
            functions[line[3:]] = into, example
        elif parameter and not example:
            into[parameter[1]] = parameter[2]
        elif line or example:
            example.append(line)
    return common, functions


def _parameters(function):
    code = getattr(getattr(function, "__wrapped__", function), "__code__", None)
    if code is None:
        return getattr(function, "_params", ())
    count = code.co_argcount + code.co_kwonlyargcount + bool(code.co_flags & 4) + bool(code.co_flags & 8)
    return code.co_varnames[:count]


def text_of(function, common, own, example):
    """The docstring of a function: its own text, then the parameters and the example."""
    known = [(p, own.get(p) or common.get(p)) for p in _parameters(function)]
    args = [f"    {p}: {sentence}" for p, sentence in known if sentence]
    lines = [(function.__doc__ or "").strip()]
    if args:
        lines += ["", "Args:", *args]
    while example and not example[-1]:
        example.pop()
    return "\n".join([*lines, "", "Example:", "", *example])


def add_to(names):
    """Extends the docstrings of the public functions `names` (public name -> function)."""
    common, functions = read(FILE.read_text(encoding="utf-8"))
    for name, (own, example) in functions.items():
        function = names[name]
        if isinstance(function, types.BuiltinFunctionType):
            continue  # its docstring is written in C, whole
        function.__doc__ = text_of(function, common, own, example)
