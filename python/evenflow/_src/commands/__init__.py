"""The commands of `evenflow`, one module each. `cli.py` dispatches to them; help texts, shell completion and manual pages
are generated from the same descriptions."""
import importlib

# Name -> (module with `parser()` and `main(arguments, runner)`, what the command does in one line).
COMMANDS = {
    "run": ("evenflow._src.commands.run", "run a TensorFlow program, unchanged, on Evenflow"),
    "doctor": ("evenflow._src.doctor.command", "run a program and say which lines made it slow or made its memory grow"),
    "inspect": ("evenflow._src.commands.inspect", "print what the engine makes of a function, graph or dataset"),
    "bench": ("evenflow._src.commands.bench", "measure a function or a marked region, also beside TensorFlow"),
    "completion": ("evenflow._src.commands.completion", "print a script that completes `evenflow` in a shell"),
}


def module(name):
    """Imports the module of a command, so that the other commands do not load its dependencies."""
    return importlib.import_module(COMMANDS[name][0])
