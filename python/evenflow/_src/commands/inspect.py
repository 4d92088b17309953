"""`evenflow inspect`: the command line."""
import json
import os
import sys

from . import programs
from .inspected import can_inspect, inspect
from .options import Parser
from .terminal import Failure, out

EXAMPLES = (
    ("evenflow inspect train.py", "runs train.py and lists what can be inspected, or shows the only one"),
    ("evenflow inspect train.py:step", "the function `step`: ops, passes, fused groups, steps, memory"),
    ("evenflow inspect --svg memory.svg train.py:step", "its memory plan as a picture, too"),
    ("evenflow inspect --runs 100 train.py:step", "each step measured over 100 runs, which repeat its side effects"),
    ("evenflow inspect train.py:model.call", "an attribute of an object"),
    ("evenflow inspect train.py:dataset", "the stages of a dataset"),
)


def parser():
    parse = Parser("evenflow inspect",
                   "Runs a program and prints what the engine makes of one of its functions, graphs or datasets:\n"
                   "the ops, what each pass did, fused groups, the plan's steps with memory and measured time.", EXAMPLES)
    parse.add_argument("--all", action="store_true", help="print every line of long tables")
    parse.add_argument("--json", action="store_true", help="print the same as JSON")
    parse.add_argument("--svg", metavar="FILE", help="write the memory plan as a picture to FILE")
    parse.add_argument("--runs", type=int, metavar="N", help="run the plan N times to measure its steps (20, or 0 if it has side effects)")
    parse.add_argument("--trace", type=int, metavar="K", help="the K-th trace of the function instead of the latest")
    parse.add_argument("--size", type=int, default=32, metavar="N", help="the size to use where one is unknown (32)")
    parse.add_argument("--import", dest="as_module", action="store_true",
                       help='import the program, so that `if __name__ == "__main__"` does not run')
    parse.add_argument("program", metavar="PROGRAM.py[:NAME]", help="the program, and the name of a function, graph or dataset in it")
    parse.add_argument("arguments", metavar="ARGUMENT", nargs="...", help="the program's arguments")
    return parse


def _choose(names, path):
    """The name of the only object that can be inspected. Raises Failure if there are none or several."""
    found = [name for name, value in names.items() if not name.startswith("_") and can_inspect(value)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise Failure(f"{path} has no tf.function, Keras model, graph or dataset at its top level; name one that is inside an object, as in "
                      f"{path}:model.step")
    raise Failure(f"{path} has {len(found)} things to inspect: {', '.join(found)}; name one, as in {path}:{found[0]}")


def _write(path, text):
    if path.endswith(".py") and os.path.exists(path):
        raise Failure(f"cannot write the picture to {path!r}: it is a program; the name of the picture comes first, then the program")
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as e:
        raise Failure(f"cannot write {path!r}: {e.strerror}; give --svg another file") from None


def main(arguments, run_file):
    options = parser().parse_args(arguments)
    if options.runs is not None and not 0 <= options.runs <= 1000:
        raise Failure(f"--runs is {options.runs}; it must be from 0 to 1000")
    if options.size < 0:
        raise Failure(f"--size is {options.size}; it must not be negative")
    path, name = programs.split(options.program)
    names = programs.load(path, options.arguments, run_file, options.as_module)
    name = name or _choose(names, path)
    try:
        found = inspect(programs.find(names, name, path), runs=options.runs, name=name, trace=options.trace, unknown=options.size)
    except (TypeError, ValueError) as e:
        raise Failure(str(e).replace("tf.experimental.inspect: ", f"{name}: ")) from None
    if options.svg and not hasattr(found, "svg"):
        raise Failure(f"{name} has no memory plan to draw; --svg is for functions")
    if options.svg:
        _write(options.svg, found.svg())
    if options.json and hasattr(found, "data"):
        out(json.dumps(found.data))
    else:
        out(found.text(options.all, sys.stdout))
    return 0
