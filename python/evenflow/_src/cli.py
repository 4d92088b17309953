"""The command `evenflow`, and `python -m evenflow`: runs a TensorFlow program, unchanged, on Evenflow.

The program sees what it would see under `python program.py`: its own sys.argv and sys.path, a module `__main__` of
its own, its exit status, and tracebacks that begin with its own first line.
"""
import builtins
import importlib.machinery
import io
import os
import runpy
import sys
import types

import evenflow
from evenflow._src import alias, generations

USAGE = """usage: evenflow run PROGRAM.py [ARGUMENT ...]
       evenflow run -m MODULE [ARGUMENT ...]
       evenflow doctor [--json] [--html FILE] [--diff] [--all] [--fail-on CODES] PROGRAM.py [ARGUMENT ...]
       evenflow doctor --live PID [--every SECONDS]
       evenflow doctor explain [CODE ...]
       evenflow --version | --help

Runs a TensorFlow program on Evenflow. `import tensorflow` gives Evenflow; the program is otherwise
unchanged, and TensorFlow itself is neither needed nor looked for. PROGRAM `-` is read from standard input.
`python -m evenflow PROGRAM.py` does the same. `evenflow doctor` runs it and then says what made it slow
or grow, by file and line (`evenflow doctor --help`)."""


def version():
    return (f"Evenflow {evenflow._core.version}, with the interface of TensorFlow {evenflow.__version__}, "
            f"on Python {sys.version.split()[0]}")


def _new_main(path):
    """A fresh `__main__`, as the interpreter makes it for a file."""
    main = types.ModuleType("__main__")
    main.__dict__.update(__builtins__=builtins, __file__=path, __cached__=None, __annotations__={})
    if os.path.isabs(path):
        main.__loader__ = importlib.machinery.SourceFileLoader("__main__", path)
    sys.modules["__main__"] = main
    return main


def _report(error, frames):
    """Shows an error as the interpreter would, without the `frames` outermost frames, which are ours."""
    trace = error.__traceback__
    for _ in range(frames):
        trace = trace.tb_next if trace is not None else None
    error.__traceback__ = trace
    sys.excepthook(type(error), error, trace)
    if isinstance(error, KeyboardInterrupt):  # the interpreter knows how to end after an interrupt
        sys.excepthook = lambda *_: None
        raise error
    return 1


def run_file(path, arguments):
    """Runs a file as `__main__`; returns the exit status."""
    try:
        if path == "-":
            source, name = sys.stdin.buffer.read(), "<stdin>"
        else:
            name = os.path.abspath(path)
            with io.open_code(name) as f:
                source = f.read()
    except OSError as e:
        print(f"evenflow: can't open file {os.path.abspath(path)!r}: [Errno {e.errno}] {e.strerror}", file=sys.stderr)
        return 2
    sys.argv = [path, *arguments]
    sys.path[0] = "" if path == "-" else os.path.dirname(os.path.realpath(path))
    main = _new_main(name)
    try:
        older = generations.first_generation(name, source)
        code = generations.compile_older(source, name) if older else compile(source, name, "exec", dont_inherit=True)
        if older:
            generations.run_older(older)
    except (SyntaxError, ValueError) as e:
        return _report(e, 1)
    try:
        exec(code, main.__dict__)
    except SystemExit:
        raise
    except BaseException as e:
        return _report(e, 1)
    return 0


def run_module(name, arguments):
    """Runs a module as `python -m` does; returns the exit status."""
    sys.argv = [name, *arguments]
    sys.path[0] = os.getcwd()
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit:
        raise
    except BaseException as e:
        return _report(e, 1)
    return 0


def main(arguments=None):
    """The command; returns the exit status."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments[:1] in (["-h"], ["--help"], ["help"]):
        print(USAGE)
        return 0
    if arguments[:1] in (["-V"], ["--version"]):
        print(version())
        return 0
    if arguments[:1] == ["doctor"]:
        from evenflow._src.doctor import command  # only this command needs its modules
        alias.install()
        return command.main(arguments[1:], run_file, run_module)
    if arguments[:1] == ["run"]:
        del arguments[0]
        if arguments[:1] in (["-h"], ["--help"]):
            print(USAGE)
            return 0
    elif arguments and not arguments[0].endswith(".py") and arguments[0] not in ("-", "-m"):
        print(f"evenflow: {arguments[0]!r} is neither a command nor a program ending in .py (`evenflow run` takes any file)\n{USAGE}", file=sys.stderr)
        return 2
    if arguments[:1] == ["-m"] and len(arguments) > 1:
        alias.install()
        return run_module(arguments[1], arguments[2:])
    if not arguments or (arguments[0].startswith("-") and arguments[0] != "-"):
        wrong = f"unknown option {arguments[0]!r}" if arguments and arguments != ["-m"] else "no program was named"
        print(f"evenflow: {wrong}\n{USAGE}", file=sys.stderr)
        return 2
    alias.install()
    return run_file(arguments[0], arguments[1:])
