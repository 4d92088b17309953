"""The command `evenflow`, and `python -m evenflow`: runs a TensorFlow program, unchanged, on Evenflow, or one of the other
commands (commands/).

The program sees what it would see under `python program.py`: its own sys.argv and sys.path, a module `__main__` of
its own, its exit status, and tracebacks that begin with its own first line.
"""
import builtins
import difflib
import importlib.machinery
import importlib.util
import io
import os
import runpy
import sys
import types

import evenflow
from evenflow._src import alias, spawned_processes, tf1_programs
from evenflow._src.commands import COMMANDS, module
from evenflow._src.commands.terminal import Failure

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
    sys.last_type, sys.last_value, sys.last_traceback = type(error), error, trace  # as the interpreter leaves them
    sys.excepthook(type(error), error, trace)
    if isinstance(error, KeyboardInterrupt):  # raised again, so that the interpreter ends as it does after an interrupt
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
        return _fail("evenflow", f"can't open file {os.path.abspath(path)!r}: [Errno {e.errno}] {e.strerror}; give the path of a "
                     "program")
    sys.argv = [path, *arguments]
    sys.path[0] = "" if path == "-" else os.path.dirname(os.path.realpath(path))
    main = _new_main(name)
    try:
        older = tf1_programs.first_generation(name, source)
        code = tf1_programs.compile_older(source, name) if older else compile(source, name, "exec", dont_inherit=True)
        if older:
            tf1_programs.run_older(older)
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
        known = importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        known = False
    except (ImportError, ValueError):
        known = True  # running the module shows the error
    if not known:
        return _fail("evenflow run", f"there is no module {name!r}; run it from the folder it is in, or give a file: "
                     "evenflow run PROGRAM.py")
    try:
        runpy.run_module(name, run_name="__main__", alter_sys=True)
    except SystemExit:
        raise
    except BaseException as e:
        return _report(e, 1)
    return 0


def usage():
    """The help of `evenflow` itself."""
    wide = max(map(len, COMMANDS))
    return "\n".join([
        "usage: evenflow COMMAND ...", "       evenflow PROGRAM.py [ARGUMENT ...]     the same as evenflow run", "",
        "commands:", *(f"  {name:{wide}}  {what}" for name, (_, what) in COMMANDS.items()), "",
        "options:", "  -h, --help     show this text", "  -V, --version  show the version", "",
        "examples:", "  evenflow run train.py --epochs 3", "  evenflow doctor train.py", "  evenflow inspect train.py:step",
        "  evenflow bench --compare tensorflow train.py:step", "",
        "`evenflow COMMAND --help` explains a command and its options."])


def _fail(command, message):
    print(f"{command}: {message}", file=sys.stderr)
    return 2


def _run_traced(arguments):
    """`evenflow run --trace FILE ...`; returns the exit status."""
    from evenflow._src.trace_file import traced  # only this option needs it
    if len(arguments) < 2:
        return _fail("evenflow run", "--trace needs a file to write to, and a program (see evenflow run --help)")
    if arguments[0].endswith(".py") and os.path.exists(arguments[0]):
        return _fail("evenflow run", f"cannot write the trace to {arguments[0]!r}: it is a program; the name of the trace comes first, then "
                     "the program")
    try:
        with traced(arguments[0]):
            return _run(arguments[1:])
    except OSError as e:
        if e.filename != arguments[0]:
            raise
        return _fail("evenflow run", f"cannot write the trace to {arguments[0]!r}: {e.strerror}; give --trace another file")


def _be_tensorflow():
    """Makes `import tensorflow` give Evenflow, here and in the processes that the program starts by multiprocessing."""
    alias.install()
    spawned_processes.install()


def _run(arguments):
    if arguments and arguments[0].split("=")[0] == "--trace":
        return _run_traced(arguments[0].split("=", 1)[1:] + arguments[1:])
    if arguments[:1] == ["-m"] and len(arguments) > 1:
        _be_tensorflow()
        return run_module(arguments[1], arguments[2:])
    if not arguments or arguments == ["-m"]:
        return _fail("evenflow run", "no program was named; write evenflow run PROGRAM.py (see evenflow run --help)")
    if arguments[0].startswith("-") and arguments[0] != "-":
        return _fail("evenflow run", f"unknown option {arguments[0]!r}; options of the program follow its name "
                     "(see evenflow run --help)")
    _be_tensorflow()
    return run_file(arguments[0], arguments[1:])


def _command(name, arguments):
    """Runs a command other than `run`."""
    if name in ("doctor", "inspect", "bench"):
        _be_tensorflow()
    if name == "doctor":
        return module(name).main(arguments, run_file, run_module)
    try:
        return module(name).main(arguments, run_file)
    except Failure as e:
        print(f"evenflow {name}: {e}", file=sys.stderr)
        return e.status


def main(arguments=None):
    """The command; returns the exit status."""
    if arguments is None:
        evenflow._core.set_launcher(sys._getframe(1).f_code.co_filename)  # frames of this file are not the program's
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if not arguments or arguments[0] in ("-h", "--help", "help"):
        if arguments[:1] == ["help"] and arguments[1:] and arguments[1] in COMMANDS:
            module(arguments[1]).parser().print_help()
            return 0
        if arguments[:1] == ["help"] and arguments[1:]:
            return _fail("evenflow help", f"there is no command {arguments[1]!r}; there are {', '.join(COMMANDS)}")
        print(usage())
        return 0
    first = arguments[0]
    if first in ("-V", "--version"):
        print(version())
        return 0
    if first == "run":
        if arguments[1:2] in (["-h"], ["--help"]):
            module("run").parser().print_help()
            return 0
        return _run(arguments[1:])
    if first in COMMANDS:
        return _command(first, arguments[1:])
    if first.endswith(".py") or first in ("-", "-m"):
        return _run(arguments)
    close = difflib.get_close_matches(first, COMMANDS, 1)
    hint = f"did you mean `evenflow {close[0]}`?" if close else "`evenflow run` takes any file, `evenflow --help` lists the commands"
    return _fail("evenflow", f"{first!r} is neither a command nor a program ending in .py; {hint}")
