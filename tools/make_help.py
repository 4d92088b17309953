#!/usr/bin/env python3
"""`make help`: prints what the Makefile does, in the words of the README."""
import pathlib
import re
import textwrap

README = pathlib.Path(__file__).resolve().parent.parent / "README.md"
FIRST = re.compile(r"^(make \w+) +# (.*)$", re.M)  # the two commands at the beginning
TABLE = re.compile(r"^\| (`make[^|]*) \| (.*) \|$", re.M)


def commands(text):
    """Pairs of a command and what it does."""
    plain = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", text)
    return [(command.replace("`", ""), what.replace("`", "")) for command, what in FIRST.findall(plain) + TABLE.findall(plain)]


if __name__ == "__main__":
    for command, what in commands(README.read_text(encoding="utf-8")):
        print(command)
        print(textwrap.fill(what, 96, initial_indent="    ", subsequent_indent="    "))
