#!/usr/bin/env python3
"""Writes the output of the examples into manual.txt. Run it with the Python of .venv after adding an example.

usage: fill_manual.py
"""
import contextlib
import doctest
import io
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "python"))
FILE = ROOT / "python/evenflow/_src/manual.txt"


def printed(source, space):
    """What the interactive interpreter would print for one statement."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, "<manual>", "single"), space)
    return out.getvalue()


def filled(lines):
    """The statements of an example with their current output."""
    import evenflow as tf
    space, made = {"tf": tf}, []
    for example in doctest.DocTestParser().get_examples("\n".join(lines) + "\n"):
        first, *rest = example.source.rstrip("\n").splitlines()
        made += [">>> " + first, *("... " + line for line in rest)]
        made += printed(example.source, space).rstrip("\n").splitlines()
    return made


def main():
    out, example = [], []
    for line in [*FILE.read_text(encoding="utf-8").splitlines(), "== "]:
        if line.startswith("== ") and example:
            out += [*filled(example), ""]
            example = []
        if line.startswith(">>> ") or example:
            example.append(line)
        else:
            out.append(line)
    FILE.write_text("\n".join(out[:-1]).rstrip("\n") + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
