"""Runs a user's program for a command, and finds an object in it by name."""
import contextlib
import difflib
import importlib.util
import os
import sys

from .terminal import Failure


def split(text):
    """Splits PROGRAM.py[:NAME] into (file, name or None). A colon in the name of an existing file is part of the file."""
    if os.path.exists(text) or ":" not in text:
        return text, None
    path, _, name = text.rpartition(":")
    if not name:
        raise Failure(f"{text!r} ends in a colon: write PROGRAM.py:NAME, as in train.py:step")
    return path, name


def check_file(path):
    if path != "-" and not os.path.exists(path):
        raise Failure(f"there is no file {path!r}; give the path of a Python program")
    if os.path.isdir(path):
        raise Failure(f"{path!r} is a folder; give the path of a Python program")


def _import(path):
    """Imports the file as a module, so that `if __name__ == "__main__"` is false."""
    sys.path.insert(0, os.path.dirname(os.path.realpath(path)))
    name = os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None:
        raise Failure(f"{path!r} does not end in .py; --import needs that it does")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def load(path, arguments, run_file, as_module=False, quiet=True):
    """Runs a program and returns its global names. With `quiet`, its output goes to standard error."""
    check_file(path)
    with contextlib.redirect_stdout(sys.stderr) if quiet else contextlib.nullcontext():
        if as_module:
            return vars(_import(path))
        try:
            status = run_file(path, arguments)
        except SystemExit as e:  # the names of a program that called sys.exit() are still there
            status = e.code if isinstance(e.code, int) else int(e.code is not None)
    if status:
        raise Failure(f"{path} ended with status {status}; mend it first (evenflow run {path})", status)
    return vars(sys.modules["__main__"])


def find(names, dotted, path):
    """The object that a dotted name refers to."""
    first, *rest = dotted.split(".")
    if first not in names:
        close = difflib.get_close_matches(first, [n for n in names if not n.startswith("_")], 1)
        raise Failure(f"{path} has no name {first!r}" + (f"; did you mean {close[0]!r}?" if close else
                      "; name a function, graph or dataset at its top level"))
    found = names[first]
    for part in rest:
        try:
            found = getattr(found, part)
        except AttributeError:
            raise Failure(f"{first!r} of {path} has no attribute {part!r} ({dotted!r})") from None
    return found
