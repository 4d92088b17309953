#!/usr/bin/env python3
"""Writes the manual pages of the command `evenflow` from the descriptions that `--help` prints.

usage: gen_man.py [FOLDER]      (default: docs/man)

`evenflow.1` lists the commands, `evenflow-run.1` and so on describe each. A test compares the result with what is checked in.
"""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ENVIRONMENT = re.compile(r"^\| `([A-Z_]+)(=[^`]*)` \| (.*) \|$", re.M)


def plain(text):
    """Escapes text for roff, so that nothing in it is taken as a command."""
    text = text.replace("\\", "\\\\").replace("-", "\\-").replace("%%", "%")
    return "\n".join("\\&" + line if line.startswith((".", "'")) else line for line in text.split("\n"))


def heading(name, what):
    return [f".TH {name.upper()} 1 \"\" \"Evenflow\" \"Evenflow manual\"", ".SH NAME", f"{plain(name)} \\- {plain(what)}"]


def option(action):
    shown = ", ".join(f"\\fB{plain(o)}\\fR" for o in action.option_strings) or f"\\fI{plain(action.metavar or action.dest)}\\fR"
    if action.option_strings and action.nargs != 0:
        shown += f" \\fI{plain(action.metavar or action.dest.upper())}\\fR"
    return [".TP", shown, plain(action.help or "")]


def page(name, what, parser):
    lines = [*heading(f"evenflow-{name}", what), ".SH SYNOPSIS",
             plain(" ".join(parser.format_usage().split())[len("usage: "):]), ".SH DESCRIPTION", plain(parser.description)]
    options = [a for a in parser._actions if a.option_strings]
    lines += [".SH ARGUMENTS"] + [x for a in parser._actions if not a.option_strings for x in option(a)]
    lines += [".SH OPTIONS"] + [x for a in options for x in option(a)]
    if parser.epilog:
        lines += [".SH EXAMPLES", ".nf", plain(parser.epilog.removeprefix("examples:\n")), ".fi"]
    return "\n".join([*lines, ".SH SEE ALSO", "\\fBevenflow\\fR(1)", ""])


def environment():
    """The variables that the README lists."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        rows = ENVIRONMENT.findall(file.read())
    return [x for name, value, what in rows for x in (".TP", f"\\fB{name}\\fR{plain(value)}", plain(what.replace("`", "")))]


def main_page(commands):
    lines = [*heading("evenflow", "run TensorFlow programs on Evenflow, and examine them"), ".SH SYNOPSIS", "evenflow COMMAND ...", ".br",
             "evenflow PROGRAM.py [ARGUMENT ...]", ".SH DESCRIPTION",
             "Evenflow runs TensorFlow programs on a small engine written in C. A program that is named without a command is run.", ".SH COMMANDS"]
    for name, (_, what) in commands.items():
        lines += [".TP", f"\\fBevenflow\\-{name}\\fR(1)", plain(what)]
    return "\n".join([*lines, ".SH ENVIRONMENT", *environment(), ""])


def pages():
    """File name -> text of every page."""
    sys.path.insert(0, os.path.join(ROOT, "python"))
    os.environ["COLUMNS"] = "100"
    os.environ.pop("EF_PEERS", None)
    from evenflow._src.commands import COMMANDS, module

    made = {f"evenflow-{name}.1": page(name, what, module(name).parser()) for name, (_, what) in COMMANDS.items()}
    made["evenflow.1"] = main_page(COMMANDS)
    return made


def main():
    folder = sys.argv[1] if len(sys.argv) > 1 else os.path.join(ROOT, "docs", "man")
    os.makedirs(folder, exist_ok=True)
    for name, text in pages().items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
